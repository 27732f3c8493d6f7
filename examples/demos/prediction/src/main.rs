//! A match over UDP, with bad connections.
//!
//! `cargo run --release --manifest-path examples/demos/prediction/Cargo.toml -- match`
#![allow(missing_docs, reason = "a program")]

// Measurements of this machine.
mod cost;

use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand};
use evenstep_prediction::client::Client;
use evenstep_prediction::end::End;
use evenstep_prediction::line::Quality;
use evenstep_prediction::log::{ClientLog, Figures};
use evenstep_prediction::table;
use evenstep_prediction::udp::{play, serve};

/// Runs a server with client prediction.
#[derive(Parser)]
struct Options {
    /// The number of crates in the arena
    #[arg(long, global = true, default_value_t = 40)]
    crates: usize,
    /// Crates within this distance of the client's body, in metres, are predicted
    #[arg(long, global = true, default_value_t = 2.5)]
    reach: f32,
    /// The duration in seconds
    #[arg(long, global = true, default_value_t = 20)]
    seconds: u64,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves a match
    Server {
        #[arg(long, default_value_t = 0)]
        port: u16,
    },
    /// Plays in a match
    Client {
        server: SocketAddr,
        /// Frames per second
        #[arg(long, default_value_t = 60)]
        display: u32,
        #[command(flatten)]
        line: LineOptions,
    },
    /// Plays a match between a server and two clients, then another with an outage, and prints statistics
    Match {
        #[command(flatten)]
        line: LineOptions,
    },
    /// Measures rollbacks and the sizes of states
    Cost,
}

/// The quality of a connection, in one direction.
#[derive(Args, Clone, Copy)]
struct LineOptions {
    /// The mean delay in milliseconds
    #[arg(long, default_value_t = 50)]
    delay: u64,
    /// The largest deviation from the delay, in milliseconds
    #[arg(long, default_value_t = 15)]
    jitter: u64,
    /// The number of lost packets per thousand
    #[arg(long, default_value_t = 20)]
    loss: u64,
    /// The time at which an outage begins, in seconds
    #[arg(long, default_value_t = 0)]
    outage_at: u64,
    /// The length of the outage, in seconds
    #[arg(long, default_value_t = 0)]
    outage: u64,
}

impl LineOptions {
    fn quality(self) -> Quality {
        let [delay, jitter] = [self.delay, self.jitter].map(Duration::from_millis);
        let [begin, length] = [self.outage_at, self.outage].map(Duration::from_secs);
        Quality {
            delay: delay.saturating_sub(jitter),
            jitter: 2 * jitter,
            loss: self.loss,
            outage: begin..begin + length,
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "packets arrive in wall-clock time"
)]
fn now() -> Instant {
    Instant::now()
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    match &options.command {
        Command::Server { port } => {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, *port))?;
            println!("{}", socket.local_addr()?);
            serve(&socket, options.crates, now(), options.length())?;
        }
        Command::Client {
            server,
            display,
            line,
        } => {
            options.join(*server, *display, *line, now())?;
        }
        Command::Match { line } => options.play_two(*line)?,
        Command::Cost => cost::print(options.reach)?,
    }
    Ok(())
}

/// The frame rates of the clients, in Hz.
const DISPLAYS: [u32; 2] = [60, 144];

impl Options {
    fn length(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }

    /// Plays as a client.
    fn join(
        &self,
        server: SocketAddr,
        display: u32,
        line: LineOptions,
        start: Instant,
    ) -> io::Result<ClientLog> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.connect(server)?;
        let client = Client::new(self.crates, self.reach);
        let end = End::new(client, display, &line.quality(), display.into());
        play(end, &socket, start, self.length())
    }

    fn play_two(&self, line: LineOptions) -> Result<(), Box<dyn Error>> {
        let outage = LineOptions {
            outage_at: self.seconds / 2,
            outage: 2,
            ..line
        };
        let mut columns = Vec::new();
        for (name, line) in [("", line), ("outage, ", outage)] {
            for (display, figures) in DISPLAYS.iter().zip(self.play_one(line)?) {
                let figures = figures.ok_or("a client received nothing")?;
                columns.push(figures.column(format!("{name}{display} Hz")));
            }
        }
        table::print(&columns);
        Ok(())
    }

    /// Plays a match. Returns the statistics of each client, without its first second.
    fn play_one(&self, line: LineOptions) -> io::Result<Vec<Option<Figures>>> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, start) = (socket.local_addr()?, now());
        let second = Duration::from_secs(1);
        thread::scope(|scope| {
            let server = || serve(&socket, self.crates, start, self.length() + second);
            let server = scope.spawn(server);
            let clients = DISPLAYS
                .map(|display| scope.spawn(move || self.join(address, display, line, start)));
            let shown = clients.map(|client| client.join().unwrap());
            let had = server.join().unwrap()?;
            let figures = shown.into_iter();
            figures
                .map(|shown| Ok(Figures::new(&had, &shown?, second)))
                .collect()
        })
    }
}
