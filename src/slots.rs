//! A slotmap as plain data, with the order in which vacant slots are reused, which slotmap's own format does not
//! preserve. So a map that is read back assigns the same keys to later values.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use slotmap::{Key, KeyData, SlotMap};

/// The contents of a slotmap.
#[derive(Serialize, Deserialize)]
pub(crate) struct Slots<V> {
    /// The version of each slot, starting at index 1. The version is odd if the slot is occupied.
    versions: Vec<u32>,
    /// The indices of vacant slots, in the order in which they will be reused.
    vacant: Vec<u32>,
    /// The indices and values of the occupied slots, in the map's order.
    occupied: Vec<(u32, V)>,
}

impl<V: Clone + Serialize + DeserializeOwned> Slots<V> {
    /// Reads the slots of a map. `any` is a value to insert into a copy of it.
    pub fn of<K: Key>(map: &SlotMap<K, V>, any: &V) -> Self {
        let mut versions = Vec::new();
        let mut set_version = |index: u32, version: u32| {
            // Slotmap does not use index 0.
            let i = index as usize - 1;
            versions.resize(versions.len().max(i + 1), 0);
            versions[i] = version;
        };
        let mut occupied = Vec::new();
        for (key, value) in map {
            let (index, version) = parts(key);
            set_version(index, version);
            occupied.push((index, value.clone()));
        }
        // Insertions reveal the order of vacant slots, because they reuse vacant slots before they add new ones.
        let mut vacant = Vec::new();
        let mut copy = map.clone();
        loop {
            let (index, version) = parts(copy.insert(any.clone()));
            // This slot is new, so all vacant ones are in use.
            if version == 1 {
                break;
            }
            // The insertion has increased the version of the slot.
            set_version(index, version - 1);
            vacant.push(index);
        }
        Self {
            versions,
            vacant,
            occupied,
        }
    }

    /// Rebuilds the map, or returns `None` if the data are contradictory. `any` is a value that fills slots at first.
    pub fn into_map<K: Key>(self, any: &V) -> Option<SlotMap<K, V>> {
        if !self.is_consistent() {
            return None;
        }
        // Slotmap has no function that sets versions or the order of vacant slots. So this fills all slots, with
        // earlier versions. Removals and insertions, each of which adds 1 to a version, then lead to the map that was
        // read. Every slot is removed, and those that were occupied are filled again, so they begin two versions ago.
        // Vacant slots have even versions from 2 on, and occupied ones odd versions. These wrap: version 1 may follow
        // the greatest one.
        let before = |version: u32| match version % 2 {
            0 => version - 1,
            _ => version.wrapping_sub(2),
        };
        let slots = self.versions.iter();
        let slots = slots.map(|version| (Some(any), before(*version)));
        let slots: Vec<(Option<&V>, u32)> = std::iter::once((None, 0)).chain(slots).collect();
        // Slotmap reads a list of slots, each an optional value and a version, and index 0 is unused. In this format, a
        // pair has the same bytes as slotmap's type.
        let bytes = postcard::to_stdvec(&slots).ok()?;
        // A saved map may be large, so each copy of its slots is dropped at once.
        drop(slots);
        let mut map: SlotMap<K, V> = postcard::from_bytes(&bytes).ok()?;
        drop(bytes);
        let occupied = self.occupied.iter().map(|(index, _)| index);
        // A removed slot is reused before all that were removed earlier, so the slot to be reused last is removed
        // first.
        for index in self.vacant.iter().rev().chain(occupied.rev()) {
            let version = before(self.versions[*index as usize - 1]);
            map.remove(KeyData::from_ffi(u64::from(version) << 32 | u64::from(*index)).into())?;
        }
        for (index, value) in self.occupied {
            let key = map.insert(value);
            if parts(key) != (index, self.versions[index as usize - 1]) {
                return None;
            }
        }
        Some(map)
    }

