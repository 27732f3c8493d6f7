//! The game in shipyard.

mod glue;

use std::time::Duration;

use ::shipyard::all_storages::AllStorages;
use ::shipyard::{
    AllStoragesViewMut, EntityId, Get, IntoIter, Unique, UniqueView, UniqueViewMut, View, Workload,
    World,
};

use crate::components::{Ball, Doomed, Number, Pickup, Platform, Player};
use crate::game::{self, Made, Part, Thing};
use crate::host::{Host, Outcome};
use glue::{AFTER_STEP, BEFORE_STEP, Body, CurrentStep, RenderPose, Scene};

#[derive(Unique)]
struct Game(game::Game);

struct InShipyard(World);

pub fn start(game: game::Game) -> Box<dyn Host> {
    let world = World::new();
    world.run(|mut all: AllStoragesViewMut| start_level(&mut all, game));
    add_systems(&world);
    Box::new(InShipyard(world))
}

fn start_level(all: &mut AllStorages, mut game: game::Game) {
    all.add_unique(Scene::default());
    for thing in game.level() {
        spawn(all, thing);
    }
    all.add_unique(Game(game));
}

fn spawn(all: &mut AllStorages, thing: Thing) {
    let entity = glue::spawn(all, thing.body, thing.collider);
    add(all, entity, thing.number, thing.part);
}

fn add(all: &mut AllStorages, entity: EntityId, number: u32, part: Part) {
    all.add_component(entity, (Number(number), part));
    match part {
        Part::Scenery => (),
        Part::Player => all.add_component(entity, Player),
        Part::Platform => all.add_component(entity, Platform),
        Part::Pickup => all.add_component(entity, Pickup),
        Part::Ball { dies_at } => all.add_component(entity, Ball { dies_at }),
        Part::Doomed => all.add_component(entity, Doomed),
    }
}

fn add_systems(world: &World) {
    Workload::new(BEFORE_STEP)
        .with_system(read_input)
        .with_system(drive)
        .with_system(lead)
        .with_system(blow)
        .with_system(blast)
        .with_system(drop_balls)
        .with_system(let_die)
        .with_system(restart)
        .add_to_world(world)
        .expect("the label is unique");
    Workload::new(AFTER_STEP)
        .with_system(collect)
        .add_to_world(world)
        .expect("the label is unique");
}

fn read_input(step: UniqueView<CurrentStep>, mut game: UniqueViewMut<Game>) {
    game.0.read_input(step.0);
}

fn drive(
    game: UniqueView<Game>,
    mut scene: UniqueViewMut<Scene>,
    bodies: View<Body>,
    players: View<Player>,
) {
    for (body, _) in (&bodies, &players).iter() {
        game.0.drive(&mut scene.simulation.physics, body.0);
    }
}

fn lead(
    step: UniqueView<CurrentStep>,
    mut scene: UniqueViewMut<Scene>,
    bodies: View<Body>,
    platforms: View<Platform>,
) {
    for (body, _) in (&bodies, &platforms).iter() {
        game::lead(&mut scene.simulation.physics, body.0, step.0);
    }
}

fn blow(mut scene: UniqueViewMut<Scene>, bodies: View<Body>, balls: View<Ball>) {
    let balls = (&bodies, &balls);
    game::blow(
        &mut scene.simulation.physics,
        balls.iter().map(|(body, _)| body.0),
    );
}

fn blast(
    step: UniqueView<CurrentStep>,
    mut scene: UniqueViewMut<Scene>,
    bodies: View<Body>,
    doomed: View<Doomed>,
) {
    for (body, _) in (&bodies, &doomed).iter() {
        game::blast(&mut scene.simulation.physics, body.0, step.0);
    }
}

fn drop_balls(mut all: AllStoragesViewMut) {
    let things = all.run(
        |step: UniqueView<CurrentStep>, mut game: UniqueViewMut<Game>| game.0.drop_balls(step.0),
    );
    for thing in things {
        spawn(&mut all, thing);
    }
}

