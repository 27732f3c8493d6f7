//! The moves of a random game. Each number picks one of the present loops, states or bodies, so every move is possible
//! at any moment.

use evenstep::Stepping;
use proptest::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// `advance`, with a closure.
    Closure,
    /// `advance_with`.
    Hooks,
    /// `begin_frame`, `next_step`, `run_step` and `end_frame`.
    Pull,
    Overlap,
}

#[derive(Clone, Copy, Debug)]
pub enum Move {
    /// Runs a frame of this many milliseconds in a loop.
    Frame(u8, u8),
    /// Runs a part of a frame in a pull loop, which leaves the frame open. Other loops run a whole frame.
    Part(u8, Part),
    /// Acts in a loop between two frames, or between two parts of a frame.
    Act(u8, Action),
    /// Acts in the next hook of this kind.
    Plan(u8, When, Action),
    /// Runs frames until a picture on a thread displays the state.
    Rest(u8),
}

#[derive(Clone, Copy, Debug)]
pub enum Part {
    Begin(u8),
    /// Receives the next step.
    Next,
    /// Runs the current step.
    Run,
    End,
}

#[derive(Clone, Copy, Debug)]
pub enum When {
    BeforeFrame,
    BeforeStep,
    AfterStep,
}

#[derive(Clone, Copy, Debug)]
pub enum Action {
    // These need only the state, so every hook can do them.
    Edit(Edit),
    /// Takes the state, edits it, and returns it.
    TakeAndReturn(Edit),
    /// Exchanges states with another loop, runs a frame of that loop, and takes the state back.
    Lend(u8, u8),
    /// Exchanges states with another loop.
    Swap(u8),
    /// Copies the state to the shelf.
    Copy,
    /// Saves the state, and adds the loaded one to the shelf.
    Save,
    /// Exchanges the state for one on the shelf.
    Exchange(u8),
    /// Assigns a copy of a state on the shelf.
    Assign(u8),
    /// Runs a frame of another loop.
    Frame(u8, u8),
    PauseAfterStep,
    Fail,
    Panic,
    // These need the simulation.
    Set(Setting),
    RollBack(u8),
    Resimulate(u8),
    Rewind(u8),
    /// Rolls back to the tick of a state on the shelf, and corrects the state there.
    Correct(u8),
    /// Copies the simulation.
    CopyAll,
    /// Saves the simulation, and keeps the loaded one.
    SaveAll,
    /// Exchanges simulations with another loop.
    SwapAll(u8),
    /// Exchanges the simulation for a kept copy.
    ExchangeAll(u8),
}

#[derive(Clone, Copy, Debug)]
pub enum Edit {
    Insert(u8),
    Remove(u8),
    RemoveThroughRapier(u8),
    Teleport(u8),
    Push(u8),
    ShowFrom(u8),
    /// Displays a body at the latest state, or no longer.
    Latest(u8, bool),
    ShiftOrigin(i8),
}

#[derive(Clone, Copy, Debug)]
pub enum Setting {
    Pause,
    Resume,
    StepOnce,
    Hz(u32),
    /// The speed, times two.
    Speed(u8),
    Stepping(Stepping),
    /// Whether corrections are displayed smoothly.
    Smooth(bool),
    /// Whether corrections end after this time in milliseconds.
    Linear(u8),
    Tick(u8),
    /// The overstep in milliseconds.
    Overstep(u8),
    MaxSteps(Option<u32>),
    Keep(u64),
}

fn edit() -> impl Strategy<Value = Edit> {
    let body = || 0..16u8;
    prop_oneof![
        4 => (0..8u8).prop_map(Edit::Insert),
        3 => body().prop_map(Edit::Remove),
        1 => body().prop_map(Edit::RemoveThroughRapier),
        2 => body().prop_map(Edit::Teleport),
        2 => body().prop_map(Edit::Push),
        3 => body().prop_map(Edit::ShowFrom),
        1 => (body(), any::<bool>()).prop_map(|(number, is_latest)| Edit::Latest(number, is_latest)),
        1 => (-9..9i8).prop_map(Edit::ShiftOrigin),
    ]
}

