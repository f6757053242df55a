//! Optional items: the `Option` that a chain or a method of a slice ends in, and what becomes of it.

use quote::ToTokens;
use syn::{Expr, ExprMethodCall, Stmt, parse_quote};

use crate::closures::{Refused, Site};
use crate::iterators::consumers::TO_OPTION;
use crate::iterators::item::Item;
use crate::iterators::source::Source;
use crate::parse::Parser;
use crate::rename::path;

/// From one `Option` to another.
const STEPS: &[&str] = &["map", "copied", "cloned"];

const OF_OPTION: &[&str] = &["map", "copied", "cloned", "unwrap", "expect", "unwrap_or", "unwrap_or_default"];

const OPTION: &str = "this `Option` is differentiable with `unwrap`, `expect`, `unwrap_or` or `?` behind it, and in an `if let`, a `match` \
     or a `let … else` that takes it apart";

/// An optional item: whether there is one, and where it is found after the loop.
pub(crate) struct Found {
    pub(crate) exists: Expr,
    pub(crate) item: Located,
}

pub(crate) enum Located {
    /// At an index of a source.
    At(Box<Source>, Expr),
    There(Item),
    /// By these statements, where there is one.
    Made(Vec<Stmt>, Item),
}

impl<'e> Parser<'e> {
    /// What becomes of an optional item.
    pub(super) fn option(
        &mut self,
        found: Found,
        behind: &[&ExprMethodCall],
        call: &ExprMethodCall,
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        let exists = found.exists;
        let Some((last, steps)) =
            behind.split_last().filter(|(last, _)| !STEPS.contains(&last.method.to_string().as_str()))
        else {
            let mut inner = Vec::new();
            return match self.item_behind(found.item, behind, &mut inner)? {
                Item::Place { .. } => Err((call.method.to_token_stream(), OPTION.into())),
                item => {
                    let value = item.expr();
                    Ok(Item::Value(parse_quote!(if #exists { #(#inner)* Some(#value) } else { None })))
                }
            };
        };
        let or: Option<Expr> = match (last.method.to_string().as_str(), last.args.first()) {
            ("unwrap", None) => None,
            ("expect", Some(_)) => None,
            ("unwrap_or", Some(other)) => Some(other.clone()),
            ("unwrap_or_default", None) => Some(parse_quote!(0.0)),
            _ => {
                return Err((last.method.to_token_stream(), OPTION.into()));
            }
        };
        let mut inner = Vec::new();
        let item = self.item_behind(found.item, steps, &mut inner)?;
        match or {
            None => {
                let message = match last.args.first() {
                    Some(message) => message.to_token_stream(),
                    None => quote::quote!("called `Option::unwrap()` on a `None` value"),
                };
                out.push(parse_quote!(assert!(#exists, "{}", #message);));
                out.extend(inner);
                Ok(item)
            }
            Some(other) => match (item, other) {
                // One of two places: the number itself, as a place of its own.
                (Item::Place { place, .. }, Expr::Reference(other)) => {
                    let (name, other) = (self.hidden("item"), other.expr);
                    out.push(parse_quote!(let #name = if #exists { #(#inner)* #place } else { #other };));
                    Ok(Item::Place { place: path(&name), unique: false })
                }
                (item @ (Item::Place { .. } | Item::Tuple(_)), _) => {
                    let why = "this is differentiable for numbers: put `copied` before it";
                    Err((item.expr().to_token_stream(), why.into()))
                }
                (item, other) => {
                    let value = item.expr();
                    Ok(Item::Value(parse_quote!(if #exists { #(#inner)* #value } else { #other })))
                }
            },
        }
    }

    /// An optional item that is there, and what `steps` make of it, by statements that may stand among the user's.
    fn item_behind(
        &mut self,
        item: Located,
        steps: &[&ExprMethodCall],
        out: &mut Vec<Stmt>,
    ) -> Result<Item, Refused> {
        let site = Site::Block;
        let mut item = match item {
            Located::At(source, index) => self.item_at(&source, &index, site, out)?,
            Located::There(item) => item,
            Located::Made(statements, item) => {
                out.extend(statements);
                item
            }
        };
        for step in steps {
            item = match (step.method.to_string().as_str(), step.args.first()) {
                ("copied" | "cloned", None) => item.copied(),
                ("map", Some(function)) => {
                    let function = self.function(function)?;
                    self.mapped(&function, item, site, out)?
                }
                _ => return Err((step.method.to_token_stream(), "this is not differentiable here".into())),
            };
        }
        Ok(item)
    }

    /// An `Option` that a chain, or a method of a slice, ends in: whether there is an item, and that item. What has to be
    /// computed for the one goes to `out`, for the other to `inner`.
    pub(crate) fn optional_item(
        &mut self,
        expr: &Expr,
        out: &mut Vec<Stmt>,
        inner: &mut Vec<Stmt>,
    ) -> Option<Result<(Expr, Item), Refused>> {
        if let Some(Found { exists, item }) = self.held_item(expr) {
            let item = self.item_behind(item, &[], inner);
            return Some(item.map(|item| (exists, item)));
        }
        let is_step = |step: &&ExprMethodCall| STEPS.contains(&step.method.to_string().as_str());
        let (root, behind) = behind_option(expr);
        if behind.iter().all(is_step)
            && let Some(found) = self.named_option(root)
        {
            return Some(found.and_then(|found| {
                let item = self.item_behind(found.item, &behind, inner)?;
                Ok((found.exists, item))
            }));
        }
        let Expr::MethodCall(consumer) = root else { return None };
        if !behind.iter().all(is_step) {
            return None;
        }
        let around = self.around(expr);
        let site = Site::Chain(&around);
        let found = match self.optional_part(consumer, out) {
            Some(found) => Ok(found),
            None => {
                let name = consumer.method.to_string();
                if !TO_OPTION.contains(&name.as_str()) {
                    return None;
                }
                let rest = self.before_next(consumer, out);
                match self.flow_of_receiver(rest.as_ref().unwrap_or(&consumer.receiver), out) {
                    Ok(Some(flow)) => self.found(consumer, &name, &flow, site, out),
                    Ok(None) => return None,
                    Err(refused) => Err(refused),
                }
            }
        };
        Some(found.and_then(|found| {
            let item = self.item_behind(found.item, &behind, inner)?;
            Ok((found.exists, item))
        }))
    }
}

/// What makes or names an `Option`, such as the consumer of a chain, and what it goes through behind that.
pub(super) fn behind_option(expr: &Expr) -> (&Expr, Vec<&ExprMethodCall>) {
    let (mut root, mut behind) = (expr, Vec::new());
    while let Expr::MethodCall(call) = root {
        let name = call.method.to_string();
        if !OF_OPTION.contains(&name.as_str()) || TO_OPTION.contains(&name.as_str()) {
            break;
        }
        behind.insert(0, call);
        root = &call.receiver;
    }
    (root, behind)
}
