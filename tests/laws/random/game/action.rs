//! Everything that a game can do to a simulation.

use super::owners::Despawn;
use super::paths::Paths;
use super::player::Player;
use evenstep::forces::{ForceGenerator, ForceGeneratorKey};
use evenstep::rapier::prelude::*;
use evenstep::rewind::Kept;
use evenstep::time::Budget;
use evenstep::{BodyKey, Correction, Physics, Rate, Simulation, Smoothing};
use proptest::prelude::*;
use scenes::testing::{ball_joint, hinge, pose, spin, translation, vector};
use scenes::{MS, STEPPINGS};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

/// An action, at any moment. Coordinates are in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Edits one of the living bodies, which the number picks.
    Body(u8, OnBody),
    /// Edits anything else in the state.
    World(OnWorld),
    /// Copies or exchanges the state.
    Value(Value),
    Setting(Setting),
    Past(Past),
    /// Copies or exchanges the simulation.
    Whole(Whole),
    /// Ends a frame early.
    Cut(Cut),
    /// Asks for no frame for this many tenths of a second, as in a hidden window. Only a thread runs meanwhile.
    Hide(u8),
    /// Hands the simulation over to another host. All later actions between these frames happen in between.
    HandOver(super::hosts::Kind),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnBody {
    Remove,
    RemoveThroughRapier(Access),
    /// Despawns the entity, and removes the body.
    Despawn(Despawn),
    /// Despawns the entity. A sync or a later hook removes the body.
    Abandon,
    // Positions.
    Teleport(i8),
    /// Teleports it by so little that Rapier would recycle its contacts.
    Nudge(i8),
    TeleportBy(i8),
    Put(Part, i8, Access),
    PutNowhere,
    ShowFrom(i8, i8),
    Target(i8, u8),
    SetNext(i8),
    // Forces and velocities.
    Push(Push, i8),
    SetVelocity(i8, Access),
    SetVelocityToNan,
    Generator(i8),
    // Its kind and its parts.
    Sleep(Access),
    Wake,
    Toggle,
    SetType(u8),
    AddCollider(i8),
    RemoveCollider,
    /// Sets another additional mass, beside the body's middle.
    Weigh(i8),
    /// Sets another friction of its first collider.
    Rub(i8),
    OwnSmoothing(Option<Smoothing>),
    OwnCorrection(Option<Fade>),
    Join(u8, Joint),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OnWorld {
    Spawn(Body, i8),
    Track(i8),
    /// Inserts a body, and removes it at once.
    Flash(i8),
    ShiftOrigin(i8),
    Gravity(i8),
    RemoveGenerator(u8),
    WakeAll,
    RemoveJoint(u8),
    /// Moves the anchors of all joints of multibodies by this many metres, which wakes no link.
    MoveAnchors(i8),
    /// Changes the game's value in the state.
    Score(u8),
}

/// A number picks one of the states that the game keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    Copy,
    Assign(u8),
    Exchange(u8),
    /// Takes the state out, teleports a body, and puts the state back.
    TakeAndReturn(u8, i8),
    /// Lends the state to another loop, which runs a frame of this many milliseconds with it.
    Lend(u8),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Setting {
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
}

/// Goes back in time, by a number of ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Past {
    RollBack(u8),
    Resimulate(u8),
    /// An input of an earlier tick arrives, and the steps since then run again.
    LateInput(u8, i8),
    /// The inputs from an earlier tick on were wrong, and the steps since then run again without them.
    TakeBackInput(u8),
    Rewind(u8),
    /// A state that the game keeps corrects the state of its tick.
    Correct(u8),
    /// The state corrects itself, with a body that moves differently.
    CorrectHere(u8, i8),
    Confirm(u8),
}

/// A number picks one of the simulations that the game keeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Whole {
    /// Continues with a copy.
    Clone,
    /// Continues with a simulation that was saved and loaded.
    Load,
    Shelve,
    Swap(u8),
}

/// The hooks carry these out, and the pull form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    Fail,
    Panic,
    PauseAfterStep,
    /// Begins another frame of this many milliseconds. The pull form alone can do this.
    Again(u8),
    /// Leaves the frame open. The pull form alone can do this.
    Leave,
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

