//! What is not supported is a compile error on the token in question, which says what to write instead.
//!
//! The messages are those of one compiler: `TRYBUILD=overwrite cargo test --test ui` accepts new ones.

#[test]
fn messages() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
