//! The directory of a database or of a set of shards: its manifest, checked as a whole (FORMAT.md §8).

#[cfg(unix)]
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::origin::Origin;
use super::paged::{Access, PagedFile};
use crate::error::{Error, Result};
use crate::format::content::ContentHasher;
use crate::format::facts::{Facts, FileLine, MANIFEST};
use crate::format::frame::{self, hex, Id, Kind};
use crate::format::page::{self, PAYLOAD, SIZE};
use crate::format::set::{self, SetFacts};
use crate::format::signed::{self, ManifestSignature};
use crate::format::text::Lines;
use crate::keys::{PublicKey, SigningKey};
use crate::os::direct::Pages;
#[cfg(feature = "remote")]
use crate::remote::whole;

/// The most pages of a manifest.
pub(crate) const MAX_PAGES: u64 = 4096;

/// A manifest whose pages, digest and id are right.
pub(crate) struct Manifest {
    path: PathBuf,
    text: Vec<u8>,
    pub(crate) id: Id,
    /// Right or wrong.
    signature: Option<ManifestSignature>,
}

/// What a manifest describes.
pub(crate) enum Stated {
    Database(Box<Facts>),
    Set(SetFacts),
}

/// The names that a manifest lists: the files of a database, or the shards of a set.
#[cfg(unix)]
pub(crate) struct Listed {
    pub(crate) id: Id,
    /// The files beside the manifest.
    pub(crate) files: BTreeSet<String>,
    /// The directories and ids of the shards that are held.
    pub(crate) shards: BTreeMap<String, Id>,
}

impl Manifest {
    /// Reads and checks the manifest in a directory.
    pub(crate) fn read(directory: &Path) -> Result<Manifest> {
        let (path, bytes) = Manifest::load(directory)?;
        Manifest::of(path, &bytes)
    }

    /// Reads the file of the manifest in a directory.
    pub(crate) fn load(directory: &Path) -> Result<(PathBuf, Vec<u8>)> {
        let path = directory.join(MANIFEST);
        let bytes = match std::fs::metadata(&path) {
            Ok(meta) if meta.len() > MAX_PAGES * SIZE as u64 => {
                return Err(Error::damaged(
                    &path,
                    0,
                    format!("at most {MAX_PAGES} pages"),
                    format!("{} bytes", meta.len()),
                ));
            }
            Ok(_) => std::fs::read(&path).map_err(|e| Error::io(&path, e))?,
            Err(e) => return Err(missing(directory, &path, e)),
        };
        Ok((path, bytes))
    }

    /// Checks the bytes of a manifest.
    pub(crate) fn of(path: PathBuf, bytes: &[u8]) -> Result<Manifest> {
        if bytes.len() < 3 * SIZE || bytes.len() % SIZE != 0 {
            return Err(Error::damaged(
                &path,
                bytes.len() as u64,
                "whole pages of 4,096 bytes, three or more",
                format!("{} bytes", bytes.len()),
            ));
        }
        let pages: Vec<&[u8]> = bytes.chunks_exact(SIZE).collect();
        let last = pages.len() as u64 - 1;
        let header = frame::header(&path, pages[0], Kind::Manifest, 0)?;
        let footer = frame::footer(&path, pages[last as usize], last, Kind::Manifest, 0)?;
        let mut text = Vec::new();
        let mut digest = 0;
        for (number, bytes) in (1..last).zip(&pages[1..]) {
            let computed = page::checksum(bytes, Kind::Manifest as u16, 0, number);
            let stored = page::stored(bytes);
            if computed != stored {
                return Err(Error::damaged(
                    &path,
                    number * SIZE as u64,
                    format!("a page with checksum {computed:08x}"),
                    format!("{stored:08x}"),
                ));
            }
            digest = page::digest(digest, stored);
            text.extend_from_slice(&bytes[..PAYLOAD]);
        }
        let end = text.iter().rposition(|&byte| byte != 0).map_or(0, |at| at + 1);
        text.truncate(end);
        let id = id_of(&text);
        let signature = signed::stored(pages[last as usize]);
        let end = last * SIZE as u64;
        if (footer.pages, footer.digest) != (last + 1, digest) {
            return Err(Error::damaged(
                &path,
                end + 32,
                format!("{} pages with digest {digest:x}", last + 1),
                format!("{} pages with digest {:x}", footer.pages, footer.digest),
            ));
        }
        for (found, at) in [(header.id, 16), (footer.id, end + 16)] {
            if found != id {
                return Err(Error::damaged(&path, at, format!("database id {}", hex(&id)), hex(&found)));
            }
        }
        Ok(Manifest { path, text, id, signature })
    }

    /// Fails unless one of the keys has signed the manifest. Without keys, no signature is required.
    pub(crate) fn require_trusted(&self, keys: &[PublicKey]) -> Result<()> {
        let reason = match &self.signature {
            _ if keys.is_empty() => return Ok(()),
            Some(_) if !self.has_content_hashes() => {
                "has no content hashes, so its signature would cover no content".to_owned()
            }
            Some(signature) if signed::is_right(&self.text, signature, keys, id_of) => return Ok(()),
            Some(_) => {
                let by = if keys.len() == 1 { "the trusted key" } else { "one of the trusted keys" };
                format!("its signature is not by {by}, or what it signs was changed")
            }
            None => "is not signed, but a trusted signature is required".to_owned(),
        };
        Err(Error::Untrusted { path: self.path.clone(), reason })
    }

