//! The game as a person plays it: in a window on a virtual display, with real keys.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// How often something is asked for before it counts as missing: for ten minutes, as a machine may have much else to do.
const TRIES: u32 = 15_000;
const PAUSE: Duration = Duration::from_millis(40);

/// A virtual display, and the game on it.
struct Desktop {
    server: Child,
    game: Child,
    display: String,
    log: PathBuf,
}

/// What a frame showed.
#[derive(Clone, Copy, Debug)]
struct Row {
    time: f64,
    x: f32,
    y: f32,
}

impl Desktop {
    fn open(name: &str, arguments: &[&str]) -> Self {
        let mut server = Command::new("Xvfb")
            .args([
                "-displayfd",
                "1",
                "-screen",
                "0",
                "640x360x24",
                "-nolisten",
                "tcp",
                "-noreset",
            ])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("Xvfb is there: see the README for the packages");
        let mut number = String::new();
        let output = server.stdout.take().expect("it is piped");
        BufReader::new(output)
            .read_line(&mut number)
            .expect("it names its display");
        let display = format!(":{}", number.trim());
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.csv"));
        let _ = std::fs::remove_file(&log);
        let game = Command::new(env!("CARGO_BIN_EXE_platformer2d"))
            .args(arguments)
            .arg("--log")
            .arg(&log)
            .env("DISPLAY", &display)
            .env_remove("WAYLAND_DISPLAY")
            .spawn()
            .expect("it can be run");
        let mut desktop = Self {
            server,
            game,
            display,
            log,
        };
        desktop.wait_for("a window", |desktop| {
            let windows = desktop.run(
                "xdotool",
                &["search", "--name", "evenstep: a platformer in two"],
            )?;
            let windows = String::from_utf8(windows).ok()?;
            let window = windows.lines().next()?;
            desktop.run("xdotool", &["windowmove", window, "0", "0"])?;
            desktop.run("xdotool", &["windowfocus", "--sync", window])
        });
        desktop.wait_until("the first frames", |row| row.time > 0.5);
        desktop
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "another process draws, and is asked now and then"
    )]
    fn wait_for<T>(&mut self, what: &str, ask: impl Fn(&Self) -> Option<T>) -> T {
        for _ in 0..TRIES {
            if let Some(answer) = ask(self) {
                return answer;
            }
            let ended = self.game.try_wait().expect("it was started");
            assert!(ended.is_none(), "the game ended: {ended:?}");
            sleep(PAUSE);
        }
        panic!("{what} did not come: {:?}", self.rows().last());
    }

    /// Waits until the last frame is so.
    fn wait_until(&mut self, what: &str, is: impl Fn(&Row) -> bool) -> Row {
        self.wait_for(what, |desktop| desktop.rows().last().copied().filter(&is))
    }

    fn rows(&self) -> Vec<Row> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may be under way.
        let lines = text
            .split_inclusive('\n')
            .filter(|line| line.ends_with('\n'));
        lines
            .map(|line| {
                let mut numbers = line.split(',').skip(1);
                let mut next = || {
                    numbers
                        .next()
                        .and_then(|it| it.parse::<f64>().ok())
                        .expect("a number")
                };
                Row {
                    time: next(),
                    x: next() as f32,
                    y: next() as f32,
                }
            })
            .collect()
    }

    fn key(&self, what: &str, key: &str) {
        self.run("xdotool", &[what, key]).expect("a key");
    }

    /// How many pixels of the display have that colour.
    fn count(&self, color: [u8; 3]) -> usize {
        let picture = [
            "-display",
            &self.display,
            "-window",
            "root",
            "-depth",
            "8",
            "rgb:-",
        ];
        let bytes = self.run("import", &picture).expect("a picture");
        bytes.chunks(3).filter(|pixel| *pixel == color).count()
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Option<Vec<u8>> {
        let output = Command::new(program)
            .args(arguments)
            .env("DISPLAY", &self.display)
            .output();
        let output = output
            .unwrap_or_else(|error| panic!("{program}: {error}; see the README for the packages"));
        output.status.success().then_some(output.stdout)
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        for child in [&mut self.game, &mut self.server] {
            // Who has ended already cannot be.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

const HERO: [u8; 3] = [0xd0, 0x46, 0x48];

fn plays(name: &str, arguments: &[&str]) {
    // Two displays that start at once may take the same number.
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut desktop = Desktop::open(name, arguments);
    let start = desktop.rows().last().copied().unwrap();
    // Twice as large as the picture: 10 by 19 pixels of it.
    let hero = desktop.count(HERO);
    assert!((700..=800).contains(&hero), "{hero} pixels");

    desktop.key("keydown", "Right");
    desktop.wait_until("a walk", |row| row.x > start.x + 3.0);
    desktop.key("keyup", "Right");
    let before = desktop.rows().len();
    desktop.key("keydown", "space");
    // It may be over before the last frame is asked for.
    desktop.wait_for("a jump", |desktop| {
        let rows = desktop.rows();
        rows[before..]
            .iter()
            .any(|row| row.y > start.y + 0.3)
            .then_some(())
    });
    desktop.key("keyup", "space");
    let landed = desktop.wait_until("the ground", |row| row.y < start.y + 0.05);
    assert!(landed.x > start.x + 3.0);
    let rows = desktop.rows();
    let highest = rows[before..].iter().map(|row| row.y).fold(0.0, f32::max);
    assert!(highest < start.y + 2.0, "{highest}");
    // The window shows it: the camera has followed.
    assert_eq!(desktop.count(HERO), hero);

    desktop.key("key", "Escape");
    assert!(desktop.game.wait().unwrap().success());
}

#[test]
fn it_walks_and_jumps_by_keys_and_is_seen() {
    plays("own", &[]);
}

#[test]
fn so_it_does_with_hecs_at_another_rate() {
    plays("hecs", &["--hecs", "--rate", "30"]);
}
