//! Steps that are made at once in one pool of threads.
//!
//! With the feature `parallel` Rapier gives work of a step to the pool that the step is made in, and blocks until that is
//! done. Threads of a pool that all make a step would wait for one another for ever. So one step at a time is made by a whole
//! pool, and each beside it by one thread. The bits are the same.

#[cfg(feature = "checksum")]
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};

use rapier::pipeline::PhysicsWorld;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pools that make a step.
static TAKEN: Mutex<Vec<Pool>> = Mutex::new(Vec::new());

#[derive(Clone, Copy, PartialEq, Eq)]
enum Pool {
    /// That of a world, by its address.
    Own(usize),
    /// One that a step was called in. Which one that is, rayon does not say.
    Around,
}

thread_local! {
    /// For steps of this thread beside another one. It waits for them as a thread of a pool has to: by doing other work.
    static SINGLE: Option<Arc<ThreadPool>> = single().map(Arc::new);
}

/// `None` where the system gives no more threads.
fn single() -> Option<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(1).build().ok()
}

/// Gives the pool back, also after a panic.
struct Taken(Pool);

impl Taken {
    fn try_take(pool: Pool) -> Option<Self> {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.contains(&pool) {
            return None;
        }
        taken.push(pool);
        Some(Self(pool))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|pool| *pool != self.0);
    }
}

/// A world whose steps are made by one thread.
struct Single<'a> {
    world: &'a mut PhysicsWorld,
    own: Option<Arc<ThreadPool>>,
}

impl<'a> Single<'a> {
    fn new(world: &'a mut PhysicsWorld) -> Self {
        let own = world.thread_pool();
        world.set_thread_pool(SINGLE.with(Option::clone));
        Self { world, own }
    }
}

impl Drop for Single<'_> {
    fn drop(&mut self) {
        self.world.set_thread_pool(self.own.take());
    }
}

/// Makes a step of a world.
pub fn step(world: &mut PhysicsWorld, step: impl FnOnce(&mut PhysicsWorld)) {
    let own = world.thread_pool();
    let own = own.map(|pool| Pool::Own(Arc::as_ptr(&pool).addr()));
    let around = rayon::current_thread_index().map(|_| Pool::Around);
    let Some(pool) = own.or(around) else {
        return step(world);
    };
    match Taken::try_take(pool) {
        Some(_taken) => step(world),
        None => step(Single::new(world).world),
    }
}

/// Runs it where Rapier needs no other thread, and where this one, which waits, takes up no other work: for a value that all
/// threads of a pool may be waiting for.
#[cfg(feature = "checksum")]
pub fn on_one_thread<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let Some(pool) = single() else {
        return run();
    };
    let joined = std::thread::scope(|scope| scope.spawn(|| pool.install(run)).join());
    joined.unwrap_or_else(|panic| resume_unwind(panic))
}
