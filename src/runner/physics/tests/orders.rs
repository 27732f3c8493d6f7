//! Commands, questions, pauses, other simulations.

use super::*;

#[test]
fn commands_run_at_the_start_of_the_next_step_in_the_order_sent() {
    let (simulation, _) = flyer();
    let mut both = Both::new(simulation, Idle);
    both.physics(MS(0));
    let (one, other) = (both.key(), both.key());
    let body = |x: f32| {
        Box::new(
            RigidBodyBuilder::dynamic()
                .translation(Vector::X * x)
                .build(),
        )
    };
    for (key, x) in [(other, 5.0), (one, 9.0)] {
        both.command(Command::Spawn {
            key,
            body: body(x),
            colliders: vec![ColliderBuilder::ball(0.1).mass(1.0).build()],
        });
    }
    both.command(Command::ApplyImpulse(one, Vector::Y));
    both.command(Command::Teleport(other, Pose::translation(7.0, 0.0, 0.0)));
    both.call(move |simulation, _| {
        assert_eq!(simulation.body(other).unwrap().translation().x, 7.0);
        simulation
            .body_mut(other)
            .unwrap()
            .set_linvel(Vector::Z, true);
    });
    both.physics(MS(9));
    assert_eq!(both.physics.simulation.bodies().count(), 1, "not yet");
    both.physics(MS(10));
    let at = |key| both.physics.simulation.body(key).unwrap().translation();
    assert_eq!(at(one), Vector::new(9.0, 0.01, 0.0));
    assert_eq!(at(other), Vector::new(7.0, 0.0, 0.01));
    assert!(both.frame(MS(20)).pose(one).is_some());
    both.command(Command::Remove(one));
    both.physics(MS(20));
    both.physics(MS(30));
    let view = both.frame(MS(40));
    assert_eq!((view.pose(one), view.removed()), (None, &[one][..]));
    // Keys of what is gone do nothing, and there is a key for each that was used.
    both.command(Command::AddForce(one, Vector::X));
    both.physics(MS(40));
    let (simulation, _) = both.physics.into_parts();
    assert_eq!(simulation.bodies().count(), 2);
}

#[test]
fn a_state_put_back_by_a_call_is_shown_whole() {
    let (simulation, flyer) = flyer();
    let mut both = Both::new(simulation, Idle);
    let sleeper = RigidBodyBuilder::dynamic().sleeping(true);
    let sleeper = both.physics.simulation.insert_body(sleeper);
    both.physics(MS(10));
    let saved = both.physics.simulation.clone();
    let late = both
        .physics
        .simulation
        .insert_body(RigidBodyBuilder::fixed());
    let there = Pose::translation(0.0, 7.0, 0.0);
    (both.physics.simulation.teleport(sleeper, there)).unwrap();
    both.physics(MS(50));
    let view = both.frame(MS(60));
    assert_eq!(view.pose(sleeper), Some(there));
    assert!(view.pose(late).is_some());
    both.call(move |simulation, _| *simulation = saved);
    for ms in [60, 70, 80, 90] {
        both.physics(MS(ms));
    }
    let view = both.frame(MS(95));
    assert_eq!(view.pose(sleeper), Some(Pose::IDENTITY));
    assert_eq!((view.pose(late), view.removed()), (None, &[late][..]));
    // It goes on from now, whatever its clock has said.
    let x = view.pose(flyer).unwrap().translation.x;
    assert!((x - 3.0).abs() < 1e-3, "{x}");
}

