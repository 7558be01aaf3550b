(** Numbers that certainly lie in the domain's range of every observable: both of its ends, rounded inward.

    [Domain.v] has the same ends rounded outward. *)

From Coq Require Import Reals ZArith List Lia Lra Bool FunctionalExtensionality.
From Verale Require Import Semantics MinimalSemantics Sums Grid Root Exponential Simplex Embedding Coordinates Boxes
  Ends
  Facts Domain.
Import ListNotations.
Open Scope R_scope.

(** The numbers between two integers over [T] *)
Definition all_within (T : Z) (e : Z * Z) (S : R -> Prop) : Prop :=
  forall x, IZR (fst e) <= IZR T * x <= IZR (snd e) -> S x.

Section InnerDomain.
Variables (h : head) (T : Z) (terms : nat).
Let D := depth h.
Let S := unit_of h.

(** * What runs *)

(** Where there is no upper end any number will do, and a great one is of use. *)
Definition inner_distance_ends (p : list Z) : Z * Z :=
  (let a := ceil_div (T * zsum (map (gap h) p)) (S * S) in
   (a, match lower h, upper h with
       | Some l, Some u => floor_div (T * zsum (map (spread l u) p)) (S * S)
       | _, _ => a + T * T
       end))%Z.

Definition inner_cosine_reach (e : fraction) (square : Z) (p : list Z) : Z :=
  (if (numerator e =? 0) && below_zero h p then
     let t := greatest (mirrored h p) in - root_ceil (ceil_div (T * T * (t * t)) square)
   else root_floor (floor_div (T * T * span h p) square))%Z.
Definition inner_cosine_ends (e : fraction) (p : list Z) : Z * Z :=
  let s := zdot p p in
  (Z.max (- T) (- inner_cosine_reach e s (map Z.opp p)), Z.min T (inner_cosine_reach e s p))%Z.

Definition inner_ball_reach (r : fraction) (p : list Z) : Z :=
  floor_div (root_floor (T * T * (numerator r * numerator r) * span h p)) (Zpos (denominator r) * S).

Definition inner_box_ends (radius : option fraction) (p : list Z) : option (Z * Z) :=
  let unit := (S * denominator_of radius * S)%Z in
  match coordinate_ends h radius with
  | (Some a, Some b) =>
      Some (ceil_div (T * zsum (map (fun x => Z.min (a * x) (b * x)) p)) unit,
            floor_div (T * zsum (map (fun x => Z.max (a * x) (b * x)) p)) unit)%Z
  | _ => None
  end.
Definition inner_product_ends (radius : option fraction) (p : list Z) : option (Z * Z) :=
  match inner_box_ends radius p, radius with
  | Some e, None => Some e
  | Some e, Some r =>
      if (0 <=? numerator r)%Z
      then Some (Z.max (fst e) (- inner_ball_reach r (map Z.opp p)), Z.min (snd e) (inner_ball_reach r p))%Z
      else None
  | None, _ => None
  end.

Definition inner_mass_range : option (Z * Z) :=
  if Nat.eqb (count h) 1 then Some (T, T) else
  let others := (Z.of_nat (count h) - 1)%Z in
  let ends e := Some (ceil_div (T * e) (e + others * T), floor_div (T * T) (T + others * e))%Z in
  match lower h, upper h with
  | Some a, Some b =>
      match exp_ends T terms (a - b) (Zpos (coord_unit h)) with Some (_, e) => ends e | None => None end
  | _, _ => ends 0%Z
  end.

Definition inner_domain_ends (p : list Z) : option (Z * Z) :=
  match head_geometry h with
  | Euclidean => Some (inner_distance_ends p)
  | Cosine e | RootedCosine e => Some (inner_cosine_ends e p)
  | InnerProduct radius => inner_product_ends radius p
  | Softmax => inner_mass_range
  end.

