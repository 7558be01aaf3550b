(** The instance, where every statement is about a patch: only what is stated is evaluated.

    No activation is needed then, and of a patch only the observables that its statements are about. Of a softmax a mass
    needs the sum of the exponentials of the whole patch: with few bits first, then, if these decide it not, with all. *)

From Coq Require Import Reals ZArith List Lia Bool.
From Verale Require Import Semantics Sums Grid ExponentialSum Boxes Columns Vectors Simplex SpatialEvaluation
  SoftmaxEvaluation Evaluation Instance Facts.
Import ListNotations.

(** * What runs *)

(** From how many coordinates on a table pays for itself, and the logarithm of its size *)
Definition least_coordinates : Z := 2 ^ 11.
Definition table_depth : nat := Z.to_nat 13.

Section Run.
Variables (h : head) (c : certificate) (T : Z) (terms : nat) (i : image) (t : option exp_table).
Let U := image_unit i.

(** A statement, as [stated_at] gives it, of an observable between these ends. *)
Definition true_of (e : option (Z * Z)) (s : option Z * option Z) : bool :=
  match e with Some e => ends_in (statement_unit c) T (as_ends e) (fst s) (snd s) | None => false end.

Definition spatial_true (z : list Z) (square : Z) (stretch : Z * Z) (s : nat * (option Z * option Z)) : bool :=
  let p := nth (fst s) (prototypes h) nil in
  Nat.leb (length p) (depth h) &&
  true_of (observed_ends T h z U square stretch (measured_of T h p)) (snd s).

Definition mass_true (es : list (Z * Z)) (s : nat * (option Z * option Z)) : bool :=
  true_of (nth_error es (fst s)) (snd s).

(** By the sum of the exponentials, if there is a table. *)
Definition masses_true_by_total (z : list Z) (here : list (nat * (option Z * option Z))) : bool :=
  match t with
  | Some t =>
      let top := greatest_coordinate z in
      match total_ends t U top z with
      | Some total =>
          forallb (fun s => match nth_error z (fst s) with
                            | Some k => true_of (mass_of_total T terms total U top k) (snd s)
                            | None => false
                            end) here
      | None => false
      end
  | None => false
  end.

Definition patch_true (l : nat) (z : list Z) : bool :=
  match stated_at l (statements c) with
  | nil => true
  | here =>
      match head_geometry h with
      | Softmax =>
          is_softmax h &&
          (masses_true_by_total z here ||
           match masses T terms U z with Some es => forallb (mass_true es) here | None => false end)
      | _ =>
          let square := zdot z z in
          match stretch_ends T h U square with
          | Some stretch => forallb (spatial_true z square stretch) here
          | None => false
          end
      end
  end.

(** [l] is the number of the first patch. *)
Fixpoint patches_true (l : nat) (zs : list (list Z)) : bool :=
  match zs with nil => true | z :: zs' => patch_true l z && patches_true (S l) zs' end.

(** About one of the patches. *)
Definition about_one_of (n : nat) (s : statement) : bool :=
  match s with AboutPatch l _ _ _ => Nat.ltb l n | _ => false end.
End Run.

Definition table_for (h : head) (terms : nat) (i : image) : option exp_table :=
  match head_geometry h with
  | Softmax =>
      if (least_coordinates <=? Z.of_nat (depth h) * Z.of_nat (length (rows i)))%Z
      then Some (softmax_table terms table_depth) else None
  | _ => None
  end.

Definition instance_by_patches (h : head) (c : certificate) (T : Z) (terms : nat) (i : image) : bool :=
  let U := image_unit i in
  Nat.eqb (length (rows i)) (patches c) && forallb (latent_inside h U) (rows i) &&
  forallb (about_one_of (length (rows i))) (statements c) &&
  patches_true h c T terms i (table_for h terms i) 0 (rows i).

Open Scope R_scope.

(** * What it means *)

Section Sound.
Variables (h : head) (c : certificate) (T : Z) (terms : nat) (i : image) (t : option exp_table).
Hypothesis T_positive : (0 < T)%Z.
Hypothesis made : t = None \/ t = Some (softmax_table terms table_depth).
Let U := image_unit i.

