//! States as bytes: what is read goes on to the bit, and whatever is not a state is refused.

mod scenes;

use crate::scenes::testing::{translation, vector};
use allocation_counter::measure;
use evenstep::rapier::prelude::*;
use evenstep::recording::{RecorderSettings, RecordingEnd};
use evenstep::threads::Overlap;
use evenstep::{
    BodyKey, Button, Clock, Correction, Delivery, ForceGenerator, Hooks, InputQueue, LoadError,
    Owners, Physics, Rate, SaveError, Simulation, Smoothing, Stepping, TickQueue, Wrench,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
#[cfg(feature = "enhanced-determinism")]
use scenes::everything::{Everything, gusts};
use scenes::{MS, Yard, ball, hash, space};
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(feature = "enhanced-determinism")]
fn load(bytes: &[u8]) -> Simulation {
    let named = |name: &str| (name == "gusts").then(gusts);
    Simulation::load_with(bytes, named).unwrap()
}

/// A small match, right after a step.
fn game() -> Simulation {
    let mut yard = Yard::new(Rate::hz(60).unwrap());
    yard.advance(MS(200));
    yard.simulation
}

// Going on.

/// Promised to the bit with the feature `enhanced-determinism`, in which Rapier's tables have an order of their
/// own.
#[cfg(feature = "enhanced-determinism")]
#[test]
fn what_is_read_goes_on_to_the_bit() {
    let mut game = Everything::new();
    let mut read: Vec<(u64, Everything)> = Vec::new();
    for number in 0..400u64 {
        game.frame(number);
        for (from, other) in &mut read {
            other.frame(number);
            assert_eq!(other.seen(), game.seen(), "{number}, written after {from}");
        }
        if number.is_multiple_of(13)
            && let Ok(bytes) = game.simulation.save()
        {
            let simulation = load(&bytes);
            assert_eq!(
                simulation.physics.checksum(),
                game.simulation.physics.checksum()
            );
            assert_eq!(
                simulation.save().as_ref(),
                Ok(&bytes),
                "the same bytes again"
            );
            let script = game.script.clone();
            read.push((number, Everything { simulation, script }));
            // Each of them for some time, and the first to the end.
            if read.len() > 4 {
                read.remove(1);
            }
        }
    }
    assert!(read.len() > 3 && read[0].0 < 50, "{} states", read.len());
}

/// With the exceptions that are named at `Simulation::save`.
#[cfg(feature = "enhanced-determinism")]
#[test]
fn soft_bodies_that_are_read_go_on_to_the_bit() {
    use crate::scenes::testing::{cloth, cuboid, soft_cube};

    let particles = |simulation: &Simulation| -> Vec<Vector> {
        let soft_bodies = simulation.physics.rapier().soft_bodies.iter();
        let all = |soft: &SoftBody| -> Vec<Vector> {
            (0..soft.num_particles())
                .map(|i| soft.particle_position(i))
                .collect()
        };
        soft_bodies.flat_map(|(_, soft)| all(soft)).collect()
    };
    let mut here = Simulation::new(Rate::hz(60).unwrap());
    let floor = cuboid(20.0, 0.1, 20.0);
    here.physics.insert(RigidBodyBuilder::fixed(), floor);
    let at = |y: f32| soft_cube(Vector::Y * y, 0.5, 3);
    let cloth = cloth(Vector::Y * 2.5, 2.0, 6);
    for soft_body in [at(0.7), at(1.9), cloth] {
        here.physics.rapier_mut().insert_soft_body(soft_body);
    }
    for _ in 0..8 {
        here.advance(MS(170), |_, _| ());
        let mut there = load(&here.save().unwrap());
        let mut copy = here.clone();
        for _ in 0..10 {
            for simulation in [&mut copy, &mut there] {
                simulation.advance(MS(17), |_, _| ());
            }
            assert_eq!(particles(&copy), particles(&there));
        }
    }
}

