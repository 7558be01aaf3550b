(** Exact vectors: inner products, lengths and distances of lists of integers over a unit. *)

From Coq Require Import Reals ZArith List Lia Lra.
From Verale Require Import Semantics Sums Grid.
Import ListNotations.
Open Scope R_scope.

(** The vector of a list over a unit. Prototypes and an image's latents are such vectors. *)
Definition over (p : list Z) (u : positive) : nat -> R := fun d => q (nth d p 0%Z) u.

Lemma coord_over : forall h j, coord h j = over (nth j (prototypes h) nil) (coord_unit h).
Proof. reflexivity. Qed.

Lemma latents_over : forall i l, latents_of i l = over (nth l (rows i) nil) (image_unit i).
Proof. reflexivity. Qed.

Lemma over_vector : forall p u d, over p u d = / IZR (Zpos u) * vector p d.
Proof. intros. unfold over, q, vector. unfold Rdiv. ring. Qed.

Lemma dot_over : forall h p u r w, (length p <= depth h)%nat ->
  dot h (over p u) (over r w) = IZR (zdot p r) / (IZR (Zpos u) * IZR (Zpos w)).
Proof.
  intros h p u r w H. rewrite dot_inner. assert (U := Zpos_pos u). assert (W := Zpos_pos w).
  rewrite (inner_ext _ _ (fun d => / IZR (Zpos u) * vector p d) _ (fun d => / IZR (Zpos w) * vector r d))
    by (intros; apply over_vector).
  rewrite inner_scal_l, inner_scal_r, <- (zdot_real _ _ _ H). field. lra.
Qed.

Lemma norm_over : forall h p u, (length p <= depth h)%nat ->
  norm h (over p u) = sqrt (IZR (zdot p p)) / IZR (Zpos u).
Proof.
  intros h p u H. assert (U := Zpos_pos u). unfold norm. rewrite dot_over by exact H.
  rewrite sqrt_div_alt by nra. rewrite sqrt_square by lra. reflexivity.
Qed.

Lemma distance_over : forall h p u r w, (length p <= depth h)%nat -> (length r <= depth h)%nat ->
  rsum (depth h) (fun d => (over p u d - over r w d) * (over p u d - over r w d)) =
  IZR (Zpos w * Zpos w * zdot p p - 2 * (Zpos u * Zpos w) * zdot p r + Zpos u * Zpos u * zdot r r) /
  IZR (Zpos u * Zpos u * (Zpos w * Zpos w)).
Proof.
  intros h p u r w Hp Hr. assert (U := Zpos_pos u). assert (W := Zpos_pos w).
  rewrite inner_square_of_difference. rewrite <- !dot_inner, !dot_over by assumption.
  rewrite plus_IZR, minus_IZR, !mult_IZR. field. lra.
Qed.
