//! What frames display, and when.

use super::*;
use crate::dim::testing::translation;
use crate::simulation::Kept;

#[test]
fn frames_starve_while_a_step_is_late_and_then_catch_up() {
    let (mut simulation, key) = flyer();
    simulation.keep(Kept {
        ticks: 50,
        poses: 50,
        ..simulation.kept()
    });
    // The last state before the late step is at zero, where every alpha gives another position.
    let start = translation(-10.0, 0.0, 0.0);
    simulation.physics.teleport(key, start).unwrap();
    let collider = simulation.physics.body(key).unwrap().colliders()[0];
    let mut both = Both::new(simulation, Idle);
    both.physics(MS(100));
    let mut shown = -10.0;
    let mut starved = 0;
    // The step of 110 ms runs at 123 ms, together with that of 120 ms.
    for ms in 100..140 {
        if ms == 123 || ms > 123 && ms % 10 == 0 {
            both.physics(MS(ms));
        }
        both.frame(MS(ms));
        let (view, past) = (both.view(), &both.physics.simulation);
        let pose = view.pose(key).unwrap();
        let (tick, alpha) = (view.tick(), view.alpha());
        assert_eq!(past.pose_at(key, tick, alpha), Some(pose));
        let world = past.world_at(tick, alpha).unwrap();
        assert_eq!(*world.colliders()[collider].position(), pose);
        let x = pose.translation.x;
        assert!(x >= shown, "{x} after {shown}");
        shown = x;
        starved += u32::from(view.is_starved());
    }
    // The step is displayed from 115 ms on, half a step after it was due.
    assert_eq!(starved, 7);
    assert!((shown - 2.4).abs() < 1e-3, "{shown}");
}

#[test]
fn extrapolated_motion_never_goes_backward_when_steps_are_late() {
    let (mut simulation, key) = flyer();
    simulation.smoothing = Smoothing::Extrapolate;
    let mut both = Both::new(simulation, Idle);
    let mut last = 0.0;
    for ms in 0..2_000u16 {
        // Some steps are late.
        if ms % 10 == 0 && ms % 70 != 0 {
            both.physics(MS(ms.into()));
        }
        let x = x(&mut both, key, MS(ms.into()));
        assert!(x >= last, "{x} after {last} at {ms} ms");
        last = x;
    }
    assert!(last > 195.0);
}

#[test]
fn state_copies_are_reused_once_the_view_no_longer_holds_them() {
    let (simulation, key) = flyer();
    let mut both = Both::new(simulation, Idle);
    let mut most = 0;
    for ms in 0..300 {
        both.physics(MS(10 * ms));
        // No frame fetches a state for a second.
        if !(100..=200).contains(&ms) {
            both.frame(MS(10 * ms));
            most = most.max(both.physics.publisher.sent.len());
        }
    }
    assert!(most <= 10, "{most}");
    assert!(both.view().pose(key).is_some());
}

#[test]
fn a_pause_hands_over_a_copy_only_after_a_visible_change() {
    let (simulation, key) = flyer();
    let mut both = Both::new(simulation, Idle);
    let copies = |both: &Both<Idle>| {
        let mut copies = 0;
        both.runner
            .mailbox
            .try_with(|mail| copies = mail.states.drain(..).count());
        copies
    };
    both.physics(MS(15));
    both.pause();
    both.physics(MS(17));
    assert!(copies(&both) > 0);
    both.physics(MS(20));
    assert_eq!(copies(&both), 0);
    // Nothing visible changes.
    both.set_speed(2.0);
    both.physics(MS(30));
    assert_eq!(copies(&both), 0);
    both.teleport(key, Pose::IDENTITY);
    both.physics(MS(40));
    assert_eq!(copies(&both), 1);
}

