//! States as bytes, and as a document of serde.

use evenstep::Simulation;
use mutatis::{Result, Session};
use serde::Deserialize;
use serde_json::Value;

use crate::mutate::{Bytes, Tree, WORDS};
use crate::play::sixty_steps;
use crate::seal::{contents_at, seal};
use crate::tally::Tally;
use crate::worlds;

pub fn seeds() -> Vec<Vec<u8>> {
    let worlds = worlds::all();
    let bytes = worlds
        .iter()
        .map(|world| world.save().expect("the world has run a step"));
    // In some scenes, Rapier has tables or numbers that JSON cannot represent.
    let documents = worlds
        .iter()
        .filter_map(|world| serde_json::to_value(world).ok());
    let documents = documents.filter(|document| Simulation::deserialize(document).is_ok());
    let documents = documents.map(|document| document.to_string().into_bytes());
    bytes.chain(documents).collect()
}

pub fn mutate(input: &mut Vec<u8>, session: &mut Session) -> Result<()> {
    if let Ok(mut document) = serde_json::from_slice::<Value>(input) {
        let whole = document.clone();
        session.mutate_with(&mut Tree { whole }, &mut document)?;
        *input = document.to_string().into_bytes();
        return Ok(());
    }
    session.mutate_with(
        &mut Bytes {
            from: contents_at(),
            words: WORDS,
        },
        input,
    )?;
    seal(input);
    Ok(())
}

pub fn run(input: &[u8], tally: &mut Tally) {
    let simulation = if let Ok(document) = serde_json::from_slice::<Value>(input) {
        tally.load(input.len(), || Simulation::deserialize(&document))
    } else {
        tally.load(input.len(), || Simulation::load(input))
    };
    if let Some(simulation) = simulation {
        sixty_steps(simulation, tally);
    }
}
