(** What one activation says of the others, of heads of cosines whose pooling is the maximum.

    With a similarity that rises an activation is the similarity of the greatest cosine of all patches. A patch's u lies
    in the unit ball. So its cosines m and m' with two prototypes, whose directions have the product c, are such that
    |m - w m'| is at most the length of the one direction less w times the other, (1 - 2 w c + w^2)^(1/2). With w >= 0
    an end of m' gives one of m. Which ends, which w, and between which prototypes, are hints. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Log Columns Quadratic Embedding Facts Direction Similarity Maxima
  Lipschitz.
Import ListNotations.

(** * What runs *)

(** Untrusted: for each prototype t, and for each one the prototype that bounds it, with s and w. *)
Record turns := Turns { turned : list (option Z); turned_from : list (option (nat * (Z * Z))) }.

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms) (ms : list measure).

Definition is_angular : bool :=
  match head_geometry h with Cosine _ | RootedCosine _ => true | _ => false end &&
  match head_pooling h with MaxPool => true | _ => false end.

Definition rising (o : own) (x : Z) : option (Z * Z) :=
  match direction_of h o with Rises => value_at h T B terms logs o x | _ => None end.

(** What is shown to be a bound of the greatest cosine, from above and from below. *)
Definition not_above (x : (own * (Z * Z)) * option Z) : option Z :=
  match x with
  | ((o, e), Some t) => match rising o t with Some v => if snd e <? fst v then Some t else None | None => None end
  | _ => None
  end.
Definition not_below (x : (own * (Z * Z)) * option Z) : option Z :=
  match x with
  | ((o, e), Some t) => match rising o t with Some v => if snd v <? fst e then Some t else None | None => None end
  | _ => None
  end.

(** T times the product of the directions of two prototypes is not less. *)
Definition alike (j k : measure) (product : Z) : Z :=
  let r := root_unit h * root_unit h in
  if 0 <=? product then floor_div (T * product * r) (far j * far k) else floor_div (T * product * r) (near j * near k).

(** Whether [gap] over T^2 is not less than the length, w and c being over T. *)
Definition covers (gap w c : Z) : bool :=
  (0 <=? w) && (0 <=? gap) && (T * T * (T * T - 2 * w * c + w * w) <=? gap * gap).

Definition measured_at (k : nat) : measure := nth k ms (Measure 0 0 1 1).

Definition turn_above (bounds : list (option Z)) (p : list Z) (x : own * measure) (link : option (nat * (Z * Z)))
    (e : Z * Z) : Z * Z :=
  match link with
  | Some (k, (s, w)) =>
      match nth k bounds None with
      | Some t =>
          if Nat.ltb k (count h) && covers (s * T - w * t) w (alike (snd x) (measured_at k) (zdot p (points h k)))
          then match rising (fst x) s with Some v => (fst e, Z.min (snd e) (snd v)) | None => e end else e
      | None => e
      end
  | None => e
  end.
Definition turn_below (bounds : list (option Z)) (p : list Z) (x : own * measure) (link : option (nat * (Z * Z)))
    (e : Z * Z) : Z * Z :=
  match link with
  | Some (k, (s, w)) =>
      match nth k bounds None with
      | Some t =>
          if Nat.ltb k (count h) && covers (w * t - s * T) w (alike (snd x) (measured_at k) (zdot p (points h k)))
          then match rising (fst x) s with Some v => (Z.max (fst e) (fst v), snd e) | None => e end else e
      | None => e
      end
  | None => e
  end.

Definition cut_by_turns (above below : turns) (b : box) : box :=
  if is_angular then
    let os := owns h in
    let xs := combine os ms in
    let upper := map not_above (combine (combine os b) (turned above)) in
    let lower := map not_below (combine (combine os b) (turned below)) in
    cut_all (turn_below lower) (prototypes h) xs (turned_from below)
      (cut_all (turn_above upper) (prototypes h) xs (turned_from above) b)
  else b.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms) (ms : list measure) (n : nat) (z : latents).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis B_positive : (0 < B)%Z.
Hypothesis logs_right : right_logarithms logs.
Hypothesis has_patches : (0 < n)%nat.
Hypothesis angular : is_angular h = true.
Hypothesis measured : measures h = Some ms.
Hypothesis in_the_domain : in_domain h n z.
Let D := depth h.
Let S := IZR (unit_of h).
Let m (j l : nat) : R := observable h (z l) j.
Let P (j : nat) : nat -> R := vector (points h j).

