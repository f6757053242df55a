//! What can go wrong with a device.

use std::fmt;

/// Why a device did not do what it was asked to do.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Error {
    /// The library cannot be loaded: there is no driver, or CUDA is not installed.
    Missing {
        /// What it is called.
        library: &'static str,
    },
    /// There is no device of that number.
    NoDevice {
        /// The number that was asked for,
        ordinal: usize,
        /// and how many there are.
        devices: usize,
    },
    /// The driver reports an error.
    Driver {
        /// What was asked for.
        doing: &'static str,
        /// What the driver says.
        message: String,
    },
    /// cuBLAS reports an error.
    Blas {
        /// What it says.
        message: String,
    },
    /// cuDNN reports an error.
    Dnn {
        /// What it says.
        message: String,
    },
    /// A kernel does not compile.
    Compile {
        /// The kernel's name.
        kernel: String,
        /// What the compiler says.
        message: String,
    },
    /// Arrays of different shapes.
    Shape {
        /// That of the destination,
        expected: Vec<usize>,
        /// and what came instead.
        found: Vec<usize>,
    },
    /// An index that is none.
    Index {
        /// It,
        index: usize,
        /// and how many rows there are.
        rows: usize,
    },
    /// Arrays of different devices.
    OtherDevice,
    /// A recorded gradient cannot be used.
    Capture {
        /// Why.
        reason: &'static str,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Missing { library } => {
                write!(f, "{library} cannot be loaded: is there an NVIDIA driver, and CUDA, on this machine?")
            }
            Error::NoDevice { ordinal, devices } => {
                write!(f, "there is no CUDA device number {ordinal} among {devices}")
            }
            Error::Driver { doing, message } => write!(f, "CUDA failed to {doing}: {message}"),
            Error::Blas { message } => write!(f, "cuBLAS failed: {message}"),
            Error::Dnn { message } => write!(f, "cuDNN failed: {message}"),
            Error::Compile { kernel, message } => {
                write!(f, "the kernel {kernel} does not compile: {message}")
            }
            Error::Shape { expected, found } => write!(f, "the shape is {expected:?}, and not {found:?}"),
            Error::Index { index, rows } => write!(f, "there is no row {index} among {rows}"),
            Error::OtherDevice => write!(f, "the arrays are on different devices"),
            Error::Capture { reason } => write!(f, "no gradient was recorded: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
