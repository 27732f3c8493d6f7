//! Draws frames of the log.

use crate::canvas::{self, Canvas, Rgb};
use crate::scene::{BALL_RADIUS, CRATE_HALF, Half, Row, STAIRS, STAIRS_HALF_Z, Shape};
use evenstep::rapier::prelude::*;

/// The width of the picture, in pixels.
pub const WIDTH: usize = 2 * canvas::WIDTH + GAP;
pub use crate::canvas::HEIGHT;
/// The gap between the two halves, in pixels.
const GAP: usize = 8;

const BETWEEN: Rgb = [128, 128, 128];
const STONE: Rgb = [120, 134, 164];
const SHADOW: Rgb = [66, 76, 98];
const CRATE: Rgb = [214, 142, 44];
const PLANKS: Rgb = [255, 190, 84];
const BALL: [Rgb; 2] = [[245, 245, 245], [232, 70, 62]];
const TEXT: Rgb = [214, 220, 230];
const LEFT_TEXT: Rgb = [255, 150, 110];
const RIGHT_TEXT: Rgb = [110, 226, 160];

/// The left end of all text, and the baselines. The caption is at the top, and the rate at the bottom.
const MARGIN: f32 = 16.0;
const CAPTION_Y: f32 = 38.0;
const RATE_Y: f32 = 310.0;

/// The axes of each face of a cube. The first axis is its normal.
const SIDES: [[Vector; 3]; 6] = [
    [Vector::X, Vector::Y, Vector::Z],
    [Vector::NEG_X, Vector::Y, Vector::Z],
    [Vector::Y, Vector::X, Vector::Z],
    [Vector::NEG_Y, Vector::X, Vector::Z],
    [Vector::Z, Vector::X, Vector::Y],
    [Vector::NEG_Z, Vector::X, Vector::Y],
];

/// Draws a frame. Returns the red, green and blue of each pixel, row by row.
pub fn frame(log: &[Row], frame: u32) -> Vec<Rgb> {
    let [left, right] = [Half::Left, Half::Right].map(|half| {
        let rows = log
            .iter()
            .filter(|row| (row.half, row.frame) == (half, frame));
        draw_half(half, rows.collect())
    });
    let rows = left.chunks(canvas::WIDTH).zip(right.chunks(canvas::WIDTH));
    let rows = rows.map(|(left, right)| [left, &[BETWEEN; GAP], right].concat());
    rows.flatten().collect()
}

fn draw_half(half: Half, mut rows: Vec<&Row>) -> Vec<Rgb> {
    let mut canvas = Canvas::new();
    for step in STAIRS {
        draw_step(&mut canvas, step);
    }
    // The stairs descend towards the camera, so no step hides bodies on another.
    for row in &rows {
        draw_shadow(&mut canvas, row);
    }
    rows.sort_by(|a, b| {
        canvas
            .depth(b.position())
            .total_cmp(&canvas.depth(a.position()))
    });
    for row in rows {
        match row.shape {
            Shape::Ball => draw_ball(&mut canvas, row),
            Shape::Crate => draw_crate(&mut canvas, row),
        }
    }
    draw_caption(&mut canvas, half);
    canvas.pixels()
}

fn draw_step(canvas: &mut Canvas, [left, right, top]: [f32; 3]) {
    let bottom = top - 6.0;
    let (middle, half) = (
        Vector::new(left + right, top + bottom, 0.0) / 2.0,
        Vector::new((right - left) / 2.0, (top - bottom) / 2.0, STAIRS_HALF_Z),
    );
    for [normal, u, v] in SIDES {
        let corners = face_corners([normal, u, v]).map(|corner| middle + corner * half);
        canvas.face(STONE, normal, &corners);
    }
}

fn face_corners([normal, u, v]: [Vector; 3]) -> [Vector; 4] {
    [
        normal + u + v,
        normal + u - v,
        normal - u - v,
        normal - u + v,
    ]
}

fn draw_crate(canvas: &mut Canvas, row: &Row) {
    let (at, rotation) = (row.position(), row.rotation());
    for [normal, u, v] in SIDES {
        for (color, share) in [(CRATE, 1.0), (PLANKS, 0.74)] {
            let corners = face_corners([normal, u * share, v * share]);
            let corners = corners.map(|corner| at + rotation * (corner * CRATE_HALF));
            canvas.face(color, rotation * normal, &corners);
        }
    }
}