Lemma cosine_parts : forall j l, (j < count h)%nat -> (l < n)%nat ->
  size h j * size h j = inner D (P j) (P j) /\
  inner D (embedded h (z l)) (P j) = S * (size h j * m j l) /\
  inner D (embedded h (z l)) (embedded h (z l)) <= S * S.
Proof.
  intros j l Hj Hl. assert (V := in_the_domain l Hl).
  destruct (measures_ok h ms measured) as (HS & _ & L & HM). specialize (HM j (Measure 0 0 1 1) Hj).
  assert (PS := size_nonneg h j _ HM).
  assert (Q : IZR (zdot (points h j) (points h j)) = inner D (P j) (P j))
    by (apply zdot_real; apply Nat.eq_le_incl, L; exact Hj).
  assert (E := value_of_observable h HS 1 (z l) j _ V PS Q). unfold Quadratic.value in E. fold D in E. fold (P j) in E.
  assert (BB := fun r => embedded_in_ball h HS (z l) r V). fold D S in BB.
  assert (one : real (Fraction 1 1) = 1) by (unfold real, q; simpl; field).
  assert (G := angular). apply andb_prop in G as [G _].
  change (observable h (z l) j) with (m j l) in E. unfold size, ball, curvature, constant, slope in *.
  fold D in PS, E |- *.
  change (inner D (vector (points h j)) (vector (points h j))) with (inner D (P j) (P j)) in *.
  assert (SQ := sqrt_sqrt _ (inner_square_nonneg D (P j))).
  destruct (head_geometry h); try discriminate; specialize (BB _ eq_refl); rewrite one in BB;
    rewrite mult_IZR in E; fold D S in BB; fold S in E; (split; [exact SQ|split; lra]).
Qed.

Lemma size_above_0 : forall j, (j < count h)%nat -> 0 < size h j.
Proof.
  intros j Hj. destruct (measures_ok h ms measured) as (_ & _ & _ & HM).
  exact (size_nonneg h j _ (HM j (Measure 0 0 1 1) Hj)).
Qed.

Lemma cosines_differ : forall j k l w c g, (j < count h)%nat -> (k < count h)%nat -> (l < n)%nat ->
  0 <= w -> c * (size h j * size h k) <= inner D (P j) (P k) -> 0 <= g -> 1 - 2 * w * c + w * w <= g * g ->
  - g <= m j l - w * m k l <= g.
Proof.
  intros j k l w c g Hj Hk Hl Hw Hc Hg H.
  destruct (cosine_parts j l Hj Hl) as (Qj & Ej & HB). destruct (cosine_parts k l Hk Hl) as (Qk & Ek & _).
  assert (Sj := size_above_0 j Hj). assert (Sk := size_above_0 k Hk). assert (SP : 0 < S) by apply unit_positive.
  set (y := embedded h (z l)) in *. set (a := size h j) in *. set (b := size h k) in *.
  set (v := fun d => b * P j d + (- w * a) * P k d).
  assert (YV : inner D y v = S * (a * b) * (m j l - w * m k l)).
  { rewrite inner_comm. unfold v. rewrite inner_plus_l, !inner_scal_l.
    rewrite (inner_comm D (P j)), (inner_comm D (P k)), Ej, Ek. ring. }
  assert (VV : inner D v v <= a * b * (a * b) * (g * g)).
  { unfold v. rewrite inner_square_of_sum, <- Qj, <- Qk.
    apply Rle_trans with (a * b * (a * b) * (1 - 2 * w * c + w * w)).
    - assert (X : 2 * (a * b) * w * (c * (a * b)) <= 2 * (a * b) * w * inner D (P j) (P k)).
      { apply Rmult_le_compat_l; [|exact Hc]. repeat apply Rmult_le_pos; lra. }
      lra.
    - apply Rmult_le_compat_l; [|exact H]. repeat apply Rmult_le_pos; lra. }
  assert (C := cauchy_schwarz D y v). rewrite YV in C.
  set (x := m j l - w * m k l) in *. set (r := S * (a * b)) in *.
  assert (R0 : 0 < r) by (unfold r; repeat apply Rmult_lt_0_compat; assumption).
  assert (K : r * r * (x * x) <= r * r * (g * g)).
  { replace (r * r * (x * x)) with (r * x * (r * x)) by ring. eapply Rle_trans; [exact C|].
    replace (r * r * (g * g)) with (S * S * (a * b * (a * b) * (g * g))) by (unfold r; ring).
    apply Rmult_le_compat; try apply inner_square_nonneg; assumption. }
  assert (X : x * x <= g * g) by (apply (Rmult_le_reg_l (r * r)); [apply Rmult_lt_0_compat; exact R0|exact K]).
  split; nra.