fn let_die(mut all: AllStoragesViewMut) {
    let dead = |step: UniqueView<CurrentStep>, bodies: View<Body>, balls: View<Ball>| {
        let balls = (&bodies, &balls);
        let balls = balls.iter().with_id();
        let balls = balls.map(|(entity, (body, ball))| (body.0, (entity, ball.dies_at)));
        game::dead(balls, step.0)
    };
    for entity in all.run(dead) {
        all.delete_entity(entity);
    }
}

fn collect(mut all: AllStoragesViewMut) {
    for entity in all.run(touched) {
        all.delete_entity(entity);
    }
}

fn touched(
    scene: UniqueView<Scene>,
    bodies: View<Body>,
    players: View<Player>,
    pickups: View<Pickup>,
) -> Vec<EntityId> {
    let (player, _) = (&bodies, &players).iter().next().unwrap();
    let sensors = game::touched(&scene.simulation.physics, player.0).into_iter();
    sensors
        .filter_map(|sensor| scene.map.entity(sensor))
        .filter(|entity| pickups.get(*entity).is_ok())
        .collect()
}

/// Builds the new level before the old entities are deleted. Their keys now name bodies of the new level.
fn restart(mut all: AllStoragesViewMut) {
    let restarts =
        |step: UniqueView<CurrentStep>, mut game: UniqueViewMut<Game>| game.0.restarts(step.0);
    if !all.run(restarts) {
        return;
    }
    let old: Vec<EntityId> = all.run(|numbers: View<Number>| numbers.iter().ids().collect());
    start_level(&mut all, game::Game::new(None));
    for entity in old {
        all.delete_entity(entity);
    }
}

impl Host for InShipyard {
    fn frame(&mut self, time: Duration) {
        self.0
            .run(|scene: UniqueView<Scene>, mut game: UniqueViewMut<Game>| {
                game.0.feed(scene.simulation.clock().real_time() + time);
            });
        glue::frame(&self.0, time);
    }

    fn roll_back(&mut self, ticks: u64) {
        let world = &self.0;
        let made: Vec<Made<EntityId>> = world.run(
            |numbers: View<Number>, parts: View<Part>, bodies: View<Body>| {
                let made = (&numbers, &parts).iter().with_id();
                made.map(|(entity, (number, part))| {
                    let body = bodies.get(entity).ok();
                    (entity, number.0, *part, body.map(|body| body.0))
                })
                .collect()
            },
        );
        let (gone, lost) = world.run(
            |mut scene: UniqueViewMut<Scene>, mut game: UniqueViewMut<Game>| {
                let Scene { simulation, map } = &mut *scene;
                game.0.roll_back(simulation, &made, ticks);
                let unmatched = map.unmatched(&simulation.physics);
                (unmatched.entities, game.0.lost(&unmatched.bodies, &made))
            },
        );
        let mut all = world.borrow::<AllStoragesViewMut>().unwrap();
        for entity in gone {
            all.delete_entity(entity);
        }
        for lost in lost {
            let entity = lost.entity.unwrap_or_else(|| {
                let entity = all.add_entity(());
                add(&mut all, entity, lost.number, lost.part);
                entity
            });
            let pose = all.run(|mut scene: UniqueViewMut<Scene>| {
                scene.map.insert(lost.key, entity);
                scene.simulation.pose(lost.key).unwrap()
            });
            all.add_component(entity, (Body(lost.key), RenderPose(pose)));
        }
    }

    fn outcome(&self) -> Outcome {
        self.0.run(
            |scene: UniqueView<Scene>,
             numbers: View<Number>,
             bodies: View<Body>,
             poses: View<RenderPose>| {
                let entities = numbers.iter().with_id();
                Outcome::of(
                    &scene.simulation,
                    entities.map(|(entity, number)| {
                        let (body, pose) = (bodies.get(entity).ok(), poses.get(entity).ok());
                        (number.0, body.map(|body| body.0), pose.map(|pose| pose.0))
                    }),
                )
            },
        )
    }
}
