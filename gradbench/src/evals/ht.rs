//! ht: a hand that is posed so that its skin goes through given points; a tall Jacobian.

use std::array::from_fn;

use pullback::DualNumber;
use pullback::prelude::*;
use pullback::sparse::JacobianColouring;
use serde_json::Value;

use super::unknown;
use crate::input::{self, Matrix, agree};
use crate::task::{self, Task};

const BONES: usize = 22;
const PARAMETERS: usize = 26;

/// A linear map, and a translation in the last column; written out where functions run on dual numbers.
type Affine = [[f64; 4]; 3];

/// The hand at rest.
struct Skeleton {
    parents: Vec<Option<usize>>,
    relatives: Vec<Affine>,
    inverses: Vec<Affine>,
    mirrored: bool,
}

/// A vertex of the skin: where it is at rest, and by how much which bones move it.
#[derive(Clone)]
struct Vertex {
    position: [f64; 4],
    bones: Vec<usize>,
    weights: Vec<f64>,
}

#[differentiable(dual)]
fn composed(a: [[f64; 4]; 3], b: [[f64; 4]; 3]) -> [[f64; 4]; 3] {
    let mut c = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..4 {
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
        c[i][3] += a[i][3];
    }
    c
}

/// `composed`, where the first is given.
#[differentiable(dual)]
fn onto(#[constant] a: &Affine, b: [[f64; 4]; 3]) -> [[f64; 4]; 3] {
    let mut c = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..4 {
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
        c[i][3] += a[i][3];
    }
    c
}

/// `composed`, where the second is given.
#[differentiable(dual)]
fn behind(a: [[f64; 4]; 3], #[constant] b: &Affine) -> [[f64; 4]; 3] {
    let mut c = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..4 {
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
        c[i][3] += a[i][3];
    }
    c
}

/// The rotation about the axes x, y and z, one after the other.
#[differentiable(dual)]
fn euler(x: f64, y: f64, z: f64) -> [[f64; 4]; 3] {
    let ((sx, cx), (sy, cy), (sz, cz)) = (x.sin_cos(), y.sin_cos(), z.sin_cos());
    [
        [cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx, 0.0],
        [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx, 0.0],
        [-sy, cy * sx, cy * cx, 0.0],
    ]
}

/// The rotation about an axis by its length, and a translation.
#[differentiable(dual)]
fn placed(axis: [f64; 3], to: [f64; 3]) -> [[f64; 4]; 3] {
    let angle = (axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]).sqrt();
    if angle < 1e-4 {
        return [[1.0, 0.0, 0.0, to[0]], [0.0, 1.0, 0.0, to[1]], [0.0, 0.0, 1.0, to[2]]];
    }
    let (x, y, z) = (axis[0] / angle, axis[1] / angle, axis[2] / angle);
    let (s, c) = angle.sin_cos();
    let r = 1.0 - c;
    [
        [x * x * r + c, x * y * r - z * s, x * z * r + y * s, to[0]],
        [x * y * r + z * s, y * y * r + c, y * z * r - x * s, to[1]],
        [x * z * r - y * s, y * z * r + x * s, z * z * r + c, to[2]],
    ]
}

