//! The poses of all bodies in a buffer of the graphics card, with a slot for each body.

use std::fmt;
use std::mem::size_of;

use bytemuck::{Pod, Zeroable, cast_slice};
use evenstep::BodyKey;
use evenstep::render::{BLEND_WGSL, PoseFloats, RenderData};
use slotmap::SecondaryMap;
use wgpu::BufferUsages as Usage;

use crate::gpu::Gpu;

/// The number of threads in a workgroup of the shader.
const WORKGROUP: u32 = 64;

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Counts {
    alpha: f32,
    pairs: u32,
    exceptions: u32,
    jumped: u32,
}

/// There are more bodies than slots.
#[derive(Debug)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("more bodies than the buffers were created for")
    }
}

impl std::error::Error for Full {}

/// The uploads of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Upload {
    pub bytes: usize,
    /// Whether the frame uploaded pairs.
    pub has_pairs: bool,
    exceptions: u32,
    jumped: u32,
}

/// The poses on the graphics card.
pub struct Instances {
    counts: wgpu::Buffer,
    slots: wgpu::Buffer,
    previous: wgpu::Buffer,
    current: wgpu::Buffer,
    exception_slots: wgpu::Buffer,
    exceptions: wgpu::Buffer,
    jumped: wgpu::Buffer,
    /// The poses of this picture and of the previous one.
    pub poses: wgpu::Buffer,
    pub poses_before: wgpu::Buffer,
    bindings: wgpu::BindGroup,
    /// Blends the pairs, replaces the exceptions, and stops bodies that jumped.
    passes: [wgpu::ComputePipeline; 3],
    slot_of: SecondaryMap<BodyKey, u32>,
    free: Vec<u32>,
    /// The number of slots that are or were in use.
    len: u32,
    capacity: u32,
    keys_version: u64,
    pairs_version: u64,
    /// The poses before or after a step, to be uploaded.
    pairs: Vec<PoseFloats>,
}

