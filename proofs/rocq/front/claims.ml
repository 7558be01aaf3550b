(* What the proved checker says of a certificate. Trusted to call the functions of Check.v and CheckImage.v with the
   records that were read, and to say [Proved] only if they say true. What stands in [settings] and [hints] is not
   trusted: the theorems hold for all of them. But Coq's positive numbers and naturals are integers here, so units have
   to be positive, and terms and gaps not negative: [settings], [positive], [from_naturals] and [natural] see to that,
   whatever the hinter says. *)

type answer =
  | Proved
  | Not_proved
  | Not_covered of string
  | Entailed_with of (Checker.settings * Checker.hints) (* proved, with these *)
  | True_with of Checker.settings
  | Bounded of { settings : Checker.settings; bounds : Checker.bounds; domain : Checker.box; givers : Givers.t }
  | Valued of (Checker.settings * Checker.values)
  | Latent of (Z.t * (Z.t * Z.t) list list) (* over this unit *)

type prices = (int * Z.t * Z.t list) list

(* Where the latents of a picture lie, over a unit *)
type box = { unit : Z.t; ends : (Z.t * Z.t) list list }

type prepared = {
  head : Checker.head;
  hinter : Hinter.prepared;
  mutable latest : (Checker.settings * Checker.prepared) list; (* what the last certificates needed *)
  mutable shown : ((Checker.addition * Checker.certificate) * (int -> bool)) option; (* of the last one asked about *)
  mutable domain : ((Checker.settings * int) * Checker.box) option; (* of the last numbers *)
  mutable boxes : (Checker.network * Checker.picture * (int * box option) list) option; (* of the last picture *)
  mutable searched : ((Checker.certificate * prices) * (Checker.settings * Checker.hints) option) list; (* the last *)
}

let prepare head =
  let hinter = Hinter.prepare head in
  { head; hinter; latest = []; shown = None; domain = None; boxes = None; searched = [] }

(* Units of certificates differ; those rounded up to this many bits mostly do not, and what is prepared serves again. *)
let granularity = 64

let rounded unit =
  let bits = max 0 (Z.numbits unit - 1) in
  Z.shift_left Z.one ((bits + granularity - 1) / granularity * granularity)

let settings range_unit box_unit terms = { Checker.range_unit; box_unit; terms = max 0 terms }

let settings_for here precision certificate =
  let { Hinter.observables; activations; terms } = Hinter.settings here.hinter precision certificate in
  let box_unit = rounded activations in
  let range_unit = if here.head.head_geometry = Checker.Softmax then box_unit else rounded observables in
  settings range_unit box_unit terms

(* Products of prototypes are kept for the certificates to come, as long as they do not take more than so many bytes. *)
let most_kept = 1 lsl 27
let kinds_kept = 2

let bytes_of rows =
  let number sum x = sum + 32 + (Z.numbits x / 8) in
  List.fold_left (List.fold_left number) 0 rows

let prepared_for here settings certificate =
  let old =
    match List.assoc_opt settings here.latest with
    | Some prepared when bytes_of prepared.Checker.rows_of <= most_kept -> prepared
    | _ -> Checker.prepare here.head settings
  in
  let prepared = Checker.learn old certificate in
  let others = List.filteri (fun i _ -> i < kinds_kept - 1) (List.remove_assoc settings here.latest) in
  here.latest <- (settings, prepared) :: others;
  prepared

let uncovered (head : Checker.head) =
  match head.head_readout with
  | Checker.SoftTree _ when not (Checker.activations_in_unit head) ->
      Some "a soft tree whose activations are not shown to lie in [0, 1]"
  | _ -> None

let when_covered head claim =
  match uncovered head with
  | Some why -> Not_covered why
  | None -> if claim () then Proved else Not_proved

let with_what head found =
  match uncovered head with
  | Some why -> Not_covered why
  | None -> Option.value ~default:Not_proved (found ())

(* Prices over the unit that the assignment is computed with, rounded up. *)
let prices_over (settings : Checker.settings) (head : Checker.head) (rival, unit, prices) =
  let scale = Z.mul settings.box_unit head.weight_unit in
  (rival, List.map (fun price -> Z.cdiv (Z.mul price scale) unit) prices)

