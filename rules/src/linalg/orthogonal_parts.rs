//! Factors with orthonormal columns of matrices of dual numbers, and of numbers in lanes: those of the values, and how they change with the
//! matrix.

use ndarray::ArrayRef2;

use super::backend::{Shape, solve_triangular_in};
use super::cofactors::Cofactors;
use super::packed::{Packed, in_bases, times};
use super::scalar::Number;
use super::scalar::sealed::{OrthogonalFactors, ThinQr};
use super::symmetric::{quotient, resolution};
use crate::dual::{DualNumber, Lanes};
use crate::float::Float;
use crate::heap::heap_size;

/// Takes one number out of each element.
fn take<E: Number, P: Number>(from: &Packed<E>, to: &mut Packed<P>, read: impl Fn(&E) -> P) {
    to.resize(from.rows(), from.columns());
    for j in 0..from.columns() {
        to.column_mut(j).iter_mut().zip(from.column(j)).for_each(|(to, from)| *to = read(from));
    }
}

/// Puts one number into each element.
fn put<E: Number, P: Number>(to: &mut Packed<E>, from: &Packed<P>, write: impl Fn(&mut E, P)) {
    for j in 0..from.columns() {
        to.column_mut(j).iter_mut().zip(from.column(j)).for_each(|(to, &from)| write(to, from));
    }
}

fn is_zero<T: Number>(matrix: &Packed<T>) -> bool {
    (0..matrix.columns()).all(|j| matrix.column(j).iter().all(|x| x.is_zero()))
}

/// *A = Q·R* of the values, and the factors in dual numbers.
#[derive(Default)]
pub struct PushedQr<T: Number, const N: usize> {
    of_values: T::Qr,
    q: Packed<DualNumber<T, N>>,
    r: Packed<DualNumber<T, N>>,
    values: Packed<T>,
    factors: [Packed<T>; 2],
    change: Packed<T>,
    middle: Packed<T>,
    product: Packed<T>,
}

impl<T: Float, const N: usize> ThinQr<DualNumber<T, N>> for PushedQr<T, N> {
    /// With *C = Qᵀ·Ȧ·R⁻¹*, and *D* that has *C + Cᵀ* above the diagonal and *C* on it: *Ṙ = D·R*, *Q̇ = Ȧ·R⁻¹ − Q·D*, since *QᵀQ̇* is antisymmetric (Walter
    /// and Lehmann, *Algorithmic differentiation of linear algebra functions*, 2012, section 3.3).
    fn factor(&mut self, a: &ArrayRef2<DualNumber<T, N>>) {
        let PushedQr { of_values, q, r, values, factors: [q_0, r_0], change, middle, product } = self;
        let n = a.ncols();
        q.assign(a);
        take(q, values, |x| x.value);
        of_values.factor(&values.view());
        middle.zeros(n, n);
        (0..n).for_each(|i| middle.column_mut(i)[i] = T::ONE);
        of_values.expand(middle, q_0);
        r_0.copy(of_values.triangle());
        r_0.clear_lower();
        r.zeros(n, n);
        put(r, r_0, |x, value| x.value = value);
        for k in 0..N {
            take(q, change, |x| x.tangent[k]);
            if is_zero(change) {
                continue;
            }
            solve_triangular_in(r_0.get().transpose(), Shape::LOWER, change.get_mut().transpose_mut());
            middle.resize(n, n);
            times(T::ONE, &q_0.view().t(), &change.view(), T::ZERO, &mut middle.view_mut());
            for j in 0..n {
                for i in 0..j {
                    let below = middle.column(i)[j];
                    middle.column_mut(j)[i] += below;
                }
            }
            middle.clear_lower();
            times(-T::ONE, &q_0.view(), &middle.view(), T::ONE, &mut change.view_mut());
            put(q, change, |x, t| x.tangent[k] = t);
            product.resize(n, n);
            times(T::ONE, &middle.view(), &r_0.view(), T::ZERO, &mut product.view_mut());
            put(r, product, |x, t| x.tangent[k] = t);
        }
        put(q, q_0, |x, value| x.value = value);
    }

    fn triangle(&self) -> &Packed<DualNumber<T, N>> {
        &self.r
    }

