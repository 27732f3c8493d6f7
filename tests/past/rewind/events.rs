//! Events of resimulated steps: new, confirmed and retracted ones.

use super::*;

#[test]
fn a_resimulated_step_has_the_same_tick_time_and_events() {
    let mut game = Match::new(100);
    let mut first = Watch::default();
    for millis in [10, 40, 3, 190, 66] {
        if millis == 3 {
            game.simulation.clock_settings_mut().set_speed(0.5).unwrap();
            game.simulation.clock_settings_mut().set_rate(Rate::hz(75));
        }
        game.simulation.begin_frame(MS(millis));
        first.pull(&mut game.simulation);
        game.simulation.end_frame();
    }
    assert!(first.steps.len() > 5 && first.steps.iter().any(|(.., events)| *events > 0));
    for from in 0..first.steps.len() {
        let mut again = Watch::default();
        let before = game.state();
        game.simulation
            .resimulate_with(from as u64, &mut again)
            .unwrap();
        let expected: Vec<_> = first.steps[from..]
            .iter()
            .map(|(step, tick, time, events)| {
                let mut step = *step;
                step.is_resimulated = true;
                (step, *tick, *time, *events)
            })
            .collect();
        assert_eq!(again.steps, expected);
        assert_eq!(game.state(), before);
        let mut pulled = Watch::default();
        game.simulation.roll_back(from as u64).unwrap();
        pulled.pull(&mut game.simulation);
        assert_eq!(pulled.steps, expected);
        // The clock stays at the present throughout.
        let clock = game.simulation.clock();
        let present = (clock.tick(), clock.real_time());
        assert_eq!(pulled.clocks, vec![present; expected.len()]);
        assert_eq!(game.state(), before);
        let changes = game.simulation.event_changes();
        let of_steps: usize = expected.iter().map(|(.., events)| events).sum();
        assert_eq!(changes.confirmed.collisions().count(), of_steps);
        assert!(changes.new.is_empty() && changes.retracted.is_empty());
    }
}

#[test]
fn resimulated_events_are_reported_as_new_confirmed_or_retracted() {
    let (mut simulation, ball) = ball_and_sensor();
    advance(&mut simulation, 100);
    assert_eq!(starts(simulation.events()), [6]);
    // The ball is stopped before it hits.
    simulation
        .resimulate(3, |physics, step| {
            if step.tick == 3 {
                physics
                    .body_mut(ball)
                    .unwrap()
                    .set_linvel(Vector::ZERO, true);
            }
        })
        .unwrap();
    let changes = simulation.event_changes();
    assert_eq!(starts(changes.retracted), [6]);
    assert!(starts(changes.new).is_empty());
    // In another rollback, the stopped ball flies on from step 5.
    simulation
        .resimulate(4, |physics, step| {
            if step.tick == 5 {
                physics
                    .body_mut(ball)
                    .unwrap()
                    .set_linvel(Vector::X * 100.0, true);
            }
        })
        .unwrap();
    assert_eq!(starts(simulation.event_changes().new), [8]);
    assert!(starts(simulation.event_changes().retracted).is_empty());
    // The start in tick 8 was reported as new before, so it is confirmed now.
    simulation.resimulate(6, |_, _| ()).unwrap();
    assert_eq!(starts(simulation.event_changes().confirmed), [8]);
    let frame = advance(&mut simulation, 0);
    assert_eq!((frame.steps, frame.resimulated), (0, 7 + 6 + 4));
    assert_eq!(starts(simulation.events()), [8]);
}

