// A triangle that covers the whole viewport.
@vertex
fn corner(@builtin(vertex_index) index: u32) -> @builtin(position) vec4f {
    return vec4f(f32(index / 2) * 4.0 - 1.0, f32(index % 2) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn paint() -> @location(0) vec4f {
    return vec4f(1.0, 0.5, 0.1, 1.0);
}
