//! Rows of Jacobians in reverse mode: one forward, and a pullback of several seeds at once.

use std::array::from_fn;
use std::mem::needs_drop;

use pullback_rules::__private::{
    DualNumber, HasDual, HasRule, Lanes, Lift, LiftParameters, Liftable, Numbers,
};
use pullback_rules::{Args, Buffers, Extent, Function, Output, Parameters, Rule};

use crate::gradient::Runner;
use crate::lifted::{Lifted, each};
use crate::matrix::Matrix;
use crate::pushforward::OutputTangent;

/// How many seeds are pulled back at once: as many as a register holds numbers in any 64-bit processor. With four, where there are registers
/// for that, values move through memory so much that one run takes longer than two runs with two.
pub(crate) const LANES: usize = 2;

/// What a reverse pass with several seeds is made of: values are the same in all lanes, gradients have a lane for each seed.
type Number = DualNumber<Lanes<LANES>, 0>;

/// The function of such numbers.
type Laned<F> = <F as HasDual<Lanes<LANES>, 0>>::Dual;

/// The parameters of that.
type LanedParameters<F> = <Laned<F> as Function>::Parameters;

/// What that returns.
type Made<F> = <Laned<F> as Function>::Output;

/// Which rows one run computes: those from a number on, or the sums of all rows of a colour, for the colours from a number on.
#[derive(Clone, Copy)]
pub struct Wanted<'c> {
    /// The number or the colour of the first one. The first run starts at 0.
    pub(crate) first: usize,
    /// The colour of each row, where sums are computed.
    pub(crate) colours: Option<&'c [usize]>,
    /// How many rows the matrix is to have to which they go.
    pub(crate) rows: usize,
    /// How many coordinates the active arguments have to have.
    pub(crate) inputs: Option<usize>,
}

impl Wanted<'_> {
    /// The gradient with respect to what the function makes, in the coordinate number `row`.
    #[inline(always)]
    fn seed(&self, row: usize) -> Lanes<LANES> {
        let number = self.colours.map_or(Some(row), |colours| colours.get(row).copied());
        Lanes(from_fn(|k| if number == Some(self.first + k) { 1.0 } else { 0.0 }))
    }

    /// The first row of the matrix to which they go.
    #[inline(always)]
    fn place(&self) -> usize {
        if self.colours.is_some() { 0 } else { self.first }
    }
}

/// What a run has found.
pub struct Found<V> {
    pub(crate) value: V,
    /// How many coordinates the function makes.
    pub(crate) outputs: usize,
    /// How many the active arguments have.
    pub(crate) inputs: usize,
}

/// Rows of Jacobians behind a name that does not tell the type of the rule: all of a run is compiled as one.
pub trait PullRows<F: Function>: Send {
    /// Computes rows, and brings them to `matrix`; or nothing where the arguments have another number of coordinates than is asked for.
    fn pull(
        &mut self,
        args: &mut Args<'_, F>,
        wanted: Wanted<'_>,
        matrix: &mut Matrix,
    ) -> Option<Found<F::Output>>;

    /// The bytes of the heap that are held.
    fn memory(&self) -> usize;
}

/// A function whose Jacobian has rows. This is a trait, since with two kinds of dual numbers in the bounds of one function the compiler
/// takes one for the other.
pub trait HasRows: Function {
    /// What computes them.
    fn make_rows() -> Box<dyn PullRows<Self>>;
}

impl<F: Liftable<0, Lanes<LANES>>> HasRows for F {
    fn make_rows() -> Box<dyn PullRows<F>> {
        Box::new(Rows {
            room: Room::default(),
            runner: Runner::boxed(Box::new(<Laned<F> as HasRule>::make_rule())),
        })
    }
}

/// What rows of Jacobians of `F` keep from call to call.
struct Rows<F: Liftable<0, Lanes<LANES>>, R> {
    room: Room<F>,
    runner: Runner<Laned<F>, R>,
}

/// Where the arguments and the gradient with respect to the value are.
struct Room<F: Liftable<0, Lanes<LANES>>> {
    lifted: Lifted<F, 0, Lanes<LANES>>,
    of_value: OutputTangent<Laned<F>>,
}

impl<F: Liftable<0, Lanes<LANES>>> Default for Room<F> {
    #[inline]
    fn default() -> Self {
        Room { lifted: Lifted::default(), of_value: Made::<F>::empty() }
    }
}

