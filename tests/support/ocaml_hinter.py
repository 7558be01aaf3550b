"""Faults in the hinter, which is not trusted: whatever it says, nothing false is proved, and nothing true is refuted.

They name no text of its files, which may change: `at_its_end` changes what it hands out, and `drawn` makes small changes
anywhere in it. An executable that dies or takes too long proves nothing.

    PYTHONPATH=tests python -m support.ocaml_hinter [COUNT [SEED [ONE-IN]]]
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from support.ocaml import FRONT, OCamlFault, built

from verale.checker import Auditor
from verale.checker.errors import ExecutableError
from verale.soundness.corpus.cases import INSTANCE, outcome_of, stored

__all__ = ["Claims", "at_its_end", "drawn", "faulty", "main"]

_HANDED_OUT = """

let turned = function [] -> [] | first :: others -> others @ [ first ]
let faulty_weights change hint =
  let changed = Option.map (fun (unit, weights) -> change unit weights) in
  {{ Checker.for_low = changed hint.Checker.for_low; for_high = changed hint.Checker.for_high }}
let of_patches change found = {{ found with patches = change found.patches }}
let of_targets change =
  of_patches (List.map (fun patch -> {{ patch with Checker.targets = change patch.Checker.targets }}))
let of_hints change = of_targets (List.map (fun (gap, hint) -> (gap, change hint)))
let of_centres change =
  of_patches (List.map (fun patch -> {{ patch with Checker.centre = change patch.Checker.centre }}))
let of_directions change =
  of_patches (List.map (fun patch -> {{ patch with Checker.directions = change patch.Checker.directions }}))
let of_lengths change =
  of_patches (List.map (fun patch -> {{ patch with Checker.square_length = change patch.Checker.square_length }}))
let of_sharpened change =
  of_patches (List.map (fun patch -> {{ patch with Checker.sharpened = change patch.Checker.sharpened }}))
let of_claims change found = {{ found with claims = List.map change found.claims }}
let all change = of_hints (faulty_weights change)
let moved by = function
  | Checker.AtLeast e -> Checker.AtLeast (Z.add e by)
  | AtMost e -> AtMost (Z.sub e by)
  | Unclaimed -> Unclaimed
let of_joint change = List.map (fun (rival, hint) -> (rival, change hint))
let of_shares change = of_joint (fun hint -> {{ hint with Checker.shares_of = change hint.Checker.shares_of }})
let of_unit change = of_joint (fun hint -> {{ hint with Checker.share_unit = change hint.Checker.share_unit }})
let of_ball change = of_joint (fun hint -> {{ hint with Checker.ball_share = change hint.Checker.ball_share }})
let of_links change found =
  {{ found with Links.above = change found.Links.above; below = change found.below }}
let of_turns change found =
  {{ found with Links.turns_above = change found.Links.turns_above; turns_below = change found.turns_below }}
let of_reached change found =
  of_turns (fun turns -> {{ turns with Checker.turned = change turns.Checker.turned }})
    (of_links (fun links -> {{ links with Checker.reached = change links.Checker.reached }}) found)
let of_linked change found =
  of_links (fun links -> {{ links with Checker.linked = change links.Checker.linked }}) found
let of_turned change found =
  of_turns (fun turns -> {{ turns with Checker.turned_from = change turns.Checker.turned_from }}) found
