//! The playground and the platformer.

use std::time::Duration;

use image::Rgb;

use crate::browser::{self, Kind, Part, differing, share};

/// The columns of the halves of the playground, beside its panel.
const HALVES: [[f64; 2]; 2] = [[0.0, 0.32], [0.34, 0.65]];

pub fn both_halves_of_the_playground_move_until_a_pause(kind: Kind) {
    browser::run(kind, "playground.html", async |browser| {
        let title = "return document.querySelector('canvas').getAttribute('alt')";
        browser
            .wait_for(&format!("{title}?.includes('evenstep')"))
            .await;
        let picture = async |name: &str| {
            // The software renderer may take a second for each frame.
            browser.wait_for_frames(5).await;
            browser
                .picture(&format!("playground-{name}-{kind:?}"))
                .await
        };
        let mut moving = Vec::new();
        for number in 0..6 {
            moving.push(picture(&format!("moving-{number}")).await);
        }
        browser.key(' ', true).await;
        browser.key(' ', false).await;
        browser
            .wait_for(&format!("{title}.includes('(paused)')"))
            .await;
        let paused = [picture("paused").await, picture("later").await];
        for (side, columns) in HALVES.into_iter().enumerate() {
            // The area between each half's label and the plot.
            let scenery = Part {
                columns,
                rows: [0.1, 0.5],
            };
            for pair in moving.windows(2) {
                let moved = differing([&pair[0], &pair[1]], scenery);
                assert!(moved > 0.005, "{side}: {moved} of the pixels differ");
            }
            let stood = differing([&paused[0], &paused[1]], scenery);
            assert_eq!(stood, 0.0, "{side}: the picture moves in a pause");
            for picture in &moving {
                let half = Part {
                    columns,
                    rows: [0.0, 0.5],
                };
                let red = share(picture, half, is_red);
                assert!(red > 0.001, "{side}: {red} of the half is the red body");
                let label = Part {
                    columns,
                    rows: [0.0, 0.1],
                };
                let letters = share(picture, label, |pixel| is_label(pixel, side));
                assert!(letters > 0.005, "{side}: {letters} is the label");
            }
        }
    });
}

/// Returns whether a pixel is red like the plotted body, in light or shade.
fn is_red(pixel: &Rgb<u8>) -> bool {
    let [red, green, blue] = pixel.0.map(f32::from);
    red > 70.0 && green < 0.66 * red && blue < 0.62 * red && green < 1.6 * blue
}

/// Returns whether a pixel has the colour of a half's label: orange or blue.
fn is_label(pixel: &Rgb<u8>, side: usize) -> bool {
    let [red, _, blue] = pixel.0;
    [red > 180 && blue < 110, blue > 150 && red < 110][side]
}

pub fn steps_go_by_the_clock_keys_walk_and_a_hidden_page_stands_still(kind: Kind) {
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

        let now = async || {
            let milliseconds = browser.script("return performance.now()").await;
            milliseconds.as_f64().unwrap() / 1000.0
        };
        let start = now().await;
        let before = browser.wait_for_row(|_| true).await;
        let hidden = browser.hide_for(Duration::from_secs(8)).await;
        let after = browser
            .wait_for_row(|row| row.frame > before.frame + 20)
            .await;
        let (page, game) = (now().await - start, after.real_time - before.real_time);
        println!("the page: {page} s, hidden: {hidden} s, the game: {game} s");
        assert!(hidden > 4.0, "another tab hides the page");
        assert!(game < page - hidden / 2.0, "the hidden time counts");
    });
}

/// Headless Firefox passes no touches to the page.
#[test]
pub fn chromium_fingers_walk_and_jump() {
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
