(** The paradigm joint: one patch, and the margin of a rival bounded as one function of its vector.

    Where a similarity is a multiple of the observable (identity, negated) and the readout is linear, the margin of a
    head with one patch is a weighted sum of observables, k_1 m_1 + k_2 m_2 + ... + b. A statement that m_j is at
    least e says that w (m_j - e) is not below 0 for a weight w > 0, and so does one that it is at most e for w < 0.
    Taken off, these leave another weighted sum, which is no greater. It is a function A |y|^2 - <y, L> + K of the
    patch's vector (Embedding.v), whose least value over the domain is known coordinate by coordinate (Parabola.v).
    The domain's ball is a fact like those that are stated, with a weight that is not negative. The weights are hints.

    With cosines k_j m_j is k_j / |P_j| times a product; that factor is rounded, and what it lacks costs no more than
    its size, as no cosine is greater than 1. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Coordinates Quadratic Embedding Facts Stated Packing Products
  Domain Metric LinearReadout Parabola.
Import ListNotations.

(** * What runs *)

(** Untrusted: a unit of weights, a weight for each statement about the patch, in the certificate's order, and that of
    the ball. Weights that are missing are 0. *)
Record joint_hint := JointHint { share_unit : positive; shares_of : list Z; ball_share : Z }.

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (c : certificate) (ms : list measure).

(** The similarity divided by the observable, over the unit of scales. *)
Definition rate (j : nat) : Z :=
  match head_similarity h with
  | Negated => - match nth_error (scales h) j with Some s => s | None => Zpos (scale_unit h) end
  | _ => Zpos (scale_unit h)
  end.

Definition is_joint : bool :=
  Nat.eqb (patches c) 1 && spatial h &&
  match head_similarity h with Identity | Negated => true | _ => false end &&
  match head_pooling h with MaxPool => true | TopMean k => Nat.ltb 0 k | _ => false end &&
  match head_readout h with Linear => true | _ => false end.

(** What the margin has of each observable, over V times the units of weights and scales. *)
Definition gain_at (V : Z) (x : Z * Z * Z) : Z := let '((p, r), t) := x in V * ((p - r) * t).
Definition margin_gains (V : Z) (winner loser : nat) : list Z :=
  map (gain_at V) (combine (combine (weights h winner) (weights h loser)) (map rate (seq 0 (count h)))).

(** What weighted statements leave, and the sum of their weights times their ends. *)
Fixpoint taken (here : list (nat * (option Z * option Z))) (ws ks : list Z) : option (list Z * Z) :=
  match here, ws with
  | (j, (lo, hi)) :: here', w :: ws' =>
      match taken here' ws' ks with
      | Some (ks', ends) =>
          if w =? 0 then Some (ks', ends) else
          match (if 0 <? w then lo else hi) with
          | Some e => Some (change_at (fun k => k - w) j ks', ends + w * e)
          | None => None
          end
      | None => None
      end
  | _, _ => Some (ks, 0)
  end.

(** What k m is as a multiple of size times m, over the unit of roots, and what is lost; any multiple is sound. *)
Definition over_size (m : measure) (k : Z) : Z * Z :=
  match head_geometry h with
  | Cosine _ | RootedCosine _ =>
      let x := k * root_unit h in
      let s := floor_div (x * root_unit h) (near m) in
      (s, Z.max (x - times_down h m s) (times_up h m s - x))
  | _ => (k, 0)
  end.

(** The ends of each coordinate of y. *)
Definition sides : option Z * option Z :=
  match head_geometry h with
  | Cosine _ | RootedCosine _ =>
      (if no_negative_coordinate h then Some 0 else None, if no_positive_coordinate h then Some 0 else None)
  | _ => (lower h, upper h)
  end.

(** The function as A, L and K; [ss] are the multiples of the observables, [v] is the ball's weight. *)
Definition curve_left (ss : list Z) (v : Z) : Z := turn h * curvature h * zsum ss + v.
Definition vector_left (ss : list Z) : list Z :=
  map (Z.mul (2 * turn h)) (mixed ss (prototypes h) (repeat 0 (depth h))).
Definition constant_left (ss : list Z) : Z := turn h * zdot ss (map (fun m => constant h 1 (square m)) ms).

Definition radius_of : Z * Z :=
  match ball h with Some r => (numerator r, Zpos (denominator r)) | None => (0, 1) end.

(** A lower bound of the margin: a number, and over how many of the weights' units it is. *)
Definition joint_least (winner loser : nat) (x : joint_hint) : option (Z * Z) :=
  let u := Zpos (statement_unit c) in
  let V := Zpos (share_unit x) in
  let here := stated_at 0 (statements c) in
  let v := match ball h with Some _ => Z.max 0 (ball_share x) | None => 0 end in
  if is_joint && has_width h (weights h winner) && has_width h (weights h loser) &&
     forallb (fun s => Nat.ltb (fst s) (count h)) here then
    match taken here (shares_of x) (margin_gains V winner loser) with
    | Some (ks, ends) =>
        let made := map (fun '(m, k) => over_size m k) (combine ms ks) in
        let ss := map fst made in
        match least_over (curve_left ss v) (fst sides) (snd sides) (vector_left ss) with
        | Some least =>
            let '(rn, rd) := radius_of in
            let S := unit_of h in
            let step := turn h * slope h in
            let form := (least + constant_left ss) * (rd * rd) - v * (S * S) * (rn * rn) in
            let rest := root_unit h * (ends + V * Zpos (scale_unit h) * (bias_number h winner - bias_number h loser) * u)
                        - zsum (map snd made) * u in
            Some (form * u + rest * (step * (rd * rd)), step * (rd * rd) * u * root_unit h * V * Zpos (scale_unit h))
        | None => None
        end
    | None => None
    end
  else None.

Definition joint_at_least (winner loser : nat) (x : joint_hint) (num : Z) (den : positive) : bool :=
  match joint_least winner loser x with
  | Some (least, unit) => num * (unit * unit_of_weights h) <=? least * Zpos den
  | None => false
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

(** ** Lists of multiples *)

Lemma inner_front : forall n v w, inner (S n) v w = v O * w O + inner n (fun i => v (S i)) (fun i => w (S i)).
Proof. intros. unfold inner. apply rsum_front. Qed.

Lemma inner_changed : forall (m : nat -> R) w ks j, (j < length ks)%nat ->
  inner (length ks) (vector (change_at (fun k => (k - w)%Z) j ks)) m = inner (length ks) (vector ks) m - IZR w * m j.
Proof.
  intros m w ks. revert m. induction ks as [|k ks IH]; intros m j H; [cbn in H; lia|]. cbn [length] in *.
  rewrite !inner_front. destruct j as [|j]; cbn [change_at].
  - change (vector (k :: ks) 0) with (IZR k). change (vector ((k - w)%Z :: ks) 0) with (IZR (k - w)). rewrite minus_IZR.
    change (fun i => vector ((k - w)%Z :: ks) (S i)) with (vector ks).
    change (fun i => vector (k :: ks) (S i)) with (vector ks). ring.
  - set (ks' := change_at (fun k => (k - w)%Z) j ks).
    change (vector (k :: ks') 0) with (IZR k). change (vector (k :: ks) 0) with (IZR k).
    change (fun i => vector (k :: ks') (S i)) with (vector ks').
    change (fun i => vector (k :: ks) (S i)) with (vector ks).
    unfold ks'. rewrite (IH (fun i => m (S i)) j) by lia. ring.
Qed.

Lemma add_row_length : forall w row sum, length row = length sum -> length (add_row w row sum) = length sum.
Proof.
  intros w row. induction row as [|x row IH]; intros [|y sum] H; try discriminate; [reflexivity|].
  cbn [add_row length] in *. rewrite IH by lia. reflexivity.
Qed.

Lemma add_row_inner : forall w row sum y, length row = length sum ->
  inner (length sum) y (vector (add_row w row sum)) =
  IZR w * inner (length sum) y (vector row) + inner (length sum) y (vector sum).
Proof.
  intros w row. induction row as [|x row IH]; intros [|t sum] y H; try discriminate; [cbn; ring|].
  cbn [add_row length] in *. rewrite !inner_front.
  change (vector (w * x + t :: add_row w row sum)%Z 0) with (IZR (w * x + t)).
  change (fun i => vector (w * x + t :: add_row w row sum)%Z (S i)) with (vector (add_row w row sum)).
  change (vector (x :: row) 0) with (IZR x). change (fun i => vector (x :: row) (S i)) with (vector row).
  change (vector (t :: sum) 0) with (IZR t). change (fun i => vector (t :: sum) (S i)) with (vector sum).
  rewrite IH by lia. rewrite plus_IZR, mult_IZR. ring.
Qed.

Lemma mixed_inner : forall n y ws rows, Forall (fun row => length row = n) rows ->
  length (mixed ws rows (repeat 0%Z n)) = n /\
  inner n y (vector (mixed ws rows (repeat 0%Z n))) =
  inner (length rows) (vector ws) (fun j => inner n y (vector (nth j rows nil))).
Proof.
  intros n y ws rows. revert ws.
  assert (Z0 : inner n y (vector (repeat 0%Z n)) = 0).
  { apply rsum_zero. intros i _. unfold vector. rewrite nth_repeat. ring. }
  induction rows as [|row rows IH]; intros ws H.
  { destruct ws; cbn [mixed length]; (split; [apply repeat_length|exact Z0]). }
  apply Forall_cons_iff in H as [H1 H2]. destruct ws as [|w ws].
  { cbn [mixed]. split; [apply repeat_length|]. rewrite Z0. symmetry. apply rsum_zero. intros i _.
    unfold vector at 1. destruct i; cbn; ring. }
  destruct (IH ws H2) as [L E]. cbn [mixed length]. rewrite inner_front.
  change (vector (w :: ws) 0) with (IZR w). change (fun i => vector (w :: ws) (S i)) with (vector ws).
  cbn [nth]. rewrite <- E. set (sum := mixed ws rows (repeat 0%Z n)) in *.
  destruct (w =? 0)%Z eqn:W.
  - apply Z.eqb_eq in W. subst w. split; [exact L|]. ring.
  - assert (K : length row = length sum) by lia. split; [rewrite add_row_length by exact K; exact L|].
    assert (X := add_row_inner w row sum y K). rewrite L in X. exact X.
Qed.

Section Sound.
Variables (h : head) (c : certificate) (ms : list measure) (z : latents).
Let D := depth h.
Let n := count h.
Let S := IZR (unit_of h).
Let m (j : nat) : R := observable h (z O) j.
Let y : nat -> R := embedded h (z O).
Hypothesis measured : measures h = Some ms.
Hypothesis complying : complies h c z.
Hypothesis joint : is_joint h c = true.

Lemma joint_parts : patches c = 1%nat /\ spatial h = true /\ head_readout h = Linear.
Proof.
  unfold is_joint in joint. apply andb_prop in joint as [J R]. apply andb_prop in J as [J _].
  apply andb_prop in J as [J _]. apply andb_prop in J as [P J]. apply Nat.eqb_eq in P.
  destruct (head_readout h); try discriminate. auto.
Qed.

Lemma here_in_domain : patch_in_domain h (z O).
Proof. apply complying. rewrite (proj1 joint_parts). auto. Qed.

(** ** The margin as a sum of observables *)

Lemma rate_right : forall j, IZR (Zpos (scale_unit h)) * activation h (patches c) z j = IZR (rate h j) * m j.
Proof.
  intros j. assert (P := Zpos_pos (scale_unit h)). rewrite (proj1 joint_parts).
  unfold is_joint in joint. apply andb_prop in joint as [J _]. apply andb_prop in J as [J Pool].
  apply andb_prop in J as [_ Sim].
  assert (G : activation h 1 z j = sim h j (m j)).
  { unfold activation, activation_of, m. destruct (head_pooling h) as [| |[|k]| |]; try discriminate; [reflexivity|].
    cbn [rtop Nat.leb Nat.min rsum INR]. destruct k; cbn [rtop Nat.min INR]; field. }
  rewrite G. unfold sim, rate, scale. destruct (head_similarity h); try discriminate; [reflexivity|].
  destruct (nth_error (scales h) j) as [s|]; rewrite opp_IZR; [|ring].
  rewrite <- (q_times_unit s (scale_unit h)). ring.
Qed.

Lemma margin_gains_right : forall V winner loser, length (weights h winner) = n -> length (weights h loser) = n ->
  length (margin_gains h V winner loser) = n /\
  inner n (vector (margin_gains h V winner loser)) m + IZR (V * Zpos (scale_unit h) *
    (bias_number h winner - bias_number h loser)) =
  IZR V * IZR (Zpos (scale_unit h)) * IZR (unit_of_weights h) *
    (logit h (patches c) z winner - logit h (patches c) z loser).
Proof.
  intros V winner loser Hw Hl. assert (R := proj2 (proj2 joint_parts)).
  assert (L : length (map (rate h) (seq 0 n)) = n) by (rewrite map_length, seq_length; reflexivity).
  split; [unfold margin_gains; rewrite map_length, !combine_length; fold n; lia|].
  rewrite !Rmult_assoc, (linear_difference h (patches c) z winner loser R). fold n.
  rewrite !mult_IZR, minus_IZR.
  assert (E : inner n (vector (margin_gains h V winner loser)) m = IZR V * (IZR (Zpos (scale_unit h)) *
    rsum n (fun j => (IZR (nth j (weights h winner) 0%Z) - IZR (nth j (weights h loser) 0%Z)) *
      activation h (patches c) z j))).
  { rewrite <- !rsum_scal. apply rsum_ext. intros j Hj. unfold vector, margin_gains.
    rewrite (nth_indep _ 0%Z (gain_at V ((0, 0), 0)%Z)) by (rewrite map_length, !combine_length; fold n; lia).
    rewrite map_nth, !combine_nth by (rewrite ?combine_length; fold n; lia).
    fold n. rewrite (nth_indep (map (rate h) (seq 0 n)) 0%Z (rate h 0)) by (rewrite L; exact Hj).
    rewrite (map_nth (rate h)), seq_nth by exact Hj.
    cbn [gain_at Nat.add]. rewrite !mult_IZR, minus_IZR.
    rewrite Rmult_assoc, Rmult_assoc, <- (rate_right j). ring. }
  rewrite E. ring.
Qed.

(** ** Statements *)

Lemma stated_right : forall s, In s (stated_at 0 (statements c)) ->
  between (statement_unit c) (fst (snd s)) (snd (snd s)) (m (fst s)).
Proof. intros [j [lo hi]] H. apply stated_at_in in H. apply complying in H. exact H. Qed.

Lemma taken_right : forall here ws ks ks' ends,
  (forall s, In s here -> between (statement_unit c) (fst (snd s)) (snd (snd s)) (m (fst s))) ->
  forallb (fun s => Nat.ltb (fst s) n) here = true -> length ks = n -> taken here ws ks = Some (ks', ends) ->
  length ks' = n /\ IZR (Zpos (statement_unit c)) * inner n (vector ks') m + IZR ends <=
    IZR (Zpos (statement_unit c)) * inner n (vector ks) m.
Proof.
  set (u := IZR (Zpos (statement_unit c))). assert (P : 0 < u) by apply Zpos_pos.
  induction here as [|[j [lo hi]] here IH]; intros ws ks ks' ends H J L E.
  { injection E as <- <-. split; [exact L|]. lra. }
  destruct ws as [|w ws]; [injection E as <- <-; split; [exact L|lra]|]. cbn [taken] in E.
  destruct (taken here ws ks) as [[ks1 ends1]|] eqn:T; [|discriminate].
  cbn [forallb fst] in J. apply andb_prop in J as [J1 J2]. apply Nat.ltb_lt in J1.
  destruct (IH ws ks ks1 ends1 (fun s I => H s (or_intror I)) J2 L T) as [L1 K].
  destruct (w =? 0)%Z eqn:W0; [injection E as <- <-; split; assumption|].
  destruct (H (j, (lo, hi)) (or_introl eq_refl)) as [Lo Hi]. cbn [fst snd] in Lo, Hi.
  assert (X : forall e, (if (0 <? w)%Z then lo else hi) = Some e -> IZR (w * e) <= u * (IZR w * m j)).
  { intros e X. rewrite mult_IZR. destruct (0 <? w)%Z eqn:W.
    - subst lo. apply Z.ltb_lt, IZR_pos in W. apply (Rmult_le_compat_l u) in Lo; [|lra].
      unfold u in Lo at 1. rewrite q_times_unit in Lo. apply (Rmult_le_compat_l (IZR w)) in Lo; lra.
    - subst hi. apply Z.ltb_ge, IZR_le in W. apply (Rmult_le_compat_l u) in Hi; [|lra].
      unfold u in Hi at 2. rewrite q_times_unit in Hi. apply (Rmult_le_compat_neg_l (IZR w)) in Hi; lra. }
  destruct (if (0 <? w)%Z then lo else hi) as [e|]; [|discriminate]. injection E as <- <-.
  specialize (X e eq_refl). split; [rewrite length_change_at; exact L1|].
  rewrite <- L1, inner_changed by lia. rewrite L1, plus_IZR. lra.
Qed.

(** ** Sizes *)

Lemma cosine_at_most_one : forall j, (j < n)%nat ->
  match head_geometry h with Cosine _ | RootedCosine _ => -1 <= m j <= 1 | _ => True end.
Proof.
  intros j Hj. destruct (measures_ok h ms measured) as (HS & _ & _ & HM). specialize (HM j (Measure 0 0 1 1) Hj).
  assert (P := size_nonneg h j _ HM).
  assert (Q : IZR (zdot (points h j) (points h j)) = inner D (vector (points h j)) (vector (points h j)))
    by (apply zdot_real; apply Nat.eq_le_incl, (measures_ok h ms measured); exact Hj).
  assert (V := value_of_observable h HS 1 (z O) j _ here_in_domain P Q).
  assert (B := embedded_in_ball h HS (z O)). fold D y S in B. fold y m in V. unfold value in V. fold D in V.
  assert (CS := cauchy_schwarz D y (vector (points h j))). assert (PS : 0 < S) by apply unit_positive.
  assert (one : real (Fraction 1 1) = 1) by (unfold real, q; simpl; field).
  unfold ball, curvature, constant, slope, size in *. fold D in P, V.
  set (s := inner D (vector (points h j)) (vector (points h j))) in *.
  assert (main : inner D y y <= S * S -> inner D y (vector (points h j)) = S * (sqrt s * m j) -> 0 < sqrt s ->
    -1 <= m j <= 1).
  { intros HB E PQ. rewrite E in CS. assert (N : 0 < s).
    { destruct (Rle_dec s 0) as [X|X]; [rewrite (sqrt_neg_0 s X) in PQ; lra|lra]. }
    assert (SS := sqrt_sqrt s ltac:(lra)).
    replace (S * (sqrt s * m j) * (S * (sqrt s * m j))) with (S * S * s * (m j * m j)) in CS
      by (rewrite <- SS at 1; ring).
    assert (S * S * s * (m j * m j) <= S * S * s * 1).
    { eapply Rle_trans; [exact CS|]. rewrite Rmult_1_r. apply Rmult_le_compat_r; lra. }
    assert (M : m j * m j <= 1)
      by (apply (Rmult_le_reg_l (S * S * s)); [|assumption]; repeat apply Rmult_lt_0_compat; lra).
    split; nra. }
  destruct (head_geometry h); try exact I; apply main; try exact P;
    try (specialize (B _ here_in_domain eq_refl); rewrite one in B; lra);
    rewrite mult_IZR in V; fold S in V; change (m j) with (observable h (z O) j); lra.
Qed.

Lemma over_size_right : forall j k x e, (j < n)%nat ->
  over_size h (nth j ms (Measure 0 0 1 1)) k = (x, e) ->
  IZR x * (size h j * m j) - IZR e <= IZR (root_unit h) * (IZR k * m j).
Proof.
  intros j k x e Hj E. assert (C := cosine_at_most_one j Hj).
  destruct (measures_ok h ms measured) as (HS & _ & _ & HM). specialize (HM j (Measure 0 0 1 1) Hj).
  set (mj := nth j ms (Measure 0 0 1 1)) in *. unfold over_size in E.
  assert (cosine : -1 <= m j <= 1 -> forall s, (s, Z.max (k * root_unit h - times_down h mj s)
      (times_up h mj s - k * root_unit h)) = (x, e) ->
      IZR x * (size h j * m j) - IZR e <= IZR (root_unit h) * (IZR k * m j)).
  { clear C E. intros C s E. injection E as <- <-. rewrite IZR_max, !minus_IZR, mult_IZR.
    assert (L := times_down_ok h j mj s HM). assert (U := times_up_ok h j mj s HM).
    set (a := IZR (times_down h mj s)) in *. set (b := IZR (times_up h mj s)) in *.
    set (t := IZR k * IZR (root_unit h)) in *.
    assert (ML := Rmax_l (t - a) (b - t)). assert (MR := Rmax_r (t - a) (b - t)).
    set (e := Rmax (t - a) (b - t)) in *. set (w := IZR s * size h j) in *.
    replace (IZR s * (size h j * m j)) with (w * m j) by (unfold w; ring).
    replace (IZR (root_unit h) * (IZR k * m j)) with (t * m j) by (unfold t; ring).
    destruct (Rle_dec 0 (w - t)); nra. }
  unfold root_unit, size in *. destruct (head_geometry h);
    try (injection E as <- <-; lra); apply (cosine C _ E).
Qed.

(** ** The domain *)

Lemma sides_right : forall d, (d < D)%nat -> has_sides (fst (sides h)) (snd (sides h)) (y d).
Proof.
  intros d Hd. destruct joint_parts as (_ & HS & _). assert (V := here_in_domain).
  assert (N := embedded_has_signs h (z O) V HS). destruct N as [N1 N2]. fold y in N1, N2.
  destruct V as [B _]. specialize (B d Hd).
  assert (P : 0 < S) by apply unit_positive.
  assert (box : stretch h (z O) = 1 -> has_sides (lower h) (upper h) (y d)).
  { intros E. unfold y, embedded. rewrite E. fold S. unfold Rdiv. rewrite Rinv_1, Rmult_1_r. destruct B as [L U].
    assert (X : forall k, S * q k (coord_unit h) = IZR k) by (intros; apply q_times_unit).
    split; [destruct (lower h) as [a|]; [|exact I]|destruct (upper h) as [b|]; [|exact I]];
      rewrite <- X; apply Rmult_le_compat_l; lra. }
  assert (signs : has_sides (if no_negative_coordinate h then Some 0%Z else None)
    (if no_positive_coordinate h then Some 0%Z else None) (y d)).
  { split; [destruct (no_negative_coordinate h); [|exact I]; apply N1; auto|
      destruct (no_positive_coordinate h); [|exact I]; apply N2; auto]. }
  unfold sides, stretch in *. destruct (head_geometry h); try exact signs; apply box; reflexivity.
Qed.

Lemma ball_right : inner D y y * (IZR (snd (radius_of h)) * IZR (snd (radius_of h))) <=
    S * S * (IZR (fst (radius_of h)) * IZR (fst (radius_of h))) \/ ball h = None.
Proof.
  destruct joint_parts as (_ & HS & _). unfold radius_of. destruct (ball h) as [r|] eqn:E; [left|right; reflexivity].
  assert (B := embedded_in_ball h HS (z O) r here_in_domain E). fold D y S in B. cbn [fst snd].
  assert (P := Zpos_pos (denominator r)). unfold real, q in B. set (d := IZR (Zpos (denominator r))) in *.
  apply (Rmult_le_compat_r (d * d)) in B; [|apply Rmult_le_pos; lra].
  eapply Rle_trans; [exact B|]. right. field. lra.
Qed.

Lemma radius_positive : 0 < IZR (snd (radius_of h)).
Proof. unfold radius_of. destruct (ball h); [apply Zpos_pos|cbn; lra]. Qed.

(** ** The function *)

Let step : R := IZR (turn h * slope h).

Lemma prototypes_long : Forall (fun p => length p = D) (prototypes h) /\ length (prototypes h) = n.
Proof.
  destruct (measures_ok h ms measured) as (_ & C & L & _). destruct (measured_head h ms measured) as [_ E].
  split; [|exact E]. apply Forall_forall. intros p I. apply (In_nth _ _ nil) in I as (j & J & <-).
  apply L. unfold n in *. lia.
Qed.

Lemma function_right : forall ss, length ss = n ->
  step * inner n (vector ss) (fun j => size h j * m j) =
  IZR (turn h * curvature h * zsum ss) * inner D y y - inner D y (vector (vector_left h ss)) +
    IZR (constant_left h ms ss).
Proof.
  intros ss L. destruct (measures_ok h ms measured) as (HS & C & _ & HM). destruct prototypes_long as [PL PC].
  destruct (mixed_inner D y ss (prototypes h) PL) as [ML MI]. rewrite PC in MI.
  assert (W : inner D y (vector (vector_left h ss)) = 2 * IZR (turn h) *
    inner n (vector ss) (fun j => inner D y (vector (points h j)))).
  { unfold points. rewrite <- MI, <- (mult_IZR 2), <- inner_scal_r. apply rsum_ext. intros d Hd. f_equal.
    unfold vector_left. unfold vector at 1.
    rewrite (nth_indep _ 0%Z (2 * turn h * 0)%Z) by (rewrite map_length; fold D; lia).
    rewrite (map_nth (Z.mul (2 * turn h))). rewrite mult_IZR. reflexivity. }
  assert (K : IZR (constant_left h ms ss) = IZR (turn h) *
    inner n (vector ss) (fun j => IZR (constant h 1 (square (nth j ms (Measure 0 0 1 1)))))).
  { unfold constant_left. rewrite mult_IZR. f_equal. rewrite (zdot_real n) by lia. apply rsum_ext. intros j Hj.
    f_equal. unfold vector. set (f := fun mj => constant h 1 (square mj)).
    rewrite (nth_indep _ 0%Z (f (Measure 0 0 1 1))) by (rewrite map_length; unfold n in *; lia).
    rewrite (map_nth f). reflexivity. }
  rewrite W, K, !mult_IZR, (zsum_real n) by lia. unfold step. rewrite mult_IZR.
  repeat match goal with |- context [inner n ?v ?w] => change (inner n v w) with (rsum n (fun i => v i * w i)) end.
  rewrite <- !rsum_scal.
  transitivity (rsum n (fun j => IZR (turn h) * (vector ss j *
    (IZR (curvature h) * inner D y y - 2 * inner D y (vector (points h j)) +
     IZR (constant h 1 (square (nth j ms (Measure 0 0 1 1)))))))).
  - apply rsum_ext. intros j Hj. specialize (HM j (Measure 0 0 1 1) Hj).
    assert (P := size_nonneg h j _ HM).
    assert (V := value_of_observable h HS 1 (z O) j _ here_in_domain P (proj1 HM)).
    fold y m in V. unfold value in V. fold D in V. change (observable h (z O) j) with (m j) in V.
    replace (IZR (turn h) * IZR (slope h) * (vector ss j * (size h j * m j))) with
      (IZR (turn h) * (vector ss j * (1 * IZR (slope h) * (size h j * m j)))) by ring.
    rewrite <- V. ring.
  - replace (rsum n (fun i => IZR (turn h) * IZR (curvature h) * vector ss i) * inner D y y) with
      (rsum n (fun i => inner D y y * (IZR (turn h) * IZR (curvature h) * vector ss i))) by (rewrite rsum_scal; ring).
    rewrite <- rsum_minus, <- rsum_plus. apply rsum_ext. intros. ring.
Qed.
End Sound.

(** Without [injection], which would compute. *)
Lemma same_pair : forall a b x y : Z, Some (a, b) = Some (x, y) -> a = x /\ b = y.
Proof. intros a b x y E. injection E. auto. Qed.

Theorem joint_least_ok : forall h c ms z winner loser x least unit, measures h = Some ms -> complies h c z ->
  joint_least h c ms winner loser x = Some (least, unit) -> (0 < unit)%Z /\
  IZR least <= IZR unit * (IZR (unit_of_weights h) * (logit h (patches c) z winner - logit h (patches c) z loser)).
Proof.
  intros h c ms z winner loser x bound unit M H F. unfold joint_least in F.
  destruct (_ && _)%bool eqn:E; [|discriminate]. apply andb_prop in E as [E J]. apply andb_prop in E as [E Wl].
  apply andb_prop in E as [Jo Ww]. apply Nat.eqb_eq in Ww, Wl.
  set (u := Zpos (statement_unit c)) in *. set (V := Zpos (share_unit x)) in *. set (su := Zpos (scale_unit h)) in *.
  set (here := stated_at 0 (statements c)) in *.
  set (v := match ball h with Some _ => Z.max 0 (ball_share x) | None => 0%Z end) in *.
  destruct (margin_gains_right h c z Jo V winner loser Ww Wl) as [GL G]. fold su in G.
  destruct (taken here (shares_of x) _) as [[ks ends]|] eqn:T; [|discriminate].
  destruct (taken_right h c z here (shares_of x) _ ks ends (stated_right h c z H) J GL T) as [KL K].
  set (made := map _ (combine ms ks)) in *. set (ss := map fst made) in *. fold u in K.
  destruct (least_over _ _ _ _) as [least|] eqn:LO; [|discriminate].
  destruct (measures_ok h ms M) as (HS & C & _ & HM).
  assert (ML : length made = count h) by (unfold made; rewrite map_length, combine_length; lia).
  assert (SL : length ss = count h) by (unfold ss; rewrite map_length; exact ML).
  assert (FR := function_right h c ms z M H Jo ss SL).
  destruct (prototypes_long h ms M) as [PL _].
  assert (LL : length (vector_left h ss) = depth h) by
    (unfold vector_left; rewrite map_length; apply (mixed_inner (depth h) (fun _ => 0) ss _ PL)).
  apply (least_over_ok _ _ _ (depth h) _ (embedded h (z O)) least LL) in LO; [|apply (sides_right h c z H Jo)].
  assert (X : inner (count h) (vector ss) (fun j => size h j * observable h (z O) j) - IZR (zsum (map snd made)) <=
    IZR (root_unit h) * inner (count h) (vector ks) (fun j => observable h (z O) j)).
  { rewrite (zsum_real (count h)) by (rewrite map_length; lia). unfold inner. rewrite <- rsum_minus, <- rsum_scal.
    apply rsum_le. intros j Hj. unfold vector, ss. set (f := fun '(m, k) => over_size h m k) in *.
    assert (E : nth j made (f (Measure 0 0 1 1, 0%Z)) = over_size h (nth j ms (Measure 0 0 1 1)) (nth j ks 0%Z)).
    { unfold made. rewrite map_nth, combine_nth by lia. reflexivity. }
    rewrite (nth_indep made _ (0, 0)%Z) in E by lia.
    rewrite (map_nth fst made (0, 0)%Z j : nth j (map fst made) 0%Z = _).
    rewrite (map_nth snd made (0, 0)%Z j : nth j (map snd made) 0%Z = _).
    apply (over_size_right h c ms z M H Jo j); [exact Hj|]. rewrite <- E. apply surjective_pairing. }
  assert (B := ball_right h c z H Jo). assert (RP := radius_positive h).
  destruct (radius_of h) as [rn rd]. cbn [fst snd] in B, RP.
  set (Y := inner (depth h) (embedded h (z 0%nat)) (embedded h (z 0%nat))) in *.
  set (W := inner (depth h) _ (vector (vector_left h ss))) in *.
  set (P := inner (count h) (vector ss) _) in *. set (Q := inner (count h) (vector ks) _) in *.
  set (A := inner (count h) (vector (margin_gains h V winner loser)) _) in *.
  set (margin := logit h _ z winner - _) in *.
  assert (VB : IZR v * (Y * (IZR rd * IZR rd)) <= IZR v * (IZR (unit_of h) * IZR (unit_of h) * (IZR rn * IZR rn))).
  { assert (N : 0 <= IZR v) by (apply IZR_nonneg; unfold v; destruct (ball h); lia).
    destruct B as [B|B]; [apply Rmult_le_compat_l; assumption|]. unfold v. rewrite B. lra. }
  unfold curve_left in LO. rewrite plus_IZR in LO.
  destruct (turn_slope h) as [TS _]. apply IZR_pos in TS as TP. set (step := (turn h * slope h)%Z) in *.
  assert (uP : 0 < IZR u) by apply Zpos_pos. assert (VP : 0 < IZR V) by apply Zpos_pos.
  assert (sP : 0 < IZR su) by apply Zpos_pos. assert (wP := unit_of_weights_positive h).
  assert (rP := root_unit_positive h). apply same_pair in F as [<- <-].
  repeat rewrite ?mult_IZR, ?plus_IZR, ?minus_IZR.
  rewrite !mult_IZR, minus_IZR in G.
  set (b := IZR V * IZR su * (IZR (bias_number h winner) - IZR (bias_number h loser))) in *.
  set (r2 := IZR rd * IZR rd) in *. assert (r2P : 0 < r2) by (apply Rmult_lt_0_compat; exact RP).
  (* The function is not above step r2 P. *)
  assert (form : (IZR least + IZR (constant_left h ms ss)) * r2 - IZR v * (IZR (unit_of h) * IZR (unit_of h)) *
    (IZR rn * IZR rn) <= IZR step * P * r2).
  { rewrite FR. apply (Rmult_le_compat_r r2) in LO; [|lra]. lra. }
  apply (Rmult_le_compat_l (IZR u)) in X; [|lra]. apply (Rmult_le_compat_l (IZR (root_unit h))) in K; [|lra].
  assert (all : IZR u * (P - IZR (zsum (map snd made))) + IZR (root_unit h) * (IZR ends + b * IZR u) <=
    IZR (root_unit h) * IZR u * (IZR V * IZR su * IZR (unit_of_weights h) * margin)).
  { rewrite <- G. lra. }
  apply (Rmult_le_compat_l (IZR step * r2)) in all; [|left; apply Rmult_lt_0_compat; assumption].
  apply (Rmult_le_compat_l (IZR u)) in form; [|lra]. split; [|lra].
  apply lt_IZR. rewrite !mult_IZR. fold r2. repeat apply Rmult_lt_0_compat; assumption.
Qed.

Theorem joint_at_least_ok : forall h c ms z winner loser x num den, measures h = Some ms -> complies h c z ->
  joint_at_least h c ms winner loser x num den = true ->
  logit h (patches c) z winner - logit h (patches c) z loser >= q num den.
Proof.
  intros h c ms z winner loser x num den M H E. unfold joint_at_least in E.
  destruct (joint_least h c ms winner loser x) as [[least unit]|] eqn:J; [|discriminate].
  destruct (joint_least_ok h c ms z winner loser x least unit M H J) as [P L].
  assert (bound_at_least h unit (Some least) num den = true) as K by exact E.
  revert K. apply bound_at_least_ok; [exact P|]. intros least' X. injection X as <-. exact L.
Qed.
