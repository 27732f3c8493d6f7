//! Everything that a game can do to a simulation.

use super::paths::Paths;
use super::player::Player;
use crate::scenes::testing::{ball_joint, hinge, pose, spin, translation, vector};
use crate::scenes::{MS, STEPPINGS, hash};
use evenstep::forces::{ForceGenerator, ForceGeneratorKey};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::time::Budget;
use evenstep::{BodyKey, Correction, Physics, Rate, Simulation, Smoothing};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::time::Duration;

/// An action. A number `body` picks one of the living bodies, and a number `state` one of the kept values, so every
/// action is possible at any moment. Coordinates are in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    // Bodies that come and go.
    Spawn(Body, i8),
    Track(i8),
    Remove(u8),
    RemoveThroughRapier(u8, Access),
    /// Inserts a body, and removes it at once.
    Flash(i8),
    // Positions.
    Teleport(u8, i8),
    TeleportBy(u8, i8),
    Put(u8, Part, i8, Access),
    PutNowhere(u8),
    ShowFrom(u8, i8, i8),
    Target(u8, i8, u8),
    SetNext(u8, i8),
    ShiftOrigin(i8),
    // Forces and velocities.
    Push(u8, i8),
    AddForce(u8, i8),
    SetVelocity(u8, i8, Access),
    SetVelocityToNan(u8),
    Generator(u8, i8),
    RemoveGenerator(u8),
    Gravity(i8),
    // What a body is.
    Sleep(u8, Access),
    Wake(u8),
    WakeAll,
    Toggle(u8),
    SetType(u8, u8),
    AddCollider(u8, i8),
    RemoveCollider(u8),
    BodySmoothing(u8, Option<Smoothing>),
    BodyCorrection(u8, Option<Fade>),
    // Joints.
    Join(u8, u8, Joint),
    RemoveJoint(u8),
    // The game's value in the state.
    Score(u8),
    PauseAfterStep,
    // Settings.
    Pause,
    Resume,
    StepOnce,
    /// In quarters.
    Speed(u16),
    Hz(u32),
    /// An index into all steppings.
    Stepping(u8),
    MaxSteps(Option<u32>),
    /// In milliseconds.
    MaxFrameTime(u16),
    /// The number of steps that fit into the budget.
    Budget(Option<u32>),
    Tick(u16),
    /// In milliseconds.
    Overstep(u8),
    Smoothing(Smoothing),
    Correction(Fade),
    Keep(u8),
    Interval(u8),
    KeepPoses(u8),
    // Back in time, by a number of ticks.
    RollBack(u8),
    Resimulate(u8),
    /// An input of an earlier tick arrives, and the steps since then run again.
    LateInput(u8, i8),
    Rewind(u8),
    /// A kept state corrects the state of its tick.
    Correct(u8),
    /// The state corrects itself, with a body that moves differently.
    CorrectHere(u8, i8),
    Confirm(u8),
    // Values that are copied and exchanged.
    Copy,
    Assign(u8),
    Exchange(u8),
    /// Takes the state out and puts it back.
    TakeAndReturn(u8, i8),
    /// Lends the state to another loop, which runs a frame of this many milliseconds with it.
    Lend(u8),
    /// Continues with a copy of the simulation.
    Clone,
    /// Continues with a simulation that was saved and loaded.
    Load,
    KeepAll,
    ExchangeAll(u8),
    // The hooks.
    Fail,
    Panic,
    // The frame, which the pull form alone can act on.
    /// Begins another frame of this many milliseconds.
    Again(u8),
    /// Leaves the frame open.
    Leave,
    // The host.
    /// Hands the simulation over to another host. All later actions between these frames happen in between.
    HandOver(super::hosts::Kind),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Body {
    Fixed,
    Asleep,
    Ball,
    Spinner,
    /// A body whose centre of mass is off its origin.
    Hammer,
    Bullet,
    Conveyor,
    Platform,
    Door,
    Sensor,
}

/// The part of a position that is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    Whole,
    Translation,
    Rotation,
}

/// How the game reaches a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Access {
    BodyMut,
    PhysicsMut,
    PhysicsMutFor,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    Ball,
    Hinge,
    Rope,
    Link,
}

/// A correction. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fade {
    Off,
    HalfLife(u16),
    Linear(u16),
    /// Never ends, and has no maximum.
    Endless,
}

