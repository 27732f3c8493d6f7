//! Steps that are made at once on threads of one pool.
//!
//! With the feature `parallel` Rapier gives work of a step to the pool that the step is made in, and blocks until that is
//! done. Threads of a pool that all make a step would wait for one another for ever. So one step at a time is made by a whole
//! pool, and each beside it by one thread. The bits are the same.

#[cfg(feature = "checksum")]
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rapier::pipeline::PhysicsWorld;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Whether a step is being made by a whole pool, on one of its threads.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// For steps of this thread beside another one. It waits for them as a thread of a pool has to: by doing other work.
    static SINGLE: Option<Arc<ThreadPool>> = single().map(Arc::new);
}

/// `None` where the system gives no more threads.
fn single() -> Option<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(1).build().ok()
}

/// Gives the pool back, also after a panic.
struct Taken;

impl Taken {
    fn try_take() -> Option<Self> {
        (!IS_TAKEN.swap(true, Ordering::Acquire)).then(|| Self)
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        IS_TAKEN.store(false, Ordering::Release);
    }
}

/// A world whose steps are made by one thread.
struct Single<'a>(&'a mut PhysicsWorld);

impl<'a> Single<'a> {
    fn new(world: &'a mut PhysicsWorld) -> Self {
        world.set_thread_pool(SINGLE.with(Option::clone));
        Self(world)
    }
}

impl Drop for Single<'_> {
    fn drop(&mut self) {
        self.0.set_thread_pool(None);
    }
}

/// Makes a step of a world.
pub fn step(world: &mut PhysicsWorld, step: impl FnOnce(&mut PhysicsWorld)) {
    let is_in_pool = rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1;
    if !is_in_pool || world.thread_pool().is_some() {
        step(world);
    } else if let Some(_taken) = Taken::try_take() {
        step(world);
    } else {
        step(Single::new(world).0);
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
