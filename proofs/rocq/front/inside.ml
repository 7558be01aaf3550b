(* Points that satisfy what is stated at a patch, where an observable is about least or greatest. Untrusted: the checker
   computes the observables at a point, and whether it satisfies the statements.

   The weights that prove an end best have a quadratic function that is least at a vector, and there the end is attained.
   Floats find it, and Newton's steps move it to where all statements hold with room to spare. Distances have a coordinate
   more, the last one, which is 0 in every prototype. *)

open Ends

(* A function of y and the interval that it has to lie in. *)
type constraint_ = { value : float array -> float; slope : float array -> float array; low : float; high : float }

(* Of an interval, what is left on each side for rounding, as a share of it, and of the largest distance. *)
let share = 0.25
let room = 1e-9
let steps = 12

(* Of narrower intervals the middles tell enough. *)
let wide = 0.01

let distance vector y =
  let depth = Array.length vector in
  let sum = ref (y.(depth) *. y.(depth)) in
  for d = 0 to depth - 1 do
    let x = y.(d) -. vector.(d) in
    sum := !sum +. (x *. x)
  done;
  !sum

let product vector y =
  let sum = ref 0. in
  Array.iteri (fun d x -> sum := !sum +. (x *. y.(d))) vector;
  !sum

let observable (points : Points.t) k =
  let vector = points.vectors.(k) in
  match points.kind with
  | Distance ->
      (distance vector, fun y -> Array.mapi (fun d x -> 2. *. (x -. if d < points.depth then vector.(d) else 0.)) y)
  | Product | Angle -> (product vector, fun _ -> Array.init (points.depth + 1) (fun d -> if d < points.depth then vector.(d) else 0.))

(* The smaller ball of a space: of equal ones that about 0, which comes last. *)
let ball_of (points : Points.t) =
  List.fold_left
    (fun best (ball : Points.ball) ->
      match best with Some (other : Points.ball) when other.reach < ball.reach -> best | _ -> Some ball)
    None points.balls

let in_ball (points : Points.t) (ball : Points.ball) =
  let centre = Array.make points.depth ball.centre in
  { value = distance centre; low = neg_infinity; high = ball.reach;
    slope = (fun y -> Array.mapi (fun d x -> if d < points.depth then 2. *. (x -. ball.centre) else 0.) y) }

