//! Calls of the functions that come before.

use super::scope::{Holder, Length, Type, Variable};
use super::sequences::ARRAYS;
use super::tree::{Kind, Tree};
use super::{Generator, Of, Returns, Signature};

/// More calls take too long.
const MANY: usize = 40;

impl Generator {
    /// A call, and what it returns. Those that take something by `&mut` stand alone.
    pub(super) fn call(&mut self, returns: &[Returns], alone: bool) -> Option<(Tree, Returns)> {
        if !self.context.calls || self.context.times > MANY {
            return None;
        }
        let writes =
            |s: &Signature| s.parameters.iter().any(|p| matches!(p.of, Of::NumberMut | Of::SliceMut(_)));
        let fit: Vec<_> = self
            .signatures
            .iter()
            .filter(|s| returns.contains(&s.returns) && (alone || !writes(s)))
            .cloned()
            .collect();
        if fit.is_empty() {
            return None;
        }
        let signature = self.random.pick(&fit);
        if signature.open && self.context.times > 4 {
            return None;
        }
        self.arguments(&signature).map(|call| (call, signature.returns))
    }

    fn arguments(&mut self, signature: &Signature) -> Option<Tree> {
        let locks = self.scope.locks();
        let mut parts = Vec::new();
        // What goes to slices whose lengths agree: the class here for each class there.
        let mut classes: Vec<(usize, Option<usize>)> = Vec::new();
        // What is lent for writing is not mentioned elsewhere, so it comes first.
        let mut order: Vec<usize> = (0..signature.parameters.len()).collect();
        order.sort_by_key(|&i| !matches!(signature.parameters[i].of, Of::NumberMut | Of::SliceMut(_)));
        for i in order {
            let parameter = &signature.parameters[i];
            let part = self.argument(&parameter.of, signature.open, &mut classes);
            let Some(part) = part else {
                self.scope.unlock(&locks);
                return None;
            };
            parts.push((i, part));
        }
        self.scope.unlock(&locks);
        parts.sort_by_key(|(i, _)| *i);
        let text = format!("{}({})", signature.name, vec!["$"; parts.len()].join(", "));
        Some(Tree::new(Kind::Fixed, &text, parts.into_iter().map(|(_, part)| part)))
    }

    fn argument(&mut self, of: &Of, open: bool, classes: &mut Vec<(usize, Option<usize>)>) -> Option<Tree> {
        Some(match of {
            Of::Number => self.moderate(1).tree(),
            Of::Count => self.count(),
            Of::Depth => Tree::fixed(if open { "depth - 1" } else { self.random.pick(&["0", "1", "2"]) }),
            Of::Flag => self.condition(1),
            Of::Pair => match self.some(|v| v.of == Type::Pair) {
                Some(pair) if self.chance(60) => Tree::fixed(&pair.name),
                _ => {
                    let numbers = [self.moderate(1).tree(), self.moderate(1).tree()];
                    Tree::new(Kind::Fixed, "($, $)", numbers)
                }
            },
            Of::Body => {
                let body = self.some(|v| v.of == Type::Body)?;
                Tree::fixed(&format!("&{}", body.name).replace("&self", "self"))
            }
            Of::Array => match self.some(|v| matches!(v.of, Type::Sequence(Holder::Array, _))) {
                Some(array) if self.chance(60) => Tree::fixed(&array.name),
                _ => {
                    let numbers =
                        [self.moderate(1), self.moderate(1), self.literal()].map(|number| number.tree());
                    Tree::new(Kind::Fixed, "[$, $, $]", numbers)
                }
            },
            Of::Rows => {
                let rows = self.some(|v| matches!(v.of, Type::Rows(..)))?;
                Tree::fixed(&format!("&{}", rows.name))
            }
            Of::NumberMut => {
                let number = self.some_writable(|v| matches!(v.of, Type::Number | Type::NumberMut))?;
                self.scope.change(&number.name, |number| number.hidden = true);
                match number.of {
                    Type::Number => Tree::fixed(&format!("&mut {}", number.name)),
                    _ => Tree::fixed(&format!("&mut *{}", number.name)),
                }
            }
            Of::SliceMut(class) => self.slice(*class, classes, true)?,
            Of::Slice(class) => self.slice(*class, classes, false)?,
            Of::Function => match self.some(|v| matches!(v.of, Type::Closure(1))) {
                Some(closure) if self.chance(50) && !(self.lends && self.context.steady) => {
                    Tree::fixed(&format!("&{}", closure.name))
                }
                _ if self.chance(30) => Tree::fixed("f64::sin"),
                _ => {
                    let parameter = self.random.pick(&["a", "t", "p"]);
                    let variable = [Variable::new(parameter, Type::Number).bounded(4.0)];
                    let body = self.captured(&variable, |g| g.body(4.0, 2));
                    Tree::new(Kind::Fixed, &format!("|{parameter}: f64| $"), [body])
                }
            },
        })
    }

