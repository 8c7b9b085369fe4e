//! How many bins a packed database has, and in which passes they are made (FORMAT.md §12, §17).

use std::ops;

use crate::error::Result;
use crate::memory;

/// log2 of the number of partitions of records: those of the top bits of signatures.
pub(super) const PARTITION_BITS: u32 = 10;

/// The number of partitions.
pub(super) const PARTITIONS: usize = 1 << PARTITION_BITS;

/// A bin has so many bytes on average, so that its entry in the directory of a page weighs little.
const LEAST_BIN: u64 = 24;

/// Records of more bytes on average span pages: gaps would cost more than further reads.
const MOST_ALIGNED: u64 = 128;

/// Bins of a unit, at least.
const BINS_PER_UNIT: u64 = 64;

/// So many compressed blocks fill a bin.
const BLOCKS_PER_BIN: u64 = 2;

/// The shape of a packed database, which depends only on the number and the length of its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// The number of bins, a multiple of the units.
    pub(super) bins: u64,
    /// The number of ranges of bins that consist of whole partitions, a power of two.
    pub(super) units: usize,
    pub(super) spanning: bool,
}

impl Shape {
    /// The shape for records of so many bytes with their headers.
    pub(super) fn plain(records: u64, bytes: u64) -> Shape {
        let average = bytes.checked_div(records).map_or(LEAST_BIN, |average| average.max(1));
        let per_bin = LEAST_BIN.div_ceil(average);
        Shape::of(records.div_ceil(per_bin).max(1), average > MOST_ALIGNED)
    }

    /// The shape for records in compressed blocks of `block` raw bytes.
    pub(super) fn compressed(records: u64, bytes: u64, block: u64) -> Shape {
        Shape::of(bytes.div_ceil(BLOCKS_PER_BIN * block).min(records).max(1), true)
    }

    fn of(wanted: u64, spanning: bool) -> Shape {
        let most = (wanted / BINS_PER_UNIT).clamp(1, PARTITIONS as u64);
        let units = 1 << most.ilog2();
        Shape { bins: wanted.next_multiple_of(units), units: units as usize, spanning }
    }
}

/// The bins of a pass, and the partitions that hold their records.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) partition: usize,
    pub(super) partitions: usize,
    pub(super) first: u64,
    pub(super) bins: usize,
    /// How many passes read these partitions.
    pub(super) parts: u64,
    /// Whether no pass after this one reads them.
    pub(super) last: bool,
    /// The memory that the pass needs, about.
    pub(super) need: u64,
}

impl Range {
    /// The partitions that hold the records.
    pub(super) fn partitions(&self) -> ops::Range<usize> {
        self.partition..self.partition + self.partitions
    }
}

/// Divides the bins among passes. `need` is the memory that the records of a partition need, `most` what a pass should
/// take. A unit that needs more is read by several passes, each of which takes a part of its bins.
pub(super) fn ranges(shape: &Shape, most: u64, need: impl Fn(usize) -> u64) -> Result<Vec<Range>> {
    let partitions = PARTITIONS / shape.units;
    let bins = shape.bins / shape.units as u64;
    let mut ranges = Vec::new();
    for unit in 0..shape.units {
        let partition = unit * partitions;
        let need: u64 = (partition..partition + partitions).map(&need).sum();
        let parts = need.div_ceil(most.max(1)).clamp(1, bins);
        // A pass addresses its bins by 32 bits.
        let parts = parts.max(bins.div_ceil(1 << 30));
        memory::reserve(&mut ranges, parts as usize, "the passes over the records".as_ref())?;
        for part in 0..parts {
            let start = |part: u64| (u128::from(bins) * u128::from(part) / u128::from(parts)) as u64;
            let first = unit as u64 * bins + start(part);
            ranges.push(Range {
                partition,
                partitions,
                first,
                bins: (start(part + 1) - start(part)) as usize,
                parts,
                last: part + 1 == parts,
                need: need / parts,
            });
        }
    }
    Ok(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_follow_from_records() {
        let shape = |bins, units, spanning| Shape { bins, units, spanning };
        assert_eq!(Shape::plain(0, 0), shape(1, 1, false));
        assert_eq!(Shape::plain(3, 30), shape(1, 1, false));
        assert_eq!(Shape::plain(1000, 48_000), shape(1000, 8, false));
        assert_eq!(Shape::plain(1001, 129_999), shape(1008, 8, true));
        assert_eq!(Shape::plain(1001, 128_999), shape(1008, 8, false));
        assert_eq!(Shape::plain(10_000_000, 480_000_000), shape(10_000_384, 1024, false));
        assert_eq!(Shape::compressed(0, 0, 1024), shape(1, 1, true));
        assert_eq!(Shape::compressed(1000, 5000, 1024), shape(3, 1, true));
        assert_eq!(Shape::compressed(1000, 5_000_000, 1024), shape(1000, 8, true));
    }

    #[test]
    fn passes_cover_all_bins_once() {
        for most in [1, 1000, 1 << 40] {
            let shape = Shape::plain(100_000, 4_800_000);
            let ranges = ranges(&shape, most, |partition| 5000 + partition as u64).unwrap();
            let mut next = 0;
            for range in &ranges {
                assert_eq!(range.first, next);
                next += range.bins as u64;
                assert!(range.bins > 0 && (range.need <= most || most == 1));
            }
            assert_eq!(next, shape.bins);
            assert_eq!(ranges.iter().filter(|range| range.last).count(), shape.units);
        }
    }
}
