//! The actions of a random game.

use evenstep::Smoothing;
use proptest::prelude::*;

/// An action of the game between two frames, or before or after a step.
#[derive(Clone, Debug)]
pub enum Action {
    Spawn {
        kind: Kind,
        x: f32,
    },
    Track {
        x: f32,
    },
    ShiftOrigin(f32),
    SetGravity(f32),
    WakeAll,
    Set(Setting),
    /// An action on one of the existing bodies.
    To(usize, Deed),
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Fixed,
    Asleep,
    Spinner,
    /// A body whose centre of mass is off its origin.
    Hammer,
    Bullet,
    Conveyor,
    Platform,
    Door,
}

#[derive(Clone, Debug)]
pub enum Deed {
    Remove,
    RemoveThroughRapier,
    Teleport(f32),
    TeleportBy(f32),
    Put(Part, f32, Access),
    /// An impulse through evenstep, which waits for the next step.
    Push,
    SetVelocity(f32, Access),
    Sleep(Access),
    Toggle,
    NanVelocity,
    NanPosition,
    /// 0: dynamic, 1: fixed, 2: kinematic by position, 3: kinematic by velocity.
    SetType(u8),
    Target {
        x: f32,
        ms: u64,
    },
    SetNext(f32),
    SetSmoothing(Option<Smoothing>),
    ShowFrom(f32),
    AddCollider(f32),
    RemoveCollider,
}

/// The part of a position that is set.
#[derive(Clone, Copy, Debug)]
pub enum Part {
    Whole,
    Translation,
    Rotation,
}

/// How the game accesses a body.
#[derive(Clone, Copy, Debug)]
pub enum Access {
    BodyMut,
    PhysicsMut,
    PhysicsMutFor,
}

#[derive(Clone, Debug)]
pub enum Setting {
    Smoothing(Smoothing),
    History(u64),
    Tick(u64),
    Hz(u32),
    Pause,
    Resume,
    StepOnce,
    Speed(f64),
    /// An index into a list of all steppings.
    Stepping(usize),
    MaxSteps(Option<u32>),
}

/// A frame, and the game's actions in it.
#[derive(Clone, Debug)]
pub struct FrameScript {
    pub millis: u64,
    pub drive: Drive,
    pub between: Vec<Action>,
    /// The actions before the step of this index in the frame.
    pub before: Vec<(u64, Action)>,
    /// The actions after the step.
    pub after: Vec<(u64, Action)>,
}

#[derive(Clone, Copy, Debug)]
pub enum Drive {
    /// Runs the frame with `advance_with`. The hook before or after the step of this index fails.
    Advance { fails: Option<(u64, bool)> },
    /// Runs the frame in the pull form. The frame ends or begins again before or after the step of this index.
    Pull { cut: Option<(u64, bool, Cut)> },
}

#[derive(Clone, Copy, Debug)]
pub enum Cut {
    End,
    /// Begins another frame of this many milliseconds.
    Begin(u64),
}

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        Just(Kind::Fixed),
        Just(Kind::Asleep),
        Just(Kind::Spinner),
        Just(Kind::Hammer),
        Just(Kind::Bullet),
        Just(Kind::Conveyor),
        Just(Kind::Platform),
        Just(Kind::Door),
    ]
}

fn access() -> impl Strategy<Value = Access> {
    prop_oneof![
        3 => Just(Access::BodyMut),
        1 => Just(Access::PhysicsMut),
        1 => Just(Access::PhysicsMutFor),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        Just(Part::Whole),
        Just(Part::Translation),
        Just(Part::Rotation),
    ]
}

fn smoothing() -> impl Strategy<Value = Smoothing> {
    prop_oneof![
        Just(Smoothing::Interpolate),
        Just(Smoothing::Hermite),
        Just(Smoothing::Extrapolate),
        Just(Smoothing::Latest),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    let x = || -20.0..20.0f32;
    prop_oneof![
        3 => Just(Deed::Remove),
        1 => Just(Deed::RemoveThroughRapier),
        2 => x().prop_map(Deed::Teleport),
        1 => x().prop_map(Deed::TeleportBy),
        4 => (part(), x(), access()).prop_map(|(part, x, access)| Deed::Put(part, x, access)),
        1 => Just(Deed::Push),
        2 => (x(), access()).prop_map(|(x, access)| Deed::SetVelocity(x, access)),
        2 => access().prop_map(Deed::Sleep),
        1 => Just(Deed::Toggle),
        1 => Just(Deed::NanVelocity),
        1 => Just(Deed::NanPosition),
        2 => (0..4u8).prop_map(Deed::SetType),
        3 => (x(), 0..100u64).prop_map(|(x, ms)| Deed::Target { x, ms }),
        1 => x().prop_map(Deed::SetNext),
        3 => prop::option::of(smoothing()).prop_map(Deed::SetSmoothing),
        2 => x().prop_map(Deed::ShowFrom),
        1 => x().prop_map(Deed::AddCollider),
        1 => Just(Deed::RemoveCollider),
    ]
}

fn setting() -> impl Strategy<Value = Setting> {
    prop_oneof![
        6 => smoothing().prop_map(Setting::Smoothing),
        4 => (0..12u64).prop_map(Setting::History),
        1 => (0..400u64).prop_map(Setting::Tick),
        1 => prop_oneof![Just(50), Just(100), Just(144)].prop_map(Setting::Hz),
        1 => Just(Setting::Pause),
        3 => Just(Setting::Resume),
        2 => Just(Setting::StepOnce),
        1 => prop_oneof![Just(0.5), Just(1.0), Just(2.0)].prop_map(Setting::Speed),
        1 => prop_oneof![3 => Just(0), 1 => 1..5usize].prop_map(Setting::Stepping),
        1 => prop::option::of(1..4u32).prop_map(Setting::MaxSteps),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        6 => (kind(), -20.0..20.0f32).prop_map(|(kind, x)| Action::Spawn { kind, x }),
        1 => (-20.0..20.0f32).prop_map(|x| Action::Track { x }),
        1 => (-20.0..20.0f32).prop_map(Action::ShiftOrigin),
        1 => (-20.0..20.0f32).prop_map(Action::SetGravity),
        1 => Just(Action::WakeAll),
        4 => setting().prop_map(Action::Set),
        16 => (0..64usize, deed()).prop_map(|(i, deed)| Action::To(i, deed)),
    ]
}

fn drive() -> impl Strategy<Value = Drive> {
    let place = || (0..5u64, any::<bool>());
    let cut = prop_oneof![Just(Cut::End), (0..40u64).prop_map(Cut::Begin)];
    let cut = (place(), cut).prop_map(|((step, after), cut)| (step, after, cut));
    prop_oneof![
        prop::option::weighted(0.1, place()).prop_map(|fails| Drive::Advance { fails }),
        prop::option::weighted(0.2, cut).prop_map(|cut| Drive::Pull { cut }),
    ]
}

pub fn frame() -> impl Strategy<Value = FrameScript> {
    let in_step = || prop::collection::vec((0..5u64, action()), 0..4);
    let between = prop::collection::vec(action(), 0..4);
    (0..50u64, drive(), between, in_step(), in_step()).prop_map(
        |(millis, drive, between, before, after)| FrameScript {
            millis,
            drive,
            between,
            before,
            after,
        },
    )
}
