(** Directions in which a patch's vector is known, and what is left of a prototype off them.

    [Hypersphere.v] has x = A y - Q and |x| <= R. Let q_1, ..., q_m be vectors with |<x, q_a>| <= alpha. Then for every
    vector U and every mu > 0, with b_a = <U, q_a>,

        mu <x, U> = <x, mu U - sum_a b_a q_a> + sum_a b_a <x, q_a>,

    so mu |<x, U>| <= R |mu U - sum_a b_a q_a| + alpha sum_a |b_a|, and the last sum is at most (m sum_a b_a^2)^(1/2).
    And if sum_c |<q_a, q_c>| <= top for every a,

        |mu U - sum_a b_a q_a|^2 = mu^2 |U|^2 - 2 mu sum_a b_a^2 + |sum_a b_a q_a|^2
                                <= mu^2 |U|^2 - (2 mu - top) sum_a b_a^2,

    as 2 |b_a <q_a, q_c> b_c| <= |<q_a, q_c>| (b_a^2 + b_c^2). Nothing more is asked of the q_a and of mu. Where they are
    nearly orthogonal, and mu is nearly the square of their length, this is nearly the square of mu times what is left
    of U off all of them. So hints make such vectors of a patch's statements, once, and the best ends of all prototypes
    follow with a few products each. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Boxes Sums Grid Root Ends Quadratic Embedding Facts Packing Hypersphere.
Import ListNotations.
Open Scope R_scope.

(** * The square of a sum of vectors that are nearly orthogonal *)

Section Integers.
Local Open Scope Z_scope.

Fixpoint plus_sizes (xs ts : list Z) : list Z :=
  match xs, ts with x :: xs', t :: ts' => Z.abs x + t :: plus_sizes xs' ts' | _, _ => ts end.

(** At least sum_c |<q_a, q_c>| for each a, from the upper half of the matrix of products. *)
Fixpoint row_sizes (rows : list (list Z)) : list Z :=
  match rows with
  | (own :: others) :: rows' => own + sizes others :: plus_sizes others (row_sizes rows')
  | _ => nil
  end.

Definition greatest_size (rows : list (list Z)) : Z := fold_right Z.max 0 (row_sizes rows).

Fixpoint weighted (ts bs : list Z) : Z :=
  match ts, bs with t :: ts', b :: bs' => t * (b * b) + weighted ts' bs' | _, _ => 0 end.

Fixpoint triangular (rows : list (list Z)) : Prop :=
  match rows with row :: rows' => length row = S (length rows') /\ triangular rows' | nil => True end.

Lemma plus_sizes_length : forall xs ts, length (plus_sizes xs ts) = length ts.
Proof. induction xs as [|x xs IH]; intros [|t ts]; cbn [plus_sizes length]; auto. Qed.

Lemma row_sizes_length : forall rows, triangular rows -> length (row_sizes rows) = length rows.
Proof.
  induction rows as [|[|own others] rows IH]; intros H; [reflexivity|destruct H; discriminate|].
  cbn [row_sizes length]. rewrite plus_sizes_length, IH by apply H. reflexivity.
Qed.

Lemma weighted_nonneg : forall xs bs, 0 <= weighted (map Z.abs xs) bs.
Proof. induction xs as [|x xs IH]; intros [|b bs]; cbn [map weighted]; try lia. specialize (IH bs). nia. Qed.

Lemma plus_sizes_weighted : forall xs ts bs, length xs = length ts ->
  weighted (plus_sizes xs ts) bs = weighted (map Z.abs xs) bs + weighted ts bs.
Proof.
  induction xs as [|x xs IH]; intros [|t ts] [|b bs] L; try discriminate; cbn [plus_sizes map weighted]; try lia.
  rewrite IH by (cbn in L; lia). ring.
Qed.

Lemma twice_product : forall b x c, 2 * (b * (x * c)) <= Z.abs c * (b * b) + Z.abs c * (x * x).
Proof.
  intros b x c. assert (P := Z.square_nonneg (b - x)). assert (M := Z.square_nonneg (b + x)).
  destruct (Z.abs_spec c) as [[H ->]|[H ->]]; nia.
