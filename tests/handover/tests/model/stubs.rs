//! What the library's files name, as small as it can be.

pub type BodyKey = u64;

#[derive(Debug, Default)]
pub struct Poses;

#[derive(Debug)]
pub struct Onward;

#[derive(Debug, Default)]
pub struct Frame {
    pub tick: u64,
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

#[derive(Debug)]
pub enum SendError<T> {
    Full(T),
    Ended(T),
}
