//! The game in hecs.

mod glue;

use std::time::Duration;

use ::hecs::{Entity, With, World};
use evenstep::ecs::hecs::{Body, Entities, RenderPose};
use evenstep::{Simulation, Step};

use crate::components::{Ball, Doomed, Number, Pickup, Platform, Player};
use crate::game::{self, Game, Made, Part, Thing};
use crate::host::{Host, Outcome};
use glue::Stage;

struct InHecs {
    stage: Stage,
    game: Game,
}

pub fn start(mut game: Game) -> Box<dyn Host> {
    let mut stage = Stage::default();
    start_level(&mut stage, &mut game);
    Box::new(InHecs { stage, game })
}

fn start_level(stage: &mut Stage, game: &mut Game) {
    stage.simulation = Simulation::default();
    stage.entities = Entities::default();
    for thing in game.level() {
        spawn(stage, thing);
    }
}

fn spawn(stage: &mut Stage, thing: Thing) {
    let Stage {
        world,
        simulation,
        entities,
    } = stage;
    let number = (Number(thing.number),);
    let (entity, _) = entities.spawn(
        world,
        &mut simulation.physics,
        thing.body,
        thing.collider,
        number,
    );
    add_part(world, entity, thing.part);
}

fn add_part(world: &mut World, entity: Entity, part: Part) {
    world.insert_one(entity, part).unwrap();
    match part {
        Part::Scenery => Ok(()),
        Part::Player => world.insert_one(entity, Player),
        Part::Platform => world.insert_one(entity, Platform),
        Part::Pickup => world.insert_one(entity, Pickup),
        Part::Ball { dies_at } => world.insert_one(entity, Ball { dies_at }),
        Part::Doomed => world.insert_one(entity, Doomed),
    }
    .unwrap();
}

fn before_step(stage: &mut Stage, game: &mut Game, step: Step) {
    game.read_input(step);
    drive(stage, game);
    lead(stage, step);
    blow(stage);
    blast(stage, step);
    for thing in game.drop_balls(step) {
        spawn(stage, thing);
    }
    let_die(stage, step);
    restart(stage, game, step);
}

fn drive(stage: &mut Stage, game: &Game) {
    for body in stage.world.query_mut::<With<&Body, &Player>>() {
        game.drive(&mut stage.simulation.physics, body.key());
    }
}

fn lead(stage: &mut Stage, step: Step) {
    for body in stage.world.query_mut::<With<&Body, &Platform>>() {
        game::lead(&mut stage.simulation.physics, body.key(), step);
    }
}

fn blow(stage: &mut Stage) {
    let balls = stage.world.query_mut::<With<&Body, &Ball>>().into_iter();
    game::blow(&mut stage.simulation.physics, balls.map(Body::key));
}

fn blast(stage: &mut Stage, step: Step) {
    for body in stage.world.query_mut::<With<&Body, &Doomed>>() {
        game::blast(&mut stage.simulation.physics, body.key(), step);
    }
}

fn let_die(stage: &mut Stage, step: Step) {
    let balls = stage
        .world
        .query_mut::<(Entity, &Body, &Ball)>()
        .into_iter();
    let balls = balls.map(|(entity, body, ball)| (body.key(), (entity, ball.dies_at)));
    for entity in game::dead(balls, step) {
        stage.world.despawn(entity).unwrap();
    }
}

fn collect(stage: &mut Stage, _: &mut Game, _: Step) {
    let mut players = stage.world.query_mut::<With<&Body, &Player>>().into_iter();
    let player = players.next().unwrap().key();
    drop(players);
    for sensor in game::touched(&stage.simulation.physics, player) {
        if let Some(entity) = stage.entities.entity(sensor)
            && stage.world.satisfies::<&Pickup>(entity)
        {
            stage.world.despawn(entity).unwrap();
        }
    }
}

/// Builds the new level before the old entities are despawned. Their keys now name bodies of the new level.
fn restart(stage: &mut Stage, game: &mut Game, step: Step) {
    if !game.restarts(step) {
        return;
    }
    let old: Vec<Entity> = stage.world.iter().map(|entity| entity.entity()).collect();
    *game = Game::new(None);
    start_level(stage, game);
    for entity in old {
        stage.world.despawn(entity).unwrap();
    }
}

impl Host for InHecs {
    fn frame(&mut self, time: Duration) {
        let Self { stage, game } = self;
        game.feed(stage.simulation.clock().real_time() + time);
        stage.frame(game, time, [before_step, collect]);
    }

    fn roll_back(&mut self, ticks: u64) {
        let Stage {
            world,
            simulation,
            entities,
        } = &mut self.stage;
        let made = world.query_mut::<(Entity, &Number, &Part, Option<&Body>)>();
        let made = made.into_iter();
        let made: Vec<Made<Entity>> = made
            .map(|(entity, number, part, body)| (entity, number.0, *part, body.map(Body::key)))
            .collect();
        self.game.roll_back(simulation, &made, ticks);
        let unmatched = entities.unmatched(world, &simulation.physics);
        for entity in unmatched.entities {
            world.despawn(entity).unwrap();
        }
        for lost in self.game.lost(&unmatched.bodies, &made) {
            let entity = lost.entity.unwrap_or_else(|| {
                let entity = world.spawn((Number(lost.number),));
                add_part(world, entity, lost.part);
                entity
            });
            (entities.attach(world, simulation, entity, lost.key)).unwrap();
        }
    }

    fn outcome(&self) -> Outcome {
        let Stage {
            world, simulation, ..
        } = &self.stage;
        let mut entities = world.query::<(&Number, Option<&Body>, Option<&RenderPose>)>();
        Outcome::of(
            simulation,
            entities.iter().map(|(number, body, pose)| {
                (number.0, body.map(Body::key), pose.map(|pose| pose.0))
            }),
        )
    }
}
