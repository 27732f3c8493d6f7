//! Random games against a plain map that copies every body before and after every step.

mod frames;
mod plain;
mod reference;
mod script;

use frames::play;
use proptest::prelude::*;
use script::frame;

/// More cases than usual, unless the environment asks for another number.
fn config() -> ProptestConfig {
    let config = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() {
        return config;
    }
    ProptestConfig {
        cases: 500,
        ..config
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_frame_shows_what_the_plain_map_shows(
        script in prop::collection::vec(frame(), 1..40),
    ) {
        play(&script);
    }
}
