//! Every public method of `Simulation` and `Physics` in every state that a simulation can be in.
//!
//! A state has three parts: the stage of its step, how far a rollback is, and whether a frame is open. Of the 24 products 16
//! can be reached. These eight cannot:
//!
//! - A step is at hand, or the game reacts to it, while no frame is open and no rollback is under way. Steps of the clock are
//!   due in a frame only, and a rollback that ends or is dropped ends its step.
//! - All steps of a rollback are resimulated, and yet the last one is over, another one is at hand, or Rapier has panicked.
//!   The end of the last step is the end of the rollback, and a step in which Rapier panics is not made.
//!
//! Whatever is called in whatever state leads to one of the 16: [`every_method_in_every_state`] checks it.

mod scenes;

use evenstep::rapier::prelude::*;
use evenstep::{
    BodyKey, Correction, ForceGenerator, ForceGeneratorKey, Hooks, Physics, Rate, RewindError,
    Simulation, Smoothing,
};
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

/// The stage of the step, how far a rollback is, and whether a frame is open.
type Parts = (Stage, Redo, bool);

/// Its name, its parts, and how a game gets there.
type State = (&'static str, Parts, fn() -> Game);

/// The order of the states in the cells of [`Method`]. The first 16 are all products that can be reached. In the others the
/// game has assigned another value since the last call of the loop, and their parts are those after the next call.
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
            game().noticed(poisoned())
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

/// How many of the states have a value that the loop knows.
const KNOWN: usize = 16;

struct Game {
    simulation: Simulation,
    /// It touches the floor, and so has an event in each step.
    ball: BodyKey,
    lift: BodyKey,
    generator: ForceGeneratorKey,
}

/// A resource.
#[derive(Clone)]
struct Score(u64);

/// After six frames with a step in each.
fn game() -> Game {
    let mut simulation = with_floor(Rate::hz(100).unwrap());
    simulation.set_rewind_limits(20, usize::MAX);
    simulation.set_history(20);
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

/// The state of another simulation, at tick 8.
fn other() -> Physics {
    let mut game = game();
    advance(&mut game.simulation, 20);
    game.simulation.physics.clone()
}

fn poisoned() -> Physics {
    game().begun().broken().simulation.physics.clone()
}

impl Game {
    /// With three steps due.
    fn begun(mut self) -> Self {
        self.simulation.begin_frame(MS(30));
        self
    }

    /// With three steps to be resimulated.
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
        assert!(game.simulation.make_step());
        game
    }

    fn redone(self) -> Self {
        self.rolled_back().after().after().after()
    }

    /// Rapier panics in a step on a joint to a body that was removed.
    fn broken(self) -> Self {
        let mut game = self.before();
        let rapier = game.simulation.physics.rapier_mut();
        let ends = [(); 2].map(|()| rapier.insert_body(RigidBodyBuilder::dynamic()));
        rapier.remove_body(ends[1]);
        rapier.insert_impulse_joint(ends[0], ends[1], FixedJointBuilder::new());
        quietly(|| game.simulation.make_step()).unwrap_err();
        game
    }

    fn with(mut self, physics: Physics) -> Self {
        self.simulation.physics = physics;
        self
    }

    fn noticed(self, physics: Physics) -> Self {
        let mut game = self.with(physics);
        notice(&mut game.simulation);
        game
    }
}

/// Lets the loop follow an assignment, and nothing else.
fn notice(simulation: &mut Simulation) {
    let _ = simulation.rewind(u64::MAX);
}

/// The message of a panic, which is printed nowhere.
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

// What tells the states apart.

/// The parts that a state has, once the loop has followed an assignment. Asks the simulation to death.
fn parts(mut simulation: Simulation) -> Parts {
    notice(&mut simulation);
    let (redo, is_open) = (redo(&simulation), is_open(simulation.clone()));
    let stage = if is_poisoned(&simulation) {
        Stage::Poisoned
    } else if simulation.physics.current_step().is_some() {
        Stage::Before
    } else if is_after(simulation).unwrap_or(redo == Redo::Finished) {
        Stage::After
    } else {
        Stage::Idle
    };
    (stage, redo, is_open)
}

fn is_poisoned(simulation: &Simulation) -> bool {
    let mut copy = simulation.clone();
    let begun = quietly(|| copy.begin_frame(Duration::ZERO));
    begun.is_err_and(|message| message.starts_with("Rapier panicked"))
}

/// Until a rollback ends, the events are those of its steps, not those of the frame.
fn redo(simulation: &Simulation) -> Redo {
    let frame = simulation.frame().ticks();
    match simulation.steps_to_resimulate() {
        0 if simulation
            .events()
            .iter()
            .any(|event| event.tick() < frame.start) =>
        {
            Redo::Finished
        }
        0 => Redo::None,
        _ => Redo::Unfinished,
    }
}

/// Only the end of an open frame is counted.
fn is_open(mut simulation: Simulation) -> bool {
    let number = simulation.frame().number;
    simulation.physics = Physics::new();
    simulation.end_frame().number > number
}

/// A shift of the origin discards the past, unless it belongs to a step. `None` without a past.
fn is_after(mut simulation: Simulation) -> Option<bool> {
    let had_past = !simulation.rewindable().is_empty();
    simulation.physics.shift_origin(Vector::ZERO).unwrap();
    had_past.then(|| !simulation.rewindable().is_empty())
}

#[test]
fn every_state_is_what_it_is_called() {
    for (name, expected, build) in STATES {
        assert_eq!(parts(build().simulation), expected, "{name}");
    }
    let known = STATES[..KNOWN].iter().map(|(_, parts, _)| parts);
    for (i, parts) in known.clone().enumerate() {
        assert!(
            known.clone().skip(i + 1).all(|other| other != parts),
            "{parts:?} twice"
        );
    }
}

// The laws.

/// The clock is that of the present, and the physics is behind it by the steps to be resimulated.
fn is_lawful(simulation: &Simulation) -> bool {
    let tick = simulation.physics.tick() + simulation.steps_to_resimulate();
    simulation.clock().tick() == tick
}

/// Whatever has happened, a game can continue. Otherwise says where not.
fn continues(mut simulation: Simulation) -> Result<(), &'static str> {
    let mut copy = simulation.clone();
    if is_poisoned(&simulation) {
        copy.physics = other();
        advances(copy).or(Err("after an assignment"))?;
        if simulation.rewindable().is_empty() {
            return Ok(());
        }
        let newest = simulation.rewindable().end - 1;
        simulation.rewind(newest).or(Err("no rewind"))?;
    } else {
        copy.begin_frame(MS(20));
        while copy.next_step().is_some() {
            assert!(copy.make_step());
        }
        copy.end_frame();
        is_at_rest(&mut copy).or(Err("pulled"))?;
    }
    advances(simulation)
}

