from shapedsl import Tensor
from shapedsl.dims import B

def right(x: Tensor[B]) -> Tensor[B]: ...
def wrong(x: Tensor[B]) -> Missing: ...  # error
