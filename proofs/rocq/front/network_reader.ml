(* Reads networks and pictures, as reader.ml reads heads: trusted, and as strict. Tensors have to have the rows and
   columns, and layers the shapes, that certificates/network-v1.md says.

     network   = "network" channels height width list(channels, fraction) list(channels, fraction)  mean, std
                 count layer...                                            as many layers
     layer     = list(any, natural) operation                              the numbers of what it reads
     operation = "conv2d" windows groups unit matrix(any, n) list(rows)    n = channels / groups times the kernel
               | "linear" unit matrix(any, channels) list(rows)            weight and bias, over one unit
               | "add" | "concat" | "multiply" | "relu" | "clamp" fraction fraction | "leaky_relu" fraction
               | "sigmoid" | "tanh" | "inverse_root" | "flatten"
               | "max_pool2d" windows | "avg_pool2d" windows | "upsample_nearest" pair
     windows   = pair pair pair pair                                       kernel, stride, padding, dilation
     picture   = "picture" 2 digits for each byte, without a space between two *)

open Reader

(* Naturals are machine integers, of 32 bits in JavaScript. No product of theirs is larger than this. *)
let most_entries = 1 lsl 24

let product factors =
  let found = List.fold_left (fun found factor -> Z.mul found (Z.of_int factor)) Z.one factors in
  if Z.gt found (Z.of_int most_entries) then raise (Too_large "a layer is larger than 2^24");
  Z.to_int found

let most_of_pair = 4096

let pair least input =
  let first = natural input in
  let second = natural input in
  require (min first second >= least) (Printf.sprintf "a pair of numbers from %d" least);
  if max first second > most_of_pair then raise (Too_large (Printf.sprintf "a pair has more than %d" most_of_pair));
  (first, second)

let windows input =
  let kernel = pair 1 input in
  let stride = pair 1 input in
  let padding = pair 0 input in
  let dilation = pair 1 input in
  { Checker.kernel; stride; padding; dilation }

(* (C, H, W); a shape (C) is (C, 1, 1). *)
type shape = int * int * int

(* The shape that windows give, with so many channels. *)
let slid (w : Checker.windows) channels (_, height, width) : shape =
  let extent size of_pair =
    let kernel = of_pair w.kernel and padding = of_pair w.padding in
    let room = size + (2 * padding) - (of_pair w.dilation * (kernel - 1)) - 1 in
    require (room >= 0) "windows that are no larger than what they slide over";
    (room / of_pair w.stride) + 1
  in
  (channels, extent height fst, extent width snd)

let weights width input =
  let unit = unit_of input in
  let weights = any_list (list_of [ width ] integer) input in
  require (weights <> []) "a row of weights";
  let biases = list_of [ List.length weights ] integer input in
  (unit, weights, biases)

let conv2d ((channels, _, _) as shape) input =
  let w = windows input in
  let groups = positive input in
  require (channels mod groups = 0) "groups that divide the channels";
  let unit, weights, biases = weights (product [ channels / groups; fst w.kernel; snd w.kernel ]) input in
  let outputs = List.length weights in
  require (outputs mod groups = 0) "groups that divide the rows of weights";
  ignore (product [ outputs; groups ]);
  (Checker.Conv2d (w, groups, unit, weights, biases), slid w outputs shape)

let linear (channels, height, width) input =
  require (height = 1 && width = 1) "a layer without rows and columns before a linear one";
  let unit, weights, biases = weights channels input in
  (Checker.LinearLayer (unit, weights, biases), (List.length weights, 1, 1))

let pooling ((channels, _, _) as shape) input =
  let w = windows input in
  require (w.dilation = (1, 1)) "a pooling without dilation";
  let fits of_pair = 2 * of_pair w.padding <= of_pair w.kernel in
  require (fits fst && fits snd) "a padding of at most half the kernel";
  (w, slid w channels shape)

let slope input =
  let slope = fraction input in
  require (Z.sign slope.numerator >= 0 && Z.leq slope.numerator slope.denominator) "a slope from 0 to 1";
  slope

let compare_fractions (a : Checker.fraction) (b : Checker.fraction) =
  Z.compare (Z.mul a.numerator b.denominator) (Z.mul b.numerator a.denominator)

