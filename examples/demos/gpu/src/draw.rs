//! Draws a picture with a cube at each pose, and a picture of the motion vector of each pixel.

use bytemuck::{Pod, Zeroable, cast_slice};
use evenstep::rapier::glamx::Vec3;
use evenstep::rapier::glamx::camera::rh::{proj::directx, view};
use wgpu::BufferUsages as Usage;
use wgpu::TextureFormat;

use crate::gpu::Gpu;
use crate::instances::Instances;

/// wgpu copies rows whose length is a multiple of 256 bytes, so the width is a multiple of 64 pixels (4 bytes each).
const ROW: u32 = 64;

/// The transformations from world space to clip space, for this picture and for the previous one.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub struct Camera {
    now: [[f32; 4]; 4],
    before: [[f32; 4]; 4],
}

impl Camera {
    /// Creates a camera at rest.
    pub fn looking(from: Vec3, to: Vec3, aspect: f32) -> Self {
        let projection = directx::perspective(0.8, aspect, 0.1, 1_000.0);
        let view = projection * view::look_at_mat4(from, to, Vec3::Y);
        let now = view.to_cols_array_2d();
        Self { now, before: now }
    }
}

/// A picture that was read back.
pub struct Picture {
    pub width: u32,
    /// Red, green, blue and opacity.
    pub rgba: Vec<u8>,
    /// The motion of each pixel since the previous picture, in units of half the picture's size.
    pub velocities: Vec<[f32; 2]>,
}

pub struct Renderer {
    width: u32,
    height: u32,
    pipeline: wgpu::RenderPipeline,
    targets: [wgpu::Texture; 2],
    depth: wgpu::TextureView,
    camera: wgpu::Buffer,
}

impl Renderer {
    /// Creates targets of this size in pixels. The width is rounded up to a multiple of 64.
    pub fn new(gpu: &Gpu, width: u32, height: u32) -> Self {
        let width = width.div_ceil(ROW) * ROW;
        let formats = [TextureFormat::Rgba8Unorm, TextureFormat::Rg32Float];
        let texture = |format, usage| {
            gpu.device.create_texture(&wgpu::TextureDescriptor {
                label: None,
                size: wgpu::Extent3d {
                    width,
                    height,
                    depth_or_array_layers: 1,
                },
                mip_level_count: 1,
                sample_count: 1,
                dimension: wgpu::TextureDimension::D2,
                format,
                usage: wgpu::TextureUsages::RENDER_ATTACHMENT | usage,
                view_formats: &[],
            })
        };
        let depth = texture(TextureFormat::Depth32Float, wgpu::TextureUsages::empty());
        Self {
            width,
            height,
            pipeline: pipeline(gpu, formats),
            targets: formats.map(|format| texture(format, wgpu::TextureUsages::COPY_SRC)),
            depth: depth.create_view(&Default::default()),
            camera: gpu.buffer(size_of::<Camera>(), Usage::UNIFORM | Usage::COPY_DST),
        }
    }

    /// Draws all bodies.
    pub fn draw(&self, gpu: &Gpu, camera: &Camera, instances: &Instances) {
        gpu.queue
            .write_buffer(&self.camera, 0, bytemuck::bytes_of(camera));
        let buffers = [&self.camera, &instances.poses, &instances.poses_before];
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &self.pipeline.get_bind_group_layout(0),
            entries: &entries,
        });
        let views = (self.targets.each_ref()).map(|it| it.create_view(&Default::default()));
        // The background is black, and does not move.
        let attachments = views.each_ref().map(|view| {
            Some(wgpu::RenderPassColorAttachment {
                view,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::BLACK),
                    store: wgpu::StoreOp::Store,
                },
            })
        });
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            color_attachments: &attachments,
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view: &self.depth,
                depth_ops: Some(wgpu::Operations {
                    load: wgpu::LoadOp::Clear(1.0),
                    store: wgpu::StoreOp::Discard,
                }),
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, &bindings, &[]);
        pass.draw(0..36, 0..instances.len());
        drop(pass);
        gpu.queue.submit([encoder.finish()]);
    }

    /// Waits for the picture, and reads it back.
    pub fn read(&self, gpu: &Gpu) -> Picture {
        let [rgba, velocities] = (self.targets.each_ref()).map(|target| self.bytes(gpu, target));
        Picture {
            width: self.width,
            rgba,
            velocities: cast_slice(&velocities).to_vec(),
        }
    }

    fn bytes(&self, gpu: &Gpu, texture: &wgpu::Texture) -> Vec<u8> {
        let bytes = texture.format().block_copy_size(None).unwrap_or(0) * self.width;
        let size = bytes as usize * self.height as usize;
        let buffer = gpu.buffer(size, Usage::COPY_DST | Usage::COPY_SRC);
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_texture_to_buffer(
            texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo {
                buffer: &buffer,
                layout: wgpu::TexelCopyBufferLayout {
                    offset: 0,
                    bytes_per_row: Some(bytes),
                    rows_per_image: None,
                },
            },
            texture.size(),
        );
        gpu.queue.submit([encoder.finish()]);
        gpu.read(&buffer)
    }
}

impl Picture {
    /// Returns the motion of the pixel at a position. The origin is the middle of the picture, the unit is half its
    /// size, and y is up.
    pub fn velocity(&self, x: f32, y: f32) -> [f32; 2] {
        let height = self.velocities.len() as u32 / self.width;
        let column = ((0.5 + 0.5 * x) * self.width as f32) as u32;
        let row = ((0.5 - 0.5 * y) * height as f32) as u32;
        self.velocities[(row * self.width + column) as usize]
    }
}

fn pipeline(gpu: &Gpu, formats: [TextureFormat; 2]) -> wgpu::RenderPipeline {
    let module = gpu
        .device
        .create_shader_module(wgpu::include_wgsl!("cubes.wgsl"));
    gpu.device
        .create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: None,
            layout: None,
            vertex: wgpu::VertexState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                buffers: &[],
            },
            primitive: Default::default(),
            fragment: Some(wgpu::FragmentState {
                module: &module,
                entry_point: None,
                compilation_options: Default::default(),
                targets: &formats.map(|format| Some(format.into())),
            }),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: TextureFormat::Depth32Float,
                depth_write_enabled: Some(true),
                depth_compare: Some(wgpu::CompareFunction::Less),
                stencil: Default::default(),
                bias: Default::default(),
            }),
            multisample: Default::default(),
            multiview_mask: None,
            cache: None,
        })
}
