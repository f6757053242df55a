"""The network of `benches/cuda.rs` in PyTorch, on a CUDA device, in single precision without TF32.

`cuda_peers.py BATCH D` prints the median time in seconds of a forward and backward pass run eagerly, compiled, and as one CUDA graph; `nan` for
what does not work on this machine, and why on the standard error.
`cargo bench --features cuda --bench cuda` runs it if `PULLBACK_PEERS` names a Python that has PyTorch.
"""

import statistics
import sys
import time
import traceback

import torch

torch.backends.cuda.matmul.allow_tf32 = False


def network(x, w1, b1, w2):
    return torch.tanh(x @ w1 + b1) @ w2


def median(run):
    """As the benchmark does it: with the device waited for at the end of each run."""
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def leaves(batch, d):
    shapes = [(batch, d), (d, d), (d,), (d, d)]
    return [torch.zeros(shape, device="cuda", requires_grad=True) for shape in shapes]


def step(function, arguments, seed):
    def run():
        for argument in arguments:
            argument.grad = None
        function(*arguments).backward(seed)

    return run


def graphed(arguments, seed):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step(network, arguments, seed)()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    for argument in arguments:
        argument.grad = None
    with torch.cuda.graph(graph):
        network(*arguments).backward(seed)
    return graph.replay


def main(batch, d):
    arguments, seed = leaves(batch, d), torch.zeros((batch, d), device="cuda")
    ways = [
        lambda: step(network, arguments, seed),
        lambda: step(torch.compile(network), arguments, seed),
        lambda: graphed(arguments, seed),
    ]
    for way in ways:
        try:
            print(repr(median(way())))
        except Exception:  # Compiling takes a C compiler, for example.
            traceback.print_exc()
            print("nan")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
