"""Writes reference.txt, the values that the special functions are measured against. Needs mpmath.

A row is: function, arguments, the value rounded to double precision.
"""
import math
import random

from mpmath import mp, mpf
import mpmath as m

mp.prec = 600
random.seed(1)


def power(low, high):
    return math.exp(random.uniform(math.log(low), math.log(high)))


def spread(low, high, count=40):
    return [power(low, high) for _ in range(count)]


def between(low, high, count=40):
    return [random.uniform(low, high) for _ in range(count)]


def quantile(p):
    # Newton's steps from a bracket, at full precision.
    f = lambda z: m.erfc(-z / m.sqrt(2)) / 2 - p
    low, high = mpf(-40), mpf(40)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    z = low
    for _ in range(8):
        z -= f(z) * m.sqrt(2 * m.pi) * m.exp(z * z / 2)
    return z


def scaled(n, x):
    return m.exp(-abs(x)) * m.besseli(n, x)


POSITIVE = spread(1e-10, 1e-2) + spread(1e-2, 10, 80) + spread(10, 170) + [1.0, 2.0, 0.5, 1.5]
NEGATIVE = [-x for x in between(0.01, 20, 60)]
LARGE = spread(170, 1e12)
STABLE = [s * x for s in (1, -1) for x in (1e-8, 0.1, 1, 10, 37, 44, 90, 200, 700)]
BESSEL = spread(1e-9, 1) + spread(1, 30, 60) + spread(30, 600, 60)
ORDERS = [0, 1, 2, 3, 5, 8, 20, 50]

rows = []


def table(name, function, points):
    for point in points:
        point = point if isinstance(point, tuple) else (point,)
        exact = [mpf(x) for x in point]
        value = function(*[int(x) if isinstance(p, int) else x for p, x in zip(point, exact)])
        rows.append(" ".join([name] + [repr(x) for x in point] + [repr(float(value))]))


table("erf", m.erf, between(-6, 6) + spread(1e-10, 1))
table("erfc", m.erfc, between(-6, 26, 60) + spread(1e-10, 1))
table("norm_pdf", lambda x: m.exp(-x * x / 2) / m.sqrt(2 * m.pi), between(-30, 30))
table("norm_cdf", lambda x: m.erfc(-x / m.sqrt(2)) / 2, between(-30, 8, 80) + [1e-8, -1e-8])
table("norm_quantile", quantile, between(0, 1, 60) + spread(1e-300, 0.1, 60) + [0.5 + d for d in (1e-3, 1e-9, -1e-5)] + [1 - 1e-12])
table("gamma", m.gamma, POSITIVE + NEGATIVE)
table("ln_gamma", lambda x: m.log(abs(m.gamma(x))) if x < 1e3 else m.loggamma(x), POSITIVE + LARGE + NEGATIVE)
table("digamma", m.digamma, POSITIVE + LARGE + NEGATIVE)
table("trigamma", lambda x: m.polygamma(1, x), POSITIVE + LARGE + NEGATIVE)
table("polygamma", m.polygamma, [(n, x) for n in (0, 2, 3, 7, 30) for x in between(0.1, 40, 12) + [-x for x in between(0.1, 5, 6)]])
PAIRS = [(power(1e-3, 9), power(1e-3, 9)) for _ in range(40)]
PAIRS += [(power(1e-3, 9), power(10, 1e10)) for _ in range(40)]
PAIRS += [(power(10, 1e10), power(10, 1e10)) for _ in range(40)]
table("ln_beta", lambda a, b: m.loggamma(a) + m.loggamma(b) - m.loggamma(a + b), PAIRS)
table("beta", m.beta, [(power(1e-3, 80), power(1e-3, 80)) for _ in range(60)] + [(power(80, 500), power(1, 500)) for _ in range(20)])
table("j0", m.j0, BESSEL)
table("j1", m.j1, BESSEL)
table("jn", m.besselj, [(n, x) for n in ORDERS for x in spread(0.1, 100, 12)])
table("y0", lambda x: m.bessely(0, x), BESSEL)
table("y1", lambda x: m.bessely(1, x), BESSEL)
table("yn", m.bessely, [(n, x) for n in ORDERS for x in spread(0.5, 100, 12)])
table("i0", lambda x: m.besseli(0, x), BESSEL + [710.0, 713.0])
table("i1", lambda x: m.besseli(1, x), BESSEL + [-x for x in BESSEL[:20]])
table("i_n", m.besseli, [(n, x) for n in ORDERS for x in spread(0.1, 600, 12)])
table("i_n_scaled", scaled, [(n, x) for n in ORDERS + [100] for x in spread(1e-9, 1, 5) + spread(1, 1e5, 20)])
table("sigmoid", lambda x: 1 / (1 + m.exp(-x)), STABLE)
table("softplus", lambda x: m.log1p(m.exp(x)), STABLE)
table("log_sigmoid", lambda x: -m.log1p(m.exp(-x)), STABLE)
table("log1mexp", lambda x: m.log1p(-m.exp(x)), [-x for x in spread(1e-12, 1e-2) + spread(1e-2, 700)] + [-abs(x) for x in STABLE])
table("xlogy", lambda x, y: x * m.log(y), [(power(1e-3, 1e3), power(1e-3, 1e3)) for _ in range(20)])

with open("reference.txt", "w") as file:
    file.write("\n".join(rows) + "\n")
