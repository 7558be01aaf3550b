(* The proved checker as a program. It answers each line of stdin with one line on stdout, until stdin ends. Trusted,
   but for the limits: they can only refuse.

     question = "head" NUMBER MILLISECONDS head
              | "entails" NUMBER MILLISECONDS certificate
              | ("instance" | "refuted") NUMBER MILLISECONDS certificate image
     answer   = NUMBER MILLISECONDS ("ready" | "proved" | "not proved" | "not covered: " WHY | "limit: " WHY)
              | "error: " WHY

   One space stands between two items. Numbers are in base 16; head, certificate and image are as in reader.ml, with
   a space between two. The first line is "verale-proved 1 " and the versions; the first question is the head. NUMBER
   is the question's own, so that its answer is not taken for that to another one. MILLISECONDS of processor time are
   how much it may take, and how much it took. After an error the program ends. *)

exception Limit of string

let megabytes = match Sys.argv with [| _; number |] -> int_of_string number | _ -> 2048

(* Both limits are looked at twenty times a second of processor time. *)
let tick = 0.05
let deadline = ref infinity
let began = ref 0.

let look _ =
  if Sys.time () > !deadline then raise (Limit "it took more processor time than was allowed");
  if (Gc.quick_stat ()).heap_words / (1 lsl 17) > megabytes then
    raise (Limit (Printf.sprintf "it took more than %d MB" megabytes))

let within milliseconds work =
  began := Sys.time ();
  deadline := !began +. (float_of_int milliseconds /. 1000.);
  ignore (Unix.setitimer Unix.ITIMER_VIRTUAL { Unix.it_interval = tick; it_value = tick });
  Fun.protect work ~finally:(fun () ->
      deadline := infinity;
      ignore (Unix.setitimer Unix.ITIMER_VIRTUAL { Unix.it_interval = 0.; it_value = 0. }))

let claim question head input =
  let certificate = Reader.certificate head input in
  match question with
  | "entails" -> Reader.line_end input; Claims.entails head certificate
  | _ ->
      let image = Reader.image head input in
      Reader.line_end input;
      if question = "instance" then Claims.instance head certificate image
      else Claims.refuted head certificate image

let said = function
  | Claims.Proved -> "proved"
  | Claims.Not_proved -> "not proved"
  | Claims.Not_covered why -> "not covered: " ^ why

let head : Checker.head option ref = ref None

let answer question input =
  match question, !head with
  | "head", None ->
      let read = Reader.head input in
      Reader.line_end input;
      head := Some read;
      "ready"
  | ("entails" | "instance" | "refuted"), Some head -> said (claim question head input)
  | other, _ -> Reader.wrong "a question: the head first, and only once" other

(* What is left of a line that was not read to its end. *)
let skip (input : Reader.input) = if not input.ended then while input.next () <> '\n' do () done

let one_line text = String.map (fun byte -> if byte < ' ' || byte > '~' then '?' else byte) text

let converse next =
  let input = Reader.input_of next in
  let question = Reader.word input in
  let number = Reader.natural input in
  let milliseconds = Z.to_int (Reader.integer input) in
  let limit why = skip input; "limit: " ^ why in
  let said =
    try within milliseconds (fun () -> answer question input) with
    | Limit why | Reader.Too_large why -> limit why
    | Out_of_memory -> limit "there is no more memory"
    | Stack_overflow -> limit "a list is too long"
  in
  let took = int_of_float (ceil ((Sys.time () -. !began) *. 1000.)) in
  Printf.printf "%x %x %s\n%!" number took (one_line said)

let () =
  Sys.set_signal Sys.sigvtalrm (Sys.Signal_handle look);
  Printf.printf "verale-proved 1 OCaml %s, Zarith %s\n%!" Sys.ocaml_version Z.version;
  set_binary_mode_in stdin true;
  let within_line = ref false in
  let next () = let byte = input_char stdin in within_line := byte <> '\n'; byte in
  try while true do converse next done with
  | End_of_file when not !within_line -> ()
  | End_of_file -> print_endline "error: the input ends within a line"; exit 2
  | error ->
      let why = match error with Reader.Wrong why -> why | other -> Printexc.to_string other in
      print_endline ("error: " ^ one_line why);
      exit 2
