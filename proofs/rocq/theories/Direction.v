(** Where a similarity falls or rises with the observable, and where it is never negative.

    The numbers that a prototype has of its own, scale and peak, are read from the head's lists once, in order: looking
    one up by its index takes time that grows with the index. *)

From Coq Require Import Reals ZArith List Bool Lia Lra.
From Verale Require Import Semantics Grid Monotone Sums Chain.
Import ListNotations.
Open Scope R_scope.

(** * Fractions *)

Definition positive_fraction (f : fraction) : bool := (0 <? numerator f)%Z.
Definition below_one (f : fraction) : bool := (numerator f <? Zpos (denominator f))%Z.

Lemma real_eq : forall f, real f * IZR (Zpos (denominator f)) = IZR (numerator f).
Proof. intros [n d]. unfold real, q. cbn [numerator denominator]. assert (H := Zpos_pos d). field. lra. Qed.

Lemma real_pos : forall f, positive_fraction f = true -> 0 < real f.
Proof. intros f H. apply Z.ltb_lt, IZR_pos in H. apply div_pos; [exact H|apply Zpos_pos]. Qed.

Lemma real_below_one : forall f, below_one f = true -> real f < 1.
Proof.
  intros f H. apply Z.ltb_lt, IZR_lt in H. rewrite <- real_eq in H. assert (D := Zpos_pos (denominator f)).
  apply (Rmult_lt_reg_r (IZR (Zpos (denominator f)))); lra.
Qed.

(** * The numbers of a prototype *)

(** Scale and peak *)
Definition own : Type := fraction * fraction.

Definition number_at (unit : positive) (l : list Z) (default : fraction) (j : nat) : fraction :=
  match nth_error l j with Some n => Fraction n unit | None => default end.
Definition own_at (h : head) (j : nat) : own :=
  (number_at (scale_unit h) (scales h) (Fraction 1 1) j, number_at (peak_unit h) (peaks h) (Fraction 0 1) j).

Lemma own_scale : forall h j, real (fst (own_at h j)) = scale h j.
Proof.
  intros h j. unfold scale. cbn [own_at fst]. unfold number_at. destruct (nth_error (scales h) j); [reflexivity|].
  unfold real, q. cbn. field.
Qed.

Lemma own_peak : forall h j, real (snd (own_at h j)) = peak h j.
Proof.
  intros h j. unfold peak. cbn [own_at snd]. unfold number_at. destruct (nth_error (peaks h) j); [reflexivity|].
  unfold real, q. cbn. field.
Qed.

(** [P] numbers, the default where the list has ended *)
Fixpoint numbers (unit : positive) (default : fraction) (P : nat) (l : list Z) : list fraction :=
  match P with
  | O => nil
  | S P' => match l with
            | nil => default :: numbers unit default P' nil
            | n :: l' => Fraction n unit :: numbers unit default P' l'
            end
  end.

Lemma length_numbers : forall unit default P l, length (numbers unit default P l) = P.
Proof. intros unit default P. induction P as [|P IH]; intros [|n l]; cbn; try rewrite IH; reflexivity. Qed.

Lemma nth_numbers : forall unit default P l j d, (j < P)%nat ->
  nth j (numbers unit default P l) d = number_at unit l default j.
Proof.
  intros unit default P. induction P as [|P IH]; intros l j d Hj; [lia|].
  destruct l as [|n l], j as [|j]; try reflexivity; cbn [numbers nth]; rewrite IH by lia; destruct j; reflexivity.
Qed.

Definition owns (h : head) : list own :=
  combine (numbers (scale_unit h) (Fraction 1 1) (count h) (scales h))
          (numbers (peak_unit h) (Fraction 0 1) (count h) (peaks h)).

Lemma length_owns : forall h, length (owns h) = count h.
Proof. intros h. unfold owns, own. rewrite combine_length, !length_numbers. apply Nat.min_id. Qed.

Lemma nth_owns : forall h j d, (j < count h)%nat -> nth j (owns h) d = own_at h j.
Proof.
  intros h j [d e] Hj. unfold owns, own. rewrite combine_nth by (rewrite !length_numbers; reflexivity).
  rewrite !nth_numbers by exact Hj. reflexivity.
Qed.

(** * Similarity, given the numbers of the prototype *)

