(** What a box or a ball says of a sum over coordinates. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid.
Import ListNotations.
Open Scope R_scope.

(** * Sums over coordinates *)

Lemma vector_map : forall f p d, (d < length p)%nat -> vector (map f p) d = IZR (f (nth d p 0%Z)).
Proof.
  intros f p d H. unfold vector. rewrite (nth_indep _ 0%Z (f 0%Z)) by (rewrite map_length; exact H).
  rewrite map_nth. reflexivity.
Qed.

Lemma zsum_map_real : forall n f p, length p = n -> IZR (zsum (map f p)) = rsum n (fun d => IZR (f (nth d p 0%Z))).
Proof.
  intros n f p H. rewrite (zsum_real n) by (rewrite map_length; lia). apply rsum_ext. intros d Hd.
  apply vector_map. lia.
Qed.

Lemma inner_opp_r : forall n y p, length p = n -> inner n y (vector (map Z.opp p)) = - inner n y (vector p).
Proof.
  intros n y p L. unfold inner. rewrite <- rsum_opp. apply rsum_ext. intros d Hd. rewrite vector_map by lia.
  rewrite opp_IZR. unfold vector. ring.
Qed.

Section Coordinates.
Variable h : head.
Let D := depth h.

(** * In a box *)

(** (x - y)^2 is at least this for y in the box. *)
Definition gap (x : Z) : Z :=
  let left := match lower h with Some a => Z.max 0 (a - x) | None => 0%Z end in
  let right := match upper h with Some b => Z.max 0 (x - b) | None => 0%Z end in
  (let d := Z.max left right in d * d)%Z.

(** At most this for y in [a, b]. *)
Definition spread (a b x : Z) : Z := (let d := Z.max (x - a) (b - x) in d * d)%Z.

Lemma gap_below : forall x y, (match lower h with Some a => IZR a <= y | None => True end) ->
  (match upper h with Some b => y <= IZR b | None => True end) -> IZR (gap x) <= (y - IZR x) * (y - IZR x).
Proof.
  intros x y L U. unfold gap. set (left := match lower h with Some a => _ | None => _ end).
  set (right := match upper h with Some b => _ | None => _ end). cbv zeta.
  assert (HL : 0 <= IZR left <= Rmax 0 (y - IZR x)).
  { subst left. destruct (lower h) as [a|]; [|split; [lra|apply Rmax_l]]. split; [apply IZR_nonneg; lia|].
    destruct (Z.max_spec 0 (a - x)) as [[_ ->]|[_ ->]]; [|apply Rmax_l]. rewrite minus_IZR.
    eapply Rle_trans; [|apply Rmax_r]. lra. }
  assert (HR : 0 <= IZR right <= Rmax 0 (IZR x - y)).
  { subst right. destruct (upper h) as [b|]; [|split; [lra|apply Rmax_l]]. split; [apply IZR_nonneg; lia|].
    destruct (Z.max_spec 0 (x - b)) as [[_ ->]|[_ ->]]; [|apply Rmax_l]. rewrite minus_IZR.
    eapply Rle_trans; [|apply Rmax_r]. lra. }
  rewrite mult_IZR. replace ((y - IZR x) * (y - IZR x)) with (Rabs (y - IZR x) * Rabs (y - IZR x)) by
    (rewrite <- Rabs_mult; apply Rabs_pos_eq, Rle_0_sqr).
  assert (A : 0 <= IZR (Z.max left right) <= Rabs (y - IZR x)).
  { unfold Rabs, Rmax in *.
    destruct (Rcase_abs _), (Rle_dec 0 _), (Rle_dec 0 _), (Z.max_spec left right) as [[_ ->]|[_ ->]];
      lra. }
  apply Rmult_le_compat; apply A.
Qed.

Lemma spread_above : forall a b x y, IZR a <= y <= IZR b -> (y - IZR x) * (y - IZR x) <= IZR (spread a b x).
Proof.
  intros a b x y H. unfold spread. cbv zeta. rewrite mult_IZR.
  assert (A : y - IZR x <= IZR (Z.max (x - a) (b - x))).
  { eapply Rle_trans; [|apply IZR_le, Z.le_max_r]. rewrite minus_IZR. lra. }
  assert (B : IZR x - y <= IZR (Z.max (x - a) (b - x))).
  { eapply Rle_trans; [|apply IZR_le, Z.le_max_l]. rewrite minus_IZR. lra. }
  set (s := IZR (Z.max (x - a) (b - x))) in *.
  destruct (Rle_dec 0 (y - IZR x)) as [P|P]; [apply Rmult_le_compat; lra|].
  replace ((y - IZR x) * (y - IZR x)) with ((IZR x - y) * (IZR x - y)) by ring. apply Rmult_le_compat; lra.
Qed.

Lemma product_in_box : forall a b x y, IZR a <= y <= IZR b ->
  IZR (Z.min (a * x) (b * x)) <= y * IZR x <= IZR (Z.max (a * x) (b * x)).
Proof.
  intros a b x y [H1 H2]. split.
  - destruct (Z.le_gt_cases 0 x) as [P|P].
    + eapply Rle_trans; [apply IZR_le, Z.le_min_l|]. apply IZR_le in P. rewrite mult_IZR. apply Rmult_le_compat_r; lra.
    + eapply Rle_trans; [apply IZR_le, Z.le_min_r|]. apply IZR_lt in P. rewrite mult_IZR, !(Rmult_comm _ (IZR x)).
      apply Rmult_le_compat_neg_l; lra.
  - destruct (Z.le_gt_cases 0 x) as [P|P].
    + eapply Rle_trans; [|apply IZR_le, Z.le_max_r]. apply IZR_le in P. rewrite mult_IZR. apply Rmult_le_compat_r; lra.
    + eapply Rle_trans; [|apply IZR_le, Z.le_max_l]. apply IZR_lt in P. rewrite mult_IZR, !(Rmult_comm _ (IZR x)).
      apply Rmult_le_compat_neg_l; lra.
Qed.

(** * Signs *)

Definition no_negative_coordinate : bool := match lower h with Some a => (0 <=? a)%Z | None => false end.
Definition no_positive_coordinate : bool := match upper h with Some b => (b <=? 0)%Z | None => false end.

(** What [y] is where the domain is so. *)
Definition has_signs (y : nat -> R) : Prop :=
  (no_negative_coordinate = true -> forall d, (d < D)%nat -> 0 <= y d) /\
  (no_positive_coordinate = true -> forall d, (d < D)%nat -> y d <= 0).

(** * In a ball *)

(** A product with this coordinate is never positive. *)
Definition never_raises (x : Z) : bool :=
  no_negative_coordinate && (x <? 0)%Z || no_positive_coordinate && (0 <? x)%Z.

(** |P|^2; where no coordinate is negative |P^+|^2, and where none is positive |P^-|^2. *)
Definition span (p : list Z) : Z := zsum (map (fun x => if never_raises x then 0%Z else (x * x)%Z) p).

Lemma span_nonneg : forall p, (0 <= span p)%Z.
Proof.
  intros p. unfold span. induction p as [|x p IH]; cbn [map zsum]; [lia|].
  destruct (never_raises x); [lia|]. assert (S1 := Z.square_nonneg x). lia.
Qed.

Lemma never_raises_ok : forall y x d, has_signs y -> (d < D)%nat -> never_raises x = true -> y d * IZR x <= 0.
Proof.
  intros y x d [N P] Hd H. apply orb_prop in H as [H|H]; apply andb_prop in H as [E X]; apply Z.ltb_lt, IZR_lt in X.
  - specialize (N E d Hd). nra.
  - specialize (P E d Hd). nra.
Qed.

Lemma inner_span : forall y p, length p = D -> has_signs y ->
  inner D y (vector p) <= sqrt (inner D y y) * sqrt (IZR (span p)).
Proof.
  intros y p L H. set (part := map (fun x => if never_raises x then 0%Z else x) p).
  assert (E : IZR (span p) = inner D (vector part) (vector part)).
  { unfold span. rewrite (zsum_map_real D) by exact L. apply rsum_ext. intros d Hd. unfold part.
    rewrite vector_map by lia. rewrite <- mult_IZR. f_equal. destruct (never_raises _); ring. }
  rewrite E. eapply Rle_trans; [|eapply Rle_trans; [apply Rle_abs|apply abs_inner_le]].
  apply rsum_le. intros d Hd. unfold part. rewrite vector_map by lia. unfold vector.
  destruct (never_raises _) eqn:N; [|lra]. rewrite Rmult_0_r. exact (never_raises_ok y _ d H Hd N).
Qed.

(** * On a sphere *)

(** [P] where no coordinate is negative, its opposite where none is positive. *)
Definition mirrored (p : list Z) : list Z := if no_negative_coordinate then p else map Z.opp p.

Definition greatest (p : list Z) : Z := fold_right Z.max (hd 0%Z p) p.

Lemma greatest_ok : forall p d, (d < length p)%nat -> vector p d <= IZR (greatest p).
Proof.
  intros p d H. apply IZR_le. unfold greatest. generalize (hd 0%Z p). intros start. revert d H.
  induction p as [|x p IH]; intros d H; [inversion H|]. cbn [fold_right]. destruct d as [|d]; [apply Z.le_max_l|].
  eapply Z.le_trans; [apply (IH d); cbn in H; lia|apply Z.le_max_r].
Qed.

(** Only what is below 0 is of use. *)
Definition below_zero (p : list Z) : bool :=
  (no_negative_coordinate || no_positive_coordinate) && (greatest (mirrored p) <? 0)%Z.

(** sum_d y_d >= |y|, as every y_d <= sum_d y_d. *)
Lemma sum_above_length : forall y, (forall d, (d < D)%nat -> 0 <= y d) -> inner D y y <= rsum D y * rsum D y.
Proof.
  intros y N. unfold inner. rewrite <- rsum_scal. apply rsum_le. intros d Hd.
  apply Rmult_le_compat_r; [apply N; exact Hd|apply rsum_ge_term; assumption].
Qed.

Lemma inner_at_most_greatest : forall y p r, length p = D -> (forall d, (d < D)%nat -> 0 <= y d) -> 0 <= r ->
  r * r <= inner D y y -> (greatest p < 0)%Z -> inner D y (vector p) <= IZR (greatest p) * r.
Proof.
  intros y p r L N R0 H G. apply IZR_lt in G. assert (Q := sum_above_length y N).
  assert (Y := rsum_nonneg D y N). assert (K : r <= rsum D y) by nra.
  apply Rle_trans with (IZR (greatest p) * rsum D y); [|nra].
  unfold inner. rewrite <- rsum_scal. apply rsum_le. intros d Hd.
  assert (X := greatest_ok p d ltac:(lia)). specialize (N d Hd). nra.
Qed.

Lemma inner_mirrored : forall y p r, length p = D -> has_signs y -> 0 <= r -> r * r <= inner D y y ->
  below_zero p = true -> inner D y (vector p) <= IZR (greatest (mirrored p)) * r.
Proof.
  intros y p r L [N P] R0 H B. apply andb_prop in B as [O G]. apply Z.ltb_lt in G. unfold mirrored in *.
  destruct no_negative_coordinate; [apply inner_at_most_greatest; auto|]. specialize (P O).
  replace (inner D y (vector p)) with (inner D (fun d => -1 * y d) (vector (map Z.opp p))) by
    (rewrite inner_opp_r by exact L; rewrite inner_scal_l; ring).
  apply inner_at_most_greatest; [rewrite map_length; exact L| |exact R0| |exact G].
  - intros d Hd. specialize (P d Hd). lra.
  - rewrite inner_scal_l, inner_comm, inner_scal_l. lra.
Qed.
End Coordinates.
