(** Softmax heads: what is stated of the masses of a patch, as a list of the few that something is stated of.

    It says the same as [entries], which has an entry for each prototype. *)

From Coq Require Import ZArith List Lia Bool.
From Verale Require Import Semantics Sums Ends Stated Simplex.
Import ListNotations.

(** * What runs *)

Definition few : Type := list (nat * entry).

(** The entry of the mass [k] *)
Fixpoint few_at (k : nat) (es : few) : entry :=
  match es with nil => unstated | p :: es' => if Nat.eqb k (fst p) then snd p else few_at k es' end.

Fixpoint few_changed (change : entry -> entry) (j : nat) (es : few) : few :=
  match es with
  | nil => [(j, change unstated)]
  | p :: es' => if Nat.eqb j (fst p) then (j, change (snd p)) :: es' else p :: few_changed change j es'
  end.

Section Run.
Local Open Scope Z_scope.
Variable T : Z.

Definition few_with (u : positive) (n l : nat) (es : few) (s : statement) : few :=
  match s with
  | AboutPatch k j lo hi =>
      if Nat.eqb k l && Nat.ltb j n then few_changed (met_entry T (stated_ends u T lo hi)) j es else es
  | _ => es
  end.

Definition few_entries (c : certificate) (n l : nat) : few :=
  fold_left (few_with (statement_unit c) n l) (statements c) nil.

Definition low_of (p : nat * entry) : Z := fst (snd p).

(** What their low ends leave of one *)
Definition few_remainder (es : few) : Z := Z.max 0 (T - zsum (map low_of es)).
End Run.

(** * What it means *)

Lemma few_changed_at : forall change j es k,
  few_at k (few_changed change j es) = if Nat.eqb k j then change (few_at k es) else few_at k es.
Proof.
  intros change j es k. induction es as [|[i e] es IH]; cbn [few_changed few_at fst snd].
  - destruct (Nat.eqb k j); reflexivity.
  - destruct (Nat.eqb_spec j i) as [->|N]; cbn [few_at fst snd].
    + destruct (Nat.eqb k i); reflexivity.
    + rewrite IH. destruct (Nat.eqb_spec k i) as [->|M]; [|reflexivity].
      destruct (Nat.eqb_spec i j); [congruence|reflexivity].
Qed.

Lemma few_changed_sum : forall change j es, (zsum (map low_of (few_changed change j es)) =
  zsum (map low_of es) - fst (few_at j es) + fst (change (few_at j es)))%Z.
Proof.
  intros change j es. induction es as [|[i e] es IH]; cbn [few_changed few_at fst snd].
  - change (fst unstated) with 0%Z. cbn [map zsum]. unfold low_of. cbn [fst snd]. lia.
  - destruct (Nat.eqb j i); cbn [map zsum]; [unfold low_of; cbn [fst snd]; lia|rewrite IH; lia].
Qed.

Lemma change_at_sum : forall (change : entry -> entry) es j, (j < length es)%nat ->
  (zsum (map fst (change_at change j es)) =
   zsum (map fst es) - fst (nth j es unstated) + fst (change (nth j es unstated)))%Z.
Proof.
  intros change. induction es as [|e es IH]; intros [|j] H; cbn [length] in H; try lia;
    cbn [change_at map zsum nth]; [lia|rewrite IH by lia; lia].
Qed.

(** [n] entries, of which these are the few. *)
Definition agree (n : nat) (es : list entry) (fs : few) : Prop :=
  length es = n /\ (forall k, (k < n)%nat -> nth k es unstated = few_at k fs) /\
  zsum (map fst es) = zsum (map low_of fs).

Lemma zsum_of_unstated : forall n, zsum (map fst (repeat unstated n)) = 0%Z.
Proof. induction n; [reflexivity|]. cbn. exact IHn. Qed.

Lemma agree_with : forall T u n l s es fs, agree n es fs ->
  agree n (entries_with T u l es s) (few_with T u n l fs s).
Proof.
  intros T u n l s es fs (L & A & S). destruct s as [k j lo hi| | |]; cbn [entries_with few_with];
    try (repeat split; assumption).
  destruct (Nat.eqb k l); cbn [andb]; [|repeat split; assumption]. set (f := met_entry _ _).
  split; [rewrite length_change_at; exact L|]. destruct (Nat.ltb_spec j n) as [J|J].
  - split.
    + intros i Hi. rewrite nth_change_at, few_changed_at, A by (rewrite ?L; exact Hi). reflexivity.
    + rewrite change_at_sum, few_changed_sum, S, A by (rewrite ?L; exact J). reflexivity.
  - assert (E : change_at f j es = es); [|rewrite E; split; assumption].
    clear - L J. subst n. revert j J. induction es as [|e es IH]; intros [|j] J; cbn [length] in J; try lia;
      [reflexivity|reflexivity|]. cbn [change_at]. rewrite IH by lia. reflexivity.
Qed.

Theorem few_entries_agree : forall T c n l, agree n (entries T c n l) (few_entries T c n l).
Proof.
  intros T c n l. unfold entries, few_entries.
  assert (A : agree n (repeat unstated n) nil).
  { split; [apply repeat_length|]. split; [intros; apply nth_repeat|apply zsum_of_unstated]. }
  revert A. generalize (repeat unstated n), (@nil (nat * entry)).
  induction (statements c) as [|s ss IH]; intros es fs A.
  - exact A.
  - cbn [fold_left]. apply IH, agree_with, A.
Qed.

Corollary few_remainder_is : forall T c n l, few_remainder T (few_entries T c n l) = remainder T (entries T c n l).
Proof.
  intros T c n l. destruct (few_entries_agree T c n l) as (_ & _ & S). unfold few_remainder, remainder.
  rewrite S. reflexivity.
Qed.
