//! The commands that demonstrate the server.

use std::error::Error;
use std::path::Path;
use std::time::Duration;
use std::{env, fmt, fs, process};

use evenstep_server::game::Crates;
use evenstep_server::match_::{Id, Settings};
use evenstep_server::metrics::PREFIX;
use evenstep_server::record::Ending;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use rayon::ThreadPool;

use crate::Match;
use crate::hall::Ended;
use crate::pool::{Server, Time};
use crate::schedule::{period, phase};
use crate::wall::WallTime;

const SETTINGS: Settings = Settings {
    budget: Duration::from_millis(2),
    length: u64::MAX,
};

/// Creates a match of 50 crates. Every fourth match is quiet.
fn small(id: Id, length: u64, now: Duration) -> Match {
    let game = Crates::new(50, id, id.is_multiple_of(4));
    let settings = Settings { length, ..SETTINGS };
    Match::new(id, game, settings, now + phase(id, period()))
}

/// Runs matches that come and go, and two that fail.
pub fn run(
    pool: &ThreadPool,
    matches: u64,
    length: Duration,
    metrics: Option<&Path>,
) -> Result<(), Box<dyn Error>> {
    let server = Server::new(WallTime::new());
    for id in 0..matches {
        server.add(small(id, SETTINGS.length, server.now()))?;
    }
    let (simulation, mut game) = Crates::new(50, matches, false);
    game.panics_at = Some(60);
    let broken = Match::new(matches, (simulation, game), SETTINGS, server.now());
    let huge = Crates::new(3_000, matches + 1, false);
    let huge = Match::new(matches + 1, huge, SETTINGS, server.now());
    server.serve(pool, |server| -> Result<(), Box<dyn Error>> {
        server.add(broken)?;
        server.add(huge)?;
        // A match that lasts one second is added every half second.
        for id in (matches + 2..).take((length.as_millis() / 500) as usize) {
            server.add(small(id, 60, server.now()))?;
            sleep(Duration::from_millis(500));
        }
        server.drain();
        let refused = server.add(small(0, 60, server.now()));
        println!("draining: {}", refused.expect_err("no new match is taken"));
        Ok(())
    })?;
    server.look(|view| view.ended.iter().for_each(print_ended));
    let page = page(&server)?;
    match metrics {
        Some(path) => fs::write(path, page)?,
        None => println!("\n{page}"),
    }
    Ok(())
}

/// Returns the page for Prometheus.
fn page<T: Time>(server: &Server<T>) -> Result<String, fmt::Error> {
    let now = server.now();
    let mut page = String::new();
    server.look(|view| {
        view.metrics.matches.set(view.matches as i64);
        view.metrics.draining.set(view.is_draining.into());
        let mut root = view.metrics.registry(now);
        let all = root.sub_registry_with_prefix(PREFIX);
        let idle = view.waiting.matches().filter(|waiting| waiting.is_idle());
        let idle = ConstGauge::new(idle.count() as i64);
        all.register("matches_idle", "Matches whose bodies are all asleep", idle);
        // If many matches have late steps, the server has too many matches.
        let late_steps = Family::<[(&str, Id); 1], Counter>::default();
        for late in view.waiting.matches() {
            if late.record.late_steps > 0 {
                (late_steps.get_or_create(&[("match", late.id)])).inc_by(late.record.late_steps);
            }
        }
        all.register("match_late_steps", "Late steps, by match", late_steps);
        encode(&mut page, &root)
    })?;
    Ok(page)
}

fn print_ended(ended: &Ended) {
    let record = &ended.record;
    println!(
        "match {} {:?}: {} steps, {} late, the longest by {:?}, {} frames over budget, {} steps dropped",
        ended.id,
        ended.ending,
        record.steps,
        record.late_steps,
        record.longest_lateness,
        record.over_budget_frames,
        record.dropped.steps + record.dropped.over_budget,
    );
}

/// Moves one match to a second process, where it ends with the same bits as if it had never moved.
pub fn move_one(pool: &ThreadPool) -> Result<(), Box<dyn Error>> {
    const MOVED: Id = 5;
    const LENGTH: u64 = 300;
    let file = env::temp_dir().join(format!("evenstep-server-{}", process::id()));
    let server = Server::new(WallTime::new());
    for id in 0..20 {
        server.add(small(id, LENGTH, server.now()))?;
    }
    let there = server.serve(pool, |server| -> Result<String, Box<dyn Error>> {
        sleep(Duration::from_secs(2));
        server.drain();
        let begin = server.now();
        let moving = server.take(MOVED).ok_or("the match has ended already")?;
        let bytes = moving.save()?;
        println!(
            "match {MOVED} leaves at tick {}: {} bytes, saved in {:?}",
            moving.tick(),
            bytes.len(),
            server.now() - begin
        );
        fs::write(&file, bytes)?;
        let there = adopted(&file);
        match &there {
            Ok(_) => server.look(|view| view.metrics.gone(Ending::Moved)),
            Err(_) => server.put_back(moving),
        }
        // The other matches have continued meanwhile.
        server.wait_for_all();
        there
    })?;
    fs::remove_file(&file)?;
    let stayed = Server::new(WallTime::new());
    stayed.add(small(MOVED, LENGTH, stayed.now()))?;
    stayed.serve(pool, Server::wait_for_all);
    let stayed = result(&stayed);
    println!("it ends there as         {there}\nif it never moves it ends as {stayed}");
    assert_eq!(there, stayed);
    Ok(())
}

/// Plays the match in a file to its end in a second process, and returns its output.
fn adopted(file: &Path) -> Result<String, Box<dyn Error>> {
    let program = env::current_exe()?;
    let output = process::Command::new(program)
        .arg("adopt")
        .arg(file)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// Plays the match in a file to its end. The second process calls this.
pub fn adopt(pool: &ThreadPool, file: &Path) -> Result<(), Box<dyn Error>> {
    let server = Server::new(WallTime::new());
    server.add(Match::load(&fs::read(file)?, server.now())?)?;
    server.serve(pool, Server::wait_for_all);
    println!("{}", result(&server));
    Ok(())
}

/// Returns the last tick and the checksum of the server's only match.
fn result<T: Time>(server: &Server<T>) -> String {
    server.look(|view| {
        let (tick, checksum) = view.ended[0].result.expect("the match did not panic");
        format!("tick {tick}, {checksum:016x}")
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "the demonstration runs in real time"
)]
fn sleep(time: Duration) {
    std::thread::sleep(time);
}
