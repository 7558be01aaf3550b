(* Weights for the proved checker: for every patch with statements and every prototype those that prove the best low and
   high end, as far as the margins depend on it. Untrusted: whatever this says, the checker computes what it proves.

   Under a pooling by maxima most ends need not be the best ones. With a similarity that falls, the upper end of an
   activation is that of the least low end of all patches: the others only have to be as good, so that few bits of
   weight will do. Its lower end is that of one patch. *)

(* A patch with statements. *)
type patch = {
  stated : Span.statement array; (* in the certificate's order *)
  span : Span.t; (* of these, but those about prototypes that are the same are met *)
  places : (int * int) array; (* of each of its statements, where the low and the high end are stated *)
  ascent : Ascent.t Lazy.t;
  budget : int ref; (* of all patches together *)
  hints : Checker.hint array;
}

type prepared = { head : Checker.head; points : Points.t option }

let prepare head = { head; points = Points.prepare head }

let no_hint = { Checker.for_low = None; for_high = None }

(* Ends. *)

(* What is compared is the low end of an observable, or minus the high end, so that more is better. *)
type side = Low | High

let turned = function Low -> 1. | High -> -1.

(* The sign of the form's end that gives it. *)
let sign_of (span : Span.t) side = if span.curve > 0. then turned side else -.turned side

type found = { weights : float array; curve : float; value : float }

let value_of span side k reach = turned side *. Span.observable span k (sign_of span side *. reach)

let of_span span side k =
  let found = Span.weights span (sign_of span side) k in
  { weights = found.weights; curve = found.curve; value = value_of span side k found.reach }

(* From the middles of all intervals; the weights are left for later where they are not needed for that. *)
let from_middles patch side k =
  let span = patch.span in
  if span.wide then of_span span side k
  else { weights = [||]; curve = 0.; value = value_of span side k (Span.reach span (sign_of span side) k) }

(* Newton's steps end where floats no longer tell bounds apart, which is before the weights are as good as they can be. *)
let polished span side k found =
  match Exchange.solve span (turned side) (sign_of span side) k (Exchange.basis_of span found.weights) with
  | Some { weights; curve; value; turned = []; _ } when value > found.value -. (1e-12 *. span.scale) ->
      { weights; curve; value }
  | _ -> found

let improved patch side k found =
  let span = patch.span in
  if not span.wide then found
  else begin
    let sign = sign_of span side in
    let first = Span.weights span sign k in
    let start = Span.weights ~share:0.03 span sign k in
    let better, settled = Ascent.improve (Lazy.force patch.ascent) patch.budget sign k start in
    let better = { weights = better.weights; curve = better.curve; value = value_of span side k better.reach } in
    let better = if better.value > found.value then better else found in
    if settled then polished span side k better
    else
      match Exchange.improve span (turned side) sign k [ better.weights; first.weights ] patch.budget with
      | Some { weights; curve; value; _ } when value > better.value -> { weights; curve; value }
      | _ -> better
  end

(* What the domain gives anyway, and what the statements do. *)
let of_domain (points : Points.t) side k =
  match side with Low -> points.lowest.(k) | High -> -.points.highest.(k)

let stated_end side (s : Span.statement) = match side with Low -> s.low | High -> -.s.high

let of_statements patch side k =
  Array.fold_left
    (fun best (s : Span.statement) -> if s.about = k then Float.max best (stated_end side s) else best)
    neg_infinity patch.stated

(* A statement about a prototype that is the same says the same of this one, exactly: with weights 1 and -1, and nothing
   else. *)
let with_twin patch side k found =
  let twins = patch.span.points.twins in
  let best = ref found in
  Array.iteri
    (fun i (s : Span.statement) ->
      if twins.(s.about) = twins.(k) && stated_end side s >= !best.value then begin
        let weights = Array.make (Span.facts patch.span) 0. in
        weights.(i) <- -.sign_of patch.span side;
        best := { weights; curve = 0.; value = stated_end side s }
      end)
    patch.span.statements;
  !best

let estimate patch side k = with_twin patch side k (from_middles patch side k)

(* Integers. *)

(* What a weight of 1 of each fact is for the checker. *)
let ball_of (span : Span.t) : Points.ball = List.nth span.points.balls span.ball

let factors (span : Span.t) k =
  let points = span.points in
  let size = points.sizes.(k) in
  let own = Array.map (fun (s : Span.statement) -> size /. points.sizes.(s.about)) span.statements in
  if span.ball < 0 then own else Array.append own [| size *. (ball_of span).factor |]

let log2 x = Float.log x /. Float.log 2.

(* The bits of weights with which rounding costs the bound about this much. An error of 2^-b moves Q / A, the vector that
   attains the bound, by R 2^-b / A, where R is the largest distance, and the bound loses A times the square of that.
   With wide intervals the weights may not be the best, and then it loses in proportion. *)
let bits_for (span : Span.t) found factors loss =
  let many = float_of_int (Array.length found.weights + 1) in
  let smooth = log2 (many *. span.scale /. (found.curve *. loss)) /. 2. in
  let rough = if span.wide then log2 (many *. span.scale /. loss) else 0. in
  let kept = log2 (64. *. many /. found.curve) in
  let smallest = Array.fold_left Float.min infinity factors in
  let bits = Float.max (Float.max smooth kept) rough -. log2 smallest in
  if bits < 2000. then Some (max 1 (1 + int_of_float bits)) else None

(* In the order of the certificate. *)
let placed patch bits integers =
  let span = patch.span in
  let zero = Z.of_int 0 in
  let made = Array.make (Array.length patch.stated + span.ball + 1) zero in
  Array.iteri
    (fun i (low, high) ->
      let upper = (Z.sign integers.(i) > 0) = (span.curve > 0.) in
      made.(if upper then high else low) <- integers.(i))
    patch.places;
  if span.ball >= 0 then made.(Array.length made - 1) <- integers.(Array.length integers - 1);
  (Z.shift_left (Z.of_int 1) bits, Array.to_list made)

let whole patch sign found factors bits =
  let span = patch.span in
  let integers = Array.mapi (fun i w -> Floats.to_integer bits (w *. factors.(i))) found.weights in
  let statements = Array.length span.statements in
  (* All curves together may be far less than each of them, so the base's is what is left. *)
  if span.base < statements then begin
    integers.(span.base) <- Z.of_int 0;
    let target = Z.shift_left (Z.of_int (if sign > 0. then 1 else -1)) bits in
    let others = Array.fold_left Z.add target integers in
    integers.(span.base) <- Z.sub (Floats.to_integer bits found.curve) others
  end;
  placed patch bits integers

(* Where A is next to nothing: weights that make up the target exactly, and as small an A. *)
let exactly patch side k found =
  let span = patch.span in
  let statements = Array.length span.statements in
  let about i = span.statements.(i).about in
  let used = List.filter (fun i -> found.weights.(i) <> 0.) (List.init statements Fun.id) in
  let base = if span.ball >= 0 then statements else if List.mem span.base used then span.base else List.fold_left min statements used in
  let support = Array.of_list (List.filter (fun i -> i <> base) used) in
  patch.budget := !(patch.budget) - (200 * Array.length support * span.points.depth);
  let origin = if span.ball < 0 then Some (about base) else None in
  let shares = Exact.combination span.points origin (Array.map about support) k in
  let positive = sign_of span side > 0. in
  let integers = Array.make (Span.facts span) (Z.of_int 0) in
  Array.iteri (fun at i -> integers.(i) <- (if positive then Z.neg shares.(at) else shares.(at))) support;
  let curve = sqrt (span.norms.(k) /. Float.max span.far (1e-3 *. span.scale)) *. ldexp 1. (-Exact.curve_bits) in
  let curve = if span.ball < 0 then curve else curve *. span.points.sizes.(k) *. (ball_of span).factor in
  let curve = Floats.to_integer Exact.bits curve in
  if span.ball >= 0 then integers.(statements) <- curve
  else begin
    let target = Z.shift_left (Z.of_int (if positive then 1 else -1)) Exact.bits in
    integers.(base) <- Z.sub curve (Array.fold_left Z.add target integers)
  end;
  if Z.sign curve > 0 then Some (placed patch Exact.bits integers) else None

let rounded patch side k loss found =
  let span = patch.span in
  let factors = factors span k in
  if Array.for_all Floats.is_finite found.weights && Array.for_all Floats.is_finite factors then
    Option.map
      (whole patch (sign_of span side) found factors)
      (if found.curve > 0. then bits_for span found factors loss else Some 0)
  else None

(* What A is, at most, where weights in floats are too coarse. *)
let flat = 1e-12

let hint patch side k loss found =
  let span = patch.span in
  let found = if found.weights <> [||] then found else of_span span side k in
  let share = found.curve *. sqrt (Float.max span.far (1e-3 *. span.scale) /. (span.norms.(k) +. 1e-300)) in
  let is_flat = found.curve > 0. && share < flat && loss < 1e-15 *. span.scale && !(patch.budget) > 0 in
  match if is_flat then exactly patch side k found else rounded patch side k loss found with
  | None -> ()
  | weights ->
      let old = patch.hints.(k) in
      patch.hints.(k) <-
        (match side with Low -> { old with Checker.for_low = weights } | High -> { old with for_high = weights })

(* Shares of the largest distance: what an end that matters may lose to rounding, and what is too little to tell. *)
let finest = ldexp 1. (-72)
let slight = 1e-12
let noise = 1e-10

(* Which ends. *)

let each points patches side k =
  Array.iter
    (Option.iter (fun patch ->
         let found = estimate patch side k in
         let free = Float.max (of_domain points side k) (of_statements patch side k) in
         let scale = patch.span.scale in
         let found = improved patch side k found in
         if found.value > free +. (slight *. scale) then hint patch side k (finest *. scale) found))
    patches

(* All patches have to be as good as the worst, so that one is made as good as possible; then perhaps it is another. *)
let everywhere points patches side k =
  let domain = of_domain points side k in
  if Array.for_all Option.is_some patches then begin
    let patches = Array.map Option.get patches in
    let free = Array.map (fun patch -> Float.max domain (of_statements patch side k)) patches in
    let found = Array.map (fun patch -> estimate patch side k) patches in
    let value l = Float.max free.(l) found.(l).value in
    let best = Array.make (Array.length patches) false in
    let rec settle () =
      let worst = ref 0 in
      Array.iteri (fun l _ -> if value l < value !worst then worst := l) patches;
      let l = !worst in
      if best.(l) || free.(l) > found.(l).value || not patches.(l).span.wide then value l
      else begin
        best.(l) <- true;
        found.(l) <- improved patches.(l) side k found.(l);
        settle ()
      end
    in
    let needed = settle () in
    if needed > domain +. (slight *. patches.(0).span.scale) then
      Array.iteri
        (fun l patch ->
          if free.(l) < needed then begin
            let scale = patch.span.scale in
            let spare = found.(l).value -. needed in
            hint patch side k (if spare > noise *. scale then spare /. 4. else finest *. scale) found.(l)
          end)
        patches
  end

(* The best patch, by what the middles give, and by what the intervals leave. *)
let tries = 3

let somewhere points patches side k =
  let patches = Array.of_list (List.filter_map Fun.id (Array.to_list patches)) in
  let free =
    Array.fold_left
      (fun best patch -> Float.max best (of_statements patch side k))
      (of_domain points side k) patches
  in
  let found = Array.map (fun patch -> estimate patch side k) patches in
  let best at = Array.iteri (fun l f -> if !at < 0 || f.value > found.(!at).value then at := l) found in
  let tried = Array.map (fun _ -> false) found in
  let rec improve_best left =
    let at = ref (-1) in
    best at;
    if left > 0 && !at >= 0 && not tried.(!at) then begin
      tried.(!at) <- true;
      found.(!at) <- improved patches.(!at) side k found.(!at);
      improve_best (left - 1)
    end
    else !at
  in
  let l = improve_best tries in
  if l >= 0 then begin
    let scale = patches.(l).span.scale in
    if found.(l).value > free +. (slight *. scale) then hint patches.(l) side k (finest *. scale) found.(l)
  end

let follow points patches side k = function
  | Wanted.Nothing -> ()
  | Somewhere -> somewhere points patches side k
  | Everywhere -> everywhere points patches side k
  | Each -> each points patches side k

(* Certificates. *)

let statements_of (points : Points.t) (certificate : Checker.certificate) =
  let unit = certificate.statement_unit in
  let patches = Array.make certificate.patches [] in
  List.iter
    (function
      | Checker.AboutPatch (l, about, low, high) ->
          if l < Array.length patches && about < points.count then
            patches.(l) <-
              { Span.about; low = points.observed low unit; high = points.observed high unit } :: patches.(l)
      | AboutActivation _ | AboutOthers _ -> ())
    certificate.statements;
  Array.map (fun list -> Array.of_list (List.rev list)) patches

(* One statement for all about the same prototype, or two that are the same, and where its ends are stated. *)
let met (points : Points.t) stated =
  let meet (made : (Span.statement * (int * int)) list) at (s : Span.statement) =
    let same ((other : Span.statement), _) = points.twins.(other.about) = points.twins.(s.about) in
    match List.partition same made with
    | [ (other, (low, high)) ], rest ->
        let low = if s.low > other.low then at else low and high = if s.high < other.high then at else high in
        ({ other with low = Float.max s.low other.low; high = Float.min s.high other.high }, (low, high)) :: rest
    | _ -> (s, (at, at)) :: made
  in
  let made, _ = Array.fold_left (fun (made, at) s -> (meet made at s, at + 1)) ([], 0) stated in
  Array.split (Array.of_list made)

let patch_of (points : Points.t) budget stated =
  let sound (s : Span.statement) = Floats.is_finite s.low && Floats.is_finite s.high in
  if not (Array.for_all sound stated) then None
  else begin
    let statements, places = met points stated in
    let patch span =
      { stated; span; places; ascent = lazy (Ascent.prepare span); budget;
        hints = Array.make points.count no_hint }
    in
    Option.map patch (Span.make points statements)
  end

(* The hints of every patch, in order; none for a patch without statements. *)
let rows_for wants prepared (certificate : Checker.certificate) =
  match prepared.points with
  | None -> List.init certificate.patches (fun _ -> [])
  | Some points ->
      let budget = ref Ascent.allowed in
      let patches = Array.map (patch_of points budget) (statements_of points certificate) in
      Array.iteri
        (fun k (want : Wanted.t) ->
          let here = Array.sub patches want.first (want.last - want.first) in
          let high =
            if want.high = Wanted.Nothing && points.highest.(k) = infinity then Wanted.Somewhere else want.high
          in
          follow points here Low k want.low;
          follow points here High k high)
        (wants points.count (Array.length patches));
      Array.to_list (Array.map (function None -> [] | Some patch -> Array.to_list patch.hints) patches)

let rows prepared (certificate : Checker.certificate) =
  rows_for (Wanted.wants prepared.head certificate.predicted) prepared certificate

(* Units. *)

type settings = { observables : Z.t; activations : Z.t; terms : int }

let fine = 96
let finer = 128

(* That of observables is a multiple of that of statements, so that stated ends are integers, and fine against the
   observables. So is that of activations, which may be as small; terms of the series of ln, each of 3 bits. *)
let settings prepared (certificate : Checker.certificate) =
  let unit = certificate.statement_unit in
  let small = match prepared.points with Some points -> max 0 (min points.small 4096) | None -> 0 in
  let bits = finer + small in
  { observables = Z.shift_left unit (max 0 (fine + small + 1 - Z.numbits unit));
    activations = Z.shift_left (Z.of_int 1) bits;
    terms = bits / 3 }
