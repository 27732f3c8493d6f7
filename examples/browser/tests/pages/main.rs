//! Tests the pages in headless Chromium and Firefox, each through its driver. The browsers and drivers must be
//! installed, and the pages built:
//!
//! `cargo run --manifest-path examples/browser/Cargo.toml -- --build-only`
//!
//! `cargo test --manifest-path examples/browser/Cargo.toml chromium` runs the tests of one browser.

// The pages, the drivers and the browsers.
mod browser;

use std::process::Command;
use std::time::Duration;

use browser::{Kind, Part, Server, differing};

/// Runs each test in both browsers.
macro_rules! in_browsers {
    ($($test:ident,)*) => {
        mod chromium {
            $(#[test] fn $test() { super::$test(super::Kind::Chromium); })*
        }
        mod firefox {
            $(#[test] fn $test() { super::$test(super::Kind::Firefox); })*
        }
    };
}

in_browsers! {
    a_ball_is_shown_between_its_steps,
    a_press_pushes_the_ball_up,
    a_hidden_ball_stands_still,
    a_recording_of_a_page_is_replayed_on_the_desktop,
    both_halves_of_the_playground_move_until_a_pause,
    steps_go_by_the_clock_keys_walk_and_a_hidden_page_stands_still,
    a_match_with_the_desktop_has_the_same_bits,
}

fn a_ball_is_shown_between_its_steps(kind: Kind) {
    browser::run(kind, "index.html", async |browser| {
        browser.wait_for("return frameTimes.length > 20").await;
        // In each frame of three seconds: the height of both balls in the picture.
        let heights = browser
            .measure(
                "const canvas = document.getElementById('ball');
                const context = canvas.getContext('2d');
                const middle = (x) => {
                    const column = context.getImageData(x * canvas.width, 0, 1, canvas.height).data;
                    let [sum, count] = [0, 0];
                    for (let y = 0; y < canvas.height; y++) {
                        if (column[4 * y + 3] > 127) { sum += y; count++; }
                    }
                    return count ? sum / count : -1;
                };
                return [middle(0.25), middle(0.75)];",
                3.0,
            )
            .await;
        browser.picture(&format!("ball-{kind:?}")).await;
        let changes = [0, 1].map(|side: usize| {
            let places = heights.iter().map(|row| row[side].as_f64().unwrap());
            let places: Vec<_> = places.collect();
            assert!(places.iter().all(|y| *y > 0.0), "a ball is missing");
            places.windows(2).filter(|pair| pair[0] != pair[1]).count()
        });
        let (frames, [last, shown]) = (heights.len(), changes);
        println!("{frames} frames: {last} changes of the last step, {shown} between steps");
        assert!((20..=32).contains(&last), "{last} steps in three seconds");
        assert!(
            shown > 2 * last,
            "{shown} of {frames} frames differ from the last step"
        );
    });
}

fn a_press_pushes_the_ball_up(kind: Kind) {
    browser::run(kind, "index.html", async |browser| {
        browser.wait_for("return frameTimes.length > 20").await;
        let top = "const canvas = document.getElementById('ball');
            const image = canvas.getContext('2d').getImageData(0, 0, canvas.width, 20).data;
            return image.some((value) => value > 127);";
        assert_eq!(browser.script(top).await, false, "it is not near the top");
        for _ in 0..8 {
            browser.tap([200.0, 300.0]).await;
        }
        browser.wait_for(top).await;
    });
}

fn a_hidden_ball_stands_still(kind: Kind) {
    browser::run(kind, "index.html", async |browser| {
        browser.wait_for("return frameTimes.length > 20").await;
        browser
            .script(
                "window.pictures = [];
                document.addEventListener('visibilitychange', () => {
                    pictures.push(document.getElementById('ball').toDataURL());
                });",
            )
            .await;
        // Firefox draws a hidden page now and then, for the first time after a second.
        let is_hidden = browser.hide_for(Duration::from_secs(4)).await;
        assert!(is_hidden, "another tab hides the page");
        browser.wait_for("return pictures.length === 2").await;
        let has_moved = browser.script("return pictures[0] !== pictures[1]").await;
        assert_eq!(has_moved, false, "the ball moved while the page was hidden");
    });
}

fn a_recording_of_a_page_is_replayed_on_the_desktop(kind: Kind) {
    browser::run(kind, "index.html", async |browser| {
        browser.wait_for("return frameTimes.length > 150").await;
        browser
            .script("document.getElementById('record').click()")
            .await;
        browser
            .wait_for("return globalThis.recording?.length > 1000")
            .await;
        let bytes = browser.script("return Array.from(recording)").await;
        let bytes = bytes.as_array().unwrap().iter();
        let bytes: Vec<_> = bytes.map(|byte| byte.as_u64().unwrap() as u8).collect();
        let file = browser::file("page.recording");
        std::fs::write(&file, bytes).unwrap();

        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml");
        let output = Command::new(env!("CARGO"))
            .args([
                "run",
                "--locked",
                "--manifest-path",
                root,
                "--example",
                "replay",
            ])
            .args(["--all-features", "--", "play"])
            .arg(&file)
            .output();
        let output = output.unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        println!("{said}");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(said.contains("no difference"), "{said}");
    });
}

fn both_halves_of_the_playground_move_until_a_pause(kind: Kind) {
    browser::run(kind, "playground.html", async |browser| {
        let title = "return document.querySelector('canvas').getAttribute('alt')";
        browser
            .wait_for(&format!("{title}?.includes('evenstep')"))
            .await;
        let picture = async |name| {
            // The software renderer may take a second for each frame.
            browser.wait_for_frames(5).await;
            browser
                .picture(&format!("playground-{name}-{kind:?}"))
                .await
        };
        let moving = [picture("first").await, picture("second").await];
        browser.key(' ', true).await;
        browser.key(' ', false).await;
        browser
            .wait_for(&format!("{title}.includes('(paused)')"))
            .await;
        let paused = [picture("paused").await, picture("later").await];
        // The area between each half's overlay and the plot.
        let rows = [0.25, 0.6];
        for columns in [[0.0, 0.32], [0.34, 0.65]] {
            let [moved, stood] = [&moving, &paused]
                .map(|[one, other]| differing([one, other], Part { columns, rows }));
            println!("{columns:?}: {moved} of the pixels differ, {stood} in a pause");
            assert!(moved > 0.005, "{columns:?}: {moved} of the pixels differ");
            assert_eq!(stood, 0.0, "{columns:?}: the picture moves in a pause");
        }
    });
}

fn steps_go_by_the_clock_keys_walk_and_a_hidden_page_stands_still(kind: Kind) {
    browser::run(kind, "platformer.html?log", async |browser| {
        let start = browser.wait_for_row(|row| row.frame > 5).await;
        let end = browser
            .wait_for_row(|row| row.real_time > start.real_time + 2.0)
            .await;
        let (steps, time) = ((end.tick - start.tick) as f64, end.time - start.time);
        // The last step is only partly displayed.
        assert!(
            (steps / 60.0 - time).abs() < 1.0 / 60.0 + 1e-6,
            "{steps} steps in {time} s"
        );

        let started = browser.picture(&format!("platformer-start-{kind:?}")).await;
        browser.key('w', true).await;
        let there = browser
            .wait_for_row(|row| row.hero[2] < start.hero[2] - 2.0)
            .await;
        browser.key('w', false).await;
        let stopped = browser
            .wait_for_row(|row| row.time > there.time + 0.5)
            .await;
        let later = browser
            .wait_for_row(|row| row.time > stopped.time + 0.5)
            .await;
        assert_eq!(stopped.hero, later.hero, "the hero walks without a key");
        let walked = browser.picture(&format!("platformer-{kind:?}")).await;
        let all = Part {
            columns: [0.0, 1.0],
            rows: [0.0, 1.0],
        };
        let moved = differing([&started, &walked], all);
        println!("{moved} of the pixels differ after the walk");
        assert!(moved > 0.05, "{moved} of the pixels differ after a walk");

        let before = browser.wait_for_row(|_| true).await.frame;
        let hidden = browser.hide_for(Duration::from_secs(8)).await;
        assert!(hidden, "another tab hides the page");
        let after = browser.wait_for_row(|row| row.frame > before + 20).await;
        let rows = browser.rows().await;
        let shown: Vec<_> = rows
            .iter()
            .filter(|row| (before..=after.frame).contains(&row.frame))
            .collect();
        let longest = shown
            .windows(2)
            .map(|pair| pair[1].real_time - pair[0].real_time);
        let longest = longest.fold(0.0, f64::max);
        println!("the longest frame about a hidden page: {longest} s");
        assert!(
            longest < 4.0,
            "a frame of {longest} s, as long as the page was hidden"
        );
    });
}

/// Headless Firefox passes no touches to the page.
#[test]
fn chromium_fingers_walk_and_jump() {
    browser::run(Kind::Chromium, "platformer.html?log", async |browser| {
        let start = browser.wait_for_row(|row| row.frame > 5).await;
        browser.finger("touchStart", Some([100, 250])).await;
        browser.finger("touchMove", Some([100, 150])).await;
        browser
            .wait_for_row(|row| row.hero[2] < start.hero[2] - 1.0)
            .await;
        browser.finger("touchEnd", None).await;
        browser.finger("touchStart", Some([500, 250])).await;
        browser.finger("touchEnd", None).await;
        browser
            .wait_for_row(|row| row.hero[1] > start.hero[1] + 1.0)
            .await;
    });
}

fn a_match_with_the_desktop_has_the_same_bits(kind: Kind) {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../netcode/Cargo.toml");
    let mut desktop = Command::new(env!("CARGO"));
    desktop.args(["run", "--locked", "--release", "--manifest-path", manifest]);
    desktop.args(["--bin", "websocket", "--", "--port", "0", "--seconds", "25"]);
    let mut desktop = Server::start(&mut desktop, "waiting at ");
    let page = format!("pair.html?script&with={}", desktop.address);
    browser::run(kind, &page, async |browser| {
        browser
            .wait_for("return globalThis.match !== undefined")
            .await;
        for number in [60, 120, 300] {
            let ask = format!("return match.checksum({number})");
            browser
                .wait_for(&format!("return match.checksum({number}) !== undefined"))
                .await;
            let here = browser.script(&ask).await;
            let there = desktop.said(&format!("state before step {number}: "));
            assert_eq!(here.as_str(), Some(there.as_str()), "step {number}");
        }
        assert_eq!(browser.script("return match.desyncs").await, 0);
    });
}
