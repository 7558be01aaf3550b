(** Softmax heads: the table of all patches, given a certificate. All patches without a statement share one row. *)

From Coq Require Import Reals ZArith List Lia.
From Verale Require Import Semantics Boxes Simplex Leftover.
Import ListNotations.

Definition simplex_table (T : Z) (h : head) (c : certificate) : option table :=
  if is_softmax h then
    let free := row_of_entries T (repeat unstated (count h)) in
    let row_at l := if has_statement c l then row_of_entries T (entries T c (count h) l) else free in
    Some (map row_at (seq 0 (patches c)))
  else None.

Theorem simplex_table_ok : forall h c z T t, (0 < T)%Z -> complies h c z -> simplex_table T h c = Some t ->
  table_ok h T (patches c) t z.
Proof.
  intros h c z T t HT H E. unfold simplex_table in E. destruct (is_softmax h) eqn:S; [|discriminate]. injection E as <-.
  split; [rewrite map_length; apply seq_length|]. intros l Hl. set (f := fun k => _).
  rewrite (nth_indep _ nil (f O)) by (rewrite map_length, seq_length; exact Hl).
  rewrite map_nth, seq_nth by exact Hl. cbn [Nat.add]. unfold f. destruct (has_statement c l) eqn:D.
  - apply row_of_entries_ok; [exact S|]. apply entries_hold; assumption.
  - rewrite <- (entries_of_free_patch T c (count h) l D). apply row_of_entries_ok; [exact S|].
    apply entries_hold; assumption.
Qed.
