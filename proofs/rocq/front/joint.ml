(* Weights for the paradigm joint: of a head with one patch, those that prove the best margin against each rival. Part
   of the hinter: untrusted.

   The margin less the weighted statements is A |x|^2 - <x, L> + K, and its least value over the domain is concave in
   the weights. That is made smooth by logarithms, which keep the vector off the ends of the domain, observables off
   the ends of statements, and weights off the wrong sign. Newton's steps find the best weights of this, and then of
   ever less smooth ones.

   In a coordinate with two ends, the least value of A x^2 - L x is that of A s - L x among the points (x, s) between
   the parabola and its chord, which is convex whatever A is. *)

type side = { low : float; high : float } (* infinite: missing *)

(* One of the weights: what a unit of it takes from A, L and K, and between what ends its observable lies. *)
type weight = { curve : float; vector : float array; constant : float; side : side }

type target = { weights : weight array; base : weight; domain : side }

(* Where tau (T - tau) is a product, the least of a tau - m ln tau - m ln (T - tau): tau and T - tau. *)
let parts m a t =
  let root = sqrt ((a *. a *. t *. t) +. (4. *. m *. m)) in
  let smaller = 2. *. m *. t /. ((Float.abs a *. t) +. (2. *. m) +. root) in
  if a >= 0. then (smaller, t -. smaller) else (t -. smaller, smaller)

(* A smooth value, its derivatives and second derivatives by A and L. *)
type curved = { value : float; by_a : float; by_l : float; by_aa : float; by_al : float; by_ll : float }

(* Two ends; the point lies nearer to the low one. *)
let between m low width a l =
  let at u =
    let x = low +. (u *. width) and t = width *. width *. u *. (1. -. u) in
    let above, below = parts m a t in
    (x, above, below)
  in
  let middle = (2. *. low) +. width in
  let slope u =
    let x, _, below = at u in
    (2. *. a *. x) -. l -. (m *. (middle -. (2. *. x)) /. below)
  in
  (* The slope has a pole at 0, u times the slope has none. *)
  let least = ref 0. and most = ref 0.5 and u = ref 0.25 and left = ref 100 in
  while !left > 0 do
    decr left;
    let x, above, below = at !u in
    let value = slope !u in
    if value > 0. then most := !u else least := !u;
    let gap = middle -. (2. *. x) in
    let second = m *. ((2. /. above) +. (gap *. gap /. ((above *. above) +. (below *. below)))) in
    let next = !u -. (!u *. value /. (value +. (!u *. second *. width))) in
    let next =
      if next > !least && next < !most then next
      else if !least = 0. then !u /. 64.
      else (!least +. !most) /. 2.
    in
    if Float.abs (next -. !u) <= 1e-15 *. next then left := 0;
    u := next
  done;
  let x, above, below = at !u in
  let gap = middle -. (2. *. x) in
  let p = 1. /. (above *. above) and q = 1. /. (below *. below) in
  let determinant = m *. ((2. /. above *. (p +. q)) +. (gap *. gap *. p *. q)) in
  let h_xx = (4. *. x *. x *. p) +. (middle *. middle *. q) +. (2. /. above) in
  let h_xs = -.((2. *. x *. p) +. (middle *. q)) in
  { value = (a *. ((x *. x) +. above)) -. (l *. x) -. (m *. (log above +. log below));
    by_a = (x *. x) +. above; by_l = -.x;
    by_aa = -.h_xx /. determinant; by_al = -.h_xs /. determinant; by_ll = -.(p +. q) /. determinant }

(* One end or none; A is positive. *)
let half_open m low a l =
  if low = neg_infinity then
    let x = l /. (2. *. a) in
    { value = -.(l *. x) /. 2.; by_a = x *. x; by_l = -.x; by_aa = -2. *. x *. x /. a; by_al = x /. a;
      by_ll = -0.5 /. a }
  else begin
    let slope = (2. *. a *. low) -. l in
    let root = sqrt ((slope *. slope) +. (8. *. a *. m)) in
    let t = if slope > 0. then 2. *. m /. (slope +. root) else (root -. slope) /. (4. *. a) in
    let x = low +. t in
    let second = (2. *. a) +. (m /. (t *. t)) in
    { value = (x *. ((a *. x) -. l)) -. (m *. log t); by_a = x *. x; by_l = -.x;
      by_aa = -4. *. x *. x /. second; by_al = 2. *. x /. second; by_ll = -1. /. second }
  end

