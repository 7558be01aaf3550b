
val negb : bool -> bool

val option_map : ('a1 -> 'a2) -> 'a1 option -> 'a2 option

val fst : ('a1 * 'a2) -> 'a1

val snd : ('a1 * 'a2) -> 'a2

val length : 'a1 list -> int

val app : 'a1 list -> 'a1 list -> 'a1 list

type comparison =
| Eq
| Lt
| Gt

val pred : int -> int

val add : int -> int -> int

val mul : int -> int -> int

val sub : int -> int -> int

val eqb : bool -> bool -> bool

module type TotalLeBool' =
 sig
  type t

  val leb : t -> t -> bool
 end

module Nat :
 sig
  val add : int -> int -> int

  val mul : int -> int -> int

  val sub : int -> int -> int

  val leb : int -> int -> bool

  val ltb : int -> int -> bool

  val min : int -> int -> int

  val pow : int -> int -> int

  val divmod : int -> int -> int -> int -> int * int

  val div : int -> int -> int

  val modulo : int -> int -> int
 end

module Pos :
 sig
  type mask =
  | IsNul
  | IsPos of Big_int_Z.big_int
  | IsNeg
 end

module Coq_Pos :
 sig
  val succ : Big_int_Z.big_int -> Big_int_Z.big_int

  val add : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val add_carry : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_N : Big_int_Z.big_int -> Big_int_Z.big_int

  type mask = Pos.mask =
  | IsNul
  | IsPos of Big_int_Z.big_int
  | IsNeg

  val succ_double_mask : mask -> mask

  val double_mask : mask -> mask

  val double_pred_mask : Big_int_Z.big_int -> mask

  val sub_mask : Big_int_Z.big_int -> Big_int_Z.big_int -> mask

  val sub_mask_carry : Big_int_Z.big_int -> Big_int_Z.big_int -> mask

  val mul : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val iter : ('a1 -> 'a1) -> 'a1 -> Big_int_Z.big_int -> 'a1

  val div2 : Big_int_Z.big_int -> Big_int_Z.big_int

  val div2_up : Big_int_Z.big_int -> Big_int_Z.big_int

  val size : Big_int_Z.big_int -> Big_int_Z.big_int

  val compare_cont :
    comparison -> Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

  val leb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

  val sqrtrem_step :
    (Big_int_Z.big_int -> Big_int_Z.big_int) -> (Big_int_Z.big_int ->
    Big_int_Z.big_int) -> (Big_int_Z.big_int * mask) ->
    Big_int_Z.big_int * mask

  val sqrtrem : Big_int_Z.big_int -> Big_int_Z.big_int * mask

  val sqrt : Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_Nsucc_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_Ndouble : Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_lor : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_land : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val ldiff : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val iter_op : ('a1 -> 'a1 -> 'a1) -> Big_int_Z.big_int -> 'a1 -> 'a1

  val to_nat : Big_int_Z.big_int -> int

  val of_succ_nat : int -> Big_int_Z.big_int
 end

module N :
 sig
  val succ_pos : Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_lor : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val ldiff : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
 end

module Z :
 sig
  val double : Big_int_Z.big_int -> Big_int_Z.big_int

  val succ_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pred_double : Big_int_Z.big_int -> Big_int_Z.big_int

  val pos_sub : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val add : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val opp : Big_int_Z.big_int -> Big_int_Z.big_int

  val pred : Big_int_Z.big_int -> Big_int_Z.big_int

  val sub : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val mul : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pow_pos : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val pow : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val compare : Big_int_Z.big_int -> Big_int_Z.big_int -> comparison

  val leb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

  val ltb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

  val eqb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool

  val max : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val min : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val abs : Big_int_Z.big_int -> Big_int_Z.big_int

  val to_nat : Big_int_Z.big_int -> int

  val of_nat : int -> Big_int_Z.big_int

  val of_N : Big_int_Z.big_int -> Big_int_Z.big_int

  val pos_div_eucl :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int

  val div_eucl :
    Big_int_Z.big_int -> Big_int_Z.big_int ->
    Big_int_Z.big_int * Big_int_Z.big_int

  val div : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val div2 : Big_int_Z.big_int -> Big_int_Z.big_int

  val log2 : Big_int_Z.big_int -> Big_int_Z.big_int

  val sqrt : Big_int_Z.big_int -> Big_int_Z.big_int

  val shiftl : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val shiftr : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val coq_land : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

  val ones : Big_int_Z.big_int -> Big_int_Z.big_int
 end

val hd : 'a1 -> 'a1 list -> 'a1

val tl : 'a1 list -> 'a1 list

val nth : int -> 'a1 list -> 'a1 -> 'a1

val nth_error : 'a1 list -> int -> 'a1 option

val last : 'a1 list -> 'a1 -> 'a1

val rev : 'a1 list -> 'a1 list

val concat : 'a1 list list -> 'a1 list

val map : ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val flat_map : ('a1 -> 'a2 list) -> 'a1 list -> 'a2 list

val fold_left : ('a1 -> 'a2 -> 'a1) -> 'a2 list -> 'a1 -> 'a1

val fold_right : ('a2 -> 'a1 -> 'a1) -> 'a1 -> 'a2 list -> 'a1

val existsb : ('a1 -> bool) -> 'a1 list -> bool

val forallb : ('a1 -> bool) -> 'a1 list -> bool

val filter : ('a1 -> bool) -> 'a1 list -> 'a1 list

val combine : 'a1 list -> 'a2 list -> ('a1 * 'a2) list

val firstn : int -> 'a1 list -> 'a1 list

val skipn : int -> 'a1 list -> 'a1 list

val seq : int -> int -> int list

val repeat : 'a1 -> int -> 'a1 list

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

val looks_at : Big_int_Z.big_int list -> int -> bool

type statement =
| AboutPatch of int * int * Big_int_Z.big_int option
   * Big_int_Z.big_int option
| AboutActivation of int * Big_int_Z.big_int option * Big_int_Z.big_int option
| AboutOthers of int list * Big_int_Z.big_int option
   * Big_int_Z.big_int option
| AboutSum of int list option * Big_int_Z.big_int

val lists : int list option -> int -> bool

type certificate = { predicted : int; patches : int;
                     statement_unit : Big_int_Z.big_int;
                     statements : statement list;
                     margin_unit : Big_int_Z.big_int;
                     margins : Big_int_Z.big_int list }

type image = { image_unit : Big_int_Z.big_int;
               rows : Big_int_Z.big_int list list }

val zdot :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int

val zsum : Big_int_Z.big_int list -> Big_int_Z.big_int

val plus_times :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val pack :
  Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int list

val two_by_two :
  Big_int_Z.big_int -> Big_int_Z.big_int list list -> Big_int_Z.big_int list
  list

val packed_by :
  int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list

val number : Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int

val slice :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val digits_onto :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list

val zdot_onto :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int

val levels : int

val piece : int

val pieces :
  int -> Big_int_Z.big_int list list -> Big_int_Z.big_int list list list

val packs :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int list list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list

val row_of :
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int list
  -> Big_int_Z.big_int list

val add_row :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val mixed :
  Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int
  list -> Big_int_Z.big_int list

val unpacked :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int list
  -> Big_int_Z.big_int list

val digits_of :
  Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int list)
  list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val started :
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int list
  -> Big_int_Z.big_int list

val entries :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list

val sizes : Big_int_Z.big_int list -> Big_int_Z.big_int

val bits_for :
  Big_int_Z.big_int list list -> Big_int_Z.big_int -> Big_int_Z.big_int

val floor_div : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val ceil_div : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val quotient_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val add_ends :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val opp_ends :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val sub_ends :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val scale_ends :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val mul_ends :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val product_ends :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val max_ends :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val min_ends :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val inverse_ends :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val rescale_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

type ends = Big_int_Z.big_int option * Big_int_Z.big_int option

val anything : ends

type row = ends list

type table = row list

type box = (Big_int_Z.big_int * Big_int_Z.big_int) list

val observables_in_natural_range : head -> bool

val activations_in_unit : head -> bool

val coefficients :
  Big_int_Z.big_int -> Big_int_Z.big_int -> int -> Big_int_Z.big_int list

val polynomial :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int

val polynomial_slack : Big_int_Z.big_int -> int -> Big_int_Z.big_int

val atanh_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

type logarithms = { log_bits : Big_int_Z.big_int;
                    log_series : Big_int_Z.big_int list;
                    log_slack : Big_int_Z.big_int;
                    log_table : (Big_int_Z.big_int * Big_int_Z.big_int) list;
                    log_of_2 : (Big_int_Z.big_int * Big_int_Z.big_int) }

val logs_from :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list

val logarithms_for : Big_int_Z.big_int -> int -> logarithms

val coarser :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val log_between :
  Big_int_Z.big_int -> logarithms -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val shifted :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val log_ends :
  Big_int_Z.big_int -> logarithms -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val kept : Big_int_Z.big_int list -> int -> 'a1 list -> 'a1 list

val stacked : 'a1 list -> 'a1 list list -> 'a1 list list

val columns : int -> 'a1 list list -> 'a1 list list

val all_some : 'a1 option list -> 'a1 list option

val recall : ('a1 -> 'a1 -> bool) -> ('a1 * 'a2) option -> 'a1 -> 'a2 option

val remembering :
  ('a1 -> 'a1 -> bool) -> ('a1 -> 'a2) -> ('a1 * 'a2) option -> ('a1 * 'a2)
  option -> 'a1 list -> 'a2 list

val map_remembering :
  ('a1 -> 'a1 -> bool) -> ('a1 -> 'a2) -> 'a1 list -> 'a2 list

val same_end : Big_int_Z.big_int option -> Big_int_Z.big_int option -> bool

val same_ends : ends -> ends -> bool

val raise :
  Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
  option

val cut :
  Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
  option

val meet : ends -> ends -> ends

val meet_at : int -> ends -> row -> row

val stated_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
  Big_int_Z.big_int option -> ends

val meet_statements :
  Big_int_Z.big_int -> Big_int_Z.big_int -> (int * (Big_int_Z.big_int
  option * Big_int_Z.big_int option)) list -> row -> row

val rise :
  int -> (int * (Big_int_Z.big_int option * Big_int_Z.big_int option)) list
  -> bool

val meet_rising :
  Big_int_Z.big_int -> Big_int_Z.big_int -> int -> (int * (Big_int_Z.big_int
  option * Big_int_Z.big_int option)) list -> row -> row

val meet_stated :
  Big_int_Z.big_int -> Big_int_Z.big_int -> (int * (Big_int_Z.big_int
  option * Big_int_Z.big_int option)) list -> row -> row

val root_floor : Big_int_Z.big_int -> Big_int_Z.big_int

val root_ceil : Big_int_Z.big_int -> Big_int_Z.big_int

val coarse_root : Big_int_Z.big_int -> Big_int_Z.big_int

val root_of_ends :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val root_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

type fact = { curve : Big_int_Z.big_int; low : Big_int_Z.big_int option;
              high : Big_int_Z.big_int option }

val weigh :
  Big_int_Z.big_int list -> fact list -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val square_of :
  Big_int_Z.big_int list -> Big_int_Z.big_int list list -> Big_int_Z.big_int

val least_value :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val bound_of :
  Big_int_Z.big_int -> fact list -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val fine : Big_int_Z.big_int

val unit_of : head -> Big_int_Z.big_int

val points : head -> int -> Big_int_Z.big_int list

val curvature : head -> Big_int_Z.big_int

val constant :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val slope : head -> Big_int_Z.big_int

val spatial : head -> bool

val ball : head -> fraction option

val edges : head -> (Big_int_Z.big_int * Big_int_Z.big_int) option

type measure = { square : Big_int_Z.big_int; total : Big_int_Z.big_int;
                 near : Big_int_Z.big_int; far : Big_int_Z.big_int }

val root_unit : head -> Big_int_Z.big_int

val measure_of : head -> Big_int_Z.big_int list -> measure

val measures : head -> measure list option

val walk : 'a1 -> 'a1 list -> int -> int list -> 'a1 list -> 'a1 list

val nths : 'a1 -> int list -> 'a1 list -> 'a1 list

val map_three :
  ('a1 -> 'a2 -> 'a3 -> 'a4) -> 'a1 list -> 'a2 list -> 'a3 list -> 'a4 list

val room : Big_int_Z.big_int

val square_bits : measure list -> Big_int_Z.big_int

val digit_bits : measure list -> Big_int_Z.big_int

val packed_prototypes :
  head -> measure list -> (Big_int_Z.big_int * Big_int_Z.big_int list) list

val no_rows : head -> Big_int_Z.big_int list list

val more_rows :
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> (int -> bool) -> int
  -> Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list list

val corner : head -> Big_int_Z.big_int list -> Big_int_Z.big_int list list

val triangle :
  head -> Big_int_Z.big_int -> int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list list -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list list

val all_given :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list option

val rows_found :
  Big_int_Z.big_int list list -> int list -> Big_int_Z.big_int list list
  option

val common :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int

val with_domain :
  Big_int_Z.big_int -> Big_int_Z.big_int -> (Big_int_Z.big_int
  option * Big_int_Z.big_int option) -> ends -> ends

val times_down : head -> measure -> Big_int_Z.big_int -> Big_int_Z.big_int

val times_up : head -> measure -> Big_int_Z.big_int -> Big_int_Z.big_int

val over_down :
  head -> measure -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val stated_fact : head -> Big_int_Z.big_int -> measure -> ends -> fact

val domain_facts :
  head -> Big_int_Z.big_int -> (Big_int_Z.big_int * fact) list

val stated_at :
  int -> statement list -> (int * (Big_int_Z.big_int
  option * Big_int_Z.big_int option)) list

type claim =
| Unclaimed
| AtLeast of Big_int_Z.big_int
| AtMost of Big_int_Z.big_int

type goal =
| Open
| Low of Big_int_Z.big_int * Big_int_Z.big_int * Big_int_Z.big_int
| High of Big_int_Z.big_int * Big_int_Z.big_int * Big_int_Z.big_int

val product_slope : head -> Big_int_Z.big_int

val goal_of :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> measure -> claim -> goal

val radius :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int

val low_follows :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val high_follows :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val settled :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> goal
  -> Big_int_Z.big_int -> ends -> ends

val settle :
  (goal -> Big_int_Z.big_int -> ends -> ends) -> goal list ->
  Big_int_Z.big_int list -> row -> row

val claimed :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> measure list -> claim
  list -> goal list

val doubled : Big_int_Z.big_int list list -> Big_int_Z.big_int list list

val largest : Big_int_Z.big_int list list -> Big_int_Z.big_int

val met_by :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list

val weighed :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int

val each_weighed :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list list -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list

val squares_of_piece :
  Big_int_Z.big_int list list -> Big_int_Z.big_int -> Big_int_Z.big_int list
  list -> Big_int_Z.big_int list

val squares :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list

val plus_sizes :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val row_sizes : Big_int_Z.big_int list list -> Big_int_Z.big_int list

val greatest_size : Big_int_Z.big_int list list -> Big_int_Z.big_int

val left_over :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int

val leeway :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int

val twice_below :
  fact list -> Big_int_Z.big_int list -> Big_int_Z.big_int option

val off_centre :
  Big_int_Z.big_int -> Big_int_Z.big_int -> fact list -> Big_int_Z.big_int
  list -> Big_int_Z.big_int -> Big_int_Z.big_int option

val farthest :
  Big_int_Z.big_int -> Big_int_Z.big_int -> fact list -> Big_int_Z.big_int
  list list -> Big_int_Z.big_int list -> Big_int_Z.big_int option

val crossed :
  Big_int_Z.big_int list list -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list list

val target_square :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> measure ->
  Big_int_Z.big_int -> Big_int_Z.big_int

val less_centre :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val target_products :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int
  list -> Big_int_Z.big_int list

val ends_from :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> measure -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> ends

type weights = Big_int_Z.big_int * Big_int_Z.big_int list

type hint = { for_low : weights option; for_high : weights option }

type patch_hints = { centre : Big_int_Z.big_int list;
                     square_length : Big_int_Z.big_int;
                     directions : Big_int_Z.big_int list list;
                     sharpened : int list; targets : (int * hint) list }

type squared = weights * Big_int_Z.big_int

val given_weights : weights option -> Big_int_Z.big_int list list

val weights_in : (int * hint) list -> Big_int_Z.big_int list list

val with_square :
  weights option -> Big_int_Z.big_int list -> squared
  option * Big_int_Z.big_int list

val with_squares :
  (int * hint) list -> Big_int_Z.big_int list -> (int * (squared
  option * squared option)) list

val turn : head -> Big_int_Z.big_int

val step_of : head -> Big_int_Z.big_int -> Big_int_Z.big_int

val reach :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> fact list ->
  Big_int_Z.big_int -> measure -> Big_int_Z.big_int list -> squared option ->
  Big_int_Z.big_int option

val narrow :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> fact list ->
  Big_int_Z.big_int list -> (int -> Big_int_Z.big_int list) -> (squared
  option * squared option) -> measure -> int -> ends -> ends

val refine :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> fact list ->
  Big_int_Z.big_int list -> (int -> Big_int_Z.big_int list) ->
  (int * (squared option * squared option)) list -> int -> measure list ->
  row -> row

val stated_prototypes : certificate -> int list

val no_measure : measure

val sums_of :
  head -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int list)
  list -> Big_int_Z.big_int list -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list

val plus_totals :
  Big_int_Z.big_int -> measure list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

type foot = { middles : Big_int_Z.big_int list;
              foot_square : Big_int_Z.big_int; constant_of : Big_int_Z.big_int }

val ball_of :
  head -> measure list -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int ->
  int list -> Big_int_Z.big_int list list -> fact list -> Big_int_Z.big_int
  list list -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> foot option

val by_ball :
  head -> Big_int_Z.big_int -> goal list -> Big_int_Z.big_int -> foot -> row
  -> row

val greatest_off :
  Big_int_Z.big_int -> Big_int_Z.big_int -> foot -> Big_int_Z.big_int

val least_off :
  Big_int_Z.big_int -> Big_int_Z.big_int -> foot -> fact list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int

val sharpen :
  (int -> int -> measure -> Big_int_Z.big_int -> ends -> ends) -> int list ->
  int -> measure list -> Big_int_Z.big_int list -> row -> row

val by_directions :
  head -> Big_int_Z.big_int -> measure list -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> int list -> Big_int_Z.big_int list list -> fact list
  -> fact list -> Big_int_Z.big_int list -> foot -> patch_hints -> row -> row

val by_centre :
  head -> Big_int_Z.big_int -> measure list -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int ->
  goal list -> Big_int_Z.big_int -> int list -> Big_int_Z.big_int list list
  -> fact list -> fact list -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list -> patch_hints -> row -> row

val metric_row :
  head -> certificate -> Big_int_Z.big_int -> measure list ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int list) list ->
  Big_int_Z.big_int list list -> Big_int_Z.big_int -> goal list -> row -> int
  -> patch_hints -> row option

val change_at : ('a1 -> 'a1) -> int -> 'a1 list -> 'a1 list

val change_others : ('a1 -> 'a1) -> int list -> int -> 'a1 list -> 'a1 list

type entry = Big_int_Z.big_int * Big_int_Z.big_int option

val unstated : entry

val met_entry : Big_int_Z.big_int -> ends -> entry -> entry

val entries_with :
  Big_int_Z.big_int -> Big_int_Z.big_int -> int -> entry list -> statement ->
  entry list

val entries0 : Big_int_Z.big_int -> certificate -> int -> int -> entry list

val remainder : Big_int_Z.big_int -> entry list -> Big_int_Z.big_int

val high_or_zero : entry -> Big_int_Z.big_int

val is_open : entry -> bool

val number_open : entry list -> int

val most_of : Big_int_Z.big_int -> entry -> Big_int_Z.big_int

val simplex_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> entry
  -> ends

val is_softmax : head -> bool

val row_of_entries : Big_int_Z.big_int -> entry list -> row

val gap : head -> Big_int_Z.big_int -> Big_int_Z.big_int

val spread :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val no_negative_coordinate : head -> bool

val no_positive_coordinate : head -> bool

val never_raises : head -> Big_int_Z.big_int -> bool

val span : head -> Big_int_Z.big_int list -> Big_int_Z.big_int

val mirrored : head -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val greatest : Big_int_Z.big_int list -> Big_int_Z.big_int

val below_zero : head -> Big_int_Z.big_int list -> bool

val mul_div_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val nested_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val square_times :
  Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val halved_exp_ends :
  Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int
  -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val exp_plan :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (int * int) * int

val planned_exp_ends :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val exp_most : Big_int_Z.big_int

val exp_least : Big_int_Z.big_int

val exp_ends :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val exp_of_ends :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val least_ratio : head -> Big_int_Z.big_int -> int -> Big_int_Z.big_int

val mass_range : head -> Big_int_Z.big_int -> int -> ends

val ball_reach :
  head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int list ->
  Big_int_Z.big_int

val cosine_reach :
  head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int

val denominator_of : fraction option -> Big_int_Z.big_int

val reach_of : head -> fraction option -> Big_int_Z.big_int option

val coordinate_ends : head -> fraction option -> ends

val box_ends :
  head -> Big_int_Z.big_int -> fraction option -> Big_int_Z.big_int list ->
  ends

val distance_ends :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> ends

val domain_ends :
  head -> Big_int_Z.big_int -> int -> Big_int_Z.big_int list -> ends

val domain_row : head -> Big_int_Z.big_int -> int -> row option

val no_hints : patch_hints

val metric_rows :
  (int -> patch_hints -> row option) -> int -> int -> patch_hints list -> row
  option list

val metric_table :
  head -> certificate -> Big_int_Z.big_int -> measure list ->
  (Big_int_Z.big_int * Big_int_Z.big_int list) list -> Big_int_Z.big_int list
  list -> row -> Big_int_Z.big_int -> claim list -> patch_hints list -> table
  option

val positive_number : fraction -> bool

val at_most : fraction -> fraction -> bool

type trend =
| Descends
| Ascends
| Unclear

val step_trend : fraction -> step -> trend

val chain_trend : fraction -> step list -> trend

val each_end : (Big_int_Z.big_int -> Big_int_Z.big_int) -> ends -> ends

val from_0 : Big_int_Z.big_int option -> Big_int_Z.big_int

val step_ends :
  Big_int_Z.big_int -> int -> logarithms -> fraction -> fraction -> step ->
  Big_int_Z.big_int -> ends -> (Big_int_Z.big_int * ends) option

val chain_range :
  Big_int_Z.big_int -> int -> logarithms -> fraction -> fraction -> step list
  -> Big_int_Z.big_int -> ends -> (Big_int_Z.big_int * ends) option

val chain_ends :
  Big_int_Z.big_int -> int -> logarithms -> fraction -> fraction -> step list
  -> Big_int_Z.big_int -> ends -> (Big_int_Z.big_int * Big_int_Z.big_int)
  option

val positive_fraction : fraction -> bool

val below_one : fraction -> bool

type own = fraction * fraction

val numbers :
  Big_int_Z.big_int -> fraction -> int -> Big_int_Z.big_int list -> fraction
  list

val owns : head -> own list

val euclidean : head -> bool

type direction =
| Falls
| Rises
| Neither

val direction_of : head -> own -> direction

val never_negative : head -> bool

val exp_at :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val value_at :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val both :
  Big_int_Z.big_int option -> Big_int_Z.big_int option ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val least_at :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> Big_int_Z.big_int option -> Big_int_Z.big_int option

val greatest_at :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> Big_int_Z.big_int option -> Big_int_Z.big_int option

val peak_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int * Big_int_Z.big_int

val quadratic_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> own -> ends ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val not_negative : ends -> ends

val sane_ends : head -> ends -> ends

val range_ends :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> ends -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val similar_ends :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> ends -> (Big_int_Z.big_int * Big_int_Z.big_int) option

type few = (int * entry) list

val few_at : int -> few -> entry

val few_changed : (entry -> entry) -> int -> few -> few

val few_with :
  Big_int_Z.big_int -> Big_int_Z.big_int -> int -> int -> few -> statement ->
  few

val few_entries : Big_int_Z.big_int -> certificate -> int -> int -> few

val low_of : (int * entry) -> Big_int_Z.big_int

val few_remainder : Big_int_Z.big_int -> few -> Big_int_Z.big_int

type leftover = { stated_patches : (Big_int_Z.big_int * few) list;
                  free_patches : Big_int_Z.big_int;
                  tops : Big_int_Z.big_int list }

val has_statement : certificate -> int -> bool

val left_at :
  Big_int_Z.big_int -> certificate -> int -> int -> Big_int_Z.big_int * few

val top_with :
  Big_int_Z.big_int -> entry -> Big_int_Z.big_int -> Big_int_Z.big_int

val tops_with :
  Big_int_Z.big_int list -> (Big_int_Z.big_int * few) -> Big_int_Z.big_int
  list

val left_of : Big_int_Z.big_int -> certificate -> int -> leftover

val meet_rows : row -> row -> row

val simplex_table :
  Big_int_Z.big_int -> head -> certificate -> row -> table option

val greatest0 :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int

val greatest_ends : box -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val every :
  (Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int) ->
  Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
  option

val either :
  (Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int) ->
  Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
  option

val lesser : ends -> ends -> ends

val greater : ends -> ends -> ends

val pooled : (ends -> ends -> ends) -> ends list -> ends

val widened :
  int -> (Big_int_Z.big_int * Big_int_Z.big_int) -> (Big_int_Z.big_int * few)
  -> Big_int_Z.big_int * Big_int_Z.big_int

val greatest_mass : Big_int_Z.big_int -> leftover -> int -> ends

val leaves_two : head -> (Big_int_Z.big_int * few) -> bool

val pools_rising : head -> bool

val simplex_box :
  head -> Big_int_Z.big_int -> (own -> ends ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option) -> leftover -> row -> box
  option

val unit_of_weights : head -> Big_int_Z.big_int

val weights0 : head -> int -> Big_int_Z.big_int list

val bias_number : head -> int -> Big_int_Z.big_int

val least_term :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int

val least_sum :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> box -> Big_int_Z.big_int

val has_width : head -> Big_int_Z.big_int list -> bool

val linear_least :
  head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int option

val bound_at_least :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int option -> Big_int_Z.big_int
  -> Big_int_Z.big_int -> bool

type gain = { worth : Big_int_Z.big_int; top : Big_int_Z.big_int;
              price : Big_int_Z.big_int }

val worthwhile : int -> gain list -> (int * gain) list

val excess_with :
  Big_int_Z.big_int -> few -> Big_int_Z.big_int -> (int * gain) ->
  Big_int_Z.big_int

val few_excess :
  Big_int_Z.big_int -> few -> (int * gain) list -> Big_int_Z.big_int

val gain_of :
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  -> gain

val gains :
  leftover -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> gain list

val price_paid : gain -> Big_int_Z.big_int

val excess_at :
  (int * gain) list -> (Big_int_Z.big_int * few) -> Big_int_Z.big_int

val all_excess :
  Big_int_Z.big_int -> leftover -> gain list -> Big_int_Z.big_int

val ends_of_tops : leftover -> box -> box

val priced_least :
  Big_int_Z.big_int -> head -> leftover -> box -> Big_int_Z.big_int list ->
  int -> int -> Big_int_Z.big_int

val pools_masses : head -> bool

val assignment_least :
  Big_int_Z.big_int -> head -> leftover -> box -> Big_int_Z.big_int list ->
  int -> int -> Big_int_Z.big_int option

val assignment_at_least :
  head -> certificate -> Big_int_Z.big_int -> leftover -> box ->
  Big_int_Z.big_int list -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  bool

val cut_by :
  ends -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val met_with :
  (Big_int_Z.big_int option -> Big_int_Z.big_int option -> ends) -> box ->
  statement -> box

val met_box :
  (Big_int_Z.big_int option -> Big_int_Z.big_int option -> ends) -> box ->
  statement list -> box

module Sort :
 functor (X:TotalLeBool') ->
 sig
  val merge : X.t list -> X.t list -> X.t list

  val merge_list_to_stack :
    X.t list option list -> X.t list -> X.t list option list

  val merge_stack : X.t list option list -> X.t list

  val iter_merge : X.t list option list -> X.t list -> X.t list

  val sort : X.t list -> X.t list

  val flatten_stack : X.t list option list -> X.t list
 end

val excess : Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int

val picked :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int * int

module Descending :
 sig
  type t = Big_int_Z.big_int

  val leb : Big_int_Z.big_int -> Big_int_Z.big_int -> bool
 end

module DescendingSort :
 sig
  val merge :
    Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

  val merge_list_to_stack :
    Big_int_Z.big_int list option list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list option list

  val merge_stack :
    Big_int_Z.big_int list option list -> Big_int_Z.big_int list

  val iter_merge :
    Big_int_Z.big_int list option list -> Big_int_Z.big_int list ->
    Big_int_Z.big_int list

  val sort : Big_int_Z.big_int list -> Big_int_Z.big_int list

  val flatten_stack :
    Big_int_Z.big_int list option list -> Big_int_Z.big_int list
 end

val nth_greatest : int -> Big_int_Z.big_int list -> Big_int_Z.big_int

val number_above : Big_int_Z.big_int -> Big_int_Z.big_int list -> int

val top_mean_ends :
  int -> box -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val total0 : Big_int_Z.big_int list -> Big_int_Z.big_int

val shortfall : Big_int_Z.big_int -> box -> Big_int_Z.big_int

val surplus :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int

val max_minus_mean_of :
  (Big_int_Z.big_int * Big_int_Z.big_int) -> box ->
  Big_int_Z.big_int * Big_int_Z.big_int

val max_minus_mean_ends :
  box -> (Big_int_Z.big_int * Big_int_Z.big_int) option

type distance = Big_int_Z.big_int * Big_int_Z.big_int option

val distance_of : ends -> distance

val bounded_sum : distance list -> Big_int_Z.big_int

val unbounded : distance list -> int

val others : Big_int_Z.big_int -> int -> distance -> Big_int_Z.big_int option

type candidate = Big_int_Z.big_int * Big_int_Z.big_int option

val candidate_of : Big_int_Z.big_int -> int -> distance -> candidate

val candidates : distance list -> candidate list

val beats : candidate -> candidate -> bool

val unbeaten : candidate list -> candidate list -> candidate list

val at_distance :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val at_mean :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> int -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int)
  option

val candidate_most :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> int -> candidate -> Big_int_Z.big_int option

val distance_most :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> distance list -> Big_int_Z.big_int option

val nearest : distance list -> Big_int_Z.big_int option

val sum_from : Big_int_Z.big_int -> distance list -> Big_int_Z.big_int

val distance_least :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> distance list -> Big_int_Z.big_int option

val max_minus_mean_distance_ends :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> ends list -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val pool_columns :
  (Big_int_Z.big_int list -> own -> 'a1 -> 'a2) -> Big_int_Z.big_int list
  list -> own list -> 'a1 list -> 'a2 list

val each_similarity :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> ends list -> box option

val greatest_similarity :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> ends list -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val pool_column :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  Big_int_Z.big_int list -> own -> ends list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val mask_of : pooling -> Big_int_Z.big_int list list

val pool_box :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  table -> box option

val into_unit : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val node_least :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val tree_bound :
  box -> ((Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int) -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> (int -> Big_int_Z.big_int) -> int ->
  Big_int_Z.big_int -> Big_int_Z.big_int option

val leaf_difference :
  head -> Big_int_Z.big_int -> int -> int -> int -> Big_int_Z.big_int

val soft_tree_least :
  head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> int -> int -> Big_int_Z.big_int option

val member_terms :
  head -> Big_int_Z.big_int -> ((Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int) -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  box -> Big_int_Z.big_int list

val greatest1 : Big_int_Z.big_int list -> Big_int_Z.big_int option

val maximum_least :
  head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int option

val least_difference :
  head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int option

val difference_at_least :
  head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> bool

val parabola :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val least_at0 :
  Big_int_Z.big_int -> Big_int_Z.big_int option -> Big_int_Z.big_int option
  -> Big_int_Z.big_int -> Big_int_Z.big_int option

val least_over :
  Big_int_Z.big_int -> Big_int_Z.big_int option -> Big_int_Z.big_int option
  -> Big_int_Z.big_int list -> Big_int_Z.big_int option

type joint_hint = { share_unit : Big_int_Z.big_int;
                    shares_of : Big_int_Z.big_int list;
                    ball_share : Big_int_Z.big_int }

val rate : head -> int -> Big_int_Z.big_int

val is_joint : head -> certificate -> bool

val gain_at :
  Big_int_Z.big_int ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * Big_int_Z.big_int) ->
  Big_int_Z.big_int

val margin_gains :
  head -> Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int list

val taken :
  (int * (Big_int_Z.big_int option * Big_int_Z.big_int option)) list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> (Big_int_Z.big_int
  list * Big_int_Z.big_int) option

val over_size :
  head -> measure -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val sides : head -> Big_int_Z.big_int option * Big_int_Z.big_int option

val curve_left :
  head -> Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int

val vector_left : head -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val constant_left :
  head -> measure list -> Big_int_Z.big_int list -> Big_int_Z.big_int

val radius_of : head -> Big_int_Z.big_int * Big_int_Z.big_int

val joint_least :
  head -> certificate -> measure list -> int -> int -> joint_hint ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val joint_at_least :
  head -> certificate -> measure list -> int -> int -> joint_hint ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> bool

type links = { reached : Big_int_Z.big_int option list;
               linked : (int * Big_int_Z.big_int) option list }

val is_lipschitz : head -> bool

val value :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val beyond :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  ((own * (Big_int_Z.big_int * Big_int_Z.big_int)) * Big_int_Z.big_int
  option) -> Big_int_Z.big_int option

val within_reach :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  ((own * (Big_int_Z.big_int * Big_int_Z.big_int)) * Big_int_Z.big_int
  option) -> Big_int_Z.big_int option

val square_apart :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int

val roots_fit :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val scaled : head -> Big_int_Z.big_int -> Big_int_Z.big_int

val cut_above :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  Big_int_Z.big_int option list -> Big_int_Z.big_int list -> own ->
  (int * Big_int_Z.big_int) option -> (Big_int_Z.big_int * Big_int_Z.big_int)
  -> Big_int_Z.big_int * Big_int_Z.big_int

val cut_below :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  Big_int_Z.big_int option list -> Big_int_Z.big_int list -> own ->
  (int * Big_int_Z.big_int) option -> (Big_int_Z.big_int * Big_int_Z.big_int)
  -> Big_int_Z.big_int * Big_int_Z.big_int

val cut_all :
  (Big_int_Z.big_int list -> 'a1 -> 'a2 ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int list list ->
  'a1 list -> 'a2 list -> box -> box

val cut_by_links :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  links -> links -> box -> box

type turns = { turned : Big_int_Z.big_int option list;
               turned_from : (int * (Big_int_Z.big_int * Big_int_Z.big_int))
                             option list }

val is_angular : head -> bool

val rising :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val not_above :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  ((own * (Big_int_Z.big_int * Big_int_Z.big_int)) * Big_int_Z.big_int
  option) -> Big_int_Z.big_int option

val not_below :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  ((own * (Big_int_Z.big_int * Big_int_Z.big_int)) * Big_int_Z.big_int
  option) -> Big_int_Z.big_int option

val alike :
  head -> Big_int_Z.big_int -> measure -> measure -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val covers :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> bool

val measured_at : measure list -> int -> measure

val turn_above :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  measure list -> Big_int_Z.big_int option list -> Big_int_Z.big_int list ->
  (own * measure) -> (int * (Big_int_Z.big_int * Big_int_Z.big_int)) option
  -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val turn_below :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  measure list -> Big_int_Z.big_int option list -> Big_int_Z.big_int list ->
  (own * measure) -> (int * (Big_int_Z.big_int * Big_int_Z.big_int)) option
  -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val cut_by_turns :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  measure list -> turns -> turns -> box -> box

val greater_of :
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val greatest_weights : head -> Big_int_Z.big_int list

val reaches : Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool list

val own_prototypes : head -> int -> bool list option

val marked :
  bool -> bool list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val least_of :
  head -> bool -> bool list -> box -> int -> int -> Big_int_Z.big_int

val least_by_sum :
  head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> bool list ->
  Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int

val greater0 :
  Big_int_Z.big_int option -> Big_int_Z.big_int option -> Big_int_Z.big_int
  option

val least_by_sums :
  head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> bool list ->
  statement list -> int -> int -> Big_int_Z.big_int option

val sum_within :
  head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> bool list -> int
  list option -> Big_int_Z.big_int -> int -> bool

val is_linear : head -> bool

val is_sum : statement -> bool

val needed_marks : head -> certificate -> bool list option

val lead_by_sums :
  head -> certificate -> bool list option -> Big_int_Z.big_int -> box -> int
  -> Big_int_Z.big_int option

val sum_true :
  head -> certificate -> Big_int_Z.big_int -> box -> int list option ->
  Big_int_Z.big_int -> bool

type settings = { range_unit : Big_int_Z.big_int;
                  box_unit : Big_int_Z.big_int; terms : int }

type prepared = { head_of : head; settings_of : settings;
                  logs_of : logarithms; measures_of : measure list option;
                  packed_of : (Big_int_Z.big_int * Big_int_Z.big_int list)
                              list; domain_of : row option;
                  rows_of : Big_int_Z.big_int list list }

val prepare : head -> settings -> prepared

val is_stated : certificate -> int -> bool

val learn : prepared -> certificate -> prepared

type hints = { curve_of : Big_int_Z.big_int; claims_of : claim list;
               weights_of : patch_hints list;
               prices_of : (int * Big_int_Z.big_int list) list;
               joint_of : (int * joint_hint) list; links_above : links;
               links_below : links; turns_above : turns; turns_below : 
               turns }

val against : int -> (int * 'a1) list -> 'a1 option

val given_table : prepared -> certificate -> hints -> table option

val given_left : prepared -> certificate -> leftover option

val box_of_left : prepared -> leftover option -> box option

val cut_by_others : prepared -> hints -> box -> box

val pooled_box :
  prepared -> certificate -> hints -> leftover option -> box option

val given_box :
  prepared -> certificate -> hints -> leftover option -> box option

val by_prices :
  prepared -> certificate -> hints -> leftover option -> box -> int ->
  Big_int_Z.big_int -> bool

val as_one :
  prepared -> certificate -> hints -> int -> Big_int_Z.big_int -> bool

val by_sums :
  prepared -> certificate -> bool list option -> box -> int ->
  Big_int_Z.big_int -> bool

val margin_proved :
  prepared -> certificate -> hints -> leftover option -> bool list option ->
  box -> int -> bool

val unproved : prepared -> certificate -> hints -> int list option

val check : prepared -> certificate -> hints -> bool

type measured = { integers : Big_int_Z.big_int list;
                  length_square : Big_int_Z.big_int;
                  length_ends : (Big_int_Z.big_int * Big_int_Z.big_int) }

val root_over :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val measured_of :
  Big_int_Z.big_int -> head -> Big_int_Z.big_int list -> measured

val ratio_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val stretch_ends :
  Big_int_Z.big_int -> head -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val cosine_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val observed_of :
  Big_int_Z.big_int -> head -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) -> measured ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val observed_ends :
  Big_int_Z.big_int -> head -> Big_int_Z.big_int list -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) -> measured ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

type exp_table =
| Entry of int * Big_int_Z.big_int option
| Fork of int * exp_table * exp_table

val look : exp_table -> int -> Big_int_Z.big_int option

val entry0 :
  Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  exp_table

val grow :
  Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
  (int * (Big_int_Z.big_int * Big_int_Z.big_int)) list -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) -> exp_table

val doubled0 :
  Big_int_Z.big_int -> Big_int_Z.big_int -> int -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (int * (Big_int_Z.big_int * Big_int_Z.big_int)) list ->
  (int * (Big_int_Z.big_int * Big_int_Z.big_int)) list

val exp_entries :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> int
  -> int -> exp_table

val low_exp :
  int -> exp_table -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val low_sums :
  int -> exp_table -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val sum_ends :
  Big_int_Z.big_int -> int -> exp_table -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val greatest_coordinate : Big_int_Z.big_int list -> Big_int_Z.big_int

val exponentials :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  option

val mass_ends :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val masses :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list option

val sum_scale : Big_int_Z.big_int

val finer_scale : Big_int_Z.big_int

val grid_bits : Big_int_Z.big_int

val fine_bits : Big_int_Z.big_int

val exp_grid : Big_int_Z.big_int

val last_entry : int

val fine_unit : Big_int_Z.big_int

val softmax_table : int -> int -> exp_table

val total_ends :
  exp_table -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val mass_of_total :
  Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val as_ends : (Big_int_Z.big_int * Big_int_Z.big_int) -> ends

val measured_prototypes : head -> Big_int_Z.big_int -> measured list option

val largest_of :
  Big_int_Z.big_int list -> Big_int_Z.big_int -> Big_int_Z.big_int

val largest0 : Big_int_Z.big_int list list -> Big_int_Z.big_int

val worth_packing : int

val products_for :
  head -> Big_int_Z.big_int list list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list

val spatial_row :
  head -> Big_int_Z.big_int -> (Big_int_Z.big_int list -> Big_int_Z.big_int
  list) -> Big_int_Z.big_int list -> Big_int_Z.big_int -> measured list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list option

val evaluated_row :
  head -> Big_int_Z.big_int -> int -> (Big_int_Z.big_int list ->
  Big_int_Z.big_int list) -> measured list -> image -> int -> row option

val evaluated_table :
  head -> Big_int_Z.big_int -> int -> image -> table option

val coordinate_inside : head -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val length_inside :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> bool

val latent_inside :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> bool

val low_in :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
  Big_int_Z.big_int option -> bool

val high_in :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
  Big_int_Z.big_int option -> bool

val ends_in :
  Big_int_Z.big_int -> Big_int_Z.big_int -> ends -> Big_int_Z.big_int option
  -> Big_int_Z.big_int option -> bool

val activation_in :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int option ->
  Big_int_Z.big_int option -> bool

val others_in :
  Big_int_Z.big_int -> Big_int_Z.big_int -> int list -> Big_int_Z.big_int
  option -> Big_int_Z.big_int option -> int -> box -> bool

val statement_true :
  Big_int_Z.big_int -> table -> Big_int_Z.big_int -> box -> Big_int_Z.big_int
  -> (int list option -> Big_int_Z.big_int -> bool) -> statement -> bool

val about_a_patch : statement -> bool

val instance_holds :
  head -> certificate -> Big_int_Z.big_int -> table -> Big_int_Z.big_int ->
  box -> image -> bool

val least_coordinates : Big_int_Z.big_int

val table_depth : int

val true_of :
  certificate -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int)
  option -> (Big_int_Z.big_int option * Big_int_Z.big_int option) -> bool

val spatial_true :
  head -> certificate -> Big_int_Z.big_int -> image -> Big_int_Z.big_int list
  -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (int * (Big_int_Z.big_int option * Big_int_Z.big_int option)) -> bool

val mass_true :
  certificate -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int)
  list -> (int * (Big_int_Z.big_int option * Big_int_Z.big_int option)) ->
  bool

val masses_true_by_total :
  certificate -> Big_int_Z.big_int -> int -> image -> exp_table option ->
  Big_int_Z.big_int list -> (int * (Big_int_Z.big_int
  option * Big_int_Z.big_int option)) list -> bool

val patch_true :
  head -> certificate -> Big_int_Z.big_int -> int -> image -> exp_table
  option -> int -> Big_int_Z.big_int list -> bool

val patches_true :
  head -> certificate -> Big_int_Z.big_int -> int -> image -> exp_table
  option -> int -> Big_int_Z.big_int list list -> bool

val about_one_of : int -> statement -> bool

val table_for : head -> int -> image -> exp_table option

val instance_by_patches :
  head -> certificate -> Big_int_Z.big_int -> int -> image -> bool

val refutation_holds :
  head -> certificate -> Big_int_Z.big_int -> table -> Big_int_Z.big_int ->
  box -> image -> int -> bool

val image_table : head -> settings -> image -> table option

val image_box : head -> settings -> table -> box option

val instance_proved : head -> settings -> certificate -> image -> bool

val refutation_proved : head -> settings -> certificate -> image -> bool

val has_peak : head -> bool

val are_linked : head -> bool

val states : int -> int -> statement -> bool

type addition =
| Nothing
| Prices
| JointMargin

val without : int -> certificate -> certificate

val inner_distance_ends :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int * Big_int_Z.big_int

val inner_cosine_reach :
  head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> Big_int_Z.big_int

val inner_cosine_ends :
  head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int list ->
  Big_int_Z.big_int * Big_int_Z.big_int

val inner_ball_reach :
  head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int list ->
  Big_int_Z.big_int

val inner_box_ends :
  head -> Big_int_Z.big_int -> fraction option -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val inner_product_ends :
  head -> Big_int_Z.big_int -> fraction option -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val inner_mass_range :
  head -> Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int)
  option

