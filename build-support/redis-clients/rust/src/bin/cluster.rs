//! Reads a cluster with redis-rs, blocking and with Tokio, in RESP2 and RESP3, from primaries and from replicas.
//! With the argument "moves", reads until there is a file moves.end, while slots move and versions change.
//! With BSDB_WRITABLE in the environment, writes are left out, so that a cluster of Redis can be read.
use redis::cluster::{cluster_pipe, ClusterClient, ClusterClientBuilder, ClusterConnection};
use redis::cluster_async::ClusterConnection as AsyncConnection;
use redis::cluster_read_routing::RandomReplicaStrategy;
use redis::cluster_routing::{RoutingInfo, SingleNodeRoutingInfo};
use redis::{AsyncCommands, Commands, ProtocolVersion, RedisResult};
use std::collections::BTreeSet;
use std::env;
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;

const BATCH: usize = 1000;

type Found = Vec<Option<String>>;

/// The records of the first version.
struct Records {
    keys: Vec<String>,
    values: Vec<String>,
    /// Indices of the records of one slot.
    group: Vec<usize>,
}

impl Records {
    fn read() -> std::io::Result<Records> {
        let text = std::fs::read_to_string(format!("{}/records.txt", env::var("BSDB_FOLDER").unwrap()))?;
        let (keys, values): (Vec<String>, Vec<String>) = text
            .lines()
            .map(|line| line.split_once(' ').unwrap())
            .map(|(key, value)| (key.into(), value.into()))
            .unzip();
        let group = (0..keys.len()).filter(|&i| keys[i].starts_with("{group-7}")).collect();
        Ok(Records { keys, values, group })
    }

    fn keys(&self, indices: &[usize]) -> Vec<&str> {
        indices.iter().map(|&i| self.keys[i].as_str()).collect()
    }

    fn values(&self, indices: &[usize]) -> Found {
        indices.iter().map(|&i| Some(self.values[i].clone())).collect()
    }

    fn chunks(&self) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.keys.len()).collect();
        all.chunks(BATCH).map(Vec::from).collect()
    }

    fn sample(&self, n: usize) -> Vec<usize> {
        (0..n).map(|i| RandomState::new().hash_one(i) as usize % self.keys.len()).collect()
    }
}

fn client(protocol: ProtocolVersion, replicas: bool, token: &str) -> RedisResult<ClusterClient> {
    client_with_retries(protocol, replicas, token, 16)
}

fn client_with_retries(
    protocol: ProtocolVersion,
    replicas: bool,
    token: &str,
    retries: u32,
) -> RedisResult<ClusterClient> {
    let url = format!("redis://127.0.0.1:{}", env::var("BSDB_PORT").unwrap());
    let builder = ClusterClientBuilder::new([url]).password(token).use_protocol(protocol).retries(retries);
    if replicas { builder.read_routing_strategy(RandomReplicaStrategy) } else { builder }.build()
}

fn get(connection: &mut ClusterConnection, keys: &[&str]) -> RedisResult<Found> {
    let mut pipeline = cluster_pipe();
    for key in keys {
        pipeline.get(*key);
    }
    pipeline.query(connection)
}

/// Sends the commands without waiting for replies in between.
async fn get_at_once(connection: &AsyncConnection, keys: &[&str]) -> RedisResult<Found> {
    let tasks: Vec<_> = keys
        .iter()
        .map(|key| {
            let (mut connection, key) = (connection.clone(), key.to_string());
            tokio::spawn(async move { connection.get::<_, Option<String>>(key).await })
        })
        .collect();
    let mut found = Vec::new();
    for task in tasks {
        found.push(task.await.unwrap()?);
    }
    Ok(found)
}

fn same(command: &str, found: Found, expected: &[Option<String>]) {
    assert_eq!(found.len(), expected.len(), "{command}");
    for (found, expected) in found.iter().zip(expected) {
        assert_eq!(found, expected, "{command}");
    }
}

fn is_refused<T>(result: RedisResult<T>) {
    let error = result.err().expect("the command was carried out");
    assert_eq!(error.code(), Some("READONLY"), "{error}");
}

