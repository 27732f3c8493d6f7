//! A soft body, whose particles are interpolated like any value of the game.

use super::*;
use evenstep::render::Interpolated;

fn particles(physics: &Physics, cloth: SoftBodyHandle) -> Vec<Vector> {
    let cloth = &physics.rapier().soft_bodies[cloth];
    cloth.particle_positions().collect()
}

struct Game {
    simulation: Simulation,
    flag: SoftBodyHandle,
    vertices: Interpolated<Vec<Vector>>,
}

impl Game {
    fn frame(&mut self, frame_time: Duration) -> Vec<Vector> {
        self.simulation.begin_frame(frame_time);
        while let Some(step) = self.simulation.next_step() {
            self.simulation.run_step();
            let latest = particles(&self.simulation.physics, self.flag);
            self.vertices.set(step.tick, latest);
        }
        let frame = self.simulation.end_frame();
        self.vertices.at(frame.tick, frame.alpha, |a, b, t| {
            a.iter().zip(b).map(|(a, b)| a.lerp(*b, t)).collect()
        })
    }
}

#[test]
fn a_falling_cloth_is_drawn_above_its_latest_particles() {
    let mut simulation = Simulation::default();
    let flag = SoftBodyBuilder::cloth(Vector::Y * 3.0, Vector::X, Vector::Z, 5, 5);
    let flag = simulation.physics.rapier_mut().insert_soft_body(flag);
    let vertices = Interpolated::new(particles(&simulation.physics, flag));
    let mut game = Game {
        simulation,
        flag,
        vertices,
    };
    for _ in 0..100 {
        let drawn = game.frame(Duration::from_millis(7));
        let latest = particles(&game.simulation.physics, flag);
        assert!(
            drawn
                .iter()
                .zip(latest)
                .all(|(drawn, latest)| drawn.y >= latest.y)
        );
    }
}
