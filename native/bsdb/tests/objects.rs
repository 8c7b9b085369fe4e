//! The object store that the tests of remote databases read from.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

#[path = "support/objects/mod.rs"]
mod objects;

use objects::{Fault, Objects};

/// A directory with a file `db/data` of three pages, the numbers of whose bytes are their values.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("db")).unwrap();
    fs::write(directory.path().join("db/data"), content()).unwrap();
    directory
}

fn content() -> Vec<u8> {
    (0..3 * 4096).map(|i| i as u8).collect()
}

/// An answer that ended with its connection, in its parts.
struct Got {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Got {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// Asks once, and reads until the server closes the connection or says nothing for half a second.
fn ask(objects: &Objects, request: &str) -> Option<Got> {
    let mut connection = TcpStream::connect(objects.url().trim_start_matches("http://")).unwrap();
    connection.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    write!(connection, "{request}\r\nHost: x\r\n\r\n").unwrap();
    let (mut all, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = connection.read(&mut piece) {
        all.extend_from_slice(&piece[..count]);
        let Some(at) = all.windows(4).position(|w| w == b"\r\n\r\n") else { continue };
        let got = Got {
            status: std::str::from_utf8(all.get(9..12)?).ok()?.parse().ok()?,
            head: String::from_utf8_lossy(&all[..at]).into_owned(),
            body: all[at + 4..].to_vec(),
        };
        if got.header("Content-Length").is_some_and(|l| l.parse::<usize>().unwrap() <= got.body.len()) {
            return Some(got);
        }
    }
    let at = all.windows(4).position(|w| w == b"\r\n\r\n")?;
    let status = std::str::from_utf8(all.get(9..12)?).ok()?.parse().ok()?;
    Some(Got { status, head: String::from_utf8_lossy(&all[..at]).into_owned(), body: all[at + 4..].to_vec() })
}

#[test]
fn serves_objects_and_ranges_of_them() {
    let directory = directory();
    let objects = Objects::start(directory.path());
    for path in ["/db/data", "/bucket/db/data", "/bucket/d%62/data?x=y"] {
        let whole = ask(&objects, &format!("GET {path} HTTP/1.1")).unwrap();
        assert_eq!((whole.status, whole.body), (200, content()), "{path}");
    }
    let page = ask(&objects, "GET /db/data HTTP/1.1\r\nRange: bytes=4096-8191").unwrap();
    assert_eq!((page.status, page.header("Content-Range")), (206, Some("bytes 4096-8191/12288")));
    assert_eq!(page.body, content()[4096..8192]);
    let end = ask(&objects, "GET /db/data HTTP/1.1\r\nRange: bytes=-10").unwrap();
    assert_eq!((end.status, end.body.as_slice()), (206, &content()[12278..]));
    let past = ask(&objects, "GET /db/data HTTP/1.1\r\nRange: bytes=12288-12299").unwrap();
    assert_eq!((past.status, past.header("Content-Range")), (416, Some("bytes */12288")));
    let head = ask(&objects, "HEAD /db/data HTTP/1.1\r\nConnection: close");
    assert_eq!(head.unwrap().header("Content-Length"), Some("12288"));
    for missing in ["/db/other", "/db", "/", "/db/../db/data", "/bucket"] {
        assert_eq!(ask(&objects, &format!("GET {missing} HTTP/1.1")).unwrap().status, 404, "{missing}");
    }
    let counts = objects.counts();
    assert_eq!((counts.requests, counts.heads, counts.status[&404]), (12, 1, 5));
    let ranges: Vec<_> = objects.requests().into_iter().filter_map(|r| r.range).collect();
    assert_eq!(ranges, ["bytes=4096-8191", "bytes=-10", "bytes=12288-12299"]);
    objects.reset();
    assert_eq!((objects.counts().requests, objects.requests().len()), (0, 0));
}

#[test]
fn answers_under_conditions() {
    let directory = directory();
    let objects = Objects::start(directory.path());
    let first = ask(&objects, "GET /db/data HTTP/1.1").unwrap();
    let (tag, date) = (first.header("ETag").unwrap(), first.header("Last-Modified").unwrap());
    let status = |condition: String| ask(&objects, &format!("GET /db/data HTTP/1.1\r\n{condition}")).unwrap().status;
    assert_eq!(status(format!("If-Match: {tag}")), 200);
    assert_eq!(status("If-Match: \"x\"".to_owned()), 412);
    assert_eq!(status(format!("If-None-Match: {tag}")), 304);
    assert_eq!(status("If-None-Match: \"x\"".to_owned()), 200);
    assert_eq!(status(format!("If-Unmodified-Since: {date}")), 200);
    assert_eq!(status("If-Unmodified-Since: Sat, 28 Feb 2015 10:00:00 GMT".to_owned()), 412);
    // A file that replaces another has another tag, even if it is alike.
    fs::write(directory.path().join("new"), content()).unwrap();
    fs::rename(directory.path().join("new"), directory.path().join("db/data")).unwrap();
    assert_eq!(status(format!("If-Match: {tag}")), 412);
    objects.fail(|_, _| Fault::IgnoreMatch);
    assert_eq!(status(format!("If-Match: {tag}")), 200);
}

#[test]
fn writes_dates_as_http_does() {
    let directory = directory();
    let objects = Objects::start(directory.path());
    let file = fs::File::options().write(true).open(directory.path().join("db/data")).unwrap();
    for (seconds, date) in [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (1_795_860_000, "Sat, 28 Nov 2026 10:00:00 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ] {
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        assert_eq!(ask(&objects, "GET /db/data HTTP/1.1").unwrap().header("Last-Modified"), Some(date));
    }
}

#[test]
fn fails_as_told() {
    let directory = directory();
    let objects = Objects::start(directory.path());
    let page = |fault: &str| {
        let fault: Fault = fault.parse().unwrap();
        objects.fail(move |request, _| {
            assert_eq!(request.path, "db/data");
            fault.clone()
        });
        ask(&objects, "GET /bucket/db/data HTTP/1.1\r\nRange: bytes=4096-8191")
    };
    let right = page("none").unwrap();
    assert_eq!(page("delay=1ms").unwrap().body, right.body);
    let busy = page("status=503,3").unwrap();
    assert_eq!((busy.status, busy.header("Retry-After")), (503, Some("3")));
    for none in ["close", "half-close", "silence"] {
        assert!(page(none).is_none(), "{none}");
    }
    let stalled = page("stall").unwrap();
    assert_eq!((stalled.status, stalled.body.len(), stalled.header("Content-Length")), (206, 0, Some("4096")));
    assert_eq!(page("cut=100").unwrap().body.len(), 100);
    assert_eq!(page("drip=40960").unwrap().body, right.body);
    assert_eq!(page("wrong-range").unwrap().header("Content-Range"), Some("bytes 8192-12287/12288"));
    assert_eq!(page("wrong-total").unwrap().header("Content-Range"), Some("bytes 4096-8191/16384"));
    let whole = page("whole").unwrap();
    assert_eq!((whole.status, whole.body), (200, content()));
    let open = page("no-length").unwrap();
    assert_eq!((open.header("Content-Length"), &open.body), (None, &right.body));
    let flipped = page("flip=8009").unwrap().body;
    assert_eq!(flipped.iter().zip(&right.body).filter(|(a, b)| a != b).count(), 1);
    assert_eq!(flipped[1001], right.body[1001] ^ 2);
    assert_eq!(page("other-tag").unwrap().header("ETag"), Some("\"other\""));
    assert_eq!(page("no-tag").unwrap().header("ETag"), None);
    assert_eq!(page("truncated=4096").unwrap().status, 416);
    assert_eq!(page("truncated=8192").unwrap().header("Content-Range"), Some("bytes 4096-8191/8192"));
    let moved = page("redirect=eu-west-1").unwrap();
    assert_eq!((moved.status, moved.header("x-amz-bucket-region")), (301, Some("eu-west-1")));
    assert_eq!(page("location=http://x/").unwrap().header("Location"), Some("http://x/"));
    assert!(page("garbage").is_none());
    assert!("nothing".parse::<Fault>().is_err() && "cut=x".parse::<Fault>().is_err());
}

#[test]
fn is_controlled_by_requests() {
    let directory = directory();
    let objects = Objects::start(directory.path());
    let control = |path: &str| ask(&objects, &format!("GET /{path} HTTP/1.1")).unwrap();
    let status = || ask(&objects, "GET /db/data HTTP/1.1").unwrap().status;
    assert_eq!(control("_fault?is=status=503&on=data&skip=1&times=2").status, 200);
    assert_eq!([status(), status(), status(), status()], [200, 503, 503, 200]);
    assert_eq!(control("_fault?is=nothing").status, 400);
    let counts = String::from_utf8(control("_counts").body).unwrap();
    assert!(counts.starts_with("{\"requests\":4,\"heads\":0,\"bytes\":"), "{counts}");
    assert!(counts.ends_with("\"status\":{\"200\":2,\"503\":2}}\n"), "{counts}");
    assert_eq!(control("_log").body, b"GET db/data - 200\nGET db/data - 503\nGET db/data - 503\nGET db/data - 200\n");
    control("_fault?is=status=403");
    control("_reset");
    assert_eq!((status(), objects.counts().requests), (200, 1));
}
