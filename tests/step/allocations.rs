//! In the steady state, a frame allocates nothing except what Rapier's step allocates.

use allocation_counter::measure;
use evenstep::forces::ForceGenerator;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::{BodyKey, Rate, Simulation};
use scenes::testing::{ball_joint, cloth, soft_cube, spaced, vector};
use std::time::Duration;

const STEP: Duration = Duration::from_nanos(16_666_667);

/// Creates balls, of which some bounce for ever, so that there are collisions. Each ball has a generator.
fn scene() -> (Simulation, Vec<BodyKey>) {
    let mut simulation = scenes::with_floor(Rate::hz(60));
    let keys: Vec<BodyKey> = (0..200)
        .map(|i| {
            // The balls are apart along x, because a plane has no rows behind each other. Half of them soon rest, and report
            // a contact force in each step.
            let height = if i % 2 == 0 {
                2.0 + 0.01 * i as f32
            } else {
                0.2
            };
            let at = vector((i as f32 - 100.0) * 0.4, height, (i % 10) as f32 * 2.0);
            let ball = ColliderBuilder::ball(0.15)
                .restitution(1.0)
                .restitution_combine_rule(CoefficientCombineRule::Max)
                .active_events(ActiveEvents::all());
            let body = RigidBodyBuilder::dynamic().translation(at).can_sleep(false);
            simulation.physics.insert(body, ball)
        })
        .collect();
    for key in &keys {
        let drag = ForceGenerator::Drag {
            linear: 0.0,
            angular: 0.0,
        };
        simulation
            .physics
            .insert_force_generator(*key, drag)
            .unwrap();
    }
    (simulation, keys)
}

/// Runs a frame with forces, events and poses. Returns the number of its collisions.
fn frame(simulation: &mut Simulation, keys: &[BodyKey], steps: u32) -> usize {
    simulation.advance(STEP * steps, |physics, _| {
        for key in keys {
            // The two forces cancel out, so the bare world makes the same motion without them.
            physics.add_force(*key, Vector::X).unwrap();
            physics.add_force(*key, -Vector::X).unwrap();
            physics.body_mut(*key).unwrap();
        }
    });
    for (key, pose) in simulation.moved() {
        assert_eq!(simulation.pose(*key), Some(*pose));
    }
    simulation.events().collisions().count()
}

#[test]
#[cfg_attr(
    feature = "parallel",
    ignore = "on many threads the allocations of Rapier's step vary"
)]
fn a_frame_allocates_no_more_than_bare_rapier() {
    let (mut simulation, keys) = scene();
    let (mut other, _) = scene();
    let mut bare = std::mem::take(other.physics.rapier_mut());
    bare.integration_parameters.dt = simulation.clock().settings().rate().dt();
    let handles: Vec<RigidBodyHandle> = bare.bodies.iter().map(|(handle, _)| handle).collect();
    let mut step = || {
        // Rapier allocates for each `get_mut`, which adding a force calls.
        for handle in &handles[1..] {
            bare.bodies.get_mut(*handle);
        }
        bare.step();
        scenes::hash(&bare)
    };
    let mut end = 0;
    for steps in [1, 0, 5, 2].repeat(60) {
        frame(&mut simulation, &keys, steps);
        end = (0..steps).map(|_| step()).last().unwrap_or(end);
    }
    let (mut collisions, mut by_rapier) = (0, 0);
    for steps in [0, 1, 5].repeat(40) {
        let rapiers = measure(|| end = (0..steps).map(|_| step()).last().unwrap_or(end));
        let all = measure(|| collisions += frame(&mut simulation, &keys, steps));
        assert_eq!(all.count_total, rapiers.count_total, "{steps} steps");
        assert!(steps > 0 || all.count_total == 0);
        by_rapier += rapiers.count_total;
    }
    assert_eq!(
        scenes::hash(simulation.physics.rapier()),
        end,
        "the same motion"
    );
    assert!(collisions > 100 && by_rapier > 0, "{collisions} collisions");
}

