//! The graphics card.

use std::error::Error;
use std::fmt;

use pollster::block_on;
use wgpu::BufferUsages as Usage;

/// A graphics device, with or without a window. It may be a software rasteriser.
pub struct Gpu {
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
    /// The adapter's name.
    pub name: String,
}

/// There is no graphics card, and no software rasteriser either.
#[derive(Debug)]
pub struct NoGpu(Box<dyn Error>);

impl fmt::Display for NoGpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no graphics adapter: {}", self.0)
    }
}

impl Error for NoGpu {}

impl Gpu {
    pub fn open() -> Result<Self, NoGpu> {
        let instance = wgpu::Instance::default();
        let adapter = block_on(instance.request_adapter(&Default::default()));
        let adapter = adapter.map_err(|error| NoGpu(error.into()))?;
        let device = block_on(adapter.request_device(&Default::default()));
        let (device, queue) = device.map_err(|error| NoGpu(error.into()))?;
        let name = adapter.get_info().name;
        Ok(Self {
            device,
            queue,
            name,
        })
    }

    /// Creates an empty buffer.
    pub fn buffer(&self, bytes: usize, usage: Usage) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: bytes as u64,
            usage,
            mapped_at_creation: false,
        })
    }

    /// Waits for the contents of a buffer.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Vec<u8> {
        let copy = self.buffer(buffer.size() as usize, Usage::MAP_READ | Usage::COPY_DST);
        let mut encoder = self.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &copy, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        copy.slice(..).map_async(wgpu::MapMode::Read, |result| {
            result.expect("the buffer can be mapped");
        });
        let done = self.device.poll(wgpu::PollType::wait_indefinitely());
        done.expect("the device works");
        let bytes = copy.slice(..).get_mapped_range();
        bytes.expect("the buffer is mapped").to_vec()
    }
}
