//! What a message asks for.

use serde_json::Value;

/// A computation that can be run over and over; what is timed is [`run`](Task::run).
pub trait Task {
    /// Computes the result once more.
    fn run(&mut self);

    /// The result.
    fn output(&mut self) -> Value;
}

struct Work<T, R, E> {
    result: T,
    run: R,
    encode: E,
}

impl<T, R: FnMut(&mut T), E: Fn(&T) -> Value> Task for Work<T, R, E> {
    fn run(&mut self) {
        (self.run)(&mut self.result);
    }

    fn output(&mut self) -> Value {
        (self.encode)(&self.result)
    }
}

/// What takes a result that is lent to it.
pub type Taker<'a> = &'a mut dyn FnMut(&[f64]);

struct Lending<F>(F);

impl<F: FnMut(Taker<'_>)> Task for Lending<F> {
    fn run(&mut self) {
        self.0(&mut |_| {});
    }

    fn output(&mut self) -> Value {
        let mut output = Value::Null;
        self.0(&mut |result| output = result.into());
        output
    }
}

/// `run` writes to the result, which starts as `result`; `encode` says it in JSON.
pub fn task<T: 'static>(
    result: T,
    run: impl FnMut(&mut T) + 'static,
    encode: impl Fn(&T) -> Value + 'static,
) -> Box<dyn Task> {
    Box::new(Work { result, run, encode })
}

/// The result is a number.
pub fn number(mut f: impl FnMut() -> f64 + 'static) -> Box<dyn Task> {
    task(0.0, move |result| *result = f(), |&result| result.into())
}

/// The result is a vector of a given length, which `f` writes to.
pub fn vector(length: usize, f: impl FnMut(&mut Vec<f64>) + 'static) -> Box<dyn Task> {
    task(vec![0.0; length], f, |result| result.as_slice().into())
}

/// The result is a vector that belongs to something else, a gradient object: `f` computes it and hands it on.
pub fn lent(f: impl FnMut(Taker<'_>) + 'static) -> Box<dyn Task> {
    Box::new(Lending(f))
}

/// Numbers as a list of rows.
pub fn rows(numbers: &[f64], columns: usize) -> Value {
    let rows: Vec<Value> = numbers.chunks(columns.max(1)).map(Value::from).collect();
    rows.into()
}
