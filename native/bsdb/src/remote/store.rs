//! The stores of object_store, set up for a URL.

use std::str::FromStr;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};

use super::options::Remote;
use super::profile::{self, Files};
use super::transport::Connector;
use super::url::{Scheme, Url};
use crate::error::{Error, RemoteKind, Result};

/// How the connections behave: attempts are timed by us, which a store would do less exactly; servers close idle
/// connections after some ten seconds.
fn client(remote: &Remote) -> [(ClientConfigKey, String); 4] {
    [
        (ClientConfigKey::Timeout, "1 day".into()),
        (ClientConfigKey::ConnectTimeout, "3 seconds".into()),
        (ClientConfigKey::PoolIdleTimeout, "8 seconds".into()),
        (ClientConfigKey::PoolMaxIdlePerHost, remote.requests.to_string()),
    ]
}

/// Attempts are repeated by us.
fn once() -> RetryConfig {
    RetryConfig { max_retries: 0, ..RetryConfig::default() }
}

/// The store of a URL. Connects to nothing.
pub(crate) fn build(url: &Url, remote: &Remote) -> Result<Arc<dyn ObjectStore>> {
    let failed = |e: object_store::Error| Error::Argument(format!("{}: {e}", url.shown));
    Ok(match url.scheme {
        Scheme::S3 => {
            let mut builder = amazon(remote).with_bucket_name(&url.bucket);
            for (key, value) in settings::<AmazonS3ConfigKey>(url, remote, "aws_")? {
                builder = builder.with_config(key, value);
            }
            builder = with_profile(builder, url, remote)?;
            for (key, value) in client(remote) {
                builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
            }
            let endpoint = [AmazonS3ConfigKey::Endpoint, AmazonS3ConfigKey::S3Endpoint]
                .iter()
                .find_map(|key| builder.get_config_value(key));
            if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
                builder = builder.with_allow_http(true);
            }
            refuse_odd(url, &builder)?;
            require_aws_credentials(url, &builder)?;
            Arc::new(builder.with_retry(once()).with_http_connector(Connector).build().map_err(failed)?)
        }
        Scheme::Google => {
            let mut builder = GoogleCloudStorageBuilder::from_env().with_bucket_name(&url.bucket);
            for (key, value) in settings::<GoogleConfigKey>(url, remote, "google_")? {
                builder = builder.with_config(key, value);
            }
            for (key, value) in client(remote) {
                builder = builder.with_config(GoogleConfigKey::Client(key), value);
            }
            let base = builder.get_config_value(&GoogleConfigKey::BaseUrl);
            if base.is_some_and(|base| base.starts_with("http://")) {
                builder = builder.with_config(GoogleConfigKey::Client(ClientConfigKey::AllowHttp), "true");
            }
            Arc::new(builder.with_retry(once()).with_http_connector(Connector).build().map_err(failed)?)
        }
        Scheme::Azure => {
            let mut builder = MicrosoftAzureBuilder::from_env().with_container_name(&url.bucket);
            if let Some(account) = &url.account {
                builder = builder.with_account(account);
            }
            for (key, value) in settings::<AzureConfigKey>(url, remote, "azure_storage_")? {
                builder = builder.with_config(key, value);
            }
            for (key, value) in client(remote) {
                builder = builder.with_config(AzureConfigKey::Client(key), value);
            }
            let endpoint = builder.get_config_value(&AzureConfigKey::Endpoint);
            if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
                builder = builder.with_allow_http(true);
            }
            Arc::new(builder.with_retry(once()).with_http_connector(Connector).build().map_err(failed)?)
        }
        Scheme::Http => {
            let mut builder = HttpBuilder::new().with_url(&url.bucket);
            for (key, value) in settings::<ClientConfigKey>(url, remote, "http_")? {
                builder = builder.with_config(key, value);
            }
            for (key, value) in client(remote) {
                builder = builder.with_config(key, value);
            }
            builder = builder.with_config(ClientConfigKey::AllowHttp, "true");
            Arc::new(builder.with_retry(once()).with_http_connector(Connector).build().map_err(failed)?)
        }
    })
}

