//! An object store on this machine that can fail: serves a directory by HTTP to the clients of S3, of Google Cloud
//! Storage and of Azure, and to those of plain HTTP servers.
//!
//! `/bucket/KEY` and `/KEY` are the file KEY of the directory: the URL of the server is the endpoint of a store with a
//! bucket `bucket`, and the base of plain URLs. It checks no credentials. Each connection has a thread.
//!
//! `GET /_counts`, `/_reset`, and `/_fault?…` control it from another process (see `examples/objects.rs`).
#![allow(dead_code)] // each user uses some of it

mod fault;
mod http;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime};

pub use fault::{duration, Fault};
pub use http::Request;

/// What is to go wrong with a request, which is the nth one since the start or the last reset, from 0.
type Rule = dyn Fn(&Request, u64) -> Fault + Send + Sync;

const PIECE: usize = 256 << 10;

/// A running server, which stops when it is dropped.
pub struct Objects {
    url: String,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
}

/// What was asked since the start or the last reset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    pub requests: u64,
    pub heads: u64,
    /// Bytes of bodies that were sent.
    pub bytes: u64,
    pub connections: u64,
    /// The most requests that waited for their answers at the same time.
    pub peak: u64,
    /// Answers by status; those of requests without an answer by 0.
    pub status: BTreeMap<u16, u64>,
}

impl Counts {
    pub fn json(&self) -> String {
        let status: Vec<String> = self.status.iter().map(|(status, count)| format!("\"{status}\":{count}")).collect();
        format!(
            "{{\"requests\":{},\"heads\":{},\"bytes\":{},\"connections\":{},\"peak\":{},\"status\":{{{}}}}}\n",
            self.requests,
            self.heads,
            self.bytes,
            self.connections,
            self.peak,
            status.join(",")
        )
    }
}

struct Shared {
    directory: PathBuf,
    rule: Mutex<Arc<Rule>>,
    /// What `/_fault` armed.
    armed: Mutex<Vec<Armed>>,
    latency: Mutex<Duration>,
    state: Mutex<State>,
    connections: Mutex<HashMap<u64, TcpStream>>,
    stopped: AtomicBool,
}

#[derive(Default)]
struct State {
    counts: Counts,
    waiting: u64,
    keeps_log: bool,
    log: Vec<Request>,
}

/// A fault of the next requests whose paths contain a text.
struct Armed {
    part: String,
    fault: Fault,
    skip: u64,
    times: u64,
}

