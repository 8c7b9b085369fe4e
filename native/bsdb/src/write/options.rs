//! What to build, and with what (FORMAT.md §9 has the limits).

use std::ops::RangeInclusive;
use std::path::PathBuf;

use crate::database::Database;
use crate::error::{Error, Result};
use crate::format::elements::{Element, ValueElements};
use crate::format::facts::Layout;
use crate::format::frame::Kind;
use crate::format::routing;
use crate::keys::SigningKey;

/// Which of several records with the same key a build keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Duplicates {
    /// None: the build fails with [`Error::Duplicate`](crate::Error::Duplicate).
    #[default]
    Refuse,
    /// The one that was added first.
    First,
    /// The one that was added last.
    Last,
}

/// The database to build, and the resources to use. Everything but the resources has an effect on its bytes, and is the
/// same as with `bsdb build`.
///
/// An option that has no effect in the layout that is built must be its default. A build checks all options when it
/// starts, and fails with [`Error::Argument`](crate::Error::Argument), which names the option.
///
/// ```
/// use bsdb::{BuildOptions, Duplicates, Layout};
/// let options = BuildOptions::default().layout(Layout::PackedCompressed).duplicates(Duplicates::Last).overwrite(true);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct BuildOptions {
    pub(crate) layout: Layout,
    /// Whether the layout was chosen; otherwise it follows from other options.
    pub(crate) chosen: bool,
    pub(crate) checksum_bits: u32,
    pub(crate) filter_bits: u32,
    pub(crate) block: u64,
    pub(crate) level: i32,
    pub(crate) dictionary: usize,
    pub(crate) samples: u64,
    pub(crate) data_files: u16,
    pub(crate) shards: u32,
    pub(crate) duplicates: Duplicates,
    pub(crate) ordered: bool,
    pub(crate) schema: Option<String>,
    pub(crate) elements: Option<ValueElements>,
    pub(crate) seed: i64,
    pub(crate) sign_key: Option<SigningKey>,
    pub(crate) overwrite: bool,
    pub(crate) memory: u64,
    pub(crate) threads: usize,
    pub(crate) temporary: Option<PathBuf>,
}

impl Default for BuildOptions {
    fn default() -> Self {
        BuildOptions {
            layout: Layout::Packed,
            chosen: false,
            checksum_bits: 4,
            filter_bits: 0,
            block: 1024,
            level: 6,
            dictionary: 112_640,
            samples: 10_000,
            data_files: 1,
            shards: 1,
            duplicates: Duplicates::Refuse,
            ordered: false,
            schema: None,
            elements: None,
            seed: 0,
            sign_key: None,
            overwrite: false,
            memory: 1 << 30,
            threads: std::thread::available_parallelism().map_or(1, |n| n.get().min(256)),
            temporary: None,
        }
    }
}

