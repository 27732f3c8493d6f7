//! Begins, runs and aborts a step, and runs several steps at once for a preview.

use crate::id::Id;
use std::sync::Arc;

use crate::step::{World, clear_events};
use crate::time::Step;
use rapier::pipeline::PhysicsHooks;

use super::{Physics, Stage, StepPlan};

/// # A step
impl Physics {
    /// Begins a step. The game's code for the step runs next.
    pub(crate) fn begin_step(&mut self, step: Step) {
        self.targets.apply(&mut self.world, step);
        self.forces.begin_step();
        self.stage = Stage::Before(step);
    }

    /// Aborts the current step, which may be begun again. Returns whether there was one.
    pub(crate) fn abort_step(&mut self) -> bool {
        let is_before = matches!(self.stage, Stage::Before(_));
        if is_before {
            self.forces.abort_step(&mut self.world.physics.bodies);
            self.world.keys.limit_births(self.tick);
            self.stage = Stage::Idle;
        }
        is_before
    }

    /// Steps the world. Returns the number of forces that were ignored because they were not finite.
    pub(crate) fn make_step(&mut self, plan: StepPlan, hooks: &dyn PhysicsHooks) -> u64 {
        let StepPlan {
            step,
            end,
            is_captured,
        } = plan;
        let World { physics, keys, .. } = &mut self.world;
        let rejected = self.forces.apply(&mut physics.bodies, keys, step);
        if is_captured {
            span!("take_poses");
            self.list_movers();
            (self.pairs).begin_step(&self.world, step.tick, step.dt);
        }
        self.stage = Stage::Poisoned;
        clear_events(&mut self.events);
        let events = Arc::make_mut(&mut self.events);
        (self.world).step(step, hooks, &mut self.event_log, events);
        self.stage = Stage::After;
        self.forces.end_step(&mut self.world.physics);
        self.targets.end_step(step);
        (self.tick, self.time, self.dt) = (step.tick.saturating_add(1), end, step.dt);
        span!("take_poses");
        if is_captured {
            (self.pairs).end_step(&self.world, self.tick, step.dt, &self.smoothing);
        } else {
            self.pairs.align_awake(&self.world);
        }
        rejected
    }

    /// Leaves the step: aborts the current step, or ends the game's reaction to the last one.
    pub(crate) fn leave_step(&mut self) {
        self.abort_step();
        if self.stage != Stage::Poisoned {
            self.stage = Stage::Idle;
        }
    }

    /// Lets the game react to the last step some time after it.
    pub(crate) fn react_to_step(&mut self) {
        self.stage = Stage::After;
    }
}

/// # Previews
impl Physics {
    /// Runs `steps` steps at once, each as long as the last one, outside of every loop. Use it to preview the path of a
    /// thrown ball, or the ghost of a player.
    ///
    /// `before_step` is called before each step, as in [`advance`](crate::Simulation::advance). Pass your game's hook, so
    /// that the preview has its forces. The [`Step`] that it receives has no real time: all such fields are zero.
    /// Force generators and kinematic targets act as usual. Rapier's own hooks are not called.
    ///
    /// Step a copy. A copy that is made in a hook lacks the forces that the hook has added for its step: add them to
    /// the copy. On `Simulation::physics` itself, the call counts as an assignment and aborts the current step. If
    /// `before_step` assigns another value, the step does not run, and the next one continues from that value.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let mut ghost = simulation.physics.clone();
    /// ghost.apply_impulse(ball, Vector::Y)?;
    /// let path: Vec<Vector> = (0..30)
    ///     .map(|_| {
    ///         ghost.step_ahead(1, |_, _| ()); // or your game's hook
    ///         ghost.body(ball).unwrap().translation()
    ///     })
    ///     .collect();
    /// assert!(path[0].y > 0.0 && ghost.tick() == 30 && simulation.physics.tick() == 0);
    /// # Ok::<(), evenstep::BodyError>(())
    /// ```
    ///
    /// # Panics
    /// If Rapier or a [custom force](crate::ForceGenerator::custom) panics, or if Rapier panicked in an earlier step. A
    /// panic in `before_step` leaves that step begun, and the next call aborts it.
    pub fn step_ahead(&mut self, steps: u64, mut before_step: impl FnMut(&mut Self, Step)) {
        self.assert_sound();
        self.epoch = Id::default();
        for left in (0..steps).rev() {
            // The hook may have assigned another value.
            self.assert_sound();
            self.leave_step();
            let end = self.time.after(self.dt);
            let step = Step::of_physics(self.tick, self.dt, [self.time, end]);
            self.begin_step(step);
            before_step(self, step);
            if self.current_step() != Some(step) {
                continue;
            }
            let is_captured = left == 0;
            let plan = StepPlan {
                step,
                end,
                is_captured,
            };
            self.make_step(plan, &());
        }
        self.leave_step();
    }

    fn assert_sound(&self) {
        assert!(
            self.stage != Stage::Poisoned,
            "Rapier panicked in the step of tick {}: drop this value",
            self.tick
        );
    }
}
