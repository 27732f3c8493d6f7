//! The book's statements about Rapier.

use evenstep::Simulation;
use evenstep::rapier::control::KinematicCharacterController;
use evenstep::rapier::dynamics::RigidBodyActivation;
use evenstep::rapier::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::time::Duration;

#[test]
fn a_body_falls_asleep_after_half_a_second() {
    assert_eq!(RigidBodyActivation::default_time_until_sleep(), 0.5);
}

#[test]
fn a_ball_that_drifts_slower_than_10_cm_per_second_falls_asleep() {
    // How far a ball drifts in two seconds, in metres.
    let drift = |speed: f32, can_sleep: bool| {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::ZERO;
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X * speed);
        let body = body.can_sleep(can_sleep);
        let (ball, _) = world.insert(body, ColliderBuilder::ball(0.5));
        for _ in 0..120 {
            world.step();
        }
        world.bodies[ball].translation().x
    };
    assert!(
        (drift(0.09, true) - 0.045).abs() < 0.005,
        "{} m",
        drift(0.09, true)
    );
    assert!(
        (drift(0.11, true) - 0.22).abs() < 0.001,
        "{} m",
        drift(0.11, true)
    );
    assert!((drift(0.09, false) - 0.18).abs() < 0.001);
}

/// Returns how many of twenty bullets without CCD, at 10 to 200 m/s, pass a wall of 5 cm.
fn passed(wall: RigidBodyBuilder, max_ccd_substeps: usize) -> usize {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    world.integration_parameters.max_ccd_substeps = max_ccd_substeps;
    world.insert(wall, ColliderBuilder::cuboid(0.025, 20.0, 20.0));
    let bullets: Vec<_> = (1..=20u8)
        .map(|i| {
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::new(-2.0, 0.0, f32::from(i) - 10.0))
                .linvel(Vector::X * 10.0 * f32::from(i));
            world.insert(body, ColliderBuilder::ball(0.05)).0
        })
        .collect();
    for _ in 0..60 {
        world.step();
    }
    let has_passed = |bullet: &&RigidBodyHandle| world.bodies[**bullet].translation().x > 0.1;
    bullets.iter().filter(has_passed).count()
}

#[test]
fn bullets_without_ccd_pass_through_kinematic_walls() {
    assert_eq!(passed(RigidBodyBuilder::fixed(), 1), 0);
    assert_eq!(passed(RigidBodyBuilder::kinematic_position_based(), 1), 18);
    assert!(passed(RigidBodyBuilder::fixed(), 0) > 10);
}

/// Returns whether a kinematic player that enters a sensor without a moving body is reported.
fn is_reported(player: ActiveCollisionTypes, sensor: ActiveCollisionTypes) -> bool {
    let mut simulation = Simulation::default();
    let body = RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X * 5.0);
    let ball = ColliderBuilder::ball(0.5).active_collision_types(player);
    simulation.physics.insert(body, ball);
    let area = ColliderBuilder::ball(0.5)
        .sensor(true)
        .active_events(ActiveEvents::COLLISION_EVENTS)
        .active_collision_types(sensor);
    simulation
        .physics
        .insert(RigidBodyBuilder::fixed().translation(Vector::X * 2.0), area);
    let frames = (0..60).map(|_| {
        simulation.advance(Duration::from_millis(17), |_, _| ());
        simulation.events().collisions().count()
    });
    frames.sum::<usize>() > 0
}

#[test]
fn kinematic_fixed_collisions_need_the_flag_on_one_collider_only() {
    let default = ActiveCollisionTypes::default();
    let both = default | ActiveCollisionTypes::KINEMATIC_FIXED;
    assert!(!is_reported(default, default));
    assert!(is_reported(both, default));
    assert!(is_reported(default, both));
}

