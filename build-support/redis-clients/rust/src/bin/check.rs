//! Reads everything back with redis-rs, in RESP2 and RESP3.
use redis::{Commands, Connection, RedisError, ScanOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::error::Error;

const BATCH: usize = 1000;

fn lines(name: &str) -> std::io::Result<Vec<String>> {
    let path = format!("{}/{name}", env::var("BSDB_FOLDER").unwrap());
    Ok(std::fs::read_to_string(path)?.lines().map(String::from).collect())
}

fn connect(port: &str, protocol: &str, token: &str) -> Result<Connection, RedisError> {
    let port = env::var(port).unwrap();
    redis::Client::open(format!("redis://:{token}@127.0.0.1:{port}/?protocol={protocol}"))?.get_connection()
}

fn is_refused<T>(result: Result<T, RedisError>, code: &str) {
    let error = result.err().expect("the command was carried out");
    assert_eq!(error.code(), Some(code), "{error}");
}

fn check_records(client: &mut Connection, records: &[(String, String)]) -> Result<(), RedisError> {
    assert_eq!(redis::cmd("PING").query::<String>(client)?, "PONG");
    for some in records.chunks(BATCH) {
        let keys: Vec<&str> = some.iter().map(|(key, _)| key.as_str()).collect();
        let values: Vec<&str> = some.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(client.mget::<_, Vec<String>>(&keys)?, values);
        let mut pipeline = redis::pipe();
        for key in keys {
            pipeline.get(key);
        }
        assert_eq!(pipeline.query::<Vec<String>>(client)?, values);
    }
    assert_eq!(client.get::<_, Option<String>>("absent")?, None);
    assert_eq!(client.mget::<_, Vec<Option<String>>>(&["absent-1", "absent-2"])?, [None, None]);
    assert_eq!(redis::cmd("DBSIZE").query::<usize>(client)?, records.len());
    let mut scanned = Vec::new();
    for key in client.scan_options::<String>(ScanOptions::default().with_count(BATCH))? {
        scanned.push(key?);
    }
    assert_eq!(scanned.len(), records.len());
    let scanned: BTreeSet<_> = scanned.iter().collect();
    assert_eq!(scanned, records.iter().map(|(key, _)| key).collect());
    is_refused(client.set::<_, _, ()>("apple", "x"), "READONLY");
    Ok(())
}

fn check_rows(client: &mut Connection, rows: &[Vec<String>]) -> Result<(), RedisError> {
    for words in rows {
        let key = &words[0];
        let row: BTreeMap<String, String> =
            words[1..].chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
        assert_eq!(client.hgetall::<_, BTreeMap<String, String>>(key)?, row);
        assert_eq!(client.hget::<_, _, String>(key, "name")?, row["name"]);
        assert_eq!(
            client.hmget::<_, _, Vec<Option<String>>>(key, &["name", "colour"])?,
            [Some(row["name"].clone()), None]
        );
        assert_eq!(client.hlen::<_, usize>(key)?, row.len());
    }
    assert!(client.get::<_, String>("1").unwrap_err().to_string().contains("WRONGTYPE"));
    is_refused(client.hset::<_, _, _, ()>("1", "name", "x"), "READONLY");
    Ok(())
}

fn count(number: usize) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

fn main() -> Result<(), Box<dyn Error>> {
    let records: Vec<(String, String)> = lines("records.txt")?
        .iter()
        .map(|line| line.split_once(' ').unwrap())
        .map(|(key, value)| (key.into(), value.into()))
        .collect();
    let rows: Vec<Vec<String>> =
        lines("rows.tsv")?.iter().map(|line| line.split('\t').map(String::from).collect()).collect();
    let token = env::var("BSDB_TOKEN")?;
    for protocol in ["resp2", "resp3"] {
        assert!(connect("BSDB_PORT", protocol, "wrong").is_err());
        check_records(&mut connect("BSDB_PORT", protocol, &token)?, &records)?;
        check_rows(&mut connect("BSDB_ROWS_PORT", protocol, &token)?, &rows)?;
    }
    let version = include_str!("../../Cargo.toml").split("version = \"=").nth(1).unwrap().split('"').next().unwrap();
    println!(
        "ok  redis-rs {version}: {} records, {} rows; MGET, pipelined; RESP2, RESP3",
        count(records.len()),
        count(rows.len())
    );
    Ok(())
}
