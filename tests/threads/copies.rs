//! Copies that are made of a simulation on a thread: driven alone, they display everything, under the usual limits.

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings};
use evenstep::time::{Clock, FrameTime};
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use scenes::mirror::Mirror;
use scenes::renderer::Renderer;
use scenes::testing::translation;
use scenes::{
    MS, PATIENCE, STEPPINGS, advance, assert_near, ball, flyer_in_space, moved_keys, shown_x,
    space, stepped_x,
};
use std::convert::Infallible;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

/// Makes a copy, or takes the simulation away and leaves another one.
type Copy = fn(&mut Simulation) -> Simulation;

const COPIES: &[(&str, Copy)] = &[
    ("cloned", |simulation| simulation.clone()),
    #[cfg(feature = "serde")]
    ("loaded", |simulation| {
        Simulation::load(&simulation.save().unwrap()).unwrap()
    }),
    ("replaced", |simulation| {
        std::mem::replace(simulation, space(100))
    }),
    ("swapped with its clone", |simulation| {
        let mut other = simulation.clone();
        std::mem::swap(simulation, &mut other);
        other
    }),
];

/// A flyer, a wall, and a body that is removed at tick 4.
fn scene() -> (Simulation, [BodyKey; 3]) {
    let (mut simulation, flyer) = flyer_in_space();
    let others = [2.0, 4.0].map(|y| RigidBodyBuilder::fixed().translation(Vector::Y * y));
    let [wall, guest] = others.map(|body| simulation.physics.insert(body, ball()));
    simulation.keep(Kept {
        ticks: 50,
        ..simulation.kept()
    });
    (simulation, [flyer, wall, guest])
}

/// Makes a copy before a frame, from tick 8 on.
struct Game {
    keys: [BodyKey; 3],
    copy: Option<Copy>,
    to: Sender<Simulation>,
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Infallible> {
        if simulation.physics.tick() >= 8
            && let Some(copy) = self.copy.take()
        {
            assert_has_no_picture(simulation, self.keys);
            self.to.send(copy(simulation)).unwrap();
        }
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        if step.tick == 4 {
            physics.remove(self.keys[2]);
        }
        Ok(())
    }
}

/// Checks what a simulation says of its picture while a view displays it.
fn assert_has_no_picture(simulation: &Simulation, [flyer, wall, guest]: [BodyKey; 3]) {
    let current = |key| simulation.physics.body(key).map(|body| *body.position());
    for key in [flyer, wall, guest] {
        assert_eq!(simulation.pose(key), current(key));
        assert_eq!(simulation.visual_error(key), None);
    }
    assert_eq!(
        (simulation.moved(), simulation.removed()),
        (&[][..], &[][..])
    );
    for number in [0, 1, simulation.frame().number] {
        let mut frame = simulation.frame();
        frame.number = number;
        assert_eq!(simulation.changes_since(&frame), None);
    }
    assert!(simulation.render_data().is_none());
    assert_eq!(
        collider_x(simulation, flyer),
        stepped_x(&simulation.physics, flyer)
    );
}

/// Returns the x coordinate of the body's collider in the displayed world.
fn collider_x(simulation: &Simulation, key: BodyKey) -> f32 {
    let collider = simulation.physics.body(key).unwrap().colliders()[0];
    let world = simulation.displayed_world();
    world.colliders()[collider].position().translation.x
}

/// Drives a copy alone, and checks its pictures.
fn assert_displays_everything(
    mut copy: Simulation,
    [flyer, wall, guest]: [BodyKey; 3],
    name: &str,
) {
    assert_has_no_picture(&copy, [flyer, wall, guest]);
    let (tick, before) = (copy.physics.tick(), copy.frame());
    let mut last = before;
    let (mut mirror, mut renderer) = (Mirror::default(), Renderer::default());
    for number in 0..12 {
        let frame = advance(&mut copy, 4);
        mirror.follow_simulation(&copy);
        if number == 0 {
            assert_eq!(moved_keys(&copy).len(), 2, "{name}");
        } else {
            assert_eq!(moved_keys(&copy), [flyer], "{name}");
        }
        // A loaded simulation knows no frame before its first one.
        let changes = copy.changes_since(&last);
        let changes = changes.map(|changes| changes.moved.to_vec());
        last = frame;
        let is_first = name == "loaded" && number == 0;
        let moved = copy.moved().to_vec();
        assert_eq!(changes, (!is_first).then_some(moved), "{name}");
        let all = copy.changes_since(&before);
        let all = all.map(|all| (all.moved.len(), all.removed.len()));
        // A loaded simulation does not know what was removed before.
        let is_known = name != "loaded";
        assert_eq!(all, is_known.then_some((2, 0)), "{name}");
        let x = stepped_x(&copy.physics, flyer) - (1.0 - frame.alpha);
        assert_near(shown_x(&copy, flyer), x);
        assert_near(collider_x(&copy, flyer), x);
        assert_eq!(copy.visual_error(flyer), None, "{name}");
        let lists = (copy.moved(), copy.removed());
        renderer.draw(copy.render_data(), lists, |key| copy.pose(key));
    }
    assert!(copy.physics.tick() > tick + 3, "{name}");
    copy.physics.remove(wall).unwrap();
    advance(&mut copy, 0);
    assert_eq!(copy.removed(), [wall], "{name}");
    assert_has_usual_limits(copy, name);
}

