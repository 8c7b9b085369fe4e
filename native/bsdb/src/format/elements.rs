//! The elements of values that are vectors (FORMAT.md §6).

use std::fmt;
use std::str::FromStr;

use super::record::MAX_VALUE;
use super::text::Lines;
use crate::error::{Error, Result};

/// The type of the elements of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Element {
    /// IEEE 754 binary16.
    F16,
    /// IEEE 754 binary32.
    F32,
    /// IEEE 754 binary64.
    F64,
    /// A signed byte.
    I8,
    /// An unsigned byte.
    U8,
    /// A signed number of 16 bits.
    I16,
    /// A signed number of 32 bits.
    I32,
    /// A signed number of 64 bits.
    I64,
}

impl Element {
    /// All types.
    pub const ALL: [Element; 8] =
        [Element::F16, Element::F32, Element::F64, Element::I8, Element::U8, Element::I16, Element::I32, Element::I64];

    /// The name in the manifest.
    pub fn name(self) -> &'static str {
        match self {
            Element::F16 => "f16",
            Element::F32 => "f32",
            Element::F64 => "f64",
            Element::I8 => "i8",
            Element::U8 => "u8",
            Element::I16 => "i16",
            Element::I32 => "i32",
            Element::I64 => "i64",
        }
    }

    /// The type with this name in the manifest.
    pub fn named(name: &str) -> Option<Element> {
        Element::ALL.into_iter().find(|element| element.name() == name)
    }

    /// Bytes of an element.
    pub fn size(self) -> usize {
        match self {
            Element::I8 | Element::U8 => 1,
            Element::F16 | Element::I16 => 2,
            Element::F32 | Element::I32 => 4,
            Element::F64 | Element::I64 => 8,
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What all values of a database are: vectors of the same length, of little-endian elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct ValueElements {
    /// The type of an element.
    pub element: Element,
    /// The number of elements of each value, at least 1.
    pub count: usize,
}

impl ValueElements {
    /// Bytes of each value.
    pub fn bytes(self) -> usize {
        self.element.size() * self.count
    }

    /// Fails if no value can hold so many elements.
    pub(crate) fn check(self) -> Result<()> {
        let most = MAX_VALUE / self.element.size();
        if (1..=most).contains(&self.count) {
            return Ok(());
        }
        Err(Error::Argument(format!("value_elements is {self}; the number goes from 1 to {most}")))
    }

    /// Reads the line of a manifest. Values of a type that this version does not know are plain bytes to it.
    pub(crate) fn parse(lines: &Lines<'_>) -> Result<Option<ValueElements>> {
        let Some(text) = lines.optional("value.elements")? else { return Ok(None) };
        match text.split_once(' ') {
            Some((name, _)) if Element::named(name).is_none() => Ok(None),
            _ => {
                let wrong = |_| lines.wrong("a type and a number as value.elements", format!("{text:?}"));
                text.parse().map(Some).map_err(wrong)
            }
        }
    }
}

/// A type and a number: `f32 384`.
impl FromStr for ValueElements {
    type Err = Error;

    fn from_str(text: &str) -> Result<ValueElements> {
        let parsed = text.split_once(' ').and_then(|(name, count)| {
            let digits = count.bytes().all(|digit| digit.is_ascii_digit());
            Some(ValueElements { element: Element::named(name)?, count: count.parse().ok().filter(|_| digits)? })
        });
        let elements = parsed.ok_or_else(|| {
            let names = Element::ALL.map(Element::name).join(", ");
            Error::Argument(format!(
                "value_elements is {text:?}, not a type and a number, such as f32 384; types are {names}"
            ))
        })?;
        elements.check()?;
        Ok(elements)
    }
}

impl fmt::Display for ValueElements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.element, self.count)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn parsed(value: &str) -> Result<Option<ValueElements>> {
        let text = format!("format=2\nvalue.elements={value}\n");
        ValueElements::parse(&Lines::parse(Path::new("manifest.bsdb"), text.as_bytes())?)
    }

    #[test]
    fn each_type_is_read_as_it_is_written() {
        for element in Element::ALL {
            let most = MAX_VALUE / element.size();
            for count in [1, 384, most] {
                let elements = ValueElements { element, count };
                assert!(elements.check().is_ok() && elements.bytes() <= MAX_VALUE);
                assert_eq!(parsed(&elements.to_string()).ok(), Some(Some(elements)));
            }
            for count in [0, most + 1, usize::MAX] {
                assert!(ValueElements { element, count }.check().is_err());
                assert!(parsed(&format!("{element} {count}")).is_err());
            }
        }
    }

    #[test]
    fn unknown_types_are_ignored_and_other_forms_are_damage() {
        assert_eq!(parsed("bf16 384").ok(), Some(None));
        for wrong in ["f32", "", "f32 ", "f32 x", "f32 3 4", "f32  3", "f32 -1", "f32 +1"] {
            assert!(parsed(wrong).is_err(), "{wrong:?}");
        }
    }
}
