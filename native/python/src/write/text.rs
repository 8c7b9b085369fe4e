//! The texts that values have as keys: their JSON form (docs/guides/rows.md), without quotes.

use std::fmt::LowerExp;
use std::io::Write;
use std::str::FromStr;

const DAY: i64 = 86_400;

/// Writes a number or another thing that has a plain text.
pub(crate) fn display(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    // Writing to a vector does not fail.
    let _ = write!(out, "{value}");
}

/// Writes the shortest digits that identify a number, in the form of Java: `0.001` to `9999999.0` without an exponent.
pub(crate) fn float<T>(number: T, out: &mut Vec<u8>)
where
    T: LowerExp + Into<f64> + FromStr + PartialEq + Copy,
{
    let wide: f64 = number.into();
    if wide.is_nan() {
        return out.extend(b"NaN");
    }
    if wide.is_sign_negative() {
        out.push(b'-');
    }
    if wide.is_infinite() {
        return out.extend(b"Infinity");
    }
    let mut shortest = format!("{number:e}");
    // Of two that are equally near, Java has the even one, and two digits rather than one: the least is 4.9E-324.
    let count = shortest.bytes().take_while(|&byte| byte != b'e').filter(u8::is_ascii_digit).count();
    let even = format!("{number:.*e}", count.max(2) - 1);
    if even.parse().is_ok_and(|same: T| same == number) {
        shortest = even;
    }
    let (digits, exponent) = shortest.trim_start_matches('-').split_once('e').unwrap_or(("0", "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let fraction = if fraction.is_empty() { "0" } else { fraction };
    if wide == 0.0 {
        out.extend(b"0.0");
    } else if (-3..0).contains(&exponent) {
        let zeros = "00";
        let fraction = if fraction == "0" { "" } else { fraction };
        display(format_args!("0.{}{whole}{fraction}", &zeros[..(-exponent - 1) as usize]), out);
    } else if (0..7).contains(&exponent) {
        let count = exponent as usize;
        let zeros = "0000000";
        let padded = if fraction.len() <= count { format!("{fraction}{zeros}") } else { fraction.to_owned() };
        let (above, below) = padded.split_at(count);
        let below = if fraction.len() <= count { "0" } else { below };
        display(format_args!("{whole}{above}.{below}"), out);
    } else {
        display(format_args!("{whole}.{fraction}E{exponent}"), out);
    }
}

/// Writes a decimal from the digits of its unscaled number.
pub(crate) fn decimal(unscaled: &str, scale: u8, out: &mut Vec<u8>) {
    let (sign, digits) = match unscaled.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unscaled),
    };
    let scale = usize::from(scale);
    if scale == 0 {
        display(unscaled, out);
    } else {
        let padded = format!("{digits:0>width$}", width = scale + 1);
        let (whole, fraction) = padded.split_at(padded.len() - scale);
        display(format_args!("{sign}{whole}.{fraction}"), out);
    }
}

/// Writes a date of the Gregorian calendar.
pub(crate) fn date(day: i64, out: &mut Vec<u8>) {
    // Years begin in March, so that a leap day is the last day of its year.
    let days = day + 719_468;
    let cycle = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year_of_cycle = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    let march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    let year = cycle * 400 + year_of_cycle + i64::from(month <= 2);
    let sign = match year {
        ..0 => "-",
        0..10_000 => "",
        _ => "+",
    };
    display(format_args!("{sign}{:04}-{month:02}-{day_of_month:02}", year.abs()), out);
}

/// Writes a time of day, in units of so many digits of a second's fraction.
pub(crate) fn time(time: i64, digits: u32, out: &mut Vec<u8>) {
    let units = 10i64.pow(digits);
    let (second, mut fraction) = (time / units, time % units);
    display(format_args!("{:02}:{:02}:{:02}", second / 3600, second / 60 % 60, second % 60), out);
    if fraction != 0 {
        let mut count = digits as usize;
        while fraction % 1000 == 0 {
            fraction /= 1000;
            count -= 3;
        }
        display(format_args!(".{fraction:0count$}"), out);
    }
}

/// Writes a date and a time.
pub(crate) fn timestamp(number: i64, digits: u32, out: &mut Vec<u8>) {
    let day = DAY * 10i64.pow(digits);
    date(number.div_euclid(day), out);
    out.push(b'T');
    time(number.rem_euclid(day), digits, out);
}

/// Writes a UUID from its 16 bytes.
pub(crate) fn uuid(bytes: &[u8], out: &mut Vec<u8>) {
    for (i, byte) in bytes.iter().enumerate() {
        if [4, 6, 8, 10].contains(&i) {
            out.push(b'-');
        }
        display(format_args!("{byte:02x}"), out);
    }
}

/// Writes a time span.
pub(crate) fn duration(months: u32, days: u32, millis: u32, out: &mut Vec<u8>) {
    out.push(b'P');
    if months != 0 {
        display(format_args!("{months}M"), out);
    }
    if days != 0 {
        display(format_args!("{days}D"), out);
    }
    if millis != 0 || (months == 0 && days == 0) {
        display(format_args!("T{}", millis / 1000), out);
        if !millis.is_multiple_of(1000) {
            display(format_args!(".{:03}", millis % 1000), out);
        }
        out.push(b'S');
    }
}
