//! Compressed blocks and their dictionary (FORMAT.md §4).

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use zstd_safe::{CDict, CParameter, FrameFormat};

use crate::error::{Error, Result};
use crate::format::block::{self, MAX_COMPRESSED};
use crate::format::record::Header;
use crate::memory;
use crate::os::zstd::{Context, NO_MEMORY};

/// Compresses blocks at a level, with a dictionary. Shared by all threads.
pub(crate) struct Compressor {
    level: i32,
    dictionary: Option<Arc<CDict<'static>>>,
    /// Contexts that no thread is using.
    idle: Mutex<Vec<Context>>,
}

impl Compressor {
    pub(crate) fn new(level: i32, dictionary: Option<&[u8]>) -> Result<Compressor> {
        let dictionary = match dictionary {
            Some(bytes) => Some(Arc::new(CDict::try_create(bytes, level).ok_or_else(|| lacking(bytes.len()))?)),
            None => None,
        };
        Ok(Compressor { level, dictionary, idle: Mutex::new(Vec::new()) })
    }

    /// Appends a block, with its header: compressed, or stored if that is not shorter.
    pub(crate) fn block(&self, raw: &[u8], to: &mut Vec<u8>) -> Result<()> {
        if raw.len() as u64 <= MAX_COMPRESSED {
            let start = to.len();
            let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut context = idle.map_or_else(|| self.context(raw.len()), Ok)?;
            let compressed = compress(&mut context, raw, to);
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(context);
            let frame = compressed?;
            if frame < raw.len() {
                // The frame is behind room for the longest header: its length was not known before.
                let (header, size) = encode(raw.len() as u64, Some(frame as u64));
                to.copy_within(start + block::MAX..start + block::MAX + frame, start + size);
                to[start..start + size].copy_from_slice(&header[..size]);
                to.truncate(start + size + frame);
                return Ok(());
            }
            to.truncate(start);
        }
        let (header, size) = encode(raw.len() as u64, None);
        reserve(to, size + raw.len())?;
        to.extend_from_slice(&header[..size]);
        to.extend_from_slice(raw);
        Ok(())
    }

    /// A context for blocks like one of `length` bytes.
    fn context(&self, length: usize) -> Result<Context> {
        let mut context = Context::new(self.dictionary.as_ref()).map_err(|reason| refused(reason, length))?;
        for parameter in [
            CParameter::CompressionLevel(self.level),
            CParameter::Format(FrameFormat::Magicless),
            CParameter::ContentSizeFlag(false),
            CParameter::ChecksumFlag(false),
            CParameter::DictIdFlag(false),
        ] {
            context.set(parameter).map_err(|reason| refused(reason, length))?;
        }
        Ok(context)
    }
}

/// Appends room for a header and the frame of a block. Returns the length of the frame.
fn compress(context: &mut Context, raw: &[u8], to: &mut Vec<u8>) -> Result<usize> {
    let start = to.len() + block::MAX;
    let most = start + zstd_safe::compress_bound(raw.len());
    reserve(to, most - to.len())?;
    to.resize(most, 0);
    context.compress(raw, &mut to[start..]).map_err(|reason| refused(reason, raw.len()))
}

/// The header of a stored block, or of a frame of this length, and its size.
pub(crate) fn encode(raw: u64, frame: Option<u64>) -> ([u8; block::MAX], usize) {
    let mut bytes = [0; block::MAX];
    let mut size = 0;
    let mut put = |mut number: u64| {
        while number > 0x7f {
            bytes[size] = number as u8 | 0x80;
            number >>= 7;
            size += 1;
        }
        bytes[size] = number as u8;
        size += 1;
    };
    match frame {
        Some(length) => {
            put(raw << 1);
            put(length);
        }
        None => put(raw << 1 | 1),
    }
    (bytes, size)
}

/// What errors name instead of a file.
fn place() -> PathBuf {
    PathBuf::from("a block of records")
}

fn reserve(to: &mut Vec<u8>, more: usize) -> Result<()> {
    memory::reserve(to, more, &place())
}

fn lacking(bytes: usize) -> Error {
    memory::lacking(&place(), bytes)
}

fn refused(reason: &str, length: usize) -> Error {
    if reason == NO_MEMORY {
        return lacking(length);
    }
    Error::Impossible(format!("ZSTD cannot compress a block: {reason}"))
}

