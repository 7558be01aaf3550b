(** Numbers that satisfy what is stated about activations: stated ends, rounded inward. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes Stated Activations InnerDomain.
Import ListNotations.

(** The ends that a statement leaves, over the unit [B] *)
Definition inner_stated_ends (u : positive) (B : Z) (lo hi : option Z) : ends :=
  (option_map (fun a => ceil_div (B * a) (Zpos u)) lo, option_map (fun b => floor_div (B * b) (Zpos u)) hi).

Open Scope R_scope.

Section Sound.
Variables (u : positive) (B : Z).
Hypothesis HB : (0 < B)%Z.

Lemma cut_within : forall lo hi e, all_within B (cut_by (inner_stated_ends u B lo hi) e) (fun a =>
  IZR (fst e) <= IZR B * a <= IZR (snd e) /\ between u lo hi a).
Proof.
  intros lo hi e a [L H]. cbn [cut_by inner_stated_ends fst snd] in L, H. assert (U := unit_positive u).
  apply IZR_pos in HB as RB.
  assert (Lo : IZR (fst e) <= IZR B * a /\ match lo with Some x => q x u <= a | None => True end).
  { destruct lo as [x|]; cbn [option_map] in L; [|auto]. rewrite IZR_max in L.
    assert (M := Rmax_l (IZR (fst e)) (IZR (ceil_div (B * x) (Zpos u)))).
    assert (N := Rmax_r (IZR (fst e)) (IZR (ceil_div (B * x) (Zpos u)))). split; [lra|].
    assert (C := le_ceil_div (B * x) (Zpos u) eq_refl). assert (E : IZR (B * x) / IZR (Zpos u) <= IZR B * a) by lra.
    apply (div_le_iff _ _ _ U) in E. rewrite mult_IZR in E. apply (div_le_iff _ _ _ U).
    apply (Rmult_le_reg_l (IZR B)); lra. }
  assert (Hi : IZR B * a <= IZR (snd e) /\ match hi with Some x => a <= q x u | None => True end).
  { destruct hi as [x|]; cbn [option_map] in H; [|auto]. rewrite IZR_min in H.
    assert (M := Rmin_l (IZR (snd e)) (IZR (floor_div (B * x) (Zpos u)))).
    assert (N := Rmin_r (IZR (snd e)) (IZR (floor_div (B * x) (Zpos u)))). split; [lra|].
    assert (C := floor_div_le (B * x) (Zpos u) eq_refl). assert (E : IZR B * a <= IZR (B * x) / IZR (Zpos u)) by lra.
    apply (le_div_iff _ _ _ U) in E. rewrite mult_IZR in E. apply (le_div_iff _ _ _ U).
    apply (Rmult_le_reg_l (IZR B)); lra. }
  unfold between. tauto.
Qed.

(** What a statement says of the activation of prototype [j] *)
Definition says (j : nat) (a : R) (s : statement) : Prop :=
  match s with
  | AboutPatch _ _ _ _ | AboutSum _ _ => True
  | AboutActivation k lo hi => k = j -> between u lo hi a
  | AboutOthers except lo hi => ~ In j except -> between u lo hi a
  end.

Let met : box -> list statement -> box := met_box (inner_stated_ends u B).

Lemma met_with_within : forall b s j, (j < length b)%nat ->
  length (met_with (inner_stated_ends u B) b s) = length b /\
  all_within B (nth j (met_with (inner_stated_ends u B) b s) (0, 0)%Z) (fun a =>
    IZR (fst (nth j b (0, 0)%Z)) <= IZR B * a <= IZR (snd (nth j b (0, 0)%Z)) /\ says j a s).
Proof.
  intros b [l k lo hi|k lo hi|except lo hi|rivals hi] j Hj; cbn [met_with says];
    try (split; [reflexivity|]; intros a H; auto; fail).
  - split; [apply length_change_at|]. rewrite nth_change_at by exact Hj. destruct (Nat.eqb j k) eqn:E; intros a H.
    + apply cut_within in H as [H S]. auto.
    + apply Nat.eqb_neq in E. split; [exact H|]. intros K. congruence.
  - split; [apply length_change_others|]. rewrite nth_change_others by exact Hj. cbn [Nat.add].
    destruct (existsb (Nat.eqb j) except) eqn:E; intros a H.
    + split; [exact H|]. intros N. apply existsb_exists in E as (i & I & E). apply Nat.eqb_eq in E. subst i.
      contradiction.
    + apply cut_within in H as [H S]. auto.
Qed.

Theorem met_box_within : forall ss b j, (j < length b)%nat ->
  length (met b ss) = length b /\
  all_within B (nth j (met b ss) (0, 0)%Z) (fun a =>
    IZR (fst (nth j b (0, 0)%Z)) <= IZR B * a <= IZR (snd (nth j b (0, 0)%Z)) /\ Forall (says j a) ss).
Proof.
  unfold met, met_box. induction ss as [|s ss IH]; intros b j Hj; cbn [fold_left].
  { split; [reflexivity|]. intros a H. auto. }
  destruct (met_with_within b s j Hj) as [L W]. destruct (IH (met_with (inner_stated_ends u B) b s) j) as [L' W'];
    [rewrite L; exact Hj|]. split; [rewrite L'; exact L|]. intros a H. apply W' in H as [H F]. apply W in H as [H S].
  auto.
Qed.
End Sound.
