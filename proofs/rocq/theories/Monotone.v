(** Which similarities rise, which fall, and how far the others reach over an interval.

    An enclosure of a similarity over an interval of its observable is made of enclosures at two points only. The lemmas
    below say at which. They are stated of plain real expressions, in the form in which Semantics writes them. *)

From Coq Require Import Reals Lra.
Open Scope R_scope.

(** * The functions themselves *)

Lemma exp_monotone : forall a b, a <= b -> exp a <= exp b.
Proof. intros a b [H| ->]; [left; apply exp_increasing; exact H|apply Rle_refl]. Qed.

Lemma ln_monotone : forall a b, 0 < a -> a <= b -> ln a <= ln b.
Proof. intros a b Ha [H| ->]; [left; apply ln_increasing; assumption|apply Rle_refl]. Qed.

Lemma sqrt_monotone : forall a b, a <= b -> sqrt a <= sqrt b.
Proof. exact sqrt_le_1_alt. Qed.

Lemma inverse_falls : forall a b, 0 < a -> a <= b -> / b <= / a.
Proof. exact Rinv_le_contravar. Qed.

(** * The similarities *)

(** log_ratio: (s m + 1) / (s m + e) = 1 + (1 - e) / (s m + e) falls wherever s m + e is positive. *)
Lemma log_ratio_falls : forall s e a b, 0 <= s -> e <= 1 -> 0 < s * a + e -> a <= b ->
  ln ((s * b + 1) / (s * b + e)) <= ln ((s * a + 1) / (s * a + e)).
Proof.
  intros s e a b Hs He Ha Hab. assert (S : s * a <= s * b) by (apply Rmult_le_compat_l; assumption).
  assert (I : / (s * b + e) <= / (s * a + e)) by (apply inverse_falls; lra).
  assert (P : 0 < / (s * b + e)) by (apply Rinv_0_lt_compat; lra).
  replace ((s * b + 1) / (s * b + e)) with (1 + (1 - e) * / (s * b + e)) by (field; lra).
  replace ((s * a + 1) / (s * a + e)) with (1 + (1 - e) * / (s * a + e)) by (field; lra).
  apply ln_monotone.
  - assert (0 <= (1 - e) * / (s * b + e)) by (apply Rmult_le_pos; lra). lra.
  - apply Rplus_le_compat_l. apply Rmult_le_compat_l; lra.
Qed.

Lemma log_ratio_falls_from_0 : forall s e a b, 0 < s -> 0 < e < 1 -> 0 <= a -> a <= b ->
  ln ((s * b + 1) / (s * b + e)) <= ln ((s * a + 1) / (s * a + e)).
Proof.
  intros s e a b Hs He Ha Hab. assert (0 <= s * a) by (apply Rmult_le_pos; lra). apply log_ratio_falls; lra.
Qed.

Lemma negated_falls : forall s a b, 0 <= s -> a <= b -> - (s * b) <= - (s * a).
Proof. intros s a b Hs H. apply Ropp_le_contravar. apply Rmult_le_compat_l; assumption. Qed.

(** exp_distance falls everywhere, as sqrt is 0 below 0. *)
Lemma exp_distance_falls : forall e a b, a <= b -> exp (- sqrt (b + e)) <= exp (- sqrt (a + e)).
Proof. intros e a b H. apply exp_monotone. apply Ropp_le_contravar. apply sqrt_monotone. lra. Qed.

(** exponential, of a distance *)
Lemma exponential_falls : forall s a b, 0 <= s -> a <= b -> exp (- (s * b)) <= exp (- (s * a)).
Proof. intros s a b Hs H. apply exp_monotone. apply negated_falls; assumption. Qed.

(** exponential, of a cosine *)
Lemma exponential_rises : forall s a b, 0 <= s -> a <= b -> exp (- (s * (1 - a))) <= exp (- (s * (1 - b))).
Proof. intros s a b Hs H. apply exp_monotone. apply negated_falls; lra. Qed.

Lemma rectified_rises : forall a b, a <= b -> Rmax 0 a <= Rmax 0 b.
Proof. intros a b H. apply Rle_max_compat_l. exact H. Qed.

