(** What a head computes and what a certificate says, over the real numbers.

    This file is the specification of the proved checker. It renders [certificates/v1.md], whose sentences stand beside
    the definitions. It is to be read and believed: nothing in it is proved, and nothing else of what is proved has to
    be read. Indices count from 0. *)

From Coq Require Import Reals ZArith List.
Import ListNotations.
Open Scope R_scope.

(** * Numbers *)

(** Floats and hex floats are exact rational numbers. The reader of files writes them as integers over a common positive
    unit, one unit for each tensor; [q n d] is the number n / d. *)
Definition q (n : Z) (d : positive) : R := IZR n / IZR (Zpos d).

Record fraction := Fraction { numerator : Z; denominator : positive }.
Definition real (f : fraction) : R := q (numerator f) (denominator f).

(** Sum and maximum of [f 0], ..., [f (n - 1)]. The maximum is of at least one number. *)
Fixpoint rsum (n : nat) (f : nat -> R) : R := match n with O => 0 | S k => rsum k f + f k end.
Fixpoint rmax (n : nat) (f : nat -> R) : R :=
  match n with O => f O | S O => f O | S k => Rmax (rmax k f) (f k) end.

(** The sum of the [k] greatest of [f 0], ..., [f (n - 1)], of all of them if there are no more than [k]: it is the
    greatest sum of [k] of them. The last one is taken, or it is not. *)
Fixpoint rtop (k n : nat) (f : nat -> R) : R :=
  match n, k with
  | O, _ | _, O => 0
  | S n', S k' => if Nat.leb n k then f n' + rtop k' n' f else Rmax (f n' + rtop k' n' f) (rtop k n' f)
  end.

(** The greatest number of a list that is not empty. *)
Fixpoint rgreatest (l : list R) : R :=
  match l with nil => 0 | [x] => x | x :: l' => Rmax x (rgreatest l') end.

(** * Heads *)

(** "geometry: euclidean; cosine, rooted_cosine {epsilon: X}; inner_product {radius: X or null}; softmax" *)
Inductive geometry :=
  | Euclidean
  | Cosine (epsilon : fraction)
  | RootedCosine (epsilon : fraction)
  | InnerProduct (radius : option fraction)
  | Softmax.

