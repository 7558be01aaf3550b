(* Pairs of patches and prototypes that show that no prices prove a margin: those of greatest total yield. Untrusted:
   any pairs are sound. *)

(* Pairs (row, column), each at most once, of the greatest total weight; no weight is negative. The Hungarian method by
   shortest augmenting paths. There are at least as many columns as rows. For the rows so far, a weight is at most the
   sum of the prices of its row and its column, and equal to it for partners. *)
let heaviest weights =
  let rows = Array.length weights in
  let columns = if rows = 0 then 0 else Array.length weights.(0) in
  let of_row = Array.make rows Z.zero and of_column = Array.make columns Z.zero in
  let partner = Array.make columns (-1) in
  for entering = 0 to rows - 1 do
    let own = weights.(entering) in
    of_row.(entering) <- Array.fold_left Z.max Z.zero own;
    let slack row column = Z.sub (Z.add of_row.(row) of_column.(column)) weights.(row).(column) in
    let distance = Array.init columns (slack entering) in
    let before = Array.make columns (-1) and visited = Array.make columns false in
    let rec search path =
      let nearest = ref (-1) in
      for j = 0 to columns - 1 do
        if not visited.(j) && (!nearest < 0 || Z.lt distance.(j) distance.(!nearest)) then nearest := j
      done;
      let column = !nearest in
      let row = partner.(column) in
      visited.(column) <- true;
      if row < 0 then (column, path)
      else begin
        for j = 0 to columns - 1 do
          if not visited.(j) then begin
            let reached = Z.add distance.(column) (slack row j) in
            if Z.lt reached distance.(j) then begin distance.(j) <- reached; before.(j) <- column end
          end
        done;
        search (column :: path)
      end
    in
    let last, path = search [] in
    let changed column = Z.sub distance.(last) distance.(column) in
    of_row.(entering) <- Z.sub of_row.(entering) distance.(last);
    List.iter
      (fun column ->
        of_row.(partner.(column)) <- Z.sub of_row.(partner.(column)) (changed column);
        of_column.(column) <- Z.add of_column.(column) (changed column))
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

(* Against a rival, with what the statements of [certificate] leave over [unit]. Patches without statements are all
   alike: no more of them are of use than there are prototypes that gain. *)
let pairs (head : Checker.head) (certificate : Checker.certificate) unit rival =
  let row c = Array.of_list (List.nth head.weight c) in
  let gain = Array.map2 Z.sub (row rival) (row certificate.predicted) in
  let tops = Array.of_list (Checker.tops_of head certificate unit) in
  let gaining k = Z.sign gain.(k) > 0 && Z.lt tops.(k) unit in
  let prototypes = Array.of_list (List.filter gaining (List.init head.count Fun.id)) in
  let place_of = function Checker.AboutPatch (l, j, _, _) -> Some (l, j) | _ -> None in
  let places = List.filter_map place_of certificate.statements in
  let stated = List.sort_uniq compare (List.map fst places) in
  let rec free l left =
    if l = certificate.patches || left = 0 then []
    else if List.mem l stated then free (l + 1) left
    else l :: free (l + 1) (left - 1)
  in
  let free = free 0 (Array.length prototypes) in
  let worth rest l k =
    if Z.gt rest tops.(k) && not (List.mem (l, k) places) then Z.mul gain.(k) (Z.sub rest tops.(k)) else Z.zero
  in
  let of_patch l = let rest = Checker.left_of_patch certificate unit l in Array.map (worth rest l) prototypes in
  let patches = Array.of_list (stated @ free) in
  List.map (fun (row, column) -> (patches.(row), prototypes.(column))) (best (Array.map of_patch patches))
