//! The manifest of a database (FORMAT.md §6).

use std::fmt;

use super::address;
use super::content::{self, ContentHash};
use super::elements::ValueElements;
use super::frame::{hex, Id, Kind};
use super::page::{PAYLOAD, SIZE};
use super::routing;
use super::sample::Sample;
use super::text::Lines;
use crate::error::Result;

/// The name of the manifest's file.
pub(crate) const MANIFEST: &str = "manifest.bsdb";

/// How the records of a database are stored (FORMAT.md §4, §12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Layout {
    /// Records within pages.
    Blocked,
    /// Records without gaps.
    Compact,
    /// Blocks of records, compressed.
    Compressed,
    /// Records in the order of their signatures.
    Packed,
    /// Records in the order of their signatures, compressed.
    PackedCompressed,
    /// Values in the index, without keys: an approximate database.
    None,
}

impl Layout {
    pub(crate) const ALL: [Layout; 6] =
        [Layout::Blocked, Layout::Compact, Layout::Compressed, Layout::Packed, Layout::PackedCompressed, Layout::None];

    /// The name in the manifest and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Blocked => "blocked",
            Layout::Compact => "compact",
            Layout::Compressed => "compressed",
            Layout::Packed => "packed",
            Layout::PackedCompressed => "packed-compressed",
            Layout::None => "none",
        }
    }

    /// Whether records lie in the order of their signatures.
    pub(crate) fn is_packed(self) -> bool {
        matches!(self, Layout::Packed | Layout::PackedCompressed)
    }

    pub(crate) fn is_compressed(self) -> bool {
        matches!(self, Layout::Compressed | Layout::PackedCompressed)
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The kinds of minimal perfect hash functions (FORMAT.md §5, §13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HashKind {
    Gov,
    Ptr,
    None,
}

/// The functions that give the signatures of keys (FORMAT.md §5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SignatureKind {
    Spooky,
    Mum,
}

/// The lines of a file.
#[derive(Clone, Debug)]
pub(crate) struct FileLine {
    pub(crate) kind: Kind,
    pub(crate) number: u16,
    pub(crate) pages: u64,
    pub(crate) digest: u64,
    pub(crate) end: u64,
    /// The content hash, which older writers did not write.
    pub(crate) content_hash: Option<ContentHash>,
}

impl FileLine {
    /// Parses the value of a line `file=`. The content hash is on a line of its own.
    pub(crate) fn parse(lines: &Lines<'_>, line: &str) -> Result<FileLine> {
        let parts: Vec<&str> = line.split(' ').collect();
        let &[kind, number, pages, digest, end] = parts.as_slice() else {
            return Err(lines.wrong("a file line of five values", format!("{line:?}")));
        };
        let wrong = || lines.wrong("a file line: kind, number, pages, digest, end", format!("{line:?}"));
        let pages = lines.in_range("pages of a file", pages, 2, (1 << 47) / SIZE as u64 * 16)?;
        Ok(FileLine {
            kind: Kind::named(kind).ok_or_else(wrong)?,
            number: lines.in_range("number of a file", number, 0, 127)?,
            pages,
            digest: u64::from_str_radix(digest, 16).map_err(|_| wrong())?,
            end: lines.in_range("end of a file", end, SIZE as u64, (pages - 1) * SIZE as u64)?,
            content_hash: None,
        })
    }

    /// The bytes of content, without the padding at the end.
    pub(crate) fn content(&self) -> u64 {
        (self.end / SIZE as u64 - 1) * PAYLOAD as u64 + self.end % SIZE as u64
    }

    /// The name of the file in the directory of the database with this id.
    pub(crate) fn name(&self, id: &Id) -> String {
        let id8 = hex(&id[..4]);
        match self.kind {
            Kind::Manifest => MANIFEST.to_owned(),
            Kind::Data => format!("data-{:03}-{id8}.bsdb", self.number),
            kind => format!("{}-{id8}.bsdb", kind.name()),
        }
    }
}

/// The parameters of the filter of absent keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilterFacts {
    pub(crate) bits: u32,
    pub(crate) quotients: u64,
}

/// The order of keys (FORMAT.md §16).
#[derive(Clone, Debug)]
pub(crate) struct OrderFacts {
    /// The number of pages of each level of the tree, from the leaves up; none without records.
    pub(crate) levels: Vec<u64>,
    /// The bits of an address's file number, byte offset and detail in the leaves; all 0 in packed layouts.
    pub(crate) place: [u32; 3],
}

