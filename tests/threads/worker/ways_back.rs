//! Games that go back in time and replace their state while bodies come and go, slots are reused and the origin moves.
//! In every loop, a map kept from the lists of each frame equals the displayed poses, and a saved state can be loaded.

use super::*;
use evenstep::threads::Overlap;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

#[derive(Clone, Default)]
struct Churn {
    /// The run. Each change of the past begins another one.
    run: u64,
    is_over: bool,
    guest: Option<BodyKey>,
}

impl Hooks for Churn {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if self.is_over {
            return Ok(());
        }
        let chance = mixed(self.run << 32 | step.tick);
        let mut keys: Vec<_> = physics.bodies().map(|(key, _)| key).collect();
        keys.sort_unstable();
        let at = RigidBodyBuilder::dynamic().translation(Vector::Y * (chance / 64 % 20) as f32);
        let any = keys.get((chance / 8) as usize % keys.len().max(1));
        match (chance % 8, any) {
            (0, _) => drop(physics.insert(at.linvel(Vector::X), ball())),
            (1, _) => drop(physics.insert_body(RigidBodyBuilder::fixed())),
            (2, _) => drop(physics.insert_body(at.sleeping(true))),
            (3 | 4, Some(key)) => drop(physics.remove(*key)),
            (5, Some(key)) => physics.teleport(*key, Pose::IDENTITY).unwrap(),
            _ => (),
        }
        // The body uses the slot that was just freed.
        if chance % 16 == 3 {
            physics.insert_body(RigidBodyBuilder::fixed());
        }
        if let (6, Some(key)) = (chance / 128 % 16, any)
            && let Some(body) = physics.body_mut(*key)
        {
            body.set_linvel(Vector::splat(f32::NAN), true);
        }
        if chance / 2048 % 32 == 7 && !step.is_resimulated {
            return Err("injected");
        }
        // The guest lives for less than a frame.
        self.guest = (chance / 16)
            .is_multiple_of(8)
            .then(|| physics.insert_body(RigidBodyBuilder::dynamic()));
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if let Some(guest) = self.guest.take() {
            // The guest is missing if the state was replaced since.
            drop(physics.remove(guest));
        }
        let chance = mixed(!(self.run << 32 | step.tick));
        let mut keys: Vec<_> = physics.bodies().map(|(key, _)| key).collect();
        keys.sort_unstable();
        if let (0 | 1, Some(key)) = (chance % 8, keys.last()) {
            // A portal. It fails if the body's position is not finite.
            let _ = physics.teleport_by(*key, Pose::from_translation(Vector::Y));
        }
        if (chance / 8).is_multiple_of(16) && !self.is_over {
            physics.shift_origin(Vector::X).unwrap();
        }
        Ok(())
    }
}

/// Changes the past of a simulation, which displays its frames itself or leaves that to a view.
fn change_the_past(
    simulation: &mut Simulation,
    has_view: bool,
    kept: &mut Vec<Simulation>,
    chance: u64,
) {
    let tick = simulation.physics.tick();
    let back = tick.saturating_sub(chance / 8 % 6);
    match chance % 8 {
        0 | 1 => drop(simulation.rewind(back)),
        2 => drop(simulation.roll_back(back)),
        3 => kept.push(simulation.clone()),
        // A view detects another simulation. In one thread, nobody would list its bodies as removed.
        4 | 5 if chance % 8 == 4 || !has_view => {
            if let Some(state) = kept.pop() {
                let state = state.physics;
                if let Err(error) = simulation.correct(state) {
                    simulation.physics = *error.state;
                }
            }
        }
        5 => {
            if let Some(state) = kept.pop() {
                *simulation = state;
                simulation.keep(Kept {
                    ticks: 100,
                    ..simulation.kept()
                });
            }
        }
        6 => {
            let mut other = Simulation::default();
            other.physics.insert_body(RigidBodyBuilder::fixed());
            simulation.physics = other.physics;
        }
        _ => {
            // Goes forward again, as far as the states are known.
            let last = simulation.rewindable().end.saturating_sub(1);
            if last > tick && simulation.steps_to_resimulate() == 0 {
                drop(simulation.rewind(last));
            }
        }
    }
    #[cfg(feature = "serde")]
    if (chance / 64).is_multiple_of(4)
        && let Ok(bytes) = simulation.save()
    {
        Simulation::load(&bytes).unwrap();
    }
}

enum Loop {
    OneThread(Simulation),
    Pull(Simulation),
    Overlap(Box<Overlap>),
    Runner(Box<Driver<Churn>>, Duration),
}

type Lists = (Vec<(BodyKey, Pose)>, Vec<BodyKey>);

impl Loop {
    fn new(simulation: Simulation, kind: u64) -> Self {
        match kind {
            0 => Self::OneThread(simulation),
            1 => Self::Overlap(Overlap::new(simulation).unwrap().into()),
            2 => Self::Pull(simulation),
            _ => Self::Runner(
                Driver::new(simulation, Churn::default()).into(),
                Duration::ZERO,
            ),
        }
    }

    fn has_view(&self) -> bool {
        matches!(self, Self::Overlap(_) | Self::Runner(..))
    }

