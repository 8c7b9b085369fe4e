package tech.bsdb.bench;

import tech.bsdb.tools.build.ParquetSourceOptions;
import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.inspect.DatabaseOption;

/** The options of both load tools, as their help shows them. */
final class LoadSyntax {
  private LoadSyntax() {}

  /**
   * Declares the options.
   *
   * @param async whether lookups are asynchronous
   */
  static Syntax declare(Syntax syntax, boolean async) {
    keys(DatabaseOption.declare(syntax.section("Database")), async);
    load(syntax, async);
    return output(syntax);
  }

  private static void keys(Syntax syntax, boolean async) {
    String direct =
        async
            ? " past the page cache, by io_uring where the machine has it"
            : " past the page cache (O_DIRECT)";
    syntax
        .flag("-a", "the database must be an approximate one")
        .flag("-ic", "bring the index into memory at the beginning")
        .flag("-id", "read the index" + direct)
        .flag("-kd", "read the data files" + direct)
        .value(
            "--engine",
            "NAME",
            "how index and data are read: auto (default), mapped, buffered, direct,"
                + " io_uring, or memory, which reads all files into memory at the beginning; -id"
                + " and -kd win over it")
        .section("Keys")
        .value(
            "-k",
            "FILE",
            "what the database was built from: a file, a directory or -, lines of key, separator,"
                + " value; .gz .zst .zstd are decompressed; or with -kf Parquet, as build-parquet"
                + " takes it (default: the keys of the database itself, by a scan)")
        .value(
            "-s",
            "TEXT",
            "with -k: separator of key and value, taken literally (default a space); \\t is a tab,"
                + " \\xHH the character with that code, \\\\ a backslash")
        .value(
            "--key-encoding",
            "FORM",
            "with -k: what a key's text stands for: utf8 (default), hex or base64")
        .value("--value-encoding", "FORM", "with -k: the same for values")
        .flag(
            "-v",
            "with -k: compare every answer, of Parquet the whole row; the first wrong one ends the"
                + " run with exit code 2 and names the key")
        .value(
            "--keys",
            "N",
            "the most keys that are held in memory, 1 to 100,000,000 (default 1,000,000); of more,"
                + " a sample")
        .value(
            "--absent",
            "PERCENT",
            "ask for this share of keys that the database does not have, 0 to 100 (default 0)")
        .value(
            "--zipf",
            "S",
            "ask for some keys more often than for others: the k-th most popular in proportion to"
                + " 1/k^S, 0 to 10; 0 (default): all keys alike, in shuffled order")
        .value("--seed", "N", "a whole number; the same seed, keys and options ask the same (42)");
  }

  private static void load(Syntax syntax, boolean async) {
    ParquetSourceOptions.declareKeys(syntax.section("Keys in Parquet"));
    syntax
        .value("--value-raw", "COLUMN", "with -v: the column whose bytes are the values")
        .section("Load");
    if (async) {
      syntax
          .value(
              "--depth",
              "N[,N...]",
              "lookups in flight for each thread, 1 to 65,536 (default 64); several numbers are"
                  + " measured one after another")
          .value(
              "--threads",
              "N[,N...]",
              "threads that send lookups, 1 to 1,024 (default 1); several are measured one after"
                  + " another")
          .flag(
              "--sweep",
              "measure depths 1, 2, 4 and so on up to --depth (default 256): how much flight is"
                  + " worth its latency");
    } else {
      syntax
          .value(
              "--threads",
              "N[,N...]",
              "threads, 1 to 1,024 (default 1); several numbers are measured one after another")
          .value(
              "--batch",
              "N",
              "look up N keys at a time (getAll), 1 to 65,536 (default 1: get); each takes as long"
                  + " as its batch")
          .flag(
              "--sweep",
              "measure 1, 2, 4 and so on up to --threads (default 4 times the cores) threads");
    }
    syntax
        .value(
            "--rate",
            "N",
            "open loop: N lookups a second, all threads together, each measured from the time it"
                + " was due, 1 to 100,000,000 (default: closed loop, as quickly as answers come)")
        .value(
            "--warmup", "SECONDS", "before each measurement, not counted, 0 to 3,600 (default 2)")
        .value("--duration", "SECONDS", "length of each measurement, 0.1 to 86,400 (default 10)");
  }

  private static Syntax output(Syntax syntax) {
    return syntax
        .section("Report")
        .value("--json", "FILE", "write the report as one JSON object to FILE, or - for stdout")
        .value("--html", "FILE", "write it as one page with charts that needs nothing else")
        .flag("-q", "print nothing but errors");
  }
}
