//! Simulations and states that enter a loop, or that two loops exchange.

use super::*;
use evenstep::rewind::Kept;
use evenstep::rewind::RewindError;
use evenstep::threads::View;
use evenstep::time::FrameTime;
use scenes::mirror::Mirror;

struct Idle;

impl Hooks for Idle {
    type Error = Infallible;
}

/// Reports whether a frame is open before its first frame.
struct IsOpen(Sender<Result<(), RewindError>>);

impl Hooks for IsOpen {
    type Error = Infallible;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Infallible> {
        #[cfg(feature = "serde")]
        simulation.save().unwrap();
        let here = simulation.physics.tick();
        let _ = self.0.send(simulation.rewind(here));
        Ok(())
    }
}

/// A panic in a hook may have left the frame open, before or after a step.
#[test]
fn no_loop_begins_while_the_frame_of_another_loop_is_open() {
    for steps in 0..3 {
        for is_taken in [false, true] {
            let (mut simulation, _) = scenes::flyer_in_space();
            simulation.begin_frame(MS(35));
            for _ in 0..steps {
                simulation.next_step().unwrap();
                simulation.run_step();
            }
            if is_taken {
                simulation.next_step().unwrap();
            }
            let (to, from) = channel();
            let Ok(_) = (simulation.clone()).advance_with(MS(5), &mut IsOpen(to.clone()));
            assert_eq!(from.recv(), Ok(Ok(())));
            let mut overlap = Overlap::new(simulation.clone()).unwrap();
            overlap.frame(MS(5), &mut IsOpen(to.clone())).unwrap();
            assert_eq!(from.recv(), Ok(Ok(())));
            let runner = Runner::new(simulation, IsOpen(to), RunnerSettings::default());
            assert_eq!(from.recv_timeout(PATIENCE), Ok(Ok(())));
            let (simulation, _) = runner.unwrap().stop();
            assert!(simulation.physics.tick() >= steps);
        }
    }
}

/// Creates free space with this many bodies, of which every second one moves.
fn scene(bodies: u64) -> Simulation {
    let mut simulation = scenes::space(100);
    for number in 0..bodies {
        let at = vector(bodies as f32, 3.0 * number as f32, 0.0);
        let body = if number % 2 == 0 {
            RigidBodyBuilder::fixed()
        } else {
            RigidBodyBuilder::dynamic().linvel(vector(0.0, 0.0, 1.0) + Vector::X)
        };
        (simulation.physics).insert(body.translation(at), scenes::ball());
    }
    simulation
}

/// Exchanges two simulations, or only their states.
type Exchange = fn(&mut Simulation, &mut Simulation);

const EXCHANGES: [Exchange; 2] = [
    |one, other| std::mem::swap(one, other),
    |one, other| std::mem::swap(&mut one.physics, &mut other.physics),
];

/// The other simulation steps the state, inserts a body, displays it, and returns the state.
const RETURNS: [Exchange; 2] = [
    |one, other| use_and_return(one, other, EXCHANGES[0]),
    |one, other| use_and_return(one, other, EXCHANGES[1]),
];

fn use_and_return(one: &mut Simulation, other: &mut Simulation, exchange: Exchange) {
    exchange(one, other);
    other.physics.insert_body(RigidBodyBuilder::fixed());
    other.advance(MS(20), |_, _| ());
    exchange(one, other);
}

fn follow<E>(mirror: &mut Mirror, view: &View<E>) {
    mirror.follow((view.moved(), view.removed()), |key| view.pose(key));
}

fn keys(simulation: &Simulation) -> Vec<BodyKey> {
    simulation.physics.bodies().map(|(key, _)| key).collect()
}

/// Exchanges the simulation with another one, before some frames.
struct Exchanging {
    exchange: Exchange,
    other: Simulation,
    /// How many frames are left until the next exchange.
    left: u64,
}

impl Hooks for Exchanging {
    type Error = Infallible;

    fn before_frame(
        &mut self,
        simulation: &mut Simulation,
        _: FrameTime,
    ) -> Result<(), Infallible> {
        self.left = self.left.checked_sub(1).unwrap_or_else(|| {
            (self.exchange)(simulation, &mut self.other);
            7
        });
        Ok(())
    }
}

/// The other simulation is stepped alone, or only looked at, or not touched.
#[test]
fn a_view_follows_simulations_that_an_overlap_exchanges() {
    for exchange in EXCHANGES.into_iter().chain(RETURNS) {
        for is_in_hook in [false, true] {
            for stepped in 0..3 {
                let mut overlap = Overlap::new(scene(3)).unwrap();
                let mut mirror = Mirror::default();
                let left = if is_in_hook { 7 } else { u64::MAX };
                let other = scene(6);
                let mut game = Exchanging {
                    exchange,
                    other,
                    left,
                };
                for number in 0..80 {
                    let frame_time = MS(number % 3 * 6);
                    follow(&mut mirror, overlap.frame(frame_time, &mut game).unwrap());
                    match stepped {
                        0 => (),
                        1 => game.other.keep(Kept {
                            poses: 3,
                            ..game.other.kept()
                        }),
                        _ => drop(game.other.advance_with(MS(9), &mut Idle)),
                    }
                    if !is_in_hook && number % 7 == 6 {
                        let Ok(simulation) = overlap.simulation(&mut Idle);
                        exchange(simulation, &mut game.other);
                    }
                }
                for _ in 0..3 {
                    follow(&mut mirror, overlap.frame(MS(10), &mut Idle).unwrap());
                }
                let Ok(simulation) = overlap.simulation(&mut Idle);
                assert!(mirror.has_bodies(&keys(simulation)));
            }
        }
    }
}

/// Each waits in a call for the simulation of the other one.
#[test]
fn views_follow_simulations_that_two_runners_exchange() {
    for exchange in EXCHANGES {
        let mut runners = [3, 6].map(|bodies| {
            let settings = RunnerSettings::default();
            let runner = Runner::new(scene(bodies), Idle, settings).unwrap();
            (runner, Mirror::default(), bodies as usize)
        });
        for _ in 0..3 {
            let (to_other, from_one) = channel();
            let (to_one, from_other) = channel();
            let ends = [(to_other, from_other), (to_one, from_one)];
            for ((runner, ..), (to, from)) in runners.iter().zip(ends) {
                let call = move |simulation: &mut Simulation, _: &mut Idle| {
                    let mut mine = Simulation::default();
                    exchange(simulation, &mut mine);
                    to.send(mine).unwrap();
                    exchange(simulation, &mut from.recv_timeout(PATIENCE).unwrap());
                };
                runner.call(call).unwrap();
            }
            let [one, other] = &mut runners;
            std::mem::swap(&mut one.2, &mut other.2);
            for (runner, mirror, bodies) in &mut runners {
                let answer = runner.ask(keys).unwrap().wait(PATIENCE);
                let (_, keys) = answer.unwrap();
                assert_eq!(keys.len(), *bodies);
                let start = runner.now();
                while !mirror.has_bodies(&keys) {
                    follow(mirror, runner.frame());
                    assert!(runner.now() - start < PATIENCE);
                    std::thread::yield_now();
                }
                assert!(runner.failures().is_empty());
            }
        }
    }
}
