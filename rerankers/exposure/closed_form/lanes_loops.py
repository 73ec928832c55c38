"""Four float64 numbers as one value of compiled loops.

The compiler is not allowed to assume that arrays do not overlap, so that it would work on nodes one after the other.
Here it is told which numbers belong together: `Lanes` are a vector register wherever the processor has them. ``+``,
``*`` and ``-`` work on them as on numbers, each result rounded once, and the order of sums is fixed.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from rerankers.exposure.closed_form.sweep import LANES

if TYPE_CHECKING:
    from collections.abc import Callable

    Code = tuple[Any, Callable[[Any, Any, Any, list[Any]], Any]]

_VECTOR = ir.VectorType(ir.DoubleType(), LANES)


class Lanes(types.Type):
    """The type of `LANES` numbers."""


_LANES = Lanes("Lanes")
register_model(Lanes)(lambda manager, kind: models.PrimitiveModel(manager, kind, _VECTOR))


def _arithmetic(symbol: Any, instruction: str) -> None:
    """Let an operator work on lanes."""

    def typer(context: Any) -> Callable[[Any, Any], Any]:
        return lambda x, y: _LANES if x is y is _LANES else None

    def lower(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
        return getattr(builder, instruction)(*args)

    type_callable(symbol)(typer)
    lower_builtin(symbol, Lanes, Lanes)(lower)


_arithmetic(operator.add, "fadd")
_arithmetic(operator.iadd, "fadd")
_arithmetic(operator.sub, "fsub")
_arithmetic(operator.mul, "fmul")


def _address(context: Any, builder: Any, kind: Any, array: Any, row: Any, column: Any) -> Any:
    """Point at an entry of a contiguous matrix; nothing is checked."""
    view = context.make_array(kind)(context, builder, array)
    width = builder.extract_value(view.shape, 1)
    place = builder.add(builder.mul(row, width), column)
    return builder.bitcast(builder.gep(view.data, [place]), _VECTOR.as_pointer())


def _load(typing: Any, matrix: Any, row: Any, column: Any) -> Code:
    """Read the lanes that begin at an entry of a float64 matrix."""

    def code(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
        return builder.load(_address(context, builder, signature.args[0], *args), align=8)

    return _LANES(matrix, types.intp, types.intp), code


def _put(typing: Any, matrix: Any, row: Any, column: Any, lanes: Any) -> Code:
    """Write lanes from an entry of a float64 matrix on."""

    def code(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
        builder.store(args[3], _address(context, builder, signature.args[0], *args[:3]), align=8)
        return context.get_dummy_value()

    return types.void(matrix, types.intp, types.intp, lanes), code


def _same(typing: Any, number: Any) -> Code:
    """Return one number in all lanes."""

    def code(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
        lanes = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(LANES):
            lanes = builder.insert_element(lanes, args[0], ir.Constant(ir.IntType(32), lane))
        return lanes

    return _LANES(types.float64), code


def _rest(typing: Any, less: Any, power: Any) -> Code:
    """Return e^-a of a ``power`` that is just that and of ``less``, e^-a - 1.

    Above 1/2 it is 1 + less, so that both chances of a document add up to 1 to the last bit, and below 1e-300 it is 0,
    because products with denormal numbers are slow.
    """

    def code(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
        half, one, least, none = (ir.Constant(_VECTOR, [value] * LANES) for value in (-0.5, 1.0, 1e-300, 0.0))
        far = builder.select(builder.fcmp_ordered(">", args[1], least), args[1], none)
        return builder.select(builder.fcmp_ordered(">", args[0], half), builder.fadd(one, args[0]), far)

    return _LANES(less, power), code


def _folded(combine: Callable[[Any, Any, Any], Any]) -> Callable[[Any, Any], Code]:
    def folding(typing: Any, lanes: Any) -> Code:
        def code(context: Any, builder: Any, signature: Any, args: list[Any]) -> Any:
            parts = [builder.extract_element(args[0], ir.Constant(ir.IntType(32), lane)) for lane in range(LANES)]
            while len(parts) > 1:
                parts = [combine(builder, *pair) for pair in zip(parts[::2], parts[1::2], strict=True)]
            return parts[0]

        return types.float64(lanes), code

    return folding


def _larger(builder: Any, x: Any, y: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", x, y), x, y)


load = intrinsic(_load)
put = intrinsic(_put)
same = intrinsic(_same)
rest = intrinsic(_rest)
total = intrinsic(_folded(lambda builder, x, y: builder.fadd(x, y)))
largest = intrinsic(_folded(_larger))
