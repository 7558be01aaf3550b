"""The wall: checking a certificate loads the standard library and the kernel's package, nothing else.

The last test proves that the first can fail.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from support import files
from support.proved import fake

import verale.checker

ROOT = Path(verale.checker.__file__).parents[2]
FORBIDDEN = {"torch", "numpy", "scipy", "safetensors", "click", "rich", "PIL", "yaml", "hypothesis"}


def trespassers(module: str, folder: Path, call: str, path: list[Path]) -> set[str]:
    """What is loaded, against the rule, once `module` is imported and `call` has run in a fresh interpreter."""
    script = folder / "probe.py"
    script.write_text(
        textwrap.dedent(f"""
            import sys
            sys.path[:0] = {[str(each) for each in path]!r}
            import {module}
            {call}
            print("\\n".join(sys.modules))
        """)
    )
    result = subprocess.run([sys.executable, "-I", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(result.stdout.split())
    assert module in loaded
    return {
        name
        for name in loaded
        if name.split(".")[0] in FORBIDDEN or (name.startswith("verale.") and name.split(".")[1] != "checker")
    }


def written(folder: Path) -> str:
    """A call that checks a proved certificate with every paradigm's files in the folder."""
    image = [[0.5, 0.25], [0.75, 0.5]]
    data = files.head([[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.25], [9.0, 9.0]], [1.0, 0.0])
    certificate = files.certificate(
        data, [files.patch_statement(0, 0, 0.0, 0.0)], patches=2, image=image, minimality=True
    )
    for name, content in (("head", data), ("certificate", certificate), ("latents", files.latents([image]))):
        (folder / name).write_bytes(content)
    read = "*(open(f'{folder}/{name}', 'rb').read() for name in ('certificate', 'head', 'latents'))"
    return f"folder = {str(folder)!r}; assert verale.checker.check({read}, kernel=kernel).exit_code == 0"


@pytest.mark.parametrize(
    ("kernel", "absent"),
    [
        ("arb", ["mpmath", "verale.checker.proved"]),
        ("mpmath", ["flint"]),
        ("both", ["verale.checker.proved"]),
        ("all", []),
        ("proved", ["mpmath", "flint", "verale.checker.reading"]),
        (
            "proved-or-arb",
            [
                *("flint", "verale.checker.arithmetic", "verale.checker.numbers"),
                *("verale.checker.read.network_file", "verale.checker.read.pictures"),
            ],
        ),
    ],
)
def test_the_checker_stands_alone_and_loads_what_is_asked(
    kernel: str, absent: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VERALE_PROVED", fake(tmp_path, "return None if question == 'head' else 'proved'"))
    call = f"kernel = {kernel!r}; {written(tmp_path)}; assert not {set(absent)!r} & {{*sys.modules}}"
    assert trespassers("verale.checker", tmp_path, call, [ROOT]) == set()


@pytest.mark.parametrize("intruder", ["numpy", "verale.certificate"])
def test_an_intruder_is_caught(intruder: str, tmp_path: Path) -> None:
    (tmp_path / "leaky.py").write_text(f"import verale.checker\nimport {intruder}\n")
    outcome = trespassers("leaky", tmp_path, "", [tmp_path, ROOT])
    assert intruder in outcome
