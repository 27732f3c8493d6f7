//! The picture. A camera for each half sees flat shapes in space, and lines of text are drawn over them.
//!
//! Everything is drawn without anti-aliasing at three times the width and height. Each pixel is then the mean of nine.
//! So adjacent shapes leave no gap, and colours are mixed in whole numbers.

use evenstep::rapier::prelude::*;
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Paint, Path, PathBuilder, Pixmap, Point, Stroke, Transform,
};

use crate::letters;

/// Red, green and blue.
pub type Rgb = [u8; 3];

/// The size of the picture, in pixels.
pub const WIDTH: usize = 800;
pub const HEIGHT: usize = 350;
const OVERSAMPLING: usize = 3;
/// The magnification of the letters. A phone displays the picture at two fifths of its size.
const LETTERS: f32 = 2.0;

const BACKGROUND: Rgb = [24, 28, 38];
/// The direction towards the light.
const LIGHT: Vector = Vector::new(0.35, 0.85, 0.4);
/// The number of shades of a colour. A GIF has 256 colours in total.
const SHADES: f32 = 6.0;

/// A camera that looks from the front, from above and from the right.
pub struct Camera {
    /// The middle of its half of the picture, in pixels from the left.
    middle: f32,
    /// The position, in metres.
    eye: Vector,
    right: Vector,
    up: Vector,
    back: Vector,
}

impl Camera {
    pub fn new(middle: f32) -> Self {
        let eye = Vector::new(2.6, 4.4, 12.0);
        let target = Vector::new(-0.6, 0.1, 0.0);
        let back = (eye - target).normalize();
        let right = Vector::Y.cross(back).normalize();
        let up = back.cross(right);
        Self {
            middle,
            eye,
            right,
            up,
            back,
        }
    }

    /// Returns the distance in front of the camera, in metres.
    pub fn depth(&self, point: Vector) -> f32 {
        (self.eye - point).dot(self.back)
    }

    /// Projects a point. The result is in pixels from the left and from the top.
    fn project(&self, point: Vector) -> Point {
        let scale = 640.0 / self.depth(point);
        let seen = point - self.eye;
        Point::from_xy(
            self.middle + seen.dot(self.right) * scale,
            HEIGHT as f32 / 2.0 + 4.0 - seen.dot(self.up) * scale,
        )
    }

    /// Returns the corners of a polygon that faces the camera, from their directions to the right and up.
    pub fn facing(&self, at: Vector, directions: &[[f32; 2]], radius: f32) -> Vec<Vector> {
        let corner = |[right, up]: &[f32; 2]| at + (self.right * *right + self.up * *up) * radius;
        directions.iter().map(corner).collect()
    }

    fn sees(&self, point: Vector, normal: Vector) -> bool {
        (self.eye - point).dot(normal) > 0.0
    }
}

pub struct Canvas {
    pixmap: Pixmap,
}

impl Canvas {
    pub fn new() -> Self {
        let [width, height] = [WIDTH, HEIGHT].map(|size| (size * OVERSAMPLING) as u32);
        let mut pixmap = Pixmap::new(width, height).expect("the size is not zero");
        let [r, g, b] = BACKGROUND;
        pixmap.fill(Color::from_rgba8(r, g, b, 255));
        Self { pixmap }
    }

    /// Draws a convex face with shading, if its front is visible.
    pub fn face(&mut self, camera: &Camera, color: Rgb, normal: Vector, corners: &[Vector]) {
        if camera.sees(corners[0], normal) {
            self.flat(camera, shaded(color, normal), corners);
        }
    }

    /// Draws a polygon.
    pub fn flat(&mut self, camera: &Camera, color: Rgb, corners: &[Vector]) {
        let mut points = PathBuilder::new();
        for point in corners.iter().map(|at| camera.project(*at)) {
            extend(&mut points, point);
        }
        points.close();
        if let Some(path) = points.finish() {
            self.pixmap
                .fill_path(&path, &paint(color), FillRule::Winding, scale(), None);
        }
    }

    /// Draws a line of text from its left end and its baseline, in pixels.
    pub fn text(&mut self, color: Rgb, left: f32, baseline: f32, text: &str) {
        let mut x = left;
        for letter in text.chars() {
            for line in letters::lines(letter) {
                let mut points = PathBuilder::new();
                for (right, down) in line {
                    let y = baseline + LETTERS * (down - letters::BASELINE);
                    extend(&mut points, Point::from_xy(x + LETTERS * right, y));
                }
                self.line(color, points.finish());
            }
            x += LETTERS * letters::advance(letter);
        }
    }

    /// Draws a line of text around its middle.
    pub fn text_around(&mut self, color: Rgb, middle: f32, baseline: f32, text: &str) {
        let width: f32 = text.chars().map(letters::advance).sum();
        self.text(color, middle - LETTERS * width / 2.0, baseline, text);
    }

    /// Draws a vertical line between two heights, in pixels.
    pub fn vertical(&mut self, color: Rgb, x: f32, heights: [f32; 2]) {
        let mut points = PathBuilder::new();
        for y in heights {
            extend(&mut points, Point::from_xy(x, y));
        }
        self.line(color, points.finish());
    }

    fn line(&mut self, color: Rgb, path: Option<Path>) {
        let stroke = Stroke {
            width: 3.0,
            line_cap: LineCap::Round,
            line_join: LineJoin::Round,
            ..Stroke::default()
        };
        if let Some(path) = path {
            self.pixmap
                .stroke_path(&path, &paint(color), &stroke, scale(), None);
        }
    }

    /// Returns the pixels, row by row.
    pub fn pixels(&self) -> Vec<Rgb> {
        let pixels = self.pixmap.pixels();
        let mean = |x: usize, y: usize| {
            let mut sum = [0; 3];
            for row in pixels[y * OVERSAMPLING * WIDTH * OVERSAMPLING..]
                .chunks(WIDTH * OVERSAMPLING)
                .take(OVERSAMPLING)
            {
                for pixel in &row[x * OVERSAMPLING..(x + 1) * OVERSAMPLING] {
                    sum[0] += u32::from(pixel.red());
                    sum[1] += u32::from(pixel.green());
                    sum[2] += u32::from(pixel.blue());
                }
            }
            sum.map(|sum| (sum / (OVERSAMPLING * OVERSAMPLING) as u32) as u8)
        };
        (0..HEIGHT)
            .flat_map(|y| (0..WIDTH).map(move |x| (x, y)))
            .map(|(x, y)| mean(x, y))
            .collect()
    }
}

fn extend(path: &mut PathBuilder, point: Point) {
    if path.is_empty() {
        path.move_to(point.x, point.y);
    } else {
        path.line_to(point.x, point.y);
    }
}

fn scale() -> Transform {
    Transform::from_scale(OVERSAMPLING as f32, OVERSAMPLING as f32)
}

fn paint(color: Rgb) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color_rgba8(color[0], color[1], color[2], 255);
    paint.anti_alias = false;
    paint
}

fn shaded(color: Rgb, normal: Vector) -> Rgb {
    let light = normal.dot(LIGHT.normalize()).max(0.0);
    let light = 0.5 + 0.5 * (light * SHADES).round() / SHADES;
    color.map(|part| (f32::from(part) * light) as u8)
}