#[test]
fn edits_in_a_pause_are_displayed_during_the_pause() {
    let (mut simulation, flyer) = flyer();
    let wall = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let gone = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let mut both = Both::new(simulation, Idle);
    both.physics(MS(100));
    both.frame(MS(102));
    both.pause();
    both.physics(MS(103));
    // The picture stays where it was, in the step before the last one.
    for ms in [103, 114, 115, 119] {
        let x = x(&mut both, flyer, MS(ms));
        assert!((x - 8.8).abs() < 1e-3, "{x} at {ms} ms");
    }
    let there = translation(0.0, 7.0, 0.0);
    both.teleport(wall, there);
    both.remove(gone);
    both.physics(MS(120));
    let view = both.frame(MS(121));
    assert_eq!(view.pose(wall), Some(there));
    assert_eq!((view.pose(gone), view.removed()), (None, &[gone][..]));
    // Nothing else moves.
    for ms in [121, 124, 150] {
        let x = x(&mut both, flyer, MS(ms));
        assert!((x - 8.8).abs() < 1e-3, "{x} at {ms} ms");
    }
    // Slow motion continues from there at once.
    both.set_speed(0.1);
    both.resume();
    both.in_time(MS(155));
    let x = x(&mut both, flyer, MS(160));
    assert!((x - 8.85).abs() < 1e-3, "{x}");
}

#[test]
fn an_origin_shift_in_a_pause_is_displayed_without_moving_bodies() {
    let (simulation, key) = flyer();
    let mut both = Both::new(simulation, Idle);
    both.physics(MS(100));
    both.frame(MS(102));
    both.pause();
    both.physics(MS(103));
    let before = x(&mut both, key, MS(104));
    // The origin is shifted twice, so that positions are rounded twice.
    for shift in [0.3, 7.1] {
        both.call(move |simulation, _| {
            let origin = Vector::X * shift;
            simulation.physics.shift_origin(origin).unwrap();
        });
    }
    both.physics(MS(105));
    let after = x(&mut both, key, MS(106));
    assert!((after + 7.4 - before).abs() < 1e-3, "{after}, {before}");
}

#[test]
fn the_time_of_the_view_matches_its_poses_after_a_rewind() {
    for pauses in [false, true] {
        let (mut simulation, key) = flyer();
        simulation.keep(Kept {
            ticks: 50,
            ..simulation.kept()
        });
        let mut both = Both::new(simulation, Idle);
        both.in_time(MS(300));
        both.frame(MS(300));
        both.in_time(MS(400));
        if pauses {
            both.pause();
        }
        both.call(|simulation, _| simulation.rewind(20).unwrap());
        for ms in 400..450 {
            both.in_time(MS(ms));
            let x = x(&mut both, key, MS(ms));
            let time = both.view().time().as_secs_f64();
            assert!(
                (f64::from(x) - 100.0 * time).abs() < 1e-2,
                "{x} at {time} s"
            );
        }
    }
}

#[test]
fn a_smoothing_set_by_a_call_applies_to_the_next_steps() {
    let (mut simulation, key) = flyer();
    simulation.correction = Correction::OFF;
    let mut both = Both::new(simulation, Idle);
    let shown = |both: &mut Both<Idle>, ms| {
        both.in_time(MS(ms));
        x(both, key, MS(ms))
    };
    let check = |both: &mut Both<Idle>, ms, expected: f32| {
        let x = shown(both, ms);
        assert!(
            (x - expected).abs() < 1e-3,
            "{x}, not {expected}, at {ms} ms"
        );
    };
    check(&mut both, 102, 8.7);
    both.call(|simulation, _| simulation.smoothing = Smoothing::Latest);
    both.physics(MS(102));
    for (ms, expected) in [(127, 12.0), (132, 12.0), (138, 13.0)] {
        check(&mut both, ms, expected);
    }
    both.call(|simulation, _| simulation.smoothing = Smoothing::Extrapolate);
    both.physics(MS(138));
    for (ms, expected) in [(167, 16.2), (172, 16.7)] {
        check(&mut both, ms, expected);
    }
    both.call(|simulation, _| simulation.smoothing = Smoothing::Interpolate);
    both.physics(MS(172));
    for (ms, expected) in [(207, 19.2), (212, 19.7)] {
        check(&mut both, ms, expected);
    }
}

#[test]
fn a_simulation_paused_from_the_start_is_displayed() {
    let (mut simulation, key) = flyer();
    simulation.pause();
    let mut both = Both::new(simulation, Idle);
    for ms in [0, 10, 1_000_000] {
        both.physics(MS(ms));
        assert_eq!(x(&mut both, key, MS(ms)), 0.0);
        assert!(!both.view().is_starved());
    }
}

