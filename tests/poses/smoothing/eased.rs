//! A change of the smoothing to one that displays another time does not jump.

use super::*;

/// The smoothings that display different times, and one beside `Interpolate`.
const ALL: [Smoothing; 4] = [
    Smoothing::Interpolate,
    Smoothing::Hermite,
    Smoothing::Extrapolate,
    Smoothing::Latest,
];

/// Creates free space at 100 Hz, where errors end after 100 ms.
fn eased_space(smoothing: Smoothing) -> Simulation {
    let mut simulation = space(100);
    simulation.smoothing = smoothing;
    simulation.correction = Correction::linear(MS(100));
    simulation
}

fn set(simulation: &mut Simulation, one: Option<BodyKey>, to: Smoothing) {
    match one {
        Some(key) => simulation
            .physics
            .set_body_smoothing(key, Some(to))
            .unwrap(),
        None => simulation.smoothing = to,
    }
}

#[test]
fn the_first_frame_displays_the_pose_of_the_smoothing_before() {
    for (from, to) in ALL.iter().flat_map(|from| ALL.map(|to| (*from, to))) {
        for (own, ms) in [(false, 13), (true, 13), (false, 47), (true, 2), (false, 0)] {
            let mut simulation = eased_space(from);
            let key = thrown_hammer(&mut simulation);
            advance(&mut simulation, 235);
            let mut before = simulation.clone();
            set(&mut simulation, own.then_some(key), to);
            let mut after = simulation.clone();
            after.correction = Correction::OFF;
            for simulation in [&mut simulation, &mut before, &mut after] {
                advance(simulation, ms);
            }
            let shown = simulation.pose(key).unwrap();
            let continued = before.pose(key).unwrap();
            let is_eased = !matches!(
                [from, to],
                [
                    Smoothing::Interpolate | Smoothing::Hermite,
                    Smoothing::Interpolate | Smoothing::Hermite
                ] | [Smoothing::Latest, Smoothing::Latest]
                    | [Smoothing::Extrapolate, Smoothing::Extrapolate]
            );
            let expected = if is_eased {
                continued
            } else {
                after.pose(key).unwrap()
            };
            let off = (shown.translation - expected.translation).length();
            let angle = angle_between(shown.rotation, expected.rotation);
            assert!(off < 1e-5 && angle < 1e-5, "{off} m, {from:?} to {to:?}");
            // The error ends.
            for simulation in [&mut simulation, &mut after] {
                advance(simulation, 60);
                advance(simulation, 60);
            }
            assert_eq!(simulation.pose(key), after.pose(key), "{from:?} to {to:?}");
        }
    }
}

#[test]
fn several_changes_of_smoothing_in_a_pause_do_not_jump() {
    for (from, to) in ALL.iter().flat_map(|from| ALL.map(|to| (*from, to))) {
        for between in ALL {
            let mut simulation = eased_space(from);
            // The curve of a falling body differs from a straight line.
            (simulation.physics)
                .set_gravity(Vector::Y * -500.0)
                .unwrap();
            let key = thrown_hammer(&mut simulation);
            advance(&mut simulation, 235);
            simulation.pause();
            advance(&mut simulation, 0);
            let before = simulation.pose(key).unwrap();
            set(&mut simulation, Some(key), between);
            set(&mut simulation, Some(key), to);
            advance(&mut simulation, 0);
            let off = simulation.pose(key).unwrap().translation - before.translation;
            assert!(
                off.length() < 1e-5,
                "{off} m, {from:?}, {between:?}, {to:?}"
            );
        }
    }
}

#[test]
fn a_teleport_before_earlier_steps_does_not_stop_an_extrapolated_body() {
    let shown = |is_teleported| {
        let mut simulation = eased_space(Smoothing::Interpolate);
        simulation.correction = Correction::OFF;
        let thrown = RigidBodyBuilder::dynamic().linvel(Vector::X * 5.0);
        let key = (simulation.physics).insert(thrown, ColliderBuilder::ball(0.1));
        advance(&mut simulation, 50);
        if is_teleported {
            let pose = *simulation.physics.body(key).unwrap().position();
            simulation.physics.teleport(key, pose).unwrap();
        }
        advance(&mut simulation, 55);
        let spin = spin(0.0, 0.0, 6.0);
        simulation
            .physics
            .body_mut(key)
            .unwrap()
            .set_angvel(spin, true);
        set(&mut simulation, Some(key), Smoothing::Extrapolate);
        advance(&mut simulation, 0);
        simulation.pose(key).unwrap().rotation
    };
    assert!(angle_between(shown(false), shown(true)) < 1e-5);
}