    fn expand(&mut self, x: &Packed<DualNumber<T, N>>, y: &mut Packed<DualNumber<T, N>>) {
        let PushedQr { of_values, q, values, change: result, .. } = self;
        y.resize(q.rows(), x.columns());
        times(DualNumber::one(), &q.view(), &x.view(), DualNumber::zero(), &mut y.view_mut());
        take(x, values, |x| x.value);
        of_values.expand(values, result);
        put(y, result, |y, value| y.value = value);
    }

    fn project(&mut self, x: &mut Packed<DualNumber<T, N>>, y: &mut Packed<DualNumber<T, N>>) {
        let PushedQr { of_values, q, values, change: result, .. } = self;
        y.resize(q.columns(), x.columns());
        times(DualNumber::one(), &q.view().t(), &x.view(), DualNumber::zero(), &mut y.view_mut());
        take(x, values, |x| x.value);
        of_values.project(values, result);
        put(y, result, |y, value| y.value = value);
    }
}

/// What decompositions of dual numbers are computed in.
#[derive(Default)]
pub struct PushedRoom<T: Number> {
    of_values: T::Room,
    a: Packed<T>,
    /// The eigenvectors, or the singular vectors on either side.
    sides: [Packed<T>; 2],
    values: Vec<T>,
    middle: Packed<T>,
    rotation: Packed<T>,
    work: Packed<T>,
    change: Packed<T>,
}

/// For cofactors of dual numbers.
#[derive(Default)]
pub struct PushedCofactors<T: Number> {
    of_values: T::CofactorRoom,
    decomposition: Cofactors<T>,
    a: Packed<T>,
    part: Packed<T>,
}

/// *(1 − U·Uᵀ)·Ȧ·V·S⁻¹ + U·Ω*, where *Ω* is in `rotation` and *UᵀȦV* in `middle`: how singular vectors change.
#[allow(clippy::too_many_arguments, reason = "matrices")]
fn turn<T: Number>(
    u: &Packed<T>,
    v: &Packed<T>,
    da: &ArrayRef2<T>,
    middle: &ArrayRef2<T>,
    rotation: &Packed<T>,
    values: &[T],
    resolution: T,
    du: &mut Packed<T>,
) {
    du.zeros(u.rows(), u.columns());
    if u.rows() > u.columns() {
        times(T::ONE, da, &v.view(), T::ZERO, &mut du.view_mut());
        times(-T::ONE, &u.view(), middle, T::ONE, &mut du.view_mut());
        for (j, &value) in values.iter().enumerate() {
            du.column_mut(j).iter_mut().for_each(|x| *x = quotient(*x, value, resolution));
        }
    }
    times(T::ONE, &u.view(), &rotation.view(), T::ONE, &mut du.view_mut());
}

impl<T: Float, const N: usize> OrthogonalFactors for DualNumber<T, N> {
    type Qr = PushedQr<T, N>;
    type Room = PushedRoom<T>;
    type CofactorRoom = PushedCofactors<T>;
    const CARRIES: bool = true;

    /// With *K = Vᵀ·Ȧ·V*: *ẇ = diag K*, and *V̇ = V·Ω* where *Ωᵢⱼ = Kᵢⱼ/(wⱼ − wᵢ)* for i ≠ j (Giles, *Collected matrix derivative results for forward
    /// and reverse mode algorithmic differentiation*, 2008, section 2.3.2).
    fn eigh(
        a: &Packed<Self>,
        values: &mut Vec<Self>,
        vectors: &mut Packed<Self>,
        room: &mut PushedRoom<T>,
    ) -> bool {
        let PushedRoom { of_values, a: part, sides: [v, _], values: w, middle, work, change, .. } = room;
        take(a, part, |x| x.value);
        let converged = T::eigh(part, w, v, of_values);
        values.clear();
        values.extend(w.iter().map(|&value| Self::variable(value, [T::zero(); N])));
        vectors.zeros(v.rows(), v.columns());
        put(vectors, v, |x, value| x.value = value);
        let (n, resolution) = (w.len(), resolution(w));
        for k in 0..N {
            take(a, part, |x| x.tangent[k]);
            for j in 0..n {
                for i in 0..j {
                    part.column_mut(j)[i] = part.column(i)[j];
                }
            }
            if is_zero(part) {
                continue;
            }
            in_bases(&v.view(), &part.view(), &v.view(), work, middle);
            for j in 0..n {
                for i in (0..n).filter(|&i| i != j) {
                    middle.column_mut(j)[i] = quotient(middle.column(j)[i], w[j] - w[i], resolution);
                }
                values[j].tangent[k] = std::mem::replace(&mut middle.column_mut(j)[j], T::zero());
            }
            change.resize(n, n);
            times(T::ONE, &v.view(), &middle.view(), T::ZERO, &mut change.view_mut());
            put(vectors, change, |x, t| x.tangent[k] = t);
        }
        converged
    }

