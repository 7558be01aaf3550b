(** A network's numbers, enclosed layer by layer, and the theorem that what it gives lies between their ends. *)

From Coq Require Import Reals ZArith List Lia Lra Bool FMapPositive.
From Verale Require Import Semantics NetworkSemantics Sums Grid Columns EnclosedVolumes RowSums LayerBox.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (B : Z) (terms : nat).

(** (v / 255 - mean) / std *)
Definition normalised_ends (mean deviation : fraction) (v : Z) : Z * Z :=
  quotient_ends B ((v * Zpos (denominator mean) - 255 * numerator mean) * Zpos (denominator deviation))
    (255 * Zpos (denominator mean) * numerator deviation).

(** How many there are, on a stack of any size *)
Fixpoint count_onto (counted : nat) (p : picture) : nat :=
  match p with nil => counted | _ :: p' => count_onto (S counted) p' end.
Definition picture_fits (n : network) (p : picture) : bool :=
  Nat.eqb (count_onto 0 p) (input_channels n * input_height n * input_width n) &&
  forallb (fun v => (0 <=? v) && (v <=? 255)) p.
Definition positive_deviations (n : network) : bool :=
  Nat.leb (input_channels n) (length (deviations n)) && forallb (fun f => 0 <? numerator f) (deviations n).

Definition normalised_enclosed (n : network) (p : picture) : enclosed :=
  let C := input_channels n in let H := input_height n in let W := input_width n in
  let bytes := stored 1 p (PositiveMap.empty _) in
  built_each C H W (fun c y x =>
    normalised_ends (nth c (means n) (Fraction 0 1)) (nth c (deviations n) (Fraction 1 1))
      match PositiveMap.find (Pos.of_succ_nat ((c * H + y) * W + x)) bytes with Some v => v | None => 0 end).

(** Without the numbers of layers, of those listed, that none of others reads: their memory is free again. *)
Fixpoint without_nth (i : nat) (known : list (option enclosed)) : list (option enclosed) :=
  match known, i with
  | nil, _ => nil
  | _ :: known', O => None :: known'
  | e :: known', S i' => e :: without_nth i' known'
  end.
Definition reads (ls : list layer) (i : nat) : bool := existsb (fun l => existsb (Nat.eqb i) (inputs l)) ls.
Definition let_go (ls : list layer) (listed : list nat) (known : list (option enclosed)) : list (option enclosed) :=
  fold_left (fun known i => if reads ls i then known else without_nth i known) listed known.

(** What the last layer gives *)
Fixpoint all_enclosed (known : list (option enclosed)) (ls : list layer) : option enclosed :=
  match ls with
  | nil => last known None
  | l :: ls' =>
      match all_some (map (fun i => nth i known None) (inputs l)) with
      | Some es =>
          match computed_enclosed B terms (does l) es with
          | Some e => all_enclosed (let_go ls' (inputs l) known ++ [Some e]) ls'
          | None => None
          end
      | None => None
      end
  end.

Definition enclosed_output (n : network) (p : picture) : option enclosed :=
  if picture_fits n p && positive_deviations n then
    all_enclosed [Some (normalised_enclosed n p)] (layers n)
  else None.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma Forall2_same : forall (A P Q : Type) (R : P -> Q -> Prop) f g (l : list A),
  (forall a, In a l -> R (f a) (g a)) -> Forall2 R (map f l) (map g l).
Proof.
  intros A P Q R f g. induction l as [|a l IH]; intros H; [constructor|]. cbn [map].
  constructor; [apply H; left; reflexivity|]. apply IH. intros b I. apply H. right. exact I.
Qed.

Lemma Forall2_blocks : forall (A P Q : Type) (R : P -> Q -> Prop) f g (l : list A),
  (forall a, In a l -> Forall2 R (f a) (g a)) -> Forall2 R (flat_map f l) (flat_map g l).
Proof.
  intros A P Q R f g. induction l as [|a l IH]; intros H; [constructor|]. cbn [flat_map].
  apply Forall2_app; [apply H; left; reflexivity|]. apply IH. intros b I. apply H. right. exact I.
Qed.

(** ** Windows *)

Lemma inside_ok : forall rows columns place, inside rows columns place = true ->
  (Z.to_nat (fst place) < rows)%nat /\ (Z.to_nat (snd place) < columns)%nat.
Proof.
  intros rows columns place H. unfold inside in H. rewrite !andb_true_iff, !Z.leb_le, !Z.ltb_lt in H. lia.
Qed.

(** What is met in one channel, and in [own] channels from one on; and what there is inside *)
Section Met.
Local Open Scope Z_scope.
Definition found_at (e : enclosed) (c : nat) (place : Z * Z) : Z * Z :=
  found e c (Z.to_nat (fst place)) (Z.to_nat (snd place)).
Definition padded_ends (e : enclosed) (c : nat) (place : Z * Z) : Z * Z :=
  if inside (tall e) (wide e) place then found_at e c place else zero.
Definition plane_window (w : windows) (e : enclosed) (y x c : nat) : list (Z * Z) :=
  flat_map (fun a => map (fun b => padded_ends e c (meets w y x a b)) (seq 0 (snd (kernel w))))
    (seq 0 (fst (kernel w))).
Definition window (w : windows) (e : enclosed) (y x own from : nat) : list (Z * Z) :=
  flat_map (fun c => plane_window w e y x (from + c)) (seq 0 own).
Definition met_inside (w : windows) (e : enclosed) (y x c : nat) : list (Z * Z) :=
  flat_map (fun a => flat_map (fun b =>
    if inside (tall e) (wide e) (meets w y x a b) then [found_at e c (meets w y x a b)] else nil)
    (seq 0 (snd (kernel w)))) (seq 0 (fst (kernel w))).
End Met.

(** A list of places, which have a number for each channel, is one of numbers for each channel. *)
Lemma cells_met_channel : forall w e y x c,
  map (fun l => nth c l zero) (cells_met w e y x) = plane_window w e y x c.
Proof.
  intros w e y x c. unfold cells_met, plane_window. rewrite !flat_map_concat_map, concat_map, map_map. f_equal.
  apply map_ext. intros a. rewrite map_map. apply map_ext. intros b. cbv zeta. unfold padded_ends.
  destruct (inside _ _ _); [reflexivity|destruct c; reflexivity].
Qed.

Lemma cells_inside_channel : forall w e y x c,
  map (fun l => nth c l zero) (cells_inside w e y x) = met_inside w e y x c.
Proof.
  intros w e y x c. unfold cells_inside, met_inside. rewrite !flat_map_concat_map, concat_map, map_map. f_equal.
  apply map_ext. intros a. rewrite !flat_map_concat_map, concat_map, map_map. f_equal. apply map_ext. intros b.
  cbv zeta. destruct (inside _ _ _); reflexivity.
Qed.

Lemma skipn_twice : forall (A : Type) m n (l : list A), skipn m (skipn n l) = skipn (n + m) l.
Proof.
  intros A m. induction n as [|n IH]; intros l; [reflexivity|]. destruct l as [|a l]; [destruct m; reflexivity|].
  exact (IH l).
Qed.

Lemma seq_from : forall n k, seq k n = map (Nat.add k) (seq 0 n).
Proof.
  induction n as [|n IH]; intros k; [reflexivity|]. cbn [seq map]. rewrite Nat.add_0_r. f_equal.
  rewrite (IH (S k)), (IH 1%nat), map_map. apply map_ext. intros i. lia.
Qed.

Lemma part_of_seq : forall n k m, (k + m <= n)%nat -> firstn m (skipn k (seq 0 n)) = seq k m.
Proof.
  intros n k m H. replace n with (k + (m + (n - k - m)))%nat by lia. rewrite !seq_app, skipn_app, skipn_all2, seq_length
    by (rewrite seq_length; lia). rewrite Nat.sub_diag. cbn [app skipn]. rewrite firstn_app, firstn_all2, seq_length
    by (rewrite seq_length; lia). rewrite Nat.sub_diag. apply app_nil_r.
Qed.

Lemma window_of_group : forall w e y x own from, (from + own <= planes e)%nat ->
  concat (firstn own (skipn from (by_channel (planes e) (cells_met w e y x)))) = window w e y x own from.
Proof.
  intros w e y x own from H. rewrite by_channel_is, skipn_map, firstn_map, part_of_seq, seq_from, map_map by exact H.
  unfold window. rewrite flat_map_concat_map. f_equal. apply map_ext. intros c. apply cells_met_channel.
Qed.

Lemma by_group_is : forall B unit own (G : nat -> list Z * packed_rows) n s met,
  by_group B unit own (map G (seq s n)) met = flat_map (fun g =>
    affine B unit (fst (G g)) (snd (G g)) (concat (firstn own (skipn ((g - s) * own) met)))) (seq s n).
Proof.
  intros B unit own G. induction n as [|n IH]; intros s met; [reflexivity|]. cbn [seq map by_group flat_map].
  rewrite Nat.sub_diag. f_equal. rewrite IH, !flat_map_concat_map. f_equal. apply map_ext_in. intros g I.
  apply in_seq in I. rewrite skipn_twice. do 4 f_equal. nia.
Qed.

Section Volume.
Variables (B : Z) (e : enclosed) (v : volume).
Hypothesis right : encloses_volume B e v.

Lemma found_at_ok : forall c place, (c < channels v)%nat -> inside (height v) (width v) place = true ->
  encloses B (found_at e c place) (entry_at v c place).
Proof. intros c place Hc I. apply inside_ok in I as [Y X]. apply right; assumption. Qed.

Lemma padded_ends_ok : forall c place, (c < channels v)%nat -> encloses B (padded_ends e c place) (padded v c place).
Proof.
  intros c place Hc. unfold padded_ends, padded. destruct right as (_ & -> & -> & _).
  destruct (inside _ _ _) eqn:I; [apply found_at_ok; assumption|apply zero_ok].
Qed.

Definition plane_met (w : windows) (y x c : nat) : list R :=
  flat_map (fun a => map (fun b => padded v c (meets w y x a b)) (seq 0 (snd (kernel w)))) (seq 0 (fst (kernel w))).
Definition all_met (w : windows) (y x own from : nat) : list R :=
  flat_map (fun c => plane_met w y x (from + c)) (seq 0 own).

Lemma plane_window_ok : forall w y x c, (c < channels v)%nat ->
  Forall2 (encloses B) (plane_window w e y x c) (plane_met w y x c).
Proof.
  intros w y x c Hc. apply Forall2_blocks. intros a _. apply Forall2_same. intros b _. apply padded_ends_ok. exact Hc.
Qed.

Lemma window_ok : forall w y x own from, (from + own <= channels v)%nat ->
  Forall2 (encloses B) (window w e y x own from) (all_met w y x own from).
Proof.
  intros w y x own from H. apply Forall2_blocks. intros c I. apply in_seq in I. apply plane_window_ok. lia.
Qed.

Lemma length_plane_met : forall w y x c, length (plane_met w y x c) = (fst (kernel w) * snd (kernel w))%nat.
Proof.
  intros. unfold plane_met. rewrite (length_blocks _ _ _ (snd (kernel w))), seq_length; [reflexivity|].
  intros. rewrite map_length, seq_length. reflexivity.
Qed.

Lemma nth_plane_met : forall w y x c a b, (a < fst (kernel w))%nat -> (b < snd (kernel w))%nat ->
  nth (a * snd (kernel w) + b) (plane_met w y x c) 0 = padded v c (meets w y x a b).
Proof.
  intros w y x c a b Ha Hb. unfold plane_met. rewrite nth_blocks_0; [apply nth_map_seq; exact Hb| |exact Ha|exact Hb].
  intros. rewrite map_length, seq_length. reflexivity.
Qed.

Lemma length_all_met : forall w y x own from,
  length (all_met w y x own from) = (own * (fst (kernel w) * snd (kernel w)))%nat.
Proof.
  intros. unfold all_met. rewrite (length_blocks _ _ _ (fst (kernel w) * snd (kernel w))%nat), seq_length;
    [reflexivity|]. intros. apply length_plane_met.
Qed.

(** The sums over a, b and over c, a, b are one sum each. *)
Lemma plane_sum : forall w y x c,
  rsum (fst (kernel w)) (fun a => rsum (snd (kernel w)) (fun b => padded v c (meets w y x a b))) =
  rsum (length (plane_met w y x c)) (fun k => nth k (plane_met w y x c) 0).
Proof.
  intros w y x c. rewrite length_plane_met, <- rsum_blocks. apply rsum_ext. intros a Ha. apply rsum_ext. intros b Hb.
  symmetry. apply nth_plane_met; assumption.
Qed.

Lemma window_sum : forall w y x own from (f : nat -> R),
  rsum own (fun c => rsum (fst (kernel w)) (fun a => rsum (snd (kernel w)) (fun b =>
    f ((c * fst (kernel w) + a) * snd (kernel w) + b)%nat * padded v (from + c) (meets w y x a b)))) =
  rsum (length (all_met w y x own from)) (fun k => f k * nth k (all_met w y x own from) 0).
Proof.
  intros w y x own from f. rewrite length_all_met, <- rsum_blocks. apply rsum_ext. intros c Hc.
  rewrite <- rsum_blocks. apply rsum_ext. intros a Ha. apply rsum_ext. intros b Hb.
  replace (c * (fst (kernel w) * snd (kernel w)) + (a * snd (kernel w) + b))%nat
    with ((c * fst (kernel w) + a) * snd (kernel w) + b)%nat by ring. f_equal.
  replace ((c * fst (kernel w) + a) * snd (kernel w) + b)%nat
    with (c * (fst (kernel w) * snd (kernel w)) + (a * snd (kernel w) + b))%nat by ring.
  unfold all_met. rewrite nth_blocks_0; [symmetry; apply nth_plane_met; assumption| |exact Hc|nia].
  intros. apply length_plane_met.
Qed.

Lemma met_inside_ok : forall w y x c, (c < channels v)%nat ->
  Forall2 (encloses B) (met_inside w e y x c) (flat_map (fun a => flat_map (fun b =>
    if inside (height v) (width v) (meets w y x a b) then [entry_at v c (meets w y x a b)] else nil)
    (seq 0 (snd (kernel w)))) (seq 0 (fst (kernel w)))).
Proof.
  intros w y x c Hc. apply Forall2_blocks. intros a _. apply Forall2_blocks. intros b _.
  destruct right as (_ & -> & -> & _).
  destruct (inside _ _ _) eqn:I; [|constructor]. constructor; [apply found_at_ok; assumption|constructor].
Qed.

(** ** Layers that read one *)

Hypothesis B_positive : (0 < B)%Z.

(** What a layer meets is one of its numbers, or 0. *)
Lemma met_found : forall es, Forall (fun ends => ends = zero \/ exists c y x, ends = found e c y x) es ->
  met (greatest e) es.
Proof.
  intros es H. split; [apply greatest_nonneg|]. eapply Forall_impl; [|exact H].
  intros ends [->|(c & y & x & ->)]; [apply zero_at_most|apply found_at_most].
Qed.

Lemma met_window : forall w y x own from, met (greatest e) (window w e y x own from).
Proof.
  intros w y x own from. apply met_found, Forall_forall. intros ends I.
  apply in_flat_map in I as (c & _ & I). apply in_flat_map in I as (a & _ & I). apply in_map_iff in I as (b & <- & _).
  unfold padded_ends. destruct (inside _ _ _); [right|left; reflexivity]. unfold found_at. eauto.
Qed.

Lemma nth_of_group : forall (A : Type) (d : A) n s l i, (i < n)%nat ->
  nth i (firstn n (skipn s l)) d = nth (s + i) l d.
Proof.
  intros A d n s l i H. transitivity (nth i (skipn s l) d).
  - generalize (skipn s l) as r. revert n H. induction i as [|i IH]; intros [|n] H [|a r]; try lia; try reflexivity.
    apply IH. lia.
  - revert l. induction s as [|s IH]; intros l; [reflexivity|]. destruct l as [|a l]; [destruct i; reflexivity|apply IH].
Qed.

Lemma conv2d_ok : forall w groups unit weights biases, (0 < groups)%nat ->
  (groups * (length weights / groups) = length weights)%nat ->
  encloses_volume B (conv2d_enclosed B w groups unit weights biases e) (conv2d w groups unit weights biases v).
Proof.
  intros w groups unit weights biases G E. unfold conv2d_enclosed, rows_given, columns_given.
  set (most := greatest e).
  set (own := (planes e / groups)%nat) in *. set (each := (length weights / groups)%nat) in *.
  destruct right as (EC & EH & EW & _). rewrite EH, EW.
  set (rows := fun g => firstn each (skipn (g * each) weights)).
  assert (R : forall g, (g < groups)%nat -> length (rows g) = each).
  { intros g Hg. unfold rows. rewrite firstn_length, skipn_length. nia. }
  set (F := fun y x g =>
    affine B unit (skipn (g * each) biases) (packed most (rows g)) (window w e y x own (g * own))).
  assert (S : forall y x, by_group B unit own
    (map (fun g => (skipn (g * each) biases, packed most (rows g))) (seq 0 groups))
    (by_channel (planes e) (cells_met w e y x)) = flat_map (F y x) (seq 0 groups)).
  { intros y x. rewrite by_group_is, !flat_map_concat_map. f_equal. apply map_ext_in. intros g I. apply in_seq in I.
    cbn [fst snd]. rewrite Nat.sub_0_r, window_of_group; [reflexivity|].
    assert (M := Nat.mul_div_le (planes e) groups ltac:(lia)). fold own in M. nia. }
  assert (L : forall y x g, (g < groups)%nat -> length (F y x g) = each).
  { intros y x g Hg. unfold F. rewrite length_affine by apply met_window. apply R. exact Hg. }
  apply built_ok; try reflexivity.
  - intros o y x Ho _ _. fold rows. rewrite S. cbn [conv2d channels] in Ho.
    assert (P : each <> O) by nia. set (g := (o / each)%nat). set (i := (o mod each)%nat).
    assert (O : o = (g * each + i)%nat) by (unfold g, i; rewrite (Nat.div_mod o each P) at 1; ring).
    assert (Hi : (i < each)%nat) by (apply Nat.mod_upper_bound; exact P).
    assert (Hg : (g < groups)%nat) by (apply Nat.div_lt_upper_bound; [exact P|nia]).
    replace (nth o (flat_map (F y x) (seq 0 groups)) zero) with (nth i (F y x g) zero).
    2: { rewrite O at 1. symmetry. apply nth_blocks_0; [|exact Hg|exact Hi]. intros g' Hg'. apply L. exact Hg'. }
    cbn [conv2d entry]. rewrite <- EC. fold own.
    replace (o * groups / length weights)%nat with g.
    2: { rewrite <- E, (Nat.mul_comm groups each), Nat.div_mul_cancel_r by lia. reflexivity. }
    rewrite (window_sum w y x own (g * own) (fun k => q (nth k (nth o weights nil) 0%Z) unit)).
    unfold F.
    assert (NB : nth i (skipn (g * each) biases) 0%Z = nth o biases 0%Z).
    { rewrite <- (firstn_all2 (n := length biases + i + 1) (skipn (g * each) biases)) by (rewrite skipn_length; lia).
      rewrite nth_of_group by lia. rewrite <- O. reflexivity. }
    assert (NR : nth i (rows g) nil = nth o weights nil).
    { unfold rows. rewrite nth_of_group, <- O by exact Hi. reflexivity. }
    rewrite <- NB, <- NR. apply affine_ok; [|apply met_window|rewrite R by exact Hg; exact Hi].
    apply window_ok. assert (M := Nat.mul_div_le (planes e) groups ltac:(lia)). fold own in M. rewrite <- EC. nia.
Qed.

Lemma linear_ok : forall unit weights biases, height v = 1%nat -> width v = 1%nat ->
  encloses_volume B (linear_enclosed B unit weights biases e) (linear_layer unit weights biases v).
Proof.
  intros unit weights biases H W. unfold linear_enclosed. rewrite whole_cell_is. set (es := map _ _).
  assert (M : met (greatest e) es).
  { apply met_found, Forall_forall. intros ends I. apply in_map_iff in I as (c & <- & _). right. eauto. }
  apply built_ok; try reflexivity.
  intros o y x Ho _ _. cbn [linear_layer entry].
  set (rs := map (fun c => entry v c 0 0) (seq 0 (channels v))).
  assert (L : length rs = channels v) by (unfold rs; rewrite map_length, seq_length; reflexivity).
  rewrite (rsum_ext (channels v) _ (fun k => q (nth k (nth o weights nil) 0%Z) unit * nth k rs 0)).
  - rewrite <- L at 1. apply affine_ok; [|exact M|exact Ho]. unfold es. destruct right as (-> & _ & _ & R).
    apply Forall2_same. intros c I. apply in_seq in I. apply R; lia.
  - intros c Hc. unfold rs. rewrite nth_map_seq by exact Hc. reflexivity.
Qed.

Lemma each_where : forall f g, (forall c y x, (c < channels v)%nat -> (y < height v)%nat -> (x < width v)%nat ->
    encloses B (f (found e c y x)) (g (entry v c y x))) ->
  encloses_volume B (each_enclosed f e) (each g v).
Proof.
  intros f g H. unfold each_enclosed. destruct right as (EC & EH & EW & _). apply built_ok; try (symmetry; assumption).
  intros c y x Hc Hy Hx. rewrite whole_cell_is, map_map, nth_map_seq by exact Hc. apply H; congruence.
Qed.

Lemma each_ok : forall f g, (forall ends r, encloses B ends r -> encloses B (f ends) (g r)) ->
  encloses_volume B (each_enclosed f e) (each g v).
Proof.
  intros f g H. apply each_where. intros c y x Hc Hy Hx. apply H. apply right; assumption.
Qed.

Lemma all_positive_found : all_positive e = true -> forall c y x,
  (c < channels v)%nat -> (y < height v)%nat -> (x < width v)%nat -> (0 < fst (found e c y x))%Z.
Proof.
  intros P c y x Hc Hy Hx. destruct right as (EC & EH & EW & _). unfold all_positive in P.
  rewrite forallb_forall in P. specialize (P y ltac:(apply in_seq; lia)).
  rewrite forallb_forall in P. specialize (P x ltac:(apply in_seq; lia)).
  rewrite forallb_forall, whole_cell_is in P. apply Z.ltb_lt, P. apply in_map_iff. exists c.
  split; [reflexivity|apply in_seq; lia].
Qed.

Lemma all_positive_ok : all_positive e = true -> all_above_zero v.
Proof.
  intros P c y x Hc Hy Hx. apply (encloses_pos B (found e c y x)); [exact B_positive| |apply right; assumption].
  apply all_positive_found; assumption.
Qed.

Lemma inverse_root_ok : all_positive e = true ->
  encloses_volume B (each_enclosed (inverse_root_ends B) e) (each inverse_root v).
Proof.
  intros P. apply each_where. intros c y x Hc Hy Hx.
  apply inverse_root_ends_ok; [exact B_positive|apply all_positive_found|apply right]; assumption.
Qed.

Lemma max_pool2d_ok : forall w, encloses_volume B (max_pool2d_enclosed w e) (max_pool2d w v).
Proof.
  intros w. unfold max_pool2d_enclosed, rows_given, columns_given. destruct right as (EC & EH & EW & _).
  rewrite EC, EH, EW. apply built_ok; try reflexivity. intros c y x Hc _ _.
  rewrite nth_map_by_channel, cells_inside_channel by exact Hc. apply greatest_enclosed_ok; [exact B_positive|apply met_inside_ok; exact Hc].
Qed.

Lemma avg_pool2d_ok : forall w, (0 < fst (kernel w) * snd (kernel w))%nat ->
  encloses_volume B (avg_pool2d_enclosed w e) (avg_pool2d w v).
Proof.
  intros w K. unfold avg_pool2d_enclosed, rows_given, columns_given. destruct right as (EC & EH & EW & _).
  rewrite EC, EH, EW. apply built_ok; try reflexivity. intros c y x Hc _ _. cbn [avg_pool2d entry].
  rewrite (nth_map_by_channel _ (fun met => divided (total met) _)), cells_met_channel by exact Hc. rewrite plane_sum, INR_IZR_INZ. apply divided_ok; [lia|]. apply total_ok, plane_window_ok. exact Hc.
Qed.

Lemma flattened_ok : encloses_volume B (flattened_enclosed e) (flattened v).
Proof.
  unfold flattened_enclosed. destruct right as (EC & EH & EW & R). rewrite EC, EH, EW.
  apply built_each_ok; try reflexivity. intros k y x Hk _ _. cbn [flattened entry].
  assert (W : width v <> O) by nia. assert (H : height v <> O) by nia. apply R.
  - apply Nat.div_lt_upper_bound; [exact H|]. apply Nat.div_lt_upper_bound; [exact W|]. nia.
  - apply Nat.mod_upper_bound. exact H.
  - apply Nat.mod_upper_bound. exact W.
Qed.

Lemma upsampled_ok : forall factor, encloses_volume B (upsampled_enclosed factor e) (upsampled factor v).
Proof.
  intros factor. unfold upsampled_enclosed. destruct right as (EC & EH & EW & R). rewrite EC, EH, EW.
  apply built_ok; try reflexivity. intros c y x Hc Hy Hx. cbn [upsampled entry].
  apply R; [exact Hc| |]; apply Nat.div_lt_upper_bound; nia.
Qed.
End Volume.

(** ** Layers that read several *)

Definition all_right (B : Z) : list enclosed -> list volume -> Prop := Forall2 (encloses_volume B).

Lemma hd_right : forall B es vs, all_right B es vs -> encloses_volume B (hd nothing_enclosed es) (hd nothing vs).
Proof. intros B es vs [|e v es' vs' H _]; [apply nothing_enclosed_ok|exact H]. Qed.

Lemma summed_ok : forall B C H W es vs, all_right B es vs ->
  Forall (fun e => planes e = C /\ tall e = H /\ wide e = W) es ->
  forall c y x, (c < C)%nat -> (y < H)%nat -> (x < W)%nat ->
  encloses B (total (map (fun e => found e c y x) es)) (fold_right (fun v sum => entry v c y x + sum) 0 vs).
Proof.
  intros B C H W es vs R F c y x Hc Hy Hx. induction R as [|e v es vs E R IH]; [apply zero_ok|].
  inversion F as [|? ? (PC & PH & PW) F']. cbn [map total fold_right]. apply add_ends_ok; [|apply IH; exact F'].
  destruct E as (EC & EH & EW & E). apply E; lia.
Qed.

Lemma added_ok : forall B es vs, all_right B es vs -> forallb (as_large (hd nothing_enclosed es)) es = true ->
  encloses_volume B (added_enclosed es) (added vs).
Proof.
  intros B es vs R F. unfold added_enclosed. destruct (hd_right B es vs R) as (EC & EH & EW & _).
  set (e := hd nothing_enclosed es) in *. apply built_ok; cbn [added channels height width]; try congruence.
  intros c y x Hc Hy Hx. rewrite nth_map_by_channel, map_map by exact Hc. apply (summed_ok B (planes e) (tall e) (wide e)); try assumption.
  apply Forall_forall. intros f I. rewrite forallb_forall in F. specialize (F f I). unfold as_large, as_wide in F.
  rewrite !andb_true_iff, !Nat.eqb_eq in F. tauto.
Qed.

Lemma joined_entry_ok : forall B H W es vs, all_right B es vs -> Forall (fun e => tall e = H /\ wide e = W) es ->
  forall c y x, (c < fold_right (fun e sum => (planes e + sum)%nat) O es)%nat -> (y < H)%nat -> (x < W)%nat ->
  encloses B (nth c (flat_map (fun e => whole_cell e y x) es) zero)
    (joined_entry vs c y x).
Proof.
  intros B H W es vs R F c y x Hc Hy Hx. revert c Hc.
  induction R as [|e v es vs E R IH]; intros c Hc; cbn [fold_right flat_map joined_entry] in *; [inversion Hc|].
  inversion F as [|? ? (PH & PW) F']. destruct E as (EC & EH & EW & E). rewrite <- EC.
  destruct (Nat.ltb_spec c (planes e)) as [L|G].
  - rewrite app_nth1 by (rewrite length_whole_cell; exact L). rewrite nth_whole_cell by exact L. apply E; lia.
  - rewrite app_nth2 by (rewrite length_whole_cell; exact G). rewrite length_whole_cell.
    apply IH; [exact F'|lia].
Qed.

Lemma joined_ok : forall B es vs, all_right B es vs -> forallb (as_wide (hd nothing_enclosed es)) es = true ->
  encloses_volume B (joined_enclosed es) (joined vs).
Proof.
  intros B es vs R F. unfold joined_enclosed. destruct (hd_right B es vs R) as (_ & EH & EW & _).
  set (e := hd nothing_enclosed es) in *. apply built_ok; cbn [joined channels height width]; try congruence.
  - clear F e EH EW. induction R as [|e v es vs E R IH]; [reflexivity|]. cbn [fold_right]. rewrite IH. f_equal.
    symmetry. apply E.
  - intros c y x Hc Hy Hx. apply (joined_entry_ok B (tall e) (wide e)); try assumption.
    apply Forall_forall. intros f I. rewrite forallb_forall in F. specialize (F f I). unfold as_wide in F.
    rewrite !andb_true_iff, !Nat.eqb_eq in F. exact F.
Qed.

Lemma repeated_below : forall n m k, (Nat.eqb m n || Nat.eqb m 1)%bool = true -> (k < n)%nat ->
  (repeated m k < m)%nat.
Proof.
  intros n m k E H. unfold repeated. destruct (Nat.eqb_spec m 1) as [->|]; [lia|].
  rewrite orb_false_r in E. apply Nat.eqb_eq in E. lia.
Qed.

Lemma nth_products_each : forall B es fs c, (c < length es)%nat -> (c < length fs)%nat ->
  nth c (products_each B es fs) zero = product_ends B (nth c es zero) (nth c fs zero).
Proof.
  intros B. induction es as [|e es IH]; intros [|f fs] c E F; try (inversion E; fail); try (inversion F; fail).
  cbn [products_each]. destruct c as [|c]; [reflexivity|]. cbn [nth length] in *. apply IH; lia.
Qed.

(** What a product's other numbers are, at a place *)
Lemma factors_at : forall n f y x c, (Nat.eqb (planes f) n || Nat.eqb (planes f) 1)%bool = true -> (c < n)%nat ->
  let factors := whole_cell f y x in
  let all := if Nat.eqb (planes f) 1 then repeat (hd zero factors) n else factors in
  (c < length all)%nat /\ nth c all zero = found f (repeated (planes f) c) y x.
Proof.
  intros n f y x c E H. cbv zeta. unfold repeated. destruct (Nat.eqb_spec (planes f) 1) as [O|O].
  - split; [rewrite repeat_length; exact H|]. rewrite (nth_indep _ zero (hd zero (whole_cell f y x))), nth_repeat
      by (rewrite repeat_length; exact H).
    rewrite whole_cell_is, O. reflexivity.
  - rewrite orb_false_r in E. apply Nat.eqb_eq in E. split; [rewrite length_whole_cell; lia|].
    apply nth_whole_cell. lia.
Qed.

Lemma multiplied_ok : forall B e f v w, (0 < B)%Z -> encloses_volume B e v -> encloses_volume B f w ->
  repeats e f = true -> encloses_volume B (multiplied_enclosed B e f) (multiplied v w).
Proof.
  intros B e f v w HB (EC & EH & EW & E) (FC & FH & FW & F) R. unfold multiplied_enclosed. unfold repeats in R.
  apply andb_prop in R as [R RW]. apply andb_prop in R as [RC RH].
  apply built_ok; try (symmetry; assumption). intros c y x Hc Hy Hx. cbn [multiplied entry]. rewrite <- FC, <- FH, <- FW.
  assert (RC' := repeated_below _ _ c RC Hc).
  destruct (factors_at _ f (repeated (tall f) y) (repeated (wide f) x) c RC Hc) as [L N]. cbv zeta in L, N.
  cbv zeta. rewrite nth_products_each, nth_whole_cell, N by (rewrite ?length_whole_cell; assumption).
  apply product_ends_ok; [exact HB|apply E; congruence|]. apply F.
  - rewrite <- FC. exact RC'.
  - rewrite <- FH. exact (repeated_below _ _ y RH Hy).
  - rewrite <- FW. exact (repeated_below _ _ x RW Hx).
Qed.

Theorem computed_enclosed_ok : forall B terms does es vs e, (0 < B)%Z -> all_right B es vs ->
  computed_enclosed B terms does es = Some e -> is_given does vs /\ encloses_volume B e (computed does vs).
Proof.
  intros B terms does es vs e HB R E. assert (H := hd_right B es vs R).
  assert (given : forall fits f, given_if fits f = Some e -> fits = true /\ f = e).
  { intros [|] f G; [injection G as <-; split; reflexivity|discriminate]. }
  destruct does; cbn [computed_enclosed computed] in *; try (apply given in E as [F E]); try (injection E as E);
    subst e; cbn [is_given]; (split; [try exact I|]).
  - apply andb_prop in F as [F G]. apply conv2d_ok; [exact H| |]; [apply Nat.ltb_lt|apply Nat.eqb_eq]; assumption.
  - apply andb_prop in F as [F G]. apply Nat.eqb_eq in F, G.
    apply linear_ok; [exact H| |]; destruct H as (_ & EH & EW & _); congruence.
  - apply added_ok; assumption.
  - apply joined_ok; assumption.
  - apply multiplied_ok; [exact HB|exact H| |exact F]. apply hd_right. destruct R; [constructor|assumption].
  - apply each_ok; [exact H|]. intros. apply rectified_ends_ok; assumption.
  - apply each_ok; [exact H|]. intros. apply clamped_ends_ok; assumption.
  - apply each_ok; [exact H|]. intros. apply leaky_ends_ok; try assumption. apply Z.leb_le. exact F.
  - apply each_ok; [exact H|]. intros. apply logistic_ends_ok; assumption.
  - apply each_ok; [exact H|]. intros. apply hyperbolic_ends_ok; assumption.
  - apply (all_positive_ok B _ _ H); assumption.
  - apply inverse_root_ok; assumption.
  - apply max_pool2d_ok; assumption.
  - apply avg_pool2d_ok; [exact H|]. apply Nat.ltb_lt. exact F.
  - apply flattened_ok. exact H.
  - apply upsampled_ok. exact H.
Qed.

(** ** The picture *)

Lemma count_onto_is : forall p counted, count_onto counted p = (counted + length p)%nat.
Proof. induction p as [|v p IH]; intros counted; cbn [count_onto length]; [lia|]. rewrite IH. lia. Qed.

Lemma picture_fits_ok : forall n p, picture_fits n p = true -> fits n p.
Proof.
  intros n p H. apply andb_prop in H as [L V]. split; [apply Nat.eqb_eq in L; rewrite count_onto_is in L; exact L|].
  apply Forall_forall. intros v I.
  rewrite forallb_forall in V. specialize (V v I). rewrite andb_true_iff, !Z.leb_le in V. exact V.
Qed.

Lemma normalised_ends_ok : forall B mean deviation v, (0 < numerator deviation)%Z ->
  encloses B (normalised_ends B mean deviation v) ((IZR v / 255 - real mean) / real deviation).
Proof.
  intros B [m dm] [n dn] v H. cbn [numerator denominator] in *. unfold normalised_ends, real, q.
  cbn [numerator denominator]. assert (M := Zpos_pos dm). assert (N := Zpos_pos dn). assert (P := IZR_pos n H).
  replace ((IZR v / 255 - IZR m / IZR (Zpos dm)) / (IZR n / IZR (Zpos dn))) with
    (IZR ((v * Zpos dm - 255 * m) * Zpos dn) / IZR (255 * Zpos dm * n)).
  - apply quotient_ends_ok. apply Z.mul_pos_pos; [reflexivity|exact H].
  - rewrite !mult_IZR, minus_IZR, !mult_IZR. field. lra.
Qed.

Lemma index_below : forall C H W c y x, (c < C)%nat -> (y < H)%nat -> (x < W)%nat ->
  ((c * H + y) * W + x < C * H * W)%nat.
Proof. intros C H W c y x Hc Hy Hx. assert (c * H + y < C * H)%nat by nia. nia. Qed.

Lemma normalised_enclosed_ok : forall B n p, fits n p -> positive_deviations n = true ->
  encloses_volume B (normalised_enclosed B n p) (normalised n p).
Proof.
  intros B n p [L _] D. apply andb_prop in D as [C D]. apply Nat.leb_le in C. rewrite forallb_forall in D.
  apply built_each_ok; try reflexivity. intros c y x Hc Hy Hx. cbn [normalised entry].
  set (k := ((c * input_height n + y) * input_width n + x)%nat).
  assert (K : (k < length p)%nat) by (rewrite L; apply index_below; assumption).
  rewrite (find_stored_first _ 0%Z) by exact K.
  apply normalised_ends_ok. apply Z.ltb_lt, D, nth_In. eapply Nat.lt_le_trans; [exact Hc|exact C].
Qed.

(** ** The network *)

(** What is kept is right. *)
Definition kept_right (B : Z) : list (option enclosed) -> list volume -> Prop :=
  Forall2 (fun o v => forall e, o = Some e -> encloses_volume B e v).

Lemma without_nth_right : forall B known vs i, kept_right B known vs -> kept_right B (without_nth i known) vs.
Proof.
  intros B known vs i R. revert i. induction R as [|o v known vs H R IH]; intros i; [destruct i; constructor|].
  destruct i as [|i]; constructor; try exact H; try exact R; [discriminate|apply IH].
Qed.

Lemma let_go_right : forall B ls listed known vs, kept_right B known vs -> kept_right B (let_go ls listed known) vs.
Proof.
  intros B ls. induction listed as [|i listed IH]; intros known vs R; [exact R|]. cbn [let_go fold_left].
  apply IH. destruct (reads ls i); [exact R|apply without_nth_right; exact R].
Qed.

Lemma nth_kept_right : forall B known vs i e, kept_right B known vs -> nth i known None = Some e ->
  encloses_volume B e (nth i vs nothing).
Proof.
  intros B known vs i e R. revert i. induction R as [|o v known vs H R IH]; intros [|i] E; try discriminate.
  - exact (H e E).
  - exact (IH i E).
Qed.

Lemma inputs_right : forall B known vs, kept_right B known vs -> forall is es,
  all_some (map (fun i => nth i known None) is) = Some es -> all_right B es (map (fun i => nth i vs nothing) is).
Proof.
  intros B known vs R. induction is as [|i is IH]; intros es E; cbn [map all_some] in *.
  - injection E as <-. constructor.
  - destruct (nth i known None) as [e|] eqn:N; [|discriminate].
    destruct (all_some _) as [es'|]; [|discriminate]. injection E as <-.
    constructor; [exact (nth_kept_right B known vs i e R N)|apply IH; reflexivity].
Qed.

Lemma last_kept_right : forall B known vs e, kept_right B known vs -> last known None = Some e ->
  encloses_volume B e (last vs nothing).
Proof.
  intros B known vs e R. induction R as [|o v known vs H R IH]; intros E; [discriminate|].
  destruct R as [|o' v' known vs H' R]; [exact (H e E)|exact (IH E)].
Qed.

Lemma all_enclosed_ok : forall B terms ls known vs e, (0 < B)%Z -> kept_right B known vs ->
  all_enclosed B terms known ls = Some e -> all_given vs ls /\ encloses_volume B e (last (all_computed vs ls) nothing).
Proof.
  intros B terms. induction ls as [|l ls IH]; intros known vs e HB R E;
    cbn [all_enclosed all_given all_computed] in *.
  - split; [exact I|exact (last_kept_right B known vs e R E)].
  - destruct (all_some _) as [es|] eqn:S; [|discriminate].
    destruct (computed_enclosed _ _ _ _) as [e'|] eqn:C; [|discriminate].
    assert (M := inputs_right B known vs R _ _ S).
    destruct (computed_enclosed_ok B terms (does l) _ _ e' HB M C) as [G V].
    destruct (IH (let_go ls (inputs l) known ++ [Some e'])
      (vs ++ [computed (does l) (map (fun i => nth i vs nothing) (inputs l))]) e) as [A Z]; [exact HB| |exact E|].
    + apply Forall2_app; [apply let_go_right; exact R|]. constructor; [|constructor].
      intros e'' K. injection K as <-. exact V.
    + split; [split; [exact G|exact A]|exact Z].
Qed.

(** The theorem: each number that the network gives for the picture lies between its ends. *)
Theorem enclosed_output_ok : forall B terms n p e, (0 < B)%Z -> enclosed_output B terms n p = Some e ->
  gives_latents n p /\ encloses_volume B e (output n p).
Proof.
  intros B terms n p e HB E. unfold enclosed_output in E.
  destruct (picture_fits n p && positive_deviations n) eqn:F; [|discriminate]. apply andb_prop in F as [F D].
  apply picture_fits_ok in F.
  destruct (all_enclosed_ok B terms (layers n) [Some (normalised_enclosed B n p)] [normalised n p] e HB) as [G R];
    [|exact E|].
  - constructor; [|constructor]. intros e' K. injection K as <-. apply normalised_enclosed_ok; assumption.
  - split; [split; [exact F|exact G]|exact R].
Qed.
