//! TEMPORARY
use crate::float::Scalar;
use crate::output::Output;
use crate::shadow::Element;
use crate::tangent::Value;

macro_rules! real { ($($name:ident)*) => {
/// `f32` and `f64` as fused functions see them.
pub trait Real: Scalar + Element + Value<Tangent = Self> + for<'a> Output<Cotangent<'a> = Self> {
    /// The number nearest to `value`.
    fn of(value: f64) -> Self;
    $(#[doc(hidden)] fn $name(self) -> Self;)*
    #[doc(hidden)] fn powf(self, p: Self) -> Self;
    #[doc(hidden)] fn atan2(self, p: Self) -> Self;
}
impl Real for f64 { #[inline(always)] fn of(v: f64) -> f64 { v } $(#[inline(always)] fn $name(self) -> f64 { f64::$name(self) })* fn powf(self, p: f64) -> f64 { f64::powf(self, p) } fn atan2(self, p: f64) -> f64 { f64::atan2(self, p) } }
impl Real for f32 { #[inline(always)] fn of(v: f64) -> f32 { v as f32 } $(#[inline(always)] fn $name(self) -> f32 { f32::$name(self) })* fn powf(self, p: f32) -> f32 { f32::powf(self, p) } fn atan2(self, p: f32) -> f32 { f32::atan2(self, p) } }
}}
real! { exp exp2 exp_m1 ln ln_1p log2 log10 sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sqrt cbrt recip abs signum floor }
