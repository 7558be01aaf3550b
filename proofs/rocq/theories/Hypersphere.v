(** One ball that holds a patch, and what it says of all prototypes.

    Weighted facts make the rule's function once for a patch, A |y|^2 - 2 <y, Q> + C / F <= 0, which is a ball:
    |A y - Q| <= R. An end that is claimed of an observable follows from it, or does not, by a comparison of integers.
    So no weights of its own are needed where a claim is as far from the truth as a ball is coarse. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Root Ends Quadratic Embedding Facts.
Import ListNotations.
Open Scope R_scope.

(** * What runs *)

(** An end, over the unit of ranges, that hints claim of a prototype's observable at every patch. *)
Inductive claim := Unclaimed | AtLeast (e : Z) | AtMost (e : Z).

(** The same with what is computed of it once for all patches. *)
Inductive goal := Open | Low (e a b : Z) | High (e a b : Z).

Section Run.
Local Open Scope Z_scope.
Variable h : head.
Variables T A : Z.

(** <y, P> is this times size and observable, but for distances. *)
Definition product_slope : Z :=
  match head_geometry h with Cosine _ | RootedCosine _ => unit_of h | _ => unit_of h * unit_of h end.

(** Distances: A^2 |P|^2, and the least or greatest |A y - A P| that the claim allows. Others: |P|, and the greatest
    A <y, P> of either sign. *)
Definition goal_of (m : measure) (c : claim) : goal :=
  match c, head_geometry h with
  | Unclaimed, _ => Open
  | AtLeast e, Euclidean =>
      Low e (A * A * square m) (root_ceil (Z.max 0 (ceil_div (A * A * (unit_of h * unit_of h) * e) T)))
  | AtMost e, Euclidean =>
      if 0 <=? e then High e (A * A * square m) (root_floor (floor_div (A * A * (unit_of h * unit_of h) * e) T))
      else Open
  | AtLeast e, _ => Low e (root_ceil (square m)) (floor_div (times_down h m (- (A * product_slope * e))) T)
  | AtMost e, _ => High e (root_ceil (square m)) (floor_div (times_down h m (A * product_slope * e)) T)
  end.

(** The radius R, from C and |Q|^2. *)
Definition radius (F C QQ : Z) : Z := root_ceil (Z.max 0 (ceil_div (F * QQ - A * C) F)).

(** Whether the claim follows for a prototype of which [x] is <Q, P>. *)
Definition low_follows (R QQ a b x : Z) : bool :=
  match head_geometry h with
  | Euclidean => (b + R) * (b + R) <=? a - 2 * A * x + QQ
  | _ => R * a - x <=? b
  end.
Definition high_follows (R QQ a b x : Z) : bool :=
  match head_geometry h with
  | Euclidean => (R <=? b) && (a - 2 * A * x + QQ <=? (b - R) * (b - R))
  | _ => R * a + x <=? b
  end.

Definition settled (R QQ : Z) (g : goal) (x : Z) (e : ends) : ends :=
  match g with
  | Open => e
  | Low v a b => if low_follows R QQ a b x then (raise (Some v) (fst e), snd e) else e
  | High v a b => if high_follows R QQ a b x then (fst e, cut (Some v) (snd e)) else e
  end.
End Run.

Fixpoint settle (step : goal -> Z -> ends -> ends) (goals : list goal) (xs : list Z) (r : row) : row :=
  match goals, xs, r with
  | g :: goals', x :: xs', e :: r' => step g x e :: settle step goals' xs' r'
  | _, _, _ => r
  end.

(** The goals of all prototypes. *)
Fixpoint claimed (h : head) (T A : Z) (ms : list measure) (cs : list claim) : list goal :=
  match ms, cs with m :: ms', c :: cs' => goal_of h T A m c :: claimed h T A ms' cs' | _, _ => nil end.

Lemma claimed_nth : forall h T A ms cs i d,
  (exists c, nth i (claimed h T A ms cs) Open = goal_of h T A (nth i ms d) c) \/
  nth i (claimed h T A ms cs) Open = Open.
Proof.
  intros h T A. induction ms as [|m ms IH]; intros [|c cs] [|i] d; try (right; reflexivity).
  - left. exists c. reflexivity.
  - apply IH.
Qed.

(** * Balls over the reals *)

Section Vectors.
Variable n : nat.

Lemma inner_two : forall a b u v w, inner n (fun d => a * u d + b * v d) w = a * inner n u w + b * inner n v w.
Proof. intros. rewrite inner_plus_l, !inner_scal_l. reflexivity. Qed.

Lemma inner_within : forall u v a b, 0 <= a -> 0 <= b -> inner n u u <= a * a -> inner n v v <= b * b ->
  - (a * b) <= inner n u v <= a * b.
Proof.
  intros u v a b Ha Hb Hu Hv. assert (W : Rabs (inner n u v) <= a * b).
  { eapply Rle_trans; [apply abs_inner_le|]. apply Rmult_le_compat; try apply sqrt_pos; apply sqrt_le; assumption. }
  assert (L := Rle_abs (inner n u v)). assert (U := Rle_abs (- inner n u v)). rewrite Rabs_Ropp in U. lra.
Qed.

Variables (y Q P : nat -> R) (A r : R).
Hypothesis r_nonneg : 0 <= r.
Let off (d : nat) := A * y d + (-1) * Q d.
Hypothesis in_ball : inner n off off <= r * r.

(** |A P - Q|^2 and |A y - A P|^2 *)
Let centre_square := A * A * inner n P P - 2 * A * inner n Q P + inner n Q Q.
Let square := A * A * (inner n y y - 2 * inner n y P + inner n P P).
Let to_centre (d : nat) := A * P d + (-1) * Q d.
Let to_point (d : nat) := A * y d + (-1) * (A * P d).

Lemma centre_square_is : inner n to_centre to_centre = centre_square.
Proof. unfold to_centre, centre_square. rewrite inner_square_of_sum, (inner_comm n P Q). ring. Qed.

Lemma square_is : inner n to_point to_point = square.
Proof.
  unfold to_point, square. rewrite (inner_square_of_sum n A (-1) y (fun d => A * P d)).
  rewrite inner_scal_l, !inner_scal_r. ring.
Qed.

Lemma products_of_differences :
  centre_square = inner n off off - 2 * inner n off to_point + square /\
  square = inner n off off - 2 * inner n off to_centre + centre_square.
Proof.
  assert (E : inner n off to_point = inner n off off - inner n off to_centre).
  { unfold inner. rewrite <- rsum_minus. apply rsum_ext. intros d _. unfold off, to_point, to_centre. ring. }
  assert (S : square = inner n off off - 2 * inner n off to_centre + centre_square).
  { rewrite <- square_is, <- centre_square_is.
    assert (X : inner n to_point to_point =
      inner n (fun d => 1 * off d + (-1) * to_centre d) (fun d => 1 * off d + (-1) * to_centre d)).
    { apply inner_ext; intros d _; unfold to_point, off, to_centre; ring. }
    rewrite X, inner_square_of_sum. ring. }
  split; [rewrite E, S; ring|exact S].
Qed.

Lemma outside : forall s, 0 <= s -> (s + r) * (s + r) <= centre_square -> s * s <= square.
Proof.
  intros s Hs H. destruct (Rle_dec (s * s) square) as [L|L]; [exact L|exfalso]. apply Rnot_le_lt in L.
  destruct products_of_differences as [E _].
  assert (W : - (r * s) <= inner n off to_point <= r * s) by (apply inner_within; auto; rewrite square_is; lra).
  lra.
Qed.

Lemma inside : forall s, r <= s -> centre_square <= (s - r) * (s - r) -> square <= s * s.
Proof.
  intros s Hs H. destruct products_of_differences as [_ E].
  assert (W : - (r * (s - r)) <= inner n off to_centre <= r * (s - r)).
  { apply inner_within; auto; [lra|]. rewrite centre_square_is. exact H. }
  lra.
Qed.

(** A <y, P> lies as far from <Q, P> as r |P| at most. *)
Lemma product_in_ball : forall size, 0 <= size -> inner n P P <= size * size ->
  - (r * size) <= A * inner n y P - inner n Q P <= r * size.
Proof.
  intros size Hs H. replace (A * inner n y P - inner n Q P) with (inner n off P).
  - apply inner_within; assumption.
  - unfold off. rewrite inner_two. ring.
Qed.
End Vectors.

(** * What follows *)

Section Sound.
Variable h : head.
Variables T A : Z.
Let D := depth h.
Variable v : nat -> R.
Variables (Q : nat -> R) (F C QQ : Z).
Hypothesis spatial_head : spatial h = true.
Hypothesis T_positive : (0 < T)%Z.
Hypothesis A_positive : (0 < A)%Z.
Hypothesis F_positive : (0 < F)%Z.
Hypothesis in_the_domain : patch_in_domain h v.
Let y := embedded h v.
Hypothesis fact : value D F y A Q C <= 0.
Hypothesis square_of_centre : IZR QQ = inner D Q Q.
Let r := IZR (radius A F C QQ).

Lemma radius_nonneg : 0 <= r.
Proof. apply IZR_nonneg, root_ceil_nonneg. Qed.

Lemma in_the_ball : inner D (fun d => IZR A * y d + (-1) * Q d) (fun d => IZR A * y d + (-1) * Q d) <= r * r.
Proof.
  apply IZR_pos in A_positive as PA. apply IZR_pos in F_positive as PF.
  rewrite inner_square_of_sum, <- square_of_centre. unfold value in fact.
  set (n := ceil_div (F * QQ - A * C) F).
  apply Rle_trans with (IZR n).
  - apply ceil_div_above; [exact F_positive|]. rewrite minus_IZR, !mult_IZR.
    apply (Rmult_le_compat_l (IZR A)) in fact; [|lra]. lra.
  - unfold r. rewrite <- mult_IZR. apply IZR_le.
    assert (N := root_ceil_square (Z.max 0 n) ltac:(lia)). unfold radius. fold n. lia.
Qed.

(** The form of the observable, and its size. *)
Lemma form : forall j m, measure_ok h j m ->
  value D 1 y (curvature h) (vector (points h j)) (constant h 1 (square m)) =
  IZR (slope h) * (size h j * observable h v j).
Proof.
  intros j m M. unfold y, D. rewrite (value_of_observable h spatial_head 1 v j (square m) in_the_domain).
  - ring.
  - exact (size_nonneg h j m M).
  - exact (proj1 M).
Qed.

Lemma distance_form : forall j m, measure_ok h j m -> head_geometry h = Euclidean ->
  inner D y y - 2 * inner D y (vector (points h j)) + inner D (vector (points h j)) (vector (points h j)) =
  IZR (unit_of h * unit_of h) * observable h v j.
Proof.
  intros j m M G. assert (E := form j m M). unfold value, curvature, constant, slope, size in E. rewrite G in E.
  rewrite mult_IZR, (proj1 M) in E. fold D in E. lra.
Qed.

Lemma product_form : forall j m, measure_ok h j m -> head_geometry h <> Euclidean ->
  inner D y (vector (points h j)) = IZR (product_slope h) * (size h j * observable h v j).
Proof.
  intros j m M G. assert (E := form j m M). unfold value, curvature, constant, slope, product_slope in *.
  destruct (head_geometry h); try congruence; rewrite !mult_IZR in *; lra.
Qed.

Lemma unit_square_positive : 0 < IZR (unit_of h * unit_of h).
Proof. apply IZR_pos. reflexivity. Qed.

Lemma low_distance : forall j m e x, measure_ok h j m -> head_geometry h = Euclidean ->
  IZR x = inner D Q (vector (points h j)) ->
  low_follows h A (radius A F C QQ) QQ (A * A * square m)
    (root_ceil (Z.max 0 (ceil_div (A * A * (unit_of h * unit_of h) * e) T))) x = true ->
  IZR e <= IZR T * observable h v j.
Proof.
  intros j m e x M G X H. unfold low_follows in H. rewrite G in H. apply Z.leb_le, IZR_le in H.
  set (n := ceil_div (A * A * (unit_of h * unit_of h) * e) T) in *. set (s := root_ceil (Z.max 0 n)) in *.
  rewrite !mult_IZR, !plus_IZR, minus_IZR, !mult_IZR, X, square_of_centre, (proj1 M) in H. fold r D in H.
  assert (O := outside D y Q (vector (points h j)) (IZR A) r radius_nonneg in_the_ball (IZR s)
    ltac:(apply IZR_nonneg, root_ceil_nonneg) ltac:(lra)).
  rewrite (distance_form j m M G) in O. set (k := IZR (unit_of h * unit_of h)) in *.
  assert (N : IZR n <= IZR s * IZR s).
  { rewrite <- mult_IZR. apply IZR_le. assert (R := root_ceil_square (Z.max 0 n) ltac:(lia)). fold s in R. lia. }
  assert (L := le_ceil_div (A * A * (unit_of h * unit_of h) * e) T T_positive). fold n in L.
  apply IZR_pos in T_positive as PT. apply IZR_pos in A_positive as PA. assert (K := unit_square_positive). fold k in K.
  assert (P : 0 < IZR A * IZR A * k) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption).
  assert (B : IZR (A * A * (unit_of h * unit_of h) * e) / IZR T <= IZR A * IZR A * (k * observable h v j)) by lra.
  apply (div_le_iff _ _ _ PT) in B. rewrite (mult_IZR (A * A * (unit_of h * unit_of h)) e), (mult_IZR (A * A)) in B.
  fold k in B. rewrite mult_IZR in B. apply (Rmult_le_reg_l (IZR A * IZR A * k)); [exact P|]. lra.
Qed.

Lemma high_distance : forall j m e x, measure_ok h j m -> head_geometry h = Euclidean -> (0 <= e)%Z ->
  IZR x = inner D Q (vector (points h j)) ->
  high_follows h A (radius A F C QQ) QQ (A * A * square m)
    (root_floor (floor_div (A * A * (unit_of h * unit_of h) * e) T)) x = true ->
  IZR T * observable h v j <= IZR e.
Proof.
  intros j m e x M G He X H. unfold high_follows in H. rewrite G in H. apply andb_prop in H as [HR H].
  apply Z.leb_le, IZR_le in HR, H.
  set (n := floor_div (A * A * (unit_of h * unit_of h) * e) T) in *. set (s := root_floor n) in *.
  rewrite !plus_IZR, !minus_IZR, !mult_IZR, X, square_of_centre, (proj1 M), !minus_IZR in H. fold r D in H, HR.
  assert (O := inside D y Q (vector (points h j)) (IZR A) r radius_nonneg in_the_ball (IZR s) HR ltac:(lra)).
  rewrite (distance_form j m M G) in O. set (k := IZR (unit_of h * unit_of h)) in *.
  assert (U : (0 < unit_of h * unit_of h)%Z) by reflexivity.
  assert (N0 : (0 <= n)%Z).
  { apply floor_div_nonneg; [|exact T_positive]. apply Z.mul_nonneg_nonneg; [|exact He].
    apply Z.mul_nonneg_nonneg; [apply Z.square_nonneg|lia]. }
  assert (N : IZR s * IZR s <= IZR n) by (rewrite <- mult_IZR; apply IZR_le, root_floor_square, N0).
  assert (L := floor_div_le (A * A * (unit_of h * unit_of h) * e) T T_positive). fold n in L.
  apply IZR_pos in T_positive as PT. apply IZR_pos in A_positive as PA. assert (K := unit_square_positive). fold k in K.
  assert (P : 0 < IZR A * IZR A * k) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption).
  assert (B : IZR A * IZR A * (k * observable h v j) <= IZR (A * A * (unit_of h * unit_of h) * e) / IZR T) by lra.
  apply (le_div_iff _ _ _ PT) in B. rewrite (mult_IZR (A * A * (unit_of h * unit_of h)) e), (mult_IZR (A * A)) in B.
  fold k in B. rewrite mult_IZR in B. apply (Rmult_le_reg_l (IZR A * IZR A * k)); [exact P|]. lra.
