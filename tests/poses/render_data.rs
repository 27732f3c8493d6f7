//! The data of a frame for renderers: pairs for the GPU, and the motion since the last frame.
//!
//! The random games of `laws/model` draw from these data alone.

use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings, View};
use evenstep::{BodyKey, Correction, Hooks, Physics, Simulation, Smoothing};
use scenes::renderer::Renderer;
use scenes::testing::{pose, spin, translation};
use scenes::{MS, advance, ball, flyer, flyer_in_space};
use std::collections::BTreeSet;
use std::convert::Infallible;

struct Idle;

impl Hooks for Idle {
    type Error = Infallible;
}

/// Creates a flyer that was displayed between two steps.
fn displayed() -> (Simulation, BodyKey) {
    let (mut simulation, key) = flyer_in_space();
    advance(&mut simulation, 25);
    assert_eq!(jumped(&simulation), [key], "it is new");
    advance(&mut simulation, 5);
    assert_eq!(jumped(&simulation), []);
    (simulation, key)
}

fn jumped(simulation: &Simulation) -> &[BodyKey] {
    simulation.render_data().unwrap().jumped()
}

fn excepted(simulation: &Simulation) -> Vec<BodyKey> {
    let exceptions = simulation.render_data().unwrap().overrides();
    exceptions.map(|(key, _)| key).collect()
}

#[test]
fn render_data_belongs_to_the_state_that_the_frame_displays() {
    let (mut simulation, key) = flyer_in_space();
    assert!(simulation.render_data().is_none(), "no frame has ended");
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    advance(&mut simulation, 25);
    let poses = |simulation: &Simulation| {
        let data = simulation.render_data()?;
        Some((data.alpha(), data.pairs().collect::<Vec<_>>()))
    };
    let displayed = poses(&simulation);
    assert_eq!(displayed.as_ref().unwrap().1.len(), 1);
    assert_eq!(poses(&simulation.clone()), displayed);
    // Taken out and put back, the state is the same.
    let taken = std::mem::take(&mut simulation.physics);
    assert!(simulation.render_data().is_none());
    simulation.physics = taken;
    assert_eq!(poses(&simulation), displayed);

    type Change = fn(&mut Simulation, BodyKey);
    let changes: [Change; 5] = [
        |it, key| it.physics.teleport(key, Pose::IDENTITY).unwrap(),
        |it, _| _ = it.physics.insert(flyer(), ball()),
        |it, _| it.roll_back(1).unwrap(),
        |it, _| {
            it.begin_frame(MS(10));
            it.next_step().unwrap();
            it.run_step();
        },
        |it, key| _ = it.physics.remove(key),
    ];
    for change in changes {
        assert!(simulation.render_data().is_some());
        change(&mut simulation, key);
        assert!(simulation.render_data().is_none());
        simulation.end_frame();
        while simulation.next_step().is_some() {
            simulation.run_step();
        }
        advance(&mut simulation, 3);
    }
    assert!(simulation.render_data().is_some());
}

#[cfg(feature = "serde")]
#[test]
fn a_loaded_game_has_render_data_from_its_first_frame_on() {
    let (mut simulation, key) = displayed();
    let mut loaded = Simulation::load(&simulation.save().unwrap()).unwrap();
    assert!(loaded.render_data().is_none(), "no frame has ended");
    for simulation in [&mut simulation, &mut loaded] {
        advance(simulation, 3);
    }
    let [one, other] = [&simulation, &loaded].map(|it| it.render_data().unwrap());
    assert!(one.pairs().eq(other.pairs()) && one.alpha() == other.alpha());
    assert_ne!(one.pairs_version(), other.pairs_version());
    assert_eq!((one.jumped(), other.jumped()), (&[][..], &[key][..]));
}

#[test]
fn the_pairs_version_changes_only_after_steps_and_edits() {
    let (mut simulation, _) = flyer_in_space();
    let versions = |simulation: &Simulation| {
        let data = simulation.render_data().unwrap();
        (data.pairs_version(), data.keys_version())
    };
    advance(&mut simulation, 10);
    let (mut pairs, order) = versions(&simulation);
    let mut uploads = 0;
    for _ in 0..100 {
        let frame = advance(&mut simulation, 3);
        let now = versions(&simulation);
        assert_eq!(now.0 != pairs, frame.steps > 0);
        assert_eq!(now.1, order);
        uploads += u32::from(now.0 != pairs);
        pairs = now.0;
    }
    assert_eq!(uploads, 30);
    let other = simulation.physics.insert(flyer(), ball());
    advance(&mut simulation, 0);
    assert!(versions(&simulation).0 != pairs && versions(&simulation).1 != order);
    let (pairs, order) = versions(&simulation);
    simulation.physics.teleport(other, Pose::IDENTITY).unwrap();
    advance(&mut simulation, 0);
    assert!(versions(&simulation).0 != pairs && versions(&simulation).1 == order);
}

