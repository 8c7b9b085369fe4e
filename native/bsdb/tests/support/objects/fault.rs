//! What a server can do wrong.

use std::str::FromStr;
use std::time::Duration;

/// What happens to the answer of one request.
#[derive(Clone, Debug, PartialEq)]
pub enum Fault {
    /// Nothing: the right answer.
    None,
    /// The right answer, later.
    Delay(Duration),
    /// An error of the server, and after how many seconds it wants to be asked again.
    Status { code: u16, retry_after: Option<u32> },
    /// The connection is closed without an answer.
    Close,
    /// The server's half of the connection is closed without an answer, the other half stays open.
    HalfClose,
    /// Never an answer; the connection stays open.
    Silence,
    /// The head of the answer, and then nothing; the connection stays open.
    Stall,
    /// The connection is closed after this many bytes of the body.
    Cut(usize),
    /// The body arrives with this many bytes a second.
    Drip(usize),
    /// `Content-Range` names a page other than the wanted one, whose bytes come.
    WrongRange,
    /// `Content-Range` names another size of the object.
    WrongTotal,
    /// The whole object with status 200, whatever range was asked for.
    Whole200,
    /// An answer without `Content-Length`, which ends with the connection.
    NoLength,
    /// This bit of the body is flipped (modulo its length).
    FlipBit(u64),
    /// The answer has the `ETag` and the time of another object, whatever `If-Match` demanded.
    OtherTag,
    /// `If-Match` and its like are ignored, as by many servers; the answer has the right `ETag`.
    IgnoreMatch,
    /// Conditions are ignored, and the answer has neither `ETag` nor `Last-Modified`.
    NoTag,
    /// The object has only this many bytes.
    Truncated(u64),
    /// 301 to another region of S3, without a `Location`.
    Redirect(String),
    /// 302 to another URL.
    Location(String),
    /// Bytes that are no HTTP.
    Garbage,
}

/// `NAME` or `NAME=ARGUMENT`: `stall`, `cut=100`, `delay=20ms`, `status=503`, `status=503,3` (with `Retry-After: 3`).
impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, argument) = text.split_once('=').unwrap_or((text, ""));
        let number = || argument.parse::<u64>().map_err(|e| format!("{text}: {e}"));
        Ok(match name {
            "none" => Self::None,
            "delay" => Self::Delay(duration(argument)?),
            "status" => {
                let (code, after) = argument.split_once(',').unwrap_or((argument, ""));
                Self::Status {
                    code: code.parse().map_err(|e| format!("{text}: {e}"))?,
                    retry_after: if after.is_empty() {
                        None
                    } else {
                        Some(after.parse().map_err(|e| format!("{text}: {e}"))?)
                    },
                }
            }
            "close" => Self::Close,
            "half-close" => Self::HalfClose,
            "silence" => Self::Silence,
            "stall" => Self::Stall,
            "cut" => Self::Cut(number()? as usize),
            "drip" => Self::Drip(number()? as usize),
            "wrong-range" => Self::WrongRange,
            "wrong-total" => Self::WrongTotal,
            "whole" => Self::Whole200,
            "no-length" => Self::NoLength,
            "flip" => Self::FlipBit(number()?),
            "other-tag" => Self::OtherTag,
            "ignore-match" => Self::IgnoreMatch,
            "no-tag" => Self::NoTag,
            "truncated" => Self::Truncated(number()?),
            "redirect" => Self::Redirect(argument.to_owned()),
            "location" => Self::Location(argument.to_owned()),
            "garbage" => Self::Garbage,
            _ => return Err(format!("unknown fault: {name}")),
        })
    }
}

/// `20ms` or `3s`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix("ms") {
        Some(number) => (number, 1),
        None => (text.strip_suffix('s').ok_or_else(|| format!("{text}: a time is like 20ms or 3s"))?, 1_000),
    };
    let number: u64 = number.parse().map_err(|e| format!("{text}: {e}"))?;
    Ok(Duration::from_millis(number * unit))
}
