//! Forged numbers neither panic nor allocate much more memory than the state needs.

use super::*;
use evenstep::rewind::Kept;

/// Collects the paths of all whole numbers in a value.
fn numbers(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Number(number) if number.is_u64() => found.push(path.to_owned()),
        Value::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                numbers(value, &format!("{path}/{i}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                numbers(value, &format!("{path}/{name}"), found);
            }
        }
        _ => (),
    }
}

/// Tests the state with each of its whole numbers replaced by each of these.
fn forge(state: &mut Value, forged: &[u64], test: impl Fn(&Value, &str)) {
    let mut paths = Vec::new();
    numbers(state, "", &mut paths);
    assert!(paths.len() > 50);
    for path in paths {
        let honest = state.pointer(&path).unwrap().clone();
        for forged in forged {
            *state.pointer_mut(&path).unwrap() = (*forged).into();
            test(state, &format!("{path} is {forged}"));
        }
        *state.pointer_mut(&path).unwrap() = honest;
    }
}

/// Returns a state with something of each kind.
fn rich() -> Value {
    let mut simulation = space(60);
    simulation.keep(Kept {
        poses: 4,
        ..simulation.kept()
    });
    let body = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let key = simulation.physics.insert(body, ball());
    let lift = simulation
        .physics
        .insert(RigidBodyBuilder::kinematic_position_based(), ball());
    let there = translation(0.0, 9.0, 0.0);
    let then = simulation.clock().time() + MS(500);
    simulation
        .physics
        .set_kinematic_target(lift, there, then)
        .unwrap();
    let drag = ForceGenerator::Drag {
        linear: 1.0,
        angular: 0.5,
    };
    simulation
        .physics
        .insert_force_generator(key, drag)
        .unwrap();
    let own = Some(Correction::half_life(MS(50)));
    simulation.physics.set_body_correction(key, own).unwrap();
    simulation.physics.insert_body(RigidBodyBuilder::fixed());
    simulation.advance(MS(40), |_, _| ());
    simulation.physics.apply_impulse(key, Vector::X).unwrap();
    serde_json::to_value(&simulation).unwrap()
}

/// Does everything that a game does with a loaded state.
fn play(mut simulation: Simulation) {
    simulation.keep(Kept {
        ticks: 10,
        ..simulation.kept()
    });
    simulation
        .clock_settings_mut()
        .set_max_steps_per_frame(Some(5));
    simulation.correction = Correction::default();
    let keys: Vec<_> = simulation.physics.bodies().map(|(key, _)| key).collect();
    for _ in 0..3 {
        let frame = simulation.advance(MS(40), |_, _| ());
        for key in &keys {
            let _ = simulation.pose(*key);
            for tick in [0, frame.tick, frame.tick.wrapping_add(1), u64::MAX] {
                let _ = simulation.pose_at(*key, tick, 0.5);
            }
        }
        let mut earlier = frame;
        earlier.number = frame.number.wrapping_sub(3);
        let _ = simulation.changes_since(&earlier);
        let _ = (simulation.save(), frame.ticks(), simulation.clock().time());
    }
    let tick = simulation.physics.tick();
    let _ = simulation.resimulate(tick.saturating_sub(2), |_, _| ());
    let _ = simulation.rewind(tick.saturating_sub(2));
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball());
    simulation.advance(MS(40), |_, _| ());
    simulation.physics.remove(key);
    let mut overlap = Overlap::new(simulation).unwrap();
    for _ in 0..3 {
        let _ = overlap.frame(MS(20), &mut Idle);
    }
    let (mut simulation, _) = overlap.stop(&mut Idle);
    for key in keys {
        simulation.physics.remove(key);
    }
    simulation.advance(MS(40), |_, _| ());
}

#[test]
fn a_state_with_a_forged_number_is_refused_or_runs_without_panic() {
    // Counters overflow near these.
    let ends = [u32::MAX.into(), u64::MAX - 1, u64::MAX];
    forge(&mut rich(), &ends, |state, path| {
        // In the steps that follow, Rapier is responsible for its own sets.
        let is_ours = !path.starts_with("/physics/world/rapier");
        if let Ok(simulation) = Simulation::deserialize(state)
            && is_ours
        {
            let play = AssertUnwindSafe(|| play(simulation));
            assert!(catch_unwind(play).is_ok(), "{path}");
        }
    });
}

struct Idle;

impl Hooks for Idle {
    type Error = std::convert::Infallible;
}

#[test]
fn loading_a_forged_number_allocates_bounded_memory() {
    let mut state = rich();
    let most = 10 * state.to_string().len() as u64 + 1_000_000;
    let lengths = [1 << 16, 1 << 24, u64::from(u32::MAX) - 1, u64::MAX];
    forge(&mut state, &lengths, |state, path| {
        let taken = measure(|| drop(Simulation::deserialize(state)));
        assert!(taken.bytes_max < most, "{path}: {} bytes", taken.bytes_max);
    });
}