/// If a hook fails after the last resimulated step, the changes describe the present at once. After other failures they
/// do so once the remaining steps have run.
#[test]
fn event_changes_describe_the_corrected_present_after_a_hook_fails() {
    struct Fails {
        ball: BodyKey,
        at: u64,
        is_after: bool,
    }
    impl Fails {
        fn fail(&self, is_after: bool, step: Step) -> Result<(), &'static str> {
            let fails = self.is_after == is_after && self.at == step.tick;
            if fails { Err("on purpose") } else { Ok(()) }
        }
    }
    impl Hooks for Fails {
        type Error = &'static str;

        fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), &'static str> {
            self.fail(false, step)?;
            if step.tick == 3 {
                let ball = physics.body_mut(self.ball).unwrap();
                ball.set_linvel(Vector::ZERO, true);
            }
            Ok(())
        }

        fn after_step(&mut self, _: &mut Physics, step: Step) -> Result<(), &'static str> {
            self.fail(true, step)
        }
    }
    for is_in_frame in [false, true] {
        for (at, is_after) in [(9, true), (9, false), (7, true), (3, false)] {
            let (mut simulation, ball) = ball_and_sensor();
            advance(&mut simulation, 100);
            let mut fails = Fails { ball, at, is_after };
            if is_in_frame {
                simulation.roll_back(3).unwrap();
                simulation.advance_with(MS(0), &mut fails).unwrap_err();
            } else {
                simulation.resimulate_with(3, &mut fails).unwrap_err();
            }
            let is_over = (at, is_after) == (9, true);
            let left = if is_over {
                0
            } else {
                10 - simulation.physics.tick()
            };
            assert_eq!(simulation.physics.tick(), at + u64::from(is_after));
            assert_eq!(simulation.steps_to_resimulate(), left);
            let retracted = |simulation: &Simulation| starts(simulation.event_changes().retracted);
            let expected: &[u64] = if is_over { &[6] } else { &[] };
            assert_eq!(retracted(&simulation), expected, "{at}, {is_after}");
            // In the present, the ball rests in front of the sensor, and frames display it there.
            fails.at = u64::MAX;
            simulation.advance_with(MS(0), &mut fails).unwrap();
            assert_eq!(simulation.physics.tick(), 10);
            assert_eq!(retracted(&simulation), [6]);
            let x = simulation.physics.body(ball).unwrap().translation().x;
            assert!(x < 4.0, "{x}");
            assert_eq!(simulation.pose(ball).unwrap().translation.x, x);
        }
    }
}

#[test]
fn frame_events_exclude_those_of_resimulated_steps() {
    let (mut simulation, _) = ball_and_sensor();
    advance(&mut simulation, 70);
    assert_eq!(starts(simulation.events()), [6]);
    simulation.roll_back(2).unwrap();
    let mut seen = Vec::new();
    struct Listener<'a>(&'a mut Vec<(u64, bool)>);
    impl Hooks for Listener<'_> {
        type Error = std::convert::Infallible;

        fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
            if !physics.events().in_step(step.tick).is_empty() {
                self.0.push((step.tick, step.is_resimulated));
            }
            Ok(())
        }
    }
    simulation
        .advance_with(MS(30), &mut Listener(&mut seen))
        .unwrap();
    assert_eq!(
        seen,
        [(6, true), (8, false)],
        "the contact starts again, and stops for the first time"
    );
    let events = simulation.events();
    assert!(events.iter().all(|event| event.step() >= 7), "{events:?}");
    assert_eq!(starts(simulation.event_changes().confirmed), [6]);
}

/// The frames of a game that starts a sound for each start that is displayed.
fn displayed(simulation: &mut Simulation, millis: u64) -> Vec<u64> {
    advance(simulation, millis);
    starts(simulation.events())
}

/// Sets the speed of the ball in the step of tick 3, and runs the steps from there on again.
fn set_speed_at_3(simulation: &mut Simulation, ball: BodyKey, speed: f32) {
    let set_speed = |physics: &mut Physics, step: Step| {
        if step.tick == 3 {
            let ball = physics.body_mut(ball).unwrap();
            ball.set_linvel(Vector::X * speed, true);
        }
    };
    simulation.resimulate(3, set_speed).unwrap();
}

#[test]
fn events_are_displayed_by_the_frame_of_their_step_and_once() {
    let (mut simulation, _) = ball_and_sensor();
    assert!(displayed(&mut simulation, 60).is_empty());
    // Within a frame, the last picture's events stay.
    simulation.begin_frame(MS(10));
    assert!(simulation.next_step().is_some());
    simulation.run_step();
    assert!(simulation.next_step().is_none());
    assert_eq!(starts(simulation.physics.events()), [6]);
    assert!(starts(simulation.events()).is_empty());
    simulation.end_frame();
    assert_eq!(starts(simulation.events()), [6]);
    assert!(displayed(&mut simulation, 3).is_empty());
    assert!(displayed(&mut simulation, 30).is_empty());
}

