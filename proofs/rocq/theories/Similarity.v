(** Enclosures of similarities.

    The observable lies between two ends over the unit [T]; its similarity is enclosed by integers over the unit [B].
    Where the similarity falls or rises it lies between its values at the ends; a quadratic one is turned at its peak.
    Nothing is assumed of the head: what a formula needs is decided here; where it is missing the answer is [None]. *)

From Coq Require Import Reals ZArith List Bool Lia Lra Psatz.
From Verale Require Import Semantics Grid Root Log Exponential Monotone Boxes Chain Direction.
Import ListNotations.
Open Scope R_scope.

Section Similarity.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms).

(** * Exponentials that are at most 1 *)

Definition exp_at (n d : Z) : option (Z * Z) :=
  match exp_ends B terms n d with
  | Some (a, b) => Some (a, if n <=? 0 then Z.min b B else b)%Z
  | None => None
  end.

Lemma exp_at_ok : forall n d e, (0 < B)%Z -> exp_at n d = Some e -> (0 < d)%Z /\ encloses B e (exp (IZR n / IZR d)).
Proof.
  intros n d r HB H. unfold exp_at in H. destruct (exp_ends B terms n d) as [[a b]|] eqn:E; [|discriminate].
  injection H as <-. destruct (exp_ends_ok B terms n d a b HB E) as (Hd & _ & La & Lb). split; [exact Hd|].
  split; [exact La|]. cbn [snd]. destruct (n <=? 0)%Z eqn:N; [|exact Lb].
  apply Z.min_case; [exact Lb|]. apply Z.leb_le, IZR_le in N. apply IZR_pos in HB. apply IZR_pos in Hd.
  assert (exp (IZR n / IZR d) <= 1) by (rewrite <- exp_0; apply exp_monotone, div_le_iff; lra).
  rewrite <- (Rmult_1_r (IZR B)) at 2. apply Rmult_le_compat_l; lra.
Qed.

(** * The similarity of one number *)

(** Of the number a / T, under a similarity that falls or rises *)
Definition value_at (o : own) (a : Z) : option (Z * Z) :=
  (let ns := numerator (fst o) in
   let ds := Zpos (denominator (fst o)) in
   match head_similarity h with
   | LogRatio e =>
       let ne := numerator e in
       let de := Zpos (denominator e) in
       log_ends B logs ((ns * a + T * ds) * de) (ns * a * de + T * ds * ne)
   | ExpDistance e =>
       match root_ends B (a * Zpos (denominator e) + T * numerator e) (T * Zpos (denominator e)) with
       | Some (near, far) =>
           match exp_at (- far) B, exp_at (- near) B with Some (x, _), Some (_, y) => Some (x, y) | _, _ => None end
       | None => None
       end
   | Threshold t => if numerator t * T <=? a * Zpos (denominator t) then Some (quotient_ends B a T) else Some (0, 0)
   | Identity => Some (quotient_ends B a T)
   | Negated => Some (quotient_ends B (- (ns * a)) (ds * T))
   | Exponential => if euclidean h then exp_at (- (ns * a)) (ds * T) else exp_at (- (ns * (T - a))) (ds * T)
   | Quadratic => None
   | Rectified => Some (quotient_ends B (Z.max 0 a) T)
   | Steps l => chain_ends B terms logs (fst o) (snd o) l T (Some a, Some a)
   end)%Z.

Hypothesis HT : (0 < T)%Z.
Hypothesis HB : (0 < B)%Z.
Hypothesis Hlogs : right_logarithms logs.

Let RT : 0 < IZR T := IZR_pos T HT.
Let RB : 0 < IZR B := IZR_pos B HB.

Lemma log_ratio_at : forall o e a x, head_similarity h = LogRatio e -> value_at o a = Some x ->
  encloses B x (similar h o (IZR a / IZR T)).
Proof.
  intros o e a [x y] S H. unfold value_at in H. unfold similar. rewrite S in *.
  destruct (log_ends_ok _ _ _ _ _ _ HB Hlogs H) as (_ & P & L). apply IZR_pos in P.
  assert (Ds := Zpos_pos (denominator (fst o))). assert (De := Zpos_pos (denominator e)).
  unfold real, q. unfold encloses. cbn [fst snd].
  replace ((_ * _ + 1) / _) with
    (IZR ((numerator (fst o) * a + T * Zpos (denominator (fst o))) * Zpos (denominator e)) /
     IZR (numerator (fst o) * a * Zpos (denominator e) + T * Zpos (denominator (fst o)) * numerator e)); [exact L|].
  rewrite !plus_IZR, !mult_IZR in P |- *. rewrite plus_IZR, !mult_IZR. field. repeat split; try lra.
