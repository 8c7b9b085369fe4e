//! Compares the public items of a crate, as `cargo rustdoc` describes them in JSON, with a list: api JSON LIST [--write [--breaking]]
//!
//! Exits with 1 if they differ. With `--write`, it writes new items into the list; with `--breaking`, it also removes those
//! that are gone.

use std::collections::BTreeSet;
use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (json, list, write, breaking) = match arguments[..] {
        [json, list] => (json, list, false, false),
        [json, list, "--write"] => (json, list, true, false),
        [json, list, "--write", "--breaking"] => (json, list, true, true),
        _ => return Err("usage: api JSON LIST [--write [--breaking]]".into()),
    };
    let api = public_api::Builder::from_rustdoc_json(json).omit_blanket_impls(true).build()?;
    let items: Vec<String> = api.items().map(ToString::to_string).collect();
    let listed = if std::fs::exists(list)? { std::fs::read_to_string(list)? } else { String::new() };
    let now: BTreeSet<&str> = items.iter().map(String::as_str).collect();
    let before: BTreeSet<&str> = listed.lines().collect();
    let gone: Vec<&str> = before.difference(&now).copied().collect();
    let new: Vec<&str> = now.difference(&before).copied().collect();
    if write && (breaking || gone.is_empty()) {
        std::fs::write(list, now.iter().map(|item| format!("{item}\n")).collect::<String>())?;
        eprintln!("{list}: {} items added, {} removed", new.len(), gone.len());
        return Ok(ExitCode::SUCCESS);
    }
    for item in &gone {
        eprintln!("gone or changed: {item}");
    }
    for item in &new {
        eprintln!("new: {item}");
    }
    if !gone.is_empty() {
        eprintln!(
            "Programs that use what is gone no longer compile. Put it back or, for a new major version, write the list with: \
             native/api/check --write --breaking"
        );
    } else if !new.is_empty() {
        eprintln!("The public items of the crate grew. Write the list with: native/api/check --write");
    }
    Ok(if gone.is_empty() && new.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
