//! Compares lookups in a database at an HTTP server with bare range requests of the same size by the same client:
//! remote URL KEYS. The database has the keys `key 0`, `key 1` and so on, each record in a page of its own.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::Arc;
use std::time::Instant;

use bsdb::{Database, Options, Remote};
use object_store::{GetOptions, GetRange, ObjectStore};

const PAGE: u64 = 4096;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, keys] = &arguments[..] else {
        return Err("give the URL of a database and the number of its keys".into());
    };
    let keys: usize = keys.parse()?;
    let begun = Instant::now();
    let options = Options::default().remote(Remote::default().memory(0));
    let db = Arc::new(Database::open_with(url, options.clone())?);
    println!("open: {:.1} ms, {:?}", begun.elapsed().as_secs_f64() * 1e3, db.traffic());
    let begun = Instant::now();
    Database::open_with(url, options)?;
    println!("open again: {:.1} ms", begun.elapsed().as_secs_f64() * 1e3);
    let store = object_store::http::HttpBuilder::new()
        .with_url(url)
        .with_config(object_store::ClientConfigKey::AllowHttp, "true")
        .build()?;
    let store: Arc<dyn ObjectStore> = Arc::new(store);
    let id = &db.id()[..8];
    let file = object_store::path::Path::from(format!("data-000-{id}.bsdb"));
    let pages = db.statistics().file_bytes / PAGE * 9 / 10;
    for round in 0..3 {
        for flight in [1, 64] {
            let total = if flight == 1 { 4_000 } else { 20_000 };
            let (path, shared) = (file.clone(), store.clone());
            run(&format!("{round} bare"), total, flight, move |i| {
                let (path, store) = (path.clone(), shared.clone());
                async move {
                    let at = (1 + i as u64 * 7919 % pages) * PAGE;
                    let options = GetOptions { range: Some(GetRange::Bounded(at..at + PAGE)), ..GetOptions::default() };
                    let bytes = store.get_opts(&path, options).await.expect("an answer").bytes().await.expect("a body");
                    assert_eq!(bytes.len() as u64, PAGE);
                }
            });
            let shared = db.clone();
            run(&format!("{round} bsdb"), total, flight, move |i| {
                let db = shared.clone();
                async move {
                    let key = format!("key {}", i * 7919 % keys);
                    assert!(db.aget(key.as_bytes()).await.expect("an answer").is_some());
                }
            });
        }
        let (begun, used) = (Instant::now(), processor());
        for i in 0..4_000 {
            assert!(db.get(format!("key {}", i * 7919 % keys).as_bytes())?.is_some());
        }
        report(&format!("{round} bsdb, blocking"), 4_000, 1, begun, used);
    }
    Ok(())
}

/// Runs requests, so many at once.
fn run<F>(name: &str, total: usize, flight: usize, request: impl Fn(usize) -> F + Clone + Send + Sync + 'static)
where
    F: std::future::Future<Output = ()> + Send + 'static,
{
    let (begun, used) = (Instant::now(), processor());
    let next = Arc::new(AtomicUsize::new(0));
    let (sender, receiver) = std::sync::mpsc::channel();
    for _ in 0..flight {
        let (next, request, sender) = (next.clone(), request.clone(), sender.clone());
        let work = async move {
            loop {
                let i = next.fetch_add(1, Relaxed);
                if i >= total {
                    break;
                }
                request(i).await;
            }
            let _ = sender.send(());
        };
        bsdb::spawn(work).expect("a runtime").detach();
    }
    for _ in 0..flight {
        receiver.recv().expect("a worker that ends");
    }
    report(name, total, flight, begun, used);
}

fn report(name: &str, total: usize, flight: usize, begun: Instant, used: f64) {
    let (seconds, used) = (begun.elapsed().as_secs_f64(), processor() - used);
    println!(
        "{name}: {flight} in flight, {:.0} gets/s, {:.1} us of processor a get",
        total as f64 / seconds,
        used * 1e6 / total as f64
    );
}

/// Seconds of processor that this process took.
fn processor() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|field| field.parse().unwrap_or(0.0))
        .collect();
    (fields.get(11).unwrap_or(&0.0) + fields.get(12).unwrap_or(&0.0)) / 100.0
}