Qed.

Lemma product_near : forall j m x, measure_ok h j m -> IZR x = inner D Q (vector (points h j)) ->
  let most := r * IZR (root_ceil (square m)) in
  - most <= IZR A * inner D y (vector (points h j)) - IZR x <= most.
Proof.
  intros j m x M X. cbv zeta. rewrite X. apply product_in_ball; [exact radius_nonneg|exact in_the_ball| |].
  - apply IZR_nonneg, root_ceil_nonneg.
  - unfold D. rewrite <- (proj1 M), <- mult_IZR. apply IZR_le, root_ceil_square. apply le_IZR. rewrite (proj1 M).
    apply inner_square_nonneg.
Qed.

(** An integer [w] that is at most times_down of k e, over T, is at most k size e / T. *)
Lemma product_end : forall j m x k e, measure_ok h j m -> (x <= floor_div (times_down h m (k * e)) T)%Z ->
  IZR T * IZR x <= IZR k * IZR e * size h j.
Proof.
  intros j m x k e M H. apply IZR_le in H. assert (W := times_down_ok h j m (k * e) M). rewrite mult_IZR in W.
  assert (B := floor_div_le (times_down h m (k * e)) T T_positive). apply IZR_pos in T_positive as PT.
  assert (U : IZR x <= IZR (times_down h m (k * e)) / IZR T) by lra. apply (le_div_iff _ _ _ PT) in U. lra.