/// The bodies that moved in the last frame, and those that were removed.
fn lists(simulation: &Simulation) -> (BTreeMap<BodyKey, Pose>, BTreeSet<BodyKey>) {
    let moved = simulation.moved().iter().copied();
    (
        moved.collect(),
        simulation.removed().iter().copied().collect(),
    )
}

#[test]
fn what_is_read_has_the_same_poses_and_keys_and_no_past() {
    let mut simulation = space(100);
    simulation.set_history(5);
    let flying = RigidBodyBuilder::dynamic().linvel(Vector::X);
    let keys: Vec<BodyKey> = (0..6)
        .map(|_| simulation.physics.insert(flying.clone(), ball()))
        .collect();
    simulation.smoothing = Smoothing::Hermite;
    let mut correction = Correction::default();
    correction.position.half_life = MS(30);
    simulation.correction = correction;
    correction.rotation.half_life = MS(50);
    let own = Some(correction);
    simulation
        .physics
        .set_body_correction(keys[5], own)
        .unwrap();
    simulation.set_rewind_limits(10, usize::MAX);
    simulation.advance(MS(45), |_, _| ());
    let aside = translation(0.0, 0.5, 0.0);
    let again = |physics: &mut Physics, _| {
        for key in [keys[2], keys[5]] {
            physics.teleport_by(key, aside).unwrap();
        }
    };
    simulation.resimulate(3, again).unwrap();
    simulation.advance(MS(0), |_, _| ());
    // Slots to be used again, in an order of their own, and edits that no step has seen.
    for i in [4, 1, 3] {
        simulation.physics.remove(keys[i]);
    }
    let there = translation(0.0, 9.0, 0.0);
    simulation.physics.teleport(keys[0], there).unwrap();
    simulation
        .physics
        .body_mut(keys[2])
        .unwrap()
        .set_linvel(Vector::Y, true);
    simulation
        .physics
        .apply_impulse(keys[5], vector(0.0, 0.0, 1.0))
        .unwrap();
    let mut read = Simulation::load(&simulation.save().unwrap()).unwrap();
    assert_eq!(read.rewindable(), 0..0);
    read.set_history(5);
    let first = read.physics.tick();
    assert_eq!(read.correction, simulation.correction);
    assert_eq!(read.physics.body_correction(keys[5]), own);
    let errors = [keys[2], keys[5]].map(|key| read.visual_error(key));
    assert!(errors[0].is_some() && errors[1].is_some());
    let text = serde_json::to_string(&simulation).unwrap();
    let from_text: Simulation = serde_json::from_str(&text).unwrap();
    assert_eq!(
        [keys[2], keys[5]].map(|key| from_text.visual_error(key)),
        errors
    );
    for ms in [0, 3, 10, 25] {
        for simulation in [&mut simulation, &mut read] {
            simulation.advance(MS(ms), |_, _| ());
        }
        assert_eq!(lists(&read), lists(&simulation));
        assert_eq!(read.frame(), simulation.frame());
        assert_eq!(read.clock(), simulation.clock());
        for key in &keys {
            assert_eq!(read.pose(*key), simulation.pose(*key));
            for tick in 0..12 {
                let then = simulation.pose_at(*key, tick, 0.3);
                let is_known = tick >= first;
                assert_eq!(read.pose_at(*key, tick, 0.3), then.filter(|_| is_known));
            }
        }
        let born = [&mut simulation, &mut read]
            .map(|simulation| [(); 2].map(|()| simulation.physics.insert(flying.clone(), ball())));
        assert_eq!(born[0], born[1]);
    }
    assert_eq!(
        hash(read.physics.rapier()),
        hash(simulation.physics.rapier())
    );
}

