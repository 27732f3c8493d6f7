//! Random games, compared with a plain map that copies every body before and after every step.

mod frames;
mod plain;
mod script;

use frames::play;
use proptest::prelude::*;
use script::frame;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::scenes::cases::scaled(500)))]

    #[test]
    fn every_frame_displays_the_poses_of_the_plain_map(
        script in prop::collection::vec(frame(), 1..40), is_eased in any::<bool>(),
    ) {
        play(&script, is_eased);
    }
}
