//! A body that is drawn on the right side of a portal through which the player looks.

use evenstep::rapier::prelude::*;

/// Returns the drawn pose on this side of the portal, until it has crossed the entry.
///
/// `by` leads through the portal, `is_through` is whether the body was teleported by it, and the entry is a plane at
/// this x, which the body crosses in the direction of x.
pub fn seen_from_entry(drawn: Pose, by: Pose, is_through: bool, entry: f32) -> Pose {
    let back = by.inverse() * drawn;
    if is_through && back.translation.x < entry {
        back
    } else {
        drawn
    }
}
