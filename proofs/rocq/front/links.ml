(* Which activations bound which others, and how: of heads of distances or cosines whose pooling is the maximum
   (Lipschitz.v, Angles.v). Part of the hinter: untrusted.

   Floats choose the links. Where a similarity exceeds an end is then found in the checker's own integers, so that
   next to nothing is lost. *)

let none = { Checker.reached = []; linked = [] }

(* Where a step has a value, and where a chain of steps has one. *)
let before scale step value =
  let number (f : Checker.fraction) = Floats.of_ratio 0 f.numerator f.denominator in
  match step with
  | Checker.Scaled -> value /. scale
  | Added a -> value -. number a
  | Multiplied a -> value /. number a
  | Negation -> -.value
  | LogRatioOf (over, under) ->
      let power = exp value in
      if value > 0. then (number over -. (power *. number under)) /. (power -. 1.) else infinity
  | ExpOf -> if value > 0. then log value else neg_infinity
  | RootOf -> value *. value
  | SquareOf -> sqrt value
  | ZeroBelow _ -> value
  | CutAt0 -> if value >= 0. then value else nan
  | ReciprocalOf a -> if value > 0. then (1. /. value) -. number a else infinity
  | FromPeak -> nan
let before_all scale steps value = List.fold_right (before scale) steps value

(* Where the similarity has a value. *)
let inverse (h : Checker.head) scale value =
  match h.head_similarity with
  | Checker.LogRatio e ->
      let e = Floats.of_ratio 0 e.numerator e.denominator in
      let power = exp value in
      if value > 0. then (1. -. (power *. e)) /. (scale *. (power -. 1.)) else infinity
  | ExpDistance e ->
      let root = log value in
      if value > 0. && value < 1. then (root *. root) -. Floats.of_ratio 0 e.numerator e.denominator else nan
  | Negated -> -.value /. scale
  | Exponential -> if value > 0. then -.log value /. scale else infinity
  | Steps steps -> before_all scale steps value
  | _ -> nan

type side = Above | Below

(* What is stated of the activations: ends over the unit of boxes, the prototypes that have a statement of their own,
   and those that a clause leaves out, which all others may bound. *)
type stated = { ends : Z.t option array; own : bool array; exempt : bool array }

let stated_of (settings : Checker.settings) (certificate : Checker.certificate) count side =
  let pick low high = match side with Above -> high | Below -> low in
  let ends = Array.make count None and own = Array.make count false and exempt = Array.make count false in
  let better a b = if (Z.compare a b < 0) = (side = Above) then a else b in
  let meet k = function
    | Some e -> ends.(k) <- (match ends.(k) with None -> Some e | Some other -> Some (better e other))
    | None -> ()
  in
  let scaled low high =
    let low, high = Checker.stated_ends certificate.statement_unit settings.box_unit low high in
    pick low high
  in
  List.iter
    (function
      | Checker.AboutPatch _ | AboutSum _ -> ()
      | AboutActivation (j, low, high) ->
          own.(j) <- true;
          meet j (scaled low high)
      | AboutOthers (except, low, high) ->
          let listed = Array.make count false in
          List.iter (fun k -> listed.(k) <- true) except;
          let e = scaled low high in
          if e <> None then Array.iteri (fun k left_out -> if left_out then exempt.(k) <- true else meet k e) listed)
    certificate.statements;
  { ends; own; exempt }

let most_steps = 14

(* The last integer from one near it on, or down to it, that passes; it passes on one side of somewhere. *)
let edge passes towards start =
  let moved x step = if towards > 0 then Z.add x step else Z.sub x step in
  let first = Z.shift_right (if Z.sign start < 0 then Z.neg start else start) 50 in
  let first = if Z.sign first > 0 then first else Z.of_int 1 in
  let rec reach x step left =
    if left = 0 then None
    else begin
      let next = moved x (Z.neg step) in
      if passes next then Some (next, x) else reach next (Z.shift_left step 2) (left - 1)
    end
  in
  let rec leave x step left =
    let next = moved x step in
    if left = 0 || not (passes next) then (x, next) else leave next (Z.shift_left step 2) (left - 1)
  in
  let rec between good bad left =
    let middle = Z.shift_right (Z.add good bad) 1 in
    if left = 0 || Z.compare middle good = 0 || Z.compare middle bad = 0 then good
    else if passes middle then between middle bad (left - 1)
    else between good middle (left - 1)
  in
  let found = if passes start then Some (leave start first most_steps) else reach start first most_steps in
  Option.map (fun (good, bad) -> between good bad most_steps) found

