"""The proved checker beside the other kernels: milliseconds a certificate, interleaved in one run, and its start.

    python -m benchmarks.proved --heads demo,cub-protopnet-40,cub-protopnet-500,cub-protopnet --images 4
    python -m benchmarks.proved --heads demo --command --out /tmp/proved.md

Processor time of this process and of the executable together; reading of certificates and latents is included. The
head is read and told beforehand, once; `told` is how long that takes. A head's aim is what the fastest kernel is to
take. With --command, `verale audit` is run as a user runs it: the processor time and the largest memory of the whole
command, also with the proved checker as JavaScript, and by default.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch

from benchmarks import environment, executable
from benchmarks.engine import subject
from verale.certificate import Certificate
from verale.checker import Auditor
from verale.checker.proved.program import Program, find_executable
from verale.head import save_latents
from verale.search import best_paradigm
from verale.search.explain import explain

KERNELS = ("arb", "mpmath", "proved")
_AS_IT_IS = """
import gc, resource, sys
from pathlib import Path
from verale.cli import main

try:
    main()
except SystemExit:
    gc.collect()
status = Path("/proc/self/status").read_text().split("VmHWM:")[1]
print(max(int(status.split()[0]), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss), file=sys.stderr)
"""
_WITHOUT = (
    """
from verale.checker import KernelError
from verale.checker.proved import program

def nowhere():
    raise KernelError("kernel proved: there is no executable")

program.find_executable = nowhere
"""
    + _AS_IT_IS
)
"""A process of its own in which there is no executable."""
AIMS = {
    "protopnet": 50,
    "gaussian": 50,
    "tesnet": 150,
    "protopool": 100,
    "pipnet": 15,
    "cub-protopnet": 100,
    "cub-cosine": 200,
    "cub-pipnet": 150,
}
"""Milliseconds of a certificate, with latents."""


@dataclass
class Files:
    """What is audited: a head, latents, certificates, in a folder."""

    folder: Path
    head: bytes
    latents: bytes
    certificates: list[bytes]
    statements: float
    about: str


@dataclass
class Timed:
    """Milliseconds of each certificate, by kernel, and of telling the head; the executable's largest memory."""

    milliseconds: dict[str, list[float]] = field(default_factory=lambda: {kernel: [] for kernel in KERNELS})
    told: float = 0.0
    megabytes: float = 0.0
    open: dict[str, int] = field(default_factory=dict)


def explained(name: str, data: Path, images: int, folder: Path) -> Files:
    """A head's certificates, written where `verale audit` finds them."""
    head, latents = subject(name, data, images)
    found = [each for each in explain(head, latents, best_paradigm(head)) if isinstance(each, Certificate)]
    certificates, statements = [each.to_bytes() for each in found], sum(each.size for each in found) / len(found)
    (folder / "certificates").mkdir(parents=True)
    head.save(folder / "head")
    save_latents(folder / "latents", latents)
    for number, certificate in enumerate(certificates):
        (folder / "certificates" / f"{number:03d}.ale.json").write_bytes(certificate)
    about = f"P={head.size}, L={latents.shape[1:].numel() // head.depth}, D={head.depth}, C={head.classes}"
    files = (folder / "head").read_bytes(), (folder / "latents").read_bytes()
    return Files(folder, *files, certificates, statements, about)


class Counted:
    """An auditor whose time is counted, with that of its executable."""

    def __init__(self, files: Files, kernel: str, instance: bool) -> None:
        self.auditor = Auditor(files.head, files.latents if instance else None, kernel)

    def check(self, certificate: bytes) -> tuple[float, str]:
        """Milliseconds, and the verdict."""
        before, child = time.process_time(), executable.seconds(self.auditor)
        verdict = self.auditor.check(certificate, entailment_only=True)
        seconds = time.process_time() - before + executable.seconds(self.auditor) - child
        return 1000 * seconds, verdict.status.value


def timed(files: Files, instance: bool, kernels: list[str], repeat: int) -> Timed:
    """Every certificate in every kernel, in turn. The first one of a kernel pays for what is computed once a head, and
    is audited once more before it counts."""
    found = Timed()
    counted = {kernel: Counted(files, kernel, instance) for kernel in kernels}
    for kernel, auditor in counted.items():
        first, _ = auditor.check(files.certificates[0])
        again, _ = auditor.check(files.certificates[0])
        found.told = max(0.0, first - again) if kernel == "proved" else found.told
    for certificate in files.certificates * repeat:
        for kernel, auditor in counted.items():
            milliseconds, status = auditor.check(certificate)
            found.milliseconds[kernel].append(milliseconds)
            found.open[kernel] = found.open.get(kernel, 0) + (status != "PROVED")
    found.megabytes = executable.megabytes(counted["proved"].auditor) if "proved" in counted else 0.0
    return found


