//! Constants that are looked up, gone through and counted: parts of slices, what maps hold, and integers beside what carries a gradient.

use std::collections::HashMap;

use pullback::prelude::*;
use pullback::testing::{check_gradient, check_rule};

#[differentiable]
fn first_and_rest(x: &[f64], observed: &[usize]) -> f64 {
    let Some((&first, rest)) = observed.split_first() else { return 0.0 };
    let mut t = x[first];
    for &o in rest {
        t *= x[o];
    }
    t
}

#[differentiable]
fn rest_and_last(x: &[f64], #[constant] observed: &[usize]) -> f64 {
    let Some((last, rest)) = observed.split_last() else { return x[0] * x[0] };
    let mut t = x[*last].sin();
    for o in rest {
        t = t * x[*o] + x[*last];
    }
    t + rest.iter().map(|&o| x[o] * t).sum::<f64>()
}

#[differentiable]
fn ends(x: &[f64], observed: &[usize]) -> f64 {
    let mut t = 1.0;
    if let Some(&o) = observed.first() {
        t *= x[o];
    }
    if let Some(o) = observed.last() {
        t *= x[*o] * x[*o];
    }
    match observed.get(1) {
        Some(&o) => t * x[o],
        None => t,
    }
}

#[differentiable]
fn by_hand(x: &[f64], #[constant] observed: &[usize]) -> f64 {
    let (first, rest) = (observed[0], &observed[1..]);
    let mut t = x[first];
    for o in rest {
        t *= x[*o];
    }
    for &o in rest.iter() {
        t = t.sin() * x[o];
    }
    t + rest.iter().map(|&i| x[i]).sum::<f64>() * rest.iter().map(|i| x[*i]).product::<f64>()
}

#[differentiable]
fn cells(x: &[f64], #[constant] cells: &HashMap<i32, Vec<usize>>) -> f64 {
    let mut t = 0.0;
    for d in -1..=1 {
        let Some(near) = cells.get(&d) else { continue };
        for &j in near {
            t += x[j] * x[0] - t * x[j];
        }
    }
    t
}

#[differentiable]
fn cells_by_reference(x: &[f64], #[constant] cells: &HashMap<i32, Vec<usize>>) -> f64 {
    let mut t = 1.0;
    for d in -1..=1 {
        if let Some(near) = cells.get(&d) {
            for j in near {
                t *= x[*j];
            }
            t += near.iter().map(|&j| x[j] * t).sum::<f64>();
            for (k, &j) in near.iter().enumerate() {
                t = t.sin() + x[j] * k as f64;
            }
        }
    }
    t
}

#[differentiable]
fn local_map(x: &[f64]) -> f64 {
    let weights: HashMap<i32, f64> = HashMap::from([(0, 2.0), (2, 0.5)]);
    let mut t = x[1];
    for i in 0..3 {
        let Some(w) = weights.get(&i) else { continue };
        t = t.sin() + x[0] * w * x[1];
    }
    t
}

#[differentiable]
fn local_cells(x: &[f64]) -> f64 {
    let mut t = 0.0;
    let cells: HashMap<i32, Vec<usize>> = HashMap::from([(0, vec![0, 1]), (1, vec![1])]);
    if let Some(near) = cells.get(&0) {
        for k in 0..near.len() {
            t += x[near[k]] * x[0];
        }
    }
    if let Some(near) = cells.get(&1) {
        for &j in near {
            t *= x[j];
        }
    }
    t
}

#[differentiable]
fn by_name(k: f64, name: &str) -> f64 {
    let weights: HashMap<&str, f64> = HashMap::from([("H2O", 18.0), ("CO2", 44.0)]);
    match weights.get(name) {
        Some(w) => k * w * k,
        None => k,
    }
}

#[differentiable]
fn by_names(x: f64, names: &[&str]) -> f64 {
    let mut weights: HashMap<&str, f64> = HashMap::new();
    weights.insert("H2O", 18.0);
    weights.insert("CO2", 44.0);
    let weights = weights;
    let mut total = 0.0;
    for name in names {
        if let Some(w) = weights.get(name) {
            total += x * w * x;
        }
    }
    total
}

#[test]
fn parts_of_constants() {
    let x = vec![0.3, 0.8, 0.4, 0.7];
    let observed = [vec![0, 2, 1, 2], vec![3, 1], vec![2]];
    let inputs = observed.map(|observed| (x.clone(), observed));
    check_rule(first_and_rest::rule, inputs.clone());
    check_rule(rest_and_last::rule, inputs.clone());
    check_rule(ends::rule, inputs.clone());
    check_rule(by_hand::rule, inputs);
    check_rule(first_and_rest::rule, [(x.clone(), vec![])]);
    check_rule(rest_and_last::rule, [(x.clone(), vec![])]);
    check_rule(ends::rule, [(x.clone(), vec![])]);
    let held = HashMap::from([(0, vec![0, 2]), (1, vec![1]), (7, vec![9])]);
    let mut g = cells::gradient();
    let inputs = [x.clone(), vec![0.2, -0.4, 0.9]];
    check_gradient(
        |x| cells(x, &held),
        |x| {
            let (value, d) = g.value_and_gradient(x, &held);
            (value, d.x.to_vec())
        },
        inputs.clone(),
    );
    let mut g = cells_by_reference::gradient();
    check_gradient(
        |x| cells_by_reference(x, &held),
        |x| {
            let (value, d) = g.value_and_gradient(x, &held);
            (value, d.x.to_vec())
        },
        inputs,
    );
}