// docs/upstream/collision-events-flag.md
#[test]
fn rapier_reports_only_one_end_of_a_contact_whose_events_are_turned_on_or_off() {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    world.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(0.5));
    let ball = RigidBodyBuilder::dynamic().translation(Vector::X * 0.9);
    let (ball, collider) = world.insert(ball, ColliderBuilder::ball(0.5));
    let mut step = |x: f32, flags| {
        world.colliders[collider].set_active_events(flags);
        world.bodies[ball].set_translation(Vector::X * x, true);
        let ((collisions, events), forces, tears) = (channel(), channel().0, channel().0);
        world.step_with_events(&(), &ChannelEventCollector::new(collisions, forces, tears));
        let events = events.try_iter();
        events
            .map(|event: CollisionEvent| event.started())
            .collect::<Vec<_>>()
    };
    let (none, all) = (ActiveEvents::empty(), ActiveEvents::COLLISION_EVENTS);
    assert_eq!(step(0.9, none), []);
    assert_eq!(step(9.0, all), [false], "a stop without a start");
    assert_eq!(step(0.9, all), [true]);
    assert_eq!(step(9.0, none), []);
    assert_eq!(step(0.9, all), [true], "another start without a stop");
}

/// Returns the speed of 1 kg after a second, if each frame adds 1 N with Rapier's `add_force`.
fn speed(frames_per_second: usize) -> f32 {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    let body = RigidBodyBuilder::dynamic();
    let (body, _) = world.insert(body, ColliderBuilder::ball(0.5).mass(1.0));
    let mut steps = 0;
    for frame in 1..=frames_per_second {
        world.bodies[body].add_force(Vector::X, true);
        while steps < 60 * frame / frames_per_second {
            world.step();
            steps += 1;
        }
    }
    world.bodies[body].linvel().x
}

#[test]
fn rapiers_add_force_accumulates_over_frames() {
    assert!((speed(60) - 30.5).abs() < 0.05, "{} m/s", speed(60));
    assert!((speed(144) - 73.6).abs() < 0.05, "{} m/s", speed(144));
}

#[test]
fn the_handle_of_a_removed_body_finds_nothing() {
    let mut simulation = Simulation::default();
    let old = simulation.physics.insert_body(RigidBodyBuilder::dynamic());
    let handle = simulation.physics.handle(old).unwrap();
    simulation.physics.remove(old);
    simulation.physics.insert_body(RigidBodyBuilder::dynamic()); // takes its slot
    assert!(simulation.physics.rapier().bodies.get(handle).is_none());
    assert_eq!(simulation.physics.handle(old), None);
}

#[test]
fn a_bodys_collider_handles_lead_back_to_its_key() {
    let mut simulation = Simulation::default();
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    let collider = simulation.physics.body(key).unwrap().colliders()[0];
    assert_eq!(simulation.physics.key_of_collider(collider), Some(key));
}

/// Compares the force from a joint's impulses with the force from the motion of a bar that hangs by that joint. Returns
/// the smallest and the largest ratio. The joint is at the bar's end, at `offset` from its middle.
fn measured_force(offset: Vector) -> [f32; 2] {
    let mut world = PhysicsWorld::new();
    let post = world.insert_body(RigidBodyBuilder::fixed());
    let bar = RigidBodyBuilder::dynamic().translation(-offset);
    let (bar, _) = world.insert(bar, ColliderBuilder::cuboid(0.9, 0.1, 0.2).mass(10.0));
    let joint = SphericalJointBuilder::new().local_anchor2(offset);
    let joint = world.insert_impulse_joint(post, bar, joint);
    let parameters = world.integration_parameters;
    let substep = parameters.dt / parameters.num_solver_iterations as f32;
    let mut last = Vector::ZERO;
    let ratios = (0..240).map(|_| {
        world.step();
        let [x, y, z, ..] = world.impulse_joints.get(joint).unwrap().impulses;
        let velocity = world.bodies[bar].linvel();
        let acceleration = (velocity - last) / parameters.dt - world.gravity;
        last = velocity;
        Vector::new(x, y, z).length() / substep / (10.0 * acceleration).length()
    });
    ratios.fold([f32::MAX, 0.0], |[least, most], ratio| {
        [least.min(ratio), most.max(ratio)]
    })
}

/// Rapier makes the rows of a joint orthogonal, so no single row has the force of a pull across them.
#[test]
fn joint_impulses_give_the_force_only_for_a_straight_pull() {
    let [least, most] = measured_force(Vector::Y);
    assert!(least > 0.99 && most < 1.01, "{least} to {most}");
    let [least, most] = measured_force(Vector::new(-1.2, 0.7, -0.5));
    assert!(least < 0.4, "{least}");
    assert!(most < 1.01, "{most}");
}

