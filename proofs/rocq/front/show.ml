(* Prints what reader.ml makes of a text, field by field, as JSON: for the tests of the reader. No part of the checker.

     question = ("H" head | "C" certificate | "P" prices | "I" image | "N" network | "V" picture) LF
                                                            the head first, and the network before its pictures
     answer   = JSON LF, or "error: " WHY LF

   The reader gets so many bytes of a line at once as the argument says, if there is one. *)

let integer = Z.to_string

let text word = "\"" ^ word ^ "\""
let list item items = "[" ^ String.concat "," (List.map item items) ^ "]"
let matrix = list (list integer)
let natural = string_of_int
let option item = function None -> "null" | Some value -> item value
let fraction (value : Checker.fraction) = list integer [ value.numerator; value.denominator ]
let tagged word fields = list (fun each -> each) (text word :: fields)
let record fields = "{" ^ String.concat "," (List.map (fun (name, value) -> text name ^ ":" ^ value) fields) ^ "}"

let geometry : Checker.geometry -> string = function
  | Euclidean -> tagged "euclidean" []
  | Cosine epsilon -> tagged "cosine" [ fraction epsilon ]
  | RootedCosine epsilon -> tagged "rooted_cosine" [ fraction epsilon ]
  | InnerProduct radius -> tagged "inner_product" [ option fraction radius ]
  | Softmax -> tagged "softmax" []

let step : Checker.step -> string = function
  | Scaled -> tagged "scale" []
  | Added number -> tagged "add" [ fraction number ]
  | Multiplied number -> tagged "multiply" [ fraction number ]
  | Negation -> tagged "negate" []
  | LogRatioOf (over, under) -> tagged "log_ratio" [ fraction over; fraction under ]
  | ExpOf -> tagged "exp" []
  | RootOf -> tagged "root" []
  | SquareOf -> tagged "square" []
  | ZeroBelow number -> tagged "threshold" [ fraction number ]
  | CutAt0 -> tagged "rectify" []
  | ReciprocalOf number -> tagged "reciprocal" [ fraction number ]
  | FromPeak -> tagged "from_peak" []

let similarity : Checker.similarity -> string = function
  | LogRatio epsilon -> tagged "log_ratio" [ fraction epsilon ]
  | ExpDistance epsilon -> tagged "exp_distance" [ fraction epsilon ]
  | Threshold threshold -> tagged "threshold" [ fraction threshold ]
  | Identity -> tagged "identity" []
  | Negated -> tagged "negated" []
  | Exponential -> tagged "exponential" []
  | Quadratic -> tagged "quadratic" []
  | Rectified -> tagged "rectified" []
  | Steps steps -> tagged "steps" (List.map step steps)

let pooling : Checker.pooling -> string = function
  | MaxPool -> tagged "max" []
  | MaskedMax mask -> tagged "masked_max" [ list (list integer) mask ]
  | TopMean k -> tagged "top_mean" [ natural k ]
  | MaxMinusMean -> tagged "max_minus_mean" []
  | MaxMinusMeanDistance -> tagged "max_minus_mean_distance" []

let readout : Checker.readout -> string = function
  | Linear -> tagged "linear" []
  | SoftTree (absent, present) -> tagged "soft_tree" [ list integer absent; list integer present ]
  | Maximum -> tagged "maximum" []

let head (h : Checker.head) =
  record
    [ "depth", natural h.depth; "count", natural h.count; "classes", natural h.classes;
      "geometry", geometry h.head_geometry; "similarity", similarity h.head_similarity;
      "pooling", pooling h.head_pooling; "readout", readout h.head_readout;
      "coord_unit", integer h.coord_unit; "prototypes", matrix h.prototypes;
      "lower", option integer h.lower; "upper", option integer h.upper;
      "weight_unit", integer h.weight_unit; "weight", matrix h.weight; "bias", list integer h.bias;
      "scale_unit", integer h.scale_unit; "scales", list integer h.scales;
      "peak_unit", integer h.peak_unit; "peaks", list integer h.peaks ]

