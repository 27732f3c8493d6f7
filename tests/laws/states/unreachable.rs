//! Combinations of two states that cannot be reached.

use super::*;
use evenstep::rewind::Kept;

#[test]
fn a_dropped_rollback_ends_its_current_step() {
    for game in [game().rolled_back().before(), game().rolled_back().after()] {
        let mut simulation = game.simulation;
        // This state is not kept, so the simulation stays at its tick.
        simulation.keep(Kept {
            ticks: 0,
            bytes: 0,
            ..simulation.kept()
        });
        simulation.rewind(simulation.physics.tick()).unwrap();
        assert_eq!(simulation.physics.current_step(), None);
        assert!(is_lawful(&simulation));
        assert!(!simulation.run_step());
        assert!(is_lawful(&simulation));
        advances(simulation).unwrap();
    }
}

#[test]
fn set_tick_ends_a_rollback_and_its_current_step() {
    let games: [fn() -> Game; 3] = [
        || game().rolled_back().before(),
        || game().begun().rolled_back(),
        || game().begun().rolled_back().before(),
    ];
    for build in games {
        let begun = || {
            let mut simulation = build().simulation;
            simulation.set_tick(50);
            simulation.begin_frame(MS(10));
            simulation
        };
        assert_eq!(parts(begun()), (Stage::Idle, Redo::None, true));
        let mut simulation = begun();
        assert_eq!(simulation.physics.tick(), 50);
        assert!(is_lawful(&simulation));
        assert_eq!(simulation.next_step().unwrap().tick, 50);
        continues(simulation).unwrap();
    }
}

#[test]
fn roll_back_to_the_current_tick_resimulates_no_step() {
    let again = || {
        let mut simulation = game().begun().before().simulation;
        simulation.roll_back(6).unwrap();
        simulation
    };
    assert_eq!(parts(again()), (Stage::Idle, Redo::None, true));
    let mut simulation = again();
    let step = simulation.next_step().unwrap();
    assert_eq!((step.tick, step.is_resimulated), (6, false));
}

#[test]
fn calls_without_effect_do_not_end_a_rollback() {
    let redone = || game().redone().simulation;
    let nothing: [fn(&mut Simulation); 3] = [
        |simulation| simulation.roll_back(7).unwrap(),
        |simulation| drop(simulation.roll_back(99)),
        |simulation| assert!(!simulation.run_step()),
    ];
    for call in nothing {
        let mut simulation = redone();
        call(&mut simulation);
        assert_eq!(parts(simulation), (Stage::After, Redo::Finished, false));
    }
}

#[test]
fn a_state_moved_into_a_new_simulation_has_no_pending_step() {
    for game in [game().begun().before(), game().begun().after()] {
        let mut simulation = Simulation::default();
        simulation.physics = game.simulation.physics;
        assert!(!simulation.run_step());
        assert_eq!(simulation.physics.current_step(), None);
        assert!(is_lawful(&simulation));
        // The simulation has displayed nothing yet, so all bodies are new, even the floor.
        advance(&mut simulation, 0);
        assert_eq!(simulation.moved().len(), 3);
    }
}

#[test]
fn a_new_simulation_displays_a_state_taken_from_an_open_frame() {
    let mut game = game();
    let ball = game.simulation.physics.body_mut(game.ball).unwrap();
    ball.set_linvel(Vector::X, true);
    let game = game.begun().after();
    let previous = *game.simulation.physics.body(game.ball).unwrap().position();
    let game = game.after();
    let mut simulation = Simulation::default();
    simulation.physics = game.simulation.physics;
    let frame = advance(&mut simulation, 0);
    assert_eq!(
        (frame.alpha, simulation.pose(game.ball)),
        (0.0, Some(previous))
    );
}

#[cfg(feature = "serde")]
#[test]
fn a_finished_rollback_can_be_saved() {
    let mut game = game();
    game.simulation.roll_back(3).unwrap();
    while game.simulation.steps_to_resimulate() > 0 {
        game.simulation.next_step().unwrap();
        let push = game.simulation.physics.apply_impulse(game.ball, Vector::X);
        push.unwrap();
        game.simulation.run_step();
    }
    let mut loaded = Simulation::load(&game.simulation.save().unwrap()).unwrap();
    for simulation in [&mut game.simulation, &mut loaded] {
        advance(simulation, 5);
    }
    let error = |simulation: &Simulation| simulation.visual_error(game.ball);
    assert!(error(&game.simulation).is_some() && error(&loaded).is_none());
    let checksum = loaded.physics.checksum();
    assert_eq!(checksum, game.simulation.physics.checksum());
}
