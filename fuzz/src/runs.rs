//! Runs by number. The seed and the number determine a run, so that it can be repeated.

use std::fs;
use std::io;
use std::path::Path;

use mutatis::Session;

use crate::Target;
use crate::tally::Tally;

/// The runs of a target.
#[derive(Debug)]
pub struct Runs {
    target: Target,
    seed: u64,
    inputs: Vec<Vec<u8>>,
}

/// The usual number of changes to an input.
const CHANGES: usize = 5;

impl Runs {
    /// Creates runs that begin with the target's own inputs, and with the files of a folder if it exists.
    ///
    /// # Errors
    /// If the folder or a file in it cannot be read.
    pub fn new(target: Target, seed: u64, corpus: &Path) -> io::Result<Self> {
        let mut inputs = target.seeds();
        if corpus.is_dir() {
            let mut files: Vec<_> = fs::read_dir(corpus)?.collect::<io::Result<_>>()?;
            files.sort_by_key(fs::DirEntry::file_name);
            for file in files {
                inputs.push(fs::read(file.path())?);
            }
        }
        Ok(Self {
            target,
            seed,
            inputs,
        })
    }

    /// Returns the input of a run. The first inputs are unchanged.
    #[must_use]
    pub fn input(&self, number: u64) -> Vec<u8> {
        let first = usize::try_from(number)
            .ok()
            .and_then(|number| self.inputs.get(number));
        if let Some(input) = first {
            return input.clone();
        }
        let mut session = Session::new().seed(self.seed << 40 ^ number);
        let mut below = |most: usize| session.generate::<u64>().unwrap_or(0) as usize % most;
        let mut input = self.inputs[below(self.inputs.len())].clone();
        let changes = 1 + below(CHANGES);
        for _ in 0..changes {
            self.target.mutate(&mut input, &mut session);
        }
        input
    }

    /// Returns the number of runs with unchanged inputs.
    #[must_use]
    pub fn unchanged(&self) -> u64 {
        self.inputs.len() as u64
    }

    /// Does the run of this number.
    pub fn run(&self, number: u64, tally: &mut Tally) {
        let mut of_run = Tally::default();
        self.target.run(&self.input(number), &mut of_run);
        for at in of_run.broken.values_mut() {
            *at = number;
        }
        tally.add(of_run);
    }
}
