//! One request to a store, and what its answer means.

use std::error::Error as StdError;
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use object_store::path::Path as ObjectPath;
use object_store::{Attribute, ClientOptions, GetOptions, GetRange, ObjectStore};

/// What tells one content of an object from another: its ETag, or the time of its last change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tag(String);

impl Tag {
    /// The tag as a condition, if every server understands it as one.
    fn condition(&self) -> Option<String> {
        self.0.starts_with('"').then(|| self.0.clone())
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An answer.
pub(crate) struct Got {
    pub(crate) bytes: Bytes,
    /// Bytes of the whole object.
    pub(crate) size: u64,
    pub(crate) tag: Option<Tag>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// There is no such object.
    Missing,
    /// The caller may not read it.
    Denied,
    /// It has another tag.
    Changed,
    /// It ends before the range.
    Short,
    /// The server wants to be left alone for a while.
    Busy,
    /// The connection broke, or there was none.
    Broken,
    /// Nothing came in time.
    Late,
    /// The answer is not one to the question.
    Wrong,
}

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) reason: Reason,
    /// When the server wants to be asked again.
    pub(crate) after: Option<Duration>,
    pub(crate) text: String,
}

impl Failure {
    pub(crate) fn new(reason: Reason, text: impl Into<String>) -> Self {
        Failure { reason, after: None, text: text.into() }
    }
}

/// Asks for a range of an object, or for all of one that has `most` bytes at most.
pub(crate) async fn get(
    store: &dyn ObjectStore,
    path: &ObjectPath,
    range: Option<Range<u64>>,
    tag: Option<&Tag>,
    most: u64,
) -> Result<Got, Failure> {
    let options = GetOptions {
        range: range.clone().map(GetRange::Bounded),
        if_match: tag.and_then(Tag::condition),
        ..GetOptions::default()
    };
    let answer = store.get_opts(path, options).await.map_err(|e| failure(&e))?;
    if let Some(encoding) = answer.attributes.get(&Attribute::ContentEncoding) {
        let text = format!("the server sends the object with the encoding {encoding:?}; store it without one");
        return Err(Failure::new(Reason::Wrong, text));
    }
    let size = answer.meta.size;
    let expected = match &range {
        Some(range) if answer.range.start == range.start && answer.range.end == size && size < range.end => {
            return Err(Failure::new(Reason::Short, format!("the object has {size} bytes")));
        }
        Some(range) if *range != answer.range => {
            let found = format!("the server sends bytes {:?} instead of {range:?}", answer.range);
            return Err(Failure::new(Reason::Wrong, found));
        }
        Some(range) => range.end - range.start,
        None if size > most => {
            let found = format!("the object has {size} bytes, more than the {most} that it may have");
            return Err(Failure::new(Reason::Wrong, found));
        }
        None => size,
    };
    let modified = answer.meta.last_modified.timestamp_millis();
    let tag = match &answer.meta.e_tag {
        Some(tag) => Some(Tag(tag.clone())),
        None => (modified != 0).then(|| Tag(format!("modified {modified}"))),
    };
    let bytes = answer.bytes().await.map_err(|e| failure(&e))?;
    if bytes.len() as u64 != expected {
        return Err(Failure::new(Reason::Broken, format!("{} bytes came instead of {expected}", bytes.len())));
    }
    Ok(Got { bytes, size, tag })
}

/// An answer that is none, as an error that object_store passes on.
#[derive(Debug)]
struct Answered {
    status: u16,
    after: Option<Duration>,
    /// The region of the bucket, if the server said that it is in another one.
    region: Option<String>,
}

impl fmt::Display for Answered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.region, self.status) {
            (Some(region), 300..=499) => {
                write!(f, "the bucket is in the region {region}; set AWS_REGION={region}")
            }
            (None, 300..=399) => write!(f, "the server answers {} and does not say where the object is", self.status),
            _ => write!(f, "the server answers {}", self.status),
        }
    }
}

impl StdError for Answered {}

/// A request for credentials that failed.
#[derive(Debug)]
struct NoCredentials(String);

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for NoCredentials {}

/// The client, which passes statuses on that object_store hides.
#[derive(Debug)]
struct Watched(HttpClient);

