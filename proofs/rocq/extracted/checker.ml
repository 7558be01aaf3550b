
(** val negb : bool -> bool **)

let negb = function
| true -> false
| false -> true

(** val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option **)

let option_map f = function
| Some a -> Some (f a)
| None -> None

(** val fst : ('a1 * 'a2) -> 'a1 **)

let fst = function
| (x, _) -> x

(** val snd : ('a1 * 'a2) -> 'a2 **)

let snd = function
| (_, y) -> y

(** val length : 'a1 list -> int **)

let rec length = function
| [] -> 0
| _ :: l' -> Stdlib.Int.succ (length l')

(** val app : 'a1 list -> 'a1 list -> 'a1 list **)

let rec app l m =
  match l with
  | [] -> m
  | a :: l1 -> a :: (app l1 m)

type comparison =
| Eq
| Lt
| Gt

(** val pred : int -> int **)

let pred = fun n -> Stdlib.max 0 (n-1)

module Coq__1 = struct
 (** val add : int -> int -> int **)let rec add = (+)
end
include Coq__1

(** val mul : int -> int -> int **)

let rec mul = ( * )

(** val sub : int -> int -> int **)

let rec sub = fun n m -> Stdlib.max 0 (n-m)

(** val eqb : bool -> bool -> bool **)

let eqb b1 b2 =
  if b1 then b2 else if b2 then false else true

module type TotalLeBool' =
 sig
  type t

  val leb : t -> t -> bool
 end

module Nat =
 struct
  (** val add : int -> int -> int **)

  let rec add n0 m =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> m)
      (fun p -> Stdlib.Int.succ (add p m))
      n0

  (** val mul : int -> int -> int **)

  let rec mul n0 m =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> 0)
      (fun p -> add m (mul p m))
      n0

  (** val sub : int -> int -> int **)

  let rec sub n0 m =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> n0)
      (fun k ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> n0)
        (fun l -> sub k l)
        m)
      n0

  (** val leb : int -> int -> bool **)

  let rec leb = (fun (a : int) b -> a <= b)

  (** val ltb : int -> int -> bool **)

  let ltb = (fun (a : int) b -> a < b)

  (** val min : int -> int -> int **)

  let rec min n0 m =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> 0)
      (fun n' ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> 0)
        (fun m' -> Stdlib.Int.succ (min n' m'))
        m)
      n0

  (** val pow : int -> int -> int **)

  let rec pow n0 m =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> Stdlib.Int.succ 0)
      (fun m0 -> mul n0 (pow n0 m0))
      m

  (** val divmod : int -> int -> int -> int -> int * int **)

  let rec divmod x y q u =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> (q, u))
      (fun x' ->
      (fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> divmod x' y (Stdlib.Int.succ q) y)
        (fun u' -> divmod x' y q u')
        u)
      x

  (** val div : int -> int -> int **)

  let div = (fun n m -> if m = 0 then 0 else n / m)

  (** val modulo : int -> int -> int **)

  let modulo = (fun n m -> if m = 0 then n else n mod m)
 end

module Pos =
 struct
  type mask =
  | IsNul
  | IsPos of Big_int_Z.big_int
  | IsNeg
 end

module Coq_Pos =
 struct
  (** val succ : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec succ = Big_int_Z.succ_big_int

  (** val add :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec add = Big_int_Z.add_big_int

  (** val add_carry :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  and add_carry x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (add_carry p q))
        (fun q -> Big_int_Z.mult_int_big_int 2 (add_carry p q))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (succ p))
        y)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> Big_int_Z.mult_int_big_int 2 (add_carry p q))
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (add p q))
        (fun _ -> Big_int_Z.mult_int_big_int 2 (succ p))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (succ q))
        (fun q -> Big_int_Z.mult_int_big_int 2 (succ q))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int)
        y)
      x

  (** val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec pred_double x =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (Big_int_Z.mult_int_big_int 2 p))
      (fun p ->
      (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      (pred_double p))
      (fun _ -> Big_int_Z.unit_big_int)
      x

  (** val pred_N : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pred_N x =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p -> (Big_int_Z.mult_int_big_int 2 p))
      (fun p -> (pred_double p))
      (fun _ -> Big_int_Z.zero_big_int)
      x

  type mask = Pos.mask =
  | IsNul
  | IsPos of Big_int_Z.big_int
  | IsNeg

  (** val succ_double_mask : mask -> mask **)

  let succ_double_mask = function
  | IsNul -> IsPos Big_int_Z.unit_big_int
  | IsPos p ->
    IsPos ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      p)
  | IsNeg -> IsNeg

  (** val double_mask : mask -> mask **)

  let double_mask = function
  | IsPos p -> IsPos (Big_int_Z.mult_int_big_int 2 p)
  | x0 -> x0

  (** val double_pred_mask : Big_int_Z.big_int -> mask **)

  let double_pred_mask x =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p -> IsPos (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 p)))
      (fun p -> IsPos (Big_int_Z.mult_int_big_int 2
      (pred_double p)))
      (fun _ -> IsNul)
      x

  (** val sub_mask : Big_int_Z.big_int -> Big_int_Z.big_int -> mask **)

  let rec sub_mask x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> double_mask (sub_mask p q))
        (fun q -> succ_double_mask (sub_mask p q))
        (fun _ -> IsPos (Big_int_Z.mult_int_big_int 2 p))
        y)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> succ_double_mask (sub_mask_carry p q))
        (fun q -> double_mask (sub_mask p q))
        (fun _ -> IsPos (pred_double p))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> IsNeg)
        (fun _ -> IsNeg)
        (fun _ -> IsNul)
        y)
      x

  (** val sub_mask_carry : Big_int_Z.big_int -> Big_int_Z.big_int -> mask **)

  and sub_mask_carry x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> succ_double_mask (sub_mask_carry p q))
        (fun q -> double_mask (sub_mask p q))
        (fun _ -> IsPos (pred_double p))
        y)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> double_mask (sub_mask_carry p q))
        (fun q -> succ_double_mask (sub_mask_carry p q))
        (fun _ -> double_pred_mask p)
        y)
      (fun _ -> IsNeg)
      x

  (** val mul :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec mul = Big_int_Z.mult_big_int

  (** val iter : ('a1 -> 'a1) -> 'a1 -> Big_int_Z.big_int -> 'a1 **)

  let rec iter f x n0 =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun n' -> f (iter f (iter f x n') n'))
      (fun n' -> iter f (iter f x n') n')
      (fun _ -> f x)
      n0

  (** val div2 : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div2 p =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 -> p0)
      (fun p0 -> p0)
      (fun _ -> Big_int_Z.unit_big_int)
      p

  (** val div2_up : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div2_up p =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 -> succ p0)
      (fun p0 -> p0)
      (fun _ -> Big_int_Z.unit_big_int)
      p

  (** val size : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec size p =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 -> succ (size p0))
      (fun p0 -> succ (size p0))
      (fun _ -> Big_int_Z.unit_big_int)
      p

  (** val compare_cont :
      comparison -> Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let rec compare_cont = (fun c x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then c else if s < 0 then Lt else Gt)

  (** val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let compare = (fun x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then Eq else if s < 0 then Lt else Gt)

  (** val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let rec eqb p q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> eqb p0 q0)
        (fun _ -> false)
        (fun _ -> false)
        q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun q0 -> eqb p0 q0)
        (fun _ -> false)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> false)
        (fun _ -> false)
        (fun _ -> true)
        q)
      p

  (** val leb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let leb x y =
    match compare x y with
    | Gt -> false
    | _ -> true

  (** val sqrtrem_step :
      (Big_int_Z.big_int -> Big_int_Z.big_int) -> (Big_int_Z.big_int ->
      Big_int_Z.big_int) -> (Big_int_Z.big_int * mask) ->
      Big_int_Z.big_int * mask **)

  let sqrtrem_step f g = function
  | (s, y) ->
    (match y with
     | IsPos r ->
       let s' =
         (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
         (Big_int_Z.mult_int_big_int 2 s)
       in
       let r' = g (f r) in
       if leb s' r'
       then (((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
              s), (sub_mask r' s'))
       else ((Big_int_Z.mult_int_big_int 2 s), (IsPos r'))
     | _ ->
       ((Big_int_Z.mult_int_big_int 2 s),
         (sub_mask (g (f Big_int_Z.unit_big_int))
           (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
           Big_int_Z.unit_big_int)))))

  (** val sqrtrem : Big_int_Z.big_int -> Big_int_Z.big_int * mask **)

  let rec sqrtrem p =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun p1 ->
        sqrtrem_step (fun x ->
          (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          x) (fun x ->
          (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          x) (sqrtrem p1))
        (fun p1 ->
        sqrtrem_step (fun x -> Big_int_Z.mult_int_big_int 2 x) (fun x ->
          (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          x) (sqrtrem p1))
        (fun _ -> (Big_int_Z.unit_big_int, (IsPos
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))
        p0)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun p1 ->
        sqrtrem_step (fun x ->
          (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          x) (fun x -> Big_int_Z.mult_int_big_int 2 x) (sqrtrem p1))
        (fun p1 ->
        sqrtrem_step (fun x -> Big_int_Z.mult_int_big_int 2 x) (fun x ->
          Big_int_Z.mult_int_big_int 2 x) (sqrtrem p1))
        (fun _ -> (Big_int_Z.unit_big_int, (IsPos Big_int_Z.unit_big_int)))
        p0)
      (fun _ -> (Big_int_Z.unit_big_int, IsNul))
      p

  (** val sqrt : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let sqrt p =
    fst (sqrtrem p)

  (** val coq_Nsucc_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let coq_Nsucc_double x =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p ->
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x)) p))
      x

  (** val coq_Ndouble : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let coq_Ndouble n0 =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p -> (Big_int_Z.mult_int_big_int 2 p))
      n0

  (** val coq_lor :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec coq_lor p q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (coq_lor p0 q0))
        (fun q0 ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (coq_lor p0 q0))
        (fun _ -> p)
        q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        (coq_lor p0 q0))
        (fun q0 -> Big_int_Z.mult_int_big_int 2 (coq_lor p0 q0))
        (fun _ ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        p0)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> q)
        (fun q0 ->
        (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        q0)
        (fun _ -> q)
        q)
      p

  (** val coq_land :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec coq_land p q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> coq_Nsucc_double (coq_land p0 q0))
        (fun q0 -> coq_Ndouble (coq_land p0 q0))
        (fun _ -> Big_int_Z.unit_big_int)
        q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> coq_Ndouble (coq_land p0 q0))
        (fun q0 -> coq_Ndouble (coq_land p0 q0))
        (fun _ -> Big_int_Z.zero_big_int)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> Big_int_Z.unit_big_int)
        (fun _ -> Big_int_Z.zero_big_int)
        (fun _ -> Big_int_Z.unit_big_int)
        q)
      p

  (** val ldiff :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec ldiff p q =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> coq_Ndouble (ldiff p0 q0))
        (fun q0 -> coq_Nsucc_double (ldiff p0 q0))
        (fun _ -> (Big_int_Z.mult_int_big_int 2 p0))
        q)
      (fun p0 ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q0 -> coq_Ndouble (ldiff p0 q0))
        (fun q0 -> coq_Ndouble (ldiff p0 q0))
        (fun _ -> p)
        q)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> Big_int_Z.zero_big_int)
        (fun _ -> Big_int_Z.unit_big_int)
        (fun _ -> Big_int_Z.zero_big_int)
        q)
      p

  (** val iter_op : ('a1 -> 'a1 -> 'a1) -> Big_int_Z.big_int -> 'a1 -> 'a1 **)

  let rec iter_op op p a =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p0 -> op a (iter_op op p0 (op a a)))
      (fun p0 -> iter_op op p0 (op a a))
      (fun _ -> a)
      p

  (** val to_nat : Big_int_Z.big_int -> int **)

  let to_nat x =
    iter_op Coq__1.add x (Stdlib.Int.succ 0)

  (** val of_succ_nat : int -> Big_int_Z.big_int **)

  let rec of_succ_nat = (fun n -> Big_int_Z.big_int_of_int (n + 1))
 end

module N =
 struct
  (** val succ_pos : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let succ_pos n0 =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p -> Coq_Pos.succ p)
      n0

  (** val coq_lor :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let coq_lor n0 m =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> m)
      (fun p ->
      (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
        (fun _ -> n0)
        (fun q -> (Coq_Pos.coq_lor p q))
        m)
      n0

  (** val ldiff :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let ldiff n0 m =
    (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p ->
      (fun fO fp n -> if Big_int_Z.sign_big_int n <= 0 then fO () else fp n)
        (fun _ -> n0)
        (fun q -> Coq_Pos.ldiff p q)
        m)
      n0
 end

module Z =
 struct
  (** val double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p -> (Big_int_Z.mult_int_big_int 2 p))
      (fun p -> Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2 p))
      x

  (** val succ_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let succ_double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p ->
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      p))
      (fun p -> Big_int_Z.minus_big_int (Coq_Pos.pred_double p))
      x

  (** val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pred_double x =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.minus_big_int Big_int_Z.unit_big_int)
      (fun p -> (Coq_Pos.pred_double p))
      (fun p -> Big_int_Z.minus_big_int
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x)) p))
      x

  (** val pos_sub :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let rec pos_sub x y =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> double (pos_sub p q))
        (fun q -> succ_double (pos_sub p q))
        (fun _ -> (Big_int_Z.mult_int_big_int 2 p))
        y)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> pred_double (pos_sub p q))
        (fun q -> double (pos_sub p q))
        (fun _ -> (Coq_Pos.pred_double p))
        y)
      (fun _ ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun q -> Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
        q))
        (fun q -> Big_int_Z.minus_big_int (Coq_Pos.pred_double q))
        (fun _ -> Big_int_Z.zero_big_int)
        y)
      x

  (** val add :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let add = Big_int_Z.add_big_int

  (** val opp : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let opp = Big_int_Z.minus_big_int

  (** val pred : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pred = Big_int_Z.pred_big_int

  (** val sub :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let sub = Big_int_Z.sub_big_int

  (** val mul :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let mul = Big_int_Z.mult_big_int

  (** val pow_pos :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pow_pos z0 =
    Coq_Pos.iter (mul z0) Big_int_Z.unit_big_int

  (** val pow :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let pow x y =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.unit_big_int)
      (fun p -> pow_pos x p)
      (fun _ -> Big_int_Z.zero_big_int)
      y

  (** val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison **)

  let compare = (fun x y -> let s = Big_int_Z.compare_big_int x y in
  if s = 0 then Eq else if s < 0 then Lt else Gt)

  (** val leb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let leb = Big_int_Z.le_big_int

  (** val ltb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let ltb = Big_int_Z.lt_big_int

  (** val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let eqb = Big_int_Z.eq_big_int

  (** val max :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let max = Big_int_Z.max_big_int

  (** val min :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let min = Big_int_Z.min_big_int

  (** val abs : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let abs = Big_int_Z.abs_big_int

  (** val to_nat : Big_int_Z.big_int -> int **)

  let to_nat = (fun x -> if Big_int_Z.sign_big_int x < 0 then 0 else Big_int_Z.int_of_big_int x)

  (** val of_nat : int -> Big_int_Z.big_int **)

  let of_nat = Big_int_Z.big_int_of_int

  (** val of_N : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let of_N = (fun p -> p)

  (** val pos_div_eucl :
      Big_int_Z.big_int -> Big_int_Z.big_int ->
      Big_int_Z.big_int * Big_int_Z.big_int **)

  let rec pos_div_eucl a b =
    (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' =
        add (mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) r)
          Big_int_Z.unit_big_int
      in
      if ltb r' b
      then ((mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) q), r')
      else ((add
              (mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) q)
              Big_int_Z.unit_big_int), (sub r' b)))
      (fun a' ->
      let (q, r) = pos_div_eucl a' b in
      let r' = mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) r in
      if ltb r' b
      then ((mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) q), r')
      else ((add
              (mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) q)
              Big_int_Z.unit_big_int), (sub r' b)))
      (fun _ ->
      if leb (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) b
      then (Big_int_Z.zero_big_int, Big_int_Z.unit_big_int)
      else (Big_int_Z.unit_big_int, Big_int_Z.zero_big_int))
      a

  (** val div_eucl :
      Big_int_Z.big_int -> Big_int_Z.big_int ->
      Big_int_Z.big_int * Big_int_Z.big_int **)

  let div_eucl = Big_int_Z.(fun x y ->
  match sign_big_int y with
  | 0 -> (zero_big_int, x)
  | 1 -> quomod_big_int x y
  | _ -> let (q, r) = quomod_big_int (add_int_big_int (-1) x) y in
          (add_int_big_int (-1) q, add_big_int (add_int_big_int 1 y) r))

  (** val div :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div = (fun a b -> if Big_int_Z.sign_big_int b = 0 then Big_int_Z.zero_big_int else Z.fdiv a b)

  (** val div2 : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let div2 z0 =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.zero_big_int)
      (fun p ->
      (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
        (fun _ -> (Coq_Pos.div2 p))
        (fun _ -> (Coq_Pos.div2 p))
        (fun _ -> Big_int_Z.zero_big_int)
        p)
      (fun p -> Big_int_Z.minus_big_int (Coq_Pos.div2_up p))
      z0

  (** val log2 : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let log2 = (fun x -> if Big_int_Z.sign_big_int x <= 0 then Big_int_Z.zero_big_int else Big_int_Z.big_int_of_int (Z.numbits x - 1))

  (** val sqrt : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let sqrt = (fun x -> if Big_int_Z.sign_big_int x < 0 then Big_int_Z.zero_big_int else Big_int_Z.sqrt_big_int x)

  (** val shiftl :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let shiftl = Big_int_Z.(fun x y ->
  let y = int_of_big_int y in
  if y < 0 then shift_right_big_int x (-y)
  else shift_left_big_int x y)

  (** val shiftr :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let shiftr = Big_int_Z.(fun x y ->
  let y = int_of_big_int y in
  if y < 0 then shift_left_big_int x (-y)
  else shift_right_big_int x y)

  (** val coq_land :
      Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

  let coq_land a b =
    (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
      (fun _ -> Big_int_Z.zero_big_int)
      (fun a0 ->
      (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
        (fun _ -> Big_int_Z.zero_big_int)
        (fun b0 -> of_N (Coq_Pos.coq_land a0 b0))
        (fun b0 -> of_N (N.ldiff a0 (Coq_Pos.pred_N b0)))
        b)
      (fun a0 ->
      (fun fO fp fn z -> let s = Big_int_Z.sign_big_int z in
  if s = 0 then fO () else if s > 0 then fp z
  else fn (Big_int_Z.minus_big_int z))
        (fun _ -> Big_int_Z.zero_big_int)
        (fun b0 -> of_N (N.ldiff b0 (Coq_Pos.pred_N a0)))
        (fun b0 -> Big_int_Z.minus_big_int
        (N.succ_pos (N.coq_lor (Coq_Pos.pred_N a0) (Coq_Pos.pred_N b0))))
        b)
      a

  (** val ones : Big_int_Z.big_int -> Big_int_Z.big_int **)

  let ones n0 =
    pred (shiftl Big_int_Z.unit_big_int n0)
 end

(** val hd : 'a1 -> 'a1 list -> 'a1 **)

let hd default = function
| [] -> default
| x :: _ -> x

(** val tl : 'a1 list -> 'a1 list **)

let tl = function
| [] -> []
| _ :: m -> m

(** val nth : int -> 'a1 list -> 'a1 -> 'a1 **)

let rec nth n0 l default =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> match l with
              | [] -> default
              | x :: _ -> x)
    (fun m -> match l with
              | [] -> default
              | _ :: t0 -> nth m t0 default)
    n0

(** val nth_error : 'a1 list -> int -> 'a1 option **)

let rec nth_error l n0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> match l with
              | [] -> None
              | x :: _ -> Some x)
    (fun n1 -> match l with
               | [] -> None
               | _ :: l0 -> nth_error l0 n1)
    n0

(** val last : 'a1 list -> 'a1 -> 'a1 **)

let rec last l d =
  match l with
  | [] -> d
  | a :: l0 -> (match l0 with
                | [] -> a
                | _ :: _ -> last l0 d)

(** val rev : 'a1 list -> 'a1 list **)

let rec rev = function
| [] -> []
| x :: l' -> app (rev l') (x :: [])

(** val concat : 'a1 list list -> 'a1 list **)

let rec concat = function
| [] -> []
| x :: l0 -> app x (concat l0)

(** val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let rec map f = function
| [] -> []
| a :: t0 -> (f a) :: (map f t0)

(** val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list **)

let rec flat_map f = function
| [] -> []
| x :: t0 -> app (f x) (flat_map f t0)

(** val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1 **)

let rec fold_left f l a0 =
  match l with
  | [] -> a0
  | b :: t0 -> fold_left f t0 (f a0 b)

(** val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1 **)

let rec fold_right f a0 = function
| [] -> a0
| b :: t0 -> f b (fold_right f a0 t0)

(** val existsb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec existsb f = function
| [] -> false
| a :: l0 -> (||) (f a) (existsb f l0)

(** val forallb : ('a1 -> bool) -> 'a1 list -> bool **)

let rec forallb f = function
| [] -> true
| a :: l0 -> (&&) (f a) (forallb f l0)

(** val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list **)

let rec filter f = function
| [] -> []
| x :: l0 -> if f x then x :: (filter f l0) else filter f l0

(** val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list **)

let rec combine l l' =
  match l with
  | [] -> []
  | x :: tl0 ->
    (match l' with
     | [] -> []
     | y :: tl' -> (x, y) :: (combine tl0 tl'))

(** val firstn : int -> 'a1 list -> 'a1 list **)

let rec firstn n0 l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun n1 -> match l with
               | [] -> []
               | a :: l0 -> a :: (firstn n1 l0))
    n0

(** val skipn : int -> 'a1 list -> 'a1 list **)

let rec skipn n0 l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> l)
    (fun n1 -> match l with
               | [] -> []
               | _ :: l0 -> skipn n1 l0)
    n0

(** val seq : int -> int -> int list **)

let rec seq start len =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun len0 -> start :: (seq (Stdlib.Int.succ start) len0))
    len

(** val repeat : 'a1 -> int -> 'a1 list **)

let rec repeat x n0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun k -> x :: (repeat x k))
    n0

type fraction = { numerator : Big_int_Z.big_int;
                  denominator : Big_int_Z.big_int }

type geometry =
| Euclidean
| Cosine of fraction
| RootedCosine of fraction
| InnerProduct of fraction option
| Softmax

type step =
| Scaled
| Added of fraction
| Multiplied of fraction
| Negation
| LogRatioOf of fraction * fraction
| ExpOf
| RootOf
| SquareOf
| ZeroBelow of fraction
| CutAt0
| ReciprocalOf of fraction
| FromPeak

type similarity =
| LogRatio of fraction
| ExpDistance of fraction
| Threshold of fraction
| Identity
| Negated
| Exponential
| Quadratic
| Rectified
| Steps of step list

type pooling =
| MaxPool
| MaskedMax of Big_int_Z.big_int list list
| TopMean of int
| MaxMinusMean
| MaxMinusMeanDistance

type readout =
| Linear
| SoftTree of Big_int_Z.big_int list * Big_int_Z.big_int list
| Maximum

type head = { depth : int; count : int; classes : int;
              head_geometry : geometry; head_similarity : similarity;
              head_pooling : pooling; head_readout : readout;
              coord_unit : Big_int_Z.big_int;
              prototypes : Big_int_Z.big_int list list;
              lower : Big_int_Z.big_int option;
              upper : Big_int_Z.big_int option;
              weight_unit : Big_int_Z.big_int;
              weight : Big_int_Z.big_int list list;
              bias : Big_int_Z.big_int list; scale_unit : Big_int_Z.big_int;
              scales : Big_int_Z.big_int list; peak_unit : Big_int_Z.big_int;
              peaks : Big_int_Z.big_int list }

(** val looks_at : Big_int_Z.big_int list -> int -> bool **)

let looks_at row0 l =
  Z.eqb
    (nth (Nat.min l (sub (length row0) (Stdlib.Int.succ 0))) row0
      Big_int_Z.zero_big_int) Big_int_Z.unit_big_int

type statement =
| AboutPatch of int * int * Big_int_Z.big_int option
   * Big_int_Z.big_int option
| AboutActivation of int * Big_int_Z.big_int option * Big_int_Z.big_int option
| AboutOthers of int list * Big_int_Z.big_int option
   * Big_int_Z.big_int option
| AboutSum of int list option * Big_int_Z.big_int

(** val lists : int list option -> int -> bool **)

let lists rivals r =
  match rivals with
  | Some listed0 -> existsb ((=) r) listed0
  | None -> true

type certificate = { predicted : int; patches : int;
                     statement_unit : Big_int_Z.big_int;
                     statements : statement list;
                     margin_unit : Big_int_Z.big_int;
                     margins : Big_int_Z.big_int list }

type image = { image_unit : Big_int_Z.big_int;
               rows : Big_int_Z.big_int list list }

(** val zdot :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec zdot u v =
  match u with
  | [] -> Big_int_Z.zero_big_int
  | a :: u' ->
    (match v with
     | [] -> Big_int_Z.zero_big_int
     | b :: v' -> Z.add (Z.mul a b) (zdot u' v'))

(** val zsum : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec zsum = function
| [] -> Big_int_Z.zero_big_int
| a :: u' -> Z.add a (zsum u')

(** val plus_times :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec plus_times bits p a =
  match p with
  | [] -> map (fun y -> Z.shiftl y bits) a
  | x :: p' ->
    (match a with
     | [] -> p
     | y :: a' -> (Z.add x (Z.shiftl y bits)) :: (plus_times bits p' a'))

(** val pack :
    Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int list **)

let rec pack bits = function
| [] -> []
| p :: ps' -> plus_times bits p (pack bits ps')

(** val two_by_two :
    Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int
    list list **)

let rec two_by_two bits ps = match ps with
| [] -> ps
| p :: l ->
  (match l with
   | [] -> ps
   | q :: ps' -> (plus_times bits p q) :: (two_by_two bits ps'))

(** val packed_by :
    int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list **)

let rec packed_by levels0 bits ps = match ps with
| [] -> []
| p :: l ->
  (match l with
   | [] -> p
   | _ :: _ ->
     ((fun fO fS n -> if n=0 then fO () else fS (n-1))
        (fun _ -> pack bits ps)
        (fun levels' ->
        packed_by levels'
          (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) bits)
          (two_by_two bits ps))
        levels0))

(** val number :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec number b = function
| [] -> Big_int_Z.zero_big_int
| x :: digits' -> Z.add x (Z.mul b (number b digits'))

(** val slice :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let slice = (fun x from size -> Big_int_Z.extract_big_int x (Big_int_Z.int_of_big_int from) (Big_int_Z.int_of_big_int size))

(** val digits_onto :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let digits_onto bits =
  let half =
    Z.shiftl Big_int_Z.unit_big_int (Z.sub bits Big_int_Z.unit_big_int)
  in
  let rec digits_onto0 levels0 width x rest =
    (fun fO fS n -> if n=0 then fO () else fS (n-1))
      (fun _ -> (Z.sub x half) :: rest)
      (fun levels' ->
      let width0 = Z.shiftr width Big_int_Z.unit_big_int in
      let high0 = Z.shiftr x width0 in
      digits_onto0 levels' width0 (Z.sub x (Z.shiftl high0 width0))
        (digits_onto0 levels' width0 high0 rest))
      levels0
  in digits_onto0

(** val zdot_onto :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int **)

let rec zdot_onto sum u v =
  match u with
  | [] -> sum
  | x :: u' ->
    (match v with
     | [] -> sum
     | y :: v' -> zdot_onto (Z.add sum (Z.mul x y)) u' v')

(** val levels : int **)

let levels =
  Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ 0)))))

(** val piece : int **)

let piece =
  Nat.pow (Stdlib.Int.succ (Stdlib.Int.succ 0)) levels

(** val pieces :
    int -> Big_int_Z.big_int list list -> Big_int_Z.big_int list list list **)

let rec pieces fuel ps =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun fuel' ->
    match ps with
    | [] -> []
    | _ :: _ -> (firstn piece ps) :: (pieces fuel' (skipn piece ps)))
    fuel

(** val packs :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int list list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list **)

let packs bits =
  let b = Z.shiftl Big_int_Z.unit_big_int bits in
  let half =
    Z.shiftl Big_int_Z.unit_big_int (Z.sub bits Big_int_Z.unit_big_int)
  in
  (fun fuel ps ->
  map (fun these -> ((number b (repeat half (length these))),
    (packed_by levels bits these))) (pieces fuel ps))

(** val row_of :
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int
    list -> Big_int_Z.big_int list **)

let row_of packed0 u =
  map (fun a -> zdot_onto Big_int_Z.zero_big_int u (snd a)) packed0

(** val add_row :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec add_row w row0 sum =
  match row0 with
  | [] -> []
  | x :: row' ->
    (match sum with
     | [] -> []
     | y :: sum' -> (Z.add (Z.mul w x) y) :: (add_row w row' sum'))

(** val mixed :
    Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec mixed ws rows0 zero0 =
  match ws with
  | [] -> zero0
  | w :: ws' ->
    (match rows0 with
     | [] -> zero0
     | row0 :: rows' ->
       if Z.eqb w Big_int_Z.zero_big_int
       then mixed ws' rows' zero0
       else add_row w row0 (mixed ws' rows' zero0))

(** val unpacked :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int
    list -> Big_int_Z.big_int list **)

let rec unpacked bits width packed0 row0 =
  match packed0 with
  | [] -> []
  | p :: packed' ->
    let (start, _) = p in
    (match row0 with
     | [] -> []
     | x :: row' ->
       digits_onto bits levels width (Z.add start x)
         (unpacked bits width packed' row'))

(** val digits_of :
    Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int list)
    list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let digits_of bits n0 packed0 row0 =
  firstn n0 (unpacked bits (Z.mul bits (Z.of_nat piece)) packed0 row0)

(** val started :
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int
    list -> Big_int_Z.big_int list **)

let rec started packed0 row0 =
  match packed0 with
  | [] -> []
  | p :: packed' ->
    let (start, _) = p in
    (match row0 with
     | [] -> []
     | x :: row' -> (Z.add start x) :: (started packed' row'))

(** val entries :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list **)

let entries bits =
  let half =
    Z.shiftl Big_int_Z.unit_big_int (Z.sub bits Big_int_Z.unit_big_int)
  in
  (fun k rows0 ->
  let place0 = Z.to_nat (Z.div (Z.of_nat k) (Z.of_nat piece)) in
  let r = sub k (mul place0 piece) in
  let from = Z.mul bits (Z.of_nat r) in
  map (fun row0 ->
    Z.sub (slice (nth place0 row0 Big_int_Z.zero_big_int) from bits) half)
    rows0)

(** val sizes : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec sizes = function
| [] -> Big_int_Z.zero_big_int
| w :: ws' -> Z.add (Z.abs w) (sizes ws')

(** val bits_for :
    Big_int_Z.big_int list list -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let bits_for rows0 most =
  Z.add
    (Z.log2
      (Z.mul most
        (fold_right (fun row0 m -> Z.max (sizes row0) m)
          Big_int_Z.zero_big_int rows0))) (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int)

(** val floor_div :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let floor_div =
  Z.div

(** val ceil_div :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let ceil_div a b =
  Z.opp (Z.div (Z.opp a) b)

(** val quotient_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let quotient_ends b n0 d =
  ((floor_div (Z.mul b n0) d), (ceil_div (Z.mul b n0) d))

(** val add_ends :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let add_ends e f =
  ((Z.add (fst e) (fst f)), (Z.add (snd e) (snd f)))

(** val opp_ends :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let opp_ends e =
  ((Z.opp (snd e)), (Z.opp (fst e)))

(** val sub_ends :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let sub_ends e f =
  ((Z.sub (fst e) (snd f)), (Z.sub (snd e) (fst f)))

(** val scale_ends :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let scale_ends k e =
  if Z.leb Big_int_Z.zero_big_int k
  then ((Z.mul k (fst e)), (Z.mul k (snd e)))
  else ((Z.mul k (snd e)), (Z.mul k (fst e)))

(** val mul_ends :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let mul_ends b e f =
  ((floor_div (Z.mul (fst e) (fst f)) b),
    (ceil_div (Z.mul (snd e) (snd f)) b))

(** val product_ends :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let product_ends b e f =
  let p = Z.mul (fst e) (fst f) in
  let q = Z.mul (fst e) (snd f) in
  let r = Z.mul (snd e) (fst f) in
  let s = Z.mul (snd e) (snd f) in
  ((floor_div (Z.min (Z.min p q) (Z.min r s)) b),
  (ceil_div (Z.max (Z.max p q) (Z.max r s)) b))

(** val max_ends :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let max_ends e f =
  ((Z.max (fst e) (fst f)), (Z.max (snd e) (snd f)))

(** val min_ends :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let min_ends e f =
  ((Z.min (fst e) (fst f)), (Z.min (snd e) (snd f)))

(** val inverse_ends :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let inverse_ends b e =
  ((floor_div (Z.mul b b) (snd e)), (ceil_div (Z.mul b b) (fst e)))

(** val rescale_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let rescale_ends w b e =
  ((floor_div (Z.mul (fst e) b) w), (ceil_div (Z.mul (snd e) b) w))

type ends = Big_int_Z.big_int option * Big_int_Z.big_int option

(** val anything : ends **)

let anything =
  (None, None)

type row = ends list

type table = row list

type box = (Big_int_Z.big_int * Big_int_Z.big_int) list

(** val observables_in_natural_range : head -> bool **)

let observables_in_natural_range h =
  match h.head_geometry with
  | Euclidean -> true
  | Cosine e -> Z.leb Big_int_Z.zero_big_int e.numerator
  | RootedCosine e -> Z.leb Big_int_Z.zero_big_int e.numerator
  | _ -> false

(** val activations_in_unit : head -> bool **)

let activations_in_unit h =
  match h.head_pooling with
  | MaxPool ->
    (match h.head_similarity with
     | ExpDistance _ -> true
     | Exponential ->
       (&&) (observables_in_natural_range h)
         (forallb (Z.leb Big_int_Z.zero_big_int) h.scales)
     | _ -> false)
  | _ -> false

(** val coefficients :
    Big_int_Z.big_int -> Big_int_Z.big_int -> int -> Big_int_Z.big_int list **)

let rec coefficients w i n0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun k ->
    (floor_div w
      (Z.add (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) i)
        Big_int_Z.unit_big_int)) :: (coefficients w
                                      (Z.add i Big_int_Z.unit_big_int) k))
    n0

(** val polynomial :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int **)

let rec polynomial w x = function
| [] -> Big_int_Z.zero_big_int
| c :: l' -> Z.add c (Z.shiftr (Z.mul x (polynomial w x l')) w)

(** val polynomial_slack : Big_int_Z.big_int -> int -> Big_int_Z.big_int **)

let rec polynomial_slack w n0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ ->
    Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) w))
    (fun k ->
    Z.add ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      Big_int_Z.unit_big_int))
      (Z.div (polynomial_slack w k) (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))))))))))
    n0

(** val atanh_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let atanh_ends w l s a b =
  let t0 = floor_div (Z.shiftl a w) b in
  let p =
    Z.shiftr
      (Z.mul (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) t0)
        (polynomial w (Z.shiftr (Z.mul t0 t0) w) l)) w
  in
  (p, (Z.add p s))

type logarithms = { log_bits : Big_int_Z.big_int;
                    log_series : Big_int_Z.big_int list;
                    log_slack : Big_int_Z.big_int;
                    log_table : (Big_int_Z.big_int * Big_int_Z.big_int) list;
                    log_of_2 : (Big_int_Z.big_int * Big_int_Z.big_int) }

(** val logs_from :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let rec logs_from w l s j n0 e =
  e :: ((fun fO fS n -> if n=0 then fO () else fS (n-1))
          (fun _ -> [])
          (fun k ->
          logs_from w l s (Z.add j Big_int_Z.unit_big_int) k
            (add_ends e
              (atanh_ends w l s Big_int_Z.unit_big_int
                (Z.add
                  (Z.mul (Big_int_Z.mult_int_big_int 2
                    Big_int_Z.unit_big_int) j) Big_int_Z.unit_big_int))))
          n0)

(** val logarithms_for : Big_int_Z.big_int -> int -> logarithms **)

let logarithms_for b terms0 =
  let w =
    Z.add (Z.log2 b) (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))
  in
  let n0 = Stdlib.Int.succ
    (Nat.div
      (add terms0 (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ 0))))
      (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
      0)))))
  in
  let l =
    coefficients
      (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) w)
      Big_int_Z.zero_big_int n0
  in
  let s =
    Z.add (Big_int_Z.mult_int_big_int 2
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      Big_int_Z.unit_big_int))
      (Z.div (polynomial_slack w n0) (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int))))))
  in
  let t0 =
    logs_from w l s (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      Big_int_Z.unit_big_int)))))
      (Z.to_nat (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))))
      (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)
  in
  { log_bits = w; log_series = l; log_slack = s; log_table = t0; log_of_2 =
  (nth
    (Z.to_nat (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))) t0
    (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)) }

(** val coarser :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let coarser w b e =
  ((Z.shiftr (Z.mul (fst e) b) w),
    (Z.opp (Z.shiftr (Z.opp (Z.mul (snd e) b)) w)))

(** val log_between :
    Big_int_Z.big_int -> logarithms -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let log_between b g k m e =
  let m0 =
    Z.mul (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))) m
  in
  let j = floor_div m0 e in
  (match if Z.leb (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
              (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))))) j
         then nth_error g.log_table
                (Z.to_nat
                  (Z.sub j (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2
                    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))))
         else None with
   | Some f ->
     let c = Z.mul j e in
     let near0 =
       atanh_ends g.log_bits g.log_series g.log_slack (Z.sub m0 c)
         (Z.add m0 c)
     in
     Some
     (coarser g.log_bits b
       (add_ends (scale_ends k g.log_of_2) (add_ends f near0)))
   | None -> None)

(** val shifted :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let shifted n0 d k =
  if Z.leb Big_int_Z.zero_big_int k
  then (n0, (Z.shiftl d k))
  else ((Z.shiftl n0 (Z.opp k)), d)

(** val log_ends :
    Big_int_Z.big_int -> logarithms -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let log_ends b g n0 d =
  if (&&) (Z.ltb Big_int_Z.zero_big_int n0) (Z.ltb Big_int_Z.zero_big_int d)
  then let k = Z.sub (Z.log2 n0) (Z.log2 d) in
       let me = shifted n0 d k in
       if Z.leb (snd me) (fst me)
       then log_between b g k (fst me) (snd me)
       else log_between b g (Z.sub k Big_int_Z.unit_big_int)
              (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                (fst me)) (snd me)
  else None

(** val kept : Big_int_Z.big_int list -> int -> 'a1 list -> 'a1 list **)

let rec kept row0 n0 = function
| [] -> []
| e :: c' ->
  ((fun fO fS n -> if n=0 then fO () else fS (n-1))
     (fun _ -> [])
     (fun k ->
     if looks_at row0 k then e :: (kept row0 k c') else kept row0 k c')
     n0)

(** val stacked : 'a1 list -> 'a1 list list -> 'a1 list list **)

let rec stacked r cols =
  match r with
  | [] -> []
  | e :: r' ->
    (match cols with
     | [] -> []
     | c :: cols' -> (e :: c) :: (stacked r' cols'))

(** val columns : int -> 'a1 list list -> 'a1 list list **)

let columns p t0 =
  fold_left (fun cols r -> stacked r cols) t0 (repeat [] p)

(** val all_some : 'a1 option list -> 'a1 list option **)

let rec all_some = function
| [] -> Some []
| o :: l' ->
  (match o with
   | Some x -> (match all_some l' with
                | Some s -> Some (x :: s)
                | None -> None)
   | None -> None)

(** val recall :
    ('a1 -> 'a1 -> bool) -> ('a1 * 'a2) option -> 'a1 -> 'a2 option **)

let recall same known x =
  match known with
  | Some p -> let (y, v) = p in if same x y then Some v else None
  | None -> None

(** val remembering :
    ('a1 -> 'a1 -> bool) -> ('a1 -> 'a2) -> ('a1 * 'a2) option -> ('a1 * 'a2)
    option -> 'a1 list -> 'a2 list **)

let rec remembering same f newer older = function
| [] -> []
| x :: l' ->
  (match recall same newer x with
   | Some v -> v :: (remembering same f newer older l')
   | None ->
     (match recall same older x with
      | Some v -> v :: (remembering same f older newer l')
      | None ->
        let v = f x in v :: (remembering same f (Some (x, v)) newer l')))

(** val map_remembering :
    ('a1 -> 'a1 -> bool) -> ('a1 -> 'a2) -> 'a1 list -> 'a2 list **)

let map_remembering same f l =
  remembering same f None None l

(** val same_end :
    Big_int_Z.big_int option -> Big_int_Z.big_int option -> bool **)

let same_end x y =
  match x with
  | Some a -> (match y with
               | Some b -> Z.eqb a b
               | None -> false)
  | None -> (match y with
             | Some _ -> false
             | None -> true)

(** val same_ends : ends -> ends -> bool **)

let same_ends x y =
  (&&) (same_end (fst x) (fst y)) (same_end (snd x) (snd y))

(** val raise :
    Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
    option **)

let raise a e =
  match a with
  | Some x -> (match e with
               | Some y -> Some (Z.max x y)
               | None -> Some x)
  | None -> e

(** val cut :
    Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
    option **)

let cut b e =
  match b with
  | Some x -> (match e with
               | Some y -> Some (Z.min x y)
               | None -> Some x)
  | None -> e

(** val meet : ends -> ends -> ends **)

let meet a e =
  ((raise (fst a) (fst e)), (cut (snd a) (snd e)))

(** val meet_at : int -> ends -> row -> row **)

let rec meet_at j a = function
| [] -> []
| e :: r' ->
  ((fun fO fS n -> if n=0 then fO () else fS (n-1))
     (fun _ -> (meet a e) :: r')
     (fun j' -> e :: (meet_at j' a r'))
     j)

(** val stated_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
    Big_int_Z.big_int option -> ends **)

let stated_ends u t0 lo hi =
  ((option_map (fun a -> floor_div (Z.mul t0 a) u) lo),
    (option_map (fun b -> ceil_div (Z.mul t0 b) u) hi))

(** val meet_statements :
    Big_int_Z.big_int -> Big_int_Z.big_int -> (int * (Big_int_Z.big_int
    option * Big_int_Z.big_int option)) list -> row -> row **)

let rec meet_statements u t0 here r =
  match here with
  | [] -> r
  | s :: here' ->
    meet_at (fst s) (stated_ends u t0 (fst (snd s)) (snd (snd s)))
      (meet_statements u t0 here' r)

(** val rise :
    int -> (int * (Big_int_Z.big_int option * Big_int_Z.big_int option)) list
    -> bool **)

let rec rise k = function
| [] -> true
| s :: here' ->
  (&&) (Nat.leb k (fst s)) (rise (Stdlib.Int.succ (fst s)) here')

(** val meet_rising :
    Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
    (int * (Big_int_Z.big_int option * Big_int_Z.big_int option)) list -> row
    -> row **)

let rec meet_rising u t0 k here r =
  match here with
  | [] -> r
  | s :: here' ->
    (match r with
     | [] -> r
     | e :: r' ->
       if (=) (fst s) k
       then (meet (stated_ends u t0 (fst (snd s)) (snd (snd s))) e) :: 
              (meet_rising u t0 (Stdlib.Int.succ k) here' r')
       else e :: (meet_rising u t0 (Stdlib.Int.succ k) here r'))

(** val meet_stated :
    Big_int_Z.big_int -> Big_int_Z.big_int -> (int * (Big_int_Z.big_int
    option * Big_int_Z.big_int option)) list -> row -> row **)

let meet_stated u t0 here r =
  if rise 0 here
  then meet_rising u t0 0 here r
  else meet_statements u t0 here r

(** val root_floor : Big_int_Z.big_int -> Big_int_Z.big_int **)

let root_floor =
  Z.sqrt

(** val root_ceil : Big_int_Z.big_int -> Big_int_Z.big_int **)

let root_ceil n0 =
  let r = Z.sqrt n0 in
  if Z.eqb (Z.mul r r) n0 then r else Z.add r Big_int_Z.unit_big_int

(** val coarse_root : Big_int_Z.big_int -> Big_int_Z.big_int **)

let coarse_root n0 =
  if Z.leb n0 Big_int_Z.zero_big_int
  then Big_int_Z.zero_big_int
  else Z.shiftl Big_int_Z.unit_big_int
         (Z.add (Z.shiftr (Z.log2 n0) Big_int_Z.unit_big_int)
           Big_int_Z.unit_big_int)

(** val root_of_ends :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let root_of_ends b e =
  ((root_floor (Z.mul b (fst e))), (root_ceil (Z.mul b (snd e))))

(** val root_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let root_ends b n0 d =
  if (&&) (Z.leb Big_int_Z.zero_big_int n0) (Z.ltb Big_int_Z.zero_big_int d)
  then Some ((root_floor (floor_div (Z.mul (Z.mul b b) n0) d)),
         (root_ceil (ceil_div (Z.mul (Z.mul b b) n0) d)))
  else None

type fact = { curve : Big_int_Z.big_int; low : Big_int_Z.big_int option;
              high : Big_int_Z.big_int option }

(** val weigh :
    Big_int_Z.big_int list -> fact list -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let rec weigh ws facts a c =
  match ws with
  | [] -> Some (a, c)
  | w :: ws' ->
    (match facts with
     | [] -> Some (a, c)
     | f :: facts' ->
       if Z.eqb w Big_int_Z.zero_big_int
       then weigh ws' facts' a c
       else (match if Z.ltb Big_int_Z.zero_big_int w then f.high else f.low with
             | Some c0 ->
               weigh ws' facts' (Z.add a (Z.mul w f.curve))
                 (Z.add c (Z.mul w c0))
             | None -> None))

(** val square_of :
    Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int **)

let rec square_of ws rows0 =
  match ws with
  | [] -> Big_int_Z.zero_big_int
  | w :: ws' ->
    (match rows0 with
     | [] -> Big_int_Z.zero_big_int
     | l :: rows' ->
       (match l with
        | [] -> Big_int_Z.zero_big_int
        | own0 :: others0 ->
          if Z.eqb w Big_int_Z.zero_big_int
          then square_of ws' rows'
          else Z.add
                 (Z.mul w
                   (Z.add (Z.mul w own0)
                     (Z.mul (Big_int_Z.mult_int_big_int 2
                       Big_int_Z.unit_big_int) (zdot ws' others0))))
                 (square_of ws' rows')))

(** val least_value :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let least_value f a c qQ =
  if Z.ltb Big_int_Z.zero_big_int a
  then Some ((Z.sub (Z.mul a c) (Z.mul f qQ)), a)
  else if (&&) (Z.eqb a Big_int_Z.zero_big_int)
            (Z.eqb qQ Big_int_Z.zero_big_int)
       then Some (c, Big_int_Z.unit_big_int)
       else None

(** val bound_of :
    Big_int_Z.big_int -> fact list -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int -> Big_int_Z.big_int list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let bound_of f facts sum a c square0 column w ws =
  match weigh ws facts (Z.mul w a) (Z.mul w c) with
  | Some p ->
    let (a0, c0) = p in
    least_value f a0 c0
      (Z.add
        (Z.mul w
          (Z.add (Z.mul w square0)
            (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
              (zdot ws column)))) sum)
  | None -> None

(** val fine : Big_int_Z.big_int **)

let fine =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))))

(** val unit_of : head -> Big_int_Z.big_int **)

let unit_of h =
  h.coord_unit

(** val points : head -> int -> Big_int_Z.big_int list **)

let points h j =
  nth j h.prototypes []

(** val curvature : head -> Big_int_Z.big_int **)

let curvature h =
  match h.head_geometry with
  | Euclidean -> Big_int_Z.unit_big_int
  | _ -> Big_int_Z.zero_big_int

(** val constant :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let constant h f square0 =
  match h.head_geometry with
  | Euclidean -> Z.mul f square0
  | _ -> Big_int_Z.zero_big_int

(** val slope : head -> Big_int_Z.big_int **)

let slope h =
  match h.head_geometry with
  | Euclidean -> Z.mul (unit_of h) (unit_of h)
  | Cosine _ ->
    Z.mul (Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
      Big_int_Z.unit_big_int)) (unit_of h)
  | RootedCosine _ ->
    Z.mul (Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
      Big_int_Z.unit_big_int)) (unit_of h)
  | _ ->
    Z.mul (Big_int_Z.minus_big_int (Big_int_Z.mult_int_big_int 2
      Big_int_Z.unit_big_int)) (Z.mul (unit_of h) (unit_of h))

(** val spatial : head -> bool **)

let spatial h =
  match h.head_geometry with
  | Cosine e -> Z.leb Big_int_Z.zero_big_int e.numerator
  | RootedCosine e -> Z.leb Big_int_Z.zero_big_int e.numerator
  | Softmax -> false
  | _ -> true

(** val ball : head -> fraction option **)

let ball h =
  match h.head_geometry with
  | Euclidean -> None
  | InnerProduct r -> r
  | Softmax -> None
  | _ ->
    Some { numerator = Big_int_Z.unit_big_int; denominator =
      Big_int_Z.unit_big_int }

(** val edges : head -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let edges h =
  match h.head_geometry with
  | Euclidean ->
    (match h.lower with
     | Some a -> (match h.upper with
                  | Some b -> Some (a, b)
                  | None -> None)
     | None -> None)
  | InnerProduct _ ->
    (match h.lower with
     | Some a -> (match h.upper with
                  | Some b -> Some (a, b)
                  | None -> None)
     | None -> None)
  | _ -> None

type measure = { square : Big_int_Z.big_int; total : Big_int_Z.big_int;
                 near : Big_int_Z.big_int; far : Big_int_Z.big_int }

(** val root_unit : head -> Big_int_Z.big_int **)

let root_unit h =
  match h.head_geometry with
  | Cosine _ -> fine
  | RootedCosine _ -> fine
  | _ -> Big_int_Z.unit_big_int

(** val measure_of : head -> Big_int_Z.big_int list -> measure **)

let measure_of h p =
  let s = zdot p p in
  (match h.head_geometry with
   | Cosine _ ->
     let scaled0 = Z.mul (Z.mul (root_unit h) (root_unit h)) s in
     { square = s; total = (zsum p); near = (root_floor scaled0); far =
     (root_ceil scaled0) }
   | RootedCosine _ ->
     let scaled0 = Z.mul (Z.mul (root_unit h) (root_unit h)) s in
     { square = s; total = (zsum p); near = (root_floor scaled0); far =
     (root_ceil scaled0) }
   | _ ->
     { square = s; total = (zsum p); near = Big_int_Z.unit_big_int; far =
       Big_int_Z.unit_big_int })

(** val measures : head -> measure list option **)

let measures h =
  let ms = map (measure_of h) h.prototypes in
  if (&&)
       ((&&) ((&&) (spatial h) ((=) (length ms) h.count))
         (forallb (fun p -> (=) (length p) h.depth) h.prototypes))
       (forallb (fun m -> Z.ltb Big_int_Z.zero_big_int m.near) ms)
  then Some ms
  else None

(** val walk : 'a1 -> 'a1 list -> int -> int list -> 'a1 list -> 'a1 list **)

let rec walk d whole0 at_ js rest =
  match js with
  | [] -> []
  | j :: js' ->
    if Nat.leb at_ j
    then let here = skipn (sub j at_) rest in
         (hd d here) :: (walk d whole0 j js' here)
    else (nth j whole0 d) :: (walk d whole0 at_ js' rest)

(** val nths : 'a1 -> int list -> 'a1 list -> 'a1 list **)

let nths d js l =
  walk d l 0 js l

(** val map_three :
    ('a1 -> 'a2 -> 'a3 -> 'a4) -> 'a1 list -> 'a2 list -> 'a3 list -> 'a4 list **)

let rec map_three f l m n0 =
  match l with
  | [] -> []
  | x :: l' ->
    (match m with
     | [] -> []
     | y :: m' ->
       (match n0 with
        | [] -> []
        | z0 :: n' -> (f x y z0) :: (map_three f l' m' n')))

(** val room : Big_int_Z.big_int **)

let room =
  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    Big_int_Z.unit_big_int)))))

(** val square_bits : measure list -> Big_int_Z.big_int **)

let square_bits ms =
  Z.add
    (Z.log2
      (fold_right (fun m x -> Z.max m.square x) Big_int_Z.zero_big_int ms))
    Big_int_Z.unit_big_int

(** val digit_bits : measure list -> Big_int_Z.big_int **)

let digit_bits ms =
  Z.add (Z.add (square_bits ms) room) Big_int_Z.unit_big_int

(** val packed_prototypes :
    head -> measure list -> (Big_int_Z.big_int * Big_int_Z.big_int list) list **)

let packed_prototypes h ms =
  packs (digit_bits ms) (length h.prototypes) h.prototypes

(** val no_rows : head -> Big_int_Z.big_int list list **)

let no_rows h =
  map (fun _ -> []) h.prototypes

(** val more_rows :
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> (int -> bool) -> int
    -> Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list list **)

let rec more_rows packed0 wanted j ps known =
  match ps with
  | [] -> []
  | p :: ps' ->
    (match known with
     | [] -> []
     | row0 :: known' ->
       (match row0 with
        | [] -> if wanted j then row_of packed0 p else []
        | _ :: _ -> row0) :: (more_rows packed0 wanted (Stdlib.Int.succ j)
                               ps' known'))

(** val corner :
    head -> Big_int_Z.big_int list -> Big_int_Z.big_int list list **)

let rec corner h ks = match ks with
| [] -> []
| k :: ks' ->
  (map (fun k' -> Z.mul (Z.mul (Z.of_nat h.depth) k) k') ks) :: (corner h ks')

(** val triangle :
    head -> Big_int_Z.big_int -> int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list list **)

let rec triangle h bits js totals rows0 ks =
  match js with
  | [] -> corner h ks
  | j :: js' ->
    (match totals with
     | [] -> corner h ks
     | t0 :: totals' ->
       (match rows0 with
        | [] -> corner h ks
        | _ :: rows' ->
          (app (entries bits j rows0) (map (Z.mul t0) ks)) :: (triangle h
                                                                bits js'
                                                                totals' rows'
                                                                ks)))

(** val all_given :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list option **)

let rec all_given = function
| [] -> Some []
| row0 :: rows' ->
  (match row0 with
   | [] -> None
   | _ :: _ ->
     (match all_given rows' with
      | Some given -> Some (row0 :: given)
      | None -> None))

(** val rows_found :
    Big_int_Z.big_int list list -> int list -> Big_int_Z.big_int list list
    option **)

let rows_found g js =
  all_given (nths [] js g)

(** val common :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int **)

let common u t0 =
  let k = Z.div t0 u in
  if Z.eqb t0 (Z.mul u k)
  then ((t0, k), Big_int_Z.unit_big_int)
  else let k0 = Z.div u t0 in
       if Z.eqb u (Z.mul t0 k0)
       then ((u, Big_int_Z.unit_big_int), k0)
       else (((Z.mul u t0), t0), u)

(** val with_domain :
    Big_int_Z.big_int -> Big_int_Z.big_int -> (Big_int_Z.big_int
    option * Big_int_Z.big_int option) -> ends -> ends **)

let with_domain fu ft e own0 =
  let either0 = fun stated given ->
    match stated with
    | Some a -> Some (Z.mul fu a)
    | None -> option_map (Z.mul ft) given
  in
  ((either0 (fst e) (fst own0)), (either0 (snd e) (snd own0)))

(** val times_down :
    head -> measure -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let times_down h m x =
  floor_div
    (Z.mul x (if Z.leb Big_int_Z.zero_big_int x then m.near else m.far))
    (root_unit h)

(** val times_up :
    head -> measure -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let times_up h m x =
  Z.opp (times_down h m (Z.opp x))

(** val over_down :
    head -> measure -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let over_down h m x d =
  floor_div (Z.mul x (root_unit h))
    (Z.mul d (if Z.leb Big_int_Z.zero_big_int x then m.far else m.near))

(** val stated_fact : head -> Big_int_Z.big_int -> measure -> ends -> fact **)

let stated_fact h f m e =
  let c = constant h f m.square in
  let (a, b) =
    if Z.ltb Big_int_Z.zero_big_int (slope h) then e else ((snd e), (fst e))
  in
  { curve = (curvature h); low =
  (option_map (fun a0 -> Z.add c (times_up h m (Z.mul (Z.opp (slope h)) a0)))
    a); high =
  (option_map (fun b0 ->
    Z.add c (times_down h m (Z.mul (Z.opp (slope h)) b0))) b) }

(** val domain_facts :
    head -> Big_int_Z.big_int -> (Big_int_Z.big_int * fact) list **)

let domain_facts h f =
  app
    (match edges h with
     | Some p ->
       let (a, b) = p in
       ((Z.add a b), { curve = (Big_int_Z.mult_int_big_int 2
       Big_int_Z.unit_big_int); low = None; high = (Some
       (Z.mul
         (Z.mul
           (Z.mul
             (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) f)
             (Z.of_nat h.depth)) a) b)) }) :: []
     | None -> [])
    (match ball h with
     | Some r ->
       (Big_int_Z.zero_big_int, { curve =
         (Z.mul r.denominator r.denominator); low = None; high = (Some
         (Z.opp
           (Z.mul (Z.mul f (Z.mul (unit_of h) (unit_of h)))
             (Z.mul r.numerator r.numerator)))) }) :: []
     | None -> [])

(** val stated_at :
    int -> statement list -> (int * (Big_int_Z.big_int
    option * Big_int_Z.big_int option)) list **)

let rec stated_at l = function
| [] -> []
| s :: ss' ->
  (match s with
   | AboutPatch (k, j, lo, hi) ->
     if (=) k l then (j, (lo, hi)) :: (stated_at l ss') else stated_at l ss'
   | _ -> stated_at l ss')

type claim =
| Unclaimed
| AtLeast of Big_int_Z.big_int
| AtMost of Big_int_Z.big_int

type goal =
| Open
| Low of Big_int_Z.big_int * Big_int_Z.big_int * Big_int_Z.big_int
| High of Big_int_Z.big_int * Big_int_Z.big_int * Big_int_Z.big_int

(** val product_slope : head -> Big_int_Z.big_int **)

let product_slope h =
  match h.head_geometry with
  | Cosine _ -> unit_of h
  | RootedCosine _ -> unit_of h
  | _ -> Z.mul (unit_of h) (unit_of h)

(** val goal_of :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> measure -> claim -> goal **)

let goal_of h t0 a m = function
| Unclaimed -> Open
| AtLeast e ->
  (match h.head_geometry with
   | Euclidean ->
     Low (e, (Z.mul (Z.mul a a) m.square),
       (root_ceil
         (Z.max Big_int_Z.zero_big_int
           (ceil_div
             (Z.mul (Z.mul (Z.mul a a) (Z.mul (unit_of h) (unit_of h))) e) t0))))
   | _ ->
     Low (e, (root_ceil m.square),
       (floor_div
         (times_down h m (Z.opp (Z.mul (Z.mul a (product_slope h)) e))) t0)))
| AtMost e ->
  (match h.head_geometry with
   | Euclidean ->
     if Z.leb Big_int_Z.zero_big_int e
     then High (e, (Z.mul (Z.mul a a) m.square),
            (root_floor
              (floor_div
                (Z.mul (Z.mul (Z.mul a a) (Z.mul (unit_of h) (unit_of h))) e)
                t0)))
     else Open
   | _ ->
     High (e, (root_ceil m.square),
       (floor_div (times_down h m (Z.mul (Z.mul a (product_slope h)) e)) t0)))

(** val radius :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int **)

let radius a f c qQ =
  root_ceil
    (Z.max Big_int_Z.zero_big_int
      (ceil_div (Z.sub (Z.mul f qQ) (Z.mul a c)) f))

(** val low_follows :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let low_follows h a r qQ a0 b x =
  match h.head_geometry with
  | Euclidean ->
    Z.leb (Z.mul (Z.add b r) (Z.add b r))
      (Z.add
        (Z.sub a0
          (Z.mul
            (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) a) x))
        qQ)
  | _ -> Z.leb (Z.sub (Z.mul r a0) x) b

(** val high_follows :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let high_follows h a r qQ a0 b x =
  match h.head_geometry with
  | Euclidean ->
    (&&) (Z.leb r b)
      (Z.leb
        (Z.add
          (Z.sub a0
            (Z.mul
              (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) a)
              x)) qQ) (Z.mul (Z.sub b r) (Z.sub b r)))
  | _ -> Z.leb (Z.add (Z.mul r a0) x) b

(** val settled :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    goal -> Big_int_Z.big_int -> ends -> ends **)

let settled h a r qQ g x e =
  match g with
  | Open -> e
  | Low (v, a0, b) ->
    if low_follows h a r qQ a0 b x
    then ((raise (Some v) (fst e)), (snd e))
    else e
  | High (v, a0, b) ->
    if high_follows h a r qQ a0 b x
    then ((fst e), (cut (Some v) (snd e)))
    else e

(** val settle :
    (goal -> Big_int_Z.big_int -> ends -> ends) -> goal list ->
    Big_int_Z.big_int list -> row -> row **)

let rec settle step0 goals xs r =
  match goals with
  | [] -> r
  | g :: goals' ->
    (match xs with
     | [] -> r
     | x :: xs' ->
       (match r with
        | [] -> r
        | e :: r' -> (step0 g x e) :: (settle step0 goals' xs' r')))

(** val claimed :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> measure list -> claim
    list -> goal list **)

let rec claimed h t0 a ms cs =
  match ms with
  | [] -> []
  | m :: ms' ->
    (match cs with
     | [] -> []
     | c :: cs' -> (goal_of h t0 a m c) :: (claimed h t0 a ms' cs'))

(** val doubled :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list **)

let doubled rows0 =
  map (fun row0 ->
    match row0 with
    | [] -> []
    | own0 :: others0 ->
      own0 :: (map
                (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
                others0)) rows0

(** val largest : Big_int_Z.big_int list list -> Big_int_Z.big_int **)

let largest rows0 =
  fold_right (fun row0 m ->
    fold_right (fun x m0 -> Z.max (Z.abs x) m0) m row0)
    Big_int_Z.zero_big_int rows0

(** val met_by :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec met_by lines packed0 =
  match lines with
  | [] -> []
  | line :: lines' ->
    (zdot_onto Big_int_Z.zero_big_int line packed0) :: (met_by lines'
                                                         (tl packed0))

(** val weighed :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int **)

let rec weighed bits half from sum total2 ws numbers0 =
  match ws with
  | [] -> Z.sub sum (Z.mul half total2)
  | w :: ws' ->
    (match numbers0 with
     | [] -> Z.sub sum (Z.mul half total2)
     | number0 :: numbers' ->
       weighed bits half from (Z.add sum (Z.mul w (slice number0 from bits)))
         (Z.add total2 w) ws' numbers')

(** val each_weighed :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec each_weighed bits half from wss numbers0 =
  match wss with
  | [] -> []
  | ws :: wss' ->
    (weighed bits half from Big_int_Z.zero_big_int Big_int_Z.zero_big_int ws
      numbers0) :: (each_weighed bits half (Z.add from bits) wss' numbers0)

(** val squares_of_piece :
    Big_int_Z.big_int list list -> Big_int_Z.big_int -> Big_int_Z.big_int
    list list -> Big_int_Z.big_int list **)

let squares_of_piece lines most wss =
  let bits = bits_for wss most in
  let half =
    Z.shiftl Big_int_Z.unit_big_int (Z.sub bits Big_int_Z.unit_big_int)
  in
  let start =
    number (Z.shiftl Big_int_Z.unit_big_int bits) (repeat half (length wss))
  in
  each_weighed bits half Big_int_Z.zero_big_int wss
    (map (Z.add start) (met_by lines (packed_by levels bits wss)))

(** val squares :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list **)

let squares rows0 wss =
  let lines = doubled rows0 in
  let most = largest lines in
  flat_map (squares_of_piece lines most) (pieces (length wss) wss)

(** val plus_sizes :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec plus_sizes xs ts =
  match xs with
  | [] -> ts
  | x :: xs' ->
    (match ts with
     | [] -> ts
     | t0 :: ts' -> (Z.add (Z.abs x) t0) :: (plus_sizes xs' ts'))

(** val row_sizes : Big_int_Z.big_int list list -> Big_int_Z.big_int list **)

let rec row_sizes = function
| [] -> []
| l :: rows' ->
  (match l with
   | [] -> []
   | own0 :: others0 ->
     (Z.add own0 (sizes others0)) :: (plus_sizes others0 (row_sizes rows')))

(** val greatest_size : Big_int_Z.big_int list list -> Big_int_Z.big_int **)

let greatest_size rows0 =
  fold_right Z.max Big_int_Z.zero_big_int (row_sizes rows0)

(** val left_over :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int **)

let left_over mu top0 =
  let whole0 = Z.mul mu mu in
  let kept0 =
    Z.sub (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) mu)
      top0
  in
  (fun square0 squares0 ->
  Z.sub (Z.mul whole0 square0) (Z.mul kept0 squares0))

(** val leeway :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let leeway mu most left alpha many squares0 =
  ceil_div
    (Z.add (root_ceil (Z.mul most left))
      (Z.mul alpha (coarse_root (Z.mul (Z.of_nat many) squares0)))) mu

(** val twice_below :
    fact list -> Big_int_Z.big_int list -> Big_int_Z.big_int option **)

let twice_below facts s =
  match weigh s facts Big_int_Z.zero_big_int Big_int_Z.zero_big_int with
  | Some p ->
    let (a, c) = p in if Z.eqb a Big_int_Z.zero_big_int then Some c else None
  | None -> None

(** val off_centre :
    Big_int_Z.big_int -> Big_int_Z.big_int -> fact list -> Big_int_Z.big_int
    list -> Big_int_Z.big_int -> Big_int_Z.big_int option **)

let off_centre f a facts s c =
  match twice_below facts s with
  | Some a0 ->
    (match twice_below facts (map Z.opp s) with
     | Some b ->
       Some
         (ceil_div
           (Z.max
             (Z.sub
               (Z.mul
                 (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                   f) c) (Z.mul a a0))
             (Z.sub (Z.opp (Z.mul a b))
               (Z.mul
                 (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                   f) c)))
           (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) f))
     | None -> None)
  | None -> None

(** val farthest :
    Big_int_Z.big_int -> Big_int_Z.big_int -> fact list -> Big_int_Z.big_int
    list list -> Big_int_Z.big_int list -> Big_int_Z.big_int option **)

let rec farthest f a facts ss cs =
  match ss with
  | [] -> Some Big_int_Z.zero_big_int
  | s :: ss' ->
    (match cs with
     | [] -> None
     | c :: cs' ->
       (match off_centre f a facts s c with
        | Some a0 ->
          (match farthest f a facts ss' cs' with
           | Some b -> Some (Z.max a0 b)
           | None -> None)
        | None -> None))

(** val crossed :
    Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list list **)

let rec crossed ss ts =
  match ss with
  | [] -> []
  | _ :: ss' ->
    (match ts with
     | [] -> []
     | t0 :: ts' -> (map (fun s' -> zdot s' t0) ss) :: (crossed ss' ts'))

(** val target_square :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> measure ->
    Big_int_Z.big_int -> Big_int_Z.big_int **)

let target_square h a qQ =
  match h.head_geometry with
  | Euclidean ->
    let whole0 = Z.mul a a in
    let twice = Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) a
    in
    (fun m x -> Z.add (Z.sub (Z.mul whole0 m.square) (Z.mul twice x)) qQ)
  | _ -> (fun m _ -> m.square)

(** val less_centre :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec less_centre a ts cs =
  match ts with
  | [] -> []
  | t0 :: ts' ->
    (match cs with
     | [] -> []
     | c :: cs' -> (Z.sub (Z.mul a t0) c) :: (less_centre a ts' cs'))

(** val target_products :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list -> Big_int_Z.big_int list **)

let target_products h a ts cs =
  match h.head_geometry with
  | Euclidean -> less_centre a ts cs
  | _ -> ts

(** val ends_from :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> measure -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> ends **)

let ends_from h t0 a least most =
  match h.head_geometry with
  | Euclidean ->
    let unit0 = Z.mul (Z.mul a a) (Z.mul (unit_of h) (unit_of h)) in
    (fun _ _ square0 w -> ((Some
    (floor_div
      (Z.mul t0
        (Z.sub (Z.add least square0)
          (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) w)))
      unit0)), (Some
    (ceil_div
      (Z.mul t0
        (Z.add (Z.add most square0)
          (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) w)))
      unit0))))
  | _ ->
    let d = Z.mul a (product_slope h) in
    (fun m x _ w -> ((Some (over_down h m (Z.mul t0 (Z.sub x w)) d)), (Some
    (Z.opp (over_down h m (Z.mul t0 (Z.sub (Z.opp x) w)) d)))))

type weights = Big_int_Z.big_int * Big_int_Z.big_int list

type hint = { for_low : weights option; for_high : weights option }

type patch_hints = { centre : Big_int_Z.big_int list;
                     square_length : Big_int_Z.big_int;
                     directions : Big_int_Z.big_int list list;
                     sharpened : int list; targets : (int * hint) list }

type squared = weights * Big_int_Z.big_int

(** val given_weights : weights option -> Big_int_Z.big_int list list **)

let given_weights = function
| Some w -> let (_, ws) = w in ws :: []
| None -> []

(** val weights_in : (int * hint) list -> Big_int_Z.big_int list list **)

let weights_in hints0 =
  flat_map (fun x ->
    app (given_weights (snd x).for_low) (given_weights (snd x).for_high))
    hints0

(** val with_square :
    weights option -> Big_int_Z.big_int list -> squared
    option * Big_int_Z.big_int list **)

let with_square x squares0 =
  match x with
  | Some given ->
    (match squares0 with
     | [] -> (None, squares0)
     | s :: squares' -> ((Some (given, s)), squares'))
  | None -> (None, squares0)

(** val with_squares :
    (int * hint) list -> Big_int_Z.big_int list -> (int * (squared
    option * squared option)) list **)

let rec with_squares hints0 squares0 =
  match hints0 with
  | [] -> []
  | p :: hints' ->
    let (gap0, x) = p in
    let (low0, squares1) = with_square x.for_low squares0 in
    let (high0, squares2) = with_square x.for_high squares1 in
    (gap0, (low0, high0)) :: (with_squares hints' squares2)

(** val turn : head -> Big_int_Z.big_int **)

let turn h =
  match h.head_geometry with
  | Euclidean -> Big_int_Z.unit_big_int
  | _ -> Big_int_Z.minus_big_int Big_int_Z.unit_big_int

(** val step_of : head -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let step_of h ft =
  Z.mul ft (Z.mul (turn h) (slope h))

(** val reach :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> fact list ->
    Big_int_Z.big_int -> measure -> Big_int_Z.big_int list -> squared option
    -> Big_int_Z.big_int option **)

let reach h f step0 facts sign m column = function
| Some s0 ->
  let (w0, s) = s0 in
  let (w, ws) = w0 in
  if Z.ltb Big_int_Z.zero_big_int w
  then (match bound_of f facts s (curvature h) (constant h f m.square)
                m.square column (Z.mul (Z.mul sign (turn h)) w) ws with
        | Some p ->
          let (num, den) = p in
          Some (over_down h m num (Z.mul (Z.mul den w) step0))
        | None -> None)
  else None
| None -> None

(** val narrow :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> fact list ->
    Big_int_Z.big_int list -> (int -> Big_int_Z.big_int list) -> (squared
    option * squared option) -> measure -> int -> ends -> ends **)

let narrow h f step0 facts ks products0 x m k e =
  let (a, b) = x in
  (match a with
   | Some _ ->
     let column = app (products0 k) (map (Z.mul m.total) ks) in
     ((raise (reach h f step0 facts Big_int_Z.unit_big_int m column a)
        (fst e)),
     (cut
       (option_map Z.opp
         (reach h f step0 facts (Big_int_Z.minus_big_int
           Big_int_Z.unit_big_int) m column b)) (snd e)))
   | None ->
     (match b with
      | Some _ ->
        let column = app (products0 k) (map (Z.mul m.total) ks) in
        ((raise (reach h f step0 facts Big_int_Z.unit_big_int m column a)
           (fst e)),
        (cut
          (option_map Z.opp
            (reach h f step0 facts (Big_int_Z.minus_big_int
              Big_int_Z.unit_big_int) m column b)) (snd e)))
      | None -> e))

(** val refine :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> fact list ->
    Big_int_Z.big_int list -> (int -> Big_int_Z.big_int list) ->
    (int * (squared option * squared option)) list -> int -> measure list ->
    row -> row **)

let rec refine h f step0 facts ks products0 hints0 k ms r =
  match hints0 with
  | [] -> r
  | p :: hints' ->
    let (gap0, x) = p in
    (match skipn gap0 ms with
     | [] -> r
     | m :: ms' ->
       (match skipn gap0 r with
        | [] -> r
        | e :: r' ->
          let k' = add k gap0 in
          app (firstn gap0 r)
            ((narrow h f step0 facts ks products0 x m k' e) :: (refine h f
                                                                 step0 facts
                                                                 ks products0
                                                                 hints'
                                                                 (Stdlib.Int.succ
                                                                 k') ms' r'))))

(** val stated_prototypes : certificate -> int list **)

let stated_prototypes c =
  flat_map (fun s ->
    match s with
    | AboutPatch (_, j, _, _) -> j :: []
    | _ -> []) c.statements

(** val no_measure : measure **)

let no_measure =
  { square = Big_int_Z.zero_big_int; total = Big_int_Z.zero_big_int; near =
    Big_int_Z.unit_big_int; far = Big_int_Z.unit_big_int }

(** val sums_of :
    head -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int list)
    list -> Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list **)

let sums_of h bits packed0 shares rows0 =
  digits_of bits (length h.prototypes) packed0
    (mixed shares rows0 (map (fun _ -> Big_int_Z.zero_big_int) packed0))

(** val plus_totals :
    Big_int_Z.big_int -> measure list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let rec plus_totals t0 ms xs =
  match ms with
  | [] -> []
  | m :: ms' ->
    (match xs with
     | [] -> []
     | x :: xs' -> (Z.add x (Z.mul t0 m.total)) :: (plus_totals t0 ms' xs'))

type foot = { middles : Big_int_Z.big_int list;
              foot_square : Big_int_Z.big_int; constant_of : Big_int_Z.big_int }

(** val ball_of :
    head -> measure list -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int ->
    int list -> Big_int_Z.big_int list list -> fact list -> Big_int_Z.big_int
    list list -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> foot
    option **)

let ball_of h ms bits packed0 a js rows' facts rows0 ks ws =
  let shares = firstn (length js) ws in
  (match weigh ws facts Big_int_Z.zero_big_int Big_int_Z.zero_big_int with
   | Some p ->
     let (a', c) = p in
     if (&&) ((&&) (Z.eqb a' a) (Z.ltb Big_int_Z.zero_big_int a))
          (Z.leb (sizes shares)
            (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) room))
     then let t0 = zdot (skipn (length js) ws) ks in
          let xs = sums_of h bits packed0 shares rows' in
          Some { middles =
          (if Z.eqb t0 Big_int_Z.zero_big_int
           then xs
           else plus_totals t0 ms xs); foot_square = (square_of ws rows0);
          constant_of = c }
     else None
   | None -> None)

(** val by_ball :
    head -> Big_int_Z.big_int -> goal list -> Big_int_Z.big_int -> foot ->
    row -> row **)

let by_ball h a goals f b r =
  settle (settled h a (radius a f b.constant_of b.foot_square) b.foot_square)
    goals b.middles r

(** val greatest_off :
    Big_int_Z.big_int -> Big_int_Z.big_int -> foot -> Big_int_Z.big_int **)

let greatest_off a f b =
  Z.max Big_int_Z.zero_big_int
    (ceil_div (Z.sub (Z.mul f b.foot_square) (Z.mul a b.constant_of)) f)

(** val least_off :
    Big_int_Z.big_int -> Big_int_Z.big_int -> foot -> fact list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int **)

let least_off a f b facts ws =
  match weigh (map Z.opp ws) facts Big_int_Z.zero_big_int
          Big_int_Z.zero_big_int with
  | Some p ->
    let (a', c) = p in
    if Z.eqb a' (Z.opp a)
    then floor_div (Z.add (Z.mul a c) (Z.mul f b.foot_square)) f
    else Big_int_Z.zero_big_int
  | None -> Big_int_Z.zero_big_int

(** val sharpen :
    (int -> int -> measure -> Big_int_Z.big_int -> ends -> ends) -> int list
    -> int -> measure list -> Big_int_Z.big_int list -> row -> row **)

let rec sharpen step0 wanted k ms xs r =
  match wanted with
  | [] -> r
  | w :: wanted' ->
    (match ms with
     | [] -> r
     | m :: ms' ->
       (match xs with
        | [] -> r
        | x :: xs' ->
          (match r with
           | [] -> r
           | e :: r' ->
             ((fun fO fS n -> if n=0 then fO () else fS (n-1))
                (fun _ -> e)
                (fun _ -> step0 w k m x e)
                w) :: (sharpen step0 wanted' (Stdlib.Int.succ k) ms' xs' r'))))

(** val by_directions :
    head -> Big_int_Z.big_int -> measure list -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> int list -> Big_int_Z.big_int list list -> fact list
    -> fact list -> Big_int_Z.big_int list -> foot -> patch_hints -> row ->
    row **)

let by_directions h t0 ms bits packed0 a f js rows' stated facts ws b hints0 r =
  let ss = hints0.directions in
  let mu = hints0.square_length in
  if (&&) (Z.ltb Big_int_Z.zero_big_int mu)
       (forallb (fun s ->
         Z.leb (sizes s)
           (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) room))
         ss)
  then let zero0 = map (fun _ -> Big_int_Z.zero_big_int) packed0 in
       let sums = map (fun s -> started packed0 (mixed s rows' zero0)) ss in
       let ts =
         map (fun sum ->
           map (fun j ->
             hd Big_int_Z.zero_big_int (entries bits j (sum :: []))) js) sums
       in
       let here = nths Big_int_Z.zero_big_int js b.middles in
       let cs = map (fun s -> zdot s here) ss in
       (match farthest f a stated ss cs with
        | Some alpha ->
          let top0 = greatest_size (crossed ss ts) in
          let most = greatest_off a f b in
          let least = least_off a f b facts ws in
          let qQ = b.foot_square in
          let square_of_target = target_square h a qQ in
          let left_of0 = left_over mu top0 in
          let ends_of0 = ends_from h t0 a least most in
          let step0 = fun many k m x e ->
            let bs =
              target_products h a (entries bits k (firstn many sums)) cs
            in
            let squares0 = zdot bs bs in
            let square0 = square_of_target m x in
            meet
              (ends_of0 m x square0
                (leeway mu most (left_of0 square0 squares0) alpha (length bs)
                  squares0)) e
          in
          sharpen step0 hints0.sharpened 0 ms b.middles r
        | None -> r)
  else r

(** val by_centre :
    head -> Big_int_Z.big_int -> measure list -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int ->
    goal list -> Big_int_Z.big_int -> int list -> Big_int_Z.big_int list list
    -> fact list -> fact list -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list -> patch_hints -> row -> row **)

let by_centre h t0 ms bits packed0 a goals f js rows' stated facts rows0 ks hints0 r =
  match ball_of h ms bits packed0 a js rows' facts rows0 ks hints0.centre with
  | Some b ->
    let r0 = by_ball h a goals f b r in
    (match hints0.sharpened with
     | [] -> r0
     | _ :: _ ->
       by_directions h t0 ms bits packed0 a f js rows' stated facts
         hints0.centre b hints0 r0)
  | None -> r

(** val metric_row :
    head -> certificate -> Big_int_Z.big_int -> measure list ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
    Big_int_Z.big_int list list -> Big_int_Z.big_int -> goal list -> row ->
    int -> patch_hints -> row option **)

let metric_row h c t0 ms bits packed0 rows_packed a goals own0 l hints0 =
  let u = c.statement_unit in
  let here = stated_at l c.statements in
  let js = map fst here in
  if forallb (fun j -> Nat.ltb j h.count) js
  then let base = meet_stated c.statement_unit t0 here own0 in
       (match hints0.centre with
        | [] ->
          (match hints0.targets with
           | [] -> Some base
           | p :: l0 ->
             let xs = p :: l0 in
             (match rows_found rows_packed js with
              | Some rows' ->
                let (p0, ft) = common u t0 in
                let (f, fu) = p0 in
                let measured0 = nths no_measure js ms in
                let fact_of = fun s m e ->
                  stated_fact h f m (with_domain fu ft (snd s) e)
                in
                let stated =
                  map_three fact_of here measured0 (nths anything js own0)
                in
                let known = domain_facts h f in
                let facts = app stated (map snd known) in
                let ks = map fst known in
                let rows'' = map (started packed0) rows' in
                let rows0 =
                  triangle h bits js (map (fun m -> m.total) measured0)
                    rows'' ks
                in
                let weighed0 = with_squares xs (squares rows0 (weights_in xs))
                in
                Some
                (refine h f (step_of h ft) facts ks (fun k ->
                  entries bits k rows'') weighed0 0 ms base)
              | None -> None))
        | _ :: _ ->
          (match rows_found rows_packed js with
           | Some rows' ->
             let (p, ft) = common u t0 in
             let (f, fu) = p in
             let measured0 = nths no_measure js ms in
             let fact_of = fun s m e ->
               stated_fact h f m (with_domain fu ft (snd s) e)
             in
             let stated =
               map_three fact_of here measured0 (nths anything js own0)
             in
             let known = domain_facts h f in
             let facts = app stated (map snd known) in
             let ks = map fst known in
             let rows'' = map (started packed0) rows' in
             let rows0 =
               triangle h bits js (map (fun m -> m.total) measured0) rows'' ks
             in
             let base0 =
               by_centre h t0 ms bits packed0 a goals f js rows' stated facts
                 rows0 ks hints0 base
             in
             let weighed0 =
               with_squares hints0.targets
                 (squares rows0 (weights_in hints0.targets))
             in
             Some
             (refine h f (step_of h ft) facts ks (fun k ->
               entries bits k rows'') weighed0 0 ms base0)
           | None -> None))
  else None

(** val change_at : ('a1 -> 'a1) -> int -> 'a1 list -> 'a1 list **)

let rec change_at change j = function
| [] -> []
| e :: row' ->
  ((fun fO fS n -> if n=0 then fO () else fS (n-1))
     (fun _ -> (change e) :: row')
     (fun j' -> e :: (change_at change j' row'))
     j)

(** val change_others :
    ('a1 -> 'a1) -> int list -> int -> 'a1 list -> 'a1 list **)

let rec change_others change except j = function
| [] -> []
| e :: row' ->
  (if existsb ((=) j) except then e else change e) :: (change_others change
                                                        except
                                                        (Stdlib.Int.succ j)
                                                        row')

type entry = Big_int_Z.big_int * Big_int_Z.big_int option

(** val unstated : entry **)

let unstated =
  (Big_int_Z.zero_big_int, None)

(** val met_entry : Big_int_Z.big_int -> ends -> entry -> entry **)

let met_entry t0 s e =
  ((match fst s with
    | Some a -> Z.max (fst e) a
    | None -> fst e), (cut (snd s) (cut (Some t0) (snd e))))

(** val entries_with :
    Big_int_Z.big_int -> Big_int_Z.big_int -> int -> entry list -> statement
    -> entry list **)

let entries_with t0 u l es = function
| AboutPatch (k, j, lo, hi) ->
  if (=) k l
  then change_at (met_entry t0 (stated_ends u t0 lo hi)) j es
  else es
| _ -> es

(** val entries0 :
    Big_int_Z.big_int -> certificate -> int -> int -> entry list **)

let entries0 t0 c n0 l =
  fold_left (entries_with t0 c.statement_unit l) c.statements
    (repeat unstated n0)

(** val remainder : Big_int_Z.big_int -> entry list -> Big_int_Z.big_int **)

let remainder t0 es =
  Z.max Big_int_Z.zero_big_int (Z.sub t0 (zsum (map fst es)))

(** val high_or_zero : entry -> Big_int_Z.big_int **)

let high_or_zero e =
  match snd e with
  | Some k -> k
  | None -> Big_int_Z.zero_big_int

(** val is_open : entry -> bool **)

let is_open e =
  match snd e with
  | Some _ -> false
  | None -> true

(** val number_open : entry list -> int **)

let number_open es =
  length (filter is_open es)

(** val most_of : Big_int_Z.big_int -> entry -> Big_int_Z.big_int **)

let most_of rest e =
  match snd e with
  | Some k -> Z.min k (Z.add (fst e) rest)
  | None -> Z.add (fst e) rest

(** val simplex_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
    entry -> ends **)

let simplex_ends t0 rest highs open0 e =
  let others_have_high_ends =
    (=) open0 (if is_open e then Stdlib.Int.succ 0 else 0)
  in
  let least =
    if others_have_high_ends
    then Z.max (fst e) (Z.sub t0 (Z.sub highs (high_or_zero e)))
    else fst e
  in
  ((Some least), (Some (most_of rest e)))

(** val is_softmax : head -> bool **)

let is_softmax h =
  match h.head_geometry with
  | Softmax -> (=) h.depth h.count
  | _ -> false

(** val row_of_entries : Big_int_Z.big_int -> entry list -> row **)

let row_of_entries t0 es =
  map
    (simplex_ends t0 (remainder t0 es) (zsum (map high_or_zero es))
      (number_open es)) es

(** val gap : head -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let gap h x =
  let left =
    match h.lower with
    | Some a -> Z.max Big_int_Z.zero_big_int (Z.sub a x)
    | None -> Big_int_Z.zero_big_int
  in
  let right =
    match h.upper with
    | Some b -> Z.max Big_int_Z.zero_big_int (Z.sub x b)
    | None -> Big_int_Z.zero_big_int
  in
  let d = Z.max left right in Z.mul d d

(** val spread :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let spread a b x =
  let d = Z.max (Z.sub x a) (Z.sub b x) in Z.mul d d

(** val no_negative_coordinate : head -> bool **)

let no_negative_coordinate h =
  match h.lower with
  | Some a -> Z.leb Big_int_Z.zero_big_int a
  | None -> false

(** val no_positive_coordinate : head -> bool **)

let no_positive_coordinate h =
  match h.upper with
  | Some b -> Z.leb b Big_int_Z.zero_big_int
  | None -> false

(** val never_raises : head -> Big_int_Z.big_int -> bool **)

let never_raises h x =
  (||) ((&&) (no_negative_coordinate h) (Z.ltb x Big_int_Z.zero_big_int))
    ((&&) (no_positive_coordinate h) (Z.ltb Big_int_Z.zero_big_int x))

(** val span : head -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let span h p =
  zsum
    (map (fun x ->
      if never_raises h x then Big_int_Z.zero_big_int else Z.mul x x) p)

(** val mirrored :
    head -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let mirrored h p =
  if no_negative_coordinate h then p else map Z.opp p

(** val greatest : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let greatest p =
  fold_right Z.max (hd Big_int_Z.zero_big_int p) p

(** val below_zero : head -> Big_int_Z.big_int list -> bool **)

let below_zero h p =
  (&&) ((||) (no_negative_coordinate h) (no_positive_coordinate h))
    (Z.ltb (greatest (mirrored h p)) Big_int_Z.zero_big_int)

(** val mul_div_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let mul_div_ends w i e f =
  ((floor_div (Z.mul (fst e) (fst f)) (Z.mul w i)),
    (ceil_div (Z.mul (snd e) (snd f)) (Z.mul w i)))

(** val nested_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let rec nested_ends w i n0 e =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> (w,
    (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) w)))
    (fun k ->
    add_ends (w, w)
      (mul_div_ends w i e
        (nested_ends w (Z.add i Big_int_Z.unit_big_int) k e)))
    n0

(** val square_times :
    Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let rec square_times w m e =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> e)
    (fun k -> square_times w k (mul_ends w e e))
    m

(** val halved_exp_ends :
    Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let halved_exp_ends w terms0 halvings n0 d =
  let t0 = quotient_ends w (Z.abs n0) (Z.shiftl d (Z.of_nat halvings)) in
  if Z.leb
       (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) (snd t0))
       w
  then let e = nested_ends w Big_int_Z.unit_big_int terms0 t0 in
       Some
       (square_times w halvings
         (if Z.leb Big_int_Z.zero_big_int n0 then e else inverse_ends w e))
  else None

(** val exp_plan :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (int * int) * int **)

let exp_plan b terms0 n0 d =
  let growth =
    Z.max Big_int_Z.zero_big_int
      (Z.div
        (Z.mul
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          Big_int_Z.unit_big_int) n0)
        (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) d))
  in
  let size0 =
    Z.max Big_int_Z.zero_big_int
      (Z.add (Z.sub (Z.log2 (Z.abs n0)) (Z.log2 d)) Big_int_Z.unit_big_int)
  in
  let bits = Z.add (Z.add (Z.log2 b) growth) size0 in
  let count0 =
    Z.min (Z.add (Z.of_nat terms0) (Z.sqrt growth))
      (Z.add (Z.sqrt bits) Big_int_Z.unit_big_int)
  in
  let halvings =
    Z.add (Z.add size0 (Z.div bits count0)) Big_int_Z.unit_big_int
  in
  (((Z.to_nat count0), (Z.to_nat halvings)),
  (Z.to_nat
    (Z.add (Z.add growth halvings) (Big_int_Z.mult_int_big_int 2
      (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))

(** val planned_exp_ends :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let planned_exp_ends b terms0 n0 d =
  let (p, finer) = exp_plan b terms0 n0 d in
  let (count0, halvings) = p in
  let w = Z.shiftl b (Z.of_nat finer) in
  (match halved_exp_ends w count0 halvings n0 d with
   | Some e -> Some (rescale_ends w b e)
   | None -> None)

(** val exp_most : Big_int_Z.big_int **)

let exp_most =
  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))))))))))

(** val exp_least : Big_int_Z.big_int **)

let exp_least =
  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    Big_int_Z.unit_big_int))))))))))))))))))))

(** val exp_ends :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let exp_ends b terms0 n0 d =
  if Z.leb d Big_int_Z.zero_big_int
  then None
  else if Z.ltb (Z.mul exp_most d) n0
       then None
       else if Z.ltb n0 (Z.mul (Z.opp exp_least) d)
            then (match planned_exp_ends b terms0 (Z.opp exp_least)
                          Big_int_Z.unit_big_int with
                  | Some e -> Some (Big_int_Z.zero_big_int, (snd e))
                  | None -> None)
            else planned_exp_ends b terms0 n0 d

(** val exp_of_ends :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let exp_of_ends b terms0 a e =
  match exp_ends b terms0 (fst e) a with
  | Some l ->
    (match exp_ends b terms0 (snd e) a with
     | Some u -> Some ((fst l), (snd u))
     | None -> None)
  | None -> None

(** val least_ratio :
    head -> Big_int_Z.big_int -> int -> Big_int_Z.big_int **)

let least_ratio h t0 terms0 =
  match h.lower with
  | Some a ->
    (match h.upper with
     | Some b ->
       (match exp_ends t0 terms0 (Z.sub a b) h.coord_unit with
        | Some e -> fst e
        | None -> Big_int_Z.zero_big_int)
     | None -> Big_int_Z.zero_big_int)
  | None -> Big_int_Z.zero_big_int

(** val mass_range : head -> Big_int_Z.big_int -> int -> ends **)

let mass_range h t0 terms0 =
  if (=) h.count (Stdlib.Int.succ 0)
  then ((Some t0), (Some t0))
  else let others0 = Z.sub (Z.of_nat h.count) Big_int_Z.unit_big_int in
       ((Some
       (floor_div (Z.mul t0 (least_ratio h t0 terms0))
         (Z.add (least_ratio h t0 terms0) (Z.mul others0 t0)))), (Some
       (ceil_div (Z.mul t0 t0)
         (Z.add t0 (Z.mul others0 (least_ratio h t0 terms0))))))

(** val ball_reach :
    head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int list ->
    Big_int_Z.big_int **)

let ball_reach h t0 =
  let s = unit_of h in
  (fun r p ->
  ceil_div
    (root_ceil
      (Z.mul (Z.mul (Z.mul t0 t0) (Z.mul r.numerator r.numerator)) (span h p)))
    (Z.mul r.denominator s))

(** val cosine_reach :
    head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int **)

let cosine_reach h t0 e square0 p =
  if (&&) (Z.eqb e.numerator Big_int_Z.zero_big_int) (below_zero h p)
  then let t1 = greatest (mirrored h p) in
       Z.opp
         (root_floor (floor_div (Z.mul (Z.mul t0 t0) (Z.mul t1 t1)) square0))
  else root_ceil (ceil_div (Z.mul (Z.mul t0 t0) (span h p)) square0)

(** val denominator_of : fraction option -> Big_int_Z.big_int **)

let denominator_of = function
| Some r -> r.denominator
| None -> Big_int_Z.unit_big_int

(** val reach_of : head -> fraction option -> Big_int_Z.big_int option **)

let reach_of h =
  let s = unit_of h in
  (fun radius0 -> option_map (fun r -> Z.mul r.numerator s) radius0)

(** val coordinate_ends : head -> fraction option -> ends **)

let coordinate_ends h radius0 =
  let scaled0 = option_map (Z.mul (denominator_of radius0)) in
  meet ((scaled0 h.lower), (scaled0 h.upper))
    ((option_map Z.opp (reach_of h radius0)), (reach_of h radius0))

(** val box_ends :
    head -> Big_int_Z.big_int -> fraction option -> Big_int_Z.big_int list ->
    ends **)

let box_ends h t0 =
  let s = unit_of h in
  (fun radius0 p ->
  let unit0 = Z.mul (Z.mul s (denominator_of radius0)) s in
  let (o, o0) = coordinate_ends h radius0 in
  (match o with
   | Some a ->
     (match o0 with
      | Some b ->
        ((Some
          (floor_div
            (Z.mul t0 (zsum (map (fun x -> Z.min (Z.mul a x) (Z.mul b x)) p)))
            unit0)), (Some
          (ceil_div
            (Z.mul t0 (zsum (map (fun x -> Z.max (Z.mul a x) (Z.mul b x)) p)))
            unit0)))
      | None -> anything)
   | None -> anything))

(** val distance_ends :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> ends **)

let distance_ends h t0 =
  let s = unit_of h in
  (fun p -> ((Some
  (floor_div (Z.mul t0 (zsum (map (gap h) p))) (Z.mul s s))),
  (match h.lower with
   | Some a ->
     (match h.upper with
      | Some b ->
        Some (ceil_div (Z.mul t0 (zsum (map (spread a b) p))) (Z.mul s s))
      | None -> None)
   | None -> None)))

(** val domain_ends :
    head -> Big_int_Z.big_int -> int -> Big_int_Z.big_int list -> ends **)

let domain_ends h t0 terms0 p =
  match h.head_geometry with
  | Euclidean -> distance_ends h t0 p
  | Cosine e ->
    let s = zdot p p in
    ((Some (Z.opp (cosine_reach h t0 e s (map Z.opp p)))), (Some
    (cosine_reach h t0 e s p)))
  | RootedCosine e ->
    let s = zdot p p in
    ((Some (Z.opp (cosine_reach h t0 e s (map Z.opp p)))), (Some
    (cosine_reach h t0 e s p)))
  | InnerProduct radius0 ->
    (match radius0 with
     | Some r ->
       meet ((Some (Z.opp (ball_reach h t0 r (map Z.opp p)))), (Some
         (ball_reach h t0 r p))) (box_ends h t0 (Some r) p)
     | None -> box_ends h t0 None p)
  | Softmax -> mass_range h t0 terms0

(** val domain_row : head -> Big_int_Z.big_int -> int -> row option **)

let domain_row h t0 terms0 =
  match h.head_geometry with
  | Softmax ->
    if (=) h.depth h.count
    then Some (repeat (domain_ends h t0 terms0 []) h.count)
    else None
  | _ ->
    (match measures h with
     | Some _ -> Some (map (domain_ends h t0 terms0) h.prototypes)
     | None -> None)

(** val no_hints : patch_hints **)

let no_hints =
  { centre = []; square_length = Big_int_Z.unit_big_int; directions = [];
    sharpened = []; targets = [] }

(** val metric_rows :
    (int -> patch_hints -> row option) -> int -> int -> patch_hints list ->
    row option list **)

let rec metric_rows row_of0 l n0 hints0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun n' ->
    (row_of0 l (hd no_hints hints0)) :: (metric_rows row_of0 (Stdlib.Int.succ
                                          l) n' (tl hints0)))
    n0

(** val metric_table :
    head -> certificate -> Big_int_Z.big_int -> measure list ->
    (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int
    list list -> row -> Big_int_Z.big_int -> claim list -> patch_hints list
    -> table option **)

let metric_table h c t0 ms packed0 known own0 a claims hints0 =
  let goals = claimed h t0 a ms claims in
  let bits = digit_bits ms in
  all_some
    (metric_rows (metric_row h c t0 ms bits packed0 known a goals own0) 0
      c.patches hints0)

(** val positive_number : fraction -> bool **)

let positive_number f =
  Z.ltb Big_int_Z.zero_big_int f.numerator

(** val at_most : fraction -> fraction -> bool **)

let at_most f g =
  Z.leb (Z.mul f.numerator g.denominator) (Z.mul g.numerator f.denominator)

type trend =
| Descends
| Ascends
| Unclear

(** val step_trend : fraction -> step -> trend **)

let step_trend s = function
| Scaled -> if positive_number s then Ascends else Unclear
| Multiplied a -> if positive_number a then Ascends else Unclear
| Negation -> Descends
| LogRatioOf (a, b) ->
  if (&&) (positive_number b) (at_most b a) then Descends else Unclear
| ZeroBelow t0 -> if positive_number t0 then Ascends else Unclear
| ReciprocalOf a -> if positive_number a then Descends else Unclear
| FromPeak -> Unclear
| _ -> Ascends

(** val chain_trend : fraction -> step list -> trend **)

let rec chain_trend s = function
| [] -> Ascends
| f :: l' ->
  (match step_trend s f with
   | Descends ->
     (match chain_trend s l' with
      | Descends -> Ascends
      | Ascends -> Descends
      | Unclear -> Unclear)
   | Ascends -> chain_trend s l'
   | Unclear -> Unclear)

(** val each_end :
    (Big_int_Z.big_int -> Big_int_Z.big_int) -> ends -> ends **)

let each_end f e =
  ((option_map f (fst e)), (option_map f (snd e)))

(** val from_0 : Big_int_Z.big_int option -> Big_int_Z.big_int **)

let from_0 = function
| Some n0 -> Z.max Big_int_Z.zero_big_int n0
| None -> Big_int_Z.zero_big_int

(** val step_ends :
    Big_int_Z.big_int -> int -> logarithms -> fraction -> fraction -> step ->
    Big_int_Z.big_int -> ends -> (Big_int_Z.big_int * ends) option **)

let step_ends b terms0 logs s c f u e =
  match f with
  | Scaled ->
    if positive_number s
    then Some ((Z.mul u s.denominator), (each_end (Z.mul s.numerator) e))
    else None
  | Added a ->
    Some ((Z.mul u a.denominator),
      (each_end (fun n0 ->
        Z.add (Z.mul n0 a.denominator) (Z.mul a.numerator u)) e))
  | Multiplied a ->
    if positive_number a
    then Some ((Z.mul u a.denominator), (each_end (Z.mul a.numerator) e))
    else None
  | Negation ->
    Some (u, ((option_map Z.opp (snd e)), (option_map Z.opp (fst e))))
  | LogRatioOf (a, b0) ->
    let value0 = fun n0 ->
      log_ends b logs
        (Z.mul (Z.add (Z.mul n0 a.denominator) (Z.mul a.numerator u))
          b0.denominator)
        (Z.mul (Z.add (Z.mul n0 b0.denominator) (Z.mul b0.numerator u))
          a.denominator)
    in
    if (&&) (positive_number b0) (at_most b0 a)
    then (match value0 (from_0 (fst e)) with
          | Some most ->
            (match match snd e with
                   | Some n0 ->
                     option_map fst (value0 (Z.max Big_int_Z.zero_big_int n0))
                   | None -> Some Big_int_Z.zero_big_int with
             | Some least -> Some (b, ((Some least), (Some (snd most))))
             | None -> None)
          | None -> None)
    else None
  | ExpOf ->
    (match match snd e with
           | Some n0 ->
             option_map snd
               (exp_ends b terms0 (Z.min Big_int_Z.zero_big_int n0) u)
           | None -> Some b with
     | Some most ->
       (match match fst e with
              | Some n0 ->
                option_map fst
                  (exp_ends b terms0 (Z.min Big_int_Z.zero_big_int n0) u)
              | None -> Some Big_int_Z.zero_big_int with
        | Some least -> Some (b, ((Some least), (Some (Z.min b most))))
        | None -> None)
     | None -> None)
  | RootOf ->
    (match option_map fst (root_ends b (from_0 (fst e)) u) with
     | Some least ->
       Some (b, ((Some least),
         (match snd e with
          | Some n0 ->
            option_map snd (root_ends b (Z.max Big_int_Z.zero_big_int n0) u)
          | None -> None)))
     | None -> None)
  | SquareOf ->
    Some ((Z.mul u u), ((Some (Z.mul (from_0 (fst e)) (from_0 (fst e)))),
      (option_map (fun n0 ->
        Z.mul (Z.max Big_int_Z.zero_big_int n0)
          (Z.max Big_int_Z.zero_big_int n0)) (snd e))))
  | ZeroBelow t0 ->
    let kept0 = fun n0 ->
      if Z.leb (Z.mul t0.numerator u) (Z.mul n0 t0.denominator)
      then n0
      else Big_int_Z.zero_big_int
    in
    if positive_number t0
    then Some (u, ((Some
           (match fst e with
            | Some n0 -> kept0 n0
            | None -> Big_int_Z.zero_big_int)), (option_map kept0 (snd e))))
    else None
  | CutAt0 ->
    Some (u, ((Some (from_0 (fst e))),
      (option_map (Z.max Big_int_Z.zero_big_int) (snd e))))
  | ReciprocalOf a ->
    let value0 = fun n0 ->
      quotient_ends b (Z.mul u a.denominator)
        (Z.add (Z.mul n0 a.denominator) (Z.mul a.numerator u))
    in
    if positive_number a
    then Some (b, ((Some
           (match snd e with
            | Some n0 -> fst (value0 (Z.max Big_int_Z.zero_big_int n0))
            | None -> Big_int_Z.zero_big_int)), (Some
           (snd (value0 (from_0 (fst e)))))))
    else None
  | FromPeak ->
    let moved = fun n0 -> Z.sub (Z.mul n0 c.denominator) (Z.mul c.numerator u)
    in
    let away = fun low0 high0 -> Z.max (from_0 low0) (from_0 high0) in
    Some ((Z.mul u c.denominator), ((Some
    (away (option_map moved (fst e))
      (option_map (fun n0 -> Z.opp (moved n0)) (snd e)))),
    (match fst e with
     | Some x ->
       (match snd e with
        | Some y -> Some (Z.max (moved y) (Z.opp (moved x)))
        | None -> None)
     | None -> None)))

(** val chain_range :
    Big_int_Z.big_int -> int -> logarithms -> fraction -> fraction -> step
    list -> Big_int_Z.big_int -> ends -> (Big_int_Z.big_int * ends) option **)

let rec chain_range b terms0 logs s c l u e =
  match l with
  | [] -> Some (u, e)
  | f :: l' ->
    (match step_ends b terms0 logs s c f u e with
     | Some p -> let (u', e') = p in chain_range b terms0 logs s c l' u' e'
     | None -> None)

(** val chain_ends :
    Big_int_Z.big_int -> int -> logarithms -> fraction -> fraction -> step
    list -> Big_int_Z.big_int -> ends ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let chain_ends b terms0 logs s c l u e =
  match chain_range b terms0 logs s c l u e with
  | Some p ->
    let (u', e0) = p in
    let (o, o0) = e0 in
    (match o with
     | Some a ->
       (match o0 with
        | Some b0 ->
          Some ((fst (quotient_ends b a u')), (snd (quotient_ends b b0 u')))
        | None -> None)
     | None -> None)
  | None -> None

(** val positive_fraction : fraction -> bool **)

let positive_fraction f =
  Z.ltb Big_int_Z.zero_big_int f.numerator

(** val below_one : fraction -> bool **)

let below_one f =
  Z.ltb f.numerator f.denominator

type own = fraction * fraction

(** val numbers :
    Big_int_Z.big_int -> fraction -> int -> Big_int_Z.big_int list ->
    fraction list **)

let rec numbers unit0 default p l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun p' ->
    match l with
    | [] -> default :: (numbers unit0 default p' [])
    | n0 :: l' ->
      { numerator = n0; denominator = unit0 } :: (numbers unit0 default p' l'))
    p

(** val owns : head -> own list **)

let owns h =
  combine
    (numbers h.scale_unit { numerator = Big_int_Z.unit_big_int; denominator =
      Big_int_Z.unit_big_int } h.count h.scales)
    (numbers h.peak_unit { numerator = Big_int_Z.zero_big_int; denominator =
      Big_int_Z.unit_big_int } h.count h.peaks)

(** val euclidean : head -> bool **)

let euclidean h =
  match h.head_geometry with
  | Euclidean -> true
  | _ -> false

type direction =
| Falls
| Rises
| Neither

(** val direction_of : head -> own -> direction **)

let direction_of h o =
  match h.head_similarity with
  | LogRatio e ->
    if (&&)
         ((&&) ((&&) (euclidean h) (positive_fraction (fst o)))
           (positive_fraction e)) (below_one e)
    then Falls
    else Neither
  | ExpDistance e ->
    if (&&) (euclidean h) (Z.leb Big_int_Z.zero_big_int e.numerator)
    then Falls
    else Neither
  | Threshold t0 -> if positive_fraction t0 then Rises else Neither
  | Negated -> if positive_fraction (fst o) then Falls else Neither
  | Exponential ->
    if positive_fraction (fst o)
    then if euclidean h then Falls else Rises
    else Neither
  | Quadratic -> Neither
  | Steps l ->
    (match chain_trend (fst o) l with
     | Descends -> Falls
     | Ascends -> Rises
     | Unclear -> Neither)
  | _ -> Rises

(** val never_negative : head -> bool **)

let never_negative h =
  match h.head_similarity with
  | Identity -> false
  | Negated -> false
  | Quadratic -> false
  | Steps _ -> false
  | _ -> true

(** val exp_at :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let exp_at b terms0 n0 d =
  match exp_ends b terms0 n0 d with
  | Some p ->
    let (a, b0) = p in
    Some (a, (if Z.leb n0 Big_int_Z.zero_big_int then Z.min b0 b else b0))
  | None -> None

(** val value_at :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let value_at h t0 b terms0 logs o a =
  let ns = (fst o).numerator in
  let ds = (fst o).denominator in
  (match h.head_similarity with
   | LogRatio e ->
     let ne = e.numerator in
     let de = e.denominator in
     log_ends b logs (Z.mul (Z.add (Z.mul ns a) (Z.mul t0 ds)) de)
       (Z.add (Z.mul (Z.mul ns a) de) (Z.mul (Z.mul t0 ds) ne))
   | ExpDistance e ->
     (match root_ends b
              (Z.add (Z.mul a e.denominator) (Z.mul t0 e.numerator))
              (Z.mul t0 e.denominator) with
      | Some p ->
        let (near0, far0) = p in
        (match exp_at b terms0 (Z.opp far0) b with
         | Some p0 ->
           let (x, _) = p0 in
           (match exp_at b terms0 (Z.opp near0) b with
            | Some p1 -> let (_, y) = p1 in Some (x, y)
            | None -> None)
         | None -> None)
      | None -> None)
   | Threshold t1 ->
     if Z.leb (Z.mul t1.numerator t0) (Z.mul a t1.denominator)
     then Some (quotient_ends b a t0)
     else Some (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)
   | Identity -> Some (quotient_ends b a t0)
   | Negated -> Some (quotient_ends b (Z.opp (Z.mul ns a)) (Z.mul ds t0))
   | Exponential ->
     if euclidean h
     then exp_at b terms0 (Z.opp (Z.mul ns a)) (Z.mul ds t0)
     else exp_at b terms0 (Z.opp (Z.mul ns (Z.sub t0 a))) (Z.mul ds t0)
   | Quadratic -> None
   | Rectified -> Some (quotient_ends b (Z.max Big_int_Z.zero_big_int a) t0)
   | Steps l ->
     chain_ends b terms0 logs (fst o) (snd o) l t0 ((Some a), (Some a)))

(** val both :
    Big_int_Z.big_int option -> Big_int_Z.big_int option ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let both low0 high0 =
  match low0 with
  | Some a -> (match high0 with
               | Some b -> Some (a, b)
               | None -> None)
  | None -> None

(** val least_at :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> Big_int_Z.big_int option -> Big_int_Z.big_int option **)

let least_at h t0 b terms0 logs o = function
| Some a -> option_map fst (value_at h t0 b terms0 logs o a)
| None -> if never_negative h then Some Big_int_Z.zero_big_int else None

(** val greatest_at :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> Big_int_Z.big_int option -> Big_int_Z.big_int option **)

let greatest_at h t0 b terms0 logs o = function
| Some a -> option_map snd (value_at h t0 b terms0 logs o a)
| None -> None

(** val peak_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int * Big_int_Z.big_int **)

let peak_ends b d x y =
  let far0 = Z.max (Z.mul x x) (Z.mul y y) in
  let near0 =
    if Z.ltb Big_int_Z.zero_big_int x
    then Z.mul x x
    else if Z.ltb y Big_int_Z.zero_big_int
         then Z.mul y y
         else Big_int_Z.zero_big_int
  in
  ((floor_div (Z.opp (Z.mul b far0)) (Z.mul d d)),
  (ceil_div (Z.opp (Z.mul b near0)) (Z.mul d d)))

(** val quadratic_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> own -> ends ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let quadratic_ends t0 b o = function
| (o0, o1) ->
  (match o0 with
   | Some a ->
     (match o1 with
      | Some b0 ->
        let nc = (snd o).numerator in
        let dc = (snd o).denominator in
        Some
        (peak_ends b (Z.mul t0 dc) (Z.sub (Z.mul a dc) (Z.mul nc t0))
          (Z.sub (Z.mul b0 dc) (Z.mul nc t0)))
      | None -> None)
   | None -> None)

(** val not_negative : ends -> ends **)

let not_negative e =
  ((Some
    (match fst e with
     | Some a -> Z.max Big_int_Z.zero_big_int a
     | None -> Big_int_Z.zero_big_int)),
    (option_map (Z.max Big_int_Z.zero_big_int) (snd e)))

(** val sane_ends : head -> ends -> ends **)

let sane_ends h e =
  if euclidean h then not_negative e else e

(** val range_ends :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> ends -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let range_ends h t0 b terms0 logs o e =
  match direction_of h o with
  | Falls ->
    both (least_at h t0 b terms0 logs o (snd e))
      (greatest_at h t0 b terms0 logs o (fst e))
  | Rises ->
    both (least_at h t0 b terms0 logs o (fst e))
      (greatest_at h t0 b terms0 logs o (snd e))
  | Neither ->
    (match h.head_similarity with
     | Quadratic -> quadratic_ends t0 b o e
     | _ -> None)

(** val similar_ends :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> ends -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let similar_ends h t0 b terms0 logs o e =
  match h.head_similarity with
  | Steps l -> chain_ends b terms0 logs (fst o) (snd o) l t0 (sane_ends h e)
  | _ ->
    let (o0, o1) = sane_ends h e in
    (match o0 with
     | Some a ->
       (match o1 with
        | Some b0 ->
          if (&&) (Z.eqb a b0)
               (match h.head_similarity with
                | Quadratic -> false
                | _ -> true)
          then value_at h t0 b terms0 logs o a
          else range_ends h t0 b terms0 logs o ((Some a), (Some b0))
        | None -> range_ends h t0 b terms0 logs o ((Some a), None))
     | None -> range_ends h t0 b terms0 logs o (None, o1))

type few = (int * entry) list

(** val few_at : int -> few -> entry **)

let rec few_at k = function
| [] -> unstated
| p :: es' -> if (=) k (fst p) then snd p else few_at k es'

(** val few_changed : (entry -> entry) -> int -> few -> few **)

let rec few_changed change j = function
| [] -> (j, (change unstated)) :: []
| p :: es' ->
  if (=) j (fst p)
  then (j, (change (snd p))) :: es'
  else p :: (few_changed change j es')

(** val few_with :
    Big_int_Z.big_int -> Big_int_Z.big_int -> int -> int -> few -> statement
    -> few **)

let few_with t0 u n0 l es = function
| AboutPatch (k, j, lo, hi) ->
  if (&&) ((=) k l) (Nat.ltb j n0)
  then few_changed (met_entry t0 (stated_ends u t0 lo hi)) j es
  else es
| _ -> es

(** val few_entries :
    Big_int_Z.big_int -> certificate -> int -> int -> few **)

let few_entries t0 c n0 l =
  fold_left (few_with t0 c.statement_unit n0 l) c.statements []

(** val low_of : (int * entry) -> Big_int_Z.big_int **)

let low_of p =
  fst (snd p)

(** val few_remainder : Big_int_Z.big_int -> few -> Big_int_Z.big_int **)

let few_remainder t0 es =
  Z.max Big_int_Z.zero_big_int (Z.sub t0 (zsum (map low_of es)))

type leftover = { stated_patches : (Big_int_Z.big_int * few) list;
                  free_patches : Big_int_Z.big_int;
                  tops : Big_int_Z.big_int list }

(** val has_statement : certificate -> int -> bool **)

let has_statement c l =
  existsb (fun s ->
    match s with
    | AboutPatch (k, _, _, _) -> (=) k l
    | _ -> false) c.statements

(** val left_at :
    Big_int_Z.big_int -> certificate -> int -> int -> Big_int_Z.big_int * few **)

let left_at t0 c n0 l =
  let es = few_entries t0 c n0 l in ((few_remainder t0 es), es)

(** val top_with :
    Big_int_Z.big_int -> entry -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let top_with rest e top0 =
  if is_open e then top0 else Z.max top0 (most_of rest e)

(** val tops_with :
    Big_int_Z.big_int list -> (Big_int_Z.big_int * few) -> Big_int_Z.big_int
    list **)

let tops_with ts patch =
  fold_left (fun ts0 p ->
    change_at (top_with (fst patch) (snd p)) (fst p) ts0) (snd patch) ts

(** val left_of : Big_int_Z.big_int -> certificate -> int -> leftover **)

let left_of t0 c n0 =
  let indices = seq 0 c.patches in
  let stated = map (left_at t0 c n0) (filter (has_statement c) indices) in
  { stated_patches = stated; free_patches =
  (Z.of_nat (length (filter (fun l -> negb (has_statement c l)) indices)));
  tops = (fold_left tops_with stated (repeat Big_int_Z.zero_big_int n0)) }

(** val meet_rows : row -> row -> row **)

let rec meet_rows r s =
  match r with
  | [] -> []
  | a :: r' ->
    (match s with
     | [] -> []
     | e :: s' -> (meet a e) :: (meet_rows r' s'))

(** val simplex_table :
    Big_int_Z.big_int -> head -> certificate -> row -> table option **)

let simplex_table t0 h c own0 =
  if is_softmax h
  then let row_of0 = fun es -> meet_rows own0 (row_of_entries t0 es) in
       let free = row_of0 (repeat unstated h.count) in
       let row_at = fun l ->
         if has_statement c l then row_of0 (entries0 t0 c h.count l) else free
       in
       Some (map row_at (seq 0 c.patches))
  else None

(** val greatest0 :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let greatest0 x l =
  fold_left Z.max l x

(** val greatest_ends :
    box -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let greatest_ends = function
| [] -> None
| e :: s' ->
  Some ((greatest0 (fst e) (map fst s')), (greatest0 (snd e) (map snd s')))

(** val every :
    (Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int) ->
    Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
    option **)

let every op x y =
  match x with
  | Some a -> (match y with
               | Some b -> Some (op a b)
               | None -> None)
  | None -> None

(** val either :
    (Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int) ->
    Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
    option **)

let either op x y =
  match x with
  | Some a -> (match y with
               | Some b -> Some (op a b)
               | None -> Some a)
  | None -> y

(** val lesser : ends -> ends -> ends **)

let lesser e e' =
  ((every Z.min (fst e) (fst e')), (either Z.min (snd e) (snd e')))

(** val greater : ends -> ends -> ends **)

let greater e e' =
  ((either Z.max (fst e) (fst e')), (every Z.max (snd e) (snd e')))

(** val pooled : (ends -> ends -> ends) -> ends list -> ends **)

let rec pooled op = function
| [] -> anything
| e :: c' -> (match c' with
              | [] -> e
              | _ :: _ -> op e (pooled op c'))

(** val widened :
    int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * few) -> Big_int_Z.big_int * Big_int_Z.big_int **)

let widened k r patch =
  let e = few_at k (snd patch) in
  let most = most_of (fst patch) e in
  if (||) (Z.ltb (snd r) most) (Z.ltb (fst r) (fst e))
  then ((Z.max (fst r) (fst e)), (Z.max (snd r) most))
  else r

(** val greatest_mass : Big_int_Z.big_int -> leftover -> int -> ends **)

let greatest_mass t0 left_over0 k =
  let r =
    fold_left (widened k) left_over0.stated_patches (Big_int_Z.zero_big_int,
      (if Z.eqb left_over0.free_patches Big_int_Z.zero_big_int
       then Big_int_Z.zero_big_int
       else t0))
  in
  ((Some (fst r)), (Some (snd r)))

(** val leaves_two : head -> (Big_int_Z.big_int * few) -> bool **)

let leaves_two h patch =
  Nat.ltb (add (length (snd patch)) (Stdlib.Int.succ 0)) h.count

(** val pools_rising : head -> bool **)

let pools_rising h =
  match h.head_pooling with
  | MaxPool ->
    forallb (fun o -> match direction_of h o with
                      | Rises -> true
                      | _ -> false) (owns h)
  | _ -> false

(** val simplex_box :
    head -> Big_int_Z.big_int -> (own -> ends ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option) -> leftover -> row -> box
    option **)

let simplex_box h t0 similar_of left_over0 domain =
  if (&&) ((&&) (pools_rising h) (Nat.ltb (Stdlib.Int.succ 0) h.count))
       (forallb (leaves_two h) left_over0.stated_patches)
  then all_some
         (map (fun p -> similar_of (fst p) (snd p))
           (combine (owns h)
             (meet_rows domain
               (map (greatest_mass t0 left_over0) (seq 0 h.count)))))
  else None

(** val unit_of_weights : head -> Big_int_Z.big_int **)

let unit_of_weights h =
  h.weight_unit

(** val weights0 : head -> int -> Big_int_Z.big_int list **)

let weights0 h c =
  nth c h.weight []

(** val bias_number : head -> int -> Big_int_Z.big_int **)

let bias_number h i =
  nth i h.bias Big_int_Z.zero_big_int

(** val least_term :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int **)

let least_term d e =
  if Z.leb Big_int_Z.zero_big_int d then Z.mul d (fst e) else Z.mul d (snd e)

(** val least_sum :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> box ->
    Big_int_Z.big_int **)

let rec least_sum ps rs b =
  match ps with
  | [] -> Big_int_Z.zero_big_int
  | p :: ps' ->
    (match rs with
     | [] -> Big_int_Z.zero_big_int
     | r :: rs' ->
       (match b with
        | [] -> Big_int_Z.zero_big_int
        | e :: b' -> Z.add (least_term (Z.sub p r) e) (least_sum ps' rs' b')))

(** val has_width : head -> Big_int_Z.big_int list -> bool **)

let has_width h row0 =
  (=) (length row0) h.count

(** val linear_least :
    head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int option **)

let linear_least h b b0 winner loser =
  if (&&) (has_width h (weights0 h winner)) (has_width h (weights0 h loser))
  then Some
         (Z.add (least_sum (weights0 h winner) (weights0 h loser) b0)
           (Z.mul b (Z.sub (bias_number h winner) (bias_number h loser))))
  else None

(** val bound_at_least :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let bound_at_least h b bound num den =
  match bound with
  | Some least ->
    Z.leb (Z.mul num (Z.mul b (unit_of_weights h))) (Z.mul least den)
  | None -> false

type gain = { worth : Big_int_Z.big_int; top : Big_int_Z.big_int;
              price : Big_int_Z.big_int }

(** val worthwhile : int -> gain list -> (int * gain) list **)

let rec worthwhile k = function
| [] -> []
| g :: gs' ->
  if Z.ltb Big_int_Z.zero_big_int g.worth
  then (k, g) :: (worthwhile (Stdlib.Int.succ k) gs')
  else worthwhile (Stdlib.Int.succ k) gs'

(** val excess_with :
    Big_int_Z.big_int -> few -> Big_int_Z.big_int -> (int * gain) ->
    Big_int_Z.big_int **)

let excess_with rest es most g =
  let more =
    Z.sub (Z.mul (snd g).worth (Z.sub rest (snd g).top)) (snd g).price
  in
  if (&&) ((&&) (Z.ltb most more) (Z.ltb (snd g).top rest))
       (is_open (few_at (fst g) es))
  then more
  else most

(** val few_excess :
    Big_int_Z.big_int -> few -> (int * gain) list -> Big_int_Z.big_int **)

let few_excess rest es gs =
  fold_left (excess_with rest es) gs Big_int_Z.zero_big_int

(** val gain_of :
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    -> gain **)

let gain_of = function
| (p0, p1) ->
  let (p, r) = p0 in
  let (o, v) = p1 in { worth = (Z.sub r p); top = o; price = v }

(** val gains :
    leftover -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> gain list **)

let gains left_over0 prices ps rs =
  map gain_of (combine (combine ps rs) (combine left_over0.tops prices))

(** val price_paid : gain -> Big_int_Z.big_int **)

let price_paid g =
  if Z.ltb Big_int_Z.zero_big_int g.worth
  then g.price
  else Big_int_Z.zero_big_int

(** val excess_at :
    (int * gain) list -> (Big_int_Z.big_int * few) -> Big_int_Z.big_int **)

let excess_at gs patch =
  few_excess (fst patch) (snd patch) gs

(** val all_excess :
    Big_int_Z.big_int -> leftover -> gain list -> Big_int_Z.big_int **)

let all_excess t0 left_over0 gs =
  let gs0 = worthwhile 0 gs in
  Z.add (zsum (map (excess_at gs0) left_over0.stated_patches))
    (Z.mul left_over0.free_patches (excess_at gs0 (t0, [])))

(** val ends_of_tops : leftover -> box -> box **)

let ends_of_tops left_over0 b =
  combine (map fst b) left_over0.tops

(** val priced_least :
    Big_int_Z.big_int -> head -> leftover -> box -> Big_int_Z.big_int list ->
    int -> int -> Big_int_Z.big_int **)

let priced_least t0 h left_over0 b prices winner loser =
  let gs = gains left_over0 prices (weights0 h winner) (weights0 h loser) in
  Z.sub
    (Z.sub
      (Z.add
        (least_sum (weights0 h winner) (weights0 h loser)
          (ends_of_tops left_over0 b))
        (Z.mul t0 (Z.sub (bias_number h winner) (bias_number h loser))))
      (zsum (map price_paid gs))) (all_excess t0 left_over0 gs)

(** val pools_masses : head -> bool **)

let pools_masses h =
  match h.head_similarity with
  | Identity ->
    (match h.head_pooling with
     | MaxPool ->
       (match h.head_readout with
        | Linear -> is_softmax h
        | _ -> false)
     | _ -> false)
  | _ -> false

(** val assignment_least :
    Big_int_Z.big_int -> head -> leftover -> box -> Big_int_Z.big_int list ->
    int -> int -> Big_int_Z.big_int option **)

let assignment_least t0 h left_over0 b prices winner loser =
  if (&&)
       ((&&)
         ((&&) ((&&) (pools_masses h) (has_width h (weights0 h winner)))
           (has_width h (weights0 h loser))) (has_width h prices))
       (forallb (Z.leb Big_int_Z.zero_big_int) prices)
  then Some (priced_least t0 h left_over0 b prices winner loser)
  else None

(** val assignment_at_least :
    head -> certificate -> Big_int_Z.big_int -> leftover -> box ->
    Big_int_Z.big_int list -> int -> Big_int_Z.big_int -> Big_int_Z.big_int
    -> bool **)

let assignment_at_least h c t0 left_over0 b prices rival num den =
  (&&) (Nat.ltb 0 c.patches)
    (bound_at_least h t0
      (assignment_least t0 h left_over0 b prices c.predicted rival) num den)

(** val cut_by :
    ends -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let cut_by s e =
  ((match fst s with
    | Some a -> Z.max (fst e) a
    | None -> fst e),
    (match snd s with
     | Some b -> Z.min (snd e) b
     | None -> snd e))

(** val met_with :
    (Big_int_Z.big_int option -> Big_int_Z.big_int option -> ends) -> box ->
    statement -> box **)

let met_with stated b = function
| AboutActivation (j, lo, hi) -> change_at (cut_by (stated lo hi)) j b
| AboutOthers (except, lo, hi) ->
  change_others (cut_by (stated lo hi)) except 0 b
| _ -> b

(** val met_box :
    (Big_int_Z.big_int option -> Big_int_Z.big_int option -> ends) -> box ->
    statement list -> box **)

let met_box stated b ss =
  fold_left (met_with stated) ss b

module Sort =
 functor (X:TotalLeBool') ->
 struct
  (** val merge : X.t list -> X.t list -> X.t list **)

  let rec merge l1 l2 =
    let rec merge_aux l3 =
      match l1 with
      | [] -> l3
      | a1 :: l1' ->
        (match l3 with
         | [] -> l1
         | a2 :: l2' ->
           if X.leb a1 a2 then a1 :: (merge l1' l3) else a2 :: (merge_aux l2'))
    in merge_aux l2

  (** val merge_list_to_stack :
      X.t list option list -> X.t list -> X.t list option list **)

  let rec merge_list_to_stack stack l =
    match stack with
    | [] -> (Some l) :: []
    | y :: stack' ->
      (match y with
       | Some l' -> None :: (merge_list_to_stack stack' (merge l' l))
       | None -> (Some l) :: stack')

  (** val merge_stack : X.t list option list -> X.t list **)

  let rec merge_stack = function
  | [] -> []
  | y :: stack' ->
    (match y with
     | Some l -> merge l (merge_stack stack')
     | None -> merge_stack stack')

  (** val iter_merge : X.t list option list -> X.t list -> X.t list **)

  let rec iter_merge stack = function
  | [] -> merge_stack stack
  | a :: l' -> iter_merge (merge_list_to_stack stack (a :: [])) l'

  (** val sort : X.t list -> X.t list **)

  let sort =
    iter_merge []

  (** val flatten_stack : X.t list option list -> X.t list **)

  let rec flatten_stack = function
  | [] -> []
  | o :: stack' ->
    (match o with
     | Some l -> app l (flatten_stack stack')
     | None -> flatten_stack stack')
 end

(** val excess :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let excess t0 l =
  fold_right (fun x s -> Z.add (Z.max Big_int_Z.zero_big_int (Z.sub x t0)) s)
    Big_int_Z.zero_big_int l

(** val picked :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int * int **)

let rec picked t0 spare = function
| [] -> (Big_int_Z.zero_big_int, 0)
| x :: l' ->
  if Z.ltb t0 x
  then let (s, n0) = picked t0 spare l' in ((Z.add x s), (Stdlib.Int.succ n0))
  else ((fun fO fS n -> if n=0 then fO () else fS (n-1))
          (fun _ -> picked t0 0 l')
          (fun rest ->
          if Z.eqb x t0
          then let (s, n0) = picked t0 rest l' in
               ((Z.add x s), (Stdlib.Int.succ n0))
          else picked t0 spare l')
          spare)

module Descending =
 struct
  type t = Big_int_Z.big_int

  (** val leb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

  let leb x y =
    Z.leb y x
 end

module DescendingSort = Sort(Descending)

(** val nth_greatest : int -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let nth_greatest n0 l =
  nth (pred n0) (DescendingSort.sort l) Big_int_Z.zero_big_int

(** val number_above : Big_int_Z.big_int -> Big_int_Z.big_int list -> int **)

let number_above t0 l =
  length (filter (fun x -> Z.ltb t0 x) l)

(** val top_mean_ends :
    int -> box -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let top_mean_ends k s =
  let n0 = Nat.min k (length s) in
  let lows = map fst s in
  let highs = map snd s in
  let t0 = nth_greatest n0 lows in
  let u = nth_greatest n0 highs in
  let (least, taken0) = picked t0 (sub n0 (number_above t0 lows)) lows in
  if (&&) (Nat.ltb 0 n0) ((=) taken0 n0)
  then Some ((floor_div least (Z.of_nat n0)),
         (ceil_div (Z.add (Z.mul (Z.of_nat n0) u) (excess u highs))
           (Z.of_nat n0)))
  else None

(** val total0 : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let total0 l =
  fold_right Z.add Big_int_Z.zero_big_int l

(** val shortfall : Big_int_Z.big_int -> box -> Big_int_Z.big_int **)

let shortfall t0 s =
  total0 (map (fun e -> Z.max Big_int_Z.zero_big_int (Z.sub t0 (snd e))) s)

(** val surplus :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int **)

let surplus l e =
  Z.add (Z.mul (Z.sub l Big_int_Z.unit_big_int) (snd e)) (fst e)

(** val max_minus_mean_of :
    (Big_int_Z.big_int * Big_int_Z.big_int) -> box ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let max_minus_mean_of e s =
  let l = Z.of_nat (length (e :: s)) in
  let t0 = greatest0 (fst e) (map fst s) in
  let most = greatest0 (surplus l e) (map (surplus l) s) in
  ((floor_div (shortfall t0 (e :: s)) l),
  (ceil_div (Z.sub most (total0 (map fst (e :: s)))) l))

(** val max_minus_mean_ends :
    box -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let max_minus_mean_ends = function
| [] -> None
| e :: s' -> Some (max_minus_mean_of e s')

type distance = Big_int_Z.big_int * Big_int_Z.big_int option

(** val distance_of : ends -> distance **)

let distance_of e =
  ((match fst e with
    | Some a -> Z.max Big_int_Z.zero_big_int a
    | None -> Big_int_Z.zero_big_int),
    (option_map (Z.max Big_int_Z.zero_big_int) (snd e)))

(** val bounded_sum : distance list -> Big_int_Z.big_int **)

let bounded_sum c =
  fold_right (fun p s -> match snd p with
                         | Some b -> Z.add b s
                         | None -> s) Big_int_Z.zero_big_int c

(** val unbounded : distance list -> int **)

let unbounded c =
  fold_right (fun p n0 ->
    match snd p with
    | Some _ -> n0
    | None -> Stdlib.Int.succ n0) 0 c

(** val others :
    Big_int_Z.big_int -> int -> distance -> Big_int_Z.big_int option **)

let others sum infinite p =
  match snd p with
  | Some b ->
    ((fun fO fS n -> if n=0 then fO () else fS (n-1))
       (fun _ -> Some (Z.sub sum b))
       (fun _ -> None)
       infinite)
  | None ->
    ((fun fO fS n -> if n=0 then fO () else fS (n-1))
       (fun _ -> None)
       (fun n0 ->
       (fun fO fS n -> if n=0 then fO () else fS (n-1))
         (fun _ -> Some sum)
         (fun _ -> None)
         n0)
       infinite)

type candidate = Big_int_Z.big_int * Big_int_Z.big_int option

(** val candidate_of : Big_int_Z.big_int -> int -> distance -> candidate **)

let candidate_of sum infinite p =
  ((fst p), (option_map (Z.add (fst p)) (others sum infinite p)))

(** val candidates : distance list -> candidate list **)

let candidates c =
  map (candidate_of (bounded_sum c) (unbounded c)) c

(** val beats : candidate -> candidate -> bool **)

let beats p q =
  (&&) (Z.leb (fst p) (fst q))
    (match snd p with
     | Some a -> (match snd q with
                  | Some b -> Z.leb b a
                  | None -> false)
     | None -> true)

(** val unbeaten : candidate list -> candidate list -> candidate list **)

let rec unbeaten found0 = function
| [] -> found0
| p :: l' ->
  unbeaten
    (if existsb (fun q -> beats q p) found0
     then found0
     else p :: (filter (fun q -> negb (beats p q)) found0)) l'

(** val at_distance :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let at_distance =
  value_at

(** val at_mean :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let at_mean h t0 b terms0 logs o l a =
  value_at h (Z.mul t0 (Z.of_nat l)) b terms0 logs o a

(** val candidate_most :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> int -> candidate -> Big_int_Z.big_int option **)

let candidate_most h t0 b terms0 logs o l p =
  match at_distance h t0 b terms0 logs o (fst p) with
  | Some p0 ->
    let (_, u) = p0 in
    (match snd p with
     | Some a ->
       option_map (fun v -> Z.sub u (fst v))
         (at_mean h t0 b terms0 logs o l a)
     | None -> Some u)
  | None -> None

(** val distance_most :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> distance list -> Big_int_Z.big_int option **)

let distance_most h t0 b terms0 logs o c =
  match all_some
          (map (candidate_most h t0 b terms0 logs o (length c))
            (unbeaten [] (candidates c))) with
  | Some l0 -> (match l0 with
                | [] -> None
                | x :: l -> Some (greatest0 x l))
  | None -> None

(** val nearest : distance list -> Big_int_Z.big_int option **)

let nearest c =
  fold_right (fun p x -> either Z.min (snd p) x) None c

(** val sum_from : Big_int_Z.big_int -> distance list -> Big_int_Z.big_int **)

let sum_from t0 c =
  fold_right (fun p s -> Z.add (Z.max (fst p) t0) s) Big_int_Z.zero_big_int c

(** val distance_least :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> distance list -> Big_int_Z.big_int option **)

let distance_least h t0 b terms0 logs o c =
  match nearest c with
  | Some t1 ->
    (match at_distance h t0 b terms0 logs o t1 with
     | Some p ->
       let (a, _) = p in
       (match at_mean h t0 b terms0 logs o (length c) (sum_from t1 c) with
        | Some p0 ->
          let (_, b0) = p0 in Some (Z.max Big_int_Z.zero_big_int (Z.sub a b0))
        | None -> None)
     | None -> None)
  | None -> Some Big_int_Z.zero_big_int

(** val max_minus_mean_distance_ends :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> ends list -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let max_minus_mean_distance_ends h t0 b terms0 logs o c =
  match h.head_similarity with
  | LogRatio _ ->
    (match direction_of h o with
     | Falls ->
       let d = map distance_of c in
       both (distance_least h t0 b terms0 logs o d)
         (distance_most h t0 b terms0 logs o d)
     | _ -> None)
  | _ -> None

(** val pool_columns :
    (Big_int_Z.big_int list -> own -> 'a1 -> 'a2) -> Big_int_Z.big_int list
    list -> own list -> 'a1 list -> 'a2 list **)

let rec pool_columns pool rows0 os cs =
  match os with
  | [] -> []
  | o :: os' ->
    (match cs with
     | [] -> []
     | c :: cs' ->
       (pool (hd [] rows0) o c) :: (pool_columns pool (tl rows0) os' cs'))

(** val each_similarity :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> ends list -> box option **)

let each_similarity h t0 b terms0 logs =
  let similar_of = similar_ends h t0 b terms0 logs in
  (fun o c -> all_some (map_remembering same_ends (similar_of o) c))

(** val greatest_similarity :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> ends list -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let greatest_similarity h t0 b terms0 logs =
  let similar_of = similar_ends h t0 b terms0 logs in
  (fun o c ->
  match c with
  | [] -> None
  | _ :: _ ->
    (match direction_of h o with
     | Falls -> similar_of o (pooled lesser c)
     | Rises -> similar_of o (pooled greater c)
     | Neither ->
       (match each_similarity h t0 b terms0 logs o c with
        | Some s -> greatest_ends s
        | None -> None)))

(** val pool_column :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    Big_int_Z.big_int list -> own -> ends list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let pool_column h t0 b terms0 logs row0 o c =
  match h.head_pooling with
  | MaxPool -> greatest_similarity h t0 b terms0 logs o c
  | MaskedMax _ ->
    greatest_similarity h t0 b terms0 logs o (kept row0 (length c) c)
  | TopMean k ->
    (match each_similarity h t0 b terms0 logs o c with
     | Some s -> top_mean_ends k s
     | None -> None)
  | MaxMinusMean ->
    (match each_similarity h t0 b terms0 logs o c with
     | Some s -> max_minus_mean_ends s
     | None -> None)
  | MaxMinusMeanDistance ->
    max_minus_mean_distance_ends h t0 b terms0 logs o c

(** val mask_of : pooling -> Big_int_Z.big_int list list **)

let mask_of = function
| MaskedMax mask0 -> mask0
| _ -> []

(** val pool_box :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    table -> box option **)

let pool_box h t0 b terms0 logs t1 =
  all_some
    (pool_columns (pool_column h t0 b terms0 logs) (mask_of h.head_pooling)
      (owns h) (columns h.count t1))

(** val into_unit :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let into_unit b a =
  Z.max Big_int_Z.zero_big_int (Z.min b a)

(** val node_least :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let node_least b e absent present =
  let s = into_unit b (if Z.ltb present absent then snd e else fst e) in
  floor_div (Z.add (Z.mul (Z.sub b s) absent) (Z.mul s present)) b

(** val tree_bound :
    box -> ((Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int) -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> (int -> Big_int_Z.big_int) -> int ->
    Big_int_Z.big_int -> Big_int_Z.big_int option **)

let rec tree_bound b node absent present leaf nodes child =
  if Z.ltb child Big_int_Z.zero_big_int
  then Some
         (leaf
           (Z.to_nat
             (Z.sub (Big_int_Z.minus_big_int Big_int_Z.unit_big_int) child)))
  else ((fun fO fS n -> if n=0 then fO () else fS (n-1))
          (fun _ -> None)
          (fun rest ->
          let i = Z.to_nat child in
          let below = tree_bound b node absent present leaf rest in
          (match nth_error b i with
           | Some e ->
             (match below (nth i absent Big_int_Z.zero_big_int) with
              | Some x ->
                (match below (nth i present Big_int_Z.zero_big_int) with
                 | Some y -> Some (node e x y)
                 | None -> None)
              | None -> None)
           | None -> None))
          nodes)

(** val leaf_difference :
    head -> Big_int_Z.big_int -> int -> int -> int -> Big_int_Z.big_int **)

let leaf_difference h b winner loser leaf =
  Z.mul b
    (Z.sub (nth leaf (weights0 h winner) Big_int_Z.zero_big_int)
      (nth leaf (weights0 h loser) Big_int_Z.zero_big_int))

(** val soft_tree_least :
    head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> int -> int -> Big_int_Z.big_int option **)

let soft_tree_least h b b0 absent present winner loser =
  if activations_in_unit h
  then tree_bound b0 (node_least b) absent present
         (leaf_difference h b winner loser) h.count Big_int_Z.zero_big_int
  else None

(** val member_terms :
    head -> Big_int_Z.big_int -> ((Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int) -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    box -> Big_int_Z.big_int list **)

let rec member_terms h b side ws bs b0 =
  match ws with
  | [] -> []
  | w :: ws' ->
    (match b0 with
     | [] -> []
     | e :: b' ->
       let rest = member_terms h b side ws' (tl bs) b' in
       if Z.eqb w (unit_of_weights h)
       then (Z.add (Z.mul (side e) (unit_of_weights h))
              (Z.mul b (hd Big_int_Z.zero_big_int bs))) :: rest
       else rest)

(** val greatest1 : Big_int_Z.big_int list -> Big_int_Z.big_int option **)

let greatest1 = function
| [] -> None
| x :: l' -> Some (fold_right Z.max x l')

(** val maximum_least :
    head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int option **)

let maximum_least h b b0 winner loser =
  let terms0 = fun side c ->
    greatest1 (member_terms h b side (weights0 h c) h.bias b0)
  in
  (match terms0 fst winner with
   | Some least ->
     (match terms0 snd loser with
      | Some most -> Some (Z.sub least most)
      | None -> None)
   | None -> None)

(** val least_difference :
    head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int option **)

let least_difference h b b0 winner loser =
  match h.head_readout with
  | Linear -> linear_least h b b0 winner loser
  | SoftTree (absent, present) ->
    soft_tree_least h b b0 absent present winner loser
  | Maximum -> maximum_least h b b0 winner loser

(** val difference_at_least :
    head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> bool **)

let difference_at_least h b b0 winner loser num den =
  bound_at_least h b (least_difference h b b0 winner loser) num den

(** val parabola :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let parabola a l x =
  Z.mul x (Z.sub (Z.mul a x) l)

(** val least_at0 :
    Big_int_Z.big_int -> Big_int_Z.big_int option -> Big_int_Z.big_int option
    -> Big_int_Z.big_int -> Big_int_Z.big_int option **)

let least_at0 a lo hi l =
  if Z.ltb Big_int_Z.zero_big_int a
  then let beyond_lo =
         match lo with
         | Some a0 ->
           Z.leb l
             (Z.mul
               (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) a)
               a0)
         | None -> false
       in
       let beyond_hi =
         match hi with
         | Some b ->
           Z.leb
             (Z.mul
               (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) a)
               b) l
         | None -> false
       in
       if beyond_lo
       then option_map (parabola a l) lo
       else if beyond_hi
            then option_map (parabola a l) hi
            else Some
                   (floor_div (Z.opp (Z.mul l l))
                     (Z.mul (Big_int_Z.mult_int_big_int 2
                       (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
                       a))
  else (match lo with
        | Some a0 ->
          (match hi with
           | Some b -> Some (Z.min (parabola a l a0) (parabola a l b))
           | None ->
             if (&&) (Z.eqb a Big_int_Z.zero_big_int)
                  (Z.leb l Big_int_Z.zero_big_int)
             then Some (parabola a l a0)
             else None)
        | None ->
          (match hi with
           | Some b ->
             if (&&) (Z.eqb a Big_int_Z.zero_big_int)
                  (Z.leb Big_int_Z.zero_big_int l)
             then Some (parabola a l b)
             else None
           | None ->
             if (&&) (Z.eqb a Big_int_Z.zero_big_int)
                  (Z.eqb l Big_int_Z.zero_big_int)
             then Some Big_int_Z.zero_big_int
             else None))

(** val least_over :
    Big_int_Z.big_int -> Big_int_Z.big_int option -> Big_int_Z.big_int option
    -> Big_int_Z.big_int list -> Big_int_Z.big_int option **)

let rec least_over a lo hi = function
| [] -> Some Big_int_Z.zero_big_int
| l :: ls' ->
  (match least_at0 a lo hi l with
   | Some x ->
     (match least_over a lo hi ls' with
      | Some y -> Some (Z.add x y)
      | None -> None)
   | None -> None)

type joint_hint = { share_unit : Big_int_Z.big_int;
                    shares_of : Big_int_Z.big_int list;
                    ball_share : Big_int_Z.big_int }

(** val rate : head -> int -> Big_int_Z.big_int **)

let rate h j =
  match h.head_similarity with
  | Negated ->
    Z.opp (match nth_error h.scales j with
           | Some s -> s
           | None -> h.scale_unit)
  | _ -> h.scale_unit

(** val is_joint : head -> certificate -> bool **)

let is_joint h c =
  (&&)
    ((&&)
      ((&&) ((&&) ((=) c.patches (Stdlib.Int.succ 0)) (spatial h))
        (match h.head_similarity with
         | Identity -> true
         | Negated -> true
         | _ -> false))
      (match h.head_pooling with
       | MaxPool -> true
       | TopMean k -> Nat.ltb 0 k
       | _ -> false)) (match h.head_readout with
                       | Linear -> true
                       | _ -> false)

(** val gain_at :
    Big_int_Z.big_int ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) ->
    Big_int_Z.big_int **)

let gain_at v = function
| (p0, t0) -> let (p, r) = p0 in Z.mul v (Z.mul (Z.sub p r) t0)

(** val margin_gains :
    head -> Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int list **)

let margin_gains h v winner loser =
  map (gain_at v)
    (combine (combine (weights0 h winner) (weights0 h loser))
      (map (rate h) (seq 0 h.count)))

(** val taken :
    (int * (Big_int_Z.big_int option * Big_int_Z.big_int option)) list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> (Big_int_Z.big_int
    list * Big_int_Z.big_int) option **)

let rec taken here ws ks =
  match here with
  | [] -> Some (ks, Big_int_Z.zero_big_int)
  | p :: here' ->
    let (j, p0) = p in
    let (lo, hi) = p0 in
    (match ws with
     | [] -> Some (ks, Big_int_Z.zero_big_int)
     | w :: ws' ->
       (match taken here' ws' ks with
        | Some p1 ->
          let (ks', ends0) = p1 in
          if Z.eqb w Big_int_Z.zero_big_int
          then Some (ks', ends0)
          else (match if Z.ltb Big_int_Z.zero_big_int w then lo else hi with
                | Some e ->
                  Some ((change_at (fun k -> Z.sub k w) j ks'),
                    (Z.add ends0 (Z.mul w e)))
                | None -> None)
        | None -> None))

(** val over_size :
    head -> measure -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let over_size h m k =
  match h.head_geometry with
  | Cosine _ ->
    let x = Z.mul k (root_unit h) in
    let s = floor_div (Z.mul x (root_unit h)) m.near in
    (s, (Z.max (Z.sub x (times_down h m s)) (Z.sub (times_up h m s) x)))
  | RootedCosine _ ->
    let x = Z.mul k (root_unit h) in
    let s = floor_div (Z.mul x (root_unit h)) m.near in
    (s, (Z.max (Z.sub x (times_down h m s)) (Z.sub (times_up h m s) x)))
  | _ -> (k, Big_int_Z.zero_big_int)

(** val sides :
    head -> Big_int_Z.big_int option * Big_int_Z.big_int option **)

let sides h =
  match h.head_geometry with
  | Cosine _ ->
    ((if no_negative_coordinate h then Some Big_int_Z.zero_big_int else None),
      (if no_positive_coordinate h then Some Big_int_Z.zero_big_int else None))
  | RootedCosine _ ->
    ((if no_negative_coordinate h then Some Big_int_Z.zero_big_int else None),
      (if no_positive_coordinate h then Some Big_int_Z.zero_big_int else None))
  | _ -> (h.lower, h.upper)

(** val curve_left :
    head -> Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let curve_left h ss v =
  Z.add (Z.mul (Z.mul (turn h) (curvature h)) (zsum ss)) v

(** val vector_left :
    head -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let vector_left h ss =
  map
    (Z.mul
      (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) (turn h)))
    (mixed ss h.prototypes (repeat Big_int_Z.zero_big_int h.depth))

(** val constant_left :
    head -> measure list -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let constant_left h ms ss =
  Z.mul (turn h)
    (zdot ss (map (fun m -> constant h Big_int_Z.unit_big_int m.square) ms))

(** val radius_of : head -> Big_int_Z.big_int * Big_int_Z.big_int **)

let radius_of h =
  match ball h with
  | Some r -> (r.numerator, r.denominator)
  | None -> (Big_int_Z.zero_big_int, Big_int_Z.unit_big_int)

(** val joint_least :
    head -> certificate -> measure list -> int -> int -> joint_hint ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let joint_least h c ms winner loser x =
  let u = c.statement_unit in
  let v = x.share_unit in
  let here = stated_at 0 c.statements in
  let v0 =
    match ball h with
    | Some _ -> Z.max Big_int_Z.zero_big_int x.ball_share
    | None -> Big_int_Z.zero_big_int
  in
  if (&&)
       ((&&) ((&&) (is_joint h c) (has_width h (weights0 h winner)))
         (has_width h (weights0 h loser)))
       (forallb (fun s -> Nat.ltb (fst s) h.count) here)
  then (match taken here x.shares_of (margin_gains h v winner loser) with
        | Some p ->
          let (ks, ends0) = p in
          let made =
            map (fun pat -> let (m, k) = pat in over_size h m k)
              (combine ms ks)
          in
          let ss = map fst made in
          (match least_over (curve_left h ss v0) (fst (sides h))
                   (snd (sides h)) (vector_left h ss) with
           | Some least ->
             let (rn, rd) = radius_of h in
             let s = unit_of h in
             let step0 = Z.mul (turn h) (slope h) in
             let form =
               Z.sub
                 (Z.mul (Z.add least (constant_left h ms ss)) (Z.mul rd rd))
                 (Z.mul (Z.mul v0 (Z.mul s s)) (Z.mul rn rn))
             in
             let rest =
               Z.sub
                 (Z.mul (root_unit h)
                   (Z.add ends0
                     (Z.mul
                       (Z.mul (Z.mul v h.scale_unit)
                         (Z.sub (bias_number h winner) (bias_number h loser)))
                       u))) (Z.mul (zsum (map snd made)) u)
             in
             Some
             ((Z.add (Z.mul form u) (Z.mul rest (Z.mul step0 (Z.mul rd rd)))),
             (Z.mul
               (Z.mul
                 (Z.mul (Z.mul (Z.mul step0 (Z.mul rd rd)) u) (root_unit h))
                 v) h.scale_unit))
           | None -> None)
        | None -> None)
  else None

(** val joint_at_least :
    head -> certificate -> measure list -> int -> int -> joint_hint ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let joint_at_least h c ms winner loser x num den =
  match joint_least h c ms winner loser x with
  | Some p ->
    let (least, unit0) = p in
    Z.leb (Z.mul num (Z.mul unit0 (unit_of_weights h))) (Z.mul least den)
  | None -> false

type links = { reached : Big_int_Z.big_int option list;
               linked : (int * Big_int_Z.big_int) option list }

(** val is_lipschitz : head -> bool **)

let is_lipschitz h =
  (&&)
    ((&&) (forallb (fun p -> Nat.leb (length p) h.depth) h.prototypes)
      (euclidean h)) (match h.head_pooling with
                      | MaxPool -> true
                      | _ -> false)

(** val value :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let value h t0 b terms0 logs o x =
  match direction_of h o with
  | Falls ->
    if Z.leb Big_int_Z.zero_big_int x
    then value_at h t0 b terms0 logs o x
    else None
  | _ -> None

(** val beyond :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    ((own * (Big_int_Z.big_int * Big_int_Z.big_int)) * Big_int_Z.big_int
    option) -> Big_int_Z.big_int option **)

let beyond h t0 b terms0 logs = function
| (p, o0) ->
  let (o, e) = p in
  (match o0 with
   | Some t1 ->
     (match value h t0 b terms0 logs o t1 with
      | Some v -> if Z.ltb (snd e) (fst v) then Some t1 else None
      | None -> None)
   | None -> None)

(** val within_reach :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    ((own * (Big_int_Z.big_int * Big_int_Z.big_int)) * Big_int_Z.big_int
    option) -> Big_int_Z.big_int option **)

let within_reach h t0 b terms0 logs = function
| (p, o0) ->
  let (o, e) = p in
  (match o0 with
   | Some t1 ->
     (match value h t0 b terms0 logs o t1 with
      | Some v -> if Z.ltb (snd v) (fst e) then Some t1 else None
      | None -> None)
   | None -> None)

(** val square_apart :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int **)

let square_apart p r =
  Z.add
    (Z.sub (zdot p p)
      (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) (zdot p r)))
    (zdot r r)

(** val roots_fit :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let roots_fit small apart great =
  (&&) (Z.leb (Z.add small apart) great)
    (Z.leb
      (Z.mul
        (Z.mul (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
          Big_int_Z.unit_big_int)) small) apart)
      (Z.mul (Z.sub (Z.sub great small) apart)
        (Z.sub (Z.sub great small) apart)))

(** val scaled : head -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let scaled h x =
  Z.mul x (Z.mul (unit_of h) (unit_of h))

(** val cut_above :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    Big_int_Z.big_int option list -> Big_int_Z.big_int list -> own ->
    (int * Big_int_Z.big_int) option ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let cut_above h t0 b terms0 logs bounds0 p o link e =
  match link with
  | Some p0 ->
    let (k, s) = p0 in
    (match nth k bounds0 None with
     | Some t1 ->
       if roots_fit (scaled h s) (Z.mul t0 (square_apart p (points h k)))
            (scaled h t1)
       then (match value h t0 b terms0 logs o s with
             | Some v -> ((fst e), (Z.min (snd e) (snd v)))
             | None -> e)
       else e
     | None -> e)
  | None -> e

(** val cut_below :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    Big_int_Z.big_int option list -> Big_int_Z.big_int list -> own ->
    (int * Big_int_Z.big_int) option ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let cut_below h t0 b terms0 logs bounds0 p o link e =
  match link with
  | Some p0 ->
    let (k, s) = p0 in
    (match nth k bounds0 None with
     | Some t1 ->
       if roots_fit (scaled h t1) (Z.mul t0 (square_apart p (points h k)))
            (scaled h s)
       then (match value h t0 b terms0 logs o s with
             | Some v -> ((Z.max (fst e) (fst v)), (snd e))
             | None -> e)
       else e
     | None -> e)
  | None -> e

(** val cut_all :
    (Big_int_Z.big_int list -> 'a1 -> 'a2 ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int list list ->
    'a1 list -> 'a2 list -> box -> box **)

let rec cut_all cut0 ps os ls b =
  match ps with
  | [] -> b
  | p :: ps' ->
    (match os with
     | [] -> b
     | o :: os' ->
       (match ls with
        | [] -> b
        | l :: ls' ->
          (match b with
           | [] -> b
           | e :: b' -> (cut0 p o l e) :: (cut_all cut0 ps' os' ls' b'))))

(** val cut_by_links :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    links -> links -> box -> box **)

let cut_by_links h t0 b terms0 logs above below b0 =
  if is_lipschitz h
  then let os = owns h in
       let far0 =
         map (beyond h t0 b terms0 logs)
           (combine (combine os b0) above.reached)
       in
       let near0 =
         map (within_reach h t0 b terms0 logs)
           (combine (combine os b0) below.reached)
       in
       cut_all (cut_below h t0 b terms0 logs near0) h.prototypes os
         below.linked
         (cut_all (cut_above h t0 b terms0 logs far0) h.prototypes os
           above.linked b0)
  else b0

type turns = { turned : Big_int_Z.big_int option list;
               turned_from : (int * (Big_int_Z.big_int * Big_int_Z.big_int))
                             option list }

(** val is_angular : head -> bool **)

let is_angular h =
  (&&)
    (match h.head_geometry with
     | Cosine _ -> true
     | RootedCosine _ -> true
     | _ -> false) (match h.head_pooling with
                    | MaxPool -> true
                    | _ -> false)

(** val rising :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let rising h t0 b terms0 logs o x =
  match direction_of h o with
  | Rises -> value_at h t0 b terms0 logs o x
  | _ -> None

(** val not_above :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    ((own * (Big_int_Z.big_int * Big_int_Z.big_int)) * Big_int_Z.big_int
    option) -> Big_int_Z.big_int option **)

let not_above h t0 b terms0 logs = function
| (p, o0) ->
  let (o, e) = p in
  (match o0 with
   | Some t1 ->
     (match rising h t0 b terms0 logs o t1 with
      | Some v -> if Z.ltb (snd e) (fst v) then Some t1 else None
      | None -> None)
   | None -> None)

(** val not_below :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    ((own * (Big_int_Z.big_int * Big_int_Z.big_int)) * Big_int_Z.big_int
    option) -> Big_int_Z.big_int option **)

let not_below h t0 b terms0 logs = function
| (p, o0) ->
  let (o, e) = p in
  (match o0 with
   | Some t1 ->
     (match rising h t0 b terms0 logs o t1 with
      | Some v -> if Z.ltb (snd v) (fst e) then Some t1 else None
      | None -> None)
   | None -> None)

(** val alike :
    head -> Big_int_Z.big_int -> measure -> measure -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let alike h t0 j k product =
  let r = Z.mul (root_unit h) (root_unit h) in
  if Z.leb Big_int_Z.zero_big_int product
  then floor_div (Z.mul (Z.mul t0 product) r) (Z.mul j.far k.far)
  else floor_div (Z.mul (Z.mul t0 product) r) (Z.mul j.near k.near)

(** val covers :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> bool **)

let covers t0 gap0 w c =
  (&&)
    ((&&) (Z.leb Big_int_Z.zero_big_int w)
      (Z.leb Big_int_Z.zero_big_int gap0))
    (Z.leb
      (Z.mul (Z.mul t0 t0)
        (Z.add
          (Z.sub (Z.mul t0 t0)
            (Z.mul
              (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) w)
              c)) (Z.mul w w))) (Z.mul gap0 gap0))

(** val measured_at : measure list -> int -> measure **)

let measured_at ms k =
  nth k ms { square = Big_int_Z.zero_big_int; total = Big_int_Z.zero_big_int;
    near = Big_int_Z.unit_big_int; far = Big_int_Z.unit_big_int }

(** val turn_above :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    measure list -> Big_int_Z.big_int option list -> Big_int_Z.big_int list
    -> (own * measure) -> (int * (Big_int_Z.big_int * Big_int_Z.big_int))
    option -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let turn_above h t0 b terms0 logs ms bounds0 p x link e =
  match link with
  | Some p0 ->
    let (k, p1) = p0 in
    let (s, w) = p1 in
    (match nth k bounds0 None with
     | Some t1 ->
       if (&&) (Nat.ltb k h.count)
            (covers t0 (Z.sub (Z.mul s t0) (Z.mul w t1)) w
              (alike h t0 (snd x) (measured_at ms k) (zdot p (points h k))))
       then (match rising h t0 b terms0 logs (fst x) s with
             | Some v -> ((fst e), (Z.min (snd e) (snd v)))
             | None -> e)
       else e
     | None -> e)
  | None -> e

(** val turn_below :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    measure list -> Big_int_Z.big_int option list -> Big_int_Z.big_int list
    -> (own * measure) -> (int * (Big_int_Z.big_int * Big_int_Z.big_int))
    option -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let turn_below h t0 b terms0 logs ms bounds0 p x link e =
  match link with
  | Some p0 ->
    let (k, p1) = p0 in
    let (s, w) = p1 in
    (match nth k bounds0 None with
     | Some t1 ->
       if (&&) (Nat.ltb k h.count)
            (covers t0 (Z.sub (Z.mul w t1) (Z.mul s t0)) w
              (alike h t0 (snd x) (measured_at ms k) (zdot p (points h k))))
       then (match rising h t0 b terms0 logs (fst x) s with
             | Some v -> ((Z.max (fst e) (fst v)), (snd e))
             | None -> e)
       else e
     | None -> e)
  | None -> e

(** val cut_by_turns :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    measure list -> turns -> turns -> box -> box **)

let cut_by_turns h t0 b terms0 logs ms above below b0 =
  if is_angular h
  then let os = owns h in
       let xs = combine os ms in
       let upper0 =
         map (not_above h t0 b terms0 logs)
           (combine (combine os b0) above.turned)
       in
       let lower0 =
         map (not_below h t0 b terms0 logs)
           (combine (combine os b0) below.turned)
       in
       cut_all (turn_below h t0 b terms0 logs ms lower0) h.prototypes xs
         below.turned_from
         (cut_all (turn_above h t0 b terms0 logs ms upper0) h.prototypes xs
           above.turned_from b0)
  else b0

(** val greater_of :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec greater_of a b =
  match a with
  | [] -> []
  | x :: a' ->
    (match b with
     | [] -> []
     | y :: b' -> (Z.max x y) :: (greater_of a' b'))

(** val greatest_weights : head -> Big_int_Z.big_int list **)

let greatest_weights h =
  match h.weight with
  | [] -> []
  | row0 :: rows0 -> fold_left greater_of rows0 row0

(** val reaches :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool list **)

let rec reaches row0 greatest3 =
  match row0 with
  | [] -> []
  | w :: row' ->
    (match greatest3 with
     | [] -> []
     | g :: greatest' -> (Z.leb g w) :: (reaches row' greatest'))

(** val own_prototypes : head -> int -> bool list option **)

let own_prototypes h c =
  if (&&)
       ((&&) ((=) (length h.weight) h.classes)
         (forallb (has_width h) h.weight)) (Nat.ltb c h.classes)
  then Some (reaches (weights0 h c) (greatest_weights h))
  else None

(** val marked :
    bool -> bool list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let rec marked side marks row0 =
  match marks with
  | [] -> []
  | m :: marks' ->
    (match row0 with
     | [] -> []
     | w :: row' ->
       (if eqb m side then w else Big_int_Z.zero_big_int) :: (marked side
                                                               marks' row'))

(** val least_of :
    head -> bool -> bool list -> box -> int -> int -> Big_int_Z.big_int **)

let least_of h side marks b winner loser =
  least_sum (marked side marks (weights0 h winner))
    (marked side marks (weights0 h loser)) b

(** val least_by_sum :
    head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> bool list ->
    Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int **)

let least_by_sum h b b0 u own0 hi winner loser =
  Z.add
    (Z.add (least_of h true own0 b0 winner loser)
      (floor_div (Z.opp (Z.mul (Z.mul hi b) (unit_of_weights h))) u))
    (Z.mul b (Z.sub (bias_number h winner) (bias_number h loser)))

(** val greater0 :
    Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
    option **)

let greater0 a b =
  match a with
  | Some x -> (match b with
               | Some y -> Some (Z.max x y)
               | None -> Some x)
  | None -> b

(** val least_by_sums :
    head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> bool list ->
    statement list -> int -> int -> Big_int_Z.big_int option **)

let least_by_sums h b b0 u own0 ss winner loser =
  fold_right (fun s least ->
    match s with
    | AboutSum (rivals, hi) ->
      if lists rivals loser
      then greater0 (Some (least_by_sum h b b0 u own0 hi winner loser)) least
      else least
    | _ -> least) None ss

(** val sum_within :
    head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> bool list -> int
    list option -> Big_int_Z.big_int -> int -> bool **)

let sum_within h b b0 u own0 rivals hi predicted0 =
  forallb (fun r ->
    (||) ((||) ((=) r predicted0) (negb (lists rivals r)))
      (Z.leb (Z.mul (Z.opp (least_of h false own0 b0 predicted0 r)) u)
        (Z.mul (Z.mul hi b) (unit_of_weights h)))) (seq 0 h.classes)

(** val is_linear : head -> bool **)

let is_linear h =
  match h.head_readout with
  | Linear -> true
  | _ -> false

(** val is_sum : statement -> bool **)

let is_sum = function
| AboutSum (_, _) -> true
| _ -> false

(** val needed_marks : head -> certificate -> bool list option **)

let needed_marks h c =
  if (&&) (is_linear h) (existsb is_sum c.statements)
  then own_prototypes h c.predicted
  else None

(** val lead_by_sums :
    head -> certificate -> bool list option -> Big_int_Z.big_int -> box ->
    int -> Big_int_Z.big_int option **)

let lead_by_sums h c own0 b b0 r =
  match own0 with
  | Some own1 ->
    least_by_sums h b b0 c.statement_unit own1 c.statements c.predicted r
  | None -> None

(** val sum_true :
    head -> certificate -> Big_int_Z.big_int -> box -> int list option ->
    Big_int_Z.big_int -> bool **)

let sum_true h c b b0 rivals hi =
  match own_prototypes h c.predicted with
  | Some own0 -> sum_within h b b0 c.statement_unit own0 rivals hi c.predicted
  | None -> false

type settings = { range_unit : Big_int_Z.big_int;
                  box_unit : Big_int_Z.big_int; terms : int }

type prepared = { head_of : head; settings_of : settings;
                  logs_of : logarithms; measures_of : measure list option;
                  packed_of : (Big_int_Z.big_int * Big_int_Z.big_int list)
                              list; domain_of : row option;
                  rows_of : Big_int_Z.big_int list list }

(** val prepare : head -> settings -> prepared **)

let prepare h s =
  let ms = measures h in
  { head_of = h; settings_of = s; logs_of =
  (logarithms_for s.box_unit s.terms); measures_of = ms; packed_of =
  (match ms with
   | Some ms0 -> packed_prototypes h ms0
   | None -> []); domain_of = (domain_row h s.range_unit s.terms); rows_of =
  (no_rows h) }

(** val is_stated : certificate -> int -> bool **)

let is_stated c =
  let stated = stated_prototypes c in (fun j -> existsb ((=) j) stated)

(** val learn : prepared -> certificate -> prepared **)

let learn p c =
  { head_of = p.head_of; settings_of = p.settings_of; logs_of = p.logs_of;
    measures_of = p.measures_of; packed_of = p.packed_of; domain_of =
    p.domain_of; rows_of =
    (more_rows p.packed_of (is_stated c) 0 p.head_of.prototypes p.rows_of) }

type hints = { curve_of : Big_int_Z.big_int; claims_of : claim list;
               weights_of : patch_hints list;
               prices_of : (int * Big_int_Z.big_int list) list;
               joint_of : (int * joint_hint) list; links_above : links;
               links_below : links; turns_above : turns; turns_below : 
               turns }

(** val against : int -> (int * 'a1) list -> 'a1 option **)

let rec against r = function
| [] -> None
| p :: l' ->
  let (k, hint0) = p in if (=) k r then Some hint0 else against r l'

(** val given_table : prepared -> certificate -> hints -> table option **)

let given_table p c x =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  (match h.head_geometry with
   | Softmax ->
     (match p.domain_of with
      | Some own0 -> simplex_table t0 h c own0
      | None -> None)
   | _ ->
     (match p.measures_of with
      | Some ms ->
        (match p.domain_of with
         | Some own0 ->
           metric_table h c t0 ms p.packed_of p.rows_of own0 x.curve_of
             x.claims_of x.weights_of
         | None -> None)
      | None -> None))

(** val given_left : prepared -> certificate -> leftover option **)

let given_left p c =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  if is_softmax h then Some (left_of t0 c h.count) else None

(** val box_of_left : prepared -> leftover option -> box option **)

let box_of_left p =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let b = p.settings_of.box_unit in
  (fun left_over0 ->
  match left_over0 with
  | Some left_over1 ->
    (match p.domain_of with
     | Some own0 ->
       simplex_box h t0 (similar_ends h t0 b p.settings_of.terms p.logs_of)
         left_over1 own0
     | None -> None)
  | None -> None)

(** val cut_by_others : prepared -> hints -> box -> box **)

let cut_by_others p x =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let b = p.settings_of.box_unit in
  (fun b0 ->
  let n0 = p.settings_of.terms in
  let b1 = cut_by_links h t0 b n0 p.logs_of x.links_above x.links_below b0 in
  (match p.measures_of with
   | Some ms ->
     cut_by_turns h t0 b n0 p.logs_of ms x.turns_above x.turns_below b1
   | None -> b1))

(** val pooled_box :
    prepared -> certificate -> hints -> leftover option -> box option **)

let pooled_box p c x =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let b = p.settings_of.box_unit in
  (fun left_over0 ->
  match box_of_left p left_over0 with
  | Some b0 -> Some b0
  | None ->
    (match given_table p c x with
     | Some t1 -> pool_box h t0 b p.settings_of.terms p.logs_of t1
     | None -> None))

(** val given_box :
    prepared -> certificate -> hints -> leftover option -> box option **)

let given_box p c x =
  let b = p.settings_of.box_unit in
  (fun left_over0 ->
  option_map (fun b0 ->
    cut_by_others p x
      (met_box (stated_ends c.statement_unit b) b0 c.statements))
    (pooled_box p c x left_over0))

(** val by_prices :
    prepared -> certificate -> hints -> leftover option -> box -> int ->
    Big_int_Z.big_int -> bool **)

let by_prices p c x =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let b = p.settings_of.box_unit in
  (fun left_over0 b0 r num ->
  match left_over0 with
  | Some left_over1 ->
    (match against r x.prices_of with
     | Some prices ->
       (&&) (Z.eqb t0 b)
         (assignment_at_least h c t0 left_over1 b0 prices r num c.margin_unit)
     | None -> false)
  | None -> false)

(** val as_one :
    prepared -> certificate -> hints -> int -> Big_int_Z.big_int -> bool **)

let as_one p c x =
  let h = p.head_of in
  (fun r num ->
  match p.measures_of with
  | Some ms ->
    (match against r x.joint_of with
     | Some hint0 ->
       joint_at_least h c ms c.predicted r hint0 num c.margin_unit
     | None -> false)
  | None -> false)

(** val by_sums :
    prepared -> certificate -> bool list option -> box -> int ->
    Big_int_Z.big_int -> bool **)

let by_sums p c =
  let h = p.head_of in
  let b = p.settings_of.box_unit in
  (fun own0 b0 r num ->
  bound_at_least h b (lead_by_sums h c own0 b b0 r) num c.margin_unit)

(** val margin_proved :
    prepared -> certificate -> hints -> leftover option -> bool list option
    -> box -> int -> bool **)

let margin_proved p c x =
  let h = p.head_of in
  let b = p.settings_of.box_unit in
  (fun left_over0 own0 b0 r ->
  let num = nth r c.margins Big_int_Z.zero_big_int in
  (||) ((=) r c.predicted)
    ((&&) (Z.ltb Big_int_Z.zero_big_int num)
      ((||)
        ((||)
          ((||) (difference_at_least h b b0 c.predicted r num c.margin_unit)
            (by_sums p c own0 b0 r num))
          (by_prices p c x left_over0 b0 r num)) (as_one p c x r num))))

(** val unproved : prepared -> certificate -> hints -> int list option **)

let unproved p c x =
  let h = p.head_of in
  if Nat.ltb 0 c.patches
  then let left_over0 = given_left p c in
       (match given_box p c x left_over0 with
        | Some b ->
          let own0 = needed_marks h c in
          Some
          (filter (fun r -> negb (margin_proved p c x left_over0 own0 b r))
            (seq 0 h.classes))
        | None -> None)
  else None

(** val check : prepared -> certificate -> hints -> bool **)

let check p c x =
  match unproved p c x with
  | Some l -> (match l with
               | [] -> true
               | _ :: _ -> false)
  | None -> false

type measured = { integers : Big_int_Z.big_int list;
                  length_square : Big_int_Z.big_int;
                  length_ends : (Big_int_Z.big_int * Big_int_Z.big_int) }

(** val root_over :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let root_over t0 n0 =
  ((root_floor (Z.mul (Z.mul t0 t0) n0)),
    (root_ceil (Z.mul (Z.mul t0 t0) n0)))

(** val measured_of :
    Big_int_Z.big_int -> head -> Big_int_Z.big_int list -> measured **)

let measured_of t0 h p =
  let square0 = zdot p p in
  { integers = p; length_square = square0; length_ends =
  (match h.head_geometry with
   | Cosine _ -> root_over t0 square0
   | RootedCosine _ -> root_over t0 square0
   | _ -> (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)) }

(** val ratio_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let ratio_ends num low0 high0 =
  if Z.eqb num Big_int_Z.zero_big_int
  then Some (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)
  else if Z.ltb Big_int_Z.zero_big_int low0
       then Some
              (if Z.ltb Big_int_Z.zero_big_int num
               then ((floor_div num high0), (ceil_div num low0))
               else ((floor_div num low0), (ceil_div num high0)))
       else None

(** val stretch_ends :
    Big_int_Z.big_int -> head -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let stretch_ends t0 h u square0 =
  match h.head_geometry with
  | Cosine e ->
    if Z.leb Big_int_Z.zero_big_int e.numerator
    then Some
           (add_ends (root_over t0 square0)
             (quotient_ends t0 (Z.mul u e.numerator) e.denominator))
    else None
  | RootedCosine e ->
    if Z.leb Big_int_Z.zero_big_int e.numerator
    then let under =
           quotient_ends (Z.mul t0 t0)
             (Z.add (Z.mul square0 e.denominator)
               (Z.mul (Z.mul u u) e.numerator)) e.denominator
         in
         Some ((root_floor (fst under)), (root_ceil (snd under)))
    else None
  | _ -> Some (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)

(** val cosine_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let cosine_ends t0 d size0 stretch =
  match ratio_ends (Z.mul (Z.mul (Z.mul t0 t0) t0) d)
          (Z.mul (fst size0) (fst stretch)) (Z.mul (snd size0) (snd stretch)) with
  | Some e -> Some ((Z.max (Z.opp t0) (fst e)), (Z.min t0 (snd e)))
  | None -> None

(** val observed_of :
    Big_int_Z.big_int -> head -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) -> measured
    -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let observed_of t0 h d u square0 stretch m =
  let s = h.coord_unit in
  (match h.head_geometry with
   | Euclidean ->
     Some
       (quotient_ends t0
         (Z.add
           (Z.sub (Z.mul (Z.mul s s) square0)
             (Z.mul
               (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                 (Z.mul u s)) d)) (Z.mul (Z.mul u u) m.length_square))
         (Z.mul (Z.mul u u) (Z.mul s s)))
   | InnerProduct _ -> Some (quotient_ends t0 d (Z.mul u s))
   | Softmax -> None
   | _ -> cosine_ends t0 d m.length_ends stretch)

(** val observed_ends :
    Big_int_Z.big_int -> head -> Big_int_Z.big_int list -> Big_int_Z.big_int
    -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    measured -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let observed_ends t0 h z0 u square0 stretch m =
  observed_of t0 h (zdot z0 m.integers) u square0 stretch m

type exp_table =
| Entry of int * Big_int_Z.big_int option
| Fork of int * exp_table * exp_table

(** val look : exp_table -> int -> Big_int_Z.big_int option **)

let rec look t0 b =
  match t0 with
  | Entry (k, e) -> if (=) b k then e else None
  | Fork (h, below, above) ->
    if Nat.ltb b h then look below b else look above b

(** val entry0 :
    Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    exp_table **)

let entry0 f b e =
  let low0 = floor_div (fst e) f in
  Entry (b,
  (if Z.leb (snd e)
        (Z.mul
          (Z.add low0 (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
          f)
   then Some low0
   else None))

(** val grow :
    Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
    (int * (Big_int_Z.big_int * Big_int_Z.big_int)) list -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) -> exp_table **)

let rec grow w f last0 steps start e =
  if Nat.ltb last0 start
  then Entry (start, None)
  else (match steps with
        | [] -> entry0 f start e
        | p0 :: steps' ->
          let (k, p) = p0 in
          Fork ((add start k), (grow w f last0 steps' start e),
          (grow w f last0 steps' (add start k) (mul_ends (Z.mul w f) e p))))

(** val doubled0 :
    Big_int_Z.big_int -> Big_int_Z.big_int -> int -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (int * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
    (int * (Big_int_Z.big_int * Big_int_Z.big_int)) list **)

let rec doubled0 w f n0 k p steps =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> steps)
    (fun n' ->
    doubled0 w f n' (add k k) (mul_ends (Z.mul w f) p p) ((k, p) :: steps))
    n0

(** val exp_entries :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> int
    -> int -> exp_table **)

let exp_entries w f g last0 terms0 depth0 =
  match exp_ends (Z.mul w f) terms0 (Big_int_Z.minus_big_int
          Big_int_Z.unit_big_int) g with
  | Some p ->
    grow w f last0 (doubled0 w f depth0 (Stdlib.Int.succ 0) p []) 0
      ((Z.mul w f), (Z.mul w f))
  | None -> Entry (0, None)

(** val low_exp :
    int -> exp_table -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let low_exp last0 t0 g w n0 =
  let m = Z.shiftr n0 w in
  if Z.leb (Z.opp m) (Z.of_nat last0)
  then let r = Z.sub n0 (Z.shiftl m w) in
       (match look t0 (Z.to_nat (Z.opp m)) with
        | Some e ->
          Some (e,
            (Z.shiftr
              (Z.mul e
                (Z.add r
                  (Z.shiftr (Z.mul r r)
                    (Z.add (Z.add g w) Big_int_Z.unit_big_int)))) (Z.add g w)))
        | None -> None)
  else (match look t0 last0 with
        | Some e ->
          if Z.eqb e Big_int_Z.zero_big_int
          then Some (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)
          else None
        | None -> None)

(** val low_sums :
    int -> exp_table -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let rec low_sums last0 t0 g w shift top0 z0 entries1 added =
  match z0 with
  | [] -> Some (entries1, added)
  | k :: z' ->
    let n0 = Z.sub (Z.shiftr k shift) top0 in
    if Z.leb n0 Big_int_Z.zero_big_int
    then (match low_exp last0 t0 g w n0 with
          | Some p ->
            let (e, a) = p in
            low_sums last0 t0 g w shift top0 z' (Z.add entries1 e)
              (Z.add added a)
          | None -> None)
    else None

(** val sum_ends :
    Big_int_Z.big_int -> int -> exp_table -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let sum_ends g last0 t0 g0 w shift top0 z0 =
  match low_sums last0 t0 g0 w shift top0 z0 Big_int_Z.zero_big_int
          Big_int_Z.zero_big_int with
  | Some p ->
    let (entries1, added) = p in
    let low0 = Z.add entries1 added in
    Some (low0,
    (Z.add
      (Z.add
        (Z.add low0
          (Z.mul (Big_int_Z.mult_int_big_int 2
            ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
            Big_int_Z.unit_big_int)) (Z.of_nat (length z0))))
        (ceil_div
          (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            entries1)
          (Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
            (Z.add g0 w))))
      (ceil_div added
        (Z.mul
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          Big_int_Z.unit_big_int) (Z.mul g g)))))
  | None -> None

(** val greatest_coordinate : Big_int_Z.big_int list -> Big_int_Z.big_int **)

let greatest_coordinate z0 =
  fold_right Z.max (hd Big_int_Z.zero_big_int z0) z0

(** val exponentials :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) list
    option **)

let exponentials t0 terms0 u top0 z0 =
  all_some (map (fun k -> exp_ends t0 terms0 (Z.sub k top0) u) z0)

(** val mass_ends :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let mass_ends t0 total2 e =
  ((floor_div (Z.mul t0 (fst e)) (snd total2)),
    (Z.min t0 (ceil_div (Z.mul t0 (snd e)) (fst total2))))

(** val masses :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int list
    -> (Big_int_Z.big_int * Big_int_Z.big_int) list option **)

let masses t0 terms0 u z0 =
  match exponentials t0 terms0 u (greatest_coordinate z0) z0 with
  | Some es ->
    let total2 = ((zsum (map fst es)), (zsum (map snd es))) in
    if Z.ltb Big_int_Z.zero_big_int (fst total2)
    then Some (map (mass_ends t0 total2) es)
    else None
  | None -> None

(** val sum_scale : Big_int_Z.big_int **)

let sum_scale =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))))

(** val finer_scale : Big_int_Z.big_int **)

let finer_scale =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    Big_int_Z.unit_big_int))))

(** val grid_bits : Big_int_Z.big_int **)

let grid_bits =
  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))

(** val fine_bits : Big_int_Z.big_int **)

let fine_bits =
  (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    Big_int_Z.unit_big_int))))

(** val exp_grid : Big_int_Z.big_int **)

let exp_grid =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) grid_bits

(** val last_entry : int **)

let last_entry =
  Z.to_nat
    (Z.mul
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
      Big_int_Z.unit_big_int)))) exp_grid)

(** val fine_unit : Big_int_Z.big_int **)

let fine_unit =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    (Z.add grid_bits fine_bits)

(** val softmax_table : int -> int -> exp_table **)

let softmax_table terms0 depth0 =
  exp_entries sum_scale finer_scale exp_grid last_entry terms0 depth0

(** val total_ends :
    exp_table -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let total_ends t0 u top0 z0 =
  let shift = Z.sub (Z.log2 u) (Z.add grid_bits fine_bits) in
  if (&&) (Z.eqb (Z.shiftr u shift) fine_unit)
       (Z.eqb (Z.shiftr fine_unit (Z.opp shift)) u)
  then (match sum_ends exp_grid last_entry t0 grid_bits fine_bits shift
                (Z.shiftr top0 shift) z0 with
        | Some p ->
          let (low0, high0) = p in
          Some ((Z.sub low0 (ceil_div low0 fine_unit)),
          (Z.add high0
            (ceil_div
              (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
                high0) fine_unit)))
        | None -> None)
  else None

(** val mass_of_total :
    Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let mass_of_total t0 terms0 total2 u top0 k =
  match exp_ends t0 terms0 (Z.sub k top0) u with
  | Some e ->
    if Z.ltb Big_int_Z.zero_big_int (fst total2)
    then Some ((floor_div (Z.mul sum_scale (fst e)) (snd total2)),
           (Z.min t0 (ceil_div (Z.mul sum_scale (snd e)) (fst total2))))
    else None
  | None -> None

(** val as_ends : (Big_int_Z.big_int * Big_int_Z.big_int) -> ends **)

let as_ends e =
  ((Some (fst e)), (Some (snd e)))

(** val measured_prototypes :
    head -> Big_int_Z.big_int -> measured list option **)

let measured_prototypes h t0 =
  match h.head_geometry with
  | Softmax -> if is_softmax h then Some [] else None
  | _ ->
    if (&&) ((=) (length h.prototypes) h.count)
         (forallb (fun p -> Nat.leb (length p) h.depth) h.prototypes)
    then Some (map (measured_of t0 h) h.prototypes)
    else None

(** val largest_of :
    Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let largest_of z0 most =
  fold_right (fun x most0 -> Z.max (Z.abs x) most0) most z0

(** val largest0 : Big_int_Z.big_int list list -> Big_int_Z.big_int **)

let largest0 zs =
  fold_right largest_of Big_int_Z.zero_big_int zs

(** val worth_packing : int **)

let worth_packing =
  Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ (Stdlib.Int.succ
    0)))))))

(** val products_for :
    head -> Big_int_Z.big_int list list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list **)

let products_for h zs =
  let ps = h.prototypes in
  if Nat.leb worth_packing (length zs)
  then let bits = bits_for ps (largest0 zs) in
       let packed0 = packs bits (length ps) ps in
       (fun z0 -> digits_of bits (length ps) packed0 (row_of packed0 z0))
  else (fun z0 -> map (zdot z0) ps)

(** val spatial_row :
    head -> Big_int_Z.big_int -> (Big_int_Z.big_int list -> Big_int_Z.big_int
    list) -> Big_int_Z.big_int list -> Big_int_Z.big_int -> measured list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list option **)

let spatial_row h t0 products0 z0 u ms =
  let square0 = zdot z0 z0 in
  (match stretch_ends t0 h u square0 with
   | Some stretch ->
     all_some
       (map (fun e -> observed_of t0 h (fst e) u square0 stretch (snd e))
         (combine (products0 z0) ms))
   | None -> None)

(** val evaluated_row :
    head -> Big_int_Z.big_int -> int -> (Big_int_Z.big_int list ->
    Big_int_Z.big_int list) -> measured list -> image -> int -> row option **)

let evaluated_row h t0 terms0 products0 ms i l =
  let z0 = nth l i.rows [] in
  if (=) (length z0) h.depth
  then (match h.head_geometry with
        | Softmax ->
          option_map (map as_ends) (masses t0 terms0 i.image_unit z0)
        | _ ->
          option_map (map as_ends)
            (spatial_row h t0 products0 z0 i.image_unit ms))
  else None

(** val evaluated_table :
    head -> Big_int_Z.big_int -> int -> image -> table option **)

let evaluated_table h t0 terms0 i =
  match measured_prototypes h t0 with
  | Some ms ->
    all_some
      (map (evaluated_row h t0 terms0 (products_for h i.rows) ms i)
        (seq 0 (length i.rows)))
  | None -> None

(** val coordinate_inside :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let coordinate_inside h u =
  let s = h.coord_unit in
  (fun k ->
  (&&)
    (match h.lower with
     | Some a -> Z.leb (Z.mul a u) (Z.mul k s)
     | None -> true)
    (match h.upper with
     | Some b -> Z.leb (Z.mul k s) (Z.mul b u)
     | None -> true))

(** val length_inside :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> bool **)

let length_inside h u z0 =
  match h.head_geometry with
  | Cosine e ->
    (||) (negb (Z.eqb e.numerator Big_int_Z.zero_big_int))
      (Z.ltb Big_int_Z.zero_big_int (zdot z0 z0))
  | RootedCosine e ->
    (||) (negb (Z.eqb e.numerator Big_int_Z.zero_big_int))
      (Z.ltb Big_int_Z.zero_big_int (zdot z0 z0))
  | InnerProduct radius0 ->
    (match radius0 with
     | Some r ->
       (&&) (Z.leb Big_int_Z.zero_big_int r.numerator)
         (Z.leb (Z.mul (zdot z0 z0) (Z.mul r.denominator r.denominator))
           (Z.mul (Z.mul r.numerator r.numerator) (Z.mul u u)))
     | None -> true)
  | _ -> true

(** val latent_inside :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> bool **)

let latent_inside h u z0 =
  (&&) ((&&) ((=) (length z0) h.depth) (forallb (coordinate_inside h u) z0))
    (length_inside h u z0)

(** val low_in :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
    Big_int_Z.big_int option -> bool **)

let low_in u a low0 = function
| Some lo0 ->
  (match low0 with
   | Some low1 -> Z.leb (Z.mul lo0 a) (Z.mul low1 u)
   | None -> false)
| None -> true

(** val high_in :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
    Big_int_Z.big_int option -> bool **)

let high_in u a high0 = function
| Some hi0 ->
  (match high0 with
   | Some high1 -> Z.leb (Z.mul high1 u) (Z.mul hi0 a)
   | None -> false)
| None -> true

(** val ends_in :
    Big_int_Z.big_int -> Big_int_Z.big_int -> ends -> Big_int_Z.big_int
    option -> Big_int_Z.big_int option -> bool **)

let ends_in u a e lo hi =
  (&&) (low_in u a (fst e) lo) (high_in u a (snd e) hi)

(** val activation_in :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int option ->
    Big_int_Z.big_int option -> bool **)

let activation_in b u e lo hi =
  ends_in u b ((Some (fst e)), (Some (snd e))) lo hi

(** val others_in :
    Big_int_Z.big_int -> Big_int_Z.big_int -> int list -> Big_int_Z.big_int
    option -> Big_int_Z.big_int option -> int -> box -> bool **)

let rec others_in b u except lo hi k = function
| [] -> true
| e :: b' ->
  (&&) ((||) (existsb ((=) k) except) (activation_in b u e lo hi))
    (others_in b u except lo hi (Stdlib.Int.succ k) b')

(** val statement_true :
    Big_int_Z.big_int -> table -> Big_int_Z.big_int -> box ->
    Big_int_Z.big_int -> (int list option -> Big_int_Z.big_int -> bool) ->
    statement -> bool **)

let statement_true t0 t1 b b0 u sums = function
| AboutPatch (l, j, lo, hi) ->
  (match nth_error t1 l with
   | Some r ->
     (match nth_error r j with
      | Some e -> ends_in u t0 e lo hi
      | None -> false)
   | None -> false)
| AboutActivation (j, lo, hi) ->
  (match nth_error b0 j with
   | Some e -> activation_in b u e lo hi
   | None -> false)
| AboutOthers (except, lo, hi) -> others_in b u except lo hi 0 b0
| AboutSum (rivals, hi) -> sums rivals hi

(** val about_a_patch : statement -> bool **)

let about_a_patch = function
| AboutPatch (_, _, _, _) -> true
| _ -> false

(** val instance_holds :
    head -> certificate -> Big_int_Z.big_int -> table -> Big_int_Z.big_int ->
    box -> image -> bool **)

let instance_holds h c t0 t1 b b0 i =
  (&&)
    ((&&) ((=) (length i.rows) c.patches)
      (forallb (latent_inside h i.image_unit) i.rows))
    (forallb (statement_true t0 t1 b b0 c.statement_unit (sum_true h c b b0))
      c.statements)

(** val least_coordinates : Big_int_Z.big_int **)

let least_coordinates =
  Z.pow (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))

(** val table_depth : int **)

let table_depth =
  Z.to_nat
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (Big_int_Z.mult_int_big_int 2
    ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    Big_int_Z.unit_big_int)))

(** val true_of :
    certificate -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option -> (Big_int_Z.big_int
    option * Big_int_Z.big_int option) -> bool **)

let true_of c t0 e s =
  match e with
  | Some e0 -> ends_in c.statement_unit t0 (as_ends e0) (fst s) (snd s)
  | None -> false

(** val spatial_true :
    head -> certificate -> Big_int_Z.big_int -> image -> Big_int_Z.big_int
    list -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (int * (Big_int_Z.big_int option * Big_int_Z.big_int option)) -> bool **)

let spatial_true h c t0 i =
  let u = i.image_unit in
  (fun z0 square0 stretch s ->
  let p = nth (fst s) h.prototypes [] in
  (&&) (Nat.leb (length p) h.depth)
    (true_of c t0
      (observed_ends t0 h z0 u square0 stretch (measured_of t0 h p)) 
      (snd s)))

(** val mass_true :
    certificate -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> (int * (Big_int_Z.big_int
    option * Big_int_Z.big_int option)) -> bool **)

let mass_true c t0 es s =
  true_of c t0 (nth_error es (fst s)) (snd s)

(** val masses_true_by_total :
    certificate -> Big_int_Z.big_int -> int -> image -> exp_table option ->
    Big_int_Z.big_int list -> (int * (Big_int_Z.big_int
    option * Big_int_Z.big_int option)) list -> bool **)

let masses_true_by_total c t0 terms0 i t1 =
  let u = i.image_unit in
  (fun z0 here ->
  match t1 with
  | Some t2 ->
    let top0 = greatest_coordinate z0 in
    (match total_ends t2 u top0 z0 with
     | Some total2 ->
       forallb (fun s ->
         match nth_error z0 (fst s) with
         | Some k ->
           true_of c t0 (mass_of_total t0 terms0 total2 u top0 k) (snd s)
         | None -> false) here
     | None -> false)
  | None -> false)

(** val patch_true :
    head -> certificate -> Big_int_Z.big_int -> int -> image -> exp_table
    option -> int -> Big_int_Z.big_int list -> bool **)

let patch_true h c t0 terms0 i t1 =
  let u = i.image_unit in
  (fun l z0 ->
  match stated_at l c.statements with
  | [] -> true
  | p :: l0 ->
    let here = p :: l0 in
    (match h.head_geometry with
     | Softmax ->
       (&&) (is_softmax h)
         ((||) (masses_true_by_total c t0 terms0 i t1 z0 here)
           (match masses t0 terms0 u z0 with
            | Some es -> forallb (mass_true c t0 es) here
            | None -> false))
     | _ ->
       let square0 = zdot z0 z0 in
       (match stretch_ends t0 h u square0 with
        | Some stretch ->
          forallb (spatial_true h c t0 i z0 square0 stretch) here
        | None -> false)))

(** val patches_true :
    head -> certificate -> Big_int_Z.big_int -> int -> image -> exp_table
    option -> int -> Big_int_Z.big_int list list -> bool **)

let rec patches_true h c t0 terms0 i t1 l = function
| [] -> true
| z0 :: zs' ->
  (&&) (patch_true h c t0 terms0 i t1 l z0)
    (patches_true h c t0 terms0 i t1 (Stdlib.Int.succ l) zs')

(** val about_one_of : int -> statement -> bool **)

let about_one_of n0 = function
| AboutPatch (l, _, _, _) -> Nat.ltb l n0
| _ -> false

(** val table_for : head -> int -> image -> exp_table option **)

let table_for h terms0 i =
  match h.head_geometry with
  | Softmax ->
    if Z.leb least_coordinates
         (Z.mul (Z.of_nat h.depth) (Z.of_nat (length i.rows)))
    then Some (softmax_table terms0 table_depth)
    else None
  | _ -> None

(** val instance_by_patches :
    head -> certificate -> Big_int_Z.big_int -> int -> image -> bool **)

let instance_by_patches h c t0 terms0 i =
  let u = i.image_unit in
  (&&)
    ((&&)
      ((&&) ((=) (length i.rows) c.patches)
        (forallb (latent_inside h u) i.rows))
      (forallb (about_one_of (length i.rows)) c.statements))
    (patches_true h c t0 terms0 i (table_for h terms0 i) 0 i.rows)

(** val refutation_holds :
    head -> certificate -> Big_int_Z.big_int -> table -> Big_int_Z.big_int ->
    box -> image -> int -> bool **)

let refutation_holds h c t0 t1 b b0 i rival =
  (&&)
    ((&&) ((&&) (instance_holds h c t0 t1 b b0 i) (Nat.ltb rival h.classes))
      (negb ((=) rival c.predicted)))
    (difference_at_least h b b0 rival c.predicted Big_int_Z.zero_big_int
      Big_int_Z.unit_big_int)

(** val image_table : head -> settings -> image -> table option **)

let image_table h s i =
  let t0 = s.range_unit in evaluated_table h t0 s.terms i

(** val image_box : head -> settings -> table -> box option **)

let image_box h s =
  let t0 = s.range_unit in
  let b = s.box_unit in
  (fun t1 -> pool_box h t0 b s.terms (logarithms_for b s.terms) t1)

(** val instance_proved : head -> settings -> certificate -> image -> bool **)

let instance_proved h s c i =
  let t0 = s.range_unit in
  let b = s.box_unit in
  (&&) (Nat.ltb 0 (length i.rows))
    (if forallb about_a_patch c.statements
     then instance_by_patches h c t0 s.terms i
     else (match image_table h s i with
           | Some t1 ->
             (match image_box h s t1 with
              | Some b0 -> instance_holds h c t0 t1 b b0 i
              | None -> false)
           | None -> false))

(** val refutation_proved :
    head -> settings -> certificate -> image -> bool **)

let refutation_proved h s c i =
  let t0 = s.range_unit in
  let b = s.box_unit in
  (&&) (Nat.ltb 0 (length i.rows))
    (match image_table h s i with
     | Some t1 ->
       (match image_box h s t1 with
        | Some b0 ->
          existsb (refutation_holds h c t0 t1 b b0 i) (seq 0 h.classes)
        | None -> false)
     | None -> false)

(** val has_peak : head -> bool **)

let has_peak h =
  match h.head_similarity with
  | Quadratic -> true
  | Steps l -> existsb (fun f -> match f with
                                 | FromPeak -> true
                                 | _ -> false) l
  | _ -> false

(** val are_linked : head -> bool **)

let are_linked h =
  match h.head_pooling with
  | MaxPool ->
    (match h.head_geometry with
     | InnerProduct _ -> false
     | Softmax -> false
     | _ -> negb (has_peak h))
  | _ -> false

(** val states : int -> int -> statement -> bool **)

let states l k = function
| AboutPatch (i, j, _, _) -> (&&) ((=) i l) ((=) j k)
| _ -> false

type addition =
| Nothing
| Prices
| JointMargin

(** val without : int -> certificate -> certificate **)

let without i c =
  { predicted = c.predicted; patches = c.patches; statement_unit =
    c.statement_unit; statements =
    (app (firstn i c.statements) (skipn (Stdlib.Int.succ i) c.statements));
    margin_unit = c.margin_unit; margins = c.margins }

(** val inner_distance_ends :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let inner_distance_ends h t0 =
  let s = unit_of h in
  (fun p ->
  let a = ceil_div (Z.mul t0 (zsum (map (gap h) p))) (Z.mul s s) in
  (a,
  (match h.lower with
   | Some l ->
     (match h.upper with
      | Some u -> floor_div (Z.mul t0 (zsum (map (spread l u) p))) (Z.mul s s)
      | None -> Z.add a (Z.mul t0 t0))
   | None -> Z.add a (Z.mul t0 t0))))

(** val inner_cosine_reach :
    head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> Big_int_Z.big_int **)

let inner_cosine_reach h t0 e square0 p =
  if (&&) (Z.eqb e.numerator Big_int_Z.zero_big_int) (below_zero h p)
  then let t1 = greatest (mirrored h p) in
       Z.opp
         (root_ceil (ceil_div (Z.mul (Z.mul t0 t0) (Z.mul t1 t1)) square0))
  else root_floor (floor_div (Z.mul (Z.mul t0 t0) (span h p)) square0)

(** val inner_cosine_ends :
    head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int list ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let inner_cosine_ends h t0 e p =
  let s = zdot p p in
  ((Z.max (Z.opp t0) (Z.opp (inner_cosine_reach h t0 e s (map Z.opp p)))),
  (Z.min t0 (inner_cosine_reach h t0 e s p)))

(** val inner_ball_reach :
    head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int list ->
    Big_int_Z.big_int **)

let inner_ball_reach h t0 =
  let s = unit_of h in
  (fun r p ->
  floor_div
    (root_floor
      (Z.mul (Z.mul (Z.mul t0 t0) (Z.mul r.numerator r.numerator)) (span h p)))
    (Z.mul r.denominator s))

(** val inner_box_ends :
    head -> Big_int_Z.big_int -> fraction option -> Big_int_Z.big_int list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let inner_box_ends h t0 =
  let s = unit_of h in
  (fun radius0 p ->
  let unit0 = Z.mul (Z.mul s (denominator_of radius0)) s in
  let (o, o0) = coordinate_ends h radius0 in
  (match o with
   | Some a ->
     (match o0 with
      | Some b ->
        Some
          ((ceil_div
             (Z.mul t0
               (zsum (map (fun x -> Z.min (Z.mul a x) (Z.mul b x)) p))) unit0),
          (floor_div
            (Z.mul t0 (zsum (map (fun x -> Z.max (Z.mul a x) (Z.mul b x)) p)))
            unit0))
      | None -> None)
   | None -> None))

(** val inner_product_ends :
    head -> Big_int_Z.big_int -> fraction option -> Big_int_Z.big_int list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let inner_product_ends h t0 radius0 p =
  match inner_box_ends h t0 radius0 p with
  | Some e ->
    (match radius0 with
     | Some r ->
       if Z.leb Big_int_Z.zero_big_int r.numerator
       then Some
              ((Z.max (fst e) (Z.opp (inner_ball_reach h t0 r (map Z.opp p)))),
              (Z.min (snd e) (inner_ball_reach h t0 r p)))
       else None
     | None -> Some e)
  | None -> None

(** val inner_mass_range :
    head -> Big_int_Z.big_int -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let inner_mass_range h t0 terms0 =
  if (=) h.count (Stdlib.Int.succ 0)
  then Some (t0, t0)
  else let others0 = Z.sub (Z.of_nat h.count) Big_int_Z.unit_big_int in
       let ends0 = fun e -> Some
         ((ceil_div (Z.mul t0 e) (Z.add e (Z.mul others0 t0))),
         (floor_div (Z.mul t0 t0) (Z.add t0 (Z.mul others0 e))))
       in
       (match h.lower with
        | Some a ->
          (match h.upper with
           | Some b ->
             (match exp_ends t0 terms0 (Z.sub a b) h.coord_unit with
              | Some p -> let (_, e) = p in ends0 e
              | None -> None)
           | None -> ends0 Big_int_Z.zero_big_int)
        | None -> ends0 Big_int_Z.zero_big_int)

(** val inner_domain_ends :
    head -> Big_int_Z.big_int -> int -> Big_int_Z.big_int list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let inner_domain_ends h t0 terms0 p =
  match h.head_geometry with
  | Euclidean -> Some (inner_distance_ends h t0 p)
  | Cosine e -> Some (inner_cosine_ends h t0 e p)
  | RootedCosine e -> Some (inner_cosine_ends h t0 e p)
  | InnerProduct radius0 -> inner_product_ends h t0 radius0 p
  | Softmax -> inner_mass_range h t0 terms0

(** val inner_domain_row :
    head -> Big_int_Z.big_int -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option list **)

let inner_domain_row h t0 terms0 =
  match h.head_geometry with
  | Softmax -> repeat (inner_mass_range h t0 terms0) h.count
  | _ ->
    (match measures h with
     | Some _ -> map (inner_domain_ends h t0 terms0) h.prototypes
     | None -> repeat None h.count)

(** val signs_differ : head -> bool **)

let signs_differ h =
  negb ((&&) (no_negative_coordinate h) (no_positive_coordinate h))

(** val nearest_to :
    Big_int_Z.big_int ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    -> Big_int_Z.big_int * Big_int_Z.big_int **)

let nearest_to x e =
  if Z.leb x (snd (fst e))
  then fst e
  else if Z.leb (fst (snd e)) x then snd e else (x, x)

(** val worst :
    head -> Big_int_Z.big_int -> own ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    -> Big_int_Z.big_int * Big_int_Z.big_int **)

let worst h t0 o e =
  match direction_of h o with
  | Falls -> snd e
  | Rises -> fst e
  | Neither ->
    if Z.leb (Z.mul (snd o).denominator (Z.add (fst (fst e)) (snd (snd e))))
         (Z.mul
           (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) t0)
           (snd o).numerator)
    then fst e
    else snd e

(** val best :
    head -> Big_int_Z.big_int -> own ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    -> Big_int_Z.big_int * Big_int_Z.big_int **)

let best h t0 o e =
  match direction_of h o with
  | Falls -> fst e
  | Rises -> snd e
  | Neither ->
    nearest_to (floor_div (Z.mul t0 (snd o).numerator) (snd o).denominator) e

(** val levelled :
    head -> own ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let levelled h o c = match c with
| [] -> []
| e :: c' ->
  let x =
    match direction_of h o with
    | Falls -> fold_right (fun f -> Z.min (fst (snd f))) (fst (snd e)) c'
    | _ -> fold_right (fun f -> Z.max (snd (fst f))) (snd (fst e)) c'
  in
  map (nearest_to x) c

(** val one_best :
    head -> Big_int_Z.big_int -> own -> int ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let rec one_best h t0 o place0 = function
| [] -> []
| e :: c' ->
  ((fun fO fS n -> if n=0 then fO () else fS (n-1))
     (fun _ -> (best h t0 o e) :: (map (worst h t0 o) c'))
     (fun place' -> (worst h t0 o e) :: (one_best h t0 o place' c'))
     place0)

(** val outdoes :
    head -> own -> Big_int_Z.big_int ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    -> bool **)

let outdoes h o count0 e f =
  let low0 = fun e0 -> fst (fst e0) in
  let high0 = fun e0 -> snd (snd e0) in
  (match direction_of h o with
   | Falls ->
     (||) (Z.ltb (low0 e) (low0 f))
       ((&&) (Z.eqb (low0 e) (low0 f)) (Z.ltb (high0 e) (high0 f)))
   | _ ->
     Z.ltb
       (Z.add (Z.mul (Z.sub count0 Big_int_Z.unit_big_int) (high0 f))
         (low0 f))
       (Z.add (Z.mul (Z.sub count0 Big_int_Z.unit_big_int) (high0 e))
         (low0 e)))

(** val place_of :
    head -> own -> Big_int_Z.big_int -> int ->
    (int * ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int)))
    ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    list -> int **)

let rec place_of h o count0 i chosen0 = function
| [] -> fst chosen0
| e :: c' ->
  place_of h o count0 (Stdlib.Int.succ i)
    (if outdoes h o count0 e (snd chosen0) then (i, e) else chosen0) c'

(** val best_alone :
    head -> Big_int_Z.big_int -> own ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let best_alone h t0 o c = match c with
| [] -> []
| e :: c' ->
  one_best h t0 o
    (place_of h o (Z.of_nat (length c)) (Stdlib.Int.succ 0) (0, e) c') c

(** val least_numbers :
    head -> Big_int_Z.big_int -> own ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let least_numbers h t0 o c =
  match h.head_pooling with
  | MaxMinusMean -> levelled h o c
  | MaxMinusMeanDistance -> levelled h o c
  | _ -> map (worst h t0 o) c

(** val greatest_numbers :
    head -> Big_int_Z.big_int -> own ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let greatest_numbers h t0 o c =
  match h.head_pooling with
  | MaxMinusMean -> best_alone h t0 o c
  | MaxMinusMeanDistance -> best_alone h t0 o c
  | _ -> map (best h t0 o) c

(** val fits :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    -> bool **)

let fits x e =
  let same = fun f -> (&&) (Z.eqb (fst x) (fst f)) (Z.eqb (snd x) (snd f)) in
  (||) ((||) (same (fst e)) (same (snd e)))
    ((&&) ((&&) (Z.eqb (fst x) (snd x)) (Z.leb (snd (fst e)) (fst x)))
      (Z.leb (fst x) (fst (snd e))))

(** val fit :
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    list -> bool **)

let rec fit numbers0 c =
  match numbers0 with
  | [] -> (match c with
           | [] -> true
           | _ :: _ -> false)
  | x :: numbers' ->
    (match c with
     | [] -> false
     | e :: c' -> (&&) (fits x e) (fit numbers' c'))

(** val value_of :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int)
    list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let value_of h t0 b terms0 logs o row0 numbers0 c =
  if fit numbers0 c
  then pool_column h t0 b terms0 logs row0 o
         (map (fun x -> ((Some (fst x)), (Some (snd x)))) numbers0)
  else None

(** val inner_activation :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own -> Big_int_Z.big_int list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let inner_activation h t0 b terms0 logs o row0 c =
  match value_of h t0 b terms0 logs o row0 (least_numbers h t0 o c) c with
  | Some p ->
    let (_, low0) = p in
    (match value_of h t0 b terms0 logs o row0 (greatest_numbers h t0 o c) c with
     | Some p0 -> let (high0, _) = p0 in Some (low0, high0)
     | None -> None)
  | None -> None

(** val entry_of :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option **)

let entry_of e =
  if Z.leb (fst e) (snd e)
  then Some (((fst e), (fst e)), ((snd e), (snd e)))
  else None

(** val inner_stated_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
    Big_int_Z.big_int option -> ends **)

let inner_stated_ends u b lo hi =
  ((option_map (fun a -> ceil_div (Z.mul b a) u) lo),
    (option_map (fun b0 -> floor_div (Z.mul b b0) u) hi))

(** val masses_stated : certificate -> int -> statement list **)

let masses_stated c l =
  map (fun e -> AboutActivation ((fst e), (fst (snd e)), (snd (snd e))))
    (stated_at l c.statements)

(** val mass_ends0 :
    head -> certificate -> Big_int_Z.big_int -> int -> box **)

let mass_ends0 h c t0 l =
  met_box (inner_stated_ends c.statement_unit t0)
    (repeat (Big_int_Z.zero_big_int, t0) h.count) (masses_stated c l)

(** val meet_ends :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let meet_ends e f =
  ((Z.max (fst e) (fst f)), (Z.min (snd e) (snd f)))

(** val mass_within :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let mass_within t0 lows highs e =
  meet_ends e ((Z.sub t0 (Z.sub highs (snd e))),
    (Z.sub t0 (Z.sub lows (fst e))))

(** val inner_mass_row :
    head -> certificate -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option list -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option list **)

let inner_mass_row h c t0 own0 l =
  let es = mass_ends0 h c t0 l in
  if (&&)
       ((&&) (is_softmax h)
         (forallb (fun e -> Nat.ltb (fst e) h.count)
           (stated_at l c.statements)))
       (forallb (fun e -> Z.leb (fst e) (snd e)) es)
  then let lows = zsum (map fst es) in
       let highs = zsum (map snd es) in
       map (fun p ->
         option_map (meet_ends (mass_within t0 lows highs (snd p))) (fst p))
         (combine own0 es)
  else map (fun _ -> None) own0

type point = { place : Big_int_Z.big_int list; lift : Big_int_Z.big_int }

type patch_points = { point_unit : Big_int_Z.big_int; points_of : point list;
                      chosen : (int * int) list }

(** val square_of_difference :
    Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int **)

let square_of_difference y =
  let y0 = y in
  let rec square_of_difference0 v w =
    match v with
    | [] -> Big_int_Z.zero_big_int
    | a :: v' ->
      (match w with
       | [] -> Big_int_Z.zero_big_int
       | b :: w' ->
         let x = Z.sub a (Z.mul y0 b) in
         Z.add (Z.mul x x) (square_of_difference0 v' w'))
  in square_of_difference0

(** val numerator_at :
    head -> Big_int_Z.big_int -> point -> Big_int_Z.big_int list ->
    Big_int_Z.big_int **)

let numerator_at h y pt p =
  match h.head_geometry with
  | Euclidean -> Z.add (square_of_difference y pt.place p) pt.lift
  | _ -> zdot pt.place p

(** val common_divisor : head -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let common_divisor h y =
  let s = unit_of h in
  let y0 = y in
  (match h.head_geometry with
   | Euclidean -> Z.mul (Z.mul s s) (Z.mul y0 y0)
   | Cosine _ -> Z.mul s y0
   | RootedCosine _ -> Z.mul s y0
   | _ -> Z.mul (Z.mul s s) y0)

(** val surely_least :
    head -> Big_int_Z.big_int -> measure -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let surely_least h y m x n0 d =
  Z.leb
    (Z.mul n0
      (Z.mul (common_divisor h y)
        (if Z.leb Big_int_Z.zero_big_int x then m.far else m.near)))
    (Z.mul (Z.mul x (root_unit h)) d)

(** val surely_most :
    head -> Big_int_Z.big_int -> measure -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let surely_most h y m x n0 d =
  Z.leb (Z.mul (Z.mul x (root_unit h)) d)
    (Z.mul n0
      (Z.mul (common_divisor h y)
        (if Z.leb Big_int_Z.zero_big_int x then m.near else m.far)))

(** val satisfied :
    head -> certificate -> Big_int_Z.big_int -> point -> ((Big_int_Z.big_int
    list * measure) * (Big_int_Z.big_int option * Big_int_Z.big_int option))
    -> bool **)

let satisfied h c y pt = function
| (p0, p1) ->
  let (p, m) = p0 in
  let (lo, hi) = p1 in
  let x = numerator_at h y pt p in
  let u = c.statement_unit in
  (&&) (match lo with
        | Some a -> surely_least h y m x a u
        | None -> true)
    (match hi with
     | Some b -> surely_most h y m x b u
     | None -> true)

(** val in_radius :
    head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int list -> bool **)

let in_radius h y =
  let s = unit_of h in
  let y0 = y in
  (fun r v ->
  Z.leb (Z.mul (zdot v v) (Z.mul r.denominator r.denominator))
    (Z.mul (Z.mul r.numerator r.numerator) (Z.mul (Z.mul s y0) (Z.mul s y0))))

(** val in_box_ball :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list -> bool **)

let in_box_ball h y =
  let y0 = y in
  (fun a b v ->
  Z.leb
    (zsum
      (map (fun x ->
        let e =
          Z.sub
            (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) x)
            (Z.mul y0 (Z.add a b))
        in
        Z.mul e e) v))
    (Z.mul (Z.mul (Z.of_nat h.depth) (Z.mul (Z.sub b a) (Z.sub b a)))
      (Z.mul y0 y0)))

(** val radius_is_smaller :
    head -> fraction -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool **)

let radius_is_smaller h =
  let s = unit_of h in
  (fun r a b ->
  Z.leb
    (Z.mul
      (Z.mul (Big_int_Z.mult_int_big_int 2 (Big_int_Z.mult_int_big_int 2
        Big_int_Z.unit_big_int)) (Z.mul r.numerator r.numerator)) (Z.mul s s))
    (Z.mul (Z.mul (Z.of_nat h.depth) (Z.mul (Z.sub b a) (Z.sub b a)))
      (Z.mul r.denominator r.denominator)))

(** val in_the_space : head -> Big_int_Z.big_int -> point -> bool **)

let in_the_space h y pt =
  (&&) ((=) (length pt.place) h.depth)
    (match h.head_geometry with
     | Euclidean -> Z.leb Big_int_Z.zero_big_int pt.lift
     | InnerProduct radius0 ->
       (match radius0 with
        | Some r ->
          (match h.lower with
           | Some a ->
             (match h.upper with
              | Some b ->
                if radius_is_smaller h r a b
                then in_radius h y r pt.place
                else in_box_ball h y a b pt.place
              | None -> in_radius h y r pt.place)
           | None -> in_radius h y r pt.place)
        | None ->
          (match h.lower with
           | Some a ->
             (match h.upper with
              | Some b -> in_box_ball h y a b pt.place
              | None -> false)
           | None -> false))
     | Softmax -> false
     | _ ->
       in_radius h y { numerator = Big_int_Z.unit_big_int; denominator =
         Big_int_Z.unit_big_int } pt.place)

(** val stated_here :
    head -> certificate -> measure list -> int -> ((Big_int_Z.big_int
    list * measure) * (Big_int_Z.big_int option * Big_int_Z.big_int option))
    list **)

let stated_here h c ms l =
  map (fun e -> (((points h (fst e)),
    (nth (fst e) ms { square = Big_int_Z.zero_big_int; total =
      Big_int_Z.zero_big_int; near = Big_int_Z.unit_big_int; far =
      Big_int_Z.unit_big_int })), (snd e))) (stated_at l c.statements)

(** val serves :
    head -> certificate -> Big_int_Z.big_int -> ((Big_int_Z.big_int
    list * measure) * (Big_int_Z.big_int option * Big_int_Z.big_int option))
    list -> point -> bool **)

let serves h c y stated pt =
  (&&) (in_the_space h y pt) (forallb (satisfied h c y pt) stated)

(** val observed :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> measure ->
    Big_int_Z.big_int list -> point -> Big_int_Z.big_int * Big_int_Z.big_int **)

let observed h t0 y m p pt =
  let x = numerator_at h y pt p in
  ((floor_div (Z.mul (Z.mul t0 x) (root_unit h))
     (Z.mul (common_divisor h y)
       (if Z.leb Big_int_Z.zero_big_int x then m.far else m.near))),
  (ceil_div (Z.mul (Z.mul t0 x) (root_unit h))
    (Z.mul (common_divisor h y)
      (if Z.leb Big_int_Z.zero_big_int x then m.near else m.far))))

(** val low_between :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let low_between own0 e f =
  if (&&) (Z.leb (fst own0) (fst e)) (Z.leb (snd e) (snd own0))
  then Some e
  else let t0 = Z.max (fst own0) (snd e) in
       if Z.leb t0 (Z.min (snd own0) (fst f)) then Some (t0, t0) else None

(** val high_between :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let high_between own0 e f =
  if (&&) (Z.leb (fst own0) (fst f)) (Z.leb (snd f) (snd own0))
  then Some f
  else let t0 = Z.min (snd own0) (fst f) in
       if Z.leb (Z.max (fst own0) (snd e)) t0 then Some (t0, t0) else None

(** val serving :
    head -> certificate -> Big_int_Z.big_int -> ((Big_int_Z.big_int
    list * measure) * (Big_int_Z.big_int option * Big_int_Z.big_int option))
    list -> point list -> point option list **)

let serving h c y stated pts =
  map (fun pt -> if serves h c y stated pt then Some pt else None) pts

(** val entry_of_points :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> point option list ->
    (((Big_int_Z.big_int * Big_int_Z.big_int)
    option * (int * int)) * (Big_int_Z.big_int list * measure)) ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option **)

let entry_of_points h t0 y pts = function
| (p0, p1) ->
  let (own0, p2) = p0 in
  let (a, b) = p2 in
  let (p, m) = p1 in
  (match nth a pts None with
   | Some first ->
     (match nth b pts None with
      | Some second ->
        (match own0 with
         | Some own1 ->
           let low0 = observed h t0 y m p first in
           let high0 = if (=) a b then low0 else observed h t0 y m p second in
           (match low_between own1 low0 high0 with
            | Some x ->
              (match high_between own1 low0 high0 with
               | Some y0 -> Some (x, y0)
               | None -> None)
            | None -> None)
         | None -> None)
      | None -> None)
   | None -> None)

(** val inner_points_row :
    head -> certificate -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option list -> measure list ->
    int -> patch_points ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option list **)

let inner_points_row h c t0 free ms l hint0 =
  let stated = stated_here h c ms l in
  if (&&) ((=) (length hint0.chosen) h.count)
       (forallb (fun e -> Nat.ltb (fst e) h.count) (stated_at l c.statements))
  then let pts = serving h c hint0.point_unit stated hint0.points_of in
       map (entry_of_points h t0 hint0.point_unit pts)
         (combine (combine free hint0.chosen) (combine h.prototypes ms))
  else map (fun _ -> None) free

(** val node_most :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let node_most b e absent present =
  let s = into_unit b (if Z.ltb present absent then snd e else fst e) in
  ceil_div (Z.add (Z.mul (Z.sub b s) absent) (Z.mul s present)) b

(** val margin_most :
    head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int option **)

let margin_most h b b0 winner loser =
  match h.head_readout with
  | Linear ->
    if (=) (length b0) h.count then linear_least h b b0 winner loser else None
  | SoftTree (absent, present) ->
    tree_bound b0 (node_most b) absent present
      (leaf_difference h b winner loser) h.count Big_int_Z.zero_big_int
  | Maximum ->
    if (=) (length b0) h.count
    then maximum_least h b b0 winner loser
    else None

(** val most_by_sum :
    head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> bool list ->
    Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int **)

let most_by_sum h b b0 u own0 upper0 winner loser =
  Z.add
    (Z.add (least_of h true own0 b0 winner loser)
      (ceil_div (Z.opp (Z.mul (Z.mul upper0 b) (unit_of_weights h))) u))
    (Z.mul b (Z.sub (bias_number h winner) (bias_number h loser)))

(** val no_sum_proves :
    head -> Big_int_Z.big_int -> box -> certificate -> bool list option ->
    int -> bool **)

let no_sum_proves h b b0 c own0 loser =
  forallb (fun s ->
    match s with
    | AboutSum (rivals, upper0) ->
      (match own0 with
       | Some own1 ->
         (||) (negb (lists rivals loser))
           (Z.leb
             (most_by_sum h b b0 c.statement_unit own1 upper0 c.predicted
               loser) Big_int_Z.zero_big_int)
       | None -> false)
    | _ -> true) c.statements

type reach_hints = { lowest_at : Big_int_Z.big_int list;
                     highest_at : Big_int_Z.big_int list;
                     spots : (Big_int_Z.big_int * Big_int_Z.big_int) list }

(** val alike_most :
    head -> Big_int_Z.big_int -> measure -> measure -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let alike_most h t0 j k product =
  let r = Z.mul (root_unit h) (root_unit h) in
  Z.min t0
    (if Z.leb Big_int_Z.zero_big_int product
     then ceil_div (Z.mul (Z.mul t0 product) r) (Z.mul j.near k.near)
     else ceil_div (Z.mul (Z.mul t0 product) r) (Z.mul j.far k.far))

(** val gap_between :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> measure ->
    (Big_int_Z.big_int list * measure) -> Big_int_Z.big_int **)

let gap_between h t0 p m x =
  let product = zdot (fst x) p in
  if euclidean h
  then Z.mul t0
         (Z.add
           (Z.sub (snd x).square
             (Z.mul (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
               product)) m.square)
  else alike_most h t0 (snd x) m product

(** val gaps_of :
    head -> Big_int_Z.big_int -> measure list -> int -> Big_int_Z.big_int list **)

let gaps_of h t0 ms k =
  let p = points h k in
  let m =
    nth k ms { square = Big_int_Z.zero_big_int; total =
      Big_int_Z.zero_big_int; near = Big_int_Z.unit_big_int; far =
      Big_int_Z.unit_big_int }
  in
  map (gap_between h t0 p m) (combine h.prototypes ms)

(** val close :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> bool **)

let close h t0 gap0 x y =
  if euclidean h
  then let u = Z.mul (unit_of h) (unit_of h) in
       let s = Z.sub (Z.mul (Z.add x y) u) gap0 in
       (&&)
         ((&&) (Z.leb Big_int_Z.zero_big_int x)
           (Z.leb Big_int_Z.zero_big_int y))
         ((||) (Z.leb s Big_int_Z.zero_big_int)
           (Z.leb (Z.mul s s)
             (Z.mul
               (Z.mul (Big_int_Z.mult_int_big_int 2
                 (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int))
                 (Z.mul x u)) (Z.mul y u))))
  else let s = Z.sub (Z.mul gap0 t0) (Z.mul x y) in
       (||) (Z.leb s Big_int_Z.zero_big_int)
         (Z.leb (Z.mul s s)
           (Z.mul (Z.sub (Z.mul t0 t0) (Z.mul x x))
             (Z.sub (Z.mul t0 t0) (Z.mul y y))))

(** val between_spots :
    (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
    Big_int_Z.big_int **)

let between_spots spot x =
  Z.max (fst spot) (Z.min (snd spot) x)

(** val all_close :
    head -> Big_int_Z.big_int -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) -> int -> Big_int_Z.big_int list
    -> Big_int_Z.big_int list -> bool **)

let rec all_close h t0 k spot i gaps xs =
  match gaps with
  | [] -> (match xs with
           | [] -> true
           | _ :: _ -> false)
  | g :: gaps' ->
    (match xs with
     | [] -> false
     | x :: xs' ->
       (&&) ((||) ((=) i k) (close h t0 g x (between_spots spot x)))
         (all_close h t0 k spot (Stdlib.Int.succ i) gaps' xs'))

(** val close_to_all :
    head -> Big_int_Z.big_int -> int -> Big_int_Z.big_int -> int ->
    Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    bool **)

let rec close_to_all h t0 j x i gaps spots0 =
  match gaps with
  | [] -> (match spots0 with
           | [] -> true
           | _ :: _ -> false)
  | g :: gaps' ->
    (match spots0 with
     | [] -> false
     | spot :: spots' ->
       (&&) ((||) ((=) i j) (close h t0 g x (between_spots spot x)))
         (close_to_all h t0 j x (Stdlib.Int.succ i) gaps' spots'))

(** val inside :
    (Big_int_Z.big_int * Big_int_Z.big_int) option -> Big_int_Z.big_int ->
    bool **)

let inside free x =
  match free with
  | Some e -> (&&) (Z.leb (fst e) x) (Z.leb x (snd e))
  | None -> false

(** val within_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
    Big_int_Z.big_int option -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    bool **)

let within_ends b u lo hi v =
  let e = inner_stated_ends u b lo hi in
  (&&) (match fst e with
        | Some a -> Z.leb a (fst v)
        | None -> true)
    (match snd e with
     | Some b0 -> Z.leb (snd v) b0
     | None -> true)

(** val as_stated :
    Big_int_Z.big_int -> Big_int_Z.big_int -> statement list -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) -> bool **)

let as_stated b u ss k v =
  forallb (fun s ->
    match s with
    | AboutActivation (j, lo, hi) ->
      (||) (negb ((=) j k)) (within_ends b u lo hi v)
    | AboutOthers (except, lo, hi) ->
      (||) (existsb ((=) k) except) (within_ends b u lo hi v)
    | _ -> true) ss

(** val spot_right :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    Big_int_Z.big_int -> statement list -> int -> own ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option ->
    (Big_int_Z.big_int * Big_int_Z.big_int) -> bool **)

let spot_right h t0 b terms0 logs u ss k o free spot =
  (&&)
    ((&&)
      ((&&) ((&&) (Z.leb (fst spot) (snd spot)) (inside free (fst spot)))
        (inside free (snd spot)))
      (match direction_of h o with
       | Neither -> false
       | _ -> true))
    (match value_at h t0 b terms0 logs o (fst spot) with
     | Some v ->
       (match value_at h t0 b terms0 logs o (snd spot) with
        | Some w -> (&&) (as_stated b u ss k v) (as_stated b u ss k w)
        | None -> false)
     | None -> false)

(** val spots_right :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    Big_int_Z.big_int -> statement list -> (int -> bool) -> int -> own list
    -> (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool **)

let rec spots_right h t0 b terms0 logs u ss wanted i os free spots0 =
  match os with
  | [] -> true
  | o :: os' ->
    (match free with
     | [] -> false
     | f :: free' ->
       (match spots0 with
        | [] -> false
        | spot :: spots' ->
          (&&)
            ((||) (negb (wanted i))
              (spot_right h t0 b terms0 logs u ss i o f spot))
            (spots_right h t0 b terms0 logs u ss wanted (Stdlib.Int.succ i)
              os' free' spots')))

(** val own_stated : statement list -> int list **)

let own_stated ss =
  flat_map (fun s ->
    match s with
    | AboutActivation (k, _, _) -> k :: []
    | _ -> []) ss

(** val listed :
    statement list -> ((Big_int_Z.big_int option * Big_int_Z.big_int option)
    -> Big_int_Z.big_int option) -> int list **)

let listed ss side =
  flat_map (fun s ->
    match s with
    | AboutOthers (except, lo, hi) ->
      (match side (lo, hi) with
       | Some _ -> except
       | None -> [])
    | _ -> []) ss

(** val cut_inward :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    own list -> (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> box -> box option **)

let rec cut_inward h t0 b terms0 logs os free least most b0 =
  match os with
  | [] -> (match b0 with
           | [] -> Some []
           | _ :: _ -> None)
  | o :: os' ->
    (match free with
     | [] -> None
     | f :: free' ->
       (match least with
        | [] -> None
        | x :: least' ->
          (match most with
           | [] -> None
           | y :: most' ->
             (match b0 with
              | [] -> None
              | e :: b' ->
                if (&&) (inside f x) (inside f y)
                then (match value_at h t0 b terms0 logs o x with
                      | Some v ->
                        (match value_at h t0 b terms0 logs o y with
                         | Some w ->
                           (match cut_inward h t0 b terms0 logs os' free'
                                    least' most' b' with
                            | Some rest ->
                              Some (((Z.max (fst e) (snd v)),
                                (Z.min (snd e) (fst w))) :: rest)
                            | None -> None)
                         | None -> None)
                      | None -> None)
                else None))))

(** val row_for :
    head -> Big_int_Z.big_int -> measure list -> int ->
    (int * Big_int_Z.big_int list) list -> Big_int_Z.big_int list **)

let rec row_for h t0 ms k = function
| [] -> gaps_of h t0 ms k
| p :: table' ->
  let (i, row0) = p in if (=) i k then row0 else row_for h t0 ms k table'

(** val gap_table :
    head -> Big_int_Z.big_int -> measure list -> statement list ->
    (int * Big_int_Z.big_int list) list **)

let gap_table h t0 ms ss =
  if are_linked h
  then map (fun k -> (k, (gaps_of h t0 ms k)))
         (app (own_stated ss) (app (listed ss fst) (listed ss snd)))
  else []

(** val linked_box :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    measure list -> (int * Big_int_Z.big_int list) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option list -> certificate ->
    reach_hints -> box -> box option **)

let linked_box h t0 b terms0 logs ms table0 free c x b0 =
  let ss = c.statements in
  let own0 = own_stated ss in
  let floors = listed ss fst in
  let ceilings = listed ss snd in
  if (||) (negb (are_linked h))
       ((&&) ((&&) ((=) (length own0) 0) ((=) (length floors) 0))
         ((=) (length ceilings) 0))
  then Some b0
  else let wanted = fun k ->
         if (&&) ((=) (length floors) 0) ((=) (length ceilings) 0)
         then existsb ((=) k) own0
         else true
       in
       let spot = fun k ->
         nth k x.spots (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)
       in
       let row0 = fun k -> row_for h t0 ms k table0 in
       if (&&)
            ((&&)
              ((&&)
                ((&&)
                  ((&&) ((=) (length h.prototypes) h.count)
                    ((=) (length ms) h.count))
                  (spots_right h t0 b terms0 logs c.statement_unit ss wanted
                    0 (owns h) free x.spots))
                (forallb (fun k ->
                  (&&) (all_close h t0 k (spot k) 0 (row0 k) x.lowest_at)
                    (all_close h t0 k (spot k) 0 (row0 k) x.highest_at)) own0))
              (forallb (fun j ->
                close_to_all h t0 j
                  (nth j x.lowest_at Big_int_Z.zero_big_int) 0 (row0 j)
                  x.spots) floors))
            (forallb (fun j ->
              close_to_all h t0 j (nth j x.highest_at Big_int_Z.zero_big_int)
                0 (row0 j) x.spots) ceilings)
       then cut_inward h t0 b terms0 logs (owns h) free x.lowest_at
              x.highest_at b0
       else None

(** val units : certificate -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let units c t0 =
  Z.div t0 c.statement_unit

(** val from_end :
    certificate -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int option -> Big_int_Z.big_int **)

let from_end c t0 default = function
| Some a -> Z.mul (units c t0) a
| None -> default

(** val left_of_patch :
    certificate -> Big_int_Z.big_int -> int -> Big_int_Z.big_int **)

let left_of_patch c t0 l =
  Z.max Big_int_Z.zero_big_int
    (Z.sub t0
      (zsum
        (map (fun s ->
          match s with
          | AboutPatch (i, _, lo, _) ->
            if (=) i l
            then Z.max Big_int_Z.zero_big_int
                   (from_end c t0 Big_int_Z.zero_big_int lo)
            else Big_int_Z.zero_big_int
          | _ -> Big_int_Z.zero_big_int) c.statements)))

(** val top_of :
    certificate -> Big_int_Z.big_int -> int -> Big_int_Z.big_int **)

let top_of c t0 k =
  fold_right Z.max Big_int_Z.zero_big_int
    (map (fun s ->
      match s with
      | AboutPatch (l, j, lo, hi) ->
        if (=) j k
        then Z.min (from_end c t0 t0 hi)
               (Z.add
                 (Z.max Big_int_Z.zero_big_int
                   (from_end c t0 Big_int_Z.zero_big_int lo))
                 (left_of_patch c t0 l))
        else Big_int_Z.zero_big_int
      | _ -> Big_int_Z.zero_big_int) c.statements)

(** val tops_of :
    head -> certificate -> Big_int_Z.big_int -> Big_int_Z.big_int list **)

let tops_of h c t0 =
  map (top_of c t0) (seq 0 h.count)

(** val no_repeats : int list -> bool **)

let rec no_repeats = function
| [] -> true
| x :: l' -> (&&) (negb (existsb ((=) x) l')) (no_repeats l')

(** val yield :
    certificate -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> (int * int) ->
    Big_int_Z.big_int **)

let yield c t0 tops0 ps rs = function
| (l, k) ->
  let w =
    Z.sub (nth k rs Big_int_Z.zero_big_int) (nth k ps Big_int_Z.zero_big_int)
  in
  let rest = Z.sub (left_of_patch c t0 l) (nth k tops0 Big_int_Z.zero_big_int)
  in
  if (&&)
       ((&&) (Z.ltb Big_int_Z.zero_big_int w)
         (Z.ltb Big_int_Z.zero_big_int rest))
       (negb (existsb (states l k) c.statements))
  then Z.mul w rest
  else Big_int_Z.zero_big_int

(** val no_prices_prove :
    head -> certificate -> Big_int_Z.big_int -> box -> int -> int ->
    Big_int_Z.big_int list -> (int * int) list -> bool **)

let no_prices_prove h c t0 b winner loser tops0 pairs =
  (&&)
    ((&&)
      ((&&)
        ((&&)
          ((&&) (Z.eqb t0 (Z.mul c.statement_unit (units c t0)))
            ((=) (length b) h.count))
          (forallb (fun pair ->
            (&&) (Nat.ltb (fst pair) c.patches) (Nat.ltb (snd pair) h.count))
            pairs)) (no_repeats (map fst pairs)))
      (no_repeats (map snd pairs)))
    (match linear_least h t0 (combine (map fst b) tops0) winner loser with
     | Some known ->
       Z.leb
         (Z.sub known
           (zsum
             (map (yield c t0 tops0 (weights0 h winner) (weights0 h loser))
               pairs))) Big_int_Z.zero_big_int
     | None -> false)

(** val as_ends0 : (Big_int_Z.big_int * Big_int_Z.big_int) -> ends **)

let as_ends0 e =
  ((Some (fst e)), (Some (snd e)))

(** val similarities_at :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
    measure list -> Big_int_Z.big_int -> point -> box option **)

let similarities_at h t0 b terms0 logs ms y pt =
  all_some
    (map (fun e ->
      similar_ends h t0 b terms0 logs (fst e)
        (as_ends0 (observed h t0 y (snd (snd e)) (fst (snd e)) pt)))
      (combine (owns h) (combine h.prototypes ms)))

(** val joint_shown :
    head -> certificate -> Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
    logarithms -> measure list -> int -> (Big_int_Z.big_int * point) -> bool **)

let joint_shown h c t0 b terms0 logs ms r = function
| (y, pt) ->
  (&&)
    ((&&)
      (forallb (fun e -> Nat.ltb (fst e) h.count) (stated_at 0 c.statements))
      (serves h c y (stated_here h c ms 0) pt))
    (match similarities_at h t0 b terms0 logs ms y pt with
     | Some b0 ->
       (&&) ((=) (length b0) h.count)
         (match linear_least h b b0 r c.predicted with
          | Some least -> Z.leb Big_int_Z.zero_big_int least
          | None -> false)
     | None -> false)

type minimal_hints = { rivals_of : int list;
                       points_at : (int -> patch_points);
                       points_without : (int -> int -> patch_points);
                       pairs_of : (int -> int -> (int * int) list);
                       joint_point : (int -> int -> Big_int_Z.big_int * point);
                       reaches_at : (int -> reach_hints) }

(** val inner_free :
    prepared -> (Big_int_Z.big_int * Big_int_Z.big_int) option list **)

let inner_free p =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let n0 = p.settings_of.terms in inner_domain_row h t0 n0

(** val entries_of :
    (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option list **)

let entries_of =
  map (fun e -> match e with
                | Some e0 -> entry_of e0
                | None -> None)

(** val inner_row_at :
    prepared -> (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option list -> certificate -> int -> (int -> patch_points) ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option list **)

let inner_row_at p =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  (fun free entries1 c l points0 ->
  if has_statement c l
  then (match p.measures_of with
        | Some ms -> inner_points_row h c t0 free ms l (points0 l)
        | None -> entries_of (inner_mass_row h c t0 free l))
  else entries1)

(** val inner_pool :
    prepared -> Big_int_Z.big_int list -> own ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option list -> (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let inner_pool p =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let b = p.settings_of.box_unit in
  let n0 = p.settings_of.terms in
  (fun row0 o column ->
  match all_some column with
  | Some column0 -> inner_activation h t0 b n0 p.logs_of o row0 column0
  | None -> None)

(** val inner_pooled :
    prepared ->
    ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
    option list list -> box option **)

let inner_pooled p =
  let h = p.head_of in
  (fun t0 ->
  if forallb (fun r -> (=) (length r) h.count) t0
  then all_some
         (pool_columns (inner_pool p) (mask_of h.head_pooling) (owns h)
           (columns h.count t0))
  else None)

(** val addition_shown :
    prepared -> addition -> minimal_hints -> certificate -> int ->
    Big_int_Z.big_int list -> box -> int -> bool **)

let addition_shown p what x =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let b = p.settings_of.box_unit in
  let n0 = p.settings_of.terms in
  (fun c i tops0 b0 r ->
  match what with
  | Nothing -> true
  | Prices ->
    (&&) (Z.eqb t0 b)
      (no_prices_prove h c t0 b0 c.predicted r tops0 (x.pairs_of i r))
  | JointMargin ->
    (match p.measures_of with
     | Some ms -> joint_shown h c t0 b n0 p.logs_of ms r (x.joint_point i r)
     | None -> false))

(** val rival_shown :
    prepared -> addition -> minimal_hints -> certificate -> int -> bool list
    option -> Big_int_Z.big_int list -> box -> int -> bool **)

let rival_shown p what x =
  let h = p.head_of in
  let b = p.settings_of.box_unit in
  (fun c i own0 tops0 b0 r ->
  (&&)
    ((&&)
      ((&&) ((&&) (Nat.ltb r h.classes) (negb ((=) r c.predicted)))
        (match margin_most h b b0 c.predicted r with
         | Some most -> Z.leb most Big_int_Z.zero_big_int
         | None -> false)) (no_sum_proves h b b0 c own0 r))
    (addition_shown p what x c i tops0 b0 r))

(** val cut_by_reach :
    prepared -> minimal_hints -> certificate -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
    (int * Big_int_Z.big_int list) list -> box -> box option **)

let cut_by_reach p x =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let b = p.settings_of.box_unit in
  let n0 = p.settings_of.terms in
  (fun c i free table0 b0 ->
  match p.measures_of with
  | Some ms ->
    linked_box h t0 b n0 p.logs_of ms table0 free c (x.reaches_at i) b0
  | None -> if are_linked h then None else Some b0)

(** val shown_needed :
    prepared -> addition -> minimal_hints -> certificate -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
    (int * Big_int_Z.big_int list) list -> box option -> bool **)

let shown_needed p what x =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let b = p.settings_of.box_unit in
  (fun c i free table0 pooled0 ->
  match option_map (fun pooled1 ->
          met_box (inner_stated_ends c.statement_unit b) pooled1 c.statements)
          pooled0 with
  | Some met ->
    (match cut_by_reach p x c i free table0 met with
     | Some b0 ->
       let tops0 =
         match what with
         | Nothing -> []
         | Prices -> tops_of h c t0
         | JointMargin -> []
       in
       let own0 =
         if existsb is_sum c.statements
         then own_prototypes h c.predicted
         else None
       in
       (&&)
         ((||) (forallb about_a_patch c.statements)
           (forallb (fun e -> Z.leb (fst e) (snd e)) b0))
         (existsb (rival_shown p what x c i own0 tops0 b0) x.rivals_of)
     | None -> false)
  | None -> false)

(** val is_about : int -> statement option -> bool **)

let is_about l = function
| Some s0 -> (match s0 with
              | AboutPatch (k, _, _, _) -> (=) k l
              | _ -> false)
| None -> false

(** val needed_of :
    prepared -> addition -> minimal_hints -> certificate -> int -> bool **)

let needed_of p what x =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  (fun c ->
  let free = inner_free p in
  let entries1 = entries_of free in
  let patches_in_order = seq 0 c.patches in
  let whole0 =
    map (fun l -> inner_row_at p free entries1 c l x.points_at)
      patches_in_order
  in
  let shared =
    if forallb about_a_patch c.statements then None else inner_pooled p whole0
  in
  let possible = (&&) (Nat.ltb 0 c.patches) (signs_differ h) in
  let table0 =
    match p.measures_of with
    | Some ms -> gap_table h t0 ms c.statements
    | None -> []
  in
  (fun i ->
  let left = without i c in
  let left_out = nth_error c.statements i in
  (&&) possible
    (shown_needed p what x left i free table0
      (match left_out with
       | Some s ->
         (match s with
          | AboutPatch (_, _, _, _) ->
            inner_pooled p
              (map (fun r ->
                if is_about (fst r) left_out
                then inner_row_at p free entries1 left (fst r)
                       (x.points_without i)
                else snd r) (combine patches_in_order whole0))
          | _ -> shared)
       | None -> shared))))

(** val check_minimal :
    prepared -> addition -> minimal_hints -> certificate -> bool **)

let check_minimal p what x c =
  forallb (needed_of p what x c) (seq 0 (length c.statements))

type windows = { kernel : (int * int); stride : (int * int);
                 padding : (int * int); dilation : (int * int) }

type operation =
| Conv2d of windows * int * Big_int_Z.big_int * Big_int_Z.big_int list list
   * Big_int_Z.big_int list
| LinearLayer of Big_int_Z.big_int * Big_int_Z.big_int list list
   * Big_int_Z.big_int list
| Add
| Concat
| Multiply
| Relu
| Clamp of fraction * fraction
| LeakyRelu of fraction
| Sigmoid
| Tanh
| InverseRoot
| MaxPool2d of windows
| AvgPool2d of windows
| Flatten
| UpsampleNearest of (int * int)

type layer = { inputs : int list; does : operation }

type network = { input_channels : int; input_height : int; input_width : 
                 int; means : fraction list; deviations : fraction list;
                 layers : layer list }

type picture = Big_int_Z.big_int list

(** val extent : int -> int -> int -> int -> int -> int **)

let extent size0 kernel0 stride0 padding0 dilation0 =
  add
    (Nat.div
      (sub
        (sub (add size0 (mul (Stdlib.Int.succ (Stdlib.Int.succ 0)) padding0))
          (mul dilation0 (sub kernel0 (Stdlib.Int.succ 0)))) (Stdlib.Int.succ
        0)) stride0) (Stdlib.Int.succ 0)

(** val meets :
    windows -> int -> int -> int -> int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let meets w y x a b =
  ((Z.sub (Z.of_nat (add (mul y (fst w.stride)) (mul a (fst w.dilation))))
     (Z.of_nat (fst w.padding))),
    (Z.sub (Z.of_nat (add (mul x (snd w.stride)) (mul b (snd w.dilation))))
      (Z.of_nat (snd w.padding))))

(** val inside0 :
    int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) -> bool **)

let inside0 rows0 columns0 place0 =
  (&&)
    ((&&)
      ((&&) (Z.leb Big_int_Z.zero_big_int (fst place0))
        (Z.ltb (fst place0) (Z.of_nat rows0)))
      (Z.leb Big_int_Z.zero_big_int (snd place0)))
    (Z.ltb (snd place0) (Z.of_nat columns0))

(** val repeated : int -> int -> int **)

let repeated extent0 k =
  if (=) extent0 (Stdlib.Int.succ 0) then 0 else k

(** val append :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int **)

let rec append i j =
  (fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
    (fun ii ->
    (fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
    (append ii j))
    (fun ii -> Big_int_Z.mult_int_big_int 2 (append ii j))
    (fun _ -> j)
    i

module PositiveMap =
 struct
  type key = Big_int_Z.big_int

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  (** val empty : 'a1 t **)

  let empty =
    Leaf

  (** val find : key -> 'a1 t -> 'a1 option **)

  let rec find i = function
  | Leaf -> None
  | Node (l, o, r) ->
    ((fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
       (fun ii -> find ii r)
       (fun ii -> find ii l)
       (fun _ -> o)
       i)

  (** val add : key -> 'a1 -> 'a1 t -> 'a1 t **)

  let rec add i v = function
  | Leaf ->
    ((fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
       (fun ii -> Node (Leaf, None, (add ii v Leaf)))
       (fun ii -> Node ((add ii v Leaf), None, Leaf))
       (fun _ -> Node (Leaf, (Some v), Leaf))
       i)
  | Node (l, o, r) ->
    ((fun f2p1 f2p f1 p ->
  if Big_int_Z.le_big_int p Big_int_Z.unit_big_int then f1 () else
  let (q,r) = Big_int_Z.quomod_big_int p (Big_int_Z.big_int_of_int 2) in
  if Big_int_Z.eq_big_int r Big_int_Z.zero_big_int then f2p q else f2p1 q)
       (fun ii -> Node (l, o, (add ii v r)))
       (fun ii -> Node ((add ii v l), o, r))
       (fun _ -> Node (l, (Some v), r))
       i)

  (** val xfoldi :
      (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2 **)

  let rec xfoldi f m v i =
    match m with
    | Leaf -> v
    | Node (l, o, r) ->
      (match o with
       | Some x ->
         xfoldi f r
           (f i x
             (xfoldi f l v
               (append i (Big_int_Z.mult_int_big_int 2
                 Big_int_Z.unit_big_int))))
           (append i
             ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
             Big_int_Z.unit_big_int))
       | None ->
         xfoldi f r
           (xfoldi f l v
             (append i (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)))
           (append i
             ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
             Big_int_Z.unit_big_int)))

  (** val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2 **)

  let fold f m i =
    xfoldi f m i Big_int_Z.unit_big_int
 end

type enclosed = { planes : int; tall : int; wide : int;
                  cells : (Big_int_Z.big_int * Big_int_Z.big_int) list
                          PositiveMap.t }

(** val zero : Big_int_Z.big_int * Big_int_Z.big_int **)

let zero =
  (Big_int_Z.zero_big_int, Big_int_Z.zero_big_int)

(** val nothing_enclosed : enclosed **)

let nothing_enclosed =
  { planes = 0; tall = 0; wide = 0; cells = PositiveMap.empty }

(** val stored :
    Big_int_Z.big_int -> 'a1 list -> 'a1 PositiveMap.t -> 'a1 PositiveMap.t **)

let rec stored i l m =
  match l with
  | [] -> m
  | e :: l' -> stored (Coq_Pos.succ i) l' (PositiveMap.add i e m)

(** val cell :
    enclosed -> int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let cell e y x =
  match PositiveMap.find (Coq_Pos.of_succ_nat (add (mul y e.wide) x)) e.cells with
  | Some ends0 -> ends0
  | None -> []

(** val found :
    enclosed -> int -> int -> int -> Big_int_Z.big_int * Big_int_Z.big_int **)

let found e c y x =
  nth c (cell e y x) zero

(** val built :
    int -> int -> int -> (int -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list) -> enclosed **)

let built c h w at_place =
  { planes = c; tall = h; wide = w; cells =
    (stored Big_int_Z.unit_big_int
      (flat_map (fun y -> map (at_place y) (seq 0 w)) (seq 0 h))
      PositiveMap.empty) }

(** val built_each :
    int -> int -> int -> (int -> int -> int ->
    Big_int_Z.big_int * Big_int_Z.big_int) -> enclosed **)

let built_each c h w f =
  built c h w (fun y x -> map (fun c0 -> f c0 y x) (seq 0 c))

(** val by_channel :
    int -> (Big_int_Z.big_int * Big_int_Z.big_int) list list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list list **)

let rec by_channel count0 lists0 =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun count' ->
    (map (hd zero) lists0) :: (by_channel count' (map tl lists0)))
    count0

(** val first_of :
    int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let rec first_of count0 l =
  (fun fO fS n -> if n=0 then fO () else fS (n-1))
    (fun _ -> [])
    (fun count' -> (hd zero l) :: (first_of count' (tl l)))
    count0

(** val whole_cell :
    enclosed -> int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let whole_cell e y x =
  first_of e.planes (cell e y x)

(** val weighted :
    Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let rec weighted ws es =
  match ws with
  | [] -> zero
  | w :: ws' ->
    (match es with
     | [] -> zero
     | e :: es' -> add_ends (scale_ends w e) (weighted ws' es'))

(** val divided :
    (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let divided e d =
  ((floor_div (fst e) d), (ceil_div (snd e) d))

(** val width_of :
    (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int **)

let width_of e =
  Z.sub (snd e) (fst e)

(** val negative_parts : Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let negative_parts row0 =
  map (Z.min Big_int_Z.zero_big_int) row0

type packed_rows = { packed_count : int; digit_bits0 : Big_int_Z.big_int;
                     whole : (Big_int_Z.big_int * Big_int_Z.big_int list) list;
                     negative : (Big_int_Z.big_int * Big_int_Z.big_int list)
                                list }

(** val packed :
    Big_int_Z.big_int -> Big_int_Z.big_int list list -> packed_rows **)

let packed most rows0 =
  let n0 = length rows0 in
  let bits = bits_for rows0 most in
  { packed_count = n0; digit_bits0 = bits; whole = (packs bits n0 rows0);
  negative = (packs bits n0 (map negative_parts rows0)) }

(** val products :
    Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int list)
    list -> Big_int_Z.big_int list -> Big_int_Z.big_int list **)

let products bits n0 rows0 u =
  if (=) n0 (Stdlib.Int.succ 0)
  then row_of rows0 u
  else digits_of bits n0 rows0 (row_of rows0 u)

(** val row_ends :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let row_ends b unit0 bias0 low0 all less =
  let low1 = Z.add (Z.mul b bias0) low0 in
  divided ((Z.add low1 less), (Z.add low1 (Z.sub all less))) unit0

(** val each_row :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let rec each_row b unit0 biases lows alls lesses =
  match lows with
  | [] -> []
  | low0 :: lows' ->
    (match alls with
     | [] -> []
     | all :: alls' ->
       (match lesses with
        | [] -> []
        | less :: lesses' ->
          (row_ends b unit0 (hd Big_int_Z.zero_big_int biases) low0 all less) :: 
            (each_row b unit0 (tl biases) lows' alls' lesses')))

(** val affine :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    packed_rows -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let affine b unit0 biases rows0 es =
  let sums = products rows0.digit_bits0 rows0.packed_count in
  let widths = map width_of es in
  each_row b unit0 biases (sums rows0.whole (map fst es))
    (sums rows0.whole widths) (sums rows0.negative widths)

(** val greater1 :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int **)

let greater1 most ends0 =
  Z.max (Z.max (Z.abs (fst ends0)) (Z.abs (width_of ends0))) most

(** val greatest2 : enclosed -> Big_int_Z.big_int **)

let greatest2 e =
  PositiveMap.fold (fun _ ends0 most -> fold_left greater1 ends0 most)
    e.cells Big_int_Z.zero_big_int

(** val total1 :
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let total1 es =
  fold_right add_ends zero es

(** val greatest_enclosed :
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let rec greatest_enclosed = function
| [] -> zero
| e :: es' ->
  (match es' with
   | [] -> e
   | _ :: _ -> max_ends e (greatest_enclosed es'))

(** val cell_at :
    enclosed -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let cell_at e place0 =
  cell e (Z.to_nat (fst place0)) (Z.to_nat (snd place0))

(** val cells_met :
    windows -> enclosed -> int -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list list **)

let cells_met w e y x =
  flat_map (fun a ->
    map (fun b ->
      let place0 = meets w y x a b in
      if inside0 e.tall e.wide place0 then cell_at e place0 else [])
      (seq 0 (snd w.kernel))) (seq 0 (fst w.kernel))

(** val cells_inside :
    windows -> enclosed -> int -> int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list list **)

let cells_inside w e y x =
  flat_map (fun a ->
    flat_map (fun b ->
      let place0 = meets w y x a b in
      if inside0 e.tall e.wide place0 then (cell_at e place0) :: [] else [])
      (seq 0 (snd w.kernel))) (seq 0 (fst w.kernel))

(** val rows_given : windows -> enclosed -> int **)

let rows_given w e =
  extent e.tall (fst w.kernel) (fst w.stride) (fst w.padding) (fst w.dilation)

(** val columns_given : windows -> enclosed -> int **)

let columns_given w e =
  extent e.wide (snd w.kernel) (snd w.stride) (snd w.padding) (snd w.dilation)

(** val rectified_ends :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let rectified_ends e =
  ((Z.max Big_int_Z.zero_big_int (fst e)),
    (Z.max Big_int_Z.zero_big_int (snd e)))

(** val clamped_ends :
    Big_int_Z.big_int -> fraction -> fraction ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let clamped_ends b least most e =
  let ends0 = fun f -> quotient_ends b f.numerator f.denominator in
  min_ends (ends0 most) (max_ends (ends0 least) e)

(** val leaky_ends :
    fraction -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let leaky_ends slope0 e =
  ((if Z.leb Big_int_Z.zero_big_int (fst e)
    then fst e
    else floor_div (Z.mul (fst e) slope0.numerator) slope0.denominator),
    (if Z.leb Big_int_Z.zero_big_int (snd e)
     then snd e
     else ceil_div (Z.mul (snd e) slope0.numerator) slope0.denominator))

(** val logistic_ends :
    Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let logistic_ends b terms0 e =
  match exp_of_ends b terms0 b (opp_ends e) with
  | Some f -> inverse_ends b (add_ends (b, b) f)
  | None -> (Big_int_Z.zero_big_int, b)

(** val hyperbolic_ends :
    Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let hyperbolic_ends b terms0 e =
  match exp_of_ends b terms0 b
          (scale_ends (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int) e) with
  | Some f ->
    sub_ends (b, b)
      (scale_ends (Big_int_Z.mult_int_big_int 2 Big_int_Z.unit_big_int)
        (inverse_ends b (add_ends (b, b) f)))
  | None -> ((Z.opp b), b)

(** val inverse_root_ends :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let inverse_root_ends b e =
  root_of_ends b (inverse_ends b e)

(** val by_group :
    Big_int_Z.big_int -> Big_int_Z.big_int -> int -> (Big_int_Z.big_int
    list * packed_rows) list -> (Big_int_Z.big_int * Big_int_Z.big_int) list
    list -> (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let rec by_group b unit0 own0 groups met =
  match groups with
  | [] -> []
  | g :: groups' ->
    app (affine b unit0 (fst g) (snd g) (concat (firstn own0 met)))
      (by_group b unit0 own0 groups' (skipn own0 met))

(** val conv2d_enclosed :
    Big_int_Z.big_int -> windows -> int -> Big_int_Z.big_int ->
    Big_int_Z.big_int list list -> Big_int_Z.big_int list -> enclosed ->
    enclosed **)

let conv2d_enclosed b w groups unit0 weights1 biases e =
  let own0 = Nat.div e.planes groups in
  let each = Nat.div (length weights1) groups in
  let most = greatest2 e in
  let of_groups =
    map (fun g -> ((skipn (mul g each) biases),
      (packed most (firstn each (skipn (mul g each) weights1)))))
      (seq 0 groups)
  in
  built (length weights1) (rows_given w e) (columns_given w e) (fun y x ->
    by_group b unit0 own0 of_groups (by_channel e.planes (cells_met w e y x)))

(** val linear_enclosed :
    Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
    Big_int_Z.big_int list -> enclosed -> enclosed **)

let linear_enclosed b unit0 weights1 biases e =
  let rows0 = packed (greatest2 e) weights1 in
  built (length weights1) (Stdlib.Int.succ 0) (Stdlib.Int.succ 0) (fun _ _ ->
    affine b unit0 biases rows0 (whole_cell e 0 0))

(** val added_enclosed : enclosed list -> enclosed **)

let added_enclosed es =
  let e = hd nothing_enclosed es in
  built e.planes e.tall e.wide (fun y x ->
    map total1 (by_channel e.planes (map (fun e0 -> cell e0 y x) es)))

(** val joined_enclosed : enclosed list -> enclosed **)

let joined_enclosed es =
  let e = hd nothing_enclosed es in
  built (fold_right (fun e0 sum -> add e0.planes sum) 0 es) e.tall e.wide
    (fun y x -> flat_map (fun e0 -> whole_cell e0 y x) es)

(** val products_each :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list **)

let rec products_each b es fs =
  match es with
  | [] -> []
  | e :: es' ->
    (match fs with
     | [] -> []
     | f :: fs' -> (product_ends b e f) :: (products_each b es' fs'))

(** val multiplied_enclosed :
    Big_int_Z.big_int -> enclosed -> enclosed -> enclosed **)

let multiplied_enclosed b e f =
  built e.planes e.tall e.wide (fun y x ->
    let factors = whole_cell f (repeated f.tall y) (repeated f.wide x) in
    products_each b (whole_cell e y x)
      (if (=) f.planes (Stdlib.Int.succ 0)
       then repeat (hd zero factors) e.planes
       else factors))

(** val each_enclosed :
    ((Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int) -> enclosed -> enclosed **)

let each_enclosed f e =
  built e.planes e.tall e.wide (fun y x -> map f (whole_cell e y x))

(** val max_pool2d_enclosed : windows -> enclosed -> enclosed **)

let max_pool2d_enclosed w e =
  built e.planes (rows_given w e) (columns_given w e) (fun y x ->
    map greatest_enclosed (by_channel e.planes (cells_inside w e y x)))

(** val avg_pool2d_enclosed : windows -> enclosed -> enclosed **)

let avg_pool2d_enclosed w e =
  let size0 = Z.of_nat (mul (fst w.kernel) (snd w.kernel)) in
  built e.planes (rows_given w e) (columns_given w e) (fun y x ->
    map (fun met -> divided (total1 met) size0)
      (by_channel e.planes (cells_met w e y x)))

(** val flattened_enclosed : enclosed -> enclosed **)

let flattened_enclosed e =
  built_each (mul (mul e.planes e.tall) e.wide) (Stdlib.Int.succ 0)
    (Stdlib.Int.succ 0) (fun k _ _ ->
    found e (Nat.div (Nat.div k e.wide) e.tall)
      (Nat.modulo (Nat.div k e.wide) e.tall) (Nat.modulo k e.wide))

(** val upsampled_enclosed : (int * int) -> enclosed -> enclosed **)

let upsampled_enclosed factor e =
  built e.planes (mul e.tall (fst factor)) (mul e.wide (snd factor))
    (fun y x -> cell e (Nat.div y (fst factor)) (Nat.div x (snd factor)))

(** val as_wide : enclosed -> enclosed -> bool **)

let as_wide e f =
  (&&) ((=) f.tall e.tall) ((=) f.wide e.wide)

(** val as_large : enclosed -> enclosed -> bool **)

let as_large e f =
  (&&) ((=) f.planes e.planes) (as_wide e f)

(** val repeats : enclosed -> enclosed -> bool **)

let repeats e f =
  let fits0 = fun n0 m -> (||) ((=) m n0) ((=) m (Stdlib.Int.succ 0)) in
  (&&) ((&&) (fits0 e.planes f.planes) (fits0 e.tall f.tall))
    (fits0 e.wide f.wide)

(** val all_positive : enclosed -> bool **)

let all_positive e =
  forallb (fun y ->
    forallb (fun x ->
      forallb (fun ends0 -> Z.ltb Big_int_Z.zero_big_int (fst ends0))
        (whole_cell e y x)) (seq 0 e.wide)) (seq 0 e.tall)

(** val given_if : bool -> enclosed -> enclosed option **)

let given_if fits0 e =
  if fits0 then Some e else None

(** val computed_enclosed :
    Big_int_Z.big_int -> int -> operation -> enclosed list -> enclosed option **)

let computed_enclosed b terms0 does0 es =
  let e = hd nothing_enclosed es in
  (match does0 with
   | Conv2d (w, groups, unit0, weights1, biases) ->
     given_if
       ((&&) (Nat.ltb 0 groups)
         ((=) (mul groups (Nat.div (length weights1) groups))
           (length weights1)))
       (conv2d_enclosed b w groups unit0 weights1 biases e)
   | LinearLayer (unit0, weights1, biases) ->
     given_if
       ((&&) ((=) e.tall (Stdlib.Int.succ 0))
         ((=) e.wide (Stdlib.Int.succ 0)))
       (linear_enclosed b unit0 weights1 biases e)
   | Add -> given_if (forallb (as_large e) es) (added_enclosed es)
   | Concat -> given_if (forallb (as_wide e) es) (joined_enclosed es)
   | Multiply ->
     let f = hd nothing_enclosed (tl es) in
     given_if (repeats e f) (multiplied_enclosed b e f)
   | Relu -> Some (each_enclosed rectified_ends e)
   | Clamp (least, most) -> Some (each_enclosed (clamped_ends b least most) e)
   | LeakyRelu slope0 ->
     given_if (Z.leb Big_int_Z.zero_big_int slope0.numerator)
       (each_enclosed (leaky_ends slope0) e)
   | Sigmoid -> Some (each_enclosed (logistic_ends b terms0) e)
   | Tanh -> Some (each_enclosed (hyperbolic_ends b terms0) e)
   | InverseRoot ->
     given_if (all_positive e) (each_enclosed (inverse_root_ends b) e)
   | MaxPool2d w -> Some (max_pool2d_enclosed w e)
   | AvgPool2d w ->
     given_if (Nat.ltb 0 (mul (fst w.kernel) (snd w.kernel)))
       (avg_pool2d_enclosed w e)
   | Flatten -> Some (flattened_enclosed e)
   | UpsampleNearest factor -> Some (upsampled_enclosed factor e))

(** val normalised_ends :
    Big_int_Z.big_int -> fraction -> fraction -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let normalised_ends b mean deviation v =
  quotient_ends b
    (Z.mul
      (Z.sub (Z.mul v mean.denominator)
        (Z.mul
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          Big_int_Z.unit_big_int))))))) mean.numerator))
      deviation.denominator)
    (Z.mul
      (Z.mul
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
        Big_int_Z.unit_big_int))))))) mean.denominator) deviation.numerator)

(** val count_onto : int -> picture -> int **)

let rec count_onto counted = function
| [] -> counted
| _ :: p' -> count_onto (Stdlib.Int.succ counted) p'

(** val picture_fits : network -> picture -> bool **)

let picture_fits n0 p =
  (&&)
    ((=) (count_onto 0 p)
      (mul (mul n0.input_channels n0.input_height) n0.input_width))
    (forallb (fun v ->
      (&&) (Z.leb Big_int_Z.zero_big_int v)
        (Z.leb v
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          ((fun x -> Big_int_Z.succ_big_int (Big_int_Z.mult_int_big_int 2 x))
          Big_int_Z.unit_big_int))))))))) p)

(** val positive_deviations : network -> bool **)

let positive_deviations n0 =
  (&&) (Nat.leb n0.input_channels (length n0.deviations))
    (forallb (fun f -> Z.ltb Big_int_Z.zero_big_int f.numerator)
      n0.deviations)

(** val normalised_enclosed :
    Big_int_Z.big_int -> network -> picture -> enclosed **)

let normalised_enclosed b n0 p =
  let c = n0.input_channels in
  let h = n0.input_height in
  let w = n0.input_width in
  let bytes = stored Big_int_Z.unit_big_int p PositiveMap.empty in
  built_each c h w (fun c0 y x ->
    normalised_ends b
      (nth c0 n0.means { numerator = Big_int_Z.zero_big_int; denominator =
        Big_int_Z.unit_big_int })
      (nth c0 n0.deviations { numerator = Big_int_Z.unit_big_int;
        denominator = Big_int_Z.unit_big_int })
      (match PositiveMap.find
               (Coq_Pos.of_succ_nat (add (mul (add (mul c0 h) y) w) x)) bytes with
       | Some v -> v
       | None -> Big_int_Z.zero_big_int))

(** val without_nth : int -> enclosed option list -> enclosed option list **)

let rec without_nth i = function
| [] -> []
| e :: known' ->
  ((fun fO fS n -> if n=0 then fO () else fS (n-1))
     (fun _ -> None :: known')
     (fun i' -> e :: (without_nth i' known'))
     i)

(** val reads : layer list -> int -> bool **)

let reads ls i =
  existsb (fun l -> existsb ((=) i) l.inputs) ls

(** val let_go :
    layer list -> int list -> enclosed option list -> enclosed option list **)

let let_go ls listed0 known =
  fold_left (fun known0 i ->
    if reads ls i then known0 else without_nth i known0) listed0 known

(** val all_enclosed :
    Big_int_Z.big_int -> int -> enclosed option list -> layer list ->
    enclosed option **)

let rec all_enclosed b terms0 known = function
| [] -> last known None
| l :: ls' ->
  (match all_some (map (fun i -> nth i known None) l.inputs) with
   | Some es ->
     (match computed_enclosed b terms0 l.does es with
      | Some e ->
        all_enclosed b terms0
          (app (let_go ls' l.inputs known) ((Some e) :: [])) ls'
      | None -> None)
   | None -> None)

(** val enclosed_output :
    Big_int_Z.big_int -> int -> network -> picture -> enclosed option **)

let enclosed_output b terms0 n0 p =
  if (&&) (picture_fits n0 p) (positive_deviations n0)
  then all_enclosed b terms0 ((Some (normalised_enclosed b n0 p)) :: [])
         n0.layers
  else None

(** val square_ends :
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let square_ends e =
  let near0 = Z.max Big_int_Z.zero_big_int (Z.max (fst e) (Z.opp (snd e))) in
  let far0 = Z.max (Z.opp (fst e)) (snd e) in
  ((Z.mul near0 near0), (Z.mul far0 far0))

(** val length_ends_over :
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let length_ends_over z0 =
  total1 (map square_ends z0)

(** val shifted_ends :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let shifted_ends h u =
  let s = h.coord_unit in
  (fun x e -> ((Z.sub (Z.mul (fst e) s) (Z.mul x u)),
  (Z.sub (Z.mul (snd e) s) (Z.mul x u))))

(** val distance_ends0 :
    head -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let rec distance_ends0 h u p = function
| [] -> zero
| e :: z' ->
  add_ends (square_ends (shifted_ends h u (hd Big_int_Z.zero_big_int p) e))
    (distance_ends0 h u (tl p) z')

(** val stretch_over :
    Big_int_Z.big_int -> head -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let stretch_over t0 h u square0 =
  let finer = rescale_ends (Z.mul u u) (Z.mul t0 t0) square0 in
  let root = fun e -> ((root_floor (fst e)), (root_ceil (snd e))) in
  (match h.head_geometry with
   | Cosine e ->
     if Z.leb Big_int_Z.zero_big_int e.numerator
     then Some
            (add_ends (root finer)
              (quotient_ends t0 e.numerator e.denominator))
     else None
   | RootedCosine e ->
     if Z.leb Big_int_Z.zero_big_int e.numerator
     then Some
            (root
              (add_ends finer
                (quotient_ends (Z.mul t0 t0) e.numerator e.denominator)))
     else None
   | _ -> Some zero)

(** val cosine_over :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let cosine_over t0 u d size0 stretch =
  let low0 = Z.mul u (Z.mul (fst size0) (fst stretch)) in
  let high0 = Z.mul u (Z.mul (snd size0) (snd stretch)) in
  (match ratio_ends (Z.mul (Z.mul (Z.mul t0 t0) t0) (fst d)) low0 high0 with
   | Some e ->
     (match ratio_ends (Z.mul (Z.mul (Z.mul t0 t0) t0) (snd d)) low0 high0 with
      | Some f -> ((Z.max (Z.opp t0) (fst e)), (Z.min t0 (snd f)))
      | None -> ((Z.opp t0), t0))
   | None -> ((Z.opp t0), t0))

(** val observed_over :
    Big_int_Z.big_int -> head -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) -> measured ->
    (Big_int_Z.big_int * Big_int_Z.big_int) option **)

let observed_over t0 h u =
  let s = h.coord_unit in
  (fun z0 stretch m ->
  match h.head_geometry with
  | Euclidean ->
    Some
      (rescale_ends (Z.mul (Z.mul u s) (Z.mul u s)) t0
        (distance_ends0 h u m.integers z0))
  | InnerProduct _ ->
    Some (rescale_ends (Z.mul u s) t0 (weighted m.integers z0))
  | Softmax -> None
  | _ ->
    Some (cosine_over t0 u (weighted m.integers z0) m.length_ends stretch))

(** val shifted_exponentials :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list option **)

let shifted_exponentials t0 terms0 u top0 z0 =
  all_some
    (map (fun e ->
      exp_of_ends t0 terms0 u ((Z.sub (fst e) top0), (Z.sub (snd e) top0)))
      z0)

(** val mass_over :
    Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
    (Big_int_Z.big_int * Big_int_Z.big_int) ->
    Big_int_Z.big_int * Big_int_Z.big_int **)

let mass_over t0 sum e =
  let most = Z.add (fst e) (Z.sub (snd sum) (snd e)) in
  let least = Z.add (snd e) (Z.sub (fst sum) (fst e)) in
  ((if Z.ltb Big_int_Z.zero_big_int most
    then floor_div (Z.mul t0 (fst e)) most
    else Big_int_Z.zero_big_int),
  (if Z.ltb Big_int_Z.zero_big_int least
   then Z.min t0 (ceil_div (Z.mul t0 (snd e)) least)
   else t0))

(** val masses_over :
    Big_int_Z.big_int -> int -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list option **)

let masses_over t0 terms0 u z0 =
  let top0 = fold_right Z.max (snd (hd zero z0)) (map snd z0) in
  (match shifted_exponentials t0 terms0 u top0 z0 with
   | Some es -> let sum = total1 es in Some (map (mass_over t0 sum) es)
   | None -> None)

(** val length_inside_over :
    head -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list
    -> bool **)

let length_inside_over h u z0 =
  match h.head_geometry with
  | Cosine e ->
    (||) (negb (Z.eqb e.numerator Big_int_Z.zero_big_int))
      (Z.ltb Big_int_Z.zero_big_int (fst (length_ends_over z0)))
  | RootedCosine e ->
    (||) (negb (Z.eqb e.numerator Big_int_Z.zero_big_int))
      (Z.ltb Big_int_Z.zero_big_int (fst (length_ends_over z0)))
  | InnerProduct radius0 ->
    (match radius0 with
     | Some r ->
       (&&) (Z.leb Big_int_Z.zero_big_int r.numerator)
         (Z.leb
           (Z.mul (snd (length_ends_over z0))
             (Z.mul r.denominator r.denominator))
           (Z.mul (Z.mul r.numerator r.numerator) (Z.mul u u)))
     | None -> true)
  | _ -> true

(** val patch_inside :
    head -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list
    -> bool **)

let patch_inside h u z0 =
  (&&)
    (forallb (fun e ->
      (&&) (coordinate_inside h u (fst e)) (coordinate_inside h u (snd e)))
      z0) (length_inside_over h u z0)

(** val row_over :
    head -> settings -> Big_int_Z.big_int -> measured list ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list -> row option **)

let row_over h s u =
  let t0 = s.range_unit in
  (fun ms z0 ->
  option_map (map as_ends)
    (match h.head_geometry with
     | Softmax -> masses_over t0 s.terms u z0
     | _ ->
       (match stretch_over t0 h u (length_ends_over z0) with
        | Some stretch -> all_some (map (observed_over t0 h u z0 stretch) ms)
        | None -> None)))

(** val table_over :
    head -> settings -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list list -> table option **)

let table_over h s u =
  let t0 = s.range_unit in
  (fun b ->
  match measured_prototypes h t0 with
  | Some ms -> all_some (map (row_over h s u ms) b)
  | None -> None)

(** val statements_over : head -> certificate -> settings -> table -> bool **)

let statements_over h c s =
  let t0 = s.range_unit in
  let b = s.box_unit in
  (fun t1 ->
  let true_for = fun b0 ->
    forallb (statement_true t0 t1 b b0 c.statement_unit (sum_true h c b b0))
      c.statements
  in
  if forallb about_a_patch c.statements
  then true_for []
  else (match pool_box h t0 b s.terms (logarithms_for b s.terms) t1 with
        | Some b0 -> true_for b0
        | None -> false))

(** val complies_over :
    head -> certificate -> settings -> Big_int_Z.big_int ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list list -> bool **)

let complies_over h c s u b =
  (&&)
    ((&&) ((&&) (Nat.ltb 0 (length b)) ((=) (length b) c.patches))
      (forallb (patch_inside h u) b))
    (match table_over h s u b with
     | Some t0 -> statements_over h c s t0
     | None -> false)

(** val latents_over :
    enclosed -> (Big_int_Z.big_int * Big_int_Z.big_int) list list **)

let latents_over e =
  map (fun l ->
    map (fun d -> found e d (Nat.div l e.wide) (Nat.modulo l e.wide))
      (seq 0 e.planes)) (seq 0 (mul e.tall e.wide))

(** val picture_latents :
    head -> Big_int_Z.big_int -> int -> network -> picture ->
    (Big_int_Z.big_int * Big_int_Z.big_int) list list option **)

let picture_latents h u terms0 n0 p =
  match enclosed_output u terms0 n0 p with
  | Some e -> if (=) e.planes h.depth then Some (latents_over e) else None
  | None -> None

type bounds = { ends_of : box; leads_of : Big_int_Z.big_int option list }

(** val lead_by_prices :
    prepared -> certificate -> hints -> leftover option -> box -> int ->
    Big_int_Z.big_int option **)

let lead_by_prices p c x =
  let h = p.head_of in
  let t0 = p.settings_of.range_unit in
  let b = p.settings_of.box_unit in
  (fun left_over0 b0 r ->
  match left_over0 with
  | Some left_over1 ->
    (match against r x.prices_of with
     | Some prices ->
       if Z.eqb t0 b
       then assignment_least t0 h left_over1 b0 prices c.predicted r
       else None
     | None -> None)
  | None -> None)

(** val lead_as_one :
    prepared -> certificate -> hints -> int -> Big_int_Z.big_int option **)

let lead_as_one p c x =
  let h = p.head_of in
  let b = p.settings_of.box_unit in
  (fun r ->
  match p.measures_of with
  | Some ms ->
    (match against r x.joint_of with
     | Some hint0 ->
       option_map (fun pat ->
         let (least, unit0) = pat in floor_div (Z.mul b least) unit0)
         (joint_least h c ms c.predicted r hint0)
     | None -> None)
  | None -> None)

(** val lead_over :
    prepared -> certificate -> hints -> leftover option -> bool list option
    -> box -> int -> Big_int_Z.big_int option **)

let lead_over p c x =
  let h = p.head_of in
  let b = p.settings_of.box_unit in
  (fun left_over0 own0 b0 r ->
  if (=) r c.predicted
  then None
  else greater0
         (greater0 (least_difference h b b0 c.predicted r)
           (lead_by_sums h c own0 b b0 r))
         (greater0 (lead_by_prices p c x left_over0 b0 r)
           (lead_as_one p c x r)))

(** val proved_bounds : prepared -> certificate -> hints -> bounds option **)

let proved_bounds p c x =
  let h = p.head_of in
  if Nat.ltb 0 c.patches
  then let left_over0 = given_left p c in
       let own0 = needed_marks h c in
       option_map (fun b -> { ends_of = b; leads_of =
         (map (lead_over p c x left_over0 own0 b) (seq 0 h.classes)) })
         (given_box p c x left_over0)
  else None

type values = { similar_to : ends list list; activations_at : box;
                leads_at : ends list }

(** val similar_at : head -> settings -> logarithms -> own -> ends -> ends **)

let similar_at h s =
  let t0 = s.range_unit in
  let b = s.box_unit in
  (fun logs o e ->
  match similar_ends h t0 b s.terms logs o e with
  | Some e0 -> as_ends e0
  | None -> anything)

(** val similar_patches : head -> settings -> table -> ends list list **)

let similar_patches h s =
  let b = s.box_unit in
  (fun t0 ->
  let logs = logarithms_for b s.terms in
  map (fun pat ->
    let (o, col) = pat in map (similar_at h s logs o) (rev col))
    (combine (owns h) (columns h.count t0)))

(** val lead_at : head -> settings -> int -> box -> int -> ends **)

let lead_at h s k =
  let b = s.box_unit in
  (fun b0 r -> ((least_difference h b b0 k r),
  (option_map Z.opp (least_difference h b b0 r k))))

(** val image_values : head -> settings -> int -> image -> values option **)

let image_values h s k i =
  if Nat.ltb 0 (length i.rows)
  then (match image_table h s i with
        | Some t0 ->
          option_map (fun b -> { similar_to = (similar_patches h s t0);
            activations_at = b; leads_at =
            (map (lead_at h s k b) (seq 0 h.classes)) }) (image_box h s t0)
        | None -> None)
  else None
