//! Ragdolls, and objects that a mouse drags or a hand throws.

use super::*;
use evenstep::{BodyError, Correction};

/// Head, arms and legs: x, the y of the joint, and the y of the middle, all relative to the trunk.
const LIMBS: [[f32; 3]; 5] = [
    [0.0, 0.35, 0.5],
    [0.3, 0.3, 0.0],
    [-0.3, 0.3, 0.0],
    [0.1, -0.35, -0.7],
    [-0.1, -0.35, -0.7],
];

/// Inserts a bone that an animation moves at 3 m/s.
fn bone(physics: &mut Physics, x: f32, y: f32, half_height: f32) -> BodyKey {
    let body = RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X * 3.0);
    let body = body.translation(Vector::new(x, y + 1.5, 0.0));
    physics.insert(body, ColliderBuilder::capsule_y(half_height, 0.1))
}

#[test]
fn a_ragdoll_keeps_its_velocity_and_its_joints() {
    let mut simulation = with_floor(Rate::hz(60));
    let trunk = bone(&mut simulation.physics, 0.0, 0.0, 0.25);
    let limbs = LIMBS.map(|[x, joint, middle]| {
        let half_height = (joint - middle).abs() - 0.1;
        let limb = bone(&mut simulation.physics, x, middle, half_height);
        let [on_trunk, on_limb] = [Vector::new(x, joint, 0.0), Vector::Y * (joint - middle)];
        let data = SphericalJointBuilder::new()
            .local_anchor1(on_trunk)
            .local_anchor2(on_limb)
            .contacts_enabled(false);
        let [a, b] = [trunk, limb].map(|key| simulation.physics.handle(key).unwrap());
        let rapier = simulation.physics.rapier_mut_except_bodies();
        rapier.insert_impulse_joint(a, b, data);
        (limb, on_trunk, on_limb)
    });
    for frame in 0..600 {
        if frame == 60 {
            for key in limbs.map(|limb| limb.0).into_iter().chain([trunk]) {
                let body = simulation.physics.body_mut(key).unwrap();
                body.set_body_type(RigidBodyType::Dynamic, true);
            }
        }
        simulation.advance(Duration::from_millis(17), |_, _| ());
        let pose = |key| simulation.pose(key).unwrap();
        let gaps = limbs.map(|(limb, a, b)| (pose(trunk) * a).distance(pose(limb) * b));
        assert!(gaps.iter().all(|gap| *gap < 0.05), "{gaps:?} m");
    }
    let position = simulation.pose(trunk).unwrap().translation;
    assert!(position.x > 4.0 && position.y < 0.5, "{position}");
}

/// The dragged body, the grabbed point in its frame, and the distance of that point from the eye.
struct Drag(BodyKey, Vector, f32);

/// Starts when the button is pressed.
fn start(physics: &Physics, mouse: &Ray) -> Option<Drag> {
    let filter = QueryFilter::only_dynamic();
    let (collider, distance) = physics.rapier().cast_ray(mouse, 100.0, true, filter)?;
    let key = physics.key_of_collider(collider)?;
    let point = physics.body(key)?.position().inverse() * mouse.point_at(distance);
    Some(Drag(key, point, distance))
}

/// Pulls for one step. Returns `None` if the body was removed.
fn pull(physics: &mut Physics, drag: &Drag, mouse: &Ray) -> Option<()> {
    let Drag(key, point, distance) = *drag;
    let body = physics.body(key)?;
    let point = body.position() * point;
    let spring = (mouse.point_at(distance) - point) * 100.0;
    let damping = body.velocity_at_point(point) * 15.0;
    let force = (spring - damping - physics.gravity()) * body.mass();
    physics.add_force_at_point(key, force, point).ok()
}

#[test]
fn a_dragged_point_reaches_the_mouse() {
    let mut simulation = Simulation::default();
    let body = RigidBodyBuilder::dynamic().angular_damping(2.0); // it soon stops swinging
    let cuboid = ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(20.0);
    simulation.physics.insert(body, cuboid);
    simulation.advance(Duration::from_millis(17), |_, _| ());
    let [press, target] = [0.4, 3.0].map(|y| Ray::new(Vector::new(0.0, y, 8.0), Vector::NEG_Z));
    assert!(start(&simulation.physics, &target).is_none()); // above the body
    let drag = start(&simulation.physics, &press).unwrap();
    for _ in 0..600 {
        simulation.advance(Duration::from_millis(17), |physics, _| {
            pull(physics, &drag, &target).unwrap()
        });
    }
    let point = simulation.pose(drag.0).unwrap() * drag.1;
    let distance = point.distance(target.point_at(drag.2));
    assert!(distance < 0.01, "{distance} m");
}