Qed.

Lemma alike_right : forall j k, (j < count h)%nat -> (k < count h)%nat ->
  IZR (alike h T (measured_at ms j) (measured_at ms k) (zdot (points h j) (points h k))) / IZR T *
    (size h j * size h k) <= inner D (P j) (P k).
Proof.
  intros j k Hj Hk. destruct (measures_ok h ms measured) as (_ & _ & L & HM).
  destruct (HM j (Measure 0 0 1 1) Hj) as (_ & _ & Nj & Lj & Uj).
  destruct (HM k (Measure 0 0 1 1) Hk) as (_ & _ & Nk & Lk & Uk).
  assert (Sj := size_above_0 j Hj). assert (Sk := size_above_0 k Hk). assert (TP := IZR_pos _ T_positive).
  assert (Q : IZR (zdot (points h j) (points h k)) = inner D (P j) (P k))
    by (apply zdot_real; apply Nat.eq_le_incl, L; exact Hj).
  unfold alike. cbv zeta. fold (measured_at ms j) in *. fold (measured_at ms k) in *.
  set (x := zdot (points h j) (points h k)) in *. set (mj := measured_at ms j) in *. set (mk := measured_at ms k) in *.
  assert (RP := root_unit_positive h). set (r := IZR (root_unit h)) in *.
  set (a := size h j) in *. set (b := size h k) in *.
  rewrite <- Q. clear Q. assert (AB : 0 < a * b) by (apply Rmult_lt_0_compat; assumption).
  assert (goal : forall d : Z, IZR T * (IZR d / IZR T * (a * b)) = IZR d * (a * b)) by (intros; field; lra).
  apply (Rmult_le_reg_l (IZR T)); [exact TP|]. rewrite goal. clear goal.
  assert (NP : IZR (near mj) * IZR (near mk) <= r * r * (a * b)).
  { replace (r * r * (a * b)) with (r * a * (r * b)) by ring. apply Rmult_le_compat; lra. }
  assert (FP : r * r * (a * b) <= IZR (far mj) * IZR (far mk)).
  { replace (r * r * (a * b)) with (r * a * (r * b)) by ring. apply Rmult_le_compat; try lra;
      apply Rmult_le_pos; lra. }
  assert (F0 : 0 < IZR (far mj) * IZR (far mk)) by (apply Rmult_lt_0_compat; lra).
  assert (N0 : 0 < IZR (near mj) * IZR (near mk)) by (apply Rmult_lt_0_compat; assumption).
  assert (main : forall d : Z, 0 < IZR d ->
    (0 <= x)%Z /\ r * r * (a * b) <= IZR d \/ (x <= 0)%Z /\ IZR d <= r * r * (a * b) ->
    IZR (floor_div (T * x * (root_unit h * root_unit h)) d) * (a * b) <= IZR T * IZR x).
  { intros d D0 H. apply (lt_IZR 0) in D0 as D1. assert (FD := floor_div_le (T * x * (root_unit h * root_unit h)) d D1).
    rewrite !mult_IZR in FD. fold r in FD. apply (Rmult_le_compat_r (a * b)) in FD; [|lra].
    eapply Rle_trans; [exact FD|]. apply (Rmult_le_reg_l (IZR d)); [exact D0|].
    replace (IZR d * (IZR T * IZR x * (r * r) / IZR d * (a * b))) with (IZR T * IZR x * (r * r * (a * b)))
      by (field; lra).
    rewrite (Rmult_comm (IZR d)). destruct H as [[H1 H2]|[H1 H2]]; apply IZR_le in H1.
    - apply Rmult_le_compat_l; [apply Rmult_le_pos; lra|exact H2].
    - apply Rmult_le_compat_neg_l; [|exact H2]. assert (0 <= IZR T * - IZR x) by (apply Rmult_le_pos; lra). lra. }
  destruct (0 <=? x)%Z eqn:X.
  - apply Z.leb_le in X. apply main; rewrite ?mult_IZR; [exact F0|left; split; assumption].
  - apply Z.leb_gt in X. apply main; rewrite ?mult_IZR; [exact N0|right; split; [lia|assumption]].
