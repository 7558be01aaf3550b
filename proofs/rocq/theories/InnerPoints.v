(** Numbers that certainly are an observable at some point of the space that satisfies what is stated at a patch:
    those between the observables at two such points, which a hint names.

    A point is a vector of integers over S Y, where S is the unit of the coordinates and Y one of its own; of
    distances also the square of one coordinate more, over (S Y)^2. Its observables are X / (K |P|), with integers X
    and K, and |P| = 1 but for cosines, where it is enclosed. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics MinimalSemantics Sums Grid Root Boxes Embedding Coordinates Facts InnerDomain
  InnerSimplex InnerPooling InnerRange.
Import ListNotations.

(** * What runs *)

Record point := Point { place : list Z; lift : Z }.

(** Untrusted: Y, some points, and for each prototype which two of them. *)
Record patch_points := PatchPoints {
  point_unit : positive;
  points_of : list point;
  chosen : list (nat * nat)
}.

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (c : certificate) (T : Z) (ms : list measure) (Y : positive).
Let S := unit_of h.
Let y := Zpos Y.

Fixpoint square_of_difference (v w : list Z) : Z :=
  match v, w with a :: v', b :: w' => let x := a - y * b in x * x + square_of_difference v' w' | _, _ => 0 end.

(** X and K *)
Definition numerator_at (pt : point) (p : list Z) : Z :=
  match head_geometry h with
  | Euclidean => square_of_difference (place pt) p + lift pt
  | _ => zdot (place pt) p
  end.
Definition common_divisor : Z :=
  match head_geometry h with
  | Euclidean => S * S * (y * y)
  | Cosine _ | RootedCosine _ => S * y
  | _ => S * S * y
  end.

(** Whether X / (K |P|) is at least, and at most, n / d *)
Definition surely_least (m : measure) (X n d : Z) : bool :=
  n * (common_divisor * (if 0 <=? X then far m else near m)) <=? X * root_unit h * d.
Definition surely_most (m : measure) (X n d : Z) : bool :=
  X * root_unit h * d <=? n * (common_divisor * (if 0 <=? X then near m else far m)).

Definition satisfied (pt : point) (e : (list Z * measure) * (option Z * option Z)) : bool :=
  let '((p, m), (lo, hi)) := e in
  let X := numerator_at pt p in
  let u := Zpos (statement_unit c) in
  match lo with Some a => surely_least m X a u | None => true end &&
  match hi with Some b => surely_most m X b u | None => true end.

(** Balls as in [balls]: about 0, and about the middle of the box *)
Definition in_radius (r : fraction) (v : list Z) : bool :=
  zdot v v * (Zpos (denominator r) * Zpos (denominator r)) <=? numerator r * numerator r * (S * y * (S * y)).
Definition in_box_ball (a b : Z) (v : list Z) : bool :=
  zsum (map (fun x => let e := 2 * x - y * (a + b) in e * e) v) <=? Z.of_nat (depth h) * ((b - a) * (b - a)) * (y * y).
Definition radius_is_smaller (r : fraction) (a b : Z) : bool :=
  4 * (numerator r * numerator r) * (S * S) <=?
  Z.of_nat (depth h) * ((b - a) * (b - a)) * (Zpos (denominator r) * Zpos (denominator r)).

Definition in_the_space (pt : point) : bool :=
  Nat.eqb (length (place pt)) (depth h) &&
  match head_geometry h with
  | Euclidean => 0 <=? lift pt
  | Cosine _ | RootedCosine _ => in_radius (Fraction 1 1) (place pt)
  | InnerProduct radius =>
      match radius, lower h, upper h with
      | Some r, Some a, Some b =>
          if radius_is_smaller r a b then in_radius r (place pt) else in_box_ball a b (place pt)
      | Some r, _, _ => in_radius r (place pt)
      | None, Some a, Some b => in_box_ball a b (place pt)
      | None, _, _ => false
      end
  | Softmax => false
  end.

Definition stated_here (l : nat) : list ((list Z * measure) * (option Z * option Z)) :=
  map (fun e => ((points h (fst e), nth (fst e) ms (Measure 0 0 1 1)), snd e)) (stated_at l (statements c)).

Definition serves (stated : list ((list Z * measure) * (option Z * option Z))) (pt : point) : bool :=
  in_the_space pt && forallb (satisfied pt) stated.

(** T times the observable at a point *)
Definition observed (m : measure) (p : list Z) (pt : point) : Z * Z :=
  let X := numerator_at pt p in
  (floor_div (T * X * root_unit h) (common_divisor * (if 0 <=? X then far m else near m)),
   ceil_div (T * X * root_unit h) (common_divisor * (if 0 <=? X then near m else far m))).

(** A number of the domain's range between two observables: the first one, or else the least, and the second one, or
    else the greatest. *)
Definition low_between (own e f : Z * Z) : option (Z * Z) :=
  if (fst own <=? fst e) && (snd e <=? snd own) then Some e else
  let t := Z.max (fst own) (snd e) in if t <=? Z.min (snd own) (fst f) then Some (t, t) else None.
Definition high_between (own e f : Z * Z) : option (Z * Z) :=
  if (fst own <=? fst f) && (snd f <=? snd own) then Some f else
  let t := Z.min (snd own) (fst f) in if Z.max (fst own) (snd e) <=? t then Some (t, t) else None.

(** The points of a hint that serve, each in its place; they are checked once. *)
Definition serving (stated : list ((list Z * measure) * (option Z * option Z))) (pts : list point) : list (option
  point) :=
  map (fun pt => if serves stated pt then Some pt else None) pts.

Definition entry_of_points (pts : list (option point))
  (e : (option (Z * Z) * (nat * nat)) * (list Z * measure)) : option inner_entry :=
  let '((own, (a, b)), (p, m)) := e in
  match nth a pts None, nth b pts None, own with
  | Some first, Some second, Some own =>
      let low := observed m p first in
      let high := if Nat.eqb a b then low else observed m p second in
      match low_between own low high, high_between own low high with Some x, Some y => Some (x, y) | _, _ => None end
  | _, _, _ => None
  end.
End Run.

(** None of each prototype if there are not as many choices. *)
Definition inner_points_row (h : head) (c : certificate) (T : Z) (free : list (option (Z * Z))) (ms : list measure)
  (l : nat) (hint : patch_points) : list (option inner_entry) :=
  let stated := stated_here h c ms l in
  if Nat.eqb (length (chosen hint)) (count h) && forallb (fun e => Nat.ltb (fst e) (count h)) (stated_at l
    (statements c))
  then
    let pts := serving h c (point_unit hint) stated (points_of hint) in
    map (entry_of_points h T (point_unit hint) pts) (combine (combine free (chosen hint)) (combine (prototypes h) ms))
  else map (fun _ => None) free.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (c : certificate) (T : Z) (ms : list measure) (Y : positive).
Hypothesis HT : (0 < T)%Z.
Hypothesis measured : measures h = Some ms.
Let S := IZR (unit_of h).
Let y := IZR (Zpos Y).
Let D := depth h.
Let RT : 0 < IZR T := IZR_pos T HT.
Let PS : 0 < S. Proof. apply unit_positive. Qed.
Let PY : 0 < y. Proof. apply unit_positive. Qed.

Definition vector_of (pt : point) (d : nat) : R :=
  if Nat.eqb d D then sqrt (IZR (lift pt)) / (S * y) else IZR (nth d (place pt) 0%Z) / (S * y).

Lemma vector_below : forall pt d, (d < D)%nat -> vector_of pt d = vector (place pt) d / (S * y).
Proof. intros pt d H. unfold vector_of. destruct (Nat.eqb_spec d D); [lia|reflexivity]. Qed.

Lemma dot_of_point : forall pt p, (length (place pt) <= D)%nat ->
  dot h (vector_of pt) (fun d => / S * vector p d) = IZR (zdot (place pt) p) / (S * S * y).
Proof.
  intros pt p L. rewrite (zdot_real D) by exact L. unfold dot, inner. unfold Rdiv. rewrite Rmult_comm, <- rsum_scal.
  apply rsum_ext. intros d Hd. rewrite vector_below by exact Hd. field. lra.
Qed.

Lemma measures_here : forall j, (j < count h)%nat ->
  length (points h j) = D /\ measure_ok h j (nth j ms (Measure 0 0 1 1)).
Proof. intros j Hj. destruct (measures_ok h ms measured) as (_ & _ & L & O). split; [apply L|apply O]; exact Hj. Qed.

(** ** Observables at points *)

Lemma square_of_difference_is : forall v w, square_of_difference Y v w =
  zsum (map (fun d => let x := (fst d - Zpos Y * snd d)%Z in (x * x)%Z) (combine v w)).
Proof.
  induction v as [|a v IH]; intros [|b w]; cbn [square_of_difference combine map zsum fst snd]; try reflexivity.
  rewrite IH. reflexivity.
Qed.

Lemma numerator_right : forall pt j, in_the_space h Y pt = true -> (j < count h)%nat ->
  IZR (common_divisor h Y) * (size h j * observable_at h (vector_of pt) j) = IZR (numerator_at h Y pt (points h j)).
Proof.
  intros pt j I Hj. destruct (measures_here j Hj) as [L O]. apply andb_prop in I as [E I]. apply Nat.eqb_eq in E.
  fold D in E.
  assert (P := size_nonneg h j _ O). unfold observable_at, common_divisor, numerator_at, size in *.
  replace (coord h j) with (fun d => / S * vector (points h j) d) by
    (symmetry; apply FunctionalExtensionality.functional_extensionality; intros d; apply coord_vector).
  destruct (head_geometry h).
  - apply Z.leb_le, IZR_le in I. rewrite Rmult_1_l, !mult_IZR, plus_IZR. fold S y.
    assert (X : IZR (square_of_difference Y (place pt) (points h j)) =
      rsum D (fun d => (vector (place pt) d - y * vector (points h j) d) * (vector (place pt) d - y * vector (points h
        j) d))).
    { rewrite square_of_difference_is, (zsum_real D) by (rewrite map_length, combine_length; lia). apply rsum_ext.
      intros d Hd. unfold vector at 1.
      rewrite (nth_indep _ 0%Z ((fun d => let x := (fst d - Zpos Y * snd d)%Z in (x * x)%Z) (0, 0)%Z))
        by (rewrite map_length, combine_length; lia).
      rewrite (map_nth (fun d => let x := (fst d - Zpos Y * snd d)%Z in (x * x)%Z)), combine_nth by congruence.
      cbn [fst snd]. cbv zeta. rewrite mult_IZR, minus_IZR, mult_IZR. reflexivity. }
    rewrite X, Rmult_plus_distr_l, <- rsum_scal. f_equal.
    + apply rsum_ext. intros d Hd. rewrite vector_below by exact Hd. field. lra.
    + unfold vector_of. fold D. rewrite Nat.eqb_refl. set (r := sqrt (IZR (lift pt))).
      replace (S * S * (y * y) * (r / (S * y) * (r / (S * y)))) with (r * r) by (field; lra).
      apply sqrt_sqrt. exact I.
  - rewrite dot_of_point by lia. assert (N := norm_coord h j). fold S in N.
    replace (norm h (fun d => / S * vector (points h j) d)) with (norm h (coord h j)) by
      (f_equal; apply FunctionalExtensionality.functional_extensionality; intros d; apply coord_vector).
    rewrite N, mult_IZR. fold S y. field. lra.
  - rewrite dot_of_point by lia. assert (N := norm_coord h j). fold S in N.
    replace (norm h (fun d => / S * vector (points h j) d)) with (norm h (coord h j)) by
      (f_equal; apply FunctionalExtensionality.functional_extensionality; intros d; apply coord_vector).
    rewrite N, mult_IZR. fold S y. field. lra.
  - rewrite dot_of_point by lia. rewrite !mult_IZR. fold S y. field. lra.
  - discriminate.
Qed.

Lemma divisor_positive : (0 < common_divisor h Y)%Z.
Proof. unfold common_divisor. destruct (head_geometry h); reflexivity. Qed.

(** With r the unit of sizes, r X between the enclosed multiples of the observable o *)
Lemma enclosed : forall j m X o, measure_ok h j m -> IZR (common_divisor h Y) * (size h j * o) = IZR X ->
  IZR (common_divisor h Y) * IZR (if (0 <=? X)%Z then near m else far m) * o <= IZR X * IZR (root_unit h) <=
  IZR (common_divisor h Y) * IZR (if (0 <=? X)%Z then far m else near m) * o /\
  0 < IZR (common_divisor h Y) * IZR (if (0 <=? X)%Z then near m else far m) /\
  0 < IZR (common_divisor h Y) * IZR (if (0 <=? X)%Z then far m else near m).
Proof.
  intros j m X o (_ & _ & P & N & F) E. assert (K := IZR_pos _ divisor_positive). assert (R := root_unit_positive h).
  assert (PF : 0 < IZR (far m)) by lra. assert (Q : 0 < size h j).
  { apply (Rmult_lt_reg_l (IZR (root_unit h))); lra. }
  set (k := IZR (common_divisor h Y)) in *. set (r := IZR (root_unit h)) in *. rewrite <- E.
  assert (KN : 0 < k * IZR (near m)) by (apply Rmult_lt_0_compat; assumption).
  assert (KF : 0 < k * IZR (far m)) by (apply Rmult_lt_0_compat; assumption).
  destruct (0 <=? X)%Z eqn:C.
  - apply Z.leb_le, IZR_le in C. assert (O : 0 <= o).
    { rewrite <- E in C. destruct (Rle_dec 0 o) as [|NO]; [assumption|]. exfalso.
      assert (k * (size h j * o) < 0); [|lra]. assert (0 < k * size h j) by (apply Rmult_lt_0_compat; assumption).
      nra. }
    repeat split; try assumption.
    + replace (k * (size h j * o) * r) with (k * (r * size h j) * o) by ring.
      apply Rmult_le_compat_r; [exact O|]. apply Rmult_le_compat_l; lra.
    + replace (k * (size h j * o) * r) with (k * (r * size h j) * o) by ring.
      apply Rmult_le_compat_r; [exact O|]. apply Rmult_le_compat_l; lra.
  - apply Z.leb_gt, IZR_lt in C. assert (O : o <= 0).
    { rewrite <- E in C. destruct (Rle_dec o 0) as [|NO]; [assumption|]. exfalso.
      assert (0 < k * size h j) by (apply Rmult_lt_0_compat; assumption). nra. }
    repeat split; try assumption.
    + replace (k * (size h j * o) * r) with (k * (r * size h j) * o) by ring. rewrite !(Rmult_comm _ o).
      apply Rmult_le_compat_neg_l; [exact O|]. apply Rmult_le_compat_l; lra.
    + replace (k * (size h j * o) * r) with (k * (r * size h j) * o) by ring. rewrite !(Rmult_comm _ o).
      apply Rmult_le_compat_neg_l; [exact O|]. apply Rmult_le_compat_l; lra.
Qed.

Lemma surely_least_ok : forall j m X o n d, measure_ok h j m -> IZR (common_divisor h Y) * (size h j * o) = IZR X ->
  surely_least h Y m X n (Zpos d) = true -> q n d <= o.
Proof.
  intros j m X o n d M E H. destruct (enclosed j m X o M E) as ([_ U] & _ & P).
  apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H. assert (Pd := unit_positive d).
  unfold q. apply div_le_iff; [exact Pd|].
  apply (Rmult_le_reg_l (IZR (common_divisor h Y) * IZR (if (0 <=? X)%Z then far m else near m)));
    [exact P|]. apply (Rmult_le_compat_r (IZR (Zpos d))) in U; lra.
Qed.

Lemma surely_most_ok : forall j m X o n d, measure_ok h j m -> IZR (common_divisor h Y) * (size h j * o) = IZR X ->
  surely_most h Y m X n (Zpos d) = true -> o <= q n d.
Proof.
  intros j m X o n d M E H. destruct (enclosed j m X o M E) as ([L _] & P & _).
  apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H. assert (Pd := unit_positive d).
  unfold q. apply le_div_iff; [exact Pd|].
  apply (Rmult_le_reg_l (IZR (common_divisor h Y) * IZR (if (0 <=? X)%Z then near m else far m)));
    [exact P|]. apply (Rmult_le_compat_r (IZR (Zpos d))) in L; lra.
Qed.

(** ** The space *)

Lemma in_radius_ok : forall r pt, length (place pt) = D -> in_radius h Y r (place pt) = true ->
  in_ball h (vector_of pt) (0, real r * real r).
Proof.
  intros r pt L H. unfold in_ball. cbn [fst snd]. apply Z.leb_le, IZR_le in H. rewrite !mult_IZR in H.
  rewrite (zdot_real D) in H by lia. fold S y in H. assert (P := unit_positive (denominator r)).
  set (d := IZR (Zpos (denominator r))) in *. assert (K : 0 < S * y) by (apply Rmult_lt_0_compat; assumption).
  fold D. rewrite (rsum_ext D _ (fun i => / (S * y) * / (S * y) * (vector (place pt) i * vector (place pt) i))).
  2: { intros i Hi. rewrite vector_below by exact Hi. field. lra. }
  rewrite rsum_scal. change (rsum D (fun i => vector (place pt) i * vector (place pt) i)) with
    (inner D (vector (place pt)) (vector (place pt))). set (x := inner _ _ _) in *.
  replace (/ (S * y) * / (S * y) * x) with (x / (S * y * (S * y))) by (field; lra).
  apply div_le_iff; [apply Rmult_lt_0_compat; exact K|]. unfold real, q. fold d.
  replace (S * y * (S * y) * (IZR (numerator r) / d * (IZR (numerator r) / d))) with
    (IZR (numerator r) * IZR (numerator r) * (S * y * (S * y)) / (d * d)) by (field; lra).
  apply le_div_iff; [apply Rmult_lt_0_compat; exact P|]. lra.
Qed.

Lemma in_box_ball_ok : forall a b pt, length (place pt) = D -> in_box_ball h Y a b (place pt) = true ->
  in_ball h (vector_of pt) ((q a (coord_unit h) + q b (coord_unit h)) / 2,
    INR D * ((q b (coord_unit h) - q a (coord_unit h)) / 2 * ((q b (coord_unit h) - q a (coord_unit h)) / 2))).
Proof.
  intros a b pt L H. unfold in_ball. cbn [fst snd]. apply Z.leb_le, IZR_le in H.
  rewrite (zsum_map_real D) in H by exact L. rewrite !mult_IZR, minus_IZR, <- INR_IZR_INZ in H. fold y D in H.
  unfold q. change (IZR (Zpos (coord_unit h))) with S. assert (K : 0 < S * y) by (apply Rmult_lt_0_compat; assumption).
  fold D. rewrite (rsum_ext D _ (fun i => / (2 * (S * y)) * / (2 * (S * y)) *
    IZR (let e := (2 * nth i (place pt) 0 - Zpos Y * (a + b))%Z in (e * e)%Z))).
  2: { intros i Hi. rewrite vector_below by exact Hi. cbv zeta. rewrite mult_IZR, minus_IZR, !mult_IZR, plus_IZR.
    fold y.
       unfold vector. field. lra. }
  rewrite rsum_scal. set (x := rsum D _) in *.
  replace (/ (2 * (S * y)) * / (2 * (S * y)) * x) with (x / (2 * (S * y) * (2 * (S * y)))) by (field; lra).
  apply div_le_iff; [nra|].
  replace (2 * (S * y) * (2 * (S * y)) * (INR D * ((IZR b / S - IZR a / S) / 2 * ((IZR b / S - IZR a / S) / 2)))) with
    (INR D * ((IZR b - IZR a) * (IZR b - IZR a)) * (y * y)) by (field; lra). exact H.
Qed.

Lemma radius_is_smaller_ok : forall r a b, radius_is_smaller h r a b = true <->
  real r * real r <=
  INR D * ((q b (coord_unit h) - q a (coord_unit h)) / 2 * ((q b (coord_unit h) - q a (coord_unit h)) / 2)).
Proof.
  intros r a b. unfold radius_is_smaller. rewrite Z.leb_le. assert (P := unit_positive (denominator r)).
  unfold real, q. change (IZR (Zpos (coord_unit h))) with S. set (d := IZR (Zpos (denominator r))) in *.
  replace (IZR (numerator r) / d * (IZR (numerator r) / d)) with (IZR (numerator r) * IZR (numerator r) / (d * d)) by
    (field; lra).
  replace (INR D * ((IZR b / S - IZR a / S) / 2 * ((IZR b / S - IZR a / S) / 2))) with
    (INR D * ((IZR b - IZR a) * (IZR b - IZR a)) / (4 * (S * S))) by (field; lra).
  rewrite le_div_iff by nra. replace (4 * (S * S) * (IZR (numerator r) * IZR (numerator r) / (d * d))) with
    (4 * (IZR (numerator r) * IZR (numerator r)) * (S * S) / (d * d)) by (field; lra).
  rewrite div_le_iff by (apply Rmult_lt_0_compat; exact P).
  assert (E1 : IZR (4 * (numerator r * numerator r) * (unit_of h * unit_of h)) =
    4 * (IZR (numerator r) * IZR (numerator r)) * (S * S)) by (rewrite !mult_IZR; reflexivity).
  assert (E2 : IZR (Z.of_nat (depth h) * ((b - a) * (b - a)) * (Zpos (denominator r) * Zpos (denominator r))) =
    d * d * (INR D * ((IZR b - IZR a) * (IZR b - IZR a)))).
  { rewrite !mult_IZR, minus_IZR, <- INR_IZR_INZ. fold d D. ring. }
  rewrite <- E1, <- E2. split; [apply IZR_le|apply le_IZR].
Qed.

Lemma in_the_space_ok : forall pt, in_the_space h Y pt = true -> in_space h (vector_of pt).
Proof.
  intros pt H. apply andb_prop in H as [L H]. apply Nat.eqb_eq in L. fold D in L. unfold in_space.
  assert (one : real (Fraction 1 1) * real (Fraction 1 1) = 1) by (unfold real, q; cbn; field).
  destruct (head_geometry h) as [|e|e|radius|]; [exact I| | | |discriminate].
  - rewrite <- one. apply in_radius_ok; assumption.
  - rewrite <- one. apply in_radius_ok; assumption.
  - unfold balls. assert (B := fun a b => in_box_ball_ok a b pt L). assert (R := fun r => in_radius_ok r pt L).
    destruct radius as [r|], (lower h) as [a|], (upper h) as [b|]; cbn [option_map app in_smallest]; try discriminate;
      auto.
    cbn [fst snd]. destruct (radius_is_smaller h r a b) eqn:E.
    + apply radius_is_smaller_ok in E. destruct (Rle_dec _ _); [auto|contradiction].
    + destruct (Rle_dec _ _) as [C|C]; [|auto]. apply radius_is_smaller_ok in C. congruence.
Qed.

(** ** Rows *)

Lemma serves_ok : forall l pt, forallb (fun e => Nat.ltb (fst e) (count h)) (stated_at l (statements c)) = true ->
  serves h c Y (stated_here h c ms l) pt = true -> in_space h (vector_of pt) /\ satisfies h c l (vector_of pt).
Proof.
  intros l pt B H. apply andb_prop in H as [Sp F]. split; [exact (in_the_space_ok pt Sp)|].
  intros j lo hi J. apply stated_at_all in J. rewrite forallb_forall in B, F. assert (Hj := B _ J).
  apply Nat.ltb_lt in Hj.
  cbn [fst] in Hj. destruct (measures_here j Hj) as [_ M]. assert (E := numerator_right pt j Sp Hj).
  apply (in_map (fun e => ((points h (fst e), nth (fst e) ms (Measure 0 0 1 1)), snd e))), F in J.
  cbn [fst snd satisfied] in J. apply andb_prop in J as [J1 J2]. split.
  - destruct lo as [a|]; [|exact I]. exact (surely_least_ok j _ _ _ a _ M E J1).
  - destruct hi as [b|]; [|exact I]. exact (surely_most_ok j _ _ _ b _ M E J2).
Qed.

Lemma observed_ok : forall j pt, in_the_space h Y pt = true -> (j < count h)%nat ->
  encloses T (observed h T Y (nth j ms (Measure 0 0 1 1)) (points h j) pt) (observable_at h (vector_of pt) j).
Proof.
  intros j pt I Hj. destruct (measures_here j Hj) as [_ M]. set (m := nth j ms (Measure 0 0 1 1)) in *.
  destruct (enclosed j m _ _ M (numerator_right pt j I Hj)) as ([L U] & P & Q). rewrite <- mult_IZR in P, Q.
  apply lt_IZR in P, Q. split; cbn [observed fst snd].
  - apply floor_div_below; [exact Q|]. rewrite !mult_IZR. apply (Rmult_le_compat_l (IZR T)) in U; [|lra]. lra.
  - apply ceil_div_above; [exact P|]. rewrite !mult_IZR. apply (Rmult_le_compat_l (IZR T)) in L; [|lra]. lra.
Qed.

Lemma number_between : forall own e f x1 x2 t (Q Q' : R -> Prop),
  all_within T own Q -> encloses T e x1 -> encloses T f x2 ->
  (forall z, x1 <= z <= x2 -> Q' z) -> (Z.max (fst own) (snd e) <= t <= Z.min (snd own) (fst f))%Z ->
  some_number T (t, t) (fun z => Q z /\ Q' z).
Proof.
  intros own e f x1 x2 t Q Q' O [_ Ex] [Fy _] K [L H]. exists (IZR t / IZR T). split; [|apply integer_within; exact HT].
  assert (E : IZR T * (IZR t / IZR T) = IZR t) by (field; lra).
  assert (A : IZR (fst own) <= IZR t) by (apply IZR_le; lia).
  assert (B : IZR t <= IZR (snd own)) by (apply IZR_le; lia).
  assert (C : IZR (snd e) <= IZR t) by (apply IZR_le; lia). assert (D' : IZR t <= IZR (fst f)) by (apply IZR_le; lia).
  split; [apply O; rewrite E; lra|]. apply K. split; apply (Rmult_le_reg_l (IZR T)); lra.
Qed.

Lemma between_ok : forall own e f x1 x2 (Q Q' : R -> Prop) a b,
  all_within T own Q -> encloses T e x1 -> encloses T f x2 ->
  Q' x1 -> Q' x2 -> (forall z, x1 <= z <= x2 -> Q' z) -> low_between own e f = Some a ->
    high_between own e f = Some b ->
  entry_right T (fun z => Q z /\ Q' z) (a, b).
Proof.
  intros own e f x1 x2 Q Q' a b O Ex Fy Qx Qy K A B. unfold low_between in A. unfold high_between in B.
  cbv zeta in A, B.
  assert (inside : forall g z, (fst own <=? fst g)%Z && (snd g <=? snd own)%Z = true -> encloses T g z -> Q z).
  { intros g z C [G1 G2]. apply andb_prop in C as [C1 C2]. apply Z.leb_le, IZR_le in C1, C2. apply O. lra. }
  split; cbn [fst snd].
  - destruct (_ && _) eqn:C in A.
    + injection A as <-. exists x1. split; [split; [exact (inside e x1 C Ex)|exact Qx]|exact Ex].
    + destruct (_ <=? _)%Z eqn:C' in A; [|discriminate]. injection A as <-. apply Z.leb_le in C'.
      apply (number_between own e f x1 x2); auto. lia.
  - destruct (_ && _) eqn:C in B.
    + injection B as <-. exists x2. split; [split; [exact (inside f x2 C Fy)|exact Qy]|exact Fy].
    + destruct (_ <=? _)%Z eqn:C' in B; [|discriminate]. injection B as <-. apply Z.leb_le in C'.
      apply (number_between own e f x1 x2); auto. lia.
Qed.
End Sound.

Lemma serving_ok : forall h c Y stated pts a pt, nth a (serving h c Y stated pts) None = Some pt ->
  serves h c Y stated pt = true.
Proof.
  intros h c Y stated pts. unfold serving. induction pts as [|q pts IH]; intros [|a] pt H; cbn [map nth] in H;
    try discriminate; [|exact (IH a pt H)].
  destruct (serves h c Y stated q) eqn:S; [|discriminate]. injection H as <-. exact S.
Qed.

Theorem inner_points_row_ok : forall h c T ms free l hint j e, (0 < T)%Z -> measures h = Some ms ->
  length free = count h -> (j < count h)%nat ->
  (forall e, nth j free None = Some e -> all_within T e (domain_range h j)) ->
  nth j (inner_points_row h c T free ms l hint) None = Some e -> entry_right T (reference_range h c l j) e.
Proof.
  intros h c T ms free l hint j e HT M L Hj Own H. unfold inner_points_row in H.
  destruct (_ && _) eqn:C.
  2: { assert (none : forall (r : list (option (Z * Z))) i, nth i (map (fun _ => @None inner_entry) r) None = None)
         by (induction r; destruct i; cbn; auto).
       rewrite none in H. discriminate. }
  apply andb_prop in C as [Lp B]. apply Nat.eqb_eq in Lp. set (Y := point_unit hint) in *.
  set (pts := serving h c Y (stated_here h c ms l) (points_of hint)) in H. cbv zeta in H.
  set (f := entry_of_points h T Y pts) in H.
  assert (LP : length (prototypes h) = count h).
  { unfold measures in M. destruct (_ && _) eqn:E in M; [|discriminate].
    apply andb_prop in E as [E _]. apply andb_prop in E as [E _]. apply andb_prop in E as [_ E].
    apply Nat.eqb_eq in E. rewrite map_length in E. exact E. }
  assert (LM := proj1 (proj2 (measures_ok h ms M))).
  set (d := ((@None (Z * Z), (O, O)), (@nil Z, Measure 0 0 1 1))).
  rewrite (nth_indep _ None (f d)) in H by (rewrite map_length, !combine_length; lia).
  rewrite map_nth in H. unfold d in H. rewrite !combine_nth in H by (rewrite ?combine_length; lia).
  fold (points h j) in H. unfold f, entry_of_points in H. destruct (nth j (chosen hint) (O, O)) as [n1 n2].
  destruct (nth n1 pts None) as [first|] eqn:S1; [|discriminate].
  destruct (nth n2 pts None) as [second|] eqn:S2; [|discriminate].
  destruct (nth j free None) as [own|] eqn:O; [|discriminate]. specialize (Own own eq_refl). cbv zeta in H.
  assert (same : (if Nat.eqb n1 n2 then observed h T Y (nth j ms (Measure 0 0 1 1)) (points h j) first
                  else observed h T Y (nth j ms (Measure 0 0 1 1)) (points h j) second) =
                 observed h T Y (nth j ms (Measure 0 0 1 1)) (points h j) second).
  { destruct (Nat.eqb_spec n1 n2) as [E|E]; [|reflexivity]. rewrite E in S1. congruence. }
  rewrite same in H. clear same. apply serving_ok in S1, S2.
  assert (I1 := S1). assert (I2 := S2). apply andb_prop in I1 as [I1 _], I2 as [I2 _].
  apply (serves_ok h c ms Y M) in S1, S2; try exact B.
  assert (E1 := observed_ok h T ms Y HT M j first I1 Hj).
  assert (E2 := observed_ok h T ms Y HT M j second I2 Hj).
  set (x := observable_at h (vector_of h Y first) j) in *.
  set (y := observable_at h (vector_of h Y second) j) in *.
  destruct (low_between _ _ _) as [a|] eqn:A1; [|discriminate].
  destruct (high_between _ _ _) as [b|] eqn:A2; [|discriminate].
  injection H as <-.
  assert (mx : exists v, in_space h v /\ satisfies h c l v /\ x = observable_at h v j) by (exists (vector_of h Y
    first); tauto).
  assert (my : exists v, in_space h v /\ satisfies h c l v /\ y = observable_at h v j) by (exists (vector_of h Y
    second); tauto).
  assert (K : forall z, x <= z <= y -> range_given h c l j z).
  { intros z Z ep He. split; [exists x|exists y]; (split; [assumption|lra]). }
  assert (one : forall z, (exists v,
    in_space h v /\ satisfies h c l v /\ z = observable_at h v j) -> range_given h c l j z).
  { intros z Z ep He. split; exists z; (split; [exact Z|lra]). }
  destruct (between_ok h T HT own _ _ x y (domain_range h j) (range_given h c l j) a b Own E1 E2 (one x mx) (one y my)
    K A1 A2)
    as [(z & [D1 G1] & Z1) (w & [D2 G2] & Z2)].
  split; [exists z|exists w]; (split; [split; [assumption|intros _; assumption]|assumption]).
Qed.
