(** Numbers beside a verdict: what the statements of a certificate prove of each activation and of each rival, and what
    the head computes for an image, in enclosures.

    They come from the same tables and boxes as the verdicts. There may be no statements; then the ends are those over the
    domain. *)

From Coq Require Import Reals ZArith List Lia Lra Bool.
From Verale Require Import Semantics NetworkSemantics Boxes Sums Grid Log Columns Direction Similarity Pooling
  Embedding Simplex Leftover Assignment LinearReadout Readout SumStatements Joint Evaluation EnclosedVolumes LayerBox NetworkBox LatentBox
  Check CheckImage Picture.
Import ListNotations.

(** * What runs *)

(** Ends of the activations, over the unit of boxes, and for each class how much lower its logit is at least than the
    predicted one's, over the units of boxes and of weights. The number may be negative. None where nothing is proved. *)
Record bounds := Bounds { ends_of : box; leads_of : list (option Z) }.

Section Run.
Variables (p : prepared) (c : certificate) (x : hints).
Let h := head_of p.
Let T := Zpos (range_unit (settings_of p)).
Let B := Zpos (box_unit (settings_of p)).

Definition lead_by_prices (left_over : option leftover) (b : box) (r : nat) : option Z :=
  match left_over, against r (prices_of x) with
  | Some left_over, Some prices =>
      if (T =? B)%Z then assignment_least T h left_over b prices (predicted c) r else None
  | _, _ => None
  end.

Definition lead_as_one (r : nat) : option Z :=
  match measures_of p, against r (joint_of x) with
  | Some ms, Some hint =>
      option_map (fun '(least, unit) => floor_div (B * least) unit) (joint_least h c ms (predicted c) r hint)
  | _, _ => None
  end.

Definition lead_over (left_over : option leftover) (own : option (list bool)) (b : box) (r : nat) : option Z :=
  if Nat.eqb r (predicted c) then None
  else
    greater (greater (least_difference h B b (predicted c) r) (lead_by_sums h c own B b r))
      (greater (lead_by_prices left_over b r) (lead_as_one r)).

Definition proved_bounds : option bounds :=
  if Nat.ltb 0 (patches c) then
    let left_over := given_left p c in
    let own := needed_marks h c in
    option_map (fun b => Bounds b (map (lead_over left_over own b) (seq 0 (classes h)))) (given_box p c x left_over)
  else None.
End Run.

(** At an image: for each prototype the ends of its similarity to each patch, then those of the activations, over the unit
    of boxes; for each class those of the logit of class [k] minus its own, over the units of boxes and of weights. *)
Record values := Values { similar_to : list (list ends); activations_at : box; leads_at : list ends }.

Section Image.
Variables (h : head) (s : settings) (k : nat) (i : image).
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).

Definition similar_at (logs : logarithms) (o : own) (e : ends) : ends :=
  match similar_ends h T B (terms s) logs o e with Some e => as_ends e | None => anything end.

(** A column has the last patch first. *)
Definition similar_patches (t : table) : list (list ends) :=
  let logs := logarithms_for B (terms s) in
  map (fun '(o, col) => map (similar_at logs o) (rev col)) (combine (owns h) (columns (count h) t)).

Definition lead_at (b : box) (r : nat) : ends :=
  (least_difference h B b k r, option_map Z.opp (least_difference h B b r k)).

Definition image_values : option values :=
  if Nat.ltb 0 (length (rows i)) then
    match image_table h s i with
    | Some t =>
        option_map (fun b => Values (similar_patches t) b (map (lead_at b) (seq 0 (classes h)))) (image_box h s t)
    | None => None
    end
  else None.
End Image.

Open Scope R_scope.

(** * What it means *)

(** What lies within the ends, and what exceeds the numbers. *)
Definition bounds_hold (h : head) (c : certificate) (B : Z) (x : bounds) : Prop :=
  forall z, complies h c z ->
  (forall j, (j < count h)%nat -> encloses B (nth j (ends_of x) (0, 0)%Z) (activation h (patches c) z j)) /\
  forall r, (r < classes h)%nat -> above (B * unit_of_weights h) (nth r (leads_of x) None)
    (logit h (patches c) z (predicted c) - logit h (patches c) z r).

Definition values_hold (h : head) (k : nat) (i : image) (B : Z) (x : values) : Prop :=
  let z := latents_of i in
  let n := length (rows i) in
  (forall j l, (j < count h)%nat -> (l < n)%nat ->
     within B (nth l (nth j (similar_to x) nil) anything) (sim h j (observable h (z l) j))) /\
  (forall j, (j < count h)%nat -> encloses B (nth j (activations_at x) (0, 0)%Z) (activation h n z j)) /\
  forall r, (r < classes h)%nat ->
    within (B * unit_of_weights h) (nth r (leads_at x) anything) (logit h n z k - logit h n z r).

Lemma along_rev : forall T c m l, along (within T) c m -> (l < length c)%nat -> within T (nth l (rev c) anything) (m l).
Proof.
  intros T c m l. induction c as [|e c IH]; cbn [length along rev]; intros H Hl; [lia|]. destruct H as [He H].
  destruct (Nat.eq_dec l (length c)) as [->|N].
  - rewrite <- rev_length, nth_middle. rewrite rev_length. exact He.
  - rewrite app_nth1 by (rewrite rev_length; lia). apply IH; [exact H|lia].
Qed.

Lemma similar_within : forall h s n t z j l, (0 < n)%nat -> table_ok h (Zpos (range_unit s)) n t z -> (j < count h)%nat ->
  (l < n)%nat ->
  within (Zpos (box_unit s)) (nth l (nth j (similar_patches h s t) nil) anything) (sim h j (observable h (z l) j)).
Proof.
  intros h s n t z j l Hn Ht Hj Hl. destruct (columns_ok_table h _ n t z Ht) as [Lc Hc]. destruct (Hc j Hj) as [Lj Kj].
  unfold similar_patches. set (T := Zpos (range_unit s)) in *. set (B := Zpos (box_unit s)) in *.
  set (cols := columns (count h) t) in *. set (logs := logarithms_for B (terms s)). set (f := fun '(o, col) => _).
  assert (C : length (owns h) = length cols) by (rewrite length_owns; symmetry; exact Lc).
  rewrite (nth_indep _ nil (f (own_at h j, nil))) by (rewrite map_length, combine_length; lia).
  rewrite map_nth, combine_nth by exact C. rewrite nth_owns by exact Hj. unfold f.
  rewrite (nth_indep _ anything (similar_at h s logs (own_at h j) anything)) by (rewrite map_length, rev_length; lia).
  rewrite map_nth. unfold similar_at. fold T B.
  destruct (similar_ends _ _ _ _ _ _ _) as [e|] eqn:E; [|split; exact I]. rewrite sim_similar.
  apply (similar_ends_ok h T B (terms s) logs eq_refl eq_refl (logarithms_for_right B (terms s)) _
    (nth l (rev (nth j cols nil)) anything)); [|apply observable_sane|exact E].
  apply (along_rev T _ (fun l => observable h (z l) j) l Kj). lia.
Qed.

(** ** Leads *)

(** What is over the units of boxes and of weights. *)
Lemma over_weights : forall h B a x, above B a (IZR (unit_of_weights h) * x) -> above (B * unit_of_weights h) a x.
Proof. intros h B [a|] x H; [|exact I]. cbn [above] in *. rewrite mult_IZR. lra. Qed.

Lemma difference_above : forall h B b n z winner loser, (0 < B)%Z -> box_ok h B n b z ->
  above (B * unit_of_weights h) (least_difference h B b winner loser) (logit h n z winner - logit h n z loser).
Proof.
  intros h B b n z winner loser HB Hb. apply over_weights.
  destruct (least_difference h B b winner loser) as [a|] eqn:E; [|exact I]. eapply least_difference_ok; eassumption.
Qed.

Lemma lead_at_ok : forall h s n z k b r, box_ok h (Zpos (box_unit s)) n b z ->
  within (Zpos (box_unit s) * unit_of_weights h) (lead_at h s k b r) (logit h n z k - logit h n z r).
Proof.
  intros h s n z k b r H. split; [apply difference_above; [reflexivity|exact H]|].
  assert (K := difference_above h (Zpos (box_unit s)) b n z r k eq_refl H). cbn [lead_at snd].
  destruct (least_difference h (Zpos (box_unit s)) b r k) as [a|]; [|exact I]. cbn [option_map below above] in *. rewrite opp_IZR. lra.
Qed.

Section Sound.
Variables (h : head) (s : settings) (c : certificate) (x : hints) (z : latents) (rows : list (list Z)).
Let p := prepared_with h s rows.
Let T := Zpos (range_unit s).
Let B := Zpos (box_unit s).
Hypothesis compliant : complies h c z.
Hypothesis has_patches : (0 < patches c)%nat.

Lemma lead_over_ok : forall b r, box_ok h B (patches c) b z -> (r < classes h)%nat ->
  above (B * unit_of_weights h) (lead_over p c x (given_left p c) (needed_marks h c) b r)
    (logit h (patches c) z (predicted c) - logit h (patches c) z r).
Proof.
  intros b r Hb Hr. unfold lead_over. destruct (Nat.eqb r (predicted c)) eqn:N; [exact I|]. apply Nat.eqb_neq in N.
  cbn [p prepared_with prepare head_of settings_of]. fold B.
  apply greater_ok; apply greater_ok; [apply difference_above; [reflexivity|exact Hb]|apply over_weights..].
  - exact (lead_by_sums_ok h c B b z r eq_refl Hb compliant Hr N).
  - unfold lead_by_prices, given_left. cbn [p prepared_with prepare head_of settings_of]. fold T B.
    destruct (is_softmax h); [|exact I]. destruct (against r (prices_of x)) as [prices|]; [|exact I].
    destruct (T =? B)%Z eqn:U; [|exact I]. apply Z.eqb_eq in U. rewrite U.
    destruct (assignment_least _ _ _ _ _ _ _) as [least|] eqn:A; [|exact I].
    eapply assignment_least_ok; [reflexivity|exact compliant|exact Hb|exact has_patches|exact A].
  - unfold lead_as_one. cbn [p prepared_with prepare head_of settings_of measures_of]. fold B.
    destruct (measures h) as [ms|] eqn:M; [|exact I]. destruct (against r (joint_of x)) as [hint|]; [|exact I].
    destruct (joint_least h c ms (predicted c) r hint) as [[least unit]|] eqn:J; [|exact I].
    destruct (joint_least_ok h c ms z _ _ hint least unit M compliant J) as [P L]. cbn [option_map above].
    apply floor_div_below; [exact P|]. rewrite mult_IZR. assert (HB : 0 < IZR B) by (apply IZR_pos; reflexivity).
    apply (Rmult_le_compat_l (IZR B)) in L; [|lra]. lra.
Qed.
End Sound.

(** * The theorems *)

(** Every activation of all latents that satisfy the statements lies within its ends, and every rival's logit is lower
    than the predicted one's by its number at least; whatever the hints, and whatever certificates [cs] came before. *)
Theorem bounds_sound : forall h s cs c x ns, proved_bounds (fold_left learn cs (prepare h s)) c x = Some ns ->
  bounds_hold h c (Zpos (box_unit s)) ns.
Proof.
  intros h s cs c x ns E z H. destruct (learned h s cs) as (rows & K & L). rewrite L in E. clear L cs.
  set (B := Zpos (box_unit s)). unfold proved_bounds in E.
  destruct (Nat.ltb 0 (patches c)) eqn:Hn; [|discriminate]. apply Nat.ltb_lt in Hn. cbv zeta in E.
  destruct (given_box _ _ _ _) as [b|] eqn:Eb; [|discriminate].
  assert (N : box_ok h B (patches c) b z) by (apply (given_box_ok h s c x z rows K H); assumption).
  injection E as <-. cbn [ends_of leads_of prepared_with prepare head_of]. split; [intros j Hj; apply N; exact Hj|].
  intros r Hr. rewrite nth_map_seq by exact Hr. exact (lead_over_ok h s c x z rows H Hn b r N Hr).
Qed.

(** What the head computes for an image lies within its ends. *)
Theorem image_values_sound : forall h s k i x, image_values h s k i = Some x ->
  values_hold h k i (Zpos (box_unit s)) x.
Proof.
  intros h s k i x E. unfold image_values in E.
  destruct (Nat.ltb 0 (length (rows i))) eqn:Hn; [|discriminate]. apply Nat.ltb_lt in Hn.
  destruct (image_table h s i) as [t|] eqn:Et; [|discriminate].
  destruct (image_box h s t) as [b|] eqn:Eb; [|discriminate]. injection E as <-.
  assert (N := image_box_ok h s i t b Hn Et Eb). apply image_table_ok in Et.
  split; [intros j l Hj Hl; exact (similar_within h s _ t _ j l Hn Et Hj Hl)|]. split; [apply N|].
  intros r Hr. cbn [leads_at]. rewrite nth_map_seq by exact Hr. exact (lead_at_ok h s _ _ k b r N).
Qed.
