//! What the macro writes, as a person would read it. Run with `UPDATE_GOLDEN=1` to accept a change.

use std::path::Path;

/// Expands `golden/<name>.in.rs` and compares the two passes with `golden/<name>.out.rs`.
fn check(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let source = std::fs::read_to_string(folder.join(format!("{name}.in.rs"))).expect("the input exists");
    let function = syn::parse_str(&source).expect("the input is a function");
    let tokens = crate::differentiable::expand(function, crate::differentiable::Options::default())
        .expect("the input is differentiable");
    let file = syn::parse2(tokens).expect("the output is Rust");
    let text = prettyplease::unparse(&file);
    // The rest follows from the signature alone, and is the same for every function.
    let start = text.find("__pb::derived::<").expect("there is a rule");
    let rule = &text[start..];
    let end = rule.find("\n        }\n").expect("the function that makes it ends");
    let rule = rule[..end].replace("\n            ", "\n") + "\n";
    let path = folder.join(format!("{name}.out.rs"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &rule).expect("the folder is writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(rule == expected, "the expansion of `{name}` has changed:\n{rule}\nexpected:\n{expected}");
}

#[test]
fn sum_of_sines() {
    check("sum_of_sines");
}

#[test]
fn rosenbrock() {
    check("rosenbrock");
}

#[test]
fn simulate() {
    check("simulate");
}

#[test]
fn chain() {
    check("chain");
}

#[test]
fn windows() {
    check("windows");
}

#[test]
fn checkpoint() {
    check("checkpoint");
}

#[test]
fn integrate() {
    check("integrate");
}

#[test]
fn area() {
    check("area");
}

#[test]
fn last_call() {
    check("last_call");
}

#[test]
fn minor() {
    check("minor");
}

#[test]
fn kepler() {
    check("kepler");
}

#[test]
fn smooth() {
    check("smooth");
}

#[test]
fn ring() {
    check("ring");
}

#[test]
fn cholesky() {
    check("cholesky");
}

#[test]
fn log_sum_exp() {
    check("log_sum_exp");
}

#[test]
fn triangle() {
    check("triangle");
}
