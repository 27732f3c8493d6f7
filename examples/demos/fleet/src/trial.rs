//! A trial with two servers: one is killed, and later a third replaces the other.

use std::error::Error;
use std::time::Duration;

use clap::Args;
use evenstep_fleet::client::{Handover, Log, compare, play_all};
use evenstep_fleet::match_::Plan;
use evenstep_fleet::sidecar::Call;
use evenstep_fleet::stage::{Prometheus, Server, Stage, free_address};
use rustix::process::Signal;
use tokio::time::{Instant, sleep};

/// The settings of the trial.
#[derive(Args, Clone, Copy, Debug)]
pub struct Settings {
    #[arg(long, default_value_t = 40)]
    matches: u64,
    /// The number of crates in each match
    #[arg(long, default_value_t = 18)]
    crates: u16,
    /// The length of each of three parts in seconds: before the kill, until the drain, and after it
    #[arg(long, default_value_t = 8)]
    seconds: u64,
    /// The length of the lease that a save renews, in milliseconds
    #[arg(long, default_value_t = 2_000)]
    lease: u64,
}

const PLAYERS: u8 = 2;

pub async fn run(settings: Settings) -> Result<(), Box<dyn Error>> {
    let plan = Plan {
        players: PLAYERS,
        crates: settings.crates,
        length: settings.seconds * 3 * 60,
    };
    let part = Duration::from_secs(settings.seconds);
    let lease = Duration::from_millis(settings.lease);
    let mut stage = Stage::new(std::env::current_exe()?, lease).await?;
    let figures = [free_address()?, free_address()?, free_address()?];
    let prometheus = stage.prometheus(&figures).await?;
    let capacity = settings.matches as i64;
    let first = stage.server(capacity, figures[0]).await?;
    let mut second = stage.server(capacity, figures[1]).await?;
    // Both servers look for matches before there are any, so they share them.
    first.wait_for_calls(&[Call::Ready]).await;
    second.wait_for_calls(&[Call::Ready]).await;
    sleep(Duration::from_millis(500)).await;
    stage.add_matches(settings.matches, plan).await?;
    let players = tokio::spawn(play_all(stage.store.clone(), PLAYERS));

    sleep(part).await;
    let shares = [&first, &second].map(|server| server.sidecar.matches());
    let saved = prometheus
        .ask("sum(rate(evenstep_saved_bytes_total[5s]))")
        .await?;
    let told = prometheus
        .ask("sum(rate(evenstep_told_bytes_total[5s]))")
        .await?;
    first.process.signal(Signal::KILL)?;
    println!(
        "{} matches on two servers: {} and {}",
        settings.matches, shares[0], shares[1]
    );
    println!("killed the first");

    sleep(part).await;
    let mut third = stage.server(capacity, figures[2]).await?;
    third.wait_for_calls(&[Call::Ready]).await;
    let drained = Instant::now();
    second.process.signal(Signal::TERM)?;
    let status = second.process.ended().await?;
    let took = drained.elapsed();
    println!("drained the second for a third: it ended after {took:.2?} with {status}");

    let logs = players.await??;
    // Waits until the last figures are scraped, and the last match has left.
    sleep(Duration::from_secs(2)).await;
    print_handovers(&logs, drained);
    let differ = print_comparison(plan, &logs);
    println!();
    row("bytes saved per second, before the kill", &[saved]);
    row("bytes to players per second, before the kill", &[told]);
    print_figures(&prometheus).await?;

    third.process.signal(Signal::TERM)?;
    let status = third.process.ended().await?;
    println!("\nthe third ended with {status}");
    for (name, server) in [("second", &second), ("third", &third)] {
        println!("{name}, to Agones: {}", said(server));
    }
    if differ > 0 {
        return Err("the runs differ".into());
    }
    Ok(())
}

/// Returns a server's calls, without the reported numbers.
fn said(server: &Server) -> String {
    let calls = server.sidecar.calls();
    let pings = calls.iter().filter(|call| **call == Call::Health).count();
    let others = calls
        .iter()
        .filter(|call| !matches!(call, Call::Health | Call::Matches(_)));
    let others: Vec<String> = others.map(|call| format!("{call:?}")).collect();
    format!("{}, and {pings} times Health", others.join(", "))
}

