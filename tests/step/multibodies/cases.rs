//! Detached parts, and roots that change their type, in every loop.

use super::*;

#[test]
fn moving_a_detached_part_before_the_next_step_keeps_its_motion() {
    for change in CUTS {
        for length in LENGTHS {
            for when in WHENS {
                check(Scene {
                    length,
                    root: RigidBodyType::Dynamic,
                    change,
                    what: Move::None,
                    when,
                });
            }
        }
    }
}

#[test]
fn moving_a_root_of_changed_type_before_the_next_step_keeps_its_motion() {
    use RigidBodyType::{Dynamic, Fixed, KinematicPositionBased, KinematicVelocityBased};
    for (root, kind) in [
        (Dynamic, Fixed),
        (Dynamic, KinematicPositionBased),
        (Dynamic, KinematicVelocityBased),
        (Fixed, Dynamic),
        (KinematicPositionBased, Dynamic),
    ] {
        let change = Change::SetRootType(kind);
        for when in WHENS {
            check(Scene {
                length: 4,
                root,
                change,
                what: Move::None,
                when,
            });
        }
    }
}

#[test]
fn a_root_accepts_a_target_as_soon_as_it_is_kinematic() {
    for kind in [RigidBodyType::KinematicPositionBased, RigidBodyType::Fixed] {
        for when in WHENS {
            let change = Change::SetRootType(kind);
            let what = Move::KinematicTarget;
            let (poses, way) = run(Scene {
                length: 4,
                root: RigidBodyType::Dynamic,
                change,
                what,
                when,
            });
            assert!(way < 0.3, "{way} m in a frame: {when:?}");
            assert!(poses.iter().all(Pose::is_finite));
        }
    }
    for change in CUTS {
        // The root of a detached part is dynamic.
        for when in WHENS {
            run(Scene {
                length: 5,
                root: RigidBodyType::Dynamic,
                change,
                what: Move::KinematicTarget,
                when,
            });
        }
    }
}

/// A part that was cut off has no coordinates for its root until the next step. Its first coordinates are those of its
/// joints.
#[test]
fn turning_a_detached_part_leaves_its_joint_velocities_unchanged() {
    for (change, length) in CUTS
        .into_iter()
        .flat_map(|it| LENGTHS.map(|length| (it, length)))
    {
        let scene = Scene {
            length,
            root: RigidBodyType::Dynamic,
            change,
            what: Move::None,
            when: When::BetweenFrames,
        };
        let (mut simulation, mut game) = Game::start(scene);
        while simulation.physics.tick() < CUT {
            simulation.advance_with(MS(10), &mut game).unwrap();
        }
        game.act(&mut simulation.physics);
        let root = game.part()[0];
        let velocities = |simulation: &Simulation| {
            let joints = &simulation.physics.rapier().multibody_joints;
            let link = joints.rigid_body_link(simulation.physics.handle(root).unwrap());
            let multibody = joints.get_multibody(link.unwrap().multibody).unwrap();
            multibody.generalized_velocity().into_owned()
        };
        let before = velocities(&simulation);
        assert!(before.norm() > 0.01, "it moves");
        let by = pose(Vector::X, spin(0.3, 1.2, -0.4));
        simulation.physics.teleport_by(root, by).unwrap();
        assert_eq!(velocities(&simulation), before);
    }
}

#[test]
fn a_moved_detached_part_is_displayed_at_its_new_pose_at_once() {
    for change in CUTS {
        for what in MOVES {
            let when = When::BetweenFrames;
            let (mut simulation, mut game) = Game::start(Scene {
                length: 5,
                root: RigidBodyType::Dynamic,
                change,
                what,
                when,
            });
            while simulation.physics.tick() < CUT {
                simulation.advance_with(MS(10), &mut game).unwrap();
            }
            let before = game.poses(&simulation);
            game.act(&mut simulation.physics);
            advance(&mut simulation, 0);
            for (key, before) in game.part().iter().zip(before) {
                let off = simulation
                    .pose(*key)
                    .unwrap()
                    .translation
                    .distance((game.by() * before).translation);
                // A frame displays poses up to a step's motion behind.
                assert!(off < 0.1, "{off} m: {what:?} {change:?}");
            }
        }
    }
}

#[test]
fn moving_a_detached_part_in_an_overlap_keeps_its_motion() {
    for change in CUTS {
        for length in LENGTHS {
            for when in [When::BetweenFrames, When::BeforeStep, When::AfterStep] {
                let still = Scene {
                    length,
                    root: RigidBodyType::Dynamic,
                    change,
                    what: Move::None,
                    when,
                };
                let run = |scene: Scene| {
                    let (simulation, mut game) = Game::start(scene);
                    let mut overlap = Overlap::new(simulation).unwrap();
                    for frame in 0..END {
                        if when == When::BetweenFrames && frame == CUT {
                            let simulation = overlap.simulation(&mut game).unwrap();
                            let physics = &mut simulation.physics;
                            game.act(physics);
                        }
                        overlap.frame(MS(10), &mut game).unwrap();
                    }
                    let simulation = overlap.simulation(&mut game).unwrap();
                    game.poses(simulation)
                };
                let stayed = run(still);
                for what in MOVES {
                    let scene = Scene { what, ..still };
                    assert_same(&Game::start(scene).1, &run(scene), &stayed);
                }
            }
        }
    }
}

#[test]
fn a_detached_part_moved_in_a_runner_stays_in_one_piece() {
    for change in CUTS {
        for when in [When::BetweenFrames, When::BeforeStep, When::AfterStep] {
            let what = Move::TeleportBy;
            let scene = Scene {
                length: 5,
                root: RigidBodyType::Dynamic,
                change,
                what,
                when,
            };
            let poses = in_time(move || {
                let (simulation, game) = Game::start(scene);
                let mut runner = Runner::new(simulation, game, RunnerSettings::default()).unwrap();
                if when == When::BetweenFrames {
                    while runner.frame().tick() < CUT {
                        std::thread::yield_now();
                    }
                    runner
                        .call(|simulation, game| game.act(&mut simulation.physics))
                        .unwrap();
                }
                while runner.frame().tick() < END {
                    std::thread::yield_now();
                }
                let (simulation, game) = runner.stop();
                game.poses(&simulation)
            });
            assert!(poses.iter().all(Pose::is_finite));
            // A cut part moves as a whole.
            let links = poses
                .windows(2)
                .map(|ends| ends[0].translation.distance(ends[1].translation));
            for length in links {
                assert!((0.05..1.1).contains(&length), "{length} m: {scene:?}");
            }
            assert!(poses[0].translation.y < -1.0, "{:?}", poses[0].translation);
        }
    }
}
