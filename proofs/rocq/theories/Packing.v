(** Products of one list with many others at once.

    Numbers below B / 2 in size are the digits of one great number to the base B. So the products of a list with many
    lists are the digits of its product with their packed sum, and great numbers are multiplied much faster, digit for
    digit, than small ones one by one.

    B is a power of two, so that a shift takes digits off. Half of B is added to each digit, so that none is negative. *)

From Coq Require Import ZArith List Lia.
From Verale Require Import Sums PackedLists.
Import ListNotations.
Open Scope Z_scope.

(** * Digits *)

Fixpoint number (B : Z) (digits : list Z) : Z :=
  match digits with x :: digits' => x + B * number B digits' | nil => 0 end.

Lemma number_app : forall B l l', number B (l ++ l') = number B l + B ^ Z.of_nat (length l) * number B l'.
Proof.
  intros B l l'. induction l as [|x l IH]; [cbn [app number length]; rewrite Z.pow_0_r; ring|].
  cbn [app number length]. rewrite IH, Nat2Z.inj_succ, Z.pow_succ_r by lia. ring.
Qed.

Lemma number_zeros : forall B n, number B (repeat 0 n) = 0.
Proof. intros B n. induction n as [|n IH]; cbn [repeat number]; [reflexivity|]. rewrite IH. ring. Qed.

Lemma number_plus : forall B k l, number B (map (Z.add k) l) = number B l + number B (repeat k (length l)).
Proof.
  intros B k l. induction l as [|x l IH]; [reflexivity|]. cbn [map number length repeat]. rewrite IH. ring.
Qed.

Lemma number_small : forall B l, 0 < B -> Forall (fun x => 0 <= x < B) l -> 0 <= number B l < B ^ Z.of_nat (length l).
Proof.
  intros B l HB H. induction H as [|x l Hx H IH]; [cbn; lia|].
  cbn [number length]. rewrite Nat2Z.inj_succ, Z.pow_succ_r by lia. nia.
Qed.

(** [size] binary digits of a number, those from [from] on. *)
Definition slice (x from size : Z) : Z := Z.land (Z.shiftr x from) (Z.ones size).

Section Base.
Variable bits : Z.
Let B : Z := Z.shiftl 1 bits.
Let half : Z := Z.shiftl 1 (bits - 1).

(** The 2^levels digits of x, each less half, and then the rest: x is halved, for that takes as long as copying it, and
    digit by digit it would be copied once for each. *)
Fixpoint digits_onto (levels : nat) (width : Z) (x : Z) (rest : list Z) : list Z :=
  match levels with
  | O => x - half :: rest
  | S levels' =>
      let width := Z.shiftr width 1 in
      let high := Z.shiftr x width in
      digits_onto levels' width (x - Z.shiftl high width) (digits_onto levels' width high rest)
  end.

Hypothesis bits_positive : 0 < bits.

Lemma base_is : B = 2 ^ bits.
Proof. unfold B. rewrite Z.shiftl_mul_pow2 by lia. apply Z.mul_1_l. Qed.

Lemma base_positive : 0 < B.
Proof. rewrite base_is. apply Z.pow_pos_nonneg; lia. Qed.

Lemma base_is_twice_half : B = 2 * half.
Proof.
  rewrite base_is. unfold half. rewrite Z.shiftl_mul_pow2 by lia. replace bits with (Z.succ (bits - 1)) at 1 by lia.
  rewrite Z.pow_succ_r by lia. ring.
Qed.

Lemma digits_onto_number : forall levels digits rest, length digits = (2 ^ levels)%nat ->
  Forall (fun x => 0 <= x < B) digits ->
  digits_onto levels (bits * Z.of_nat (2 ^ levels)) (number B digits) rest = map (fun x => x - half) digits ++ rest.