Qed.

Lemma twice_sum : forall b xs bs, 2 * (b * zdot bs xs) <= sizes xs * (b * b) + weighted (map Z.abs xs) bs.
Proof.
  intros b. induction xs as [|x xs IH]; intros [|y bs]; cbn [zdot map weighted sizes]; try lia.
  - assert (N := sizes_nonneg xs). nia.
  - specialize (IH bs). assert (P := twice_product b y x). lia.
Qed.

Lemma square_of_below : forall rows bs, triangular rows -> square_of bs rows <= weighted (row_sizes rows) bs.
Proof.
  induction rows as [|[|own others] rows IH]; intros [|b bs] H; try (destruct H; discriminate); try (cbn; lia).
  destruct H as [L H]. cbn [length] in L. cbn [square_of row_sizes weighted]. specialize (IH bs H).
  rewrite plus_sizes_weighted by (rewrite row_sizes_length by exact H; lia).
  assert (N := weighted_nonneg others bs). assert (P := twice_sum b others bs).
  destruct (b =? 0) eqn:E; [apply Z.eqb_eq in E; subst b; lia|]. nia.
Qed.

Lemma weighted_below : forall ts bs, weighted ts bs <= fold_right Z.max 0 ts * zdot bs bs.
Proof.
  induction ts as [|t ts IH]; intros [|b bs]; cbn [weighted fold_right zdot]; try lia.
  specialize (IH bs). assert (S := zdot_square_nonneg bs). assert (Q := Z.square_nonneg b).
  set (g := fold_right Z.max 0 ts) in *.
  assert (t * (b * b) <= Z.max t g * (b * b)) by (apply Z.mul_le_mono_nonneg_r; [exact Q|apply Z.le_max_l]).
  assert (g * zdot bs bs <= Z.max t g * zdot bs bs) by (apply Z.mul_le_mono_nonneg_r; [exact S|apply Z.le_max_r]).
  lia.
Qed.

Lemma square_of_at_most : forall rows bs, triangular rows -> square_of bs rows <= greatest_size rows * zdot bs bs.
Proof. intros rows bs H. eapply Z.le_trans; [apply square_of_below; exact H|apply weighted_below]. Qed.
End Integers.

(** * What is left of a vector *)

Lemma same_length : forall A B (R : A -> B -> Prop) l l', Forall2 R l l' -> length l = length l'.
Proof. intros A B R l l' H. induction H; cbn [length]; congruence. Qed.

Section Vectors.
Variable n : nat.

Lemma gram_triangular : forall vs rows, gram_ok n vs rows -> triangular rows /\ length rows = length vs.
Proof.
  induction vs as [|v vs IH]; intros [|row rows] H; try contradiction; [split; [exact I|reflexivity]|].
  destruct H as [H1 H2]. destruct (IH rows H2) as [T L]. apply same_length in H1. cbn [length] in *.
  repeat split; [lia|exact T|lia].
Qed.

Variables (x U : nat -> R) (qs : list (nat -> R)) (rows : list (list Z)) (bs : list Z).
Hypothesis rows_right : gram_ok n qs rows.
Hypothesis bs_right : products_ok n U (firstn (length bs) qs) bs.