fn advances(mut simulation: Simulation) -> Result<(), &'static str> {
    simulation.resume();
    let tick = simulation.physics.tick();
    advance(&mut simulation, 20);
    if simulation.physics.tick() <= tick {
        return Err("no step");
    }
    is_at_rest(&mut simulation)
}

fn is_at_rest(simulation: &mut Simulation) -> Result<(), &'static str> {
    if !is_lawful(simulation) {
        Err("another tick")
    } else if simulation.steps_to_resimulate() > 0 || redo(simulation) != Redo::None {
        Err("a rollback is left")
    } else if simulation.next_step().is_some() || simulation.make_step() {
        Err("a step is left")
    } else {
        Ok(())
    }
}

/// What an error and a call that does nothing leave as it is.
fn seen(game: &mut Game) -> impl PartialEq + use<> {
    let simulation = &mut game.simulation;
    notice(simulation);
    (
        (simulation.physics.tick(), simulation.clock().tick()),
        (simulation.steps_to_resimulate(), simulation.rewindable()),
        (simulation.physics.current_step(), simulation.frame()),
        hash(simulation.physics.rapier()),
    )
}

// The methods.

/// What a call does in each state.
struct Method {
    /// As in the source, with the type.
    name: &'static str,
    /// A letter for each of [`STATES`], beside spaces:
    ///
    /// - `w`: it works.
    /// - `-`: it does nothing, or returns that there is nothing.
    /// - `n`: [`RewindError::NotKept`]
    /// - `f`: [`RewindError::WithinFrame`] or `SaveError::WithinFrame`
    /// - `t`: a [`CorrectError`](evenstep::CorrectError)
    /// - `s`: `SaveError::Panicked`, or serde's error for the same reason
    /// - `p`: It panics, because Rapier has.
    cells: &'static str,
    /// Returns the letter.
    call: fn(&mut Game) -> char,
}

const ALWAYS: &str = "wwwwwww wwwwwwwww wwwwww";
const UNLESS_POISONED: &str = "wwwwwpp wwwwwwwpp wwwwwp";
const NEVER: &str = "------- --------- ------";

/// Says whether there was something.
fn some(is_some: bool) -> char {
    if is_some { 'w' } else { '-' }
}

/// It worked, as it did not panic.
fn done<T>(_: T) -> char {
    'w'
}

