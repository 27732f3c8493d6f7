//! Begins, runs and aborts a step, and runs several steps at once for a preview.

use std::sync::Arc;

use crate::pose::PoseLog;
use crate::step::{World, clear_events};
use crate::time::Step;
use rapier::pipeline::PhysicsHooks;

use super::{PastEdits, Physics, Stage, StepAtHand, StepPlan};

/// # A step
impl Physics {
    /// Begins a step. The game's code for the step runs next.
    pub(crate) fn begin_step(&mut self, step: Step) {
        self.targets.apply(&mut self.world, step);
        self.forces.begin_step();
        self.stage = Stage::Before(StepAtHand {
            step,
            pauses: false,
        });
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
        let pauses = matches!(self.stage, Stage::Before(at_hand) if at_hand.pauses);
        self.stage = Stage::Poisoned;
        clear_events(&mut self.events);
        let events = Arc::make_mut(&mut self.events);
        (self.world).step(step, hooks, &mut self.event_log, events);
        self.stage = Stage::After(StepAtHand { step, pauses });
        self.forces.end_step(&mut self.world.physics);
        self.targets.end_step(&mut self.world, step);
        (self.tick, self.time) = (step.tick.saturating_add(1), end);
        span!("take_poses");
        if is_captured {
            (self.pairs).end_step(&self.world, self.tick, step.dt, &self.smoothing);
        } else {
            self.pairs.align_awake(&self.world);
        }
        rejected
    }

    /// Returns whether the simulation pauses after the current step, or after the last one while the game reacts to it.
    #[cfg(feature = "serde")]
    pub(crate) fn pauses_after_step(&self) -> bool {
        matches!(self.stage, Stage::Before(at_hand) | Stage::After(at_hand) if at_hand.pauses)
    }

    /// Leaves the step: aborts the current step, or ends the game's reaction to the last one. Returns whether the game
    /// has asked to pause after a step that has run.
    pub(crate) fn leave_step(&mut self) -> bool {
        self.abort_step();
        match self.stage {
            Stage::After(StepAtHand { pauses, .. }) => {
                self.stage = Stage::Idle;
                pauses
            }
            _ => false,
        }
    }
}

/// # Previews
impl Physics {
    /// Returns the state after `steps` more steps, without a loop. Use it to preview the path of a thrown ball, or the
    /// ghost of a player.
    ///
    /// The steps run on a copy, at the rate of the simulation, and are the same to the bit as those that its loop will
    /// run. `before_step` is called before each of them, as in [`advance`](crate::Simulation::advance), and sees each
    /// state. Pass your game's hook, so that the preview has its forces. The [`Step`] that it receives has no real time:
    /// all such fields are zero. Force generators and kinematic targets act as usual. Rapier's own hooks are not
    /// called. In a hook, the copy lacks the forces that the hook has added for its step.
    ///
    /// If `before_step` assigns another value, the step does not run, and the next one continues from that value.
    ///
    /// ```
    /// # use evenstep::rapier::prelude::*;
    /// # use evenstep::Simulation;
    /// # let mut simulation = Simulation::default();
    /// # let ball = simulation.physics.insert(RigidBodyBuilder::dynamic(), ColliderBuilder::ball(0.5));
    /// let mut path = Vec::new();
    /// let landed = simulation.physics.preview(30, |physics, _| {
    ///     if path.is_empty() {
    ///         physics.apply_impulse(ball, Vector::Y).unwrap(); // the throw
    ///     }
    ///     path.push(physics.body(ball).unwrap().translation());
    /// });
    /// assert!(path[1].y > 0.0 && landed.tick() == 30 && simulation.physics.tick() == 0);
    /// ```
    ///
    /// # Panics
    /// If Rapier or a [custom force](crate::ForceGenerator::custom) panics, or if Rapier panicked in an earlier step.
    #[must_use]
    pub fn preview(&self, steps: u64, mut before_step: impl FnMut(&mut Self, Step)) -> Self {
        let mut copy = self.clone();
        for left in (0..steps).rev() {
            // The hook may have assigned another value.
            copy.leave_step();
            copy.assert_sound();
            let start = copy.time.in_units_of(copy.rate);
            let end = start.after_step();
            let step = Step::of_physics(copy.tick, [start, end]);
            copy.begin_step(step);
            before_step(&mut copy, step);
            if copy.current_step() == Some(step) {
                let is_captured = left == 0;
                let plan = StepPlan {
                    step,
                    end,
                    is_captured,
                };
                copy.make_step(plan, &());
            }
        }
        copy.leave_step();
        copy.assert_sound();
        copy.settle();
        copy.log = PoseLog::default();
        copy.past_edits = PastEdits::default();
        copy
    }

    fn assert_sound(&self) {
        assert!(
            self.stage != Stage::Poisoned,
            "Rapier panicked in the step of tick {}: drop this value",
            self.tick
        );
    }
}
