(* Questions about certificates of one head, and their answers, as text. Trusted.

     question = "head" head | "network" network | "pictured" certificate picture | "latents" picture
              | ("entails" | "entailment_hints" | "numbers") certificate prices
              | ("instance" | "refuted" | "instance_settings" | "values") certificate image
              | "minimal" certificate addition | "needed" certificate addition INDEX
     answer   = "ready" | "proved" | "not proved" | "not covered: " WHY
              | "hints: " settings hints | "hints: " settings
              | "numbers: " numbers | "values: " values | "latents: " latents

   Head, certificate, prices, image and addition are as in reader.ml, network and picture as in network_reader.ml,
   settings and hints as in hints.ml, numbers, values and latents as in numbers.ml, with a space between two; INDEX is
   that of a statement. The first question is the head, and it is told once. So is the network, before pictures. The
   hints are those with which the checker says "proved". Numbers are what the statements prove, values what the head
   computes for the image, latents what the network gives for the picture. *)

type t = { head : Checker.head; prepared : Claims.prepared; network : Checker.network option }

let read_head input =
  let head = Reader.head input in
  Reader.line_end input;
  { head; prepared = Claims.prepare head; network = None }

let read_network told input =
  let network = Network_reader.network input in
  Reader.line_end input;
  { told with network = Some network }

let said told =
  let weight_unit = told.head.Checker.weight_unit in
  function
  | Claims.Proved -> "proved"
  | Claims.Not_proved -> "not proved"
  | Claims.Not_covered why -> "not covered: " ^ why
  | Claims.Entailed_with found -> "hints: " ^ Writer.(text (two Hints.settings Hints.hints) found)
  | Claims.True_with found -> "hints: " ^ Writer.text Hints.settings found
  | Claims.Bounded { settings; bounds; domain; givers } ->
      "numbers: " ^ Numbers.bounds settings weight_unit bounds domain givers
  | Claims.Valued (settings, values) -> "values: " ^ Numbers.values settings weight_unit values
  | Claims.Latent (unit, latents) -> "latents: " ^ Numbers.latents unit latents

let about_class told claim input =
  let certificate = Reader.certificate told.head input in
  let prices = Reader.prices told.head input in
  Reader.line_end input;
  said told (claim told.prepared certificate prices)

let minimal told input =
  let certificate = Reader.certificate told.head input in
  let what = Reader.addition input in
  Reader.line_end input;
  said told (Claims.minimal told.prepared what certificate)

let needed told input =
  let certificate = Reader.certificate told.head input in
  let what = Reader.addition input in
  let index = Reader.statement_index certificate input in
  Reader.line_end input;
  said told (Claims.needed told.prepared what certificate index)

let about_image told claim input =
  let certificate = Reader.certificate told.head input in
  let image = Reader.image told.head input in
  Reader.line_end input;
  said told (claim told.prepared certificate image)

let pictured told network input =
  let certificate = Reader.certificate told.head input in
  let picture = Network_reader.picture network input in
  Reader.line_end input;
  said told (Claims.pictured told.prepared network certificate picture)

let latents told network input =
  let picture = Network_reader.picture network input in
  Reader.line_end input;
  said told (Claims.latents told.prepared network picture)

(* The answer to a question whose name has been read, and the head that was told by then. *)
let answer told question input =
  match question, told with
  | "head", None -> (Some (read_head input), "ready")
  | "entails", Some here -> (told, about_class here Claims.entails input)
  | "entailment_hints", Some here -> (told, about_class here Claims.entailment_hints input)
  | "numbers", Some here -> (told, about_class here Claims.numbers input)
  | "minimal", Some here -> (told, minimal here input)
  | "needed", Some here -> (told, needed here input)
  | "instance", Some here -> (told, about_image here Claims.instance input)
  | "instance_settings", Some here -> (told, about_image here Claims.instance_settings input)
  | "refuted", Some here -> (told, about_image here Claims.refuted input)
  | "values", Some here -> (told, about_image here Claims.values input)
  | "network", Some ({ network = None; _ } as here) -> (Some (read_network here input), "ready")
  | "pictured", Some ({ network = Some network; _ } as here) -> (told, pictured here network input)
  | "latents", Some ({ network = Some network; _ } as here) -> (told, latents here network input)
  | other, _ -> Reader.wrong "a question: the head first, and only once; so the network before pictures" other
