//! The data files of the layouts blocked, compact and compressed (FORMAT.md §4), which are written in the order of the
//! records, and the addresses of these (§3).

use std::ops::Range;

use super::assembly::Context;
use super::blocks::Compressor;
use super::control::Control;
use super::output::{Finished, OutputFile};
use super::passes::Passes;
use super::record::Record;
use crate::error::{Error, Result};
use crate::format::address::detail_bits;
use crate::format::block::{self, MAX_COMPRESSED};
use crate::format::facts::Layout;
use crate::format::frame::Kind;
use crate::format::page::PAYLOAD;
use crate::hash::signature::Signature;
use crate::memory;

/// Byte offsets of a stripe: so many are written to one data file before the next one has its turn.
pub(crate) const STRIPE: u64 = 4 << 20;

/// Raw bytes that are compressed together.
const GROUP: usize = 1 << 18;

/// Bytes of a value that are written at once.
const PIECE: usize = 4 << 20;

/// Is told of every record, in order: its signature, key and address.
pub(crate) type Placed<'a> = dyn FnMut(Signature, &[u8], u64) -> Result<()> + 'a;

/// The bits of the detail of an address.
pub(crate) fn detail(layout: Layout, block: u64) -> u32 {
    detail_bits(if layout == Layout::Compressed { block } else { 0 })
}

/// Writes the data files.
pub(crate) struct DataWriter {
    files: DataFiles,
    control: Control,
    blocked: bool,
    /// What the layout compressed has in addition.
    groups: Option<Groups>,
}

impl DataWriter {
    /// Creates the files of a database whose blocks are compressed with this dictionary.
    pub(crate) fn new(context: &Context, dictionary: Option<&[u8]>) -> Result<DataWriter> {
        let options = &context.options;
        let groups = match options.layout {
            Layout::Compressed => Some(Groups::new(context, dictionary)?),
            _ => None,
        };
        Ok(DataWriter {
            files: DataFiles::create(context)?,
            control: context.control.clone(),
            blocked: options.layout == Layout::Blocked,
            groups,
        })
    }

    /// Writes a record, now or with later ones.
    #[inline]
    pub(crate) fn add(&mut self, record: &Record<'_>, placed: &mut Placed<'_>) -> Result<()> {
        self.control.check()?;
        match &mut self.groups {
            None => {
                let address = self.plain(record)?;
                placed(record.signature, record.key, address)
            }
            Some(groups) if record.header().record() > MAX_COMPRESSED => {
                groups.write(&mut self.files, placed)?;
                let address = self.store(record)?;
                placed(record.signature, record.key, address)
            }
            Some(groups) => groups.add(record, &mut self.files, placed),
        }
    }

    /// Appends a record as it is.
    fn plain(&mut self, record: &Record<'_>) -> Result<u64> {
        let length = record.header().record();
        let mut file = self.files.next();
        while self.blocked && length > file.room() as u64 && file.room() < PAYLOAD {
            file.pad()?;
            file = self.files.next();
        }
        let span = length.saturating_sub(file.room() as u64).div_ceil(PAYLOAD as u64);
        let address = self.files.address(span)?;
        put(self.files.current(), record, &self.control)?;
        self.files.wrote();
        if self.blocked && length > PAYLOAD as u64 {
            self.files.current().pad()?;
        }
        Ok(address)
    }

    /// Appends a record as a block of its own that is not compressed.
    fn store(&mut self, record: &Record<'_>) -> Result<u64> {
        self.files.next();
        let address = self.files.address(0)?;
        let file = self.files.current();
        let mut first = record.header().record() << 1 | 1;
        while first >= 0x80 {
            file.put(&[first as u8 | 0x80])?;
            first >>= 7;
        }
        file.put(&[first as u8])?;
        put(file, record, &self.control)?;
        self.files.wrote();
        Ok(address)
    }

    /// Writes what is left. Returns the files by number, and `zstd.longest`.
    pub(crate) fn finish(mut self, placed: &mut Placed<'_>) -> Result<(Vec<Finished>, u64)> {
        let mut longest = 0;
        if let Some(mut groups) = self.groups {
            groups.write(&mut self.files, placed)?;
            longest = groups.longest;
        }
        let files = self.files.files.into_iter().map(|(file, end)| file.finish(Some(end)));
        Ok((files.collect::<Result<_>>()?, longest))
    }
}

fn put(file: &mut OutputFile, record: &Record<'_>, control: &Control) -> Result<()> {
    let header = record.header();
    file.put(&header.encode()[..header.size])?;
    file.put(record.key)?;
    if record.value.len() <= PIECE {
        return file.put(record.value);
    }
    record.value.chunks(PIECE).try_for_each(|piece| control.check().and_then(|()| file.put(piece)))
}

/// The files, which are filled in turn.
struct DataFiles {
    /// Each with the byte offset where its last record or block ends.
    files: Vec<(OutputFile, u64)>,
    current: usize,
    stripe_end: u64,
    detail_bits: u32,
}

impl DataFiles {
    fn create(context: &Context) -> Result<DataFiles> {
        let options = &context.options;
        let create = |number| {
            let file =
                OutputFile::create(&context.directory, Kind::Data, number)?.with_threads(context.options.threads);
            let end = file.position();
            Ok((file, end))
        };
        Ok(DataFiles {
            files: (0..options.data_files).map(create).collect::<Result<_>>()?,
            current: 0,
            stripe_end: STRIPE,
            detail_bits: detail(options.layout, options.block),
        })
    }

    /// Chooses the file of the next record or block.
    #[inline]
    fn next(&mut self) -> &mut OutputFile {
        if self.files.len() > 1 {
            while self.files[self.current].0.position() >= self.stripe_end {
                self.current += 1;
                if self.current == self.files.len() {
                    self.current = 0;
                    self.stripe_end += STRIPE;
                }
            }
        }
        self.current()
    }

