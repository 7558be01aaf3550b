(* Weights for the proved checker: for every patch with statements and every prototype those that prove the best low and
   high end, as far as the margins depend on it. Untrusted: whatever this says, the checker computes what it proves. *)

open Ends
open Chosen

type prepared = { head : Checker.head; points : Points.t option }

let prepare head = { head; points = Points.prepare head }

let no_hint = { Checker.for_low = None; for_high = None }

(* How much is done for a proof. [Quick]: weights as the middles of intervals give them, with fewer bits. That is enough
   for most certificates, and takes a half or a third of the time where intervals are wide. [Usual]: the best weights;
   [Partly]: for some prototypes. [Thorough]: also without balls, every end that is needed has weights of its own. *)
type effort = Quick | Partly of (int -> bool) | Usual | Thorough

(* What is spent on some prototypes: they are tried before all are. *)
let budget = function Partly _ -> Ascent.allowed / 10 | _ -> Ascent.allowed

let improves = function Quick -> fun _ -> false | Partly wanted -> wanted | Usual | Thorough -> fun _ -> true

(* The share of the largest distance that an end that matters may lose to rounding. *)
let finest ~improved = ldexp 1. (if improved then -72 else -50)

(* Certificates. *)

(* An end that is not stated is that of the domain, as it is for the checker. *)
let stated_end (points : Points.t) unit domain about = function
  | Some stated -> points.observed stated unit
  | None -> domain.(about)

(* Distances of an unbounded domain have no greatest one. Here they have one, so large that no good weight needs it. *)
let with_high_end (points : Points.t) statements =
  let finite x = if Floats.is_finite x then x else 0. in
  let larger most (s : Span.statement) = Float.max most (Float.max (finite s.low) (finite s.high)) in
  let far = Array.fold_left larger (Array.fold_left Float.max 0. points.squares) statements in
  let bounded (s : Span.statement) =
    if points.kind = Points.Distance && s.high = infinity then { s with high = 64. *. far } else s
  in
  Array.map bounded statements

let statements_of (points : Points.t) (certificate : Checker.certificate) =
  let unit = certificate.statement_unit in
  let patches = Array.make certificate.patches [] in
  List.iter
    (function
      | Checker.AboutPatch (l, about, low, high) ->
          if l < Array.length patches && about < points.count then
            patches.(l) <-
              { Span.about;
                low = stated_end points unit points.lowest about low;
                high = stated_end points unit points.highest about high }
              :: patches.(l)
      | AboutActivation _ | AboutOthers _ | AboutSum _ -> ())
    certificate.statements;
  Array.map (fun list -> with_high_end points (Array.of_list (List.rev list))) patches

(* One statement for all about the same prototype, or two that are the same, and where its ends are stated. *)
let met (points : Points.t) stated =
  let known = Hashtbl.create 16 and order = ref [] in
  Array.iteri
    (fun at (s : Span.statement) ->
      let twin = points.twins.(s.about) in
      match Hashtbl.find_opt known twin with
      | None ->
          order := twin :: !order;
          Hashtbl.replace known twin (s, (at, at))
      | Some ((other : Span.statement), (low, high)) ->
          let low = if s.low > other.low then at else low and high = if s.high < other.high then at else high in
          let met = { other with low = Float.max s.low other.low; high = Float.min s.high other.high } in
          Hashtbl.replace known twin (met, (low, high)))
    stated;
  Array.split (Array.of_list (List.rev_map (Hashtbl.find known) !order))

let patch_of ?(improves = fun _ -> true) (points : Points.t) budget stated =
  let sound (s : Span.statement) = Floats.is_finite s.low && Floats.is_finite s.high in
  if not (Array.for_all sound stated) then None
  else begin
    let statements, places = met points stated in
    let lows = Array.make points.count neg_infinity and highs = Array.make points.count infinity in
    Array.iter
      (fun (s : Span.statement) ->
        lows.(s.about) <- Float.max lows.(s.about) s.low;
        highs.(s.about) <- Float.min highs.(s.about) s.high)
      stated;
    let first = Array.make points.count (-1) in
    Array.iteri (fun i (s : Span.statement) -> first.(points.twins.(s.about)) <- i) statements;
    let twins = Array.map (fun twin -> first.(twin)) points.twins in
    let view span = { span; ascent = lazy (Ascent.prepare span) } in
    match Span.make points statements with
    | [] -> None
    | spans ->
        let hints = Array.make points.count no_hint in
        Some { stated; lows; highs; views = List.map view spans; places; twins; improves; budget; hints }
  end

(* The ball of every patch, all from views of the same kind, whose ball is the least, and of the same curve. *)
let centres_of points patches =
  let all = List.filter_map Fun.id (Array.to_list patches) in
  match all with
  | [] -> None
  | first :: _ ->
      let radius at =
        List.fold_left (fun sum patch -> sum +. (Centre.view_of patch at).span.Span.rho2) 0. all
      in
      let least best at = if radius at < radius best then at else best in
      let at = List.fold_left least 0 (List.init (List.length first.views) Fun.id) in
      let spans = Array.of_list (List.map (fun patch -> (Centre.view_of patch at).span) all) in
      Option.map
        (fun (scale : Centre.scale) ->
          let centre = Option.map (fun patch -> Centre.make points patch at scale) in
          (scale.curve, at, Array.map (fun patch -> Option.join (centre patch)) patches))
        (Centre.scale_for points spans)

