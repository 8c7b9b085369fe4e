//! A position in the order of keys.

use super::node::{KeyBlock, Node, IN_BLOCK};
use super::tree::{Goal, OrderTree};
use crate::error::Result;
use crate::os::direct::Pages;

/// A position in the order of keys of one database: at a key, or at none. One thread uses it at a time.
pub(crate) struct OrderCursor<'db> {
    tree: &'db OrderTree,
    leaf: Option<(u64, Node<'db>)>,
    /// The number of the entry in the leaf; that of all entries behind the last.
    entry: usize,
    keys: KeyBlock,
    /// The block whose keys are decoded.
    block: Option<usize>,
    buffer: Pages,
}

impl<'db> OrderCursor<'db> {
    /// A cursor that is at no key.
    pub(crate) fn new(tree: &'db OrderTree) -> Self {
        OrderCursor { tree, leaf: None, entry: 0, keys: KeyBlock::default(), block: None, buffer: Pages::default() }
    }

    /// Moves to the first key. This and the other moves return whether the cursor is at a key.
    pub(crate) fn first(&mut self) -> Result<bool> {
        self.go(Goal::First)?;
        Ok(self.is_at_key())
    }

    /// Moves to the last key.
    pub(crate) fn last(&mut self) -> Result<bool> {
        self.go(Goal::Last)?;
        self.entry = self.leaf.as_ref().map_or(0, |(_, leaf)| leaf.count() - 1);
        Ok(self.is_at_key())
    }

    /// Moves to the first key that is not less than the given one.
    pub(crate) fn ceiling(&mut self, key: &[u8]) -> Result<bool> {
        self.seek(key)?;
        if self.is_at_key() {
            return Ok(true);
        }
        self.enter_next()
    }

    /// Moves to the last key that is not greater than the given one.
    pub(crate) fn floor(&mut self, key: &[u8]) -> Result<bool> {
        if self.seek(key)? {
            return Ok(true);
        }
        self.previous()
    }

    /// Moves to the last key that is less than the given one.
    pub(crate) fn lower(&mut self, key: &[u8]) -> Result<bool> {
        self.seek(key)?;
        self.previous()
    }

    /// The number of keys that are less than the given one. The cursor moves.
    pub(crate) fn rank(&mut self, key: &[u8]) -> Result<u64> {
        self.seek(key)?;
        let Some((page, leaf)) = &self.leaf else { return Ok(0) };
        let rank = leaf.before().saturating_add(self.entry as u64);
        if rank > self.tree.records() {
            let expected = format!("at most {} keys", self.tree.records());
            return Err(self.tree.unsound(0, *page, expected, rank.to_string()));
        }
        Ok(rank)
    }

    /// Moves to where a key is or would be; returns whether it is there.
    fn seek(&mut self, key: &[u8]) -> Result<bool> {
        self.go(Goal::Key(key))?;
        let Some((page, leaf)) = &self.leaf else { return Ok(false) };
        let found = self.tree.sound(0, *page, leaf.search(key))?;
        self.entry = found.unwrap_or_else(|less| less);
        Ok(found.is_ok())
    }

    fn go(&mut self, goal: Goal<'_>) -> Result<()> {
        self.leaf = None;
        if self.tree.records() > 0 {
            let page = self.tree.leaf_page(goal, &mut self.buffer)?;
            self.enter(page)?;
        }
        Ok(())
    }

    /// Enters a leaf, at its first entry. After an error, the cursor is at no key.
    fn enter(&mut self, page: u64) -> Result<()> {
        self.leaf = None;
        self.block = None;
        self.entry = 0;
        self.leaf = Some((page, self.tree.leaf(page, &mut self.buffer)?));
        Ok(())
    }

    pub(crate) fn is_at_key(&self) -> bool {
        self.leaf.as_ref().is_some_and(|(_, leaf)| self.entry < leaf.count())
    }

    /// Moves to the next key.
    pub(crate) fn next(&mut self) -> Result<bool> {
        if self.is_at_key() {
            self.entry += 1;
            if self.is_at_key() {
                return Ok(true);
            }
        }
        self.enter_next()
    }

    fn enter_next(&mut self) -> Result<bool> {
        let Some((page, leaf)) = &self.leaf else { return Ok(false) };
        let next = page + leaf.pages();
        if next >= self.tree.leaf_pages() {
            return Ok(false);
        }
        let before = leaf.before().saturating_add(leaf.count() as u64);
        self.enter(next)?;
        self.require_before(|_| Some(before))?;
        Ok(true)
    }

    /// Moves to the previous key.
    pub(crate) fn previous(&mut self) -> Result<bool> {
        let Some((page, leaf)) = &self.leaf else { return Ok(false) };
        if self.entry == 0 {
            if *page == 0 {
                self.leaf = None;
                return Ok(false);
            }
            let end = leaf.before();
            let Some(previous) = page.checked_sub(leaf.pages_before()) else {
                let found = format!("{} pages", leaf.pages_before());
                return Err(self.tree.unsound(0, *page, format!("a leaf in the {page} pages before"), found));
            };
            self.enter(previous)?;
            self.require_before(|count| end.checked_sub(count))?;
            self.entry = self.leaf.as_ref().map_or(0, |(_, leaf)| leaf.count());
        }
        self.entry -= 1;
        Ok(true)
    }

    /// Fails unless as many keys are before the leaf as a neighbor says, given their number in the leaf.
    fn require_before(&self, expected: impl FnOnce(u64) -> Option<u64>) -> Result<()> {
        let Some((page, leaf)) = &self.leaf else { return Ok(()) };
        if Some(leaf.before()) != expected(leaf.count() as u64) {
            let found = format!("{} before it", leaf.before());
            return Err(self.tree.unsound(0, *page, "a leaf that goes with its neighbor", found));
        }
        Ok(())
    }

    /// The key.
    pub(crate) fn key(&mut self) -> Result<&[u8]> {
        let Some((page, leaf)) = &self.leaf else { return Ok(&[]) };
        let block = self.entry / IN_BLOCK;
        if self.block != Some(block) {
            self.block = None;
            self.tree.sound(0, *page, leaf.decode(block, &mut self.keys))?;
            self.block = Some(block);
        }
        Ok(self.keys.get(self.entry % IN_BLOCK))
    }

    /// The value of the key's entry: the shortened address of its record.
    pub(crate) fn value(&self) -> u64 {
        self.leaf.as_ref().map_or(0, |(_, leaf)| leaf.value(self.entry))
    }

    /// The page of the leaf.
    pub(crate) fn page(&self) -> u64 {
        self.leaf.as_ref().map_or(0, |(page, _)| *page)
    }
}
