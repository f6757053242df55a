//! The `impl` of `AddAssign` and its like for plain data that a user marks: `a += b` is taken to be `a = a + b`, so that the mark says
//! nothing, if that is evident.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Expr, ExprAssign, ExprField, ExprForLoop, ExprMethodCall, FnArg, ImplItem, ItemImpl, Member, Pat,
    PathArguments, Stmt, Type,
};

/// Of the method's name, the operator that it applies onto something, and the one that does so to two values.
const OPERATORS: &[(&str, &str, &str)] = &[
    ("add_assign", "+=", "+"),
    ("sub_assign", "-=", "-"),
    ("mul_assign", "*=", "*"),
    ("div_assign", "/=", "/"),
    ("rem_assign", "%=", "%"),
];

/// The `impl` as it is, if what its method does is evidently `*self = *self + other`: it says so, or adds each part of the one to that of
/// the other, where the compiler confirms that these are all.
pub(crate) fn evident(block: &ItemImpl) -> Option<TokenStream> {
    let methods = block.items.iter().filter_map(|item| match item {
        ImplItem::Fn(method) => Some(method),
        _ => None,
    });
    let [method] = &methods.collect::<Vec<_>>()[..] else { return None };
    let (_, onto, of_two) = OPERATORS.iter().find(|(name, ..)| method.sig.ident == name)?;
    let FnArg::Typed(other) = method.sig.inputs.get(1)? else { return None };
    let Pat::Ident(other) = &*other.pat else { return None };
    let each = Each { other: other.ident.to_string(), onto, of_two };
    let mut parts = Vec::new();
    let evident = match &method.block.stmts[..] {
        [Stmt::Expr(Expr::Assign(assign), _)] => each.is_whole(assign, &mut parts),
        stmts => !stmts.is_empty() && stmts.iter().all(|stmt| each.is_part(stmt, &[], &mut parts)),
    };
    let Type::Path(owner) = &*block.self_ty else { return None };
    let mut owner = owner.path.clone();
    owner.segments.last_mut()?.arguments = PathArguments::None;
    let (declared, _, clause) = block.generics.split_for_impl();
    let this = &block.self_ty;
    let all = (!parts.is_empty()).then(|| {
        quote! {
            const _: () = {
                #[allow(dead_code)]
                fn of_all_fields #declared (value: #this) #clause {
                    let #owner { #(#parts: _),* } = value;
                }
            };
        }
    });
    evident.then(|| quote!(#block #all))
}

struct Each<'o> {
    /// The name of what is on the right.
    other: String,
    onto: &'o str,
    of_two: &'o str,
}

impl Each<'_> {
    /// `self.x += other.x;`, `self.x *= other;`, or such in loops over `indices`. The fields go to `parts`.
    fn is_part(&self, stmt: &Stmt, indices: &[String], parts: &mut Vec<Member>) -> bool {
        match stmt {
            Stmt::Expr(Expr::Binary(binary), _) => {
                is(&binary.op, self.onto) && self.is_same_part(&binary.left, &binary.right, indices, parts)
            }
            Stmt::Expr(Expr::ForLoop(each), _) => match &*each.expr {
                Expr::Range(_) => {
                    let indices = [indices, &[each.pat.to_token_stream().to_string()]].concat();
                    each.body.stmts.iter().all(|stmt| self.is_part(stmt, &indices, parts))
                }
                Expr::MethodCall(zip) if zip.method == "zip" && indices.is_empty() => {
                    self.is_zip(each, zip, parts)
                }
                _ => false,
            },
            _ => false,
        }
    }

    /// `for (a, b) in self.0.iter_mut().zip(&other.0) { *a += b; }`
    fn is_zip(&self, each: &ExprForLoop, zip: &ExprMethodCall, parts: &mut Vec<Member>) -> bool {
        let (Expr::MethodCall(left), Some(right)) = (&*zip.receiver, zip.args.first()) else { return false };
        let right = match right {
            Expr::Reference(reference) => &*reference.expr,
            Expr::MethodCall(call) if call.method == "iter" => &*call.receiver,
            right => right,
        };
        let (Pat::Tuple(names), [Stmt::Expr(Expr::Binary(binary), _)]) = (&*each.pat, &each.body.stmts[..])
        else {
            return false;
        };
        let [a, b] = &names.elems.iter().collect::<Vec<_>>()[..] else { return false };
        let b = b.to_token_stream().to_string().replace("& ", "");
        left.method == "iter_mut"
            && self.is_same_part(&left.receiver, right, &[], parts)
            && !is(right, &self.other)
            && is(&binary.op, self.onto)
            && is(&binary.left, &format!("* {}", a.to_token_stream()))
            && (is(&binary.right, &b) || is(&binary.right, &format!("* {b}")))
    }

    /// `*self = *self + other;`, or `*self = Vec2 { x: self.x + other.x, … };`
    fn is_whole(&self, assign: &ExprAssign, parts: &mut Vec<Member>) -> bool {
        let value = match &*assign.right {
            Expr::Struct(literal) => literal.fields.iter().all(|field| match &field.expr {
                Expr::Binary(binary) => {
                    is(&binary.op, self.of_two)
                        && self.is_same_part(&binary.left, &binary.right, &[], parts)
                        && parts.last() == Some(&field.member)
                }
                _ => false,
            }),
            Expr::Binary(binary) => {
                is(&binary.op, self.of_two) && is(&binary.left, "* self") && is(&binary.right, &self.other)
            }
            _ => false,
        };
        value && is(&assign.left, "* self")
    }

    /// `left` is a field of `self` of which nothing has been said yet, or an element of it by the `indices` of loops, and `right` the same of
    /// the other value, or the whole of it.
    fn is_same_part(&self, left: &Expr, right: &Expr, indices: &[String], parts: &mut Vec<Member>) -> bool {
        let (mut field, mut left_over) = (left, indices);
        while let (Expr::Index(index), [before @ .., last]) = (field, left_over) {
            if !is(&index.index, last) {
                return false;
            }
            (field, left_over) = (&index.expr, before);
        }
        let Expr::Field(ExprField { base, member, .. }) = field else { return false };
        let first = !parts.contains(member);
        parts.push(member.clone());
        let same = renamed(left.to_token_stream(), &self.other).to_string();
        first && left_over.is_empty() && is(base, "self") && (is(right, &same) || is(right, &self.other))
    }
}

fn is(syntax: &impl ToTokens, wanted: &str) -> bool {
    syntax.to_token_stream().to_string() == wanted
}

/// The tokens, with another name in the place of `self`.
fn renamed(tokens: TokenStream, other: &str) -> TokenStream {
    let renamed = tokens.into_iter().map(|token| match token {
        TokenTree::Ident(name) if name == "self" => TokenTree::Ident(syn::Ident::new(other, name.span())),
        TokenTree::Group(group) => {
            TokenTree::Group(proc_macro2::Group::new(group.delimiter(), self::renamed(group.stream(), other)))
        }
        token => token,
    });
    renamed.collect()
}