    /// Whether the manifest is that of a set, or has content hashes, so that a signature covers the content.
    pub(crate) fn has_content_hashes(&self) -> bool {
        let has = |line: &[u8]| self.text.windows(line.len()).any(|found| found == line);
        has(b"\nlayout=sharded\n") || has(b"\nfile.sha256=")
    }

    /// The signature of a key.
    pub(crate) fn sign(&self, key: &SigningKey) -> ManifestSignature {
        signed::sign(&self.text, key)
    }

    /// Parses the text.
    pub(crate) fn parse(&self) -> Result<Stated> {
        let lines = Lines::parse(&self.path, &self.text)?;
        Ok(if set::is_set(&lines)? {
            Stated::Set(SetFacts::parse(&lines)?)
        } else {
            Stated::Database(Box::new(Facts::parse(&lines)?))
        })
    }

    /// What the manifest lists. Facts that this version does not know do not matter.
    #[cfg(unix)]
    pub(crate) fn listed(&self) -> Result<Listed> {
        let lines = Lines::parse(&self.path, &self.text)?;
        let mut listed = Listed { id: self.id, files: BTreeSet::new(), shards: BTreeMap::new() };
        if set::is_set(&lines)? {
            let set = SetFacts::parse(&lines)?;
            let shards = set.held.iter().filter_map(|&number| set.shards.get(number as usize));
            listed.shards.extend(shards.map(|shard| (shard.directory(), shard.id)));
        } else {
            for line in lines.all("file") {
                listed.files.insert(FileLine::parse(&lines, line)?.name(&self.id));
            }
        }
        Ok(listed)
    }

    /// Bytes of the file.
    pub(crate) fn bytes(&self) -> u64 {
        (self.text.len().div_ceil(PAYLOAD) + 2) as u64 * SIZE as u64
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// The id that follows from the text of a manifest (FORMAT.md §8).
fn id_of(text: &[u8]) -> Id {
    let sha: [u8; 32] = Sha256::digest(text).into();
    let mut id = [0; 16];
    id.copy_from_slice(&sha[..16]);
    id
}

/// An error about a directory without a manifest.
fn missing(directory: &Path, manifest: &Path, error: std::io::Error) -> Error {
    use std::io::ErrorKind::{InvalidInput, NotADirectory, NotFound};
    let reason = match (error.kind(), directory.metadata()) {
        (NotFound, Err(e)) if e.kind() == NotFound => "no such directory; check the path",
        (NotFound, Ok(_)) => "no manifest.bsdb; this directory is not a bsdb database",
        (InvalidInput, _) => "not a path: it holds a zero byte",
        (NotADirectory, _) => "not a directory; a bsdb database is one",
        _ => return Error::io(manifest, error),
    };
    Error::NotADatabase { path: directory.to_owned(), reason: reason.to_owned() }
}

/// The files of one database, opened by kind.
pub(crate) struct Files {
    pub(crate) data: Vec<PagedFile>,
    pub(crate) hash: Option<PagedFile>,
    pub(crate) index: PagedFile,
    pub(crate) filter: Option<PagedFile>,
    pub(crate) order: Option<PagedFile>,
    pub(crate) dictionary: Option<Vec<u8>>,
}

impl Files {
    /// Opens all files of a database and checks their frames.
    pub(crate) fn open(origin: &Origin, facts: &Facts, id: &Id, access: Access, verify: bool) -> Result<Files> {
        #[cfg(feature = "remote")]
        if let Some(place) = origin.place() {
            return whole::open(place, facts, id, verify);
        }
        let directory = origin.path();
        let open = |line: &FileLine, access| PagedFile::open(directory, line, id, access, verify);
        let optional = |kind, access| facts.file(kind).map(|line| open(line, access)).transpose();
        // Lookups read the hash function, the packed index and the filter at several places each.
        let index_access = if facts.layout.is_packed() { Access::Mapped } else { access };
        let index = optional(Kind::Index, index_access)?.ok_or_else(|| Error::Impossible("no index".into()))?;
        let dictionary = match facts.file(Kind::Dictionary) {
            Some(line) => Some(dictionary(&PagedFile::open(directory, line, id, Access::Read, true)?, line)?),
            None => None,
        };
        Ok(Files {
            data: facts.data().map(|line| open(line, access)).collect::<Result<_>>()?,
            hash: optional(Kind::Hash, Access::Mapped)?,
            index,
            filter: optional(Kind::Filter, Access::Mapped)?,
            order: optional(Kind::Order, access)?,
            dictionary,
        })
    }
}

/// Reads the dictionary: all its pages are checked, the digest and the content hash.
pub(crate) fn dictionary(file: &PagedFile, line: &FileLine) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut digest = 0;
    let mut content = ContentHasher::default();
    let mut buffer = Pages::default();
    for number in 1..line.pages - 1 {
        let page = file.load(number, 1, &mut buffer)?;
        digest = page::digest(digest, page::stored(page.bytes()));
        content.add(page.bytes());
        bytes.extend_from_slice(&page.bytes()[..PAYLOAD]);
    }
    if digest != line.digest {
        return Err(file.damaged(SIZE as u64, format!("pages with digest {:x}", line.digest), format!("{digest:x}")));
    }
    file.require_content_hash(&content.finish())?;
    let length = line.content() as usize;
    if length > bytes.len() {
        return Err(file.damaged(line.end, "a dictionary that ends in its file", format!("end {}", line.end)));
    }
    bytes.truncate(length);
    Ok(bytes)
}
