//! Pictures of the book, and one of the API documentation, that need no measurement, or only a stored one. They equal what
//! the code here draws.
//!
//! `PICTURES=write cargo test -p evenstep-pictures` draws them again.

// Lines, dots and arrows.
mod shapes;

// An elastic ball, with steps as long as the frame and with fixed ones.
mod bounce;
// A body on the screen, with two cameras.
mod camera;
// How fast the visual error after a rollback decays.
mod correction;
// Presses of a key, and the steps that they reach.
mod input;
// A drone in flight, in the latest step and interpolated.
mod path;
// A crate in flight: its states, its true pose and its displayed pose.
mod poses;
// The players on a client's screen and on the server, at the same moment.
mod prediction;
// Late input: a rollback, and how the picture catches up.
mod rollback;
// One path, displayed with each smoothing.
mod smoothings;
// Where a step runs, and how old the picture is.
mod threads;
// Frames at uneven times, and what they display.
mod timeline;

use std::fs;
use std::path::Path;

use pictures::growth::Growth;

#[test]
fn pictures_are_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let measured = include_str!("growth.json");
    let measured: Growth = serde_json::from_str(measured).unwrap();
    let poses = poses::svg().unwrap();
    check(&root.join("src/poses.txt"), &embedded(&poses));
    let drawn = [
        ("bounce.svg", bounce::svg()),
        ("camera.svg", camera::svg()),
        ("correction-time.svg", correction::svg()),
        ("growth.svg", measured.svg()),
        ("input.svg", input::svg()),
        ("path.svg", path::svg()),
        ("poses.svg", Ok(poses)),
        ("prediction.svg", prediction::svg()),
        ("rollback.svg", rollback::svg()),
        ("smoothings.svg", smoothings::svg()),
        ("threads.svg", threads::svg()),
        ("timeline.svg", timeline::svg()),
    ];
    for (name, drawn) in drawn {
        check(&root.join("docs/book/src").join(name), &drawn.unwrap());
    }
}

/// Compares a file with what it should contain, or writes it.
fn check(file: &Path, drawn: &str) {
    if std::env::var("PICTURES").is_ok_and(|value| value == "write") {
        fs::write(file, drawn).unwrap();
    }
    let stored = fs::read_to_string(file).unwrap();
    let name = file.display();
    assert!(stored.lines().eq(drawn.lines()), "{name} is out of date");
}

/// Returns a picture as Markdown that needs no other file, for the front page of the API documentation.
fn embedded(svg: &str) -> String {
    let mut text = "![A crate in flight: its displayed pose lies between the last two steps](data:image/svg+xml,"
        .to_owned();
    for byte in svg.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'.' => text.push(byte.into()),
            _ => text += &format!("%{byte:02X}"),
        }
    }
    text + ")\n"
}
