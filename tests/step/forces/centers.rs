//! Lever arms after a change of the centre of mass in the same step. Rapier counts such a change only in its step.

use super::*;

type Act = fn(&mut Physics, BodyKey);

/// Inserts a body with equal balls at its origin and at x = 2.
fn dumbbell(physics: &mut Physics) -> BodyKey {
    let weight = ColliderBuilder::ball(0.5).mass(1.0);
    let other = weight.clone().translation(Vector::X * 2.0);
    physics.insert(RigidBodyBuilder::dynamic(), [weight, other])
}

fn other_weight(physics: &Physics, key: BodyKey) -> ColliderHandle {
    physics.body(key).unwrap().colliders()[1]
}

const EDITS: [Act; 7] = [
    |physics, key| {
        let weight = other_weight(physics, key);
        physics.remove_collider(weight);
    },
    |physics, key| {
        let weight = other_weight(physics, key);
        physics.collider_mut(weight).unwrap().set_mass(3.0);
    },
    |physics, key| {
        let weight = other_weight(physics, key);
        physics.collider_mut(weight).unwrap().set_enabled(false);
    },
    |physics, key| {
        let weight = other_weight(physics, key);
        let place = Pose::from_translation(Vector::Y);
        physics
            .collider_mut(weight)
            .unwrap()
            .set_position_wrt_parent(place);
    },
    |physics, key| {
        let cargo = ColliderBuilder::ball(0.5).mass(2.0).translation(Vector::Y);
        physics.insert_collider(key, cargo).unwrap();
    },
    |physics, key| {
        let ballast = MassProperties::new(Vector::Y * 3.0, 1.0, spin(1.0, 1.0, 1.0));
        physics
            .body_mut(key)
            .unwrap()
            .set_additional_mass_properties(ballast, true);
    },
    |physics, key| {
        let weight = other_weight(physics, key);
        physics.rapier_mut().remove_collider(weight);
    },
];

const PUSHES: [Act; 4] = [
    |physics, key| {
        let point = vector(0.5, 0.2, 0.0);
        physics
            .add_force_at_point(key, vector(1.0, 30.0, 2.0), point)
            .unwrap();
    },
    |physics, key| {
        let point = vector(0.5, 0.2, 0.0);
        physics
            .apply_impulse_at_point(key, vector(1.0, 3.0, 2.0), point)
            .unwrap();
    },
    |physics, key| {
        let thrust = ForceGenerator::Thrust {
            force: vector(1.0, 30.0, 2.0),
            point: vector(0.5, 0.2, 0.0),
        };
        physics.insert_force_generator(key, thrust).unwrap();
    },
    |physics, key| {
        let spring = ForceGenerator::Spring {
            anchor: vector(1.0, 9.0, 2.0),
            point: vector(0.5, 0.2, 0.0),
            rest_length: 1.0,
            stiffness: 10.0,
            damping: 1.0,
        };
        physics.insert_force_generator(key, spring).unwrap();
    },
];

/// Returns the velocities of two points of the body after one step in which it was pushed.
fn velocities(
    before: impl Fn(&mut Physics, BodyKey),
    hook: impl Fn(&mut Physics, BodyKey),
) -> [Vector; 2] {
    let mut simulation = space();
    let key = dumbbell(&mut simulation.physics);
    simulation.advance(MS(10), nothing);
    before(&mut simulation.physics, key);
    simulation.advance(MS(10), |physics, _| hook(physics, key));
    let body = simulation.physics.body(key).unwrap();
    [Vector::ZERO, vector(1.0, 2.0, 3.0)].map(|point| body.velocity_at_point(point))
}

/// Returns the larger difference of the two velocities.
fn distance(one: [Vector; 2], other: [Vector; 2]) -> f32 {
    (one[0] - other[0])
        .length()
        .max((one[1] - other[1]).length())
}

#[test]
fn a_force_at_a_point_acts_about_the_centre_of_mass_that_the_body_has_in_the_step() {
    for (e, edit) in EDITS.into_iter().enumerate() {
        for (p, push) in PUSHES.into_iter().enumerate() {
            let both = |one: Act, two: Act| {
                move |physics: &mut Physics, key| {
                    one(physics, key);
                    two(physics, key);
                }
            };
            let idle: Act = |_, _| ();
            let step_before = |physics: &mut Physics, key| {
                edit(physics, key);
                // A step that the loop does not count.
                *physics = physics.preview(1, |_, _| ());
            };
            let expected = velocities(step_before, push);
            let unedited = velocities(idle, push);
            assert!(distance(expected, unedited) > 0.01, "edit {e}, push {p}");
            let found = [
                ("in a hook", velocities(idle, both(edit, push))),
                (
                    "in a hook, pushed first",
                    velocities(idle, both(push, edit)),
                ),
                ("between frames", velocities(both(edit, push), idle)),
                (
                    "between frames, pushed first",
                    velocities(both(push, edit), idle),
                ),
                ("pushed between frames", velocities(push, edit)),
                ("edited between frames", velocities(edit, push)),
            ];
            for (when, found) in found {
                let error = distance(expected, found);
                assert!(
                    error < 1e-4,
                    "edit {e}, push {p} {when}: {found:?} is not {expected:?}"
                );
            }
        }
    }
}

/// Rapier enables the colliders of a body only in its step.
#[test]
fn a_body_that_is_enabled_before_a_push_has_the_mass_of_all_its_colliders() {
    for (e, edit) in EDITS.into_iter().enumerate() {
        for (p, push) in PUSHES.into_iter().enumerate() {
            let wait = |physics: &mut Physics, key| {
                physics.body_mut(key).unwrap().set_enabled(false);
                *physics = physics.preview(1, |_, _| ());
            };
            let enable = move |physics: &mut Physics, key| {
                physics.body_mut(key).unwrap().set_enabled(true);
                edit(physics, key);
            };
            let step_before = |physics: &mut Physics, key| {
                wait(physics, key);
                enable(physics, key);
                *physics = physics.preview(1, |_, _| ());
            };
            let expected = velocities(step_before, push);
            let found = velocities(wait, |physics, key| {
                enable(physics, key);
                push(physics, key);
            });
            let error = distance(expected, found);
            assert!(
                error < 1e-4,
                "edit {e}, push {p}: {found:?} is not {expected:?}"
            );
        }
    }
}

#[test]
fn a_lever_arm_does_not_turn_with_the_body_after_the_call() {
    let turns: [Act; 2] = [
        |physics, key| {
            let turned = pose(Vector::ZERO, spin(0.0, 0.0, std::f32::consts::PI));
            physics.teleport(key, turned).unwrap();
        },
        |physics, key| {
            let turned = pose(Vector::ZERO, spin(0.0, 0.0, std::f32::consts::PI));
            physics
                .body_mut(key)
                .unwrap()
                .set_rotation(turned.rotation, true);
        },
    ];
    for turn in turns {
        let found = velocities(
            |_, _| (),
            |physics, key| {
                // The point is the centre of mass in the step.
                (physics.apply_impulse_at_point(key, Vector::Y, Vector::ZERO)).unwrap();
                turn(physics, key);
                let weight = other_weight(physics, key);
                physics.remove_collider(weight);
            },
        );
        assert!((found[0] - found[1]).length() < 1e-5, "{found:?}");
    }
}