/// Refuses what no request can carry: the client of the store would panic.
fn refuse_odd(url: &Url, builder: &AmazonS3Builder) -> Result<()> {
    use AmazonS3ConfigKey as Key;
    let refused = |what: &str, why: &str| Err(Error::Argument(format!("{}: the {what} of S3 {why}", url.shown)));
    for (key, what) in [
        (Key::AccessKeyId, "access key"),
        (Key::SecretAccessKey, "secret key"),
        (Key::Token, "session token"),
        (Key::Region, "region"),
    ] {
        if builder.get_config_value(&key).is_some_and(|value| value.chars().any(char::is_control)) {
            return refused(what, "has a control character; check the options, the environment and ~/.aws");
        }
    }
    for key in [Key::Endpoint, Key::S3Endpoint] {
        let Some(value) = builder.get_config_value(&key) else { continue };
        match reqwest::Url::parse(&value) {
            Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() => {}
            _ => return refused("endpoint", "is no URL such as https://host:port"),
        }
    }
    Ok(())
}

/// The settings that the caller gave. Those of other kinds of stores, by the beginnings of their names, are for other
/// databases.
fn settings<K: FromStr>(url: &Url, remote: &Remote, own: &str) -> Result<Vec<(K, String)>> {
    const OTHERS: [&str; 4] = ["aws_", "google_", "azure_", "http_"];
    let mut settings = Vec::new();
    for (name, value) in &remote.settings {
        if name == PROFILE {
            continue;
        }
        if value.chars().any(char::is_control) && !name.starts_with("google_") {
            return Err(Error::Argument(format!("{}: the setting {name:?} has a control character", url.shown)));
        }
        match name.parse().or_else(|_| name.strip_prefix(own).unwrap_or(name).parse()) {
            Ok(key) => settings.push((key, value.clone())),
            Err(_) if OTHERS.iter().any(|other| name.starts_with(other) && !own.starts_with(other)) => {}
            Err(_) => {
                return Err(Error::Argument(format!(
                    "{}: there is no setting {name:?} for this kind of store; names are those of the crate object_store, \
                     such as {own}…",
                    url.shown
                )));
            }
        }
    }
    Ok(settings)
}

/// The setting that names a profile of `~/.aws`.
const PROFILE: &str = "aws_profile";

/// What the environment sets. A profile that the caller names comes before the keys of the environment.
fn amazon(remote: &Remote) -> AmazonS3Builder {
    if !remote.settings.contains_key(PROFILE) {
        return AmazonS3Builder::from_env();
    }
    let keys = [AmazonS3ConfigKey::AccessKeyId, AmazonS3ConfigKey::SecretAccessKey, AmazonS3ConfigKey::Token];
    let set = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.to_str().filter(|name| name.starts_with("AWS_"))?;
        Some((name.to_ascii_lowercase().parse().ok()?, value.into_string().ok()?))
    });
    set.filter(|(key, _)| !keys.contains(key))
        .fold(AmazonS3Builder::new(), |builder, (key, value)| builder.with_config(key, value))
}