let links (points : Points.t) (h : Checker.head) (settings : Checker.settings) certificate logs side =
  let count = points.count in
  let { ends; own; exempt } = stated_of settings certificate count side in
  let owns = Array.of_list (Checker.owns h) in
  let scale k = let (s : Checker.fraction), _ = owns.(k) in Floats.of_ratio 0 s.numerator s.denominator in
  let unit = settings.range_unit in
  let one = points.observed (Z.of_int 1) (Z.of_int 1) in
  (* Roots of squared distances, as far as an activation reaches by itself. *)
  let found k =
    match ends.(k) with
    | None -> nan
    | Some e -> inverse h (scale k) (Floats.of_ratio 0 e settings.box_unit)
  in
  let root = Array.init count (fun k -> sqrt (found k *. one)) in
  let known k own =
    if Floats.is_finite own then own else match side with Above -> 0. | Below -> sqrt points.highest.(k)
  in
  let best = Array.mapi (fun k own -> (known k own, k)) root in
  let apart k j row = sqrt (Float.max 0. (points.squares.(k) +. points.squares.(j) -. (2. *. row))) in
  let propose j k distance =
    if j <> k && Floats.is_finite root.(k) then begin
      let reach = match side with Above -> root.(k) -. distance | Below -> root.(k) +. distance in
      let old = fst best.(j) in
      if (match side with Above -> reach > old *. (1. +. 1e-12) | Below -> reach < old *. (1. -. 1e-12)) then
        best.(j) <- (reach, k)
    end
  in
  for i = 0 to count - 1 do
    if own.(i) || exempt.(i) then begin
      let row = Points.products points i in
      for k = 0 to count - 1 do
        let distance = apart i k row.(k) in
        if own.(i) then propose k i distance;
        if exempt.(i) then propose i k distance
      done
    end
  done;
  let used = Array.make count false in
  Array.iteri (fun j (_, k) -> if k <> j then used.(k) <- true) best;
  let threshold k used =
    match ends.(k) with
    | Some e when used && Floats.is_finite root.(k) ->
        let value t = Checker.value h unit settings.box_unit settings.terms logs owns.(k) t in
        let passes t =
          match value t with
          | Some (low, high) -> (match side with Above -> Z.compare low e > 0 | Below -> Z.compare high e < 0)
          | None -> false
        in
        let near = found k *. Floats.of_integer 0 unit in
        if Floats.is_finite near then edge passes (match side with Above -> 1 | Below -> -1) (Floats.to_integer 0 near)
        else None
    | _ -> None
  in
  let reached = Array.mapi threshold used in
  let rows = Array.of_list h.prototypes in
  let squared = Checker.scaled h (Z.of_int 1) in
  let link j (_, k) =
    match if k = j then None else reached.(k) with
    | None -> None
    | Some t ->
        let t = Checker.scaled h t and apart = Z.mul unit (Checker.square_apart rows.(j) rows.(k)) in
        let middle = Z.add t apart and root = Checker.root_ceil (Z.shift_left (Z.mul t apart) 2) in
        Some
          ( k,
            match side with
            | Above -> Checker.floor_div (Z.sub middle root) squared
            | Below -> Checker.ceil_div (Z.add middle root) squared )
  in
  { Checker.reached = Array.to_list reached; linked = Array.to_list (Array.mapi link best) }

(* Cosines: the same with the greatest ones. *)

let no_turns = { Checker.turned = []; turned_from = [] }

let inverse_cosine (h : Checker.head) scale value =
  match h.head_similarity with
  | Checker.Identity -> value
  | Rectified -> if value >= 0. then value else nan
  | Exponential -> if value > 0. then 1. +. (log value /. scale) else nan
  | Steps steps -> before_all scale steps value
  | _ -> nan

(* Directions whose product is as near to 1 as this are one for floats: then the weight is 1. *)
let alike = 1e-14

(* The end of a cosine where another one has the end t, their directions having the product c; and the weight. *)
let turned side c t =
  let c = if c > 1. -. alike then 1. else c in
  let across = sqrt (Float.max 0. (1. -. (c *. c))) and own = sqrt (Float.max 0. (1. -. (t *. t))) in
  match side with
  | Above -> if t < c then (Float.min 1. ((c *. t) +. (across *. own)), c -. (t *. across /. own)) else (nan, nan)
  | Below -> if t > -.c then ((c *. t) -. (across *. own), c +. (t *. across /. own)) else (nan, nan)

