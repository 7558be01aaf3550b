(* Weights in integers where the target lies in the span of the statements. Part of the hinter: untrusted.

   There the curves of the best weights cancel, A is nearly 0, and the bound loses |Q|^2 / A, so that weights in floats
   are too coarse: their Q is as large as their rounding. Here Q is computed in integers, and corrected, step by step,
   by the weights that floats find for what is left of it. *)

(* The bits of weights, and those of A below a weight of 1. *)
let bits = 120
let curve_bits = 84
let corrections = 3

(* The directions of an orthonormal basis of vectors, and for each vector its products with them: lower triangular, and
   0 on the diagonal where it depends on those before. *)
let orthonormal vectors =
  let count = Array.length vectors in
  let directions = Array.make count [||] in
  let triangle = Array.map (fun _ -> Array.make count 0.) vectors in
  Array.iteri
    (fun i vector ->
      let left = Array.copy vector in
      for _ = 1 to 2 do
        for c = 0 to i - 1 do
          if triangle.(c).(c) > 0. then begin
            let share = Floats.dot directions.(c) left in
            triangle.(i).(c) <- triangle.(i).(c) +. share;
            Floats.subtract left share directions.(c)
          end
        done
      done;
      let size = sqrt (Floats.dot left left) in
      if size > 1e-11 *. sqrt (Floats.dot vector vector) then begin
        triangle.(i).(i) <- size;
        directions.(i) <- Array.map (fun x -> x /. size) left
      end)
    vectors;
  (directions, triangle)

(* The shares of the vectors that make up another vector. *)
let shares (directions, triangle) vector =
  let count = Array.length directions in
  let made = Array.make count 0. in
  let left = Array.init count (fun c -> if triangle.(c).(c) > 0. then Floats.dot directions.(c) vector else 0.) in
  for i = count - 1 downto 0 do
    if triangle.(i).(i) > 0. then begin
      made.(i) <- left.(i) /. triangle.(i).(i);
      for c = 0 to i - 1 do
        left.(c) <- left.(c) -. (made.(i) *. triangle.(i).(c))
      done
    end
  done;
  made

(* For the prototypes [about] and [k], from an origin if there is one, integers W_i with sum W_i P_i = 2^bits P_k, as
   nearly as possible. *)
let combination (points : Points.t) origin about k =
  let relative j =
    let own = points.integers j in
    match origin with None -> own | Some base -> Array.map2 Z.sub own (points.integers base)
  in
  let target = Array.map (fun x -> Z.shift_left x bits) (relative k) in
  let own = Array.map relative about in
  let floats = Array.map (Array.map (Floats.of_integer points.places)) own in
  let basis = orthonormal floats in
  let made = Array.map (fun _ -> Z.of_int 0) about in
  for _ = 1 to corrections do
    let left = Array.copy target in
    Array.iteri
      (fun i w -> if Z.sign w <> 0 then Array.iteri (fun d x -> left.(d) <- Z.sub left.(d) (Z.mul w x)) own.(i))
      made;
    let step = shares basis (Array.map (Floats.of_integer (points.places + bits)) left) in
    Array.iteri
      (fun i s -> if Floats.is_finite s then made.(i) <- Z.add made.(i) (Floats.to_integer bits s))
      step
  done;
  made
