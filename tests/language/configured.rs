//! Code under a condition: what does not hold is not there for the gradient either.

use pullback::prelude::*;
use pullback::testing::check_rule;

/// `any()` never holds, and `not(any())` always does.
#[differentiable]
fn statements(x: f64, y: f64) -> f64 {
    #[cfg(not(any()))]
    let a = x.sin();
    #[cfg(any())]
    let a = x.cos() * y;
    let mut b = a * y;
    #[cfg(any())]
    {
        b *= x;
    }
    #[cfg(any())]
    for _ in 0..3 {
        b *= y;
    }
    #[cfg(not(any()))]
    if b > 0.3 {
        b += x * x;
    }
    #[cfg(not(any()))]
    b -= x;
    #[cfg(any())]
    return b;
    #[cfg(not(debug_assertions))]
    assert!(b.is_finite());
    #[cfg(debug_assertions)]
    assert!(b < 1e3);
    b * y
}

#[differentiable]
fn ends_and_arms(x: f64, n: usize) -> f64 {
    let v = [
        x,
        #[cfg(any())]
        {
            x * x
        },
        x * 2.0,
    ];
    let y = match n {
        #[cfg(any())]
        0 => x,
        0 => x * x,
        #[cfg(not(any()))]
        1 => x.powi(3),
        _ => x.powi(4),
    };
    let scale = |a: f64| {
        #[cfg(any())]
        return a;
        2.0 * a
    };
    let sum = y + v.iter().map(|a| scale(*a)).sum::<f64>();
    #[cfg(not(any()))]
    {
        sum * x
    }
    #[cfg(any())]
    {
        sum
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Spring {
    stiffness: f64,
    #[cfg(any())]
    damping: f64,
}

#[differentiable]
impl Spring {
    #[cfg(any())]
    fn force(&self, x: f64) -> f64 {
        self.stiffness * x - self.damping
    }

    #[cfg(not(any()))]
    fn force(&self, x: f64) -> f64 {
        -self.stiffness * x
    }
}

#[differentiable(dual)]
fn stretched(k: f64, #[cfg(any())] damping: f64, x: f64) -> f64 {
    #[cfg_attr(not(any()), allow(unused_mut))]
    let mut spring = k * x;
    #[cfg(any())]
    {
        spring -= damping;
    }
    spring * x
}

#[differentiable]
fn energy(spring: Spring, x: f64) -> f64 {
    let Spring {
        stiffness,
        #[cfg(any())]
        damping,
    } = spring;
    let stretched = stretched(
        stiffness,
        #[cfg(any())]
        damping,
        x,
    );
    let other = Spring {
        stiffness: x,
        #[cfg(any())]
        damping,
    };
    spring.force(x) * other.force(stiffness) + stretched
}

#[test]
fn what_does_not_hold_is_not_there() {
    check_rule(statements::rule, [(0.3, 0.7), (0.9, 1.2)]);
    check_rule(ends_and_arms::rule, [(0.3, 0), (0.7, 1), (0.9, 2)]);
    let stiffness = 1.5;
    check_rule(energy::rule, [(Spring { stiffness }, 0.4), (Spring { stiffness: 0.2 }, -0.7)]);
    check_rule(stretched::rule, [(0.3, 0.7), (0.9, 1.2)]);
}
