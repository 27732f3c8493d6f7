//! A client that predicts its player, and corrects the prediction when a snapshot of the server arrives.

use std::collections::BTreeMap;

use evenstep::rapier::prelude::*;
use evenstep::rewind::RewindError;
use evenstep::{BodyKey, Physics, Simulation};

/// The state of a body on the server, after `tick` steps.
#[derive(Clone, Copy, Debug)]
pub struct Snapshot {
    tick: u64,
    pose: Pose,
    linvel: Vector,
    angvel: Vector,
}

impl Snapshot {
    /// Takes a snapshot on the server.
    pub fn of(server: &Simulation, ball: BodyKey) -> Self {
        let body = server.physics.body(ball).unwrap();
        Self {
            tick: server.physics.tick(),
            pose: *body.position(),
            linvel: body.linvel(),
            angvel: body.angvel(),
        }
    }
}

/// Applies the input of a step, the same on both sides. `input` is a force to the right, in newtons.
pub fn push(physics: &mut Physics, ball: BodyKey, input: f32) {
    physics.add_force(ball, Vector::X * input).unwrap();
}

/// Corrects the client's prediction, and returns whether it was wrong. `inputs` has the input of each tick. The client
/// must keep as many poses as states, with an interval of 1. Returns an error if the snapshot is older than these.
pub fn correct(
    client: &mut Simulation,
    ball: BodyKey,
    inputs: &BTreeMap<u64, f32>,
    snapshot: &Snapshot,
) -> Result<bool, RewindError> {
    let predicted = client.pose_at(ball, snapshot.tick, 1.0);
    let error = |pose: Pose| pose.translation.distance(snapshot.pose.translation);
    if predicted.is_some_and(|pose| error(pose) < 0.01) {
        return Ok(false);
    }
    client.roll_back(snapshot.tick)?;
    let body = client.physics.body_mut(ball).unwrap();
    body.set_position(snapshot.pose, true);
    body.set_linvel(snapshot.linvel, true);
    body.set_angvel(snapshot.angvel, true);
    while let Some(step) = client.next_step() {
        push(&mut client.physics, ball, inputs[&step.tick]);
        client.run_step();
    }
    Ok(true)
}
