// Draws a cube at each pose, and writes its motion on the screen since the previous picture.

struct Camera {
    now: mat4x4f,
    before: mat4x4f,
}

struct Pose {
    rotation: vec4f,
    translation: vec4f,
}

@group(0) @binding(0) var<uniform> camera: Camera;
@group(0) @binding(1) var<storage, read> poses: array<Pose>;
@group(0) @binding(2) var<storage, read> poses_before: array<Pose>;

struct Corner {
    @builtin(position) position: vec4f,
    @location(0) normal: vec3f,
    @location(1) now: vec4f,
    @location(2) before: vec4f,
}

fn rotated(rotation: vec4f, v: vec3f) -> vec3f {
    let t = 2.0 * cross(rotation.xyz, v);
    return v + rotation.w * t + cross(rotation.xyz, t);
}

// Two triangles of a face.
const FACE = array(vec2f(-1, -1), vec2f(1, -1), vec2f(1, 1), vec2f(-1, -1), vec2f(1, 1), vec2f(-1, 1));

@vertex
fn corner(@builtin(vertex_index) index: u32, @builtin(instance_index) instance: u32) -> Corner {
    let side = index / 6;
    let sign = f32(side % 2) * 2.0 - 1.0;
    var faces = FACE;
    let at = faces[index % 6];
    var normal = vec3f(sign, 0.0, 0.0);
    var local = vec3f(sign, at.x, at.y);
    if side / 2 == 1 {
        normal = normal.zxy;
        local = local.zxy;
    } else if side / 2 == 2 {
        normal = normal.yzx;
        local = local.yzx;
    }
    local *= 0.35;
    let pose = poses[instance];
    let before = poses_before[instance];
    let world = vec4f(rotated(pose.rotation, local) + pose.translation.xyz, 1.0);
    let world_before = vec4f(rotated(before.rotation, local) + before.translation.xyz, 1.0);
    var out: Corner;
    out.now = camera.now * world;
    out.before = camera.before * world_before;
    out.position = out.now;
    out.normal = rotated(pose.rotation, normal);
    // A slot without a body has a rotation of length zero.
    if dot(pose.rotation, pose.rotation) == 0.0 {
        out.position = vec4f(0.0);
    }
    return out;
}

struct Pixel {
    @location(0) color: vec4f,
    @location(1) velocity: vec2f,
}

@fragment
fn pixel(in: Corner) -> Pixel {
    let light = 0.35 + 0.65 * max(dot(normalize(in.normal), normalize(vec3f(0.4, 0.8, 0.5))), 0.0);
    var out: Pixel;
    out.color = vec4f(light * vec3f(0.95, 0.66, 0.25), 1.0);
    // The unit is half the picture's size.
    out.velocity = in.now.xy / in.now.w - in.before.xy / in.before.w;
    return out;
}
