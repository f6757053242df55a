//! Closures under a name.

use super::numbers::{MODERATE, Number};
use super::scope::{Type, Variable};
use super::tree::{Kind, Tree};
use super::{Generator, Returns};

impl Generator {
    /// A call of a closure that is in scope.
    pub(super) fn by_closure(&mut self, depth: usize) -> Number {
        let steady = self.excludes_closures();
        let closure = self.some(|v| !steady && matches!(v.of, Type::Closure(_)));
        let Some(Variable { name, of: Type::Closure(count), bound, .. }) = closure else {
            return self.function(depth);
        };
        let arguments: Vec<_> = (0..count).map(|_| self.moderate(depth.min(1)).tree()).collect();
        let text = format!("{name}({})", vec!["$"; count].join(", "));
        Number::atom(&text, arguments, bound)
    }

    /// There may be states in closures, or what is lent for one pass at a time, where this runs again.
    pub(super) fn excludes_closures(&self) -> bool {
        (self.states || self.lends) && self.context.steady
    }

    /// A closure, and what calls it while what it captures is borrowed.
    pub(super) fn closure_statements(&mut self) -> Tree {
        if self.chance(35) {
            return self.changing_closure();
        }
        let name = self.name(&Type::Closure(1));
        let count = 1 + self.random.below(2);
        let names = ["a", "t", "p", "x"];
        let first = self.random.below(names.len());
        let parameters: Vec<_> = (0..count).map(|k| names[(first + k) % names.len()]).collect();
        let variables: Vec<_> =
            parameters.iter().map(|name| Variable::new(name, Type::Number).bounded(MODERATE)).collect();
        let body = self.captured(&variables, |g| {
            g.context.returns = Returns::Number;
            g.context.exits = g.random.once_in(3);
            g.body(MODERATE, 2)
        });
        let (statements, value) = self.within(
            |_| (),
            |g| {
                // All that it may have captured is borrowed.
                let names: Vec<_> = g.scope.visible().map(|variable| variable.name.clone()).collect();
                names.iter().for_each(|name| g.scope.change(name, |variable| variable.frozen = true));
                let captured = g.scope.capture();
                g.scope.push(Variable::new(&name, Type::Closure(count)).bounded(MODERATE));
                let statements = g.statements(3);
                let (a, b) = (g.by_closure(1).receiver(), g.by_closure(2).receiver());
                g.scope.captured = captured;
                (Tree::lines(Kind::Fixed, statements), Tree::new(Kind::Number, "($ + 0.7 * $)", [a, b]))
            },
        );
        let result = self.bind(f64::INFINITY, true);
        let declared: Vec<_> = parameters.iter().map(|name| format!("{name}: f64")).collect();
        let text = format!("let mut {result} = {{ let {name} = |{}| $; $ $ }};", declared.join(", "));
        Tree::statement(&text, [body, statements, value])
    }

    /// A closure that changes a number that it captures.
    fn changing_closure(&mut self) -> Tree {
        let Some(number) = self.some_writable(|v| v.of == Type::Number) else { return self.write() };
        let (name, t) = (self.name(&Type::Closure(1)), self.random.pick(&["t", "p"]));
        if name == number.name || t == number.name {
            return self.write();
        }
        let variable = [Variable::new(t, Type::Number).bounded(MODERATE)];
        let (change, value) =
            self.captured(&variable, |g| (g.moderate(2).tree(), g.moderate(1).typed().tree()));
        let arguments = self.beneath(&name, |g| {
            let locks = g.scope.locks();
            g.scope.change(&number.name, |number| number.hidden = true);
            let arguments = [g.moderate(2).tree(), g.moderate(1).tree()];
            g.scope.unlock(&locks);
            arguments
        });
        let result = self.bind(f64::INFINITY, true);
        let [first, second] = arguments;
        let assign = self.random.pick(&["+=", "-=", "="]);
        let text = format!(
            "let mut {result} = {{ let mut {name} = |{t}: f64| {{ {} {assign} $; $ }}; {name}($) + 0.4 * {name}($) }};",
            number.name
        );
        Tree::statement(&text, [change, value, first, second])
    }
}
