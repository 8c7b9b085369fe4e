//! Reading a file from its beginning to its end: the next pieces are under way while one is gone through.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use super::file::RemoteFile;
use super::runtime::{self, Task};
use crate::error::{Error, Result};

/// Pages of the first piece and of the others.
const FIRST: u64 = 64;
const PIECE: u64 = 1024;

/// Pieces under way.
const AHEAD: usize = 2;

/// Pieces of a file that are under way.
#[derive(Default)]
pub(crate) struct Ahead {
    /// The process that asked for them: a forked one cannot wait for them.
    process: u32,
    /// In order, without gaps.
    pieces: VecDeque<Piece>,
    /// The page after the last piece that was read.
    next: u64,
}

struct Piece {
    first: u64,
    count: u64,
    task: Task<Result<Bytes>>,
}

impl Ahead {
    /// Some pages from `first` on, verified.
    pub(crate) fn read(&mut self, file: &Arc<RemoteFile>, first: u64) -> Result<Bytes> {
        if self.process != std::process::id() {
            self.process = std::process::id();
            std::mem::take(&mut self.pieces).into_iter().for_each(|piece| piece.task.detach());
        }
        let end = file.pages_in_all() - 1;
        let follows = first == self.next;
        if self.pieces.front().is_none_or(|piece| piece.first != first) {
            self.pieces.clear();
            let pages = if follows { PIECE } else { FIRST };
            self.ask(file, first, pages.min(end - first))?;
        }
        let Some(mut piece) = self.pieces.pop_front() else { unreachable!("it was asked for") };
        self.next = piece.first + piece.count;
        // Who has read one piece to its end reads on.
        let mut next = self.pieces.back().map_or(self.next, |last| last.first + last.count);
        while follows && next < end && self.pieces.len() < AHEAD {
            let count = PIECE.min(end - next);
            self.ask(file, next, count)?;
            next += count;
        }
        let output = file.place().wait(async { Ok(piece.task.output().await) })?;
        output.unwrap_or_else(|| file.read(piece.first, piece.count))
    }

    fn ask(&mut self, file: &Arc<RemoteFile>, first: u64, count: u64) -> Result<()> {
        let asked = file.clone();
        let task = runtime::spawn(async move {
            let live = asked.place().live()?;
            asked.pages(live, first, count).await
        });
        let task = task.map_err(|e| Error::io(file.path(), e))?;
        self.pieces.push_back(Piece { first, count, task });
        Ok(())
    }
}
