(** The readout maximum: a lower bound of the difference of two logits, given a box of the activations.

    It is the greatest term of the winner with every activation at its lower end, minus the greatest one of the loser
    with every activation at its upper end. A class without a prototype is refused. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes LinearReadout.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (B : Z) (b : box).

Fixpoint member_terms (side : Z * Z -> Z) (ws bs : list Z) (b : box) : list Z :=
  match ws, b with
  | w :: ws', e :: b' =>
      let rest := member_terms side ws' (tl bs) b' in
      if w =? unit_of_weights h then side e * unit_of_weights h + B * hd 0 bs :: rest else rest
  | _, _ => nil
  end.

Definition greatest (l : list Z) : option Z :=
  match l with nil => None | x :: l' => Some (fold_right Z.max x l') end.

Definition maximum_least (winner loser : nat) : option Z :=
  let terms side c := greatest (member_terms side (weights h c) (bias h) b) in
  match terms fst winner, terms snd loser with
  | Some least, Some most => Some (least - most)
  | _, _ => None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (B : Z) (b : box) (n : nat) (z : latents).
Hypothesis B_positive : (0 < B)%Z.
Local Notation W := (IZR (unit_of_weights h)).
Let a : nat -> R := activation h n z.

Definition member_term (side : Z * Z -> Z) (bs : list Z) (bx : box) (j : nat) : Z :=
  (side (nth j bx (0, 0)) * unit_of_weights h + B * nth j bs 0)%Z.

Lemma member_terms_are : forall side ws bs bx t, In t (member_terms h B side ws bs bx) <->
  exists j, (j < length bx)%nat /\ nth j ws 0%Z = unit_of_weights h /\ t = member_term side bs bx j.
Proof.
  intros side. induction ws as [|w ws IH]; intros bs bx t.
  { split; [intros []|]. intros [j [_ [N _]]]. destruct j; discriminate. }
  destruct bx as [|e bx]; [split; [intros []|]; intros [j [Hj _]]; inversion Hj|]. cbn [member_terms].
  assert (T : forall j, member_term side (tl bs) bx j = member_term side bs (e :: bx) (S j)).
  { intros j. unfold member_term. destruct bs; [destruct j|]; reflexivity. }
  assert (F : (side e * unit_of_weights h + B * hd 0 bs = member_term side bs (e :: bx) 0)%Z)
    by (unfold member_term; destruct bs; reflexivity).
  assert (K : In t (member_terms h B side ws (tl bs) bx) <->
    exists j, (S j < length (e :: bx))%nat /\ nth (S j) (w :: ws) 0%Z = unit_of_weights h /\
              t = member_term side bs (e :: bx) (S j)).
  { rewrite IH. cbn [length nth].
    split; intros [j [Hj [N E]]]; exists j; [rewrite <- T|rewrite T]; repeat split; auto; lia. }
  destruct (w =? unit_of_weights h)%Z eqn:D.
  - apply Z.eqb_eq in D. cbn [In]. rewrite K, F. split.
    + intros [<-|[j Hj]]; [exists O; cbn; repeat split; auto; lia|exists (S j); exact Hj].
    + intros [[|j] [Hj [N E]]]; [left; symmetry; exact E|right; exists j; auto].
  - apply Z.eqb_neq in D. rewrite K. split; [intros [j Hj]; exists (S j); exact Hj|].
    intros [[|j] [Hj [N E]]]; [contradiction|exists j; auto].
Qed.

Lemma greatest_ok : forall l x, greatest l = Some x -> In x l /\ forall y, In y l -> (y <= x)%Z.
Proof.
  intros [|y l] x H; [discriminate|]. injection H as <-. induction l as [|w l [IH1 IH2]]; cbn [fold_right].
  { split; [left; reflexivity|]. intros v [<-|[]]. lia. }
  - split.
    + destruct (Z.max_spec w (fold_right Z.max y l)) as [[_ ->]|[_ ->]]; [|right; left; reflexivity].
      destruct IH1 as [E|I]; [left; exact E|right; right; exact I].
    + intros v [<-|[<-|I]]; [specialize (IH2 y (or_introl eq_refl))| |specialize (IH2 v (or_intror I))]; lia.
Qed.

Lemma members_are : forall c j, In j (members h c) <-> (j < count h)%nat /\ nth j (weights h c) 0%Z = unit_of_weights h.
Proof.
  intros c j. unfold members. rewrite filter_In, in_seq, Z.eqb_eq. unfold weights, unit_of_weights.
  split; intros [H1 H2]; split; auto; lia.
Qed.

Lemma member_term_ok : forall j, (j < count h)%nat -> box_ok h B n b z ->
  IZR (member_term fst (bias h) b j) <= IZR B * (W * (a j + bias_of h j)) <= IZR (member_term snd (bias h) b j).
Proof.
  intros j Hj [_ H]. destruct (H j Hj) as [L U]. unfold member_term. rewrite !plus_IZR, !mult_IZR.
  replace (IZR B * (W * (a j + bias_of h j))) with ((IZR B * a j) * W + IZR B * (W * bias_of h j)) by ring.
  rewrite bias_scaled. assert (P := unit_of_weights_positive h). fold a in L, U.
  split; apply Rplus_le_compat_r, Rmult_le_compat_r; lra.
Qed.

Lemma maximum_least_ok : forall winner loser x, box_ok h B n b z -> head_readout h = Maximum ->
  maximum_least h B b winner loser = Some x ->
  IZR x <= IZR B * (W * (logit h n z winner - logit h n z loser)).
Proof.
  intros winner loser x Hb R E. unfold maximum_least in E. assert (P := unit_of_weights_positive h).
  apply IZR_pos in B_positive as BP. assert (L := proj1 Hb).
  destruct (greatest (member_terms _ _ fst _ _ _)) as [low|] eqn:E1; [|discriminate].
  destruct (greatest (member_terms _ _ snd _ _ _)) as [high|] eqn:E2; [|discriminate]. injection E as <-.
  apply greatest_ok in E1 as [I1 _], E2 as [I2 M2]. unfold logit. rewrite R. fold a.
  set (value := fun j => a j + bias_of h j).
  apply member_terms_are in I1 as [i [Hi [Ni ->]]], I2 as [k [Hk [Nk _]]]. rewrite L in *.
  assert (A : value i <= rgreatest (map value (members h winner)))
    by (apply rgreatest_ge, in_map, members_are; auto).
  assert (C : In (rgreatest (map value (members h loser))) (map value (members h loser))).
  { apply rgreatest_in. intros N. apply map_eq_nil in N.
    assert (I : In k (members h loser)) by (apply members_are; auto).
    rewrite N in I. destruct I. }
  apply in_map_iff in C as [j [Ej Ij]]. apply members_are in Ij as [Hj Nj]. rewrite <- Ej.
  assert (U : (member_term snd (bias h) b j <= high)%Z)
    by (apply M2, member_terms_are; exists j; rewrite L; auto).
  apply IZR_le in U. assert (Li := proj1 (member_term_ok i Hi Hb)). assert (Uj := proj2 (member_term_ok j Hj Hb)).
  rewrite minus_IZR. fold (value i) in Li. fold (value j) in Uj.
  assert (IZR B * (W * value i) <= IZR B * (W * rgreatest (map value (members h winner)))).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra. }
  rewrite !Rmult_minus_distr_l. lra.
Qed.
End Sound.
