(** What one activation says of the others, of heads of distances whose pooling is the maximum.

    With a similarity that falls with the distance an activation is the similarity of the least squared distance of
    all patches. The roots of two least squared distances differ by no more than their prototypes are apart. So an
    activation that is no greater than some number, which a similarity exceeds at t, says that the least distance is
    beyond t, hence that those to other prototypes are beyond s; and one that is no less than some number says the
    contrary. Which numbers t and s, and between which prototypes, are hints. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Log Columns Embedding Direction Similarity Maxima.
Import ListNotations.

(** * What runs *)

(** Untrusted: for each prototype t, and for each one the prototype that bounds it, with s. *)
Record links := Links { reached : list (option Z); linked : list (option (nat * Z)) }.

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms).

Definition is_lipschitz : bool :=
  forallb (fun p => Nat.leb (length p) (depth h)) (prototypes h) && euclidean h &&
  match head_pooling h with MaxPool => true | _ => false end.

Definition value (o : own) (x : Z) : option (Z * Z) :=
  match direction_of h o with Falls => if 0 <=? x then value_at h T B terms logs o x else None | _ => None end.

(** What is shown to be a bound of the least squared distance: [beyond] from below, [within_reach] from above. *)
Definition beyond (x : (own * (Z * Z)) * option Z) : option Z :=
  match x with
  | ((o, e), Some t) => match value o t with Some v => if snd e <? fst v then Some t else None | None => None end
  | _ => None
  end.
Definition within_reach (x : (own * (Z * Z)) * option Z) : option Z :=
  match x with
  | ((o, e), Some t) => match value o t with Some v => if snd v <? fst e then Some t else None | None => None end
  | _ => None
  end.

Definition square_apart (p r : list Z) : Z := zdot p p - 2 * zdot p r + zdot r r.

(** Whether the roots of [small] and of [apart] are together no greater than that of [great]. *)
Definition roots_fit (small apart great : Z) : bool :=
  (small + apart <=? great) && (4 * small * apart <=? (great - small - apart) * (great - small - apart)).

Definition scaled (x : Z) : Z := x * (unit_of h * unit_of h).

(** The ends of an activation, cut by what its link says; [bounds] are those shown of all prototypes. *)
Definition cut_above (bounds : list (option Z)) (p : list Z) (o : own) (link : option (nat * Z)) (e : Z * Z) : Z * Z :=
  match link with
  | Some (k, s) =>
      match nth k bounds None with
      | Some t =>
          if roots_fit (scaled s) (T * square_apart p (points h k)) (scaled t)
          then match value o s with Some v => (fst e, Z.min (snd e) (snd v)) | None => e end else e
      | None => e
      end
  | None => e
  end.
Definition cut_below (bounds : list (option Z)) (p : list Z) (o : own) (link : option (nat * Z)) (e : Z * Z) : Z * Z :=
  match link with
  | Some (k, s) =>
      match nth k bounds None with
      | Some t =>
          if roots_fit (scaled t) (T * square_apart p (points h k)) (scaled s)
          then match value o s with Some v => (Z.max (fst e) (fst v), snd e) | None => e end else e
      | None => e
      end
  | None => e
  end.

Fixpoint cut_all {X Y : Type} (cut : list Z -> X -> Y -> Z * Z -> Z * Z) (ps : list (list Z)) (os : list X)
    (ls : list Y) (b : box) : box :=
  match ps, os, ls, b with
  | p :: ps', o :: os', l :: ls', e :: b' => cut p o l e :: cut_all cut ps' os' ls' b'
  | _, _, _, _ => b
  end.

Definition cut_by_links (above below : links) (b : box) : box :=
  if is_lipschitz then
    let os := owns h in
    let far := map beyond (combine (combine os b) (reached above)) in
    let near := map within_reach (combine (combine os b) (reached below)) in
    cut_all (cut_below near) (prototypes h) os (linked below)
      (cut_all (cut_above far) (prototypes h) os (linked above) b)
  else b.
End Run.

Open Scope R_scope.

(** * What it means *)

Lemma roots_fit_ok : forall small apart great, (0 <= small)%Z -> (0 <= apart)%Z -> roots_fit small apart great = true ->
  sqrt (IZR small) + sqrt (IZR apart) <= sqrt (IZR great).
