//! Files that are fetched whole when a database is opened, because lookups read them at several places each.

use futures_util::future::try_join_all;
use futures_util::stream::{StreamExt, TryStreamExt};

use super::file::RemoteFile;
use super::{Live, Place};
use crate::error::{Error, Result};
use crate::file::directory::{self, Files};
use crate::file::paged::PagedFile;
use crate::format::facts::{Facts, FileLine};
use crate::format::frame::{Id, Kind};
use crate::format::page::SIZE;
use crate::memory;
use crate::verify;

/// Pages of a part, and how many are under way at once.
const PART: u64 = 2048;
const AT_ONCE: usize = 4;

/// The most bytes of a filter that is fetched. Without it, a lookup of an absent key reads its bin.
const LARGEST_FILTER: u64 = 64 << 20;

/// Opens the files of a database: fetches the small ones, all at once, and checks them in full. Asks for nothing of the
/// others, which the first answer proves to be right.
pub(crate) fn open(place: &Place, facts: &Facts, id: &Id, verify: bool) -> Result<Files> {
    let is_whole = |line: &&FileLine| match line.kind {
        Kind::Hash | Kind::Dictionary => true,
        Kind::Index => facts.layout.is_packed(),
        Kind::Filter => line.pages * SIZE as u64 <= LARGEST_FILTER,
        _ => false,
    };
    let lines: Vec<&FileLine> = facts.files.iter().filter(is_whole).collect();
    let live = place.live()?;
    let fetched = place.wait(try_join_all(lines.iter().map(|line| fetch(place, live, line, id, verify))))?;
    let mut whole: Vec<(Kind, PagedFile)> = lines.iter().map(|line| line.kind).zip(fetched).collect();
    let mut take = |kind: Kind| {
        let at = whole.iter().position(|(found, _)| *found == kind)?;
        Some(whole.swap_remove(at).1)
    };
    let elsewhere = |line: &FileLine| PagedFile::elsewhere(RemoteFile::new(place, line, id, verify), line, verify);
    let optional = |kind| facts.file(kind).map(elsewhere).transpose();
    let index = match take(Kind::Index) {
        Some(index) => index,
        None => optional(Kind::Index)?.ok_or_else(|| Error::Impossible("no index".into()))?,
    };
    let dictionary = match (facts.file(Kind::Dictionary), take(Kind::Dictionary)) {
        (Some(line), Some(file)) => Some(directory::dictionary(&file, line)?),
        _ => None,
    };
    Ok(Files {
        data: facts.data().map(elsewhere).collect::<Result<_>>()?,
        hash: take(Kind::Hash),
        index,
        filter: take(Kind::Filter),
        order: optional(Kind::Order)?,
        dictionary,
    })
}

/// Fetches a file and checks every byte of it. What is wrong is fetched again once, since it may have been damaged on
/// its way.
async fn fetch(place: &Place, live: &Live, line: &FileLine, id: &Id, verify: bool) -> Result<PagedFile> {
    let mut again = true;
    loop {
        let file = RemoteFile::new(place, line, id, verify);
        let bytes = bytes(&file, live, line).await?;
        let checked = PagedFile::fetched(file.path().to_owned(), line, id, &bytes, verify).and_then(|paged| {
            verify::fetched(&paged, line)?;
            Ok(paged)
        });
        match checked {
            Err(Error::Damaged { .. }) if std::mem::take(&mut again) => {}
            checked => return checked,
        }
    }
}

/// The bytes of a file. The first part goes ahead, if there are more: it says which content the others must be of.
async fn bytes(file: &RemoteFile, live: &Live, line: &FileLine) -> Result<Vec<u8>> {
    let mut bytes = memory::with_capacity(line.pages as usize * SIZE, file.path())?;
    let first = PART.min(line.pages);
    bytes.extend_from_slice(&file.raw(live, 0, first).await?);
    let parts = (first..line.pages).step_by(PART as usize).map(|at| file.raw(live, at, PART.min(line.pages - at)));
    let mut parts = futures_util::stream::iter(parts).buffered(AT_ONCE);
    while let Some(part) = parts.try_next().await? {
        bytes.extend_from_slice(&part);
    }
    Ok(bytes)
}
