//! Draws frames of the log.

use crate::canvas::{Camera, Canvas, Rgb, WIDTH};
use crate::scene::{FOOT, Half, LOOP_FRAMES, LOOP_STEPS, Row, STAIRS, STAIRS_HALF_Z, Shape};
use evenstep::rapier::prelude::*;

const BETWEEN: Rgb = [70, 76, 90];
const STONE: Rgb = [104, 114, 136];
const SHADOW: Rgb = [56, 63, 80];
const CRATE: Rgb = [176, 160, 132];
const PLANKS: Rgb = [226, 210, 180];
const BALL: [Rgb; 2] = [[245, 245, 245], [122, 128, 142]];
const TEXT: Rgb = [214, 220, 230];

/// The names and colours of the sides, as in the book's other pictures.
const SIDES: [(Half, &str, Rgb); 2] = [
    (Half::Left, "latest step", [0xd6, 0x6c, 0x20]),
    (Half::Right, "evenstep", [0x3a, 0x86, 0xd8]),
];

/// The left end of a side's name, from the left end of its half, and the baselines of the names and of the rate.
const MARGIN: f32 = 20.0;
const NAME_Y: f32 = 36.0;
const RATE_Y: f32 = 340.0;
/// The ends of the line between the two halves.
const BORDER: [f32; 2] = [20.0, 270.0];

/// The number of frames whose positions leave a mark, and the radius of the newest mark, in metres.
const TRAIL: u32 = 40;
const MARK: f32 = 0.17;

/// The axes of each face of a cube. The first axis is its normal.
const FACES: [[Vector; 3]; 6] = [
    [Vector::X, Vector::Y, Vector::Z],
    [Vector::NEG_X, Vector::Y, Vector::Z],
    [Vector::Y, Vector::X, Vector::Z],
    [Vector::NEG_Y, Vector::X, Vector::Z],
    [Vector::Z, Vector::X, Vector::Y],
    [Vector::NEG_Z, Vector::X, Vector::Y],
];

/// Draws a frame. Returns the red, green and blue of each pixel, row by row.
pub fn frame(log: &[Row], frame: u32) -> Vec<Rgb> {
    let mut canvas = Canvas::new();
    let half_width = WIDTH as f32 / 2.0;
    for ((half, name, color), i) in SIDES.into_iter().zip([0.0, 1.0]) {
        let left = i * half_width;
        let camera = Camera::new(left + half_width / 2.0);
        let rows: Vec<_> = log.iter().filter(|row| row.half == half).collect();
        draw_half(&mut canvas, &camera, &rows, frame, color);
        canvas.text(color, left + MARGIN, NAME_Y, name);
    }
    canvas.vertical(BETWEEN, half_width, BORDER);
    canvas.text_around(TEXT, half_width, RATE_Y, "10 Hz physics");
    canvas.pixels()
}

/// Draws the bodies of a half in a frame, and where they were before.
fn draw_half(canvas: &mut Canvas, camera: &Camera, log: &[&Row], frame: u32, color: Rgb) {
    for step in STAIRS {
        draw_step(canvas, camera, step);
    }
    let mut rows: Vec<_> = log.iter().filter(|row| row.frame == frame).collect();
    // The stairs descend towards the camera, so no step hides bodies on another.
    for row in &rows {
        draw_shadow(canvas, camera, row);
    }
    for row in &rows {
        draw_trail(canvas, camera, log, row, color);
    }
    let depth = |row: &Row| camera.depth(row.position());
    rows.sort_by(|a, b| depth(b).total_cmp(&depth(a)));
    for row in rows {
        match row.shape {
            Shape::Ball => draw_ball(canvas, camera, row),
            Shape::Crate => draw_crate(canvas, camera, row),
        }
    }
}

/// Draws a mark at each position that the body had in the last frames. Older marks are smaller.
fn draw_trail(canvas: &mut Canvas, camera: &Camera, log: &[&Row], row: &Row, color: Rgb) {
    let mut positions: Vec<Vector> = Vec::new();
    for age in 0..TRAIL {
        // Before the first frame is the last one, in which the bodies of the loop before were.
        let (frame, arrival) = match row.frame.checked_sub(age) {
            Some(frame) => (frame, row.arrival),
            None => (row.frame + LOOP_FRAMES - age, row.arrival + LOOP_STEPS),
        };
        let is_it = |other: &&&Row| (other.frame, other.arrival) == (frame, arrival);
        let Some(position) = log.iter().find(is_it).map(|row| row.position()) else {
            break;
        };
        if positions.last() != Some(&position) {
            positions.push(position);
        }
    }
    // A mark keeps its size until the body moves.
    let frames = TRAIL / row.half.positions_in(TRAIL);
    for (i, position) in positions.iter().enumerate().rev() {
        let share = 1.0 - (i as u32 * frames) as f32 / TRAIL as f32;
        canvas.flat(
            camera,
            color,
            &camera.facing(*position, &ring(), MARK * share),
        );
    }
}

fn draw_step(canvas: &mut Canvas, camera: &Camera, [left, right, top]: [f32; 3]) {
    let (middle, half) = (
        Vector::new(left + right, top + FOOT, 0.0) / 2.0,
        Vector::new((right - left) / 2.0, (top - FOOT) / 2.0, STAIRS_HALF_Z),
    );
    for [normal, u, v] in FACES {
        let corners = face_corners([normal, u, v]).map(|corner| middle + corner * half);
        canvas.face(camera, STONE, normal, &corners);
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

fn draw_crate(canvas: &mut Canvas, camera: &Camera, row: &Row) {
    let (at, rotation) = (row.drawn_at(), row.rotation());
    for [normal, u, v] in FACES {
        for (color, share) in [(CRATE, 1.0), (PLANKS, 0.74)] {
            let corners = face_corners([normal, u * share, v * share]);
            let corners = corners.map(|corner| at + rotation * (corner * row.drawn_size()));
            canvas.face(camera, color, rotation * normal, &corners);
        }
    }
}

/// Draws a beach ball: a sphere of flat faces in two colours.
fn draw_ball(canvas: &mut Canvas, camera: &Camera, row: &Row) {
    let (at, rotation) = (row.drawn_at(), row.rotation());
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
            let corners = corners.map(|corner| at + corner * row.drawn_size());
            canvas.face(camera, BALL[i / (RING / 6) % 2], middle, &corners);
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
fn draw_shadow(canvas: &mut Canvas, camera: &Camera, row: &Row) {
    let at = row.drawn_at();
    for face in shadow_faces(row) {
        for [left, right, top] in STAIRS.into_iter().filter(|[.., top]| at.y > *top) {
            let face = clip(&face, |at| at.x - left);
            let face = clip(&face, |at| right - at.x);
            let face = clip(&face, |at| at.z + STAIRS_HALF_Z);
            let face = clip(&face, |at| STAIRS_HALF_Z - at.z);
            let flat: Vec<_> = face.iter().map(|at| at.with_y(top)).collect();
            canvas.flat(camera, SHADOW, &flat);
        }
    }
}

/// Returns faces that together cast the shadow of the body.
fn shadow_faces(row: &Row) -> Vec<Vec<Vector>> {
    let (at, rotation) = (row.drawn_at(), row.rotation());
    match row.shape {
        Shape::Ball => {
            let ring = ring();
            let corners = ring
                .iter()
                .map(|[c, s]| at + Vector::new(*c, 0.0, *s) * row.drawn_size());
            vec![corners.collect()]
        }
        Shape::Crate => {
            let world = |corner| at + rotation * (corner * row.drawn_size());
            let faces = FACES.map(|side| face_corners(side).map(world).to_vec());
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
