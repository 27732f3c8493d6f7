//! Errors and panics.

use super::*;

#[test]
fn failures_are_bounded_and_those_lost_are_counted() {
    struct Never;
    impl Hooks for Never {
        type Error = ();
        fn before_step(&mut self, _: &mut Simulation, _: Step) -> Result<(), ()> {
            Err(())
        }
    }
    let mut both = Both::new(flyer().0, Never);
    for ms in 1..=1_500 {
        both.physics(MS(10 * ms));
        if ms % 400 == 0 {
            both.frame(MS(10 * ms));
        }
    }
    assert_eq!(both.runner.failures().len(), 1_000);
    assert_eq!(both.runner.lost_failures(), 500);
}

#[test]
fn a_question_that_panics_is_reported_and_the_game_goes_on() {
    let (simulation, _) = flyer();
    let mut both = Both::new(simulation, Idle);
    both.runner.ask(|_| panic!("of no use")).map(drop).unwrap();
    both.physics(MS(10));
    both.pause();
    both.runner.ask(|_| panic!("of no use")).map(drop).unwrap();
    both.physics(MS(20));
    both.resume();
    both.physics(MS(30));
    let next = both.physics(MS(40));
    assert!(next.is_some() && both.tick() > 1);
    let failures = both.runner.failures();
    assert_eq!(
        format!("{failures:?}"),
        "[Question { tick: 1, .. }, Question { tick: 1, .. }]"
    );
}

struct Fails(Option<&'static str>);

impl Hooks for Fails {
    type Error = &'static str;

    fn before_step(&mut self, _: &mut Simulation, step: Step) -> Result<(), Self::Error> {
        assert_ne!(step.tick, 6, "no sixth step");
        match self.0.take_if(|_| step.tick == 3) {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

#[test]
fn a_panic_is_reported_and_what_was_shown_stays_until_it_recovers() {
    for keeps_states in [false, true] {
        let (mut simulation, key) = flyer();
        simulation.set_rewind_limits(u64::from(keeps_states) * 4, usize::MAX);
        let mut both = Both::new(simulation, Fails(Some("no third step")));
        for ms in 0..=10 {
            both.physics(MS(10 * ms));
        }
        let shown = both.frame(MS(100)).pose(key).unwrap();
        let failures = both.runner.failures();
        assert_eq!(
            format!("{failures:?}"),
            r#"[Hook { tick: 3, error: "no third step" }, Panic { tick: 6, .. }]"#
        );
        assert_eq!(both.physics(MS(110)), None);
        both.teleport(key, Pose::IDENTITY);
        assert_eq!(both.physics(MS(120)), None);
        assert_eq!(both.frame(MS(120)).pose(key), Some(shown));
        both.call(|simulation, _| simulation.clock_settings_mut().set_tick(100));
        both.runner.recover().unwrap();
        // It panics again, as it is the same step.
        assert_eq!(both.physics(MS(130)), None);
        both.frame(MS(130));
        let failures = both.runner.failures();
        assert_eq!(failures.len(), usize::from(keeps_states));
        let (simulation, _) = both.physics.into_parts();
        assert_eq!(simulation.tick(), 6);
    }
}