#[test]
fn a_view_without_a_state_lists_no_bodies_and_is_not_starved() {
    let settings = RunnerSettings {
        slack: f32::NAN,
        ..RunnerSettings::default()
    };
    let mut view = View::<()>::new(settings, Screen::default(), Duration::ZERO);
    view.update(&Mailbox::default(), MS(u64::MAX / 2));
    assert!(view.moved().is_empty() && view.removed().is_empty() && !view.is_starved());
}

#[test]
fn time_beyond_the_maximum_lag_is_dropped_and_counted() {
    let (simulation, _) = flyer();
    let mut both = Both::new(simulation, Idle);
    both.physics(MS(100));
    // Five steps are run at once, and the rest right after.
    assert_eq!(both.physics.run_until(MS(300)), Some(MS(160)));
    assert_eq!(both.tick(), 15);
    both.physics(MS(300));
    assert_eq!(both.tick(), 30);
    // The thread is more than 250 ms behind, so the clock continues from now.
    assert_eq!(both.physics(MS(800)), Some(MS(810)));
    assert_eq!(both.tick(), 31);
    both.frame(MS(800));
    assert_eq!(both.view().dropped(), MS(490));
    assert_eq!(
        both.physics.simulation.clock().dropped().frame_time,
        MS(490)
    );
    assert_eq!(both.physics.simulation.clock().real_time(), MS(800));
}

/// A host that displays a simulation.
enum Host {
    Loop(Box<Simulation>),
    Overlap(Box<Overlap>),
    /// A runner with its wall clock.
    Runner(Box<Both<Idle>>, Duration),
}

impl Host {
    fn new(simulation: Simulation, kind: u32) -> Self {
        match kind % 3 {
            0 => Self::Loop(simulation.into()),
            1 => Self::Overlap(Overlap::new(simulation).unwrap().into()),
            _ => {
                let now = simulation.clock().real_time();
                Self::Runner(Both::new(simulation, Idle).into(), now)
            }
        }
    }

    fn stop(self) -> Simulation {
        match self {
            Self::Loop(simulation) => *simulation,
            Self::Overlap(overlap) => overlap.stop(&mut Idle).0,
            Self::Runner(both, now) => both.stop(now).0,
        }
    }

    /// Acts between two frames.
    fn act(&mut self, act: impl FnOnce(&mut Simulation) + Send + 'static) {
        match self {
            Self::Loop(simulation) => act(simulation),
            Self::Overlap(overlap) => act(overlap.simulation(&mut Idle).unwrap()),
            Self::Runner(both, now) => {
                both.call(|simulation, _| act(simulation));
                both.in_time(*now);
            }
        }
    }

    /// Returns where the body is displayed after a frame of this length, and at which simulated time.
    fn frame(&mut self, frame_time: Duration, key: BodyKey) -> (f32, Option<f64>) {
        let (pose, time) = self.pose(frame_time, key);
        (pose.translation.x, time)
    }

    fn pose(&mut self, frame_time: Duration, key: BodyKey) -> (Pose, Option<f64>) {
        let (pose, time) = match self {
            Self::Loop(simulation) => {
                simulation.advance(frame_time, |_, _| ());
                (simulation.pose(key), None)
            }
            Self::Overlap(overlap) => {
                let view = overlap.frame(frame_time, &mut Idle).unwrap();
                (view.pose(key), Some(view.time().as_secs_f64()))
            }
            Self::Runner(both, now) => {
                *now += frame_time;
                both.in_time(*now);
                let view = both.frame(*now);
                (view.pose(key), Some(view.time().as_secs_f64()))
            }
        };
        (pose.unwrap(), time)
    }
}

