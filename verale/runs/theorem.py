"""Certificates as theorems of Rocq: one file with a head, certificates, hints, and the theorems of each certificate."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from os.path import basename

from verale.checker.proved.theorem import Statement
from verale.files import CERTIFICATE_SUFFIX
from verale.version import __version__

__all__ = ["Stated", "names_of", "theorem_file"]

_OUTSIDE = re.compile(r"[^A-Za-z0-9._+-]")
_IN_NAMES = re.compile(r"[^A-Za-z0-9_]")

_INTRODUCTION = """\
(* {count} of one head as theorems, written by `verale theorem` of verale {version}.

   What is stated: for each certificate NAME a theorem `entailed_NAME : entails the_head certificate_NAME`: all latents in
   the head's domain that satisfy every statement of the certificate get the predicted class, each rival's logit staying
   below that of the class by at least the certificate's margin. Where the image's latents are here, `instance_NAME` says
   that they satisfy the statements, and `classified_NAME` what follows: the head gives the image this class.

   What has to be believed: that the terms `the_head`, `certificate_NAME` and `image_NAME` are what the files hold whose
   SHA-256 stand beside them; the definitions of Semantics.v (and, for `classified`, the first one of Classified.v); and
   Rocq. Not the settings and hints: with others a proof fails, or holds too.

   To check it, with the folder THEORIES of compiled theories:  coqc -Q THEORIES Verale {file}
   They are compiled by `make -C {rocq} theories`, which says where.
   The last command prints the axioms: those of Coq's real numbers and classical logic{machine}. *)
"""
_MACHINE = """,
   and of machine integers (PrimInt63), in which large matrices are written: `Sint63.to_Z` makes integers of them"""
_REQUIRED = """\
From Coq Require Import ZArith List{machine}.
From Verale Require Import Semantics Hypersphere Metric Joint Lipschitz Angles Check CheckImage Classified.
Import ListNotations.
Open Scope Z_scope.
"""
_HEAD = """
(* {file}, SHA-256 {sha256} *)
Definition the_head : head :=
{head}.
"""
_PREPARED = """
(* Computed once, for all certificates with these settings. *)
Definition {prepared} : prepared := prepare the_head {settings}.
Lemma {prepared}_ready : ready the_head {prepared}.
Proof. exact (prepare_ready _ _). Qed.
"""
_ENTAILED = """
(* {file}, SHA-256 {sha256} *)
Definition certificate_{name} : certificate :=
{certificate}.
Definition hints_{name} : hints :=
{hints}.
Definition learned_{name} : prepared := learn {before} certificate_{name}.
Lemma learned_{name}_ready : ready the_head learned_{name}.
Proof. exact (learn_ready _ _ _ {before}_ready). Qed.
Theorem entailed_{name} : entails the_head certificate_{name}.
Proof.
  apply (check_ready_sound the_head learned_{name} certificate_{name} hints_{name} learned_{name}_ready).
  vm_cast_no_check (eq_refl true).
Qed.
"""
_INSTANCE = """\
Definition image_{name} : image :=
{image}.
Theorem instance_{name} : instance the_head certificate_{name} image_{name}.
Proof.
  apply (instance_proved_sound the_head {settings} certificate_{name} image_{name}).
  vm_cast_no_check (eq_refl true).
Qed.
Theorem classified_{name} : classified the_head image_{name} {predicted}%nat (margin certificate_{name}).
Proof.
  apply (entailed_instance_classified the_head certificate_{name} image_{name});
    [apply Nat.ltb_lt; reflexivity|exact entailed_{name}|exact instance_{name}].
Qed.
"""


@dataclass(frozen=True)
class Stated:
    """What is stated of one certificate.

    Attributes:
        file: the path of its file.
        sha256: of its bytes.
        statement: the terms.
    """

    file: str
    sha256: str
    statement: Statement


def names_of(files: Iterable[str]) -> list[str]:
    """For each certificate file what its theorems are called after: its name, as far as Rocq has such names, with a
    number if another one has it too."""
    names: list[str] = []
    for file in files:
        name = stem = _IN_NAMES.sub("_", basename(file).removesuffix(CERTIFICATE_SUFFIX)) or "_"
        number = 1
        while name in names:
            number += 1
            name = f"{stem}_{number}"
        names.append(name)
    return names


def theorem_file(
    file: str, rocq: str, head: tuple[str, bytes, str], stated: Sequence[Stated]
) -> Iterator[str]:
    """The parts of the file, in their order.

    Args:
        file: its path, for the comment.
        rocq: where the theories are made.
        head: the path of the head's file, its bytes, and the term.
        stated: the certificates.
    """
    path, data, term = head
    machine = any("Sint63" in each for each in (term, *(s.statement.instance.image for s in stated if s.statement.instance)))
    count = "1 certificate" if len(stated) == 1 else f"{len(stated)} certificates"
    yield _INTRODUCTION.format(
        count=count, version=__version__, file=_told(file), rocq=_told_path(rocq), machine=_MACHINE if machine else ""
    )
    yield _REQUIRED.format(machine=" Sint63" if machine else "")
    yield _HEAD.format(file=_told(path), sha256=hashlib.sha256(data).hexdigest(), head=term)
    latest: dict[str, str] = {}
    theorems: list[str] = []
    for name, each in zip(names_of(s.file for s in stated), stated, strict=True):
        statement = each.statement
        if statement.settings not in latest:
            latest[statement.settings] = f"prepared_{len(latest)}"
            yield _PREPARED.format(prepared=latest[statement.settings], settings=statement.settings)
        yield _ENTAILED.format(
            name=name,
            file=_told(each.file),
            sha256=each.sha256,
            certificate=statement.certificate,
            hints=statement.hints,
            before=latest[statement.settings],
        )
        latest[statement.settings] = f"learned_{name}"
        theorems.append(f"entailed_{name}")
        if (instance := statement.instance) is not None:
            yield _INSTANCE.format(
                name=name, image=instance.image, settings=instance.settings, predicted=statement.predicted
            )
            theorems += [f"instance_{name}", f"classified_{name}"]
    yield f"\nDefinition all_theorems := ({', '.join(theorems)}, I).\nPrint Assumptions all_theorems.\n"


def _told(path: str) -> str:
    """The name of a file, in a comment: nothing in it ends the comment, or begins a text or another comment."""
    return _OUTSIDE.sub("_", basename(path))


def _told_path(path: str) -> str:
    return "/".join(map(_told, path.split("/")))
