//! The commands of each frame.

use crate::game::action::smoothing;
use evenstep::{Correction, Rate, Smoothing, Stepping};
use proptest::prelude::*;
use std::time::Duration;

#[derive(Clone, Debug)]
pub struct Script {
    pub correction: Correction,
    pub smoothing: Smoothing,
    pub rate: Rate,
    /// The slack of an overlap.
    pub slack: f32,
    pub frames: Vec<FrameScript>,
}

#[derive(Clone, Debug)]
pub struct FrameScript {
    pub time: Duration,
    /// The actions between the frame before and this one.
    pub between: Vec<Action>,
    /// The actions in `before_frame`, or in the pull form before the step of index `at`.
    pub within: Vec<Action>,
    pub at: u64,
    /// The actions before the step of an index in the frame, and after it.
    pub before: Vec<(u64, Deed)>,
    pub after: Vec<(u64, Deed)>,
    pub cut: Option<Cut>,
}

/// How a frame ends early. The index of a step counts all steps of the frame, including resimulated ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cut {
    /// The hook before the frame fails.
    NoStep,
    /// The hook before or after a step fails. In the pull form the game ends the frame there.
    Before(u64),
    After(u64),
    /// In the pull form the game begins another frame before this step.
    Again(u64, Duration),
}

/// An action of the game on the simulation.
#[derive(Clone, Debug)]
pub enum Action {
    Rate(Rate),
    Speed(f64),
    Stepping(Stepping),
    Pause,
    Resume,
    StepOnce,
    MaxSteps(Option<u32>),
    MaxFrameTime(Duration),
    /// The number of steps that fit into the budget.
    Budget(Option<u32>),
    SetTick(u64),
    SetOverstep(Duration),
    Smoothing(Smoothing),
    Limits(u64),
    Interval(u64),
    History(u64),
    RollBack(u64),
    Rewind(u64),
    /// Corrects the state to itself.
    Correct,
    /// Assigns a copy of the state.
    Assign,
    /// Continues with a copy of the simulation.
    Clone,
    /// Continues with a copy that was written as bytes and read again.
    Load,
    Deed(Deed),
}

/// An action on the state, which is also possible in the hooks of a step.
#[derive(Clone, Copy, Debug)]
pub enum Deed {
    Teleport(usize, f32),
    ShiftOrigin(f32),
    Smoothing(usize, Option<Smoothing>),
    /// Begins the next picture of a body at this position relative to the landmark.
    ShowFrom(usize, f32, f32),
    PauseAfterStep,
}

/// The number of bodies that the game teleports, and whose smoothing it changes. One more is always extrapolated.
pub const OTHERS: usize = 6;

/// The duration of a frame at 144 Hz.
const FRAME_144: Duration = Duration::from_nanos(6_944_444);

fn frame_time() -> impl Strategy<Value = Duration> {
    let nanos = prop_oneof![
        8 => 4_000_000..40_000_000u64,
        2 => (1..30u64).prop_map(|half| 500_000 * half),
        1 => 0..300_000_000u64,
        1 => Just(0),
        1 => 1..1_000u64,
    ];
    nanos.prop_map(Duration::from_nanos)
}

pub fn rate() -> impl Strategy<Value = Rate> {
    let usual = [10, 30, 50, 60, 60, 100, 120, 144, 240, 240, 480, 1_000];
    prop_oneof![
        8 => prop::sample::select(usual.to_vec()).prop_map(Rate::hz),
        2 => (1..2_000u32).prop_map(Rate::hz),
        1 => (1_000..2_000_000u32, 1_000..1_010u32)
            .prop_map(|(steps, seconds)| Rate::fraction(steps, seconds)),
        1 => Just(Rate::fraction(60_000, 1_001)),
        1 => (500_000..200_000_000u64)
            .prop_map(|nanos| Rate::from_step(Duration::from_nanos(nanos))),
    ]
}

fn deed() -> impl Strategy<Value = Deed> {
    prop_oneof![3 => edit(), 2 => Just(Deed::PauseAfterStep)]
}

fn edit() -> impl Strategy<Value = Deed> {
    prop_oneof![
        2 => (0..OTHERS, -9.0..9.0f32).prop_map(|(body, x)| Deed::Teleport(body, x)),
        1 => (-9..9i8).prop_map(|x| Deed::ShiftOrigin(x.into())),
        2 => (0..OTHERS, prop::option::of(smoothing())).prop_map(|(body, it)| Deed::Smoothing(body, it)),
        2 => (0..=OTHERS, -9.0..9.0f32, -9.0..9.0f32).prop_map(|(body, x, y)| Deed::ShowFrom(body, x, y)),
    ]
}

