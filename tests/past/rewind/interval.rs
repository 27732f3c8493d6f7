//! Snapshots that are some ticks apart.

use super::*;
use evenstep::rewind::Kept;

/// The limits hold, and memory is divided by the interval.
fn flyer_with_interval(ticks: u64, interval: u64) -> (Simulation, BodyKey) {
    let (mut simulation, key) = flyer_with_states(ticks);
    simulation.keep(Kept {
        interval,
        ..simulation.kept()
    });
    (simulation, key)
}

#[test]
fn states_are_kept_one_rewind_interval_apart() {
    let run = |interval| {
        let (mut simulation, _) = flyer_with_interval(20, interval);
        for _ in 0..10 {
            advance(&mut simulation, 100);
        }
        simulation
    };
    let [mut each, mut eighth, zero] = [1, 8, 0].map(run);
    assert_eq!(each.rewindable(), 80..100);
    assert_eq!(zero.rewindable(), 80..100);
    assert_eq!(eighth.rewindable(), 80..100);
    assert_eq!(each.rewind_bytes() / 20, eighth.rewind_bytes() / 3);
    advance(&mut eighth, 30);
    // Rewinds reach at least twenty steps back, so the oldest state is the one before them.
    assert_eq!(eighth.rewindable(), 80..103);
    advance(&mut eighth, 50);
    assert_eq!(eighth.rewindable(), 88..108);

    for tick in [89, 95, 103] {
        let kept = 88..108;
        let error = RewindError::NotKept { tick, kept };
        assert_eq!(eighth.rewind(tick), Err(error.clone()));
        assert_eq!(eighth.world_at(tick, 1.0).unwrap_err(), error);
    }
    assert!(eighth.world_at(96, 0.5).is_ok());
    eighth.rewind(96).unwrap();
    assert_eq!(eighth.physics.tick(), 96);
    // The present was kept in addition.
    eighth.rewind(108).unwrap();

    // The limit in bytes has room for two states.
    let bytes = each.rewind_bytes() / 20;
    each.keep(Kept {
        interval: 8,
        ticks: 20,
        bytes: 2 * bytes,
        ..each.kept()
    });
    advance(&mut each, 200);
    assert_eq!(each.rewindable(), 104..120);
    each.keep(Kept {
        ticks: 20,
        bytes: bytes / 2,
        ..each.kept()
    });
    assert!(each.rewindable().is_empty());
}

/// With a longer interval, states before the only one within the limit would never be discarded.
#[test]
fn a_rewind_interval_is_capped_at_the_rewind_limit() {
    let (mut simulation, _) = flyer_with_interval(20, u64::MAX);
    for _ in 0..20 {
        advance(&mut simulation, 100);
        let kept = simulation.rewindable();
        assert!(kept.end - kept.start <= 40);
    }
    simulation.rewind(180).unwrap();
}

/// No step leads to a corrected state, so a rollback to a later tick does not begin before it.
#[test]
fn a_rollback_to_a_later_tick_never_undoes_a_correction() {
    let height = |simulation: &Simulation, key| true_pose(simulation, key).translation.y;
    for (interval, is_late) in [(1, false), (1, true), (4, false), (4, true)] {
        let (mut simulation, key) = flyer_with_interval(60, interval);
        let mut theirs = simulation.clone();
        advance(&mut theirs, 60);
        theirs
            .physics
            .teleport(key, translation(0.0, 50.0, 0.0))
            .unwrap();
        advance(&mut simulation, if is_late { 100 } else { 60 });
        simulation.roll_back(6).unwrap();
        run_up_to(&mut simulation, 6);
        simulation.correct(theirs.physics).unwrap();
        advance(&mut simulation, 30);
        assert_eq!(height(&simulation, key), 50.0);
        for _ in 0..3 {
            simulation.resimulate(7, |_, _| ()).unwrap();
            assert_eq!(height(&simulation, key), 50.0);
        }
    }
}