impl Fade {
    pub fn correction(self) -> Correction {
        match self {
            Self::Off => Correction::OFF,
            Self::HalfLife(ms) => Correction::half_life(MS(ms.into())),
            Self::Linear(ms) => Correction::linear(MS(ms.into())),
            Self::Endless => {
                let mut correction = Correction::half_life(Duration::MAX);
                correction.position.max = f32::MAX;
                correction.rotation.max = f32::MAX;
                correction
            }
        }
    }
}

impl Action {
    /// Returns whether the action adds a force for the next step.
    pub fn is_push(&self) -> bool {
        matches!(self, Self::Push(..) | Self::AddForce(..))
    }

    /// Returns whether a step that runs again repeats the action.
    pub fn is_edit(&self) -> bool {
        use Action as A;
        !matches!(
            self,
            A::PauseAfterStep
                | A::Pause
                | A::Resume
                | A::StepOnce
                | A::Speed(_)
                | A::Hz(_)
                | A::Stepping(_)
                | A::MaxSteps(_)
                | A::MaxFrameTime(_)
                | A::Budget(_)
                | A::Tick(_)
                | A::Overstep(_)
                | A::Smoothing(_)
                | A::Correction(_)
                | A::Keep(_)
                | A::Interval(_)
                | A::KeepPoses(_)
                | A::RollBack(_)
                | A::Resimulate(_)
                | A::LateInput(..)
                | A::Rewind(_)
                | A::Correct(_)
                | A::CorrectHere(..)
                | A::Confirm(_)
                | A::Copy
                | A::Assign(_)
                | A::Exchange(_)
                | A::TakeAndReturn(..)
                | A::Lend(_)
                | A::Clone
                | A::Load
                | A::KeepAll
                | A::ExchangeAll(_)
                | A::Fail
                | A::Panic
                | A::Again(_)
                | A::Leave
                | A::HandOver(_)
        )
    }
}

/// What an action does to paths, events and time. Everything else is read from the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// The body has no path from its previous pose.
    Cut(BodyKey),
    /// The body gets an impulse as its next step begins.
    Pushed(BodyKey),
    /// The body was moved together with its path.
    Turned(BodyKey, Pose),
    /// The world was moved by this.
    Shifted(Vector),
    /// The body is displayed at this pose in the next picture.
    From(BodyKey, Pose),
    /// The steps from this tick on run again.
    Back(u64),
    /// The state of this tick was corrected.
    Corrected(u64),
    /// Another state: its steps and events are new.
    Other,
    /// That state is the present one, with all edits.
    Stayed,
    /// The simulation was replaced by an equal one, whose changes a view may not know.
    Replaced,
    /// The simulation was replaced by a saved one, which has no picture.
    Loaded,
    /// The next frame numbers the steps from another tick.
    Renumbered,
    /// The displayed time may jump in the next frame.
    Retimed,
}

/// The values that a game keeps beside its simulation.
#[derive(Default)]
pub struct Shelf {
    states: VecDeque<Physics>,
    simulations: VecDeque<Simulation>,
    generators: VecDeque<ForceGeneratorKey>,
}

/// What an action can reach: in a hook of a step, the state alone.
pub enum Reach<'a> {
    Physics(&'a mut Physics),
    Simulation(&'a mut Simulation),
}

impl Reach<'_> {
    pub fn physics(&mut self) -> &mut Physics {
        match self {
            Self::Physics(physics) => physics,
            Self::Simulation(simulation) => &mut simulation.physics,
        }
    }

    pub fn simulation(&mut self) -> Option<&mut Simulation> {
        match self {
            Self::Physics(_) => None,
            Self::Simulation(simulation) => Some(simulation),
        }
    }
}

/// A value of the game in the state, which the bits of a step depend on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    pub steps: u64,
    pub points: u64,
}

pub fn score(physics: &mut Physics) -> &mut Score {
    let resources = physics.resources_mut();
    if resources.get::<Score>().is_none() {
        resources.insert(Score::default());
    }
    resources.get_mut().expect("it was inserted")
}

pub fn keys(physics: &Physics) -> Vec<BodyKey> {
    let mut keys: Vec<_> = physics.bodies().map(|(key, _)| key).collect();
    keys.sort_unstable();
    keys
}

fn any(physics: &Physics, number: u8) -> Option<BodyKey> {
    let keys = keys(physics);
    keys.get(usize::from(number).checked_rem(keys.len())?)
        .copied()
}

fn pick<T>(values: &mut VecDeque<T>, number: u8) -> Option<&mut T> {
    let index = usize::from(number).checked_rem(values.len())?;
    values.get_mut(index)
}

