//! Where the record of a key probably lies, by the manifest alone (FORMAT.md §12).

use std::ops::Range;

use crate::format::facts::Facts;
use crate::format::sample::{Part, Sample};

/// The most pages of a window. Instead of more, the index is read.
const MOST: u64 = 128;

/// Consecutive pages of a data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    pub(crate) file: usize,
    /// Counted from the header, which is page 0.
    pub(crate) first: u64,
    pub(crate) count: u64,
}

impl Window {
    /// The pages around the one in which a bin probably starts; None if nobody knows, or if these are many.
    pub(crate) fn of(facts: &Facts, bin: u64) -> Option<Window> {
        let pages = facts.data_pages();
        let trivial = if facts.sample.is_none() { Sample::trivial(pages) } else { None };
        let part = facts.sample.as_ref().or(trivial.as_ref())?.part(bin, facts.bins);
        let (centre, wanted) = around(bin, &part, facts.records, pages);
        let mut start = 0;
        for (file, line) in facts.data().enumerate() {
            let own = start..start + line.pages - 2;
            if own.contains(&centre) {
                let (first, end) = (wanted.start.max(own.start), wanted.end.min(own.end));
                let window = Window { file, first: first - own.start + 1, count: end - first };
                return (window.count <= MOST).then_some(window);
            }
            start = own.end;
        }
        None
    }
}

