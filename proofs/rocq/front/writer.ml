(* Numbers, lists and options as text, as verale/checker/proved/text.py defines them. Trusted. *)

let integer out number = Buffer.add_string out (Z.format "%x" number)
let natural out number = Buffer.add_string out (Printf.sprintf "%x" number)
let word out text = Buffer.add_string out text
let space out = Buffer.add_char out ' '

let two first second out (a, b) = first out a; space out; second out b

let list item out items =
  natural out (List.length items);
  List.iter (fun each -> space out; item out each) items

let option item out = function
  | None -> word out "none"
  | Some each -> word out "some "; item out each

let text item told =
  let out = Buffer.create 4096 in
  item out told;
  Buffer.contents out