/// The name of a number, and the values that it can have.
struct Number(&'static str, RangeInclusive<i128>);

const CHECKSUM_BITS: Number = Number("checksum_bits", 0..=32);
const FILTER_BITS: Number = Number("filter_bits", 0..=16);
const BLOCK_BYTES: Number = Number("block_bytes", 512..=1 << 20);
const COMPRESSION_LEVEL: Number = Number("compression_level", 1..=22);
const DICTIONARY_BYTES: Number = Number("dictionary_bytes", 0..=1 << 20);
const SAMPLE_RECORDS: Number = Number("sample_records", 0..=1_000_000);
const DATA_FILES: Number = Number("data_files", 1..=128);
const SHARDS: Number = Number("shards", 1..=routing::SLOTS as i128);
const MEMORY_BYTES: Number = Number("memory_bytes", 1 << 20..=i64::MAX as i128);
const THREADS: Number = Number("threads", 1..=256);
const SEED: Number = Number("seed", i64::MIN as i128..=i64::MAX as i128);
const SCHEMA_BYTES: Number = Number("length of value_schema", 1..=8 << 20);

impl Number {
    fn check(&self, value: i128) -> Result<()> {
        let Number(name, range) = self;
        if range.contains(&value) {
            return Ok(());
        }
        Err(Error::Argument(format!("{name} is {value}, not in {} to {}", range.start(), range.end())))
    }

    fn parse<T: TryFrom<i128>>(&self, text: &str) -> Result<T> {
        let Number(name, range) = self;
        let wrong =
            || Error::Argument(format!("{name} is {text:?}, not a number in {} to {}", range.start(), range.end()));
        let value: i128 = text.parse().map_err(|_| wrong())?;
        self.check(value)?;
        T::try_from(value).map_err(|_| wrong())
    }
}

impl BuildOptions {
    /// The options that give a database like another one, as far as its manifest states them. A dictionary may have
    /// the size of the largest that the other one has. The resources are the defaults, and so are the samples. Of
    /// records with the same key, the last one is kept.
    ///
    /// The hash function is the one that all builds have, also if the other database has an older kind.
    pub fn of(database: &Database) -> BuildOptions {
        let facts = database.shards().facts();
        let mut like = BuildOptions {
            layout: facts.layout,
            chosen: true,
            filter_bits: facts.filter.map_or(0, |filter| filter.bits),
            data_files: facts.data().count().max(1) as u16,
            shards: facts.shards,
            duplicates: Duplicates::Last,
            ordered: facts.order.is_some(),
            schema: facts.schema.clone(),
            elements: facts.elements,
            seed: facts.seed,
            ..BuildOptions::default()
        };
        if !facts.layout.is_packed() {
            like.checksum_bits = facts.checksum_bits;
        }
        if facts.layout.is_compressed() {
            like.block = facts.block;
            like.level = facts.level;
            let singles = database.shards().held();
            let dictionaries = singles.filter_map(|single| single.facts.file(Kind::Dictionary));
            like.dictionary = dictionaries.map(|line| line.content() as usize).max().unwrap_or(0);
        }
        like
    }
}

/// The setters. [`set`](BuildOptions::set) takes names and values as text.
impl BuildOptions {
    /// How records are stored. Unless it is chosen, it is [`Layout::Packed`]; but [`Layout::Blocked`] if the keys are
    /// [`ordered`](BuildOptions::ordered), since its ranges are faster, or if other
    /// [`checksum_bits`](BuildOptions::checksum_bits) than the default are set, which packed databases do not have.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self.chosen = true;
        self
    }

    /// Checksum bits per key, 0 to 32, by default 4: absent keys are told without a read, except a fraction of 2^-bits.
    /// The packed layouts have none, but can have [`filter_bits`](BuildOptions::filter_bits).
    pub fn checksum_bits(mut self, bits: u32) -> Self {
        self.checksum_bits = bits;
        self.choose()
    }

    /// Bits per key, besides about 2.25 more, of a filter of the packed layouts, 0 to 16; by default 0, no filter.
    /// Lookups that read from the device keep it in memory, and tell absent keys without a read, except a fraction of
    /// 2^-bits.
    pub fn filter_bits(mut self, bits: u32) -> Self {
        self.filter_bits = bits;
        self
    }

    /// Bytes of a block before compression, 512 to 1,048,576, by default 1,024.
    pub fn block_bytes(mut self, bytes: u64) -> Self {
        self.block = bytes;
        self
    }

    /// The ZSTD level, 1 to 22, by default 6.
    pub fn compression_level(mut self, level: i32) -> Self {
        self.level = level;
        self
    }

    /// The size of the ZSTD dictionary that is trained, 0 to 1,048,576 bytes, by default 112,640; 0 for none.
    pub fn dictionary_bytes(mut self, bytes: usize) -> Self {
        self.dictionary = bytes;
        self
    }

    /// Records that the dictionary of a database, or of a shard, is trained on, 0 to 1,000,000, by default 10,000; 0
    /// for no dictionary.
    pub fn sample_records(mut self, records: u64) -> Self {
        self.samples = records;
        self
    }

    /// The number of data files, of each shard if there are several: 1 to 128, by default 1.
    pub fn data_files(mut self, files: u16) -> Self {
        self.data_files = files;
        self
    }

    /// The number of shards, 1 to 16,384. By default 1, a database that is not divided; otherwise the target contains a
    /// database for each shard, in a directory of its own.
    ///
    /// A build of several shards divides all records first, in temporary files if they need more than a quarter of the
    /// memory, then builds one shard after the other.
    pub fn shards(mut self, shards: u32) -> Self {
        self.shards = shards;
        self
    }

    /// What becomes of records with the same key; by default they are refused.
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// Whether the order of keys is stored, by their bytes, for [`Database::range`](crate::Database::range) and
    /// [`Database::prefix`](crate::Database::prefix). Records are stored in this order, except in the packed layouts.
    pub fn ordered(mut self, ordered: bool) -> Self {
        self.ordered = ordered;
        self.choose()
    }

    /// The schema of values that are typed rows: JSON on one line, 1 byte to 8 MiB, which the database keeps verbatim.
    /// The values must match it.
    pub fn value_schema(mut self, schema: impl Into<String>) -> Self {
        self.schema = Some(schema.into());
        self
    }

    /// States that all values are vectors of so many elements of a type, little-endian, one after another, which
    /// readers can then take as such. Records with values of another length are refused. Does not go with a schema
    /// of values.
    pub fn value_elements(mut self, element: Element, count: usize) -> Self {
        self.elements = Some(ValueElements { element, count });
        self
    }

    /// The seed of the signatures, by default 0. Anyone who knows it can make up keys that collide, and make every
    /// build fail; so use a random one for keys from untrusted sources. Builds with the same seed give the same bytes.
    pub fn seed(mut self, seed: i64) -> Self {
        self.seed = seed;
        self
    }

    /// The key that signs the manifest; by default the database is not signed. The id and all other files do not depend
    /// on it. See [`Options::trust`](crate::Options::trust), and [`sign`](crate::sign) for a database that was built.
    pub fn sign_key(mut self, key: SigningKey) -> Self {
        self.sign_key = Some(key);
        self
    }

    /// Whether a database at the target is replaced, in one step, when the new one is complete.
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Memory for what the build holds and sorts, at least 1 MiB, by default 1 GiB.
    ///
    /// Buffers take up to 16 MiB more, and 1 MiB for each data file. Training a dictionary takes up to 32 MiB of
    /// records before the build sorts any. A build also holds its longest record twice, a context of ZSTD for each
    /// thread, and of a packed database a byte for each page and 0.05 bytes for each record.
    pub fn memory_bytes(mut self, bytes: u64) -> Self {
        self.memory = bytes;
        self
    }

    /// The number of threads, 1 to 256; by default all cores.
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The directory for temporary files; by default beside the target.
    pub fn temporary_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.temporary = Some(directory.into());
        self
    }

    /// Sets an option by the name of its setter, to a value in text form: a number, a path or a schema as it is, a
    /// layout by its name, elements such as `f32 384`, a key as the path of its file, `error`, `first` or `last` for duplicates, and `true` or
    /// `false`.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        match name {
            "layout" => {
                let layout = Layout::ALL.into_iter().find(|layout| layout.name() == value);
                self.layout = layout.ok_or_else(|| {
                    let names: Vec<_> =
                        Layout::ALL.iter().filter(|&&known| known != Layout::None).map(|known| known.name()).collect();
                    wrong(name, value, &names.join(", "))
                })?;
                self.chosen = true;
            }
            "checksum_bits" => self.checksum_bits = CHECKSUM_BITS.parse(value)?,
            "filter_bits" => self.filter_bits = FILTER_BITS.parse(value)?,
            "block_bytes" => self.block = BLOCK_BYTES.parse(value)?,
            "compression_level" => self.level = COMPRESSION_LEVEL.parse(value)?,
            "dictionary_bytes" => self.dictionary = DICTIONARY_BYTES.parse(value)?,
            "sample_records" => self.samples = SAMPLE_RECORDS.parse(value)?,
            "data_files" => self.data_files = DATA_FILES.parse(value)?,
            "shards" => self.shards = SHARDS.parse(value)?,
            "duplicates" => {
                self.duplicates = match value {
                    "error" => Duplicates::Refuse,
                    "first" => Duplicates::First,
                    "last" => Duplicates::Last,
                    _ => return Err(wrong(name, value, "error, first, last")),
                }
            }
            "ordered" => self.ordered = switch(name, value)?,
            "value_schema" => self.schema = Some(value.to_owned()),
            "value_elements" => self.elements = Some(value.parse()?),
            "seed" => self.seed = SEED.parse(value)?,
            "sign_key" => self.sign_key = Some(SigningKey::read(value)?),
            "overwrite" => self.overwrite = switch(name, value)?,
            "memory_bytes" => self.memory = MEMORY_BYTES.parse(value)?,
            "threads" => self.threads = THREADS.parse(value)?,
            "temporary_directory" => self.temporary = Some(value.into()),
            _ => return Err(Error::Argument(format!("there is no option {name:?}"))),
        }
        *self = std::mem::take(self).choose();
        Ok(())
    }

    /// Chooses the layout, if the caller did not.
    fn choose(mut self) -> Self {
        if !self.chosen {
            let indexed = self.ordered || self.checksum_bits != BuildOptions::default().checksum_bits;
            self.layout = if indexed { Layout::Blocked } else { Layout::Packed };
        }
        self
    }

    /// Fails if a value is out of its range, or has no effect.
    pub(crate) fn check(&self) -> Result<()> {
        CHECKSUM_BITS.check(self.checksum_bits.into())?;
        FILTER_BITS.check(self.filter_bits.into())?;
        BLOCK_BYTES.check(self.block.into())?;
        COMPRESSION_LEVEL.check(self.level.into())?;
        DICTIONARY_BYTES.check(self.dictionary as i128)?;
        SAMPLE_RECORDS.check(self.samples.into())?;
        DATA_FILES.check(self.data_files.into())?;
        SHARDS.check(self.shards.into())?;
        MEMORY_BYTES.check(self.memory.into())?;
        THREADS.check(self.threads as i128)?;
        if let Some(schema) = &self.schema {
            SCHEMA_BYTES.check(schema.len() as i128)?;
            if schema.contains(['\n', '\r', '\0']) {
                return Err(Error::Argument("value_schema contains a line break or a zero".into()));
            }
        }
        if let Some(elements) = self.elements {
            elements.check()?;
            if self.schema.is_some() {
                let why = "but value_schema says that values are rows: set only one of them";
                return Err(Error::Argument(format!("value_elements is {elements}, {why}")));
            }
        }
        if self.layout == Layout::None {
            let reason = "the layout none is that of approximate databases, which `bsdb build -a` builds";
            return Err(Error::Argument(reason.into()));
        }
        self.check_effects()
    }

    /// Fails if an option has no effect in the layout.
    fn check_effects(&self) -> Result<()> {
        let usual = BuildOptions::default();
        let layout = self.layout;
        let require = |name: &str, value: i128, usual: i128, why: &str| {
            if value == usual {
                return Ok(());
            }
            Err(Error::Argument(format!("{name} is {value}, but {why}")))
        };
        if layout.is_packed() {
            let why = "a packed index has none: set filter_bits, or choose another layout";
            require("checksum_bits", self.checksum_bits.into(), usual.checksum_bits.into(), why)?;
        } else {
            let why = format!(
                "the layout {layout} has checksum bits in its hash function instead: set checksum_bits, or choose a \
                 packed layout"
            );
            require("filter_bits", self.filter_bits.into(), usual.filter_bits.into(), &why)?;
        }
        if !layout.is_compressed() {
            let why =
                format!("the layout {layout} compresses nothing: leave it as it is, or choose a compressed layout");
            require("block_bytes", self.block.into(), usual.block.into(), &why)?;
            require("compression_level", self.level.into(), usual.level.into(), &why)?;
            if self.trains() {
                require("dictionary_bytes", self.dictionary as i128, usual.dictionary as i128, &why)?;
                require("sample_records", self.samples.into(), usual.samples.into(), &why)?;
            }
        }
        Ok(())
    }

    /// Whether a dictionary is trained if records are compressed.
    pub(crate) fn trains(&self) -> bool {
        self.dictionary > 0 && self.samples > 0
    }
}