(* Without the targets where a gap is negative, and the sharpened where a number of directions is. *)
let natural (patch : Checker.patch_hints) =
  let patch = if List.for_all (fun (gap, _) -> gap >= 0) patch.targets then patch else { patch with targets = [] } in
  if List.for_all (fun count -> count >= 0) patch.sharpened then patch else { patch with sharpened = [] }

(* Without the hints whose unit is not positive. *)
let positive = List.filter (fun (_, hint) -> Z.sign hint.Checker.share_unit > 0)

(* Without those from prototypes of a negative index. *)
let from_naturals links = List.map (function Some (k, _) when k < 0 -> None | link -> link) links
let linked (links : Checker.links) = { links with linked = from_naturals links.linked }
let turned (turns : Checker.turns) = { turns with turned_from = from_naturals turns.turned_from }

let rec first = function
  | [] -> None
  | attempt :: others -> ( match attempt () with None -> first others | found -> found)

let no_rows = { Hinter.curve = Z.one; claims = []; patches = [] }

(* Settings and hints of a certificate. *)
let hints_for here certificate prices ?(joint = []) precision rows links =
  let settings = settings_for here precision certificate in
  let { Hinter.curve; claims; patches } = rows settings in
  let { Links.above; below; turns_above; turns_below } = links settings in
  ( settings,
    { Checker.curve_of = curve; claims_of = claims; weights_of = List.map natural patches;
      prices_of = List.map (prices_over settings here.head) prices; joint_of = joint;
      links_above = linked above; links_below = linked below;
      turns_above = turned turns_above; turns_below = turned turns_below } )

(* The settings and hints with which the checker proves that a certificate entails its class; None if it does not. With
   few bits and the balls of patches first, quickly and then with the best weights, at first only of a few prototypes,
   those that the margins that are left depend on most; then whole margins, where there are weights for them, which take
   longer to find; then with what activations say of one another. What these do not prove is tried again with all there
   is, and what cosines say of one another with more bits: what a product of directions is rounded by costs its root. *)
let search here certificate prices =
  let proved_with ?joint precision rows links =
    let settings, hints = hints_for here certificate prices ?joint precision rows links in
    match Checker.unproved (prepared_for here settings certificate) certificate hints with
    | Some [] -> Ok (settings, hints)
    | Some rivals -> Error rivals
    | None -> Error []
  in
  let no_rows _ = no_rows in
  let rows effort settings = Hinter.rows here.hinter ~effort settings certificate in
  let no_links _ = Links.nothing in
  let links settings = Hinter.links here.hinter settings certificate in
  let whole_margins () =
    let joint = positive (Hinter.joint here.hinter certificate) in
    let with_joint precision rows links = Result.to_option (proved_with ~joint precision rows links) in
    first
      [ (fun () -> if joint = [] then None else with_joint Hinter.usual no_rows no_links);
        (fun () -> if joint = [] then None else with_joint Hinter.usual (rows Usual) no_links);
        (fun () ->
          if Hinter.may_link here.hinter certificate then with_joint Hinter.usual (rows Usual) links else None);
        (fun () -> with_joint Hinter.most (rows Thorough) links);
        (fun () ->
          if Hinter.may_turn here.hinter certificate then
            Result.to_option (proved_with Hinter.utmost (rows Thorough) links)
          else None) ]
  in
  let by_rows effort = proved_with Hinter.usual (rows effort) no_links in
  match by_rows Quick with
  | Ok found -> Some found
  | Error rivals when Hinter.may_improve here.hinter certificate ->
      let wanted = Wanted.weightiest here.head certificate.predicted rivals in
      first
        [ (fun () -> if rivals = [] then None else Result.to_option (by_rows (Partly (Array.get wanted))));
          (fun () -> Result.to_option (by_rows Usual));
          whole_margins ]
  | Error _ -> whole_margins ()

(* Who is told that a certificate is not proved asks about it with other margins, and then for its numbers. *)
let searches_kept = 2

let found_hints here certificate prices =
  let about = (certificate, prices) in
  match List.assoc_opt about here.searched with
  | Some found -> found
  | None ->
      let found = search here certificate prices in
      let others = List.filteri (fun i _ -> i < searches_kept - 1) here.searched in
      here.searched <- (about, found) :: others;
      found

let entails here certificate prices =
  when_covered here.head (fun () -> found_hints here certificate prices <> None)

