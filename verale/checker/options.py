"""Who can prove, and the options of an audit, each declared once: command lines, keywords, their defaults and help are
made from them.

The kernel `proved` asks the program extracted from Rocq (`proved`). The other two are the reading, with either of two
libraries.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from .deployment import FORMULAS, Deployment, parse_deployment
from .errors import KernelError, OptionError
from .limit import LIMIT, wrong_limit

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
    """What proved, by the name of a choice that asks for all of its kernels, or of one kernel; and the program that was
    asked (`program_in_words`)."""
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


PREPARED = ("kernel", "limit")
"""The fields with which an auditor is prepared: they are the same for all certificates that it checks."""


@dataclass(frozen=True)
class AuditOptions:
    """Who proves, what is to be proved, and how long a proof may take. The help of each field says what it means.

    Raises:
        KernelError: an unknown kernel.
        OptionError: a limit that cannot be used, or a deployment that is no `Deployment`.
    """

    kernel: str = field(
        default=EITHER,
        metadata={
            "help": "Which checker proves: the proved one where it is installed, and arb what that does not cover; or"
            " arb, mpmath, proved; both: arb and mpmath, only what each of them proves; all: the same of all three.",
            "metavar": "NAME",
            "choices": tuple(CHOICES),
        },
    )
    minimality: bool = field(
        default=False,
        metadata={"help": "Also prove, where claimed, that no statement can be dropped by the reference ranges."},
    )
    entailment_only: bool = field(
        default=False,
        metadata={
            "help": "Accept certificates that name no latents, though perhaps no latents satisfy their statements."
        },
    )
    deployment: Deployment | None = field(
        default=None,
        metadata={
            "help": "Also prove that float32 gives the class, with squared distances by direct, expanded or cdist.",
            "metavar": "NAME",
            "choices": FORMULAS,
            "ulps": "How far float32's functions may be off; by default log=4,exp=4,sqrt=1.",
        },
    )
    limit: float = field(
        default=LIMIT,
        metadata={
            "help": "The most processor time of a proof, in seconds for each MB of files.",
            "metavar": "SECONDS",
            "type": float,
        },
    )

    def __post_init__(self) -> None:
        if self.kernel not in CHOICES:
            raise KernelError(f"kernel {self.kernel!r} is unknown, expected one of {', '.join(CHOICES)}")
        wrong = wrong_limit(self.limit)
        if wrong is not None:
            raise OptionError(wrong)
        if self.limit == LIMIT:  # records of the default say 30, never 30.0
            object.__setattr__(self, "limit", LIMIT)
        if self.deployment is not None and not isinstance(self.deployment, Deployment):
            raise OptionError(f"deployment is {self.deployment!r}, expected a Deployment")

    @classmethod
    def of(cls, options: AuditOptions | str | None = None, fields: Mapping[str, Any] | None = None) -> AuditOptions:
        """Options, with other values of some fields.

        Args:
            options: the options; or the name of a kernel; None for the defaults.
            fields: values by name, None for a default. `deployment` may be the name of a formula, with `ulps` beside
                it, such as "log=4,exp=4".

        Raises:
            KernelError, OptionError: a value that cannot be used.
            TypeError: another name.
        """
        given = {name: value for name, value in (fields or {}).items() if value is not None}
        ulps, deployment = given.pop("ulps", None), given.get("deployment")
        if ulps is not None or isinstance(deployment, str):
            try:
                given["deployment"] = parse_deployment(deployment, ulps)
            except (TypeError, ValueError) as error:
                raise OptionError(f"deployment: {error}") from error
        base = options if isinstance(options, AuditOptions) else cls() if options is None else cls(options)
        return replace(base, **given)

    def asking(self, claims: Mapping[str, Any]) -> AuditOptions:
        """The same with other claims to prove. Raises OptionError for fields with which an auditor is prepared."""
        for name in PREPARED:
            if name in claims:
                raise OptionError(f"{name} is the auditor's own; make another auditor")
        return AuditOptions.of(self, claims)

    @property
    def in_vain(self) -> str | None:
        """Why these kernels never prove the deployment that is asked for; None if they may. So nobody waits for all
        the other proofs in vain."""
        if self.kernel == EITHER or PROVED not in CHOICES[self.kernel] or self.deployment is None:
            return None
        return (
            f"deployment is not covered by the proof of the kernel {PROVED}, which"
            f" kernel {self.kernel} asks; leave it out, or choose one of {EITHER}, {', '.join(KERNELS)}, both"
        )