impl Instances {
    /// Creates buffers for up to `capacity` bodies.
    pub fn new(gpu: &Gpu, capacity: u32) -> Self {
        let pose = size_of::<PoseFloats>();
        let list = |size: usize| {
            let bytes = size * capacity.max(1) as usize;
            gpu.buffer(bytes, Usage::STORAGE | Usage::COPY_DST | Usage::COPY_SRC)
        };
        let counts = gpu.buffer(size_of::<Counts>(), Usage::UNIFORM | Usage::COPY_DST);
        let [slots, exception_slots, jumped] = [(); 3].map(|()| list(size_of::<u32>()));
        let [previous, current, exceptions, poses, poses_before] = [(); 5].map(|()| list(pose));
        let buffers = [
            &counts,
            &slots,
            &previous,
            &current,
            &exception_slots,
            &exceptions,
            &jumped,
            &poses,
            &poses_before,
        ];
        let layout = layout(gpu, buffers.len());
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry {
                binding,
                resource: buffer.as_entire_binding(),
            })
            .collect();
        let bindings = gpu.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &entries,
        });
        let passes = passes(gpu, &layout);
        Self {
            bindings,
            passes,
            counts,
            slots,
            previous,
            current,
            exception_slots,
            exceptions,
            jumped,
            poses,
            poses_before,
            slot_of: SecondaryMap::new(),
            free: Vec::new(),
            len: 0,
            capacity,
            keys_version: 0,
            pairs_version: 0,
            pairs: Vec::new(),
        }
    }

    /// Returns the number of slots to draw.
    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the index of a body's pose in the buffers.
    pub fn slot(&self, key: BodyKey) -> Option<u32> {
        self.slot_of.get(key).copied()
    }

    /// Uploads the changes of a frame, and blends its poses. `removed` lists the bodies that were removed in the frame.
    pub fn update(
        &mut self,
        gpu: &Gpu,
        data: RenderData<'_>,
        removed: &[BodyKey],
    ) -> Result<Upload, Full> {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        encoder.copy_buffer_to_buffer(&self.poses, 0, &self.poses_before, 0, self.poses.size());
        let upload = self.upload(gpu, data, removed)?;
        let pairs = data.keys().len() as u32;
        let threads = [pairs, upload.exceptions, upload.jumped];
        let mut pass = encoder.begin_compute_pass(&Default::default());
        pass.set_bind_group(0, &self.bindings, &[]);
        for (pipeline, threads) in self.passes.iter().zip(threads) {
            if threads > 0 {
                pass.set_pipeline(pipeline);
                pass.dispatch_workgroups(threads.div_ceil(WORKGROUP), 1, 1);
            }
        }
        drop(pass);
        gpu.queue.submit([encoder.finish()]);
        Ok(upload)
    }

    /// Uploads the changes of a frame.
    pub fn upload(
        &mut self,
        gpu: &Gpu,
        data: RenderData<'_>,
        removed: &[BodyKey],
    ) -> Result<Upload, Full> {
        let mut upload = Upload::default();
        let mut write = |buffer: &wgpu::Buffer, bytes: &[u8]| {
            upload.bytes += bytes.len();
            gpu.queue.write_buffer(buffer, 0, bytes);
        };
        // A pose of zeros draws nothing.
        let gone = removed.iter().filter_map(|key| self.slot_of.remove(*key));
        let gone: Vec<u32> = gone.collect();
        let mut exception_slots = gone.clone();
        let mut exceptions = vec![PoseFloats::default(); gone.len()];
        for (key, pose) in data.overrides() {
            exception_slots.push(self.slot_for(key)?);
            exceptions.push(evenstep::render::pose_floats(&pose));
        }
        if self.keys_version != data.keys_version() {
            let slots: Result<Vec<u32>, Full> =
                data.keys().iter().map(|key| self.slot_for(*key)).collect();
            write(&self.slots, cast_slice(&slots?));
            self.keys_version = data.keys_version();
        }
        let has_pairs = self.pairs_version != data.pairs_version();
        if has_pairs {
            for (buffer, end) in [&self.previous, &self.current].into_iter().zip(0..) {
                self.pairs.clear();
                self.pairs.extend(data.pairs().map(|pair| pair[end]));
                write(buffer, cast_slice(&self.pairs));
            }
            self.pairs_version = data.pairs_version();
        }
        let jumped: Vec<u32> = (data.jumped().iter())
            .filter_map(|key| self.slot(*key))
            .collect();
        write(&self.exception_slots, cast_slice(&exception_slots));
        write(&self.exceptions, cast_slice(&exceptions));
        write(&self.jumped, cast_slice(&jumped));
        let counts = Counts {
            alpha: data.alpha(),
            pairs: data.keys().len() as u32,
            exceptions: exceptions.len() as u32,
            jumped: jumped.len() as u32,
        };
        write(&self.counts, bytemuck::bytes_of(&counts));
        // These slots become free at the end, because this frame writes zeros into them. No new body may have them yet.
        self.free.extend(gone);
        Ok(Upload {
            has_pairs,
            exceptions: counts.exceptions,
            jumped: counts.jumped,
            ..upload
        })
    }

    /// Returns the slot of a body, or gives it a new one.
    fn slot_for(&mut self, key: BodyKey) -> Result<u32, Full> {
        if let Some(slot) = self.slot_of.get(key) {
            return Ok(*slot);
        }
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None if self.len < self.capacity => {
                self.len += 1;
                self.len - 1
            }
            None => return Err(Full),
        };
        self.slot_of.insert(key, slot);
        Ok(slot)
    }
}

/// Creates the layout: a uniform buffer, read-only lists, and the two lists of poses.
fn layout(gpu: &Gpu, buffers: usize) -> wgpu::BindGroupLayout {
    let entries: Vec<_> = (0..buffers)
        .map(|binding| wgpu::BindGroupLayoutEntry {
            binding: binding as u32,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: match binding {
                    0 => wgpu::BufferBindingType::Uniform,
                    _ => wgpu::BufferBindingType::Storage {
                        read_only: binding + 2 < buffers,
                    },
                },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        })
        .collect();
    let descriptor = wgpu::BindGroupLayoutDescriptor {
        label: None,
        entries: &entries,
    };
    gpu.device.create_bind_group_layout(&descriptor)
}

fn passes(gpu: &Gpu, layout: &wgpu::BindGroupLayout) -> [wgpu::ComputePipeline; 3] {
    let source = [BLEND_WGSL, include_str!("instances.wgsl")].concat();
    let module = gpu
        .device
        .create_shader_module(wgpu::ShaderModuleDescriptor {
            label: None,
            source: wgpu::ShaderSource::Wgsl(source.into()),
        });
    let layout = gpu
        .device
        .create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(layout)],
            immediate_size: 0,
        });
    ["blend", "replace", "jump"].map(|entry_point| {
        gpu.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: None,
                layout: Some(&layout),
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: Default::default(),
                cache: None,
            })
    })
}