Qed.

Lemma low_product : forall j m e x, measure_ok h j m -> head_geometry h <> Euclidean ->
  IZR x = inner D Q (vector (points h j)) ->
  (radius A F C QQ * root_ceil (square m) - x <= floor_div (times_down h m (- (A * product_slope h) * e)) T)%Z ->
  IZR e <= IZR T * observable h v j.
Proof.
  intros j m e x M G X H. apply (product_end j) in H; [|exact M]. assert (N := product_near j m x M X). cbv zeta in N.
  rewrite (product_form j m M G) in N. assert (P := size_nonneg h j m M).
  rewrite minus_IZR, opp_IZR, !mult_IZR in H. fold r in H.
  apply IZR_pos in T_positive as PT. apply IZR_pos in A_positive as PA.
  assert (PS : 0 < IZR (product_slope h)).
  { apply IZR_pos. unfold product_slope. destruct (head_geometry h); reflexivity. }
  set (k := IZR A * IZR (product_slope h) * size h j).
  assert (K : 0 < k) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption).
  apply (Rmult_le_reg_l k); [exact K|]. unfold k in *.
  assert (Y : IZR T * (IZR x - r * IZR (root_ceil (square m))) <=
    IZR T * (IZR A * (IZR (product_slope h) * (size h j * observable h v j)))) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