fn rewound<T>(result: Result<T, RewindError>) -> char {
    match result {
        Ok(_) => 'w',
        Err(RewindError::WithinFrame) => 'f',
        Err(RewindError::NotKept { .. }) => 'n',
        Err(error) => panic!("{error}"),
    }
}

#[cfg(feature = "serde")]
fn saved(simulation: &Simulation) -> char {
    match simulation.save() {
        Ok(_) => 'w',
        Err(evenstep::SaveError::WithinFrame) => 'f',
        Err(evenstep::SaveError::Panicked) => 's',
        Err(error) => panic!("{error}"),
    }
}

/// Says whether it took the simulation to another tick, or the step at hand.
fn rolled(game: &mut Game, tick: u64) -> char {
    let at = |simulation: &Simulation| {
        let mut simulation = simulation.clone();
        notice(&mut simulation);
        (
            simulation.physics.tick(),
            simulation.physics.current_step().is_some(),
        )
    };
    let before = at(&game.simulation);
    match game.simulation.roll_back(tick) {
        Ok(()) => some(before != at(&game.simulation)),
        result => rewound(result),
    }
}

fn corrected(game: &mut Game, state: Physics) -> char {
    match game.simulation.correct(state) {
        Ok(()) => 'w',
        Err(_) => 't',
    }
}

struct NoHooks;

impl Hooks for NoHooks {
    type Error = Infallible;
}

