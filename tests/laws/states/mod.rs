//! Every public method of `Simulation` and `Physics` in every state that a simulation can be in.
//!
//! A state has three parts: the stage of its step, the progress of a rollback, and whether a frame is open. Of the 24
//! combinations, 16 can be reached. These eight cannot:
//!
//! - A step is current, or the game reacts to it, while no frame is open and no rollback is in progress. Steps of the
//!   clock are due in a frame only. A rollback that ends or is dropped ends its step.
//! - All steps of a rollback are resimulated, and yet the last one is over, another one is current, or Rapier has
//!   panicked. The end of the last step ends the rollback, and a step in which Rapier panics does not count as run.
//!
//! Any call in any state leads to one of the 16: [`every_method_has_its_listed_effect_in_every_state`] checks this.

mod methods;
mod parts;
#[cfg(feature = "serde")]
mod sources;
mod unreachable;

use evenstep::forces::{ForceGenerator, ForceGeneratorKey};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::rewind::RewindError;
use evenstep::{BodyKey, Correction, Hooks, Physics, Rate, Simulation, Smoothing};
use scenes::testing::{spin, translation};
use scenes::{MS, advance, hash, with_floor};
use std::cell::Cell;
use std::convert::Infallible;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Idle,
    Before,
    After,
    Poisoned,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Redo {
    None,
    Unfinished,
    Finished,
}

/// The stage of the step, the progress of a rollback, and whether a frame is open.
type Parts = (Stage, Redo, bool);

