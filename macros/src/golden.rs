//! What the macro writes, as a person would read it. Run with `UPDATE_GOLDEN=1` to accept a change.

use std::path::Path;

use syn::visit::Visit;

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

#[test]
fn logistic() {
    check("logistic");
}

#[test]
fn predators() {
    check("predators");
}

/// What errors say, in code that is refused.
struct Messages(Vec<String>);

impl Visit<'_> for Messages {
    fn visit_macro(&mut self, mac: &syn::Macro) {
        if mac.path.segments.last().is_some_and(|last| last.ident == "compile_error") {
            self.0.push(mac.parse_body::<syn::LitStr>().expect("a message").value());
        }
    }
}

/// Why each of the functions in `golden/<name>.in.rs` is refused, as `golden/<name>.txt` has it.
fn check_refusals(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
    let source = std::fs::read_to_string(folder.join(format!("{name}.in.rs"))).expect("the input exists");
    let file: syn::File = syn::parse_str(&source).expect("the input consists of functions");
    let mut text = String::new();
    for item in file.items {
        let syn::Item::Fn(function) = item else { panic!("the input consists of functions") };
        text += &format!("{}:\n", function.sig.ident);
        let options = crate::differentiable::Options::default();
        let tokens = crate::differentiable::expand(function, options).expect("what is refused is the rule");
        let mut messages = Messages(Vec::new());
        messages.visit_file(&syn::parse2(tokens).expect("the output is Rust"));
        assert!(!messages.0.is_empty(), "a function is not refused");
        for message in messages.0 {
            text += &format!("  {}\n", message.replace('\n', "\n  "));
        }
    }
    let path = folder.join(format!("{name}.txt"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &text).expect("the folder is writable");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == expected, "the messages of `{name}` have changed:\n{text}\nexpected:\n{expected}");
}

#[test]
fn matrices() {
    check_refusals("matrices");
}
