//! An object that is drawn at the player's hand, and thrown: the recipe of the book.

use super::*;
use std::time::Duration;

/// The hand's velocity, in m/s.
const SPEED: f32 = 5.8;

/// Plays a throw at 72 frames per second. Returns the largest jump of the drawn object beside its motion, in metres:
/// at the release, and in the frames after it.
fn throw(release: u32, is_eased: bool, correction: Correction) -> (f32, f32) {
    const FRAME: Duration = Duration::from_nanos(13_888_889);
    let mut simulation = space(60);
    simulation.correction = correction;
    let held = RigidBodyBuilder::kinematic_position_based();
    let key = simulation.physics.insert(held, ball());
    let at = |time: Duration| Pose::from_translation(Vector::X * SPEED * time.as_secs_f32());
    let mut drawn = Vec::new();
    for number in 0..70_u32 {
        let now = simulation.clock().time_after(FRAME);
        if number < release {
            simulation
                .physics
                .set_kinematic_target(key, at(now), now)
                .unwrap();
        }
        if number == release {
            let hand = at(simulation.clock().time());
            let physics = &mut simulation.physics;
            let body = physics.body_mut(key).unwrap();
            body.set_body_type(RigidBodyType::Dynamic, true);
            body.set_position(hand, true);
            body.set_linvel(Vector::X * SPEED, true);
            if is_eased {
                physics.show_from(key, at(now)).unwrap();
            }
        }
        simulation.advance(FRAME, |_, _| ());
        let pose = if number < release {
            at(now)
        } else {
            simulation.pose(key).unwrap()
        };
        drawn.push(pose.translation.x);
    }
    let frame = SPEED * FRAME.as_secs_f32();
    let jumps = drawn
        .windows(2)
        .map(|pair| (pair[1] - pair[0] - frame).abs());
    let jumps: Vec<f32> = jumps.collect();
    let release = release as usize;
    let after = jumps[release..].iter().copied().fold(0.0, f32::max);
    (jumps[release - 1], after)
}

/// Returns the largest jumps of throws that are released in different frames.
fn throws(is_eased: bool, correction: Correction) -> (f32, f32) {
    let all = (30..36).map(|release| throw(release, is_eased, correction));
    all.fold((0.0, 0.0), |most, it| (most.0.max(it.0), most.1.max(it.1)))
}

#[test]
fn a_thrown_object_leaves_the_hand_without_a_jump() {
    let default = Correction::default();
    // The motion of a step: 97 mm.
    let (jump, _) = throws(false, default);
    assert!((0.09..0.1).contains(&jump), "{jump}");
    for (correction, most) in [
        (default, 0.005),
        (Correction::half_life(MS(50)), 0.018),
        (Correction::linear(MS(150)), 0.009),
    ] {
        let (jump, after) = throws(true, correction);
        assert!(jump < 1e-5 && after < most, "{jump} {after}");
    }
}
