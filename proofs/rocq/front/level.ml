(* Points of floats as integers that satisfy narrow statements exactly. Part of the hinter: untrusted.

   A point is y and N >= |y|^2; of distances the root of N - |y|^2 is its coordinate more. Then a distance is
   N - 2 <y, p> + |p|^2: statements are linear in N and y, and a small step along the prototypes that they are about
   satisfies them exactly. For the step there is an exact inverse of their Gram matrix. *)

type equation = { vector : Z.t array; right : Z.t (* <n, vector> for n over the unit Y_0 S *) }

type t = {
  equations : equation array; (* independent ones *)
  determinant : Z.t;
  adjugate : Z.t array array;
  base : (int * Z.t) option; (* of distances, a prototype and its distance times 2 u *)
  bits : int; (* Y_0 is 2^bits *)
  half_unit : Z.t; (* 2 u *)
}

let inner v w =
  let sum = ref Z.zero in
  Array.iteri (fun d x -> sum := Z.add !sum (Z.mul x w.(d))) v;
  !sum

(* Gauss's and Jordan's elimination without fractions, of a Gram matrix: its determinant and adjugate, or the first row
   that depends on those before. *)
let inverse gram =
  let size = Array.length gram in
  let identity i = Array.init size (fun j -> Z.of_int (if i = j then 1 else 0)) in
  let rows = Array.mapi (fun i row -> Array.append row (identity i)) gram in
  let rec eliminate k before =
    if k = size then Ok (before, Array.map (fun row -> Array.sub row size size) rows)
    else begin
      let pivot = rows.(k).(k) in
      if Z.sign pivot = 0 then Error k
      else begin
        for i = 0 to size - 1 do
          if i <> k then begin
            let times = rows.(i).(k) in
            let reduced j x = Z.fdiv (Z.sub (Z.mul pivot x) (Z.mul times rows.(k).(j))) before in
            rows.(i) <- Array.mapi reduced rows.(i)
          end
        done;
        eliminate (k + 1) pivot
      end
    end
  in
  eliminate 0 (Z.of_int 1)

let rec independent equations =
  match inverse (Array.map (fun e -> Array.map (fun f -> inner e.vector f.vector) equations) equations) with
  | Ok (determinant, adjugate) -> (equations, determinant, adjugate)
  | Error k -> independent (Array.of_list (List.filteri (fun i _ -> i <> k) (Array.to_list equations)))

(* The narrow statements about a patch: prototypes, and the sums of their ends. Of cosines [near] is the size of a
   prototype over [root_unit]. *)
let make (points : Points.t) (head : Checker.head) unit bits near narrow =
  let half_unit = Z.shift_left unit 1 in
  let s = head.coord_unit in
  let square k = let p = points.integers k in inner p p in
  let over_half x = Z.fdiv (Z.shift_left x bits) half_unit in
  let product (k, sum) =
    let right =
      match points.kind with
      | Angle -> Z.fdiv (over_half (Z.mul sum (Z.mul s (near k)))) (Checker.root_unit head)
      | Distance | Product -> over_half (Z.mul sum (Z.mul s s))
    in
    { vector = points.integers k; right }
  in
  let difference (base, first) (k, sum) =
    let squares = Z.sub (square k) (square base) in
    let distances = over_half (Z.mul (Z.sub sum first) (Z.mul s s)) in
    let right = Z.sub (Z.shift_left squares (bits - 1)) (Z.fdiv distances (Z.of_int 2)) in
    { vector = Array.map2 Z.sub (points.integers k) (points.integers base); right }
  in
  let equations, base =
    match points.kind, narrow with
    | Points.Distance, first :: others -> (List.map (difference first) others, Some first)
    | Distance, [] -> ([], None)
    | (Product | Angle), all -> (List.map product all, None)
  in
  let equations, determinant, adjugate = independent (Array.of_list equations) in
  { equations; determinant; adjugate; base; bits; half_unit }

(* Y *)
let unit level = Z.shift_left level.determinant level.bits

(* From integers over Y_0 S, and N - |y|^2 over the square of that. *)
let settled (points : Points.t) (head : Checker.head) level place lift =
  let residuals = Array.map (fun e -> Z.sub e.right (inner place e.vector)) level.equations in
  let shares = Array.map (fun row -> inner row residuals) level.adjugate in
  let place = Array.map (Z.mul level.determinant) place in
  Array.iteri
    (fun i e -> Array.iteri (fun d x -> place.(d) <- Z.add place.(d) (Z.mul shares.(i) x)) e.vector)
    level.equations;
  let y = unit level in
  let lift =
    match level.base with
    | None -> Z.mul lift (Z.mul level.determinant level.determinant)
    | Some (base, sum) ->
        let s = head.coord_unit in
        let off = Array.map2 (fun n p -> Z.sub n (Z.mul y p)) place (points.integers base) in
        Z.sub (Z.fdiv (Z.mul sum (Z.mul (Z.mul s s) (Z.mul y y))) level.half_unit) (inner off off)
  in
  { Checker.place = Array.to_list place; lift = (if points.kind = Distance then lift else Z.of_int 0) }
