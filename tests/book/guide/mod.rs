//! The program of the chapter that is proposed for Rapier's guide, docs/upstream/timestep-guide.md.
#![expect(
    clippy::disallowed_types,
    reason = "readers know a HashMap, and the program does not iterate over it"
)]

use std::fs;
use std::path::Path;

use evenstep::rapier as rapier3d;

include!("program.rs");

#[test]
fn the_chapter_lists_the_program() {
    let chapter = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/upstream/timestep-guide.md");
    let chapter = fs::read_to_string(chapter).unwrap();
    let listing = format!("```rust\n{}```\n", include_str!("program.rs"));
    assert!(chapter.contains(&listing));
}

#[test]
fn the_program_draws_even_motion_between_steps() {
    const DISPLAY: f32 = 144.0; // Hz
    const SPEED: f32 = 7.2; // m/s
    let mut world = PhysicsWorld::new();
    world.gravity = Vector::ZERO;
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X * SPEED);
    let (ball, _) = world.insert(body, ColliderBuilder::ball(0.5));
    let mut steps = FixedSteps::default();
    let mut drawn = || {
        steps.advance(&mut world, 1.0 / DISPLAY);
        steps.pose(&world, ball).translation.x
    };
    // The first step is in the third frame: motion is drawn from then on.
    let mut last = [(); 3].map(|()| drawn())[2];
    for frame in 3..144 {
        let now = drawn();
        assert!(
            (now - last - SPEED / DISPLAY).abs() < 1e-4,
            "frame {frame}: {}",
            now - last
        );
        last = now;
    }
}

#[test]
fn the_program_slows_down_in_a_long_frame() {
    let mut world = PhysicsWorld::new();
    let mut steps = FixedSteps::default();
    let (ball, _) = world.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    steps.advance(&mut world, 60.0);
    let fallen = -world.bodies[ball].translation().y;
    assert!((0.25..0.35).contains(&fallen), "{fallen} m");
}