let clamp input =
  let least = fraction input in
  let most = fraction input in
  require (compare_fractions least most <= 0) "a lower end that is at most the upper one";
  Checker.Clamp (least, most)

(* Each extent of the second is that of the first, or 1. *)
let multiplied ((channels, height, width) as shape) (c, h, w) =
  let fits size other = other = size || other = 1 in
  require (fits channels c && fits height h && fits width w) "a second input whose extents are those of the first, or 1";
  shape

(* Of what the layer reads, two or more. *)
let added shapes =
  let first = List.hd shapes in
  require (List.for_all (( = ) first) shapes) "inputs of one shape";
  first

let joined shapes =
  let _, height, width = List.hd shapes in
  require (List.for_all (fun (_, h, w) -> h = height && w = width) shapes) "inputs with the same rows and columns";
  (List.fold_left (fun sum (channels, _, _) -> sum + channels) 0 shapes, height, width)

(* What a layer does, and the shape of what it gives. *)
let operation shapes input =
  let kind = word input in
  match kind, shapes with
  | "add", _ :: _ :: _ -> (Checker.Add, added shapes)
  | "concat", _ :: _ :: _ -> (Checker.Concat, joined shapes)
  | "multiply", [ shape; other ] -> (Checker.Multiply, multiplied shape other)
  | "conv2d", [ shape ] -> conv2d shape input
  | "linear", [ shape ] -> linear shape input
  | "relu", [ shape ] -> (Checker.Relu, shape)
  | "clamp", [ shape ] -> (clamp input, shape)
  | "leaky_relu", [ shape ] -> (Checker.LeakyRelu (slope input), shape)
  | "sigmoid", [ shape ] -> (Checker.Sigmoid, shape)
  | "tanh", [ shape ] -> (Checker.Tanh, shape)
  | "inverse_root", [ shape ] -> (Checker.InverseRoot, shape)
  | "max_pool2d", [ shape ] ->
      let w, shape = pooling shape input in
      (Checker.MaxPool2d w, shape)
  | "avg_pool2d", [ shape ] ->
      let w, shape = pooling shape input in
      (Checker.AvgPool2d w, shape)
  | "flatten", [ (channels, height, width) ] -> (Checker.Flatten, (product [ channels; height; width ], 1, 1))
  | "upsample_nearest", [ (channels, height, width) ] ->
      let ((down, along) as factor) = pair 1 input in
      (Checker.UpsampleNearest factor, (channels, product [ height; down ], product [ width; along ]))
  | other, _ -> wrong "a layer of as many inputs as its kind has" other

let most_layers = 4096

let network input =
  the_word "network" input;
  let channels = positive input in
  let height = positive input in
  let width = positive input in
  ignore (product [ channels; height; width ]);
  let means = list_of [ channels ] fraction input in
  let deviations = list_of [ channels ] fraction input in
  require (List.for_all (fun (each : Checker.fraction) -> Z.sign each.numerator > 0) deviations) "a positive std";
  let count = positive input in
  if count > most_layers then raise (Too_large (Printf.sprintf "there are more than %d layers" most_layers));
  let shapes = Array.make (count + 1) (channels, height, width) in
  let layer number =
    let inputs = any_list (index "a layer before this one" number) input in
    let does, ((c, h, w) as shape) = operation (List.map (Array.get shapes) inputs) input in
    ignore (product [ c; h; w ]);
    shapes.(number) <- shape;
    { Checker.inputs; does }
  in
  let rec from number made = if number > count then List.rev made else from (number + 1) (layer number :: made) in
  let layers = from 1 [] in
  { Checker.input_channels = channels; input_height = height; input_width = width; means; deviations; layers }

(* The bytes of a picture for a network *)
let picture (n : Checker.network) input =
  the_word "picture" input;
  require_more input;
  let byte input = Z.of_int (digits 2 0 input) in
  let made = so_many (n.input_channels * n.input_height * n.input_width) byte input in
  (match next input with ' ' -> () | '\n' -> input.ended <- true | _ -> raise (Wrong "expected fewer digits"));
  made
