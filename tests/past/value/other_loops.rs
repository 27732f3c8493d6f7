//! A state that leaves its loop and comes back, after another loop has seen it.

use super::*;
use evenstep::rewind::Kept;
use evenstep::threads::Overlap;

struct Idle;

impl Hooks for Idle {
    type Error = Infallible;
}

/// Takes the state out of the loop, and puts it back.
type Detour = fn(&mut Simulation);

fn borrow(simulation: &mut Simulation, by: impl FnOnce(&mut Simulation)) {
    let rate = simulation.clock().settings().rate();
    let mut other = Simulation::new(rate);
    other.physics = std::mem::take(&mut simulation.physics);
    by(&mut other);
    simulation.physics = other.physics;
}

/// Another loop has seen the state, and may have stepped it.
const DETOURS: [(&str, Detour); 8] = [
    ("swapped with a simulation that steps it", |simulation| {
        let mut other = Simulation::default();
        std::mem::swap(&mut simulation.physics, &mut other.physics);
        other.advance(MS(200), |_, _| ());
        std::mem::swap(&mut simulation.physics, &mut other.physics);
    }),
    (
        "swapped with a simulation that runs no step",
        |simulation| {
            let mut other = Simulation::default();
            std::mem::swap(&mut simulation.physics, &mut other.physics);
            other.keep(Kept {
                ticks: 3,
                ..other.kept()
            });
            std::mem::swap(&mut simulation.physics, &mut other.physics);
        },
    ),
    ("stepped by a new simulation", |simulation| {
        borrow(simulation, |other| {
            advance(other, 200);
        });
    }),
    (
        "stepped by a new simulation in the pull form",
        |simulation| {
            borrow(simulation, |other| {
                other.begin_frame(MS(40));
                while other.next_step().is_some() {
                    other.run_step();
                }
            });
        },
    ),
    ("resimulated by another simulation", |simulation| {
        borrow(simulation, |other| {
            other.keep(Kept {
                ticks: 20,
                ..other.kept()
            });
            advance(other, 50);
            let tick = other.physics.tick();
            other.resimulate(tick - 4, |_, _| ()).unwrap();
        });
    }),
    (
        "adopted by a simulation that corrects itself",
        |simulation| {
            let mut other = Simulation::default();
            other
                .correct(std::mem::take(&mut simulation.physics))
                .unwrap();
            advance(&mut other, 60);
            simulation.physics = other.physics;
        },
    ),
    ("stepped in an overlap", |simulation| {
        let physics = std::mem::take(&mut simulation.physics);
        let mut other = Simulation::default();
        other.physics = physics;
        let mut overlap = Overlap::new(other).unwrap();
        for _ in 0..3 {
            overlap.frame(MS(30), &mut Idle).unwrap();
        }
        simulation.physics = overlap.stop(&mut Idle).0.physics;
    }),
    (
        "replaced by another state for a call of its loop",
        |simulation| {
            let mine = std::mem::take(&mut simulation.physics);
            simulation.keep(Kept {
                poses: 9,
                ..simulation.kept()
            });
            simulation.physics = mine;
        },
    ),
];

