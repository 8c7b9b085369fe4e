//! `verify`: every byte of every file, and the way from each key to its record (FORMAT.md §8).

use crate::error::{Error, Result};
use crate::file::paged::{PagedFile, Run};
use crate::format::address::Address;
use crate::format::content::ContentHasher;
#[cfg(feature = "remote")]
use crate::format::facts::FileLine;
use crate::format::facts::MANIFEST;
#[cfg(feature = "remote")]
use crate::format::frame::Kind;
use crate::format::page::{self, SIZE};
use crate::format::sample::Sample;
use crate::format::{routing, u32_at, u64_at};
use crate::hash::signature::Signature;
use crate::hash::HashFunction;
use crate::index::filter::{SignatureFilter, GROUP, STARTS, WORDS};
use crate::layout::{packed, Scratch};
use crate::order::cursor::OrderCursor;
use crate::order::tree::{Goal, OrderTree};
use crate::os::direct::Pages;
use crate::scan::{Cursor, Located};
use crate::single::{Engine, Packed, Single};

/// What `verify` went through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Records that were looked up; 0 in approximate mode, which keeps no keys.
    pub records: u64,
    /// Files that were read, without manifests.
    pub files: u64,
    /// Pages that were checked.
    pub pages: u64,
    /// Whether all files have the content hashes of the manifest; false if an older version wrote the database without
    /// them.
    pub content_checked: bool,
}

/// Called for each page and each record; an error ends the check.
pub(crate) type GoOn<'a> = &'a mut dyn FnMut() -> Result<()>;

/// Whether the manifest of a database or a shard states the content hash of each file.
pub(crate) fn has_hashes(single: &Single) -> bool {
    single.facts.files.iter().all(|line| line.content_hash.is_some())
}

/// Verifies all bytes of a database or a shard, and no keys.
pub(crate) fn content(single: &Single, verified: &mut Verified, go_on: GoOn<'_>) -> Result<()> {
    for file in single.files() {
        verified.files += 1;
        verified.pages += file.pages();
        let table = match &single.engine {
            Engine::Slots(slots) => table(&slots.hash, file),
            Engine::Approximate(hash, _) => table(hash, file),
            Engine::Packed(_) => None,
        };
        match table {
            Some(table) => body(file, table, go_on)?,
            None => pages(file, go_on)?,
        }
    }
    Ok(())
}

/// Verifies a database or a shard.
pub(crate) fn single(single: &Single, verified: &mut Verified, go_on: GoOn<'_>) -> Result<()> {
    content(single, verified, go_on)?;
    match &single.engine {
        Engine::Approximate(_, index) => {
            let mut run = Run::new(index.file());
            for slot in 0..single.facts.records {
                go_on()?;
                index.value(slot, run.pages(index.page(slot), 1)?)?;
            }
        }
        Engine::Slots(_) => verified.records += addressed(single, go_on)?,
        Engine::Packed(packed) => {
            // Each record is looked up when its page has passed.
            keep_pieces(packed, true);
            let records = binned(single, packed, go_on);
            keep_pieces(packed, false);
            verified.records += records?;
            sampled(single, packed)?;
        }
    }
    match &single.order {
        Some(tree) => ordered(single, tree, go_on),
        None => Ok(()),
    }
}

/// Checks all pages, the digest and the content hash of a file that was fetched whole.
#[cfg(feature = "remote")]
pub(crate) fn fetched(file: &PagedFile, line: &FileLine) -> Result<()> {
    let go_on: GoOn<'_> = &mut || Ok(());
    if line.kind == Kind::Hash {
        // The table has an entry for each page before it, 1,023 in a page (FORMAT.md §5).
        let table = (line.pages - 1) - (line.pages - 2).div_ceil(1024);
        return body(file, table, go_on);
    }
    pages(file, go_on)
}

