(** What a network computes from a picture, and what the claim [picture] says, over the real numbers.

    This file belongs to the specification, as [Semantics.v] does: it is to be read and believed, and nothing in it is
    proved. It renders [certificates/network-v1.md], whose sentences stand beside the definitions. Indices count from 0.
    The reader of files sees to it that shapes fit one another; where they do not, what is computed means nothing. *)

From Coq Require Import Reals ZArith List Bool.
From Verale Require Import Semantics.
Import ListNotations.
Open Scope R_scope.

(** * Networks and pictures *)

(** A pair is "of rows, of columns". Poolings have the dilation (1, 1). *)
Record windows := Windows { kernel : nat * nat; stride : nat * nat; padding : nat * nat; dilation : nat * nat }.

(** Weight and bias are over one unit, O rows and O numbers; zeros where the file has no bias. A row of a convolution is
    weight[o, c, a, b] in the order (c, a, b). *)
Inductive operation :=
  | Conv2d (w : windows) (groups : nat) (unit : positive) (weights : list (list Z)) (biases : list Z)
  | LinearLayer (unit : positive) (weights : list (list Z)) (biases : list Z)
  | Add
  | Concat
  | Multiply
  | Relu
  | Clamp (least most : fraction)
  | LeakyRelu (slope : fraction)
  | Sigmoid
  | Tanh
  | InverseRoot
  | MaxPool2d (w : windows)
  | AvgPool2d (w : windows)
  | Flatten
  | UpsampleNearest (factor : nat * nat).

(** "inputs lists what the layer reads: each entry is picture or the name of an earlier layer." The picture has the
    number 0, and the layers have the numbers 1, 2, ... in their order. *)
Record layer := Layer { inputs : list nat; does : operation }.

Record network := Network {
  input_channels : nat;
  input_height : nat;
  input_width : nat;
  means : list fraction;                (* one for each channel *)
  deviations : list fraction;           (* std, one for each channel *)
  layers : list layer
}.

(** The bytes v[c, y, x], "in the order (c, y, x)" *)
Definition picture := list Z.
Definition fits (n : network) (p : picture) : Prop :=
  length p = (input_channels n * input_height n * input_width n)%nat /\ Forall (fun v => (0 <= v <= 255)%Z) p.

(** * What layers compute *)

(** The numbers that a layer gives, or the normalised picture: [entry v c y x]. The shape (C) is taken as (C, 1, 1). *)
Record volume := Volume { channels : nat; height : nat; width : nat; entry : nat -> nat -> nat -> R }.

Definition nothing : volume := Volume 0 0 0 (fun _ _ _ => 0).

(** "x[c, y, x] = (v[c, y, x] / 255 - mean[c]) / std[c]" *)
Definition normalised (n : network) (p : picture) : volume :=
  Volume (input_channels n) (input_height n) (input_width n) (fun c y x =>
    (IZR (nth ((c * input_height n + y) * input_width n + x) p 0%Z) / 255 - real (nth c (means n) (Fraction 0 1))) /
    real (nth c (deviations n) (Fraction 1 1))).