/// Edits of a body without a trajectory wait for the next step, and a portal turns its motion.
#[test]
fn another_smoothing_displays_the_same_path_before_and_after_other_edits() {
    type Edit = fn(&mut Physics, BodyKey);
    let edits: [Edit; 4] = [
        |physics, key| {
            let quarter = spin(0.0, 0.0, std::f32::consts::FRAC_PI_2);
            (physics.teleport_by(key, pose(Vector::ZERO, quarter))).unwrap();
        },
        |physics, key| {
            let body = physics.body_mut(key).unwrap();
            body.set_linvel(Vector::Y * 500.0, true);
        },
        |physics, key| {
            let cargo = ColliderBuilder::ball(0.5).mass(9.0).translation(Vector::X);
            physics.insert_collider(key, cargo).unwrap();
        },
        |physics, key| physics.body_mut(key).unwrap().sleep(),
    ];
    let bodies = [
        RigidBodyBuilder::dynamic().linvel(Vector::X * 100.0),
        RigidBodyBuilder::kinematic_velocity_based().linvel(Vector::X * 100.0),
        RigidBodyBuilder::kinematic_position_based(),
    ];
    for (e, edit) in edits.into_iter().enumerate() {
        for body in &bodies {
            let shown = |is_early: bool, general: bool| {
                let mut simulation = eased_space(Smoothing::Interpolate);
                simulation.correction = Correction::OFF;
                let key = (simulation.physics).insert(body.clone(), ColliderBuilder::ball(0.1));
                simulation.advance(MS(25), |physics, step| {
                    let next = translation((step.tick + 1) as f32, 0.0, 0.0);
                    let _ = physics.set_kinematic_target(key, next, Duration::ZERO);
                });
                let extrapolate = |simulation: &mut Simulation| {
                    set(
                        simulation,
                        (!general).then_some(key),
                        Smoothing::Extrapolate,
                    );
                    advance(simulation, 0);
                };
                if is_early {
                    extrapolate(&mut simulation);
                }
                edit(&mut simulation.physics, key);
                if !is_early {
                    extrapolate(&mut simulation);
                }
                advance(&mut simulation, 0);
                simulation.pose(key).unwrap().translation
            };
            for general in [false, true] {
                let off = (shown(true, general) - shown(false, general)).length();
                assert!(off < 1e-3, "edit {e}: {off} m");
            }
        }
    }
}

#[test]
fn a_pose_that_was_set_in_a_pause_is_displayed_with_every_smoothing() {
    let shown = |is_early: bool, edit: fn(&mut RigidBody)| {
        let mut simulation = eased_space(Smoothing::Interpolate);
        simulation.correction = Correction::OFF;
        let thrown = RigidBodyBuilder::dynamic().linvel(Vector::X * 5.0);
        let thrown = thrown.angvel(spin(0.0, 0.0, 6.0));
        let key = (simulation.physics).insert(thrown, ColliderBuilder::ball(0.1));
        advance(&mut simulation, 25);
        simulation.pause();
        let extrapolate = |simulation: &mut Simulation| {
            set(simulation, Some(key), Smoothing::Extrapolate);
        };
        if is_early {
            extrapolate(&mut simulation);
        }
        edit(simulation.physics.body_mut(key).unwrap());
        advance(&mut simulation, 0);
        if !is_early {
            extrapolate(&mut simulation);
        }
        advance(&mut simulation, 0);
        simulation.pose(key).unwrap()
    };
    let edits: [fn(&mut RigidBody); 2] = [
        |body| body.set_translation(Vector::Y * 7.0, true),
        |body| body.set_rotation(pose(Vector::ZERO, spin(0.0, 0.0, 1.0)).rotation, true),
    ];
    for edit in edits {
        let (early, late) = (shown(true, edit), shown(false, edit));
        let off = (early.translation - late.translation).length();
        assert!(off < 1e-5, "{off} m");
        assert!(angle_between(early.rotation, late.rotation) < 1e-5);
    }
}

