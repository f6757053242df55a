//! Functions: what they take, what they return, and on what they are tested.

use super::scope::{Below, Holder, Length, Type, Variable};
use super::sequences::ARRAYS;
use super::tree::{Kind, Tree};
use super::{Context, Generator, Of, Parameter, Returns, Signature};

impl Generator {
    /// A module with some functions, of which the last one is tested, and calls the others.
    pub(super) fn program(mut self, name: &str) -> Tree {
        self.bodies = self.chance(30);
        self.dual = !self.bodies && self.chance(30);
        self.long = !self.dual && self.chance(25);
        let dual = self.dual;
        let attribute = if dual { "#[differentiable(dual)]" } else { "#[differentiable]" };
        let mut parts = Vec::new();
        if self.bodies {
            parts.push(self.body_type(attribute));
        }
        for k in 0..self.random.below(4) {
            self.budget = 5;
            parts.push(self.function_named(&format!("part_{k}"), attribute, false));
        }
        self.budget = 6 + self.random.below(12);
        parts.push(self.function_named(name, attribute, true));
        let inputs = self.inputs();
        // What runs again allocates again.
        let again = parts.iter().any(|part| part.to_string().contains("#[pullback("));
        let check = match again {
            true => format!("CheckRule::new({name}::rule).inputs([$]).allocating(usize::MAX / 8).run();"),
            false => format!("check_rule({name}::rule, [$]);"),
        };
        let mut checks = vec![Tree::new(Kind::Fixed, &check, [inputs.clone()])];
        if dual {
            checks.push(Tree::statement(&format!("check_pushforward({name}::rule, [$]);"), [inputs]));
        }
        let checks = Tree::lines(Kind::Fixed, checks);
        parts.push(Tree::new(Kind::Fixed, "#[test] fn check() {\n$}", [checks]));
        let parts = Tree::lines(Kind::Fixed, parts);
        Tree::new(Kind::Fixed, &format!("mod {name} {{ use super::*;\n$ }}"), [parts])
    }

    /// The struct that functions take, with its methods.
    fn body_type(&mut self, attribute: &str) -> Tree {
        let [energy, step] = [false, true].map(|mutable| {
            self.scope = Default::default();
            self.context = Context::of(if mutable { Returns::Nothing } else { Returns::Number });
            self.budget = 3;
            let body = Variable::new("self", Type::Body);
            self.scope.push(if mutable { body.mutable() } else { body });
            self.scope.push(Variable::new("k", Type::Number).bounded(1.5));
            let statements = self.statements(3);
            let statements = Tree::lines(Kind::Fixed, statements);
            let last = if mutable { self.assign() } else { self.moderate(2).tree() };
            Tree::new(Kind::Fixed, "{ $ $ }", [statements, last])
        });
        let text = format!(
            "#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
            pub struct Body {{ mass: f64, speed: f64, at: [f64; 2] }}
            {attribute} impl Body {{ fn energy(&self, k: f64) -> f64 $ fn step(&mut self, k: f64) $ }}"
        );
        Tree::new(Kind::Fixed, &text, [energy, step])
    }

    fn function_named(&mut self, name: &str, attribute: &str, tested: bool) -> Tree {
        self.scope = Default::default();
        let returns = match self.random.below(20) {
            0..12 => Returns::Number,
            12..14 if !tested => Returns::Nothing,
            14..16 => Returns::Option,
            16..18 => Returns::Pair,
            18 => Returns::Vector,
            _ => Returns::Number,
        };
        self.context = Context::of(returns);
        let recursive = !tested && self.chance(20);
        let parameters = self.parameters(tested, recursive);
        self.declare(&parameters);
        let declared: Vec<_> = parameters.iter().map(Parameter::declared).collect();
        let signature = Signature { name: name.into(), parameters, returns, open: recursive };
        let mut statements = Vec::new();
        if recursive {
            let value = match returns {
                Returns::Nothing => Tree::fixed(""),
                _ => self.returned(2),
            };
            statements.push(Tree::new(Kind::Fixed, "if depth == 0 { return $; }", [value]));
            self.signatures.push(signature.clone());
        }
        statements.append(&mut self.statements(12));
        if returns == Returns::Nothing {
            statements.push(self.assign());
        } else if self.chance(25) {
            statements.push(self.total());
        }
        let value = match returns {
            Returns::Nothing => Tree::fixed(""),
            _ => self.returned(3),
        };
        if recursive {
            self.signatures.pop();
        }
        self.signatures.push(Signature { open: false, ..signature });
        let written = match returns {
            Returns::Nothing => "",
            Returns::Number => " -> f64",
            Returns::Option => " -> Option<f64>",
            Returns::Pair => " -> (f64, f64)",
            Returns::Vector => " -> Vec<f64>",
        };
        let statements = Tree::lines(Kind::Fixed, statements);
        let head = format!("pub fn {name}({}){written}", declared.join(", "));
        let kind = if tested { Kind::Fixed } else { Kind::Statement };
        Tree::new(kind, &format!("{attribute}\n{head} {{\n$ $ }}\n"), [statements, value])
    }