/// A force or an impulse for the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Push {
    Impulse,
    ImpulseAtPoint,
    TorqueImpulse,
    Force,
    ForceAtPoint,
    Torque,
}

impl Push {
    fn is_impulse(self) -> bool {
        matches!(
            self,
            Self::Impulse | Self::ImpulseAtPoint | Self::TorqueImpulse
        )
    }
}

/// The part of a position that is set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    Both,
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
    Socket,
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
        matches!(self, Self::Body(_, OnBody::Push(..)))
    }

    /// Returns whether a step that runs again repeats the action.
    pub fn is_edit(&self) -> bool {
        matches!(self, Self::Body(..) | Self::World(_))
    }

    /// Returns whether the action needs only the state.
    pub fn is_of_state(&self) -> bool {
        self.is_edit() || matches!(self, Self::Value(_))
    }
}

/// The effect of an action on paths, events and time. Everything else is read from the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// The body has no path from its previous pose.
    Cut(BodyKey),
    /// The body gets an impulse as its next step begins.
    Pushed(BodyKey),
    /// The body was moved together with its path.
    Turned(BodyKey, Pose),
    /// A link was moved, and others with it.
    LinksMoved,
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
    /// The state is still the present one, with all edits.
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

/// The values within reach of an action: in a hook of a step, the state alone.
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

pub fn is_link(physics: &Physics, handle: RigidBodyHandle) -> bool {
    let links = &physics.rapier().multibody_joints;
    links.rigid_body_link(handle).is_some()
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
    let mut effects = Vec::new();
    match action {
        Action::Body(body, edit) => {
            let key = any(on.physics(), body)?;
            let is_left = player.parts().left == Some(key);
            if is_left && matches!(edit, OnBody::RemoveThroughRapier(_)) {
                // The sync would still remove the key, which no step could repeat.
                return None;
            }
            edit_body(edit, on.physics(), key, shelf, player, &mut effects);
        }
        Action::World(edit) => edit_world(edit, on.physics(), shelf, &mut effects),
        Action::Value(value) => exchange(value, on.physics(), shelf, player, &mut effects)?,
        Action::Cut(Cut::PauseAfterStep) => {
            on.physics().pause_after_step();
            effects.push(Effect::Retimed);
        }
        Action::Setting(setting) => set(setting, on.simulation()?, &mut effects),
        Action::Past(past) => go_back(past, on.simulation()?, shelf, player, &mut effects)?,
        Action::Whole(whole) => exchange_whole(whole, on.simulation()?, shelf, &mut effects)?,
        Action::Cut(_) | Action::Hide(_) | Action::HandOver(_) => return None,
    }
    Some(effects)
}

fn edit_world(edit: OnWorld, physics: &mut Physics, shelf: &mut Shelf, effects: &mut Vec<Effect>) {
    use OnWorld as A;
    match edit {
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
        A::MoveAnchors(x) => {
            let joints = &mut physics.rapier_mut_except_bodies().multibody_joints;
            let links: Vec<_> = joints.iter().map(|(_, link, ..)| *link).collect();
            for link in links {
                let multibody = joints.get_multibody_mut(link.multibody);
                let link = multibody.and_then(|it| it.link_mut(link.id));
                let joint = &mut link.expect("it is listed").joint.data;
                joint.set_local_anchor1(joint.local_anchor1() + Vector::X * metres(x));
            }
            effects.push(Effect::LinksMoved);
        }
        A::Score(points) => score(physics).points += u64::from(points),
    }
}

fn exchange(
    value: Value,
    physics: &mut Physics,
    shelf: &mut Shelf,
    player: &Player,
    effects: &mut Vec<Effect>,
) -> Option<()> {
    use Value as A;
    match value {
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
            let key = any(&taken, body);
            if let Some(key) = key {
                edit_body(OnBody::Teleport(x), &mut taken, key, shelf, player, effects);
            }
            *physics = taken;
        }
        A::Lend(ms) => {
            let mut other = Simulation::new(Rate::hz(100));
            std::mem::swap(physics, &mut other.physics);
            let smoothing = other.smoothing;
            let run = catch_unwind(AssertUnwindSafe(|| {
                other.advance(MS(ms.into()), |physics, _| {
                    Paths::begin_step(physics, smoothing)
                });
                Paths::observe(&mut other.physics, &[]);
            }));
            std::mem::swap(physics, &mut other.physics);
            if let Err(payload) = run {
                // Rapier has panicked, which ends the game.
                resume_unwind(payload);
            }
            effects.push(Effect::Other);
        }
    }
    Some(())
}

