(** Products of prototypes by machine integers, for theorems about large heads.

    Rocq's integers are lists of bits, and a product of two of them takes some thousand steps. Its primitive integers are
    those of the machine, modulo 2^63. A coordinate is split into two halves of 23 bits. Sums of products of halves are
    below 2^62 in size, so that they are known from what they are modulo 2^63. Only what [Check.v] learns of prototypes
    is computed in this way, and it is the same as there. *)

From Coq Require Import Uint63 ZArith List Lia Bool.
From Verale Require Import Semantics Sums Embedding Packing Products Check Classified.
Import ListNotations.
Open Scope Z_scope.

(** * What runs *)

Definition half : Z := 23.
Definition high (x : Z) : Z := Z.shiftr x half.
Definition low (x : Z) : Z := Z.land x (Z.ones half).

(** The halves of a list. *)
Definition plane : Type := list int * list int.
Definition plane_of (p : list Z) : plane :=
  (map (fun x => Uint63.of_Z (high x)) p, map (fun x => Uint63.of_Z (low x)) p).

(** Numbers that two halves hold, and not too many. *)
Definition narrow (p : list Z) : bool :=
  Nat.leb (length p) (2 ^ 10) && forallb (fun x => (- 2 ^ 46 <=? x) && (x <? 2 ^ 46)) p.

Fixpoint int_dot (sum : int) (us vs : list int) : int :=
  match us, vs with u :: us', v :: vs' => int_dot (sum + u * v)%uint63 us' vs' | _, _ => sum end.

Definition signed (i : int) : Z := let z := Uint63.to_Z i in if z <? 2 ^ 62 then z else z - 2 ^ 63.

Definition machine_dot (u v : plane) : Z :=
  let dot us vs := signed (int_dot 0 us vs) in
  Z.shiftl (dot (fst u) (fst v)) (2 * half) +
  Z.shiftl (dot (fst u) (snd v) + dot (snd u) (fst v)) half + dot (snd u) (snd v).

Definition machine_row (bits : Z) (planes : list (list plane)) (u : list Z) : list Z :=
  let u := plane_of u in map (fun these => number (Z.shiftl 1 bits) (map (machine_dot u) these)) planes.

Fixpoint more_machine_rows (bits : Z) (planes : list (list plane)) (wanted : nat -> bool) (j : nat)
  (ps known : list (list Z)) : list (list Z) :=
  match ps, known with
  | p :: ps', row :: known' =>
      (match row with nil => if wanted j then machine_row bits planes p else nil | _ => row end)
      :: more_machine_rows bits planes wanted (S j) ps' known'
  | _, _ => nil
  end.

(** The halves of all prototypes, where they hold them. *)
Definition planes (h : head) : option (list (list plane)) :=
  if forallb narrow (prototypes h) then
    Some (map (map plane_of) (pieces (length (prototypes h)) (prototypes h)))
  else None.

(** [learn], by machine integers where they are enough. *)
Definition learn_by (planes : option (list (list plane))) (p : prepared) (c : certificate) : prepared :=
  match planes, measures_of p with
  | Some planes, Some ms =>
      Prepared (head_of p) (settings_of p) (logs_of p) (measures_of p) (packed_of p) (domain_of p)
        (more_machine_rows (digit_bits ms) planes (is_stated c) 0 (prototypes (head_of p)) (rows_of p))
  | _, _ => learn p c
  end.

(** * What it means *)

Lemma int_dot_modulo : forall us vs sum,
  Uint63.to_Z (int_dot sum us vs) =
  (Uint63.to_Z sum + zdot (map Uint63.to_Z us) (map Uint63.to_Z vs)) mod wB.
Proof.
  induction us as [|u us IH]; intros [|v vs] sum; cbn [int_dot map zdot];
    try (rewrite Z.add_0_r, Z.mod_small by apply Uint63.to_Z_bounded; reflexivity).
  rewrite IH, Uint63.add_spec, Uint63.mul_spec, Zplus_mod_idemp_r, Zplus_mod_idemp_l, <- Z.add_assoc. reflexivity.
Qed.

Lemma zdot_modulo : forall u v,
  zdot (map (fun x => x mod wB) u) (map (fun x => x mod wB) v) mod wB = zdot u v mod wB.
Proof.
  induction u as [|x u IH]; intros [|y v]; cbn [map zdot]; try reflexivity.
  rewrite Zplus_mod, IH, <- Zmult_mod, <- Zplus_mod. reflexivity.
Qed.

