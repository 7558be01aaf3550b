(* What the statements about one patch say of all prototypes, if each holds at the middle of its interval. Part of the
   hinter: untrusted.

   y is taken relative to an origin: one statement's prototype, or the centre of the ball that holds y. A form is
   q(y) = a |y|^2 - 2 <y, v>; a statement says in what interval the form of its prototype lies, a = 1 with distances
   and 0 with products, and so does the base: |y|^2 is the distance to the origin, or at most the ball's reach.
   With N = |y|^2 a form gives <y, v> = (a N - q) / 2, and so the foot g of y on the span of the v. With T_c the
   products of the prototypes with an orthonormal basis of the span and x_c those of y, a prototype d has

       <y, d> = sum_c x_c T_c  -+  rho r,   rho^2 = N - |g|^2,   r^2 = |d|^2 - sum_c T_c^2.

   Weights that prove this end: kappa sigma_i - sign tau_i for the statements of the basis, where the foot of y is
   sum sigma_i v_i, that of d sum tau_i v_i, kappa = r / rho; then that of the base, so that all curves add up to kappa.
   A sign of 1 stands for a lower end of the form, -1 for an upper end. *)

type statement = { about : int; low : float; high : float }

type t = {
  points : Points.t;
  statements : statement array;
  curve : float; (* a *)
  base : int; (* the statement, or the number of statements: the ball *)
  ball : int; (* which ball is used; -1: none *)
  lows : float array; (* the ends of all forms, the base's last if it is a ball *)
  highs : float array;
  norms : float array; (* |d|^2 of every prototype *)
  kept : int array; (* the statements of the basis *)
  basis : float array array; (* T_c of the statements, and in [pivots] that of its own statement *)
  pivots : float array;
  directions : (float array * float) option array; (* where T_c is taken from vectors, and the origin's own *)
  foot : float array; (* x_c *)
  sigma : float array;
  far : float; (* N *)
  rho2 : float;
  scale : float;
  wide : bool; (* whether the widths of intervals matter *)
  latest : latest;
}

(* The T_c of the prototype that was asked for last: what one end takes asks for them several times. *)
and latest = { mutable number : int; mutable entry : float array }

let none_yet () = { number = -1; entry = [||] }

let negligible = 1e-22
let tiny = 1e-280

(* The product of statement i's vector with prototype k. *)
let image span i k =
  let points = span.points in
  let about = span.statements.(i).about in
  let row = Points.products points about in
  if span.curve = 0. then row.(k)
  else begin
    let base = span.statements.(span.base).about in
    let origin = Points.products points base in
    row.(k) -. row.(base) -. origin.(k) +. origin.(base)
  end

let half span i = (span.highs.(i) -. span.lows.(i)) /. 2.
let is_wide span i = half span i > 1e-9 *. span.scale
let middle span i = (span.highs.(i) +. span.lows.(i)) /. 2.

(* <y, v> of a statement, by the middles, and half the width of what its interval leaves open. *)
let product span i = ((span.curve *. span.far) -. middle span i) /. 2.
let doubt span i =
  (half span i +. if span.curve = 0. then 0. else half span span.base) /. 2.

(* L^T t = x, where L's rows are the statements of the basis. *)
let solve_transposed kept basis pivots column =
  let size = Array.length pivots in
  let solved = Array.make size 0. in
  for c = size - 1 downto 0 do
    let sum = ref column.(c) and row = basis.(c) in
    for later = c + 1 to size - 1 do
      sum := !sum -. (row.(kept.(later)) *. solved.(later))
    done;
    solved.(c) <- !sum /. pivots.(c)
  done;
  solved

(* T_c of prototype k. *)
let column span k =
  let latest = span.latest in
  if latest.number <> k then begin
    let size = Array.length span.pivots in
    let made = Array.make size 0. in
    for c = 0 to size - 1 do
      match span.directions.(c) with
      | Some (direction, origin) -> made.(c) <- Floats.dot direction span.points.vectors.(k) -. origin
      | None ->
          let i = span.kept.(c) in
          let sum = ref (image span i k) in
          for before = 0 to c - 1 do
            sum := !sum -. (span.basis.(before).(i) *. made.(before))
          done;
          made.(c) <- !sum /. span.pivots.(c)
    done;
    latest.number <- k;
    latest.entry <- made
  end;
  latest.entry

(* r^2 *)
let rest span k column = Float.max 0. (span.norms.(k) -. Floats.dot column column)

(* The vector of prototype k from the origin, and what is left of it off orthonormal directions; twice, for accuracy. *)
let vector span k =
  let own = Array.copy span.points.vectors.(k) in
  if span.curve > 0. then Floats.subtract own 1. span.points.vectors.(span.statements.(span.base).about);
  own

let off directions vector =
  for _ = 1 to 2 do
    List.iter (fun direction -> Floats.subtract vector (Floats.dot direction vector) direction) directions
  done;
  vector

let unit_vector vector =
  let size = sqrt (Floats.dot vector vector) in
  Array.map (fun x -> x /. size) vector

(* Below this share of the squares, a difference of products is too coarse, and vectors are taken. *)
let coarse = 1e-6

(* The basis: narrow statements first, always the one that is farthest from the span of those before. All products come
   from those of prototypes, which is fast, but for statements that are nearly in the span already. *)
let with_basis span =
  let points = span.points and statements = span.statements in
  let about i = statements.(i).about in
  let count = Array.length statements in
  let rests = Array.map (fun s -> span.norms.(s.about)) statements in
  let left = ref [] in
  Array.iteri (fun i _ -> if i <> span.base then left := i :: !left) statements;
  let kept = ref [] and basis = ref [] and pivots = ref [] and foot = ref [] and taken = ref [] in
  let directions = ref [] (* of the first of those in the basis; the last first *) in
  let all_directions () =
    let missing = List.length !kept - List.length !directions in
    let newest = List.filteri (fun at _ -> at < missing) !kept in
    List.iter
      (fun i -> directions := unit_vector (off !directions (vector span (about i))) :: !directions)
      (List.rev newest);
    !directions
  in
  let reference i =
    points.squares.(about i) +. if span.curve > 0. then points.squares.(about span.base) else 0.
  in
  let rest_of i =
    let rest = rests.(i) in
    if rest > coarse *. reference i then rest
    else begin
      let left = off (all_directions ()) (vector span (about i)) in
      Floats.dot left left
    end
  in
  let narrow i = half span i <= 1e-9 *. span.scale in
  let candidate i =
    let rest = rest_of i and open_ = doubt span i in
    let useful = rest > negligible *. reference i && rest > tiny && open_ *. open_ < span.far *. rest in
    if useful then Some (narrow i, rest, i) else None
  in
  let rec next () =
    let candidates = List.filter_map candidate !left in
    match candidates with
    | [] -> ()
    | first :: others ->
        let _, rest, chosen = List.fold_left max first others in
        left := List.filter_map (fun (_, _, i) -> if i = chosen then None else Some i) candidates;
        let own = about chosen in
        let fine = rest > coarse *. reference chosen in
        let pivot = sqrt rest in
        let along =
          List.fold_left2 (fun sum row x -> sum -. (row.(chosen) *. x)) (product span chosen) !basis !foot
        in
        let row, direction =
          if fine then begin
            let row = Array.init count (fun i -> image span chosen (about i)) in
            List.iter (fun other -> Floats.subtract row other.(chosen) other) !basis;
            (Array.map (fun x -> x /. pivot) row, None)
          end
          else begin
            let direction = unit_vector (off (all_directions ()) (vector span own)) in
            let origin = if span.curve > 0. then Floats.dot direction points.vectors.(about span.base) else 0. in
            ( Array.init count (fun i -> Floats.dot direction points.vectors.(about i) -. origin),
              Some (direction, origin) )
          end
        in
        row.(chosen) <- pivot;
        Array.iteri (fun i x -> rests.(i) <- rests.(i) -. (x *. x)) row;
        taken := direction :: !taken;
        kept := chosen :: !kept;
        basis := row :: !basis;
        pivots := pivot :: !pivots;
        foot := (along /. pivot) :: !foot;
        next ()
  in
  next ();
  let array list = Array.of_list (List.rev list) in
  let kept = array !kept and basis = array !basis and pivots = array !pivots and foot = array !foot in
  let sigma = solve_transposed kept basis pivots foot in
  let open_ = ref 0. and total = ref 0. in
  Array.iteri
    (fun c s ->
      total := !total +. s;
      open_ := !open_ +. (Float.abs s *. half span kept.(c)))
    sigma;
  if span.curve > 0. then open_ := !open_ +. (Float.abs (1. -. !total) *. half span span.base);
  let rho2 = span.far -. Floats.dot foot foot +. !open_ in
  let rho2 = Float.max rho2 ((1e-15 *. (span.far +. Floats.dot foot foot)) +. tiny) in
  { span with kept; basis; pivots; directions = array !taken; foot; sigma; rho2 }

let start points statements curve base ball lows highs norms far =
  let scale =
    Array.fold_left (fun most s -> Float.max most norms.(s.about)) (Float.abs far +. tiny) statements
  in
  let widest = ref 0. in
  Array.iteri (fun i _ -> widest := Float.max !widest (highs.(i) -. lows.(i))) statements;
  with_basis
    { points; statements; curve; base; ball; lows; highs; norms; far; scale; wide = !widest > 1e-11 *. scale;
      kept = [||]; basis = [||]; pivots = [||]; directions = [||]; foot = [||]; sigma = [||]; rho2 = 0.;
      latest = none_yet () }

(* The origin is the nearest prototype. *)
let of_distances (points : Points.t) statements =
  let base = ref 0 in
  Array.iteri (fun i s -> if s.high < statements.(!base).high then base := i) statements;
  let about = statements.(!base).about in
  let origin = Points.products points about in
  let norm k =
    let both = points.squares.(k) +. points.squares.(about) in
    let square = both -. (2. *. origin.(k)) in
    if square > coarse *. both then square
    else begin
      let difference = Array.copy points.vectors.(k) in
      Floats.subtract difference 1. points.vectors.(about);
      Floats.dot difference difference
    end
  in
  let norms = Array.init points.count norm in
  norms.(about) <- 0.;
  let ends pick = Array.map (fun s -> pick s -. norms.(s.about)) statements in
  let base_statement = statements.(!base) in
  start points statements 1. !base (-1)
    (ends (fun s -> s.low)) (ends (fun s -> s.high)) norms
    ((base_statement.low +. base_statement.high) /. 2.)

(* The origin is the centre of a ball that holds y. *)
let of_products (points : Points.t) statements at (ball : Points.ball) =
  let shift s = ball.centre *. points.totals.(s.about) in
  let ends first last = Array.append (Array.map (fun s -> -2. *. (first s -. shift s)) statements) [| last |] in
  start points statements 0. (Array.length statements) at
    (ends (fun s -> s.high) neg_infinity) (ends (fun s -> s.low) ball.reach)
    points.squares ball.reach

(* One for each ball, if there are statements; with distances just one. *)
let make (points : Points.t) statements =
  if Array.length statements = 0 then []
  else if points.kind = Distance then [ of_distances points statements ]
  else List.mapi (of_products points statements) points.balls

(* The form's value and the observable's, in either direction. *)
let observable span k form =
  if span.curve > 0. then form +. span.norms.(k)
  else begin
    let ball : Points.ball = List.nth span.points.balls span.ball in
    (form /. -2.) +. (ball.centre *. span.points.totals.(k))
  end

let form span k observable =
  if span.curve > 0. then observable -. span.norms.(k)
  else begin
    let ball : Points.ball = List.nth span.points.balls span.ball in
    -2. *. (observable -. (ball.centre *. span.points.totals.(k)))
  end

(* Sign times the end that the middles give. *)
let reach span sign k =
  let column = column span k in
  let along = Floats.dot span.foot column in
  (sign *. ((span.curve *. span.far) -. (2. *. along))) -. (2. *. sqrt (rest span k column *. span.rho2))

let facts span = Array.length span.lows

(* The same with the first statements of the basis only, as many as it takes to reach [enough], or all. *)
let size_for span sign k enough =
  let column = column span k in
  let size = Array.length column in
  let rec reach_of c along rest rho2 =
    let value = (sign *. ((span.curve *. span.far) -. (2. *. along))) -. (2. *. sqrt (Float.max 0. rest *. rho2)) in
    if c = size || value >= enough then c
    else begin
      let t = column.(c) and x = span.foot.(c) in
      reach_of (c + 1) (along +. (x *. t)) (rest -. (t *. t)) (rho2 -. (x *. x))
    end
  in
  reach_of 0 0. span.norms.(k) (span.rho2 +. Floats.dot span.foot span.foot)

(* With the first statements of the basis only. *)
let first span size =
  if size = Array.length span.kept then span
  else begin
    let part array = Array.sub array 0 size in
    let kept = part span.kept and foot = part span.foot and pivots = part span.pivots in
    let left = Floats.dot span.foot span.foot -. Floats.dot foot foot in
    { span with
      kept; foot; pivots; basis = part span.basis; directions = part span.directions; latest = none_yet ();
      sigma = solve_transposed kept span.basis pivots foot;
      rho2 = span.rho2 +. left }
  end

(* d - sum tau_i v_i, from the vectors: where the prototype is nearly in the span, r^2 as a difference is too coarse. *)
let residual span k tau =
  let own = vector span k in
  Array.iteri (fun c share -> Floats.subtract own share (vector span span.statements.(span.kept.(c)).about)) tau;
  own

let corrected span k tau =
  let rest = residual span k tau in
  let size = Array.length tau in
  let share = Array.make size 0. in
  for c = 0 to size - 1 do
    let i = span.kept.(c) in
    let sum = ref (Floats.dot rest (vector span span.statements.(i).about)) in
    for other = 0 to c - 1 do
      sum := !sum -. (share.(other) *. span.basis.(other).(i))
    done;
    share.(c) <- !sum /. span.pivots.(c)
  done;
  let step = solve_transposed span.kept span.basis span.pivots share in
  let tau = Array.mapi (fun c t -> t +. step.(c)) tau in
  let rest = residual span k tau in
  (tau, Floats.dot rest rest)

(* The weights of all facts, kappa, and sign times the end that they prove. *)
type found = { weights : float array; curve : float; reach : float }

(* With kappa at least some share of |d| / |y|. A prototype nearly in the span takes longer, unless a rough answer will
   do. *)
let weights ?(share = 1e-16) ?(rough = false) span sign k =
  let column = column span k in
  let tau = solve_transposed span.kept span.basis span.pivots column in
  let rest = rest span k column in
  let tau, rest = if (not rough) && rest < 1e-7 *. span.norms.(k) then corrected span k tau else (tau, rest) in
  let least = (share *. sqrt (span.norms.(k) /. Float.max span.far (1e-3 *. span.scale))) +. tiny in
  let curve = Float.max (sqrt (rest /. span.rho2)) least in
  let weights = Array.make (facts span) 0. in
  let total = ref 0. and sides = ref 0. in
  let add_side i w = if w <> 0. then sides := !sides +. (w *. if w > 0. then span.highs.(i) else span.lows.(i)) in
  for c = 0 to Array.length tau - 1 do
    let weight = (curve *. span.sigma.(c)) -. (sign *. tau.(c)) in
    weights.(span.kept.(c)) <- weight;
    total := !total +. weight
  done;
  let own = curve -. (span.curve *. (sign +. !total)) in
  weights.(span.base) <- own;
  add_side span.base own;
  for c = 0 to Array.length tau - 1 do add_side span.kept.(c) weights.(span.kept.(c)) done;
  { weights; curve; reach = -. !sides -. (rest /. curve) -. (curve *. Floats.dot span.foot span.foot) }
