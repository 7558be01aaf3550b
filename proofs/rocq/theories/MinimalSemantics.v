(** What claim 3, minimality, says, over the real numbers: "No statement can be dropped."

    It is to be read after [Semantics.v], and believed as that is. It renders "The reference argument", "Reference
    ranges" and "Minimality" of [certificates/v1.md]. *)

From Coq Require Import Reals ZArith List.
From Verale Require Import Semantics.
Import ListNotations.
Open Scope R_scope.

(** Ranges are closed, and each is given by the numbers in it. The range [inf, sup] of a set has the numbers that the
    set exceeds and falls short of by as little as one likes; it is empty if the set is. *)
Definition range_of (S : R -> Prop) (x : R) : Prop :=
  forall e, 0 < e -> (exists a, S a /\ a <= x + e) /\ (exists b, S b /\ x - e <= b).

Section Reference.
(** "For each s in E, let E' be E without s." The statements of [c] are those of E'. *)
Variables (h : head) (c : certificate).

Let D := depth h.
Let P := count h.
Let u := statement_unit c.
Let low : option R := option_map (fun a => q a (coord_unit h)) (lower h).
Let high : option R := option_map (fun b => q b (coord_unit h)) (upper h).

(** * Stage 1: the observables of one patch *)

(** "Write y for what its statements speak of". Of euclidean heads y has "one coordinate more than latents have, 0 in
    every prototype", which is coordinate D. *)
Definition observable_at (y : nat -> R) (j : nat) : R :=
  match head_geometry h with
  | Euclidean => rsum D (fun d => (y d - coord h j d) * (y d - coord h j d)) + y D * y D
  | Cosine _ | RootedCosine _ => dot h y (coord h j) / norm h (coord h j)
  | InnerProduct _ => dot h y (coord h j)
  | Softmax => y j
  end.

(** "inner product: the smaller of two balls, of equal ones the first: about 0 with radius R, if there is one; about
    ((lower + upper) / 2, ...) with squared radius D ((upper - lower) / 2)^2, if both ends are there". A ball is the
    number that is every coordinate of its centre, and its squared radius. *)
Definition balls (radius : option fraction) : list (R * R) :=
  match radius with Some r => [(0, real r * real r)] | None => nil end ++
  match low, high with
  | Some a, Some b => [((a + b) / 2, INR D * ((b - a) / 2 * ((b - a) / 2)))]
  | _, _ => nil
  end.
Definition in_ball (y : nat -> R) (ball : R * R) : Prop :=
  rsum D (fun d => (y d - fst ball) * (y d - fst ball)) <= snd ball.
Definition in_smallest (y : nat -> R) (bs : list (R * R)) : Prop :=
  match bs with
  | nil => True
  | [b] => in_ball y b
  | a :: b :: _ => if Rle_dec (snd a) (snd b) then in_ball y a else in_ball y b
  end.

(** "The space of a patch is what y is known to lie in besides the domain's box: cosines: the ball |y| <= 1. softmax:
    all y with y_d >= 0 and sum 1." *)
Definition in_space (y : nat -> R) : Prop :=
  match head_geometry h with
  | Euclidean => True
  | Cosine _ | RootedCosine _ => in_ball y (0, 1)
  | InnerProduct radius => in_smallest y (balls radius)
  | Softmax => (forall d, (d < D)%nat -> 0 <= y d) /\ rsum D y = 1
  end.

Definition satisfies (l : nat) (y : nat -> R) : Prop :=
  forall j lo hi, In (AboutPatch l j lo hi) (statements c) -> between u lo hi (observable_at y j).

(** "The range given the statements of an observable at a patch is [inf, sup] of it over the y in the space that
    satisfy all statements about that patch." *)
Definition range_given (l j : nat) : R -> Prop :=
  range_of (fun m => exists y, in_space y /\ satisfies l y /\ m = observable_at y j).

(** "euclidean: [sum_d max(0, lower - p_d, p_d - upper)^2, sum_d max(p_d - lower, upper - p_d)^2]; an end that is null
    counts as infinite" *)
Definition off (p : R) : R :=
  Rmax (match low with Some a => Rmax 0 (a - p) | None => 0 end)
       (match high with Some b => Rmax 0 (p - b) | None => 0 end).
Definition euclidean_range (p : nat -> R) (x : R) : Prop :=
  rsum D (fun d => off (p d) * off (p d)) <= x /\
  match low, high with
  | Some a, Some b => x <= rsum D (fun d => Rmax (p d - a) (b - p d) * Rmax (p d - a) (b - p d))
  | _, _ => True
  end.

(** "p+ is p with 0 for its negative coordinates, p- = (-p)+" *)
Definition positive_part (p : nat -> R) : nat -> R := fun d => Rmax 0 (p d).
Definition opposite (p : nat -> R) : nat -> R := fun d => - p d.
Definition not_negative : Prop := match low with Some a => 0 <= a | None => False end.
Definition not_positive : Prop := match high with Some b => b <= 0 | None => False end.

(** "h(p) = |p+|; but if E = 0 and no p_d is positive, h(p) is the greatest p_d, since then |u| = 1" *)
Definition furthest (e : fraction) (p : nat -> R) (x : R) : Prop :=
  ((exists d, (d < D)%nat /\ 0 < p d) \/ real e <> 0 -> x <= norm h (positive_part p)) /\
  ((forall d, (d < D)%nat -> p d <= 0) -> real e = 0 -> x <= rmax D p).

(** "cosines: [-1, 1]; where lower >= 0: [-h(-p), h(p)] / |p|; where upper <= 0: [-h(p), h(-p)] / |p|" *)
Definition cosine_range (e : fraction) (p : nat -> R) (x : R) : Prop :=
  -1 <= x <= 1 /\
  (not_negative -> furthest e (opposite p) (- (norm h p * x)) /\ furthest e p (norm h p * x)) /\
  (not_positive -> furthest e p (- (norm h p * x)) /\ furthest e (opposite p) (norm h p * x)).

(** "inner product: [sum_d min(l p_d, u p_d), sum_d max(l p_d, u p_d)] with l = max(lower, -R), u = min(upper, R), a
    null being infinite; if there is a radius, intersected with [-R |p|, R |p|], where lower >= 0 with [-R |p-|, R
    |p+|], where upper <= 0 with [-R |p+|, R |p-|]" *)
Definition greater_of (a b : option R) : option R :=
  match a, b with Some x, Some y => Some (Rmax x y) | Some x, None | None, Some x => Some x | None, None => None end.
Definition lesser_of (a b : option R) : option R :=
  match a, b with Some x, Some y => Some (Rmin x y) | Some x, None | None, Some x => Some x | None, None => None end.
Definition product_range (radius : option fraction) (p : nat -> R) (x : R) : Prop :=
  match greater_of low (option_map (fun r => - real r) radius), lesser_of high (option_map real radius) with
  | Some a, Some b =>
      rsum D (fun d => Rmin (a * p d) (b * p d)) <= x <= rsum D (fun d => Rmax (a * p d) (b * p d))
  | _, _ => True
  end /\
  match radius with
  | Some r =>
      let toward p := real r * norm h p in
      let plus := positive_part p in
      let minus := positive_part (opposite p) in
      - toward p <= x <= toward p /\ (not_negative -> - toward minus <= x <= toward plus) /\
      (not_positive -> - toward plus <= x <= toward minus)
  | None => True
  end.

(** "softmax: [e / (e + P - 1), 1 / (1 + (P - 1) e)] with e = exp(lower - upper), 0 if an end is null. For P = 1 it is
    [1, 1]" *)
Definition mass_range (x : R) : Prop :=
  let e := match low, high with Some a, Some b => exp (a - b) | _, _ => 0 end in
  if Nat.eqb P 1 then x = 1 else e / (e + (INR P - 1)) <= x <= 1 / (1 + (INR P - 1) * e).

Definition domain_range (j : nat) (x : R) : Prop :=
  match head_geometry h with
  | Euclidean => euclidean_range (coord h j) x
  | Cosine e | RootedCosine e => cosine_range e (coord h j) x
  | InnerProduct radius => product_range radius (coord h j) x
  | Softmax => mass_range x
  end.

(** "The reference range is its intersection with the domain's range. A patch without statements has these ranges",
    those of the domain. *)
Definition is_stated (l j : nat) : Prop := exists lo hi, In (AboutPatch l j lo hi) (statements c).
Definition reference_range (l j : nat) (x : R) : Prop :=
  domain_range j x /\ ((exists k, is_stated l k) -> range_given l j x).

(** * Stage 2: activations *)

(** "A stated activation's range is intersected with the interval. If there is a ceiling, the upper end of every k that
    it does not list is at most upper; if there is a floor, the lower end of every k that it does not list is at least
    lower." *)
Definition said (j : nat) (a : R) : Prop :=
  (forall lo hi, In (AboutActivation j lo hi) (statements c) -> between u lo hi a) /\
  (forall except lo hi, In (AboutOthers except lo hi) (statements c) -> ~ In j except -> between u lo hi a).

(** "What activations say of each other" is defined for "the pooling max, of distances and cosines, with any similarity
    without a peak": not quadratic, nor steps with from_peak. *)
Definition has_peak : bool :=
  match head_similarity h with
  | Quadratic => true
  | Steps l => existsb (fun f => match f with FromPeak => true | _ => false end) l
  | _ => false
  end.
Definition are_linked : bool :=
  match head_pooling h, head_geometry h with
  | MaxPool, (Euclidean | Cosine _ | RootedCosine _) => negb has_peak
  | _, _ => false
  end.

(** "x_j and x_k fit each other: euclidean, their roots differ by at most |p_j - p_k|; cosines, their angles differ by at
    most that of the prototypes: <p_j, p_k> / (|p_j| |p_k|) <= x_j x_k + ((1 - x_j^2)(1 - x_k^2))^(1/2)" *)
Definition fit_each_other (j k : nat) (x y : R) : Prop :=
  match head_geometry h with
  | Euclidean => Rabs (sqrt x - sqrt y) <= norm h (fun d => coord h j d - coord h k d)
  | _ =>
      dot h (coord h j) (coord h k) / (norm h (coord h j) * norm h (coord h k)) <=
      x * y + sqrt ((1 - x * x) * (1 - y * y))
  end.

(** "What a_k says of a_j: the values S_j(x_j) of all x_j in the domain's range that fit an x_k in the domain's range
    with S_k(x_k) as stated." *)
Definition beside (k j : nat) (a : R) : Prop :=
  exists x y, domain_range j x /\ domain_range k y /\ fit_each_other j k x y /\ said k (sim h k y) /\ a = sim h j x.

(** "Each k with a statement about a_k, for both ends of every other a_j; every k for the upper end of each a_j that a
    ceiling lists; and every k for the lower end of each a_j that a floor lists." *)
Definition beside_all (j : nat) (a : R) : Prop :=
  (forall k lo hi, (k < P)%nat -> k <> j -> In (AboutActivation k lo hi) (statements c) -> range_of (beside k j) a) /\
  (forall except lo hi, In (AboutOthers except lo hi) (statements c) -> In j except ->
    forall k, (k < P)%nat -> k <> j -> forall e, 0 < e ->
      (hi <> None -> exists b, beside k j b /\ a - e <= b) /\ (lo <> None -> exists b, beside k j b /\ b <= a + e)).

(** "All ends are exact for patches that vary independently": the range of an activation over all observables in their
    ranges, cut by what is stated of it and by what other activations say of it. *)
Definition activation_range (j : nat) (a : R) : Prop :=
  range_of (fun g => exists m, (forall l, (l < patches c)%nat -> reference_range l j (m l)) /\
                               g = activation_of h (patches c) m j) a /\
  said j a /\ (are_linked = true -> beside_all j a).

(** * Stage 3: margins *)

Section Margin.
Variables (r : nat) (lo hi : nat -> R).          (* a rival; ends of all activations *)
Let p := predicted c.
Let difference (k : nat) : R := weight_of h p k - weight_of h r k.

(** "soft_tree: the value of node 0, where leaf q has weight[predicted, q] - weight[c, q] and a node takes, of (1 - a)
    times its absent child's value plus a times its present child's, the lesser one at a = lo_i and a = hi_i, both cut
    to [0, 1]." *)
Definition cut_to_unit (a : R) : R := Rmax 0 (Rmin 1 a).
Fixpoint least_value (absent present : list Z) (nodes : nat) (child : Z) : R :=
  if (child <? 0)%Z then difference (Z.to_nat (-1 - child)) else
  match nodes with
  | O => 0
  | S rest =>
      let i := Z.to_nat child in
      let below := least_value absent present rest in
      let at_end a := (1 - cut_to_unit a) * below (nth i absent 0%Z) + cut_to_unit a * below (nth i present 0%Z) in
      Rmin (at_end (lo i)) (at_end (hi i))
  end.

(** "linear: bias[predicted] - bias[c] + the sum over j of D_j lo_j where D_j > 0 and D_j hi_j where D_j < 0, with D_j
    = weight[predicted, j] - weight[c, j]. maximum: the greatest lo_j + bias[j] over the j of the predicted class
    minus the greatest hi_j + bias[j] over those of c." *)
Definition margin_at : R :=
  match head_readout h with
  | Linear =>
      bias_of h p - bias_of h r +
      rsum P (fun j => if Rle_dec 0 (difference j) then difference j * lo j else difference j * hi j)
  | SoftTree absent present => least_value absent present P 0
  | Maximum =>
      rgreatest (map (fun j => lo j + bias_of h j) (members h p)) -
      rgreatest (map (fun j => hi j + bias_of h j) (members h r))
  end.

(** "If a sum is about c it is the greater one of this and what the sum proves: bias[predicted] - bias[c] + the same sum
    over the j that belong to predicted, minus upper." *)
Definition margin_by_sum (upper : R) : R :=
  bias_of h p - bias_of h r +
  rsum P (fun j => if belongs h p j then
    if Rle_dec 0 (difference j) then difference j * lo j else difference j * hi j else 0) - upper.

(** "Under assignment it is the greater one of this and what the prices prove. For linear heads let w_k = weight[c, k]
    - weight[predicted, k]; a_k^low the lower end of a_k; R_l = max(0, 1 - sum over what is stated at patch l of
    max(0, lo)); o_k the greatest of 0 and, over the patches l where k is stated, min(hi, max(0, lo) + R_l); an lo
    that is null counts as 0, such a hi as 1." *)
Let from (default : R) (e : option Z) : R := match e with Some a => q a u | None => default end.
Definition mass_left (l : nat) : R :=
  let stated s := match s with AboutPatch i _ lo _ => if Nat.eqb i l then Rmax 0 (from 0 lo) else 0 | _ => 0 end in
  Rmax 0 (1 - fold_right Rplus 0 (map stated (statements c))).
Definition greatest_stated (k : nat) : R :=
  let stated s :=
    match s with
    | AboutPatch l j lo hi => if Nat.eqb j k then Rmin (from 1 hi) (Rmax 0 (from 0 lo) + mass_left l) else 0
    | _ => 0
    end in
  fold_right Rmax 0 (map stated (statements c)).

(** "For any prices v_k >= 0, sum_k w_k a_k is at most the sum of w_k a_k^low over k with w_k <= 0, and w_k o_k + v_k
    over k with w_k > 0, and max(0, max over k with w_k > 0 that are not stated at l of w_k max(0, R_l - o_k) - v_k),
    over all patches l. The margin is bias[predicted] - bias[c] minus that sum." *)
Definition states (l k : nat) (s : statement) : bool :=
  match s with AboutPatch i j _ _ => Nat.eqb i l && Nat.eqb j k | _ => false end.
Definition margin_by_prices (v : nat -> R) : R :=
  let w k := weight_of h r k - weight_of h p k in
  let own k := if Rle_dec (w k) 0 then w k * lo k else w k * greatest_stated k + v k in
  let excess l k :=
    if Rle_dec (w k) 0 then 0 else
    if existsb (states l k) (statements c) then 0 else w k * Rmax 0 (mass_left l - greatest_stated k) - v k in
  bias_of h p - bias_of h r - (rsum P own + rsum (patches c) (fun l => Rmax 0 (rmax P (excess l)))).
End Margin.

(** "joint: o_predicted - o_c = t(y). The joint margin: the infimum of t(y) over the y in the space that satisfy all
    statements". It is 0 or less if some t(y) are as little above 0 as one likes. *)
Definition margin_of_point (r : nat) (y : nat -> R) : R :=
  bias_of h (predicted c) - bias_of h r +
  rsum P (fun j => (weight_of h (predicted c) j - weight_of h r j) * sim h j (observable_at y j)).
Definition joint_margin_not_positive (r : nat) : Prop :=
  forall e, 0 < e -> exists y, in_space y /\ satisfies 0 y /\ margin_of_point r y <= e.

(** What the paradigm adds to the reference margin *)
Inductive addition := Nothing | Prices | JointMargin.

(** "s is needed if some rival's reference margin given E' is <= 0; under assignment, at all prices, not only at those
    of the hints; under joint, both term by term and as one target. If a reference range given E' is empty, s is not
    needed."

    The reference margin is [margin_at] at the ends of the ranges, lower ends [lo] and upper ends [hi]. Here these are
    any numbers of the ranges: no margin falls as a lower end rises or an upper end falls, so the margin at the ends
    is 0 or less too ([ReferenceMargin.v] proves this). And then no range is empty. *)
Definition reference_margin_not_positive (what : addition) (r : nat) : Prop :=
  exists lo hi,
    (forall j, (j < P)%nat -> activation_range j (lo j) /\ activation_range j (hi j)) /\ margin_at r lo hi <= 0 /\
    (forall rivals upper, In (AboutSum rivals upper) (statements c) -> lists rivals r = true ->
      margin_by_sum r lo hi (q upper u) <= 0) /\
    match what with
    | Nothing => True
    | Prices => forall v, (forall k, 0 <= v k) -> margin_by_prices r lo v <= 0
    | JointMargin => joint_margin_not_positive r
    end.
End Reference.

(** E without the statement of that index *)
Definition without (i : nat) (c : certificate) : certificate :=
  Certificate (predicted c) (patches c) (statement_unit c) (firstn i (statements c) ++ skipn (S i) (statements c))
    (margin_unit c) (margins c).

Definition needed (h : head) (what : addition) (c : certificate) (i : nat) : Prop :=
  exists r, (r < classes h)%nat /\ r <> predicted c /\ reference_margin_not_positive h (without i c) what r.

(** Claim 3, minimality. "Minimality says that every s in E is needed. If E is empty it holds." *)
Definition minimal (h : head) (what : addition) (c : certificate) : Prop :=
  forall i, (i < length (statements c))%nat -> needed h what c i.