/// Adds a value to the few that are kept.
fn add<T>(values: &mut VecDeque<T>, value: T) {
    values.truncate(2);
    values.push_front(value);
}

fn metres(x: i8) -> f32 {
    f32::from(x) / 4.0
}

fn to(x: i8) -> Pose {
    let x = metres(x);
    pose(vector(x, 6.0, -x), spin(0.1 * x, 0.2, 0.3 * x))
}

fn reach(physics: &mut Physics, key: BodyKey, access: Access) -> &mut RigidBody {
    let handle = physics.handle(key).expect("it is alive");
    match access {
        Access::BodyMut => physics.body_mut(key).expect("it is alive"),
        Access::PhysicsMut => &mut physics.rapier_mut().bodies[handle],
        Access::PhysicsMutFor => &mut physics.rapier_mut_for(&[key]).bodies[handle],
    }
}

pub fn spawn(physics: &mut Physics, kind: Body, x: i8) -> BodyKey {
    let x = metres(x);
    let spin = spin(3.0, x, 1.0);
    let body = match kind {
        Body::Fixed => RigidBodyBuilder::fixed(),
        Body::Asleep => RigidBodyBuilder::dynamic().sleeping(true),
        Body::Ball | Body::Sensor => RigidBodyBuilder::dynamic().linvel(vector(1.5, 0.5, 0.0)),
        Body::Spinner | Body::Hammer => RigidBodyBuilder::dynamic().angvel(spin),
        Body::Bullet => {
            RigidBodyBuilder::dynamic()
                .ccd_enabled(true)
                .linvel(vector(90.0 * x, -300.0, 0.0))
        }
        Body::Conveyor => RigidBodyBuilder::kinematic_velocity_based()
            .linvel(Vector::X)
            .angvel(spin),
        Body::Platform | Body::Door => RigidBodyBuilder::kinematic_position_based(),
    };
    let off = match kind {
        Body::Hammer | Body::Door | Body::Conveyor => vector(0.5, 0.0, 0.2),
        _ => Vector::ZERO,
    };
    let collider = ColliderBuilder::ball(0.4)
        .translation(off)
        .sensor(kind == Body::Sensor)
        .restitution(0.8)
        .active_events(ActiveEvents::COLLISION_EVENTS);
    let at = translation(x, 1.0 + x.abs(), 0.3 * x);
    let key = physics.insert(body.pose(at), collider);
    // It falls asleep soon.
    let body = physics.body_mut(key).expect("it was inserted");
    body.activation_mut().time_until_sleep = 0.06;
    body.activation_mut().normalized_linear_threshold = 0.5;
    key
}

/// Carries out an action. Returns its effects, or `None` if it can do nothing here.
pub fn act(
    action: Action,
    on: &mut Reach,
    shelf: &mut Shelf,
    player: &mut Player,
) -> Option<Vec<Effect>> {
    if let Some(effects) = act_on_physics(action, on.physics(), shelf) {
        return Some(effects);
    }
    act_on_simulation(action, on.simulation()?, shelf, player)
}

