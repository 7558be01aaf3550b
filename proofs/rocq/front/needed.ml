(* Hints for minimality: where the other statements hold, and little is left of a margin. Untrusted. *)

(* Points that satisfy the statements of a certificate at a patch. *)
let no_points = { Checker.point_unit = Z.of_int 1; points_of = []; chosen = [] }

let inside (prepared : Hinter.prepared) (certificate : Checker.certificate) wanted l =
  match prepared.points with
  | None -> no_points
  | Some points -> (
      match Hinter.patch_of points (ref Ascent.allowed) (Hinter.statements_of points certificate).(l) with
      | Some patch -> Inside.pairs prepared.head points patch certificate l wanted
      | None -> no_points)

(* The same without the statement of an index, given those of all statements, which satisfy the others too. Of the
   statement's own prototype, and of those near it, there are other points; of all prototypes if that cannot be. *)
let few_more (prepared : Hinter.prepared) (certificate : Checker.certificate) index l (given : Checker.patch_points) =
  let left = Checker.without index certificate in
  match prepared.points, List.nth_opt certificate.statements index with
  | Some points, Some (AboutPatch (_, about, _, _)) -> (
      match Hinter.patch_of points (ref Ascent.allowed) (Hinter.statements_of points left).(l) with
      | Some patch -> Inside.few_more prepared.head points patch left l (Points.nearest points about) given
      | None -> given)
  | _ -> given

(* The prototypes that the margins against so many rivals depend on; all where a head has not many, or no linear
   readout. *)
let many = 100

let wanted_for (head : Checker.head) predicted rivals =
  if head.count <= many || head.head_readout <> Checker.Linear then fun _ -> true
  else begin
    let row c = Array.of_list (List.nth head.weight c) in
    let own = row predicted in
    let made = Array.make head.count false in
    List.iter
      (fun rival -> Array.iteri (fun k w -> if Z.compare w own.(k) <> 0 then made.(k) <- true) (row rival))
      rivals;
    Array.get made
  end

(* A point of the only patch where a margin is about least. *)
let least_margin (prepared : Hinter.prepared) (certificate : Checker.certificate) rival =
  match prepared.points with
  | None -> (Z.of_int 1, Inside.nowhere)
  | Some points ->
      let head = prepared.head in
      let own = Array.of_list (List.nth head.weight certificate.predicted) in
      let other = Array.of_list (List.nth head.weight rival) in
      let scale k =
        match List.nth_opt head.scales k, points.kind with
        | Some s, Points.Distance -> -.Floats.of_ratio 0 s head.scale_unit
        | None, Distance -> -1.
        | _ -> 1.
      in
      let gain k = Floats.of_ratio 0 (Z.sub own.(k) other.(k)) head.weight_unit *. scale k in
      let patch_of points =
        Hinter.patch_of points (ref Ascent.allowed) (Hinter.statements_of points { certificate with patches = 1 }).(0)
      in
      Inside.least_margin head points patch_of certificate (Array.init points.count gain)
