//! The messages from a game server to Agones.

use std::net::SocketAddr;
use std::time::Duration;

use agones::Sdk;
use agones::errors::Error;
use tokio::sync::{mpsc, watch};
use tokio::time::{MissedTickBehavior, interval, sleep};

/// The counter of the game server in the fleet's manifest. It says how many matches the server may run.
const COUNTER: &str = "matches";

/// The interval between health messages. It must be shorter than `periodSeconds` in the manifest.
const HEALTH: Duration = Duration::from_secs(1);

/// A connection to the sidecar.
pub struct Agones {
    sdk: Sdk,
    health: mpsc::Sender<()>,
}

impl Agones {
    /// Connects to the sidecar on the port in `AGONES_SDK_GRPC_PORT`, and reports that this server is ready.
    ///
    /// # Errors
    /// If there is no sidecar within 30 s, or the connection fails.
    pub async fn ready() -> Result<Self, Error> {
        let mut sdk = Sdk::new(None, None).await?;
        sdk.ready().await?;
        let health = sdk.health_check();
        Ok(Self { sdk, health })
    }

    /// Returns the address of this server for clients: the host and the port from Agones, once they are assigned.
    ///
    /// # Errors
    /// If the connection fails.
    pub async fn address(&mut self) -> Result<SocketAddr, Error> {
        loop {
            let status = self.sdk.get_gameserver().await?.status.unwrap_or_default();
            let port = status.ports.first().map(|port| port.port as u16);
            if let (Ok(ip), Some(port)) = (status.address.parse(), port) {
                return Ok(SocketAddr::new(ip, port));
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Returns how many matches the server may run.
    ///
    /// # Errors
    /// If the connection fails, or the manifest has no such counter.
    pub async fn capacity(&self) -> Result<usize, Error> {
        let capacity = self
            .sdk
            .beta()
            .clone()
            .get_counter_capacity(COUNTER)
            .await?;
        Ok(usize::try_from(capacity).unwrap_or(0))
    }

    /// Reports health and the number of matches, for as long as the sender lives. A server with matches is allocated,
    /// so Agones does not scale it away. A server without matches is ready again.
    pub async fn report(mut self, mut matches: watch::Receiver<usize>) -> Self {
        let mut ticks = interval(HEALTH);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut told = 0;
        loop {
            tokio::select! {
                _ = ticks.tick() => self.ping().await,
                changed = matches.changed() => {
                    if changed.is_err() {
                        return self;
                    }
                    let count = *matches.borrow_and_update();
                    match self.tell(told, count).await {
                        Ok(()) => told = count,
                        Err(error) => eprintln!("could not report {count} matches to the sidecar: {error}"),
                    }
                }
            }
        }
    }

    async fn ping(&mut self) {
        // The stream has ended, because the sidecar was restarted.
        if self.health.send(()).await.is_err() {
            self.health = self.sdk.health_check();
        }
    }

    async fn tell(&mut self, before: usize, now: usize) -> Result<(), Error> {
        match (before, now) {
            (0, 1..) => self.sdk.allocate().await?,
            (1.., 0) => self.sdk.ready().await?,
            _ => {}
        }
        let count = i64::try_from(now).unwrap_or(i64::MAX);
        self.sdk
            .beta()
            .clone()
            .set_counter_count(COUNTER, count)
            .await
    }

    /// Reports that this server is done. Agones then deletes it.
    ///
    /// # Errors
    /// If the connection fails.
    pub async fn shutdown(mut self) -> Result<(), Error> {
        self.sdk.shutdown().await
    }
}
