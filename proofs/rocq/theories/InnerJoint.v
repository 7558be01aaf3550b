(** Heads with one patch: a point of the space that satisfies what is stated, and at which a margin is 0 or less. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Sums Grid Log Boxes Columns Direction Similarity Embedding Facts
  LinearReadout InnerDomain InnerPoints.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (c : certificate) (T B : Z) (terms : nat) (logs : logarithms) (ms : list measure).

Definition as_ends (e : Z * Z) : ends := (Some (fst e), Some (snd e)).

Definition similarities_at (Y : positive) (pt : point) : option box :=
  all_some (map (fun e => similar_ends h T B terms logs (fst e) (as_ends (observed h T Y (snd (snd e)) (fst (snd e))
    pt)))
    (combine (owns h) (combine (prototypes h) ms))).

(** The rival's logit is at least the predicted one's. *)
Definition joint_shown (r : nat) (hint : positive * point) : bool :=
  let (Y, pt) := hint in
  forallb (fun e => Nat.ltb (fst e) (count h)) (stated_at 0 (statements c)) && serves h c Y (stated_here h c ms 0) pt &&
  match similarities_at Y pt with
  | Some b =>
      Nat.eqb (length b) (count h) &&
      match linear_least h B b r (predicted c) with Some least => 0 <=? least | None => false end
  | None => false
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (c : certificate) (T B : Z) (terms : nat) (logs : logarithms) (ms : list measure).
Hypothesis HT : (0 < T)%Z.
Hypothesis HB : (0 < B)%Z.
Hypothesis Hlogs : right_logarithms logs.
Hypothesis measured : measures h = Some ms.

Lemma point_sane : forall Y pt j, in_the_space h Y pt = true -> (j < count h)%nat ->
  sane h (observable_at h (vector_of h Y pt) j).
Proof.
  intros Y pt j I Hj G. unfold observable_at. rewrite G. apply Rplus_le_le_0_compat; [|apply Rle_0_sqr].
  apply rsum_nonneg. intros d _. apply Rle_0_sqr.
Qed.

Lemma similarities_at_ok : forall Y pt b,
  in_the_space h Y pt = true -> similarities_at h T B terms logs ms Y pt = Some b ->
  forall j, (j < count h)%nat -> encloses B (nth j b (0, 0)%Z) (sim h j (observable_at h (vector_of h Y pt) j)).
Proof.
  intros Y pt b I H j Hj. unfold similarities_at in H. destruct (measures_ok h ms measured) as (_ & LM & _ & _).
  assert (LP : length (prototypes h) = count h).
  { unfold measures in measured. destruct (_ && _) eqn:E in measured; [|discriminate].
    apply andb_prop in E as [E _]. apply andb_prop in E as [E _]. apply andb_prop in E as [_ E].
    apply Nat.eqb_eq in E. rewrite map_length in E. exact E. }
  assert (LO := length_owns h).
  assert (N := nth_all_some _ _ _ _ _ j (own_at h j, (@nil Z, Measure 0 0 1 1)) (0, 0)%Z H
    ltac:(rewrite !combine_length; lia)).
  rewrite !combine_nth in N by (rewrite ?combine_length; lia). cbn [fst snd] in N. rewrite nth_owns in N by exact Hj.
  fold (points h j) in N. rewrite sim_similar.
  refine (similar_ends_ok h T B terms logs HT HB Hlogs (own_at h j) _ _ _ _ (point_sane Y pt j I Hj) N).
  exact (observed_ok h T ms Y HT measured j pt I Hj).
Qed.

Theorem joint_shown_ok : forall r hint, joint_shown h c T B terms logs ms r hint = true ->
  joint_margin_not_positive h c r.
Proof.
  intros r [Y pt] H e He. unfold joint_shown in H. apply andb_prop in H as [H V]. apply andb_prop in H as [In' Se].
  assert (Sp := Se). apply andb_prop in Sp as [Sp _]. apply (serves_ok h c ms Y measured) in Se as [A S]; [|exact In'].
  exists (vector_of h Y pt). split; [exact A|]. split; [exact S|].
  destruct (similarities_at _ _ _ _ _ _ _ _) as [b|] eqn:E; [|discriminate]. apply andb_prop in V as [L V].
  apply Nat.eqb_eq in L. assert (K := similarities_at_ok Y pt b Sp E). unfold linear_least in V.
  destruct (_ && _)%bool eqn:G; [|discriminate]. apply andb_prop in G as [G1 G2]. apply Nat.eqb_eq in G1, G2.
  apply Z.leb_le, IZR_le in V. set (a := fun j => sim h j (observable_at h (vector_of h Y pt) j)) in *.
  assert (Q := least_sum_ok B (weights h r) (weights h (predicted c)) b a ltac:(congruence) ltac:(congruence)
    ltac:(intros j Hj; rewrite L in Hj; exact (K j Hj))).
  rewrite plus_IZR, mult_IZR, minus_IZR, <- !bias_scaled in V. rewrite L in Q.
  assert (W := unit_of_weights_positive h). apply IZR_pos in HB as RB.
  assert (M : margin_of_point h c r (vector_of h Y pt) <= 0); [|lra]. unfold margin_of_point. fold a.
  apply (Rmult_le_reg_l (IZR B * IZR (unit_of_weights h))); [apply Rmult_lt_0_compat; assumption|]. rewrite Rmult_0_r.
  rewrite Rmult_plus_distr_l, <- rsum_scal.
  rewrite (rsum_ext (count h) _ (fun j => - (IZR B * ((IZR (nth j (weights h r) 0%Z) -
    IZR (nth j (weights h (predicted c)) 0%Z)) * a j)))).
  - rewrite rsum_opp, rsum_scal. lra.
  - intros j _. rewrite <- !weight_scaled. unfold a. ring.
Qed.
End Sound.
