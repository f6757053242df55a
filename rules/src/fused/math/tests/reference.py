"""Writes reference.txt, the values that the functions are measured against. Needs mpmath.

A row is: function, arguments, the value rounded to double precision (all as hexadecimal bits), and how much of a unit in the
last place is beyond that, in thousandths.
"""
import math
import random
import struct

from mpmath import mp, mpf
import mpmath as m

mp.prec = 400
random.seed(1)


def bits(x):
    return "%016x" % struct.unpack("<Q", struct.pack("<d", x))[0]


def any_double():
    while True:
        x = struct.unpack("<d", struct.pack("<Q", random.getrandbits(64)))[0]
        if math.isfinite(x):
            return x


def power(low, high):
    return math.exp(random.uniform(math.log(low), math.log(high)))


def sigmoid(x):
    return 1 / (1 + m.exp(-x))


def softplus(x):
    return m.log(1 + m.exp(x)) if x > 0 else m.log1p(m.exp(x))


TINY = [5e-324, 1e-310, 2.2250738585072014e-308, 1e-300, 1e-100, 1e-30, 1e-17, 1e-9, 1e-8, 2.0**-27]
BOTH = TINY + [-x for x in TINY]
NEAR_ONE = [1 + k * 2.0**-52 for k in range(-4, 5)]
HALF_LN2 = [k * math.log(2) / 2 * (1 + j * 2.0**-52) for k in (-3, -1, 1, 3) for j in (-1, 0, 1)]
MULTIPLES = [float(m.pi / 2 * k) for k in (1, 2, 3, 4, 5, 7, 355, 1000, 4097, 99999, 524287, 1048575)]
# The closest to a multiple of π/2 of all numbers below 2²⁰, by continued fractions of π/2 · 2ᵏ.


def closest():
    found = []
    for e in range(-52, -31):
        # Integers p < 2⁵³ with p 2ᵉ next to q π/2: convergents of π/2 · 2⁻ᵉ.
        x = m.pi / 2 / mpf(2) ** e
        p0, q0, p1, q1 = 1, 0, int(m.floor(x)), 1
        while True:
            x = 1 / (x - m.floor(x))
            a = int(m.floor(x))
            p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0
            if p1 >= 2**53 or q1 >= 2**20:
                break
            found.append(math.ldexp(p1, e))
    return [x for x in found if 0.5 < x < 1647099]


