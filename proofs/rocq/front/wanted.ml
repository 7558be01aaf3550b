(* Which ends of which observables a margin depends on. Part of the hinter: untrusted; an end too few costs a proof, an
   end too many costs time. *)

type want =
  | Nothing
  | Somewhere (* the best end that some patch has *)
  | Everywhere (* at every patch, but none has to be better than the worst of them *)
  | Each (* the best one at each patch *)

(* The wants for one prototype, at some patches. *)
type t = { low : want; high : want; patches : int array }

type direction = Falls | Rises | Neither

let is_positive (f : Checker.fraction) = Z.sign f.numerator > 0

(* As Direction.v has it. *)
let direction (h : Checker.head) scale_is_positive =
  let distances = h.head_geometry = Checker.Euclidean in
  match h.head_similarity with
  | Checker.LogRatio e ->
      let below_one = Z.compare e.numerator e.denominator < 0 in
      if distances && scale_is_positive && is_positive e && below_one then Falls else Neither
  | ExpDistance e -> if distances && Z.sign e.numerator >= 0 then Falls else Neither
  | Threshold t -> if is_positive t then Rises else Neither
  | Identity | Rectified -> Rises
  | Negated -> if scale_is_positive then Falls else Neither
  | Exponential -> if not scale_is_positive then Neither else if distances then Falls else Rises
  | Quadratic -> Neither
  | Steps steps -> (
      let scale = { Checker.numerator = (if scale_is_positive then Z.one else Z.zero); denominator = Z.one } in
      match Checker.chain_trend scale steps with Descends -> Falls | Ascends -> Rises | Unclear -> Neither)

(* Whether some margin depends on the lower and on the upper end of each activation: of a linear readout it does on the
   lower end where the predicted class has a greater weight than a rival. *)
let activations (h : Checker.head) predicted count =
  let lower = Array.make count false and upper = Array.make count false in
  (match h.head_readout, List.nth_opt h.weight predicted with
  | Checker.Linear, Some own ->
      let compare_rival rival =
        let rec each j own rival =
          match own, rival with
          | a :: own, b :: rival when j < count ->
              if a != b then begin
                let order = Z.compare a b in
                if order > 0 then lower.(j) <- true else if order < 0 then upper.(j) <- true
              end;
              each (j + 1) own rival
          | _ -> ()
        in
        each 0 own rival
      in
      List.iter compare_rival h.weight
  | _ ->
      Array.fill lower 0 count true;
      Array.fill upper 0 count true);
  (lower, upper)

let each count patches = Array.make count { low = Each; high = Each; patches = Array.init patches Fun.id }

(* For each prototype, where these ends of the activations are wanted. *)
let wants_for (lower, upper) (h : Checker.head) count patches =
  let scales = Array.of_list (List.map (fun s -> Z.sign s > 0) h.scales) in
  let direction_of = [| direction h false; direction h true |] in
  let greatest patches j =
    if not (lower.(j) || upper.(j)) then { low = Nothing; high = Nothing; patches }
    else begin
      let positive = j >= Array.length scales || scales.(j) in
      let best = if upper.(j) then Everywhere else Nothing and sure = if lower.(j) then Somewhere else Nothing in
      match direction_of.(Bool.to_int positive) with
      | Falls -> { low = best; high = sure; patches }
      | Rises -> { low = sure; high = best; patches }
      | Neither -> { low = Each; high = Each; patches }
    end
  in
  match h.head_pooling with
  | Checker.MaxPool -> Array.init count (greatest (Array.init patches Fun.id))
  | MaskedMax mask ->
      let seen row =
        let row = Array.of_list row in
        let looks l = Array.length row > 0 && Z.equal row.(min l (Array.length row - 1)) Z.one in
        Array.of_list (List.filter looks (List.init patches Fun.id))
      in
      let rows = Array.of_list mask in
      Array.init count (fun j -> greatest (if j < Array.length rows then seen rows.(j) else [||]) j)
  | TopMean _ | MaxMinusMean | MaxMinusMeanDistance -> each count patches

(* Of a head and a certificate: what its margins depend on; and whatever they depend on. *)
let wants (h : Checker.head) predicted count patches = wants_for (activations h predicted count) h count patches
let all h count patches = wants_for (Array.make count true, Array.make count true) h count patches

(* The share of all prototypes whose better ends mostly prove the last margins. *)
let few = 16

(* The prototypes in whose weights the predicted class differs most from one of these rivals; all of a readout that is not
   linear. *)
let weightiest (h : Checker.head) predicted rivals =
  match h.head_readout with
  | Checker.Linear ->
      let own = List.nth h.weight predicted in
      let most_of = Array.make h.count (Z.of_int 0) in
      let meet j difference =
        let size = if Z.sign difference < 0 then Z.neg difference else difference in
        if Z.compare size most_of.(j) > 0 then most_of.(j) <- size
      in
      List.iter (fun rival -> List.iteri meet (List.map2 Z.sub own (List.nth h.weight rival))) rivals;
      let order = Array.init h.count Fun.id in
      Array.stable_sort (fun j k -> Z.compare most_of.(k) most_of.(j)) order;
      let made = Array.make h.count false in
      Array.iteri (fun rank j -> if rank <= h.count / few && Z.sign most_of.(j) > 0 then made.(j) <- true) order;
      made
  | _ -> Array.make h.count true