    /// With *K = Uᵀ·Ȧ·V*: *ṡ = diag K*, and with the antisymmetric *Ω* and *Ψ* for which *(Ω + Ψ)ᵢⱼ = (Kᵢⱼ + Kⱼᵢ)/(sⱼ − sᵢ)* and
    /// *(Ω − Ψ)ᵢⱼ = (Kᵢⱼ − Kⱼᵢ)/(sⱼ + sᵢ)*: *U̇ = U·Ω + (1 − U·Uᵀ)·Ȧ·V·S⁻¹*, *V̇ = V·Ψ + (1 − V·Vᵀ)·Ȧᵀ·U·S⁻¹* (Townsend, *Differentiating the singular
    /// value decomposition*, 2016).
    fn svd(
        a: &Packed<Self>,
        u: &mut Packed<Self>,
        values: &mut Vec<Self>,
        v: &mut Packed<Self>,
        room: &mut PushedRoom<T>,
    ) -> bool {
        let PushedRoom { of_values, a: part, sides: [u_0, v_0], values: s, middle, rotation, work, change } =
            room;
        take(a, part, |x| x.value);
        let converged = T::svd(part, u_0, s, v_0, of_values);
        values.clear();
        values.extend(s.iter().map(|&value| Self::variable(value, [T::zero(); N])));
        for (side, of_values) in [(&mut *u, &*u_0), (&mut *v, &*v_0)] {
            side.zeros(of_values.rows(), of_values.columns());
            put(side, of_values, |x, value| x.value = value);
        }
        let (n, resolution) = (s.len(), resolution(s));
        for k in 0..N {
            take(a, part, |x| x.tangent[k]);
            if is_zero(part) {
                continue;
            }
            in_bases(&u_0.view(), &part.view(), &v_0.view(), work, middle);
            (0..n).for_each(|i| values[i].tangent[k] = middle.column(i)[i]);
            for (left, sign) in [(true, T::ONE), (false, -T::ONE)] {
                rotation.resize(n, n);
                for j in 0..n {
                    for i in 0..n {
                        let (above, below) = (middle.column(j)[i], middle.column(i)[j]);
                        rotation.column_mut(j)[i] = if i == j {
                            // With a value of zero the vectors have lost their common sign.
                            quotient(T::zero(), s[i], resolution)
                        } else {
                            let sum = quotient(above + below, s[j] - s[i], resolution);
                            let difference = quotient(above - below, s[j] + s[i], resolution);
                            T::from_f64(0.5) * (sum + sign * difference)
                        };
                    }
                }
                let (da, k_0) = (part.view(), middle.view());
                if left {
                    turn(u_0, v_0, &da, &k_0, rotation, s, resolution, change);
                    put(u, change, |x, t| x.tangent[k] = t);
                } else {
                    turn(v_0, u_0, &da.t(), &k_0.t(), rotation, s, resolution, change);
                    put(v, change, |x, t| x.tangent[k] = t);
                }
            }
        }
        converged
    }

    fn cofactors(a: &Packed<Self>, result: &mut Packed<Self>, room: &mut PushedCofactors<T>) {
        let PushedCofactors { of_values, decomposition, a: a_0, part } = room;
        take(a, a_0, |x| x.value);
        T::cofactors(a_0, part, of_values);
        result.zeros(a.rows(), a.columns());
        put(result, part, |x, value| x.value = value);
        decomposition.decompose(a_0);
        for k in 0..N {
            take(a, a_0, |x| x.tangent[k]);
            decomposition.change(a_0, part);
            put(result, part, |x, t| x.tangent[k] = t);
        }
    }

    fn with_gradient(self, pairs: impl Iterator<Item = (Self, Self)> + Clone) -> Self {
        let tangent = std::array::from_fn(|k| {
            pairs.clone().fold(T::zero(), |sum, (g, x)| sum + g.value * x.tangent[k])
        });
        let value = self.value.with_gradient(pairs.map(|(g, x)| (g.value, x.value)));
        Self::variable(value, tangent)
    }
}

