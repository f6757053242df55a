//! The table of the language says for each row where its tests are: that has to stay true.

#![allow(missing_docs)]

use std::path::Path;

const TREE: &str = "https://github.com/pullback-rs/pullback/blob/main/";

#[test]
fn each_row_links_its_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let guide = std::fs::read_to_string(root.join("src/guide/language.md")).expect("the guide is there");
    let table = guide.split_once("|---|---|---|\n").expect("there is a table").1;
    let rows: Vec<_> = table.lines().take_while(|line| line.starts_with('|')).collect();
    assert!(rows.len() >= 20, "only {} rows", rows.len());
    for row in rows {
        let topic = row.split('|').nth(1).expect("a first column").trim();
        let link = topic.split_once("](").and_then(|(_, link)| link.strip_suffix(')'));
        let file =
            link.and_then(|link| link.strip_prefix(TREE)).unwrap_or_else(|| panic!("{topic}: no tests"));
        let tests = std::fs::read_to_string(root.join(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(tests.contains("#[test]"), "{file} has no tests");
    }
}