/// What each bone does to the points of the hand at rest that it moves.
#[differentiable(dual)]
fn transforms(theta: &[f64; PARAMETERS], #[constant] skeleton: &Skeleton) -> [[[f64; 4]; 3]; BONES] {
    // The angles of the wrist, of four bones of each finger, and of the arm, as x, z, y.
    let mut pose = [[0.0; 3]; BONES];
    for finger in 0..5 {
        let (bone, next) = (2 + 4 * finger, 6 + 4 * finger);
        pose[bone][0] = theta[next];
        pose[bone][1] = theta[next + 1];
        pose[bone + 1][0] = theta[next + 2];
        pose[bone + 2][0] = theta[next + 3];
    }
    let hand = placed([theta[0], theta[1], theta[2]], [theta[3], theta[4], theta[5]]);
    let mut absolutes = [[[0.0; 4]; 3]; BONES];
    let mut out = [[[0.0; 4]; 3]; BONES];
    for bone in 0..BONES {
        let turn = euler(pose[bone][0], pose[bone][2], pose[bone][1]);
        let relative = onto(&skeleton.relatives[bone], turn);
        let absolute = match skeleton.parents[bone] {
            Some(parent) => composed(absolutes[parent], relative),
            None => relative,
        };
        absolutes[bone] = absolute;
        let mut moved = behind(absolute, &skeleton.inverses[bone]);
        if skeleton.mirrored {
            for j in 0..4 {
                moved[0][j] = -moved[0][j];
            }
        }
        out[bone] = composed(hand, moved);
    }
    out
}

/// Where a vertex goes.
#[differentiable(dual)]
fn skinned(transforms: &[[[f64; 4]; 3]], #[constant] vertex: &Vertex) -> [f64; 3] {
    let mut to = [0.0; 3];
    for k in 0..vertex.bones.len() {
        let (bone, weight) = (vertex.bones[k], vertex.weights[k]);
        for i in 0..3 {
            let mut sum = 0.0;
            for j in 0..4 {
                sum += transforms[bone][i][j] * vertex.position[j];
            }
            to[i] += weight * sum;
        }
    }
    to
}

/// By how much a point is off another one.
#[differentiable(dual)]
fn off(at: &[f64; 3], #[constant] point: &[f64; 3]) -> [f64; 3] {
    [point[0] - at[0], point[1] - at[1], point[2] - at[2]]
}

/// By how much a point is off the place between three others that has the barycentric coordinates `u`.
#[differentiable(dual)]
fn off_between(
    a: &[f64; 3],
    b: &[f64; 3],
    c: &[f64; 3],
    u: [f64; 2],
    #[constant] point: &[f64; 3],
) -> [f64; 3] {
    let rest = 1.0 - u[0] - u[1];
    let mut off = [0.0; 3];
    for i in 0..3 {
        off[i] = point[i] - (u[0] * a[i] + u[1] * b[i] + rest * c[i]);
    }
    off
}

/// What each point is compared with.
enum Correspondences {
    Vertices(Vec<Vertex>),
    Triangles(Vec<[Vertex; 3]>, Vec<[f64; 2]>),
}

/// The parameters of the pose, the hand, and the points.
struct Problem {
    theta: [f64; PARAMETERS],
    skeleton: Skeleton,
    points: Vec<[f64; 3]>,
    with: Correspondences,
}

fn objective(problem: &Problem, errors: &mut Vec<[f64; 3]>) {
    let transforms = transforms(&problem.theta, &problem.skeleton);
    errors.clear();
    match &problem.with {
        Correspondences::Vertices(vertices) => {
            let off = |(vertex, x)| off(&skinned(&transforms, vertex), x);
            errors.extend(vertices.iter().zip(&problem.points).map(off));
        }
        Correspondences::Triangles(triangles, us) => {
            let off = |(([a, b, c], &u), x): ((&[_; 3], _), _)| {
                let a = skinned(&transforms, a);
                let b = skinned(&transforms, b);
                let c = skinned(&transforms, c);
                off_between(&a, &b, &c, u, x)
            };
            errors.extend(triangles.iter().zip(us).zip(&problem.points).map(off));
        }
    }
}

/// How many parameters move one coordinate of a bone at most.
const LANES: usize = 8;

/// A number with its derivatives. Parameters share a lane if no coordinate of a bone depends on both, as the angles of different fingers do.
type Number = DualNumber<f64, LANES>;

/// For each coordinate and each lane which parameter it belongs to, or [`NONE`].
type Columns = [[u8; LANES]; 3];

const NONE: u8 = PARAMETERS as u8;