Qed.

(** ** The similarity of the greatest cosine *)

Lemma rising_right : forall o x v, rising h T B terms logs o x = Some v ->
  direction_of h o = Rises /\ encloses B v (similar h o (IZR x / IZR T)).
Proof.
  intros o x v H. unfold rising in H. destruct (direction_of h o); try discriminate.
  split; [reflexivity|]. apply (value_at_ok h T B terms logs T_positive B_positive logs_right). exact H.
Qed.

Lemma activation_of_greatest : forall j x, direction_of h (own_at h j) = Rises -> greatest_of n (m j) x ->
  activation h n z j = similar h (own_at h j) x.
Proof.
  intros j x F X. assert (Q := angular). apply andb_prop in Q as [_ Q]. unfold activation, activation_of.
  destruct (head_pooling h); try discriminate. rewrite <- sim_similar.
  apply (greatest_of_rising n (sim h j) (m j) x); [|exact X]. intros l i _ _. apply sim_rises. exact F.
Qed.

Definition greatest_is (side : R -> R -> Prop) (j : nat) (t : Z) : Prop :=
  forall x, greatest_of n (m j) x -> side x (IZR t / IZR T).

Lemma not_above_right : forall j e t t', encloses B e (activation h n z j) ->
  not_above h T B terms logs ((own_at h j, e), t) = Some t' -> greatest_is Rle j t'.
Proof.
  intros j e t t' E H x X. unfold not_above in H. destruct t as [t|]; [|discriminate].
  destruct (rising h T B terms logs (own_at h j) t) as [v|] eqn:V; [|discriminate].
  destruct (_ <? _)%Z eqn:L; [|discriminate]. injection H as <-. apply Z.ltb_lt, IZR_lt in L.
  apply rising_right in V as (F & [V _]). rewrite (activation_of_greatest j x F X) in E. destruct E as [_ E].
  destruct (Rle_dec x (IZR t / IZR T)) as [G|G]; [exact G|exfalso]. apply Rnot_le_lt in G.
  assert (M := similar_rises h (own_at h j) _ _ F (Rlt_le _ _ G)).
  apply IZR_pos in B_positive as BP. apply (Rmult_le_compat_l (IZR B)) in M; lra.
Qed.

Lemma not_below_right : forall j e t t', encloses B e (activation h n z j) ->
  not_below h T B terms logs ((own_at h j, e), t) = Some t' -> greatest_is Rge j t'.
Proof.
  intros j e t t' E H x X. unfold not_below in H. destruct t as [t|]; [|discriminate].
  destruct (rising h T B terms logs (own_at h j) t) as [v|] eqn:V; [|discriminate].
  destruct (_ <? _)%Z eqn:L; [|discriminate]. injection H as <-. apply Z.ltb_lt, IZR_lt in L.
  apply rising_right in V as (F & [_ V]). rewrite (activation_of_greatest j x F X) in E. destruct E as [E _].
  destruct (Rge_dec x (IZR t / IZR T)) as [G|G]; [exact G|exfalso]. apply Rnot_ge_lt in G.
  assert (M := similar_rises h (own_at h j) _ _ F (Rlt_le _ _ G)).
  apply IZR_pos in B_positive as BP. apply (Rmult_le_compat_l (IZR B)) in M; lra.
Qed.

(** ** From one prototype to another *)

Lemma covered : forall j k l gap w, (j < count h)%nat -> (k < count h)%nat -> (l < n)%nat ->
  covers T gap w (alike h T (measured_at ms j) (measured_at ms k) (zdot (points h j) (points h k))) = true ->
  0 <= IZR w / IZR T /\
  - (IZR gap / (IZR T * IZR T)) <= m j l - IZR w / IZR T * m k l <= IZR gap / (IZR T * IZR T).
