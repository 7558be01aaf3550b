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
let most_rounds = 40

(* What a certificate's ascents may cost, in multiplications. Then they stop where they are. *)
let allowed = 100_000_000

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

(* The target's products with the facts. *)
let images ascent k =
  let statements = Array.length ascent.span.statements in
  Array.map (fun i -> if i >= statements then 0. else Span.image ascent.span i k) ascent.facts

type state = { weights : float array; curve : float; along : float array (* <Q, v_i> *); square : float; bound : float }

let state ascent sign k images weights =
  let size = Array.length weights in
  let curve = ref (sign *. ascent.span.curve) and sides = ref 0. in
  let along = Array.map (fun h -> sign *. h) images in
  let square = ref ascent.span.norms.(k) in
  for i = 0 to size - 1 do
    let w = weights.(i) in
    if w <> 0. then begin
      curve := !curve +. (w *. ascent.curves.(i));
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
  let bound = if !curve > 0. then -. !sides -. (square /. !curve) else neg_infinity in
  { weights; curve = !curve; along; square; bound = (if Float.is_nan bound then neg_infinity else bound) }

(* The solution of a symmetric system; 0 where a row nearly depends on those before. *)
let solve matrix right =
  let size = Array.length right in
  let own = Array.init size (fun i -> matrix.(i).(i)) in
  let free = Array.init size (fun _ -> true) in
  for i = 0 to size - 1 do
    let row = matrix.(i) in
    let pivot = row.(i) in
    if pivot <= 1e-12 *. own.(i) || not (pivot > 0.) then free.(i) <- false
    else
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
    if free.(i) then begin
      let sum = ref right.(i) in
      for j = i + 1 to size - 1 do
        sum := !sum -. (matrix.(i).(j) *. solved.(j))
      done;
      solved.(i) <- !sum /. matrix.(i).(i)
    end
  done;
  solved

(* The facts whose weights move, their slopes, and Newton's step. *)
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
  let matrix = Array.map (fun i -> Array.map (product i) moving) moving in
  let right = Array.map (fun i -> slopes.(i) *. state.curve /. 2.) moving in
  (moving, slopes, solve matrix right)

let moved ascent state (moving, slopes, steps) length =
  let weights = Array.copy state.weights in
  Array.iteri
    (fun at i ->
      let before = weights.(i) in
      let after = before +. (length *. steps.(at)) in
      let direction = if before = 0. then slopes.(i) else before in
      let wide = ascent.highs.(i) -. ascent.lows.(i) > 1e-9 *. ascent.span.Span.scale in
      weights.(i) <- (if wide && after *. direction < 0. then 0. else after))
    moving;
  weights

(* Weights that prove more than these, if there are any, and their bound. *)
let improve ascent budget sign k weights =
  let images = images ascent k in
  let size = Array.length ascent.facts in
  let close = 1e-14 *. ascent.span.scale in
  let rec shorter current direction length tries =
    if tries = 0 then None
    else begin
      let next = state ascent sign k images (moved ascent current direction length) in
      if next.bound > current.bound && next.curve > 0.02 *. current.curve then Some next
      else shorter current direction (length /. 3.) (tries - 1)
    end
  in
  let rec round current left =
    if left = 0 || !budget <= 0 || not (current.curve > 0.) then current
    else begin
      let (moving, _, _) as direction = step ascent current in
      let many = Array.length moving in
      budget := !budget - ((many * many * (many + 3)) / 3) - (4 * size * size);
      match shorter current direction 1. 8 with
      | None -> current
      | Some next -> if next.bound -. current.bound <= close then next else round next (left - 1)
    end
  in
  let first = state ascent sign k images (Array.map (fun i -> weights.(i)) ascent.facts) in
  let last = round first most_rounds in
  let made = Array.make (Array.length weights) 0. in
  Array.iteri (fun at i -> made.(i) <- last.weights.(at)) ascent.facts;
  (made, last.curve, last.bound)

(* The bound that weights prove. *)
let bound ascent sign k weights =
  (state ascent sign k (images ascent k) (Array.map (fun i -> weights.(i)) ascent.facts)).bound
