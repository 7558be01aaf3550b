"""CaBRNet's ProtoPool with an epilogue that runs to its end.

    top_arch: {module: verale.adapters.plugins.protopool, name: ProtoPool}

CaBRNet 1.2 looks up `class_mapping` on the model, which has no such attribute, so its own epilogue stops before it
hardens the slots. It also drops unused prototypes after it has recorded where each came from, so the record is wrong.
"""

from __future__ import annotations

from typing import Any

import cabrnet.archs.protopool.model
from torch import Tensor


class ProtoPool(cabrnet.archs.protopool.model.ProtoPool):
    """ProtoPool: slots hardened, prototypes projected, unused ones dropped, last layer trained on."""

    @property
    def class_mapping(self) -> Tensor:
        """(C, S) the prototype of each slot."""
        mapping: Tensor = self.classifier.class_mapping
        return mapping

    def epilogue(
        self, dataloaders: dict[str, Any], *args: Any, device: Any = "cpu", verbose: bool = False, **kwargs: Any
    ) -> list[dict[str, Any]]:
        """As CaBRNet's epilogue; returns where each remaining prototype comes from."""
        super().epilogue(dataloaders, *args, device=device, verbose=verbose, **kwargs)
        projected: list[dict[str, Any]] = self.project(dataloaders["projection_set"], device=device, verbose=verbose)
        return projected
