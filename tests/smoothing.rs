//! What is shown between two states, and beyond the last one, against the true motion.

mod scenes;

use crate::scenes::testing::{
    angle_between, cuboid, integrated, length, pose, rotation_numbers, spin, translation, turned,
    vector, with_minus_zeros,
};
use evenstep::rapier::prelude::*;
use evenstep::{
    BodyError, BodyKey, ForceGenerator, Physics, Simulation, Smoothing, Wrench, interpolate,
};
use scenes::{MS, advance, ball, shown_x, space};
use std::time::Duration;

// About the centre of mass.

/// A body whose mass is 1 m from its origin, flying along x and turning fast.
fn thrown_hammer(simulation: &mut Simulation) -> BodyKey {
    simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .linvel(Vector::X * 5.0)
            .angvel(spin(0.0, 0.0, 6.0)),
        ColliderBuilder::ball(0.1).translation(Vector::X),
    )
}

#[test]
fn a_spinner_s_centre_of_mass_goes_straight() {
    let mut simulation = space(10);
    let key = thrown_hammer(&mut simulation);
    let (mut ours, mut naive) = (0.0f32, 0.0f32);
    for _ in 0..200 {
        let frame = advance(&mut simulation, 7);
        if frame.tick < 2 {
            continue; // The way of the first step begins before Rapier knows the mass.
        }
        // On a straight line through the first centre of mass, whatever the spin.
        let off = |pose: Pose| (pose * Vector::X).y.abs();
        let (previous, current) = (
            previous_pose(&simulation, key),
            current_pose(&simulation, key),
        );
        let naive_pose = interpolate(&previous.unwrap(), &current.unwrap(), frame.alpha);
        ours = ours.max(off(simulation.pose(key).unwrap()));
        naive = naive.max(off(naive_pose));
    }
    assert!(ours < 1e-5, "{ours} m off the line");
    // Blending the origin cuts the corner that the centre is in: r (1 − cos θ/2), 4.4 cm for 0.6 rad.
    assert!((0.03..0.06).contains(&naive), "{naive} m");
}

#[test]
fn the_first_step_of_a_spinner_goes_straight_too() {
    let mut simulation = space(10);
    let key = thrown_hammer(&mut simulation);
    for _ in 0..14 {
        advance(&mut simulation, 14);
        let center = simulation.pose(key).unwrap() * Vector::X;
        assert!(center.y.abs() < 1e-6, "{center}");
    }
    assert_eq!(simulation.physics.tick(), 1);
}

#[test]
fn a_mass_that_moves_is_noticed() {
    // A second collider, by us and through Rapier, puts the centre of mass elsewhere.
    for through_rapier in [false, true] {
        let mut simulation = space(10);
        let spin = RigidBodyBuilder::dynamic().angvel(spin(0.0, 0.0, 6.0));
        let key = simulation.physics.insert(spin, ball());
        advance(&mut simulation, 950);
        let other = ColliderBuilder::ball(0.1).translation(Vector::X * 2.0);
        if through_rapier {
            let handle = simulation.physics.handle(key);
            simulation
                .physics
                .rapier_mut()
                .insert_collider(other, handle);
        } else {
            simulation.physics.insert_collider(key, other).unwrap();
        }
        advance(&mut simulation, 300);
        let center = simulation.physics.body(key).unwrap().local_center_of_mass();
        assert!((center - Vector::X).length() < 1e-6);
        let before = simulation.pose(key).unwrap() * center;
        for _ in 0..20 {
            advance(&mut simulation, 14);
            let now = simulation.pose(key).unwrap() * center;
            let velocity = simulation.physics.body(key).unwrap().linvel();
            let off = (now - before)
                .reject_from(velocity.normalize_or(Vector::X))
                .length();
            assert!(off < 1e-5, "{off} m off its line, by {through_rapier}");
        }
    }
}

#[test]
fn a_door_is_led_by_its_hinge() {
    let mut simulation = space(10);
    let door = simulation.physics.insert(
        RigidBodyBuilder::kinematic_position_based(),
        cuboid(0.5, 1.0, 0.05).translation(Vector::X * 0.5),
    );
    for _ in 0..100 {
        simulation.advance(MS(13), |physics, step| {
            let next = turned(spin(0.0, 0.5 * (step.tick + 1) as f32, 0.0));
            let body = physics.body_mut(door).unwrap();
            body.set_next_kinematic_rotation(next);
        });
        let hinge = simulation.pose(door).unwrap().translation;
        assert!(hinge.length() < 1e-7, "{hinge}");
    }
}

// Extrapolation.

