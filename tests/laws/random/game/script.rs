//! The frames of a game. A script prints as Rust, so that a failed case can be read and pasted into a test.

use super::action::{self, Action, Fade, OnBody, OnWorld, Push};
use super::hosts::Kind;
use evenstep::{Simulation, Smoothing};
use proptest::prelude::*;
use std::fmt;
use std::time::Duration;

#[derive(Clone)]
pub struct Script {
    pub setup: Setup,
    pub frames: Vec<FrameScript>,
}

/// The settings with which a game starts.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub scene: Scene,
    pub hz: u32,
    pub smoothing: Smoothing,
    pub correction: Fade,
    /// The number of kept ticks, and every how many a state is kept.
    pub keep: u8,
    pub interval: u8,
    /// The slack of a thread, in quarters of a step.
    pub slack: u8,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scene {
    /// A floor, a platform, and bodies of each kind.
    Yard,
    /// Bodies that fly at constant velocities, without gravity and contacts.
    Space,
    /// A chain of joints, some of them links of a multibody.
    Chain,
    /// Balls in a box, with many events per step.
    Crowd,
}

#[derive(Clone)]
pub struct FrameScript {
    /// The frame's time in microseconds.
    pub micros: u32,
    pub acts: Vec<(When, Action)>,
}

/// When the game acts. The index of a step counts the new steps of the frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum When {
    /// Before the frame.
    Between,
    BeforeFrame,
    Before(u8),
    After(u8),
    /// Pushes a press for this moment of the frame, in 256ths of its time.
    Press(u8),
}

/// Returns a frame of this many microseconds.
pub fn frame(micros: u32, acts: impl Into<Vec<(When, Action)>>) -> FrameScript {
    let acts = acts.into();
    FrameScript { micros, acts }
}

impl FrameScript {
    pub fn time(&self) -> Duration {
        Duration::from_micros(self.micros.into())
    }

    /// Returns whether the logs cannot tell if a force that is added before the frame acts in it. A frame in a pause
    /// forgets forces, which a view does not show (`None`), nor whether they belong to the frames of a state that the
    /// game takes over. If a panic has left a step at hand, the frame drops it with its forces. After any panic of a hook
    /// (`None` too), they may belong to its step.
    pub fn hides_forces(&self, simulation: Option<&Simulation>) -> bool {
        let is_hidden = simulation.is_none_or(|it| it.physics.current_step().is_some());
        is_hidden || self.takes_over()
    }

    /// Returns whether the game takes over or renumbers a state before the frame.
    fn takes_over(&self) -> bool {
        self.acts.iter().any(|(when, action)| {
            matches!(when, When::Between | When::BeforeFrame)
                && matches!(
                    action,
                    Action::Value(_)
                        | Action::Past(_)
                        | Action::Whole(_)
                        | Action::HandOver(_)
                        | Action::Setting(action::Setting::Tick(_))
                )
        })
    }

    pub fn acts(&self, when: When) -> impl Iterator<Item = Action> {
        let acts = self.acts.iter().filter(move |(at, _)| *at == when);
        acts.map(|(_, action)| *action)
    }
}

impl fmt::Debug for FrameScript {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { micros, acts } = self;
        write!(f, "frame({micros}, {acts:?})")
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setup, frames } = self;
        writeln!(f, "Script {{\n    setup: {setup:?},\n    frames: vec![")?;
        for frame in frames {
            writeln!(f, "        {frame:?},")?;
        }
        write!(f, "    ],\n}}")
    }
}

/// Which actions a game may have, as weights.
#[derive(Clone, Copy)]
pub struct Weights {
    pub edits: u32,
    pub values: u32,
    pub settings: u32,
    pub past: u32,
    pub copies: u32,
    pub cuts: u32,
    pub hand_overs: u32,
}

pub const ALL: Weights = Weights {
    edits: 12,
    values: 2,
    settings: 5,
    past: 4,
    copies: 1,
    cuts: 2,
    hand_overs: 1,
};

/// No action changes what a step does, nor goes back in time.
#[allow(dead_code, reason = "the fuzzer plays other games")]
pub const PLAIN: Weights = Weights {
    values: 0,
    past: 0,
    copies: 0,
    cuts: 0,
    hand_overs: 0,
    ..ALL
};

/// Most actions go back in time.
#[allow(dead_code, reason = "the fuzzer plays other games")]
pub const BACK: Weights = Weights {
    edits: 1,
    values: 0,
    settings: 0,
    past: 20,
    copies: 0,
    cuts: 3,
    hand_overs: 1,
};

