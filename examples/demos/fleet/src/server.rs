//! A server: takes up matches, runs them, and hands them on when it must exit.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use evenstep_server::match_::Id;
use evenstep_server::record::Ending;
use tokio::net::{TcpListener, UdpSocket};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep};

use crate::agones::Agones;
use crate::host::{Host, Received, Shared, asked_for};
use crate::metrics::Metrics;
use crate::packets::{FromClient, LARGEST, read};
use crate::store::{Claim, Store, Taken};

/// Where a server listens.
#[derive(Args, Clone, Debug)]
pub struct Settings {
    /// The address for clients (UDP): the `containerPort` of the manifest
    #[arg(long)]
    pub listen: SocketAddr,
    /// The address for Prometheus (HTTP)
    #[arg(long)]
    pub http: SocketAddr,
    /// The URL of Redis
    #[arg(long)]
    pub redis: String,
    /// The length of the lease that a save renews, in milliseconds
    #[arg(long, default_value_t = 2_000)]
    pub lease: u64,
}

/// How often a server with room looks for matches that no server runs.
const LOOK: Duration = Duration::from_millis(50);

/// The pause after a server has taken up a match. It leaves time to other servers.
const SHARE: Duration = Duration::from_millis(2);

/// The number of packets that wait for a match. Further packets are lost.
const INBOX: usize = 64;

/// A match, and its slot on this server.
type Found = (Taken, OwnedSemaphorePermit);

/// Serves until the process is asked to exit (SIGTERM). Then it saves and releases each match, and tells Agones.
///
/// # Errors
/// If the sidecar, Redis or an address is not available.
pub async fn serve(settings: Settings) -> Result<(), Box<dyn Error>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let store = Store::connect(&settings.redis, Duration::from_millis(settings.lease)).await?;
    let (metrics, start) = (Metrics::default(), Instant::now());
    let listener = TcpListener::bind(settings.http).await?;
    tokio::spawn(metrics.clone().serve(listener, start));
    let socket = Arc::new(UdpSocket::bind(settings.listen).await?);
    let mut agones = Agones::ready().await?;
    let shared = Shared {
        socket,
        store,
        metrics,
        start,
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
                // An error belongs to an earlier packet, whose receiver is gone.
                if let Ok((length, from)) = received {
                    server.receive(&buffer[..length], from);
                }
            }
        }
    }
    server.shared.metrics.common.draining.set(1);
    server.drains.send_replace(true);
    // Matches that were found meanwhile are released, too.
    while let Some(found) = found.recv().await {
        server.take_up(found);
    }
    finder.await?;
    while let Some(gone) = server.matches.join_next().await {
        server.forget(gone?).await;
    }
    // The sender is dropped without a last report of no matches, which would make the server ready again.
    drop(server.count);
    agones.await?.shutdown().await?;
    Ok(())
}

/// Takes up matches that no server runs while there is room, one at a time, so servers that look at the same time share
/// them roughly.
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
            place = room.clone().acquire_owned() => place.expect("the semaphore is never closed"),
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
                eprintln!("cannot take up a match: {error}");
                sleep(LOOK).await;
            }
        }
    }
}

struct Server {
    shared: Shared,
    /// The number of matches, for Agones.
    count: watch::Sender<usize>,
    drains: watch::Sender<bool>,
    /// The matches on this server, with the newest claim. A match whose lease has ended may return before it is
    /// forgotten.
    inboxes: BTreeMap<Id, (Claim, mpsc::Sender<Received>)>,
    matches: JoinSet<Gone>,
}

/// A match that has left.
struct Gone {
    claim: Claim,
    ending: Ending,
}

impl Server {
    fn take_up(&mut self, (taken, place): Found) {
        let claim = taken.claim.clone();
        let host = match Host::new(self.shared.clone(), &taken) {
            Ok(host) => host,
            Err(error) => {
                // After the lease has ended, a server of the match's build may be the first to look.
                eprintln!("leaving match {} to another server: {error}", claim.id);
                return self.shared.metrics.common.gone(Ending::Refused);
            }
        };
        let (inbox, packets) = mpsc::channel(INBOX);
        let drains = self.drains.subscribe();
        self.inboxes.insert(claim.id, (claim.clone(), inbox));
        self.matches.spawn(async move {
            // The match runs in a separate task, so a panic ends only this match.
            let ending = tokio::spawn(host.run(packets, drains)).await;
            drop(place);
            let ending = ending.unwrap_or(Ending::Panicked);
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
        // Another server would panic in the same step.
        if ending == Ending::Panicked
            && let Err(error) = self.shared.store.remove(&claim).await
        {
            eprintln!(
                "match {} panicked, and could not be removed: {error}",
                claim.id
            );
        }
        self.shared.metrics.common.gone(ending);
        self.tell_count();
    }

    fn tell_count(&self) {
        let count = self.inboxes.len();
        self.shared.metrics.common.matches.set(count as i64);
        // A draining server does not become ready again, however few matches it has.
        if !*self.drains.borrow() {
            self.count.send_replace(count);
        }
    }
}
