//! One database: a directory with a manifest of its own, looked up by signature.

use std::ops::Range;
use std::path::PathBuf;

use zstd_safe::DDict;

use crate::error::{Error, Result};
use crate::file::directory::Files;
use crate::file::origin::Origin;
use crate::file::paged::{Access, Loaded, PagedFile};
use crate::format::address::Address;
use crate::format::facts::{Facts, Layout};
use crate::format::frame::Id;
use crate::format::page::SIZE;
use crate::format::record::MAX_KEY;
use crate::format::u64_at;
use crate::hash::signature::{Signature, SignatureFunction};
use crate::hash::HashFunction;
use crate::index::bins::BinIndex;
use crate::index::filter::SignatureFilter;
use crate::index::slots::SlotIndex;
use crate::layout::packed::{self, PackedFiles, Sighted, Wanted};
use crate::layout::{compressed, plain, Outcome, Place, Scratch, Work};
use crate::options::Options;
use crate::order::tree::OrderTree;
use crate::os::direct::Pages;

/// A value in so many pages is not long.
const SHORT_PAGES: u64 = 16;

/// A database or one shard. Thread-safe.
pub(crate) struct Single {
    pub(crate) path: PathBuf,
    pub(crate) facts: Facts,
    function: SignatureFunction,
    pub(crate) engine: Engine,
    pub(crate) dictionary: Option<DDict<'static>>,
    pub(crate) order: Option<OrderTree>,
    pub(crate) manifest_bytes: u64,
}

/// How lookups go.
pub(crate) enum Engine {
    /// Key → slot → address → record.
    Slots(Slots),
    /// Key → slot → value.
    Approximate(HashFunction, SlotIndex),
    /// Key → bin → records.
    Packed(Packed),
}

pub(crate) struct Slots {
    pub(crate) hash: HashFunction,
    pub(crate) index: SlotIndex,
    pub(crate) data: Vec<PagedFile>,
    detail_bits: u32,
    /// Bytes of a block that one read fetches; 0 if records are not compressed.
    longest: u64,
}

pub(crate) struct Packed {
    pub(crate) bins: BinIndex,
    pub(crate) files: PackedFiles,
    pub(crate) filter: Option<SignatureFilter>,
    pub(crate) compressed: bool,
    /// Whether most records can be found at a glance: they are mapped and not compressed.
    plain: bool,
}

impl Packed {
    /// The bin of a signature, if it lies in one verified page.
    #[inline(always)]
    pub(crate) fn sight(&self, signature: Signature) -> Option<Sighted<'_>> {
        let bin = self.bins.glance(self.bins.bin(signature.high))?;
        let (file, page) = self.files.locate(bin.page);
        Some(Sighted::of(file.known_page(page)?, &bin, signature))
    }
}

/// Where a value was found.
pub(crate) enum Found<'db> {
    /// In the mapped file.
    Mapped(&'db [u8]),
    /// In the pages of the index or of the data, or in `Work::raw`.
    Index(Range<usize>),
    Data(Range<usize>),
    Raw(Range<usize>),
}

impl<'db> Found<'db> {
    /// The bytes.
    #[inline(always)]
    pub(crate) fn bytes<'s>(&'s self, scratch: &'s Scratch) -> &'s [u8]
    where
        'db: 's,
    {
        match self {
            Found::Mapped(bytes) => bytes,
            Found::Index(range) => &scratch.index.bytes()[range.clone()],
            Found::Data(range) => &scratch.data.bytes()[range.clone()],
            Found::Raw(range) => &scratch.work.raw[range.clone()],
        }
    }
}

/// What is known of a key's record before its pages are read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// It does not exist.
    Absent,
    /// Its address or value is in the index.
    Slot(u64),
    /// It can only be there.
    Place(Place),
}

