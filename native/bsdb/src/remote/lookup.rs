//! Lookups: all steps that need no pages, then one wave of requests for each that does.

use bytes::Bytes;

use super::file::{fetch_all, Want};
use super::Place;
use crate::error::Result;
use crate::format::page::SIZE;
use crate::hash::signature::Signature;
use crate::layout::{Outcome, Place as At, Scratch, Work};
use crate::memory;
use crate::shards::Shards;
use crate::single::{Engine, Found, Single, Step};

/// Bytes of the values that are looked up at once, at most, unless one is longer; and keys.
const BATCH_BYTES: u64 = 64 << 20;
const MOST: u64 = 4096;

/// A key under way.
pub(crate) struct Ask<'db, 'k> {
    single: &'db Single,
    key: &'k [u8],
    signature: Signature,
    step: Step,
}

impl<'db, 'k> Ask<'db, 'k> {
    /// A key at its first step.
    fn new(shards: &'db Shards, key: &'k [u8]) -> Result<Self> {
        let single = shards.single_of(key)?;
        let signature = single.signature(key);
        Ok(Ask { single, key, signature, step: single.step(key, signature)? })
    }

    /// A key at a later step.
    pub(crate) fn at(single: &'db Single, key: &'k [u8], signature: Signature, step: Step) -> Self {
        Ask { single, key, signature, step }
    }

    /// The page of the index that the step needs.
    fn index(&self) -> Option<Want<'db>> {
        let Step::Slot(slot) = self.step else { return None };
        let (file, first) = self.single.index_page(slot);
        Some(Want { file, first, count: 1 })
    }

    /// Goes on with the page of the index: to the place of the record, or to the value.
    fn indexed(&mut self, page: &[u8]) -> Result<Option<Vec<u8>>> {
        let Step::Slot(slot) = self.step else { return Ok(None) };
        self.step = Step::Absent;
        match &self.single.engine {
            Engine::Slots(slots) => {
                self.step = Step::Place(self.single.address(slots, slot, page)?);
                Ok(None)
            }
            Engine::Approximate(_, index) => {
                let range = index.value(slot, page)?;
                memory::copy(&page[range], index.file().path()).map(Some)
            }
            Engine::Packed(_) => Ok(None),
        }
    }

    /// The pages of the record.
    fn data(&self) -> Option<Want<'db>> {
        let Step::Place(place) = &self.step else { return None };
        Some(Want { file: self.single.data_file(place), first: place.first, count: place.count })
    }

    /// Searches in the pages of the record; stays at its place if it needs more of them.
    fn searched(&mut self, pages: &[u8], work: &mut Work) -> Result<Option<Vec<u8>>> {
        let Step::Place(place) = self.step else { return Ok(None) };
        self.step = Step::Absent;
        let file = self.single.data_file(&place);
        Ok(match self.single.search(&place, pages, self.key, self.signature, work)? {
            Outcome::Absent => None,
            Outcome::Pages(range) => Some(memory::copy(&pages[range], file.path())?),
            Outcome::Raw(range) if range == (0..work.raw.len()) => Some(std::mem::take(&mut work.raw)),
            Outcome::Raw(range) => Some(memory::copy(&work.raw[range], file.path())?),
            Outcome::More(count) => {
                let left = (file.pages() - 1).saturating_sub(place.first);
                if place.count >= left {
                    let at = place.first * SIZE as u64 + place.at as u64;
                    return Err(file.damaged(at, "a record that ends in its file", format!("{left} pages of it")));
                }
                self.step = Step::Place(At { count: count.clamp(place.count + 1, left), ..place });
                None
            }
        })
    }
}

