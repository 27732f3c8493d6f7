//! The work of each frame, and of each step.

use std::cell::RefCell;

use hecs::{Entity, PreparedQuery, PreparedView, With, Without, World};
use rapier::math::Pose;

use crate::ecs::{BodyStore, Host, Picture, Poses};
use crate::key::BodyKey;
use crate::physics::Physics;

use super::components::{Body, Coming, DroppedLinks, Link, Noted, RenderPose};
use super::entities::Entities;

thread_local! {
    /// Kept to reuse their memory. Queries hold pointers while in use, which would bind [`Entities`] to a thread.
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

/// # In each step
impl Entities {
    /// Removes the bodies of entities that were despawned through hecs or lost their [`Body`], in the order of their
    /// keys.
    ///
    /// Call this at the end of a hook that may do that, so that the bodies are removed in the same step at every frame
    /// rate.
    pub fn remove_dropped(&mut self, world: &mut World, physics: &mut Physics) {
        if !self.take_dropped(world, physics) {
            self.look_at_all(world, physics);
        }
    }
}

/// # Once per frame
impl Entities {
    /// Writes the [`RenderPose`]s that changed, and handles your changes since the last sync as in the table in [the
    /// module](super#case-by-case). Call it after [`Simulation::advance`](crate::Simulation::advance), or
    /// `Runner::frame`.
    ///
    /// The cost is proportional to the changes and to the bodies that moved, in any frame since the last sync. A sync
    /// goes through all entities with a body while steps are resimulated, after an assignment of
    /// [`Simulation::physics`](crate::Simulation::physics), when a [`Body`] was removed from its entity and kept, when
    /// an entity was taken with hecs' `World::take` and spawned again, and sometimes after many frames without a sync.
    ///
    /// With an [`Overlap`](crate::threads::Overlap) it only writes the poses that the overlap displays, and does not
    /// wait for the step in progress. Call [`spawn`](Self::spawn) and [`remove_dropped`](Self::remove_dropped) in
    /// hooks.
    pub fn sync(&mut self, world: &mut World, host: &mut impl Host) {
        let since = self.map.begin_sync(host);
        self.take_in_coming(world, host);
        let Some(bodies) = host.bodies() else {
            // Only hooks have the bodies. One that is not displayed yet is not known to be removed.
            if since.is_some() {
                self.detach_removed(world, host, since);
            }
            let new = self.map.take_new(host);
            self.write_poses(world, host, since, &new);
            return;
        };
        let are_found = self.take_dropped(world, bodies);
        let are_found = self.detach_removed(world, host, since) && are_found;
        let new = self.map.take_new(host);
        if are_found && self.write_poses(world, host, since, &new) {
            return;
        }
        if let Some(bodies) = host.bodies() {
            self.look_at_all(world, bodies);
        }
        self.write_poses(world, host, since, &new);
    }

    /// Handles the changes made through hecs, and removes the bodies that have lost their entity. Returns whether the
    /// entities of all bodies are known.
    fn take_dropped(&mut self, world: &mut World, bodies: &mut dyn BodyStore) -> bool {
        let dropped = self.shared.take_dropped();
        let are_found = self.look_at_changed(world, bodies, &dropped);
        let is_free = |key: &&BodyKey| self.map.entity(**key).is_none();
        for key in dropped.bodies.iter().filter(is_free) {
            bodies.remove(*key);
        }
        are_found
    }

    /// Gives entities their [`Body`] once the body that was sent to a thread is displayed. If it was removed earlier,
    /// or never inserted, the entity loses its [`RenderPose`].
    fn take_in_coming(&mut self, world: &mut World, host: &impl Host) {
        let (mut come, mut lost) = (Vec::new(), Vec::new());
        for (entity, coming) in world.query_mut::<(Entity, &mut Coming)>() {
            let Some(spawned) = coming.0.of(&self.shared) else {
                continue;
            };
            if let Some(key) = spawned.key() {
                if host.pose(key).is_some() || host.is_after(&spawned) {
                    coming.0.release();
                    come.push((entity, key));
                }
            } else if spawned.is_lost() {
                lost.push(entity);
            }
        }
        for entity in lost {
            let _ = world.remove::<(Coming, RenderPose)>(entity);
        }
        for (entity, key) in come {
            let _ = world.remove_one::<Coming>(entity);
            let body = Body(Link::new(key, &self.shared));
            world.insert_one(entity, body).expect("it is there");
            self.take_up(world, host, entity, key);
        }
    }

    /// Checks the entities whose components were removed, inserted or dropped. Returns whether all of them were found.
    fn look_at_changed(
        &mut self,
        world: &mut World,
        bodies: &dyn Poses,
        dropped: &DroppedLinks,
    ) -> bool {
        let mut are_found = true;
        let mut changed = self.map.take_replaced();
        for key in &dropped.bodies {
            if let Some(entity) = self.map.take(*key) {
                // If the entity was spawned again as another one, its record is on that entity, perhaps together with
                // another body.
                are_found &= world.contains(entity) || dropped.noted.binary_search(key).is_ok();
                changed.push(entity);
            }
        }
        let noted = dropped.noted.iter();
        changed.extend(noted.filter_map(|key| self.map.take(*key)));
        let mut taken_off = Vec::new();
        QUERIES.with_borrow_mut(|queries| {
            for (entity, noted) in queries.taken_off.query_mut(world) {
                if let Some(key) = noted.0.of(&self.shared) {
                    taken_off.push(key);
                    changed.push(entity);
                }
            }
            for (entity, body) in queries.put_on.query_mut(world) {
                if body.0.of(&self.shared).is_some() {
                    changed.push(entity);
                }
            }
        });
        for entity in changed {
            self.look_at(world, bodies, entity);
        }
        // A body that was kept may be on an entity that had another body before.
        let is_known = |key: &BodyKey| {
            self.entity(*key).is_some() || dropped.bodies.binary_search(key).is_ok()
        };
        are_found && taken_off.iter().all(is_known)
    }

    /// Checks every entity that has a body of this `Entities` but no record, or a record but no body.
    pub(super) fn look_at_all(&mut self, world: &mut World, bodies: &dyn Poses) {
        let shown = world.view_mut::<&Body>();
        self.map.take_if(|key, entity| {
            let has = shown.get(entity).and_then(|body| body.0.of(&self.shared));
            has != Some(key) || bodies.pose(key).is_none()
        });
        let is_astray = |entity: Entity, link: &Link<BodyKey>| {
            let key = link.of(&self.shared);
            key.is_some_and(|key| self.map.entity(key) != Some(entity))
        };
        let mut changed = Vec::new();
        for (entity, body) in world.query_mut::<(Entity, &Body)>() {
            if is_astray(entity, &body.0) {
                changed.push(entity);
            }
        }
        for (entity, noted) in world.query_mut::<(Entity, &Noted)>() {
            if is_astray(entity, &noted.0) {
                changed.push(entity);
            }
        }
        for entity in changed {
            self.look_at(world, bodies, entity);
        }
    }

    fn look_at(&mut self, world: &mut World, bodies: &dyn Poses, entity: Entity) {
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

    fn take_up(&mut self, world: &mut World, bodies: &dyn Poses, entity: Entity, key: BodyKey) {
        let owner = self.owner(world, key);
        let is_elsewhere = owner.is_some_and(|owner| owner != entity);
        match bodies.pose(key).filter(|_| !is_elsewhere) {
            Some(pose) => {
                let components = (RenderPose(pose), Noted(Link::new(key, &self.shared)));
                world.insert(entity, components).expect("it has a body");
                self.map.insert(key, entity);
            }
            None => {
                self.detach(world, entity);
            }
        }
    }

    /// Removes the components from entities whose body was removed. Returns whether every body was found where it was
    /// recorded.
    fn detach_removed(
        &mut self,
        world: &mut World,
        host: &impl Picture,
        since: Option<u64>,
    ) -> bool {
        let mut are_found = true;
        for (key, entity) in self.map.take_removed_since(host, since) {
            if self.key_on(world, entity) == Some(key) {
                self.detach(world, entity);
            } else {
                are_found = false;
            }
        }
        are_found
    }

    /// Writes the poses of bodies that moved, and of those with an entity that is `new`. Returns whether every body was
    /// found where it was recorded. A view is nearly as fast as a loop over the archetypes, and only looks up these.
    fn write_poses(
        &self,
        world: &mut World,
        host: &impl Picture,
        since: Option<u64>,
        new: &[(BodyKey, Pose)],
    ) -> bool {
        let moved = self.map.moved_since(host, since);
        QUERIES.with_borrow_mut(|queries| {
            let mut write = |poses| self.write(queries.shown.view_mut(world), poses);
            let are_found = write(new);
            write(&moved) && are_found
        })
    }

    /// The view is passed by value: if a closure borrows it, it is read from memory again for each body.
    fn write(&self, mut shown: PreparedView<Shown>, moved: &[(BodyKey, Pose)]) -> bool {
        let mut are_found = true;
        for (key, pose) in moved {
            if let Some(entity) = self.map.entity(*key) {
                match shown.get_mut(entity) {
                    Some(render_pose) => *render_pose = RenderPose(*pose),
                    None => are_found = false,
                }
            }
        }
        are_found
    }
}
