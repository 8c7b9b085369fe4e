//! Verified pages in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::format::page::SIZE;

/// A page: the number of its file among those of a place, and its own.
type Name = (u32, u64);

type Page = [u8; SIZE];

/// Parts with a lock of their own.
const PARTS: usize = 16;

/// The pages that were used lately. Thread-safe.
pub(crate) struct PageCache {
    parts: Vec<Mutex<Part>>,
    /// The most pages of a part.
    most: usize,
}

#[derive(Default)]
struct Part {
    frames: HashMap<Name, usize>,
    pages: Vec<Frame>,
    /// The frame that is looked at next when one must go.
    hand: usize,
}

struct Frame {
    name: Name,
    /// Whether it was used since the hand passed.
    used: bool,
    page: Box<Page>,
}

impl PageCache {
    /// A cache of so many bytes at most.
    pub(crate) fn new(bytes: u64) -> Self {
        let most = usize::try_from(bytes / (SIZE * PARTS) as u64).unwrap_or(usize::MAX);
        PageCache { parts: (0..PARTS).map(|_| Mutex::default()).collect(), most }
    }

    fn part(&self, (file, page): Name) -> MutexGuard<'_, Part> {
        let number = (page ^ u64::from(file)) as usize % PARTS;
        self.parts[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies a page to a buffer, if it is there.
    pub(crate) fn copy(&self, name: Name, to: &mut [u8]) -> bool {
        if self.most == 0 {
            return false;
        }
        let mut part = self.part(name);
        let Some(&at) = part.frames.get(&name) else { return false };
        let frame = &mut part.pages[at];
        frame.used = true;
        to.copy_from_slice(&frame.page[..]);
        true
    }

    /// Keeps a page, instead of one that was not used for long. One that is `ahead` will be used soon: those that were
    /// used before go first.
    pub(crate) fn keep(&self, name: Name, page: &[u8], ahead: bool) {
        let Ok(page) = <&Page>::try_from(page) else { return };
        if self.most == 0 {
            return;
        }
        let mut part = self.part(name);
        let part = &mut *part;
        if let Some(&at) = part.frames.get(&name) {
            part.pages[at].used = true;
            return;
        }
        if part.pages.len() < self.most {
            part.frames.insert(name, part.pages.len());
            part.pages.push(Frame { name, used: ahead, page: Box::new(*page) });
            return;
        }
        loop {
            let at = part.hand;
            part.hand = (at + 1) % part.pages.len();
            let frame = &mut part.pages[at];
            if std::mem::take(&mut frame.used) {
                continue;
            }
            part.frames.remove(&frame.name);
            frame.name = name;
            frame.used = ahead;
            frame.page.copy_from_slice(page);
            part.frames.insert(name, at);
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_is_used() {
        let cache = PageCache::new((SIZE * PARTS * 4) as u64);
        let mut page = [0; SIZE];
        assert!(!cache.copy((0, 0), &mut page));
        cache.keep((0, 0), &[7; SIZE], false);
        for number in 1..1000 {
            cache.keep((0, number), &[number as u8; SIZE], false);
            assert!(cache.copy((0, 0), &mut page), "{number}");
            assert_eq!(page, [7; SIZE]);
        }
        assert!(cache.copy((0, 999), &mut page));
        assert_eq!(page, [999u64 as u8; SIZE]);
        let kept = (0..1000).filter(|&number| cache.copy((0, number), &mut page)).count();
        assert_eq!(kept, 4 * PARTS);
        assert!(!cache.copy((1, 0), &mut page));
    }

    #[test]
    fn may_be_without_memory() {
        let cache = PageCache::new(4096);
        cache.keep((0, 0), &[7; SIZE], false);
        assert!(!cache.copy((0, 0), &mut [0; SIZE]));
    }
}
