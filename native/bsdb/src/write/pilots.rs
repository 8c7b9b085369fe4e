//! The search for the pilots of a part (FORMAT.md §13; §17 has the algorithm, which writers follow to the letter).
//!
//! Buckets are taken from the largest to the smallest. Each gets the first pilot that gives its keys free and distinct
//! slots. If there is none, it evicts other buckets, which are placed again at once.

use crate::hash::signature::Signature;

/// The most keys of a part: its slots, increased by one, fit in 16 bits.
pub(crate) const MAX_KEYS: usize = 65_535;

/// One more than the largest pilot.
const END: u32 = 256;

/// The number of seeds.
const SEEDS: u32 = 256;

/// Evictions per bucket, with all seeds together, after which the search gives up. One seed has one per bucket.
const MOST_EVICTIONS: u64 = 4;

/// How many of the buckets that evicted others last are spared.
const RECENT: usize = 16;

/// Two of more keys than this often have the same slot. So that is tested first, lest keys that were made to have one bucket
/// take minutes.
const CROWDED: usize = 64;

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
const SPREAD: u64 = 0xd134_2543_de82_ef95;

/// Words with a bit for each slot of the largest part, a power of two.
const TAKEN: usize = 2048;

/// What each pilot is combined with a hash as.
const PILOT_HASHES: [u64; END as usize] = {
    let mut hashes = [0; END as usize];
    let mut pilot = 0;
    while pilot < END as usize {
        hashes[pilot] = (pilot as u64).wrapping_mul(SPREAD);
        pilot += 1;
    }
    hashes
};

/// The slots of a part of `keys` keys.
pub(crate) fn slots(keys: usize) -> usize {
    keys + keys / 200 + 8
}

/// The buckets of a part of `keys` keys.
pub(crate) fn buckets(keys: usize) -> usize {
    (3 * keys).div_ceil(10) + 32
}

/// The bucket of the first half of a signature in a function of `parts` parts. It never decreases within a part.
fn bucket(high: u64, parts: u64, buckets: usize) -> usize {
    let x = (high >> 1).wrapping_mul(parts << 1) >> 32;
    let square = (x * x) >> 32;
    let cubic = ((square >> 1) * ((1 << 32) + x)) >> 32;
    (((cubic - (cubic >> 8) + (x >> 8)) * buckets as u64) >> 32) as usize
}

/// The slot of a hash combined with a pilot.
#[inline(always)]
fn slot(hash: u64, pilot: u32, slots: u64) -> usize {
    ((((hash ^ PILOT_HASHES[pilot as usize % END as usize]).wrapping_mul(GOLDEN) >> 32) * slots) >> 32) as usize
}

/// A solved part.
#[derive(Debug)]
pub(crate) struct Pilots {
    keys: usize,
    slots: u64,
    /// The first key of each bucket, and the number of keys at the end.
    starts: Vec<u32>,
    /// The hashes of the keys, in the order of their signatures.
    hashes: Vec<u64>,
    pilots: Vec<u8>,
    taken: Box<Taken>,
    /// The bucket that has a slot, where it is taken.
    owners: Vec<u32>,
    /// Buckets that wait for a place, the last one first.
    waiting: Vec<u32>,
    recent: [u32; RECENT],
    evictions: u64,
    seed: u32,
}

/// A bit for each slot: whether it is taken.
#[derive(Debug)]
struct Taken([u64; TAKEN]);

impl Taken {
    /// The lowest bit is that of the slot.
    #[inline(always)]
    fn word(&self, slot: usize) -> u64 {
        self.0[slot / 64 % TAKEN] >> (slot % 64)
    }

    #[inline(always)]
    fn has(&self, slot: usize) -> bool {
        self.word(slot) & 1 != 0
    }

    #[inline(always)]
    fn flip(&mut self, slot: usize) {
        self.0[slot / 64 % TAKEN] ^= 1 << (slot % 64);
    }
}

