(* Questions about certificates of one head, and their answers, as text. Trusted.

     question = "head" head | "network" network | "pictured" certificate picture
              | ("entails" | "entailment_hints") certificate prices
              | ("instance" | "refuted" | "instance_settings") certificate image
              | "minimal" certificate addition | "needed" certificate addition INDEX
     answer   = "ready" | "proved" | "not proved" | "not covered: " WHY
              | "hints: " settings hints | "hints: " settings

   Head, certificate, prices, image and addition are as in reader.ml, network and picture as in network_reader.ml,
   settings and hints as in hints.ml, with a space between two; INDEX is that of a statement. The first question is the
   head, and it is told once. So is the network, before pictures. The hints are those
   with which the checker says "proved". *)

type t = { head : Checker.head; prepared : Claims.prepared; network : Checker.network option }

let read_head input =
  let head = Reader.head input in
  Reader.line_end input;
  { head; prepared = Claims.prepare head; network = None }

let read_network told input =
  let network = Network_reader.network input in
  Reader.line_end input;
  { told with network = Some network }

let said = function
  | Claims.Proved -> "proved"
  | Claims.Not_proved -> "not proved"
  | Claims.Not_covered why -> "not covered: " ^ why
  | Claims.Entailed_with found -> "hints: " ^ Hints.(text (two settings hints) found)
  | Claims.True_with found -> "hints: " ^ Hints.(text settings found)

let about_class told claim input =
  let certificate = Reader.certificate told.head input in
  let prices = Reader.prices told.head input in
  Reader.line_end input;
  said (claim told.prepared certificate prices)

let minimal told input =
  let certificate = Reader.certificate told.head input in
  let what = Reader.addition input in
  Reader.line_end input;
  said (Claims.minimal told.prepared what certificate)

let needed told input =
  let certificate = Reader.certificate told.head input in
  let what = Reader.addition input in
  let index = Reader.statement_index certificate input in
  Reader.line_end input;
  said (Claims.needed told.prepared what certificate index)

let about_image told claim input =
  let certificate = Reader.certificate told.head input in
  let image = Reader.image told.head input in
  Reader.line_end input;
  said (claim told.prepared certificate image)

let pictured told network input =
  let certificate = Reader.certificate told.head input in
  let picture = Network_reader.picture network input in
  Reader.line_end input;
  said (Claims.pictured told.prepared network certificate picture)

(* The answer to a question whose name has been read, and the head that was told by then. *)
let answer told question input =
  match question, told with
  | "head", None -> (Some (read_head input), "ready")
  | "entails", Some here -> (told, about_class here Claims.entails input)
  | "entailment_hints", Some here -> (told, about_class here Claims.entailment_hints input)
  | "minimal", Some here -> (told, minimal here input)
  | "needed", Some here -> (told, needed here input)
  | "instance", Some here -> (told, about_image here Claims.instance input)
  | "instance_settings", Some here -> (told, about_image here Claims.instance_settings input)
  | "refuted", Some here -> (told, about_image here Claims.refuted input)
  | "network", Some ({ network = None; _ } as here) -> (Some (read_network here input), "ready")
  | "pictured", Some ({ network = Some network; _ } as here) -> (told, pictured here network input)
  | other, _ -> Reader.wrong "a question: the head first, and only once; so the network before pictures" other