let statement : Checker.statement -> string = function
  | AboutPatch (l, j, low, high) -> tagged "patch" [ natural l; natural j; option integer low; option integer high ]
  | AboutActivation (j, low, high) -> tagged "activation" [ natural j; option integer low; option integer high ]
  | AboutOthers (except, low, high) ->
      tagged "others" [ list natural except; option integer low; option integer high ]
  | AboutSum (rivals, high) -> tagged "sum" [ option (list natural) rivals; integer high ]

let certificate (c : Checker.certificate) =
  record
    [ "predicted", natural c.predicted; "patches", natural c.patches;
      "statement_unit", integer c.statement_unit; "statements", list statement c.statements;
      "margin_unit", integer c.margin_unit; "margins", list integer c.margins ]

let prices =
  list (fun (rival, unit, values) -> list (fun each -> each) [ natural rival; integer unit; list integer values ])

let image (i : Checker.image) = record [ "image_unit", integer i.image_unit; "rows", matrix i.rows ]

let pair (first, second) = list natural [ first; second ]

let windows (w : Checker.windows) = list pair [ w.kernel; w.stride; w.padding; w.dilation ]

let operation : Checker.operation -> string = function
  | Conv2d (w, groups, unit, weights, biases) ->
      tagged "conv2d" [ windows w; natural groups; integer unit; matrix weights; list integer biases ]
  | LinearLayer (unit, weights, biases) -> tagged "linear" [ integer unit; matrix weights; list integer biases ]
  | Add -> tagged "add" []
  | Concat -> tagged "concat" []
  | Multiply -> tagged "multiply" []
  | Relu -> tagged "relu" []
  | Clamp (least, most) -> tagged "clamp" [ fraction least; fraction most ]
  | LeakyRelu slope -> tagged "leaky_relu" [ fraction slope ]
  | Sigmoid -> tagged "sigmoid" []
  | Tanh -> tagged "tanh" []
  | InverseRoot -> tagged "inverse_root" []
  | MaxPool2d w -> tagged "max_pool2d" [ windows w ]
  | AvgPool2d w -> tagged "avg_pool2d" [ windows w ]
  | Flatten -> tagged "flatten" []
  | UpsampleNearest factor -> tagged "upsample_nearest" [ pair factor ]

let network (n : Checker.network) =
  let layer (l : Checker.layer) = record [ "inputs", list natural l.inputs; "does", operation l.does ] in
  record
    [ "shape", list natural [ n.input_channels; n.input_height; n.input_width ]; "mean", list fraction n.means;
      "std", list fraction n.deviations; "layers", list layer n.layers ]

let most_at_once = match Sys.argv with [| _; most |] -> int_of_string most | _ -> 65536

let source_of line =
  let given = ref 0 in
  let fill chunk =
    let more = min most_at_once (String.length line - !given) in
    Bytes.blit_string line !given chunk 0 more;
    given := !given + more;
    more
  in
  Reader.source_of fill most_at_once

let () =
  let told = ref None in
  let network_told = ref None in
  let show input =
    match Reader.word input, !told with
    | "H", _ ->
        let h = Reader.head input in
        Reader.line_end input;
        told := Some h;
        head h
    | "C", Some h ->
        let c = Reader.certificate h input in
        Reader.line_end input;
        certificate c
    | "P", Some h ->
        let p = Reader.prices h input in
        Reader.line_end input;
        prices p
    | "I", Some h ->
        let i = Reader.image h input in
        Reader.line_end input;
        image i
    | "N", _ ->
        let n = Network_reader.network input in
        Reader.line_end input;
        network_told := Some n;
        network n
    | "V", _ when !network_told <> None ->
        let p = Network_reader.picture (Option.get !network_told) input in
        Reader.line_end input;
        list integer p
    | other, _ -> Reader.wrong "H, C, P, I, N or V" other
  in
  try
    while true do
      let line = input_line stdin ^ "\n" in
      print_endline
        (try show (Reader.input_of (source_of line)) with
        | Reader.Wrong why | Reader.Too_large why -> "error: " ^ String.escaped why
        | End_of_file -> "error: the line ends early")
    done
  with End_of_file -> ()
