//! A fleet on one machine, for the trial and for tests: Redis, servers and their sidecars, Prometheus.

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::match_::Plan;
use crate::sidecar::{Call, Sidecar};
use crate::store::Store;

/// Why a part of the stage is not available.
#[derive(thiserror::Error)]
pub enum StageError {
    /// A program is not installed.
    #[error(
        "there is no program `{program}`: on Debian, install it with `apt-get install {package}`"
    )]
    NotInstalled {
        /// The program.
        program: String,
        /// The Debian package that contains it.
        package: &'static str,
    },
    /// An error of the system.
    #[error(transparent)]
    System(#[from] io::Error),
    /// An error of Redis.
    #[error(transparent)]
    Redis(#[from] redis::RedisError),
    /// A program was started but does not answer.
    #[error("no answer within ten seconds: {0}")]
    Silent(&'static str),
}

/// Prints the message, because a program or test that ends with an error prints its `Debug` form.
impl fmt::Debug for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A process that is killed when this value is dropped.
#[derive(Debug)]
pub struct Running(Child);

impl Running {
    fn start(command: &mut Command, package: &'static str) -> Result<Self, StageError> {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let child = command.kill_on_drop(true).spawn();
        let child = child.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StageError::NotInstalled {
                program: command.as_std().get_program().display().to_string(),
                package,
            },
            _ => StageError::System(error),
        })?;
        Ok(Self(child))
    }

    /// Sends a signal.
    ///
    /// # Errors
    /// If the process has ended.
    pub fn signal(&self, signal: Signal) -> io::Result<()> {
        let id = self.0.id().and_then(|id| Pid::from_raw(id as i32));
        let id = id.ok_or(io::ErrorKind::NotFound)?;
        Ok(kill_process(id, signal)?)
    }

    /// Waits until the process exits.
    ///
    /// # Errors
    /// An error of the system.
    pub async fn ended(&mut self) -> io::Result<ExitStatus> {
        self.0.wait().await
    }
}

/// A fleet on one machine.
#[derive(Debug)]
pub struct Stage {
    program: PathBuf,
    folder: TempDir,
    url: String,
    lease: Duration,
    /// The connection to Redis.
    pub store: Store,
    /// The process of Redis.
    pub redis: Running,
}

/// A server on the stage.
#[derive(Debug)]
pub struct Server {
    /// The process of the server.
    pub process: Running,
    /// The address for clients.
    pub address: SocketAddr,
    /// The sidecar, which records its calls.
    pub sidecar: Sidecar,
}

