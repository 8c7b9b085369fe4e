//! Computes the content hash of a file while it is written (FORMAT.md §8). SHA-256 takes longer than everything else
//! that writing a file takes, so it has a thread of its own, unless the build has only one.

use std::mem;
use std::panic;
use std::process;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use crate::format::content::{self, ContentHash, ContentHasher};

/// The content hash of one file. Hashes a piece while the next one is collected.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    hasher: ContentHasher,
    apart: bool,
    running: Option<JoinHandle<(Arc<Vec<u8>>, ContentHash)>>,
    /// The process that has the thread, which a fork of it has not.
    process: u32,
}

impl Pieces {
    /// Says whether pieces may be hashed on another thread.
    pub(super) fn set_apart(&mut self, apart: bool) {
        self.apart = apart;
    }

    /// Takes the next piece: the pages of a buffer from byte `start` on. Waits until the one before is hashed, and
    /// returns its buffer if nobody else holds it.
    pub(super) fn add(&mut self, buffer: &Arc<Vec<u8>>, start: usize) -> Option<Vec<u8>> {
        let before = self.wait();
        if self.apart {
            let piece = Arc::clone(buffer);
            let hash = move || {
                let hash = content::piece(&piece[start..]);
                (piece, hash)
            };
            // Where the system gives no thread, this one hashes.
            self.running = thread::Builder::new().spawn(hash).ok();
            self.process = process::id();
        }
        if self.running.is_none() {
            self.hasher.add(&buffer[start..]);
        }
        before.and_then(Arc::into_inner)
    }

    /// Takes the rest of the pages, and returns the content hash of all.
    pub(super) fn finish(mut self, rest: &[u8]) -> ContentHash {
        self.wait();
        self.hasher.add(rest);
        mem::take(&mut self.hasher).finish()
    }

    /// Waits for the thread that runs. In a fork, which cannot finish the file, there is none.
    fn wait(&mut self) -> Option<Arc<Vec<u8>>> {
        let running = self.running.take().filter(|_| self.process == process::id())?;
        let (buffer, hash) = running.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        self.hasher.add_piece(&hash);
        Some(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::page::SIZE;

    #[test]
    fn hashes_do_not_depend_on_threads() {
        let pieces: Vec<Arc<Vec<u8>>> = (0..5).map(|i| Arc::new(vec![i; 256 * SIZE])).collect();
        let mut expected = ContentHasher::default();
        expected.add(&pieces[0][SIZE..]);
        pieces[1..].iter().for_each(|piece| expected.add(piece));
        expected.add(&[7; SIZE]);
        let expected = expected.finish();
        for apart in [false, true] {
            let mut made = Pieces::default();
            made.set_apart(apart);
            for (i, piece) in pieces.iter().enumerate() {
                made.add(piece, if i == 0 { SIZE } else { 0 });
            }
            assert_eq!(made.running.is_some(), apart);
            assert_eq!(made.finish(&[7; SIZE]), expected);
        }
    }

    #[test]
    fn buffers_come_back() {
        let mut pieces = Pieces::default();
        pieces.set_apart(true);
        assert!(pieces.add(&Arc::new(vec![1; 255 * SIZE]), 0).is_none());
        assert_eq!(pieces.add(&Arc::new(vec![2; 256 * SIZE]), 0), Some(vec![1; 255 * SIZE]));
        // As in a fork, which has no such thread.
        pieces.process += 1;
        assert!(pieces.add(&Arc::new(vec![3; 256 * SIZE]), 0).is_none());
    }
}
