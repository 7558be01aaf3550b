"""Audits of folders of explanations by the proved checker: seconds of processor time a certificate, and on what.

    verale explain --head HEAD --latents LATENTS --out FOLDER
    git worktree add /tmp/parent HEAD~1 && make -C /tmp/parent proved
    python -m benchmarks.audits FOLDER... --parent /tmp/parent/build/verale-proved --minimality --out OUT

FOLDER is a folder that `verale explain` wrote, or one of such folders. Each certificate is audited as `verale audit`
does it by default, and with --minimality that is asked too. Time is that of this process and of the executable; what is
paid once a head is `head`, and is not in the others. With --kernel arb or mpmath the reading is asked instead. With
--parent the executable of another commit audits the same certificates in turn: trust its ratio more than the seconds.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from benchmarks import environment, executable
from verale.checker import Auditor
from verale.checker.options import VARIABLE
from verale.checker.proved.dialogue import Answer, Dialogue

QUESTIONS = {"instance": "instance", "entails": "entailment", "minimal": "minimality"}
"""What the executable is asked of a certificate, and the name of the column."""


class Timed:
    """An auditor of a folder's certificates that asks one executable.

    Args:
        folder: what `verale explain` wrote.
        program: the executable; None for that of this tree.
        kernel: who is asked; None as by default.
    """

    def __init__(self, folder: Path, program: str | None, kernel: str | None = None) -> None:
        files = ((folder / name).read_bytes() for name in ("head.safetensors", "latents.safetensors"))
        with mock.patch.dict(os.environ, {VARIABLE: program} if program else {}):
            self.auditor = Auditor(*files, kernel=kernel)
        self.asked: dict[str, float] = {}
        self.seconds: list[float] = []
        self.statuses: list[str] = []

    def check(self, certificate: bytes, minimality: bool) -> None:
        """Audit one certificate, and count its time."""
        seconds, status = self._once(certificate, minimality)
        self.seconds.append(seconds)
        self.statuses.append(status)

    def begin(self, certificate: bytes) -> float:
        """What is paid once a head, in seconds: how much longer the first audit takes than the next one."""
        first, _ = self._once(certificate, False)
        again, _ = self._once(certificate, False)
        self.asked.clear()
        return max(0.0, first - again)

    def _once(self, certificate: bytes, minimality: bool) -> tuple[float, str]:
        ask = Dialogue.ask

        def counted(dialogue: Dialogue, question: str, text: bytes, milliseconds: int) -> Answer:
            answer = ask(dialogue, question, text, milliseconds)
            self.asked[question] = self.asked.get(question, 0.0) + answer.milliseconds / 1000
            return answer

        with mock.patch.object(Dialogue, "ask", counted):
            here, child = time.process_time(), executable.seconds(self.auditor)
            verdict = self.auditor.check(certificate, minimality=minimality, entailment_only=True)
            seconds = time.process_time() - here + executable.seconds(self.auditor) - child
        return seconds, verdict.reason or verdict.status.value


def row(folder: Path, given: argparse.Namespace) -> str:
    """The line of a folder."""
    certificates = [path.read_bytes() for path in sorted(folder.glob("*.ale.json"))[: given.images]]
    programs = [given.parent, None] if given.parent else [None]
    timed = [Timed(folder, program, given.kernel) for program in programs]
    told = [each.begin(certificates[0]) for each in timed][-1]
    statements, paradigms = 0, set()
    for certificate in certificates:
        for each in timed:
            each.check(certificate, given.minimality)
        verdict = timed[-1].auditor.check(certificate, entailment_only=True)
        read = verdict.certificate
        statements += 0 if read is None else len(read.statements)
        paradigms.add("none" if read is None else read.paradigm)
    now, count = timed[-1], len(certificates)
    parts = [now.asked.get(question, 0.0) / count for question in QUESTIONS]
    mean = sum(now.seconds) / count
    shares = " | ".join(f"{part:.3f}" for part in [*parts, max(0.0, mean - sum(parts))])
    before = ""
    if given.parent:
        old = timed[0].seconds
        before = f" {sum(old) / count:.3f} | {max(old):.3f} | {sum(now.seconds) / sum(old):.2f} |"
    unproved = ", ".join(sorted({status for status in now.statuses if status != "PROVED"})) or "-"
    return (
        f"| {folder.name} | {', '.join(sorted(paradigms))} | {count} | {statements / count:.0f} | {told:.3f} |{before}"
        f" {mean:.3f} | {max(now.seconds):.3f} | {shares} | {unproved} |"
    )


def lines(given: argparse.Namespace) -> Iterator[str]:
    """The lines of the table."""
    yield from environment.listed(environment.describe())
    before = ["parent, mean s", "parent, most s", "now / parent"] if given.parent else []
    columns = [
        *("folder", "paradigms", "certificates", "statements", "head, s", *before, "mean s", "most s"),
        *(f"{name}, s" for name in QUESTIONS.values()),
        *("rest, s", "not proved"),
    ]
    yield "\n| " + " | ".join(columns) + " |"
    yield "|---" * len(columns) + "|"
    for folder in given.folders:
        within = [folder] if (folder / "head.safetensors").exists() else sorted(folder.iterdir())
        for each in within:
            yield row(each, given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "folders", nargs="+", type=Path, metavar="FOLDER", help="that `verale explain` wrote, or of such folders"
    )
    parser.add_argument("--images", type=int, help="number of certificates of each (default all)")
    parser.add_argument("--minimality", action="store_true", help="ask for minimality where it is claimed")
    parser.add_argument("--kernel", help="who is asked (default: as by default)")
    parser.add_argument("--parent", help="the executable of another commit, an absolute path")
    parser.add_argument("--out", type=Path, help="write the table here too")
    given = parser.parse_args()
    made = []
    for line in lines(given):
        print(line, flush=True)
        made.append(line)
    if given.out is not None:
        command = " ".join(["python -m benchmarks.audits", *sys.argv[1:]])
        title = "# Audits by the proved checker, beside another commit's"
        given.out.write_text("\n".join([title, "", f"`{command}`", "", *made, ""]))


if __name__ == "__main__":
    main()