Lemma zdot_bound : forall a b u v, 0 <= a -> 0 <= b -> Forall (fun x => Z.abs x <= a) u ->
  Forall (fun y => Z.abs y <= b) v -> Z.abs (zdot u v) <= Z.of_nat (length u) * (a * b).
Proof.
  intros a b u v Ha Hb Hu. revert v. induction Hu as [|x u X Hu IH]; intros v Hv; [cbn; lia|].
  destruct v as [|y v]; [cbn [zdot]; rewrite Z.abs_0; nia|]. inversion_clear Hv as [|? ? Y Hv']. specialize (IH v Hv').
  cbn [zdot length]. rewrite Nat2Z.inj_succ. assert (Z.abs (x * y) <= a * b) by (rewrite Z.abs_mul; nia).
  assert (T := Z.abs_triangle (x * y) (zdot u v)). lia.
Qed.

Lemma signed_right : forall i t, Z.abs t < 2 ^ 62 -> Uint63.to_Z i = t mod wB -> signed i = t.
Proof.
  intros i t B E. unfold signed. rewrite E. change wB with (2 ^ 63). change (2 ^ 63) with (2 ^ 62 * 2) in *.
  destruct (Z.le_gt_cases 0 t) as [P|N].
  - rewrite Z.mod_small by lia. destruct (Z.ltb_spec t (2 ^ 62)); lia.
  - replace (t mod (2 ^ 62 * 2)) with (t + 2 ^ 62 * 2)
      by (apply (Zmod_unique t (2 ^ 62 * 2) (-1)); lia).
    destruct (Z.ltb_spec (t + 2 ^ 62 * 2) (2 ^ 62)); lia.
Qed.

(** Of lists of halves. *)
Lemma dot_right : forall us vs, (length us <= 2 ^ 10)%nat -> Forall (fun x => Z.abs x <= 2 ^ 23) us ->
  Forall (fun y => Z.abs y <= 2 ^ 23) vs ->
  signed (int_dot 0 (map Uint63.of_Z us) (map Uint63.of_Z vs)) = zdot us vs.
Proof.
  intros us vs L U V. apply signed_right.
  - assert (B := zdot_bound (2 ^ 23) (2 ^ 23) us vs ltac:(lia) ltac:(lia) U V).
    assert (N : Z.of_nat (length us) <= 2 ^ 10) by (change (2 ^ 10) with (Z.of_nat (2 ^ 10)); apply Nat2Z.inj_le; exact L).
    assert (Z.of_nat (length us) * (2 ^ 23 * 2 ^ 23) <= 2 ^ 10 * (2 ^ 23 * 2 ^ 23)) by (apply Z.mul_le_mono_nonneg_r; lia).
    change (2 ^ 62) with (2 ^ 10 * (2 ^ 23 * 2 ^ 23) * 2 ^ 6). lia.
  - assert (M : forall l, map (fun x => Uint63.to_Z (Uint63.of_Z x)) l = map (fun x => x mod wB) l)
      by (intros l; apply map_ext; intros x; apply Uint63.of_Z_spec).
    rewrite int_dot_modulo, !map_map, !M. change (Uint63.to_Z 0) with 0. rewrite Z.add_0_l. exact (zdot_modulo us vs).
Qed.

Lemma halves : forall x, x = 2 ^ half * high x + low x.
Proof.
  intros x. unfold high, low, half. rewrite Z.shiftr_div_pow2, Z.land_ones by lia. apply Z.div_mod. lia.
Qed.

Lemma low_small : forall x, Z.abs (low x) <= 2 ^ 23.
Proof.
  intros x. unfold low, half. rewrite Z.land_ones by lia.
  assert (B := Z.mod_pos_bound x (2 ^ 23) ltac:(lia)). lia.
Qed.

Lemma high_small : forall x, (- 2 ^ 46 <=? x) && (x <? 2 ^ 46) = true -> Z.abs (high x) <= 2 ^ 23.
Proof.
  intros x H. apply andb_prop in H as [A B]. apply Z.leb_le in A. apply Z.ltb_lt in B.
  unfold high, half. rewrite Z.shiftr_div_pow2 by lia.
  assert (- 2 ^ 23 <= x / 2 ^ 23) by (apply Z.div_le_lower_bound; lia).
  assert (x / 2 ^ 23 < 2 ^ 23) by (apply Z.div_lt_upper_bound; lia). lia.
Qed.

Lemma zdot_halves : forall u v, zdot u v =
  2 ^ (2 * half) * zdot (map high u) (map high v) +
  2 ^ half * (zdot (map high u) (map low v) + zdot (map low u) (map high v)) + zdot (map low u) (map low v).