impl Pilots {
    /// Finds the pilots of a part whose signatures are given: at most [`MAX_KEYS`], distinct and ascending. None: no
    /// seed solves it.
    pub(crate) fn find<'a>(
        signatures: impl ExactSizeIterator<Item = &'a Signature> + Clone,
        parts: u64,
    ) -> Option<Pilots> {
        let keys = signatures.len();
        let buckets = buckets(keys);
        let mut starts = vec![0; buckets + 1];
        for signature in signatures.clone() {
            starts[bucket(signature.high, parts, buckets) + 1] += 1;
        }
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        let mut found = Pilots {
            keys,
            slots: slots(keys) as u64,
            starts,
            hashes: vec![0; keys],
            pilots: vec![1; buckets],
            taken: Box::new(Taken([0; TAKEN])),
            owners: vec![0; slots(keys)],
            waiting: Vec::new(),
            recent: [u32::MAX; RECENT],
            evictions: 0,
            seed: 0,
        };
        let order = found.largest_first();
        let mut evictions = 0;
        for seed in 0..SEEDS {
            if evictions >= MOST_EVICTIONS * buckets as u64 {
                break;
            }
            let multiplier = SPREAD.wrapping_add(2 * u64::from(seed));
            for (hash, signature) in found.hashes.iter_mut().zip(signatures.clone()) {
                *hash = signature.low.wrapping_add(signature.high.wrapping_mul(multiplier));
            }
            found.seed = seed;
            if found.place_all(&order) {
                return Some(found);
            }
            evictions += found.evictions;
        }
        None
    }

    /// The seed of the part, 0 to 255.
    pub(crate) fn seed(&self) -> u32 {
        self.seed
    }

    /// The pilot of each bucket; 1 where the bucket is empty.
    pub(crate) fn pilots(&self) -> &[u8] {
        &self.pilots
    }

    /// The slots that replace those from the number of keys on; 0 for one that no key has.
    pub(crate) fn replacements(&self) -> Vec<u16> {
        let mut free = (0..self.keys).filter(|&slot| !self.taken.has(slot));
        let replace = |slot| if self.taken.has(slot) { free.next().map_or(0, |slot| slot as u16) } else { 0 };
        (self.keys..self.slots as usize).map(replace).collect()
    }

    /// The slot of each key, after replacement: each number below that of the keys once.
    pub(crate) fn assign(&self, replacements: &[u16]) -> Vec<u32> {
        let mut assigned = Vec::with_capacity(self.keys);
        for bucket in 0..self.pilots.len() {
            for &hash in self.hashes_of(bucket) {
                let slot = slot(hash, self.pilots[bucket].into(), self.slots);
                assigned.push(if slot < self.keys { slot as u32 } else { replacements[slot - self.keys].into() });
            }
        }
        assigned
    }

    /// All buckets with keys, the largest first, equal ones in order.
    fn largest_first(&self) -> Vec<u32> {
        let sizes = || self.starts.windows(2).map(|ends| (ends[1] - ends[0]) as usize);
        let largest = sizes().max().unwrap_or(0);
        let mut next = vec![0; largest + 2];
        for size in sizes() {
            next[largest - size + 1] += 1;
        }
        for i in 1..next.len() {
            next[i] += next[i - 1];
        }
        let filled = next[largest];
        let mut order = vec![0; self.pilots.len()];
        for (bucket, size) in sizes().enumerate() {
            let at = &mut next[largest - size];
            order[*at] = bucket as u32;
            *at += 1;
        }
        order.truncate(filled);
        order
    }

    #[inline(always)]
    fn hashes_of(&self, bucket: usize) -> &[u64] {
        &self.hashes[self.starts[bucket] as usize..self.starts[bucket + 1] as usize]
    }

    /// Finds pilots for the hashes of the current seed; returns whether it did.
    fn place_all(&mut self, order: &[u32]) -> bool {
        self.taken.0.fill(0);
        self.pilots.fill(1);
        self.recent.fill(u32::MAX);
        self.evictions = 0;
        self.waiting.clear();
        for &bucket in order {
            self.waiting.push(bucket);
            while let Some(next) = self.waiting.pop() {
                if !self.place_free(next as usize) && !self.place_evicting(next as usize) {
                    return false;
                }
            }
        }
        true
    }

    /// Places a bucket where all slots are free. Most of the time of a build is spent here, with buckets of two and
    /// three keys: the slots of a pilot are tested without a branch between them.
    fn place_free(&mut self, bucket: usize) -> bool {
        match *self.hashes_of(bucket) {
            [a] => self.place_few(bucket, [a]),
            [a, b] => self.place_few(bucket, [a, b]),
            [a, b, c] => self.place_few(bucket, [a, b, c]),
            [a, b, c, d] => self.place_few(bucket, [a, b, c, d]),
            _ => (1..END).any(|pilot| {
                let is_taken = |&hash: &u64| self.taken.has(slot(hash, pilot, self.slots));
                let own = self.hashes_of(bucket);
                (own.len() > CROWDED || !own.iter().any(is_taken)) && self.take(bucket, pilot)
            }),
        }
    }

    #[inline(always)]
    fn place_few<const N: usize>(&mut self, bucket: usize, hashes: [u64; N]) -> bool {
        (1..END).any(|pilot| {
            let used = hashes.iter().fold(0, |used, &hash| used | self.taken.word(slot(hash, pilot, self.slots)));
            used & 1 == 0 && self.take(bucket, pilot)
        })
    }

    /// Gives a bucket a pilot, unless a slot is taken or two of its keys have the same one.
    fn take(&mut self, bucket: usize, pilot: u32) -> bool {
        let from = self.starts[bucket] as usize;
        for i in from..self.starts[bucket + 1] as usize {
            let slot = slot(self.hashes[i], pilot, self.slots);
            if self.taken.has(slot) {
                self.release(from, i, pilot);
                return false;
            }
            self.taken.flip(slot);
            self.owners[slot] = bucket as u32;
        }
        self.pilots[bucket] = pilot as u8;
        true
    }

    /// Frees the slots of some keys that have a pilot.
    fn release(&mut self, from: usize, to: usize, pilot: u32) {
        for i in from..to {
            self.taken.flip(slot(self.hashes[i], pilot, self.slots));
        }
    }

    /// Places a bucket where it evicts the smallest buckets; returns false to give up.
    fn place_evicting(&mut self, bucket: usize) -> bool {
        if self.evictions >= self.pilots.len() as u64 {
            return false;
        }
        let own = self.hashes_of(bucket);
        let acceptable = (own.len() * own.len()) as u64; // no worse than not placing this one
        let mut best = None;
        let mut least = u64::MAX;
        let mut pilot = (self.evictions * 97 % u64::from(END - 1)) as u32; // does not favor the low pilots
        for _ in 1..END {
            pilot = pilot % (END - 1) + 1;
            if own.len() > CROWDED && !Self::are_distinct(own, pilot, self.slots) {
                continue;
            }
            let cost = self.cost(own, pilot, least);
            if cost < least && Self::are_distinct(own, pilot, self.slots) {
                least = cost;
                best = Some(pilot);
                if cost <= acceptable {
                    break;
                }
            }
        }
        let Some(best) = best else {
            return false;
        };
        for i in self.starts[bucket] as usize..self.starts[bucket + 1] as usize {
            let slot = slot(self.hashes[i], best, self.slots);
            if self.taken.has(slot) {
                let evicted = self.owners[slot] as usize;
                let keys = self.starts[evicted] as usize..self.starts[evicted + 1] as usize;
                self.release(keys.start, keys.end, self.pilots[evicted].into());
                self.waiting.push(evicted as u32);
            }
        }
        let taken = self.take(bucket, best);
        debug_assert!(taken);
        self.recent[(self.evictions % RECENT as u64) as usize] = bucket as u32;
        self.evictions += 1;
        taken
    }

    /// The sum of the squared sizes of the buckets that have the slots of a pilot, once for each slot; `most` or more
    /// if that is not less, or if one of them is spared.
    fn cost(&self, own: &[u64], pilot: u32, most: u64) -> u64 {
        let mut cost = 0;
        for &hash in own {
            let slot = slot(hash, pilot, self.slots);
            if self.taken.has(slot) {
                let owner = self.owners[slot];
                if self.recent.contains(&owner) {
                    return most;
                }
                let size = u64::from(self.starts[owner as usize + 1] - self.starts[owner as usize]);
                cost += size * size;
            }
            if cost >= most {
                break;
            }
        }
        cost
    }

    /// Whether a pilot gives different slots to all keys of a bucket.
    fn are_distinct(own: &[u64], pilot: u32, slots: u64) -> bool {
        if own.len() <= 16 {
            let mut given = [0; 16];
            for (i, &hash) in own.iter().enumerate() {
                given[i] = slot(hash, pilot, slots);
                if given[..i].contains(&given[i]) {
                    return false;
                }
            }
            return true;
        }
        let mut given = Taken([0; TAKEN]);
        own.iter().all(|&hash| {
            let slot = slot(hash, pilot, slots);
            let is_free = !given.has(slot);
            given.flip(slot);
            is_free
        })
    }
}
