"""The errors that the checker raises, also to say that a step fails.

A message says what is wrong, what was expected and what to do.
"""

from __future__ import annotations


class CheckerError(Exception):
    """Root of every error that the checker raises on purpose."""


class HeadError(CheckerError):
    """A head file that breaks a rule of certificates/v1.md: no verdict is possible."""


class LatentsError(CheckerError):
    """A latents file that breaks a rule of certificates/v1.md, or does not fit the head."""


class NetworkError(CheckerError):
    """A network file that breaks a rule of certificates/network-v1.md, or does not fit the head."""


class PictureError(CheckerError):
    """A picture that breaks a rule of certificates/network-v1.md, or does not fit the network."""


class KernelError(CheckerError):
    """An arithmetic kernel that is unknown or not installed."""


class OptionError(CheckerError):
    """An option of an audit that cannot be used."""


class ExecutableError(CheckerError):
    """The executable of the kernel `proved` died, or said what is no answer: there is no verdict."""


class FormatError(CheckerError):
    """Bytes that break a rule of their format: JSON, safetensors or certificate."""


class UnprovedError(CheckerError):
    """A claim that is not proved.

    Attributes:
        reason: `subject`, `limit`, `instance`, `picture`, `entailment`, `margin`, `minimality`, `deployment`,
            `kernels`, `witness` or `uncovered`.
        false: whether the contrary is certain, so that no kernel may prove the claim.
        spent: whether the processor time that is allowed has passed, so that no other kernel is asked.
    """

    def __init__(self, reason: str, message: str, false: bool = False, spent: bool = False) -> None:
        super().__init__(message)
        self.reason = reason
        self.false = false
        self.spent = spent


class RefutedError(CheckerError):
    """Latents that satisfy every statement and are classified otherwise."""