impl Single {
    /// Opens the files of a manifest.
    pub(crate) fn open(
        origin: &Origin,
        id: Id,
        facts: Facts,
        options: &Options,
        manifest_bytes: u64,
    ) -> Result<Single> {
        let path = origin.path();
        let files = Files::open(origin, &facts, &id, options.access, options.verify)?;
        let dictionary = match &files.dictionary {
            Some(bytes) => Some(
                DDict::try_create(bytes)
                    .ok_or_else(|| Error::Impossible(format!("{}: ZSTD refuses the dictionary", path.display())))?,
            ),
            None => None,
        };
        let order = match (files.order, &facts.order) {
            (Some(file), Some(order)) => Some(OrderTree::open(file, order, facts.records)?),
            _ => None,
        };
        let hash = files.hash.map(|file| HashFunction::open(file, &facts)).transpose()?;
        #[cfg(feature = "remote")]
        let is_local = origin.place().is_none();
        #[cfg(not(feature = "remote"))]
        let is_local = true;
        let engine = match (facts.layout, hash) {
            (Layout::Packed | Layout::PackedCompressed, _) => {
                let data = PackedFiles::new(files.data);
                let bins = BinIndex::open(files.index, &facts, data.pages())?;
                if !is_local {
                    // It is in memory already, and lookups need not wait for it.
                    bins.prepare()?;
                }
                Engine::Packed(Packed {
                    bins,
                    files: data,
                    filter: match (files.filter, facts.filter) {
                        (Some(file), Some(filter)) => Some(SignatureFilter::open(file, &facts, filter)?),
                        _ => None,
                    },
                    compressed: facts.layout.is_compressed(),
                    plain: options.access == Access::Mapped && is_local && !facts.layout.is_compressed(),
                })
            }
            (Layout::None, Some(hash)) => {
                Engine::Approximate(hash, SlotIndex::open(files.index, facts.width + 1, facts.records)?)
            }
            (_, Some(hash)) => Engine::Slots(Slots {
                hash,
                index: SlotIndex::open(files.index, 8, facts.records)?,
                data: files.data,
                detail_bits: facts.detail_bits(),
                longest: if facts.layout.is_compressed() { facts.longest_block.max(64) } else { 0 },
            }),
            (_, None) => return Err(Error::Impossible(format!("{}: no hash function", path.display()))),
        };
        let function = SignatureFunction::of(&facts);
        Ok(Single { path: path.to_owned(), facts, function, engine, dictionary, order, manifest_bytes })
    }

    #[inline(always)]
    pub(crate) fn signature(&self, key: &[u8]) -> Signature {
        self.function.sign(key)
    }

    /// Prefetches what `step` reads.
    #[inline(always)]
    pub(crate) fn prefetch_step(&self, signature: Signature) {
        match &self.engine {
            Engine::Slots(slots) => slots.hash.prefetch(signature),
            Engine::Approximate(hash, _) => hash.prefetch(signature),
            Engine::Packed(packed) => {
                packed.bins.prefetch(signature.high);
                if let Some(filter) = &packed.filter {
                    filter.prefetch(signature);
                }
            }
        }
    }

    /// Finds out where a key's record can be.
    #[inline(always)]
    pub(crate) fn step(&self, key: &[u8], signature: Signature) -> Result<Step> {
        if key.len() > MAX_KEY {
            return Ok(Step::Absent);
        }
        match &self.engine {
            Engine::Slots(Slots { hash, .. }) | Engine::Approximate(hash, _) => {
                Ok(hash.slot(signature)?.map_or(Step::Absent, Step::Slot))
            }
            Engine::Packed(packed) => {
                if let Some(filter) = &packed.filter {
                    if !filter.may_hold(signature)? {
                        return Ok(Step::Absent);
                    }
                }
                if packed.files.pages() == 0 {
                    return Ok(Step::Absent);
                }
                let bin = packed.bins.place(packed.bins.bin(signature.high))?;
                Ok(Step::Place(packed.files.place(&bin)))
            }
        }
    }

    /// Prefetches what the step after a step reads.
    #[inline(always)]
    pub(crate) fn prefetch_next(&self, step: &Step) {
        match (step, &self.engine) {
            (Step::Slot(slot), Engine::Slots(Slots { index, .. }) | Engine::Approximate(_, index)) => {
                index.prefetch(*slot);
            }
            (Step::Place(place), Engine::Packed(packed)) => packed.files.prefetch(place),
            (Step::Place(place), Engine::Slots(slots)) => {
                let at = place.first * SIZE as u64 + place.at as u64;
                slots.data[place.file].prefetch(at);
                slots.data[place.file].prefetch(at + 64);
            }
            _ => {}
        }
    }

    /// Prefetches the records of a packed bin, when its directory has arrived.
    #[inline(always)]
    pub(crate) fn prefetch_record(&self, step: &Step) {
        if let (Step::Place(place), Engine::Packed(packed)) = (step, &self.engine) {
            packed.files.prefetch_bin(place);
        }
    }

    /// The page of the index that `address` or `value` needs, for direct reads.
    pub(crate) fn index_page(&self, slot: u64) -> (&PagedFile, u64) {
        match &self.engine {
            Engine::Slots(Slots { index, .. }) | Engine::Approximate(_, index) => (index.file(), index.page(slot)),
            Engine::Packed(packed) => (packed.bins.file(), 1),
        }
    }

