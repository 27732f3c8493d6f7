//! Pictures: drawn without a display, and looked at.

use std::ops::Range;
use std::path::PathBuf;
use std::process::Command;

use evenstep_window::scenes::Scene;
use image::{Rgb, RgbImage};
use kiss3d::glamx::Vec2;

/// Has the program draw frames by a script, without a display. Egui takes a frame to know how large a panel is.
pub fn draw(
    name: &str,
    scene: Scene,
    size: &str,
    script: &str,
    frames: Range<u32>,
) -> Vec<RgbImage> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for pictures");
    let file = folder.join("script");
    std::fs::write(&file, script).expect("it can be written");
    let status = Command::new(env!("CARGO_BIN_EXE_evenstep-window"))
        .args(["--scene", scene.name(), "--size", size])
        .args(["--first", &frames.start.to_string()])
        .args(["--offscreen", &frames.end.to_string(), "--out"])
        .args([&folder, &PathBuf::from("--script"), &file])
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .status();
    assert!(status.expect("it can be run").success());
    let pictures = std::fs::read_dir(&folder).expect("it is there");
    // Beside the script.
    assert_eq!(pictures.count(), frames.len() + 1);
    let read = |frame| {
        let picture = image::open(folder.join(format!("frame-{frame:04}.png")));
        picture.expect("it is a picture").to_rgb8()
    };
    frames.map(read).collect()
}

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
