(** Squares of many sums of the same vectors at once.

    The products of the vectors with one another are a triangle of numbers (Quadratic), and each hint of a patch makes a
    weighted sum of its own, of which the square is needed. So the weights of many hints are packed into digits of one
    great number for each vector (Packing), and a row of the triangle meets all hints by one product a vector. *)

From Coq Require Import ZArith List Lia.
From Verale Require Import Sums Quadratic PackedLists Packing.
Import ListNotations.
Open Scope Z_scope.

(** * What runs *)

(** Each row of the triangle as what it is multiplied by: each product of two vectors occurs twice in the square. *)
Definition doubled (rows : list (list Z)) : list (list Z) :=
  map (fun row => match row with own :: others => own :: map (Z.mul 2) others | nil => nil end) rows.

Definition largest (rows : list (list Z)) : Z :=
  fold_right (fun row m => fold_right (fun x m => Z.max (Z.abs x) m) m row) 0 rows.

(** The first line meets all numbers, the next one all but the first, and so on. *)
Fixpoint met_by (lines : list (list Z)) (packed : list Z) : list Z :=
  match lines with line :: lines' => zdot_onto 0 line packed :: met_by lines' (tl packed) | nil => nil end.

(** The sum of weights times the digits, less half, that begin at place [from] of each number. Half of all weights is
    taken off at the end. *)
Fixpoint weighed (bits half from sum total : Z) (ws numbers : list Z) : Z :=
  match ws, numbers with
  | w :: ws', number :: numbers' =>
      weighed bits half from (sum + w * slice number from bits) (total + w) ws' numbers'
  | _, _ => sum - half * total
  end.

Fixpoint each_weighed (bits half from : Z) (wss : list (list Z)) (numbers : list Z) : list Z :=
  match wss with
  | ws :: wss' => weighed bits half from 0 0 ws numbers :: each_weighed bits half (from + bits) wss' numbers
  | nil => nil
  end.

(** [most] is at least the size of each number of the lines. *)
Definition squares_of_piece (lines : list (list Z)) (most : Z) (wss : list (list Z)) : list Z :=
  let bits := bits_for wss most in
  let half := Z.shiftl 1 (bits - 1) in
  let start := number (Z.shiftl 1 bits) (repeat half (length wss)) in
  each_weighed bits half 0 wss (map (Z.add start) (met_by lines (packed_by levels bits wss))).

(** The square of the sum by each list of weights; [rows] are the triangle. *)
Definition squares (rows wss : list (list Z)) : list Z :=
  let lines := doubled rows in
  let most := largest lines in
  flat_map (squares_of_piece lines most) (pieces (length wss) wss).

(** * What it means *)

(** What the lines make of weights *)
Fixpoint parts (lines : list (list Z)) (ws : list Z) : list Z :=
  match lines with line :: lines' => zdot line ws :: parts lines' (tl ws) | nil => nil end.

Lemma zdot_doubled : forall others ws, zdot (map (Z.mul 2) others) ws = 2 * zdot ws others.
Proof. induction others as [|x others IH]; intros [|w ws]; cbn [map zdot]; try ring. rewrite IH. ring. Qed.

Lemma square_of_parts : forall rows ws, Forall (fun row => row <> nil) rows ->
  zdot ws (parts (doubled rows) ws) = square_of ws rows.
Proof.
  intros rows ws H. revert ws. induction H as [|row rows N H IH]; intros [|w ws]; try reflexivity.
  destruct row as [|own others]; [congruence|]. cbn [doubled map parts tl]. fold (doubled rows).
  specialize (IH ws). cbn [zdot square_of]. rewrite IH, zdot_doubled. destruct (w =? 0) eqn:W; [|ring].
  apply Z.eqb_eq in W. subst w. ring.
Qed.

Lemma tl_plus_times : forall bits p a, tl (plus_times bits p a) = plus_times bits (tl p) (tl a).
Proof. intros bits [|x p] [|y a]; try reflexivity. destruct p; reflexivity. Qed.

Lemma tl_pack : forall bits wss, tl (pack bits wss) = pack bits (map (@tl Z) wss).
Proof.
  intros bits. induction wss as [|ws wss IH]; [reflexivity|]. cbn [pack map]. rewrite tl_plus_times, IH. reflexivity.
Qed.

Section Piece.
Variable bits : Z.
Hypothesis bits_positive : 0 < bits.
Let B := Z.shiftl 1 bits.
Let half := Z.shiftl 1 (bits - 1).
Let start (n : nat) := number B (repeat half n).

Fixpoint numbers (lines wss : list (list Z)) : list Z :=
  match lines with
  | line :: lines' => number B (map (zdot line) wss) :: numbers lines' (map (@tl Z) wss)
  | nil => nil
  end.

Lemma met_by_is : forall lines wss, met_by lines (pack bits wss) = numbers lines wss.
Proof.
  induction lines as [|line lines IH]; intros wss; [reflexivity|]. cbn [met_by numbers].
  rewrite zdot_onto_is, (zdot_pack bits bits_positive), tl_pack, IH. reflexivity.
Qed.

(** The digits have room. *)
Fixpoint fits (lines wss : list (list Z)) : Prop :=
  match lines with
  | line :: lines' => Forall (fun ws => Z.abs (zdot line ws) < half) wss /\ fits lines' (map (@tl Z) wss)
  | nil => True
  end.