/// The step after the state is pending, aborted, and pending again.
#[test]
fn a_corrected_state_is_kept_although_its_next_step_is_aborted() {
    let (mut simulation, key) = flyer_with_interval(60, 4);
    let mut theirs = simulation.clone();
    advance(&mut theirs, 60);
    advance(&mut simulation, 60);
    theirs
        .physics
        .teleport(key, translation(0.0, 50.0, 0.0))
        .unwrap();
    simulation.correct(theirs.physics).unwrap();
    simulation.begin_frame(MS(10));
    simulation.next_step().unwrap();
    simulation.end_frame();
    advance(&mut simulation, 30);
    simulation.resimulate(7, |_, _| ()).unwrap();
    assert_eq!(true_pose(&simulation, key).translation.y, 50.0);
}

/// A rollback to a tick between two states may be repeated before it has reached that tick.
#[test]
fn a_rollback_to_a_tick_between_two_snapshots_can_be_repeated() {
    let at =
        |simulation: &Simulation| (simulation.physics.tick(), simulation.steps_to_resimulate());
    let (mut simulation, _) = flyer_with_interval(20, 8);
    for _ in 0..5 {
        advance(&mut simulation, 100);
    }
    simulation.roll_back(45).unwrap();
    assert_eq!(at(&simulation), (40, 10));
    simulation.roll_back(45).unwrap();
    simulation.next_step().unwrap();
    simulation.run_step();
    simulation.roll_back(45).unwrap();
    assert_eq!(at(&simulation), (41, 9));
    // After that tick, whose state is kept now, a rollback returns to it.
    for _ in 0..5 {
        simulation.next_step().unwrap();
        simulation.run_step();
    }
    simulation.roll_back(45).unwrap();
    assert_eq!(at(&simulation), (45, 5));
    // The steps of later ticks are due already.
    simulation.roll_back(48).unwrap();
    assert_eq!(at(&simulation), (45, 5));
    simulation.begin_frame(MS(0));
    while simulation.next_step().is_some() {
        simulation.run_step();
    }
    assert_eq!(simulation.end_frame().resimulated, 1 + 5 + 5);
    // The next rollback begins at the state of the last one, or at an earlier one.
    assert_eq!(simulation.rewindable().end, 50);
    for (tick, from) in [(46, 45), (47, 46), (46, 40), (46, 46), (41, 40), (39, 32)] {
        simulation.roll_back(tick).unwrap();
        assert_eq!(at(&simulation), (from, 50 - from), "{tick}");
        simulation.resimulate(u64::MAX, |_, _| ()).unwrap();
    }
}

#[test]
fn confirmed_ticks_have_no_states_but_the_one_for_the_next_rollback() {
    let (mut simulation, key) = flyer_with_states(20);
    simulation.keep(Kept {
        interval: 4,
        poses: 12,
        ..simulation.kept()
    });
    for _ in 0..3 {
        advance(&mut simulation, 100);
    }
    let bytes = simulation.rewind_bytes();
    assert_eq!(simulation.rewindable(), 8..30);
    let pose = simulation.pose_at(key, 20, 0.5);
    assert!(pose.is_some());
    simulation.confirm(22);
    // The inputs that arrived with this knowledge may still belong to earlier ticks.
    simulation.roll_back(19).unwrap();
    assert_eq!(simulation.physics.tick(), 16);
    simulation.resimulate(u64::MAX, |_, _| ()).unwrap();
    assert_eq!(simulation.pose_at(key, 20, 0.5), pose);
    advance(&mut simulation, 10);
    assert_eq!(simulation.rewindable(), 22..31);
    assert!(simulation.rewind_bytes() < bytes);
    assert!(simulation.pose_at(key, 21, 0.5).is_some());
    // An earlier tick changes nothing.
    simulation.confirm(0);
    assert!(simulation.roll_back(21).is_err());
    // The next rollback begins at the confirmed tick. The next new step discards that state.
    for tick in [23, 24, 25] {
        simulation.confirm(tick);
        simulation.roll_back(tick - 1).unwrap();
        assert_eq!(simulation.physics.tick(), tick - 1);
        simulation.resimulate(u64::MAX, |_, _| ()).unwrap();
        advance(&mut simulation, 10);
        assert_eq!(simulation.rewindable().start, tick);
    }
    // Everything is known, and then nothing: the limits hold for later states.
    simulation.confirm(u64::MAX);
    advance(&mut simulation, 100);
    assert_eq!(simulation.rewindable(), 40..44);
    simulation.rewind(40).unwrap();
    for _ in 0..3 {
        advance(&mut simulation, 100);
    }
    assert_eq!(simulation.rewindable(), 48..70);
}

