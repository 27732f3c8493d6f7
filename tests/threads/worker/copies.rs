//! Displayed states are complete, and the run is that of one thread.

use super::*;
use proptest::prelude::*;
use scenes::cases::scaled;
use scenes::testing::{cuboid, spin, vector};
use std::collections::BTreeSet;

struct ByTick(Vec<BodyKey>);

impl Hooks for ByTick {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let x = (step.tick % 7) as f32;
        if step.tick.is_multiple_of(5) {
            let body = RigidBodyBuilder::dynamic().translation(vector(x, 4.0, 0.3 * x));
            let ball = ColliderBuilder::ball(0.4).active_events(ActiveEvents::COLLISION_EVENTS);
            self.0.push(physics.insert(body, ball));
        }
        if step.tick % 11 == 10 {
            physics.remove(self.0.remove(0));
        }
        for key in &self.0 {
            let _ = physics.add_force(*key, Vector::X * (x - 3.0));
        }
        Ok(())
    }
}

fn floor() -> Simulation {
    let mut simulation = Simulation::new(Rate::hz(60));
    simulation.keep(Kept {
        poses: 200,
        ..simulation.kept()
    });
    let floor = cuboid(20.0, 0.5, 20.0);
    simulation.physics.insert(RigidBodyBuilder::fixed(), floor);
    simulation
}

fn bits(simulation: &Simulation) -> Vec<(RigidBodyHandle, Pose, Vector, AngVector)> {
    let bodies = simulation.physics.rapier().bodies.iter();
    bodies
        .map(|(handle, body)| (handle, *body.position(), body.linvel(), body.angvel()))
        .collect()
}

/// Returns the bodies that are not displayed where the simulation knows them at that tick and alpha, bit for bit.
fn differing<H>(driver: &Driver<H>) -> Vec<BodyKey>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    let (view, simulation) = (driver.view(), driver.simulation());
    let (tick, alpha) = (view.tick(), view.alpha());
    let keys = simulation.physics.bodies().map(|(key, _)| key);
    keys.filter(|key| simulation.pose_at(*key, tick, alpha) != view.pose(*key))
        .collect()
}

#[test]
fn displayed_states_include_smoothing_and_visual_errors() {
    let (mut simulation, flyer) = flyer_in_space();
    simulation.keep(Kept {
        ticks: 50,
        poses: 50,
        ..simulation.kept()
    });
    let turning = RigidBodyBuilder::dynamic().angvel(spin(0.0, 9.0, 0.0));
    let off_centre = || ColliderBuilder::ball(1.0).translation(Vector::X * 5.0);
    let [off, curved] = [(); 2].map(|()| simulation.physics.insert(turning.clone(), off_centre()));
    let hermite = Some(Smoothing::Hermite);
    simulation
        .physics
        .set_body_smoothing(curved, hermite)
        .unwrap();
    let mut driver = Driver::new(simulation, Idle);
    let mut corrected = 0;
    for ms in 0..8_000 {
        if ms % 2_000 == 500 {
            driver.call(move |simulation, _| {
                simulation.roll_back(simulation.physics.tick() - 5).unwrap();
                simulation
                    .physics
                    .apply_impulse(flyer, Vector::Y * 0.02)
                    .unwrap();
            });
        }
        // Three bodies move until 4 s, and the flyer alone after that.
        if ms == 4_000 {
            driver.remove_with_entity(off);
            driver.remove_with_entity(curved);
        }
        if ms % 10 == 0 {
            driver.run(MS(ms));
        }
        if ms % 3 == 0 {
            driver.frame(MS(ms));
            let differing = differing(&driver);
            assert!(differing.is_empty() || differing == [flyer], "at {ms} ms");
            // Only frames display visual errors.
            corrected += differing.len();
        }
    }
    assert!((10..2_000).contains(&corrected), "{corrected}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(scaled(40)))]

    #[test]
    fn stalls_of_either_thread_change_no_step_and_lose_no_event(
        stalls in prop::collection::vec((0..60u64, any::<bool>()), 50..200),
    ) {
        let mut driver = Driver::new(floor(), ByTick(Vec::new()));
        let mut map = BTreeMap::<BodyKey, Pose>::new();
        let mut gone = BTreeSet::new();
        let (mut now, mut last) = (Duration::ZERO, 0.0);
        let mut ticks = Vec::new();
        for (stall, is_frame) in stalls {
            now += MS(stall);
            if !is_frame {
                driver.run(now);
                continue;
            }
            let view = driver.frame(now);
            prop_assert!(view.time().as_secs_f64() >= last);
            last = view.time().as_secs_f64();
            for key in view.removed() {
                map.remove(key);
                prop_assert!(gone.insert(*key), "removed once, even if it was never displayed");
                prop_assert_eq!(view.pose(*key), None);
            }
            map.extend(view.moved().iter().copied());
            for (key, pose) in &map {
                prop_assert_eq!(view.pose(*key), Some(*pose));
            }
            prop_assert_eq!(differing(&driver), []);
            let events = driver.view().events();
            prop_assert!(events.iter().all(|event| event.step() < driver.view().tick()));
            ticks.extend(events.iter().map(|event| event.step()));
        }
        driver.run(now);
        // Displays the last state.
        for _ in 0..2 {
            now += MS(1_000);
            let view = driver.frame(now);
            ticks.extend(view.events().iter().map(|event| event.step()));
        }
        prop_assert!(ticks.is_sorted(), "each step once, in order");

        let (mut alone, mut hooks) = (floor(), ByTick(Vec::new()));
        let mut expected = Vec::new();
        while alone.physics.tick() < driver.tick() {
            alone.advance_with(MS(5), &mut hooks).unwrap();
            expected.extend(alone.events().iter().map(|event| event.step()));
        }
        prop_assert_eq!(bits(&alone), bits(driver.simulation()));
        prop_assert_eq!(ticks, expected);
        prop_assert_eq!(driver.runner.lost_events(), 0);
    }
}
