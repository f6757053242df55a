//! Structs with `#[derive(Differentiable)]`: by value and by reference, their fields, literals and updates.

use pullback::prelude::*;
use pullback::testing::check_rule;

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Body {
    mass: f64,
    position: [f64; 3],
    velocity: [f64; 3],
    id: usize,
}

fn body(seed: f64) -> Body {
    let at = |k: f64| (seed * 1.7 + k).sin();
    Body {
        mass: 1.5 + 0.5 * at(0.0),
        position: [at(1.0), at(2.0), at(3.0)],
        velocity: [at(4.0), at(5.0), at(6.0)],
        id: seed as usize,
    }
}

fn bodies(n: usize) -> Vec<Body> {
    (0..n).map(|i| body(i as f64)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Vec2(f64, f64);

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Point<T> {
    x: T,
    y: T,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct State {
    x: f64,
    v: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Segment {
    from: Vec2,
    to: Vec2,
    /// How much it carries, and how often.
    load: (f64, usize),
    closed: bool,
}

const SEGMENT: Segment = Segment { from: Vec2(0.5, 1.0), to: Vec2(2.0, -1.0), load: (1.5, 2), closed: false };

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Unit;

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Oscillator {
    stiffness: f64,
    #[constant]
    step: f64,
    #[constant]
    weights: [f64; 2],
    rest: f64,
}

const OSCILLATOR: Oscillator = Oscillator { stiffness: 1.5, step: 0.25, weights: [0.5, 2.0], rest: 0.2 };

// By value.

#[differentiable]
fn kinetic(body: Body) -> f64 {
    let mut total = 0.0;
    for k in 0..3 {
        total += body.velocity[k] * body.velocity[k];
    }
    0.5 * body.mass * total
}

#[test]
fn fields_of_a_value() {
    let body = Body { mass: 2.0, position: [0.0; 3], velocity: [1.0, 2.0, 3.0], id: 3 };
    let mut g = kinetic::gradient();
    let (value, d) = g.value_and_gradient(body);
    assert_eq!((value, d.body.mass, d.body.velocity, d.body.id), (14.0, 7.0, [2.0, 4.0, 6.0], ()));
    check_rule(kinetic::rule, [(body,), (super::structs::body(2.0),)]);
}

#[differentiable]
fn norm(v: Vec2) -> f64 {
    (v.0 * v.0 + v.1 * v.1).sqrt()
}

#[differentiable]
fn area(p: Point<f64>, q: Point<f64>) -> f64 {
    p.x * q.y - p.y * q.x
}

#[differentiable]
fn single(p: Point<f32>, q: Point<(f32, [f32; 2])>) -> f32 {
    p.x * q.x.0 + p.y * q.y.1[1] * q.x.1[0]
}

#[differentiable]
fn length(s: Segment, _unit: Unit) -> f64 {
    let (dx, dy) = (s.to.0 - s.from.0, s.to.1 - s.from.1);
    let length = dx.hypot(dy) * s.load.0 * s.load.1 as f64;
    if s.closed { 2.0 * length } else { length }
}

#[test]
fn tuple_structs_generic_ones_and_nested_ones() {
    check_rule(norm::rule, [(Vec2(3.0, 4.0),), (Vec2(-1.0, 0.5),)]);
    let (p, q) = (Point { x: 0.5, y: 1.5 }, Point { x: 2.0, y: -1.0 });
    check_rule(area::rule, [(p, q), (q, p)]);
    check_rule(
        single::rule,
        [(Point { x: 0.5, y: 2.0 }, Point { x: (1.0, [0.5, 2.0]), y: (0.0, [1.0, 1.5]) })],
    );
    check_rule(length::rule, [(SEGMENT, Unit), (Segment { closed: true, ..SEGMENT }, Unit)]);
}

// Literals.

#[differentiable]
fn leap(s: State, dt: f64, k: f64) -> State {
    let half = s.v - 0.5 * dt * k * s.x;
    let x = s.x + dt * half;
    State { x, v: half - 0.5 * dt * k * x }
}

#[differentiable]
fn swing(start: State, k: f64, steps: usize) -> f64 {
    let mut s = start;
    for _ in 0..steps {
        s = leap(s, 0.1, k);
    }
    s.x * s.x + s.v
}

#[differentiable]
fn swing_inline(start: State, k: f64, steps: usize) -> State {
    let mut s = start;
    for i in 0..steps {
        s = State { x: s.x + 0.1 * s.v, v: s.v - 0.1 * k * s.x * s.x };
        if i % 2 == 1 {
            s = State { v: s.v * s.x, ..s };
        }
    }
    s
}

#[differentiable]
fn rotated(v: Vec2, angle: f64) -> Vec2 {
    let (s, c) = (angle.sin(), angle.cos());
    Vec2(c * v.0 - s * v.1, s * v.0 + c * v.1)
}

#[differentiable]
fn scaled(s: Segment, k: f64) -> Segment {
    Segment {
        from: Vec2(k * s.from.0, k * s.from.1),
        to: rotated(s.to, k),
        load: (s.load.0 * k * s.load.0, s.load.1 + 1),
        ..s
    }
}

#[differentiable]
fn chained(p: Point<f64>, k: f64) -> f64 {
    let q = Point { x: p.y * k, ..p };
    let r = Point::<f64> { y: q.x, x: area(q, Point { x: k, y: p.x * p.x }) };
    let o = Point { x: 1.0, y: 2.0 };
    r.x * r.y + o.x * q.y + area(o, r)
}

#[test]
fn literals() {
    let s = State { x: 0.7, v: -0.2 };
    check_rule(leap::rule, [(s, 0.1, 2.0)]);
    check_rule(swing::rule, [(s, 1.5, 5), (s, 0.5, 0), (s, 2.0, 3)]);
    check_rule(swing_inline::rule, [(s, 1.5, 5), (s, 0.5, 0), (s, 2.0, 2)]);
    check_rule(rotated::rule, [(Vec2(0.5, 2.0), 0.7)]);
    check_rule(scaled::rule, [(SEGMENT, 0.7), (Segment { closed: true, ..SEGMENT }, 1.2)]);
    check_rule(chained::rule, [(Point { x: 0.5, y: 1.5 }, 0.8)]);
}

#[test]
fn seeds_are_structs() {
    let mut g = leap::pullback();
    let (value, d) =
        g.value_and_pullback(State { x: 1.0, v: 2.0 }, 0.5, 4.0, StateTangent { x: 1.0, v: 0.0 });
    assert_eq!(value, State { x: 1.5, v: 1.0 - 1.5 });
    assert_eq!(d.s, StateTangent { x: 0.5, v: 0.5 });
    assert_eq!(StateTangent::default(), StateTangent { x: 0.0, v: 0.0 });
    assert_eq!(format!("{:?}", d.s), "StateTangent { x: 0.5, v: 0.5 }");
}

#[differentiable]
fn chosen(a: Vec2, b: Vec2, k: f64) -> Vec2 {
    let longer = if a.0 > b.0 { Vec2(a.0 * k, a.1) } else { b };
    let other = {
        let scale = k * longer.0;
        Vec2(scale, longer.1 * b.0)
    };
    if k > 1.0 { Vec2(other.1, longer.0) } else { other }
}

#[test]
fn values_of_branches_and_blocks() {
    let (a, b) = (Vec2(0.5, 2.0), Vec2(1.5, 0.3));
    check_rule(chosen::rule, [(a, b, 0.5), (b, a, 0.7), (a, b, 1.5), (b, a, 1.7)]);
}

// Mutation.

#[differentiable]
fn kicked(start: State, k: f64, steps: usize) -> f64 {
    let mut s = start;
    for _ in 0..steps {
        s.v -= 0.1 * k * s.x;
        s.x += 0.1 * s.v;
        s.x *= 1.0 + 0.1 * s.x;
    }
    s.x + s.v * s.x
}

#[differentiable]
fn kicked_parameter(mut s: State, k: f64) -> State {
    s.v = s.v * s.x - k;
    s.x = s.v * s.v;
    s
}

#[differentiable]
fn inner(x: f64, n: usize) -> f64 {
    let mut total = Vec2(0.0, 1.0);
    for i in 0..n {
        let mut s = State { x: x * i as f64, v: total.1 };
        s.x += s.v * s.v;
        total.0 += s.x * x;
        total.1 = 0.5 * total.1 + s.x;
        let mut p = s;
        p.v *= p.x;
        total.0 += p.v;
    }
    total.0 * total.1
}

#[differentiable]
fn push(body: &mut Body, force: &[f64; 3], dt: f64) {
    for k in 0..3 {
        body.velocity[k] += dt * force[k] / body.mass;
        body.position[k] += dt * body.velocity[k];
    }
    body.mass *= 0.99;
}

#[differentiable]
fn pushed(body: &mut Body, force: &[f64; 3], steps: usize) -> f64 {
    for i in 0..steps {
        push(body, force, 0.1);
        if i % 2 == 0 {
            body.position[0] = body.position[1] * body.velocity[0];
        }
    }
    body.position[0] * body.velocity[1] + body.mass
}

#[differentiable]
fn reset(s: &mut State, k: f64) -> f64 {
    let before = s.x;
    *s = State { x: s.v * k, v: s.x };
    s.x *= before;
    s.x + s.v
}

#[differentiable]
fn replaced(bodies: &mut [Body], k: f64) {
    for i in 1..bodies.len() {
        let last = bodies[i - 1];
        bodies[i] = Body { mass: last.mass * k, velocity: last.position, ..bodies[i] };
        bodies[i].position[1] *= k;
    }
}

#[test]
fn mutation() {
    let s = State { x: 0.7, v: -0.2 };
    check_rule(kicked::rule, [(s, 1.5, 4), (s, 0.5, 0), (s, 1.1, 1)]);
    check_rule(kicked_parameter::rule, [(s, 1.5)]);
    check_rule(inner::rule, [(0.7, 3), (0.3, 0), (0.5, 1)]);
    check_rule(push::rule, [(body(1.0), [0.5, 1.0, -1.0], 0.2)]);
    check_rule(pushed::rule, [(body(1.0), [0.5, 1.0, -1.0], 3), (body(2.0), [0.5, 1.0, -1.0], 1)]);
    check_rule(reset::rule, [(s, 1.5)]);
    check_rule(replaced::rule, [(bodies(3), 0.7), (bodies(1), 0.7), (bodies(4), 1.2)]);
}

// Slices, arrays and vectors of structs.

#[differentiable]
fn potential(bodies: &[Body]) -> f64 {
    let mut total = 0.0;
    for i in 0..bodies.len() {
        for j in 0..i {
            let mut squared = 0.01;
            for k in 0..3 {
                let distance = bodies[i].position[k] - bodies[j].position[k];
                squared += distance * distance;
            }
            total -= bodies[i].mass * bodies[j].mass / squared.sqrt();
        }
    }
    total
}

#[differentiable]
fn simulate(bodies: &mut Vec<Body>, dt: f64, steps: usize) -> f64 {
    for _ in 0..steps {
        for i in 0..bodies.len() {
            let mut acceleration = [0.0; 3];
            for j in 0..bodies.len() {
                if i != j {
                    let mut squared = 0.1;
                    for k in 0..3 {
                        let distance = bodies[j].position[k] - bodies[i].position[k];
                        squared += distance * distance;
                    }
                    let pull = bodies[j].mass / (squared * squared.sqrt());
                    for k in 0..3 {
                        acceleration[k] += pull * (bodies[j].position[k] - bodies[i].position[k]);
                    }
                }
            }
            for k in 0..3 {
                bodies[i].velocity[k] += dt * acceleration[k];
            }
        }
        for i in 0..bodies.len() {
            for k in 0..3 {
                bodies[i].position[k] += dt * bodies[i].velocity[k];
            }
        }
    }
    let mut energy = potential(bodies);
    for i in 0..bodies.len() {
        energy += kinetic(bodies[i]);
    }
    energy
}

#[differentiable]
fn passed_on(bodies: &[Body], pair: &[Body; 2], one: &Body) -> f64 {
    let rest = &bodies[1..];
    potential(rest) * potential(pair)
        + kinetic(*one)
        + sum(&bodies[0].position)
        + sum(&one.velocity)
        + total_mass(&pair[1], one)
}

#[differentiable]
fn sum(x: &[f64]) -> f64 {
    let mut total = 0.0;
    for i in 0..x.len() {
        total += x[i] * x[i];
    }
    total
}

#[differentiable]
fn total_mass(a: &Body, b: &Body) -> f64 {
    a.mass * b.mass
}

#[differentiable]
fn local_array(a: Vec2, k: f64) -> f64 {
    let mut corners = [a, Vec2(k, 1.0), Vec2(a.0 * a.1, k)];
    corners[1].0 *= k;
    corners[2] = Vec2(corners[1].1, corners[0].0);
    let mut total = 0.0;
    for i in 0..3 {
        let next = corners[(i + 1) % 3];
        total += corners[i].0 * next.1 - corners[i].1 * next.0;
        total += norm(corners[i]);
    }
    total
}

#[differentiable]
fn by_borrowed_local(a: Vec2, k: f64) -> f64 {
    let mut s = State { x: a.0, v: a.1 };
    let first = reset(&mut s, k);
    let segment = Segment { from: a, to: Vec2(s.x, s.v), load: (k, 1), closed: false };
    first * ends(&segment, &segment.to) + ends(&segment, &a)
}

#[differentiable]
fn ends(s: &Segment, v: &Vec2) -> f64 {
    s.from.0 * s.to.1 * s.load.0 + v.0 * v.1 * s.load.1 as f64
}

#[differentiable]
fn by_struct_of_arrays(points: &[Point<[f64; 2]>], k: f64) -> f64 {
    let mut total = 0.0;
    for i in 0..points.len() {
        let (x, y) = (points[i].x, points[i].y);
        total += x[0] * y[1] * k - sum(&y);
    }
    total
}

#[test]
fn many() {
    check_rule(potential::rule, [(bodies(3),), (bodies(1),), (bodies(5),)]);
    check_rule(simulate::rule, [(bodies(3), 0.1, 2), (bodies(2), 0.2, 3), (bodies(1), 0.2, 0)]);
    check_rule(passed_on::rule, [(bodies(3), [body(7.0), body(8.0)], body(9.0))]);
    check_rule(local_array::rule, [(Vec2(0.5, 2.0), 1.2)]);
    check_rule(by_borrowed_local::rule, [(Vec2(0.5, 2.0), 1.2)]);
}

#[test]
fn the_gradient_has_the_shape_of_the_argument() {
    let mut g = potential::gradient();
    let bodies = bodies(2);
    let (_, d) = g.value_and_gradient(&bodies);
    let force: Vec<f64> = d.bodies.iter().map(|b| b.position[0]).collect();
    assert_eq!(force[0], -force[1]);
    assert_eq!(d.bodies[0].velocity, [0.0; 3]);
}

// Fields that are constant.

#[differentiable]
fn oscillate(o: Oscillator, x: f64, steps: usize) -> f64 {
    let mut s = State { x, v: 0.0 };
    for _ in 0..steps {
        s.v -= o.step * o.stiffness * (s.x - o.rest);
        s.x += o.step * s.v;
    }
    o.weights[0] * s.x + o.weights[1] * s.v
}

#[differentiable]
fn oscillate_by_reference(o: &Oscillator, all: &[Oscillator], x: f64) -> f64 {
    let mut total = x * o.step * o.stiffness;
    for i in 0..all.len() {
        total += all[i].stiffness * all[i].step * all[i].weights[i % 2] * o.weights[1] + sum(&o.weights);
    }
    total
}

#[test]
fn constant_fields() {
    let mut g = oscillate::gradient();
    let (value, d) = g.value_and_gradient(OSCILLATOR, 0.7, 4);
    assert_eq!(value, oscillate(OSCILLATOR, 0.7, 4));
    let moved = |h: f64| oscillate(Oscillator { stiffness: 1.5 + h, ..OSCILLATOR }, 0.7, 4);
    assert!((d.o.stiffness - (moved(1e-4) - moved(-1e-4)) / 2e-4).abs() < 1e-7);
    assert_eq!(size_of_val(&d.o), 16);
    check_rule(
        oscillate_by_reference::rule,
        [(OSCILLATOR, vec![OSCILLATOR; 3], 0.5), (OSCILLATOR, vec![OSCILLATOR], 0.5)],
    );
}

// Enums.

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
enum Shape {
    Disc { radius: f64 },
    Rectangle(f64, f64),
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
enum Either<T> {
    Left(T),
    Right(Point<T>, usize),
}

#[differentiable]
fn shape(k: f64, size: f64, round: bool) -> Shape {
    let scaled = size * k;
    if round { Shape::Disc { radius: scaled * scaled } } else { Shape::Rectangle(size, scaled) }
}

#[differentiable]
fn either(k: f64, left: bool) -> Either<f64> {
    let point = Point { x: k * k, y: 1.0 };
    if left { Either::Left(3.0 * k) } else { Either::Right(point, 2) }
}

#[test]
fn enums_are_made() {
    let mut g = shape::pullback();
    let mut seed = ShapeTangent::default();
    (seed.Disc.radius, seed.Rectangle.0, seed.Rectangle.1) = (1.0, 10.0, 100.0);
    let (value, d) = g.value_and_pullback(2.0, 3.0, true, seed);
    assert_eq!((value, d.k, d.size), (Shape::Disc { radius: 36.0 }, 36.0, 24.0));
    let (value, d) = g.value_and_pullback(2.0, 3.0, false, seed);
    assert_eq!((value, d.k, d.size), (Shape::Rectangle(3.0, 6.0), 300.0, 210.0));
    assert_eq!(
        ShapeTangent::default(),
        ShapeTangent { Disc: ShapeDiscTangent { radius: 0.0 }, Rectangle: ShapeRectangleTangent(0.0, 0.0) }
    );

    let mut g = either::pullback();
    let mut seed = EitherTangent::default();
    (seed.Left.0, seed.Right.0.x) = (1.0, 10.0);
    assert_eq!(g.value_and_pullback(2.0, true, seed).1.k, 3.0);
    assert_eq!(g.value_and_pullback(2.0, false, seed).1.k, 40.0);
}

// In generic functions.

#[differentiable]
fn generic<T: pullback::Float>(p: Point<T>, all: &[Point<T>], k: T) -> Point<T> {
    let mut total = Point { x: k, y: p.x * k };
    for i in 0..all.len() {
        total.x += all[i].x * p.y;
        total.y = total.y * all[i].y + p.x;
    }
    Point { x: total.x * total.y, ..total }
}

#[test]
fn in_generic_functions() {
    let point = |x: f64| Point { x, y: 0.5 + x * x };
    check_rule(
        generic::<f64>::rule,
        [(point(0.3), vec![point(0.7), point(0.4)], 1.5), (point(0.3), vec![], 1.5)],
    );
    let single = |x: f32| Point { x, y: 0.5 + x * x };
    check_rule(generic::<f32>::rule, [(single(0.3), vec![single(0.7), single(0.4)], 1.5)]);
}

// Patterns.

#[differentiable]
fn taken_apart(p: Point<f64>, s: Segment, all: &[Body], one: &Body, k: f64) -> f64 {
    let Point { x, y: mut height } = p;
    height *= k;
    let Segment { from: Vec2(a, _), to, load: (load, count), .. } = s;
    let Vec2(b, c) = rotated(to, x);
    let mut total = x * height + a * b * c * load * count as f64;
    for i in 0..all.len() {
        let Body { mass, position: [px, _, pz], .. } = all[i];
        total += mass * px * pz;
        let last = &all[i];
        let Body { velocity, .. } = last;
        total += velocity[0] * velocity[1] * k;
    }
    let Body { mass, id, .. } = one;
    total * *mass + *id as f64
}

#[differentiable]
fn renamed(p: Point<f64>) -> f64 {
    let Point { x: y, y: p } = Point { x: p.x * p.y, y: p.x };
    let (Vec2(a, b), c): (Vec2, f64) = (Vec2(y * p, p), y);
    a * b + c * p
}

#[test]
fn patterns() {
    let p = Point { x: 0.5, y: 1.5 };
    check_rule(
        taken_apart::rule,
        [(p, SEGMENT, bodies(2), body(3.0), 0.7), (p, SEGMENT, vec![], body(1.0), 1.7)],
    );
    check_rule(renamed::rule, [(p,)]);
}

// What calls leave, loops that end early, and values without gradient.

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Filter {
    mean: [f64; 2],
    covariance: [[f64; 2]; 2],
}

/// Kalman's filter for a position that is measured and a velocity that is not.
#[differentiable]
fn predict(f: Filter, dt: f64, noise: f64) -> Filter {
    let p = f.covariance;
    let (a, b) = (p[0][0] + dt * (p[1][0] + p[0][1] + dt * p[1][1]) + noise, p[0][1] + dt * p[1][1]);
    Filter {
        mean: [f.mean[0] + dt * f.mean[1], f.mean[1]],
        covariance: [[a, b], [p[1][0] + dt * p[1][1], p[1][1] + noise]],
    }
}

#[differentiable]
fn update(f: &mut Filter, measured: f64, variance: f64) -> f64 {
    let innovation = measured - f.mean[0];
    let s = f.covariance[0][0] + variance;
    let gain = [f.covariance[0][0] / s, f.covariance[1][0] / s];
    let row = f.covariance[0];
    for i in 0..2 {
        f.mean[i] += gain[i] * innovation;
        for j in 0..2 {
            f.covariance[i][j] -= gain[i] * row[j];
        }
    }
    0.5 * (innovation * innovation / s + s.ln())
}

#[differentiable]
fn likelihood(start: Filter, measured: &[f64], noise: f64, variance: f64) -> f64 {
    let mut f = start;
    let mut total = 0.0;
    for i in 0..measured.len() {
        f = predict(f, 0.5, noise);
        let more = update(&mut f, measured[i], variance);
        total += more;
    }
    total
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Camera {
    focal: f64,
    centre: Vec2,
    rotation: [[f64; 3]; 3],
    translation: [f64; 3],
}

#[differentiable]
fn project(camera: &Camera, point: [f64; 3]) -> Vec2 {
    let mut seen = camera.translation;
    for i in 0..3 {
        for j in 0..3 {
            seen[i] += camera.rotation[i][j] * point[j];
        }
    }
    Vec2(
        camera.centre.0 + camera.focal * seen[0] / seen[2],
        camera.centre.1 + camera.focal * seen[1] / seen[2],
    )
}

#[differentiable]
fn reprojection(cameras: &[Camera], points: &[[f64; 3]], seen: &[Vec2]) -> f64 {
    let mut total = 0.0;
    for i in 0..cameras.len() {
        for j in 0..points.len() {
            let Vec2(u, v) = project(&cameras[i], points[j]);
            let (du, dv) = (u - seen[j].0, v - seen[j].1);
            total += du * du + dv * dv;
        }
    }
    total
}

#[test]
fn applications() {
    let start = Filter { mean: [0.1, 0.5], covariance: [[1.0, 0.1], [0.1, 0.5]] };
    check_rule(likelihood::rule, [(start, vec![0.4, 0.9, 1.1], 0.05, 0.3), (start, vec![], 0.05, 0.3)]);
    let camera = |k: f64| Camera {
        focal: 1.0 + k,
        centre: Vec2(0.1, -0.1 * k),
        rotation: [[1.0, 0.1, 0.0], [-0.1, 1.0, 0.2], [0.0, -0.2, 1.0]],
        translation: [0.1, k, 2.0],
    };
    check_rule(
        reprojection::rule,
        [(
            vec![camera(0.3), camera(0.5)],
            vec![[0.2, 0.4, 1.0], [0.5, -0.2, 1.5]],
            vec![Vec2(0.3, 0.1), Vec2(0.2, 0.0)],
        )],
    );
}

#[derive(Clone, Copy, Differentiable)]
struct Observed<'a> {
    scale: &'a f64,
    values: &'a [f64],
}

#[derive(Clone, Differentiable)]
struct Held {
    inner: Box<f64>,
    k: f64,
}

/// References and boxes in fields are followed.
#[differentiable]
fn followed(observed: &Observed<'_>, held: &mut Held) -> f64 {
    for value in observed.values {
        *held.inner *= value * *observed.scale;
    }
    held.k *= *held.inner;
    *held.inner * held.k
}

/// Boxes of locals make no difference.
#[differentiable]
fn boxed(x: f64, y: f64) -> f64 {
    let product = Box::new(x * y);
    let mut sum: Box<f64> = Box::new(x);
    *sum += *product;
    let v = Box::new(vec![x, *sum]);
    v[1] * *product
}

#[test]
fn references_and_boxes() {
    let (scale, values) = (2.0, [1.0, 3.0]);
    let mut held = Held { inner: Box::new(0.5), k: 0.25 };
    let mut g = followed::gradient();
    let (value, d) = g.value_and_gradient(&Observed { scale: &scale, values: &values }, &mut held);
    // inner²·k, inner = 0.5·2²·3
    assert_eq!((value, d.observed.scale, d.observed.values[1]), (9.0, 18.0, 6.0));
    assert_eq!((d.held.inner, d.held.k, *held.inner), (36.0, 36.0, 0.5));
    check_rule(boxed::rule, [(0.5, 0.8), (0.1, 0.5)]);
}
