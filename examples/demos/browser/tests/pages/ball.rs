//! The page of the ball.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::browser::{self, Browser, Kind};

/// Defines the function `look` in the page. For both pictures of a canvas, it returns the position of the ball as
/// fractions of the picture, and how much of the ball's disc is in the picture.
const LOOK: &str = "
    const colours = [[0xd6, 0x6c, 0x20, 0xff], [0x3a, 0x86, 0xd8, 0xff]];
    function look(canvas) {
        const [width, height] = [canvas.width, canvas.height >> 1];
        return colours.map((colour, side) => {
            const image = canvas.getContext('2d').getImageData(0, side * height, width, height).data;
            let [count, x, y] = [0, 0, 0];
            for (let i = 0; i < image.length; i += 4) {
                if (colour.every((value, channel) => image[i + channel] === value)) {
                    count += 1;
                    x += (i >> 2) % width;
                    y += Math.floor((i >> 2) / width);
                }
            }
            const disc = Math.PI * (width / 20) ** 2;
            return [x / count / width, y / count / height, count / disc];
        });
    }";

/// A ball in a picture, as `look` returns it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ball {
    x: f64,
    y: f64,
    visible: f64,
}

/// Returns the balls of a result of `look`: at the latest step, and by evenstep.
fn balls(result: &Value) -> [Ball; 2] {
    [0, 1].map(|side| {
        let [x, y, visible] = [0, 1, 2].map(|i| result[side][i].as_f64().unwrap_or(0.0));
        Ball { x, y, visible }
    })
}

async fn open(browser: &Browser) {
    // Frames are counted from the beginning, and a slow machine takes longer to load the WebAssembly.
    let is_open = "return frameTimes.length > 20 && !document.getElementById('loading')";
    browser.wait_for(is_open).await;
}

/// Runs the page's function for 3600 frames of a minute, on a canvas of the test's, whose frames it calls. Returns the
/// results of `look` in each frame of the first three seconds, and every tenth of a second of the minute.
const MINUTE: &str = "
    import { show_ball } from './canvas.js';
    const canvas = document.createElement('canvas');
    canvas.style = 'width: 400px; height: 250px';
    document.body.append(canvas);
    const request = requestAnimationFrame;
    let call;
    globalThis.requestAnimationFrame = (next) => call = next;
    show_ball(canvas);
    const start = document.timeline.currentTime;
    const rows = { frames: [], tenths: [] };
    for (let frame = 1; frame <= 3600; frame += 1) {
        call(start + frame * 1000 / 60);
        if (frame <= 180) {
            rows.frames.push(look(canvas));
        }
        if (frame % 6 === 0) {
            rows.tenths.push(look(canvas));
        }
        // In the second half of the minute, many presses.
        if (frame > 1800 && frame % 20 === 0) {
            canvas.dispatchEvent(new PointerEvent('pointerdown'));
        }
    }
    globalThis.requestAnimationFrame = request;
    canvas.remove();
    globalThis.rows = rows;";

/// No clock decides here: the test gives the frames their time.
pub fn it_moves_in_every_frame_of_a_minute_and_stays_in_the_picture(kind: Kind) {
    browser::run(kind, "index.html", async |browser| {
        open(browser).await;
        browser.module(&format!("{LOOK} {MINUTE}")).await;
        browser
            .wait_for("return globalThis.rows !== undefined")
            .await;
        let rows = browser.script("return rows").await;
        browser.picture(&format!("ball-{kind:?}")).await;
        let [frames, tenths] = ["frames", "tenths"].map(|name| {
            let rows = rows[name].as_array().unwrap().iter();
            rows.map(balls).collect::<Vec<_>>()
        });
        let moves = [0, 1].map(|side: usize| {
            let moves = frames
                .windows(2)
                .filter(|pair| pair[0][side] != pair[1][side]);
            moves.count()
        });
        println!("moves of the latest step and of evenstep in 180 frames: {moves:?}");
        assert!((28..=32).contains(&moves[0]), "{moves:?}");
        assert!(moves[1] > 160, "{moves:?}");
        for side in [0, 1] {
            let balls: Vec<_> = tenths.iter().map(|row| row[side]).collect();
            for (i, ball) in balls.iter().enumerate() {
                assert!(ball.visible > 0.8, "side {side}, sample {i}: {ball:?}");
            }
            for (i, second) in balls.windows(10).enumerate() {
                let range = |axis: fn(&Ball) -> f64| {
                    let places = || second.iter().map(axis);
                    places().fold(0.0, f64::max) - places().fold(1.0, f64::min)
                };
                let [x, y] = [range(|ball| ball.x), range(|ball| ball.y)];
                assert!(
                    x > 0.1 && y > 0.1,
                    "side {side}, sample {i}: it moves by {x}, {y}"
                );
            }
        }
    });
}

pub fn a_press_and_the_space_bar_make_it_jump(kind: Kind) {
    browser::run(kind, "index.html", async |browser| {
        open(browser).await;
        let is_high = format!(
            "{LOOK} return look(document.getElementById('ball')).every((ball) => ball[1] < 0.5);"
        );
        let is_low = format!(
            "{LOOK} return look(document.getElementById('ball')).every((ball) => ball[1] > 0.6);"
        );
        // Its hops are lower.
        assert_eq!(browser.script(&is_high).await, false);
        browser.tap([200.0, 300.0]).await;
        browser.wait_for(&is_high).await;
        browser.wait_for(&is_low).await;
        browser.key(' ', true).await;
        browser.key(' ', false).await;
        browser.wait_for(&is_high).await;
    });
}

pub fn it_pauses_while_it_is_hidden(kind: Kind) {
    browser::run(kind, "index.html", async |browser| {
        open(browser).await;
        browser
            .script(
                "window.pictures = [];
                document.addEventListener('visibilitychange', () => {
                    pictures.push(document.getElementById('ball').toDataURL());
                });",
            )
            .await;
        // Firefox draws a hidden page now and then, for the first time after a second.
        browser.hide_for(Duration::from_secs(4)).await;
        browser.wait_for("return pictures.length === 2").await;
        let has_moved = browser.script("return pictures[0] !== pictures[1]").await;
        assert_eq!(has_moved, false, "the ball moved while the page was hidden");
    });
}

pub fn a_recording_is_replayed_on_the_desktop(kind: Kind) {
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

        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../Cargo.toml");
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
