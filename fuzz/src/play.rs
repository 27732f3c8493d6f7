//! A game that plays a loaded state.

use evenstep::rewind::Kept;
use std::collections::BTreeSet;
use std::time::Duration;

use evenstep::rapier::prelude::*;
use evenstep::{BodyKey, Physics, Simulation};

use crate::tally::Tally;

/// The number of steps after a load.
const STEPS: u64 = 60;

/// The maximum number of frames for these steps.
const FRAMES: u64 = 150;

/// Runs steps, with an action now and then.
pub fn sixty_steps(mut simulation: Simulation, tally: &mut Tally) {
    moderate(&mut simulation);
    let mut keys: Vec<BodyKey> = simulation.physics.bodies().map(|(key, _)| key).collect();
    let mut strange: BTreeSet<BodyKey> = BTreeSet::new();
    let mut made = 0;
    for number in 0..FRAMES {
        simulation.begin_frame(Duration::from_millis(17));
        // Some frames end before all due steps have run.
        for _ in 0..4 {
            let Some(step) = simulation.next_step() else {
                break;
            };
            deed(&mut simulation.physics, &mut keys, step.tick);
            simulation.run_step();
            strange.extend(
                keys.iter()
                    .filter(|key| simulation.physics.body(**key).is_some_and(is_strange)),
            );
            made += 1;
            tally.operations += 3;
        }
        simulation.end_frame();
        read(&simulation, &keys, number);
        // From the second step on, no loaded pose is displayed.
        for key in keys
            .iter()
            .filter(|key| made > 1 && !strange.contains(*key))
        {
            let shown = simulation.pose(*key);
            assert!(shown.is_none_or(|pose| pose.is_finite()), "{shown:?}");
        }
        tally.operations += 2;
        if made >= STEPS {
            break;
        }
        if made == 0 {
            // The clock may be paused or have speed zero.
            simulation.resume();
            let _ = simulation.clock_settings_mut().set_speed(1.0);
        }
    }
    let _ = (simulation.save(), simulation.physics.checksum());
    let _ = simulation.rewind(simulation.physics.tick().saturating_sub(3));
    tally.operations += 3;
}

/// Returns whether a body has a pose or a velocity that no game has. Interpolation with such values may overflow.
fn is_strange(body: &RigidBody) -> bool {
    let (pose, velocities) = (body.position(), body.vels());
    let size = pose.translation.length() + velocities.linvel.length() + velocities.angvel.length();
    let is_turned = (pose.rotation.length() - 1.0).abs() < 0.1;
    size > 1e9 || (pose.is_finite() && !is_turned)
}

/// Limits the solver's iterations. A state may ask for any number of them. That is slow, but no fault of evenstep.
fn moderate(simulation: &mut Simulation) {
    let parameters = simulation.physics.rapier().integration_parameters;
    let counts = [
        parameters.num_solver_iterations,
        parameters.num_internal_pgs_iterations,
        parameters.num_internal_stabilization_iterations,
        parameters.max_ccd_substeps,
    ];
    if counts.into_iter().any(|count| count > 20) {
        simulation
            .physics
            .rapier_mut_except_bodies()
            .integration_parameters = IntegrationParameters::default();
    }
    simulation.keep(Kept {
        ticks: 10,
        bytes: 1 << 20,
        ..simulation.kept()
    });
}

fn deed(physics: &mut Physics, keys: &mut Vec<BodyKey>, tick: u64) {
    let some = keys.get(tick as usize % keys.len().max(1)).copied();
    match (tick % 11, some) {
        (0, Some(key)) => drop(physics.add_force(key, Vector::Y)),
        (2, Some(key)) => drop(physics.teleport(key, Pose::translation(0.0, 3.0, 0.0))),
        (4, _) => keys.push(physics.insert(
            RigidBodyBuilder::dynamic().translation(Vector::Y * 2.0),
            ColliderBuilder::ball(0.2),
        )),
        (6, Some(key)) => {
            if let Some(body) = physics.body_mut(key) {
                body.set_linvel(Vector::X, true);
            }
        }
        (8, Some(key)) if tick.is_multiple_of(2) => drop(physics.remove(key)),
        (9, Some(key)) => drop(physics.show_from(key, Pose::translation(0.0, 3.0, 0.0))),
        (10, _) if tick.is_multiple_of(3) => drop(physics.shift_origin(Vector::X)),
        _ => (),
    }
}

fn read(simulation: &Simulation, keys: &[BodyKey], number: u64) {
    if number.is_multiple_of(8) {
        let (frame, clock) = (simulation.frame(), simulation.clock());
        let _ = (
            frame.ticks(),
            clock.time(),
            clock.alpha(),
            clock.until_next_step(),
        );
        let mut earlier = frame;
        earlier.number = frame.number.wrapping_sub(2);
        let _ = simulation.changes_since(&earlier);
        let _ = (
            simulation.moved(),
            simulation.removed(),
            simulation.events().collisions().count(),
        );
        for key in keys {
            let _ = simulation.pose_at(*key, frame.tick.wrapping_sub(1), 0.5);
        }
    }
}
