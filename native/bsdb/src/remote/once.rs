//! One value of a database that is not opened: its manifest tells which pages probably hold the record (FORMAT.md §12).

use std::path::Path;

use super::file::RemoteFile;
use super::transport::Reason;
use super::window::Window;
use super::{Place, MANIFEST};
use crate::database::Database;
use crate::error::{Error, RemoteKind, Result};
use crate::file::directory::{Manifest, Stated, MAX_PAGES};
use crate::file::origin::Origin;
use crate::file::paged::PagedFile;
use crate::format::facts::{Facts, Layout};
use crate::format::frame::Id;
use crate::format::page::SIZE;
use crate::format::record::MAX_KEY;
use crate::format::{routing, scaled};
use crate::hash::signature::SignatureFunction;
use crate::layout::packed::{self, Directory, Wanted};
use crate::layout::{Outcome, Place as At, Work};
use crate::memory;
use crate::options::Options;
use crate::shards;

/// The value of one key of a database that is not open, or None if there is no such key.
///
/// In a database elsewhere, of the layout packed, this takes two requests for almost every key that is there: the
/// manifest, and a few pages that probably hold the record; of a set of shards three, of a store four. For absent
/// keys, for other layouts, and for databases that an earlier version built without a sample of the index in the
/// manifest, the database is opened, which asks for its whole index. The answer is the same in any case.
///
/// For more than one value, open the database once. One on this machine is opened.
///
/// ```no_run
/// let value = bsdb::get_once("s3://bucket/rdb", b"key", bsdb::Options::default())?;
/// # Ok::<(), bsdb::Error>(())
/// ```
pub fn get_once(path: impl AsRef<Path>, key: &[u8], options: Options) -> Result<Option<Vec<u8>>> {
    let origin = Origin::of(path.as_ref(), &options)?;
    let seen = match origin.place() {
        Some(place) => sight(place.wait(look(&origin, place, key, &options)))?,
        None => Sight::Unsure(None),
    };
    match seen {
        Sight::Value(value) => Ok(Some(value)),
        Sight::Unsure(known) => open(&origin, known, options)?.get(key),
    }
}

/// Like [`get_once`], for callers that must not block: the future works under any executor. A database on this machine
/// is read at once. If the future is dropped while the database is being opened, that goes on in a thread of its own.
pub async fn aget_once(path: impl AsRef<Path>, key: &[u8], options: Options) -> Result<Option<Vec<u8>>> {
    let origin = Origin::of(path.as_ref(), &options)?;
    let Some(place) = origin.place() else {
        return open(&origin, None, options)?.get(key);
    };
    let known = match sight(place.entered(look(&origin, place, key, &options))?.await)? {
        Sight::Value(value) => return Ok(Some(value)),
        Sight::Unsure(known) => known,
    };
    let (origin, key) = (origin.clone(), memory::copy(key, place.path())?);
    let opened = place.live()?.handle.spawn_blocking(move || open(&origin, known, options)?.get(&key));
    opened.await.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
}

/// What the manifest and a few pages told.
enum Sight {
    Value(Vec<u8>),
    /// Nothing certain. The place and the manifest, if that is the right one, need not be looked for again.
    Unsure(Option<(Origin, Manifest)>),
}

/// Opens a database.
fn open(origin: &Origin, known: Option<(Origin, Manifest)>, options: Options) -> Result<Database> {
    let (origin, manifest) = match known {
        Some((origin, manifest)) => (origin, Some(manifest)),
        None => origin.begin()?,
    };
    Database::open_at(&origin, manifest, options)
}

/// What is damaged, missing or replaced may be so only for one who does not go by the index.
fn sight(seen: Result<Sight>) -> Result<Sight> {
    match seen {
        Err(Error::Damaged { .. } | Error::Remote { kind: RemoteKind::Missing | RemoteKind::Changed, .. }) => {
            Ok(Sight::Unsure(None))
        }
        seen => seen,
    }
}