fn edit_body(
    edit: OnBody,
    physics: &mut Physics,
    key: BodyKey,
    shelf: &mut Shelf,
    player: &Player,
    effects: &mut Vec<Effect>,
) {
    use OnBody as A;
    let handle = physics.handle(key).expect("it is alive");
    match edit {
        A::Remove => {
            physics.remove(key).expect("it is alive");
        }
        A::RemoveThroughRapier(access) => {
            let rapier = match access {
                Access::PhysicsMutFor => physics.rapier_mut_for(&[key]),
                _ => physics.rapier_mut(),
            };
            rapier.remove_body(handle);
        }
        A::Despawn(how) => player.parts().owners.despawn(key, how, physics),
        A::Abandon => player.leave(key),
        A::Teleport(x) => {
            // This fails for a link that depends on others.
            if physics.teleport(key, to(x)).is_ok() {
                effects.push(Effect::Cut(key));
                effects.extend(is_link(physics, handle).then_some(Effect::LinksMoved));
            }
        }
        A::Nudge(x) => {
            let small = metres(x) * 1e-3;
            let by = pose(vector(0.0, small, 0.0), spin(0.0, 0.0, small));
            let next = *physics.body(key).expect("it is alive").position() * by;
            if physics.teleport(key, next).is_ok() {
                effects.push(Effect::Cut(key));
                effects.extend(is_link(physics, handle).then_some(Effect::LinksMoved));
            }
        }
        A::TeleportBy(x) => {
            let by = pose(vector(metres(x), 1.0, 0.0), spin(0.0, 0.1, 0.2 * metres(x)));
            if physics.teleport_by(key, by).is_ok() {
                effects.push(Effect::Turned(key, by));
                effects.extend(is_link(physics, handle).then_some(Effect::LinksMoved));
            }
        }
        A::Put(part, x, access) => {
            // Half of these edits do not wake the body, so only the loop's own check can detect them.
            let body = reach(physics, key, access);
            match part {
                Part::Both => body.set_position(to(x), x > 0),
                Part::Translation => body.set_translation(to(x).translation, x > 0),
                Part::Rotation => body.set_rotation(to(x).rotation, x > 0),
            }
        }
        A::PutNowhere => {
            let body = physics.body_mut(key).expect("it is alive");
            body.set_position(Pose::from_translation(Vector::NAN), true);
        }
        A::ShowFrom(x, y) => {
            let from = translation(metres(x), metres(y), 0.0);
            physics.show_from(key, from).expect("it is alive");
            effects.push(Effect::From(key, from));
        }
        A::Target(x, ms) => {
            let time = physics.time() + MS(ms.into());
            // This fails for a body of another type.
            let _ = physics.set_kinematic_target(key, to(x), time);
        }
        A::SetNext(x) => {
            let body = physics.body_mut(key).expect("it is alive");
            body.set_next_kinematic_position(to(x));
        }
        A::Push(kind, x) => {
            let (impulse, force) = (vector(metres(x), 2.0, 0.5), vector(metres(x), 9.0, 0.0));
            let point = vector(1.0, metres(x), 0.0);
            let torque = spin(0.0, 0.1, metres(x));
            let result = match kind {
                Push::Impulse => physics.apply_impulse(key, impulse),
                Push::ImpulseAtPoint => physics.apply_impulse_at_point(key, impulse, point),
                Push::TorqueImpulse => physics.apply_torque_impulse(key, torque),
                Push::Force => physics.add_force(key, force),
                Push::ForceAtPoint => physics.add_force_at_point(key, force, point),
                Push::Torque => physics.add_torque(key, torque),
            };
            result.expect("it is finite");
            if kind.is_impulse() {
                effects.push(Effect::Pushed(key));
            }
        }
        A::SetVelocity(x, access) => {
            let body = reach(physics, key, access);
            body.set_linvel(vector(metres(x), 2.0, 0.5), true);
            body.set_angvel(spin(0.5, metres(x), 3.0), true);
        }
        A::SetVelocityToNan => {
            let body = physics.body_mut(key).expect("it is alive");
            body.set_linvel(Vector::NAN, true);
        }
        A::Generator(x) => {
            let generator = ForceGenerator::Wind {
                velocity: Vector::X * metres(x),
                drag: 2.0,
            };
            let generator = physics.insert_force_generator(key, generator);
            add(&mut shelf.generators, generator.expect("it is alive"));
        }
        A::Sleep(access) => reach(physics, key, access).sleep(),
        A::Wake => reach(physics, key, Access::BodyMut).wake_up(true),
        A::Toggle => {
            let body = physics.body_mut(key).expect("it is alive");
            body.set_enabled(!body.is_enabled());
        }
        A::SetType(kind) => {
            let types = [
                RigidBodyType::Dynamic,
                RigidBodyType::Fixed,
                RigidBodyType::KinematicPositionBased,
                RigidBodyType::KinematicVelocityBased,
            ];
            // Rapier panics for a link that is not dynamic.
            if is_link(physics, handle) {
                return;
            }
            let body = physics.body_mut(key).expect("it is alive");
            body.set_body_type(types[usize::from(kind) % types.len()], true);
        }
        A::AddCollider(x) => {
            let ball = ColliderBuilder::ball(0.2).translation(vector(0.0, 0.0, 0.1 * metres(x)));
            physics.insert_collider(key, ball).expect("it is alive");
        }
        A::RemoveCollider => {
            let colliders = physics.rapier().bodies[handle].colliders();
            if let Some(collider) = colliders.first().copied() {
                physics.remove_collider(collider).expect("it is there");
            }
        }
        A::Weigh(x) => {
            let mass = ColliderBuilder::ball(0.2)
                .mass(metres(x).abs() + 0.5)
                .build();
            let mut mass = mass.mass_properties();
            mass.local_com += vector(0.1 * metres(x), 0.0, 0.0);
            let body = physics.body_mut(key).expect("it is alive");
            body.set_additional_mass_properties(mass, x > 0);
        }
        A::Rub(x) => {
            let collider = physics.rapier().bodies[handle].colliders().first().copied();
            if let Some(collider) = collider.and_then(|it| physics.collider_mut(it)) {
                collider.set_friction(metres(x).abs().min(1.0));
            }
        }
        A::OwnSmoothing(smoothing) => {
            let set = physics.set_body_smoothing(key, smoothing);
            set.expect("it is alive");
            assert_eq!(physics.body_smoothing(key), smoothing);
        }
        A::OwnCorrection(fade) => {
            let correction = fade.map(Fade::correction);
            let set = physics.set_body_correction(key, correction);
            set.expect("it is alive");
        }
        A::Join(other, joint) => {
            join(physics, handle, other, joint);
            // Bodies that become links move to where the joint holds them.
            effects.extend((joint == Joint::Link).then_some(Effect::LinksMoved));
        }
    }
}

