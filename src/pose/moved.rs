//! The paths of a step, for those who keep them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::key::BodyKey;

use super::motion::Pair;
use super::movers::Movers;

/// The paths of a step. A body at rest has none: its pose is the start of its next path.
#[derive(Clone)]
pub(crate) struct StepPaths {
    /// The paths of most bodies, shared with the state and its copies.
    movers: Arc<Movers>,
    /// The paths of bodies that are not among the movers, or were edited after the step and have another path there.
    separate: BTreeMap<BodyKey, Pair>,
}

impl StepPaths {
    pub fn new(movers: Arc<Movers>, separate: BTreeMap<BodyKey, Pair>) -> Self {
        Self { movers, separate }
    }

    /// Returns all bodies that have a path, each once with its path as the step has computed it.
    pub fn iter(&self) -> impl Iterator<Item = (BodyKey, Pair)> {
        let movers = self.movers.keys().iter().enumerate();
        let movers = movers.map(|(index, key)| (*key, self.movers.pair(index)));
        // For an edited body, the movers have the path after the edit. The step's own path is in `separate`.
        let movers = movers.filter(|(key, _)| !self.separate.contains_key(key));
        movers.chain(self.separate.iter().map(|(key, pair)| (*key, *pair)))
    }

    /// Returns the path of a body. `likely` is the index at which it probably is among the movers, and saves a search.
    pub fn get(&self, key: BodyKey, likely: Option<usize>) -> Option<Pair> {
        // This comes first, because the movers have the path of an edited body after the edit.
        if let Some(pair) = self.separate.get(&key) {
            return Some(*pair);
        }
        let keys = self.movers.keys();
        let likely = likely.filter(|index| keys.get(*index) == Some(&key));
        let index = likely.or_else(|| keys.iter().position(|it| *it == key))?;
        Some(self.movers.pair(index))
    }

    /// Adds paths. Those of bodies that have a path already are ignored.
    pub fn add_missing(&mut self, paths: impl Iterator<Item = (BodyKey, Pair)>) {
        let mut added: BTreeMap<_, _> = paths.collect();
        if !added.is_empty() {
            for key in self.movers.keys() {
                added.remove(key);
            }
            // `append` replaces the added path of a body by the known one.
            added.append(&mut self.separate);
            self.separate = added;
        }
    }
}