val inner_domain_ends :
  head -> Big_int_Z.big_int -> int -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val inner_domain_row :
  head -> Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int)
  option list

val signs_differ : head -> bool

val nearest_to :
  Big_int_Z.big_int ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  -> Big_int_Z.big_int * Big_int_Z.big_int

val worst :
  head -> Big_int_Z.big_int -> own ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  -> Big_int_Z.big_int * Big_int_Z.big_int

val best :
  head -> Big_int_Z.big_int -> own ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  -> Big_int_Z.big_int * Big_int_Z.big_int

val levelled :
  head -> own ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val one_best :
  head -> Big_int_Z.big_int -> own -> int ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val outdoes :
  head -> own -> Big_int_Z.big_int ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  -> bool

val place_of :
  head -> own -> Big_int_Z.big_int -> int ->
  (int * ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int)))
  ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  list -> int

val best_alone :
  head -> Big_int_Z.big_int -> own ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val least_numbers :
  head -> Big_int_Z.big_int -> own ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val greatest_numbers :
  head -> Big_int_Z.big_int -> own ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val fits :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  -> bool

val fit :
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  list -> bool

val value_of :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val inner_activation :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  -> Big_int_Z.big_int list ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val entry_of :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option

val inner_stated_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
  Big_int_Z.big_int option -> ends