/// Returns one of the actions, or a useless one if the weights allow none.
fn between(of: Weights) -> BoxedStrategy<Action> {
    prop_oneof![
        1 => Just(Action::World(OnWorld::Score(0))),
        8 * of.edits => action::edit(),
        8 * of.values => action::value(),
        8 * of.settings => action::setting(),
        8 * of.past => action::past(),
        8 * of.copies => action::whole(),
        8 * of.hand_overs => Kind::any().prop_map(Action::HandOver),
        of.hand_overs => (1..100u8).prop_map(Action::Hide),
    ]
    .boxed()
}

/// Returns an action in a hook of a step.
fn within(of: Weights) -> BoxedStrategy<Action> {
    prop_oneof![
        1 => Just(Action::World(OnWorld::Score(1))),
        8 * of.edits => action::edit(),
        4 * of.values => action::value(),
        // The pull form alone can reach these there.
        2 * of.past => action::past(),
        2 * of.settings => action::setting(),
    ]
    .boxed()
}

/// Returns some actions at the same moment, because many faults need two there, or one and a failure.
fn burst(of: Weights) -> BoxedStrategy<Vec<(When, Action)>> {
    let hook = prop_oneof![
        3 => (0..4u8).prop_map(When::Before),
        2 => (0..4u8).prop_map(When::After),
    ];
    let some = |action: BoxedStrategy<Action>| {
        let several = prop::collection::vec(action.clone(), 2..4);
        prop_oneof![2 => action.prop_map(|action| vec![action]), 1 => several]
    };
    let before = between(of).prop_filter("a host has no hook for it", |action| {
        !matches!(action, Action::HandOver(_) | Action::Hide(_))
    });
    let end = prop_oneof![
        3 => Just(None),
        of.cuts => action::cut().prop_map(Some),
    ];
    let edits = (some(within(of)), end).prop_map(|(mut actions, end)| {
        actions.extend(end);
        actions
    });
    let press = (any::<u8>(), -60..60i8).prop_map(|(at, x)| {
        let push = Action::Body(0, OnBody::Push(Push::Impulse, x));
        (When::Press(at), vec![push])
    });
    prop_oneof![
        5 => some(between(of)).prop_map(|actions| (When::Between, actions)),
        2 => some(before.boxed()).prop_map(|actions| (When::BeforeFrame, actions)),
        5 => (hook, edits),
        2 => press,
    ]
    .prop_map(|(when, actions)| actions.into_iter().map(|action| (when, action)).collect())
    .boxed()
}

fn micros() -> BoxedStrategy<u32> {
    prop_oneof![
        8 => 2_000..40_000u32,
        2 => Just(6_944),
        2 => (1..6u32).prop_map(|steps| 10_000 * steps),
        1 => 0..300_000u32,
        1 => Just(0),
    ]
    .boxed()
}

fn frames(of: Weights) -> BoxedStrategy<Vec<FrameScript>> {
    let acts = prop_oneof![
        2 => Just(Vec::new()),
        3 => burst(of),
        1 => prop::collection::vec(burst(of), 2..5).prop_map(|bursts| bursts.concat()),
    ];
    let frame = (micros(), acts).prop_map(|(micros, acts)| FrameScript { micros, acts });
    prop::collection::vec(frame, 1..40).boxed()
}

fn setup() -> BoxedStrategy<Setup> {
    let scene = prop_oneof![
        4 => Just(Scene::Yard),
        3 => Just(Scene::Space),
        1 => Just(Scene::Chain),
        2 => Just(Scene::Crowd),
    ];
    (
        scene,
        prop::sample::select(&[100, 100, 60, 30, 240][..]),
        action::smoothing(),
        action::fade(),
        prop_oneof![Just(0u8), Just(20), Just(40)],
        0..4u8,
        0..5u8,
    )
        .prop_map(
            |(scene, hz, smoothing, correction, keep, interval, slack)| Setup {
                scene,
                hz,
                smoothing,
                correction,
                keep,
                interval,
                slack,
            },
        )
        .boxed()
}

/// Returns random games.
pub fn script(of: Weights) -> BoxedStrategy<Script> {
    (setup(), frames(of))
        .prop_map(|(setup, frames)| Script { setup, frames })
        .boxed()
}

/// Returns games of a crowd that go back in time in many frames.
#[allow(dead_code, reason = "the fuzzer plays other games")]
pub fn rollbacks() -> BoxedStrategy<Script> {
    (setup(), frames(BACK))
        .prop_map(|(setup, frames)| Script {
            setup: Setup {
                scene: Scene::Crowd,
                keep: 40,
                ..setup
            },
            frames,
        })
        .boxed()
}
