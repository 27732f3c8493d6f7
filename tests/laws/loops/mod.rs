//! Random games in several loops. The same commands lead to the same steps, bit for bit. Each loop equals a plain model
//! that has no frames and no past, only copies.

// The hooks of the game.
mod game;
// The loops.
mod hosts;
// Commands, frame by frame.
mod script;
// The plain model.
mod model;

use crate::scenes::space;
use evenstep::rewind::Kept;
use game::Game;
use hosts::{Host, Kind};
use model::Model;
use proptest::prelude::*;
use script::{Script, script};

/// Plays a script in a loop and in the model. Returns the game, and the tick in which each input was delivered.
fn play(script: &Script, kind: Kind) -> (Game, Vec<(u64, u64)>) {
    let mut simulation = space(100);
    game::furnish(&mut simulation);
    simulation.keep(Kept {
        ticks: 60,
        interval: script.interval,
        ..simulation.kept()
    });
    let mut model = Model::new(&simulation, script.interval);
    let mut host = Host::new(simulation, kind, script.slack);
    let (mut game, mut reference) = (Game::new(script.seed), Game::new(script.seed));
    let mut real_time = 0;
    for (number, frame) in script.frames.iter().enumerate() {
        let case = format!("{kind:?}, frame {number}");
        game.expect_input(number as u64, real_time, frame.millis);
        real_time += frame.millis;
        let plan = model.plan(frame);
        host.prepare(&plan, &mut model, &mut game);
        host.frame(&plan, &mut model, &mut game);
        reference.inputs.clone_from(&game.inputs);
        model.catch_up(&plan, &mut reference);
        assert_eq!(game.steps, reference.steps, "{case}");
        if kind != Kind::Overlap {
            assert_eq!(game.events, reference.events, "{case}");
        }
    }
    let simulation = host.stop(&mut game);
    assert_eq!(
        game::Bits::of(&simulation.physics),
        model.bits(),
        "{kind:?}"
    );
    assert_eq!(simulation.physics.tick(), model.tick());
    let inputs = game.delivered_inputs();
    (game, inputs)
}

fn all_loops_agree(script: &Script) {
    let (reference, inputs) = play(script, Kind::Hooks);
    for kind in [Kind::Pull, Kind::Overlap] {
        let (game, again) = play(script, kind);
        assert_eq!(game.steps, reference.steps, "{kind:?}");
        assert_eq!(again, inputs, "{kind:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::scenes::cases::scaled(16)))]

    #[test]
    fn the_same_commands_give_the_same_bits_in_every_loop(script in script()) {
        all_loops_agree(&script);
    }
}