#[test]
fn maps_of_constants() {
    check_all!([vec![0.3, 0.8], vec![1.2, 0.4, 0.1]]; local_map, local_cells);
    let mut g = by_name::gradient();
    assert_eq!(g.value_and_gradient(0.5, "H2O").1.k, 18.0);
    assert_eq!(g.value_and_gradient(0.5, "none").1.k, 1.0);
    let mut g = by_names::gradient();
    assert_eq!(g.value_and_gradient(0.5, &["H2O", "none", "CO2"]).1.x, 62.0);
    assert_eq!(g.value_and_gradient(0.5, &[]).1.x, 0.0);
}

#[differentiable]
fn guarded_element(x: &[f64], i: usize) -> f64 {
    let t = match x.get(i) {
        Some(v) if *v > 0.25 => v.sin(),
        Some(v) => v * x[0],
        None => 1.0 + x[0],
    };
    match x.first() {
        None => t,
        Some(&v) if v > 0.2 && x.len() > 2 => v * t,
        Some(_) => t * t,
    }
}

#[test]
fn guards_on_elements() {
    let inputs = [(vec![0.3, 0.7], 1), (vec![0.1, 0.2, 0.3], 1), (vec![0.4, 0.2, 0.3], 5)];
    check_rule(guarded_element::rule, inputs);
}

fn descending(n: usize) -> Option<Vec<usize>> {
    (n > 0).then(|| (0..n).rev().collect())
}

/// What owns memory is kept where the pattern has bound it, and not twice.
#[differentiable]
fn lists_in_patterns(x: &[f64], y: &[f64]) -> f64 {
    let Some(order) = descending(x.len()) else { return y[0] };
    let mut t = 0.0;
    for (k, &i) in order.iter().enumerate() {
        t += x[i] * x[i] * k as f64;
    }
    for k in 0..3 {
        t += match descending(k) {
            Some(o) if o.len() > 1 => {
                if x[0] > 5.0 {
                    return t;
                }
                o.iter().map(|i| x[*i] * t).sum::<f64>()
            }
            Some(o) => x[o[0]],
            None => 0.0,
        };
    }
    if let Some(o) = descending(2) { t * y[o[0]] } else { t }
}

/// Likewise where an arm hands it on.
#[differentiable]
fn lists_out_of_arms(x: &[f64]) -> f64 {
    let order: Vec<usize> = match descending(x.len()) {
        Some(order) => order,
        None => vec![],
    };
    let last = match descending(x.len()) {
        Some(o) => o[0],
        None => return 0.0,
    };
    let mut t = x[last].sin();
    for (k, &i) in order.iter().enumerate() {
        t += x[i] * x[i] * k as f64;
    }
    t
}

/// The last arm, which leaves, needs no comma behind it.
#[rustfmt::skip]
#[differentiable]
fn without_comma(x: &[f64]) -> f64 {
    let order = match descending(x.len()) { Some(order) => order, None => return 0.0 };
    x[order[0]] * x[order[1]]
}

#[test]
fn lists() {
    let inputs = [(vec![0.3, 0.7], vec![0.4, 0.9]), (vec![0.1, 0.2, 0.3], vec![0.5, 1.9])];
    check_rule(lists_in_patterns::rule, inputs);
    check_rule(lists_out_of_arms::rule, [(vec![0.3, 0.7],), (vec![0.1, 0.2, 0.3],)]);
    check_rule(without_comma::rule, [(vec![0.3, 0.7],), (vec![0.1, 0.2, 0.3],)]);
}

struct Split {
    left: Option<usize>,
    right: Option<usize>,
    leaf: usize,
}

/// References to parts of what is constant.
#[differentiable]
fn pairs_of_references(x: &[f64], #[constant] splits: &[Split]) -> f64 {
    let mut t = 1.0;
    for split in splits {
        t += match (&split.left, &split.right) {
            (Some(l), Some(r)) => x[*l] * x[*r] * t,
            (Some(i), None) | (None, Some(i)) => x[*i].sin() * (*i as f64 + 1.0),
            (None, None) => x[split.leaf] * x[split.leaf],
        };
    }
    t
}

#[test]
fn pairs() {
    let split = |left, right, leaf| Split { left, right, leaf };
    let splits = vec![split(Some(0), Some(1), 0), split(None, Some(1), 0), split(None, None, 1)];
    let mut gradient = pairs_of_references::gradient();
    check_gradient(
        |x: &mut Vec<f64>| pairs_of_references(x, &splits),
        |x: &mut Vec<f64>| {
            let (value, d) = gradient.value_and_gradient(x, &splits);
            (value, d.x.to_vec())
        },
        [vec![0.3, 0.7], vec![-0.4, 1.2, 0.5]],
    );
}
