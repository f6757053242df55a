//! Takes inputs out of JSON.

use serde_json::Value;

/// A number.
pub fn number(input: &Value, field: &str) -> Result<f64, String> {
    input[field].as_f64().ok_or_else(|| format!("`{field}` is not a number"))
}

/// An integer.
pub fn integer(input: &Value, field: &str) -> Result<usize, String> {
    let number = input[field].as_u64().and_then(|n| usize::try_from(n).ok());
    number.ok_or_else(|| format!("`{field}` is not an integer"))
}

/// A list of numbers.
pub fn vector(input: &Value, field: &str) -> Result<Vec<f64>, String> {
    numbers(&input[field]).ok_or_else(|| format!("`{field}` is not a list of numbers"))
}

/// A list of so many numbers.
pub fn array<const N: usize>(input: &Value, field: &str) -> Result<[f64; N], String> {
    let vector = vector(input, field)?;
    vector.try_into().map_err(|_| format!("`{field}` does not have {N} numbers"))
}

/// A list of indices.
pub fn indices(input: &Value, field: &str) -> Result<Vec<usize>, String> {
    let index = |n: &Value| usize::try_from(n.as_u64()?).ok();
    let indices = input[field].as_array().and_then(|list| list.iter().map(index).collect());
    indices.ok_or_else(|| format!("`{field}` is not a list of indices"))
}

/// Rows of one length, one after the other.
#[derive(Clone, Debug)]
pub struct Matrix {
    /// All entries.
    pub entries: Vec<f64>,
    /// How many rows there are.
    pub rows: usize,
    /// The length of each.
    pub columns: usize,
}

/// A list of rows.
pub fn matrix(input: &Value, field: &str) -> Result<Matrix, String> {
    matrix_of(&input[field]).ok_or_else(|| format!("`{field}` is not a list of rows of one length"))
}

/// A list of lists of rows.
pub fn matrices(input: &Value, field: &str) -> Result<Vec<Matrix>, String> {
    let matrices = input[field].as_array().and_then(|list| list.iter().map(matrix_of).collect());
    matrices.ok_or_else(|| format!("`{field}` is not a list of matrices"))
}

fn matrix_of(value: &Value) -> Option<Matrix> {
    let list = value.as_array()?;
    let columns = list.first().map_or(Some(0), |row| Some(row.as_array()?.len()))?;
    let mut entries = Vec::with_capacity(list.len() * columns);
    for row in list {
        let row = numbers(row)?;
        if row.len() != columns {
            return None;
        }
        entries.extend(row);
    }
    Some(Matrix { entries, rows: list.len(), columns })
}

fn numbers(value: &Value) -> Option<Vec<f64>> {
    value.as_array()?.iter().map(Value::as_f64).collect()
}

/// Fails unless two lengths agree.
pub fn agree(what: &str, actual: usize, expected: usize) -> Result<(), String> {
    match actual == expected {
        true => Ok(()),
        false => Err(format!("{what}: {actual} numbers instead of {expected}")),
    }
}
