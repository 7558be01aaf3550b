"""What is installed, what works, and what would have to be installed for the rest. Needs nothing but the core."""

from __future__ import annotations

import json
import platform
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from time import perf_counter

from verale.errors import VeraleError, first_line
from verale.files import read
from verale.version import __version__

__all__ = ["PROOF", "Device", "Diagnosis", "Extra", "Package", "Proof", "diagnose"]

PROOF = Path(__file__).parent / "sample"
"""A certificate of a packaged digit, with its head and latents."""

_GIVES = {
    "all": "everything that users need",
    "cabrnet": "from images to certificates: verale explain --checkpoint-dir",
    "docs": "the documentation: make docs",
    "explain": "certificates from heads and latents: verale explain, refute, demo, head",
    "fuzz": "fuzzing of the checker: make fuzz",
    "ray": "many machines: --engine ray",
    "report": "pages and figures: verale report",
    "soundness": "lemmas and property tests: verale soundness",
    "test": "the test suite: make test",
}
"""What extras are for; which there are, and what they need, is read from the installed distribution."""


@dataclass(frozen=True)
class Package:
    """A distribution: its name, the requirement on its version, and the version installed, None if it is not."""

    name: str
    needs: str
    version: str | None


@dataclass(frozen=True)
class Extra:
    """An extra: what it gives, what it needs, what of that is missing, and the command that installs it."""

    name: str
    gives: str
    packages: tuple[Package, ...]
    missing: tuple[str, ...]
    remedy: str


@dataclass(frozen=True)
class Device:
    """A device of torch: whether float64 tensors can be computed with there, tried, and what it is or why not."""

    name: str
    usable: bool
    detail: str


@dataclass(frozen=True)
class Proof:
    """What a kernel of the checker says of the packaged certificate, and whether it tells it from a wrong one."""

    kernel: str
    works: bool
    detail: str
    seconds: float


@dataclass(frozen=True)
class Diagnosis:
    """All of it."""

    verale: str
    place: str
    python: str
    system: str
    core: tuple[Package, ...]
    extras: tuple[Extra, ...]
    devices: tuple[Device, ...]
    proofs: tuple[Proof, ...]

    @property
    def works(self) -> bool:
        """Whether certificates can be audited."""
        return all(package.version for package in self.core) and all(proof.works for proof in self.proofs)


def diagnose() -> Diagnosis:
    """Look. Raises nothing: what does not work is told."""
    core, extras = _requirements()
    return Diagnosis(
        *(__version__, str(Path(__file__).parents[1]), platform.python_version(), platform.platform()),
        *(core, extras, tuple(_devices()), tuple(_prove(kernel) for kernel in ("arb", "mpmath"))),
    )


def _requirements() -> tuple[tuple[Package, ...], tuple[Extra, ...]]:
    """Core and extras, as the installed distribution states them."""
    try:
        stated, named = metadata.requires("verale") or [], metadata.metadata("verale").get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return (), ()
    packages: dict[str, list[Package]] = {name: [] for name in ("", *named)}
    for requirement in stated:
        needs, _, marker = requirement.partition(";")
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", marker)
        name = re.match(r"[\w.-]+", needs.strip())
        if name is not None and name[0] != "verale":
            limits = re.sub(r"^\[[^]]*\]", "", needs.strip()[name.end() :]).strip(" ()")
            packages.setdefault(extra[1] if extra else "", []).append(Package(name[0], limits, _version(name[0])))
    return tuple(packages.pop("")), tuple(
        Extra(
            *(name, _GIVES.get(name, ""), tuple(needed)),
            missing=tuple(package.name for package in needed if package.version is None),
            remedy=f"pip install 'verale[{name}]'",
        )
        for name, needed in sorted(packages.items())
    )


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _devices() -> Iterator[Device]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch
    except Exception as error:  # missing, or whatever a broken installation raises
        missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        yield Device("cpu", False, "torch is not installed" if missing else f"torch is broken: {first_line(error)}")
        return
    yield _tried("cpu", f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for index in range(count):
        properties = torch.cuda.get_device_properties(index)
        yield _tried(f"cuda:{index}", f"{properties.name}, {properties.total_memory / 2**30:.0f} GiB")
    if not count:
        built = "no CUDA device was found" if torch.version.cuda else "this torch is built without CUDA"
        yield Device("cuda", False, first_line(told[0].message) if told else built)


def _tried(name: str, what: str) -> Device:
    """A device, after a computation there whose result is known."""
    import torch

    try:
        total = float(torch.full((8,), 0.1, dtype=torch.float64, device=name).cumsum(0)[-1])
    except Exception as error:  # whatever a driver raises
        return Device(name, False, f"{what}: {first_line(error)}")
    good = abs(total - 0.8) < 1e-12
    return Device(name, good, what if good else f"{what}: eight times 0.1 is {total} there")


def _prove(kernel: str) -> Proof:
    """Audit the packaged certificate, and the same without its first statement, which must not be proved."""
    from verale.checker import Auditor, CheckerError, Status

    start = perf_counter()
    try:
        data = read(PROOF / "0.ale.json", "the packaged certificate")
        latents = read(PROOF / "latents.safetensors", "the packaged latents")
        auditor = Auditor(read(PROOF / "head.safetensors", "the packaged head"), latents, kernel)
        tampered = json.loads(data)
        del tampered["predicate"]["statements"][0]
        verdicts = auditor.check(data), auditor.check(json.dumps(tampered).encode())
    except (CheckerError, VeraleError, ImportError) as error:
        return Proof(kernel, False, first_line(error), perf_counter() - start)
    works = verdicts[0].status is Status.PROVED and verdicts[1].status is Status.NOT_PROVED
    told = f"{verdicts[0].status.value}; without one of its statements {verdicts[1].status.value}"
    return Proof(kernel, works, told, perf_counter() - start)