#[test]
fn extrapolation_is_within_its_bound() {
    let mut simulation = space(60);
    simulation.physics.rapier_mut().gravity = Vector::Y * -9.81;
    simulation.smoothing = Smoothing::Extrapolate;
    let key = simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .linvel(vector(3.0, 8.0, 0.0))
            .angvel(spin(0.0, 7.0, 2.0)),
        cuboid(0.1, 0.2, 0.3).translation(vector(0.0, 0.0, 0.2)),
    );
    let dt = 1.0 / 60.0;
    let mut worst = 0.0f32;
    let mut shown: Option<(Pose, f32)> = None;
    let mut last = simulation.pose(key).unwrap();
    for frame in 0..400 {
        let done = advance(&mut simulation, 3);
        let body = simulation.physics.body(key).unwrap();
        // When the step is made it shows how far off the last frame before it was.
        if let Some((pose, alpha)) = shown.filter(|_| done.steps == 1 && frame > 20) {
            let center = body.local_center_of_mass();
            let previous = last * center;
            let truth = previous + (body.position() * center - previous) * alpha;
            worst = worst.max((pose * center - truth).length());
        }
        let (pose, current) = (simulation.pose(key).unwrap(), body.position());
        let gone = pose * body.local_center_of_mass() - body.center_of_mass();
        assert!(gone.length() <= body.linvel().length() * dt);
        assert!(angle_between(pose.rotation, current.rotation) <= length(body.angvel()) * dt);
        shown = Some((pose, done.alpha));
        last = *current;
    }
    let bound = 9.81 * dt * dt;
    assert!(worst <= bound * 1.01, "{worst} m, the bound is {bound}");
    assert!(worst > bound * 0.5, "{worst} m: nothing was extrapolated");
}

#[test]
fn an_extrapolated_body_goes_through_the_floor_by_less_than_a_step_s_way() {
    let mut simulation = scenes::with_floor(evenstep::Rate::hz(60).unwrap());
    simulation.smoothing = Smoothing::Extrapolate;
    let falling = RigidBodyBuilder::dynamic().translation(Vector::Y * 5.0);
    let key = simulation
        .physics
        .insert(falling, ColliderBuilder::ball(0.5));
    let mut through = 0.0f32;
    for _ in 0..300 {
        advance(&mut simulation, 5);
        let truth = current_pose(&simulation, key).unwrap().translation.y;
        through = through.max(truth - simulation.pose(key).unwrap().translation.y);
    }
    let way = (2.0 * 9.81 * 4.5f32).sqrt() / 60.0;
    assert!(
        (0.5 * way..way).contains(&through),
        "{through} m of {way} m"
    );
}

// Hermite.

/// A ball on a circle of 1 m, once a second, at ten steps a second; where it truly is at a time.
fn on_a_circle(simulation: &mut Simulation, smoothing: Smoothing) -> BodyKey {
    simulation.smoothing = smoothing;
    let rate = std::f32::consts::TAU;
    let key = simulation.physics.insert(
        RigidBodyBuilder::dynamic()
            .translation(Vector::X)
            .linvel(Vector::Y * rate),
        ColliderBuilder::ball(0.1).mass(1.0),
    );
    let to_the_middle = ForceGenerator::custom(move |body, _| Wrench {
        force: body.translation() * -rate * rate,
        ..Wrench::default()
    });
    simulation
        .physics
        .insert_force_generator(key, to_the_middle)
        .unwrap();
    key
}

/// The largest change of the shown velocity from one frame of a millisecond to the next: m/s.
fn corners(smoothing: Smoothing) -> f32 {
    let mut simulation = space(10);
    let key = on_a_circle(&mut simulation, smoothing);
    advance(&mut simulation, 240);
    let mut at = Vec::new();
    for _ in 0..700 {
        advance(&mut simulation, 1);
        at.push(simulation.pose(key).unwrap().translation);
    }
    let velocities: Vec<Vector> = at
        .windows(2)
        .map(|pair| (pair[1] - pair[0]) * 1e3)
        .collect();
    let changes = velocities
        .windows(2)
        .map(|pair| (pair[1] - pair[0]).length());
    changes.fold(0.0, f32::max)
}

#[test]
fn hermite_has_no_corners() {
    let (straight, curved) = (corners(Smoothing::Interpolate), corners(Smoothing::Hermite));
    // The velocity changes at each state by what the force makes of it, or over a hundred frames.
    assert!(
        (3.0..8.0).contains(&straight),
        "{straight} m/s, {curved} m/s"
    );
    assert!(curved < straight / 20.0, "{curved} m/s against {straight}");
}

#[test]
fn hermite_shows_the_states_and_keeps_to_the_shorter_of_their_ways() {
    let mut simulation = space(10);
    simulation.smoothing = Smoothing::Hermite;
    let key = thrown_hammer(&mut simulation);
    advance(&mut simulation, 500);
    let (tick, pair) = (
        simulation.physics.tick(),
        (
            previous_pose(&simulation, key),
            current_pose(&simulation, key),
        ),
    );
    assert_eq!(simulation.pose_at(key, tick, 0.0), pair.0);
    assert_eq!(simulation.pose_at(key, tick, 1.0), pair.1);
    for alpha in [0.1, 0.5, 0.9] {
        let hermite = simulation.pose_at(key, tick, alpha).unwrap();
        let straight = interpolate(&pair.0.unwrap(), &pair.1.unwrap(), alpha);
        // Rapier turns by atan(x) for x: a hundredth less than the velocity says.
        let apart = angle_between(hermite.rotation, straight.rotation);
        assert!(apart < 0.01, "{apart} rad from the even turn at {alpha}");
        assert!((hermite * Vector::X).y.abs() < 1e-5);
        assert!((hermite.rotation.length() - 1.0).abs() < 4e-7);
    }
}

