//! The file of the order of keys (FORMAT.md §16).

use std::borrow::Cow;

use super::node::{self, Node, CHILD};
use crate::error::{Error, Result};
use crate::file::paged::{Loaded, PagedFile};
use crate::format::address::Address;
use crate::format::facts::OrderFacts;
use crate::format::page::{PAYLOAD, SIZE};
use crate::os::direct::Pages;

/// The tree of keys of a database. Thread-safe.
pub(crate) struct OrderTree {
    file: PagedFile,
    /// The first page of each level, from the leaves up; then that of the footer.
    starts: Vec<u64>,
    facts: OrderFacts,
    records: u64,
}

/// What to go down the tree for.
#[derive(Clone, Copy)]
pub(crate) enum Goal<'a> {
    First,
    Last,
    /// The leaf that would hold the key.
    Key(&'a [u8]),
}

impl OrderTree {
    pub(crate) fn open(file: PagedFile, facts: &OrderFacts, records: u64) -> Result<OrderTree> {
        let mut starts = vec![1];
        let mut end = 1;
        for pages in &facts.levels {
            end += pages;
            starts.push(end);
        }
        if file.pages() != end + 1 || facts.levels.is_empty() != (records == 0) {
            return Err(file.damaged(
                0,
                format!("a tree of {} pages for {records} keys", end + 1),
                format!("{} pages", file.pages()),
            ));
        }
        Ok(OrderTree { file, starts, facts: facts.clone(), records })
    }

    pub(crate) fn file(&self) -> &PagedFile {
        &self.file
    }

    /// The number of keys.
    pub(crate) fn records(&self) -> u64 {
        self.records
    }

    /// The number of pages of the leaves.
    pub(crate) fn leaf_pages(&self) -> u64 {
        self.facts.levels.first().copied().unwrap_or(0)
    }

    /// The address that the value of a leaf's entry is short for.
    pub(crate) fn address(&self, value: u64) -> Address {
        let [_, offset_bits, detail_bits] = self.facts.place;
        Address {
            // A file has at most 7 bits, so what is beyond them is no file that exists.
            file: (value >> (offset_bits + detail_bits)).min(u64::from(u16::MAX)) as u16,
            offset: value >> detail_bits & ((1 << offset_bits) - 1),
            detail: value & ((1 << detail_bits) - 1),
        }
    }

    /// The page of a leaf. There must be records. Pages are counted from the first of their level.
    pub(crate) fn leaf_page(&self, goal: Goal<'_>, buffer: &mut Pages) -> Result<u64> {
        let mut page = 0;
        for level in (1..self.facts.levels.len()).rev() {
            let node = self.node(level, page, buffer)?;
            let number = match goal {
                Goal::First => 0,
                Goal::Last => node.count() - 1,
                Goal::Key(key) => match self.sound(level, page, node.search(key))? {
                    Ok(number) => number,
                    Err(less) => less.saturating_sub(1),
                },
            };
            page = node.value(number);
        }
        Ok(page)
    }

    /// A leaf.
    pub(crate) fn leaf(&self, page: u64, buffer: &mut Pages) -> Result<Node<'_>> {
        self.node(0, page, buffer)
    }

    fn node(&self, level: usize, page: u64, buffer: &mut Pages) -> Result<Node<'_>> {
        let (start, end) = (self.starts[level], self.starts[level + 1]);
        if page >= end - start {
            let pages = end - start;
            return Err(self.file.damaged(
                start * SIZE as u64,
                format!("a node among the {pages} pages of level {level}"),
                format!("one in page {page}"),
            ));
        }
        let first = start + page;
        let loaded = self.file.load(first, 1, buffer)?;
        let pages = node::pages(loaded.bytes());
        if pages > end - first {
            return Err(self.unsound(level, page, "a node that ends in its level", format!("{pages} pages")));
        }
        let bytes = match loaded {
            Loaded::Mapped(bytes) if pages == 1 => Cow::Borrowed(&bytes[..PAYLOAD]),
            Loaded::Buffer(bytes) if pages == 1 => Cow::Owned(bytes[..PAYLOAD].to_vec()),
            _ => {
                let all = self.file.load(first, pages, buffer)?;
                Cow::Owned(all.bytes().chunks_exact(SIZE).flat_map(|page| &page[..PAYLOAD]).copied().collect())
            }
        };
        let width = if level == 0 { self.facts.width() } else { CHILD };
        self.sound(level, page, Node::of(bytes, level, width))
    }

    /// What was read from a node, unless its bytes are not those of a node.
    pub(crate) fn sound<T>(&self, level: usize, page: u64, read: Option<T>) -> Result<T> {
        read.ok_or_else(|| self.unsound(level, page, format!("a node of level {level}"), "another content"))
    }

    /// An error about a node that cannot be right, although its checksum is.
    #[cold]
    pub(crate) fn unsound(
        &self,
        level: usize,
        page: u64,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Error {
        self.file.damaged((self.starts[level] + page) * SIZE as u64, expected, found)
    }
}
