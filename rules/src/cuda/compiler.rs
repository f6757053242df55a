//! NVRTC, by cudarc.

use std::path::PathBuf;

use cudarc::nvrtc;

use super::Error;
use super::cache::Entry;

/// What NVRTC makes of `source` for an `architecture`, which may have been made before: then it is in the folder.
pub(super) fn compile(
    source: &str,
    name: &str,
    architecture: &str,
    folder: Option<PathBuf>,
) -> Result<String, Error> {
    // Without the library cudarc panics, whatever it is asked for.
    // SAFETY: it loads a library that is meant to be loaded.
    if !unsafe { nvrtc::sys::is_culib_present() } {
        return Err(Error::Missing { library: "libnvrtc" });
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: both are places for a number.
    let _ = unsafe { nvrtc::sys::nvrtcVersion(&mut major, &mut minor) };
    let compiler = format!("nvrtc {major}.{minor}, pullback {}", env!("CARGO_PKG_VERSION"));
    let entry = folder.map(|folder| Entry::new(folder, source, architecture, &compiler));
    if let Some(code) = entry.as_ref().and_then(Entry::load) {
        return Ok(code);
    }
    let options = nvrtc::CompileOptions {
        options: vec![format!("--gpu-architecture={architecture}"), "--std=c++17".to_owned()],
        ..Default::default()
    };
    let code = nvrtc::compile_ptx_with_opts(source, options).map_err(|error| {
        let message = match &error {
            nvrtc::CompileError::CompileError { log, .. } => log.to_string_lossy().into_owned(),
            error => error.to_string(),
        };
        Error::Compile { kernel: name.to_owned(), message }
    })?;
    let code = code.to_src();
    if let Some(entry) = entry {
        entry.store(&code);
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::compile;
    use crate::cuda::Error;

    const KERNEL: &str = "extern \"C\" __global__ void kernel(float *x) { x[threadIdx.x] = 0; }";

    /// A folder for one test.
    fn folder(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("pullback-{name}-{}", std::process::id()))
    }

    #[test]
    fn what_the_compiler_says_is_an_error() {
        let broken = KERNEL.replace("= 0", "= nothing");
        match compile(&broken, "kernel", "compute_80", None) {
            Err(Error::Compile { kernel, message }) => {
                assert_eq!(kernel, "kernel");
                assert!(message.contains("nothing"), "{message}");
            }
            Err(error) => {
                eprintln!("SKIPPED: nothing is compiled here");
                assert_eq!(error, Error::Missing { library: "libnvrtc" });
            }
            Ok(code) => panic!("{code}"),
        }
        let unknown = compile(KERNEL, "kernel", "compute_1", None);
        assert!(matches!(unknown, Err(Error::Compile { .. } | Error::Missing { .. })), "{unknown:?}");
    }

    /// The second time the code is read, which shows in what somebody has added to it.
    #[test]
    fn what_is_on_disk_is_not_compiled_again() {
        let folder = folder("compiler");
        let code = |architecture| compile(KERNEL, "kernel", architecture, Some(folder.clone()));
        let first = match code("compute_80") {
            Err(Error::Missing { .. }) => return eprintln!("SKIPPED: nothing is compiled here"),
            first => first.expect("a kernel"),
        };
        assert!(first.contains(".target sm_80") && first.contains(".entry kernel("), "{first}");
        let files =
            || std::fs::read_dir(&folder).expect("it is there").map(|file| file.expect("a file").path());
        let [file] = files().collect::<Vec<_>>().try_into().expect("one file, and no parts of any");
        let stored = std::fs::read_to_string(&file).expect("text");
        std::fs::write(&file, stored + "// as it was stored").expect("room for it");
        assert_eq!(code("compute_80"), Ok(first + "// as it was stored"));
        assert!(code("compute_90").expect("a kernel").contains(".target sm_90"));
        assert_eq!(files().count(), 2, "one for each architecture");
        std::fs::remove_dir_all(&folder).expect("it is there");
    }
}
