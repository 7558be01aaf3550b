(** Readouts: whether one logit exceeds another by a given number, given a box of the activations.

    The number may be negative: the rival's logit minus the predicted one's, at least 0, refutes a certificate. *)

From Coq Require Import Reals ZArith List Lra.
From Verale Require Import Semantics Boxes LinearReadout TreeReadout MaximumReadout.
Import ListNotations.

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (B : Z) (b : box).

(** A lower bound of the winner's logit minus the loser's. *)
Definition least_difference (winner loser : nat) : option Z :=
  match head_readout h with
  | Linear => linear_least h B b winner loser
  | SoftTree absent present => soft_tree_least h B b absent present winner loser
  | Maximum => maximum_least h B b winner loser
  end.

Definition difference_at_least (winner loser : nat) (num : Z) (den : positive) : bool :=
  bound_at_least h B (least_difference winner loser) num den.
End Run.

Open Scope R_scope.

Lemma least_difference_ok : forall h B b n z winner loser x, (0 < B)%Z -> box_ok h B n b z ->
  least_difference h B b winner loser = Some x ->
  IZR x <= IZR B * (IZR (unit_of_weights h) * (logit h n z winner - logit h n z loser)).
Proof.
  intros h B b n z winner loser x HB Hb E. unfold least_difference in E.
  destruct (head_readout h) as [|absent present|] eqn:R.
  - eapply linear_least_ok; eassumption.
  - eapply soft_tree_least_ok; eassumption.
  - eapply maximum_least_ok; eassumption.
Qed.

Theorem difference_at_least_ok : forall h B b n z winner loser num den, (0 < B)%Z -> box_ok h B n b z ->
  difference_at_least h B b winner loser num den = true ->
  logit h n z winner - logit h n z loser >= q num den.
Proof.
  intros h B b n z winner loser num den HB Hb. apply bound_at_least_ok; [exact HB|].
  intros least E. eapply least_difference_ok; eassumption.
Qed.
