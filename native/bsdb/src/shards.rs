//! The shards of a set, and the way from a key to its shard. A database without shards is the only one of its own.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, TryLockError};

use crate::error::{Error, Result};
use crate::file::directory::{Manifest, Stated};
use crate::file::origin::Origin;
use crate::file::paged::Access;
use crate::format::facts::Facts;
use crate::format::facts::MANIFEST;
use crate::format::frame::{hex, Id};
use crate::format::page::SIZE;
use crate::format::record::MAX_KEY;
use crate::format::routing;
use crate::format::set::{SetFacts, ShardLine};
use crate::options::Options;
use crate::order::tree::OrderTree;
use crate::os::direct::Ring;
#[cfg(feature = "remote")]
use crate::remote::Place;
use crate::single::Single;

/// The shards of a set that a directory holds, or its one database. Immutable; any number of threads can use it at
/// once.
pub(crate) struct Shards {
    pub(crate) path: PathBuf,
    pub(crate) id: Id,
    pub(crate) set: Option<SetFacts>,
    /// Bytes of the manifest of the set, or 0.
    pub(crate) set_bytes: u64,
    /// By number of the shard; None for shards that are not held. One for a database without shards.
    singles: Vec<Option<Single>>,
    pub(crate) options: Options,
    #[cfg(feature = "remote")]
    place: Option<Place>,
    /// Rings that are not in use, and the process that created each.
    rings: Mutex<Vec<(u32, Ring)>>,
}

impl Shards {
    /// Opens a directory with a manifest. If a build replaces the database meanwhile and a file is missing,
    /// starts again with the new one.
    /// `manifest` is the manifest, if it was read already.
    pub(crate) fn open(origin: &Origin, mut manifest: Option<Manifest>, options: Options) -> Result<Shards> {
        const ATTEMPTS: usize = 100;
        for _ in 1..ATTEMPTS {
            let manifest = manifest.take().map_or_else(|| origin.manifest(), Ok)?;
            manifest.require_trusted(&options.trusted)?;
            match Shards::of(origin, &manifest, &options) {
                Err(error) if error.is_missing_file() && origin.manifest()?.id != manifest.id => {}
                result => return result,
            }
        }
        let manifest = origin.manifest()?;
        manifest.require_trusted(&options.trusted)?;
        Shards::of(origin, &manifest, &options)
    }

    fn of(origin: &Origin, manifest: &Manifest, options: &Options) -> Result<Shards> {
        let (set, set_bytes, singles) = match manifest.parse()? {
            Stated::Database(facts) => {
                let single = Single::open(origin, manifest.id, *facts, options, manifest.bytes())?;
                (None, 0, vec![Some(single)])
            }
            Stated::Set(set) => {
                let singles = open_shards(origin, manifest, &set, options)?;
                (Some(set), manifest.bytes(), singles)
            }
        };
        Ok(Shards {
            path: origin.path().to_owned(),
            id: manifest.id,
            set,
            set_bytes,
            singles,
            options: options.clone(),
            #[cfg(feature = "remote")]
            place: origin.place().cloned(),
            rings: Mutex::new(Vec::new()),
        })
    }

    /// Where the files are, if they are not on this machine.
    #[cfg(feature = "remote")]
    pub(crate) fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    /// The order of keys of each database.
    pub(crate) fn orders(&self) -> Result<Vec<(&Single, &OrderTree)>> {
        let orders = self.held().map(|single| Some((single, single.order.as_ref()?))).collect::<Option<_>>();
        orders.ok_or_else(|| {
            let path = self.path.display();
            Error::Impossible(format!("{path}: has no order of keys; build it anew with: bsdb build --ordered"))
        })
    }

    /// The shards that are held, or the one database.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Single> {
        self.singles.iter().flatten()
    }

    pub(crate) fn facts(&self) -> &Facts {
        // There is one: a set holds at least one shard.
        self.held().next().map(|single| &single.facts).expect("a database or a shard")
    }

    /// The database in which a key must be if it exists.
    #[inline(always)]
    pub(crate) fn single_of(&self, key: &[u8]) -> Result<&Single> {
        if let [Some(single)] = &self.singles[..] {
            if single.facts.shards == 1 {
                return Ok(single);
            }
        }
        self.shard_of(key)
    }

    fn shard_of(&self, key: &[u8]) -> Result<&Single> {
        if key.len() > MAX_KEY {
            // No shard has such a key.
            return Ok(self.held().next().expect("a database or a shard"));
        }
        let count = self.facts().shards;
        let shard = routing::shard(routing::slot(key), count);
        let single = if self.set.is_some() {
            self.singles.get(shard as usize).and_then(Option::as_ref)
        } else {
            self.singles[0].as_ref().filter(|single| single.facts.shard == shard)
        };
        single.ok_or_else(|| Error::NotHeld { path: self.path.clone(), shard })
    }

    /// Whether most records can be found at a glance.
    #[inline(always)]
    pub(crate) fn is_plainly_packed(&self) -> bool {
        self.held().next().is_some_and(|single| single.plainly_packed().is_some())
    }

    pub(crate) fn reads_directly(&self) -> bool {
        #[cfg(feature = "remote")]
        if self.place.is_some() {
            return false;
        }
        self.options.access == Access::Direct
    }

    /// Lends a ring of io_uring, or None where there is none.
    ///
    /// A forked process shares the rings of its parent, and each would take the other's completions: it closes
    /// its copies and creates rings of its own. It never waits for the lock, which a thread of the parent may
    /// have held.
    pub(crate) fn with_ring<R>(&self, work: impl FnOnce(Option<&mut Ring>) -> R) -> R {
        let process = std::process::id();
        let mut lent = None;
        if let Some(mut rings) = unlocked(&self.rings) {
            rings.retain(|(creator, _)| *creator == process);
            lent = rings.pop().map(|(_, ring)| ring);
        }
        let mut ring = lent.or_else(Ring::new);
        let result = work(ring.as_mut());
        if let (Some(ring), Some(mut rings)) = (ring, unlocked(&self.rings)) {
            rings.push((process, ring));
        }
        result
    }
}

