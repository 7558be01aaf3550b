(** Softmax heads: the table of all patches, given a certificate, met with the row [own] of the domain. All patches
    without a statement share one row. *)

From Coq Require Import Reals ZArith List Lia.
From Verale Require Import Semantics Boxes Ends Simplex Leftover.
Import ListNotations.

Fixpoint meet_rows (r s : row) : row :=
  match r, s with a :: r', e :: s' => meet a e :: meet_rows r' s' | _, _ => nil end.

Lemma meet_rows_ok : forall h T r s v, row_ok h T r v -> row_ok h T s v -> row_ok h T (meet_rows r s) v.
Proof.
  intros h T r s v. unfold row_ok. generalize (observable h v) (count h). clear. intros x n. revert s x n.
  induction r as [|a r IH]; intros s x n [Lr R] [Ls S].
  - split; [exact Lr|]. cbn in Lr. intros. lia.
  - destruct n as [|n]; [discriminate|]. destruct s as [|e s]; [discriminate|]. cbn [meet_rows length] in *.
    destruct (IH s (fun j => x (Datatypes.S j)) n) as [L H].
    { split; [lia|]. intros j Hj. apply (R (Datatypes.S j)). lia. }
    { split; [lia|]. intros j Hj. apply (S (Datatypes.S j)). lia. }
    split; [lia|]. intros [|j] Hj; cbn [nth]; [|apply H; lia].
    apply meet_ok; [apply (R 0%nat)|apply (S 0%nat)]; lia.
Qed.

Definition simplex_table (T : Z) (h : head) (c : certificate) (own : row) : option table :=
  if is_softmax h then
    let row_of es := meet_rows own (row_of_entries T es) in
    let free := row_of (repeat unstated (count h)) in
    let row_at l := if has_statement c l then row_of (entries T c (count h) l) else free in
    Some (map row_at (seq 0 (patches c)))
  else None.

Theorem simplex_table_ok : forall h c z T own t, (0 < T)%Z -> complies h c z ->
  (forall v, patch_in_domain h v -> row_ok h T own v) -> simplex_table T h c own = Some t ->
  table_ok h T (patches c) t z.
Proof.
  intros h c z T own t HT H K E. unfold simplex_table in E. destruct (is_softmax h) eqn:S; [|discriminate].
  injection E as <-. split; [rewrite map_length; apply seq_length|]. intros l Hl. set (f := fun k => _).
  rewrite (nth_indep _ nil (f O)) by (rewrite map_length, seq_length; exact Hl).
  rewrite map_nth, seq_nth by exact Hl. cbn [Nat.add]. specialize (K (z l) (proj1 H l Hl)).
  unfold f. destruct (has_statement c l) eqn:D; (apply meet_rows_ok; [exact K|]).
  - apply row_of_entries_ok; [exact S|]. apply entries_hold; assumption.
  - rewrite <- (entries_of_free_patch T c (count h) l D). apply row_of_entries_ok; [exact S|].
    apply entries_hold; assumption.
Qed.