#[test]
fn more_than_half_a_turn_in_a_step_comes_out_right() {
    for turns in [0.3, -0.6, 0.9, 1.4f32] {
        // What Rapier makes of it, in four parts.
        let whole = std::f32::consts::TAU;
        let made = 4.0 * integrated(0.25 * turns * whole) / whole;
        if (turns - made).abs() > 0.5 {
            continue; // which way the rest of it was is not to be seen
        }
        let mut simulation = space(10);
        let key = simulation.physics.insert(
            RigidBodyBuilder::dynamic()
                .angvel(spin(0.0, 0.0, turns * std::f32::consts::TAU * 10.0))
                .allow_fast_rotation(true),
            ball(),
        );
        let smoothing = Some(Smoothing::Hermite);
        simulation
            .physics
            .set_body_smoothing(key, smoothing)
            .unwrap();
        advance(&mut simulation, 100);
        let start = previous_pose(&simulation, key).unwrap().rotation;
        let mut turned = 0.0;
        let mut last = start;
        for i in 1..=100u8 {
            let alpha = f32::from(i) / 100.0;
            let rotation = simulation.pose_at(key, 1, alpha).unwrap().rotation;
            // Forward by a small angle, each time.
            let step = angle_between(last, rotation) / std::f32::consts::TAU;
            assert!(step < 0.02, "{step} turns at {alpha}");
            turned += step * turns.signum();
            last = rotation;
            let off = turned - alpha * made;
            assert!(
                off.abs() < 0.1 * turns.abs(),
                "{off} of {turns} turns at {alpha}"
            );
        }
        assert!((turned - made).abs() < 1e-3, "{turned} of {made} turns");
    }
}

#[test]
fn a_body_that_was_set_too_fast_is_shown_as_fast_as_rapier_lets_it_go() {
    let mut simulation = space(10);
    simulation.smoothing = Smoothing::Hermite;
    let too_fast = RigidBodyBuilder::dynamic()
        .linvel(Vector::X * 1e4)
        .angvel(spin(0.0, 0.0, 60.0));
    let key = simulation.physics.insert(too_fast, ball());
    advance(&mut simulation, 100);
    let (start, end) = (
        previous_pose(&simulation, key),
        current_pose(&simulation, key),
    );
    let (start, end) = (start.unwrap(), end.unwrap());
    for alpha in [0.25, 0.5, 0.75] {
        let shown = simulation.pose_at(key, 1, alpha).unwrap();
        let even = interpolate(&start, &end, alpha);
        let off = (shown.translation - even.translation).length();
        assert!(off < 1e-3 * end.translation.x, "{off} m at {alpha}");
        let off = angle_between(shown.rotation, even.rotation);
        assert!(off < 0.02, "{off} rad at {alpha}");
    }
}

// Changes of the smoothing.

#[test]
fn a_change_of_the_smoothing_makes_no_jump() {
    use Smoothing::{Extrapolate, Hermite, Interpolate, Latest};
    for (from, to) in [
        (Interpolate, Hermite),
        (Hermite, Interpolate),
        (Interpolate, Extrapolate),
        (Extrapolate, Latest),
        (Latest, Hermite),
    ] {
        for one in [false, true] {
            let mut simulation = space(10);
            simulation.smoothing = from;
            let key = thrown_hammer(&mut simulation);
            advance(&mut simulation, 240);
            let pair = (
                previous_pose(&simulation, key),
                current_pose(&simulation, key),
            );
            let shown = simulation.pose(key);
            if one {
                simulation
                    .physics
                    .set_body_smoothing(key, Some(to))
                    .unwrap();
            } else {
                simulation.smoothing = to;
                assert_eq!(simulation.smoothing, to);
            }
            advance(&mut simulation, 0);
            assert_eq!(
                pair,
                (
                    previous_pose(&simulation, key),
                    current_pose(&simulation, key)
                )
            );
            assert_eq!(simulation.pose(key), shown, "{from:?} to {to:?}");
            // From the next step on as if it had always been so.
            advance(&mut simulation, 90);
            let mut other = space(10);
            other.smoothing = to;
            let twin = thrown_hammer(&mut other);
            advance(&mut other, 240);
            advance(&mut other, 90);
            assert_eq!(simulation.pose(key), other.pose(twin), "{from:?} to {to:?}");
        }
    }
}

