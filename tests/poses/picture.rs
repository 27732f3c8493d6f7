//! Displayed poses during a rollback and after edits in a pause, and input and hits that arrive in exactly one step.

use evenstep::input::TickQueue;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::Overlap;
use evenstep::{BodyKey, Hooks, Physics, Simulation, Smoothing, Step};
use scenes::testing::translation;
use scenes::{MS, advance, ball, flyer_in_space};
use std::convert::Infallible;
use std::time::Duration;

struct Idle;

impl Hooks for Idle {
    type Error = Infallible;
}

/// Returns the displayed poses.
fn displayed_poses(simulation: &Simulation, keys: &[BodyKey]) -> Vec<Option<Pose>> {
    keys.iter().map(|key| simulation.pose(*key)).collect()
}

#[test]
fn displayed_poses_stay_unchanged_during_a_rollback() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let rock = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 105);
    let keys = [key, rock];
    let shown = displayed_poses(&simulation, &keys);
    let moved = simulation.moved().to_vec();
    simulation.roll_back(3).unwrap();
    let mut made = 0;
    while simulation.steps_to_resimulate() > 0 {
        simulation.next_step().unwrap();
        simulation.physics.apply_impulse(key, Vector::Y).unwrap();
        assert!(simulation.run_step());
        made += 1;
        assert_eq!(displayed_poses(&simulation, &keys), shown);
        assert_eq!(simulation.moved(), moved);
        assert!(simulation.removed().is_empty());
    }
    assert_eq!((made, simulation.physics.tick()), (7, 10));
    advance(&mut simulation, 10);
    assert!(simulation.physics.body(key).unwrap().linvel().y > 6.0);
    assert_eq!(simulation.removed(), []);
}

#[test]
fn a_frame_of_zero_time_lists_an_edit_in_a_pause_once() {
    let (mut simulation, key) = flyer_in_space();
    let rock = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 55);
    simulation.pause();
    advance(&mut simulation, 10);
    let mut overlap = Overlap::new(simulation.clone()).unwrap();
    for _ in 0..3 {
        overlap.frame(MS(10), &mut Idle).unwrap();
    }
    for x in [7.0, 8.0] {
        let there = translation(x, 0.0, 0.0);
        simulation.physics.teleport(rock, there).unwrap();
        advance(&mut simulation, 0);
        assert_eq!(simulation.moved(), [(rock, there)]);
        advance(&mut simulation, 0);
        assert_eq!(simulation.moved(), []);

        overlap
            .simulation(&mut Idle)
            .unwrap()
            .physics
            .teleport(rock, there)
            .unwrap();
        let view = overlap.frame(MS(0), &mut Idle).unwrap();
        assert_eq!(view.moved(), [(rock, there)]);
        assert_eq!(overlap.frame(MS(0), &mut Idle).unwrap().moved(), []);
    }
    simulation.physics.remove(rock).unwrap();
    advance(&mut simulation, 0);
    assert_eq!(
        (simulation.removed(), simulation.pose(rock)),
        (&[rock][..], None)
    );
    overlap
        .simulation(&mut Idle)
        .unwrap()
        .physics
        .remove(rock)
        .unwrap();
    let view = overlap.frame(MS(0), &mut Idle).unwrap();
    assert_eq!((view.removed(), view.pose(rock)), (&[rock][..], None));
    assert_eq!(scenes::stepped_x(&simulation.physics, key).round(), 5.0);
}

#[test]
fn pose_returns_the_current_pose_of_a_body_not_yet_displayed() {
    let (mut simulation, key) = flyer_in_space();
    assert_eq!(simulation.pose(key), Some(Pose::IDENTITY));
    for frames in 0..3 {
        for _ in 0..frames {
            advance(&mut simulation, 15);
        }
        let at = translation(0.0, 50.0, 0.0);
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let new = simulation.physics.insert(body.pose(at), ball());
        assert_eq!(simulation.pose(new), Some(at));
        simulation.physics.remove(new).unwrap();
        assert_eq!(simulation.pose(new), None);
    }
}

/// Hits of the last step push bodies in the next one. They are kept in the state.
#[test]
fn hits_stored_for_the_next_step_are_restored_by_a_rollback() {
    #[derive(Clone, Default)]
    struct Hits(Vec<BodyKey>);
    struct Game;
    impl Hooks for Game {
        type Error = Infallible;

        fn before_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Infallible> {
            let hits = physics.resources_mut().get_mut::<Hits>().unwrap();
            for key in std::mem::take(&mut hits.0) {
                physics.apply_impulse(key, Vector::Y).unwrap();
            }
            Ok(())
        }

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
            let events = physics.events().in_step(step.tick);
            let hits = events
                .collisions()
                .flat_map(|hit| hit.bodies)
                .flatten()
                .collect();
            physics.resources_mut().get_mut::<Hits>().unwrap().0 = hits;
            Ok(())
        }
    }
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    simulation.physics.resources_mut().insert(Hits::default());
    let sensor = ball()
        .sensor(true)
        .active_events(ActiveEvents::COLLISION_EVENTS);
    for x in [3.0, 6.0] {
        let body = RigidBodyBuilder::fixed().translation(Vector::X * x);
        simulation.physics.insert(body, sensor.clone());
    }
    simulation.advance_with(MS(100), &mut Game).unwrap();
    let state = |simulation: &Simulation| scenes::hash(simulation.physics.rapier());
    let (first, speed) = (
        state(&simulation),
        simulation.physics.body(key).unwrap().linvel().y,
    );
    assert!(speed > 0.0);
    for tick in (0..10).rev() {
        simulation.resimulate_with(tick, &mut Game).unwrap();
        assert_eq!(state(&simulation), first, "from {tick} on");
    }
}

