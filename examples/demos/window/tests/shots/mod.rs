//! Draws and inspects pictures without a display.

use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

use evenstep_window::scenes::Scene;
use image::{Rgb, RgbImage};
use kiss3d::glamx::Vec2;

/// The height of the overlay in a half, with its margin, in pixels.
pub const OVERLAY: f32 = 160.0;

/// Runs the program with a script, without a display.
pub fn draw(
    name: &str,
    scene: Scene,
    size: &str,
    script: &str,
    frames: Range<u32>,
) -> Vec<RgbImage> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("script");
    std::fs::write(&file, script).unwrap();
    let status = Command::new(env!("CARGO_BIN_EXE_evenstep-window"))
        .args(["--scene", scene.name(), "--size", size])
        .args(["--first", &frames.start.to_string()])
        .args(["--offscreen", &frames.end.to_string(), "--out"])
        .args([&folder, &PathBuf::from("--script"), &file])
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .status();
    assert!(status.unwrap().success());
    let pictures = std::fs::read_dir(&folder).unwrap();
    // The folder also contains the script.
    assert_eq!(pictures.count(), frames.len() + 1);
    let read = |frame| {
        let picture = image::open(folder.join(format!("frame-{frame:04}.png")));
        picture.unwrap().to_rgb8()
    };
    frames.map(read).collect()
}

/// Whether a pixel is red like the plotted body, in light or shade. Nothing else in the scenes is.
pub fn is_red(pixel: &Rgb<u8>) -> bool {
    let [red, green, blue] = pixel.0.map(f32::from);
    red > 70.0 && green < 0.66 * red && blue < 0.62 * red && green < 1.6 * blue
}

/// Whether a pixel is grey or nearly so, of this brightness.
pub fn is_grey(pixel: &Rgb<u8>, bright: std::ops::Range<u8>) -> bool {
    let [least, most] = [pixel.0.iter().min(), pixel.0.iter().max()].map(|part| *part.unwrap());
    most - least < 24 && bright.contains(&most)
}

/// Returns the fraction of the pixels in a rectangle that fulfil a condition.
pub fn share(picture: &RgbImage, from: Vec2, size: Vec2, is: impl Fn(&Rgb<u8>) -> bool) -> f32 {
    let pixels: Vec<_> = places(from, size).collect();
    let count = pixels
        .iter()
        .filter(|(x, y)| is(picture.get_pixel(*x, *y)))
        .count();
    count as f32 / pixels.len() as f32
}

/// Returns the centre of the red pixels in a rectangle, or `None` if there are hardly any.
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
