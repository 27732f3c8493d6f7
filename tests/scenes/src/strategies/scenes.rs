//! The scenes in which strategies are compared.

use super::*;

/// A scene that a strategy may or may not keep stable.
pub struct Scene {
    pub name: &'static str,
    /// Fills a world and returns the body to watch.
    pub build: fn(&mut Simulation) -> BodyKey,
    /// The game's force on that body, computed before each step.
    pub force: Option<fn(&RigidBody, Duration) -> Vector>,
    /// Returns the figure that the scene measures. `figure_name` describes it.
    pub figure: fn(&Simulation, BodyKey) -> f64,
    pub figure_name: &'static str,
    /// Whether the worst moment counts instead of the end.
    pub worst: bool,
    /// Whether the motion is regular enough to compare it with a run in tiny steps.
    pub has_reference: bool,
}

pub const SCENES: [Scene; 9] = [
    Scene {
        name: "spring",
        build: |simulation| {
            simulation.physics.set_gravity(Vector::ZERO).unwrap();
            simulation.physics.insert(
                RigidBodyBuilder::dynamic(),
                ColliderBuilder::ball(0.2).mass(1.0),
            )
        },
        // The end of the spring alternates between two positions a metre apart, and moves twice a second.
        force: Some(|body, time| {
            let end = Vector::X * (time.as_millis() / 500 % 2) as f32;
            (end - body.translation()) * SPRING - body.linvel() * DAMPING
        }),
        figure: |simulation, key| {
            (f64::from(body(&simulation.physics, key).translation().x) - 0.5).abs()
        },
        figure_name: "metres from the middle, where 0.5 is the end of the spring",
        worst: true,
        has_reference: true,
    },
    Scene {
        name: "stack of 25",
        build: |simulation| {
            *simulation = with_floor(simulation.clock().settings().rate());
            let crates = (0..25).map(|i| {
                let at = Vector::Y * (0.5 + i as f32);
                let body = RigidBodyBuilder::dynamic().translation(at).can_sleep(false);
                simulation.physics.insert(body, cuboid(0.5, 0.5, 0.5))
            });
            crates.last().unwrap()
        },
        force: None,
        figure: |simulation, key| 24.5 - f64::from(body(&simulation.physics, key).translation().y),
        figure_name: "metres that the top came down",
        worst: false,
        has_reference: false,
    },
    Scene {
        name: "elastic ball",
        build: |simulation| {
            *simulation = with_floor(simulation.clock().settings().rate());
            let body = RigidBodyBuilder::dynamic().translation(Vector::Y * 5.0);
            let ball = ColliderBuilder::ball(0.5).restitution(1.0).friction(0.0);
            let ball = ball.restitution_combine_rule(CoefficientCombineRule::Max);
            simulation.physics.insert(body, ball)
        },
        force: None,
        figure: |simulation, key| f64::from(body(&simulation.physics, key).translation().y),
        figure_name: "highest point after a fall from 5 m",
        worst: true,
        has_reference: true,
    },
    Scene {
        name: "chain of 20",
        build: chain,
        force: None,
        figure: |simulation, _| energy(simulation) - CHAIN_START,
        figure_name: "joules gained",
        worst: true,
        has_reference: false,
    },
    Scene {
        name: "bullets, no CCD",
        build: |simulation| bullets(simulation, false),
        force: None,
        figure: |simulation, _| tunnelled(simulation),
        figure_name: "of 20 through the wall",
        worst: true,
        has_reference: false,
    },
    Scene {
        name: "bullets, CCD",
        build: |simulation| bullets(simulation, true),
        force: None,
        figure: |simulation, _| tunnelled(simulation),
        figure_name: "of 20 through the wall",
        worst: true,
        has_reference: false,
    },
    Scene {
        name: "curve",
        build: |simulation| {
            simulation.physics.set_gravity(Vector::ZERO).unwrap();
            let body = RigidBodyBuilder::dynamic()
                .translation(Vector::X * 5.0)
                .linvel(vector(0.0, 0.0, 8.0));
            simulation
                .physics
                .insert(body, ColliderBuilder::ball(0.2).mass(1.0))
        },
        // v² / r towards the middle: a circle of 5 m at 8 m/s.
        force: Some(|body, _| body.translation().normalize_or_zero() * (-64.0 / 5.0)),
        figure: |simulation, key| {
            (f64::from(body(&simulation.physics, key).translation().length()) - 5.0).abs()
        },
        figure_name: "metres off the circle",
        worst: true,
        has_reference: true,
    },
    Scene {
        name: "spinning top",
        build: |simulation| {
            simulation.physics.set_gravity(Vector::ZERO).unwrap();
            let body = RigidBodyBuilder::dynamic().angvel(spin(0.5, 12.0, 0.0));
            simulation
                .physics
                .insert(body, cuboid(0.5, 0.1, 0.3).mass(1.0))
        },
        force: None,
        figure: |simulation, key| {
            let energy = f64::from(body(&simulation.physics, key).kinetic_energy());
            (energy / TOP_START - 1.0).abs() * 100.0
        },
        figure_name: "% of energy lost or gained",
        worst: true,
        has_reference: true,
    },
    Scene {
        name: "1,000 mixed bodies",
        build: |simulation| {
            *simulation = with_floor(simulation.clock().settings().rate());
            let crates = pile(simulation, 700);
            for i in 0..300 {
                let at = vector(
                    (i % 20) as f32 - 10.0,
                    12.0 + (i / 20) as f32,
                    (i % 7) as f32,
                );
                simulation.physics.insert(
                    RigidBodyBuilder::dynamic().translation(at),
                    ColliderBuilder::ball(0.4),
                );
            }
            crates[699]
        },
        force: None,
        figure: |simulation, key| f64::from(body(&simulation.physics, key).translation().y),
        figure_name: "height of the last crate at the end",
        worst: false,
        has_reference: false,
    },
];

