(* The ends that margins depend on (wanted.ml), found at the patches, and what proves each: the ball of its patch,
   directions, or weights of its own. Part of the hinter: untrusted.

   Under a pooling by maxima most ends need not be the best ones. With a similarity that falls, the upper end of an
   activation is that of the least low end of all patches: the others only have to be as good, so that few bits of
   weight will do. Its lower end is that of one patch. *)

open Ends

(* Shares of the largest distance, too little to tell. *)
let noise = 1e-10
let barely = 1e-16

(* The patches that a prototype looks at and that have statements, their balls, which prove claims, and the directions
   that give the ends of single prototypes. Of each patch the ends that its ball gives of all prototypes; -infinity, and
   of [mosts] infinity, where there is no ball. *)
type here = {
  patches : patch array;
  directions : Directions.t option array;
  all : bool; (* whether every patch has statements *)
  lows : float array array Lazy.t;
  highs : float array array Lazy.t;
  mosts : float array array Lazy.t;
}

let here_of (points : Points.t) patches centres directions indices =
  let present = Array.of_list (List.filter (fun l -> Option.is_some patches.(l)) (Array.to_list indices)) in
  let balls otherwise ends =
    let none = lazy (Array.make points.count otherwise) in
    let one l = Lazy.force (match centres.(l) with Some centre -> ends centre | None -> none) in
    lazy (Array.map one present)
  in
  { patches = Array.map (fun l -> Option.get patches.(l)) present;
    directions = Array.map (Array.get directions) present;
    all = Array.length present = Array.length indices;
    lows = balls neg_infinity (fun (centre : Centre.t) -> centre.lows);
    highs = balls neg_infinity (fun (centre : Centre.t) -> centre.highs);
    mosts = balls infinity (fun (centre : Centre.t) -> centre.mosts) }

(* What is claimed of each prototype at all patches. *)
type claims = { unit : float; finest : float; made : Checker.claim array }

(* Which ends. *)

let each points here claims side k =
  let one l patch =
    let found = estimate patch side k in
    let free = Float.max (of_domain points side k) (of_statements patch side k) in
    let scale = scale_of patch in
    Directions.want patch here.directions.(l) side k (lazy found.view) infinity (fun () ->
        let found = improved patch side k found in
        if found.value > free +. (barely *. scale) then Whole.hint patch side k (claims.finest *. scale) found)
  in
  Array.iteri one here.patches

(* What the domain and statements about the same prototype give at each patch. *)
let free_ends points here side k =
  let domain = of_domain points side k in
  let made = Array.make (Array.length here.patches) domain in
  for l = 0 to Array.length made - 1 do
    let stated = of_statements here.patches.(l) side k in
    if stated > domain then made.(l) <- stated
  done;
  made

(* The share of the largest distance that a claim lies above what is needed, so that it is not what decides, and that
   which its proof has to spare, for what floats get wrong. *)
let raised = 1e-11
let spare = 1e-9

let claim claims side k value =
  let end_of value = Floats.to_integer 0 (value *. claims.unit) in
  claims.made.(k) <-
    (match side with Low -> Checker.AtLeast (end_of value) | High -> Checker.AtMost (end_of (-.value)))

(* All patches have to be as good as the worst, so that one is made as good as possible; then perhaps it is another.
   What a patch's ball gives is known at once; more is computed of the patches where that may be too little. *)
let everywhere points here claims side k =
  let domain = of_domain points side k in
  let patches = here.patches in
  if Array.length patches > 0 && here.all then begin
    let count = Array.length patches in
    let free = free_ends points here side k in
    let balls = Lazy.force (match side with Low -> here.lows | High -> here.highs) in
    let values = Array.make count 0. in
    for l = 0 to count - 1 do
      let ball = balls.(l).(k) in
      values.(l) <- (if ball > free.(l) then ball else free.(l))
    done;
    let found = Array.make count None and best = Array.make count false in
    let find l f =
      found.(l) <- Some f;
      values.(l) <- Float.max free.(l) f.value
    in
    let rec settle () =
      let worst = ref 0 and least = ref values.(0) in
      for l = 1 to count - 1 do
        if values.(l) < !least then begin worst := l; least := values.(l) end
      done;
      let l = !worst in
      match found.(l) with
      | None -> find l (estimate patches.(l) side k); settle ()
      | Some f ->
          if best.(l) || not (is_wide patches.(l)) then values.(l)
          else begin
            best.(l) <- true;
            find l (improved patches.(l) side k f);
            settle ()
          end
    in
    let needed = settle () in
    if needed > domain +. (barely *. scale_of patches.(0)) then begin
      let claimed = ref false in
      let hint l patch =
        let scale = scale_of patch in
        if balls.(l).(k) >= needed +. (spare *. scale) then claimed := true
        else begin
          let f = lazy (match found.(l) with Some f -> f | None -> estimate patch side k) in
          let view = lazy (Lazy.force f).view in
          Directions.want patch here.directions.(l) side k view (needed +. (spare *. scale)) (fun () ->
              let f = Lazy.force f in
              let f =
                if f.value > needed +. (2. *. spare *. scale) then
                  with_few patch side k (needed +. (0.1 *. (f.value -. needed))) f
                else f
              in
              let spare = f.value -. needed in
              Whole.hint patch side k (if spare > noise *. scale then spare /. 4. else claims.finest *. scale) f)
        end
      in
      for l = 0 to count - 1 do if free.(l) < needed then hint l patches.(l) done;
      if !claimed then claim claims side k (needed +. (raised *. scale_of patches.(0)))
    end
  end

(* The best patch, by what the middles give, and by what the intervals leave. *)
let tries = 3

let somewhere points here claims side k =
  let patches = here.patches in
  let count = Array.length patches in
  let free = Array.fold_left Float.max (of_domain points side k) (free_ends points here side k) in
  let found = Array.make count None in
  let mosts = Lazy.force here.mosts in
  let values = Array.make count infinity in
  for l = 0 to count - 1 do
    let patch = patches.(l) in
    let most = mosts.(l).(k) in
    if patch.twins.(k) < 0 && most < infinity then values.(l) <- (turned side *. most) +. (spare *. scale_of patch)
  done;
  let tried = Array.make count false in
  let find l f =
    found.(l) <- Some f;
    values.(l) <- f.value
  in
  let rec settle left =
    let at = ref (-1) and best = ref neg_infinity in
    for l = 0 to count - 1 do
      if !at < 0 || values.(l) > !best then begin at := l; best := values.(l) end
    done;
    let l = !at in
    if l < 0 then None
    else
      match found.(l) with
      | None ->
          if values.(l) <= free then None
          else begin
            find l (estimate patches.(l) side k);
            settle left
          end
      | Some f ->
          if left > 0 && not tried.(l) then begin
            tried.(l) <- true;
            find l (improved patches.(l) side k f);
            settle (left - 1)
          end
          else Some (l, f)
  in
  match settle tries with
  | Some (l, f) ->
      let patch = patches.(l) in
      let scale = scale_of patch in
      if f.value > free +. (barely *. scale) then
        Directions.want patch here.directions.(l) side k (lazy f.view) infinity (fun () ->
            Whole.hint patch side k (claims.finest *. scale) f)
  | None -> ()

let follow points here claims side k = function
  | Wanted.Nothing -> ()
  | Somewhere -> somewhere points here claims side k
  | Everywhere -> everywhere points here claims side k
  | Each -> each points here claims side k
