//! Settings that the random tests in `src` share.

use proptest::test_runner::{Config, FileFailurePersistence};

/// Returns the settings for a number of cases, which `PROPTEST_CASES` overrides. Failed cases are stored beside the
/// failed cases of the test programs.
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
