package tech.bsdb.dist;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.nio.file.StandardOpenOption.APPEND;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.Rounds;

/** {@code scripts/bsdb} as a process of its own, on each generation of Java that is installed. */
class CommandLineIT {
  private static final Path ROOT = Path.of(System.getProperty("bsdb.root"));
  private static final String BSDB = ROOT.resolve("scripts/bsdb").toString();
  private static final long PATIENCE_SECONDS = 600;

  @TempDir Path folder;

  /** The homes of the Javas to run on. */
  static List<Path> javas() {
    return Stream.of("bsdb.java.floor", "bsdb.java.modern")
        .map(name -> System.getProperty(name, ""))
        .filter(java -> !java.isEmpty())
        .map(java -> Path.of(java).getParent().getParent())
        .toList();
  }

  /** The newest of them, which stands for all in the short form of the check. */
  static List<Path> newest() {
    List<Path> all = javas();
    return Rounds.everything() ? all : all.subList(all.size() - 1, all.size());
  }

  @ParameterizedTest
  @MethodSource("newest")
  void theCommandsAreListed(Path java) throws Exception {
    Run run = run(java, BSDB);

    assertThat(run.code).isZero();
    assertThat(run.out)
        .contains("build", "get", "scan", "stat", "verify", "plan", "bench", "bench-async");
    assertThat(run.err).isEmpty();
    assertThat(run(java, BSDB, "--version").out)
        .matches("bsdb \\d+\\.\\d+\\.\\d+.* \\(Java .*\\)\n");
    assertThat(run(java, BSDB, "bench", "--help").out) // its texts come from two modules
        .contains("-d DIR", "--keytab FILE", "--rate N");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void textOfAnyLanguageWorksInALocaleThatKnowsOnlyAscii(Path java) throws Exception {
    Path input = Files.writeString(folder.resolve("in.txt"), "日本 にほん\nstraße Gasse\n");

    assertThat(run(java, BSDB, "build", "-i", input.toString(), "-o", path("データ")).code).isZero();

    assertThat(folder.resolve("データ")).isDirectory();
    assertThat(run(java, BSDB, "get", "-d", path("データ"), "日本", "straße").out)
        .isEqualTo("にほん\nGasse\n");
    assertThat(run(java, BSDB, "get", "-d", path("データ"), "本日").err)
        .isEqualTo("bsdb get: \"本日\" is absent\n");

    // and without the script, which chooses a better locale, at least in keys
    run(java, BSDB, "build", "-i", input.toString(), "-o", path("db"));
    String jar = System.getProperty("bsdb.jar");
    Run plain =
        run(java, java.resolve("bin/java").toString(), "-jar", jar, "get", "-d", path("db"), "日本");
    assertThat(plain.out).isEqualTo("にほん\n");
  }

  /** The shell types bytes that are not UTF-8, which a process builder cannot. */
  @ParameterizedTest
  @MethodSource("newest")
  void bytesThatAreNotUtf8AreNotReplaced(Path java) throws Exception {
    Path input = Files.writeString(folder.resolve("in.txt"), "6bff raw\n6befbfbd replacement\n");
    String build = BSDB + " build -i " + input + " --key-encoding hex -q -o " + path("db");
    assertThat(run(java, "sh", "-c", build).code).isZero();

    String plain = java.resolve("bin/java") + " -jar " + System.getProperty("bsdb.jar");
    String typed = "k=$(printf 'k\\377'); r=$(printf 'k\\357\\277\\275'); cd " + folder + "; ";
    String get = " get -d db \"$k\" \"$r\"";
    for (String command :
        List.of(
            "LC_ALL=C " + BSDB + get,
            "LC_ALL=C " + plain + get,
            "LC_ALL=C.UTF-8 JDK_JAVA_OPTIONS=-Xmx256m " + plain + get)) {
      Run found = run(java, "sh", "-c", typed + command);
      assertThat(found.out).as(command + found).isEqualTo("raw\nreplacement\n");
    }
    for (String command :
        List.of(
            " build -o new -i \"$k\"", " build -o new -i in.txt -s \"$k\"", " scan -d \"$k\"")) {
      Run refused = run(java, "sh", "-c", typed + BSDB + command);
      assertThat(refused.code).as(command + refused).isEqualTo(2);
      assertThat(refused.err).as(command).contains("k\\xff", "not UTF-8");
    }
    assertThat(folder.resolve("new")).doesNotExist();
    assertThat(run(java, "sh", "-c", typed + "LC_ALL=C " + plain + " scan -d \"$r\"").err)
        .contains("set LC_ALL=C.UTF-8");

    // An argument file belongs to the java command, and what it made of the bytes is all there is.
    Files.write(
        folder.resolve("arguments"),
        ("-jar " + System.getProperty("bsdb.jar") + " get -d db k\u00ff").getBytes(ISO_8859_1));
    Run unreadable =
        run(java, "sh", "-c", typed + "LC_ALL=C.UTF-8 " + java.resolve("bin/java") + " @arguments");
    assertThat(unreadable.code).as(unreadable.toString()).isEqualTo(2);
    assertThat(unreadable.err).contains("has bytes that Java could not read");
  }

  @ParameterizedTest
  @MethodSource("javas")
  void standardInputIsRead(Path java) throws Exception {
    Run run =
        runWithInput("a 1\r\nb 2", java, BSDB, "build", "-i", "-", "-o", path("db"), "--json");

    assertThat(run.code).isZero();
    assertThat(run.out).contains("\"records\":2,").hasLineCount(1);
    assertThat(run(java, BSDB, "scan", "-d", path("db")).out.lines())
        .containsExactlyInAnyOrder("a 1", "b 2");
    assertThat(runWithInput("b\na\n", java, BSDB, "get", "-d", path("db"), "--keys-from", "-").out)
        .isEqualTo("2\n1\n");
  }

  @ParameterizedTest
  @MethodSource("newest")
  void aPackedDatabaseIsBuiltReadAndPublished(Path java) throws Exception {
    String input = records(10_000);
    Files.writeString(Path.of(input), "empty \n", APPEND);
    List<String> lines = Files.readAllLines(Path.of(input));
    Run build = run(java, BSDB, "build", "-i", input, "-o", path("db"), "--layout", "packed", "-v");
    assertThat(build.code).as(build.toString()).isZero();
    assertThat(build.err).contains("10,001 records read and found again").doesNotContain("hash-");

    Run get = run(java, BSDB, "get", "-d", path("db"), "key-9999", "absent", "empty", "key-0");
    assertThat(get.code).as(get.toString()).isEqualTo(1);
    assertThat(get.out).isEqualTo("value-9999\n\nvalue-0\n");
    assertThat(get.err).isEqualTo("bsdb get: \"absent\" is absent\n");
    Run scan = run(java, BSDB, "scan", "-d", path("db"));
    assertThat(scan.code).as(scan.err).isZero();
    assertThat(scan.out.lines()).containsExactlyInAnyOrderElementsOf(lines);
    assertThat(run(java, BSDB, "stat", "-d", path("db"), "--json").out)
        .contains("\"layout\":\"packed\",", "\"records\":10001,", "\"hashBytes\":0,");
    assertThat(run(java, BSDB, "verify", "-d", path("db")).code).isZero();

    Run first = run(java, BSDB, "publish", path("db"), path("store"), "--version", "v1");
    assertThat(first.out).as(first.toString()).isEqualTo("v1\n");
    Run kept =
        runWithInput(
            Files.readString(Path.of(input)) + "key-1 another\n",
            java,
            BSDB,
            "build",
            "-i",
            "-",
            "-o",
            path("db2"),
            "--layout",
            "packed",
            "--on-duplicate",
            "first",
            "--json");
    assertThat(kept.code).as(kept.toString()).isZero();
    assertThat(kept.out).contains("\"records\":10001,", "\"duplicatesDropped\":1,");
    assertThat(run(java, BSDB, "get", "-d", path("db2"), "key-1").out).isEqualTo("value-1\n");
    Run second =
        run(
            java,
            BSDB,
            "publish",
            path("db2"),
            path("store"),
            "--version",
            "v2",
            "--min-kept",
            "100");
    assertThat(second.out).as(second.toString()).isEqualTo("v2\n");
    assertThat(run(java, BSDB, "versions", path("store")).out).isEqualTo("v1\nv2\tcurrent\n");
  }

  @ParameterizedTest
  @MethodSource("newest")
  void aSetOfShardsIsBuiltAndRead(Path java) throws Exception {
    String input = records(5_000);
    Run build = run(java, BSDB, "build", "-i", input, "-o", path("set"), "--shards", "5", "-v");
    assertThat(build.code).as(build.toString()).isZero();
    assertThat(build.err).contains("5,000 records read and found again", "shard-00004-");

    Run get = run(java, BSDB, "get", "-d", path("set"), "key-4999", "absent", "key-0");
    assertThat(get.code).as(get.toString()).isEqualTo(1);
    assertThat(get.out).isEqualTo("value-4999\nvalue-0\n");
    assertThat(run(java, BSDB, "verify", "-d", path("set")).code).isZero();
    assertThat(run(java, BSDB, "stat", "-d", path("set"), "--json").out)
        .contains("\"records\":5000,", "\"shard\":null,", "\"shards\":5,");
    Run scan = run(java, BSDB, "scan", "-d", path("set"));
    assertThat(scan.out.lines())
        .containsExactlyInAnyOrderElementsOf(Files.readAllLines(Path.of(input)));

    Path shard;
    try (Stream<Path> files = Files.list(folder.resolve("set"))) {
      shard =
          files
              .filter(file -> file.getFileName().toString().startsWith("shard-00002-"))
              .findFirst()
              .orElseThrow();
    }
    Run one = run(java, BSDB, "scan", "-d", shard.toString());
    String own = one.out.substring(0, one.out.indexOf(' '));
    assertThat(run(java, BSDB, "get", "-d", shard.toString(), own).out)
        .isEqualTo(own.replace("key", "value") + "\n");
    String foreign =
        scan.out
            .lines()
            .filter(line -> one.out.lines().noneMatch(line::equals))
            .map(line -> line.substring(0, line.indexOf(' ')))
            .findFirst()
            .orElseThrow();
    Run wrong = run(java, BSDB, "get", "-d", shard.toString(), foreign);
    assertThat(wrong.code).as(wrong.toString()).isEqualTo(2);
    assertThat(wrong.out).isEmpty();
    assertThat(wrong.err)
        .hasLineCount(1)
        .contains("\"" + foreign + "\" has slot ", "belongs to shard ", "this is shard 2 of 5");
  }

  @ParameterizedTest
  @MethodSource("newest")
  void aTruncatedGzipFileBuildsNoPackedDatabase(Path java) throws Exception {
    String zipped = records(20_000) + ".gz";
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(Path.of(zipped)))) {
      Files.copy(folder.resolve("records.txt"), out);
    }
    byte[] whole = Files.readAllBytes(Path.of(zipped));
    Files.write(Path.of(zipped), Arrays.copyOf(whole, whole.length / 2));
    for (String layout : List.of("packed", "packed-compressed")) {
      Run run =
          run(java, BSDB, "build", "-i", zipped, "-o", path("new/db"), "-q", "--layout", layout);

      assertThat(run.code).as(run.toString()).isEqualTo(2);
      assertThat(run.err).contains(zipped + ": truncated");
      assertThat(folder.resolve("new")).doesNotExist();
    }
  }

  @ParameterizedTest
  @MethodSource("newest")
  void withoutATerminalNothingIsRedrawn(Path java) throws Exception {
    Run run = run(java, BSDB, "build", "-i", records(200_000), "-o", path("db"), "-v");

    assertThat(run.code).isZero();
    assertThat(run.err).contains("200,000 records").doesNotContain("\r", "\u001b");
  }

  @ParameterizedTest
  @MethodSource("newest")
  void theLoadToolsMeasureAndVerify(Path java) throws Exception {
    String input = records(10_000);
    run(java, BSDB, "build", "-i", input, "-o", path("db"), "-q");
    for (String command : List.of("bench", "bench-async")) {
      List<String> line = new ArrayList<>(List.of(BSDB, command, "-d", path("db"), "-k", input));
      line.addAll(List.of("-v", "--warmup", "0", "--duration", "0.2", "--absent", "10"));
      line.addAll(List.of("--html", path(command + ".html"), "--json", "-"));

      Run run = run(java, line.toArray(String[]::new));

      assertThat(run.code).as(run.err).isZero();
      assertThat(run.out).contains("\"errors\":0,", "\"verified\":true").hasLineCount(1);
      assertThat(folder.resolve(command + ".html")).content().contains("</html>");
    }
  }

  @ParameterizedTest
  @MethodSource("newest")
  void hadoopIsThereInTheJarAloneAndInTheArchive(Path java) throws Exception {
    Path jar = Files.copy(Path.of(System.getProperty("bsdb.jar")), folder.resolve("alone.jar"));
    String archive = System.getProperty("bsdb.archive");
    String root = Path.of(archive).getFileName().toString().replace(".tar.gz", "");
    assertThat(run(java, "tar", "-xzf", archive, "-C", folder.toString()).code).isZero();
    List<String> tail = new ArrayList<>(List.of("build-parquet", "-o", path("db"), "-kf", "id"));
    tail.addAll(List.of("--hadoop-set", "ipc.client.connect.max.retries=0"));
    tail.addAll(List.of("-i", "hdfs://localhost:1/data"));
    for (List<String> head :
        List.of(
            List.of(java.resolve("bin/java").toString(), "-jar", jar.toString()),
            List.of(path(root + "/bin/bsdb")),
            List.of(BSDB))) {
      List<String> command = new ArrayList<>(head);
      command.addAll(tail);
      Run run = run(java, command.toArray(String[]::new));

      assertThat(run.code).as(run.toString()).isEqualTo(2);
      assertThat(run.err.lines().filter(line -> !line.startsWith("WARNING: ")).toList())
          .as(run.toString())
          .singleElement()
          .asString()
          .startsWith("bsdb build-parquet: name node localhost:1: connection refused; is it up");
      assertThat(head.size() == 1 && run.err.contains("WARNING")).as(run.err).isFalse();
    }
    List<String> format = new ArrayList<>(List.of(BSDB, "build", "--format", "parquet"));
    format.addAll(tail.subList(1, tail.size()));
    assertThat(run(java, format.toArray(String[]::new)).err)
        .contains("bsdb build-parquet: name node localhost:1: connection refused; is it up");
    Run pull =
        run(
            java,
            BSDB,
            "pull",
            "hdfs://localhost:1/stores/users",
            path("store"),
            "--attempts",
            "1",
            "--hadoop-set",
            "ipc.client.connect.max.retries=0");
    assertThat(pull.code).as(pull.toString()).isEqualTo(2);
    assertThat(pull.err)
        .startsWith("bsdb pull: hdfs://localhost:1/stores/users/CURRENT: ")
        .contains("name node localhost:1: connection refused; is it up")
        .hasLineCount(1);
    assertThat(folder.resolve("db")).doesNotExist();
  }

  /** Hadoop's client looks for the file system of a place that only it can know. */
  @ParameterizedTest
  @MethodSource("newest")
  void hadoopIsThereForDatabasesElsewhere(Path java) throws Exception {
    for (String line :
        List.of(
            "get -d nosuch://x/rdb key",
            "scan -d nosuch://x/rdb",
            "stat -d nosuch://x/rdb",
            "verify -d nosuch://x/rdb",
            "diff nosuch://x/rdb nosuch://x/old",
            "serve -p 0 -d users=nosuch://x/rdb")) {
      List<String> command = new ArrayList<>(List.of(BSDB));
      command.addAll(List.of(line.split(" ", -1)));
      Run run = run(java, command.toArray(String[]::new));
      assertThat(run.code).as(run.toString()).isEqualTo(2);
      assertThat(run.err).contains("nosuch://x/rdb: no file system for nosuch:").hasLineCount(1);
    }
  }

  @ParameterizedTest
  @MethodSource("newest")
  void theSmallJarAloneSaysWhatParquetNeeds(Path java) throws Exception {
    Path jar = Path.of(System.getProperty("bsdb.jar")).resolveSibling("lib/bsdb.jar");

    Run run =
        run(
            java,
            java.resolve("bin/java").toString(),
            "-jar",
            jar.toString(),
            "build-parquet",
            "-i",
            path("x.parquet"),
            "-kf",
            "id",
            "-o",
            path("db"));

    assertThat(run.code).as(run.toString()).isEqualTo(2);
    assertThat(run.err)
        .startsWith("bsdb build-parquet: Hadoop's client is not on the class path")
        .hasLineCount(1);
  }

  @ParameterizedTest
  @MethodSource("newest")
  void badLinesGoToTheStandardOutputWhateverItIs(Path java) throws Exception {
    Files.writeString(folder.resolve("in.txt"), "a 1\nbad\n");
    String build =
        "cd " + folder + "; " + BSDB + " build -i in.txt -q --on-bad-line skip --rejects ";
    String bad = "in.txt:2: no separator \" \" in the line: bad\n";

    Run pipe = run(java, "sh", "-c", build + "/dev/stdout -o db1 | cat");
    assertThat(pipe.out).as(pipe.toString()).isEqualTo(bad);
    assertThat(run(java, "sh", "-c", build + "/dev/stderr -o db2 2>&1 >/dev/null | cat").out)
        .isEqualTo(bad);
    Run file = run(java, "sh", "-c", "echo before; " + build + "/dev/stdout -o db3; echo after");
    assertThat(file.out).as(file.toString()).isEqualTo("before\n" + bad + "after\n");
  }

  @ParameterizedTest
  @MethodSource("newest")
  void otherJarsTakeThePlaceOfHadoopsButNotOfOurs(Path java) throws Exception {
    Path theirs = Files.createDirectories(folder.resolve("theirs/META-INF/services"));
    Files.writeString(theirs.resolve("tech.bsdb.tools.cli.Command"), "");
    Files.writeString(
        folder.resolve("theirs/core-default.xml"),
        "<configuration><property><name>fs.defaultFS</name><value>hdfs://localhost:1</value>"
            + "</property></configuration>");
    Files.writeString(
        folder.resolve("theirs/core-site.xml"),
        "<configuration><property><name>ipc.client.connect.max.retries</name><value>0</value>"
            + "</property></configuration>");

    Run run =
        run(
            java,
            "sh",
            "-c",
            "BSDB_CLASSPATH='/no/such/*:"
                + folder.resolve("theirs")
                + "' '"
                + BSDB
                + "' build-parquet -i hdfs:///data -kf id -o "
                + path("db"));

    assertThat(run.code).isEqualTo(2);
    assertThat(run.err)
        .startsWith("bsdb build-parquet: name node localhost:1: connection refused")
        .hasLineCount(1);
  }

  @ParameterizedTest
  @MethodSource("newest")
  void aReaderMayLeaveEarly(Path java) throws Exception {
    run(java, BSDB, "build", "-i", records(200_000), "-o", path("db"), "-q", "--layout=blocked");

    Run run =
        run(
            java,
            "sh",
            "-c",
            "{ '" + BSDB + "' scan -d '" + path("db") + "'; echo code $? >&2; } | head -n 1");

    assertThat(run.out).isEqualTo("key-0 value-0\n");
    assertThat(run.err).isEqualTo("code 0\n");
  }

  @ParameterizedTest
  @MethodSource("newest")
  void aFullDiskUnderTheOutputIsAnError(Path java) throws Exception {
    if (!Files.exists(Path.of("/dev/full"))) {
      return;
    }
    run(java, BSDB, "build", "-i", records(10), "-o", path("db"), "-q");

    Run run = run(java, "sh", "-c", "'" + BSDB + "' scan -d '" + path("db") + "' >/dev/full");

    assertThat(run.code).isEqualTo(2);
    assertThat(run.err)
        .isEqualTo("bsdb scan: cannot write to standard output: No space left on device\n");
  }

  @ParameterizedTest
  @MethodSource("newest")
  void aTerminatedBuildLeavesNothing(Path java) throws Exception {
    Files.createDirectory(folder.resolve("temporary"));
    terminate(java, "compressed");
    terminate(java, "packed");
  }

  private void terminate(Path java, String layout) throws Exception {
    List<String> line = new ArrayList<>(List.of(BSDB, "build", "-i", "-", "-o", path("new/db")));
    line.addAll(List.of("-temp", path("temporary"), "--layout", layout));
    Process build = start(java, line.toArray(String[]::new));
    try (OutputStream in = build.getOutputStream()) {
      in.write("key value\n".getBytes(UTF_8));
      in.flush();
      while (!Files.exists(folder.resolve("new")) && build.isAlive()) {
        Thread.sleep(20);
      }
      build.destroy();
      Run run = end(build);

      assertThat(run.code).isEqualTo(143);
      assertThat(run.err).contains("nothing was built");
      assertThat(folder.resolve("new")).doesNotExist();
      assertThat(folder.resolve("temporary")).isEmptyDirectory();
    }
  }

  @ParameterizedTest
  @MethodSource("javas")
  void mistakesAreOneLineAndExitCode2(Path java) throws Exception {
    Path input = Files.writeString(folder.resolve("in.txt"), "a 1\na 2\nbad\n");

    for (List<String> line :
        List.of(
            List.of("frobnicate"),
            List.of("build"),
            List.of("build", "-i", path("missing"), "-o", path("db")),
            List.of("build", "-i", input.toString(), "-o", path("db")),
            List.of("build", "-i", input.toString(), "-o", path("db"), "--on-bad-line", "skip"),
            List.of("build", "-i", input.toString(), "-cb", "99"),
            List.of("get", "-d", path("missing"), "key"),
            List.of("scan", "-d", input.toString()),
            List.of("stat", "-d", folder.toString()),
            List.of("verify", "--no-such-option"))) {
      List<String> command = new ArrayList<>(List.of(BSDB));
      command.addAll(line);
      Run run = run(java, command.toArray(String[]::new));
      assertThat(run.code).as(run.toString()).isEqualTo(2);
      assertThat(run.out).as(run.toString()).isEmpty();
      assertThat(run.err.lines())
          .as(run.toString())
          .hasSizeBetween(1, 2)
          .noneMatch(l -> l.startsWith("\tat "));
    }
    assertThat(folder.resolve("db")).doesNotExist();
  }

  @ParameterizedTest
  @MethodSource("javas")
  void archivesOfClassesAreUsedUnlessBroken(Path java) throws Exception {
    run(java, BSDB, "build", "-i", records(10), "-o", path("db"), "-q");
    String place = "BSDB_ARCHIVES='" + path("archives") + "' ";

    Run made = run(java, "sh", "-c", place + "'" + BSDB + "' --make-archives");
    assertThat(made.code).as(made.toString()).isZero();
    List<Path> archives = made.out.lines().map(Path::of).toList();
    assertThat(archives).hasSize(3).allMatch(file -> file.startsWith(folder.resolve("archives")));
    assertThat(folder.resolve("archives")).isDirectoryNotContaining("glob:**.making*");
    assertThat(isArchiveUsed(java, place, "get -d db key-7", "value-7\n")).isTrue();
    assertThat(isArchiveUsed(java, place, "serve --help", "Usage: bsdb serve")).isTrue();
    assertThat(isArchiveUsed(java, place, "build -q -i records.txt -o db-2", "")).isTrue();
    assertThat(isArchiveUsed(java, place, "merge -q -d db -i records.txt -o db-3", "")).isTrue();
    assertThat(isArchiveUsed(java, "BSDB_ARCHIVES=/nowhere ", "get -d db key-7", "value-7\n"))
        .isFalse();

    Path archive = archives.get(0);
    byte[] bytes = Files.readAllBytes(archive);
    Arrays.fill(bytes, bytes.length / 3, bytes.length / 3 + 10_000, (byte) 0x55);
    for (byte[] broken : List.of(bytes, "not an archive".getBytes(UTF_8), new byte[0])) {
      Files.delete(archive);
      Files.write(archive, broken);
      assertThat(isArchiveUsed(java, place, "get -d db key-7", "value-7\n")).isFalse();
    }
  }

  @ParameterizedTest
  @MethodSource("newest")
  void withoutAPlaceForArchivesCommandsWork(Path java) throws Exception {
    run(java, BSDB, "build", "-i", records(10), "-o", path("db"), "-q");
    String place = "BSDB_ARCHIVES='" + path("records.txt/in-a-file") + "' ";

    assertThat(isArchiveUsed(java, place, "get -d db key-7", "value-7\n")).isFalse();
    Run refused = run(java, "sh", "-c", place + "'" + BSDB + "' --make-archives");
    assertThat(refused.code).as(refused.toString()).isEqualTo(2);
    assertThat(refused.err).contains("choose another directory with BSDB_ARCHIVES").hasLineCount(1);
  }

  /**
   * Runs a command, which has to answer as always, and returns whether its classes came from an
   * archive of bsdb.
   *
   * @param variables assignments in front of the command
   * @param begin what the answer begins with
   */
  private boolean isArchiveUsed(Path java, String variables, String command, String begin)
      throws Exception {
    Path log = folder.resolve("classes.log");
    String options = "BSDB_JAVA_OPTS=-Xlog:class+load:file=classes.log ";
    Run run =
        run(
            java,
            "sh",
            "-c",
            "cd '" + folder + "'; " + variables + options + "'" + BSDB + "' " + command);

    assertThat(run.code).as(run.toString()).isZero();
    assertThat(run.out).startsWith(begin);
    assertThat(run.err).isEmpty();
    try (Stream<String> lines = Files.lines(log)) {
      return lines.anyMatch(line -> line.matches(".* tech\\.bsdb\\..*shared objects file.*"));
    }
  }

  private String records(int count) throws IOException {
    String text =
        IntStream.range(0, count)
            .mapToObj(i -> "key-" + i + " value-" + i + "\n")
            .collect(Collectors.joining());
    return Files.writeString(folder.resolve("records.txt"), text).toString();
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  /** What a process printed and returned. */
  private record Run(int code, String out, String err) {}

  private Run run(Path java, String... command) throws Exception {
    return runWithInput("", java, command);
  }

  private Run runWithInput(String in, Path java, String... command) throws Exception {
    Process process = start(java, command);
    try (OutputStream stdin = process.getOutputStream()) {
      stdin.write(in.getBytes(UTF_8));
    }
    return end(process);
  }

  private Process start(Path java, String... command) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("JAVA_HOME", java.toString());
    builder.environment().put("LC_ALL", "C");
    builder.redirectOutput(folder.resolve("stdout").toFile());
    builder.redirectError(folder.resolve("stderr").toFile());
    return builder.start();
  }

  private Run end(Process process) throws Exception {
    boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
    if (!ended) {
      process.destroyForcibly();
    }
    Run run =
        new Run(
            ended ? process.exitValue() : -1,
            Files.readString(folder.resolve("stdout")),
            Files.readString(folder.resolve("stderr")));
    assertThat(ended).as("did not end: " + run).isTrue();
    return run;
  }
}
