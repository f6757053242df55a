//! Each way to change something crossed with each way to look at it, before and after, in a loop: what the reverse pass finds has to be what the
//! forward pass has seen.

use pullback::prelude::*;
use pullback::testing::check_rule;

/// A module for each way to write, with a function for each way to read. The names are those of the variables in them.
macro_rules! cross {
    (($start:expr) ($x:ident $t:ident $c:ident $i:ident) $writes:tt $reads:tt) => {
        cross!(@rows ($start) ($x $t $c $i) $writes $reads);
    };
    (@rows $start:tt $names:tt { $($write:ident $body:tt)* } $reads:tt) => {
        $(cross!(@row $start $names $write $body $reads);)*
    };
    (@row ($start:expr) ($x:ident $t:ident $c:ident $i:ident) $write:ident $body:tt { $($read:ident $look:tt)* }) => {
        mod $write {
            use super::*;
            $(
                #[differentiable]
                pub fn $read($x: &[f64], n: usize) -> f64 {
                    let mut $t = 1.0;
                    let mut $c = $start;
                    for $i in 0..n {
                        $look
                        $body
                        $look
                    }
                    $t
                }
            )*

            #[test]
            fn as_it_was() {
                // No two of them are alike where something is compared.
                $(check_rule($read::rule, [(vec![0.71, 0.53, 1.13], 3), (vec![0.317, 1.21, 0.83, 0.41], 2)]);)*
            }
        }
    };
}

/// What carries a gradient.
mod active {
    use super::*;

    #[derive(Clone, Copy, Debug, Differentiable)]
    pub struct Body {
        pub a: f64,
        pub m: [f64; 2],
        pub n: usize,
    }

    #[differentiable]
    impl Body {
        pub fn step(&mut self, k: f64) -> f64 {
            self.a = self.a * k + 0.3;
            self.m[1] += self.a;
            self.n += 1;
            self.a
        }

        pub fn energy(&self) -> f64 {
            self.a * self.a + self.m[1]
        }

        pub fn with(mut self, k: f64) -> Body {
            self.m[0] *= k;
            self
        }
    }

    impl Body {
        pub fn is_large(&self) -> bool {
            self.a > 0.8123
        }
    }

    #[differentiable]
    pub fn damp(body: &mut Body, k: f64) -> f64 {
        body.m[0] *= k;
        body.a += body.m[0];
        body.a
    }

    cross! {
        (Body { a: x[0], m: [x[1], 0.5], n: 0 }) (x t c i)
        {
            field { c.a *= x[1]; }
            element { c.m[i % 2] += x[0] * x[0]; }
            method { c.step(x[1]); }
            ignored { let _last = c.step(x[2]); }
            nothing { let _ = damp(&mut c, x[1]); }
            result { let last = c.step(x[0]); t += last * 0.1; }
            whole { c = Body { a: c.a * x[0], ..c }; }
            by_value { c = c.with(x[0]); }
            reference { let r = &mut c; r.a *= x[0]; let _last = r.step(x[1]); }
            replaced { let old = std::mem::replace(&mut c.a, x[1]); t += old * 0.2; }
            branch { if t > 1.0 { c.a *= x[0]; } else { damp(&mut c, x[0]); } }
            closure { let mut add = |v: f64| c.a += v * v; add(x[0]); add(x[1]); }
        }
        {
            field { t += c.a * t * 0.3; }
            method { t = t * 0.5 + c.energy(); }
            condition { if c.is_large() { t *= x[0]; } else { t += c.a * x[1]; } }
            index { t += x[c.n % x.len()] * c.m[c.n % 2] * 0.1; }
            copy { let mut d = c; d.a *= x[0]; t += d.energy() * 0.1; }
            cast { t = t * 0.5 + c.a.powi(c.n as i32 % 3) * 0.1; }
        }
    }
}

/// What carries none.
mod constant {
    use super::*;

    #[derive(Clone, Debug)]
    pub struct Wheel {
        pub n: usize,
        pub v: Vec<usize>,
    }

    impl Wheel {
        pub fn turn(&mut self) -> usize {
            self.n += 1;
            self.v[0] = (self.v[0] + 2) % 3;
            self.n
        }

        pub fn at(&self, i: usize) -> usize {
            (self.v[i % self.v.len()] + self.n) % 3
        }
    }

    #[derive(Clone, Debug)]
    pub struct Machine {
        pub wheel: Wheel,
    }

    pub fn turn(wheel: &mut Wheel) -> usize {
        wheel.turn()
    }

    cross! {
        (Machine { wheel: Wheel { n: 0, v: vec![2, 0, 1] } }) (x t c i)
        {
            field { c.wheel.n += 1; }
            element { c.wheel.v[i % 2] = (c.wheel.v[0] + 1) % 3; }
            method { c.wheel.turn(); }
            ignored { let _last = c.wheel.turn(); }
            function { let last = turn(&mut c.wheel); t += last as f64 * 0.1; }
            condition { if c.wheel.turn() % 2 == 0 { t += x[1]; } }
            reference { let r = &mut c.wheel; r.turn(); }
            star {
                let r = &mut c.wheel;
                (*r).turn();
            }
            vector { c.wheel.v.push(i % 3); c.wheel.v.swap(0, 1); }
            whole { c = Machine { wheel: Wheel { n: i, v: vec![i % 3, 1] } }; }
        }
        {
            index { t += x[c.wheel.v[0]] * t; }
            method { t += x[c.wheel.at(i)] * t; }
            condition { if c.wheel.n % 2 == 0 { t *= x[0]; } else { t += x[1] * t; } }
            range { for j in 0..c.wheel.n % 3 { t += x[j] * t; } }
            each { for j in &c.wheel.v { t = t * 0.5 + x[*j]; } }
        }
    }
}
