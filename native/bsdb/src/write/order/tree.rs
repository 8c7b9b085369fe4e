//! Writes the tree of keys from front to back (FORMAT.md §16).

use std::path::{Path, PathBuf};

use super::node::{common, Node};
use crate::error::Result;
use crate::format::facts::OrderFacts;
use crate::format::frame::Kind;
use crate::memory;
use crate::order::node::CHILD;
use crate::write::assembly::Context;
use crate::write::output::{Finished, OutputFile};
use crate::write::spill::{Aside, Place};

/// Bytes of a level that are in memory.
const HELD: usize = 1 << 20;

/// Writes the leaves at once, and the levels above them at the end. These take 0.02 to 0.03 bytes for each short key,
/// and more if keys have hundreds of bytes in common; most of it lies in temporary files until then.
pub(super) struct TreeWriter {
    file: OutputFile,
    temporary: PathBuf,
    place: [u32; 3],
    /// The levels that have entries, from the leaves up.
    levels: Vec<Level>,
    keys: u64,
    /// The node that is being written.
    bytes: Vec<u8>,
}

struct Level {
    /// The node that takes entries.
    node: Node,
    /// What separates it from the node before.
    separator: Vec<u8>,
    /// The number of keys before it.
    before: u64,
    /// Pages of the node before it.
    pages_before: usize,
    /// The nodes that ended, and their pages.
    nodes: u64,
    pages: u64,
    /// The last ones of a level above the leaves, and those before them.
    ended: Vec<u8>,
    aside: Aside,
    /// Where the others are, and their lengths.
    places: Vec<(Place, usize)>,
}

impl Level {
    fn new(number: usize, width: usize, temporary: &Path) -> Level {
        Level {
            node: Node::new(number as u8, width, if number == 0 { 1 } else { 2 }),
            separator: Vec::new(),
            before: 0,
            pages_before: 0,
            nodes: 0,
            pages: 0,
            ended: Vec::new(),
            aside: Aside::new(temporary, &format!("order-level-{number}")),
            places: Vec::new(),
        }
    }
}

impl TreeWriter {
    /// Creates the file. `place` has the bits of the file number, the offset and the detail of an address.
    pub(super) fn create(context: &Context, place: [u32; 3]) -> Result<TreeWriter> {
        let file = OutputFile::create(&context.directory, Kind::Order, 0)?.with_threads(context.options.threads);
        let leaves = Level::new(0, place.iter().sum::<u32>() as usize, &context.temporary);
        let temporary = context.temporary.clone();
        Ok(TreeWriter { file, temporary, place, levels: vec![leaves], keys: 0, bytes: Vec::new() })
    }

    /// The number of keys.
    pub(super) fn keys(&self) -> u64 {
        self.keys
    }

    /// Adds a key, which is not less than the last one, and its shortened address. If it is the last one again, nothing
    /// is added, and the result is false.
    #[inline]
    pub(super) fn add(&mut self, key: &[u8], value: u64) -> Result<bool> {
        let last = self.levels[0].node.last();
        let shared = common(last, key);
        debug_assert!(self.keys == 0 || last <= key, "keys are in ascending order");
        if self.keys > 0 && shared == key.len() {
            return Ok(false);
        }
        self.add_to(0, key, shared, value, self.keys)?;
        self.keys += 1;
        Ok(true)
    }

    /// Replaces the value of the last key.
    pub(super) fn replace_last(&mut self, value: u64) {
        self.levels[0].node.replace_last(value);
    }

    #[inline]
    fn add_to(&mut self, level: usize, key: &[u8], shared: usize, value: u64, before: u64) -> Result<()> {
        if self.levels[level].node.add(key, shared, value) {
            return Ok(());
        }
        self.end_node(level)?;
        let to = &mut self.levels[level];
        // Of a leaf, the shortest separator; above, what separates the first child.
        to.separator.clear();
        to.separator.extend_from_slice(if level == 0 { &key[..=shared] } else { key });
        to.before = before;
        let added = to.node.add(key, shared, value);
        debug_assert!(added, "an empty node has room");
        Ok(())
    }

    /// Ends the node of a level, which has entries.
    fn end_node(&mut self, level: usize) -> Result<()> {
        if level + 1 == self.levels.len() {
            self.levels.push(Level::new(level + 1, CHILD, &self.temporary));
        }
        let ended = &mut self.levels[level];
        let separator = std::mem::take(&mut ended.separator);
        let (page, before) = (ended.pages, ended.before);
        let shared = common(self.levels[level + 1].node.last(), &separator);
        self.add_to(level + 1, &separator, shared, page, before)?;

        let TreeWriter { file, levels, bytes, .. } = self;
        let ended = &mut levels[level];
        ended.separator = separator;
        let pages = ended.node.pages();
        ended.node.encode(ended.pages_before, before, bytes);
        if level == 0 {
            file.put(bytes)?;
        } else {
            memory::reserve(&mut ended.ended, bytes.len(), file.path())?;
            ended.ended.extend_from_slice(bytes);
            if ended.ended.len() >= HELD {
                memory::reserve(&mut ended.places, 1, file.path())?;
                ended.places.push((ended.aside.put(&ended.ended)?, ended.ended.len()));
                ended.ended.clear();
            }
        }
        ended.pages_before = pages;
        ended.pages += pages as u64;
        ended.nodes += 1;
        Ok(())
    }

    /// Writes the rest.
    pub(super) fn finish(mut self) -> Result<(OrderFacts, Finished)> {
        let mut levels = Vec::new();
        while self.keys > 0 {
            let number = levels.len();
            self.end_node(number)?;
            let level = &mut self.levels[number];
            levels.push(level.pages);
            level.aside.flush()?;
            for &(place, length) in &level.places {
                level.aside.read_whole(place, length, &mut self.bytes)?;
                self.file.put(&self.bytes)?;
            }
            self.file.put(&level.ended)?;
            if level.nodes == 1 {
                break;
            }
        }
        Ok((OrderFacts { levels, place: self.place }, self.file.finish(None)?))
    }
}
