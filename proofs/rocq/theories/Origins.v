(** Origins: a prototype is a patch of a picture, to within a distance, or with at least a cosine. What an origins file
    says, over the real numbers, and that what the checker accepts as a claim [picture] proves it.

    [origin] belongs to the specification, as [NetworkSemantics.v] does. It renders [certificates/origins-v1.md], whose
    sentences stand beside it. *)

From Coq Require Import Reals ZArith List Lra.
From Verale Require Import Semantics NetworkSemantics Log Check CheckImage Picture.
Import ListNotations.
Open Scope R_scope.

(** * What is claimed *)

(** "the latents that the network gives for the picture lie in the head's domain; and the latent of the patch lies within
    the distance of the prototype (euclidean), or its cosine with the prototype, the head's observable, is at least the
    cosine. For inner products and softmax no origin is defined." *)
Definition origin (h : head) (n : network) (p : picture) (l j : nat) (stated : R) : Prop :=
  let z := network_latents n p in
  gives_latents n p /\ channels (output n p) = depth h /\ (l < network_patches n p)%nat /\
  in_domain h (network_patches n p) z /\
  match head_geometry h with
  | Euclidean => sqrt (observable h (z l) j) <= stated
  | Cosine _ | RootedCosine _ => stated <= observable h (z l) j
  | InnerProduct _ | Softmax => False
  end.

(** * The statement that is checked *)

(** Of squared distances it is the upper end, of cosines the lower one. *)
Definition states (h : head) (c : certificate) (l j : nat) (stated : R) : Prop :=
  match head_geometry h with
  | Euclidean => exists b, In (AboutPatch l j None (Some b)) (statements c) /\
      0 <= stated /\ q b (statement_unit c) = stated * stated
  | Cosine _ | RootedCosine _ => exists a, In (AboutPatch l j (Some a) None) (statements c) /\
      q a (statement_unit c) = stated
  | InnerProduct _ | Softmax => False
  end.

(** * Why it is enough *)

(** Whoever proves the claim [picture] of a certificate that states an origin proves the origin. *)
Theorem pictured_origin : forall h c n p l j stated, (l < patches c)%nat ->
  pictured h c n p -> states h c l j stated -> origin h n p l j stated.
Proof.
  intros h c n p l j stated L (F & D & N & G & S) H. unfold origin, states in *. rewrite N.
  split; [exact F|]. split; [exact D|]. split; [exact L|]. split; [exact G|].
  destruct (head_geometry h); try contradiction.
  - destruct H as (b & I & P & E). destruct (S _ I) as [_ U]. rewrite E in U.
    rewrite <- (sqrt_square stated P). apply sqrt_le_1_alt. exact U.
  - destruct H as (a & I & E). destruct (S _ I) as [U _]. rewrite E in U. exact U.
  - destruct H as (a & I & E). destruct (S _ I) as [U _]. rewrite E in U. exact U.
Qed.

(** Through the checker: the same program that answers the claim [picture]. *)
Theorem origin_ok : forall h s c U n p l j stated, (l < patches c)%nat -> states h c l j stated ->
  check_picture (prepare h s) c U n p = true -> origin h n p l j stated.
Proof.
  intros h s c U n p l j stated L H E. exact (pictured_origin h c n p l j stated L (check_picture_sound h s c U n p E) H).
Qed.