/// Returns how fast a crate still turns, in rad/s, that was held at a corner for 5 s.
fn spin_of_held_corner(damping: f32) -> f32 {
    let mut simulation = Simulation::default();
    let cuboid = ColliderBuilder::cuboid(0.5, 0.5, 0.5).mass(20.0);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), cuboid);
    simulation.advance(Duration::from_millis(17), |_, _| ());
    let mouse = Ray::new(Vector::new(0.45, 0.45, 8.0), Vector::NEG_Z);
    let drag = start(&simulation.physics, &mouse).unwrap();
    let body = simulation.physics.body_mut(key).unwrap();
    body.set_angular_damping(damping);
    for _ in 0..300 {
        simulation.advance(Duration::from_millis(17), |physics, _| {
            pull(physics, &drag, &mouse).unwrap();
        });
    }
    simulation.physics.body(key).unwrap().angvel().length()
}

#[test]
fn a_body_that_is_dragged_off_its_centre_rests_only_with_damping() {
    assert!(
        spin_of_held_corner(10.0) < 0.05,
        "{}",
        spin_of_held_corner(10.0)
    );
    assert!(
        spin_of_held_corner(0.0) > 0.3,
        "{}",
        spin_of_held_corner(0.0)
    );
}

const FRAME: Duration = Duration::from_nanos(13_888_889); // 72 Hz

/// Moves the held object. `hand` is the pose for the end of the frame.
fn hold(simulation: &mut Simulation, key: BodyKey, hand: Pose) -> Result<(), BodyError> {
    let time = simulation.clock().time_after(FRAME);
    simulation.physics.set_kinematic_target(key, hand, time)
}

/// Lets the object fly on.
fn throw(physics: &mut Physics, key: BodyKey, hand: Pose, velocity: Vector) {
    let body = physics.body_mut(key).unwrap();
    body.set_body_type(RigidBodyType::Dynamic, true);
    body.set_linvel(velocity, true);
    physics.show_from(key, hand).unwrap();
}

/// Returns the largest deviation of the drawn motion per frame from that of the hand, in metres.
fn uneven(correction: Correction, is_shown_from_hand: bool) -> f32 {
    let mut simulation = space(60);
    simulation.correction = correction;
    let body = RigidBodyBuilder::kinematic_position_based();
    let key = simulation.physics.insert(body, ColliderBuilder::ball(0.1));
    let velocity = Vector::X * 5.8;
    let hand = |frame: u32| Pose::from_translation(velocity * (FRAME * frame).as_secs_f32());
    let (mut last, mut worst) = (hand(0), 0.0_f32);
    for frame in 1..100 {
        let hand = hand(frame);
        if frame < 50 {
            hold(&mut simulation, key, hand).unwrap();
        } else if frame == 50 {
            throw(&mut simulation.physics, key, hand, velocity);
            if !is_shown_from_hand {
                simulation.correction = Correction::OFF;
            }
        }
        simulation.advance(FRAME, |_, _| ());
        let drawn = match frame < 50 {
            true => hand,
            false => simulation.pose(key).unwrap(),
        };
        let moved = drawn.translation.x - last.translation.x;
        worst = worst.max((moved - 5.8 * FRAME.as_secs_f32()).abs());
        last = drawn;
    }
    worst
}

#[test]
fn a_thrown_object_leaves_the_hand_without_a_jump() {
    let half_life = |ms| Correction::half_life(Duration::from_millis(ms));
    let jump = uneven(Correction::default(), false);
    assert!((jump - 0.097).abs() < 0.002, "{jump} m");
    let default = uneven(Correction::default(), true);
    assert!(default < 0.005, "{default} m");
    let short = uneven(half_life(50), true);
    assert!((0.015..0.018).contains(&short), "{short} m");
    let linear = uneven(Correction::linear(Duration::from_millis(150)), true);
    assert!((0.008..0.0095).contains(&linear), "{linear} m");
}
