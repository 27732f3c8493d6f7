//! Motion about the centre of mass, and extrapolation.

use super::*;

#[test]
fn the_centre_of_mass_of_a_spinning_body_moves_along_a_line() {
    let mut simulation = space(10);
    let key = thrown_hammer(&mut simulation);
    let (mut ours, mut naive) = (0.0f32, 0.0f32);
    for _ in 0..200 {
        let frame = advance(&mut simulation, 7);
        if frame.tick == 0 {
            continue; // No step has run.
        }
        // The centre of mass stays on a straight line, regardless of the spin.
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
    // Interpolating the origin cuts the corner at the centre: r (1 − cos θ/2), 4.4 cm for 0.6 rad.
    assert!((0.03..0.06).contains(&naive), "{naive} m");
}

#[test]
fn the_centre_of_mass_moves_along_a_line_in_the_first_step() {
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
fn interpolation_follows_a_changed_centre_of_mass() {
    // A second collider moves the centre of mass. It is inserted through evenstep and through Rapier.
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
            assert!(
                off < 1e-5,
                "{off} m off its line, through Rapier: {through_rapier}"
            );
        }
    }
}

#[test]
fn a_kinematic_door_turns_about_its_hinge() {
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

#[test]
fn the_extrapolation_error_stays_within_its_bound() {
    let mut simulation = space(60);
    simulation.physics.set_gravity(Vector::Y * -9.81).unwrap();
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
        // When the step has run, its end shows the error of the last frame before it.
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
    assert!(
        worst > bound * 0.5,
        "{worst} m is too small: was nothing extrapolated?"
    );
}

#[test]
fn an_extrapolated_body_penetrates_the_floor_by_less_than_one_step() {
    let mut simulation = scenes::with_floor(evenstep::Rate::hz(60));
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
    let step = (2.0 * 9.81 * 4.5f32).sqrt() / 60.0;
    assert!(
        (0.5 * step..step).contains(&through),
        "{through} m of {step} m"
    );
}

#[test]
fn an_extrapolated_body_stays_at_the_state_after_an_aborted_frame_until_the_next_step() {
    for sleeps in [false, true] {
        let mut simulation = space(100);
        simulation.smoothing = Smoothing::Extrapolate;
        let moving = RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0);
        let key = simulation.physics.insert(moving, ball());
        advance(&mut simulation, 14);
        simulation.begin_frame(MS(20));
        simulation.next_step().unwrap();
        simulation.run_step();
        assert_eq!(simulation.end_frame().dropped.aborted, 1);
        let shown = simulation.pose(key);
        assert_eq!(shown, current_pose(&simulation, key));
        if sleeps {
            simulation.physics.body_mut(key).unwrap().sleep();
        }
        for _ in 0..2 {
            advance(&mut simulation, 1);
            assert_eq!(simulation.pose(key), shown);
        }
        advance(&mut simulation, 10);
        let is_at_state = simulation.pose(key) == current_pose(&simulation, key);
        assert_eq!(is_at_state, sleeps);
    }
}

/// Rapier keeps the velocity of the last step for a body that is kinematic by position.
#[test]
fn a_curve_begins_without_the_old_velocity_of_a_body_put_between_two_steps_of_a_frame() {
    let mut simulation = space(100);
    simulation.smoothing = Smoothing::Hermite;
    let lift = RigidBodyBuilder::kinematic_position_based();
    let key = simulation.physics.insert(lift, ball());
    simulation.begin_frame(MS(25));
    for end in [0.1, 9.1] {
        let physics = &mut simulation.physics;
        if end > 9.0 {
            let body = physics.body_mut(key).unwrap();
            body.set_translation(Vector::X * 9.0, true);
        }
        let end = Pose::from_translation(Vector::X * end);
        simulation.next_step().unwrap();
        let body = simulation.physics.body_mut(key).unwrap();
        body.set_next_kinematic_position(end);
        simulation.run_step();
    }
    simulation.end_frame();
    // Both ends have the velocity of this step, so the curve is straight.
    let shown = simulation.pose(key).unwrap().translation.x;
    assert!((shown - 9.05).abs() < 1e-5, "{shown}");
}
