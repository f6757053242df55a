//! Arrays on a device.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use ndarray::{Array as HostArray, ArrayRef, Dimension, IntoDimension, RemoveAxis};

use super::deferred::Reach;
use super::device::{Buffer, Device};
use super::{Error, run};
use crate::fused::operand::{Owner, Place};
use crate::fused::{Array, Rank, Real, Sink, Source};
use crate::lengths::Extent;
use crate::shadow::Differentiable;

/// An array of `f32` or `f64` on a device, which owns its memory: by rows, without gaps.
///
/// Copies to and from the host are the only operations that it has by itself; all others are functions that are generic over
/// [`Array`], fused functions, and products of matrices. It dereferences to [`DeviceRef`].
pub struct DeviceArray<T, D> {
    part: DeviceRef<T, D>,
    buffer: Option<Buffer>,
}

/// What an array on a device refers to: some elements, their shape and strides. A reference to it is what functions take.
pub struct DeviceRef<T, D> {
    /// None if there are no elements.
    device: Option<Device>,
    address: u64,
    shape: D,
    strides: D,
    elements: PhantomData<T>,
}

/// A part of an array on a device.
pub struct DeviceView<'a, T, D> {
    part: DeviceRef<T, D>,
    lifetime: PhantomData<&'a T>,
}

/// A part of an array on a device that may be written.
pub struct DeviceViewMut<'a, T, D> {
    part: DeviceRef<T, D>,
    lifetime: PhantomData<&'a mut T>,
}

/// The shadow of an array on a device.
pub struct DeviceShadow<'a, T, D> {
    place: Place<T>,
    device: Option<&'a Device>,
    rank: PhantomData<D>,
}

impl<T: Real, D: Rank> DeviceShadow<'_, T, D> {
    pub(super) fn place(&self) -> Place<T> {
        self.place
    }
}

impl<T: Real, D> Clone for DeviceShadow<'_, T, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Real, D> Copy for DeviceShadow<'_, T, D> {}

impl<T: Real, D: Rank> DeviceArray<T, D> {
    /// Zeros on `device`.
    ///
    /// # Errors
    /// [`Error::Driver`] if the memory does not suffice.
    pub fn zeros(device: &Device, shape: impl IntoDimension<Dim = D>) -> Result<Self, Error> {
        let array = Self::uninitialised(device, shape.into_dimension())?;
        if let Some(buffer) = &array.buffer {
            device.zero(buffer.reach())?;
        }
        Ok(array)
    }

    /// A copy of `array` on `device`.
    ///
    /// # Errors
    /// [`Error::Driver`] if the memory does not suffice.
    pub fn from_array(device: &Device, array: &ArrayRef<T, D>) -> Result<Self, Error> {
        let copy = Self::uninitialised(device, array.raw_dim())?;
        copy.part.upload(array)?;
        Ok(copy)
    }

    pub(super) fn uninitialised(device: &Device, shape: D) -> Result<Self, Error> {
        const { assert!(!T::CARRIES, "arrays on a device consist of `f32` or `f64`, and not of dual numbers") };
        let buffer = Buffer::new(device, shape.size() * size_of::<T>())?;
        let part = DeviceRef {
            device: Some(device.clone()),
            address: buffer.address(),
            strides: by_rows(&shape),
            shape,
            elements: PhantomData,
        };
        Ok(DeviceArray { part, buffer: Some(buffer) })
    }

    fn nothing() -> Self {
        let shape = D::zeros(D::NDIM.unwrap_or(0));
        let part =
            DeviceRef { device: None, address: 0, strides: by_rows(&shape), shape, elements: PhantomData };
        DeviceArray { part, buffer: None }
    }
}

/// The strides of an array without gaps.
fn by_rows<D: Dimension>(shape: &D) -> D {
    let mut strides = shape.clone();
    let mut next = 1;
    for axis in (0..shape.ndim()).rev() {
        strides[axis] = next;
        next *= shape[axis].max(1);
    }
    strides
}