/// Takes from a profile of `~/.aws` what neither the caller nor the environment sets.
fn with_profile(mut builder: AmazonS3Builder, url: &Url, remote: &Remote) -> Result<AmazonS3Builder> {
    use AmazonS3ConfigKey as Key;
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let named = remote.settings.get(PROFILE).cloned();
    let named = named.or_else(|| variable("AWS_PROFILE")).or_else(|| variable("AWS_DEFAULT_PROFILE"));
    let name = named.as_deref().unwrap_or("default");
    let has = |builder: &AmazonS3Builder, keys: &[Key]| keys.iter().any(|key| builder.get_config_value(key).is_some());
    let anonymous = builder.get_config_value(&Key::SkipSignature).is_some_and(|value| value == "true");
    let keyless = !anonymous && !has(&builder, &[Key::AccessKeyId, Key::SecretAccessKey]);
    #[allow(deprecated)] // on older compilers
    let files = Files::read(|name| std::env::var_os(name), std::env::home_dir())?;
    let denied = |message| Err(Error::Remote { kind: RemoteKind::Denied, location: url.shown.clone(), message });
    let Some(profile) = files.profile(name) else {
        return match named {
            Some(_) if keyless => denied(format!("there is no profile {name:?} in {}", files.paths())),
            _ => Ok(builder),
        };
    };
    if keyless {
        let others =
            [Key::WebIdentityTokenFile, Key::ContainerCredentialsRelativeUri, Key::ContainerCredentialsFullUri];
        match (profile.keys, profile.needs) {
            (Some(keys), _) => {
                builder = builder.with_access_key_id(keys.id).with_secret_access_key(keys.secret);
                if let Some(token) = keys.token {
                    builder = builder.with_token(token);
                }
            }
            (None, Some(needs)) if named.is_some() || !has(&builder, &others) => {
                return denied(format!(
                    "the profile {name:?} in {} needs {needs}, and only keys are read from profiles; get those by: {}",
                    files.paths(),
                    profile::exported(name)
                ));
            }
            (None, _) => {}
        }
    }
    if let Some(region) = profile.region.filter(|_| !has(&builder, &[Key::Region, Key::DefaultRegion])) {
        builder = builder.with_region(region);
    }
    let ignored =
        variable("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS").is_some_and(|value| value.eq_ignore_ascii_case("true"));
    let endpoint = profile.endpoint.filter(|_| !ignored && !has(&builder, &[Key::Endpoint, Key::S3Endpoint]));
    Ok(match endpoint {
        Some(endpoint) => builder.with_endpoint(endpoint),
        None => builder,
    })
}

/// Fails if the only credentials left are those of a virtual machine at Amazon, and the environment says that this is
/// none.
fn require_aws_credentials(url: &Url, builder: &AmazonS3Builder) -> Result<()> {
    use AmazonS3ConfigKey as Key;
    let disabled = std::env::var("AWS_EC2_METADATA_DISABLED").is_ok_and(|value| value.eq_ignore_ascii_case("true"));
    let sources = [
        Key::AccessKeyId,
        Key::WebIdentityTokenFile,
        Key::ContainerCredentialsRelativeUri,
        Key::ContainerCredentialsFullUri,
    ];
    let anonymous = builder.get_config_value(&Key::SkipSignature).is_some_and(|value| value == "true");
    if !disabled || anonymous || sources.iter().any(|key| builder.get_config_value(key).is_some()) {
        return Ok(());
    }
    Err(Error::Remote {
        kind: RemoteKind::Denied,
        location: url.shown.clone(),
        message: super::NO_AWS_CREDENTIALS.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn built(url: &str, remote: Remote) -> Result<Arc<dyn ObjectStore>> {
        let _ = super::super::runtime::handle();
        build(&Url::parse(Path::new(url)).unwrap().unwrap(), &remote)
    }

    #[test]
    fn takes_settings_of_its_kind() {
        let remote = Remote::default().set("aws_region", "x").set("region", "y").set("allow_http", "true");
        assert!(built("s3://b/db", Remote::default().set("AWS_Region", "x").set("google_bearer_token", "t")).is_ok());
        assert!(built("http://h/db", remote).is_err());
        let error = built("s3://b/db", Remote::default().set("aws_colour", "hidden")).unwrap_err().to_string();
        assert!(error.contains("aws_colour") && !error.contains("hidden"), "{error}");
        assert!(built("az://b/db", Remote::default().set("account_name", "a").set("aws_region", "x")).is_ok());
    }

    #[test]
    fn refuses_what_no_request_can_carry() {
        for (name, value) in [
            ("aws_access_key_id", "hidden\nx"),
            ("aws_secret_access_key", "hidden\u{1}"),
            ("aws_session_token", "hidden\r"),
            ("aws_region", "hidden\n"),
            ("aws_endpoint", "hidden"),
            ("aws_endpoint", "http://"),
        ] {
            let keys = Remote::default().set("aws_access_key_id", "a").set("aws_secret_access_key", "s");
            let error = built("s3://b/db", keys.set(name, value)).unwrap_err();
            assert!(matches!(error, Error::Argument(_)) && !error.to_string().contains("hidden"), "{error}");
        }
    }
}
