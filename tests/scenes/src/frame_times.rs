//! Reads the frame times of a real game from a capture.

use std::io::{BufRead, BufReader, Read};
use std::time::Duration;

use csv::{ReaderBuilder, StringRecord, Trim};

/// The columns that hold the time of a frame in milliseconds, in PresentMon 1, PresentMon 2 and MangoHud.
const COLUMNS: [&str; 3] = ["MsBetweenPresents", "FrameTime", "frametime"];

/// The reason why a file is not a list of frame times.
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
    #[error("the file holds no frame times")]
    Empty,
}

/// Reads frame times from a CSV file of PresentMon or MangoHud, or from a plain list of milliseconds, one per line.
///
/// Skips empty lines and those that begin with `#`. MangoHud writes a description of the machine before its header, and
/// its older versions count in microseconds.
pub fn read(file: impl Read) -> Result<Vec<Duration>, TraceError> {
    let mut columns = None;
    let mut preamble = None;
    let mut times = Vec::new();
    for (text, line) in BufReader::new(file).lines().zip(1..) {
        let text = text.map_err(|source| TraceError::Io { line, source })?;
        // Programs on Windows begin a text file with a byte order mark.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let fields = fields(text).map_err(|source| TraceError::Csv { line, source })?;
        if let Some(columns) = &columns {
            times.push(Time::read(&fields, columns, line)?);
        } else if let Some(found) = Columns::find(&fields) {
            columns = Some(found);
        } else if preamble.is_none() && fields.len() == 1 && text.parse::<f64>().is_ok() {
            let list = Columns { time: 0, fps: None };
            times.push(Time::read(&fields, &list, line)?);
            columns = Some(list);
        } else {
            preamble.get_or_insert(line);
        }
    }
    match (columns, preamble) {
        (None, Some(line)) => Err(TraceError::NoColumn { line }),
        _ if times.is_empty() => Err(TraceError::Empty),
        _ => Ok(durations(&times)),
    }
}

/// The index of each column of a capture.
struct Columns {
    time: usize,
    /// Frames per second, in MangoHud's files.
    fps: Option<usize>,
}

impl Columns {
    fn find(header: &StringRecord) -> Option<Self> {
        let time = header.iter().position(|field| COLUMNS.contains(&field))?;
        let fps = header.iter().position(|field| field == "fps");
        Some(Self { time, fps })
    }
}

/// The time of one frame, in the file's unit.
struct Time {
    time: f64,
    /// Whether the frames per second say that the unit is a microsecond. Their product with the time is a thousand
    /// milliseconds, or a million microseconds.
    in_micros: bool,
}

impl Time {
    fn read(fields: &StringRecord, columns: &Columns, line: usize) -> Result<Self, TraceError> {
        let text = fields.get(columns.time).ok_or(TraceError::Short { line })?;
        let time = text.parse::<f64>().ok();
        let time = time.filter(|time| Duration::try_from_secs_f64(*time).is_ok());
        let time = time.ok_or_else(|| TraceError::BadTime {
            line,
            text: text.to_owned(),
        })?;
        let fps = columns
            .fps
            .and_then(|fps| fields.get(fps)?.parse::<f64>().ok());
        let in_micros = fps.is_some_and(|fps| fps * time > 3e4);
        Ok(Self { time, in_micros })
    }
}

fn durations(times: &[Time]) -> Vec<Duration> {
    // The rate of a single frame may be an average over many, so the whole file decides.
    let in_micros = times.iter().filter(|time| time.in_micros).count() * 2 > times.len();
    let unit = if in_micros { 1e-6 } else { 1e-3 };
    times
        .iter()
        .map(|time| Duration::from_secs_f64(time.time * unit))
        .collect()
}

/// Returns the fields of one line. Lines are read one at a time, so that an error can name the line.
fn fields(text: &str) -> Result<StringRecord, csv::Error> {
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .trim(Trim::All)
        .from_reader(text.as_bytes());
    let record = reader.records().next();
    record.unwrap_or_else(|| Ok(StringRecord::new()))
}
