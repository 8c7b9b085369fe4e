//! Pages of databases elsewhere in one file of a fixed size on disk, which processes share without locks
//! (docs/REMOTE.md, "The page file").
//!
//! A page can be in one of the slots of its set, and replaces the one there that was read least recently, in steps of
//! about a minute. Nothing that comes from the file is trusted: who reads a page verifies it. The file is read and
//! written by system calls rather than mapped, so that neither a full disk nor a file that is cut short ends the process.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{fence, AtomicBool, Ordering};
use std::sync::mpsc::{sync_channel, Receiver, SyncSender};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::page_layout::{choose, hash, mix, Entry, Places, ENTRY, WAYS};
use crate::error::{Error, Result};
use crate::format::page::{self, SIZE};
use crate::os::direct::{read_exact, write_all};

/// The sizes that a file can have.
pub(crate) const LEAST: u64 = 1 << 20;
pub(crate) const MOST: u64 = 1 << 38;

/// The most pages that wait to be written.
const WAITING: usize = 4096;

/// How long closing waits for pages that were not written yet.
const TO_CLOSE: Duration = Duration::from_secs(10);

/// Now, in steps of 64 seconds.
fn now() -> i32 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    (since.as_millis() >> 16) as i32
}

/// The file, open.
pub(crate) struct PageFile {
    shared: Arc<Shared>,
    writer: Mutex<Option<Writer>>,
}

struct Shared {
    path: PathBuf,
    file: File,
    places: Places,
    /// Whether a write failed.
    refused: AtomicBool,
    /// When closing began.
    closed: OnceLock<Instant>,
}

/// The thread that writes, so that nobody waits for the disk.
struct Writer {
    pages: SyncSender<(u64, Box<[u8; SIZE]>)>,
    thread: JoinHandle<()>,
}

impl PageFile {
    /// Opens a file, and makes it if there is none of this size: in place of one of another size, which other processes
    /// then use until they end. Nobody else can write to its directory. None if the disk is full.
    pub(crate) fn open(path: &Path, bytes: u64) -> Result<Option<PageFile>> {
        if !(LEAST..=MOST).contains(&bytes) {
            return Err(Error::Argument(format!("the pages on disk can take {LEAST} to {MOST} bytes, not {bytes}")));
        }
        let places = Places::of(bytes);
        let open = || {
            if !holds(path, places)? {
                make(path, places)?;
            }
            OpenOptions::new().read(true).write(true).open(path)
        };
        let file = match open() {
            Ok(file) => file,
            Err(e) if matches!(e.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => {
                say(path, &e);
                return Ok(None);
            }
            Err(e) => return Err(Error::io(path, e)),
        };
        let shared =
            Shared { path: path.to_owned(), file, places, refused: AtomicBool::new(false), closed: OnceLock::new() };
        Ok(Some(PageFile { shared: Arc::new(shared), writer: Mutex::new(None) }))
    }

    /// Copies what seems to be a page to a buffer, if it is there. The caller must verify it.
    pub(crate) fn read(&self, identity: u64, number: u64, to: &mut [u8]) -> bool {
        // What cannot be read is fetched.
        self.shared.read(hash(identity, number), to).unwrap_or(false)
    }

    /// Writes a verified page soon; does nothing while too many wait, or if the disk is full.
    pub(crate) fn write(&self, identity: u64, number: u64, page: &[u8]) {
        let Ok(page) = page.try_into() else { return };
        if self.shared.refused.load(Ordering::Relaxed) {
            return;
        }
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if writer.is_none() {
            *writer = Writer::start(&self.shared).ok();
        }
        if let Some(writer) = &*writer {
            let _ = writer.pages.try_send((hash(identity, number), Box::new(page)));
        }
    }
}

/// Writes what waits, unless that takes long.
impl Drop for PageFile {
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Writer { pages, thread }) = writer {
            let _ = self.shared.closed.set(Instant::now());
            drop(pages);
            let _ = thread.join();
        }
    }
}

