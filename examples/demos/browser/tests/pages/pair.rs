//! The match with the desktop.

use std::net::{Ipv4Addr, TcpListener};
use std::process::Command;

use crate::browser::{self, Kind, Server};

/// The page says in each state what it waits for.
pub fn a_page_waits_for_the_desktop_and_has_the_same_bits(kind: Kind) {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../netcode/Cargo.toml");
    let netcode = |command: &str| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args([
            command,
            "--locked",
            "--release",
            "--manifest-path",
            manifest,
        ]);
        cargo.args(["--bin", "websocket"]);
        cargo
    };
    assert!(netcode("build").status().unwrap().success());
    // A port that is free now.
    let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let port = port.unwrap().local_addr().unwrap().port().to_string();
    let page = format!("pair.html?script&with=ws://127.0.0.1:{port}");
    browser::run(kind, &page, async |browser| {
        let says = async |words: &str| {
            let state = "document.getElementById('state')";
            let script = format!(
                "return {state}.textContent.includes('{words}')
                && {state}.getBoundingClientRect().bottom < innerHeight"
            );
            browser.wait_for(&script).await;
        };
        says("Waiting for the program").await;
        let mut desktop = netcode("run");
        desktop.args(["--", "--port", &port, "--seconds", "25"]);
        let mut desktop = Server::start(&mut desktop, "waiting at ");
        says("Playing, step").await;
        for number in [60, 120, 300] {
            let ask = format!("return match.checksum({number})");
            browser
                .wait_for(&format!("return match.checksum({number}) !== undefined"))
                .await;
            let here = browser.script(&ask).await;
            let there = desktop.said(&format!("state before step {number}: "));
            assert_eq!(here.as_str(), Some(there.as_str()), "step {number}");
        }
        says("All checksums are equal").await;
        drop(desktop);
        says("The last match ended").await;
    });
}