val masses_stated : certificate -> int -> statement list

val mass_ends0 : head -> certificate -> Big_int_Z.big_int -> int -> box

val meet_ends :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val mass_within :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val inner_mass_row :
  head -> certificate -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option list -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option list

type point = { place : Big_int_Z.big_int list; lift : Big_int_Z.big_int }

type patch_points = { point_unit : Big_int_Z.big_int; points_of : point list;
                      chosen : (int * int) list }

val square_of_difference :
  Big_int_Z.big_int -> Big_int_Z.big_int list -> Big_int_Z.big_int list ->
  Big_int_Z.big_int

val numerator_at :
  head -> Big_int_Z.big_int -> point -> Big_int_Z.big_int list ->
  Big_int_Z.big_int

val common_divisor : head -> Big_int_Z.big_int -> Big_int_Z.big_int

val surely_least :
  head -> Big_int_Z.big_int -> measure -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val surely_most :
  head -> Big_int_Z.big_int -> measure -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val satisfied :
  head -> certificate -> Big_int_Z.big_int -> point -> ((Big_int_Z.big_int
  list * measure) * (Big_int_Z.big_int option * Big_int_Z.big_int option)) ->
  bool

val in_radius :
  head -> Big_int_Z.big_int -> fraction -> Big_int_Z.big_int list -> bool

