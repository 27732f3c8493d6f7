//! The replay: both halves' recordings are replayed and checked, and can be viewed frame by frame.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use evenstep::rapier::math::{Pose, Vector};
use evenstep::recording::{Divergence, Recording, Replay};
use evenstep::{Physics, Simulation};

use crate::game::{Game, Input};
use crate::shown::{Looks, Shown, look, wheels};
use crate::tape::{Checks, Tape};

/// An error of a replay.
type Failure = Box<dyn Error>;

/// A frame of a recording, as it was displayed.
#[derive(Clone, Debug)]
pub struct Still {
    /// The tick of the next step.
    pub tick: u64,
    /// The number of steps in the frame.
    pub steps: u64,
    /// The displayed state.
    pub shown: Shown,
}

/// The replayed recording of one half.
pub struct Film {
    /// Its frames.
    pub stills: Vec<Still>,
    /// All bodies that existed in any of the frames.
    pub looks: Looks,
    /// Where the replay differs from the recording.
    pub differences: Vec<Divergence>,
    bytes: Vec<u8>,
    checks: Checks,
}

/// The films of both halves, and the position in them.
pub struct Screening {
    films: [Option<Film>; 2],
    /// The displayed frame.
    pub frame: usize,
    /// Whether the replay plays.
    pub is_playing: bool,
    /// The ticks after which the bits of the two halves differ.
    apart: BTreeSet<u64>,
}

impl Film {
    fn new(bytes: Vec<u8>, checks: Checks, nudge: Option<u64>) -> Result<Self, Failure> {
        let recording = Recording::read(&bytes)?;
        let mut film = Self {
            stills: Vec::new(),
            looks: Looks::new(),
            differences: Vec::new(),
            bytes: Vec::new(),
            checks,
        };
        let mut replay = recording.replay();
        while let Some((mut simulation, mut game)) = replay.next_run::<Game>()? {
            while film.add_frame(&mut replay, &mut simulation, &mut game, nudge)? {}
        }
        film.differences = replay.differences().to_vec();
        film.bytes = bytes;
        Ok(film)
    }

    /// Adds a frame. Returns whether there was a frame to play.
    fn add_frame(
        &mut self,
        replay: &mut Replay<'_>,
        simulation: &mut Simulation,
        game: &mut Game,
        nudge: Option<u64>,
    ) -> Result<bool, Failure> {
        let Some(frame_time) = replay.begin_frame(simulation)? else {
            return Ok(false);
        };
        simulation.begin_frame(frame_time);
        while let Some(step) = simulation.next_step() {
            let Some(input) = replay.input::<Input>(step)? else {
                break;
            };
            game.step(&mut simulation.physics, step, &input);
            if nudge == Some(step.tick) {
                nudge_body(&mut simulation.physics, game);
            }
            simulation.run_step();
            replay.end_step(&mut simulation.physics)?;
        }
        let frame = simulation.end_frame();
        let shown = self.shown(simulation, game);
        self.stills.push(Still {
            tick: frame.tick,
            steps: frame.steps,
            shown,
        });
        Ok(true)
    }

    fn shown(&mut self, simulation: &Simulation, game: &Game) -> Shown {
        let mut looks = Looks::new();
        look(&simulation.physics, &mut looks);
        let keys = looks.keys();
        let poses: BTreeMap<_, Pose> = keys
            .filter_map(|key| Some((*key, simulation.pose(*key)?)))
            .collect();
        self.looks.append(&mut looks);
        Shown {
            wheels: wheels(game, poses.get(&game.cast.followed)),
            poses,
            origin: game.origin(),
        }
    }
}

/// Changes a run by the smallest possible amount, which the comparison must detect.
fn nudge_body(physics: &mut Physics, game: &Game) {
    if let Some(body) = physics.body_mut(game.cast.followed) {
        let velocity = body.linvel();
        let nudged = Vector::new(velocity.x + 1e-4, velocity.y, velocity.z);
        body.set_linvel(nudged, true);
    }
}