/// Columns of the rows of a point that are computed together: all of them, unless parameters that share a lane move it.
struct Part {
    point: usize,
    columns: Columns,
    /// Bones that move the point, but belong to other parts.
    others: Vec<usize>,
}

/// What of the problem is prepared for its Jacobian.
struct Jacobian {
    /// The direction of each parameter.
    directions: [[f64; LANES]; PARAMETERS],
    parts: Vec<Part>,
}

impl Jacobian {
    fn new(problem: &Problem) -> Result<Self, String> {
        // Where no angle is special.
        let pattern = transforms::jacobian().jacobian_pattern(&[1.0; PARAMETERS], &problem.skeleton);
        let colouring = JacobianColouring::by_columns(pattern);
        agree("parameters that move a bone", colouring.colours(), LANES)?;
        let lane = |parameter| colouring.colour_of_column(parameter).expect("all have one");
        let mut directions = [[0.0; LANES]; PARAMETERS];
        for (parameter, direction) in directions.iter_mut().enumerate() {
            direction[lane(parameter)] = 1.0;
        }
        let mut columns = [[[NONE; LANES]; 3]; BONES];
        for (row, parameter, _) in colouring.pattern().iter() {
            columns[row / 12][row / 4 % 3][lane(parameter)] = parameter as u8;
        }
        let mut jacobian = Jacobian { directions, parts: Vec::new() };
        match &problem.with {
            Correspondences::Vertices(list) => {
                let points = list.iter().map(std::slice::from_ref).enumerate();
                points.for_each(|(point, vertices)| jacobian.add(point, vertices, &columns));
            }
            Correspondences::Triangles(list, _) => {
                let points = list.iter().enumerate();
                points.for_each(|(point, corners)| jacobian.add(point, corners, &columns));
            }
        }
        Ok(jacobian)
    }

    /// Adds the parts of a point that is compared with these vertices.
    fn add(&mut self, point: usize, vertices: &[Vertex], columns: &[Columns; BONES]) {
        let mut bones: Vec<usize> = vertices.iter().flat_map(|vertex| &vertex.bones).copied().collect();
        bones.sort_unstable();
        bones.dedup();
        let mut parts: Vec<(Columns, Vec<usize>)> = Vec::new();
        for &bone in &bones {
            match parts.last_mut().and_then(|part| Some((both(&part.0, &columns[bone])?, part))) {
                Some((columns, part)) => {
                    part.0 = columns;
                    part.1.push(bone);
                }
                None => parts.push((columns[bone], vec![bone])),
            }
        }
        self.parts.extend(parts.into_iter().map(|(columns, own)| {
            let others = bones.iter().copied().filter(|bone| !own.contains(bone)).collect();
            Part { point, columns, others }
        }));
    }

    /// By forward mode, as there are many more rows than columns: all points share the transforms, in dual numbers.
    fn compute(&self, problem: &Problem, rows: &mut Vec<f64>) {
        let theta = from_fn(|i| Number::variable(problem.theta[i], self.directions[i]));
        let transforms = transforms::on_dual_numbers(&theta, &problem.skeleton);
        let points = &problem.points;
        match &problem.with {
            Correspondences::Vertices(vertices) => {
                self.rows::<PARAMETERS>(&transforms, points.len(), rows, |transforms, n, _| {
                    off::on_dual_numbers(&skinned::on_dual_numbers(transforms, &vertices[n]), &points[n])
                });
            }
            Correspondences::Triangles(triangles, us) => {
                self.rows::<{ 2 + PARAMETERS }>(&transforms, points.len(), rows, |transforms, n, rows| {
                    let ([a, b, c], [s, t], point) = (&triangles[n], us[n], &points[n]);
                    let a = skinned::on_dual_numbers(transforms, a);
                    let b = skinned::on_dual_numbers(transforms, b);
                    let c = skinned::on_dual_numbers(transforms, c);
                    let u = [DualNumber::variable(s, [1.0, 0.0]), DualNumber::variable(t, [0.0, 1.0])];
                    let by_u = off_between::on_dual_numbers(&held(&a), &held(&b), &held(&c), u, point);
                    for (row, off) in rows.iter_mut().zip(&by_u) {
                        [row[0], row[1]] = off.tangent();
                    }
                    let u = [DualNumber::constant(s), DualNumber::constant(t)];
                    off_between::on_dual_numbers(&a, &b, &c, u, point)
                });
            }
        }
    }

