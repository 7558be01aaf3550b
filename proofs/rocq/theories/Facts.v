(** What is known of a patch, as facts for the rule: its statements, then the box, then the ball, where there are any.

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
Variables F fu : Z.
Let D := depth h.

(** The statement that the observable is in [lo, hi], about the prototype of which [m] is the measure. *)
Definition stated_fact (m : measure) (lo hi : Z) : fact :=
  let c := constant h F (square m) in
  let x := (- (slope h * fu))%Z in
  let '(a, b) := if (0 <? slope h)%Z then (lo, hi) else (hi, lo) in
  Fact (curvature h) (Some (c + times_up h m (x * a)))%Z (Some (c + times_down h m (x * b)))%Z.

Lemma value_plus : forall y a v c c', value D F y a v (c + c') = value D F y a v c + IZR c'.
Proof. intros. unfold value. rewrite plus_IZR. ring. Qed.

Lemma size_nonneg : forall j m, measure_ok h j m -> 0 < size h j.
Proof.
  intros j m (_ & _ & P & N & _). assert (R := root_unit_positive h).
  apply (Rmult_lt_reg_l (IZR (root_unit h))); lra.
Qed.

Lemma stated_fact_ok : forall u v j m lo hi, spatial h = true -> (0 < fu)%Z -> F = (Zpos u * fu)%Z ->
  patch_in_domain h v -> measure_ok h j m -> q lo u <= observable h v j <= q hi u ->
  fact_ok D F (embedded h v) (stated_fact m lo hi) (vector (points h j)).
Proof.
  intros u v j m lo hi HS Hfu HF HV HM [H1 H2]. assert (P := size_nonneg j m HM).
  assert (V := value_of_observable h HS F v j (square m) HV P (proj1 HM)).
  apply (Rmult_le_compat_l (IZR (Zpos u))) in H1, H2; try (left; apply unit_positive). rewrite q_times_unit in H1, H2.
  set (o := observable h v j) in *. set (s := size h j) in *. apply IZR_pos in Hfu.
  assert (E : IZR F * IZR (slope h) * (s * o) = IZR (slope h * fu) * (IZR (Zpos u) * o) * s).
  { rewrite HF, !mult_IZR. ring. }
  rewrite E in V. clear E. fold D in V. unfold fact_ok, stated_fact.
  destruct (0 <? slope h)%Z eqn:K; cbn [low high curve]; rewrite !value_plus, V.
  - apply Z.ltb_lt, IZR_pos in K. assert (X : 0 <= IZR (slope h * fu)) by (rewrite mult_IZR; apply Rmult_le_pos; lra).
    assert (L := times_up_ok h j m (- (slope h * fu) * lo) HM).
    assert (U := times_down_ok h j m (- (slope h * fu) * hi) HM). fold s in L, U. rewrite mult_IZR, opp_IZR in L, U.
    assert (A := Rmult_le_compat_l _ _ _ X H1). assert (B := Rmult_le_compat_l _ _ _ X H2).
    apply (Rmult_le_compat_r s) in A, B; [|lra|lra]. lra.
  - apply Z.ltb_ge, IZR_le in K.
    assert (X : 0 <= IZR (- (slope h * fu))) by (rewrite opp_IZR, mult_IZR, Ropp_mult_distr_l; apply Rmult_le_pos; lra).
    assert (L := times_up_ok h j m (- (slope h * fu) * hi) HM).
    assert (U := times_down_ok h j m (- (slope h * fu) * lo) HM). fold s in L, U. rewrite mult_IZR in L, U.
    assert (A := Rmult_le_compat_l _ _ _ X H1). assert (B := Rmult_le_compat_l _ _ _ X H2).
    apply (Rmult_le_compat_r s) in A, B; [|lra|lra]. rewrite opp_IZR in *. lra.
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
Fixpoint stated_at (l : nat) (ss : list statement) : list (nat * (Z * Z)) :=
  match ss with
  | AboutPatch k j lo hi :: ss' => if Nat.eqb k l then (j, (lo, hi)) :: stated_at l ss' else stated_at l ss'
  | _ :: ss' => stated_at l ss'
  | nil => nil
  end.

Lemma stated_at_in : forall l ss j lo hi, In (j, (lo, hi)) (stated_at l ss) -> In (AboutPatch l j lo hi) ss.
Proof.
  induction ss as [|s ss IH]; intros j lo hi H; [exact H|]. cbn [stated_at] in H.
  destruct s as [k i a b| |]; [|right; auto|right; auto].
  destruct (Nat.eqb k l) eqn:E; [|right; auto]. apply Nat.eqb_eq in E. subst k.
  destruct H as [H|H]; [injection H as -> -> ->; left; reflexivity|right; auto].
Qed.
