//! The bytes of a file as UTF-8: decompressed, decoded, and without a byte-order mark.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer};

use super::options::{Compression, File, Job};

/// Bytes that are read at once.
const PIECE: usize = 1 << 16;

/// The largest window that ZSTD knows; files made with `zstd --long=31` need it.
const LARGEST_WINDOW: u32 = 31;

/// Bytes by which a format is known.
const MAGIC: usize = 10;

const GZIP: &[u8] = &[0x1f, 0x8b, 8];
const FRAME: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// Formats that cannot be read, and how they begin; `?` stands for any byte.
const OTHERS: [(&str, &[u8]); 6] = [
    ("bzip2", b"BZh?1AY&SY"),
    ("xz", b"\xfd7zXZ\0"),
    ("zip", b"PK\x03\x04"),
    ("7z", b"7z\xbc\xaf\x27\x1c"),
    ("LZ4", b"\x04\x22M\x18"),
    ("Snappy", b"\xff\x06\0\0sNaPpY"),
];

/// Opens a file of a job, and counts the bytes that are read of it.
pub(super) fn open(job: &Job, file: &File, counter: &Arc<AtomicU64>) -> io::Result<Box<dyn Read + Send>> {
    let plain = decompressed(job, file, stored(file, counter)?)?;
    match &job.decoder {
        None => without_mark(plain),
        Some(decoder) => without_mark(Box::new(Through::new(plain, decoder)?)),
    }
}

/// Reads a compressed file to its end, to see whether it is damaged.
pub(super) fn check(job: &Job, file: &File) -> io::Result<()> {
    let mut plain = decompressed(job, file, stored(file, &Arc::default())?)?;
    io::copy(&mut plain, &mut io::sink()).map(|_| ())
}

fn stored(file: &File, counter: &Arc<AtomicU64>) -> io::Result<Box<dyn Read + Send>> {
    let Some(path) = &file.path else {
        return Ok(Box::new(Counted { from: io::stdin(), counter: counter.clone(), left: None, last: b'\n' }));
    };
    let from = std::fs::File::open(path)?;
    // Files that are generated when they are read, as in /proc, have a size of 0, too.
    let size = from.metadata()?.len();
    let left = (file.size.is_some() && file.compression == Compression::None && size > 0).then_some(size);
    Ok(Box::new(Counted { from, counter: counter.clone(), left, last: b'\n' }))
}

fn decompressed(job: &Job, file: &File, stored: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let (compression, stored) = match file.compression {
        Compression::Unknown => by_magic(stored)?,
        known => (known, stored),
    };
    Ok(match compression {
        Compression::Gzip => Box::new(Through::new(stored, &job.gunzip)?),
        Compression::Zstd => Box::new(Zstd::new(stored)?),
        _ => stored,
    })
}

/// Peeks at no more bytes than tell that there is no compression: someone may type them.
fn by_magic(mut stored: Box<dyn Read + Send>) -> io::Result<(Compression, Box<dyn Read + Send>)> {
    let mut start = Vec::with_capacity(MAGIC);
    let mut byte = [0];
    while start.len() < MAGIC && may_begin(&start) && stored.read(&mut byte)? > 0 {
        start.push(byte[0]);
    }
    if let Some((name, _)) = OTHERS.iter().find(|(_, magic)| start.len() >= magic.len() && begins(&start, magic)) {
        return Err(io::Error::other(format!(
            "is in the format of {name}, which cannot be read; decompress it first, or into standard input (-i -)"
        )));
    }
    let compression = if start.starts_with(GZIP) {
        Compression::Gzip
    } else if start.starts_with(FRAME) {
        Compression::Zstd
    } else {
        Compression::None
    };
    Ok((compression, Box::new(io::Cursor::new(start).chain(stored))))
}

fn may_begin(start: &[u8]) -> bool {
    [GZIP, FRAME].into_iter().chain(OTHERS.map(|(_, magic)| magic)).any(|magic| begins(start, magic))
}

/// Whether bytes begin with a magic number, as far as they go.
fn begins(start: &[u8], magic: &[u8]) -> bool {
    start.iter().zip(magic).all(|(byte, expected)| byte == expected || *expected == b'?')
}

fn without_mark(mut utf8: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    const MARK: &[u8] = &[0xef, 0xbb, 0xbf];
    let mut start = Vec::with_capacity(MARK.len());
    utf8.by_ref().take(MARK.len() as u64).read_to_end(&mut start)?;
    let rest = if start == MARK { Vec::new() } else { start };
    Ok(Box::new(io::Cursor::new(rest).chain(utf8)))
}

