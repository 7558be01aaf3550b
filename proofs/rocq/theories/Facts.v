(** What is known of a patch, as facts for the rule: its statements, then the box, then the ball, where there are any.
    Where an end of a statement is missing, the domain's own range gives one, if it has it.

    The factor F of the rule is a common multiple of the unit of the statements and of that of the claimed ends, so that
    all constants are integers. Weights of a hint refer to the facts in this order. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Quadratic Embedding.
Import ListNotations.
Open Scope R_scope.

(** * Units *)

(** F, F / u, F / T *)
Definition common (u T : Z) : Z * Z * Z :=
  let k := (T / u)%Z in
  if (T =? u * k)%Z then (T, k, 1%Z) else
  let k := (u / T)%Z in
  if (u =? T * k)%Z then (u, 1%Z, k) else ((u * T)%Z, T, u).

Lemma common_ok : forall u T F fu ft, (0 < u)%Z -> (0 < T)%Z -> common u T = (F, fu, ft) ->
  (F = u * fu /\ F = T * ft /\ 0 < fu /\ 0 < ft)%Z.
Proof.
  intros u T F fu ft Hu HT H. unfold common in H. cbv zeta in H.
  destruct (T =? u * (T / u))%Z eqn:E1; [|destruct (u =? T * (u / T))%Z eqn:E2]; injection H as <- <- <-.
  - apply Z.eqb_eq in E1. nia.
  - apply Z.eqb_eq in E2. nia.
  - lia.
Qed.

(** The ends of a statement over F, and those of the domain where it has none. *)
Definition with_domain (fu ft : Z) (e : option Z * option Z) (own : ends) : ends :=
  let either stated given :=
    match stated with Some a => Some (fu * a)%Z | None => option_map (Z.mul ft) given end in
  (either (fst e) (fst own), either (snd e) (snd own)).

Lemma with_domain_ok : forall u T F fu ft lo hi own x, (0 < fu)%Z -> (0 < ft)%Z -> F = (Zpos u * fu)%Z ->
  F = (T * ft)%Z -> between u lo hi x -> within T own x -> within F (with_domain fu ft (lo, hi) own) x.
Proof.
  intros u T F fu ft lo hi own x Hfu Hft F1 F2 [L H] [OL OH]. apply IZR_pos in Hfu, Hft.
  assert (Q := fun a => q_times_unit a u). assert (P := unit_positive u).
  split; cbn [with_domain fst snd].
  - destruct lo as [a|]; cbn [above].
    + apply (Rmult_le_compat_l (IZR (Zpos u))) in L; [|lra]. rewrite Q in L. rewrite F1, !mult_IZR.
      apply (Rmult_le_compat_l (IZR fu)) in L; lra.
    + destruct (fst own) as [a|]; [|exact I]. cbn [option_map above] in *. rewrite F2, !mult_IZR.
      apply (Rmult_le_compat_l (IZR ft)) in OL; lra.
  - destruct hi as [b|]; cbn [below].
    + apply (Rmult_le_compat_l (IZR (Zpos u))) in H; [|lra]. rewrite Q in H. rewrite F1, !mult_IZR.
      apply (Rmult_le_compat_l (IZR fu)) in H; lra.
    + destruct (snd own) as [b|]; [|exact I]. cbn [option_map below] in *. rewrite F2, !mult_IZR.
      apply (Rmult_le_compat_l (IZR ft)) in OH; lra.
Qed.

(** * Sizes, rounded *)

Section Sizes.
Variable h : head.

(** An integer at most x times the size of [m], and one at least. *)
Definition times_down (m : measure) (x : Z) : Z :=
  floor_div (x * (if (0 <=? x)%Z then near m else far m)) (root_unit h).
Definition times_up (m : measure) (x : Z) : Z := (- times_down m (- x))%Z.

(** An integer at most r, if x <= d size r. *)
Definition over_down (m : measure) (x d : Z) : Z :=
  floor_div (x * root_unit h) (d * (if (0 <=? x)%Z then far m else near m)).

Lemma root_unit_above_0 : (0 < root_unit h)%Z.
Proof. apply lt_IZR, root_unit_positive. Qed.

Lemma times_down_ok : forall j m x, measure_ok h j m -> IZR (times_down m x) <= IZR x * size h j.
Proof.
  intros j m x (_ & _ & _ & N & U). apply floor_div_below; [apply root_unit_above_0|]. rewrite mult_IZR.
  replace (IZR (root_unit h) * (IZR x * size h j)) with (IZR x * (IZR (root_unit h) * size h j)) by ring.
  destruct (0 <=? x)%Z eqn:E.
  - apply Z.leb_le, IZR_le in E. apply Rmult_le_compat_l; assumption.
  - apply Z.leb_gt, IZR_lt in E. apply Rmult_le_compat_neg_l; lra.
Qed.

Lemma times_up_ok : forall j m x, measure_ok h j m -> IZR x * size h j <= IZR (times_up m x).
Proof.
  intros j m x H. unfold times_up. rewrite opp_IZR. assert (E := times_down_ok j m (- x) H). rewrite opp_IZR in E. lra.
Qed.

Lemma over_down_ok : forall j m x d r, measure_ok h j m -> (0 < d)%Z ->
  IZR x <= IZR d * (size h j * r) -> IZR (over_down m x d) <= r.
Proof.
  intros j m x d r (_ & _ & P & N & U) Hd H. set (k := IZR (root_unit h) * size h j) in *.
  assert (K : IZR x * IZR (root_unit h) <= IZR d * k * r).
  { assert (R := root_unit_positive h). apply (Rmult_le_compat_r (IZR (root_unit h))) in H; [|lra]. unfold k. lra. }
  assert (HF : (0 < far m)%Z) by (apply lt_IZR; lra). assert (HN : (0 < near m)%Z) by (apply lt_IZR; lra).
  apply IZR_pos in Hd as Hd'. assert (R := root_unit_positive h).
  unfold over_down.
  destruct (0 <=? x)%Z eqn:E; (apply floor_div_below; [apply Z.mul_pos_pos; assumption|]; rewrite !mult_IZR).
  - apply Z.leb_le, IZR_le in E. assert (0 <= IZR x * IZR (root_unit h)) by (apply Rmult_le_pos; lra).
    assert (0 < IZR d * k) by (apply Rmult_lt_0_compat; lra).
    assert (0 <= r) by (apply (Rmult_le_reg_l (IZR d * k)); lra).
    eapply Rle_trans; [exact K|]. apply Rmult_le_compat_r; [assumption|]. apply Rmult_le_compat_l; lra.
  - apply Z.leb_gt, IZR_lt in E.
    assert (0 <= - (IZR x * IZR (root_unit h))) by (rewrite Ropp_mult_distr_l; apply Rmult_le_pos; lra).
    destruct (Rle_dec 0 r) as [Hr|Hr].
    + assert (0 <= IZR d * IZR (near m) * r) by (apply Rmult_le_pos; [apply Rmult_le_pos|]; lra). lra.
    + eapply Rle_trans; [exact K|]. rewrite !(Rmult_comm _ r). apply Rmult_le_compat_neg_l; [lra|].
      apply Rmult_le_compat_l; lra.
Qed.
End Sizes.

(** * Statements as facts *)

Section Facts.
Variable h : head.
Variable F : Z.
Let D := depth h.

(** That the observable is between these ends over [F], about the prototype of which [m] is the measure. *)
Definition stated_fact (m : measure) (e : ends) : fact :=
  let c := constant h F (square m) in
  let '(a, b) := if (0 <? slope h)%Z then e else (snd e, fst e) in
  Fact (curvature h)
    (option_map (fun a => c + times_up h m (- slope h * a)) a)%Z
    (option_map (fun b => c + times_down h m (- slope h * b)) b)%Z.

Lemma value_plus : forall y a v c c', value D F y a v (c + c') = value D F y a v c + IZR c'.
Proof. intros. unfold value. rewrite plus_IZR. ring. Qed.

