//! Evaluates screenshots.

use std::ops::Range;

/// A picture: red, green and blue of each pixel, row by row.
#[derive(PartialEq)]
pub struct Picture {
    width: usize,
    pixels: Vec<[u8; 3]>,
}

impl Picture {
    /// Reads the bytes of a PPM file.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        // `P6`, width, height and maximum, followed by the pixels.
        let mut words = bytes.splitn(4, u8::is_ascii_whitespace);
        let mut word = || words.next();
        let is_ppm = word()? == b"P6";
        let width = std::str::from_utf8(word()?).ok()?.parse().ok()?;
        word()?;
        let rest = word()?.strip_prefix(b"255\n")?;
        let (pixels, _) = rest.as_chunks();
        is_ppm.then(|| Self {
            width,
            pixels: pixels.to_vec(),
        })
    }

    /// Counts the pixels in a part of the picture that fulfil a condition.
    pub fn count(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
        is: impl Fn([u8; 3]) -> bool,
    ) -> usize {
        let rows = self
            .pixels
            .chunks(self.width)
            .skip(rows.start)
            .take(rows.len());
        let pixels = rows.flat_map(|row| &row[columns.clone()]);
        pixels.filter(|pixel| is(**pixel)).count()
    }

    /// Counts such pixels in the whole picture.
    pub fn count_all(&self, is: impl Fn([u8; 3]) -> bool) -> usize {
        self.pixels.iter().filter(|pixel| is(**pixel)).count()
    }
}

/// Whether a pixel is yellow like coins, in light or shade.
pub fn is_gold([red, green, blue]: [u8; 3]) -> bool {
    red > 120 && green > red / 2 && blue < green / 2 + 10
}

/// Whether a pixel is red like the character.
pub fn is_red([red, green, blue]: [u8; 3]) -> bool {
    let [red, green, blue] = [red, green, blue].map(f32::from);
    red > 70.0 && green < 0.6 * red && blue < 0.6 * red
}

/// Whether a pixel is bright like a shot.
pub fn is_fire([red, green, blue]: [u8; 3]) -> bool {
    red > 240 && (60..200).contains(&green) && blue < 140
}

/// Whether a pixel is brown like crates.
pub fn is_brown([red, green, blue]: [u8; 3]) -> bool {
    let [red, green, blue] = [red, green, blue].map(f32::from);
    let [hue, depth] = [green / red, blue / green];
    red > 60.0 && (0.7..0.9).contains(&hue) && (0.55..0.8).contains(&depth)
}

/// Whether a pixel has the colour of the overlay's text.
pub fn is_ink(pixel: [u8; 3]) -> bool {
    pixel.iter().all(|part| *part < 70)
}

/// Whether a pixel is bright yellow like debug lines at displayed poses.
pub fn is_yellow([red, green, blue]: [u8; 3]) -> bool {
    red > 220 && green > 210 && blue < 150
}

/// Whether a pixel is pink like debug lines at true poses.
pub fn is_pink([red, green, blue]: [u8; 3]) -> bool {
    red > 180 && green < 110 && blue > 110
}