/// This holds in frames of zero to many steps, with errors and rollbacks.
#[test]
fn every_loop_delivers_tick_queue_input_once_in_its_step() {
    struct Inputs {
        queue: TickQueue<u64>,
        played: Vec<(u64, u64)>,
        fails_at: u64,
    }
    impl Hooks for Inputs {
        type Error = &'static str;

        fn before_step(&mut self, _: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if step.tick == self.fails_at {
                self.fails_at += 9;
                return Err("on purpose");
            }
            let inputs = self.queue.drain(step).map(|input| (step.tick, input));
            self.played.extend(inputs);
            Ok(())
        }
    }
    for kind in 0..3 {
        let (mut simulation, _) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 20,
            ..simulation.kept()
        });
        let mut overlap = Overlap::new(simulation.clone()).unwrap();
        let mut queue = TickQueue::new(0, 99);
        for tick in 0..100 {
            queue.push(tick, tick).unwrap();
        }
        let mut game = Inputs {
            queue,
            played: Vec::new(),
            fails_at: 5,
        };
        for number in 0..400u64 {
            let frame_time = MS([0, 3, 10, 16, 35][number as usize % 5]);
            let current = if kind == 2 && number % 7 == 3 {
                overlap.simulation(&mut game).unwrap()
            } else {
                &mut simulation
            };
            if number % 7 == 3 {
                let tick = current.physics.tick().saturating_sub(number % 6);
                let _ = current.roll_back(tick);
            }
            match kind {
                0 => drop(simulation.advance_with(frame_time, &mut game)),
                1 => {
                    simulation.begin_frame(frame_time);
                    while let Some(step) = simulation.next_step() {
                        if game.before_step(&mut simulation.physics, step).is_err() {
                            break;
                        }
                        simulation.run_step();
                    }
                    simulation.end_frame();
                }
                _ => drop(overlap.frame(frame_time, &mut game)),
            }
        }
        game.played.truncate(100);
        assert!(
            game.played
                .iter()
                .copied()
                .eq((0..100).map(|tick| (tick, tick))),
            "{kind}"
        );
    }
}

/// Returns the body that a ray from above hits at `x`, with bodies at their displayed poses.
fn hit_at(simulation: &Simulation, x: f32) -> Option<BodyKey> {
    let world = simulation.displayed_world();
    let ray = Ray::new(translation(x, 5.0, 0.0).translation, Vector::NEG_Y);
    let hit = world
        .query_pipeline(QueryFilter::default())
        .cast_ray(&ray, 100.0, true)?;
    world.key_of_collider(hit.0)
}

#[test]
fn a_mouse_ray_hits_bodies_at_their_displayed_poses() {
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    advance(&mut simulation, 25);
    let x = simulation.pose(key).unwrap().translation.x;
    assert_eq!(
        (hit_at(&simulation, x), hit_at(&simulation, x + 0.5)),
        (Some(key), None)
    );
    // The next frame displays a teleport.
    let there = translation(-7.0, 0.0, 0.0);
    simulation.physics.teleport(key, there).unwrap();
    assert_eq!(
        (hit_at(&simulation, x), hit_at(&simulation, -7.0)),
        (Some(key), None)
    );
    advance(&mut simulation, 1);
    assert_eq!(
        (hit_at(&simulation, x), hit_at(&simulation, -7.0)),
        (None, Some(key))
    );
    // After a rollback the body is displayed with a visual error.
    let first = simulation.physics.tick();
    advance(&mut simulation, 20);
    let before = simulation.pose(key).unwrap().translation.x;
    simulation
        .resimulate(first, |physics, step| {
            if step.tick == first {
                let by = translation(1.0, 0.0, 0.0);
                physics.teleport_by(key, by).unwrap();
            }
        })
        .unwrap();
    advance(&mut simulation, 0);
    assert_eq!(hit_at(&simulation, before), Some(key));
    let frame = simulation.frame();
    let true_world = simulation.world_at(frame.tick, frame.alpha).unwrap();
    let collider = simulation.physics.body(key).unwrap().colliders()[0];
    let off = true_world.colliders()[collider].position().translation.x - before;
    assert!((off - 1.0).abs() < 1e-3, "{off}");
    simulation.physics.remove(key).unwrap();
    assert_eq!(hit_at(&simulation, before), None);
}

