"""How a run runs: the options that the commands which take long share, those of its audits, and the device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from verale.checker.errors import KernelError, OptionError
from verale.checker.options import AuditOptions
from verale.errors import UsageError, option
from verale.options import require_known

if TYPE_CHECKING:
    from verale.runs.workers.local import Start

_ENGINES = ("local", "ray")


@dataclass(frozen=True)
class RunOptions:
    """How a run runs; the results do not depend on it. The help of each field says what it means.

    Raises:
        UsageError: a value that cannot be used.
    """

    jobs: int | None = field(
        default=None,
        metadata={
            "help": "Number of processes; by default one for each core, where it is worth it. The bytes are the same.",
            "metavar": "NUMBER",
            "least": 1,
        },
    )
    overwrite: bool = field(
        default=False,
        metadata={"help": "Start again, and remove what an earlier run noted in the folder."},
    )
    skip_unreadable: bool = field(
        default=False,
        metadata={
            "help": "Leave out images and pictures that cannot be read; they are listed at the end, and the exit code"
            " is 18."
        },
    )
    engine: str = field(
        default="local",
        metadata={
            "help": "local: this machine's processes; ray: many cores or machines, for large data (docs/scale.md).",
            "metavar": f"[{'|'.join(_ENGINES)}]",
            "choices": _ENGINES,
        },
    )
    address: str | None = field(
        default=None,
        metadata={
            "help": "With ray: a cluster, as ray.init takes it; by default this machine.",
            "metavar": "ADDRESS",
        },
    )

    def __post_init__(self) -> None:
        if self.jobs is not None and (not isinstance(self.jobs, int) or self.jobs < 1):
            raise UsageError(f"{option('jobs')} is {self.jobs}, expected at least 1")
        if self.address and self.engine != "ray":
            raise UsageError(f"{option('address')} is for {option('engine', 'ray')}: only a cluster has one")

    @property
    def start_cluster(self) -> Start | None:
        """What starts the cluster whose workers do it; None where processes of this machine do."""
        if self.engine != "ray":
            return None
        from verale.runs.workers import ray

        return lambda gpus: ray.start_ray(self.jobs, self.address, gpus)


PROVING = ("kernel", "limit")
"""The options of whoever asks the checker for proofs, but decides what is proved."""


def audit_options(
    options: AuditOptions | str | None = None, fields: Mapping[str, Any] | None = None, only: Iterable[str] = ()
) -> AuditOptions:
    """The options of an audit, as a caller gives them: all, or the name of a kernel, or None for the defaults; other
    values of some, by name; and only those that this audit has, by default all. Raises UsageError: another name, or a
    value that cannot be used."""
    require_known(AuditOptions, fields or (), only, ("ulps",) if not (*only,) else ())
    try:
        made = AuditOptions.of(options, fields)
    except (KernelError, OptionError) as error:
        name, rest = str(error).split(" ", 1)
        raise UsageError(f"{option(name)} {rest}") from error
    for name, value in vars(made).items() if (*only,) else ():
        if name not in only and value != getattr(AuditOptions(), name):
            raise UsageError(f"{option(name)} is for an audit, expected {' and '.join(only)} alone")
    return made


def use_device(name: str) -> None:
    """Examine a device. Torch gets one thread: the tensors are small.

    Raises UsageError: the device cannot be used, or does not compute as proofs need it.
    """
    import torch

    from verale.rounding.device import require_device

    torch.set_num_threads(1)
    require_device("cpu" if name == "auto" else name)