#[test]
fn a_change_skips_no_more_than_the_latency_that_changes() {
    use Smoothing::{Extrapolate, Hermite, Interpolate};
    // 10 m/s, a step of 0.1 m, a frame of 0.04 m; what is skipped beside that in any frame.
    for (from, to, skipped) in [
        (Interpolate, Hermite, 0.0),
        (Hermite, Interpolate, 0.0),
        (Interpolate, Extrapolate, 0.1),
        (Extrapolate, Interpolate, -0.1),
    ] {
        let mut simulation = space(100);
        simulation.smoothing = from;
        let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
        let key = simulation.physics.insert(fly, ball());
        advance(&mut simulation, 101);
        simulation.smoothing = to;
        let mut last = shown_x(&simulation, key);
        let mut sum = 0.0;
        for _ in 0..20 {
            advance(&mut simulation, 4);
            let off = shown_x(&simulation, key) - last - 0.04;
            assert!(off.abs() < 1e-4 || (off - skipped).abs() < 1e-4, "{off} m");
            sum += off;
            last = shown_x(&simulation, key);
        }
        assert!((sum - skipped).abs() < 1e-3, "{from:?} to {to:?}: {sum} m");
    }
}

#[test]
fn one_body_s_smoothing_is_its_own() {
    let mut simulation = space(10);
    simulation.smoothing = Smoothing::Latest;
    let fly = || RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let [one, other] = [(); 2].map(|()| simulation.physics.insert(fly(), ball()));
    let smoothing = Some(Smoothing::Extrapolate);
    simulation
        .physics
        .set_body_smoothing(one, smoothing)
        .unwrap();
    let frame = advance(&mut simulation, 250);
    assert!((shown_x(&simulation, one) - 2.5).abs() < 1e-5);
    assert!((shown_x(&simulation, other) - 2.0).abs() < 1e-5);
    assert_eq!((frame.poses.extrapolated, frame.poses.movers), (1, 2));
    // It is kept while the body sleeps.
    for key in [one, other] {
        simulation.physics.body_mut(key).unwrap().sleep();
    }
    for _ in 0..5 {
        advance(&mut simulation, 100);
    }
    assert_eq!(simulation.frame().poses.movers, 0);
    for key in [one, other] {
        simulation
            .physics
            .body_mut(key)
            .unwrap()
            .set_linvel(Vector::X, true);
    }
    let frame = advance(&mut simulation, 130);
    assert_eq!(frame.poses.extrapolated, 1);
    simulation.physics.set_body_smoothing(one, None).unwrap();
    let frame = advance(&mut simulation, 100);
    assert_eq!(frame.poses.extrapolated, 0);
    assert_eq!(simulation.pose(one), current_pose(&simulation, one));
    simulation.physics.remove(one);
    assert_eq!(
        simulation.physics.set_body_smoothing(one, None),
        Err(BodyError::Gone(one))
    );
}

// Spawned already moving.

#[test]
fn a_primed_body_moves_from_its_first_frame_on() {
    let mut simulation = space(100);
    advance(&mut simulation, 14);
    let muzzle = translation(7.0, 0.0, 0.0);
    let bullet = || {
        RigidBodyBuilder::dynamic()
            .pose(muzzle)
            .linvel(Vector::X * 100.0)
    };
    let key = simulation.physics.insert(bullet(), ball());
    let unprimed = simulation.physics.insert(bullet(), ball());
    simulation.physics.set_previous_from_velocity(key).unwrap();
    assert_eq!(current_pose(&simulation, key), Some(muzzle));
    let mut shown = Vec::new();
    for i in 0..30 {
        // In a frame of 2 ms it flies 0.2 m.
        let frame = advance(&mut simulation, 2);
        assert_eq!(frame.poses.set_from_velocity, usize::from(i == 0));
        shown.push(shown_x(&simulation, key));
        if frame.tick == 1 {
            assert_eq!(shown_x(&simulation, unprimed), 7.0);
        }
    }
    assert!((shown[0] - 6.6).abs() < 1e-5, "{}", shown[0]);
    for pair in shown.windows(2) {
        assert!((pair[1] - pair[0] - 0.2).abs() < 1e-5, "{pair:?}");
    }
    simulation.physics.remove(key);
    assert_eq!(
        simulation.physics.set_previous_from_velocity(key),
        Err(BodyError::Gone(key))
    );
}

#[test]
fn a_primed_spinner_goes_straight_about_its_centre_of_mass() {
    let mut simulation = space(10);
    let key = thrown_hammer(&mut simulation);
    simulation.physics.set_previous_from_velocity(key).unwrap();
    for i in 1..=20u8 {
        advance(&mut simulation, 14);
        let center = simulation.pose(key).unwrap() * Vector::X;
        // It was at (1, 0) when it was thrown, is shown a step of 0.5 m behind, and flies at 5 m/s.
        let expected = 0.5 + 0.07 * f32::from(i);
        assert!(center.y.abs() < 1e-5, "{center}");
        assert!(
            (center.x - expected).abs() < 1e-4,
            "{center}, not {expected}"
        );
    }
}

