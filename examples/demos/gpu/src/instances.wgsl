// Blends the poses of a frame into a buffer with a slot for each body. `evenstep_blend` comes from the source before it.

struct Counts {
    alpha: f32,
    pairs: u32,
    exceptions: u32,
    jumped: u32,
}

@group(0) @binding(0) var<uniform> counts: Counts;
@group(0) @binding(1) var<storage, read> slots: array<u32>;
@group(0) @binding(2) var<storage, read> previous: array<EvenstepPose>;
@group(0) @binding(3) var<storage, read> current: array<EvenstepPose>;
@group(0) @binding(4) var<storage, read> exception_slots: array<u32>;
@group(0) @binding(5) var<storage, read> exceptions: array<EvenstepPose>;
@group(0) @binding(6) var<storage, read> jumped: array<u32>;
// The poses of this picture and of the previous one.
@group(0) @binding(7) var<storage, read_write> poses: array<EvenstepPose>;
@group(0) @binding(8) var<storage, read_write> poses_before: array<EvenstepPose>;

@compute @workgroup_size(64)
fn blend(@builtin(global_invocation_id) id: vec3u) {
    if id.x < counts.pairs {
        poses[slots[id.x]] = evenstep_blend(previous[id.x], current[id.x], counts.alpha);
    }
}

@compute @workgroup_size(64)
fn replace(@builtin(global_invocation_id) id: vec3u) {
    if id.x < counts.exceptions {
        poses[exception_slots[id.x]] = exceptions[id.x];
    }
}

// Removes the motion vectors of bodies that jumped.
@compute @workgroup_size(64)
fn jump(@builtin(global_invocation_id) id: vec3u) {
    if id.x < counts.jumped {
        poses_before[jumped[id.x]] = poses[jumped[id.x]];
    }
}