/// Carries out an action that needs only the state.
fn act_on_physics(action: Action, physics: &mut Physics, shelf: &mut Shelf) -> Option<Vec<Effect>> {
    use Action as A;
    let mut effects = Vec::new();
    let body = match action {
        A::Remove(body)
        | A::RemoveThroughRapier(body, _)
        | A::Teleport(body, _)
        | A::TeleportBy(body, _)
        | A::Put(body, ..)
        | A::PutNowhere(body)
        | A::ShowFrom(body, ..)
        | A::Target(body, ..)
        | A::SetNext(body, _)
        | A::Push(body, _)
        | A::AddForce(body, _)
        | A::SetVelocity(body, ..)
        | A::SetVelocityToNan(body)
        | A::Generator(body, _)
        | A::Sleep(body, _)
        | A::Wake(body)
        | A::Toggle(body)
        | A::SetType(body, _)
        | A::AddCollider(body, _)
        | A::RemoveCollider(body)
        | A::BodySmoothing(body, _)
        | A::BodyCorrection(body, _)
        | A::Join(body, ..) => Some(any(physics, body)?),
        _ => None,
    };
    if let Some(key) = body {
        act_on_body(action, physics, key, shelf, &mut effects);
        return Some(effects);
    }
    match action {
        A::Spawn(kind, x) => drop(spawn(physics, kind, x)),
        A::Track(x) => {
            let body = RigidBodyBuilder::dynamic().pose(translation(metres(x), 8.0, 0.0));
            let handle = physics.rapier_mut().insert_body(body);
            physics.track(handle).expect("it was inserted");
        }
        A::Flash(x) => {
            let key = spawn(physics, Body::Ball, x);
            physics.remove(key).expect("it was inserted");
        }
        A::ShiftOrigin(x) => {
            let by = vector(metres(x), 1.0, 0.0);
            physics.shift_origin(by).expect("it is finite");
            effects.push(Effect::Shifted(-by));
        }
        A::Gravity(x) => {
            let gravity = vector(metres(x), -9.81, 0.0);
            physics.set_gravity(gravity).expect("it is finite");
        }
        A::RemoveGenerator(number) => {
            if let Some(key) = pick(&mut shelf.generators, number) {
                physics.remove_force_generator(*key);
            }
        }
        A::WakeAll => physics.wake_up_all(),
        A::RemoveJoint(number) => {
            let joints: Vec<_> = physics.rapier().impulse_joints.iter().collect();
            let index = usize::from(number).checked_rem(joints.len());
            let joint = index.map(|index| joints[index].0);
            if let Some(joint) = joint {
                physics
                    .rapier_mut_except_bodies()
                    .remove_impulse_joint(joint);
            }
        }
        A::Score(points) => score(physics).points += u64::from(points),
        A::PauseAfterStep => {
            physics.pause_after_step();
            effects.push(Effect::Retimed);
        }
        A::Copy => add(&mut shelf.states, physics.clone()),
        A::Assign(state) => {
            *physics = pick(&mut shelf.states, state)?.clone();
            effects.push(Effect::Other);
        }
        A::Exchange(state) => {
            std::mem::swap(physics, pick(&mut shelf.states, state)?);
            effects.push(Effect::Other);
        }
        A::TakeAndReturn(body, x) => {
            let mut taken = std::mem::take(physics);
            let inner = act_on_physics(A::Teleport(body, x), &mut taken, shelf);
            *physics = taken;
            return Some(inner.unwrap_or_default());
        }
        A::Lend(ms) => {
            let mut other = Simulation::new(Rate::hz(100));
            std::mem::swap(physics, &mut other.physics);
            let smoothing = other.smoothing;
            other.advance(MS(ms.into()), |physics, _| {
                Paths::begin_step(physics, smoothing)
            });
            Paths::observe(&mut other.physics, &[]);
            std::mem::swap(physics, &mut other.physics);
            effects.push(Effect::Other);
        }
        _ => return None,
    }
    Some(effects)
}

