//! Each event is displayed once, in the first picture whose tick is greater than its step, whatever the game does to
//! time. A model with the plain rules says which events these are.

// The rules.
mod model;

use crate::random::game::A_VIEW_REPEATS_EVENTS_OF_A_CLONED_ROLLBACK;
use crate::random::game::action::{Past, Value, Whole};
use crate::random::game::log::Id;
use crate::random::game::{Action, Effect, Entry, Kind, Picture};
use model::Model;

#[derive(Default)]
struct Judge {
    model: Model,
    /// The clock's tick, while steps run again.
    present: Option<u64>,
    is_view: bool,
    /// Whether the state was exchanged since the last call of the loop.
    is_exchanged: bool,
}

pub fn check(log: &[Entry], kind: Kind) {
    let mut judge = Judge::default();
    judge.hand_over(kind);
    for entry in log {
        let is_known = match entry {
            Entry::Frame { .. } => {
                judge.is_exchanged = false;
                true
            }
            Entry::Ran { step, events, .. } => {
                judge.model.end_step(*step, events.clone());
                if judge.present == Some(step.tick + 1) {
                    judge.settle(step.tick + 1);
                }
                true
            }
            Entry::Acted {
                action,
                effects,
                tick,
                rollback,
            } => judge.act(*action, effects, *tick, *rollback),
            Entry::HandedOver(kind) => {
                judge.hand_over(*kind);
                true
            }
            Entry::Picture(picture) => {
                judge.display(picture);
                true
            }
            _ => true,
        };
        if !is_known {
            return;
        }
    }
}

impl Judge {
    /// Another host displays what waits, and knows all that has happened.
    fn hand_over(&mut self, kind: Kind) {
        self.is_view = !kind.is_one_thread();
        self.model.void = self.is_view.then(Vec::new);
        // The view of an overlap is on the thread that runs its rollbacks.
        self.model.is_told = kind.is_one_thread() || kind == Kind::Overlap;
    }

    fn settle(&mut self, present: u64) {
        self.model.settle(present);
        self.present = None;
    }

    /// Returns whether the model knows what happens next.
    fn act(
        &mut self,
        action: Action,
        effects: &[Effect],
        tick: u64,
        rollback: Option<(u64, u64)>,
    ) -> bool {
        if let Some((clock, 0)) = rollback {
            self.settle(clock);
        }
        if matches!(action, Action::Value(Value::Exchange(_))) {
            // A second exchange may put the state back, so that nothing has changed.
            if self.is_exchanged {
                return false;
            }
            self.is_exchanged = true;
        }
        for effect in effects {
            match effect {
                Effect::Back(first) => {
                    self.model.roll_back(*first);
                    self.present = rollback.map(|(clock, _)| clock);
                }
                Effect::Other if matches!(action, Action::Past(Past::Rewind(_))) => {
                    if let Some((clock, _)) = rollback {
                        self.settle(clock);
                    }
                    self.model.go_back(tick);
                }
                Effect::Other if matches!(action, Action::Whole(Whole::Swap(_))) => {
                    return false;
                }
                Effect::Loaded if self.is_view => {
                    self.present = None;
                    self.model.forget();
                }
                Effect::Other | Effect::Loaded => {
                    self.present = None;
                    self.model.roll_back(0);
                    self.model.go_back(0);
                }
                Effect::Corrected(tick) => {
                    // If the state is not earlier than the present, no step is left to run again.
                    if let Some((clock, _)) = rollback.filter(|(clock, _)| clock <= tick) {
                        self.settle(clock);
                    }
                }
                Effect::Replaced if self.is_view => {
                    let is_unfinished = rollback.is_some_and(|(_, left)| left > 0);
                    if A_VIEW_REPEATS_EVENTS_OF_A_CLONED_ROLLBACK && is_unfinished {
                        return false;
                    }
                    self.model.forget();
                }
                Effect::Replaced => (),
                Effect::Renumbered => return false,
                _ => (),
            }
        }
        true
    }

    fn display(&mut self, picture: &Picture) {
        let displayed: &[Id] = &picture.events;
        let Some(state) = &picture.state else {
            self.model.display(picture.tick, displayed);
            return;
        };
        if state.steps_to_resimulate > 0 {
            assert_eq!(displayed, []);
            return;
        }
        self.settle(state.tick);
        self.model.display(u64::MAX, displayed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::game::{play, script};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(scenes::cases::scaled(256)))]

        #[test]
        fn events_are_displayed_once_if_a_crowd_goes_back_in_time(
            script in script::rollbacks(),
            kind in Kind::any(),
        ) {
            check(&play(&script, kind).log, kind);
        }
    }
}
