//! What is done once a frame.

use std::cell::RefCell;

use hecs::{Entity, PreparedQuery, PreparedView, With, Without, World};

use crate::key::BodyKey;
use rapier::math::Pose;

use super::Entities;
use super::bodies::Bodies;
use super::components::{Body, Dropped, Link, Noted, RenderPose};

thread_local! {
    /// Kept for their memory. They hold pointers while they are in use, so inside of [`Entities`] they would
    /// bind that to one thread.
    static QUERIES: RefCell<Queries> = RefCell::default();
}

#[derive(Default)]
struct Queries {
    shown: PreparedQuery<Shown>,
    taken_off: PreparedQuery<TakenOff>,
    put_on: PreparedQuery<PutOn>,
}

type Shown = With<&'static mut RenderPose, &'static Body>;
type TakenOff = Without<(Entity, &'static Noted), &'static Body>;
type PutOn = Without<(Entity, &'static Body), (&'static Noted, &'static RenderPose)>;

/// # Once a frame
impl Entities {
    /// After [`Simulation::advance`](crate::Simulation::advance), or `Runner::frame`: writes the [`RenderPose`]s that
    /// changed, and handles what the game changed since the last sync, as in the table in [the module](super).
    ///
    /// The cost is in proportion to the bodies that moved and to what was changed. After frames without a sync it is in
    /// proportion to the bodies that moved in any of them; after very many it may go through all entities with a body.
    /// It also does so when a body was removed other than by [`despawn`](Self::despawn) and a new one was spawned before
    /// the sync, or when an entity was taken by hecs' `World::take` and spawned again.
    pub fn sync(&mut self, world: &mut World, bodies: &mut impl Bodies) {
        let dropped = self.shared.take_dropped();
        self.look_at_changed(world, bodies, &dropped);
        self.remove_all(bodies, dropped.bodies);
        self.detach_removed(world, bodies);
        if self.is_in_doubt || !self.write_poses(world, bodies) {
            self.look_at_all(world, bodies);
            self.write_poses(world, bodies);
        }
        self.synced = bodies.number();
    }

    /// Removes the bodies of what was dropped, unless another entity was given them.
    fn remove_all(&self, bodies: &mut impl Bodies, mut keys: Vec<BodyKey>) {
        keys.retain(|key| !self.by_body.contains_key(*key));
        if keys.is_empty() {
            return;
        }
        for key in bodies.remove_all(keys) {
            self.shared.drop_body(key);
        }
    }

    /// Looks at the entities whose components were taken off, put on or dropped.
    fn look_at_changed(&mut self, world: &mut World, bodies: &impl Bodies, dropped: &Dropped) {
        let dropped = dropped.bodies.iter().chain(&dropped.noted);
        let mut changed: Vec<Entity> = dropped
            .filter_map(|key| self.by_body.remove(*key))
            .collect();
        QUERIES.with_borrow_mut(|queries| {
            for (entity, noted) in queries.taken_off.query_mut(world) {
                if noted.0.is_of(&self.shared) {
                    changed.push(entity);
                }
            }
            for (entity, body) in queries.put_on.query_mut(world) {
                if body.link().is_of(&self.shared) {
                    changed.push(entity);
                }
            }
        });
        for entity in changed {
            self.look_at(world, bodies, entity);
        }
    }

    /// Looks at every entity that has a body of ours and is not noted, or the other way round.
    fn look_at_all(&mut self, world: &mut World, bodies: &impl Bodies) {
        self.is_in_doubt = false;
        let noted = std::mem::take(&mut self.by_body);
        let mut changed = Vec::new();
        for (entity, body) in world.query_mut::<(Entity, &Body)>() {
            let key = body.key();
            if !body.link().is_of(&self.shared) {
                continue;
            }
            if noted.get(key) == Some(&entity) && bodies.pose(key).is_some() {
                self.by_body.insert(key, entity);
            } else {
                changed.push(entity);
            }
        }
        for (entity, noted) in world.query_mut::<(Entity, &Noted)>() {
            let key = noted.0.key;
            if noted.0.is_of(&self.shared) && self.entity(key) != Some(entity) {
                changed.push(entity);
            }
        }
        for entity in changed {
            self.look_at(world, bodies, entity);
        }
    }

    /// Forgets what was noted of an entity, and notes it anew.
    fn look_at(&mut self, world: &mut World, bodies: &impl Bodies, entity: Entity) {
        let noted = self.release_noted(world, entity);
        if noted.is_some() {
            let _ = world.remove_one::<Noted>(entity);
        }
        if let Some(key) = self.key_on(world, entity) {
            self.take_up(world, bodies, entity, key);
        } else if noted.is_some() && !world.satisfies::<&Body>(entity) {
            let _ = world.remove_one::<RenderPose>(entity);
        }
    }

    /// An entity has a body that is not noted as its own: notes it, unless the body is gone or another
    /// entity has it.
    fn take_up(&mut self, world: &mut World, bodies: &impl Bodies, entity: Entity, key: BodyKey) {
        let owner = self.owner(world, key);
        let is_elsewhere = owner.is_some_and(|owner| owner != entity);
        match bodies.pose(key).filter(|_| !is_elsewhere) {
            Some(pose) => {
                let components = (RenderPose(pose), Noted(Link::new(key, &self.shared)));
                world.insert(entity, components).expect("it has a body");
                self.note(key, entity);
            }
            None => {
                self.detach(world, entity);
            }
        }
    }

    fn detach_removed(&mut self, world: &mut World, bodies: &impl Bodies) {
        if bodies.lists_all_since(self.synced) {
            self.detach_all(world, bodies.removed().iter().copied());
        } else if let Some(removed) = bodies.removed_since(self.synced) {
            self.detach_all(world, removed);
        } else {
            self.is_in_doubt = true;
        }
    }

    fn detach_all(&mut self, world: &mut World, removed: impl Iterator<Item = BodyKey>) {
        for key in removed {
            match self.owner(world, key) {
                Some(entity) => {
                    self.detach(world, entity);
                }
                // Noted, and not there.
                None => self.is_in_doubt |= self.by_body.remove(key).is_some(),
            }
        }
    }

    /// Gives whether every body was found where it was noted.
    fn write_poses(&self, world: &mut World, bodies: &impl Bodies) -> bool {
        QUERIES.with_borrow_mut(|queries| {
            let shown = queries.shown.view_mut(world);
            if bodies.lists_all_since(self.synced) {
                self.write(shown, bodies.moved().iter().copied())
            } else if let Some(moved) = bodies.moved_since(self.synced) {
                self.write(shown, moved)
            } else {
                let keys = self.by_body.keys();
                self.write(shown, keys.filter_map(|key| Some((key, bodies.pose(key)?))))
            }
        })
    }

    /// A view finds an entity's component nearly as fast as a loop over the archetypes does, and it is
    /// asked for no entity but those that moved.
    fn write(
        &self,
        mut shown: PreparedView<Shown>,
        poses: impl Iterator<Item = (BodyKey, Pose)>,
    ) -> bool {
        let mut are_all_there = true;
        for (key, pose) in poses {
            if let Some(entity) = self.by_body.get(key) {
                match shown.get_mut(*entity) {
                    Some(render_pose) => *render_pose = RenderPose(pose),
                    None => are_all_there = false,
                }
            }
        }
        are_all_there
    }
}
