//! A CUDA compiler takes every kernel.

use super::{fused::everything, images, layers::layers, linear, lookup, products};
use crate::cuda::Error;
use crate::cuda::compiler::compile;
use crate::cuda::simulator::{program, sources};

#[test]
fn nvrtc_compiles_every_kernel() {
    let sources = sources(|device| {
        everything::<f32, _>(device);
        everything::<f64, _>(device);
        products::on_device::<f32>(device);
        products::on_device::<f64>(device);
        lookup::on_device::<f32>(device);
        lookup::on_device::<f64>(device);
        images::on_device::<f32>(device);
        images::on_device::<f64>(device);
        linear::layers::<f32, _>(device);
        linear::layers::<f64, _>(device);
        layers::<f32, _>(device);
        layers::<f64, _>(device);
    });
    assert!(sources.len() > 100, "{} kernels", sources.len());
    match compile(&program(&sources), "of these", "compute_80", None) {
        Ok(code) => {
            let entry = |name: &String| code.contains(&format!(".visible .entry {name}("));
            assert!(sources.keys().all(entry), "kernels are found by their names");
            assert!(["v4.f32", "v2.f64"].iter().all(|vector| code.contains(&format!("ld.global.{vector}"))));
        }
        Err(Error::Missing { library: "libnvrtc" }) => {
            eprintln!(
                "SKIPPED: libnvrtc is not found, so nothing is known about what it says of the kernels"
            );
        }
        Err(error) => panic!("{error}"),
    }
}
