//! The error function and its complement.

use super::arithmetic::*;
use super::exponential::reduce;

/// `erfc |x|` (after M. M. Shepherd and J. G. Laframboise, 1981): (1 + 2x) e^(x²) erfc x is smooth in t = (x − 3) / (x + 3).
#[inline(always)]
fn complement(a: f64) -> f64 {
    let a = clamp(a, 0.0, 28.0);
    let t = (a - 3.0) / (a + 3.0);
    // Degree 22 on −1 ≤ t ≤ 0.806, error 2⁻⁵⁴.
    let p = polynomial!(t;
        1.2530080582697296, -0.1356211061245807, -0.047562294353446374, 0.12964515870270552, -0.11927366341552853,
        0.06830802734580459, -0.02377051491423367, 0.002529391788270445, 0.001888690312003782, -0.0007798320379611115,
        -0.00010515949033775975, 0.00012509815174864322, 4.948147875576539e-6, -2.009663087595395e-5,
        -7.275875746667183e-7, 3.463997532352904e-6, 3.4899197889744293e-7, -6.050048623933503e-7,
        -1.311166137536459e-7, 9.186243026143847e-8, 3.29163439676632e-8, -8.500119502115306e-9,
        -4.210104975119195e-9);
    let (square, error) = product(a, a);
    reduce(-square).moved(-error).times(p / (1.0 + 2.0 * a))
}

/// `erf x − x`.
#[inline(always)]
fn beyond_linear(x: f64) -> f64 {
    let z = x * x;
    // erf x / x − 1: degree 10 on |x| ≤ 0.8, error 2⁻⁵⁵.
    let p = polynomial!(z;
        0.12837916709551256, -0.37612638903183626, 0.11283791670947287, -0.026866170643217106, 0.005223977601446121,
        -0.0008548325266170914, 0.00012055252597616355, -1.4923281656714066e-5, 1.641703693979452e-6,
        -1.582751542413844e-7, 1.107851949072515e-8);
    x * p
}

#[inline(always)]
pub(super) fn erf(x: f64) -> f64 {
    let a = x.abs();
    select(a < 0.8, x + beyond_linear(x), (1.0 - complement(a)).copysign(x))
}

#[inline(always)]
pub(super) fn erfc(x: f64) -> f64 {
    let c = complement(x.abs());
    let (high, low) = ordered_sum(1.0, -x);
    let near = high + (low - beyond_linear(x));
    select(x.abs() < 0.5, near, select(x < 0.0, 2.0 - c, c))
}
