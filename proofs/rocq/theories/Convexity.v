(** log_ratio is convex: where the distance is greater, a step of the same length changes it by less. *)

From Coq Require Import Reals Lra.
From Verale Require Import Grid Monotone.
Open Scope R_scope.

Definition log_ratio (s e m : R) : R := ln ((s * m + 1) / (s * m + e)).

Section Convex.
Variables s e : R.
Hypothesis Hs : 0 < s.
Hypothesis He : 0 < e < 1.

(** By how much it falls over a step *)
Lemma log_ratio_drop : forall m d, 0 <= m -> 0 <= d ->
  log_ratio s e m - log_ratio s e (m + d) = ln (1 + (1 - e) * (s * d) * / ((s * m + e) * (s * m + s * d + 1))).
Proof.
  intros m d Hm Hd. assert (0 <= s * m) by (apply Rmult_le_pos; lra). assert (0 <= s * d) by (apply Rmult_le_pos; lra).
  unfold log_ratio, Rminus. rewrite Rmult_plus_distr_l, <- ln_Rinv by (apply div_pos; lra).
  rewrite <- ln_mult by (try apply Rinv_0_lt_compat; apply div_pos; lra). f_equal. field. lra.
Qed.

(** A later step falls by less. *)
Lemma log_ratio_convex : forall m m' d, 0 <= m -> m <= m' -> 0 <= d ->
  log_ratio s e m' - log_ratio s e (m' + d) <= log_ratio s e m - log_ratio s e (m + d).
Proof.
  intros m m' d Hm Hm' Hd. rewrite !log_ratio_drop by lra.
  assert (M : 0 <= s * m) by (apply Rmult_le_pos; lra). assert (M' : s * m <= s * m') by (apply Rmult_le_compat_l; lra).
  assert (D : 0 <= s * d) by (apply Rmult_le_pos; lra).
  assert (N : 0 <= (1 - e) * (s * d)) by (apply Rmult_le_pos; lra).
  assert (X : 0 < (s * m + e) * (s * m + s * d + 1)) by (apply Rmult_lt_0_compat; lra).
  assert (Y : (s * m + e) * (s * m + s * d + 1) <= (s * m' + e) * (s * m' + s * d + 1)) by (apply Rmult_le_compat; lra).
  assert (P : 0 <= (1 - e) * (s * d) * / ((s * m' + e) * (s * m' + s * d + 1))).
  { apply Rmult_le_pos; [exact N|]. left. apply Rinv_0_lt_compat. lra. }
  apply ln_monotone; [apply Rplus_lt_le_0_compat; [lra|exact P]|].
  apply Rplus_le_compat_l, Rmult_le_compat_l; [exact N|]. apply inverse_falls; assumption.
Qed.

Lemma log_ratio_mono : forall m m', 0 <= m -> m <= m' -> log_ratio s e m' <= log_ratio s e m.
Proof. intros m m' Hm H. apply log_ratio_falls_from_0; assumption. Qed.

(** From a later start and over a shorter step it falls by less. *)
Lemma log_ratio_less_drop : forall m d m' m'', 0 <= m -> m <= m' -> 0 <= d -> 0 <= m'' -> m'' <= m' + d ->
  log_ratio s e m' - log_ratio s e m'' <= log_ratio s e m - log_ratio s e (m + d).
Proof.
  intros m d m' m'' Hm Hm' Hd Hm'' H. assert (C := log_ratio_convex m m' d Hm Hm' Hd).
  assert (F := log_ratio_mono m'' (m' + d) Hm'' H). lra.
Qed.
End Convex.
