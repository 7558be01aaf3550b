"""Counts of a comparison; of what is not proved, how much of the margins is missed; and how long each kernel takes."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from verale.soundness.compare import NAMES, Comparison, Group, Question, Said, asked, compared, rank

__all__ = ["Difference", "Tally", "tallied", "with_margins"]

_BITS = 52


@dataclass(frozen=True)
class Difference:
    """A certificate on which verdicts differ.

    Attributes:
        name: of the certificate.
        python: what `arb` says.
        proved: what `proved` says.
        lost: of a margin that `proved` proves less of, the least share that has to be given up, a power of two; 1 where
            nothing is proved, 0 where nothing was looked for.
    """

    name: str
    python: Said
    proved: Said
    lost: float = 0.0

    def __str__(self) -> str:
        verdicts = f"{' '.join(self.python).strip()} against {' '.join(self.proved).strip()}"
        return f"{self.name}: {verdicts}" + (f", {self.lost:.0e} of the margins" if 0 < self.lost < 1 else "")


@dataclass
class Tally:
    """What came of one set.

    Attributes:
        kinds: counts by KINDS.
        verdicts: counts by what `arb` and `proved` say.
        differences: by kind, but for the same.
        wrong: what must not be, a line each.
        seconds: of the processor, by kernel.
    """

    kinds: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[tuple[Said, Said]] = field(default_factory=Counter)
    differences: dict[str, list[Difference]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(NAMES, 0.0))

    def worst_first(self, kind: str) -> list[Difference]:
        """The differences of a kind: those that lose the most first."""
        return sorted(self.differences.get(kind, []), key=lambda each: (-each.lost, each.name))


def tallied(groups: Iterable[Group]) -> Tally:
    """Compare the kernels' verdicts on certificates, and count."""
    tally = Tally()

    def timed(group: Group, kernel: str) -> list[Said]:
        start = _processor()
        said = asked(group, kernel)
        tally.seconds[kernel] += _processor() - start
        return said

    for each in compared(groups, timed):
        kind, python, proved = each.kind, each.said["arb"], each.said["proved"]
        tally.kinds[kind] += 1
        tally.verdicts[python, proved] += 1
        tally.wrong += each.wrong
        if kind != "same":
            difference = Difference(each.question.name, python, proved, _lost(each) if kind == "less" else 0.0)
            tally.differences.setdefault(kind, []).append(difference)
    return tally


def with_margins(certificate: bytes, share: float) -> bytes:
    """The certificate with that share of each stated margin."""
    document = json.loads(certificate)
    predicate = document["predicate"]
    predicate["margins"] = [
        None if text is None else (float.fromhex(text) * share).hex() for text in predicate["margins"]
    ]
    return json.dumps(document).encode()


def _lost(less: Comparison) -> float:
    """The least power of two so that `proved` proves margins smaller by that share."""
    group, proved = less.group, less.said["proved"]
    if proved[1] != "margin":
        return 1.0
    least, most = 0, _BITS + 1  # 2^-least is known to be enough, 2^-most is not
    while most - least > 1:
        middle = (least + most) // 2
        fewer = Question("", with_margins(less.question.certificate, 1 - 2.0**-middle))
        (verdict,) = asked(Group(group.head, group.latents, (fewer,)), "proved")
        least, most = (least, middle) if rank(verdict) == rank(proved) else (middle, most)
    return 2.0**-least


def _processor() -> float:
    """Seconds of this process and of those that it has started and that have ended."""
    import resource  # only where the executable runs: not on Windows

    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime
