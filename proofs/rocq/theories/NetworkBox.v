(** A network's numbers, enclosed layer by layer, and the theorem that what it gives lies between their ends. *)

From Coq Require Import Reals ZArith List Lia Lra Bool FMapPositive.
From Verale Require Import Semantics NetworkSemantics Sums Grid EnclosedVolumes RowSums LayerBox.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (B : Z) (terms : nat).

(** (v / 255 - mean) / std *)
Definition normalised_ends (mean deviation : fraction) (v : Z) : Z * Z :=
  quotient_ends B ((v * Zpos (denominator mean) - 255 * numerator mean) * Zpos (denominator deviation))
    (255 * Zpos (denominator mean) * numerator deviation).

Definition picture_fits (n : network) (p : picture) : bool :=
  Nat.eqb (length p) (input_channels n * input_height n * input_width n) &&
  forallb (fun v => (0 <=? v) && (v <=? 255)) p.
Definition positive_deviations (n : network) : bool :=
  Nat.leb (input_channels n) (length (deviations n)) && forallb (fun f => 0 <? numerator f) (deviations n).

Definition normalised_enclosed (n : network) (p : picture) : enclosed :=
  let C := input_channels n in let H := input_height n in let W := input_width n in
  let bytes := stored 1 (map (fun v => (v, v)) p) (PositiveMap.empty _) in
  built_each C H W (fun c y x =>
    normalised_ends (nth c (means n) (Fraction 0 1)) (nth c (deviations n) (Fraction 1 1))
      match PositiveMap.find (Pos.of_succ_nat ((c * H + y) * W + x)) bytes with Some e => fst e | None => 0 end).

Fixpoint all_enclosed (known : list enclosed) (ls : list layer) : option (list enclosed) :=
  match ls with
  | nil => Some known
  | l :: ls' =>
      match computed_enclosed B terms (does l) (map (fun i => nth i known nothing_enclosed) (inputs l)) with
      | Some e => all_enclosed (known ++ [e]) ls'
      | None => None
      end
  end.

Definition enclosed_output (n : network) (p : picture) : option enclosed :=
  if picture_fits n p && positive_deviations n then
    option_map (fun es => last es nothing_enclosed) (all_enclosed [normalised_enclosed n p] (layers n))
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
  assert (S : forall y x, flat_map (fun g => affine B unit (fst (snd g)) (snd (snd g)) (window w e y x own (fst g)))
    (map (fun g => ((g * own)%nat, (skipn (g * each) biases, packed most (rows g)))) (seq 0 groups)) =
    flat_map (F y x) (seq 0 groups)).
  { intros y x. rewrite !flat_map_concat_map, map_map. reflexivity. }
  assert (L : forall y x g, (g < groups)%nat -> length (F y x g) = each).
  { intros y x g Hg. unfold F. rewrite length_affine by apply met_window. apply R. exact Hg. }
  apply built_ok; try reflexivity.
  - intros y x _ _. fold rows. rewrite S, (length_blocks _ _ _ each), seq_length; [exact E|].
    intros g I. apply in_seq in I. apply L. lia.
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
  intros unit weights biases H W. unfold linear_enclosed. set (es := map _ _).
  assert (M : met (greatest e) es).
  { apply met_found, Forall_forall. intros ends I. apply in_map_iff in I as (c & <- & _). right. eauto. }
  apply built_ok; try reflexivity; [intros; apply length_affine; exact M|].
  intros o y x Ho _ _. cbn [linear_layer entry].
  set (rs := map (fun c => entry v c 0 0) (seq 0 (channels v))).
  assert (L : length rs = channels v) by (unfold rs; rewrite map_length, seq_length; reflexivity).
  rewrite (rsum_ext (channels v) _ (fun k => q (nth k (nth o weights nil) 0%Z) unit * nth k rs 0)).
  - rewrite <- L at 1. apply affine_ok; [|exact M|exact Ho]. unfold es. destruct right as (-> & _ & _ & R).
    apply Forall2_same. intros c I. apply in_seq in I. apply R; lia.
  - intros c Hc. unfold rs. rewrite nth_map_seq by exact Hc. reflexivity.
Qed.

Lemma each_ok : forall f g, (forall ends r, encloses B ends r -> encloses B (f ends) (g r)) ->
  encloses_volume B (each_enclosed f e) (each g v).
Proof.
  intros f g H. unfold each_enclosed. destruct right as (-> & -> & -> & R). apply built_each_ok; try reflexivity.
  intros. apply H, R; assumption.
Qed.

Lemma max_pool2d_ok : forall w, encloses_volume B (max_pool2d_enclosed w e) (max_pool2d w v).
Proof.
  intros w. unfold max_pool2d_enclosed, rows_given, columns_given. destruct right as (EC & EH & EW & _).
  rewrite EC, EH, EW. apply built_each_ok; try reflexivity. intros c y x Hc _ _.
  apply greatest_enclosed_ok; [exact B_positive|apply met_inside_ok; exact Hc].
Qed.

Lemma avg_pool2d_ok : forall w, (0 < fst (kernel w) * snd (kernel w))%nat ->
  encloses_volume B (avg_pool2d_enclosed w e) (avg_pool2d w v).
Proof.
  intros w K. unfold avg_pool2d_enclosed, rows_given, columns_given. destruct right as (EC & EH & EW & _).
  rewrite EC, EH, EW. apply built_each_ok; try reflexivity. intros c y x Hc _ _. cbn [avg_pool2d entry].
  rewrite plane_sum, INR_IZR_INZ. apply divided_ok; [lia|]. apply total_ok, plane_window_ok. exact Hc.
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
  apply built_each_ok; try reflexivity. intros c y x Hc Hy Hx. cbn [upsampled entry].
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
  set (e := hd nothing_enclosed es) in *. apply built_each_ok; cbn [added channels height width]; try congruence.
  intros c y x Hc Hy Hx. apply (summed_ok B (planes e) (tall e) (wide e)); try assumption.
  apply Forall_forall. intros f I. rewrite forallb_forall in F. specialize (F f I). unfold as_large, as_wide in F.
  rewrite !andb_true_iff, !Nat.eqb_eq in F. tauto.
Qed.

Lemma length_joined : forall es y x,
  length (flat_map (fun e => map (fun c => found e c y x) (seq 0 (planes e))) es) =
  fold_right (fun e sum => (planes e + sum)%nat) O es.
Proof.
  induction es as [|e es IH]; intros y x; [reflexivity|]. cbn [flat_map fold_right].
  rewrite app_length, map_length, seq_length, IH. reflexivity.
Qed.

Lemma joined_entry_ok : forall B H W es vs, all_right B es vs -> Forall (fun e => tall e = H /\ wide e = W) es ->
  forall c y x, (c < fold_right (fun e sum => (planes e + sum)%nat) O es)%nat -> (y < H)%nat -> (x < W)%nat ->
  encloses B (nth c (flat_map (fun e => map (fun c => found e c y x) (seq 0 (planes e))) es) zero)
    (joined_entry vs c y x).
Proof.
  intros B H W es vs R F c y x Hc Hy Hx. revert c Hc.
  induction R as [|e v es vs E R IH]; intros c Hc; cbn [fold_right flat_map joined_entry] in *; [inversion Hc|].
  inversion F as [|? ? (PH & PW) F']. destruct E as (EC & EH & EW & E). rewrite <- EC.
  destruct (Nat.ltb_spec c (planes e)) as [L|G].
  - rewrite app_nth1 by (rewrite map_length, seq_length; exact L). rewrite nth_map_seq by exact L. apply E; lia.
  - rewrite app_nth2 by (rewrite map_length, seq_length; exact G). rewrite map_length, seq_length.
    apply IH; [exact F'|lia].
Qed.

Lemma joined_ok : forall B es vs, all_right B es vs -> forallb (as_wide (hd nothing_enclosed es)) es = true ->
  encloses_volume B (joined_enclosed es) (joined vs).
Proof.
  intros B es vs R F. unfold joined_enclosed. destruct (hd_right B es vs R) as (_ & EH & EW & _).
  set (e := hd nothing_enclosed es) in *. apply built_ok; cbn [joined channels height width]; try congruence.
  - clear F e EH EW. induction R as [|e v es vs E R IH]; [reflexivity|]. cbn [fold_right]. rewrite IH. f_equal.
    symmetry. apply E.
  - intros y x _ _. apply length_joined.
  - intros c y x Hc Hy Hx. apply (joined_entry_ok B (tall e) (wide e)); try assumption.
    apply Forall_forall. intros f I. rewrite forallb_forall in F. specialize (F f I). unfold as_wide in F.
    rewrite !andb_true_iff, !Nat.eqb_eq in F. exact F.
Qed.

Theorem computed_enclosed_ok : forall B terms does es vs e, (0 < B)%Z -> all_right B es vs ->
  computed_enclosed B terms does es = Some e -> encloses_volume B e (computed does vs).
Proof.
  intros B terms does es vs e HB R E. assert (H := hd_right B es vs R).
  assert (given : forall fits f, given_if fits f = Some e -> fits = true /\ f = e).
  { intros [|] f G; [injection G as <-; split; reflexivity|discriminate]. }
  destruct does; cbn [computed_enclosed computed] in *; try (apply given in E as [F E]); try (injection E as E);
    subst e.
  - apply andb_prop in F as [F G]. apply conv2d_ok; [exact H| |]; [apply Nat.ltb_lt|apply Nat.eqb_eq]; assumption.
  - apply andb_prop in F as [F G]. apply Nat.eqb_eq in F, G.
    apply linear_ok; [exact H| |]; destruct H as (_ & EH & EW & _); congruence.
  - apply added_ok; assumption.
  - apply joined_ok; assumption.
  - apply each_ok; [exact H|]. intros. apply rectified_ends_ok; assumption.
  - apply each_ok; [exact H|]. intros. apply leaky_ends_ok; try assumption. apply Z.leb_le. exact F.
  - apply each_ok; [exact H|]. intros. apply logistic_ends_ok; assumption.
  - apply each_ok; [exact H|]. intros. apply hyperbolic_ends_ok; assumption.
  - apply max_pool2d_ok; assumption.
  - apply avg_pool2d_ok; [exact H|]. apply Nat.ltb_lt. exact F.
  - apply flattened_ok. exact H.
  - apply upsampled_ok. exact H.
Qed.

(** ** The picture *)

Lemma picture_fits_ok : forall n p, picture_fits n p = true -> fits n p.
Proof.
  intros n p H. apply andb_prop in H as [L V]. split; [apply Nat.eqb_eq; exact L|]. apply Forall_forall. intros v I.
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
  rewrite find_stored_first by (rewrite map_length; exact K).
  rewrite (nth_indep _ zero (0, 0)%Z), (map_nth (fun v => (v, v)) p 0%Z) by (rewrite map_length; exact K).
  apply normalised_ends_ok. apply Z.ltb_lt, D, nth_In. eapply Nat.lt_le_trans; [exact Hc|exact C].
Qed.

(** ** The network *)

Lemma all_enclosed_ok : forall B terms ls known vs es, (0 < B)%Z -> all_right B known vs ->
  all_enclosed B terms known ls = Some es -> all_right B es (all_computed vs ls).
Proof.
  intros B terms. induction ls as [|l ls IH]; intros known vs es HB R E; cbn [all_enclosed all_computed] in *.
  - injection E as <-. exact R.
  - destruct (computed_enclosed _ _ _ _) as [e|] eqn:C; [|discriminate].
    apply (IH (known ++ [e])); [exact HB| |exact E]. apply Forall2_app; [exact R|]. constructor; [|constructor].
    apply (computed_enclosed_ok B terms (does l)) with (3 := C); [exact HB|]. apply Forall2_same. intros i _.
    clear C E IH. revert i. induction R as [|e' v es' vs' H R IH]; intros i; [destruct i; apply nothing_enclosed_ok|].
    destruct i as [|i]; [exact H|apply IH].
Qed.

Lemma last_right : forall B es vs, all_right B es vs ->
  encloses_volume B (last es nothing_enclosed) (last vs nothing).
Proof.
  intros B es vs R. induction R as [|e v es vs H R IH]; [apply nothing_enclosed_ok|].
  destruct R; [exact H|exact IH].
Qed.

(** The theorem: each number that the network gives for the picture lies between its ends. *)
Theorem enclosed_output_ok : forall B terms n p e, (0 < B)%Z -> enclosed_output B terms n p = Some e ->
  fits n p /\ encloses_volume B e (output n p).
Proof.
  intros B terms n p e HB E. unfold enclosed_output in E.
  destruct (picture_fits n p && positive_deviations n) eqn:F; [|discriminate]. apply andb_prop in F as [F D].
  apply picture_fits_ok in F. split; [exact F|].
  destruct (all_enclosed _ _ _ _) as [es|] eqn:A; [|discriminate]. injection E as <-. apply last_right.
  apply (all_enclosed_ok B terms (layers n) [normalised_enclosed B n p]); [exact HB| |exact A].
  constructor; [apply normalised_enclosed_ok; assumption|constructor].
Qed.