    /// Returns whether each slot is in exactly one list, and only once, and has a version that fits.
    fn is_consistent(&self) -> bool {
        let mut seen = vec![false; self.versions.len()];
        let vacant = self.vacant.iter().map(|index| (index, 0));
        let occupied = self.occupied.iter().map(|(index, _)| (index, 1));
        // The version of an occupied slot is odd, that of a vacant one is even, and 0 is a slot that was never used.
        let mut is_valid_and_new = |index: u32, parity: u32| {
            let i = (index as usize).wrapping_sub(1);
            let version = self.versions.get(i);
            version.is_some_and(|version| *version > 0 && version % 2 == parity)
                && !std::mem::replace(&mut seen[i], true)
        };
        vacant
            .chain(occupied)
            .all(|(index, parity)| is_valid_and_new(*index, parity))
            && seen.into_iter().all(|seen| seen)
    }
}

/// Returns the index of a key's slot and the version.
#[expect(clippy::cast_possible_truncation, reason = "half of the number each")]
fn parts(key: impl Key) -> (u32, u32) {
    let number = key.data().as_ffi();
    (number as u32, (number >> 32) as u32)
}

/// Serialises maps as lists of pairs, because JSON allows only text as keys.
pub mod map_as_list {
    use super::{BTreeMap, Deserialize, Deserializer, Serialize, Serializer};
    use serde::de::Error as _;

    pub fn serialize<K: Serialize, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: Deserialize<'de> + Ord,
        V: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        let pairs = Vec::<(K, V)>::deserialize(deserializer)?;
        let length = pairs.len();
        // The map keeps only the last of several pairs with equal keys.
        let map: BTreeMap<K, V> = pairs.into_iter().collect();
        if map.len() < length {
            return Err(D::Error::custom("a key occurs twice"));
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    slotmap::new_key_type! {
        struct Id;
    }

    fn check(actions: &[Option<usize>]) {
        let mut map = SlotMap::<Id, u8>::with_key();
        let mut keys = Vec::new();
        for action in actions {
            match action {
                Some(i) if !keys.is_empty() => {
                    map.remove(keys.swap_remove(i % keys.len()));
                }
                _ => keys.push(map.insert(7)),
            }
        }
        let slots = Slots::of(&map, &0);
        let bytes = postcard::to_stdvec(&slots).unwrap();
        let read: Slots<u8> = postcard::from_bytes(&bytes).unwrap();
        let mut copy: SlotMap<Id, u8> = read.into_map(&0).unwrap();
        // The copy has the same entries in the same order, and creates the same keys from then on.
        assert!(copy.iter().eq(map.iter()));
        for i in 0..actions.len() {
            assert_eq!(copy.insert(1), map.insert(1));
            if i % 3 == 0
                && let Some(key) = keys.pop()
            {
                assert_eq!(copy.remove(key), map.remove(key));
            }
        }
        assert!(copy.iter().eq(map.iter()));
    }

    #[test]
    fn loading_vacant_slots_allocates_a_bounded_multiple_of_the_file_size() {
        let mut map = SlotMap::<Id, (u32, u32, bool)>::with_key();
        let any = (0, 0, true);
        let keys: Vec<Id> = (0..100_000).map(|_| map.insert(any)).collect();
        for key in keys {
            map.remove(key);
        }
        let bytes = postcard::to_stdvec(&Slots::of(&map, &any)).unwrap();
        let taken = allocation_counter::measure(|| {
            let slots: Slots<(u32, u32, bool)> = postcard::from_bytes(&bytes).unwrap();
            assert!(slots.into_map::<Id>(&any).is_some());
        });
        // Most of this is allocated while the list of slots grows.
        let most = 16 * bytes.len() as u64;
        assert!(
            taken.bytes_max < most,
            "{} of {}",
            taken.bytes_max,
            bytes.len()
        );
    }

    proptest! {
        #![proptest_config(crate::testing::random(256))]

        #[test]
        fn a_loaded_map_keeps_its_entries_and_assigns_the_same_next_keys(
            actions in prop::collection::vec(prop::option::of(0..50usize), 0..100),
        ) {
            check(&actions);
        }

        #[test]
        fn arbitrary_slots_load_as_a_map_with_all_entries_or_are_refused(
            versions in prop::collection::vec(0..6u32, 0..6),
            vacant in prop::collection::vec(0..8u32, 0..4),
            occupied in prop::collection::vec((0..8u32, 0..9u8), 0..4),
        ) {
            let slots = Slots { versions, vacant, occupied };
            let len = slots.occupied.len();
            if let Some(map) = slots.into_map::<Id>(&0) {
                prop_assert_eq!(map.len(), len);
            }
        }
    }
}
