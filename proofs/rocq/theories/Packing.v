(** Products of one list with many others at once.

    Numbers below B / 2 in size are the digits of one great number to the base B. So the products of a list with many
    lists are the digits of its product with their packed sum, and great numbers are multiplied much faster, digit for
    digit, than small ones one by one. *)

From Coq Require Import ZArith List Lia.
From Verale Require Import Sums.
Import ListNotations.
Open Scope Z_scope.

(** * Digits *)

Fixpoint number (B : Z) (digits : list Z) : Z :=
  match digits with x :: digits' => x + B * number B digits' | nil => 0 end.

(** The [n] digits of x to the base 2 half, each at least - half and below half. *)
Fixpoint digits_of (half : Z) (n : nat) (x : Z) : list Z :=
  match n with
  | O => nil
  | S n' => let rest := (x + half) / (2 * half) in (x - 2 * half * rest) :: digits_of half n' rest
  end.

Definition is_digit (half x : Z) : Prop := - half <= x < half.

Lemma first_digit : forall half x s, is_digit half x -> (x + 2 * half * s + half) / (2 * half) = s.
Proof.
  intros half x s H. unfold is_digit in H.
  replace (x + 2 * half * s + half) with (x + half + s * (2 * half)) by ring.
  rewrite Z.div_add by lia. rewrite Z.div_small by lia. reflexivity.
Qed.

Lemma digits_of_number : forall half digits, Forall (is_digit half) digits ->
  digits_of half (length digits) (number (2 * half) digits) = digits.
Proof.
  intros half digits H. induction H as [|x digits Hx H IH]; [reflexivity|]. cbn [length number digits_of]. cbv zeta.
  rewrite first_digit by exact Hx. rewrite IH. f_equal. ring.
Qed.

(** * Packed lists *)

(** p + B a, coordinate by coordinate *)
Fixpoint plus_times (B : Z) (p a : list Z) : list Z :=
  match p, a with
  | x :: p', y :: a' => (x + B * y) :: plus_times B p' a'
  | nil, _ => map (Z.mul B) a
  | _, nil => p
  end.

Fixpoint pack (B : Z) (ps : list (list Z)) : list Z :=
  match ps with p :: ps' => plus_times B p (pack B ps') | nil => nil end.

Lemma zdot_map_mul : forall B u a, zdot u (map (Z.mul B) a) = B * zdot u a.
Proof. induction u as [|x u IH]; intros [|y a]; cbn [map zdot]; try ring. rewrite IH. ring. Qed.

Lemma zdot_plus_times : forall B u p a, zdot u (plus_times B p a) = zdot u p + B * zdot u a.
Proof.
  induction u as [|x u IH]; intros p a; [cbn; ring|].
  destruct p as [|y p]; [cbn [plus_times]; rewrite zdot_map_mul; cbn; ring|].
  destruct a as [|w a]; cbn [plus_times zdot]; [ring|]. rewrite IH. ring.
Qed.

Theorem zdot_pack : forall B u ps, zdot u (pack B ps) = number B (map (zdot u) ps).
Proof.
  intros B u ps. induction ps as [|p ps IH]; cbn [pack map number]; [apply zdot_nil_r|].
  rewrite zdot_plus_times, IH. reflexivity.
Qed.

(** * How great the products are *)

Lemma twice_zdot_le : forall u v, 2 * Z.abs (zdot u v) <= zdot u u + zdot v v.
Proof.
  induction u as [|x u IH]; intros [|y v]; cbn [zdot]; [lia| | |].
  - assert (H := zdot_square_nonneg v). assert (Y := Z.square_nonneg y). lia.
  - assert (H := zdot_square_nonneg u). assert (X := Z.square_nonneg x). lia.
  - specialize (IH v). assert (A := Z.square_nonneg (x - y)). assert (B := Z.square_nonneg (x + y)). lia.
Qed.

Lemma zdot_is_digit : forall half u v, zdot u u < half -> zdot v v < half -> is_digit half (zdot u v).
Proof. intros half u v Hu Hv. assert (H := twice_zdot_le u v). unfold is_digit. lia. Qed.

(** * In pieces, since the digits of a very great number take long to find *)

Definition piece : nat := 32.

(** How many lists each pack holds, and the pack. [fuel] is at least the number of lists. *)
Fixpoint packs (B : Z) (fuel : nat) (ps : list (list Z)) : list (nat * list Z) :=
  match fuel, ps with
  | S fuel', _ :: _ =>
      let these := firstn piece ps in (length these, pack B these) :: packs B fuel' (skipn piece ps)
  | _, _ => nil
  end.

Fixpoint products_with (half : Z) (u : list Z) (packed : list (nat * list Z)) : list Z :=
  match packed with (n, a) :: packed' => digits_of half n (zdot u a) ++ products_with half u packed' | nil => nil end.

Theorem products_with_packs : forall half u fuel ps, zdot u u < half -> Forall (fun p => zdot p p < half) ps ->
  (length ps <= fuel)%nat -> products_with half u (packs (2 * half) fuel ps) = map (zdot u) ps.
Proof.
  intros half u fuel. induction fuel as [|fuel IH]; intros ps Hu H L; [destruct ps; [reflexivity|cbn in L; lia]|].
  destruct ps as [|p ps]; [reflexivity|]. cbn [packs]. set (all := p :: ps) in *. cbn [products_with].
  rewrite <- (firstn_skipn piece all) in H. apply Forall_app in H as [H1 H2].
  rewrite zdot_pack, <- (map_length (zdot u) (firstn piece all)), digits_of_number.
  - rewrite IH; [|exact Hu|exact H2|rewrite skipn_length; unfold all, piece in *; cbn [length] in *; lia].
    rewrite <- map_app, firstn_skipn. reflexivity.
  - apply Forall_map. eapply Forall_impl; [|exact H1]. intros q Hq. apply zdot_is_digit; assumption.
Qed.