val in_box_ball :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list -> bool

val radius_is_smaller :
  head -> fraction -> Big_int_Z.big_int -> Big_int_Z.big_int -> bool

val in_the_space : head -> Big_int_Z.big_int -> point -> bool

val stated_here :
  head -> certificate -> measure list -> int -> ((Big_int_Z.big_int
  list * measure) * (Big_int_Z.big_int option * Big_int_Z.big_int option))
  list

val serves :
  head -> certificate -> Big_int_Z.big_int -> ((Big_int_Z.big_int
  list * measure) * (Big_int_Z.big_int option * Big_int_Z.big_int option))
  list -> point -> bool

val observed :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> measure ->
  Big_int_Z.big_int list -> point -> Big_int_Z.big_int * Big_int_Z.big_int

val low_between :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val high_between :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val serving :
  head -> certificate -> Big_int_Z.big_int -> ((Big_int_Z.big_int
  list * measure) * (Big_int_Z.big_int option * Big_int_Z.big_int option))
  list -> point list -> point option list

val entry_of_points :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> point option list ->
  (((Big_int_Z.big_int * Big_int_Z.big_int)
  option * (int * int)) * (Big_int_Z.big_int list * measure)) ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option

val inner_points_row :
  head -> certificate -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option list -> measure list -> int
  -> patch_points ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option list