/// The content page in which a bin starts at best guess, and those in which it does so almost always, with one more for
/// its end. The pages of a part's bins vary around a straight line as a Brownian bridge does, since signatures are
/// spread evenly: three standard deviations miss the pages of fewer than one bin in 300.
fn around(bin: u64, part: &Part, records: u64, pages: u64) -> (u64, Range<u64>) {
    let bins = &part.bins;
    let fraction = (bin - bins.start) as f64 / (bins.end - bins.start).max(1) as f64;
    let centre = part.first as f64 + fraction * (part.last - part.first) as f64;
    let records = records.max(1) as f64;
    let deviation = pages as f64 / records * (fraction * (1.0 - fraction) * records / part.parts as f64).sqrt();
    let reach = 3.0 * deviation + 1.0;
    let first = ((centre - reach).floor().max(0.0) as u64).max(part.first);
    let last = ((centre + reach).ceil() as u64 + 1).min(part.last + 1);
    (centre as u64, first..last + 1)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::format::page::PAYLOAD;

    /// A sequence of random numbers (SplitMix64), from 0 to 1.
    struct Random(u64);

    impl Random {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
        }

        /// A number of records in a bin that has so many on average.
        fn poisson(&mut self, mean: f64) -> usize {
            let (limit, mut product) = ((-mean).exp(), self.next());
            let mut count = 0;
            while product > limit {
                product *= self.next();
                count += 1;
            }
            count
        }
    }

    /// A bin: its records, the page in which it starts, and the one in which it ends.
    type Bin = (usize, u64, u64);

    /// The bins of some parts of a database of records of one length.
    struct Simulated {
        records: u64,
        bins: u64,
        pages: u64,
        /// Numbers of the parts and their bins.
        parts: Vec<(u64, Vec<Bin>)>,
        parts_in_all: u64,
    }

    impl Simulated {
        fn new(records: u64, length: usize, some: u64) -> Simulated {
            let frame = length + 3;
            let bins = if frame < 24 { records.div_ceil(2) } else { records };
            let mean = records as f64 / bins as f64;
            let spanning = frame > 128;
            let mut random = Random(records ^ length as u64);
            // The number of pages follows from how full they are, which a first run tells.
            let measured = lay_out(20_000.min(bins), mean, frame, spanning, &mut random);
            let pages = (measured.last().unwrap().2 as f64 / measured.len() as f64 * bins as f64) as u64;
            let parts_in_all = (pages / 128).min(2048);
            let step = (parts_in_all / some).max(1);
            let parts = (0..parts_in_all).step_by(step as usize).map(|i| {
                let count = (i + 1) * bins / parts_in_all - i * bins / parts_in_all;
                (i, lay_out(count, mean, frame, spanning, &mut random))
            });
            Simulated { records, bins, pages, parts: parts.collect(), parts_in_all }
        }

        /// The share of the records that lie in the windows of their bins, and the mean and most pages of these.
        fn measure(&self) -> (f64, f64, u64) {
            let (mut found, mut all, mut sum, mut most) = (0, 0, 0, 0);
            for (i, laid) in &self.parts {
                let start = i * self.pages / self.parts_in_all;
                let next = start + laid.last().unwrap().2;
                let page = |bin: u64| {
                    let part = (bin * self.parts_in_all).div_ceil(self.bins);
                    Ok::<_, Infallible>(if part == i + 1 { next } else { part * self.pages / self.parts_in_all })
                };
                let sample = Sample::of(self.pages, self.bins, page).unwrap().unwrap();
                let first = i * self.bins / self.parts_in_all;
                for (bin, (records, starts, ends)) in (first..).zip(laid) {
                    let (_, window) = around(bin, &sample.part(bin, self.bins), self.records, self.pages);
                    let count = window.end - window.start;
                    let within = window.start <= start + starts && start + ends < window.end && count <= MOST;
                    found += if within { *records } else { 0 };
                    all += records;
                    sum += count * *records as u64;
                    most = most.max(count);
                }
            }
            (found as f64 / all as f64, sum as f64 / all as f64, most)
        }
    }

    /// Puts bins into pages, as FORMAT.md §12 and §17 have it.
    fn lay_out(bins: u64, mean: f64, frame: usize, spanning: bool, random: &mut Random) -> Vec<Bin> {
        let (mut page, mut left) = (0, PAYLOAD - 4);
        let mut laid = Vec::new();
        for _ in 0..bins {
            let records = random.poisson(mean);
            let mut length = records * frame;
            if left < 2 + if spanning { length.min(1) } else { length } {
                (page, left) = (page + 1, PAYLOAD - 4);
            }
            let start = page;
            left -= 2;
            while length > left {
                length -= left;
                (page, left) = (page + 1, PAYLOAD - 4);
            }
            left -= length;
            laid.push((records, start, page));
        }
        laid
    }

    #[test]
    fn almost_all_records_lie_in_small_windows() {
        for (records, length, mean_at_most) in [
            (50_000, 20, 8.0),
            (1_000_000, 20, 8.0),
            (10_000_000, 20, 8.0),
            (100_000_000, 20, 9.0),
            (1_000_000_000, 20, 16.0),
            (20_000, 100, 10.0),
            (1_000_000, 100, 10.0),
            (10_000_000, 100, 10.0),
            (100_000_000, 100, 20.0),
            (1_000_000_000, 100, 56.0),
            (1_000_000, 300, 18.0),
            (1_000_000, 1000, 20.0),
        ] {
            let simulated = Simulated::new(records, length, 16);
            let (share, mean, most) = simulated.measure();
            println!(
                "{records} records of {length} bytes in {} pages: {:.3} % in windows of {mean:.1} pages, at most {most}",
                simulated.pages,
                share * 100.0
            );
            assert!(share > 0.99, "{records} of {length} bytes: {share}");
            assert!(mean < mean_at_most && most <= MOST, "{records} of {length} bytes: {mean} pages, at most {most}");
        }
        // Too many pages: the index is read.
        assert!(Simulated::new(1_000_000_000, 500, 2).measure().2 > MOST);
    }

    #[test]
    fn windows_stay_in_their_parts() {
        let part = Part { bins: 1000..2000, first: 300, last: 500, parts: 5 };
        let (centre, window) = around(1000, &part, 5000, 1000);
        assert_eq!((centre, window), (300, 300..303));
        // 3 * 1000 / 5000 * sqrt(0.25 * 1000) + 1 is 10.5.
        let (centre, window) = around(1500, &part, 5000, 1000);
        assert_eq!((centre, window), (400, 389..413));
        let (centre, window) = around(1999, &part, 5000, 1000);
        assert_eq!((centre, window.end), (499, 502));
        let whole = Part { bins: 0..1, first: 0, last: 0, parts: 1 };
        assert_eq!(around(0, &whole, 0, 1), (0, 0..2));
    }
}
