//! Every law, judged by what a random game leaves, in each host.

use crate::game::{Entry, Kind, Run, Script, play};
use crate::{display, lists, moments, occurrences, steps};
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
    use crate::game::script::{ALL, script};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(crate::scenes::cases::scaled(256)))]

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
        use crate::game::names::*;
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

#[cfg(test)]
mod temporary {
    use super::*;
    use crate::game::names::*;
    use crate::game::script::FrameScript;

    fn setup(
        scene: crate::game::script::Scene,
        hz: u32,
        correction: crate::game::action::Fade,
        keep: u8,
        interval: u8,
        slack: u8,
    ) -> Setup {
        Setup {
            scene,
            hz,
            smoothing: Interpolate,
            correction,
            keep,
            interval,
            slack,
        }
    }
    fn e(n: usize) -> Vec<FrameScript> {
        (0..n).map(|_| frame(2000, [])).collect()
    }

    #[test]
    fn overlap3() {
        let mut frames = vec![
            frame(6944, []),
            frame(2998, []),
            frame(6725, []),
            frame(
                33334,
                [
                    (Between, Setting(Stepping(3))),
                    (Between, Body(14, Join(1, Socket))),
                ],
            ),
            frame(
                2000,
                [(Between, Past(LateInput(3, 0))), (Between, Whole(Clone))],
            ),
        ];
        frames.extend(e(3));
        for slack in 0..5 {
            for interval in 0..4 {
                let f = frames.clone();
                let r = std::panic::catch_unwind(|| {
                    judge(
                        &Script {
                            setup: setup(Crowd, 60, Off, 20, interval, slack),
                            frames: f,
                        },
                        Kind::Overlap,
                    )
                });
                eprintln!("slack {slack} interval {interval} {}", r.is_ok());
            }
        }
    }
    #[test]
    fn pull3() {
        let frames = vec![
            frame(6944, []),
            frame(4989, []),
            frame(6944, []),
            frame(6944, []),
            frame(4179, []),
            frame(
                10000,
                [(Before(0), Past(RollBack(0))), (Before(0), Cut(Leave))],
            ),
            frame(2000, [(Between, Body(0, ShowFrom(0, 0)))]),
        ];
        judge(
            &Script {
                setup: setup(Yard, 100, HalfLife(1), 20, 2, 0),
                frames,
            },
            Kind::Pull,
        );
    }
    #[test]
    fn hooks3() {
        let mut frames = e(3);
        frames.extend([
            frame(
                2000,
                [
                    (Between, Value(Copy)),
                    (BeforeFrame, Body(0, Despawn(Evenstep))),
                ],
            ),
            frame(
                2000,
                [
                    (Between, World(Spawn(Fixed, 0))),
                    (Between, Value(Assign(0))),
                    (Before(0), Cut(Panic)),
                ],
            ),
            frame(2000, [(Between, HandOver(Overlap))]),
        ]);
        judge(
            &Script {
                setup: setup(Yard, 100, Off, 0, 0, 0),
                frames,
            },
            Kind::Hooks,
        );
    }
}

#[cfg(test)]
mod temporary2 {
    use super::*;
    use crate::game::names::*;
    use crate::game::script::FrameScript;
    fn setup(
        scene: crate::game::script::Scene,
        hz: u32,
        correction: crate::game::action::Fade,
        keep: u8,
        interval: u8,
        slack: u8,
    ) -> Setup {
        Setup {
            scene,
            hz,
            smoothing: Interpolate,
            correction,
            keep,
            interval,
            slack,
        }
    }
    #[test]
    fn b() {
        let frames = vec![
            frame(2000, []),
            frame(
                2000,
                [
                    (Between, Value(Lend(0))),
                    (Between, Body(10, ShowFrom(0, 0))),
                    (Between, Body(0, TeleportBy(0))),
                ],
            ),
        ];
        judge(
            &Script {
                setup: setup(Yard, 30, HalfLife(1), 0, 0, 0),
                frames,
            },
            Kind::Hooks,
        );
    }
    #[test]
    fn c() {
        for kind in Kind::ALL {
            for interval in 0..4 {
                let frames: Vec<FrameScript> = vec![
                    frame(8542, []),
                    frame(2000, []),
                    frame(
                        2000,
                        [
                            (Between, World(Spawn(Fixed, 0))),
                            (Between, World(Spawn(Fixed, 0))),
                            (Between, Body(8, Abandon)),
                        ],
                    ),
                    frame(2000, [(Between, Past(RollBack(1)))]),
                    frame(
                        5458,
                        [
                            (BeforeFrame, Body(1, RemoveThroughRapier(BodyMut))),
                            (BeforeFrame, Setting(Speed(6))),
                        ],
                    ),
                    frame(11514, [(Before(0), Cut(Panic))]),
                    frame(2000, []),
                    frame(4667, [(Before(0), World(Spawn(Fixed, 0)))]),
                ];
                let r = std::panic::catch_unwind(|| {
                    judge(
                        &Script {
                            setup: setup(Yard, 100, Off, 20, interval, 0),
                            frames,
                        },
                        kind,
                    )
                });
                if r.is_err() {
                    eprintln!("FAILS {kind:?} {interval}");
                }
            }
        }
    }
}

