//! A stand-in for Agones' sidecar where there is no Kubernetes. It speaks the same protocol, and records the calls.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::net::TcpListener;
use tonic::transport::server::TcpIncoming;
use tonic::{Request, Response, Status, Streaming};

#[allow(missing_docs, clippy::pedantic, reason = "generated")]
mod sdk {
    tonic::include_proto!("agones.dev.sdk");
    pub mod beta {
        tonic::include_proto!("agones.dev.sdk.beta");
    }
}

use sdk::beta::sdk_server::{Sdk as Beta, SdkServer as BetaServer};
use sdk::beta::{Counter, GetCounterRequest, UpdateCounterRequest};
use sdk::sdk_server::{Sdk, SdkServer};
use sdk::{Empty, GameServer};

/// A call from a game server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// The server may be allocated or scaled away.
    Ready,
    /// The server has players and must be kept.
    Allocate,
    /// The server is alive.
    Health,
    /// The number of matches on the server.
    Matches(i64),
    /// The server is done.
    Shutdown,
}

/// The sidecar of one game server.
#[derive(Clone, Debug)]
pub struct Sidecar {
    /// The port on which it listens.
    pub port: u16,
    said: Arc<Said>,
}

#[derive(Debug)]
struct Said {
    /// The address of the game server for clients.
    address: SocketAddr,
    capacity: i64,
    calls: Mutex<Vec<Call>>,
}

impl Said {
    fn add(&self, call: Call) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.push(call);
    }
}

impl Sidecar {
    /// Starts a sidecar for a game server at an address, with a capacity for matches. It answers on a free port of this
    /// machine, for as long as the runtime lives.
    ///
    /// # Errors
    /// If the system has no free port.
    pub async fn start(address: SocketAddr, capacity: i64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let said = Arc::new(Said {
            address,
            capacity,
            calls: Mutex::default(),
        });
        let incoming =
            TcpIncoming::from_listener(listener, true, None).map_err(io::Error::other)?;
        tokio::spawn(
            tonic::transport::Server::builder()
                .add_service(SdkServer::from_arc(said.clone()))
                .add_service(BetaServer::from_arc(said.clone()))
                .serve_with_incoming(incoming),
        );
        Ok(Self { port, said })
    }

    /// Returns the calls, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<Call> {
        let calls = &self.said.calls;
        calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the last reported number of matches.
    #[must_use]
    pub fn matches(&self) -> i64 {
        let calls = self.calls().into_iter().rev();
        let mut counts = calls.filter_map(|call| match call {
            Call::Matches(count) => Some(count),
            _ => None,
        });
        counts.next().unwrap_or(0)
    }
}

type Answer<T> = Result<Response<T>, Status>;

fn empty() -> Response<Empty> {
    Response::new(Empty {})
}

#[tonic::async_trait]
impl Sdk for Said {
    async fn ready(&self, _: Request<Empty>) -> Answer<Empty> {
        self.add(Call::Ready);
        Ok(empty())
    }

    async fn allocate(&self, _: Request<Empty>) -> Answer<Empty> {
        self.add(Call::Allocate);
        Ok(empty())
    }

    async fn shutdown(&self, _: Request<Empty>) -> Answer<Empty> {
        self.add(Call::Shutdown);
        Ok(empty())
    }

    async fn health(&self, request: Request<Streaming<Empty>>) -> Answer<Empty> {
        let mut pings = request.into_inner();
        while pings.message().await?.is_some() {
            self.add(Call::Health);
        }
        Ok(empty())
    }

    async fn get_game_server(&self, _: Request<Empty>) -> Answer<GameServer> {
        use sdk::game_server::Status;
        use sdk::game_server::status::Port;
        Ok(Response::new(GameServer {
            status: Some(Status {
                state: "Scheduled".into(),
                address: self.address.ip().to_string(),
                ports: vec![Port {
                    name: "game".into(),
                    port: self.address.port().into(),
                }],
            }),
        }))
    }
}

#[tonic::async_trait]
impl Beta for Said {
    async fn get_counter(&self, request: Request<GetCounterRequest>) -> Answer<Counter> {
        Ok(Response::new(Counter {
            name: request.into_inner().name,
            count: 0,
            capacity: self.capacity,
        }))
    }

    async fn update_counter(&self, request: Request<UpdateCounterRequest>) -> Answer<Counter> {
        let update = request.into_inner().counter_update_request;
        let update = update.ok_or_else(|| Status::invalid_argument("no update"))?;
        let count = update.count.unwrap_or_default();
        if !(0..=self.capacity).contains(&count) {
            return Err(Status::out_of_range("more than the capacity"));
        }
        self.add(Call::Matches(count));
        Ok(Response::new(Counter {
            name: update.name,
            count,
            capacity: self.capacity,
        }))
    }
}