#[test]
fn an_event_that_a_rollback_retracts_in_its_frame_is_never_displayed() {
    let (mut simulation, ball) = ball_and_sensor();
    simulation.begin_frame(MS(100));
    while simulation.next_step().is_some() {
        simulation.run_step();
    }
    set_speed_at_3(&mut simulation, ball, 0.0);
    simulation.end_frame();
    assert!(starts(simulation.events()).is_empty());
    assert_eq!(starts(simulation.event_changes().retracted), [6]);
    // It happens after all.
    set_speed_at_3(&mut simulation, ball, 100.0);
    assert_eq!(displayed(&mut simulation, 0), [6]);
}

#[test]
fn an_event_that_was_displayed_and_retracted_is_not_displayed_again() {
    let (mut simulation, ball) = ball_and_sensor();
    assert_eq!(displayed(&mut simulation, 100), [6]);
    for frames in 0..3 {
        set_speed_at_3(&mut simulation, ball, 0.0);
        for _ in 0..frames {
            assert!(displayed(&mut simulation, 3).is_empty());
        }
        set_speed_at_3(&mut simulation, ball, 100.0);
        assert!(displayed(&mut simulation, 3).is_empty());
    }
    // In another step it is another event.
    set_speed_at_3(&mut simulation, ball, 60.0);
    assert_eq!(displayed(&mut simulation, 0), [8]);
}

#[test]
fn a_frame_in_a_rollback_displays_no_events_and_keeps_those_to_be_displayed() {
    let (mut simulation, _) = ball_and_sensor();
    advance(&mut simulation, 60);
    simulation.begin_frame(MS(10));
    simulation.next_step();
    simulation.run_step();
    simulation.roll_back(5).unwrap();
    simulation.next_step();
    simulation.run_step();
    simulation.end_frame();
    assert_eq!(simulation.steps_to_resimulate(), 1);
    assert!(simulation.events().is_empty());
    // The copy has them, too.
    let mut copy = simulation.clone();
    assert_eq!(displayed(&mut simulation, 0), [6]);
    assert_eq!(displayed(&mut copy, 0), [6]);
}

#[test]
fn after_a_rewind_or_an_assignment_steps_run_as_new_ones() {
    let (mut simulation, _) = ball_and_sensor();
    assert_eq!(displayed(&mut simulation, 100), [6]);
    let start = {
        simulation.rewind(2).unwrap();
        simulation.physics.clone()
    };
    assert_eq!(displayed(&mut simulation, 70), [6]);
    simulation.physics = start;
    assert_eq!(displayed(&mut simulation, 50), [6]);
}

#[test]
fn a_correction_changes_no_events_of_the_steps_before_it() {
    let (mut simulation, _) = ball_and_sensor();
    simulation.keep(Kept {
        ticks: 50,
        interval: 10,
        ..Kept::default()
    });
    advance(&mut simulation, 70);
    let state = simulation.physics.clone();
    advance(&mut simulation, 50);
    simulation.roll_back(7).unwrap();
    assert_eq!(simulation.physics.tick(), 0);
    run_up_to(&mut simulation, 7);
    simulation.correct(state).unwrap();
    simulation.resimulate(u64::MAX, |_, _| ()).unwrap();
    let changes = simulation.event_changes();
    assert!(changes.retracted.is_empty(), "{:?}", changes.retracted);
    assert!(changes.new.is_empty());
}

#[test]
fn a_copy_displays_the_same_events_even_if_a_state_was_assigned_since() {
    let (mut simulation, _) = ball_and_sensor();
    assert_eq!(displayed(&mut simulation, 70), [6]);
    assert_eq!(starts(simulation.clone().events()), [6]);
    simulation.physics = simulation.physics.clone();
    assert_eq!(starts(simulation.events()), [6]);
    assert_eq!(starts(simulation.clone().events()), [6]);
}

/// Balls that enter sensors in every step and leave them again, unless they are `away`.
fn enter(physics: &mut Physics, balls: &[BodyKey], step: Step, is_away: bool) {
    let is_inside = step.tick.is_multiple_of(2) && !is_away;
    for (key, x) in balls.iter().zip(0u16..) {
        let y = if is_inside { 0.0 } else { 3.0 };
        let at = translation(10.0 * f32::from(x), y, 0.0);
        physics.teleport(*key, at).unwrap();
    }
}

