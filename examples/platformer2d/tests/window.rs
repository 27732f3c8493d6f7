//! Plays the game as a person does: in a window on a virtual display, with real keys.

#[path = "../../platformer/tests/window/display.rs"]
mod display;

use std::path::PathBuf;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use display::Display;

/// The number of attempts before something counts as missing. They take ten minutes, because the machine may be busy.
const TRIES: u32 = 15_000;
const PAUSE: Duration = Duration::from_millis(40);

/// A virtual display, and the game on it.
struct Desktop {
    game: Child,
    display: Display,
    log: PathBuf,
}

/// A line of the game's log.
#[derive(Clone, Copy, Debug)]
struct Row {
    time: f64,
    x: f32,
    y: f32,
}

impl Desktop {
    fn open(name: &str, arguments: &[&str]) -> Self {
        let display = Display::open("640x360");
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.csv"));
        let _ = std::fs::remove_file(&log);
        let game = display
            .command(env!("CARGO_BIN_EXE_platformer2d"))
            .args(arguments)
            .arg("--log")
            .arg(&log)
            .spawn()
            .unwrap();
        let mut desktop = Self { game, display, log };
        desktop.wait_for("a window", |desktop| {
            desktop.display.focus("evenstep: a platformer in two")
        });
        desktop.wait_until("the first frames", |row| row.time > 0.5);
        desktop
    }

    #[expect(
        clippy::disallowed_methods,
        reason = "another process draws, and is polled"
    )]
    fn wait_for<T>(&mut self, what: &str, ask: impl Fn(&Self) -> Option<T>) -> T {
        for _ in 0..TRIES {
            if let Some(answer) = ask(self) {
                return answer;
            }
            let ended = self.game.try_wait().unwrap();
            assert!(ended.is_none(), "the game ended: {ended:?}");
            sleep(PAUSE);
        }
        panic!("{what} did not happen: {:?}", self.rows().last());
    }

    /// Waits until the last frame fulfils a condition, and returns it.
    fn wait_until(&mut self, what: &str, is: impl Fn(&Row) -> bool) -> Row {
        self.wait_for(what, |desktop| desktop.rows().last().copied().filter(&is))
    }

    fn rows(&self) -> Vec<Row> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        // The last line may be incomplete.
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
                        .expect("the log contains numbers")
                };
                Row {
                    time: next(),
                    x: next() as f32,
                    y: next() as f32,
                }
            })
            .collect()
    }

    /// Returns the number of pixels of the display with this colour.
    fn count(&self, color: [u8; 3]) -> usize {
        let bytes = self.display.picture("root", "rgb");
        bytes.chunks(3).filter(|pixel| *pixel == color).count()
    }
}

impl Drop for Desktop {
    fn drop(&mut self) {
        // A process that has ended cannot be killed. The display ends after this one.
        let _ = self.game.kill();
        let _ = self.game.wait();
    }
}

const HERO: [u8; 3] = [0xd0, 0x46, 0x48];
const LETTERS: [u8; 3] = [0xff; 3];

fn plays(name: &str, arguments: &[&str]) {
    let mut desktop = Desktop::open(name, arguments);
    let start = desktop.rows().last().copied().unwrap();
    // The display is twice as large as the picture, in which 120 pixels of the hero are red.
    let hero = desktop.count(HERO);
    assert_eq!(hero, 4 * 120);
    let letters = desktop.count(LETTERS);

    desktop.display.key_down("Right");
    desktop.wait_until("a walk", |row| row.x > start.x + 3.0);
    desktop.display.key_up("Right");
    let before = desktop.rows().len();
    desktop.display.key_down("space");
    // The jump may be over before the last frame is read.
    desktop.wait_for("a jump", |desktop| {
        let rows = desktop.rows();
        rows[before..]
            .iter()
            .any(|row| row.y > start.y + 0.3)
            .then_some(())
    });
    desktop.display.key_up("space");
    let landed = desktop.wait_until("the ground", |row| row.y < start.y + 0.05);
    assert!(landed.x > start.x + 3.0);
    let rows = desktop.rows();
    let highest = rows[before..].iter().map(|row| row.y).fold(0.0, f32::max);
    assert!(highest < start.y + 2.0, "{highest}");
    // The window displays the hero: the camera has followed. A landing squashes it for a moment.
    desktop.wait_for("the hero on its legs", |desktop| {
        (desktop.count(HERO) == hero).then_some(())
    });

    // A pause shows a word and the keys, which have faded without it.
    desktop.display.key("p");
    desktop.wait_for("the word and the keys", |desktop| {
        (desktop.count(LETTERS) > letters).then_some(())
    });
    desktop.display.key("p");
    desktop.wait_for("no keys", |desktop| {
        (desktop.count(LETTERS) < letters / 2).then_some(())
    });

    desktop.display.key("Escape");
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
