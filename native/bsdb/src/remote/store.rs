//! The stores of object_store, set up for a URL.

use std::str::FromStr;
use std::sync::Arc;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::azure::{AzureConfigKey, MicrosoftAzureBuilder};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::http::HttpBuilder;
use object_store::{ClientConfigKey, ObjectStore, RetryConfig};

use super::options::Remote;
use super::transport::Connector;
use super::url::{Scheme, Url};
use crate::error::{Error, Result};

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
            let mut builder = AmazonS3Builder::from_env().with_bucket_name(&url.bucket);
            for (key, value) in settings::<AmazonS3ConfigKey>(url, remote, "aws_")? {
                builder = builder.with_config(key, value);
            }
            for (key, value) in client(remote) {
                builder = builder.with_config(AmazonS3ConfigKey::Client(key), value);
            }
            let endpoint = [AmazonS3ConfigKey::Endpoint, AmazonS3ConfigKey::S3Endpoint]
                .iter()
                .find_map(|key| builder.get_config_value(key));
            if endpoint.is_some_and(|endpoint| endpoint.starts_with("http://")) {
                builder = builder.with_allow_http(true);
            }
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

/// The settings that the caller gave. Those of other kinds of stores, by the beginnings of their names, are for other
/// databases.
fn settings<K: FromStr>(url: &Url, remote: &Remote, own: &str) -> Result<Vec<(K, String)>> {
    const OTHERS: [&str; 4] = ["aws_", "google_", "azure_", "http_"];
    let mut settings = Vec::new();
    for (name, value) in &remote.settings {
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
        kind: crate::error::RemoteKind::Denied,
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
}