Proof.
  intros s a g Hs Ha H. apply andb_prop in H as [H1 H2]. apply Z.leb_le, IZR_le in H1, H2.
  apply IZR_nonneg in Hs, Ha. rewrite plus_IZR in H1. rewrite !mult_IZR, !minus_IZR in H2.
  set (S := IZR s) in *. set (A := IZR a) in *. set (G := IZR g) in *.
  assert (P := sqrt_pos S). assert (Q := sqrt_pos A). rewrite <- (sqrt_square (sqrt S + sqrt A)) by lra.
  apply sqrt_le_1_alt. assert (SS := sqrt_sqrt S Hs). assert (AA := sqrt_sqrt A Ha).
  assert (K : 2 * (sqrt S * sqrt A) <= G - S - A); [|lra].
  rewrite <- (sqrt_square (G - S - A)) by lra. rewrite <- (sqrt_square (2 * (sqrt S * sqrt A))).
  - apply sqrt_le_1_alt. replace (2 * (sqrt S * sqrt A) * (2 * (sqrt S * sqrt A))) with
      (4 * (sqrt S * sqrt S) * (sqrt A * sqrt A)) by ring. rewrite SS, AA. exact H2.
  - apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; assumption.
Qed.

(** The triangle inequality. *)
Lemma root_of_square_of_sum : forall n u v,
  sqrt (inner n (fun d => u d + v d) (fun d => u d + v d)) <= sqrt (inner n u u) + sqrt (inner n v v).
Proof.
  intros n u v. assert (P := sqrt_pos (inner n u u)). assert (Q := sqrt_pos (inner n v v)).
  rewrite <- (sqrt_square (sqrt (inner n u u) + sqrt (inner n v v))) by lra. apply sqrt_le_1_alt.
  assert (E : inner n (fun d => u d + v d) (fun d => u d + v d) = inner n u u + 2 * inner n u v + inner n v v).
  { transitivity (inner n (fun d => 1 * u d + 1 * v d) (fun d => 1 * u d + 1 * v d)).
    - apply inner_ext; intros; ring.
    - rewrite inner_square_of_sum. ring. }
  rewrite E. assert (C := abs_inner_le n u v). assert (R0 := Rle_abs (inner n u v)).
  assert (U := sqrt_sqrt _ (inner_square_nonneg n u)). assert (V := sqrt_sqrt _ (inner_square_nonneg n v)). lra.
Qed.

(** * Lists *)

Lemma nth_of_combined : forall (X Y : Type) (l : list X) (l' : list Y) k x y, (k < length (combine l l'))%nat ->
  nth k (combine l l') (x, y) = (nth k l x, nth k l' y).
Proof.
  induction l as [|a l IH]; intros [|a' l'] k x y H; cbn [combine length] in H; try lia.
  destruct k as [|k]; [reflexivity|]. cbn [combine nth]. apply IH. lia.
Qed.

Lemma nth_of_mapped : forall (X : Type) (f : X -> option Z) l k t d, nth k (map f l) None = Some t ->
  (k < length l)%nat /\ f (nth k l d) = Some t.
Proof.
  induction l as [|a l IH]; intros [|k] t d H; cbn [map nth length] in *; try discriminate.
  - split; [lia|exact H].
  - destruct (IH k t d H) as [L E]. split; [lia|exact E].
Qed.

Lemma cut_all_right : forall (X Y : Type) (Q : nat -> Z * Z -> Prop) (cut : list Z -> X -> Y -> Z * Z -> Z * Z) ps os
    ls b k,
  (forall i p o l e, nth_error ps i = Some p -> nth_error os i = Some o -> Q (k + i)%nat e ->
    Q (k + i)%nat (cut p o l e)) ->
  (forall i, (i < length b)%nat -> Q (k + i)%nat (nth i b (0, 0)%Z)) ->
  length (cut_all cut ps os ls b) = length b /\
  forall i, (i < length b)%nat -> Q (k + i)%nat (nth i (cut_all cut ps os ls b) (0, 0)%Z).
