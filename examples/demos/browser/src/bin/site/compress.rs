//! Compressed copies of files. Servers of static files look for them under the names `FILE.br` and `FILE.gz`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use brotli::CompressorWriter;
use flate2::Compression;
use flate2::write::GzEncoder;

/// The encodings, the one with the smallest files first. Each has its name in HTTP and the end of the file's name.
pub const ENCODINGS: [(&str, &str); 2] = [("br", "br"), ("gzip", "gz")];

/// Returns the path of a file's compressed copy.
pub fn copy_of(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}

/// Writes the compressed copies of a file. Returns their sizes, in the order of [`ENCODINGS`].
pub fn compress(file: &Path) -> io::Result<[usize; 2]> {
    let bytes = fs::read(file)?;
    let copies = [brotli(&bytes)?, gzip(&bytes)?];
    for ((_, end), copy) in ENCODINGS.iter().zip(&copies) {
        fs::write(copy_of(file, end), copy)?;
    }
    Ok(copies.map(|copy| copy.len()))
}

fn brotli(bytes: &[u8]) -> io::Result<Vec<u8>> {
    /// The buffer of the writer, in bytes. Its size hardly matters.
    const BUFFER: usize = 1 << 16;
    /// The best quality, and the largest window that browsers accept: 2^24 bytes.
    const QUALITY: u32 = 11;
    const WINDOW: u32 = 24;
    let mut writer = CompressorWriter::new(Vec::new(), BUFFER, QUALITY, WINDOW);
    writer.write_all(bytes)?;
    Ok(writer.into_inner())
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}