val node_most :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

val margin_most :
  head -> Big_int_Z.big_int -> box -> int -> int -> Big_int_Z.big_int option

val most_by_sum :
  head -> Big_int_Z.big_int -> box -> Big_int_Z.big_int -> bool list ->
  Big_int_Z.big_int -> int -> int -> Big_int_Z.big_int

val no_sum_proves :
  head -> Big_int_Z.big_int -> box -> certificate -> bool list option -> int
  -> bool

type reach_hints = { lowest_at : Big_int_Z.big_int list;
                     highest_at : Big_int_Z.big_int list;
                     spots : (Big_int_Z.big_int * Big_int_Z.big_int) list }

val alike_most :
  head -> Big_int_Z.big_int -> measure -> measure -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val gap_between :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int list -> measure ->
  (Big_int_Z.big_int list * measure) -> Big_int_Z.big_int

val gaps_of :
  head -> Big_int_Z.big_int -> measure list -> int -> Big_int_Z.big_int list

val close :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> bool

val between_spots :
  (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
  Big_int_Z.big_int

val all_close :
  head -> Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int)
  -> int -> Big_int_Z.big_int list -> Big_int_Z.big_int list -> bool

val close_to_all :
  head -> Big_int_Z.big_int -> int -> Big_int_Z.big_int -> int ->
  Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  bool