(** "Each extent H becomes floor((H + 2 padding - dilation (kernel - 1) - 1) / stride) + 1." *)
Definition extent (size kernel stride padding dilation : nat) : nat :=
  ((size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1)%nat.
Definition rows_out (w : windows) (v : volume) : nat :=
  extent (height v) (fst (kernel w)) (fst (stride w)) (fst (padding w)) (fst (dilation w)).
Definition columns_out (w : windows) (v : volume) : nat :=
  extent (width v) (snd (kernel w)) (snd (stride w)) (snd (padding w)) (snd (dilation w)).

(** "y stride_0 + a dilation_0 - padding_0, x stride_1 + b dilation_1 - padding_1" *)
Definition meets (w : windows) (y x a b : nat) : Z * Z :=
  (Z.of_nat (y * fst (stride w) + a * fst (dilation w)) - Z.of_nat (fst (padding w)),
   Z.of_nat (x * snd (stride w) + b * snd (dilation w)) - Z.of_nat (snd (padding w)))%Z.

Definition inside (rows columns : nat) (place : Z * Z) : bool :=
  ((0 <=? fst place) && (fst place <? Z.of_nat rows) && (0 <=? snd place) && (snd place <? Z.of_nat columns))%Z.
Definition entry_at (v : volume) (c : nat) (place : Z * Z) : R :=
  entry v c (Z.to_nat (fst place)) (Z.to_nat (snd place)).

(** "an entry outside i is 0" *)
Definition padded (v : volume) (c : nat) (place : Z * Z) : R :=
  if inside (height v) (width v) place then entry_at v c place else 0.

(** "out[o, y, x] = bias[o] + the sum over c, a, b of weight[o, c, a, b] times i[g C / G + c, ...] with
    g = floor(o G / O)" *)
Definition conv2d (w : windows) (groups : nat) (unit : positive) (weights : list (list Z)) (biases : list Z)
    (v : volume) : volume :=
  let outputs := length weights in
  let own := (channels v / groups)%nat in
  Volume outputs (rows_out w v) (columns_out w v) (fun o y x =>
    q (nth o biases 0%Z) unit +
    rsum own (fun c => rsum (fst (kernel w)) (fun a => rsum (snd (kernel w)) (fun b =>
      q (nth ((c * fst (kernel w) + a) * snd (kernel w) + b) (nth o weights nil) 0%Z) unit *
      padded v (o * groups / outputs * own + c) (meets w y x a b))))).

(** "linear: out[o] = bias[o] + sum_c weight[o, c] i[c]" *)
Definition linear_layer (unit : positive) (weights : list (list Z)) (biases : list Z) (v : volume) : volume :=
  Volume (length weights) 1 1 (fun o _ _ =>
    q (nth o biases 0%Z) unit +
    rsum (channels v) (fun c => q (nth c (nth o weights nil) 0%Z) unit * entry v c 0 0)).

(** "add: the sum, entry by entry" *)
Definition added (vs : list volume) : volume :=
  let v := hd nothing vs in
  Volume (channels v) (height v) (width v) (fun c y x => fold_right (fun v sum => entry v c y x + sum) 0 vs).

(** "concat: i_0, then i_1, ... along the first axis" *)
Fixpoint joined_entry (vs : list volume) (c y x : nat) : R :=
  match vs with
  | nil => 0
  | v :: vs' => if Nat.ltb c (channels v) then entry v c y x else joined_entry vs' (c - channels v) y x
  end.
Definition joined (vs : list volume) : volume :=
  let v := hd nothing vs in
  Volume (fold_right (fun v sum => (channels v + sum)%nat) O vs) (height v) (width v) (joined_entry vs).

(** "multiply: the product i_0 i_1, entry by entry; i_1 is repeated along each axis of which it has one entry." *)
Definition repeated (extent k : nat) : nat := if Nat.eqb extent 1 then O else k.
Definition multiplied (v w : volume) : volume :=
  Volume (channels v) (height v) (width v) (fun c y x =>
    entry v c y x * entry w (repeated (channels w) c) (repeated (height w) y) (repeated (width w) x)).

(** "relu: max(0, i). clamp: min(upper, max(lower, i)). leaky_relu: i where i >= 0, else slope i. sigmoid: 1 / (1 +
    exp(-i)). tanh: (exp(i) - exp(-i)) / (exp(i) + exp(-i))." "inverse_root: i^(-1/2)" *)
Definition each (f : R -> R) (v : volume) : volume :=
  Volume (channels v) (height v) (width v) (fun c y x => f (entry v c y x)).
Definition leaky (slope i : R) : R := if Rle_dec 0 i then i else slope * i.
Definition clamped (least most i : R) : R := Rmin most (Rmax least i).
Definition logistic (i : R) : R := 1 / (1 + exp (- i)).
Definition hyperbolic (i : R) : R := (exp i - exp (- i)) / (exp i + exp (- i)).
Definition inverse_root (i : R) : R := / sqrt i.

(** "max_pool2d: the greatest i[c, ...] over a below kernel_0 and b below kernel_1, entries outside i left out" *)
Definition max_pool2d (w : windows) (v : volume) : volume :=
  Volume (channels v) (rows_out w v) (columns_out w v) (fun c y x =>
    rgreatest (flat_map (fun a => flat_map (fun b =>
      if inside (height v) (width v) (meets w y x a b) then [entry_at v c (meets w y x a b)] else nil)
      (seq 0 (snd (kernel w)))) (seq 0 (fst (kernel w))))).

(** "avg_pool2d: their sum, entries outside i being 0, divided by kernel_0 kernel_1" *)
Definition avg_pool2d (w : windows) (v : volume) : volume :=
  Volume (channels v) (rows_out w v) (columns_out w v) (fun c y x =>
    rsum (fst (kernel w)) (fun a => rsum (snd (kernel w)) (fun b => padded v c (meets w y x a b))) /
    INR (fst (kernel w) * snd (kernel w))).

(** "flatten: out[(c H + y) W + x] = i[c, y, x]" *)
Definition flattened (v : volume) : volume :=
  Volume (channels v * height v * width v) 1 1 (fun k _ _ =>
    entry v (k / width v / height v) ((k / width v) mod height v) (k mod width v)).

(** "upsample_nearest: out[c, y, x] = i[c, floor(y / scale_0), floor(x / scale_1)]" *)
Definition upsampled (factor : nat * nat) (v : volume) : volume :=
  Volume (channels v) (height v * fst factor) (width v * snd factor)
    (fun c y x => entry v c (y / fst factor) (x / snd factor)).

Definition computed (does : operation) (vs : list volume) : volume :=
  let v := hd nothing vs in
  match does with
  | Conv2d w groups unit weights biases => conv2d w groups unit weights biases v
  | LinearLayer unit weights biases => linear_layer unit weights biases v
  | Add => added vs
  | Concat => joined vs
  | Multiply => multiplied v (hd nothing (tl vs))
  | Relu => each (Rmax 0) v
  | Clamp least most => each (clamped (real least) (real most)) v
  | LeakyRelu slope => each (leaky (real slope)) v
  | Sigmoid => each logistic v
  | Tanh => each hyperbolic v
  | InverseRoot => each inverse_root v
  | MaxPool2d w => max_pool2d w v
  | AvgPool2d w => avg_pool2d w v
  | Flatten => flattened v
  | UpsampleNearest factor => upsampled factor v
  end.

(** * What a network gives *)

(** The picture and the layers up to some layer, then those of the others. *)
Fixpoint all_computed (known : list volume) (ls : list layer) : list volume :=
  match ls with
  | nil => known
  | l :: ls' => all_computed (known ++ [computed (does l) (map (fun i => nth i known nothing) (inputs l))]) ls'
  end.

(** "where some i is not positive, the network gives no latents, and no claim about the picture is true." *)
Definition all_above_zero (v : volume) : Prop :=
  forall c y x, (c < channels v)%nat -> (y < height v)%nat -> (x < width v)%nat -> 0 < entry v c y x.
Definition is_given (does : operation) (vs : list volume) : Prop :=
  match does with InverseRoot => all_above_zero (hd nothing vs) | _ => True end.
Fixpoint all_given (known : list volume) (ls : list layer) : Prop :=
  match ls with
  | nil => True
  | l :: ls' =>
      let vs := map (fun i => nth i known nothing) (inputs l) in
      is_given (does l) vs /\ all_given (known ++ [computed (does l) vs]) ls'
  end.
Definition gives_latents (n : network) (p : picture) : Prop := fits n p /\ all_given [normalised n p] (layers n).

(** "the last one, which is the output" *)
Definition output (n : network) (p : picture) : volume := last (all_computed [normalised n p] (layers n)) nothing.

(** "The output has the shape (D, H', W'), with L = H' W' patches, of which that in row y and column x is patch
    y W' + x." *)
Definition network_patches (n : network) (p : picture) : nat := (height (output n p) * width (output n p))%nat.
Definition network_latents (n : network) (p : picture) : latents :=
  let v := output n p in fun l d => entry v d (l / width v) (l mod width v).

(** The claim [picture] in real arithmetic: the latents that the network gives for the picture lie in the domain and
    satisfy every statement. *)
Definition pictured (h : head) (c : certificate) (n : network) (p : picture) : Prop :=
  gives_latents n p /\ channels (output n p) = depth h /\ network_patches n p = patches c /\
  complies h c (network_latents n p).

(** Network and head give the picture class k: every rival's logit lies below that of k, by at least the number that [m]
    has for the rival, which is positive. *)
Definition network_gives (h : head) (n : network) (p : picture) (k : nat) (m : nat -> R) : Prop :=
  gives_latents n p /\ (k < classes h)%nat /\
  forall r, (r < classes h)%nat -> r <> k ->
  0 < m r /\
  logit h (network_patches n p) (network_latents n p) r + m r <= logit h (network_patches n p) (network_latents n p) k.
