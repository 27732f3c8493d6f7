//! Reads the frame times of a real game from a capture.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use csv::{ReaderBuilder, StringRecord, Trim};

/// The columns that hold the time of a frame in milliseconds: of PresentMon 1 and 2, and of MangoHud.
const COLUMNS: [&str; 3] = ["MsBetweenPresents", "FrameTime", "frametime"];

/// Why a file is no list of frame times.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    #[error("line {line} cannot be read")]
    Io { line: usize, source: std::io::Error },
    #[error("line {line} cannot be read as text separated by commas")]
    Csv { line: usize, source: csv::Error },
    #[error(
        "line {line} is neither a header with a column MsBetweenPresents, FrameTime or frametime \
         nor a number of milliseconds"
    )]
    NoColumn { line: usize },
    #[error("line {line} ends before the column with the frame time")]
    Short { line: usize },
    #[error("line {line}: {text:?} is not a frame time in milliseconds")]
    BadTime { line: usize, text: String },
    #[error("it holds no frame times")]
    Empty,
}

/// Frame times from PresentMon's CSV, MangoHud's, or a plain list of milliseconds, one a line.
///
/// Empty lines and those that begin with `#` are passed over. MangoHud puts two lines about the
/// machine before its header.
pub fn read(file: impl Read) -> Result<Vec<Duration>, TraceError> {
    let mut column = None;
    let mut no_header = None;
    let mut times = Vec::new();
    for (text, line) in BufReader::new(file).lines().zip(1..) {
        let text = text.map_err(|source| TraceError::Io { line, source })?;
        // Programs on Windows begin a text file with a mark that is no text.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let fields = fields(text).map_err(|source| TraceError::Csv { line, source })?;
        if let Some(column) = column {
            times.push(time_at(&fields, column, line)?);
        } else if let Some(found) = fields.iter().position(|field| COLUMNS.contains(&field)) {
            column = Some(found);
        } else if fields.len() == 1 {
            times.push(time_at(&fields, 0, line).map_err(|_| TraceError::NoColumn { line })?);
            column = Some(0);
        } else {
            no_header.get_or_insert(line);
        }
    }
    match (column, no_header) {
        (None, Some(line)) => Err(TraceError::NoColumn { line }),
        _ if times.is_empty() => Err(TraceError::Empty),
        _ => Ok(times),
    }
}

/// The fields of one line. A line at a time, so that an error can name it.
fn fields(text: &str) -> Result<StringRecord, csv::Error> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let record = reader.records().next();
    record.unwrap_or_else(|| Ok(StringRecord::new()))
}

fn time_at(fields: &StringRecord, column: usize, line: usize) -> Result<Duration, TraceError> {
    let text = fields.get(column).ok_or(TraceError::Short { line })?;
    let seconds = text
        .parse::<f64>()
        .ok()
        .map(|milliseconds| milliseconds / 1e3);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| TraceError::BadTime {
        line,
        text: text.to_owned(),
    })
}