/// Steps that were resimulated between two frames count in the frame after, also if that is another process's.
#[test]
fn what_was_resimulated_before_it_was_saved_counts() {
    let mut simulation = game();
    simulation.set_rewind_limits(20, usize::MAX);
    simulation.advance(MS(100), |_, _| ());
    let again = 4;
    let from = simulation.physics.tick() - again;
    simulation.resimulate(from, |_, _| ()).unwrap();
    let mut read = Simulation::load(&simulation.save().unwrap()).unwrap();
    for simulation in [&mut simulation, &mut read] {
        assert_eq!(simulation.advance(MS(0), |_, _| ()).resimulated, again);
    }
}

#[test]
fn a_named_force_is_bound_again_and_an_unknown_name_gives_none() {
    let mut simulation = space(100);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball().mass(1.0));
    let push = || {
        ForceGenerator::named("push", |_, _| Wrench {
            force: Vector::X * 100.0,
            ..Wrench::default()
        })
    };
    let generator = simulation
        .physics
        .insert_force_generator(key, push())
        .unwrap();
    simulation.advance(MS(10), |_, _| ());
    let bytes = simulation.save().unwrap();
    for (is_known, speed) in [(true, 2.0), (false, 1.0)] {
        let named = |name: &str| (is_known && name == "push").then(push);
        let mut read = Simulation::load_with(&bytes, named).unwrap();
        read.advance(MS(10), |_, _| ());
        let reached = read.physics.body(key).unwrap().linvel().x;
        assert!((reached - speed).abs() < 1e-5, "{reached} m/s");
        assert!(read.physics.remove_force_generator(generator).is_some());
    }
}

// What cannot be written.

#[test]
fn what_cannot_be_written_is_named() {
    let mut simulation = game();
    assert!(simulation.save().is_ok());
    simulation.begin_frame(MS(20));
    assert_eq!(simulation.save(), Err(SaveError::WithinFrame));
    simulation.end_frame();

    let step = |simulation: &mut Simulation| {
        simulation.advance(MS(20), |_, _| ());
        assert!(simulation.save().is_ok());
    };
    let changes: [fn(&mut Simulation); 3] = [
        |simulation| simulation.physics.rapier_mut().gravity = Vector::ZERO,
        |simulation| simulation.physics.rapier_mut_except_bodies().gravity = Vector::ZERO,
        |simulation| simulation.physics.shift_origin(Vector::X).unwrap(),
    ];
    for change in changes {
        step(&mut simulation);
        change(&mut simulation);
        assert_eq!(simulation.save(), Err(SaveError::ChangedSinceStep));
        assert!(serde_json::to_string(&simulation).is_err());
    }
    step(&mut simulation);
    let keys: Vec<BodyKey> = simulation
        .physics
        .bodies()
        .map(|(key, _)| key)
        .take(2)
        .collect();
    let ends = [keys[0], keys[1]].map(|key| simulation.physics.handle(key).unwrap());
    let joint = FixedJointBuilder::new();
    let joints = simulation.physics.rapier_mut_except_bodies();
    joints.insert_impulse_joint(ends[0], ends[1], joint);
    step(&mut simulation);
    simulation.physics.remove(keys[0]);
    assert_eq!(
        simulation.save(),
        Err(SaveError::ChangedSinceStep),
        "its joint went with it"
    );

    step(&mut simulation);
    let nameless = ForceGenerator::custom(|_, _| Wrench::default());
    let generator = simulation
        .physics
        .insert_force_generator(keys[1], nameless)
        .unwrap();
    assert_eq!(simulation.save(), Err(SaveError::UnnamedForce(generator)));
    simulation.physics.remove_force_generator(generator);
    assert!(simulation.save().is_ok());

    let loaded = Simulation::with_physics(Rate::default(), Physics::default());
    assert!(loaded.save().is_ok());
}

// What is not a state.