Proof.
  intros X Y Q cut. induction ps as [|p ps IH]; intros [|o os] [|l ls] [|e b] k C H; try (split; [reflexivity|exact H]).
  cbn [cut_all length]. destruct (IH os ls b (Datatypes.S k)) as [L K].
  - intros i p' o' l' e' P O. rewrite Nat.add_succ_comm. apply (C (Datatypes.S i)); assumption.
  - intros i Hi. rewrite Nat.add_succ_comm. apply (H (Datatypes.S i)). cbn [length]. lia.
  - split; [rewrite L; reflexivity|]. intros [|i] Hi; cbn [nth].
    + apply (C 0%nat); try reflexivity. apply (H 0%nat). cbn [length]. lia.
    + rewrite <- Nat.add_succ_comm. apply K. lia.
Qed.

(** * Heads *)

Section Sound.
Variables (h : head) (T B : Z) (terms : nat) (logs : logarithms) (n : nat) (z : latents).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis B_positive : (0 < B)%Z.
Hypothesis logs_right : right_logarithms logs.
Hypothesis has_patches : (0 < n)%nat.
Hypothesis lipschitz : is_lipschitz h = true.
Let D := depth h.
Let S := IZR (unit_of h).
Let m (j l : nat) : R := observable h (z l) j.

Definition far_of (j k : nat) : R := inner D (fun d => coord h j d - coord h k d) (fun d => coord h j d - coord h k d).

Lemma observable_is : forall j l, m j l = inner D (fun d => z l d - coord h j d) (fun d => z l d - coord h j d).
Proof.
  intros j l. assert (E := lipschitz). apply andb_prop in E as [E _]. apply andb_prop in E as [_ E].
  apply euclidean_true in E. unfold m, observable. rewrite E. reflexivity.
Qed.

Lemma observable_nonneg : forall j l, 0 <= m j l.
Proof. intros. rewrite observable_is. apply inner_square_nonneg. Qed.

Lemma roots_apart : forall j k l, sqrt (m k l) <= sqrt (m j l) + sqrt (far_of j k).
Proof.
  intros j k l. rewrite !observable_is. eapply Rle_trans; [|apply root_of_square_of_sum]. right. f_equal.
  apply inner_ext; intros; ring.
Qed.

Lemma far_of_symmetric : forall j k, far_of j k = far_of k j.
Proof. intros. unfold far_of, inner. apply rsum_ext. intros. ring. Qed.

Lemma least_roots : forall j k x y, least_of n (m j) x -> least_of n (m k) y -> sqrt y <= sqrt x + sqrt (far_of j k).
Proof.
  intros j k x y [(l & Hl & ->) _] [_ Hy]. eapply Rle_trans; [|apply roots_apart]. apply sqrt_le_1_alt.
  apply Hy. exact Hl.
Qed.

(** ** The similarity of the least distance *)

Lemma value_right : forall o x v, value h T B terms logs o x = Some v ->
  direction_of h o = Falls /\ (0 <= x)%Z /\ encloses B v (similar h o (IZR x / IZR T)).
Proof.
  intros o x v H. unfold value in H. destruct (direction_of h o); try discriminate.
  destruct (0 <=? x)%Z eqn:P; [|discriminate]. apply Z.leb_le in P.
  split; [reflexivity|]. split; [exact P|].
  apply (value_at_ok h T B terms logs T_positive B_positive logs_right). exact H.
Qed.

Lemma sane_right : forall x, 0 <= x -> sane h x.
Proof. intros x H _. exact H. Qed.

Lemma activation_of_least : forall j x, direction_of h (own_at h j) = Falls -> least_of n (m j) x ->
  0 <= x /\ activation h n z j = similar h (own_at h j) x.
Proof.
  intros j x F X. split; [destruct X as [(l & _ & ->) _]; apply observable_nonneg|].
  assert (P := lipschitz). apply andb_prop in P as [_ P]. unfold activation, activation_of.
  destruct (head_pooling h); try discriminate. rewrite <- sim_similar.
  apply (greatest_of_falling n (sim h j) (m j) x); [|exact X].
  intros l i _ _. apply sim_falls; [exact F|apply sane_right, observable_nonneg].
Qed.

(** x over T is not above a number, or not below it. *)
Definition least_is (side : R -> R -> Prop) (j : nat) (t : Z) : Prop :=
  (0 <= t)%Z /\ forall x, least_of n (m j) x -> side (IZR t / IZR T) x.

