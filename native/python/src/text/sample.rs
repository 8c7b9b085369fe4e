//! Records from evenly spaced places of the input, to train a dictionary before all of it is read.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};

use memchr::memchr;

use super::chunk::Chunk;
use super::options::{Compression, Format, Job, Options};
use super::parse::{Parsed, Parser};
use super::{reading, Failure};

const MOST_PLACES: u64 = 1 << 10;
const MOST_BYTES: u64 = 32 << 20;
const WINDOW: usize = 1 << 16;
const LARGEST_WINDOW: usize = 1 << 22;

/// Passes up to `records` records to a function, in their order. Only files of text or JSON lines in UTF-8 that are not
/// compressed can be sampled.
///
/// At each place it takes its share of whole lines. It skips bad lines, and places without a whole line in reach, and
/// takes no line twice.
pub(super) fn sample(
    job: &Job,
    records: u64,
    mut take: impl FnMut(&[u8], &[u8]) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let plain = job.files.iter().all(|file| file.size.is_some() && file.compression == Compression::None);
    if matches!(job.options.format, Format::Csv(_)) || job.decoder.is_some() || !plain {
        return Ok(());
    }
    let total: u64 = job.files.iter().filter_map(|file| file.size).sum();
    let places = records.min(MOST_PLACES).min(total);
    let of_input = |place: u64| total / places * place + total % places * place / places;
    let mut sampler = Sampler::new(&job.options);
    let (mut place, mut start) = (0, 0);
    for file in &job.files {
        let end = start + file.size.unwrap_or(0);
        if let Some(path) = file.path.as_ref().filter(|_| place < places && of_input(place) < end) {
            let failed = |error| Failure::Input(reading(&file.name, &error));
            let mut open = fs::File::open(path).map_err(failed)?;
            let mut free = 0;
            while place < places && of_input(place) < end {
                let at = free.max(of_input(place) - start);
                let share = (place + 1) * records / places - sampler.given;
                let bytes = ((place + 1) as f64 / places as f64 * MOST_BYTES as f64) as u64;
                let bytes = bytes.saturating_sub(sampler.given_bytes);
                free = sampler.at(&mut open, at, share, bytes, &mut take)?.map_err(failed)?;
                place += 1;
            }
        }
        start = end;
    }
    Ok(())
}

struct Sampler<'a> {
    parser: Parser<'a>,
    chunk: Chunk,
    parsed: Parsed,
    given: u64,
    given_bytes: u64,
}

impl<'a> Sampler<'a> {
    fn new(options: &'a Options) -> Self {
        let parser = Parser::skipping(options);
        Sampler { parser, chunk: Chunk::default(), parsed: Parsed::default(), given: 0, given_bytes: 0 }
    }

    /// Takes whole lines from a place in a file onwards; returns the place behind them.
    fn at(
        &mut self,
        file: &mut fs::File,
        place: u64,
        records: u64,
        bytes: u64,
        take: &mut impl FnMut(&[u8], &[u8]) -> Result<(), Failure>,
    ) -> Result<io::Result<u64>, Failure> {
        if records == 0 || bytes == 0 {
            return Ok(Ok(place));
        }
        // The byte before it shows whether the place begins a line.
        let from = place.saturating_sub(1);
        let mut window = WINDOW;
        while window <= LARGEST_WINDOW {
            if let Err(error) = self.read(file, from, window) {
                return Ok(Err(error));
            }
            let read = &self.chunk.bytes[..];
            let to_end = read.len() < window;
            let line_after = |at: usize| match memchr(b'\n', &read[at..]) {
                Some(feed) => Some(at + feed + 1),
                None => to_end.then_some(read.len()),
            };
            let begin = if place == 0 {
                Some(if read.starts_with(&[0xef, 0xbb, 0xbf]) { 3 } else { 0 })
            } else {
                line_after(0)
            };
            if let Some(begin) = begin {
                let mut end = begin;
                for _ in 0..records {
                    match line_after(end) {
                        Some(next) if end < read.len() => end = next,
                        _ => break,
                    }
                }
                if end > begin {
                    (self.chunk.from, self.chunk.to) = (begin, end);
                    self.share(bytes, take)?;
                    return Ok(Ok(from + end as u64));
                }
            }
            window *= 8;
        }
        Ok(Ok(place))
    }

    /// Passes on the first records of the chunk, up to about so many bytes.
    fn share(
        &mut self,
        mut bytes: u64,
        take: &mut impl FnMut(&[u8], &[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        self.parser.parse(&self.chunk, &mut self.parsed);
        for (key, value) in self.parsed.records() {
            if bytes == 0 {
                break;
            }
            take(key, value)?;
            let length = (key.len() + value.len()) as u64;
            bytes = bytes.saturating_sub(length);
            self.given += 1;
            self.given_bytes += length;
        }
        Ok(())
    }

    fn read(&mut self, file: &mut fs::File, from: u64, length: usize) -> io::Result<()> {
        self.chunk.bytes.clear();
        file.seek(SeekFrom::Start(from))?;
        file.take(length as u64).read_to_end(&mut self.chunk.bytes).map(|_| ())
    }
}