/// Rows with a name in parentheses are not methods: what else a game does to a simulation.
#[rustfmt::skip]
const METHODS: &[Method] = &[
    // The loop. States in the order of `STATES`:        outside of frames, in a frame, another value.
    Method { name: "Simulation::advance", cells: UNLESS_POISONED, call: |it| done(advance(&mut it.simulation, 10)) },
    Method { name: "Simulation::advance_with", cells: UNLESS_POISONED, call: |it| done(it.simulation.advance_with(MS(10), &mut NoHooks)) },
    Method { name: "Simulation::begin_frame", cells: UNLESS_POISONED, call: |it| { it.simulation.begin_frame(MS(10)); 'w' } },
    Method { name: "Simulation::next_step", cells: "-www--- wwwwwww-- --w---", call: |it| some(it.simulation.next_step().is_some()) },
    Method { name: "Simulation::make_step", cells: "--w---- -w--w---- ------", call: |it| some(it.simulation.make_step()) },
    Method { name: "Simulation::make_step_with", cells: "--w---- -w--w---- ------", call: |it| some(it.simulation.make_step_with(&())) },
    Method { name: "Simulation::end_frame", cells: "------- wwwwwww-- --w---", call: |it| {
        let number = it.simulation.frame().number;
        some(it.simulation.end_frame().number > number)
    } },
    // Back in time: as far as possible, to the present tick, ahead.
    Method { name: "Simulation::roll_back", cells: "wwwwwpp wwwwwwwpp nnnnnp", call: |it| {
        let oldest = it.simulation.rewindable().start;
        rolled(it, oldest)
    } },
    Method { name: "Simulation::roll_back", cells: "--w--pp -w--w--pp -----p", call: |it| {
        let here = it.simulation.physics.tick();
        rolled(it, here)
    } },
    Method { name: "Simulation::roll_back", cells: "-----pp -------pp -----p", call: |it| {
        let ahead = it.simulation.physics.tick() + 1;
        rolled(it, ahead)
    } },
    Method { name: "Simulation::resimulate", cells: "wwwwwpp wwwwwwwpp nnnnnp", call: |it| {
        let oldest = it.simulation.rewindable().start;
        rewound(it.simulation.resimulate(oldest, |_, _| ()))
    } },
    Method { name: "Simulation::resimulate", cells: "-www-pp ---www-pp -----p", call: |it| {
        let due = it.simulation.steps_to_resimulate();
        let ahead = it.simulation.physics.tick() + 1;
        it.simulation.resimulate(ahead, |_, _| ()).unwrap();
        some(it.simulation.steps_to_resimulate() < due)
    } },
    Method { name: "Simulation::resimulate_with", cells: "wwwwwpp wwwwwwwpp nnnnnp", call: |it| {
        let oldest = it.simulation.rewindable().start;
        match it.simulation.resimulate_with(oldest, &mut NoHooks) {
            Err(evenstep::ResimulateError::Rewind(error)) => rewound::<()>(Err(error)),
            result => some(result.is_ok()),
        }
    } },
    Method { name: "Simulation::rewind", cells: "wwwwwnw fffffffww nnfnnn", call: |it| {
        let oldest = it.simulation.rewindable().start;
        rewound(it.simulation.rewind(oldest))
    } },
    Method { name: "Simulation::rewind", cells: "wwwwwnw fffffffww wwfwwn", call: |it| {
        let here = it.simulation.physics.tick();
        rewound(it.simulation.rewind(here))
    } },
    Method { name: "Simulation::correct", cells: UNLESS_POISONED, call: |it| {
        let state = it.simulation.physics.clone();
        corrected(it, state)
    } },
    Method { name: "Simulation::correct", cells: "tttttpp tttttttpp tttttp", call: |it| corrected(it, Physics::new()) },
    Method { name: "Simulation::correct", cells: "ppppppp ppppppppp pppppp", call: |it| corrected(it, poisoned()) },
    Method { name: "Simulation::event_changes", cells: ALWAYS, call: |it| done(it.simulation.event_changes()) },
    Method { name: "Simulation::steps_to_resimulate", cells: "-www--w ---www--w ------", call: |it| some(it.simulation.steps_to_resimulate() > 0) },
    Method { name: "Simulation::rewindable", cells: "wwwww-w wwwwwwwww ------", call: |it| some(!it.simulation.rewindable().is_empty()) },
    Method { name: "Simulation::rewind_bytes", cells: "wwwww-w wwwwwwwww ------", call: |it| some(it.simulation.rewind_bytes() > 0) },
    Method { name: "Simulation::set_rewind_limits", cells: ALWAYS, call: |it| { it.simulation.set_rewind_limits(0, 0); 'w' } },
    Method { name: "Simulation::set_rewind_interval", cells: ALWAYS, call: |it| { it.simulation.set_rewind_interval(4); 'w' } },
    Method { name: "Simulation::set_history", cells: ALWAYS, call: |it| { it.simulation.set_history(2); 'w' } },
    Method { name: "Simulation::world_at", cells: ALWAYS, call: |it| rewound(it.simulation.world_at(it.simulation.physics.tick(), 1.0)) },
    Method { name: "Simulation::pose_at", cells: ALWAYS, call: |it| some(it.simulation.pose_at(it.ball, it.simulation.physics.tick(), 1.0).is_some()) },
    // The picture.
    Method { name: "Simulation::pose", cells: ALWAYS, call: |it| some(it.simulation.pose(it.ball).is_some()) },
    Method { name: "Simulation::collider_pose", cells: ALWAYS, call: |it| {
        let collider = it.simulation.physics.body(it.ball).unwrap().colliders()[0];
        some(it.simulation.collider_pose(collider).is_some())
    } },
    Method { name: "Simulation::moved", cells: ALWAYS, call: |it| done(it.simulation.moved()) },
    Method { name: "Simulation::removed", cells: ALWAYS, call: |it| done(it.simulation.removed()) },
    Method { name: "Simulation::changes_since", cells: ALWAYS, call: |it| some(it.simulation.changes_since(it.simulation.frame().number).is_some()) },
    Method { name: "Simulation::visual_error", cells: NEVER, call: |it| some(it.simulation.visual_error(it.ball).is_some()) },
    Method { name: "Simulation::frame", cells: ALWAYS, call: |it| done(it.simulation.frame()) },
    Method { name: "Simulation::events", cells: "w--ww-- --w--ww-- w--www", call: |it| some(!it.simulation.events().is_empty()) },
    // The clock.
    Method { name: "Simulation::clock", cells: ALWAYS, call: |it| done(it.simulation.clock().time()) },
    Method { name: "Simulation::clock_settings_mut", cells: ALWAYS, call: |it| { it.simulation.clock_settings_mut().set_rate(Rate::hz(50).unwrap()); 'w' } },
    Method { name: "Simulation::pause", cells: ALWAYS, call: |it| { it.simulation.pause(); 'w' } },
    Method { name: "Simulation::resume", cells: ALWAYS, call: |it| { it.simulation.resume(); 'w' } },
    Method { name: "Simulation::set_speed", cells: ALWAYS, call: |it| some(it.simulation.set_speed(2.0).is_ok()) },
    // Values.
    Method { name: "Simulation::new", cells: ALWAYS, call: |it| { it.simulation = Simulation::new(Rate::default()); 'w' } },
    Method { name: "Simulation::with_physics", cells: ALWAYS, call: |it| {
        let physics = std::mem::take(&mut it.simulation.physics);
        it.simulation = Simulation::with_physics(Rate::default(), physics);
        'w'
    } },
    Method { name: "Simulation::resource_scope", cells: ALWAYS, call: |it| some(it.simulation.resource_scope(|_, score: &mut Score| score.0 += 1).is_some()) },
    #[cfg(feature = "serde")]
    Method { name: "Simulation::save", cells: "wfffwsf fffffffff wwfwws", call: |it| saved(&it.simulation) },
    #[cfg(feature = "serde")]
    Method { name: "Simulation::load", cells: ALWAYS, call: |it| { it.simulation = Simulation::load(&game().simulation.save().unwrap()).unwrap(); 'w' } },
    #[cfg(feature = "serde")]
    Method { name: "Simulation::load_with", cells: ALWAYS, call: |it| { it.simulation = Simulation::load_with(&game().simulation.save().unwrap(), |_| None).unwrap(); 'w' } },
    #[cfg(feature = "serde")]
    Method { name: "(the value with serde)", cells: "wwwwwss wwwwwwwss wwwwws", call: |it| match serde_json::to_vec(&it.simulation.physics) {
        Ok(_) => 'w',
        Err(error) => { assert!(error.to_string().starts_with("Rapier panicked")); 's' }
    } },
    Method { name: "(a clone of the simulation)", cells: ALWAYS, call: |it| { it.simulation = it.simulation.clone(); 'w' } },
    Method { name: "(a clone of the value)", cells: ALWAYS, call: |it| { it.simulation.physics = it.simulation.physics.clone(); 'w' } },
    Method { name: "(the same value)", cells: NEVER, call: |it| {
        let physics = std::mem::take(&mut it.simulation.physics);
        it.simulation.physics = physics;
        '-'
    } },
    Method { name: "(format)", cells: ALWAYS, call: |it| done(format!("{:?} {:?}", it.simulation, it.simulation.physics)) },
    Method { name: "Physics::new", cells: ALWAYS, call: |it| { it.simulation.physics = Physics::new(); 'w' } },
    Method { name: "Physics::from_rapier", cells: ALWAYS, call: |it| { it.simulation.physics = Physics::from_rapier(PhysicsWorld::new()); 'w' } },
    // Readings and a preview.
    Method { name: "Physics::tick", cells: ALWAYS, call: |it| done(it.simulation.physics.tick()) },
    Method { name: "Physics::time", cells: ALWAYS, call: |it| done(it.simulation.physics.time()) },
    Method { name: "Physics::current_step", cells: "--w---- -w--w---- ---w--", call: |it| some(it.simulation.physics.current_step().is_some()) },
    Method { name: "Physics::events", cells: "wwwww-- wwwwwww-- wwwww-", call: |it| some(!it.simulation.physics.events().is_empty()) },
    Method { name: "Physics::step_ahead", cells: UNLESS_POISONED, call: |it| { it.simulation.physics.step_ahead(2); 'w' } },
    #[cfg(feature = "checksum")]
    Method { name: "Physics::checksum", cells: ALWAYS, call: |it| done(it.simulation.physics.checksum()) },
    #[cfg(feature = "checksum")]
    Method { name: "Physics::body_checksum", cells: ALWAYS, call: |it| some(it.simulation.physics.body_checksum(it.ball).is_some()) },
    // Bodies.
    Method { name: "Physics::insert", cells: ALWAYS, call: |it| done(it.simulation.physics.insert(RigidBodyBuilder::dynamic(), scenes::ball())) },
    Method { name: "Physics::insert_body", cells: ALWAYS, call: |it| done(it.simulation.physics.insert_body(RigidBodyBuilder::dynamic())) },
    Method { name: "Physics::insert_collider", cells: ALWAYS, call: |it| some(it.simulation.physics.insert_collider(it.ball, scenes::ball()).is_ok()) },
    Method { name: "Physics::remove_collider", cells: ALWAYS, call: |it| {
        let collider = it.simulation.physics.body(it.ball).unwrap().colliders()[0];
        some(it.simulation.physics.remove_collider(collider).is_some())
    } },
    Method { name: "Physics::track", cells: ALWAYS, call: |it| {
        let handle = it.simulation.physics.handle(it.ball).unwrap();
        some(it.simulation.physics.track(handle) == Some(it.ball))
    } },
    Method { name: "Physics::track_all", cells: ALWAYS, call: |it| { it.simulation.physics.track_all(); 'w' } },
    Method { name: "Physics::bodies", cells: ALWAYS, call: |it| some(it.simulation.physics.bodies().count() == 3) },
    Method { name: "Physics::remove", cells: ALWAYS, call: |it| some(it.simulation.physics.remove(it.ball).is_some()) },
    Method { name: "Physics::body", cells: ALWAYS, call: |it| some(it.simulation.physics.body(it.ball).is_some()) },
    Method { name: "Physics::body_mut", cells: ALWAYS, call: |it| {
        it.simulation.physics.body_mut(it.ball).unwrap().set_translation(Vector::Y, true);
        'w'
    } },
    Method { name: "Physics::handle", cells: ALWAYS, call: |it| some(it.simulation.physics.handle(it.ball).is_some()) },
    Method { name: "Physics::key", cells: ALWAYS, call: |it| {
        let handle = it.simulation.physics.handle(it.ball).unwrap();
        some(it.simulation.physics.key(handle) == Some(it.ball))
    } },
    Method { name: "Physics::key_of_collider", cells: ALWAYS, call: |it| {
        let collider = it.simulation.physics.body(it.ball).unwrap().colliders()[0];
        some(it.simulation.physics.key_of_collider(collider) == Some(it.ball))
    } },
    Method { name: "Physics::rapier", cells: ALWAYS, call: |it| done(it.simulation.physics.rapier()) },
    Method { name: "Physics::rapier_mut", cells: ALWAYS, call: |it| { it.simulation.physics.rapier_mut().gravity = Vector::ZERO; 'w' } },
    Method { name: "Physics::rapier_mut_for", cells: ALWAYS, call: |it| { it.simulation.physics.rapier_mut_for(&[it.ball]).gravity = Vector::ZERO; 'w' } },
    Method { name: "Physics::rapier_mut_except_bodies", cells: ALWAYS, call: |it| { it.simulation.physics.rapier_mut_except_bodies().gravity = Vector::ZERO; 'w' } },
    Method { name: "Physics::query_pipeline_mut", cells: ALWAYS, call: |it| done(it.simulation.physics.query_pipeline_mut(QueryFilter::default())) },
    // Forces.
    Method { name: "Physics::add_force", cells: ALWAYS, call: |it| some(it.simulation.physics.add_force(it.ball, Vector::Y).is_ok()) },
    Method { name: "Physics::add_force_at_point", cells: ALWAYS, call: |it| some(it.simulation.physics.add_force_at_point(it.ball, Vector::Y, Vector::X).is_ok()) },
    Method { name: "Physics::add_torque", cells: ALWAYS, call: |it| some(it.simulation.physics.add_torque(it.ball, spin(0.0, 0.0, 1.0)).is_ok()) },
    Method { name: "Physics::apply_impulse", cells: ALWAYS, call: |it| some(it.simulation.physics.apply_impulse(it.ball, Vector::Y).is_ok()) },
    Method { name: "Physics::apply_impulse_at_point", cells: ALWAYS, call: |it| some(it.simulation.physics.apply_impulse_at_point(it.ball, Vector::Y, Vector::X).is_ok()) },
    Method { name: "Physics::apply_torque_impulse", cells: ALWAYS, call: |it| some(it.simulation.physics.apply_torque_impulse(it.ball, spin(0.0, 0.0, 1.0)).is_ok()) },
    Method { name: "Physics::insert_force_generator", cells: ALWAYS, call: |it| {
        let force = ForceGenerator::Drag { linear: 1.0, angular: 1.0 };
        some(it.simulation.physics.insert_force_generator(it.ball, force).is_ok())
    } },
    Method { name: "Physics::remove_force_generator", cells: ALWAYS, call: |it| some(it.simulation.physics.remove_force_generator(it.generator).is_some()) },
    Method { name: "Physics::force_generator", cells: ALWAYS, call: |it| some(it.simulation.physics.force_generator(it.generator).is_some()) },
    // Placing.
    Method { name: "Physics::teleport", cells: ALWAYS, call: |it| some(it.simulation.physics.teleport(it.ball, translation(0.0, 2.0, 0.0)).is_ok()) },
    Method { name: "Physics::teleport_by", cells: ALWAYS, call: |it| some(it.simulation.physics.teleport_by(it.ball, translation(0.0, 2.0, 0.0)).is_ok()) },
    Method { name: "Physics::shift_origin", cells: ALWAYS, call: |it| some(it.simulation.physics.shift_origin(Vector::X).is_ok()) },
    Method { name: "Physics::set_kinematic_target", cells: ALWAYS, call: |it| some(it.simulation.physics.set_kinematic_target(it.lift, translation(0.0, 8.0, 0.0), MS(500)).is_ok()) },
    Method { name: "Physics::set_previous_from_velocity", cells: ALWAYS, call: |it| some(it.simulation.physics.set_previous_from_velocity(it.ball).is_ok()) },
    // What belongs to a body, and to the game.
    Method { name: "Physics::body_smoothing", cells: NEVER, call: |it| some(it.simulation.physics.body_smoothing(it.ball).is_some()) },
    Method { name: "Physics::set_body_smoothing", cells: ALWAYS, call: |it| some(it.simulation.physics.set_body_smoothing(it.ball, Some(Smoothing::Latest)).is_ok()) },
    Method { name: "Physics::body_correction", cells: NEVER, call: |it| some(it.simulation.physics.body_correction(it.ball).is_some()) },
    Method { name: "Physics::set_body_correction", cells: ALWAYS, call: |it| some(it.simulation.physics.set_body_correction(it.ball, Some(Correction::OFF)).is_ok()) },
    Method { name: "Physics::resources", cells: ALWAYS, call: |it| some(it.simulation.physics.resources().get::<Score>().is_some()) },
    Method { name: "Physics::resources_mut", cells: ALWAYS, call: |it| done(it.simulation.physics.resources_mut().insert(Score(1))) },
    Method { name: "Physics::resource_scope", cells: ALWAYS, call: |it| some(it.simulation.physics.resource_scope(|_, score: &mut Score| score.0 += 1).is_some()) },
];