    fn edit<T: Send + 'static>(
        &mut self,
        churn: &mut Churn,
        edit: impl FnOnce(&mut Simulation) -> T + Send + 'static,
    ) -> T {
        match self {
            Self::OneThread(simulation) | Self::Pull(simulation) => edit(simulation),
            Self::Overlap(overlap) => edit(overlap.simulation(churn).unwrap()),
            Self::Runner(driver, now) => {
                set_hooks(driver, churn);
                driver.edit(*now, edit)
            }
        }
    }

    fn frame(&mut self, frame_time: Duration, churn: &mut Churn) -> Lists {
        match self {
            Self::OneThread(simulation) => {
                let _ = simulation.advance_with(frame_time, churn);
                (simulation.moved().to_vec(), simulation.removed().to_vec())
            }
            Self::Pull(simulation) => {
                simulation.begin_frame(frame_time);
                pull(simulation, churn);
                simulation.end_frame();
                (simulation.moved().to_vec(), simulation.removed().to_vec())
            }
            Self::Overlap(overlap) => {
                let _ = overlap.frame(frame_time, churn);
                let view = overlap.view();
                (view.moved().to_vec(), view.removed().to_vec())
            }
            Self::Runner(driver, now) => {
                *now += frame_time;
                set_hooks(driver, churn);
                driver.in_time(*now);
                let view = driver.frame(*now);
                (view.moved().to_vec(), view.removed().to_vec())
            }
        }
    }

    fn pose(&self, key: BodyKey) -> Option<Pose> {
        match self {
            Self::OneThread(simulation) | Self::Pull(simulation) => simulation.pose(key),
            Self::Overlap(overlap) => overlap.view().pose(key),
            Self::Runner(driver, _) => driver.view().pose(key),
        }
    }
}

fn set_hooks(driver: &Driver<Churn>, churn: &Churn) {
    let churn = churn.clone();
    driver.call(|_, hooks| *hooks = churn);
}

/// Runs the steps of a frame. After some of them it goes back in time, and may correct the state with a copy.
fn pull(simulation: &mut Simulation, churn: &mut Churn) {
    while let Some(step) = simulation.next_step() {
        if churn.before_step(&mut simulation.physics, step).is_err() {
            return;
        }
        simulation.run_step();
        let _ = churn.after_step(&mut simulation.physics, step);
        let chance = mixed(churn.run << 20 | step.tick << 1);
        if step.is_resimulated || churn.is_over || !chance.is_multiple_of(8) {
            continue;
        }
        churn.run += 1;
        let tick = simulation.physics.tick().saturating_sub(chance / 8 % 6);
        if simulation.roll_back(tick).is_ok() && (chance / 64).is_multiple_of(2) {
            simulation.correct(simulation.physics.clone()).unwrap();
        }
    }
}

fn check_displayed_bodies(kind: u64, seed: u64) {
    let mut simulation = Simulation::new(Rate::hz(100));
    simulation.keep(Kept {
        ticks: 100,
        ..simulation.kept()
    });
    let mut host = Loop::new(simulation, kind);
    let mut churn = Churn {
        run: seed << 8,
        ..Churn::default()
    };
    let kept = Arc::new(Mutex::new(Vec::new()));
    let mut displayed = BTreeMap::new();
    for number in 0..150 {
        let chance = mixed(seed << 40 | number << 20);
        if chance.is_multiple_of(5) && number < 140 {
            let (kept, has_view) = (Arc::clone(&kept), host.has_view());
            host.edit(&mut churn, move |simulation| {
                change_the_past(simulation, has_view, &mut kept.lock().unwrap(), chance / 5);
            });
            churn.run += 1;
        }
        if number == 140 {
            host.edit(&mut churn, Simulation::resume);
            churn.is_over = true;
        } else if number < 140 && chance.is_multiple_of(11) {
            host.edit(&mut churn, |simulation| {
                if simulation.clock().settings().is_paused() {
                    simulation.resume()
                } else {
                    simulation.pause()
                }
            });
        }
        let frame_time =
            MS([0, 3, 7, 10, 12, 25, 40][chance as usize / 11 % 7].max(number / 140 * 15));
        let (moved, removed) = host.frame(frame_time, &mut churn);
        for key in removed {
            displayed.remove(&key);
        }
        displayed.extend(moved);
        let case = format!("loop {kind}, seed {seed}, frame {number}");
        for (key, pose) in &displayed {
            assert_eq!(host.pose(*key), Some(*pose), "{case}");
        }
        if let Loop::OneThread(simulation) | Loop::Pull(simulation) = &host {
            assert_eq!(
                simulation.physics.bodies().count(),
                displayed.len(),
                "{case}"
            );
        }
    }
    let there: BTreeSet<_> = host.edit(&mut churn, |simulation| {
        simulation.physics.bodies().map(|(key, _)| key).collect()
    });
    assert!(
        there.iter().eq(displayed.keys()),
        "loop {kind}, seed {seed}"
    );
}

#[test]
fn a_map_kept_from_moved_and_removed_equals_displayed_poses_after_rewinds() {
    let seeds = std::env::var("SEEDS").map_or(40, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        for kind in 0..4 {
            check_displayed_bodies(kind, seed);
        }
    }
}

/// A body that a rollback brings back before a frame has displayed its removal was never gone for the game.
#[test]
fn a_removal_that_a_rollback_takes_back_in_time_is_not_displayed() {
    struct Idle;
    impl Hooks for Idle {
        type Error = ();
    }
    let (mut simulation, key) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 20,
        ..simulation.kept()
    });
    let mut driver = Driver::new(simulation, Idle);
    for ms in 1..=10 {
        driver.run(MS(10 * ms));
        driver.frame(MS(10 * ms));
    }
    driver.call(move |simulation, _| drop(simulation.physics.remove(key)));
    driver.run(MS(110));
    driver.call(|simulation, _| {
        let tick = simulation.physics.tick() - 3;
        simulation.resimulate(tick, |_, _| ()).unwrap();
    });
    for ms in 12..=20 {
        driver.run(MS(10 * ms));
        let view = driver.frame(MS(10 * ms));
        assert_eq!(view.removed(), [], "{ms}");
        assert!(view.pose(key).is_some());
    }
    assert!(driver.physics().body(key).is_some());
}
