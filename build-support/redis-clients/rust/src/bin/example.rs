use redis::{Commands, ScanOptions};

fn main() -> redis::RedisResult<()> {
    // redis://:TOKEN@host:port with --token-file
    let url = std::env::var("BSDB_URL").unwrap_or("redis://localhost:6379".into());
    let mut client = redis::Client::open(url)?.get_connection()?;
    println!("{}", client.get::<_, String>("apple")?);
    println!("{:?}", client.mget::<_, Vec<Option<String>>>(&["apple", "plum"])?); // None for an absent key
    let options = ScanOptions::default().with_count(1000);
    println!("{} keys", client.scan_options::<String>(options)?.count());
    Ok(())
}
