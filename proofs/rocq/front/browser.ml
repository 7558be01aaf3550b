(* The proved checker as JavaScript, for browsers and for the engines that Python has. It defines one global object:

     verale.greeting    "verale-proved 2 " and the versions
     verale.ask(line)   the answer to a question of answers.ml, which ends with a line feed; the answer does not

   What is asked is the same text as in main.ml, without NUMBER and MILLISECONDS; so is the answer, which may be "limit: "
   WHY or "error: " WHY too. After an error every answer is that error. Nothing here looks at the time that an answer
   takes, because JavaScript has no signals: who asks ends what takes too long. Trusted, but for the limits. *)

external export : string -> (string -> string) -> unit = "verale_export"

let one_line text = String.map (fun byte -> if byte < ' ' || byte > '~' then '?' else byte) text

let told = ref None
let failed = ref None

let answer line =
  let source = Reader.source_of_string line in
  let input = Reader.input_of source in
  let question = Reader.word input in
  let head, said = Answers.answer !told question input in
  if source.at < source.filled then raise (Reader.Wrong "expected one line, found more");
  told := head;
  one_line said

let error why =
  let said = "error: " ^ one_line why in
  failed := Some said;
  said

let ask line =
  match !failed with
  | Some said -> said
  | None -> (
      try answer line with
      | Reader.Too_large why -> "limit: " ^ one_line why
      | Out_of_memory -> "limit: there is no more memory"
      | Stack_overflow -> "limit: a list is too long"
      | Reader.Wrong why -> error why
      | End_of_file -> error "the input ends within a line"
      | problem -> error (Printexc.to_string problem))

let () = export (Printf.sprintf "verale-proved 2 OCaml %s, js_of_ocaml" Sys.ocaml_version) ask
