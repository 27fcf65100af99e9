"""The one validator of raw arguments."""

from __future__ import annotations

from collections.abc import Mapping

from evoca.operations.inputs import Input
from evoca.settings import Limits


class Validator:
    """Checks raw arguments against one input model."""

    def __init__(self, model: type[Input]) -> None:
        self._model = model

    def check(self, raw: Mapping[str, object], limits: Limits) -> Input:
        """The input, or InvalidInput / LimitExceeded naming the field."""
        return self._model.model_validate(dict(raw))
