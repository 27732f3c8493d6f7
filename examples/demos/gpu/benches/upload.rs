//! Measures the CPU time of one second (144 frames and 60 steps) until all poses are submitted to the graphics card: as
//! pairs that it blends, and as matrices from the CPU. For comparison, it measures the same second without a renderer.
//! It prints the number of bytes first.

use std::hint::black_box;
use std::time::Duration;

use bytemuck::cast_slice;
use criterion::{BenchmarkId, Criterion, SamplingMode, criterion_group, criterion_main};
use evenstep::Simulation;
use evenstep::render::write_matrices_3x4;
use gpu::{Gpu, Instances, spinners};
use wgpu::BufferUsages as Usage;

const FRAMES: u32 = 144;

fn frame(simulation: &mut Simulation) {
    simulation.advance(Duration::from_secs(1) / FRAMES, |_, _| ());
}

/// Uploads pairs. Returns the number of bytes.
fn pairs(gpu: &Gpu, simulation: &mut Simulation, instances: &mut Instances) -> usize {
    let mut bytes = 0;
    for _ in 0..FRAMES {
        frame(simulation);
        let data = simulation.render_data().expect("nothing was edited");
        let upload = instances.upload(gpu, data, simulation.removed());
        bytes += upload.expect("every body has a slot").bytes;
        gpu.queue.submit([]);
    }
    bytes
}

/// Uploads matrices. Returns the number of bytes.
fn matrices(
    gpu: &Gpu,
    simulation: &mut Simulation,
    buffer: &wgpu::Buffer,
    matrices: &mut Vec<[[f32; 4]; 3]>,
) -> usize {
    let mut bytes = 0;
    for _ in 0..FRAMES {
        frame(simulation);
        let moved = simulation.moved();
        matrices.resize(moved.len(), Default::default());
        write_matrices_3x4(moved, matrices);
        let written: &[u8] = cast_slice(matrices);
        gpu.queue.write_buffer(buffer, 0, written);
        bytes += written.len();
        gpu.queue.submit([]);
    }
    bytes
}

fn upload(criterion: &mut Criterion) {
    let gpu = Gpu::open().expect("this needs a graphics card or a software rasteriser");
    println!("on {}", gpu.name);
    for count in [1_000, 10_000, 100_000_u32] {
        let mut group = criterion.benchmark_group("one second of 144 frames and 60 steps");
        group.sample_size(10).sampling_mode(SamplingMode::Flat);
        let mut bare = spinners(count as usize);
        let mut with_pairs = spinners(count as usize);
        let mut with_matrices = spinners(count as usize);
        let mut instances = Instances::new(&gpu, count);
        let buffer = gpu.buffer(48 * count as usize, Usage::STORAGE | Usage::COPY_DST);
        let mut rows = Vec::new();
        let by_pairs = pairs(&gpu, &mut with_pairs, &mut instances);
        let by_matrices = matrices(&gpu, &mut with_matrices, &buffer, &mut rows);
        println!("{count}: {by_pairs} bytes as pairs, {by_matrices} as matrices");
        group.bench_function(BenchmarkId::new("without a renderer", count), |bencher| {
            bencher.iter(|| (0..FRAMES).for_each(|_| frame(&mut bare)));
        });
        group.bench_function(BenchmarkId::new("pairs", count), |bencher| {
            bencher.iter(|| black_box(pairs(&gpu, &mut with_pairs, &mut instances)));
        });
        group.bench_function(BenchmarkId::new("matrices", count), |bencher| {
            bencher.iter(|| black_box(matrices(&gpu, &mut with_matrices, &buffer, &mut rows)));
        });
        group.finish();
    }
}

criterion_group!(benches, upload);
criterion_main!(benches);