val inside :
  (Big_int_Z.big_int * Big_int_Z.big_int) option -> Big_int_Z.big_int -> bool

val within_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int option ->
  Big_int_Z.big_int option -> (Big_int_Z.big_int * Big_int_Z.big_int) -> bool

val as_stated :
  Big_int_Z.big_int -> Big_int_Z.big_int -> statement list -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) -> bool

val spot_right :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  Big_int_Z.big_int -> statement list -> int -> own ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option ->
  (Big_int_Z.big_int * Big_int_Z.big_int) -> bool

val spots_right :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  Big_int_Z.big_int -> statement list -> (int -> bool) -> int -> own list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> bool

val own_stated : statement list -> int list

val listed :
  statement list -> ((Big_int_Z.big_int option * Big_int_Z.big_int option) ->
  Big_int_Z.big_int option) -> int list

val cut_inward :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms -> own
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> box -> box option

val row_for :
  head -> Big_int_Z.big_int -> measure list -> int ->
  (int * Big_int_Z.big_int list) list -> Big_int_Z.big_int list

val gap_table :
  head -> Big_int_Z.big_int -> measure list -> statement list ->
  (int * Big_int_Z.big_int list) list

val linked_box :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  measure list -> (int * Big_int_Z.big_int list) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option list -> certificate ->
  reach_hints -> box -> box option