#[test]
fn truncated_foreign_and_too_new_files_are_refused() {
    let bytes = game().save().unwrap();
    let refused = |bytes: &[u8]| Simulation::load(bytes).unwrap_err();
    let len = bytes.len() as u64;
    for cut in [
        0,
        1,
        7,
        8,
        11,
        12,
        20,
        41,
        42,
        43,
        bytes.len() / 2,
        bytes.len() - 1,
    ] {
        let error = refused(&bytes[..cut]);
        let is_right = match error {
            LoadError::NotAState => cut < 8,
            LoadError::Length { found, .. } => found == cut as u64 && cut >= 8,
            _ => false,
        };
        assert!(is_right, "{error:?} of {cut} bytes");
    }
    let longer = [&bytes[..], &[0]].concat();
    let expected = LoadError::Length {
        expected: len,
        found: len + 1,
    };
    assert_eq!(refused(&longer), expected);
    assert_eq!(refused(b"a text, not a state"), LoadError::NotAState);

    let with = |at: usize, byte: u8| {
        let mut changed = bytes.clone();
        changed[at] = byte;
        refused(&changed)
    };
    assert_eq!(with(8, 1), LoadError::Format { found: 1 });
    assert_eq!(with(8, 3), LoadError::Format { found: 3 });
    assert_eq!(
        with(12, 9),
        LoadError::Checksum,
        "Rapier's version is under the checksum"
    );
    assert_eq!(
        with(20, !bytes[20]),
        LoadError::Checksum,
        "so is the layout"
    );
    assert_eq!(with(60, !bytes[60]), LoadError::Checksum);
    assert!(
        LoadError::Rapier { found: [0, 40, 1] }
            .to_string()
            .contains("0.40.1")
    );
}

#[test]
fn a_flipped_bit_anywhere_is_refused() {
    let bytes = game().save().unwrap();
    let mut runner = TestRunner::new(Config::with_cases(10_000));
    runner
        .run(&(0..bytes.len(), 0..8u8), |(at, bit)| {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            prop_assert!(Simulation::load(&changed).is_err());
            Ok(())
        })
        .unwrap();
}

#[test]
fn contents_that_contradict_each_other_are_refused_behind_a_right_checksum() {
    // As serde sees it, without header and checksum: what a writer with ill will can do.
    let mut simulation = space(60);
    simulation
        .physics
        .insert(RigidBodyBuilder::dynamic().linvel(Vector::X), ball());
    simulation.advance(MS(40), |_, _| ());
    let text = serde_json::to_string(&simulation).unwrap();
    let read = |from: &str, to: &str| {
        assert!(text.contains(from), "no {from} in {text}");
        let text = text.replacen(from, to, 1);
        Simulation::deserialize(&mut serde_json::Deserializer::from_str(&text))
    };
    let same = read("\"tick\":2", "\"tick\":2").unwrap();
    assert_eq!(same.physics.tick(), 2);
    for (from, to) in [
        // The clock's, and not that of the physics.
        ("\"tick\":2", "\"tick\":7"),
        ("\"speed\":1.0", "\"speed\":-1.0"),
        ("\"rate\":[60,1]", "\"rate\":[0,1]"),
        ("\"max_steps_per_frame\":null", "\"max_steps_per_frame\":0"),
        ("\"awake\":1", "\"awake\":100000"),
        ("\"versions\":[1]", "\"versions\":[]"),
        ("\"versions\":[1]", "\"versions\":[2]"),
        ("\"versions\":[1]", "\"versions\":[1,1]"),
        ("\"shown\":[[{", "\"shown\":[],\"not_shown\":[[{"),
        (
            "\"movers\":{\"handles\":[",
            "\"movers\":{\"handles\":[[7,7],",
        ),
    ] {
        assert!(read(from, to).is_err(), "{to}");
    }
}

