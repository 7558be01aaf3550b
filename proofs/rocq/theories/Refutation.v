(** Refutation: at an instance some rival's logit is at least the predicted one's. *)

From Coq Require Import Reals ZArith List Lra Bool.
From Verale Require Import Semantics Boxes Readout Instance.

Definition refutation_holds (h : head) (c : certificate) (T : Z) (t : table) (B : Z) (b : box) (i : image)
    (rival : nat) : bool :=
  instance_holds h c T t B b i && Nat.ltb rival (classes h) && negb (Nat.eqb rival (predicted c)) &&
  difference_at_least h B b rival (predicted c) 0 1.

Open Scope R_scope.

Theorem refutation_holds_ok : forall h c T t B b i rival, (0 < T)%Z -> (0 < B)%Z ->
  table_ok h T (length (rows i)) t (latents_of i) -> box_ok h B (length (rows i)) b (latents_of i) ->
  refutation_holds h c T t B b i rival = true -> refutes h c i.
Proof.
  intros h c T t B b i rival HT HB Ht Hb H. apply andb_prop in H as [H D]. apply andb_prop in H as [H N].
  apply andb_prop in H as [H C]. apply Nat.ltb_lt in C. apply negb_true_iff, Nat.eqb_neq in N.
  assert (I : instance h c i) by (apply (instance_holds_ok h c T t B b); auto). split; [exact I|].
  exists rival. split; [exact C|]. split; [exact N|]. rewrite (proj1 I) in Hb.
  apply (difference_at_least_ok h B b (patches c) (latents_of i)) in D; [|assumption|assumption].
  unfold q in D. lra.
Qed.

(** A refuted certificate entails nothing. *)
Theorem refuted_is_not_entailed : forall h c i, refutes h c i -> ~ entails h c.
Proof.
  intros h c i [I [r [C [N G]]]] E. destruct (E (latents_of i) (proj2 (proj2 I)) r C N) as [M P]. lra.
Qed.