let every change = List.map (Option.map change)
let plain_links = links
let plain_joint = joint
let plain_rows = rows
let plain_settings = settings
let rows prepared ~effort units certificate = let found = plain_rows prepared ~effort units certificate in {rows}
let joint prepared certificate = let found = plain_joint prepared certificate in {joint}
let links prepared units certificate = let found = plain_links prepared units certificate in {links}
let settings prepared precision certificate = let found = plain_settings prepared precision certificate in {settings}
"""

_ROWS = {
    "no weights": "of_targets (fun _ -> []) found",
    "no patches": "of_patches (fun _ -> []) found",
    "all weights 0": "all (fun unit w -> (unit, List.map (fun _ -> Z.zero) w)) found",
    "all weights 1": "all (fun unit w -> (unit, List.map (fun _ -> unit) w)) found",
    "weights of the other sign": "all (fun unit w -> (unit, List.map Z.neg w)) found",
    "weights and unit of the other sign": "all (fun unit w -> (Z.neg unit, List.map Z.neg w)) found",
    "huge weights": "all (fun unit w -> (unit, List.map (fun x -> Z.shift_left x 500) w)) found",
    "tiny weights": "all (fun unit w -> (Z.shift_left unit 500, w)) found",
    "weights twice as large": "all (fun unit w -> (unit, List.map (fun x -> Z.shift_left x 1) w)) found",
    "weights moved by one": "all (fun unit w -> (unit, List.map Z.succ w)) found",
    "a unit of 0": "all (fun _ w -> (Z.zero, w)) found",
    "a unit of -1": "all (fun _ w -> (Z.minus_one, w)) found",
    "a unit of 1": "all (fun _ w -> (Z.one, w)) found",
    "weights of another statement": "all (fun unit w -> (unit, turned w)) found",
    "a weight too few": "all (fun unit w -> (unit, match w with [] -> [] | _ :: w -> w)) found",
    "a weight too many": "all (fun unit w -> (unit, unit :: w)) found",
    "no weights in a list": "all (fun unit _ -> (unit, [])) found",
    "weights of the other end": "of_hints (fun hint -> { Checker.for_low = hint.Checker.for_high; for_high = hint.Checker.for_low }) found",
    "weights of another prototype": "of_targets turned found",
    "weights of the next prototype": "of_targets (List.map (fun (gap, hint) -> (gap + 1, hint))) found",
    "a negative gap": "of_targets (List.map (fun (gap, hint) -> (gap - 2, hint))) found",
    "weights of another patch": "of_patches turned found",
    "patches in reverse": "of_patches List.rev found",
    "patches twice": "of_patches (fun rows -> rows @ rows) found",
    "no balls": "of_centres (fun _ -> []) found",
    "balls of the other sign": "of_centres (List.map Z.neg) found",
    "huge balls": "{ (of_centres (List.map (fun x -> Z.shift_left x 100)) found) with curve = Z.shift_left found.curve 100 }",
    "balls of another statement": "of_centres turned found",
    "balls with a weight too few": "of_centres (function [] -> [] | _ :: w -> w) found",
    "balls moved by one": "of_centres (List.map Z.succ) found",
    "no directions": "of_directions (fun _ -> []) found",
    "directions of 0": "of_directions (List.map (List.map (fun _ -> Z.zero))) found",
    "directions of another statement": "of_directions (List.map turned) found",
    "directions moved by one": "of_directions (List.map (List.map Z.succ)) found",
    "directions twice as long": "of_directions (List.map (List.map (fun x -> Z.shift_left x 1))) found",
    "huge directions": "of_directions (List.map (List.map (fun x -> Z.shift_left x 100))) found",
    "the same direction again": "of_directions (function [] -> [] | first :: others -> first :: first :: others) found",
    "directions in reverse": "of_directions List.rev found",
    "directions with a weight too many": "of_directions (List.map (fun w -> w @ [ Z.one; Z.one ])) found",
    "directions of no length": "of_lengths (fun _ -> Z.zero) found",
    "directions of a negative length": "of_lengths Z.neg found",
    "directions said to be shorter": "of_lengths (fun x -> Z.shift_right x 1) found",
    "directions said to be longer": "of_lengths (fun x -> Z.shift_left x 1) found",
    "all directions for each": "of_sharpened (List.map (fun _ -> 1000)) found",
    "one direction for each": "of_sharpened (List.map (fun _ -> 1)) found",
    "a negative number of directions": "of_sharpened (List.map Int.neg) found",
    "directions for other prototypes": "of_sharpened (fun l -> turned l) found",
    "a curve of 0": "{ found with curve = Z.zero }",
    "a curve of -1": "{ found with curve = Z.minus_one }",
    "a curve twice as large": "{ found with curve = Z.shift_left found.curve 1 }",
    "no claims": "{ found with claims = [] }",
    "claims of too much": "of_claims (moved (Z.shift_left Z.one 70)) found",
    "claims of a little more": "of_claims (moved (Z.shift_left Z.one 20)) found",
    "claims of the other end": "of_claims (function Checker.AtLeast e -> Checker.AtMost e | AtMost e -> AtLeast e | Unclaimed -> Unclaimed) found",
    "negative claims": "of_claims (function Checker.AtLeast e -> Checker.AtLeast (Z.neg e) | AtMost e -> AtMost (Z.neg e) | Unclaimed -> Unclaimed) found",
    "claims of another prototype": "{ found with claims = turned found.claims }",
}  # fmt: skip

_JOINT = {
    "no whole margins": "[]",
    "whole margins without weights": "of_shares (fun _ -> []) found",
    "whole margins by weights of the other sign": "of_shares (List.map Z.neg) found",
    "whole margins by weights twice as large": "of_shares (List.map (fun w -> Z.shift_left w 1)) found",
    "whole margins by weights moved by one": "of_shares (List.map Z.succ) found",
    "whole margins by weights of another statement": "of_shares turned found",
    "whole margins by a weight too few": "of_shares (function [] -> [] | _ :: w -> w) found",
    "whole margins by a weight too many": "of_shares (fun w -> Z.one :: w) found",
    "whole margins in units of 0": "of_unit (fun _ -> Z.zero) found",
    "whole margins in negative units": "of_unit Z.neg found",
    "whole margins in huge units": "of_unit (fun unit -> Z.shift_left unit 500) found",
    "whole margins by a negative ball": "of_ball (fun w -> Z.sub (Z.neg w) Z.one) found",
    "whole margins by a huge ball": "of_ball (fun w -> Z.shift_left (Z.succ w) 300) found",
    "whole margins of another rival": "List.map2 (fun (rival, _) (_, hint) -> (rival, hint)) found (turned found)",
    "whole margins of a rival that there is not": "List.map (fun (rival, hint) -> (-1 - rival, hint)) found",
}

_LINKS = {
    "no links": "Links.nothing",
    "links of the other side": "{ Links.above = found.Links.below; below = found.above; turns_above = found.turns_below; turns_below = found.turns_above }",
    "reached a little more": "of_reached (every (fun t -> Z.add t (Z.shift_right t 20))) found",
    "reached a little less": "of_reached (every (fun t -> Z.sub t (Z.shift_right t 20))) found",
    "reached twice as much": "of_reached (every (fun t -> Z.shift_left t 1)) found",
    "reached negative numbers": "of_reached (every Z.neg) found",
    "reached by another prototype": "of_reached turned found",
    "nothing reached": "of_reached (fun _ -> []) found",
    "linked to a little more": "of_linked (every (fun (k, s) -> (k, Z.add s (Z.shift_right s 20)))) found",
    "linked to a little less": "of_linked (every (fun (k, s) -> (k, Z.sub s (Z.shift_right s 20)))) found",
    "linked to 0": "of_linked (every (fun (k, _) -> (k, Z.zero))) found",
    "linked to negative numbers": "of_linked (every (fun (k, s) -> (k, Z.neg s))) found",
    "linked from the next prototype": "of_linked (every (fun (k, s) -> (k + 1, s))) found",
    "linked from a negative prototype": "of_linked (every (fun (k, s) -> (-1 - k, s))) found",
    "links of another prototype": "of_linked turned found",
    "turned to a little more": "of_turned (every (fun (k, (s, w)) -> (k, (Z.add s (Z.shift_right s 20), w)))) found",
    "turned to a little less": "of_turned (every (fun (k, (s, w)) -> (k, (Z.sub s (Z.shift_right s 20), w)))) found",
    "turned to 0": "of_turned (every (fun (k, (_, w)) -> (k, (Z.zero, w)))) found",
    "turned by twice the weight": "of_turned (every (fun (k, (s, w)) -> (k, (s, Z.shift_left w 1)))) found",
    "turned by a negative weight": "of_turned (every (fun (k, (s, w)) -> (k, (s, Z.neg w)))) found",
    "turned from the next prototype": "of_turned (every (fun (k, hint) -> (k + 1, hint))) found",
    "turned from a negative prototype": "of_turned (every (fun (k, hint) -> (-1 - k, hint))) found",
    "turned from a prototype that there is not": "of_turned (every (fun (k, hint) -> (k + 4096, hint))) found",
}  # fmt: skip

_SETTINGS = {
    "no terms": "{ found with terms = 0 }",
    "negative terms": "{ found with terms = -1 }",
    "one term": "{ found with terms = 1 }",
    "observables in units of 0": "{ found with observables = Z.zero }",
    "observables in negative units": "{ found with observables = Z.neg found.observables }",
    "observables in units of 1": "{ found with observables = Z.one }",
    "observables in units that do not fit": "{ found with observables = Z.succ found.observables }",
    "observables in huge units": "{ found with observables = Z.shift_left found.observables 5000 }",
    "activations in units of 0": "{ found with activations = Z.zero }",
    "activations in negative units": "{ found with activations = Z.neg found.activations }",
    "activations in units of 1": "{ found with activations = Z.one }",
    "activations in units that do not fit": "{ found with activations = Z.succ found.activations }",
    "the units swapped": "{ found with observables = found.activations; activations = found.observables }",
}


def at_its_end() -> list[OCamlFault]:
    """Faults in what the hinter hands out."""
    source = (FRONT / "hinter.ml").read_text(encoding="utf-8")
    same = {"rows": "found", "settings": "found", "joint": "found", "links": "found"}
    parts = {"rows": _ROWS, "settings": _SETTINGS, "joint": _JOINT, "links": _LINKS}
    return [
        OCamlFault("hinter.ml", wrong, source + _HANDED_OUT.format_map({**same, part: changed}))
        for part, faults in parts.items()
        for wrong, changed in faults.items()
    ]


_CHANGES = (
    (r" \+\. ", " -. "),
    (r" -\. ", " +. "),
    (r" \*\. ", " /. "),
    (r" /\. ", " *. "),
    (r"\bFloat\.max\b", "Float.min"),
    (r"\bFloat\.min\b", "Float.max"),
    (r" > ", " <= "),
    (r" < ", " >= "),
    (r" = (?=[a-z0-9]+ then)", " <> "),
    (r"\.low\b", ".high"),
    (r"\.high\b", ".low"),
    (r"\bsqrt\b", "Float.abs"),
    (r"\b0\.(?![0-9])", "1."),
    (r"\b1\.(?![0-9])", "-1."),
    (r"\b2\.(?![0-9])", "1."),
    (r"(?<=\.\()([a-z])(?=\))", r"0"),
    (r" \+ 1\b", ""),
    (r" - 1\b", ""),
    (r"\bSome \(", "Some (fun x -> x) (fun _ -> ("),
    (r"\bZ\.sub\b", "Z.add"),
    (r"\bZ\.shift_left\b", "Z.shift_right"),
    (r" :: ", " :: [] @ "),
    (r"\bif\b", "if not @@"),
    (r"-\.(?=[a-z(])", ""),
)
"""Patterns in OCaml, and what takes their place. Not all that comes of it compiles: then another is drawn."""


def drawn(seed: int) -> Iterator[OCamlFault]:
    """Small changes at random places of the hinter's files, without end."""
    generator = random.Random(seed)
    makefile = (FRONT.parent / "Makefile").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^HINTER := (.*)$", makefile, re.MULTILINE)
    files = [Path(name).name for name in listed.split()]
    sites = []
    for file in files:
        source = (FRONT / file).read_text(encoding="utf-8")
        comments = [match.span() for match in re.finditer(r"\(\*.*?\*\)", source, re.DOTALL)]
        for old, new in _CHANGES:
            for match in re.finditer(old, source):
                if not any(start <= match.start() < end for start, end in comments):
                    sites.append((file, source, match, new))
    while True:
        file, source, match, new = generator.choice(sites)
        line = source.count("\n", 0, match.start()) + 1
        wrong = f"line {line}, {match.group().strip()!r} is {new.strip()!r}"
        yield OCamlFault(file, wrong, source[: match.start()] + match.expand(new) + source[match.end() :])