/// Compares the sample in the manifest, if there is one, with the index.
fn sampled(single: &Single, packed: &Packed) -> Result<()> {
    let Some(stated) = &single.facts.sample else { return Ok(()) };
    let bins = &packed.bins;
    let found = Sample::of(packed.files.pages(), bins.bins(), |bin| bins.place(bin).map(|place| place.page))?;
    if found.as_ref() != Some(stated) {
        let found = found.map_or("none".to_owned(), |found| found.to_string());
        return Err(Error::damaged(
            &single.path.join(MANIFEST),
            SIZE as u64,
            format!("packed.sample={found}, as in the index"),
            stated.to_string(),
        ));
    }
    Ok(())
}

/// Says whether pieces of a database elsewhere are kept in memory.
fn keep_pieces(packed: &Packed, keep: bool) {
    #[cfg(feature = "remote")]
    if let Some(file) = packed.files.files.first().and_then(PagedFile::remote) {
        file.place().keep_pieces(keep);
    }
    let _ = (packed, keep);
}

/// Checks that the order has each key once, in order, with the address that lookups find, and that the tree leads to
/// it.
fn ordered(single: &Single, tree: &OrderTree, go_on: GoOn<'_>) -> Result<()> {
    let mut cursor = OrderCursor::new(tree);
    let mut scratch = Scratch::default();
    let mut buffer = Pages::default();
    let mut last: Option<Vec<u8>> = None;
    let mut keys = 0;
    let mut more = cursor.first()?;
    while more {
        go_on()?;
        let page = cursor.page();
        let key = cursor.key()?.to_vec();
        if last.as_ref().is_some_and(|last| *last >= key) {
            return Err(tree.unsound(0, page, "keys in ascending order", "another order"));
        }
        let address = match &single.engine {
            Engine::Slots(_) => single.indexed_address(single.signature(&key), &mut scratch.index)?,
            _ => None,
        };
        let same = address
            .is_none_or(|word| Address::decode(word, single.facts.detail_bits()) == Some(tree.address(cursor.value())));
        if !same || single.find(&key, &mut scratch)?.is_none() {
            return Err(tree.unsound(0, page, "keys that lead to their records", "one that does not"));
        }
        if tree.leaf_page(Goal::Key(&key), &mut buffer)? != page {
            return Err(tree.unsound(0, page, "a leaf to which its keys lead", "a key that leads to another"));
        }
        last = Some(key);
        keys += 1;
        more = cursor.next()?;
    }
    if keys != tree.records() {
        let at = tree.file().pages() * SIZE as u64;
        return Err(tree.file().damaged(at, format!("{} keys", tree.records()), keys.to_string()));
    }
    Ok(())
}

/// The first page of the table of checksums, if this is the hash function's file.
fn table(hash: &HashFunction, file: &PagedFile) -> Option<u64> {
    std::ptr::eq(hash.file(), file).then_some(match hash {
        HashFunction::Gov(function) => function.table(),
        HashFunction::Ptr(function) => function.table(),
    })
}

/// Checks all pages of a file, its digest and its content hash.
fn pages(file: &PagedFile, go_on: GoOn<'_>) -> Result<()> {
    let mut run = Run::new(file);
    let mut digest = 0;
    let mut content = ContentHasher::default();
    for number in 1..file.pages() - 1 {
        go_on()?;
        let bytes = run.pages(number, 1)?;
        file.verify(number, bytes)?;
        digest = page::digest(digest, page::stored(bytes));
        content.add(bytes);
    }
    require_digest(file, digest)?;
    file.require_content_hash(&content.finish())
}

/// Checks all pages of a hash function's file, its digest and its content hash.
fn body(file: &PagedFile, table: u64, go_on: GoOn<'_>) -> Result<()> {
    let mut digest = 0;
    let mut content = ContentHasher::default();
    for number in 1..table {
        go_on()?;
        file.verify_body(number, table)?;
        digest = page::digest(digest, file.table_entry(number, table)?);
        content.add(&file.mapped()[number as usize * SIZE..][..SIZE]);
    }
    let mut run = Run::new(file);
    for number in table..file.pages() - 1 {
        let bytes = run.pages(number, 1)?;
        file.verify(number, bytes)?;
        digest = page::digest(digest, page::stored(bytes));
        content.add(bytes);
    }
    require_digest(file, digest)?;
    file.require_content_hash(&content.finish())
}

