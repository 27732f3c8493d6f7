//! The paths of a step, for those who keep them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::key::BodyKey;

use super::motion::Pair;
use super::movers::Movers;

/// The paths of a step. A body at rest has none: its pose is the start of its next path.
#[derive(Clone)]
pub(crate) struct StepPaths {
    /// The paths, shared with the state and its copies.
    rows: Arc<Movers>,
    /// Paths that differ from the rows, or have none.
    others: BTreeMap<BodyKey, Pair>,
}

impl StepPaths {
    pub fn new(rows: Arc<Movers>, others: BTreeMap<BodyKey, Pair>) -> Self {
        Self { rows, others }
    }

    pub fn iter(&self) -> impl Iterator<Item = (BodyKey, Pair)> {
        let rows = self.rows.keys().iter().enumerate();
        let rows = rows.map(|(index, key)| (*key, self.rows.pair(index)));
        let rows = rows.filter(|(key, _)| !self.others.contains_key(key));
        rows.chain(self.others.iter().map(|(key, pair)| (*key, *pair)))
    }

    /// Returns the path of a body, which is probably in the row `likely`.
    pub fn get(&self, key: BodyKey, likely: Option<usize>) -> Option<Pair> {
        if let Some(pair) = self.others.get(&key) {
            return Some(*pair);
        }
        let keys = self.rows.keys();
        let likely = likely.filter(|index| keys.get(*index) == Some(&key));
        let index = likely.or_else(|| keys.iter().position(|of| *of == key))?;
        Some(self.rows.pair(index))
    }

    /// Adds the paths of bodies that have none.
    pub fn add_missing(&mut self, others: impl Iterator<Item = (BodyKey, Pair)>) {
        let mut others: BTreeMap<_, _> = others.collect();
        if !others.is_empty() {
            for key in self.rows.keys() {
                others.remove(key);
            }
            others.append(&mut self.others);
            self.others = others;
        }
    }
}