Definition similar (h : head) (o : own) (m : R) : R :=
  let s := real (fst o) in
  match head_similarity h with
  | LogRatio e => ln ((s * m + 1) / (s * m + real e))
  | ExpDistance e => exp (- sqrt (m + real e))
  | Threshold t => if Rle_dec (real t) m then m else 0
  | Identity => m
  | Negated => - (s * m)
  | Exponential =>
      match head_geometry h with
      | Euclidean => exp (- (s * m))
      | _ => exp (- (s * (1 - m)))
      end
  | Quadratic => - ((m - real (snd o)) * (m - real (snd o)))
  | Rectified => Rmax 0 m
  | Steps l => chain_value s (real (snd o)) l m
  end.

Lemma sim_similar : forall h j m, sim h j m = similar h (own_at h j) m.
Proof. intros h j m. unfold similar. rewrite own_scale, own_peak. reflexivity. Qed.

Definition euclidean (h : head) : bool := match head_geometry h with Euclidean => true | _ => false end.

Lemma euclidean_true : forall h, euclidean h = true <-> head_geometry h = Euclidean.
Proof. intros h. unfold euclidean. destruct (head_geometry h); split; congruence. Qed.

(** A squared distance is not negative. *)
Definition sane (h : head) (m : R) : Prop := head_geometry h = Euclidean -> 0 <= m.

Theorem observable_sane : forall h v j, sane h (observable h v j).
Proof. intros h v j E. unfold observable. rewrite E. apply rsum_nonneg. intros i _. apply Rle_0_sqr. Qed.

(** * Direction *)

Inductive direction := Falls | Rises | Neither.

(** The conditions that a head has to meet are decided here: [Neither] is also the answer for a head that does not. *)
Definition direction_of (h : head) (o : own) : direction :=
  match head_similarity h with
  | LogRatio e =>
      if euclidean h && positive_fraction (fst o) && positive_fraction e && below_one e then Falls else Neither
  | ExpDistance e => if euclidean h && (0 <=? numerator e)%Z then Falls else Neither
  | Threshold t => if positive_fraction t then Rises else Neither
  | Identity | Rectified => Rises
  | Negated => if positive_fraction (fst o) then Falls else Neither
  | Exponential => if positive_fraction (fst o) then if euclidean h then Falls else Rises else Neither
  | Quadratic => Neither
  | Steps l => match chain_trend (fst o) l with Descends => Falls | Ascends => Rises | Unclear => Neither end
  end.

Lemma log_ratio_conditions : forall h o e, head_similarity h = LogRatio e -> direction_of h o = Falls ->
  head_geometry h = Euclidean /\ 0 < real (fst o) /\ 0 < real e < 1.
Proof.
  intros h o e S H. unfold direction_of in H. rewrite S in H.
  destruct (euclidean h) eqn:E, (positive_fraction (fst o)) eqn:Ps, (positive_fraction e) eqn:Pe, (below_one e) eqn:B;
    try discriminate.
  apply euclidean_true in E. apply real_pos in Ps, Pe. apply real_below_one in B. tauto.
Qed.

Theorem similar_falls : forall h o m m', direction_of h o = Falls -> sane h m -> m <= m' ->
  similar h o m' <= similar h o m.