(** Only the first vectors count, as many as there are numbers. *)
Lemma mix_of_first : forall bs' qs', mix bs' (firstn (length bs') qs') = mix bs' qs'.
Proof.
  induction bs' as [|b bs' IH]; intros [|q qs']; try reflexivity. cbn [length firstn mix]. rewrite IH. reflexivity.
Qed.

Lemma mix_with_itself : inner n (mix bs qs) (mix bs qs) <= IZR (greatest_size rows * zdot bs bs).
Proof.
  rewrite <- (square_of_mix n qs rows bs rows_right). apply IZR_le, square_of_at_most.
  apply (gram_triangular qs). exact rows_right.
Qed.

(** At least |mu U - sum_a b_a q_a|^2 *)
Definition left_over (mu top : Z) : Z -> Z -> Z :=
  (let whole := mu * mu in let kept := 2 * mu - top in fun square squares => whole * square - kept * squares)%Z.

Lemma left_over_ok : forall mu square, IZR square = inner n U U ->
  inner n (fun d => IZR mu * U d + (-1) * mix bs qs d) (fun d => IZR mu * U d + (-1) * mix bs qs d) <=
  IZR (left_over mu (greatest_size rows) square (zdot bs bs)).
Proof.
  intros mu square E. assert (M := mix_with_itself). assert (P := products_mix n U _ bs bs bs_right).
  rewrite mix_of_first in P.
  rewrite inner_square_of_sum, <- E, <- P. unfold left_over. rewrite minus_IZR, !mult_IZR, minus_IZR, mult_IZR in *. lra.
Qed.

Lemma mix_within : forall alpha, 0 <= alpha -> Forall (fun q => - alpha <= inner n x q <= alpha) qs ->
  - (alpha * IZR (sizes bs)) <= inner n x (mix bs qs) <= alpha * IZR (sizes bs).
Proof.
  intros alpha A H. clear bs_right rows_right. revert bs. induction H as [|q qs' Hq H IH]; intros [|b bs'].
  - rewrite inner_mix_nil. cbn. lra.
  - replace (mix (b :: bs') nil) with (mix nil nil) by reflexivity. rewrite inner_mix_nil.
    assert (P : 0 <= alpha * IZR (sizes (b :: bs'))) by
      (apply Rmult_le_pos; [exact A|apply IZR_nonneg, sizes_nonneg]).
    lra.
  - rewrite inner_mix_nil. cbn. lra.
  - rewrite inner_mix_cons. cbn [sizes]. rewrite plus_IZR, abs_IZR. specialize (IH bs').
    assert (B : - (alpha * Rabs (IZR b)) <= IZR b * inner n x q <= alpha * Rabs (IZR b)).
    { unfold Rabs. destruct (Rcase_abs (IZR b)); split; nra. }
    lra.
Qed.

(** At least |<x, U>|, if there are [many] numbers, of which [squares] is the sum of squares. *)
Definition leeway (mu most left alpha : Z) (many : nat) (squares : Z) : Z :=
  ceil_div (root_ceil (most * left) + alpha * coarse_root (Z.of_nat many * squares)) mu.

Lemma sizes_within : forall ws, (sizes ws <= coarse_root (Z.of_nat (length ws) * zdot ws ws))%Z.
Proof.
  intros ws. apply Z.square_le_simpl_nonneg; [apply coarse_root_nonneg|].
  eapply Z.le_trans; [apply square_of_sizes|apply coarse_root_square].
Qed.

Theorem leeway_ok : forall mu most square alpha, (0 < mu)%Z -> (0 <= alpha)%Z -> inner n x x <= IZR most ->
  IZR square = inner n U U ->
  Forall (fun q => - IZR alpha <= inner n x q <= IZR alpha) qs ->
  let left := left_over mu (greatest_size rows) square (zdot bs bs) in
  let w := IZR (leeway mu most left alpha (length bs) (zdot bs bs)) in
  - w <= inner n x U <= w.
Proof.
  intros mu most square alpha Hmu Ha Hx E H. cbv zeta. set (left := left_over _ _ _ _).
  assert (L := left_over_ok mu square E). fold left in L. assert (M := mix_within (IZR alpha) (IZR_nonneg _ Ha) H).
  assert (Z := sizes_within bs). apply IZR_le in Z. apply IZR_nonneg in Ha as A.
  assert (K0 := Rmult_le_compat_l _ _ _ A Z).
  set (V := fun d => IZR mu * U d + (-1) * mix bs qs d) in L.
  assert (N1 := inner_square_nonneg n x). assert (N2 := inner_square_nonneg n V).
  assert (W : - sqrt (IZR (most * left)) <= inner n x V <= sqrt (IZR (most * left))).
  { rewrite mult_IZR, sqrt_mult_alt by lra.
    apply inner_within; try apply sqrt_pos; rewrite sqrt_sqrt by lra; assumption. }
  assert (R : sqrt (IZR (most * left)) <= IZR (root_ceil (most * left))).
  { apply root_ceil_above; [|apply Rle_refl]. apply le_IZR. rewrite mult_IZR. apply Rmult_le_pos; lra. }
  assert (S : IZR mu * inner n x U = inner n x V + inner n x (mix bs qs)).
  { rewrite (inner_comm n x V), (inner_comm n x (mix bs qs)). unfold V.
    rewrite (inner_two n (IZR mu) (-1) U (mix bs qs) x), (inner_comm n x U). ring. }
  apply IZR_pos in Hmu as P. unfold leeway. set (k := (root_ceil (most * left) + alpha * _)%Z).
  assert (K : IZR k =
    IZR (root_ceil (most * left)) + IZR alpha * IZR (coarse_root (Z.of_nat (length bs) * zdot bs bs))) by
    (unfold k; rewrite plus_IZR, mult_IZR; reflexivity).
  split.
  - apply Ropp_le_cancel. rewrite Ropp_involutive. apply ceil_div_above; [exact Hmu|]. rewrite K. lra.
  - apply ceil_div_above; [exact Hmu|]. rewrite K. lra.
Qed.
End Vectors.

(** * Directions made of statements *)

Lemma mix_opposite : forall n u s vs, inner n u (mix (map Z.opp s) vs) = - inner n u (mix s vs).
Proof.
  intros n u s vs. revert s. induction vs as [|v vs IH]; intros [|w s]; cbn [map];
    try (rewrite !(inner_comm n u); cbn [mix]; rewrite !inner_zero_l; ring).
  rewrite !inner_mix_cons, IH, opp_IZR. ring.
Qed.

Section Known.
Variables (n : nat) (F A : Z) (y : nat -> R) (facts : list fact) (vs : list (nat -> R)).
Hypothesis facts_right : Forall2 (fact_ok n F y) facts vs.

(** At most 2 F <y, q>, where q is the sum of the vectors by the weights [s], and what is known of |y|^2 cancels. *)
Definition twice_below (s : list Z) : option Z :=
  match weigh s facts 0 0 with Some (a, c) => if (a =? 0)%Z then Some c else None | None => None end.

Lemma twice_below_ok : forall s c, twice_below s = Some c -> IZR c <= 2 * IZR F * inner n y (mix s vs).
Proof.
  intros s c H. unfold twice_below in H. destruct (weigh s facts 0 0) as [[a c']|] eqn:E; [|discriminate].
  destruct (a =? 0)%Z eqn:Z; [|discriminate]. injection H as <-. apply Z.eqb_eq in Z. subst a.
  apply (weigh_below n F y s facts vs 0 0 0 c' 0 facts_right) in E. lra.
Qed.

(** At least |<x, q>| for x = A y - Q, where [c] is <Q, q>. *)
Definition off_centre (s : list Z) (c : Z) : option Z :=
  match twice_below s, twice_below (map Z.opp s) with
  | Some a, Some b => Some (ceil_div (Z.max (2 * F * c - A * a) (- (A * b) - 2 * F * c)) (2 * F))
  | _, _ => None
  end.

Lemma off_centre_ok : forall s c e Q, (0 < F)%Z -> (0 <= A)%Z -> IZR c = inner n Q (mix s vs) ->
  off_centre s c = Some e ->
  - IZR e <= inner n (fun d => IZR A * y d + (-1) * Q d) (mix s vs) <= IZR e.
Proof.
  intros s c e Q HF HA E H. unfold off_centre in H. destruct (twice_below s) as [a|] eqn:Ha; [|discriminate].
  destruct (twice_below (map Z.opp s)) as [b|] eqn:Hb; [|discriminate].
  match type of H with Some ?z = _ => assert (Z : e = z) by congruence end. clear H. subst e.
  apply twice_below_ok in Ha, Hb. rewrite mix_opposite in Hb. apply IZR_le in HA. apply IZR_pos in HF as PF.
  assert (Ma : IZR A * IZR a <= IZR A * (2 * IZR F * inner n y (mix s vs))) by (apply Rmult_le_compat_l; lra).
  assert (Mb : IZR A * IZR b <= IZR A * (2 * IZR F * - inner n y (mix s vs))) by (apply Rmult_le_compat_l; lra).
  rewrite (inner_two n (IZR A) (-1) y Q (mix s vs)), <- E.
  set (g := Z.max _ _). assert (G1 : (2 * F * c - A * a <= g)%Z) by apply Z.le_max_l.
  assert (G2 : (- (A * b) - 2 * F * c <= g)%Z) by apply Z.le_max_r. apply IZR_le in G1, G2.
  rewrite minus_IZR, !mult_IZR in G1. rewrite minus_IZR, opp_IZR, !mult_IZR in G2. split.
  - apply Ropp_le_cancel. rewrite Ropp_involutive.
    apply ceil_div_above; [apply Z.mul_pos_pos; [reflexivity|exact HF]|]. rewrite !mult_IZR. lra.
  - apply ceil_div_above; [apply Z.mul_pos_pos; [reflexivity|exact HF]|]. rewrite !mult_IZR. lra.
Qed.

(** Of all directions; [cs] are their products with Q. *)
Fixpoint farthest (ss : list (list Z)) (cs : list Z) : option Z :=
  match ss, cs with
  | s :: ss', c :: cs' =>
      match off_centre s c, farthest ss' cs' with Some a, Some b => Some (Z.max a b) | _, _ => None end
  | nil, _ => Some 0%Z
  | _, nil => None
  end.

Lemma farthest_ok : forall Q, (0 < F)%Z -> (0 <= A)%Z -> forall ss cs e,
  Forall2 (fun s c => IZR c = inner n Q (mix s vs)) ss cs -> farthest ss cs = Some e ->
  (0 <= e)%Z /\
  Forall (fun q => - IZR e <= inner n (fun d => IZR A * y d + (-1) * Q d) q <= IZR e) (map (fun s => mix s vs) ss).
Proof.
  intros Q HF HA ss cs e H. revert e.
  induction H as [|s c ss cs E H IH]; intros e Hf; [injection Hf as <-; split; [lia|constructor]|].
  cbn [farthest] in Hf. destruct (off_centre s c) as [a|] eqn:Ho; [|discriminate].
  destruct (farthest ss cs) as [b|]; [|discriminate]. injection Hf as <-. destruct (IH b eq_refl) as [B IH'].
  apply (off_centre_ok s c a Q HF HA E) in Ho. cbn [map].
  assert (Ha := IZR_le _ _ (Z.le_max_l a b)). assert (Hb := IZR_le _ _ (Z.le_max_r a b)).
  split; [lia|]. constructor; [lra|]. eapply Forall_impl; [|exact IH']. intros q Hq. cbn beta in *. lra.
Qed.

(** The upper half of the matrix of products; [ts] are those of the directions with the vectors. *)
Fixpoint crossed (ss ts : list (list Z)) : list (list Z) :=
  match ss, ts with s :: ss', t :: ts' => map (fun s' => zdot s' t) ss :: crossed ss' ts' | _, _ => nil end.

Lemma crossed_right : forall ss ts, Forall2 (fun s t => products_ok n (mix s vs) vs t) ss ts ->
  gram_ok n (map (fun s => mix s vs) ss) (crossed ss ts).
Proof.
  intros ss ts H. induction H as [|s t ss ts Ht H IH]; [exact I|]. split; [|exact IH]. unfold products_ok.
  assert (X : forall l, Forall2 (fun u e => IZR e = inner n (mix s vs) u) (map (fun s' => mix s' vs) l)
    (map (fun s' => zdot s' t) l)).
  { induction l as [|s' l IHl]; constructor; [|exact IHl]. apply products_mix. exact Ht. }
  exact (X (s :: ss)).
Qed.
End Known.

(** * Ends of an observable *)

Section Ends.
Variable h : head.
Variables T A : Z.

(** For distances U = A P - Q, for others U = P: |U|^2, and its products with the directions. [x] is <Q, P>, [QQ] is
    |Q|^2, [ts] and [cs] are the products of P and of Q with the directions. *)
Definition target_square (QQ : Z) : measure -> Z -> Z :=
  match head_geometry h with
  | Euclidean => (let whole := A * A in let twice := 2 * A in fun m x => whole * square m - twice * x + QQ)%Z
  | _ => fun m _ => square m
  end.

Fixpoint less_centre (ts cs : list Z) : list Z :=
  match ts, cs with t :: ts', c :: cs' => (A * t - c)%Z :: less_centre ts' cs' | _, _ => nil end.
Definition target_products (ts cs : list Z) : list Z :=
  match head_geometry h with Euclidean => less_centre ts cs | _ => ts end.

(** From |U|^2 and [w], at least |<x, U>|; |x|^2 is between [least] and [most]. *)
Definition ends_from (least most : Z) : measure -> Z -> Z -> Z -> ends :=
  match head_geometry h with
  | Euclidean =>
      let unit := (A * A * (unit_of h * unit_of h))%Z in
      fun _ _ square w =>
        (Some (floor_div (T * (least + square - 2 * w)) unit), Some (ceil_div (T * (most + square + 2 * w)) unit))
  | _ =>
      let d := (A * product_slope h)%Z in
      fun m x _ w => (Some (over_down h m (T * (x - w)) d), Some (- over_down h m (T * (- x - w)) d)%Z)
  end.

Let D := depth h.
Variable v : nat -> R.
Variables (Q : nat -> R) (QQ : Z).
Hypothesis spatial_head : spatial h = true.
Hypothesis T_positive : (0 < T)%Z.
Hypothesis A_positive : (0 < A)%Z.
Hypothesis in_the_domain : patch_in_domain h v.
Hypothesis square_of_centre : IZR QQ = inner D Q Q.
Let y := embedded h v.
Let off := fun d => IZR A * y d + (-1) * Q d.

(** The vector U *)
Definition target (P : nat -> R) : nat -> R :=
  match head_geometry h with Euclidean => fun d => IZR A * P d + (-1) * Q d | _ => P end.

Lemma target_square_ok : forall j m x, measure_ok h j m -> IZR x = inner D Q (vector (points h j)) ->
  IZR (target_square QQ m x) = inner D (target (vector (points h j))) (target (vector (points h j))).
Proof.
  intros j m x M X. unfold target_square, target. destruct (head_geometry h); try exact (proj1 M).
  rewrite inner_square_of_sum, (inner_comm D _ Q), <- X, <- square_of_centre, plus_IZR, minus_IZR, !mult_IZR, (proj1 M).
  fold D. ring.
Qed.

Lemma target_products_ok : forall qs w ts cs P, Forall2 (fun q t => IZR t = inner D P q) (firstn w qs) ts ->
  Forall2 (fun q c => IZR c = inner D Q q) qs cs ->
  let bs := target_products ts cs in products_ok D (target P) (firstn (length bs) qs) bs.
Proof.
  intros qs w ts cs P Ht Hc. cbv zeta. unfold products_ok, target, target_products.
  destruct (head_geometry h).
  2-5: assert (L := same_length _ _ _ _ _ Ht); rewrite <- L, firstn_length;
    destruct (Nat.min_spec w (length qs)) as [[_ ->]|[G ->]]; [exact Ht|];
    rewrite firstn_all2 in Ht by exact G; rewrite firstn_all; exact Ht.
  revert w ts Ht. induction Hc as [|q c qs cs C Hc IH]; intros w ts Ht.
  - rewrite firstn_nil in Ht. inversion Ht; subst. constructor.
  - destruct w as [|w]; cbn [firstn] in Ht; inversion Ht as [|? t ? ts' E Ht']; subst; cbn [less_centre length firstn];
      [constructor|]. constructor; [|exact (IH w ts' Ht')].
    rewrite (inner_two D (IZR A) (-1) P Q q), minus_IZR, mult_IZR, E, C. ring.
Qed.

Theorem ends_from_ok : forall j m x w least most, measure_ok h j m -> IZR x = inner D Q (vector (points h j)) ->
  IZR least <= inner D off off <= IZR most -> - IZR w <= inner D off (target (vector (points h j))) <= IZR w ->
  within T (ends_from least most m x (target_square QQ m x) w) (observable h v j).
Proof.
  intros j m x w least most M X HO HW. assert (E := target_square_ok j m x M X).
  apply IZR_pos in T_positive as PT. apply IZR_pos in A_positive as PA.
  assert (products : head_geometry h <> Euclidean -> within T
    (Some (over_down h m (T * (x - w)) (A * product_slope h)),
     Some (- over_down h m (T * (- x - w)) (A * product_slope h))%Z)
    (observable h v j)).
  { intros G. assert (PF := product_form h v spatial_head in_the_domain j m M G). fold y D in PF.
    assert (V : target (vector (points h j)) = vector (points h j)) by
      (unfold target; destruct (head_geometry h); congruence).
    rewrite V in HW. unfold off in HW. rewrite (inner_two D (IZR A) (-1) y Q), PF, <- X in HW.
    assert (d : (0 < A * product_slope h)%Z).
    { apply Z.mul_pos_pos; [exact A_positive|]. unfold product_slope. destruct (head_geometry h); reflexivity. }
    split; cbn [fst snd above below].
    - apply (over_down_ok h j m _ _ _ M d). rewrite !mult_IZR, minus_IZR.
      replace (IZR A * IZR (product_slope h) * (size h j * (IZR T * observable h v j))) with
        (IZR T * (IZR A * (IZR (product_slope h) * (size h j * observable h v j)))) by ring.
      apply Rmult_le_compat_l; lra.
    - rewrite opp_IZR. apply Ropp_le_cancel. rewrite Ropp_involutive, Ropp_mult_distr_r.
      apply (over_down_ok h j m _ _ _ M d). rewrite !mult_IZR, minus_IZR, opp_IZR.
      replace (IZR A * IZR (product_slope h) * (size h j * (IZR T * - observable h v j))) with
        (IZR T * - (IZR A * (IZR (product_slope h) * (size h j * observable h v j)))) by ring.
      apply Rmult_le_compat_l; lra. }
  unfold ends_from. destruct (head_geometry h) eqn:G.
  - assert (DF := distance_form h v spatial_head in_the_domain j m M G). fold y D in DF.
    unfold target in E, HW. rewrite G in E, HW. set (P := vector (points h j)) in *.
    assert (K : inner D off off - 2 * inner D off (fun d => IZR A * P d + (-1) * Q d) +
      inner D (fun d => IZR A * P d + (-1) * Q d) (fun d => IZR A * P d + (-1) * Q d) =
      IZR A * IZR A * (IZR (unit_of h * unit_of h) * observable h v j)).
    { rewrite <- DF. unfold off, inner. rewrite <- !rsum_scal, <- !rsum_minus, <- !rsum_plus, <- !rsum_scal.
      apply rsum_ext. intros d _. ring. }
    rewrite <- E in K.
    assert (U : (0 < A * A * (unit_of h * unit_of h))%Z) by (apply Z.mul_pos_pos; [nia|reflexivity]).
    split; cbn [fst snd above below].
    + apply floor_div_below; [exact U|]. rewrite !mult_IZR, minus_IZR, plus_IZR, !mult_IZR in *.
      replace (IZR A * IZR A * (IZR (unit_of h) * IZR (unit_of h)) * (IZR T * observable h v j)) with
        (IZR T * (IZR A * IZR A * (IZR (unit_of h) * IZR (unit_of h) * observable h v j))) by ring.
      apply Rmult_le_compat_l; lra.
    + apply ceil_div_above; [exact U|]. rewrite !mult_IZR, !plus_IZR, !mult_IZR in *.
      replace (IZR A * IZR A * (IZR (unit_of h) * IZR (unit_of h)) * (IZR T * observable h v j)) with
        (IZR T * (IZR A * IZR A * (IZR (unit_of h) * IZR (unit_of h) * observable h v j))) by ring.
      apply Rmult_le_compat_l; lra.
  - apply products. discriminate.
  - apply products. discriminate.
  - apply products. discriminate.
  - apply products. discriminate.
Qed.
End Ends.
