(* How far activations reach, given what others say of them (InnerLinks.v): of each prototype the least and the greatest
   observable that fit all others, and between which observables the others are as stated. Part of the hinter: untrusted.

   All is computed in the checker's own integers, rounded inward, so that ties are seen where they are rational. *)

let nowhere = { Checker.lowest_at = []; highest_at = []; spots = [] }

(* What is computed of a head for all certificates without one statement. *)
type t = {
  head : Checker.head;
  settings : Checker.settings;
  logs : Checker.logarithms;
  measures : Checker.measure list;
  free : (Z.t * Z.t) option array; (* the domain's ranges of the observables *)
  owns : Checker.own array;
  rows : (int, Z.t array) Hashtbl.t; (* gaps, by prototype *)
  known : (int * Z.t option * Z.t option, Z.t * Z.t) Hashtbl.t; (* spots, by prototype and stated ends *)
}

let start (head : Checker.head) (settings : Checker.settings) measures =
  let free = Checker.inner_domain_row head settings.range_unit settings.terms in
  { head; settings; measures; free = Array.of_list free;
    logs = Checker.logarithms_for settings.box_unit settings.terms;
    owns = Array.of_list (Checker.owns head);
    rows = Hashtbl.create 16; known = Hashtbl.create 16 }

let row here k =
  match Hashtbl.find_opt here.rows k with
  | Some row -> row
  | None ->
      let row = Array.of_list (Checker.gaps_of here.head here.settings.range_unit here.measures k) in
      Hashtbl.add here.rows k row;
      row

(* What is stated of an activation, rounded inward. *)
let stated here (certificate : Checker.certificate) k =
  let ends = function
    | Checker.AboutActivation (j, low, high) when j = k -> Some (low, high)
    | AboutOthers (except, low, high) when not (List.mem k except) -> Some (low, high)
    | AboutPatch _ | AboutActivation _ | AboutOthers _ | AboutSum _ -> None
  in
  let meet choose a b = match a, b with Some x, Some y -> Some (choose x y) | Some x, None -> Some x | None, _ -> b in
  List.fold_left
    (fun (low, high) statement ->
      match ends statement with
      | None -> (low, high)
      | Some (l, u) ->
          let l, u = Checker.inner_stated_ends certificate.statement_unit here.settings.box_unit l u in
          (meet Z.max low l, meet Z.min high u))
    (None, None) certificate.statements

let most_halvings = 2000

(* The last integer on the way from one that passes to another one, on which what passes comes first. *)
let furthest passes good bad guess =
  if passes bad then bad
  else begin
    let towards = Z.compare bad good in
    let on_the_way t = Z.compare t good * towards >= 0 && Z.compare bad t * towards >= 0 in
    match Option.bind guess (Links.edge (fun t -> on_the_way t && passes t) towards) with
    | Some t -> t
    | None ->
        let rec between good bad left =
          let middle = Z.shift_right (Z.add good bad) 1 in
          if left = 0 || Z.compare middle good = 0 || Z.compare middle bad = 0 then good
          else if passes middle then between middle bad (left - 1)
          else between good middle (left - 1)
        in
        between good bad most_halvings
  end

(* Between which observables a similarity is as stated. *)
let spot_of here k (low, high) =
  let settings = here.settings in
  let own = here.owns.(k) in
  match here.free.(k) with
  | None -> (Z.of_int 1, Z.of_int 0)
  | Some (first, last) ->
      let value t =
        Checker.value_at here.head settings.range_unit settings.box_unit settings.terms here.logs own t
      in
      let above t =
        match low, value t with None, _ -> true | Some low, Some (v, _) -> Z.compare low v <= 0 | _, None -> false
      in
      let below t =
        match high, value t with None, _ -> true | Some high, Some (_, v) -> Z.compare v high <= 0 | _, None -> false
      in
      let scale = let (s : Checker.fraction), _ = own in Floats.of_ratio 0 s.numerator s.denominator in
      let guess inverse stated =
        Option.bind stated (fun e ->
            let near = inverse here.head scale (Floats.of_ratio 0 e settings.box_unit) in
            let near = near *. Floats.of_integer 0 settings.range_unit in
            if Floats.is_finite near then Some (Floats.to_integer 0 near) else None)
      in
      if Checker.euclidean here.head then
        (furthest below last first (guess Links.inverse high), furthest above first last (guess Links.inverse low))
      else
        ( furthest above last first (guess Links.inverse_cosine low),
          furthest below first last (guess Links.inverse_cosine high) )

let spot here certificate k =
  let low, high = stated here certificate k in
  match Hashtbl.find_opt here.known (k, low, high) with
  | Some spot -> spot
  | None ->
      let spot = spot_of here k (low, high) in
      Hashtbl.add here.known (k, low, high) spot;
      spot

(* The least and the greatest observable that fit one of a spot, across a gap; beyond all where any do. *)
let reach here gap (first, last) =
  let unit = here.settings.range_unit in
  if Checker.euclidean here.head then begin
    let squared = Checker.scaled here.head (Z.of_int 1) in
    let at t = let t = Z.mul t squared in (t, Checker.root_floor (Z.shift_left (Z.mul t gap) 2)) in
    let near, root = at first in
    let least =
      if Z.compare near gap > 0 then Checker.ceil_div (Z.sub (Z.add near gap) root) squared else Z.of_int 0
    in
    let far, root = at last in
    (least, Checker.floor_div (Z.add (Z.add far gap) root) squared)
  end
  else begin
    let square = Z.mul unit unit in
    let across t = Checker.root_floor (Z.mul (Z.sub square (Z.mul gap gap)) (Z.sub square (Z.mul t t))) in
    let least =
      if Z.compare first (Z.neg gap) > 0 then Checker.ceil_div (Z.sub (Z.mul gap first) (across first)) unit
      else Z.neg unit
    in
    let most =
      if Z.compare last gap < 0 then Checker.floor_div (Z.add (Z.mul gap last) (across last)) unit else unit
    in
    (least, most)
  end

let most_nudges = 60

(* Roots were rounded: an integer near this one that fits. *)
let nudged here gap spot x towards =
  let fits x = Checker.close here.head here.settings.range_unit gap x (Checker.between_spots spot x) in
  let rec from x step left =
    if left = 0 || fits x then x
    else from (if towards > 0 then Z.add x step else Z.sub x step) (Z.shift_left step 1) (left - 1)
  in
  from x (Z.of_int 1) most_nudges

let find here (certificate : Checker.certificate) =
  let own = Checker.own_stated certificate.statements in
  let listed side = Checker.listed certificate.statements side in
  let floors = listed fst and ceilings = listed snd in
  if (not (Checker.are_linked here.head)) || (own = [] && floors = [] && ceilings = []) then nowhere
  else begin
    let count = here.head.count in
    let none = (Z.of_int 1, Z.of_int 0) in
    let within k = k < count in
    let spots =
      if floors = [] && ceilings = [] then begin
        let spots = Array.make count none in
        List.iter (fun k -> if within k then spots.(k) <- spot here certificate k) own;
        spots
      end
      else Array.init count (spot here certificate)
    in
    let ends pick = Array.map (fun e -> match e with Some e -> pick e | None -> Z.of_int 0) here.free in
    let least = ends fst and most = ends snd in
    let raise j gap spot =
      let x, _ = reach here gap spot in
      if Z.compare x least.(j) > 0 then least.(j) <- nudged here gap spot x 1
    in
    let lower j gap spot =
      let _, x = reach here gap spot in
      if Z.compare x most.(j) < 0 then most.(j) <- nudged here gap spot x (-1)
    in
    let by_own k =
      if within k then
        Array.iteri (fun j gap -> if j <> k then begin raise j gap spots.(k); lower j gap spots.(k) end) (row here k)
    in
    List.iter by_own own;
    (* Activations fall with distances, and rise with cosines. *)
    let falls = Checker.euclidean here.head in
    let by_all move j =
      if within j then Array.iteri (fun k gap -> if j <> k then move j gap spots.(k)) (row here j)
    in
    List.iter (by_all (if falls then lower else raise)) floors;
    List.iter (by_all (if falls then raise else lower)) ceilings;
    let least, most = Array.to_list least, Array.to_list most in
    let lowest_at, highest_at = if falls then (most, least) else (least, most) in
    { Checker.lowest_at; highest_at; spots = Array.to_list spots }
  end
