//! Laws that hold for a simulation on one thread, in an `Overlap` and in a `Runner`.

mod bits;
mod exchanges;
mod extrapolated;
mod picture;
mod waiting;

use evenstep::input::TickQueue;
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::threads::{Overlap, Runner, RunnerSettings, View, Worker};
use evenstep::time::FrameTime;
use evenstep::{BodyKey, Hooks, Physics, Rate, Simulation, Step};
use scenes::everything::{Everything, Script};
use scenes::testing::{translation, vector};
use scenes::{MS, PATIENCE, ball, hash, space};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// The number of steps to compare.
const STEPS: usize = 120;

/// The observable result of a step: bodies, particles and events.
type Seen = (u64, u64, Vec<Vector>, String);

/// Runs the steps that are due, and then a frame.
fn run_frame<'a, H>(
    runner: &'a mut Runner<H>,
    worker: &mut Worker<H>,
    now: Duration,
) -> &'a View<H::Error>
where
    H: Hooks + Send + 'static,
    H::Error: Send + 'static,
{
    while worker.run_until(now).is_some_and(|next| next <= now) {}
    runner.frame_at(now)
}

/// A scene with everything in it and input that depends on the tick, and the result of each step.
struct Game {
    script: Script,
    input: TickQueue<Deed>,
    filters: Arc<Filters>,
    seen: Vec<Seen>,
    /// Receives the number of each step. The receiver may be gone.
    steps: Sender<u64>,
    /// The longest stall of either side. The number of the step determines its length.
    stalls: u64,
}

/// A player's action in a step.
#[derive(Clone, Copy, Debug)]
enum Deed {
    Push,
    Lift,
    Jump,
    Shift,
}

/// Rapier's own hooks. Guests fall through other bodies in every third step, and the player slides.
#[derive(Default)]
struct Filters {
    calls: AtomicU64,
    filters: AtomicU64,
}

impl PhysicsHooks for Filters {
    fn filter_contact_pair(&self, _: &PairFilterContext) -> Option<SolverFlags> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let is_solid = self.filters.load(Ordering::Relaxed) == 0;
        is_solid.then(SolverFlags::default)
    }

    fn modify_solver_contacts(&self, contacts: &mut ContactModificationContext) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(manifold) = contacts.rigid_mut() {
            *manifold.friction = 0.05;
        }
    }
}

/// Yields to other threads a few times. This stall waits for no clock.
fn stall(seed: u64, most: u64) {
    if most > 0 {
        let turns = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (0..turns % most).for_each(|_| std::thread::yield_now());
    }
}

fn game(hz: u32, stalls: u64) -> (Simulation, Game, Receiver<u64>) {
    let Everything {
        mut simulation,
        script,
    } = Everything::new();
    simulation.clock_settings_mut().set_rate(Rate::hz(hz));
    let hooked = ActiveHooks::FILTER_CONTACT_PAIRS | ActiveHooks::MODIFY_SOLVER_CONTACTS;
    for (_, collider) in simulation.physics.rapier_mut().colliders.iter_mut() {
        if collider.shape().as_ball().is_some() {
            collider.set_active_hooks(hooked);
        }
    }
    let mut input = TickQueue::new(0, STEPS as u64);
    for tick in 0..STEPS as u64 {
        let deed = match tick {
            _ if tick % 40 == 3 => Deed::Lift,
            _ if tick % 50 == 25 => Deed::Shift,
            _ if tick % 30 == 11 => Deed::Jump,
            _ if tick % 4 == 0 => Deed::Push,
            _ => continue,
        };
        input.push(tick, deed).unwrap();
    }
    let (steps, made) = channel();
    let game = Game {
        script,
        input,
        filters: Arc::default(),
        seen: Vec::new(),
        steps,
        stalls,
    };
    (simulation, game, made)
}

impl Game {
    fn act(&self, physics: &mut Physics, step: Step, deed: Deed) {
        let player = self.script.player;
        match deed {
            Deed::Push => physics.add_force(player, Vector::X * 30.0).unwrap(),
            Deed::Lift => {
                let up = 0.5 + (step.tick % 3) as f32;
                let there = step.start_time + MS(300);
                let pose = translation(-9.0, up, 0.0);
                physics
                    .set_kinematic_target(self.script.lift, pose, there)
                    .unwrap();
            }
            Deed::Jump => {
                let pose = translation(8.0, 2.0, 0.0);
                physics.teleport(player, pose).unwrap();
            }
            Deed::Shift => physics.shift_origin(Vector::X * 8.0).unwrap(),
        }
    }
}

impl Hooks for Game {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        stall(step.tick, self.stalls);
        let deeds: Vec<Deed> = self.input.drain(step).collect();
        for deed in deeds {
            self.act(physics, step, deed);
        }
        let is_third = u64::from(step.tick.is_multiple_of(3));
        self.filters.filters.store(is_third, Ordering::Relaxed);
        self.script.before_step(physics, step)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        stall(step.tick + 1, self.stalls);
        let rapier = physics.rapier();
        let particles = (rapier.soft_bodies.iter())
            .flat_map(|(_, body)| body.particle_positions().collect::<Vec<_>>());
        let events = physics.events().in_step(step.tick);
        let collisions = events
            .collisions()
            .map(|event| (event.colliders, event.started));
        let forces = events
            .contact_forces()
            .map(|event| event.force.total_force_magnitude);
        let events = format!(
            "{:?} {:?}",
            collisions.collect::<Vec<_>>(),
            forces.collect::<Vec<_>>()
        );
        let seen = (step.tick, hash(rapier), particles.collect(), events);
        self.seen.push(seen);
        let _ = self.steps.send(step.tick);
        self.script.after_step(physics, step)
    }

    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        Some(self.filters.clone())
    }
}