/// Returns how far a chain of two multibody links falls that hangs on a body by an impulse joint.
fn fall_of_chain(post: RigidBodyBuilder) -> f32 {
    let mut world = PhysicsWorld::new();
    let bodies = rope(&mut world, 2, RigidBodyType::Dynamic);
    let post = world.insert_body(post.translation(-Vector::X));
    let joint = SphericalJointBuilder::new()
        .local_anchor1(Vector::X * 0.5)
        .local_anchor2(Vector::X * -0.5);
    world.insert_impulse_joint(post, bodies[0], joint);
    for _ in 0..12 {
        world.step();
    }
    -world.bodies[bodies[1]].translation().y
}

/// Creates a rope of multibody joints along x, 1 m from body to body.
fn rope(world: &mut PhysicsWorld, bodies: u8, root: RigidBodyType) -> Vec<RigidBodyHandle> {
    let bodies: Vec<_> = (0..bodies)
        .map(|i| {
            let kind = if i == 0 { root } else { RigidBodyType::Dynamic };
            let body = RigidBodyBuilder::new(kind).translation(Vector::X * f32::from(i));
            world.insert(body, ColliderBuilder::ball(0.4)).0
        })
        .collect();
    for ends in bodies.windows(2) {
        let joint = SphericalJointBuilder::new()
            .local_anchor1(Vector::X * 0.5)
            .local_anchor2(Vector::X * -0.5);
        world
            .insert_multibody_joint(ends[0], ends[1], joint)
            .unwrap();
    }
    bodies
}

/// Returns the message of Rapier's panic, if one body of a rope on a floor is disabled, and a step panics within a
/// second.
fn panic_with_disabled(root: RigidBodyType, disabled: usize) -> Option<String> {
    let mut world = PhysicsWorld::new();
    let floor = RigidBodyBuilder::fixed().translation(Vector::Y * -0.9);
    world.insert(floor, ColliderBuilder::cuboid(50.0, 0.5, 50.0));
    let bodies = rope(&mut world, 4, root);
    world.step();
    world.bodies[bodies[disabled]].set_enabled(false);
    let steps = || (0..60).for_each(|_| world.step());
    let panic = catch_unwind(AssertUnwindSafe(steps)).err()?;
    let literal = panic.downcast_ref::<&str>().map(|it| (*it).to_owned());
    literal.or_else(|| panic.downcast_ref().cloned())
}

// docs/upstream/multibody-disabled-link.md
#[test]
fn a_multibody_with_a_disabled_link_panics_at_a_contact() {
    let panics = |root, disabled| {
        let message = panic_with_disabled(root, disabled);
        message.is_some_and(|message| message.starts_with("Matrix slicing out of bounds"))
    };
    assert!(panics(RigidBodyType::Dynamic, 0));
    assert!(panics(RigidBodyType::Fixed, 1));
    assert_eq!(panic_with_disabled(RigidBodyType::Fixed, 2), None);
}

// docs/upstream/multibody-disabled-link.md
#[test]
fn the_collider_of_a_disabled_link_stays_behind() {
    let mut world = PhysicsWorld::new();
    let bodies = rope(&mut world, 4, RigidBodyType::Fixed);
    world.step();
    world.bodies[bodies[3]].set_enabled(false);
    let distance = |world: &PhysicsWorld| {
        let body = &world.bodies[bodies[3]];
        let collider = &world.colliders[body.colliders()[0]];
        body.translation().distance(collider.translation())
    };
    for _ in 0..60 {
        world.step();
    }
    assert!(distance(&world) > 3.0, "{} m", distance(&world));
    world.bodies[bodies[3]].set_enabled(true);
    world.step();
    assert_eq!(distance(&world), 0.0);
}

