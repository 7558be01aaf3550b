(* A head's prototypes as floats. Part of the hinter: untrusted.

   One unit serves for all coordinates, 2^places of the head's integers, so that no coordinate is far above 1. What
   statements speak of is y of Embedding.v in that unit; with cosines it is u of Embedding.v itself, and the prototypes
   are divided by their sizes. *)

type kind = Distance | Product | Angle

(* A ball that holds y because the domain does. [factor] makes the weight of the checker's fact out of that of
   |y - centre|^2 <= reach. *)
type ball = { centre : float (* in every coordinate *); reach : float; factor : float }

type t = {
  kind : kind;
  count : int;
  depth : int;
  places : int;
  integers : int -> Z.t array; (* the head's own *)
  vectors : float array array; (* of distances: from their mean *)
  sizes : float array; (* what they were divided by *)
  squares : float array;
  totals : float array; (* the sums of their coordinates *)
  products : float array array; (* of one prototype with all others; empty: not computed yet *)
  lowest : float array; (* the domain's own ends of the observables *)
  highest : float array;
  twins : int array; (* of every prototype the first one that is the same *)
  balls : ball list; (* in the order of Facts.v; none for distances, which do without *)
  round : Z.t; (* what the checker's fact of the ball that is no box has of |y|^2 *)
  small : int; (* the largest observables are not far below 2^-small *)
  observed : Z.t -> Z.t -> float; (* the observable n / d in this unit *)
  unit_of_ends : Z.t -> float; (* what an observable in this unit is multiplied by for its end over that one *)
}

let sum_over u term =
  let sum = ref 0. in
  Array.iter (fun x -> sum := !sum +. term x) u;
  !sum

let square x = x *. x

(* The prototypes' products with that of this index. *)
let products points j =
  if Array.length points.products.(j) = 0 then begin
    let own = points.vectors.(j) in
    points.products.(j) <- Array.map (fun vector -> Floats.dot own vector) points.vectors
  end;
  points.products.(j)

(* The prototype itself, those that are the same, and so many that are nearest to it or to its opposite. *)
let nearest points ?(others = 3) about =
  let row = products points about in
  let like k =
    match points.kind with
    | Distance -> (2. *. row.(k)) -. points.squares.(k)
    | Product | Angle -> Float.abs row.(k) /. sqrt (points.squares.(k) +. 1e-300)
  in
  let same, rest = List.partition (fun k -> points.twins.(k) = points.twins.(about)) (List.init points.count Fun.id) in
  let ranked = List.sort (fun j k -> compare (like k : float) (like j)) rest in
  same @ List.filteri (fun at _ -> at < others) ranked

let twins_of plain =
  let seen = Hashtbl.create (Array.length plain) in
  let twin k vector =
    let key = Hashtbl.hash_param 100 100 vector in
    match List.find_opt (fun other -> plain.(other) = vector) (Hashtbl.find_all seen key) with
    | Some other -> other
    | None -> Hashtbl.add seen key k; k
  in
  Array.mapi twin plain

let kind_of = function
  | Checker.Euclidean -> Some Distance
  | InnerProduct _ -> Some Product
  | Cosine _ | RootedCosine _ -> Some Angle
  | Softmax -> None

let centred depth vectors =
  let mean = Array.make depth 0. and share = 1. /. float_of_int (max 1 (Array.length vectors)) in
  Array.iter (Array.iteri (fun d x -> mean.(d) <- mean.(d) +. (x *. share))) vectors;
  Array.map (Array.mapi (fun d x -> x -. mean.(d))) vectors

(* The ranges of squared distances and of inner products over a box. *)
let distances low high vector =
  let gap x = Float.max 0. (Float.max (low -. x) (x -. high)) in
  (sum_over vector (fun x -> square (gap x)), sum_over vector (fun x -> square (Float.max (x -. low) (high -. x))))

let inner_products low high vector =
  if low = neg_infinity || high = infinity then (neg_infinity, infinity)
  else
    ( sum_over vector (fun x -> Float.min (low *. x) (high *. x)),
      sum_over vector (fun x -> Float.max (low *. x) (high *. x)) )

(* The signs of all coordinates, if all have the same. *)
type signs = Nonnegative | Nonpositive | Mixed

(* The range of inner products with vectors of a size and of these signs. *)
let products_in_ball size signs vector =
  let helps sign x =
    match signs with Nonnegative -> sign *. x > 0. | Nonpositive -> sign *. x < 0. | Mixed -> true
  in
  let part sign = size *. sqrt (sum_over vector (fun x -> if helps sign x then x *. x else 0.)) in
  (-.part (-1.), part 1.)

(* Of exactly that size: where no coordinate helps, the one that harms least. *)
let products_on_sphere size signs vector =
  let least = Array.fold_left Float.min infinity vector and most = Array.fold_left Float.max neg_infinity vector in
  let low, high = products_in_ball size signs vector in
  match signs with
  | Nonnegative -> ((if least > 0. then size *. least else low), if most < 0. then size *. most else high)
  | Nonpositive -> ((if most < 0. then -.size *. most else low), if least > 0. then -.size *. least else high)
  | Mixed -> (low, high)

let prepare_kind kind (h : Checker.head) count depth =
  let places = List.fold_left (List.fold_left (fun most x -> max most (Z.numbits x))) 0 h.prototypes in
  let one = Z.of_int 1 in
  let unit = h.coord_unit in
  let plain =
    Array.of_list (List.map (fun row -> Array.of_list (List.map (Floats.of_integer places) row)) h.prototypes)
  in
  let low = match h.lower with Some a -> Floats.of_integer places a | None -> neg_infinity in
  let high = match h.upper with Some b -> Floats.of_integer places b | None -> infinity in
  let signs =
    match h.lower, h.upper with
    | Some a, _ when Z.sign a >= 0 -> Nonnegative
    | _, Some b when Z.sign b <= 0 -> Nonpositive
    | _ -> Mixed
  in
  let sizes =
    Array.map (fun vector -> if kind = Angle then sqrt (Floats.dot vector vector) else 1.) plain
  in
  let vectors =
    match kind with
    | Distance -> centred depth plain
    | Product -> plain
    | Angle -> Array.mapi (fun k vector -> Array.map (fun x -> x /. sizes.(k)) vector) plain
  in
  let box =
    if kind = Angle || low = neg_infinity || high = infinity then []
    else
      [ { centre = (low +. high) /. 2.;
          reach = float_of_int depth *. square ((high -. low) /. 2.);
          factor = 0.5 } ]
  in
  let round =
    match h.head_geometry with
    | Cosine _ | RootedCosine _ ->
        [ { centre = 0.; reach = 1.; factor = Floats.of_ratio (-places) one unit } ]
    | InnerProduct (Some radius) ->
        let ratio = Floats.of_ratio places (Z.mul unit radius.numerator) radius.denominator in
        let denominator = Floats.of_integer 0 radius.denominator in
        [ { centre = 0.; reach = square ratio; factor = 1. /. square denominator } ]
    | _ -> []
  in
  let on_sphere =
    match h.head_geometry with Cosine e | RootedCosine e -> Z.sign e.numerator = 0 | _ -> false
  in
  let ends vector =
    match kind, round with
    | Distance, _ -> distances low high vector
    | Angle, _ -> if on_sphere then products_on_sphere 1. signs vector else products_in_ball 1. signs vector
    | Product, [] -> inner_products low high vector
    | Product, ball :: _ ->
        let radius = sqrt ball.reach in
        let a, b = inner_products (Float.max low (-.radius)) (Float.min high radius) vector in
        let c, d = products_in_ball radius signs vector in
        (Float.max a c, Float.min b d)
  in
  let both = Array.map ends (if kind = Angle then vectors else plain) in
  let squared = Z.mul unit unit in
  let rows = Array.of_list h.prototypes in
  { kind; count; depth; places; vectors; sizes;
    integers = (fun k -> Array.of_list rows.(k));
    squares = Array.map (fun vector -> Floats.dot vector vector) vectors;
    totals = Array.map (fun vector -> sum_over vector Fun.id) vectors;
    twins = twins_of plain;
    products = Array.make count [||];
    lowest = Array.map fst both;
    highest = Array.map snd both;
    round =
      (match h.head_geometry with
      | InnerProduct (Some radius) -> Z.mul radius.denominator radius.denominator
      | _ -> one);
    balls = (if kind = Distance then [] else box @ round);
    small = (if kind = Angle then 0 else 2 * (Z.numbits unit - places));
    observed =
      (if kind = Angle then Floats.of_ratio 0 else fun n d -> Floats.of_ratio (2 * places) (Z.mul n squared) d);
    unit_of_ends =
      (fun unit -> if kind = Angle then Floats.of_integer 0 unit else Floats.of_ratio (-2 * places) unit squared) }

(* None: the statements of this head are about masses, or it has not the prototypes that it says it has. *)
let prepare (h : Checker.head) =
  let count = h.count and depth = h.depth in
  let whole = List.compare_length_with h.prototypes count = 0 && count > 0 in
  let even = List.for_all (fun row -> List.compare_length_with row depth = 0) h.prototypes in
  match kind_of h.head_geometry with
  | Some kind when whole && even -> Some (prepare_kind kind h count depth)
  | _ -> None

(* Only these prototypes, as the prototypes 0, 1, ... *)
let selected points indices =
  let take array = Array.map (fun k -> array.(k)) indices in
  let count = Array.length indices in
  { points with
    count; integers = (fun k -> points.integers indices.(k)); vectors = take points.vectors;
    sizes = take points.sizes; squares = take points.squares;
    totals = take points.totals; twins = take points.twins; lowest = take points.lowest;
    highest = take points.highest; products = Array.make count [||] }
