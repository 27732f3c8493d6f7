//! The methods, and their effect in each state.

use super::*;
use evenstep::rewind::Kept;

/// The effect of a call in each state.
pub(super) struct Method {
    /// The name as in the source, with the type.
    pub(super) name: &'static str,
    /// One letter for each of [`STATES`]. Spaces do not count:
    ///
    /// - `w`: it works.
    /// - `-`: it does nothing, or returns that there is nothing.
    /// - `n`: [`RewindError::NotKept`]
    /// - `f`: [`RewindError::WithinFrame`] or `SaveError::WithinFrame`
    /// - `t`: a [`CorrectError`](evenstep::rewind::CorrectError)
    /// - `s`: `SaveError::Panicked`, or serde's error for the same reason
    /// - `p`: it panics, because Rapier has panicked.
    cells: &'static str,
    /// Returns the letter.
    call: fn(&mut Game) -> char,
}

const ALWAYS: &str = "wwwwwww wwwwwwwww wwwwww";

const UNLESS_POISONED: &str = "wwwwwpp wwwwwwwpp wwwwwp";

const NEVER: &str = "------- --------- ------";

/// Returns the letter for whether there was something.
fn some(is_some: bool) -> char {
    if is_some { 'w' } else { '-' }
}

/// Returns the letter for a call that worked: it did not panic.
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
        Err(evenstep::saving::SaveError::WithinFrame) => 'f',
        Err(evenstep::saving::SaveError::Panicked) => 's',
        Err(error) => panic!("{error}"),
    }
}

