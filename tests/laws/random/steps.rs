//! Each step of a run equals the step of a plain loop that does the same: a simulation in a pause, which runs single
//! steps, keeps a copy before each, and goes back by assigning it. A simulation that is copied, or saved and loaded,
//! continues as one that is not.

use crate::random::game::action::{Action, OnBody, Past, Reach, Setting, Shelf, Value, Whole, act};
use crate::random::game::log::{Bits, Id, ids};
use crate::random::game::player::{Planned, Player, begin_step};
use crate::random::game::script::Setup;
use crate::random::game::{Effect, Entry, hosts};
use evenstep::{Hooks, Physics, Rate, Simulation, Smoothing, Step};
use std::collections::BTreeMap;
use std::time::Duration;

/// The plain loop.
struct Plain {
    simulation: Simulation,
    /// The states before the steps.
    states: BTreeMap<u64, Physics>,
    shelf: Shelf,
    rates: Vec<u32>,
    /// The tick from which the next frame numbers the steps.
    new_tick: Option<u64>,
}

/// A step, as the log has it.
#[derive(Default)]
struct Hook<'a> {
    before: Vec<Action>,
    /// The state, the events and the actions after the step, if it has run.
    after: Option<(Option<&'a Bits>, &'a [Id], Vec<Action>)>,
    /// Whether the hook fails there.
    fails: bool,
    /// Whether the step is running, perhaps on another thread while frames are drawn.
    runs: bool,
}

/// The reason why a run cannot be judged any further.
struct Unknown;

/// Checks all steps of a run.
pub fn check(setup: &Setup, log: &[Entry]) {
    let mut plain = Plain {
        simulation: hosts::start(setup),
        states: BTreeMap::new(),
        shelf: Shelf::default(),
        rates: vec![setup.hz],
        new_tick: None,
    };
    plain.simulation.keep(Default::default());
    plain.simulation.pause();
    let mut entries = log.iter().peekable();
    while let Some(entry) = entries.next() {
        let result = match entry {
            Entry::Begin { step, bits } => {
                let mut hook = Hook::default();
                while let Some(next) = entries.next_if(|next| hook.takes(next)) {
                    hook.take(next);
                }
                plain.step(step, bits, &hook)
            }
            Entry::Acted {
                action,
                effects,
                tick,
                ..
            } => plain.act(*action, effects, *tick),
            Entry::Frame { .. } => {
                // A frame in a pause forgets forces.
                let mut rest = entries.clone();
                let end = rest.find(|it| matches!(it, Entry::Begin { .. } | Entry::Picture(_)));
                plain.renumber(end.and_then(stood_still) == Some(true));
                Ok(())
            }
            Entry::Picture(_) => {
                if let Some(stood_still) = stood_still(entry) {
                    plain.frame(stood_still);
                }
                Ok(())
            }
            _ => Ok(()),
        };
        if result.is_err() {
            return;
        }
    }
}

/// Returns whether time was stopped in a frame without a step.
fn stood_still(entry: &Entry) -> Option<bool> {
    let Entry::Picture(picture) = entry else {
        return None;
    };
    let (frame, state) = (picture.frame?, picture.state.as_ref()?);
    (frame.steps == 0 && state.steps_to_resimulate == 0).then_some(state.stands_still)
}

impl<'a> Hook<'a> {
    /// Returns whether an entry belongs to the step.
    fn takes(&self, entry: &Entry) -> bool {
        let has_ended = self.fails;
        match entry {
            Entry::Acted {
                action, effects, ..
            } => {
                let stays = effects.is_empty() || effects.contains(&Effect::Stayed);
                !has_ended && (!is_jump(action) || stays)
            }
            Entry::Run | Entry::Pressed { .. } | Entry::Ran { .. } | Entry::Failed => !has_ended,
            Entry::Picture(_) | Entry::Frame { .. } => self.runs,
            _ => false,
        }
    }

    fn take(&mut self, entry: &'a Entry) {
        match entry {
            Entry::Acted { action, .. } => match &mut self.after {
                Some((_, _, after)) => after.push(*action),
                None => self.before.push(*action),
            },
            Entry::Run => self.runs = true,
            Entry::Ran { bits, events, .. } => {
                self.after = Some((bits.as_ref(), events, Vec::new()));
                self.runs = false;
            }
            Entry::Failed => self.fails = true,
            _ => (),
        }
    }
}

/// Marks a state that a hook has exchanged for another one. It still has the step of that hook, which discards forces.
#[derive(Clone, Copy)]
struct HasStep;

/// Returns whether the action needs the simulation, and replaces its state.
fn is_jump(action: &Action) -> bool {
    matches!(action, Action::Past(past) if !matches!(past, Past::Resimulate(_) | Past::Confirm(_)))
}

impl Plain {
    fn physics(&mut self) -> &mut Physics {
        &mut self.simulation.physics
    }

