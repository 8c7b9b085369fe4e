//! Many keys at once: each step of all keys before the next step of any, so that their waits overlap.

use crate::error::{Error, Result};
use crate::file::paged::PagedFile;
use crate::hash::signature::Signature;
use crate::layout::packed::Sighted;
use crate::layout::{Outcome, Scratch};
use crate::order::tree::OrderTree;
use crate::os::direct::{self, Pages, Read, Ring};
#[cfg(feature = "remote")]
use crate::remote::lookup::{self, Ask};
use crate::shards::Shards;
use crate::single::{Engine, Found, Single, Step};

/// Keys whose steps interleave in memory: enough to hide its latency, few enough for the first cache.
const GROUP: usize = 32;

/// Keys whose reads are before the device at once.
const READS: usize = 128;

/// A key under way.
#[derive(Clone, Copy)]
struct State<'db> {
    single: &'db Single,
    signature: Signature,
    step: Step,
}

/// Looks keys up and passes each answer on, in order: its number, the value or None.
pub(crate) fn each<'db, K, F>(shards: &'db Shards, keys: &[K], scratch: &mut Scratch, mut answer: F) -> Result<()>
where
    K: AsRef<[u8]>,
    F: FnMut(usize, Option<Found<'db>>, &Scratch) -> Result<()>,
{
    #[cfg(feature = "remote")]
    if let Some(place) = shards.place() {
        return lookup::each(shards, place, keys, scratch, answer);
    }
    if shards.reads_directly() {
        return shards.with_ring(|mut ring| {
            for (i, keys) in keys.chunks(READS).enumerate() {
                from_device(shards, keys, i * READS, ring.as_deref_mut(), scratch, &mut answer)?;
            }
            Ok(())
        });
    }
    for (i, keys) in keys.chunks(GROUP).enumerate() {
        if shards.is_plainly_packed() {
            at_a_glance(shards, keys, i * GROUP, scratch, &mut answer)?;
        } else {
            in_memory(shards, keys, i * GROUP, scratch, &mut answer)?;
        }
    }
    Ok(())
}

/// Keys of a mapped database in the packed layout without compression.
#[inline]
fn at_a_glance<'db, K, F>(
    shards: &'db Shards,
    keys: &[K],
    base: usize,
    scratch: &mut Scratch,
    answer: &mut F,
) -> Result<()>
where
    K: AsRef<[u8]>,
    F: FnMut(usize, Option<Found<'db>>, &Scratch) -> Result<()>,
{
    let mut sighted: [Option<Sighted<'db>>; GROUP] = [None; GROUP];
    let sighted = &mut sighted[..keys.len()];
    // Keys whose bins take a closer look: many, if records are long and their bins lie in two pages.
    let mut steps = [(Signature::default(), Step::Absent); GROUP];
    for ((sighted, step), key) in sighted.iter_mut().zip(&mut steps).zip(keys) {
        let single = shards.single_of(key.as_ref())?;
        *sighted = single.sight(key.as_ref());
        match sighted {
            Some(sighted) => sighted.prefetch(),
            None => {
                step.0 = single.signature(key.as_ref());
                step.1 = single.step(key.as_ref(), step.0)?;
                single.prefetch_next(&step.1);
            }
        }
    }
    for ((sighted, (_, step)), key) in sighted.iter().zip(&steps).zip(keys) {
        match sighted {
            Some(sighted) => sighted.prefetch_records(),
            None => shards.single_of(key.as_ref())?.prefetch_record(step),
        }
    }
    for (i, ((sighted, (signature, step)), key)) in sighted.iter().zip(&steps).zip(keys).enumerate() {
        let found = match sighted {
            Some(sighted) => match sighted.find(key.as_ref()) {
                Some(found) => found.map(Found::Mapped),
                None => shards.single_of(key.as_ref())?.find(key.as_ref(), scratch)?,
            },
            None => shards.single_of(key.as_ref())?.complete(*step, key.as_ref(), *signature, scratch)?,
        };
        answer(base + i, found, scratch)?;
    }
    Ok(())
}

/// The states of keys before their first step.
fn begin<'db, K: AsRef<[u8]>>(shards: &'db Shards, keys: &[K]) -> Result<Vec<State<'db>>> {
    let mut states = Vec::with_capacity(keys.len());
    for key in keys {
        let single = shards.single_of(key.as_ref())?;
        let signature = single.signature(key.as_ref());
        single.prefetch_step(signature);
        states.push(State { single, signature, step: Step::Absent });
    }
    Ok(states)
}

