//! A match in virtual time. It is the same on every machine, however fast.

use std::time::Duration;

use crate::end::End;
use crate::log::ServerLog;
use crate::server::Server;

/// A server and its clients, each with a connection.
#[derive(Debug)]
pub struct Lab {
    /// The server's time.
    pub now: Duration,
    /// The server.
    pub server: Server,
    /// A log of the server's states.
    pub truth: ServerLog,
    /// The clients.
    pub ends: Vec<End>,
    next_frame: Duration,
}

impl Lab {
    /// Creates a match with `crates` crates and no clients.
    #[must_use]
    pub fn new(crates: usize) -> Self {
        Self {
            now: Duration::ZERO,
            server: Server::new(crates),
            truth: ServerLog::default(),
            ends: Vec::new(),
            next_frame: Duration::ZERO,
        }
    }

    /// Adds a client that joins now.
    pub fn join(&mut self, end: End) {
        let next_frame = self.now;
        self.ends.push(End { next_frame, ..end });
    }

    /// Continues until a time.
    pub fn run(&mut self, until: Duration) {
        let rate = self.server.simulation.clock().settings().rate();
        while self.next() <= until {
            self.now = self.next();
            if self.next_frame == self.now {
                self.serve(rate.period());
                self.next_frame += rate.period();
            }
            for end in &mut self.ends {
                if end.next_frame == self.now {
                    end.frame(self.now, end.period.mul_f64(end.clock));
                    end.next_frame += end.period;
                }
            }
        }
        self.now = until;
    }

    /// Returns the time of the next frame of the server or of any client.
    fn next(&self) -> Duration {
        let frames = self.ends.iter().map(|end| end.next_frame);
        frames.fold(self.next_frame, Duration::min)
    }

    fn serve(&mut self, time: Duration) {
        for end in &mut self.ends {
            for packet in end.up.receive(self.now) {
                end.player = end.player.or_else(|| self.server.join());
                if let Some(player) = end.player {
                    self.server.receive(player, &packet);
                }
            }
        }
        for (player, packet) in self.server.frame(time) {
            let end = self.ends.iter_mut().find(|end| end.player == Some(player));
            if let Some(end) = end {
                end.down.send(self.now, packet);
            }
        }
        self.truth.frame(self.now, &self.server);
    }
}
