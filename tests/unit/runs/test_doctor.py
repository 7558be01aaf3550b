"""What the doctor says of installations that lack something, or are broken."""

from __future__ import annotations

import json
import shutil
import sys
from functools import cache
from importlib import metadata
from types import SimpleNamespace

import mpmath
import pytest
import torch
from click.testing import CliRunner
from support.proved import fake

from verale.cli.doctor import command
from verale.runs import doctor
from verale.runs.doctor import SAMPLE, Device, KernelCheck, Package, diagnose
from verale.version import installing

DEVICE = Device("cpu", True, "torch")
REQUIRES = [
    "click>=8.1",
    "rich (>=13.7)",
    "verale[explain]; extra == 'ray'",
    "torch>=2.4; extra == 'explain'",
    "ray[data]>=2.30; extra == 'ray'",
    "atheris>=3.0; (sys_platform == 'linux') and extra == 'fuzz'",
    'nothing-like-it==1; extra == "odd-one"',
]
INSTALLED = {"click": "8.5.1", "rich": "15.0", "torch": "2.13.0"}


def version(name: str) -> str:
    if name not in INSTALLED:
        raise metadata.PackageNotFoundError(name)
    return INSTALLED[name]


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A distribution with these requirements."""
    extras = SimpleNamespace(get_all=lambda field: ["explain", "fuzz", "odd-one", "ray"])
    monkeypatch.setattr(doctor.metadata, "requires", lambda name: REQUIRES)
    monkeypatch.setattr(doctor.metadata, "metadata", lambda name: extras)
    monkeypatch.setattr(doctor.metadata, "version", version)


@pytest.fixture
def only_the_proved_kernel_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the others it is taken to be known that they work: one of the tests below tries them, and that takes time."""

    def proved(kernel: str, optional: bool = False) -> KernelCheck:
        return original(kernel, optional) if optional else KernelCheck(kernel, True, "PROVED", 0.0, optional)

    original = doctor._prove
    monkeypatch.setattr(doctor, "_prove", proved)


@pytest.fixture(autouse=True)
def devices_are_examined_once(request, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the tests that are about devices."""
    if "device" not in request.node.name and "torch" not in request.node.name:
        monkeypatch.setattr(doctor, "_devices", cache(lambda: (DEVICE,)))


@pytest.fixture
def examined_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a test asks for is what the first examination found."""
    monkeypatch.setattr(doctor, "diagnose", cache(diagnose))


def printed(code: int, *arguments: str) -> str:
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.usefixtures("only_the_proved_kernel_is_tried", "examined_once")
def test_extras_are_those_of_the_distribution(installed) -> None:
    diagnosis = doctor.diagnose()
    assert diagnosis.core == (Package("click", ">=8.1", "8.5.1"), Package("rich", ">=13.7", "15.0"))
    extras = {extra.name: extra for extra in diagnosis.extras}
    assert list(extras) == ["explain", "fuzz", "odd-one", "ray"]
    assert extras["explain"].missing == () and extras["fuzz"].missing == ("atheris",)
    assert extras["ray"].packages == (Package("ray", ">=2.30", None),)
    assert extras["ray"].remedy == installing("ray")
    assert extras["odd-one"].gives == "" and extras["odd-one"].missing == ("nothing-like-it",)
    text = printed(0)
    assert "ok explain: certificates" in text and f"without ray; to install it: {installing('ray')}" in text
    assert json.loads(printed(0, "--json"))["extras"][1]["missing"] == ["atheris"]


@pytest.mark.usefixtures("only_the_proved_kernel_is_tried")
def test_an_unknown_distribution_is_told(monkeypatch) -> None:
    def missing(name: str) -> list[str]:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(doctor.metadata, "requires", missing)
    assert "verale is not installed as a distribution" in printed(0)


def test_both_kernels_prove_the_packaged_certificate_and_not_a_wrong_one() -> None:
    proofs = diagnose().proofs[:2]
    assert [(proof.kernel, proof.works) for proof in proofs] == [("arb", True), ("mpmath", True)]
    assert proofs[0].detail.endswith("; by python-flint")
    assert proofs[1].detail.endswith("; by mpmath and gmpy2" if mpmath.libmp.BACKEND == "gmpy" else "; by mpmath")


@pytest.mark.usefixtures("only_the_proved_kernel_is_tried", "examined_once")
@pytest.mark.parametrize(
    ("body", "works", "said"),
    [
        ("return 'proved' if question != 'head' and text.split(' ')[4] == '3' else 'not proved'", True, "ok"),
        ("return 'proved'", False, "--"),
        ("os._exit(1)", False, "--"),
    ],
)
def test_the_proved_kernel_is_tried_where_it_is_there(body, works, said, monkeypatch, tmp_path) -> None:
    """On three statements, and on two. Without it certificates can be audited all the same."""
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, f"if question != 'head':\n    {body}"))
    proof = doctor.diagnose().proofs[2]
    assert (proof.kernel, proof.works, proof.optional) == ("proved", works, True)
    assert f"{said} kernel proved: " in printed(0)
    assert (str(tmp_path / "fake") in proof.detail) and json.loads(printed(0, "--json"))["works"]