fn act_on_body(
    action: Action,
    physics: &mut Physics,
    key: BodyKey,
    shelf: &mut Shelf,
    effects: &mut Vec<Effect>,
) {
    use Action as A;
    let handle = physics.handle(key).expect("it is alive");
    match action {
        A::Remove(_) => {
            physics.remove(key).expect("it is alive");
        }
        A::RemoveThroughRapier(_, access) => {
            let rapier = match access {
                Access::PhysicsMutFor if !super::A_BODY_REMOVED_THROUGH_RAPIER_MUT_FOR_STAYS => {
                    physics.rapier_mut_for(&[key])
                }
                _ => physics.rapier_mut(),
            };
            rapier.remove_body(handle);
        }
        A::Teleport(_, x) => {
            // This fails for a link that depends on others.
            if physics.teleport(key, to(x)).is_ok() {
                effects.push(Effect::Cut(key));
            }
        }
        A::TeleportBy(_, x) => {
            let by = pose(vector(metres(x), 1.0, 0.0), spin(0.0, 0.1, 0.2 * metres(x)));
            if physics.teleport_by(key, by).is_ok() {
                effects.push(Effect::Turned(key, by));
            }
        }
        A::Put(_, part, x, access) => {
            // Half of these edits do not wake the body, so only the loop's own check can detect them.
            let body = reach(physics, key, access);
            match part {
                Part::Whole => body.set_position(to(x), x > 0),
                Part::Translation => body.set_translation(to(x).translation, x > 0),
                Part::Rotation => body.set_rotation(to(x).rotation, x > 0),
            }
        }
        A::PutNowhere(_) => {
            let body = physics.body_mut(key).expect("it is alive");
            body.set_position(Pose::from_translation(Vector::NAN), true);
        }
        A::ShowFrom(_, x, y) => {
            let from = translation(metres(x), metres(y), 0.0);
            physics.show_from(key, from).expect("it is alive");
            effects.push(Effect::From(key, from));
        }
        A::Target(_, x, ms) => {
            let time = physics.time() + MS(ms.into());
            // This fails for a body of another type.
            let _ = physics.set_kinematic_target(key, to(x), time);
        }
        A::SetNext(_, x) => {
            let body = physics.body_mut(key).expect("it is alive");
            body.set_next_kinematic_position(to(x));
        }
        A::Push(_, x) => {
            let by = vector(metres(x), 2.0, 0.5);
            physics.apply_impulse(key, by).expect("it is finite");
            effects.push(Effect::Pushed(key));
        }
        A::AddForce(_, x) => {
            let force = vector(metres(x), 9.0, 0.0);
            physics.add_force(key, force).expect("it is finite");
            let torque = spin(0.0, 0.0, metres(x));
            physics.add_torque(key, torque).expect("it is finite");
        }
        A::SetVelocity(_, x, access) => {
            let body = reach(physics, key, access);
            body.set_linvel(vector(metres(x), 2.0, 0.5), true);
            body.set_angvel(spin(0.5, metres(x), 3.0), true);
        }
        A::SetVelocityToNan(_) => {
            let body = physics.body_mut(key).expect("it is alive");
            body.set_linvel(Vector::NAN, true);
        }
        A::Generator(_, x) => {
            let generator = ForceGenerator::Wind {
                velocity: Vector::X * metres(x),
                drag: 2.0,
            };
            let generator = physics.insert_force_generator(key, generator);
            add(&mut shelf.generators, generator.expect("it is alive"));
        }
        A::Sleep(_, access) => reach(physics, key, access).sleep(),
        A::Wake(_) => reach(physics, key, Access::BodyMut).wake_up(true),
        A::Toggle(_) => {
            let body = physics.body_mut(key).expect("it is alive");
            body.set_enabled(!body.is_enabled());
        }
        A::SetType(_, kind) => {
            let types = [
                RigidBodyType::Dynamic,
                RigidBodyType::Fixed,
                RigidBodyType::KinematicPositionBased,
                RigidBodyType::KinematicVelocityBased,
            ];
            // Rapier panics for a link that is not dynamic.
            let links = &physics.rapier().multibody_joints;
            if links.rigid_body_link(handle).is_some() {
                return;
            }
            let body = physics.body_mut(key).expect("it is alive");
            body.set_body_type(types[usize::from(kind) % types.len()], true);
        }
        A::AddCollider(_, x) => {
            let ball = ColliderBuilder::ball(0.2).translation(vector(0.0, 0.0, 0.1 * metres(x)));
            physics.insert_collider(key, ball).expect("it is alive");
        }
        A::RemoveCollider(_) => {
            let colliders = physics.rapier().bodies[handle].colliders();
            if let Some(collider) = colliders.first().copied() {
                physics.remove_collider(collider).expect("it is there");
            }
        }
        A::BodySmoothing(_, smoothing) => {
            let set = physics.set_body_smoothing(key, smoothing);
            set.expect("it is alive");
            assert_eq!(physics.body_smoothing(key), smoothing);
        }
        A::BodyCorrection(_, fade) => {
            let correction = fade.map(Fade::correction);
            let set = physics.set_body_correction(key, correction);
            set.expect("it is alive");
        }
        A::Join(_, other, joint) => join(physics, handle, other, joint),
        _ => unreachable!("it acts on no body"),
    }
}

fn join(physics: &mut Physics, one: RigidBodyHandle, other: u8, joint: Joint) {
    let other = any(physics, other).and_then(|key| physics.handle(key));
    let Some(other) = other.filter(|other| *other != one) else {
        return;
    };
    let (from, to) = (Vector::X * 0.5, Vector::X * -0.5);
    let data: GenericJoint = match joint {
        Joint::Ball | Joint::Link => ball_joint(from, to),
        Joint::Hinge => hinge().local_anchor1(from).local_anchor2(to).into(),
        Joint::Rope => RopeJointBuilder::new(1.5).into(),
    };
    let rapier = physics.rapier_mut_except_bodies();
    // Rapier panics for a link that is not dynamic, and for joints whose ends are disabled.
    let is_dynamic =
        |end: RigidBodyHandle| rapier.bodies[end].is_enabled() && rapier.bodies[end].is_dynamic();
    let is_free = |end: RigidBodyHandle| rapier.multibody_joints.rigid_body_link(end).is_none();
    if !is_dynamic(one) || !is_dynamic(other) || !is_free(other) || !is_free(one) {
        return;
    }
    if joint == Joint::Link {
        rapier.insert_multibody_joint(one, other, data);
    } else {
        rapier.insert_impulse_joint(one, other, data);
    }
}