/// The ticks, the past, the picture and the saved bytes continue from the state as it is, as after an assignment.
#[test]
fn a_state_that_another_loop_has_seen_is_taken_over_when_it_returns() {
    for (name, detour) in DETOURS {
        let (mut simulation, [flyer, spinner, wall]) = three();
        simulation.keep(Kept {
            ticks: 20,
            poses: 20,
            ..simulation.kept()
        });
        let mut mirror = Mirror::default();
        for _ in 0..4 {
            advance(&mut simulation, 14);
            mirror.follow_simulation(&simulation);
        }
        // No frame has displayed these changes.
        simulation.physics.remove(spinner).unwrap();
        let guest = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
        detour(&mut simulation);
        let tick = simulation.physics.tick();
        assert!(tick >= 5, "{name}");
        assert_eq!(simulation.rewindable(), 0..0, "{name}");
        assert_eq!(simulation.pose_at(flyer, 3, 1.0), None, "{name}");
        let mut alone = Simulation::new(simulation.clock().settings().rate());
        alone.physics = simulation.physics.clone();
        let mut loaded = reloaded(&simulation);
        assert_eq!(bits(&loaded.physics), bits(&simulation.physics), "{name}");
        // Without `serde` this is a clone, whose clock follows in the next call of the loop.
        if cfg!(feature = "serde") {
            assert_eq!(loaded.clock().next_tick(), tick, "{name}");
        }
        let mut steps = Vec::new();
        let frame = simulation.advance(MS(34), |_, step| steps.push((step.tick, step.start_time)));
        assert_eq!(steps[0].0, tick, "{name}");
        assert_eq!(frame.tick, tick + frame.steps, "{name}");
        assert_eq!(
            simulation.clock().tick(),
            simulation.physics.tick(),
            "{name}"
        );
        assert_eq!(simulation.rewindable(), tick..tick + frame.steps, "{name}");
        assert_eq!(simulation.removed(), [spinner], "{name}");
        assert!(moved_keys(&simulation).contains(&guest), "{name}");
        assert!(!moved_keys(&simulation).contains(&wall), "{name}");
        mirror.follow_simulation(&simulation);
        advance(&mut simulation, 20);
        mirror.follow_simulation(&simulation);
        // The steps are those that any loop would run.
        while alone.physics.tick() < simulation.physics.tick() {
            alone.advance(MS(10), |_, _| ());
        }
        assert_eq!(bits(&alone.physics), bits(&simulation.physics), "{name}");
        advance(&mut loaded, 34);
        advance(&mut loaded, 20);
        assert_eq!(bits(&loaded.physics), bits(&simulation.physics), "{name}");
        assert_eq!(loaded.pose(flyer), simulation.pose(flyer), "{name}");
        assert_eq!(loaded.frame(), simulation.frame(), "{name}");
    }
}

/// The client returns to its own state, smoothly. The guess was displayed by no frame.
#[test]
fn a_removal_before_a_guess_is_listed_after_a_correction_with_the_original() {
    for guess_steps in [0, 1] {
        let (mut simulation, [_, spinner, _]) = three();
        let mut mirror = Mirror::default();
        advance(&mut simulation, 34);
        mirror.follow_simulation(&simulation);
        simulation.physics.remove(spinner).unwrap();
        let guess = simulation.physics.preview(guess_steps, |_, _| ());
        let mine = std::mem::replace(&mut simulation.physics, guess);
        if guess_steps == 0 {
            simulation.correct(mine).unwrap();
        } else {
            let mine = simulation.correct(mine).unwrap_err().state;
            simulation.physics = *mine;
        }
        advance(&mut simulation, 10);
        assert_eq!(simulation.removed(), [spinner]);
        mirror.follow_simulation(&simulation);
    }
}

/// Exchanges the state with another one after each step.
struct TwoLevels {
    other: Physics,
    steps: u64,
}

impl Hooks for TwoLevels {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        let (key, _) = physics.bodies().next().unwrap();
        let push = Vector::Y * (step.tick % 3) as f32;
        physics.apply_impulse(key, push).unwrap();
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Infallible> {
        std::mem::swap(physics, &mut self.other);
        self.steps += 1;
        Ok(())
    }
}

#[test]
fn two_levels_that_a_hook_exchanges_after_each_step_run_in_turn() {
    let (mut simulation, _) = three();
    simulation.keep(Kept {
        ticks: 9,
        ..simulation.kept()
    });
    let (other, _) = flyer_in_space();
    let mut alone = [simulation.physics.clone(), other.physics.clone()];
    let mut game = TwoLevels {
        other: other.physics,
        steps: 0,
    };
    let mut mirror = Mirror::default();
    while game.steps < 20 {
        let Ok(frame) = simulation.advance_with(MS(23), &mut game);
        assert_eq!(simulation.clock().tick(), simulation.physics.tick());
        assert_eq!(frame.dropped.aborted, 0);
        mirror.follow_simulation(&simulation);
    }
    assert_eq!(game.steps, 20);
    let mut idle = TwoLevels {
        other: Physics::new(),
        steps: 0,
    };
    for physics in &mut alone {
        *physics = physics.preview(10, |physics, step| {
            let Ok(()) = idle.before_step(physics, step);
        });
    }
    assert_eq!(bits(&simulation.physics), bits(&alone[0]));
    assert_eq!(bits(&game.other), bits(&alone[1]));
}
