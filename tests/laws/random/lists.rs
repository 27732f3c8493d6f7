//! The lists of each picture: a renderer that knows only `moved` and `removed` draws exactly what `pose` returns, and
//! entities are where their bodies are drawn.

use crate::random::game::owners::Rendered;
use crate::random::game::{Effect, Entry, Picture};
use evenstep::BodyKey;
use evenstep::rapier::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Renderer {
    drawn: BTreeMap<BodyKey, Pose>,
    /// Whether another simulation was assigned, so that the renderer has to write all poses once.
    is_other: bool,
    /// Whether a view has displayed a state since its loop began.
    has_state: bool,
    /// Whether a rollback was unfinished in the last picture, or is when a view begins, or the game has gone to another
    /// state on the thread of a view. Bodies that this has brought back may have entities, and no picture displays them
    /// yet.
    may_have_revived: bool,
    /// The poses and the removed bodies of each frame, by its number.
    frames: BTreeMap<u64, (BTreeMap<BodyKey, Pose>, Vec<BodyKey>)>,
}

pub fn check(log: &[Entry]) {
    let mut renderer = Renderer::default();
    let mut is_view = false;
    for entry in log {
        match entry {
            Entry::Acted { effects, .. } if !is_view => {
                renderer.is_other |= effects.contains(&Effect::Replaced);
                if effects.contains(&Effect::Loaded) {
                    // It has displayed nothing, so its first frame lists all bodies.
                    renderer = Renderer::default();
                }
            }
            Entry::Acted { effects, .. } => {
                let is_jump = |it: &Effect| {
                    matches!(it, Effect::Back(_) | Effect::Other | Effect::Corrected(_))
                };
                renderer.may_have_revived |= effects.iter().any(is_jump);
            }
            Entry::HandedOver(kind) => {
                is_view = !kind.is_one_thread();
                renderer.has_state = false;
                renderer.frames.clear();
            }
            Entry::Picture(picture) => {
                is_view = picture.state.is_none();
                renderer.draw(picture);
            }
            _ => (),
        }
    }
}

impl Renderer {
    fn draw(&mut self, picture: &Picture) {
        let held = picture
            .state
            .as_ref()
            .map(|state| state.steps_to_resimulate > 0);
        if let Some(held) = held {
            self.may_have_revived = held;
        }
        if held == Some(true) {
            assert!(picture.moved.is_empty() && picture.removed.is_empty());
            if self.is_other {
                return; // The renderer waits for the first picture of the other simulation.
            }
        }
        if std::mem::take(&mut self.is_other) {
            self.frames.clear();
            self.drawn = picture.poses.clone();
        }
        let moved: BTreeMap<_, _> = picture.moved.iter().copied().collect();
        assert_eq!(moved.len(), picture.moved.len(), "a body is listed twice");
        let removed: BTreeSet<_> = picture.removed.iter().collect();
        assert_eq!(
            removed.len(),
            picture.removed.len(),
            "a body is listed twice"
        );
        for key in removed {
            self.drawn.remove(key);
            assert_eq!(moved.get(key), None, "{key:?} is removed and has moved");
        }
        for (key, pose) in moved {
            assert!(pose.is_finite());
            self.drawn.insert(key, pose);
        }
        self.has_state |= !picture.moved.is_empty();
        for (key, drawn) in &self.drawn {
            assert_eq!(Some(drawn), picture.poses.get(key), "{key:?} is drawn");
        }
        // A body that a rollback has brought back waits for the next picture.
        if held == Some(false) || held.is_none() && self.has_state {
            for key in picture.poses.keys() {
                assert!(self.drawn.contains_key(key), "{key:?} is not drawn");
            }
        }
        let mut expected = self.drawn.clone();
        if let Some(state) = &picture.state {
            if held == Some(false) {
                let drawn: Vec<_> = self.drawn.keys().copied().collect();
                assert_eq!(drawn, state.keys, "these are drawn, not those alive");
            }
            // A body that was removed after the picture has no entity.
            expected.retain(|key, _| state.keys.contains(key));
        }
        let mut entities = picture.entities.clone();
        if self.may_have_revived || held.is_none() && !self.has_state {
            entities.retain(|key, _| expected.contains_key(key));
        }
        assert_eq!(entities, expected, "the entities are elsewhere");
        if let Some(rendered) = &picture.rendered {
            check_rendered(picture, rendered, &expected);
        }
        self.check_since(picture);
    }

    /// Checks the changes since earlier frames.
    fn check_since(&mut self, picture: &Picture) {
        let (Some(frame), Some(state)) = (picture.frame, &picture.state) else {
            self.frames.clear();
            return;
        };
        let known = (picture.poses.clone(), picture.removed.clone());
        self.frames.insert(frame.number, known);
        for (from, changes) in &state.since {
            let Some((moved, removed)) = changes else {
                assert_ne!(*from, frame.number, "the last frame is known");
                continue;
            };
            let moved: BTreeMap<_, _> = moved.iter().copied().collect();
            for (key, pose) in &moved {
                assert_eq!(picture.poses.get(key), Some(pose));
            }
            let then = self.frames.get(from);
            // Others are not drawn yet.
            for (key, pose) in &self.drawn {
                let before = then.map(|(poses, _)| poses.get(key));
                let is_listed = moved.contains_key(key) || before.is_none_or(|it| it == Some(pose));
                assert!(is_listed, "{key:?} has moved since frame {from}");
            }
            let dead = self
                .frames
                .range(from + 1..)
                .flat_map(|(_, (_, removed))| removed);
            for key in dead.filter(|key| !picture.poses.contains_key(key)) {
                assert!(
                    removed.contains(key),
                    "{key:?} was removed since frame {from}"
                );
            }
            assert!(removed.iter().all(|key| !self.drawn.contains_key(key)));
        }
    }
}

/// Checks the poses of a hecs world, where bodies have an entity from their birth on.
fn check_rendered(picture: &Picture, rendered: &Rendered, expected: &Rendered) {
    for (key, pose) in rendered {
        if let Some(displayed) = picture.poses.get(key) {
            assert_eq!(pose, displayed, "the entity of {key:?} is elsewhere");
        } else if let Some(state) = &picture.state {
            let waits = state.steps_to_resimulate > 0 && state.keys.contains(key);
            assert!(waits, "{key:?} is removed, and has an entity");
        }
    }
    // A view may display bodies of a state that the game has left.
    if picture.state.is_some() {
        for key in expected.keys() {
            let is_there = rendered.contains_key(key) || picture.left == Some(*key);
            assert!(is_there, "{key:?} has no entity");
        }
    }
}