/// Newtons per metre, for 1 kg: as stiff as the spring of a car's wheel.
const SPRING: f32 = 2_500.0;

/// Newtons per m/s. By the formulas for a force that is held for a step, it is enough for steps of up to about 25 ms.
const DAMPING: f32 = 25.0;

pub(super) fn body(physics: &Physics, key: BodyKey) -> &RigidBody {
    physics.body(key).expect("the watched body exists")
}

pub(super) fn dynamic(simulation: &Simulation) -> impl Iterator<Item = &RigidBody> {
    simulation
        .physics
        .rapier()
        .bodies
        .iter()
        .map(|(_, body)| body)
        .filter(|body| body.is_dynamic())
}

/// The energy of the chain when it is released, all of it at height 0, in joules.
const CHAIN_START: f64 = 0.0;

/// The initial kinetic energy of the top, in joules.
const TOP_START: f64 =
    0.5 * (0.5 * 0.5 * (0.2 * 0.2 + 0.6 * 0.6) + 144.0 * (1.0 + 0.6 * 0.6)) / 12.0;

/// Creates a chain of balls of 1 kg, released level, with its first end fixed.
fn chain(simulation: &mut Simulation) -> BodyKey {
    let link = |simulation: &mut Simulation, i: usize| {
        let body = RigidBodyBuilder::dynamic()
            .translation(Vector::X * (0.5 * i as f32))
            .can_sleep(false);
        let ball = ColliderBuilder::ball(0.1)
            .mass(1.0)
            .collision_groups(InteractionGroups::none());
        simulation.physics.insert(body, ball)
    };
    let mut last = simulation.physics.insert_body(RigidBodyBuilder::fixed());
    for i in 1..=20 {
        let next = link(simulation, i);
        let ends = [last, next].map(|key| simulation.physics.handle(key).expect("just inserted"));
        let joint = ball_joint(Vector::ZERO, Vector::X * -0.5);
        simulation
            .physics
            .rapier_mut()
            .insert_impulse_joint(ends[0], ends[1], joint);
        last = next;
    }
    last
}

/// Creates twenty bullets at all speeds up to 200 m/s, a metre before a wall of 5 cm.
fn bullets(simulation: &mut Simulation, ccd: bool) -> BodyKey {
    simulation.physics.set_gravity(Vector::ZERO).unwrap();
    let wall = cuboid(0.025, 20.0, 20.0);
    let wall = simulation.physics.insert(RigidBodyBuilder::fixed(), wall);
    for i in 1..=20 {
        let at = vector(-2.0, 0.0, i as f32 - 10.0);
        let body = RigidBodyBuilder::dynamic()
            .translation(at)
            .linvel(Vector::X * 10.0 * i as f32)
            .ccd_enabled(ccd);
        simulation
            .physics
            .insert(body, ColliderBuilder::ball(0.05).restitution(0.5));
    }
    if !ccd {
        // Rapier sweeps fast bodies against fixed ones by default. This turns CCD off altogether.
        simulation
            .physics
            .rapier_mut()
            .integration_parameters
            .max_ccd_substeps = 0;
    }
    wall
}

fn tunnelled(simulation: &Simulation) -> f64 {
    dynamic(simulation)
        .filter(|body| body.translation().x > 0.1)
        .count() as f64
}