impl<T: Real, D: Rank> DeviceRef<T, D> {
    /// The lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        self.shape.slice()
    }

    /// How many elements a step along each axis goes on.
    pub fn strides(&self) -> &[isize] {
        let strides = self.strides.slice();
        // SAFETY: `usize` and `isize` have the same layout.
        unsafe { std::slice::from_raw_parts(strides.as_ptr().cast(), strides.len()) }
    }

    /// How many elements there are.
    pub fn len(&self) -> usize {
        self.shape.size()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the elements are.
    ///
    /// # Panics
    /// If this is what stands for an array before there is one.
    pub fn device(&self) -> &Device {
        self.device.as_ref().expect("an array that was made on a device")
    }

    fn contiguous(&self) -> bool {
        self.strides == by_rows(&self.shape) || self.is_empty()
    }

    fn part<E: Rank>(&self, offset: isize, shape: E, strides: E) -> DeviceRef<T, E> {
        let address = self.address.wrapping_add_signed((offset * size_of::<T>() as isize) as i64);
        DeviceRef { device: self.device.clone(), address, shape, strides, elements: PhantomData }
    }

    /// All of it.
    pub fn view(&self) -> DeviceView<'_, T, D> {
        DeviceView { part: self.part(0, self.shape, self.strides), lifetime: PhantomData }
    }

    /// All of it, to write.
    pub fn view_mut(&mut self) -> DeviceViewMut<'_, T, D> {
        DeviceViewMut { part: self.part(0, self.shape, self.strides), lifetime: PhantomData }
    }

    /// With its axes the other way round: the transpose.
    pub fn t(&self) -> DeviceView<'_, T, D> {
        let (mut shape, mut strides) = (self.shape, self.strides);
        shape.slice_mut().reverse();
        strides.slice_mut().reverse();
        DeviceView { part: self.part(0, shape, strides), lifetime: PhantomData }
    }

    /// The elements whose index along `axis` is in `range`.
    ///
    /// # Panics
    /// If there is no such axis, or it is shorter.
    pub fn slice_axis(&self, axis: ndarray::Axis, range: std::ops::Range<usize>) -> DeviceView<'_, T, D> {
        let (offset, shape) = self.sliced(axis, &range);
        DeviceView { part: self.part(offset, shape, self.strides), lifetime: PhantomData }
    }

    /// The same, to write.
    ///
    /// # Panics
    /// As [`slice_axis`](DeviceRef::slice_axis).
    pub fn slice_axis_mut(
        &mut self,
        axis: ndarray::Axis,
        range: std::ops::Range<usize>,
    ) -> DeviceViewMut<'_, T, D> {
        let (offset, shape) = self.sliced(axis, &range);
        DeviceViewMut { part: self.part(offset, shape, self.strides), lifetime: PhantomData }
    }

    fn sliced(&self, axis: ndarray::Axis, range: &std::ops::Range<usize>) -> (isize, D) {
        let axis = axis.index();
        assert!(axis < self.shape.ndim(), "there is no axis {axis} among {}", self.shape.ndim());
        let length = self.shape[axis];
        assert!(
            range.start <= range.end && range.end <= length,
            "{range:?} is not within an axis of length {length}"
        );
        let mut shape = self.shape;
        shape[axis] = range.len();
        (range.start as isize * self.strides()[axis], shape)
    }

    /// What is at `index` along `axis`: an array with one axis less.
    ///
    /// # Panics
    /// If there is no such axis, or it is shorter.
    pub fn index_axis(&self, axis: ndarray::Axis, index: usize) -> DeviceView<'_, T, D::Smaller>
    where
        D: RemoveAxis,
        D::Smaller: Rank,
    {
        let (offset, _) = self.sliced(axis, &(index..index + 1));
        let part = self.part(offset, self.shape.remove_axis(axis), self.strides.remove_axis(axis));
        DeviceView { part, lifetime: PhantomData }
    }

    /// A copy on the host. It waits until all that was asked for is done.
    ///
    /// # Errors
    /// [`Error::Driver`] if something of that failed.
    pub fn to_array(&self) -> Result<HostArray<T, D>, Error> {
        let mut array = HostArray::from_elem(self.shape, T::of(0.0));
        self.copy_to(&mut array)?;
        Ok(array)
    }

    /// Copies this into `array`, which allocates nothing if the elements of both are in the same order without gaps. It waits until all that was
    /// asked for is done.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another shape, [`Error::Driver`] if something of what was asked for failed.
    pub fn copy_to(&self, array: &mut ArrayRef<T, D>) -> Result<(), Error> {
        if self.shape() != array.shape() {
            return Err(Error::Shape { expected: self.shape().to_vec(), found: array.shape().to_vec() });
        }
        let Some(device) = self.device.as_ref().filter(|_| !self.is_empty()) else { return Ok(()) };
        if !self.contiguous() {
            let mut packed = DeviceArray::uninitialised(device, self.shape)?;
            run::assign(&mut packed, self);
            return packed.copy_to(array);
        }
        match array.as_slice_mut() {
            Some(elements) => device.download(self.address, bytes_mut(elements)),
            None => {
                let mut elements = vec![T::of(0.0); self.len()];
                device.download(self.address, bytes_mut(&mut elements))?;
                array.iter_mut().zip(elements).for_each(|(to, from)| *to = from);
                Ok(())
            }
        }
    }

    /// Copies `array` into this.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another shape, [`Error::Driver`] if the device fails.
    pub fn copy_from(&mut self, array: &ArrayRef<T, D>) -> Result<(), Error> {
        if self.shape() != array.shape() {
            return Err(Error::Shape { expected: self.shape().to_vec(), found: array.shape().to_vec() });
        }
        let Some(device) = self.device.clone() else { return Ok(()) };
        if self.contiguous() {
            return self.upload(array);
        }
        let packed = DeviceArray::from_array(&device, array)?;
        run::assign(self, &packed);
        Ok(())
    }

    fn upload(&self, array: &ArrayRef<T, D>) -> Result<(), Error> {
        let Some(device) = self.device.as_ref().filter(|_| !self.is_empty()) else { return Ok(()) };
        match array.as_slice() {
            Some(elements) => device.upload(self.address, bytes(elements)),
            None => {
                let elements: Vec<T> = array.iter().copied().collect();
                device.upload(self.address, bytes(&elements))
            }
        }
    }

    /// This as a shadow.
    #[cfg(test)]
    pub(super) fn as_shadow(&self) -> DeviceShadow<'static, T, D> {
        DeviceShadow { place: self.place(), device: None, rank: PhantomData }
    }

    pub(super) fn place(&self) -> Place<T> {
        let owner = Owner::Device(self.device.as_ref().map_or(0, Device::identity));
        let start = std::ptr::without_provenance_mut(self.address as usize);
        Place { owner, ..Place::new(start, self.shape(), self.strides()) }
    }
}

