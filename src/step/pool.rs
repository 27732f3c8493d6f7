//! Chooses the threads that step a world, with the feature `parallel`.
//!
//! Rapier's step gives work to all threads of its pool, and blocks until each of them has taken its part. A thread that
//! steps another world, or waits for this step, takes none. So a whole pool steps a world only if a thread outside of
//! all pools requested the step, and it steps only one world at a time. All other worlds are stepped by one thread
//! each. The bits are the same.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::lock::lock;
use rapier::pipeline::PhysicsWorld;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// The addresses of the pools that step a world now.
static POOLS_IN_USE: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Idle pools of one thread each.
static IDLE_SINGLE_THREADS: Mutex<Vec<ThreadPool>> = Mutex::new(Vec::new());

/// A claim on a pool, which is released when dropped, even after a panic.
struct Claim(usize);

impl Claim {
    /// Claims a pool until the claim is dropped, or returns `None` if the pool steps another world now.
    fn try_new(pool: &Arc<ThreadPool>) -> Option<Self> {
        let address = Arc::as_ptr(pool).addr();
        let mut in_use = lock(&POOLS_IN_USE);
        if in_use.contains(&address) {
            return None;
        }
        in_use.push(address);
        Some(Self(address))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        lock(&POOLS_IN_USE).retain(|pool| *pool != self.0);
    }
}

/// Calls `step` on the threads of the world's pool, or on one thread if that pool is busy or this thread belongs to a
/// pool. Rapier's step waits until each thread of its pool has taken a part, and a thread that waits or runs another
/// step takes none.
pub fn step(world: &mut PhysicsWorld, step: impl FnOnce(&mut PhysicsWorld) + Send) {
    let own_pool = world.thread_pool();
    if rayon::current_thread_index().is_none() {
        // If the world has a pool, one of its threads runs the step and blocks. If no pool is set, this thread runs the
        // step, so all threads of rayon's global pool stay free for several steps.
        let claim = own_pool.as_ref().map(Claim::try_new);
        let is_busy = matches!(claim, Some(None));
        if !is_busy {
            // The claim lasts until the step has run.
            return step(world);
        }
    }
    world.set_thread_pool(None);
    let result = on_one_thread(|| step(world));
    world.set_thread_pool(own_pool);
    result.unwrap_or_else(|panic| resume_unwind(panic));
}

/// Calls a function on a thread that is the only one of its pool, while the calling thread sleeps. If it waited as
/// rayon's threads do, it would run other jobs meanwhile, and their steps would nest on its stack. Returns the payload
/// if the function panicked.
fn on_one_thread<T: Send>(run: impl FnOnce() -> T + Send) -> thread::Result<T> {
    let run = || catch_unwind(AssertUnwindSafe(run));
    let idle = lock(&IDLE_SINGLE_THREADS).pop();
    let single = || ThreadPoolBuilder::new().num_threads(1).build().ok();
    let Some(single) = idle.or_else(single) else {
        // The system provides no more threads.
        return run();
    };
    let mut result = None;
    single.in_place_scope(|scope| {
        let has_ended = Arc::new(AtomicBool::new(false));
        let (caller, end_flag) = (thread::current(), Arc::clone(&has_ended));
        scope.spawn(|_| {
            result = Some(run());
            // The thread runs this job after the current one. The scope has then nothing left to wait for, so its end
            // does not make the caller wait as rayon's threads do.
            rayon::spawn(move || {
                end_flag.store(true, Ordering::Release);
                caller.unpark();
            });
        });
        while !has_ended.load(Ordering::Acquire) {
            thread::park();
        }
    });
    lock(&IDLE_SINGLE_THREADS).push(single);
    result.expect("the scope has ended")
}