let turns (points : Points.t) (h : Checker.head) (settings : Checker.settings) certificate logs side =
  let count = points.count in
  let { ends; own; exempt } = stated_of settings certificate count side in
  let owns = Array.of_list (Checker.owns h) in
  let scale k = let (s : Checker.fraction), _ = owns.(k) in Floats.of_ratio 0 s.numerator s.denominator in
  let unit = settings.range_unit in
  let reach k =
    match ends.(k) with
    | None -> nan
    | Some e -> inverse_cosine h (scale k) (Floats.of_ratio 0 e settings.box_unit)
  in
  let reaches = Array.init count reach in
  let usable k = Float.abs reaches.(k) < 1. in
  let known k =
    if usable k then reaches.(k) else match side with Above -> points.highest.(k) | Below -> points.lowest.(k)
  in
  let best = Array.init count (fun k -> (known k, k)) in
  let propose j k c =
    if j <> k && usable k then begin
      let reach, _ = turned side c reaches.(k) in
      let old = fst best.(j) in
      if (match side with Above -> reach < old -. 1e-12 | Below -> reach > old +. 1e-12) then best.(j) <- (reach, k)
    end
  in
  for i = 0 to count - 1 do
    if own.(i) || exempt.(i) then begin
      let row = Points.products points i in
      for k = 0 to count - 1 do
        if own.(i) then propose k i row.(k);
        if exempt.(i) then propose i k row.(k)
      done
    end
  done;
  let used = Array.make count false in
  Array.iteri (fun j (_, k) -> if k <> j then used.(k) <- true) best;
  let threshold k used =
    match ends.(k) with
    | Some e when used ->
        let passes t =
          match Checker.rising h unit settings.box_unit settings.terms logs owns.(k) t with
          | Some (low, high) -> (match side with Above -> Z.compare low e > 0 | Below -> Z.compare high e < 0)
          | None -> false
        in
        let near = reaches.(k) *. Floats.of_integer 0 unit in
        if Floats.is_finite near then edge passes (match side with Above -> -1 | Below -> 1) (Floats.to_integer 0 near)
        else None
    | _ -> None
  in
  let reached = Array.mapi threshold used in
  let rows = Array.of_list h.prototypes in
  let measures = Array.map (fun row -> lazy (Checker.measure_of h row)) rows in
  let measure k = Lazy.force measures.(k) in
  let link j (_, k) =
    match if k = j then None else reached.(k) with
    | None -> None
    | Some t ->
        let _, weight = turned side (Points.products points k).(j) reaches.(k) in
        let w = weight *. Floats.of_integer 0 unit in
        if not (Floats.is_finite w && w >= 0.) then None
        else begin
          let w = Floats.to_integer 0 w in
          let c = Checker.alike h unit (measure j) (measure k) (Checker.zdot rows.(j) rows.(k)) in
          let squared = Z.mul unit unit in
          let length = Z.add (Z.sub squared (Z.shift_left (Z.mul w c) 1)) (Z.mul w w) in
          let root = Checker.root_ceil (Z.mul squared length) and along = Z.mul w t in
          let s =
            match side with
            | Above -> Checker.ceil_div (Z.add along root) unit
            | Below -> Checker.floor_div (Z.sub along root) unit
          in
          Some (k, (s, w))
        end
  in
  { Checker.turned = Array.to_list reached; turned_from = Array.to_list (Array.mapi link best) }

(* Heads. *)

let about_activations (certificate : Checker.certificate) =
  List.exists (function Checker.AboutPatch _ -> false | _ -> true) certificate.statements

let may (points : Points.t) (h : Checker.head) certificate =
  about_activations certificate
  && match points.kind with Distance -> Checker.is_lipschitz h | Angle -> Checker.is_angular h | Product -> false

type t = { above : Checker.links; below : Checker.links; turns_above : Checker.turns; turns_below : Checker.turns }

let nothing = { above = none; below = none; turns_above = no_turns; turns_below = no_turns }

let hints (points : Points.t) h (settings : Checker.settings) certificate =
  if not (may points h certificate) then nothing
  else begin
    let logs = Checker.logarithms_for settings.box_unit settings.terms in
    let both find = (find points h settings certificate logs Above, find points h settings certificate logs Below) in
    match points.kind with
    | Distance -> let above, below = both links in { nothing with above; below }
    | _ -> let turns_above, turns_below = both turns in { nothing with turns_above; turns_below }
  end