/// Opens the shards that a set's directory holds, and checks that they are what its manifest says.
fn open_shards(origin: &Origin, manifest: &Manifest, set: &SetFacts, options: &Options) -> Result<Vec<Option<Single>>> {
    let mut singles: Vec<Option<Single>> = Vec::new();
    singles.resize_with(set.shards.len(), || None);
    let mut first = None;
    let open = |number: u32| {
        let line = &set.shards[number as usize];
        open_shard(origin, manifest, line, set.shards.len() as u32, options)
    };
    for (&number, single) in set.held.iter().zip(opened(origin, &set.held, &open)) {
        let single = single?;
        let kind = (single.facts.layout, single.facts.width, single.facts.schema.clone(), single.facts.elements);
        match &first {
            None => first = Some(kind),
            Some(first) if *first != kind => {
                return Err(Error::damaged(
                    &single.path.join(MANIFEST),
                    SIZE as u64,
                    "the layout, index.width, value.schema and value.elements of the other shards",
                    format!("layout {}, index.width {}", single.facts.layout, single.facts.width),
                ));
            }
            Some(_) => {}
        }
        singles[number as usize] = Some(single);
    }
    Ok(singles)
}

/// Opens shards one after the other; those of a place many at once, since each waits for several answers.
fn opened<'a>(
    origin: &Origin,
    held: &'a [u32],
    open: &'a (dyn Fn(u32) -> Result<Single> + Sync),
) -> Box<dyn Iterator<Item = Result<Single>> + 'a> {
    #[cfg(feature = "remote")]
    if origin.place().is_some() {
        const AT_ONCE: usize = 16;
        return Box::new(held.chunks(AT_ONCE).flat_map(move |numbers| {
            std::thread::scope(|scope| {
                let threads: Vec<_> = numbers.iter().map(|&number| scope.spawn(move || open(number))).collect();
                let joined = threads.into_iter().map(|thread| thread.join());
                joined.map(|opened| opened.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect::<Vec<_>>()
            })
        }));
    }
    let _ = origin;
    Box::new(held.iter().map(move |&number| open(number)))
}

fn open_shard(origin: &Origin, set: &Manifest, line: &ShardLine, count: u32, options: &Options) -> Result<Single> {
    let directory = origin.join(&line.directory());
    let manifest = match directory.manifest() {
        Err(Error::NotADatabase { .. }) => {
            // Perhaps the set is being replaced: see Shards::open.
            let missing = "missing, although the manifest of the set lists this shard: the set was not copied whole";
            let source = std::io::Error::new(std::io::ErrorKind::NotFound, missing);
            return Err(Error::Io { path: directory.path().to_owned(), source });
        }
        manifest => manifest?,
    };
    let facts = facts_of(&manifest, set, line, count)?;
    Single::open(&directory, manifest.id, facts, options, manifest.bytes())
}

/// What the manifest of a shard says, if that is what the line of its set says.
pub(crate) fn facts_of(manifest: &Manifest, set: &Manifest, line: &ShardLine, count: u32) -> Result<Facts> {
    let wrong = |expected: String, found: String| {
        let by_set = format!("{expected}, as {} says", set.path().display());
        Error::damaged(manifest.path(), SIZE as u64, by_set, found)
    };
    if manifest.id != line.id {
        return Err(wrong(format!("database id {}", hex(&line.id)), hex(&manifest.id)));
    }
    let Stated::Database(facts) = manifest.parse()? else {
        return Err(wrong("the manifest of a shard".into(), "that of a set".into()));
    };
    if (facts.shard, facts.shards) != (line.number, count) {
        return Err(wrong(
            format!("shard {} of {count}", line.number),
            format!("shard {} of {}", facts.shard, facts.shards),
        ));
    }
    if facts.records != line.records {
        return Err(wrong(format!("{} records", line.records), format!("{} records", facts.records)));
    }
    Ok(*facts)
}

/// What a mutex guards, unless a thread holds it.
fn unlocked<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
