//! The call in each form of the loop on one thread. `tests/threads` has the others.

use super::*;
use evenstep::{Hooks, Step};
use std::convert::Infallible;

/// Lets the body begin at the hand in each 20th step.
struct Catch(BodyKey);

impl Catch {
    fn before(&self, physics: &mut Physics, step: Step) {
        if step.tick % 20 == 10 {
            physics.show_from(self.0, hand()).unwrap();
        }
    }

    fn after(&self, physics: &mut Physics, step: Step) {
        if step.tick % 20 == 14 {
            let there = translation(0.0, step.tick as f32, 0.0);
            physics.show_from(self.0, there).unwrap();
        }
    }
}

impl Hooks for Catch {
    type Error = Infallible;

    fn before_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.before(physics, step);
        Ok(())
    }

    fn after_step(&mut self, physics: &mut Physics, step: Step) -> Result<(), Infallible> {
        self.after(physics, step);
        Ok(())
    }
}

#[test]
fn each_form_of_the_loop_displays_the_same_bits() {
    let (mut hooked, key) = flight();
    hooked.correction = Correction::half_life(MS(30));
    let mut pulled = hooked.clone();
    let mut catch = Catch(key);
    let mut begun = 0;
    for number in 0..200 {
        let time = MS(3 + number * 7 % 31);
        let Ok(frame) = hooked.advance_with(time, &mut catch);
        pulled.begin_frame(time);
        while let Some(step) = pulled.next_step() {
            catch.before(&mut pulled.physics, step);
            pulled.run_step();
            catch.after(&mut pulled.physics, step);
        }
        assert_eq!(pulled.end_frame(), frame);
        assert_eq!(hooked.pose(key), pulled.pose(key));
        assert_eq!(hooked.moved(), pulled.moved());
        if frame.ticks().last().is_some_and(|last| last % 20 == 10) {
            assert_at(&hooked, key, hand());
            begun += 1;
        }
    }
    assert!(begun > 3);
}