Lemma size_nonneg : forall j m, measure_ok h j m -> 0 < size h j.
Proof.
  intros j m (_ & _ & P & N & _). assert (R := root_unit_positive h).
  apply (Rmult_lt_reg_l (IZR (root_unit h))); lra.
Qed.

Lemma stated_fact_ok : forall v j m e, spatial h = true -> patch_in_domain h v -> measure_ok h j m ->
  within F e (observable h v j) -> fact_ok D F (embedded h v) (stated_fact m e) (vector (points h j)).
Proof.
  intros v j m [lo hi] HS HV HM [H1 H2]. cbn [fst snd] in H1, H2. assert (P := size_nonneg j m HM).
  assert (V := value_of_observable h HS F v j (square m) HV P (proj1 HM)).
  set (o := observable h v j) in *. set (s := size h j) in *.
  replace (IZR F * IZR (slope h) * (s * o)) with (IZR (slope h) * s * (IZR F * o)) in V by ring. fold D in V.
  assert (up := fun x => times_up_ok h j m (- slope h * x) HM).
  assert (down := fun x => times_down_ok h j m (- slope h * x) HM). fold s in up, down.
  unfold fact_ok, stated_fact. destruct (0 <? slope h)%Z eqn:K; cbn [low high curve fst snd]; split.
  1, 2: apply Z.ltb_lt, IZR_pos in K; assert (X : 0 <= IZR (slope h) * s) by (apply Rmult_le_pos; lra).
  3, 4: apply Z.ltb_ge, IZR_le in K; assert (X : 0 <= - IZR (slope h) * s) by (apply Rmult_le_pos; lra).
  1, 4: destruct lo as [a|]; [|exact I]; specialize (up a); specialize (down a).
  3, 4: destruct hi as [b|]; [|exact I]; specialize (up b); specialize (down b).
  all: cbn [option_map above below] in *; rewrite value_plus, V; rewrite mult_IZR, opp_IZR in up, down.
  all: first [apply (Rmult_le_compat_l _ _ _ X) in H1; lra | apply (Rmult_le_compat_l _ _ _ X) in H2; lra].
