//! Compiled kernels on disk, so that a process finds what another one has compiled.

use std::fs;
use std::path::PathBuf;

/// A number that differs where the texts do, and is the same in every process.
pub(super) fn fingerprint(texts: &[&str]) -> u64 {
    // FNV-1a of 64 bits, with the ends of texts as bytes of their own.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        for byte in text.bytes().chain([0xff]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    hash
}

/// The file for what is compiled from `source` for the architecture `target` by that `compiler`. It begins with all three, so that
/// texts of the same fingerprint are told apart.
pub(super) struct Entry {
    path: PathBuf,
    head: String,
}

/// The folder `PULLBACK_CUDA_CACHE`, or else the user's for caches; `None` if there is none, or if the variable is empty.
pub(super) fn folder() -> Option<PathBuf> {
    match std::env::var_os("PULLBACK_CUDA_CACHE") {
        Some(folder) if folder.is_empty() => None,
        Some(folder) => Some(PathBuf::from(folder)),
        None => match (std::env::var_os("XDG_CACHE_HOME"), std::env::var_os("HOME")) {
            (Some(cache), _) => Some(PathBuf::from(cache).join("pullback")),
            (None, Some(home)) => Some(PathBuf::from(home).join(".cache/pullback")),
            (None, None) => None,
        },
    }
}

impl Entry {
    /// In that folder.
    pub(super) fn new(folder: PathBuf, source: &str, target: &str, compiler: &str) -> Self {
        let hash = fingerprint(&[source, target, compiler]);
        let head = format!("{target}\n{compiler}\n{}\n{source}", source.len());
        Entry { path: folder.join(format!("{hash:016x}.ptx")), head }
    }

    /// What was stored, if it was.
    pub(super) fn load(&self) -> Option<String> {
        let stored = fs::read_to_string(&self.path).ok()?;
        stored.strip_prefix(&self.head).map(str::to_owned)
    }

    /// Stores `code`. It does not matter if that fails: it is going to be compiled again.
    pub(super) fn store(&self, code: &str) {
        let Some(folder) = self.path.parent() else { return };
        let part = self.path.with_extension(format!("{}.part", std::process::id()));
        let written = fs::create_dir_all(folder)
            .and_then(|()| fs::write(&part, format!("{}{code}", self.head)))
            // Other processes see all of it or nothing.
            .and_then(|()| fs::rename(&part, &self.path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn what_is_stored_is_found_by_the_same_source_target_and_compiler() {
        let folder = std::env::temp_dir().join(format!("pullback-cache-{}", std::process::id()));
        let entry = |source, target, compiler| Entry::new(folder.clone(), source, target, compiler);
        assert_eq!(entry("a", "sm_90", "13.0").load(), None);
        entry("a", "sm_90", "13.0").store("code\nof a");
        assert_eq!(entry("a", "sm_90", "13.0").load().as_deref(), Some("code\nof a"));
        for other in [entry("b", "sm_90", "13.0"), entry("a", "sm_80", "13.0"), entry("a", "sm_90", "12.0")] {
            assert_eq!(other.load(), None);
        }
        // Something else under that name is not taken for it.
        let impostor = Entry { head: "another".to_owned(), ..entry("a", "sm_90", "13.0") };
        assert_eq!(impostor.load(), None);
        std::fs::remove_dir_all(folder).expect("it is there");
    }
}
