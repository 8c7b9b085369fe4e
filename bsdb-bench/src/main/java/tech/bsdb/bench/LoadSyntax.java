package tech.bsdb.bench;

import tech.bsdb.tools.cli.Syntax;
import tech.bsdb.tools.inspect.DatabaseOption;
import tech.bsdb.tools.make.ParquetSourceOptions;

/** The options of both load tools and their help texts. */
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
            ? " past the page cache, by io_uring if available"
            : " past the page cache (O_DIRECT)";
    syntax
        .flag("-a", "require an approximate database")
        .flag("-ic", "load the index into memory at the start")
        .flag("-id", "read the index" + direct)
        .flag("-kd", "read the data files" + direct)
        .value(
            "--engine",
            "NAME",
            "how to read index and data: auto (default), mapped, buffered, direct,"
                + " io_uring, or memory, which loads all files into memory at the start; -id"
                + " and -kd override it")
        .section("Keys")
        .value(
            "-k",
            "FILE",
            "the source that the database was built from: a file, a directory or -, lines of key,"
                + " separator, value; .gz .zst .zstd are decompressed; with -kf Parquet, as"
                + " build-parquet reads it (default: scan the database itself for its keys)")
        .value(
            "-s",
            "TEXT",
            "with -k: separator of key and value, taken literally (default a space); \\t is a tab,"
                + " \\xHH the character with that code, \\\\ a backslash")
        .value(
            "--key-encoding",
            "FORM",
            "with -k: the encoding of a key's text: utf8 (default), hex or base64")
        .value("--value-encoding", "FORM", "with -k: the same for values")
        .flag(
            "-v",
            "with -k: compare every answer, for Parquet the whole row; the first wrong one ends the"
                + " run with exit code 2 and names the key")
        .value(
            "--keys",
            "N",
            "the maximum number of keys held in memory, 1 to 100,000,000 (default 1,000,000); of"
                + " more, a random sample")
        .value(
            "--absent",
            "PERCENT",
            "look up this share of keys that the database lacks, 0 to 100 (default 0)")
        .value(
            "--zipf",
            "S",
            "look up some keys more often than others: the k-th most popular in proportion to"
                + " 1/k^S, 0 to 10; 0 (default): all keys equally often, in shuffled order")
        .value(
            "--seed",
            "N",
            "a whole number; the same seed, keys and options give the same requests (default 42)");
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
              "lookups in flight per thread, 1 to 65,536 (default 64); several numbers are"
                  + " measured in turn")
          .value(
              "--threads",
              "N[,N...]",
              "threads that send lookups, 1 to 1,024 (default 1); several numbers are measured in"
                  + " turn")
          .flag(
              "--sweep",
              "measure depths 1, 2, 4 and so on up to --depth (default 256), to find the depth"
                  + " that is worth its latency");
    } else {
      syntax
          .value(
              "--threads",
              "N[,N...]",
              "threads, 1 to 1,024 (default 1); several numbers are measured in turn")
          .value(
              "--batch",
              "N",
              "look up N keys at a time (getAll), 1 to 65,536 (default 1: get); each lookup takes"
                  + " as long as its batch")
          .flag(
              "--sweep",
              "measure 1, 2, 4 and so on up to --threads threads (default 4 times the cores)");
    }
    syntax
        .value(
            "--rate",
            "N",
            "open loop: N lookups per second, all threads together, each measured from the time it"
                + " was due, 1 to 100,000,000 (default: closed loop, as fast as answers come)")
        .value(
            "--warmup",
            "SECONDS",
            "warm-up before each measurement, not counted, 0 to 3,600 (default 2)")
        .value("--duration", "SECONDS", "length of each measurement, 0.1 to 86,400 (default 10)");
  }

  private static Syntax output(Syntax syntax) {
    return syntax
        .section("Report")
        .value("--json", "FILE", "write the report as one JSON object to FILE, or - for stdout")
        .value("--html", "FILE", "write the report as one self-contained HTML page with charts")
        .flag("-q", "print only errors");
  }
}
