(* Reads heads, certificates, prices and images from the text that verale/checker/proved/text.py defines. Trusted: what
   is proved is proved of the records that this file makes.

   Strict: an item that the grammar does not have at its place is an error, never a default. So is a tensor that has
   not the rows and columns that depth, count and classes say, and an index that is out of range. *)

exception Wrong of string
(* The text does not keep the grammar. *)

exception Too_large of string
(* It does, but a number is larger than this program takes. *)

let wrong expected found = raise (Wrong (Printf.sprintf "expected %s, found %S" expected found))

(* Items. *)

(* Bytes as they come: [fill] puts the next ones into the chunk and says how many; none at the end. *)
type source = { fill : Bytes.t -> int; chunk : Bytes.t; mutable at : int; mutable filled : int }

let source_of fill size = { fill; chunk = Bytes.create size; at = 0; filled = 0 }

let source_of_string text =
  { fill = (fun _ -> 0); chunk = Bytes.of_string text; at = 0; filled = String.length text }

(* Whether the last byte that was read was not the end of a line. *)
let within_line source = source.at > 0 && Bytes.get source.chunk (source.at - 1) <> '\n'

(* A line of it. *)
type input = {
  source : source;
  item : Buffer.t;
  mutable ended : bool; (* whether the line feed has been read *)
}

let input_of source = { source; item = Buffer.create 64; ended = false }

(* The next byte; raises End_of_file. *)
let next { source; _ } =
  if source.at = source.filled then begin
    let filled = source.fill source.chunk in
    if filled = 0 then raise End_of_file;
    source.filled <- filled;
    source.at <- 0
  end;
  let byte = Bytes.get source.chunk source.at in
  source.at <- source.at + 1;
  byte

let longest_item = 1025

let require_more input = if input.ended then raise (Wrong "expected another item, found the end of the line")

(* The bytes up to the next space or line feed, which is read too. *)
let word input =
  require_more input;
  Buffer.clear input.item;
  let rec read () =
    match next input with
    | ' ' -> ()
    | '\n' -> input.ended <- true
    | _ when Buffer.length input.item = longest_item -> wrong "at most 1025 bytes" (Buffer.contents input.item)
    | byte -> Buffer.add_char input.item byte; read ()
  in
  read ();
  Buffer.contents input.item

let the_word expected input =
  let found = word input in
  if found <> expected then wrong expected found

let line_end input = if not input.ended then raise (Wrong "expected the end of the line, found another item")

(* Numbers. *)

(* Of each byte the digit in base 16 that it is, or 16. *)
let digit_of =
  let digit byte = match byte with '0' .. '9' -> Char.code byte - 48 | 'a' .. 'f' -> Char.code byte - 87 | _ -> 16 in
  Array.init 256 (fun code -> digit (Char.chr code))

let is_digit byte = digit_of.(Char.code byte) < 16

let integer_of text =
  let sign = if text <> "" && text.[0] = '-' then 1 else 0 in
  let digits = String.length text - sign in
  let canonical = digits = 1 && sign = 0 || digits >= 1 && text.[sign] <> '0' in
  let rec all_digits at = at = String.length text || (is_digit text.[at] && all_digits (at + 1)) in
  if not (canonical && digits <= 1024 && all_digits sign) then wrong "an integer in base 16" text;
  Z.of_string_base 16 text

(* A first part, and the last seven digits: either fits an integer of JavaScript too. *)
let in_two_parts first last =
  if first = 0 then Z.of_int last else Z.add (Z.shift_left (Z.of_int first) 28) (Z.of_int last)

(* An item that is short and not negative, and whose end is in the chunk, is read where it stands: heads have a million
   of them. Any other one is read as a word. *)
