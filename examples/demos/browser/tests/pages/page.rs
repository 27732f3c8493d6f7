//! What every page has.

use std::process::Command;

use serde_json::json;

use crate::browser::{self, Kind, Server};

const PAGES: [&str; 5] = [
    "index.html",
    "match.html",
    "pair.html",
    "playground.html",
    "platformer.html",
];

/// The widths and heights of a phone's and a desktop's window, in CSS pixels.
const SIZES: [[u32; 2]; 2] = [[390, 600], [1280, 800]];

/// Defines the function `covering` in the page. It returns pairs of parts of a document that cover each other, parts
/// that are outside of the page, and parts with contents that are cut off. The names of the halves are on the picture
/// on purpose.
const COVERING: &str = "
    function covering(page) {
        const kinds = 'h1, h2, p:not(#loading), pre, canvas, button, label, figcaption, #cards > a, footer > *';
        const { clientWidth, clientHeight } = page.documentElement;
        const bottom = page.defaultView.getComputedStyle(page.body).overflowY === 'hidden' ? clientHeight : Infinity;
        const parts = [...page.querySelectorAll(kinds)].filter((part) => part.checkVisibility());
        const found = [];
        parts.forEach((one, i) => {
            const a = one.getBoundingClientRect();
            if (a.right > clientWidth + 1 || a.bottom > bottom + 1) {
                found.push(`${one.outerHTML} is outside of the page`);
            }
            if (one.scrollWidth > one.clientWidth) {
                found.push(`${one.outerHTML} is cut off`);
            }
            for (const other of parts.slice(i + 1)) {
                const b = other.getBoundingClientRect();
                const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                const isMeant = one.contains(other) || one.id === 'ball' && other.closest('#halves');
                if (width > 1 && height > 1 && !isMeant) {
                    found.push(`${one.outerHTML} and ${other.outerHTML}`);
                }
            }
        });
        return found;
    }";

pub fn no_part_covers_another_or_is_cut_off(kind: Kind) {
    for page in PAGES {
        // The empty page does not compete for the processor.
        browser::run(kind, "page.css", async |browser| {
            for [width, height] in SIZES {
                let script = format!(
                    "const done = arguments[0];
                    const frame = document.createElement('iframe');
                    frame.style = 'position: fixed; inset: 0; width: {width}px; height: {height}px; border: 0';
                    frame.src = '{page}';
                    {COVERING}
                    frame.onload = () => {{
                        done(covering(frame.contentDocument));
                        frame.remove();
                    }};
                    document.body.append(frame);"
                );
                let found = browser.script_async(&script).await;
                assert_eq!(found, json!([]), "{page} at {width} px");
            }
        });
    }
}

pub fn each_half_has_its_name(kind: Kind) {
    browser::run(kind, "index.html", async |browser| {
        let names =
            "const { top, height } = document.getElementById('ball').getBoundingClientRect();
            return [...document.querySelectorAll('#halves b')].map((name) => {
                const place = name.getBoundingClientRect();
                const half = (y) => Math.floor((y - top) / height * 2);
                return [name.textContent, half(place.top), half(place.bottom)];
            });";
        let names = browser.script(names).await;
        assert_eq!(
            names,
            json!([["without evenstep", 0, 0], ["evenstep", 1, 1]])
        );
    });
}

/// Loads the page of the ball in a frame, and notes each value of its bar.
pub fn the_bar_counts_what_arrives(kind: Kind) {
    browser::run(kind, "page.css", async |browser| {
        let script = "const done = arguments[0];
            const frame = document.createElement('iframe');
            frame.src = 'index.html';
            document.body.append(frame);
            const values = [];
            const find = () => {
                const page = frame.contentDocument;
                const bar = page.querySelector('#loading progress');
                if (bar === null) {
                    setTimeout(find);
                    return;
                }
                const note = () => values.push(Number(bar.getAttribute('value') ?? -1));
                new MutationObserver(note).observe(bar, { attributes: true });
                page.addEventListener('firstframe', () => done(values));
            };
            find();";
        let values = browser.script_async(script).await;
        println!("{values}");
        let values = values.as_array().unwrap().iter();
        let values: Vec<_> = values.map(|value| value.as_f64().unwrap()).collect();
        let (end, counted) = values.split_last().unwrap();
        assert_eq!(*end, -1.0, "no value while the program starts");
        assert!(counted.is_sorted());
        assert_eq!(counted.last(), Some(&1.0));
    });
}

/// As on most machines with Linux.
pub fn without_webgpu_games_show_a_picture_and_a_link(kind: Kind) {
    for page in ["playground.html", "platformer.html"] {
        browser::run_without_webgpu(kind, page, async |browser| {
            browser
                .wait_for("return document.querySelector('#without img')?.naturalWidth > 400")
                .await;
            let seen = "return ['#without img', '#without a', 'canvas', '#loading']
                .map((part) => document.querySelector(part)?.checkVisibility() ?? false);";
            let seen = browser.script(seen).await;
            assert_eq!(seen, json!([true, true, false, false]), "{page}");
            let link = browser
                .script("return document.querySelector('#without a').href")
                .await;
            assert!(link.as_str().unwrap().ends_with("/index.html"), "{link}");
            browser.picture(&format!("without-{page}-{kind:?}")).await;
        });
    }
}

/// Opens the pages from their folder, where there is no WebAssembly: with a server, and as files.
pub fn a_page_that_cannot_run_names_the_command(kind: Kind) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/pages");
    let mut site = Command::new(env!("CARGO_BIN_EXE_site"));
    site.args(["--serve-only", "--port", "0", "--out", folder]);
    let site = Server::start(&mut site, "serving at ");
    browser::run(kind, "page.css", async |browser| {
        let home = browser.script("return location.href").await;
        for address in [&site.address, &format!("file://{folder}/")] {
            for page in PAGES {
                browser.open_page(&format!("{address}{page}")).await;
                let script = format!(
                    "const done = arguments[0];
                    {COVERING}
                    const look = () => {{
                        const command = document.querySelector('#failure pre')?.textContent;
                        if (command === undefined) {{
                            setTimeout(look, 50);
                            return;
                        }}
                        const loads = document.getElementById('loading').checkVisibility();
                        done([command, loads, covering(document)]);
                    }};
                    look();"
                );
                let seen = browser.script_async(&script).await;
                let command = "cargo run --manifest-path examples/demos/browser/Cargo.toml";
                assert_eq!(seen, json!([command, false, []]), "{address}{page}");
            }
        }
        browser.open_page(home.as_str().unwrap()).await;
    });
}