    /// A loop that adds up at the end.
    fn total(&mut self) -> Tree {
        let name = self.bind(f64::INFINITY, true);
        let Some((sequence, length)) = self.sequence() else {
            return Tree::fixed(&format!("let mut {name} = 0.3_f64;"));
        };
        let (i, often) = (self.name(&Type::Index(Below::default())), self.often());
        let body = self.within(
            |context| {
                context.times *= often;
                (context.exits, context.leaves) = (false, Vec::new());
            },
            |g| {
                g.push_index(&i, length, 0, 0);
                let mut statements = g.statements(3);
                if i != name && g.scope.visible().any(|v| v.name == name && v.of == Type::Number && v.mutable)
                {
                    let (weight, value) = (g.moderate(1).receiver(), g.moderate(2).receiver());
                    statements.push(Tree::statement(&format!("{name} += $ * $;"), [weight, value]));
                }
                super::statements::braced(statements)
            },
        );
        let typed = self.random.pick(&["", ": f64"]);
        let start = if typed.is_empty() { "0.0_f64" } else { "0.0" };
        let text = format!("let mut {name}{typed} = {start}; for {i} in 0..{}.len() $", sequence.name);
        Tree::new(Kind::Fixed, &text, [body])
    }

    /// What the function returns.
    pub(super) fn returned(&mut self, depth: usize) -> Tree {
        match self.context.returns {
            Returns::Nothing => Tree::fixed("()"),
            Returns::Number => self.result(depth),
            Returns::Option => {
                let value = self.result(depth);
                Tree::new(Kind::Fixed, "Some($)", [value])
            }
            Returns::Pair => {
                let values = [self.result(depth), self.result(1)];
                Tree::new(Kind::Fixed, "($, $)", values)
            }
            Returns::Vector => {
                let vector = self.some(|v| {
                    matches!(v.of, Type::Sequence(Holder::Vector, Length { least, .. }) if least > 1)
                        && !v.frozen
                });
                match vector {
                    Some(vector) => Tree::fixed(&format!("{}.to_vec()", vector.name)),
                    None => {
                        let values = [self.result(depth), self.result(1)];
                        Tree::new(Kind::Fixed, "vec![$, $]", values)
                    }
                }
            }
        }
    }

    fn result(&mut self, depth: usize) -> Tree {
        if self.chance(25)
            && let Some(number) = self.some(|v| v.of == Type::Number)
        {
            return Tree::new(Kind::Number, &number.name, []);
        }
        let number = if depth > 2 { self.summary() } else { self.moderate(depth) };
        number.typed().tree()
    }

    fn parameters(&mut self, tested: bool, recursive: bool) -> Vec<Parameter> {
        let mut parameters: Vec<Parameter> = Vec::new();
        let class = self.length(2).class;
        let mut of = vec![if self.chance(80) { Of::Slice(class) } else { Of::SliceMut(class) }];
        for _ in 0..1 + self.random.below(4) {
            let other = self.length(2).class;
            of.push(match self.random.below(24) {
                0..8 => Of::Number,
                8..10 => Of::Slice(class),
                10 => Of::Slice(other),
                11..13 => Of::SliceMut(class),
                13 => Of::SliceMut(other),
                14 => Of::NumberMut,
                15..17 => Of::Array,
                17 => Of::Rows,
                18 => Of::Flag,
                19 => Of::Pair,
                20 if self.bodies => Of::Body,
                21 if !tested && !recursive && !self.dual => Of::Function,
                _ => Of::Count,
            });
        }
        if self.lends && !tested && !recursive && !self.dual {
            of.push(Of::Function);
        }
        for of in of {
            let like = match of {
                Of::Slice(_) | Of::SliceMut(_) | Of::Array | Of::Rows => {
                    Type::Rows(Holder::Slice, ARRAYS, ARRAYS)
                }
                Of::Function => Type::Closure(1),
                Of::Count => Type::Index(Below::default()),
                _ => Type::Number,
            };
            let name = loop {
                let name = self.name(&like);
                if parameters.iter().all(|parameter| parameter.name != name) {
                    break name;
                }
            };
            // A constant that is given what carries a gradient ends that.
            let constant = tested && matches!(of, Of::Number | Of::Slice(_)) && self.chance(8);
            parameters.push(Parameter { name, of, constant });
        }
        if recursive {
            parameters.push(Parameter { name: "depth".into(), of: Of::Depth, constant: false });
        }
        parameters
    }

