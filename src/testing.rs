//! What the random tests in `src` have in common.

use proptest::test_runner::{Config, FileFailurePersistence};

/// Settings for so many cases, unless `PROPTEST_CASES` asks for another number. Failed cases are stored where those of the
/// test programs are.
pub fn random(usual: u32) -> Config {
    let asked = std::env::var("PROPTEST_CASES").ok();
    let cases = asked.and_then(|cases| cases.parse().ok()).unwrap_or(usual);
    let file = FileFailurePersistence::SourceParallel("tests/proptest-regressions");
    Config {
        cases,
        failure_persistence: Some(Box::new(file)),
        ..Config::default()
    }
}
