//! Matches as bytes, for a move to another server.

use std::error::Error;
use std::time::Duration;

use evenstep::Simulation;

use crate::game::Game;
use crate::match_::{Id, Match, Settings};

/// Saves a match between two frames. The simulation's state has its own format. The game's state may use any other.
pub fn save(moving: &Match) -> Result<Vec<u8>, Box<dyn Error>> {
    let (simulation, game, settings) = moving.parts();
    let beside = serde_json::to_vec(&(moving.id, game, settings))?;
    let len = u32::try_from(beside.len())?.to_le_bytes();
    Ok([&len[..], &beside[..], &simulation.save()?[..]].concat())
}

/// Loads a match. No simulated time has passed since it was saved, and its next step is due within one period from
/// `now`.
pub fn load(bytes: &[u8], now: Duration) -> Result<Match, Box<dyn Error>> {
    let (len, rest) = bytes
        .split_first_chunk()
        .ok_or("the bytes have no length")?;
    let len = u32::from_le_bytes(*len) as usize;
    let (beside, state) = rest.split_at_checked(len).ok_or("too few bytes")?;
    let (id, game, settings): (Id, Game, Settings) = serde_json::from_slice(beside)?;
    let simulation = Simulation::load(state)?;
    Ok(Match::new(id, (simulation, game), settings, now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(playing: &mut Match, until: u64) {
        while playing.tick() < until {
            let due = playing.due();
            playing.play(|| due);
        }
    }

    #[test]
    fn a_match_goes_on_elsewhere_as_if_it_had_not_moved() {
        let settings = Settings {
            budget: Duration::MAX,
            length: 200,
        };
        let mut stays = Match::new(3, Game::new(40, 3, false), settings, Duration::ZERO);
        play(&mut stays, 100);
        let bytes = save(&stays).unwrap();
        let now = Duration::from_secs(5_000);
        let mut moved = load(&bytes, now).unwrap();
        assert_eq!((moved.id, moved.tick()), (3, 100));
        let waits = moved.due() - now;
        assert!(waits > Duration::ZERO && waits <= moved.period() + Duration::from_nanos(1));
        play(&mut stays, 200);
        play(&mut moved, 200);
        assert_eq!(moved.checksum(), stays.checksum());
        assert_eq!(moved.record.dropped.steps, 0);
    }

    #[test]
    fn bytes_that_are_none_are_refused() {
        for bytes in [&[][..], &[1, 0], &[200, 0, 0, 0, 1], &[0; 100]] {
            assert!(load(bytes, Duration::ZERO).is_err());
        }
    }
}
