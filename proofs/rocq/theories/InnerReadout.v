(** The margin of v1.md at the two ends of a box, bounded from above: exact, but for soft trees, which round up. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Sums Grid Boxes LinearReadout TreeReadout MaximumReadout.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (B : Z) (b : box).

(** The end at which a node is least if its children have these values; at any other it is no less. *)
Definition node_most (e : Z * Z) (absent present : Z) : Z :=
  let s := into_unit B (if present <? absent then snd e else fst e) in
  ceil_div ((B - s) * absent + s * present) B.

(** An upper bound of the margin of [winner] against [loser], over B times the unit of the weights *)
Definition margin_most (winner loser : nat) : option Z :=
  match head_readout h with
  | Linear => if Nat.eqb (length b) (count h) then linear_least h B b winner loser else None
  | SoftTree absent present => tree_bound b node_most absent present (leaf_difference h B winner loser) (count h) 0
  | Maximum => if Nat.eqb (length b) (count h) then maximum_least h B b winner loser else None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (c : certificate) (B : Z) (b : box).
Hypothesis HB : (0 < B)%Z.
Local Notation W := (IZR (unit_of_weights h)).
Let RB : 0 < IZR B := IZR_pos B HB.
Let PW : 0 < W := unit_of_weights_positive h.

Definition low_end (j : nat) : R := IZR (fst (nth j b (0, 0)%Z)) / IZR B.
Definition high_end (j : nat) : R := IZR (snd (nth j b (0, 0)%Z)) / IZR B.

Lemma low_end_scaled : forall j, IZR B * low_end j = IZR (fst (nth j b (0, 0)%Z)).
Proof. intros j. unfold low_end. field. lra. Qed.

Lemma high_end_scaled : forall j, IZR B * high_end j = IZR (snd (nth j b (0, 0)%Z)).
Proof. intros j. unfold high_end. field. lra. Qed.

Let p := predicted c.

Lemma linear_most_ok : forall r x, head_readout h = Linear -> length b = count h -> linear_least h B b p r = Some x ->
  IZR B * (W * margin_at h c r low_end high_end) = IZR x.
Proof.
  intros r x R L E. unfold margin_at. rewrite R. unfold linear_least in E. fold p.
  destruct (_ && _)%bool eqn:G; [|discriminate]. injection E as <-. apply andb_prop in G as [G1 G2].
  apply Nat.eqb_eq in G1, G2. rewrite plus_IZR, mult_IZR, minus_IZR, <- !bias_scaled, least_sum_real by congruence.
  rewrite L, Rmult_plus_distr_l, <- !rsum_scal.
  rewrite (rsum_ext (count h) (fun i => IZR (least_term _ _))
    (fun i => IZR B * (W * (if Rle_dec 0 (weight_of h p i - weight_of h r i)
       then (weight_of h p i - weight_of h r i) * low_end i else (weight_of h p i - weight_of h r i) * high_end i)))).
  { rewrite rsum_scal. ring_simplify. rewrite !rsum_scal. ring. }
  intros i _. assert (D : W * (weight_of h p i - weight_of h r i) =
    IZR (nth i (weights h p) 0%Z - nth i (weights h r) 0%Z)).
  { rewrite minus_IZR, <- !weight_scaled. ring. }
  set (w := weight_of h p i - weight_of h r i) in *. set (d := (nth i (weights h p) 0 - nth i (weights h r) 0)%Z) in *.
  unfold least_term. destruct (0 <=? d)%Z eqn:Ed, (Rle_dec 0 w) as [Pw|Pw].
  - rewrite mult_IZR, <- D, <- low_end_scaled. ring.
  - apply Z.leb_le, IZR_le in Ed. rewrite <- D in Ed. exfalso. nra.
  - apply Z.leb_gt, IZR_lt in Ed. rewrite <- D in Ed. exfalso. nra.
  - rewrite mult_IZR, <- D, <- high_end_scaled. ring.
Qed.

(** ** Soft trees *)

Lemma into_unit_real : forall a, IZR (into_unit B a) = IZR B * cut_to_unit (IZR a / IZR B).
Proof.
  intros a. unfold into_unit, cut_to_unit. rewrite IZR_max, IZR_min, <- RmaxRmult by lra.
  rewrite Rmult_0_r. f_equal. unfold Rmin. replace (IZR B * 1) with (IZR B) by ring.
  assert (E : IZR B * (IZR a / IZR B) = IZR a) by (field; lra).
  destruct (Rle_dec (IZR B) (IZR a)) as [C|C], (Rle_dec 1 (IZR a / IZR B)) as [C'|C']; try lra.
  - exfalso. apply C'. apply le_div_iff; lra.
  - exfalso. apply C. apply le_div_iff in C'; lra.
Qed.

Lemma cut_to_unit_range : forall a, 0 <= cut_to_unit a <= 1.
Proof.
  intros a. unfold cut_to_unit. split; [apply Rmax_l|]. apply Rmax_lub; [lra|apply Rmin_l].
Qed.

Lemma node_most_ok : forall i f g vf vg, vf <= IZR f -> vg <= IZR g ->
  Rmin ((1 - cut_to_unit (low_end i)) * vf + cut_to_unit (low_end i) * vg)
       ((1 - cut_to_unit (high_end i)) * vf + cut_to_unit (high_end i) * vg)
  <= IZR (node_most B (nth i b (0, 0)%Z) f g).
Proof.
  intros i f g vf vg Hf Hg. unfold node_most. set (e := if (g <? f)%Z then _ else _).
  assert (K : forall s, 0 <= s <= 1 -> IZR (into_unit B e) = IZR B * s ->
    (1 - s) * vf + s * vg <= IZR (ceil_div ((B - into_unit B e) * f + into_unit B e * g) B)).
  { intros s S E. apply ceil_div_above; [exact HB|]. rewrite plus_IZR, !mult_IZR, minus_IZR, E.
    assert (M : (1 - s) * vf + s * vg <= (1 - s) * IZR f + s * IZR g) by nra.
    apply (Rmult_le_compat_l (IZR B)) in M; lra. }
  cbv zeta. unfold e in *. destruct (g <? f)%Z.
  - eapply Rle_trans; [apply Rmin_r|]. apply K; [apply cut_to_unit_range|apply into_unit_real].
  - eapply Rle_trans; [apply Rmin_l|]. apply K; [apply cut_to_unit_range|apply into_unit_real].
Qed.

Lemma scaled_min_of : forall k a d, 0 <= k -> k * Rmin a d = Rmin (k * a) (k * d).
Proof. intros k a d H. unfold Rmin. destruct (Rle_dec a d), (Rle_dec (k * a) (k * d)); nra. Qed.

Lemma tree_most_ok : forall r absent present nodes child x,
  tree_bound b (node_most B) absent present (leaf_difference h B p r) nodes child = Some x ->
  IZR B * W * least_value h c r low_end high_end absent present nodes child <= IZR x.
Proof.
  assert (leaf : forall r i, IZR B * W * (weight_of h p i - weight_of h r i) = IZR (leaf_difference h B p r i)).
  { intros r i. unfold leaf_difference. rewrite mult_IZR, minus_IZR, <- !weight_scaled. ring. }
  intros r absent present. induction nodes as [|nodes IH]; intros child x E; cbn [tree_bound least_value] in *;
    destruct (child <? 0)%Z;
    try (injection E as <-; right; apply leaf); [discriminate|]. set (i := Z.to_nat child) in *.
  destruct (nth_error b i) as [e|] eqn:N; [|discriminate].
  destruct (tree_bound _ _ _ _ _ _ (nth i absent 0%Z)) as [f|] eqn:F; [|discriminate].
  destruct (tree_bound _ _ _ _ _ _ (nth i present 0%Z)) as [g|] eqn:G; [|discriminate]. injection E as <-.
  apply IH in F, G. apply (nth_error_nth _ _ (0, 0)%Z) in N. rewrite <- N.
  eapply Rle_trans; [|apply node_most_ok; [exact F|exact G]].
  right. rewrite scaled_min_of by (left; apply Rmult_lt_0_compat; assumption). f_equal; ring.
Qed.

(** ** The readout maximum *)

Lemma member_term_real : forall j,
  IZR (member_term h B fst (bias h) b j) = IZR B * (W * (low_end j + bias_of h j)) /\
  IZR (member_term h B snd (bias h) b j) = IZR B * (W * (high_end j + bias_of h j)).
Proof.
  intros j. unfold member_term. rewrite !plus_IZR, !mult_IZR. fold (bias_number h j).
  rewrite <- low_end_scaled, <- high_end_scaled, <- bias_scaled. split; ring.
Qed.

Lemma maximum_most_ok : forall r x, head_readout h = Maximum -> length b = count h -> maximum_least h B b p r = Some x ->
  IZR B * (W * margin_at h c r low_end high_end) <= IZR x.
Proof.
  intros r x R L E. unfold margin_at. rewrite R. fold p. unfold maximum_least in E.
  destruct (greatest (member_terms _ _ fst _ _ _)) as [low|] eqn:E1; [|discriminate].
  destruct (greatest (member_terms _ _ snd _ _ _)) as [high|] eqn:E2; [|discriminate]. injection E as <-.
  apply greatest_ok in E1 as [I1 M1], E2 as [I2 _].
  apply member_terms_are in I1 as [i [Hi [Ni _]]], I2 as [k [Hk [Nk ->]]]. rewrite L in *.
  assert (A : high_end k + bias_of h k <= rgreatest (map (fun j => high_end j + bias_of h j) (members h r))).
  { apply rgreatest_ge. apply (in_map (fun j => high_end j + bias_of h j)), members_are. auto. }
  assert (C : In (rgreatest (map (fun j => low_end j + bias_of h j) (members h p)))
                 (map (fun j => low_end j + bias_of h j) (members h p))).
  { apply rgreatest_in. intros N. apply map_eq_nil in N.
    assert (I : In i (members h p)) by (apply members_are; auto). rewrite N in I. destruct I. }
  apply in_map_iff in C as [j [Ej Ij]]. apply members_are in Ij as [Hj Nj]. rewrite <- Ej.
  assert (U : (member_term h B fst (bias h) b j <= low)%Z)
    by (apply M1, member_terms_are; exists j; rewrite L; auto).
  apply IZR_le in U. rewrite (proj1 (member_term_real j)) in U. rewrite minus_IZR, (proj2 (member_term_real k)).
  rewrite !Rmult_minus_distr_l. assert (IZR B * (W * (high_end k + bias_of h k)) <=
    IZR B * (W * rgreatest (map (fun j => high_end j + bias_of h j) (members h r)))); [|lra].
  apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra.
Qed.

Theorem margin_most_ok : forall r x, margin_most h B b p r = Some x -> (x <= 0)%Z ->
  margin_at h c r low_end high_end <= 0.
Proof.
  intros r x E X. apply IZR_le in X. assert (K : IZR B * W * margin_at h c r low_end high_end <= IZR x).
  { unfold margin_most in E. destruct (head_readout h) as [|absent present|] eqn:R.
    - destruct (Nat.eqb (length b) (count h)) eqn:L; [|discriminate]. apply Nat.eqb_eq in L.
      assert (H := linear_most_ok r x R L E). lra.
    - unfold margin_at. rewrite R. exact (tree_most_ok r absent present (count h) 0%Z x E).
    - destruct (Nat.eqb (length b) (count h)) eqn:L; [|discriminate]. apply Nat.eqb_eq in L.
      assert (H := maximum_most_ok r x R L E). lra. }
  apply (Rmult_le_reg_l (IZR B * W)); [apply Rmult_lt_0_compat; assumption|]. lra.
Qed.
End Sound.
