//! All of it: the rules, which are called for each step, and the game around them, which is called for each frame.

use std::convert::Infallible;
use std::time::Duration;

use evenstep::rapier::math::Vector;
use evenstep::{Delivery, Frame, Hooks, Physics, Rate, Simulation, Step};

use crate::camera::{Camera, View};
use crate::controls::{Controls, Input};
use crate::hero::Hero;
use crate::level::Level;
use crate::look::Look;
use crate::pickups::Pickups;
use crate::platforms::Platforms;
use crate::shots::Shots;
use crate::time::{self, Past, REWIND_BYTES, REWIND_STEPS, TimeKeys};

/// What changes from step to step, besides the bodies: kept for each tick, and gone back to with them.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The character.
    pub hero: Hero,
    /// What it collects.
    pub pickups: Pickups,
    /// What it shoots.
    pub shots: Shots,
}

/// What each step does. The order of the calls is the game's.
struct Rules {
    state: State,
    platforms: Platforms,
    controls: Controls,
    past: Past<State>,
}

impl Hooks for Rules {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.past.keep(step.tick, &self.state);
        let wish = self.controls.wish(step);
        let State { hero, shots, .. } = &mut self.state;
        self.platforms.set_off(physics, step);
        hero.step(physics, step, wish);
        shots.expire(physics, step);
        for _ in 0..wish.shots {
            shots.shoot(physics, step, hero.place(physics), wish.look);
        }
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, _: Step) -> Result<(), Infallible> {
        let State { hero, pickups, .. } = &mut self.state;
        pickups.collect(physics, hero.key());
        Ok(())
    }
}

/// The game without its window.
pub struct Game {
    simulation: Simulation,
    rules: Rules,
    look: Look,
    camera: Camera,
    /// What the player does with time, from the next frame on.
    pub time: TimeKeys,
}

impl Game {
    /// At the beginning of a level.
    #[must_use]
    pub fn new(level: &Level, delivery: Delivery) -> Self {
        let mut simulation = Simulation::new(Rate::hz(60).expect("it is not zero"));
        simulation.set_rewind_limits(REWIND_STEPS, REWIND_BYTES);
        let physics = &mut simulation.physics;
        level.build_ground(physics);
        let platforms = Platforms::build(physics, &level.routes);
        crate::crates::build(physics, &level.crates);
        let pickups = Pickups::build(physics, &level.coins);
        let hero = Hero::build(physics, level.start);
        let camera = Camera::new(hero.place(physics));
        let state = State {
            hero,
            pickups,
            shots: Shots::default(),
        };
        Self {
            simulation,
            rules: Rules {
                state,
                platforms,
                controls: Controls::new(delivery),
                past: Past::new(),
            },
            look: Look::default(),
            camera,
            time: TimeKeys::default(),
        }
    }

    /// The player pressed or released something, at that [real time](Self::real_time).
    pub fn input(&mut self, time: Duration, input: Input) {
        self.rules.controls.push(time, input);
    }

    /// The mouse moved, by pixels: the view turns at once, and the steps hear of it.
    pub fn turn(&mut self, time: Duration, right: f32, down: f32) {
        self.look.turn(right, down);
        self.input(time, Input::Look(self.look));
    }

    /// The end of the last frame, for the stamps of what happens now.
    #[must_use]
    pub fn real_time(&self) -> Duration {
        self.simulation.clock().real_time()
    }

    /// Makes a frame: the steps that are due, or none; then all that is shown is of the same time.
    pub fn frame(&mut self, frame_time: Duration) -> Frame {
        if self.time.is_rewinding {
            self.go_back(frame_time);
        } else {
            self.play(frame_time);
        }
        let passed = frame_time.mul_f64(self.time.speed());
        self.camera.follow(self.hero(), passed);
        self.simulation.frame()
    }

    fn play(&mut self, frame_time: Duration) {
        self.time.set(&mut self.simulation);
        if self.time.is_paused {
            self.rules.controls.skip();
        }
        let Ok(_) = self.simulation.advance_with(frame_time, &mut self.rules);
    }

    fn go_back(&mut self, frame_time: Duration) {
        self.rules.controls.skip();
        time::go_back(&mut self.simulation, frame_time);
        if let Some(state) = self.rules.past.at(self.simulation.physics.tick()) {
            self.rules.state = state.clone();
        }
    }

    /// Where the character's middle is shown.
    #[must_use]
    pub fn hero(&self) -> Vector {
        let hero = self.simulation.pose(self.rules.state.hero.key());
        hero.expect("it stays").translation
    }

    /// Where the middle of the first platform is shown; `None` where there is none.
    #[must_use]
    pub fn platform(&self) -> Option<Vector> {
        let key = self.rules.platforms.keys().next()?;
        Some(self.simulation.pose(key)?.translation)
    }

    /// From where it is seen.
    #[must_use]
    pub fn view(&self) -> View {
        self.camera.view(&self.simulation, self.look)
    }

    /// The bodies: where they are shown, and which are new or gone.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// The rest of the state: the character, the score.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.rules.state
    }
}