impl OrderFacts {
    fn parse(lines: &Lines<'_>, levels: &str, layout: Layout) -> Result<OrderFacts> {
        const MOST_LEVELS: usize = 48;
        let place = lines.required("order.place")?;
        let numbers: Vec<&str> = place.split(' ').collect();
        let &[file, offset, detail] = numbers.as_slice() else {
            return Err(lines.wrong("three numbers as order.place", format!("{place:?}")));
        };
        let place = [
            lines.in_range("order.place of a file", file, 0, 7)?,
            lines.in_range("order.place of an offset", offset, 0, 48)?,
            lines.in_range("order.place of a detail", detail, 0, 20)?,
        ];
        let bits: u32 = place.iter().sum();
        if bits > 63 || layout.is_packed() && bits > 0 || layout == Layout::None {
            return Err(lines.wrong(format!("an order.place that goes with the layout {layout}"), format!("{place:?}")));
        }
        let levels = match levels {
            "0" => Vec::new(),
            levels => levels
                .split(' ')
                .map(|pages| lines.in_range("order.levels", pages, 1, (1u64 << 39) - 1))
                .collect::<Result<_>>()?,
        };
        if levels.len() > MOST_LEVELS {
            return Err(lines.wrong(format!("at most {MOST_LEVELS} order.levels"), levels.len().to_string()));
        }
        Ok(OrderFacts { levels, place })
    }

    /// Bits of an address in the leaves.
    pub(crate) fn width(&self) -> usize {
        self.place.iter().sum::<u32>() as usize
    }
}

/// What a manifest says.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) records: u64,
    pub(crate) dropped: u64,
    pub(crate) key_bytes: u64,
    pub(crate) value_bytes: u64,
    pub(crate) longest_key: u64,
    pub(crate) longest_value: u64,
    pub(crate) layout: Layout,
    pub(crate) hash: HashKind,
    pub(crate) signature: SignatureKind,
    pub(crate) seed: i64,
    pub(crate) buckets: u64,
    pub(crate) checksum_bits: u32,
    pub(crate) width: usize,
    pub(crate) shard: u32,
    pub(crate) shards: u32,
    pub(crate) block: u64,
    pub(crate) level: i32,
    pub(crate) longest_block: u64,
    pub(crate) bins: u64,
    pub(crate) spanning: bool,
    pub(crate) sample: Option<Sample>,
    pub(crate) filter: Option<FilterFacts>,
    pub(crate) order: Option<OrderFacts>,
    pub(crate) schema: Option<String>,
    pub(crate) elements: Option<ValueElements>,
    pub(crate) files: Vec<FileLine>,
}

/// The most records (FORMAT.md §9).
const MAX_RECORDS: u64 = 1 << 40;

impl Facts {
    /// Reads the lines of a manifest.
    pub(crate) fn parse(lines: &Lines<'_>) -> Result<Facts> {
        let format = lines.format(2)?;
        let layout_name = lines.required("layout")?;
        let layout = Layout::ALL
            .into_iter()
            .find(|layout| layout.name() == layout_name)
            .ok_or_else(|| lines.unsupported("layout", layout_name, &known_layouts()))?;
        let hash = match lines.required("hash.kind")? {
            "gov3-bucketed" => HashKind::Gov,
            "ptr" => HashKind::Ptr,
            "none" => HashKind::None,
            other => return Err(lines.unsupported("hash.kind", other, "gov3-bucketed, ptr and none")),
        };
        if layout.is_packed() != (hash == HashKind::None) {
            return Err(
                lines.wrong(format!("a hash.kind that goes with the layout {layout}"), lines.required("hash.kind")?)
            );
        }
        let signature = match format {
            1 => SignatureKind::Spooky,
            _ => match lines.required("hash.signature")? {
                "mum" => SignatureKind::Mum,
                other => return Err(lines.unsupported("hash.signature", other, "mum")),
            },
        };
        let shards = lines.number("shard.count", 1, routing::SLOTS)?;
        let shard_hash = lines.required("shard.hash")?;
        if shards != 1 && shard_hash != "crc16-slots" {
            return Err(lines.unsupported("shard.hash", shard_hash, "crc16-slots"));
        }
        let mut facts = Facts {
            records: lines.number("records", 0, MAX_RECORDS)?,
            dropped: lines.number("duplicates.dropped", 0, u64::MAX)?,
            key_bytes: lines.number("bytes.key", 0, u64::MAX)?,
            value_bytes: lines.number("bytes.value", 0, u64::MAX)?,
            longest_key: lines.number("longest.key", 0, 65_535)?,
            longest_value: lines.number("longest.value", 0, 2_147_483_639)?,
            layout,
            hash,
            signature,
            seed: lines.number("hash.seed", i64::MIN, i64::MAX)?,
            buckets: lines.number("hash.buckets", u64::from(hash != HashKind::None), 1 << 40)?,
            checksum_bits: lines.number("hash.checksum.bits", 0, 32)?,
            width: lines.number("index.width", 0, 255)?,
            shard: lines.number("shard.number", 0, shards - 1)?,
            shards,
            block: lines.number("zstd.block", 0, 1 << 20)?,
            level: lines.number("zstd.level", 0, 22)?,
            longest_block: lines.number("zstd.longest", 0, 1 << 32)?,
            bins: 0,
            spanning: false,
            sample: None,
            filter: None,
            order: None,
            schema: lines.optional("value.schema")?.map(str::to_owned),
            elements: ValueElements::parse(lines)?,
            files: Vec::new(),
        };
        lines.number("zstd.level", 0, 22)?;
        if hash == HashKind::Ptr && !facts.buckets.is_power_of_two() {
            return Err(lines.wrong("a power of two as hash.buckets", facts.buckets.to_string()));
        }
        if (layout == Layout::None) != (facts.width > 0) {
            return Err(
                lines.wrong(format!("an index.width that goes with the layout {layout}"), facts.width.to_string())
            );
        }
        if layout.is_compressed() && facts.block < 512 {
            return Err(lines.wrong("zstd.block of 512 or more", facts.block.to_string()));
        }
        if layout.is_packed() {
            facts.bins = lines.number("packed.bins", 1, 1 << 38)?;
            facts.spanning = lines.number("packed.spanning", 0, 1)? == 1;
            if lines.optional("filter.bits")?.is_some() {
                facts.filter = Some(FilterFacts {
                    bits: lines.number("filter.bits", 1, 16)?,
                    quotients: lines.number("filter.quotients", 1, 1 << 37)?,
                });
            }
        }
        if let Some(levels) = lines.optional("order.levels")? {
            facts.order = Some(OrderFacts::parse(lines, levels, layout)?);
        }
        for line in lines.all("file") {
            facts.files.push(FileLine::parse(lines, line)?);
        }
        facts.parse_content_hashes(lines)?;
        facts.check_files(lines)?;
        if layout == Layout::Packed {
            let line = lines.optional("packed.sample")?;
            facts.sample = line.map(|line| Sample::parse(lines, line, facts.data_pages())).transpose()?;
        }
        Ok(facts)
    }

