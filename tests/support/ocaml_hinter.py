"""Faults in the hinter, which is not trusted: whatever it says, nothing false is proved, and nothing true is refuted.

The theorems hold for all hints and settings of their types. But Rocq's `positive`, `N` and `nat` are integers of OCaml,
so what is handed out here has no such type there: 0 and negative numbers. One executable has all of these faults; a
variable of its environment names one.

    PYTHONPATH=tests python -m support.ocaml_hinter [ONE-IN]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from support.ocaml_faults import FRONT, copied

from verale.checker import Auditor
from verale.checker.errors import ExecutableError
from verale.soundness.corpus.cases import INSTANCE, outcome_of, stored

_NAMED = "VERALE_TEST_HINTS"

_HANDED_OUT = """

let of_patches change found = { found with patches = List.map change found.patches }
let of_hints change = of_patches (fun patch -> { patch with Checker.targets = List.map change patch.Checker.targets })
let of_weights change = of_hints (fun (gap, hint) -> (gap,
  { Checker.for_low = Option.map change hint.Checker.for_low; for_high = Option.map change hint.Checker.for_high }))
let of_joint change = List.map (fun (rival, hint) -> (rival, change hint))
let of_links change found = { found with Links.above = change found.Links.above; below = change found.below }
let of_turns change found =
  { found with Links.turns_above = change found.Links.turns_above; turns_below = change found.turns_below }
let every change = List.map (Option.map change)
let of_linked change = of_links (fun links -> { links with Checker.linked = every change links.Checker.linked })
let of_turned change = of_turns (fun turns ->
  { turns with Checker.turned_from = every change turns.Checker.turned_from })
let fault = Option.value ~default:"" (Sys.getenv_opt "VARIABLE")
let rows prepared ~effort units certificate =
  let found = rows prepared ~effort units certificate in
  match fault with ROWS | _ -> found
let joint prepared certificate =
  let found = joint prepared certificate in
  match fault with JOINT | _ -> found
let links prepared units certificate =
  let found = links prepared units certificate in
  match fault with LINKS | _ -> found
let settings prepared precision certificate =
  let found = settings prepared precision certificate in
  match fault with SETTINGS | _ -> found