#[test]
fn a_new_host_continues_from_the_poses_displayed_by_the_previous_host() {
    for (from, to) in (0..9).map(|i| (i / 3, i % 3)) {
        for restart in 31..=42 {
            let (simulation, key) = flyer();
            let mut host = Host::new(simulation, from);
            let (mut last, mut last_time) = (0.0, 0.0);
            for i in 1..80 {
                if i == restart {
                    host = Host::new(host.stop(), to);
                }
                let (x, time) = host.frame(MS(3), key);
                let time = time.unwrap_or(last_time);
                if i > 30 {
                    let by = x - last;
                    let case =
                        format!("{by} from {from} to {to} in frame {i}, restarted in {restart}");
                    // A steady frame moves the body by 0.3 m. Where the delay grows it moves half as far, or not at all
                    // where the delay grows by a whole step. Where the delay shrinks, the skipped motion comes at once.
                    let least = if (from, to) == (0, 1) { 0.0 } else { 0.149 };
                    let most = match (from, to) {
                        (1, 0) => 1.3,
                        (2, 0) | (1, 2) => 0.8,
                        _ => 0.3,
                    };
                    assert!((least..most + 1e-3).contains(&by), "{case}");
                    assert!(from != 2 || to != 2 || by > 0.299, "{case}");
                    assert!(time >= last_time, "{time} after {last_time}, {case}");
                }
                (last, last_time) = (x, time);
            }
        }
    }
}

/// Resimulates the last step, with the body a metre to the side.
fn resimulate_aside(simulation: &mut Simulation, key: BodyKey) {
    let aside = translation(0.0, 1.0, 0.0);
    let shift = |physics: &mut Physics, _| physics.teleport_by(key, aside).unwrap();
    simulation
        .resimulate(simulation.physics.tick() - 1, shift)
        .unwrap();
}

#[test]
fn a_change_of_host_does_not_shorten_a_visual_error() {
    for kind in 0..3 {
        let (mut simulation, key) = flyer();
        simulation.correction = Correction::default();
        simulation.keep(Kept {
            ticks: 10,
            ..simulation.kept()
        });
        simulation
            .clock_settings_mut()
            .set_max_frame_time(Duration::MAX);
        simulation.advance(MS(10_000), |_, _| ());
        resimulate_aside(&mut simulation, key);
        let y = |simulation: &Simulation| simulation.pose(key).unwrap().translation.y;
        assert_eq!(y(&simulation), 0.0);
        let simulation = match kind {
            0 => simulation,
            kind => {
                let mut host = Host::new(simulation, kind);
                host.frame(MS(1), key);
                host.stop()
            }
        };
        let mut simulation = simulation;
        simulation.advance(MS(1), |_, _| ());
        let y = y(&simulation);
        assert!(y > 0.0 && y < 0.02, "{y} of {kind}");
    }
}

#[test]
fn a_body_correction_decays_at_its_half_life_in_every_host() {
    for kind in 0..3 {
        let (mut simulation, key) = flyer();
        let own = Correction::half_life(MS(40));
        simulation.correction = Correction::OFF;
        simulation
            .physics
            .set_body_correction(key, Some(own))
            .unwrap();
        simulation.keep(Kept {
            ticks: 10,
            ..simulation.kept()
        });
        simulation.advance(MS(100), |_, _| ());
        resimulate_aside(&mut simulation, key);
        let mut host = Host::new(simulation, kind);
        for _ in 0..20 {
            host.frame(MS(4), key);
        }
        // Twenty frames of 4 ms are two half-lives.
        let error = host.stop().visual_error(key).unwrap();
        let y = error.translation.y;
        assert!((y + 0.25).abs() < 1e-5, "{y} of {kind}");
    }
}

#[test]
fn a_body_begins_at_a_pose_once_its_state_is_displayed_in_every_host() {
    for kind in 0..3 {
        for body in [0, 1] {
            let (mut simulation, flyer) = flyer();
            let fixed = RigidBodyBuilder::fixed().translation(Vector::Y * 4.0);
            let fixed = simulation.physics.insert(fixed, ColliderBuilder::ball(0.1));
            let key = [flyer, fixed][body];
            simulation.correction = Correction::linear(MS(60));
            let mut host = Host::new(simulation, kind);
            for _ in 0..20 {
                host.frame(MS(3), key);
            }
            let own = host.pose(MS(0), key).0.translation.y;
            let there = translation(0.0, own + 6.0, 0.0);
            host.act(move |simulation| simulation.physics.show_from(key, there).unwrap());
            let mut heights = Vec::new();
            for _ in 0..40 {
                heights.push(host.pose(MS(3), key).0.translation.y - own);
            }
            let first = heights.iter().position(|y| *y != 0.0).unwrap();
            // A view may still display the state before.
            assert!(first < 8, "{heights:?} of {kind}");
            for (i, y) in heights[first..].iter().enumerate() {
                let left = (6.0 - 0.3 * i as f32).max(0.0);
                assert!((y - left).abs() < 1e-4, "{y}, not {left} of {kind}");
            }
            let simulation = host.stop();
            assert_eq!(simulation.visual_error(key), None);
        }
    }
}