impl Writer {
    fn start(shared: &Arc<Shared>) -> io::Result<Writer> {
        let (pages, waiting) = sync_channel(WAITING);
        let shared = shared.clone();
        let thread = std::thread::Builder::new().name("bsdb-pages".into()).spawn(move || shared.write_all(&waiting))?;
        Ok(Writer { pages, thread })
    }
}

impl Shared {
    fn write_all(&self, waiting: &Receiver<(u64, Box<[u8; SIZE]>)>) {
        for (hash, page) in waiting {
            if self.closed.get().is_some_and(|closed| closed.elapsed() > TO_CLOSE) {
                return;
            }
            let Err(error) = self.write(hash, &page) else { continue };
            self.refused.store(true, Ordering::Relaxed);
            say(&self.path, &error);
            return;
        }
    }

    /// The entries of a set.
    fn entries(&self, first: u64) -> io::Result<[Entry; WAYS as usize]> {
        let mut bytes = [0; (WAYS * ENTRY) as usize];
        read_exact(&self.file, &mut bytes, Places::entry(first))?;
        Ok(std::array::from_fn(|way| Entry::of(&bytes[way * ENTRY as usize..])))
    }

    fn read(&self, hash: u64, to: &mut [u8]) -> io::Result<bool> {
        let first = self.places.first(hash);
        let entries = self.entries(first)?;
        let Some(way) = entries.iter().position(|entry| entry.hash == hash) else { return Ok(false) };
        let slot = first + way as u64;
        fence(Ordering::SeqCst);
        read_exact(&self.file, to, self.places.page(slot))?;
        fence(Ordering::SeqCst);
        // Another page may have come meanwhile.
        let mut again = [0; 8];
        read_exact(&self.file, &mut again, Places::entry(slot))?;
        if bound(to, hash) != entries[way].bound || u64::from_le_bytes(again) != hash {
            return Ok(false);
        }
        let now = now();
        if entries[way].used != now {
            // If that fails, so will writing pages, which says it.
            let _ = write_all(&self.file, &now.to_le_bytes(), Places::entry(slot) + 12);
        }
        Ok(true)
    }

    fn write(&self, hash: u64, page: &[u8; SIZE]) -> io::Result<()> {
        let first = self.places.first(hash);
        let any = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
        let slot = first + choose(&self.entries(first)?, hash, any as usize) as u64;
        write_all(&self.file, &[0; 8], Places::entry(slot))?;
        fence(Ordering::SeqCst);
        write_all(&self.file, page, self.places.page(slot))?;
        let mut rest = [0; 8];
        rest[..4].copy_from_slice(&bound(page, hash).to_le_bytes());
        rest[4..].copy_from_slice(&now().to_le_bytes());
        write_all(&self.file, &rest, Places::entry(slot) + 8)?;
        fence(Ordering::SeqCst);
        write_all(&self.file, &hash.to_le_bytes(), Places::entry(slot))
    }
}

/// What an entry states of its page and its hash together. Of two writers of one slot, one may write the page last and the
/// other one the hash, and the checksum of a page does not tell its database.
fn bound(page: &[u8], hash: u64) -> u32 {
    page::stored(page) ^ hash as u32
}

/// Says that a file cannot be written: nobody waits for that, so it is no error.
fn say(path: &Path, error: &io::Error) {
    let path = path.display();
    let _ = writeln!(io::stderr(), "bsdb: {path}: cannot be written, so no more pages are kept there: {error}");
}

/// Whether a path is a file with these places.
fn holds(path: &Path, places: Places) -> io::Result<bool> {
    // A pipe would be waited for.
    let is_file = |found: fs::Metadata| if found.is_file() { Ok(()) } else { Err(io::ErrorKind::NotFound.into()) };
    let file = match fs::metadata(path).and_then(is_file).and_then(|()| File::open(path)) {
        Ok(file) => file,
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(e),
    };
    let mut found = [0; SIZE];
    Ok(file.metadata()?.len() == places.length()
        && read_exact(&file, &mut found, 0).is_ok()
        && found == places.header())
}

