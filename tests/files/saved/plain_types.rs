//! Plain types alone: a round trip through JSON, and impossible numbers.

use super::*;

#[test]
fn plain_types_survive_a_round_trip_through_json() {
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
    check(&Rate::fraction(60_000, 1_001));
    check(simulation.clock());
    check(&simulation.frame());
    simulation.begin_frame(MS(40));
    check(&simulation.next_step().unwrap());
    simulation.end_frame();
    check(&EntityMap::<u32>::default().unmatched(&simulation.physics));
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
    let mut sender = TickSender::new(5, String::from("walk"));
    assert_eq!(sender.schedule(7, String::from("jump")).count(), 3);
    check(&sender);

    let mut queue = InputQueue::new(Delivery::ByTime);
    queue.push(MS(3), 1u32);
    queue.push(MS(30), 2);
    let text = serde_json::to_string(&queue).unwrap();
    let mut read: InputQueue<u32> = serde_json::from_str(&text).unwrap();
    let mut clock = Clock::new(Rate::hz(100));
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
    let mut clock = Clock::new(Rate::hz(100));
    clock.begin_frame(MS(1_000));
    clock.begin_frame(MS(50));
    let step = clock.next_step().unwrap();
    let ms = [20, 990, 5_000, 995];
    for count in ["late", "corrected"] {
        let mut queue = InputQueue::new(Delivery::ByTime);
        for ms in ms {
            queue.push(MS(ms), 1);
        }
        let mut queue = forged(&queue, &format!("\"{count}\""), u64::MAX);
        queue.push(MS(20), 2);
        assert!(queue.drain(step).count() > 0, "{count}");
        let mut restarted = Clock::new(Rate::hz(100));
        restarted.begin_frame(MS(50));
        let _ = queue.drain(restarted.next_step().unwrap()).count();
    }
    for count in ["late", "too_far_ahead", "missed"] {
        let mut queue = TickQueue::new(0, 5);
        queue.push(1, 7).unwrap();
        queue.set_tick(2);
        let mut queue = forged(&queue, &format!("\"{count}\""), u64::MAX);
        assert!(queue.push(1, 7).is_err() && queue.push(99, 7).is_err());
        clock.set_tick(3);
        clock.begin_frame(MS(20));
        assert_eq!(queue.drain(clock.next_step().unwrap()).count(), 0);
    }
    for count in ["presses", "releases"] {
        let mut button = forged(&Button::default(), &format!("\"{count}\""), u32::MAX.into());
        button.set(true);
        button.set(false);
    }
}

/// Returns a clock in the middle of a frame, with a part of its text replaced.
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
        ("\"tick\":0", "\"tick\":18446744073709551615"),
        ("\"end\":2", "\"end\":0"),
    ] {
        assert!(clock_with(from, to).is_err(), "{to}");
    }
}

#[test]
fn a_clock_at_an_impossible_time_neither_panics_nor_overflows() {
    let most = u128::MAX;
    let step = 2_520_000_000_000_000_u128;
    for (from, to) in [
        (
            "\"overstep\":50400000000000",
            format!("\"overstep\":{most}"),
        ),
        ("\"postponed\":0", format!("\"postponed\":{most}")),
        ("\"units\":0", format!("\"units\":{most}")),
        ("\"last_step\":0", format!("\"last_step\":{most}")),
        ("\"last_step\":0", format!("\"last_step\":{step}")),
        ("\"end\":2", format!("\"end\":{}", u64::MAX)),
        (&format!("\"units\":{step}"), format!("\"units\":{most}")),
        (&format!("\"units\":{step}"), "\"units\":0".to_owned()),
        (
            "\"displays_last_state\":false",
            "\"displays_last_state\":true".to_owned(),
        ),
    ] {
        for stepping in [Stepping::Fixed, Stepping::Variable, Stepping::SemiFixed] {
            for rate in [Rate::hz(u32::MAX), Rate::fraction(1, u32::MAX)] {
                let mut clock = clock_with(from, &to).unwrap();
                clock.settings_mut().set_stepping(stepping);
                clock.settings_mut().set_rate(rate);
                for number in 0..4 {
                    assert!((0.0..=1.0).contains(&clock.alpha()), "{to}");
                    let _ = (clock.time(), clock.displayed_time());
                    let _ = clock.until_next_step();
                    for step in (0..3).map_while(|_| clock.next_step()) {
                        assert!(step.dt > 0.0, "{to}");
                    }
                    if number == 2 {
                        clock.abort_frame();
                    }
                    clock.begin_frame(MS(1));
                }
            }
        }
    }
}

#[test]
fn a_forged_overstep_makes_at_most_65_535_steps_due() {
    let mut clock = Clock::new(Rate::default());
    clock.begin_frame(MS(10));
    let text = serde_json::to_string(&clock).unwrap();
    let from = format!("\"overstep\":{}", 10_u128 * 60 * 1_260_000 * 1_000_000);
    assert!(text.contains(&from), "{text}");
    let text = text.replacen(&from, &format!("\"overstep\":{}", u128::MAX), 1);
    let mut clock: Clock = serde_json::from_str(&text).unwrap();
    clock.begin_frame(MS(1));
    assert_eq!(clock.due(), 65_535);
}