fn require_digest(file: &PagedFile, digest: u64) -> Result<()> {
    if digest != file.digest() {
        let at = (file.pages() - 1) * SIZE as u64 + 40;
        return Err(file.damaged(at, format!("digest {digest:x}"), format!("{:x}", file.digest())));
    }
    Ok(())
}

/// Looks up every record of a layout with addresses; returns their number.
fn addressed(single: &Single, go_on: GoOn<'_>) -> Result<u64> {
    let (mut records, mut dropped) = (0u64, 0u64);
    let mut scratch = Scratch::default();
    let mut cursor = Cursor::telling_duplicates(single);
    while cursor.next(&mut |located: Located<'_>| {
        go_on()?;
        require_shard(single, &located)?;
        require_elements(single, &located)?;
        if located.current {
            records += 1;
        } else if single.find(located.key, &mut scratch)?.is_some() {
            dropped += 1;
        } else {
            return Err(unreachable(single, &located));
        }
        Ok(())
    })? {}
    require_counts(single, records, dropped)?;
    Ok(records)
}

/// Looks up every record of a packed layout; returns their number.
fn binned(single: &Single, packed: &Packed, go_on: GoOn<'_>) -> Result<u64> {
    let mut records = 0u64;
    let mut scratch = Scratch::default();
    let mut before: Option<(Signature, Vec<u8>)> = None;
    let mut filter = packed.filter.as_ref().map(FilterCheck::new);
    let mut cursor = Cursor::new(single);
    while cursor.next(&mut |located: Located<'_>| {
        go_on()?;
        require_shard(single, &located)?;
        require_elements(single, &located)?;
        let signature = single.signature(located.key);
        let own = packed.bins.bin(signature.high);
        let part = packed::part(signature.high, packed.bins.bins());
        if located.bin != own || located.part.is_some_and(|stated| part > stated) {
            return Err(wrong(
                single,
                &located,
                format!("a record of bin {}", located.bin),
                format!("one of bin {own}"),
            ));
        }
        if let Some((last, key)) = &mut before {
            if *last > signature || *last == signature && *key == located.key {
                return Err(wrong(
                    single,
                    &located,
                    "records in the order of their signatures".into(),
                    "another order".into(),
                ));
            }
            *last = signature;
            key.clear();
            key.extend_from_slice(located.key);
        } else {
            before = Some((signature, located.key.to_vec()));
        }
        match single.find(located.key, &mut scratch)? {
            Some(found) if found.bytes(&scratch) == located.value => {}
            _ => return Err(unreachable(single, &located)),
        }
        if let Some(filter) = &mut filter {
            filter.add(signature)?;
        }
        records += 1;
        Ok(())
    })? {}
    if let Some(filter) = filter {
        filter.finish()?;
    }
    require_counts(single, records, single.facts.dropped)?;
    Ok(records)
}

fn require_shard(single: &Single, located: &Located<'_>) -> Result<()> {
    let shards = single.facts.shards;
    if shards > 1 && routing::shard(routing::slot(located.key), shards) != single.facts.shard {
        return Err(wrong(
            single,
            located,
            format!("keys of shard {}", single.facts.shard),
            "a key of another shard".into(),
        ));
    }
    Ok(())
}

/// Checks that a value consists of the elements that the manifest states (FORMAT.md §6).
fn require_elements(single: &Single, located: &Located<'_>) -> Result<()> {
    match single.facts.elements {
        Some(elements) if elements.bytes() != located.value.len() => Err(wrong(
            single,
            located,
            format!("a value of {} bytes, {elements}", elements.bytes()),
            located.value.len().to_string(),
        )),
        _ => Ok(()),
    }
}

