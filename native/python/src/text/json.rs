//! JSON objects: their syntax (RFC 8259), and the field that is the key.

use std::borrow::Cow;

use super::defect::Defect;

/// Reads an object and sets `key` to the text of a field. The bytes are UTF-8.
pub(super) fn key_of(object: &[u8], field: &[u8], key: &mut Vec<u8>) -> Result<(), Defect> {
    key.clear();
    let mut json = Json { bytes: object, at: 0 };
    json.blanks();
    // What follows is UTF-8 in any case; a zero would be of another encoding.
    if json.peek() != Some(b'{') || !matches!(object.get(json.at + 1), Some(1..)) {
        return Err(Defect::NotJson);
    }
    json.members(field, key).unwrap_or(Err(Defect::NotJson))
}

struct Json<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A string between its quotes, and whether it has escapes.
type Text<'a> = (&'a [u8], bool);

impl<'a> Json<'a> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    /// Whether the next byte is this one, which is then read.
    fn take(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Reads the object; None if it is none.
    fn members(&mut self, field: &[u8], key: &mut Vec<u8>) -> Option<Result<(), Defect>> {
        let mut found = Err(Defect::NoKeyField);
        self.at += 1;
        self.blanks();
        if !self.take(b'}') {
            loop {
                self.blanks();
                let is_key = *self.name()? == *field;
                self.blanks();
                if is_key {
                    let first = found == Err(Defect::NoKeyField);
                    let scalar = self.scalar(key)?;
                    found = match (first, scalar) {
                        (false, _) => Err(Defect::KeyFieldTwice),
                        (true, true) => Ok(()),
                        (true, false) => Err(Defect::KeyFieldNotText),
                    };
                } else {
                    self.value()?;
                }
                self.blanks();
                if self.take(b'}') {
                    break;
                }
                self.take(b',').then_some(())?;
            }
        }
        self.blanks();
        (self.at == self.bytes.len()).then_some(())?;
        if found.is_ok() && std::str::from_utf8(key).is_err() {
            found = Err(Defect::KeyNotInEncoding); // a lone surrogate
        }
        Some(found)
    }

    /// Reads a value; sets `key` and returns true if it has a text.
    fn scalar(&mut self, key: &mut Vec<u8>) -> Option<bool> {
        let from = self.at;
        key.clear();
        match self.peek()? {
            b'"' => {
                let (text, _) = self.string()?;
                unescape(text, key);
                Some(true)
            }
            b'{' | b'[' | b'n' => self.value().map(|()| false),
            _ => {
                self.value()?;
                key.extend_from_slice(&self.bytes[from..self.at]);
                Some(true)
            }
        }
    }

    /// Reads a value of any depth.
    fn value(&mut self) -> Option<()> {
        let mut open = Vec::new();
        loop {
            self.blanks();
            match self.peek()? {
                b'{' => {
                    self.at += 1;
                    self.blanks();
                    if !self.take(b'}') {
                        open.push(b'}');
                        self.name()?;
                        continue;
                    }
                }
                b'[' => {
                    self.at += 1;
                    self.blanks();
                    if !self.take(b']') {
                        open.push(b']');
                        continue;
                    }
                }
                b'"' => {
                    self.string()?;
                }
                b't' => self.word(b"true")?,
                b'f' => self.word(b"false")?,
                b'n' => self.word(b"null")?,
                _ => self.number()?,
            }
            loop {
                let Some(&close) = open.last() else { return Some(()) };
                self.blanks();
                if self.take(b',') {
                    if close == b'}' {
                        self.blanks();
                        self.name()?;
                    }
                    break;
                }
                self.take(close).then_some(())?;
                open.pop();
            }
        }
    }

    /// Reads a name and its colon. A lone surrogate makes it none.
    fn name(&mut self) -> Option<Cow<'a, [u8]>> {
        let (text, escaped) = self.string()?;
        let mut name = Cow::Borrowed(text);
        if escaped {
            let mut unescaped = Vec::new();
            unescape(text, &mut unescaped);
            std::str::from_utf8(&unescaped).ok()?;
            name = Cow::Owned(unescaped);
        }
        self.blanks();
        self.take(b':').then_some(name)
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.bytes[self.at..].starts_with(word).then_some(())?;
        self.at += word.len();
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'-') || self.take(b'+');
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        (self.at > from).then_some(())
    }

    /// Reads a string.
    fn string(&mut self) -> Option<Text<'a>> {
        self.take(b'"').then_some(())?;
        let from = self.at;
        let mut escaped = false;
        loop {
            let rest = &self.bytes[self.at..];
            self.at += rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..=0x1f))?;
            match self.bytes[self.at] {
                b'"' => {
                    self.at += 1;
                    return Some((&self.bytes[from..self.at - 1], escaped));
                }
                b'\\' => {
                    escaped = true;
                    let digits = match self.bytes.get(self.at + 1)? {
                        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 0,
                        b'u' => 4,
                        _ => return None,
                    };
                    let hex = self.bytes.get(self.at + 2..self.at + 2 + digits)?;
                    hex.iter().all(u8::is_ascii_hexdigit).then_some(())?;
                    self.at += 2 + digits;
                }
                _ => return None,
            }
        }
    }
}

/// Adds the text of a string to `to`. A lone surrogate becomes bytes that are not UTF-8.
fn unescape(mut text: &[u8], to: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr(b'\\', text) {
        to.extend_from_slice(&text[..at]);
        let mut used = at + 2;
        match text[at + 1] {
            b'b' => to.push(8),
            b'f' => to.push(12),
            b'n' => to.push(b'\n'),
            b'r' => to.push(b'\r'),
            b't' => to.push(b'\t'),
            b'u' => {
                let first = unit(&text[at + 2..]);
                used += 4;
                let low = text[used..].strip_prefix(b"\\u").map(unit).filter(|low| low >> 10 == 0x37);
                let point = match low {
                    Some(low) if first >> 10 == 0x36 => {
                        used += 6;
                        0x10000 + ((first & 0x3ff) << 10 | low & 0x3ff)
                    }
                    _ => first,
                };
                match char::from_u32(point) {
                    Some(point) => to.extend_from_slice(point.encode_utf8(&mut [0; 4]).as_bytes()),
                    None => to.push(0xff),
                }
            }
            other => to.push(other),
        }
        text = &text[used..];
    }
    to.extend_from_slice(text);
}

/// The number of four hexadecimal digits.
fn unit(digits: &[u8]) -> u32 {
    digits[..4].iter().fold(0, |unit, &digit| unit << 4 | (digit as char).to_digit(16).unwrap_or(0))
}

/// Adds UTF-8 as a JSON string to `to`: quotes, backslashes and control characters are escaped.
pub(super) fn quote(text: &[u8], to: &mut Vec<u8>) {
    to.push(b'"');
    for &byte in text {
        match byte {
            b'"' | b'\\' => to.extend_from_slice(&[b'\\', byte]),
            8 => to.extend_from_slice(b"\\b"),
            12 => to.extend_from_slice(b"\\f"),
            b'\n' => to.extend_from_slice(b"\\n"),
            b'\r' => to.extend_from_slice(b"\\r"),
            b'\t' => to.extend_from_slice(b"\\t"),
            ..=0x1f => to.extend_from_slice(format!("\\u{byte:04X}").as_bytes()),
            _ => to.push(byte),
        }
    }
    to.push(b'"');
}