#[test]
fn teleports_and_portals_are_listed_as_jumped() {
    let (mut simulation, key) = displayed();
    let there = translation(9.0, 0.0, 0.0);
    simulation.physics.teleport(key, there).unwrap();
    advance(&mut simulation, 1);
    assert_eq!(jumped(&simulation), [key]);
    advance(&mut simulation, 5);
    assert_eq!(jumped(&simulation), []);
    simulation.physics.teleport_by(key, there).unwrap();
    advance(&mut simulation, 1);
    assert_eq!(jumped(&simulation), [key]);
    let body = simulation.physics.body_mut(key).unwrap();
    body.set_position(Pose::IDENTITY, true);
    advance(&mut simulation, 1);
    assert_eq!(jumped(&simulation), [key]);
    // A teleport to its displayed pose does not move the body.
    let shown = simulation.pose(key).unwrap();
    simulation.physics.teleport(key, shown).unwrap();
    advance(&mut simulation, 1);
    assert_eq!(jumped(&simulation), []);
}

/// The position is set through Rapier, in each step of frames with several steps.
#[test]
fn a_body_moved_through_rapier_in_any_step_of_a_frame_is_listed_as_jumped() {
    type Edit = fn(&mut Physics, BodyKey, Vector);
    let edits: [Edit; 3] = [
        |physics, key, to| physics.body_mut(key).unwrap().set_translation(to, true),
        |physics, key, to| {
            let handle = physics.handle(key).unwrap();
            physics.rapier_mut().bodies[handle].set_translation(to, true);
        },
        |physics, key, to| {
            let handle = physics.handle(key).unwrap();
            physics.rapier_mut_for(&[key]).bodies[handle].set_translation(to, true);
        },
    ];
    let to = Vector::Y * 50.0;
    for (edit, index, after) in edits.into_iter().flat_map(|edit| {
        let places = (0..4_u64).flat_map(|index| [false, true].map(|after| (index, after)));
        places.map(move |(index, after)| (edit, index, after))
    }) {
        let (mut simulation, key) = displayed();
        simulation.begin_frame(MS(40));
        let first = simulation.physics.tick();
        while let Some(step) = simulation.next_step() {
            let is_here = step.tick == first + index;
            if is_here && !after {
                edit(&mut simulation.physics, key, to);
            }
            simulation.run_step();
            if is_here && after {
                edit(&mut simulation.physics, key, to);
            }
        }
        simulation.end_frame();
        assert_eq!(jumped(&simulation), [key], "{index} {after}");
    }
}

#[test]
fn a_resting_body_is_listed_as_jumped_once_per_teleport() {
    let (mut simulation, _) = displayed();
    let rock = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 10);
    assert_eq!(jumped(&simulation), [rock]);
    simulation
        .physics
        .teleport(rock, translation(5.0, 0.0, 0.0))
        .unwrap();
    for expected in [&[rock][..], &[], &[]] {
        advance(&mut simulation, 10);
        assert_eq!(jumped(&simulation), expected);
    }
    simulation.physics.remove(rock).unwrap();
    advance(&mut simulation, 10);
    assert_eq!(jumped(&simulation), []);
}

#[test]
fn an_origin_shift_is_neither_a_jump_nor_motion() {
    let (mut simulation, key) = displayed();
    let before = simulation.pose(key).unwrap();
    let rock = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 0);
    simulation.physics.shift_origin(Vector::X * 64.0).unwrap();
    advance(&mut simulation, 0);
    assert_eq!(jumped(&simulation), []);
    assert_eq!(simulation.moved().len(), 2);
    assert_eq!(simulation.pose(rock).unwrap().translation.x, -64.0);
    assert_eq!(
        simulation.pose(key).unwrap().translation.x,
        before.translation.x - 64.0
    );
}

/// The teleport and the shift leave the numbers of its pose as they were, whether it moves or rests.
#[test]
fn a_body_that_is_teleported_with_the_origin_is_listed_as_moved_and_jumped() {
    for is_fixed in [false, true] {
        let (mut simulation, flyer) = displayed();
        let body = if is_fixed {
            RigidBodyBuilder::fixed()
        } else {
            RigidBodyBuilder::dynamic()
        };
        let body = body.translation(Vector::X * 500.0);
        let ship = simulation.physics.insert(body, ball());
        advance(&mut simulation, 100);
        let before = simulation.frame();
        simulation.advance(MS(10), |physics, _| {
            let there = translation(100_500.0, 0.0, 0.0);
            physics.teleport(ship, there).unwrap();
            physics.shift_origin(Vector::X * 100_000.0).unwrap();
        });
        let moved = simulation.moved().iter().map(|(key, _)| *key);
        let moved: BTreeSet<_> = moved.collect();
        assert_eq!(moved, BTreeSet::from([flyer, ship]));
        assert_eq!(simulation.pose(ship), Some(translation(500.0, 0.0, 0.0)));
        assert_eq!(jumped(&simulation), [ship]);
        let changes = simulation.changes_since(&before).unwrap();
        assert!(changes.moved.iter().any(|(key, _)| *key == ship));
    }
}