Qed.

Lemma exp_distance_at : forall o e a x, head_similarity h = ExpDistance e -> value_at o a = Some x ->
  encloses B x (similar h o (IZR a / IZR T)).
Proof.
  intros o e a [x y] S H. unfold value_at in H. unfold similar. rewrite S in *.
  destruct (root_ends _ _ _) as [[near far]|] eqn:R; [|discriminate].
  destruct (exp_at (- far) B) as [[x1 y1]|] eqn:E1; [|discriminate].
  destruct (exp_at (- near) B) as [[x2 y2]|] eqn:E2; [|discriminate]. injection H as <- <-.
  apply exp_at_ok in E1 as [_ [L _]], E2 as [_ [_ U]]; try exact HB.
  destruct (root_ends_ok _ _ _ _ HB R) as (_ & _ & _ & [R1 R2]). cbn [fst snd] in *.
  replace (IZR a / IZR T + real e)
    with (IZR (a * Zpos (denominator e) + T * numerator e) / IZR (T * Zpos (denominator e))).
  2: { unfold real, q. rewrite plus_IZR, !mult_IZR. assert (De := Zpos_pos (denominator e)). field. lra. }
  set (r := sqrt _) in *. rewrite !opp_IZR in *. split; cbn [fst snd].
  - eapply Rle_trans; [exact L|]. apply Rmult_le_compat_l; [lra|]. apply exp_monotone, div_le_iff; lra.
  - eapply Rle_trans; [|exact U]. apply Rmult_le_compat_l; [lra|]. apply exp_monotone, le_div_iff; lra.
Qed.

Lemma threshold_at : forall o t a x, head_similarity h = Threshold t -> value_at o a = Some x ->
  encloses B x (similar h o (IZR a / IZR T)).
Proof.
  intros o t a x S H. unfold value_at in H. unfold similar. rewrite S in *. assert (Dt := Zpos_pos (denominator t)).
  assert (E : real t <= IZR a / IZR T <-> (numerator t * T <= a * Zpos (denominator t))%Z).
  { unfold real, q. rewrite div_le_iff by exact Dt. replace (_ * (_ / _)) with (IZR (a * Zpos (denominator t)) / IZR T).
    2: { rewrite mult_IZR. field. lra. }
    rewrite le_div_iff by exact RT. rewrite <- mult_IZR, Z.mul_comm. split; [apply le_IZR|apply IZR_le]. }
  destruct (_ <=? _)%Z eqn:C; injection H as <-; destruct (Rle_dec _ _) as [L|L].
  - apply quotient_ends_ok. exact HT.
  - apply Z.leb_le, E in C. contradiction.
  - apply E, Z.leb_le in L. congruence.
  - split; cbn [fst snd]; lra.
Qed.

Lemma negated_at : forall o a x, head_similarity h = Negated -> value_at o a = Some x ->
  encloses B x (similar h o (IZR a / IZR T)).
Proof.
  intros o a x S H. unfold value_at in H. unfold similar. rewrite S in *. injection H as <-.
  assert (Ds := Zpos_pos (denominator (fst o))).
  replace (- _) with (IZR (- (numerator (fst o) * a)) / IZR (Zpos (denominator (fst o)) * T)).
  - apply quotient_ends_ok. lia.
  - unfold real, q. rewrite opp_IZR, !mult_IZR. field. lra.
Qed.

Lemma exponential_at : forall o a x, head_similarity h = Exponential -> value_at o a = Some x ->
  encloses B x (similar h o (IZR a / IZR T)).
Proof.
  intros o a x S H. unfold value_at in H. assert (Ds := Zpos_pos (denominator (fst o))).
  assert (V : similar h o (IZR a / IZR T) = exp (if euclidean h
    then IZR (- (numerator (fst o) * a)) / IZR (Zpos (denominator (fst o)) * T)
    else IZR (- (numerator (fst o) * (T - a))) / IZR (Zpos (denominator (fst o)) * T))).
  { unfold similar, euclidean, real, q. rewrite S, !opp_IZR, !mult_IZR, minus_IZR.
    destruct (head_geometry h); f_equal; field; lra. }
  rewrite V. rewrite S in H. destruct (euclidean h); apply exp_at_ok in H as [_ H]; assumption.
Qed.

Lemma rectified_at : forall o a x, head_similarity h = Rectified -> value_at o a = Some x ->
  encloses B x (similar h o (IZR a / IZR T)).