(** * Quadratic: up to its peak, then down *)

Lemma square_monotone : forall a b, 0 <= a -> a <= b -> a * a <= b * b.
Proof. intros a b Ha H. apply Rmult_le_compat; assumption. Qed.

Lemma quadratic_rises : forall c a b, a <= b -> b <= c -> - ((a - c) * (a - c)) <= - ((b - c) * (b - c)).
Proof. intros c a b H Hc. assert (S := square_monotone (c - b) (c - a) ltac:(lra) ltac:(lra)). lra. Qed.

Lemma quadratic_falls : forall c a b, c <= a -> a <= b -> - ((b - c) * (b - c)) <= - ((a - c) * (a - c)).
Proof. intros c a b Hc H. assert (S := square_monotone (a - c) (b - c) ltac:(lra) ltac:(lra)). lra. Qed.

Lemma quadratic_at_most_0 : forall c m, - ((m - c) * (m - c)) <= 0.
Proof. intros c m. assert (S := Rle_0_sqr (m - c)). unfold Rsqr in S. lra. Qed.

(** Over an interval it is least at an end. *)
Lemma quadratic_least : forall c lo m hi, lo <= m <= hi ->
  Rmin (- ((lo - c) * (lo - c))) (- ((hi - c) * (hi - c))) <= - ((m - c) * (m - c)).
Proof.
  intros c lo m hi H. destruct (Rle_dec m c) as [C|C].
  - eapply Rle_trans; [apply Rmin_l|]. apply quadratic_rises; lra.
  - eapply Rle_trans; [apply Rmin_r|]. apply quadratic_falls; lra.
Qed.

(** Where the peak lies outside of the interval, it is greatest at an end. *)
Lemma quadratic_greatest : forall c lo m hi, lo <= m <= hi -> c <= lo \/ hi <= c ->
  - ((m - c) * (m - c)) <= Rmax (- ((lo - c) * (lo - c))) (- ((hi - c) * (hi - c))).
Proof.
  intros c lo m hi H [C|C].
  - eapply Rle_trans; [|apply Rmax_l]. apply quadratic_falls; lra.
  - eapply Rle_trans; [|apply Rmax_r]. apply quadratic_rises; lra.
Qed.

(** * Threshold: m where m >= t, else 0 *)

Definition threshold (t m : R) : R := if Rle_dec t m then m else 0.

Lemma threshold_on : forall t m, t <= m -> threshold t m = m.
Proof. intros t m H. unfold threshold. destruct (Rle_dec t m); [reflexivity|contradiction]. Qed.

Lemma threshold_off : forall t m, m < t -> threshold t m = 0.
Proof. intros t m H. unfold threshold. destruct (Rle_dec t m); [lra|reflexivity]. Qed.

(** Where t >= 0 it rises. *)
Lemma threshold_rises : forall t a b, 0 <= t -> a <= b -> threshold t a <= threshold t b.
Proof. intros t a b Ht H. unfold threshold. destruct (Rle_dec t a), (Rle_dec t b); lra. Qed.

(** Over an interval, whatever t is *)
Lemma threshold_least : forall t lo m hi, lo <= m <= hi ->
  (if Rle_dec t lo then lo else if Rle_dec t hi then Rmin 0 t else 0) <= threshold t m.
Proof.
  intros t lo m hi H. assert (L := Rmin_l 0 t). assert (R := Rmin_r 0 t). unfold threshold.
  destruct (Rle_dec t lo), (Rle_dec t m), (Rle_dec t hi); lra.
Qed.

Lemma threshold_greatest : forall t lo m hi, lo <= m <= hi ->
  threshold t m <= (if Rle_dec t lo then hi else if Rle_dec t hi then Rmax 0 hi else 0).
Proof.
  intros t lo m hi H. assert (L := Rmax_l 0 hi). assert (R := Rmax_r 0 hi). unfold threshold.
  destruct (Rle_dec t lo), (Rle_dec t m), (Rle_dec t hi); lra.
Qed.
