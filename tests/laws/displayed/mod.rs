//! The displayed time never goes back, and each body is displayed on its path at that time.

mod game;
mod hosts;
mod path;
mod script;

use hosts::{Kind, play, play_overlap};
use proptest::prelude::*;
use script::script;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::scenes::cases::scaled(300)))]

    #[test]
    fn the_displayed_time_never_goes_back_in_the_closure_form(script in script()) {
        play(&script, Kind::Closure);
    }

    #[test]
    fn the_displayed_time_never_goes_back_in_the_pull_form(script in script()) {
        play(&script, Kind::Pull);
    }

    #[test]
    fn the_displayed_time_never_goes_back_in_an_overlap(script in script()) {
        play_overlap(&script);
    }
}
