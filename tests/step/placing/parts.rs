//! Edits of one body, and of the links of a multibody.

use super::*;
use evenstep::rewind::Kept;

#[test]
fn editing_one_property_of_a_body_changes_no_other() {
    let start = || {
        let mut simulation = space(100);
        let key = tumbler(&mut simulation);
        simulation.keep(Kept {
            poses: 4,
            ..simulation.kept()
        });
        advance(&mut simulation, 56);
        (simulation, key)
    };
    let everything_of = |body: &RigidBody| {
        (
            body.translation(),
            *body.rotation(),
            body.linvel(),
            body.angvel(),
        )
    };
    let (simulation, key) = start();
    let (translation, rotation, linvel, angvel) =
        everything_of(simulation.physics.body(key).unwrap());
    let pair = (
        previous_pose(&simulation, key).unwrap(),
        current_pose(&simulation, key).unwrap(),
    );
    let turned = turned(spin(0.0, 0.2, 0.0)) * rotation;

    // Velocity edits do not change the pair of poses or the displayed pose.
    type Change = fn(&mut RigidBody);
    let velocities: [(Change, Vector, AngVector); 3] = [
        (
            |body| body.set_linvel(Vector::ZERO, true),
            Vector::ZERO,
            angvel,
        ),
        (
            |body| body.set_angvel(spin(0.0, 1.0, 0.0), true),
            linvel,
            spin(0.0, 1.0, 0.0),
        ),
        (
            |body| body.set_linvel(with_y(body.linvel(), 5.0), true),
            with_y(linvel, 5.0),
            angvel,
        ),
    ];
    for (change, linvel, angvel) in velocities {
        let (mut simulation, key) = start();
        let shown = simulation.pose(key);
        change(simulation.physics.body_mut(key).unwrap());
        advance(&mut simulation, 0);
        assert_eq!(
            (
                previous_pose(&simulation, key).unwrap(),
                current_pose(&simulation, key).unwrap()
            ),
            pair
        );
        assert_eq!(simulation.pose(key), shown);
        let now = everything_of(simulation.physics.body(key).unwrap());
        assert_eq!(now, (translation, rotation, linvel, angvel));
    }

    // Edits of a part of the pose. In the simulation, the other part is that of the true state, not of a displayed
    // pose. On the screen, the other part continues as smoothly as before.
    let (mut simulation, key) = start();
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_rotation(turned, true);
    advance(&mut simulation, 0);
    let now = everything_of(simulation.physics.body(key).unwrap());
    assert_eq!(now, (translation, turned, linvel, angvel));
    let pose = simulation.pose(key).unwrap();
    assert!(angle_between(pose.rotation, turned) < 1e-6, "{pose:?}");
    // The body was turned about its origin, which continues straight.
    let alpha = simulation.frame().alpha;
    let straight = pair.0.translation.lerp(pair.1.translation, alpha);
    assert!(
        straight.distance(translation) > 0.01,
        "the displayed pose is between two steps"
    );
    assert!(pose.translation.distance(straight) < 1e-6, "{pose:?}");

    let (mut simulation, key) = start();
    let shown = simulation.pose(key).unwrap();
    let body = simulation.physics.body_mut(key).unwrap();
    let lifted = with_y(body.translation(), 9.0);
    body.set_translation(lifted, true);
    advance(&mut simulation, 0);
    let now = everything_of(simulation.physics.body(key).unwrap());
    assert_eq!(now, (lifted, rotation, linvel, angvel));
    let pose = simulation.pose(key).unwrap();
    // The body keeps turning, about its origin.
    assert_eq!(pose.translation, lifted);
    assert!(shown.rotation != rotation);
    assert!(
        angle_between(pose.rotation, shown.rotation) < 1e-6,
        "{pose:?}"
    );
}

/// A body spins about a centre of mass beside its origin, and a frame displays it between two steps.
#[test]
fn the_unchanged_part_of_an_extrapolated_pose_continues() {
    for smoothing in [Smoothing::Extrapolate, Smoothing::Hermite] {
        let start = || {
            let mut simulation = space(60);
            simulation.smoothing = smoothing;
            let body = RigidBodyBuilder::dynamic().angvel(spin(0.0, 0.0, 5.0));
            let beside = ball().mass(1.0).translation(Vector::X * 0.3);
            let key = simulation.physics.insert(body, beside);
            advance(&mut simulation, 92);
            (simulation, key)
        };
        let (mut simulation, key) = start();
        let shown = simulation.pose(key).unwrap();
        let body = simulation.physics.body_mut(key).unwrap();
        body.set_rotation(Rotation::IDENTITY, true);
        advance(&mut simulation, 0);
        let pose = simulation.pose(key).unwrap();
        // In half a step, the curve is this far beside the straight line.
        let turn = 5.0_f32 / 60.0;
        let most = turn * turn * 0.3 / 8.0;
        let off = pose.translation.distance(shown.translation);
        assert!(off < 1.1 * most, "{smoothing:?}: {off}");
        assert!(angle_between(pose.rotation, Rotation::IDENTITY) < 1e-6);

        let (mut simulation, key) = start();
        let body = simulation.physics.body_mut(key).unwrap();
        body.set_translation(Vector::X * 5.0, true);
        advance(&mut simulation, 0);
        let pose = simulation.pose(key).unwrap();
        assert!(pose.translation.distance(Vector::X * 5.0) < 1e-5);
        assert!(angle_between(pose.rotation, shown.rotation) < 1e-5);
    }
}

