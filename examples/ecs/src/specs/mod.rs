//! The game in specs.

mod glue;

use std::time::Duration;

use ::specs::prelude::*;
use evenstep::Step;

use crate::components::{Ball, Doomed, Number, Pickup, Platform, Player};
use crate::game::{self, Game, Made, Part, Thing};
use crate::host::{Host, Outcome};
use glue::{Body, RenderPose, Scene};

macro_rules! components {
    ($($component:ty: $storage:ty),*) => {
        $(impl Component for $component {
            type Storage = $storage;
        })*
        fn register(world: &mut World) {
            $(world.register::<$component>();)*
        }
    };
}

components! {
    Number: VecStorage<Self>,
    Part: VecStorage<Self>,
    Player: DenseVecStorage<Self>,
    Platform: DenseVecStorage<Self>,
    Pickup: DenseVecStorage<Self>,
    Ball: DenseVecStorage<Self>,
    Doomed: DenseVecStorage<Self>
}

struct InSpecs {
    world: World,
    before: Dispatcher<'static, 'static>,
    after: Dispatcher<'static, 'static>,
}

pub fn start(game: Game) -> Box<dyn Host> {
    let mut world = World::new();
    glue::install(&mut world);
    register(&mut world);
    start_level(&mut world, game);
    let before = DispatcherBuilder::new()
        .with(ReadInput, "read input", &[])
        .with(Drive, "drive", &["read input"])
        .with(Lead, "lead", &["drive"])
        .with(Blow, "blow", &["lead"])
        .with(Blast, "blast", &["blow"])
        .with(DropBalls, "drop balls", &["blast"])
        .with(LetDie, "let die", &["drop balls"])
        .with(Restart, "restart", &["let die"]);
    let after = DispatcherBuilder::new().with(Collect, "collect", &[]);
    Box::new(InSpecs {
        world,
        before: before.build(),
        after: after.build(),
    })
}

fn start_level(world: &mut World, mut game: Game) {
    let mut scene = Scene::default();
    for thing in game.level() {
        spawn(world, &mut scene, thing);
    }
    world.insert(scene);
    world.insert(game);
}

fn spawn(world: &mut World, scene: &mut Scene, thing: Thing) {
    let pose = RenderPose(*thing.body.position());
    let key = scene.simulation.physics.insert(thing.body, thing.collider);
    let entity = create(world, thing.number, thing.part);
    let entity = entity.with(Body(key)).with(pose);
    scene.map.insert(key, entity.build());
}

fn create(world: &mut World, number: u32, part: Part) -> EntityBuilder<'_> {
    let entity = world.create_entity().with(Number(number)).with(part);
    match part {
        Part::Scenery => entity,
        Part::Player => entity.with(Player),
        Part::Platform => entity.with(Platform),
        Part::Pickup => entity.with(Pickup),
        Part::Ball { dies_at } => entity.with(Ball { dies_at }),
        Part::Doomed => entity.with(Doomed),
    }
}

struct ReadInput;

impl<'a> System<'a> for ReadInput {
    type SystemData = (ReadExpect<'a, Step>, WriteExpect<'a, Game>);

    fn run(&mut self, (step, mut game): Self::SystemData) {
        game.read_input(*step);
    }
}

struct Drive;

impl<'a> System<'a> for Drive {
    type SystemData = (
        ReadExpect<'a, Game>,
        WriteExpect<'a, Scene>,
        ReadStorage<'a, Body>,
        ReadStorage<'a, Player>,
    );

    fn run(&mut self, (game, mut scene, bodies, players): Self::SystemData) {
        for (body, _) in (&bodies, &players).join() {
            game.drive(&mut scene.simulation.physics, body.0);
        }
    }
}

struct Lead;

impl<'a> System<'a> for Lead {
    type SystemData = (
        ReadExpect<'a, Step>,
        WriteExpect<'a, Scene>,
        ReadStorage<'a, Body>,
        ReadStorage<'a, Platform>,
    );

    fn run(&mut self, (step, mut scene, bodies, platforms): Self::SystemData) {
        for (body, _) in (&bodies, &platforms).join() {
            game::lead(&mut scene.simulation.physics, body.0, *step);
        }
    }
}

struct Blow;

impl<'a> System<'a> for Blow {
    type SystemData = (
        WriteExpect<'a, Scene>,
        ReadStorage<'a, Body>,
        ReadStorage<'a, Ball>,
    );

    fn run(&mut self, (mut scene, bodies, balls): Self::SystemData) {
        let balls = (&bodies, &balls).join();
        game::blow(&mut scene.simulation.physics, balls.map(|(body, _)| body.0));
    }
}

struct Blast;

impl<'a> System<'a> for Blast {
    type SystemData = (
        ReadExpect<'a, Step>,
        WriteExpect<'a, Scene>,
        ReadStorage<'a, Body>,
        ReadStorage<'a, Doomed>,
    );

