(* Log: enclosures of the natural logarithm of a rational number.

   ln (n / d) = k ln 2 + ln (m / e), where k is guessed so that m / e is near 1, and
   ln (m / e) = 2 atanh ((m - e) / (m + e)) by the series of atanh.  The guess of k and the number of terms need not be
   right: a poor k is refused, and few terms make the enclosure wide. *)
From Coq Require Import Reals ZArith Lia Lra.
From Verale Require Import Grid Slope Monotone.
Open Scope R_scope.

(* ---------------------------------------------------------------- the series over the reals *)

(* t^(2i+1) / (2i+1) + t^(2i+3) / (2i+3) + ..., n terms and then c times the next *)
Fixpoint odd_sum (i n : nat) (c t : R) : R :=
  match n with
  | O => c * (t ^ (2 * i + 1) / INR (2 * i + 1))
  | S k => t ^ (2 * i + 1) / INR (2 * i + 1) + odd_sum (S i) k c t
  end.

(* Its derivative: t^(2i) + t^(2i+2) + ... *)
Fixpoint even_sum (i n : nat) (c t : R) : R :=
  match n with
  | O => c * t ^ (2 * i)
  | S k => t ^ (2 * i) + even_sum (S i) k c t
  end.

(* The same sum by Horner's rule: odd_sum 0 n c t = t * horner 0 n c (t^2) *)
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

(* The sum is affine in c. *)
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

(* The geometric series *)
Lemma even_sum_closed : forall n i c t,
  (1 - t * t) * even_sum i n c t = t ^ (2 * i) + t ^ (2 * (i + n)) * (c * (1 - t * t) - 1).
Proof.
  induction n as [|n IH]; intros i c t; cbn [even_sum].
  - replace (i + 0)%nat with i by lia. ring.
  - rewrite Rmult_plus_distr_l, IH. replace (S i + n)%nat with (i + S n)%nat by lia.
    replace (2 * S i)%nat with (S (S (2 * i))) by lia. rewrite <- !tech_pow_Rmult. ring.
Qed.

(* 2 atanh t *)
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

(* One term more than none left over is too little. *)
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

(* 9/8 of the next term is too much, as 1 / (1 - t^2) <= 9/8. *)
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

(* The whole series is a finite sum, for a suitable c. *)
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

(* ---------------------------------------------------------------- the series in integers *)

(* An enclosure of horner i n c x for every c in [1, 9/8], where e encloses x *)
Fixpoint horner_ends (B : Z) (i : Z) (n : nat) (e : Z * Z) : Z * Z :=
  match n with
  | O => (floor_div B (2 * i + 1), ceil_div (9 * B) (8 * (2 * i + 1)))%Z
  | S k => add_ends (quotient_ends B 1 (2 * i + 1)) (mul_ends B e (horner_ends B (i + 1) k e))
  end.

Lemma horner_last_ok : forall B i c, (0 < B)%Z -> (0 <= i)%Z -> 1 <= c <= 9/8 ->
  encloses B (floor_div B (2 * i + 1), ceil_div (9 * B) (8 * (2 * i + 1)))%Z (c / IZR (2 * i + 1)).
Proof.
  intros B i c HB Hi Hc. apply IZR_pos in HB. assert (I : 0 < IZR (2 * i + 1)) by (apply IZR_pos; lia).
  assert (E : IZR (2 * i + 1) * (IZR B * (c / IZR (2 * i + 1))) = IZR B * c) by (field; lra).
  split; cbn [fst snd].
  - apply floor_div_below; [lia|]. rewrite E. rewrite <- (Rmult_1_r (IZR B)) at 1. apply Rmult_le_compat_l; lra.
  - apply ceil_div_above; [lia|]. rewrite (mult_IZR 8), Rmult_assoc, E, (mult_IZR 9).
    assert (IZR B * c <= IZR B * (9/8)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma horner_ends_ok : forall B e x c, (0 < B)%Z -> (0 <= fst e)%Z -> encloses B e x -> 1 <= c <= 9/8 ->
  forall n i, (0 <= i)%Z ->
  (0 <= fst (horner_ends B i n e))%Z /\ encloses B (horner_ends B i n e) (horner i n c x).
Proof.
  intros B e x c HB He Hx Hc. induction n as [|n IH]; intros i Hi; cbn [horner_ends horner].
  - split; [apply floor_div_nonneg; lia|]. apply horner_last_ok; assumption.
  - destruct (IH (i + 1)%Z ltac:(lia)) as [P Q]. split.
    + assert (M := mul_ends_nonneg B e (horner_ends B (i + 1) n e) HB He P).
      assert (D := floor_div_nonneg (B * 1) (2 * i + 1) ltac:(lia) ltac:(lia)). cbn [add_ends quotient_ends fst]. lia.
    + apply add_ends_ok; [apply quotient_ends_ok; lia|]. apply mul_ends_ok; assumption.
Qed.

(* 2 atanh (a / b), for 0 <= a / b <= 1/3 *)
Definition atanh_ends (B : Z) (terms : nat) (a b : Z) : Z * Z :=
  let t := quotient_ends B a b in
  scale_ends 2 (mul_ends B t (horner_ends B 0 terms (mul_ends B t t))).

Lemma atanh_ends_ok : forall B terms a b, (0 < B)%Z -> (0 <= a)%Z -> (0 < b)%Z -> (3 * a <= b)%Z ->
  encloses B (atanh_ends B terms a b) (log_ratio_of (IZR a / IZR b)).
Proof.
  intros B terms a b HB Ha Hb Hab. unfold atanh_ends. set (t := quotient_ends B a b).
  assert (T0 : (0 <= fst t)%Z) by (apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg|]; lia).
  assert (T : encloses B t (IZR a / IZR b)) by (apply quotient_ends_ok; exact Hb).
  assert (R : 0 <= IZR a / IZR b <= 1/3).
  { split; [exact (encloses_nonneg B t _ HB T0 T)|]. apply IZR_pos in Hb. apply IZR_le in Hab.
    rewrite mult_IZR in Hab. apply div_le_iff; lra. }
  destruct (series_exact terms _ R) as [c [Hc ->]]. apply scale_ends_ok.
  assert (X0 := mul_ends_nonneg B t t HB T0 T0). assert (X := mul_ends_ok B t t _ _ HB T0 T0 T T).
  destruct (horner_ends_ok B _ _ c HB X0 X Hc terms 0%Z ltac:(lia)) as [P Q]. apply mul_ends_ok; assumption.
Qed.

(* ---------------------------------------------------------------- the logarithm of a rational number *)

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

(* ln (m / e), for m / e between 1/2 and 2 *)
Definition near_log_ends (B : Z) (terms : nat) (m e : Z) : Z * Z :=
  (if e <=? m then atanh_ends B terms (m - e) (m + e) else opp_ends (atanh_ends B terms (e - m) (e + m)))%Z.

Lemma near_log_ends_ok : forall B terms m e, (0 < B)%Z -> (0 < m)%Z -> (0 < e)%Z -> (m <= 2 * e)%Z -> (e <= 2 * m)%Z ->
  encloses B (near_log_ends B terms m e) (ln (IZR m / IZR e)).
Proof.
  intros B terms m e HB Hm He H1 H2. unfold near_log_ends. apply IZR_pos in Hm as Rm. apply IZR_pos in He as Re.
  destruct (e <=? m)%Z eqn:C; [apply Z.leb_le in C|apply Z.leb_gt in C].
  - rewrite <- log_ratio_of_quotient, <- minus_IZR, <- plus_IZR by assumption. apply atanh_ends_ok; lia.
  - replace (ln (IZR m / IZR e)) with (- ln (IZR e / IZR m)) by (rewrite !ln_div by assumption; ring).
    apply opp_ends_ok. rewrite <- log_ratio_of_quotient, <- minus_IZR, <- plus_IZR by assumption.
    apply atanh_ends_ok; lia.
Qed.

(* ln 2 = 2 atanh (1/3), whose series takes twice the terms for the same precision.  The caller computes it once, and
   it is multiplied by k: it is computed on a finer scale. *)
Definition ln2_ends (B : Z) (terms : nat) : Z * Z :=
  let W := (65536 * B)%Z in rescale_ends W B (atanh_ends W (2 * terms) 1 3).

Theorem ln2_ends_ok : forall B terms, (0 < B)%Z -> encloses B (ln2_ends B terms) (ln 2).
Proof.
  intros B terms HB. unfold ln2_ends. apply rescale_ends_ok; [lia|exact HB|].
  replace (ln 2) with (log_ratio_of (IZR 1 / IZR 3)); [apply atanh_ends_ok; lia|].
  unfold log_ratio_of. rewrite <- ln_div by lra. f_equal. field.
Qed.

(* The guess: n / d is 2^k times a number between 5/7 and 7/5, or nearly so. *)
Definition log_exponent (n d : Z) : Z :=
  (let k := Z.log2 n - Z.log2 d in
   let m := if 0 <=? k then n else Z.shiftl n (- k) in
   let e := if 0 <=? k then Z.shiftl d k else d in
   if 7 * e <? 5 * m then k + 1 else if 7 * m <? 5 * e then k - 1 else k)%Z.

Definition log_ends (B : Z) (terms : nat) (ln2 : Z * Z) (n d : Z) : option (Z * Z) :=
  (let k := log_exponent n d in
   let m := if 0 <=? k then n else Z.shiftl n (- k) in
   let e := if 0 <=? k then Z.shiftl d k else d in
   if (0 <? n) && (0 <? d) && (m <=? 2 * e) && (e <=? 2 * m) then
     Some (add_ends (scale_ends k ln2) (near_log_ends B terms m e))
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

(* n / d = 2^k (m / e), whatever k is *)
Lemma reduction_ok : forall n d k, (0 < n)%Z -> (0 < d)%Z ->
  let m := (if 0 <=? k then n else Z.shiftl n (- k))%Z in
  let e := (if 0 <=? k then Z.shiftl d k else d)%Z in
  (0 < m)%Z /\ (0 < e)%Z /\ ln (IZR n / IZR d) = IZR k * ln 2 + ln (IZR m / IZR e).
Proof.
  intros n d k Hn Hd. cbv zeta. destruct (0 <=? k)%Z eqn:K; [apply Z.leb_le in K|apply Z.leb_gt in K].
  - destruct (shift_ok d k Hd K) as [E L]. split; [exact Hn|]. split; [exact E|].
    rewrite !ln_div by (apply IZR_pos; assumption). rewrite L. ring.
  - destruct (shift_ok n (- k) Hn ltac:(lia)) as [M L]. split; [exact M|]. split; [exact Hd|].
    rewrite !ln_div by (apply IZR_pos; assumption). rewrite L, opp_IZR. ring.
Qed.

Theorem log_ends_encloses : forall B terms ln2 n d e, (0 < B)%Z -> encloses B ln2 (ln 2) ->
  log_ends B terms ln2 n d = Some e -> (0 < n)%Z /\ (0 < d)%Z /\ encloses B e (ln (IZR n / IZR d)).
Proof.
  intros B terms ln2 n d r HB H2 H. unfold log_ends in H. set (k := log_exponent n d) in H. cbv zeta in H.
  destruct (_ && _)%bool eqn:C; [|discriminate]. injection H as <-.
  apply andb_prop in C as [C C4]. apply andb_prop in C as [C C3]. apply andb_prop in C as [C1 C2].
  apply Z.ltb_lt in C1, C2. apply Z.leb_le in C3, C4.
  split; [exact C1|]. split; [exact C2|]. destruct (reduction_ok n d k C1 C2) as [M [E ->]].
  apply add_ends_ok; [apply scale_ends_ok; exact H2|]. apply near_log_ends_ok; assumption.
Qed.

Theorem log_ends_ok : forall B terms ln2 n d a b, (0 < B)%Z -> encloses B ln2 (ln 2) ->
  log_ends B terms ln2 n d = Some (a, b) ->
  (0 < n)%Z /\ (0 < d)%Z /\ IZR a <= IZR B * ln (IZR n / IZR d) <= IZR b.
Proof. intros B terms ln2 n d a b HB H2 H. exact (log_ends_encloses B terms ln2 n d (a, b) HB H2 H). Qed.

(* The logarithm of a number that is itself enclosed, on a scale A of its own *)
Definition log_of_ends (B : Z) (terms : nat) (ln2 : Z * Z) (A : Z) (e : Z * Z) : option (Z * Z) :=
  match log_ends B terms ln2 (fst e) A, log_ends B terms ln2 (snd e) A with
  | Some l, Some u => Some (fst l, snd u)
  | _, _ => None
  end.

Theorem log_of_ends_ok : forall B terms ln2 A e y f, (0 < B)%Z -> encloses B ln2 (ln 2) -> encloses A e y ->
  log_of_ends B terms ln2 A e = Some f -> 0 < y /\ encloses B f (ln y).
Proof.
  intros B terms ln2 A e y f HB H2 He H. unfold log_of_ends in H.
  destruct (log_ends B terms ln2 (fst e) A) as [l|] eqn:L; [|discriminate].
  destruct (log_ends B terms ln2 (snd e) A) as [u|] eqn:U; [|discriminate]. injection H as <-.
  apply (log_ends_encloses B terms ln2 _ _ _ HB H2) in L as [L0 [HA L]].
  apply (log_ends_encloses B terms ln2 _ _ _ HB H2) in U as [_ [_ U]].
  assert (Y := encloses_pos A e y HA L0 He). split; [exact Y|].
  apply (encloses_between B l u _ _ _ HB L U). destruct He as [E1 E2]. apply IZR_pos in HA. apply IZR_pos in L0.
  split; apply ln_monotone; [apply div_pos|apply div_le_iff| |apply le_div_iff]; assumption.
Qed.
