(** Softmax masses at given latents: exp (z_j - top) / sum_i exp (z_i - top), where any top will do; the greatest
    coordinate keeps the exponentials between 0 and 1. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Monotone Exponential Log ExponentialSum Boxes Columns Simplex Vectors.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (T : Z) (terms : nat).

Definition greatest_coordinate (z : list Z) : Z := fold_right Z.max (hd 0 z) z.

Definition exponentials (U : positive) (top : Z) (z : list Z) : option (list (Z * Z)) :=
  all_some (map (fun k => exp_ends T terms (k - top) (Zpos U)) z).

Definition mass_ends (total e : Z * Z) : Z * Z :=
  (floor_div (T * fst e) (snd total), Z.min T (ceil_div (T * snd e) (fst total))).

Definition masses (U : positive) (z : list Z) : option (list (Z * Z)) :=
  match exponentials U (greatest_coordinate z) z with
  | Some es =>
      let total := (zsum (map fst es), zsum (map snd es)) in
      if 0 <? fst total then Some (map (mass_ends total) es) else None
  | None => None
  end.

(** Of few masses only the numerators are needed, and the sum, which fewer bits are enough for: W = 2^44. *)
Definition sum_scale : Z := 2 ^ 44.
Definition finer_scale : Z := 2 ^ 24.
Definition grid_bits : Z := 8.
Definition fine_bits : Z := 28.
Definition exp_grid : Z := 2 ^ grid_bits.
Definition last_entry : nat := Z.to_nat (31 * exp_grid).
Definition fine_unit : Z := 2 ^ (grid_bits + fine_bits).

Definition softmax_table (depth : nat) : exp_table :=
  exp_entries sum_scale finer_scale exp_grid last_entry terms depth.

(** Coordinates are rounded down to the fine unit; this moves their differences by less than one of it. *)
Definition total_ends (t : exp_table) (U : positive) (top : Z) (z : list Z) : option (Z * Z) :=
  let shift := Z.log2 (Zpos U) - (grid_bits + fine_bits) in
  if (Z.shiftr (Zpos U) shift =? fine_unit) && (Z.shiftr fine_unit (- shift) =? Zpos U) then
    match sum_ends exp_grid last_entry t grid_bits fine_bits shift (Z.shiftr top shift) z with
    | Some (low, high) => Some (low - ceil_div low fine_unit, high + ceil_div (2 * high) fine_unit)
    | None => None
    end
  else None.

Definition mass_of_total (total : Z * Z) (U : positive) (top k : Z) : option (Z * Z) :=
  match exp_ends T terms (k - top) (Zpos U) with
  | Some e =>
      if 0 <? fst total then
        Some (floor_div (sum_scale * fst e) (snd total), Z.min T (ceil_div (sum_scale * snd e) (fst total)))
      else None
  | None => None
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (T : Z) (terms : nat) (h : head) (z : list Z) (U : positive).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis softmax : is_softmax h = true.
Hypothesis width : length z = count h.
Let v : nat -> R := over z U.

Section Top.
Variables (top : Z) (es : list (Z * Z)).
Hypothesis enclosed : exponentials T terms U top z = Some es.
Let y (i : nat) : R := exp (IZR (nth i z 0%Z - top) / IZR (Zpos U)).

Lemma length_exponentials : length es = count h.
Proof. assert (K := all_some_spec _ _ _ enclosed). apply length_values in K. congruence. Qed.

Lemma exponential_ok : forall i, (i < count h)%nat ->
  (0 <= fst (nth i es (0, 0)))%Z /\ encloses T (nth i es (0, 0)%Z) (y i).
Proof.
  intros i Hi. assert (K := all_some_spec _ _ _ enclosed). set (f := fun k => exp_ends T terms (k - top) (Zpos U)) in K.
  assert (N : f (nth i z 0%Z) = Some (nth i es (0, 0)%Z)).
  { rewrite <- (map_nth Some), <- (map_nth f), K. apply nth_indep. rewrite map_length, length_exponentials.
    exact Hi. }
  unfold f in N. apply exp_ends_encloses in N as [_ N]; [exact N|exact T_positive].
Qed.

Lemma sum_of_ends : forall side : Z * Z -> Z,
  IZR (zsum (map side es)) = rsum (count h) (fun i => IZR (side (nth i es (0, 0)%Z))).
Proof.
  intros side. rewrite <- length_exponentials. clear. induction es as [|e l IH]; [reflexivity|].
  cbn [map zsum length]. rewrite rsum_front, plus_IZR, IH. reflexivity.
Qed.

Lemma total_ok : IZR (zsum (map fst es)) <= IZR T * rsum (count h) y <= IZR (zsum (map snd es)).
Proof.
  rewrite !sum_of_ends, <- rsum_scal. split; apply rsum_le; intros i Hi; apply exponential_ok; exact Hi.
Qed.

(** The top cancels. *)
Lemma mass_is_ratio : forall j, observable h v j = y j / rsum (count h) y.
Proof.
  intros j. destruct (is_softmax_ok h softmax) as [G D]. unfold observable. rewrite G, D.
  set (k := exp (IZR top / IZR (Zpos U))). assert (K : 0 < k) by apply exp_pos.
  assert (E : forall i, exp (v i) = k * y i).
  { intros i. unfold k, y, v, over, q. rewrite <- exp_plus. f_equal. rewrite minus_IZR. assert (P := Zpos_pos U).
    field. lra. }
  rewrite (rsum_ext _ (fun i => exp (v i)) (fun i => k * y i)) by (intros; apply E). rewrite rsum_scal, E.
  unfold Rdiv. rewrite Rinv_mult. generalize (/ rsum (count h) y). intros. field. lra.
Qed.

Lemma mass_at_most_one : forall j, (j < count h)%nat -> observable h v j <= 1.
Proof.
  intros j Hj. rewrite <- (masses_sum_to_one h v softmax) by lia.
  apply (rsum_ge_term (count h) (observable h v)); [|exact Hj]. intros k Hk. left. apply mass_positive; assumption.
Qed.

Lemma mass_ends_ok : forall j, (j < count h)%nat -> (0 < zsum (map fst es))%Z ->
  encloses T (mass_ends T (zsum (map fst es), zsum (map snd es)) (nth j es (0, 0)%Z)) (observable h v j).
Proof.
  intros j Hj P. destruct total_ok as [L H]. destruct (exponential_ok j Hj) as [E0 [EL EH]].
  assert (HT := IZR_pos _ T_positive).
  assert (M1 := mass_at_most_one j Hj). assert (M0 := mass_positive h v j softmax Hj). rewrite mass_is_ratio in *.
  set (s := rsum (count h) y) in *. apply IZR_pos in P as PR. assert (S : 0 < s) by nra.
  assert (HP : (0 < zsum (map snd es))%Z) by (apply lt_IZR; lra).
  set (m := y j / s) in *. assert (Y : y j = m * s) by (unfold m; field; lra). rewrite Y in EL, EH.
  assert (E : IZR T * (IZR T * (m * s)) = (IZR T * s) * (IZR T * m)) by ring.
  split; cbn [mass_ends fst snd].
  - apply floor_div_below; [exact HP|]. rewrite mult_IZR. apply Rle_trans with (IZR T * (IZR T * (m * s))); [nra|].
    rewrite E. apply Rmult_le_compat_r; [nra|exact H].
  - destruct (Z.min_spec T (ceil_div (T * snd (nth j es (0, 0)%Z)) (zsum (map fst es)))) as [[_ ->]|[_ ->]]; [nra|].
    apply ceil_div_above; [exact P|]. rewrite mult_IZR. apply Rle_trans with (IZR T * (IZR T * (m * s))); [|nra].
    rewrite E. apply Rmult_le_compat_r; [nra|exact L].
Qed.
End Top.

Theorem masses_ok : forall r, masses T terms U z = Some r ->
  length r = count h /\ forall j, (j < count h)%nat -> encloses T (nth j r (0, 0)%Z) (observable h v j).
Proof.
  intros r E. unfold masses in E. destruct (exponentials _ _ _ _ _) as [es|] eqn:X; [|discriminate].
  cbn [fst] in E. destruct (0 <? zsum (map fst es))%Z eqn:P; [|discriminate]. injection E as <-.
  apply Z.ltb_lt in P. assert (L := length_exponentials _ _ X). split; [rewrite map_length; exact L|].
  intros j Hj. set (total := (zsum (map fst es), zsum (map snd es))).
  rewrite (nth_indep _ (0, 0)%Z (mass_ends T total (0, 0)%Z)) by (rewrite map_length, L; exact Hj).
  rewrite map_nth. apply (mass_ends_ok _ _ X); assumption.
Qed.

Lemma exp_sum_is_rsum : forall u top l,
  exp_sum u top l = rsum (length l) (fun i => exp (IZR (nth i l 0%Z - top) / IZR u)).
Proof.
  intros u top l. induction l as [|k l IH]; [reflexivity|]. cbn [exp_sum length]. rewrite rsum_front, IH. reflexivity.
Qed.

Lemma shifted_between : forall u w shift k, (0 < u)%Z -> (0 < w)%Z -> Z.shiftr u shift = w ->
  Z.shiftr w (- shift) = u ->
  IZR (Z.shiftr k shift) / IZR w <= IZR k / IZR u <= (IZR (Z.shiftr k shift) + 1) / IZR w.
Proof.
  intros u w shift k Hu Hv E E'. apply IZR_pos in Hu as PU. apply IZR_pos in Hv as PV.
  assert (PI : 0 < / IZR w) by (apply Rinv_0_lt_compat; exact PV).
  destruct (Z.le_gt_cases 0 shift) as [S|S].
  - rewrite Z.shiftr_opp_r, Z.shiftl_mul_pow2 in E' by exact S. assert (B := shiftr_between shift k S).
    assert (P : (0 < 2 ^ shift)%Z) by (apply Z.pow_pos_nonneg; lia). apply IZR_pos in P.
    replace (IZR k / IZR u) with (IZR k / IZR (2 ^ shift) / IZR w) by (rewrite <- E', mult_IZR; field; lra).
    unfold Rdiv at 1 3 5. split; apply Rmult_le_compat_r; lra.
  - replace shift with (- - shift)%Z in * by lia. rewrite Z.shiftr_opp_r, Z.shiftl_mul_pow2 in * by lia.
    assert (P : (0 < 2 ^ (- shift))%Z) by (apply Z.pow_pos_nonneg; lia). apply IZR_pos in P.
    replace (IZR k / IZR u) with (IZR (k * 2 ^ (- shift)) / IZR w) by (rewrite <- E, !mult_IZR; field; lra).
    unfold Rdiv. split; [apply Rle_refl|]. apply Rmult_le_compat_r; lra.
Qed.

Lemma exp_sum_shifted : forall u w shift top l, (0 < u)%Z -> (0 < w)%Z -> Z.shiftr u shift = w ->
  Z.shiftr w (- shift) = u ->
  exp (- / IZR w) * exp_sum w (Z.shiftr top shift) (map (fun k => Z.shiftr k shift) l) <= exp_sum u top l <=
  exp (/ IZR w) * exp_sum w (Z.shiftr top shift) (map (fun k => Z.shiftr k shift) l).
Proof.
  intros u w shift top l Hu Hv E E'. assert (Top := shifted_between u w shift top Hu Hv E E').
  induction l as [|k l IH]; cbn [exp_sum map]; [lra|]. rewrite !Rmult_plus_distr_l, <- !exp_plus.
  assert (K := shifted_between u w shift k Hu Hv E E'). unfold Rdiv in *. rewrite !Rmult_plus_distr_r in *.
  assert (exp (- / IZR w + IZR (Z.shiftr k shift - Z.shiftr top shift) * / IZR w) <= exp (IZR (k - top) * / IZR u)).
  { apply exp_monotone. rewrite !minus_IZR. lra. }
  assert (exp (IZR (k - top) * / IZR u) <= exp (/ IZR w + IZR (Z.shiftr k shift - Z.shiftr top shift) * / IZR w)).
  { apply exp_monotone. rewrite !minus_IZR. lra. }
  lra.
Qed.

Lemma exp_near_0 : forall x, 0 <= x <= 1 / 2 -> 1 - x <= exp (- x) /\ exp x <= 1 + 2 * x.
Proof.
  intros x H. assert (L := exp_ineq1_le (- x)). assert (P := exp_pos x). split; [lra|].
  assert (I : exp x * exp (- x) = 1) by (rewrite <- exp_plus; replace (x + - x) with 0 by ring; apply exp_0). nra.
Qed.

Lemma total_ends_ok : forall depth top e, total_ends (softmax_table terms depth) U top z = Some e ->
  encloses sum_scale e (rsum (count h) (fun i => exp (IZR (nth i z 0%Z - top) / IZR (Zpos U)))).
Proof.
  intros depth top e E. unfold total_ends in E. rewrite <- width, <- exp_sum_is_rsum.
  set (shift := (Z.log2 (Zpos U) - _)%Z) in *. destruct (_ && _) eqn:C; [|discriminate].
  apply andb_prop in C as [C1 C2]. apply Z.eqb_eq in C1, C2.
  destruct (sum_ends _ _ _ _ _ _ _ _) as [[low high]|] eqn:S; [|discriminate].
  assert (e = (low - ceil_div low fine_unit, high + ceil_div (2 * high) fine_unit)%Z) as -> by congruence.
  apply (sum_ends_ok sum_scale finer_scale exp_grid) in S;
    try reflexivity; [|apply exp_entries_right; reflexivity|discriminate].
  change (2 ^ (grid_bits + fine_bits))%Z with fine_unit in S.
  assert (B := exp_sum_shifted (Zpos U) fine_unit shift top z eq_refl eq_refl C1 C2).
  set (s := exp_sum fine_unit _ _) in *. clearbody s. destruct S as [L H]. cbn [fst snd] in L, H.
  assert (PV : 0 < IZR fine_unit) by (apply (IZR_lt 0); reflexivity).
  assert (V2 : / IZR fine_unit <= 1 / 2).
  { unfold Rdiv. rewrite Rmult_1_l. apply Rinv_le_contravar; [lra|]. apply (IZR_le 2). discriminate. }
  assert (PI : 0 < / IZR fine_unit) by (apply Rinv_0_lt_compat; exact PV).
  destruct (exp_near_0 (/ IZR fine_unit) ltac:(lra)) as [N1 N2].
  assert (D1 := le_ceil_div low fine_unit eq_refl). assert (D2 := le_ceil_div (2 * high) fine_unit eq_refl).
  rewrite mult_IZR in D2. unfold Rdiv in D1, D2. set (w := / IZR fine_unit) in *.
  assert (W_positive : 0 < IZR sum_scale) by (apply (IZR_lt 0); reflexivity).
  unfold encloses. cbn [fst snd]. set (W := IZR sum_scale) in *. clearbody W w.
  set (S := exp_sum _ _ _) in *. clearbody S.
  assert (s0 : 0 <= s).
  { destruct (Rle_dec 0 s) as [K|K]; [exact K|]. exfalso.
    assert (exp (- w) < exp w) by (apply exp_increasing; lra). nra. }
  rewrite minus_IZR, plus_IZR. split.
  - assert ((1 - w) * s <= S) by nra. assert ((1 - w) * (W * s) <= W * S) by nra.
    assert ((1 - w) * IZR low <= (1 - w) * (W * s)) by (apply Rmult_le_compat_l; lra). lra.
  - assert (S <= (1 + 2 * w) * s) by nra. assert (W * S <= (1 + 2 * w) * (W * s)) by nra.
    assert ((1 + 2 * w) * (W * s) <= (1 + 2 * w) * IZR high) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Theorem mass_of_total_ok : forall depth top j k total e, (j < count h)%nat -> nth_error z j = Some k ->
  total_ends (softmax_table terms depth) U top z = Some total ->
  mass_of_total T terms total U top k = Some e -> encloses T e (observable h v j).
Proof.
  intros depth top j k total e Hj N E M. apply total_ends_ok in E as [L H].
  unfold mass_of_total in M. assert (W_positive : (0 < sum_scale)%Z) by reflexivity.
  set (W := sum_scale) in *. clearbody W. destruct (exp_ends _ _ _ _) as [f|] eqn:X; [|discriminate].
  destruct (0 <? fst total)%Z eqn:P; [|discriminate]. injection M as <-. apply Z.ltb_lt in P.
  apply exp_ends_encloses in X as [_ [E0 [EL EH]]]; [|exact T_positive].
  assert (HT := IZR_pos _ T_positive). assert (HW := IZR_pos _ W_positive).
  assert (M1 := mass_at_most_one j Hj). assert (M0 := mass_positive h v j softmax Hj).
  rewrite (mass_is_ratio top) in *. rewrite (nth_error_nth z j 0%Z N) in *.
  set (s := rsum (count h) _) in *. apply IZR_pos in P as PR. assert (S : 0 < s) by nra.
  assert (HP : (0 < snd total)%Z) by (apply lt_IZR; lra).
  set (y := exp _) in *. set (m := y / s) in *. assert (Y : y = m * s) by (unfold m; field; lra). rewrite Y in EL, EH.
  assert (I : IZR W * (IZR T * (m * s)) = (IZR W * s) * (IZR T * m)) by ring.
  split; cbn [fst snd].
  - apply floor_div_below; [exact HP|]. rewrite mult_IZR.
    apply Rle_trans with (IZR W * (IZR T * (m * s))); [nra|]. rewrite I. apply Rmult_le_compat_r; [nra|exact H].
  - match goal with |- _ <= IZR (Z.min T ?c) => destruct (Z.min_spec T c) as [[_ ->]|[_ ->]]; [nra|] end.
    apply ceil_div_above; [exact P|]. rewrite mult_IZR.
    apply Rle_trans with (IZR W * (IZR T * (m * s))); [|nra]. rewrite I. apply Rmult_le_compat_r; [nra|exact L].
Qed.
End Sound.