    fn run(&mut self, (step, mut scene, bodies, doomed): Self::SystemData) {
        for (body, _) in (&bodies, &doomed).join() {
            game::blast(&mut scene.simulation.physics, body.0, *step);
        }
    }
}

struct DropBalls;

impl<'a> System<'a> for DropBalls {
    type SystemData = (
        ReadExpect<'a, Step>,
        WriteExpect<'a, Game>,
        Read<'a, LazyUpdate>,
    );

    fn run(&mut self, (step, mut game, lazy): Self::SystemData) {
        for thing in game.drop_balls(*step) {
            lazy.exec_mut(|world| {
                let mut scene = world.remove::<Scene>().unwrap();
                spawn(world, &mut scene, thing);
                world.insert(scene);
            });
        }
    }
}

struct LetDie;

impl<'a> System<'a> for LetDie {
    type SystemData = (
        Entities<'a>,
        ReadExpect<'a, Step>,
        ReadStorage<'a, Body>,
        ReadStorage<'a, Ball>,
    );

    fn run(&mut self, (entities, step, bodies, balls): Self::SystemData) {
        let balls = (&entities, &bodies, &balls).join();
        let balls = balls.map(|(entity, body, ball)| (body.0, (entity, ball.dies_at)));
        for entity in game::dead(balls, *step) {
            entities.delete(entity).unwrap();
        }
    }
}

struct Collect;

impl<'a> System<'a> for Collect {
    type SystemData = (
        Entities<'a>,
        ReadExpect<'a, Scene>,
        ReadStorage<'a, Body>,
        ReadStorage<'a, Player>,
        ReadStorage<'a, Pickup>,
    );

    fn run(&mut self, (entities, scene, bodies, players, pickups): Self::SystemData) {
        let mut players = (&bodies, &players).join();
        let (player, _) = players.next().unwrap();
        for sensor in game::touched(&scene.simulation.physics, player.0) {
            if let Some(entity) = scene.map.entity(sensor)
                && pickups.contains(entity)
            {
                entities.delete(entity).unwrap();
            }
        }
    }
}

struct Restart;

/// Builds the new level before the old entities are deleted. Their keys now name bodies of the new level.
impl<'a> System<'a> for Restart {
    type SystemData = (
        ReadExpect<'a, Step>,
        WriteExpect<'a, Game>,
        Read<'a, LazyUpdate>,
    );

    fn run(&mut self, (step, mut game, lazy): Self::SystemData) {
        if !game.restarts(*step) {
            return;
        }
        lazy.exec_mut(|world| {
            let old: Vec<Entity> = world.entities().join().collect();
            start_level(world, Game::new(None));
            world.delete_entities(&old).unwrap();
        });
    }
}

impl Host for InSpecs {
    fn frame(&mut self, time: Duration) {
        let end = self.world.fetch::<Scene>().simulation.clock().real_time() + time;
        self.world.fetch_mut::<Game>().feed(end);
        let systems = [&mut self.before, &mut self.after];
        glue::frame(&mut self.world, time, systems);
    }

    fn roll_back(&mut self, ticks: u64) {
        let Self { world, .. } = self;
        let (unmatched, lost) = {
            let entities = world.entities();
            let numbers = world.read_storage::<Number>();
            let parts = world.read_storage::<Part>();
            let bodies = world.read_storage::<Body>();
            let made = (&entities, &numbers, &parts, bodies.maybe()).join();
            let made: Vec<Made<Entity>> = made
                .map(|(entity, number, part, body)| {
                    (entity, number.0, *part, body.map(|body| body.0))
                })
                .collect();
            let mut game = world.fetch_mut::<Game>();
            let Scene { simulation, map } = &mut *world.fetch_mut();
            game.roll_back(simulation, &made, ticks);
            let unmatched = map.unmatched(&simulation.physics);
            let lost = game.lost(&unmatched.bodies, &made);
            (unmatched, lost)
        };
        (world.delete_entities(&unmatched.entities)).unwrap();
        for lost in lost {
            let entity =
                (lost.entity).unwrap_or_else(|| create(world, lost.number, lost.part).build());
            let scene = &mut *world.fetch_mut::<Scene>();
            let pose = scene.simulation.pose(lost.key).unwrap();
            scene.map.insert(lost.key, entity);
            let (mut bodies, mut poses) =
                world.system_data::<(WriteStorage<Body>, WriteStorage<RenderPose>)>();
            bodies.insert(entity, Body(lost.key)).unwrap();
            poses.insert(entity, RenderPose(pose)).unwrap();
        }
    }

    fn outcome(&self) -> Outcome {
        let scene = self.world.fetch::<Scene>();
        let numbers = self.world.read_storage::<Number>();
        let bodies = self.world.read_storage::<Body>();
        let poses = self.world.read_storage::<RenderPose>();
        let entities = (&numbers, bodies.maybe(), poses.maybe()).join();
        Outcome::of(
            &scene.simulation,
            entities.map(|(number, body, pose)| {
                (number.0, body.map(|body| body.0), pose.map(|pose| pose.0))
            }),
        )
    }
}