val units : certificate -> Big_int_Z.big_int -> Big_int_Z.big_int

val from_end :
  certificate -> Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int
  option -> Big_int_Z.big_int

val left_of_patch :
  certificate -> Big_int_Z.big_int -> int -> Big_int_Z.big_int

val top_of : certificate -> Big_int_Z.big_int -> int -> Big_int_Z.big_int

val tops_of :
  head -> certificate -> Big_int_Z.big_int -> Big_int_Z.big_int list

val no_repeats : int list -> bool

val yield :
  certificate -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> (int * int) ->
  Big_int_Z.big_int

val no_prices_prove :
  head -> certificate -> Big_int_Z.big_int -> box -> int -> int ->
  Big_int_Z.big_int list -> (int * int) list -> bool

val as_ends0 : (Big_int_Z.big_int * Big_int_Z.big_int) -> ends

val similarities_at :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int -> int -> logarithms ->
  measure list -> Big_int_Z.big_int -> point -> box option

val joint_shown :
  head -> certificate -> Big_int_Z.big_int -> Big_int_Z.big_int -> int ->
  logarithms -> measure list -> int -> (Big_int_Z.big_int * point) -> bool

type minimal_hints = { rivals_of : int list;
                       points_at : (int -> patch_points);
                       points_without : (int -> int -> patch_points);
                       pairs_of : (int -> int -> (int * int) list);
                       joint_point : (int -> int -> Big_int_Z.big_int * point);
                       reaches_at : (int -> reach_hints) }

val inner_free :
  prepared -> (Big_int_Z.big_int * Big_int_Z.big_int) option list