/// Looks where the record of a key probably is.
async fn look(origin: &Origin, place: &Place, key: &[u8], options: &Options) -> Result<Sight> {
    let (mut origin, mut place) = (origin.clone(), place.clone());
    let mut read = manifest(&place).await?;
    if read.is_none() {
        let Some(version) = place.read_version().await? else { return Ok(Sight::Unsure(None)) };
        (origin, place) = (origin.join(&version), place.join(&version));
        read = manifest(&place).await?;
    }
    let Some(manifest) = read else { return Ok(Sight::Unsure(None)) };
    manifest.require_trusted(&options.trusted)?;
    let verify = options.verify;
    let found = match manifest.parse()? {
        _ if key.len() > MAX_KEY => None,
        Stated::Database(facts) => value(&place, &manifest.id, &facts, key, verify).await?,
        Stated::Set(set) => {
            let count = set.shards.len() as u32;
            let shard = routing::shard(routing::slot(key), count);
            let line = &set.shards[shard as usize];
            let place = place.join(&line.directory());
            match self::manifest(&place).await? {
                Some(own) => {
                    let facts = shards::facts_of(&own, &manifest, line, count)?;
                    value(&place, &own.id, &facts, key, verify).await?
                }
                None => None,
            }
        }
    };
    Ok(found.map_or_else(|| Sight::Unsure(Some((origin, manifest))), Sight::Value))
}

/// The manifest of a place; None if it has none.
async fn manifest(place: &Place) -> Result<Option<Manifest>> {
    let object = place.object(MANIFEST);
    match place.small(place.live()?, &object, MAX_PAGES * SIZE as u64).await {
        Ok(got) => Manifest::of(object.path, &got.bytes).map(Some),
        // Without the permission to list a bucket, a missing file may not be told from a forbidden one.
        Err(lost) if matches!(lost.reason(), Reason::Missing | Reason::Denied) => Ok(None),
        Err(lost) => Err(place.error(&object, lost)),
    }
}

/// The value of a key, if its record lies in the window of its bin.
async fn value(place: &Place, id: &Id, facts: &Facts, key: &[u8], verify: bool) -> Result<Option<Vec<u8>>> {
    if facts.layout != Layout::Packed {
        return Ok(None);
    }
    let signature = SignatureFunction::of(facts).sign(key);
    let Some(window) = Window::of(facts, scaled(signature.high, facts.bins)) else { return Ok(None) };
    let Some(line) = facts.data().nth(window.file) else { return Ok(None) };
    let file = PagedFile::elsewhere(RemoteFile::new(place, line, id, verify), line, verify)?;
    let Some(remote) = file.remote() else { return Ok(None) };
    let wanted = [(window.first, window.count)];
    let pages = remote.fetch(place.live()?, window.first, window.count, &wanted).await?;
    let wanted = Wanted { key, signature, bins: facts.bins, compressed: false, dictionary: None };
    search(&file, &window, &pages, &wanted)
}

/// Searches in all bins that start in the pages of a window.
fn search(file: &PagedFile, window: &Window, pages: &[u8], wanted: &Wanted<'_>) -> Result<Option<Vec<u8>>> {
    let mut work = Work::default();
    for i in 0..window.count {
        let (first, count) = (window.first + i, window.count - i);
        let pages = &pages[i as usize * SIZE..];
        let bins = Directory::of(pages).map_or(0, |directory| directory.bins);
        for at in 0..bins {
            let place = At { file: window.file, first, count, at, detail: bins };
            match packed::search(file, &place, pages, wanted, &mut work)? {
                Outcome::Pages(range) => return memory::copy(&pages[range], file.path()).map(Some),
                Outcome::Raw(range) => return memory::copy(&work.raw[range], file.path()).map(Some),
                Outcome::Absent | Outcome::More(_) => {}
            }
        }
    }
    Ok(None)
}
