(** What parts of the checker do with statements: they change the elements of a row that they are about. *)

From Coq Require Import ZArith List Lia Bool.
Import ListNotations.

(** * What runs *)

Section Change.
Context {A : Type}.

(** Changes the element at [j], where there is one. *)
Fixpoint change_at (change : A -> A) (j : nat) (row : list A) : list A :=
  match row, j with
  | nil, _ => nil
  | e :: row', O => change e :: row'
  | e :: row', S j' => e :: change_at change j' row'
  end.

(** Changes all elements but those listed; [j] is the index of the first. *)
Fixpoint change_others (change : A -> A) (except : list nat) (j : nat) (row : list A) : list A :=
  match row with
  | nil => nil
  | e :: row' => (if existsb (Nat.eqb j) except then e else change e) :: change_others change except (S j) row'
  end.
End Change.

(** * What it means *)

Lemma length_change_at : forall (A : Type) (change : A -> A) j row, length (change_at change j row) = length row.
Proof. intros A change j row. revert j. induction row as [|e row IH]; intros [|j]; cbn; auto. Qed.

Lemma length_change_others : forall (A : Type) (change : A -> A) except row j,
  length (change_others change except j row) = length row.
Proof. intros A change except. induction row as [|e row IH]; intros j; cbn; auto. Qed.

(** An element is changed if it stands at [j], else left as it is. *)
Lemma nth_change_at : forall (A : Type) (change : A -> A) j row k d, (k < length row)%nat ->
  nth k (change_at change j row) d = if Nat.eqb k j then change (nth k row d) else nth k row d.
Proof.
  intros A change j row. revert j. induction row as [|e row IH]; intros j k d H; [inversion H|].
  destruct j as [|j], k as [|k]; cbn [change_at nth Nat.eqb]; try reflexivity. apply IH. cbn in H. lia.
Qed.

Lemma nth_change_others : forall (A : Type) (change : A -> A) except row j k d, (k < length row)%nat ->
  nth k (change_others change except j row) d =
  if existsb (Nat.eqb (j + k)) except then nth k row d else change (nth k row d).
Proof.
  intros A change except. induction row as [|e row IH]; intros j k d H; [inversion H|].
  destruct k as [|k]; cbn [change_others nth]; [rewrite Nat.add_0_r; reflexivity|].
  rewrite IH by (cbn in H; lia). rewrite Nat.add_succ_r. reflexivity.
Qed.