fn require_counts(single: &Single, records: u64, dropped: u64) -> Result<()> {
    if (records, dropped) != (single.facts.records, single.facts.dropped) {
        return Err(Error::damaged(
            &single.path.join(MANIFEST),
            SIZE as u64,
            format!("{records} records and {dropped} dropped, as in the data files"),
            format!("{} and {}", single.facts.records, single.facts.dropped),
        ));
    }
    Ok(())
}

fn unreachable(single: &Single, located: &Located<'_>) -> Error {
    wrong(single, located, "a record that its key leads to".into(), "a record that its key does not lead to".into())
}

fn wrong(single: &Single, located: &Located<'_>, expected: String, found: String) -> Error {
    let file = match &single.engine {
        Engine::Slots(slots) => &slots.data[located.file],
        Engine::Packed(packed) => &packed.files.files[located.file],
        Engine::Approximate(_, index) => index.file(),
    };
    file.damaged(located.offset, expected, found)
}

/// Compares a filter file with the one that the records give.
struct FilterCheck<'a> {
    filter: &'a SignatureFilter,
    run: Run<'a>,
    starts: Run<'a>,
    group: u64,
    counts: [u64; GROUP as usize],
    remainders: Vec<u64>,
    records: u64,
    word: u64,
    bits: u64,
}

impl<'a> FilterCheck<'a> {
    fn new(filter: &'a SignatureFilter) -> Self {
        FilterCheck {
            filter,
            run: Run::new(filter.file()),
            starts: Run::new(filter.file()),
            group: 0,
            counts: [0; GROUP as usize],
            remainders: Vec::new(),
            records: 0,
            word: 0,
            bits: 0,
        }
    }

    /// Adds the signature of the next record.
    fn add(&mut self, signature: Signature) -> Result<()> {
        let quotient = self.filter.quotient(signature);
        while self.group < quotient / GROUP {
            self.end_group()?;
        }
        self.counts[(quotient % GROUP) as usize] += 1;
        self.remainders.push(self.filter.remainder(signature));
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        self.start()?;
        for i in 0..GROUP as usize {
            for _ in 0..std::mem::take(&mut self.counts[i]) {
                self.bit(1)?;
            }
            self.bit(0)?;
        }
        self.records += self.remainders.len() as u64;
        for remainder in std::mem::take(&mut self.remainders) {
            for i in 0..self.filter.facts().bits {
                self.bit(remainder >> i & 1)?;
            }
        }
        self.group += 1;
        Ok(())
    }

    /// Compares the start of the group.
    fn start(&mut self) -> Result<()> {
        let (page, entry) = (self.filter.first_start() + self.group / STARTS, self.group % STARTS);
        let found = u32_at(self.starts.pages(page, 1)?, entry as usize * 4);
        if found != Some(self.records as u32) {
            return Err(self.wrong(page * SIZE as u64 + entry * 4));
        }
        Ok(())
    }

    fn bit(&mut self, bit: u64) -> Result<()> {
        self.word |= bit << (self.bits % 64);
        self.bits += 1;
        if self.bits % 64 == 0 {
            self.end_word()?;
        }
        Ok(())
    }

    /// Compares a word.
    fn end_word(&mut self) -> Result<()> {
        let index = (self.bits - 1) / 64;
        let (page, entry) = (1 + index / WORDS, index % WORDS);
        if page >= self.filter.first_start() || u64_at(self.run.pages(page, 1)?, entry as usize * 8) != Some(self.word)
        {
            return Err(self.wrong(page * SIZE as u64 + entry * 8));
        }
        self.word = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        let groups = self.filter.facts().quotients.div_ceil(GROUP);
        while self.group < groups {
            self.end_group()?;
        }
        self.start()?;
        if self.bits % 64 != 0 {
            self.end_word()?;
        }
        Ok(())
    }

    fn wrong(&self, at: u64) -> Error {
        self.filter.file().damaged(at, "the filter of the records", "another")
    }
}