/// The name of the state, its parts, and a function that leads a game to it.
type State = (&'static str, Parts, fn() -> Game);

/// The states, in the order of the cells of [`Method`]. The first 16 are all combinations that can be reached. In the
/// others, the game has assigned another value since the last call of the loop. Their parts are those after the next
/// call.
const STATES: [State; 22] = {
    use Redo::{Finished, None, Unfinished};
    use Stage::{After, Before, Idle, Poisoned};
    [
        ("idle", (Idle, None, false), game),
        ("due again", (Idle, Unfinished, false), || {
            game().rolled_back()
        }),
        ("before, again", (Before, Unfinished, false), || {
            game().rolled_back().before()
        }),
        ("after, again", (After, Unfinished, false), || {
            game().rolled_back().after()
        }),
        ("redone", (After, Finished, false), || game().redone()),
        ("poisoned", (Poisoned, None, false), || {
            game().with_detected(poisoned())
        }),
        ("poisoned, again", (Poisoned, Unfinished, false), || {
            game().rolled_back().broken()
        }),
        ("frame", (Idle, None, true), || game().begun()),
        ("frame, before", (Before, None, true), || {
            game().begun().before()
        }),
        ("frame, after", (After, None, true), || {
            game().begun().after()
        }),
        ("frame, due again", (Idle, Unfinished, true), || {
            game().begun().rolled_back()
        }),
        ("frame, before, again", (Before, Unfinished, true), || {
            game().begun().rolled_back().before()
        }),
        ("frame, after, again", (After, Unfinished, true), || {
            game().begun().rolled_back().after()
        }),
        ("frame, redone", (After, Finished, true), || {
            game().begun().redone()
        }),
        ("frame, poisoned", (Poisoned, None, true), || {
            game().begun().broken()
        }),
        (
            "frame, poisoned, again",
            (Poisoned, Unfinished, true),
            || game().begun().rolled_back().broken(),
        ),
        ("another value", (Idle, None, false), || {
            game().with(other())
        }),
        ("another value in a rollback", (Idle, None, false), || {
            game().rolled_back().before().with(other())
        }),
        ("another value in a step", (Idle, None, true), || {
            game().begun().before().with(other())
        }),
        ("a value in its own step", (Idle, None, false), || {
            game().with(game().begun().before().simulation.physics)
        }),
        ("a value after its own step", (Idle, None, false), || {
            game().with(game().begun().after().simulation.physics)
        }),
        ("another value, poisoned", (Poisoned, None, false), || {
            game().with(poisoned())
        }),
    ]
};

/// The name of another way to a state, the index of the state in [`STATES`], and a function that goes this way.
type Way = (&'static str, usize, fn() -> Game);

/// Other ways to the states: another loop has run steps of the value, or the game has asked to pause after the step.
/// Every method has the same effect there.
const OTHER_WAYS: [Way; 5] = [
    ("a returned value", 16, || game().returned()),
    ("a returned value in a rollback", 17, || {
        game().rolled_back().before().returned()
    }),
    ("a returned value in a step", 18, || {
        game().begun().before().returned()
    }),
    ("before, again, with a pause", 2, || {
        game().rolled_back().before().pausing()
    }),
    ("frame, before, with a pause", 8, || {
        game().begun().before().pausing()
    }),
];

/// How many of the states have a value that the loop knows.
const KNOWN: usize = 16;

struct Game {
    simulation: Simulation,
    /// The ball touches the floor, so each step has an event.
    ball: BodyKey,
    lift: BodyKey,
    generator: ForceGeneratorKey,
}

/// A value of the game in the state.
#[derive(Clone)]
struct Score(u64);

/// Returns a game after six frames with one step each.
fn game() -> Game {
    let mut simulation = with_floor(Rate::hz(100));
    simulation.keep(Kept {
        ticks: 20,
        poses: 20,
        ..simulation.kept()
    });
    simulation.physics.resources_mut().insert(Score(0));
    let collider = ColliderBuilder::ball(0.5)
        .active_events(ActiveEvents::CONTACT_FORCE_EVENTS)
        .contact_force_event_threshold(0.0);
    let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 0.5);
    let ball = simulation.physics.insert(body, collider);
    let body = RigidBodyBuilder::kinematic_position_based().translation(Vector::Y * 9.0);
    let lift = simulation.physics.insert(body, scenes::ball());
    let drag = ForceGenerator::Drag {
        linear: 0.1,
        angular: 0.1,
    };
    let generator = simulation.physics.insert_force_generator(ball, drag);
    for _ in 0..6 {
        assert_eq!(advance(&mut simulation, 10).steps, 1);
        assert!(!simulation.physics.events().is_empty());
    }
    Game {
        simulation,
        ball,
        lift,
        generator: generator.unwrap(),
    }
}

/// Returns the state of another simulation, at tick 8.
fn other() -> Physics {
    let mut game = game();
    advance(&mut game.simulation, 20);
    game.simulation.physics.clone()
}

/// Returns the state of another simulation, at tick 106.
fn much_later() -> Physics {
    game().simulation.physics.preview(100, |_, _| ())
}

fn poisoned() -> Physics {
    game().begun().broken().simulation.physics.clone()
}

impl Game {
    /// Begins a frame with three due steps.
    fn begun(mut self) -> Self {
        self.simulation.begin_frame(MS(30));
        self
    }

    /// Rolls back, so that three steps are to be resimulated.
    fn rolled_back(mut self) -> Self {
        self.simulation.roll_back(3).unwrap();
        self
    }

    fn before(mut self) -> Self {
        self.simulation.next_step().unwrap();
        self
    }

    fn after(self) -> Self {
        let mut game = self.before();
        assert!(game.simulation.run_step());
        game
    }

    fn redone(self) -> Self {
        self.rolled_back().after().after().after()
    }

    /// Runs a step in which Rapier panics.
    fn broken(self) -> Self {
        let mut game = self.before();
        scenes::break_rapier(&mut game.simulation.physics);
        quietly(|| game.simulation.run_step()).unwrap_err();
        game
    }

    /// Lets another loop run steps of the value.
    fn returned(mut self) -> Self {
        let mut other = Simulation::new(Rate::hz(100));
        std::mem::swap(&mut self.simulation.physics, &mut other.physics);
        advance(&mut other, 20);
        std::mem::swap(&mut self.simulation.physics, &mut other.physics);
        self
    }

    /// Asks to pause after the current step.
    fn pausing(mut self) -> Self {
        self.simulation.physics.pause_after_step();
        self
    }

    fn with(mut self, physics: Physics) -> Self {
        self.simulation.physics = physics;
        self
    }

    fn with_detected(self, physics: Physics) -> Self {
        let mut game = self.with(physics);
        detect_assignment(&mut game.simulation);
        game
    }
}

/// Makes the loop detect an assignment, without any other effect.
fn detect_assignment(simulation: &mut Simulation) {
    let _ = simulation.rewind(u64::MAX);
}

/// Calls a function. Returns the message of a panic without printing it.
fn quietly<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    thread_local!(static IS_QUIET: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = take_hook();
        set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                usual(panic);
            }
        }));
    });
    let was_quiet = IS_QUIET.replace(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    IS_QUIET.set(was_quiet);
    result.map_err(|payload| match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(payload) => payload
            .downcast::<&str>()
            .map_or_else(|_| String::new(), |it| (*it).into()),
    })
}