let integer input =
  require_more input;
  let { chunk; at; filled; _ } = input.source in
  let rec read place first last =
    let digits = place - at in
    if place = filled then None
    else
      match Bytes.get chunk place with
      | (' ' | '\n') as byte when digits = 1 || (digits > 1 && Bytes.get chunk at <> '0') ->
          input.source.at <- place + 1;
          if byte = '\n' then input.ended <- true;
          Some (in_two_parts first last)
      | byte ->
          let digit = digit_of.(Char.code byte) in
          if digit = 16 || digits = 14 then None
          else if digits < 7 then read (place + 1) 0 ((last lsl 4) lor digit)
          else read (place + 1) ((first lsl 4) lor (last lsr 24)) (((last land 0xffffff) lsl 4) lor digit)
  in
  match read at 0 0 with Some number -> number | None -> integer_of (word input)

(* An end of an interval, which may be missing. *)
let end_of input = match word input with "none" -> None | text -> Some (integer_of text)

let unit_of input =
  let number = integer input in
  if Z.sign number <= 0 then wrong "a positive integer" (Z.format "%x" number);
  number

(* Coq's naturals are machine integers in the extracted checker (Extract.v): sums and products of a few of these do not
   overflow. *)
let most = 1 lsl 20

let natural input =
  let number = integer input in
  if Z.sign number < 0 then wrong "a natural number" (Z.format "%x" number);
  if Z.gt number (Z.of_int most) then raise (Too_large (Printf.sprintf "a number is more than %d" most));
  Z.to_int number

let index expected limit input =
  let number = natural input in
  if number >= limit then wrong (Printf.sprintf "%s below %x" expected limit) (Printf.sprintf "%x" number);
  number

(* Lists. *)

let so_many count item input =
  let rec items left made = if left = 0 then List.rev made else items (left - 1) (item input :: made) in
  items count []

let any_list item input = so_many (natural input) item input

(* A list whose length is one of these. *)
let list_of lengths item input =
  let found = any_list item input in
  if not (List.mem (List.length found) lengths) then
    wrong
      ("a list of " ^ String.concat " or " (List.map (Printf.sprintf "%x") lengths))
      (Printf.sprintf "one of %x" (List.length found));
  found

let matrix lengths width input = list_of lengths (list_of [ width ] integer) input

let option item input =
  match word input with "none" -> None | "some" -> Some (item input) | other -> wrong "none or some" other

let fraction input =
  let numerator = integer input in
  let denominator = unit_of input in
  { Checker.numerator; denominator }

(* Heads. The theorems hold for every record; what is required of its numbers here is what v1.md requires, without which
   a record is no head: then what is proved would be about nothing that anybody means. *)

let require holds expected = if not holds then raise (Wrong ("expected " ^ expected))

let positive input =
  let number = natural input in
  require (number > 0) "a number from 1";
  number

(* A row of a mask: 0 and 1, with a 1. *)
let mask_row input =
  let row = any_list integer input in
  let is n z = Z.equal z (Z.of_int n) in
  require (List.for_all (fun z -> is 0 z || is 1 z) row && List.exists (is 1) row) "a row of 0 and 1 with a 1";
  row

(* Children of the nodes 0 to count - 1: a greater node, or a leaf q as -1 - q. Every node but 0 and every leaf, of
   which there is one more, is a child; as there are no more children than these, each is one once. *)
let require_tree count absent present =
  let seen = Array.make ((2 * count) + 1) false in
  let child node z =
    let least = Z.of_int (-1 - count) and most = Z.of_int (count - 1) in
    require (Z.geq z least && Z.leq z most) "a child that is a node or a leaf of the tree";
    let child = Z.to_int z in
    let place = if child < 0 then count + (-1 - child) else child in
    require (child < 0 || child > node) "a child that is a greater node";
    seen.(place) <- true
  in
  List.iteri child absent;
  List.iteri child present;
  seen.(0) <- true;
  require (Array.for_all Fun.id seen) "every node and every leaf in the tree"