/// The letter of a call, and of a panic that is documented.
fn outcome(method: &Method, game: &mut Game) -> Result<char, String> {
    quietly(|| (method.call)(game)).or_else(|message| {
        if message.starts_with("Rapier panicked") {
            Ok('p')
        } else {
            Err(message)
        }
    })
}

/// Calls a method in a state, and says what is wrong then.
fn check(method: &Method, place: usize, expected: char) -> Result<(), String> {
    let (_, before, build) = STATES[place];
    let mut game = build();
    let got = outcome(method, &mut game)?;
    if got != expected {
        return Err(format!("it gives `{got}`, not `{expected}`"));
    }
    // The first law holds after each call of the loop. Assignments and steps ahead are to be followed by one.
    let is_known = place < KNOWN && method.name.starts_with("Simulation");
    let is_sound = !is_poisoned(&game.simulation);
    if is_known && is_sound && !is_lawful(&game.simulation) {
        return Err("another tick right after it".into());
    }
    notice(&mut game.simulation);
    if is_sound && !is_lawful(&game.simulation) {
        return Err("another tick".into());
    }
    if got != 'w' && seen(&mut game) != seen(&mut build()) {
        return Err("it changed something".into());
    }
    quietly(|| continues(game.simulation))?.map_err(|at| format!("it does not continue: {at}"))?;
    // Once more, to tell the new state.
    let mut game = build();
    outcome(method, &mut game)?;
    let after = quietly(|| parts(game.simulation))?;
    if !STATES[..KNOWN].iter().any(|(_, parts, _)| *parts == after) {
        return Err(format!("it leads to {after:?}"));
    }
    // An error ends no step and no rollback.
    if !"w-".contains(got) && after != before {
        return Err(format!("it fails, and leads to {after:?}"));
    }
    Ok(())
}

