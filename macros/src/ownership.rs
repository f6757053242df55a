//! Which of the user's types own memory. The macro sees no declaration of a type; but that a `Vec` becomes a field of it, or that something
//! is pushed to a field, tells. Where nothing does, `#[pullback(by_reference)]` says so.

use std::collections::{HashMap, HashSet};

use syn::visit::{self, Visit};
use syn::{Expr, FnArg, Ident, ImplItem, ItemImpl, Member, Pat, Path, ReturnType, Stmt, Type};

use crate::annotation::take_owner;
use crate::boxing::some_in_box;
use crate::kind::{kind_of_type, names_other_type};
use crate::mutation::owned_type;
use crate::signature::type_name;

/// The types that own memory.
#[derive(Clone, Default)]
pub(crate) struct Owners {
    names: HashSet<String>,
    /// What `Self` stands for.
    this: Option<String>,
}

impl Owners {
    /// Those that a function shows; `owner` is what `Self` stands for.
    pub(crate) fn of_function(sig: &syn::Signature, body: &syn::Block, owner: Option<&Type>) -> Self {
        Self::found(|looking| looking.function(sig, body), owner)
    }

    /// Those that the methods of an `impl` show.
    pub(crate) fn of_impl(block: &ItemImpl) -> Self {
        let functions = |looking: &mut Looking| {
            for item in &block.items {
                if let ImplItem::Fn(method) = item {
                    looking.function(&method.sig, &method.block);
                }
            }
        };
        Self::found(functions, Some(&block.self_ty))
    }

    fn found(look: impl Fn(&mut Looking), owner: Option<&Type>) -> Self {
        let owners = Owners { names: HashSet::new(), this: owner.map(name) };
        let mut looking = Looking { owners, types: HashMap::new() };
        loop {
            // What is made of one that owns memory owns it, too.
            let before = looking.owners.names.len();
            look(&mut looking);
            if looking.owners.names.len() == before {
                return looking.owners;
            }
        }
    }

    /// The type is one of them.
    pub(crate) fn insert(&mut self, ty: &Type) {
        self.names.insert(name(ty));
    }

    /// None is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The name is that of one of them.
    pub(crate) fn know(&self, name: &Ident) -> bool {
        self.names.contains(&self.named(name.to_string()))
    }

    /// The name is that of the type whose methods these are.
    pub(crate) fn are_of(&self, name: &Ident) -> bool {
        name == "Self" || self.this.as_ref().is_some_and(|this| name == this)
    }

    /// What is called so, with a name for `Self`.
    fn named(&self, name: String) -> String {
        match &self.this {
            Some(this) if name == "Self" => this.clone(),
            _ => name,
        }
    }

    /// A value of this type owns memory, as far as the syntax tells.
    pub(crate) fn own(&self, ty: &Type) -> bool {
        owned_type(ty) || names_other_type(ty, &kind_of_type(ty)) && self.know(&type_name(ty))
    }
}

fn name(ty: &Type) -> String {
    type_name(ty).to_string()
}

/// Methods of vectors, which fields that are copied do not have.
const OF_VECTORS: [&str; 14] = [
    "append",
    "clear",
    "dedup",
    "drain",
    "extend",
    "extend_from_slice",
    "insert",
    "into_boxed_slice",
    "pop",
    "push",
    "remove",
    "resize",
    "retain",
    "truncate",
];

struct Looking {
    owners: Owners,
    /// Of the variables that are known to have one.
    types: HashMap<String, String>,
}

/// The type of a variable that owns memory in any case.
const VECTOR: &str = "Vec";

impl Looking {
    fn function(&mut self, sig: &syn::Signature, body: &syn::Block) {
        self.types.clear();
        for input in &sig.inputs {
            match input {
                FnArg::Receiver(_) => {
                    self.types.extend(self.owners.this.clone().map(|this| ("self".to_owned(), this)));
                }
                FnArg::Typed(typed) => self.declare(&typed.pat, &typed.ty),
            }
        }
        self.visit_block(body);
        // A field that is returned as a `Vec` is one.
        if let (ReturnType::Type(_, ty), Some(Stmt::Expr(Expr::Field(field), None))) =
            (&sig.output, body.stmts.last())
            && owned_type(ty)
        {
            self.holds(&field.base);
        }
    }

    fn declare(&mut self, pattern: &Pat, ty: &Type) {
        let ty = match ty {
            Type::Reference(reference) => &*reference.elem,
            ty => ty,
        };
        if let (Pat::Ident(variable), Type::Path(_)) = (pattern, ty) {
            let ty = if owned_type(ty) { VECTOR.to_owned() } else { self.owners.named(name(ty)) };
            self.types.insert(variable.ident.to_string(), ty);
        }
    }

