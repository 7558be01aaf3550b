(* One ball that holds a patch, for Hypersphere.v: the foot of y on the span of the statements as its centre.
   Part of the hinter: untrusted.

   Its weights are integers of few bits, and what it says of each prototype is computed from these integers, so that
   floats foresee what the checker will find. *)

open Ends

(* The bits that weights have together, which the checker's digits have room for (Products.v). *)
let room = 48

type t = {
  weights : Z.t list; (* of the checker's facts *)
  along : float array; (* the product of the centre with every prototype, from the origin *)
  square : float; (* of the centre *)
  radius : float;
  slack : float; (* how much less than the radius's square |y - centre|^2 may be by the intervals' widths alone *)
  lows : float array Lazy.t; (* the ends of all prototypes that follow; more is better, as for sides of Ends *)
  highs : float array Lazy.t;
  mosts : float array Lazy.t; (* what no low end is above, and no high end below *)
}

(* The weight of |y|^2, of which a weight of 1 of the fact of the ball has so many. *)
type scale = { bits : int; curve : Z.t }

let view_of patch at = List.nth patch.views at

(* What 2^bits becomes for each fact, against the base. *)
let factors (span : Span.t) =
  let own = Whole.factors span 0 in
  let base = if span.ball < 0 then 1. else own.(Array.length own - 1) in
  Array.map (fun factor -> factor /. base) own

(* Of the foot, for each fact; of the base what is left of 1. *)
let shares (span : Span.t) =
  let made = Array.make (Span.facts span) 0. in
  Array.iteri (fun c s -> made.(span.kept.(c)) <- s) span.sigma;
  made.(span.base) <- 1. -. (span.curve *. Array.fold_left ( +. ) 0. span.sigma);
  made

(* How large the weights are against 2^bits. *)
let spread (span : Span.t) =
  let factors = factors span and total = ref 0. in
  Array.iteri
    (fun i s -> if i < Array.length span.statements then total := !total +. Float.abs (s *. factors.(i)))
    (shares span);
  !total

(* Of each prototype k what no end is better than, if all statements hold with equality: at a vector as far from the
   centre as the ball allows, in a direction of which neither they nor k know. *)
let mosts_of (span : Span.t) along square radius =
  let made = Array.make (Array.length along) 0. in
  if span.curve > 0. then
    for k = 0 to Array.length made - 1 do
      made.(k) <- span.norms.(k) -. (2. *. along.(k)) +. square +. (radius *. radius)
    done
  else begin
    let ball = Whole.ball_of span in
    for k = 0 to Array.length made - 1 do
      made.(k) <- along.(k) +. (ball.centre *. span.points.totals.(k))
    done
  end;
  made

(* The low end of each, or minus the high one; less by what rounding may cost. *)
let ends_of (span : Span.t) along square radius mosts side =
  let unit = ldexp 4. (-span.points.places) and sign = turned side in
  let made = Array.make (Array.length along) 0. in
  if span.curve > 0. then
    for k = 0 to Array.length made - 1 do
      let left = span.norms.(k) -. (2. *. along.(k)) +. square in
      let distance = if left > 0. then sqrt left else 0. in
      let least = distance -. (sign *. radius) -. (sign *. unit) in
      made.(k) <- (if least > 0. then sign *. least *. least else 0.)
    done
  else begin
    let mosts = Lazy.force mosts in
    for k = 0 to Array.length made - 1 do
      made.(k) <- (sign *. mosts.(k)) -. (radius *. (sqrt span.norms.(k) +. unit))
    done
  end;
  made

(* With bits that most patches have room for. *)
let scale_for (points : Points.t) spans =
  let spreads = Array.map spread spans in
  Array.sort compare spreads;
  let usual = spreads.(Array.length spreads * 9 / 10) in
  let bits = room - 1 - snd (Float.frexp (Float.max usual 1e-3)) in
  if bits < 10 || bits > 60 then None
  else begin
    let one = Z.shift_left (Z.of_int 1) bits in
    let curve =
      if spans.(0).ball < 0 then one
      else begin
        let ball = Whole.ball_of spans.(0) in
        if points.kind = Product && ball.factor = 0.5 then Z.shift_left one 1 else Z.mul one points.round
      end
    in
    Some { bits; curve }
  end

(* Of prototype k the product of statement i's vector from the origin is the products' own, less what is the same for
   all k, and less that of the origin. *)
let make (points : Points.t) patch at { bits; _ } =
  let span = (view_of patch at).span in
  if spread span >= ldexp 1. (room - bits) then None
  else begin
    let statements = Array.length span.statements in
    let factors = factors span in
    let whole = Array.mapi (fun i s -> Floats.to_integer bits (s *. factors.(i))) (shares span) in
    Whole.balance_base span bits whole;
    let real = Array.mapi (fun i w -> Floats.of_integer bits w /. factors.(i)) whole in
    let along = Array.make points.count 0. in
    let total = ref 0. and sides = ref 0. and slack = ref 0. and used = ref [] in
    for i = 0 to Array.length real - 1 do
      let w = real.(i) in
      if w <> 0. then begin
        sides := !sides +. (w *. if w > 0. then span.highs.(i) else span.lows.(i));
        slack := !slack +. (Float.abs w *. (span.highs.(i) -. span.lows.(i)))
      end;
      if i < statements && i <> span.base && w <> 0. then begin
        Floats.subtract along (-.w) (Points.products points span.statements.(i).about);
        total := !total +. w;
        used := i :: !used
      end
    done;
    if span.curve > 0. then begin
      let base = span.statements.(span.base).about in
      Floats.subtract along !total (Points.products points base);
      let shift = along.(base) in
      Array.iteri (fun k x -> along.(k) <- x -. shift) along
    end;
    let square =
      List.fold_left (fun sum i -> sum +. (real.(i) *. along.(span.statements.(i).about))) 0. !used
    in
    match Whole.placed patch span bits whole with
    | Some (_, weights) ->
        let radius = sqrt (Float.max 0. (square +. !sides)) in
        let mosts = lazy (mosts_of span along square radius) in
        let ends side = lazy (ends_of span along square radius mosts side) in
        Some { weights; along; square; radius; slack = !slack; lows = ends Low; highs = ends High; mosts }
    | None -> None
  end