let mirrored found = { found with by_l = -.found.by_l; by_al = -.found.by_al }

let coordinate m { low; high } a l =
  if low > neg_infinity && high < infinity then begin
    let width = high -. low in
    if (a *. (low +. high)) -. l < 0. then mirrored (between m (-.high) width a (-.l)) else between m low width a l
  end
  else if high < infinity then mirrored (half_open m (-.high) a (-.l))
  else half_open m low a l

(* What a statement adds, its derivative and its second derivative by the weight. *)
let stated m { low; high } w =
  if low = high then (w *. low, low, 0.)
  else if high = infinity then ((w *. low) +. (m *. log w), low +. (m /. w), -.m /. (w *. w))
  else if low = neg_infinity then ((w *. high) +. (m *. log (-.w)), high +. (m /. w), -.m /. (w *. w))
  else begin
    let above, below = parts m w (high -. low) in
    ( (w *. low) +. (w *. above) -. (m *. (log above +. log below)), low +. above,
      -1. /. (m *. ((1. /. (above *. above)) +. (1. /. (below *. below)))) )
  end

let left target ws pick =
  let sum = ref (pick target.base) in
  Array.iteri (fun i w -> sum := !sum -. (ws.(i) *. pick w)) target.weights;
  !sum

let vector_left target ws =
  let made = Array.copy target.base.vector in
  Array.iteri (fun i w -> if ws.(i) <> 0. then Floats.subtract made ws.(i) w.vector) target.weights;
  made

let needs_curve target = target.domain.low = neg_infinity || target.domain.high = infinity

(* What is proved with these weights. *)
let proved target ws =
  let a = left target ws (fun w -> w.curve) and vector = vector_left target ws in
  let { low; high } = target.domain in
  let at l x = x *. ((a *. x) -. l) in
  let least l =
    if a > 0. then at l (Float.max low (Float.min high (l /. (2. *. a))))
    else if needs_curve target then neg_infinity
    else Float.min (at l low) (at l high)
  in
  let sum = ref (left target ws (fun w -> w.constant)) in
  Array.iter (fun l -> sum := !sum +. least l) vector;
  Array.iteri
    (fun i { side; _ } ->
      let w = ws.(i) in
      if w <> 0. then sum := !sum +. (w *. if w > 0. then side.low else side.high))
    target.weights;
  !sum

(* The smooth value, its gradient, and minus its second derivatives. *)
let smooth target m ws =
  let count = Array.length ws in
  let a = left target ws (fun w -> w.curve) and vector = vector_left target ws in
  if needs_curve target && a <= 0. then None
  else begin
    let value = ref (left target ws (fun w -> w.constant)) in
    let gradient = Array.map (fun w -> -.w.constant) target.weights in
    let hessian = Array.make_matrix count count 0. in
    Array.iteri
      (fun d l ->
        let found = coordinate m target.domain a l in
        value := !value +. found.value;
        for i = 0 to count - 1 do
          let wi = target.weights.(i) in
          let ci = wi.curve and li = wi.vector.(d) in
          gradient.(i) <- gradient.(i) -. (found.by_a *. ci) -. (found.by_l *. li);
          let ha = (found.by_aa *. ci) +. (found.by_al *. li) and hl = (found.by_al *. ci) +. (found.by_ll *. li) in
          for k = 0 to i do
            let wk = target.weights.(k) in
            hessian.(i).(k) <- hessian.(i).(k) -. (ha *. wk.curve) -. (hl *. wk.vector.(d))
          done
        done)
      vector;
    Array.iteri
      (fun i w ->
        let v, g, h = stated m w.side ws.(i) in
        value := !value +. v;
        gradient.(i) <- gradient.(i) +. g;
        hessian.(i).(i) <- hessian.(i).(i) -. h)
      target.weights;
    if Floats.is_finite !value then Some (!value, gradient, hessian) else None
  end