/// Sample bytes for each byte of the dictionary. More have no effect.
const SAMPLE_PER_BYTE: u64 = 100;

/// The most bytes of a sample.
const MAX_SAMPLE: usize = 1 << 17;

/// ZSTD trains on no fewer samples.
const LEAST_SAMPLES: usize = 11;

/// ZSTD trains no shorter dictionary.
const LEAST_DICTIONARY: usize = 256;

/// Trains a dictionary on sample records.
pub(crate) struct Trainer {
    block: u64,
    dictionary: usize,
    /// Samples, back to back: blocks of records. The last one is not complete before `ended`.
    bytes: Vec<u8>,
    lengths: Vec<usize>,
    /// Bytes of the samples that are complete.
    ended: usize,
}

impl Trainer {
    /// Trains a dictionary of at most `bytes` bytes for blocks of `block` bytes.
    pub(crate) fn new(block: u64, bytes: usize) -> Trainer {
        Trainer { block, dictionary: bytes, bytes: Vec::new(), lengths: Vec::new(), ended: 0 }
    }

    /// Whether more samples have no effect.
    pub(crate) fn is_full(&self) -> bool {
        self.ended as u64 >= self.enough()
    }

    /// The bytes of samples that are enough.
    pub(crate) fn enough(&self) -> u64 {
        SAMPLE_PER_BYTE * self.dictionary as u64
    }

    /// Adds a sample: the header, the key and the value of a record.
    pub(crate) fn add(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let header = Header::of(key.len(), value.len());
        for part in [&header.encode()[..header.size], key, value] {
            let room = MAX_SAMPLE - (self.bytes.len() - self.ended);
            let part = &part[..part.len().min(room)];
            reserve(&mut self.bytes, part.len())?;
            self.bytes.extend_from_slice(part);
        }
        if (self.bytes.len() - self.ended) as u64 >= self.block {
            self.end_block();
        }
        Ok(())
    }

    fn end_block(&mut self) {
        if self.bytes.len() > self.ended {
            self.lengths.push(self.bytes.len() - self.ended);
            self.ended = self.bytes.len();
        }
    }

    /// The dictionary, or none if the samples do not give one.
    pub(crate) fn train(mut self) -> Option<Vec<u8>> {
        self.end_block();
        if self.lengths.len() < LEAST_SAMPLES || self.dictionary < LEAST_DICTIONARY {
            return None;
        }
        let mut dictionary = vec![0; self.dictionary];
        let length = zstd_safe::train_from_buffer(&mut dictionary[..], &self.bytes, &self.lengths).ok()?;
        dictionary.truncate(length);
        Some(dictionary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::zstd::Decompressor;

    #[test]
    fn blocks_are_compressed_or_stored() {
        let compressor = Compressor::new(3, None).unwrap();
        let text = b"abcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabcabc".repeat(4);
        let mut to = vec![1, 2];
        compressor.block(&text, &mut to).unwrap();
        let compressed = block::parse(&to[2..]).unwrap().unwrap();
        assert!(!compressed.plain && compressed.raw == text.len() as u64);
        let frame = &to[2 + compressed.size..];
        assert_eq!(frame.len() as u64, compressed.stored);
        let mut raw = Vec::new();
        assert!(Decompressor::default().decompress(frame, None, text.len(), &mut raw).is_ok());
        assert_eq!(raw, text);
        let end = to.len();
        compressor.block(b"xyz", &mut to).unwrap();
        assert_eq!(to[end..], *b"\x07xyz");
    }

    #[test]
    fn headers_are_as_they_are_parsed() {
        for (raw, frame) in [(1, None), (300, Some(5)), (MAX_COMPRESSED, Some(MAX_COMPRESSED - 1)), (1 << 31, None)] {
            let (bytes, size) = encode(raw, frame);
            let block = block::parse(&bytes[..size]).unwrap().unwrap();
            assert_eq!((block.size, block.raw, block.plain), (size, raw, frame.is_none()));
            assert_eq!(block.stored, frame.unwrap_or(raw));
        }
    }

    #[test]
    fn few_samples_give_no_dictionary() {
        let mut trainer = Trainer::new(512, 1024);
        (0..10).for_each(|_| trainer.add(b"key", &[7; 600]).unwrap());
        assert_eq!((trainer.enough(), trainer.is_full(), trainer.lengths.len()), (102_400, false, 10));
        assert_eq!(trainer.train(), None);
    }
}
