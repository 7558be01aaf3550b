(* The ends of observables at one patch, and the weights that prove them, in floats. Part of the hinter: untrusted. *)

(* A patch by one ball that holds y; with distances there is one view, without a ball. *)
type view = { span : Span.t; ascent : Ascent.t Lazy.t }

type patch = {
  stated : Span.statement array; (* in the certificate's order *)
  lows : float array; (* what is stated of each prototype itself; infinite: nothing *)
  highs : float array;
  views : view list; (* of these statements, but those about prototypes that are the same are met *)
  places : (int * int) array; (* of the statements of views, where the low and the high end are stated *)
  twins : int array; (* of each prototype, the statement of views about the same one; or -1 *)
  improves : int -> bool; (* for which prototypes weights are made better than the middles of intervals give them *)
  budget : int ref; (* of all patches together *)
  hints : Checker.hint array;
}

(* What is compared is the low end of an observable, or minus the high end, so that more is better. *)
type side = Low | High

type found = {
  view : view;
  weights : float array; (* empty: those of [Span.weights], not computed yet *)
  curve : float;
  value : float;
}

let turned = function Low -> 1. | High -> -1.

(* The sign of the form's end that gives it. *)
let sign_of (span : Span.t) side = if span.curve > 0. then turned side else -.turned side

let value_of span side k reach = turned side *. Span.observable span k (sign_of span side *. reach)

(* Sign times the form's end that gives this. *)
let form_of span side k value = sign_of span side *. Span.form span k (turned side *. value)

let better a b = if b.value > a.value then b else a

(* What the domain gives anyway, and what the statements do. *)
let of_domain (points : Points.t) side k =
  match side with Low -> points.lowest.(k) | High -> -.points.highest.(k)

let of_statements patch side k = match side with Low -> patch.lows.(k) | High -> -.patch.highs.(k)

let of_span ?share ?rough view side k =
  let found = Span.weights ?share ?rough view.span (sign_of view.span side) k in
  { view; weights = found.weights; curve = found.curve; value = value_of view.span side k found.reach }

let with_weights side k found = if Array.length found.weights > 0 then found else of_span found.view side k

(* From the middles of all intervals; the weights are left for later where the value does not depend on them. *)
let from_middles view side k =
  let span = view.span in
  if span.wide then of_span ~share:1e-8 ~rough:true view side k
  else { view; weights = [||]; curve = 0.; value = value_of span side k (Span.reach span (sign_of span side) k) }

(* Differences of values that floats do not tell, as shares of the largest distance. *)
let slight = 1e-12

(* A statement about a prototype that is the same says the same of this one, exactly: with weights 1 and -1, and nothing
   else. *)
let with_twin patch side k found =
  let i = patch.twins.(k) in
  if i < 0 then found
  else begin
    let span = found.view.span in
    let s = span.statements.(i) in
    let value = match side with Low -> s.low | High -> -.s.high in
    if value < found.value -. (slight *. span.scale) then found
    else begin
      let weights = Array.make (Span.facts span) 0. in
      weights.(i) <- -.sign_of span side;
      { found with weights; curve = 0.; value }
    end
  end

let best_of_views patch end_of =
  match List.map end_of patch.views with
  | first :: others -> List.fold_left better first others
  | [] -> invalid_arg "a patch without views"

let estimate patch side k = best_of_views patch (fun view -> with_twin patch side k (from_middles view side k))

(* With as few statements as it takes to give at least this much; the same if it takes all. *)
let with_few patch side k enough found =
  let few view =
    let span = view.span in
    let sign = sign_of span side in
    let form = form_of span side k enough in
    let size = Span.size_for span sign k form in
    let found = Span.weights ~share:1e-8 ~rough:true (Span.first span size) sign k in
    { view; weights = found.weights; curve = found.curve; value = value_of span side k found.reach }
  in
  let least = few found.view in
  if least.value >= enough then least else found

(* Newton's steps end where floats no longer tell bounds apart. That is before the weights are as good as they can
   be. *)
let polished side k found =
  let span = found.view.span in
  match Exchange.solve span (turned side) (sign_of span side) k (Exchange.basis_of span found.weights) with
  | Some { weights; curve; value; turned = []; _ } when value > found.value -. (slight *. span.scale) ->
      { found with weights; curve; value }
  | _ -> found

(* From how much curve Newton's steps start, against that of a target of its own. *)
let shares = [ 0.03; 1. ]

(* The best end of a view, with intervals. *)
let improved_view patch side k view =
  let span = view.span in
  let sign = sign_of span side in
  let first = of_span view side k in
  let rec ascend best = function
    | [] -> (
        match Exchange.improve span (turned side) sign k [ best.weights; first.weights ] patch.budget with
        | Some { weights; curve; value; _ } -> better best { view; weights; curve; value }
        | None -> best)
    | share :: others ->
        let start = Span.weights ~share span sign k in
        let next, settled = Ascent.improve (Lazy.force view.ascent) patch.budget sign k start in
        let value = value_of span side k next.reach in
        let best = better best { view; weights = next.weights; curve = next.curve; value } in
        if settled then polished side k best else ascend best others
  in
  ascend first shares

let is_wide patch = List.exists (fun view -> view.span.Span.wide) patch.views
let scale_of patch = List.fold_left (fun most view -> Float.max most view.span.Span.scale) 0. patch.views

let improved patch side k found =
  if (not (patch.improves k)) || !(patch.budget) <= 0 || not (is_wide patch) then found
  else better found (best_of_views patch (fun view -> with_twin patch side k (improved_view patch side k view)))
