//! Frame times, slack, rates and pauses.

use super::*;

#[test]
fn a_pause_in_before_frame_stops_that_frame() {
    let (simulation, _) = flyer_in_space();
    let mut overlap = Overlap::new(simulation).unwrap();
    let mut game = Framed(|simulation: &mut Simulation| {
        if simulation.physics.tick() == 3 {
            simulation.pause();
        }
    });
    frames(&mut overlap, &mut game, 30);
    assert_eq!(overlap.stop(&mut game).0.physics.tick(), 3);
}

#[test]
fn frames_of_zero_time_run_no_steps() {
    let (simulation, key) = flyer_in_space();
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    for _ in 0..50 {
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        assert_eq!(x(&overlap, key), 0.0);
    }
    assert_eq!(game.calls, []);
    let simulation = overlap.stop(&mut game).0;
    assert_eq!(
        (simulation.physics.tick(), simulation.frame().number),
        (0, 50)
    );
}

#[test]
fn a_long_frame_is_cut_to_the_maximum_frame_time() {
    for (longest, steps) in [(None, 25), (Some(MS(40)), 4), (Some(Duration::MAX), 1_000)] {
        let (mut simulation, key) = flyer_in_space();
        if let Some(longest) = longest {
            simulation.clock_settings_mut().set_max_frame_time(longest);
        }
        let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        let view = overlap.frame(Duration::from_secs(10), &mut game).unwrap();
        // The last step is still running. It is displayed one step later than on one thread.
        assert_eq!((view.tick(), view.is_starved()), (steps - 1, false));
        assert_eq!(x(&overlap, key), (steps - 2) as f32);
        assert_eq!(game.count(After) as u64, steps - 1);
        // Then the steps continue as usual.
        frames(&mut overlap, &mut game, 3);
        assert_eq!(game.count(After) as u64, steps + 2);
    }
}

#[test]
fn steps_at_1_hz_are_displayed_on_time_and_stop_when_paused() {
    let mut simulation = scenes::space(1);
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation
        .physics
        .insert(body.can_sleep(false), scenes::ball());
    let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
    // A step takes four frames. The first step begins after the first second and ends after the second one.
    let shown: Vec<f32> = (0..14)
        .map(|_| {
            overlap.frame(MS(250), &mut game).unwrap();
            x(&overlap, key)
        })
        .collect();
    assert_eq!(shown[..8], [0.0; 8]);
    for (shown, x) in shown[8..].iter().zip([0.25, 0.5, 0.75, 1.0, 1.25, 1.5]) {
        scenes::assert_near(*shown, x);
    }
    assert_eq!((game.count(After), game.count(Before)), (2, 3));
    // The step that is already running is the last one before the pause takes effect.
    overlap.simulation(&mut game).unwrap().pause();
    for _ in 0..10 {
        overlap.frame(MS(250), &mut game).unwrap();
    }
    assert_eq!((game.count(After), game.count(Before)), (3, 3));
    // The picture runs on to its end.
    scenes::assert_near(x(&overlap, key), 3.0);
    // A single step runs in the frame after the request, and so do two.
    for steps in 1..=2 {
        let made = game.count(After);
        for _ in 0..steps {
            overlap.simulation(&mut game).unwrap().step_once();
        }
        overlap.frame(Duration::ZERO, &mut game).unwrap();
        assert_eq!(game.count(After), made + steps);
    }
    // Half of the fourth second had passed, and three steps ran during the pause. From the frame that resumes, the
    // displayed body moves again, twice as fast.
    overlap.simulation(&mut game).unwrap().resume();
    overlap
        .simulation(&mut game)
        .unwrap()
        .clock_settings_mut()
        .set_speed(2.0)
        .unwrap();
    let shown: Vec<f32> = (0..4)
        .map(|_| {
            overlap.frame(MS(250), &mut game).unwrap();
            x(&overlap, key)
        })
        .collect();
    assert_eq!(shown, [5.0, 5.5, 6.0, 6.5]);
    // The next step is due in a day, and nothing waits for it.
    let day = Rate::fraction(1, 86_400);
    overlap
        .simulation(&mut game)
        .unwrap()
        .clock_settings_mut()
        .set_rate(day);
    for _ in 0..8 {
        overlap.frame(MS(250), &mut game).unwrap();
    }
    assert!(
        in_time(move || overlap.stop(&mut Game::idle()).0)
            .physics
            .tick()
            > 5
    );
}