fn balls_and_sensors(count: u16) -> (Simulation, Vec<BodyKey>) {
    let mut simulation = space(100);
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let balls = (0..count).map(|x| {
        let at = translation(10.0 * f32::from(x), 0.0, 0.0);
        let sensor = ball().sensor(true).active_events(ActiveEvents::all());
        simulation
            .physics
            .insert(RigidBodyBuilder::fixed().pose(at), sensor);
        simulation
            .physics
            .insert(RigidBodyBuilder::dynamic().pose(at), ball())
    });
    let balls = balls.collect();
    (simulation, balls)
}

#[test]
fn frames_after_a_rollback_that_retracted_events_allocate_no_more_than_before() {
    let [usual, later] = [false, true].map(|is_away| {
        let (mut simulation, balls) = balls_and_sensors(50);
        for _ in 0..30 {
            simulation.advance(MS(10), |physics, step| enter(physics, &balls, step, false));
        }
        let rerun = |physics: &mut Physics, step: Step| enter(physics, &balls, step, is_away);
        simulation.resimulate(22, rerun).unwrap();
        let retracted = simulation.event_changes().retracted.len();
        assert_eq!(retracted > 300, is_away, "{retracted}");
        let frame = |simulation: &mut Simulation| {
            simulation.begin_frame(MS(10));
            while let Some(step) = simulation.next_step() {
                enter(&mut simulation.physics, &balls, step, false);
                simulation.run_step();
            }
            let end = allocation_counter::measure(|| {
                simulation.end_frame();
            });
            assert_eq!(simulation.events().len(), 50);
            end.bytes_total
        };
        for _ in 0..2 {
            frame(&mut simulation);
        }
        // The states that the rollback can reach are still kept.
        (0..10).map(|_| frame(&mut simulation)).max().unwrap()
    });
    assert!(later <= usual, "{later} bytes instead of {usual}");
}

#[test]
fn hundreds_of_events_that_a_rollback_changes_in_each_frame_are_displayed_once() {
    let (mut simulation, balls) = balls_and_sensors(100);
    let mut displayed = BTreeMap::<_, u32>::new();
    for frame in 0..60u64 {
        simulation.begin_frame(MS(10));
        let tick = simulation.physics.tick();
        simulation
            .roll_back(tick.saturating_sub(frame % 5))
            .unwrap();
        while let Some(step) = simulation.next_step() {
            enter(&mut simulation.physics, &balls, step, frame % 3 == 0);
            simulation.run_step();
        }
        simulation.end_frame();
        for hit in simulation.events().collisions() {
            *displayed
                .entry((hit.step, hit.colliders[0].into_raw_parts(), hit.started))
                .or_default() += 1;
        }
    }
    assert!(displayed.len() > 3_000, "{}", displayed.len());
    assert!(displayed.values().all(|count| *count == 1));
}

/// Late input: the ball flew up at tick 2. Then the game gives the rollback up, and stays at a later tick.
#[test]
fn a_dropped_rollback_reports_the_events_of_its_steps() {
    let (mut simulation, ball) = ball_and_sensor();
    assert_eq!(displayed(&mut simulation, 100), [6]);
    simulation.roll_back(2).unwrap();
    while simulation.physics.tick() < 8 {
        let step = simulation.next_step().unwrap();
        if step.tick == 2 {
            let body = simulation.physics.body_mut(ball).unwrap();
            body.set_linvel(Vector::Y * 100.0, true);
        }
        simulation.run_step();
    }
    simulation.rewind(8).unwrap();
    assert_eq!(starts(simulation.event_changes().retracted), [6]);
    assert!(displayed(&mut simulation, 30).is_empty());
}

/// The step at hand begins again: a rollback in which no step runs again.
#[test]
fn a_rollback_without_resimulated_steps_has_no_changes_of_events() {
    let (mut simulation, ball) = ball_and_sensor();
    assert_eq!(displayed(&mut simulation, 100), [6]);
    let stop = |physics: &mut Physics, step: Step| {
        if step.tick == 2 {
            let body = physics.body_mut(ball).unwrap();
            body.set_linvel(Vector::Y * 100.0, true);
        }
    };
    simulation.resimulate(2, stop).unwrap();
    assert!(!simulation.event_changes().retracted.is_empty());
    simulation.begin_frame(MS(20));
    let step = simulation.next_step().unwrap();
    simulation.roll_back(step.tick).unwrap();
    assert_eq!(simulation.steps_to_resimulate(), 0);
    let changes = simulation.event_changes();
    assert!(changes.retracted.is_empty() && changes.new.is_empty());
}