#[test]
fn priming_a_body_with_a_bad_velocity_does_nothing() {
    let mut simulation = space(10);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linvel(Vector::NAN), ball());
    simulation.physics.set_previous_from_velocity(key).unwrap();
    advance(&mut simulation, 5);
    assert_eq!(simulation.pose(key), Some(Pose::IDENTITY));
}

// Attachments.

#[test]
fn a_collider_is_shown_with_its_body() {
    let mut simulation = space(10);
    let key = thrown_hammer(&mut simulation);
    let place = pose(vector(0.0, 2.0, 1.0), spin(0.4, 0.0, 0.0));
    let collider = simulation
        .physics
        .insert_collider(key, ball().position(place))
        .unwrap();
    let alone = translation(1.0, 2.0, 3.0);
    let bodiless = simulation
        .physics
        .rapier_mut()
        .insert_collider(ball().position(alone), None);
    let stranger = simulation
        .physics
        .rapier_mut()
        .insert_body(RigidBodyBuilder::dynamic());
    let of_stranger = simulation
        .physics
        .rapier_mut()
        .insert_collider(ball(), Some(stranger));
    for _ in 0..30 {
        advance(&mut simulation, 13);
        let pose = simulation.pose(key).unwrap();
        assert_eq!(simulation.collider_pose(collider), Some(pose * place));
    }
    assert_eq!(simulation.collider_pose(bodiless), Some(alone));
    assert_eq!(simulation.collider_pose(of_stranger), None);
    simulation.physics.remove(key);
    assert_eq!(simulation.collider_pose(collider), None);
}

#[test]
fn a_camera_that_follows_a_body_does_not_shake() {
    // 60 steps and 144 frames a second, 12 m/s: 83.3 mm in each frame.
    let mut simulation = space(60);
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 12.0);
    let key = simulation.physics.insert(fly, ball());
    let seat = vector(-0.3, 1.2, 0.0);
    let mut last = f64::from((simulation.pose(key).unwrap() * seat).x);
    let frame_time = Duration::from_secs(1) / 144;
    for frame in 0..720 {
        simulation.advance(frame_time, |_, _| ());
        let now = f64::from((simulation.pose(key).unwrap() * seat).x);
        if frame > 4 {
            let off = (now - last) - 12.0 * frame_time.as_secs_f64();
            // Rapier adds the steps up in f32: a spacing of f32 at this distance for each state.
            let spacing = now.abs().max(1.0) * f64::from(f32::EPSILON);
            assert!(off.abs() <= 2.0 * spacing, "{off} m in frame {frame}");
        }
        last = now;
    }
    assert!(last > 50.0);
}

// What a host is left with.

#[test]
fn what_was_told_last_is_what_is_shown_whatever_stops_a_body() {
    let stops: [fn(&mut RigidBody); 3] = [
        |body| body.set_enabled(false),
        |body| body.sleep(),
        |body| body.set_body_type(RigidBodyType::Fixed, true),
    ];
    for stop in stops {
        for smoothing in [Smoothing::Extrapolate, Smoothing::Hermite] {
            let mut simulation = space(100);
            simulation.smoothing = smoothing;
            let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
            let key = simulation.physics.insert(fly, ball());
            let mut told = None;
            for i in 0..20 {
                if i == 9 {
                    stop(simulation.physics.body_mut(key).unwrap());
                }
                advance(&mut simulation, 15);
                for (_, pose) in simulation.moved() {
                    told = Some(*pose);
                }
                assert_eq!(told, simulation.pose(key), "frame {i}");
            }
            assert_eq!(
                told,
                Some(*simulation.physics.body(key).unwrap().position())
            );
        }
    }
}

#[test]
fn a_body_whose_mass_is_not_a_number_is_shown_where_it_was() {
    let mut simulation = space(100);
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let key = simulation.physics.insert(fly, ball());
    advance(&mut simulation, 25);
    simulation
        .physics
        .insert_collider(key, ball().density(f32::NAN))
        .unwrap();
    for ms in [3, 13, 13, 4] {
        advance(&mut simulation, ms);
        assert!(simulation.pose(key).unwrap().is_finite());
        assert!(simulation.moved().iter().all(|(_, pose)| pose.is_finite()));
    }
    assert!(!simulation.physics.body(key).unwrap().is_enabled());
}

#[test]
fn an_extrapolated_body_that_was_put_elsewhere_stands_until_the_next_step() {
    let mut simulation = space(100);
    simulation.smoothing = Smoothing::Extrapolate;
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let key = simulation.physics.insert(fly, ball());
    advance(&mut simulation, 105);
    let there = translation(50.0, 0.0, 0.0);
    simulation.physics.teleport(key, there).unwrap();
    simulation
        .physics
        .body_mut(key)
        .unwrap()
        .set_linvel(Vector::ZERO, true);
    for _ in 0..5 {
        advance(&mut simulation, 4);
        assert_eq!(simulation.pose(key), Some(there));
    }
}

