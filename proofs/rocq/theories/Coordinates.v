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

(** * In a ball *)

Definition no_negative_coordinate : bool := match lower h with Some a => (0 <=? a)%Z | None => false end.

(** |P|^2, or |P^+|^2 where that serves. *)
Definition span (p : list Z) : Z :=
  zsum (map (fun x => if no_negative_coordinate && (x <? 0)%Z then 0%Z else (x * x)%Z) p).

Lemma span_nonneg : forall p, (0 <= span p)%Z.
Proof.
  intros p. unfold span. induction p as [|x p IH]; cbn [map zsum]; [lia|].
  destruct (no_negative_coordinate && (x <? 0)%Z); [lia|]. assert (S1 := Z.square_nonneg x). lia.
Qed.

Lemma inner_span : forall y p, length p = D -> (no_negative_coordinate = true -> forall d, (d < D)%nat -> 0 <= y d) ->
  inner D y (vector p) <= sqrt (inner D y y) * sqrt (IZR (span p)).
Proof.
  intros y p L H. set (part := map (fun x => if no_negative_coordinate && (x <? 0)%Z then 0%Z else x) p).
  assert (E : IZR (span p) = inner D (vector part) (vector part)).
  { unfold span. rewrite (zsum_map_real D) by exact L. apply rsum_ext. intros d Hd. unfold part.
    rewrite vector_map by lia. rewrite <- mult_IZR. f_equal. destruct (_ && _); ring. }
  rewrite E. eapply Rle_trans; [|eapply Rle_trans; [apply Rle_abs|apply abs_inner_le]].
  apply rsum_le. intros d Hd. unfold part. rewrite vector_map by lia. unfold vector.
  destruct no_negative_coordinate eqn:N; cbn [andb]; [|lra].
  destruct (nth d p 0%Z <? 0)%Z eqn:X; [|lra]. apply Z.ltb_lt, IZR_lt in X. specialize (H eq_refl d Hd). nra.
Qed.
End Coordinates.
