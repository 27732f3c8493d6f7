//! Contacts follow what the game changes, although Rapier recycles the contacts of bodies that barely move.

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation};
use scenes::testing::{cuboid, pose, spin, translation};
use scenes::with_floor;
use std::time::Duration;

fn run(simulation: &mut Simulation, steps: u32) {
    for _ in 0..steps {
        simulation.advance(Duration::from_nanos(16_666_667), |_, _| ());
    }
}

fn y(simulation: &Simulation, key: BodyKey) -> f32 {
    simulation.physics.body(key).unwrap().translation().y
}

/// Returns the vertical part of a body's own vertical axis: 1 while it stands upright.
fn up(simulation: &Simulation, key: BodyKey) -> f32 {
    let body = simulation.physics.body(key).unwrap();
    (*body.rotation() * Vector::Y).y
}

/// Returns a crate at rest on a ground of this type, which has its top at 0.
fn crate_on(ground: RigidBodyBuilder, can_sleep: bool) -> (Simulation, BodyKey, BodyKey) {
    let mut simulation = Simulation::default();
    let top = cuboid(20.0, 2.0, 20.0).translation(Vector::Y * -2.0);
    let ground = simulation.physics.insert(ground, top);
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::Y * 0.5)
        .can_sleep(can_sleep);
    let crate_ = simulation
        .physics
        .insert(body, cuboid(0.5, 0.5, 0.5).mass(10.0));
    run(&mut simulation, 200);
    (simulation, ground, crate_)
}

#[test]
fn what_rests_on_a_ground_that_is_put_a_little_lower_falls_with_it() {
    type Put = fn(&mut Physics, BodyKey, Pose);
    let ways: [Put; 4] = [
        |physics, ground, to| physics.teleport(ground, to).unwrap(),
        |physics, ground, to| physics.teleport_by(ground, to).unwrap(),
        |physics, ground, to| physics.body_mut(ground).unwrap().set_position(to, true),
        |physics, ground, to| {
            let handle = physics.handle(ground).unwrap();
            physics.rapier_mut().bodies[handle].set_position(to, true);
        },
    ];
    let grounds = [
        RigidBodyBuilder::fixed(),
        RigidBodyBuilder::kinematic_position_based(),
    ];
    for (n, put) in ways.iter().enumerate() {
        for ground in grounds.clone() {
            for (can_sleep, by) in [(true, -0.04), (false, -0.04), (false, -0.01), (true, 0.03)] {
                let (mut simulation, ground, crate_) = crate_on(ground.clone(), can_sleep);
                let before = y(&simulation, crate_);
                put(&mut simulation.physics, ground, translation(0.0, by, 0.0));
                run(&mut simulation, 180);
                let moved = y(&simulation, crate_) - before;
                assert!(
                    (moved - by).abs() < 0.005,
                    "way {n}, {can_sleep}, {by}: {moved}"
                );
            }
        }
    }
}

/// A ground that is moved in each step carries what rests on it, within the distance that Rapier lets bodies overlap.
#[test]
fn a_ground_that_is_put_anew_in_each_step_carries_a_crate() {
    let (mut simulation, ground, crate_) = crate_on(RigidBodyBuilder::fixed(), true);
    let start = y(&simulation, crate_);
    for i in 1..=100u8 {
        let down = -0.002 * f32::from(i);
        simulation.advance(Duration::from_nanos(16_666_667), |physics, _| {
            physics
                .teleport(ground, translation(0.0, down, 0.0))
                .unwrap();
        });
        let gap = y(&simulation, crate_) - start - down;
        assert!(gap.abs() < 0.02, "step {i}: {gap}");
    }
}