# Claims.

_LIMIT = 0.5
"""Steps for each megabyte: half a second."""


@dataclass(frozen=True)
class Claims:
    """Certificates with their heads, and latents where an instance is asked for too.

    Attributes:
        false: those known to be false: the corpora have latents that break them, or their image refutes them.
        true: those that the corpora accept.
    """

    false: tuple[tuple[bytes, bytes | None, tuple[bytes, ...]], ...]
    true: tuple[tuple[bytes, bytes | None, tuple[bytes, ...]], ...]

    @classmethod
    def made(cls, one_in: int = 1) -> Claims:
        """Of one in so many cases. Those with latents that break them are asked without their own, so that a false
        instance does not hide an entailment that is proved."""
        cases = stored()
        false = [
            (case.head, case.latents if case.breaks is None else None, (case.certificate,))
            for case in cases
            if case.breaks is not None or case.claim == INSTANCE or (case.status, case.reason) == ("REFUTED", "refuted")
        ]
        accepted = [case for case in cases if case.status == "PROVED" and case.name.startswith("accept/")]
        true = [(case.head, case.latents, (case.certificate,)) for case in accepted]
        return cls(tuple(false[::one_in]), tuple(true[::one_in]))

    @property
    def lies(self) -> int:
        """How many are false."""
        return sum(len(certificates) for _, _, certificates in self.false)

    def said_by(self, executable: str) -> Counter[str]:
        """How many verdicts an executable leads to: "false PROVED", "true REFUTED" and so on, or "ended" for none."""
        before = os.environ.get("VERALE_PROVED")
        os.environ["VERALE_PROVED"] = executable
        try:
            return Counter(
                f"{truth} {status}"
                for truth, groups in (("false", self.false), ("true", self.true))
                for head, latents, certificates in groups
                for status in _statuses(Auditor(head, latents, "proved", limit=_LIMIT), certificates)
            )
        finally:
            if before is None:
                del os.environ["VERALE_PROVED"]
            else:
                os.environ["VERALE_PROVED"] = before


