//! Settings that the random tests in `src` share.

use proptest::test_runner::{Config, FileFailurePersistence};

/// Returns the settings of a random test. `PROPTEST_CASES` scales its number of cases: 256, its default, leaves it at
/// `usual`. Failed cases are stored beside the failed cases of the test programs.
pub fn random(usual: u32) -> Config {
    let config = Config::default();
    let scaled = u64::from(usual) * u64::from(config.cases) / 256;
    let file = FileFailurePersistence::SourceParallel("tests/proptest-regressions");
    Config {
        cases: u32::try_from(scaled.max(1)).unwrap_or(u32::MAX),
        failure_persistence: Some(Box::new(file)),
        ..config
    }
}
