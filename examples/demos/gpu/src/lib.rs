//! Draws bodies from poses that the graphics card blends. Two poses are uploaded per moving body and step, and one
//! number per frame.

mod draw;
mod gpu;
mod instances;
mod scene;

pub use draw::{Camera, Picture, Renderer};
pub use gpu::{Gpu, NoGpu};
pub use instances::{Full, Instances, Upload};
pub use scene::{side, spinners};
