(** Finite sums and maxima of real numbers, and what exact sums over lists of integers mean.

    A vector is a function [nat -> R] of which the first [n] coordinates count. A list of integers is such a vector too:
    its coordinate [d] is [nth d p 0], so that what is beyond its end is 0. *)

From Coq Require Import Reals ZArith List Lia Lra.
From Verale Require Import Semantics.
Import ListNotations.
Open Scope R_scope.

(** * Sums *)

Lemma rsum_ext : forall n f g, (forall i, (i < n)%nat -> f i = g i) -> rsum n f = rsum n g.
Proof.
  induction n; intros f g H; simpl; [reflexivity|].
  rewrite (IHn f g), (H n) by auto with arith. reflexivity.
Qed.

Lemma rsum_plus : forall n f g, rsum n (fun i => f i + g i) = rsum n f + rsum n g.
Proof. induction n; intros; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma rsum_minus : forall n f g, rsum n (fun i => f i - g i) = rsum n f - rsum n g.
Proof. induction n; intros; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma rsum_opp : forall n f, rsum n (fun i => - f i) = - rsum n f.
Proof. induction n; intros; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma rsum_scal : forall n a f, rsum n (fun i => a * f i) = a * rsum n f.
Proof. induction n; intros; simpl; [ring|]. rewrite IHn. ring. Qed.

Lemma rsum_const : forall n a, rsum n (fun _ => a) = INR n * a.
Proof. induction n; intros; [simpl; ring|]. rewrite S_INR. simpl rsum. rewrite IHn. ring. Qed.

Lemma rsum_zero : forall n f, (forall i, (i < n)%nat -> f i = 0) -> rsum n f = 0.
Proof. intros n f H. rewrite (rsum_ext n f (fun _ => 0)) by assumption. rewrite rsum_const. ring. Qed.

Lemma rsum_le : forall n f g, (forall i, (i < n)%nat -> f i <= g i) -> rsum n f <= rsum n g.
Proof.
  induction n; intros f g H; simpl; [lra|].
  apply Rplus_le_compat; [apply IHn; intros; apply H; lia|apply H; lia].
Qed.

Lemma rsum_nonneg : forall n f, (forall i, (i < n)%nat -> 0 <= f i) -> 0 <= rsum n f.
Proof. intros n f H. rewrite <- (rsum_zero n (fun _ => 0)) by reflexivity. apply rsum_le. exact H. Qed.

Lemma rsum_front : forall n f, rsum (S n) f = f O + rsum n (fun i => f (S i)).
Proof. induction n; intros; [simpl; ring|]. simpl rsum at 1. simpl rsum in IHn. rewrite IHn. simpl. ring. Qed.

Lemma rsum_ge_term : forall n f i, (forall k, (k < n)%nat -> 0 <= f k) -> (i < n)%nat -> f i <= rsum n f.
Proof.
  induction n; intros f i H Hi; [lia|]. simpl.
  assert (Hn := H n ltac:(lia)). destruct (Nat.eq_dec i n) as [->|N].
  - assert (0 <= rsum n f) by (apply rsum_nonneg; intros; apply H; lia). lra.
  - assert (f i <= rsum n f) by (apply IHn; [intros; apply H|]; lia). lra.
Qed.

Lemma rsum_swap : forall n m f, rsum n (fun i => rsum m (f i)) = rsum m (fun k => rsum n (fun i => f i k)).
Proof.
  induction n; intros m f; simpl; [symmetry; apply rsum_zero; reflexivity|]. rewrite IHn, <- rsum_plus. reflexivity.
Qed.

(** * Maxima *)

Lemma rmax_succ : forall n f, rmax (S (S n)) f = Rmax (rmax (S n) f) (f (S n)).
Proof. reflexivity. Qed.

Lemma rmax_ge : forall n f l, (l < n)%nat -> f l <= rmax n f.
Proof.
  induction n; intros f l H; [lia|]. destruct n; [replace l with O by lia; right; reflexivity|].
  rewrite rmax_succ. destruct (Nat.eq_dec l (S n)) as [->|N]; [apply Rmax_r|].
  eapply Rle_trans; [apply IHn; lia|apply Rmax_l].