Proof.
  induction u as [|x u IH]; intros [|y v]; cbn [map zdot]; try ring.
  rewrite IH, (halves x) at 1. rewrite (halves y) at 1. change (2 ^ (2 * half)) with (2 ^ half * 2 ^ half). ring.
Qed.

Theorem machine_dot_right : forall u v, narrow u = true -> narrow v = true ->
  machine_dot (plane_of u) (plane_of v) = zdot u v.
Proof.
  intros u v U V. apply andb_prop in U as [LU U]. apply andb_prop in V as [_ V]. apply Nat.leb_le in LU.
  rewrite forallb_forall in U, V.
  assert (small : forall l, (forall x, In x l -> (- 2 ^ 46 <=? x) && (x <? 2 ^ 46) = true) ->
    Forall (fun x => Z.abs x <= 2 ^ 23) (map high l) /\ Forall (fun x => Z.abs x <= 2 ^ 23) (map low l)).
  { intros l H. split; apply Forall_map, Forall_forall; intros x X; [apply high_small, H, X|apply low_small]. }
  destruct (small u U) as [HU LoU]. destruct (small v V) as [HV LoV].
  unfold machine_dot, plane_of. cbn [fst snd].
  rewrite <- (map_map high Uint63.of_Z u), <- (map_map low Uint63.of_Z u), <- (map_map high Uint63.of_Z v),
    <- (map_map low Uint63.of_Z v).
  rewrite !dot_right by (try rewrite map_length; assumption).
  rewrite !Z.shiftl_mul_pow2 by (unfold half; lia). rewrite (zdot_halves u v). ring.
Qed.

Theorem machine_row_right : forall bits ps fuel u, 0 < bits -> forallb narrow ps = true -> narrow u = true ->
  machine_row bits (map (map plane_of) (pieces fuel ps)) u = row_of (packs bits fuel ps) u.
Proof.
  intros bits ps fuel u P H U. rewrite (row_of_right bits P u fuel ps). unfold machine_row. rewrite map_map.
  assert (inside : forall n l, incl l ps -> Forall (fun these => incl these ps) (pieces n l)).
  { induction n as [|n IH]; intros l I; [constructor|]. cbn [pieces]. destruct l as [|p l]; [constructor|].
    assert (S : incl (firstn piece (p :: l) ++ skipn piece (p :: l)) ps) by (rewrite firstn_skipn; exact I).
    constructor; [|apply IH]; intros q Q; apply S, in_app_iff; [left|right]; exact Q. }
  apply map_ext_in. intros these T. f_equal. rewrite map_map. apply map_ext_in. intros p Hp.
  apply machine_dot_right; [exact U|]. rewrite forallb_forall in H. apply H.
  specialize (inside fuel ps (incl_refl ps)). rewrite Forall_forall in inside. exact (inside these T p Hp).
Qed.

Lemma more_machine_rows_right : forall bits qs fuel wanted ps known j, 0 < bits -> forallb narrow qs = true ->
  incl ps qs ->
  more_machine_rows bits (map (map plane_of) (pieces fuel qs)) wanted j ps known =
  more_rows (packs bits fuel qs) wanted j ps known.
Proof.
  intros bits qs fuel wanted ps known j P H. revert known j. induction ps as [|p ps IH]; intros known j I; [reflexivity|].
  destruct known as [|row known]; [reflexivity|]. cbn [more_machine_rows more_rows].
  rewrite IH by (intros q Q; apply I; right; exact Q). f_equal. destruct row; [|reflexivity].
  destruct (wanted j); [|reflexivity]. apply machine_row_right; [exact P|exact H|].
  rewrite forallb_forall in H. apply H, I. left. reflexivity.
Qed.

(** It learns the same. *)
Theorem learn_by_is_learn : forall h p c, ready h p -> learn_by (planes h) p c = learn p c.
Proof.
  intros h p c (s & cs & ->). destruct (learned h s cs) as (rows & _ & ->). unfold learn_by, planes.
  destruct (forallb narrow (prototypes h)) eqn:N; [|reflexivity].
  unfold learn, prepared_with. cbn [head_of settings_of logs_of measures_of packed_of domain_of rows_of prepare].
  destruct (measures h) as [ms|]; [|reflexivity]. f_equal. unfold packed_prototypes.
  apply more_machine_rows_right; [apply (digit_bits_positive h)|exact N|apply incl_refl].
Qed.

Lemma learn_by_ready : forall h p c, ready h p -> ready h (learn_by (planes h) p c).
Proof. intros h p c H. rewrite (learn_by_is_learn h p c H). exact (learn_ready h p c H). Qed.