/// Carries out an action that needs the simulation.
fn act_on_simulation(
    action: Action,
    simulation: &mut Simulation,
    shelf: &mut Shelf,
    player: &mut Player,
) -> Option<Vec<Effect>> {
    use Action as A;
    let mut effects = Vec::new();
    let here = simulation.physics.tick();
    let back = |back: u8| here.saturating_sub(back.into());
    let rollback = Some((simulation.clock().tick(), simulation.steps_to_resimulate()));
    let settings = simulation.clock_settings_mut();
    match action {
        A::Pause => simulation.pause(),
        A::Resume => simulation.resume(),
        A::StepOnce => simulation.step_once(),
        A::Speed(quarters) => {
            let speed = f64::from(quarters) / 4.0;
            settings.set_speed(speed).expect("it is valid");
        }
        A::Hz(hz) => settings.set_rate(Rate::hz(hz)),
        A::Stepping(number) => {
            settings.set_stepping(STEPPINGS[usize::from(number) % STEPPINGS.len()]);
        }
        A::MaxSteps(most) => settings.set_max_steps_per_frame(most),
        A::MaxFrameTime(ms) => settings.set_max_frame_time(MS(ms.into())),
        A::Budget(steps) => {
            let budget = |steps| Budget {
                frame: MS(1) * steps,
                step: MS(1),
            };
            settings.set_budget(steps.map(budget));
        }
        A::Tick(tick) => {
            simulation.set_tick(tick.into());
            effects.push(Effect::Renumbered);
        }
        A::Overstep(ms) => {
            simulation.set_overstep(MS(ms.into()));
            effects.push(Effect::Retimed);
        }
        A::Smoothing(smoothing) => simulation.smoothing = smoothing,
        A::Correction(fade) => simulation.correction = fade.correction(),
        A::Keep(ticks) => simulation.keep(Kept {
            ticks: ticks.into(),
            ..simulation.kept()
        }),
        A::Interval(interval) => simulation.keep(Kept {
            interval: interval.into(),
            ..simulation.kept()
        }),
        A::KeepPoses(poses) => simulation.keep(Kept {
            poses: poses.into(),
            ..simulation.kept()
        }),
        A::RollBack(by) => {
            if simulation.roll_back(back(by)).is_ok() {
                effects.push(Effect::Back(simulation.physics.tick()));
            }
        }
        A::LateInput(by, x) => {
            if simulation.roll_back(back(by)).is_ok() {
                player.late_input(back(by), x);
                effects.push(Effect::Back(simulation.physics.tick()));
            }
        }
        A::Resimulate(by) => {
            // The entries of its steps follow this one.
            if simulation.roll_back(back(by)).is_ok() {
                let tick = simulation.physics.tick();
                player.match_entities(&simulation.physics);
                player.log(super::Entry::Acted {
                    action: A::RollBack(by),
                    effects: vec![Effect::Back(tick)],
                    tick,
                    rollback,
                });
                // A hook may fail or assign another state.
                let _ = simulation.resimulate_with(tick, player);
            }
        }
        A::Rewind(by) => {
            let before = hash(simulation.physics.rapier());
            if simulation.rewind(back(by)).is_ok() {
                effects.push(Effect::Other);
                let is_same = hash(simulation.physics.rapier()) == before;
                effects.extend((back(by) == here && is_same).then_some(Effect::Stayed));
            }
        }
        A::Correct(state) => {
            let state = pick(&mut shelf.states, state)?.clone();
            let tick = state.tick();
            if simulation.correct(state).is_ok() {
                effects.push(Effect::Corrected(tick));
            }
        }
        A::CorrectHere(body, x) => {
            let mut state = simulation.physics.clone();
            let key = any(&state, body)?;
            let velocity = vector(metres(x), 1.0, 0.0);
            let body = state.body_mut(key).expect("it is alive");
            body.set_linvel(velocity, true);
            if simulation.correct(state).is_ok() {
                effects.push(Effect::Corrected(here));
            }
        }
        A::Confirm(by) => simulation.confirm(back(by)),
        A::Clone => {
            *simulation = simulation.clone();
            effects.push(Effect::Replaced);
        }
        A::Load => {
            *simulation = loaded(simulation)?;
            effects.push(Effect::Loaded);
        }
        A::KeepAll => add(&mut shelf.simulations, simulation.clone()),
        A::ExchangeAll(number) => {
            std::mem::swap(simulation, pick(&mut shelf.simulations, number)?);
            effects.extend([Effect::Other, Effect::Replaced]);
        }
        _ => return None,
    }
    Some(effects)
}