#[test]
fn bodies_colliders_and_joints_that_do_not_find_each_other_are_refused() {
    let mut simulation = space(60);
    let keys = [(); 2].map(|()| {
        simulation
            .physics
            .insert(RigidBodyBuilder::dynamic(), ball())
    });
    let ends = keys.map(|key| simulation.physics.handle(key).unwrap());
    let physics = simulation.physics.rapier_mut_except_bodies();
    physics.insert_impulse_joint(ends[0], ends[1], FixedJointBuilder::new());
    simulation.advance(MS(40), |_, _| ());
    let state = serde_json::to_value(&simulation).unwrap();
    assert!(Simulation::deserialize(&state).is_ok());
    let physics = "/physics/world/physics";
    for of in [
        "/bodies/bodies/items/0/Occupied/value/colliders/0/index",
        "/colliders/colliders/items/1/Occupied/value/parent/handle/index",
        "/colliders/colliders/items/1/Occupied/value/parent/handle/generation",
        "/impulse_joints/joint_graph/graph/edges/0/weight/body2/index",
    ] {
        let mut forged = state.clone();
        *forged.pointer_mut(&format!("{physics}{of}")).unwrap() = 7.into();
        assert!(Simulation::deserialize(&forged).is_err(), "{of}");
    }
}

#[test]
fn a_forged_picture_is_put_right_by_the_first_frame() {
    let mut simulation = space(60);
    let flying = RigidBodyBuilder::dynamic().linvel(Vector::X);
    for _ in 0..3 {
        simulation.physics.insert(flying.clone(), ball());
    }
    simulation.advance(MS(40), |_, _| ());
    let mut state = serde_json::to_value(&simulation).unwrap();
    for place in 0..2 {
        *state
            .pointer_mut(&format!("/screen/shown/{place}/0/version"))
            .unwrap() = 3.into();
        let slot = format!("/screen/bodies/{}/version", place + 1);
        *state.pointer_mut(&slot).unwrap() = 3.into();
    }
    let mut forged = Simulation::deserialize(&state).unwrap();
    for removed in [2, 0] {
        forged.advance(MS(0), |_, _| ());
        assert_eq!(forged.removed().len(), removed);
        for (key, _) in simulation.physics.bodies() {
            assert_eq!(forged.pose(key), simulation.pose(key));
        }
    }
}

// The plain types.

#[test]
fn the_plain_types_are_written_and_read_by_themselves() {
    fn check<T>(value: &T)
    where
        T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
    {
        let text = serde_json::to_string(value).unwrap();
        assert_eq!(&serde_json::from_str::<T>(&text).unwrap(), value, "{text}");
    }
    let mut simulation = game();
    let (key, _) = simulation.physics.bodies().next().unwrap();
    let drag = ForceGenerator::Drag {
        linear: 1.0,
        angular: 0.5,
    };
    check(
        &simulation
            .physics
            .insert_force_generator(key, drag)
            .unwrap(),
    );
    check(&key);
    check(&Some(key));
    check(&Rate::fraction(60_000, 1_001).unwrap());
    check(simulation.clock());
    check(&simulation.frame());
    simulation.begin_frame(MS(40));
    check(&simulation.next_step().unwrap());
    simulation.end_frame();
    check(&Owners::<u32>::default().unmatched(&simulation.physics));
    check(&RecorderSettings::default());
    check(&RecordingEnd::Damaged { at: 7 });
    for stepping in [
        Stepping::Fixed,
        Stepping::SemiFixed,
        Stepping::DisplayCounted,
    ] {
        check(&stepping);
    }
    for smoothing in [Smoothing::Hermite, Smoothing::Latest] {
        check(&smoothing);
    }
    check(&Correction::default());
    check(&Correction::OFF);
    let mut button = Button::default();
    button.set(true);
    check(&button);
    let mut by_tick = TickQueue::new(5, 100);
    by_tick.push(7, String::from("jump")).unwrap();
    check(&by_tick);

    let mut queue = InputQueue::new(Delivery::ByTime);
    queue.push(MS(3), 1u32);
    queue.push(MS(30), 2);
    let text = serde_json::to_string(&queue).unwrap();
    let mut read: InputQueue<u32> = serde_json::from_str(&text).unwrap();
    let mut clock = Clock::new(Rate::hz(100).unwrap());
    clock.begin_frame(MS(40));
    while let Some(step) = clock.next_step() {
        let [one, other] = [&mut queue, &mut read].map(|queue| {
            let samples = queue.drain(step);
            samples
                .map(|sample| (sample.input, sample.fraction))
                .collect::<Vec<_>>()
        });
        assert_eq!(one, other);
    }
    assert!(read.is_empty());
    assert!(serde_json::from_str::<Rate>("[0, 7]").is_err());
}