impl<F: Liftable<0, Lanes<LANES>>> Room<F> {
    /// Whether all that a run works on is a few numbers, as many as the types tell. These are made anew in each run: then they need not be in
    /// memory at all, and the compiler knows that both lanes of a value are the same.
    const HAS_FEW_NUMBERS: bool = !Lifted::<F, 0, Lanes<LANES>>::ON_HEAP
        && !needs_drop::<Buffers<Laned<F>>>()
        && !needs_drop::<OutputTangent<Laned<F>>>()
        && size_of::<Self>() + size_of::<Buffers<Laned<F>>>() <= 2048;
}

/// Runs both passes of `rule`, and brings the gradients to `rows`. Returns the value, and how many coordinates the function makes.
#[inline(always)]
fn pull<F: Liftable<0, Lanes<LANES>>, R: Rule<Function = Laned<F>>>(
    rule: &mut R,
    args: &mut Args<'_, Laned<F>>,
    buffers: &mut Buffers<Laned<F>>,
    of_value: &mut OutputTangent<Laned<F>>,
    wanted: Wanted<'_>,
    mut rows: [&mut [f64]; LANES],
) -> (F::Output, usize) {
    let (value, residual) = rule.forward(LanedParameters::<F>::reborrow(args));
    let resized = const { !R::LENGTHS.are_kept() };
    if resized {
        LanedParameters::<F>::prepare(buffers, args);
    }
    value.prepare(of_value);
    let lowered = F::Output::lower(&value);
    let mut outputs = 0;
    let mut set = |d: &mut Number| {
        *d = Number::variable(wanted.seed(outputs), []);
        outputs += 1;
    };
    of_value.visit(&mut set);
    F::Parameters::visit_dual_written(buffers, &mut each(set));
    if const { R::LENGTHS.need_room() } {
        let room = rule.least_room().max(LanedParameters::<F>::least_room(args));
        LanedParameters::<F>::fit(buffers, args, Extent::Room(room));
    }
    let mut gradients = {
        let (args, shadows) = (LanedParameters::<F>::reborrow(args), LanedParameters::<F>::shadows(buffers));
        rule.pullback(residual, args, shadows, Made::<F>::lend(of_value))
    };
    if resized {
        LanedParameters::<F>::fit(buffers, args, Extent::Length);
    }
    let mut column = 0;
    F::Parameters::visit_dual_gradient(&mut gradients, buffers, &mut |run| {
        let columns = column..column + run.len();
        for k in 0..LANES {
            if let Some(entries) = rows[k].get_mut(columns.clone()) {
                for i in 0..entries.len() {
                    entries[i] = run[i].lane(k);
                }
            }
        }
        column = columns.end;
    });
    (lowered, outputs)
}

impl<F: Liftable<0, Lanes<LANES>>, R: Rule<Function = Laned<F>>> PullRows<F> for Rows<F, R> {
    fn pull(
        &mut self,
        args: &mut Args<'_, F>,
        wanted: Wanted<'_>,
        matrix: &mut Matrix,
    ) -> Option<Found<F::Output>> {
        let few = const { Room::<F>::HAS_FEW_NUMBERS };
        let mut own = few.then(Room::default);
        let Room { lifted, of_value } = own.as_mut().unwrap_or(&mut self.room);
        if few || wanted.first == 0 {
            lifted.load(args);
        }
        let inputs = lifted.dimension();
        if wanted.inputs.is_some_and(|asked| asked != inputs) {
            return None;
        }
        matrix.resize(wanted.rows, inputs);
        let rows = matrix.rows_from(wanted.place());
        let args = lifted.lend(F::Parameters::reborrow(args));
        let passes = |rule: &mut R, mut args, buffers: &mut _| {
            pull::<F, R>(rule, &mut args, buffers, of_value, wanted, rows)
        };
        // What is not reached is not even compiled, so that there is one place where the passes are, and they are inlined.
        let (value, outputs) = if const { Room::<F>::HAS_FEW_NUMBERS } {
            self.runner.run_afresh(args, passes)
        } else {
            self.runner.run_within(args, passes)
        };
        Some(Found { value, outputs, inputs })
    }

    fn memory(&self) -> usize {
        let of_value = Made::<F>::gradient_size(&self.room.of_value);
        self.room.lifted.memory() + self.runner.memory() + of_value
    }
}
