//! Random games: commands, hooks that fail, frames at any time, and physics that is late.

// The game with its laws.
mod game;
// Commands and hooks.
mod player;
// A renderer of the data of frames.
#[path = "../../../../../tests/scenes/renderer.rs"]
mod renderer;

use super::*;
use crate::Stepping;
use crate::dim::testing::{about_z, rotation_numbers, spin, spin_numbers, translation, vector};
use crate::time::Dropped;
use game::{Action, Game};
use player::Command;

fn wait() -> impl Strategy<Value = Action> {
    let micros = prop_oneof![
        8 => 0..40_000u64,
        4 => (0..5u64).prop_map(|steps| 10_000 * steps),
        1 => 100_000..500_000u64,
    ];
    micros.prop_map(|micros| Action::Wait(Duration::from_micros(micros)))
}

fn clock_command() -> impl Strategy<Value = Command> {
    const SPEEDS: &[f64] = &[0.0, 0.001, 0.1, 0.3, 0.5, 1.0, 1.0, 1.7, 4.0];
    const STEPPINGS: &[Stepping] = &[
        Stepping::Fixed,
        Stepping::Variable,
        Stepping::SemiFixed,
        Stepping::FrameLocked,
    ];
    prop_oneof![
        1 => Just(Command::Pause),
        2 => Just(Command::Resume),
        1 => Just(Command::StepOnce),
        2 => prop::sample::select(SPEEDS).prop_map(Command::Speed),
        1 => prop::sample::select(&[50, 100, 100, 125][..]).prop_map(Command::Rate),
        1 => (0..200u64).prop_map(Command::Tick),
        1 => prop::sample::select(STEPPINGS).prop_map(Command::SetStepping),
        1 => any::<bool>().prop_map(Command::LetFail),
    ]
}

fn body_command() -> impl Strategy<Value = Command> {
    let any_body = any::<u32>().prop_map(u64::from);
    prop_oneof![
        any_body.clone().prop_map(Command::Push),
        any_body.clone().prop_map(Command::Velocity),
        any_body.clone().prop_map(Command::Teleport),
        any_body.clone().prop_map(Command::Insert),
        any_body.prop_map(Command::Remove),
        (-20..20i8).prop_map(|x| Command::ShiftOrigin(x.into())),
    ]
}

fn past_command() -> impl Strategy<Value = Command> {
    prop_oneof![
        1 => (0..12u64).prop_map(Command::Rewind),
        1 => (0..12u64).prop_map(Command::RollBack),
        1 => (0..12u64).prop_map(Command::Resimulate),
        1 => Just(Command::Correct),
        2 => Just(Command::Keep),
        1 => Just(Command::ReplaceState),
        1 => Just(Command::ReplaceAll),
    ]
}

fn actions(
    commands: impl Strategy<Value = Command> + 'static,
) -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        8 => wait(),
        6 => commands.prop_map(Action::Send),
        8 => Just(Action::Frame),
        3 => Just(Action::Late),
        4 => Just(Action::InTime),
        1 => Just(Action::Restart),
    ];
    prop::collection::vec(action, 20..150)
}

fn check_game(seed: u64, actions: Vec<Action>) {
    let mut game = Game::new(seed);
    for action in actions {
        game.play(action);
    }
    game.end();
    game.check_against_one_thread();
}

proptest! {
    #![proptest_config(crate::testing::random(20))]

    #[test]
    fn random_clock_commands_on_a_late_thread_keep_every_law(
        seed in any::<u16>(),
        actions in actions(clock_command()),
    ) {
        check_game(seed.into(), actions);
    }

    #[test]
    fn random_body_commands_on_a_late_thread_keep_every_law(
        seed in any::<u16>(),
        actions in actions(prop_oneof![3 => body_command(), 1 => clock_command()]),
    ) {
        check_game(seed.into(), actions);
    }

    #[test]
    fn random_rewinds_and_state_changes_on_a_late_thread_keep_every_law(
        seed in any::<u16>(),
        actions in actions(prop_oneof![past_command(), past_command(), body_command(), clock_command()]),
    ) {
        check_game(seed.into(), actions);
    }
}

#[test]
fn an_assigned_state_is_interpolated_over_the_length_of_its_own_step() {
    let actions = [
        Action::Wait(MS(10)),
        Action::Late,
        Action::Send(Command::Keep),
        Action::Send(Command::Rate(125)),
        Action::Late,
        Action::Wait(Duration::from_micros(10_625)),
        Action::Late,
        Action::Send(Command::ReplaceState),
        Action::Restart,
        Action::Send(Command::Rewind(0)),
        Action::Frame,
    ];
    check_game(0, actions.to_vec());
}

/// No state is sent until the rollback is over, which is after the new runner has begun.
#[test]
fn a_runner_restarted_during_a_rollback_continues_from_the_displayed_poses() {
    let actions = [
        Action::Wait(Duration::from_micros(30_001)),
        Action::Late,
        Action::Send(Command::RollBack(3)),
        Action::Send(Command::Pause),
        Action::Wait(MS(10)),
        Action::Frame,
        Action::Restart,
        Action::Wait(Duration::from_micros(1)),
        Action::Send(Command::RollBack(0)),
        Action::Late,
        Action::Frame,
    ];
    check_game(3310, actions.to_vec());
}

#[test]
fn a_restarted_view_without_a_state_does_not_repeat_an_origin_shift() {
    let actions = [
        Action::Wait(MS(80)),
        Action::Send(Command::ShiftOrigin(-1.0)),
        Action::InTime,
        Action::Wait(MS(15)),
        Action::Late,
        Action::Frame,
        Action::Send(Command::RollBack(1)),
        Action::Restart,
        Action::Frame,
    ];
    check_game(2, actions.to_vec());
}

#[test]
fn render_data_uploads_each_path_to_an_edited_state() {
    let actions = [
        Action::Send(Command::Insert(0)),
        Action::Send(Command::Insert(24)),
        Action::Wait(MS(42)),
        Action::InTime,
        Action::Send(Command::Pause),
        Action::InTime,
        Action::Send(Command::Velocity(64)),
        Action::Late,
        Action::Frame,
        Action::Send(Command::Remove(0)),
        Action::Late,
        Action::Frame,
    ];
    check_game(0, actions.to_vec());
}

/// The rewind and the next step are handed over as one state, so no state from between them replaces the abandoned one.
#[test]
fn a_view_drops_a_rewound_state_in_the_middle_of_the_new_step() {
    let us = |us| Action::Wait(Duration::from_micros(us));
    let actions = [
        us(11_844),
        Action::Late,
        us(10_295),
        Action::Send(Command::Rate(50)),
        Action::Send(Command::Rewind(1)),
        Action::Send(Command::Insert(0)),
        Action::Late,
        us(17_862),
        Action::Late,
        Action::Send(Command::Rewind(0)),
        Action::Frame,
    ];
    check_game(7364, actions.to_vec());
}
