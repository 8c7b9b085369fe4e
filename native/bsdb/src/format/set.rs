//! The manifest of a set of shards (FORMAT.md §14).

use super::frame::{hex, Id};
use super::routing;
use super::text::Lines;
use crate::error::Result;

/// What the manifest of a set says.
#[derive(Clone, Debug)]
pub(crate) struct SetFacts {
    pub(crate) shards: Vec<ShardLine>,
    /// The numbers of the shards that the directory holds, ascending.
    pub(crate) held: Vec<u32>,
}

/// The line of a shard.
#[derive(Clone, Debug)]
pub(crate) struct ShardLine {
    pub(crate) number: u32,
    pub(crate) id: Id,
    pub(crate) records: u64,
}

impl ShardLine {
    /// The name of the shard's directory in that of the set.
    pub(crate) fn directory(&self) -> String {
        format!("shard-{:05}-{}", self.number, hex(&self.id[..4]))
    }
}

/// Whether the lines are those of a set.
pub(crate) fn is_set(lines: &Lines<'_>) -> Result<bool> {
    Ok(lines.required("layout")? == "sharded")
}

impl SetFacts {
    /// Reads the lines of a set's manifest.
    pub(crate) fn parse(lines: &Lines<'_>) -> Result<SetFacts> {
        lines.format(1)?;
        let hash = lines.required("shard.hash")?;
        if hash != "crc16-slots" {
            return Err(lines.unsupported("shard.hash", hash, "crc16-slots"));
        }
        let count = lines.number("shard.count", 2, routing::SLOTS)?;
        let mut shards = Vec::new();
        for (number, line) in lines.all("shard").enumerate() {
            shards.push(shard(lines, number, line)?);
        }
        if shards.len() != count as usize {
            return Err(lines.wrong(format!("{count} lines shard="), shards.len().to_string()));
        }
        let records = lines.number("records", 0, u64::MAX)?;
        let sum: u128 = shards.iter().map(|shard| u128::from(shard.records)).sum();
        if sum != u128::from(records) {
            return Err(lines.wrong(format!("{records} records in all shards"), sum.to_string()));
        }
        let held = match (lines.optional("set.id")?, lines.optional("set.held")?) {
            (None, None) => (0..count).collect(),
            (Some(id), Some(held)) => {
                identifier(id).ok_or_else(|| lines.wrong("32 hexadecimal digits as set.id", id))?;
                ranges(held, count)
                    .ok_or_else(|| lines.wrong("ascending ranges of shards, not all, as set.held", held))?
            }
            _ => return Err(lines.wrong("both of set.id and set.held, or none", "one")),
        };
        Ok(SetFacts { shards, held })
    }
}

fn shard(lines: &Lines<'_>, number: usize, line: &str) -> Result<ShardLine> {
    let parts: Vec<&str> = line.split(' ').collect();
    let wrong = || lines.wrong(format!("the line of shard {number}"), format!("{line:?}"));
    let &[found, id, records] = parts.as_slice() else {
        return Err(wrong());
    };
    if found != number.to_string() {
        return Err(wrong());
    }
    Ok(ShardLine {
        number: number as u32,
        id: identifier(id).ok_or_else(wrong)?,
        records: records.parse().map_err(|_| wrong())?,
    })
}

/// Parses 32 lowercase hexadecimal digits.
fn identifier(text: &str) -> Option<Id> {
    let lower = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != 32 || !text.bytes().all(lower) {
        return None;
    }
    Some(u128::from_str_radix(text, 16).ok()?.to_be_bytes())
}

/// Parses `0-15,18`: ascending ranges below `count`, each as long as it can be, and not all.
fn ranges(text: &str, count: u32) -> Option<Vec<u32>> {
    let mut held: Vec<u32> = Vec::new();
    for range in text.split(',') {
        let number = |text: &str| {
            let number: u32 = text.parse().ok()?;
            (number.to_string() == text && number < count).then_some(number)
        };
        let (first, last) = match range.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(range)?, number(range)?),
        };
        let lengthened = held.last().is_some_and(|&before| first <= before + 1);
        if lengthened || last < first || range.contains('-') && last == first {
            return None;
        }
        held.extend(first..=last);
    }
    (held.len() < count as usize).then_some(held)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ranges_in_their_only_form() {
        assert_eq!(ranges("0-2,4", 8), Some(vec![0, 1, 2, 4]));
        for wrong in ["", "0-7", "2-1", "3-3", "0,1", "0-2,3", "4,2", "01", "8", "0-", "-1", "0,,2"] {
            assert_eq!(ranges(wrong, 8), None, "{wrong}");
        }
    }
}