#[cfg(test)]
mod temporary3 {
    use super::*;
    use crate::game::names::*;
    fn setup(
        scene: crate::game::script::Scene,
        hz: u32,
        correction: crate::game::action::Fade,
        keep: u8,
        interval: u8,
        slack: u8,
    ) -> Setup {
        Setup {
            scene,
            hz,
            smoothing: Interpolate,
            correction,
            keep,
            interval,
            slack,
        }
    }
    #[test]
    fn late() {
        let frames = vec![
            frame(
                2000,
                [
                    (Between, World(Score(0))),
                    (Between, Value(Copy)),
                    (Between, World(Score(0))),
                ],
            ),
            frame(
                8000,
                [
                    (Between, World(Score(0))),
                    (Before(0), Past(RollBack(0))),
                    (Before(0), Cut(PauseAfterStep)),
                ],
            ),
            frame(
                2000,
                [
                    (Between, Setting(Hz(1000))),
                    (Between, Past(RollBack(0))),
                    (BeforeFrame, World(Score(0))),
                ],
            ),
            frame(
                6000,
                [
                    (Before(0), Value(Assign(0))),
                    (Before(0), World(Score(1))),
                    (Between, World(Score(0))),
                    (BeforeFrame, World(Score(0))),
                    (BeforeFrame, Setting(Resume)),
                ],
            ),
        ];
        let script = Script {
            setup: setup(Crowd, 100, Off, 0, 0, 0),
            frames,
        };
        let run = play(&script, Kind::Late);
        for e in &run.log {
            match e {
                Entry::Picture(p) => eprintln!(
                    "PICTURE tick {} alpha {} time {:?} events {}",
                    p.tick,
                    p.alpha,
                    p.time,
                    p.events.len()
                ),
                Entry::Ran { step, events, .. } => eprintln!(
                    "RAN {} {:?} {:?} events {}",
                    step.tick,
                    step.start_time,
                    step.end_time,
                    events.len()
                ),
                Entry::Acted {
                    action,
                    effects,
                    tick,
                    ..
                } => eprintln!("ACTED {action:?} {effects:?} {tick}"),
                Entry::Frame { time, speed } => eprintln!("FRAME {time:?} {speed}"),
                Entry::Begin { step, .. } => eprintln!("BEGIN {}", step.tick),
                _ => (),
            }
        }
        judge(&script, Kind::Late);
    }
}
#[cfg(test)]
mod temporary4 {
    use super::*;
    use crate::game::names::*;
    #[test]
    fn lend() {
        let frames = vec![
        frame(20000, [(Between, Value(Copy)), (Between, Body(6, Put(Rotation, -60, BodyMut))), (Before(0), World(Score(1))), (Before(0), Cut(PauseAfterStep))]),
        frame(2000, []),
        frame(2000, [(BeforeFrame, Body(1, SetVelocityToNan))]),
        frame(2000, [(Between, Value(Lend(10)))]),
        ];
        let setup = Setup { scene: Chain, hz: 100, smoothing: Interpolate, correction: Off, keep: 0, interval: 0, slack: 0 };
        for kind in Kind::ALL { judge(&Script { setup, frames: frames.clone() }, kind); }
    }
}
