//! What a block of the forward pass keeps for its counterpart in the reverse pass.

use std::collections::{HashMap, HashSet};

use proc_macro2::TokenStream;
use quote::quote;
use syn::Ident;

use crate::program::*;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Item {
    /// The value of a variable.
    Definition(DefId),
    /// The value of an expression.
    Value(ExprId),
    /// What the pullback of an operator may ask for of its left operand.
    Left(ExprId),
    /// Likewise of its right operand.
    Right(ExprId),
    /// What the rule of a call returned beside the value.
    Residual(ExprId),
    /// The derivative of a method with respect to one of its operands, the receiver being the first.
    Slope(ExprId, usize),
    /// The residual of the branch that was taken, or of an inner block.
    Branch(ExprId),
    /// What a place held before an assignment.
    Old(StmtId),
    /// What it takes to undo a mutation.
    Undo(ExprId),
    /// The range of a loop.
    Range(StmtId),
    /// How often a `while` loop ran.
    Count(StmtId),
    /// The last iteration of a loop that counts.
    Last(StmtId),
    /// A local that lives in memory, as the block leaves it.
    Final(VarId),
}

impl Item {
    /// The expression that it comes from.
    pub(crate) fn expr(self) -> Option<ExprId> {
        match self {
            Item::Value(e) | Item::Left(e) | Item::Right(e) | Item::Residual(e) | Item::Slope(e, _) => {
                Some(e)
            }
            Item::Branch(e) | Item::Undo(e) => Some(e),
            _ => None,
        }
    }
}

/// For each block what it keeps, under which name, in the order in which the reverse pass asked for it.
pub(crate) struct Kept {
    items: HashMap<BlockId, Vec<(Item, Ident)>>,
    /// Names taken, so that all of a function's differ.
    names: HashSet<String>,
}

/// Names that the passes use without asking.
pub(crate) const RESERVED: [&str; 4] = ["d", "value", "pending", "target"];

impl Kept {
    /// Nothing kept, and `names` taken.
    pub(crate) fn new(names: impl Iterator<Item = String>) -> Self {
        Kept { items: HashMap::new(), names: RESERVED.map(String::from).into_iter().chain(names).collect() }
    }

    /// Keeps `item` in `block`, under a name that starts with `name`.
    pub(crate) fn keep(&mut self, block: BlockId, item: Item, name: &str) -> Ident {
        if let Some(ident) = self.name(block, item) {
            return ident;
        }
        let ident = self.fresh(name);
        self.items.entry(block).or_default().push((item, ident.clone()));
        ident
    }

    /// Keeps `item` under a name of the user's.
    pub(crate) fn keep_as(&mut self, block: BlockId, item: Item, ident: Ident) {
        if self.name(block, item).is_none() {
            self.items.entry(block).or_default().push((item, ident));
        }
    }

    /// A name for generated code, which cannot meet the user's.
    pub(crate) fn fresh(&mut self, name: &str) -> Ident {
        let name = &name.replace("r#", "raw_");
        let numbered = (2..).map(|n| format!("{name}_{n}"));
        let text = std::iter::once(name.to_string())
            .chain(numbered)
            .find(|text| !self.names.contains(text))
            .expect("there are enough numbers");
        self.names.insert(text.clone());
        Ident::new(&text, proc_macro2::Span::mixed_site())
    }

    pub(crate) fn name(&self, block: BlockId, item: Item) -> Option<Ident> {
        self.items(block).iter().find(|(i, _)| *i == item).map(|(_, ident)| ident.clone())
    }

    pub(crate) fn is_empty(&self, block: BlockId) -> bool {
        self.items(block).is_empty()
    }

    /// What `block` keeps.
    pub(crate) fn items(&self, block: BlockId) -> &[(Item, Ident)] {
        self.items.get(&block).map_or(&[], Vec::as_slice)
    }

    /// The residual of `block`, as a pattern.
    pub(crate) fn pattern(&self, block: BlockId) -> TokenStream {
        let names = self.items(block).iter().map(|(item, name)| match item {
            Item::Final(_) => quote!(mut #name),
            _ => quote!(#name),
        });
        group(names.collect())
    }
}

/// One thing as it is, otherwise a tuple.
pub(crate) fn group(names: Vec<TokenStream>) -> TokenStream {
    match &names[..] {
        [one] => one.clone(),
        many => quote!((#(#many),*)),
    }
}
