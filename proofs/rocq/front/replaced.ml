(* Computes with the functions that extraction replaces (Extract.v), line by line: for the test that compares them with
   what Coq says. No part of the checker.

     line   = NAME integer...
     answer = integer..., truth values as 1 and 0; "failure" where the function raises an exception *)

let of_bool truth = if truth then Z.one else Z.zero
let of_order = function Checker.Eq -> Z.zero | Lt -> Z.minus_one | Gt -> Z.one
let of_pair (a, b) = [ a; b ]

let apply name arguments =
  let nat = Z.to_int in
  match name, arguments with
  | "Z.add", [ a; b ] -> [ Checker.Z.add a b ]
  | "Z.sub", [ a; b ] -> [ Checker.Z.sub a b ]
  | "Z.mul", [ a; b ] -> [ Checker.Z.mul a b ]
  | "Z.opp", [ a ] -> [ Checker.Z.opp a ]
  | "Z.abs", [ a ] -> [ Checker.Z.abs a ]
  | "Z.min", [ a; b ] -> [ Checker.Z.min a b ]
  | "Z.max", [ a; b ] -> [ Checker.Z.max a b ]
  | "Z.pow", [ a; b ] -> [ Checker.Z.pow a b ]
  | "Z.compare", [ a; b ] -> [ of_order (Checker.Z.compare a b) ]
  | "Z.leb", [ a; b ] -> [ of_bool (Checker.Z.leb a b) ]
  | "Z.ltb", [ a; b ] -> [ of_bool (Checker.Z.ltb a b) ]
  | "Z.eqb", [ a; b ] -> [ of_bool (Checker.Z.eqb a b) ]
  | "Z.div", [ a; b ] -> [ Checker.Z.div a b ]
  | "Z.div_eucl", [ a; b ] -> of_pair (Checker.Z.div_eucl a b)
  | "Z.div2", [ a ] -> [ Checker.Z.div2 a ]
  | "Z.sqrt", [ a ] -> [ Checker.Z.sqrt a ]
  | "Z.log2", [ a ] -> [ Checker.Z.log2 a ]
  | "Z.shiftl", [ a; b ] -> [ Checker.Z.shiftl a b ]
  | "slice", [ a; from; size ] -> [ Checker.slice a from size ]
  | "Z.of_nat", [ a ] -> [ Checker.Z.of_nat (nat a) ]
  | "Z.to_nat", [ a ] -> [ Z.of_int (Checker.Z.to_nat a) ]
  | "Nat.pred", [ a ] -> [ Z.of_int (Checker.pred (nat a)) ]
  | "Nat.add", [ a; b ] -> [ Z.of_int (Checker.add (nat a) (nat b)) ]
  | "Nat.sub", [ a; b ] -> [ Z.of_int (Checker.sub (nat a) (nat b)) ]
  | "Nat.mul", [ a; b ] -> [ Z.of_int (Checker.mul (nat a) (nat b)) ]
  | "Nat.div", [ a; b ] -> [ Z.of_int (Checker.Nat.div (nat a) (nat b)) ]
  | "Nat.modulo", [ a; b ] -> [ Z.of_int (Checker.Nat.modulo (nat a) (nat b)) ]
  | "Pos.of_succ_nat", [ a ] -> [ Checker.Coq_Pos.of_succ_nat (nat a) ]
  | "Nat.leb", [ a; b ] -> [ of_bool (Checker.Nat.leb (nat a) (nat b)) ]
  | "Nat.ltb", [ a; b ] -> [ of_bool (Checker.Nat.ltb (nat a) (nat b)) ]
  | _ -> failwith name

let () =
  try
    while true do
      match String.split_on_char ' ' (input_line stdin) with
      | name :: arguments -> (
          let arguments = List.map Z.of_string arguments in
          match apply name arguments with
          | results -> print_endline (String.concat " " (List.map Z.to_string results))
          | exception _ -> print_endline "failure")
      | [] -> ()
    done
  with End_of_file -> ()
