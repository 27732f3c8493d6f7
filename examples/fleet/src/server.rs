//! A server: takes up matches, runs them, and hands them on when it is asked to end.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::net::{TcpListener, UdpSocket};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::{JoinError, JoinSet};
use tokio::time::sleep;

use crate::agones::Agones;
use crate::host::{Ending, Host, Received, Shared, asked_for};
use crate::metrics::Metrics;
use crate::packets::{FromClient, Id, LARGEST, read};
use crate::store::{Claim, Store, Taken};

/// Where a server listens.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// For clients, by UDP: the `containerPort` of the manifest
    #[arg(long)]
    pub listen: SocketAddr,
    /// For Prometheus, by HTTP
    #[arg(long)]
    pub http: SocketAddr,
    /// Where matches are kept
    #[arg(long)]
    pub redis: String,
    /// How long a match is another's after its server last saved it, in milliseconds
    #[arg(long, default_value_t = 2_000)]
    pub lease: u64,
}

/// How often a server with room looks for matches that nobody runs.
const LOOK: Duration = Duration::from_millis(50);

/// Between two matches that it takes up, a server leaves as much time to others that look.
const SHARE: Duration = Duration::from_millis(2);

/// Packets that wait for a match. What comes beyond is lost, as packets are.
const INBOX: usize = 64;

/// A match, and a place on this server for as long as it is here.
type Found = (Taken, OwnedSemaphorePermit);

/// Serves until the process is asked to end (SIGTERM). Then each match is saved and released, and Agones is told.
///
/// # Errors
/// If the sidecar, Redis or an address cannot be had.
pub async fn serve(settings: Settings) -> Result<(), Box<dyn Error>> {
    let mut terminate = signal(SignalKind::terminate())?;
    // The first save would need it, and has less time.
    let _ = evenstep::fingerprint();
    let store = Store::connect(&settings.redis, Duration::from_millis(settings.lease)).await?;
    let metrics = Metrics::new();
    tokio::spawn(
        metrics
            .clone()
            .serve(TcpListener::bind(settings.http).await?),
    );
    let socket = Arc::new(UdpSocket::bind(settings.listen).await?);
    let mut agones = Agones::ready().await?;
    let shared = Shared {
        socket,
        store,
        metrics,
    };
    let address = agones.address().await?;
    let capacity = agones.capacity().await?;
    let (count, counted) = watch::channel(0);
    let agones = tokio::spawn(agones.report(counted));
    let mut server = Server {
        shared,
        count,
        drains: watch::Sender::new(false),
        inboxes: BTreeMap::new(),
        matches: JoinSet::new(),
    };
    let (finder, mut found) = mpsc::channel(1);
    let finder = tokio::spawn(find_matches(
        server.shared.store.clone(),
        (address, capacity),
        finder,
        server.drains.subscribe(),
    ));
    let mut buffer = [0; LARGEST];
    loop {
        tokio::select! {
            biased;
            _ = terminate.recv() => break,
            Some(gone) = server.matches.join_next() => server.forget(gone?).await,
            Some(found) = found.recv() => server.take_up(found),
            received = server.shared.socket.recv_from(&mut buffer) => {
                // An error is of a packet that was sent before: nobody is there any more.
                if let Ok((length, from)) = received {
                    server.receive(&buffer[..length], from);
                }
            }
        }
    }
    server.shared.metrics.draining.set(1);
    server.drains.send_replace(true);
    // What was found meanwhile is released as well.
    while let Some(found) = found.recv().await {
        server.take_up(found);
    }
    finder.await?;
    while let Some(gone) = server.matches.join_next().await {
        server.forget(gone?).await;
    }
    // Without a last word of no matches, which would make the server ready again.
    drop(server.count);
    agones.await?.shutdown().await?;
    Ok(())
}

/// Takes up matches that nobody runs as long as there is room, one at a time: servers that look at the same time share
/// them, though not exactly.
async fn find_matches(
    mut store: Store,
    (address, capacity): (SocketAddr, usize),
    found: mpsc::Sender<Found>,
    mut drains: watch::Receiver<bool>,
) {
    let room = Arc::new(Semaphore::new(capacity));
    loop {
        let place = tokio::select! {
            biased;
            () = asked_for(&mut drains) => return,
            place = room.clone().acquire_owned() => place.expect("it is never closed"),
        };
        match store.take_up(address).await {
            Ok(Some(taken)) => {
                if found.send((taken, place)).await.is_err() {
                    return;
                }
                sleep(SHARE).await;
            }
            Ok(None) => sleep(LOOK).await,
            Err(error) => {
                eprintln!("no match can be taken up: {error}");
                sleep(LOOK).await;
            }
        }
    }
}

struct Server {
    shared: Shared,
    /// How many matches there are, for Agones.
    count: watch::Sender<usize>,
    drains: watch::Sender<bool>,
    /// Of the matches that are here, by the newest claim: one whose lease has ended may come back before it is forgotten.
    inboxes: BTreeMap<Id, (Claim, mpsc::Sender<Received>)>,
    matches: JoinSet<Gone>,
}

/// A match that is no longer here.
struct Gone {
    claim: Claim,
    ending: Result<Ending, JoinError>,
}

impl Server {
    fn take_up(&mut self, (taken, place): Found) {
        let claim = taken.claim.clone();
        let host = match Host::new(self.shared.clone(), &taken) {
            Ok(host) => host,
            Err(error) => {
                // When the lease has ended a server of its own build may be the first to look.
                eprintln!("match {} is left to another server: {error}", claim.id);
                return self.shared.metrics.gone("refused");
            }
        };
        let (inbox, packets) = mpsc::channel(INBOX);
        let drains = self.drains.subscribe();
        self.inboxes.insert(claim.id, (claim.clone(), inbox));
        self.matches.spawn(async move {
            // As a task of its own: a panic ends this match and no other.
            let ending = tokio::spawn(host.run(packets, drains)).await;
            drop(place);
            Gone { claim, ending }
        });
        self.shared.metrics.taken_up.inc();
        self.tell_count();
    }

    fn receive(&self, bytes: &[u8], from: SocketAddr) {
        let Some(packet) = read::<FromClient>(bytes) else {
            return;
        };
        if let Some((_, inbox)) = self.inboxes.get(&packet.id) {
            let _ = inbox.try_send((packet, from));
        }
    }

    async fn forget(&mut self, Gone { claim, ending }: Gone) {
        let newest = self.inboxes.get(&claim.id);
        if newest.is_some_and(|(newest, _)| *newest == claim) {
            self.inboxes.remove(&claim.id);
        }
        self.shared.metrics.gone(match ending {
            Ok(Ending::Finished) => "finished",
            Ok(Ending::Released) => "moved",
            Ok(Ending::Lost) => "lost",
            Err(_) => {
                // Another server would panic in the same step.
                if let Err(error) = self.shared.store.remove(&claim).await {
                    eprintln!("match {} panicked and was not removed: {error}", claim.id);
                }
                "panicked"
            }
        });
        self.tell_count();
    }

    fn tell_count(&self) {
        let count = self.inboxes.len();
        self.shared.metrics.matches.set(count as i64);
        // A server that drains is not ready again, however few it has.
        if !*self.drains.borrow() {
            self.count.send_replace(count);
        }
    }
}
