//! Reads that bypass the page cache: many at once through io_uring where there is one, else one by one.

use std::alloc::{alloc_zeroed, Layout};
use std::fs::File;
use std::io;
use std::path::Path;

use crate::error::Result;
use crate::format::page::SIZE;
use crate::layout::KEEP;
use crate::memory;

/// Whole pages in memory, at an address that direct reads accept.
#[derive(Default)]
pub(crate) struct Pages {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Pages {
    /// Makes room for `length` bytes of unspecified content of a file at `path`.
    pub(crate) fn resize(&mut self, length: usize, path: &Path) -> Result<()> {
        let mut capacity = length.saturating_add(SIZE);
        if self.bytes.len() < capacity {
            // A new vector, not a longer one: what it held need not be copied.
            *self = Pages::default();
            if capacity <= KEEP {
                capacity = capacity.next_power_of_two();
            }
            self.bytes = zeroed(capacity).ok_or_else(|| memory::lacking(path, capacity))?;
            self.start = self.bytes.as_ptr().align_offset(SIZE).min(SIZE);
        }
        self.length = length;
        Ok(())
    }

    /// Bytes that are allocated.
    pub(crate) fn capacity(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }

    /// The bytes, to be written.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

/// Zeros, or None if there is no memory for them. The system gives zeros without writing them.
fn zeroed(length: usize) -> Option<Vec<u8>> {
    let layout = Layout::array::<u8>(length).ok().filter(|layout| layout.size() > 0)?;
    // SAFETY: the layout is not of size 0.
    let bytes = unsafe { alloc_zeroed(layout) };
    // SAFETY: not null, so the global allocator made it, with the layout of a vector of this capacity, and all of its
    // bytes are initialized.
    (!bytes.is_null()).then(|| unsafe { Vec::from_raw_parts(bytes, length, length) })
}

/// Opens a file for direct reads, or None where the system or the file system has none.
#[cfg(target_os = "linux")]
pub(crate) fn open(path: &Path) -> io::Result<Option<File>> {
    use std::os::unix::fs::OpenOptionsExt;
    #[cfg(any(target_arch = "aarch64", target_arch = "arm"))]
    const O_DIRECT: i32 = 0o200000;
    #[cfg(not(any(target_arch = "aarch64", target_arch = "arm")))]
    const O_DIRECT: i32 = 0o40000;
    match std::fs::OpenOptions::new().read(true).custom_flags(O_DIRECT).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(None),
        Err(e) => Err(e),
    }
}

/// Opens a file for direct reads, or None where the system or the file system has none.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open(_path: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// One read of a batch.
pub(crate) struct Read<'a> {
    pub(crate) file: &'a File,
    pub(crate) offset: u64,
    pub(crate) to: &'a mut [u8],
}