Proof.
  intros o a x S H. unfold value_at in H. unfold similar. rewrite S in *. injection H as <-.
  replace (Rmax _ _) with (IZR (Z.max 0 a) / IZR T); [apply quotient_ends_ok; exact HT|].
  destruct (Z.max_spec 0 a) as [[L ->]|[L ->]].
  - rewrite Rmax_right; [reflexivity|]. apply Z.lt_le_incl, IZR_le in L. apply div_nonneg; assumption.
  - rewrite Rmax_left; [unfold Rdiv; ring|]. apply IZR_le in L. apply div_le_iff; lra.
Qed.

Theorem value_at_ok : forall o a x, value_at o a = Some x -> encloses B x (similar h o (IZR a / IZR T)).
Proof.
  intros o a x H. destruct (head_similarity h) as [e|e|t| | | | | |l] eqn:S.
  - exact (log_ratio_at o e a x S H).
  - exact (exp_distance_at o e a x S H).
  - exact (threshold_at o t a x S H).
  - unfold value_at in H. unfold similar. rewrite S in *. injection H as <-. apply quotient_ends_ok. exact HT.
  - exact (negated_at o a x S H).
  - exact (exponential_at o a x S H).
  - unfold value_at in H. rewrite S in H. discriminate.
  - exact (rectified_at o a x S H).
  - unfold value_at in H. unfold similar. rewrite S in *.
    apply (chain_ends_ok B terms logs HB Hlogs _ _ l T (Some a, Some a)); [exact HT| |exact H].
    split; cbn; right; field; lra.
Qed.

(** * The similarity of a range *)

Definition both (low high : option Z) : option (Z * Z) :=
  match low, high with Some a, Some b => Some (a, b) | _, _ => None end.

(** The lower end of the value at the end of the range where it is least, and the upper end where it is greatest. An
    end that is missing stands for all numbers beyond. *)
Definition least_at (o : own) (x : option Z) : option Z :=
  match x with
  | Some a => option_map fst (value_at o a)
  | None => if never_negative h then Some 0%Z else None
  end.
Definition greatest_at (o : own) (x : option Z) : option Z :=
  match x with Some a => option_map snd (value_at o a) | None => None end.

(** - (m - c)^2, where x <= D (m - c) <= y for some positive D *)
Definition peak_ends (D x y : Z) : Z * Z :=
  (let far := Z.max (x * x) (y * y) in
   let near := if 0 <? x then x * x else if y <? 0 then y * y else 0 in
   (floor_div (- (B * far)) (D * D), ceil_div (- (B * near)) (D * D)))%Z.

Definition quadratic_ends (o : own) (e : ends) : option (Z * Z) :=
  match e with
  | (Some a, Some b) =>
      let nc := numerator (snd o) in
      let dc := Zpos (denominator (snd o)) in
      Some (peak_ends (T * dc) (a * dc - nc * T) (b * dc - nc * T))%Z
  | _ => None
  end.

(** A squared distance is at least 0, whatever is said of it. *)
Definition not_negative (e : ends) : ends :=
  (Some (match fst e with Some a => Z.max 0 a | None => 0 end)%Z, option_map (Z.max 0) (snd e)).

Definition sane_ends (e : ends) : ends := if euclidean h then not_negative e else e.

Definition range_ends (o : own) (e : ends) : option (Z * Z) :=
  match direction_of h o with
  | Falls => both (least_at o (snd e)) (greatest_at o (fst e))
  | Rises => both (least_at o (fst e)) (greatest_at o (snd e))
  | Neither => match head_similarity h with Quadratic => quadratic_ends o e | _ => None end
  end.

(** A chain takes both ends along. Of others equal ends need one value. *)
Definition similar_ends (o : own) (e : ends) : option (Z * Z) :=
  match head_similarity h with Steps l => chain_ends B terms logs (fst o) (snd o) l T (sane_ends e) | _ =>
  match sane_ends e with
  | (Some a, Some b) =>
      if andb (Z.eqb a b) (match head_similarity h with Quadratic => false | _ => true end) then value_at o a
      else range_ends o (Some a, Some b)
  | e' => range_ends o e'
  end end.

Definition sim_ends (j : nat) (e : ends) : option (Z * Z) := similar_ends (own_at h j) e.

Lemma both_some : forall low high a b, both low high = Some (a, b) -> low = Some a /\ high = Some b.
Proof. intros [x|] [y|] a b H; try discriminate. injection H as -> ->. split; reflexivity. Qed.

