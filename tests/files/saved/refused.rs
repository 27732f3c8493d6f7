//! States that cannot be saved, and bytes that are refused.

use super::*;

/// Checks that a simulation, its state alone and serde's traits of both refuse to write for this reason.
#[track_caller]
fn assert_refused(simulation: &Simulation, error: &SaveError) {
    assert_eq!(simulation.save().as_ref(), Err(error));
    assert_eq!(simulation.physics.save().as_ref(), Err(error));
    let texts = [
        serde_json::to_string(simulation),
        serde_json::to_string(&simulation.physics),
    ];
    for text in texts {
        assert_eq!(text.unwrap_err().to_string(), error.to_string());
    }
}

#[track_caller]
fn assert_savable(simulation: &Simulation) {
    assert!(simulation.save().is_ok() && simulation.physics.save().is_ok());
}

#[test]
fn saving_reports_why_a_state_cannot_be_saved() {
    let mut simulation = game();
    assert_savable(&simulation);
    simulation.begin_frame(MS(20));
    assert_eq!(simulation.save(), Err(SaveError::WithinFrame));
    assert!(simulation.physics.save().is_ok(), "a state has no frames");
    simulation.end_frame();

    let step = |simulation: &mut Simulation| {
        simulation.advance(MS(20), |_, _| ());
        assert_savable(simulation);
    };
    let changes: [fn(&mut Simulation); 3] = [
        |simulation| simulation.physics.rapier_mut().gravity = Vector::ZERO,
        |simulation| simulation.physics.rapier_mut_except_bodies().gravity = Vector::ZERO,
        |simulation| simulation.physics.shift_origin(Vector::X).unwrap(),
    ];
    for change in changes {
        step(&mut simulation);
        change(&mut simulation);
        assert_refused(&simulation, &SaveError::ChangedSinceStep);
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
    // The joint is removed with the body.
    simulation.physics.remove(keys[0]);
    assert_refused(&simulation, &SaveError::ChangedSinceStep);

    step(&mut simulation);
    let drag = ForceGenerator::Drag {
        linear: 1.0,
        angular: 1.0,
    };
    let generator = simulation.physics.insert_force_generator(keys[1], drag);
    simulation.physics.remove(keys[1]);
    assert_savable(&simulation);
    let removed = simulation
        .physics
        .remove_force_generator(generator.unwrap());
    assert_eq!(removed, None, "it was removed with its body");

    scenes::break_rapier(&mut simulation.physics);
    let advance = AssertUnwindSafe(|| simulation.advance(MS(20), |_, _| ()));
    catch_unwind(advance).unwrap_err();
    assert_eq!(simulation.physics.save(), Err(SaveError::Panicked));
    assert!(serde_json::to_string(&simulation.physics).is_err());

    assert_savable(&Simulation::default());
}

#[test]
fn truncated_foreign_and_incompatible_files_are_refused() {
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
    let physics = game().physics.save().unwrap();
    let found = "Physics";
    assert_eq!(refused(&physics), LoadError::OtherType { found });
    let error = Physics::load(&bytes).unwrap_err();
    let found = "Simulation";
    assert_eq!(error, LoadError::OtherType { found });

    let with = |at: usize, byte: u8| {
        let mut changed = bytes.clone();
        changed[at] = byte;
        refused(&changed)
    };
    assert_eq!(with(8, 5), LoadError::Format { found: 5 });
    assert_eq!(with(8, 99), LoadError::Format { found: 99 });
    assert_eq!(
        with(12, 9),
        LoadError::Checksum,
        "the checksum covers Rapier's version"
    );
    assert_eq!(
        with(20, !bytes[20]),
        LoadError::Checksum,
        "the checksum covers the layout"
    );
    assert_eq!(with(60, !bytes[60]), LoadError::Checksum);
    assert!(
        LoadError::Rapier { found: [0, 40, 1] }
            .to_string()
            .contains("0.40.1")
    );
}

#[test]
fn a_state_with_any_flipped_bit_is_refused() {
    let mut simulation = space(60);
    simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball());
    simulation.advance(MS(40), |_, _| ());
    let mut bytes = simulation.save().unwrap();
    for at in 0..bytes.len() {
        for bit in 0..8 {
            bytes[at] ^= 1 << bit;
            assert!(Simulation::load(&bytes).is_err(), "bit {bit} of byte {at}");
            bytes[at] ^= 1 << bit;
        }
    }
    assert!(Simulation::load(&bytes).is_ok());
}

