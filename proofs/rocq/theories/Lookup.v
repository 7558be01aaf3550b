(** What stands at several places of a list, in one walk where the places rise; else each is looked up from the start.

    The prototypes of a patch's statements mostly rise. *)

From Coq Require Import List Arith Lia.
Import ListNotations.

(** * What runs *)

Section Lookup.
Context {A : Type}.
Variable d : A.

(** [rest] begins at place [at_] of the whole list. *)
Fixpoint walk (whole : list A) (at_ : nat) (js : list nat) (rest : list A) : list A :=
  match js with
  | j :: js' =>
      if Nat.leb at_ j then let here := skipn (j - at_) rest in hd d here :: walk whole j js' here
      else nth j whole d :: walk whole at_ js' rest
  | nil => nil
  end.

Definition nths (js : list nat) (l : list A) : list A := walk l 0 js l.

(** * What it means *)

Lemma skipn_further : forall n m (l : list A), skipn n (skipn m l) = skipn (m + n) l.
Proof.
  intros n m. induction m as [|m IH]; intros l; [reflexivity|].
  destruct l as [|x l]; [rewrite !skipn_nil; reflexivity|apply IH].
Qed.

Lemma hd_skipn : forall n (l : list A), hd d (skipn n l) = nth n l d.
Proof. induction n as [|n IH]; intros [|x l]; try reflexivity. apply IH. Qed.

Lemma walk_is : forall whole js at_, walk whole at_ js (skipn at_ whole) = map (fun j => nth j whole d) js.
Proof.
  intros whole. induction js as [|j js IH]; intros at_; [reflexivity|]. cbn [walk map].
  destruct (Nat.leb at_ j) eqn:L; [apply Nat.leb_le in L|rewrite IH; reflexivity].
  rewrite skipn_further. replace (at_ + (j - at_)) with j by lia. rewrite hd_skipn, IH. reflexivity.
Qed.

Theorem nths_are : forall js l, nths js l = map (fun j => nth j l d) js.
Proof. intros js l. exact (walk_is l js 0). Qed.
End Lookup.

Section Three.
Context {A B C D : Type}.
Variable f : A -> B -> C -> D.

Fixpoint map_three (l : list A) (m : list B) (n : list C) : list D :=
  match l, m, n with x :: l', y :: m', z :: n' => f x y z :: map_three l' m' n' | _, _, _ => nil end.

Lemma map_three_is : forall {I : Type} (i : A -> I) (g : I -> B) (k : I -> C) l,
  map_three l (map g (map i l)) (map k (map i l)) = map (fun x => f x (g (i x)) (k (i x))) l.
Proof. intros I i g k. induction l as [|x l IH]; [reflexivity|]. cbn [map map_three]. rewrite IH. reflexivity. Qed.
End Three.