    fn declare(&mut self, parameters: &[Parameter]) {
        for Parameter { name, of, .. } in parameters {
            let slice = |class: &usize, holder| Type::Sequence(holder, Length { class: *class, least: 2 });
            let variable = match of {
                Of::Number => Variable::new(name, Type::Number).bounded(super::numbers::MODERATE),
                Of::NumberMut => Variable::new(name, Type::NumberMut),
                Of::Slice(class) => Variable::new(name, slice(class, Holder::Slice)),
                Of::SliceMut(class) => Variable::new(name, slice(class, Holder::SliceMut)),
                Of::Array => Variable::new(name, Type::Sequence(Holder::Array, ARRAYS)),
                Of::Rows => {
                    let (rows, each) = (self.length(2), self.length(2));
                    Variable::new(name, Type::Rows(Holder::Slice, rows, each))
                }
                Of::Count => Variable::new(name, Type::Index(Below::default())),
                Of::Depth => continue,
                Of::Flag => Variable::new(name, Type::Flag),
                Of::Pair => Variable::new(name, Type::Pair),
                Of::Body => Variable::new(name, Type::Body),
                Of::Function => Variable::new(name, Type::Closure(1)),
            };
            self.scope.push(variable);
        }
    }

    /// Arguments of the function that is tested, of several sizes.
    fn inputs(&mut self) -> Tree {
        let parameters = self.signatures.last().expect("the function that is tested").parameters.clone();
        let lengths = if self.long { [4, 2, 53] } else { [4, 2, 5] };
        let inputs: Vec<_> = lengths
            .iter()
            .map(|&length| {
                let values: Vec<_> =
                    parameters.iter().map(|parameter| self.input(&parameter.of, length)).collect();
                Tree::statement(&format!("({},),", values.join(", ")), [])
            })
            .collect();
        Tree::lines(Kind::Fixed, inputs)
    }

    fn input(&mut self, of: &Of, length: usize) -> String {
        let mut number = || {
            let sign = if self.random.once_in(3) { "-" } else { "" };
            format!("{sign}{}.{:04}", self.random.below(2), 100 + self.random.below(9000))
        };
        let list = |count: usize, number: &mut dyn FnMut() -> String| {
            (0..count).map(|_| number()).collect::<Vec<_>>().join(", ")
        };
        match of {
            Of::Number | Of::NumberMut => number(),
            Of::Slice(_) | Of::SliceMut(_) => format!("vec![{}]", list(length, &mut number)),
            Of::Array => format!("[{}]", list(3, &mut number)),
            Of::Rows => {
                format!("vec![vec![{}], vec![{}]]", list(length, &mut number), list(length, &mut number))
            }
            Of::Count | Of::Depth => self.random.below(4).to_string(),
            Of::Flag => self.random.pick(&["true", "false"]).to_string(),
            Of::Pair => format!("({})", list(2, &mut number)),
            Of::Body => {
                format!("Body {{ mass: {}, speed: {}, at: [{}] }}", number(), number(), list(2, &mut number))
            }
            Of::Function => unreachable!("functions are not for what is tested"),
        }
    }
}

impl Parameter {
    fn declared(&self) -> String {
        let Parameter { name, of, constant } = self;
        let of = match of {
            Of::Number => "f64",
            Of::NumberMut => "&mut f64",
            Of::Slice(_) => "&[f64]",
            Of::SliceMut(_) => "&mut [f64]",
            Of::Array => "[f64; 3]",
            Of::Rows => "&[Vec<f64>]",
            Of::Count | Of::Depth => "usize",
            Of::Flag => "bool",
            Of::Pair => "(f64, f64)",
            Of::Body => "&Body",
            Of::Function => "impl Fn(f64) -> f64",
        };
        let constant = if *constant { "#[constant] " } else { "" };
        format!("{constant}{name}: {of}")
    }
}
