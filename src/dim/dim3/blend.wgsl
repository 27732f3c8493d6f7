// Interpolation of two poses, for rotations up to 45 degrees apart: slerp, with its weights as a series in the squared
// distance between the rotations, and a linear translation.

struct EvenstepPose {
    // A quaternion: x, y, z, w.
    rotation: vec4f,
    // In metres. w is not used.
    translation: vec4f,
}

// The number of terms, and the value at which the first omitted term is added to the last one.
const EVENSTEP_TERMS = 4;
const EVENSTEP_LEFT_OUT = 0.925 * 0.153;

fn evenstep_ratio(i: f32, alpha: f32) -> f32 {
    return 0.5 * (i * i - alpha * alpha) / (i * (2.0 * i + 1.0));
}

// Returns the pose between `previous` and `current` at the fraction `alpha`, which is in [0, 1].
fn evenstep_blend(previous: EvenstepPose, current: EvenstepPose, alpha: f32) -> EvenstepPose {
    if alpha >= 1.0 {
        return current;
    }
    let back = previous.rotation - current.rotation;
    let apart = dot(back, back);
    let left = 1.0 - alpha;
    // The terms of the start's and the end's weight. The excess is their sum minus one, so its first term is zero.
    var term = vec2f(left, alpha);
    var end_weight = alpha;
    var excess = 0.0;
    for (var n = 1; n < EVENSTEP_TERMS; n++) {
        let i = f32(n);
        term *= apart * vec2f(evenstep_ratio(i, left), evenstep_ratio(i, alpha));
        if n == EVENSTEP_TERMS - 1 {
            let last = vec2f(evenstep_ratio(i + 1.0, left), evenstep_ratio(i + 1.0, alpha));
            term *= 1.0 + EVENSTEP_LEFT_OUT * last;
        }
        end_weight += term.y;
        excess += term.x + term.y;
    }
    let rotation = previous.rotation - (back * end_weight - previous.rotation * excess);
    let translation = previous.translation - (previous.translation - current.translation) * alpha;
    return EvenstepPose(rotation, translation);
}
