(* Better weights where statements leave intervals. Part of the hinter: untrusted.

   With weights w, A = sign a + sum w_i a_i > 0 and Q = sign d + sum w_i v_i the rule proves

       sign q(y) >= - sum w_i e_i - |Q|^2 / A,   e_i the high end of q_i where w_i > 0, the low one where w_i < 0.

   This is concave in w, with a kink where a weight is 0, and the best w give the exact end. The vector that attains the
   bound is Q / A =: u. The slope is q_i(u) - e_i, so a weight that is 0 stays 0 where q_i(u) lies between its ends, and
   the second derivatives are - 2 / A times the products of the vectors v_i - a_i u. So Newton's steps among the
   weights that move find the best w in a few rounds; a weight does not change its sign within a step. *)

type t = {
  span : Span.t;
  facts : int array; (* those that are used *)
  curves : float array;
  lows : float array;
  highs : float array;
  products : float array array;
}

let most_facts = 48
let most_rounds = 16

(* What a certificate's ascents may cost, in multiplications. Then they stop where they are. *)
let allowed = 400_000_000

(* The statements of the basis, the base, and the narrowest others. *)
let chosen (span : Span.t) =
  let all = Array.init (Span.facts span) Fun.id in
  if Array.length all <= most_facts then all
  else begin
    let first i = i = span.base || Array.exists (fun kept -> kept = i) span.kept in
    let rank i = if first i then -1. else Span.half span i in
    let ranked = Array.map (fun i -> (rank i, i)) all in
    Array.sort compare ranked;
    Array.map snd (Array.sub ranked 0 (max most_facts (Array.length span.kept + 1)))
  end

let prepare (span : Span.t) =
  let facts = chosen span in
  let statements = Array.length span.statements in
  let product i j =
    if i >= statements || j >= statements then 0. else Span.image span i span.statements.(j).about
  in
  { span; facts;
    curves = Array.map (fun i -> if i >= statements then 1. else span.curve) facts;
    lows = Array.map (fun i -> span.lows.(i)) facts;
    highs = Array.map (fun i -> span.highs.(i)) facts;
    products = Array.map (fun i -> Array.map (product i) facts) facts }

let wide ascent at = Span.is_wide ascent.span ascent.facts.(at)

(* The target's products with the facts. *)
let images ascent k =
  let statements = Array.length ascent.span.statements in
  Array.map (fun i -> if i >= statements then 0. else Span.image ascent.span i k) ascent.facts

type state = { weights : float array; curve : float; along : float array (* <Q, v_i> *); square : float; bound : float }

(* A is given, because it may be far less than each of the terms of its sum. *)
let state ascent sign k images weights curve =
  let size = Array.length weights in
  let sides = ref 0. in
  let along = Array.map (fun h -> sign *. h) images in
  let square = ref ascent.span.norms.(k) in
  for i = 0 to size - 1 do
    let w = weights.(i) in
    if w <> 0. then begin
      sides := !sides +. (w *. if w > 0. then ascent.highs.(i) else ascent.lows.(i));
      let row = ascent.products.(i) in
      for j = 0 to size - 1 do
        along.(j) <- along.(j) +. (w *. row.(j))
      done
    end
  done;
  for i = 0 to size - 1 do
    square := !square +. (weights.(i) *. ((sign *. images.(i)) +. along.(i)))
  done;
  let square = Float.max 0. !square in
  let bound = if curve > 0. then -. !sides -. (square /. curve) else neg_infinity in
  { weights; curve; along; square; bound = (if Float.is_nan bound then neg_infinity else bound) }

(* The solution of a symmetric system. Where rows depend on one another it goes far along what the matrix takes to 0, in
   the direction in which the right side grows: there the bound is linear, up to the next kink. *)
let ridge = 1e-11

let solve matrix right =
  let size = Array.length right in
  for i = 0 to size - 1 do
    let row = matrix.(i) in
    row.(i) <- (row.(i) *. (1. +. ridge)) +. 1e-280
  done;
  for i = 0 to size - 1 do
    let row = matrix.(i) in
    let pivot = row.(i) in
    for j = i + 1 to size - 1 do
      let other = matrix.(j) in
      let factor = other.(i) /. pivot in
      if factor <> 0. then begin
        for column = i + 1 to size - 1 do
          other.(column) <- other.(column) -. (factor *. row.(column))
        done;
        right.(j) <- right.(j) -. (factor *. right.(i))
      end
    done
  done;
  let solved = Array.make size 0. in
  for i = size - 1 downto 0 do
    let sum = ref right.(i) in
    for j = i + 1 to size - 1 do
      sum := !sum -. (matrix.(i).(j) *. solved.(j))
    done;
    solved.(i) <- !sum /. matrix.(i).(i)
  done;
  solved

(* The facts whose weights move, the slopes of all, and the step of each that moves. *)
type step = { moving : int array; slopes : float array; steps : float array }

(* Newton's step, and one weight by weight for where that leads nowhere. *)
let step ascent state =
  let { span; curves; lows; highs; products; facts } = ascent in
  let at i = state.along.(i) /. state.curve in
  let size2 = state.square /. (state.curve *. state.curve) in
  let close = 1e-14 *. span.Span.scale in
  let slope i =
    let form = (curves.(i) *. size2) -. (2. *. at i) in
    let w = state.weights.(i) in
    if w > 0. then form -. highs.(i)
    else if w < 0. then form -. lows.(i)
    else if form > highs.(i) +. close then form -. highs.(i)
    else if form < lows.(i) -. close then form -. lows.(i)
    else 0.
  in
  let slopes = Array.mapi (fun i _ -> slope i) facts in
  let moving =
    List.filter (fun i -> state.weights.(i) <> 0. || slopes.(i) <> 0.) (List.init (Array.length facts) Fun.id)
  in
  let moving = Array.of_list moving in
  let product i j =
    products.(i).(j) -. (curves.(j) *. at i) -. (curves.(i) *. at j) +. (curves.(i) *. curves.(j) *. size2)
  in
  let right moving = Array.map (fun i -> slopes.(i) *. state.curve /. 2.) moving in
  let rec joint moving =
    let steps = solve (Array.map (fun i -> Array.map (product i) moving) moving) (right moving) in
    (* A weight of 0 that would move against its slope stays 0. *)
    let against at i = state.weights.(i) = 0. && steps.(at) *. slopes.(i) <= 0. in
    let left = List.filteri (fun at i -> not (against at i)) (Array.to_list moving) in
    if List.compare_length_with left (Array.length moving) = 0 then { moving; slopes; steps }
    else joint (Array.of_list left)
  in
  let alone = { moving; slopes; steps = Array.map2 (fun i r -> r /. (product i i +. 1e-280)) moving (right moving) } in
  (joint moving, alone)

(* The weights after a step of this length. One that would change its sign becomes 0. *)
let moved ascent state { moving; slopes; steps } length =
  let weights = Array.copy state.weights and curve = ref state.curve in
  Array.iteri
    (fun at i ->
      let before = weights.(i) in
      let after = before +. (length *. steps.(at)) in
      let direction = if before = 0. then slopes.(i) else before in
      let after = if wide ascent i && after *. direction < 0. then 0. else after in
      weights.(i) <- after;
      curve := !curve +. ((after -. before) *. ascent.curves.(i)))
    moving;
  (weights, !curve)

(* How far it is until a weight becomes 0, at most 1. *)
let first_kink ascent state { moving; steps; _ } =
  let least = ref 1. in
  Array.iteri
    (fun at i ->
      let before = state.weights.(i) in
      if wide ascent i && before *. steps.(at) < 0. then least := Float.min !least (-.before /. steps.(at)))
    moving;
  !least

let total weights = Array.fold_left (fun sum w -> sum +. Float.abs w) 0. weights

(* Weights that prove more than these, if there are any, and whether they are the best. *)
let improve ascent budget sign k (start : Span.found) =
  let images = images ascent k in
  let size = Array.length ascent.facts in
  budget := !budget - (size * size * (10 + (size / 3)));
  let close = 1e-14 *. ascent.span.scale in
  let reached current direction length =
    let weights, curve = moved ascent current direction length in
    let allowed = curve > Float.max (0.02 *. current.curve) (1e-13 *. total weights) in
    if allowed then state ascent sign k images weights curve else { current with bound = neg_infinity }
  in
  let rec shorter current direction length tries =
    if tries = 0 then None
    else begin
      let next = reached current direction length in
      if next.bound > current.bound then Some next else shorter current direction (length /. 3.) (tries - 1)
    end
  in
  let farthest current direction =
    let kink = first_kink ascent current direction in
    let full = shorter current direction 1. 8 in
    if kink = 1. then full
    else begin
      let short = reached current direction kink in
      match full with
      | Some next when next.bound >= short.bound -> full
      | _ -> if short.bound > current.bound then Some short else None
    end
  in
  let rec round current left =
    if left = 0 || !budget <= 0 || not (current.curve > 0.) then current
    else begin
      let direction, other = step ascent current in
      let many = Array.length other.moving in
      budget := !budget - ((many * many * (many + 3)) / 3) - (4 * size * size);
      let next =
        match farthest current direction with None -> shorter current other 1. 12 | found -> found
      in
      match next with
      | None -> current
      | Some next -> if next.bound -. current.bound <= close then next else round next (left - 1)
    end
  in
  let first = state ascent sign k images (Array.map (fun i -> start.weights.(i)) ascent.facts) start.curve in
  let last = round first most_rounds in
  let weights = Array.make (Array.length start.weights) 0. in
  Array.iteri (fun at i -> weights.(i) <- last.weights.(at)) ascent.facts;
  let { moving; slopes; _ }, _ = step ascent last in
  let settled = Array.for_all (fun i -> Float.abs slopes.(i) <= 1e-8 *. ascent.span.scale) moving in
  ({ Span.weights; curve = last.curve; reach = last.bound }, settled)