(* What is stated, without the domain's ends. *)
let constraints (points : Points.t) (certificate : Checker.certificate) l =
  let end_of missing = function Some n -> points.observed n certificate.statement_unit | None -> missing in
  let stated =
    List.filter_map
      (function
        | Checker.AboutPatch (i, k, low, high) when i = l ->
            let value, slope = observable points k in
            Some { value; slope; low = end_of neg_infinity low; high = end_of infinity high }
        | _ -> None)
      certificate.statements
  in
  stated @ match ball_of points with Some ball -> [ in_ball points ball ] | None -> []

let spare scale { low; high; _ } = Float.min (share *. (high -. low)) (room *. scale)

(* How far the value lies outside of what is aimed at. *)
let miss scale each y =
  let value = each.value y and spare = spare scale each in
  if value < each.low +. spare then each.low +. spare -. value
  else if value > each.high -. spare then each.high -. spare -. value
  else 0.

(* x with M x = b, by elimination; what depends on the rest is left 0. *)
let solved matrix right =
  let count = Array.length right in
  let used = Array.make count (-1) in
  for column = 0 to count - 1 do
    let best = ref (-1) in
    for row = 0 to count - 1 do
      let free = not (Array.exists (fun other -> other = row) used) in
      if free && (!best < 0 || Float.abs matrix.(row).(column) > Float.abs matrix.(!best).(column)) then best := row
    done;
    let pivot = matrix.(!best).(column) in
    let largest = Array.fold_left (fun most x -> Float.max most (Float.abs x)) 0. matrix.(column) in
    if Float.abs pivot > 1e-11 *. largest && pivot <> 0. then begin
      used.(column) <- !best;
      for row = 0 to count - 1 do
        if row <> !best then begin
          let times = matrix.(row).(column) /. pivot in
          Floats.subtract matrix.(row) times matrix.(!best);
          right.(row) <- right.(row) -. (times *. right.(!best))
        end
      done
    end
  done;
  Array.init count (fun column -> if used.(column) < 0 then 0. else right.(used.(column)) /. matrix.(used.(column)).(column))

(* Moved to where all hold with room to spare; None if that is not found. *)
let rec moved left scale all y =
  let off = List.filter (fun each -> miss scale each y <> 0.) all in
  if off = [] then Some y
  else if left = 0 || not (Array.for_all Floats.is_finite y) then None
  else begin
    let slopes = Array.of_list (List.map (fun each -> each.slope y) off) in
    let right = Array.of_list (List.map (fun each -> miss scale each y) off) in
    let matrix = Array.map (fun own -> Array.map (Floats.dot own) slopes) slopes in
    let step = solved matrix right in
    let y = Array.copy y in
    Array.iteri (fun i c -> Floats.subtract y (-.c) slopes.(i)) step;
    moved (left - 1) scale all y
  end

(* Where the weights of an end attain it. *)
let attained (points : Points.t) (found : found) side k =
  let span = found.view.span in
  let { weights; curve; _ } = with_weights side k found in
  let sum = Array.make (points.depth + 1) 0. in
  let add times vector = Array.iteri (fun d x -> sum.(d) <- sum.(d) +. (times *. x)) vector in
  let relative k = Span.vector span k in
  if curve > 0. then begin
    add (sign_of span side /. curve) (relative k);
    Array.iteri (fun i (s : Span.statement) -> if weights.(i) <> 0. then add (weights.(i) /. curve) (relative s.about)) span.statements
  end;
  if span.ball < 0 then add 1. points.vectors.(span.statements.(span.base).about)
  else begin
    let centre = (List.nth points.balls span.ball).centre in
    (* The vectors of products are not taken from the centre, but what they prove is. *)
    for d = 0 to points.depth - 1 do sum.(d) <- sum.(d) +. centre done
  end;
  sum

(* The last coordinate makes distances as large as they have to be. *)
let raised (points : Points.t) all y =
  if points.kind <> Distance then y
  else begin
    let lack each =
      let middle = if each.high = infinity then each.low else if each.low = neg_infinity then neg_infinity else (each.low +. each.high) /. 2. in
      middle -. each.value y
    in
    let least = List.fold_left (fun least each -> Float.min least (lack each)) infinity all in
    if least > 0. && Floats.is_finite least then y.(points.depth) <- sqrt least;
    y
  end

let far_away = ldexp 1. 60

(* As the checker takes it: over 2^bits times the unit of the coordinates. *)
let bits_of (points : Points.t) = max 0 (80 - points.places)

let checker_point (head : Checker.head) (points : Points.t) y =
  let bits = bits_of points in
  let of_float =
    match points.kind with
    | Angle -> Floats.to_integer (Z.numbits head.coord_unit - 1 + bits)
    | Distance | Product -> Floats.to_integer (points.places + bits)
  in
  let own = Array.sub y 0 points.depth in
  let own =
    match points.kind with
    | Distance ->
        (* from the prototypes' mean, which prototype 0 tells *)
        let first = points.integers 0 and centred = points.vectors.(0) in
        Array.mapi (fun d x -> x +. (Floats.of_integer points.places first.(d) -. centred.(d))) own
    | Product | Angle -> own
  in
  let last = y.(points.depth) in
  { Checker.place = Array.to_list (Array.map of_float own);
    lift = (if points.kind = Distance then Floats.to_integer (2 * (points.places + bits)) (last *. last) else Z.of_int 0) }

let nowhere = { Checker.place = []; lift = Z.of_int (-1) }

(* Two points for each prototype. Where one is not found, another one of the patch serves. *)
let pairs head (points : Points.t) (patch : patch) (certificate : Checker.certificate) l =
  let all = constraints points certificate l in
  let scale = scale_of patch in
  let widest = Array.fold_left (fun most (s : Span.statement) -> Float.max most (s.high -. s.low)) 0. patch.stated in
  let known = ref None in
  let point side k =
    let found = estimate patch side k in
    let found = if widest > wide *. scale then improved patch side k found else found in
    let start = raised points all (attained points found side k) in
    let unbounded = points.kind = Distance && List.for_all (fun each -> each.high = infinity) all in
    if side = High && unbounded then start.(points.depth) <- sqrt (far_away *. scale);
    match moved steps scale all start with
    | Some y -> let made = checker_point head points y in if !known = None then known := Some made; Some made
    | None -> None
  in
  let both = List.init points.count (fun k -> let low = point Low k in (low, point High k)) in
  let other = Option.value !known ~default:nowhere in
  { Checker.point_unit = Z.shift_left (Z.of_int 1) (bits_of points);
    points_of = List.map (fun (low, high) -> (Option.value low ~default:other, Option.value high ~default:other)) both }
