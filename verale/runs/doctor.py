"""Diagnosis: what is installed, what works, and what is missing for the rest. Needs only the core packages."""

from __future__ import annotations

import json
import platform
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from time import perf_counter

from verale.errors import VeraleError, first_line
from verale.files import read
from verale.version import __version__, installing

SAMPLE = Path(__file__).parent / "sample"
"""A certificate of a packaged digit, with its head and latents."""

_GIVES = {
    "all": "everything that users need",
    "cabrnet": "from images to certificates: verale explain --checkpoint-dir",
    "explain": "certificates from heads and latents: verale explain, refute, demo, head",
    "ray": "many machines: --engine ray",
    "report": "pages and figures: verale report",
    "soundness": "lemmas: verale soundness",
    "vnnlib": "questions to other tools: verale export vnnlib",
}
"""What each extra is for. Which extras exist, and what they need, is read from the installed distribution."""


@dataclass(frozen=True)
class Package:
    """A distribution: its name, the versions allowed, and the version installed; None if it is not installed."""

    name: str
    needs: str
    version: str | None


@dataclass(frozen=True)
class Extra:
    """An extra: what it gives, which packages it needs, which are missing, and the command that installs them."""

    name: str
    gives: str
    packages: tuple[Package, ...]
    missing: tuple[str, ...]
    remedy: str


@dataclass(frozen=True)
class Device:
    """A device of torch: whether it computes as proofs need it (`verale.rounding.device`), and what it is or does."""

    name: str
    usable: bool
    detail: str


@dataclass(frozen=True)
class KernelCheck:
    """A kernel of the checker, tried on the packaged certificate and on a wrong one; whether audits can do without."""

    kernel: str
    works: bool
    detail: str
    seconds: float
    optional: bool = False


@dataclass(frozen=True)
class Diagnosis:
    """Everything that `diagnose` has determined; `place` is the directory of the package."""

    verale: str
    place: str
    python: str
    system: str
    core: tuple[Package, ...]
    extras: tuple[Extra, ...]
    devices: tuple[Device, ...]
    proofs: tuple[KernelCheck, ...]

    @property
    def works(self) -> bool:
        """Whether certificates can be audited."""
        return all(package.version for package in self.core) and all(
            proof.works or proof.optional for proof in self.proofs
        )


def diagnose() -> Diagnosis:
    """Examine the installation. Never raises; what does not work is reported."""
    core, extras = _requirements()
    return Diagnosis(
        *(__version__, str(Path(__file__).parents[1]), platform.python_version(), platform.platform()),
        *(core, extras, tuple(_devices()), (_prove("arb"), _prove("mpmath"), _prove("proved", optional=True))),
    )


def _requirements() -> tuple[tuple[Package, ...], tuple[Extra, ...]]:
    """The core packages and the extras that the installed distribution declares."""
    try:
        requirements = metadata.requires("verale") or []
        extras = metadata.metadata("verale").get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:
        return (), ()
    packages: dict[str, list[Package]] = {name: [] for name in ("", *extras)}
    for requirement in requirements:
        needs, _, marker = requirement.partition(";")
        extra = re.search(r"extra\s*==\s*['\"]([^'\"]+)['\"]", marker)
        name = re.match(r"[\w.-]+", needs.strip())
        if name is not None and name[0] != "verale":
            limits = re.sub(r"^\[[^]]*\]", "", needs.strip()[name.end() :]).strip(" ()")
            version = None
            with suppress(metadata.PackageNotFoundError):
                version = metadata.version(name[0])
            packages.setdefault(extra[1] if extra else "", []).append(Package(name[0], limits, version))
    return tuple(packages.pop("")), tuple(
        Extra(
            *(name, _GIVES.get(name, ""), tuple(needed)),
            missing=tuple(dict.fromkeys(package.name for package in needed if package.version is None)),
            remedy=installing(name),
        )
        for name, needed in sorted(packages.items())
    )


def _devices() -> Iterator[Device]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import torch
    except Exception as error:  # a broken installation can raise anything
        missing = isinstance(error, ModuleNotFoundError) and error.name == "torch"
        yield Device("cpu", False, "torch is not installed" if missing else f"torch is broken: {first_line(error)}")
        return
    yield _tried("cpu", f"torch {torch.__version__}, {torch.get_num_threads()} threads")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    for index in range(count):
        properties = torch.cuda.get_device_properties(index)
        yield _tried(f"cuda:{index}", f"{properties.name}, {properties.total_memory / 2**30:.0f} GiB")
    if not count:
        reason = "no CUDA device was found" if torch.version.cuda else "this torch is built without CUDA"
        yield Device("cuda", False, first_line(caught[0].message) if caught else reason)


def _tried(name: str, what: str) -> Device:
    """A device, examined."""
    try:
        from verale.rounding import device

        wrong = list(device.failures(name))
    except Exception as error:  # a driver can raise anything
        return Device(name, False, f"{what}: {first_line(error)}")
    return Device(name, not wrong, "; ".join([what, *wrong]))


def _prove(kernel: str, optional: bool = False) -> KernelCheck:
    """Audit the packaged certificate, and a copy without its first statement, which must not be proved."""
    from verale.checker import Auditor, CheckerError, Status

    start = perf_counter()
    try:
        data = read(SAMPLE / "0.ale.json", "the packaged certificate")
        latents = read(SAMPLE / "latents.safetensors", "the packaged latents")
        auditor = Auditor(read(SAMPLE / "head.safetensors", "the packaged head"), latents, kernel)
        tampered = json.loads(data)
        del tampered["predicate"]["statements"][0]
        verdicts = auditor.check(data), auditor.check(json.dumps(tampered).encode())
    except (CheckerError, VeraleError, ImportError) as error:
        why = first_line(error).removeprefix(f"kernel {kernel}: ")
        return KernelCheck(kernel, False, why, perf_counter() - start, optional)
    works = verdicts[0].status is Status.PROVED and verdicts[1].status is Status.NOT_PROVED
    detail = f"{verdicts[0].status.value}; without one of its statements {verdicts[1].status.value}"
    if verdicts[0].status is not Status.PROVED:
        detail = verdicts[0].message
    if auditor.packages:
        detail += f"; by {' and '.join(auditor.packages)}"
    if auditor.executable is not None:
        detail += f"; {auditor.executable.path}{auditor.executable.variable and f' ({auditor.executable.variable})'}"
    return KernelCheck(kernel, works, detail, perf_counter() - start, optional)
