(* Numbers as text. Trusted: what stands here is what was proved, of the right prototype, class and patch.

     numbers = unit list(count, ends) list(count, ends) unit list(classes, end) list(count, givers)
     values  = unit list(count, list(patches, range)) list(count, ends) unit list(classes, range)
     latents = unit list(patches, list(depth, ends))
     ends    = integer integer                                      the lower one first
     range   = end end                                              so are these
     end     = "none" | integer
     givers  = list(natural) list(natural)                          statements: of the lower end, of the upper one

   Of numbers the ends are those of the activations, then those without any statement, then come the leads: how much lower each class is at least than the
   predicted one, none where nothing is proved. Of values the first are those of each prototype's similarity to each
   patch, then come activations, and how much lower each class is. The numbers after a unit, up to the next one, are
   multiples of its inverse. Givers are not trusted: they name statements that give an end by themselves, or together
   with others. Numbers and lists are those of writer.ml. *)

open Writer

let ends = two integer integer
let number out = function None -> word out "none" | Some number -> integer out number
let range = two number number

let over unit item out numbers =
  integer out unit;
  space out;
  item out numbers

let over_weights (settings : Checker.settings) weight_unit = over (Z.mul settings.box_unit weight_unit)

let bounds (settings : Checker.settings) weight_unit (bounds : Checker.bounds) domain givers =
  let activations = over settings.box_unit (two (list ends) (list ends)) in
  let leads = over_weights settings weight_unit (list number) in
  let statements = list (two (list natural) (list natural)) in
  text (two activations (two leads statements)) ((bounds.ends_of, domain), (bounds.leads_of, givers))

let values (settings : Checker.settings) weight_unit (values : Checker.values) =
  let similarities = over settings.box_unit (list (list range)) in
  let leads = over_weights settings weight_unit (list range) in
  text (two similarities (two (list ends) leads)) (values.similar_to, (values.activations_at, values.leads_at))

let latents unit latents = text (over unit (list (list ends))) latents