/// Returns the parts of a state after the loop has detected an assignment. The simulation is consumed.
fn parts(mut simulation: Simulation) -> Parts {
    detect_assignment(&mut simulation);
    let (mut redo, is_open) = (redo(&simulation), is_open(simulation.clone()));
    let stage = if is_poisoned(&simulation) {
        Stage::Poisoned
    } else if simulation.physics.current_step().is_some() {
        Stage::Before
    } else {
        let pauses = pauses_after_step(simulation.clone());
        match is_after(simulation) {
            Some(true) => {
                if redo == Redo::None && !pauses {
                    redo = Redo::Finished;
                }
                Stage::After
            }
            _ => Stage::Idle,
        }
    };
    (stage, redo, is_open)
}

/// Returns whether a request to pause after the last step is heard. A resimulated step never pauses.
fn pauses_after_step(mut simulation: Simulation) -> bool {
    simulation.resume();
    simulation.physics.pause_after_step();
    // It runs no step, but ends the last one.
    simulation.begin_frame(Duration::ZERO);
    simulation.next_step();
    simulation.clock().settings().is_paused()
}

fn is_poisoned(simulation: &Simulation) -> bool {
    let mut copy = simulation.clone();
    let begun = quietly(|| copy.begin_frame(Duration::ZERO));
    begun.is_err_and(|message| message.starts_with("Rapier panicked"))
}

/// Returns the progress of a rollback, except whether its last step is over: see [`parts`].
fn redo(simulation: &Simulation) -> Redo {
    if simulation.steps_to_resimulate() > 0 {
        return Redo::Unfinished;
    }
    Redo::None
}

/// Returns whether a frame is open. Only the end of an open frame is counted.
fn is_open(mut simulation: Simulation) -> bool {
    let number = simulation.frame().number;
    simulation.physics = Physics::new();
    simulation.end_frame().number > number
}

/// Returns whether a step has just run, or `None` without a past. A shift of the origin discards the past, unless it
/// belongs to a step.
fn is_after(mut simulation: Simulation) -> Option<bool> {
    let had_past = !simulation.rewindable().is_empty();
    simulation.physics.shift_origin(Vector::ZERO).unwrap();
    had_past.then(|| !simulation.rewindable().is_empty())
}

/// Returns whether the clock is at the present, and the physics is behind it by the steps to be resimulated.
fn is_lawful(simulation: &Simulation) -> bool {
    let tick = simulation.physics.tick() + simulation.steps_to_resimulate();
    simulation.clock().tick() == tick
}

/// Checks that the game can continue from this state. An error says where it cannot.
fn continues(mut simulation: Simulation) -> Result<(), &'static str> {
    let mut copy = simulation.clone();
    if is_poisoned(&simulation) {
        copy.physics = other();
        advances(copy).or(Err("after an assignment"))?;
        if simulation.rewindable().is_empty() {
            return Ok(());
        }
        let newest = simulation.rewindable().end - 1;
        simulation.rewind(newest).or(Err("the rewind fails"))?;
    } else {
        copy.begin_frame(MS(20));
        while copy.next_step().is_some() {
            assert!(copy.run_step());
        }
        copy.end_frame();
        is_at_rest(&mut copy).or(Err("in the pull form"))?;
    }
    advances(simulation)
}

fn advances(mut simulation: Simulation) -> Result<(), &'static str> {
    simulation.resume();
    let tick = simulation.physics.tick();
    advance(&mut simulation, 20);
    if simulation.clock().settings().is_paused() {
        // The game had asked for a stop after the step that was at hand.
        simulation.resume();
        advance(&mut simulation, 20);
    }
    if simulation.physics.tick() <= tick {
        return Err("no step runs");
    }
    is_at_rest(&mut simulation)
}

fn is_at_rest(simulation: &mut Simulation) -> Result<(), &'static str> {
    if !is_lawful(simulation) {
        Err("the clock and the physics have different ticks")
    } else if simulation.steps_to_resimulate() > 0 || redo(simulation) != Redo::None {
        Err("a rollback is still in progress")
    } else if simulation.next_step().is_some() || simulation.run_step() {
        Err("a step is still pending")
    } else {
        Ok(())
    }
}
