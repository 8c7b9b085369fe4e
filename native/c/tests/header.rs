//! The header is what cbindgen makes of the sources.

use std::path::Path;

/// In the order of the header.
const SOURCES: [&str; 10] = [
    "src/error.rs",
    "src/remote.rs",
    "src/options.rs",
    "src/database.rs",
    "src/view.rs",
    "src/asynchronous.rs",
    "src/scan.rs",
    "src/range.rs",
    "src/store.rs",
    "src/builder.rs",
];

/// Set BSDB_WRITE_HEADER to write the header instead.
#[test]
fn the_header_is_up_to_date() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(root.join("cbindgen.toml")).expect("cbindgen.toml");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for source in SOURCES {
        builder = builder.with_src(root.join(source));
    }
    let mut made = Vec::new();
    builder.generate().expect("a header").write(&mut made);
    let made = String::from_utf8(made).expect("UTF-8");
    let header = root.join("include/bsdb.h");
    if std::env::var_os("BSDB_WRITE_HEADER").is_some() {
        std::fs::write(&header, made).expect("write the header");
        return;
    }
    let committed = std::fs::read_to_string(&header).expect("read the header");
    assert!(
        committed.replace('\r', "") == made,
        "include/bsdb.h is out of date; write it with: BSDB_WRITE_HEADER=1 cargo test -p bsdb-c --test header"
    );
}