#[inline]
fn in_memory<'db, K, F>(
    shards: &'db Shards,
    keys: &[K],
    base: usize,
    scratch: &mut Scratch,
    answer: &mut F,
) -> Result<()>
where
    K: AsRef<[u8]>,
    F: FnMut(usize, Option<Found<'db>>, &Scratch) -> Result<()>,
{
    let first = shards.single_of(keys[0].as_ref())?;
    let mut states = [State { single: first, signature: Signature::default(), step: Step::Absent }; GROUP];
    let states = &mut states[..keys.len()];
    for (state, key) in states.iter_mut().zip(keys) {
        state.single = shards.single_of(key.as_ref())?;
        state.signature = state.single.signature(key.as_ref());
        state.single.prefetch_step(state.signature);
    }
    for (state, key) in states.iter_mut().zip(keys) {
        state.step = state.single.step(key.as_ref(), state.signature)?;
        state.single.prefetch_next(&state.step);
    }
    for state in states.iter_mut() {
        if let (Step::Slot(slot), Engine::Slots(slots)) = (state.step, &state.single.engine) {
            let page = slots.index.file().load(slots.index.page(slot), 1, &mut scratch.index)?;
            let place = state.single.address(slots, slot, page.bytes())?;
            state.step = Step::Place(place);
            state.single.prefetch_next(&state.step);
        } else {
            state.single.prefetch_record(&state.step);
        }
    }
    for (i, (state, key)) in states.iter().zip(keys).enumerate() {
        let found = match state.step {
            Step::Place(place) => {
                state.single.finish(&place, key.as_ref(), state.signature, &mut scratch.data, &mut scratch.work)?
            }
            step => state.single.complete(step, key.as_ref(), state.signature, scratch)?,
        };
        answer(base + i, found, scratch)?;
    }
    Ok(())
}

fn from_device<'db, K, F>(
    shards: &'db Shards,
    keys: &[K],
    base: usize,
    mut ring: Option<&mut Ring>,
    scratch: &mut Scratch,
    answer: &mut F,
) -> Result<()>
where
    K: AsRef<[u8]>,
    F: FnMut(usize, Option<Found<'db>>, &Scratch) -> Result<()>,
{
    let mut states = begin(shards, keys)?;
    for (state, key) in states.iter_mut().zip(keys) {
        state.step = state.single.step(key.as_ref(), state.signature)?;
    }
    let index: Vec<Option<Wants<'_>>> = states
        .iter()
        .map(|state| match state.step {
            Step::Slot(slot) => {
                let (file, first) = state.single.index_page(slot);
                Some(Wants { file, first, count: 1 })
            }
            _ => None,
        })
        .collect();
    let index = read(&index, ring.as_deref_mut())?;
    for (state, page) in states.iter_mut().zip(&index) {
        if let (Step::Slot(slot), Engine::Slots(slots), Some(page)) = (state.step, &state.single.engine, page) {
            state.step = Step::Place(state.single.address(slots, slot, page.bytes())?);
        }
    }
    records_from_device(&states, keys, &index, base, ring, scratch, answer)
}

/// The last step of keys: reads their records. `index` has the pages of the index of approximate databases.
fn records_from_device<'db, K, F>(
    states: &[State<'db>],
    keys: &[K],
    index: &[Option<Pages>],
    base: usize,
    ring: Option<&mut Ring>,
    scratch: &mut Scratch,
    answer: &mut F,
) -> Result<()>
where
    K: AsRef<[u8]>,
    F: FnMut(usize, Option<Found<'db>>, &Scratch) -> Result<()>,
{
    let data: Vec<Option<Wants<'_>>> = states
        .iter()
        .map(|state| match state.step {
            Step::Place(place) => {
                Some(Wants { file: state.single.data_file(&place), first: place.first, count: place.count })
            }
            _ => None,
        })
        .collect();
    let mut data = read(&data, ring)?;
    for (i, (state, key)) in states.iter().zip(keys).enumerate() {
        let found = match (state.step, &state.single.engine) {
            (Step::Slot(slot), Engine::Approximate(_, entries)) => {
                // The page was read and verified above.
                let page = index.get(i).and_then(Option::as_ref).map(Pages::bytes).unwrap_or(&[]);
                let range = entries.value(slot, page)?;
                scratch.work.raw.clear();
                scratch.work.raw.extend_from_slice(&page[range.clone()]);
                Some(Found::Raw(0..range.len()))
            }
            (Step::Place(place), _) => {
                if let Some(pages) = &mut data[i] {
                    std::mem::swap(&mut scratch.data, pages);
                }
                let Scratch { data, work, .. } = scratch;
                match state.single.search(&place, data.bytes(), key.as_ref(), state.signature, work)? {
                    Outcome::Absent => None,
                    Outcome::Raw(range) => Some(Found::Raw(range)),
                    Outcome::Pages(range) => Some(Found::Data(range)),
                    Outcome::More(_) => state.single.finish(&place, key.as_ref(), state.signature, data, work)?,
                }
            }
            _ => None,
        };
        answer(base + i, found, scratch)?;
    }
    Ok(())
}

/// A key of the order and where its record is.
pub(crate) struct OrderedKey<'db> {
    pub(crate) single: &'db Single,
    pub(crate) tree: &'db OrderTree,
    pub(crate) key: Vec<u8>,
    /// The value of the key's entry in the leaf.
    pub(crate) place: u64,
    /// The page of the leaf.
    pub(crate) page: u64,
}

/// Passes on the values of keys of the order, in turn. Their records are found by their addresses, or by the keys
/// in the packed layouts.
pub(crate) fn of_order<'db>(
    shards: &'db Shards,
    entries: &[OrderedKey<'db>],
    scratch: &mut Scratch,
    mut answer: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let unfounded = |entry: &OrderedKey<'_>| {
        let found = format!("a key of {} bytes that leads to none", entry.key.len());
        entry.tree.unsound(0, entry.page, "keys that lead to their records", found)
    };
    let keys: Vec<&[u8]> = entries.iter().map(|entry| &entry.key[..]).collect();
    let mut states = Vec::with_capacity(entries.len());
    for entry in entries {
        let single = entry.single;
        let mut state = State { single, signature: Signature::default(), step: Step::Absent };
        if let Engine::Slots(slots) = &single.engine {
            let place = single.place_of(slots, entry.tree.address(entry.place));
            state.step = Step::Place(place.ok_or_else(|| unfounded(entry))?);
        } else {
            state.signature = single.signature(&entry.key);
            single.prefetch_step(state.signature);
        }
        states.push(state);
    }
    for (state, key) in states.iter_mut().zip(&keys) {
        if let Engine::Packed(_) = state.single.engine {
            state.step = state.single.step(key, state.signature)?;
        }
        state.single.prefetch_next(&state.step);
    }
    let mut each = |i: usize, found: Option<Found<'db>>, scratch: &Scratch| match found {
        Some(found) => answer(found.bytes(scratch)),
        None => Err(unfounded(&entries[i])),
    };
    #[cfg(feature = "remote")]
    if let Some(place) = shards.place() {
        let asks = states.iter().zip(&keys).map(|(state, key)| Ask::at(state.single, key, state.signature, state.step));
        return lookup::answered(place, asks.collect(), 0, scratch, &mut each);
    }
    if shards.reads_directly() {
        return shards.with_ring(|ring| records_from_device(&states, &keys, &[], 0, ring, scratch, &mut each));
    }
    for (i, (state, key)) in states.iter().zip(&keys).enumerate() {
        let found = state.single.complete(state.step, key, state.signature, scratch)?;
        each(i, found, scratch)?;
    }
    Ok(())
}