#[test]
fn a_change_of_the_smoothing_does_not_jump_in_any_host() {
    for kind in 0..3 {
        let (mut simulation, key) = flyer();
        simulation.correction = Correction::linear(MS(120));
        let mut host = Host::new(simulation, kind);
        let mut last = 0.0;
        for i in 0..240 {
            match i {
                60 => host.act(|simulation| simulation.smoothing = Smoothing::Extrapolate),
                120 => host.act(move |simulation| {
                    let own = Some(Smoothing::Interpolate);
                    simulation.physics.set_body_smoothing(key, own).unwrap();
                }),
                180 => host.act(move |simulation| {
                    simulation.physics.set_body_smoothing(key, None).unwrap();
                }),
                _ => (),
            }
            let (x, _) = host.frame(MS(3), key);
            if i > 30 {
                // A frame is 0.3 m, and a step of 1 m is spread over 40 frames. A view is up to two steps behind.
                let off = (x - last - 0.3).abs();
                assert!(off < 0.08, "{off} m in frame {i} of {kind}");
            }
            last = x;
        }
    }
}

#[test]
fn a_pose_that_no_view_has_displayed_goes_back_with_the_screen() {
    for kind in 0..3 {
        let (mut simulation, key) = flyer();
        simulation.correction = Correction::linear(MS(60));
        let mut host = Host::new(simulation, kind);
        for _ in 0..20 {
            host.frame(MS(3), key);
        }
        let there = translation(6.0, 6.0, 0.0);
        host.act(move |simulation| simulation.physics.show_from(key, there).unwrap());
        let mut host = Host::new(host.stop(), kind + 1);
        let y = (0..8).map(|_| host.pose(MS(3), key).0.translation.y);
        let most = y.fold(0.0, f32::max);
        assert!((most - 6.0).abs() < 1e-4, "{most} of {kind}");
    }
}

#[test]
fn a_correction_set_in_a_pause_applies_from_the_next_frame() {
    let (mut simulation, key) = flyer();
    simulation.keep(Kept {
        ticks: 10,
        ..simulation.kept()
    });
    simulation.advance(MS(100), |_, _| ());
    resimulate_aside(&mut simulation, key);
    let mut both = Both::new(simulation, Idle);
    let mut now = MS(100);
    let mut error = |both: &mut Both<Idle>| {
        now += MS(5);
        both.physics(now);
        both.frame(now);
        both.view().screen().error(key).map(|it| it.translation.y)
    };
    assert!(error(&mut both).unwrap() < -0.9);
    both.call(|simulation, _| simulation.pause());
    let before = error(&mut both).unwrap();
    for _ in 0..9 {
        assert_eq!(error(&mut both), Some(before));
    }
    both.call(|simulation, _| simulation.correction = Correction::OFF);
    assert_eq!(error(&mut both), None);
}

#[test]
fn bodies_inserted_or_removed_between_hosts_are_displayed_at_once() {
    for kind in 1..3 {
        let (simulation, key) = flyer();
        let mut host = Host::new(simulation, kind);
        for _ in 0..20 {
            host.frame(MS(3), key);
        }
        let mut simulation = host.stop();
        let new = [RigidBodyBuilder::dynamic(), RigidBodyBuilder::fixed()];
        let new = new.map(|body| {
            let body = body.translation(Vector::Y * 9.0).gravity_scale(0.0);
            simulation.physics.insert(body, ColliderBuilder::ball(0.1))
        });
        simulation.physics.remove(key).unwrap();
        let mut host = Host::new(simulation, kind);
        for _ in 0..9 {
            for key in new {
                assert_eq!(host.frame(MS(1), key).0, 0.0);
            }
            let gone = match &host {
                Host::Loop(simulation) => simulation.pose(key),
                Host::Overlap(overlap) => overlap.view().pose(key),
                Host::Runner(both, _) => both.view().pose(key),
            };
            assert_eq!(gone, None);
        }
    }
}
