//! Levels, an editor, hot reload, and waves of enemies.

use super::{at_tick, poses};
use evenstep::rapier::prelude::*;
use evenstep::{Physics, Rate, Simulation, Step};
use recipes::editor::{play, stop};
use recipes::ground::{GRASS, STONE, surface};
use recipes::hot_reload::reload;
use recipes::waves::spawn;
use scenes::with_floor;
use std::collections::BTreeMap;
use std::time::Duration;

#[test]
fn colliders_of_one_fixed_body_are_told_apart_by_their_user_data() {
    let mut simulation = Simulation::default();
    let physics = &mut simulation.physics;
    let level = physics.insert_body(RigidBodyBuilder::fixed());
    for (x, user_data) in [(0.0, STONE), (2.0, GRASS)] {
        let tile = ColliderBuilder::cuboid(1.0, 0.1, 1.0).translation(Vector::X * x);
        let tile = physics.insert_collider(level, tile.user_data(user_data));
        tile.unwrap();
    }
    let body = RigidBodyBuilder::fixed().translation(Vector::X * 2.0);
    let goal = physics.insert(body, ColliderBuilder::ball(0.5).sensor(true));
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.3);
    let collider = ColliderBuilder::ball(0.2).active_events(ActiveEvents::COLLISION_EVENTS);
    let ball = physics.insert(body.linvel(Vector::X * 2.0), collider);

    let (mut surfaces, mut has_won) = (Vec::new(), false);
    for _ in 0..60 {
        simulation.advance(Duration::from_millis(17), |physics, _| {
            surfaces.extend(surface(physics, ball, level));
        });
        let mut hits = simulation.events().collisions();
        has_won |= hits.any(|hit| hit.started && hit.bodies.contains(&Some(goal)));
    }
    surfaces.dedup();
    assert_eq!((surfaces, has_won), (vec![STONE, GRASS], true));
}

/// Returns a row of rectangles of 1 m by 4 m, two triangles each, as a level file may have.
fn mesh(flags: TriMeshFlags) -> ColliderBuilder {
    let (mut corners, mut triangles) = (Vec::new(), Vec::new());
    for i in 0..60 {
        let [near, far] = [-2.0, 2.0].map(|z| Vector::new(i as f32, 0.0, z));
        corners.extend([near, near + Vector::X, far + Vector::X, far]);
        let rectangle = [[0, 2, 1], [0, 3, 2]];
        triangles.extend(rectangle.map(|corners| corners.map(|corner| 4 * i + corner)));
    }
    ColliderBuilder::trimesh_with_flags(corners, triangles, flags).unwrap()
}

/// Returns how far, in metres, a crate that slides at 10 m/s gets above or below the mesh.
fn bumps(flags: TriMeshFlags) -> f32 {
    let mut simulation = Simulation::default();
    simulation
        .physics
        .insert(RigidBodyBuilder::fixed(), mesh(flags).friction(0.0));
    let body = RigidBodyBuilder::dynamic().translation(Vector::new(2.0, 0.2, 0.3));
    let collider = ColliderBuilder::cuboid(0.2, 0.2, 0.2).friction(0.0);
    let cargo = simulation
        .physics
        .insert(body.linvel(Vector::X * 10.0), collider);
    let heights = (0..240).map(|_| {
        simulation.advance(Duration::from_millis(17), |_, _| ());
        simulation.pose(cargo).unwrap().translation.y
    });
    heights
        .map(|height| (height - 0.2).abs())
        .fold(0.0, f32::max)
}

#[test]
fn a_crate_slides_over_a_mesh_only_if_its_internal_edges_are_fixed() {
    let plain = bumps(TriMeshFlags::empty());
    assert!(plain > 0.1, "{plain} m");
    let fixed = bumps(TriMeshFlags::FIX_INTERNAL_EDGES);
    assert!(fixed < 1e-3, "{fixed} m");
}

#[test]
fn an_editor_displays_edits_and_plays_a_copy() {
    const FRAME: Duration = Duration::from_millis(16);
    let mut simulation = Simulation::default();
    let (body, collider) = (RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    let ball = simulation.physics.insert(body.clone(), collider.clone());
    simulation.pause();
    let pose = Pose::translation(0.0, 7.0, 0.0);
    simulation.physics.teleport(ball, pose).unwrap();
    simulation.advance(FRAME, |_, _| unreachable!());
    let height = |simulation: &Simulation| simulation.moved()[0].1.translation.y;
    assert_eq!(height(&simulation), 7.0);

    let level = play(&mut simulation);
    let shot = simulation.physics.insert(body, collider);
    for _ in 0..60 {
        simulation.advance(FRAME, |_, _| ());
    }
    assert!(simulation.pose(ball).unwrap().translation.y < 4.0);

    stop(&mut simulation, level);
    simulation.advance(FRAME, |_, _| unreachable!());
    assert_eq!(height(&simulation), 7.0);
    assert_eq!(simulation.removed(), [shot]);
}

#[test]
fn a_reloaded_body_keeps_its_key_its_pose_and_its_velocity() {
    let (mut simulation, mut keys) = (Simulation::default(), BTreeMap::new());
    reload(&mut simulation.physics, &mut keys, "crate 0.5\nbarrel 0.3");
    simulation.advance(Duration::from_millis(200), |_, _| ());
    let key = keys["crate"];
    let before = simulation.physics.body(key).unwrap().clone();
    reload(&mut simulation.physics, &mut keys, "crate 1.0");
    assert_eq!((keys.len(), keys["crate"]), (1, key));
    assert_eq!(simulation.physics.bodies().count(), 1);
    let after = simulation.physics.body(key).unwrap();
    assert_eq!(after.position(), before.position());
    assert_eq!(after.linvel(), before.linvel());
    simulation.advance(Duration::from_millis(20), |_, _| ());
    assert_eq!(simulation.physics.body(key).unwrap().mass(), 8.0); // kilograms: 8 m³
}

#[test]
fn waves_are_the_same_at_every_frame_rate() {
    let run = |frames_per_second| {
        let simulation = with_floor(Rate::hz(60));
        let hook = |physics: &mut Physics, step: Step| spawn(physics, step.tick);
        at_tick(400, frames_per_second, simulation, hook, poses)
    };
    let reference = run(60);
    assert_eq!(reference.len(), 1 + 14);
    for frames_per_second in [15, 144, 1_000] {
        assert_eq!(run(frames_per_second), reference);
    }
}
