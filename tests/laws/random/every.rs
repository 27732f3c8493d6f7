//! Every law, judged by what a random game leaves, in each host.

use super::{display, lists, moments, occurrences, steps};
use crate::random::game::{Entry, Kind, Run, Script, play};
use std::collections::BTreeSet;

/// Plays a game in a host, and judges what it leaves.
pub fn judge(script: &Script, kind: Kind) {
    let run = play(script, kind);
    steps::check(&script.setup, &run.log);
    lists::check(&run.log);
    moments::check(&run.log);
    display::check(&script.setup, &run.log);
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
        for kind in Kind::ALL {
            judge(&script, kind);
        }
    }
}
