(* Weights of statements by which a function of one vector is bounded best. Part of the hinter: untrusted.

   The target less the weighted statements is A |x|^2 - <x, L> + K, and its least value over the domain is concave in
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

(* Newton's steps without the smoothing: coordinates at an end of the domain stay there, and weights next to 0 are 0. *)
let unused = 1e-9
let polishing_steps = 3

let polished target ws =
  let count = Array.length ws in
  let most = Array.fold_left (fun most w -> Float.max most (Float.abs w)) 0. ws in
  let free = Array.map (fun w -> Float.abs w > unused *. most) ws in
  let step ws =
    let a = left target ws (fun w -> w.curve) in
    let gradient = Array.make count 0. and hessian = Array.make_matrix count count 0. in
    let along i d x = (x *. x *. target.weights.(i).curve) -. (x *. target.weights.(i).vector.(d)) in
    let turn i d x = (2. *. x *. target.weights.(i).curve) -. target.weights.(i).vector.(d) in
    let coordinate d l =
      let { low; high } = target.domain in
      let best = l /. (2. *. a) in
      let x = Float.max low (Float.min high best) in
      for i = 0 to count - 1 do
        gradient.(i) <- gradient.(i) -. along i d x;
        for k = 0 to if x = best then i else -1 do
          hessian.(i).(k) <- hessian.(i).(k) +. (turn i d x *. turn k d x /. (2. *. a))
        done
      done
    in
    Array.iteri coordinate (vector_left target ws);
    Array.iteri
      (fun i { constant; side; _ } ->
        gradient.(i) <- gradient.(i) -. constant +. (if ws.(i) > 0. then side.low else side.high);
        if not free.(i) then begin
          gradient.(i) <- 0.;
          for k = 0 to count - 1 do
            hessian.(i).(k) <- 0.;
            hessian.(k).(i) <- 0.
          done;
          hessian.(i).(i) <- 1.
        end)
      target.weights;
    let step = solved hessian gradient in
    Array.mapi (fun i w -> w +. step.(i)) ws
  in
  let rec steps ws left = if left = 0 then ws else steps (step ws) (left - 1) in
  steps (Array.mapi (fun i w -> if free.(i) then w else 0.) ws) polishing_steps

(* Weights that may be better than those that floats take for the best: the former where what is proved bends, the
   latter where it has an edge, which is often at numbers of few digits. *)
let digits = [ 40; 24; 12 ]

let others target ws =
  let few places = Array.map (fun w -> ldexp (Float.round (ldexp w places)) (-places)) ws in
  polished target ws :: List.map few digits

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
