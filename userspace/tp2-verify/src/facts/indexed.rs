// SPDX-License-Identifier: GPL-2.0-only

//! Lists that gates look things up in for every pair.

use std::{
    collections::{BTreeMap, btree_map::Range},
    ops::{Deref, RangeInclusive},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What can be looked up in an [`Indexed`] list.
pub trait Keyed {
    /// What it is looked up by.
    type Key: Copy + Ord;

    /// Its key; `None` where it has none and cannot be looked up.
    fn key(&self) -> Option<Self::Key>;
}

/// A list with an index of keys, which need not be unique. Nobody can change it, so that the index always fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Indexed<T: Keyed> {
    list: Vec<T>,
    /// Positions of each key, in the order of the list.
    index: BTreeMap<T::Key, Vec<usize>>,
    /// Positions of those whose key is not theirs alone, in the order of the list.
    sharing: Vec<usize>,
}

impl<T: Keyed> Indexed<T> {
    /// The first of the list that has the key.
    pub fn first(&self, key: T::Key) -> Option<&T> {
        self.all(key).next()
    }

    /// All that have the key, in the order of the list.
    pub fn all(&self, key: T::Key) -> impl Iterator<Item = &T> {
        self.within(key..=key)
    }

    /// Those whose key is not theirs alone, in the order of the list.
    pub fn sharing(&self) -> impl Iterator<Item = &T> {
        self.sharing.iter().filter_map(|position| self.list.get(*position))
    }

    /// All that have one of the keys, by key.
    pub fn within(&self, keys: RangeInclusive<T::Key>) -> impl Iterator<Item = &T> {
        let found: Range<'_, T::Key, Vec<usize>> = self.index.range(keys);
        found.flat_map(|(_, positions)| positions).filter_map(|position| self.list.get(*position))
    }
}

impl<T: Keyed> From<Vec<T>> for Indexed<T> {
    fn from(list: Vec<T>) -> Self {
        let mut index: BTreeMap<T::Key, Vec<usize>> = BTreeMap::new();
        for (position, one) in list.iter().enumerate() {
            if let Some(key) = one.key() {
                index.entry(key).or_default().push(position);
            }
        }
        let shared = index.values().filter(|positions| positions.len() > 1);
        let mut sharing: Vec<usize> = shared.flatten().copied().collect();
        sharing.sort_unstable();
        Self { list, index, sharing }
    }
}

impl<T: Keyed> Default for Indexed<T> {
    fn default() -> Self {
        Self::from(Vec::new())
    }
}

impl<T: Keyed> Deref for Indexed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.list
    }
}

/// As the list alone.
impl<T: Keyed + Serialize> Serialize for Indexed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

impl<'de, T: Keyed + Deserialize<'de>> Deserialize<'de> for Indexed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}