let geometry input =
  match word input with
  | "euclidean" -> Checker.Euclidean
  | "cosine" -> Checker.Cosine (fraction input)
  | "rooted_cosine" -> Checker.RootedCosine (fraction input)
  | "inner_product" -> Checker.InnerProduct (option fraction input)
  | "softmax" -> Checker.Softmax
  | other -> wrong "a geometry" other

let step input =
  match word input with
  | "scale" -> Checker.Scaled
  | "add" -> Checker.Added (fraction input)
  | "multiply" -> Checker.Multiplied (fraction input)
  | "negate" -> Checker.Negation
  | "log_ratio" ->
      let over = fraction input in
      Checker.LogRatioOf (over, fraction input)
  | "exp" -> Checker.ExpOf
  | "root" -> Checker.RootOf
  | "square" -> Checker.SquareOf
  | "threshold" -> Checker.ZeroBelow (fraction input)
  | "rectify" -> Checker.CutAt0
  | "reciprocal" -> Checker.ReciprocalOf (fraction input)
  | "from_peak" -> Checker.FromPeak
  | other -> wrong "a step" other

let similarity input =
  match word input with
  | "log_ratio" -> Checker.LogRatio (fraction input)
  | "exp_distance" -> Checker.ExpDistance (fraction input)
  | "threshold" -> Checker.Threshold (fraction input)
  | "identity" -> Checker.Identity
  | "negated" -> Checker.Negated
  | "exponential" -> Checker.Exponential
  | "quadratic" -> Checker.Quadratic
  | "rectified" -> Checker.Rectified
  | "steps" -> Checker.Steps (any_list step input)
  | other -> wrong "a similarity" other

let pooling count input =
  match word input with
  | "max" -> Checker.MaxPool
  | "masked_max" -> Checker.MaskedMax (list_of [ count ] mask_row input)
  | "top_mean" -> Checker.TopMean (positive input)
  | "max_minus_mean" -> Checker.MaxMinusMean
  | "max_minus_mean_distance" -> Checker.MaxMinusMeanDistance
  | other -> wrong "a pooling" other

let readout count input =
  match word input with
  | "linear" -> Checker.Linear
  | "soft_tree" ->
      let absent = list_of [ count ] integer input in
      let present = list_of [ count ] integer input in
      require_tree count absent present;
      Checker.SoftTree (absent, present)
  | "maximum" -> Checker.Maximum
  | other -> wrong "a readout" other

