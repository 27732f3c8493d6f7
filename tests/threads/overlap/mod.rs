//! An `Overlap` whose hooks and frames misbehave. Time is an argument, so no test waits.

mod frames;
mod one_thread;
mod other_states;
mod panics;
mod picture;
mod steps;

use When::{After, Before};
use evenstep::input::{Delivery, InputQueue};
use evenstep::rapier::prelude::*;
use evenstep::threads::Overlap;
use evenstep::time::FrameTime;
use evenstep::{BodyKey, Correction, Frame, Hooks, Physics, Rate, Simulation, Step, Stepping};
use scenes::testing::translation;
use scenes::{MS, flyer_in_space, hash, in_time, mixed};
use std::any::Any;
use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Which hook is called.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Before,
    After,
}

/// An action in a hook.
type Deed = Box<dyn FnMut(&mut Physics, Step, When) -> Result<(), &'static str>>;

/// Carries out the action and records all calls.
struct Game {
    calls: Vec<(u64, When)>,
    deed: Deed,
    physics: Option<Arc<dyn PhysicsHooks + Send + Sync>>,
}

impl Game {
    fn new(
        deed: impl FnMut(&mut Physics, Step, When) -> Result<(), &'static str> + 'static,
    ) -> Self {
        Self {
            calls: Vec::new(),
            deed: Box::new(deed),
            physics: None,
        }
    }

    fn idle() -> Self {
        Self::new(|_, _, _| Ok(()))
    }

    /// Returns a game that acts once, in one hook of one step.
    fn once(when: When, tick: u64, mut deed: impl FnMut(&mut Physics) + 'static) -> Self {
        let mut is_done = false;
        Self::new(move |physics, step, now| {
            if (now, step.tick) == (when, tick) && !std::mem::replace(&mut is_done, true) {
                deed(physics);
            }
            Ok(())
        })
    }

    fn count(&self, when: When) -> usize {
        self.calls.iter().filter(|(_, at)| *at == when).count()
    }

    fn call(&mut self, physics: &mut Physics, step: Step, when: When) -> Result<(), &'static str> {
        self.calls.push((step.tick, when));
        (self.deed)(physics, step, when)
    }
}

impl Hooks for Game {
    type Error = &'static str;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        assert_eq!(physics.current_step(), Some(step));
        self.call(physics, step, Before)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Self::Error> {
        // After every step that ran, the state has the next tick. No hook is called after a step that did not run.
        assert_eq!(physics.tick(), step.tick + 1);
        self.call(physics, step, After)
    }

    fn physics_hooks(&self) -> Option<Arc<dyn PhysicsHooks + Send + Sync>> {
        self.physics.clone()
    }
}

/// Runs a function before each frame.
struct Framed<F>(F);

impl<F: FnMut(&mut Simulation)> Hooks for Framed<F> {
    type Error = ();

    fn before_frame(&mut self, simulation: &mut Simulation, _: FrameTime) -> Result<(), ()> {
        (self.0)(simulation);
        Ok(())
    }
}

/// Runs this many frames of 10 ms, the length of a step.
fn frames(overlap: &mut Overlap, game: &mut impl Hooks<Error: Debug>, count: usize) {
    for _ in 0..count {
        overlap.frame(MS(10), game).unwrap();
    }
}

fn x(overlap: &Overlap, key: BodyKey) -> f32 {
    overlap.view().pose(key).unwrap().translation.x
}

/// Returns the parts of the last frame's report that do not depend on who displays the frame.
fn report(simulation: &Simulation) -> Frame {
    let mut frame = simulation.frame();
    frame.movers = 0;
    frame.origin_shift = Vector::ZERO;
    frame
}

/// A change that a driver makes to a simulation between two frames, or that its hooks make before or after a step.
type Change = fn(&mut Simulation);

fn set_rate(simulation: &mut Simulation, hz: u32) {
    let rate = Rate::hz(hz);
    simulation.clock_settings_mut().set_rate(rate);
}

/// Pushes the body in each step, and counts in the state the hooks that run after steps.
#[derive(Default)]
struct Pushing {
    /// The change to make before each of the next frames.
    changes: VecDeque<Option<Change>>,
}

#[derive(Clone, Default)]
struct Hooked(u64);

impl Hooks for Pushing {
    type Error = ();

    fn before_frame(&mut self, simulation: &mut Simulation, _: FrameTime) -> Result<(), ()> {
        if let Some(change) = self.changes.pop_front().flatten() {
            change(simulation);
        }
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        let (key, _) = physics.bodies().next().expect("the flyer");
        let push = Vector::Y * (step.tick % 5) as f32;
        physics.apply_impulse(key, push).unwrap();
        if step.tick % 13 == 4 {
            physics
                .teleport_by(key, translation(0.0, 7.0, 0.0))
                .unwrap();
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), ()> {
        if step.tick % 17 == 3 {
            physics.shift_origin(Vector::X * 10.0).unwrap();
        }
        physics.resources_mut().get_mut::<Hooked>().unwrap().0 += 1;
        Ok(())
    }
}
