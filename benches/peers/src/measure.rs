//! Runs all peers in turn, frame by frame, so that disturbances of the machine affect all of them alike.

use std::time::Instant;

use crate::check::{check, check_sleep, settle, steps_due};
use crate::peer::{BARE, FRAME, FRAMES_PER_STEP, KINDS, Kind, Peer};
use crate::scene::Scene;

/// The result of a run of one scene. The samples of all peers come from the same rounds, in the same order.
pub struct Run {
    /// The scene.
    pub scene: Scene,
    /// Rapier's bare step. It is timed, but displays nothing.
    pub bare: Vec<Sample>,
    /// All peers, in the order of [`KINDS`].
    pub peers: Vec<Measured>,
}

/// The result of one peer.
pub struct Measured {
    /// The peer.
    pub kind: Kind,
    /// The samples with the whole scene.
    pub full: Vec<Sample>,
    /// The samples with one sleeping body, which are the fixed cost of a frame.
    pub one: Vec<Sample>,
}

/// The times of one round, which has the frames of two steps. Each is a mean, in nanoseconds.
#[derive(Clone, Copy, Default)]
pub struct Sample {
    /// The time of a frame without a step.
    pub without_a_step: f64,
    /// The time of a frame with one step.
    pub with_a_step: f64,
    /// The engine's part of a frame with one step, for peers with a clock inside.
    pub engine: Option<f64>,
}

/// Runs all peers for a number of rounds.
///
/// The order of the peers is reversed after each step, so that no peer always finds the caches as the same peer left
/// them.
///
/// # Panics
/// If a peer fails its checks before or after the measurement.
#[must_use]
pub fn measure(scene: Scene, rounds: usize) -> Run {
    let full = KINDS.map(|kind| Entrant::new(kind, scene));
    let one = KINDS.map(|kind| Entrant::new(kind, Scene::ONE));
    let mut entrants = vec![Entrant::new(BARE, scene)];
    entrants.extend(full.into_iter().chain(one));
    entrants.iter_mut().for_each(Entrant::check);
    for _ in 0..rounds {
        round(&mut entrants);
    }
    entrants.iter_mut().for_each(Entrant::check);
    Run::new(scene, entrants)
}

fn round(entrants: &mut [Entrant]) {
    for entrant in &mut *entrants {
        entrant.samples.push(Sample::default());
    }
    for _ in 0..2 {
        for frame in 0..FRAMES_PER_STEP {
            for entrant in &mut *entrants {
                entrant.frame(steps_due(frame));
            }
        }
        entrants.reverse();
    }
}

impl Run {
    fn new(scene: Scene, entrants: Vec<Entrant>) -> Self {
        let mut samples = entrants.into_iter().map(|entrant| entrant.samples);
        let bare = samples.next().unwrap_or_default();
        let full: Vec<_> = samples.by_ref().take(KINDS.len()).collect();
        let peers = KINDS.into_iter().zip(full).zip(samples);
        Self {
            scene,
            bare,
            peers: peers
                .map(|((kind, full), one)| Measured { kind, full, one })
                .collect(),
        }
    }
}

/// A peer with a scene, and its times.
struct Entrant {
    kind: Kind,
    scene: Scene,
    peer: Box<dyn Peer>,
    samples: Vec<Sample>,
}

impl Entrant {
    fn new(kind: Kind, scene: Scene) -> Self {
        let mut peer = (kind.build)(scene);
        settle(&mut *peer);
        Self {
            kind,
            scene,
            peer,
            samples: Vec::new(),
        }
    }

    fn check(&mut self) {
        println!("checking {} with {:?}", self.kind.name, self.scene);
        if self.kind.interpolates {
            check(&mut *self.peer, self.scene);
        } else {
            check_sleep(&*self.peer, self.scene);
        }
    }

    fn frame(&mut self, steps_due: u64) {
        let start = Instant::now();
        self.peer.frame(FRAME);
        let time = start.elapsed().as_secs_f64() * 1e9;
        assert_eq!(self.peer.steps(), steps_due, "steps of {}", self.kind.name);
        let sample = self.samples.last_mut().expect("the round has a sample");
        if steps_due == 0 {
            sample.without_a_step += time / f64::from(2 * (FRAMES_PER_STEP - 1));
        } else {
            sample.with_a_step += time / 2.0;
            sample.engine = self
                .peer
                .engine_time()
                .map(|time| sample.engine.unwrap_or(0.0) + time.as_secs_f64() * 1e9 / 2.0);
        }
    }
}
