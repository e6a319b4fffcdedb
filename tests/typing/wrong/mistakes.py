"""What a type checker finds in a user's code; each marked line, and no other, is an error."""

from shapedsl import Tensor, load, shapes, where
from shapedsl.dims import B


@shapes(hints={"B": "8"})  # error
def hint(x: Tensor[B]) -> Tensor[B]:
    return x.no_such_method()  # error


@where(3)  # error
def predicate(x: Tensor[B]) -> Tensor[B]:
    return 3  # error


predicate("x")  # error
load(3)  # error
