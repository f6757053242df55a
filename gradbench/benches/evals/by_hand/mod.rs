//! Derivatives by hand, one file for each eval that has one: reverse mode as a person writes it in plain Rust, of the same
//! formulas as the primal. They compute what the eval asks for, which is no value.

mod ba;
mod gmm;
mod kmeans;
mod llsq;
mod lse;
mod lstm;

use gradbench::task::Task;
use serde_json::Value;

/// The derivative by hand, from the eval's input; `None` where there is none.
pub(crate) fn task(eval: &str, input: &Value) -> Option<Box<dyn Task>> {
    let make = match eval {
        "ba" => ba::task,
        "gmm" => gmm::task,
        "kmeans" => kmeans::task,
        "llsq" => llsq::task,
        "lse" => lse::task,
        "lstm" => lstm::task,
        _ => return None,
    };
    Some(make(input).expect("the input is the eval's"))
}

/// Panics unless two outputs agree, by the largest of their numbers.
pub(crate) fn agree(eval: &str, derived: &Value, by_hand: &Value) {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    numbers(derived, &mut a);
    numbers(by_hand, &mut b);
    assert_eq!(a.len(), b.len(), "{eval}");
    let scale = b.iter().fold(0.0, |scale: f64, b| scale.max(b.abs()));
    for (a, b) in a.iter().zip(&b) {
        assert!((a - b).abs() <= 1e-9 * scale, "{eval}: {a} instead of {b}");
    }
}

fn numbers(value: &Value, all: &mut Vec<f64>) {
    match value {
        Value::Array(list) => list.iter().for_each(|value| numbers(value, all)),
        Value::Object(fields) => fields.values().for_each(|value| numbers(value, all)),
        _ => all.push(value.as_f64().expect("a number")),
    }
}