Lemma high_product : forall j m e x, measure_ok h j m -> head_geometry h <> Euclidean ->
  IZR x = inner D Q (vector (points h j)) ->
  (radius A F C QQ * root_ceil (square m) + x <= floor_div (times_down h m (A * product_slope h * e)) T)%Z ->
  IZR T * observable h v j <= IZR e.
Proof.
  intros j m e x M G X H. apply (product_end j) in H; [|exact M]. assert (N := product_near j m x M X). cbv zeta in N.
  rewrite (product_form j m M G) in N. assert (P := size_nonneg h j m M).
  rewrite plus_IZR, !mult_IZR in H. fold r in H.
  apply IZR_pos in T_positive as PT. apply IZR_pos in A_positive as PA.
  assert (PS : 0 < IZR (product_slope h)).
  { apply IZR_pos. unfold product_slope. destruct (head_geometry h); reflexivity. }
  set (k := IZR A * IZR (product_slope h) * size h j).
  assert (K : 0 < k) by (apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat|]; assumption).
  apply (Rmult_le_reg_l k); [exact K|]. unfold k in *.
  assert (Y : IZR T * (IZR A * (IZR (product_slope h) * (size h j * observable h v j))) <=
    IZR T * (r * IZR (root_ceil (square m)) + IZR x)) by (apply Rmult_le_compat_l; lra).
  lra.