fn bytes<T: Real>(elements: &[T]) -> &[u8] {
    // SAFETY: floats consist of bytes, all of which mean something.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

pub(super) fn bytes_mut<T: Real>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: floats consist of bytes, whichever they are.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}

impl<T, D> Deref for DeviceArray<T, D> {
    type Target = DeviceRef<T, D>;
    fn deref(&self) -> &DeviceRef<T, D> {
        &self.part
    }
}

impl<T, D> DerefMut for DeviceArray<T, D> {
    fn deref_mut(&mut self) -> &mut DeviceRef<T, D> {
        &mut self.part
    }
}

impl<T, D> Deref for DeviceView<'_, T, D> {
    type Target = DeviceRef<T, D>;
    fn deref(&self) -> &DeviceRef<T, D> {
        &self.part
    }
}

impl<T, D> Deref for DeviceViewMut<'_, T, D> {
    type Target = DeviceRef<T, D>;
    fn deref(&self) -> &DeviceRef<T, D> {
        &self.part
    }
}

impl<T, D> DerefMut for DeviceViewMut<'_, T, D> {
    fn deref_mut(&mut self) -> &mut DeviceRef<T, D> {
        &mut self.part
    }
}

impl<T: Real, D: Rank> fmt::Debug for DeviceRef<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceRef({:?}, strides {:?})", self.shape(), self.strides())
    }
}

