//! Plays a match over UDP in wall-clock time. The assertions hold even on a busy machine.

use std::process::Command;

#[test]
fn a_server_and_two_clients_play_a_match_over_udp() {
    let mut process = Command::new(env!("CARGO_BIN_EXE_evenstep-prediction"));
    let output = process.args(["match", "--seconds", "5"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let table = String::from_utf8(output.stdout).unwrap();
    let row = |name: &str| -> [f64; 4] {
        let row = table.lines().find_map(|line| line.strip_prefix(name));
        let row = row.unwrap_or_else(|| panic!("no row {name}:\n{table}"));
        let values: Vec<_> = row
            .split_whitespace()
            .map(|value| value.parse().unwrap())
            .collect();
        values.try_into().unwrap()
    };
    for (name, range) in [
        ("from the server, kB/s", 0.1..10.0),
        ("to the server, kB/s", 0.1..5.0),
        ("others: shown behind the server, ms", 100.0..1_000.0),
    ] {
        assert!(row(name).iter().all(|it| range.contains(it)), "{table}");
    }
    // The last two columns belong to a match with an outage of 120 steps.
    assert!(
        row("steps of the server without input")[2..]
            .iter()
            .all(|steps| *steps > 60.0),
        "{table}"
    );
}