Qed.

Lemma rmax_le : forall n f b, (0 < n)%nat -> (forall l, (l < n)%nat -> f l <= b) -> rmax n f <= b.
Proof.
  induction n; intros f b H0 H; [lia|]. destruct n; [apply H; lia|].
  rewrite rmax_succ. apply Rmax_lub; [apply IHn; [lia|intros; apply H; lia]|apply H; lia].
Qed.

Lemma rmax_ext : forall n f g, (0 < n)%nat -> (forall l, (l < n)%nat -> f l = g l) -> rmax n f = rmax n g.
Proof.
  induction n; intros f g H0 H; [lia|]. destruct n; [apply H; lia|].
  rewrite !rmax_succ. f_equal; [apply IHn; [lia|intros; apply H; lia]|apply H; lia].
Qed.

Lemma rmax_mono : forall n f g, (0 < n)%nat -> (forall l, (l < n)%nat -> f l <= g l) -> rmax n f <= rmax n g.
Proof.
  intros n f g H0 H. apply rmax_le; [assumption|]. intros l Hl.
  eapply Rle_trans; [apply H; assumption|apply rmax_ge; assumption].
Qed.

Lemma rmax_attained : forall n f, (0 < n)%nat -> exists l, (l < n)%nat /\ rmax n f = f l.
Proof.
  induction n; intros f H; [lia|]. destruct n; [exists O; split; [lia|reflexivity]|].
  rewrite rmax_succ. destruct (IHn f ltac:(lia)) as [l [Hl ->]].
  unfold Rmax. destruct (Rle_dec (f l) (f (S n))); [exists (S n)|exists l]; split; auto; lia.
Qed.

(** * Units *)

Lemma unit_positive : forall d, 0 < IZR (Zpos d).
Proof. intros d. apply (IZR_lt 0). reflexivity. Qed.

(** [d] times the number n / d is n. *)
Lemma q_times_unit : forall n d, IZR (Zpos d) * q n d = IZR n.
Proof. intros. unfold q. field. apply Rgt_not_eq, unit_positive. Qed.

(** * Inner products *)

Definition inner (n : nat) (v w : nat -> R) : R := rsum n (fun d => v d * w d).

Lemma dot_inner : forall h v w, dot h v w = inner (depth h) v w.
Proof. reflexivity. Qed.

Lemma inner_comm : forall n v w, inner n v w = inner n w v.
Proof. intros. apply rsum_ext. intros. ring. Qed.

Lemma inner_ext : forall n v v' w w', (forall d, (d < n)%nat -> v d = v' d) -> (forall d, (d < n)%nat -> w d = w' d) ->
  inner n v w = inner n v' w'.
Proof. intros n v v' w w' Hv Hw. apply rsum_ext. intros. rewrite Hv, Hw by assumption. reflexivity. Qed.

Lemma inner_scal_l : forall n a v w, inner n (fun d => a * v d) w = a * inner n v w.
Proof. intros. unfold inner. rewrite <- rsum_scal. apply rsum_ext. intros. ring. Qed.

Lemma inner_scal_r : forall n a v w, inner n v (fun d => a * w d) = a * inner n v w.
Proof. intros. rewrite inner_comm, inner_scal_l, inner_comm. reflexivity. Qed.

Lemma inner_plus_l : forall n u v w, inner n (fun d => u d + v d) w = inner n u w + inner n v w.
Proof. intros. unfold inner. rewrite <- rsum_plus. apply rsum_ext. intros. ring. Qed.

Lemma inner_zero_l : forall n w, inner n (fun _ => 0) w = 0.
Proof. intros. apply rsum_zero. intros. ring. Qed.

Lemma inner_square_nonneg : forall n v, 0 <= inner n v v.
Proof. intros. apply rsum_nonneg. intros. apply Rle_0_sqr. Qed.

