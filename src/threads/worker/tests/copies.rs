//! Handed-over states are complete, and the run is that of one thread.

use super::*;
use crate::dim::testing::{cuboid, spin, vector};
use crate::pose::{Origin, PoseLog};
use crate::simulation::Kept;
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

/// Returns whether a screen displays the handed-over state as it would display the simulation's own bodies.
fn copies_are_whole<H: Hooks>(physics: &Worker<H>, alpha: f32) -> bool {
    let moment = Moment {
        frame: physics.simulation.frame().number,
        time: 0.0,
        alpha,
        lead: 0.0,
        elapsed: Duration::ZERO,
        smoothing: &SmoothingSettings::default(),
        origin: Origin::default(),
        has_render_data: false,
    };
    let shown = |movers: &Movers| {
        let mut screen = Screen::default();
        screen.show(movers, PoseLog::default(), &moment);
        screen.moved().iter().copied().collect::<BTreeMap<_, _>>()
    };
    let copy = physics
        .publisher
        .sent
        .last()
        .expect("it was just handed over");
    shown(&copy.movers) == shown(physics.simulation.physics.pairs.movers())
}

#[test]
fn handed_over_states_include_smoothing_and_visual_errors() {
    let (mut simulation, flyer) = flyer();
    simulation.keep(Kept {
        ticks: 50,
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
    let mut both = Both::new(simulation, Idle);
    let mut corrected = 0;
    for ms in (0..8_000).step_by(10) {
        if ms % 2_000 == 500 {
            both.call(move |simulation, _| {
                simulation.roll_back(simulation.physics.tick() - 5).unwrap();
                simulation
                    .physics
                    .apply_impulse(flyer, Vector::Y * 1e-4)
                    .unwrap();
            });
        }
        // Three bodies move until 4 s, and the flyer alone after that.
        if ms == 4_000 {
            both.runner.remove_body(off);
            both.runner.remove_body(curved);
        }
        both.physics(MS(ms));
        if ms % 30 == 0 {
            both.frame(MS(ms));
        }
        corrected += usize::from(both.view().screen().error(flyer).is_some());
        for alpha in [0.0, 0.4, 1.0] {
            assert!(copies_are_whole(&both.physics, alpha), "at {ms} ms");
        }
    }
    assert!((10..700).contains(&corrected), "{corrected}");
}

proptest! {
    #![proptest_config(crate::testing::random(40))]

    #[test]
    fn stalls_of_either_thread_change_no_step_and_lose_no_event(
        stalls in prop::collection::vec((0..60u64, any::<bool>()), 50..200),
    ) {
        let mut both = Both::new(floor(), ByTick(Vec::new()));
        let mut map = BTreeMap::<BodyKey, Pose>::new();
        let mut gone = BTreeSet::new();
        let (mut now, mut last) = (Duration::ZERO, 0.0);
        let mut ticks = Vec::new();
        for (stall, is_frame) in stalls {
            now += MS(stall);
            if !is_frame {
                both.physics(now);
                prop_assert!(copies_are_whole(&both.physics, (stall % 8) as f32 / 7.0));
                continue;
            }
            let view = both.frame(now);
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
            let events = both.view().events();
            prop_assert!(events.iter().all(|event| event.step() < both.view().tick()));
            ticks.extend(events.iter().map(|event| event.step()));
        }
        both.physics(now);
        // Displays the last state.
        for _ in 0..2 {
            now += MS(1_000);
            let view = both.frame(now);
            ticks.extend(view.events().iter().map(|event| event.step()));
        }
        prop_assert!(ticks.is_sorted(), "each step once, in order");

        let (mut alone, mut hooks) = (floor(), ByTick(Vec::new()));
        let mut expected = Vec::new();
        while alone.physics.tick() < both.tick() {
            alone.advance_with(MS(5), &mut hooks).unwrap();
            expected.extend(alone.events().iter().map(|event| event.step()));
        }
        prop_assert_eq!(bits(&alone), bits(&both.physics.simulation));
        prop_assert_eq!(ticks, expected);
        prop_assert_eq!(both.runner.lost_events(), 0);
    }
}
