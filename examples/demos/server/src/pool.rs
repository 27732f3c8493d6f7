//! The matches of a server, and the threads of a rayon pool that play each match when it is due.
//!
//! A thread takes the match that is due first, plays it, puts it back and takes the next. There are no rounds to wait
//! for, so a slow match holds up only its own thread. A match is on one thread at a time, so matches cannot affect each
//! other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evenstep_server::match_::Id;
use evenstep_server::metrics::Metrics;
use evenstep_server::record::Ending;
use hdrhistogram::Histogram;

use crate::Match;
use crate::hall::{Ended, Hall};
use crate::schedule::Schedule;

/// The server's time, measured from its start.
pub trait Time: Sync {
    fn now(&self) -> Duration;

    /// Waits until a time, or until `changed` is notified.
    fn wait<'a, T>(
        &self,
        changed: &Condvar,
        guard: MutexGuard<'a, T>,
        until: Duration,
    ) -> MutexGuard<'a, T>;
}

pub struct Server<T> {
    time: T,
    hall: Mutex<Hall>,
    /// Notified when another match is due first, when a match was put back, and at the end.
    changed: Condvar,
}

/// The server as seen by [`Server::look`].
pub struct View<'s> {
    /// The number of matches, including those that are being played.
    pub matches: usize,
    /// The matches that are not being played.
    pub waiting: &'s Schedule,
    pub ended: &'s [Ended],
    pub metrics: &'s Metrics,
    pub lateness: &'s Histogram<u64>,
    pub is_draining: bool,
}

/// The server accepts no new matches.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server is draining")]
pub struct Draining;

impl<T: Time> Server<T> {
    pub fn new(time: T) -> Self {
        Self {
            time,
            hall: Mutex::default(),
            changed: Condvar::new(),
        }
    }

    pub fn now(&self) -> Duration {
        self.time.now()
    }

    /// Adds a match, at any time.
    pub fn add(&self, new: Match) -> Result<(), Draining> {
        let mut hall = self.lock();
        if hall.is_draining {
            return Err(Draining);
        }
        hall.waiting.put(new);
        self.changed.notify_all();
        Ok(())
    }

    /// Stops accepting matches. The present ones continue until they end or are [taken](Self::take).
    pub fn drain(&self) {
        self.lock().is_draining = true;
    }

    /// Takes a match out between two frames, to move it. Waits if the match is being played. Returns `None` if there is
    /// no such match.
    pub fn take(&self, id: Id) -> Option<Match> {
        let mut hall = self.lock();
        hall.asked_for.push(id);
        while hall.playing.contains(&id) {
            hall = self.wait(hall, None);
        }
        hall.asked_for.retain(|asked| *asked != id);
        let aside = hall.aside.iter().position(|match_| match_.id == id);
        match aside {
            Some(index) => Some(hall.aside.swap_remove(index)),
            None => hall.waiting.take(id),
        }
    }

    /// Puts back a match that was taken out and could not be moved, even while draining. It was not played meanwhile,
    /// so it is late.
    pub fn put_back(&self, taken: Match) {
        let mut hall = self.lock();
        hall.waiting.put(taken);
        self.changed.notify_all();
    }

    /// Plays matches on all threads of the pool while `control` runs on this thread.
    pub fn serve<R>(&self, pool: &rayon::ThreadPool, control: impl FnOnce(&Self) -> R) -> R {
        self.lock().is_stopped = false;
        pool.in_place_scope(|scope| {
            scope.spawn_broadcast(|_, _| self.work());
            let _stop = StopOnDrop(self);
            control(self)
        })
    }

    /// Waits until every match has ended or was taken out.
    pub fn wait_for_all(&self) {
        let mut hall = self.lock();
        while hall.matches() > 0 {
            hall = self.wait(hall, None);
        }
    }