#[test]
fn hermite_starts_with_the_speed_that_a_body_was_inserted_with() {
    // With and without a frame between the insertion and the first step, and a sleeper that is pushed.
    for wait in [0, 4] {
        let mut simulation = space(100);
        simulation.smoothing = Smoothing::Hermite;
        let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
        let key = simulation.physics.insert(fly, ball());
        let sleeper = RigidBodyBuilder::dynamic()
            .translation(Vector::Y * 5.0)
            .sleeping(true);
        let sleeper = simulation.physics.insert(sleeper, ball().mass(1.0));
        for _ in 0..3 {
            advance(&mut simulation, 10);
        }
        simulation.physics.body_mut(key).unwrap().sleep();
        for _ in 0..3 {
            advance(&mut simulation, 10);
        }
        assert_eq!(simulation.frame().poses.movers, 0);
        let start = shown_x(&simulation, key);
        simulation
            .physics
            .body_mut(key)
            .unwrap()
            .set_linvel(Vector::X * 100.0, true);
        simulation
            .physics
            .apply_impulse(sleeper, Vector::X * 100.0)
            .unwrap();
        let new = RigidBodyBuilder::dynamic()
            .translation(Vector::Y * -5.0)
            .linvel(Vector::X * 100.0);
        let new = simulation.physics.insert(new, ball());
        advance(&mut simulation, wait);
        advance(&mut simulation, 15 - wait);
        for (key, start) in [(key, start), (sleeper, 0.0), (new, 0.0)] {
            let way = shown_x(&simulation, key) - start;
            assert!((way - 0.5).abs() < 1e-4, "{way} m of 0.5 m after {wait} ms");
        }
    }
}

#[test]
fn hermite_starts_with_the_velocity_that_a_sleeper_was_given_through_rapier() {
    type Access = fn(&mut Physics, BodyKey) -> &mut RigidBody;
    let body_mut: Access = |physics, key| physics.body_mut(key).unwrap();
    let rapier_mut: Access = |physics, key| {
        let handle = physics.handle(key).unwrap();
        &mut physics.rapier_mut().bodies[handle]
    };
    let rapier_mut_for: Access = |physics, key| {
        let handle = physics.handle(key).unwrap();
        &mut physics.rapier_mut_for(&[key]).bodies[handle]
    };
    let check = |access: Access, in_hook: bool, resimulates: bool| {
        let mut simulation = space(100);
        simulation.smoothing = Smoothing::Hermite;
        simulation.set_rewind_limits(10, usize::MAX);
        let sleeper = RigidBodyBuilder::dynamic()
            .linear_damping(60.0)
            .sleeping(true);
        let key = simulation.physics.insert(sleeper, ball());
        let push = |physics: &mut Physics| access(physics, key).set_linvel(Vector::X, true);
        simulation.advance(MS(50), |_, _| ());
        if !in_hook {
            push(&mut simulation.physics);
        }
        let hook = |physics: &mut Physics, step: evenstep::Step| {
            if in_hook && step.tick == 5 {
                push(physics);
            }
        };
        simulation.advance(MS(13), hook);
        if resimulates {
            simulation.resimulate(5, hook).unwrap();
            simulation.advance(Duration::ZERO, hook);
        }
        assert_eq!(simulation.physics.tick(), 6);
        // The cubic curve from 0 at 1 m/s to the end of the step of 10 ms.
        let body = simulation.physics.body(key).unwrap();
        let (a, end, speed) = (
            simulation.frame().alpha,
            body.translation().x,
            body.linvel().x,
        );
        let expected = end * (3.0 * a * a - 2.0 * a * a * a)
            + 0.01 * (a - 2.0 * a * a + a * a * a)
            + 0.01 * speed * (a * a * a - a * a);
        let x = shown_x(&simulation, key);
        assert!(
            speed < 0.9 && (x - expected).abs() < 1e-6,
            "{x} for {expected}"
        );
    };
    for access in [body_mut, rapier_mut, rapier_mut_for] {
        check(access, false, false);
        check(access, true, false);
        check(access, true, true);
    }
}

