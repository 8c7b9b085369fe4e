//! The text of manifests (FORMAT.md §6), and the id that follows from it (§8).

use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::assembly::Assembled;
use super::options::BuildOptions;
use crate::format::frame::{hex, Id};
use crate::format::record::Header;

/// Counts and measures the records that were given to a build.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) records: u64,
    /// Bytes of the records with their headers.
    pub(crate) record_bytes: u64,
    pub(crate) key_bytes: u64,
    pub(crate) value_bytes: u64,
    pub(crate) longest_key: usize,
    pub(crate) longest_value: usize,
}

impl Totals {
    /// Adds a record.
    #[inline]
    pub(crate) fn add(&mut self, key: usize, value: usize) {
        self.records += 1;
        self.record_bytes += Header::of(key, value).record();
        self.key_bytes += key as u64;
        self.value_bytes += value as u64;
        self.longest_key = self.longest_key.max(key);
        self.longest_value = self.longest_value.max(value);
    }
}

/// The text of the manifest of a database, or of the shard with this number.
pub(crate) fn text(options: &BuildOptions, shard: u32, totals: &Totals, made: &Assembled) -> String {
    let mut text = String::new();
    let mut put = |name: &str, value: &dyn std::fmt::Display| {
        let _ = writeln!(text, "{name}={value}"); // writing to a string does not fail
    };
    let packed = options.layout.is_packed();
    let compressed = options.layout.is_compressed();
    put("format", &2);
    put("records", &made.records);
    put("duplicates.dropped", &(totals.records - made.records));
    put("bytes.key", &totals.key_bytes);
    put("bytes.value", &totals.value_bytes);
    put("longest.key", &totals.longest_key);
    put("longest.value", &totals.longest_value);
    put("layout", &options.layout);
    put("hash.kind", &if packed { "none" } else { "ptr" });
    put("hash.signature", &"mum");
    put("hash.seed", &options.seed);
    put("hash.buckets", &made.buckets);
    put("hash.checksum.bits", &if packed { 0 } else { options.checksum_bits });
    put("index.width", &0);
    put("shard.number", &shard);
    put("shard.count", &options.shards);
    put("shard.hash", &if options.shards > 1 { "crc16-slots" } else { "none" });
    put("zstd.block", &if compressed { options.block } else { 0 });
    put("zstd.level", &if compressed { options.level } else { 0 });
    put("zstd.longest", &made.longest_block);
    if let Some((bins, spanning)) = made.bins {
        put("packed.bins", &bins);
        put("packed.spanning", &u8::from(spanning));
    }
    if let Some(sample) = &made.sample {
        put("packed.sample", sample);
    }
    if let Some(filter) = made.filter {
        put("filter.bits", &filter.bits);
        put("filter.quotients", &filter.quotients);
    }
    if let Some(order) = &made.order {
        let levels: Vec<String> = order.levels.iter().map(u64::to_string).collect();
        put("order.levels", &if levels.is_empty() { "0".to_owned() } else { levels.join(" ") });
        let [file, offset, detail] = order.place;
        put("order.place", &format_args!("{file} {offset} {detail}"));
    }
    if let Some(schema) = &options.schema {
        put("value.schema", schema);
    }
    if let Some(elements) = &options.elements {
        put("value.elements", elements);
    }
    for file in &made.files {
        let line = &file.line;
        put(
            "file",
            &format_args!("{} {} {} {:x} {}", line.kind.name(), line.number, line.pages, line.digest, line.end),
        );
    }
    for hash in made.files.iter().filter_map(|file| file.line.content_hash) {
        put("file.sha256", &hex(&hash));
    }
    text
}

/// The id of a database or a set with a manifest of this text.
pub(crate) fn id(text: &str) -> Id {
    let mut id = Id::default();
    id.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    id
}