Qed.

(** * A claim is met, or nothing changes *)

Definition goal_right (j : nat) (g : goal) : Prop := forall x e, IZR x = inner D Q (vector (points h j)) ->
  within T e (observable h v j) -> within T (settled h A (radius A F C QQ) QQ g x e) (observable h v j).

Lemma goal_of_right : forall j m c, measure_ok h j m -> goal_right j (goal_of h T A m c).
Proof.
  intros j m c M x e X W.
  assert (low : forall w a b, goal_of h T A m c = Low w a b -> (low_follows h A (radius A F C QQ) QQ a b x = true ->
    IZR w <= IZR T * observable h v j) -> within T (settled h A (radius A F C QQ) QQ (goal_of h T A m c) x e)
      (observable h v j)).
  { intros w a b -> K. cbn [settled]. destruct (low_follows _ _ _ _ _ _ _); [|exact W].
    split; cbn [fst snd]; [|apply W]. apply raise_ok; [apply K; reflexivity|apply W]. }
  assert (high : forall w a b, goal_of h T A m c = High w a b -> (high_follows h A (radius A F C QQ) QQ a b x = true ->
    IZR T * observable h v j <= IZR w) -> within T (settled h A (radius A F C QQ) QQ (goal_of h T A m c) x e)
      (observable h v j)).
  { intros w a b -> K. cbn [settled]. destruct (high_follows _ _ _ _ _ _ _); [|exact W].
    split; cbn [fst snd]; [apply W|]. apply cut_ok; [apply K; reflexivity|apply W]. }
  assert (LD := low_distance j m). assert (HD := high_distance j m).
  assert (LP := low_product j m). assert (HP := high_product j m).
  destruct c as [|w|w]; [exact W| |].
  - destruct (head_geometry h) eqn:G;
      (eapply low; [unfold goal_of; rewrite G; reflexivity|]; intros K;
       first [apply (LD w x M eq_refl X); exact K
             |apply (LP w x M ltac:(discriminate) X); unfold low_follows in K; rewrite G in K; apply Z.leb_le in K;
              rewrite Z.mul_opp_l; exact K]).
  - destruct (head_geometry h) eqn:G;
      [destruct (0 <=? w)%Z eqn:S; [|unfold goal_of; rewrite G, S; exact W];
       eapply high; [unfold goal_of; rewrite G, S; reflexivity|]; intros K;
       apply (HD w x M eq_refl ltac:(apply Z.leb_le; exact S) X); exact K| | | |];
      (eapply high; [unfold goal_of; rewrite G; reflexivity|]; intros K;
       apply (HP w x M ltac:(discriminate) X); unfold high_follows in K; rewrite G in K; apply Z.leb_le in K; exact K).
