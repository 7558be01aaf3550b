(** A sum of many exponentials exp (- d / U), of integers d that are not negative, when few bits are needed.

    exp (- d / U) = exp (- b / G) exp (r / V), where b is the least integer above d G / U, V = U G, and r = b U - d G is
    at most U. The first factor stands in a table, made once. The second is a short series, each of whose terms is made
    from the one before. Lower ends only are computed: how much they are too low at most is added to the sum once. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Slope Monotone Exponential.
Import ListNotations.

(** * What runs *)

Local Open Scope Z_scope.

(** A term t = V x^i / i!, and n terms after it: their sum, and the last one. Here x is about [r / K]. *)
Fixpoint terms_from (K r : Z) (i n : nat) (t : Z) : Z * Z :=
  match n with
  | O => (t, t)
  | S k => let f := terms_from K r (S i) k (floor_div (t * r) (Z.of_nat (S i) * K)) in (t + fst f, snd f)
  end.

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

Variables (t : exp_table) (count : nat) (rest U : Z).

(** A lower end of W exp (- d / U) *)
Definition low_exp (d : Z) : option Z :=
  let n := d * G in
  let b := n / U in
  if b <? Z.of_nat last then
    let r := (b + 1) * U - n in
    match look t (Z.to_nat (b + 1)) with
    | Some e =>
        let f := terms_from U (floor_div r G) 1 count r in
        if snd f <=? rest then Some (e + floor_div (e * fst f) (U * G)) else None
    | None => None
    end
  else match look t last with Some e => if e =? 0 then Some 0 else None | None => None end.

Fixpoint low_sum (top : Z) (z : list Z) : option Z :=
  match z with
  | nil => Some 0
  | k :: z' =>
      match (if k <=? top then low_exp (top - k) else None) with
      | Some v => match low_sum top z' with Some s => Some (v + s) | None => None end
      | None => None
      end
  end.

(** Enclosure over W of the sum of the exponentials *)
Definition sum_ends (top : Z) (z : list Z) : option (Z * Z) :=
  match low_sum top z with
  | Some s =>
      Some (s, s + 5 * Z.of_nat (length z) + ceil_div ((rest + 4 + 2 * Z.of_nat count) * s) (U * G))
  | None => None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

(** ** The series *)

Section Series.
Variables (V K R r : Z).
Hypothesis K_positive : (0 < K)%Z.
Hypothesis R_positive : (0 < R)%Z.
Hypothesis V_product : V = (K * R)%Z.
Let x : Rdefinitions.R := IZR r / IZR V.
Hypothesis r_nonnegative : (0 <= r)%Z.
Hypothesis x_half : x <= 1 / 2.
Hypothesis r_small : (r <= K)%Z.
Let q : Z := floor_div r R.

Lemma next_term : forall k (t : Z) X, (2 <= k)%Z -> (0 <= t)%Z -> IZR t <= X <= IZR t + 2 -> X <= IZR K ->
  let t' := floor_div (t * q) (k * K) in
  (0 <= t')%Z /\ IZR t' <= X * x / IZR k <= IZR t' + 2 /\ X * x / IZR k <= IZR K.
Proof.
  intros k t X Hk Ht [L H] HX t'. assert (PK := IZR_pos K K_positive). assert (PR := IZR_pos R R_positive).
  assert (Q0 : (0 <= q)%Z) by (apply floor_div_nonneg; assumption).
  assert (K2 : 2 <= IZR k) by (apply (IZR_le 2); exact Hk).
  assert (X0 : 0 <= x).
  { unfold x. apply div_nonneg; [apply IZR_nonneg; exact r_nonnegative|]. rewrite V_product, mult_IZR. nra. }
  assert (T0 := IZR_nonneg t Ht).
  split; [apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg; assumption|apply Z.mul_pos_pos; lia]|].
  set (a := IZR q / IZR K). assert (A0 : 0 <= a) by (apply div_nonneg; [apply IZR_nonneg; exact Q0|exact PK]).
  assert (A1 : a <= x).
  { apply div_le_iff; [exact PK|]. apply floor_div_below; [exact R_positive|]. unfold x. rewrite V_product, mult_IZR.
    right. field. lra. }
  assert (A2 : IZR K * x <= IZR K * a + 1).
  { replace (IZR K * x) with (IZR r / IZR R) by (unfold x; rewrite V_product, mult_IZR; field; lra).
    replace (IZR K * a) with (IZR q) by (unfold a; field; lra). apply div_le_iff; [exact PR|].
    rewrite <- plus_IZR, <- mult_IZR. apply IZR_le. unfold q, floor_div.
    assert (M := Z.mul_succ_div_gt r R R_positive). lia. }
  set (y := IZR t * a / IZR k). assert (D : (0 < k * K)%Z) by (apply Z.mul_pos_pos; lia).
  assert (E : IZR (t * q) = IZR (k * K) * y) by (rewrite !mult_IZR; unfold y, a; field; lra).
  assert (Y1 : IZR t' <= y) by (apply floor_div_below; [exact D|rewrite E; apply Rle_refl]).
  assert (Y2 : y <= IZR t' + 1).
  { rewrite <- plus_IZR. apply (Rmult_le_reg_l (IZR (k * K))); [apply IZR_pos; exact D|]. rewrite <- E, <- mult_IZR.
    apply IZR_le. unfold t', floor_div. assert (M := Z.mul_succ_div_gt (t * q) (k * K) D). lia. }
  assert (tx : IZR t * x <= IZR t * a + 1).
  { apply (Rmult_le_reg_l (IZR K)); [exact PK|]. nra. }
  assert (Z1 : y <= X * x / IZR k).
  { unfold y, Rdiv. apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; lra|]. nra. }
  assert (Z2 : X * x / IZR k <= y + 1).
  { apply div_le_iff; [lra|]. replace (IZR k * (y + 1)) with (IZR t * a + IZR k) by (unfold y; field; lra). nra. }
  split; [lra|]. apply div_le_iff; [lra|]. nra.
Qed.

Definition term (i : nat) : Rdefinitions.R := IZR V * (x ^ i / INR (fact i)).

Lemma term_next : forall i, term (S i) = term i * x / IZR (Z.of_nat (S i)).
Proof.
  intros i. unfold term. rewrite fact_step, <- tech_pow_Rmult. replace (Z.of_nat (S i)) with (Z.of_nat i + 1)%Z by lia.
  assert (F := INR_fact_neq_0 i). assert (I : IZR (Z.of_nat i + 1) <> 0) by (apply not_0_IZR; lia).
  field. split; assumption.
Qed.

Lemma terms_from_ok : forall s, 1 <= s <= 2 -> forall n i t, (0 < i)%nat -> (0 <= t)%Z ->
  IZR t <= term i <= IZR t + 2 -> term i <= IZR K ->
  let f := terms_from K q i n t in
  IZR (fst f) <= IZR V * taylor i n s x <= IZR (fst f) + IZR (snd f) + 4 + 2 * IZR (Z.of_nat n).
Proof.
  intros s Hs. induction n as [|n IH]; intros i t Hi Ht H HK; cbn [terms_from taylor fst snd].
  - replace (IZR V * (s * (x ^ i / INR (fact i)))) with (s * term i) by (unfold term; ring).
    assert (T := IZR_nonneg t Ht). change (IZR (Z.of_nat 0)) with 0. nra.
  - rewrite Rmult_plus_distr_l. fold (term i).
    destruct (next_term (Z.of_nat (S i)) t (term i) ltac:(lia) Ht H HK) as (P & Q & N). rewrite <- term_next in Q, N.
    assert (J := IH (S i) _ ltac:(lia) P Q N). cbv zeta in J. rewrite plus_IZR.
    replace (IZR (Z.of_nat (S n))) with (IZR (Z.of_nat n) + 1) by (rewrite <- plus_IZR; f_equal; lia).
    set (f := terms_from _ _ _ _ _) in *. lra.
Qed.

Lemma small_terms_ok : forall n, let f := terms_from K q 1 n r in
  IZR (fst f) <= IZR V * (exp x - 1) <= IZR (fst f) + IZR (snd f) + 4 + 2 * IZR (Z.of_nat n).
Proof.
  intros n. assert (PK := IZR_pos K K_positive). assert (PR := IZR_pos R R_positive).
  assert (PV : 0 < IZR V) by (rewrite V_product, mult_IZR; nra).
  assert (X0 : 0 <= x) by (apply div_nonneg; [apply IZR_nonneg; exact r_nonnegative|exact PV]).
  destruct (taylor_exact (S n) x (conj X0 x_half)) as [s [Hs E]].
  assert (E' : exp x = 1 + taylor 1 n s x).
  { rewrite E, <- taylor_first, taylor_nested. change (Z.of_nat 0 + 1)%Z with 1%Z. change (x ^ 0) with 1.
    change (INR (fact 0)) with 1. field. }
  replace (IZR V * (exp x - 1)) with (IZR V * taylor 1 n s x) by (rewrite E'; ring).
  assert (T : term 1 = IZR r).
  { unfold term, x. change (INR (fact 1)) with 1. rewrite pow_1. field. lra. }
  apply terms_from_ok; [exact Hs|lia|exact r_nonnegative|rewrite T; lra|rewrite T; apply IZR_le; exact r_small].
Qed.
End Series.

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
Variables (t : exp_table) (count : nat) (rest U : Z).
Hypothesis table_is_right : table_right t.
Hypothesis U_positive : (0 < U)%Z.
Hypothesis G_least : (2 <= G)%Z.
Let V : Z := (U * G)%Z.
Let slack : Z := (rest + 4 + 2 * Z.of_nat count)%Z.

Lemma low_exp_ok : forall d v, (0 <= d)%Z -> low_exp G last t count rest U d = Some v ->
  (0 <= v)%Z /\
  IZR v <= IZR W * exp (- IZR d / IZR U) <= IZR v + 5 + IZR slack * IZR v / IZR V.
Proof.
  intros d v Hd E. unfold low_exp in E. set (b := (d * G / U)%Z) in *.
  assert (PU := IZR_pos U U_positive). assert (PG := IZR_pos G G_positive). assert (PW := IZR_pos W W_positive).
  assert (PV : 0 < IZR V) by (unfold V; rewrite mult_IZR; nra).
  assert (B0 : (0 <= b)%Z) by (apply Z.div_pos; [nia|exact U_positive]).
  assert (M1 := Z.mul_div_le (d * G) U U_positive). assert (M2 := Z.mul_succ_div_gt (d * G) U U_positive).
  fold b in M1, M2. destruct (b <? Z.of_nat last)%Z eqn:C.
  - destruct (look t _) as [e|] eqn:L; [|discriminate]. apply table_is_right in L as [E0 [L H]].
    set (r := ((b + 1) * U - d * G)%Z) in *. assert (R0 : (0 <= r <= U)%Z) by (unfold r; lia).
    set (f := terms_from _ _ _ _ _) in *. destruct (snd f <=? rest)%Z eqn:Q; [|discriminate]. injection E as <-.
    apply Z.leb_le, IZR_le in Q. unfold y in L, H. rewrite Z2Nat.id in L, H by lia.
    set (x := IZR r / IZR V).
    assert (X0 : 0 <= x) by (apply div_nonneg; [apply IZR_nonneg; lia|exact PV]).
    assert (X1 : x <= 1 / 2).
    { apply div_le_iff; [exact PV|]. unfold V. rewrite mult_IZR. destruct R0 as [_ R1]. apply IZR_le in R1.
      apply IZR_le in G_least. nra. }
    assert (S := small_terms_ok V U G r U_positive G_positive eq_refl (proj1 R0) X1 (proj2 R0) count).
    cbv zeta in S. fold f x in S.
    assert (Y : exp (- IZR d / IZR U) = exp (- IZR (b + 1) / IZR G) * exp x).
    { rewrite <- exp_plus. f_equal. unfold x, V, r. rewrite minus_IZR, !mult_IZR. field. lra. }
    rewrite Y. set (k := exp (- IZR (b + 1) / IZR G)) in *. assert (K0 : 0 < k) by apply exp_pos.
    assert (E1 : 1 <= exp x) by (rewrite <- exp_0; apply exp_monotone; exact X0). assert (E2 := exp_half x X1).
    set (g := exp x) in *. set (s := IZR (fst f)) in *. assert (e0 := IZR_nonneg e E0).
    assert (F0 : (0 <= fst f)%Z).
    { unfold f. clear - R0 U_positive G_positive.
      assert (Z : forall n i t, (0 <= t)%Z -> (0 <= fst (terms_from U (floor_div r G) i n t))%Z).
      { induction n as [|n IH]; intros i t Ht; cbn [terms_from fst]; [exact Ht|].
        apply Z.add_nonneg_nonneg; [exact Ht|]. apply IH. apply floor_div_nonneg; [|apply Z.mul_pos_pos; lia].
        apply Z.mul_nonneg_nonneg; [exact Ht|]. apply floor_div_nonneg; lia. }
      apply Z. lia. }
    set (w := floor_div (e * fst f) (U * G)). assert (D : (0 < U * G)%Z) by (apply Z.mul_pos_pos; assumption).
    assert (W0 : (0 <= w)%Z) by (apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg|]; assumption).
    set (p := IZR e * s / IZR V). assert (EP : IZR (e * fst f) = IZR (U * G) * p).
    { unfold p, s. fold V. rewrite mult_IZR. field. lra. }
    assert (W1 : IZR w <= p) by (apply floor_div_below; [exact D|rewrite EP; apply Rle_refl]).
    assert (W2 : p <= IZR w + 1).
    { rewrite <- plus_IZR. apply (Rmult_le_reg_l (IZR (U * G))); [apply IZR_pos; exact D|].
      rewrite <- EP, <- mult_IZR. apply IZR_le. unfold w, floor_div.
      assert (M := Z.mul_succ_div_gt (e * fst f) (U * G) D). lia. }
    assert (w0 := IZR_nonneg w W0). split; [lia|]. rewrite plus_IZR.
    assert (SL : IZR slack = IZR rest + 4 + 2 * IZR (Z.of_nat count)).
    { unfold slack. rewrite !plus_IZR, mult_IZR. reflexivity. }
    assert (G1 : s / IZR V <= g - 1) by (apply div_le_iff; [exact PV|lra]).
    assert (G2 : g - 1 <= s / IZR V + IZR slack / IZR V).
    { unfold Rdiv. rewrite <- Rmult_plus_distr_r. apply le_div_iff; [exact PV|]. lra. }
    assert (P : p = IZR e * (s / IZR V)) by (unfold p, Rdiv; ring).
    assert (S0 : 0 <= IZR slack / IZR V) by lra.
    split.
    + replace (IZR W * (k * g)) with (IZR W * k * g) by ring. nra.
    + replace (IZR W * (k * g)) with (IZR W * k * g) by ring.
      replace (IZR slack * (IZR e + IZR w) / IZR V) with (IZR slack / IZR V * (IZR e + IZR w)) by (unfold Rdiv; ring).
      assert (IZR W * k * g <= (IZR e + 2) * g) by (apply Rmult_le_compat_r; lra).
      assert (IZR e * (g - 1) <= p + IZR e * (IZR slack / IZR V)) by (rewrite P; nra).
      assert (0 <= IZR slack / IZR V * IZR w) by (apply Rmult_le_pos; assumption). nra.
  - destruct (look t last) as [e|] eqn:L; [|discriminate]. destruct (e =? 0)%Z eqn:Z0; [|discriminate].
    injection E as <-. apply Z.eqb_eq in Z0 as ->. apply table_is_right in L as [_ [_ H]]. apply Z.ltb_ge in C.
    split; [lia|]. assert (P := exp_pos (- IZR d / IZR U)).
    replace (IZR slack * 0 / IZR V) with 0 by (unfold Rdiv; ring). split; [nra|].
    apply Rle_trans with (IZR W * y last); [|lra]. apply Rmult_le_compat_l; [lra|]. apply exp_monotone.
    unfold Rdiv. rewrite !Ropp_mult_distr_l_reverse. apply Ropp_le_contravar.
    apply (div_le_iff (IZR (Z.of_nat last)) (IZR G)); [exact PG|].
    replace (IZR G * (IZR d * / IZR U)) with (IZR (d * G) / IZR U) by (rewrite mult_IZR; unfold Rdiv; ring).
    apply le_div_iff; [exact PU|]. rewrite <- mult_IZR. apply IZR_le. nia.
Qed.

Fixpoint exp_sum (top : Z) (z : list Z) : R :=
  match z with nil => 0 | k :: z' => exp (IZR (k - top) / IZR U) + exp_sum top z' end.

Lemma low_sum_ok : forall top z s, low_sum G last t count rest U top z = Some s ->
  (0 <= s)%Z /\
  IZR s <= IZR W * exp_sum top z <= IZR s + 5 * IZR (Z.of_nat (length z)) + IZR slack * IZR s / IZR V.
Proof.
  intros top. induction z as [|k z IH]; intros s E; cbn [low_sum exp_sum length] in *.
  - injection E as <-. split; [lia|]. change (IZR (Z.of_nat 0)) with 0. unfold Rdiv. lra.
  - destruct (k <=? top)%Z eqn:C; [|discriminate]. apply Z.leb_le in C.
    destruct (low_exp _ _ _ _ _ _ _) as [v|] eqn:L; [|discriminate].
    destruct (low_sum _ _ _ _ _ _ _ z) as [s'|]; [|discriminate]. injection E as <-.
    apply low_exp_ok in L as [V0 L]; [|lia]. destruct (IH s' eq_refl) as [S0 M]. split; [lia|].
    replace (- IZR (top - k)) with (IZR (k - top)) in L by (rewrite !minus_IZR; ring).
    replace (IZR (Z.of_nat (S (length z)))) with (IZR (Z.of_nat (length z)) + 1)
      by (rewrite <- plus_IZR; f_equal; lia).
    rewrite plus_IZR. replace (IZR slack * (IZR v + IZR s') / IZR V) with
      (IZR slack * IZR v / IZR V + IZR slack * IZR s' / IZR V) by (unfold Rdiv; ring). lra.
Qed.

Theorem sum_ends_ok : forall top z e, sum_ends G last t count rest U top z = Some e -> encloses W e (exp_sum top z).
Proof.
  intros top z e E. unfold sum_ends in E. destruct (low_sum _ _ _ _ _ _ _ _) as [s|] eqn:L; [|discriminate].
  injection E as <-. apply low_sum_ok in L as [_ [L H]]. split; [exact L|]. fold slack.
  assert (D : (0 < U * G)%Z) by (apply Z.mul_pos_pos; assumption).
  assert (C := le_ceil_div (slack * s) (U * G) D). fold V in C. fold V. rewrite mult_IZR in C.
  set (w := ceil_div _ _) in *. set (n := Z.of_nat (length z)) in *.
  change (IZR W * exp_sum top z <= IZR (s + 5 * n + w)). rewrite !plus_IZR, (mult_IZR 5). lra.
Qed.
End Sum.
End Table.
