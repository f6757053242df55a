//! Derivatives within a differentiable function: the pullback of *∇f* is the product of the Hessian with the seed, and that of *∇f·v* is
//! the product of the Hessian with *v*, and the gradient.

use std::marker::PhantomData;

use pullback_rules::__private::{ContributeParameters, HasRule, Liftable};
use pullback_rules::{
    Args, Buffers, Cotangent, Function, Gradients, HeapSize, Parameters, Rule, Shadows, State,
};

use crate::extras::Extra;
use crate::gradient::{Driver, ScalarOutput};
use crate::hessian::{Products, Shown};
use crate::pushforward::Pushforward;

/// The function that computes the gradient of [`OfGradient::Of`].
pub trait OfGradient: Function<Parameters = <Self::Of as Function>::Parameters> {
    /// The function whose gradient this is.
    type Of: Liftable<1, Dual: Function<Output: ScalarOutput>>
        + Function<Output: ScalarOutput, Parameters: ContributeParameters>
        + HasRule;
    /// The gradient, from what comes by value and from the buffers of the rest.
    fn output(gradients: Gradients<Self::Of>, buffers: &Buffers<Self::Of>) -> Self::Output;
    /// Appends the coordinates of a gradient with respect to that.
    fn append(seed: Cotangent<'_, Self>, flat: &mut Vec<f64>);
}

/// The gradient of `G::Of`, from nothing.
pub fn gradient_of<G: OfGradient>(args: Args<'_, G::Of>) -> G::Output {
    let (_, gradients, buffers) = Driver::new(G::Of::make_rule()).gradient_once(args);
    G::output(gradients, &buffers)
}

/// The rule of a gradient. Nothing has to be kept for its pullback, which gets the same arguments.
pub struct GradientRule<G: OfGradient> {
    driver: Driver<G::Of>,
    products: Option<Box<Products<G::Of>>>,
    function: PhantomData<fn() -> G>,
}

impl<G: OfGradient> GradientRule<G> {
    /// A rule that has not been called yet.
    pub fn new() -> Self {
        GradientRule { driver: Driver::new(G::Of::make_rule()), products: None, function: PhantomData }
    }
}

impl<G: OfGradient> Default for GradientRule<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G: OfGradient> State for GradientRule<G> {
    // Forward and pullback both run to their end.
    fn reset(&mut self) {}
    fn shrink(&mut self) {
        self.driver.shrink();
        self.products = None;
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.driver.memory()
            + self.products.as_ref().map_or(0, |products| size_of_val(&**products) + products.memory())
    }
}

impl<G: OfGradient> Rule for GradientRule<G> {
    type Function = G;
    type Residual = ();

    fn forward(&mut self, args: Args<'_, G>) -> (G::Output, ()) {
        let (_, gradients, buffers) = self.driver.gradient(args);
        (G::output(gradients, buffers), ())
    }

    fn pullback<'a>(
        &mut self,
        (): (),
        mut args: Args<'a, G>,
        shadows: Shadows<'a, G>,
        seed: Cotangent<'_, G>,
    ) -> Gradients<G> {
        let products = self.products.get_or_insert_with(Box::default);
        let args = <G::Parameters as Parameters>::reborrow(&mut args);
        let (_, _, (gradients, buffers)) = products.run_flat(args, |flat| G::append(seed, flat));
        <G::Parameters as ContributeParameters>::contribute(shadows, buffers);
        gradients
    }
}

/// The function that computes the derivative of [`OfDirection::Of`] along a direction, which stands behind the arguments.
pub trait OfDirection: Function<Output = f64> {
    /// The function whose derivative this is.
    type Of: Liftable<1, Dual: Function<Output: ScalarOutput>> + Function<Output = f64>;
    /// The arguments of that.
    fn args<'a>(args: Args<'a, Self>) -> Args<'a, Self::Of>;
    /// Appends the coordinates of the direction.
    fn append(args: &Args<'_, Self>, flat: &mut Vec<f64>);
    /// The gradient, from its parts for the arguments and for the direction.
    fn gradients<'a>(
        shadows: Shadows<'a, Self>,
        args: Shown<'_, Self::Of>,
        direction: Shown<'_, Self::Of>,
    ) -> Gradients<Self>;
}

/// The derivative of `G::Of`, from nothing.
pub fn derivative_of<G: OfDirection>(args: Args<'_, G>) -> f64 {
    let mut direction = Vec::new();
    G::append(&args, &mut direction);
    Pushforward::<G::Of>::default()
        .run(G::args(args), |lifted| lifted.direct_flat(0, |flat| flat.append(&mut direction)))
        .1[0]
}

/// The rule of a derivative along a direction. Nothing has to be kept for its pullback, which gets the same arguments.
pub struct DirectionRule<G: OfDirection> {
    pushforward: Pushforward<G::Of>,
    products: Option<Box<Products<G::Of>>>,
    direction: Vec<f64>,
}

impl<G: OfDirection> DirectionRule<G> {
    /// A rule that has not been called yet.
    pub fn new() -> Self {
        DirectionRule { pushforward: Pushforward::default(), products: None, direction: Vec::new() }
    }
}

impl<G: OfDirection> Default for DirectionRule<G> {
    fn default() -> Self {
        Self::new()
    }
}

impl<G: OfDirection> State for DirectionRule<G> {
    // Forward and pullback both run to their end.
    fn reset(&mut self) {}
    fn shrink(&mut self) {
        *self = Self::new();
    }
    fn pending(&self) -> usize {
        0
    }
    fn memory(&self) -> usize {
        self.pushforward.memory()
            + self.products.as_ref().map_or(0, |products| size_of_val(&**products) + products.memory())
            + self.direction.heap_size()
    }
}

impl<G: OfDirection> Rule for DirectionRule<G> {
    type Function = G;
    type Residual = ();

    fn forward(&mut self, args: Args<'_, G>) -> (f64, ()) {
        let DirectionRule { pushforward, direction, .. } = self;
        direction.clear();
        G::append(&args, direction);
        let (_, [derivative], _) = pushforward.run(G::args(args), |lifted| {
            lifted.direct_flat(0, |flat| flat.extend_from_slice(direction));
        });
        (derivative, ())
    }

    fn pullback<'a>(
        &mut self,
        (): (),
        args: Args<'a, G>,
        shadows: Shadows<'a, G>,
        seed: Cotangent<'_, G>,
    ) -> Gradients<G> {
        let DirectionRule { products, direction, .. } = self;
        direction.clear();
        G::append(&args, direction);
        let products = products.get_or_insert_with(Box::default);
        let (_, gradient, product) =
            products.run_scaled_flat(G::args(args), |d| seed * d, |flat| flat.extend_from_slice(direction));
        G::gradients(shadows, product, gradient)
    }
}
