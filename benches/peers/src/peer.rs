//! A physics world with its ECS, whose frames the benchmark runs.

use std::time::Duration;

use evenstep::rapier::math::Pose;

use crate::scene::Scene;
use crate::{avian, bare, evenstep_bevy, evenstep_hecs, rapier_plugin};

/// The step rate of every peer, in hertz.
pub const STEPS_PER_SECOND: u32 = 60;

/// Frames from one step to the next: the first has the step, the others have none.
pub const FRAMES_PER_STEP: u32 = 4;

/// The length of a measured frame: 1/240 s, rounded up, so that no step is a frame late.
pub const FRAME: Duration = Duration::from_nanos(4_166_667);

/// A kind of peer.
#[derive(Clone, Copy)]
pub struct Kind {
    /// The name in the report.
    pub name: &'static str,
    /// Whether its engine is Rapier, so that its frames contain Rapier's step.
    pub is_rapier: bool,
    /// Whether it displays poses between two states.
    pub interpolates: bool,
    /// Creates the peer with a scene.
    pub build: fn(Scene) -> Box<dyn Peer>,
}

/// Rapier's step in a loop, which all peers with Rapier have in common.
pub const BARE: Kind = Kind {
    name: "Rapier's bare step",
    is_rapier: true,
    interpolates: false,
    build: bare::build,
};

/// All peers. The others are compared with the first.
pub const KINDS: [Kind; 4] = [
    Kind {
        name: "evenstep in hecs",
        is_rapier: true,
        interpolates: true,
        build: evenstep_hecs::build,
    },
    Kind {
        name: "evenstep in Bevy",
        is_rapier: true,
        interpolates: true,
        build: evenstep_bevy::build,
    },
    Kind {
        name: "bevy_rapier",
        is_rapier: true,
        interpolates: true,
        build: rapier_plugin::build,
    },
    Kind {
        name: "avian",
        is_rapier: false,
        interpolates: true,
        build: avian::build,
    },
];

/// A physics world with its ECS. Bodies are numbered as in [`Scene::bodies`].
pub trait Peer {
    /// Runs a whole frame: the due steps, and the write of displayed poses into the ECS.
    fn frame(&mut self, time: Duration);

    /// Returns the number of steps in the last frame.
    fn steps(&self) -> u64;

    /// Returns how long the engine took in the last step, measured by a clock inside the frame, or `None` if there is
    /// no such clock.
    fn engine_time(&self) -> Option<Duration>;

    /// Returns the pose that a renderer finds after the last frame.
    fn shown(&self, body: usize) -> Pose;

    /// Returns the pose after the last step.
    fn state(&self, body: usize) -> Pose;

    /// Returns whether the engine has put the body to sleep.
    fn is_asleep(&self, body: usize) -> bool;
}