/// *A = Q·R* of a matrix that is the same in all lanes.
#[derive(Default)]
pub struct LanedQr<const K: usize> {
    of_values: <f64 as OrthogonalFactors>::Qr,
    r: Packed<Lanes<K>>,
    lane: Packed<f64>,
    result: Packed<f64>,
}

impl<const K: usize> LanedQr<K> {
    /// Lane by lane.
    fn each(
        &mut self,
        x: &Packed<Lanes<K>>,
        y: &mut Packed<Lanes<K>>,
        compute: impl Fn(&mut <f64 as OrthogonalFactors>::Qr, &mut Packed<f64>, &mut Packed<f64>),
    ) {
        let LanedQr { of_values, lane, result, .. } = self;
        for k in 0..K {
            take(x, lane, |x| x.0[k]);
            compute(of_values, lane, result);
            y.resize(result.rows(), result.columns());
            put(y, result, |y, value| y.0[k] = value);
        }
    }
}

impl<const K: usize> ThinQr<Lanes<K>> for LanedQr<K> {
    fn factor(&mut self, a: &ArrayRef2<Lanes<K>>) {
        let LanedQr { of_values, r, lane, .. } = self;
        r.assign(a);
        take(r, lane, |x| x.value());
        of_values.factor(&lane.view());
        take(of_values.triangle(), r, |&value| Lanes::splat(value));
    }

    fn triangle(&self) -> &Packed<Lanes<K>> {
        &self.r
    }

    fn expand(&mut self, x: &Packed<Lanes<K>>, y: &mut Packed<Lanes<K>>) {
        self.each(x, y, |qr, x, y| qr.expand(x, y));
    }

    fn project(&mut self, x: &mut Packed<Lanes<K>>, y: &mut Packed<Lanes<K>>) {
        self.each(x, y, |qr, x, y| qr.project(x, y));
    }
}

/// Once for all lanes.
impl<const K: usize> OrthogonalFactors for Lanes<K> {
    type Qr = LanedQr<K>;
    type Room = PushedRoom<f64>;
    type CofactorRoom = PushedCofactors<f64>;
    const CARRIES: bool = false;

    fn eigh(
        a: &Packed<Self>,
        values: &mut Vec<Self>,
        vectors: &mut Packed<Self>,
        room: &mut PushedRoom<f64>,
    ) -> bool {
        let PushedRoom { of_values, a: plain, sides: [v, _], values: w, .. } = room;
        take(a, plain, |x| x.value());
        let converged = f64::eigh(plain, w, v, of_values);
        values.clear();
        values.extend(w.iter().map(|&value| Lanes::splat(value)));
        take(v, vectors, |&value| Lanes::splat(value));
        converged
    }

    fn svd(
        a: &Packed<Self>,
        u: &mut Packed<Self>,
        values: &mut Vec<Self>,
        v: &mut Packed<Self>,
        room: &mut PushedRoom<f64>,
    ) -> bool {
        let PushedRoom { of_values, a: plain, sides: [u_0, v_0], values: s, .. } = room;
        take(a, plain, |x| x.value());
        let converged = f64::svd(plain, u_0, s, v_0, of_values);
        values.clear();
        values.extend(s.iter().map(|&value| Lanes::splat(value)));
        take(u_0, u, |&value| Lanes::splat(value));
        take(v_0, v, |&value| Lanes::splat(value));
        converged
    }

    fn cofactors(a: &Packed<Self>, result: &mut Packed<Self>, room: &mut PushedCofactors<f64>) {
        let PushedCofactors { of_values, a: plain, part, .. } = room;
        take(a, plain, |x| x.value());
        f64::cofactors(plain, part, of_values);
        take(part, result, |&value| Lanes::splat(value));
    }

    fn with_gradient(self, _: impl Iterator<Item = (Self, Self)> + Clone) -> Self {
        self
    }
}

heap_size! {
    [T: Float, const N: usize] PushedQr<T, N> { of_values, q, r, values, factors, change, middle, product }
    [T: Number] PushedRoom<T> { of_values, a, sides, values, middle, rotation, work, change }
    [T: Number] PushedCofactors<T> { of_values, decomposition, a, part }
    [const K: usize] LanedQr<K> { of_values, r, lane, result }
}