/// Draws a beach ball: a sphere of flat faces in two colours.
fn draw_ball(canvas: &mut Canvas, row: &Row) {
    let (at, rotation) = (row.position(), row.rotation());
    for (i, slice) in ring().windows(2).enumerate() {
        for belt in half_ring().windows(2) {
            let normal = |[c, s]: [f32; 2], [height, width]: [f32; 2]| {
                rotation * Vector::new(c * width, height, s * width)
            };
            let corners = [
                normal(slice[0], belt[0]),
                normal(slice[1], belt[0]),
                normal(slice[1], belt[1]),
                normal(slice[0], belt[1]),
            ];
            let middle = corners.iter().sum::<Vector>().normalize();
            let corners = corners.map(|corner| at + corner * BALL_RADIUS);
            canvas.face(BALL[i / (RING / 6) % 2], middle, &corners);
        }
    }
}

/// The number of corners of the polygon that stands for a circle.
const RING: usize = 24;

/// Returns the cosines and sines of the corners of a circle. The first corner is also the last.
fn ring() -> [[f32; 2]; RING + 1] {
    // The cosine and sine of 15 degrees. All others are sums and products of them, because trigonometric functions may
    // differ between platforms.
    let (cos, sin) = (0.965_925_8, 0.258_819_04);
    let mut at = [1.0, 0.0];
    let mut next = || {
        let here = at;
        at = [here[0] * cos - here[1] * sin, here[0] * sin + here[1] * cos];
        here
    };
    std::array::from_fn(|_| next())
}

/// Returns the half of the ring from one pole to the other.
fn half_ring() -> Vec<[f32; 2]> {
    ring()[..=RING / 2].to_vec()
}

/// Draws the body's shadow, straight down, onto each step below.
fn draw_shadow(canvas: &mut Canvas, row: &Row) {
    let at = row.position();
    for face in shadow_faces(row) {
        for [left, right, top] in STAIRS.into_iter().filter(|[.., top]| at.y > *top) {
            let face = clip(&face, |at| at.x - left);
            let face = clip(&face, |at| right - at.x);
            let face = clip(&face, |at| at.z + STAIRS_HALF_Z);
            let face = clip(&face, |at| STAIRS_HALF_Z - at.z);
            let flat: Vec<_> = face.iter().map(|at| at.with_y(top)).collect();
            canvas.flat(SHADOW, &flat);
        }
    }
}

/// Returns faces that together cast the shadow of the body.
fn shadow_faces(row: &Row) -> Vec<Vec<Vector>> {
    let (at, rotation) = (row.position(), row.rotation());
    match row.shape {
        Shape::Ball => {
            let ring = ring();
            let corners = ring
                .iter()
                .map(|[c, s]| at + Vector::new(*c, 0.0, *s) * BALL_RADIUS);
            vec![corners.collect()]
        }
        Shape::Crate => {
            let world = |corner| at + rotation * (corner * CRATE_HALF);
            let faces = SIDES.map(|side| face_corners(side).map(world).to_vec());
            faces.to_vec()
        }
    }
}

/// Returns the part of a polygon whose distance is positive.
fn clip(corners: &[Vector], distance: impl Fn(Vector) -> f32) -> Vec<Vector> {
    let mut kept = Vec::new();
    let next = corners.iter().cycle().skip(1);
    for (&a, &b) in corners.iter().zip(next) {
        let (from, to) = (distance(a), distance(b));
        if from >= 0.0 {
            kept.push(a);
        }
        if (from >= 0.0) != (to >= 0.0) {
            kept.push(a + (b - a) * (from / (from - to)));
        }
    }
    kept
}

fn draw_caption(canvas: &mut Canvas, half: Half) {
    let (name, color) = match half {
        Half::Left => ("without interpolation", LEFT_TEXT),
        Half::Right => ("evenstep", RIGHT_TEXT),
    };
    canvas.text(color, MARGIN, CAPTION_Y, name);
    canvas.text(TEXT, MARGIN, RATE_Y, "physics at 10 Hz");
}
