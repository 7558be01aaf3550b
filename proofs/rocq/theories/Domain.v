(** The range of every observable over the head's domain, as a row.

    Euclidean: from the box, coordinate by coordinate. Inner product: from the box, whose ends are cut to those of the
    ball, and from the ball by Cauchy and Schwarz. Cosines: from the ball. Where no latent coordinate is negative,
    <y, P> <= <y, P^+> with P^+ the positive part of P, so |P^+| serves instead of |P|; where moreover |u| = 1 and no
    coordinate of P is positive, <u, P> is at most the greatest one. Where no latent coordinate is positive, all this
    holds of -y and -P. Softmax: masses, as [MassRange.v] has them. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Root Ends Quadratic Simplex Embedding Facts Coordinates
  MassRange.
Import ListNotations.
Open Scope R_scope.

Section Domain.
Variable h : head.
Variable T : Z.
Variable terms : nat.
Let D := depth h.
Let S := unit_of h.

(** * The row *)

(** T times the observable is at most this: an inner product in the ball of radius [r], and a cosine; [square] is |P|^2.
    What is so proved of the prototype's opposite is a low end. *)
Definition ball_reach (r : fraction) (p : list Z) : Z :=
  ceil_div (root_ceil (T * T * (numerator r * numerator r) * span h p)) (Zpos (denominator r) * S).
Definition cosine_reach (e : fraction) (square : Z) (p : list Z) : Z :=
  if (numerator e =? 0)%Z && below_zero h p then
    let t := greatest (mirrored h p) in (- root_floor (floor_div (T * T * (t * t)) square))%Z
  else root_ceil (ceil_div (T * T * span h p) square).

(** The ends of a coordinate over the unit [U] = S d: [d] is the denominator of the radius, or 1. *)
Definition denominator_of (radius : option fraction) : Z :=
  match radius with Some r => Zpos (denominator r) | None => 1 end.
Definition reach_of (radius : option fraction) : option Z := option_map (fun r => numerator r * S)%Z radius.
Definition coordinate_ends (radius : option fraction) : ends :=
  let scaled := option_map (Z.mul (denominator_of radius)) in
  meet (scaled (lower h), scaled (upper h)) (option_map Z.opp (reach_of radius), reach_of radius).

Definition box_ends (radius : option fraction) (p : list Z) : ends :=
  let unit := (S * denominator_of radius * S)%Z in
  match coordinate_ends radius with
  | (Some a, Some b) =>
      (Some (floor_div (T * zsum (map (fun x => Z.min (a * x) (b * x)) p)) unit)%Z,
       Some (ceil_div (T * zsum (map (fun x => Z.max (a * x) (b * x)) p)) unit)%Z)
  | _ => anything
  end.

Definition distance_ends (p : list Z) : ends :=
  (Some (floor_div (T * zsum (map (gap h) p)) (S * S)),
   match lower h, upper h with
   | Some a, Some b => Some (ceil_div (T * zsum (map (spread a b) p)) (S * S))
   | _, _ => None
   end)%Z.

Definition domain_ends (p : list Z) : ends :=
  match head_geometry h with
  | Euclidean => distance_ends p
  | InnerProduct None => box_ends None p
  | InnerProduct (Some r) => meet (Some (- ball_reach r (map Z.opp p))%Z, Some (ball_reach r p)) (box_ends (Some r) p)
  | Cosine e | RootedCosine e =>
      let s := zdot p p in (Some (- cosine_reach e s (map Z.opp p))%Z, Some (cosine_reach e s p))
  | Softmax => mass_range h T terms
  end.

(** None if the head's tensors do not fit. *)
Definition domain_row : option row :=
  match head_geometry h with
  | Softmax => if Nat.eqb (depth h) (count h) then Some (repeat (domain_ends nil) (count h)) else None
  | _ => match measures h with Some _ => Some (map domain_ends (prototypes h)) | None => None end
  end.

Hypothesis T_positive : (0 < T)%Z.
Variable v : nat -> R.
Hypothesis in_the_domain : patch_in_domain h v.

Let S_positive : (0 < S)%Z. Proof. reflexivity. Qed.

(** For euclidean and inner product, y = S z lies in the box. *)
Lemma scaled_in_box : forall d, (d < D)%nat ->
  (match lower h with Some a => IZR a <= IZR S * v d | None => True end) /\
  (match upper h with Some b => IZR S * v d <= IZR b | None => True end).
Proof.
  intros d Hd. destruct in_the_domain as [B _]. specialize (B d Hd). assert (P := IZR_pos _ S_positive).
  assert (X : forall k, IZR S * q k (coord_unit h) = IZR k) by (intros; apply q_times_unit).
  destruct B as [L U]. split.
  - destruct (lower h) as [a|]; [|exact I]. rewrite <- (X a). apply Rmult_le_compat_l; lra.
  - destruct (upper h) as [b|]; [|exact I]. rewrite <- (X b). apply Rmult_le_compat_l; lra.
Qed.

Lemma floor_of_sum : forall U s x, (0 < U)%Z -> IZR s <= IZR U * x -> IZR (floor_div (T * s) U) <= IZR T * x.
Proof.
  intros U s x P H. apply floor_div_below; [exact P|]. rewrite mult_IZR. apply IZR_pos in T_positive.
  apply (Rmult_le_compat_l (IZR T)) in H; lra.
Qed.

Lemma ceil_of_sum : forall U s x, (0 < U)%Z -> IZR U * x <= IZR s -> IZR T * x <= IZR (ceil_div (T * s) U).
Proof.
  intros U s x P H. apply ceil_div_above; [exact P|]. rewrite (mult_IZR T). apply IZR_pos in T_positive.
  apply (Rmult_le_compat_l (IZR T)) in H; lra.
Qed.

Lemma distance_ends_ok : forall j, length (points h j) = D -> head_geometry h = Euclidean ->
  within T (distance_ends (points h j)) (observable h v j).
Proof.
  intros j L G. unfold observable. rewrite G.
  assert (E : IZR (S * S) * rsum (depth h) (fun d => (v d - coord h j d) * (v d - coord h j d)) =
    rsum D (fun d => (IZR S * v d - vector (points h j) d) * (IZR S * v d - vector (points h j) d))).
  { rewrite <- rsum_scal. apply rsum_ext. intros d _. rewrite coord_vector, mult_IZR. fold S. field.
    apply Rgt_not_eq, IZR_pos. exact S_positive. }
  split; cbn [distance_ends fst snd above below].
  - apply floor_of_sum; [reflexivity|]. rewrite E, (zsum_map_real D) by exact L. apply rsum_le. intros d Hd.
    apply gap_below; apply (scaled_in_box d Hd).
  - assert (B := scaled_in_box). destruct (lower h) as [a|], (upper h) as [b|]; try exact I.
    apply ceil_of_sum; [reflexivity|]. rewrite E, (zsum_map_real D) by exact L. apply rsum_le. intros d Hd.
    apply spread_above. apply (B d Hd).
Qed.

Definition in_ball (radius : option fraction) : Prop :=
  match radius with Some r => norm h v <= real r | None => True end.

Lemma denominator_positive : forall radius, (0 < denominator_of radius)%Z.
Proof. intros [r|]; reflexivity. Qed.

(** |v_d| <= |v| *)
Lemma coordinate_below_norm : forall d, (d < D)%nat -> - norm h v <= v d <= norm h v.
Proof.
  intros d Hd. assert (A := Rle_abs (v d)). assert (B := Rle_abs (- v d)). rewrite Rabs_Ropp in B.
  assert (C : Rabs (v d) <= norm h v); [|lra]. rewrite <- sqrt_Rsqr_abs. apply sqrt_le_1_alt. unfold dot.
  apply (rsum_ge_term (depth h) (fun d => v d * v d)); [|exact Hd]. intros. apply Rle_0_sqr.
Qed.

Lemma coordinate_ends_ok : forall radius d, in_ball radius -> (d < D)%nat ->
  within (S * denominator_of radius) (coordinate_ends radius) (v d).
Proof.
  intros radius d H Hd. apply meet_ok; split; cbn [fst snd]; rewrite ?mult_IZR.
  - destruct (scaled_in_box d Hd) as [B _]. assert (P := IZR_pos _ (denominator_positive radius)).
    destruct (lower h); [|exact I]. cbn [option_map above]. rewrite !mult_IZR.
    apply (Rmult_le_compat_l (IZR (denominator_of radius))) in B; lra.
  - destruct (scaled_in_box d Hd) as [_ B]. assert (P := IZR_pos _ (denominator_positive radius)).
    destruct (upper h); [|exact I]. cbn [option_map below]. rewrite !mult_IZR.
    apply (Rmult_le_compat_l (IZR (denominator_of radius))) in B; lra.
  - destruct radius as [r|]; [|exact I]. cbn [reach_of denominator_of option_map above in_ball] in *.
    rewrite opp_IZR, !mult_IZR.
    assert (C := coordinate_below_norm d Hd). assert (Q := q_times_unit (numerator r) (denominator r)).
    fold (real r) in Q. rewrite <- Q. assert (P := IZR_pos _ S_positive). assert (Pd := unit_positive (denominator r)).
    assert (K : 0 <= v d + real r) by lra.
    assert (X := Rmult_le_pos _ _ (Rlt_le _ _ (Rmult_lt_0_compat _ _ P Pd)) K). lra.
  - destruct radius as [r|]; [|exact I]. cbn [reach_of denominator_of option_map below in_ball] in *.
    rewrite !mult_IZR.
    assert (C := coordinate_below_norm d Hd). assert (Q := q_times_unit (numerator r) (denominator r)).
    fold (real r) in Q. rewrite <- Q. assert (P := IZR_pos _ S_positive). assert (Pd := unit_positive (denominator r)).
    assert (K : 0 <= real r - v d) by lra.
    assert (X := Rmult_le_pos _ _ (Rlt_le _ _ (Rmult_lt_0_compat _ _ P Pd)) K). lra.
Qed.

Lemma box_ends_ok : forall radius j, in_ball radius -> length (points h j) = D ->
  within T (box_ends radius (points h j)) (dot h v (coord h j)).
Proof.
  intros radius j H L. unfold box_ends. cbv zeta. set (k := (S * denominator_of radius)%Z).
  assert (Pk : (0 < k)%Z) by (apply Z.mul_pos_pos; [reflexivity|apply denominator_positive]).
  assert (PU : (0 < k * S)%Z) by (apply Z.mul_pos_pos; [exact Pk|reflexivity]).
  assert (E : IZR (k * S) * dot h v (coord h j) = rsum D (fun d => IZR k * v d * vector (points h j) d)).
  { unfold dot. rewrite <- rsum_scal. apply rsum_ext. intros d _. rewrite coord_vector, mult_IZR. fold S. field.
    apply Rgt_not_eq, IZR_pos. exact S_positive. }
  assert (B : forall d, (d < D)%nat -> within k (coordinate_ends radius) (v d)) by
    (intros; apply coordinate_ends_ok; assumption).
  destruct (coordinate_ends radius) as [[a|] [b|]]; try (split; exact I).
  split; cbn [fst snd above below].
  - apply floor_of_sum; [exact PU|]. rewrite E, (zsum_map_real D) by exact L. apply rsum_le. intros d Hd.
    apply product_in_box. apply (B d Hd).
  - apply ceil_of_sum; [exact PU|]. rewrite E, (zsum_map_real D) by exact L. apply rsum_le. intros d Hd.
    apply product_in_box. apply (B d Hd).
Qed.

(** * Inner products in a ball *)

Lemma domain_has_signs : has_signs h v.
Proof.
  assert (P := IZR_pos _ S_positive). split; intros N d Hd; destruct (scaled_in_box d Hd) as [B C].
  - unfold no_negative_coordinate in N. destruct (lower h) as [a|]; [|discriminate]. apply Z.leb_le, IZR_le in N.
    apply (Rmult_le_reg_l (IZR S)); lra.
  - unfold no_positive_coordinate in N. destruct (upper h) as [b|]; [|discriminate]. apply Z.leb_le, IZR_le in N.
    apply (Rmult_le_reg_l (IZR S)); lra.
Qed.

(** [p] is a prototype or its opposite. *)
Lemma ball_reach_ok : forall r p, length p = D -> norm h v <= real r ->
  IZR T * (/ IZR S * inner D v (vector p)) <= IZR (ball_reach r p).
Proof.
  intros r p L H. assert (P := IZR_pos _ S_positive). assert (PT := IZR_pos _ T_positive).
  assert (C := inner_span h v p L domain_has_signs). fold (norm h v) in C.
  change (sqrt (inner D v v)) with (norm h v) in C. assert (R0 := sqrt_pos (IZR (span h p))).
  set (d := Zpos (denominator r)) in *. assert (Pd : 0 < IZR d) by apply unit_positive.
  assert (Q : IZR d * real r = IZR (numerator r)) by apply q_times_unit.
  apply ceil_div_above; [reflexivity|]. fold d. rewrite mult_IZR.
  replace (IZR d * IZR S * (IZR T * (/ IZR S * inner D v (vector p)))) with (IZR T * (IZR d * inner D v (vector p))) by
    (field; lra).
  eapply Rle_trans with (IZR T * Rabs (IZR (numerator r)) * sqrt (IZR (span h p))).
  - rewrite Rmult_assoc. apply Rmult_le_compat_l; [lra|].
    eapply Rle_trans; [apply Rmult_le_compat_l; [lra|exact C]|]. rewrite <- Rmult_assoc.
    apply Rmult_le_compat_r; [exact R0|]. eapply Rle_trans; [apply Rmult_le_compat_l; [lra|exact H]|].
    rewrite Q. apply Rle_abs.
  - replace (IZR T * Rabs (IZR (numerator r))) with (Rabs (IZR (T * numerator r))) by
      (rewrite mult_IZR, Rabs_mult, (Rabs_pos_eq (IZR T)); lra).
    rewrite sqrt_scaled by (try apply Rabs_pos; apply IZR_nonneg, span_nonneg). rewrite <- Rabs_mult, <- mult_IZR.
    rewrite Rabs_pos_eq by (apply IZR_nonneg, Z.square_nonneg). rewrite <- mult_IZR.
    replace (T * numerator r * (T * numerator r) * span h p)%Z with
      (T * T * (numerator r * numerator r) * span h p)%Z by ring.
    apply root_ok. apply Z.mul_nonneg_nonneg; [|apply span_nonneg].
    apply Z.mul_nonneg_nonneg; apply Z.square_nonneg.
Qed.

Lemma ball_ends_ok : forall j r, length (points h j) = D -> norm h v <= real r ->
  within T (Some (- ball_reach r (map Z.opp (points h j)))%Z, Some (ball_reach r (points h j))) (dot h v (coord h j)).
Proof.
  intros j r L H. rewrite inner_coord. fold S D. split; cbn [fst snd above below]; [|apply ball_reach_ok; assumption].
  assert (B := ball_reach_ok r (map Z.opp (points h j)) ltac:(rewrite map_length; exact L) H).
  rewrite inner_opp_r in B by exact L. rewrite opp_IZR. lra.
Qed.

(** * Cosines *)

Lemma embedded_has_signs : spatial h = true -> has_signs h (embedded h v).
Proof.
  intros HS. assert (K : 0 <= IZR S / stretch h v).
  { left. apply Rdiv_lt_0_compat; [apply IZR_pos, S_positive|apply stretch_positive; assumption]. }
  destruct domain_has_signs as [N P]. split; intros E d Hd; unfold embedded; fold S.
  - specialize (N E d Hd). nra.
  - specialize (P E d Hd). nra.
Qed.

(** [p] is a prototype or its opposite. *)
Lemma cosine_reach_ok : forall e j p k s, spatial h = true -> length p = D -> 0 < size h j ->
  size h j = sqrt (IZR s) -> (0 < s)%Z ->
  inner D (embedded h v) (embedded h v) <= IZR S * IZR S ->
  (numerator e = 0%Z -> inner D (embedded h v) (embedded h v) = IZR S * IZR S) ->
  inner D (embedded h v) (vector p) = IZR S * (size h j * k) ->
  IZR T * k <= IZR (cosine_reach e s p).
Proof.
  intros e j p k s HS L PS ES Ps HB H0 E. assert (P := IZR_pos _ S_positive). assert (PT := IZR_pos _ T_positive).
  assert (N := embedded_has_signs HS). apply IZR_pos in Ps as Rs. unfold cosine_reach.
  destruct (_ && _) eqn:Z0.
  { apply andb_prop in Z0 as [E0 Z0]. apply Z.eqb_eq in E0. specialize (H0 E0). cbv zeta.
    assert (M := inner_mirrored h (embedded h v) p (IZR S) L N ltac:(lra) ltac:(fold D; lra) Z0). fold D in M.
    apply andb_prop in Z0 as [_ G]. apply Z.ltb_lt, IZR_lt in G. set (t := greatest (mirrored h p)) in *.
    rewrite E in M. assert (K : size h j * k <= IZR t) by (apply (Rmult_le_reg_l (IZR S)); lra).
    rewrite opp_IZR. set (r := root_floor _).
    assert (F : IZR r <= - (IZR T * k)); [|lra].
    apply Rle_trans with (sqrt (IZR (T * T * (t * t)) / IZR s)).
    - apply root_floor_below; [|apply floor_div_le; exact Ps].
      apply floor_div_nonneg; [apply Z.mul_nonneg_nonneg; apply Z.square_nonneg|exact Ps].
    - rewrite sqrt_div_alt by exact Rs. rewrite <- ES. apply div_le_iff; [exact PS|].
      replace (IZR (T * T * (t * t))) with (IZR T * - IZR t * (IZR T * - IZR t)) by (rewrite !mult_IZR; ring).
      rewrite sqrt_square by nra. apply (Rmult_le_compat_l (IZR T)) in K; lra. }
  assert (C := inner_span h (embedded h v) p L N). fold D in C. rewrite E in C.
  assert (Q : sqrt (inner D (embedded h v) (embedded h v)) <= IZR S).
  { rewrite <- (sqrt_square (IZR S)) by lra. apply sqrt_le_1_alt. exact HB. }
  assert (R0 := sqrt_pos (IZR (span h p))).
  assert (K : size h j * k <= sqrt (IZR (span h p))).
  { apply (Rmult_le_reg_l (IZR S)); [exact P|]. eapply Rle_trans; [exact C|]. apply Rmult_le_compat_r; assumption. }
  apply Rle_trans with (sqrt (IZR (T * T * span h p) / IZR s)).
  - rewrite sqrt_div_alt by exact Rs. rewrite <- ES. apply le_div_iff; [exact PS|].
    rewrite !mult_IZR, <- sqrt_scaled by (try apply IZR_nonneg, span_nonneg; lra).
    apply (Rmult_le_compat_l (IZR T)) in K; lra.
  - apply root_ceil_above; [|apply le_ceil_div; exact Ps].
    apply ceil_div_nonneg; [apply Z.mul_nonneg_nonneg; [apply Z.square_nonneg|apply span_nonneg]|exact Ps].
Qed.

(** |u| = 1 where E = 0. *)
Lemma embedded_on_sphere : spatial h = true ->
  match head_geometry h with
  | Cosine e | RootedCosine e => numerator e = 0%Z -> inner D (embedded h v) (embedded h v) = IZR S * IZR S
  | _ => True
  end.
Proof.
  intros HS. assert (P := stretch_positive h HS v in_the_domain). assert (E := embedded_square h v).
  fold D S in E. assert (Q := norm_square h v). rewrite dot_inner in Q. fold D in Q.
  assert (zero : forall e, numerator e = 0%Z -> real e = 0) by
    (intros e Z0; unfold real, q; rewrite Z0; apply Rmult_0_l).
  unfold stretch in *. destruct (head_geometry h) as [|e|e|r|]; try exact I; intros Z0; apply zero in Z0;
    rewrite E, Z0, Rplus_0_r in *; fold (norm h v) in *; rewrite <- Q; field; lra.
Qed.

Lemma cosine_ends_ok : forall j, spatial h = true -> length (points h j) = D -> 0 < size h j ->
  match head_geometry h with
  | Cosine _ | RootedCosine _ => within T (domain_ends (points h j)) (observable h v j)
  | _ => True
  end.
Proof.
  intros j HS L PS.
  assert (Z1 : IZR (zdot (points h j) (points h j)) = inner D (vector (points h j)) (vector (points h j))).
  { apply zdot_real. lia. }
  assert (V := value_of_observable h HS 1 v j _ in_the_domain PS Z1). unfold value in V. fold D in V.
  assert (B := fun r => embedded_in_ball h HS v r in_the_domain). fold D S in B.
  assert (one : real (Fraction 1 1) = 1) by (unfold real, q; simpl; field).
  assert (W := embedded_on_sphere HS). set (s := zdot (points h j) (points h j)) in *.
  assert (main : forall e, size h j = sqrt (IZR s) ->
    inner D (embedded h v) (embedded h v) <= IZR S * IZR S ->
    (numerator e = 0%Z -> inner D (embedded h v) (embedded h v) = IZR S * IZR S) ->
    inner D (embedded h v) (vector (points h j)) = IZR S * (size h j * observable h v j) ->
    within T (Some (- cosine_reach e s (map Z.opp (points h j)))%Z,
        Some (cosine_reach e s (points h j))) (observable h v j)).
  { intros e ES HB H0 E. assert (Ps : (0 < s)%Z).
    { apply lt_IZR. rewrite ES in PS. destruct (Rle_dec (IZR s) 0) as [N|N]; [|lra].
      rewrite sqrt_neg_0 in PS by exact N. lra. }
    split; cbn [fst snd above below]; [|apply (cosine_reach_ok e j); assumption].
    assert (O : IZR T * - observable h v j <= IZR (cosine_reach e s (map Z.opp (points h j)))).
    { apply (cosine_reach_ok e j); try assumption; [rewrite map_length; exact L|]. rewrite inner_opp_r by exact L.
      rewrite E. ring. }
    rewrite opp_IZR. lra. }
  unfold domain_ends. fold s. unfold size, ball, curvature, constant, slope in *.
  destruct (head_geometry h); try exact I; specialize (B _ eq_refl); rewrite one in B; rewrite mult_IZR in V;
    fold S in V; fold D in main, V; (apply main; [rewrite Z1; reflexivity|lra|exact W|lra]).
Qed.

(** * All of them *)

Lemma domain_ends_ok : forall j, spatial h = true -> length (points h j) = D -> 0 < size h j ->
  within T (domain_ends (points h j)) (observable h v j).
Proof.
  intros j HS L PS. assert (C := cosine_ends_ok j HS L PS). assert (E := distance_ends_ok j L).
  assert (B := fun radius inside => box_ends_ok radius j inside L).
  assert (K := fun r => ball_ends_ok j r L). assert (H := proj2 in_the_domain).
  unfold spatial in HS. unfold domain_ends, observable in *. destruct (head_geometry h) as [|e|e|[r|]|]; try exact C.
  - apply E. reflexivity.
  - apply meet_ok; [apply K|apply (B (Some r))]; exact H.
  - exact (B None I).
  - discriminate.
Qed.

Theorem domain_row_ok : forall r, domain_row = Some r -> row_ok h T r v.
Proof.
  intros r H. unfold domain_row in H.
  assert (spatial_case : forall ms, measures h = Some ms -> row_ok h T (map domain_ends (prototypes h)) v).
  { intros ms M. destruct (measures_ok h ms M) as (HS & C & L & O).
    assert (N : length (prototypes h) = count h).
    { unfold measures in M. destruct (_ && _); [injection M as <-; rewrite map_length in C; exact C|discriminate]. }
    split; [rewrite map_length; exact N|]. intros j Hj.
    rewrite (nth_indep _ anything (domain_ends nil)) by (rewrite map_length; lia). rewrite map_nth.
    apply domain_ends_ok; [exact HS|apply L; exact Hj|]. apply (size_nonneg h j _ (O j (Measure 0 0 1 1) Hj)). }
  destruct (head_geometry h) eqn:G;
    try (destruct (measures h) as [ms|] eqn:M; [injection H as <-; apply (spatial_case ms); reflexivity|discriminate]).
  destruct (Nat.eqb (depth h) (count h)) eqn:E; [|discriminate]. injection H as <-.
  split; [apply repeat_length|]. intros j Hj.
  rewrite (nth_indep _ anything (domain_ends nil)) by (rewrite repeat_length; exact Hj). rewrite nth_repeat.
  unfold domain_ends. rewrite G. apply mass_range_ok; try assumption. unfold is_softmax. rewrite G. exact E.
Qed.
End Domain.