/// The value of a key.
pub(crate) async fn one(shards: &Shards, key: &[u8]) -> Result<Option<Vec<u8>>> {
    let mut ask = Ask::new(shards, key)?;
    if let Some(want) = ask.index() {
        let page = fetch(want).await?;
        if let Some(value) = ask.indexed(&page)? {
            return Ok(Some(value));
        }
    }
    while let Some(want) = ask.data() {
        let pages = fetch(want).await?;
        if let Some(value) = ask.searched(&pages, &mut Work::default())? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

async fn fetch(want: Want<'_>) -> Result<Bytes> {
    let Want { file, first, count } = want;
    file.require(first, count)?;
    match file.remote() {
        Some(remote) => remote.pages(remote.place().live()?, first, count).await,
        None => Ok(file.load(first, count, &mut Default::default())?.bytes().to_vec().into()),
    }
}

/// The value of a key if all pages that it takes are in memory; otherwise the outer None.
pub(crate) fn at_hand(shards: &Shards, key: &[u8]) -> Result<Option<Option<Vec<u8>>>> {
    let mut ask = Ask::new(shards, key)?;
    let cached = |want: Want<'_>| {
        want.file.require(want.first, want.count)?;
        match want.file.remote() {
            Some(remote) => remote.cached(remote.place().live()?, want.first, want.count),
            None => Ok(None),
        }
    };
    if let Some(want) = ask.index() {
        let Some(page) = cached(want)? else { return Ok(None) };
        if let Some(value) = ask.indexed(&page)? {
            return Ok(Some(Some(value)));
        }
    }
    while let Some(want) = ask.data() {
        let Some(pages) = cached(want)? else { return Ok(None) };
        if let Some(value) = ask.searched(&pages, &mut Work::default())? {
            return Ok(Some(Some(value)));
        }
    }
    Ok(Some(None))
}

/// The values of keys, in order.
async fn many(place: &Place, mut asks: Vec<Ask<'_, '_>>) -> Result<Vec<Option<Vec<u8>>>> {
    let mut values = memory::with_capacity(asks.len(), place.path())?;
    values.resize_with(asks.len(), || None);
    let wants: Vec<_> = asks.iter().map(Ask::index).collect();
    if wants.iter().any(Option::is_some) {
        let pages = fetch_all(place, &wants).await?;
        for ((ask, value), page) in asks.iter_mut().zip(&mut values).zip(&pages) {
            if let Some(page) = page {
                *value = ask.indexed(page)?;
            }
        }
    }
    loop {
        let wants: Vec<_> = asks.iter().map(Ask::data).collect();
        if wants.iter().all(Option::is_none) {
            return Ok(values);
        }
        let pages = fetch_all(place, &wants).await?;
        let mut work = Work::default();
        for ((ask, value), pages) in asks.iter_mut().zip(&mut values).zip(&pages) {
            if let Some(pages) = pages {
                *value = ask.searched(pages, &mut work)?;
            }
        }
    }
}

/// How many keys are looked up at once.
fn at_once(shards: &Shards) -> usize {
    let longest = shards.held().map(|single| single.facts.longest_value).max().unwrap_or(0);
    (BATCH_BYTES / (longest + 2 * SIZE as u64)).clamp(16, MOST) as usize
}

/// The values of any number of keys, in order.
pub(crate) async fn all<K: AsRef<[u8]> + Sync>(
    shards: &Shards,
    place: &Place,
    keys: &[K],
) -> Result<Vec<Option<Vec<u8>>>> {
    let mut values = memory::with_capacity(keys.len(), place.path())?;
    for keys in keys.chunks(at_once(shards)) {
        let asks = keys.iter().map(|key| Ask::new(shards, key.as_ref())).collect::<Result<_>>()?;
        values.append(&mut many(place, asks).await?);
    }
    Ok(values)
}

/// Looks keys up and passes each answer on, in order, as [`batch::each`](crate::batch::each) does.
pub(crate) fn each<'db, K, F>(
    shards: &'db Shards,
    place: &Place,
    keys: &[K],
    scratch: &mut Scratch,
    mut answer: F,
) -> Result<()>
where
    K: AsRef<[u8]>,
    F: FnMut(usize, Option<Found<'db>>, &Scratch) -> Result<()>,
{
    let at_once = at_once(shards);
    for (i, keys) in keys.chunks(at_once).enumerate() {
        let asks = keys.iter().map(|key| Ask::new(shards, key.as_ref())).collect::<Result<_>>()?;
        answered(place, asks, i * at_once, scratch, &mut answer)?;
    }
    Ok(())
}

/// Passes the values of keys on, in order. `base` is the number of the first.
pub(crate) fn answered<'db, F>(
    place: &Place,
    asks: Vec<Ask<'db, '_>>,
    base: usize,
    scratch: &mut Scratch,
    answer: &mut F,
) -> Result<()>
where
    F: FnMut(usize, Option<Found<'db>>, &Scratch) -> Result<()>,
{
    for (i, value) in (base..).zip(place.wait(many(place, asks))?) {
        let found = value.map(|value| {
            scratch.work.raw = value;
            Found::Raw(0..scratch.work.raw.len())
        });
        answer(i, found, scratch)?;
    }
    Ok(())
}