fn join(physics: &mut Physics, one: RigidBodyHandle, other: u8, joint: Joint) {
    let other = any(physics, other).and_then(|key| physics.handle(key));
    let Some(other) = other.filter(|other| *other != one) else {
        return;
    };
    let (from, to) = (Vector::X * 0.5, Vector::X * -0.5);
    let data: GenericJoint = match joint {
        Joint::Socket | Joint::Link => ball_joint(from, to),
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

fn set(setting: Setting, simulation: &mut Simulation, effects: &mut Vec<Effect>) {
    use Setting as A;
    let settings = simulation.clock_settings_mut();
    match setting {
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
    }
}

fn go_back(
    past: Past,
    simulation: &mut Simulation,
    shelf: &mut Shelf,
    player: &mut Player,
    effects: &mut Vec<Effect>,
) -> Option<()> {
    use Past as A;
    let here = simulation.physics.tick();
    let back = |back: u8| here.saturating_sub(back.into());
    let rollback = Some((simulation.clock().tick(), simulation.steps_to_resimulate()));
    match past {
        A::RollBack(by) => go_to(back(by), simulation, player, effects),
        A::LateInput(by, x) => {
            go_to(back(by), simulation, player, effects);
            if !effects.is_empty() {
                player.late_input(back(by), x);
            }
        }
        A::TakeBackInput(by) => {
            go_to(back(by), simulation, player, effects);
            if !effects.is_empty() {
                player.take_back_input(back(by));
            }
        }
        A::Resimulate(by) => {
            go_to(back(by), simulation, player, effects);
            if !effects.is_empty() {
                // The entries of its steps follow this one.
                let tick = simulation.physics.tick();
                player.match_entities(&mut simulation.physics);
                player.log(super::Entry::Acted {
                    action: Action::Past(A::RollBack(by)),
                    effects: std::mem::take(effects),
                    tick,
                    rollback,
                });
                // Its hooks need the shelf, too. They may fail or assign another state.
                std::mem::swap(&mut player.parts().shelf, shelf);
                let _ = simulation.resimulate_with(tick, player);
                std::mem::swap(&mut player.parts().shelf, shelf);
            }
        }
        A::Rewind(by) => {
            player.mark(&mut simulation.physics);
            if simulation.rewind(back(by)).is_ok() {
                effects.push(Effect::Other);
                let stays = player.is_marked(&simulation.physics);
                effects.extend(stays.then_some(Effect::Stayed));
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
    }
    Some(())
}

/// Rolls back, if that state is kept or its step is due already.
fn go_to(tick: u64, simulation: &mut Simulation, player: &Player, effects: &mut Vec<Effect>) {
    player.mark(&mut simulation.physics);
    if simulation.roll_back(tick).is_ok() {
        effects.push(Effect::Back(simulation.physics.tick()));
        let stays = player.is_marked(&simulation.physics);
        effects.extend(stays.then_some(Effect::Stayed));
    }
}

fn exchange_whole(
    whole: Whole,
    simulation: &mut Simulation,
    shelf: &mut Shelf,
    effects: &mut Vec<Effect>,
) -> Option<()> {
    use Whole as A;
    match whole {
        A::Clone => {
            *simulation = simulation.clone();
            effects.push(Effect::Replaced);
        }
        A::Load => {
            *simulation = loaded(simulation)?;
            effects.push(Effect::Loaded);
        }
        A::Shelve => add(&mut shelf.simulations, simulation.clone()),
        A::Swap(number) => {
            std::mem::swap(simulation, pick(&mut shelf.simulations, number)?);
            effects.extend([Effect::Other, Effect::Replaced]);
        }
    }
    Some(())
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

fn despawn() -> impl Strategy<Value = Despawn> {
    prop::sample::select(vec![Despawn::Evenstep, Despawn::Hecs, Despawn::Thread])
}

fn push() -> impl Strategy<Value = Push> {
    prop::sample::select(vec![
        Push::Impulse,
        Push::ImpulseAtPoint,
        Push::TorqueImpulse,
        Push::Force,
        Push::ForceAtPoint,
        Push::Torque,
    ])
}

fn part() -> impl Strategy<Value = Part> {
    prop::sample::select(vec![Part::Both, Part::Translation, Part::Rotation])
}

fn joint() -> impl Strategy<Value = Joint> {
    prop::sample::select(vec![Joint::Socket, Joint::Hinge, Joint::Rope, Joint::Link])
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

fn on(edit: impl Strategy<Value = OnBody> + 'static) -> BoxedStrategy<Action> {
    (body(), edit)
        .prop_map(|(body, edit)| Action::Body(body, edit))
        .boxed()
}

fn all(edit: impl Strategy<Value = OnWorld> + 'static) -> BoxedStrategy<Action> {
    edit.prop_map(Action::World).boxed()
}

/// Edits, which every hook can do.
pub fn edit() -> BoxedStrategy<Action> {
    use OnBody as B;
    use OnWorld as W;
    let lives = prop_oneof![
        6 => all((kind(), x()).prop_map(|(kind, x)| W::Spawn(kind, x))),
        1 => all(x().prop_map(W::Track)),
        4 => on(Just(B::Remove)),
        2 => on(access().prop_map(B::RemoveThroughRapier)),
        2 => on(despawn().prop_map(B::Despawn)),
        1 => on(Just(B::Abandon)),
        1 => all(x().prop_map(W::Flash)),
    ];
    let positions = prop_oneof![
        3 => on(x().prop_map(B::Teleport)),
        2 => on(x().prop_map(B::Nudge)),
        2 => on(x().prop_map(B::TeleportBy)),
        4 => on((part(), x(), access()).prop_map(|(part, x, access)| B::Put(part, x, access))),
        1 => on(Just(B::PutNowhere)),
        3 => on((x(), x()).prop_map(|(x, y)| B::ShowFrom(x, y))),
        3 => on((x(), 0..100u8).prop_map(|(x, ms)| B::Target(x, ms))),
        1 => on(x().prop_map(B::SetNext)),
        1 => all(x().prop_map(W::ShiftOrigin)),
    ];
    let motions = prop_oneof![
        4 => on((push(), x()).prop_map(|(push, x)| B::Push(push, x))),
        2 => on((x(), access()).prop_map(|(x, access)| B::SetVelocity(x, access))),
        1 => on(Just(B::SetVelocityToNan)),
        1 => on(x().prop_map(B::Generator)),
        1 => all((0..3u8).prop_map(W::RemoveGenerator)),
        1 => all(x().prop_map(W::Gravity)),
    ];
    let kinds = prop_oneof![
        2 => on(access().prop_map(B::Sleep)),
        1 => on(Just(B::Wake)),
        1 => all(Just(W::WakeAll)),
        1 => on(Just(B::Toggle)),
        2 => on((0..4u8).prop_map(B::SetType)),
        1 => on(x().prop_map(B::AddCollider)),
        1 => on(Just(B::RemoveCollider)),
        1 => on(x().prop_map(B::Weigh)),
        1 => on(x().prop_map(B::Rub)),
        3 => on(prop::option::of(smoothing()).prop_map(B::OwnSmoothing)),
        1 => on(prop::option::of(fade()).prop_map(B::OwnCorrection)),
        1 => all((0..9u8).prop_map(W::Score)),
    ];
    let joints = prop_oneof![
        2 => on((body(), joint()).prop_map(|(other, joint)| B::Join(other, joint))),
        1 => all((0..8u8).prop_map(W::RemoveJoint)),
        1 => all(x().prop_map(W::MoveAnchors)),
    ];
    prop_oneof![6 => lives, 8 => positions, 4 => motions, 5 => kinds, 1 => joints].boxed()
}

/// Actions on values, which every hook can do.
pub fn value() -> BoxedStrategy<Action> {
    use Value as A;
    let state = || 0..4u8;
    prop_oneof![
        3 => Just(A::Copy),
        2 => state().prop_map(A::Assign),
        2 => state().prop_map(A::Exchange),
        1 => (body(), x()).prop_map(|(body, x)| A::TakeAndReturn(body, x)),
        1 => (0..30u8).prop_map(A::Lend),
    ]
    .prop_map(Action::Value)
    .boxed()
}

pub fn setting() -> BoxedStrategy<Action> {
    use Setting as A;
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
    prop_oneof![3 => often, 2 => rarely]
        .prop_map(Action::Setting)
        .boxed()
}

pub fn past() -> BoxedStrategy<Action> {
    use Past as A;
    let back = || prop_oneof![1 => Just(0), 4 => 0..12u8];
    prop_oneof![
        4 => back().prop_map(A::RollBack),
        2 => back().prop_map(A::Resimulate),
        4 => (back(), x()).prop_map(|(back, x)| A::LateInput(back, x)),
        4 => back().prop_map(A::TakeBackInput),
        1 => back().prop_map(A::Rewind),
        2 => (0..4u8).prop_map(A::Correct),
        2 => (body(), x()).prop_map(|(body, x)| A::CorrectHere(body, x)),
        1 => back().prop_map(A::Confirm),
    ]
    .prop_map(Action::Past)
    .boxed()
}

pub fn whole() -> BoxedStrategy<Action> {
    use Whole as A;
    prop_oneof![
        2 => Just(A::Clone),
        1 => Just(A::Load),
        1 => Just(A::Shelve),
        1 => (0..4u8).prop_map(A::Swap),
    ]
    .prop_map(Action::Whole)
    .boxed()
}

pub fn cut() -> BoxedStrategy<Action> {
    use Cut as A;
    prop_oneof![
        3 => Just(A::Fail),
        2 => Just(A::Panic),
        1 => (0..40u8).prop_map(A::Again),
        1 => Just(A::Leave),
        2 => Just(A::PauseAfterStep),
    ]
    .prop_map(Action::Cut)
    .boxed()
}