// docs/upstream/disabled-body-joint.md
#[test]
fn a_joint_of_a_disabled_body_acts_once_its_other_body_is_enabled() {
    let mut world = PhysicsWorld::new();
    let hook = world.insert_body(RigidBodyBuilder::dynamic());
    let lamp = RigidBodyBuilder::dynamic().translation(-Vector::Y);
    let (lamp, _) = world.insert(lamp, ColliderBuilder::ball(0.4));
    let joint = SphericalJointBuilder::new().local_anchor2(Vector::Y);
    world.insert_impulse_joint(hook, lamp, joint);
    world.step();
    for body in [hook, lamp] {
        world.bodies[body].set_enabled(false);
    }
    world.step();
    world.bodies[lamp].set_enabled(true);
    for _ in 0..20 {
        world.step();
    }
    let height = world.bodies[lamp].translation().y;
    assert!((height + 1.0).abs() < 0.01, "{height} m");
    world.bodies[lamp].set_body_type(RigidBodyType::Fixed, false);
    assert!(catch_unwind(AssertUnwindSafe(|| world.step())).is_err());
}

// docs/upstream/multibody-kinematic-root.md
#[test]
fn a_multibody_pendulum_falls_twice_as_fast_on_a_kinematic_root() {
    let fall = |root| {
        let mut world = PhysicsWorld::new();
        let bodies = rope(&mut world, 2, root);
        for _ in 0..12 {
            world.step();
        }
        -world.bodies[bodies[1]].translation().y
    };
    let fixed = fall(RigidBodyType::Fixed);
    for kinematic in [
        RigidBodyType::KinematicPositionBased,
        RigidBodyType::KinematicVelocityBased,
    ] {
        let ratio = fall(kinematic) / fixed;
        assert!((1.8..2.0).contains(&ratio), "{ratio}");
    }
    // The book advises an impulse joint instead.
    let [fixed, kinematic] = [
        RigidBodyBuilder::fixed(),
        RigidBodyBuilder::kinematic_position_based(),
    ]
    .map(fall_of_chain);
    assert!((0.1..0.4).contains(&fixed), "{fixed} m");
    assert!((kinematic / fixed - 1.0).abs() < 0.02, "{kinematic} m");
}

// docs/upstream/multibody-cut.md
#[test]
fn both_parts_of_a_cut_multibody_stop() {
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    let bodies = rope(&mut world, 4, RigidBodyType::Dynamic);
    for body in &bodies {
        world.bodies[*body].add_force(Vector::Y * 30.0, true);
    }
    world.step();
    for body in &bodies {
        world.bodies[*body].reset_forces(true);
    }
    world.step();
    let speeds = |world: &PhysicsWorld| {
        let velocities = bodies.iter().map(|body| world.bodies[*body].linvel().y);
        velocities.collect::<Vec<_>>()
    };
    assert!(speeds(&world).iter().all(|speed| *speed > 1.0));
    world.remove_multibody_joint(MultibodyJointHandle(bodies[2].0));
    world.step();
    assert!(speeds(&world).iter().all(|speed| speed.abs() < 1e-3));
}

// docs/upstream/multibody-cut.md
#[test]
fn a_detached_part_of_a_multibody_responds_incorrectly_to_a_force() {
    let velocity = |bodies| {
        let mut world = PhysicsWorld::new();
        world.gravity = Vector::ZERO;
        let bodies = rope(&mut world, bodies, RigidBodyType::Dynamic);
        let root = bodies[bodies.len() - 2];
        if bodies.len() > 2 {
            world.step();
            world.remove_multibody_joint(MultibodyJointHandle(root.0));
        }
        world.step();
        world.bodies[root].add_force(Vector::Y, true);
        world.step();
        world.bodies[root].linvel().y
    };
    let (rope, detached) = (velocity(2), velocity(4));
    assert!((detached / rope - 1.0).abs() > 0.2, "{detached} of {rope}");
}

/// Returns where a character arrives that walks for a second beside a kinematic wall, 0.2 m away in the direction of x.
fn walk_beside_wall(velocity: Vector, wall_velocity: Vector) -> Vector {
    let mut world = PhysicsWorld::new();
    let wall = RigidBodyBuilder::kinematic_velocity_based();
    let wall = wall.translation(Vector::X).linvel(wall_velocity);
    world.insert(wall, ColliderBuilder::cuboid(0.5, 5.0, 50.0));
    let capsule = Capsule::new_y(0.5, 0.3);
    let controller = KinematicCharacterController::default();
    let (mut pose, dt) = (Pose::IDENTITY, 1.0 / 60.0);
    for _ in 0..60 {
        world.step();
        let queries = world.query_pipeline();
        let movement = controller.move_shape(dt, &queries, &capsule, &pose, velocity * dt, |_| ());
        pose.translation += movement.translation;
    }
    pose.translation
}

