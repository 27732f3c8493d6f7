//! Shapes that several pictures draw. Positions are in pixels.

use std::error::Error;

use plotters::prelude::*;

use pictures::style::Area;

/// A position, from the left and from the top.
pub type At = (i32, i32);
pub type Drawn = Result<(), Box<dyn Error>>;

/// The length of an arrow's head, and half its width.
const HEAD: [f64; 2] = [13.0, 6.0];

pub fn line(area: &Area, points: &[At], colour: RGBColor, width: u32) -> Drawn {
    let style = colour.stroke_width(width);
    Ok(area.draw(&PathElement::new(points.to_vec(), style))?)
}

pub fn dot(area: &Area, at: At, radius: u32, colour: RGBColor) -> Drawn {
    Ok(area.draw(&Circle::new(at, radius, colour.filled()))?)
}

/// Draws a circle that is empty.
pub fn ring(area: &Area, at: At, radius: u32, colour: RGBColor) -> Drawn {
    area.draw(&Circle::new(at, radius, WHITE.filled()))?;
    Ok(area.draw(&Circle::new(at, radius, colour.stroke_width(2)))?)
}

pub fn block(area: &Area, corners: [At; 2], colour: RGBColor) -> Drawn {
    Ok(area.draw(&Rectangle::new(corners, colour.filled()))?)
}

/// Draws a line with a head at its second end.
pub fn arrow(area: &Area, from: At, to: At, colour: RGBColor) -> Drawn {
    let [x, y] = [to.0 - from.0, to.1 - from.1].map(f64::from);
    let length = (x * x + y * y).sqrt();
    let (x, y) = (x / length, y / length);
    let [long, wide] = HEAD;
    let corner = |back: f64, aside: f64| {
        let [right, down] = [-back * x - aside * y, -back * y + aside * x];
        (to.0 + right.round() as i32, to.1 + down.round() as i32)
    };
    line(area, &[from, corner(long, 0.0)], colour, 2)?;
    let head = vec![to, corner(long, wide), corner(long, -wide)];
    Ok(area.draw(&Polygon::new(head, colour.filled()))?)
}