    /// Reads the content hashes: none, or one for each file.
    fn parse_content_hashes(&mut self, lines: &Lines<'_>) -> Result<()> {
        let hashes: Vec<&str> = lines.all("file.sha256").collect();
        if !hashes.is_empty() && hashes.len() != self.files.len() {
            let expected = format!("a line file.sha256= for each of {} files", self.files.len());
            return Err(lines.wrong(expected, hashes.len().to_string()));
        }
        for (file, hash) in self.files.iter_mut().zip(hashes) {
            let parsed = content::parse(hash);
            let wrong = || lines.wrong("file.sha256 of 64 hexadecimal digits in lower case", format!("{hash:?}"));
            file.content_hash = Some(parsed.ok_or_else(wrong)?);
        }
        Ok(())
    }

    /// Bits of the detail of an address (FORMAT.md §3).
    pub(crate) fn detail_bits(&self) -> u32 {
        if self.layout == Layout::Compressed {
            address::detail_bits(self.block)
        } else {
            8
        }
    }

    /// The line of a file of which there is at most one.
    pub(crate) fn file(&self, kind: Kind) -> Option<&FileLine> {
        self.files.iter().find(|file| file.kind == kind)
    }

    /// The lines of the data files, by number.
    pub(crate) fn data(&self) -> impl Iterator<Item = &FileLine> {
        self.files.iter().filter(|file| file.kind == Kind::Data)
    }

    /// The number of content pages of all data files.
    pub(crate) fn data_pages(&self) -> u64 {
        self.data().map(|file| file.pages - 2).sum()
    }

    /// Fails unless the files are those of the layout (FORMAT.md §1).
    fn check_files(&self, lines: &Lines<'_>) -> Result<()> {
        let count = |kind| self.files.iter().filter(|file| file.kind == kind).count();
        let data = count(Kind::Data);
        let expected = [
            (Kind::Hash, usize::from(!self.layout.is_packed())),
            (Kind::Index, 1),
            (Kind::Filter, usize::from(self.filter.is_some())),
            (Kind::Order, usize::from(self.order.is_some())),
        ];
        for (kind, wanted) in expected {
            if count(kind) != wanted {
                return Err(lines.wrong(format!("{wanted} files of kind {}", kind.name()), count(kind).to_string()));
            }
        }
        let dictionaries = count(Kind::Dictionary);
        if dictionaries > usize::from(self.layout.is_compressed()) {
            return Err(lines.wrong("at most one dictionary, in compressed layouts", dictionaries.to_string()));
        }
        if (self.layout == Layout::None) != (data == 0) || data > 128 {
            return Err(lines.wrong(format!("the data files of the layout {}", self.layout), data.to_string()));
        }
        for (number, file) in self.data().enumerate() {
            if usize::from(file.number) != number {
                return Err(lines.wrong(format!("data file {number}"), file.number.to_string()));
            }
        }
        for file in &self.files {
            if file.kind != Kind::Data && file.number != 0 {
                return Err(lines.wrong(format!("number 0 of the {} file", file.kind.name()), file.number.to_string()));
            }
        }
        Ok(())
    }
}

fn known_layouts() -> String {
    let names: Vec<_> = Layout::ALL.iter().map(|layout| layout.name()).collect();
    names.join(", ")
}