Proof.
  induction levels as [|levels IH]; intros digits rest L H.
  { destruct digits as [|x [|]]; try discriminate. cbn [digits_onto number map app]. rewrite Z.mul_0_r, Z.add_0_r.
    reflexivity. }
  cbn [digits_onto]. set (n := (2 ^ levels)%nat) in *. assert (N : (2 ^ S levels = n + n)%nat) by (cbn; unfold n; lia).
  rewrite N in *. replace (Z.shiftr (bits * Z.of_nat (n + n)) 1) with (bits * Z.of_nat n).
  2: { rewrite Z.shiftr_div_pow2 by lia. change (2 ^ 1) with 2. rewrite Nat2Z.inj_add.
       replace (bits * (Z.of_nat n + Z.of_nat n)) with (bits * Z.of_nat n * 2) by ring. rewrite Z.div_mul; lia. }
  rewrite <- (firstn_skipn n digits) in H |- *. set (low := firstn n digits) in *. set (high := skipn n digits) in *.
  assert (Ll : length low = n) by (unfold low; rewrite firstn_length; lia).
  assert (Lh : length high = n) by (unfold high; rewrite skipn_length; lia).
  apply Forall_app in H as [Hl Hh]. assert (S := number_small B low base_positive Hl). rewrite Ll in S.
  assert (P : 0 <= bits * Z.of_nat n) by lia.
  assert (E : number B (low ++ high) = number B low + 2 ^ (bits * Z.of_nat n) * number B high).
  { rewrite number_app, Ll, base_is, <- Z.pow_mul_r by lia. reflexivity. }
  assert (Q : 0 < 2 ^ (bits * Z.of_nat n)) by (apply Z.pow_pos_nonneg; lia).
  rewrite base_is, <- Z.pow_mul_r, <- base_is in S by lia.
  assert (X : Z.shiftr (number B (low ++ high)) (bits * Z.of_nat n) = number B high).
  { rewrite Z.shiftr_div_pow2, E by exact P. rewrite Z.mul_comm, Z.div_add by lia. rewrite Z.div_small by exact S.
    reflexivity. }
  rewrite X. replace (_ - Z.shiftl (number B high) _) with (number B low)
    by (rewrite Z.shiftl_mul_pow2, E by exact P; ring).
  rewrite (IH high rest Lh Hh), (IH low _ Ll Hl), map_app, <- app_assoc. reflexivity.
Qed.

(** * Products with packed lists *)

(** The sum of products, added to a number. *)
Fixpoint zdot_onto (sum : Z) (u v : list Z) : Z :=
  match u, v with x :: u', y :: v' => zdot_onto (sum + x * y) u' v' | _, _ => sum end.

Lemma zdot_onto_is : forall u v sum, zdot_onto sum u v = sum + zdot u v.
Proof. induction u as [|x u IH]; intros [|y v] sum; cbn [zdot_onto zdot]; try rewrite IH; ring. Qed.

Lemma shiftl_is : forall y, Z.shiftl y bits = B * y.
Proof. intros y. rewrite base_is, Z.shiftl_mul_pow2 by lia. apply Z.mul_comm. Qed.

Lemma zdot_map_shiftl : forall u a, zdot u (map (fun y => Z.shiftl y bits) a) = B * zdot u a.
Proof. induction u as [|x u IH]; intros [|y a]; cbn [map zdot]; try ring. rewrite IH, shiftl_is. ring. Qed.

Lemma zdot_plus_times : forall u p a, zdot u (plus_times bits p a) = zdot u p + B * zdot u a.
Proof.
  induction u as [|x u IH]; intros p a; [cbn; ring|].
  destruct p as [|y p]; [cbn [plus_times]; rewrite zdot_map_shiftl; cbn; ring|].
  destruct a as [|w a]; cbn [plus_times zdot]; [ring|]. rewrite IH, shiftl_is. ring.
Qed.

Theorem zdot_pack : forall u ps, zdot u (pack bits ps) = number B (map (zdot u) ps).
Proof.
  intros u ps. induction ps as [|p ps IH]; cbn [pack map number]; [apply zdot_nil_r|].
  rewrite zdot_plus_times, IH. reflexivity.
Qed.

(** * In pieces, which multiply fastest if they are neither short nor too long for the fast part of the memory *)

Definition levels : nat := 6.
Definition piece : nat := 2 ^ levels.