Lemma quotient_nonneg : forall t, (0 <= t)%Z -> 0 <= IZR t / IZR T.
Proof. intros t H. apply div_nonneg; [apply IZR_nonneg; exact H|apply IZR_pos; exact T_positive]. Qed.

Lemma beyond_right : forall j e t t', encloses B e (activation h n z j) ->
  beyond h T B terms logs ((own_at h j, e), t) = Some t' -> least_is Rle j t'.
Proof.
  intros j e t t' E H. unfold beyond in H. destruct t as [t|]; [|discriminate].
  destruct (value h T B terms logs (own_at h j) t) as [v|] eqn:V; [|discriminate].
  destruct (_ <? _)%Z eqn:L; [|discriminate]. injection H as <-. apply Z.ltb_lt, IZR_lt in L.
  apply value_right in V as (F & P & [V _]). split; [exact P|]. intros x X.
  destruct (activation_of_least j x F X) as [N A]. rewrite A in E. destruct E as [_ E].
  destruct (Rle_dec (IZR t / IZR T) x) as [G|G]; [exact G|exfalso]. apply Rnot_le_lt in G.
  assert (M := similar_falls h (own_at h j) x (IZR t / IZR T) F (sane_right x N) (Rlt_le _ _ G)).
  apply IZR_pos in B_positive as BP. apply (Rmult_le_compat_l (IZR B)) in M; lra.
Qed.

Lemma within_reach_right : forall j e t t', encloses B e (activation h n z j) ->
  within_reach h T B terms logs ((own_at h j, e), t) = Some t' -> least_is Rge j t'.
Proof.
  intros j e t t' E H. unfold within_reach in H. destruct t as [t|]; [|discriminate].
  destruct (value h T B terms logs (own_at h j) t) as [v|] eqn:V; [|discriminate].
  destruct (_ <? _)%Z eqn:L; [|discriminate]. injection H as <-. apply Z.ltb_lt, IZR_lt in L.
  apply value_right in V as (F & P & [_ V]). split; [exact P|]. intros x X.
  destruct (activation_of_least j x F X) as [N A]. rewrite A in E. destruct E as [E _].
  destruct (Rge_dec (IZR t / IZR T) x) as [G|G]; [exact G|exfalso]. apply Rnot_ge_lt in G.
  assert (M := similar_falls h (own_at h j) (IZR t / IZR T) x F (sane_right _ (quotient_nonneg t P)) (Rlt_le _ _ G)).
  apply IZR_pos in B_positive as BP. apply (Rmult_le_compat_l (IZR B)) in M; lra.
Qed.

(** ** From one prototype to another *)

Lemma square_apart_right : forall j k, (length (points h j) <= D)%nat -> (length (points h k) <= D)%nat ->
  IZR (square_apart (points h j) (points h k)) = S * S * far_of j k.
Proof.
  intros j k Lj Lk. unfold square_apart. rewrite plus_IZR, minus_IZR, mult_IZR.
  rewrite !(zdot_real D) by assumption. unfold far_of, inner at 4. rewrite inner_square_of_difference.
  assert (P : S <> 0) by (apply Rgt_not_eq, unit_positive).
  rewrite (inner_ext D (coord h j) (fun d => / S * vector (points h j) d) (coord h j)
    (fun d => / S * vector (points h j) d)) by (intros; apply coord_vector).
  rewrite (inner_ext D (coord h j) (fun d => / S * vector (points h j) d) (coord h k)
    (fun d => / S * vector (points h k) d)) by (intros; apply coord_vector).
  rewrite (inner_ext D (coord h k) (fun d => / S * vector (points h k) d) (coord h k)
    (fun d => / S * vector (points h k) d)) by (intros; apply coord_vector).
  rewrite !inner_scal_l, !inner_scal_r. field. exact P.
Qed.

(** The roots that were compared as integers, over the reals. *)
Lemma roots_over : forall j k s t, (length (points h j) <= D)%nat -> (length (points h k) <= D)%nat ->
  (0 <= s)%Z -> roots_fit (scaled h s) (T * square_apart (points h j) (points h k)) (scaled h t) = true ->
  sqrt (IZR s / IZR T) + sqrt (far_of j k) <= sqrt (IZR t / IZR T).
