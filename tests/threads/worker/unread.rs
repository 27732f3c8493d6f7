//! A game that asks for no frame, as a server or with a hidden window: memory and the cost of a step stay the same, and
//! the next frame displays everything.

use super::*;
use allocation_counter::{AllocationInfo, measure};
use scenes::testing::translation;

/// Changes in every step: fixed bodies are teleported, balls enter and leave sensors, and a bullet is replaced.
#[derive(Default)]
struct Busy {
    platforms: Vec<BodyKey>,
    balls: Vec<BodyKey>,
    bullets: Vec<BodyKey>,
    /// A body that was displayed, to be removed.
    displayed: Option<BodyKey>,
    events: u64,
}

impl Busy {
    fn new(simulation: &mut Simulation, platforms: u16, balls: u16) -> Self {
        let physics = &mut simulation.physics;
        let insert_fixed = |physics: &mut Physics, x: u16, y: f32, collider: ColliderBuilder| {
            let body = RigidBodyBuilder::fixed().pose(at(x, y));
            physics.insert(body, collider)
        };
        for x in 0..balls {
            let sensor = ball().sensor(true).active_events(ActiveEvents::all());
            let sensor = sensor.active_collision_types(ActiveCollisionTypes::all());
            insert_fixed(physics, x, 20.0, sensor);
        }
        Self {
            platforms: (0..platforms)
                .map(|x| insert_fixed(physics, x, 0.0, ball()))
                .collect(),
            balls: (0..balls)
                .map(|x| {
                    let body = RigidBodyBuilder::kinematic_position_based().pose(at(x, 23.0));
                    physics.insert(body, ball())
                })
                .collect(),
            displayed: Some(insert_fixed(physics, 0, 40.0, ball())),
            ..Self::default()
        }
    }
}

fn at(x: u16, y: f32) -> Pose {
    translation(10.0 * f32::from(x), y, 0.0)
}

impl Hooks for Busy {
    type Error = std::convert::Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        let y = (step.tick % 10) as f32 * 0.1;
        for (key, x) in self.platforms.iter().zip(0..) {
            physics.teleport(*key, at(x, y)).unwrap();
        }
        let y = [20.0, 23.0][(step.tick % 2) as usize];
        for (key, x) in self.balls.iter().zip(0..) {
            physics.teleport(*key, at(x, y)).unwrap();
        }
        if let Some(last) = self.bullets.last() {
            physics.remove(*last);
        }
        let body = RigidBodyBuilder::dynamic().pose(at(0, 60.0));
        self.bullets.push(physics.insert(body, ball()));
        if let Some(key) = self.displayed.take_if(|_| step.tick == 20) {
            physics.remove(key);
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Self::Error> {
        self.events += physics.events().len() as u64;
        Ok(())
    }
}

/// Runs steps up to these ticks without a frame, and returns what each part has allocated. Then computes a frame.
fn run(platforms: u16, balls: u16, events: usize, ticks: [u64; 3]) -> [AllocationInfo; 3] {
    let mut simulation = scenes::space(100);
    let mut busy = Busy::new(&mut simulation, platforms, balls);
    busy.bullets.reserve(20_000);
    let keys = busy.platforms.clone();
    let displayed = busy.displayed.expect("it is there");
    let mut settings = RunnerSettings::default();
    settings.events = events;
    let (mut runner, mut worker) = Runner::without_thread(simulation, busy, settings);
    let mut seen = 0;
    for tick in 0..10 {
        worker.run_until(MS(10 * tick));
        seen += runner.frame_at(MS(10 * tick)).events().len();
    }
    assert!(runner.view().pose(displayed).is_some());
    let parts = ticks.map(|end| {
        measure(|| {
            for tick in worker.simulation().physics.tick() + 1..=end {
                worker.run_until(MS(10 * tick));
                // A server reads the failures.
                assert!(runner.failures().is_empty());
            }
        })
    });
    let now = MS(10 * ticks[2] + 20);
    let removed = runner.frame_at(now).removed().to_vec();
    seen += runner.view().events().len();
    let (view, physics) = (runner.view(), &worker.simulation().physics);
    for key in keys {
        assert_eq!(view.pose(key), physics.body(key).map(|it| *it.position()));
    }
    assert!(removed.contains(&displayed));
    let busy = worker.hooks();
    let [bullets @ .., last] = &busy.bullets[..] else {
        panic!("there is a bullet");
    };
    assert!(view.pose(*last).is_some());
    // The newest removals are listed, and the others are counted.
    let listed = bullets.iter().rev().take_while(|key| removed.contains(key));
    assert!(listed.count() >= 1_000);
    let lost = runner.lost_removals();
    assert!(lost + removed.len() as u64 >= bullets.len() as u64 - 10);
    assert_eq!(runner.lost_events() + seen as u64, busy.events);
    parts
}

/// The third part allocates no more than the second one per step, and keeps nothing of it.
fn assert_constant(ticks: [u64; 3], [_, second, third]: [AllocationInfo; 3]) {
    let per_step = |count: u64, part: usize| count / (ticks[part] - ticks[part - 1]);
    let counts = [(second, 1), (third, 2)].map(|(it, part)| per_step(it.count_total, part));
    let bytes = [(second, 1), (third, 2)].map(|(it, part)| per_step(it.bytes_total, part));
    assert!(counts[1] <= counts[0] + counts[0] / 10, "{counts:?}");
    assert!(bytes[1] <= bytes[0] + bytes[0] / 10, "{bytes:?}");
    let kept = third.bytes_current / (ticks[2] - ticks[1]) as i64;
    // A thread pool frees some jobs of a step on other threads.
    assert!(kept < 60, "{kept} bytes of each step are kept");
}

#[test]
fn steps_that_nobody_reads_take_no_more_memory_after_a_while() {
    let ticks = [1_000, 2_000, 10_000];
    assert_constant(ticks, run(20, 1, 1_000, ticks));
}

#[test]
fn hundreds_of_events_per_step_that_nobody_reads_take_no_more_memory_after_a_while() {
    let ticks = [300, 600, 1_200];
    assert_constant(ticks, run(2, 150, 200, ticks));
}

#[test]
fn visual_errors_outlast_a_second_without_a_frame_at_every_rate() {
    for (rate, speed) in [(60, 1.0), (60, 120.0), (240, 1.0), (1_000, 1.0)] {
        let mut simulation = scenes::space(rate);
        simulation.correction = Correction::linear(Duration::from_secs(20));
        let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
        let key = simulation.physics.insert(body, ball());
        let mut driver = Driver::new(simulation, Idle);
        driver.set_speed(speed);
        let frame = |driver: &mut Driver<Idle>, ms| {
            driver.in_time(MS(ms));
            driver.frame(MS(ms));
        };
        (0..200).for_each(|ms| frame(&mut driver, ms));
        driver.call(move |simulation, _| {
            let physics = &mut simulation.physics;
            let pose = *physics.body(key).unwrap().position();
            let from = pose.append_translation(Vector::Y);
            physics.show_from(key, from).unwrap();
        });
        (200..400).for_each(|ms| frame(&mut driver, ms));
        (400..1_400).for_each(|ms| {
            driver.in_time(MS(ms));
        });
        frame(&mut driver, 1_400);
        let y = driver.view().pose(key).unwrap().translation.y;
        assert!(y > 0.9, "{rate} Hz, speed {speed}: {y}");
        let data = driver.view().render_data().unwrap();
        assert_eq!(data.jumped(), [], "{rate} Hz, speed {speed}");
    }
}
