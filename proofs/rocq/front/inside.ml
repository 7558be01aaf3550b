(* Points that satisfy what is stated at a patch, where an observable is about least or greatest. Untrusted: the checker
   computes the observables at a point, and whether it satisfies the statements.

   The weights that prove an end best have a quadratic function that is least at a vector, and there the end is
   attained. Floats find it, and Newton's steps move it to where all statements hold with room to spare. Distances have
   a coordinate more, the last one, which is 0 in every prototype. *)

open Ends

(* A function of y and the interval that it has to lie in. *)
type constraint_ = {
  about : int; (* the prototype; -1: none *)
  narrow : bool; (* floats hardly tell the ends apart *)
  value : float array -> float;
  slope : float array -> float array;
  low : float;
  high : float;
}

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
      let slope y =
        let made = Array.map (fun x -> 2. *. x) y in
        Floats.subtract made 2. vector;
        made
      in
      (distance vector, slope)
  | Product | Angle -> (product vector, fun _ -> Array.append vector [| 0. |])

(* The smaller ball of a space: of equal ones that about 0, which comes last. *)
let ball_of (points : Points.t) =
  List.fold_left
    (fun best (ball : Points.ball) ->
      match best with Some (other : Points.ball) when other.reach < ball.reach -> best | _ -> Some ball)
    None points.balls

let in_ball (points : Points.t) (ball : Points.ball) =
  let centre = Array.make points.depth ball.centre in
  { about = -1; narrow = false; value = distance centre; low = neg_infinity; high = ball.reach;
    slope = (fun y -> Array.mapi (fun d x -> if d < points.depth then 2. *. (x -. ball.centre) else 0.) y) }

