(** The range of every observable over the head's domain, as a row.

    Euclidean: from the box, coordinate by coordinate. Inner product: from the box, and from the ball by Cauchy and
    Schwarz. Cosines: from the ball. Where no latent coordinate is negative, <y, P> <= <y, P^+> with P^+ the positive
    part of P, so |P^+| serves instead of |P|. Softmax: masses. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Root Ends Quadratic Embedding Facts Coordinates.
Import ListNotations.
Open Scope R_scope.

Section Domain.
Variable h : head.
Variable T : Z.
Let D := depth h.
Let S := unit_of h.

(** * The row *)

(** T times the observable is at most this: an inner product in the ball of radius [r], and a cosine; [square] is |P|^2.
    What is so proved of the prototype's opposite is a low end. *)
Definition ball_reach (r : fraction) (p : list Z) : Z :=
  ceil_div (root_ceil (T * T * (numerator r * numerator r) * span h p)) (Zpos (denominator r) * S).
Definition cosine_reach (square : Z) (p : list Z) : Z := root_ceil (ceil_div (T * T * span h p) square).

Definition box_ends (p : list Z) : ends :=
  match lower h, upper h with
  | Some a, Some b =>
      (Some (floor_div (T * zsum (map (fun x => Z.min (a * x) (b * x)) p)) (S * S))%Z,
       Some (ceil_div (T * zsum (map (fun x => Z.max (a * x) (b * x)) p)) (S * S))%Z)
  | _, _ => anything
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
  | InnerProduct None => box_ends p
  | InnerProduct (Some r) => meet (Some (- ball_reach r (map Z.opp p))%Z, Some (ball_reach r p)) (box_ends p)
  | Cosine _ | RootedCosine _ =>
      let s := zdot p p in (Some (- cosine_reach s (map Z.opp p))%Z, Some (cosine_reach s p))
  | Softmax => (Some (if Nat.eqb (count h) 1 then T else 0%Z), Some T)
  end.

(** None if the head's tensors do not fit. *)
Definition domain_row : option row :=
  match head_geometry h with
  | Softmax => if Nat.eqb (count h) (depth h) then Some (repeat (domain_ends nil) (count h)) else None
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

Lemma floor_of_sum : forall s x, IZR s <= IZR (S * S) * x -> IZR (floor_div (T * s) (S * S)) <= IZR T * x.
Proof.
  intros s x H. apply floor_div_below; [reflexivity|]. rewrite mult_IZR. apply IZR_pos in T_positive.
  apply (Rmult_le_compat_l (IZR T)) in H; lra.
Qed.

Lemma ceil_of_sum : forall s x, IZR (S * S) * x <= IZR s -> IZR T * x <= IZR (ceil_div (T * s) (S * S)).
Proof.
  intros s x H. apply ceil_div_above; [reflexivity|]. rewrite (mult_IZR T). apply IZR_pos in T_positive.
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
  - apply floor_of_sum. rewrite E, (zsum_map_real D) by exact L. apply rsum_le. intros d Hd.
    apply gap_below; apply (scaled_in_box d Hd).
  - assert (B := scaled_in_box). destruct (lower h) as [a|], (upper h) as [b|]; try exact I.
    apply ceil_of_sum. rewrite E, (zsum_map_real D) by exact L. apply rsum_le. intros d Hd.
    apply spread_above. apply (B d Hd).
Qed.

Lemma box_ends_ok : forall j, length (points h j) = D ->
  within T (box_ends (points h j)) (dot h v (coord h j)).
Proof.
  intros j L. unfold box_ends.
  assert (E : IZR (S * S) * dot h v (coord h j) = rsum D (fun d => IZR S * v d * vector (points h j) d)).
  { unfold dot. rewrite <- rsum_scal. apply rsum_ext. intros d _. rewrite coord_vector, mult_IZR. fold S. field.
    apply Rgt_not_eq, IZR_pos. exact S_positive. }
  assert (B := scaled_in_box). destruct (lower h) as [a|], (upper h) as [b|]; try (split; exact I).
  split; cbn [fst snd above below].
  - apply floor_of_sum. rewrite E, (zsum_map_real D) by exact L. apply rsum_le. intros d Hd.
    apply product_in_box. apply (B d Hd).
  - apply ceil_of_sum. rewrite E, (zsum_map_real D) by exact L. apply rsum_le. intros d Hd.
    apply product_in_box. apply (B d Hd).
Qed.

(** * Inner products in a ball *)

Lemma sign_of_coordinates : no_negative_coordinate h = true -> forall d, (d < D)%nat -> 0 <= v d.
Proof.
  intros N d Hd. unfold no_negative_coordinate in N. assert (B := proj1 (scaled_in_box d Hd)).
  destruct (lower h) as [a|]; [|discriminate]. apply Z.leb_le, IZR_le in N. assert (P := IZR_pos _ S_positive).
  apply (Rmult_le_reg_l (IZR S)); lra.
Qed.

(** [p] is a prototype or its opposite. *)
Lemma ball_reach_ok : forall r p, length p = D -> norm h v <= real r ->
  IZR T * (/ IZR S * inner D v (vector p)) <= IZR (ball_reach r p).
Proof.
  intros r p L H. assert (P := IZR_pos _ S_positive). assert (PT := IZR_pos _ T_positive).
  assert (C := inner_span h v p L sign_of_coordinates). fold (norm h v) in C.
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

Lemma cosine_reach_ok : forall j p k s, spatial h = true -> length p = D -> 0 < size h j ->
  size h j = sqrt (IZR s) -> (0 < s)%Z ->
  inner D (embedded h v) (embedded h v) <= IZR S * IZR S ->
  inner D (embedded h v) (vector p) = IZR S * (size h j * k) ->
  IZR T * k <= IZR (cosine_reach s p).
Proof.
  intros j p k s HS L PS ES Ps HB E. assert (P := IZR_pos _ S_positive). assert (PT := IZR_pos _ T_positive).
  assert (N : no_negative_coordinate h = true -> forall d, (d < D)%nat -> 0 <= embedded h v d).
  { intros N d Hd. apply Rmult_le_pos; [|apply sign_of_coordinates; assumption].
    left. apply Rdiv_lt_0_compat; [exact P|apply stretch_positive; assumption]. }
  assert (C := inner_span h (embedded h v) p L N). fold D in C. rewrite E in C.
  assert (Q : sqrt (inner D (embedded h v) (embedded h v)) <= IZR S).
  { rewrite <- (sqrt_square (IZR S)) by lra. apply sqrt_le_1_alt. exact HB. }
  assert (R0 := sqrt_pos (IZR (span h p))).
  assert (K : size h j * k <= sqrt (IZR (span h p))).
  { apply (Rmult_le_reg_l (IZR S)); [exact P|]. eapply Rle_trans; [exact C|]. apply Rmult_le_compat_r; assumption. }
  unfold cosine_reach. apply Rle_trans with (sqrt (IZR (T * T * span h p) / IZR s)).
  - rewrite sqrt_div_alt by (apply IZR_pos; exact Ps). rewrite <- ES. apply le_div_iff; [exact PS|].
    rewrite !mult_IZR, <- sqrt_scaled by (try apply IZR_nonneg, span_nonneg; lra).
    apply (Rmult_le_compat_l (IZR T)) in K; lra.
  - apply root_ceil_above; [|apply le_ceil_div; exact Ps].
    apply ceil_div_nonneg; [apply Z.mul_nonneg_nonneg; [apply Z.square_nonneg|apply span_nonneg]|exact Ps].
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
  set (s := zdot (points h j) (points h j)) in *.
  assert (X : match head_geometry h with
    | Cosine _ | RootedCosine _ => within T (Some (- cosine_reach s (map Z.opp (points h j)))%Z,
        Some (cosine_reach s (points h j))) (observable h v j)
    | _ => True end).
  2: { unfold domain_ends. destruct (head_geometry h); exact X. }
  assert (main : size h j = sqrt (IZR s) ->
    inner D (embedded h v) (embedded h v) <= IZR S * IZR S ->
    inner D (embedded h v) (vector (points h j)) = IZR S * (size h j * observable h v j) ->
    within T (Some (- cosine_reach s (map Z.opp (points h j)))%Z,
        Some (cosine_reach s (points h j))) (observable h v j)).
  { intros ES HB E. assert (Ps : (0 < s)%Z).
    { apply lt_IZR. rewrite ES in PS. destruct (Rle_dec (IZR s) 0) as [N|N]; [|lra].
      rewrite sqrt_neg_0 in PS by exact N. lra. }
    split; cbn [fst snd above below]; [|apply (cosine_reach_ok j); assumption].
    assert (O : IZR T * - observable h v j <= IZR (cosine_reach s (map Z.opp (points h j)))).
    { apply (cosine_reach_ok j); try assumption; [rewrite map_length; exact L|]. rewrite inner_opp_r by exact L.
      rewrite E. ring. }
    rewrite opp_IZR. lra. }
  unfold size, ball, curvature, constant, slope in *. destruct (head_geometry h); try exact I.
  - specialize (B _ eq_refl). rewrite one in B. rewrite mult_IZR in V. fold S in V. fold D in main, V.
    apply main; [rewrite Z1; reflexivity|lra|lra].
  - specialize (B _ eq_refl). rewrite one in B. rewrite mult_IZR in V. fold S in V. fold D in main, V.
    apply main; [rewrite Z1; reflexivity|lra|lra].
Qed.

(** * Masses *)

Lemma mass_in_range : forall j, (j < D)%nat -> 0 <= exp (v j) / rsum D (fun i => exp (v i)) <= 1.
Proof.
  intros j Hj. assert (E : exp (v j) <= rsum D (fun i => exp (v i))).
  { apply (rsum_ge_term D (fun i => exp (v i))); [|exact Hj]. intros. left. apply exp_pos. }
  assert (P := exp_pos (v j)). assert (Q : 0 < rsum D (fun i => exp (v i))) by lra. split.
  - apply div_nonneg; lra.
  - apply div_le_iff; lra.
Qed.

Lemma mass_ends_ok : forall j, head_geometry h = Softmax -> count h = D -> (j < count h)%nat ->
  within T (domain_ends nil) (observable h v j).
Proof.
  intros j G E Hj. unfold domain_ends, observable. rewrite G. assert (PT := IZR_pos _ T_positive).
  assert (M := mass_in_range j ltac:(lia)). fold D. split; cbn [fst snd above below].
  - destruct (Nat.eqb (count h) 1) eqn:One; [|apply Rmult_le_pos; lra]. apply Nat.eqb_eq in One.
    replace j with 0%nat by lia. rewrite <- E, One. simpl rsum. right. field. assert (X := exp_pos (v 0%nat)). lra.
  - rewrite <- (Rmult_1_r (IZR T)) at 2. apply Rmult_le_compat_l; lra.
Qed.

(** * All of them *)

Lemma domain_ends_ok : forall j, spatial h = true -> length (points h j) = D -> 0 < size h j ->
  within T (domain_ends (points h j)) (observable h v j).
Proof.
  intros j HS L PS. assert (C := cosine_ends_ok j HS L PS). assert (E := distance_ends_ok j L).
  assert (B := box_ends_ok j L).
  assert (K := fun r => ball_ends_ok j r L). assert (H := proj2 in_the_domain).
  unfold spatial in HS. unfold domain_ends, observable in *. destruct (head_geometry h) as [|e|e|[r|]|]; try exact C.
  - apply E. reflexivity.
  - apply meet_ok; [apply K; exact H|exact B].
  - exact B.
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
  destruct (Nat.eqb (count h) (depth h)) eqn:E; [|discriminate]. injection H as <-. apply Nat.eqb_eq in E.
  split; [apply repeat_length|]. intros j Hj.
  rewrite (nth_indep _ anything (domain_ends nil)) by (rewrite repeat_length; exact Hj). rewrite nth_repeat.
  apply mass_ends_ok; assumption.
Qed.
End Domain.
