//! Going back in time to stay there, and the states that are kept.

use std::ops::Range;

use crate::simulation::Kept;

use super::past::{Past, RewindError};
use super::simulation::Simulation;

/// # Back in time
///
/// | to | use |
/// | --- | --- |
/// | go back and stay there, as in a debugger | [`rewind`](Self::rewind) |
/// | resimulate the steps since a tick, in one call | [`resimulate`](Self::resimulate) |
/// | the same in your own loop, step by step | [`roll_back`](Self::roll_back), then [`next_step`](Self::next_step) |
/// | adopt another machine's state | [`correct`](Self::correct) |
/// | put a copy or a saved state back | assignment: [The state as a value](crate::Physics#the-state-as-a-value) |
/// | look up where a player saw a body | [`pose_at`](Self::pose_at), [`world_at`](Self::world_at) |
///
/// The module [`rewind`](crate::rewind) says what is resimulated, and what it costs.
impl Simulation {
    /// Keeps states and poses of the past within these limits, from the next step on, and discards those beyond them.
    /// In an unfinished [rollback](Self::roll_back), the state where it starts over stays, unless it is beyond the
    /// limit of bytes or no ticks are kept.
    ///
    /// All are discarded when [`set_tick`](Self::set_tick) changes the tick, when the
    /// [origin](crate::Physics::shift_origin) is shifted outside of a step, and when [another
    /// state](crate::Physics#the-state-as-a-value) is assigned.
    #[doc(alias("history", "snapshots"))]
    pub fn keep(&mut self, kept: Kept) {
        self.take_over();
        let requested = self.steps.requested();
        (self.run.past).set_limits(kept, self.physics.tick(), requested);
    }

    /// Returns the limits of the kept states and poses.
    #[must_use]
    pub fn kept(&self) -> Kept {
        self.run.past.kept()
    }

    /// Declares that all inputs before `tick` are known, which makes rollbacks faster and frees memory.
    ///
    /// Call it before the rollback that takes account of new inputs: when the inputs of tick 5 arrive last, call
    /// `confirm(6)` and then `resimulate(5, …)`. If `tick` is before the present, that rollback keeps a state at it,
    /// where the next one begins, and its own first state, where it may start over. The next new step discards states
    /// before `tick`, but no poses. A lower tick than before changes nothing. A [rewind](Self::rewind) to an
    /// earlier tick takes it back.
    pub fn confirm(&mut self, tick: u64) {
        self.take_over();
        self.run.past.confirm(tick);
    }

    /// Returns the range of ticks to which a rollback can go. With an interval or after [`confirm`](Self::confirm), not
    /// all of their states are kept. After a [rewind](Self::rewind), until the next step begins, they include later
    /// ticks, to which `rewind` can go, and no rollback.
    #[must_use]
    pub fn rewindable(&self) -> Range<u64> {
        self.known_past().map_or(0..0, Past::rewindable)
    }

    pub(crate) fn newest_kept(&self, tick: u64) -> Option<u64> {
        self.known_past()?.nearest(tick)
    }

    /// Returns the estimated size of all kept states together, in bytes.
    #[must_use]
    pub fn rewind_bytes(&self) -> usize {
        self.known_past().map_or(0, Past::bytes)
    }

    /// Goes back to the state before the step of `tick` and stays there. The next frame jumps there.
    ///
    /// Until the next step or rollback begins, you can go forwards again. Real time, settings and overstep do not
    /// change. Steps that are still to be resimulated are dropped. Outside of a frame, you can go to the present tick
    /// even if it is not kept, except after a panic of Rapier. After one, you can go back even within the frame.
    ///
    /// Steps from `tick` on then count as new ones for [`events`](Self::events), even if you go forwards again. Their
    /// events that no frame has displayed are dropped. If a rollback repeats such a step, a frame displays its events,
    /// even if an earlier frame did.
    ///
    /// To rewind smoothly during a pause, also set the [overstep](Self::set_overstep) of each frame: for a time of 4.5
    /// steps, rewind to tick 4 and set it to half a period. This needs an interval of 1,
    /// [`Stepping::Fixed`](crate::Stepping::Fixed), and no thread.
    ///
    /// # Errors
    /// [`RewindError`]
    ///
    /// # Panics
    /// Within [`resource_scope`](Self::resource_scope).
    pub fn rewind(&mut self, tick: u64) -> Result<(), RewindError> {
        self.take_over();
        let has_panicked = self.physics.is_poisoned;
        if self.open_report.is_some() && !has_panicked {
            return Err(RewindError::WithinFrame);
        }
        let here = self.physics.tick();
        let Some(state) = self.run.past.snapshot(tick) else {
            if tick == here && !has_panicked {
                // The simulation is at that tick already, for example at the beginning of a smooth rewind.
                self.finish_last_step();
                self.abandon_rollback();
                return Ok(());
            }
            let kept = self.run.past.rewindable();
            return Err(RewindError::NotKept { tick, kept });
        };
        self.physics.resources.assert_no_scope();
        let state = state.clone();
        self.finish_last_step();
        // A panic of Rapier may have left a frame open. Its due steps are dropped. The next one continues its report.
        if let Some(mut open) = self.open_report.take() {
            open.dropped += self.steps.clock.abort_frame();
            self.run.interrupted = Some(open);
        }
        self.abort_step();
        // The changes that no picture has displayed yet.
        let changes = if let Some(old_present) = self.take_rollback(tick) {
            old_present.changes
        } else {
            // Keeps the present, so that the game can go forwards to it again, unless states after it are kept already.
            if !has_panicked && self.run.past.rewindable().end <= here.saturating_add(1) {
                self.run.past.push_end(&self.physics);
            }
            std::mem::take(&mut self.physics.running.changes)
        };
        self.replace_physics(state);
        self.follow_tick();
        self.run.past.rewind(tick);
        self.jump_from(changes, tick);
        // The steps that an interrupted frame has reported do not lead to this state.
        self.restart_report();
        Ok(())
    }

    /// Returns the past, or `None` if the game has assigned another state or moved the origin outside of a step since
    /// the last call of the loop.
    pub(super) fn known_past(&self) -> Option<&Past> {
        let is_known =
            self.knows_physics() && !self.physics.running.origin_shifts.any_between_steps;
        is_known.then_some(&self.run.past)
    }

    /// Calls `ask` with the simulation, whose queries find all changes since the last step as long as `ask` runs. The
    /// next step still has to find these changes, so `ask` gets a copy of Rapier's world. Resources and kept states,
    /// which may be large, are not copied.
    pub(crate) fn with_fresh_queries(&mut self, ask: impl FnOnce(&Self)) {
        self.take_over();
        let mut fresh = self.physics.world.clone();
        fresh.refresh_queries();
        let world = std::mem::replace(&mut self.physics.world, fresh);
        ask(self);
        self.physics.world = world;
    }
}
