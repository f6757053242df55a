//! Variables that are in scope, and what is known of them.

use super::states::State;

/// What a variable is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    Number,
    /// `&f64`
    NumberRef,
    /// `&mut f64`
    NumberMut,
    Index(Below),
    Flag,
    /// `(f64, f64)`
    Pair,
    /// The struct of two numbers and an array that comes with each program.
    Body,
    Sequence(Holder, Length),
    /// `Vec<Vec<f64>>`, or a slice of them: how many, and of which length.
    Rows(Holder, Length, Length),
    /// A closure that takes a number for a number; the number of its arguments.
    Closure(usize),
    /// No number with a gradient.
    State(State),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Holder {
    Slice,
    SliceMut,
    Array,
    Vector,
}

/// What is known of the length of a sequence. Those of one class have the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Length {
    pub(crate) class: usize,
    pub(crate) least: usize,
}

/// An index `i`: where `class` is the length of some sequence, `i - before` and `i + after` are elements of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Below {
    pub(crate) class: Option<usize>,
    pub(crate) before: usize,
    pub(crate) after: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) of: Type,
    pub(crate) mutable: bool,
    /// A vector whose length may change; no other sequence is of its class.
    pub(crate) grows: bool,
    /// The number is not larger than this; infinite if nobody knows.
    pub(crate) bound: f64,
    /// Borrowed: not to be written to, or not even to be read.
    pub(crate) frozen: bool,
    pub(crate) hidden: bool,
}

impl Variable {
    pub(crate) fn new(name: &str, of: Type) -> Self {
        let bound = f64::INFINITY;
        Variable { name: name.into(), of, mutable: false, grows: false, bound, frozen: false, hidden: false }
    }

    pub(crate) fn bounded(self, bound: f64) -> Self {
        Variable { bound, ..self }
    }

    pub(crate) fn mutable(self) -> Self {
        Variable { mutable: true, bound: f64::INFINITY, ..self }
    }

    /// What an element of it, or it itself, may be assigned to.
    pub(crate) fn is_writable(&self) -> bool {
        let holder = match self.of {
            Type::Sequence(holder, _) | Type::Rows(holder, ..) => holder,
            Type::NumberMut => return !self.frozen,
            Type::State(state) if state.is_shared() => return true,
            _ => Holder::Array,
        };
        !self.frozen
            && match holder {
                Holder::Slice => false,
                Holder::SliceMut => true,
                Holder::Array | Holder::Vector => self.mutable,
            }
    }
}

/// Variables, the latest last.
#[derive(Default)]
pub(crate) struct Scope {
    variables: Vec<Variable>,
    /// Those before this one are captured by a closure, and not written to.
    pub(crate) captured: usize,
}

impl Scope {
    pub(crate) fn len(&self) -> usize {
        self.variables.len()
    }

    pub(crate) fn push(&mut self, variable: Variable) {
        self.variables.push(variable);
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.variables.truncate(len);
    }

    /// From here on variables are of a closure; gives back what [`Scope::captured`] was.
    pub(crate) fn capture(&mut self) -> usize {
        let len = self.len();
        std::mem::replace(&mut self.captured, len)
    }

    /// Those that their names reach.
    pub(crate) fn visible(&self) -> impl Iterator<Item = &Variable> {
        let variables = &self.variables;
        let reached = move |i: usize| variables[i + 1..].iter().all(|later| later.name != variables[i].name);
        (0..variables.len()).filter(move |&i| reached(i)).map(|i| &variables[i]).filter(|v| !v.hidden)
    }

    /// Those, in addition, that may be written to.
    pub(crate) fn writable(&self) -> impl Iterator<Item = &Variable> {
        self.visible().filter(|variable| self.may_write(variable))
    }

    /// What a closure captures is only read.
    pub(crate) fn may_write(&self, variable: &Variable) -> bool {
        let shared = matches!(variable.of, Type::State(state) if state.is_shared());
        variable.is_writable() && (shared || self.position(&variable.name) >= self.captured)
    }

    /// Indices of sequences of this class are in use.
    pub(crate) fn is_walked(&self, class: usize) -> bool {
        self.variables.iter().any(|v| matches!(v.of, Type::Index(below) if below.class == Some(class)))
    }

    /// Where the latest variable of this name is.
    pub(crate) fn position(&self, name: &str) -> usize {
        self.variables.iter().rposition(|variable| variable.name == name).expect("a variable in scope")
    }

    pub(crate) fn change(&mut self, name: &str, change: impl FnOnce(&mut Variable)) {
        let position = self.position(name);
        change(&mut self.variables[position]);
    }

    /// Hides the numbers from a position on.
    pub(crate) fn hide_from(&mut self, first: usize) {
        let numbers = self.variables[first..].iter_mut().filter(|v| v.of == Type::Number);
        numbers.for_each(|number| number.hidden = true);
    }

    /// What to give back to [`Scope::unlock`] after some are frozen or hidden.
    pub(crate) fn locks(&self) -> Vec<(bool, bool)> {
        self.variables.iter().map(|variable| (variable.frozen, variable.hidden)).collect()
    }

    pub(crate) fn unlock(&mut self, locks: &[(bool, bool)]) {
        for (variable, &(frozen, hidden)) in self.variables.iter_mut().zip(locks) {
            (variable.frozen, variable.hidden) = (frozen, hidden);
        }
    }
}
