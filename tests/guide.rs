//! What users read has to stay true: links lead to files, tables are whole, and each row of the table of the language says where its tests are.

#![allow(missing_docs)]

use std::path::{Path, PathBuf};

const TREE: &str = "https://github.com/pullback-rs/pullback/blob/main/";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder, the name and the text of each file for readers.
fn texts() -> Vec<(PathBuf, String, String)> {
    let mut texts = Vec::new();
    for folder in ["", "benches", "benches/results", "examples/data", "gradbench", "src/guide"] {
        let folder = root().join(folder);
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = std::fs::read_to_string(&path).expect("a text");
                texts.push((folder.clone(), path.display().to_string(), text));
            }
        }
    }
    assert!(texts.len() >= 15, "only {} texts", texts.len());
    texts
}

#[test]
fn links_lead_to_files() {
    let mut found = 0;
    for (folder, name, text) in texts() {
        for behind in text.split("](").skip(1) {
            let link = behind.split(')').next().unwrap_or_default();
            let file = match link.strip_prefix(TREE) {
                Some(file) => root().join(file),
                // Other sites, items of the documentation, and places in the same text are other tools' to check.
                None if ["://", "::", "@"].iter().any(|mark| link.contains(mark))
                    || link.starts_with('#') =>
                {
                    continue;
                }
                None => folder.join(link.split('#').next().unwrap_or_default()),
            };
            assert!(file.exists(), "{name}: `{link}` leads nowhere");
            found += 1;
        }
    }
    assert!(found >= 80, "only {found} links");
}

#[test]
fn tables_are_whole() {
    for (_, name, text) in texts() {
        let (mut in_code, mut lines_of_table) = (false, 0);
        for (number, line) in text.lines().enumerate() {
            in_code ^= line.starts_with("```");
            lines_of_table = if line.starts_with('|') && !in_code { lines_of_table + 1 } else { 0 };
            let is_rule = line.contains("--") && line.chars().all(|c| "|-: ".contains(c));
            let (at, second) = (number + 1, lines_of_table == 2);
            assert!(
                lines_of_table == 0 || second == is_rule,
                "{name}:{at}: a table begins with a head and a rule"
            );
        }
    }
}

#[test]
fn each_row_links_its_tests() {
    let guide = std::fs::read_to_string(root().join("src/guide/language.md")).expect("the guide is there");
    let table = guide.split_once("|---|---|---|\n").expect("there is a table").1;
    let rows: Vec<_> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() >= 20, "only {} rows", rows.len());
    for row in rows {
        let topic = row.split('|').nth(1).expect("a first column").trim();
        let link = topic.split_once("](").and_then(|(_, link)| link.strip_suffix(')'));
        let file =
            link.and_then(|link| link.strip_prefix(TREE)).unwrap_or_else(|| panic!("{topic}: no tests"));
        let tests = std::fs::read_to_string(root().join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(tests.contains("#[test]"), "{file} has no tests");
    }
}
