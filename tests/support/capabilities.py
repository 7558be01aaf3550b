"""What verale can do, from its own tables: `PYTHONPATH=tests python -m support.capabilities --write` records it.

Without `--write` it prints what has changed. `tests/contract/capabilities.txt` holds the record, in lines `subject:
value value ...`. What stands there and is no longer so has been lost, which `tests/contract/test_capabilities.py`
refuses; it also tries what stands there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import torch

import verale
from verale.checker import Auditor, CheckerError, Status
from verale.checker.deployment import Deployment
from verale.checker.least import proved_least
from verale.checker.options import KERNELS, PROVED
from verale.cli import cli
from verale.errors import VeraleError
from verale.paradigms import PARADIGMS
from verale.search import SearchOptions
from verale.search.batches import Batches
from verale.soundness.combinations import Combination, Draw, combinations, draw
from verale.soundness.corpus.cases import stored
from verale.soundness.suite import SECTIONS

ROOT = Path(__file__).parents[2]
RECORD = ROOT / "tests" / "contract" / "capabilities.txt"
_HEADING = """# What verale can do, a subject and its values a line. To renew it:
# PYTHONPATH=tests python -m support.capabilities --write
# A head is geometry, similarity, pooling and readout. Its values are its paradigms.
"""

Capabilities = dict[str, set[str]]
"""The values of each subject."""


def capabilities() -> Capabilities:
    """What this tree can do."""
    known: Capabilities = dict(_of_commands("verale", cli))
    known["python"] = set(verale.__all__)
    known["soundness"] = {section.name for section in SECTIONS}
    known |= {f"kernel {name}": claims_of(name) for name in (*KERNELS, PROVED)}
    known |= {f"head {combination}": _of_head(combination) for combination in combinations()}
    return {subject: values for subject, values in known.items() if values}


def lost(before: Capabilities, after: Capabilities) -> set[str]:
    """What is in `before` and not in `after`, as `subject: value`."""
    return {f"{subject}: {each}" for subject, values in before.items() for each in values - after.get(subject, set())}


def recorded() -> Capabilities:
    """What the file says."""
    lines = [line for line in RECORD.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return {subject: set(values.split()) for subject, values in (line.rsplit(": ", 1) for line in lines)}


def written(known: Capabilities) -> str:
    """The file that says it."""
    return _HEADING + "".join(f"{subject}: {' '.join(sorted(values))}\n" for subject, values in sorted(known.items()))


def small_draw(combination: Combination, paradigm: str) -> Draw:
    """A small head and two images for a paradigm: `joint` is for images of one patch."""
    drawn = _drawn(combination)
    return Draw(drawn.head, drawn.latents[:, :1], drawn.tolerance) if PARADIGMS[paradigm].one_patch else drawn


@cache
def _drawn(combination: Combination) -> Draw:
    return draw(combination, 0, 2, small=True)


def claims_of(kernel: str) -> set[str]:
    """Which claims of stored certificates and documents a kernel proves."""
    claims = set()
    certificate, head, latents = map(_stored, _files("accept/projection-euclidean", "ale.json", "head", "latents"))
    verdict = Auditor(head, latents, kernel).check(certificate, minimality=True)
    claims |= {claim for claim, outcome in verdict.claims.items() if outcome == "proved"}
    certificate, head, witness = map(_stored, _files("witness/euclidean", "ale.json", "head", "witness"))
    if Auditor(head, kernel=kernel).refute(certificate, witness).status is Status.REFUTED:
        claims.add("refutation")
    certificate = _stored("deployment/cdist.ale.json")
    head, latents = map(_stored, _files("deployment/direct", "head", "latents"))
    verdict = Auditor(head, latents, kernel).check(certificate, deployment=Deployment("cdist"))
    claims |= {"deployment"} if verdict.claims.get("deployment") == "proved" else set()
    case = next(case for case in stored("origins") if case.name == "origins/one-of-four")
    claims |= {"origins"} if case.verdict(kernel) == ("PROVED", "") else set()
    document, head, latents = map(_stored, _files("least/two", "least.json", "head", "latents"))
    try:
        proved_least(document, head, latents, kernel)
    except CheckerError:
        return claims
    return claims | {"least"}


def _files(name: str, *kinds: str) -> Iterator[str]:
    for kind in kinds:
        yield f"{name}.{kind}" if "json" in kind else f"{name}.{kind}.safetensors"


def _stored(name: str) -> bytes:
    return (ROOT / "certificates" / name).read_bytes()


def _of_commands(path: str, command: click.Command) -> Iterator[tuple[str, set[str]]]:
    """The subcommands of a command, its arguments, its options, and the values that an option takes."""
    context = click.Context(command)
    if isinstance(command, click.Group):
        names = command.list_commands(context)
        yield f"commands of {path}", set(names)
        for name in names:
            below = command.get_command(context, name)
            assert below is not None
            yield from _of_commands(f"{path} {name}", below)
        return
    options = [parameter for parameter in command.params if isinstance(parameter, click.Option)]
    yield f"options of {path}", {name for option in options for name in (*option.opts, *option.secondary_opts)}
    for option in options:
        values = {item.value for item in option.shell_complete(context, "") if item.type == "plain"}
        if values:
            yield f"values of {path} {option.opts[0]}", values


def _of_head(combination: Combination) -> set[str]:
    """The paradigms of a head."""
    has = set()
    for name in PARADIGMS:
        drawn = small_draw(combination, name)
        try:
            Batches(drawn.head, drawn.latents[:0], SearchOptions(name))
        except VeraleError:
            continue
        has.add(name)
    return has


if __name__ == "__main__":
    torch.set_num_threads(1)
    now = capabilities()
    if "--write" in sys.argv[1:]:
        RECORD.write_text(written(now), encoding="utf-8")
    else:
        before = recorded()
        changes = [f"lost {each}" for each in sorted(lost(before, now))] + [f"new {each}" for each in lost(now, before)]
        sys.exit("\n".join(changes) or None)