(** [fuel] is at least the number of lists. *)
Fixpoint pieces (fuel : nat) (ps : list (list Z)) : list (list (list Z)) :=
  match fuel, ps with
  | S fuel', _ :: _ => firstn piece ps :: pieces fuel' (skipn piece ps)
  | _, _ => nil
  end.

(** What is added to the digits of each piece of lists, and its pack. *)
Definition packs (fuel : nat) (ps : list (list Z)) : list (Z * list Z) :=
  map (fun these => (number B (repeat half (length these)), packed_by levels bits these)) (pieces fuel ps).

(** The numbers that [f] makes of the lists of each piece, as one number for each piece. *)
Definition row_right (pss : list (list (list Z))) (f : list Z -> Z) (row : list Z) : Prop :=
  row = map (fun these => number B (map f these)) pss.

(** The products with all lists. *)
Definition row_of (packed : list (Z * list Z)) (u : list Z) : list Z := map (fun a => zdot_onto 0 u (snd a)) packed.

Lemma row_of_right : forall u fuel ps, row_right (pieces fuel ps) (zdot u) (row_of (packs fuel ps) u).
Proof.
  intros u fuel ps. unfold row_right, row_of, packs. rewrite map_map. apply map_ext. intros these. cbn [snd].
  rewrite zdot_onto_is, packed_by_is, zdot_pack by exact bits_positive. reflexivity.
Qed.

(** ** Weighted sums of rows *)

Fixpoint add_row (w : Z) (row sum : list Z) : list Z :=
  match row, sum with x :: row', y :: sum' => w * x + y :: add_row w row' sum' | _, _ => nil end.

Fixpoint mixed (ws : list Z) (rows : list (list Z)) (zero : list Z) : list Z :=
  match ws, rows with
  | w :: ws', row :: rows' => if w =? 0 then mixed ws' rows' zero else add_row w row (mixed ws' rows' zero)
  | _, _ => zero
  end.

(** What the sum of the rows of [us] makes of a list. *)
Fixpoint mix_of (ws : list Z) (us : list (list Z)) (p : list Z) : Z :=
  match ws, us with w :: ws', u :: us' => w * zdot u p + mix_of ws' us' p | _, _ => 0 end.

Lemma row_right_ext : forall pss f g row, (forall p, f p = g p) -> row_right pss f row -> row_right pss g row.
Proof.
  intros pss f g row E H. unfold row_right in *. rewrite H. apply map_ext. intros these. f_equal.
  apply map_ext. exact E.
Qed.

Lemma number_weighted : forall w f g (l : list (list Z)),
  number B (map (fun p => w * f p + g p) l) = w * number B (map f l) + number B (map g l).
Proof. intros w f g l. induction l as [|p l IH]; cbn [map number]; [ring|]. rewrite IH. ring. Qed.

Lemma add_row_right : forall pss w f g row sum, row_right pss f row -> row_right pss g sum ->
  row_right pss (fun p => w * f p + g p) (add_row w row sum).
Proof.
  intros pss w f g row sum -> ->. unfold row_right.
  induction pss as [|these pss IH]; cbn [map add_row]; [reflexivity|]. rewrite IH, number_weighted. reflexivity.
Qed.

Lemma no_row_right : forall fuel ps, row_right (pieces fuel ps) (fun _ => 0) (map (fun _ => 0) (packs fuel ps)).
Proof.
  intros fuel ps. unfold row_right, packs. rewrite map_map. apply map_ext. intros these. symmetry.
  induction these as [|p these IH]; cbn [map number]; [reflexivity|]. rewrite IH. ring.
Qed.

Lemma mixed_right : forall pss zero ws us rows, row_right pss (fun _ => 0) zero ->
  Forall2 (fun u row => row_right pss (zdot u) row) us rows -> row_right pss (mix_of ws us) (mixed ws rows zero).
Proof.
  intros pss zero ws us rows Z0 H. revert ws. induction H as [|u row us rows R H IH]; intros [|w ws]; try exact Z0.
  cbn [mixed]. destruct (w =? 0) eqn:W.
  - apply Z.eqb_eq in W. subst w. apply (row_right_ext _ (mix_of ws us)); [|apply IH]. intros p. cbn [mix_of]. ring.
  - exact (add_row_right pss w (zdot u) (mix_of ws us) row _ R (IH ws)).
