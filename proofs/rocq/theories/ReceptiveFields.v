(** Which pixels a patch can depend on: a rule on kernels, strides, padding and dilation, and that it is right. Two
    pictures with the same pixels in a patch's receptive field give it the same latent.

    [field_of] renders the table of [certificates/network-v1.md], "Receptive fields", whose sentences stand beside it. *)

From Coq Require Import Reals ZArith List Lia Bool.
From Verale Require Import Semantics NetworkSemantics Sums.
Import ListNotations.

(** * The rule *)

(** From its first number up to its second one, which is not in it; without numbers where that is no greater *)
Definition interval : Type := nat * nat.
Definition within (i : interval) (a : nat) : Prop := (fst i <= a < snd i)%nat.

(** "the least interval that holds" some; those without numbers are left out. *)
Definition is_empty (i : interval) : bool := Nat.leb (snd i) (fst i).
Definition hull (i j : interval) : interval :=
  if is_empty i then j else if is_empty j then i else (Nat.min (fst i) (fst j), Nat.max (snd i) (snd j)).
Definition hulls (l : list interval) : interval := fold_right hull (0, 0)%nat l.

(** R and S of a layer *)
Record field := Field { rows : nat -> interval; columns : nat -> interval }.
Definition no_field : field := Field (fun _ => (0, 0)%nat) (fun _ => (0, 0)%nat).

(** "the picture's own row y has [y, y + 1), and a column alike" *)
Definition own_field : field := Field (fun y => (y, S y)) (fun x => (x, S x)).

(** "y stride_0 - padding_0 + t dilation_0 for t below kernel_0, those that are in the input" *)
Definition slid (size kernel stride padding dilation : nat) (seen : nat -> interval) (y : nat) : interval :=
  hulls (flat_map (fun t =>
    let a := (Z.of_nat (y * stride + t * dilation) - Z.of_nat padding)%Z in
    if (0 <=? a)%Z && (a <? Z.of_nat size)%Z then [seen (Z.to_nat a)] else nil) (seq 0 kernel)).
Definition slid_field (w : windows) (v : volume) (f : field) : field :=
  Field
    (slid (height v) (fst (kernel w)) (fst (stride w)) (fst (padding w)) (fst (dilation w)) (rows f))
    (slid (width v) (snd (kernel w)) (snd (stride w)) (snd (padding w)) (snd (dilation w)) (columns f)).

Definition field_of (does : operation) (vs : list volume) (fs : list field) : field :=
  let v := hd nothing vs in let f := hd no_field fs in
  match does with
  | Conv2d w _ _ _ _ | MaxPool2d w | AvgPool2d w => slid_field w v f
  | UpsampleNearest factor => Field (fun y => rows f (y / fst factor)) (fun x => columns f (x / snd factor))
  | Add | Concat => Field (fun y => hulls (map (fun f => rows f y) fs)) (fun x => hulls (map (fun f => columns f x) fs))
  | Multiply =>
      let w := hd nothing (tl vs) in let g := hd no_field (tl fs) in
      Field (fun y => hull (rows f y) (rows g (repeated (height w) y)))
        (fun x => hull (columns f x) (columns g (repeated (width w) x)))
  | Flatten | LinearLayer _ _ _ =>
      Field (fun _ => hulls (map (rows f) (seq 0 (height v)))) (fun _ => hulls (map (columns f) (seq 0 (width v))))
  | Relu | Clamp _ _ | LeakyRelu _ | Sigmoid | Tanh | InverseRoot => f
  end.

(** Those of the picture and of all layers, beside what these give. Only the shapes of that are looked at. *)
Fixpoint all_fields (known : list volume) (fields : list field) (ls : list layer) : list field :=
  match ls with
  | nil => fields
  | l :: ls' =>
      let vs := map (fun i => nth i known nothing) (inputs l) in
      let fs := map (fun i => nth i fields no_field) (inputs l) in
      all_fields (known ++ [computed (does l) vs]) (fields ++ [field_of (does l) vs fs]) ls'
  end.
