(* Weights in floats as the integers of a hint. Part of the hinter: untrusted. *)

open Ends

let ball_of (span : Span.t) : Points.ball = List.nth span.points.balls span.ball

(* What a weight of 1 of each fact is for the checker. *)
let factors (span : Span.t) k =
  let points = span.points in
  let size = points.sizes.(k) in
  let own = Array.map (fun (s : Span.statement) -> size /. points.sizes.(s.about)) span.statements in
  if span.ball < 0 then own else Array.append own [| size *. (ball_of span).factor |]

(* In the order of the certificate. *)
let placed patch (span : Span.t) bits integers =
  let made = Array.make (Array.length patch.stated + span.ball + 1) (Z.of_int 0) in
  Array.iteri
    (fun i (low, high) ->
      let upper = (Z.sign integers.(i) > 0) = (span.curve > 0.) in
      made.(if upper then high else low) <- integers.(i))
    patch.places;
  if span.ball >= 0 then made.(Array.length made - 1) <- integers.(Array.length integers - 1);
  Some (Z.shift_left (Z.of_int 1) bits, Array.to_list made)

(* The weight of one statement is what is left of the curve A, which may be far less than each weight. *)
let balance (span : Span.t) sign base bits curve integers =
  if span.ball < 0 then begin
    integers.(base) <- Z.of_int 0;
    let target = Z.shift_left (Z.of_int (if sign > 0. then 1 else -1)) bits in
    integers.(base) <- Z.sub curve (Array.fold_left Z.add target integers)
  end

(* The same for the ball of a patch, which has no target. *)
let balance_base (span : Span.t) bits integers =
  if span.ball < 0 then begin
    integers.(span.base) <- Z.of_int 0;
    integers.(span.base) <- Z.sub (Z.shift_left (Z.of_int 1) bits) (Array.fold_left Z.add (Z.of_int 0) integers)
  end
  else integers.(span.base) <- Z.shift_left (Z.of_int 1) bits

let log2 x = Float.log x /. Float.log 2.

(* The bits of weights with which rounding costs the bound about this much. An error of 2^-b moves Q / A, the vector
   that attains the bound, by R 2^-b / A, where R is the largest distance, and the bound loses A times the square of
   that. With wide intervals the weights may not be the best, and then it loses in proportion. *)
let bits_for (span : Span.t) found factors loss =
  let many = float_of_int (Array.length found.weights + 1) in
  let smooth = log2 (many *. span.scale /. (found.curve *. loss)) /. 2. in
  let rough = if span.wide then log2 (many *. span.scale /. loss) else 0. in
  let kept = log2 (64. *. many /. found.curve) in
  let smallest = Array.fold_left Float.min infinity factors in
  let bits = Float.max (Float.max smooth kept) rough -. log2 smallest in
  if bits < 2000. then Some (max 1 (1 + int_of_float bits)) else None

let rounded patch side k loss found =
  let span = found.view.span in
  let factors = factors span k in
  let finite = Array.for_all Floats.is_finite in
  if not (finite found.weights && finite factors) then None
  else
    match if found.curve > 0. then bits_for span found factors loss else Some 0 with
    | None -> None
    | Some bits ->
        let integers = Array.mapi (fun i w -> Floats.to_integer bits (w *. factors.(i))) found.weights in
        balance span (sign_of span side) span.base bits (Floats.to_integer bits found.curve) integers;
        placed patch span bits integers

(* |d| / |y|: what A is against a weight of 1. *)
let usual_curve (span : Span.t) k = sqrt (span.norms.(k) /. Float.max span.far (1e-3 *. span.scale))

(* Where A is next to nothing: weights that make up the target exactly, and as small an A. *)
let exactly patch side k found =
  let span = found.view.span in
  let statements = Array.length span.statements in
  let about i = span.statements.(i).about in
  let used = List.filter (fun i -> found.weights.(i) <> 0.) (List.init statements Fun.id) in
  let base = if List.mem span.base used then span.base else List.fold_left min statements used in
  let support = Array.of_list (List.filter (fun i -> i <> base || span.ball >= 0) used) in
  patch.budget := !(patch.budget) - (200 * Array.length support * span.points.depth);
  let curve = usual_curve span k *. ldexp 1. (-Exact.curve_bits) in
  let curve = if span.ball < 0 then curve else curve *. span.points.sizes.(k) *. (ball_of span).factor in
  let curve = if Floats.is_finite curve then Floats.to_integer Exact.bits curve else Z.of_int 0 in
  if Z.sign curve <= 0 || (span.ball < 0 && base = statements) then None
  else begin
    let origin = if span.ball < 0 then Some (about base) else None in
    let shares = Exact.combination span.points origin (Array.map about support) k in
    let sign = sign_of span side in
    let integers = Array.make (Span.facts span) (Z.of_int 0) in
    Array.iteri (fun at i -> integers.(i) <- (if sign > 0. then Z.neg shares.(at) else shares.(at))) support;
    if span.ball >= 0 then integers.(statements) <- curve;
    balance span sign base Exact.bits curve integers;
    placed patch span Exact.bits integers
  end

(* What A is, at most, where weights in floats are too coarse. *)
let flat = 1e-12

(* The hint that gives this end, of which rounding may take some. *)
let hint patch side k loss found =
  let found = with_weights side k found in
  let span = found.view.span in
  let is_flat = found.curve > 0. && found.curve < flat *. usual_curve span k && loss < 1e-15 *. span.scale in
  let exact = if is_flat && !(patch.budget) > 0 then exactly patch side k found else None in
  match match exact with None -> rounded patch side k loss found | Some _ -> exact with
  | None -> ()
  | weights ->
      let old = patch.hints.(k) in
      patch.hints.(k) <-
        (match side with Low -> { old with Checker.for_low = weights } | High -> { old with for_high = weights })