fn setting() -> impl Strategy<Value = Action> {
    let speeds = [0.0, 0.01, 0.1, 0.5, 1.0, 1.0, 1.5, 4.0, 30.0, 100.0];
    let steppings = [
        Stepping::Fixed,
        Stepping::Fixed,
        Stepping::FrameLocked,
        Stepping::Variable,
        Stepping::SemiFixed,
        Stepping::DisplayCounted,
    ];
    prop_oneof![
        8 => rate().prop_map(Action::Rate),
        4 => prop::sample::select(speeds.to_vec()).prop_map(Action::Speed),
        4 => prop::sample::select(steppings.to_vec()).prop_map(Action::Stepping),
        2 => Just(Action::Pause),
        4 => Just(Action::Resume),
        2 => Just(Action::StepOnce),
        2 => prop::option::of(1..6u32).prop_map(Action::MaxSteps),
        1 => (1..300u64).prop_map(|ms| Action::MaxFrameTime(Duration::from_millis(ms))),
        1 => prop::option::of(0..6u32).prop_map(Action::Budget),
        1 => (0..900u64).prop_map(Action::SetTick),
        1 => (0..60_000u64).prop_map(|us| Action::SetOverstep(Duration::from_micros(us))),
        2 => smoothing().prop_map(Action::Smoothing),
    ]
}

fn past() -> impl Strategy<Value = Action> {
    prop_oneof![
        2 => (0..40u64).prop_map(Action::Limits),
        1 => (0..5u64).prop_map(Action::Interval),
        1 => (0..12u64).prop_map(Action::History),
        8 => (0..10u64).prop_map(Action::RollBack),
        1 => (0..10u64).prop_map(Action::Rewind),
        2 => Just(Action::Correct),
        1 => Just(Action::Assign),
        1 => Just(Action::Clone),
        1 => Just(Action::Load),
    ]
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        5 => setting(),
        3 => past(),
        2 => edit().prop_map(Action::Deed),
    ]
}

fn cut() -> impl Strategy<Value = Cut> {
    prop_oneof![
        1 => Just(Cut::NoStep),
        2 => (0..5u64).prop_map(Cut::Before),
        2 => (0..5u64).prop_map(Cut::After),
        1 => (0..5u64, frame_time()).prop_map(|(at, time)| Cut::Again(at, time)),
    ]
}

/// A frame with `many` or few actions.
fn frame(most: usize, time: BoxedStrategy<Duration>) -> impl Strategy<Value = FrameScript> {
    let actions = move || prop::collection::vec(action(), 0..=most);
    let deeds = move || prop::collection::vec((0..5u64, deed()), 0..=most);
    (
        time,
        actions(),
        actions(),
        0..4u64,
        deeds(),
        deeds(),
        prop::option::weighted(0.15, cut()),
    )
        .prop_map(
            |(time, between, within, at, before, after, cut)| FrameScript {
                time,
                between,
                within,
                at,
                before,
                after,
                cut,
            },
        )
}

/// A frame without actions, except for a setting now and then.
fn quiet(time: BoxedStrategy<Duration>) -> impl Strategy<Value = FrameScript> {
    (time, prop::option::weighted(0.3, setting())).prop_map(|(time, setting)| FrameScript {
        time,
        between: setting.into_iter().collect(),
        within: Vec::new(),
        at: 0,
        before: Vec::new(),
        after: Vec::new(),
        cut: None,
    })
}

/// A frame with a new rate.
fn other_rate() -> impl Strategy<Value = FrameScript> {
    (quiet(frame_time().boxed()), rate()).prop_map(|(mut frame, rate)| {
        frame.between.push(Action::Rate(rate));
        frame
    })
}

fn frames() -> impl Strategy<Value = Vec<FrameScript>> {
    let any = || frame_time().boxed();
    let display = || Just(FRAME_144).boxed();
    let mixed = prop_oneof![2 => quiet(any()), 2 => frame(1, any()), 1 => frame(3, any())];
    prop_oneof![
        4 => prop::collection::vec(mixed, 1..40),
        2 => prop::collection::vec(prop_oneof![3 => quiet(display()), 1 => frame(1, display())], 1..60),
        1 => prop::collection::vec(other_rate(), 1..40),
    ]
}

fn correction() -> impl Strategy<Value = Correction> {
    prop_oneof![
        2 => Just(Correction::OFF),
        1 => Just(Correction::default()),
        1 => (0..500u64).prop_map(|ms| Correction::linear(Duration::from_millis(ms))),
    ]
}

pub fn script() -> impl Strategy<Value = Script> {
    (correction(), smoothing(), rate(), 0.0..=1.0f32, frames()).prop_map(
        |(correction, smoothing, rate, slack, frames)| Script {
            correction,
            smoothing,
            rate,
            slack,
            frames,
        },
    )
}

impl FrameScript {
    pub fn empty() -> Self {
        Self {
            time: Duration::ZERO,
            between: Vec::new(),
            within: Vec::new(),
            at: 0,
            before: Vec::new(),
            after: Vec::new(),
            cut: None,
        }
    }
}
