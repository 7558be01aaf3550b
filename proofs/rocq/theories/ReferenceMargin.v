(** What [MinimalSemantics.v] says of numbers of the ranges holds at their ends, as certificates/v1.md has it; and no
    range is empty. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Sums InnerReadout.
Import ListNotations.
Open Scope R_scope.

(** The least and the greatest number of a range *)
Definition ends_are (S : R -> Prop) (a b : R) : Prop := S a /\ S b /\ forall x, S x -> a <= x <= b.

(** Children of a tree's nodes are nodes or leaves; the reader of head files sees to that. *)
Definition tree_fits (h : head) : Prop := forall absent present, head_readout h = SoftTree absent present ->
  (0 < count h)%nat /\ forall i, (i < count h)%nat ->
    (nth i absent 0 < Z.of_nat (count h))%Z /\ (nth i present 0 < Z.of_nat (count h))%Z.

Section Reference.
Variables (h : head) (c : certificate) (r : nat) (lo hi lo' hi' : nat -> R).
Hypothesis lows : forall j, (j < count h)%nat -> lo j <= lo' j <= hi j.
Hypothesis highs : forall j, (j < count h)%nat -> lo j <= hi' j <= hi j.

(** Between two numbers a node is no less than at one of them. *)
Lemma node_at_ends : forall f g a b s, a <= s <= b ->
  Rmin ((1 - a) * f + a * g) ((1 - b) * f + b * g) <= (1 - s) * f + s * g.
Proof.
  intros f g a b s H. destruct (Rle_dec f g) as [C|C].
  - eapply Rle_trans; [apply Rmin_l|]. nra.
  - eapply Rle_trans; [apply Rmin_r|]. nra.
Qed.

Lemma node_monotone : forall f g f' g' a b a' b', f <= f' -> g <= g' -> 0 <= a' <= 1 -> 0 <= b' <= 1 ->
  a <= a' <= b -> a <= b' <= b ->
  Rmin ((1 - a) * f + a * g) ((1 - b) * f + b * g) <= Rmin ((1 - a') * f' + a' * g') ((1 - b') * f' + b' * g').
Proof.
  intros f g f' g' a b a' b' F G A B HA HB. apply Rmin_glb.
  - eapply Rle_trans; [apply (node_at_ends f g a b a' HA)|].
    apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
  - eapply Rle_trans; [apply (node_at_ends f g a b b' HB)|].
    apply Rplus_le_compat; apply Rmult_le_compat_l; lra.
Qed.

Lemma tree_monotone : forall absent present, (forall i, (i < count h)%nat ->
    (nth i absent 0 < Z.of_nat (count h))%Z /\ (nth i present 0 < Z.of_nat (count h))%Z) ->
  forall nodes child, (child < Z.of_nat (count h))%Z ->
  least_value h c r lo hi absent present nodes child <= least_value h c r lo' hi' absent present nodes child.
Proof.
  intros absent present W. induction nodes as [|nodes IH]; intros child Hc; cbn [least_value];
    destruct (child <? 0)%Z eqn:N; try lra. apply Z.ltb_ge in N. set (i := Z.to_nat child).
  assert (Hi : (i < count h)%nat) by (unfold i; lia). destruct (W i Hi) as [W1 W2].
  apply node_monotone; try apply cut_to_unit_range; try (apply IH; assumption);
    destruct (lows i Hi), (highs i Hi); split; apply cut_to_unit_rises; assumption.
Qed.

Lemma rgreatest_monotone : forall (f g : nat -> R) l, (forall j, In j l -> f j <= g j) ->
  rgreatest (map f l) <= rgreatest (map g l).
Proof.
  intros f g l H. destruct l as [|x l]; [cbn; lra|]. assert (I : In (rgreatest (map f (x :: l))) (map f (x :: l))).
  { apply rgreatest_in. discriminate. }
  apply in_map_iff in I as (j & <- & I). eapply Rle_trans; [apply H; exact I|]. apply rgreatest_ge, in_map, I.
Qed.

Lemma member_in_range : forall k j, In j (members h k) -> (j < count h)%nat.
Proof. intros k j H. unfold members in H. apply filter_In in H as [H _]. apply in_seq in H. lia. Qed.

Theorem margin_monotone : tree_fits h -> margin_at h c r lo hi <= margin_at h c r lo' hi'.
Proof.
  intros W. unfold margin_at. destruct (head_readout h) as [|absent present|] eqn:R.
  - apply Rplus_le_compat_l, rsum_le. intros j Hj. destruct (lows j Hj), (highs j Hj).
    destruct (Rle_dec 0 _) as [P|P]; [apply Rmult_le_compat_l; lra|apply Rmult_le_compat_neg_l; lra].
  - destruct (W absent present R) as [P K]. apply tree_monotone; [exact K|lia].
  - assert (A := rgreatest_monotone (fun j => lo j + bias_of h j) (fun j => lo' j + bias_of h j)
      (members h (predicted c))).
    assert (B := rgreatest_monotone (fun j => hi' j + bias_of h j) (fun j => hi j + bias_of h j) (members h r)).
    specialize (A ltac:(intros j I; apply member_in_range in I; destruct (lows j I); lra)).
    specialize (B ltac:(intros j I; apply member_in_range in I; destruct (highs j I); lra)). lra.
Qed.

Theorem summed_margin_monotone : forall upper, margin_by_sum h c r lo hi upper <= margin_by_sum h c r lo' hi' upper.
Proof.
  intros upper. unfold margin_by_sum. apply Rplus_le_compat_r, Rplus_le_compat_l, rsum_le. intros j Hj.
  destruct (belongs h _ j); [|lra]. destruct (lows j Hj), (highs j Hj).
  destruct (Rle_dec 0 _) as [P|P]; [apply Rmult_le_compat_l; lra|apply Rmult_le_compat_neg_l; lra].
Qed.

Theorem priced_margin_monotone : forall v, margin_by_prices h c r lo v <= margin_by_prices h c r lo' v.
Proof.
  intros v. unfold margin_by_prices. apply Rplus_le_compat_l, Ropp_le_contravar, Rplus_le_compat_r, rsum_le.
  intros j Hj. destruct (lows j Hj). destruct (Rle_dec _ 0) as [P|P]; [|lra]. apply Rmult_le_compat_neg_l; lra.
Qed.
End Reference.

(** The reference margin of v1.md, at the ends of the ranges, is 0 or less. *)
Theorem reference_margin_at_ends : forall h c what r, tree_fits h -> reference_margin_not_positive h c what r ->
  forall lo hi, (forall j, (j < count h)%nat -> ends_are (activation_range h c j) (lo j) (hi j)) ->
  margin_at h c r lo hi <= 0 /\
  (forall rivals upper, In (AboutSum rivals upper) (statements c) -> lists rivals r = true ->
    margin_by_sum h c r lo hi (q upper (statement_unit c)) <= 0) /\
  match what with
  | Nothing => True
  | Prices => forall v, (forall k, 0 <= v k) -> margin_by_prices h c r lo v <= 0
  | JointMargin => joint_margin_not_positive h c r
  end.
Proof.
  intros h c what r W (lo' & hi' & K & M & S & X) lo hi E.
  assert (L : forall j, (j < count h)%nat -> lo j <= lo' j <= hi j) by (intros j Hj; apply (E j Hj), (K j Hj)).
  assert (H : forall j, (j < count h)%nat -> lo j <= hi' j <= hi j) by (intros j Hj; apply (E j Hj), (K j Hj)).
  split; [eapply Rle_trans; [apply (margin_monotone h c r lo hi lo' hi' L H W)|exact M]|].
  split.
  { intros rivals upper I A. eapply Rle_trans; [apply (summed_margin_monotone h c r lo hi lo' hi' L H)|].
    exact (S rivals upper I A). }
  destruct what; [exact I| |exact X]. intros v V.
  eapply Rle_trans; [apply (priced_margin_monotone h c r lo hi lo' L)|apply X; exact V].
Qed.

(** "If a reference range given E' is empty, s is not needed": none is. *)
Theorem no_range_is_empty : forall h c what r, reference_margin_not_positive h c what r ->
  forall j, (j < count h)%nat -> (exists a, activation_range h c j a) /\
    forall l, (l < patches c)%nat -> exists x, reference_range h c l j x.
Proof.
  intros h c what r (lo & hi & K & _) j Hj. destruct (K j Hj) as [A _]. split; [exists (lo j); exact A|].
  destruct A as [A _]. destruct (A 1 Rlt_0_1) as [(a & (m & M & _) & _) _]. intros l Hl. exists (m l). apply M, Hl.
Qed.
