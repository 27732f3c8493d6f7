//! Minimal stubs for the names that the library's files use.

#[derive(Debug, Default)]
pub struct Movers;

#[derive(Debug, Default)]
pub struct SmoothingSettings;

#[derive(Clone, Copy, Debug, Default)]
pub struct Origin;

/// The steps whose changes it has.
#[derive(Debug, Default)]
pub struct PoseLog(pub Vec<u64>);

impl PoseLog {
    pub fn append(&mut self, mut later: Self) {
        self.0.append(&mut later.0);
    }
}

#[derive(Debug)]
pub struct Event;

#[derive(Debug)]
pub struct Failure<E>(pub E);

#[derive(Clone, Copy)]
pub struct RunnerSettings {
    pub states: usize,
    pub events: usize,
}

impl RunnerSettings {
    pub fn states(&self) -> usize {
        self.states
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct StepCost;