(** "The kinds of steps: scale; add, multiply {number: X}; negate; log_ratio {over: X, under: X}; exp; root; square;
    threshold {number: X}; rectify; reciprocal {number: X}; from_peak" *)
Inductive step :=
  | Scaled
  | Added (number : fraction)
  | Multiplied (number : fraction)
  | Negation
  | LogRatioOf (over under : fraction)
  | ExpOf
  | RootOf
  | SquareOf
  | ZeroBelow (number : fraction)
  | CutAt0
  | ReciprocalOf (number : fraction)
  | FromPeak.

(** "similarity: log_ratio, exp_distance {epsilon: X}; threshold {threshold: X}; identity, negated, exponential,
    quadratic, rectified; steps {steps: [...]}" *)
Inductive similarity :=
  | LogRatio (epsilon : fraction)
  | ExpDistance (epsilon : fraction)
  | Threshold (threshold : fraction)
  | Identity
  | Negated
  | Exponential
  | Quadratic
  | Rectified
  | Steps (steps : list step).

(** "pooling: max; masked_max; banks {class_token: G}; top_mean {k: T}; max_minus_mean; max_minus_mean_distance". Of
    masked_max the reader gives the mask, P rows of K numbers, and of banks that with the two columns. *)
Inductive pooling :=
  | MaxPool
  | MaskedMax (mask : list (list Z))
  | TopMean (k : nat)
  | MaxMinusMean
  | MaxMinusMeanDistance.

(** "readout: linear; soft_tree {absent, present}; maximum" *)
Inductive readout :=
  | Linear
  | SoftTree (absent present : list Z)
  | Maximum.

(** The tensors have as many rows and columns as [depth] (D), [count] (P) and [classes] (C) say. *)
Record head := Head {
  depth : nat;
  count : nat;
  classes : nat;
  head_geometry : geometry;
  head_similarity : similarity;
  head_pooling : pooling;
  head_readout : readout;
  coord_unit : positive;                (* of prototypes, lower and upper *)
  prototypes : list (list Z);           (* P rows of D; none for softmax, where D = P *)
  lower : option Z;                     (* of every latent coordinate; none: unbounded *)
  upper : option Z;
  weight_unit : positive;               (* of weight and bias *)
  weight : list (list Z);               (* C rows of P; of a soft tree, P + 1 *)
  bias : list Z;                        (* C; of the readout maximum, P; zeros where the file has none *)
  scale_unit : positive;
  scales : list Z;                      (* P; or none: every scale is 1 *)
  peak_unit : positive;
  peaks : list Z                        (* P; or none: every peak is 0 *)
}.

(** Latents z: [z l d] is coordinate d of patch l. *)
Definition latents := nat -> nat -> R.

Section Head.
Variable h : head.

Definition coord (j d : nat) : R := q (nth d (nth j (prototypes h) nil) 0%Z) (coord_unit h).
Definition scale (j : nat) : R := match nth_error (scales h) j with Some s => q s (scale_unit h) | None => 1 end.
Definition peak (j : nat) : R := match nth_error (peaks h) j with Some c => q c (peak_unit h) | None => 0 end.
Definition weight_of (c j : nat) : R := q (nth j (nth c (weight h) nil) 0%Z) (weight_unit h).
Definition bias_of (i : nat) : R := q (nth i (bias h) 0%Z) (weight_unit h).

Definition dot (v w : nat -> R) : R := rsum (depth h) (fun d => v d * w d).
Definition norm (v : nat -> R) : R := sqrt (dot v v).

(** "The domain is the set of latents with every coordinate in [lower, upper] and, where there is a radius, |z_l| <= R
    for every l; a cosine of either kind with epsilon = 0 excludes z_l = 0." *)
Definition patch_in_domain (v : nat -> R) : Prop :=
  (forall d, (d < depth h)%nat ->
    (match lower h with Some a => q a (coord_unit h) <= v d | None => True end) /\
    (match upper h with Some b => v d <= q b (coord_unit h) | None => True end)) /\
  match head_geometry h with
  | InnerProduct (Some r) => norm v <= real r
  | Cosine e | RootedCosine e => real e = 0 -> 0 < norm v
  | _ => True
  end.
Definition in_domain (n : nat) (z : latents) : Prop := forall l, (l < n)%nat -> patch_in_domain (z l).

(** "observable m_lj. euclidean: |z_l - p_j|^2. cosine: <z_l, p_j> / (|p_j| (|z_l| + epsilon)). rooted_cosine:
    <z_l, p_j> / (|p_j| (|z_l|^2 + epsilon)^(1/2)). inner_product: <z_l, p_j>. softmax: exp(z_lj) / sum_i exp(z_li)." *)
Definition observable (v : nat -> R) (j : nat) : R :=
  match head_geometry h with
  | Euclidean => rsum (depth h) (fun d => (v d - coord j d) * (v d - coord j d))
  | Cosine e => dot v (coord j) / (norm (coord j) * (norm v + real e))
  | RootedCosine e => dot v (coord j) / (norm (coord j) * sqrt (dot v v + real e))
  | InnerProduct _ => dot v (coord j)
  | Softmax => exp (v j) / rsum (depth h) (fun i => exp (v i))
  end.

(** "Of a number x, with s = scale[j] and peak = peak[j]: scale: s x. add: x + number. multiply: number x. negate: -x.
    log_ratio: ln((x + over) / (x + under)). exp: exp(x). root: x^(1/2). square: x^2. threshold: x where x >= number,
    else 0. rectify: max(0, x). reciprocal: 1 / (x + number). from_peak: |x - peak|. Of an x below 0, log_ratio, root,
    square and reciprocal are what they are of 0, and so is exp of an x above 0." The root of a number below 0 is 0. *)
Definition step_value (s c : R) (f : step) (x : R) : R :=
  match f with
  | Scaled => s * x
  | Added a => x + real a
  | Multiplied a => real a * x
  | Negation => - x
  | LogRatioOf a b => ln ((Rmax 0 x + real a) / (Rmax 0 x + real b))
  | ExpOf => exp (Rmin 0 x)
  | RootOf => sqrt x
  | SquareOf => Rmax 0 x * Rmax 0 x
  | ZeroBelow t => if Rle_dec (real t) x then x else 0
  | CutAt0 => Rmax 0 x
  | ReciprocalOf a => / (Rmax 0 x + real a)
  | FromPeak => Rabs (x - c)
  end.

(** "One step after another" *)
Fixpoint chain_value (s c : R) (l : list step) (x : R) : R :=
  match l with nil => x | f :: l' => chain_value s c l' (step_value s c f x) end.

(** "similarity g_lj, with s = scale[j] and peak = peak[j]. identity: m. log_ratio: ln((s m + 1) / (s m + epsilon)).
    negated: -s m. exp_distance: exp(-(m + epsilon)^(1/2)). exponential: exp(-s m) (euclidean), exp(-s (1 - m))
    (cosines). quadratic: -(m - peak)^2. rectified: max(0, m). threshold: m where m >= threshold, else 0. steps: one
    after another, the first of m." *)
Definition sim (j : nat) (m : R) : R :=
  match head_similarity h with
  | LogRatio e => ln ((scale j * m + 1) / (scale j * m + real e))
  | ExpDistance e => exp (- sqrt (m + real e))
  | Threshold t => if Rle_dec (real t) m then m else 0
  | Identity => m
  | Negated => - (scale j * m)
  | Exponential =>
      match head_geometry h with
      | Euclidean => exp (- (scale j * m))
      | _ => exp (- (scale j * (1 - m)))
      end
  | Quadratic => - ((m - peak j) * (m - peak j))
  | Rectified => Rmax 0 m
  | Steps l => chain_value (scale j) (peak j) l m
  end.

(** "masked_max: the greatest g_lj over the patches l that prototype j looks at, those with mask[j, min(l, K - 1)] = 1:
    the last column stands for all further patches." The row is that of j. *)
Definition looks_at (row : list Z) (l : nat) : bool := Z.eqb (nth (Nat.min l (length row - 1)) row 0%Z) 1.
Definition seen (row : list Z) (n : nat) : list nat := filter (looks_at row) (seq 0 n).

(** "activation a_j. max: max_l g_lj. top_mean: the mean of the min(T, L) greatest g_lj. max_minus_mean: max_l g_lj -
    (sum_l g_lj) / L. max_minus_mean_distance: max_l g_lj minus the similarity of the mean observable." *)
Definition activation_of (n : nat) (m : nat -> R) (j : nat) : R :=
  let g l := sim j (m l) in
  match head_pooling h with
  | MaxPool => rmax n g
  | MaskedMax mask => rgreatest (map g (seen (nth j mask nil) n))
  | TopMean k => rtop k n g / INR (Nat.min k n)
  | MaxMinusMean => rmax n g - rsum n g / INR n
  | MaxMinusMeanDistance => rmax n g - sim j (rsum n m / INR n)
  end.
Definition activation (n : nat) (z : latents) (j : nat) : R := activation_of n (fun l => observable (z l) j) j.

(** "soft_tree: the value of node 0, where a leaf q has the value weight[c, q] and node i the value (1 - a_i) times that
    of its absent child plus a_i times that of its present one." A child is a greater node, or a leaf q as -1 - q; so no
    path has more than P nodes. *)
Fixpoint tree_value (absent present : list Z) (leaf a : nat -> R) (nodes : nat) (child : Z) : R :=
  if (child <? 0)%Z then leaf (Z.to_nat (-1 - child)) else
  match nodes with
  | O => 0
  | S rest =>
      let i := Z.to_nat child in
      let below := tree_value absent present leaf a rest in
      (1 - a i) * below (nth i absent 0%Z) + a i * below (nth i present 0%Z)
  end.

(** "maximum: the greatest a_j + bias[j] over the j with weight[c, j] = 1" *)
Definition members (c : nat) : list nat :=
  filter (fun j => Z.eqb (nth j (nth c (weight h) nil) 0%Z) (Zpos (weight_unit h))) (seq 0 (count h)).

(** "logit o_c. linear: sum_j weight[c, j] a_j + bias[c]." *)
Definition logit (n : nat) (z : latents) (c : nat) : R :=
  let a := activation n z in
  match head_readout h with
  | Linear => rsum (count h) (fun j => weight_of c j * a j) + bias_of c
  | SoftTree absent present => tree_value absent present (weight_of c) a (count h) 0
  | Maximum => rgreatest (map (fun j => a j + bias_of j) (members c))
  end.

(** "A prototype j belongs to a class c if weight[c', j] <= weight[c, j] for every class c'." Where several classes have
    the greatest weight, it belongs to each of them. *)
Definition belongs (c j : nat) : bool :=
  let number c := nth j (nth c (weight h) nil) 0%Z in
  forallb (fun c' => (number c' <=? number c)%Z) (seq 0 (classes h)).

(** "What the others take back for a rival c: the sum of (weight[c, j] - weight[predicted, j]) a_j over all j that do not
    belong to predicted" *)
Definition taken_back (n : nat) (z : latents) (predicted c : nat) : R :=
  rsum (count h) (fun j =>
    if belongs predicted j then 0 else (weight_of c j - weight_of predicted j) * activation n z j).
End Head.

(** * Certificates *)

(** The forms of a statement; both ends of an interval are included, and one that is missing (null) says nothing. A
    ceiling is a clause without [lo], a floor one without [hi]. A sum without a list is about all rivals. *)
Inductive statement :=
  | AboutPatch (l j : nat) (lo hi : option Z)                (* m_lj is in [lo, hi] *)
  | AboutActivation (j : nat) (lo hi : option Z)             (* a_j is in [lo, hi] *)
  | AboutOthers (except : list nat) (lo hi : option Z)       (* a_k is in [lo, hi] for every k not listed *)
  | AboutSum (rivals : option (list nat)) (hi : Z).          (* what the others take back for a listed rival is at most hi *)

(** Whether a sum is about a rival *)
Definition lists (rivals : option (list nat)) (r : nat) : bool :=
  match rivals with Some listed => existsb (Nat.eqb r) listed | None => true end.

Record certificate := Certificate {
  predicted : nat;
  patches : nat;
  statement_unit : positive;            (* of the ends of statements *)
  statements : list statement;
  margin_unit : positive;
  margins : list Z                      (* one for each class; that of the predicted one means nothing *)
}.

Definition margin (c : certificate) (r : nat) : R := q (nth r (margins c) 0%Z) (margin_unit c).

Definition between (u : positive) (lo hi : option Z) (x : R) : Prop :=
  match lo with Some a => q a u <= x | None => True end /\ match hi with Some b => x <= q b u | None => True end.

Definition holds (h : head) (c : certificate) (z : latents) (s : statement) : Prop :=
  let u := statement_unit c in
  match s with
  | AboutPatch l j lo hi => between u lo hi (observable h (z l) j)
  | AboutActivation j lo hi => between u lo hi (activation h (patches c) z j)
  | AboutOthers except lo hi =>
      forall k, (k < count h)%nat -> ~ In k except -> between u lo hi (activation h (patches c) z k)
  | AboutSum rivals hi =>
      forall r, (r < classes h)%nat -> r <> predicted c -> lists rivals r = true ->
      taken_back h (patches c) z (predicted c) r <= q hi u
  end.

(** The latents that a certificate speaks of. *)
Definition complies (h : head) (c : certificate) (z : latents) : Prop :=
  in_domain h (patches c) z /\ forall s, In s (statements c) -> holds h c z s.

(** Claim 1, entailment. "For every z in the head's domain that satisfies every statement of E and every class c other than
    predicted: o_predicted(z) - o_c(z) >= margins[c] > 0." *)
Definition entails (h : head) (c : certificate) : Prop :=
  forall z, complies h c z -> forall r, (r < classes h)%nat -> r <> predicted c ->
  logit h (patches c) z (predicted c) - logit h (patches c) z r >= margin c r /\ margin c r > 0.

(** An image's latents, as the file has them: rows of coordinates, over a unit. *)
Record image := Image { image_unit : positive; rows : list (list Z) }.
Definition latents_of (i : image) : latents := fun l d => q (nth d (nth l (rows i) nil) 0%Z) (image_unit i).

(** Claim 2, instance. "The latents with that digest lie in the head's domain and satisfy every statement of E." *)
Definition instance (h : head) (c : certificate) (i : image) : Prop :=
  length (rows i) = patches c /\ Forall (fun row => length row = depth h) (rows i) /\ complies h c (latents_of i).

(** Refutation. "REFUTED if some rival's logit at the witness is greater than or equal to the predicted one's": then
    entailment is false, because margins are positive. *)
Definition refutes (h : head) (c : certificate) (i : image) : Prop :=
  instance h c i /\ exists r, (r < classes h)%nat /\ r <> predicted c /\
  logit h (patches c) (latents_of i) r >= logit h (patches c) (latents_of i) (predicted c).
