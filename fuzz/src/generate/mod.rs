//! Functions at random that `#[differentiable]` accepts, well-typed, of moderate numbers, and with a derivative at almost every point.

mod branches;
mod calls;
mod chains;
mod closures;
mod conditions;
mod functions;
mod loops;
mod numbers;
mod random;
mod recurrences;
mod scope;
mod sequences;
mod statements;
mod states;
pub(crate) mod tree;
mod writes;

use random::Random;
use scope::{Length, Scope, Type, Variable};
use tree::Tree;

/// The functions that belong to `seed`, with their test, in a module `f` and the seed.
pub(crate) fn program(seed: u64) -> Tree {
    let mut program = Generator::new(seed).program(&format!("f{seed}"));
    program.parenthesise(&mut Random::new(!seed));
    program
}

/// What a function returns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Returns {
    Nothing,
    Number,
    Option,
    Pair,
    Vector,
}

/// A loop or a block that can be left.
#[derive(Clone, Debug)]
struct Leave {
    label: Option<String>,
    /// `break` takes a number.
    value: bool,
    /// `continue` is fine, too.
    again: bool,
    /// It is a block, left by its label.
    block: bool,
}

/// Where in a function we are.
#[derive(Clone, Debug)]
struct Context {
    returns: Returns,
    /// The innermost last.
    leaves: Vec<Leave>,
    /// `return`, `break` and `continue` are not for loops that run again.
    exits: bool,
    /// How often this is run, about.
    times: usize,
    /// How many statements deep.
    depth: usize,
    /// Where the variables of the innermost block begin.
    start: usize,
    /// Functions may be called.
    calls: bool,
    /// Expressions have no statements in them.
    plain: bool,
    /// Expressions are arithmetic and functions of numbers.
    formulas: bool,
    /// The blocks of this expression may write to what is around it.
    free: bool,
    /// This runs again, and does the same then.
    steady: bool,
}

/// Functions that can be called.
#[derive(Clone, Debug)]
struct Signature {
    name: String,
    parameters: Vec<Parameter>,
    returns: Returns,
    /// It calls itself, and is being written.
    open: bool,
}

#[derive(Clone, Debug)]
struct Parameter {
    name: String,
    of: Of,
    constant: bool,
}

/// The types of parameters.
#[derive(Clone, Debug, PartialEq)]
enum Of {
    Number,
    NumberMut,
    /// Of the given class.
    Slice(usize),
    SliceMut(usize),
    Array,
    Rows,
    Count,
    /// How often the function calls itself.
    Depth,
    Flag,
    Pair,
    Body,
    Function,
}

struct Generator {
    random: Random,
    scope: Scope,
    context: Context,
    signatures: Vec<Signature>,
    /// How many classes of lengths there are.
    classes: usize,
    /// How many statements the function may still have.
    budget: usize,
    /// How many labels there have been.
    labels: usize,
    /// There is a struct.
    bodies: bool,
    /// It runs on dual numbers.
    dual: bool,
    /// Some of its sequences are long, so loops run often.
    long: bool,
    /// Some constants change on the way.
    states: bool,
    /// Functions are lent to others, which call them often.
    lends: bool,
}

impl Generator {
    fn new(seed: u64) -> Self {
        Generator {
            random: Random::new(seed),
            scope: Scope::default(),
            context: Context::of(Returns::Number),
            signatures: Vec::new(),
            classes: 0,
            budget: 0,
            labels: 0,
            bodies: false,
            dual: false,
            long: false,
            // Half of the programs do without, and are what they would be if there were no states.
            states: Random::new(seed ^ 0x5bd1_e995).once_in(2),
            lends: Random::new(seed ^ 0x2545_f491).once_in(4),
        }
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.random.below(100) < percent
    }

    /// How often loops over sequences run, about.
    fn often(&self) -> usize {
        if self.long { 20 } else { 4 }
    }

    /// A length that no other sequence has.
    fn length(&mut self, least: usize) -> Length {
        self.classes += 1;
        Length { class: self.classes, least }
    }

    /// A name, which may hide another one.
    fn name(&mut self, of: &Type) -> String {
        let names: &[&str] = match of {
            Type::Index(_) => &["i", "j", "k", "n", "m", "index", "a"],
            Type::Sequence(..) | Type::Rows(..) => &["u", "v", "w", "y", "z", "x", "rows", "row", "d_x"],
            Type::Closure(_) => &["f", "g", "h", "a"],
            _ => &["a", "b", "c", "d", "e", "s", "t", "sum", "r", "x", "d_a", "total", "taken"],
        };
        self.random.pick(names).into()
    }

    /// A variable in scope that is such.
    fn some(&mut self, such: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let all: Vec<_> = self.scope.visible().filter(|variable| such(variable)).cloned().collect();
        (!all.is_empty()).then(|| self.random.pick(&all))
    }

    /// One of the latest such variables: what is computed is to be used.
    fn latest(&mut self, such: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let all: Vec<_> = self.scope.visible().filter(|variable| such(variable)).cloned().collect();
        let few = all.len().saturating_sub(3);
        (!all.is_empty()).then(|| self.random.pick(&all[few..]))
    }

    /// A variable that may be written to, and is such.
    fn some_writable(&mut self, such: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let all: Vec<_> = self.scope.writable().filter(|variable| such(variable)).cloned().collect();
        (!all.is_empty()).then(|| self.random.pick(&all))
    }

    /// What `write` writes where `name` is declared already, and nothing is to be mentioned by that name.
    fn beneath<T>(&mut self, name: &str, write: impl FnOnce(&mut Self) -> T) -> T {
        let len = self.scope.len();
        self.scope.push(Variable { hidden: true, ..Variable::new(name, Type::Flag) });
        let written = write(self);
        self.scope.truncate(len);
        written
    }

    /// What `write` writes in a scope of its own, where `change` holds in the context.
    fn within<T>(&mut self, change: impl FnOnce(&mut Context), write: impl FnOnce(&mut Self) -> T) -> T {
        let (len, context, locks) = (self.scope.len(), self.context.clone(), self.scope.locks());
        self.context.depth += 1;
        self.context.start = len;
        change(&mut self.context);
        let written = write(self);
        self.context = context;
        self.scope.truncate(len);
        self.scope.unlock(&locks);
        written
    }
}

impl Context {
    fn of(returns: Returns) -> Self {
        Context {
            returns,
            leaves: Vec::new(),
            exits: true,
            times: 1,
            depth: 0,
            start: 0,
            calls: true,
            plain: false,
            formulas: false,
            free: false,
            steady: false,
        }
    }
}