ANGLES = MULTIPLES + closest()
EXTREME = [1.7976931348623157e308, 1e300, 1e154, 1e155]
TABLE = {
    "exp": (m.exp, lambda: random.uniform(-745, 709.7), BOTH + HALF_LN2 + [709.782712893384, -745.1, -708.4]),
    "exp2": (lambda x: mpf(2) ** x, lambda: random.uniform(-1074, 1023.9), BOTH + [0.5, -0.5, 1.5, -1074.0, 1023.0]),
    "exp_m1": (m.expm1, lambda: random.choice([random.uniform(-40, 700), random.uniform(-1, 1)]), BOTH + HALF_LN2),
    "ln": (m.log, lambda: random.choice([abs(any_double()), power(0.1, 10)]), TINY + NEAR_ONE + EXTREME),
    "ln_1p": (m.log1p, lambda: random.choice([random.uniform(-1, 1), power(1e-12, 1e300)]), BOTH + EXTREME + [-1 + 2.0**-53]),
    "log2": (lambda x: m.log(x) / m.log(2), lambda: random.choice([abs(any_double()), power(0.1, 10)]), TINY + NEAR_ONE + EXTREME),
    "log10": (lambda x: m.log(x) / m.log(10), lambda: random.choice([abs(any_double()), power(0.1, 10)]), TINY + NEAR_ONE + EXTREME),
    "sin_near": (m.sin, lambda: random.choice([random.uniform(-10, 10), random.uniform(-1647099, 1647099)]), BOTH + ANGLES),
    "cos_near": (m.cos, lambda: random.choice([random.uniform(-10, 10), random.uniform(-1647099, 1647099)]), BOTH + ANGLES),
    "tan_near": (m.tan, lambda: random.choice([random.uniform(-10, 10), random.uniform(-1647099, 1647099)]), BOTH + ANGLES),
    "sinh": (m.sinh, lambda: random.choice([random.uniform(-710.4, 710.4), random.uniform(-1, 1)]), BOTH + HALF_LN2 + [710.4758]),
    "cosh": (m.cosh, lambda: random.choice([random.uniform(-710.4, 710.4), random.uniform(-1, 1)]), BOTH + HALF_LN2 + [710.4758]),
    "tanh": (m.tanh, lambda: random.choice([random.uniform(-20, 20), random.uniform(-1, 1), power(1e-20, 1)]), BOTH + HALF_LN2),
    "asinh": (m.asinh, lambda: random.choice([any_double(), random.uniform(-3, 3)]), BOTH + EXTREME + [9.9e17, 1.1e18]),
    "acosh": (m.acosh, lambda: random.choice([power(1, 1e300), random.uniform(1, 3)]), NEAR_ONE[4:] + EXTREME + [9.9e17, 1.1e18]),
    "atanh": (m.atanh, lambda: random.uniform(-1, 1), BOTH + [1 - 2.0**-53, 2.0**-53 - 1]),
    "atan": (m.atan, lambda: random.choice([any_double(), random.uniform(-4, 4)]), BOTH + EXTREME + [math.sqrt(2) - 1, math.sqrt(2) + 1]),
    "asin": (m.asin, lambda: random.uniform(-1, 1), BOTH + [0.5, -0.5, 1.0, -1.0, 1 - 2.0**-53]),
    "acos": (m.acos, lambda: random.uniform(-1, 1), BOTH + [0.5, -0.5, 1.0, -1.0, 1 - 2.0**-53]),
    "cbrt": (lambda x: m.cbrt(x) if x > 0 else -m.cbrt(-x), lambda: random.choice([any_double(), random.uniform(-9, 9)]), BOTH + EXTREME + [8.0, -27.0]),
    "erf": (m.erf, lambda: random.choice([random.uniform(-6, 6), random.uniform(-1, 1)]), BOTH + [0.8, 0.7999999999999999]),
    "erfc": (m.erfc, lambda: random.choice([random.uniform(-6, 27.2), random.uniform(-1, 1)]), BOTH + [0.5, 26.5, 27.2]),
    "sigmoid": (sigmoid, lambda: random.choice([random.uniform(-745, 40), random.uniform(-3, 3)]), BOTH + [-708.4, -745.1]),
    "softplus": (softplus, lambda: random.choice([random.uniform(-745, 40), random.uniform(-3, 3)]), BOTH + [-708.4, -745.1]),
}


def near_one():
    x = 1 + random.uniform(-1e-3, 1e-3)
    return x, random.uniform(-744, 709) / math.log(x)


def any_power():
    x = power(1e-300, 1e300)
    return x, random.uniform(-744, 709) / math.log(x)


def nearby():
    return random.uniform(-10, 10), random.uniform(-10, 10)


def far_apart():
    return random.choice([-1, 1]) * power(1e-300, 1e300), random.choice([-1, 1]) * power(1e-300, 1e300)


CORNERS = [(1e-310, 3.0), (3.0, 1e-310), (-1e-310, -3.0), (1e-310, 1e-310), (1e307, 1e307), (-1e307, 3e306), (1e-200, 1e-190)]
TABLE_2 = {
    "atan2": (m.atan2, [nearby, far_apart], CORNERS),
    "powf": (lambda x, y: x**y, [near_one, any_power], [(2.0, -1074.0), (-3.0, 5.0), (-3.0, 4.0), (0.5, 1022.5), (5e-324, 0.5)]),
    "hypot": (m.hypot, [nearby, far_apart], CORNERS),
}


def row(name, arguments, value):
    rounded = float(value)
    if not math.isfinite(rounded):
        return
    beyond = (value - mpf(rounded)) / mpf(math.ulp(rounded))
    print(name, *map(bits, arguments), bits(rounded), int(m.nint(1000 * beyond)))


for name, (function, draw, edges) in TABLE.items():
    for x in edges + [draw() for _ in range(150)]:
        row(name, [x], function(mpf(x)))
for name, (function, draws, edges) in TABLE_2.items():
    for x, y in edges + [draw() for draw in draws for _ in range(100)]:
        row(name, [x, y], function(mpf(x), mpf(y)))