fn switch(name: &str, value: &str) -> Result<bool> {
    value.parse().map_err(|_| wrong(name, value, "true, false"))
}

fn wrong(name: &str, value: &str, known: &str) -> Error {
    Error::Argument(format!("{name} is {value:?}, not one of {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: BuildOptions) -> String {
        options.check().unwrap_err().to_string()
    }

    #[test]
    fn values_have_ranges() {
        let usual = BuildOptions::default;
        usual().check().unwrap();
        assert_eq!(refused(usual().checksum_bits(33)), "checksum_bits is 33, not in 0 to 32");
        assert_eq!(refused(usual().memory_bytes(5)), "memory_bytes is 5, not in 1048576 to 9223372036854775807");
        assert_eq!(
            refused(usual().memory_bytes(1 << 63)).split(',').next(),
            Some("memory_bytes is 9223372036854775808")
        );
        assert_eq!(refused(usual().compression_level(-1)), "compression_level is -1, not in 1 to 22");
        assert_eq!(refused(usual().shards(16_385)), "shards is 16385, not in 1 to 16384");
        assert_eq!(refused(usual().value_schema("")), "length of value_schema is 0, not in 1 to 8388608");
        for schema in ["a\nb", "a\rb", "\0"] {
            assert_eq!(refused(usual().value_schema(schema)), "value_schema contains a line break or a zero");
        }
        assert!(refused(usual().layout(Layout::None)).contains("`bsdb build -a`"));
    }

    #[test]
    fn elements_of_values_are_checked() {
        let usual = BuildOptions::default;
        usual().value_elements(Element::F16, 3).check().unwrap();
        assert_eq!(
            refused(usual().value_elements(Element::F16, 0)),
            "value_elements is f16 0; the number goes from 1 to 1073741819"
        );
        let rows = usual().value_elements(Element::I8, 3).value_schema("{}");
        assert!(refused(rows).starts_with("value_elements is i8 3, but value_schema says"));
        let mut options = usual();
        options.set("value_elements", "f32 384").unwrap();
        assert_eq!(options.elements, Some(ValueElements { element: Element::F32, count: 384 }));
        assert!(options.set("value_elements", "f31 384").unwrap_err().to_string().ends_with("u8, i16, i32, i64"));
    }

    #[test]
    fn what_has_no_effect_is_refused() {
        let usual = BuildOptions::default;
        let packed = usual().layout(Layout::Packed).checksum_bits(8);
        assert_eq!(
            refused(packed),
            "checksum_bits is 8, but a packed index has none: set filter_bits, or choose another layout"
        );
        assert!(refused(usual().layout(Layout::Compact).filter_bits(8)).starts_with("filter_bits is 8, but the"));
        let why = "but the layout packed compresses nothing: leave it as it is, or choose a compressed layout";
        assert_eq!(refused(usual().block_bytes(512)), format!("block_bytes is 512, {why}"));
        assert_eq!(refused(usual().dictionary_bytes(512)), format!("dictionary_bytes is 512, {why}"));
        for none in
            [usual().dictionary_bytes(0), usual().sample_records(0), usual().dictionary_bytes(0).sample_records(1)]
        {
            none.check().unwrap();
        }
        usual().layout(Layout::PackedCompressed).filter_bits(8).block_bytes(512).check().unwrap();
    }

    #[test]
    fn the_layout_follows_from_other_options_unless_it_is_chosen() {
        let usual = BuildOptions::default;
        assert_eq!(usual().ordered(true).layout, Layout::Blocked);
        assert_eq!(usual().ordered(true).ordered(false).layout, Layout::Packed);
        assert_eq!(usual().checksum_bits(5).layout, Layout::Blocked);
        assert_eq!(usual().layout(Layout::Packed).ordered(true).layout, Layout::Packed);
        assert_eq!(usual().ordered(true).layout(Layout::Compact).layout, Layout::Compact);
    }

    #[test]
    fn options_are_set_by_name() {
        let mut options = BuildOptions::default();
        for (name, value) in [("ordered", "true"), ("seed", "-7"), ("duplicates", "last"), ("data_files", "128")] {
            options.set(name, value).unwrap();
        }
        assert_eq!((options.layout, options.seed, options.data_files), (Layout::Blocked, -7, 128));
        assert_eq!(options.duplicates, Duplicates::Last);
        options.set("layout", "packed-compressed").unwrap();
        assert_eq!(options.layout, Layout::PackedCompressed);
        for (name, value, reason) in [
            ("layout", "p", "layout is \"p\", not one of blocked, compact, compressed, packed, packed-compressed"),
            ("duplicates", "any", "duplicates is \"any\", not one of error, first, last"),
            ("overwrite", "1", "overwrite is \"1\", not one of true, false"),
            ("data_files", "65536", "data_files is 65536, not in 1 to 128"),
            ("threads", "two", "threads is \"two\", not a number in 1 to 256"),
            ("file", "1", "there is no option \"file\""),
        ] {
            assert_eq!(options.set(name, value).unwrap_err().to_string(), reason);
        }
    }
}
