"""The options of an audit, each declared once: command lines, keywords, their defaults and help are made from them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .choices import CHOICES, EITHER, KERNELS, PROVED
from .deployment import FORMULAS, Deployment, parse_deployment
from .errors import KernelError, OptionError
from .limit import LIMIT, wrong_limit

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