#[test]
fn a_portal_to_a_position_that_is_not_finite_is_refused() {
    let mut simulation = space(60);
    let key = tumbler(&mut simulation);
    let far = translation(3e38, 0.0, 0.0);
    simulation.physics.teleport(key, far).unwrap();
    assert_eq!(
        simulation.physics.teleport_by(key, far),
        Err(BodyError::NotFinite(key))
    );
    assert_eq!(simulation.pose(key), Some(far));
    simulation.physics.shift_origin(-far.translation).unwrap();
    advance(&mut simulation, 5);
    assert!(simulation.pose(key).unwrap().is_finite());
}

#[test]
fn world_access_and_origin_shifts_count_no_body_as_teleported() {
    let mut simulation = space(100);
    let fly = || RigidBodyBuilder::dynamic().linvel(Vector::X);
    for i in 0..10u8 {
        simulation
            .physics
            .insert(fly().translation(Vector::Y * f32::from(i)), ball());
    }
    for ms in [10, 20, 30] {
        simulation.advance(MS(ms), |physics, _| {
            physics.rapier_mut();
        });
    }
    simulation.advance(MS(20), |physics, _| {
        physics.shift_origin(Vector::X).unwrap();
    });
}

#[test]
fn the_moved_list_equals_displayed_poses_after_an_origin_shift() {
    let (mut simulation, _, _) = everything();
    advance(&mut simulation, 25);
    simulation.physics.shift_origin(Vector::X * 8.0).unwrap();
    assert!(simulation.moved().len() > 30);
    for (key, pose) in simulation.moved() {
        assert_eq!(simulation.pose(*key), Some(*pose));
    }
}

#[test]
fn the_links_of_a_multibody_teleport_with_their_root() {
    for by_hand in [false, true] {
        let mut simulation = space(100);
        let keys = chain(&mut simulation, 5, RigidBodyBuilder::dynamic());
        advance(&mut simulation, 255);
        let [before, after] =
            [keys[0], keys[4]].map(|key| simulation.physics.body(key).unwrap().position());
        let relative = before.inverse() * *after;
        let to = pose(vector(0.0, 300.0, 7.0), of_root(spin(1.0, 0.0, 0.0)));
        if by_hand {
            let root = simulation.physics.body_mut(keys[0]).unwrap();
            root.set_position(to, true);
            advance(&mut simulation, 1); // no step
        } else {
            simulation.physics.teleport(keys[0], to).unwrap();
            advance(&mut simulation, 0);
        }
        let shown = simulation.pose(keys[4]).unwrap();
        assert!(shown.translation.distance((to * relative).translation) < 1e-3);
        let mut last: Vec<Pose> = keys
            .iter()
            .map(|key| simulation.pose(*key).unwrap())
            .collect();
        for ms in [1, 10, 4] {
            advance(&mut simulation, ms);
            for (key, last) in keys.iter().zip(&mut last) {
                let shown = simulation.pose(*key).unwrap();
                let way = shown.translation.distance(last.translation);
                assert!(way < 0.2, "{way} m in a frame, by hand {by_hand}");
                *last = shown;
            }
        }
    }
}

#[test]
fn a_multibody_passes_a_portal_intact_and_keeps_its_motion() {
    for root in [RigidBodyBuilder::dynamic(), RigidBodyBuilder::fixed()] {
        let run = |by: Option<Pose>| {
            let mut simulation = space(100);
            let keys = chain(&mut simulation, 4, root.clone());
            advance(&mut simulation, 105);
            if let Some(by) = by {
                simulation.physics.teleport_by(keys[0], by).unwrap();
            }
            let mut shown = Vec::new();
            for _ in 0..40 {
                advance(&mut simulation, 7);
                shown.extend(keys.iter().map(|key| simulation.pose(*key).unwrap()));
            }
            let way = shown[1]
                .translation
                .distance(shown[keys.len() * 39 + 1].translation);
            assert!(way > 0.02, "it moves: {way} m");
            shown
        };
        let by = pose(vector(4.0, -3.0, 8.0), of_root(spin(0.0, 1.2, 0.0)));
        for (through, stayed) in run(Some(by)).into_iter().zip(run(None)) {
            let off = through.translation.distance((by * stayed).translation);
            assert!(off < 2e-3, "{off} m");
        }
    }
}