def started(program: Program, times: int = 20) -> float:
    """Milliseconds of wall time from the start of the executable to its end, when nothing is asked; the least."""

    def once() -> float:
        begin = time.perf_counter()
        subprocess.run([program.path], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
        return 1000 * (time.perf_counter() - begin)

    return min(once() for _ in range(times))


def commanded(files: Files, checker: str) -> tuple[float, float, str]:
    """Processor seconds and megabytes of `verale audit` on all certificates, and how many are proved. `script` is the
    proved checker where there is no executable; `default` is what is asked where nobody chooses."""
    given = "--head", str(files.folder / "head"), "--latents", str(files.folder / "latents")
    kernel = {"default": (), "script": ("--kernel", "proved")}.get(checker, ("--kernel", checker))
    command = [sys.executable, "-c", _WITHOUT if checker == "script" else _AS_IT_IS]
    command += ["audit", str(files.folder / "certificates"), *given, *kernel]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stderr is not None
    proved = sum(line.startswith("PROVED ") for line in process.stdout)
    largest = int(process.stderr.read().splitlines()[-1])
    _, _, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime, largest / 1024, f"{proved} of {len(files.certificates)}"


def mean(values: list[float]) -> str:
    return f"{sum(values) / len(values):.1f}" if values else "-"


def rows(given: argparse.Namespace, folder: Path) -> Iterator[str]:
    """The lines of the tables."""
    program = find_executable()
    kernels = given.kernels.split(",")
    yield from environment.listed(environment.describe())
    yield f"- the executable starts and ends in {started(program):.1f} ms"
    yield (
        "\n| head | statements | latents | "
        + " | ".join(f"{kernel}, ms" for kernel in kernels)
        + (" | proved / arb | aim, ms | fastest / aim | head told, ms | executable, MB | not proved |")
    )
    yield "|---" * (9 + len(kernels)) + "|"
    audited = []
    for name in given.heads.split(","):
        files = explained(name, given.data, given.images, folder / name)
        audited.append((name, files))
        for instance in (False, True):
            found = timed(files, instance, kernels, given.repeat)
            took = found.milliseconds
            ratio = sum(took["proved"]) / sum(took["arb"]) if took["proved"] and took["arb"] else float("nan")
            proving = [each for kernel, each in took.items() if each and not found.open[kernel]]
            fastest, aim = min((sum(each) / len(each) for each in proving), default=float("nan")), AIMS.get(name)
            missed = ", ".join(f"{kernel} {count}" for kernel, count in found.open.items() if count) or "-"
            yield (
                f"| {name}: {files.about} | {files.statements:.0f} | {'with' if instance else 'without'} | "
                + " | ".join(mean(took[kernel]) for kernel in kernels)
                + f" | {ratio:.2f} | {aim or '-'} | {f'{fastest / aim:.2f}' if aim else '-'}"
                + f" | {found.told:.0f} | {found.megabytes:.0f} | {missed} |"
            )
    if given.command:
        yield "\n| `verale audit` | checker | processor s | MB | proved |\n|---|---|---:|---:|---|"
        for name, files in audited:
            for checker in ("arb", "proved", "script", "default"):
                seconds, megabytes, proved = commanded(files, checker)
                yield f"| {name} | {checker} | {seconds:.2f} | {megabytes:.0f} | {proved} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--heads",
        default="demo,cub-protopnet,cub-cosine,cub-pipnet",
        help="demo, or of benchmarks.heads, comma separated",
    )
    parser.add_argument("--data", type=Path, default=Path("data"), help="trained heads and latents (default data)")
    parser.add_argument("--images", type=int, default=2, help="number of images a head (default 2)")
    parser.add_argument("--repeat", type=int, default=1, help="how often each certificate is audited (default once)")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="some of arb,mpmath,proved (default all)")
    parser.add_argument("--command", action="store_true", help="also time `verale audit`")
    parser.add_argument("--out", type=Path, help="write the tables here too")
    given = parser.parse_args()
    torch.set_num_threads(1)
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for line in rows(given, Path(folder)):
            print(line, flush=True)
            lines.append(line)
    if given.out is not None:
        title = "# The proved checker beside the other kernels"
        command = " ".join(["python -m benchmarks.proved", *sys.argv[1:]])
        given.out.write_text("\n".join([title, "", f"`{command}`", "", *lines, ""]))


if __name__ == "__main__":
    main()
