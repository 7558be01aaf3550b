(** Soft trees: a lower bound of the difference of two logits, given a box of the activations, all of them in [0, 1].

    The least value of each node, rounded down. As an activation is in [0, 1], no factor is negative; so a node is least
    where both children are, and what is left is least at an end of the activation. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics Sums Grid Boxes UnitInterval LinearReadout.
Import ListNotations.

(** * What runs *)

Section Run.
Local Open Scope Z_scope.
Variables (h : head) (B : Z) (b : box).

Definition into_unit (a : Z) : Z := Z.max 0 (Z.min B a).

Definition node_least (e : Z * Z) (absent present : Z) : Z :=
  let s := into_unit (if present <? absent then snd e else fst e) in
  floor_div ((B - s) * absent + s * present) B.

(** Of every node, by what [node] makes of its children's. *)
Fixpoint tree_bound (node : Z * Z -> Z -> Z -> Z) (absent present : list Z) (leaf : nat ->
  Z) (nodes : nat) (child : Z) :
  option Z :=
  if child <? 0 then Some (leaf (Z.to_nat (-1 - child))) else
  match nodes with
  | O => None
  | S rest =>
      let i := Z.to_nat child in
      let below := tree_bound node absent present leaf rest in
      match nth_error b i, below (nth i absent 0), below (nth i present 0) with
      | Some e, Some x, Some y => Some (node e x y)
      | _, _, _ => None
      end
  end.

Definition leaf_difference (winner loser leaf : nat) : Z :=
  B * (nth leaf (weights h winner) 0 - nth leaf (weights h loser) 0).

Definition soft_tree_least (absent present : list Z) (winner loser : nat) : option Z :=
  if activations_in_unit h then tree_bound node_least absent present (leaf_difference winner loser) (count h) 0 else
    None.
End Run.

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (B : Z) (b : box) (n : nat) (z : latents).
Hypothesis B_positive : (0 < B)%Z.
Local Notation W := (IZR (unit_of_weights h)).
Let a : nat -> R := activation h n z.

Lemma tree_value_difference : forall absent present f g x nodes child,
  tree_value absent present f x nodes child - tree_value absent present g x nodes child =
  tree_value absent present (fun i => f i - g i) x nodes child.
Proof.
  intros absent present f g x. induction nodes as [|nodes IH]; intros child; cbn [tree_value];
    destruct (child <? 0)%Z; try reflexivity; [ring|]. rewrite <- !IH. ring.
Qed.

Lemma into_unit_below : forall l x, IZR l <= IZR B * x -> 0 <= x -> IZR (into_unit B l) <= IZR B * x.
Proof.
  intros l x H P. assert (0 <= IZR B * x) by (apply Rmult_le_pos; [apply IZR_nonneg; lia|exact P]).
  unfold into_unit. destruct (Z.max_spec 0 (Z.min B l)) as [[_ ->]|[_ ->]]; [|assumption].
  eapply Rle_trans; [apply IZR_le, Z.le_min_r|exact H].
Qed.

Lemma into_unit_above : forall u x, IZR B * x <= IZR u -> 0 <= x <= 1 -> IZR B * x <= IZR (into_unit B u).
Proof.
  intros u x H P. apply IZR_pos in B_positive. unfold into_unit. eapply Rle_trans; [|apply IZR_le, Z.le_max_r].
  destruct (Z.min_spec B u) as [[_ ->]|[_ ->]]; [nra|exact H].
Qed.

Lemma into_unit_range : forall u, 0 <= IZR (into_unit B u) <= IZR B.
Proof. intros u. unfold into_unit. split; [apply IZR_nonneg|apply IZR_le]; lia. Qed.

(** B v is at least the bound of a node whose children have the values vf and vg. *)
Lemma node_least_ok : forall e x f g vf vg, encloses B e x -> 0 <= x <= 1 ->
  IZR f <= vf -> IZR g <= vg -> IZR (node_least B e f g) <= (1 - x) * vf + x * vg.
Proof.
  intros e x f g vf vg [L H] P Hf Hg. unfold node_least. apply floor_div_below; [exact B_positive|].
  rewrite plus_IZR, !mult_IZR, minus_IZR. apply IZR_pos in B_positive as BP.
  assert (M : (1 - x) * IZR f + x * IZR g <= (1 - x) * vf + x * vg) by nra.
  apply (Rmult_le_compat_l (IZR B)) in M; [|lra]. eapply Rle_trans; [|exact M].
  destruct (g <? f)%Z eqn:E.
  - apply Z.ltb_lt, IZR_lt in E. assert (K := into_unit_above (snd e) x H P). nra.
  - apply Z.ltb_ge, IZR_le in E. assert (K := into_unit_below (fst e) x L (proj1 P)). nra.
Qed.

Lemma tree_least_ok : forall absent present leaf value x nodes child least,
  (forall j, (j < length b)%nat -> encloses B (nth j b (0, 0)%Z) (x j) /\ 0 <= x j <= 1) ->
  (forall i, IZR (leaf i) <= value i) ->
  tree_bound b (node_least B) absent present leaf nodes child = Some least ->
  IZR least <= tree_value absent present value x nodes child.
Proof.
  intros absent present leaf value x. induction nodes as [|nodes IH]; intros child least H V E;
    cbn [tree_bound tree_value] in *; destruct (child <? 0)%Z;
    try (injection E as <-; apply V); [discriminate|]. set (i := Z.to_nat child) in *.
  destruct (nth_error b i) as [e|] eqn:N; [|discriminate].
  destruct (tree_bound _ _ _ _ _ _ (nth i absent 0%Z)) as [f|] eqn:F; [|discriminate].
  destruct (tree_bound _ _ _ _ _ _ (nth i present 0%Z)) as [g|] eqn:G; [|discriminate]. injection E as <-.
  assert (I : (i < length b)%nat) by (apply nth_error_Some; rewrite N; discriminate).
  apply (nth_error_nth _ _ (0, 0)%Z) in N. destruct (H i I) as [Hi Pi]. rewrite N in Hi.
  apply node_least_ok; auto.
Qed.

Lemma soft_tree_least_ok : forall absent present winner loser x, box_ok h B n b z ->
  head_readout h = SoftTree absent present -> soft_tree_least h B b absent present winner loser = Some x ->
  IZR x <= IZR B * (W * (logit h n z winner - logit h n z loser)).
Proof.
  intros absent present winner loser x [L H] R E. unfold soft_tree_least in E.
  destruct (activations_in_unit h) eqn:U; [|discriminate]. unfold logit. rewrite R. fold a.
  rewrite tree_value_difference, <- Rmult_assoc.
  assert (S : forall c v nodes child, c * tree_value absent present v a nodes child =
              tree_value absent present (fun i => c * v i) a nodes child).
  { intros c v. induction nodes as [|nodes IH]; intros child; cbn [tree_value]; destruct (child <? 0)%Z;
      try reflexivity; [ring|]. rewrite <- !IH. ring. }
  rewrite S. eapply tree_least_ok; [| |exact E].
  - rewrite L. intros j Hj. split; [apply H; exact Hj|]. apply activation_in_unit. exact U.
  - intros i. right. unfold leaf_difference. rewrite mult_IZR, minus_IZR, <- !weight_scaled. ring.
Qed.
End Sound.
