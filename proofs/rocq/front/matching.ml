(* Pairs of patches and prototypes that show that no prices prove a margin: those of greatest total yield. Untrusted:
   any pairs are sound. *)

(* Pairs (row, column), each at most once, of the greatest total weight; no weight is negative. The Hungarian method by
   shortest augmenting paths. There are at least as many columns as rows. For the rows so far, a weight is at most the
   sum of the prices of its row and its column, and equal to it for partners. *)
let heaviest weights =
  let rows = Array.length weights in
  let columns = if rows = 0 then 0 else Array.length weights.(0) in
  let of_row = Array.make rows 0. and of_column = Array.make columns 0. in
  let partner = Array.make columns (-1) in
  for entering = 0 to rows - 1 do
    let own = weights.(entering) in
    of_row.(entering) <- Array.fold_left Float.max 0. own;
    let slack row column = of_row.(row) +. of_column.(column) -. weights.(row).(column) in
    let distance = Array.init columns (slack entering) in
    let before = Array.make columns (-1) and visited = Array.make columns false in
    let rec search path =
      let nearest = ref (-1) in
      for j = 0 to columns - 1 do
        if not visited.(j) && (!nearest < 0 || distance.(j) < distance.(!nearest)) then nearest := j
      done;
      let column = !nearest in
      let row = partner.(column) in
      visited.(column) <- true;
      if row < 0 then (column, path)
      else begin
        for j = 0 to columns - 1 do
          if not visited.(j) then begin
            let reached = distance.(column) +. slack row j in
            if reached < distance.(j) then begin distance.(j) <- reached; before.(j) <- column end
          end
        done;
        search (column :: path)
      end
    in
    let last, path = search [] in
    let changed column = distance.(last) -. distance.(column) in
    of_row.(entering) <- of_row.(entering) -. distance.(last);
    List.iter
      (fun column ->
        of_row.(partner.(column)) <- of_row.(partner.(column)) -. changed column;
        of_column.(column) <- of_column.(column) +. changed column)
      path;
    let rec turn column =
      if before.(column) < 0 then partner.(column) <- entering
      else begin partner.(column) <- partner.(before.(column)); turn before.(column) end
    in
    turn last
  done;
  List.filter (fun (row, _) -> row >= 0) (List.mapi (fun column row -> (row, column)) (Array.to_list partner))

let transposed weights = Array.init (Array.length weights.(0)) (fun j -> Array.map (fun row -> row.(j)) weights)

let best weights =
  if Array.length weights = 0 || Array.length weights.(0) = 0 then []
  else if Array.length weights <= Array.length weights.(0) then heaviest weights
  else List.map (fun (column, row) -> (row, column)) (heaviest (transposed weights))

(* Of each patch what the statements leave over [unit], as R in v1.md, and of each prototype its top, as o there. *)
let left_and_tops (head : Checker.head) (certificate : Checker.certificate) unit =
  let units = Z.fdiv unit certificate.statement_unit in
  let end_of missing = function Some n -> Z.mul units n | None -> missing in
  let least low = Z.max Z.zero (end_of Z.zero low) in
  let left = Array.make certificate.patches unit and tops = Array.make head.count Z.zero in
  let about_patches f =
    List.iter
      (function Checker.AboutPatch (l, k, low, high) -> f l k low high | AboutActivation _ | AboutOthers _ | AboutSum _ -> ())
      certificate.statements
  in
  about_patches (fun l _ low _ -> left.(l) <- Z.sub left.(l) (least low));
  let left = Array.map (Z.max Z.zero) left in
  about_patches (fun l k low high ->
      tops.(k) <- Z.max tops.(k) (Z.min (end_of unit high) (Z.add (least low) left.(l))));
  (left, tops)

(* Against a rival, with what the statements of [certificate] leave over [unit]. Patches without statements are all
   alike: no more of them are of use than there are prototypes that gain. *)
let pairs (head : Checker.head) (certificate : Checker.certificate) unit rival =
  let row c = Array.of_list (List.nth head.weight c) in
  let gain = Array.map2 Z.sub (row rival) (row certificate.predicted) in
  let left, tops = left_and_tops head certificate unit in
  let gaining k = Z.sign gain.(k) > 0 && Z.lt tops.(k) unit in
  let prototypes = Array.of_list (List.filter gaining (List.init head.count Fun.id)) in
  let stated = Array.make certificate.patches [] in
  List.iter
    (function
      | Checker.AboutPatch (l, k, _, _) -> stated.(l) <- k :: stated.(l)
      | AboutActivation _ | AboutOthers _ | AboutSum _ -> ())
    certificate.statements;
  let room = ref (Array.length prototypes) in
  let of_use l =
    stated.(l) <> [] || (!room > 0 && begin decr room; true end)
  in
  let patches = Array.of_list (List.filter of_use (List.init certificate.patches Fun.id)) in
  let gains = Array.map (fun k -> Floats.of_integer 0 gain.(k)) prototypes in
  let of_patch l =
    let open_ = Array.make head.count true in
    List.iter (fun k -> open_.(k) <- false) stated.(l);
    let worth at k =
      if open_.(k) && Z.gt left.(l) tops.(k) then gains.(at) *. Floats.of_ratio 0 (Z.sub left.(l) tops.(k)) unit
      else 0.
    in
    Array.mapi worth prototypes
  in
  List.map (fun (row, column) -> (patches.(row), prototypes.(column))) (best (Array.map of_patch patches))