#[test]
fn questions_see_every_command_before_them_also_in_a_pause() {
    let (mut simulation, _) = flyer();
    let wall = RigidBodyBuilder::fixed().translation(Vector::Y * 50.0);
    let wall = simulation.insert(wall, ColliderBuilder::ball(1.0));
    let mut both = Both::new(simulation, Idle);
    both.physics(MS(0));
    let (answer, answers) = std::sync::mpsc::channel();
    for (paused, x) in [(false, 20.0f32), (true, 30.0)] {
        if paused {
            both.command(Command::Pause);
            both.physics(MS(20));
            both.physics(MS(21));
        }
        both.command(Command::Teleport(wall, Pose::translation(x, 9.0, 0.0)));
        let answer = answer.clone();
        let query = Order::Query(Box::new(move |simulation: &Simulation| {
            let pipeline = simulation.physics().query_pipeline();
            let ray = Ray::new(Vector::new(x, 20.0, 0.0), -Vector::Y);
            let hit = pipeline.cast_ray(&ray, 100.0, true).map(|(_, at)| at);
            answer.send((simulation.tick(), hit)).unwrap();
        }));
        both.order(query);
        both.physics(MS(if paused { 25 } else { 10 }));
        let (tick, hit) = answers.try_recv().expect("answered in this step");
        assert_eq!(tick, both.tick());
        assert!((hit.unwrap() - 10.0).abs() < 1e-3, "{hit:?}");
    }
    assert_eq!(both.tick(), 1, "the pause came before the second step");
}

#[test]
fn pause_speed_and_single_steps_stop_and_scale_what_is_shown() {
    let (simulation, key) = flyer();
    let mut both = Both::new(simulation, Idle);
    let x = |both: &mut Both<Idle>, now| both.frame(now).pose(key).unwrap().translation.x;
    for ms in 0..=10 {
        both.physics(MS(10 * ms));
    }
    both.command(Command::Pause);
    assert_eq!(both.physics(MS(110)), None);
    let stood = x(&mut both, MS(115));
    for ms in [120, 200, 5_000] {
        assert_eq!(both.physics(MS(ms)), None);
        assert_eq!(x(&mut both, MS(ms)), stood);
    }
    both.command(Command::StepOnce);
    assert_eq!(both.physics(MS(5_010)), None);
    assert_eq!(both.tick(), 11);
    both.command(Command::Resume);
    both.command(Command::SetSpeed(0.5));
    // Twice as long, from now on.
    let next = both.physics(MS(6_000)).unwrap();
    assert_eq!(next, MS(6_020));
    both.physics(next);
    both.physics(next + MS(20));
    let one = x(&mut both, next + MS(30));
    both.physics(next + MS(40));
    let two = x(&mut both, next + MS(40));
    assert!((two - one - 0.5).abs() < 1e-3, "{one} {two}");
    assert_eq!(both.tick(), 14);
    // Two seconds a step, at half the speed.
    both.command(Command::SetRate(Rate::hz(1).unwrap()));
    let next = both.physics(next + MS(60)).unwrap();
    let tick = both.tick();
    assert_eq!(both.physics(next), Some(next + MS(2_000)));
    assert_eq!(both.physics(next + MS(2_000)), Some(next + MS(4_000)));
    assert_eq!(both.tick(), tick + 2);
}

#[test]
fn what_finds_the_mailbox_taken_comes_again_soon() {
    let (simulation, key) = flyer();
    let mut both = Both::new(simulation, Idle);
    both.physics(MS(0));
    both.command(Command::Pause);
    let mailbox = Arc::clone(&both.mailbox);
    let mut next = None;
    mailbox.try_with(|_| next = both.physics.run_until(MS(10)));
    assert_eq!(next, Some(MS(10) + SOON), "also in a pause");
    assert_eq!(both.physics.run_until(MS(11)), None);
    // And who reads shows what there is.
    let shown = both.frame(MS(30)).pose(key);
    mailbox.try_with(|_| assert_eq!(both.frame(MS(31)).pose(key), shown));
}

#[test]
fn another_simulation_is_shown_from_its_first_state_on() {
    let (simulation, key) = flyer();
    let mut both = Both::new(simulation, Idle);
    both.physics(MS(0));
    both.call(|simulation, _| simulation.set_rewind_limits(50, usize::MAX));
    for ms in 0..=40 {
        both.physics(MS(10 * ms));
    }
    assert_eq!(both.frame(MS(405)).time(), 0.39);
    // Back in time: what comes is shown as it is then.
    both.call(|simulation, _| simulation.rewind(20).unwrap());
    both.physics(MS(410));
    let x = both.frame(MS(410)).pose(key).unwrap().translation.x;
    assert!((20.0..=21.0).contains(&x), "{x}");
    // Another one, with bodies that rest: they are there, and the others are not.
    let mut other = Simulation::new(Rate::hz(100).unwrap());
    let rock = other.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(1.0));
    let stone = other.insert(RigidBodyBuilder::fixed(), ColliderBuilder::ball(1.0));
    for _ in 0..9 {
        other.advance(MS(10), |_, _| ());
    }
    both.call(|simulation, _| *simulation = other);
    for ms in 42..48 {
        both.physics(MS(10 * ms));
    }
    // By its own clock it is another time; it goes on from now.
    assert_eq!(both.tick(), 9 + 5);
    let view = both.frame(MS(480));
    assert_eq!(view.dropped(), Duration::ZERO);
    assert_eq!(view.pose(stone), Some(Pose::IDENTITY));
    assert_eq!((rock, view.pose(rock)), (key, Some(Pose::IDENTITY)));
    assert_eq!(view.moved().len(), 2);
}