#[test]
fn a_body_that_is_moved_to_targets_does_not_jump_although_its_center_depends_on_the_smoothing() {
    let pairs = ALL.iter().flat_map(|from| ALL.map(|to| (*from, to)));
    for ((from, to), own) in pairs.flat_map(|pair| [(pair, false), (pair, true)]) {
        let displays_last = |it| matches!(it, Smoothing::Extrapolate | Smoothing::Latest);
        if from == to || !(displays_last(from) || displays_last(to)) {
            continue;
        }
        let mut simulation = eased_space(from);
        let off_its_origin = ColliderBuilder::ball(0.5).translation(Vector::X);
        let door = RigidBodyBuilder::kinematic_position_based();
        let key = (simulation.physics).insert(door, off_its_origin);
        let advance = |simulation: &mut Simulation, ms| {
            simulation.advance(MS(ms), |physics, step| {
                let tick = step.tick as f32;
                let next = pose(vector(tick * 0.1, 0.0, 0.0), spin(0.0, 0.0, tick * 0.05));
                physics
                    .set_kinematic_target(key, next, Duration::ZERO)
                    .unwrap();
            });
        };
        advance(&mut simulation, 235);
        let mut before = simulation.clone();
        set(&mut simulation, own.then_some(key), to);
        for simulation in [&mut simulation, &mut before] {
            advance(simulation, 0);
        }
        let [shown, continued] = [&simulation, &before].map(|it| it.pose(key).unwrap());
        let off = (shown.translation - continued.translation).length();
        assert!(off < 1e-5, "{off} m, {from:?} to {to:?}");
    }
}

/// Returns the largest deviation from an even motion in a frame, in metres.
fn most_uneven(simulation: &mut Simulation, key: BodyKey, frames: u64) -> f32 {
    let mut last = shown_x(simulation, key);
    let mut most: f32 = 0.0;
    for _ in 0..frames {
        advance(simulation, 4);
        let x = shown_x(simulation, key);
        most = most.max((x - last - 0.04).abs());
        last = x;
    }
    most
}

fn flyer_at_10(simulation: &mut Simulation) -> BodyKey {
    let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let key = simulation.physics.insert(fly, ball());
    advance(simulation, 101);
    key
}

#[test]
fn several_changes_within_a_frame_are_one() {
    let mut simulation = eased_space(Smoothing::Interpolate);
    simulation.keep(Kept {
        poses: 20,
        ..simulation.kept()
    });
    let key = flyer_at_10(&mut simulation);
    let last = shown_x(&simulation, key);
    simulation.advance(MS(40), |physics, step| {
        let smoothing = ALL[step.tick as usize % 4];
        let now = Some(smoothing);
        physics.set_body_smoothing(key, now).unwrap();
    });
    assert!((shown_x(&simulation, key) - last - 0.4).abs() < 1e-5);
    // A change that is taken back is none.
    advance(&mut simulation, 200);
    let own = simulation.physics.body_smoothing(key);
    set(&mut simulation, Some(key), Smoothing::Extrapolate);
    simulation.physics.set_body_smoothing(key, own).unwrap();
    advance(&mut simulation, 20);
    assert_eq!(simulation.visual_error(key), None);
}

#[test]
fn a_new_body_and_a_body_at_rest_have_no_error() {
    let mut simulation = eased_space(Smoothing::Interpolate);
    advance(&mut simulation, 55);
    let fly = || RigidBodyBuilder::dynamic().linvel(Vector::X * 10.0);
    let new = simulation.physics.insert(fly(), ball());
    let rest = simulation
        .physics
        .insert(fly().sleeping(true).translation(Vector::Y), ball());
    set(&mut simulation, Some(new), Smoothing::Extrapolate);
    // A frame without a step has displayed it.
    advance(&mut simulation, 2);
    let bullet = simulation
        .physics
        .insert(fly().translation(Vector::Y * 9.0), ball());
    set(&mut simulation, Some(bullet), Smoothing::Extrapolate);
    set(&mut simulation, Some(rest), Smoothing::Extrapolate);
    for _ in 0..4 {
        advance(&mut simulation, 4);
        for key in [new, rest, bullet] {
            assert_eq!(simulation.visual_error(key), None);
        }
    }
    // It wakes long after the change.
    let physics = &mut simulation.physics;
    physics.apply_impulse(rest, Vector::X).unwrap();
    advance(&mut simulation, 14);
    assert_eq!(simulation.visual_error(rest), None);
}

