//! What a rule is, and the rules of the `pullback` crate, which is what to depend on: it re-exports all of this.
#![deny(unsafe_op_in_unsafe_fn)]

// The macros refer to the crate that users depend on; in here that is this one.
extern crate self as pullback;

mod activation;
mod again;
mod apart;
mod arrays;
mod blank;
pub mod blas;
mod blocks;
mod boxed;
mod by_receiver;
mod call;
mod callable;
mod checkpointed;
mod constants;
mod contents;
mod conversions;
mod counted;
#[cfg(feature = "cuda")]
pub mod cuda;
mod derived;
mod dispatch;
mod dual;
mod exchange;
mod flattened;
mod float;
mod fresh;
mod function;
mod fused;
#[doc(hidden)]
pub mod gathered;
mod growth;
mod heap;
mod held;
mod inert;
mod integers;
mod leaving;
mod lend;
mod lengths;
pub mod linalg;
mod local;
mod mapped;
mod matrices;
#[doc(hidden)]
pub mod mutation;
#[cfg(feature = "nalgebra")]
mod nalgebra;
pub mod nn;
mod numbering;
mod once;
mod only_read;
mod operator_calls;
mod operators;
mod option;
mod optional;
mod optional_references;
mod output;
mod owning;
mod parts;
mod permutation;
pub mod random;
mod recycled;
mod referred;
#[doc(hidden)]
pub mod renewed;
mod reused;
mod rows;
mod rule;
mod saved;
mod scalar;
mod schedule;
mod select;
mod shadow;
mod snapshots;
pub mod solve;
mod sorting;
pub mod special;
mod state;
mod tangent;
mod unmarked;
mod untouched;
mod whole;
mod without_rule;

pub use activation::{Dual, DualMut};
pub use again::{DualFn, GivenFn};
pub use blas::{MatrixScalar, Trans, gemm, mul_into, set_threads};
pub use boxed::{BoxMut, BoxRef};
pub use dual::DualNumber;
pub use float::{Float, Scalar};
pub use function::{
    Args, Buffers, ConstCloned, ConstMut, ConstRef, ConstVal, Cotangent, Function, Gradients, Held, Mut,
    Parameter, Parameters, Ref, Shadows, Val,
};
pub use fused::{Array, Host, Memory};
pub use heap::HeapSize;
pub use held::Constant;
pub use lend::{Lend, RefLent};
pub use lengths::{Extent, Lengths};
pub use local::none;
pub use matrices::{Matrices, Matrix, general_product, product};
pub use optional_references::{ConstOptRef, OptRef};
pub use output::Output;
pub use pullback_macros::Rule;
pub use rows::{Item, Rows};
pub use rule::Rule;
pub use saved::{Contents, Saved};
pub use shadow::{Accumulate, ArrayCells, Differentiable, Element, Ignored, Shadow};
pub use state::State;
pub use tangent::{Active, Tangent, Value};
pub use untouched::Untouched;

/// Traits by which the methods of other crates' types have rules.
#[doc(hidden)]
pub mod foreign {
    pub use crate::arrays::traits::*;
    #[cfg(feature = "nalgebra")]
    pub use crate::nalgebra::traits::*;
}

/// What generated code refers to. Not part of the public interface.
#[doc(hidden)]
pub mod __private {
    pub use std::cell::RefCell;
    pub use std::ops::ControlFlow;

