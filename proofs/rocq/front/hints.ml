(* Settings and hints as text, for those who prove a certificate elsewhere, as `verale export rocq` does in Rocq. Nobody has
   to believe them: whoever uses them computes with Check.v, whose theorems hold for all of them.

     settings = unit unit natural                                   of observables, of activations; terms
     hints    = integer list(claim) list(patch) list(price) list(joint) links links turns turns
     claim    = "unclaimed" | ("at_least" | "at_most") integer
     patch    = list(integer) integer list(list(integer)) list(natural) list(natural ends)
     ends     = option(weights) option(weights)                     the lower one first
     weights  = integer list(integer)
     price    = natural list(integer)                               against a rival
     joint    = natural unit list(integer) integer                  so is this
     links    = list(option(integer)) list(option(natural integer))
     turns    = list(option(integer)) list(option(natural integer integer))

   Numbers, lists and options are those of writer.ml. The fields are those of the records of Check.v,
   in their order. *)

open Writer

let claim out = function
  | Checker.Unclaimed -> word out "unclaimed"
  | AtLeast number -> word out "at_least "; integer out number
  | AtMost number -> word out "at_most "; integer out number

let weights = two integer (list integer)

let ends out (hint : Checker.hint) = two (option weights) (option weights) out (hint.for_low, hint.for_high)

let patch out (told : Checker.patch_hints) =
  two (list integer) (two integer (two (list (list integer)) (two (list natural) (list (two natural ends))))) out
    (told.centre, (told.square_length, (told.directions, (told.sharpened, told.targets))))

let joint out (rival, (hint : Checker.joint_hint)) =
  two natural (two integer (two (list integer) integer)) out
    (rival, (hint.share_unit, (hint.shares_of, hint.ball_share)))

let links out (told : Checker.links) =
  two (list (option integer)) (list (option (two natural integer))) out (told.reached, told.linked)

let turns out (told : Checker.turns) =
  two (list (option integer)) (list (option (two natural (two integer integer)))) out (told.turned, told.turned_from)

let settings out (told : Checker.settings) =
  two integer (two integer natural) out (told.range_unit, (told.box_unit, told.terms))

let hints out (told : Checker.hints) =
  integer out told.curve_of;
  let field item told = space out; item out told in
  field (list claim) told.claims_of;
  field (list patch) told.weights_of;
  field (list (two natural (list integer))) told.prices_of;
  field (list joint) told.joint_of;
  field links told.links_above;
  field links told.links_below;
  field turns told.turns_above;
  field turns told.turns_below