/// Makes a file, which appears when it is complete.
fn make(path: &Path, places: Places) -> io::Result<()> {
    let made = path.with_file_name(format!(".pages{:016x}", mix(rand())));
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&made)?;
    let fill = || {
        write_all(&file, &places.header(), 0)?;
        // Java maps the entries, which must have their room. The pages take none until they are written.
        let zeros = vec![0; 1 << 20];
        let (mut at, end) = (SIZE as u64, places.page(0));
        while at < end {
            let length = zeros.len().min((end - at) as usize);
            write_all(&file, &zeros[..length], at)?;
            at += length as u64;
        }
        file.set_len(places.length())
    };
    let done = fill();
    drop(file);
    done.and_then(|()| fs::rename(&made, path)).inspect_err(|_| {
        let _ = fs::remove_file(&made);
    })
}

/// A number that no other process has.
fn rand() -> u64 {
    std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id())
}

#[cfg(test)]
mod tests {
    use super::super::page_layout::identity;
    use super::*;

    const FILE: u64 = 77;

    /// A page that ends with its checksum, as those of databases do.
    fn page(identity: u64, number: u64) -> [u8; SIZE] {
        let mut page = [0; SIZE];
        let mut random = identity ^ number;
        for bytes in page.chunks_exact_mut(8) {
            random = mix(random.wrapping_add(0x9e37_79b9_7f4a_7c15));
            bytes.copy_from_slice(&random.to_le_bytes());
        }
        let checksum = page::checksum(&page, 4, identity as u16 & 7, number);
        page[page::PAYLOAD..].copy_from_slice(&checksum.to_le_bytes());
        page
    }

    /// Whether a page is there and passes the check that every reader makes. Then it is the right one.
    fn is_sound(file: &PageFile, identity: u64, number: u64) -> bool {
        let mut found = [0; SIZE];
        let there = file.read(identity, number, &mut found)
            && page::checksum(&found, 4, identity as u16 & 7, number) == page::stored(&found);
        assert!(!there || found == page(identity, number), "{number}");
        there
    }

    fn count(file: &PageFile, identity: u64, pages: u64) -> usize {
        (0..pages).filter(|&number| is_sound(file, identity, number)).count()
    }

    fn open(path: &Path, bytes: u64) -> PageFile {
        PageFile::open(path, bytes).unwrap().unwrap()
    }