/// Without retries: by default the client tries a refused write again for minutes, because it waits for another primary.
async fn check_writes(protocol: ProtocolVersion, key: &str, token: &str) -> RedisResult<()> {
    let client = client_with_retries(protocol, false, token, 0)?;
    is_refused(client.get_connection()?.set::<_, _, ()>(key, "x"));
    is_refused(client.get_async_connection().await?.set::<_, _, ()>(key, "x").await);
    Ok(())
}

fn check(connection: &mut ClusterConnection, records: &Records) -> RedisResult<()> {
    for some in records.chunks() {
        let (keys, values) = (records.keys(&some), records.values(&some));
        same("GET, pipelined", get(connection, &keys)?, &values);
        same("MGET", connection.mget(&keys[..100])?, &values[..100]); // split by slots
    }
    for i in 0..3 * BATCH {
        assert_eq!(connection.get::<_, String>(&records.keys[i])?, records.values[i]);
    }
    for i in 0..BATCH {
        assert_eq!(connection.get::<_, Option<String>>(format!("absent-{i}"))?, None);
    }
    same("MGET of one slot", connection.mget(records.keys(&records.group))?, &records.values(&records.group));
    assert_eq!(redis::cmd("DBSIZE").query::<usize>(connection)?, records.keys.len());
    let mut scanned = Vec::new();
    for port in env::var("BSDB_PRIMARIES").unwrap().split(' ') {
        let node = SingleNodeRoutingInfo::ByAddress { host: "127.0.0.1".into(), port: port.parse().unwrap() };
        let mut cursor = 0u64;
        loop {
            let scan = redis::cmd("SCAN").arg(cursor).arg("COUNT").arg(BATCH).clone();
            let reply = connection.route_command(&scan, RoutingInfo::SingleNode(node.clone()))?;
            let (next, some): (u64, Vec<String>) = redis::from_redis_value(reply)?;
            scanned.extend(some);
            cursor = next;
            if cursor == 0 {
                break;
            }
        }
    }
    assert_eq!(scanned.len(), records.keys.len());
    assert!(scanned.iter().collect::<BTreeSet<_>>() == records.keys.iter().collect(), "SCAN");
    Ok(())
}

async fn check_async(connection: &mut AsyncConnection, records: &Records) -> RedisResult<()> {
    for some in records.chunks() {
        let (keys, values) = (records.keys(&some), records.values(&some));
        same("GET at once", get_at_once(connection, &keys).await?, &values);
        same("MGET", connection.mget(&keys[..100]).await?, &values[..100]);
        // split by slots
    }
    assert_eq!(connection.get::<_, Option<String>>("absent").await?, None);
    let mut pipeline = redis::pipe();
    for key in records.keys(&records.group) {
        pipeline.get(key);
    }
    same("a pipeline of one slot", pipeline.query_async(connection).await?, &records.values(&records.group));
    assert_eq!(redis::cmd("DBSIZE").query_async::<usize>(connection).await?, records.keys.len());
    Ok(())
}

/// Counts the calls made while slots move and versions change, and what they find.
struct Moves<'a> {
    name: &'a str,
    records: &'a Records,
    calls: usize,
    wrong: usize,
    failed: usize,
    /// Redirected pipelines.
    redirects: usize,
}

impl Moves<'_> {
    fn call(&mut self, indices: &[usize], found: RedisResult<Found>) {
        self.calls += 1;
        match found {
            Ok(found) => {
                assert_eq!(found.len(), indices.len());
                for (&i, value) in indices.iter().zip(found) {
                    let expected = &self.records.values[i];
                    if value.as_ref() != Some(expected) && value != Some(expected.replacen("v1", "v2", 1)) {
                        self.wrong += 1;
                        self.tell(&format!("{}: found {value:?}", self.records.keys[i]));
                    }
                }
            }
            Err(error) => {
                self.failed += 1;
                self.tell(&error.to_string());
            }
        }
    }

    fn tell(&self, text: &str) {
        if self.wrong + self.failed <= 10 {
            eprintln!("{}: {text}", self.name);
        }
    }

    fn report(&self) -> bool {
        let holds = self.calls > 0 && self.wrong + self.failed == 0;
        println!(
            "{}  {} {} during moves: {} calls, {} wrong, {} failed{}",
            if holds { "ok" } else { "FAILED" },
            self.name,
            version(),
            count(self.calls),
            self.wrong,
            self.failed,
            if self.redirects > 0 { format!("; {} redirected pipelines", self.redirects) } else { String::new() }
        );
        holds
    }
}

