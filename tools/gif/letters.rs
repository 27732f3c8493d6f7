//! The letters of the captions, as lines.

/// The number of pixels from the top of an `h` to its bottom.
pub const BASELINE: f32 = 12.0;

/// Returns lines from point to point. Each point is two digits in base 36, which count pixels to the right and down
/// from the upper left corner.
fn strokes(letter: char) -> &'static str {
    match letter {
        ' ' => "",
        '0' => "20 40 62 6a 4c 2c 0a 02 20",
        '1' => "02 20 2c",
        'H' => "00 0c, 60 6c, 06 66",
        'a' => "66 44 24 06 0a 2c 4c 6a, 64 6c",
        'c' => "66 44 24 06 0a 2c 4c 6a",
        'e' => "08 68 66 44 24 06 0a 2c 4c 6b",
        'h' => "00 0c, 06 24 44 66 6c",
        'i' => "04 0c, 00 01",
        'l' => "00 0c",
        'n' => "04 0c, 06 24 44 66 6c",
        'o' => "24 44 66 6a 4c 2c 0a 06 24",
        'p' => "04 0g, 06 24 44 66 6a 4c 2c 0a",
        's' => "65 54 14 05 07 18 58 69 6b 5c 1c 0b",
        't' => "20 2a 4c 5c, 04 54",
        'u' => "04 0a 2c 4c 6a, 64 6c",
        'v' => "04 3c 64",
        'w' => "04 2c 46 6c 84",
        'y' => "04 3c, 64 3c 1g 0g",
        'z' => "04 64 0c 6c",
        _ => unreachable!("no caption has a {letter}"),
    }
}

/// Returns the lines of a letter, in pixels to the right and down from its upper left corner.
pub fn lines(letter: char) -> impl Iterator<Item = impl Iterator<Item = (f32, f32)>> {
    let lines = strokes(letter).split(", ").filter(|line| !line.is_empty());
    lines.map(|line| line.split(' ').map(point))
}

/// Returns the number of pixels to the next letter.
pub fn advance(letter: char) -> f32 {
    let narrowest = if letter == ' ' { 3.0 } else { 0.0 };
    let right_end = lines(letter)
        .flatten()
        .fold(narrowest, |end: f32, (x, _)| end.max(x));
    right_end + 3.5
}

fn point(digits: &str) -> (f32, f32) {
    let mut digits = digits.chars().map(|digit| digit.to_digit(36));
    let mut next = || digits.next().flatten().unwrap() as f32;
    (next(), next())
}
