(* Weights for the paradigm joint: of a head with one patch, those that prove the best margin against each rival. Part
   of the hinter: untrusted. *)

open Barrier

let most_statements = 64

let is_joint (h : Checker.head) (certificate : Checker.certificate) =
  certificate.patches = 1
  && (match h.head_similarity with Checker.Identity | Negated -> true | _ -> false)
  && (match h.head_pooling with Checker.MaxPool | TopMean _ -> true | _ -> false)
  && h.head_readout = Checker.Linear

let rates (h : Checker.head) =
  let scales = Array.of_list h.scales in
  let own j = if j < Array.length scales then scales.(j) else h.scale_unit in
  fun j -> if h.head_similarity = Checker.Negated then Z.neg (own j) else h.scale_unit

(* An observable, as a form. *)
let observable (points : Points.t) j =
  let vector = points.vectors.(j) in
  if points.kind = Points.Distance then begin
    let own = Array.map (Floats.of_integer points.places) (points.integers j) in
    { curve = 1.; vector = Array.map (fun x -> 2. *. x) own; constant = Floats.dot own own;
      side = { low = 0.; high = infinity } }
  end
  else { curve = 0.; vector = Array.map Float.neg vector; constant = 0.; side = { low = 0.; high = infinity } }

let domain_of (points : Points.t) (h : Checker.head) =
  let given missing = function Some x -> Floats.of_integer points.places x | None -> missing in
  let low = given neg_infinity h.lower and high = given infinity h.upper in
  if points.kind = Points.Angle then
    { low = (if low >= 0. then 0. else neg_infinity); high = (if high <= 0. then 0. else infinity) }
  else { low; high }

(* The square of the radius of the ball about 0 that holds the vector. *)
let reach (points : Points.t) (h : Checker.head) =
  match h.head_geometry with
  | Cosine _ | RootedCosine _ -> Some 1.
  | InnerProduct (Some r) ->
      Some (Points.square (Floats.of_ratio points.places (Z.mul h.coord_unit r.numerator) r.denominator))
  | _ -> None

(* Bits of weights against the greatest of the gains. *)
let bits = 64

(* What a weight of 1 of the ball is for the checker, as a power of 2. *)
let ball_bits (h : Checker.head) =
  match h.head_geometry with Cosine _ | RootedCosine _ -> 129 - (Z.numbits h.coord_unit - 1) | _ -> 1

(* Weights against each rival; none where the margin is no such function, or for many statements. *)
let hints (points : Points.t) (h : Checker.head) (certificate : Checker.certificate) =
  let unit = certificate.statement_unit in
  let ends j low high =
    let given missing = function Some e -> points.observed e unit | None -> missing in
    { (observable points j) with side = { low = given neg_infinity low; high = given infinity high } }
  in
  let weight_of = function
    | Checker.AboutPatch (_, j, low, high) when j < points.count -> Some (ends j low high)
    | _ -> None
  in
  let patch = function Checker.AboutPatch _ -> true | _ -> false in
  let stated = List.filter patch certificate.statements in
  let weights = List.filter_map weight_of stated in
  if not (is_joint h certificate) || List.compare_lengths weights stated <> 0
     || List.compare_length_with weights most_statements > 0
  then []
  else begin
    let measures = lazy (Option.value (Checker.measures h) ~default:[]) in
    let proves rival hint =
      Checker.joint_at_least h certificate (Lazy.force measures) certificate.predicted rival hint
        (List.nth certificate.margins rival) certificate.margin_unit
    in
    let rate = rates h and rows = Array.of_list (List.map Array.of_list h.weight) in
    let own = rows.(certificate.predicted) in
    let domain = domain_of points h and reach = reach points h in
    let forms = Array.init points.count (observable points) in
    let ball =
      match reach with
      | Some square ->
          [| { curve = -1.; vector = Array.make points.depth 0.; constant = square;
               side = { low = 0.; high = infinity } } |]
      | None -> [||]
    in
    let weights = Array.append (Array.of_list weights) ball in
    let against rival =
      let gains = Array.mapi (fun j p -> Z.mul (Z.sub p rows.(rival).(j)) (rate j)) own in
      let size z = if Z.sign z < 0 then Z.neg z else z in
      let larger most g = if Z.compare (size g) most > 0 then size g else most in
      let greatest = Array.fold_left larger (Z.of_int 1) gains in
      let base = { curve = 0.; vector = Array.make points.depth 0.; constant = 0.; side = domain } in
      let base =
        Array.fold_left
          (fun (j, sum) g ->
            let gain = Floats.of_ratio 0 g greatest and form = forms.(j) in
            if gain <> 0. then Floats.subtract sum.vector (-.gain) form.vector;
            ( j + 1,
              { sum with curve = sum.curve +. (gain *. form.curve);
                         constant = sum.constant +. (gain *. form.constant) } ))
          (0, base) gains
        |> snd
      in
      let target = { weights; base; domain } in
      let start =
        Array.mapi
          (fun i { side; _ } ->
            if i >= Array.length weights - Array.length ball then
              match reach with
              | Some square -> sqrt (Floats.dot base.vector base.vector /. (4. *. square)) +. 1e-6
              | None -> 0.
            else if side.high = infinity then 0.1
            else if side.low = neg_infinity then -0.1
            else 0.)
          weights
      in
      let integer places w = if Floats.is_finite w then Z.mul (Floats.to_integer places w) greatest else Z.of_int 0 in
      let statements = Array.length weights - Array.length ball in
      let hint ws =
        { Checker.share_unit = Z.shift_left (Z.of_int 1) bits;
          shares_of = List.init statements (fun i -> integer bits ws.(i));
          ball_share =
            (if Array.length ball = 0 then Z.of_int 0 else integer (bits + ball_bits h) ws.(statements)) }
      in
      let found = best target start in
      let first = hint found in
      let better () = List.find_opt (proves rival) (List.map hint (others target found)) in
      (rival, if proves rival first then first else Option.value (better ()) ~default:first)
    in
    List.filter_map
      (fun rival -> if rival = certificate.predicted then None else Some (against rival))
      (List.init (Array.length rows) Fun.id)
  end