#[test]
fn another_simulation_in_its_place_is_shown_as_it_is() {
    for (age, pauses) in [(10, false), (10, true), (90, false), (90, true)] {
        let (mut simulation, key) = flyer();
        let ball = || ColliderBuilder::ball(1.0);
        let wall = simulation.insert(RigidBodyBuilder::fixed(), ball());
        let only_here = simulation.insert(RigidBodyBuilder::fixed(), ball());
        let mut saved = simulation.clone();
        saved.remove(only_here).unwrap();
        for _ in 0..age {
            saved.advance(MS(10), |_, _| ());
        }
        let mut both = Both::new(simulation, Idle);
        let first = Pose::translation(0.0, 7.0, 0.0);
        both.command(Command::Teleport(wall, first));
        for ms in 0..50 {
            both.physics(MS(10 * ms));
            both.frame(MS(10 * ms));
        }
        assert_eq!(both.view.pose(wall), Some(first));
        if pauses {
            both.command(Command::Pause);
        }
        both.call(move |simulation, _| {
            let is_paused = simulation.clock().settings().is_paused();
            *simulation = saved;
            if is_paused {
                simulation.pause();
            }
        });
        both.physics(MS(500));
        both.physics(MS(510));
        let view = both.frame(MS(512));
        assert_eq!(view.pose(wall), Some(Pose::IDENTITY));
        assert_eq!(view.pose(only_here), None);
        assert_eq!(view.removed(), [only_here]);
        let x = view.pose(key).unwrap().translation.x;
        assert!((x - age as f32).abs() <= 3.0, "{x} after {age} steps");
    }
}

#[test]
fn time_that_stands_still_is_not_dropped() {
    let (simulation, _) = flyer();
    let mut both = Both::new(simulation, Idle);
    both.command(Command::SetSpeed(0.0));
    both.physics(MS(10));
    both.physics(MS(10_000));
    let clock = both.physics.simulation.clock();
    assert_eq!(clock.real_time(), MS(10_000));
    assert_eq!(clock.dropped(), crate::Dropped::default());
}

#[test]
fn a_simulation_with_a_step_due_at_its_new_rate_is_stepped() {
    let mut simulation = Simulation::new(Rate::hz(1).unwrap());
    simulation.advance(MS(200), |_, _| ());
    simulation
        .clock_settings_mut()
        .set_rate(Rate::hz(100).unwrap());
    let mut both = Both::new(simulation, Idle);
    for _ in 0..10 {
        both.physics.run_until(MS(300));
    }
    assert_eq!(both.tick(), 30);
}

/// Counts the frames that it was told of.
#[derive(Default)]
struct Frames(u64);

impl Hooks for Frames {
    type Error = &'static str;

    fn before_frame(&mut self, simulation: &Simulation, _: Duration) -> Result<(), Self::Error> {
        assert_eq!(simulation.frame().number, self.0);
        self.0 += 1;
        Ok(())
    }
}

#[test]
fn a_recorder_hears_of_all_frames_also_in_a_pause() {
    let (simulation, _) = flyer();
    let mut both = Both::new(simulation, Frames::default());
    both.physics(MS(20));
    both.command(Command::Pause);
    both.physics(MS(30));
    both.call(|simulation, _| simulation.clock_settings_mut().set_overstep(MS(4)));
    both.physics(MS(40));
    both.command(Command::Resume);
    both.physics(MS(50));
    let (simulation, hooks) = both.physics.into_parts();
    assert_eq!(simulation.frame().number, hooks.0);
}
