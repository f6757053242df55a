//! `#[differentiable]`: parse → analyse → expand.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Ident;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::visit_mut::VisitMut;

use crate::activity;
use crate::annotation::{self, Strip};
use crate::dual::companion::companion;
use crate::effects;
use crate::error_values;
use crate::errors::Errors;
use crate::forward::forward;
use crate::fragments::Ungroup;
use crate::fusion::{Both, fuse};
use crate::generics::with_parts;
use crate::hygiene;
use crate::impls::types_of;
use crate::kept::Item;
use crate::nested;
use crate::only_read;
use crate::overwriting::{asking, overwriting};
use crate::ownership::Owners;
use crate::parameters::name_patterns;
use crate::parse::Parser;
use crate::passing::Passing;
use crate::program::{BODY, Kind, Origin, Program, VarId, Variable};
use crate::reverse::{quote_name, reverse};
use crate::signature::{Signature, strip};
use crate::versions;

/// How many fields a tuple of state may have.
const WIDTH: usize = 16;

/// Lints that code written by this macro need not heed.
pub(crate) fn allowed() -> TokenStream {
    quote! {
        #[allow(
            unused,
            non_local_definitions,
            non_shorthand_field_patterns,
            missing_docs,
            unreachable_pub,
            private_interfaces,
            private_bounds,
            clippy::all,
            clippy::pedantic,
        )]
    }
}

/// What the code of rules has in scope.
pub(crate) fn imports() -> TokenStream {
    quote! {
        use ::pullback::__private as __pb;
        use __pb::foreign::*;
        use __pb::{
            Aliased as _, At as _, AtMut as _, BlankByDefault as _, BlankByFields as _, CallsAnother as _, CallsItself as _, Conversion as _, FlattensOptions as _, FlattensOthers as _, GivenClone as _, GivenReference as _, GivenValue as _, Hand as _, IsInBox as _, LeaveBlank as _, LeaveCopy as _, LeaveDefault as _, LeaveNothing as _, LooksInto as _, MakesAgain as _, NumberBehind as _, OneByOne as _, OptionRules as _, OtherOperands as _, Rule as _, RowByRow as _, SelectsInBox as _, SelectsInside as _, SelectsReferred as _, ScalarOperands as _, ScalarRules as _, PartChanges as _, PartIsConstant as _, SettledReceiver as _, SinCosRule as _,
            Source as _, Try as _, Unheld as _, UnsettledReceiver as _,
        };
    }
}

/// What stands in the parentheses of `#[differentiable(…)]`.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// The function calls itself by way of others: its rule is boxed.
    pub(crate) recursive: bool,
    /// It runs on dual numbers, too.
    pub(crate) dual: bool,
}

impl Parse for Options {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut options = Options::default();
        for option in Punctuated::<syn::Ident, syn::Token![,]>::parse_terminated(input)? {
            match &*option.to_string() {
                "recursive" => options.recursive = true,
                "dual" => options.dual = true,
                _ => {
                    let message = "`#[differentiable]` takes `dual`, for forward mode and second derivatives, and `recursive`, for a \
                                   function that calls itself by way of others";
                    return Err(syn::Error::new_spanned(option, message));
                }
            }
        }
        Ok(options)
    }
}

/// Expands a function.
pub(crate) fn expand(mut function: syn::ItemFn, options: Options) -> syn::Result<TokenStream> {
    let boxed = options.recursive;
    Ungroup.visit_item_fn_mut(&mut function);
    let mut errors = Errors::default();
    let mut named = function.clone();
    name_patterns(&mut named.sig, &mut named.block);
    named.sig.generics = with_parts(&named.sig.generics, types_of(&named.sig), &named.block);
    let owners = Owners::of_function(&named.sig, &named.block, None);
    let mut signature = Signature::parse(&function.vis, &mut named.sig, owners, &mut errors);
    signature.dual = options.dual;
    signature.check_dual(&mut errors);
    let rule = derive(&signature, &named.block, &mut errors)?;

    strip(&mut function.sig);
    Strip.visit_block_mut(&mut function.block);
    let (name, ty) = (&signature.name, signature.ty());
    let (declared, _, clause) = signature.generics.split();
    let label = format!("The rule of the function `{name}`, as derived from its source.");
    let made = if boxed { quote!(derived_rule) } else { quote!(rule) };
    let rule_of_cycle = boxed.then(|| {
        quote! {
            /// The rule of the function, which makes itself anew at each depth of a recursion.
            pub fn rule() -> __pb::Recursive<#ty> {
                __pb::Recursive::new()
            }
        }
    });
    let has_rule = quote! {
        impl #declared __pb::HasRule for #ty #clause {
            fn make_rule() -> impl __pb::Rule<Function = Self> + 'static {
                <#ty>::#made()
            }
        }
    };
    let on_duals = match options.dual {
        true if signature.generics.scalars.is_empty() => Some(companion(&signature, &named)?),
        true => Some(signature.itself_on_duals()),
        false => None,
    };
    let as_callee = signature.itself_as_callee();
    let (item, impls, driver) = (signature.item(), signature.function(), signature.driver());
    let (allowed, imports) = (allowed(), imports());
    Ok(quote! {
        // Indices are what the language offers for now.
        #[allow(clippy::needless_range_loop)]
        #function
        #item
        #allowed
        const _: () = {
            #imports

            #impls

            impl #declared #ty #clause {
                #[doc = #label]
                pub fn #made() -> impl __pb::Rule<Function = #ty> {
                    #rule
                }

                #rule_of_cycle
            }

            #has_rule

            #as_callee

            #on_duals

            #driver
        };
    })
}

