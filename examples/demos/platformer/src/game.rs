//! The whole game: the rules, called for each step, and the rest, called for each frame.

use evenstep::rewind::Kept;
use std::convert::Infallible;
use std::time::Duration;

use evenstep::input::Delivery;
use evenstep::rapier::math::Vector;
use evenstep::{Frame, Hooks, Physics, Rate, Simulation, Smoothing, Step};

use crate::camera::{Camera, View};
use crate::controls::{Controls, Input};
use crate::hero::Hero;
use crate::level::Level;
use crate::look::Look;
use crate::pickups::Pickups;
use crate::platforms::Platforms;
use crate::shots::Shots;
use crate::time::{self, Past, REWIND_BYTES, REWIND_STEPS, TimeKeys};

/// The state that changes from step to step, except the bodies. The game keeps it for each tick, and restores it
/// together with the bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    /// The character.
    pub hero: Hero,
    /// The coins, which the character collects.
    pub pickups: Pickups,
    /// The shots of the character.
    pub shots: Shots,
}

/// The rules that run in each step. Your game decides the order of their calls.
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
    /// How the player controls time, from the next frame on.
    pub time: TimeKeys,
}

impl Game {
    /// Creates a game at the beginning of a level.
    #[must_use]
    pub fn new(level: &Level, delivery: Delivery) -> Self {
        let mut simulation = Simulation::new(Rate::hz(60));
        simulation.keep(Kept {
            ticks: REWIND_STEPS,
            bytes: REWIND_BYTES,
            ..Kept::default()
        });
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

    /// Adds an input event that happened at this [real time](Self::real_time).
    pub fn input(&mut self, time: Duration, input: Input) {
        self.rules.controls.push(time, input);
    }

    /// Turns the look by a motion of the mouse, in pixels. The view turns at once, and the steps get it through the
    /// queue.
    pub fn turn(&mut self, time: Duration, right: f32, down: f32) {
        self.look.turn(right, down);
        self.input(time, Input::Look(self.look));
    }

    /// Returns the real time at the end of the last frame. Use it to stamp present input.
    #[must_use]
    pub fn real_time(&self) -> Duration {
        self.simulation.clock().real_time()
    }

    /// Runs a frame, with as many steps as are due. All displayed things are then of the same time.
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

    /// Returns whether frames are interpolated between two steps. If not, they display the latest step.
    #[must_use]
    pub fn is_interpolated(&self) -> bool {
        self.simulation.smoothing == Smoothing::Interpolate
    }

    /// Switches interpolation on or off, from the next step on. Steps do not depend on it.
    pub fn switch_interpolation(&mut self) {
        self.simulation.smoothing = if self.is_interpolated() {
            Smoothing::Latest
        } else {
            Smoothing::Interpolate
        };
    }

    /// Returns the displayed position of the character's centre.
    #[must_use]
    pub fn hero(&self) -> Vector {
        let hero = self.simulation.pose(self.rules.state.hero.key());
        hero.unwrap().translation
    }

    /// Returns the displayed centre of the first platform, or `None` if there is no platform.
    #[must_use]
    pub fn platform(&self) -> Option<Vector> {
        let key = self.rules.platforms.keys().next()?;
        Some(self.simulation.pose(key)?.translation)
    }

    /// Sets the width of the picture as a multiple of its height, which the camera allows for.
    pub fn set_aspect(&mut self, aspect: f32) {
        self.camera.set_aspect(aspect);
    }

    /// Returns the camera's view.
    #[must_use]
    pub fn view(&self) -> View {
        self.camera.view(&self.simulation, self.look)
    }

    /// Returns the simulation, with the displayed poses and the new and removed bodies.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Returns the rest of the state, such as the score.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.rules.state
    }
}
