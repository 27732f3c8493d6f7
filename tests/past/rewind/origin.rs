//! Shifts of the origin before, in and after a rollback.

use super::*;

#[test]
fn no_rollback_undoes_an_origin_shift_outside_a_step() {
    let shift =
        |simulation: &mut Simulation| simulation.physics.shift_origin(Vector::X * 100.0).unwrap();
    let all_due = |simulation: &mut Simulation| {
        while simulation.next_step().is_some() {
            simulation.run_step();
        }
    };
    // Between two frames, before a frame's first step, after its last one, and before the first resimulated step.
    for place in 0..4 {
        let (mut simulation, key) = flyer_with_states(20);
        advance(&mut simulation, 50);
        if place == 0 {
            shift(&mut simulation);
        }
        simulation.begin_frame(MS(20));
        if place == 1 {
            shift(&mut simulation);
        }
        all_due(&mut simulation);
        if place == 2 {
            shift(&mut simulation);
        }
        if place == 3 {
            simulation.roll_back(3).unwrap();
            shift(&mut simulation);
            all_due(&mut simulation);
        }
        simulation.end_frame();
        advance(&mut simulation, 20);
        let first = [5, 5, 7, 3][place];
        assert_eq!(simulation.rewindable(), first..9, "{place}");
        assert!(simulation.roll_back(2).is_err());
        simulation.resimulate(first, |_, _| ()).unwrap();
        let x = current_pose(&simulation, key).unwrap().translation.x;
        assert!((x + 91.0).abs() < 1e-3, "{x} at {place}");
    }
}

/// No step is pending after `resimulate` has returned.
#[test]
fn an_origin_shift_after_resimulate_counts_as_outside_a_step() {
    let (mut simulation, key) = flyer_with_states(20);
    advance(&mut simulation, 50);
    simulation.resimulate(3, |_, _| ()).unwrap();
    simulation.physics.shift_origin(Vector::X * 100.0).unwrap();
    assert!(simulation.rewindable().is_empty());
    advance(&mut simulation, 20);
    assert_eq!(simulation.rewindable(), 5..7);
    simulation.resimulate(5, |_, _| ()).unwrap();
    let x = current_pose(&simulation, key).unwrap().translation.x;
    assert!((x + 93.0).abs() < 1e-3, "{x}");
}

/// Shifts the origin after a step.
struct ShiftsAfter(u64);

impl Hooks for ShiftsAfter {
    type Error = evenstep::VectorError;

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if step.tick == self.0 {
            physics.shift_origin(Vector::X * 100.0)?;
        }
        Ok(())
    }
}

#[test]
fn an_origin_shift_after_a_step_is_repeated_by_resimulation() {
    // Within the frame, and after its last step.
    for tick in [5, 9] {
        let (mut simulation, key) = flyer_with_states(20);
        let mut game = ShiftsAfter(tick);
        simulation.advance_with(MS(100), &mut game).unwrap();
        assert_eq!(simulation.rewindable(), 0..10);
        for first in [2, 9] {
            simulation.resimulate_with(first, &mut game).unwrap();
            let x = current_pose(&simulation, key).unwrap().translation.x;
            assert!((x + 90.0).abs() < 1e-3, "{x} from {first} on");
        }
    }
}

/// Shifts the origin in a step, and fails in that step the first time.
struct ShiftsAndFails {
    tick: u64,
    has_failed: bool,
}

impl Hooks for ShiftsAndFails {
    type Error = ();

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        if step.tick == self.tick && !std::mem::replace(&mut self.has_failed, true) {
            physics.shift_origin(Vector::X * 100.0).unwrap();
            return Err(());
        }
        Ok(())
    }
}

#[test]
fn no_rollback_undoes_an_origin_shift_in_an_aborted_step() {
    let (mut simulation, key) = flyer_with_states(20);
    let mut game = ShiftsAndFails {
        tick: 5,
        has_failed: false,
    };
    simulation.advance_with(MS(80), &mut game).unwrap_err();
    assert_eq!(simulation.physics.tick(), 5);
    advance(&mut simulation, 30);
    assert_eq!(
        (simulation.physics.tick(), simulation.rewindable()),
        (8, 5..8)
    );
    for tick in 0..5 {
        assert!(simulation.roll_back(tick).is_err());
    }
    simulation.resimulate(5, |_, _| ()).unwrap();
    let x = current_pose(&simulation, key).unwrap().translation.x;
    assert!((x + 92.0).abs() < 1e-3, "{x}");
}

#[test]
fn an_origin_shift_before_a_step_is_repeated_by_resimulation() {
    let (mut simulation, key) = flyer_with_states(20);
    let shift = |physics: &mut Physics, step: Step| {
        if step.tick == 5 {
            physics.shift_origin(Vector::X * 100.0).unwrap();
        }
    };
    simulation.advance(MS(104), shift);
    let shown = simulation.pose(key);
    simulation.resimulate(2, shift).unwrap();
    assert_eq!(simulation.visual_error(key), None);
    simulation.advance(MS(0), shift);
    assert_eq!(simulation.pose(key), shown);
}

#[test]
fn the_pose_before_a_step_stays_until_the_step_that_shifts_the_origin_has_run() {
    let (mut simulation, body) = scenes::flyer_in_space();
    simulation.advance(MS(30), |_, _| ());
    simulation.begin_frame(MS(10));
    let step = simulation.next_step().unwrap();
    let before = simulation.pose_at(body, step.tick, 1.0);
    simulation.physics.shift_origin(Vector::Y * 7.0).unwrap();
    assert_eq!(simulation.next_step(), Some(step));
    simulation.confirm(0);
    assert!(simulation.roll_back(0).is_err());
    assert_eq!(simulation.pose_at(body, step.tick, 1.0), before);
    assert!(simulation.world_at(step.tick, 1.0).is_err());
}
