//! A capsule that crouches and stands up.

use super::*;

/// The capsule's radius, in metres.
const RADIUS: f32 = 0.3;

/// Call it in the hook before a step. Cast a ray first to see if there is room above.
fn set_height(physics: &mut Physics, player: BodyKey, half: f32) -> Option<()> {
    let body = physics.body(player)?;
    let (old, pose) = (body.colliders()[0], *body.position());
    let old = physics.remove_collider(old)?;
    let rise = half - old.shape().as_capsule()?.half_height();
    let capsule = ColliderBuilder::capsule_y(half, RADIUS);
    let capsule = capsule.friction(old.friction());
    physics.insert_collider(player, capsule).ok()?;
    let body = physics.body_mut(player)?;
    body.set_translation(pose.translation + Vector::Y * rise, true);
    Some(())
}

#[test]
fn a_player_that_crouches_and_stands_up_stands_on_the_floor() {
    let mut simulation = with_floor(Rate::default());
    let body = RigidBodyBuilder::dynamic().lock_rotations();
    let body = body.translation(Vector::Y * 0.8);
    let capsule = ColliderBuilder::capsule_y(0.5, RADIUS);
    let player = simulation.physics.insert(body, capsule);
    let step = Duration::from_nanos(16_666_667);
    for height in [0.5, 0.2, 0.5, 0.2] {
        for n in 0..60 {
            simulation.advance(step, |physics, _| {
                if n == 0 {
                    set_height(physics, player, height).unwrap();
                }
            });
            let y = simulation.physics.body(player).unwrap().translation().y;
            assert!(
                (y - height - RADIUS).abs() < 0.02,
                "{height}: {y} in step {n}"
            );
        }
    }
}