Lemma nth_tl : forall (wss : list (list Z)) k, nth k (map (@tl Z) wss) nil = tl (nth k wss nil).
Proof. intros wss k. change (@nil Z) with (tl (@nil Z)) at 1. apply map_nth. Qed.

Lemma weighed_is : forall lines wss k sum total, fits lines wss -> (k < length wss)%nat ->
  weighed bits half (bits * Z.of_nat k) sum total (nth k wss nil)
    (map (Z.add (start (length wss))) (numbers lines wss)) =
  sum - half * total + zdot (nth k wss nil) (parts lines (nth k wss nil)).
Proof.
  induction lines as [|line lines IH]; intros wss k sum total F K.
  { cbn [numbers map parts]. rewrite zdot_nil_r. destruct (nth k wss nil); cbn [weighed]; ring. }
  destruct F as [F1 F2]. assert (L : length (map (@tl Z) wss) = length wss) by apply map_length.
  assert (D := digit_of_sum bits bits_positive (zdot line) wss k nil F1 K). unfold digit in D. fold half B in D.
  assert (N := nth_tl wss k). 
  assert (IH' := fun sum total => IH (map (@tl Z) wss) k sum total F2 ltac:(rewrite L; exact K)).
  rewrite L, N in IH'. cbn [numbers map parts]. destruct (nth k wss nil) as [|w ws]; [cbn [weighed zdot]; ring|].
  cbn [weighed zdot tl] in *. rewrite IH', <- D. unfold start. ring.
Qed.

Lemma each_weighed_is : forall lines wss before, fits lines (before ++ wss) ->
  each_weighed bits half (bits * Z.of_nat (length before)) wss
    (map (Z.add (start (length (before ++ wss)))) (numbers lines (before ++ wss))) =
  map (fun ws => zdot ws (parts lines ws)) wss.
Proof.
  intros lines. induction wss as [|ws wss IH]; intros before F; [reflexivity|]. cbn [each_weighed map].
  assert (W := weighed_is lines (before ++ ws :: wss) (length before) 0 0 F ltac:(rewrite app_length; cbn; lia)).
  rewrite app_nth2, Nat.sub_diag in W by lia. cbn [nth] in W. rewrite W, Z.mul_0_r, Z.add_0_l. f_equal.
  assert (E : before ++ ws :: wss = (before ++ [ws]) ++ wss) by (rewrite <- app_assoc; reflexivity).
  specialize (IH (before ++ [ws])). rewrite <- E, app_length in IH. cbn [length] in IH.
  rewrite Nat2Z.inj_add, Z.mul_add_distr_l, Z.mul_1_r in IH. exact (IH F).
Qed.
End Piece.

Lemma largest_above : forall rows, 0 <= largest rows /\ Forall (at_most (largest rows)) rows.
Proof.
  assert (inner : forall row m, m <= fold_right (fun x m => Z.max (Z.abs x) m) m row /\
    Forall (fun x => Z.abs x <= fold_right (fun x m => Z.max (Z.abs x) m) m row) row).
  { intros row m. induction row as [|x row [L H]]; cbn [fold_right]; [split; [lia|constructor]|]. split; [lia|].
    constructor; [lia|]. eapply Forall_impl; [|exact H]. intros y Y. cbn beta in *. lia. }
  induction rows as [|row rows [L H]]; cbn [largest fold_right]; [split; [lia|constructor]|]. fold (largest rows).
  destruct (inner row (largest rows)) as [I1 I2]. split; [lia|]. constructor; [exact I2|].
  eapply Forall_impl; [|exact H]. intros r R. eapply Forall_impl; [|exact R]. intros y Y. cbn beta in *. lia.
Qed.

Lemma sizes_tl : forall ws, sizes (tl ws) <= sizes ws.
Proof. intros [|w ws]; cbn [tl sizes]; lia. Qed.

Lemma piece_fits : forall most wss lines f, 0 <= most -> Forall (at_most most) lines ->
  (forall ws, sizes (f ws) <= sizes ws) -> fits (bits_for wss most) lines (map f wss).
Proof.
  intros most wss lines f M H. revert f. induction H as [|line lines A H IH]; intros f S; [exact I|]. split.
  - exact (products_small wss most line f M A S).
  - rewrite map_map. apply IH. intros ws. assert (T := sizes_tl (f ws)). specialize (S ws). lia.
Qed.

Lemma squares_of_piece_is : forall lines most wss, 0 <= most -> Forall (at_most most) lines ->
  squares_of_piece lines most wss = map (fun ws => zdot ws (parts lines ws)) wss.
Proof.
  intros lines most wss M H. assert (P := bits_for_positive wss most). unfold squares_of_piece. cbv zeta.
  rewrite (packed_by_is _ _ _ P), (met_by_is _ P).
  assert (F := piece_fits most wss lines (fun ws => ws) M H (fun ws => Z.le_refl _)). rewrite map_id in F.
  assert (E := each_weighed_is _ P lines wss nil F). cbn [app length] in E. rewrite Z.mul_0_r in E. exact E.
Qed.

Theorem squares_are : forall rows wss, Forall (fun row => row <> nil) rows ->
  squares rows wss = map (fun ws => square_of ws rows) wss.
Proof.
  intros rows wss H. unfold squares. cbv zeta. destruct (largest_above (doubled rows)) as [M A].
  rewrite flat_map_concat_map, (map_ext _ _ (fun these => squares_of_piece_is _ _ these M A)), <- concat_map.
  rewrite (concat_pieces _ _ (Nat.le_refl _)). apply map_ext. intros ws. apply square_of_parts. exact H.
Qed.