    /// The file of a place.
    #[inline(always)]
    pub(crate) fn data_file(&self, place: &Place) -> &PagedFile {
        match &self.engine {
            Engine::Slots(slots) => &slots.data[place.file],
            Engine::Packed(packed) => &packed.files.files[place.file],
            Engine::Approximate(_, index) => index.file(),
        }
    }

    /// The place that a slot's address leads to, given the page of the index.
    #[inline(always)]
    pub(crate) fn address(&self, slots: &Slots, slot: u64, page: &[u8]) -> Result<Place> {
        let word = slots.index.word(slot, page);
        let place = Address::decode(word, slots.detail_bits).and_then(|address| self.place_of(slots, address));
        place.ok_or_else(|| {
            let at = slots.index.page(slot) * SIZE as u64 + slots.index.within(slot) as u64;
            slots.index.file().damaged(at, "the address of a record", format!("{word:016x}"))
        })
    }

    /// The place that an address leads to, if it is in a data file.
    #[inline(always)]
    pub(crate) fn place_of(&self, slots: &Slots, address: Address) -> Option<Place> {
        let file = slots.data.get(usize::from(address.file))?;
        if address.offset < SIZE as u64 {
            return None;
        }
        Some(if slots.longest == 0 {
            plain::place(address)
        } else {
            compressed::place(address, slots.longest, file.pages())
        })
    }

    /// Searches for a key in the pages of a place.
    #[inline(always)]
    pub(crate) fn search(
        &self,
        place: &Place,
        pages: &[u8],
        key: &[u8],
        signature: Signature,
        work: &mut Work,
    ) -> Result<Outcome> {
        let file = self.data_file(place);
        match &self.engine {
            Engine::Packed(packed) => {
                let wanted = Wanted {
                    key,
                    signature,
                    bins: packed.bins.bins(),
                    compressed: packed.compressed,
                    dictionary: self.dictionary.as_ref(),
                };
                packed::search(file, place, pages, &wanted, work)
            }
            Engine::Slots(slots) if slots.longest > 0 => {
                compressed::search(file, place, pages, key, self.dictionary.as_ref(), work)
            }
            _ => plain::search(file, place, pages, key, work),
        }
    }