    /// Writes the rows of all points. `off` computes for given transforms by how much a point is off, and may write to the columns before those
    /// of the parameters.
    #[inline(always)]
    fn rows<const COLUMNS: usize>(
        &self,
        all: &[[[Number; 4]; 3]; BONES],
        points: usize,
        rows: &mut Vec<f64>,
        off: impl Fn(&[[[Number; 4]; 3]; BONES], usize, &mut [[f64; COLUMNS]; 3]) -> [Number; 3],
    ) {
        rows.resize(3 * COLUMNS * points, 0.0);
        let (rows, _) = rows.as_chunks_mut::<COLUMNS>().0.as_chunks_mut();
        let mut transforms = *all;
        let mut last = None;
        for part in &self.parts {
            for &bone in &part.others {
                for x in transforms[bone].as_flattened_mut() {
                    x.set_tangent([0.0; LANES]);
                }
            }
            let rows = &mut rows[part.point];
            // The first part of a point. If all rows were filled beforehand, they would have left the cache by now.
            if last.replace(part.point) != Some(part.point) {
                *rows = [[0.0; COLUMNS]; 3];
            }
            let off = off(&transforms, part.point, rows);
            for &bone in &part.others {
                transforms[bone] = all[bone];
            }
            for (row, (off, columns)) in rows.iter_mut().zip(off.iter().zip(&part.columns)) {
                let row = &mut row[COLUMNS - PARAMETERS..];
                for (lane, &column) in columns.iter().enumerate() {
                    if column != NONE {
                        row[usize::from(column)] += off.tangent()[lane];
                    }
                }
            }
        }
    }
}

/// The values, which do not change.
fn held<const N: usize>(x: &[Number; 3]) -> [DualNumber<f64, N>; 3] {
    [0, 1, 2].map(|i| DualNumber::constant(x[i].value()))
}

/// What the lanes belong to where two bones move a point, unless one belongs to different parameters.
fn both(a: &Columns, b: &Columns) -> Option<Columns> {
    let mut both = *a;
    for (own, &other) in both.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
        if *own != other && *own != NONE && other != NONE {
            return None;
        }
        *own = other.min(*own);
    }
    Some(both)
}

