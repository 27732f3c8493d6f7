//! A player's end of a match.

use std::time::Duration;

use crate::client::Client;
use crate::game::Buttons;
use crate::line::{Line, Quality};
use crate::log::ClientLog;

/// A client, its display and its connection.
#[derive(Debug)]
pub struct End {
    /// The client.
    pub client: Client,
    /// A log of what the client displayed.
    pub seen: ClientLog,
    /// The buttons that the player holds down, by player and tick.
    pub buttons: fn(usize, u64) -> Buttons,
    /// The speed of its clock relative to the server's, in virtual time.
    pub clock: f64,
    /// The player that the server has assigned, in virtual time.
    pub(crate) player: Option<usize>,
    /// The time between two frames, and the time of the next frame.
    pub(crate) period: Duration,
    pub(crate) next_frame: Duration,
    pub(crate) up: Line<Vec<u8>>,
    pub(crate) down: Line<Vec<u8>>,
}

impl End {
    /// Creates a client that draws `display` frames per second.
    #[must_use]
    pub fn new(client: Client, display: u32, quality: &Quality, seed: u64) -> Self {
        Self {
            client,
            seen: ClientLog::default(),
            buttons: Buttons::of_script,
            clock: 1.0,
            player: None,
            period: Duration::from_secs(1) / display,
            next_frame: Duration::ZERO,
            up: Line::new(quality.clone(), 2 * seed),
            down: Line::new(quality.clone(), 2 * seed + 1),
        }
    }

    /// Receives the packets that have arrived by now, and runs a frame.
    pub(crate) fn frame(&mut self, now: Duration, time: Duration) {
        for packet in self.down.receive(now) {
            self.seen.received(&packet);
            self.client.receive(&packet);
        }
        let player = self.client.player().unwrap_or_default();
        let buttons = (self.buttons)(player, self.client.simulation.physics.tick());
        if let Some(packet) = self.client.frame(time, buttons) {
            self.seen.sent(&packet);
            self.up.send(now, packet);
        }
        self.seen.frame(now, &self.client);
    }
}
