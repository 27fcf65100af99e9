"""JSON Schema for inputs and results, made from their annotations."""

from __future__ import annotations

from collections.abc import Mapping

from evoca.operations.inputs import Input

JsonSchema = dict[str, object]


def input_schema(model: type[Input]) -> JsonSchema:
    raise NotImplementedError


def output_schema(result: type[Mapping[str, object]]) -> JsonSchema:
    raise NotImplementedError
