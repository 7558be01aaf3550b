(** Activations in [0, 1]: an exponential similarity lies there where its exponent is not positive, and so does the
    greatest of several. A soft tree needs this of every activation. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid.
Open Scope R_scope.

(** * What runs *)

Definition observables_in_natural_range (h : head) : bool :=
  match head_geometry h with
  | Euclidean => true
  | Cosine e | RootedCosine e => (0 <=? numerator e)%Z
  | InnerProduct _ | Softmax => false
  end.

Definition activations_in_unit (h : head) : bool :=
  match head_pooling h, head_similarity h with
  | MaxPool, ExpDistance _ => true
  | MaxPool, Exponential => observables_in_natural_range h && forallb (Z.leb 0) (scales h)
  | _, _ => false
  end.

(** * Cosines are at most 1 *)

Lemma quotient_at_most_one : forall a b, 0 <= b -> a <= b -> a / b <= 1.
Proof.
  intros a b Hb H. destruct (Req_dec b 0) as [->|N]; [unfold Rdiv; rewrite Rinv_0; lra|].
  apply (Rmult_le_reg_r b); [lra|]. unfold Rdiv. rewrite Rmult_assoc, Rinv_l; lra.
Qed.

Lemma cosine_at_most_one : forall h v w length, norm h v <= length -> dot h v w / (norm h w * length) <= 1.
Proof.
  intros h v w length H. assert (V := norm_nonneg h v). assert (W := norm_nonneg h w).
  assert (C := proj2 (dot_le_norms h v w)). apply quotient_at_most_one; nra.
Qed.

Lemma fraction_nonneg : forall e, (0 <=? numerator e)%Z = true -> 0 <= real e.
Proof. intros e H. apply Z.leb_le in H. apply div_nonneg; [apply IZR_nonneg; exact H|apply Zpos_pos]. Qed.

(** * Activations *)

Lemma exp_nonpositive_in_unit : forall x, x <= 0 -> 0 <= exp x <= 1.
Proof.
  intros x H. split; [left; apply exp_pos|]. rewrite <- exp_0.
  destruct H as [H| ->]; [left; apply exp_increasing; exact H|right; reflexivity].
Qed.

Lemma scale_nonneg : forall h j, forallb (Z.leb 0) (scales h) = true -> 0 <= scale h j.
Proof.
  intros h j H. unfold scale. destruct (nth_error (scales h) j) as [s|] eqn:E; [|lra].
  rewrite forallb_forall in H. apply nth_error_In, H, Z.leb_le in E.
  apply div_nonneg; [apply IZR_nonneg; exact E|apply Zpos_pos].
Qed.

Lemma exponential_in_unit : forall h v j, observables_in_natural_range h = true ->
  forallb (Z.leb 0) (scales h) = true -> head_similarity h = Exponential -> 0 <= sim h j (observable h v j) <= 1.
Proof.
  intros h v j N S E. apply (scale_nonneg h j) in S. unfold sim. rewrite E.
  unfold observable, observables_in_natural_range in *.
  destruct (head_geometry h) as [|e|e| |]; try discriminate; apply exp_nonpositive_in_unit.
  - assert (0 <= rsum (depth h) (fun d => (v d - coord h j d) * (v d - coord h j d)))
      by (apply rsum_nonneg; intros; apply Rle_0_sqr). nra.
  - apply fraction_nonneg in N. assert (C := cosine_at_most_one h v (coord h j) (norm h v + real e) ltac:(lra)). nra.
  - apply fraction_nonneg in N. assert (C := cosine_at_most_one h v (coord h j) (sqrt (dot h v v + real e))).
    assert (L : norm h v <= sqrt (dot h v v + real e)) by (apply sqrt_le_1_alt; lra). specialize (C L). nra.
Qed.

Lemma rmax_between : forall n f a b, (forall l, a <= f l <= b) -> a <= rmax n f <= b.
Proof.
  intros [|n] f a b H; [apply H|]. destruct (rmax_attained (S n) f ltac:(lia)) as [l [_ ->]]. apply H.
Qed.

Theorem activation_in_unit : forall h n z j, activations_in_unit h = true -> 0 <= activation h n z j <= 1.
Proof.
  intros h n z j H. unfold activations_in_unit in H. unfold activation, activation_of.
  destruct (head_pooling h); try discriminate. apply rmax_between. intros l.
  destruct (head_similarity h) as [| e | | | | | | |] eqn:E; try discriminate.
  - unfold sim. rewrite E. apply exp_nonpositive_in_unit.
    assert (P := sqrt_pos (observable h (z l) j + real e)). lra.
  - apply andb_prop in H as [N S]. apply exponential_in_unit; assumption.
Qed.