impl HttpService for Watched {
    fn call<'s, 'f>(
        &'s self,
        request: HttpRequest,
    ) -> Pin<Box<dyn Future<Output = Result<HttpResponse, HttpError>> + Send + 'f>>
    where
        's: 'f,
        Self: 'f,
    {
        Box::pin(async move {
            let path = request.uri().path();
            if !path.ends_with(".bsdb") && !path.ends_with("/CURRENT") {
                let host = request.uri().host().unwrap_or_default().to_owned();
                return credentials(self.0.execute(request).await, &host);
            }
            let answer = self.0.execute(request).await?;
            let status = answer.status().as_u16();
            if matches!(status, 200..=299 | 304 | 401 | 403 | 404 | 412) {
                return Ok(answer);
            }
            let header = |name| answer.headers().get(name).and_then(|value| value.to_str().ok());
            let after = header("retry-after").and_then(|after| after.trim().parse().ok()).map(Duration::from_secs);
            let region = header("x-amz-bucket-region").map(str::to_owned);
            Err(HttpError::new(HttpErrorKind::Unknown, Answered { status, after, region }))
        })
    }
}

/// The answer to a request for credentials. A busy server is worth another try; any other failure is told as what it is.
fn credentials(answer: Result<HttpResponse, HttpError>, host: &str) -> Result<HttpResponse, HttpError> {
    match answer {
        Ok(answer) => match answer.status().as_u16() {
            200..=299 => Ok(answer),
            status @ (429 | 500..) => {
                Err(HttpError::new(HttpErrorKind::Unknown, Answered { status, after: None, region: None }))
            }
            status => {
                let text = format!("{host}, which was asked for credentials, answers {status}");
                Err(HttpError::new(HttpErrorKind::Unknown, NoCredentials(text)))
            }
        },
        Err(error) => {
            let text = format!("{host}, which was asked for credentials, does not answer: {}", deepest(&error));
            Err(HttpError::new(HttpErrorKind::Unknown, NoCredentials(text)))
        }
    }
}

#[derive(Debug)]
pub(crate) struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Watched(ReqwestConnector::default().connect(options)?)))
    }
}

/// What an error of a request means.
fn failure(error: &object_store::Error) -> Failure {
    use object_store::Error as Store;
    let reason = match error {
        Store::NotFound { .. } => Reason::Missing,
        Store::Precondition { .. } => Reason::Changed,
        Store::PermissionDenied { .. } | Store::Unauthenticated { .. } => Reason::Denied,
        Store::NotSupported { .. } => Reason::Wrong,
        _ => {
            if let Some(answered) = find::<Answered>(error) {
                let reason = match answered.status {
                    408 | 429 | 500.. => Reason::Busy,
                    416 => Reason::Short,
                    404 | 410 => Reason::Missing,
                    _ => Reason::Wrong,
                };
                return Failure { reason, after: answered.after, text: answered.to_string() };
            }
            if let Some(none) = find::<NoCredentials>(error) {
                return Failure::new(Reason::Denied, none.to_string());
            }
            match find::<HttpError>(error).map(HttpError::kind) {
                Some(HttpErrorKind::Timeout) => Reason::Late,
                Some(_) => Reason::Broken,
                None => Reason::Wrong,
            }
        }
    };
    Failure::new(reason, told(&deepest(error)))
}

/// The first error of a kind among the causes of an error.
fn find<'e, T: StdError + 'static>(error: &'e (dyn StdError + 'static)) -> Option<&'e T> {
    let mut at = Some(error);
    while let Some(error) = at {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        at = error.source();
    }
    None
}

/// The text of the first cause of an error.
fn deepest(error: &(dyn StdError + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// A text for messages: what an answer in XML says, and without what follows a question mark, which may be secret.
fn told(text: &str) -> String {
    const MOST: usize = 300;
    let element = |name: &str| {
        let (_, rest) = text.split_once(&format!("<{name}>"))?;
        rest.split_once("</").map(|(inner, _)| inner)
    };
    if let Some(code) = element("Code") {
        let message = element("Message").unwrap_or_default();
        return format!("{code}: {}", message.chars().take(MOST).collect::<String>());
    }
    let mut kept = String::new();
    for (i, word) in text.split_whitespace().enumerate() {
        if i > 0 {
            kept.push(' ');
        }
        kept.push_str(if word.contains("://") { word.split(['?', '#']).next().unwrap_or_default() } else { word });
    }
    kept.chars().take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_no_secrets() {
        assert_eq!(told("error at https://host/a?sig=hidden and more"), "error at https://host/a and more");
        let body = "403: <Error><Code>NoKey</Code><Message>none</Message><AWSAccessKeyId>hidden</AWSAccessKeyId>";
        assert_eq!(told(body), "NoKey: none");
        assert!(told(&"x".repeat(10_000)).len() <= 300);
    }

    #[test]
    fn only_strong_tags_are_conditions() {
        assert_eq!(Tag("\"a\"".into()).condition().as_deref(), Some("\"a\""));
        assert_eq!(Tag("W/\"a\"".into()).condition(), None);
        assert_eq!(Tag("modified 5".into()).condition(), None);
    }
}
