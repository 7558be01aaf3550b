(** What follows for an image: the head gives it the predicted class. And how certificates of one head share what is
    prepared of it, in files that [verale export rocq] writes. *)

From Coq Require Import Reals ZArith List Lia Lra.
From Verale Require Import Semantics Check CheckImage.
Import ListNotations.
Open Scope R_scope.

(** * Entailment and instance together *)

(** The head gives an image class k: every rival's logit lies below that of k, by at least the number that [m] has for
    the rival, which is positive. *)
Definition classified (h : head) (i : image) (k : nat) (m : nat -> R) : Prop :=
  (k < classes h)%nat /\
  forall r, (r < classes h)%nat -> r <> k ->
  0 < m r /\
  logit h (length (rows i)) (latents_of i) r + m r <= logit h (length (rows i)) (latents_of i) k.

(** Claims 1 and 2 together. So no certificate with an instance is true only because no latents comply with it. *)
Theorem entailed_instance_classified : forall h c i, (predicted c < classes h)%nat ->
  entails h c -> instance h c i -> classified h i (predicted c) (margin c).
Proof.
  intros h c i K E (N & _ & I). split; [exact K|]. intros r Hr Hk. rewrite N.
  destruct (E (latents_of i) I r Hr Hk). split; lra.
Qed.

(** An image has one class at most. *)
Theorem classified_once : forall h i k k' m m', classified h i k m -> classified h i k' m' -> k' = k.
Proof.
  intros h i k k' m m' (K & H) (K' & H'). destruct (Nat.eq_dec k' k) as [|N]; [assumption|].
  destruct (H k' K' N), (H' k K (not_eq_sym N)). lra.
Qed.

(** Through the checkers. *)
Theorem check_classified : forall h s s' cs c x i, Nat.ltb (predicted c) (classes h) = true ->
  check (fold_left learn cs (prepare h s)) c x = true -> check_instance (prepare h s') c i = true ->
  classified h i (predicted c) (margin c).
Proof.
  intros h s s' cs c x i K E I. apply Nat.ltb_lt in K.
  exact (entailed_instance_classified h c i K (check_learned_sound h s cs c x E) (check_instance_sound h s' c i I)).
Qed.

(** * Many certificates of one head *)

(** What is prepared of a head, and has learned of any certificates. *)
Definition ready (h : head) (p : prepared) : Prop := exists s cs, p = fold_left learn cs (prepare h s).

Lemma prepare_ready : forall h s, ready h (prepare h s).
Proof. intros h s. exists s, nil. reflexivity. Qed.

Lemma learn_ready : forall h p c, ready h p -> ready h (learn p c).
Proof.
  intros h p c (s & cs & ->). exists s, (cs ++ [c]). rewrite fold_left_app. reflexivity.
Qed.

Theorem check_ready_sound : forall h p c x, ready h p -> check p c x = true -> entails h c.
Proof. intros h p c x (s & cs & ->) E. exact (check_learned_sound h s cs c x E). Qed.