#[test]
fn a_load_at_the_side_of_a_crate_at_rest_tips_it() {
    type Load = fn(&mut Physics, BodyKey);
    let loads: [Load; 8] = [
        |physics, crate_| {
            let load = cuboid(0.1, 0.1, 0.1)
                .translation(Vector::X * 1.5)
                .mass(40.0);
            physics.insert_collider(crate_, load).unwrap();
        },
        |physics, crate_| {
            let load = cuboid(0.1, 0.1, 0.1).mass(40.0).build();
            let mut props = load.mass_properties();
            props.local_com += Vector::X * 1.5;
            let body = physics.body_mut(crate_).unwrap();
            body.set_additional_mass_properties(props, true);
        },
        |physics, crate_| {
            // The second access must not hide the first one.
            let mut props = cuboid(0.1, 0.1, 0.1).mass(40.0).build().mass_properties();
            props.local_com += Vector::X * 1.5;
            let body = physics.body_mut(crate_).unwrap();
            body.set_additional_mass_properties(props, true);
            physics.body_mut(crate_).unwrap().wake_up(true);
        },
        |physics, crate_| {
            // The impulse counts the new mass before the step does.
            let mut props = cuboid(0.1, 0.1, 0.1).mass(40.0).build().mass_properties();
            props.local_com += Vector::X * 1.5;
            let body = physics.body_mut(crate_).unwrap();
            body.set_additional_mass_properties(props, true);
            physics.apply_impulse(crate_, Vector::X * 1e-6).unwrap();
        },
        |physics, crate_| {
            // The mass stays, and its centre moves.
            let collider = physics.body(crate_).unwrap().colliders()[0];
            let mut props = physics.rapier().colliders[collider].mass_properties();
            props.local_com += Vector::X * 0.7;
            let collider = physics.collider_mut(collider).unwrap();
            collider.set_mass_properties(props);
            physics.body_mut(crate_).unwrap().wake_up(true);
        },
        |physics, crate_| {
            // A counterweight that is taken away.
            let loads = [1.5, -1.5].map(|x| {
                let load = cuboid(0.1, 0.1, 0.1).translation(Vector::X * x).mass(40.0);
                physics.insert_collider(crate_, load).unwrap()
            });
            physics.remove_collider(loads[1]).unwrap();
        },
        |physics, crate_| {
            // Rapier moves the centre at once.
            let load = cuboid(0.1, 0.1, 0.1)
                .translation(Vector::X * 1.5)
                .mass(40.0);
            let handle = physics.handle(crate_);
            let world = physics.rapier_mut_for(&[crate_]);
            world.insert_collider(load, handle);
        },
        |physics, crate_| {
            // The game moves it.
            let handle = physics.handle(crate_).unwrap();
            let collider = physics.body(crate_).unwrap().colliders()[0];
            let mut props = physics.rapier().colliders[collider].mass_properties();
            props.local_com += Vector::X * 0.7;
            let world = physics.rapier_mut_for(&[crate_]);
            world.colliders[collider].set_mass_properties(props);
            let body = &mut world.bodies[handle];
            body.recompute_mass_properties_from_colliders(&world.colliders);
            body.wake_up(true);
        },
    ];
    for (n, load) in loads.iter().enumerate() {
        for can_sleep in [true, false] {
            let (mut simulation, _, crate_) = crate_on(RigidBodyBuilder::fixed(), can_sleep);
            load(&mut simulation.physics, crate_);
            run(&mut simulation, 60);
            let up = up(&simulation, crate_);
            assert!(up < 0.97, "load {n}, {can_sleep}: {up}");
        }
    }
}

#[test]
fn a_crate_at_rest_on_a_slope_slides_once_its_friction_is_gone() {
    for (can_sleep, is_own) in [(true, true), (false, true), (true, false), (false, false)] {
        let mut simulation = Simulation::default();
        let slope = pose(Vector::ZERO, spin(0.0, 0.0, -15_f32.to_radians()));
        let ground = RigidBodyBuilder::fixed().pose(slope);
        let top = cuboid(20.0, 2.0, 20.0)
            .translation(Vector::Y * -2.0)
            .friction(1.0);
        let ground = simulation.physics.insert(ground, top);
        let body = RigidBodyBuilder::dynamic()
            .pose(slope * translation(0.0, 0.5, 0.0))
            .can_sleep(can_sleep);
        let crate_ = simulation
            .physics
            .insert(body, cuboid(0.5, 0.5, 0.5).friction(1.0));
        run(&mut simulation, 200);
        let before = simulation.physics.body(crate_).unwrap().translation();
        for key in [ground, crate_] {
            let collider = simulation.physics.body(key).unwrap().colliders()[0];
            let collider = if is_own {
                simulation.physics.collider_mut(collider).unwrap()
            } else {
                &mut simulation.physics.rapier_mut_for(&[key]).colliders[collider]
            };
            collider.set_friction(0.0);
        }
        run(&mut simulation, 120);
        let slid = simulation.physics.body(crate_).unwrap().translation() - before;
        // Half of g sin 15°, times the square of two seconds.
        let length = slid.dot(slope.rotation * Vector::X).abs();
        assert!(
            (length - 5.08).abs() < 0.2,
            "{can_sleep}, {is_own}: {length}"
        );
    }
}