Proof.
  intros j k l gap w Hj Hk Hl H. assert (A := alike_right j k Hj Hk). set (c := alike h T _ _ _) in *.
  unfold covers in H. apply andb_prop in H as [H H3]. apply andb_prop in H as [H1 H2].
  apply Z.leb_le, IZR_nonneg in H1, H2. apply Z.leb_le, IZR_le in H3.
  rewrite !mult_IZR, plus_IZR, minus_IZR, !mult_IZR in H3. assert (TP := IZR_pos _ T_positive).
  assert (W : 0 <= IZR w / IZR T) by (apply div_nonneg; lra). split; [exact W|].
  assert (TT : 0 < IZR T * IZR T) by (apply Rmult_lt_0_compat; exact TP).
  apply (cosines_differ j k l _ (IZR c / IZR T)); try assumption; [apply div_nonneg; lra|].
  apply (Rmult_le_reg_l (IZR T * IZR T * (IZR T * IZR T))); [apply Rmult_lt_0_compat; exact TT|].
  replace (IZR T * IZR T * (IZR T * IZR T) *
      (1 - 2 * (IZR w / IZR T) * (IZR c / IZR T) + IZR w / IZR T * (IZR w / IZR T)))
    with (IZR T * IZR T * (IZR T * IZR T - 2 * IZR w * IZR c + IZR w * IZR w)) by (field; lra).
  replace (IZR T * IZR T * (IZR T * IZR T) * (IZR gap / (IZR T * IZR T) * (IZR gap / (IZR T * IZR T))))
    with (IZR gap * IZR gap) by (field; lra). exact H3.
Qed.

Lemma gap_is : forall s w t, IZR (s * T - w * t) / (IZR T * IZR T) = IZR s / IZR T - IZR w / IZR T * (IZR t / IZR T).
Proof. intros. rewrite minus_IZR, !mult_IZR. field. apply Rgt_not_eq, IZR_pos, T_positive. Qed.

Lemma turn_above_right : forall j bounds link e, (j < count h)%nat ->
  (forall k t, nth k bounds None = Some t -> greatest_is Rle k t) -> encloses B e (activation h n z j) ->
  encloses B (turn_above h T B terms logs ms bounds (points h j) (own_at h j, measured_at ms j) link e)
    (activation h n z j).
Proof.
  intros j bounds link e Hj K E. unfold turn_above. destruct link as [[k [s w]]|]; [|exact E].
  destruct (nth k bounds None) as [t|] eqn:N; [|exact E]. destruct (_ && _)%bool eqn:F; [|exact E].
  apply andb_prop in F as [Hk F]. apply Nat.ltb_lt in Hk. cbn [fst snd] in *.
  destruct (rising h T B terms logs (own_at h j) s) as [v|] eqn:V; [|exact E].
  apply rising_right in V as (Fa & [_ V]).
  destruct (greatest_exists n (m j) has_patches) as [x Hx]. destruct (greatest_exists n (m k) has_patches) as [y Hy].
  assert (A := activation_of_greatest j x Fa Hx). assert (X := K k t N y Hy). destruct Hx as [(l & Hl & ->) _].
  destruct Hy as [_ Hy]. specialize (Hy l Hl). destruct (covered j k l _ w Hj Hk Hl F) as [W [_ C]].
  rewrite gap_is in C.
  assert (G : m j l <= IZR s / IZR T).
  { assert (Q := Rmult_le_compat_l _ _ _ W (Rle_trans _ _ _ Hy X)). lra. }
  assert (M := similar_rises h (own_at h j) _ _ Fa G).
  apply IZR_pos in B_positive as BP. apply (Rmult_le_compat_l (IZR B)) in M; [|lra].
  split; cbn [fst snd]; [apply E|]. rewrite IZR_min. apply Rmin_glb; [apply E|]. rewrite A. lra.
Qed.

Lemma turn_below_right : forall j bounds link e, (j < count h)%nat ->
  (forall k t, nth k bounds None = Some t -> greatest_is Rge k t) -> encloses B e (activation h n z j) ->
  encloses B (turn_below h T B terms logs ms bounds (points h j) (own_at h j, measured_at ms j) link e)
    (activation h n z j).