fn go_on() -> bool {
    !Path::new(&env::var("BSDB_FOLDER").unwrap()).join("moves.end").exists()
}

fn move_slots(records: &Records, token: &str) -> RedisResult<bool> {
    let mut moves = Moves { name: "redis-rs", records, calls: 0, wrong: 0, failed: 0, redirects: 0 };
    let mut connections = [
        client(ProtocolVersion::RESP2, false, token)?.get_connection()?,
        client(ProtocolVersion::RESP3, true, token)?.get_connection()?,
    ];
    while go_on() {
        for connection in &mut connections {
            let some = records.sample(200);
            match get(connection, &records.keys(&some)) {
                // The blocking client does not repeat a redirected pipeline, and breaks off at a redirected part of MGET.
                Err(error) if error.to_string().contains("Moved") => moves.redirects += 1,
                found => moves.call(&some, found),
            }
            for i in some {
                moves.call(&[i], connection.get::<_, Option<String>>(&records.keys[i]).map(|value| vec![value]));
            }
            moves.call(&records.group, connection.mget(records.keys(&records.group)));
        }
    }
    Ok(moves.report())
}

async fn move_slots_async(records: &Records, token: &str) -> RedisResult<bool> {
    let mut moves = Moves { name: "redis-rs Tokio", records, calls: 0, wrong: 0, failed: 0, redirects: 0 };
    let mut connections = [
        client(ProtocolVersion::RESP2, false, token)?.get_async_connection().await?,
        client(ProtocolVersion::RESP3, true, token)?.get_async_connection().await?,
    ];
    // One call after the other: a redirection during other calls can block this client forever.
    while go_on() {
        for connection in &mut connections {
            for i in records.sample(200) {
                moves.call(&[i], connection.get::<_, Option<String>>(&records.keys[i]).await.map(|value| vec![value]));
            }
            let keys = records.keys(&records.group);
            let mut pipeline = redis::pipe();
            for key in &keys {
                pipeline.get(*key);
            }
            moves.call(&records.group, pipeline.query_async(connection).await);
            moves.call(&records.group, connection.mget(keys).await);
        }
    }
    Ok(moves.report())
}

fn count(number: usize) -> String {
    if number < 1000 {
        number.to_string()
    } else {
        format!("{},{:03}", count(number / 1000), number % 1000)
    }
}

fn version() -> &'static str {
    include_str!("../../Cargo.toml").split("version = \"=").nth(1).unwrap().split('"').next().unwrap()
}

fn main() -> Result<(), Box<dyn Error>> {
    let records = Records::read()?;
    let token = env::var("BSDB_TOKEN")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let Some("moves") = arguments.first().map(String::as_str) {
        let holds = if arguments.len() > 1 {
            runtime.block_on(move_slots_async(&records, &token))?
        } else {
            move_slots(&records, &token)?
        };
        std::process::exit(i32::from(!holds));
    }
    for protocol in [ProtocolVersion::RESP2, ProtocolVersion::RESP3] {
        assert!(client(protocol, false, "wrong")?.get_connection().is_err());
        if env::var("BSDB_WRITABLE").is_err() {
            runtime.block_on(check_writes(protocol, &records.keys[0], &token))?;
        }
        for replicas in [false, true] {
            let client = client(protocol, replicas, &token)?;
            check(&mut client.get_connection()?, &records)?;
            runtime.block_on(async { check_async(&mut client.get_async_connection().await?, &records).await })?;
        }
    }
    println!(
        "ok  redis-rs {}: {} records; MGET, pipelined; blocking, Tokio; replicas; RESP2, RESP3",
        version(),
        count(records.keys.len())
    );
    Ok(())
}