#[test]
fn what_is_at_rest_is_still_and_costs_nothing_whatever_the_smoothing() {
    use Smoothing::{Extrapolate, Hermite, Interpolate, Latest};
    for smoothing in [Interpolate, Hermite, Extrapolate, Latest] {
        let mut simulation = space(100);
        simulation.smoothing = smoothing;
        // Some of them turned so that arithmetic with it rounds.
        let keys: Vec<BodyKey> = (0..20u8)
            .map(|i| {
                let at = Vector::X * (1.9 * f32::from(i) - 20.0);
                let turned = pose(at, spin(0.3 * f32::from(i), 0.2, 0.7));
                let off_center = ball().translation(Vector::Y);
                let body = RigidBodyBuilder::dynamic().sleeping(true);
                simulation.physics.insert(body.pose(turned), off_center)
            })
            .collect();
        advance(&mut simulation, 13);
        for _ in 0..5 {
            let frame = advance(&mut simulation, 1);
            assert_eq!((simulation.moved(), frame.poses.movers), (&[][..], 0));
        }
        for key in keys {
            let rest = *simulation.physics.body(key).unwrap().position();
            assert_eq!(simulation.pose(key), Some(rest), "{smoothing:?}");
        }
    }
}

/// How far a platform has come in the middle of a step of 2 m, by `Hermite`, after it went 1 m in each step before.
/// `disturb` is called between two frames, `steps` before that one.
fn middle_of_a_faster_step(steps: u64, disturb: impl FnOnce(&mut Simulation, BodyKey)) -> f32 {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let go = |simulation: &mut Simulation, way: f32, ms: u64| {
        simulation.advance(MS(ms), |physics, step| {
            let next = *physics.body(key).unwrap().position();
            let next = next.append_translation(Vector::X * way);
            physics
                .set_kinematic_target(key, next, step.end_time)
                .unwrap();
        });
    };
    go(&mut simulation, 1.0, 20);
    disturb(&mut simulation, key);
    go(&mut simulation, 1.0, 10 * steps);
    simulation.smoothing = Smoothing::Hermite;
    go(&mut simulation, 2.0, 15);
    shown_x(&simulation, key) - previous_pose(&simulation, key).unwrap().translation.x
}

#[test]
fn a_led_body_that_was_put_elsewhere_is_as_smooth_as_before_after_a_step() {
    // From one step's velocity into the other's: behind the middle by an eighth of the difference.
    let expected = middle_of_a_faster_step(1, |_, _| ());
    assert!((expected - 0.875).abs() < 1e-4, "{expected}");
    let there = translation(3.0, 4.0, 0.0);
    for steps in [1, 3] {
        let x = middle_of_a_faster_step(steps, |simulation, key| {
            simulation.physics.teleport(key, there).unwrap();
        });
        assert!((x - expected).abs() < 1e-4, "{x} after {steps} steps");
        let x = middle_of_a_faster_step(steps, |simulation, key| {
            let body = simulation.physics.body_mut(key).unwrap();
            body.set_position(there, true);
        });
        assert!((x - expected).abs() < 1e-4, "{x} after {steps} steps");
    }
    // Without a step its velocity says nothing.
    let x = middle_of_a_faster_step(0, |simulation, key| {
        simulation.physics.teleport(key, there).unwrap();
    });
    assert!((x - 1.0).abs() < 1e-4, "{x}");
    // By whatever number its step goes.
    for (tick, steps, expected) in [(1_000, 0, 1.0), (1, 1, expected)] {
        let x = middle_of_a_faster_step(steps, |simulation, key| {
            simulation.physics.teleport(key, there).unwrap();
            simulation.clock_settings_mut().set_tick(tick);
        });
        assert!((x - expected).abs() < 1e-4, "{x} from tick {tick} on");
    }
    // A frame that was ended early has put it nowhere.
    let x = middle_of_a_faster_step(0, |simulation, _| {
        simulation.begin_frame(MS(10));
        simulation.end_frame();
    });
    assert!((x - expected).abs() < 1e-4, "{x}");
}

#[test]
fn a_body_that_comes_to_rest_in_a_step_does_not_swing_past_that() {
    let mut simulation = space(100);
    simulation.smoothing = Smoothing::Hermite;
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linvel(Vector::X), ball());
    advance(&mut simulation, 15);
    // Rapier takes it out before it has moved.
    let body = simulation.physics.body_mut(key).unwrap();
    body.add_force(Vector::NAN, true);
    let rest = *body.position();
    advance(&mut simulation, 10);
    assert!(!simulation.physics.body(key).unwrap().is_enabled());
    for alpha in [0.0, 0.3, 0.9] {
        assert_eq!(simulation.pose_at(key, 2, alpha), Some(rest));
    }
}

