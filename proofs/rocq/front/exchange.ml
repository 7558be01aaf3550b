(* The best weights where nearly all constraints are linear. Part of the hinter: untrusted.

   If the target lies in the span of the statements, the curves of the best weights nearly cancel, and Newton's steps
   become short. Then some statements hold with equality, at most as many as the span has dimensions, and `Span` has
   the weights for these. Statements are exchanged, as the simplex method does it: one that the vector of the bound
   violates comes in, one leaves, as long as the bound gets better. *)

(* Statements, each with whether its high end is what counts. *)
type basis = (int * bool) list

type found = {
  basis : basis;
  weights : float array;
  curve : float;
  value : float; (* the end of the observable times 1 or -1 *)
  turned : int list; (* those that have weights for the other end *)
  violated : basis; (* those that are violated most *)
}

let most_violated = 2
let most_rounds = 60
let most_singles = 24

(* The observable of prototype e at the vector that attains the bound of prototype k. *)
let attained (span : Span.t) sign k e =
  let own = Span.column span k and other = Span.column span e in
  let along = ref (Floats.dot span.foot other) in
  let rest = Span.rest span k own in
  if rest > 1e-9 *. span.norms.(k) then begin
    let product = Floats.dot (Span.vector span k) (Span.vector span e) in
    along := !along +. (sign *. sqrt (span.rho2 /. rest) *. (product -. Floats.dot own other))
  end;
  Span.observable span e ((span.curve *. span.far) -. (2. *. !along))

let solve (span : Span.t) turn sign k basis =
  let count = List.length basis in
  let pinned at (i, upper) =
    let s = span.statements.(i) in
    let kept = if upper then s.high else s.low in
    if Span.is_wide span i then { Span.about = at; low = kept; high = kept } else { s with about = at }
  in
  let about i = span.statements.(i).about in
  let others =
    List.filter (fun i -> not (List.mem_assoc i basis)) (List.init (Array.length span.statements) Fun.id)
  in
  let indices = List.map (fun (i, _) -> about i) basis @ (k :: List.map about others) in
  let points = Points.selected span.points (Array.of_list indices) in
  let views = Span.make points (Array.of_list (List.mapi pinned basis)) in
  match List.find_opt (fun (narrow : Span.t) -> narrow.ball = span.ball) views with
  | Some narrow ->
      let better = Span.weights narrow sign count in
      let weights = Array.make (Span.facts span) 0. in
      let lost = ref 0. and turned = ref [] in
      List.iteri
        (fun at (i, upper) ->
          let w = better.weights.(at) in
          weights.(i) <- w;
          if w <> 0. && (w > 0.) <> (upper = (span.curve > 0.)) && Span.is_wide span i then begin
            turned := i :: !turned;
            lost := !lost +. (Float.abs w *. 2. *. Span.half span i)
          end)
        basis;
      if span.ball >= 0 then weights.(Span.facts span - 1) <- better.weights.(count);
      let value = turn *. Span.observable narrow count (sign *. (better.reach -. !lost)) in
      let violation at i =
        let s = span.statements.(i) in
        let m = attained narrow sign count (count + 1 + at) in
        if m > s.high then Some (m -. s.high, (i, true)) else if m < s.low then Some (s.low -. m, (i, false)) else None
      in
      let violated = List.filter_map Fun.id (List.mapi violation others) in
      let violated = List.sort (fun (x, _) (y, _) -> compare (y : float) x) violated in
      let violated = List.filteri (fun at _ -> at < most_violated) (List.map snd violated) in
      if Float.is_nan value then None
      else Some { basis; weights; curve = better.curve; value; turned = !turned; violated }
  | None -> None

let neighbours found =
  let without i = List.filter (fun (j, _) -> j <> i) found.basis in
  let smaller = if List.length found.basis > 1 then List.map without found.turned else [] in
  let with_one entering =
    (entering :: found.basis) :: List.map (fun (j, _) -> entering :: without j) found.basis
  in
  smaller @ List.concat_map with_one found.violated

let basis_of (span : Span.t) weights =
  let used = List.filter (fun i -> weights.(i) <> 0.) (List.init (Array.length span.statements) Fun.id) in
  List.map (fun i -> (i, (weights.(i) > 0.) = (span.curve > 0.))) used

(* The statements with the largest weights: one, two, ... of them, and all. *)
let starts (span : Span.t) weights =
  let size (i, _) = Float.abs weights.(i) *. sqrt span.norms.(span.statements.(i).about) in
  let all = List.sort (fun i j -> compare (size j) (size i)) (basis_of span weights) in
  let first size = List.filteri (fun at _ -> at < size) all in
  all :: List.init (min 8 (List.length all)) (fun size -> first (size + 1))

(* The best that is found from any of these weights. *)
let improve (span : Span.t) turn sign k several budget =
  let count = Array.length span.statements in
  let cost basis = 50 * (1 + List.length basis) * (count + span.points.depth) in
  let best_of candidates current =
    let better best basis =
      budget := !budget - cost basis;
      if !budget <= 0 then best
      else
        match best, solve span turn sign k basis with
        | Some old, Some next when not (next.value > old.value) -> Some old
        | _, (Some _ as next) -> next
        | old, None -> old
    in
    List.fold_left better current candidates
  in
  let rec round current left =
    if left = 0 then current
    else
      match best_of (neighbours current) (Some current) with
      | Some next when next.value > current.value -> round next (left - 1)
      | _ -> current
  in
  let from candidates = Option.map (fun found -> round found most_rounds) (best_of candidates None) in
  let points = span.points in
  let own i = points.twins.(span.statements.(i).about) = points.twins.(k) in
  let others = List.filter (fun i -> not (own i)) (List.init count Fun.id) in
  let singles = List.concat_map (fun i -> [ [ (i, true) ]; [ (i, false) ] ]) others in
  let singles = if count > most_singles then [] else singles in
  List.fold_left
    (fun best candidates ->
      match best, from candidates with
      | Some old, Some next -> if next.value > old.value then Some next else best
      | None, next -> next
      | _, None -> best)
    None
    (List.map (starts span) several @ [ singles ])