/// Derives the rule of a function, as an expression, from its body. `errors` are those of its signature. If only the body is refused, the
/// function has a rule for what calls it, so that the refusal is all that the user is told.
pub(crate) fn derive(
    signature: &Signature,
    body: &syn::Block,
    errors: &mut Errors,
) -> syn::Result<TokenStream> {
    let callable = errors.is_empty();
    annotation::report(body, errors);
    hygiene::report(signature, body, errors);
    let derived = analysed(signature, body, errors).and_then(|(mut program, items)| {
        let rule = rule(signature, &mut program)?;
        Ok(quote!(#(#items)* #rule))
    });
    match derived {
        Err(error) if callable => {
            let error = error.into_compile_error();
            Ok(quote!(#error __pb::refused()))
        }
        derived => derived,
    }
}

/// A function's body, with what is known of it, and the items in it.
pub(crate) fn analysed(
    signature: &Signature,
    body: &syn::Block,
    errors: &mut Errors,
) -> syn::Result<(Program, Vec<syn::Item>)> {
    let (mut program, mut items) = Parser::parse(signature, body, errors);
    activity::analyse(&mut program, errors);
    error_values::confirm(&mut program, errors);
    effects::settle(&mut program, errors);
    only_read::confine(&mut program);
    errors.finish()?;
    nested::mark(&program, &mut items);
    Ok((program, items))
}

/// The rule of a function, as an expression.
pub(crate) fn rule(signature: &Signature, program: &mut Program) -> syn::Result<TokenStream> {
    versions::number(program);
    let program = &*program;
    signature.lengths.set(program.lengths(signature));
    let (mut reverse, pullback) = reverse(program);
    reverse.errors.finish()?;
    let entries = reverse.entries();
    let both = fuse(program, &reverse);
    let forward = forward(program, &reverse)?;
    let (forward, pullback) = entries.around(forward, pullback);

    let function = |id: VarId| {
        let Variable { unique, shadow, .. } = &program.variables[id];
        quote!(__pb::Callback { primal: #unique, derivative: #shadow })
    };
    let primal: Vec<_> = signature
        .parameters
        .iter()
        .zip(&program.parameters)
        .map(|(parameter, id)| match id {
            Some(id) if parameter.callable.is_some() => function(*id),
            Some(id) => {
                let name = &program.variables[*id].name;
                let mutable = (parameter.mutable && parameter.passing == Passing::Value).then(|| quote!(mut));
                quote!(#mutable #name)
            }
            None => quote!(_),
        })
        .collect();
    let reversed: Vec<_> = program
        .parameters
        .iter()
        .map(|id| match id {
            Some(id) if program.variables[*id].origin == Origin::Function => function(*id),
            // An array passed by value and written to comes back as the forward left it.
            Some(id) if reverse.kept.name(BODY, Item::Final(*id)).is_none() => {
                let name = &program.variables[*id].unique;
                quote!(#name)
            }
            _ => quote!(_),
        })
        .collect();
    let shadows: Vec<_> = program
        .parameters
        .iter()
        .map(|id| match id.map(|id| &program.variables[id]) {
            Some(variable)
                if variable.by_reference() && variable.active && variable.origin != Origin::Value =>
            {
                let shadow = &variable.shadow;
                quote!(#shadow)
            }
            _ => quote!(_),
        })
        .collect();
    // To code without gradient a function is a closure.
    let functions = signature.parameters.iter().zip(&program.parameters).filter_map(|(parameter, id)| {
        let Variable { name, unique, .. } = &program.variables[(*id)?];
        let callable = parameter.callable.as_ref()?;
        let closure = callable.closure(unique);
        Some(match callable.changing {
            // It may be called by another name: `let g = &mut f;`.
            true => quote!(#[allow(unused_mut)] let mut #name = #closure;),
            false => quote!(let #name = #closure;),
        })
    });
    let forward = apart(program, |variable| &variable.name, forward);
    let lengths = lengths(program, signature, |variable| &variable.unique);
    let pullback = apart(program, |variable| &variable.unique, quote!(#lengths #pullback));
    let inits: Vec<_> = reverse.slots.iter().map(|slot| slot.init.clone()).collect();
    let names: Vec<_> = reverse
        .slots
        .iter()
        .map(|slot| {
            let name = &slot.name;
            quote!(#name)
        })
        .collect();
    let (state, slots) = (nest(inits), nest(names));
    let residual = reverse.kept.pattern(BODY);
    let seed = quote_name("d");
    let (overwriting, reclaiming) =
        (overwriting(program, &reverse, both.as_ref()), reverse.reclaiming(signature));
    let passing_on = (overwriting.is_some() || reclaiming.is_some()).then(|| {
        let request = quote_name("request");
        quote!(.passing_on(|#slots, #request| match #request { #overwriting #reclaiming _ => false }))
    });
    let asking = asking(&reverse, both.as_ref()).map(|asking| quote!(.asking(|#slots| { #asking })));
    let both = both.map(|Both { body, .. }| {
        let lengths = self::lengths(program, signature, |variable| &variable.name);
        let body = apart(program, |variable| &variable.name, quote!(#lengths #body));
        quote!(.fused(|#slots, (#(#primal,)*), (#(#shadows,)*), #seed| { #body }))
    });
    let imports = reverse.imports.iter().map(|(path, alias)| quote!(use #path as #alias;));
    let (unmarked, ty) = (crate::unmarked::traits(program), signature.ty());
    Ok(quote! {
        #(#imports)*
        #unmarked
        __pb::derived::<#ty, _, _, _, _>(
            #state,
            |#slots, (#(#primal,)*)| { #(#functions)* #forward },
            |#slots, #residual, (#(#reversed,)*), (#(#shadows,)*), #seed| { #pullback },
        )
        #asking
        #both
        #passing_on
    })
}

/// The shadows of slices, each as long as its slice: with that known, the optimiser asks for one of two indices that are the same.
fn lengths(program: &Program, signature: &Signature, name: impl Fn(&Variable) -> &Ident) -> TokenStream {
    let parameters = signature.parameters.iter().zip(&program.parameters);
    parameters
        .filter_map(|(parameter, id)| {
            let variable = &program.variables[(*id)?];
            let numbers = variable.kind == Kind::Sequence(Box::new(Kind::Float));
            let slice = variable.origin == Origin::Shared && matches!(parameter.ty, syn::Type::Slice(_));
            let (name, shadow) = (name(variable), &variable.shadow);
            (variable.active && numbers && slice).then(|| quote!(let #shadow = #shadow.as_long_as(#name);))
        })
        .collect()
}

/// `body` as a closure of the parameters that are references, called with these: to the optimiser they then are what they are to the
/// function.
fn apart(program: &Program, name: impl Fn(&Variable) -> &Ident, body: TokenStream) -> TokenStream {
    let variables = program.parameters.iter().flatten().map(|id| &program.variables[*id]);
    let references = variables.filter(|v| matches!(v.origin, Origin::Shared | Origin::Unique));
    let names: Vec<_> = references.map(|variable| (name(variable), variable.optional)).collect();
    names.chunks(6).fold(body, |body, references| {
        let apart = format_ident!("apart{}", references.len());
        let names = references.iter().map(|(name, _)| name);
        // What may be missing is referred to itself.
        let passed =
            references.iter().map(|(name, optional)| if *optional { quote!(&#name) } else { quote!(#name) });
        quote!(__pb::#apart(#(#passed,)* |#(#names),*| { #body }))
    })
}

/// A tuple of any length, as a tree of tuples.
fn nest(mut fields: Vec<TokenStream>) -> TokenStream {
    while fields.len() > WIDTH {
        fields = fields.chunks(WIDTH).map(|chunk| quote!((#(#chunk,)*))).collect();
    }
    quote!((#(#fields,)*))
}