#[test]
fn contradictory_contents_are_refused_even_without_a_checksum() {
    // This is the state as serde sees it, without header and checksum. An attacker can write it.
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
        ("\"speed\":1.0", "\"speed\":-1.0"),
        ("\"rate\":[60,1]", "\"rate\":[0,1]"),
        ("\"max_steps_per_frame\":null", "\"max_steps_per_frame\":0"),
        ("\"alpha\":", "\"alpha\":1"),
        (
            "\"planned\":null",
            "\"planned\":{\"end\":3,\"units\":1,\"is_untouched\":true,\"is_handed_out\":true,\"units_per_nano\":null}",
        ),
    ] {
        assert!(read(from, to).is_err(), "{to}");
    }
    // The state is checked within the simulation and alone.
    let alone = serde_json::to_string(&simulation.physics).unwrap();
    let read_alone = |from: &str, to: &str| {
        assert!(alone.contains(from), "no {from} in {alone}");
        let text = alone.replacen(from, to, 1);
        Physics::deserialize(&mut serde_json::Deserializer::from_str(&text))
    };
    assert_eq!(read_alone("\"tick\":2", "\"tick\":2").unwrap().tick(), 2);
    for (from, to) in [
        ("\"awake_count\":1", "\"awake_count\":100000"),
        ("\"versions\":[1]", "\"versions\":[]"),
        ("\"versions\":[1]", "\"versions\":[2]"),
        ("\"versions\":[1]", "\"versions\":[1,1]"),
        (
            "\"movers\":{\"handles\":[",
            "\"movers\":{\"handles\":[[7,7],",
        ),
    ] {
        assert!(read(from, to).is_err(), "{to}");
        assert!(read_alone(from, to).is_err(), "{to}");
    }
}

#[test]
fn dangling_handles_of_bodies_colliders_and_joints_are_refused() {
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
    assert!(Physics::deserialize(&state["physics"]).is_ok());
    let physics = "/physics/world/rapier";
    for of in [
        "/bodies/bodies/items/0/Occupied/value/colliders/0/index",
        "/colliders/colliders/items/1/Occupied/value/parent/handle/index",
        "/colliders/colliders/items/1/Occupied/value/parent/handle/generation",
        "/impulse_joints/joint_graph/graph/edges/0/weight/body2/index",
    ] {
        let mut forged = state.clone();
        *forged.pointer_mut(&format!("{physics}{of}")).unwrap() = 7.into();
        assert!(Simulation::deserialize(&forged).is_err(), "{of}");
        assert!(Physics::deserialize(&forged["physics"]).is_err(), "{of}");
    }
}

#[test]
fn the_smoothing_of_a_key_that_no_body_has_is_refused() {
    let mut simulation = space(60);
    let key = simulation
        .physics
        .insert(RigidBodyBuilder::dynamic(), ball());
    let latest = Some(evenstep::Smoothing::Latest);
    simulation.physics.set_body_smoothing(key, latest).unwrap();
    simulation.advance(MS(20), |_, _| ());
    let mut state = serde_json::to_value(&simulation).unwrap();
    let version = &mut state["physics"]["smoothing"]["bodies"][1]["version"];
    assert_eq!(*version, 1, "the body's slot");
    *version = 3.into();
    assert!(serde_json::from_value::<evenstep::Simulation>(state).is_err());
}

#[test]
fn a_view_has_a_time_although_the_loaded_one_is_forged() {
    let mut simulation = space(100);
    simulation.physics.insert(scenes::flyer(), ball());
    simulation.advance(MS(20), |_, _| ());
    let mut json = serde_json::to_value(&simulation).unwrap();
    json["frame"]["time"]["secs"] = u64::MAX.into();
    let forged = serde_json::from_value::<Simulation>(json).unwrap();
    let mut overlap = Overlap::new(forged).unwrap();
    assert_eq!(overlap.view().time(), Duration::ZERO);
    let _ = overlap.frame(MS(5), &mut Idle).unwrap().time();
}

struct Idle;

impl Hooks for Idle {
    type Error = std::convert::Infallible;
}

#[test]
fn saving_in_a_frame_in_which_rapier_has_panicked_reports_the_panic() {
    for is_rollback in [false, true] {
        let mut simulation = game();
        let kept = simulation.kept();
        simulation.keep(evenstep::rewind::Kept { ticks: 9, ..kept });
        simulation.advance(MS(100), |_, _| ());
        if is_rollback {
            simulation.roll_back(simulation.physics.tick() - 3).unwrap();
        }
        simulation.begin_frame(MS(20));
        simulation.next_step().unwrap();
        scenes::break_rapier(&mut simulation.physics);
        catch_unwind(AssertUnwindSafe(|| simulation.run_step())).unwrap_err();
        assert_refused(&simulation, &SaveError::Panicked);
        simulation.end_frame();
        assert_refused(&simulation, &SaveError::Panicked);
        simulation.rewind(simulation.physics.tick()).unwrap();
        assert_savable(&simulation);
    }
}
