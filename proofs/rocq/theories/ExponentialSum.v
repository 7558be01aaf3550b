(** A sum of many exponentials exp (n / V), of integers n that are not positive, when few bits are needed.

    exp (n / V) = exp (m / G) exp (r / V), where G = 2^g and V = 2^(g + w), n = 2^w m + r and 0 <= r < 2^w. The first
    factor stands in a table, made once. The second is 1 + x + x^2 / 2 and at most x^3 / 3 more, with x = r / V. So
    shifts do instead of divisions. Only lower ends are computed; by how much they are too low at most is added to the
    sum once. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Slope Monotone Exponential Log.
Import ListNotations.

(** * What runs *)

Local Open Scope Z_scope.

(** Lower ends of W exp (- b / G), each at its number b; they are at most 2 too low. *)
Inductive exp_table := Entry (b : nat) (e : option Z) | Fork (h : nat) (below above : exp_table).

Fixpoint look (t : exp_table) (b : nat) : option Z :=
  match t with
  | Entry k e => if Nat.eqb b k then e else None
  | Fork h below above => if Nat.ltb b h then look below b else look above b
  end.

Section Run.
Variables (W F G : Z) (last : nat).

Definition entry (b : nat) (e : Z * Z) : exp_table :=
  let low := floor_div (fst e) F in Entry b (if snd e <=? (low + 2) * F then Some low else None).

(** Entries from [start], where [e] is the enclosure over W F; the steps are powers of two, the greatest first. *)
Fixpoint grow (steps : list (nat * (Z * Z))) (start : nat) (e : Z * Z) : exp_table :=
  if Nat.ltb last start then Entry start None
  else
    match steps with
    | nil => entry start e
    | (k, p) :: steps' =>
        Fork (start + k) (grow steps' start e) (grow steps' (start + k) (mul_ends (W * F) e p))
    end.

Fixpoint doubled (n : nat) (k : nat) (p : Z * Z) (steps : list (nat * (Z * Z))) : list (nat * (Z * Z)) :=
  match n with
  | O => steps
  | S n' => doubled n' (k + k) (mul_ends (W * F) p p) ((k, p) :: steps)
  end.

Definition exp_entries (terms depth : nat) : exp_table :=
  match exp_ends (W * F) terms (-1) G with
  | Some p => grow (doubled depth 1 p nil) 0 (W * F, W * F)
  | None => Entry 0 None
  end.

Variables (t : exp_table) (g w : Z).

(** Of a lower end of W exp (n / V) the entry, and what the second factor adds to it *)
Definition low_exp (n : Z) : option (Z * Z) :=
  let m := Z.shiftr n w in
  if - m <=? Z.of_nat last then
    let r := n - Z.shiftl m w in
    match look t (Z.to_nat (- m)) with
    | Some e => Some (e, Z.shiftr (e * (r + Z.shiftr (r * r) (g + w + 1))) (g + w))
    | None => None
    end
  else match look t last with Some e => if e =? 0 then Some (0, 0) else None | None => None end.

(** The sums of both, on top of [entries] and [added]; of numbers that are shifted first. *)
Fixpoint low_sums (shift top : Z) (z : list Z) (entries added : Z) : option (Z * Z) :=
  match z with
  | nil => Some (entries, added)
  | k :: z' =>
      let n := Z.shiftr k shift - top in
      if n <=? 0 then
        match low_exp n with
        | Some (e, a) => low_sums shift top z' (entries + e) (added + a)
        | None => None
        end
      else None
  end.

(** Enclosure over W of the sum of the exponentials *)
Definition sum_ends (shift top : Z) (z : list Z) : option (Z * Z) :=
  match low_sums shift top z 0 0 with
  | Some (entries, added) =>
      let low := entries + added in
      Some (low, low + 6 * Z.of_nat (length z) + ceil_div (2 * entries) (2 ^ (g + w)) + ceil_div added (3 * (G * G)))
  | None => None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

(** ** The second factor *)

Lemma exp_of_second_order : forall x, 0 <= x <= 1 / 2 ->
  1 + x + x * x / 2 <= exp x <= 1 + x + x * x / 2 + x * (x * x) / 3.
Proof.
  intros x H. destruct (taylor_exact 3 x H) as (s & Hs & ->). cbn [nested].
  change (1 + 1)%Z with 2%Z. change (2 + 1)%Z with 3%Z.
  replace (1 + x * (1 + x * (1 + x * s / 3) / 2) / 1) with (1 + x + x * x / 2 + s * (x * (x * x)) / 6) by field.
  assert (0 <= x * (x * x)) by (apply Rmult_le_pos; nra). nra.
Qed.

(** ** The table *)

Section Table.
Variables (W F G : Z) (last : nat).
Hypothesis W_positive : (0 < W)%Z.
Hypothesis F_positive : (0 < F)%Z.
Hypothesis G_positive : (0 < G)%Z.
Let A : Z := (W * F)%Z.
Let A_positive : (0 < A)%Z. Proof. apply Z.mul_pos_pos; assumption. Qed.
Let y (b : nat) : R := exp (- IZR (Z.of_nat b) / IZR G).

Definition entry_ok (e : Z) (b : nat) : Prop := (0 <= e)%Z /\ IZR e <= IZR W * y b <= IZR e + 2.
Definition table_right (t : exp_table) : Prop := forall b e, look t b = Some e -> entry_ok e b.
Definition ends_ok (b : nat) (e : Z * Z) : Prop := (0 <= fst e)%Z /\ encloses A e (y b).

Lemma y_plus : forall a b, y (a + b) = y a * y b.
Proof.
  intros a b. unfold y. rewrite <- exp_plus, Nat2Z.inj_add, plus_IZR. f_equal. apply IZR_pos in G_positive. field. lra.
Qed.

Lemma mul_ends_right : forall a b e p, ends_ok a e -> ends_ok b p -> ends_ok (a + b) (mul_ends (W * F) e p).
Proof.
  intros a b e p [E0 E] [P0 P]. split; [apply mul_ends_nonneg; assumption|]. rewrite y_plus.
  apply mul_ends_ok; assumption.
Qed.

Lemma grow_ok : forall steps start e, Forall (fun s => ends_ok (fst s) (snd s)) steps -> ends_ok start e ->
  table_right (grow W F last steps start e).
Proof.
  induction steps as [|[k p] steps IH]; intros start e S E b v; cbn [grow];
    (destruct (Nat.ltb last start); [cbn [look]; destruct (Nat.eqb _ _); discriminate|]).
  - unfold entry. cbn [look]. destruct (Nat.eqb b start) eqn:B; [|discriminate]. apply Nat.eqb_eq in B as ->.
    destruct (snd e <=? _)%Z eqn:C; [|discriminate]. intros N. injection N as <-. apply Z.leb_le, IZR_le in C.
    destruct E as [E0 [L H]]. apply IZR_pos in F_positive as PF. unfold A in L, H. rewrite !mult_IZR in *.
    rewrite plus_IZR in C. split; [apply floor_div_nonneg; assumption|]. split.
    + apply floor_div_below; [exact F_positive|]. lra.
    + apply (Rmult_le_reg_l (IZR F)); [exact PF|]. lra.
  - inversion S as [|? ? P S']; subst. cbn [look fst snd] in *. destruct (Nat.ltb b (start + k)).
    + apply IH; assumption.
    + apply IH; [exact S'|]. apply mul_ends_right; assumption.
Qed.

Lemma doubled_ok : forall n k p steps, ends_ok k p -> Forall (fun s => ends_ok (fst s) (snd s)) steps ->
  Forall (fun s => ends_ok (fst s) (snd s)) (doubled W F n k p steps).
Proof.
  induction n as [|n IH]; intros k p steps P S; cbn [doubled]; [exact S|].
  apply IH; [apply mul_ends_right; assumption|]. constructor; assumption.
Qed.

Theorem exp_entries_right : forall terms depth, table_right (exp_entries W F G last terms depth).
Proof.
  intros terms depth. unfold exp_entries. destruct (exp_ends _ _ _ _) as [p|] eqn:E.
  - apply exp_ends_encloses in E as [_ E]; [|exact A_positive].
    apply grow_ok; [apply doubled_ok; [exact E|constructor]|].
    split; cbn [fst]; [apply Z.lt_le_incl; exact A_positive|]. unfold encloses, y. cbn [fst snd].
    change (IZR (Z.of_nat 0)) with 0. replace (- 0 / IZR G) with 0 by (unfold Rdiv; ring). rewrite exp_0.
    unfold A. lra.
  - intros b e. cbn [look]. destruct (Nat.eqb _ _); discriminate.
Qed.

(** ** The sum *)

Section Sum.
Variables (t : exp_table) (g w : Z).
Hypothesis table_is_right : table_right t.
Hypothesis g_positive : (0 < g)%Z.
Hypothesis w_nonnegative : (0 <= w)%Z.
Hypothesis G_power : G = (2 ^ g)%Z.
Let V : Z := (2 ^ (g + w))%Z.

Let V_product : V = (G * 2 ^ w)%Z. Proof. unfold V. rewrite G_power. apply Z.pow_add_r; lia. Qed.
Let w_power : (0 < 2 ^ w)%Z. Proof. apply Z.pow_pos_nonneg; lia. Qed.
Let V_positive : (0 < V)%Z. Proof. rewrite V_product. apply Z.mul_pos_pos; assumption. Qed.
Let G_least : (2 <= G)%Z.
Proof. rewrite G_power. replace 2%Z with (2 ^ 1)%Z at 1 by reflexivity. apply Z.pow_le_mono_r; lia. Qed.

(** What is left out, of entries and of what is added to them *)
Definition left_out (e a : R) : R := 2 * e / IZR V + a / (3 * (IZR G * IZR G)).

Lemma second_factor_ok : forall e r x v, (0 <= e)%Z -> (0 <= r)%Z -> x = IZR r / IZR V -> x <= / IZR G ->
  IZR e <= v <= IZR e + 2 ->
  let a := Z.shiftr (e * (r + Z.shiftr (r * r) (g + w + 1))) (g + w) in
  (0 <= a)%Z /\ IZR e + IZR a <= v * exp x <= IZR e + IZR a + 6 + left_out (IZR e) (IZR a).
Proof.
  intros e r x v He Hr X XG Y a. assert (PV := IZR_pos V V_positive). assert (PG := IZR_pos G G_positive).
  assert (G2 := IZR_le 2 G G_least). assert (e0 := IZR_nonneg e He). assert (r0 := IZR_nonneg r Hr).
  set (h := Z.shiftr (r * r) (g + w + 1)) in *. assert (S1 := shiftr_between (g + w + 1) (r * r) ltac:(lia)).
  assert (S2 := shiftr_between (g + w) (e * (r + h)) ltac:(lia)). fold h in S1. fold a V in S2.
  assert (H0 : (0 <= h)%Z) by (apply Z.shiftr_nonneg; nia).
  assert (A0 : (0 <= a)%Z) by (apply Z.shiftr_nonneg; nia). split; [exact A0|]. apply IZR_nonneg in A0.
  rewrite Z.pow_add_r in S1 by lia. fold V in S1. change (2 ^ 1)%Z with 2%Z in S1. rewrite !mult_IZR in S1.
  rewrite mult_IZR, plus_IZR in S2.
  assert (X0 : 0 <= x) by (rewrite X; apply div_nonneg; assumption).
  assert (RV : IZR r = IZR V * x) by (rewrite X; field; lra).
  replace (IZR r * IZR r / (IZR V * 2)) with (IZR V * (x * x / 2)) in S1 by (rewrite RV; field; lra).
  set (f := (IZR r + IZR h) / IZR V). assert (FV : IZR r + IZR h = IZR V * f) by (unfold f; field; lra).
  replace (IZR e * (IZR r + IZR h) / IZR V) with (IZR e * f) in S2 by (unfold f; field; lra).
  set (d := / IZR V). assert (D0 : 0 < d) by (apply Rinv_0_lt_compat; exact PV).
  assert (D : IZR V * d = 1) by (unfold d; field; lra).
  assert (F1 : f <= x + x * x / 2) by (apply (Rmult_le_reg_l (IZR V)); [exact PV|]; lra).
  assert (F2 : x + x * x / 2 <= f + d) by (apply (Rmult_le_reg_l (IZR V)); [exact PV|]; lra).
  assert (HG : / IZR G <= 1 / 2) by (unfold Rdiv; rewrite Rmult_1_l; apply Rinv_le_contravar; lra).
  assert (E := exp_of_second_order x ltac:(lra)). assert (E2 := exp_half x ltac:(lra)). set (k := exp x) in *.
  set (c := / (3 * (IZR G * IZR G))). assert (C0 : 0 < c) by (apply Rinv_0_lt_compat; nra).
  assert (C1 : c <= 1) by (unfold c; rewrite <- Rinv_1; apply Rinv_le_contravar; nra).
  assert (XX : x * x / 3 <= c).
  { replace c with (/ IZR G * / IZR G / 3) by (unfold c; field; lra).
    assert (0 < / IZR G) by (apply Rinv_0_lt_compat; lra).
    assert (x * x <= / IZR G * / IZR G) by (apply Rmult_le_compat; assumption). lra. }
  unfold left_out. replace (2 * IZR e / IZR V) with (2 * (IZR e * d)) by (unfold d; field; lra).
  replace (IZR a / (3 * (IZR G * IZR G))) with (IZR a * c) by (unfold c; field; lra).
  assert (LF : IZR e * f <= IZR e * (x + x * x / 2)) by (apply Rmult_le_compat_l; assumption).
  assert (UF : IZR e * (x + x * x / 2) <= IZR e * f + IZR e * d).
  { rewrite <- Rmult_plus_distr_l. apply Rmult_le_compat_l; assumption. }
  assert (x2 : 0 <= x * x) by nra. assert (ED : 0 <= IZR e * d) by (apply Rmult_le_pos; lra).
  split.
  - apply Rle_trans with (IZR e * k); [|apply Rmult_le_compat_r; lra].
    apply Rle_trans with (IZR e * (1 + x + x * x / 2)); [lra|]. apply Rmult_le_compat_l; lra.
  - apply Rle_trans with ((IZR e + 2) * k); [apply Rmult_le_compat_r; lra|].
    assert (M : IZR e * k <= IZR e * (1 + x + x * x / 2 + x * (x * x) / 3)) by (apply Rmult_le_compat_l; lra).
    assert (N : IZR e * x * (x * x / 3) <= (IZR a + 1 + IZR e * d) * c).
    { apply Rmult_le_compat; try lra; [apply Rmult_le_pos; lra|].
      assert (IZR e * x <= IZR e * (x + x * x / 2)) by (apply Rmult_le_compat_l; lra). lra. }
    assert (N' : (1 + IZR e * d) * c <= 1 + IZR e * d) by nra. lra.
Qed.

Lemma low_exp_ok : forall n e a, (n <= 0)%Z -> low_exp last t g w n = Some (e, a) ->
  (0 <= e)%Z /\ (0 <= a)%Z /\
  IZR e + IZR a <= IZR W * exp (IZR n / IZR V) <= IZR e + IZR a + 6 + left_out (IZR e) (IZR a).
Proof.
  intros n e a Hn E. unfold low_exp in E. set (m := Z.shiftr n w) in *. assert (PV := IZR_pos V V_positive).
  assert (PG := IZR_pos G G_positive). assert (PW := IZR_pos W W_positive). assert (Pw := IZR_pos _ w_power).
  assert (M := shiftr_between w n w_nonnegative). fold m in M.
  assert (M0 : (m <= 0)%Z).
  { apply le_IZR. apply Rle_trans with (IZR n / IZR (2 ^ w)); [lra|]. apply div_le_iff; [exact Pw|].
    rewrite Rmult_0_r. apply (IZR_le n 0). exact Hn. }
  assert (VP : IZR V = IZR G * IZR (2 ^ w)) by (rewrite V_product, mult_IZR; reflexivity).
  destruct (- m <=? Z.of_nat last)%Z eqn:C.
  - destruct (look t _) as [e'|] eqn:L; [|discriminate]. injection E as -> <-. apply table_is_right in L as [E0 L].
    rewrite Z.shiftl_mul_pow2 in * by assumption. set (r := (n - m * 2 ^ w)%Z) in *.
    assert (R : IZR r = IZR n - IZR m * IZR (2 ^ w)) by (unfold r; rewrite minus_IZR, mult_IZR; reflexivity).
    assert (Rw : IZR n = IZR (2 ^ w) * (IZR n / IZR (2 ^ w))) by (field; lra).
    assert (R0 : (0 <= r)%Z) by (apply le_IZR; rewrite R; nra).
    assert (X : IZR r / IZR V <= / IZR G).
    { apply div_le_iff; [exact PV|]. rewrite VP, R.
      replace (IZR G * IZR (2 ^ w) * / IZR G) with (IZR (2 ^ w)) by (field; lra). nra. }
    destruct (second_factor_ok e r _ _ E0 R0 eq_refl X L) as [A0 B]. split; [exact E0|]. split; [exact A0|].
    replace (IZR W * exp (IZR n / IZR V)) with (IZR W * y (Z.to_nat (- m)) * exp (IZR r / IZR V)); [exact B|].
    unfold y. rewrite Z2Nat.id by lia. rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal.
    rewrite R, VP, opp_IZR. field. lra.
  - destruct (look t last) as [e'|] eqn:L; [|discriminate]. destruct (e' =? 0)%Z eqn:Z0; [|discriminate].
    injection E as <- <-. apply Z.eqb_eq in Z0 as ->. apply table_is_right in L as [_ [_ H]]. apply Z.leb_gt in C.
    split; [lia|]. split; [lia|]. assert (P := exp_pos (IZR n / IZR V)).
    replace (left_out 0 0) with 0 by (unfold left_out, Rdiv; ring). split; [nra|].
    apply Rle_trans with (IZR W * y last); [|lra]. apply Rmult_le_compat_l; [lra|]. apply exp_monotone.
    apply div_le_iff; [exact PV|]. rewrite VP. unfold Rdiv.
    assert (C' : IZR m + 1 <= - IZR (Z.of_nat last)) by (rewrite <- opp_IZR, <- plus_IZR; apply IZR_le; lia).
    assert (Rw : IZR n = IZR (2 ^ w) * (IZR n / IZR (2 ^ w))) by (field; lra).
    replace (IZR G * IZR (2 ^ w) * (- IZR (Z.of_nat last) * / IZR G)) with (IZR (2 ^ w) * (- IZR (Z.of_nat last)))
      by (field; lra).
    rewrite Rw. apply Rmult_le_compat_l; lra.
Qed.

Fixpoint exp_sum (u top : Z) (z : list Z) : R :=
  match z with nil => 0 | k :: z' => exp (IZR (k - top) / IZR u) + exp_sum u top z' end.

Lemma low_sums_ok : forall shift top z e a e' a', low_sums last t g w shift top z e a = Some (e', a') ->
  (IZR (e' + a') - IZR (e + a) <= IZR W * exp_sum V top (map (fun k => Z.shiftr k shift) z) <=
  IZR (e' + a') - IZR (e + a) + 6 * IZR (Z.of_nat (length z)) +
    (left_out (IZR e') (IZR a') - left_out (IZR e) (IZR a))).
Proof.
  intros shift top. induction z as [|k z IH]; intros e a e' a' E; cbn [low_sums map exp_sum length] in *.
  - injection E as <- <-. change (IZR (Z.of_nat 0)) with 0. lra.
  - set (n := (Z.shiftr k shift - top)%Z) in *. destruct (n <=? 0)%Z eqn:C; [|discriminate]. apply Z.leb_le in C.
    destruct (low_exp _ _ _ _ n) as [[e1 a1]|] eqn:L; [|discriminate].
    apply low_exp_ok in L as (_ & _ & L); [|exact C]. apply IH in E.
    replace (IZR (Z.of_nat (S (length z)))) with (IZR (Z.of_nat (length z)) + 1)
      by (rewrite <- plus_IZR; f_equal; lia).
    rewrite !plus_IZR in *.
    replace (left_out (IZR e + IZR e1) (IZR a + IZR a1))
      with (left_out (IZR e) (IZR a) + left_out (IZR e1) (IZR a1)) in E by (unfold left_out, Rdiv; ring).
    rewrite Rmult_plus_distr_l. lra.
Qed.

Theorem sum_ends_ok : forall shift top z e, sum_ends G last t g w shift top z = Some e ->
  encloses W e (exp_sum V top (map (fun k => Z.shiftr k shift) z)).
Proof.
  intros shift top z e E. unfold sum_ends in E.
  destruct (low_sums _ _ _ _ _ _ _ _ _) as [[s a]|] eqn:L; [|discriminate].
  change (2 ^ (g + w))%Z with V in E. cbv zeta in E. set (n := Z.of_nat (length z)) in *.
  assert (e = (s + a, s + a + 6 * n + ceil_div (2 * s) V + ceil_div a (3 * (G * G)))%Z) as -> by congruence.
  apply low_sums_ok in L. fold n in L. change (0 + 0)%Z with 0%Z in L.
  replace (left_out 0 0) with 0 in L by (unfold left_out, Rdiv; ring). unfold encloses. cbn [fst snd].
  assert (C1 := le_ceil_div (2 * s) V V_positive). assert (C2 := le_ceil_div a (3 * (G * G)) ltac:(nia)).
  unfold left_out in L. rewrite mult_IZR in C1. rewrite (mult_IZR 3), (mult_IZR G G) in C2.
  rewrite plus_IZR in L. rewrite !plus_IZR, (mult_IZR 6). lra.
Qed.
End Sum.
End Table.