    /// Calls `at` with the state of the server. No thread takes a match meanwhile.
    pub fn look<R>(&self, at: impl FnOnce(View<'_>) -> R) -> R {
        let hall = self.lock();
        at(View {
            matches: hall.matches(),
            waiting: &hall.waiting,
            ended: &hall.ended,
            metrics: &hall.metrics,
            lateness: &hall.lateness,
            is_draining: hall.is_draining,
        })
    }

    /// Resets all metrics, after a warm-up.
    pub fn reset_metrics(&self) {
        let mut hall = self.lock();
        hall.metrics = Metrics::default();
        hall.lateness.reset();
    }

    fn work(&self) {
        let mut hall = self.lock();
        while !hall.is_stopped {
            let Some(mut due) = hall.waiting.take_due(self.time.now()) else {
                let until = hall.waiting.first_due();
                hall = self.wait(hall, until);
                continue;
            };
            let id = due.id;
            hall.playing.push(id);
            drop(hall);
            let ending = play(&mut due, || self.time.now());
            let (last, now) = (std::mem::take(&mut due.last), self.time.now());
            let back = match ending {
                Some(ending) => Err(Ended::new(due, ending)),
                None => Ok(due),
            };
            hall = self.lock();
            if hall.put_back(id, back, &last, now) {
                self.changed.notify_all();
            }
        }
    }

    /// Waits for a change, at most until a given time.
    fn wait<'a>(
        &self,
        hall: MutexGuard<'a, Hall>,
        until: Option<Duration>,
    ) -> MutexGuard<'a, Hall> {
        match until {
            Some(until) => self.time.wait(&self.changed, hall, until),
            None => self
                .changed
                .wait(hall)
                .unwrap_or_else(PoisonError::into_inner),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Hall> {
        // Nothing panics while the lock is held.
        self.hall.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Plays a frame. A panic ends only this match.
fn play(due: &mut Match, now: impl Fn() -> Duration) -> Option<Ending> {
    // After a panic only the record of the match is read.
    catch_unwind(AssertUnwindSafe(|| due.play(now))).unwrap_or(Some(Ending::Panicked))
}

/// Stops the threads even if `control` panics. They would run for ever otherwise.
struct StopOnDrop<'s, T: Time>(&'s Server<T>);

impl<T: Time> Drop for StopOnDrop<'_, T> {
    fn drop(&mut self) {
        self.0.lock().is_stopped = true;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use evenstep_server::game::Crates;
    use evenstep_server::match_::{Game, Settings};

    use super::*;
    use crate::schedule::phase;
    use crate::virtual_time::VirtualTime;

    const MATCHES: Id = 12;
    const LENGTH: u64 = 90;

    fn server() -> Server<VirtualTime> {
        Server::new(VirtualTime::default())
    }

    fn pool(threads: usize) -> rayon::ThreadPool {
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads);
        builder.build().unwrap()
    }

    fn playing(id: Id, length: u64) -> Match {
        let settings = Settings {
            budget: Duration::MAX,
            length,
        };
        let start = phase(id, Duration::from_millis(16));
        Match::new(id, Crates::new(20, id, false), settings, start)
    }

    /// Returns the checksum of a match at a tick, played alone without a server.
    fn alone(id: Id, tick: u64) -> u64 {
        let (mut simulation, mut game) = Crates::new(20, id, false);
        while simulation.physics.tick() < tick {
            let frame_time = Duration::from_millis(16);
            simulation.advance(frame_time, |physics, step| game.before_step(physics, step));
        }
        simulation.physics.checksum()
    }

    /// Returns the results of finished matches, in the order of their numbers.
    fn results(server: &Server<VirtualTime>) -> Vec<(Id, u64, u64)> {
        let mut results: Vec<_> = server.look(|view| {
            let finished = view
                .ended
                .iter()
                .filter(|ended| ended.ending == Ending::Finished);
            let result = |ended: &Ended| (ended.id, ended.result.unwrap());
            finished
                .map(result)
                .map(|(id, (tick, sum))| (id, tick, sum))
                .collect()
        });
        results.sort_unstable();
        results
    }

    fn expected() -> Vec<(Id, u64, u64)> {
        let ids = 0..MATCHES;
        ids.map(|id| (id, LENGTH, alone(id, LENGTH))).collect()
    }

    #[test]
    fn pool_size_and_order_do_not_change_the_result_of_a_match() {
        let expected = expected();
        for threads in [1, 2, 5] {
            for is_reversed in [false, true] {
                let server = server();
                let mut ids: Vec<Id> = (0..MATCHES).collect();
                if is_reversed {
                    ids.reverse();
                }
                for id in ids {
                    server.add(playing(id, LENGTH)).unwrap();
                }
                server.serve(&pool(threads), Server::wait_for_all);
                assert_eq!(results(&server), expected, "{threads} threads");
            }
        }
    }

    #[test]
    fn a_panic_in_a_match_ends_only_that_match() {
        let server = server();
        for id in 0..MATCHES {
            server.add(playing(id, LENGTH)).unwrap();
        }
        let mut broken = playing(MATCHES, LENGTH);
        broken.game.panics_at = Some(30);
        server.add(broken).unwrap();
        server.serve(&pool(2), Server::wait_for_all);
        assert_eq!(results(&server), expected());
        server.look(|view| {
            let broken = view.ended.iter().find(|ended| ended.id == MATCHES).unwrap();
            assert_eq!((broken.ending, broken.result), (Ending::Panicked, None));
            assert_eq!(view.matches, 0);
        });
    }

    #[test]
    fn matches_can_be_added_while_the_server_runs() {
        let server = server();
        server.add(playing(0, LENGTH)).unwrap();
        server.serve(&pool(2), |server| {
            for id in 1..MATCHES {
                server.add(playing(id, LENGTH)).unwrap();
            }
            server.wait_for_all();
        });
        assert_eq!(results(&server), expected());
    }

    #[test]
    fn a_match_taken_from_a_running_server_has_a_consistent_state() {
        let server = server();
        for id in 0..MATCHES {
            server.add(playing(id, u64::MAX)).unwrap();
        }
        let taken: Vec<Match> = server.serve(&pool(2), |server| {
            (0..MATCHES).map(|id| server.take(id).unwrap()).collect()
        });
        for (id, taken) in (0..).zip(taken) {
            assert_eq!((taken.id, taken.checksum()), (id, alone(id, taken.tick())));
        }
        assert!(server.take(0).is_none());
        server.look(|view| assert_eq!(view.matches, 0));
    }

    #[test]
    fn a_draining_server_refuses_new_matches_and_finishes_its_own() {
        let server = server();
        server.add(playing(0, LENGTH)).unwrap();
        server.drain();
        assert_eq!(server.add(playing(1, LENGTH)), Err(Draining));
        server.serve(&pool(1), Server::wait_for_all);
        assert_eq!(results(&server), expected()[..1]);
    }

    #[test]
    fn a_match_put_back_on_a_draining_server_finishes() {
        let server = server();
        server.add(playing(0, LENGTH)).unwrap();
        server.drain();
        server.serve(&pool(1), |server| {
            if let Some(taken) = server.take(0) {
                server.put_back(taken);
            }
            server.wait_for_all();
        });
        assert_eq!(results(&server), expected()[..1]);
    }

    #[test]
    fn one_thread_runs_every_step_on_time_if_steps_take_no_time() {
        let server = server();
        for id in 0..MATCHES {
            server.add(playing(id, LENGTH)).unwrap();
        }
        server.serve(&pool(1), Server::wait_for_all);
        server.look(|view| {
            let metrics = view.metrics;
            let counts = [&metrics.steps, &metrics.late_steps].map(|counter| counter.get());
            assert_eq!(counts, [MATCHES * LENGTH, 0]);
            assert_eq!(
                (metrics.dropped_steps(), view.lateness.len()),
                (0, counts[0])
            );
        });
    }
}