Qed.

(** * All prototypes in turn *)

Lemma settle_length : forall step goals xs r, length (settle step goals xs r) = length r.
Proof. induction goals as [|g goals IH]; intros [|x xs] [|e own]; cbn [settle length]; auto. Qed.

Lemma settle_ok : forall goals xs own k, (forall i, (k + i < count h)%nat -> goal_right (k + i) (nth i goals Open)) ->
  (forall i, (k + i < count h)%nat -> IZR (nth i xs 0%Z) = inner D Q (vector (points h (k + i)))) ->
  (forall i, (k + i < count h)%nat -> within T (nth i own anything) (observable h v (k + i))) ->
  forall i, (k + i < count h)%nat ->
  within T (nth i (settle (settled h A (radius A F C QQ) QQ) goals xs own) anything) (observable h v (k + i)).
Proof.
  induction goals as [|g goals IH]; intros xs own k HG HX HR i Hi; [exact (HR i Hi)|].
  destruct xs as [|x xs]; [exact (HR i Hi)|]. destruct own as [|e own]; [exact (HR i Hi)|].
  destruct i as [|i]; cbn [settle nth].
  - apply (HG 0%nat Hi); [exact (HX 0%nat Hi)|exact (HR 0%nat Hi)].
  - replace (k + S i)%nat with (S k + i)%nat in * by lia. apply IH; try exact Hi; intros i' Hi';
      replace (S k + i')%nat with (k + S i')%nat in * by lia; 
      [exact (HG (S i') Hi')|exact (HX (S i') Hi')|exact (HR (S i') Hi')].
Qed.
End Sound.