    /// The file that was chosen last.
    #[inline]
    fn current(&mut self) -> &mut OutputFile {
        &mut self.files[self.current].0
    }

    /// The address of what comes next in the current file.
    fn address(&self, detail: u64) -> Result<u64> {
        let file = &self.files[self.current].0;
        let most = 1 << (56 - self.detail_bits);
        if file.position() >= most {
            return Err(Error::Argument(format!(
                "{}: no address leads beyond byte {most} of a data file; build with more data files, or with shards",
                file.path().display()
            )));
        }
        let detail = detail.min((1 << self.detail_bits) - 1);
        Ok((self.current as u64) << 56 | file.position() << self.detail_bits | detail)
    }

    /// Notes where a record or block ends.
    #[inline]
    fn wrote(&mut self) {
        let (file, end) = &mut self.files[self.current];
        *end = file.position();
    }
}

/// Records whose blocks were compressed together.
#[derive(Default)]
struct Group {
    raw: Vec<u8>,
    /// Where each block ends; the last one may have begun without an end.
    ends: Vec<usize>,
    records: Vec<Grouped>,
}

/// A record in a group.
struct Grouped {
    signature: Signature,
    start: usize,
    key: Range<usize>,
}

impl Group {
    fn end(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn end_block(&mut self) {
        if self.raw.len() > self.end() {
            self.ends.push(self.raw.len());
        }
    }
}

/// Collects records in blocks, and compresses them on several threads.
struct Groups {
    context: Context,
    compressor: Compressor,
    block: usize,
    /// The last one takes records.
    groups: Vec<Group>,
    /// Raw bytes of those before it, and how many there may be.
    held: usize,
    most: usize,
    longest: u64,
}

impl Groups {
    fn new(context: &Context, dictionary: Option<&[u8]>) -> Result<Groups> {
        let options = &context.options;
        let memory = usize::try_from(options.memory / 8).unwrap_or(usize::MAX);
        let most = if options.threads > 1 { 4 * options.threads * GROUP } else { GROUP };
        Ok(Groups {
            compressor: Compressor::new(options.level, dictionary)?,
            block: options.block as usize,
            groups: vec![Group::default()],
            held: 0,
            most: most.min(memory).max(GROUP),
            longest: 0,
            context: context.clone(),
        })
    }

    fn add(&mut self, record: &Record<'_>, files: &mut DataFiles, placed: &mut Placed<'_>) -> Result<()> {
        let header = record.header();
        let length = header.record() as usize;
        if let Some(group) = self.groups.last_mut() {
            let begun = group.raw.len() - group.end();
            if begun > 0 && begun + length > self.block {
                group.end_block();
                if group.raw.len() >= GROUP {
                    self.held += group.raw.len();
                    if self.held >= self.most {
                        self.write(files, placed)?;
                    } else {
                        self.groups.push(Group::default());
                    }
                }
            }
        }
        if let Some(group) = self.groups.last_mut() {
            let path = &self.context.directory;
            memory::reserve(&mut group.raw, length, path)?;
            memory::reserve(&mut group.records, 1, path)?;
            let start = group.raw.len();
            let key = start + header.size..start + header.size + header.key;
            group.records.push(Grouped { signature: record.signature, start, key });
            group.raw.extend_from_slice(&header.encode()[..header.size]);
            group.raw.extend_from_slice(record.key);
            group.raw.extend_from_slice(record.value);
        }
        Ok(())
    }

    /// Compresses and writes all groups, and begins another one.
    fn write(&mut self, files: &mut DataFiles, placed: &mut Placed<'_>) -> Result<()> {
        let mut groups = std::mem::take(&mut self.groups);
        groups.iter_mut().for_each(Group::end_block);
        let options = &self.context.options;
        let passes = Passes { control: &self.context.control, threads: options.threads, memory: options.memory };
        let mut longest = self.longest;
        let compress = |number: usize| {
            let group = &groups[number];
            let mut bytes = memory::with_capacity(group.raw.len() / 2, &self.context.directory)?;
            let mut ends = Vec::with_capacity(group.ends.len());
            let mut start = 0;
            for &end in &group.ends {
                self.compressor.block(&group.raw[start..end], &mut bytes)?;
                ends.push(bytes.len());
                start = end;
            }
            Ok((bytes, ends))
        };
        let take = |number: usize, (bytes, ends): (Vec<u8>, Vec<usize>)| {
            let group: &Group = &groups[number];
            let mut records = group.records.iter().peekable();
            let (mut raw_start, mut start) = (0, 0);
            for (&raw_end, &end) in group.ends.iter().zip(&ends) {
                let written = &bytes[start..end];
                files.next();
                let address = files.address(0)?;
                files.current().put(written)?;
                files.wrote();
                if raw_end - raw_start <= self.block {
                    let stored = block::parse(written).ok().flatten().map_or(0, |block| block.stored);
                    longest = longest.max(block::MAX as u64 + stored);
                }
                while let Some(record) = records.next_if(|record| record.start < raw_end) {
                    let detail = (record.start - raw_start) as u64;
                    placed(record.signature, &group.raw[record.key.clone()], address | detail)?;
                }
                (raw_start, start) = (raw_end, end);
            }
            Ok(())
        };
        passes.run(groups.len(), |_| 0, compress, take)?;
        self.longest = longest;
        // The buffers are used again, unless a long record made one large.
        groups.truncate(1);
        for group in &mut groups {
            group.ends.clear();
            group.records.clear();
            group.raw.clear();
            group.raw.shrink_to(4 * GROUP);
        }
        self.groups = groups;
        self.held = 0;
        Ok(())
    }
}