Definition output_field (n : network) (p : picture) : field :=
  last (all_fields [normalised n p] [own_field] (layers n)) no_field.

(** * What it means *)

(** The shapes that the reader of files sees to *)
Definition shapes_fit (does : operation) (vs : list volume) : Prop :=
  let v := hd nothing vs in
  match does with
  | Add | Concat => Forall (fun w => height w = height v /\ width w = width v) vs
  | Multiply =>
      let w := hd nothing (tl vs) in
      (height w = height v \/ height w = 1%nat) /\ (width w = width v \/ width w = 1%nat)
  | UpsampleNearest factor => (0 < fst factor)%nat /\ (0 < snd factor)%nat
  | Flatten | LinearLayer _ _ _ => (0 < height v)%nat /\ (0 < width v)%nat
  | _ => True
  end.
Fixpoint all_shapes_fit (known : list volume) (ls : list layer) : Prop :=
  match ls with
  | nil => True
  | l :: ls' =>
      let vs := map (fun i => nth i known nothing) (inputs l) in
      shapes_fit (does l) vs /\ all_shapes_fit (known ++ [computed (does l) vs]) ls'
  end.

(** Two pictures have the same pixels in a rectangle. *)
Definition same_pixels (n : network) (p q : picture) (r s : interval) : Prop :=
  forall c y x, (c < input_channels n)%nat -> (y < input_height n)%nat -> (x < input_width n)%nat ->
  within r y -> within s x ->
  let at_pixel := ((c * input_height n + y) * input_width n + x)%nat in nth at_pixel p 0%Z = nth at_pixel q 0%Z.

Lemma hull_left : forall i j a, within i a -> within (hull i j) a.
Proof.
  intros i j a H. unfold hull, is_empty, within in *. destruct (Nat.leb_spec (snd i) (fst i)); [lia|].
  destruct (Nat.leb_spec (snd j) (fst j)); cbn [fst snd]; lia.
Qed.

Lemma hull_right : forall i j a, within j a -> within (hull i j) a.
Proof.
  intros i j a H. unfold hull, is_empty, within in *. destruct (Nat.leb_spec (snd i) (fst i)); [exact H|].
  destruct (Nat.leb_spec (snd j) (fst j)); cbn [fst snd]; lia.
Qed.

Lemma hulls_hold : forall l i a, In i l -> within i a -> within (hulls l) a.
Proof.
  induction l as [|j l IH]; intros i a I H; [destruct I|]. destruct I as [E|I]; cbn [hulls fold_right].
  - subst j. apply hull_left. exact H.
  - apply hull_right. exact (IH i a I H).
Qed.

Section Two.
Variables (n : network) (p q : picture).

