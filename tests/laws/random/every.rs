//! Every law, judged by what a random game leaves, in each host.

use super::{display, jumps, lists, moments, occurrences, steps};
use crate::random::game::{Entry, Kind, Run, Script, play};
use std::collections::BTreeSet;

/// Plays a game in a host, and judges what it leaves.
pub fn judge(script: &Script, kind: Kind) {
    let run = play(script, kind);
    steps::check(&script.setup, &run.log);
    lists::check(&run.log);
    moments::check(&run.log);
    display::check(&script.setup, &run.log, kind);
    jumps::check(&run.log);
    occurrences::check(&run.log, kind);
    check_presses(&run);
}

/// Each press counts in exactly one step, or still waits for it.
fn check_presses(run: &Run) {
    let mut numbers = BTreeSet::new();
    for entry in &run.log {
        if let Entry::Pressed { number, tick } = entry {
            assert!(
                numbers.insert(number),
                "press {number} counts again at tick {tick}"
            );
        }
    }
    let pressed = numbers.len() + run.waiting;
    assert_eq!(pressed as u64, run.pushed, "a press is lost");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::game::script::{ALL, script};
    use proptest::prelude::*;

    fn judge_in_every_host(script: &Script) {
        for kind in Kind::ALL {
            judge(script, kind);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(256)))]

        #[test]
        fn laws_hold_in_the_closure_form(script in script(ALL)) {
            judge(&script, Kind::Closure);
        }

        #[test]
        fn laws_hold_with_hooks(script in script(ALL)) {
            judge(&script, Kind::Hooks);
        }

        #[test]
        fn laws_hold_in_the_pull_form(script in script(ALL)) {
            judge(&script, Kind::Pull);
        }

        #[test]
        fn laws_hold_in_an_overlap(script in script(ALL)) {
            judge(&script, Kind::Overlap);
        }

        #[test]
        fn laws_hold_in_a_runner_in_time(script in script(ALL)) {
            judge(&script, Kind::InTime);
        }

        #[test]
        fn laws_hold_in_a_runner_that_is_late(script in script(ALL)) {
            judge(&script, Kind::Late);
        }
    }

    /// A view displays the removal of a body and another body with its index, and then a rollback that brings it back.
    #[test]
    fn a_removal_is_displayed_although_a_rollback_brings_the_body_back_later() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Yard,
                hz: 100,
                smoothing: Interpolate,
                correction: Off,
                keep: 20,
                interval: 0,
                slack: 1,
            },
            frames: vec![
                frame(
                    2000,
                    [
                        (Between, Setting(Hz(1000))),
                        (Between, Setting(Stepping(1))),
                        (Press(0), Body(0, Push(Impulse, 0))),
                    ],
                ),
                frame(2000, []),
                frame(
                    2000,
                    [
                        (Between, Body(0, Despawn(Evenstep))),
                        (Between, World(Score(0))),
                        (Before(1), World(Score(1))),
                    ],
                ),
                frame(
                    2000,
                    [
                        (BeforeFrame, Past(RollBack(2))),
                        (After(0), World(Spawn(Fixed, 0))),
                        (After(0), World(Score(1))),
                    ],
                ),
                frame(2000, []),
                frame(2000, []),
                frame(2000, []),
                frame(2000, []),
                frame(
                    2000,
                    [(Between, World(Score(0))), (Before(0), World(Score(1)))],
                ),
            ],
        };
        judge(&script, Kind::Overlap);
    }

    #[test]
    fn an_edit_right_before_a_portal_is_a_teleport() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Yard,
                hz: 30,
                smoothing: Interpolate,
                correction: Off,
                keep: 0,
                interval: 0,
                slack: 0,
            },
            frames: vec![
                frame(2000, []),
                frame(3507, [(Between, Body(3, Remove))]),
                frame(
                    25194,
                    [
                        (Between, Body(0, Remove)),
                        (Between, Body(1, Target(25, 67))),
                    ],
                ),
                frame(35966, []),
                frame(
                    33333,
                    [
                        (After(0), Body(1, Put(Both, 0, BodyMut))),
                        (After(0), Body(10, TeleportBy(0))),
                    ],
                ),
            ],
        };
        judge(&script, Kind::Hooks);
    }

    /// In 2D, continuous collision detection stops the root of a multibody, but not its links, and the game edits the root.
    #[test]
    fn a_root_that_is_left_beside_its_links_can_be_edited() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Chain,
                hz: 60,
                smoothing: Interpolate,
                correction: Off,
                keep: 0,
                interval: 0,
                slack: 0,
            },
            frames: vec![
                frame(115766, []),
                frame(26769, []),
                frame(
                    50000,
                    [
                        (BeforeFrame, World(Spawn(Fixed, 0))),
                        (Between, World(Spawn(Fixed, 0))),
                    ],
                ),
                frame(
                    6944,
                    [
                        (Between, Body(3, RemoveThroughRapier(BodyMut))),
                        (Between, Value(Copy)),
                    ],
                ),
                frame(161498, []),
                frame(11135, []),
                frame(17467, []),
                frame(5261, []),
                frame(20000, []),
                frame(50000, []),
                frame(5266, []),
                frame(
                    32876,
                    [
                        (Press(103), Body(0, Push(Impulse, 0))),
                        (Between, Setting(Resume)),
                        (Between, Body(8, TeleportBy(-37))),
                    ],
                ),
            ],
        };
        judge(&script, Kind::Closure);
    }

    /// The origin is shifted after a panic in a hook, and a rollback takes the shift back with the step.
    #[test]
    fn a_rollback_takes_back_a_shift_of_the_origin_in_the_step_at_hand() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Yard,
                hz: 100,
                smoothing: Hermite,
                correction: Linear(138),
                keep: 40,
                interval: 2,
                slack: 3,
            },
            frames: vec![
                frame(200_000, []),
                frame(
                    31798,
                    [
                        (Before(2), Body(3, ShowFrom(-59, -58))),
                        (Before(2), Cut(Panic)),
                    ],
                ),
                frame(
                    32602,
                    [
                        (Between, World(ShiftOrigin(51))),
                        (Between, Past(LateInput(11, 36))),
                    ],
                ),
                frame(33014, []),
            ],
        };
        judge_in_every_host(&script);
    }

    #[test]
    fn links_whose_root_is_put_in_a_hook_that_fails_move() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Chain,
                hz: 100,
                smoothing: Interpolate,
                correction: Off,
                keep: 0,
                interval: 0,
                slack: 0,
            },
            frames: vec![
                frame(10_000, [(Between, Body(7, PutNowhere))]),
                frame(
                    20_000,
                    [
                        (Before(1), Body(13, Put(Both, 0, BodyMut))),
                        (Before(1), Cut(Fail)),
                    ],
                ),
                frame(20_000, []),
            ],
        };
        judge_in_every_host(&script);
    }

    #[test]
    fn a_request_after_a_rollback_replaces_one_before_it() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Yard,
                hz: 100,
                smoothing: Interpolate,
                correction: HalfLife(1),
                keep: 20,
                interval: 0,
                slack: 0,
            },
            frames: vec![
                frame(10_000, []),
                frame(
                    2_000,
                    [
                        (Between, Body(1, ShowFrom(0, 0))),
                        (Between, Past(Resimulate(1))),
                        (Between, Body(1, ShowFrom(0, 1))),
                    ],
                ),
            ],
        };
        judge_in_every_host(&script);
    }

    /// A rollback runs at speed 0, so no step follows it.
    #[test]
    fn a_runner_that_stops_after_a_rollback_displays_no_event_of_the_first_run() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Crowd,
                hz: 240,
                smoothing: Interpolate,
                correction: Off,
                keep: 20,
                interval: 0,
                slack: 3,
            },
            frames: vec![
                frame(2000, []),
                frame(20000, [(Press(28), Body(0, Push(Impulse, 15)))]),
                frame(4697, []),
                frame(19137, []),
                frame(0, [(Between, Past(LateInput(3, 1)))]),
                frame(
                    2000,
                    [
                        (Between, Setting(Speed(0))),
                        (Between, HandOver(Closure)),
                        (Between, World(Score(0))),
                    ],
                ),
            ],
        };
        judge_in_every_host(&script);
    }

    /// A view has not displayed the events that the rollback retracts, and never sees the state before the other one.
    #[test]
    fn a_runner_that_stops_with_another_state_displays_no_event_before_it() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Crowd,
                hz: 100,
                smoothing: Interpolate,
                correction: Off,
                keep: 20,
                interval: 0,
                slack: 0,
            },
            frames: vec![
                frame(2001, []),
                frame(
                    2000,
                    [(Between, World(Score(0))), (Between, Setting(Hz(144)))],
                ),
                frame(9888, []),
                frame(
                    0,
                    [
                        (BeforeFrame, Past(LateInput(2, 0))),
                        (BeforeFrame, World(Score(0))),
                        (BeforeFrame, World(Score(0))),
                    ],
                ),
                frame(
                    2000,
                    [
                        (Between, World(Score(0))),
                        (Between, Whole(Load)),
                        (Between, HandOver(Closure)),
                    ],
                ),
            ],
        };
        judge_in_every_host(&script);
    }

    /// After the panic, the force counts as one of the hook that has panicked.
    #[test]
    fn a_force_that_is_added_in_a_pause_after_a_panic_waits() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Yard,
                hz: 100,
                smoothing: Interpolate,
                correction: Off,
                keep: 0,
                interval: 0,
                slack: 0,
            },
            frames: vec![
                frame(
                    10855,
                    [
                        (After(0), World(Score(1))),
                        (After(0), Cut(Panic)),
                        (Before(0), World(Score(1))),
                    ],
                ),
                frame(
                    2000,
                    [
                        (Between, Setting(Pause)),
                        (Between, Body(3, Push(Impulse, 0))),
                        (BeforeFrame, World(Score(0))),
                    ],
                ),
                frame(2000, []),
                frame(
                    3139,
                    [
                        (BeforeFrame, World(Score(0))),
                        (BeforeFrame, Setting(Resume)),
                    ],
                ),
                frame(6006, []),
            ],
        };
        judge_in_every_host(&script);
    }

    /// A failed game is pasted like this one.
    #[test]
    fn a_printed_game_can_be_pasted() {
        use crate::random::game::names::*;
        let script = Script {
            setup: Setup {
                scene: Yard,
                hz: 100,
                smoothing: Hermite,
                correction: HalfLife(50),
                keep: 20,
                interval: 3,
                slack: 1,
            },
            frames: vec![
                frame(
                    10000,
                    [
                        (Between, Setting(Hz(144))),
                        (BeforeFrame, World(Spawn(Platform, -8))),
                    ],
                ),
                frame(
                    31250,
                    [
                        (Before(0), Body(5, Put(Both, 12, PhysicsMutFor))),
                        (Before(0), Cut(Panic)),
                    ],
                ),
                frame(
                    20000,
                    [
                        (After(1), Body(3, Despawn(Thread))),
                        (Between, Value(Copy)),
                        (Between, Whole(Load)),
                        (Between, Body(2, Join(3, Rope))),
                    ],
                ),
                frame(
                    6944,
                    [
                        (Between, Past(LateInput(2, 30))),
                        (Press(128), Body(1, Push(Impulse, 9))),
                    ],
                ),
                frame(
                    40000,
                    [
                        (Between, HandOver(InTime)),
                        (Between, Hide(3)),
                        (Before(2), World(Score(4))),
                    ],
                ),
            ],
        };
        let printed = format!("{script:?}");
        assert!(printed.contains("frame(31250, [(Before(0), Body(5, Put(Both, 12, PhysicsMutFor))), (Before(0), Cut(Panic))])"));
        judge_in_every_host(&script);
    }
}