impl Server {
    /// Waits until the server has made these calls in this order.
    pub async fn wait_for_calls(&self, calls: &[Call]) {
        loop {
            let mut left = calls;
            for call in self.sidecar.calls() {
                if left.first() == Some(&call) {
                    left = &left[1..];
                }
            }
            if left.is_empty() {
                break;
            }
            sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Returns a port that was free a moment ago, for both TCP and UDP, as an orchestrator assigns one.
///
/// # Errors
/// If the system has no free port.
pub fn free_address() -> io::Result<SocketAddr> {
    loop {
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        if UdpSocket::bind(address).is_ok() {
            return Ok(address);
        }
    }
}

async fn answers<T, E>(
    what: &'static str,
    ask: impl AsyncFn() -> Result<T, E>,
) -> Result<T, StageError> {
    let asked = timeout(Duration::from_secs(10), async {
        loop {
            if let Ok(answer) = ask().await {
                return answer;
            }
            sleep(Duration::from_millis(50)).await;
        }
    });
    asked.await.map_err(|_| StageError::Silent(what))
}

impl Stage {
    /// Starts a Redis that writes nothing to disk. `program` is this package's, and runs the servers.
    ///
    /// # Errors
    /// If Redis is not installed, or does not answer.
    pub async fn new(program: impl Into<PathBuf>, lease: Duration) -> Result<Self, StageError> {
        let folder = tempfile::tempdir()?;
        let address = free_address()?;
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--port", &address.port().to_string()]);
        command.args(["--save", "", "--dir"]).arg(folder.path());
        let redis = Running::start(&mut command, "redis-server")?;
        let url = format!("redis://{address}");
        let store = answers("redis-server", async || Store::connect(&url, lease).await).await?;
        Ok(Self {
            program: program.into(),
            folder,
            url,
            lease,
            store,
            redis,
        })
    }

    /// Adds `count` matches.
    ///
    /// # Errors
    /// An error of Redis.
    ///
    /// # Panics
    /// Never, because a match before its first step can be saved.
    pub async fn add_matches(&mut self, count: u64, plan: Plan) -> Result<(), StageError> {
        for id in 0..count {
            let bytes = plan.start(id, Duration::ZERO).save();
            let bytes = bytes.expect("the match has run no step");
            self.store.add(id, &bytes).await?;
        }
        Ok(())
    }

    /// Starts a server for `capacity` matches, with metrics at an address.
    ///
    /// # Errors
    /// If the server cannot be started.
    pub async fn server(&self, capacity: i64, http: SocketAddr) -> Result<Server, StageError> {
        let address = free_address()?;
        let sidecar = Sidecar::start(address, capacity).await?;
        let mut command = Command::new(&self.program);
        command.args(["server", "--listen", &address.to_string()]);
        command.args(["--http", &http.to_string(), "--redis", &self.url]);
        command.args(["--lease", &self.lease.as_millis().to_string()]);
        command.env("AGONES_SDK_GRPC_PORT", sidecar.port.to_string());
        let process = Running::start(&mut command, "evenstep-fleet")?;
        Ok(Server {
            process,
            address,
            sidecar,
        })
    }

    /// Starts a Prometheus that scrapes the servers once per second.
    ///
    /// # Errors
    /// If it is not installed, or does not answer.
    pub async fn prometheus(&self, servers: &[SocketAddr]) -> Result<Prometheus, StageError> {
        let targets: Vec<String> = servers.iter().map(|server| format!("'{server}'")).collect();
        let settings = format!(
            "global: {{scrape_interval: 1s}}\n\
             scrape_configs: [{{job_name: fleet, static_configs: [{{targets: [{}]}}]}}]\n",
            targets.join(", ")
        );
        let file = self.folder.path().join("prometheus.yml");
        std::fs::write(&file, settings)?;
        let address = free_address()?;
        let option = |name: &str, value: &Path| format!("--{name}={}", value.display());
        let mut command = Command::new("prometheus");
        command.arg(option("config.file", &file));
        command.arg(option(
            "storage.tsdb.path",
            &self.folder.path().join("series"),
        ));
        command.arg(format!("--web.listen-address={address}"));
        command.arg("--log.level=error");
        let prometheus = Prometheus {
            address,
            _process: Running::start(&mut command, "prometheus")?,
        };
        answers("prometheus", async || prometheus.ask("vector(1)").await).await?;
        Ok(prometheus)
    }
}

/// A running Prometheus.
#[derive(Debug)]
pub struct Prometheus {
    address: SocketAddr,
    _process: Running,
}

/// Prometheus returned no number.
#[derive(Debug, thiserror::Error)]
#[error("Prometheus has no number for `{0}`")]
pub struct NoNumber(String);

impl Prometheus {
    /// Returns the value of an expression, with Prometheus's tool.
    ///
    /// # Errors
    /// If the expression has no value.
    pub async fn ask(&self, expression: &str) -> Result<f64, NoNumber> {
        let mut command = Command::new("promtool");
        command.args(["query", "instant", "-o", "json"]);
        command
            .arg(format!("http://{}", self.address))
            .arg(expression);
        let value = command.output().await.ok().and_then(|output| {
            let answer: serde_json::Value = serde_json::from_slice(&output.stdout).ok()?;
            answer[0]["value"][1].as_str()?.parse().ok()
        });
        value.ok_or_else(|| NoNumber(expression.into()))
    }
}
