//! Names that mean different things though they are spelt alike: a macro that makes a function has variables of its own, which the
//! compiler tells from those that it is given. To this macro a name is its letters.

use std::collections::HashMap;

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Block, ExprPath, Ident, Macro, PatIdent};

use crate::errors::Errors;
use crate::signature::Signature;

/// Reports names of variables that are spelt alike and come from different macros.
pub(crate) fn report(signature: &Signature, body: &Block, errors: &mut Errors) {
    let mut names = Names::default();
    signature.parameters.iter().filter_map(|p| p.name.as_ref()).for_each(|name| names.bind(name));
    names.visit_block(body);
    for (name, origin) in &names.found {
        let bound = names.bound.get(&name.to_string());
        if bound.is_some_and(|bound| bound != origin) {
            errors.push(
                name,
                format!(
                    "two things are called `{name}` in this function, one of them within a macro that makes it: give one another name"
                ),
            );
            return;
        }
    }
}

/// The expansion that a name comes from, as the compiler shows it: `#3 bytes(…)`.
fn origin(name: &Ident) -> Option<u32> {
    let text = format!("{:?}", name.span());
    text.strip_prefix('#')?.split(' ').next()?.parse().ok()
}

#[derive(Default)]
struct Names {
    /// Where variables come from: the first of each name.
    bound: HashMap<String, Option<u32>>,
    found: Vec<(Ident, Option<u32>)>,
}

impl Names {
    fn bind(&mut self, name: &Ident) {
        // A constant, or a variant such as `None`.
        if name.to_string().starts_with(char::is_uppercase) {
            return;
        }
        self.bound.entry(name.to_string()).or_insert_with(|| origin(name));
        self.mention(name);
    }

    fn mention(&mut self, name: &Ident) {
        self.found.push((name.clone(), origin(name)));
    }

    fn mention_all(&mut self, tokens: TokenStream) {
        let mut of_part = false;
        for token in tokens {
            match &token {
                TokenTree::Ident(name) if !of_part => self.mention(name),
                TokenTree::Group(group) => self.mention_all(group.stream()),
                _ => {}
            }
            of_part = matches!(&token, TokenTree::Punct(dot) if dot.as_char() == '.');
        }
    }
}

impl<'ast> Visit<'ast> for Names {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.bind(&pattern.ident);
        visit::visit_pat_ident(self, pattern);
    }
    fn visit_expr_path(&mut self, path: &'ast ExprPath) {
        if let Some(name) = path.path.get_ident() {
            self.mention(name);
        }
    }
    fn visit_macro(&mut self, mac: &'ast Macro) {
        self.mention_all(mac.tokens.clone());
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
