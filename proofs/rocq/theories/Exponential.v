(** Enclosures of exp at a rational number.

    exp x = (exp (x / 2^m))^(2^m): the argument is halved m times, exp of the small number is enclosed by Taylor's
    series, and the enclosure is squared m times. Of a negative number, the enclosure of the small one is inverted
    first. How often to halve, and on which finer scale to work, is a plan that need not be right: a poor plan is
    refused, or makes the enclosure wide. *)

From Coq Require Import Reals ZArith Lia Lra.
From Verale Require Import Grid Slope Monotone.
Open Scope R_scope.

(** * The series over the reals *)

(** x^i / i! + x^(i+1) / (i+1)! + ..., n terms and then s times the next *)
Fixpoint taylor (i n : nat) (s x : R) : R :=
  match n with
  | O => s * (x ^ i / INR (fact i))
  | S k => x ^ i / INR (fact i) + taylor (S i) k s x
  end.

(** The same by Horner's rule: taylor 0 n s x = nested 1 n s x *)
Fixpoint nested (i : Z) (n : nat) (s x : R) : R :=
  match n with
  | O => s
  | S k => 1 + x * nested (i + 1) k s x / IZR i
  end.

Lemma fact_step : forall i, INR (fact (S i)) = IZR (Z.of_nat i + 1) * INR (fact i).
Proof.
  intros i. change (fact (S i)) with (S i * fact i)%nat. rewrite mult_INR, S_INR, INR_IZR_INZ, plus_IZR. reflexivity.
Qed.

Lemma taylor_nested : forall n i s x,
  taylor i n s x = x ^ i / INR (fact i) * nested (Z.of_nat i + 1) n s x.
Proof.
  induction n as [|n IH]; intros i s x; cbn [taylor nested]; [ring|].
  rewrite IH, fact_step, <- tech_pow_Rmult. replace (Z.of_nat (S i) + 1)%Z with (Z.of_nat i + 1 + 1)%Z by lia.
  assert (F := INR_fact_neq_0 i). assert (I : IZR (Z.of_nat i + 1) <> 0) by (apply not_0_IZR; lia).
  field. split; assumption.
Qed.

(** The sum is affine in s. *)
Lemma taylor_affine : forall n i s x, taylor i n s x = taylor i n 0 x + s * (x ^ (i + n) / INR (fact (i + n))).
Proof.
  induction n as [|n IH]; intros i s x; cbn [taylor].
  - replace (i + 0)%nat with i by lia. ring.
  - rewrite (IH (S i)). replace (S i + n)%nat with (i + S n)%nat by lia. ring.
Qed.

Lemma taylor_at_0 : forall n i s, taylor (S i) n s 0 = 0.
Proof. induction n as [|n IH]; intros i s; cbn [taylor]; [|rewrite IH]; rewrite pow_i by lia; unfold Rdiv; ring. Qed.

Lemma fact_power_slope : forall i x, derivable_pt_lim (fun y => y ^ S i / INR (fact (S i))) x (x ^ i / INR (fact i)).
Proof.
  intros i x. replace (x ^ i / INR (fact i)) with (INR (S i) * x ^ pred (S i) * / INR (fact (S i))).
  - apply derivable_pt_lim_scal_right. apply derivable_pt_lim_pow.
  - assert (F := INR_fact_neq_0 i). assert (I : INR (S i) <> 0) by (apply not_0_INR; lia).
    change (fact (S i)) with (S i * fact i)%nat. rewrite mult_INR. cbn [pred]. field. split; assumption.
Qed.

(** The derivative of the series is the series that starts one term earlier. *)
Lemma taylor_slope : forall n i s x, derivable_pt_lim (taylor (S i) n s) x (taylor i n s x).
Proof.
  induction n as [|n IH]; intros i s x; cbn [taylor].
  - apply (derivable_pt_lim_scal (fun y => y ^ S i / INR (fact (S i)))). apply fact_power_slope.
  - apply (derivable_pt_lim_plus (fun y => y ^ S i / INR (fact (S i))) (taylor (S (S i)) n s)).
    + apply fact_power_slope.
    + apply IH.
Qed.

Lemma taylor_first : forall n s x, taylor 0 (S n) s x = 1 + taylor 1 n s x.
Proof. intros n s x. cbn [taylor]. change (x ^ 0) with 1. change (INR (fact 0)) with 1. field. Qed.

Lemma taylor_whole_slope : forall n s x, derivable_pt_lim (taylor 0 (S n) s) x (taylor 0 n s x).
Proof.
  intros n s x. rewrite <- (Rplus_0_l (taylor 0 n s x)).
  apply (derivable_pt_lim_plus (fun y => y ^ 0 / INR (fact 0)) (taylor 1 n s)); [|apply taylor_slope].
  apply (derivable_pt_lim_const (1 / INR (fact 0))).
Qed.

Lemma taylor_whole_at_0 : forall n s, taylor 0 (S n) s 0 = exp 0.
Proof. intros n s. rewrite taylor_first, taylor_at_0, exp_0. ring. Qed.

(** One term more than none left over is too little. *)
Lemma taylor_below : forall n x, 0 <= x -> taylor 0 n 1 x <= exp x.
Proof.
  induction n as [|n IH]; intros x Hx.
  - replace (taylor 0 0 1 x) with (1 + 0); [|cbn; field]. assert (E := exp_ineq1_le x). lra.
  - apply (stays_below (taylor 0 (S n) 1) exp (taylor 0 n 1) exp); [exact Hx|apply taylor_whole_at_0| | |].
    + intros y Hy. apply taylor_whole_slope.
    + intros y Hy. apply derivable_pt_lim_exp.
    + intros y Hy. apply IH. lra.
Qed.

(** exp (1/2) <= 2, as its square is at most 3 *)
Lemma exp_half : forall x, x <= 1/2 -> exp x <= 2.
Proof.
  intros x Hx. assert (H : exp (1/2) * exp (1/2) <= 3).
  { rewrite <- exp_plus. replace (1/2 + 1/2) with 1 by field. apply exp_le_3. }
  assert (P := exp_pos (1/2)). assert (exp (1/2) <= 2) by nra.
  apply exp_monotone in Hx. lra.
Qed.

(** Twice the next term is too much. *)
Lemma taylor_above : forall n x, 0 <= x <= 1/2 -> exp x <= taylor 0 n 2 x.
Proof.
  induction n as [|n IH]; intros x Hx.
  - replace (taylor 0 0 2 x) with 2; [|cbn; field]. apply exp_half. lra.
  - apply (stays_below exp (taylor 0 (S n) 2) exp (taylor 0 n 2)); [lra|symmetry; apply taylor_whole_at_0| | |].
    + intros y Hy. apply derivable_pt_lim_exp.
    + intros y Hy. apply taylor_whole_slope.
    + intros y Hy. apply IH. lra.
Qed.

(** The whole series is a finite sum, for a suitable s. *)
Lemma taylor_exact : forall n x, 0 <= x <= 1/2 -> exists s, 1 <= s <= 2 /\ exp x = nested 1 n s x.
Proof.
  intros n x Hx.
  destruct (affine_between (taylor 0 n 0 x) (x ^ (0 + n) / INR (fact (0 + n))) 1 2 (exp x)) as [s [Hs E]].
  - lra.
  - apply div_nonneg; [apply pow_le; lra|apply INR_fact_lt_0].
  - rewrite <- !taylor_affine. split; [apply taylor_below|apply taylor_above]; lra.
  - exists s. split; [exact Hs|]. rewrite E, <- taylor_affine, taylor_nested. change (Z.of_nat 0 + 1)%Z with 1%Z.
    change (x ^ 0) with 1. change (INR (fact 0)) with 1. field.
Qed.

(** * The series in integers *)

(** r s / i, for two numbers whose lower ends are not negative, rounded once *)
Definition mul_div_ends (W i : Z) (e f : Z * Z) : Z * Z :=
  (floor_div (fst e * fst f) (W * i), ceil_div (snd e * snd f) (W * i))%Z.

Lemma mul_div_ends_ok : forall W i e f r s, (0 < W)%Z -> (0 < i)%Z -> (0 <= fst e)%Z -> (0 <= fst f)%Z ->
  encloses W e r -> encloses W f s ->
  (0 <= fst (mul_div_ends W i e f))%Z /\ encloses W (mul_div_ends W i e f) (r * s / IZR i).
Proof.
  intros W i e f r s HW Hi He Hf [E1 E2] [F1 F2]. assert (K : (0 < W * i)%Z) by (apply Z.mul_pos_pos; assumption).
  split; [apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg|]; assumption|].
  apply IZR_nonneg in He, Hf. apply IZR_pos in Hi.
  assert (P : IZR (W * i) * (IZR W * (r * s / IZR i)) = (IZR W * r) * (IZR W * s)) by (rewrite mult_IZR; field; lra).
  split; cbn [mul_div_ends fst snd].
  - apply floor_div_below; [exact K|]. rewrite P, mult_IZR. apply Rmult_le_compat; lra.
  - apply ceil_div_above; [exact K|]. rewrite P, mult_IZR. apply Rmult_le_compat; lra.
