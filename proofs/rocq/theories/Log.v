(** Enclosures of the natural logarithm of a rational number.

    ln (n / d) = k ln 2 + ln (j / 32) + ln (32 m / (j e)), where n / d = 2^k (m / e), m / e is at least 1 and less than
    2, and j = 32, ..., 63 is the whole part of 32 m / e. The logarithms of the numbers j / 32 come from a table, and
    the last is 2 atanh t for a t between 0 and 1/64, by the series of atanh. The guess of k and the number of terms
    need not be right: a poor k is refused, and few terms make the enclosure wide.

    The series is summed once, rounded down everywhere, over a unit 2^w that makes divisions shifts of bits; how much
    less than the sum this can be depends on the number of terms alone. *)

From Coq Require Import Reals ZArith List Lia Lra.
From Verale Require Import Grid Slope Monotone.
Import ListNotations.
Open Scope R_scope.

(** * The series over the reals *)

(** t^(2i+1) / (2i+1) + t^(2i+3) / (2i+3) + ..., n terms and then c times the next *)
Fixpoint odd_sum (i n : nat) (c t : R) : R :=
  match n with
  | O => c * (t ^ (2 * i + 1) / INR (2 * i + 1))
  | S k => t ^ (2 * i + 1) / INR (2 * i + 1) + odd_sum (S i) k c t
  end.

(** Its derivative: t^(2i) + t^(2i+2) + ... *)
Fixpoint even_sum (i n : nat) (c t : R) : R :=
  match n with
  | O => c * t ^ (2 * i)
  | S k => t ^ (2 * i) + even_sum (S i) k c t
  end.