(** |a v + b w|^2 *)
Lemma inner_square_of_sum : forall n a b v w,
  inner n (fun d => a * v d + b * w d) (fun d => a * v d + b * w d) =
  a * a * inner n v v + 2 * a * b * inner n v w + b * b * inner n w w.
Proof.
  intros. unfold inner. rewrite <- !rsum_scal, <- !rsum_plus. apply rsum_ext. intros. ring.
Qed.

Lemma inner_square_of_difference : forall n v w,
  rsum n (fun d => (v d - w d) * (v d - w d)) = inner n v v - 2 * inner n v w + inner n w w.
Proof.
  intros. unfold inner. rewrite <- rsum_scal, <- rsum_minus, <- rsum_plus. apply rsum_ext. intros. ring.
Qed.

(** Cauchy and Schwarz: the square of |(w, w) v - (v, w) w| is not negative. *)
Lemma cauchy_schwarz : forall n v w, inner n v w * inner n v w <= inner n v v * inner n w w.
Proof.
  intros n v w.
  destruct (Rle_lt_or_eq_dec _ _ (inner_square_nonneg n w)) as [P|N].
  - assert (H := inner_square_nonneg n (fun d => inner n w w * v d + - inner n v w * w d)).
    rewrite inner_square_of_sum in H.
    replace (inner n w w * inner n w w * inner n v v + 2 * inner n w w * - inner n v w * inner n v w +
      - inner n v w * - inner n v w * inner n w w) with
      (inner n w w * (inner n v v * inner n w w - inner n v w * inner n v w)) in H by ring.
    apply Rmult_le_reg_l with (inner n w w); [assumption|]. lra.
  - assert (W : forall d, (d < n)%nat -> w d = 0).
    { intros d Hd. apply Rsqr_0_uniq. unfold Rsqr.
      assert (w d * w d <= inner n w w) by
        (apply (rsum_ge_term n (fun i => w i * w i)); [intros; apply Rle_0_sqr|assumption]).
      assert (0 <= w d * w d) by apply Rle_0_sqr. lra. }
    replace (inner n v w) with 0; [rewrite <- N; lra|]. symmetry. apply rsum_zero. intros i Hi. rewrite (W i Hi). ring.
Qed.

Lemma abs_inner_le : forall n v w, Rabs (inner n v w) <= sqrt (inner n v v) * sqrt (inner n w w).
Proof.
  intros. rewrite <- sqrt_Rsqr_abs, <- sqrt_mult by apply inner_square_nonneg.
  apply sqrt_le_1_alt. apply cauchy_schwarz.
Qed.

(** |v| |w| bounds the inner product on both sides. *)
Lemma dot_le_norms : forall h v w, - (norm h v * norm h w) <= dot h v w <= norm h v * norm h w.
Proof.
  intros. assert (H := abs_inner_le (depth h) v w). fold (norm h v) (norm h w) in H.
  change (inner (depth h) v w) with (dot h v w) in H.
  unfold norm. unfold Rabs in H. rewrite !dot_inner in *. destruct (Rcase_abs _) in H; split; lra.
Qed.

Lemma norm_nonneg : forall h v, 0 <= norm h v.
Proof. intros. apply sqrt_pos. Qed.

Lemma norm_square : forall h v, norm h v * norm h v = dot h v v.
Proof. intros. apply sqrt_sqrt. apply (inner_square_nonneg (depth h)). Qed.

(** * Lists of integers *)

(** The vector that a list is. *)
Definition vector (p : list Z) : nat -> R := fun d => IZR (nth d p 0%Z).

Lemma vector_past_end : forall p d, (length p <= d)%nat -> vector p d = 0.
Proof. intros p d H. unfold vector. rewrite nth_overflow by assumption. reflexivity. Qed.

Fixpoint zdot (u v : list Z) : Z :=
  match u, v with a :: u', b :: v' => (a * b + zdot u' v')%Z | _, _ => 0%Z end.

