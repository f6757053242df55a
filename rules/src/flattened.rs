//! `flatten` of what a call has returned goes through rows that are indexed. Where these turn out to be options, the user is told so.

/// The items are options, of which the syntax does not tell.
#[derive(Debug)]
pub struct Options;

/// The items are anything else.
#[derive(Debug)]
pub struct Others;

/// Of options this method is found first.
pub trait FlattensOptions {
    /// What is gone through is one.
    #[inline]
    fn flattened_items(&self) -> Options {
        Options
    }
}

impl<T> FlattensOptions for Option<T> {}

impl<T, E> FlattensOptions for Result<T, E> {}

/// Of everything else it is this one.
pub trait FlattensOthers {
    /// What is gone through is none.
    #[inline]
    fn flattened_items(&self) -> Others {
        Others
    }
}

impl<T: ?Sized> FlattensOthers for &T {}

/// Items that are gone through without more being told of them.
#[diagnostic::on_unimplemented(
    message = "`flatten` of options is differentiable where the syntax tells that they are: `let items: Vec<Option<f64>> = f(x);`",
    label = "tell the type of what is gone through"
)]
pub trait Flattened {}

impl Flattened for Others {}

/// Refuses options.
#[inline]
pub fn flattens<I: Flattened>(_: I) {}