Proof.
  intros h o m m' D C H. destruct (head_similarity h) as [e|e|t| | | | | |l] eqn:S.
  - destruct (log_ratio_conditions h o e S D) as (G & Ps & Pe). specialize (C G).
    unfold similar. rewrite S. apply log_ratio_falls_from_0; assumption.
  - unfold similar. rewrite S. apply exp_distance_falls. exact H.
  - unfold direction_of in D. rewrite S in D. destruct (positive_fraction t); discriminate.
  - unfold direction_of in D. rewrite S in D. discriminate.
  - unfold direction_of in D. unfold similar. rewrite S in *.
    destruct (positive_fraction (fst o)) eqn:P; [|discriminate].
    apply real_pos in P. apply negated_falls; lra.
  - unfold direction_of in D. unfold similar. rewrite S in *.
    destruct (positive_fraction (fst o)) eqn:P; [|discriminate].
    destruct (euclidean h) eqn:E; [|discriminate]. apply euclidean_true in E. rewrite E. apply real_pos in P.
    apply exponential_falls; lra.
  - unfold direction_of in D. rewrite S in D. discriminate.
  - unfold direction_of in D. rewrite S in D. discriminate.
  - unfold direction_of in D. unfold similar. rewrite S in *. assert (M := chain_turns (fst o) (real (snd o)) l).
    destruct (chain_trend (fst o) l); try discriminate. exact (M m m' H).
Qed.

Lemma exponential_of_rising : forall h o m, head_similarity h = Exponential -> direction_of h o = Rises ->
  0 < real (fst o) /\ similar h o m = exp (- (real (fst o) * (1 - m))).
Proof.
  intros h o m S D. unfold direction_of in D. unfold similar. rewrite S in *.
  destruct (positive_fraction (fst o)) eqn:P; [|discriminate]. split; [exact (real_pos _ P)|].
  unfold euclidean in D. destruct (head_geometry h); (reflexivity || discriminate).
Qed.

Theorem similar_rises : forall h o m m', direction_of h o = Rises -> m <= m' -> similar h o m <= similar h o m'.
Proof.
  intros h o m m' D H. destruct (head_similarity h) as [e|e|t| | | | | |l] eqn:S.
  - unfold direction_of in D. rewrite S in D. destruct (_ && _); discriminate.
  - unfold direction_of in D. rewrite S in D. destruct (_ && _); discriminate.
  - unfold direction_of in D. unfold similar. rewrite S in *. destruct (positive_fraction t) eqn:P; [|discriminate].
    apply real_pos in P. apply (threshold_rises (real t)); lra.
  - unfold similar. rewrite S. exact H.
  - unfold direction_of in D. rewrite S in D. destruct (positive_fraction (fst o)); discriminate.
  - destruct (exponential_of_rising h o m S D) as [P ->], (exponential_of_rising h o m' S D) as [_ ->].
    apply exponential_rises; lra.
  - unfold direction_of in D. rewrite S in D. discriminate.
  - unfold similar. rewrite S. apply rectified_rises. exact H.
  - unfold direction_of in D. unfold similar. rewrite S in *. assert (M := chain_turns (fst o) (real (snd o)) l).
    destruct (chain_trend (fst o) l); try discriminate. exact (M m m' H).
Qed.

(** * The least value *)

Lemma log_ratio_nonneg : forall s e m, 0 < s -> 0 < e < 1 -> 0 <= m -> 0 <= ln ((s * m + 1) / (s * m + e)).
Proof.
  intros s e m Hs He Hm. assert (P : 0 <= s * m) by (apply Rmult_le_pos; lra).
  rewrite <- ln_1. apply ln_monotone; [lra|]. apply le_div_iff; lra.
Qed.

(** Whether 0 is a lower bound, of a similarity that falls or rises: for those with a limit it is the limit. *)
Definition never_negative (h : head) : bool :=
  match head_similarity h with Identity | Negated | Quadratic | Steps _ => false | _ => true end.

Theorem similar_nonneg : forall h o m, never_negative h = true -> direction_of h o <> Neither -> sane h m ->
  0 <= similar h o m.
Proof.
  intros h o m N D C. unfold never_negative in N.
  destruct (head_similarity h) as [e|e|t| | | | | |] eqn:S; try discriminate.
  - assert (F : direction_of h o = Falls).
    { unfold direction_of in *. rewrite S in *. destruct (_ && _); [reflexivity|contradiction]. }
    destruct (log_ratio_conditions h o e S F) as (G & Ps & Pe). specialize (C G). unfold similar. rewrite S.
    apply log_ratio_nonneg; assumption.
  - unfold similar. rewrite S. left. apply exp_pos.
  - unfold direction_of in D. unfold similar. rewrite S in *. destruct (positive_fraction t) eqn:P; [|contradiction].
    apply real_pos in P. destruct (Rle_dec _ m); lra.
  - unfold similar. rewrite S. destruct (head_geometry h); left; apply exp_pos.
  - unfold similar. rewrite S. apply Rmax_l.
Qed.

(** * In the words of [Semantics] *)

Theorem sim_falls : forall h j m m', direction_of h (own_at h j) = Falls -> sane h m -> m <= m' ->
  sim h j m' <= sim h j m.
Proof. intros h j m m'. rewrite !sim_similar. apply similar_falls. Qed.

Theorem sim_rises : forall h j m m', direction_of h (own_at h j) = Rises -> m <= m' -> sim h j m <= sim h j m'.
Proof. intros h j m m'. rewrite !sim_similar. apply similar_rises. Qed.