impl<T: Real, D: Rank> fmt::Debug for DeviceArray<T, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceArray({:?})", self.shape())
    }
}

macro_rules! differentiable {
    ($array:ty) => {
        impl<T: Real, D: Rank> Differentiable for $array {
            type Shadow<'a> = DeviceShadow<'a, T, D>;
            type Gradient = DeviceArray<T, D>;
            type View<'a> = &'a DeviceArray<T, D>;
            const RESIZES: bool = false;

            fn empty() -> DeviceArray<T, D> {
                DeviceArray::nothing()
            }
            fn prepare(&self, gradient: &mut DeviceArray<T, D>) {
                let Some(device) = &self.device else {
                    *gradient = DeviceArray::nothing();
                    return;
                };
                let bytes = self.len() * size_of::<T>();
                let fits = |buffer: &Buffer| buffer.bytes() >= bytes && buffer.device() == device;
                match &gradient.buffer {
                    Some(buffer) if fits(buffer) => {
                        let address = buffer.address();
                        gradient.part = DeviceRef {
                            device: Some(device.clone()),
                            address,
                            shape: self.shape,
                            strides: by_rows(&self.shape),
                            elements: PhantomData,
                        };
                    }
                    _ => {
                        *gradient =
                            DeviceArray::uninitialised(device, self.shape).unwrap_or_else(run::failed);
                    }
                }
                device.zero(Reach::new(gradient.address, bytes)).unwrap_or_else(run::failed);
            }
            fn shadow(gradient: &mut DeviceArray<T, D>) -> Self::Shadow<'_> {
                let place = gradient.place();
                DeviceShadow { place, device: gradient.part.device.as_ref(), rank: PhantomData }
            }
            fn align<'a>(&self, shadow: Self::Shadow<'a>) -> Self::Shadow<'a> {
                assert!(shadow.place.lengths() == self.shape(), "a shadow has the shape of its array");
                shadow
            }
            #[inline(always)]
            fn shortened<'a, 's: 'a>(shadow: Self::Shadow<'s>) -> Self::Shadow<'a> {
                shadow
            }
            #[inline(always)]
            fn fit(&self, _gradient: &mut DeviceArray<T, D>, _to: Extent) {}
            fn makes_way(&self, new: &Self) -> bool {
                self.shape() == new.shape()
            }
            fn take_shadow(shadow: Self::Shadow<'_>, gradient: &mut DeviceArray<T, D>) {
                if let Some(device) = shadow.device.filter(|_| !gradient.is_empty()) {
                    run::copy(device, gradient.place(), shadow.place);
                }
                Self::clear_shadow(&shadow);
            }
            fn view(gradient: &DeviceArray<T, D>) -> &DeviceArray<T, D> {
                gradient
            }
            fn gradient_size(_gradient: &DeviceArray<T, D>) -> usize {
                // It is the memory of the device.
                0
            }
            fn seed(gradient: &mut DeviceArray<T, D>, seed: &DeviceArray<T, D>) {
                assert_eq!(gradient.shape(), seed.shape(), "the seed has another shape than the argument");
                run::assign(gradient, seed);
            }
            fn copy_gradient(gradient: &mut DeviceArray<T, D>, other: &DeviceArray<T, D>) {
                other.prepare(gradient);
                run::assign(gradient, other);
            }
        }

        impl<T: Real, D: Rank> Array<T> for $array {
            type Memory = Device;
            type Copy = Backup;

            fn memory(&self) -> Device {
                self.device().clone()
            }
            fn lengths(&self) -> &[usize] {
                self.shape()
            }
            fn source(&self) -> Source<'_, T> {
                Source::at(self.place())
            }
            fn sink(&mut self) -> Sink<'_, T> {
                Sink::at(Some(self.place()), false)
            }
            fn shadow_source<'a>(shadow: &Self::Shadow<'a>) -> Source<'a, T> {
                Source::at(shadow.place)
            }
            fn shadow_sink<'a>(shadow: Option<Self::Shadow<'a>>, adds: bool) -> Sink<'a, T> {
                Sink::at(shadow.map(|shadow| shadow.place), adds)
            }
            fn clear_shadow(shadow: &Self::Shadow<'_>) {
                if let Some(device) = shadow.device {
                    run::fill(device, shadow.place, T::of(0.0));
                }
            }
            fn save(&self, copy: &mut Backup) {
                if !copy.forgone && !self.is_empty() {
                    copy.save(self.device(), self.place());
                }
            }
            fn restore(&mut self, copy: &mut Backup) {
                if std::mem::take(&mut copy.full) {
                    copy.bring_back(self.device(), self.place());
                }
            }
            fn forgo(copy: &mut Backup) {
                copy.forgone = true;
            }
        }
    };
}
differentiable!(DeviceRef<T, D>);
differentiable!(DeviceArray<T, D>);

