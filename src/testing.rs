//! Settings that the random tests in `src` share.

// The number of cases, as in the test programs.
#[path = "../tests/scenes/cases.rs"]
mod cases;

use proptest::test_runner::{Config, FileFailurePersistence};

/// Returns the settings of a random test, with a number of [cases](cases::scaled). Failed cases are stored beside the
/// failed cases of the test programs.
pub fn random(usual: u32) -> Config {
    let file = FileFailurePersistence::SourceParallel("tests/proptest-regressions");
    Config {
        cases: cases::scaled(usual),
        failure_persistence: Some(Box::new(file)),
        ..Config::default()
    }
}
