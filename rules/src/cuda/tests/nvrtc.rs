//! A CUDA compiler takes every kernel.

use super::{fused::everything, images, layers::layers, linear, lookup, products};
use crate::cuda::simulator::{program, sources};

#[test]
fn nvrtc_compiles_every_kernel() {
    // SAFETY: it loads a library that is meant to be loaded.
    if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
        eprintln!("SKIPPED: libnvrtc is not found, so nothing is known about what it says of the kernels");
        return;
    }
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
    let options = cudarc::nvrtc::CompileOptions {
        arch: Some("compute_80"),
        options: vec!["--std=c++17".to_owned()],
        ..Default::default()
    };
    if let Err(error) = cudarc::nvrtc::compile_ptx_with_opts(program(&sources), options) {
        let cudarc::nvrtc::CompileError::CompileError { log, .. } = error else { panic!("{error}") };
        panic!("{}", log.to_string_lossy());
    }
}