/// A copy of the elements of an array, on its device.
#[derive(Default, Debug)]
pub struct Backup {
    buffer: Option<Buffer>,
    full: bool,
    forgone: bool,
}

/// It is the memory of the device.
impl crate::HeapSize for Backup {
    fn heap_size(&self) -> usize {
        0
    }
}

impl Backup {
    /// Memory for as many bytes on `device`.
    pub(super) fn room(&mut self, device: &Device, bytes: usize) -> u64 {
        match &self.buffer {
            Some(buffer) if buffer.bytes() >= bytes && buffer.device() == device => buffer.address(),
            _ => {
                let buffer = Buffer::new(device, bytes).unwrap_or_else(run::failed);
                // Libraries read beyond what they have written, up to where vectors end, though nothing depends on it.
                if bytes > 0 {
                    device.driver().zero(buffer.address(), bytes).unwrap_or_else(run::failed);
                }
                self.buffer.insert(buffer).address()
            }
        }
    }

    /// Where that memory is.
    pub(super) fn address(&self) -> u64 {
        self.buffer.as_ref().map_or(0, Buffer::address)
    }

    /// The same place without gaps, in this memory.
    fn packed<T: Real>(&mut self, device: &Device, place: Place<T>) -> Place<T> {
        let count = place.lengths().iter().product::<usize>();
        let start = std::ptr::without_provenance_mut(self.room(device, count * size_of::<T>()) as usize);
        Place { owner: place.owner, ..Place::packed(start, place.lengths()) }
    }

    fn save<T: Real>(&mut self, device: &Device, place: Place<T>) {
        let packed = self.packed(device, place);
        run::copy(device, packed, place);
        self.full = true;
    }

    fn bring_back<T: Real>(&mut self, device: &Device, place: Place<T>) {
        let packed = self.packed(device, place);
        run::copy(device, place, packed);
    }
}

/// Whether both have their elements in the same order without gaps.
pub(super) fn same_bytes<T>(to: &Place<T>, from: &Place<T>) -> bool {
    let mut next = 1;
    to.lengths() == from.lengths()
        && (0..to.axes).rev().all(|axis| {
            let expected = next;
            next *= to.lengths[axis] as isize;
            to.lengths[axis] == 1 || to.strides[axis] == expected && from.strides[axis] == expected
        })
}
