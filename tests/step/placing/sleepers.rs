//! Shifts of the origin right before something else wakes sleeping bodies, or in the same step.

use super::*;

/// Returns a scene at a rate, and in it a body that will sleep and another one.
type Scene = fn(u32) -> (Simulation, [BodyKey; 2]);

/// Changes something near the sleeping body, with the other body of the scene, in the hook of a step.
type Wake = fn(&mut Physics, [BodyKey; 2], Step);

fn step(simulation: &mut Simulation, count: u64, mut hook: impl FnMut(&mut Physics, Step)) {
    let end = simulation.physics.tick() + count;
    while simulation.physics.tick() < end {
        simulation.advance(MS(4), &mut hook);
    }
}

/// Returns a crate that sleeps on a ground with its top at 0.5, and another body.
fn crate_on(ground: RigidBodyBuilder, hz: u32) -> (Simulation, [BodyKey; 2]) {
    let mut simulation = Simulation::new(Rate::hz(hz));
    let ground = (simulation.physics).insert(ground, cuboid(9.0, 0.5, 9.0));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y);
    let crate_ = simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5));
    (simulation, [crate_, ground])
}

fn crate_under_another(hz: u32) -> (Simulation, [BodyKey; 2]) {
    let (mut simulation, [lower, _]) = crate_on(RigidBodyBuilder::fixed(), hz);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
    let upper = simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5));
    (simulation, [lower, upper])
}

/// Returns a crate on a slope of five degrees, with this friction, and the slope.
fn on_slope(hz: u32, friction: f32) -> (Simulation, [BodyKey; 2]) {
    let mut simulation = Simulation::new(Rate::hz(hz));
    let slope = pose(Vector::ZERO, spin(0.0, 0.0, -0.09));
    let rough = |collider: ColliderBuilder| {
        let rule = CoefficientCombineRule::Min;
        collider.friction(friction).friction_combine_rule(rule)
    };
    let ground = RigidBodyBuilder::fixed().pose(slope * translation(0.0, -0.5, 0.0));
    let ground = simulation
        .physics
        .insert(ground, rough(cuboid(20.0, 0.5, 5.0)));
    let body = RigidBodyBuilder::dynamic().pose(slope * translation(0.0, 0.51, 0.0));
    let crate_ = simulation
        .physics
        .insert(body, rough(cuboid(0.5, 0.5, 0.5)));
    (simulation, [crate_, ground])
}

fn crate_on_a_slope(hz: u32) -> (Simulation, [BodyKey; 2]) {
    on_slope(hz, 1.0)
}

fn crate_behind_a_gate(hz: u32) -> (Simulation, [BodyKey; 2]) {
    let (mut simulation, [crate_, _]) = on_slope(hz, 0.0);
    let slope = pose(Vector::ZERO, spin(0.0, 0.0, -0.09));
    let gate = RigidBodyBuilder::fixed().pose(slope * translation(0.61, 0.5, 0.0));
    let gate = simulation.physics.insert(gate, cuboid(0.1, 0.4, 0.4));
    (simulation, [crate_, gate])
}

fn ball_on_an_anchor(hz: u32) -> (Simulation, [BodyKey; 2]) {
    ball_on(hz, |world, [anchor, ball], joint| {
        world.impulse_joints.insert(anchor, ball, joint, true);
    })
}

fn ball_as_a_link(hz: u32) -> (Simulation, [BodyKey; 2]) {
    ball_on(hz, |world, [anchor, ball], joint| {
        world.insert_multibody_joint(anchor, ball, joint).unwrap();
    })
}

/// Returns a ball that hangs from an anchor, to which `connect` joins it.
fn ball_on(
    hz: u32,
    connect: fn(&mut PhysicsWorld, [RigidBodyHandle; 2], GenericJoint),
) -> (Simulation, [BodyKey; 2]) {
    let mut simulation = Simulation::new(Rate::hz(hz));
    let anchor = RigidBodyBuilder::fixed().translation(Vector::Y * 3.0);
    let anchor = simulation.physics.insert_body(anchor);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0);
    let hanging = simulation.physics.insert(body, ball());
    let handles = [anchor, hanging].map(|key| simulation.physics.handle(key).unwrap());
    let joint = ball_joint(Vector::ZERO, Vector::Y);
    connect(
        simulation.physics.rapier_mut_except_bodies(),
        handles,
        joint,
    );
    (simulation, [hanging, anchor])
}

/// Returns the pose this far above a body.
fn raised(physics: &Physics, key: BodyKey, height: f32) -> Pose {
    let pose = physics.body(key).unwrap().position();
    pose.append_translation(Vector::Y * height)
}

/// Returns where the sleeping body is two seconds after it was woken, and whether it sleeps right after that step. The
/// origin is shifted in that step or, if `waits`, in the one before.
fn play(
    (mut simulation, bodies): (Simulation, [BodyKey; 2]),
    wake: Wake,
    origin: Option<Vector>,
    waits: bool,
) -> (Vector, bool) {
    let hz = (1.0 / simulation.clock().settings().rate().dt()).round() as u64;
    step(&mut simulation, 4 * hz, |_, _| ());
    assert!(simulation.physics.body(bodies[0]).unwrap().is_sleeping());
    let shift = |physics: &mut Physics| {
        if let Some(origin) = origin {
            physics.shift_origin(origin).unwrap();
        }
    };
    step(&mut simulation, waits.into(), |physics, _| shift(physics));
    step(&mut simulation, 1, |physics, step| {
        wake(physics, bodies, step);
        if !waits {
            shift(physics);
        }
    });
    let sleeps = simulation.physics.body(bodies[0]).unwrap().is_sleeping();
    step(&mut simulation, 2 * hz, |_, _| ());
    let body = simulation.physics.body(bodies[0]).unwrap();
    (body.translation() + origin.unwrap_or_default(), sleeps)
}