(* What is stated, without the domain's ends. Of narrow intervals floats have to come near to the middles. *)
let narrowest = 1e-8
let near = 1e-11

let constraints (points : Points.t) scale (certificate : Checker.certificate) l =
  let end_of missing = function Some n -> points.observed n certificate.statement_unit | None -> missing in
  let stated =
    List.filter_map
      (function
        | Checker.AboutPatch (i, k, low, high) when i = l ->
            let value, slope = observable points k in
            let low = end_of neg_infinity low and high = end_of infinity high in
            let narrow = high -. low < narrowest *. scale in
            let middle = (low +. high) /. 2. and room = near *. scale in
            if narrow then Some { about = k; narrow; value; slope; low = middle -. room; high = middle +. room }
            else Some { about = k; narrow; value; slope; low; high }
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
  let used = Array.make count (-1) and free = Array.make count true in
  for column = 0 to count - 1 do
    let best = ref (-1) in
    for row = 0 to count - 1 do
      if free.(row) && (!best < 0 || Float.abs matrix.(row).(column) > Float.abs matrix.(!best).(column)) then best := row
    done;
    let pivot = matrix.(!best).(column) in
    let largest = Array.fold_left (fun most x -> Float.max most (Float.abs x)) 0. matrix.(column) in
    if Float.abs pivot > 1e-11 *. largest && pivot <> 0. then begin
      used.(column) <- !best;
      free.(!best) <- false;
      for row = 0 to count - 1 do
        if row <> !best then begin
          let times = matrix.(row).(column) /. pivot in
          Floats.subtract matrix.(row) times matrix.(!best);
          right.(row) <- right.(row) -. (times *. right.(!best))
        end
      done
    end
  done;
  let share column row = if row < 0 then 0. else right.(row) /. matrix.(row).(column) in
  Array.mapi share used

(* The products of slopes: of prototypes they follow from those of the prototypes. *)
let gram (points : Points.t) chosen slopes y =
  let values = Array.map (fun each -> each.value y) chosen in
  let entry i j =
    let a = chosen.(i).about and b = chosen.(j).about in
    if a < 0 || b < 0 then Floats.dot slopes.(i) slopes.(j)
    else begin
      let product = (Points.products points a).(b) in
      if points.kind <> Distance then product
      else 2. *. (values.(i) +. values.(j) -. points.squares.(a) -. points.squares.(b) +. (2. *. product))
    end
  in
  Array.mapi (fun i _ -> Array.init (Array.length chosen) (entry i)) chosen

(* Moved to where all hold with room to spare; None if that is not found. With [keep_off], what was off
   once is kept where it is later. *)
let moved_keeping keep_off points scale all y =
  let rec step left kept y =
    let off = List.map (fun each -> miss scale each y <> 0.) all in
    if not (Array.for_all Floats.is_finite y) then None
    else if not (List.mem true off) then Some y
    else if left = 0 then None
    else begin
      let kept = if keep_off then List.map2 ( || ) kept off else off in
      let chosen = List.filter_map (fun (each, keep) -> if keep then Some each else None) (List.combine all kept) in
      let chosen = Array.of_list chosen in
      let slopes = Array.map (fun each -> each.slope y) chosen in
      let right = Array.map (fun each -> miss scale each y) chosen in
      let matrix = gram points chosen slopes y in
      let y = Array.copy y in
      Array.iteri (fun i c -> Floats.subtract y (-.c) slopes.(i)) (solved matrix right);
      step (left - 1) kept y
    end
  in
  step steps (List.map (fun _ -> false) all) y

let moved points scale all y =
  match moved_keeping true points scale all y with
  | Some y -> Some y
  | None -> moved_keeping false points scale all y

(* Where the weights of an end attain it. *)
let attained (points : Points.t) (found : found) side k =
  let span = found.view.span in
  let { weights; curve; _ } = with_weights side k found in
  let sum = Array.make (points.depth + 1) 0. in
  let add times vector = Floats.subtract sum (-.times) vector in
  let relative k = Span.vector span k in
  if curve > 0. then begin
    add (sign_of span side /. curve) (relative k);
    Array.iteri
      (fun i (s : Span.statement) -> if weights.(i) <> 0. then add (weights.(i) /. curve) (relative s.about))
      span.statements
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
      let middle = if each.high = infinity then each.low else (each.low +. each.high) /. 2. in
      middle -. each.value y
    in
    let least = List.fold_left (fun least each -> Float.min least (lack each)) infinity all in
    if least > 0. && Floats.is_finite least then y.(points.depth) <- sqrt least;
    y
  end

let far_away = ldexp 1. 60

(* Of what has a weight, the end at which the weights hold it. *)
let aimed (points : Points.t) scale (found : found) side k all =
  let span = found.view.span in
  let { weights; _ } = with_weights side k found in
  let largest = Array.fold_left (fun most w -> Float.max most (Float.abs w)) 1. weights in
  let weight_of about =
    let total = ref 0. in
    Array.iteri
      (fun i (s : Span.statement) ->
        if points.twins.(s.about) = points.twins.(about) then total := !total +. weights.(i))
      span.statements;
    !total
  in
  let end_of each =
    let w = if each.about < 0 then 0. else weight_of each.about in
    let width = Float.min (each.high -. each.low) (4. *. room *. scale) in
    if Float.abs w < 1e-7 *. largest || each.narrow then each
    else if (w > 0.) = (span.curve > 0.) then
      if each.high = infinity then each else { each with low = each.high -. width }
    else if each.low = neg_infinity then each
    else { each with high = each.low +. width }
  in
  List.map end_of all

(* The mean of points: what is linear in y and N holds of it too, and of distances its coordinate more is greater. *)
let mean (points : Points.t) weighted =
  let length v = Floats.dot v v in
  let sum = Array.make (points.depth + 1) 0. and far = ref 0. in
  List.iter
    (fun (share, y) ->
      Floats.subtract sum (-.share) y;
      far := !far +. (share *. length y))
    weighted;
  if points.kind = Distance then begin
    sum.(points.depth) <- 0.;
    sum.(points.depth) <- sqrt (Float.max 0. (!far -. length sum))
  end;
  sum

(* A share of the way to the middle of all: then no narrow statement is lost where a point is made integers. *)
let aside = 1e-7

(* As the checker takes it: over 2^bits times the unit of the coordinates. *)
let integers (head : Checker.head) (points : Points.t) bits y =
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
  (Array.map of_float own, Floats.to_integer (2 * (points.places + bits)) (last *. last))

let nowhere = { Checker.place = []; lift = Z.of_int (-1) }

(* How points of a patch are found: of a side and a prototype floats, and of these what the checker takes. *)
type search = {
  unit : Z.t;
  unbounded : bool; (* distances may be as great as one likes *)
  point : side -> int -> float array * float array option; (* where Newton's steps start, and where they end *)
  integers_of : float array -> Checker.point;
  narrow_ones : bool;
  serves : Checker.point -> bool;
}

let search (head : Checker.head) (points : Points.t) (patch : patch) (certificate : Checker.certificate) l =
  let scale = scale_of patch in
  let all = constraints points scale certificate l in
  let widest = Array.fold_left (fun most (s : Span.statement) -> Float.max most (s.high -. s.low)) 0. patch.stated in
  let unbounded = points.kind = Distance && List.for_all (fun each -> each.high = infinity) all in
  let narrow = List.filter (fun each -> each.narrow) all in
  let bits = if narrow = [] then max 0 (80 - points.places) else Z.numbits certificate.statement_unit + 128 in
  let near k = (Checker.measure_of head (Array.to_list (points.integers k))).near in
  let sums =
    List.filter_map
      (function
        | Checker.AboutPatch (i, k, Some low, Some high)
          when i = l && List.exists (fun each -> each.about = k) narrow ->
            Some (k, Z.add low high)
        | _ -> None)
      certificate.statements
  in
  let level = Level.make points head certificate.statement_unit bits near sums in
  let stated =
    lazy (Checker.stated_here head certificate (List.map (Checker.measure_of head) head.prototypes) l)
  in
  let integers_of y = let place, lift = integers head points bits y in Level.settled points head level place lift in
  let point side k =
    let found = estimate patch side k in
    let found = if widest > wide *. scale then improved patch side k found else found in
    let start = raised points all (attained points found side k) in
    if side = High && unbounded then start.(points.depth) <- sqrt (far_away *. scale);
    let found =
      match moved points scale (aimed points scale found side k all) start with
      | Some y -> Some y
      | None -> moved points scale all start
    in
    (start, found)
  in
  let serves made = Checker.serves head certificate (Level.unit level) (Lazy.force stated) made in
  { unit = Level.unit level; unbounded; point; integers_of; narrow_ones = narrow <> []; serves }

let shares_aside = [ 1e-6; 1e-4; 1e-2; 0.1; 0.3 ]

(* Made integers, given points of the patch. Where Newton's steps fail, the way to the middle of these may lead to where
   all statements hold. *)
let finisher (points : Points.t) search known =
  if known = [] then fun _ -> nowhere
  else begin
    let share = 1. /. float_of_int (List.length known) in
    let middle = mean points (List.map (fun y -> (share, y)) known) in
    let between share y = search.integers_of (mean points [ (1. -. share, y); (share, middle) ]) in
    let rec first_of y = function
      | [] -> search.integers_of middle
      | share :: others ->
          let made = between share y in
          if search.serves made then made else first_of y others
    in
    function
    | start, None -> first_of start (if Array.for_all Floats.is_finite start then shares_aside else [])
    | _, Some y -> if search.narrow_ones then between aside y else search.integers_of y
  end

let near search (low, high) = List.filter_map snd (if search.unbounded then [ low ] else [ low; high ])

(* Two points for each prototype that is wanted, and for all others one that all share. Where one is not found, another
   one of the patch serves. *)
let pairs (head : Checker.head) (points : Points.t) (patch : patch) (certificate : Checker.certificate) l wanted =
  let search = search head points patch certificate l in
  let chosen = List.filter wanted (List.init points.count Fun.id) in
  let both = List.map (fun k -> let low = search.point Low k in (low, search.point High k)) chosen in
  let finished = finisher points search (List.concat_map (near search) both) in
  let shared = finished ([| infinity |], None) in
  let made = List.concat_map (fun (low, high) -> [ finished low; finished high ]) both in
  let next = ref (-1) in
  let choice k =
    if wanted k then begin next := !next + 2; (!next, !next + 1) end else (0, 0)
  in
  { Checker.point_unit = search.unit; points_of = shared :: made; chosen = List.init points.count choice }

(* The points that are given, and two more for each of some prototypes. *)
let few_more (head : Checker.head) (points : Points.t) (patch : patch) (certificate : Checker.certificate) l about
    (given : Checker.patch_points) =
  let search = search head points patch certificate l in
  if not (Z.equal search.unit given.point_unit) then given
  else begin
    let both = List.map (fun k -> let low = search.point Low k in (low, search.point High k)) about in
    let finished = finisher points search (List.concat_map (near search) both) in
    let more = List.concat_map (fun (low, high) -> [ finished low; finished high ]) both in
    let first = List.length given.points_of in
    let place = Hashtbl.create 16 in
    List.iteri (fun at k -> Hashtbl.replace place k (first + (2 * at), first + (2 * at) + 1)) about;
    let choice k known = Option.value ~default:known (Hashtbl.find_opt place k) in
    { given with points_of = given.points_of @ more; chosen = List.mapi choice given.chosen }
  end

(* A margin of the only patch as the observable of one prototype more, and the side on which the margin is less. Of
   distances the margin is A |y|^2 - 2 <y, q>, but for a constant, so that it is least at q / A, or far from it; where A
   is 0, towards q. *)
let with_target (points : Points.t) gains =
  let q = Array.make points.depth 0. in
  Array.iteri (fun k g -> if g <> 0. then Floats.subtract q (-.g) points.vectors.(k)) gains;
  let curve = Array.fold_left ( +. ) 0. gains in
  let size = Array.fold_left (fun sum g -> sum +. Float.abs g) 0. gains in
  let vector, side =
    match points.kind with
    | Product | Angle -> (q, Low)
    | Distance ->
        if Float.abs curve > 1e-9 *. size then (Array.map (fun x -> x /. curve) q, if curve > 0. then Low else High)
        else (Array.map (fun x -> 1e4 *. x /. (size +. Span.tiny)) q, Low)
  in
  let more array x = Array.append array [| x |] in
  let integers k = if k < points.count then points.integers k else Array.make points.depth (Z.of_int 0) in
  ( { points with
      count = points.count + 1; integers; vectors = more points.vectors vector; sizes = more points.sizes 1.;
      squares = more points.squares (Floats.dot vector vector);
      totals = more points.totals (Points.sum_over vector Fun.id);
      products = Array.make (points.count + 1) [||]; lowest = more points.lowest neg_infinity;
      highest = more points.highest infinity; twins = more points.twins points.count },
    side )

(* Any point of the space, where it is about least without statements. *)
let anywhere (points : Points.t) side =
  let vector = points.vectors.(points.count - 1) in
  match points.kind with
  | Distance ->
      Array.append vector [| (if side = Low then 0. else sqrt far_away) |]
  | Product | Angle -> (
      match ball_of points with
      | None -> Array.make (points.depth + 1) 0.
      | Some ball ->
          let length = sqrt (Floats.dot vector vector) +. Span.tiny in
          let reach = (1. -. 1e-12) *. sqrt ball.reach in
          Array.append (Array.map (fun x -> ball.centre -. (reach *. x /. length)) vector) [| 0. |])

(* A point where the margin whose gains these are is about least; [patch_of] makes the patch of the statements left. *)
let least_margin (head : Checker.head) (points : Points.t) patch_of (certificate : Checker.certificate) gains =
  let points, side = with_target points gains in
  match patch_of points with
  | None ->
      let bits = max 0 (80 - points.places) in
      let place, lift = integers head points bits (anywhere points side) in
      let lift = if points.kind = Distance then lift else Z.of_int 0 in
      (Z.shift_left (Z.of_int 1) bits, { Checker.place = Array.to_list place; lift })
  | Some patch ->
      let search = search head points patch certificate 0 in
      let target = search.point side (points.count - 1) in
      let both = List.init (points.count - 1) (fun k -> let low = search.point Low k in (low, search.point High k)) in
      (search.unit, finisher points search (List.concat_map (near search) both) target)