#[test]
fn less_slack_displays_steps_earlier_by_the_same_amount() {
    // Each step takes eight frames. The body moves at 1 m/s, and a step is 1 s long.
    let run = |slack: f32| {
        let mut simulation = scenes::space(1);
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let key = simulation
            .physics
            .insert(body.can_sleep(false), scenes::ball());
        let mut alone = simulation.clone();
        let (mut overlap, mut game) = (Overlap::new(simulation).unwrap(), Game::idle());
        overlap.set_slack(slack);
        let mut shown = Vec::new();
        for _ in 0..48 {
            alone.advance(MS(125), |_, _| ());
            overlap.frame(MS(125), &mut game).unwrap();
            shown.push((alone.clock().time().as_secs_f32(), x(&overlap, key)));
        }
        let bits = |simulation: &Simulation| *simulation.physics.body(key).unwrap().position();
        let (stopped, _) = overlap.stop(&mut game);
        assert_eq!(stopped.physics.tick(), alone.physics.tick());
        assert_eq!(bits(&stopped), bits(&alone));
        shown
    };
    let first = run(1.0)[47];
    let full = first.0 - first.1;
    // One thread displays the body one step late. This overlap adds one more step of delay.
    assert!((full - 2.0).abs() < 1e-5, "{full}");
    for (slack, less) in [
        (0.75, 0.25),
        (0.5, 0.5),
        (0.25, 0.75),
        (0.0, 1.0),
        (-3.0, 1.0),
        (7.0, 0.0),
    ] {
        // Once the first steps are over, the delay is constant and shorter by this part of a step.
        for (time, x) in &run(slack)[24..] {
            assert!(
                (time - x - (full - less)).abs() < 1e-5,
                "{slack}: {x} at {time}"
            );
        }
    }
    assert_eq!(run(f32::NAN), run(1.0));
}

#[test]
fn displayed_poses_match_displayed_time_when_the_rate_changes() {
    let (simulation, key) = flyer_in_space();
    let rates = [100, 10, 1_000, 60].map(Rate::hz);
    let mut game = Framed(move |simulation: &mut Simulation| {
        let tick = simulation.physics.tick();
        if tick % 10 == 9 {
            let rate = rates[(tick / 10 % 4) as usize];
            simulation.clock_settings_mut().set_rate(rate);
        }
    });
    let mut overlap = Overlap::new(simulation).unwrap();
    for _ in 0..2_000 {
        let time = overlap
            .frame(MS(3), &mut game)
            .unwrap()
            .time()
            .as_secs_f64();
        let off = x(&overlap, key) - 100.0 * time as f32;
        assert!(off.abs() < 0.02, "{off} m at {time}");
    }
}

#[test]
fn a_rate_that_falls_for_one_step_does_not_make_the_picture_skip() {
    let (simulation, key) = flyer_in_space();
    // So many frames of 7 ms are just long enough for one step.
    for (slow, frames) in [(30, 5), (20, 8), (10, 15)] {
        let mut frame = 0;
        let mut game = Framed(move |simulation: &mut Simulation| {
            let is_slow = (100..100 + frames).contains(&frame);
            let hz = if is_slow { slow } else { 1_000 };
            simulation.clock_settings_mut().set_rate(Rate::hz(hz));
            frame += 1;
        });
        let mut overlap = Overlap::new(simulation.clone()).unwrap();
        let mut last = 0.0;
        for i in 0..400 {
            overlap.frame(MS(7), &mut game).unwrap();
            let x = x(&overlap, key);
            // 7 ms at 100 m/s, at one and a half times the speed.
            assert!(
                x - last < 1.06,
                "{slow} Hz for {frames} frames: {last} to {x} in frame {i}"
            );
            last = x;
        }
    }
}
