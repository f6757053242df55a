//! Methods of `Option` and `Result` that take a function, as what they are: a `match`, or a call of the function with what is there.

use quote::{ToTokens, quote};
use syn::{Expr as Syn, ExprMethodCall, Ident, Pat, Stmt, parse_quote, parse_quote_spanned};

use crate::contents::referred;
use crate::escape::{acts, escapes, writes};
use crate::outcome::{inside_type, is_option};
use crate::parse::Parser;
use crate::program::*;
use crate::rename::path;
use crate::statements::referent;
use crate::temporaries::unused_start;

/// Nothing but an `Option` or a `Result` has these.
const OF_OPTIONS: [&str; 3] = ["and_then", "or", "or_else"];

impl Parser<'_> {
    /// `option.map(f).unwrap_or(other)`, `option.map_or(other, f)`, `option.map(f).unwrap()`, `option.unwrap_or_else(f)` and the like.
    pub(crate) fn mapped_option(&self, call: &ExprMethodCall) -> Option<Syn> {
        if !self.suspects.any(call) {
            return None;
        }
        let args: Vec<&Syn> = call.args.iter().collect();
        let (option, mut functions) = mapped(&call.receiver);
        let names = unused_start(&call.to_token_stream().to_string());
        match (call.method.to_string().as_str(), &args[..]) {
            ("map_or", [other, f]) if self.is_pure(other) => {
                functions.push(f);
                self.eager(&names, option, &functions, other)
            }
            // An error need not be `Copy`.
            ("unwrap_or", [other])
                if (!functions.is_empty() || matches!(option, Syn::Call(_))) && self.is_pure(other) =>
            {
                self.eager(&names, option, &functions, other)
            }
            ("unwrap_or_default", []) if !functions.is_empty() || matches!(option, Syn::Call(_)) => {
                self.eager(&names, option, &functions, &parse_quote!(::core::default::Default::default()))
            }
            ("unwrap_or_else", [Syn::Closure(other)]) => {
                let other = without_error(other)?;
                self.either(&names, option, &functions, other)
            }
            ("map_or_else", [Syn::Closure(other), f]) => {
                let other = without_error(other)?;
                functions.push(f);
                self.either(&names, option, &functions, other)
            }
            ("unwrap" | "expect", _) if !functions.is_empty() => {
                let method = &call.method;
                applied(&functions, parse_quote!(#option.#method(#(#args),*)))
            }
            _ => None,
        }
    }

    /// A method that makes an option of one: `option.and_then(f)`, `option.filter(test)`, `option.or(other)`, `option.zip(other)` and the
    /// like, and `option.map(f)` where nothing takes it apart.
    pub(crate) fn option_of_option(&mut self, call: &ExprMethodCall) -> Option<Syn> {
        if !self.suspects.any(call) {
            return None;
        }
        if let Some((option, before, error)) = self.or_error(call) {
            let names = unused_start(&call.to_token_stream().to_string());
            let (option, functions) = mapped(option);
            let there = name(&names, "there");
            let value = applied(&functions, parse_quote!(#there))?;
            let result: Syn = parse_quote!(match #option { Some(#there) => Ok(#value), None => Err(#error) });
            return Some(match before {
                Some(before) => parse_quote!({ #before #result }),
                None => result,
            });
        }
        if !self.may_be_option(&call.receiver)
            && !self.is_named_option(call)
            && !self.is_of_item(call)
            && !makes_result(&call.receiver)
        {
            return None;
        }
        let (option, names) = (&call.receiver, unused_start(&call.to_token_stream().to_string()));
        let (there, second) = (name(&names, "there"), name(&names, "second"));
        let args: Vec<&Syn> = call.args.iter().collect();
        if makes_result(option) {
            let [f] = &args[..] else { return None };
            let value = applied(&[f], parse_quote!(#there))?;
            return match call.method.to_string().as_str() {
                "map" => Some(
                    parse_quote!(match #option { Ok(#there) => Ok(#value), Err(#second) => Err(#second) }),
                ),
                "and_then" => {
                    Some(parse_quote!(match #option { Ok(#there) => #value, Err(#second) => Err(#second) }))
                }
                _ => None,
            };
        }
        Some(match (call.method.to_string().as_str(), &args[..]) {
            ("map", [f]) => {
                let value = applied(&[f], parse_quote!(#there))?;
                parse_quote!(match #option { Some(#there) => Some(#value), None => None })
            }
            ("and_then", [f]) => {
                let value = applied(&[f], parse_quote!(#there))?;
                parse_quote!(match #option { Some(#there) => #value, None => None })
            }
            ("filter", [Syn::Closure(_)]) => {
                let value = applied(&args, parse_quote!(&#there))?;
                parse_quote!(match #option {
                    Some(#there) => if #value { Some(#there) } else { None },
                    None => None,
                })
            }
            ("or_else", [Syn::Closure(other)]) if other.inputs.is_empty() && !escapes(&other.body) => {
                let other = as_option(&other.body, &second);
                parse_quote!(match #option { Some(#there) => Some(#there), None => #other })
            }
            ("or", [other]) => parse_quote!({
                let #second = #other;
                match #option { Some(#there) => Some(#there), None => #second }
            }),
            ("zip", [other]) => parse_quote!(match (#option, #other) {
                (Some(#there), Some(#second)) => Some((#there, #second)),
                _ => None,
            }),
            _ => return None,
        })
    }

    /// `item.ok_or(error)` and `item.ok_or_else(f)`: the item that may be there, what happens before, and the error.
    fn or_error<'c>(&mut self, call: &'c ExprMethodCall) -> Option<(&'c Syn, Option<Stmt>, Syn)> {
        let (before, error) = self.missing(call)?;
        // What is evaluated before may be another error then.
        let at_once = before.is_none() || !writes(&call.receiver);
        (at_once && self.is_optional_item(&call.receiver)).then_some((&*call.receiver, before, error))
    }

    /// What `ok_or` and `ok_or_else` make of nothing: what is evaluated in either case, and the error.
    fn missing(&mut self, call: &ExprMethodCall) -> Option<(Option<Stmt>, Syn)> {
        Some(match (call.method.to_string().as_str(), call.args.first()?) {
            ("ok_or", error) if puts_together(error) => (None, error.clone()),
            ("ok_or", error) => {
                let name = self.parts.fresh("error");
                (Some(parse_quote!(let #name = #error;)), path(&name))
            }
            ("ok_or_else", Syn::Closure(error)) if error.inputs.is_empty() && !escapes(&error.body) => {
                (None, (*error.body).clone())
            }
            ("ok_or_else", function @ Syn::Path(_)) => (None, parse_quote!(#function())),
            _ => return None,
        })
    }

    /// An item that may be there, as it is or written as an `if`, or what methods of options make of one.
    fn is_optional_item(&mut self, expr: &Syn) -> bool {
        const OF_ITEMS: [&str; 3] = ["filter", "map", "zip"];
        match expr {
            Syn::Paren(paren) => self.is_optional_item(&paren.expr),
            Syn::If(_) => self.is_optional(expr),
            Syn::MethodCall(call) => {
                self.is_item(expr)
                    || OF_OPTIONS.iter().chain(&OF_ITEMS).any(|name| call.method == name)
                        && self.is_optional_item(&call.receiver)
            }
            expr => self.is_item(expr),
        }
    }

    /// `x.last().copied().filter(test)` and the like
    fn is_of_item(&mut self, call: &ExprMethodCall) -> bool {
        call.method != "map" && self.is_optional_item(&call.receiver)
    }

    /// A field, or what a method has returned, is an option, as the names of the methods tell that are called on it.
    fn is_named_option(&self, call: &ExprMethodCall) -> bool {
        let is = |names: &[&str]| names.iter().any(|name| call.method == name);
        let told = match root(&call.receiver) {
            Syn::Field(_) => is(&OF_OPTIONS) || is(&["zip"]),
            Syn::MethodCall(_) => (is(&OF_OPTIONS) || is(&["filter"])) && !self.is_chain(&call.receiver),
            _ => return false,
        };
        told || matches!(&*call.receiver, Syn::MethodCall(inner) if self.is_named_option(inner))
    }

    /// The expression is the result of a call, or of such a method, or a variable or an element that is told to be an option.
    pub(crate) fn may_be_option(&self, expr: &Syn) -> bool {
        self.makes_option(expr)
            || self.type_of(root(expr)).is_some_and(|ty| inside_type(&ty).is_some())
            || self.variable(root(expr)).is_some_and(|id| {
                let told = self.program.variables[id].ty.as_ref();
                self.is_result(id) || told.is_some_and(|ty| is_option(ty))
            })
    }

    /// The expression is the result of a call, or what such methods make of that, or that of a method which tells by its name.
    fn makes_option(&self, expr: &Syn) -> bool {
        const SEARCHES: [&str; 8] =
            ["position", "rposition", "find", "min_by", "max_by", "min_by_key", "max_by_key", "reduce"];
        let told = |name: String| SEARCHES.contains(&name.as_str()) || name.starts_with("checked_");
        matches!(root(expr), Syn::Call(call) if self.closure(&call.func).is_none())
            || matches!(expr, Syn::MethodCall(call) if told(call.method.to_string()))
    }

    /// The local is bound to what a call has returned, or a method of an option.
    fn is_result(&self, id: VarId) -> bool {
        self.program.init_of(id).is_some_and(|init| self.makes_option(&self.program.exprs[init].syntax))
    }

    /// `option.take()` and `option.replace(value)`, as what they are; of a field, whose type nothing tells, these names do.
    pub(crate) fn exchanged_option(&mut self, call: &ExprMethodCall) -> Option<Syn> {
        let place = self.place(&call.receiver)?;
        let option = self.type_of(&call.receiver).is_some_and(|ty| inside_type(&ty).is_some());
        let field = exchanges_field(call);
        if !self.suspects.any(call) || !(option && place.projections.is_empty() || field) {
            return None;
        }
        let option: Syn = match &*call.receiver {
            receiver @ Syn::Path(_) if self.program.variables[place.base].by_reference() => {
                parse_quote!(*#receiver)
            }
            receiver => receiver.clone(),
        };
        let span = call.method.span();
        match (call.method.to_string().as_str(), call.args.first()) {
            ("take", None) => Some(parse_quote_spanned!(span=> ::core::mem::take(&mut #option))),
            ("replace", Some(value)) => {
                Some(parse_quote_spanned!(span=> ::core::mem::replace(&mut #option, Some(#value))))
            }
            ("get_or_insert" | "get_or_insert_with" | "get_or_insert_default" | "insert" | "take_if", _) => {
                self.errors.push(
                    &call.method,
                    "this method of an `Option` is not differentiable: assign to it, `if x.is_none() { x = Some(v); }`, and look into it by \
                     `unwrap`, `match` or `if let`",
                );
                None
            }
            _ => None,
        }
    }

    /// What the functions make of what is there, or `other`, with variables whose names nobody else uses: they begin with `names`.
    fn either(&self, names: &str, option: &Syn, functions: &[&Syn], other: &Syn) -> Option<Syn> {
        if let [function @ Syn::Path(_), rest @ ..] = functions
            && matches!(option, Syn::MethodCall(call) if referred(option).is_some() && self.suspects.any(&call.receiver))
        {
            // It gets a reference to what is there.
            let there = name(names, "there");
            let closure: Syn = parse_quote!(|#there| #function(#there));
            let functions: Vec<_> = std::iter::once(&closure).chain(rest.iter().copied()).collect();
            return self.either(names, option, &functions, other);
        }
        if let [Syn::Closure(closure), rest @ ..] = functions
            && closure.inputs.len() == 1
            && (self.may_be_missing(option)
                || self.is_handled(&closure.inputs[0], [&Stmt::Expr((*closure.body).clone(), None)])
                || matches!(option, Syn::MethodCall(_))
                    && referred(option).is_some()
                    && self.is_struct(&closure.inputs[0], [&Stmt::Expr((*closure.body).clone(), None)]))
            && !escapes(&closure.body)
        {
            // A vector is taken out, or referred to.
            let (vector, body) = (&closure.inputs[0], &closure.body);
            let value = applied(rest, parse_quote!({ #body }))?;
            return Some(parse_quote!(match #option { Some(#vector) => #value, None => #other }));
        }
        let (whole, there) = (name(names, "option"), name(names, "there"));
        let value = applied(functions, parse_quote!(#there))?;
        if self.may_be_missing(option) {
            return Some(parse_quote!(match #option { Some(#there) => #value, None => #other }));
        }
        if matches!(option, Syn::Call(_)) {
            // It is not kept: its error may be anything.
            return Some(parse_quote!(match #option.maybe() { Some(#there) => #value, None => #other }));
        }
        Some(parse_quote!({
            let #whole = #option;
            match #whole.maybe() { Some(#there) => #value, None => #other }
        }))
    }

    /// The same for an `other` that is evaluated in either case.
    fn eager(&self, names: &str, option: &Syn, functions: &[&Syn], other: &Syn) -> Option<Syn> {
        let default = name(names, "other");
        let value = self.either(names, option, functions, &parse_quote!(#default))?;
        Some(parse_quote!({ let #default = #other; #value }))
    }

    /// `option.map(f)?`
    pub(crate) fn mapped_try(&self, tried: &syn::ExprTry) -> Option<Syn> {
        let (option, functions) = mapped(&tried.expr);
        if functions.is_empty() || !self.suspects.any(&tried.expr) {
            return None;
        }
        applied(&functions, parse_quote!(#option?))
    }
}

impl Parser<'_> {
    /// `let v = option.ok_or(error)?;`, of an option that is there, or of an item: `let Some(v) = option else { return Err(error) };`
    pub(crate) fn let_present(&mut self, local: &syn::Local) -> Option<Vec<Stmt>> {
        let Syn::Try(tried) = &*local.init.as_ref()?.expr else { return None };
        let Syn::MethodCall(call) = &*tried.expr else { return None };
        let (option, pattern) = (&call.receiver, &local.pat);
        let (before, error) = self.missing(call)?;
        // An error that is made before may be another one then.
        let item = (before.is_none() || !writes(option)) && self.is_item(option);
        if !self.suspects.any(option) || self.place(option).is_none() && !item {
            return None;
        }
        let (pattern, ty) = match pattern {
            Pat::Type(typed) => (&*typed.pat, Some(&typed.ty)),
            pattern => (pattern, None),
        };
        let stop = self.stop(parse_quote!(Err(::core::convert::From::from(#error))));
        let mut out: Vec<Stmt> = before.into_iter().collect();
        if item && ty.is_none() {
            out.push(parse_quote!(let Some(#pattern) = #option else { #stop };));
            return Some(out);
        }
        let (inside, typed) = (self.parts.fresh("inside"), ty.map(|ty| quote!(: #ty)));
        out.push(parse_quote!(let Some(#inside) = #option else { #stop };));
        out.push(parse_quote!(let #pattern #typed = #inside;));
        Some(out)
    }

    /// An item that may be there: `x.last()`, `x.iter().copied().reduce(f64::max)`.
    fn is_item(&mut self, expr: &Syn) -> bool {
        self.optional_item(expr, &mut Vec::new(), &mut Vec::new()).is_some()
    }
}

/// `option.ok_or(error)` and the like, and what `map` and `and_then` make of it.
fn makes_result(expr: &Syn) -> bool {
    let Syn::MethodCall(call) = expr else { return false };
    match call.method.to_string().as_str() {
        "ok_or" | "ok_or_else" | "map_err" => true,
        "map" | "and_then" => makes_result(&call.receiver),
        _ => false,
    }
}

/// `s.last.take()` and `s.last.replace(value)`: of a field these are methods of an option, as far as their names tell.
pub(crate) fn exchanges_field(call: &ExprMethodCall) -> bool {
    let named =
        call.method == "take" && call.args.is_empty() || call.method == "replace" && call.args.len() == 1;
    named && matches!(&*call.receiver, Syn::Field(_))
}

/// A value of which is known that it is an option, `option.map(f)`, as what it is.
fn as_option(value: &Syn, there: &Ident) -> Syn {
    match value {
        Syn::MethodCall(call)
            if call.method == "map"
                && call.args.len() == 1
                && let Some(inside) = applied(&[&call.args[0]], parse_quote!(#there)) =>
        {
            let option = &call.receiver;
            parse_quote!(match #option { Some(#there) => Some(#inside), None => None })
        }
        value => value.clone(),
    }
}

/// An error that is put together from what is there, and so may be where it is needed.
fn puts_together(error: &Syn) -> bool {
    match error {
        Syn::Call(call) => is_constructor(&call.func) && call.args.iter().all(puts_together),
        Syn::Struct(literal) => {
            literal.rest.is_none() && literal.fields.iter().all(|f| puts_together(&f.expr))
        }
        error => !acts(error),
    }
}

/// By its name, `Error::At` or `Failed`, a variant of an enum or a struct.
pub(crate) fn is_constructor(function: &Syn) -> bool {
    let Syn::Path(path) = function else { return false };
    path.path.segments.last().is_some_and(|last| last.ident.to_string().starts_with(char::is_uppercase))
}

/// What a closure makes where there is nothing: what takes an error has no gradient of it.
fn without_error(other: &syn::ExprClosure) -> Option<&Syn> {
    let ignores = other.inputs.iter().all(|input| matches!(input, Pat::Wild(_)));
    (ignores && !escapes(&other.body)).then_some(&other.body)
}

/// What methods that make options of options are called on.
fn root(expr: &Syn) -> &Syn {
    match expr {
        Syn::Paren(paren) => root(&paren.expr),
        Syn::MethodCall(call)
            if ["map", "and_then", "filter", "or", "or_else", "zip", "take", "ok"]
                .iter()
                .any(|name| call.method == name) =>
        {
            root(&call.receiver)
        }
        expr => expr,
    }
}

fn name(start: &str, role: &str) -> Ident {
    Program::fresh(&format!("{start}_{role}"))
}

/// What `map` is called on, and with which functions, in order.
pub(crate) fn mapped(mut option: &Syn) -> (&Syn, Vec<&Syn>) {
    let mut functions = Vec::new();
    while let Syn::MethodCall(call) = option
        && call.method == "map"
        && call.args.len() == 1
    {
        functions.insert(0, &call.args[0]);
        option = &call.receiver;
    }
    (option, functions)
}

/// The functions, one after the other, of `value`: if they are closures that nothing leaves, or paths, or references to such.
pub(crate) fn applied(functions: &[&Syn], value: Syn) -> Option<Syn> {
    functions.iter().try_fold(value, |value, f| match referent(f) {
        Syn::Closure(closure) if closure.inputs.len() == 1 && !escapes(&closure.body) => {
            let (input, body) = (&closure.inputs[0], &closure.body);
            let bound: Stmt = parse_quote!(let #input = #value;);
            Some(parse_quote!({ #bound #body }))
        }
        Syn::Path(path) => Some(parse_quote!(#path(#value))),
        _ => None,
    })
}