(* A list of hints of some prototypes, each with the number of those left out before it. *)
let listed hints =
  let made = ref [] and next = ref (Array.length hints - 1) in
  while !next >= 0 do
    let k = !next in
    if hints.(k) != no_hint then begin
      let before = ref (k - 1) in
      while !before >= 0 && hints.(!before) == no_hint do decr before done;
      made := (k - !before - 1, hints.(k)) :: !made;
      next := !before
    end
    else decr next
  done;
  !made

let nothing = { Checker.centre = []; square_length = Z.of_int 1; directions = []; sharpened = []; targets = [] }

type rows = { curve : Z.t; claims : Checker.claim list; patches : Checker.patch_hints list }

(* The hints of every patch, in order; none for a patch without statements. *)
let rows_for wants prepared ~effort (settings : Checker.settings) (certificate : Checker.certificate) =
  match prepared.points with
  | None -> { curve = Z.of_int 1; claims = []; patches = List.init certificate.patches (fun _ -> nothing) }
  | Some points ->
      let budget = ref (budget effort) in
      let improves = improves effort in
      let patches = Array.map (patch_of ~improves points budget) (statements_of points certificate) in
      let wants : Wanted.t array = wants points.count (Array.length patches) in
      let curve, at, centres =
        match match effort with Thorough -> None | _ -> centres_of points patches with
        | Some found -> found
        | None -> (Z.of_int 1, 0, Array.map (fun _ -> None) patches)
      in
      let directions =
        Array.mapi
          (fun l patch ->
            match patch, centres.(l) with
            | Some patch, Some centre -> Directions.make points patch centre at
            | _ -> None)
          patches
      in
      let unit = points.unit_of_ends settings.range_unit in
      let made = Array.make points.count Checker.Unclaimed in
      let latest = ref None in
      (* Most prototypes look at the same patches, which are the same array. *)
      let here_for indices =
        match !latest with
        | Some (known, here) when known == indices -> here
        | _ ->
            let here = here_of points patches centres directions indices in
            latest := Some (indices, here);
            here
      in
      Array.iteri
        (fun k (want : Wanted.t) ->
          let here = here_for want.patches in
          let claims = { unit; finest = finest ~improved:(improves k); made } in
          let high =
            if want.high = Wanted.Nothing && points.highest.(k) = infinity then Wanted.Somewhere else want.high
          in
          follow points here claims Low k want.low;
          follow points here claims High k high)
        wants;
      Array.iter (Option.iter Directions.settle) directions;
      let hints l = function
        | None -> nothing
        | Some patch ->
            let centre = match centres.(l) with Some centre -> centre.Centre.weights | None -> [] in
            let told = { nothing with Checker.centre; targets = listed patch.hints } in
            (match directions.(l) with
             | Some d when Array.exists (fun count -> count > 0) d.wanted ->
                 let most = Array.fold_left max 0 d.wanted in
                 { told with
                   square_length = d.scale;
                   directions = List.filteri (fun c _ -> c < most) d.weights;
                   sharpened = Array.to_list d.wanted }
             | _ -> told)
      in
      { curve; claims = Array.to_list made; patches = Array.to_list (Array.mapi hints patches) }

let rows prepared ~effort settings (certificate : Checker.certificate) =
  rows_for (Wanted.wants prepared.head certificate.predicted) prepared ~effort settings certificate

(* For the ends of all activations. *)
let all_rows prepared ~effort settings certificate =
  rows_for (Wanted.all prepared.head) prepared ~effort settings certificate

(* Whether more effort than [Quick] can give better ends of observables: only statements about patches have weights. *)
let may_improve prepared (certificate : Checker.certificate) =
  let about_patch = function Checker.AboutPatch _ -> true | AboutActivation _ | AboutOthers _ | AboutSum _ -> false in
  Option.is_some prepared.points && List.exists about_patch certificate.statements

(* Of a head with one patch: weights for the margins as a whole. *)
let joint prepared certificate =
  match prepared.points with None -> [] | Some points -> Joint.hints points prepared.head certificate

(* Of a head of distances or cosines: what activations say of one another, and whether they may say something. *)
let links prepared settings certificate =
  match prepared.points with
  | None -> Links.nothing
  | Some points -> Links.hints points prepared.head settings certificate

let may_link prepared certificate =
  match prepared.points with None -> false | Some points -> Links.may points prepared.head certificate

let may_turn prepared certificate =
  may_link prepared certificate
  && match prepared.points with Some { kind = Points.Angle; _ } -> true | _ -> false

(* Units. *)

type settings = { observables : Z.t; activations : Z.t; terms : int }

(* Bits of ends of observables and of activations: enough for nearly every certificate, for most of those that are left,
   and for cosines that bound one another. *)
type precision = { fine : int; finer : int }

let usual = { fine = 58; finer = 62 }
let most = { fine = 96; finer = 128 }
let utmost = { fine = 160; finer = 192 }

(* That of observables is a multiple of that of statements, so that stated ends are integers, and fine against the
   observables. So is that of activations, which may be as small; terms of the series of exp, each of 3 bits, of which
   logarithms take a quarter. *)
let settings prepared { fine; finer } (certificate : Checker.certificate) =
  let unit = certificate.statement_unit in
  let small = match prepared.points with Some points -> max 0 (min points.small 4096) | None -> 0 in
  let bits = finer + small in
  { observables = Z.shift_left unit (max 0 (fine + small + 1 - Z.numbits unit));
    activations = Z.shift_left (Z.of_int 1) bits;
    terms = bits / 3 }