(** What two layers' numbers, given these pictures, have in common *)
Definition agree (f : field) (v w : volume) : Prop :=
  channels v = channels w /\ height v = height w /\ width v = width w /\
  forall y x, (y < height v)%nat -> (x < width v)%nat -> same_pixels n p q (rows f y) (columns f x) ->
  forall c, entry v c y x = entry w c y x.

Lemma same_smaller : forall r s r' s', same_pixels n p q r s ->
  (forall a, within r' a -> within r a) -> (forall b, within s' b -> within s b) -> same_pixels n p q r' s'.
Proof. intros r s r' s' H R S c y x Hc Hy Hx Y X. apply H; auto. Qed.

Lemma slid_holds : forall size kernel stride padding dilation seen y t b, (t < kernel)%nat ->
  let a := (Z.of_nat (y * stride + t * dilation) - Z.of_nat padding)%Z in
  (0 <= a < Z.of_nat size)%Z -> within (seen (Z.to_nat a)) b ->
  within (slid size kernel stride padding dilation seen y) b.
Proof.
  intros size kernel stride padding dilation seen y t b T a A H. apply (hulls_hold _ (seen (Z.to_nat a))); [|exact H].
  apply in_flat_map. exists t. split; [apply in_seq; lia|]. cbv zeta. fold a.
  assert (I : ((0 <=? a)%Z && (a <? Z.of_nat size)%Z)%bool = true).
  { apply andb_true_intro. split; [apply Z.leb_le|apply Z.ltb_lt]; lia. }
  rewrite I. left. reflexivity.
Qed.

(** What a window meets *)
Lemma met_agree : forall f v w win y x a b c, agree f v w ->
  same_pixels n p q (rows (slid_field win v f) y) (columns (slid_field win v f) x) ->
  (a < fst (kernel win))%nat -> (b < snd (kernel win))%nat ->
  inside (height v) (width v) (meets win y x a b) = true ->
  entry_at v c (meets win y x a b) = entry_at w c (meets win y x a b).
Proof.
  intros f v w win y x a b c (_ & _ & _ & E) H A B I. unfold inside in I.
  rewrite !andb_true_iff, !Z.leb_le, !Z.ltb_lt in I. destruct I as [[[I1 I2] I3] I4].
  unfold entry_at. apply E; [lia|lia|]. apply (same_smaller _ _ _ _ H); cbn [slid_field rows columns meets fst snd] in *.
  - intros r. apply slid_holds; [exact A|lia].
  - intros r. apply slid_holds; [exact B|lia].
Qed.

Lemma padded_agree : forall f v w win y x a b c, agree f v w ->
  same_pixels n p q (rows (slid_field win v f) y) (columns (slid_field win v f) x) ->
  (a < fst (kernel win))%nat -> (b < snd (kernel win))%nat ->
  padded v c (meets win y x a b) = padded w c (meets win y x a b).
Proof.
  intros f v w win y x a b c G H A B. unfold padded. assert (G' := G). destruct G' as (_ & <- & <- & _).
  destruct (inside _ _ _) eqn:I; [|reflexivity]. exact (met_agree f v w win y x a b c G H A B I).
Qed.

(** All of several layers *)
Inductive all_agree : list field -> list volume -> list volume -> Prop :=
  | NoneAgree : all_agree nil nil nil
  | MoreAgree : forall f v w fs vs ws, agree f v w -> all_agree fs vs ws -> all_agree (f :: fs) (v :: vs) (w :: ws).

Lemma first_agree : forall fs vs ws, all_agree fs vs ws -> agree (hd no_field fs) (hd nothing vs) (hd nothing ws).
Proof. intros fs vs ws [|f v w fs' vs' ws' H _]; [repeat split; reflexivity|exact H]. Qed.

Lemma rest_agree : forall fs vs ws, all_agree fs vs ws -> all_agree (tl fs) (tl vs) (tl ws).
Proof. intros fs vs ws [|f v w fs' vs' ws' _ H]; [constructor|exact H]. Qed.

Lemma nth_agree : forall fs vs ws, all_agree fs vs ws -> forall i,
  agree (nth i fs no_field) (nth i vs nothing) (nth i ws nothing).
Proof.
  intros fs vs ws R. induction R as [|f v w fs vs ws H R IH]; intros [|i]; try (repeat split; reflexivity).
  - exact H.
  - exact (IH i).
Qed.

Lemma inputs_agree : forall fs vs ws is, all_agree fs vs ws -> all_agree (map (fun i => nth i fs no_field) is)
  (map (fun i => nth i vs nothing) is) (map (fun i => nth i ws nothing) is).
Proof. intros fs vs ws is R. induction is as [|i is IH]; constructor; [apply nth_agree; exact R|exact IH]. Qed.

Lemma app_agree : forall fs vs ws f v w, all_agree fs vs ws -> agree f v w ->
  all_agree (fs ++ [f]) (vs ++ [v]) (ws ++ [w]).
Proof.
  intros fs vs ws f v w R H. induction R as [|f' v' w' fs vs ws H' R IH]; constructor; try assumption. constructor.
Qed.

Lemma sums_agree : forall fs vs ws H W, all_agree fs vs ws -> Forall (fun v => height v = H /\ width v = W) vs ->
  forall y x, (y < H)%nat -> (x < W)%nat ->
  same_pixels n p q (hulls (map (fun f => rows f y) fs)) (hulls (map (fun f => columns f x) fs)) ->
  forall c, fold_right (fun v sum => entry v c y x + sum)%R 0%R vs = fold_right (fun v sum => entry v c y x + sum)%R 0%R ws
    /\ joined_entry vs c y x = joined_entry ws c y x.
Proof.
  intros fs vs ws H W R. induction R as [|f v w fs vs ws G R IH]; intros F y x Y X S c; [split; reflexivity|].
  inversion F as [|? ? [FH FW] F']. subst. cbn [map hulls fold_right] in S.
  assert (S1 := same_smaller _ _ (rows f y) (columns f x) S (hull_left _ _) (hull_left _ _)).
  assert (S2 := same_smaller _ _ _ _ S (hull_right (rows f y) _) (hull_right (columns f x) _)).
  destruct G as (EC & _ & _ & E). specialize (E y x Y X S1). cbn [fold_right joined_entry]. rewrite <- EC, !E.
  split.
  - f_equal. apply (IH F' y x Y X S2 c).
  - destruct (Nat.ltb c (channels v)); [reflexivity|]. apply (IH F' y x Y X S2 (c - channels v)%nat).
Qed.

Lemma channels_agree : forall fs vs ws, all_agree fs vs ws ->
  fold_right (fun v sum => (channels v + sum)%nat) O vs = fold_right (fun v sum => (channels v + sum)%nat) O ws.
Proof.
  intros fs vs ws R. induction R as [|f v w fs vs ws (EC & _) R IH]; [reflexivity|]. cbn [fold_right]. congruence.
Qed.

Lemma all_seen : forall size (seen : nat -> interval) y a, (y < size)%nat -> within (seen y) a ->
  within (hulls (map seen (seq 0 size))) a.
Proof. intros size seen y a H. apply hulls_hold, in_map, in_seq. lia. Qed.

Theorem computed_agree : forall does fs vs ws, all_agree fs vs ws -> shapes_fit does vs ->
  agree (field_of does vs fs) (computed does vs) (computed does ws).
Proof.
  intros does fs vs ws R F. assert (G := first_agree fs vs ws R). assert (G' := G). destruct G' as (EC & EH & EW & E).
  set (v := hd nothing vs) in *. set (w := hd nothing ws) in *. set (f := hd no_field fs) in *.
  destruct does; cbn [computed field_of]; fold v w f.
  - (* convolutions *)
    unfold agree. cbn [conv2d channels height width]. unfold rows_out, columns_out. rewrite EH, EW.
    repeat (split; [reflexivity|]). intros y x _ _ S c. cbn [conv2d entry]. f_equal. rewrite EC. apply rsum_ext.
    intros k _. apply rsum_ext. intros a A. apply rsum_ext. intros b B. f_equal.
    exact (padded_agree f v w w0 y x a b _ G S A B).
  - (* linear layers *)
    cbn [shapes_fit] in F. fold v in F. destruct F as [FH FW].
    repeat split. intros y x _ _ S c. cbn [linear_layer entry rows columns] in *. f_equal. rewrite <- EC. apply rsum_ext.
    intros k _. f_equal.
    apply E; [exact FH|exact FW|]. apply (same_smaller _ _ _ _ S); intros a; apply all_seen; assumption.
  - (* sums *)
    cbn [shapes_fit] in F. fold v in F. unfold agree, added. cbn [channels height width entry]. fold v w.
    repeat (split; [assumption|]). intros y x Y X S c.
    apply (sums_agree fs vs ws (height v) (width v) R F y x Y X S c).
  - (* one after another *)
    cbn [shapes_fit] in F. fold v in F. unfold agree, joined. cbn [channels height width entry]. fold v w.
    split; [exact (channels_agree fs vs ws R)|]. repeat (split; [assumption|]). intros y x Y X S c.
    apply (sums_agree fs vs ws (height v) (width v) R F y x Y X S c).
  - (* products *)
    cbn [shapes_fit] in F. fold v in F. destruct F as [FH FW].
    assert (G2 := first_agree _ _ _ (rest_agree fs vs ws R)). destruct G2 as (EC2 & EH2 & EW2 & E2).
    unfold agree, multiplied. cbn [channels height width entry rows columns].
    repeat (split; [assumption|]). intros y x Y X S c. rewrite <- EC2, <- EH2, <- EW2. f_equal.
    + apply E; [exact Y|exact X|]. apply (same_smaller _ _ _ _ S); intros a; apply hull_left.
    + apply E2; [| |apply (same_smaller _ _ _ _ S); intros a; apply hull_right].
      * unfold repeated. destruct (Nat.eqb_spec (height (hd nothing (tl vs))) 1); lia.
      * unfold repeated. destruct (Nat.eqb_spec (width (hd nothing (tl vs))) 1); lia.
  - split; [exact EC|]. repeat (split; [assumption|]). intros y x Y X S c. cbn [each entry]. f_equal. apply E; assumption.
  - split; [exact EC|]. repeat (split; [assumption|]). intros y x Y X S c. cbn [each entry]. f_equal. apply E; assumption.
  - split; [exact EC|]. repeat (split; [assumption|]). intros y x Y X S c. cbn [each entry]. f_equal. apply E; assumption.
  - split; [exact EC|]. repeat (split; [assumption|]). intros y x Y X S c. cbn [each entry]. f_equal. apply E; assumption.
  - split; [exact EC|]. repeat (split; [assumption|]). intros y x Y X S c. cbn [each entry]. f_equal. apply E; assumption.
  - split; [exact EC|]. repeat (split; [assumption|]). intros y x Y X S c. cbn [each entry]. f_equal. apply E; assumption.
  - (* maxima *)
    unfold agree. cbn [max_pool2d channels height width]. unfold rows_out, columns_out. rewrite EC, EH, EW.
    repeat (split; [reflexivity|]). intros y x _ _ S c. cbn [max_pool2d entry]. f_equal. rewrite <- EH, <- EW.
    rewrite !flat_map_concat_map. f_equal. apply map_ext_in. intros a A. apply in_seq in A.
    rewrite !flat_map_concat_map. f_equal. apply map_ext_in. intros b B. apply in_seq in B.
    destruct (inside _ _ _) eqn:I; [|reflexivity]. f_equal. exact (met_agree f v w w0 y x a b c G S ltac:(lia) ltac:(lia) I).
  - (* means *)
    unfold agree. cbn [avg_pool2d channels height width]. unfold rows_out, columns_out. rewrite EC, EH, EW.
    repeat (split; [reflexivity|]). intros y x _ _ S c. cbn [avg_pool2d entry]. f_equal. apply rsum_ext. intros a A.
    apply rsum_ext. intros b B. exact (padded_agree f v w w0 y x a b c G S A B).
  - (* flattened *)
    cbn [shapes_fit] in F. fold v in F. destruct F as [FH FW]. unfold agree. cbn [flattened channels height width].
    rewrite EC, EH, EW. repeat (split; [reflexivity|]). intros y x _ _ S k. cbn [flattened entry].
    rewrite <- EH, <- EW. assert (Y := Nat.mod_upper_bound (k / width v) (height v) ltac:(lia)).
    assert (X := Nat.mod_upper_bound k (width v) ltac:(lia)).
    apply E; [exact Y|exact X|]. cbn [rows columns] in S. rewrite <- EH, <- EW in S.
    apply (same_smaller _ _ _ _ S); intros a; apply all_seen; assumption.
  - (* larger *)
    cbn [shapes_fit] in F. destruct F as [FH FW]. unfold agree. cbn [upsampled channels height width].
    rewrite EC, EH, EW. repeat (split; [reflexivity|]). intros y x Y X S c. cbn [upsampled entry]. apply E.
    + rewrite EH. apply Nat.div_lt_upper_bound; lia.
    + rewrite EW. apply Nat.div_lt_upper_bound; lia.
    + exact S.
Qed.

Lemma all_computed_agree : forall ls fs vs ws, all_agree fs vs ws -> all_shapes_fit vs ls ->
  all_agree (all_fields vs fs ls) (all_computed vs ls) (all_computed ws ls).
Proof.
  induction ls as [|l ls IH]; intros fs vs ws R F; [exact R|]. destruct F as [F F'].
  cbn [all_fields all_computed]. apply IH; [|exact F']. apply app_agree; [exact R|].
  apply computed_agree; [apply inputs_agree; exact R|exact F].
Qed.

Lemma last_agree : forall fs vs ws, all_agree fs vs ws -> agree (last fs no_field) (last vs nothing) (last ws nothing).
Proof.
  intros fs vs ws R. induction R as [|f v w fs vs ws H R IH]; [repeat split; reflexivity|].
  destruct R as [|f' v' w' fs vs ws H' R]; [exact H|exact IH].
Qed.

Lemma normalised_agree : fits n p -> fits n q -> agree own_field (normalised n p) (normalised n q).
Proof.
  intros [P _] [Q _]. repeat split. intros y x Y X S c. cbn [normalised height width entry rows columns own_field] in *.
  do 4 f_equal. destruct (Nat.lt_ge_cases c (input_channels n)) as [C|C].
  - apply (S c y x C Y X); unfold within; cbn; lia.
  - assert (M : (input_channels n * input_height n <= c * input_height n + y)%nat) by nia.
    assert (N : (input_channels n * input_height n * input_width n <=
      (c * input_height n + y) * input_width n)%nat) by (apply Nat.mul_le_mono_r; exact M).
    rewrite !nth_overflow by lia. reflexivity.
Qed.
End Two.

(** In cases: three rows of a kernel, every second one of five, padded by one; two such layers; none inside. *)
Example rows_of_windows :
  map (slid 5 3 2 1 1 (rows own_field)) [0; 1; 2]%nat = [(0, 2); (1, 4); (3, 5)]%nat /\
  map (slid 3 3 2 1 1 (slid 5 3 2 1 1 (rows own_field))) [0; 1]%nat = [(0, 4); (1, 5)]%nat /\
  slid 5 1 1 7 1 (rows own_field) 0 = (0, 0)%nat /\ slid 5 2 1 0 3 (rows own_field) 1 = (1, 5)%nat.
Proof. repeat split; reflexivity. Qed.

(** The theorem: pictures with the same pixels in the receptive field of the patch in row y and column x give it the same
    latent, whatever the other pixels are. *)
Theorem receptive_field : forall n p q y x, fits n p -> fits n q -> all_shapes_fit [normalised n p] (layers n) ->
  (y < height (output n p))%nat -> (x < width (output n p))%nat ->
  same_pixels n p q (rows (output_field n p) y) (columns (output_field n p) x) ->
  forall d, network_latents n p (y * width (output n p) + x)%nat d =
    network_latents n q (y * width (output n q) + x)%nat d.
Proof.
  intros n p q y x P Q F Y X S d.
  assert (R : all_agree n p q [own_field] [normalised n p] [normalised n q]).
  { constructor; [apply normalised_agree; assumption|constructor]. }
  apply (all_computed_agree n p q (layers n)) in R; [|exact F]. apply last_agree in R.
  fold (output n p) in R. fold (output n q) in R. fold (output_field n p) in R. destruct R as (_ & _ & EW & E).
  unfold network_latents. rewrite <- EW. rewrite !(Nat.div_add_l y _ x), !(Nat.div_small x) by lia.
  rewrite !(Nat.add_comm (y * _)%nat), !Nat.mod_add, !(Nat.mod_small x), Nat.add_0_r by lia. apply E; assumption.
Qed.
