//! Measures the cost of a frame with a step beyond Rapier's step, in scenes like those of Rapier's demos. The same
//! script runs on both worlds, and the cost of its calls counts on both sides.
#![allow(missing_docs, reason = "criterion's macros make functions without any")]
#![allow(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

mod compare;

use std::collections::VecDeque;
use std::time::Duration;

use compare::compare;
use criterion::{Criterion, criterion_group, criterion_main};
use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Rate, Simulation};
use scenes::testing::{ball_joint, cloth, cuboid, in_layers, on_ground, soft_cube, vector};

/// Slightly more than a step of 1/60 s, so every such frame has one step.
const STEP: Duration = Duration::from_nanos(16_666_667);

/// The number of steps before the measurement, in which falling bodies land.
const SETTLING: u64 = 120;

struct Scene {
    name: &'static str,
    /// Builds the world, and returns the bodies that the script moves.
    build: fn(&mut PhysicsWorld) -> VecDeque<RigidBodyHandle>,
    /// The script that runs before each step, for bare Rapier and for evenstep.
    bare: fn(&mut PhysicsWorld, &mut VecDeque<RigidBodyHandle>, u64),
    ours: fn(&mut Physics, &mut VecDeque<BodyKey>, u64),
}

const SCENES: [Scene; 8] = [
    Scene {
        name: "10,000 balls, of which 20 are replaced in each step",
        build: fountain,
        bare: exchange,
        ours: |physics, bodies, tick| {
            for key in bodies.drain(..20) {
                physics.remove(key);
            }
            let drops = drops(tick).map(|(body, collider)| physics.insert(body, collider));
            bodies.extend(drops);
        },
    },
    Scene {
        name: "10,000 balls, of which 20 are replaced through rapier_mut",
        build: fountain,
        bare: exchange,
        ours: |physics, bodies, tick| {
            let leaving = bodies.drain(..20).filter_map(|key| physics.handle(key));
            let mut handles: VecDeque<_> = leaving.collect();
            exchange(physics.rapier_mut(), &mut handles, tick);
            let new = handles
                .into_iter()
                .filter_map(|handle| physics.track(handle));
            bodies.extend(new);
        },
    },
    Scene {
        name: "5,000 crates, with rapier_mut in each step",
        build: |world| {
            floor(world);
            let at = |i| {
                let [x, y, z] = in_layers(i, 22).map(|n| 1.1 * n);
                vector(x - 12.0, y + 0.6, z - 12.0)
            };
            (0..5_000)
                .map(|i| {
                    world
                        .insert(awake().translation(at(i)), cuboid(0.5, 0.5, 0.5))
                        .0
                })
                .collect()
        },
        bare: push,
        ours: |physics, bodies, tick| {
            let handle = physics.handle(bodies[pushed(bodies.len(), tick)]);
            let mut handles = VecDeque::from([handle.unwrap()]);
            push(physics.rapier_mut(), &mut handles, tick);
        },
    },
    Scene {
        name: "27,000 kinematic bodies with targets",
        build: |world| {
            (0..27_000)
                .map(|i| {
                    let at = place_in_grid(i, 0);
                    let body = RigidBodyBuilder::kinematic_position_based().translation(at);
                    world.insert(body, cuboid(0.3, 0.3, 0.3)).0
                })
                .collect()
        },
        bare: |world, bodies, tick| {
            for (i, handle) in bodies.iter().enumerate() {
                world.bodies[*handle].set_next_kinematic_translation(place_in_grid(i, tick + 1));
            }
        },
        ours: |physics, bodies, tick| {
            for (i, key) in bodies.iter().enumerate() {
                let target = Pose::from_translation(place_in_grid(i, tick + 1));
                let set = physics.set_kinematic_target(*key, target, Duration::ZERO);
                set.expect("the body is kinematic");
            }
        },
    },
    Scene {
        name: "3,000 balls on voxels",
        build: |world| {
            let voxels: Vec<_> = (0..100 * 100)
                .map(|i| {
                    let (x, z) = (i % 100, i / 100);
                    IVector::new(x - 50, (x * 7 + z * 3) % 5, z - 50)
                })
                .collect();
            world.insert(
                RigidBodyBuilder::fixed(),
                ColliderBuilder::voxels(Vector::ONE, &voxels),
            );
            (0..3_000)
                .map(|i| {
                    let [x, y, z] = in_layers(i, 40);
                    world
                        .insert(
                            awake().translation(vector(x - 20.0, 8.0 + y, z - 20.0)),
                            ColliderBuilder::ball(0.4),
                        )
                        .0
                })
                .collect()
        },
        bare: nothing_to_bare,
        ours: |_, _, _| (),
    },
    Scene {
        name: "200 ropes of 20 links",
        build: |world| {
            (0..200)
                .flat_map(|i| {
                    let [x, z] = on_ground(i, 15).map(|n| 3.0 * n);
                    let link = |n: u8| {
                        RigidBodyBuilder::new(if n == 0 {
                            RigidBodyType::Fixed
                        } else {
                            RigidBodyType::Dynamic
                        })
                        .translation(vector(x + 0.5 * f32::from(n), 20.0, z))
                        .can_sleep(false)
                    };
                    let links: Vec<_> = (0..=20)
                        .map(|n| world.insert(link(n), ColliderBuilder::ball(0.2)).0)
                        .collect();
                    for ends in links.windows(2) {
                        let joint = ball_joint(Vector::X * 0.25, Vector::X * -0.25);
                        world.insert_impulse_joint(ends[0], ends[1], joint);
                    }
                    links
                })
                .collect()
        },
        bare: nothing_to_bare,
        ours: |_, _, _| (),
    },
    Scene {
        name: "2,000 bullets with CCD over a height field",
        build: |world| {
            let heights = Array2::new(
                64,
                64,
                (0..64 * 64)
                    .map(|i| ((i % 64) as f32 * 0.4).sin())
                    .collect(),
            );
            world.insert(
                RigidBodyBuilder::fixed(),
                ColliderBuilder::heightfield(heights, vector(200.0, 2.0, 200.0)),
            );
            (0..2_000)
                .map(|i| {
                    let [x, y, z] = in_layers(i, 30).map(|n| 2.0 * n);
                    let body = awake()
                        .translation(vector(x - 30.0, 6.0 + y, z - 30.0))
                        .linvel(vector(40.0, 0.0, 10.0))
                        .ccd_enabled(true);
                    world
                        .insert(body, ColliderBuilder::ball(0.2).restitution(0.8))
                        .0
                })
                .collect()
        },
        // The bullets are thrown again, one after the other.
        bare: |world, bodies, tick| {
            let handle = bodies[pushed(bodies.len(), tick)];
            world.bodies[handle].set_linvel(vector(40.0, 10.0, 10.0), true);
        },
        ours: |physics, bodies, tick| {
            let body = physics.body_mut(bodies[pushed(bodies.len(), tick)]);
            body.unwrap().set_linvel(vector(40.0, 10.0, 10.0), true);
        },
    },
    Scene {
        name: "soft bodies: 8 cubes and a cloth, and 1,000 crates",
        build: |world| {
            floor(world);
            for i in 0..8_u8 {
                let cube = soft_cube(vector(3.0 * f32::from(i) - 12.0, 3.0, -20.0), 0.8, 5);
                world.insert_soft_body(cube);
            }
            world.insert_soft_body(cloth(vector(-20.0, 4.0, -20.0), 6.0, 20));
            (0..1_000)
                .map(|i| {
                    let [x, y, z] = in_layers(i, 10).map(|n| 1.1 * n);
                    world
                        .insert(
                            awake().translation(vector(x, y + 0.6, z)),
                            cuboid(0.5, 0.5, 0.5),
                        )
                        .0
                })
                .collect()
        },
        bare: nothing_to_bare,
        ours: |_, _, _| (),
    },
];