#[test]
fn what_stands_at_minus_zero_is_shown_where_it_is_to_the_bit() {
    use Smoothing::{Extrapolate, Hermite, Interpolate, Latest};
    let bits = |pose: &Pose| {
        let rotation = rotation_numbers(pose.rotation);
        let numbers = pose.translation.to_array().into_iter().chain(rotation);
        numbers.map(f32::to_bits).collect::<Vec<u32>>()
    };
    for smoothing in [Interpolate, Hermite, Extrapolate, Latest] {
        let mut simulation = space(100);
        simulation.smoothing = smoothing;
        // Enough for the lanes of a batch, and a rest.
        let keys: Vec<BodyKey> = (0..90u8)
            .map(|i| {
                let at = Vector::X * -f32::from(i); // −0 along y and z
                let turned = with_minus_zeros();
                let body = [
                    RigidBodyBuilder::dynamic(),
                    RigidBodyBuilder::kinematic_position_based(),
                    RigidBodyBuilder::fixed(),
                ];
                let body = body[usize::from(i % 3)].clone();
                let offset = Vector::Y * f32::from(i % 2); // of the centre of mass
                let body = body.pose(Pose::from_parts(at, turned));
                simulation.physics.insert(body, ball().translation(offset))
            })
            .collect();
        // Rapier's first step makes +0 of some.
        for ms in [3, 27] {
            advance(&mut simulation, ms);
        }
        let start = simulation.frame().number - 1;
        for ms in [0, 3, 7, 0, 15, 5, 600, 3] {
            advance(&mut simulation, ms);
            let since = simulation.changes_since(start).unwrap();
            for (key, pose) in simulation.moved().iter().chain(&*since.moved) {
                let own = simulation.physics.body(*key).unwrap().position();
                assert_eq!(bits(pose), bits(own), "{smoothing:?}");
            }
            for key in &keys {
                let own = simulation.physics.body(*key).unwrap().position();
                let shown = simulation.pose(*key).unwrap();
                assert_eq!(bits(&shown), bits(own), "{smoothing:?}");
            }
        }
    }
}

/// A platform that is led along and about, far out, at so many m/s until it has arrived at `end`.
fn arriving(smoothing: Smoothing, i: u16, speed: f32) -> (Simulation, BodyKey, Pose) {
    let mut simulation = space(60);
    simulation.smoothing = smoothing;
    let start = pose(
        vector(0.37 * f32::from(i), 3.0, -0.11 * f32::from(i)),
        spin(0.01, 0.02, 0.03) * f32::from(i),
    );
    let body = RigidBodyBuilder::kinematic_position_based().pose(start);
    let key = simulation
        .physics
        .insert(body, ball().translation(Vector::X));
    let end = start * pose(Vector::Y * speed, spin(0.0, 0.0, 0.5));
    let time = Duration::from_secs(1);
    simulation
        .physics
        .set_kinematic_target(key, end, time)
        .unwrap();
    for _ in 0..60 {
        simulation.advance(time / 60, |_, _| ());
    }
    (simulation, key, end)
}

#[test]
fn a_led_body_that_has_arrived_stands_and_is_no_longer_listed() {
    for smoothing in [
        Smoothing::Hermite,
        Smoothing::Extrapolate,
        Smoothing::Interpolate,
    ] {
        for i in 0..300 {
            let (mut simulation, key, end) = arriving(smoothing, i, 1.0);
            advance(&mut simulation, 17); // the first step in which it stands
            for _ in 0..20 {
                advance(&mut simulation, 7);
                assert_eq!(simulation.pose(key), Some(end), "{smoothing:?} {i}");
                assert!(simulation.moved().is_empty(), "{smoothing:?} {i}");
            }
        }
    }
}

#[test]
fn a_led_body_does_not_swing_past_where_it_stands() {
    let (mut simulation, key, end) = arriving(Smoothing::Hermite, 1, 25.0);
    advance(&mut simulation, 17);
    for alpha in [0.1, 0.3, 0.5, 0.9] {
        assert_eq!(
            simulation.pose_at(key, simulation.physics.tick(), alpha),
            Some(end)
        );
    }
}

#[test]
fn a_portal_turns_the_way_of_a_led_body() {
    for (frame_time, hz) in [(10, 100), (3, 100), (7, 100), (25, 100), (40, 100), (1, 10)] {
        let mut simulation = space(hz);
        simulation.smoothing = Smoothing::Hermite;
        let key = simulation
            .physics
            .insert(RigidBodyBuilder::kinematic_position_based(), ball());
        let to = translation(1_000.0, 0.0, 0.0);
        let time = Duration::from_secs(100); // 10 m/s
        simulation
            .physics
            .set_kinematic_target(key, to, time)
            .unwrap();
        for _ in 0..500 / frame_time {
            advance(&mut simulation, frame_time);
        }
        let half_turn = Pose::rotation(spin(0.0, std::f32::consts::PI, 0.0));
        simulation.physics.teleport_by(key, half_turn).unwrap();
        advance(&mut simulation, 0);
        let mut x = shown_x(&simulation, key);
        let way = -0.01 * frame_time as f32;
        for _ in 0..100 {
            advance(&mut simulation, frame_time);
            let next = shown_x(&simulation, key);
            assert!(
                (next - x - way).abs() < 1e-4,
                "{} at {frame_time}",
                next - x
            );
            x = next;
        }
    }
}

/// The pose right after the last step.
fn current_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    Some(*simulation.physics.body(key)?.position())
}

/// The pose right before the last step.
fn previous_pose(simulation: &Simulation, key: BodyKey) -> Option<Pose> {
    simulation.pose_at(key, simulation.physics.tick(), 0.0)
}