val entries_of :
  (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option list

val inner_row_at :
  prepared -> (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option list -> certificate -> int -> (int -> patch_points) ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option list

val inner_pool :
  prepared -> Big_int_Z.big_int list -> own ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option list -> (Big_int_Z.big_int * Big_int_Z.big_int) option

val inner_pooled :
  prepared ->
  ((Big_int_Z.big_int * Big_int_Z.big_int) * (Big_int_Z.big_int * Big_int_Z.big_int))
  option list list -> box option

val addition_shown :
  prepared -> addition -> minimal_hints -> certificate -> int ->
  Big_int_Z.big_int list -> box -> int -> bool

val rival_shown :
  prepared -> addition -> minimal_hints -> certificate -> int -> bool list
  option -> Big_int_Z.big_int list -> box -> int -> bool

val cut_by_reach :
  prepared -> minimal_hints -> certificate -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
  (int * Big_int_Z.big_int list) list -> box -> box option

val shown_needed :
  prepared -> addition -> minimal_hints -> certificate -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option list ->
  (int * Big_int_Z.big_int list) list -> box option -> bool

val is_about : int -> statement option -> bool

val needed_of :
  prepared -> addition -> minimal_hints -> certificate -> int -> bool

val check_minimal :
  prepared -> addition -> minimal_hints -> certificate -> bool

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

val extent : int -> int -> int -> int -> int -> int

val meets :
  windows -> int -> int -> int -> int -> Big_int_Z.big_int * Big_int_Z.big_int

val inside0 : int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) -> bool

val repeated : int -> int -> int

val append : Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int

module PositiveMap :
 sig
  type key = Big_int_Z.big_int

  type 'a tree =
  | Leaf
  | Node of 'a tree * 'a option * 'a tree

  type 'a t = 'a tree

  val empty : 'a1 t

  val find : key -> 'a1 t -> 'a1 option

  val add : key -> 'a1 -> 'a1 t -> 'a1 t

  val xfoldi : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> key -> 'a2

  val fold : (key -> 'a1 -> 'a2 -> 'a2) -> 'a1 t -> 'a2 -> 'a2
 end

type enclosed = { planes : int; tall : int; wide : int;
                  cells : (Big_int_Z.big_int * Big_int_Z.big_int) list
                          PositiveMap.t }

val zero : Big_int_Z.big_int * Big_int_Z.big_int

val nothing_enclosed : enclosed

val stored :
  Big_int_Z.big_int -> 'a1 list -> 'a1 PositiveMap.t -> 'a1 PositiveMap.t

val cell :
  enclosed -> int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val found :
  enclosed -> int -> int -> int -> Big_int_Z.big_int * Big_int_Z.big_int

val built :
  int -> int -> int -> (int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int)
  list) -> enclosed

val built_each :
  int -> int -> int -> (int -> int -> int ->
  Big_int_Z.big_int * Big_int_Z.big_int) -> enclosed

val by_channel :
  int -> (Big_int_Z.big_int * Big_int_Z.big_int) list list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list list

val first_of :
  int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list

val whole_cell :
  enclosed -> int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val weighted :
  Big_int_Z.big_int list -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  Big_int_Z.big_int * Big_int_Z.big_int

val divided :
  (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val width_of : (Big_int_Z.big_int * Big_int_Z.big_int) -> Big_int_Z.big_int

val negative_parts : Big_int_Z.big_int list -> Big_int_Z.big_int list

type packed_rows = { packed_count : int; digit_bits0 : Big_int_Z.big_int;
                     whole : (Big_int_Z.big_int * Big_int_Z.big_int list) list;
                     negative : (Big_int_Z.big_int * Big_int_Z.big_int list)
                                list }

val packed : Big_int_Z.big_int -> Big_int_Z.big_int list list -> packed_rows

val products :
  Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int list)
  list -> Big_int_Z.big_int list -> Big_int_Z.big_int list

val row_ends :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val each_row :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  Big_int_Z.big_int list -> Big_int_Z.big_int list -> Big_int_Z.big_int list
  -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val affine :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  packed_rows -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list

val greater1 :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int

val greatest2 : enclosed -> Big_int_Z.big_int

val total1 :
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  Big_int_Z.big_int * Big_int_Z.big_int

val greatest_enclosed :
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  Big_int_Z.big_int * Big_int_Z.big_int

val cell_at :
  enclosed -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list

val cells_met :
  windows -> enclosed -> int -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list list

val cells_inside :
  windows -> enclosed -> int -> int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list list

val rows_given : windows -> enclosed -> int

val columns_given : windows -> enclosed -> int

val rectified_ends :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val clamped_ends :
  Big_int_Z.big_int -> fraction -> fraction ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val leaky_ends :
  fraction -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val logistic_ends :
  Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val hyperbolic_ends :
  Big_int_Z.big_int -> int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val inverse_root_ends :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val by_group :
  Big_int_Z.big_int -> Big_int_Z.big_int -> int -> (Big_int_Z.big_int
  list * packed_rows) list -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  list -> (Big_int_Z.big_int * Big_int_Z.big_int) list

val conv2d_enclosed :
  Big_int_Z.big_int -> windows -> int -> Big_int_Z.big_int ->
  Big_int_Z.big_int list list -> Big_int_Z.big_int list -> enclosed ->
  enclosed

val linear_enclosed :
  Big_int_Z.big_int -> Big_int_Z.big_int -> Big_int_Z.big_int list list ->
  Big_int_Z.big_int list -> enclosed -> enclosed

val added_enclosed : enclosed list -> enclosed

val joined_enclosed : enclosed list -> enclosed

val products_each :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list

val multiplied_enclosed :
  Big_int_Z.big_int -> enclosed -> enclosed -> enclosed

val each_enclosed :
  ((Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int) -> enclosed -> enclosed

val max_pool2d_enclosed : windows -> enclosed -> enclosed

val avg_pool2d_enclosed : windows -> enclosed -> enclosed

val flattened_enclosed : enclosed -> enclosed

val upsampled_enclosed : (int * int) -> enclosed -> enclosed

val as_wide : enclosed -> enclosed -> bool

val as_large : enclosed -> enclosed -> bool

val repeats : enclosed -> enclosed -> bool

val all_positive : enclosed -> bool

val given_if : bool -> enclosed -> enclosed option

val computed_enclosed :
  Big_int_Z.big_int -> int -> operation -> enclosed list -> enclosed option

val normalised_ends :
  Big_int_Z.big_int -> fraction -> fraction -> Big_int_Z.big_int ->
  Big_int_Z.big_int * Big_int_Z.big_int

val count_onto : int -> picture -> int

val picture_fits : network -> picture -> bool

val positive_deviations : network -> bool

val normalised_enclosed : Big_int_Z.big_int -> network -> picture -> enclosed

val without_nth : int -> enclosed option list -> enclosed option list

val reads : layer list -> int -> bool

val let_go :
  layer list -> int list -> enclosed option list -> enclosed option list

val all_enclosed :
  Big_int_Z.big_int -> int -> enclosed option list -> layer list -> enclosed
  option

val enclosed_output :
  Big_int_Z.big_int -> int -> network -> picture -> enclosed option

val square_ends :
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val length_ends_over :
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  Big_int_Z.big_int * Big_int_Z.big_int

val shifted_ends :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val distance_ends0 :
  head -> Big_int_Z.big_int -> Big_int_Z.big_int list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  Big_int_Z.big_int * Big_int_Z.big_int

val stretch_over :
  Big_int_Z.big_int -> head -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val cosine_over :
  Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val observed_over :
  Big_int_Z.big_int -> head -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) -> measured ->
  (Big_int_Z.big_int * Big_int_Z.big_int) option

val shifted_exponentials :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list option

val mass_over :
  Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) ->
  (Big_int_Z.big_int * Big_int_Z.big_int) ->
  Big_int_Z.big_int * Big_int_Z.big_int

val masses_over :
  Big_int_Z.big_int -> int -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list option

val length_inside_over :
  head -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  -> bool

val patch_inside :
  head -> Big_int_Z.big_int -> (Big_int_Z.big_int * Big_int_Z.big_int) list
  -> bool

val row_over :
  head -> settings -> Big_int_Z.big_int -> measured list ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list -> row option

val table_over :
  head -> settings -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list list -> table option

val statements_over : head -> certificate -> settings -> table -> bool

val complies_over :
  head -> certificate -> settings -> Big_int_Z.big_int ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list list -> bool

val latents_over :
  enclosed -> (Big_int_Z.big_int * Big_int_Z.big_int) list list

val picture_latents :
  head -> Big_int_Z.big_int -> int -> network -> picture ->
  (Big_int_Z.big_int * Big_int_Z.big_int) list list option

type bounds = { ends_of : box; leads_of : Big_int_Z.big_int option list }

val lead_by_prices :
  prepared -> certificate -> hints -> leftover option -> box -> int ->
  Big_int_Z.big_int option

val lead_as_one :
  prepared -> certificate -> hints -> int -> Big_int_Z.big_int option

val lead_over :
  prepared -> certificate -> hints -> leftover option -> bool list option ->
  box -> int -> Big_int_Z.big_int option

val proved_bounds : prepared -> certificate -> hints -> bounds option

type values = { similar_to : ends list list; activations_at : box;
                leads_at : ends list }

val similar_at : head -> settings -> logarithms -> own -> ends -> ends

val similar_patches : head -> settings -> table -> ends list list

val lead_at : head -> settings -> int -> box -> int -> ends

val image_values : head -> settings -> int -> image -> values option