#[test]
fn what_wakes_a_sleeping_body_in_the_step_of_a_shift_or_after_it_wakes_it() {
    let wakes: [(Scene, Wake); 13] = [
        (crate_under_another, |physics, [_, upper], _| {
            physics.add_force(upper, Vector::X * 0.001).unwrap();
        }),
        (crate_under_another, |physics, [lower, _], _| {
            physics.apply_impulse(lower, Vector::X * 0.001).unwrap();
        }),
        (ball_on_an_anchor, |physics, [ball, _], _| {
            physics.apply_impulse(ball, Vector::X * 0.0001).unwrap();
        }),
        (ball_as_a_link, |physics, [_, anchor], _| {
            drop(physics.remove(anchor));
        }),
        (
            |hz| crate_on(RigidBodyBuilder::fixed(), hz),
            |physics, [_, floor], _| drop(physics.remove(floor)),
        ),
        (
            |hz| crate_on(RigidBodyBuilder::kinematic_position_based(), hz),
            |physics, [_, lift], step| {
                let top = raised(physics, lift, 0.1);
                let arrival = step.start_time + Duration::from_secs(2);
                physics.set_kinematic_target(lift, top, arrival).unwrap();
            },
        ),
        (ball_on_an_anchor, |physics, [_, anchor], _| {
            let to = raised(physics, anchor, 7.0);
            physics.teleport(anchor, to).unwrap();
        }),
        (ball_on_an_anchor, |physics, _, _| {
            let joints = &mut physics.rapier_mut_except_bodies().impulse_joints;
            let (joint, _) = joints.iter().next().unwrap();
            joints.remove(joint, true);
        }),
        (
            |hz| crate_on(RigidBodyBuilder::fixed(), hz),
            |physics, [_, floor], _| {
                let collider = physics.body(floor).unwrap().colliders()[0];
                physics.collider_mut(collider).unwrap().set_sensor(true);
            },
        ),
        // What begins to move slowly.
        (crate_behind_a_gate, |physics, [_, gate], _| {
            drop(physics.remove(gate));
        }),
        (
            |hz| crate_on(RigidBodyBuilder::fixed(), hz),
            |physics, [crate_, floor], _| {
                let body = physics.body_mut(crate_).unwrap();
                body.set_gravity_scale(0.1, false);
                drop(physics.remove(floor));
            },
        ),
        (crate_on_a_slope, |physics, [crate_, _], _| {
            let collider = physics.body(crate_).unwrap().colliders()[0];
            physics.collider_mut(collider).unwrap().set_friction(0.0);
        }),
        // A ball that falls on the crate wakes it.
        (
            |hz| crate_on(RigidBodyBuilder::fixed(), hz),
            |physics, [crate_, _], _| {
                let above = raised(physics, crate_, 0.99);
                let body = RigidBodyBuilder::dynamic()
                    .translation(above.translation)
                    .linvel(Vector::NEG_Y * 3.0);
                physics.insert(body, ball().mass(0.05));
            },
        ),
    ];
    for (number, (scene, wake)) in wakes.into_iter().enumerate() {
        for (hz, waits) in [(60, false), (60, true), (240, false), (240, true)] {
            let (expected, expects_sleep) = play(scene(hz), wake, None, waits);
            for origin in [Vector::ZERO, Vector::X * 4.0] {
                let (there, sleeps) = play(scene(hz), wake, Some(origin), waits);
                let off = (there - expected).length();
                assert!(
                    off < 0.05,
                    "{number} at {hz} Hz: {there} and not {expected}"
                );
                assert_eq!(sleeps, expects_sleep, "{number} at {hz} Hz");
            }
        }
    }
}

#[test]
fn bodies_that_rest_sleep_through_a_shift() {
    for (hz, gravity) in [
        (30, 9.81),
        (60, 9.81),
        (240, 9.81),
        (480, 9.81),
        (240, 1.6),
        (60, 0.0),
    ] {
        let mut simulation = scenes::with_floor(Rate::hz(hz));
        // Without gravity, the pressure in a high pile moves it.
        let count = if gravity > 0.0 { 30 } else { 3 };
        let keys = scenes::pile(&mut simulation, count);
        step(&mut simulation, 20 * u64::from(hz), |_, _| ());
        let sleeping = |simulation: &Simulation, key: &BodyKey| {
            simulation.physics.body(*key).unwrap().is_sleeping()
        };
        assert!(keys.iter().all(|key| sleeping(&simulation, key)));
        simulation
            .physics
            .set_gravity(Vector::NEG_Y * gravity)
            .unwrap();
        step(&mut simulation, 10 * u64::from(hz), |_, _| ());
        let positions = |simulation: &Simulation| {
            let positions = keys
                .iter()
                .map(|key| *simulation.physics.body(*key).unwrap().position());
            positions.collect::<Vec<_>>()
        };
        let origins = [Vector::ZERO, vector(64.0, 0.0, -32.0)];
        for origin in origins.into_iter().chain([Vector::ZERO; 20]) {
            simulation.physics.shift_origin(origin).unwrap();
            let before = positions(&simulation);
            step(&mut simulation, 1, |_, _| ());
            assert_eq!(positions(&simulation), before, "{hz} Hz, {origin}");
            let awake: Vec<_> = (keys.iter())
                .filter(|key| !sleeping(&simulation, key))
                .collect();
            assert_eq!(awake.len(), 0, "{hz} Hz, {origin}");
            assert_eq!(simulation.events().sleep_changes().count(), 0);
        }
    }
}
