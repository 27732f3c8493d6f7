//! The game's part in the loop: it carries out the actions of a script, and writes down what happens.

use super::action::{Access, Action, Cut, Effect, OnBody, Reach, Setting, Shelf, act, keys, score};
use super::log::{Bits, Entry, ids};
use super::owners::Owners;
use super::paths::Paths;
use super::script::{FrameScript, When};
use evenstep::ecs::EntityMap;
use evenstep::input::{Delivery, InputQueue};
use evenstep::time::FrameTime;
use evenstep::{BodyKey, Hooks, Physics, Simulation, Smoothing, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// The most steps of a frame.
const MOST_STEPS: u32 = 12;

/// The error and the panic of a planned failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned;

/// The hooks. All copies are the same player, on whatever thread they are.
#[derive(Clone, Default)]
pub struct Player(Arc<Mutex<Parts>>);

pub struct Parts {
    /// The current frame, and the index of its next new step.
    script: FrameScript,
    index: u8,
    /// The edits before and after the steps, by tick, which a resimulated step repeats.
    edits: BTreeMap<u64, [Vec<Action>; 2]>,
    /// The inputs by tick.
    inputs: BTreeMap<u64, Vec<i8>>,
    queue: InputQueue<(u64, i8)>,
    pressed: u64,
    pub shelf: Shelf,
    /// The step that is running, unless its end is written down.
    running: Option<Step>,
    /// The general smoothing of the frame, and the longest time of a frame, so that a game takes no long time.
    smoothing: Smoothing,
    next_smoothing: Smoothing,
    /// How often a smoothing was set since the last picture.
    smoothings: u32,
    longest: Duration,
    pub is_closure: bool,
    pub is_view: bool,
    /// Whether the game gets mutable access to all bodies in each hook.
    pub touches: bool,
    /// Whether an overlap is stopped, which takes the simulation with it if a hook panics.
    pub is_stopping: bool,
    /// Whether a hook has panicked in the last frame.
    pub has_panicked: bool,
    /// Whether the game leaves the frame open after this step, or begins another frame of this many milliseconds.
    leaves: bool,
    again: Option<u8>,
    log: Vec<Entry>,
    /// Entities of bodies, from their birth on.
    pub entities: EntityMap<BodyKey>,
    /// Entities that have lost their body to another state.
    pub despawned: Vec<BodyKey>,
    born: Vec<BodyKey>,
    pub owners: Owners,
    /// The body whose entity was despawned, until it is removed.
    pub left: Option<BodyKey>,
    /// All bodies that were ever left, in order.
    dropped: Vec<BodyKey>,
    marks: u64,
}

/// Tells a state from others with the same tick.
#[derive(Clone, Copy, PartialEq)]
struct Mark(u64);

impl Default for Parts {
    fn default() -> Self {
        Self {
            script: super::script::frame(0, []),
            index: 0,
            edits: BTreeMap::new(),
            inputs: BTreeMap::new(),
            queue: InputQueue::new(Delivery::ByTime),
            pressed: 0,
            shelf: Shelf::default(),
            running: None,
            smoothing: Smoothing::default(),
            next_smoothing: Smoothing::default(),
            smoothings: 0,
            longest: Duration::ZERO,
            is_closure: false,
            is_view: false,
            touches: false,
            is_stopping: false,
            has_panicked: false,
            leaves: false,
            again: None,
            log: Vec::new(),
            entities: EntityMap::default(),
            despawned: Vec::new(),
            born: Vec::new(),
            owners: Owners::default(),
            left: None,
            dropped: Vec::new(),
            marks: 0,
        }
    }
}

impl Player {
    pub fn parts(&self) -> MutexGuard<'_, Parts> {
        // A planned panic may have poisoned it.
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub fn log(&self, entry: Entry) {
        self.parts().log.push(entry);
    }

    pub fn take_log(&self) -> Vec<Entry> {
        std::mem::take(&mut self.parts().log)
    }

    /// Returns the bodies that were born since the last call.
    pub fn take_born(&self) -> Vec<BodyKey> {
        std::mem::take(&mut self.parts().born)
    }

    /// Plans a frame that begins at this real time. Returns its length.
    pub fn plan(&self, script: &FrameScript, real_time: Duration) -> Duration {
        let mut parts = self.parts();
        let length = script.time().min(parts.longest);
        parts.script = script.clone();
        parts.index = 0;
        for (when, action) in &script.acts {
            if let (When::Press(at), Action::Body(_, OnBody::Push(_, x))) = (when, action) {
                let time = real_time + length * u32::from(*at) / 256;
                let number = parts.pressed;
                parts.pressed += 1;
                parts.queue.push(time, (number, *x));
            }
        }
        length
    }

    /// Reads the settings of a simulation that the game can reach.
    fn read(&self, simulation: &Simulation) {
        let settings = simulation.clock().settings();
        let mut parts = self.parts();
        parts.next_smoothing = simulation.smoothing;
        let most = settings.rate().period() * MOST_STEPS;
        parts.longest = most.div_f64(settings.speed().max(1.0));
    }

    /// Returns how often a smoothing was set since the last call.
    pub fn take_smoothings(&self) -> u32 {
        std::mem::take(&mut self.parts().smoothings)
    }

    /// Returns how many presses were pushed, and how many still wait.
    pub fn presses(&self) -> (u64, usize) {
        let parts = self.parts();
        (parts.pressed, parts.queue.len())
    }

    /// Despawns the entity of a body, unless another one is still to be removed.
    pub fn leave(&self, key: BodyKey) {
        let mut parts = self.parts();
        if parts.left.is_none() && parts.owners.leave(key) {
            parts.left = Some(key);
            parts.dropped.retain(|other| *other != key);
            parts.dropped.push(key);
        }
    }

    /// Writes down the removal of bodies whose entities were despawned, if that has happened.
    pub fn notice_removals(&self, physics: &mut Physics) {
        let mut removed = self.parts().dropped.clone();
        // The paths still have the bodies that were alive.
        removed.retain(|key| {
            physics.handle(*key).is_none() && Paths::of(physics).bodies.contains_key(key)
        });
        let mut alive: BTreeSet<_> = keys(physics).into_iter().chain(removed.clone()).collect();
        for key in removed {
            let index = alive.iter().position(|other| *other == key);
            let index = index.and_then(|index| u8::try_from(index).ok());
            alive.remove(&key);
            self.log(Entry::Acted {
                action: Action::Body(index.expect("there are few bodies"), OnBody::Remove),
                effects: Vec::new(),
                tick: physics.tick(),
                rollback: None,
            });
        }
        let mut parts = self.parts();
        parts.left = parts.left.filter(|key| physics.handle(*key).is_some());
        drop(parts);
        Paths::observe(physics, &[]);
    }

    pub fn late_input(&self, tick: u64, x: i8) {
        self.parts().inputs.entry(tick).or_default().push(x);
    }

    pub fn take_back_input(&self, tick: u64) {
        self.parts().inputs.split_off(&tick);
    }

    /// Begins a frame, with all that the game does before it.
    pub fn begin(&mut self, simulation: &mut Simulation, time: Duration) {
        let actions: Vec<_> = self.parts().script.acts(When::BeforeFrame).collect();
        let hides_forces = {
            let parts = self.parts();
            let is_known = !parts.is_view && !parts.has_panicked;
            parts.script.hides_forces(is_known.then_some(&*simulation))
        };
        for action in actions {
            if !(action.is_push() && hides_forces) {
                self.perform(action, &mut Reach::Simulation(simulation));
            }
        }
        // A thread runs more frames than it displays.
        self.parts()
            .script
            .acts
            .retain(|(when, _)| *when != When::BeforeFrame);
        self.parts().has_panicked = false;
        self.touch(&mut simulation.physics);
        self.see(simulation, time);
    }

    /// Reads the settings of a frame that is about to begin.
    pub fn see(&mut self, simulation: &mut Simulation, time: Duration) {
        self.end_step(&mut simulation.physics);
        self.notice_removals(&mut simulation.physics);
        let settings = simulation.clock().settings();
        let speed = if settings.is_paused() {
            0.0
        } else {
            settings.speed()
        };
        self.log(Entry::Frame { time, speed });
        self.read(simulation);
    }

    /// Carries out an action.
    pub fn perform(&mut self, action: Action, on: &mut Reach) {
        self.end_step(on.physics());
        if let Action::Body(_, OnBody::Despawn(_)) = action {
            // This removes all that were dropped.
            self.parts().owners.remove_dropped(on.physics());
        }
        self.notice_removals(on.physics());
        let before = keys(on.physics());
        let rollback = on
            .simulation()
            .map(|it| (it.clock().tick(), it.steps_to_resimulate()));
        let mut shelf = std::mem::take(&mut self.parts().shelf);
        let effects = act(action, on, &mut shelf, self);
        self.parts().shelf = shelf;
        let Some(effects) = effects else {
            return;
        };
        let physics = on.physics();
        Paths::observe(physics, &effects);
        let mut parts = self.parts();
        let sets_smoothing = matches!(
            action,
            Action::Setting(Setting::Smoothing(_)) | Action::Body(_, OnBody::OwnSmoothing(_))
        );
        // Another loop may display it with another smoothing.
        let is_other = effects.contains(&Effect::Other);
        parts.smoothings += u32::from(sets_smoothing) + 2 * u32::from(is_other);
        let is_born = |key: &BodyKey| !before.contains(key);
        let born: Vec<_> = keys(physics).into_iter().filter(is_born).collect();
        parts.owners.adopt(physics, born.iter().copied());
        parts.born.extend(born);
        if effects.contains(&Effect::Other) {
            parts.running = None;
        }
        let is_jump = |it: &Effect| {
            matches!(
                it,
                Effect::Back(_) | Effect::Other | Effect::Loaded | Effect::Corrected(_)
            )
        };
        if effects.iter().any(is_jump) {
            drop(parts);
            self.match_entities(physics);
            parts = self.parts();
        }
        let tick = physics.tick();
        parts.log.push(Entry::Acted {
            action,
            effects,
            tick,
            rollback,
        });
        drop(parts);
        if let Reach::Simulation(simulation) = on {
            self.read(simulation);
        }
    }

    /// Gives each body of another state its entity, because two states may have different bodies with the same key.
    pub fn match_entities(&self, physics: &mut Physics) {
        let mut parts = self.parts();
        parts.owners.restore(physics);
        parts.left = parts.left.filter(|key| physics.handle(*key).is_some());
        let unmatched = parts.entities.unmatched(physics);
        parts.despawned.extend(unmatched.entities);
        parts.born.extend(unmatched.bodies);
    }

    /// Writes down a step that has run, unless that is done.
    pub fn end_step(&mut self, physics: &mut Physics) {
        let running = self.parts().running;
        let Some(step) = running.filter(|step| physics.tick() == step.tick + 1) else {
            return;
        };
        self.parts().running = None;
        Paths::observe(physics, &[]);
        let entry = Entry::Ran {
            step,
            bits: physics.current_step().is_none().then(|| Bits::of(physics)),
            events: ids(&physics.events().in_step(step.tick)),
            paths: Paths::of(physics).clone(),
        };
        self.log(entry);
    }

    /// Returns the actions before or after a step.
    fn actions(&self, step: Step, is_after: bool) -> Vec<Action> {
        let mut parts = self.parts();
        let side = usize::from(is_after);
        if step.is_resimulated {
            let edits = parts.edits.get(&step.tick);
            return edits.map(|edits| edits[side].clone()).unwrap_or_default();
        }
        let when = if is_after {
            When::After(parts.index.saturating_sub(1))
        } else {
            When::Before(parts.index)
        };
        let actions: Vec<_> = parts.script.acts(when).collect();
        if !is_after {
            parts.index = parts.index.saturating_add(1);
            parts.edits.split_off(&step.tick);
        }
        let edits = actions.iter().copied().filter(Action::is_edit).collect();
        parts.edits.entry(step.tick).or_default()[side] = edits;
        actions
    }

    /// Carries out actions until one of them fails.
    fn perform_all(&mut self, actions: &[Action], on: &mut Reach) -> Result<(), Planned> {
        for action in actions {
            match action {
                Action::Cut(Cut::Panic) if self.parts().is_stopping => (),
                // A closure cannot fail.
                Action::Cut(Cut::Fail) if self.parts().is_closure => (),
                Action::Cut(Cut::Fail) => {
                    self.fail();
                    return Err(Planned);
                }
                Action::Cut(Cut::Panic) => {
                    self.fail();
                    self.mark(on.physics());
                    self.parts().has_panicked = true;
                    resume_unwind(Box::new(Planned));
                }
                Action::Cut(Cut::Leave) => self.parts().leaves = true,
                Action::Cut(Cut::Again(ms)) => self.parts().again = Some(*ms),
                action => self.perform(*action, on),
            }
        }
        Ok(())
    }

    pub fn mark(&self, physics: &mut Physics) {
        let mut parts = self.parts();
        parts.marks += 1;
        physics.resources_mut().insert(Mark(parts.marks));
    }

    /// Returns whether this state was marked last.
    pub fn is_marked(&self, physics: &Physics) -> bool {
        physics.resources().get() == Some(&Mark(self.parts().marks))
    }

    pub fn leaves(&self) -> bool {
        std::mem::take(&mut self.parts().leaves)
    }

    pub fn begins_again(&self) -> Option<u8> {
        self.parts().again.take()
    }

    fn fail(&self) {
        let mut parts = self.parts();
        parts.running = None;
        parts.log.push(Entry::Failed);
    }

    pub fn before(&mut self, on: &mut Reach, step: Step) -> Result<(), Planned> {
        self.end_step(on.physics());
        self.notice_removals(on.physics());
        assert_eq!(on.physics().tick(), step.tick);
        assert_eq!(on.physics().time(), step.start_time);
        let bits = Bits::of(on.physics());
        self.log(Entry::Begin { step, bits });
        self.parts().owners.remove_dropped(on.physics());
        self.notice_removals(on.physics());
        let mut inputs = Vec::new();
        {
            let mut parts = self.parts();
            parts.smoothing = parts.next_smoothing;
            let samples: Vec<_> = parts.queue.drain(step).collect();
            for sample in samples {
                assert!(sample.time < step.real_end, "a press comes too early");
                let (number, x) = sample.input;
                parts.inputs.entry(step.tick).or_default().push(x);
                parts.log.push(Entry::Pressed {
                    number,
                    tick: step.tick,
                });
            }
            inputs.extend(parts.inputs.get(&step.tick).cloned().unwrap_or_default());
        }
        for x in inputs {
            // Most scenes have a floor, which comes first.
            self.perform(Action::Body(1, OnBody::SetVelocity(x, Access::BodyMut)), on);
        }
        let actions = self.actions(step, false);
        self.perform_all(&actions, on)?;
        let physics = on.physics();
        self.touch(physics);
        if physics.current_step() == Some(step) {
            begin_step(physics, self.parts().smoothing);
            let mut parts = self.parts();
            parts.running = Some(step);
            parts.log.push(Entry::Run);
        }
        Ok(())
    }

    pub fn after(&mut self, on: &mut Reach, step: Step) -> Result<(), Planned> {
        self.end_step(on.physics());
        let actions = self.actions(step, true);
        self.perform_all(&actions, on)?;
        self.touch(on.physics());
        self.log(Entry::Left);
        Ok(())
    }

    /// Gets mutable access to all bodies in one of two ways, if this game does that, and changes nothing. Access to single
    /// bodies makes Rapier solve their joints in another order.
    fn touch(&self, physics: &mut Physics) {
        if !self.parts().touches {
        } else if physics.tick().is_multiple_of(2) {
            let _ = physics.rapier_mut();
        } else {
            let keys = keys(physics);
            let _ = physics.rapier_mut_for(&keys);
        }
    }
}

/// Does the game's part of each step, after all actions.
pub fn begin_step(physics: &mut Physics, smoothing: Smoothing) {
    score(physics).steps += 1;
    Paths::begin_step(physics, smoothing);
}

impl Hooks for Player {
    type Error = Planned;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        time: FrameTime,
    ) -> Result<(), Planned> {
        self.begin(simulation, time.duration());
        Ok(())
    }

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Planned> {
        self.before(&mut Reach::Physics(physics), step)
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Planned> {
        self.after(&mut Reach::Physics(physics), step)
    }
}