fn nothing_to_bare(_: &mut PhysicsWorld, _: &mut VecDeque<RigidBodyHandle>, _: u64) {}

fn awake() -> RigidBodyBuilder {
    RigidBodyBuilder::dynamic().can_sleep(false)
}

fn floor(world: &mut PhysicsWorld) {
    let below = RigidBodyBuilder::fixed().translation(Vector::Y * -0.5);
    world.insert(below, cuboid(100.0, 0.5, 100.0));
}

fn fountain(world: &mut PhysicsWorld) -> VecDeque<RigidBodyHandle> {
    floor(world);
    let all = (0..500).flat_map(drops);
    all.map(|(body, collider)| world.insert(body, collider).0)
        .collect()
}

/// Removes the first twenty bodies, and inserts others.
fn exchange(world: &mut PhysicsWorld, bodies: &mut VecDeque<RigidBodyHandle>, tick: u64) {
    for handle in bodies.drain(..20) {
        world.remove_body(handle);
    }
    bodies.extend(drops(tick).map(|(body, collider)| world.insert(body, collider).0));
}

fn drops(tick: u64) -> impl Iterator<Item = (RigidBodyBuilder, ColliderBuilder)> {
    (0..20).map(move |i| drop_of(tick, i))
}

/// Returns one of the bodies that are inserted in a step, above the position of two steps ago.
fn drop_of(tick: u64, i: u8) -> (RigidBodyBuilder, ColliderBuilder) {
    let [x, z] = on_ground((tick % 625) as usize, 25).map(|n| 4.0 * n - 50.0);
    let at = vector(x + f32::from(i % 5) * 0.8, 2.0 + f32::from(i / 5), z);
    (awake().translation(at), ColliderBuilder::ball(0.35))
}

