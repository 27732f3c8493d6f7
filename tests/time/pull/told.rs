//! Loops that the test in `forgotten` runs alone, each in another process.

use super::*;

#[test]
#[ignore = "the test in `forgotten` runs it alone"]
fn a_loop_skips_end_frame() {
    let (mut simulation, _) = flyer_in_space();
    for _ in 0..200 {
        simulation.begin_frame(MS(10));
        make_steps(&mut simulation);
    }
    assert_eq!(simulation.physics.tick(), 200);
}

#[test]
#[ignore = "the test in `forgotten` runs it alone"]
fn a_loop_skips_make_step() {
    let (mut simulation, _) = flyer_in_space();
    for _ in 0..200 {
        simulation.begin_frame(MS(10));
        assert!(simulation.next_step().is_some());
        simulation.end_frame();
    }
    assert_eq!(simulation.physics.tick(), 0);
}

#[test]
#[ignore = "the test in `forgotten` runs it alone"]
fn a_loop_repeats_next_step_without_make_step() {
    let (mut simulation, _) = flyer_in_space();
    simulation.begin_frame(MS(10));
    let mut steps = 0;
    while simulation.next_step().is_some() && steps < 200 {
        steps += 1;
    }
    assert_eq!(steps, 200);
}

/// The library reports nothing for these hooks either, because they abort their steps on purpose.
#[test]
#[ignore = "the test in `forgotten` runs it alone"]
fn loops_skip_no_call_by_mistake() {
    struct Fails;

    impl Hooks for Fails {
        type Error = ();

        fn before_step(&mut self, _: &mut Physics, _: Step) -> Result<(), ()> {
            Err(())
        }
    }

    let (mut simulation, _) = flyer_in_space();
    simulation.set_rewind_limits(20, usize::MAX);
    for _ in 0..200 {
        simulation.begin_frame(MS(25));
        make_steps(&mut simulation);
        simulation.end_frame();
        simulation.advance(MS(10), |_, _| ());
        let tick = simulation.physics.tick();
        simulation.resimulate(tick - 2, |_, _| ()).unwrap();
    }
    for _ in 0..200 {
        simulation.advance_with(MS(10), &mut Fails).unwrap_err();
    }
    for _ in 0..200 {
        let panics = || simulation.advance(MS(10), |_, _| panic!("a bug of the game"));
        catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
    }
}
