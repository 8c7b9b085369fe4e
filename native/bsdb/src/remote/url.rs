//! The URLs of databases, and the stores that they lead to.

use std::path::Path;

use crate::error::{Error, Result};

/// The kinds of stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    S3,
    Google,
    Azure,
    Http,
}

/// A URL, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) scheme: Scheme,
    /// The bucket or container; of a web server the URL itself.
    pub(crate) bucket: String,
    /// The storage account of Azure, if the URL names it.
    pub(crate) account: Option<String>,
    /// The names that precede those of the database's files, without a slash at the end.
    pub(crate) prefix: String,
    /// The URL for messages: without anything secret, and without a slash at the end.
    pub(crate) shown: String,
}

impl Url {
    /// Takes a URL apart; None if a text is none of a kind that can be read. Never shows what may be secret.
    pub(crate) fn parse(path: &Path) -> Result<Option<Url>> {
        let Some(text) = path.to_str() else { return Ok(None) };
        let Some((scheme, rest)) = text.split_once("://") else { return Ok(None) };
        let kind = match scheme.to_ascii_lowercase().as_str() {
            "s3" | "s3a" | "s3n" => Scheme::S3,
            "gs" | "gcs" => Scheme::Google,
            "az" | "azure" | "abfs" | "abfss" => Scheme::Azure,
            "http" | "https" => Scheme::Http,
            _ => return Ok(None),
        };
        let (authority, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let refused = |reason: &str| Err(Error::Argument(format!("a URL that begins with {scheme}:// {reason}")));
        if rest.contains(['?', '#']) {
            return refused(
                "has a query or a fragment (after ? or #), which databases have not; give credentials and tokens as \
                 options or in the environment",
            );
        }
        let (user, host) = match authority.rsplit_once('@') {
            Some((user, host)) => (Some(user), host),
            None => (None, authority),
        };
        let (bucket, account) = match (kind, user) {
            // abfss://container@account.dfs.core.windows.net/path
            (Scheme::Azure, Some(container)) if !container.contains(':') => {
                (container, Some(host.split('.').next().unwrap_or_default().to_owned()))
            }
            (_, Some(_)) => {
                return refused("names a user or a password before an @; give them as options or in the environment")
            }
            (_, None) => (host, None),
        };
        if bucket.is_empty() || account.as_ref().is_some_and(String::is_empty) {
            return refused(match kind {
                Scheme::Http => "names no host",
                Scheme::Azure => "names no container, as in az://container/path",
                _ => "names no bucket, as in s3://bucket/path",
            });
        }
        let prefix = prefix.trim_end_matches('/');
        let shown = if prefix.is_empty() {
            format!("{scheme}://{authority}")
        } else {
            format!("{scheme}://{authority}/{prefix}")
        };
        if kind == Scheme::Http {
            return Ok(Some(Url { scheme: kind, bucket: shown.clone(), account, prefix: String::new(), shown }));
        }
        if prefix.split('/').any(|part| part.is_empty() && !prefix.is_empty() || part == "." || part == "..") {
            return refused("has a path with an empty name, or with . or .. as one");
        }
        if prefix.chars().any(|c| c.is_ascii_control()) {
            return refused("has a control character in its path");
        }
        let (bucket, prefix) = (bucket.to_owned(), prefix.to_owned());
        Ok(Some(Url { scheme: kind, bucket, account, prefix, shown }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Url {
        Url::parse(Path::new(text)).unwrap().unwrap()
    }

    #[test]
    fn takes_urls_apart() {
        let url = parsed("s3a://bucket/a/b%20c/");
        assert_eq!((url.scheme, &*url.bucket, &*url.prefix), (Scheme::S3, "bucket", "a/b%20c"));
        assert_eq!(url.shown, "s3a://bucket/a/b%20c");
        assert_eq!(parsed("gs://b").prefix, "");
        let url = parsed("abfss://box@name.dfs.core.windows.net/db");
        assert_eq!((url.scheme, &*url.bucket, url.account.as_deref()), (Scheme::Azure, "box", Some("name")));
        assert_eq!(parsed("az://box/db").account, None);
        let url = parsed("HTTP://host:80/a//b/");
        assert_eq!((url.scheme, &*url.bucket, &*url.prefix), (Scheme::Http, "HTTP://host:80/a//b", ""));
        for path in ["rdb", "/s3/x", "hdfs://name/db", "file:///x", "s3:/x", ""] {
            assert_eq!(Url::parse(Path::new(path)).unwrap(), None, "{path}");
        }
    }

    #[test]
    fn shows_no_secrets() {
        for text in [
            "https://user:hidden@host/db",
            "s3://hidden@bucket/db",
            "https://host/db?sig=hidden",
            "s3://bucket/db#hidden",
            "abfs://box:hidden@account/db",
        ] {
            let error = Url::parse(Path::new(text)).unwrap_err().to_string();
            assert!(!error.contains("hidden") && error.len() > 40, "{error}");
        }
        for text in ["s3:///db", "https://", "abfs://box@/db", "s3://b/a//b", "gs://b/../c"] {
            assert!(Url::parse(Path::new(text)).is_err(), "{text}");
        }
    }
}