    /// A slice whose length is that of others of its class.
    fn slice(
        &mut self,
        class: usize,
        classes: &mut Vec<(usize, Option<usize>)>,
        mutable: bool,
    ) -> Option<Tree> {
        let known = classes.iter().find(|(there, _)| *there == class).map(|(_, here)| *here);
        let fits = |v: &Variable| match (&v.of, known) {
            (Type::Sequence(_, Length { class, .. }), Some(here)) => here == Some(*class),
            (Type::Sequence(_, Length { least, .. }), None) => *least > 1,
            _ => false,
        };
        let found = if mutable { self.some_writable(fits) } else { self.some(fits) };
        let Some(Variable { name, of: Type::Sequence(holder, length), .. }) = found else {
            if mutable || known.is_some_and(|here| here != Some(ARRAYS.class)) {
                return None;
            }
            classes.push((class, Some(ARRAYS.class)));
            let numbers = [self.moderate(1), self.moderate(1), self.literal()].map(|number| number.tree());
            return Some(Tree::new(Kind::Fixed, "&[$, $, $]", numbers));
        };
        classes.push((class, Some(length.class)));
        let text = match (mutable, holder) {
            (true, Holder::SliceMut) => self.random.pick(&["$", "&mut *$", "&mut $[..]"]),
            (true, _) => self.random.pick(&["&mut $", "&mut $[..]"]),
            (false, Holder::Slice) => "$",
            (false, Holder::SliceMut) => "&*$",
            (false, _) => self.random.pick(&["&$", "&$[..]"]),
        };
        self.scope.change(&name, |v| if mutable { v.hidden = true } else { v.frozen = true });
        Some(Tree::fixed(&text.replace('$', &name)))
    }

    /// A call as a statement, or for what it returns.
    pub(super) fn call_statement(&mut self) -> Tree {
        let all = [Returns::Nothing, Returns::Number, Returns::Option, Returns::Pair, Returns::Vector];
        let Some((call, returns)) = self.call(&all, true) else { return self.declaration() };
        match returns {
            Returns::Nothing => Tree::statement("$;", [call]),
            Returns::Number => {
                let target = self.some_writable(|v| v.of == Type::Number);
                match target {
                    Some(target) if self.chance(40) && !call.mentions(&target.name) => {
                        Tree::statement(&format!("{} = $;", target.name), [call])
                    }
                    _ => {
                        let name = self.bind(f64::INFINITY, true);
                        Tree::statement(&format!("let mut {name} = $;"), [call])
                    }
                }
            }
            Returns::Option => {
                if self.context.exits && self.context.returns == Returns::Option && self.chance(60) {
                    let name = self.bind(f64::INFINITY, false);
                    return Tree::statement(&format!("let {name} = $?;"), [call]);
                }
                let name = self.name(&Type::Number);
                let block = self.within(
                    |_| (),
                    |g| {
                        g.scope.push(Variable::new(&name, Type::Number));
                        g.open_block(2)
                    },
                );
                Tree::statement(&format!("if let Some({name}) = $ $"), [call, block])
            }
            Returns::Pair => {
                let (a, b) = (self.bind(f64::INFINITY, true), self.random.pick(&["left", "right"]));
                self.scope.push(Variable::new(b, Type::Number));
                Tree::statement(&format!("let (mut {a}, {b}) = $;"), [call])
            }
            Returns::Vector => {
                let name = self.bind_vector(true);
                match self.chance(40).then(|| self.call(&[Returns::Vector], true)).flatten() {
                    Some((other, _)) => self.chosen_vector(name, call, other),
                    None => Tree::statement(&format!("let mut {name} = $;"), [call]),
                }
            }
        }
    }

    /// Binds what a call returns to a name.
    fn bind_vector(&mut self, mutable: bool) -> String {
        let of = Type::Sequence(Holder::Vector, self.length(2));
        let name = self.name(&of);
        let variable = Variable::new(&name, of);
        self.scope.push(if mutable { variable.mutable() } else { variable });
        name
    }

    /// One of two vectors that calls return, under a name, which a branch moves.
    fn chosen_vector(&mut self, name: String, call: Tree, other: Tree) -> Tree {
        let next = loop {
            let next = self.bind_vector(false);
            if next != name {
                break next;
            }
            self.scope.truncate(self.scope.len() - 1);
        };
        let condition = self.condition(2);
        // It may be gone.
        self.scope.change(&next, |v| v.hidden = true);
        if self.chance(50) {
            let text = format!("let mut {name} = $; let {next} = $; if $ {{ {name} = {next}; }}");
            return Tree::statement(&text, [call, other, condition]);
        }
        self.scope.change(&name, |v| v.hidden = true);
        let chosen = loop {
            let chosen = self.bind_vector(true);
            if chosen != name && chosen != next {
                break chosen;
            }
            self.scope.truncate(self.scope.len() - 1);
        };
        let text = format!(
            "let {name} = $; let {next} = $; let mut {chosen} = if $ {{ {name} }} else {{ {next} }};"
        );
        Tree::statement(&text, [call, other, condition])
    }
}
