//! Puts bins into the pages of data files, and collects their index (FORMAT.md §12).

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::format::frame::Kind;
use crate::format::page::PAYLOAD;
use crate::format::sample::Sample;
use crate::memory;
use crate::write::assembly::Context;
use crate::write::output::{Finished, OutputFile};

/// The most bins that start in a page.
const MOST_BINS: usize = 256;

/// Bytes of an entry of the directory.
const ENTRY: usize = 2;

/// Bytes of the directory of a page in which so many bins start.
const fn directory(bins: usize) -> usize {
    ENTRY * (bins + 2)
}

/// Bins of a group of the index.
const GROUP: u64 = 256;

/// The most pages of all data files: readers in Java keep a byte for each in one array.
const MOST_PAGES: usize = (i32::MAX - 64) as usize;

/// Writes bins into pages. In aligned pages, a bin that fits in a page lies in one page, and the bin after one of
/// several pages starts a page. In spanning pages, bins follow each other without gaps.
pub(super) struct Packer {
    spanning: bool,
    files: Vec<OutputFile>,
    current: usize,
    /// For each bin that starts in the page, where it does among the records, and its filter.
    starts: Vec<(u16, u8)>,
    records: Vec<u8>,
    /// Whether the page begins with the end of a bin of several pages, and must have no other.
    several: bool,
    index: Index,
}

impl Packer {
    /// Creates the data files of a database of so many bins.
    pub(super) fn new(context: &Context, bins: u64, spanning: bool) -> Result<Packer> {
        let files = (0..context.options.data_files.max(1))
            .map(|number| {
                let file = OutputFile::create(&context.directory, Kind::Data, number)?;
                Ok(file.with_threads(context.options.threads))
            })
            .collect::<Result<_>>()?;
        Ok(Packer {
            spanning,
            files,
            current: 0,
            starts: Vec::with_capacity(MOST_BINS),
            records: Vec::with_capacity(PAYLOAD),
            several: false,
            index: Index::new(context, bins)?,
        })
    }

    /// Moves to the file of a range of bins, of which each file gets an equal share. Ranges ascend.
    pub(super) fn enter(&mut self, range: usize, ranges: usize) -> Result<()> {
        while self.current < range * self.files.len() / ranges {
            self.end_file()?;
            self.current += 1;
        }
        Ok(())
    }

    /// Bytes of records that still fit in the page.
    #[inline]
    fn room(&self) -> usize {
        PAYLOAD - directory(self.starts.len()) - self.records.len()
    }

    /// Starts the next bin, whose records have so many bytes.
    #[inline]
    pub(super) fn start(&mut self, length: u64, filter: u8) -> Result<()> {
        // Its entry takes room as well.
        let wanted = if self.spanning { length.min(1) } else { length }.saturating_add(ENTRY as u64);
        let empty = self.starts.is_empty() && self.records.is_empty();
        if self.starts.len() == MOST_BINS || self.several || (self.room() as u64) < wanted && !empty {
            self.end_page(false)?;
        }
        self.starts.push((self.records.len() as u16, filter));
        Ok(())
    }

    /// Appends bytes to the bin that was started last.
    #[inline]
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let mut left = bytes;
        while !left.is_empty() {
            if self.room() == 0 {
                self.end_page(true)?;
                self.several = !self.spanning;
            }
            let (now, rest) = left.split_at(left.len().min(self.room()));
            self.records.extend_from_slice(now);
            left = rest;
        }
        Ok(())
    }

    /// Writes the last page of a file, unless it is empty.
    fn end_file(&mut self) -> Result<()> {
        if self.starts.is_empty() && self.records.is_empty() {
            return Ok(());
        }
        self.end_page(false)
    }

    fn end_page(&mut self, continues: bool) -> Result<()> {
        let bins = self.starts.len();
        let length = directory(bins);
        let mut bytes = [0; directory(MOST_BINS)];
        let mut put = |i: usize, value: usize| {
            bytes[ENTRY * i..ENTRY * (i + 1)].copy_from_slice(&(value as u16).to_le_bytes());
        };
        put(0, bins | usize::from(continues) << 15);
        for (i, &(start, filter)) in self.starts.iter().enumerate() {
            put(i + 1, (length + usize::from(start)) | usize::from(filter) << 12);
        }
        put(bins + 1, length + self.records.len());
        let file = &mut self.files[self.current];
        file.put(&bytes[..length])?;
        file.put(&self.records)?;
        file.pad()?;
        self.starts.clear();
        self.records.clear();
        self.several = false;
        self.index.add(bins as u64)
    }

    /// Writes what is left. Returns the data files, the index file, and the sample of the index.
    pub(super) fn finish(mut self, context: &Context) -> Result<(Vec<Finished>, Finished, Option<Sample>)> {
        self.end_file()?;
        let data = self.files.into_iter().map(|file| file.finish(None)).collect::<Result<_>>()?;
        let sample = self.index.sample()?;
        Ok((data, self.index.write(context)?, sample))
    }
}

/// Maps bins to pages, which come in their order.
struct Index {
    path: PathBuf,
    /// For each group the page in which its first bin starts.
    groups: Vec<u32>,
    /// For each page the number of bins that start before it, minus one, modulo 256.
    before: Vec<u8>,
    started: u64,
}

impl Index {
    fn new(context: &Context, bins: u64) -> Result<Index> {
        let path = context.directory.clone();
        let groups = memory::with_capacity(bins.div_ceil(GROUP) as usize + 1, &path)?;
        Ok(Index { path, groups, before: Vec::new(), started: 0 })
    }

    /// Adds a page in which so many bins start.
    fn add(&mut self, starting: u64) -> Result<()> {
        let page = self.before.len();
        if page == MOST_PAGES {
            let path = self.path.display();
            return Err(Error::Argument(format!(
                "{path}: more than {MOST_PAGES} pages of packed records; divide the database into more shards"
            )));
        }
        memory::reserve(&mut self.before, 1, &self.path)?;
        self.before.push(self.started.wrapping_sub(1) as u8);
        // At most one group begins among the 256 bins of a page.
        let group = self.started.next_multiple_of(GROUP);
        self.started += starting;
        if group < self.started {
            self.groups.push(page as u32);
        }
        Ok(())
    }

    /// The sample, once all pages were added.
    fn sample(&self) -> Result<Option<Sample>> {
        Sample::of(self.before.len() as u64, self.started, |bin| Ok(self.page(bin)))
    }

    /// The page in which a bin starts.
    fn page(&self, bin: u64) -> u64 {
        let group = (bin / GROUP) as usize;
        let first = self.groups[group] as usize;
        let last = self.groups.get(group + 1).map_or(self.before.len() - 1, |&page| page as usize);
        // The bytes ascend within a group.
        (first + self.before[first + 1..=last].partition_point(|&before| before < bin as u8)) as u64
    }

    fn write(mut self, context: &Context) -> Result<Finished> {
        self.groups.push((self.before.len() - 1) as u32);
        let mut file = OutputFile::create(&context.directory, Kind::Index, 0)?.with_threads(context.options.threads);
        for group in &self.groups {
            file.put(&group.to_le_bytes())?;
        }
        file.put(&self.before)?;
        file.finish(None)
    }
}
