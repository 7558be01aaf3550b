(** The least value of a quadratic function of a vector, coordinate by coordinate.

    Where every coordinate lies between two ends, A |y|^2 - <y, L> is not below the sum of the least values of
    A x^2 - L_d x between them. For A > 0 that needs no ends. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (A : Z) (lo hi : option Z).

Definition parabola (L x : Z) : Z := x * (A * x - L).

(** An integer that is not above A x^2 - L x between the ends; none if that has no least value. *)
Definition least_at (L : Z) : option Z :=
  if 0 <? A then
    let beyond_lo := match lo with Some a => L <=? 2 * A * a | None => false end in
    let beyond_hi := match hi with Some b => 2 * A * b <=? L | None => false end in
    if beyond_lo then option_map (parabola L) lo
    else if beyond_hi then option_map (parabola L) hi
    else Some (floor_div (- (L * L)) (4 * A))
  else
    match lo, hi with
    | Some a, Some b => Some (Z.min (parabola L a) (parabola L b))
    | Some a, None => if (A =? 0) && (L <=? 0) then Some (parabola L a) else None
    | None, Some b => if (A =? 0) && (0 <=? L) then Some (parabola L b) else None
    | None, None => if (A =? 0) && (L =? 0) then Some 0 else None
    end.

Fixpoint least_over (Ls : list Z) : option Z :=
  match Ls with
  | L :: Ls' => match least_at L, least_over Ls' with Some x, Some y => Some (x + y) | _, _ => None end
  | nil => Some 0
  end.
End Run.

Open Scope R_scope.

(** * What it means *)

Definition has_sides (lo hi : option Z) (x : R) : Prop :=
  match lo with Some a => IZR a <= x | None => True end /\ match hi with Some b => x <= IZR b | None => True end.

Section Sound.
Variables (A : Z) (lo hi : option Z).

Lemma parabola_real : forall L x, IZR (parabola A L x) = IZR x * (IZR A * IZR x - IZR L).
Proof. intros. unfold parabola. rewrite mult_IZR, minus_IZR, mult_IZR. reflexivity. Qed.

(** What a step from x to y changes. *)
Lemma parabola_step : forall a l x y, y * (a * y - l) - x * (a * x - l) = (y - x) * (a * (y + x) - l).
Proof. intros. ring. Qed.

Lemma rising : forall a l x y, x <= y -> 0 <= a * (y + x) - l -> x * (a * x - l) <= y * (a * y - l).
Proof. intros a l x y H K. assert (P := Rmult_le_pos (y - x) _ ltac:(lra) K). rewrite <- parabola_step in P. lra. Qed.

Lemma falling : forall a l x y, y <= x -> a * (y + x) - l <= 0 -> x * (a * x - l) <= y * (a * y - l).
Proof.
  intros a l x y H K. assert (P := Rmult_le_pos (x - y) (- (a * (y + x) - l)) ltac:(lra) ltac:(lra)).
  replace ((x - y) * - (a * (y + x) - l)) with ((y - x) * (a * (y + x) - l)) in P by ring.
  rewrite <- parabola_step in P. lra.
Qed.

Lemma least_at_ok : forall L x k, has_sides lo hi x -> least_at A lo hi L = Some k ->
  IZR k <= x * (IZR A * x - IZR L).
Proof.
  intros L x k [HL HH] E. unfold least_at in E. destruct (0 <? A)%Z eqn:PA.
  - apply Z.ltb_lt in PA. assert (PR := IZR_pos _ PA).
    cbv zeta in E. destruct (match lo with Some a => (L <=? 2 * A * a)%Z | None => false end) eqn:BL.
    { destruct lo as [a|]; [|discriminate]. injection E as <-. apply Z.leb_le, IZR_le in BL.
      rewrite parabola_real. rewrite !mult_IZR in BL. apply rising; [exact HL|].
      apply (Rmult_le_compat_l (IZR A)) in HL; [lra|lra]. }
    destruct (match hi with Some b => (2 * A * b <=? L)%Z | None => false end) eqn:BH.
    { destruct hi as [b|]; [|discriminate]. injection E as <-. apply Z.leb_le, IZR_le in BH.
      rewrite parabola_real. rewrite !mult_IZR in BH. apply falling; [exact HH|].
      apply (Rmult_le_compat_l (IZR A)) in HH; [lra|lra]. }
    injection E as <-. apply (floor_div_below (- (L * L)) (4 * A)); [lia|].
    rewrite opp_IZR, !mult_IZR. assert (S := Rle_0_sqr (2 * IZR A * x - IZR L)). unfold Rsqr in S. lra.
  - apply Z.ltb_ge, IZR_le in PA. destruct lo as [a|], hi as [b|].
    + injection E as <-. rewrite IZR_min, !parabola_real.
      destruct (Rle_dec (IZR a * (IZR A * IZR a - IZR L)) (x * (IZR A * x - IZR L))) as [G|G].
      { eapply Rle_trans; [apply Rmin_l|exact G]. }
      eapply Rle_trans; [apply Rmin_r|]. apply falling; [exact HH|].
      destruct (Rle_dec (IZR A * (x + IZR a) - IZR L) 0) as [N|N].
      * assert (M := Rmult_le_compat_neg_l (IZR A) (IZR a) (IZR b) PA ltac:(lra)). lra.
      * exfalso. apply G. apply rising; [exact HL|lra].
    + destruct (_ && _)%bool eqn:Z; [|discriminate]. injection E as <-. apply andb_prop in Z as [Z1 Z2].
      apply Z.eqb_eq in Z1. apply Z.leb_le, IZR_le in Z2. rewrite parabola_real, Z1. apply rising; [exact HL|lra].
    + destruct (_ && _)%bool eqn:Z; [|discriminate]. injection E as <-. apply andb_prop in Z as [Z1 Z2].
      apply Z.eqb_eq in Z1. apply Z.leb_le, IZR_le in Z2. rewrite parabola_real, Z1. apply falling; [exact HH|lra].
    + destruct (_ && _)%bool eqn:Z; [|discriminate]. injection E as <-. apply andb_prop in Z as [Z1 Z2].
      apply Z.eqb_eq in Z1, Z2. rewrite Z1, Z2. lra.
Qed.

Theorem least_over_ok : forall n Ls y k, length Ls = n -> (forall d, (d < n)%nat -> has_sides lo hi (y d)) ->
  least_over A lo hi Ls = Some k -> IZR k <= IZR A * inner n y y - inner n y (vector Ls).
Proof.
  intros n Ls. revert n. induction Ls as [|L Ls IH]; intros n y k HL H E; cbn [length] in HL; subst n.
  - injection E as <-. unfold inner. cbn [rsum]. lra.
  - cbn [least_over] in E. destruct (least_at A lo hi L) as [x|] eqn:E1; [|discriminate].
    destruct (least_over A lo hi Ls) as [r|] eqn:E2; [|discriminate]. injection E as <-.
    apply (least_at_ok L (y 0%nat)) in E1; [|apply H; lia].
    assert (K := IH (length Ls) (fun d => y (S d)) r eq_refl (fun d Hd => H (S d) ltac:(lia)) eq_refl).
    unfold inner in *. rewrite plus_IZR, !rsum_front.
    replace (vector (L :: Ls) 0) with (IZR L) by reflexivity.
    rewrite (rsum_ext (length Ls) (fun i => y (S i) * vector (L :: Ls) (S i)) (fun i => y (S i) * vector Ls i))
      by reflexivity. lra.
Qed.
End Sound.