Proof.
  intros j k s t Lj Lk Hs H. assert (TP := IZR_pos _ T_positive). assert (SP : 0 < S) by apply unit_positive.
  assert (Q := square_apart_right j k Lj Lk).
  assert (FN : 0 <= far_of j k) by apply inner_square_nonneg.
  apply roots_fit_ok in H.
  - unfold scaled in H. rewrite !mult_IZR, Q in H. fold S in H. set (c := IZR T * (S * S)) in *.
    assert (C : 0 < c) by (unfold c; repeat apply Rmult_lt_0_compat; assumption).
    replace (IZR s * (S * S)) with (c * (IZR s / IZR T)) in H by (unfold c; field; lra).
    replace (IZR t * (S * S)) with (c * (IZR t / IZR T)) in H by (unfold c; field; lra).
    replace (IZR T * (S * S * far_of j k)) with (c * far_of j k) in H by (unfold c; ring).
    rewrite !(sqrt_mult_alt c) in H by lra. apply (Rmult_le_reg_l (sqrt c)); [apply sqrt_lt_R0; exact C|]. lra.
  - unfold scaled. apply Z.mul_nonneg_nonneg; [exact Hs|apply Z.square_nonneg].
  - apply le_IZR. rewrite mult_IZR, Q. apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; [apply Rle_0_sqr|exact FN].
Qed.

Lemma below_root : forall a b, 0 <= b -> sqrt a <= sqrt b -> a <= b.
Proof.
  intros a b Hb H. destruct (Rle_dec 0 a) as [N|N]; [|lra]. apply sqrt_le_0; assumption.
Qed.

Lemma short : forall j, (length (points h j) <= D)%nat.
Proof.
  intros j. assert (E := lipschitz). apply andb_prop in E as [E _]. apply andb_prop in E as [E _].
  rewrite forallb_forall in E. unfold points. destruct (Nat.lt_ge_cases j (length (prototypes h))) as [J|J].
  - apply Nat.leb_le, E, nth_In. exact J.
  - rewrite nth_overflow by exact J. apply Nat.le_0_l.
Qed.

Lemma cut_above_right : forall j bounds link e, (forall k t, nth k bounds None = Some t -> least_is Rle k t) ->
  encloses B e (activation h n z j) ->
  encloses B (cut_above h T B terms logs bounds (points h j) (own_at h j) link e) (activation h n z j).
Proof.
  intros j bounds link e K E. unfold cut_above. destruct link as [[k s]|]; [|exact E].
  destruct (nth k bounds None) as [t|] eqn:N; [|exact E]. destruct (roots_fit _ _ _) eqn:F; [|exact E].
  destruct (value h T B terms logs (own_at h j) s) as [v|] eqn:V; [|exact E].
  apply value_right in V as (Fa & P & [_ V]). destruct (K k t N) as [Pt X].
  destruct (least_exists n (m j) has_patches) as [x Hx]. destruct (least_exists n (m k) has_patches) as [y Hy].
  destruct (activation_of_least j x Fa Hx) as [Nx A]. specialize (X y Hy).
  assert (Ny : 0 <= y) by (destruct Hy as [(l & _ & ->) _]; apply observable_nonneg).
  assert (R0 := roots_over j k s t (short j) (short k) P F). assert (R1 := least_roots j k x y Hx Hy).
  assert (R2 := sqrt_le_1_alt _ _ X).
  assert (G : IZR s / IZR T <= x) by (apply below_root; lra).
  assert (M := similar_falls h (own_at h j) _ x Fa (sane_right _ (quotient_nonneg s P)) G).
  apply IZR_pos in B_positive as BP. apply (Rmult_le_compat_l (IZR B)) in M; [|lra].
  split; cbn [fst snd]; [apply E|]. rewrite IZR_min. apply Rmin_glb; [apply E|]. rewrite A. lra.
Qed.

Lemma cut_below_right : forall j bounds link e, (forall k t, nth k bounds None = Some t -> least_is Rge k t) ->
  encloses B e (activation h n z j) ->
  encloses B (cut_below h T B terms logs bounds (points h j) (own_at h j) link e) (activation h n z j).
