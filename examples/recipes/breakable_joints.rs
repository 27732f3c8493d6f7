//! Joints that break under too much force.

use evenstep::Physics;
use evenstep::rapier::prelude::*;

/// Removes the joints that took more than `limit` newtons in the last step. Call it in the hook before each step.
pub fn break_joints(physics: &mut Physics, limit: f32) {
    let rapier = physics.rapier_mut_except_bodies();
    let parameters = &rapier.integration_parameters;
    let substep = parameters.dt / parameters.num_solver_iterations as f32;
    let force = |joint: &ImpulseJoint| {
        let [x, y, z, ..] = joint.impulses;
        Vector::new(x, y, z).length() / substep
    };
    let joints = rapier.impulse_joints();
    let broken = joints.filter(|(_, joint)| force(joint) > limit);
    for joint in broken.map(|(handle, _)| handle).collect::<Vec<_>>() {
        rapier.remove_impulse_joint(joint);
    }
}