fn setting() -> impl Strategy<Value = Setting> {
    const STEPPINGS: &[Stepping] = &[
        Stepping::Fixed,
        Stepping::Fixed,
        Stepping::Variable,
        Stepping::FrameLocked,
    ];
    prop_oneof![
        2 => Just(Setting::Pause),
        5 => Just(Setting::Resume),
        3 => Just(Setting::StepOnce),
        2 => prop::sample::select(&[50, 100, 125, 200][..]).prop_map(Setting::Hz),
        2 => prop::sample::select(&[0, 1, 2, 2, 4][..]).prop_map(Setting::Speed),
        2 => prop::sample::select(STEPPINGS).prop_map(Setting::Stepping),
        1 => any::<bool>().prop_map(Setting::Smooth),
        1 => (0..90u8).prop_map(Setting::Linear),
        2 => (0..30u8).prop_map(Setting::Tick),
        1 => (0..5u8).prop_map(Setting::Overstep),
        1 => prop::option::of(1..4u32).prop_map(Setting::MaxSteps),
        2 => prop::sample::select(&[0, 3, 30][..]).prop_map(Setting::Keep),
    ]
}

fn on_state() -> impl Strategy<Value = Action> {
    let any = || 0..12u8;
    let ms = || 0..30u8;
    prop_oneof![
        6 => edit().prop_map(Action::Edit),
        2 => edit().prop_map(Action::TakeAndReturn),
        4 => (any(), ms()).prop_map(|(other, ms)| Action::Lend(other, ms)),
        4 => any().prop_map(Action::Swap),
        3 => Just(Action::Copy),
        1 => Just(Action::Save),
        4 => any().prop_map(Action::Exchange),
        4 => any().prop_map(Action::Assign),
        3 => (any(), ms()).prop_map(|(other, ms)| Action::Frame(other, ms)),
        2 => Just(Action::PauseAfterStep),
        1 => Just(Action::Fail),
        1 => Just(Action::Panic),
    ]
}

fn on_simulation() -> impl Strategy<Value = Action> {
    let any = || 0..12u8;
    prop_oneof![
        8 => setting().prop_map(Action::Set),
        4 => (0..8u8).prop_map(Action::RollBack),
        2 => (0..8u8).prop_map(Action::Resimulate),
        2 => (0..8u8).prop_map(Action::Rewind),
        4 => any().prop_map(Action::Correct),
        3 => Just(Action::CopyAll),
        1 => Just(Action::SaveAll),
        2 => any().prop_map(Action::SwapAll),
        3 => any().prop_map(Action::ExchangeAll),
    ]
}

fn planned() -> impl Strategy<Value = (When, Action)> {
    prop_oneof![
        1 => (Just(When::BeforeFrame), prop_oneof![on_state(), on_simulation()]),
        2 => (Just(When::BeforeStep), on_state()),
        2 => (Just(When::AfterStep), on_state()),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        2 => (0..40u8).prop_map(Part::Begin),
        4 => Just(Part::Next),
        4 => Just(Part::Run),
        1 => Just(Part::End),
    ]
}

fn a_move() -> impl Strategy<Value = Move> {
    let of = || 0..12u8;
    let act = prop_oneof![on_state(), on_simulation()];
    prop_oneof![
        10 => (of(), 0..40u8).prop_map(|(of, ms)| Move::Frame(of, ms)),
        6 => (of(), part()).prop_map(|(of, part)| Move::Part(of, part)),
        14 => (of(), act).prop_map(|(of, action)| Move::Act(of, action)),
        8 => (of(), planned()).prop_map(|(of, (when, action))| Move::Plan(of, when, action)),
        1 => of().prop_map(Move::Rest),
    ]
}

/// Returns the kinds of one or two loops, and the moves of a game in which they exchange values with another loop.
pub fn game() -> impl Strategy<Value = (Vec<Kind>, Vec<Move>)> {
    let kinds = [Kind::Closure, Kind::Hooks, Kind::Pull, Kind::Overlap];
    let others = prop::collection::vec(prop::sample::select(kinds.to_vec()), 1..3);
    (others, prop::collection::vec(a_move(), 1..70))
}
