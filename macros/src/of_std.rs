//! Functions of the standard library, by their paths.

use syn::{Ident, Path};

use crate::program::Op;

/// The name of a function of the module `std::module`, of which the path has at least the module: `mem::swap`.
pub(crate) fn name_in(module: &str, function: &Path) -> Option<String> {
    let names: Vec<_> = function.segments.iter().map(|s| s.ident.to_string()).collect();
    match &names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [of, name] | ["std" | "core" | "alloc", of, name] if *of == module => Some((*name).to_string()),
        _ => None,
    }
}

/// The function returns what it is given.
pub(crate) fn returns_argument(function: &Path) -> bool {
    name_in("hint", function).is_some_and(|name| name == "black_box")
        || name_in("convert", function).is_some_and(|name| name == "identity")
}

/// An operator by the name of its method.
#[derive(Clone, Copy)]
pub(crate) enum Named {
    /// `x.neg()`
    Neg,
    /// `x.mul(y)`
    Between(Op),
}

impl Named {
    /// With as many operands behind the first one.
    pub(crate) fn of(method: &Ident, others: usize) -> Option<Self> {
        match others {
            0 => (method == "neg").then_some(Named::Neg),
            1 => [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem]
                .into_iter()
                .find(|op| method == op.method())
                .map(Named::Between),
            _ => None,
        }
    }

    /// `Mul::mul`, by the trait.
    pub(crate) fn of_trait(function: &Path) -> Option<Self> {
        let [.., of, method] = &function.segments.iter().map(|s| &s.ident).collect::<Vec<_>>()[..] else {
            return None;
        };
        let (of, method) = (of.to_string(), *method);
        let named = *method == of.to_lowercase() && of.starts_with(char::is_uppercase);
        let others = if of == "Neg" { 0 } else { 1 };
        Self::of(method, others).filter(|_| named)
    }
}

/// Why a function, which is none of those that are understood, has no rule; nobody can mark it.
pub(crate) fn refused(function: &Path) -> Option<&'static str> {
    // The user's own modules may have these names, too.
    let is =
        |module, names: &[&str]| name_in(module, function).is_some_and(|name| names.contains(&name.as_str()));
    if is("mem", &["swap", "replace", "take"]) {
        return Some(
            "`std::mem` is differentiable where what it exchanges are variables, elements and fields: bind references with `let`, or assign",
        );
    }
    if is("cmp", &["max_by", "min_by", "max_by_key", "min_by_key"]) {
        return Some("comparison by a function has no rule: write `a.max(b)`, or an `if` that compares");
    }
    let names: Vec<_> = function.segments.iter().map(|s| s.ident.to_string()).collect();
    let [krate, .., module, _] = &names[..] else { return None };
    let of_module = module.starts_with(|c: char| c.is_ascii_lowercase()) && krate != module;
    (["std", "core", "alloc"].contains(&krate.as_str()) && of_module).then_some(
        "this function of the standard library has no rule: write what it does, or put `constant(…)` around its result",
    )
}