// docs/upstream/character-walls.md
#[test]
fn a_kinematic_wall_tows_a_character_that_walks_into_it() {
    let walk = |wall_velocity| walk_beside_wall(Vector::X, wall_velocity);
    let still = walk(Vector::ZERO);
    assert!(
        (still.x - 0.18).abs() < 0.01 && still.with_x(0.0).length() < 0.01,
        "{still}"
    );
    for velocity in [Vector::Y * 2.0, Vector::Z * 2.0] {
        let towed = walk(velocity);
        assert!(towed.dot(velocity) > 2.0, "{towed}");
    }
}

// docs/upstream/character-doors.md
#[test]
fn a_kinematic_door_passes_through_a_character_that_walks_along_it() {
    let pushed = |velocity| walk_beside_wall(velocity, Vector::NEG_X).x;
    for velocity in [Vector::ZERO, Vector::X] {
        let x = pushed(velocity);
        assert!((-0.85..-0.8).contains(&x), "{x}");
    }
    for (velocity, x) in [(Vector::Z, 0.0), (Vector::X * -0.5, -0.5)] {
        assert!((pushed(velocity) - x).abs() < 0.05, "{}", pushed(velocity));
    }
}

/// Returns a crate that has rested on a fixed ground for a while, with the ground.
fn crate_at_rest() -> (PhysicsWorld, RigidBodyHandle, RigidBodyHandle) {
    let mut world = PhysicsWorld::new();
    let top = ColliderBuilder::cuboid(20.0, 2.0, 20.0).translation(Vector::Y * -2.0);
    let (ground, _) = world.insert(RigidBodyBuilder::fixed(), top);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.5);
    let (body, _) = world.insert(body, ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(10.0));
    (0..200).for_each(|_| world.step());
    (world, ground, body)
}

// docs/upstream/contact-recycling.md
#[test]
fn rapier_recycles_contacts_whose_ground_mass_or_friction_has_changed() {
    let (mut world, ground, body) = crate_at_rest();
    world.bodies[ground].set_translation(Vector::Y * -0.04, true);
    (0..180).for_each(|_| world.step());
    let height = world.bodies[body].translation().y;
    assert!((height - 0.5).abs() < 0.01, "{height}");

    let (mut world, _, body) = crate_at_rest();
    let load = ColliderBuilder::cuboid(0.1, 0.1, 0.1).translation(Vector::X * 1.5);
    world.insert_collider(load.mass(40.0), Some(body));
    (0..180).for_each(|_| world.step());
    let turn = world.bodies[body]
        .rotation()
        .angle_between(Rotation::IDENTITY);
    assert!(turn < 0.01, "{turn}");

    let (mut world, ground, body) = crate_at_rest();
    world.bodies[body].set_linvel(Vector::X * 2.0, true);
    (0..100).for_each(|_| world.step());
    for body in [ground, body] {
        let collider = world.bodies[body].colliders()[0];
        world.colliders[collider].set_friction(0.0);
    }
    world.gravity.x = 2.0;
    world.bodies[body].wake_up(true);
    let before = world.bodies[body].translation().x;
    (0..60).for_each(|_| world.step());
    let slid = world.bodies[body].translation().x - before;
    assert!(slid < 0.1, "{slid}");
}

// docs/upstream/set-shape.md
#[test]
fn a_crate_that_grows_at_rest_stays_in_the_floor() {
    for recycling in [true, false] {
        let (mut world, _, body) = crate_at_rest();
        world.integration_parameters.contact_recycling = recycling;
        let collider = world.bodies[body].colliders()[0];
        world.colliders[collider].set_shape(SharedShape::cuboid(0.5, 0.8, 0.5));
        world.bodies[body].wake_up(true);
        (0..200).for_each(|_| world.step());
        let height = world.bodies[body].translation().y;
        assert!((height - 0.5).abs() < 0.01, "{height}");
    }
}