(** The same sum by Horner's rule: odd_sum 0 n c t = t * horner 0 n c (t^2) *)
Fixpoint horner (i : Z) (n : nat) (c x : R) : R :=
  match n with
  | O => c / IZR (2 * i + 1)
  | S k => IZR 1 / IZR (2 * i + 1) + x * horner (i + 1) k c x
  end.

Lemma odd_sum_horner : forall n i c t, odd_sum i n c t = t ^ (2 * i + 1) * horner (Z.of_nat i) n c (t * t).
Proof.
  induction n as [|n IH]; intros i c t; cbn [odd_sum horner];
    rewrite INR_IZR_INZ; replace (Z.of_nat (2 * i + 1)) with (2 * Z.of_nat i + 1)%Z by lia.
  - unfold Rdiv. ring.
  - rewrite IH. replace (Z.of_nat (S i)) with (Z.of_nat i + 1)%Z by lia.
    replace (2 * S i + 1)%nat with (S (S (2 * i + 1))) by lia. rewrite <- !tech_pow_Rmult. unfold Rdiv. ring.
Qed.

(** The sum is affine in c. *)
Lemma odd_sum_affine : forall n i c t,
  odd_sum i n c t = odd_sum i n 0 t + c * (t ^ (2 * (i + n) + 1) / INR (2 * (i + n) + 1)).
Proof.
  induction n as [|n IH]; intros i c t; cbn [odd_sum].
  - replace (i + 0)%nat with i by lia. ring.
  - rewrite (IH (S i)). replace (S i + n)%nat with (i + S n)%nat by lia. ring.
Qed.

Lemma odd_sum_0 : forall n i c, odd_sum i n c 0 = 0.
Proof. induction n as [|n IH]; intros i c; cbn [odd_sum]; [|rewrite IH]; rewrite pow_i by lia; unfold Rdiv; ring. Qed.

Lemma odd_power_slope : forall i t, derivable_pt_lim (fun x => x ^ (2 * i + 1) / INR (2 * i + 1)) t (t ^ (2 * i)).
Proof.
  intros i t. assert (N : INR (2 * i + 1) <> 0) by (apply not_0_INR; lia).
  replace (t ^ (2 * i)) with (INR (2 * i + 1) * t ^ pred (2 * i + 1) * / INR (2 * i + 1)).
  - apply derivable_pt_lim_scal_right. apply derivable_pt_lim_pow.
  - replace (pred (2 * i + 1)) with (2 * i)%nat by lia. field. exact N.
Qed.

Lemma odd_sum_slope : forall n i c t, derivable_pt_lim (odd_sum i n c) t (even_sum i n c t).
Proof.
  induction n as [|n IH]; intros i c t; cbn [odd_sum even_sum].
  - apply (derivable_pt_lim_scal (fun x => x ^ (2 * i + 1) / INR (2 * i + 1))). apply odd_power_slope.
  - apply (derivable_pt_lim_plus (fun x => x ^ (2 * i + 1) / INR (2 * i + 1)) (odd_sum (S i) n c)).
    + apply odd_power_slope.
    + apply IH.
Qed.

(** The geometric series *)
Lemma even_sum_closed : forall n i c t,
  (1 - t * t) * even_sum i n c t = t ^ (2 * i) + t ^ (2 * (i + n)) * (c * (1 - t * t) - 1).
Proof.
  induction n as [|n IH]; intros i c t; cbn [even_sum].
  - replace (i + 0)%nat with i by lia. ring.
  - rewrite Rmult_plus_distr_l, IH. replace (S i + n)%nat with (i + S n)%nat by lia.
    replace (2 * S i)%nat with (S (S (2 * i))) by lia. rewrite <- !tech_pow_Rmult. ring.
Qed.

(** 2 atanh t *)
Definition log_ratio_of (t : R) : R := ln (1 + t) - ln (1 - t).

Lemma log_ratio_of_slope : forall t, 0 <= t < 1 -> derivable_pt_lim log_ratio_of t (2 / (1 - t * t)).
Proof.
  intros t Ht. replace (2 / (1 - t * t)) with (/ (1 + t) * (0 + 1) - / (1 - t) * (0 - 1)) by (field; nra).
  apply (derivable_pt_lim_minus (fun x => ln (1 + x)) (fun x => ln (1 - x))).
  - apply (derivable_pt_lim_comp (fun x => 1 + x) ln).
    + apply (derivable_pt_lim_plus (fun _ => 1) id); [apply derivable_pt_lim_const|apply derivable_pt_lim_id].
    + apply derivable_pt_lim_ln. lra.
  - apply (derivable_pt_lim_comp (fun x => 1 - x) ln).
    + apply (derivable_pt_lim_minus (fun _ => 1) id); [apply derivable_pt_lim_const|apply derivable_pt_lim_id].
    + apply derivable_pt_lim_ln. lra.
Qed.

Lemma log_ratio_of_0 : log_ratio_of 0 = 0.
Proof. unfold log_ratio_of. rewrite Rplus_0_r, Rminus_0_r. ring. Qed.

(** One term more than none left over is too little. *)
Lemma series_below : forall n t, 0 <= t <= 1/3 -> 2 * odd_sum 0 n 1 t <= log_ratio_of t.
Proof.
  intros n t Ht.
  apply (stays_below (fun x => 2 * odd_sum 0 n 1 x) _ (fun x => 2 * even_sum 0 n 1 x) (fun x => 2 / (1 - x * x))).
  - lra.
  - rewrite odd_sum_0, log_ratio_of_0. ring.
  - intros x Hx. apply (derivable_pt_lim_scal (odd_sum 0 n 1)). apply odd_sum_slope.
  - intros x Hx. apply log_ratio_of_slope. lra.
  - intros x Hx. assert (0 < 1 - x * x) by nra. apply le_div_iff; [assumption|].
    replace ((1 - x * x) * (2 * even_sum 0 n 1 x)) with (2 * ((1 - x * x) * even_sum 0 n 1 x)) by ring.
    rewrite even_sum_closed. change (x ^ (2 * 0)) with 1. change (0 + n)%nat with n.
    assert (P : 0 <= x ^ (2 * n)) by (apply pow_le; lra). assert (Q : 0 <= x ^ (2 * n) * (x * x)) by nra. nra.
Qed.

(** 9/8 of the next term is too much, as 1 / (1 - t^2) <= 9/8. *)
Lemma series_above : forall n t, 0 <= t <= 1/3 -> log_ratio_of t <= 2 * odd_sum 0 n (9/8) t.
Proof.
  intros n t Ht.
  apply (stays_below _ (fun x => 2 * odd_sum 0 n (9/8) x)
                     (fun x => 2 / (1 - x * x)) (fun x => 2 * even_sum 0 n (9/8) x)).
  - lra.
  - rewrite odd_sum_0, log_ratio_of_0. ring.
  - intros x Hx. apply log_ratio_of_slope. lra.
  - intros x Hx. apply (derivable_pt_lim_scal (odd_sum 0 n (9/8))). apply odd_sum_slope.
  - intros x Hx. assert (8/9 <= 1 - x * x) by nra. apply div_le_iff; [lra|].
    replace ((1 - x * x) * (2 * even_sum 0 n (9/8) x)) with (2 * ((1 - x * x) * even_sum 0 n (9/8) x)) by ring.
    rewrite even_sum_closed. change (x ^ (2 * 0)) with 1. change (0 + n)%nat with n.
    assert (P : 0 <= x ^ (2 * n)) by (apply pow_le; lra).
    assert (Q : 0 <= x ^ (2 * n) * (9/8 * (1 - x * x) - 1)) by (apply Rmult_le_pos; lra). lra.
Qed.

(** The whole series is a finite sum, for a suitable c. *)
Lemma series_exact : forall n t, 0 <= t <= 1/3 ->
  exists c, 1 <= c <= 9/8 /\ log_ratio_of t = 2 * (t * horner 0 n c (t * t)).
Proof.
  intros n t Ht.
  set (next := t ^ (2 * (0 + n) + 1) / INR (2 * (0 + n) + 1)).
  destruct (affine_between (odd_sum 0 n 0 t) next 1 (9/8) (log_ratio_of t / 2)) as [c [Hc E]]; subst next.
  - lra.
  - apply div_nonneg; [apply pow_le; lra|apply lt_0_INR; lia].
  - rewrite <- !odd_sum_affine. assert (L := series_below n t Ht). assert (U := series_above n t Ht). lra.
  - exists c. split; [exact Hc|]. rewrite <- odd_sum_affine, odd_sum_horner in E.
    change (Z.of_nat 0) with 0%Z in E. change (t ^ (2 * 0 + 1)) with (t * 1) in E. lra.
Qed.

(** * The series in integers *)

Lemma floor_div_between : forall a b : Z, (0 < b)%Z ->
  IZR (floor_div a b) <= IZR a / IZR b < IZR (floor_div a b) + 1.
Proof.
  intros a b P. split; [apply floor_div_le; exact P|]. apply IZR_pos in P as RP.
  apply (Rmult_lt_reg_l (IZR b)); [exact RP|]. replace (_ * (_ / _)) with (IZR a) by (field; lra).
  rewrite <- (plus_IZR _ 1), <- mult_IZR. apply IZR_lt. unfold floor_div. assert (M := Z.mul_succ_div_gt a _ P). lia.
Qed.

Lemma shiftr_between : forall w a, (0 <= w)%Z ->
  IZR (Z.shiftr a w) <= IZR a / IZR (2 ^ w) < IZR (Z.shiftr a w) + 1.
Proof.
  intros w a Hw. rewrite Z.shiftr_div_pow2 by exact Hw. apply floor_div_between. apply Z.pow_pos_nonneg; lia.
Qed.

(** 1 / (2i+1), 1 / (2i+3), ..., n of them, in units of 1 / W *)
Fixpoint coefficients (W i : Z) (n : nat) : list Z :=
  match n with O => nil | S k => floor_div W (2 * i + 1) :: coefficients W (i + 1) k end.

(** A polynomial of x by Horner's rule, in units of 1 / 2^w, rounded down *)
Fixpoint polynomial (w x : Z) (l : list Z) : Z :=
  match l with nil => 0 | c :: l' => c + Z.shiftr (x * polynomial w x l') w end%Z.

(** How much less it can be than the series, at numbers up to 1/4096 *)
Fixpoint polynomial_slack (w : Z) (n : nat) : Z :=
  match n with O => 2 * 2 ^ w | S k => 7 + polynomial_slack w k / 4096 end%Z.

Lemma polynomial_slack_nonneg : forall w n, (0 <= polynomial_slack w n)%Z.
Proof.
  intros w n. induction n as [|n IH]; cbn [polynomial_slack]; [assert (P := Z.pow_nonneg 2 w); lia|].
  assert (D := Z.div_pos (polynomial_slack w n) 4096). lia.
Qed.

Lemma horner_small : forall y c, 0 <= y <= 1/4096 -> 1 <= c <= 9/8 -> forall n i, (0 <= i)%Z ->
  0 <= horner i n c y <= 2.
Proof.
  intros y c Hy Hc. induction n as [|n IH]; intros i Hi; cbn [horner];
    assert (I : 1 <= IZR (2 * i + 1)) by (apply IZR_le; lia).
  - split; [apply div_nonneg; lra|apply div_le_iff; lra].
  - destruct (IH (i + 1)%Z ltac:(lia)) as [L U]. assert (0 <= 1 / IZR (2 * i + 1)) by (apply div_nonneg; lra).
    assert (1 / IZR (2 * i + 1) <= 1) by (apply div_le_iff; lra). assert (M := Rmult_le_pos _ _ (proj1 Hy) L).
    assert (y * horner (i + 1) n c y <= 1/4096 * 2) by (apply Rmult_le_compat; lra). lra.
Qed.

(** x / 2^w is less than y by 2 / 2^w at most. One term is rounded down twice, by less than 1 each time; twice the
   inner sum, which is 2 at most, is what x lacks; and a 4096th of what the inner sum lacks is rounded up. *)
Lemma polynomial_ok : forall w x y c, (0 <= w)%Z -> (0 <= x)%Z -> 0 <= y <= 1/4096 ->
  IZR x <= IZR (2 ^ w) * y <= IZR x + 2 -> 1 <= c <= 9/8 -> forall n i, (0 <= i)%Z ->
  let l := polynomial w x (coefficients (2 ^ w) i n) in
  (0 <= l)%Z /\ IZR l <= IZR (2 ^ w) * horner i n c y <= IZR l + IZR (polynomial_slack w n).
Proof.
  intros w x y c Hw Hx Hy XY Hc. assert (P : (0 < 2 ^ w)%Z) by (apply Z.pow_pos_nonneg; lia).
  set (W := (2 ^ w)%Z) in *. apply IZR_pos in P as RW. apply IZR_nonneg in Hx as RX.
  induction n as [|n IH]; intros i Hi; cbn [coefficients polynomial polynomial_slack].
  - split; [lia|]. destruct (horner_small y c Hy Hc 0 i Hi) as [L U]. cbn [horner] in *.
    rewrite mult_IZR. fold W. assert (M := Rmult_le_pos _ _ (Rlt_le _ _ RW) L). split; [exact M|].
    rewrite Rplus_0_l, (Rmult_comm 2). apply Rmult_le_compat_l; lra.
  - destruct (IH (i + 1)%Z ltac:(lia)) as [L0 [L U]]. destruct (horner_small y c Hy Hc n (i + 1) ltac:(lia)) as [H0 H2].
    set (l := polynomial w x _) in *. set (h := horner (i + 1) n c y) in *. cbn [horner]. fold h.
    assert (Q := floor_div_between W (2 * i + 1) ltac:(lia)). assert (S := shiftr_between w (x * l) Hw). fold W in S.
    assert (D := floor_div_between (polynomial_slack w n) 4096 ltac:(lia)). unfold floor_div in D.
    split.
    { assert (0 <= floor_div W (2 * i + 1))%Z by (apply floor_div_nonneg; lia).
      assert (0 <= Z.shiftr (x * l) w)%Z by (apply Z.shiftr_nonneg; apply Z.mul_nonneg_nonneg; assumption). lia. }
    rewrite mult_IZR in S. apply IZR_nonneg in L0 as RL.
    assert (E0 := IZR_nonneg _ (polynomial_slack_nonneg w n)). set (e := IZR (polynomial_slack w n)) in *.
    replace (IZR W * (IZR 1 / IZR (2 * i + 1) + y * h)) with (IZR W / IZR (2 * i + 1) + (IZR W * y) * h)
      by (unfold Rdiv; ring).
    rewrite (plus_IZR (floor_div _ _)), (plus_IZR 7).
    assert (A : IZR x * IZR l / IZR W <= (IZR W * y) * h).
    { apply div_le_iff; [exact RW|]. replace (IZR W * (_ * _ * _)) with ((IZR W * y) * (IZR W * h)) by ring.
      apply Rmult_le_compat; lra. }
    assert (C : IZR x / IZR W <= y) by (apply div_le_iff; lra).
    assert (K : (IZR W * y) * h <= IZR x * IZR l / IZR W + e / 4096 + 4).
    { assert (F : (IZR W * y) * h <= (IZR x + 2) * h) by (apply Rmult_le_compat_r; lra).
      assert (G : IZR x * h <= IZR x * IZR l / IZR W + IZR x / IZR W * e).
      { replace (_ + _) with (IZR x * ((IZR l + e) / IZR W)) by (unfold Rdiv; ring).
        apply Rmult_le_compat_l; [exact RX|]. apply le_div_iff; lra. }
      assert (IZR x / IZR W * e <= 1/4096 * e) by (apply Rmult_le_compat_r; lra). lra. }
    lra.
Qed.

(** 2 atanh (a / b), for 0 <= a / b <= 1/64, over the unit 2^w *)
Definition atanh_ends (w : Z) (l : list Z) (s : Z) (a b : Z) : Z * Z :=
  (let t := floor_div (Z.shiftl a w) b in
   let p := Z.shiftr (2 * t * polynomial w (Z.shiftr (t * t) w) l) w in
   (p, p + s))%Z.

Lemma atanh_ends_ok : forall w n a b, (0 <= w)%Z -> (0 <= a)%Z -> (0 < b)%Z -> (64 * a <= b)%Z ->
  encloses (2 ^ w) (atanh_ends w (coefficients (2 ^ w) 0 n) (6 + polynomial_slack w n / 32) a b)
    (log_ratio_of (IZR a / IZR b)).
Proof.
  intros w n a b Hw Ha Hb Hab. unfold atanh_ends. assert (P : (0 < 2 ^ w)%Z) by (apply Z.pow_pos_nonneg; lia).
  apply IZR_pos in P as RW. apply IZR_pos in Hb as Rb. apply IZR_nonneg in Ha as Ra.
  assert (T := floor_div_between (Z.shiftl a w) b Hb). assert (T0 : (0 <= floor_div (Z.shiftl a w) b)%Z).
  { apply floor_div_nonneg; [apply Z.shiftl_nonneg|]; assumption. }
  set (z := floor_div (Z.shiftl a w) b) in *. rewrite Z.shiftl_mul_pow2, mult_IZR in T by exact Hw.
  assert (X := shiftr_between w (z * z) Hw). assert (X0 : (0 <= Z.shiftr (z * z) w)%Z).
  { apply Z.shiftr_nonneg. apply Z.mul_nonneg_nonneg; assumption. }
  set (x := Z.shiftr (z * z) w) in *. set (W := (2 ^ w)%Z) in *. set (t := IZR a / IZR b) in *.
  replace (IZR a * IZR W / IZR b) with (IZR W * t) in T by (unfold t; field; lra).
  assert (Ht : 0 <= t <= 1/64).
  { split; [apply div_nonneg; lra|]. apply IZR_le in Hab. rewrite mult_IZR in Hab. apply div_le_iff; lra. }
  rewrite mult_IZR in X. apply IZR_nonneg in T0 as Rz.
  assert (Hy : 0 <= t * t <= 1/4096).
  { split; [apply Rmult_le_pos; lra|]. replace (1/4096) with (1/64 * (1/64)) by field. apply Rmult_le_compat; lra. }
  assert (XY : IZR x <= IZR W * (t * t) <= IZR x + 2).
  { assert (IZR z * IZR z / IZR W <= IZR W * (t * t)).
    { apply div_le_iff; [exact RW|]. replace (IZR W * _) with ((IZR W * t) * (IZR W * t)) by ring.
      apply Rmult_le_compat; lra. }
    assert (IZR W * (t * t) <= IZR z * IZR z / IZR W + IZR z / IZR W + t).
    { replace (IZR W * (t * t)) with ((IZR W * t) * t) by ring. apply Rle_trans with ((IZR z + 1) * t).
      - apply Rmult_le_compat_r; lra.
      - replace (_ + IZR z / IZR W) with (IZR z * ((IZR z + 1) / IZR W)) by (field; lra).
        assert (IZR z * t <= IZR z * ((IZR z + 1) / IZR W)); [|lra].
        apply Rmult_le_compat_l; [exact Rz|]. apply le_div_iff; lra. }
    assert (IZR z / IZR W <= t) by (apply div_le_iff; lra). lra. }
  destruct (series_exact n t) as [c [Hc ->]]; [lra|].
  destruct (polynomial_ok w x (t * t) c Hw X0 Hy XY Hc n 0 ltac:(lia)) as [L0 [L U]].
  destruct (horner_small (t * t) c Hy Hc n 0 ltac:(lia)) as [H0 H2]. fold W in L, U.
  set (l := polynomial w x _) in *. set (h := horner 0 n c (t * t)) in *.
  assert (S := shiftr_between w (2 * z * l) Hw). fold W in S. set (p := Z.shiftr _ w) in *.
  rewrite !mult_IZR in S. apply IZR_nonneg in L0 as RL.
  assert (D := floor_div_between (polynomial_slack w n) 32 ltac:(lia)). unfold floor_div in D.
  assert (E0 := IZR_nonneg _ (polynomial_slack_nonneg w n)). set (e := IZR (polynomial_slack w n)) in *.
  split; cbn [fst snd].
  - eapply Rle_trans; [apply S|]. apply div_le_iff; [exact RW|].
    replace (IZR W * (IZR W * (2 * (t * h)))) with (2 * ((IZR W * t) * (IZR W * h))) by ring.
    assert (IZR z * IZR l <= IZR W * t * (IZR W * h)) by (apply Rmult_le_compat; lra). lra.
  - rewrite !plus_IZR. assert (C : IZR z / IZR W <= t) by (apply div_le_iff; lra).
    assert (F : (IZR W * t) * h <= (IZR z + 1) * h) by (apply Rmult_le_compat_r; lra).
    assert (G : IZR z * h <= IZR z * IZR l / IZR W + IZR z / IZR W * e).
    { replace (_ + _) with (IZR z * ((IZR l + e) / IZR W)) by (unfold Rdiv; ring).
      apply Rmult_le_compat_l; [exact Rz|]. apply le_div_iff; lra. }
    assert (IZR z / IZR W * e <= 1/64 * e) by (apply Rmult_le_compat_r; lra).
    replace (IZR W * (2 * (t * h))) with (2 * (IZR W * t * h)) by ring.
    replace (2 * IZR z * IZR l / IZR W) with (2 * (IZR z * IZR l / IZR W)) in S by (unfold Rdiv; ring). lra.
Qed.

(** * The table *)

Lemma ln_div : forall x y, 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof.
  intros x y Hx Hy. unfold Rdiv. rewrite ln_mult, ln_Rinv; [ring|exact Hy|exact Hx|].
  apply Rinv_0_lt_compat. exact Hy.
Qed.

Lemma log_ratio_of_quotient : forall m e, 0 < m -> 0 < e -> log_ratio_of ((m - e) / (m + e)) = ln (m / e).
Proof.
  intros m e Hm He. unfold log_ratio_of. rewrite <- ln_div.
  - f_equal. field. lra.
  - replace (1 + (m - e) / (m + e)) with (2 * m / (m + e)) by (field; lra). apply div_pos; lra.
  - replace (1 - (m - e) / (m + e)) with (2 * e / (m + e)) by (field; lra). apply div_pos; lra.
Qed.

(** What depends on the unit and on the number of terms alone: w, the coefficients of the series and what their sum may
   lack, ln (32/32), ln (33/32), ..., ln (64/32) over the unit 2^w, and the last of these again, ln 2. *)
Record logarithms := Logarithms {
  log_bits : Z;
  log_series : list Z;
  log_slack : Z;
  log_table : list (Z * Z);
  log_of_2 : Z * Z
}.

(** e encloses ln (j/32), and ln ((j+1) / j) = 2 atanh (1 / (2j+1)). *)
Fixpoint logs_from (w : Z) (l : list Z) (s j : Z) (n : nat) (e : Z * Z) : list (Z * Z) :=
  e :: match n with O => nil | S k => logs_from w l s (j + 1) k (add_ends e (atanh_ends w l s 1 (2 * j + 1))) end.

(** A term of this series adds 12 bits, one of an exponential, of which [terms] is the number, 3. There is one term more
   and the unit is finer than 1 / B, because the table adds up what 32 sums lack, and k ln 2 is k times as wide as
   ln 2. *)
Definition logarithms_for (B : Z) (terms : nat) : logarithms :=
  let w := (Z.log2 B + 16)%Z in
  let n := S (Nat.div (terms + 3) 4) in
  let l := coefficients (2 ^ w) 0 n in
  let s := (6 + polynomial_slack w n / 32)%Z in
  let t := logs_from w l s 32 (Z.to_nat 32) (0, 0)%Z in
  Logarithms w l s t (nth (Z.to_nat 32) t (0, 0)%Z).

Record right_logarithms (g : logarithms) : Prop := Right {
  bits_right : (0 <= log_bits g)%Z;
  series_right : forall a b, (0 <= a)%Z -> (0 < b)%Z -> (64 * a <= b)%Z ->
    encloses (2 ^ log_bits g) (atanh_ends (log_bits g) (log_series g) (log_slack g) a b) (log_ratio_of (IZR a / IZR b));
  table_right : forall i e, nth_error (log_table g) i = Some e ->
    encloses (2 ^ log_bits g) e (ln (IZR (32 + Z.of_nat i) / 32));
  ln2_right : encloses (2 ^ log_bits g) (log_of_2 g) (ln 2)
}.

Lemma logs_from_ok : forall w l s, (forall j, (32 <= j)%Z ->
    encloses (2 ^ w) (atanh_ends w l s 1 (2 * j + 1)) (log_ratio_of (IZR 1 / IZR (2 * j + 1)))) ->
  forall n j e, (32 <= j)%Z -> encloses (2 ^ w) e (ln (IZR j / 32)) ->
  forall i f, nth_error (logs_from w l s j n e) i = Some f -> encloses (2 ^ w) f (ln (IZR (j + Z.of_nat i) / 32)).
Proof.
  intros w l s A. induction n as [|n IH]; intros j e Hj He [|i] f H; cbn [logs_from nth_error] in H.
  - injection H as <-. rewrite Z.add_0_r. exact He.
  - destruct i; discriminate.
  - injection H as <-. rewrite Z.add_0_r. exact He.
  - replace (j + Z.of_nat (S i))%Z with ((j + 1) + Z.of_nat i)%Z by lia. refine (IH _ _ _ _ i f H); [lia|].
    assert (J : 0 < IZR j) by (apply IZR_pos; lia).
    replace (ln (IZR (j + 1) / 32)) with (ln (IZR j / 32) + log_ratio_of (IZR 1 / IZR (2 * j + 1))).
    + apply add_ends_ok; [exact He|]. apply A. exact Hj.
    + replace (IZR 1 / IZR (2 * j + 1)) with ((IZR (j + 1) - IZR j) / (IZR (j + 1) + IZR j)).
      * rewrite plus_IZR, log_ratio_of_quotient, !ln_div by lra. ring.
      * rewrite !plus_IZR, mult_IZR. field. lra.
Qed.

Lemma length_logs_from : forall w l s n j e, length (logs_from w l s j n e) = S n.
Proof. intros w l s. induction n as [|n IH]; intros j e; cbn [logs_from length]; [|rewrite IH]; reflexivity. Qed.

Theorem logarithms_for_right : forall B terms, right_logarithms (logarithms_for B terms).
Proof.
  intros B terms. unfold logarithms_for. set (w := (Z.log2 B + 16)%Z). set (n := S (Nat.div (terms + 3) 4)).
  assert (Hw : (0 <= w)%Z) by (assert (L := Z.log2_nonneg B); lia).
  assert (A := fun a b => atanh_ends_ok w n a b Hw). set (l := coefficients (2 ^ w) 0 n) in *.
  set (s := (6 + polynomial_slack w n / 32)%Z) in *. assert (K : forall i e,
    nth_error (logs_from w l s 32 (Z.to_nat 32) (0, 0)%Z) i = Some e ->
    encloses (2 ^ w) e (ln (IZR (32 + Z.of_nat i) / 32))).
  { apply logs_from_ok; [|lia|].
    - intros j Hj. apply A; lia.
    - replace (32 / 32) with 1 by field. rewrite ln_1. split; cbn [fst snd]; lra. }
  constructor; cbn [log_bits log_series log_slack log_table log_of_2]; [exact Hw|exact A|exact K|].
  replace 2 with (IZR (32 + Z.of_nat (Z.to_nat 32)) / 32).
  - apply K. apply nth_error_nth'. rewrite length_logs_from. lia.
  - rewrite Z2Nat.id by lia. replace (IZR (32 + 32)) with 64 by reflexivity. field.
Qed.

(** * The logarithm of a rational number *)

(** Rounded, from the unit 2^w *)
Definition coarser (w B : Z) (e : Z * Z) : Z * Z := (Z.shiftr (fst e * B) w, - Z.shiftr (- (snd e * B)) w)%Z.

Lemma coarser_ok : forall w B e r, (0 <= w)%Z -> (0 < B)%Z -> encloses (2 ^ w) e r -> encloses B (coarser w B e) r.
Proof.
  intros w B e r Hw HB H. unfold coarser. rewrite !Z.shiftr_div_pow2, <- Z.mul_opp_l by exact Hw.
  assert (P : (0 < 2 ^ w)%Z) by (apply Z.pow_pos_nonneg; lia). assert (K := rescale_ends_ok (2 ^ w) B e r P HB H).
  unfold rescale_ends, floor_div, ceil_div in K. rewrite <- Z.mul_opp_l in K. exact K.
Qed.

(** ln (2^k m / e), for m / e that is at least 1 and less than 2 *)
Definition log_between (B : Z) (g : logarithms) (k m e : Z) : option (Z * Z) :=
  (let m := 32 * m in
   let j := floor_div m e in
   match (if 32 <=? j then nth_error (log_table g) (Z.to_nat (j - 32)) else None) with
   | Some f =>
       let c := j * e in
       let near := atanh_ends (log_bits g) (log_series g) (log_slack g) (m - c) (m + c) in
       Some (coarser (log_bits g) B (add_ends (scale_ends k (log_of_2 g)) (add_ends f near)))
   | None => None
   end)%Z.

Lemma log_between_ok : forall B g k m e r, right_logarithms g -> (0 < B)%Z -> (0 < m)%Z -> (0 < e)%Z ->
  log_between B g k m e = Some r -> encloses B r (IZR k * ln 2 + ln (IZR m / IZR e)).
Proof.
  intros B g k m e r G HB Hm He H. unfold log_between in H. set (j := floor_div (32 * m) e) in H.
  destruct (32 <=? j)%Z eqn:J; [|discriminate]. apply Z.leb_le in J.
  destruct (nth_error (log_table g) _) as [f|] eqn:F; [|discriminate]. injection H as <-.
  apply (table_right g G) in F. rewrite Z2Nat.id in F by lia. replace (32 + (j - 32))%Z with j in F by lia.
  apply coarser_ok; [exact (bits_right g G)|exact HB|].
  apply add_ends_ok; [apply scale_ends_ok; exact (ln2_right g G)|].
  assert (L := Z.mul_div_le (32 * m) e He). assert (U := Z.mul_succ_div_gt (32 * m) e He).
  fold (floor_div (32 * m) e) in L, U. fold j in L, U.
  assert (C : (32 * e <= j * e)%Z) by (apply Z.mul_le_mono_nonneg_r; lia).
  assert (Rj : 0 < IZR j) by (apply IZR_pos; lia). apply IZR_pos in Hm as Rm. apply IZR_pos in He as Re.
  assert (Rc : 0 < IZR j * IZR e) by (apply Rmult_lt_0_compat; assumption).
  replace (ln (IZR m / IZR e))
    with (ln (IZR j / 32) + log_ratio_of (IZR (32 * m - j * e) / IZR (32 * m + j * e))).
  - apply add_ends_ok; [exact F|]. apply (series_right g G); lia.
  - rewrite minus_IZR, plus_IZR, !mult_IZR, log_ratio_of_quotient by lra. rewrite !ln_div, !ln_mult by lra. ring.
Qed.

(** n / d = 2^k (m / e) *)
Definition shifted (n d k : Z) : Z * Z := (if 0 <=? k then (n, Z.shiftl d k) else (Z.shiftl n (- k), d))%Z.

(** By the numbers of bits alone, m / e is more than 1/2 and less than 2. *)
Definition log_ends (B : Z) (g : logarithms) (n d : Z) : option (Z * Z) :=
  (if (0 <? n) && (0 <? d) then
     let k := Z.log2 n - Z.log2 d in
     let me := shifted n d k in
     if snd me <=? fst me then log_between B g k (fst me) (snd me) else log_between B g (k - 1) (2 * fst me) (snd me)
   else None)%Z%bool.

Lemma shift_ok : forall a k, (0 < a)%Z -> (0 <= k)%Z ->
  (0 < Z.shiftl a k)%Z /\ ln (IZR (Z.shiftl a k)) = ln (IZR a) + IZR k * ln 2.
Proof.
  intros a k Ha Hk. rewrite Z.shiftl_mul_pow2 by exact Hk.
  assert (P : (0 < 2 ^ k)%Z) by (apply Z.pow_pos_nonneg; lia). split; [lia|].
  rewrite mult_IZR, ln_mult by (apply IZR_pos; assumption). f_equal.
  rewrite <- (Z2Nat.id k) at 1 by exact Hk. rewrite <- pow_IZR, ln_pow by lra.
  rewrite INR_IZR_INZ, Z2Nat.id by exact Hk. reflexivity.
Qed.

(** Whatever k is *)
Lemma shifted_ok : forall n d k, (0 < n)%Z -> (0 < d)%Z ->
  let me := shifted n d k in
  (0 < fst me)%Z /\ (0 < snd me)%Z /\ ln (IZR n / IZR d) = IZR k * ln 2 + ln (IZR (fst me) / IZR (snd me)).
Proof.
  intros n d k Hn Hd. unfold shifted.
  destruct (0 <=? k)%Z eqn:K; [apply Z.leb_le in K|apply Z.leb_gt in K]; cbn [fst snd].
  - destruct (shift_ok d k Hd K) as [E L]. split; [exact Hn|]. split; [exact E|].
    rewrite !ln_div by (apply IZR_pos; assumption). rewrite L. ring.
  - destruct (shift_ok n (- k) Hn ltac:(lia)) as [M L]. split; [exact M|]. split; [exact Hd|].
    rewrite !ln_div by (apply IZR_pos; assumption). rewrite L, opp_IZR. ring.
Qed.

Theorem log_ends_encloses : forall B g n d e, (0 < B)%Z -> right_logarithms g ->
  log_ends B g n d = Some e -> (0 < n)%Z /\ (0 < d)%Z /\ encloses B e (ln (IZR n / IZR d)).
Proof.
  intros B g n d r HB G H. unfold log_ends in H. destruct (_ && _)%bool eqn:C; [|discriminate].
  apply andb_prop in C as [C1 C2]. apply Z.ltb_lt in C1, C2. split; [exact C1|]. split; [exact C2|].
  set (k := (Z.log2 n - Z.log2 d)%Z) in H. destruct (shifted_ok n d k C1 C2) as [M [E ->]].
  destruct (shifted n d k) as [m e]. cbn [fst snd] in *. destruct (e <=? m)%Z.
  - exact (log_between_ok B g k m e r G HB M E H).
  - apply log_between_ok in H; [|assumption|assumption|lia|assumption].
    apply IZR_pos in M. apply IZR_pos in E. rewrite minus_IZR, mult_IZR in H.
    replace (IZR k * ln 2 + ln (IZR m / IZR e)) with ((IZR k - 1) * ln 2 + ln (2 * IZR m / IZR e)); [exact H|].
    rewrite !ln_div, ln_mult by lra. ring.
Qed.

Theorem log_ends_ok : forall B g n d a b, (0 < B)%Z -> right_logarithms g ->
  log_ends B g n d = Some (a, b) ->
  (0 < n)%Z /\ (0 < d)%Z /\ IZR a <= IZR B * ln (IZR n / IZR d) <= IZR b.
Proof. intros B g n d a b HB G H. exact (log_ends_encloses B g n d (a, b) HB G H). Qed.