#[test]
fn a_rollback_over_a_change_of_smoothing_does_not_jump() {
    // The steps that run again begin before the change, or after it.
    for (back, is_in_hook) in [(1, false), (5, false), (1, true), (5, true)] {
        let mut simulation = eased_space(Smoothing::Extrapolate);
        simulation.keep(Kept {
            ticks: 30,
            ..simulation.kept()
        });
        let key = flyer_at_10(&mut simulation);
        let change = |physics: &mut Physics, tick| {
            if tick == 11 && is_in_hook {
                let to = Some(Smoothing::Interpolate);
                physics.set_body_smoothing(key, to).unwrap();
            }
        };
        if !is_in_hook {
            simulation.smoothing = Smoothing::Interpolate;
        }
        let mut last = shown_x(&simulation, key);
        for frame in 0..20 {
            if frame % 4 == 3 {
                let to = simulation.physics.tick() - back;
                simulation
                    .resimulate(to, |physics, step| change(physics, step.tick))
                    .unwrap();
            }
            simulation.advance(MS(14), |physics, step| change(physics, step.tick));
            let x = shown_x(&simulation, key);
            // A step is 0.1 m. The error shrinks by a seventh of that in a frame.
            let off = (x - last - 0.14).abs();
            assert!(off < 0.04, "{off} m in frame {frame}, {back} steps back");
            last = x;
        }
        assert_eq!(simulation.visual_error(key), None);
    }
}

#[test]
fn a_change_of_smoothing_is_eased_after_an_aborted_frame_a_portal_and_a_copy() {
    let mut simulation = eased_space(Smoothing::Interpolate);
    let key = flyer_at_10(&mut simulation);
    let last = shown_x(&simulation, key);
    simulation.smoothing = Smoothing::Extrapolate;
    simulation.physics.shift_origin(Vector::Y).unwrap();
    let mut simulation = simulation.clone();
    // The frame ends before its last step, and displays the state after the first one.
    simulation.begin_frame(MS(20));
    simulation.next_step().unwrap();
    simulation.run_step();
    let by = translation(0.0, 5.0, 0.0);
    simulation.physics.teleport_by(key, by).unwrap();
    simulation.end_frame();
    let x = shown_x(&simulation, key);
    assert!((0.0..0.2).contains(&(x - last)), "{x} after {last}");
    // The state is displayed until the next step.
    advance(&mut simulation, 10);
    assert!(most_uneven(&mut simulation, key, 40) < 0.03);
}

#[test]
fn a_change_of_smoothing_is_even_where_it_jumped_by_a_step() {
    for (from, to) in [
        (Smoothing::Interpolate, Smoothing::Extrapolate),
        (Smoothing::Extrapolate, Smoothing::Interpolate),
    ] {
        let mut simulation = eased_space(from);
        let key = flyer_at_10(&mut simulation);
        simulation.smoothing = to;
        let most = most_uneven(&mut simulation, key, 40);
        // The step of 0.1 m is spread over 100 ms: 4 mm in a frame of 4 ms.
        assert!(most < 0.004_1, "{most} m");
    }
}

#[test]
fn a_change_of_smoothing_does_not_jump_however_far_a_body_moves_in_a_step() {
    // Up to 2.5 m, which is more than the largest correction that is displayed smoothly.
    for (hz, speed) in [(60, 10.0), (10, 25.0), (60, 130.0)] {
        for one in [false, true] {
            let mut simulation = space(hz);
            simulation.correction = Correction::default();
            let fly = RigidBodyBuilder::dynamic().linvel(Vector::X * speed);
            let key = simulation.physics.insert(fly, ball());
            advance(&mut simulation, 240);
            let mut last = shown_x(&simulation, key);
            for frame in 0..100 {
                if frame == 40 {
                    set(&mut simulation, one.then_some(key), Smoothing::Extrapolate);
                }
                advance(&mut simulation, 4);
                let x = shown_x(&simulation, key);
                let frames = (x - last) / (speed * 0.004);
                assert!((0.0..4.0).contains(&frames), "{frames} frames at {hz} Hz");
                last = x;
            }
        }
    }
}