fn row(name: &str, values: &[f64]) {
    print!("{name:<50}");
    for value in values {
        let digits = if value.fract() == 0.0 || *value >= 1_000.0 {
            0
        } else {
            3
        };
        print!("{value:>12.digits$}");
    }
    println!();
}

/// Prints how matches continued after the kill, and after the other server was drained.
fn print_handovers(logs: &[Log], drained: Instant) {
    let handovers = logs.iter().flat_map(|log| &log.handovers).copied();
    let (after, before): (Vec<Handover>, Vec<Handover>) =
        handovers.partition(|handover| handover.at >= drained);
    let print = |name: &str, figure: &dyn Fn(&[Handover]) -> f64| {
        row(name, &[figure(&before), figure(&after)]);
    };
    let silence = |handover: &Handover| handover.silence.as_secs_f64();
    let again = |handover: &Handover| handover.again as f64 / 60.0;
    println!("\n{:<50}{:>12}{:>12}", "", "killed", "drained");
    print("players that found their match on another server", &|all| {
        all.len() as f64
    });
    print("seconds without a new step, mean", &|all| {
        mean(all, silence)
    });
    print("seconds without a new step, longest", &|all| {
        longest(all, silence)
    });
    print("seconds of the match resimulated, mean", &|all| {
        mean(all, again)
    });
    print("seconds of the match resimulated, longest", &|all| {
        longest(all, again)
    });
}

fn mean(all: &[Handover], figure: impl Fn(&Handover) -> f64) -> f64 {
    all.iter().map(figure).sum::<f64>() / all.len() as f64
}

fn longest(all: &[Handover], figure: impl Fn(&Handover) -> f64) -> f64 {
    all.iter().map(figure).fold(0.0, f64::max)
}

/// Compares what the players received with uninterrupted runs, and prints the counts. Returns how many checksums
/// differ.
fn print_comparison(plan: Plan, logs: &[Log]) -> usize {
    let checksums = logs.iter().map(|log| compare(plan, log));
    let (compared, differ) = checksums.fold((0, 0), |sum, log| (sum.0 + log.0, sum.1 + log.1));
    let taken_back: u64 = logs.iter().map(|log| log.taken_back).sum();
    let missed: u64 = (logs.iter().map(|log| plan.length - log.rows.len() as u64)).sum();
    println!();
    for (name, count) in [
        ("checksums compared with an uninterrupted run", compared),
        ("that differ", differ),
        ("steps with changed input", taken_back as usize),
        ("steps that a player never received", missed as usize),
    ] {
        row(name, &[count as f64]);
    }
    differ
}

/// Prints figures that Prometheus collected from all servers, including the killed one.
async fn print_figures(prometheus: &Prometheus) -> Result<(), Box<dyn Error>> {
    let last = |name: &str| format!("sum(max_over_time(evenstep_{name}[10m]))");
    let bytes_a_save = format!("{} / {}", last("saved_bytes_total"), last("saves_total"));
    let lateness = "sum by (le) (max_over_time(evenstep_step_lateness_seconds_bucket[10m]))";
    for (name, expression) in [
        ("bytes per save", bytes_a_save),
        ("saves", last("saves_total")),
        ("steps", last("steps_total")),
        ("steps resimulated", last("steps_again_total")),
        ("late steps", last("late_steps_total")),
        (
            "99.9 % of the steps were done after, seconds",
            format!("histogram_quantile(0.999, {lateness})"),
        ),
        ("dropped steps", last("dropped_steps_total")),
        ("inputs that came too late", last("missing_inputs_total")),
        ("matches taken up", last("matches_taken_up_total")),
        (
            "answers from servers to Prometheus",
            "sum(sum_over_time(up[10m]))".into(),
        ),
        (
            "series",
            "count(last_over_time({job=\"fleet\"}[10m]))".into(),
        ),
    ] {
        row(name, &[prometheus.ask(&expression).await?]);
    }
    Ok(())
}