(* H x = g by Cholesky, of the lower half of H, with a little more on the diagonal. *)
let solved hessian gradient =
  let count = Array.length gradient in
  let factor = Array.map Array.copy hessian in
  for i = 0 to count - 1 do
    for k = 0 to i do
      let sum = ref factor.(i).(k) in
      for c = 0 to k - 1 do
        sum := !sum -. (factor.(i).(c) *. factor.(k).(c))
      done;
      factor.(i).(k) <-
        (if i = k then sqrt (Float.max !sum ((1e-13 *. hessian.(i).(i)) +. 1e-290)) else !sum /. factor.(k).(k))
    done
  done;
  let x = Array.copy gradient in
  for i = 0 to count - 1 do
    for c = 0 to i - 1 do
      x.(i) <- x.(i) -. (factor.(i).(c) *. x.(c))
    done;
    x.(i) <- x.(i) /. factor.(i).(i)
  done;
  for i = count - 1 downto 0 do
    for c = i + 1 to count - 1 do
      x.(i) <- x.(i) -. (factor.(c).(i) *. x.(c))
    done;
    x.(i) <- x.(i) /. factor.(i).(i)
  done;
  x

let most_steps = 12

(* Newton's steps, each as long as the value rises. *)
let rec climb target m ws left =
  match if left = 0 then None else smooth target m ws with
  | None -> ws
  | Some (value, gradient, hessian) ->
      let step = solved hessian gradient in
      let rise = Floats.dot step gradient in
      let rec tried share =
        if share < 1e-9 then None
        else begin
          let next = Array.mapi (fun i w -> w +. (share *. step.(i))) ws in
          let right i w =
            let { low; high } = target.weights.(i).side in
            (high < infinity || w > 0.) && (low > neg_infinity || w < 0.)
          in
          let all_right = Array.for_all Fun.id (Array.mapi right next) in
          let least = value +. (1e-4 *. share *. rise) -. (1e-15 *. Float.abs value) in
          match if all_right then smooth target m next else None with
          | Some (reached, _, _) when reached >= least -> Some next
          | _ -> tried (share /. 2.)
        end
      in
      if not (rise > 0.1 *. m) then ws else match tried 1. with None -> ws | Some next -> climb target m next (left - 1)

let smallest = 1e-14

(* The best weights, from some that have the right signs. *)
let best target start =
  let finite x = if Floats.is_finite x then Float.abs x else 0. in
  let larger most { constant; side; _ } =
    Float.max most (Float.max (Float.abs constant) (Float.max (finite side.low) (finite side.high)))
  in
  let scale = Array.fold_left larger (Float.max 1e-30 (Float.abs target.base.constant)) target.weights in
  let found = ref start and value = ref neg_infinity in
  let compare ws =
    let own = proved target ws in
    if own > !value then begin found := ws; value := own end
  in
  let rec follow m ws =
    let ws = climb target (m *. scale) ws most_steps in
    compare ws;
    if m > smallest then follow (m /. 10.) ws
  in
  follow 1. start;
  Array.iteri
    (fun i w -> if Float.abs w < 1e-6 then compare (Array.mapi (fun k own -> if k = i then 0. else own) !found))
    !found;
  !found

(* Heads. *)

let most_statements = 64

let is_joint (h : Checker.head) (certificate : Checker.certificate) =
  certificate.patches = 1
  && (match h.head_similarity with Checker.Identity | Negated -> true | _ -> false)
  && (match h.head_pooling with Checker.MaxPool | TopMean _ -> true | _ -> false)
  && h.head_readout = Checker.Linear

let rates (h : Checker.head) =
  let scales = Array.of_list h.scales in
  let own j = if j < Array.length scales then scales.(j) else h.scale_unit in
  fun j -> if h.head_similarity = Checker.Negated then Z.neg (own j) else h.scale_unit

(* An observable, as a form. *)
let observable (points : Points.t) j =
  let vector = points.vectors.(j) in
  if points.kind = Points.Distance then begin
    let own = Array.map (Floats.of_integer points.places) (points.integers j) in
    { curve = 1.; vector = Array.map (fun x -> 2. *. x) own; constant = Floats.dot own own;
      side = { low = 0.; high = infinity } }
  end
  else { curve = 0.; vector = Array.map Float.neg vector; constant = 0.; side = { low = 0.; high = infinity } }

let domain_of (points : Points.t) (h : Checker.head) =
  let given missing = function Some x -> Floats.of_integer points.places x | None -> missing in
  let low = given neg_infinity h.lower and high = given infinity h.upper in
  if points.kind = Points.Angle then
    { low = (if low >= 0. then 0. else neg_infinity); high = (if high <= 0. then 0. else infinity) }
  else { low; high }

(* The square of the radius of the ball about 0 that holds the vector. *)
let reach (points : Points.t) (h : Checker.head) =
  match h.head_geometry with
  | Cosine _ | RootedCosine _ -> Some 1.
  | InnerProduct (Some r) ->
      Some (Points.square (Floats.of_ratio points.places (Z.mul h.coord_unit r.numerator) r.denominator))
  | _ -> None

(* Bits of weights against the greatest of the gains. *)
let bits = 64

(* What a weight of 1 of the ball is for the checker, as a power of 2. *)
let ball_bits (h : Checker.head) =
  match h.head_geometry with Cosine _ | RootedCosine _ -> 129 - (Z.numbits h.coord_unit - 1) | _ -> 1

(* Weights against each rival; none where the margin is no such function, or for many statements. *)
let hints (points : Points.t) (h : Checker.head) (certificate : Checker.certificate) =
  let unit = certificate.statement_unit in
  let ends j low high =
    let given missing = function Some e -> points.observed e unit | None -> missing in
    { (observable points j) with side = { low = given neg_infinity low; high = given infinity high } }
  in
  let weight_of = function
    | Checker.AboutPatch (_, j, low, high) when j < points.count -> Some (ends j low high)
    | _ -> None
  in
  let patch = function Checker.AboutPatch _ -> true | _ -> false in
  let stated = List.filter patch certificate.statements in
  let weights = List.filter_map weight_of stated in
  if not (is_joint h certificate) || List.compare_lengths weights stated <> 0
     || List.compare_length_with weights most_statements > 0
  then []
  else begin
    let rate = rates h and rows = Array.of_list (List.map Array.of_list h.weight) in
    let own = rows.(certificate.predicted) in
    let domain = domain_of points h and reach = reach points h in
    let forms = Array.init points.count (observable points) in
    let ball =
      match reach with
      | Some square ->
          [| { curve = -1.; vector = Array.make points.depth 0.; constant = square;
               side = { low = 0.; high = infinity } } |]
      | None -> [||]
    in
    let weights = Array.append (Array.of_list weights) ball in
    let against rival =
      let gains = Array.mapi (fun j p -> Z.mul (Z.sub p rows.(rival).(j)) (rate j)) own in
      let size z = if Z.sign z < 0 then Z.neg z else z in
      let larger most g = if Z.compare (size g) most > 0 then size g else most in
      let greatest = Array.fold_left larger (Z.of_int 1) gains in
      let base = { curve = 0.; vector = Array.make points.depth 0.; constant = 0.; side = domain } in
      let base =
        Array.fold_left
          (fun (j, sum) g ->
            let gain = Floats.of_ratio 0 g greatest and form = forms.(j) in
            if gain <> 0. then Floats.subtract sum.vector (-.gain) form.vector;
            ( j + 1,
              { sum with curve = sum.curve +. (gain *. form.curve);
                         constant = sum.constant +. (gain *. form.constant) } ))
          (0, base) gains
        |> snd
      in
      let target = { weights; base; domain } in
      let start =
        Array.mapi
          (fun i { side; _ } ->
            if i >= Array.length weights - Array.length ball then
              match reach with
              | Some square -> sqrt (Floats.dot base.vector base.vector /. (4. *. square)) +. 1e-6
              | None -> 0.
            else if side.high = infinity then 0.1
            else if side.low = neg_infinity then -0.1
            else 0.)
          weights
      in
      let found = best target start in
      let integer places w = if Floats.is_finite w then Z.mul (Floats.to_integer places w) greatest else Z.of_int 0 in
      let statements = Array.length weights - Array.length ball in
      ( rival,
        { Checker.share_unit = Z.shift_left (Z.of_int 1) bits;
          shares_of = List.init statements (fun i -> integer bits found.(i));
          ball_share =
            (if Array.length ball = 0 then Z.of_int 0 else integer (bits + ball_bits h) found.(statements)) } )
    in
    List.filter_map
      (fun rival -> if rival = certificate.predicted then None else Some (against rival))
      (List.init (Array.length rows) Fun.id)
  end