#[cfg(feature = "hecs")]
#[test]
fn a_sync_with_hecs_allocates_nothing() {
    use evenstep::ecs::hecs::{Entities, RenderPose};

    let (mut simulation, keys) = scene();
    let mut world = hecs::World::new();
    let mut entities = Entities::default();
    for (i, key) in keys.iter().enumerate() {
        // Two archetypes.
        let entity = if i % 3 == 0 {
            world.spawn((i,))
        } else {
            world.spawn(())
        };
        entities
            .attach(&mut world, &mut simulation, entity, *key)
            .unwrap();
    }
    for steps in [1, 0, 5].repeat(20) {
        frame(&mut simulation, &keys, steps);
        entities.sync(&mut world, &mut simulation);
    }
    for steps in [0, 1, 5].repeat(20) {
        frame(&mut simulation, &keys, steps);
        let sync = measure(|| entities.sync(&mut world, &mut simulation));
        assert_eq!(sync.count_total, 0, "{steps} steps");
        for key in &keys {
            let entity = entities.entity(*key).unwrap();
            let shown = world.get::<&RenderPose>(entity).unwrap().0;
            assert_eq!(Some(shown), simulation.pose(*key));
        }
    }
}

/// The size that limits the states kept for a rollback is an estimate. This test bounds its error.
/// Creates chains of bodies with joints that are multibodies.
fn multibodies(chains: usize, links: usize) -> Simulation {
    let mut simulation = scenes::space(60);
    for chain in 0..chains {
        let mut last = None;
        for link in 0..links {
            let at = spaced(link as f32 * 2.0, chain as f32 * 5.0, 0.0);
            let body = RigidBodyBuilder::dynamic().translation(at);
            let key = simulation.physics.insert(body, scenes::ball());
            let handle = simulation.physics.handle(key).unwrap();
            if let Some(last) = last.replace(handle) {
                let joint = ball_joint(Vector::X * 2.0, Vector::ZERO);
                let world = simulation.physics.rapier_mut();
                world.insert_multibody_joint(last, handle, joint);
            }
        }
    }
    simulation
}

#[test]
fn the_estimated_size_of_a_state_is_within_25_percent() {
    let mut heap = scenes::with_floor(Rate::default());
    scenes::heap(&mut heap, 300);
    let mut stacks = scenes::with_floor(Rate::default());
    scenes::pile(&mut stacks, 300);
    let mut free = scenes::space(60);
    scenes::spinners(&mut free, 300);
    let everything = scenes::everything::Everything::new().simulation;
    let sleepers = {
        let mut simulation = scenes::with_floor(Rate::default());
        scenes::sleepers(&mut simulation, 300);
        simulation
    };
    let [soft, cloth] = [false, true].map(|is_cloth| {
        let mut simulation = scenes::with_floor(Rate::default());
        let at = Vector::Y * 30.0;
        let soft = if is_cloth {
            cloth(at, 2.0, 12)
        } else {
            soft_cube(at, 1.0, 8)
        };
        simulation.physics.rapier_mut().insert_soft_body(soft);
        simulation
    });
    for (name, mut simulation) in [
        ("soft cube", soft),
        ("cloth", cloth),
        ("short multibodies", multibodies(10, 3)),
        ("long multibody", multibodies(1, 30)),
        ("heap", heap),
        ("stacks", stacks),
        ("free", free),
        ("everything", everything),
        ("sleepers", sleepers),
    ] {
        for _ in 0..60 {
            simulation.advance(STEP, |_, _| ());
        }
        let copy = measure(|| std::mem::forget(simulation.clone()));
        simulation.keep(Kept {
            ticks: 1,
            ..simulation.kept()
        });
        simulation.advance(STEP, |_, _| ());
        let ratio = simulation.rewind_bytes() as f64 / copy.bytes_current as f64;
        assert!((0.75..1.25).contains(&ratio), "{name}: {ratio}");
    }
}
