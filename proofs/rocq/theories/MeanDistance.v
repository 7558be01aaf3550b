(** max_minus_mean_distance: S(min_l d_l) - S(mean_l d_l) with squared distances d_l in [lo_l, hi_l] and S = log_ratio,
    which falls and is convex. The range is
        sup = max_l (S(lo_l) - S((lo_l + sum_{i != l} hi_i) / L)),
        inf = S(t) - S(mean_l max(lo_l, t)) with t = min_l hi_l.
    An infinite hi_l stands for its limit, S = 0; without a finite one, inf = 0. *)

From Coq Require Import Reals ZArith List Bool Lia Lra.
From Verale Require Import Semantics Grid Log Sums Boxes Columns Maxima Direction Similarity Convexity Distances.
Import ListNotations.
Open Scope R_scope.

Section Distance.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms) (o : own).

(** The similarity of a / T, and that of a mean of [L] distances with the sum a / T *)
Definition at_distance (a : Z) : option (Z * Z) := value_at h T B terms logs o a.
Definition at_mean (L : nat) (a : Z) : option (Z * Z) := value_at h (T * Z.of_nat L) B terms logs o a.

Definition candidate_most (L : nat) (p : candidate) : option Z :=
  match at_distance (fst p), snd p with
  | Some (_, u), None => Some u
  | Some (_, u), Some a => option_map (fun v => u - fst v)%Z (at_mean L a)
  | None, _ => None
  end.

Definition distance_most (c : list distance) : option Z :=
  match all_some (map (candidate_most (length c)) (unbeaten nil (candidates c))) with
  | Some (x :: l) => Some (greatest x l)
  | _ => None
  end.

(** The least of the greatest distances that are bounded *)
Definition nearest (c : list distance) : option Z := fold_right (fun p x => either Z.min (snd p) x) None c.

Definition sum_from (t : Z) (c : list distance) : Z := fold_right (fun p s => Z.max (fst p) t + s)%Z 0%Z c.

Definition distance_least (c : list distance) : option Z :=
  match nearest c with
  | None => Some 0%Z
  | Some t =>
      match at_distance t, at_mean (length c) (sum_from t c) with
      | Some (a, _), Some (_, b) => Some (Z.max 0 (a - b))
      | _, _ => None
      end
  end.

Definition max_minus_mean_distance_ends (c : column) : option (Z * Z) :=
  match head_similarity h, direction_of h o with
  | LogRatio _, Falls => let d := map distance_of c in both (distance_least d) (distance_most d)
  | _, _ => None
  end.

Hypothesis HT : (0 < T)%Z.
Hypothesis HB : (0 < B)%Z.
Hypothesis Hlogs : right_logarithms logs.

Let RT : 0 < IZR T := IZR_pos T HT.
Let RB : 0 < IZR B := IZR_pos B HB.

Lemma at_mean_ok : forall L a x, (0 < L)%nat -> at_mean L a = Some x ->
  encloses B x (similar h o (IZR a / (IZR T * INR L))).
Proof.
  intros L a x HL H. rewrite INR_IZR_INZ, <- mult_IZR. apply (value_at_ok h _ B terms logs); try assumption. lia.
Qed.

Variable e : fraction.
Hypothesis similarity_is : head_similarity h = LogRatio e.
Hypothesis falls : direction_of h o = Falls.

Let s := real (fst o).
Let g := log_ratio s (real e).

Let similar_g : forall m, similar h o m = g m.
Proof. intros m. unfold similar. rewrite similarity_is. reflexivity. Qed.

Let Hs : 0 < s.
Proof. apply (log_ratio_conditions h o e similarity_is falls). Qed.

Let He : 0 < real e < 1.
Proof. apply (log_ratio_conditions h o e similarity_is falls). Qed.

Let g_falls : forall m m', 0 <= m -> m <= m' -> g m' <= g m.
Proof. apply log_ratio_mono; assumption. Qed.

Let g_nonneg : forall m, 0 <= m -> 0 <= g m.
Proof. intros m Hm. apply log_ratio_nonneg; assumption. Qed.