Proof.
  intros j bounds link e K E. unfold cut_below. destruct link as [[k s]|]; [|exact E].
  destruct (nth k bounds None) as [t|] eqn:N; [|exact E]. destruct (roots_fit _ _ _) eqn:F; [|exact E].
  destruct (value h T B terms logs (own_at h j) s) as [v|] eqn:V; [|exact E].
  apply value_right in V as (Fa & P & [V _]). destruct (K k t N) as [Pt X].
  destruct (least_exists n (m j) has_patches) as [x Hx]. destruct (least_exists n (m k) has_patches) as [y Hy].
  destruct (activation_of_least j x Fa Hx) as [Nx A]. specialize (X y Hy).
  assert (R0 := roots_over j k t s (short j) (short k) Pt F). assert (R1 := least_roots k j y x Hy Hx).
  rewrite far_of_symmetric in R1. assert (R2 := sqrt_le_1_alt y _ (Rge_le _ _ X)).
  assert (G : x <= IZR s / IZR T) by (apply below_root; [apply quotient_nonneg; exact P|lra]).
  assert (M := similar_falls h (own_at h j) x _ Fa (sane_right _ Nx) G).
  apply IZR_pos in B_positive as BP. apply (Rmult_le_compat_l (IZR B)) in M; [|lra].
  split; cbn [fst snd]; [|apply E]. rewrite IZR_max. apply Rmax_lub; [apply E|]. rewrite A. lra.
Qed.

(** ** All prototypes *)

Lemma bounds_right : forall (side : R -> R -> Prop) (f : own * (Z * Z) * option Z -> option Z) b ts,
  (forall j e t t', encloses B e (activation h n z j) -> f ((own_at h j, e), t) = Some t' -> least_is side j t') ->
  box_ok h B n b z ->
  forall k t, nth k (map f (combine (combine (owns h) b) ts)) None = Some t -> least_is side k t.
Proof.
  intros side f b ts F [L E] k t H. apply (nth_of_mapped _ _ _ _ _ ((own_at h 0, (0, 0)%Z), None)) in H as [K H].
  rewrite nth_of_combined in H by exact K. rewrite combine_length in K.
  rewrite nth_of_combined in H by lia. rewrite combine_length, length_owns in K.
  rewrite nth_owns in H by lia. apply (F k _ _ t) in H; [exact H|apply E; lia].
Qed.

Lemma cut_list_right : forall (cut : list Z -> own -> option (nat * Z) -> Z * Z -> Z * Z) ls b,
  (forall j l e, encloses B e (activation h n z j) ->
    encloses B (cut (points h j) (own_at h j) l e) (activation h n z j)) ->
  box_ok h B n b z -> box_ok h B n (cut_all cut (prototypes h) (owns h) ls b) z.
Proof.
  intros cut ls b C [L E].
  destruct (cut_all_right _ _ (fun j e => encloses B e (activation h n z j)) cut (prototypes h) (owns h) ls b 0)
    as [L' K].
  - intros i p o l e P O. cbn [Nat.add].
    assert (I : (i < count h)%nat) by (rewrite <- length_owns; apply nth_error_Some; rewrite O; discriminate).
    apply (nth_error_nth _ _ nil) in P. apply (nth_error_nth _ _ (own_at h 0)) in O.
    rewrite nth_owns in O by exact I. subst o. fold (points h i) in P. subst p. apply C.
  - intros i Hi. apply E. lia.
  - split; [congruence|]. intros j Hj. apply (K j). lia.
Qed.
End Sound.

Theorem cut_by_links_ok : forall h T B terms logs n z above below b, (0 < T)%Z -> (0 < B)%Z -> right_logarithms logs ->
  (0 < n)%nat -> box_ok h B n b z -> box_ok h B n (cut_by_links h T B terms logs above below b) z.
Proof.
  intros h T B terms logs n z above below b HT HB L N H. unfold cut_by_links.
  destruct (is_lipschitz h) eqn:E; [|exact H].
  apply cut_list_right; [exact N| |].
  - intros j l e. apply (cut_below_right h T B terms logs n z); auto.
    apply (bounds_right h T B n z N) with (2 := H). intros. eapply within_reach_right; eauto.
  - apply cut_list_right; [exact N| |exact H]. intros j l e. apply (cut_above_right h T B terms logs n z); auto.
    apply (bounds_right h T B n z N) with (2 := H). intros. eapply beyond_right; eauto.
Qed.