    /// Finishes a lookup from a place: loads pages until they suffice.
    #[inline(always)]
    pub(crate) fn finish<'db>(
        &'db self,
        place: &Place,
        key: &[u8],
        signature: Signature,
        data: &mut Pages,
        work: &mut Work,
    ) -> Result<Option<Found<'db>>> {
        let file = self.data_file(place);
        let mut place = *place;
        loop {
            let loaded = file.load(place.first, place.count, data)?;
            match self.search(&place, loaded.bytes(), key, signature, work)? {
                Outcome::Absent => return Ok(None),
                Outcome::Raw(range) => return Ok(Some(Found::Raw(range))),
                Outcome::Pages(range) => {
                    return Ok(Some(match loaded {
                        Loaded::Mapped(bytes) => Found::Mapped(&bytes[range]),
                        Loaded::Buffer(_) => Found::Data(range),
                    }))
                }
                Outcome::More(count) => {
                    let left = (file.pages() - 1).saturating_sub(place.first);
                    if place.count >= left {
                        let at = place.first * SIZE as u64 + place.at as u64;
                        return Err(file.damaged(at, "a record that ends in its file", format!("{left} pages of it")));
                    }
                    place.count = count.clamp(place.count + 1, left);
                }
            }
        }
    }

    /// The index of bins and the data files, if most records can be found at a glance.
    #[inline(always)]
    pub(crate) fn plainly_packed(&self) -> Option<&Packed> {
        match &self.engine {
            Engine::Packed(packed) if packed.plain => Some(packed),
            _ => None,
        }
    }

    /// The bin of a key, if it lies in one mapped page, which was verified before.
    #[inline(always)]
    pub(crate) fn sight(&self, key: &[u8]) -> Option<Sighted<'_>> {
        self.plainly_packed()?.sight(self.signature(key))
    }

    /// Looks a key up in the usual case: its bin lies in one mapped page, which was verified before. None in any
    /// other case. Does the same as `find`, in a third of the instructions.
    #[inline(always)]
    pub(crate) fn glance(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        let sighted = self.sight(key)?;
        sighted.prefetch();
        sighted.prefetch_guess();
        sighted.prefetch_records();
        sighted.find(key)
    }

    /// Looks a key up if that reads only mapped pages that were read before, and no long value; otherwise the outer
    /// None.
    pub(crate) fn find_at_hand<'db>(
        &'db self,
        key: &[u8],
        scratch: &mut Scratch,
    ) -> Result<Option<Option<Found<'db>>>> {
        let signature = self.signature(key);
        let mut step = match &self.engine {
            Engine::Slots(Slots { hash, .. }) | Engine::Approximate(hash, _) if hash.is_known(signature) => {
                self.step(key, signature)?
            }
            // The filter may not be at hand, and the bin does without.
            Engine::Packed(packed) if packed.bins.is_known() && packed.files.pages() > 0 && key.len() <= MAX_KEY => {
                Step::Place(packed.files.place(&packed.bins.place(packed.bins.bin(signature.high))?))
            }
            _ => return Ok(None),
        };
        if let Step::Slot(slot) = step {
            let (file, number) = self.index_page(slot);
            let Some(page) = file.known_page(number) else { return Ok(None) };
            if let Engine::Slots(slots) = &self.engine {
                step = Step::Place(self.address(slots, slot, page)?);
            }
        }
        if let Step::Place(place) = &step {
            let long = place.count > SHORT_PAGES
                || self.facts.layout.is_compressed() && self.facts.longest_value > SHORT_PAGES * SIZE as u64;
            if long || !self.data_file(place).is_known(place.first, place.count) {
                return Ok(None);
            }
        }
        self.complete(step, key, signature, scratch).map(Some)
    }

    /// Looks a key up.
    #[inline]
    pub(crate) fn find<'db>(&'db self, key: &[u8], scratch: &mut Scratch) -> Result<Option<Found<'db>>> {
        let signature = self.signature(key);
        let step = self.step(key, signature)?;
        self.complete(step, key, signature, scratch)
    }

    /// Looks a key up from a step on.
    #[inline(always)]
    pub(crate) fn complete<'db>(
        &'db self,
        step: Step,
        key: &[u8],
        signature: Signature,
        scratch: &mut Scratch,
    ) -> Result<Option<Found<'db>>> {
        match (step, &self.engine) {
            (Step::Absent, _) => Ok(None),
            (Step::Place(place), _) => {
                self.prefetch_next(&step);
                self.finish(&place, key, signature, &mut scratch.data, &mut scratch.work)
            }
            (Step::Slot(slot), Engine::Slots(slots)) => {
                let place = {
                    let page = slots.index.file().load(slots.index.page(slot), 1, &mut scratch.index)?;
                    self.address(slots, slot, page.bytes())?
                };
                self.finish(&place, key, signature, &mut scratch.data, &mut scratch.work)
            }
            (Step::Slot(slot), Engine::Approximate(_, index)) => {
                let page = index.file().load(index.page(slot), 1, &mut scratch.index)?;
                let range = index.value(slot, page.bytes())?;
                Ok(Some(match page {
                    Loaded::Mapped(bytes) => Found::Mapped(&bytes[range]),
                    Loaded::Buffer(_) => Found::Index(range),
                }))
            }
            (Step::Slot(_), Engine::Packed(_)) => Ok(None),
        }
    }

    /// The address in the index that a signature leads to, if there is one; 0 in the packed layout.
    pub(crate) fn indexed_address(&self, signature: Signature, buffer: &mut Pages) -> Result<Option<u64>> {
        let Engine::Slots(slots) = &self.engine else {
            return Ok(Some(0));
        };
        let Some(slot) = slots.hash.slot(signature)? else {
            return Ok(None);
        };
        let page = slots.index.file().load(slots.index.page(slot), 1, buffer)?;
        Ok(u64_at(page.bytes(), slots.index.within(slot)))
    }

    /// All files except the manifest.
    pub(crate) fn files(&self) -> Vec<&PagedFile> {
        let mut files: Vec<&PagedFile> = match &self.engine {
            Engine::Slots(slots) => slots.data.iter().chain([slots.hash.file(), slots.index.file()]).collect(),
            Engine::Approximate(hash, index) => vec![hash.file(), index.file()],
            Engine::Packed(packed) => packed
                .files
                .files
                .iter()
                .chain([packed.bins.file()])
                .chain(packed.filter.as_ref().map(SignatureFilter::file))
                .collect(),
        };
        files.extend(self.order.as_ref().map(OrderTree::file));
        files
    }
}
