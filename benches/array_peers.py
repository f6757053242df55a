"""The functions of `benches/arrays` in PyTorch and JAX, on one thread, in double precision.

By itself it prints a table of medians. `cargo bench --bench arrays` runs it with `--serve`, if `PULLBACK_PEERS` names a Python
that has both libraries, and asks for one sample after another between samples of its own: a line `library case calls`, answered
by the seconds that so many calls of value and gradient took.
"""

import os
import statistics
import sys
import time

for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
    os.environ.pop(name, None)
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
import torch

jax.config.update("jax_enable_x64", True)
torch.set_num_threads(1)


def waves(lib):
    return lambda x: lib.sin(lib.cos(lib.exp(x))).sum()


def affine(lib):
    return lambda x, w, b: lib.tanh(x * w + b).sum()


def kron(lib):
    return lambda a, b: lib.kron(a, b).sum()


def network(relu):
    return lambda w2, w1, x, y: ((y - w2 @ relu(w1 @ x)) ** 2).sum()


def layers(lib):
    def f(x, w1, b1, w2, b2):
        hidden = lib.tanh(x @ w1 + b1)
        return lib.tanh(hidden @ w2 + b2).sum()

    return f


def cross_entropy(log_softmax):
    return lambda x: -log_softmax(x, 1)[:, 0].sum()


def norm_torch(x, gain, bias):
    return torch.nn.functional.layer_norm(x, x.shape[1:], gain, bias, 1e-5).square().sum()


def norm_jax(x, gain, bias):
    centred = x - x.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    return ((centred / jnp.sqrt(variance + 1e-5) * gain + bias) ** 2).sum()


def product(a, b):
    return (a @ b).sum()


def determinant_torch(a):
    n = a.shape[0]
    return torch.logdet(a @ a.T + n * torch.eye(n, dtype=a.dtype))


def determinant_jax(a):
    n = a.shape[0]
    return jnp.linalg.slogdet(a @ a.T + n * jnp.eye(n))[1]


# Name: PyTorch, JAX, shapes of the arguments.
CASES = {
    "sin-cos-exp-10": (waves(torch), waves(jnp), [(10, 10)]),
    "sin-cos-exp-1000": (waves(torch), waves(jnp), [(1000, 1000)]),
    "affine-tanh-1000": (affine(torch), affine(jnp), [(1000, 1000), (1000,), (1000,)]),
    "kron-20-40": (kron(torch), kron(jnp), [(20, 20), (40, 40)]),
    "simple-mlp": (network(torch.relu), network(jax.nn.relu), [(128, 256), (256, 128), (128, 70), (128, 70)]),
    **{
        f"tanh-mlp-{d}": (layers(torch), layers(jnp), [(16, d), (d, d), (d,), (d, d), (d,)])
        for d in (16, 64, 256, 1024)
    },
    "cross-entropy": (cross_entropy(torch.log_softmax), cross_entropy(jax.nn.log_softmax), [(256, 1000)]),
    "layer-norm": (norm_torch, norm_jax, [(256, 1024), (1024,), (1024,)]),
    "matmul-16-32-8": (product, product, [(16, 32), (32, 8)]),
    "cholesky-logdet": (determinant_torch, determinant_jax, [(128, 128)]),
}


def by_torch(function, arrays):
    leaves = [torch.tensor(array, requires_grad=True) for array in arrays]

    def run():
        for leaf in leaves:
            leaf.grad = None
        function(*leaves).backward()

    return run


def by_jax(function, arrays):
    compiled = jax.jit(jax.value_and_grad(function, argnums=tuple(range(len(arrays)))))
    arguments = [jnp.asarray(array) for array in arrays]
    return lambda: jax.block_until_ready(compiled(*arguments))


def contenders(name):
    of_torch, of_jax, shapes = CASES[name]
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    return {"torch": by_torch(of_torch, arrays), "jax": by_jax(of_jax, arrays)}


def seconds(run, calls):
    """The time of the process, that of all its threads, or that of the clock on the wall, if that is less."""
    wall, own = time.perf_counter(), time.process_time()
    for _ in range(calls):
        run()
    return min(time.perf_counter() - wall, time.process_time() - own)


def serve():
    made = {}
    for line in sys.stdin:
        library, name, calls = line.split()
        if name not in made:
            made[name] = contenders(name)
        print(repr(seconds(made[name][library], int(calls))), flush=True)


def table():
    print(f"torch {torch.__version__}, jax {jax.__version__}: value and gradient, microseconds")
    for name in CASES:
        for library, run in contenders(name).items():
            run()
            samples = [seconds(run, 1)]
            while sum(samples) < 0.5 or len(samples) < 5:
                samples.append(seconds(run, 1))
            print(f"{name:20} {library:6} {statistics.median(samples) * 1e6:12.1f}", flush=True)


if __name__ == "__main__":
    serve() if "--serve" in sys.argv else table()