    /// Acts as the game did.
    fn act(&mut self, action: Action, effects: &[Effect], tick: u64) -> Result<(), Unknown> {
        use Past as P;
        self.note(action);
        match action {
            Action::Past(P::Confirm(_)) => (),
            Action::Past(P::Correct(_) | P::CorrectHere(..)) if effects.is_empty() => (),
            Action::Past(P::Correct(_) | P::CorrectHere(..)) => self.run(action),
            Action::Past(past) => {
                if effects.is_empty() || effects.contains(&Effect::Stayed) {
                    return Ok(());
                }
                let is_rewind = matches!(past, P::Rewind(_));
                let state = self.states.get(&tick).ok_or(Unknown)?.clone();
                let left = std::mem::replace(&mut self.simulation.physics, state);
                // A rewind can go forward again.
                if is_rewind && self.states.range(left.tick() + 1..).next().is_none() {
                    self.states.insert(left.tick(), left);
                }
            }
            // Its states before earlier steps are not known.
            Action::Whole(Whole::Swap(_)) => return Err(Unknown),
            _ if action.is_of_state() => {
                self.run(action);
                if self.physics().resources_mut().remove::<HasStep>().is_some() {
                    return Err(Unknown);
                }
            }
            // A copy continues as the original, and the others are of time and of the picture.
            _ => (),
        }
        Ok(())
    }

    /// Notes settings of later steps.
    fn note(&mut self, action: Action) {
        match action {
            Action::Setting(Setting::Hz(hz)) => self.rates.push(hz),
            Action::Setting(Setting::Tick(tick)) => self.new_tick = Some(tick.into()),
            _ => (),
        }
    }

    fn renumber(&mut self, stands_still: bool) {
        if let Some(tick) = self.new_tick.take()
            && tick != self.physics().tick()
        {
            self.simulation.set_tick(tick);
            self.frame(stands_still);
            self.states.clear();
        }
    }

    fn run(&mut self, action: Action) {
        let mut reach = Reach::Simulation(&mut self.simulation);
        act(action, &mut reach, &mut self.shelf, &mut Player::default());
    }

    /// Ends a frame without a step.
    fn frame(&mut self, stands_still: bool) {
        if !stands_still {
            self.simulation.resume();
        }
        self.simulation.advance(Duration::ZERO, |_, _| ());
        self.simulation.pause();
    }

    fn step(&mut self, step: &Step, bits: &Bits, hook: &Hook) -> Result<(), Unknown> {
        let rates = self.rates.iter().map(|hz| Rate::hz(*hz));
        // Others have steps of uneven lengths.
        let rate = rates.into_iter().find(|rate| rate.dt() == step.dt);
        let settings = self.simulation.clock_settings_mut();
        settings.set_rate(rate.ok_or(Unknown)?);
        assert_eq!(
            self.physics().tick(),
            step.tick,
            "this step is not the next one"
        );
        self.states.split_off(&step.tick);
        let state = self.simulation.physics.clone();
        self.states.insert(step.tick, state);
        if hook.after.is_none() {
            // A target sets the next position of its body at once, which the body keeps if its type changes then.
            let has = |is: fn(&OnBody) -> bool| {
                let mut deeds = hook.before.iter();
                deeds.any(|it| matches!(it, Action::Body(_, deed) if is(deed)))
            };
            if has(|it| matches!(it, OnBody::Target(..)))
                && has(|it| matches!(it, OnBody::SetType(_)))
            {
                return Err(Unknown);
            }
            // The step does not run, and drops its forces. Everything else happens between two steps.
            let mut is_at_hand = true;
            for action in &hook.before {
                self.note(*action);
                let is_exchange = matches!(action, Action::Value(Value::Exchange(_)));
                if is_exchange && is_at_hand {
                    self.physics().resources_mut().insert(HasStep);
                }
                if !(is_at_hand && action.is_push()) && action.is_of_state() {
                    self.run(*action);
                }
                // Another state has no step at hand, unless an earlier hook has exchanged it.
                is_at_hand &= !matches!(action, Action::Value(Value::Assign(_) | Value::Lend(_)));
                let had_step = self.physics().resources_mut().remove::<HasStep>().is_some();
                if is_exchange {
                    is_at_hand = had_step;
                }
            }
            if hook.runs {
                // The game has expected it to run.
                begin_step(self.physics(), Smoothing::default());
            }
            return Ok(());
        }
        self.simulation.step_once();
        let mut playing = Playing {
            bits,
            hook,
            shelf: std::mem::take(&mut self.shelf),
        };
        let _ = self.simulation.advance_with(Duration::ZERO, &mut playing);
        self.shelf = playing.shelf;
        let after = hook.after.iter().flat_map(|(_, _, after)| after);
        hook.before
            .iter()
            .chain(after)
            .for_each(|action| self.note(*action));
        Ok(())
    }
}

/// The hooks of the plain loop.
struct Playing<'a> {
    /// The state before the step.
    bits: &'a Bits,
    hook: &'a Hook<'a>,
    shelf: Shelf,
}

impl Playing<'_> {
    fn act(&mut self, physics: &mut Physics, actions: &[Action]) {
        for action in actions {
            let mut reach = Reach::Physics(physics);
            act(*action, &mut reach, &mut self.shelf, &mut Player::default());
        }
    }
}

impl Hooks for Playing<'_> {
    type Error = Planned;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Planned> {
        // Kinematic targets were applied, and the game has not acted yet.
        assert_eq!(
            *self.bits,
            Bits::of(physics),
            "before the step of tick {}",
            step.tick
        );
        self.act(physics, &self.hook.before);
        if physics.current_step() == Some(step) {
            begin_step(physics, Smoothing::default());
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Planned> {
        let (bits, events, actions) = self.hook.after.as_ref().expect("the step has run");
        if let Some(bits) = bits {
            assert_eq!(
                **bits,
                Bits::of(physics),
                "after the step of tick {}",
                step.tick
            );
        }
        assert_eq!(**events, ids(&physics.events().in_step(step.tick)));
        self.act(physics, actions);
        if self.hook.fails {
            Err(Planned)
        } else {
            Ok(())
        }
    }
}