Qed.

(** An enclosure of nested i n s x for every s in [1, 2], where e encloses x *)
Fixpoint nested_ends (W i : Z) (n : nat) (e : Z * Z) : Z * Z :=
  match n with
  | O => (W, 2 * W)%Z
  | S k => add_ends (W, W) (mul_div_ends W i e (nested_ends W (i + 1) k e))
  end.

Lemma nested_ends_ok : forall W e x s, (0 < W)%Z -> (0 <= fst e)%Z -> encloses W e x -> 1 <= s <= 2 ->
  forall n i, (0 < i)%Z ->
  (0 < fst (nested_ends W i n e))%Z /\ encloses W (nested_ends W i n e) (nested i n s x).
Proof.
  intros W e x s HW He Hx Hs. assert (W' := IZR_pos W HW).
  induction n as [|n IH]; intros i Hi; cbn [nested_ends nested].
  - split; [exact HW|]. split; cbn [fst snd]; [|rewrite mult_IZR, Rmult_comm].
    + rewrite <- (Rmult_1_r (IZR W)) at 1. apply Rmult_le_compat_l; lra.
    + apply Rmult_le_compat_r; lra.
  - destruct (IH (i + 1)%Z ltac:(lia)) as [P Q].
    destruct (mul_div_ends_ok W i e _ _ _ HW Hi He (Z.lt_le_incl _ _ P) Hx Q) as [M N].
    split; [cbn [add_ends fst]; lia|]. apply add_ends_ok; [|exact N].
    unfold encloses. cbn [fst snd]. lra.
Qed.

Lemma small_exp_ok : forall W n e x, (0 < W)%Z -> (0 <= fst e)%Z -> (2 * snd e <= W)%Z -> encloses W e x ->
  (0 < fst (nested_ends W 1 n e))%Z /\ encloses W (nested_ends W 1 n e) (exp x).
Proof.
  intros W n e x HW He Hs Hx. assert (X := encloses_nonneg W e x HW He Hx).
  assert (X' : x <= 1/2).
  { destruct Hx as [_ Hx]. apply IZR_le in Hs. rewrite mult_IZR in Hs. apply IZR_pos in HW.
    apply (Rmult_le_reg_l (IZR W)); lra. }
  destruct (taylor_exact n x (conj X X')) as [s [Hs' ->]]. apply nested_ends_ok; (assumption || lia).
Qed.

(** * Squaring *)

Fixpoint square_times (W : Z) (m : nat) (e : Z * Z) : Z * Z :=
  match m with
  | O => e
  | S k => square_times W k (mul_ends W e e)
  end.

Lemma square_times_ok : forall W m e y, (0 < W)%Z -> (0 <= fst e)%Z -> encloses W e (exp y) ->
  (0 <= fst (square_times W m e))%Z /\ encloses W (square_times W m e) (exp (2 ^ m * y)).
Proof.
  intros W m. induction m as [|m IH]; intros e y HW He H; cbn [square_times].
  - change (2 ^ 0) with 1. rewrite Rmult_1_l. split; assumption.
  - replace (2 ^ S m * y) with (2 ^ m * (y + y)) by (rewrite <- tech_pow_Rmult; ring).
    apply IH; [exact HW|apply mul_ends_nonneg; assumption|]. rewrite exp_plus. apply mul_ends_ok; assumption.
Qed.

(** * Exp of a rational number *)

(** exp (n / d) on the scale W, by series with that many terms after that many halvings *)
Definition halved_exp_ends (W : Z) (terms halvings : nat) (n d : Z) : option (Z * Z) :=
  (let t := quotient_ends W (Z.abs n) (Z.shiftl d (Z.of_nat halvings)) in
   if 2 * snd t <=? W then
     let e := nested_ends W 1 terms t in
     Some (square_times W halvings (if 0 <=? n then e else inverse_ends W e))
   else None)%Z.

Lemma shiftl_IZR : forall a m, IZR (Z.shiftl a (Z.of_nat m)) = IZR a * 2 ^ m.
Proof. intros a m. rewrite Z.shiftl_mul_pow2 by lia. rewrite mult_IZR, <- pow_IZR. reflexivity. Qed.

Lemma shiftl_pos : forall a m, (0 < a)%Z -> (0 < Z.shiftl a (Z.of_nat m))%Z.
Proof.
  intros a m Ha. rewrite Z.shiftl_mul_pow2 by lia. apply Z.mul_pos_pos; [exact Ha|]. apply Z.pow_pos_nonneg; lia.
Qed.

Lemma halved_exp_ends_ok : forall W terms m n d e, (0 < W)%Z -> (0 < d)%Z ->
  halved_exp_ends W terms m n d = Some e -> (0 <= fst e)%Z /\ encloses W e (exp (IZR n / IZR d)).
Proof.
  intros W terms m n d r HW Hd H. unfold halved_exp_ends in H. set (t := quotient_ends _ _ _) in H.
  destruct (2 * snd t <=? W)%Z eqn:C; [|discriminate]. injection H as <-. apply Z.leb_le in C.
  assert (D := shiftl_pos d m Hd).
  assert (T0 : (0 <= fst t)%Z) by (apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg|]; lia).
  assert (T := quotient_ends_ok W (Z.abs n) _ D : encloses W t _).
  destruct (small_exp_ok W terms t _ HW T0 C T) as [P Q].
  apply IZR_pos in Hd as Rd. assert (P2 : 2 ^ m <> 0) by (apply pow_nonzero; lra).
  set (y := IZR (Z.abs n) / IZR (Z.shiftl d (Z.of_nat m))) in Q.
  assert (Y : 2 ^ m * y = IZR (Z.abs n) / IZR d) by (unfold y; rewrite shiftl_IZR; field; split; lra).
  destruct (0 <=? n)%Z eqn:N; [apply Z.leb_le in N|apply Z.leb_gt in N].
  - rewrite Z.abs_eq in Y by exact N. rewrite <- Y. apply square_times_ok; [exact HW|lia|exact Q].
  - replace (IZR n / IZR d) with (2 ^ m * - y).
    + apply square_times_ok; [exact HW|apply (inverse_ends_nonneg W _ (exp y)); assumption|].
      rewrite exp_Ropp. apply inverse_ends_ok; assumption.
    + rewrite Ropp_mult_distr_r_reverse, Y, Z.abs_neq, opp_IZR by lia. unfold Rdiv. ring.
Qed.

(** The plan: how many terms, how many halvings, and how many bits finer than B to work. Each unit of a positive
   argument costs 3/2 bits (log2 e < 3/2); each squaring doubles the relative error. A halving saves each term a bit,
   and takes as long as a term: there are about as many of them as terms, but no more terms than given. *)
Definition exp_plan (B : Z) (terms : nat) (n d : Z) : nat * nat * nat :=
  (let growth := Z.max 0 (3 * n / (2 * d)) in
   let size := Z.max 0 (Z.log2 (Z.abs n) - Z.log2 d + 1) in
   let bits := Z.log2 B + growth + size in
   let count := Z.min (Z.of_nat terms + Z.sqrt growth) (Z.sqrt bits + 1) in
   let halvings := size + bits / count + 1 in
   (Z.to_nat count, Z.to_nat halvings, Z.to_nat (growth + halvings + 4)))%Z.

Definition planned_exp_ends (B : Z) (terms : nat) (n d : Z) : option (Z * Z) :=
  let '(count, halvings, finer) := exp_plan B terms n d in
  let W := Z.shiftl B (Z.of_nat finer) in
  match halved_exp_ends W count halvings n d with
  | Some e => Some (rescale_ends W B e)
  | None => None
  end.

Lemma planned_exp_ends_ok : forall B terms n d e, (0 < B)%Z -> (0 < d)%Z ->
  planned_exp_ends B terms n d = Some e -> (0 <= fst e)%Z /\ encloses B e (exp (IZR n / IZR d)).
Proof.
  intros B terms n d r HB Hd H. unfold planned_exp_ends in H. destruct (exp_plan B terms n d) as [[count m] finer].
  assert (HW := shiftl_pos B finer HB). destruct (halved_exp_ends _ _ _ _ _) as [e|] eqn:E; [|discriminate].
  injection H as <-. apply halved_exp_ends_ok in E as [P Q]; [|exact HW|exact Hd].
  split; [apply rescale_ends_nonneg|apply rescale_ends_ok]; assumption.
Qed.

(** Work is bounded: above exp_most it is refused, and below - exp_least the upper end is that of - exp_least. *)
Definition exp_most : Z := 8192.
Definition exp_least : Z := 1048576.

Definition exp_ends (B : Z) (terms : nat) (n d : Z) : option (Z * Z) :=
  (if d <=? 0 then None
   else if exp_most * d <? n then None
   else if n <? - exp_least * d then
     match planned_exp_ends B terms (- exp_least) 1 with
     | Some e => Some (0, snd e)
     | None => None
     end
   else planned_exp_ends B terms n d)%Z.

Theorem exp_ends_encloses : forall B terms n d e, (0 < B)%Z -> exp_ends B terms n d = Some e ->
  (0 < d)%Z /\ (0 <= fst e)%Z /\ encloses B e (exp (IZR n / IZR d)).
Proof.
  intros B terms n d r HB H. unfold exp_ends in H.
  destruct (d <=? 0)%Z eqn:C; [discriminate|]. apply Z.leb_gt in C. split; [exact C|].
  destruct (exp_most * d <? n)%Z; [discriminate|].
  destruct (n <? - exp_least * d)%Z eqn:L; [|exact (planned_exp_ends_ok B terms n d r HB C H)].
  destruct (planned_exp_ends B terms (- exp_least) 1) as [e|] eqn:E; [|discriminate]. injection H as <-.
  apply planned_exp_ends_ok in E as [_ [_ U]]; [|exact HB|lia]. split; [cbn; lia|].
  apply IZR_pos in HB. apply IZR_pos in C. apply Z.ltb_lt, IZR_lt in L. rewrite mult_IZR in L. split; cbn [fst snd].
  - apply Rmult_le_pos; [lra|]. left. apply exp_pos.
  - eapply Rle_trans; [|exact U]. apply Rmult_le_compat_l; [lra|]. apply exp_monotone. apply div_le_iff; lra.
Qed.

Theorem exp_ends_ok : forall B terms n d a b, (0 < B)%Z -> exp_ends B terms n d = Some (a, b) ->
  (0 < d)%Z /\ (0 <= a)%Z /\ IZR a <= IZR B * exp (IZR n / IZR d) <= IZR b.
Proof. intros B terms n d a b HB H. exact (exp_ends_encloses B terms n d (a, b) HB H). Qed.

(** exp of a number that is itself enclosed, on a scale A of its own *)
Definition exp_of_ends (B : Z) (terms : nat) (A : Z) (e : Z * Z) : option (Z * Z) :=
  match exp_ends B terms (fst e) A, exp_ends B terms (snd e) A with
  | Some l, Some u => Some (fst l, snd u)
  | _, _ => None
  end.

Theorem exp_of_ends_ok : forall B terms A e y f, (0 < B)%Z -> encloses A e y -> exp_of_ends B terms A e = Some f ->
  (0 <= fst f)%Z /\ encloses B f (exp y).
Proof.
  intros B terms A e y f HB [H1 H2] H. unfold exp_of_ends in H.
  destruct (exp_ends B terms (fst e) A) as [l|] eqn:L; [|discriminate].
  destruct (exp_ends B terms (snd e) A) as [u|] eqn:U; [|discriminate]. injection H as <-.
  apply exp_ends_encloses in L as [HA [L0 L]]; [|exact HB]. apply exp_ends_encloses in U as [_ [_ U]]; [|exact HB].
  split; [exact L0|]. apply (encloses_between B l u _ _ _ HB L U). apply IZR_pos in HA.
  split; apply exp_monotone; [apply div_le_iff|apply le_div_iff]; assumption.
Qed.