Proof.
  intros j bounds link e Hj K E. unfold turn_below. destruct link as [[k [s w]]|]; [|exact E].
  destruct (nth k bounds None) as [t|] eqn:N; [|exact E]. destruct (_ && _)%bool eqn:F; [|exact E].
  apply andb_prop in F as [Hk F]. apply Nat.ltb_lt in Hk. cbn [fst snd] in *.
  destruct (rising h T B terms logs (own_at h j) s) as [v|] eqn:V; [|exact E].
  apply rising_right in V as (Fa & [V _]).
  destruct (greatest_exists n (m j) has_patches) as [x Hx]. destruct (greatest_exists n (m k) has_patches) as [y Hy].
  assert (A := activation_of_greatest j x Fa Hx). assert (X := K k t N y Hy). destruct Hy as [(l & Hl & ->) _].
  destruct Hx as [_ Hx]. specialize (Hx l Hl). destruct (covered j k l _ w Hj Hk Hl F) as [W [C _]].
  replace (w * t - s * T)%Z with (- (s * T - w * t))%Z in C by ring.
  rewrite opp_IZR in C. replace (- IZR (s * T - w * t) / (IZR T * IZR T)) with
    (- (IZR (s * T - w * t) / (IZR T * IZR T))) in C by (unfold Rdiv; ring). rewrite gap_is in C.
  assert (G : IZR s / IZR T <= x).
  { assert (Q := Rmult_le_compat_l _ _ _ W (Rge_le _ _ X)). lra. }
  assert (M := similar_rises h (own_at h j) _ _ Fa G).
  apply IZR_pos in B_positive as BP. apply (Rmult_le_compat_l (IZR B)) in M; [|lra].
  split; cbn [fst snd]; [|apply E]. rewrite IZR_max. apply Rmax_lub; [apply E|]. rewrite A. lra.
Qed.

(** ** All prototypes *)

Lemma greatest_bounds_right : forall (side : R -> R -> Prop) (f : own * (Z * Z) * option Z -> option Z) b ts,
  (forall j e t t', encloses B e (activation h n z j) -> f ((own_at h j, e), t) = Some t' -> greatest_is side j t') ->
  box_ok h B n b z ->
  forall k t, nth k (map f (combine (combine (owns h) b) ts)) None = Some t -> greatest_is side k t.
Proof.
  intros side f b ts F [L E] k t H. apply (nth_of_mapped _ _ _ _ _ ((own_at h 0, (0, 0)%Z), None)) in H as [K H].
  rewrite nth_of_combined in H by exact K. rewrite combine_length in K.
  rewrite nth_of_combined in H by lia. rewrite combine_length, length_owns in K.
  rewrite nth_owns in H by lia. apply (F k _ _ t) in H; [exact H|apply E; lia].
Qed.

Lemma turn_list_right : forall (cut : list Z -> own * measure -> option (nat * (Z * Z)) -> Z * Z -> Z * Z) ls b,
  (forall j l e, (j < count h)%nat -> encloses B e (activation h n z j) ->
    encloses B (cut (points h j) (own_at h j, measured_at ms j) l e) (activation h n z j)) ->
  box_ok h B n b z -> box_ok h B n (cut_all cut (prototypes h) (combine (owns h) ms) ls b) z.
Proof.
  intros cut ls b C [L E]. destruct (measures_ok h ms measured) as (_ & LM & _ & _).
  destruct (cut_all_right _ _ (fun j e => encloses B e (activation h n z j)) cut (prototypes h)
    (combine (owns h) ms) ls b 0) as [L' K].
  - intros i p o l e Hp O. cbn [Nat.add].
    assert (I : (i < length (combine (owns h) ms))%nat) by (apply nth_error_Some; rewrite O; discriminate).
    apply (nth_error_nth _ _ nil) in Hp. apply (nth_error_nth _ _ (own_at h 0, Measure 0 0 1 1)) in O.
    rewrite nth_of_combined in O by exact I. rewrite combine_length, length_owns in I.
    rewrite nth_owns in O by lia. subst o. fold (points h i) in Hp. subst p. apply C. lia.
  - intros i Hi. apply E. lia.
  - split; [congruence|]. intros j Hj. apply (K j). lia.
Qed.
End Sound.

Theorem cut_by_turns_ok : forall h T B terms logs ms n z above below b, (0 < T)%Z -> (0 < B)%Z ->
  right_logarithms logs -> (0 < n)%nat -> measures h = Some ms -> in_domain h n z -> box_ok h B n b z ->
  box_ok h B n (cut_by_turns h T B terms logs ms above below b) z.
Proof.
  intros h T B terms logs ms n z above below b HT HB L N M V H. unfold cut_by_turns.
  destruct (is_angular h) eqn:E; [|exact H].
  apply turn_list_right; auto.
  - intros j l e Hj. apply (turn_below_right h T B terms logs ms n z); auto.
    apply (greatest_bounds_right h T B n z N) with (2 := H). intros. eapply not_below_right; eauto.
  - apply turn_list_right; auto. intros j l e Hj. apply (turn_above_right h T B terms logs ms n z); auto.
    apply (greatest_bounds_right h T B n z N) with (2 := H). intros. eapply not_above_right; eauto.
Qed.