Qed.

(** ** The numbers again *)

Fixpoint unpacked (width : Z) (packed : list (Z * list Z)) (row : list Z) : list Z :=
  match packed, row with
  | (start, _) :: packed', x :: row' => digits_onto levels width (start + x) (unpacked width packed' row')
  | _, _ => nil
  end.

(** Of the [n] lists that were packed; the last piece may have more digits. *)
Definition digits_of (n : nat) (packed : list (Z * list Z)) (row : list Z) : list Z :=
  firstn n (unpacked (bits * Z.of_nat piece) packed row).

Lemma unpacked_piece : forall f (ps : list (list Z)) rest, Forall (fun p => Z.abs (f p) < half) ps ->
  (length ps <= piece)%nat -> exists more,
  digits_onto levels (bits * Z.of_nat piece) (number B (repeat half (length ps)) + number B (map f ps)) rest =
    map f ps ++ more /\ (length ps = piece -> more = rest).
Proof.
  intros f ps rest H L. set (digits := map (Z.add half) (map f ps)).
  assert (N : number B (repeat half (length ps)) + number B (map f ps) =
              number B (digits ++ repeat 0 (piece - length ps))).
  { rewrite number_app, number_zeros. unfold digits. rewrite number_plus, map_length. ring. }
  rewrite N. unfold piece in *. rewrite digits_onto_number.
  - exists (map (fun x => x - half) (repeat 0 (2 ^ levels - length ps)) ++ rest). split.
    + rewrite map_app, <- app_assoc. f_equal. unfold digits. rewrite !map_map. apply map_ext. intros p. lia.
    + intros E. rewrite E, Nat.sub_diag. reflexivity.
  - unfold digits. rewrite app_length, !map_length, repeat_length. lia.
  - apply Forall_app. split.
    + unfold digits. rewrite !Forall_map. eapply Forall_impl; [|exact H]. intros p Hp. rewrite base_is_twice_half.
      cbn beta in Hp. lia.
    + apply Forall_forall. intros x Hx. apply repeat_spec in Hx as ->. assert (P := base_positive). lia.
Qed.

Lemma unpacked_packs : forall f fuel ps, Forall (fun p => Z.abs (f p) < half) ps -> (length ps <= fuel)%nat ->
  exists more, unpacked (bits * Z.of_nat piece) (packs fuel ps)
    (map (fun these => number B (map f these)) (pieces fuel ps)) = map f ps ++ more.
Proof.
  intros f fuel. induction fuel as [|fuel IH]; intros ps H L.
  { destruct ps; [exists nil; reflexivity|cbn in L; lia]. }
  destruct ps as [|p ps]; [exists nil; reflexivity|]. unfold packs. cbn [pieces map unpacked].
  fold (packs fuel (skipn piece (p :: ps))). set (all := p :: ps) in *.
  rewrite <- (firstn_skipn piece all) in H. apply Forall_app in H as [H1 H2].
  assert (P : (0 < piece)%nat) by (unfold piece, levels; cbn; lia).
  destruct (IH (skipn piece all) H2) as [more E]; [rewrite skipn_length; unfold all in *; cbn [length] in *; lia|].
  rewrite E. destruct (unpacked_piece f (firstn piece all) (map f (skipn piece all) ++ more)) as [other [E' R]];
    [exact H1|apply firstn_le_length|].
  rewrite E'. destruct (Nat.le_gt_cases piece (length all)) as [F|F].
  - exists more. rewrite R by (rewrite firstn_length; lia). rewrite app_assoc, <- map_app, firstn_skipn. reflexivity.
  - exists other. rewrite firstn_all2 by lia. reflexivity.
Qed.

Theorem digits_of_right : forall f fuel ps row, row_right (pieces fuel ps) f row ->
  Forall (fun p => Z.abs (f p) < half) ps -> (length ps <= fuel)%nat ->
  digits_of (length ps) (packs fuel ps) row = map f ps.
Proof.
  intros f fuel ps row -> H L. unfold digits_of. destruct (unpacked_packs f fuel ps H L) as [more ->].
  rewrite firstn_app, map_length, Nat.sub_diag, firstn_all2, app_nil_r by (rewrite map_length; lia). reflexivity.
Qed.
(** ** One of the numbers *)

(** The digit [r] of a number, less half. *)
Definition digit (r : nat) (x : Z) : Z := slice x (bits * Z.of_nat r) bits - half.

Lemma digit_number : forall digits r, Forall (fun x => 0 <= x < B) digits -> (r < length digits)%nat ->
  digit r (number B digits) = nth r digits 0 - half.
Proof.
  intros digits r H L. destruct (nth_split digits 0 L) as (low & high & E & Ll). set (x := nth r digits 0) in *.
  rewrite E in H |- *. apply Forall_app in H as [Hl Hh]. assert (Hx := Forall_inv Hh).
  assert (S := number_small B low base_positive Hl). rewrite Ll in S.
  unfold digit, slice. rewrite number_app, Ll. cbn [number]. set (N := number B high).
  assert (Q : 2 ^ (bits * Z.of_nat r) = B ^ Z.of_nat r) by (rewrite base_is, <- Z.pow_mul_r by lia; reflexivity).
  assert (Pr : 0 <= bits * Z.of_nat r) by lia.
  assert (BP := base_positive). assert (PP : 0 < B ^ Z.of_nat r) by (apply Z.pow_pos_nonneg; lia).
  assert (Y : Z.shiftr (number B low + B ^ Z.of_nat r * (x + B * N)) (bits * Z.of_nat r) = x + B * N).
  { rewrite Z.shiftr_div_pow2, Q by exact Pr.
    rewrite (Z.mul_comm (B ^ _)), Z.div_add by (apply Z.neq_sym, Z.lt_neq, PP).
    rewrite Z.div_small by exact S. apply Z.add_0_l. }
  rewrite Y, Z.land_ones, <- base_is, (Z.mul_comm B N), Z.mod_add by lia. rewrite Z.mod_small by exact Hx. reflexivity.
Qed.

Lemma digit_of_sum : forall f (ps : list (list Z)) k d, Forall (fun p => Z.abs (f p) < half) ps ->
  (k < length ps)%nat -> digit k (number B (repeat half (length ps)) + number B (map f ps)) = f (nth k ps d).
Proof.
  intros f ps k d H K. assert (N : number B (repeat half (length ps)) + number B (map f ps) =
    number B (map (fun p => half + f p) ps)).
  { rewrite <- (map_map f (Z.add half)), number_plus, map_length. ring. }
  rewrite N, digit_number.
  - rewrite (nth_indep _ 0 (half + f d)) by (rewrite map_length; lia). rewrite (map_nth (fun p => half + f p)). ring.
  - rewrite Forall_map. eapply Forall_impl; [|exact H]. intros q Hq. cbn beta in Hq. rewrite base_is_twice_half. lia.
  - rewrite map_length. exact K.
Qed.

(** With what is added to the digits of each piece. *)
Fixpoint started (packed : list (Z * list Z)) (row : list Z) : list Z :=
  match packed, row with (start, _) :: packed', x :: row' => start + x :: started packed' row' | _, _ => nil end.

(** Of each of the rows the number [k]. Integers are divided at once, natural numbers one by one. *)
Definition entries (k : nat) (rows : list (list Z)) : list Z :=
  let place := Z.to_nat (Z.of_nat k / Z.of_nat piece) in
  let r := (k - place * piece)%nat in
  let from := bits * Z.of_nat r in
  let half := half in
  map (fun row => slice (nth place row 0) from bits - half) rows.

Lemma entries_is : forall k rows,
  entries k rows = map (fun row => digit (Nat.modulo k piece) (nth (Nat.div k piece) row 0)) rows.
Proof.
  intros k rows. unfold entries. rewrite <- Nat2Z.inj_div, Nat2Z.id. cbv zeta.
  assert (E := Nat.div_mod k piece ltac:(discriminate)).
  replace (k - k / piece * piece)%nat with (Nat.modulo k piece) by lia. reflexivity.
Qed.

Lemma piece_positive : (0 < piece)%nat.
Proof. unfold piece, levels. cbn. lia. Qed.

Theorem entry_right : forall f fuel ps row k d, row_right (pieces fuel ps) f row ->
  Forall (fun p => Z.abs (f p) < half) ps -> (length ps <= fuel)%nat -> (k < length ps)%nat ->
  digit (Nat.modulo k piece) (nth (Nat.div k piece) (started (packs fuel ps) row) 0) = f (nth k ps d).
Proof.
  intros f fuel. assert (PP := piece_positive).
  induction fuel as [|fuel IH]; intros ps row k d -> H L K; [lia|].
  destruct ps as [|p ps]; [cbn in K; lia|]. unfold packs. cbn [pieces map started].
  fold (packs fuel (skipn piece (p :: ps))). set (all := p :: ps) in *.
  assert (X := firstn_skipn piece all). rewrite <- X in H. apply Forall_app in H as [H1 H2].
  assert (LS := skipn_length piece all). assert (LF := firstn_length piece all).
  destruct (Nat.lt_ge_cases k piece) as [C|C].
  - rewrite Nat.div_small, Nat.mod_small by exact C. cbn [nth].
    rewrite (digit_of_sum f (firstn piece all) k d H1) by lia.
    rewrite <- (app_nth1 (firstn piece all) (skipn piece all)), X by lia. reflexivity.
  - replace k with (k - piece + 1 * piece)%nat by lia. rewrite Nat.div_add, Nat.mod_add, Nat.add_1_r by lia. cbn [nth].
    rewrite (IH (skipn piece all) _ (k - piece)%nat d eq_refl H2) by (unfold all in *; cbn [length] in *; lia).
    f_equal. rewrite <- X at 2. rewrite app_nth2 by lia. f_equal. lia.
Qed.
End Base.

Lemma concat_pieces : forall fuel ps, (length ps <= fuel)%nat -> concat (pieces fuel ps) = ps.
Proof.
  induction fuel as [|fuel IH]; intros [|p ps] L; try reflexivity; [inversion L|]. cbn [pieces concat].
  rewrite IH; [apply firstn_skipn|]. rewrite skipn_length. unfold piece, levels. cbn [length Nat.pow] in *. lia.
Qed.

(** * How great the numbers are *)

Lemma twice_zdot_le : forall u v, 2 * Z.abs (zdot u v) <= zdot u u + zdot v v.
Proof.
  induction u as [|x u IH]; intros [|y v]; cbn [zdot]; [lia| | |].
  - assert (H := zdot_square_nonneg v). assert (Y := Z.square_nonneg y). lia.
  - assert (H := zdot_square_nonneg u). assert (X := Z.square_nonneg x). lia.
  - specialize (IH v). assert (A := Z.square_nonneg (x - y)). assert (C := Z.square_nonneg (x + y)). lia.
Qed.

Lemma zdot_small : forall most u v, zdot u u < most -> zdot v v < most -> Z.abs (zdot u v) < most.
Proof. intros most u v Hu Hv. assert (H := twice_zdot_le u v). lia. Qed.

(** The sum of the sizes of weights. *)
Fixpoint sizes (ws : list Z) : Z := match ws with w :: ws' => Z.abs w + sizes ws' | nil => 0 end.

Lemma sizes_nonneg : forall ws, 0 <= sizes ws.
Proof. induction ws; cbn [sizes]; lia. Qed.

Lemma mix_of_small : forall most p ws us, 0 < most -> Forall (fun u => zdot u u < most) us -> zdot p p < most ->
  Z.abs (mix_of ws us p) <= sizes ws * (most - 1).
Proof.
  intros most p ws us P H Hp. revert ws. induction H as [|u us Hu H IH]; intros [|w ws]; cbn [mix_of sizes].
  - lia.
  - assert (S := sizes_nonneg ws). nia.
  - lia.
  - specialize (IH ws). assert (Z := zdot_small most u p Hu Hp).
    assert (Z.abs (w * zdot u p) <= Z.abs w * (most - 1)) by (rewrite Z.abs_mul; apply Z.mul_le_mono_nonneg_l; lia).
    lia.
Qed.

(** The square of such a sum is at most as many times the sum of squares as there are. *)
Lemma square_of_sizes : forall ws, sizes ws * sizes ws <= Z.of_nat (length ws) * zdot ws ws.
Proof.
  induction ws as [|w ws IH]; [cbn; lia|]. cbn [sizes zdot length]. rewrite Nat2Z.inj_succ.
  assert (S := sizes_nonneg ws). assert (Q := zdot_square_nonneg ws). set (m := Z.of_nat (length ws)) in *.
  assert (M : 0 <= m) by (unfold m; lia). set (s := sizes ws) in *. set (q := zdot ws ws) in *.
  assert (A := Z.abs_nonneg w).
  assert (W : w * w = Z.abs w * Z.abs w) by (destruct (Z.abs_spec w) as [[_ ->]|[_ ->]]; ring).
  set (a := Z.abs w) in *. rewrite W. destruct (Z.eq_dec m 0) as [Z0|N].
  - rewrite Z0 in *. assert (s = 0) by nia. subst s. nia.
  - assert (P : 2 * (a * s) <= m * (a * a) + q); [|lia].
    apply (Z.mul_le_mono_pos_l _ _ m); [lia|]. assert (X := Z.square_nonneg (m * a - s)). nia.
Qed.

(** ** Of products with numbers of a size *)

(** Digits of so many bits hold the product of a row with numbers of at most [most]; of its negative parts, too. *)
Definition bits_for (rows : list (list Z)) (most : Z) : Z :=
  Z.log2 (most * fold_right (fun row m => Z.max (sizes row) m) 0 rows) + 2.

Definition at_most (most : Z) (u : list Z) : Prop := Forall (fun x => Z.abs x <= most) u.

Lemma zdot_sizes : forall most u p, 0 <= most -> at_most most u -> Z.abs (zdot u p) <= most * sizes p.
Proof.
  intros most u p M H. revert p. induction H as [|x u X H IH]; intros [|w p]; cbn [zdot sizes]; try nia.
  - assert (S := sizes_nonneg p). nia.
  - specialize (IH p). assert (A := Z.abs_triangle (x * w) (zdot u p)). rewrite Z.abs_mul in A.
    assert (W := Z.abs_nonneg w). nia.
Qed.

Lemma sizes_below : forall rows row, In row rows -> sizes row <= fold_right (fun row m => Z.max (sizes row) m) 0 rows.
Proof. induction rows as [|r rows IH]; intros row []; cbn [fold_right]; [subst; lia|]. specialize (IH row H). lia. Qed.

Lemma bits_for_positive : forall rows most, 0 < bits_for rows most.
Proof.
  intros. unfold bits_for. assert (L := Z.log2_nonneg (most * fold_right (fun r m => Z.max (sizes r) m) 0 rows)). lia.
Qed.

Lemma products_small : forall rows most u (f : list Z -> list Z), 0 <= most -> at_most most u ->
  (forall row, sizes (f row) <= sizes row) ->
  Forall (fun p => Z.abs (zdot u p) < Z.shiftl 1 (bits_for rows most - 1)) (map f rows).
Proof.
  intros rows most u f M H S. apply Forall_forall. intros p I. apply in_map_iff in I as (row & <- & I).
  assert (D := zdot_sizes most u (f row) M H). apply sizes_below in I. specialize (S row).
  unfold bits_for. set (top := fold_right _ _ _) in *. set (n := most * top).
  assert (N : Z.abs (zdot u (f row)) <= n) by (unfold n; nia).
  assert (L := Z.log2_nonneg n). rewrite Z.shiftl_mul_pow2, Z.mul_1_l by lia.
  replace (Z.log2 n + 2 - 1) with (Z.succ (Z.log2 n)) by lia.
  destruct (Z.eq_dec n 0) as [E|E]; [rewrite E in *; cbn; lia|].
  assert (0 < n) by lia. assert (X := Z.log2_spec n ltac:(assumption)). lia.
Qed.