    /// What the value is a part of owns memory.
    fn holds(&mut self, value: &Expr) {
        match value {
            Expr::Path(path) => {
                let known = path.path.get_ident().and_then(|name| self.types.get(&name.to_string()));
                if let Some(ty) = known.filter(|ty| *ty != VECTOR) {
                    self.owners.names.insert(ty.clone());
                }
            }
            Expr::Field(field) => self.holds(&field.base),
            Expr::Paren(paren) => self.holds(&paren.expr),
            _ => {}
        }
    }

    /// The value owns memory, as its syntax tells.
    fn owns(&self, value: &Expr) -> bool {
        match value {
            boxed if some_in_box(boxed) => true,
            Expr::Paren(paren) => self.owns(&paren.expr),
            Expr::Macro(mac) => mac.mac.path.is_ident("vec"),
            Expr::Path(path) => {
                let known = path.path.get_ident().and_then(|name| self.types.get(&name.to_string()));
                known.is_some_and(|ty| ty == VECTOR || self.owners.names.contains(ty))
            }
            Expr::MethodCall(call) => match call.method.to_string().as_str() {
                "collect" | "to_vec" => true,
                // Numbers have these as well, of which nobody clones a field.
                "clone" | "to_owned" => {
                    self.owns(&call.receiver) || matches!(&*call.receiver, Expr::Field(_))
                }
                _ => false,
            },
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    let owner =
                        path.path.segments.iter().rev().nth(1).map(|segment| segment.ident.to_string());
                    owner.is_some_and(|owner| {
                        let ty: Option<Type> = syn::parse_str(&owner).ok();
                        owner == VECTOR || ty.as_ref().is_some_and(owned_type)
                    })
                }
                _ => false,
            },
            Expr::Struct(literal) => {
                literal.fields.iter().any(|field| self.owns(&field.expr))
                    || made(&literal.path)
                        .is_some_and(|name| self.owners.names.contains(&self.owners.named(name)))
            }
            _ => false,
        }
    }
}

/// The name of the struct that a literal makes; of an enum nothing is said.
fn made(path: &Path) -> Option<String> {
    let variant = path
        .segments
        .iter()
        .rev()
        .nth(1)
        .is_some_and(|s| s.ident.to_string().starts_with(char::is_uppercase));
    path.segments.last().filter(|_| !variant).map(|segment| segment.ident.to_string())
}

impl Visit<'_> for Looking {
    fn visit_local(&mut self, local: &syn::Local) {
        visit::visit_local(self, local);
        if let Some(ty) = take_owner(&mut local.clone()) {
            self.owners.insert(&ty);
        }
        match (&local.pat, &local.init) {
            (Pat::Type(typed), _) => self.declare(&typed.pat, &typed.ty),
            (Pat::Ident(variable), Some(init)) => {
                let literal = match &*init.expr {
                    Expr::Struct(literal) => made(&literal.path).map(|name| self.owners.named(name)),
                    _ => None,
                };
                let ty = literal.or_else(|| self.owns(&init.expr).then(|| VECTOR.to_owned()));
                match ty {
                    Some(ty) => self.types.insert(variable.ident.to_string(), ty),
                    None => self.types.remove(&variable.ident.to_string()),
                };
            }
            _ => {}
        }
    }
    fn visit_expr_struct(&mut self, literal: &syn::ExprStruct) {
        visit::visit_expr_struct(self, literal);
        if literal.fields.iter().any(|field| self.owns(&field.expr))
            && let Some(name) = made(&literal.path)
        {
            let name = self.owners.named(name);
            self.owners.names.insert(name);
        }
    }
    fn visit_expr_method_call(&mut self, call: &syn::ExprMethodCall) {
        visit::visit_expr_method_call(self, call);
        if !OF_VECTORS.iter().any(|name| call.method == name) {
            return;
        }
        match &*call.receiver {
            Expr::Field(_) => self.holds(&call.receiver),
            Expr::Path(path) => {
                let name = path.path.get_ident().map(Ident::to_string);
                name.map(|name| self.types.entry(name).or_insert_with(|| VECTOR.to_owned()));
            }
            _ => {}
        }
    }
    fn visit_expr_assign(&mut self, assign: &syn::ExprAssign) {
        visit::visit_expr_assign(self, assign);
        if let Expr::Field(field) = &*assign.left
            && matches!(field.member, Member::Named(_))
            && self.owns(&assign.right)
        {
            self.holds(&field.base);
        }
    }
    fn visit_item(&mut self, _: &syn::Item) {}
}
