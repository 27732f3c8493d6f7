//! Draws 100,000 spinning bodies whose poses the graphics card blends. Reads every pose back, and compares it with that
//! of `Simulation::pose`.

use std::error::Error;
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use evenstep::rapier::glamx::Vec3;
use evenstep::render::PoseFloats;
use evenstep::{BodyKey, Simulation};
use gpu::{Camera, Gpu, Instances, Renderer, side, spinners};

#[derive(Parser)]
#[command(about)]
struct Options {
    /// The number of spinning bodies.
    #[arg(long, default_value_t = 100_000)]
    bodies: usize,
    /// The number of frames, at 144 Hz.
    #[arg(long, default_value_t = 24)]
    frames: u32,
    /// The file for the picture of the last frame.
    #[arg(long, default_value = "target/pictures/gpu.png")]
    picture: PathBuf,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let gpu = Gpu::open()?;
    println!("{} bodies on {}", options.bodies, gpu.name);
    let mut simulation = spinners(options.bodies);
    let mut instances = Instances::new(&gpu, u32::try_from(options.bodies)?);
    let (mut uploaded, mut with_pairs, mut largest) = (0, 0, 0.0_f32);
    for _ in 0..options.frames {
        simulation.advance(Duration::from_secs(1) / 144, |_, _| ());
        let data = simulation.render_data().ok_or("the state was edited")?;
        let upload = instances.update(&gpu, data, simulation.removed())?;
        uploaded += upload.bytes;
        with_pairs += u32::from(upload.has_pairs);
        let poses = gpu.read(&instances.poses);
        largest = largest.max(difference(&simulation, &instances, &poses));
    }
    let frames = options.frames;
    println!(
        "{frames} frames, {with_pairs} of them with pairs; {} kB per frame on average",
        uploaded / 1_000 / frames.max(1) as usize
    );
    println!("largest difference from `pose()`: {largest:.1e}");

    let renderer = Renderer::new(&gpu, 1_024, 768);
    let side = side(options.bodies) as f32;
    let from = Vec3::new(0.6, 0.5, 1.0) * side * 1.4 + Vec3::ONE;
    let camera = Camera::looking(from, Vec3::ZERO, 1_024.0 / 768.0);
    renderer.draw(&gpu, &camera, &instances);
    let picture = renderer.read(&gpu);
    if let Some(folder) = options.picture.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let height = picture.rgba.len() as u32 / 4 / picture.width;
    image::save_buffer(
        &options.picture,
        &picture.rgba,
        picture.width,
        height,
        image::ColorType::Rgba8,
    )?;
    println!("{}", options.picture.display());
    if largest > 1e-6 {
        return Err("the poses on the graphics card differ from those of `pose()`".into());
    }
    Ok(())
}

/// Returns the largest difference of any component between the poses that were read back and those of the simulation.
fn difference(simulation: &Simulation, instances: &Instances, poses: &[u8]) -> f32 {
    let poses: &[PoseFloats] = bytemuck::cast_slice(poses);
    let bodies = simulation.physics.bodies();
    let difference = |key: BodyKey| {
        let slot = instances.slot(key).expect("every body has a slot");
        let expected =
            evenstep::render::pose_floats(&simulation.pose(key).expect("every body has a pose"));
        let pairs = poses[slot as usize].into_iter().zip(expected);
        pairs
            .map(|(one, other)| (one - other).abs())
            .fold(0.0, f32::max)
    };
    bodies.map(|(key, _)| difference(key)).fold(0.0, f32::max)
}