impl Problem {
    fn new(input: &Value) -> Result<Self, String> {
        let (data, model) = (&input["data"], &input["data"]["model"]);
        let parent = |parent: &Value| match parent.as_i64() {
            Some(-1) => Some(None),
            other => Some(Some(usize::try_from(other?).ok()?)),
        };
        let parents: Option<Vec<_>> =
            model["parents"].as_array().and_then(|list| list.iter().map(parent).collect());
        let parents = parents.ok_or("`parents` is not a list of indices")?;
        agree("parents", parents.len(), BONES)?;
        if parents.iter().enumerate().any(|(bone, parent)| parent.is_some_and(|parent| parent >= bone)) {
            return Err("a parent comes after its child".to_owned());
        }
        let mirrored = model["is_mirrored"].as_bool().ok_or("`is_mirrored` is not a boolean")?;
        let (relatives, inverses) =
            (affine(model, "base_relatives")?, affine(model, "inverse_base_absolutes")?);

        let (positions, weights) =
            (input::matrix(model, "base_positions")?, input::matrix(model, "weights")?);
        agree("each of the positions", positions.columns, 4)?;
        agree("the weights of a vertex", weights.columns, BONES)?;
        agree("the weights", weights.rows, positions.rows)?;
        let vertices: Vec<Vertex> = positions
            .entries
            .chunks_exact(4)
            .zip(weights.entries.chunks_exact(BONES))
            .map(|(position, weights)| {
                let bones: Vec<usize> = (0..BONES).filter(|&bone| weights[bone] != 0.0).collect();
                Vertex {
                    position: position.try_into().expect("chunks have four"),
                    weights: bones.iter().map(|&bone| weights[bone]).collect(),
                    bones,
                }
            })
            .collect();
        let vertex = |i: usize| vertices.get(i).cloned().ok_or_else(|| format!("there is no vertex {i}"));

        let points = triples(input::matrix(data, "points")?)?;
        let correspondences = input::indices(data, "correspondences")?;
        agree("correspondences", correspondences.len(), points.len())?;
        let us = input::matrix(input, "us")?;
        let with = if us.rows == 0 {
            Correspondences::Vertices(correspondences.into_iter().map(vertex).collect::<Result<_, _>>()?)
        } else {
            agree("us", us.entries.len(), 2 * points.len())?;
            let triangles = input::matrix(model, "triangles")?;
            agree("each of the triangles", triangles.columns, 3)?;
            let triangle = |t: usize| {
                let corners = triangles
                    .entries
                    .get(3 * t..3 * t + 3)
                    .ok_or_else(|| format!("there is no triangle {t}"))?;
                Ok([vertex(corners[0] as usize)?, vertex(corners[1] as usize)?, vertex(corners[2] as usize)?])
            };
            let triangles = correspondences.into_iter().map(triangle).collect::<Result<_, String>>()?;
            Correspondences::Triangles(triangles, us.entries.as_chunks().0.to_vec())
        };
        let skeleton = Skeleton { parents, relatives, inverses, mirrored };
        Ok(Problem { theta: input::array(input, "theta")?, skeleton, points, with })
    }
}

fn triples(matrix: Matrix) -> Result<Vec<[f64; 3]>, String> {
    agree("each of the points", matrix.columns, 3)?;
    Ok(matrix.entries.as_chunks().0.to_vec())
}

/// One matrix for each bone, without its last row, which is 0, 0, 0, 1.
fn affine(model: &Value, field: &str) -> Result<Vec<Affine>, String> {
    let matrices = input::matrices(model, field)?;
    agree(field, matrices.len(), BONES)?;
    let rows = |matrix: Matrix| {
        let (rows, _) = matrix.entries.as_chunks();
        match *rows {
            [a, b, c, [0.0, 0.0, 0.0, 1.0]] => Ok([a, b, c]),
            _ => Err(format!("`{field}` has a matrix that is not 4×4, or does not end in 0, 0, 0, 1")),
        }
    };
    matrices.into_iter().map(rows).collect()
}

/// The functions of this eval.
pub fn task(function: &str, input: &Value) -> Result<Box<dyn Task>, String> {
    let problem = Problem::new(input)?;
    match function {
        "objective" => {
            let run = move |errors: &mut Vec<_>| objective(&problem, errors);
            Ok(task::task(Vec::new(), run, |errors: &Vec<[f64; 3]>| errors.as_flattened().into()))
        }
        "jacobian" => {
            let columns = match problem.with {
                Correspondences::Vertices(_) => PARAMETERS,
                Correspondences::Triangles(..) => PARAMETERS + 2,
            };
            let jacobian = Jacobian::new(&problem)?;
            let run = move |rows: &mut Vec<f64>| jacobian.compute(&problem, rows);
            Ok(task::task(Vec::new(), run, move |rows: &Vec<f64>| task::rows(rows, columns)))
        }
        _ => Err(unknown(function)),
    }
}

#[cfg(test)]
mod tests {
    use crate::evals::tests::check;

    #[test]
    fn samples() {
        for function in
            ["simple-objective", "simple-jacobian", "complicated-objective", "complicated-jacobian"]
        {
            check("ht", function);
        }
    }
}