(** None of each prototype if the head's tensors do not fit. *)
Definition inner_domain_row : list (option (Z * Z)) :=
  match head_geometry h with
  | Softmax => repeat inner_mass_range (count h)
  | _ => match measures h with
         | Some _ => map inner_domain_ends (prototypes h)
         | None => repeat None (count h)
         end
  end.

(** * What it means *)

Hypothesis T_positive : (0 < T)%Z.
Let RT : 0 < IZR T := IZR_pos T T_positive.
Let S_positive : (0 < S)%Z. Proof. reflexivity. Qed.
Let RS : 0 < IZR S := IZR_pos S S_positive.

Definition scaled (p : list Z) : nat -> R := fun d => / IZR S * vector p d.

Lemma coord_scaled : forall j, coord h j = scaled (points h j).
Proof. intros j. apply functional_extensionality. intros d. apply coord_vector. Qed.

Lemma times_unit : forall k, IZR S * q k (coord_unit h) = IZR k.
Proof. intros k. apply q_times_unit. Qed.

Lemma times_scaled : forall p d, IZR S * scaled p d = vector p d.
Proof. intros p d. unfold scaled. field. lra. Qed.

Lemma ceil_end : forall k s x, (0 < k)%Z -> IZR (ceil_div (T * s) k) <= IZR T * x -> IZR s <= IZR k * x.
Proof.
  intros k s x Hk H. assert (C := le_ceil_div (T * s) k Hk). apply IZR_pos in Hk.
  assert (E : IZR (T * s) / IZR k <= IZR T * x) by lra. apply (div_le_iff _ _ _ Hk) in E. rewrite mult_IZR in E.
  apply (Rmult_le_reg_l (IZR T)); lra.
Qed.

Lemma floor_end : forall k s x, (0 < k)%Z -> IZR T * x <= IZR (floor_div (T * s) k) -> IZR k * x <= IZR s.
Proof.
  intros k s x Hk H. assert (C := floor_div_le (T * s) k Hk). apply IZR_pos in Hk.
  assert (E : IZR T * x <= IZR (T * s) / IZR k) by lra. apply (le_div_iff _ _ _ Hk) in E. rewrite mult_IZR in E.
  apply (Rmult_le_reg_l (IZR T)); lra.
Qed.

(** ** Distances *)

Lemma scaled_max : forall a b, IZR S * Rmax a b = Rmax (IZR S * a) (IZR S * b).
Proof. intros a b. symmetry. apply RmaxRmult. lra. Qed.

Lemma gap_real : forall x, IZR (gap h x) = IZR (S * S) * (off h (/ IZR S * IZR x) * off h (/ IZR S * IZR x)).
Proof.
  intros x. assert (E : IZR S * off h (/ IZR S * IZR x) =
    IZR (Z.max (match lower h with Some a => Z.max 0 (a - x) | None => 0%Z end)
               (match upper h with Some b => Z.max 0 (x - b) | None => 0%Z end))).
  { unfold off. rewrite scaled_max, IZR_max. f_equal.
    - destruct (lower h) as [a|]; cbn [option_map]; [|ring]. rewrite scaled_max, IZR_max, minus_IZR. f_equal; [ring|].
      rewrite Rmult_minus_distr_l, times_unit. field_simplify; lra.
    - destruct (upper h) as [b|]; cbn [option_map]; [|ring]. rewrite scaled_max, IZR_max, minus_IZR. f_equal; [ring|].
      rewrite Rmult_minus_distr_l, times_unit. field_simplify; lra. }
  unfold gap. cbv zeta. rewrite mult_IZR, <- E, mult_IZR. ring.
Qed.

Lemma spread_real : forall a b x, IZR (spread a b x) =
  IZR (S * S) * (Rmax (/ IZR S * IZR x - q a (coord_unit h)) (q b (coord_unit h) - / IZR S * IZR x) *
                 Rmax (/ IZR S * IZR x - q a (coord_unit h)) (q b (coord_unit h) - / IZR S * IZR x)).
Proof.
  intros a b x. unfold spread. cbv zeta. set (r := Rmax _ _).
  assert (E : IZR S * r = IZR (Z.max (x - a) (b - x))).
  { unfold r. rewrite scaled_max, IZR_max, !minus_IZR, !Rmult_minus_distr_l, !times_unit.
    f_equal; field_simplify; lra. }
  rewrite mult_IZR, <- E, mult_IZR. ring.
Qed.

Lemma sum_real : forall f g p, length p = D -> (forall x, IZR (f x) = IZR (S * S) * g (/ IZR S * IZR x)) ->
  IZR (zsum (map f p)) = IZR (S * S) * rsum D (fun d => g (scaled p d)).
Proof.
  intros f g p L H. rewrite (zsum_map_real D) by exact L. rewrite <- rsum_scal. apply rsum_ext. intros d _. apply H.
Qed.

Lemma inner_distance_ok : forall p, length p = D -> all_within T (inner_distance_ends p) (euclidean_range h (scaled p)).
Proof.
  intros p L x [Lo Hi]. assert (PS : (0 < S * S)%Z) by reflexivity. assert (RSS := IZR_pos _ PS). split.
  - apply ceil_end in Lo; [|exact PS].
    rewrite (sum_real _ (fun y => off h y * off h y)) in Lo by (auto; apply gap_real).
    apply (Rmult_le_reg_l (IZR (S * S))); [exact RSS|exact Lo].
  - unfold inner_distance_ends in Hi. cbn [snd] in Hi. destruct (lower h) as [a|]; [|exact I].
    destruct (upper h) as [b|]; [|exact I]. cbn [option_map]. apply floor_end in Hi; [|exact PS].
    rewrite (sum_real _ (fun y => Rmax (y - q a (coord_unit h)) (q b (coord_unit h) - y) *
                                  Rmax (y - q a (coord_unit h)) (q b (coord_unit h) - y))) in Hi
      by (auto; apply spread_real).
    apply (Rmult_le_reg_l (IZR (S * S))); [exact RSS|exact Hi].
Qed.

(** ** Signs *)

Lemma no_negative_right : not_negative h <-> no_negative_coordinate h = true.
Proof.
  unfold not_negative, no_negative_coordinate.
  destruct (lower h) as [a|]; cbn [option_map]; [|split; [tauto|discriminate]].
  rewrite Z.leb_le. split; intros H.
  - apply le_IZR. rewrite <- (times_unit a). apply Rmult_le_pos; lra.
  - apply IZR_le in H. rewrite <- (times_unit a) in H. apply (Rmult_le_reg_l (IZR S)); lra.
Qed.

Lemma no_positive_right : not_positive h <-> no_positive_coordinate h = true.
Proof.
  unfold not_positive, no_positive_coordinate.
  destruct (upper h) as [b|]; cbn [option_map]; [|split; [tauto|discriminate]].
  rewrite Z.leb_le. split; intros H.
  - apply le_IZR. rewrite <- (times_unit b). rewrite <- (Rmult_0_r (IZR S)). apply Rmult_le_compat_l; lra.
  - apply IZR_le in H. rewrite <- (times_unit b) in H. apply (Rmult_le_reg_l (IZR S)); lra.
Qed.

Lemma scaled_opp : forall p, scaled (map Z.opp p) = opposite (scaled p).
Proof.
  intros p. apply functional_extensionality. intros d. unfold scaled, opposite, vector.
  change 0%Z with (- 0)%Z at 1. rewrite map_nth, opp_IZR. ring.
Qed.

Lemma opposite_twice : forall p, opposite (opposite p) = p.
Proof. intros p. apply functional_extensionality. intros d. unfold opposite. ring. Qed.

Lemma norm_ext : forall v w, (forall d, (d < D)%nat -> v d = w d) -> norm h v = norm h w.
Proof. intros v w H. unfold norm, dot. f_equal. apply rsum_ext. intros d Hd. rewrite H by exact Hd. reflexivity. Qed.

(** What is left of a prototype where coordinates have one sign *)
Definition useful (p : list Z) (d : nat) : R := if never_raises h (nth d p 0%Z) then 0 else scaled p d.

Lemma norm_useful : forall p, length p = D -> IZR S * norm h (useful p) = sqrt (IZR (span h p)).
Proof.
  intros p L. unfold norm. rewrite sqrt_scaled by (try lra; apply (inner_square_nonneg (depth h))). f_equal.
  unfold span, dot. rewrite (zsum_map_real D) by exact L. rewrite <- rsum_scal. apply rsum_ext. intros d _.
  unfold useful. destruct (never_raises h (nth d p 0%Z)); [ring|].
  rewrite mult_IZR. fold (vector p d). rewrite <- times_scaled. ring.
Qed.

Lemma useful_no_negative : forall p d, no_negative_coordinate h = true -> no_positive_coordinate h = false ->
  useful p d = positive_part (scaled p) d.
Proof.
  intros p d N Q. unfold useful, never_raises, positive_part, scaled. rewrite N, Q. cbn [andb orb]. rewrite orb_false_r.
  assert (I : 0 < / IZR S) by (apply Rinv_0_lt_compat; exact RS). unfold vector.
  destruct (_ <? _)%Z eqn:E.
  - apply Z.ltb_lt, IZR_lt in E. rewrite Rmax_left; [reflexivity|]. nra.
  - apply Z.ltb_ge, IZR_le in E. rewrite Rmax_right; [reflexivity|]. apply Rmult_le_pos; lra.
Qed.

Lemma useful_no_positive : forall p d, no_positive_coordinate h = true -> no_negative_coordinate h = false ->
  useful p d = - positive_part (opposite (scaled p)) d.
Proof.
  intros p d N Q. unfold useful, never_raises, positive_part, opposite, scaled. rewrite N, Q. cbn [andb orb].
  assert (I : 0 < / IZR S) by (apply Rinv_0_lt_compat; exact RS). unfold vector.
  destruct (_ <? _)%Z eqn:E.
  - apply Z.ltb_lt, IZR_lt in E. rewrite Rmax_left; [ring|]. nra.
  - apply Z.ltb_ge, IZR_le in E. rewrite Rmax_right; [ring|]. nra.
Qed.

Lemma useful_no_sign : forall p d, no_negative_coordinate h = false -> no_positive_coordinate h = false ->
  useful p d = scaled p d.
Proof. intros p d N Q. unfold useful, never_raises. rewrite N, Q. reflexivity. Qed.

Lemma norm_opp : forall v, norm h (fun d => - v d) = norm h v.
Proof. intros v. unfold norm, dot. f_equal. apply rsum_ext. intros. ring. Qed.

Lemma norm_useful_at_most : forall p, norm h (useful p) <= norm h (scaled p).
Proof.
  intros p. unfold norm, dot. apply sqrt_le_1_alt, rsum_le. intros d _. unfold useful.
  destruct (never_raises _ _); [|lra]. rewrite Rmult_0_l. apply Rle_0_sqr.
Qed.

(** Domains with both signs are those of 0 alone: [Semantics] admits them, certificates do not. *)
Definition signs_differ : bool := negb (no_negative_coordinate h && no_positive_coordinate h).

Definition one_sign : Prop := no_negative_coordinate h = true \/ no_positive_coordinate h = true.

Lemma norm_by_sign : forall p, signs_differ = true -> one_sign ->
  norm h (useful p) = norm h (positive_part (scaled (mirrored h p))).
Proof.
  intros p E O. unfold signs_differ in E. unfold mirrored. destruct (no_negative_coordinate h) eqn:N.
  - apply norm_ext. intros d _. apply useful_no_negative; [exact N|]. apply negb_true_iff. exact E.
  - destruct O as [O|O]; [congruence|]. rewrite scaled_opp, <- norm_opp. apply norm_ext. intros d _.
    rewrite useful_no_positive; [ring|exact O|exact N].
Qed.

Lemma mirrored_is : signs_differ = true -> forall p, (not_negative h -> mirrored h p = p) /\
  (not_positive h -> mirrored h p = map Z.opp p).
Proof.
  intros E p. unfold signs_differ in E. unfold mirrored. split; intros H.
  - apply no_negative_right in H. rewrite H. reflexivity.
  - apply no_positive_right in H. rewrite H, andb_true_r in E. apply negb_true_iff in E. rewrite E. reflexivity.
Qed.

(** ** Cosines *)

Lemma greatest_attained : forall p, (0 < length p)%nat -> exists d, (d < length p)%nat /\ nth d p 0%Z = greatest p.
Proof.
  intros p H. assert (I : In (greatest p) p).
  { unfold greatest. destruct p as [|y p]; [inversion H|]. cbn [hd].
    assert (G : forall l, In (fold_right Z.max y l) (y :: l)).
    { induction l as [|w l IH]; [left; reflexivity|]. cbn [fold_right].
      destruct (Z.max_spec w (fold_right Z.max y l)) as [[_ ->]|[_ ->]]; [|right; left; reflexivity].
      destruct IH as [E|I]; [left; exact E|right; right; exact I]. }
    destruct (G (y :: p)) as [E|I]; [left; exact E|exact I]. }
  destruct (In_nth p (greatest p) 0%Z I) as (d & Hd & E). exists d. auto.
Qed.

Lemma rmax_of_greatest : forall p, length p = D -> (0 < D)%nat -> / IZR S * IZR (greatest p) <= rmax D (scaled p).
Proof.
  intros p L HD. destruct (greatest_attained p ltac:(lia)) as (d & Hd & <-). apply (rmax_ge D (scaled p) d). lia.
Qed.

Lemma scaled_below : forall p d, length p = D -> (d < D)%nat -> (greatest p < 0)%Z -> scaled p d < 0.
Proof.
  intros p d L Hd G. assert (K := greatest_ok h p d ltac:(lia)). apply IZR_lt in G. unfold scaled.
  assert (I : 0 < / IZR S) by (apply Rinv_0_lt_compat; exact RS). nra.
Qed.

Lemma length_mirrored : forall p, length (mirrored h p) = length p.
Proof. intros p. unfold mirrored. destruct (no_negative_coordinate h); [reflexivity|apply map_length]. Qed.

Lemma numerator_zero : forall e, real e = 0 <-> numerator e = 0%Z.
Proof.
  intros e. unfold real, q. assert (P := Zpos_pos (denominator e)). split; intros H.
  - apply eq_IZR. replace (IZR (numerator e)) with (IZR (numerator e) / IZR (Zpos (denominator e)) * IZR (Zpos
      (denominator e)))
      by (field; lra). rewrite H. ring.
  - rewrite H. unfold Rdiv. ring.
Qed.

Lemma norm_scaled : forall p, length p = D -> IZR S * norm h (scaled p) = sqrt (IZR (zdot p p)).
Proof.
  intros p L. unfold norm. rewrite sqrt_scaled by (try lra; apply (inner_square_nonneg (depth h))). f_equal.
  rewrite (zdot_real D) by lia. unfold dot, inner. rewrite <- rsum_scal. apply rsum_ext. intros d _.
  rewrite <- times_scaled. ring.
Qed.

Lemma inner_cosine_reach_ok : forall e p x, length p = D -> (0 < zdot p p)%Z -> signs_differ = true -> one_sign ->
  IZR T * x <= IZR (inner_cosine_reach e (zdot p p) p) ->
  furthest h e (scaled (mirrored h p)) (norm h (scaled p) * x).
Proof.
  intros e p x L Ps E O H. set (s := zdot p p) in *. apply IZR_pos in Ps as Rs. assert (Q := sqrt_lt_R0 _ Rs).
  assert (N := norm_scaled p L). fold s in N. assert (HD : (0 < D)%nat).
  { destruct D eqn:Z0; [|lia]. destruct p; [cbn in Ps; lia|discriminate]. }
  assert (LM : length (mirrored h p) = D) by (rewrite length_mirrored; exact L).
  unfold inner_cosine_reach in H. destruct (_ && _) eqn:C.
  - apply andb_prop in C as [E0 B]. apply Z.eqb_eq in E0. apply andb_prop in B as [_ G]. apply Z.ltb_lt in G.
    cbv zeta in H. set (t := greatest (mirrored h p)) in *. split.
    + intros [(d & Hd & P)|NE]; [|apply numerator_zero in E0; contradiction].
      assert (K := scaled_below _ d LM Hd G). lra.
    + intros _ _. eapply Rle_trans; [|apply rmax_of_greatest; [exact LM|exact HD]]. fold t.
      rewrite opp_IZR in H. set (r := root_ceil _) in *.
      assert (F : IZR T * - IZR t / sqrt (IZR s) <= IZR r).
      { apply Rle_trans with (sqrt (IZR (T * T * (t * t)) / IZR s)).
        - right. rewrite sqrt_div_alt by exact Rs. f_equal.
          replace (IZR (T * T * (t * t))) with (IZR T * - IZR t * (IZR T * - IZR t)) by (rewrite !mult_IZR; ring).
          apply IZR_lt in G. rewrite sqrt_square by nra. reflexivity.
        - apply root_ceil_above; [|apply le_ceil_div; exact Ps].
          apply ceil_div_nonneg; [apply Z.mul_nonneg_nonneg; apply Z.square_nonneg|exact Ps]. }
      apply (div_le_iff _ _ _ Q) in F. assert (K : sqrt (IZR s) * x <= IZR t).
      { apply (Rmult_le_compat_l (sqrt (IZR s))) in H; [|lra]. apply (Rmult_le_reg_l (IZR T)); [exact RT|]. lra. }
      rewrite <- N in K. apply (Rmult_le_reg_l (IZR S)); [exact RS|]. rewrite <- Rmult_assoc.
      replace (IZR S * (/ IZR S * IZR t)) with (IZR t) by (field; lra). exact K.
  - assert (K : norm h (scaled p) * x <= norm h (useful p)).
    { assert (F : IZR T * x <= IZR T * sqrt (IZR (span h p)) / sqrt (IZR s)).
      { eapply Rle_trans; [exact H|]. apply Rle_trans with (sqrt (IZR (T * T * span h p) / IZR s)).
        - apply root_floor_below; [|apply floor_div_le; exact Ps].
          apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg; [apply Z.square_nonneg|apply span_nonneg]|exact Ps].
        - right. rewrite sqrt_div_alt by exact Rs. f_equal. rewrite !mult_IZR, <- sqrt_scaled; [reflexivity|lra|].
          apply IZR_nonneg, span_nonneg. }
      apply (le_div_iff _ _ _ Q) in F. rewrite <- (norm_useful p L), <- N in F.
      apply (Rmult_le_reg_l (IZR T * IZR S)); [apply Rmult_lt_0_compat; assumption|]. lra. }
    rewrite (norm_by_sign p E O) in K. split; [intros _; exact K|]. intros A E0. apply numerator_zero in E0.
    rewrite E0, Z.eqb_refl in C. cbn [andb] in C. unfold below_zero in C.
    assert (O' : no_negative_coordinate h || no_positive_coordinate h = true) by (apply orb_true_iff; exact O).
    rewrite O' in C. cbn [andb] in C. apply Z.ltb_ge, IZR_le in C.
    assert (Z0 : norm h (positive_part (scaled (mirrored h p))) = 0).
    { unfold norm, dot. rewrite rsum_zero; [apply sqrt_0|]. intros d Hd. unfold positive_part.
      rewrite Rmax_left by (apply A; exact Hd). ring. }
    rewrite Z0 in K. eapply Rle_trans; [exact K|]. eapply Rle_trans; [|apply rmax_of_greatest; assumption].
    apply Rmult_le_pos; [left; apply Rinv_0_lt_compat; exact RS|exact C].
Qed.

Lemma norm_opposite : forall p, norm h (opposite p) = norm h p.
Proof. intros p. apply (norm_opp p). Qed.

Lemma zdot_opp : forall p, zdot (map Z.opp p) (map Z.opp p) = zdot p p.
Proof. induction p as [|a p IH]; [reflexivity|]. cbn [map zdot]. rewrite IH. ring. Qed.

Lemma inner_cosine_ok : forall e p, length p = D -> (0 < zdot p p)%Z -> signs_differ = true ->
  all_within T (inner_cosine_ends e p) (cosine_range h e (scaled p)).
Proof.
  intros e p L Ps E x [Lo Hi]. cbn [inner_cosine_ends fst snd] in Lo, Hi.
  rewrite IZR_max, !opp_IZR in Lo. rewrite IZR_min in Hi.
  assert (L1 := Rmax_l (- IZR T) (- IZR (inner_cosine_reach e (zdot p p) (map Z.opp p)))).
  assert (L2 := Rmax_r (- IZR T) (- IZR (inner_cosine_reach e (zdot p p) (map Z.opp p)))).
  assert (U1 := Rmin_l (IZR T) (IZR (inner_cosine_reach e (zdot p p) p))).
  assert (U2 := Rmin_r (IZR T) (IZR (inner_cosine_reach e (zdot p p) p))).
  assert (one : one_sign -> furthest h e (scaled (mirrored h p)) (norm h (scaled p) * x) /\
                            furthest h e (scaled (mirrored h (map Z.opp p))) (- (norm h (scaled p) * x))).
  { intros O. split; [apply inner_cosine_reach_ok; auto; lra|].
    replace (- (norm h (scaled p) * x)) with (norm h (scaled (map Z.opp p)) * - x)
      by (rewrite scaled_opp, norm_opposite; ring).
    apply inner_cosine_reach_ok; [rewrite map_length; exact L|rewrite zdot_opp; exact Ps|exact E|exact O|].
    rewrite zdot_opp. lra. }
  destruct (mirrored_is E p) as [M1 M2]. destruct (mirrored_is E (map Z.opp p)) as [M3 M4].
  split; [|split].
  - split; apply (Rmult_le_reg_l (IZR T)); lra.
  - intros N. destruct (one (or_introl (proj1 no_negative_right N))) as [A B].
    rewrite (M1 N) in A. rewrite (M3 N), scaled_opp in B. split; assumption.
  - intros N. destruct (one (or_intror (proj1 no_positive_right N))) as [A B].
    rewrite (M2 N), scaled_opp in A. rewrite (M4 N), !scaled_opp, opposite_twice in B. split; assumption.
Qed.

(** ** Inner products *)

Lemma denominator_of_positive : forall radius, (0 < denominator_of radius)%Z.
Proof. intros [r|]; reflexivity. Qed.

Lemma scaled_min : forall k a b, 0 < k -> k * Rmin a b = Rmin (k * a) (k * b).
Proof.
  intros k a b H. unfold Rmin. destruct (Rle_dec a b) as [C|C], (Rle_dec (k * a) (k * b)) as [C'|C']; try reflexivity;
    nra.
Qed.

(** The ends of a coordinate, over the unit S times the radius's denominator *)
Lemma coordinate_ends_real : forall radius,
  let k := IZR (S * denominator_of radius) in
  greater_of (option_map (fun a => q a (coord_unit h)) (lower h)) (option_map (fun r => - real r) radius) =
    option_map (fun a => IZR a / k) (fst (coordinate_ends h radius)) /\
  lesser_of (option_map (fun b => q b (coord_unit h)) (upper h)) (option_map real radius) =
    option_map (fun b => IZR b / k) (snd (coordinate_ends h radius)).
Proof.
  intros radius k. assert (Pd := IZR_pos _ (denominator_of_positive radius)).
  assert (K : k = IZR S * IZR (denominator_of radius)) by apply mult_IZR.
  assert (Pk : 0 < k) by (rewrite K; apply Rmult_lt_0_compat; assumption).
  assert (Q : forall a, q a (coord_unit h) = IZR (denominator_of radius * a) / k).
  { intros a. rewrite mult_IZR, <- (times_unit a), K. field. lra. }
  assert (R1 : forall r, radius = Some r -> real r = IZR (numerator r * S) / k).
  { intros r E. rewrite K, mult_IZR, E. cbn [denominator_of]. unfold real, q. field. rewrite E in Pd. cbn in Pd. lra. }
  assert (MX : forall a b, Rmax (IZR a / k) (IZR b / k) = IZR (Z.max a b) / k).
  { intros a b. rewrite IZR_max. unfold Rdiv. rewrite !(Rmult_comm _ (/ k)). apply RmaxRmult.
    left. apply Rinv_0_lt_compat. exact Pk. }
  assert (MN : forall a b, Rmin (IZR a / k) (IZR b / k) = IZR (Z.min a b) / k).
  { intros a b. rewrite IZR_min. unfold Rdiv. rewrite !(Rmult_comm _ (/ k)). symmetry. apply scaled_min.
    apply Rinv_0_lt_compat. exact Pk. }
  unfold coordinate_ends, reach_of, meet. cbn [fst snd].
  destruct radius as [r|]; cbn [option_map] in *; [specialize (R1 r eq_refl)|clear R1];
    destruct (lower h) as [a|], (upper h) as [b|]; cbn [option_map raise cut greater_of lesser_of]; rewrite ?Q;
    try (assert (R2 : - real r = IZR (- (numerator r * S)) / k) by (rewrite opp_IZR, R1; unfold Rdiv; ring));
    rewrite ?R2, ?R1, ?MX, ?MN; split; reflexivity.
Qed.

Lemma inner_box_ok : forall radius p e, length p = D -> inner_box_ends radius p = Some e ->
  all_within T e (fun x =>
    match greater_of (option_map (fun a => q a (coord_unit h)) (lower h)) (option_map (fun r => - real r) radius),
          lesser_of (option_map (fun b => q b (coord_unit h)) (upper h)) (option_map real radius) with
    | Some a, Some b =>
        rsum D (fun d => Rmin (a * scaled p d) (b * scaled p d)) <= x <=
        rsum D (fun d => Rmax (a * scaled p d) (b * scaled p d))
    | _, _ => True
    end).
Proof.
  intros radius p e L H x [Lo Hi]. destruct (coordinate_ends_real radius) as [-> ->]. unfold inner_box_ends in H.
  destruct (coordinate_ends h radius) as [[a|] [b|]]; try discriminate. injection H as <-.
  cbn [fst snd option_map] in *.
  assert (Pd := denominator_of_positive radius). set (d := denominator_of radius) in *.
  assert (Pk : (0 < S * d * S)%Z) by (apply Z.mul_pos_pos; [apply Z.mul_pos_pos; [reflexivity|exact Pd]|reflexivity]).
  assert (Rk := IZR_pos _ Pk). apply IZR_pos in Pd as Rd.
  assert (F : forall y i, IZR (S * d * S) * (IZR y / IZR (S * d) * scaled p i) = IZR (y * nth i p 0%Z)).
  { intros y i. rewrite !mult_IZR. fold (vector p i). rewrite <- times_scaled. field. lra. }
  apply ceil_end in Lo; [|exact Pk]. apply floor_end in Hi; [|exact Pk].
  rewrite (zsum_map_real D) in Lo by exact L. rewrite (zsum_map_real D) in Hi by exact L.
  split; apply (Rmult_le_reg_l (IZR (S * d * S))); try exact Rk.
  - eapply Rle_trans; [|exact Lo]. right. rewrite <- rsum_scal. apply rsum_ext. intros i _.
    rewrite scaled_min, !F, IZR_min by exact Rk. reflexivity.
  - eapply Rle_trans; [exact Hi|]. right. rewrite <- rsum_scal. apply rsum_ext. intros i _.
    rewrite <- RmaxRmult, !F, IZR_max by lra. reflexivity.
Qed.

Lemma inner_ball_reach_ok : forall r p x, length p = D -> (0 <= numerator r)%Z ->
  IZR T * x <= IZR (inner_ball_reach r p) -> x <= real r * norm h (useful p).
Proof.
  intros r p x L Hr H. set (d := Zpos (denominator r)). assert (Pd : 0 < IZR d) by apply unit_positive.
  assert (Q : IZR d * real r = IZR (numerator r)) by apply q_times_unit.
  assert (Pk : (0 < d * S)%Z) by reflexivity. assert (Rk := IZR_pos _ Pk).
  unfold inner_ball_reach in H. fold d in H.
  assert (F := floor_div_le (root_floor (T * T * (numerator r * numerator r) * span h p)) _ Pk).
  set (y := root_floor _) in *. assert (G : IZR T * x <= IZR y / IZR (d * S)) by lra.
  apply (le_div_iff _ _ _ Rk) in G. assert (Y : IZR y <= IZR T * IZR (numerator r) * sqrt (IZR (span h p))).
  { unfold y. eapply Rle_trans; [apply root_ok|].
    - apply Z.mul_nonneg_nonneg; [|apply span_nonneg]. apply Z.mul_nonneg_nonneg; apply Z.square_nonneg.
    - right. rewrite sqrt_scaled; [f_equal; rewrite !mult_IZR; ring| |apply IZR_nonneg, span_nonneg].
      apply Rmult_le_pos; [lra|apply IZR_nonneg; exact Hr]. }
  rewrite <- (norm_useful p L), <- Q, mult_IZR in *.
  apply (Rmult_le_reg_l (IZR d * IZR S * IZR T)); [|lra].
  apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption.
Qed.

Lemma inner_product_ok : forall radius p e, length p = D -> signs_differ = true ->
  inner_product_ends radius p = Some e -> all_within T e (product_range h radius (scaled p)).
Proof.
  intros radius p e L E H x X. unfold inner_product_ends in H.
  destruct (inner_box_ends radius p) as [b|] eqn:B; [|discriminate]. assert (K := inner_box_ok radius p b L B x).
  destruct radius as [r|].
  2: { injection H as <-. split; [apply K, X|exact I]. }
  destruct (0 <=? numerator r)%Z eqn:N; [|discriminate]. injection H as <-. apply Z.leb_le in N.
  destruct X as [Lo Hi]. cbn [fst snd] in Lo, Hi. rewrite IZR_max, opp_IZR in Lo. rewrite IZR_min in Hi.
  assert (L1 := Rmax_l (IZR (fst b)) (- IZR (inner_ball_reach r (map Z.opp p)))).
  assert (L2 := Rmax_r (IZR (fst b)) (- IZR (inner_ball_reach r (map Z.opp p)))).
  assert (U1 := Rmin_l (IZR (snd b)) (IZR (inner_ball_reach r p))).
  assert (U2 := Rmin_r (IZR (snd b)) (IZR (inner_ball_reach r p))).
  split; [apply K; split; lra|].
  assert (A := inner_ball_reach_ok r p x L N ltac:(lra)).
  assert (A' := inner_ball_reach_ok r (map Z.opp p) (- x) ltac:(rewrite map_length; exact L) N ltac:(lra)).
  assert (R0 : 0 <= real r) by (apply div_nonneg; [apply IZR_nonneg; exact N|apply Zpos_pos]).
  assert (M := norm_useful_at_most p). assert (M' := norm_useful_at_most (map Z.opp p)).
  rewrite scaled_opp, norm_opposite in M'.
  apply (Rmult_le_compat_l (real r)) in M, M'; try exact R0. cbv zeta. split; [lra|].
  destruct (mirrored_is E p) as [M1 M2]. destruct (mirrored_is E (map Z.opp p)) as [M3 M4].
  split; intros Sg.
  - assert (O : one_sign) by (left; apply no_negative_right; exact Sg).
    rewrite (norm_by_sign p E O), (M1 Sg) in A. rewrite (norm_by_sign _ E O), (M3 Sg), scaled_opp in A'. lra.
  - assert (O : one_sign) by (right; apply no_positive_right; exact Sg).
    rewrite (norm_by_sign p E O), (M2 Sg), scaled_opp in A.
    rewrite (norm_by_sign _ E O), (M4 Sg), !scaled_opp, opposite_twice in A'. lra.
Qed.

(** ** Masses *)

Lemma inner_mass_range_ok : forall e, (0 < count h)%nat -> inner_mass_range = Some e ->
  all_within T e (mass_range h).
Proof.
  intros e HP H x [Lo Hi]. unfold inner_mass_range in H. unfold mass_range. cbv zeta.
  destruct (Nat.eqb (count h) 1) eqn:One.
  { injection H as <-. cbn [fst snd] in *. apply (Rmult_eq_reg_l (IZR T)); lra. }
  apply Nat.eqb_neq in One. set (others := (Z.of_nat (count h) - 1)%Z) in *.
  assert (O1 : IZR others = INR (count h) - 1) by (unfold others; rewrite minus_IZR, <- INR_IZR_INZ; reflexivity).
  assert (OP : 1 <= IZR others) by (apply IZR_le; unfold others; lia).
  set (r := match option_map _ (lower h) with Some a => _ | None => _ end).
  assert (main : forall k, 0 <= IZR T * r <= IZR k ->
    e = (ceil_div (T * k) (k + others * T), floor_div (T * T) (T + others * k))%Z ->
    r / (r + (INR (count h) - 1)) <= x <= 1 / (1 + (INR (count h) - 1) * r)).
  { intros k [K0 K] ->. cbn [fst snd] in Lo, Hi. assert (R0 : 0 <= r) by (apply (Rmult_le_reg_l (IZR T)); lra).
    assert (Zk : (0 <= k)%Z) by (apply le_IZR; lra). assert (ZO : (1 <= others)%Z) by (unfold others; lia).
    rewrite <- O1. apply ceil_end in Lo; [|nia]. apply floor_end in Hi; [|nia].
    rewrite plus_IZR, !mult_IZR in *. split.
    - apply div_le_iff; [lra|]. set (m := x) in *.
      assert (P : IZR k * (1 - m) <= IZR others * IZR T * m) by lra.
      destruct (Rle_dec 1 m) as [C|C]; [nra|].
      assert (IZR T * r * (1 - m) <= IZR k * (1 - m)) by (apply Rmult_le_compat_r; lra).
      apply (Rmult_le_reg_l (IZR T)); lra.
    - assert (OR : 0 <= IZR others * r) by (apply Rmult_le_pos; lra). apply le_div_iff; [lra|].
      destruct (Rle_dec 0 x) as [C|C]; [|nra]. apply (Rmult_le_reg_l (IZR T)); [exact RT|].
      assert (IZR others * x * (IZR T * r) <= IZR others * x * IZR k) by (apply Rmult_le_compat_l; nra). lra. }
  unfold r in *. destruct (lower h) as [a|], (upper h) as [b|]; cbn [option_map] in *;
    try (apply (main 0%Z); [lra|congruence]).
  destruct (exp_ends T terms (a - b) (Zpos (coord_unit h))) as [[a' k]|] eqn:X; [|discriminate].
  apply exp_ends_encloses in X as (_ & _ & [_ U]); [|exact T_positive]. cbn [snd] in U.
  apply (main k); [|congruence].
  replace (q a (coord_unit h) - q b (coord_unit h)) with (IZR (a - b) / IZR (Zpos (coord_unit h)))
    by (unfold q; rewrite minus_IZR; unfold Rdiv; ring).
  split; [|exact U]. apply Rmult_le_pos; [lra|]. left. apply exp_pos.
Qed.

(** ** All of them *)

Theorem inner_domain_row_ok : forall j e, signs_differ = true -> (j < count h)%nat ->
  nth j inner_domain_row None = Some e -> all_within T e (domain_range h j).
Proof.
  intros j e E Hj H. unfold inner_domain_row in H.
  assert (R0 : forall k, nth j (repeat k (count h)) None = Some e -> k = Some e).
  { intros k X. rewrite (nth_indep _ None k) in X by (rewrite repeat_length; exact Hj). rewrite nth_repeat in X.
    exact X. }
  assert (spatial_case : forall ms,
    measures h = Some ms -> nth j (map inner_domain_ends (prototypes h)) None = Some e ->
    length (points h j) = D /\ 0 < size h j /\ inner_domain_ends (points h j) = Some e).
  { intros ms M X. destruct (measures_ok h ms M) as (HS & C & L & O).
    assert (N : length (prototypes h) = count h).
    { unfold measures in M. destruct (_ && _); [injection M as <-; rewrite map_length in C; exact C|discriminate]. }
    rewrite (nth_indep _ None (inner_domain_ends nil)) in X by (rewrite map_length; lia). rewrite map_nth in X.
    split; [apply L; exact Hj|]. split; [|exact X]. apply (size_nonneg h j _ (O j (Measure 0 0 1 1) Hj)). }
  assert (sized : length (points h j) = D -> 0 < sqrt (inner D (vector (points h j)) (vector (points h j))) ->
                  (0 < zdot (points h j) (points h j))%Z).
  { intros L P. apply lt_IZR. rewrite (zdot_real D) by lia.
    destruct (Rle_dec (inner D (vector (points h j)) (vector (points h j))) 0) as [N|N]; [|lra].
    rewrite sqrt_neg_0 in P by exact N. lra. }
  unfold domain_range, inner_domain_ends, size in *. rewrite coord_scaled.
  destruct (head_geometry h) as [|ep|ep|radius|].
  5: { apply R0 in H. apply inner_mass_range_ok; [lia|exact H]. }
  all: destruct (measures h) as [ms|]; [|apply R0 in H; discriminate];
    destruct (spatial_case ms eq_refl H) as (L & P & X).
  - injection X as <-. apply inner_distance_ok. exact L.
  - injection X as <-. apply inner_cosine_ok; auto.
  - injection X as <-. apply inner_cosine_ok; auto.
  - apply inner_product_ok; auto.
Qed.
End InnerDomain.