#[test]
fn a_confirmed_rollback_that_stops_half_way_can_start_over() {
    let (mut simulation, _) = flyer_with_states(20);
    advance(&mut simulation, 200);
    for tick in [5, 9, 10] {
        simulation.confirm(tick + 3);
        simulation.roll_back(tick).unwrap();
        for _ in 0..2 {
            simulation.next_step().unwrap();
            simulation.run_step();
        }
        assert!(simulation.rewindable().start <= tick);
        simulation.roll_back(tick).unwrap();
        assert!(simulation.physics.tick() <= tick);
        simulation.resimulate(u64::MAX, |_, _| ()).unwrap();
        // Only the confirmed tick has a state from there on.
        let kept = (tick..20).filter(|tick| simulation.world_at(*tick, 1.0).is_ok());
        assert_eq!(kept.collect::<Vec<_>>(), [tick + 3]);
    }
}

#[test]
fn a_failed_step_of_a_rollback_leaves_a_state_to_go_back_to() {
    let (mut simulation, _) = flyer_with_interval(20, 8);
    for _ in 0..3 {
        advance(&mut simulation, 100);
    }
    assert_eq!(simulation.rewindable(), 8..30);
    // Each rollback stops before its tick. The oldest state stays, and all ticks from there on can be reached.
    for tick in [13, 22, 21, 20, 10, 9, 8] {
        simulation.roll_back(tick).unwrap();
        simulation.next_step().unwrap();
        simulation.run_step();
        assert_eq!(simulation.rewindable().start, 8, "{tick}");
        simulation.roll_back(8).unwrap();
        assert_eq!(simulation.physics.tick(), 8);
        simulation.resimulate(u64::MAX, |_, _| ()).unwrap();
    }
}

/// Checks that an unfinished rollback to `tick` can start over before each of its steps, and right after the last one.
fn assert_starts_over(simulation: &mut Simulation, tick: u64) {
    let present = simulation.clock().tick();
    for stop in tick..=present {
        simulation.roll_back(tick).unwrap();
        while simulation.physics.tick() < stop && simulation.next_step().is_some() {
            simulation.run_step();
        }
        simulation.roll_back(tick).unwrap();
        assert!(simulation.physics.tick() <= tick, "{tick} from {stop}");
        simulation.resimulate(u64::MAX, |_, _| ()).unwrap();
    }
}

#[test]
fn a_confirmed_rollback_can_start_over_in_each_frame() {
    for interval in [1, 2, 4, 7] {
        for ticks in [4, 8, 20] {
            let (mut simulation, _) = flyer_with_interval(ticks, interval);
            advance(&mut simulation, 200);
            for _ in 0..12 {
                let present = simulation.physics.tick();
                simulation.confirm(present - 2);
                assert_starts_over(&mut simulation, present - 3);
                advance(&mut simulation, 10);
                // The next new step discards what only that rollback needed.
                assert_eq!(simulation.rewindable().start, present - 2);
            }
        }
    }
}

#[test]
fn a_rollback_keeps_the_state_from_which_it_starts_over_beyond_a_confirmed_one() {
    let (mut simulation, _) = flyer_with_interval(4, 4);
    advance(&mut simulation, 110);
    assert_eq!(simulation.rewindable(), 4..11);
    simulation.confirm(6);
    assert_starts_over(&mut simulation, 5);
}

#[test]
fn a_rollback_can_start_over_after_a_call_of_keep() {
    let (mut simulation, _) = flyer_with_interval(4, 4);
    advance(&mut simulation, 110);
    simulation.confirm(6);
    simulation.roll_back(5).unwrap();
    while simulation.physics.tick() < 10 {
        simulation.next_step().unwrap();
        simulation.run_step();
    }
    simulation.keep(simulation.kept());
    assert_starts_over(&mut simulation, 5);
}