/// Returns a copy that was written as bytes and read again, or `None` where nothing can be saved. A game writes its own
/// values beside the bytes.
#[cfg(feature = "serde")]
fn loaded(simulation: &mut Simulation) -> Option<Simulation> {
    let bytes = simulation.save().ok()?;
    let mut loaded = Simulation::load(&bytes).expect("it was saved");
    let [from, to] = [&mut simulation.physics, &mut loaded.physics];
    *score(to) = score(from).clone();
    *Paths::of(to) = Paths::of(from).clone();
    Some(loaded)
}

#[cfg(not(feature = "serde"))]
fn loaded(_: &mut Simulation) -> Option<Simulation> {
    None
}

fn kind() -> impl Strategy<Value = Body> {
    prop::sample::select(vec![
        Body::Fixed,
        Body::Asleep,
        Body::Ball,
        Body::Spinner,
        Body::Hammer,
        Body::Bullet,
        Body::Conveyor,
        Body::Platform,
        Body::Door,
        Body::Sensor,
    ])
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![
        3 => Just(Access::BodyMut),
        1 => Just(Access::PhysicsMut),
        1 => Just(Access::PhysicsMutFor),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    prop::sample::select(vec![Part::Whole, Part::Translation, Part::Rotation])
}

fn joint() -> impl Strategy<Value = Joint> {
    prop::sample::select(vec![Joint::Ball, Joint::Hinge, Joint::Rope, Joint::Link])
}

pub fn smoothing() -> impl Strategy<Value = Smoothing> {
    prop::sample::select(vec![
        Smoothing::Interpolate,
        Smoothing::Hermite,
        Smoothing::Extrapolate,
        Smoothing::Latest,
    ])
}

pub fn fade() -> BoxedStrategy<Fade> {
    prop_oneof![
        4 => Just(Fade::Off),
        3 => (0..300u16).prop_map(Fade::HalfLife),
        4 => (0..300u16).prop_map(Fade::Linear),
        1 => Just(Fade::Endless),
    ]
    .boxed()
}

fn body() -> std::ops::Range<u8> {
    0..16
}

fn x() -> std::ops::Range<i8> {
    -60..60
}

/// Actions on bodies, which every hook can do.
pub fn edit() -> BoxedStrategy<Action> {
    use Action as A;
    let lives = prop_oneof![
        6 => (kind(), x()).prop_map(|(kind, x)| A::Spawn(kind, x)),
        1 => x().prop_map(A::Track),
        4 => body().prop_map(A::Remove),
        2 => (body(), access()).prop_map(|(body, access)| A::RemoveThroughRapier(body, access)),
        1 => x().prop_map(A::Flash),
    ];
    let positions = prop_oneof![
        3 => (body(), x()).prop_map(|(body, x)| A::Teleport(body, x)),
        2 => (body(), x()).prop_map(|(body, x)| A::TeleportBy(body, x)),
        4 => (body(), part(), x(), access()).prop_map(|(body, part, x, access)| A::Put(body, part, x, access)),
        1 => body().prop_map(A::PutNowhere),
        3 => (body(), x(), x()).prop_map(|(body, x, y)| A::ShowFrom(body, x, y)),
        3 => (body(), x(), 0..100u8).prop_map(|(body, x, ms)| A::Target(body, x, ms)),
        1 => (body(), x()).prop_map(|(body, x)| A::SetNext(body, x)),
        1 => x().prop_map(A::ShiftOrigin),
    ];
    let motions = prop_oneof![
        2 => (body(), x()).prop_map(|(body, x)| A::Push(body, x)),
        2 => (body(), x()).prop_map(|(body, x)| A::AddForce(body, x)),
        2 => (body(), x(), access()).prop_map(|(body, x, access)| A::SetVelocity(body, x, access)),
        1 => body().prop_map(A::SetVelocityToNan),
        1 => (body(), x()).prop_map(|(body, x)| A::Generator(body, x)),
        1 => (0..3u8).prop_map(A::RemoveGenerator),
        1 => x().prop_map(A::Gravity),
    ];
    let kinds = prop_oneof![
        2 => (body(), access()).prop_map(|(body, access)| A::Sleep(body, access)),
        1 => body().prop_map(A::Wake),
        1 => Just(A::WakeAll),
        1 => body().prop_map(A::Toggle),
        2 => (body(), 0..4u8).prop_map(|(body, kind)| A::SetType(body, kind)),
        1 => (body(), x()).prop_map(|(body, x)| A::AddCollider(body, x)),
        1 => body().prop_map(A::RemoveCollider),
        3 => (body(), prop::option::of(smoothing())).prop_map(|(body, it)| A::BodySmoothing(body, it)),
        1 => (body(), prop::option::of(fade())).prop_map(|(body, it)| A::BodyCorrection(body, it)),
        1 => (0..9u8).prop_map(A::Score),
    ];
    let joints = prop_oneof![
        2 => (body(), body(), joint()).prop_map(|(one, other, joint)| A::Join(one, other, joint)),
        1 => (0..8u8).prop_map(A::RemoveJoint),
    ];
    prop_oneof![6 => lives, 8 => positions, 4 => motions, 5 => kinds, 1 => joints].boxed()
}

/// Actions on values, which every hook can do.
pub fn value() -> BoxedStrategy<Action> {
    use Action as A;
    let state = || 0..4u8;
    prop_oneof![
        3 => Just(A::Copy),
        2 => state().prop_map(A::Assign),
        2 => state().prop_map(A::Exchange),
        1 => (body(), x()).prop_map(|(body, x)| A::TakeAndReturn(body, x)),
        1 => (0..30u8).prop_map(A::Lend),
    ]
    .boxed()
}

pub fn setting() -> BoxedStrategy<Action> {
    use Action as A;
    let often = prop_oneof![
        2 => Just(A::Pause),
        6 => Just(A::Resume),
        2 => Just(A::StepOnce),
        2 => prop::sample::select(&[0, 1, 2, 4, 4, 6, 16, 400][..]).prop_map(A::Speed),
        2 => prop::sample::select(&[10, 30, 60, 100, 144, 240, 1000][..]).prop_map(A::Hz),
        3 => smoothing().prop_map(A::Smoothing),
        2 => fade().prop_map(A::Correction),
    ];
    let rarely = prop_oneof![
        3 => prop::sample::select(&[0, 0, 0, 1, 2, 3, 4][..]).prop_map(A::Stepping),
        1 => prop::option::of(prop::sample::select(&[0, 1, 3, u32::MAX][..])).prop_map(A::MaxSteps),
        1 => prop::sample::select(&[0, 1, 30, 250, u16::MAX][..]).prop_map(A::MaxFrameTime),
        1 => prop::option::of(0..6u32).prop_map(A::Budget),
        1 => (0..400u16).prop_map(A::Tick),
        1 => (0..60u8).prop_map(A::Overstep),
        2 => (0..40u8).prop_map(A::Keep),
        1 => (0..5u8).prop_map(A::Interval),
        1 => (0..12u8).prop_map(A::KeepPoses),
    ];
    prop_oneof![3 => often, 2 => rarely].boxed()
}

pub fn past() -> BoxedStrategy<Action> {
    use Action as A;
    let back = || prop_oneof![1 => Just(0), 4 => 0..12u8];
    prop_oneof![
        4 => back().prop_map(A::RollBack),
        2 => back().prop_map(A::Resimulate),
        4 => (back(), x()).prop_map(|(back, x)| A::LateInput(back, x)),
        1 => back().prop_map(A::Rewind),
        2 => (0..4u8).prop_map(A::Correct),
        2 => (body(), x()).prop_map(|(body, x)| A::CorrectHere(body, x)),
        1 => back().prop_map(A::Confirm),
    ]
    .boxed()
}

/// Actions on whole simulations.
pub fn copy() -> BoxedStrategy<Action> {
    use Action as A;
    prop_oneof![
        2 => Just(A::Clone),
        1 => Just(A::Load),
        1 => Just(A::KeepAll),
        1 => (0..4u8).prop_map(A::ExchangeAll),
    ]
    .boxed()
}

/// Actions that end a frame early.
pub fn cut() -> BoxedStrategy<Action> {
    use Action as A;
    prop_oneof![
        3 => Just(A::Fail),
        2 => Just(A::Panic),
        1 => (0..40u8).prop_map(A::Again),
        1 => Just(A::Leave),
        2 => Just(A::PauseAfterStep),
    ]
    .boxed()
}
