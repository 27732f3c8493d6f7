//! Plays the game as a person does: in a window on a virtual display, with real keys.

use std::path::PathBuf;

use evenstep_display::Program;

/// The game on a virtual display.
struct Desktop {
    program: Program,
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
        let log = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.csv"));
        let _ = std::fs::remove_file(&log);
        let arguments = [arguments, &["--log", log.to_str().unwrap()]].concat();
        let game = env!("CARGO_BIN_EXE_platformer2d");
        let program = Program::open("960x540", game, &arguments, "evenstep: a platformer in two");
        let desktop = Self { program, log };
        desktop.wait_until("the first frames", |row| row.time > 0.5);
        desktop
    }

    /// Waits until the last frame fulfils a condition, and returns it.
    fn wait_until(&self, what: &str, is: impl Fn(&Row) -> bool) -> Row {
        (self.program).wait_for(what, || self.rows().last().copied().filter(&is))
    }

    /// Waits until the number of pixels with this colour fulfils a condition.
    fn wait_for_pixels(&self, what: &str, color: [u8; 3], is: impl Fn(usize) -> bool) {
        (self.program).wait_for(what, || is(self.count(color)).then_some(()));
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
        let bytes = self.program.picture("root", "rgb");
        bytes.chunks(3).filter(|pixel| *pixel == color).count()
    }
}

const HERO: [u8; 3] = [0xd0, 0x46, 0x48];
const LETTERS: [u8; 3] = [0xff; 3];

fn plays(name: &str, arguments: &[&str]) {
    let desktop = Desktop::open(name, arguments);
    let start = desktop.rows().last().copied().unwrap();
    // The display is three times as large as the picture, in which 120 pixels of the hero are red.
    let hero = desktop.count(HERO);
    assert_eq!(hero, 9 * 120);
    let letters = desktop.count(LETTERS);

    desktop.program.key_down("Right");
    desktop.wait_until("a walk", |row| row.x > start.x + 3.0);
    desktop.program.key_up("Right");
    let before = desktop.rows().len();
    desktop.program.key_down("space");
    // The jump may be over before the last frame is read.
    desktop.program.wait_for("a jump", || {
        let rows = desktop.rows();
        rows[before..]
            .iter()
            .any(|row| row.y > start.y + 0.3)
            .then_some(())
    });
    desktop.program.key_up("space");
    let landed = desktop.wait_until("the ground", |row| row.y < start.y + 0.05);
    assert!(landed.x > start.x + 3.0);
    let rows = desktop.rows();
    let highest = rows[before..].iter().map(|row| row.y).fold(0.0, f32::max);
    assert!(highest < start.y + 2.0, "{highest}");
    // The camera has followed, so the window displays the hero. A landing squashes it for a moment.
    desktop.wait_for_pixels("the hero on its legs", HERO, |count| count == hero);

    // A pause displays a word and the keys, which fade during play.
    desktop.program.key("p");
    desktop.wait_for_pixels("the word and the keys", LETTERS, |count| count > letters);
    desktop.program.key("p");
    desktop.wait_for_pixels("no keys", LETTERS, |count| count < letters / 2);

    // Without interpolation, the overlay says so.
    let letters = desktop.count(LETTERS);
    desktop.program.key("i");
    desktop.wait_for_pixels("a word more", LETTERS, |count| count > letters);
    desktop.program.key("i");
    desktop.wait_for_pixels("one word less", LETTERS, |count| count == letters);

    desktop.program.key("Escape");
    let end = desktop.program.child.borrow_mut().wait().unwrap();
    assert!(end.success());
}

#[test]
fn keys_move_the_hero_and_the_window_displays_it() {
    plays("own", &[]);
}

#[test]
fn keys_move_the_hero_with_the_hecs_store_at_30_hz() {
    plays("hecs", &["--hecs", "--rate", "30"]);
}