@pytest.mark.usefixtures("only_the_proved_kernel_is_tried")
def test_the_proved_kernel_is_not_needed_and_the_doctor_says_how_to_get_it(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("VERALE_PROVED", str(tmp_path / "nowhere"))
    lines = printed(0).splitlines()
    (line,) = [line for line in lines if "kernel proved" in line]
    assert line.startswith(f"  -- kernel proved: there is no executable at {tmp_path / 'nowhere'}; build it with `make")
    assert "libzarith-ocaml-dev" in line and lines[0] == "certificates can be audited"


@pytest.mark.parametrize("kernel", ["flint", "mpmath"])
def test_a_kernel_that_is_not_there(kernel, monkeypatch) -> None:
    for name in [name for name in sys.modules if name in ("verale.checker.arb", "verale.checker.series")]:
        monkeypatch.delitem(sys.modules, name)
    for name in [name for name in (*sys.modules, kernel) if name.split(".")[0] == kernel]:
        monkeypatch.setitem(sys.modules, name, None)
    assert f"-- kernel {kernel.replace('flint', 'arb')}: " in printed(9)


def test_packaged_files_that_are_damaged(monkeypatch, tmp_path) -> None:
    shutil.copytree(SAMPLE, tmp_path / "proof")
    monkeypatch.setattr(doctor, "SAMPLE", tmp_path / "proof")
    (tmp_path / "proof" / "0.ale.json").write_bytes((SAMPLE / "0.ale.json").read_bytes().replace(b"0x1", b"0x2"))
    assert "certificates cannot be audited here" in printed(9)
    (tmp_path / "proof" / "head.safetensors").unlink()
    assert "head.safetensors: there is no such file" in printed(9)
    (tmp_path / "proof" / "0.ale.json").write_bytes(b"{")
    assert not any(proof.works for proof in diagnose().proofs)


@pytest.mark.usefixtures("only_the_proved_kernel_is_tried")
def test_torch_that_is_missing_or_broken(monkeypatch, tmp_path) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)
    assert diagnose().devices == (Device("cpu", False, "torch is not installed"),)
    monkeypatch.delitem(sys.modules, "torch")
    (tmp_path / "torch.py").write_text("raise OSError('libcudart.so: cannot open\\nand so on')")
    monkeypatch.syspath_prepend(tmp_path)
    assert diagnose().devices == (Device("cpu", False, "torch is broken: libcudart.so: cannot open"),)


@pytest.mark.usefixtures("only_the_proved_kernel_is_tried")
def test_devices_are_examined_and_what_fails_is_named(monkeypatch) -> None:
    """One does not work at all, one computes something else, and so does the CPU."""

    def failures(name: str) -> list[str]:
        if name == "cuda:0":
            raise RuntimeError("CUDA error: out of memory\nand so on")
        return ["exp of 1.0 is 2.0", "up of 1.0 is 1.0"] if name == "cuda:1" else ["root of 2.0 is 1.0"]

    properties = SimpleNamespace(name="H0", total_memory=8 * 2**30)
    monkeypatch.setattr("verale.rounding.device.failures", failures)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda index: properties)
    cpu, *others = diagnose().devices
    assert not cpu.usable and cpu.detail.endswith("; root of 2.0 is 1.0")
    assert others == [
        Device("cuda:0", False, "H0, 8 GiB: CUDA error: out of memory"),
        Device("cuda:1", False, "H0, 8 GiB; exp of 1.0 is 2.0; up of 1.0 is 1.0"),
    ]
