//! The options of `bsdb_remote_set`: limits, names as fsspec has them, and those of the crate object_store.

use std::time::Duration;

use reader::Remote;

use crate::error::{bsdb_error, Failure};

/// Names that fsspec has too, and the settings that they are: of each kind of store that has one.
const NAMED: [(&str, &[&str]); 14] = [
    ("key", &["aws_access_key_id"]),
    ("secret", &["aws_secret_access_key"]),
    ("token", &["aws_session_token"]),
    ("profile", &["aws_profile"]),
    ("region_name", &["aws_region"]),
    ("requester_pays", &["aws_request_payer"]),
    ("account_name", &["azure_storage_account_name"]),
    ("account_key", &["azure_storage_account_key"]),
    ("sas_token", &["azure_storage_sas_key"]),
    ("tenant_id", &["azure_storage_tenant_id"]),
    ("client_id", &["azure_storage_client_id"]),
    ("client_secret", &["azure_storage_client_secret"]),
    ("anon", &["aws_skip_signature", "google_skip_signature", "azure_skip_signature"]),
    ("endpoint_url", &["aws_endpoint", "google_base_url", "azure_endpoint"]),
];

/// Settings of connections.
const CONNECTIONS: [&str; 5] =
    ["allow_http", "allow_invalid_certificates", "proxy_url", "proxy_ca_certificate", "proxy_excludes"];

/// The parts of a connection string that are settings.
const CONNECTION_STRING: [(&str, &str); 4] = [
    ("AccountName", "azure_storage_account_name"),
    ("AccountKey", "azure_storage_account_key"),
    ("SharedAccessSignature", "azure_storage_sas_key"),
    ("BlobEndpoint", "azure_endpoint"),
];

/// The sizes of the file that keeps pages on disk: 1 MiB to 256 GiB.
const PAGE_BYTES: std::ops::RangeInclusive<u64> = 1 << 20..=1 << 38;

/// Options with one more.
pub(crate) fn set(remote: Remote, name: &str, value: &str) -> Result<Remote, Failure> {
    match name {
        "requests" => return Ok(remote.requests(number(name, value, 1..=4096)? as usize)),
        "deadline_ms" => return Ok(remote.deadline(Duration::from_millis(number(name, value, 10..=86_400_000)?))),
        "memory_bytes" => return Ok(remote.memory(number(name, value, 0..=u64::MAX)?)),
        "page_bytes" => return Ok(remote.page_bytes(number(name, value, PAGE_BYTES)?)),
        "cache_dir" => return Ok(remote.cache_dir(value)),
        "hedge" => return Ok(remote.hedged(flag(name, value)?)),
        "connection_string" => {
            let parts = value.split(';').filter_map(|part| part.split_once('='));
            let settings = parts.filter_map(|(part, value)| {
                let (_, setting) = CONNECTION_STRING.iter().find(|(name, _)| *name == part)?;
                Some((*setting, value))
            });
            return settings.into_iter().try_fold(remote, |remote, (setting, value)| put(remote, setting, value));
        }
        _ => {}
    }
    if let Some((_, settings)) = NAMED.iter().find(|(known, _)| *known == name) {
        return settings.iter().try_fold(remote, |remote, setting| put(remote, setting, value));
    }
    if CONNECTIONS.contains(&name) || ["aws_", "google_", "azure_"].iter().any(|start| name.starts_with(start)) {
        return put(remote, name, value);
    }
    let known: Vec<&str> =
        ["requests", "deadline_ms", "memory_bytes", "page_bytes", "cache_dir", "hedge", "connection_string"]
            .into_iter()
            .chain(NAMED.iter().map(|(name, _)| *name))
            .chain(CONNECTIONS)
            .collect();
    Err(bsdb_error::invalid(format!(
        "unknown option {name:?}; known are {}, and settings that begin with aws_, google_ or azure_",
        known.join(", ")
    )))
}

/// Sets a setting of the store.
fn put(remote: Remote, setting: &str, value: &str) -> Result<Remote, Failure> {
    // It would be shown in messages.
    if matches!(setting, "aws_endpoint" | "google_base_url" | "azure_endpoint") && value.contains(['@', '?']) {
        return Err(bsdb_error::invalid("the URL of an endpoint must not have a user, a password or a query".into()));
    }
    Ok(remote.set(setting, value))
}

fn number(name: &str, value: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, Failure> {
    value.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        bsdb_error::invalid(format!("{name} must be a number from {} to {}: {value}", range.start(), range.end()))
    })
}

fn flag(name: &str, value: &str) -> Result<bool, Failure> {
    value.parse().map_err(|_| bsdb_error::invalid(format!("{name} must be true or false: {value}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(options: &[(&str, &str)]) -> Result<String, Failure> {
        let remote = options.iter().try_fold(Remote::default(), |remote, (name, value)| set(remote, name, value))?;
        Ok(format!("{remote:?}"))
    }

    #[test]
    fn names_lead_to_settings() {
        for (name, expected) in [
            ("key", "[\"aws_access_key_id\"]"),
            ("anon", "[\"aws_skip_signature\", \"azure_skip_signature\", \"google_skip_signature\"]"),
            ("google_service_account", "[\"google_service_account\"]"),
            ("profile", "[\"aws_profile\"]"),
            ("proxy_url", "[\"proxy_url\"]"),
        ] {
            let shown = shown(&[(name, "hidden")]).unwrap();
            assert!(shown.contains(expected) && !shown.contains("hidden"), "{shown}");
        }
        let text = "AccountName=a;AccountKey=k==;EndpointSuffix=core.windows.net;x";
        let expected = "[\"azure_storage_account_key\", \"azure_storage_account_name\"]";
        assert!(shown(&[("connection_string", text)]).unwrap().contains(expected));
        let shown = shown(&[("requests", "7"), ("deadline_ms", "1500"), ("memory_bytes", "0")]).unwrap();
        assert!(shown.contains("requests: 7") && shown.contains("1.5s") && shown.contains("memory: 0"), "{shown}");
    }

    #[test]
    fn wrong_options_are_told() {
        for (name, value) in [
            ("colour", "hidden"),
            ("KEY", "hidden"),
            ("", "hidden"),
            ("requests", "0"),
            ("requests", "4097"),
            ("deadline_ms", "-1"),
            ("memory_bytes", "64M"),
            ("page_bytes", "4096"),
            ("hedge", "yes"),
            ("endpoint_url", "https://user:hidden@host"),
            ("azure_endpoint", "https://host?sig=hidden"),
            ("connection_string", "BlobEndpoint=https://hidden@host"),
        ] {
            assert!(shown(&[(name, value)]).is_err(), "{name}={value}");
        }
    }
}