    pub use crate::activation::{Activation, Dual, DualMut, Frames};
    pub use crate::again::{
        Again, AtOnce, BothPasses, CalledInOnePass, DualFn, GivenFn, Lacking, call_of, function_of, lacking,
    };
    pub use crate::apart::{apart1, apart2, apart3, apart4, apart5, apart6};
    pub use crate::arrays::functions as arrays;
    pub use crate::blank::{Blank, BlankByDefault, BlankByFields, Blanks};
    pub use crate::blocks::{
        Common, Near, are_few, blocks, blocks_backward, count, own_cells, row_mut, row_of_block,
    };
    pub use crate::boxed::{
        BoxMut, BoxRef, Boxed, CopyAnyBox, CopyBox, IsInBox, SelectsInBox, SpareBoxes, boxed, in_box,
        in_box_mut, some_boxed,
    };
    pub use crate::by_receiver::{ByReceiver, CallsAnother, CallsItself, Within, rule_of_called};
    pub use crate::call::{
        Call, ConstantArgument, Given, GivenClone, GivenReference, GivenValue, Hand, HasRule, OfReceiver,
        Reads, Recursive, SettledReceiver, UnsettledReceiver, WritesToReceiver, forward, forward_reading,
        pull_at_once, pullback, returned_copy, rule_of, value_and_pullback,
    };
    pub use crate::callable::{
        Callable, Callback, Called, Derivative, Either, Forward, Lent, Pullback, primal, read_only,
    };
    pub use crate::checkpointed::checkpointed;
    pub use crate::contents::{
        Contents, checked, error_of, fill, is_filled, put_back, split, split_parts, stop_with, take_out,
    };
    pub use crate::conversions::{Conversion, Converted, FoldsBy};
    pub use crate::counted::{counted, iterations, since};
    pub use crate::derived::{OF_LOOPS, Request, derived, refused};
    pub use crate::dispatch::Dispatched;
    pub use crate::dual::{
        Cast, Contribute, ContributeParameter, ContributeParameters, Direction, DualNumber, HasDual, Is,
        Lanes, Lift, LiftParameter, LiftParameters, LiftRef, Liftable, Looked, Numbers, by_seed, value_of,
    };
    pub use crate::exchange::{Exchange, ExchangeItems, Exchanges};
    pub use crate::flattened::{Flattened, FlattensOptions, FlattensOthers, flattens};
    pub use crate::float::{Float, Scalar};
    pub use crate::foreign;
    pub use crate::fresh::Fresh;
    pub use crate::function::*;
    #[doc(hidden)]
    pub use crate::with_cuda;
    pub mod fused {
        pub use crate::fused::*;
    }
    pub use crate::constants::{Constants, item_of_constant, items_of_constants, len_of_constants};
    pub use crate::gathered;
    pub use crate::growth::{
        Plain, Removed, keep_pushed, plain, taken, total, undrop, undrop_last, undrop_row, unextend,
        uninsert_row, unpop, unpop_plain, unpop_row, unpush, unpush_moved, unpush_row, unpush_unseen,
        unremove_plain, unremove_row,
    };
    pub use crate::heap::{OfAnyField, OfField, OfReturnedField};
    pub use crate::held::{Constant, Part, PartChanges, PartIsConstant, accumulate_part, clear_part};
    pub use crate::inert::{Confirmed, Inert, Unseen, about_to_be_constant, confirmed, error, inert, unseen};
    pub use crate::integers::{item_of_range, items_of_closed_range, items_of_range};
    pub use crate::leaving::{LeaveBlank, LeaveCopy, LeaveDefault, LeaveNothing, Leaving};
    pub use crate::lend::{Lend, RefLent};
    pub use crate::lengths::{
        Extent, Lengths, fit, fit_to, handing_on, make_room, unextend_behind, uninsert_behind, unpop_behind,
        unpush_any_behind, unpush_behind, unremove_behind,
    };
    pub use crate::local::{
        Branch, Pool, backwards, first, none, reaches, row_of, shadow_of, sum, whole_row, within,
    };
    pub use crate::mapped::{Mapped, blank_array, blank_of_array};
    pub use crate::mutation;
    #[cfg(feature = "nalgebra")]
    pub use crate::nalgebra::on_heap as matrices;
    pub use crate::numbering::{OneByOne, RowByRow};
    pub use crate::once::{MakesAgain, Once, OnceMore, once_more};
    pub use crate::only_read::BindTheResultWithLetFirst;
    pub use crate::operator_calls::{
        MarkedOnceForValuesOrForReferences, OntoValue, OperatorCall, operator_call,
    };
    pub use crate::operators::{
        NumberBehind, Operands, OperatorRule, OtherOperands, ScalarOperands, Source, of_number, operator,
        pull_both, pull_left, pull_right,
    };
    pub use crate::option::{FromStop, LooksInto, OptionRules, Try, stop};
    pub use crate::optional::{Inside, SelectsInside};
    pub use crate::optional_references::{ConstOptRef, OptRef, SelectsReferred};
    pub use crate::output::{
        Copies, CopyAnyField, CopyField, Output, Received, RowSpares, Seed, Spares, lend, lend_parts,
        received, received_inside, received_part, returned, returned_inside, returned_rows, seed,
    };
    pub use crate::owning::{reclaim_parts, unless_reclaimed};
    pub use crate::parts::{end_of_part, place_of_element, start_of_part};
    pub use crate::recycled::recycled;
    pub use crate::referred::{
        Found, KeepUnreferred, Referred, ReferredInside, ReferredPair, ReferredPairInside, ReferredSlice,
        ReferredText, Unreferred,
    };
    pub use crate::renewed::{self, Renewed, TakenAway};
    pub use crate::rows::{Item, Rows, refill_rows};
    pub use crate::rule::Rule;
    pub use crate::scalar::{ScalarRules, SinCosRule, cast_tangent, where_seen};
    pub use crate::schedule::Schedule;
    pub use crate::select::{
        At, AtMut, PartShadow, ReturnsAReferenceTellItsType, Select, SelectMut, Whole, number, part_of,
        parts_of_variant, shadow_for,
    };
    pub use crate::shadow::{
        Accumulate, Differentiable, Element, Ignored, OfStruct, Shadow, cells, slice_cells,
    };
    pub use crate::snapshots::{Snapshots, segments, spacing};
    pub use crate::sorting::{SortItem, Sorted};
    pub use crate::state::{Stack, State};
    pub use crate::tangent::{
        Active, NoValue, PartOfPlain, Tangent, Value, accumulate, is_gradient_of, negated, take, zero,
        zero_of,
    };
    pub use crate::unmarked::{
        MethodOf, OfActive, OfInert, OfReferent, OfUnmarked, ToChange, UnmarkedCall, UnmarkedMethod,
    };
    pub use crate::untouched::untouched;
    pub use crate::whole::{Entries, WholeSnapshots};
    pub use crate::without_rule::{Aliased, Unheld};
    #[cfg(feature = "nalgebra")]
    pub use ::nalgebra;
    pub use ::ndarray;
}
