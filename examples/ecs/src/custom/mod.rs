//! The game in a hand-written ECS.

mod ecs;
mod glue;

use std::time::Duration;

use evenstep::{BodyKey, Step};

use crate::components::{Ball, Doomed, Number, Pickup, Platform, Player};
use crate::game::{self, Made, Part, Thing};
use crate::host::{Host, Outcome};
use ecs::{Column, Entity};
use glue::Stage;

/// The game's columns.
#[derive(Default)]
struct Columns {
    numbers: Column<Number>,
    parts: Column<Part>,
    players: Column<Player>,
    platforms: Column<Platform>,
    pickups: Column<Pickup>,
    balls: Column<Ball>,
    doomed: Column<Doomed>,
}

struct Game {
    columns: Columns,
    rules: game::Game,
}

struct InCustom {
    stage: Stage,
    game: Game,
}

pub fn start(rules: game::Game) -> Box<dyn Host> {
    let mut stage = Stage::default();
    let mut game = Game {
        columns: Columns::default(),
        rules,
    };
    start_level(&mut stage, &mut game);
    Box::new(InCustom { stage, game })
}

fn start_level(stage: &mut Stage, game: &mut Game) {
    for thing in game.rules.level() {
        spawn(stage, &mut game.columns, thing);
    }
}

fn spawn(stage: &mut Stage, columns: &mut Columns, thing: Thing) {
    let entity = stage.spawn(thing.body, thing.collider);
    add(columns, entity, thing.number, thing.part);
}

fn add(columns: &mut Columns, entity: Entity, number: u32, part: Part) {
    columns.numbers.insert(entity, Number(number));
    columns.parts.insert(entity, part);
    match part {
        Part::Scenery => (),
        Part::Player => columns.players.insert(entity, Player),
        Part::Platform => columns.platforms.insert(entity, Platform),
        Part::Pickup => columns.pickups.insert(entity, Pickup),
        Part::Ball { dies_at } => columns.balls.insert(entity, Ball { dies_at }),
        Part::Doomed => columns.doomed.insert(entity, Doomed),
    }
}

fn despawn(stage: &mut Stage, columns: &mut Columns, entity: Entity) {
    stage.despawn(entity);
    columns.numbers.remove(entity);
    columns.parts.remove(entity);
    columns.players.remove(entity);
    columns.platforms.remove(entity);
    columns.pickups.remove(entity);
    columns.balls.remove(entity);
    columns.doomed.remove(entity);
}

fn before_step(stage: &mut Stage, game: &mut Game, step: Step) {
    game.rules.read_input(step);
    drive(stage, game);
    lead(stage, game, step);
    blow(stage, game);
    blast(stage, game, step);
    for thing in game.rules.drop_balls(step) {
        spawn(stage, &mut game.columns, thing);
    }
    let_die(stage, game, step);
    restart(stage, game, step);
}

/// Returns the entities that have this component and a body.
fn with_body<'a, T>(
    stage: &'a Stage,
    column: &'a Column<T>,
) -> impl Iterator<Item = (Entity, BodyKey, &'a T)> {
    column
        .iter()
        .filter_map(|(entity, part)| Some((entity, *stage.bodies.get(entity)?, part)))
}

fn keys<T>(stage: &Stage, column: &Column<T>) -> Vec<BodyKey> {
    with_body(stage, column).map(|(_, key, _)| key).collect()
}

fn drive(stage: &mut Stage, game: &Game) {
    for key in keys(stage, &game.columns.players) {
        game.rules.drive(&mut stage.simulation.physics, key);
    }
}

fn lead(stage: &mut Stage, game: &Game, step: Step) {
    for key in keys(stage, &game.columns.platforms) {
        game::lead(&mut stage.simulation.physics, key, step);
    }
}

fn blow(stage: &mut Stage, game: &Game) {
    let balls = keys(stage, &game.columns.balls);
    game::blow(&mut stage.simulation.physics, balls.into_iter());
}

fn blast(stage: &mut Stage, game: &Game, step: Step) {
    for key in keys(stage, &game.columns.doomed) {
        game::blast(&mut stage.simulation.physics, key, step);
    }
}

fn let_die(stage: &mut Stage, game: &mut Game, step: Step) {
    let balls = with_body(stage, &game.columns.balls);
    let balls = balls.map(|(entity, key, ball)| (key, (entity, ball.dies_at)));
    for entity in game::dead(balls, step) {
        despawn(stage, &mut game.columns, entity);
    }
}

fn collect(stage: &mut Stage, game: &mut Game, _: Step) {
    let player = keys(stage, &game.columns.players)[0];
    for sensor in game::touched(&stage.simulation.physics, player) {
        if let Some(entity) = stage.map.entity(sensor)
            && game.columns.pickups.get(entity).is_some()
        {
            despawn(stage, &mut game.columns, entity);
        }
    }
}

/// Builds the new level before the old entities are despawned. Their keys now name bodies of the new level.
fn restart(stage: &mut Stage, game: &mut Game, step: Step) {
    if !game.rules.restarts(step) {
        return;
    }
    let numbers = game.columns.numbers.iter();
    let old: Vec<Entity> = numbers.map(|(entity, _)| entity).collect();
    game.rules = game::Game::new(None);
    (stage.simulation, stage.map) = Default::default();
    start_level(stage, game);
    for entity in old {
        despawn(stage, &mut game.columns, entity);
    }
}

impl Host for InCustom {
    fn frame(&mut self, time: Duration) {
        let Self { stage, game } = self;
        let end = stage.simulation.clock().real_time() + time;
        game.rules.feed(end);
        stage.frame(game, time, [before_step, collect]);
    }

    fn roll_back(&mut self, ticks: u64) {
        let Self { stage, game } = self;
        let parts = game.columns.parts.iter();
        let made = parts.filter_map(|(entity, part)| {
            let number = game.columns.numbers.get(entity)?.0;
            Some((entity, number, *part, stage.bodies.get(entity).copied()))
        });
        let made: Vec<Made<Entity>> = made.collect();
        (game.rules).roll_back(&mut stage.simulation, &made, ticks);
        let unmatched = stage.map.unmatched(&stage.simulation.physics);
        for entity in unmatched.entities {
            despawn(stage, &mut game.columns, entity);
        }
        for lost in game.rules.lost(&unmatched.bodies, &made) {
            let entity = lost.entity.unwrap_or_else(|| {
                let entity = stage.entities.spawn();
                add(&mut game.columns, entity, lost.number, lost.part);
                entity
            });
            let pose = stage.simulation.pose(lost.key).unwrap();
            stage.bodies.insert(entity, lost.key);
            stage.render_poses.insert(entity, pose);
            stage.map.insert(lost.key, entity);
        }
    }

    fn outcome(&self) -> Outcome {
        let numbers = self.game.columns.numbers.iter();
        Outcome::of(
            &self.stage.simulation,
            numbers.map(|(entity, number)| {
                let body = self.stage.bodies.get(entity).copied();
                (number.0, body, self.stage.render_poses.get(entity).copied())
            }),
        )
    }
}
