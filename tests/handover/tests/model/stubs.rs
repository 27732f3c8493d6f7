//! Minimal stubs for the names that the library's files use.

#[derive(Debug, Default)]
pub struct Movers;

#[derive(Debug, Default)]
pub struct SmoothingSettings;

#[derive(Clone, Copy, Debug, Default)]
pub struct Origin;

#[derive(Debug)]
pub struct StateNumber;

/// The steps whose changes and events it has.
#[derive(Debug, Default)]
pub struct Changes {
    pub list: Vec<u64>,
    pub events: StepEvents,
}

impl Changes {
    pub fn append(&mut self, mut later: Self) {
        self.list.append(&mut later.list);
        self.events.0.append(&mut later.events.0);
    }

    pub fn cancel_revived_removals<'a>(
        &self,
        _: &Movers,
        _: impl Iterator<Item = (&'a mut Self, &'a Movers)>,
    ) {
    }

    pub fn drop_removals(&mut self, _: usize) -> usize {
        0
    }
}

/// Steps, each with two events.
#[derive(Debug, Default)]
pub struct StepEvents(pub Vec<u64>);

impl StepEvents {
    pub fn count(&self, are_empty: bool) -> usize {
        if are_empty { 0 } else { self.0.len() }
    }

    pub fn drop_oldest(&mut self, is_empty: bool) -> Option<usize> {
        (!is_empty && !self.0.is_empty()).then(|| {
            self.0.remove(0);
            2
        })
    }

    pub fn give_way_to(&mut self, _: &mut Self) {}

    pub fn rewound_to_tick(&self) -> Option<u64> {
        None
    }
}

pub fn own<T>(mutex: &mut std::sync::Mutex<T>) -> &mut T {
    mutex.get_mut().unwrap()
}

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

    pub fn delay(&self) -> f64 {
        0.0
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct StepCost(());
