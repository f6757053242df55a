//! Code under a condition, `#[cfg(debug_assertions)] check(x);`, which no macro can tell whether it holds.
//!
//! The compiler can: of an item with a condition in it there are two, one that has what stands under the condition and one that does not,
//! each under the condition itself. What is left is expanded again, with the next condition.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Meta, Stmt};

/// Both items, if there is a condition in `item`, which carries `#[differentiable(options)]`.
pub(crate) fn both(options: &TokenStream, item: &TokenStream) -> Option<TokenStream> {
    if !has_condition(item.clone()) {
        return None;
    }
    let item: syn::Item = syn::parse2(item.clone()).ok()?;
    let condition = conditions(&item).into_iter().next()?;
    let [with, without] = [true, false].map(|holds| {
        let mut item = item.clone();
        Settled { condition: condition.to_string(), holds }.visit_item_mut(&mut item);
        item
    });
    if let Some(left) = conditions(&with).iter().find(|left| left.to_string() == condition.to_string()) {
        let why = "a condition is differentiable in front of a statement, an arm, a parameter or an item: put it there";
        let error = syn::Error::new_spanned(left, why).into_compile_error();
        return Some(quote!(#item #error));
    }
    let options = (!options.is_empty()).then(|| quote!((#options)));
    let marked = quote!(#[::pullback::differentiable #options]);
    Some(quote!(#[cfg(#condition)] #marked #with #[cfg(not(#condition))] #marked #without))
}

/// Those in the item, in order.
fn conditions(item: &syn::Item) -> Vec<TokenStream> {
    struct Conditions(Vec<TokenStream>);
    impl<'ast> syn::visit::Visit<'ast> for Conditions {
        fn visit_attribute(&mut self, attribute: &'ast Attribute) {
            self.0.extend(parts(attribute).map(|(condition, _)| condition));
        }
    }
    let mut found = Conditions(Vec::new());
    syn::visit::Visit::visit_item(&mut found, item);
    found.0
}

/// There may be one, as far as the words tell.
fn has_condition(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(word) => word == "cfg" || word == "cfg_attr",
        proc_macro2::TokenTree::Group(group) => has_condition(group.stream()),
        _ => false,
    })
}

/// The condition of `#[cfg(condition)]` or `#[cfg_attr(condition, …)]`, and the attributes that come of the latter.
fn parts(attribute: &Attribute) -> Option<(TokenStream, Option<Vec<Meta>>)> {
    let Meta::List(list) = &attribute.meta else { return None };
    if list.path.is_ident("cfg") {
        return Some((list.tokens.clone(), None));
    }
    if !list.path.is_ident("cfg_attr") {
        return None;
    }
    let metas = list.parse_args_with(Punctuated::<Meta, syn::Token![,]>::parse_terminated).ok()?;
    let mut metas = metas.into_iter();
    Some((metas.next()?.into_token_stream(), Some(metas.collect())))
}

/// Takes out what stands under the condition if it does not hold, and otherwise the condition.
struct Settled {
    condition: String,
    holds: bool,
}

impl Settled {
    /// Whether that which has these attributes stays, without the condition.
    fn settle(&self, attributes: &mut Vec<Attribute>) -> bool {
        let mut stays = true;
        let settled = std::mem::take(attributes).into_iter().flat_map(|attribute| match parts(&attribute) {
            Some((condition, given)) if condition.to_string() == self.condition => {
                stays &= self.holds || given.is_some();
                let given = given.filter(|_| self.holds).unwrap_or_default();
                given.into_iter().map(|meta| syn::parse_quote!(#[#meta])).collect()
            }
            _ => vec![attribute],
        });
        *attributes = settled.collect();
        stays
    }

    fn settle_each<T, P: Default>(
        &self,
        list: &mut Punctuated<T, P>,
        attributes: impl Fn(&mut T) -> Option<&mut Vec<Attribute>>,
    ) {
        let kept = std::mem::take(list).into_iter().filter_map(|mut item| {
            let stays = attributes(&mut item).is_none_or(|attributes| self.settle(attributes));
            stays.then_some(item)
        });
        *list = kept.collect();
    }
}

impl VisitMut for Settled {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.retain_mut(|statement| match statement {
            Stmt::Local(local) => self.settle(&mut local.attrs),
            Stmt::Macro(mac) => self.settle(&mut mac.attrs),
            Stmt::Item(item) => attributes_of_item(item).is_none_or(|attributes| self.settle(attributes)),
            Stmt::Expr(expr, _) => leading(expr).is_none_or(|attributes| self.settle(attributes)),
        });
        visit_mut::visit_block_mut(self, block);
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Match(m) => m.arms.retain_mut(|arm| self.settle(&mut arm.attrs)),
            Expr::Array(array) => self.settle_each(&mut array.elems, leading),
            Expr::Call(call) => self.settle_each(&mut call.args, leading),
            Expr::MethodCall(call) => self.settle_each(&mut call.args, leading),
            Expr::Tuple(tuple) => self.settle_each(&mut tuple.elems, leading),
            Expr::Struct(literal) => self.settle_each(&mut literal.fields, |field| Some(&mut field.attrs)),
            _ => {}
        }
        visit_mut::visit_expr_mut(self, expr);
    }
    fn visit_pat_struct_mut(&mut self, pattern: &mut syn::PatStruct) {
        self.settle_each(&mut pattern.fields, |field| Some(&mut field.attrs));
        visit_mut::visit_pat_struct_mut(self, pattern);
    }
    fn visit_signature_mut(&mut self, signature: &mut syn::Signature) {
        self.settle_each(&mut signature.inputs, |input| Some(crate::signature::attributes(input)));
        visit_mut::visit_signature_mut(self, signature);
    }
    fn visit_generics_mut(&mut self, generics: &mut syn::Generics) {
        self.settle_each(&mut generics.params, |parameter| {
            Some(match parameter {
                syn::GenericParam::Lifetime(lifetime) => &mut lifetime.attrs,
                syn::GenericParam::Type(ty) => &mut ty.attrs,
                syn::GenericParam::Const(constant) => &mut constant.attrs,
            })
        });
        visit_mut::visit_generics_mut(self, generics);
    }
    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        block.items.retain_mut(|item| match item {
            syn::ImplItem::Const(item) => self.settle(&mut item.attrs),
            syn::ImplItem::Fn(item) => self.settle(&mut item.attrs),
            syn::ImplItem::Type(item) => self.settle(&mut item.attrs),
            syn::ImplItem::Macro(item) => self.settle(&mut item.attrs),
            _ => true,
        });
        visit_mut::visit_item_impl_mut(self, block);
    }
    fn visit_item_trait_mut(&mut self, definition: &mut syn::ItemTrait) {
        definition.items.retain_mut(|item| match item {
            syn::TraitItem::Const(item) => self.settle(&mut item.attrs),
            syn::TraitItem::Fn(item) => self.settle(&mut item.attrs),
            syn::TraitItem::Type(item) => self.settle(&mut item.attrs),
            syn::TraitItem::Macro(item) => self.settle(&mut item.attrs),
            _ => true,
        });
        visit_mut::visit_item_trait_mut(self, definition);
    }
    fn visit_fields_named_mut(&mut self, fields: &mut syn::FieldsNamed) {
        self.settle_each(&mut fields.named, |field| Some(&mut field.attrs));
        visit_mut::visit_fields_named_mut(self, fields);
    }
    fn visit_item_enum_mut(&mut self, definition: &mut syn::ItemEnum) {
        self.settle_each(&mut definition.variants, |variant| Some(&mut variant.attrs));
        visit_mut::visit_item_enum_mut(self, definition);
    }
}

/// The attributes of a statement or an element: the parser has them with the first operand.
fn leading(expr: &mut Expr) -> Option<&mut Vec<Attribute>> {
    Some(match expr {
        Expr::Assign(e) => return leading(&mut e.left),
        Expr::Binary(e) => return leading(&mut e.left),
        Expr::Cast(e) => return leading(&mut e.expr),
        Expr::Array(e) => &mut e.attrs,
        Expr::Block(e) => &mut e.attrs,
        Expr::Break(e) => &mut e.attrs,
        Expr::Call(e) => &mut e.attrs,
        Expr::Closure(e) => &mut e.attrs,
        Expr::Continue(e) => &mut e.attrs,
        Expr::Field(e) => &mut e.attrs,
        Expr::ForLoop(e) => &mut e.attrs,
        Expr::If(e) => &mut e.attrs,
        Expr::Index(e) => &mut e.attrs,
        Expr::Lit(e) => &mut e.attrs,
        Expr::Loop(e) => &mut e.attrs,
        Expr::Macro(e) => &mut e.attrs,
        Expr::Match(e) => &mut e.attrs,
        Expr::MethodCall(e) => &mut e.attrs,
        Expr::Paren(e) => &mut e.attrs,
        Expr::Path(e) => &mut e.attrs,
        Expr::Reference(e) => &mut e.attrs,
        Expr::Repeat(e) => &mut e.attrs,
        Expr::Return(e) => &mut e.attrs,
        Expr::Struct(e) => &mut e.attrs,
        Expr::Try(e) => &mut e.attrs,
        Expr::Tuple(e) => &mut e.attrs,
        Expr::Unary(e) => &mut e.attrs,
        Expr::Unsafe(e) => &mut e.attrs,
        Expr::While(e) => &mut e.attrs,
        _ => return None,
    })
}

fn attributes_of_item(item: &mut syn::Item) -> Option<&mut Vec<Attribute>> {
    Some(match item {
        syn::Item::Const(item) => &mut item.attrs,
        syn::Item::Enum(item) => &mut item.attrs,
        syn::Item::Fn(item) => &mut item.attrs,
        syn::Item::Impl(item) => &mut item.attrs,
        syn::Item::Macro(item) => &mut item.attrs,
        syn::Item::Mod(item) => &mut item.attrs,
        syn::Item::Static(item) => &mut item.attrs,
        syn::Item::Struct(item) => &mut item.attrs,
        syn::Item::Trait(item) => &mut item.attrs,
        syn::Item::Type(item) => &mut item.attrs,
        syn::Item::Use(item) => &mut item.attrs,
        _ => return None,
    })
}
