(* The proved checker as a program. It answers each line of stdin with one line on stdout, until stdin ends. Trusted,
   but for the limits: they can only refuse.

     line     = QUESTION NUMBER MILLISECONDS ...
     answer   = NUMBER MILLISECONDS (... | "limit: " WHY) | "error: " WHY

   Questions and answers are those of answers.ml, whose text follows; one space stands between two items. Numbers are in
   base 16. NUMBER is the line's own, so that its answer is not taken for that to another one. MILLISECONDS of processor
   time are how much it may take, and how much it took. The first line on stdout is "verale-proved 2 " and the versions.
   After an error the program ends. *)

exception Limit of string

let megabytes = match Sys.argv with [| _; number |] -> int_of_string number | _ -> 2048

(* Both limits are looked at twenty times a second of processor time, while an answer is sought. *)
let tick = 0.05
let seeking = ref false
let began = ref 0.
let deadline = ref 0.

let give_up why =
  seeking := false;
  raise (Limit why)

let look _ =
  if !seeking && Sys.time () > !deadline then give_up "it took more processor time than was allowed";
  if !seeking && (Gc.quick_stat ()).heap_words / (1 lsl 17) > megabytes then
    give_up (Printf.sprintf "it took more than %d MB" megabytes)

let told = ref None

(* How much memory may be free, in percent of what is not. Lists of products are long, and marked again and again: less
   often, as there is memory. What a network gives for a picture fills it. *)
let usual_space = 400
let space_for_pictures = 100
let collect space_overhead = Gc.set { (Gc.get ()) with space_overhead; allocation_policy = 2 }

let answer question milliseconds input =
  if question = "network" then collect space_for_pictures;
  began := Sys.time ();
  deadline := !began +. (float_of_int milliseconds /. 1000.);
  seeking := true;
  let head, said = Answers.answer !told question input in
  seeking := false;
  told := head;
  said

(* What is left of a line that was not read to its end. *)
let skip (input : Reader.input) = if not input.ended then while Reader.next input <> '\n' do () done

let one_line text = String.map (fun byte -> if byte < ' ' || byte > '~' then '?' else byte) text

let converse source =
  let input = Reader.input_of source in
  let question = Reader.word input in
  let number = Reader.natural input in
  let milliseconds = Z.to_int (Reader.integer input) in
  let limit why = seeking := false; skip input; "limit: " ^ why in
  let said =
    try answer question milliseconds input with
    | Limit why | Reader.Too_large why -> limit why
    | Out_of_memory -> limit "there is no more memory"
    | Stack_overflow -> limit "a list is too long"
  in
  let took = int_of_float (ceil ((Sys.time () -. !began) *. 1000.)) in
  Printf.printf "%x %x %s\n%!" number took (one_line said)

let () =
  collect usual_space;
  Sys.set_signal Sys.sigvtalrm (Sys.Signal_handle look);
  ignore (Unix.setitimer Unix.ITIMER_VIRTUAL { Unix.it_interval = tick; it_value = tick });
  Printf.printf "verale-proved 2 OCaml %s, Zarith %s\n%!" Sys.ocaml_version Z.version;
  set_binary_mode_in stdin true;
  let source = Reader.source_of (fun chunk -> input stdin chunk 0 (Bytes.length chunk)) 65536 in
  try while true do converse source done with
  | End_of_file when not (Reader.within_line source) -> ()
  | End_of_file -> print_endline "error: the input ends within a line"; exit 2
  | error ->
      let why = match error with Reader.Wrong why -> why | other -> Printexc.to_string other in
      print_endline ("error: " ^ one_line why);
      exit 2