let entailment_hints here certificate prices =
  with_what here.head (fun () -> Option.map (fun found -> Entailed_with found) (found_hints here certificate prices))

(* Numbers. *)

(* Whether the leads are those of the statement of a certificate, or more. *)
let covers here (settings : Checker.settings) (certificate : Checker.certificate) (bounds : Checker.bounds) =
  let unit = Z.mul settings.box_unit here.head.weight_unit in
  let covered rival lead margin =
    rival = certificate.predicted
    || match lead with
       | Some lead -> Z.compare (Z.mul lead certificate.margin_unit) (Z.mul margin unit) >= 0
       | None -> false
  in
  let rec all rival leads margins =
    match leads, margins with
    | lead :: leads, margin :: margins -> covered rival lead margin && all (rival + 1) leads margins
    | _ -> true
  in
  all 0 bounds.leads_of certificate.margins

(* What the domain alone proves of activations. It depends on few things, which many certificates of a head share. *)
let domain_for here settings (certificate : Checker.certificate) =
  let about = (settings, certificate.patches) in
  match here.domain with
  | Some (known, ends) when known = about -> Some ends
  | _ ->
      let nothing = { certificate with statements = [] } in
      let _, hints = hints_for here nothing [] Hinter.usual (fun _ -> no_rows) (fun _ -> Links.nothing) in
      let bounds = Checker.proved_bounds (prepared_for here settings nothing) nothing hints in
      let ends = Option.map (fun (bounds : Checker.bounds) -> bounds.ends_of) bounds in
      here.domain <- Option.map (fun ends -> (about, ends)) ends;
      ends

(* The ends of all activations, and the leads over all rivals. One search finds hints for all of them, and mostly they
   prove the certificate too. But what may be spent on what its margins depend on is then spent on other ends as well:
   where they do not prove it, those are taken that do, and where there are none, all that there is. *)
let numbers here (certificate : Checker.certificate) prices =
  let links settings = Hinter.links here.hinter settings certificate in
  let bounds_with (settings, hints) =
    let bounds = Checker.proved_bounds (prepared_for here settings certificate) certificate hints in
    Option.map (fun bounds -> (settings, hints, bounds)) bounds
  in
  let all_with precision effort =
    let rows settings = Hinter.all_rows here.hinter ~effort settings certificate in
    let joint = positive (Hinter.joint here.hinter certificate) in
    bounds_with (hints_for here certificate prices ~joint precision rows links)
  in
  let found =
    match all_with Hinter.usual Usual with
    | Some (settings, _, bounds) as found when covers here settings certificate bounds -> found
    | _ -> (
        match found_hints here certificate prices with
        | Some proved -> bounds_with proved
        | None -> all_with Hinter.most Thorough)
  in
  let bounded (settings, hints, (bounds : Checker.bounds)) =
    let bounded_by domain =
      let givers = Givers.find settings certificate hints domain bounds.ends_of in
      Bounded { settings; bounds; domain; givers }
    in
    Option.map bounded_by (domain_for here settings certificate)
  in
  Option.value ~default:Not_proved (Option.bind found bounded)

(* Bits that tell the ends of every statement apart, mostly of the order of 64: an image's observables need far fewer
   than a proof. Of a statement with one end nothing tells how near to it the observable lies. *)
let usual_bits = 40

let bits_of (certificate : Checker.certificate) =
  let unit = Z.numbits certificate.statement_unit in
  let needed most = function
    | Checker.AboutPatch (_, _, Some low, Some high) | AboutActivation (_, Some low, Some high) ->
        let width = Z.sub high low in
        if Z.sign width > 0 then max most (unit - Z.numbits width) else most
    | AboutPatch _ | AboutActivation _ | AboutOthers _ | AboutSum _ -> most
  in
  List.fold_left needed usual_bits certificate.statements + 8

(* An enclosure that does not decide a statement is made again with more bits. *)
let more_bits = [ 0; 256; 1152 ]

(* The settings with which claims about images are tried, one after another. *)
let image_settings here certificate =
  let { Checker.range_unit; box_unit; terms } = settings_for here Hinter.most certificate in
  let bits = bits_of certificate in
  let few unit = Z.shift_left Z.one (max 0 (min (Z.numbits unit - 1) bits)) in
  let coarse = settings (few range_unit) (few box_unit) terms in
  let finer more = settings (Z.shift_left range_unit more) (Z.shift_left box_unit more) (terms + (more / 3)) in
  coarse :: List.map finer more_bits

