"""Who can prove: the names that a user chooses from.

`proved` asks the program extracted from Rocq (`proved`). The other two are the reading, with either of two libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .errors import KernelError

if TYPE_CHECKING:
    from .arithmetic import Arithmetic

KERNELS = ("arb", "mpmath")
PROVED = "proved"
VARIABLE = "VERALE_PROVED"
"""The environment variable that names the program which `proved` asks."""
EITHER = "proved-or-arb"
"""The default: each claim is proved by `proved`, or by `arb` where that does not prove it or is not there; a verdict
says by which (`by`)."""
CHOICES: dict[str, tuple[str, ...]] = {
    EITHER: (PROVED, "arb"),
    **{name: (name,) for name in (PROVED, *KERNELS)},
    "both": KERNELS,
    "all": (*KERNELS, PROVED),
}
"""What a user can choose, and the kernels that it asks. What is proved is what each of them proves, but for
`EITHER`."""


def program_in_words(checker: Mapping[str, Any]) -> str:
    """Which program the kernel `proved` asked, by a record's `run.checker`: the environment variable that names it, or
    `JavaScript`; "" for verale's own executable."""
    return str(checker.get("variable") or checker.get("language") or "")


def in_words(name: str, program: str = "") -> str:
    """What proved, by the name of a choice that asks for all of its kernels, or of one kernel.

    Args:
        program: which one was asked (`program_in_words`).
    """
    proved = f"the proved checker ({program})" if program else "the proved checker"
    *others, last = (proved if each == PROVED else each for each in CHOICES[name])
    return f"{', '.join(others)} and {last}" if others else last


def packages_of(name: str) -> tuple[str, ...]:
    """What a kernel but `proved` computes with. That of the default is loaded only where it is asked: here it is looked
    for. Raises KernelError as `load_arithmetic`."""
    if name == "arb" and find_spec("flint") is not None:
        return ("python-flint",)
    return load_arithmetic(name).packages


def load_arithmetic(name: str) -> Arithmetic:
    """That of the name `arb` or `mpmath`. Raises KernelError if it is unknown or not installed."""
    try:
        if name == "arb":
            from .arb import Arb

            return Arb()
        if name == "mpmath":
            from .series import Mpmath

            return Mpmath()
    except ImportError as error:
        package = {"arb": "python-flint", "mpmath": "mpmath"}[name]
        raise KernelError(f"kernel {name} needs {package} ({error}): install it, or choose the other kernel") from error
    raise KernelError(f"kernel {name!r} is unknown, expected one of {', '.join(CHOICES)}")