#[test]
fn every_method_in_every_state() {
    let mut wrong = Vec::new();
    for method in METHODS {
        let cells: Vec<char> = method.cells.chars().filter(|it| *it != ' ').collect();
        assert_eq!(cells.len(), STATES.len(), "{}", method.name);
        for (place, (name, ..)) in STATES.iter().enumerate() {
            if let Err(error) = check(method, place, cells[place]) {
                wrong.push(format!("{} in `{name}`: {error}", method.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// The products that cannot be reached.

#[test]
fn a_rollback_that_is_dropped_ends_its_step() {
    for game in [game().rolled_back().before(), game().rolled_back().after()] {
        let mut simulation = game.simulation;
        // A state that is not kept: the simulation stays where it is.
        simulation.set_rewind_limits(0, 0);
        simulation.rewind(simulation.physics.tick()).unwrap();
        assert_eq!(simulation.physics.current_step(), None);
        assert!(is_lawful(&simulation));
        assert!(!simulation.make_step());
        assert!(is_lawful(&simulation));
        advances(simulation).unwrap();
    }
}

#[test]
fn another_numbering_ends_a_rollback_and_its_step() {
    let games: [fn() -> Game; 3] = [
        || game().rolled_back().before(),
        || game().begun().rolled_back(),
        || game().begun().rolled_back().before(),
    ];
    for build in games {
        let begun = || {
            let mut simulation = build().simulation;
            simulation.clock_settings_mut().set_tick(50);
            simulation.begin_frame(MS(10));
            simulation
        };
        assert_eq!(parts(begun()), (Stage::Idle, Redo::None, true));
        let mut simulation = begun();
        assert_eq!(simulation.physics.tick(), 50);
        assert!(is_lawful(&simulation));
        assert_eq!(simulation.next_step().unwrap().tick, 50);
        continues(simulation).unwrap();
    }
}

#[test]
fn a_step_that_is_taken_again_is_no_rollback() {
    let again = || {
        let mut simulation = game().begun().before().simulation;
        simulation.roll_back(6).unwrap();
        simulation
    };
    assert_eq!(parts(again()), (Stage::Idle, Redo::None, true));
    let mut simulation = again();
    let step = simulation.next_step().unwrap();
    assert_eq!((step.tick, step.is_resimulated), (6, false));
}

#[test]
fn a_call_that_does_nothing_ends_no_rollback() {
    let redone = || game().redone().simulation;
    let nothing: [fn(&mut Simulation); 3] = [
        |simulation| simulation.roll_back(7).unwrap(),
        |simulation| drop(simulation.roll_back(99)),
        |simulation| assert!(!simulation.make_step()),
    ];
    for call in nothing {
        let mut simulation = redone();
        call(&mut simulation);
        assert_eq!(parts(simulation), (Stage::After, Redo::Finished, false));
    }
}

#[test]
fn a_value_that_a_new_loop_takes_over_is_idle() {
    for game in [game().begun().before(), game().begun().after()] {
        let physics = game.simulation.physics;
        let mut simulation = Simulation::with_physics(Rate::default(), physics);
        assert_eq!(simulation.physics.current_step(), None);
        assert!(!simulation.make_step());
        assert!(is_lawful(&simulation));
        // It has displayed nothing yet, so all bodies are new: the floor too.
        advance(&mut simulation, 0);
        assert_eq!(simulation.moved().len(), 3);
    }
}

#[test]
fn a_new_loop_displays_a_value_that_was_moved_out_of_the_middle_of_a_frame() {
    let mut game = game();
    // Only the poses of a frame's last step are needed.
    game.simulation.set_rewind_limits(0, 0);
    game.simulation.set_history(2);
    let ball = game.simulation.physics.body_mut(game.ball).unwrap();
    ball.set_linvel(Vector::X, true);
    let game = game.begun().after().after();
    let physics = game.simulation.physics;
    let there = *physics.body(game.ball).unwrap().position();
    let mut simulation = Simulation::with_physics(Rate::default(), physics);
    advance(&mut simulation, 0);
    assert_eq!(simulation.pose(game.ball), Some(there));
}

#[cfg(feature = "serde")]
#[test]
fn a_finished_rollback_can_be_saved() {
    let mut game = game();
    game.simulation.roll_back(3).unwrap();
    while game.simulation.steps_to_resimulate() > 0 {
        game.simulation.next_step().unwrap();
        let push = game.simulation.physics.apply_impulse(game.ball, Vector::X);
        push.unwrap();
        game.simulation.make_step();
    }
    // Bytes hold the displayed poses and their errors too.
    let mut loaded = Simulation::load(&game.simulation.save().unwrap()).unwrap();
    for simulation in [&mut game.simulation, &mut loaded] {
        advance(simulation, 5);
    }
    let error = |simulation: &Simulation| simulation.visual_error(game.ball);
    assert!(error(&loaded).is_some());
    assert_eq!(error(&loaded), error(&game.simulation));
    assert_eq!(loaded.pose(game.ball), game.simulation.pose(game.ball));
}

#[cfg(feature = "serde")]
mod sources {
    use super::METHODS;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    #[cfg(dim2)]
    const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../src");
    #[cfg(not(dim2))]
    const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src");

    /// Adds the public methods in all files of a folder.
    fn collect(folder: &Path, methods: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, methods);
                continue;
            }
            let mut of = None;
            for line in fs::read_to_string(path).unwrap().lines() {
                match line {
                    "impl Simulation {" => of = Some("Simulation"),
                    "impl Physics {" => of = Some("Physics"),
                    "}" => of = None,
                    _ => (),
                }
                if let (Some(of), Some(rest)) = (of, line.strip_prefix("    pub fn ")) {
                    let end = rest.find(['(', '<']).unwrap();
                    methods.insert(format!("{of}::{}", &rest[..end]));
                }
            }
        }
    }

    #[test]
    fn every_public_method_is_listed() {
        let mut methods = BTreeSet::new();
        collect(Path::new(SOURCES), &mut methods);
        let listed = METHODS.iter().map(|method| method.name.to_owned());
        let listed: BTreeSet<_> = listed.filter(|name| !name.starts_with('(')).collect();
        assert_eq!(methods, listed);
    }
}
