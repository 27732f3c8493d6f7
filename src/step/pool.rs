//! Who steps where, with the feature `parallel`.
//!
//! Rapier's step needs all threads of its pool at once, and blocks them. It would wait for ever for a thread that steps
//! another world, or that waits for this step. So only a thread outside of all pools has a whole pool step, one world at a
//! time. Every other step is done by one thread. The bits are the same.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rapier::pipeline::PhysicsWorld;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The pool of each step that a thread outside of all pools has under way.
static STEPPING: Mutex<Vec<PoolId>> = Mutex::new(Vec::new());

/// Pools of one thread each, which are free.
static SINGLE: Mutex<Vec<ThreadPool>> = Mutex::new(Vec::new());

/// The address of a world's pool, or `None` for rayon's global one.
type PoolId = Option<usize>;

/// A step that is listed in [`STEPPING`] until it ends or panics.
struct Listed(PoolId);

impl Drop for Listed {
    fn drop(&mut self) {
        let mut stepping = lock(&STEPPING);
        let index = stepping.iter().position(|pool| *pool == self.0);
        stepping.swap_remove(index.expect("it was listed"));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Steps a world.
pub fn step(world: &mut PhysicsWorld, step: impl FnOnce(&mut PhysicsWorld) + Send) {
    if rayon::current_thread_index().is_some() {
        return step_on_one_thread(world, step);
    }
    let own = world.thread_pool();
    let pool = own.map(|pool| Arc::as_ptr(&pool).addr());
    let is_first = {
        let mut stepping = lock(&STEPPING);
        let is_first = !stepping.contains(&pool);
        stepping.push(pool);
        is_first
    };
    let _listed = Listed(pool);
    if is_first {
        step(world);
    } else {
        step_on_one_thread(world, step);
    }
}

fn step_on_one_thread(world: &mut PhysicsWorld, step: impl FnOnce(&mut PhysicsWorld) + Send) {
    let own = world.thread_pool();
    world.set_thread_pool(None);
    let result = catch_unwind(AssertUnwindSafe(|| on_one_thread(|| step(world))));
    world.set_thread_pool(own);
    result.unwrap_or_else(|panic| resume_unwind(panic));
}

/// Runs a closure on a thread that is a whole pool, while the calling thread sleeps. A thread of a pool that waits as rayon
/// has it would run other jobs, with other steps in them, on top of its stack.
pub fn on_one_thread<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    let single = lock(&SINGLE).pop();
    let new = || ThreadPoolBuilder::new().num_threads(1).build().ok();
    // The system may give no more threads.
    let Some(single) = single.or_else(new) else {
        return run();
    };
    let mut result = None;
    single.in_place_scope(|scope| {
        let (done, is_done) = channel::<()>();
        scope.spawn(|_| {
            result = Some(run());
            // This job runs after the present one has ended: then the scope has nothing to wait for.
            rayon::spawn(move || drop(done));
        });
        // An error is the only message.
        _ = is_done.recv();
    });
    lock(&SINGLE).push(single);
    result.expect("a panic would have been passed on")
}
