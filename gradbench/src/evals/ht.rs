//! ht: a hand that is posed so that its skin goes through given points; a tall Jacobian.

use pullback::prelude::*;
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
#[differentiable]
fn skinned(transforms: &[Affine], #[constant] vertex: &Vertex) -> [f64; 3] {
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

/// By how much a point is off a vertex.
#[differentiable]
fn off_vertex(transforms: &[Affine], #[constant] vertex: &Vertex, #[constant] point: &[f64; 3]) -> [f64; 3] {
    let at = skinned(transforms, vertex);
    [point[0] - at[0], point[1] - at[1], point[2] - at[2]]
}

/// By how much a point is off the place in a triangle that has the barycentric coordinates `u`.
#[differentiable]
fn off_triangle(
    transforms: &[Affine],
    u: [f64; 2],
    #[constant] corners: &[Vertex; 3],
    #[constant] point: &[f64; 3],
) -> [f64; 3] {
    let (a, b) = (skinned(transforms, &corners[0]), skinned(transforms, &corners[1]));
    let c = skinned(transforms, &corners[2]);
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
            errors.extend(vertices.iter().zip(&problem.points).map(|(v, x)| off_vertex(&transforms, v, x)));
        }
        Correspondences::Triangles(triangles, us) => {
            let off = |((corners, &u), x)| off_triangle(&transforms, u, corners, x);
            errors.extend(triangles.iter().zip(us).zip(&problem.points).map(off));
        }
    }
}

/// What a point is compared with, where of all transforms only those of the bones that move it are given: a gradient with respect to
/// these is as short as they are few.
struct Moved<T> {
    bones: Vec<usize>,
    target: T,
}

impl<const N: usize> Moved<[Vertex; N]> {
    fn new(vertices: &[Vertex; N]) -> Self {
        let mut bones: Vec<usize> = vertices.iter().flat_map(|vertex| &vertex.bones).copied().collect();
        bones.sort_unstable();
        bones.dedup();
        let mut target = vertices.clone();
        for bone in target.iter_mut().flat_map(|vertex| &mut vertex.bones) {
            *bone = bones.iter().position(|other| other == bone).expect("it is listed");
        }
        Moved { bones, target }
    }
}

/// The gradient objects, and what of the problem is prepared for them.
struct Jacobian {
    transforms: transforms,
    off_vertex: off_vertex,
    off_triangle: off_triangle,
    vertices: Vec<Moved<[Vertex; 1]>>,
    triangles: Vec<Moved<[Vertex; 3]>>,
    /// The transforms of the bones that move one point.
    few: Vec<Affine>,
}

impl Jacobian {
    fn new(problem: &Problem) -> Self {
        let (mut vertices, mut triangles) = (Vec::new(), Vec::new());
        match &problem.with {
            Correspondences::Vertices(list) => {
                vertices.extend(list.iter().map(|vertex| Moved::new(std::array::from_ref(vertex))));
            }
            Correspondences::Triangles(list, _) => triangles.extend(list.iter().map(Moved::new)),
        }
        Jacobian {
            transforms: transforms::jacobian(),
            off_vertex: off_vertex::pullback(),
            off_triangle: off_triangle::pullback(),
            vertices,
            triangles,
            few: Vec::new(),
        }
    }

    /// All points share the transforms, so that their Jacobian is computed once, and multiplied by that of each point.
    fn compute(&mut self, problem: &Problem, rows: &mut Vec<f64>) {
        let (transforms, of_transforms) =
            self.transforms.value_and_jacobian(&problem.theta, &problem.skeleton);
        let (of_transforms, _) = of_transforms.to_slice().expect("its rows are adjacent").as_chunks();
        let few = &mut self.few;
        rows.clear();
        for (n, point) in problem.points.iter().enumerate() {
            let bones = match &problem.with {
                Correspondences::Vertices(_) => &self.vertices[n].bones,
                Correspondences::Triangles(..) => &self.triangles[n].bones,
            };
            few.clear();
            few.extend(bones.iter().map(|&bone| transforms[bone]));
            for row in 0..3 {
                let mut seed = [0.0; 3];
                seed[row] = 1.0;
                let d_few = match &problem.with {
                    Correspondences::Vertices(_) => {
                        let [vertex] = &self.vertices[n].target;
                        self.off_vertex.value_and_pullback(few, vertex, point, seed).1.transforms
                    }
                    Correspondences::Triangles(_, us) => {
                        let corners = &self.triangles[n].target;
                        let (_, d) = self.off_triangle.value_and_pullback(few, us[n], corners, point, seed);
                        rows.extend(d.u);
                        d.transforms
                    }
                };
                rows.extend(product(d_few, bones, of_transforms));
            }
        }
    }
}

/// A gradient with respect to the transforms of some bones, times the Jacobian of all of them.
fn product(d: &[Affine], bones: &[usize], of_transforms: &[[f64; PARAMETERS]]) -> [f64; PARAMETERS] {
    let mut sums = [0.0; PARAMETERS];
    for (d, &bone) in d.iter().zip(bones) {
        let entries = d.as_flattened();
        for (&d, of_entry) in entries.iter().zip(&of_transforms[entries.len() * bone..]) {
            if d != 0.0 {
                for (sum, of_entry) in sums.iter_mut().zip(of_entry) {
                    *sum += d * of_entry;
                }
            }
        }
    }
    sums
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
            let mut jacobian = Jacobian::new(&problem);
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