Lemma not_negative_ok : forall e m, 0 <= m -> within T e m -> within T (not_negative e) m.
Proof.
  intros [low high] m Hm [L H]. assert (P : 0 <= IZR T * m) by (apply Rmult_le_pos; lra). split; cbn in *.
  - destruct low as [a|]; [|exact P]. apply Z.max_case; assumption.
  - destruct high as [b|]; [|exact I]. cbn. eapply Rle_trans; [exact H|]. apply IZR_le, Z.le_max_r.
Qed.

(** The ends are those of a range of numbers that may be. *)
Lemma not_negative_sane : forall e, (forall a, fst (not_negative e) = Some a -> (0 <= a)%Z) /\
  (forall b, snd (not_negative e) = Some b -> (0 <= b)%Z).
Proof.
  intros [low high]. split; cbn.
  - intros a [= <-]. destruct low; [apply Z.le_max_l|lia].
  - intros b H. destruct high; [|discriminate]. injection H as <-. apply Z.le_max_l.
Qed.

Definition sane_end (x : option Z) : Prop := match x with Some a => sane h (IZR a / IZR T) | None => True end.

Lemma sane_ends_ok : forall e m, sane h m -> within T e m ->
  within T (sane_ends e) m /\ sane_end (fst (sane_ends e)) /\ sane_end (snd (sane_ends e)).
Proof.
  intros e m C W. unfold sane_ends. destruct (euclidean h) eqn:E.
  - split; [apply not_negative_ok; [apply C, euclidean_true; exact E|exact W]|].
    destruct (not_negative_sane e) as [L H]. unfold sane_end.
    split; [destruct (fst _) as [a|]|destruct (snd _) as [a|]]; try exact I; intros _; apply div_nonneg;
      try exact RT; apply IZR_nonneg; auto.
  - assert (N : forall x, sane_end x).
    { intros [a|]; [|exact I]. intros G. apply euclidean_true in G. congruence. }
    auto.
Qed.

Lemma least_at_ok : forall o x a g, least_at o x = Some a -> (never_negative h = true -> 0 <= g) ->
  (forall n, x = Some n -> similar h o (IZR n / IZR T) <= g) -> IZR a <= IZR B * g.
Proof.
  intros o x a g H P L. destruct x as [n|]; cbn in H.
  - destruct (value_at o n) as [e|] eqn:V; [|discriminate]. injection H as <-. apply value_at_ok in V as [V _].
    eapply Rle_trans; [exact V|]. apply Rmult_le_compat_l; [lra|auto].
  - destruct (never_negative h); [|discriminate]. injection H as <-. apply Rmult_le_pos; [lra|auto].
Qed.

Lemma greatest_at_ok : forall o x b g, greatest_at o x = Some b ->
  (forall n, x = Some n -> g <= similar h o (IZR n / IZR T)) -> IZR B * g <= IZR b.
Proof.
  intros o [n|] b g H L; [|discriminate]. cbn in H. destruct (value_at o n) as [e|] eqn:V; [|discriminate].
  injection H as <-. apply value_at_ok in V as [_ V]. eapply Rle_trans; [|exact V]. apply Rmult_le_compat_l; [lra|auto].
Qed.

Lemma peak_ends_ok : forall D x y d, (0 < D)%Z -> IZR x <= IZR D * d <= IZR y ->
  encloses B (peak_ends D x y) (- (d * d)).
Proof.
  intros D x y d HD [L U]. assert (DD : (0 < D * D)%Z) by lia.
  set (v := IZR D * d) in *. assert (V : IZR (D * D) * (IZR B * - (d * d)) = - (IZR B * (v * v))).
  { rewrite mult_IZR. unfold v. ring. }
  split; cbn [peak_ends fst snd].
  - apply floor_div_below; [exact DD|]. rewrite V, opp_IZR, mult_IZR.
    apply Ropp_le_contravar, Rmult_le_compat_l; [lra|].
    assert (M1 := IZR_le _ _ (Z.le_max_l (x * x) (y * y))). assert (M2 := IZR_le _ _ (Z.le_max_r (x * x) (y * y))).
    rewrite !mult_IZR in M1, M2. destruct (Rle_dec 0 v); nra.
  - apply ceil_div_above; [exact DD|]. rewrite V, opp_IZR, mult_IZR.
    apply Ropp_le_contravar, Rmult_le_compat_l; [lra|].
    destruct (0 <? x)%Z eqn:X; [apply Z.ltb_lt, IZR_lt in X; rewrite mult_IZR; nra|].
    destruct (y <? 0)%Z eqn:Y; [apply Z.ltb_lt, IZR_lt in Y; rewrite mult_IZR; nra|nra].
