//! Looking at pictures.

use image::{Rgb, RgbImage};
use kiss3d::glamx::Vec2;

/// Red like the body that is plotted, in light or shade, and like nothing else in the scenes.
pub fn is_red(pixel: &Rgb<u8>) -> bool {
    let [red, green, blue] = pixel.0.map(f32::from);
    red > 70.0 && green < 0.66 * red && blue < 0.62 * red && green < 1.6 * blue
}

/// Grey or nearly so, of that brightness.
pub fn is_grey(pixel: &Rgb<u8>, bright: std::ops::Range<u8>) -> bool {
    let [least, most] = [pixel.0.iter().min(), pixel.0.iter().max()].map(|part| *part.unwrap());
    most - least < 24 && bright.contains(&most)
}

/// How much of a rectangle is so.
pub fn share(picture: &RgbImage, from: Vec2, size: Vec2, is: impl Fn(&Rgb<u8>) -> bool) -> f32 {
    let pixels: Vec<_> = places(from, size).collect();
    let count = pixels
        .iter()
        .filter(|(x, y)| is(picture.get_pixel(*x, *y)))
        .count();
    count as f32 / pixels.len() as f32
}

/// The middle of what is red in a rectangle; `None` if that is next to nothing.
pub fn middle_of_red(picture: &RgbImage, from: Vec2, size: Vec2) -> Option<Vec2> {
    let red = places(from, size).filter(|(x, y)| is_red(picture.get_pixel(*x, *y)));
    let red: Vec<Vec2> = red.map(|(x, y)| Vec2::new(x as f32, y as f32)).collect();
    (red.len() > 30).then(|| red.iter().sum::<Vec2>() / red.len() as f32)
}

fn places(from: Vec2, size: Vec2) -> impl Iterator<Item = (u32, u32)> {
    let rows = from.y as u32..(from.y + size.y) as u32;
    let columns = from.x as u32..(from.x + size.x) as u32;
    rows.flat_map(move |y| columns.clone().map(move |x| (x, y)))
}