Fixpoint zsum (u : list Z) : Z := match u with a :: u' => (a + zsum u')%Z | nil => 0%Z end.

Lemma zdot_comm : forall u v, zdot u v = zdot v u.
Proof. induction u as [|a u IH]; intros [|b v]; simpl; try reflexivity. rewrite IH. ring. Qed.

Lemma zdot_nil_r : forall u, zdot u nil = 0%Z.
Proof. destruct u; reflexivity. Qed.

(** The inner product of two lists, whatever the length of the second one. *)
Lemma zdot_real : forall n u v, (length u <= n)%nat -> IZR (zdot u v) = inner n (vector u) (vector v).
Proof.
  intros n u. revert n. induction u as [|a u IH]; intros n v H.
  - symmetry. apply rsum_zero. intros i _. rewrite vector_past_end by (simpl; lia). ring.
  - destruct n as [|n]; [simpl in H; lia|]. unfold inner. rewrite rsum_front. destruct v as [|b v].
    + rewrite zdot_nil_r. rewrite (rsum_zero n); [unfold vector; simpl; ring|].
      intros i _. rewrite (vector_past_end nil) by (simpl; lia). ring.
    + simpl zdot. rewrite plus_IZR, mult_IZR, (IH n v) by (simpl in H; lia). reflexivity.
Qed.

Lemma zdot_real_r : forall n u v, (length v <= n)%nat -> IZR (zdot u v) = inner n (vector u) (vector v).
Proof. intros. rewrite zdot_comm, inner_comm. apply zdot_real. assumption. Qed.

Lemma zsum_real : forall n u, (length u <= n)%nat -> IZR (zsum u) = rsum n (vector u).
Proof.
  intros n u. revert n. induction u as [|a u IH]; intros n H.
  - symmetry. apply rsum_zero. intros i _. apply vector_past_end. simpl. lia.
  - destruct n as [|n]; [simpl in H; lia|]. rewrite rsum_front. simpl zsum.
    rewrite plus_IZR, (IH n) by (simpl in H; lia).
    reflexivity.
Qed.

Lemma zdot_square_nonneg : forall u, (0 <= zdot u u)%Z.
Proof. induction u; simpl; nia. Qed.

(** * The greatest of a list *)

Lemma rgreatest_ge : forall l x, In x l -> x <= rgreatest l.
Proof.
  induction l as [|y [|y' l] IH]; intros x I; [destruct I|destruct I as [->|[]]; cbn; lra|].
  change (x <= Rmax y (rgreatest (y' :: l))). destruct I as [<-|I]; [apply Rmax_l|].
  eapply Rle_trans; [apply IH; exact I|apply Rmax_r].
Qed.

Lemma rgreatest_in : forall l, l <> nil -> In (rgreatest l) l.
Proof.
  induction l as [|y [|y' l] IH]; intros N; [contradiction|left; reflexivity|].
  change (In (Rmax y (rgreatest (y' :: l))) (y :: y' :: l)). unfold Rmax.
  destruct (Rle_dec _ _); [right; apply IH; discriminate|left; reflexivity].
Qed.

(** It is the maximum of the numbers at the list's places. *)
Lemma rgreatest_map : forall (g : nat -> R) s, s <> nil ->
  rgreatest (map g s) = rmax (length s) (fun i => g (nth i s O)).
Proof.
  intros g s N. assert (L : (0 < length s)%nat) by (destruct s; [contradiction|cbn; lia]). apply Rle_antisym.
  - assert (I : In (rgreatest (map g s)) (map g s)) by (apply rgreatest_in; intros E; apply map_eq_nil in E; auto).
    apply in_map_iff in I as (x & <- & I). destruct (In_nth s x O I) as (i & Hi & <-).
    exact (rmax_ge (length s) (fun i => g (nth i s O)) i Hi).
  - destruct (rmax_attained (length s) (fun i => g (nth i s O)) L) as (i & Hi & ->).
    apply rgreatest_ge, in_map, nth_In. exact Hi.
Qed.
