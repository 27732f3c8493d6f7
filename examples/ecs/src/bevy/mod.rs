//! The game in bevy_ecs.

mod glue;

use std::time::Duration;

use bevy_ecs::prelude::*;

use crate::components::{Ball, Doomed, Number, Pickup, Platform, Player};
use crate::game::{self, Made, Part, Thing};
use crate::host::{Host, Outcome};
use glue::{Body, CurrentStep, RenderPose, Scene, Systems};

#[derive(Resource)]
struct Game(game::Game);

/// The components of every entity.
type Components = (Body, RenderPose, Number, Part);

struct InBevy(World);

pub fn start(game: game::Game) -> Box<dyn Host> {
    let mut world = World::new();
    glue::install(&mut world);
    add_systems(&mut world);
    start_level(&mut world, game);
    Box::new(InBevy(world))
}

fn start_level(world: &mut World, mut game: game::Game) {
    let mut scene = Scene::default();
    let things = game.level().into_iter();
    let bundles: Vec<_> = things.map(|thing| insert(&mut scene, thing)).collect();
    world.insert_resource(scene);
    world.insert_resource(Game(game));
    let mut commands = world.commands();
    for (components, part) in bundles {
        spawn(&mut commands, components, part);
    }
    world.flush();
}

fn insert(scene: &mut Scene, thing: Thing) -> (Components, Part) {
    let pose = RenderPose(*thing.body.position());
    let body = Body(scene.simulation.physics.insert(thing.body, thing.collider));
    let part = thing.part;
    ((body, pose, Number(thing.number), part), part)
}

fn spawn(commands: &mut Commands, components: Components, part: Part) {
    let mut entity = commands.spawn(components);
    match part {
        Part::Scenery => &mut entity,
        Part::Player => entity.insert(Player),
        Part::Platform => entity.insert(Platform),
        Part::Pickup => entity.insert(Pickup),
        Part::Ball { dies_at } => entity.insert(Ball { dies_at }),
        Part::Doomed => entity.insert(Doomed),
    };
}

fn add_systems(world: &mut World) {
    let mut before = Schedule::new(Systems::BeforeStep);
    before.add_systems(
        (
            read_input, drive, lead, blow, blast, drop_balls, let_die, restart,
        )
            .chain(),
    );
    let mut after = Schedule::new(Systems::AfterStep);
    after.add_systems(collect);
    world.add_schedule(before);
    world.add_schedule(after);
}

fn read_input(step: Res<CurrentStep>, mut game: ResMut<Game>) {
    game.0.read_input(step.0);
}

fn drive(game: Res<Game>, mut scene: ResMut<Scene>, player: Single<&Body, With<Player>>) {
    game.0.drive(&mut scene.simulation.physics, player.0);
}

fn lead(step: Res<CurrentStep>, mut scene: ResMut<Scene>, platform: Single<&Body, With<Platform>>) {
    game::lead(&mut scene.simulation.physics, platform.0, step.0);
}

fn blow(mut scene: ResMut<Scene>, balls: Query<&Body, With<Ball>>) {
    game::blow(
        &mut scene.simulation.physics,
        balls.iter().map(|ball| ball.0),
    );
}

fn blast(step: Res<CurrentStep>, mut scene: ResMut<Scene>, doomed: Query<&Body, With<Doomed>>) {
    for body in doomed {
        game::blast(&mut scene.simulation.physics, body.0, step.0);
    }
}

fn drop_balls(
    step: Res<CurrentStep>,
    mut game: ResMut<Game>,
    mut scene: ResMut<Scene>,
    mut commands: Commands,
) {
    for thing in game.0.drop_balls(step.0) {
        let (components, part) = insert(&mut scene, thing);
        spawn(&mut commands, components, part);
    }
}

fn let_die(step: Res<CurrentStep>, balls: Query<(Entity, &Body, &Ball)>, mut commands: Commands) {
    let balls = balls.iter();
    let balls = balls.map(|(entity, body, ball)| (body.0, (entity, ball.dies_at)));
    for entity in game::dead(balls, step.0) {
        commands.entity(entity).despawn();
    }
}

fn collect(
    scene: Res<Scene>,
    player: Single<&Body, With<Player>>,
    pickups: Query<(), With<Pickup>>,
    mut commands: Commands,
) {
    for sensor in game::touched(&scene.simulation.physics, player.0) {
        if let Some(entity) = scene.map.entity(sensor)
            && pickups.contains(entity)
        {
            commands.entity(entity).despawn();
        }
    }
}

/// Builds the new level before the old entities are despawned. Their keys now name bodies of the new level.
fn restart(world: &mut World) {
    let step = world.resource::<CurrentStep>().0;
    if !world.resource_mut::<Game>().0.restarts(step) {
        return;
    }
    let mut entities = world.query_filtered::<Entity, With<Number>>();
    let old: Vec<Entity> = entities.iter(world).collect();
    start_level(world, game::Game::new(None));
    for entity in old {
        world.despawn(entity);
    }
}

impl Host for InBevy {
    fn frame(&mut self, time: Duration) {
        let end = self.0.resource::<Scene>().simulation.clock().real_time() + time;
        self.0.resource_mut::<Game>().0.feed(end);
        glue::frame(&mut self.0, time);
    }

    /// Restores the schedules. A schedule in which a system panicked is no longer in the world.
    fn recover(&mut self) {
        add_systems(&mut self.0);
    }

    fn roll_back(&mut self, ticks: u64) {
        let world = &mut self.0;
        let mut made = world.query::<(Entity, &Number, &Part, Option<&Body>)>();
        let made = made
            .iter(world)
            .map(|(entity, number, part, body)| (entity, number.0, *part, body.map(|body| body.0)));
        let made: Vec<Made<Entity>> = made.collect();
        let (gone, lost) = world.resource_scope(|world, mut game: Mut<Game>| {
            let Scene { simulation, map } = &mut *world.resource_mut();
            game.0.roll_back(simulation, &made, ticks);
            let unmatched = map.unmatched(&simulation.physics);
            (unmatched.entities, game.0.lost(&unmatched.bodies, &made))
        });
        for entity in gone {
            world.despawn(entity);
        }
        for lost in lost {
            let scene = world.resource::<Scene>();
            let pose = scene.simulation.pose(lost.key).unwrap();
            let body = (Body(lost.key), RenderPose(pose));
            let mut commands = world.commands();
            match lost.entity {
                Some(entity) => drop(commands.entity(entity).insert(body)),
                None => {
                    let components = (body.0, body.1, Number(lost.number), lost.part);
                    spawn(&mut commands, components, lost.part);
                }
            }
            world.flush();
        }
    }

    fn outcome(&self) -> Outcome {
        let mut entities = self
            .0
            .try_query::<(&Number, Option<&Body>, Option<&RenderPose>)>()
            .unwrap();
        let entities = entities.iter(&self.0);
        Outcome::of(
            &self.0.resource::<Scene>().simulation,
            entities.map(|(number, body, pose)| {
                (number.0, body.map(|body| body.0), pose.map(|pose| pose.0))
            }),
        )
    }
}