(* Each field is read before the next one: OCaml does not say in which order a record's fields are computed. *)
let head input =
  the_word "head" input;
  let d = positive input in
  let p = positive input in
  let c = positive input in
  let head_geometry = geometry input in
  require (head_geometry <> Checker.Softmax || d = p) "as many prototypes as coordinates";
  let head_similarity = similarity input in
  let head_pooling = pooling p input in
  let head_readout = readout p input in
  let rows = if head_geometry = Checker.Softmax then 0 else p in
  let columns = match head_readout with Checker.SoftTree _ -> p + 1 | _ -> p in
  let biases = if head_readout = Checker.Maximum then p else c in
  let coord_unit = unit_of input in
  let prototypes = matrix [ rows ] d input in
  let lower = option integer input in
  let upper = option integer input in
  let weight_unit = unit_of input in
  let weight = matrix [ c ] columns input in
  let bias = list_of [ biases ] integer input in
  let scale_unit = unit_of input in
  let scales = list_of [ 0; p ] integer input in
  require (List.for_all (fun scale -> Z.sign scale > 0) scales) "positive scales";
  let peak_unit = unit_of input in
  let peaks = list_of [ 0; p ] integer input in
  { Checker.depth = d; count = p; classes = c; head_geometry; head_similarity; head_pooling; head_readout;
    coord_unit; prototypes; lower; upper; weight_unit; weight; bias; scale_unit; scales; peak_unit; peaks }

(* What is about a head. *)

let certificate (head : Checker.head) input =
  the_word "certificate" input;
  let predicted = index "a class" head.classes input in
  let patches = natural input in
  let prototype input = index "a prototype" head.count input in
  let statement input =
    match word input with
    | "patch" ->
        let l = index "a patch" patches input in
        let j = prototype input in
        let low = end_of input in
        let high = end_of input in
        Checker.AboutPatch (l, j, low, high)
    | "activation" ->
        let j = prototype input in
        let low = end_of input in
        let high = end_of input in
        Checker.AboutActivation (j, low, high)
    | "others" ->
        let except = any_list prototype input in
        let low = end_of input in
        let high = end_of input in
        Checker.AboutOthers (except, low, high)
    | "sum" ->
        require (head.head_readout = Checker.Linear) "a linear readout";
        let rivals = option (any_list (index "a class" head.classes)) input in
        let high = integer input in
        Checker.AboutSum (rivals, high)
    | other -> wrong "a statement" other
  in
  let statement_unit = unit_of input in
  let statements = any_list statement input in
  let margin_unit = unit_of input in
  let margins = list_of [ head.classes ] integer input in
  { Checker.predicted; patches; statement_unit; statements; margin_unit; margins }

(* Hints against some rivals: the rival, the prices' unit, and a price for each prototype. They need not be right. *)
let prices (head : Checker.head) input =
  the_word "prices" input;
  let against input =
    let rival = index "a class" head.classes input in
    let unit = unit_of input in
    let prices = list_of [ head.count ] integer input in
    (rival, unit, prices)
  in
  any_list against input

(* What the paradigm adds to the reference margin. *)
let addition input =
  match word input with
  | "nothing" -> Checker.Nothing
  | "prices" -> Checker.Prices
  | "joint" -> Checker.JointMargin
  | other -> wrong "nothing, prices or joint" other

let statement_index (certificate : Checker.certificate) input =
  index "a statement" (List.length certificate.statements) input

let digit input =
  let byte = next input in
  let digit = digit_of.(Char.code byte) in
  if digit = 16 then wrong "a digit in base 16" (String.make 1 byte);
  digit

(* So many digits, at most seven: they fit an integer of JavaScript too. *)
let rec digits count made input = if count = 0 then made else digits (count - 1) ((made lsl 4) lor digit input) input

(* How often two divides a number that is not 0. *)
let rec twos number = if number land 1 = 1 then 0 else 1 + twos (number lsr 1)

(* A finite binary64, of 16 digits: 1 bit for the sign, 11 for the exponent, 52 for the fraction. It is the first number
   times 2 to the power of the second; the first is odd, or both are 0. *)
let float input =
  let top = digits 3 0 input in
  let first = digits 6 0 input in
  let last = digits 7 0 input in
  let exponent = top land 0x7ff in
  if exponent = 0x7ff then raise (Wrong "expected a finite number");
  let leading = if exponent = 0 then first else first lor 0x1000000 in
  if leading = 0 && last = 0 then (Z.zero, 0)
  else begin
    let zeros = if last = 0 then twos leading else twos last in
    let odd =
      if last = 0 then Z.of_int (leading lsr zeros)
      else Z.shift_right (Z.add (Z.shift_left (Z.of_int leading) 28) (Z.of_int last)) zeros
    in
    let power = max exponent 1 - 1075 + (if last = 0 then 28 + zeros else zeros) in
    ((if top >= 0x800 then Z.neg odd else odd), power)
  end

(* Their unit is the least power of two that makes them integers. *)
let image (head : Checker.head) input =
  the_word "image" input;
  let row input =
    require_more input;
    let made = so_many head.depth float input in
    (match next input with ' ' -> () | '\n' -> input.ended <- true | _ -> raise (Wrong "expected fewer digits"));
    made
  in
  let rows = any_list row input in
  let least = List.fold_left (List.fold_left (fun least (_, power) -> Int.min least power)) 0 rows in
  let whole (number, power) = Z.shift_left number (power - least) in
  { Checker.image_unit = Z.shift_left Z.one (-least); rows = List.map (List.map whole) rows }
