(* Which statements give the ends of the activations. Untrusted: it is told to people, and nothing is proved of it. *)

type t = (int list * int list) list

type side = Lower | Upper

let pick side (low, high) = match side with Lower -> low | Upper -> high

(* What a statement about activations says of this one. *)
let stated (settings : Checker.settings) (certificate : Checker.certificate) side j statement =
  let scaled low high =
    pick side (Checker.stated_ends certificate.statement_unit settings.box_unit low high)
  in
  match statement with
  | Checker.AboutActivation (k, low, high) when k = j -> scaled low high
  | AboutOthers (except, low, high) when not (List.mem j except) -> scaled low high
  | AboutPatch _ | AboutActivation _ | AboutOthers _ | AboutSum _ -> None

let tighter side a b = match side with Lower -> Z.compare a b > 0 | Upper -> Z.compare a b < 0

let find settings (certificate : Checker.certificate) (hints : Checker.hints) domain ends : t =
  let statements = List.mapi (fun number statement -> (number, statement)) certificate.statements in
  let about_patches = Hashtbl.create 16 in
  List.iter
    (function
      | number, Checker.AboutPatch (_, j, _, _) -> Hashtbl.add about_patches j number
      | _ -> ())
    statements;
  let own j = List.rev (Hashtbl.find_all about_patches j) in
  (* The statement about activations that says most of one, and what. *)
  let most side j =
    let better best (number, statement) =
      match best, stated settings certificate side j statement with
      | Some (_, known), Some e when not (tighter side e known) -> best
      | _, Some e -> Some (number, e)
      | best, None -> best
    in
    List.fold_left better None statements
  in
  let array list = Array.of_list list in
  let linked side =
    let links = match side with Upper -> hints.links_above | Lower -> hints.links_below in
    let turns = match side with Upper -> hints.turns_above | Lower -> hints.turns_below in
    (array links.linked, array turns.turned_from)
  in
  let links = [ (Lower, linked Lower); (Upper, linked Upper) ] in
  let from side j =
    let links, turns = List.assoc side links in
    let source of_link array = if j < Array.length array then Option.map of_link array.(j) else None in
    match source fst links with None -> source fst turns | found -> found
  in
  let domain = array domain in
  let giver side j both =
    let e = pick side both in
    if j < Array.length domain && not (tighter side e (pick side domain.(j))) then []
    else
      match most side j, Option.bind (from side j) (most side) with
      | Some (number, own), _ when not (tighter side e own) -> [ number ]
      | _, Some (number, _) -> [ number ]
      | _ -> own j
  in
  List.mapi (fun j both -> (giver Lower j both, giver Upper j both)) ends