impl Screening {
    /// Replays recordings. A half on another thread has no recording.
    ///
    /// # Errors
    /// If a recording failed or cannot be replayed.
    pub fn new(tapes: [Option<Tape>; 2]) -> Result<Self, Failure> {
        let film = |tape: Option<Tape>| {
            let Some(tape) = tape else {
                return Ok::<_, Failure>(None);
            };
            let (bytes, checks) = tape.finish()?;
            Film::new(bytes, checks, None).map(Some)
        };
        let [left, right] = tapes;
        let films = [film(left)?, film(right)?];
        if films.iter().all(Option::is_none) {
            return Err("nothing was recorded, because a half on a thread cannot be".into());
        }
        Ok(Self {
            apart: apart(&films),
            films,
            frame: 0,
            is_playing: true,
        })
    }

    /// Replays both halves after pushing a body by 0.1 mm/s in the step after the displayed frame, to demonstrate the
    /// detection.
    ///
    /// # Errors
    /// If a recording cannot be replayed.
    pub fn nudge(&mut self) -> Result<(), Failure> {
        for film in &mut self.films {
            if let Some(Film {
                stills,
                bytes,
                checks,
                ..
            }) = film.take()
            {
                let tick = stills.get(self.frame).map(|still| still.tick);
                *film = Some(Film::new(bytes, checks, tick)?);
            }
        }
        Ok(())
    }

    /// Returns a half's film, or `None` if it was not recorded.
    #[must_use]
    pub fn film(&self, side: usize) -> Option<&Film> {
        self.films[side].as_ref()
    }

    /// Returns what a half displays in the present frame.
    #[must_use]
    pub fn still(&self, side: usize) -> Option<(&Looks, &Still)> {
        let film = self.film(side)?;
        Some((&film.looks, film.stills.get(self.frame)?))
    }

    /// Returns the number of frames.
    #[must_use]
    pub fn frames(&self) -> usize {
        let films = self.films.iter().flatten();
        films.map(|film| film.stills.len()).max().unwrap_or(0)
    }

    /// Returns whether the bits of the two halves differ after a step of that frame.
    #[must_use]
    pub fn is_apart(&self, frame: usize) -> bool {
        let stills = self
            .films
            .iter()
            .flatten()
            .filter_map(|film| film.stills.get(frame));
        stills.into_iter().any(|still| {
            let first = still.tick.saturating_sub(still.steps);
            self.apart.range(first..still.tick).next().is_some()
        })
    }

    /// Returns whether a half's replay differs from its recording in that frame.
    #[must_use]
    pub fn differs(&self, side: usize, frame: usize) -> bool {
        let Some(film) = self.film(side) else {
            return false;
        };
        let Some(still) = film.stills.get(frame) else {
            return false;
        };
        let first = still.tick.saturating_sub(still.steps);
        (film.differences.iter()).any(|one| one.tick < still.tick && first <= one.last_tick)
    }

    /// Returns the number of the displayed frame, from 1 on, and its last tick, as text.
    #[must_use]
    pub fn place(&self) -> String {
        let (frame, frames) = (self.frame + 1, self.frames());
        let still = self.still(0).or_else(|| self.still(1));
        let tick = still.map_or(0, |(_, still)| still.tick);
        format!("frame {frame} of {frames}, tick {tick}")
    }

    /// Pauses at the displayed frame, or plays, from the first frame if it was at the last.
    pub fn pause(&mut self) {
        self.is_playing = !self.is_playing;
        if self.is_playing && self.frame + 1 >= self.frames() {
            self.frame = 0;
        }
    }

    /// Goes to a frame and pauses there. Numbers beyond the end mean the last frame.
    pub fn go_to(&mut self, frame: usize) {
        self.is_playing = false;
        self.frame = frame.min(self.frames().saturating_sub(1));
    }

    /// Continues by a frame, if the replay plays.
    pub fn advance(&mut self) {
        if self.is_playing {
            self.go_to(self.frame + 1);
            self.is_playing = self.frame + 1 < self.frames();
        }
    }
}

/// Returns the ticks after which a body has different bits in the two halves, or exists in only one.
fn apart(films: &[Option<Film>; 2]) -> BTreeSet<u64> {
    let [Some(left), Some(right)] = films else {
        return BTreeSet::new();
    };
    let both = left
        .checks
        .iter()
        .filter(|(tick, _)| right.checks.contains_key(tick));
    both.filter(|(tick, bodies)| right.checks[tick] != **bodies)
        .map(|(tick, _)| *tick)
        .collect()
}
