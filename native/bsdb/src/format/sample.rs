//! The sample of the index in the manifest of the layout packed (FORMAT.md §6, §12).

use std::fmt;
#[cfg(any(feature = "remote", test))]
use std::ops::Range;

use super::text::Lines;
use crate::error::Result;

/// The most parts.
const MOST_PARTS: u64 = 2048;

/// Content pages of a part, at least.
const PART: u64 = 128;

/// Fewer content pages than this have no sample.
const LEAST_PAGES: u64 = 256;

/// Where the bins of equal parts start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sample {
    pages: u64,
    /// The page of each part's first bin; of the part behind the last one, the last page.
    starts: Vec<u64>,
}

/// One of equal parts.
#[cfg(any(feature = "remote", test))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) bins: Range<u64>,
    /// The page in which the first bin starts, and the one in which that of the next part does, or the last page.
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// How many parts there are.
    pub(crate) parts: u64,
}

impl Sample {
    /// The sample of an index of `bins` bins in `pages` content pages, which tells the page of a bin; None if these are
    /// too few to have one.
    pub(crate) fn of<E>(
        pages: u64,
        bins: u64,
        mut page: impl FnMut(u64) -> std::result::Result<u64, E>,
    ) -> std::result::Result<Option<Sample>, E> {
        if pages < LEAST_PAGES {
            return Ok(None);
        }
        let parts = parts(pages);
        let inner = (1..parts).map(|i| page(i * bins / parts)).collect::<std::result::Result<Vec<_>, E>>()?;
        Ok(Some(Sample::between(pages, inner)))
    }

    /// The only part of a database that is too small for a sample; None if it is not.
    #[cfg(any(feature = "remote", test))]
    pub(crate) fn trivial(pages: u64) -> Option<Sample> {
        (1..LEAST_PAGES).contains(&pages).then(|| Sample::between(pages, Vec::new()))
    }

    fn between(pages: u64, inner: Vec<u64>) -> Sample {
        let mut starts = inner;
        starts.insert(0, 0);
        starts.push(pages.saturating_sub(1));
        Sample { pages, starts }
    }

    /// Reads and checks the value of the line `packed.sample=`, given the number of content pages.
    pub(crate) fn parse(lines: &Lines<'_>, line: &str, pages: u64) -> Result<Sample> {
        let wrong = |expected: String, found: String| lines.wrong(format!("packed.sample: {expected}"), found);
        if pages < LEAST_PAGES {
            return Err(wrong(format!("none with {pages} pages"), "one".into()));
        }
        let (parts, numbers) = (parts(pages), line.split(' ').count() as u64);
        if numbers != parts - 1 {
            return Err(wrong(format!("{} numbers for {pages} pages", parts - 1), numbers.to_string()));
        }
        let mut inner = Vec::with_capacity(numbers as usize);
        let mut before = 0;
        for (i, text) in (1..).zip(line.split(' ')) {
            let most = pages as i64;
            let number = lines.in_range("packed.sample", text, -most, most)?;
            let page = (i * pages / parts).checked_add_signed(number).filter(|&page| page >= before && page < pages);
            let expected = || wrong(format!("pages in ascending order, below {pages}"), format!("{text:?}"));
            before = page.ok_or_else(expected)?;
            inner.push(before);
        }
        Ok(Sample::between(pages, inner))
    }

    /// The part of a bin.
    #[cfg(any(feature = "remote", test))]
    pub(crate) fn part(&self, bin: u64, bins: u64) -> Part {
        let parts = self.starts.len() as u64 - 1;
        // The last part that begins at the bin or before.
        let i = ((bin + 1) * parts - 1) / bins;
        let (first, last) = (self.starts[i as usize], self.starts[i as usize + 1]);
        Part { bins: i * bins / parts..(i + 1) * bins / parts, first, last, parts }
    }
}

/// The number of parts of so many content pages.
fn parts(pages: u64) -> u64 {
    (pages / PART).min(MOST_PARTS)
}

/// The value of the line.
impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.starts.len() as u64 - 1;
        for i in 1..parts {
            let expected = i * self.pages / parts;
            let difference = self.starts[i as usize] as i64 - expected as i64;
            write!(f, "{}{difference}", if i > 1 { " " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::path::Path;

    use super::*;
    use crate::error::Error;

    fn parsed(line: &str, pages: u64) -> Result<Sample> {
        Sample::parse(&Lines::parse(Path::new("manifest.bsdb"), b"a=b\n")?, line, pages)
    }

    fn of(pages: u64, bins: u64, page: impl Fn(u64) -> u64) -> Option<Sample> {
        Sample::of(pages, bins, |bin| Ok::<_, Infallible>(page(bin))).unwrap()
    }

    #[test]
    fn has_the_form_of_the_format() {
        // The example of FORMAT.md §12.
        let pages = |bin| match bin {
            4285 => 140,
            8571 => 288,
            12857 => 428,
            17142 => 571,
            21428 => 714,
            25714 => 856,
            bin => panic!("{bin}"),
        };
        let sample = of(1000, 30_000, pages).unwrap();
        assert_eq!(sample.to_string(), "-2 3 0 0 0 -1");
        assert_eq!(parsed("-2 3 0 0 0 -1", 1000).unwrap(), sample);
        let part = |bins, first, last| Part { bins, first, last, parts: 7 };
        assert_eq!(sample.part(0, 30_000), part(0..4285, 0, 140));
        assert_eq!(sample.part(4284, 30_000), part(0..4285, 0, 140));
        assert_eq!(sample.part(4285, 30_000), part(4285..8571, 140, 288));
        assert_eq!(sample.part(29_999, 30_000), part(25_714..30_000, 856, 999));
    }

    #[test]
    fn small_databases_have_none() {
        assert_eq!(of(255, 255, |bin| bin), None);
        assert_eq!(of(256, 256, |bin| bin).unwrap().to_string(), "0");
        assert_eq!(of(1 << 30, 1 << 30, |bin| bin).unwrap().to_string().split(' ').count(), 2047);
        assert_eq!(Sample::trivial(255).unwrap().part(9, 10), Part { bins: 0..10, first: 0, last: 254, parts: 1 });
        assert_eq!((Sample::trivial(0), Sample::trivial(256)), (None, None));
    }

    #[test]
    fn what_no_index_gives_is_damage() {
        for (line, pages) in [
            ("", 255),
            ("0", 255),
            ("", 256),
            ("0 0", 256),
            ("0  0", 384),
            ("+1", 256),
            ("x", 256),
            ("1.0", 256),
            ("128", 256),
            ("-129", 256),
            ("60 -90", 384),
            ("9223372036854775807", 256),
            ("-9223372036854775808", 256),
        ] {
            assert!(matches!(parsed(line, pages), Err(Error::Damaged { .. })), "{line:?} of {pages}");
        }
        for (line, pages) in [("127", 256), ("-128", 256), ("60 -68", 384)] {
            assert_eq!(parsed(line, pages).unwrap().to_string(), line);
        }
    }

    #[test]
    fn every_bin_has_the_part_that_begins_before_it() {
        for (pages, bins) in [(256, 1), (256, 2), (1000, 3), (1000, 7), (999, 12_345), (1 << 20, 5000)] {
            let sample = of(pages, bins, |bin| bin * pages / bins).unwrap();
            for bin in 0..bins {
                let part = sample.part(bin, bins);
                assert!(part.bins.contains(&bin) && part.first <= part.last, "{bin} of {bins}: {part:?}");
            }
        }
    }
}