Qed.

(** * Facts of the domain *)

(** Each with the number that is every coordinate of its vector. *)
Definition domain_facts : list (Z * fact) :=
  match edges h with
  | Some (a, b) => [((a + b)%Z, Fact 2 None (Some (2 * F * Z.of_nat (depth h) * a * b)%Z))]
  | None => nil
  end ++
  match ball h with
  | Some r =>
      [(0%Z, Fact (Zpos (denominator r) * Zpos (denominator r)) None
        (Some (- (F * (unit_of h * unit_of h) * (numerator r * numerator r)))%Z))]
  | None => nil
  end.

Definition domain_fact_ok (v : nat -> R) (e : Z * fact) : Prop :=
  fact_ok D F (embedded h v) (snd e) (fun _ => IZR (fst e)).

Lemma inner_constant : forall v k, inner D v (fun _ => k) = k * rsum D v.
Proof. intros. unfold inner. rewrite <- rsum_scal. apply rsum_ext. intros. ring. Qed.

(** (y_d - a) (y_d - b) <= 0 in each coordinate, summed up. *)
Lemma box_as_ball : forall y a b, (forall d, (d < D)%nat -> a <= y d <= b) ->
  inner D y y - (a + b) * rsum D y + INR D * (a * b) <= 0.
Proof.
  intros y a b H. unfold inner. rewrite <- rsum_const, <- rsum_scal, <- rsum_minus, <- rsum_plus.
  rewrite <- (rsum_zero D (fun _ => 0)) by reflexivity. apply rsum_le. intros d Hd. specialize (H d Hd).
  replace (y d * y d - (a + b) * y d + a * b) with (- ((y d - a) * (b - y d))) by ring.
  apply Rge_le, Ropp_0_le_ge_contravar. apply Rmult_le_pos; lra.
Qed.

Lemma domain_facts_ok : forall v, spatial h = true -> (0 < F)%Z -> patch_in_domain h v ->
  Forall (domain_fact_ok v) domain_facts.
Proof.
  intros v HS HF HV. apply IZR_pos in HF. apply Forall_app. split.
  - destruct (edges h) as [[a b]|] eqn:E; [|constructor]. constructor; [|constructor].
    split; [exact I|]. cbn [fst snd high curve]. unfold value.
    assert (B := box_as_ball (embedded h v) (IZR a) (IZR b) (fun d Hd => embedded_in_box h v a b d HV E Hd)).
    rewrite inner_constant, plus_IZR, !mult_IZR, <- INR_IZR_INZ. fold D.
    apply (Rmult_le_compat_l (2 * IZR F)) in B; [|lra]. lra.
  - destruct (ball h) as [r|] eqn:E; [|constructor]. constructor; [|constructor].
    split; [exact I|]. cbn [fst snd high curve]. unfold value.
    assert (B := embedded_in_ball h HS v r HV E). fold D in B. rewrite inner_constant, opp_IZR, !mult_IZR.
    set (d := IZR (Zpos (denominator r))) in *. set (y := embedded h v) in *. set (s := IZR (unit_of h)) in *.
    assert (Hd : 0 < d) by apply unit_positive. unfold real, q in B. fold d in B.
    assert (B' : d * d * inner D y y <= s * s * (IZR (numerator r) * IZR (numerator r))).
    { replace (s * s * (IZR (numerator r) * IZR (numerator r))) with
        (d * d * (s * s * (IZR (numerator r) / d * (IZR (numerator r) / d)))) by (field; lra).
      apply Rmult_le_compat_l; [apply Rle_0_sqr|exact B]. }
    apply (Rmult_le_compat_l (IZR F)) in B'; [|lra]. lra.
Qed.
End Facts.

(** * The statements about one patch *)

(** Prototype and ends of each. *)
Fixpoint stated_at (l : nat) (ss : list statement) : list (nat * (option Z * option Z)) :=
  match ss with
  | AboutPatch k j lo hi :: ss' => if Nat.eqb k l then (j, (lo, hi)) :: stated_at l ss' else stated_at l ss'
  | _ :: ss' => stated_at l ss'
  | nil => nil
  end.

Lemma stated_at_in : forall l ss j lo hi, In (j, (lo, hi)) (stated_at l ss) -> In (AboutPatch l j lo hi) ss.
Proof.
  induction ss as [|s ss IH]; intros j lo hi H; [exact H|]. cbn [stated_at] in H.
  destruct s as [k i a b| | |]; [|right; auto..].
  destruct (Nat.eqb k l) eqn:E; [|right; auto]. apply Nat.eqb_eq in E. subst k.
  destruct H as [H|H]; [injection H as -> -> ->; left; reflexivity|right; auto].
Qed.
