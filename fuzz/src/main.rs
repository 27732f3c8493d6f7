//! Runs a target for a time or a number of runs.
//!
//! A run can end its process with a hang, an overflow of the stack or a failed allocation. So a child process does the
//! runs. It is started again after the run that ended it.

#![expect(
    clippy::disallowed_methods,
    reason = "the wall clock detects a run that does not end"
)]

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use clap::Parser;
use evenstep_fuzz::{Runs, Tally, Target, hush};
use indicatif::{ProgressBar, ProgressStyle};

/// Feeds evenstep with files and programs that no user would write.
#[derive(Debug, Parser)]
struct Options {
    target: Target,
    /// The duration in seconds. The default is 10, or no limit with `--runs`.
    #[arg(long)]
    seconds: Option<u64>,
    /// The number of runs.
    #[arg(long)]
    runs: Option<u64>,
    /// The seed of all runs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of the first run.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// A folder with the first inputs. The default is `corpus/<target>` of this package.
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Runs this input once, and prints its panics.
    #[arg(long)]
    input: Option<PathBuf>,
    /// Writes the input of the first run to this file, and runs nothing.
    #[arg(long)]
    write: Option<PathBuf>,
    /// Does the runs in this process, writes the number of each to this file, and reports in lines of JSON.
    #[arg(long, hide = true)]
    mark: Option<PathBuf>,
}

impl Options {
    fn time(&self) -> Duration {
        Duration::from_secs(
            self.seconds
                .unwrap_or(if self.runs.is_some() { u64::MAX } else { 10 }),
        )
    }

    fn corpus(&self) -> PathBuf {
        let own = || {
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("corpus")
                .join(self.name())
        };
        self.corpus.clone().unwrap_or_else(own)
    }

    fn name(&self) -> String {
        clap::ValueEnum::to_possible_value(&self.target)
            .map_or(String::new(), |value| value.get_name().to_owned())
    }

    fn runs(&self) -> std::io::Result<Runs> {
        Runs::new(self.target, self.seed, &self.corpus())
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::parse();
    if let Some(file) = &options.write {
        fs::write(file, options.runs()?.input(options.from))?;
        return Ok(ExitCode::SUCCESS);
    }
    let tally = match (&options.input, &options.mark) {
        (Some(file), _) => one(&options, file)?,
        (None, Some(mark)) => {
            work(&options, mark)?;
            return Ok(ExitCode::SUCCESS);
        }
        (None, None) => supervise(&options)?,
    };
    println!("{}: {tally}", options.name());
    for (what, counts) in [("error", &tally.errors), ("panic in Rapier", &tally.panics)] {
        counts
            .iter()
            .for_each(|(which, count)| println!("  {count} × {what}: {which}"));
    }
    for (what, number) in &tally.broken {
        println!("  BREACH in run {number}: {what}");
    }
    for (how, numbers) in &tally.ended {
        println!(
            "  ENDED THE PROCESS: {how}, {} times, first in run {}",
            numbers.len(),
            numbers[0]
        );
    }
    println!(
        "  at most {} bytes allocated per byte of a file, by loads above 1 MB",
        tally.most_bytes
    );
    Ok(if tally.is_fine(options.target.has_states()) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn one(options: &Options, file: &Path) -> Result<Tally, Box<dyn Error>> {
    hush(true);
    let mut tally = Tally::default();
    options.target.run(&fs::read(file)?, &mut tally);
    Ok(tally)
}

/// The time limit of a run.
const MOST: Duration = Duration::from_secs(3);

/// The exit code of a run that hangs.
const HANG: i32 = 99;

fn work(options: &Options, mark: &Path) -> Result<(), Box<dyn Error>> {
    hush(false);
    let begun = Arc::new(AtomicU64::new(0));
    let watched = Arc::clone(&begun);
    let start = Instant::now();
    thread::spawn(move || {
        loop {
            thread::sleep(MOST / 20);
            let begun = Duration::from_millis(watched.load(Ordering::Relaxed));
            if start.elapsed().saturating_sub(begun) > MOST {
                process::exit(HANG);
            }
        }
    });
    let runs = options.runs()?;
    let mark = fs::File::create(mark)?;
    let mut tally = Tally::default();
    let mut reported = start;
    let end = options
        .runs
        .map_or(u64::MAX, |runs| options.from.saturating_add(runs));
    for number in options.from..end {
        if start.elapsed() >= options.time() {
            break;
        }
        mark.write_all_at(&number.to_le_bytes(), 0)?;
        begun.store(start.elapsed().as_millis() as u64, Ordering::Relaxed);
        runs.run(number, &mut tally);
        if reported.elapsed() > Duration::from_millis(200) {
            report(&mut tally)?;
            reported = Instant::now();
        }
    }
    report(&mut tally)
}

fn report(tally: &mut Tally) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &std::mem::take(tally))?;
    writeln!(out)?;
    Ok(out.flush()?)
}

fn supervise(options: &Options) -> Result<Tally, Box<dyn Error>> {
    let start = Instant::now();
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template(
        "{spinner} {elapsed} {prefix}: {msg}",
    )?);
    bar.set_prefix(options.name());
    let mark = env::temp_dir().join(format!("evenstep-fuzz-{}", process::id()));
    let mut tally = Tally::default();
    let mut from = options.from;
    let end = options
        .runs
        .map_or(u64::MAX, |runs| options.from.saturating_add(runs));
    while from < end && start.elapsed() < options.time() {
        let mut command = Command::new(env::current_exe()?);
        command
            .arg(options.name())
            .arg("--mark")
            .arg(&mark)
            .arg("--corpus")
            .arg(options.corpus());
        let left = options
            .time()
            .saturating_sub(start.elapsed())
            .as_secs()
            .max(1);
        for (name, value) in [
            ("--seed", options.seed),
            ("--from", from),
            ("--runs", end - from),
            ("--seconds", left),
        ] {
            command.arg(name).arg(value.to_string());
        }
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        for line in child
            .stdout
            .take()
            .into_iter()
            .flat_map(|out| BufReader::new(out).lines())
        {
            tally.add(serde_json::from_str(&line?)?);
            bar.set_message(tally.to_string());
            bar.tick();
        }
        let status = child.wait()?;
        if status.success() {
            break;
        }
        let number = fs::read(&mark)?
            .first_chunk()
            .map_or(from, |number| u64::from_le_bytes(*number));
        let how = if status.code() == Some(HANG) {
            format!("no end after {MOST:?}")
        } else {
            status.to_string()
        };
        tally.ended.entry(how).or_default().push(number);
        from = number + 1;
    }
    bar.finish_and_clear();
    let _ = fs::remove_file(mark);
    Ok(tally)
}