/// Pages to read.
struct Wants<'db> {
    file: &'db PagedFile,
    first: u64,
    count: u64,
}

/// Reads pages of several files at once, and verifies them.
fn read(wants: &[Option<Wants<'_>>], ring: Option<&mut Ring>) -> Result<Vec<Option<Pages>>> {
    let mut buffers: Vec<Option<Pages>> = Vec::with_capacity(wants.len());
    for want in wants {
        let mut pages = None;
        if let Some(want) = want {
            want.file.require(want.first, want.count)?;
            let buffer = pages.insert(Pages::default());
            buffer.resize(want.count as usize * crate::format::page::SIZE, want.file.path())?;
        }
        buffers.push(pages);
    }
    let mut reads = Vec::with_capacity(wants.len());
    let mut files = Vec::with_capacity(wants.len());
    for (want, buffer) in wants.iter().flatten().zip(buffers.iter_mut().flatten()) {
        let offset = want.first * crate::format::page::SIZE as u64;
        match want.file.unmapped() {
            Some(file) => {
                files.push(want.file);
                reads.push(Read { file, offset, to: buffer.bytes_mut() });
            }
            None => {
                let to = buffer.bytes_mut();
                to.copy_from_slice(&want.file.mapped()[offset as usize..][..to.len()]);
            }
        }
    }
    direct::read_all(ring, &mut reads).map_err(|(i, e)| Error::io(files[i].path(), e))?;
    for (want, buffer) in wants.iter().flatten().zip(buffers.iter().flatten()) {
        want.file.verify_read(want.first, buffer.bytes())?;
    }
    Ok(buffers)
}
