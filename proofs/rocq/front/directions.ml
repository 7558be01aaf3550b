(* Vectors in which the vector of a patch is known, for Span.v: orthonormal ones, made of the statements. Part of the
   hinter: untrusted.

   They are those of the span's basis. With rounded weights they are nearly orthogonal still, and all are as long. *)

open Ends

type t = {
  scale : Z.t; (* the square of their length, for the checker *)
  weights : Z.t list list; (* of each, in the order of the certificate *)
  doubt : float; (* how far from the centre along any of them the intervals' widths leave y *)
  wanted : int array; (* how many of them, the first ones, are to give the ends of each prototype *)
  view : view; (* that of the patch's ball *)
  centre : Centre.t;
  mutable asked : (int * int * (unit -> unit)) list; (* prototypes, how many they take, and what tells of them else *)
}

(* Those of the basis as sums of the statements' vectors. *)
let combinations (span : Span.t) =
  let count = Array.length span.statements and size = Array.length span.kept in
  let made = Array.make size [||] in
  for c = 0 to size - 1 do
    let own = Array.make count 0. and i = span.kept.(c) in
    own.(i) <- 1.;
    for before = 0 to c - 1 do
      Floats.subtract own span.basis.(before).(i) made.(before)
    done;
    made.(c) <- Array.map (fun share -> share /. span.pivots.(c)) own
  done;
  made

(* With distances the weights of each add up to 0. *)
let with_origin (span : Span.t) shares =
  if span.curve > 0. then shares.(span.base) <- -.Array.fold_left ( +. ) 0. shares;
  shares

let total shares = Array.fold_left (fun sum share -> sum +. Float.abs share) 0. shares

(* From how much larger than the vectors they make up weights are too coarse. *)
let steep = 1e4

let make (points : Points.t) patch centre at =
  let view = Centre.view_of patch at in
  let span = view.span in
  let statements = span.statements in
  let sizes = Array.map (fun (s : Span.statement) -> points.sizes.(s.about)) statements in
  let usual = if Array.length sizes = 0 then 1. else sizes.(0) in
  let rows = Array.map (with_origin span) (combinations span) in
  let doubt row =
    let sum = ref 0. in
    Array.iteri (fun i share -> sum := !sum +. (Float.abs share *. Span.half span i /. 2.)) row;
    !sum
  in
  let doubt = Array.fold_left (fun most row -> Float.max most (doubt row)) 0. rows in
  let longer most (s : Span.statement) = Float.max most span.norms.(s.about) in
  let longest = Array.fold_left longer 0. statements in
  let rows = Array.map (Array.mapi (fun i share -> share *. usual /. sizes.(i))) rows in
  let largest = Array.fold_left (fun most row -> Float.max most (total row)) 1e-300 rows in
  if not (largest *. sqrt longest < steep) then None
  else begin
    let bits = Centre.room - 1 - snd (Float.frexp largest) in
    let whole row =
      let integers = Array.map (fun share -> Floats.to_integer bits share) row in
      if span.curve > 0. then begin
        integers.(span.base) <- Z.of_int 0;
        integers.(span.base) <- Z.neg (Array.fold_left Z.add (Z.of_int 0) integers)
      end;
      let made = Array.make (Array.length patch.stated) (Z.of_int 0) in
      Array.iteri (fun i (low, _) -> made.(low) <- integers.(i)) patch.places;
      Array.to_list made
    in
    let length = bits + points.places in
    let scale = Floats.to_integer (2 * length) (usual *. usual) in
    if Z.sign scale <= 0 then None
    else
      Some
        { scale; view; centre; doubt; asked = []; weights = List.map whole (Array.to_list rows);
          wanted = Array.make points.count 0 }
  end

(* Where little is left of a prototype off the directions, the square of that is too coarse. *)
let clear = 1e-3

(* As few of the first directions as it takes to give this end of prototype k, or all; whether they give it, and whether
   what is left is clear. *)
let enough_for { view = { span; _ }; centre; doubt; _ } side k enough =
  let column = Span.column span k in
  let r = centre.Centre.radius in
  let square, share =
    if span.curve > 0. then
      (span.norms.(k) -. (2. *. centre.along.(k)) +. centre.square, fun c -> column.(c) -. span.foot.(c))
    else (span.norms.(k), fun c -> column.(c))
  in
  let value count rest =
    (* The checker takes up to twice this root (Root.v, [coarse_root]). *)
    let along = 2. *. sqrt (float_of_int count *. Float.max 0. (square -. rest)) in
    let reach = (r *. sqrt (Float.max 0. rest)) +. (doubt *. along) in
    if span.curve > 0. then
      let middle = square +. (r *. r) in
      (match side with Low -> middle -. centre.slack | High -> -.middle) -. (2. *. reach)
    else begin
      let middle = centre.along.(k) +. ((Whole.ball_of span).centre *. span.points.totals.(k)) in
      (match side with Low -> middle | High -> -.middle) -. reach
    end
  in
  let rec first c rest =
    let given = c > 0 && value c rest >= enough in
    if given || c = Array.length column then (c, given, rest > clear *. square)
    else begin
      let b = share c in
      first (c + 1) (rest -. (b *. b))
    end
  in
  first 0 square

(* Has directions give this end of prototype k; or, where statements are narrow and it was found in the same view, all of
   them, which nearly do; or calls [tell]. *)
let want patch directions side k view enough tell =
  match directions with
  | Some d when patch.twins.(k) < 0 && not (enough = infinity && d.view.span.wide) ->
      let count, given, is_clear = enough_for d side k enough in
      let nearly = not d.view.span.wide && count > 0 && d.view == Lazy.force view in
      if is_clear && (given || nearly) then d.asked <- (k, count, tell) :: d.asked else tell ()
  | _ -> tell ()

(* Microseconds, roughly: of the direction of this number, which is a sum of as many rows of products, each in so many
   pieces; of an end from so many directions, and from weights for so many statements. *)
let of_row pieces count = 0.25 *. float_of_int (pieces * (count + 1))
let from_directions count = 3. +. (0.4 *. float_of_int count)
let from_weights statements = 4. +. (0.04 *. float_of_int ((statements + 1) * (statements + 1)))

(* The lists that the checker packs (Packing.v). *)
let piece = 64

(* So many of the first directions as are worth their sums, for all that was asked; the rest is told otherwise. *)
let settle d =
  let size = List.length d.weights and statements = Array.length d.view.span.statements in
  let pieces = (Array.length d.wanted + piece - 1) / piece in
  let targets = Array.make (size + 1) 0 in
  List.iter (fun (_, count, _) -> targets.(count) <- targets.(count) + 1) d.asked;
  let best = ref 0 and most = ref 0. and gain = ref 0. in
  for count = 1 to size do
    let each = from_weights statements -. from_directions count in
    gain := !gain +. (float_of_int targets.(count) *. each) -. of_row pieces count;
    if !gain > !most then begin best := count; most := !gain end
  done;
  List.iter
    (fun (k, count, tell) ->
      if count > !best then tell () else d.wanted.(k) <- max d.wanted.(k) count)
    d.asked;
  d.asked <- []