/// Checks that long frames of the copy, and of a clock with its settings, are cut.
fn assert_has_usual_limits(copy: Simulation, name: &str) {
    let long = Duration::from_secs(5);
    for stepping in STEPPINGS {
        for most in [None, Some(3)] {
            let mut usual = Clock::new(Rate::hz(100));
            usual.settings_mut().set_stepping(stepping);
            usual.settings_mut().set_max_steps_per_frame(most);
            usual.begin_frame(long);
            let mut copy = copy.clone();
            copy.set_overstep(Duration::ZERO);
            let settings = copy.clock_settings_mut();
            settings.set_stepping(stepping);
            settings.set_max_steps_per_frame(most);
            let mut clock = Clock::new(Rate::hz(100));
            *clock.settings_mut() = copy.clock().settings().clone();
            clock.begin_frame(long);
            let frame = advance(&mut copy, 5_000);
            assert_eq!(frame.steps, usual.due(), "{name} {stepping:?} {most:?}");
            assert_eq!(
                frame.dropped,
                usual.dropped(),
                "{name} {stepping:?} {most:?}"
            );
            assert_eq!(
                (clock.due(), clock.dropped()),
                (usual.due(), usual.dropped())
            );
        }
    }
}

#[test]
fn a_copy_from_an_overlap_displays_everything_when_it_is_driven_alone() {
    for (name, copy) in COPIES {
        for is_in_hook in [false, true] {
            let (simulation, keys) = scene();
            let (to, from) = channel();
            let mut overlap = Overlap::new(simulation).unwrap();
            let copy_in_hook = is_in_hook.then_some(*copy);
            let mut game = Game {
                keys,
                copy: copy_in_hook,
                to,
            };
            for number in 0..20 {
                overlap.frame(MS(7), &mut game).unwrap();
                if number == 8 {
                    correct(overlap.simulation(&mut game).unwrap(), keys[0]);
                }
            }
            let copy = if is_in_hook {
                from.recv().unwrap()
            } else {
                assert!(overlap.view().pose(keys[0]).unwrap().translation.y < 0.5);
                let simulation = overlap.simulation(&mut game).unwrap();
                assert_has_no_picture(simulation, keys);
                copy(simulation)
            };
            assert_displays_everything(copy, keys, name);
        }
    }
}

/// Corrects the flyer's position, so that a visual error is displayed.
fn correct(simulation: &mut Simulation, flyer: BodyKey) {
    let mut by = simulation.physics.clone();
    by.teleport_by(flyer, translation(0.0, 0.5, 0.0)).unwrap();
    simulation.correct(by).unwrap();
}

#[test]
fn a_copy_from_a_runner_displays_everything_when_it_is_driven_alone() {
    for (name, copy) in COPIES {
        for is_in_hook in [false, true] {
            let (simulation, keys) = scene();
            let (to, from) = channel();
            let copy_in_hook = is_in_hook.then_some(*copy);
            let game = Game {
                keys,
                copy: copy_in_hook,
                to: to.clone(),
            };
            let runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
            let copy = if is_in_hook {
                from.recv_timeout(PATIENCE).unwrap()
            } else {
                // The guest is removed by then.
                while runner
                    .ask(|it| it.physics.tick())
                    .unwrap()
                    .wait(PATIENCE)
                    .unwrap()
                    .0
                    < 8
                {}
                let copy = *copy;
                runner
                    .call(move |simulation, _| {
                        correct(simulation, keys[0]);
                        assert_has_no_picture(simulation, keys);
                        to.send(copy(simulation)).unwrap();
                    })
                    .unwrap();
                from.recv_timeout(PATIENCE).unwrap()
            };
            assert_displays_everything(copy, keys, name);
        }
    }
}

/// A server, or a game behind a loading screen, draws nothing.
#[test]
fn bodies_that_no_frame_has_displayed_have_their_current_pose_after_a_stop() {
    let (simulation, keys @ [flyer, _, removed]) = scene();
    let game = Game {
        keys,
        copy: None,
        to: channel().0,
    };
    let settings = RunnerSettings::default();
    let (runner, mut worker) = Runner::without_thread(simulation, game, settings);
    worker.run_until(MS(200));
    let (simulation, _) = worker.stop(runner, MS(200));
    let body = simulation.physics.body(flyer).unwrap();
    assert_eq!(simulation.pose(flyer), Some(*body.position()));
    assert!(simulation.physics.body(removed).is_none());
    assert_eq!(simulation.pose(removed), None);
}