/// Counts the bytes, and sees that a file whose size is known does not change meanwhile: a line could be cut.
struct Counted<R> {
    from: R,
    counter: Arc<AtomicU64>,
    left: Option<u64>,
    last: u8,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let most = self.left.map_or(to.len(), |left| to.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
        if most == 0 {
            if !to.is_empty() && self.last != b'\n' && self.from.read(&mut [0])? > 0 {
                return Err(io::Error::other("the file grew while it was read"));
            }
            return Ok(0);
        }
        let count = self.from.read(&mut to[..most])?;
        self.counter.fetch_add(count as u64, Ordering::Relaxed);
        if let Some(left) = &mut self.left {
            if count == 0 {
                return Err(io::Error::other("the file was cut short while it was read"));
            }
            *left -= count as u64;
            self.last = to[count - 1];
        }
        Ok(count)
    }
}

/// What a function of Python makes of bytes, piece by piece. It gets an empty piece at the end.
struct Through<R> {
    from: R,
    step: Py<PyAny>,
    piece: Vec<u8>,
    made: Vec<u8>,
    given: usize,
    ended: bool,
}

impl<R: Read> Through<R> {
    /// `make` returns the function.
    fn new(from: R, make: &Py<PyAny>) -> io::Result<Self> {
        let step = Python::attach(|py| make.call0(py)).map_err(raised)?;
        Ok(Through { from, step, piece: vec![0; PIECE], made: Vec::new(), given: 0, ended: false })
    }
}

impl<R: Read> Read for Through<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.given == self.made.len() {
            if self.ended {
                return Ok(0);
            }
            let count = read_some(&mut self.from, &mut self.piece)?;
            self.ended = count == 0;
            self.given = 0;
            self.made.clear();
            let (step, piece, made) = (&self.step, &self.piece[..count], &mut self.made);
            Python::attach(|py| {
                let bytes = step.call1(py, (PyBytes::new(py, piece),))?;
                made.extend_from_slice(bytes.bind(py).cast::<PyBytes>()?.as_bytes());
                PyResult::Ok(())
            })
            .map_err(raised)?;
        }
        let count = to.len().min(self.made.len() - self.given);
        to[..count].copy_from_slice(&self.made[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

/// The text of an exception as an error.
fn raised(error: PyErr) -> io::Error {
    io::Error::other(Python::attach(|py| error.value(py).to_string()))
}

/// Reads what there is, also if a signal comes.
pub(super) fn read_some(from: &mut impl Read, to: &mut [u8]) -> io::Result<usize> {
    loop {
        match from.read(to) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

/// All frames of ZSTD.
struct Zstd<R> {
    from: R,
    context: DCtx<'static>,
    piece: Vec<u8>,
    at: usize,
    end: usize,
    /// Whether the last frame is complete.
    between: bool,
}

impl<R: Read> Zstd<R> {
    fn new(mut from: R) -> io::Result<Self> {
        let mut piece = vec![0; PIECE];
        let mut end = 0;
        while end < FRAME.len() {
            match read_some(&mut from, &mut piece[end..])? {
                0 => break,
                count => end += count,
            }
        }
        if end == 0 {
            return Err(truncated());
        }
        let start = &piece[..end.min(FRAME.len())];
        let skipped = start[0] & 0xf0 == 0x50 && start[1..] == [0x2a, 0x4d, 0x18][..start.len() - 1];
        if !FRAME.starts_with(start) && !skipped {
            let gzip = GZIP.starts_with(&piece[..end.min(GZIP.len())]);
            let hint = if gzip { ", but in that of gzip: name it .gz" } else { "" };
            return Err(io::Error::other(format!("not in Zstandard format{hint}")));
        }
        let mut context = DCtx::try_create().ok_or(io::ErrorKind::OutOfMemory)?;
        context.set_parameter(DParameter::WindowLogMax(LARGEST_WINDOW)).map_err(failed)?;
        Ok(Zstd { from, context, piece, at: 0, end, between: true })
    }
}

impl<R: Read> Read for Zstd<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if to.is_empty() {
            return Ok(0);
        }
        loop {
            let mut input = InBuffer { src: &self.piece[..self.end], pos: self.at };
            let mut output = OutBuffer::around(&mut *to);
            if input.pos() < self.end || !self.between {
                let hint = self.context.decompress_stream(&mut output, &mut input).map_err(failed)?;
                self.between = hint == 0;
            }
            let (count, stuck) = (output.pos(), input.pos() == self.end);
            self.at = input.pos();
            if count > 0 {
                return Ok(count);
            }
            if stuck {
                self.at = 0;
                self.end = read_some(&mut self.from, &mut self.piece)?;
                if self.end == 0 {
                    return if self.between { Ok(0) } else { Err(truncated()) };
                }
            }
        }
    }
}

fn failed(code: usize) -> io::Error {
    io::Error::other(zstd_safe::get_error_name(code))
}

fn truncated() -> io::Error {
    io::Error::other("truncated: the Zstandard data ends before its end")
}