#[test]
fn queues_and_buttons_with_impossible_counts_neither_panic_nor_overflow() {
    fn forged<T>(value: &T, from: &str, to: u64) -> T
    where
        T: serde::Serialize + serde::de::DeserializeOwned,
    {
        let text = serde_json::to_string(value).unwrap();
        let forged = text.replace(&format!("{from}:0"), &format!("{from}:{to}"));
        assert_ne!(forged, text);
        serde_json::from_str(&forged).unwrap()
    }
    let mut clock = Clock::new(Rate::hz(100).unwrap());
    clock.begin_frame(MS(1_000));
    clock.begin_frame(MS(50));
    let step = clock.next_step().unwrap();
    let ms = [20, 990, 5_000, 995];
    for count in ["checked", "late", "reordered", "future", "restarts"] {
        let mut queue = InputQueue::new(Delivery::ByTime);
        for ms in ms {
            queue.push(MS(ms), 1);
        }
        let mut queue = forged(&queue, &format!("\"{count}\""), u64::MAX);
        queue.push(MS(20), 2);
        assert!(queue.drain(step).count() > 0, "{count}");
        let mut restarted = Clock::new(Rate::hz(100).unwrap());
        restarted.begin_frame(MS(50));
        let _ = queue.drain(restarted.next_step().unwrap()).count();
    }
    for count in ["late", "too_far_ahead", "missed"] {
        let mut queue = TickQueue::new(0, 5);
        queue.push(1, 7).unwrap();
        queue.set_tick(2);
        let mut queue = forged(&queue, &format!("\"{count}\""), u64::MAX);
        assert!(queue.push(1, 7).is_err() && queue.push(99, 7).is_err());
        clock.settings_mut().set_tick(3);
        clock.begin_frame(MS(20));
        assert_eq!(queue.drain(clock.next_step().unwrap()).count(), 0);
    }
    for count in ["presses", "releases"] {
        let mut button = forged(&Button::default(), &format!("\"{count}\""), u32::MAX.into());
        button.set(true);
        button.set(false);
    }
}

/// A clock in the middle of a frame, with a part of its text replaced.
fn clock_with(from: &str, to: &str) -> Result<Clock, serde_json::Error> {
    let mut clock = Clock::new(Rate::default());
    clock.begin_frame(MS(34));
    let text = serde_json::to_string(&clock).unwrap();
    assert!(text.contains(from), "no {from} in {text}");
    serde_json::from_str(&text.replacen(from, to, 1))
}

#[test]
fn a_clock_with_impossible_settings_is_refused() {
    let fastest = clock_with("\"speed\":1.0", "\"speed\":1000.0").unwrap();
    assert_eq!(fastest.settings().speed(), 1_000.0);
    for (from, to) in [
        ("\"speed\":1.0", "\"speed\":1000.01"),
        ("\"speed\":1.0", "\"speed\":-0.01"),
        ("\"rate\":[60,1]", "\"rate\":[60,0]"),
        ("\"max_steps_per_frame\":null", "\"max_steps_per_frame\":0"),
    ] {
        assert!(clock_with(from, to).is_err(), "{to}");
    }
}