/// Returns the index of the body that is pushed before a step.
fn pushed(count: usize, tick: u64) -> usize {
    (tick % count as u64) as usize
}

fn push(world: &mut PhysicsWorld, bodies: &mut VecDeque<RigidBodyHandle>, tick: u64) {
    let handle = bodies[pushed(bodies.len(), tick)];
    world.bodies[handle].apply_impulse(Vector::X, true);
}

/// Returns the position of a body in a waving grid after this many steps.
fn place_in_grid(i: usize, tick: u64) -> Vector {
    let [x, y, z] = in_layers(i, 30).map(|n| 2.0 * n);
    vector(x, y + libm::sinf(x + tick as f32 * 0.05), z)
}

fn frames(c: &mut Criterion) {
    for scene in &SCENES {
        let mut bare = PhysicsWorld::default();
        let rate = Rate::default();
        bare.integration_parameters.dt = rate.dt();
        let mut bodies = (scene.build)(&mut bare);
        let mut theirs = PhysicsWorld::default();
        let handles = (scene.build)(&mut theirs);
        let mut simulation = Simulation::new(rate);
        simulation.physics = Physics::from_rapier(theirs);
        simulation.physics.track_all();
        let keys = handles
            .into_iter()
            .filter_map(|handle| simulation.physics.key(handle));
        let mut keys: VecDeque<_> = keys.collect();
        assert_eq!(keys.len(), bodies.len());

        let mut tick = 0;
        let mut step_bare = || {
            (scene.bare)(&mut bare, &mut bodies, tick);
            bare.step();
            tick += 1;
        };
        let mut step_ours = || {
            let frame = simulation.advance(STEP, |physics, step| {
                (scene.ours)(physics, &mut keys, step.tick);
            });
            assert_eq!(frame.steps, 1);
        };
        for _ in 0..SETTLING {
            step_bare();
            step_ours();
        }
        compare(
            c,
            scene.name,
            ("advance", step_ours),
            ("bare step", step_bare),
        );
        assert_eq!(simulation.physics.tick(), tick);
        assert!(
            scenes::hash(simulation.physics.rapier()) == scenes::hash(&bare),
            "{}",
            scene.name
        );
    }
}

criterion_group! {
    name = benches;
    config = compare::config();
    targets = frames
}
criterion_main!(benches);
