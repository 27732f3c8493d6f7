//! What all five have in common: frames in, an outcome out.

use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Frame, Simulation};

use crate::game::Game;

/// The game in one ECS.
pub trait Host {
    /// Runs a frame of this length.
    fn frame(&mut self, time: Duration);

    /// After a panic that went through [`frame`](Self::frame): mends the ECS, where it needs that.
    fn recover(&mut self) {}

    /// Between two frames: goes back by so many steps, which the next frame makes again.
    fn roll_back(&mut self, ticks: u64);

    /// What there is now.
    fn outcome(&self) -> Outcome;
}

/// An ECS: its name, its game, and the source of its glue.
#[derive(Clone, Copy)]
pub struct Ecs {
    pub name: &'static str,
    pub start: fn(Game) -> Box<dyn Host>,
    pub glue: &'static str,
}

/// All five of them.
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
    /// The lines of its glue that are neither empty nor comments.
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

/// The frames of a run of this length at `fps` frames a second. Once a second no frame ends for a tenth of a
/// second, and the one after it is as long: it has several steps.
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

/// What is left of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the last frame did; its tick is the number of steps since the level began.
    pub frame: Frame,
    /// Of every bit of every body.
    pub hash: u64,
    /// The entities by their number, each with its body.
    pub entities: Vec<(u32, Option<BodyKey>)>,
    /// Where each body is shown that has a key.
    pub shown: Vec<(BodyKey, Pose)>,
    /// What the entities have for that.
    pub render_poses: Vec<(BodyKey, Pose)>,
}

impl Outcome {
    /// `entities`: the number of each, its body, and its render pose.
    pub fn of(
        simulation: &Simulation,
        entities: impl Iterator<Item = (u32, Option<BodyKey>, Option<Pose>)>,
    ) -> Self {
        let mut entities: Vec<_> = entities.collect();
        entities.sort_by_key(|(number, ..)| *number);
        let with_pose = |(_, key, pose): &(_, Option<BodyKey>, Option<Pose>)| {
            assert_eq!(key.is_some(), pose.is_some(), "a body has a pose");
            key.zip(*pose)
        };
        let mut render_poses: Vec<_> = entities.iter().filter_map(with_pose).collect();
        let shown = simulation
            .physics
            .bodies()
            .map(|(key, _)| (key, simulation.pose(key).expect("it lives")));
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
