(** Statements about activations: a box cut by what is stated.

    An activation lies in its range and in its stated interval, and so does one that a statement about the others does
    not except. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Grid Boxes Ends Stated.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
(** What an interval says, over the unit of the box. *)
Variable stated : option Z -> option Z -> ends.

Definition cut_by (s : ends) (e : Z * Z) : Z * Z :=
  (match fst s with Some a => Z.max (fst e) a | None => fst e end,
   match snd s with Some b => Z.min (snd e) b | None => snd e end).

Definition met_with (b : box) (s : statement) : box :=
  match s with
  | AboutPatch _ _ _ _ | AboutSum _ _ => b
  | AboutActivation j lo hi => change_at (cut_by (stated lo hi)) j b
  | AboutOthers except lo hi => change_others (cut_by (stated lo hi)) except 0 b
  end.

Definition met_box (b : box) (ss : list statement) : box := fold_left met_with ss b.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma cut_by_ok : forall B s e x, within B s x -> encloses B e x -> encloses B (cut_by s e) x.
Proof.
  intros B [lo hi] e x [Lo Hi] [L U]. split; cbn [cut_by fst snd above below] in *.
  - destruct lo as [a|]; [|exact L]. destruct (Z.max_spec (fst e) a) as [[_ ->]|[_ ->]]; assumption.
  - destruct hi as [b|]; [|exact U]. destruct (Z.min_spec (snd e) b) as [[_ ->]|[_ ->]]; assumption.
Qed.

Lemma excepted : forall k except, existsb (Nat.eqb k) except = false -> ~ In k except.
Proof.
  intros k except H I. assert (existsb (Nat.eqb k) except = true); [|congruence].
  apply existsb_exists. exists k. split; [exact I|apply Nat.eqb_refl].
Qed.

Lemma met_with_ok : forall h B c z b s, (0 < B)%Z -> holds h c z s -> box_ok h B (patches c) b z ->
  box_ok h B (patches c) (met_with (stated_ends (statement_unit c) B) b s) z.
Proof.
  intros h B c z b s HB H [L E]. destruct s as [l j lo hi|j lo hi|except lo hi|rivals hi]; cbn [met_with holds] in *;
    try (split; assumption).
  - split; [rewrite length_change_at; exact L|]. intros k Hk. rewrite nth_change_at by (rewrite L; exact Hk).
    destruct (Nat.eqb k j) eqn:D; [|apply E; exact Hk]. apply Nat.eqb_eq in D as ->.
    apply cut_by_ok; auto using stated_ends_ok.
  - split; [rewrite length_change_others; exact L|]. intros k Hk. rewrite nth_change_others by (rewrite L; exact Hk).
    cbn [Nat.add]. destruct (existsb _ _) eqn:D; [apply E; exact Hk|].
    apply cut_by_ok; auto using stated_ends_ok, excepted.
Qed.

Theorem met_box_ok : forall h B c z b, (0 < B)%Z -> complies h c z -> box_ok h B (patches c) b z ->
  box_ok h B (patches c) (met_box (stated_ends (statement_unit c) B) b (statements c)) z.
Proof.
  intros h B c z b HB [_ H]. revert b H. unfold met_box.
  induction (statements c) as [|s ss IH]; intros b H Hb; [exact Hb|].
  cbn [fold_left]. apply IH; [intros t I; apply H; right; exact I|].
  apply met_with_ok; auto. apply H. left. reflexivity.
Qed.