/// Fills every buffer from its file, or says which read failed and why.
///
/// Uses the ring if there is one, so that the device has all reads before it at once.
pub(crate) fn read_all(ring: Option<&mut Ring>, reads: &mut [Read<'_>]) -> std::result::Result<(), (usize, io::Error)> {
    #[cfg(target_os = "linux")]
    if let Some(ring) = ring {
        return ring.read_all(reads);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = ring;
    for (i, read) in reads.iter_mut().enumerate() {
        read_exact(read.file, read.to, read.offset).map_err(|e| (i, e))?;
    }
    Ok(())
}

/// Fills a buffer from a place in a file.
#[cfg(unix)]
pub(crate) fn read_exact(file: &File, to: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, to, offset)
}

/// Fills a buffer from a place in a file.
#[cfg(windows)]
pub(crate) fn read_exact(file: &File, to: &mut [u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < to.len() {
        match std::os::windows::fs::FileExt::seek_read(file, &mut to[done..], offset + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => done += n,
        }
    }
    Ok(())
}

/// Writes bytes to a place in a file.
#[cfg(all(unix, feature = "remote"))]
pub(crate) fn write_all(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

/// Writes bytes to a place in a file.
#[cfg(all(windows, feature = "remote"))]
pub(crate) fn write_all(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match std::os::windows::fs::FileExt::seek_write(file, &bytes[done..], offset + done as u64)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            n => done += n,
        }
    }
    Ok(())
}

/// A ring of io_uring for reads. One thread uses it at a time.
#[cfg(target_os = "linux")]
pub(crate) struct Ring(io_uring::IoUring);

#[cfg(not(target_os = "linux"))]
pub(crate) enum Ring {}

#[cfg(not(target_os = "linux"))]
impl Ring {
    pub(crate) fn new() -> Option<Ring> {
        None
    }
}

/// Reads under way at once.
#[cfg(target_os = "linux")]
const DEPTH: usize = 128;

#[cfg(target_os = "linux")]
impl Ring {
    /// Creates a ring, or returns None if the kernel has none or forbids it.
    pub(crate) fn new() -> Option<Ring> {
        io_uring::IoUring::new(DEPTH as u32).ok().map(Ring)
    }

    fn read_all(&mut self, reads: &mut [Read<'_>]) -> std::result::Result<(), (usize, io::Error)> {
        use io_uring::{opcode, types};
        use std::os::fd::AsRawFd;

        let mut failed: Option<(usize, io::Error)> = None;
        let mut done = vec![0usize; reads.len()];
        // Reads to submit, last first: a read that came back short is put back.
        let mut waiting: Vec<usize> = (0..reads.len()).rev().collect();
        let mut in_flight = 0;
        loop {
            while in_flight < DEPTH && failed.is_none() {
                let Some(i) = waiting.pop() else { break };
                let read = &mut reads[i];
                let rest = &mut read.to[done[i]..];
                let entry = opcode::Read::new(
                    types::Fd(read.file.as_raw_fd()),
                    rest.as_mut_ptr(),
                    rest.len().min(1 << 30) as u32,
                )
                .offset(read.offset + done[i] as u64)
                .build()
                .user_data(i as u64);
                // SAFETY: the buffer is borrowed mutably for the whole call, and the file with it. The
                // call does not return, not even with an error, before every read that was submitted is
                // complete: see the loop's end.
                if unsafe { self.0.submission().push(&entry) }.is_err() {
                    // The queue has room for DEPTH entries, unless the kernel has not taken them yet.
                    waiting.push(i);
                    if in_flight == 0 {
                        failed = Some((i, io::Error::other("io_uring takes no reads")));
                    }
                    break;
                }
                in_flight += 1;
            }
            if in_flight == 0 {
                return failed.map_or(Ok(()), Err);
            }
            if let Err(e) = self.0.submit_and_wait(1) {
                // Entries stay in the queue, or completions in theirs: try again until all are back.
                if !matches!(e.raw_os_error(), Some(4 | 11 | 16)) {
                    // EINTR, EAGAIN and EBUSY pass. Anything else means that the ring is broken, and that
                    // the kernel may still write to the buffers: going on would not be safe.
                    eprintln!("bsdb: io_uring failed with reads under way: {e}");
                    std::process::abort();
                }
            }
            for completion in self.0.completion() {
                in_flight -= 1;
                let i = completion.user_data() as usize;
                match completion.result() {
                    0 => failed = failed.or(Some((i, io::ErrorKind::UnexpectedEof.into()))),
                    n if n > 0 => {
                        done[i] += n as usize;
                        if done[i] < reads[i].to.len() {
                            waiting.push(i);
                        }
                    }
                    n if matches!(-n, 4 | 11) => waiting.push(i),
                    n => failed = failed.or(Some((i, io::Error::from_raw_os_error(-n)))),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_aligned() {
        let mut pages = Pages::default();
        for length in [SIZE, 3 * SIZE, SIZE, 100 * SIZE] {
            pages.resize(length, Path::new("")).unwrap();
            assert_eq!(pages.bytes().len(), length);
            assert_eq!(pages.bytes().as_ptr() as usize % SIZE, 0);
            pages.bytes_mut().fill(1);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore)] // Miri has no rings
    fn reads_many_at_once() {
        use std::io::Write;
        let mut named = tempfile::NamedTempFile::new().unwrap();
        let content: Vec<u8> = (0..1000 * SIZE).map(|i| (i / SIZE) as u8).collect();
        named.write_all(&content).unwrap();
        let file = named.as_file();
        for mut ring in [None, Ring::new()] {
            let mut buffers = vec![[0u8; SIZE]; 1000];
            let mut reads: Vec<Read> =
                buffers.iter_mut().enumerate().map(|(i, to)| Read { file, offset: (i * SIZE) as u64, to }).collect();
            read_all(ring.as_mut(), &mut reads).unwrap();
            assert!(buffers.iter().enumerate().all(|(i, page)| page[..] == content[i * SIZE..][..SIZE]));
            let mut beyond = [0u8; 2 * SIZE];
            let (_, error) =
                read_all(ring.as_mut(), &mut [Read { file, offset: 999 * SIZE as u64, to: &mut beyond }]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        }
    }
}
