//! The same commands give the same steps as in one thread, and bodies that change between frames reach every view.

use super::*;
use scenes::testing::{pose, spin, vector};
use std::convert::Infallible;

/// Pushes, inserts, removes and moves bodies, depending on the tick and the state alone, and fails in some steps.
#[derive(Clone, Default)]
struct Busy {
    seed: u64,
    begun: BTreeMap<u64, Vec<(BodyKey, Pose, Vector)>>,
    failed: u64,
}

impl Hooks for Busy {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let keys = keys(physics);
        let chance = mixed(self.seed << 32 | step.tick);
        let any = keys[(chance / 16) as usize % keys.len()];
        if chance % 16 == 15 && !step.is_resimulated && self.failed < step.tick {
            self.failed = step.tick;
            physics.add_force(any, Vector::Y).unwrap(); // dropped with the step
            return Err("injected");
        }
        match chance % 8 {
            0 => drop(physics.insert(RigidBodyBuilder::dynamic(), ball())),
            1 if keys.len() > 2 => drop(physics.remove(any)),
            _ => physics.apply_impulse(any, vector(0.1, 0.2, 0.0)).unwrap(),
        }
        let state = |(key, body): (BodyKey, &RigidBody)| (key, *body.position(), body.linvel());
        let state = physics.bodies().map(state).collect();
        self.begun.insert(step.tick, state);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        if step.tick % 8 == 3 {
            physics.shift_origin(Vector::X * 0.5).unwrap();
        } else if step.tick % 8 == 5 {
            let key = keys(physics)[0];
            let by = pose(Vector::Y, spin(0.0, 0.0, 0.5));
            physics.teleport_by(key, by).unwrap();
        }
        Ok(())
    }
}

fn keys(physics: &Physics) -> Vec<BodyKey> {
    let mut keys: Vec<_> = physics.bodies().map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys
}

const COMMANDS: [fn(&mut Simulation); 9] = [
    |simulation| drop(simulation.roll_back(simulation.physics.tick().saturating_sub(3))),
    |simulation| drop(simulation.rewind(simulation.physics.tick().saturating_sub(2))),
    |simulation| simulation.correct(simulation.physics.clone()).unwrap(),
    |simulation| {
        // The state has another tick and other bodies.
        let (other, _) = flyer_in_space();
        simulation.physics = other.physics;
    },
    |simulation| {
        let key = keys(&simulation.physics)[0];
        simulation.physics.teleport(key, Pose::IDENTITY).unwrap();
    },
    |simulation| {
        simulation
            .physics
            .insert_body(RigidBodyBuilder::dynamic().linvel(Vector::Y));
    },
    Simulation::pause,
    Simulation::resume,
    |simulation| simulation.step_once(),
];

#[test]
fn the_same_commands_give_the_same_steps_as_in_one_thread() {
    for seed in 0..40 {
        let (mut simulation, _) = flyer_in_space();
        simulation.keep(Kept {
            ticks: 30,
            ..simulation.kept()
        });
        let mut alone = simulation.clone();
        let mut reference = Busy {
            seed,
            ..Busy::default()
        };
        let mut driver = Driver::new(simulation, reference.clone());
        for number in 0..80 {
            let chance = mixed(seed << 40 | number << 20 | 1);
            if chance.is_multiple_of(3) {
                let command = COMMANDS[chance as usize / 3 % COMMANDS.len()];
                command(&mut alone);
                driver.call(move |simulation, _| command(simulation));
                driver.run(MS(10 * number));
            }
            let now = MS(10 * number + 10);
            driver.in_time(now);
            driver.frame(now);
            let _ = alone.advance_with(MS(10), &mut reference);
            assert_eq!(driver.tick(), alone.physics.tick(), "{seed}, {number}");
            assert_eq!(driver.hooks().begun, reference.begun, "{seed}, {number}");
        }
    }
}

#[test]
fn the_view_lists_bodies_changed_by_a_call_that_advances_a_frame() {
    let (mut simulation, _) = flyer_in_space();
    let old = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let mut driver = Driver::new(simulation, Idle);
    driver.run(MS(50));
    assert!(driver.frame(MS(50)).pose(old).is_some());
    let (sender, new) = channel();
    driver.call(move |simulation, _| {
        simulation.physics.remove(old).unwrap();
        let new = simulation.physics.insert_body(RigidBodyBuilder::fixed());
        simulation.advance(MS(30), |_, _| ());
        sender.send(new).unwrap();
    });
    let (mut removed, mut moved) = (Vec::new(), Vec::new());
    for ms in (60..200).step_by(5) {
        driver.run(MS(ms));
        let view = driver.frame(MS(ms));
        removed.extend_from_slice(view.removed());
        moved.extend(view.moved().iter().map(|(key, _)| *key));
    }
    let new = new.recv().unwrap();
    assert_eq!(removed, [old]);
    assert!(moved.contains(&new));
    assert!(driver.view().pose(old).is_none() && driver.view().pose(new).is_some());
}

#[test]
fn moved_and_removed_are_empty_on_the_physics_thread() {
    #[derive(Default)]
    struct Lists(usize);
    impl Hooks for Lists {
        type Error = Infallible;

        fn before_frame(
            &mut self,
            simulation: &mut Simulation,
            _: FrameTime,
        ) -> Result<(), Infallible> {
            let rock = simulation.physics.insert_body(RigidBodyBuilder::fixed());
            self.0 += simulation.moved().len() + simulation.removed().len();
            simulation.physics.remove(rock).unwrap();
            Ok(())
        }
    }
    let (mut simulation, key) = flyer_in_space();
    let rock = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    let mut driver = Driver::new(simulation, Lists::default());
    for ms in (0..100).step_by(5) {
        driver.run(MS(ms));
        driver.frame(MS(ms));
    }
    driver.call(move |simulation, lists| {
        simulation.physics.remove(key).unwrap();
        lists.0 += simulation.moved().len() + simulation.removed().len();
        assert_eq!(simulation.pose(rock), Some(Pose::IDENTITY));
        assert_eq!(simulation.pose(key), None);
    });
    driver.run(MS(100));
    assert_eq!(driver.hooks().0, 0);
}

#[test]
fn after_a_stop_only_removals_not_yet_displayed_are_listed() {
    for is_displayed in [false, true] {
        let (mut simulation, key) = flyer_in_space();
        let rock = simulation.physics.insert_body(RigidBodyBuilder::fixed());
        let mut driver = Driver::new(simulation, Idle);
        driver.run(MS(50));
        assert!(driver.frame(MS(50)).pose(rock).is_some());
        driver.remove(rock);
        driver.run(MS(100));
        if is_displayed {
            // This is longer than the delay of the view.
            driver.run(MS(130));
            driver.frame(MS(130));
        }
        let (mut simulation, _) = driver.stop(MS(130));
        let mut removed = Vec::new();
        for _ in 0..5 {
            simulation.advance(MS(5), |_, _| ());
            removed.extend_from_slice(simulation.removed());
        }
        let expected: &[BodyKey] = if is_displayed { &[] } else { &[rock] };
        assert_eq!(removed, expected);
        assert!(simulation.pose(key).is_some() && simulation.pose(rock).is_none());
    }
}
