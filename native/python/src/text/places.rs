//! Where records are from.

/// Runs kept at most, so that their memory is bounded. The places of later records are not known.
const MOST_RUNS: usize = 1 << 20;

/// Records on consecutive lines of a chunk, as the numbers of the first record and of its line, from 0.
#[derive(Default)]
pub(super) struct Runs {
    runs: Vec<(u64, u64)>,
    records: u64,
}

impl Runs {
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.records = 0;
    }

    /// Adds the line of the next record.
    #[inline]
    pub(super) fn good(&mut self, line: u64) {
        if self.runs.last().is_none_or(|&(record, first)| first + (self.records - record) != line) {
            self.runs.push((self.records, line));
        }
        self.records += 1;
    }
}

/// The places of all records: of each run the first record, its file and its line.
#[derive(Default)]
pub(super) struct Places {
    runs: Vec<(u64, usize, u64)>,
    records: u64,
    full: bool,
}

impl Places {
    /// Adds the places of the next records, whose lines follow others of a file.
    pub(super) fn add(&mut self, next: &Runs, file: usize, lines_before: u64) {
        for (i, &(record, line)) in next.runs.iter().enumerate() {
            if self.full {
                return;
            }
            let end = next.runs.get(i + 1).map_or(next.records, |&(record, _)| record);
            let line = lines_before + line;
            let goes_on =
                |&(record, of, first): &(u64, usize, u64)| of == file && first + (self.records - record) == line;
            if !self.runs.last().is_some_and(goes_on) {
                if self.runs.len() == MOST_RUNS {
                    self.full = true;
                    return;
                }
                self.runs.push((self.records, file, line));
            }
            self.records += end - record;
        }
    }

    /// The file and the line of a record, from 0.
    pub(super) fn of(&self, record: u64) -> Option<(usize, u64)> {
        if record >= self.records {
            return None;
        }
        let run = self.runs.partition_point(|run| run.0 <= record).checked_sub(1)?;
        let (first, file, line) = self.runs[run];
        Some((file, line + (record - first)))
    }
}
