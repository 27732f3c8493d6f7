//! The match in one tab.

use crate::browser::{self, Browser, Kind};

/// Sets the sliders: latency, jitter and loss.
async fn connect(browser: &Browser, values: [u32; 3]) {
    for (id, value) in ["delay", "jitter", "loss"].into_iter().zip(values) {
        let script = format!(
            "const slider = document.getElementById('{id}');
            slider.value = {value};
            slider.dispatchEvent(new Event('input'));
            return slider.nextElementSibling.value === '{value}';"
        );
        assert_eq!(browser.script(&script).await, true, "{id}");
    }
}

/// Runs the worst connection for a minute. The machines wait for each other now and then, but never disagree.
pub fn both_machines_have_the_same_bits_after_a_minute(kind: Kind) {
    browser::run(kind, "match.html", async |browser| {
        browser
            .wait_for("return globalThis.duel !== undefined")
            .await;
        connect(browser, [150, 0, 10]).await;
        let mut compared = 0;
        for tick in (60..=3600).step_by(60) {
            let known = format!("return duel.checksums({tick}) !== undefined");
            browser.wait_for(&known).await;
            let sums = browser
                .script(&format!("return duel.checksums({tick})"))
                .await;
            assert_eq!(sums[0], sums[1], "step {tick}");
            assert!(
                sums[0].as_str().is_some_and(|sum| sum.len() == 16),
                "{sums}"
            );
            compared += 1;
        }
        assert_eq!(compared, 60);
        let counts = "return [duel.failure ?? '', duel.desyncs, duel.rollbacks, duel.waited]";
        let counts = browser.script(counts).await;
        println!("failure, desyncs, rollbacks, steps spent waiting: {counts}");
        assert_eq!(counts[0], "");
        assert_eq!(counts[1], 0);
        assert!(counts[2].as_f64().unwrap() > 20.0, "{counts}");
        browser.picture(&format!("match-{kind:?}")).await;
    });
}

/// Returns a script that tells whether the violet player is drawn near the left edge of a canvas.
fn violet_is_at_the_left_edge(canvas: &str) -> String {
    format!(
        "const canvas = document.getElementById('{canvas}');
        const {{ width, height }} = canvas;
        const image = canvas.getContext('2d').getImageData(0, 0, width, height).data;
        let [count, x] = [0, 0];
        for (let i = 0; i < image.length; i += 4) {{
            if (image[i] === 0x8b && image[i + 1] === 0x5f && image[i + 2] === 0xd3) {{
                count += 1;
                x += (i >> 2) % width;
            }}
        }}
        return x / count < 0.12 * width;"
    )
}

/// Holds a key of the violet player, who arrives at the edge of both arenas.
pub fn a_key_moves_a_player_on_both_machines(kind: Kind) {
    browser::run(kind, "match.html", async |browser| {
        browser.wait_for("return globalThis.duel?.tick > 0").await;
        connect(browser, [100, 20, 5]).await;
        browser.key('\u{E012}', true).await; // the left arrow
        for canvas in ["left", "right"] {
            browser.wait_for(&violet_is_at_the_left_edge(canvas)).await;
        }
        browser.key('\u{E012}', false).await;
    });
}
