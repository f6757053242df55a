//! The evals, one file each: the primal, how a message calls it, and its samples as a test.

pub mod ba;
pub mod det;
pub mod gmm;
pub mod hello;
pub mod ht;
pub mod kmeans;
pub mod llsq;
pub mod lse;
pub mod lstm;
pub mod ode;
pub mod particle;
pub mod saddle;

use serde_json::Value;

use crate::task::Task;

/// Makes the task of one function from its input; fails if there is no such function, or if the input is not what it takes.
pub type Make = fn(&str, &Value) -> Result<Box<dyn Task>, String>;

/// What is defined here.
pub const EVALS: &[(&str, Make)] = &[
    ("ba", ba::task),
    ("det", det::task),
    ("gmm", gmm::task),
    ("hello", hello::task),
    ("ht", ht::task),
    ("kmeans", kmeans::task),
    ("llsq", llsq::task),
    ("lse", lse::task),
    ("lstm", lstm::task),
    ("ode", ode::task),
    ("particle", particle::task),
    ("saddle", saddle::task),
];

/// The eval of that name.
pub fn find(name: &str) -> Option<Make> {
    EVALS.iter().find(|(other, _)| *other == name).map(|&(_, make)| make)
}

fn unknown(function: &str) -> String {
    format!("there is no function `{function}` in this module")
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use serde_json::Value;

    /// Runs `function` on the samples of that name, twice each, and compares.
    pub(crate) fn check(eval: &str, function: &str) {
        // Some samples are exact where the eval asks for a numerical solution.
        check_with(eval, function, |a, b| 5e-6 * (a.abs() + b.abs()).max(1.0));
    }

    /// The same, where outputs may differ by as much as `tolerance`, which takes both.
    pub(crate) fn check_with(eval: &str, function: &str, tolerance: fn(f64, f64) -> f64) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
        let read = |name: String| -> Option<Value> {
            let text = std::fs::read_to_string(folder.join(name)).ok()?;
            Some(serde_json::from_str(&text).expect("samples are JSON"))
        };
        let make = super::find(eval).expect("this eval is defined");
        let (name, function) =
            function.rsplit_once('-').map_or((function, function), |(_, last)| (function, last));
        let mut count = 0;
        while let Some(input) = read(format!("{eval}-{name}-{}.in.json", count + 1)) {
            count += 1;
            let expected = read(format!("{eval}-{name}-{count}.out.json")).expect("a sample has an output");
            let mut task = make(function, &input).expect("a sample is an input");
            for _ in 0..2 {
                task.run();
                compare(&task.output(), &expected, tolerance);
            }
        }
        assert!(count > 0, "there are samples of {eval} {name}");
    }

    fn compare(actual: &Value, expected: &Value, tolerance: fn(f64, f64) -> f64) {
        match (actual, expected) {
            (Value::Array(a), Value::Array(b)) => {
                assert_eq!(a.len(), b.len());
                a.iter().zip(b).for_each(|(a, b)| compare(a, b, tolerance));
            }
            (Value::Object(a), Value::Object(b)) => {
                assert!(a.keys().eq(b.keys()), "{:?}, {:?}", a.keys(), b.keys());
                a.values().zip(b.values()).for_each(|(a, b)| compare(a, b, tolerance));
            }
            (Value::Number(a), Value::Number(b)) => {
                let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
                assert!((a - b).abs() <= tolerance(a, b), "{a} instead of {b}");
            }
            _ => panic!("{actual} instead of {expected}"),
        }
    }
}