def _statuses(auditor: Auditor, certificates: tuple[bytes, ...]) -> Iterator[str]:
    for certificate in certificates:
        try:
            yield outcome_of(lambda: auditor, certificate)[0]
        except ExecutableError:
            yield "ended"


def faulty(claims: Claims, count: int, seed: int, handed_out: int = 1) -> Iterator[tuple[OCamlFault, Counter[str]]]:
    """What executables with a fault in their hinter say of claims: one in `handed_out` of `at_its_end`, then so many
    drawn ones that compile."""
    left = count
    for fault in chain(at_its_end()[::handed_out], drawn(seed)):
        is_drawn = fault.wrong.startswith("line ")
        if is_drawn and left <= 0:
            return
        with tempfile.TemporaryDirectory() as folder:
            executable = built(fault, Path(folder))
            if executable is None:
                if not is_drawn:
                    raise ValueError(f"{fault} does not compile")
                continue
            yield fault, claims.said_by(executable)
        left -= is_drawn


def main(count: int = 20, seed: int = 0, one_in: int = 1) -> int:
    claims, wrong, total = Claims.made(one_in), 0, 0
    sys.stdout.write(f"{claims.lies} false claims\n")
    for fault, said in faulty(claims, count, seed):
        total += 1
        wrong += said["false PROVED"] + said["true REFUTED"]
        sys.stdout.write(f"{fault}: {', '.join(f'{number} {what}' for what, number in sorted(said.items()))}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{total} faults in the hinter, {wrong} wrong verdicts\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