/// A game may look at a collider in each step. Only a change wakes what touches it.
#[test]
fn an_unchanged_collider_or_mass_wakes_nothing() {
    let mut simulation = with_floor(Rate::hz(60));
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::Y * 0.5)
        .additional_mass(2.0);
    let crate_ = simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5));
    run(&mut simulation, 200);
    assert!(simulation.physics.body(crate_).unwrap().is_sleeping());
    let collider = simulation.physics.body(crate_).unwrap().colliders()[0];
    for _ in 0..10 {
        simulation.advance(Duration::from_nanos(16_666_667), |physics, _| {
            let friction = physics.collider_mut(collider).unwrap().friction();
            physics
                .collider_mut(collider)
                .unwrap()
                .set_friction(friction);
            physics
                .body_mut(crate_)
                .unwrap()
                .set_additional_mass(2.0, true);
        });
        assert!(simulation.physics.body(crate_).unwrap().is_sleeping());
    }
}

/// A load that was attached long ago becomes heavy, or is enabled.
#[test]
fn a_load_that_becomes_heavy_later_tips_its_crate() {
    for is_enabled in [true, false] {
        let (mut simulation, _, crate_) = crate_on(RigidBodyBuilder::fixed(), false);
        let load = cuboid(0.1, 0.1, 0.1).translation(Vector::X * 1.5);
        let mass = if is_enabled { 1e-3 } else { 40.0 };
        let load = load.mass(mass).enabled(is_enabled);
        let load = simulation.physics.insert_collider(crate_, load).unwrap();
        run(&mut simulation, 200);
        let load = simulation.physics.collider_mut(load).unwrap();
        if is_enabled {
            load.set_mass(40.0);
        } else {
            load.set_enabled(true);
        }
        let before = y(&simulation, crate_);
        run(&mut simulation, 3);
        assert!((y(&simulation, crate_) - before).abs() < 0.02, "it jumps");
        run(&mut simulation, 57);
        let up = up(&simulation, crate_);
        assert!(up < 0.97, "{is_enabled}: {up}");
    }
}

#[test]
fn a_ground_without_a_body_and_the_types_of_collisions_can_change_at_rest() {
    let mut simulation = Simulation::default();
    let top = cuboid(20.0, 2.0, 20.0).translation(Vector::Y * -2.0);
    let ground = (simulation.physics.rapier_mut_except_bodies()).insert_collider(top, None);
    let body = RigidBodyBuilder::dynamic()
        .translation(Vector::Y * 0.5)
        .can_sleep(false);
    let crate_ = simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5));
    run(&mut simulation, 200);
    let before = y(&simulation, crate_);
    let collider = simulation.physics.collider_mut(ground).unwrap();
    collider.set_translation(Vector::Y * -2.04);
    run(&mut simulation, 180);
    assert!((y(&simulation, crate_) - before + 0.04).abs() < 0.005);
    let own = simulation.physics.body(crate_).unwrap().colliders()[0];
    for handle in [ground, own] {
        let collider = simulation.physics.collider_mut(handle).unwrap();
        collider.set_active_collision_types(ActiveCollisionTypes::empty());
    }
    run(&mut simulation, 60);
    assert!(y(&simulation, crate_) < -1.0);
}

/// Changes something for each step, and back after it.
struct ThereAndBack<F>(F, [BodyKey; 2]);

impl<F: FnMut(&mut Physics, [BodyKey; 2], bool)> evenstep::Hooks for ThereAndBack<F> {
    type Error = std::convert::Infallible;