impl Objects {
    /// Serves a directory on a free port of this machine.
    pub fn start(directory: impl AsRef<Path>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("the port"));
        let shared = Arc::new(Shared {
            directory: directory.as_ref().to_owned(),
            rule: Mutex::new(Arc::new(|_, _| Fault::None)),
            armed: Mutex::default(),
            latency: Mutex::default(),
            state: Mutex::new(State { keeps_log: true, ..State::default() }),
            connections: Mutex::default(),
            stopped: AtomicBool::new(false),
        });
        let accepting = shared.clone();
        let listener = thread::spawn(move || accepting.accept(&listener));
        Self { url, shared, listener: Some(listener) }
    }

    /// `http://127.0.0.1:PORT`: the endpoint of a store with the bucket `bucket`, and the base of plain URLs.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Replaces the rule by which requests fail.
    pub fn fail(&self, rule: impl Fn(&Request, u64) -> Fault + Send + Sync + 'static) {
        *self.shared.rule.lock().unwrap() = Arc::new(rule);
    }

    /// Lets each answer begin so much later.
    pub fn set_latency(&self, latency: Duration) {
        *self.shared.latency.lock().unwrap() = latency;
    }

    /// Counts from now on, but keeps no list of requests: for millions of them.
    pub fn without_log(self) -> Self {
        self.shared.state.lock().unwrap().keeps_log = false;
        self
    }

    /// The requests since the start or the last reset, in the order in which they came.
    pub fn requests(&self) -> Vec<Request> {
        self.shared.state.lock().unwrap().log.clone()
    }

    pub fn counts(&self) -> Counts {
        self.shared.state.lock().unwrap().counts.clone()
    }

    /// Forgets the requests and counts anew. Rules stay, and get their numbers from 0 again.
    pub fn reset(&self) {
        self.shared.reset();
    }

    /// Waits until the server is stopped by a signal.
    pub fn serve(mut self) {
        if let Some(listener) = self.listener.take() {
            listener.join().expect("the listener");
        }
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
        for connection in self.shared.connections.lock().unwrap().values() {
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

impl Shared {
    fn accept(self: Arc<Self>, listener: &TcpListener) {
        for (number, connection) in (0..).zip(listener.incoming()) {
            if self.stopped.load(Ordering::SeqCst) {
                return;
            }
            let Ok(connection) = connection else { continue };
            let Ok(copy) = connection.try_clone() else { continue };
            self.connections.lock().unwrap().insert(number, copy);
            let serving = self.clone();
            thread::spawn(move || {
                let _ = serving.converse(&connection);
                let _ = connection.shutdown(Shutdown::Both);
                serving.connections.lock().unwrap().remove(&number);
            });
        }
    }

    fn reset(&self) {
        let mut state = self.state.lock().unwrap();
        state.counts = Counts::default();
        state.log.clear();
    }

    /// Answers the requests of a connection until one of the two closes it.
    fn converse(&self, mut connection: &TcpStream) -> io::Result<()> {
        connection.set_nodelay(true)?;
        let mut reader = BufReader::new(connection);
        let mut begun = false;
        while let Some(mut request) = Request::read(&mut reader)? {
            if request.path.starts_with('_') {
                let (status, body) = self.control(&request);
                write!(
                    connection,
                    "HTTP/1.1 {status} {}\r\nContent-Length: {}\r\n\r\n{body}",
                    http::reason(status),
                    body.len()
                )?;
                continue;
            }
            let fault = self.fault(&request);
            let answer = Answer::of(&self.directory, &request, &fault);
            request.status = if matches!(fault, Fault::Close | Fault::HalfClose | Fault::Silence | Fault::Garbage) {
                0
            } else {
                answer.status
            };
            self.begin(request, !begun);
            begun = true;
            let latency = *self.latency.lock().unwrap();
            if !latency.is_zero() {
                thread::sleep(latency);
            }
            let sent = answer.send(connection, &fault);
            let mut state = self.state.lock().unwrap();
            state.waiting -= 1;
            state.counts.bytes += *sent.as_ref().unwrap_or(&0);
            drop(state);
            sent?;
            if matches!(fault, Fault::Silence | Fault::Stall | Fault::HalfClose) {
                // Until the client goes or the server stops.
                return io::copy(&mut reader, &mut io::sink()).map(|_| ());
            }
            if matches!(fault, Fault::Close | Fault::Cut(_) | Fault::NoLength | Fault::Garbage) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn fault(&self, request: &Request) -> Fault {
        for armed in self.armed.lock().unwrap().iter_mut() {
            if armed.times > 0 && request.path.contains(&armed.part) {
                if armed.skip > 0 {
                    armed.skip -= 1;
                    continue;
                }
                armed.times -= 1;
                return armed.fault.clone();
            }
        }
        let rule = self.rule.lock().unwrap().clone();
        let nth = self.state.lock().unwrap().counts.requests;
        rule(request, nth)
    }

    fn begin(&self, request: Request, is_first: bool) {
        let mut state = self.state.lock().unwrap();
        state.waiting += 1;
        state.counts.peak = state.counts.peak.max(state.waiting);
        state.counts.connections += u64::from(is_first);
        state.counts.requests += 1;
        state.counts.heads += u64::from(request.method == "HEAD");
        *state.counts.status.entry(request.status).or_default() += 1;
        if state.keeps_log {
            state.log.push(request);
        }
    }

    /// Answers a request about the server itself.
    fn control(&self, request: &Request) -> (u16, String) {
        match request.path.as_str() {
            "_counts" => (200, self.state.lock().unwrap().counts.json()),
            "_log" => {
                let line = |r: &Request| {
                    format!("{} {} {} {}\n", r.method, r.path, r.range.as_deref().unwrap_or("-"), r.status)
                };
                (200, self.state.lock().unwrap().log.iter().map(line).collect())
            }
            "_reset" => {
                self.reset();
                self.armed.lock().unwrap().clear();
                (200, String::new())
            }
            "_fault" => match self.arm(&request.query) {
                Ok(()) => (200, String::new()),
                Err(error) => (400, error + "\n"),
            },
            _ => (404, String::new()),
        }
    }

    /// `is=FAULT&on=TEXT&skip=N&times=N`: the fault of so many of the next requests whose paths contain the text, after
    /// those that are skipped.
    fn arm(&self, query: &str) -> Result<(), String> {
        let mut armed = Armed { part: String::new(), fault: Fault::None, skip: 0, times: u64::MAX };
        for part in query.split('&') {
            let (name, value) = part.split_once('=').ok_or("no value")?;
            let number = || value.parse().map_err(|e| format!("{part}: {e}"));
            match name {
                "is" => armed.fault = value.parse()?,
                "on" => armed.part = value.to_owned(),
                "skip" => armed.skip = number()?,
                "times" => armed.times = number()?,
                "latency" => *self.latency.lock().unwrap() = duration(value)?,
                _ => return Err(format!("unknown: {name}")),
            }
        }
        if armed.fault != Fault::None {
            self.armed.lock().unwrap().push(armed);
        }
        Ok(())
    }
}

/// The right answer to a request, or one that is wrong by its head.
struct Answer {
    status: u16,
    head: String,
    body: Body,
}

enum Body {
    None,
    Text(String),
    File { file: File, first: u64, length: u64 },
}

impl Answer {
    fn of(directory: &Path, request: &Request, fault: &Fault) -> Self {
        match fault {
            Fault::Status { code, retry_after } => {
                let after = retry_after.map_or_else(String::new, |seconds| format!("Retry-After: {seconds}\r\n"));
                return Self::error(*code, &after);
            }
            Fault::Redirect(region) => return Self::error(301, &format!("x-amz-bucket-region: {region}\r\n")),
            Fault::Location(url) => return Self::error(302, &format!("Location: {url}\r\n")),
            _ => {}
        }
        if request.method != "GET" && request.method != "HEAD" {
            return Self::error(405, "Allow: GET, HEAD\r\n");
        }
        let Some((file, size, modified)) = find(directory, &request.path) else { return Self::error(404, "") };
        let size = if let Fault::Truncated(most) = fault { size.min(*most) } else { size };
        let nanoseconds = modified.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_nanos());
        let tag = format!("\"{:x}-{nanoseconds:x}-{size:x}\"", inode(&file));
        let date = http::date(modified);
        let ignores = matches!(fault, Fault::OtherTag | Fault::IgnoreMatch | Fault::NoTag);
        let names = |list: &String| list == "*" || list.split(',').any(|one| one.trim() == tag);
        if !ignores && request.if_match.as_ref().is_some_and(|list| !names(list)) {
            return Self::error(412, "");
        }
        let is_newer = |than: &String| http::order(than).is_some_and(|than| http::order(&date) > Some(than));
        if !ignores && request.if_match.is_none() && request.if_unmodified_since.as_ref().is_some_and(is_newer) {
            return Self::error(412, "");
        }
        let mut head = match fault {
            Fault::NoTag => String::new(),
            Fault::OtherTag => "ETag: \"other\"\r\nLast-Modified: Thu, 01 Jan 2026 00:00:00 GMT\r\n".to_owned(),
            _ => format!("ETag: {tag}\r\nLast-Modified: {date}\r\n"),
        };
        if !ignores && request.if_none_match.as_ref().is_some_and(names) {
            return Self { status: 304, head, body: Body::None };
        }
        let Ok(range) = request.bytes(size) else {
            return Self::error(416, &format!("Content-Range: bytes */{size}\r\n"));
        };
        let range = range.filter(|_| *fault != Fault::Whole200);
        let (first, end) = range.unwrap_or((0, size));
        if range.is_some() {
            let by = if *fault == Fault::WrongRange { 4096 } else { 0 };
            let total = if *fault == Fault::WrongTotal { size + 4096 } else { size };
            head += &format!("Content-Range: bytes {}-{}/{total}\r\n", first + by, end - 1 + by);
        }
        if *fault != Fault::NoLength {
            head += &format!("Content-Length: {}\r\n", end - first);
        }
        let status = if range.is_some() { 206 } else { 200 };
        let body = if request.method == "HEAD" { Body::None } else { Body::File { file, first, length: end - first } };
        Self { status, head: head + "Accept-Ranges: bytes\r\n", body }
    }

    fn error(status: u16, head: &str) -> Self {
        let body = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{}</Code><Message>{}</Message></Error>",
            http::code(status),
            http::reason(status)
        );
        let head = format!("{head}Content-Type: application/xml\r\nContent-Length: {}\r\n", body.len());
        Self { status, head, body: Body::Text(body) }
    }

    /// Sends it, or what is left of it, and returns how many bytes of a body were sent.
    fn send(self, mut connection: &TcpStream, fault: &Fault) -> io::Result<u64> {
        match fault {
            Fault::Close | Fault::Silence => return Ok(0),
            Fault::HalfClose => return connection.shutdown(Shutdown::Write).map(|()| 0),
            Fault::Garbage => return connection.write_all(b"\x15\x03\x01\0\x02\x02\x46 no HTTP\r\n\r\n").map(|()| 0),
            Fault::Delay(delay) => thread::sleep(*delay),
            _ => {}
        }
        let mut out =
            format!("HTTP/1.1 {} {}\r\n{}\r\n", self.status, http::reason(self.status), self.head).into_bytes();
        if *fault == Fault::Stall {
            return connection.write_all(&out).map(|()| 0);
        }
        let (mut file, first, length) = match self.body {
            Body::None => return connection.write_all(&out).map(|()| 0),
            Body::Text(text) => {
                out.extend_from_slice(text.as_bytes());
                return connection.write_all(&out).map(|()| text.len() as u64);
            }
            Body::File { file, first, length } => (file, first, length),
        };
        let most = if let Fault::Cut(most) = fault { length.min(*most as u64) } else { length };
        let flipped = if let Fault::FlipBit(bit) = fault { Some(bit % (length.max(1) * 8)) } else { None };
        file.seek(SeekFrom::Start(first))?;
        let mut sent = 0;
        loop {
            let piece = (most - sent).min(PIECE as u64);
            let head = out.len();
            out.resize(head + piece as usize, 0);
            file.read_exact(&mut out[head..])?;
            if let Some(bit) = flipped.filter(|bit| (sent..sent + piece).contains(&(bit / 8))) {
                out[head + (bit / 8 - sent) as usize] ^= 1 << (bit % 8);
            }
            if let Fault::Drip(a_second) = fault {
                // A tenth of a second each.
                for drop in out.chunks((a_second / 10).max(1)) {
                    connection.write_all(drop)?;
                    thread::sleep(Duration::from_millis(100));
                }
            } else {
                connection.write_all(&out)?;
            }
            sent += piece;
            if sent == most {
                return Ok(sent);
            }
            out.clear();
        }
    }
}

/// A file below a directory, its size and when it was last changed.
fn find(directory: &Path, path: &str) -> Option<(File, u64, SystemTime)> {
    let below = Path::new(path);
    if below.components().any(|c| !matches!(c, Component::Normal(_))) {
        return None;
    }
    let file = File::open(directory.join(below)).ok()?;
    let metadata = file.metadata().ok()?;
    let modified = metadata.modified().ok()?;
    metadata.is_file().then_some((file, metadata.len(), modified))
}

/// Tells files apart that were written in the same moment.
#[cfg(unix)]
fn inode(file: &File) -> u64 {
    file.metadata().map_or(0, |metadata| std::os::unix::fs::MetadataExt::ino(&metadata))
}

#[cfg(not(unix))]
fn inode(_: &File) -> u64 {
    0
}
