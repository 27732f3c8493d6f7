//! A hand-written ECS: entities with generations, and a column for each component.

/// An index into the columns, and a generation that distinguishes the entities that had this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entity {
    index: usize,
    generation: u32,
}

#[derive(Default)]
pub struct Entities {
    generations: Vec<u32>,
    free: Vec<usize>,
}

impl Entities {
    pub fn spawn(&mut self) -> Entity {
        let index = self.free.pop().unwrap_or_else(|| {
            self.generations.push(0);
            self.generations.len() - 1
        });
        Entity {
            index,
            generation: self.generations[index],
        }
    }

    /// Despawns an entity, and returns whether it was alive. The caller must remove its components too.
    pub fn despawn(&mut self, entity: Entity) -> bool {
        let is_alive = self.generations[entity.index] == entity.generation;
        if is_alive {
            self.generations[entity.index] += 1;
            self.free.push(entity.index);
        }
        is_alive
    }
}

/// The components of one type.
pub struct Column<T>(Vec<Option<(Entity, T)>>);

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Column<T> {
    pub fn insert(&mut self, entity: Entity, component: T) {
        let len = self.0.len().max(entity.index + 1);
        self.0.resize_with(len, || None);
        self.0[entity.index] = Some((entity, component));
    }

    pub fn remove(&mut self, entity: Entity) -> Option<T> {
        let place = self.0.get_mut(entity.index)?;
        Some(place.take_if(|(owner, _)| *owner == entity)?.1)
    }

    pub fn get(&self, entity: Entity) -> Option<&T> {
        let (owner, component) = self.0.get(entity.index)?.as_ref()?;
        (*owner == entity).then_some(component)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Entity, &T)> {
        let places = self.0.iter().flatten();
        places.map(|(entity, component)| (*entity, component))
    }
}