#[test]
fn a_clock_at_an_impossible_time_neither_panics_nor_overflows() {
    let most = u128::MAX;
    for (from, to) in [
        ("\"tick\":0", format!("\"tick\":{}", u64::MAX)),
        ("\"tick\":0", format!("\"tick\":{}", u64::MAX - 1)),
        (
            "\"overstep\":50400000000000",
            format!("\"overstep\":{most}"),
        ),
        ("\"simulated\":0", format!("\"simulated\":{most}")),
        ("\"end\":2", format!("\"end\":{}", u64::MAX)),
        ("\"units\":2520000000000000", format!("\"units\":{most}")),
        ("\"units\":2520000000000000", "\"units\":0".to_owned()),
    ] {
        for stepping in [Stepping::Fixed, Stepping::Variable, Stepping::SemiFixed] {
            for rate in [Rate::hz(u32::MAX), Rate::fraction(1, u32::MAX)] {
                let mut clock = clock_with(from, &to).unwrap();
                clock.settings_mut().set_stepping(stepping);
                clock.settings_mut().set_rate(rate.unwrap());
                for _ in 0..3 {
                    let _ = (clock.time(), clock.alpha(), clock.until_next_step());
                    assert!(clock.time() >= clock.overstep());
                    for step in (0..3).map_while(|_| clock.next_step()) {
                        assert!(step.dt > 0.0, "{to}");
                    }
                    clock.begin_frame(MS(1));
                }
            }
        }
    }
}

// What asks for memory.

/// The paths of all whole numbers in it.
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

/// A state with something of each kind.
fn rich() -> Value {
    let mut simulation = space(60);
    simulation.set_history(4);
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
    let mut correction = Correction::default();
    correction.position.half_life = MS(50);
    let own = Some(correction);
    simulation.physics.set_body_correction(key, own).unwrap();
    simulation.physics.insert_body(RigidBodyBuilder::fixed());
    simulation.advance(MS(40), |_, _| ());
    simulation.physics.apply_impulse(key, Vector::X).unwrap();
    serde_json::to_value(&simulation).unwrap()
}

/// Everything that a game does with a state that it has loaded.
fn play(mut simulation: Simulation) {
    simulation.set_rewind_limits(10, usize::MAX);
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
        let _ = simulation.changes_since(frame.number.wrapping_sub(3));
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
    let mut simulation = overlap.stop();
    for key in keys {
        simulation.physics.remove(key);
    }
    simulation.advance(MS(40), |_, _| ());
}

/// The numbers near which counting ends.
const ENDS: [u64; 3] = [u32::MAX as u64, u64::MAX - 1, u64::MAX];

#[test]
fn what_is_read_with_a_forged_number_is_refused_or_can_be_played() {
    let state = rich();
    let mut paths = Vec::new();
    numbers(&state, "", &mut paths);
    assert!(paths.len() > 50);
    for path in paths {
        // In the steps that follow, Rapier's own sets are Rapier's to check.
        let is_ours = !path.starts_with("/physics/world/physics");
        for forged in ENDS {
            let mut state = state.clone();
            *state.pointer_mut(&path).unwrap() = forged.into();
            if let Ok(simulation) = Simulation::deserialize(&state)
                && is_ours
            {
                let play = AssertUnwindSafe(|| play(simulation));
                assert!(catch_unwind(play).is_ok(), "{path} is {forged}");
            }
        }
    }
}

struct Idle;

impl Hooks for Idle {
    type Error = std::convert::Infallible;
}

#[test]
fn no_forged_number_asks_for_more_memory_than_the_file_holds() {
    let state = rich();
    let len = state.to_string().len() as u64;
    let mut paths = Vec::new();
    numbers(&state, "", &mut paths);
    assert!(paths.len() > 50);
    for path in paths {
        for forged in [1 << 16, 1 << 24, u64::from(u32::MAX) - 1, u64::MAX] {
            let mut state = state.clone();
            *state.pointer_mut(&path).unwrap() = forged.into();
            let taken = measure(|| drop(Simulation::deserialize(&state)));
            let most = 10 * len + 1_000_000;
            assert!(taken.bytes_max < most, "{path}: {} bytes", taken.bytes_max);
        }
    }
}
