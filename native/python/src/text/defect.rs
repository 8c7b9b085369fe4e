//! Why a line is not a record, in the words of `bsdb build`.

use super::options::{Format, Options};

/// The longest key and value (FORMAT.md §4).
const MAX_KEY: usize = 65_535;
const MAX_VALUE: usize = 2_147_483_639;

/// The longest line that is read, in bytes.
pub(super) const LONGEST_LINE: usize = i32::MAX as usize - 9;

/// The reasons, in the order of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Defect {
    EmptyLine,
    NoSeparator,
    InvalidEncoding,
    TooFewColumns,
    TooManyColumns,
    UnclosedQuote,
    TextAfterQuote,
    LoneCarriageReturn,
    NotJson,
    NoKeyField,
    KeyFieldTwice,
    KeyFieldNotText,
    KeyNotInEncoding,
    ValueNotInEncoding,
    EmptyKey,
    KeyTooLong,
    ValueTooLong,
    LineTooLong,
}

impl Defect {
    /// The reason under which such lines are counted.
    pub(super) fn label(self) -> String {
        match self {
            Defect::EmptyLine => "empty line".into(),
            Defect::NoSeparator => "no separator".into(),
            Defect::InvalidEncoding => "invalid bytes for the encoding".into(),
            Defect::TooFewColumns => "fewer columns than the header".into(),
            Defect::TooManyColumns => "more columns than the header".into(),
            Defect::UnclosedQuote => "a quote is never closed".into(),
            Defect::TextAfterQuote => "text between a closing quote and the next delimiter".into(),
            Defect::LoneCarriageReturn => "a carriage return outside quotes that ends no line".into(),
            Defect::NotJson => "not a JSON object".into(),
            Defect::NoKeyField => "no key field".into(),
            Defect::KeyFieldTwice => "the key field comes twice".into(),
            Defect::KeyFieldNotText => "the key field is null, an object or an array".into(),
            Defect::KeyNotInEncoding => "key not in its encoding".into(),
            Defect::ValueNotInEncoding => "value not in its encoding".into(),
            Defect::EmptyKey => "empty key".into(),
            Defect::KeyTooLong => format!("key longer than {MAX_KEY} bytes"),
            Defect::ValueTooLong => format!("value longer than {MAX_VALUE} bytes"),
            Defect::LineTooLong => format!("line longer than {LONGEST_LINE} bytes"),
        }
    }

    /// The reason as an error message.
    pub(super) fn message(self, options: &Options) -> String {
        match (self, &options.format) {
            (Defect::NoSeparator, Format::Text { separator }) => {
                let shown = String::from_utf8_lossy(separator).replace('\t', "\\t");
                format!("no separator \"{shown}\" in the line")
            }
            (Defect::NoKeyField, Format::Json { key_field }) => {
                format!("no field \"{}\" in the JSON object", String::from_utf8_lossy(key_field))
            }
            (Defect::InvalidEncoding, _) => format!("bytes that are not valid {}", options.charset),
            (Defect::KeyNotInEncoding, _) => format!("the key is not {}", options.key.name()),
            (Defect::ValueNotInEncoding, _) => format!("the value is not {}", options.value.name()),
            _ => self.label(),
        }
    }

    /// The options that would let such a line pass.
    pub(super) fn tip(self) -> &'static str {
        match self {
            Defect::EmptyKey => "--allow-empty-key allows it, --on-bad-line skip leaves such lines out",
            _ => "--on-bad-line skip leaves such lines out",
        }
    }

    /// What a record of so many bytes is, if it is too long.
    pub(super) fn of_lengths(key: usize, value: usize) -> Option<Defect> {
        if key > MAX_KEY {
            return Some(Defect::KeyTooLong);
        }
        (value > MAX_VALUE).then_some(Defect::ValueTooLong)
    }
}
