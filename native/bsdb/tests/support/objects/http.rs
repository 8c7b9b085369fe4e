//! As much of HTTP/1.1 as the clients of object stores speak.

use std::io::{self, BufRead};
use std::time::{SystemTime, UNIX_EPOCH};

/// A request as it was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    pub method: String,
    /// The path below the served directory, without the bucket: `rdb/manifest.bsdb`.
    pub path: String,
    pub query: String,
    /// The value of `Range`, for example `bytes=0-4095`.
    pub range: Option<String>,
    pub if_match: Option<String>,
    pub if_none_match: Option<String>,
    pub if_unmodified_since: Option<String>,
    /// Whether it was signed, or carried a token.
    pub authorized: bool,
    /// The value of `Authorization`.
    pub authorization: Option<String>,
    /// The status of its answer, 0 if it got none.
    pub status: u16,
}

impl Request {
    /// Reads the next request of a connection; none if the client closed it.
    pub fn read(from: &mut impl BufRead) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if from.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace();
        let (Some(method), Some(target)) = (words.next(), words.next()) else {
            return Err(io::Error::other(format!("no request: {line:?}")));
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Self { method: method.to_owned(), query: query.to_owned(), ..Self::default() };
        let path = decode(path);
        let path = path.trim_start_matches('/');
        request.path = path.strip_prefix("bucket/").unwrap_or(path).to_owned();
        let mut body = 0;
        loop {
            line.clear();
            if from.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            let value = Some(value.trim().to_owned());
            match name.to_ascii_lowercase().as_str() {
                // Azure's own name for the same, which wins.
                "x-ms-range" => request.range = value,
                "range" if request.range.is_none() => request.range = value,
                "if-match" => request.if_match = value,
                "if-none-match" => request.if_none_match = value,
                "if-unmodified-since" => request.if_unmodified_since = value,
                "authorization" => (request.authorized, request.authorization) = (true, value),
                "content-length" => body = value.and_then(|v| v.parse().ok()).unwrap_or(0),
                _ => {}
            }
        }
        io::copy(&mut io::Read::take(from, body), &mut io::sink())?;
        Ok(Some(request))
    }

    /// The bytes that it wants of an object of a size: `Ok(None)` for all, and an error for a range outside of it.
    pub fn bytes(&self, size: u64) -> Result<Option<(u64, u64)>, ()> {
        let Some((first, last)) = self.range.as_deref().and_then(|r| r.strip_prefix("bytes=")?.split_once('-')) else {
            return Ok(None);
        };
        let (first, end) = match (first.parse::<u64>(), last.parse::<u64>()) {
            (Ok(first), Ok(last)) => (first, size.min(last.saturating_add(1))),
            (Ok(first), Err(_)) if last.is_empty() => (first, size),
            (Err(_), Ok(count)) if first.is_empty() => (size.saturating_sub(count), size),
            _ => return Ok(None),
        };
        if first < end {
            Ok(Some((first, end)))
        } else {
            Err(())
        }
    }
}

fn decode(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, tail @ ..] = rest {
        let digits = tail.get(..2).and_then(|d| u8::from_str_radix(std::str::from_utf8(d).ok()?, 16).ok());
        match digits {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        304 => "Not Modified",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        412 => "Precondition Failed",
        416 => "Range Not Satisfiable",
        429 => "Too Many Requests",
        500 => "Internal Server Error",
        502 => "Bad Gateway",
        503 => "Slow Down",
        504 => "Gateway Timeout",
        _ => "Unknown",
    }
}

/// The code of S3 for a status, as it stands in the body of an error.
pub fn code(status: u16) -> &'static str {
    match status {
        301 => "PermanentRedirect",
        403 => "AccessDenied",
        404 => "NoSuchKey",
        405 => "MethodNotAllowed",
        412 => "PreconditionFailed",
        416 => "InvalidRange",
        429 | 503 => "SlowDown",
        _ => "InternalError",
    }
}

const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A time as HTTP writes it: `Sat, 28 Nov 2026 10:00:00 GMT`.
pub fn date(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years of March to February, so that the day of leap years is the last one.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = (shifted_month + 2) % 12;
    let year = era * 400 + year_of_era + u64::from(month < 2);
    format!(
        "{}, {day:02} {} {year} {:02}:{:02}:{:02} GMT",
        DAYS[(days % 7) as usize],
        MONTHS[month as usize],
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

/// A date of HTTP as a number that grows with it; none if it cannot be read.
pub fn order(date: &str) -> Option<u64> {
    let words: Vec<&str> = date.split([' ', ':']).collect();
    let [_, day, month, year, hour, minute, second, "GMT"] = words.as_slice() else { return None };
    let month = MONTHS.iter().position(|m| m == month)? as u64;
    let mut order = year.parse::<u64>().ok()? * 12 + month;
    for (part, most) in [(day, 32), (hour, 24), (minute, 60), (second, 61)] {
        order = order * most + part.parse::<u64>().ok()?;
    }
    Some(order)
}