/// Returns the letter for whether the call changed the tick or the current step.
fn rolled(game: &mut Game, tick: u64) -> char {
    let at = |simulation: &Simulation| {
        let mut simulation = simulation.clone();
        detect_assignment(&mut simulation);
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

/// Rows with a name in parentheses are not methods, but other things that a game does to a simulation.
#[rustfmt::skip]
pub(super) const METHODS: &[Method] = &[
    // The loop. States in the order of `STATES`:        outside of frames, in a frame, another value.
    Method { name: "Simulation::advance", cells: UNLESS_POISONED, call: |it| done(advance(&mut it.simulation, 10)) },
    Method { name: "Simulation::advance_with", cells: UNLESS_POISONED, call: |it| done(it.simulation.advance_with(MS(10), &mut NoHooks)) },
    Method { name: "Simulation::begin_frame", cells: UNLESS_POISONED, call: |it| { it.simulation.begin_frame(MS(10)); 'w' } },
    Method { name: "Simulation::next_step", cells: "-www--- wwwwwww-- --w---", call: |it| some(it.simulation.next_step().is_some()) },
    Method { name: "Simulation::run_step", cells: "--w---- -w--w---- ------", call: |it| some(it.simulation.run_step()) },
    Method { name: "Simulation::run_step_with", cells: "--w---- -w--w---- ------", call: |it| some(it.simulation.run_step_with(&())) },
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
            Err(evenstep::rewind::ResimulateError::Rewind(error)) => rewound::<()>(Err(error)),
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
    Method { name: "Simulation::correct", cells: UNLESS_POISONED, call: |it| corrected(it, much_later()) },
    Method { name: "Simulation::correct", cells: "wtttwpp wwwtttwpp wwwwwp", call: |it| {
        // The state after the next step, which a rollback has to reach first.
        let state = it.simulation.physics.preview(1, |_, _| ());
        corrected(it, state)
    } },
    Method { name: "Simulation::correct", cells: "ppppppp ppppppppp pppppp", call: |it| corrected(it, poisoned()) },
    Method { name: "Simulation::event_changes", cells: ALWAYS, call: |it| done(it.simulation.event_changes()) },
    Method { name: "Simulation::steps_to_resimulate", cells: "-www--w ---www--w ------", call: |it| some(it.simulation.steps_to_resimulate() > 0) },
    Method { name: "Simulation::rewindable", cells: "wwwww-w wwwwwwwww ------", call: |it| some(!it.simulation.rewindable().is_empty()) },
    Method { name: "Simulation::rewind_bytes", cells: "wwwww-w wwwwwwwww ------", call: |it| some(it.simulation.rewind_bytes() > 0) },
    Method { name: "Simulation::keep", cells: ALWAYS, call: |it| { it.simulation.keep(Kept { ticks: 0, bytes: 0, ..it.simulation.kept() }); 'w' } },
    Method { name: "Simulation::confirm", cells: ALWAYS, call: |it| { it.simulation.confirm(u64::MAX); 'w' } },
    Method { name: "Simulation::kept", cells: ALWAYS, call: |it| done(it.simulation.kept()) },
    Method { name: "Simulation::world_at", cells: ALWAYS, call: |it| rewound(it.simulation.world_at(it.simulation.physics.tick(), 1.0)) },
    Method { name: "Simulation::pose_at", cells: ALWAYS, call: |it| some(it.simulation.pose_at(it.ball, it.simulation.physics.tick(), 1.0).is_some()) },
    // The picture.
    Method { name: "Simulation::pose", cells: ALWAYS, call: |it| some(it.simulation.pose(it.ball).is_some()) },
    Method { name: "Simulation::moved", cells: ALWAYS, call: |it| done(it.simulation.moved()) },
    Method { name: "Simulation::removed", cells: ALWAYS, call: |it| done(it.simulation.removed()) },
    Method { name: "Simulation::displayed_world", cells: ALWAYS, call: |it| some(!it.simulation.displayed_world().colliders().is_empty()) },
    Method { name: "Simulation::render_data", cells: ALWAYS, call: |it| done(it.simulation.render_data()) },
    Method { name: "Simulation::changes_since", cells: ALWAYS, call: |it| some(it.simulation.changes_since(&it.simulation.frame()).is_some()) },
    Method { name: "Simulation::visual_error", cells: NEVER, call: |it| some(it.simulation.visual_error(it.ball).is_some()) },
    Method { name: "Simulation::frame", cells: ALWAYS, call: |it| done(it.simulation.frame()) },
    Method { name: "Simulation::events", cells: ALWAYS, call: |it| done(it.simulation.events()) },
    // The clock.
    Method { name: "Simulation::clock", cells: ALWAYS, call: |it| done(it.simulation.clock().time()) },
    Method { name: "Simulation::clock_settings_mut", cells: ALWAYS, call: |it| { it.simulation.clock_settings_mut().set_rate(Rate::hz(50)); 'w' } },
    Method { name: "Simulation::pause", cells: ALWAYS, call: |it| { it.simulation.pause(); 'w' } },
    Method { name: "Simulation::resume", cells: ALWAYS, call: |it| { it.simulation.resume(); 'w' } },
    Method { name: "Simulation::step_once", cells: ALWAYS, call: |it| { it.simulation.step_once(); 'w' } },
    Method { name: "Simulation::set_tick", cells: ALWAYS, call: |it| { it.simulation.set_tick(9); 'w' } },
    Method { name: "Simulation::set_overstep", cells: ALWAYS, call: |it| { it.simulation.set_overstep(MS(3)); 'w' } },
    // Values.
    Method { name: "Simulation::new", cells: ALWAYS, call: |it| { it.simulation = Simulation::new(Rate::default()); 'w' } },
    Method { name: "Simulation::resource_scope", cells: ALWAYS, call: |it| some(it.simulation.resource_scope(|_, score: &mut Score| score.0 += 1).is_some()) },
    #[cfg(feature = "serde")]
    Method { name: "Simulation::save", cells: "wfffwss fffffffss wwfwws", call: |it| saved(&it.simulation) },
    #[cfg(feature = "serde")]
    Method { name: "Simulation::load", cells: ALWAYS, call: |it| { it.simulation = Simulation::load(&game().simulation.save().unwrap()).unwrap(); 'w' } },
    #[cfg(feature = "serde")]
    Method { name: "Physics::save", cells: "wwwwwss wwwwwwwss wwwwws", call: |it| match it.simulation.physics.save() {
        Ok(_) => 'w',
        Err(error) => { assert_eq!(error, evenstep::saving::SaveError::Panicked); 's' }
    } },
    #[cfg(feature = "serde")]
    Method { name: "Physics::load", cells: ALWAYS, call: |it| { it.simulation.physics = Physics::load(&other().save().unwrap()).unwrap(); 'w' } },
    #[cfg(feature = "serde")]
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
    Method { name: "Physics::pause_after_step", cells: ALWAYS, call: |it| { it.simulation.physics.pause_after_step(); 'w' } },
    Method { name: "Physics::preview", cells: UNLESS_POISONED, call: |it| done(it.simulation.physics.preview(2, |_, _| ())) },
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
    Method { name: "Physics::touching", cells: ALWAYS, call: |it| some(!it.simulation.physics.touching(it.ball).is_empty()) },
    Method { name: "Physics::collider_mut", cells: ALWAYS, call: |it| {
        let collider = it.simulation.physics.body(it.ball).unwrap().colliders()[0];
        some(it.simulation.physics.collider_mut(collider).is_some())
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
    // Placing.
    Method { name: "Physics::teleport", cells: ALWAYS, call: |it| some(it.simulation.physics.teleport(it.ball, translation(0.0, 2.0, 0.0)).is_ok()) },
    Method { name: "Physics::teleport_by", cells: ALWAYS, call: |it| some(it.simulation.physics.teleport_by(it.ball, translation(0.0, 2.0, 0.0)).is_ok()) },
    Method { name: "Physics::shift_origin", cells: ALWAYS, call: |it| some(it.simulation.physics.shift_origin(Vector::X).is_ok()) },
    Method { name: "Physics::set_kinematic_target", cells: ALWAYS, call: |it| some(it.simulation.physics.set_kinematic_target(it.lift, translation(0.0, 8.0, 0.0), MS(500)).is_ok()) },
    // Gravity.
    Method { name: "Physics::gravity", cells: ALWAYS, call: |it| done(it.simulation.physics.gravity()) },
    Method { name: "Physics::set_gravity", cells: ALWAYS, call: |it| some(it.simulation.physics.set_gravity(Vector::X).is_ok()) },
    Method { name: "Physics::wake_up_all", cells: ALWAYS, call: |it| { it.simulation.physics.wake_up_all(); 'w' } },
    // What belongs to a body, and to the game.
    Method { name: "Physics::body_smoothing", cells: NEVER, call: |it| some(it.simulation.physics.body_smoothing(it.ball).is_some()) },
    Method { name: "Physics::set_body_smoothing", cells: ALWAYS, call: |it| some(it.simulation.physics.set_body_smoothing(it.ball, Some(Smoothing::Latest)).is_ok()) },
    Method { name: "Physics::show_from", cells: ALWAYS, call: |it| some(it.simulation.physics.show_from(it.ball, translation(0.0, 2.0, 0.0)).is_ok()) },
    Method { name: "Physics::body_correction", cells: NEVER, call: |it| some(it.simulation.physics.body_correction(it.ball).is_some()) },
    Method { name: "Physics::set_body_correction", cells: ALWAYS, call: |it| some(it.simulation.physics.set_body_correction(it.ball, Some(Correction::OFF)).is_ok()) },
    Method { name: "Physics::resources", cells: ALWAYS, call: |it| some(it.simulation.physics.resources().get::<Score>().is_some()) },
    Method { name: "Physics::resources_mut", cells: ALWAYS, call: |it| done(it.simulation.physics.resources_mut().insert(Score(1))) },
    Method { name: "Physics::resource_scope", cells: ALWAYS, call: |it| some(it.simulation.physics.resource_scope(|_, score: &mut Score| score.0 += 1).is_some()) },
];

/// Returns the data that must not change in an error or in a call that does nothing.
fn seen(game: &mut Game) -> impl PartialEq + use<> {
    let simulation = &mut game.simulation;
    detect_assignment(simulation);
    (
        (simulation.physics.tick(), simulation.clock().tick()),
        (simulation.steps_to_resimulate(), simulation.rewindable()),
        (simulation.physics.current_step(), simulation.frame()),
        hash(simulation.physics.rapier()),
    )
}

/// Returns the letter of a call, or of a documented panic.
fn outcome(method: &Method, game: &mut Game) -> Result<char, String> {
    quietly(|| (method.call)(game)).or_else(|message| {
        if message.starts_with("Rapier panicked") {
            Ok('p')
        } else {
            Err(message)
        }
    })
}

/// Calls a method in a state, to which `build` leads. Returns an error that says which law is broken.
fn check(method: &Method, index: usize, build: fn() -> Game, expected: char) -> Result<(), String> {
    let (_, before, _) = STATES[index];
    let mut game = build();
    let got = outcome(method, &mut game)?;
    if got != expected {
        return Err(format!("it gives `{got}`, not `{expected}`"));
    }
    // The first law holds after each call of the loop. After an assignment, it holds only after the next such call.
    let is_known = index < KNOWN && method.name.starts_with("Simulation");
    let is_sound = !is_poisoned(&game.simulation);
    if is_known && is_sound && !is_lawful(&game.simulation) {
        return Err("the clock and the physics have different ticks right after it".into());
    }
    detect_assignment(&mut game.simulation);
    if is_sound && !is_lawful(&game.simulation) {
        return Err("the clock and the physics have different ticks".into());
    }
    if got != 'w' && seen(&mut game) != seen(&mut build()) {
        return Err("it changed something".into());
    }
    quietly(|| continues(game.simulation))?.map_err(|at| format!("it does not continue: {at}"))?;
    // Call the method once more, to determine the new state.
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
fn every_method_has_its_listed_effect_in_every_state() {
    let mut wrong = Vec::new();
    for method in METHODS {
        let cells: Vec<char> = method.cells.chars().filter(|it| *it != ' ').collect();
        assert_eq!(cells.len(), STATES.len(), "{}", method.name);
        let states = STATES.iter().enumerate();
        let states = states.map(|(index, (name, _, build))| (*name, index, *build));
        for (name, index, build) in states.chain(OTHER_WAYS) {
            if let Err(error) = check(method, index, build, cells[index]) {
                wrong.push(format!("{} in `{name}`: {error}", method.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
