//! Counts, and breaches of the law.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::panics::{Panic, guard};

/// The results of runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    pub runs: u64,
    /// API calls, steps and inputs.
    pub operations: u64,
    /// Loaded files.
    pub loads: u64,
    /// Refused files, by reason.
    pub errors: BTreeMap<String, u64>,
    /// Rapier's panics, by location.
    pub panics: BTreeMap<String, u64>,
    /// Breaches of the law by kind, with the number of a run for each.
    pub broken: BTreeMap<String, u64>,
    /// Runs that ended the process.
    pub ended: BTreeMap<String, Vec<u64>>,
    /// The most bytes that a load allocated per byte of the file, if it allocated more than a megabyte.
    pub most_bytes: u64,
}

impl Tally {
    /// Runs a part of a game. Returns `None` if it panicked.
    pub fn guard<T>(&mut self, part: impl FnOnce(&mut Self) -> T) -> Option<T> {
        match guard(|| part(self)) {
            Ok(value) => Some(value),
            Err(Panic {
                place,
                is_ours: true,
            }) => {
                self.broken.insert(place, self.runs);
                None
            }
            Err(Panic { place, .. }) => {
                *self.panics.entry(place).or_default() += 1;
                None
            }
        }
    }

    /// Counts a loaded file, and checks the memory that the load takes. It may take a multiple of the file's size, plus
    /// the memory that serde reserves in advance: at most 1 MiB per list, and lists can be nested.
    pub fn load<T, E: fmt::Display>(
        &mut self,
        len: usize,
        load: impl FnOnce() -> Result<T, E>,
    ) -> Option<T> {
        let mut loaded = None;
        let taken = self.guard(|_| allocation_counter::measure(|| loaded = Some(load())).bytes_max);
        let (len, taken) = (len as u64, taken?);
        if taken > 1_000_000 {
            self.most_bytes = self.most_bytes.max(taken / len.max(1));
        }
        if taken > 50 * len + 4_000_000 {
            let what = format!("a file of {len} bytes allocates {taken}");
            self.broken.insert(what, self.runs);
        }
        match loaded? {
            Ok(value) => {
                self.loads += 1;
                Some(value)
            }
            Err(error) => {
                self.refuse(&error);
                None
            }
        }
    }

    /// Counts an error by its first words.
    pub fn refuse(&mut self, error: &impl fmt::Display) {
        let error = error.to_string();
        let is_particular = |c: char| c.is_ascii_digit() || "`\"(:".contains(c);
        let end = error.find(is_particular).unwrap_or(error.len());
        *self
            .errors
            .entry(error[..end].trim_end().to_owned())
            .or_default() += 1;
    }

    /// Adds the results of other runs.
    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.operations += other.operations;
        self.loads += other.loads;
        for (sums, counts) in [
            (&mut self.errors, other.errors),
            (&mut self.panics, other.panics),
        ] {
            for (what, count) in counts {
                *sums.entry(what).or_default() += count;
            }
        }
        self.broken.extend(other.broken);
        for (how, numbers) in other.ended {
            self.ended.entry(how).or_default().extend(numbers);
        }
        self.most_bytes = self.most_bytes.max(other.most_bytes);
    }

    /// Returns whether the law held. Runs `with_states` may load states with which Rapier loops forever, so they may
    /// end the process.
    #[must_use]
    pub fn is_fine(&self, with_states: bool) -> bool {
        self.broken.is_empty() && (with_states || self.ended.is_empty())
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |counts: &BTreeMap<String, u64>| counts.values().sum::<u64>();
        write!(
            f,
            "{} runs, {} operations, {} loads, {} errors, {} panics in Rapier, {} breaches, {} runs that ended the process",
            self.runs,
            self.operations,
            self.loads,
            count(&self.errors),
            count(&self.panics),
            self.broken.len(),
            self.ended.values().map(Vec::len).sum::<usize>(),
        )
    }
}