    fn fill(path: &Path, bytes: u64, identity: u64, pages: u64) {
        let file = open(path, bytes);
        (0..pages).for_each(|number| file.write(identity, number, &page(identity, number)));
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn pages_survive_and_belong_to_one_file_of_one_database() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages");
        fill(&path, 16 << 20, FILE, 500);
        let file = open(&path, 16 << 20);
        assert_eq!((count(&file, FILE, 500), count(&file, identity(&[7; 16], 4), 500)), (500, 0));
        assert!(!is_sound(&file, FILE, 500));
        assert_eq!(directory.path().read_dir().unwrap().count(), 1, "nothing is left over");
        for bytes in [LEAST - 1, MOST + 1] {
            assert!(PageFile::open(&path, bytes).err().unwrap().to_string().contains("not "));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn the_file_keeps_its_size_and_is_full() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages");
        fill(&path, LEAST, FILE, 3000);
        assert!(path.metadata().unwrap().len() <= LEAST);
        let file = open(&path, LEAST);
        let held = count(&file, FILE, 3000);
        assert!((200..=248).contains(&held), "{held}");
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn another_size_and_what_is_no_page_file_are_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages");
        fs::write(&path, "something else").unwrap();
        fill(&path, LEAST, FILE, 10);
        let before = open(&path, LEAST);
        let after = open(&path, 2 * LEAST);
        assert_eq!((count(&before, FILE, 10), count(&after, FILE, 10)), (10, 0));
        let cut = OpenOptions::new().write(true).open(&path).unwrap();
        cut.set_len(9000).unwrap();
        assert_eq!(count(&after, FILE, 10), 0);
        fill(&path, 2 * LEAST, FILE, 10);
        assert_eq!(count(&open(&path, 2 * LEAST), FILE, 10), 10);
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn damage_of_every_field_counts_as_absent_and_heals() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages");
        let places = Places::of(LEAST);
        fill(&path, LEAST, FILE, 1);
        let file = open(&path, LEAST);
        let first = places.first(hash(FILE, 0));
        let entries = file.shared.entries(first).unwrap();
        let slot = first + entries.iter().position(|entry| entry.hash != 0).unwrap() as u64;
        let raw = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let bytes_of_entry = (0..ENTRY).map(|at| Places::entry(slot) + at);
        let bytes_of_page = (0..SIZE as u64).map(|at| places.page(slot) + at);
        for at in bytes_of_entry.chain(bytes_of_page) {
            let mut sound = [0];
            read_exact(&raw, &mut sound, at).unwrap();
            for bit in 0..8 {
                write_all(&raw, &[sound[0] ^ 1 << bit], at).unwrap();
                // The time alone does not matter.
                let is_time = (12..16).contains(&(at - Places::entry(slot)));
                assert_eq!(is_sound(&file, FILE, 0), is_time, "{at} {bit}");
                write_all(&raw, &sound, at).unwrap();
            }
        }
        assert!(is_sound(&file, FILE, 0));
        // A page of another database at the same place, which is sound.
        write_all(&raw, &page(FILE + 8, 0), places.page(slot)).unwrap();
        assert!(!is_sound(&file, FILE, 0));
        file.shared.write(hash(FILE, 0), &page(FILE, 0)).unwrap();
        assert!(is_sound(&file, FILE, 0));
        // Of two writers, one wrote the page and what is bound to it, the other one the hash.
        let other = page(FILE + 8, 0);
        for bound in [bound(&other, hash(FILE + 8, 0)), page::stored(&other)] {
            write_all(&raw, &other, places.page(slot)).unwrap();
            write_all(&raw, &bound.to_le_bytes(), Places::entry(slot) + 8).unwrap();
            assert!(!file.shared.read(hash(FILE, 0), &mut [0; SIZE]).unwrap());
        }
        file.shared.write(hash(FILE, 0), &page(FILE, 0)).unwrap();
        assert!(is_sound(&file, FILE, 0));
        // A writer that was killed after each of its steps.
        write_all(&raw, &[0; 8], Places::entry(slot)).unwrap();
        assert!(!is_sound(&file, FILE, 0));
        write_all(&raw, &page(FILE + 8, 0)[..2000], places.page(slot)).unwrap();
        assert!(!is_sound(&file, FILE, 0));
        write_all(&raw, &hash(FILE, 0).to_le_bytes(), Places::entry(slot)).unwrap();
        assert!(!is_sound(&file, FILE, 0));
    }

    #[test]
    #[cfg_attr(miri, ignore)]
    fn threads_write_and_read_the_same_slots() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pages");
        let files = [open(&path, LEAST), open(&path, LEAST)];
        std::thread::scope(|scope| {
            for i in 0..4 {
                let file = &files[i % 2];
                scope.spawn(move || {
                    let mut random = i as u64;
                    let mut sound = 0;
                    for _ in 0..4000 {
                        random = mix(random.wrapping_add(0x9e37_79b9_7f4a_7c15));
                        // Two databases whose pages have the same places.
                        let (identity, number) = (FILE + (random & 1) * 8, random % 600);
                        if is_sound(file, identity, number) {
                            sound += 1;
                        } else {
                            file.shared.write(hash(identity, number), &page(identity, number)).unwrap();
                        }
                    }
                    assert!(sound > 0);
                });
            }
        });
    }
}
