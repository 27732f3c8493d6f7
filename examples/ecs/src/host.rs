//! The common interface of the five games. It takes frames and returns an outcome.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Frame, Simulation};

use crate::game::Game;

/// The game in one ECS.
pub trait Host {
    /// Runs a frame of this length.
    fn frame(&mut self, time: Duration);

    /// Repairs the ECS, if necessary, after a panic in [`frame`](Self::frame).
    fn recover(&mut self) {}

    /// Goes back by `ticks` steps between two frames. The next frame simulates them again.
    fn roll_back(&mut self, ticks: u64);

    /// Returns the present state of the game.
    fn outcome(&self) -> Outcome;
}

/// An ECS: its name, its game, and the source of its glue.
#[derive(Clone, Copy)]
pub struct Ecs {
    pub name: &'static str,
    pub start: fn(Game) -> Box<dyn Host>,
    pub glue: &'static str,
}

/// All five ECSs.
pub const ALL: [Ecs; 5] = [
    Ecs {
        name: "bevy_ecs",
        start: crate::bevy::start,
        glue: include_str!("bevy/glue.rs"),
    },
    Ecs {
        name: "shipyard",
        start: crate::shipyard::start,
        glue: include_str!("shipyard/glue.rs"),
    },
    Ecs {
        name: "specs",
        start: crate::specs::start,
        glue: include_str!("specs/glue.rs"),
    },
    Ecs {
        name: "hecs",
        start: crate::hecs::start,
        glue: include_str!("hecs/glue.rs"),
    },
    Ecs {
        name: "custom",
        start: crate::custom::start,
        glue: include_str!("custom/glue.rs"),
    },
];

impl Ecs {
    /// Returns the number of lines of the glue that are neither empty nor comments.
    pub fn glue_lines(&self) -> usize {
        let lines = self.glue.lines().map(str::trim_start);
        lines
            .filter(|line| !line.is_empty() && !line.starts_with("//"))
            .count()
    }

    /// Runs the game through these frames.
    pub fn play(&self, frames: &[Duration]) -> Outcome {
        let mut host = (self.start)(Game::new(None));
        for time in frames {
            host.frame(*time);
        }
        host.outcome()
    }
}

/// Returns the frame times of a run of this length at `fps` frames per second. Once per second no frame ends for 0.1 s,
/// so the next frame has several steps.
pub fn frames(fps: u64, length: Duration) -> Vec<Duration> {
    let in_hitch = |end: &Duration| (440..540).contains(&(end.as_millis() % 1_000));
    let mut last = Duration::ZERO;
    (1..)
        .map(|i| Duration::from_nanos(i * 1_000_000_000 / fps))
        .take_while(|end| *end < length)
        .filter(|end| !in_hitch(end))
        .chain([length])
        .map(|end| end - std::mem::replace(&mut last, end))
        .collect()
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The last frame. Its tick is the number of steps since the level began.
    pub frame: Frame,
    /// A hash of every bit of every body.
    pub hash: u64,
    /// The entities by their number, each with its body.
    pub entities: Vec<(u32, Option<BodyKey>)>,
    /// The displayed pose of each body, by key.
    pub shown: Vec<(BodyKey, Pose)>,
    /// The same poses, from the components of the entities.
    pub render_poses: Vec<(BodyKey, Pose)>,
}

impl Outcome {
    /// Collects the outcome. `entities` gives the number of each entity, its body and its render pose.
    pub fn of(
        simulation: &Simulation,
        entities: impl Iterator<Item = (u32, Option<BodyKey>, Option<Pose>)>,
    ) -> Self {
        let mut entities: Vec<_> = entities.collect();
        entities.sort_by_key(|(number, ..)| *number);
        let with_pose = |(_, key, pose): &(_, Option<BodyKey>, Option<Pose>)| {
            assert_eq!(
                key.is_some(),
                pose.is_some(),
                "an entity must have a pose if and only if it has a body"
            );
            key.zip(*pose)
        };
        let mut render_poses: Vec<_> = entities.iter().filter_map(with_pose).collect();
        let shown = simulation
            .physics
            .bodies()
            .map(|(key, _)| (key, simulation.pose(key).unwrap()));
        let mut shown: Vec<_> = shown.collect();
        for poses in [&mut render_poses, &mut shown] {
            poses.sort_by_key(|(key, _)| *key);
        }
        Self {
            frame: simulation.frame(),
            hash: simulation.physics.checksum(),
            entities: entities
                .into_iter()
                .map(|(number, key, _)| (number, key))
                .collect(),
            shown,
            render_poses,
        }
    }
}
