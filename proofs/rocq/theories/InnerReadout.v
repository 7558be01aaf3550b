(** The margin of v1.md at the two ends of a box, bounded from above: exact, but for soft trees, which round up. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Sums Grid Boxes LinearReadout TreeReadout MaximumReadout SumStatements.
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

(** An upper bound of what a sum proves, over the same *)
Definition most_by_sum (u : positive) (own : list bool) (upper : Z) (winner loser : nat) : Z :=
  least_of h true own b winner loser + ceil_div (- (upper * B * unit_of_weights h)) (Zpos u) +
  B * (bias_number h winner - bias_number h loser).

(** Whether no sum proves the margin *)
Definition no_sum_proves (c : certificate) (own : option (list bool)) (loser : nat) : bool :=
  forallb (fun s =>
    match s, own with
    | AboutSum rivals upper, Some own =>
        negb (lists rivals loser) || (most_by_sum (statement_unit c) own upper (predicted c) loser <=? 0)
    | AboutSum _ _, None => false
    | _, _ => true
    end) (statements c).
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (c : certificate) (B : Z) (b : box).
Hypothesis HB : (0 < B)%Z.
Local Notation W := (IZR (unit_of_weights h)).
Let RB : 0 < IZR B := IZR_pos B HB.
Let PW : 0 < W := unit_of_weights_positive h.

(** Numbers that are at most the first ends of the box, and at least the second ones *)
Variables lo hi : nat -> R.
Hypothesis low_enough : forall j, (j < length b)%nat -> IZR B * lo j <= IZR (fst (nth j b (0, 0)%Z)).
Hypothesis high_enough : forall j, (j < length b)%nat -> IZR (snd (nth j b (0, 0)%Z)) <= IZR B * hi j.

Let p := predicted c.

Lemma linear_most_ok : forall r x, head_readout h = Linear -> length b = count h -> linear_least h B b p r = Some x ->
  IZR B * W * margin_at h c r lo hi <= IZR x.
Proof.
  intros r x R L E. unfold margin_at. rewrite R. unfold linear_least in E. fold p.
  destruct (_ && _)%bool eqn:G; [|discriminate]. injection E as <-. apply andb_prop in G as [G1 G2].
  apply Nat.eqb_eq in G1, G2. rewrite plus_IZR, mult_IZR, minus_IZR, <- !bias_scaled, least_sum_real by congruence.
  rewrite L, Rmult_plus_distr_l, <- rsum_scal.
  match goal with |- ?u + ?s <= ?t + ?v => assert (s <= t); [|lra] end. apply rsum_le. intros i Hi.
  assert (D : W * (weight_of h p i - weight_of h r i) = IZR (nth i (weights h p) 0%Z - nth i (weights h r) 0%Z)).
  { rewrite minus_IZR, <- !weight_scaled. ring. }
  set (w := weight_of h p i - weight_of h r i) in *. set (d := (nth i (weights h p) 0 - nth i (weights h r) 0)%Z) in *.
  assert (Lo := low_enough i ltac:(lia)). assert (Hi' := high_enough i ltac:(lia)).
  unfold least_term. destruct (0 <=? d)%Z eqn:Ed, (Rle_dec 0 w) as [Pw|Pw].
  - rewrite mult_IZR, <- D. apply (Rmult_le_compat_l (W * w)) in Lo; [lra|]. apply Rmult_le_pos; lra.
  - apply Z.leb_le, IZR_le in Ed. rewrite <- D in Ed. exfalso. nra.
  - apply Z.leb_gt, IZR_lt in Ed. rewrite <- D in Ed. exfalso. nra.
  - rewrite mult_IZR, <- D. apply (Rmult_le_compat_neg_l (W * w)) in Hi'; [lra|nra].
Qed.

(** ** Sums *)

Lemma least_of_most : forall own r, marks_of h p own -> (r < classes h)%nat -> length b = count h ->
  IZR B * W * rsum (count h) (fun j => if belongs h p j then
    if Rle_dec 0 (weight_of h p j - weight_of h r j) then (weight_of h p j - weight_of h r j) * lo j
    else (weight_of h p j - weight_of h r j) * hi j else 0) <= IZR (least_of h true own b p r).
Proof.
  intros own r (Hp & Lm & M & Rows) Hr L. assert (Lp := Rows p Hp). assert (Lr := Rows r Hr). unfold least_of.
  rewrite least_sum_real by (rewrite length_marked; congruence). rewrite L, <- rsum_scal. apply rsum_le. intros i Hi.
  rewrite !nth_marked by congruence. rewrite M by exact Hi. destruct (belongs h p i); cbn [Bool.eqb].
  - assert (D : W * (weight_of h p i - weight_of h r i) = IZR (nth i (weights h p) 0%Z - nth i (weights h r) 0%Z)).
    { rewrite minus_IZR, <- !weight_scaled. ring. }
    set (w := weight_of h p i - weight_of h r i) in *. set (d := (nth i (weights h p) 0 - nth i (weights h r) 0)%Z) in *.
    assert (Lo := low_enough i ltac:(lia)). assert (Hi' := high_enough i ltac:(lia)).
    unfold least_term. destruct (0 <=? d)%Z eqn:Ed, (Rle_dec 0 w) as [Pw|Pw].
    + rewrite mult_IZR, <- D. apply (Rmult_le_compat_l (W * w)) in Lo; [lra|]. apply Rmult_le_pos; lra.
    + apply Z.leb_le, IZR_le in Ed. rewrite <- D in Ed. exfalso. nra.
    + apply Z.leb_gt, IZR_lt in Ed. rewrite <- D in Ed. exfalso. nra.
    + rewrite mult_IZR, <- D. apply (Rmult_le_compat_neg_l (W * w)) in Hi'; [lra|nra].
  - unfold least_term. cbn. lra.
Qed.

Theorem no_sum_proves_ok : forall r, (r < classes h)%nat -> length b = count h ->
  no_sum_proves h B b c (own_prototypes h p) r = true ->
  forall rivals upper, In (AboutSum rivals upper) (statements c) -> lists rivals r = true ->
  margin_by_sum h c r lo hi (q upper (statement_unit c)) <= 0.
Proof.
  intros r Hr L E rivals upper I A. unfold no_sum_proves in E. rewrite forallb_forall in E. specialize (E _ I).
  cbn beta iota in E. destruct (own_prototypes h p) as [own|] eqn:O; [|discriminate]. rewrite A in E. cbn [negb orb] in E.
  apply Z.leb_le, IZR_le in E. unfold most_by_sum in E. fold p in E.
  rewrite !plus_IZR, mult_IZR, minus_IZR, <- !bias_scaled in E. apply own_prototypes_ok in O.
  assert (K := least_of_most own r O Hr L). set (u := statement_unit c) in *. assert (U := Zpos_pos u).
  assert (C := le_ceil_div (- (upper * B * unit_of_weights h)) (Zpos u) eq_refl).
  rewrite opp_IZR, !mult_IZR in C. unfold margin_by_sum. fold p.
  apply (Rmult_le_reg_l (IZR B * W)); [apply Rmult_lt_0_compat; assumption|].
  assert (Q : IZR B * W * q upper u = - (- (IZR upper * IZR B * W) / IZR (Zpos u))) by (unfold q; field; lra).
  rewrite Rmult_minus_distr_l, Rmult_plus_distr_l, Q. lra.
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

Lemma cut_to_unit_rises : forall a a', a <= a' -> cut_to_unit a <= cut_to_unit a'.
Proof.
  intros a a' H. unfold cut_to_unit. apply Rmax_lub; [apply Rmax_l|]. eapply Rle_trans; [|apply Rmax_r].
  apply Rmin_glb; [apply Rmin_l|]. eapply Rle_trans; [apply Rmin_r|exact H].
Qed.

Lemma node_most_ok : forall i f g vf vg, (i < length b)%nat -> vf <= IZR f -> vg <= IZR g ->
  Rmin ((1 - cut_to_unit (lo i)) * vf + cut_to_unit (lo i) * vg)
       ((1 - cut_to_unit (hi i)) * vf + cut_to_unit (hi i) * vg)
  <= IZR (node_most B (nth i b (0, 0)%Z) f g).
Proof.
  intros i f g vf vg Hi Hf Hg. unfold node_most. assert (Lo := low_enough i Hi). assert (Up := high_enough i Hi).
  set (e := if (g <? f)%Z then _ else _).
  (* at [s] the node is at most what it is at the end [e] *)
  assert (K : forall s, 0 <= s <= 1 ->
    (1 - s) * IZR f + s * IZR g <= (1 - cut_to_unit (IZR e / IZR B)) * IZR f + cut_to_unit (IZR e / IZR B) * IZR g ->
    (1 - s) * vf + s * vg <= IZR (ceil_div ((B - into_unit B e) * f + into_unit B e * g) B)).
  { intros s S E. apply ceil_div_above; [exact HB|]. rewrite plus_IZR, !mult_IZR, minus_IZR, into_unit_real.
    set (t := cut_to_unit (IZR e / IZR B)) in *.
    assert (M : (1 - s) * vf + s * vg <= (1 - t) * IZR f + t * IZR g).
    { eapply Rle_trans; [|exact E]. apply Rplus_le_compat; apply Rmult_le_compat_l; lra. }
    apply (Rmult_le_compat_l (IZR B)) in M; lra. }
  cbv zeta. unfold e in *. destruct (g <? f)%Z eqn:C.
  - apply Z.ltb_lt, IZR_lt in C. eapply Rle_trans; [apply Rmin_r|]. apply K; [apply cut_to_unit_range|].
    assert (M : cut_to_unit (IZR (snd (nth i b (0, 0)%Z)) / IZR B) <= cut_to_unit (hi i)).
    { apply cut_to_unit_rises, div_le_iff; lra. }
    nra.
  - apply Z.ltb_ge, IZR_le in C. eapply Rle_trans; [apply Rmin_l|]. apply K; [apply cut_to_unit_range|].
    assert (M : cut_to_unit (lo i) <= cut_to_unit (IZR (fst (nth i b (0, 0)%Z)) / IZR B)).
    { apply cut_to_unit_rises, le_div_iff; lra. }
    nra.
Qed.

Lemma scaled_min_of : forall k a d, 0 <= k -> k * Rmin a d = Rmin (k * a) (k * d).
Proof. intros k a d H. unfold Rmin. destruct (Rle_dec a d), (Rle_dec (k * a) (k * d)); nra. Qed.

Lemma tree_most_ok : forall r absent present nodes child x,
  tree_bound b (node_most B) absent present (leaf_difference h B p r) nodes child = Some x ->
  IZR B * W * least_value h c r lo hi absent present nodes child <= IZR x.
Proof.
  assert (leaf : forall r i, IZR B * W * (weight_of h p i - weight_of h r i) = IZR (leaf_difference h B p r i)).
  { intros r i. unfold leaf_difference. rewrite mult_IZR, minus_IZR, <- !weight_scaled. ring. }
  intros r absent present. induction nodes as [|nodes IH]; intros child x E; cbn [tree_bound least_value] in *;
    destruct (child <? 0)%Z;
    try (injection E as <-; right; apply leaf); [discriminate|]. set (i := Z.to_nat child) in *.
  destruct (nth_error b i) as [e|] eqn:N; [|discriminate].
  destruct (tree_bound _ _ _ _ _ _ (nth i absent 0%Z)) as [f|] eqn:F; [|discriminate].
  destruct (tree_bound _ _ _ _ _ _ (nth i present 0%Z)) as [g|] eqn:G; [|discriminate]. injection E as <-.
  assert (Hi : (i < length b)%nat) by (apply nth_error_Some; rewrite N; discriminate).
  apply IH in F, G. apply (nth_error_nth _ _ (0, 0)%Z) in N. rewrite <- N.
  eapply Rle_trans; [|apply node_most_ok; [exact Hi|exact F|exact G]].
  right. rewrite scaled_min_of by (left; apply Rmult_lt_0_compat; assumption). f_equal; ring.
Qed.

(** ** The readout maximum *)

Lemma member_term_bounds : forall j, (j < length b)%nat ->
  IZR B * (W * (lo j + bias_of h j)) <= IZR (member_term h B fst (bias h) b j) /\
  IZR (member_term h B snd (bias h) b j) <= IZR B * (W * (hi j + bias_of h j)).
Proof.
  intros j Hj. unfold member_term. rewrite !plus_IZR, !mult_IZR. fold (bias_number h j). rewrite <- bias_scaled.
  assert (Lo := low_enough j Hj). assert (Hi := high_enough j Hj).
  apply (Rmult_le_compat_r W) in Lo, Hi; try lra.
Qed.

Lemma maximum_most_ok : forall r x,
  head_readout h = Maximum -> length b = count h -> maximum_least h B b p r = Some x ->
  IZR B * W * margin_at h c r lo hi <= IZR x.
Proof.
  intros r x R L E. unfold margin_at. rewrite R. fold p. unfold maximum_least in E.
  destruct (greatest (member_terms _ _ fst _ _ _)) as [low|] eqn:E1; [|discriminate].
  destruct (greatest (member_terms _ _ snd _ _ _)) as [high|] eqn:E2; [|discriminate]. injection E as <-.
  apply greatest_ok in E1 as [I1 M1], E2 as [I2 _].
  apply member_terms_are in I1 as [i [Hi [Ni _]]], I2 as [k [Hk [Nk ->]]].
  assert (A : hi k + bias_of h k <= rgreatest (map (fun j => hi j + bias_of h j) (members h r))).
  { apply rgreatest_ge. apply (in_map (fun j => hi j + bias_of h j)), members_are. rewrite <- L. auto. }
  assert (C : In (rgreatest (map (fun j => lo j + bias_of h j) (members h p)))
                 (map (fun j => lo j + bias_of h j) (members h p))).
  { apply rgreatest_in. intros N. apply map_eq_nil in N.
    assert (I : In i (members h p)) by (apply members_are; rewrite <- L; auto). rewrite N in I. destruct I. }
  apply in_map_iff in C as [j [Ej Ij]]. apply members_are in Ij as [Hj Nj]. rewrite <- Ej. rewrite <- L in Hj.
  assert (U : (member_term h B fst (bias h) b j <= low)%Z)
    by (apply M1, member_terms_are; exists j; auto).
  apply IZR_le in U. assert (F := proj1 (member_term_bounds j Hj)). assert (G := proj2 (member_term_bounds k Hk)).
  rewrite minus_IZR. assert (IZR B * (W * (hi k + bias_of h k)) <=
    IZR B * (W * rgreatest (map (fun j => hi j + bias_of h j) (members h r)))).
  { apply Rmult_le_compat_l; [lra|]. apply Rmult_le_compat_l; lra. }
  lra.
Qed.

Theorem margin_most_ok : forall r x, margin_most h B b p r = Some x -> (x <= 0)%Z -> margin_at h c r lo hi <= 0.
Proof.
  intros r x E X. apply IZR_le in X. assert (K : IZR B * W * margin_at h c r lo hi <= IZR x).
  { unfold margin_most in E. destruct (head_readout h) as [|absent present|] eqn:R.
    - destruct (Nat.eqb (length b) (count h)) eqn:L; [|discriminate]. apply Nat.eqb_eq in L.
      exact (linear_most_ok r x R L E).
    - unfold margin_at. rewrite R. exact (tree_most_ok r absent present (count h) 0%Z x E).
    - destruct (Nat.eqb (length b) (count h)) eqn:L; [|discriminate]. apply Nat.eqb_eq in L.
      exact (maximum_most_ok r x R L E). }
  apply (Rmult_le_reg_l (IZR B * W)); [apply Rmult_lt_0_compat; assumption|]. lra.
Qed.
End Sound.
