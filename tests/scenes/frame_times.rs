//! Reads the frame times of a real game from a capture.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use csv::{ReaderBuilder, StringRecord, Trim};

/// The columns that hold the time of a frame in milliseconds: of PresentMon 1 and 2, and of MangoHud.
const COLUMNS: [&str; 3] = ["MsBetweenPresents", "FrameTime", "frametime"];

/// Why a file is no list of frame times.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    #[error("it cannot be read")]
    Io(#[from] std::io::Error),
    #[error("it cannot be read as text separated by commas")]
    Csv(#[from] csv::Error),
    #[error(
        "line {line} is neither a header with a column MsBetweenPresents, FrameTime or frametime \
         nor a number of milliseconds"
    )]
    NoColumn { line: u64 },
    #[error("line {line} ends before the column with the frame time")]
    Short { line: u64 },
    #[error("line {line}: {text:?} is not a frame time in milliseconds")]
    BadTime { line: u64, text: String },
    #[error("it holds no frame times")]
    Empty,
}

/// Frame times from PresentMon's CSV, MangoHud's, or a plain list of milliseconds, one a line.
///
/// Lines that begin with `#` and empty lines are passed over. MangoHud puts two lines about the
/// machine before its header.
pub fn read(file: impl Read) -> Result<Vec<Duration>, TraceError> {
    let mut lines = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .trim(Trim::All)
        .from_reader(skip_byte_order_mark(file)?);
    let mut column = None;
    let mut times = Vec::new();
    let mut first_line = None;
    for record in lines.records() {
        let record = record?;
        let line = record.position().map_or(0, csv::Position::line);
        if let Some(column) = column {
            times.push(time_at(&record, column, line)?);
        } else if let Some(found) = record.iter().position(|field| COLUMNS.contains(&field)) {
            column = Some(found);
        } else if record.len() == 1 {
            column = Some(0);
            times.push(time_at(&record, 0, line).map_err(|_| TraceError::NoColumn { line })?);
        } else {
            first_line.get_or_insert(line);
        }
    }
    match (column, first_line) {
        (None, Some(line)) => Err(TraceError::NoColumn { line }),
        _ if times.is_empty() => Err(TraceError::Empty),
        _ => Ok(times),
    }
}

/// Programs on Windows begin a text file with three bytes that are no text.
fn skip_byte_order_mark(file: impl Read) -> Result<impl Read, std::io::Error> {
    let mut file = BufReader::new(file);
    if file.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
        file.consume(3);
    }
    Ok(file)
}

fn time_at(record: &StringRecord, column: usize, line: u64) -> Result<Duration, TraceError> {
    let text = record.get(column).ok_or(TraceError::Short { line })?;
    let seconds = text.parse::<f64>().map(|milliseconds| milliseconds / 1e3);
    let time = seconds.ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| TraceError::BadTime { line, text: text.to_owned() })
}