(* The first ones with which a claim about an image is proved. *)
let about_image here claim certificate image =
  List.find_opt (fun settings -> claim here.head settings certificate image) (image_settings here certificate)

let instance here certificate image =
  when_covered here.head (fun () -> about_image here Checker.instance_proved certificate image <> None)

let instance_settings here certificate image =
  let found () = about_image here Checker.instance_proved certificate image in
  with_what here.head (fun () -> Option.map (fun settings -> True_with settings) (found ()))

(* What the head computes for an image. *)
let values here (certificate : Checker.certificate) image =
  let settings = settings_for here Hinter.most certificate in
  match Checker.image_values here.head settings certificate.predicted image with
  | Some values -> Valued (settings, values)
  | None -> Not_proved

let refuted here certificate image =
  when_covered here.head (fun () -> about_image here Checker.refutation_proved certificate image <> None)

(* Pictures. *)

(* About how many bits each layer loses: those of the mean of the sums of its weights' sizes. *)
let bits_lost (layer : Checker.layer) =
  match layer.does with
  | Checker.Conv2d (_, _, unit, weights, _) | LinearLayer (unit, weights, _) ->
      let sizes = List.fold_left (List.fold_left (fun sum weight -> Z.add sum (Z.abs weight))) Z.zero weights in
      Z.numbits (Z.div sizes (Z.mul unit (Z.of_int (List.length weights))))
  | Add -> Z.numbits (Z.of_int (List.length layer.inputs - 1))
  | _ -> 0

(* About how many bits are lost up to the latents. *)
let all_bits_lost (network : Checker.network) =
  let lost = Array.make (List.length network.layers + 1) 0 in
  let layer number (layer : Checker.layer) =
    let most = List.fold_left (fun most input -> max most lost.(input)) 0 layer.inputs in
    lost.(number + 1) <- most + bits_lost layer
  in
  List.iteri layer network.layers;
  lost.(List.length network.layers)

(* The bits of grids on which latents are known to some 2^-64, mostly, and certainly. In networks of many layers about
   half of what is counted is lost: not all roundings add up. Any grid will do. *)
let grids network =
  let lost = all_bits_lost network in
  (64 + (lost / 2), 112 + lost)

(* The box on a grid of so many bits. It takes longest, and serves whatever else is asked about the picture. *)
let box here network picture bits =
  let known = match here.boxes with Some (n, p, known) when n == network && p = picture -> known | _ -> [] in
  match List.assoc_opt bits known with
  | Some found -> found
  | None ->
      let unit = Z.shift_left Z.one bits in
      let latents = Checker.picture_latents here.head unit (bits / 3) network picture in
      let found = Option.map (fun ends -> { unit; ends }) latents in
      here.boxes <- Some (network, picture, (bits, found) :: known);
      found

(* Latents that are known to so many bits need no finer grid. *)
let enough = 44

let is_narrow bits { ends; _ } =
  let narrow (low, high) = Z.numbits (Z.sub high low) <= bits - enough in
  List.for_all (List.for_all narrow) ends

let narrow_box here network picture =
  let usual, finest = grids network in
  match box here network picture usual with
  | Some found when is_narrow usual found -> Some found
  | _ -> box here network picture finest

let pictured here network certificate picture =
  let complies settings = function
    | Some { unit; ends } -> Checker.complies_over here.head certificate settings unit ends
    | None -> false
  in
  when_covered here.head (fun () ->
      match image_settings here certificate with
      | _ :: usual :: finer :: _ ->
          complies usual (box here network picture (fst (grids network)))
          || complies finer (narrow_box here network picture)
      | _ -> false)

(* The ends of the latents that the network gives. *)
let latents here network picture =
  match narrow_box here network picture with
  | Some { unit; ends } -> Latent (unit, ends)
  | None -> Not_proved

(* Minimality. *)

(* Units of which those of statements and observables are fractions, so that ties are seen. *)
let inward here precision (certificate : Checker.certificate) =
  let { Checker.range_unit; box_unit; terms } = settings_for here precision certificate in
  let box_unit = Z.max box_unit (rounded certificate.statement_unit) in
  let square = Z.mul here.head.coord_unit here.head.coord_unit in
  let range_unit =
    if here.head.head_geometry = Checker.Softmax then box_unit
    else Z.max range_unit (Z.max (rounded certificate.statement_unit) (rounded square))
  in
  settings range_unit box_unit terms

(* The rivals, those with the least margins first. *)
let by_margin (certificate : Checker.certificate) =
  let rivals = List.mapi (fun rival margin -> (margin, rival)) certificate.margins in
  List.map snd (List.sort compare (List.filter (fun (_, rival) -> rival <> certificate.predicted) rivals))

(* No points of a unit that is not positive, or of negative indices. *)
let positive_unit (points : Checker.patch_points) =
  let natural (low, high) = low >= 0 && high >= 0 in
  if Z.sign points.point_unit > 0 && List.for_all natural points.chosen then points
  else { point_unit = Z.one; points_of = []; chosen = [] }

(* Without pairs of a negative index: Coq's naturals are integers here. *)
let pairs_of here (settings : Checker.settings) certificate index rival =
  let found = Matching.pairs here.head (Checker.without index certificate) settings.box_unit rival in
  List.filter (fun (patch, prototype) -> patch >= 0 && prototype >= 0) found

let joint_point here certificate index rival =
  let unit, point = Needed.least_margin here.hinter (Checker.without index certificate) rival in
  ((if Z.sign unit > 0 then unit else Z.one), point)

(* How far activations reach without a statement, by what others say. *)
let reaches_at here settings certificate =
  let start =
    lazy (Option.map (Reaching.start here.head settings) (prepared_for here settings certificate).measures_of)
  in
  fun index ->
    if not (Checker.are_linked here.head) then Reaching.nowhere
    else
      match Lazy.force start with
      | Some start -> Reaching.find start (Checker.without index certificate)
      | None -> Reaching.nowhere

(* While [anew] is false, points without a statement are mostly those of all statements, which satisfy the others too. *)
let needed_hints here settings rivals anew (certificate : Checker.certificate) =
  let wanted = Needed.wanted_for here.head certificate.predicted rivals in
  let inside certificate patch = Needed.inside here.hinter certificate wanted patch in
  let of_all = Array.init certificate.patches (fun patch -> lazy (inside certificate patch)) in
  let with_all patch = Lazy.force of_all.(patch) in
  let without index patch =
    if !anew then inside (Checker.without index certificate) patch
    else Needed.few_more here.hinter certificate index patch (with_all patch)
  in
  { Checker.rivals_of = rivals;
    points_at = (fun patch -> positive_unit (with_all patch));
    points_without = (fun index patch -> positive_unit (without index patch));
    pairs_of = pairs_of here settings certificate;
    joint_point = joint_point here certificate;
    reaches_at = reaches_at here settings certificate }

(* Each of these statements is needed. The closest rivals are tried first, then all. *)
let few = 5

let shown_needed here what certificate =
  let rivals = by_margin certificate in
  let anew = ref false in
  let shown (precision, rivals) =
    lazy
      (let settings = inward here precision certificate in
       let hints = needed_hints here settings rivals anew certificate in
       Checker.needed_of (prepared_for here settings certificate) what hints certificate)
  in
  let usual = shown (Hinter.usual, List.filteri (fun i _ -> i < few) rivals) in
  let attempts = [ (false, usual); (true, usual); (true, shown (Hinter.most, rivals)) ] in
  let by index (all_anew, needed) = anew := all_anew; Lazy.force needed index in
  let known = Hashtbl.create 64 in
  fun index ->
    match Hashtbl.find_opt known index with
    | Some needed -> needed
    | None ->
        let needed = List.exists (by index) attempts in
        Hashtbl.replace known index needed;
        needed

(* Who was told that not all statements are needed asks which one is not: the same certificate again. *)
let all_needed here what certificate indices =
  when_covered here.head (fun () ->
      let needed =
        match here.shown with
        | Some (asked, needed) when asked = (what, certificate) -> needed
        | _ ->
            let needed = shown_needed here what certificate in
            here.shown <- Some ((what, certificate), needed);
            needed
      in
      List.for_all needed indices)

(* Whether no statement can be dropped, and whether one cannot. *)
let minimal here what (certificate : Checker.certificate) =
  all_needed here what certificate (List.init (List.length certificate.statements) Fun.id)

let needed here what certificate index = all_needed here what certificate [ index ]