    fn before_step(&mut self, physics: &mut Physics, _: evenstep::Step) -> Result<(), Self::Error> {
        (self.0)(physics, self.1, true);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: evenstep::Step) -> Result<(), Self::Error> {
        (self.0)(physics, self.1, false);
        Ok(())
    }
}

/// Whether edits are detected between two steps, at the end of a frame or before a state is kept, changes no bit.
#[test]
fn what_is_changed_for_a_step_and_back_is_the_same_run_in_every_frame() {
    type Change = fn(&mut Physics, [BodyKey; 2], bool);
    let changes: [Change; 4] = [
        |physics, [_, crate_], is_before| {
            let mass = if is_before { 20.0 } else { 1.0 };
            let body = physics.body_mut(crate_).unwrap();
            body.set_additional_mass(mass, true);
        },
        |physics, [ground, _], is_before| {
            let at = if is_before { 0.0 } else { -0.5 };
            let body = physics.body_mut(ground).unwrap();
            body.set_translation(Vector::Y * at, true);
        },
        |physics, [ground, _], is_before| {
            let at = if is_before { 0.0 } else { -0.5 };
            let handle = physics.handle(ground).unwrap();
            let body = &mut physics.rapier_mut().bodies[handle];
            body.set_translation(Vector::Y * at, true);
        },
        |physics, [_, crate_], is_before| {
            let collider = physics.body(crate_).unwrap().colliders()[0];
            let friction = if is_before { 0.5 } else { 0.1 };
            physics
                .collider_mut(collider)
                .unwrap()
                .set_friction(friction);
        },
    ];
    for (n, change) in changes.iter().enumerate() {
        let end = |steps: u32, keeps: bool, shows: bool| {
            let (mut simulation, ground, crate_) = crate_on(RigidBodyBuilder::fixed(), false);
            if keeps {
                simulation.keep(evenstep::rewind::Kept {
                    ticks: 10,
                    ..Default::default()
                });
            }
            let body = simulation.physics.body_mut(crate_).unwrap();
            body.set_linvel(Vector::X * 3.0, true);
            let change = |physics: &mut Physics, keys: [BodyKey; 2], is_before| {
                change(physics, keys, is_before);
                if shows {
                    physics.show_from(keys[1], Pose::IDENTITY).unwrap();
                }
            };
            let mut hooks = ThereAndBack(change, [ground, crate_]);
            for _ in 0..240 / steps {
                let step = Duration::from_nanos(16_666_667);
                let Ok(_) = simulation.advance_with(step * steps, &mut hooks);
            }
            scenes::hash(simulation.physics.rapier())
        };
        let reference = end(1, false, false);
        for (steps, keeps, shows) in [(4, false, false), (1, true, false), (4, true, true)] {
            assert_eq!(
                end(steps, keeps, shows),
                reference,
                "{n}: {steps} {keeps} {shows}"
            );
        }
    }
}

/// Neither displayed poses nor frames without time change a bit of a step that attaches a collider.
#[test]
fn a_collider_is_attached_alike_whatever_is_displayed_before() {
    let end = |shows: bool, pauses: bool| {
        let (mut simulation, _, crate_) = crate_on(RigidBodyBuilder::fixed(), false);
        let body = simulation.physics.body_mut(crate_).unwrap();
        body.set_linvel(Vector::X, true);
        run(&mut simulation, 5);
        let _ = simulation.physics.body_mut(crate_);
        if pauses {
            simulation.advance(Duration::ZERO, |_, _| ());
        }
        let mut is_attached = false;
        for _ in 0..40 {
            simulation.advance(Duration::from_nanos(16_666_667), |physics, _| {
                if !std::mem::replace(&mut is_attached, true) {
                    let _ = physics.body_mut(crate_);
                    if shows {
                        physics.show_from(crate_, Pose::IDENTITY).unwrap();
                    }
                    let load = ColliderBuilder::ball(0.3).density(5.0);
                    let load = load.translation(Vector::X * 0.4 + Vector::Y * 0.6);
                    physics.insert_collider(crate_, load).unwrap();
                }
            });
        }
        scenes::hash(simulation.physics.rapier())
    };
    let reference = end(false, false);
    assert_eq!(end(true, false), reference);
    assert_eq!(end(false, true), reference);
}