#[test]
fn a_frame_that_pauses_before_its_last_step_displays_the_last_state() {
    let (mut simulation, key) = flyer_in_space();
    advance(&mut simulation, 10);
    let frame = simulation.advance(MS(30), |physics, _| physics.pause_after_step());
    assert_eq!((frame.steps, frame.tick, frame.alpha), (1, 2, 1.0));
    let position = simulation.physics.body(key).unwrap().position();
    assert_eq!(simulation.pose(key).as_ref(), Some(position));
}

/// A shell is removed in the step in which it hits a wall. It is last drawn less than a frame's motion before the hit,
/// which no rule about the time of its removal would change: contacts are those of the poses before the step. At 100 m/s
/// that is up to 0.92 m at 60 fps, 0.60 m at 144 fps and 0.34 m at 240 fps.
#[test]
fn a_shell_that_is_removed_at_its_hit_is_drawn_until_the_last_frame_before_it() {
    const SPEED: f32 = 100.0;
    for fps in [60_u32, 144, 240] {
        let mut worst = 0.0_f32;
        for offset in 0..16u8 {
            let mut simulation = scenes::space(60);
            // Frames begin at any time within a step.
            advance(&mut simulation, offset.into());
            let wall = RigidBodyBuilder::fixed().translation(Vector::X * 40.0);
            simulation
                .physics
                .insert(wall, scenes::testing::cuboid(0.5, 5.0, 5.0));
            // The ball touches the wall at x = 39.4.
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::X * 0.09 * f32::from(offset))
                .linvel(Vector::X * SPEED)
                .ccd_enabled(true);
            let collider = ball().active_events(ActiveEvents::COLLISION_EVENTS);
            let shell = simulation.physics.insert(body, collider);
            struct Remove;
            impl Hooks for Remove {
                type Error = std::convert::Infallible;

                fn after_step(
                    &mut self,
                    physics: &mut Physics,
                    _: Step,
                ) -> Result<(), Self::Error> {
                    for hit in physics.events().collisions().filter(|hit| hit.started) {
                        for key in hit.bodies.into_iter().flatten() {
                            if physics.body(key).is_some_and(|body| body.is_dynamic()) {
                                physics.remove(key);
                            }
                        }
                    }
                    Ok(())
                }
            }
            let mut last = f32::MIN;
            let mut frames = 0;
            while simulation.events().is_empty() {
                let frame_time = std::time::Duration::from_secs(1) / fps;
                simulation.advance_with(frame_time, &mut Remove).unwrap();
                if let Some(pose) = simulation.pose(shell) {
                    last = pose.translation.x;
                }
                frames += 1;
                assert!(frames < 500);
            }
            worst = worst.max(39.4 - last);
        }
        let frame = SPEED / fps as f32;
        assert!(worst <= frame * 1.01, "{worst} m at {fps} fps");
    }
}

/// A tracked body, one without a key, and a collider without a body stay where the frame displays them.
#[test]
fn after_an_origin_shift_between_frames_the_displayed_world_stays_as_displayed() {
    let (mut simulation, key) = flyer_in_space();
    let rapier = simulation.physics.rapier_mut();
    rapier.insert_collider(ball().translation(Vector::X * 20.0), None);
    let body = RigidBodyBuilder::fixed().translation(Vector::X * 40.0);
    rapier.insert(body, ball());
    advance(&mut simulation, 25);
    let x = simulation.pose(key).unwrap().translation.x;
    let seen = |simulation: &Simulation| {
        let world = simulation.displayed_world();
        let query = world.query_pipeline(QueryFilter::default());
        let hits = |at: f32| query.intersect_point(Vector::X * at).count();
        let mut bodies: Vec<_> = (world.bodies().iter())
            .map(|(_, body)| body.translation().x)
            .collect();
        bodies.sort_unstable_by(f32::total_cmp);
        ([x, 20.0, 40.0, -44.0, -24.0].map(hits), bodies)
    };
    let expected = ([1, 1, 1, 0, 0], vec![x, 40.0]);
    assert_eq!(seen(&simulation), expected);
    simulation.physics.shift_origin(Vector::X * 64.0).unwrap();
    assert_eq!(seen(&simulation), expected);
    // The next frame displays the shift.
    advance(&mut simulation, 0);
    assert_eq!(seen(&simulation).0, [0, 0, 0, 1, 1]);
}

#[test]
fn displayed_poses_are_finite_as_long_as_coordinates_are_below_the_limit() {
    for smoothing in [
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
        Smoothing::Latest,
    ] {
        let mut simulation = scenes::space(100);
        simulation.smoothing = smoothing;
        let [start, end] = [-0.99e38, 0.99e38].map(|x| translation(x, 0.0, 0.0));
        let body = RigidBodyBuilder::kinematic_position_based().pose(start);
        let key = simulation.physics.insert(body, ball());
        advance(&mut simulation, 20);
        (simulation.physics)
            .set_kinematic_target(key, end, Duration::ZERO)
            .unwrap();
        for _ in 0..20 {
            advance(&mut simulation, 3);
            assert!(simulation.pose(key).unwrap().is_finite(), "{smoothing:?}");
        }
        assert_eq!(simulation.pose(key), Some(end), "{smoothing:?}");
    }
}