#[test]
fn teleporting_a_link_or_a_soft_body_frame_is_refused() {
    let mut simulation = space(100);
    let keys = chain(&mut simulation, 3, RigidBodyBuilder::dynamic());
    let cloth = cloth(Vector::Y * 9.0, 1.0, 4);
    let physics = simulation.physics.rapier_mut();
    let cloth = physics.insert_soft_body(cloth);
    physics.add_soft_body_cluster(cloth, &[0, 1, 2, 3]).unwrap();
    let is_frame = |body: &RigidBody| body.body_type() == RigidBodyType::SoftFrame;
    let frame = physics.rigid_bodies().find(|(_, body)| is_frame(body));
    let (frame, _) = frame.expect("the cluster has a frame");
    let frame = simulation.physics.track(frame).unwrap();
    for key in [keys[1], keys[2], frame] {
        let before = *simulation.physics.body(key).unwrap().position();
        let to = translation(5.0, 5.0, 5.0);
        assert_eq!(
            simulation.physics.teleport(key, to),
            Err(BodyError::Dependent(key))
        );
        assert_eq!(
            simulation.physics.teleport_by(key, to),
            Err(BodyError::Dependent(key))
        );
        assert_eq!(*simulation.physics.body(key).unwrap().position(), before);
    }
}

/// Rapier panics in a step of such a multibody, and when its links are moved.
#[test]
fn teleporting_a_root_with_a_link_that_is_not_dynamic_is_refused() {
    let to = translation(5.0, 5.0, 5.0);
    for root in [RigidBodyBuilder::dynamic(), RigidBodyBuilder::fixed()] {
        for kind in [
            RigidBodyType::Fixed,
            RigidBodyType::KinematicPositionBased,
            RigidBodyType::KinematicVelocityBased,
        ] {
            let mut simulation = space(100);
            let keys = chain(&mut simulation, 4, root.clone());
            for steps in [0, 3] {
                advance(&mut simulation, steps * 10);
                let set_type = |simulation: &mut Simulation, kind| {
                    let link = simulation.physics.body_mut(keys[2]).unwrap();
                    link.set_body_type(kind, true);
                };
                let poses = |simulation: &Simulation| -> Vec<Pose> {
                    let bodies = keys
                        .iter()
                        .map(|key| simulation.physics.body(*key).unwrap());
                    bodies.map(|body| *body.position()).collect()
                };
                set_type(&mut simulation, kind);
                let before = poses(&simulation);
                let refused = Err(BodyError::LinkNotDynamic(keys[0]));
                assert_eq!(simulation.physics.teleport(keys[0], to), refused);
                assert_eq!(simulation.physics.teleport_by(keys[0], to), refused);
                assert_eq!(poses(&simulation), before);
                set_type(&mut simulation, RigidBodyType::Dynamic);
                simulation.physics.teleport_by(keys[0], to).unwrap();
                assert_ne!(poses(&simulation), before);
                simulation.physics.teleport(keys[0], to).unwrap();
                assert_eq!(poses(&simulation)[0], to);
            }
            advance(&mut simulation, 30);
        }
    }
}

#[test]
fn teleports_and_targets_normalise_or_refuse_a_rotation() {
    let mut simulation = space(100);
    let key = tumbler(&mut simulation);
    let lift = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let once = turned(spin(0.0, 1.0, 0.0));
    let long = Pose::from_parts(Vector::X, scaled(once, 7.0));
    let none = Pose::from_parts(Vector::X, scaled(once, 0.0));
    let before = simulation.pose(key);
    assert_eq!(
        simulation.physics.teleport(key, none),
        Err(BodyError::NotARotation(key))
    );
    assert_eq!(
        simulation.physics.teleport_by(key, none),
        Err(BodyError::NotARotation(key))
    );
    let target = simulation.physics.set_kinematic_target(lift, none, MS(50));
    assert_eq!(target, Err(BodyError::NotARotation(lift)));
    assert_eq!(simulation.pose(key), before);

    simulation
        .physics
        .set_kinematic_target(lift, long, MS(50))
        .unwrap();
    simulation.physics.teleport(key, long).unwrap();
    assert!(angle_between(simulation.pose(key).unwrap().rotation, once) < 1e-6);
    simulation.physics.teleport_by(key, long).unwrap();
    advance(&mut simulation, 50);
    let twice = turned(spin(0.0, 2.0, 0.0));
    for (key, rotation) in [(lift, once), (key, twice)] {
        let body = simulation.physics.body(key).unwrap();
        assert!(body.is_enabled() && body.rotation().is_normalized());
        assert!(key != lift || angle_between(*body.rotation(), rotation) < 1e-6);
    }
}

/// Returns the pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// Returns the pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}

fn with_y(mut vector: Vector, y: f32) -> Vector {
    vector.y = y;
    vector
}