(** What a candidate is worth: the difference when its patch has the least distance. *)
Definition worth (L : nat) (p : candidate) : R :=
  g (IZR (fst p) / IZR T) - match snd p with Some a => g (IZR a / (IZR T * INR L)) | None => 0 end.

Lemma candidate_most_ok : forall L p u, (0 < L)%nat -> candidate_most L p = Some u -> IZR B * worth L p <= IZR u.
Proof.
  intros L [lo [a|]] u HL H; unfold candidate_most in H; cbn [fst snd] in H; unfold worth; cbn [fst snd].
  - destruct (at_distance lo) as [[x y]|] eqn:D; [|discriminate]. destruct (at_mean L a) as [v|] eqn:M; [|discriminate].
    injection H as <-. apply (value_at_ok h T B terms logs HT HB Hlogs) in D as [_ D].
    apply (at_mean_ok L a v HL) in M as [M _]. rewrite !similar_g in *. cbn [snd] in D. rewrite minus_IZR. lra.
  - destruct (at_distance lo) as [[x y]|] eqn:D; [|discriminate]. injection H as <-.
    apply (value_at_ok h T B terms logs HT HB Hlogs) in D as [_ D]. rewrite !similar_g in *. cbn [snd] in D. lra.
Qed.

Definition sane_candidate (p : candidate) : Prop :=
  (0 <= fst p)%Z /\ match snd p with Some a => (0 <= a)%Z | None => True end.

Lemma beats_worth : forall L p q, (0 < L)%nat -> (0 <= fst p)%Z -> sane_candidate q -> beats p q = true ->
  worth L q <= worth L p.
