(** Ranges hold what lies between any two of their numbers, and no squared distance below 0. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Sums Grid Direction InnerDomain InnerPooling.
Import ListNotations.
Open Scope R_scope.

(** Two integers as an entry, if they are in order *)
Definition entry_of (e : Z * Z) : option inner_entry :=
  if (fst e <=? snd e)%Z then Some ((fst e, fst e), (snd e, snd e)) else None.

Lemma integer_within : forall T x, (0 < T)%Z -> encloses T (x, x) (IZR x / IZR T).
Proof. intros T x HT. apply IZR_pos in HT. replace (IZR x) with (IZR T * (IZR x / IZR T)) at 1 by (field; lra).
  split; cbn [fst snd]; right; field; lra.
Qed.

Lemma entry_of_ok : forall T e x Q, (0 < T)%Z -> all_within T e Q -> entry_of e = Some x -> entry_right T Q x.
Proof.
  intros T [a b] x Q HT H E. unfold entry_of in E. cbn [fst snd] in E. destruct (a <=? b)%Z eqn:C; [|discriminate].
  injection E as <-. apply Z.leb_le, IZR_le in C. assert (RT := IZR_pos _ HT).
  assert (K : forall y, IZR T * (IZR y / IZR T) = IZR y) by (intros y; field; lra).
  split; [exists (IZR a / IZR T)|exists (IZR b / IZR T)]; (split; [apply H; rewrite K; cbn [fst snd]; lra|]);
    apply integer_within; exact HT.
Qed.

Lemma range_of_convex : forall S, convex (range_of S).
Proof.
  intros S x y z X Z H e He. destruct (X e He) as [(a & Sa & A) _]. destruct (Z e He) as [_ (b & Sb & B)].
  split; [exists a|exists b]; (split; [assumption|lra]).
Qed.

Section Range.
Variables (h : head) (c : certificate).

Lemma furthest_below : forall e p x y, furthest h e p x -> y <= x -> furthest h e p y.
Proof. intros e p x y [A B] H. split; intros; [specialize (A H0)|specialize (B H0 H1)]; lra. Qed.

Lemma domain_range_convex : forall j, convex (domain_range h j).
Proof.
  intros j x y z X Z H. unfold domain_range in *. destruct (head_geometry h) as [|e|e|r|].
  - destruct X as [X _], Z as [_ Z]. split; [lra|]. destruct (lower h), (upper h); cbn [option_map] in *; auto. lra.
  - assert (N := norm_nonneg h (coord h j)). destruct X as (X1 & X2 & X3), Z as (Z1 & Z2 & Z3).
    assert (A := Rmult_le_compat_l _ _ _ N (proj1 H)). assert (B := Rmult_le_compat_l _ _ _ N (proj2 H)).
    split; [lra|].
    split; intros S; [destruct (X2 S) as [F _], (Z2 S) as [_ G]|destruct (X3 S) as [F _], (Z3 S) as [_ G]];
      (split; [apply (furthest_below _ _ _ _ F)|apply (furthest_below _ _ _ _ G)]; lra).
  - assert (N := norm_nonneg h (coord h j)). destruct X as (X1 & X2 & X3), Z as (Z1 & Z2 & Z3).
    assert (A := Rmult_le_compat_l _ _ _ N (proj1 H)). assert (B := Rmult_le_compat_l _ _ _ N (proj2 H)).
    split; [lra|].
    split; intros S; [destruct (X2 S) as [F _], (Z2 S) as [_ G]|destruct (X3 S) as [F _], (Z3 S) as [_ G]];
      (split; [apply (furthest_below _ _ _ _ F)|apply (furthest_below _ _ _ _ G)]; lra).
  - destruct X as [X1 X2], Z as [Z1 Z2]. split.
    + revert X1 Z1. set (a := greater_of (option_map (fun a => q a (coord_unit h)) (lower h)) (option_map (fun r => -
        real r) r)).
      set (b := lesser_of (option_map (fun b => q b (coord_unit h)) (upper h)) (option_map real r)).
      intros X1 Z1. destruct a, b; auto. lra.
    + destruct r as [r|]; [|exact I]. cbv zeta in *. destruct X2 as (A1 & A2 & A3), Z2 as (B1 & B2 & B3).
      split; [lra|]. split; intros S; [specialize (A2 S); specialize (B2 S)|specialize (A3 S); specialize (B3 S)]; lra.
  - unfold mass_range in *. destruct (Nat.eqb (count h) 1); lra.
Qed.

Lemma reference_range_convex : forall l j, convex (reference_range h c l j).
Proof.
  intros l j x y z [X1 X2] [Z1 Z2] H. split; [exact (domain_range_convex j x y z X1 Z1 H)|]. intros S.
  exact (range_of_convex _ x y z (X2 S) (Z2 S) H).
Qed.

Lemma reference_range_sane : forall l j x, reference_range h c l j x -> sane h x.
Proof.
  intros l j x [D _] G. unfold domain_range in D. rewrite G in D. destruct D as [D _]. eapply Rle_trans; [|exact D].
  apply rsum_nonneg. intros d _. apply Rle_0_sqr.
Qed.
End Range.
