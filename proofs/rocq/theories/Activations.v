(** Statements about activations: a box cut by what is stated.

    An activation lies in its range and in its stated interval; one that a statement about the others does not except is
    at most the statement's end. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Grid Boxes Stated.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (B : Z) (u : positive).

Definition cut_both (lo hi : Z) (e : Z * Z) : Z * Z :=
  (Z.max (fst e) (low_end B u lo), Z.min (snd e) (high_end B u hi)).
Definition cut_above (hi : Z) (e : Z * Z) : Z * Z := (fst e, Z.min (snd e) (high_end B u hi)).

Definition met_with (b : box) (s : statement) : box :=
  match s with
  | AboutPatch _ _ _ _ => b
  | AboutActivation j lo hi => change_at (cut_both lo hi) j b
  | AboutOthers except hi => change_others (cut_above hi) except 0 b
  end.

Definition met_box (b : box) (ss : list statement) : box := fold_left met_with ss b.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma cut_above_ok : forall B u hi e x, (0 < B)%Z -> x <= q hi u -> encloses B e x ->
  encloses B (cut_above B u hi e) x.
Proof.
  intros B u hi e x HB H [L U]. split; cbn [cut_above fst snd]; [exact L|].
  apply (high_end_ok B) in H; [|exact HB].
  destruct (Z.min_spec (snd e) (high_end B u hi)) as [[_ ->]|[_ ->]]; assumption.
Qed.

Lemma cut_both_ok : forall B u lo hi e x, (0 < B)%Z -> q lo u <= x <= q hi u -> encloses B e x ->
  encloses B (cut_both B u lo hi e) x.
Proof.
  intros B u lo hi e x HB [Lo Hi] [L U]. apply (low_end_ok B) in Lo; [|exact HB].
  apply (high_end_ok B) in Hi; [|exact HB].
  split; cbn [cut_both fst snd].
  - destruct (Z.max_spec (fst e) (low_end B u lo)) as [[_ ->]|[_ ->]]; assumption.
  - destruct (Z.min_spec (snd e) (high_end B u hi)) as [[_ ->]|[_ ->]]; assumption.
Qed.

Lemma excepted : forall k except, existsb (Nat.eqb k) except = false -> ~ In k except.
Proof.
  intros k except H I. assert (existsb (Nat.eqb k) except = true); [|congruence].
  apply existsb_exists. exists k. split; [exact I|apply Nat.eqb_refl].
Qed.

Lemma met_with_ok : forall h B c z b s, (0 < B)%Z -> holds h c z s -> box_ok h B (patches c) b z ->
  box_ok h B (patches c) (met_with B (statement_unit c) b s) z.
Proof.
  intros h B c z b s HB H [L E]. destruct s as [l j lo hi|j lo hi|except hi]; cbn [met_with holds] in *.
  - split; assumption.
  - split; [rewrite length_change_at; exact L|]. intros k Hk. rewrite nth_change_at by (rewrite L; exact Hk).
    destruct (Nat.eqb k j) eqn:D; [|apply E; exact Hk]. apply Nat.eqb_eq in D as ->. apply cut_both_ok; auto.
  - split; [rewrite length_change_others; exact L|]. intros k Hk. rewrite nth_change_others by (rewrite L; exact Hk).
    cbn [Nat.add]. destruct (existsb _ _) eqn:D; [apply E; exact Hk|]. apply cut_above_ok; auto using excepted.
Qed.

Theorem met_box_ok : forall h B c z b, (0 < B)%Z -> complies h c z -> box_ok h B (patches c) b z ->
  box_ok h B (patches c) (met_box B (statement_unit c) b (statements c)) z.
Proof.
  intros h B c z b HB [_ H]. revert b H. unfold met_box.
  induction (statements c) as [|s ss IH]; intros b H Hb; [exact Hb|].
  cbn [fold_left]. apply IH; [intros t I; apply H; right; exact I|].
  apply met_with_ok; auto. apply H. left. reflexivity.
Qed.