"""

_CHANGES = {
    "ROWS": {
        "no weights": "of_patches (fun patch -> { patch with Checker.targets = [] }) found",
        "a unit of 0": "of_weights (fun (_, w) -> (Z.zero, w)) found",
        "a unit of -1": "of_weights (fun (_, w) -> (Z.minus_one, w)) found",
        "weights and unit of the other sign": "of_weights (fun (u, w) -> (Z.neg u, List.map Z.neg w)) found",
        "a negative gap": "of_hints (fun (gap, hint) -> (gap - 2, hint)) found",
        "directions of no length": "of_patches (fun p -> { p with Checker.square_length = Z.zero }) found",
        "directions of a negative length": (
            "of_patches (fun p -> { p with Checker.square_length = Z.neg p.Checker.square_length }) found"
        ),
        "a negative number of directions": (
            "of_patches (fun p -> { p with Checker.sharpened = List.map Int.neg p.Checker.sharpened }) found"
        ),
        "a curve of 0": "{ found with curve = Z.zero }",
        "a curve of -1": "{ found with curve = Z.minus_one }",
    },
    "JOINT": {
        "whole margins in units of 0": "of_joint (fun hint -> { hint with Checker.share_unit = Z.zero }) found",
        "whole margins in negative units": (
            "of_joint (fun hint -> { hint with Checker.share_unit = Z.neg hint.Checker.share_unit }) found"
        ),
        "whole margins by a negative ball": (
            "of_joint (fun h -> { h with Checker.ball_share = Z.sub (Z.neg h.Checker.ball_share) Z.one }) found"
        ),
        "whole margins of a rival that there is not": "List.map (fun (rival, hint) -> (-1 - rival, hint)) found",
    },
    "LINKS": {
        "linked to negative numbers": "of_linked (fun (k, s) -> (k, Z.neg s)) found",
        "linked from a negative prototype": "of_linked (fun (k, s) -> (-1 - k, s)) found",
        "turned by a negative weight": "of_turned (fun (k, (s, w)) -> (k, (s, Z.neg w))) found",
        "turned from a negative prototype": "of_turned (fun (k, hint) -> (-1 - k, hint)) found",
    },
    "SETTINGS": {
        "negative terms": "{ found with terms = -1 }",
        "observables in units of 0": "{ found with observables = Z.zero }",
        "observables in negative units": "{ found with observables = Z.neg found.observables }",
        "activations in units of 0": "{ found with activations = Z.zero }",
        "activations in negative units": "{ found with activations = Z.neg found.activations }",
    },
}
FAULTS = [wrong for changes in _CHANGES.values() for wrong in changes]


def _hinter() -> str:
    """The hinter with all faults, none of which is there unless it is named."""
    text = _HANDED_OUT.replace("VARIABLE", _NAMED)
    for part, changes in _CHANGES.items():
        text = text.replace(part, " | ".join(f'"{wrong}" -> {change}' for wrong, change in changes.items()))
    return (FRONT / "hinter.ml").read_text(encoding="utf-8") + text


def _built(folder: Path) -> str:
    """The executable with that hinter, in a folder. Raises CalledProcessError where it does not compile."""
    rocq = folder / "rocq"
    copied(rocq, {"hinter.ml": _hinter()})
    subprocess.run(["make", "--directory", str(rocq), f"BUILD={folder}"], check=True, timeout=900)
    return str(folder / "verale-proved")


_LIMIT = 0.5
"""Steps for each megabyte: half a second."""


@dataclass(frozen=True)
class Claims:
    """Certificates with their heads, and latents where an instance is asked for too.

    Attributes:
        false: those known to be false: the corpora have latents that break them, or their image refutes them.
        true: those that the corpora accept.
    """

    false: tuple[tuple[bytes, bytes | None, bytes], ...]
    true: tuple[tuple[bytes, bytes | None, bytes], ...]

    @classmethod
    def made(cls, one_in: int = 1) -> Claims:
        """Of one in so many cases. Those with latents that break them are asked without their own, so that a false
        instance does not hide an entailment that is proved."""
        cases = stored()
        false = [
            (case.head, case.latents if case.breaks is None else None, case.certificate)
            for case in cases
            if case.breaks is not None or case.claim == INSTANCE or (case.status, case.reason) == ("REFUTED", "refuted")
        ]
        accepted = [case for case in cases if case.status == "PROVED" and case.name.startswith("accept/")]
        true = [(case.head, case.latents, case.certificate) for case in accepted]
        return cls(tuple(false[::one_in]), tuple(true[::one_in]))

    def said_by(self, executable: str, fault: str = "") -> Counter[str]:
        """How many verdicts an executable leads to: "false PROVED", "true REFUTED" and so on, or "ended" for none."""
        with patch.dict(os.environ, {"VERALE_PROVED": executable, _NAMED: fault}):
            return Counter(
                f"{truth} {_status(Auditor(head, latents, 'proved', limit=_LIMIT), certificate)}"
                for truth, claims in (("false", self.false), ("true", self.true))
                for head, latents, certificate in claims
            )


def _status(auditor: Auditor, certificate: bytes) -> str:
    try:
        return outcome_of(lambda: auditor, certificate)[0]
    except ExecutableError:
        return "ended"


def faulty(claims: Claims) -> Iterator[tuple[str, Counter[str]]]:
    """What the executable says of claims: without a fault, whose name is empty, then with each of them."""
    with tempfile.TemporaryDirectory() as folder:
        executable = _built(Path(folder))
        for wrong in ("", *FAULTS):
            yield wrong, claims.said_by(executable, wrong)


def main(one_in: int = 1) -> int:
    wrong = 0
    for fault, said in faulty(Claims.made(one_in)):
        wrong += said["false PROVED"] + said["true REFUTED"]
        sys.stdout.write(f"{fault}: {', '.join(f'{number} {what}' for what, number in sorted(said.items()))}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(FAULTS)} faults in the hinter, {wrong} wrong verdicts\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