Lemma true_of_ok : forall e s x, true_of c T e s = true ->
  (forall e', e = Some e' -> encloses T e' x) -> between (statement_unit c) (fst s) (snd s) x.
Proof.
  intros [e|] s x H E; [|discriminate]. apply (ends_in_ok T _ (as_ends e)); [exact T_positive|exact H|].
  exact (E e eq_refl).
Qed.

Lemma stated_at_complete : forall l ss j lo hi, In (AboutPatch l j lo hi) ss -> In (j, (lo, hi)) (stated_at l ss).
Proof.
  intros l ss j lo hi H. induction ss as [|s ss IH]; [exact H|]. destruct H as [->|H]; cbn [stated_at].
  - rewrite Nat.eqb_refl. left. reflexivity.
  - specialize (IH H). destruct s as [k j' lo' hi'| | |]; try exact IH. destruct (Nat.eqb k l); [right|]; exact IH.
Qed.

Lemma masses_true_by_total_ok : forall z here, length z = depth h -> is_softmax h = true ->
  masses_true_by_total c T terms i t z here = true -> forall s, In s here ->
  between (statement_unit c) (fst (snd s)) (snd (snd s)) (observable h (over z U) (fst s)).
Proof.
  intros z here W M H s I. unfold masses_true_by_total in H. fold U in H. assert (D := proj2 (is_softmax_ok h M)).
  destruct made as [E|E]; rewrite E in H; [discriminate|].
  destruct (total_ends _ _ _ _) as [total|] eqn:S; [|discriminate]. rewrite forallb_forall in H. specialize (H _ I).
  cbv beta in H. destruct (nth_error z (fst s)) as [k|] eqn:N; [|discriminate]. apply (true_of_ok _ _ _ H).
  assert (J : (fst s < length z)%nat) by (apply nth_error_Some; rewrite N; discriminate).
  intros e P. apply (mass_of_total_ok T terms h z U T_positive M ltac:(congruence) table_depth
    (greatest_coordinate z) (fst s) k total);
    [congruence|exact N|exact S|exact P].
Qed.

Lemma patch_true_ok : forall l z j lo hi, length z = depth h -> patch_true h c T terms i t l z = true ->
  In (AboutPatch l j lo hi) (statements c) -> between (statement_unit c) lo hi (observable h (over z U) j).
Proof.
  intros l z j lo hi W H I. apply stated_at_complete in I. unfold patch_true in H. fold U in H.
  destruct (stated_at l (statements c)) as [|s here] eqn:S; [destruct I|]. rewrite <- S in *. clear S s here.
  assert (spatial : head_geometry h <> Softmax ->
    match stretch_ends T h U (zdot z z) with
    | Some stretch => forallb (spatial_true h c T i z (zdot z z) stretch) (stated_at l (statements c))
    | None => false
    end = true -> between (statement_unit c) lo hi (observable h (over z U) j)).
  { intros _ K. destruct (stretch_ends _ _ _ _) as [st|] eqn:E; [|discriminate]. rewrite forallb_forall in K.
    specialize (K _ I). unfold spatial_true in K. cbn [fst snd] in K. apply andb_prop in K as [K1 K2].
    apply Nat.leb_le in K1. apply (true_of_ok _ (lo, hi) _ K2). intros e O.
    apply (observed_ends_ok T h z U T_positive ltac:(lia) (nth j (prototypes h) nil) K1 j st e eq_refl E O). }
  destruct (head_geometry h) eqn:G; try (apply spatial; [discriminate|exact H]).
  clear spatial. apply andb_prop in H as [M H]. apply orb_prop in H as [H|H].
  { apply (masses_true_by_total_ok z _ W M H _ I). }
  destruct (masses T terms U z) as [es|] eqn:E; [|discriminate].
  rewrite forallb_forall in H. specialize (H _ I). unfold mass_true in H. cbn [fst snd] in H.
  apply (true_of_ok _ (lo, hi) _ H). intros e N. assert (D := proj2 (is_softmax_ok h M)).
  destruct (masses_ok T terms h z U T_positive M ltac:(congruence) es E) as [L K].
  assert (J : (j < length es)%nat) by (apply nth_error_Some; rewrite N; discriminate).
  specialize (K j ltac:(lia)). rewrite (nth_error_nth _ _ (0, 0)%Z N) in K. exact K.
Qed.

Lemma patches_true_at : forall zs l k, patches_true h c T terms i t l zs = true -> (k < length zs)%nat ->
  patch_true h c T terms i t (l + k) (nth k zs nil) = true.
Proof.
  induction zs as [|z zs IH]; intros l k H K; [inversion K|]. cbn [patches_true] in H. apply andb_prop in H as [H1 H2].
  destruct k as [|k]; [rewrite Nat.add_0_r; exact H1|]. rewrite Nat.add_succ_r, <- Nat.add_succ_l.
  apply IH; [exact H2|]. cbn in K. lia.
Qed.

End Sound.

Lemma table_for_made : forall h terms i,
  table_for h terms i = None \/ table_for h terms i = Some (softmax_table terms table_depth).
Proof. intros h terms i. unfold table_for. destruct (head_geometry h); auto. destruct (Z.leb _ _); auto. Qed.

Theorem instance_by_patches_ok : forall h c T terms i, (0 < T)%Z ->
  instance_by_patches h c T terms i = true -> instance h c i.
Proof.
  intros h c T terms i HT H. unfold instance_by_patches in H. apply andb_prop in H as [H HP].
  apply andb_prop in H as [H HA].
  apply andb_prop in H as [HL HD]. apply Nat.eqb_eq in HL. rewrite forallb_forall in HD, HA.
  split; [exact HL|]. split.
  - apply Forall_forall. intros row I. apply (latent_inside_ok h (image_unit i)). apply HD. exact I.
  - split.
    + intros l Hl. rewrite latents_over. apply latent_inside_ok, HD, nth_In. rewrite HL. exact Hl.
    + intros s I. specialize (HA s I). destruct s as [l j lo hi| | |]; try discriminate. apply Nat.ltb_lt in HA.
      cbn [holds]. rewrite latents_over.
      assert (P := table_for_made h terms i). set (t := table_for h terms i) in *. clearbody t.
      apply (patch_true_ok h c T terms i t HT P l); [|apply (patches_true_at _ _ _ _ _ _ _ 0); assumption|exact I].
      apply (latent_inside_ok h (image_unit i)). apply HD, nth_In. exact HA.
Qed.