Qed.

Lemma quadratic_ends_ok : forall o e m x, head_similarity h = Quadratic -> within T e m ->
  quadratic_ends o e = Some x -> encloses B x (similar h o m).
Proof.
  intros o [[a|] [b|]] m x S [L U] H; try discriminate. cbn in L, U. injection H as <-.
  unfold similar. rewrite S. assert (Dc := Zpos_pos (denominator (snd o))). apply peak_ends_ok; [lia|].
  assert (E : IZR (T * Zpos (denominator (snd o))) * (m - real (snd o)) =
              IZR T * m * IZR (Zpos (denominator (snd o))) - IZR (numerator (snd o)) * IZR T).
  { rewrite <- (real_eq (snd o)), mult_IZR. ring. }
  rewrite E, !minus_IZR, !mult_IZR. split; apply Rplus_le_compat_r, Rmult_le_compat_r; lra.
Qed.

Lemma range_ends_ok : forall o e m x, within T e m -> sane h m -> sane_end (fst e) -> sane_end (snd e) ->
  range_ends o e = Some x -> encloses B x (similar h o m).
Proof.
  intros o [low high] m [x y] [L U] C Cl Ch H. unfold range_ends in H. cbn [fst snd] in *.
  assert (N : direction_of h o <> Neither -> never_negative h = true -> 0 <= similar h o m).
  { intros D P. exact (similar_nonneg h o m P D C). }
  assert (Lo : forall n, low = Some n -> IZR n / IZR T <= m).
  { intros n ->. apply div_le_iff; [exact RT|exact L]. }
  assert (Hi : forall n, high = Some n -> m <= IZR n / IZR T).
  { intros n ->. apply le_div_iff; [exact RT|exact U]. }
  destruct (direction_of h o) eqn:D.
  - apply both_some in H as [Hl Hg]. split.
    + apply (least_at_ok o high x _ Hl); [apply N; discriminate|]. intros n E. apply similar_falls; auto.
    + apply (greatest_at_ok o low y _ Hg). intros n E. apply similar_falls; auto. rewrite E in Cl. exact Cl.
  - apply both_some in H as [Hl Hg]. split.
    + apply (least_at_ok o low x _ Hl); [apply N; discriminate|]. intros n E. apply similar_rises; auto.
    + apply (greatest_at_ok o high y _ Hg). intros n E. apply similar_rises; auto.
  - destruct (head_similarity h) eqn:S; try discriminate.
    apply (quadratic_ends_ok o (low, high)); [exact S|split; assumption|exact H].
Qed.

Lemma equal_ends : forall a m, within T (Some a, Some a) m -> m = IZR a / IZR T.
Proof. intros a m [L U]. cbn in L, U. apply (Rmult_eq_reg_l (IZR T)); [|lra]. field_simplify; lra. Qed.

Theorem similar_ends_ok : forall o e m x, within T e m -> sane h m -> similar_ends o e = Some x ->
  encloses B x (similar h o m).
Proof.
  intros o e m x W C H. destruct (sane_ends_ok e m C W) as (W' & Cl & Ch). unfold similar_ends in H.
  assert (others : match sane_ends e with
    | (Some a, Some b) =>
        if andb (Z.eqb a b) (match head_similarity h with Quadratic => false | _ => true end) then value_at o a
        else range_ends o (Some a, Some b)
    | e' => range_ends o e'
    end = Some x -> encloses B x (similar h o m)).
  { clear H. intros H. destruct (sane_ends e) as [[a|] [b|]]; try exact (range_ends_ok o _ m x W' C Cl Ch H).
    destruct (_ && _) eqn:E; [|exact (range_ends_ok o _ m x W' C Cl Ch H)].
    apply andb_prop in E as [E _]. apply Z.eqb_eq in E as <-. rewrite (equal_ends a m W'). exact (value_at_ok o a x H). }
  destruct (head_similarity h) as [| | | | | | | |l] eqn:S; try exact (others H).
  unfold similar. rewrite S. exact (chain_ends_ok B terms logs HB Hlogs _ _ l T _ m x HT W' H).
Qed.

Theorem sim_ends_ok : forall j e m a b, within T e m -> (head_geometry h = Euclidean -> 0 <= m) ->
  sim_ends j e = Some (a, b) -> IZR a <= IZR B * sim h j m <= IZR b.
Proof. intros j e m a b W C H. rewrite sim_similar. exact (similar_ends_ok (own_at h j) e m (a, b) W C H). Qed.
End Similarity.