Proof.
  intros L [lo x] [lo' x'] HL P1 [Q1 Q2] H. cbn [fst snd] in *. apply andb_prop in H as [H1 H2]. cbn [fst snd] in *.
  apply Z.leb_le in H1. assert (HL' := lt_0_INR L HL).
  assert (RL : 0 < IZR T * INR L) by (apply Rmult_lt_0_compat; lra).
  assert (Scaled : forall a b d, 0 < d -> (0 <= a)%Z -> (a <= b)%Z -> g (IZR b / d) <= g (IZR a / d)).
  { intros a b d Hd Ha Hab. apply IZR_le in Hab. apply IZR_nonneg in Ha.
    apply g_falls; [apply div_nonneg; assumption|].
    apply Rmult_le_compat_r; [left; apply Rinv_0_lt_compat; exact Hd|exact Hab]. }
  unfold worth. cbn [fst snd]. assert (G := Scaled lo lo' (IZR T) RT P1 H1).
  destruct x as [a|], x' as [a'|]; try discriminate; try lra.
  - apply Z.leb_le in H2. assert (G' := Scaled a' a _ RL Q2 H2). lra.
  - apply IZR_nonneg in Q2. assert (N := g_nonneg _ (div_nonneg _ _ Q2 RL)). lra.
Qed.

(** The difference, at distances [d] of [L] patches *)
Definition difference (L : nat) (d : nat -> R) : R := rmax L (fun l => g (d l)) - g (rsum L d / INR L).

Section Patches.
Variables (c : list distance) (d : nat -> R).
Hypothesis some_patch : (0 < length c)%nat.
Hypothesis known : along (distant T) c d.

Let L := length c.
Let RL : 0 < INR L := lt_0_INR L some_patch.

Lemma distance_nonneg : forall l, (l < L)%nat -> 0 <= d l.
Proof.
  intros l Hl. destruct (along_at _ _ _ _ _ known Hl) as (p & _ & (P0 & P & _)). apply IZR_nonneg in P0.
  apply (Rmult_le_reg_l (IZR T)); lra.
Qed.

Let mean := rsum L d / INR L.

Let times_mean : INR L * mean = rsum L d.
Proof. unfold mean. field. lra. Qed.

Lemma mean_at_least : forall x, (forall l, (l < L)%nat -> x <= d l) -> x <= mean.
Proof.
  intros x H. apply le_div_iff; [exact RL|]. rewrite <- rsum_const. apply rsum_le. exact H.
Qed.

Let mean_nonneg : 0 <= mean.
Proof. apply mean_at_least. exact distance_nonneg. Qed.

Lemma difference_of_least : forall x, least_of L d x -> 0 <= x /\ x <= mean /\ difference L d = g x - g mean.
Proof.
  intros x H. assert (M := mean_at_least x (proj2 H)). unfold difference.
  rewrite (greatest_of_falling L g d x); [|intros l i Hl _; apply g_falls, distance_nonneg, Hl|exact H].
  destruct H as [(l & Hl & ->) _]. split; [apply distance_nonneg, Hl|]. split; [exact M|reflexivity].
Qed.

(** ** The greatest difference *)

(** The candidate of the patch with the least distance is worth at least the difference. *)
Lemma candidate_exists : exists p, In p (candidates c) /\ sane_candidate p /\ difference L d <= worth L p.
Proof.
  destruct (least_exists L d some_patch) as (x & X). destruct (difference_of_least x X) as (Hx & Hm & E).
  destruct X as [(l & Hl & ->) _]. destruct (others_ok T c d l known Hl) as (p & I & (P0 & P & _) & O).
  exists (candidate_of (bounded_sum c) (unbounded c) p). split; [exact (in_map _ c p I)|].
  assert (Lo : 0 <= IZR (fst p) / IZR T) by (apply div_nonneg; [apply IZR_nonneg; exact P0|exact RT]).
  assert (Near : IZR (fst p) / IZR T <= d l) by (apply div_le_iff; assumption).
  unfold candidate_of, sane_candidate, worth. destruct (others _ _ p) as [rest|]; cbn [option_map fst snd].
  - specialize (O rest eq_refl). fold L in O. rewrite <- times_mean in O.
    assert (L1 : 1 <= INR L) by (apply (le_INR 1); exact some_patch).
    assert (All : INR L * d l <= INR L * mean) by (apply Rmult_le_compat_l; lra).
    assert (Rest : (INR L - 1) * (IZR T * d l) <= IZR rest) by nra.
    assert (P0' := IZR_nonneg _ P0). assert (Rest0 : 0 <= (INR L - 1) * (IZR T * d l)) by (apply Rmult_le_pos; lra).
    split; [split; [exact P0|apply le_IZR; rewrite plus_IZR; lra]|]. rewrite E.
    set (a := IZR (fst p) / IZR T) in *. set (m' := IZR (fst p + rest) / (IZR T * INR L)).
    assert (TL : 0 < IZR T * INR L) by (apply Rmult_lt_0_compat; lra).
    assert (A : IZR T * a = IZR (fst p)) by (unfold a; field; lra).
    assert (M' : (IZR T * INR L) * m' = IZR (fst p) + IZR rest) by (unfold m'; rewrite plus_IZR; field; lra).
    assert (D := log_ratio_less_drop s (real e) Hs He a (d l - a) m' mean Lo). fold g in D.
    replace (a + (d l - a)) with (d l) in D by ring. enough (g m' - g mean <= g a - g (d l)) by lra. apply D.
    + unfold m'. apply le_div_iff; [exact TL|]. rewrite plus_IZR. nra.
    + lra.
    + exact mean_nonneg.
    + apply (Rmult_le_reg_l (IZR T * INR L)); [exact TL|]. nra.
  - split; [split; [exact P0|exact Logic.I]|]. rewrite E. assert (G := g_falls _ _ Lo Near).
    assert (N := g_nonneg mean mean_nonneg). lra.
Qed.

Lemma distance_most_ok : forall u, distance_most c = Some u -> IZR B * difference L d <= IZR u.
Proof.
  intros u H. destruct candidate_exists as (p & I & S & W).
  destruct (unbeaten_covers (candidates c) nil p (or_introl I)) as (q & Iq & Q).
  assert (Q0 : (0 <= fst q)%Z).
  { apply unbeaten_in in Iq as [[]|Iq]. apply in_map_iff in Iq as (p' & <- & I').
    destruct (along_in _ _ _ _ _ known I') as (l & _ & (P0 & _)). exact P0. }
  assert (V := beats_worth L q p some_patch Q0 S Q). unfold distance_most in H. fold L in H.
  destruct (all_some _) as [[|x l]|] eqn:A; try discriminate. injection H as <-. apply all_some_spec in A.
  apply (in_map (candidate_most L)) in Iq. rewrite A in Iq. apply in_map_iff in Iq as (v & Ev & Iv).
  symmetry in Ev. apply (candidate_most_ok L q v some_patch) in Ev. apply greatest_ge, IZR_le in Iv.
  assert (M : IZR B * difference L d <= IZR B * worth L q) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(** ** The least difference *)

Lemma difference_nonneg : 0 <= difference L d.
Proof.
  destruct (least_exists L d some_patch) as (x & X). destruct (difference_of_least x X) as (Hx & Hm & ->).
  assert (G := g_falls x mean Hx Hm). lra.
Qed.
End Patches.

Lemma nearest_ok : forall c d t, along (distant T) c d -> nearest c = Some t ->
  exists l, (l < length c)%nat /\ IZR T * d l <= IZR t.
Proof.
  intros c d. induction c as [|[lo hi] c IH]; intros t K H; [discriminate|]. destruct K as [(_ & _ & Kb) K].
  change (either Z.min hi (nearest c) = Some t) in H. cbn [length snd] in *.
  destruct hi as [b|], (nearest c) as [t'|]; cbn [either] in H; try discriminate; injection H as <-.
  - destruct (IH t' K eq_refl) as (l & Hl & U). apply Z.min_case; [exists (length c)|exists l];
      split; (lia || assumption).
  - exists (length c). split; [lia|exact Kb].
  - destruct (IH t' K eq_refl) as (l & Hl & U). exists l. split; [lia|exact U].
Qed.

(** Where no distance is below x, none of the max(lo_l, t) is further above its distance than t is above x. *)
Lemma sum_from_ok : forall c d t x, along (distant T) c d -> (forall l, (l < length c)%nat -> x <= d l) ->
  IZR T * x <= IZR t -> IZR (sum_from t c) <= IZR T * rsum (length c) d + INR (length c) * (IZR t - IZR T * x).
Proof.
  intros c d t x K Hx Ht. induction c as [|[lo hi] c IH]; [cbn; lra|]. destruct K as [(_ & Kl & _) K]. cbn [fst] in Kl.
  specialize (IH K ltac:(intros l Hl; apply Hx; cbn; lia)).
  assert (X : IZR T * x <= IZR T * d (length c)) by (apply Rmult_le_compat_l; [lra|apply Hx; cbn; lia]).
  assert (M : IZR (Z.max lo t) <= IZR T * d (length c) + (IZR t - IZR T * x)) by (apply Z.max_case; lra).
  cbn [sum_from fold_right fst length rsum]. rewrite plus_IZR, S_INR. unfold sum_from in IH. lra.
Qed.

Lemma sum_from_at_least : forall c t, (Z.of_nat (length c) * t <= sum_from t c)%Z.
Proof. intros c t. unfold sum_from. induction c as [|p c IH]; cbn [fold_right length]; lia. Qed.

Lemma distance_least_ok : forall c d u, (0 < length c)%nat -> along (distant T) c d -> distance_least c = Some u ->
  IZR u <= IZR B * difference (length c) d.
Proof.
  intros c d u Hc K H. unfold distance_least in H. assert (N := difference_nonneg c d Hc K).
  assert (N' : 0 <= IZR B * difference (length c) d) by (apply Rmult_le_pos; lra).
  destruct (nearest c) as [t|] eqn:T0; [|injection H as <-; exact N'].
  destruct (at_distance t) as [[a a']|] eqn:A; [|discriminate].
  destruct (at_mean _ _) as [[b' b]|] eqn:M; [|discriminate]. injection H as <-.
  apply Z.max_case; [exact N'|]. rewrite minus_IZR.
  apply (value_at_ok h T B terms logs HT HB Hlogs) in A as [A _]. apply (at_mean_ok _ _ _ Hc) in M as [_ M].
  rewrite !similar_g in *. cbn [fst snd] in *.
  destruct (least_exists _ d Hc) as (x & X). destruct (difference_of_least c d Hc K x X) as (Hx & Hm & ->).
  destruct (nearest_ok c d t K T0) as (l & Hl & U). assert (X' := proj2 X l Hl).
  assert (Ht : IZR T * x <= IZR t) by (apply (Rmult_le_compat_l (IZR T)) in X'; lra).
  assert (S := sum_from_ok c d t x K (proj2 X) Ht). set (L := length c) in *. assert (RL := lt_0_INR L Hc).
  set (mean := rsum L d / INR L) in *. set (near := IZR t / IZR T) in *. set (far := _ / _) in M.
  assert (D := log_ratio_less_drop s (real e) Hs He x (near - x) mean far Hx Hm). fold g in D.
  replace (x + (near - x)) with near in D by ring.
  enough (g mean - g far <= g x - g near).
  { assert (IZR B * (g near - g far) <= IZR B * (g x - g mean)) by (apply Rmult_le_compat_l; lra). lra. }
  assert (TL : 0 < IZR T * INR L) by (apply Rmult_lt_0_compat; lra).
  assert (Nt : IZR T * near = IZR t) by (unfold near; field; lra).
  assert (Nf : IZR T * INR L * far = IZR (sum_from t c)) by (unfold far; field; lra).
  assert (Nm : INR L * mean = rsum L d) by (unfold mean; field; lra).
  apply D.
  - assert (x <= near) by (apply (Rmult_le_reg_l (IZR T)); lra). lra.
  - assert (P := IZR_le _ _ (sum_from_at_least c t)). fold L in P. rewrite mult_IZR, <- INR_IZR_INZ in P.
    apply (Rmult_le_reg_l (IZR T * INR L)); [exact TL|]. rewrite Nf, Rmult_0_r. eapply Rle_trans; [|exact P].
    apply Rmult_le_pos; [lra|]. assert (0 <= IZR T * x) by (apply Rmult_le_pos; lra). lra.
  - apply (Rmult_le_reg_l (IZR T * INR L)); [exact TL|]. rewrite Nf. rewrite <- Nm in S. nra.
Qed.
End Distance.

Theorem max_minus_mean_distance_ends_ok : forall h T B terms logs o c m x, (0 < T)%Z -> (0 < B)%Z ->
  right_logarithms logs -> (0 < length c)%nat -> (forall l, (l < length c)%nat -> sane h (m l)) ->
  along (within T) c m -> max_minus_mean_distance_ends h T B terms logs o c = Some x ->
  encloses B x (rmax (length c) (fun l => similar h o (m l)) - similar h o (rsum (length c) m / INR (length c))).
Proof.
  intros h T B terms logs o c m [a b] HT HB Hlogs Hc C K H. unfold max_minus_mean_distance_ends in H.
  destruct (head_similarity h) as [e| | | | | | | |] eqn:S; try discriminate.
  destruct (direction_of h o) eqn:F; try discriminate. apply both_some in H as [Hl Hm].
  destruct (log_ratio_conditions h o e S F) as (G & _ & _).
  assert (K' : along (distant T) (map distance_of c) m).
  { apply along_map. clear - HT C K G. induction c as [|en c IH]; [exact I|]. destruct K as [Ke K]. split.
    - apply distance_of_ok; [exact HT|apply C; [cbn; lia|exact G]|exact Ke].
    - apply IH; [intros l Hl; apply C; cbn; lia|exact K]. }
  assert (Hc' : (0 < length (map distance_of c))%nat) by (rewrite map_length; exact Hc).
  assert (Lo := distance_least_ok h T B terms logs o HT HB Hlogs e S F _ m a Hc' K' Hl).
  assert (Hi := distance_most_ok h T B terms logs o HT HB Hlogs e S F _ m Hc' K' b Hm).
  rewrite map_length in Lo, Hi. unfold similar. rewrite S. split; assumption.
Qed.