#[test]
fn a_correction_is_listed_as_jumped_only_if_not_smoothed() {
    for (correction, by, is_jump) in [
        (Correction::default(), 1.0, false),
        (Correction::default(), 3.0, true),
        (Correction::OFF, 1.0, true),
    ] {
        let (mut simulation, key) = flyer_in_space();
        simulation.correction = correction;
        simulation.keep(Kept {
            ticks: 20,
            ..simulation.kept()
        });
        advance(&mut simulation, 55);
        let resimulated = simulation.resimulate(2, |physics, step| {
            if step.tick == 2 {
                let away = translation(0.0, by, 0.0);
                physics.teleport_by(key, away).unwrap();
            }
        });
        resimulated.unwrap();
        advance(&mut simulation, 1);
        assert_eq!(jumped(&simulation) == [key], is_jump, "{by}");
        assert_eq!(excepted(&simulation) == [key], !is_jump, "{by}");
    }
}

#[test]
fn restoring_a_state_marks_all_moving_bodies_as_jumped() {
    let (mut simulation, key) = displayed();
    let rock = simulation.physics.insert(RigidBodyBuilder::fixed(), ball());
    advance(&mut simulation, 5);
    let saved = simulation.physics.clone();
    advance(&mut simulation, 50);
    simulation.physics = saved;
    advance(&mut simulation, 5);
    assert_eq!(jumped(&simulation), [key]);
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    advance(&mut simulation, 50);
    simulation.rewind(simulation.physics.tick() - 2).unwrap();
    advance(&mut simulation, 5);
    assert_eq!(jumped(&simulation), [key]);
    assert!(simulation.pose(rock).is_some());
}

#[test]
fn bodies_that_a_shader_cannot_interpolate_are_listed_as_exceptions() {
    let (mut simulation, key) = displayed();
    assert_eq!(excepted(&simulation), []);
    simulation
        .physics
        .set_body_smoothing(key, Some(Smoothing::Hermite))
        .unwrap();
    advance(&mut simulation, 10);
    assert_eq!(excepted(&simulation), [key]);
    simulation.physics.set_body_smoothing(key, None).unwrap();
    let body = RigidBodyBuilder::kinematic_position_based();
    let turner = simulation.physics.insert(body, ball());
    advance(&mut simulation, 20);
    assert_eq!(excepted(&simulation), []);
    // 40 degrees in a step, then 60.
    for (angle, is_wide) in [(0.7, false), (1.75, true)] {
        let to = pose(Vector::ZERO, spin(0.0, 0.0, angle));
        let end = simulation.clock().time_after(MS(10));
        let physics = &mut simulation.physics;
        physics.set_kinematic_target(turner, to, end).unwrap();
        advance(&mut simulation, 10);
        advance(&mut simulation, 3);
        assert_eq!(excepted(&simulation) == [turner], is_wide, "{angle}");
    }
}

#[test]
fn overlap_and_runner_have_the_render_data_of_a_simulation() {
    let (mut simulation, key) = flyer_in_space();
    let mut renderer = Renderer::default();
    advance(&mut simulation, 25);
    renderer.draw(
        simulation.render_data(),
        (simulation.moved(), simulation.removed()),
        |key| simulation.pose(key),
    );
    let mut overlap = Overlap::new(simulation).unwrap();
    for _ in 0..20 {
        let view = overlap.frame(MS(7), &mut Idle).unwrap();
        draw(&mut renderer, view);
    }
    let mut runner =
        Runner::new(overlap.stop(&mut Idle).0, Idle, RunnerSettings::default()).unwrap();
    let blended = renderer.blended;
    assert!(blended > 20);
    while renderer.blended < blended + 20 {
        draw(&mut renderer, runner.frame());
    }
    let (mut simulation, _) = runner.stop();
    advance(&mut simulation, 10);
    assert_eq!(simulation.render_data().unwrap().keys(), [key]);
    assert_eq!(jumped(&simulation), []);
}

fn draw<E>(renderer: &mut Renderer, view: &View<E>) {
    renderer.draw(view.render_data(), (view.moved(), view.removed()), |key| {
        view.pose(key)
    });
}
