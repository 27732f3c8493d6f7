//! A match over UDP between processes, with bad connections.
//!
//! `cargo run --release --manifest-path examples/prediction/Cargo.toml -- match`
#![allow(missing_docs, reason = "a program")]

// Measurements of this machine.
mod cost;

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command as Process, Stdio};
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use evenstep_prediction::client::Client;
use evenstep_prediction::line::Quality;
use evenstep_prediction::log::{ClientLog, Figures, ServerLog, print};
use evenstep_prediction::packets::{read, write};
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
        /// Writes a log of its states to this file
        #[arg(long)]
        log: Option<PathBuf>,
    },
    /// Plays in a match
    Client {
        server: SocketAddr,
        /// Frames per second
        #[arg(long, default_value_t = 60)]
        display: u32,
        #[command(flatten)]
        line: LineOptions,
        /// Writes a log of what it displayed to this file
        #[arg(long)]
        log: Option<PathBuf>,
    },
    /// Plays a match between a server and two clients in three processes, then another with an outage, and prints
    /// statistics
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

    fn arguments(self) -> [String; 5] {
        let Self {
            delay,
            jitter,
            loss,
            outage_at,
            outage,
        } = self;
        [
            format!("--delay={delay}"),
            format!("--jitter={jitter}"),
            format!("--loss={loss}"),
            format!("--outage-at={outage_at}"),
            format!("--outage={outage}"),
        ]
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let length = Duration::from_secs(options.seconds);
    match &options.command {
        Command::Server { port, log } => {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, *port))?;
            println!("{}", socket.local_addr()?);
            let had = serve(&socket, options.crates, length)?;
            write_log(log.as_deref(), &write(&had))?;
        }
        Command::Client {
            server,
            display,
            line,
            log,
        } => {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
            socket.connect(server)?;
            let client = Client::new(options.crates, options.reach);
            let shown = play(client, &socket, *display, &line.quality(), length)?;
            write_log(log.as_deref(), &write(&shown))?;
        }
        Command::Match { line } => play_two(&options, *line)?,
        Command::Cost => cost::print(options.reach)?,
    }
    Ok(())
}

fn write_log(file: Option<&Path>, log: &[u8]) -> std::io::Result<()> {
    file.map_or(Ok(()), |file| fs::write(file, log))
}

/// The frame rates of the clients, in Hz.
const DISPLAYS: [u32; 2] = [60, 144];

fn play_two(options: &Options, line: LineOptions) -> Result<(), Box<dyn Error>> {
    let outage = LineOptions {
        outage_at: options.seconds / 2,
        outage: 2,
        ..line
    };
    let mut columns = Vec::new();
    for (name, line) in [("", line), ("outage, ", outage)] {
        let figures = play_one(options, line)?;
        columns.extend(
            DISPLAYS
                .iter()
                .zip(figures)
                .map(|(display, figures)| (format!("{name}{display} Hz"), figures)),
        );
    }
    print(&columns);
    Ok(())
}

/// Plays a match in three processes. Returns the statistics of each client, without its first second.
fn play_one(options: &Options, line: LineOptions) -> Result<Vec<Figures>, Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("evenstep-prediction-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let log = |name: &str| folder.join(name);
    let start = |arguments: &[String], seconds: u64, log: &Path| {
        let mut process = Process::new(std::env::current_exe()?);
        process
            .args(arguments)
            .arg("--log")
            .arg(log)
            .arg(format!("--seconds={seconds}"));
        process
            .arg(format!("--crates={}", options.crates))
            .arg(format!("--reach={}", options.reach));
        process.stdout(Stdio::piped()).spawn().map(Running)
    };
    let mut server = start(&["server".into()], options.seconds + 1, &log("server"))?;
    let mut address = String::new();
    let output = server.0.stdout.take().ok_or("the output is not piped")?;
    BufReader::new(output).read_line(&mut address)?;
    let clients = DISPLAYS.map(|display| {
        let mut arguments = vec![
            "client".into(),
            address.trim().into(),
            format!("--display={display}"),
        ];
        arguments.extend(line.arguments());
        start(&arguments, options.seconds, &log(&display.to_string()))
    });
    for client in clients {
        client?.wait()?;
    }
    server.wait()?;
    let had: ServerLog = read(&fs::read(log("server"))?).ok_or("the server's log is truncated")?;
    let figures = DISPLAYS.iter().map(|display| {
        let shown: ClientLog =
            read(&fs::read(log(&display.to_string()))?).ok_or("a client's log is truncated")?;
        let figures = Figures::new(&had, &shown, Duration::from_secs(1));
        figures.ok_or_else(|| "a client received nothing".into())
    });
    let figures = figures.collect();
    fs::remove_dir_all(folder)?;
    figures
}

/// A child process that is killed when this value is dropped.
struct Running(Child);

impl Running {
    fn wait(mut self) -> Result<(), Box<dyn Error>> {
        let status = self.0.wait()?;
        if status.success() {
            Ok(())
        } else {
            Err(status.to_string().into())
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It is no error if the process has ended already.
        let _ = self.0.kill();
    }
}
