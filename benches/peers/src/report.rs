//! Tables in Markdown.

use crate::measure::{Measured, Run, Sample};
use crate::peer::BARE;
use crate::scene::Scene;

/// The text of an empty cell.
const NONE: &str = "–";

/// Returns the table of frames without a step: interpolation, and the write into the ECS.
#[must_use]
pub fn without_a_step(run: &Run) -> String {
    let reference = &run.peers[0];
    let bodies = run.scene.count() as f64;
    let rows = run.peers.iter().map(|peer| {
        let pairs = || peer.full.iter().zip(&peer.one);
        let own = pairs().map(|(full, one)| full.without_a_step - one.without_a_step);
        let ratios = peer.full.iter().zip(&reference.full);
        vec![
            peer.kind.name.into(),
            spread(pairs().map(|(full, _)| full.without_a_step / 1e3)),
            median(pairs().map(|(_, one)| one.without_a_step / 1e3)),
            median(own.map(|time| time / bodies)),
            median(ratios.map(|(full, reference)| full.without_a_step / reference.without_a_step)),
        ]
    });
    let head = [
        &format!("{}: frame without a step", describe(run.scene)),
        "µs",
        "one asleep, µs",
        "difference, ns per body",
        &format!("times {}", reference.kind.name),
    ];
    table(&head, rows)
}

/// Returns the table of frames with one step, and of their remainder without the engine.
#[must_use]
pub fn with_a_step(run: &Run) -> String {
    let bodies = run.scene.count() as f64;
    let bare = vec![
        BARE.name.into(),
        spread(run.bare.iter().map(|sample| sample.with_a_step / 1e3)),
    ];
    let rows = run.peers.iter().map(|peer| {
        let engine = peer.full.iter().filter_map(|sample| sample.engine);
        vec![
            peer.kind.name.into(),
            spread(peer.full.iter().map(|sample| sample.with_a_step / 1e3)),
            median(less_bare(peer, run).map(|time| time / bodies)),
            median(engine.map(|time| time / 1e3)),
            median(less_engine(peer).map(|time| time / bodies)),
        ]
    });
    let head = [
        &format!("{}: frame with one step", describe(run.scene)),
        "µs",
        "minus the bare step and one asleep, ns per body",
        "engine, by the clock inside, µs",
        "minus the engine and one asleep, ns per body",
    ];
    table(&head, std::iter::once(bare).chain(rows))
}

/// Returns frames with a step, minus those of one sleeping body and minus the bare step. There are none if the engine
/// is another one.
fn less_bare(peer: &Measured, run: &Run) -> impl Iterator<Item = f64> {
    let pairs = peer.full.iter().zip(&peer.one).zip(&run.bare);
    pairs
        .filter(|_| peer.kind.is_rapier)
        .map(|((full, one), bare)| full.with_a_step - one.with_a_step - bare.with_a_step)
}

/// Returns frames with a step, minus the engine's time by a clock inside, minus the same for one sleeping body.
fn less_engine(peer: &Measured) -> impl Iterator<Item = f64> {
    let rest = |sample: &Sample| Some(sample.with_a_step - sample.engine?);
    let pairs = peer.full.iter().zip(&peer.one);
    pairs.filter_map(move |(full, one)| Some(rest(full)? - rest(one)?))
}

fn describe(scene: Scene) -> String {
    let parts = [(scene.moving, "moving"), (scene.resting, "asleep")];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let parts = parts.map(|(count, what)| format!("{} {what}", number(count as f64)));
    parts.collect::<Vec<_>>().join(" and ")
}

fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let rule = vec!["---"; head.len()].join(" | ");
    let mut lines = vec![format!("| {} |", head.join(" | ")), format!("| {rule} |")];
    lines.extend(rows.map(|mut row| {
        row.resize(head.len(), NONE.into());
        format!("| {} |", row.join(" | "))
    }));
    lines.join("\n") + "\n"
}

fn median(values: impl Iterator<Item = f64>) -> String {
    quartiles(values).map_or(NONE.into(), |[_, median, _]| number(median))
}

/// Returns the median, and the range of the middle half.
fn spread(values: impl Iterator<Item = f64>) -> String {
    quartiles(values).map_or(NONE.into(), |[low, median, high]| {
        format!("{} ({}..{})", number(median), number(low), number(high))
    })
}

/// Returns the quartiles, or `None` if there are no values.
fn quartiles(values: impl Iterator<Item = f64>) -> Option<[f64; 3]> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let at = |quarter| values.get(values.len() * quarter / 4).copied();
    Some([at(1)?, at(2)?, at(3)?])
}

/// Formats a number with about three digits.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => thousands(value),
        size if size >= 9.995 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

fn thousands(value: f64) -> String {
    let digits = format!("{:.0}", value.abs());
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| str::from_utf8(group).ok())
        .collect();
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_about_three_digits() {
        let numbers = [0.004, 9.99, -12.34, 99.96, 656.4, -1234.0, 1_234_567.0];
        let expected = ["0.00", "9.99", "-12.3", "100", "656", "-1,234", "1,234,567"];
        assert_eq!(numbers.map(number), expected);
    }

    #[test]
    fn quartiles_are_measured_values() {
        let values = [5.0, 1.0, 4.0, 2.0, 3.0];
        assert_eq!(quartiles(values.into_iter()), Some([2.0, 3.0, 4.0]));
        assert_eq!(quartiles(std::iter::empty()), None);
    }

    #[test]
    fn short_table_rows_are_padded_with_dashes() {
        let rows = [vec!["a".into()]];
        let table = table(&["x", "y"], rows.into_iter());
        assert_eq!(table, "| x | y |\n| --- | --- |\n| a | – |\n");
    }
}
