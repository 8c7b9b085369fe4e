package tech.bsdb.tools;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;
import static tech.bsdb.tools.CommandRun.bsdbWithInput;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.github.luben.zstd.ZstdOutputStreamNoFinalizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.Sampled;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.Console;

/**
 * Tests the commands together: what is built can be read, and the reports for people and programs.
 */
class CommandsTest {
  @TempDir Path folder;

  @Sampled(3)
  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "--layout blocked",
        "-c",
        "-z",
        "-z --level 19 -bs 512 -ds 0",
        "--layout packed",
        "--layout packed --data-files 3 -ps 1 --threads 1 --seed 9",
        "-z --layout packed",
        "--layout packed --filter-bits 8 --data-files 2",
        "-z --layout packed --filter-bits 3",
        "-z --layout packed --data-files 3 -ps 1 --threads 1 -bs 512 -ds 0",
        "-cb 0 --data-files 3 -ps 1 --threads 1"
      })
  void everyRecordIsFoundInEveryLayout(String options) throws Exception {
    String records =
        IntStream.range(0, 5_000)
            .mapToObj(i -> "key-" + i + " the value of " + i + " repeated ".repeat(i % 20))
            .collect(Collectors.joining("\n", "", "\n"));
    List<String> line =
        new ArrayList<>(List.of("build", "-i", file("in.txt", records), "-o", path("db"), "-v"));
    line.addAll(Stream.of(options.split(" ")).filter(o -> !o.isEmpty()).toList());

    CommandRun build = bsdb(line.toArray(String[]::new));

    assertThat(build.code()).as(build.toString()).isZero();
    assertThat(build.outBytes()).isEmpty();
    assertThat(build.err())
        .contains(
            "built ", "5,000 records", "lines read", "duplicates dropped", "peak heap", "verified ")
        .doesNotContain("\r", "\u001b");
    String scanned = bsdb("scan", "-d", path("db")).out();
    if (options.isEmpty() || options.contains("packed")) {
      assertThat(scanned).isNotEqualTo(records);
      assertThat(scanned.lines().sorted())
          .containsExactlyElementsOf(records.lines().sorted().toList());
    } else {
      assertThat(scanned).isEqualTo(records);
    }
    assertThat(bsdb("verify", "-d", path("db")).err())
        .contains("5,000 records read and found again");
    CommandRun get = bsdb("get", "-d", path("db"), "key-4999", "key-0", "key-5000", "key-1");
    assertThat(get.code()).isEqualTo(1);
    assertThat(get.out().lines())
        .hasSize(3)
        .first()
        .asString()
        .startsWith("the value of 4999 repeated");
    assertThat(get.err()).isEqualTo("bsdb get: \"key-5000\" is absent\n");
  }

  /** The files of keys are those of openssl: a prefix that names the algorithm, and the key. */
  private String[] keys(String name) throws Exception {
    KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    return new String[] {
      file(name + ".pem", pem("PRIVATE KEY", pair.getPrivate().getEncoded())),
      file(name + ".pub", pem("PUBLIC KEY", pair.getPublic().getEncoded()))
    };
  }

  private static String pem(String kind, byte[] key) {
    String text = Base64.getEncoder().encodeToString(key);
    return "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n";
  }

  @Test
  void onlyWhatATrustedKeyHasSignedIsRead() throws Exception {
    String[] ours = keys("ours");
    String[] others = keys("others");
    String input = file("in.txt", "apple red\n");
    String db = path("db");
    assertThat(bsdb("build", "-i", input, "-o", db, "--sign-key", ours[0]).code()).isZero();
    for (String[] command :
        new String[][] {
          {"get", "-d", db, "apple"},
          {"scan", "-d", db},
          {"stat", "-d", db},
          {"verify", "-d", db},
          {"verify", "--content", "-d", db},
          {"diff", db, db},
          {"pull", db, path("store")},
        }) {
      List<String> line = new ArrayList<>(List.of(command[0], "--trust", others[1]));
      line.addAll(List.of(command).subList(1, command.length));
      CommandRun refused = bsdb(line.toArray(String[]::new));
      assertThat(refused.code()).as(refused.toString()).isEqualTo(2);
      assertThat(refused.err()).contains("manifest.bsdb: its signature is not by the trusted key");
      line.set(2, ours[1]);
      CommandRun read = bsdb(line.toArray(String[]::new));
      assertThat(read.code()).as(read.toString()).isZero();
    }
    assertThat(bsdb("sign", "-d", db, "--sign-key", others[0]).err())
        .isEqualTo("signed " + db + "\n");
    assertThat(bsdb("get", "-d", db, "--trust", others[1], "apple").out()).isEqualTo("red\n");
    assertThat(bsdb("merge", "-d", db, "-i", input, "-o", path("new")).code()).isZero();
    assertThat(bsdb("get", "-d", path("new"), "--trust", ours[1], "apple").err())
        .contains("is not signed, but a trusted signature is required");
    assertThat(bsdb("get", "-d", db, "--trust", others[0], "apple").err())
        .contains("--trust " + others[0] + ": holds no -----BEGIN PUBLIC KEY-----", "Try: ");
    assertThat(bsdb("get", "-d", db, "--trust", path("none"), "apple").err())
        .contains("--trust " + path("none") + ": no such file");
    assertThat(bsdb("sign", "-d", db).err()).contains("no private key given (--sign-key)");
    CommandRun content = bsdb("verify", "--content", "-d", db);
    assertThat(content.err()).contains("1 records (the content alone)");
    assertThat(json(bsdb("verify", "--content", "-d", db, "--json")))
        .containsEntry("contentChecked", "true")
        .containsEntry("keysChecked", "false");
  }

  @Test
  void aKeyIsTheBytesThatWereTyped() throws Exception {
    String input = file("hex.txt", "6bff 1\n6befbfbd 2\n");
    assertThat(
            bsdb(
                    "build",
                    "-i",
                    input,
                    "-o",
                    path("db"),
                    "--key-encoding",
                    "hex",
                    "--layout=blocked")
                .code())
        .isZero();
    String raw = ArgumentText.of(new byte[] {'k', (byte) 0xFF});
    String absent = ArgumentText.of(new byte[] {'k', (byte) 0xFE});

    assertThat(bsdb("get", "-d", path("db"), raw, "k\uFFFD").out()).isEqualTo("1\n2\n");
    assertThat(bsdb("get", "-d", path("db"), absent).code()).isEqualTo(1);
    assertThat(bsdb("get", "-d", path("db"), "--key-encoding", "hex", raw).err())
        .startsWith("bsdb get: key \"k\\xff\" is not hex\n");
    assertThat(bsdb("scan", "-d", path("db"), "-s", raw, "--limit", "1").outBytes())
        .isEqualTo(new byte[] {'k', (byte) 0xFF, 'k', (byte) 0xFF, '1', '\n'});
    assertThat(bsdb("build", "-i", input, "-o", path("other"), "-s", raw).err())
        .startsWith("bsdb build: -s \"k\\xff\" is not UTF-8\n");
  }

  @Test
  void anApproximateDatabaseNeedsNoFlagToBeRead() throws Exception {
    assertThat(build("a 1\nb 123456789\nc \n", "-a", "-cb", "32").err())
        .contains("values cut", "1");

    assertThat(bsdb("get", "-d", path("db"), "a", "b", "c").out()).isEqualTo("1\n12345678\n\n");
    assertThat(bsdb("get", "-d", path("db"), "x").code()).isEqualTo(1);
    assertThat(bsdb("verify", "-d", path("db")).code()).isZero();
    CommandRun scan = bsdb("scan", "-d", path("db"));
    assertThat(scan.code()).isEqualTo(2);
    assertThat(scan.err()).contains("an approximate database keeps no keys").hasLineCount(1);
  }

  @Test
  void getsExitCodeDistinguishesPresentFromAbsent() throws Exception {
    build("a 1\nempty \n-5 minus five\n");

    assertThat(bsdb("get", "-d", path("db"), "a", "empty").code()).isZero();
    assertThat(bsdb("get", "-d", path("db"), "a", "empty").out()).isEqualTo("1\n\n");
    assertThat(bsdb("get", "-d", path("db"), "--", "-5").out()).isEqualTo("minus five\n");
    assertThat(bsdb("get", "-d", path("db"), "-q", "x", "a").err()).isEmpty();
    assertThat(bsdb("get", "-d", path("db"), "-q", "x", "a").code()).isEqualTo(1);
    assertThat(bsdb("get", "-d", path("db")).err())
        .startsWith("bsdb get: no key given; for example: bsdb get");
  }

  @Test
  void getReadsKeysFromAFileOrStdin() throws Exception {
    build("a 1\nb 2\nc 3\n");
    String keys = file("keys", "c\r\nx\na");

    assertThat(bsdb("get", "-d", path("db"), "--keys-from", keys, "b").out())
        .isEqualTo("2\n3\n1\n");
    assertThat(bsdbWithInput("a\nb\n", "get", "-d", path("db"), "--keys-from", "-").out())
        .isEqualTo("1\n2\n");
    assertThat(
            bsdbWithInput(
                    "61\n", "get", "-d", path("db"), "--keys-from", "-", "--key-encoding", "hex")
                .out())
        .isEqualTo("1\n");
    assertThat(bsdb("get", "-d", path("db"), "--keys-from", path("nowhere")).err())
        .isEqualTo("bsdb get: " + path("nowhere") + ": no such file or directory\n");
    assertThat(bsdb("get", "-d", path("db"), "--json", "a", "x").out())
        .isEqualTo("{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"x\",\"value\":null}\n");
  }

  @Test
  void binaryKeysAndValuesGoInAndOut() throws Exception {
    build(
        "00ff gIE=\n61 Yg==\n",
        "--key-encoding",
        "hex",
        "--value-encoding",
        "base64",
        "--layout",
        "blocked");

    assertThat(bsdb("get", "-d", path("db"), "--key-encoding", "hex", "00FF").outBytes())
        .isEqualTo(new byte[] {(byte) 0x80, (byte) 0x81, '\n'});
    assertThat(
            bsdb(
                    "get",
                    "-d",
                    path("db"),
                    "--key-encoding",
                    "base64",
                    "--value-encoding",
                    "hex",
                    "AP8")
                .out())
        .isEqualTo("8081\n");
    assertThat(
            bsdb("scan", "-d", path("db"), "--key-encoding", "hex", "--value-encoding", "base64")
                .out())
        .isEqualTo("00ff gIE=\n61 Yg==\n");
    assertThat(bsdb("scan", "-d", path("db"), "--json").out())
        .isEqualTo(
            """
            {"key":{"base64":"AP8="},"value":{"base64":"gIE="}}
            {"key":"a","value":"b"}
            """);
    assertThat(new String(bsdb("scan", "-d", path("db")).outBytes(), ISO_8859_1))
        .isEqualTo("\0\u00ff \u0080\u0081\na b\n");
    CommandRun wrong = bsdb("get", "-d", path("db"), "--key-encoding", "hex", "0g");
    assertThat(wrong.code()).isEqualTo(2);
    assertThat(wrong.err()).contains("key \"0g\" is not hex");
  }

  @Test
  void scanHasASeparatorAndALimit() throws Exception {
    build("a 1\nb 2\nc 3\n", "--layout", "blocked");

    assertThat(bsdb("scan", "-d", path("db"), "-s", "\\t").out()).isEqualTo("a\t1\nb\t2\nc\t3\n");
    assertThat(bsdb("scan", "-d", path("db"), "-s", "", "--limit", "1").out()).isEqualTo("a1\n");
    assertThat(bsdb("scan", "-d", path("db"), "--limit", "0").out()).isEmpty();
    assertThat(bsdb("scan", "-d", path("db"), "--limit", "2", "--json").out())
        .isEqualTo("{\"key\":\"a\",\"value\":\"1\"}\n{\"key\":\"b\",\"value\":\"2\"}\n");
    assertThat(bsdb("scan", "-d", path("db"), "--limit", "-1").err())
        .contains("--limit takes a whole number of at least 0, not \"-1\"");
  }

  @Test
  void aDuplicateNamesItsKeyBothPlacesAndTheRemedy() throws Exception {
    CommandRun run = build("a 1\nb 2\na 3\n");

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo(
            "bsdb build: duplicate key \"a\": %1$s:1 and %1$s:3 (to keep one of them: --on-duplicate first or --on-duplicate last)\n"
                .formatted(path("in.txt")));
    assertThat(folder.resolve("db")).doesNotExist();
    assertThat(build("a 1\nb 2\na 3\n", "--on-duplicate", "first", "--layout", "blocked").err())
        .contains("duplicates dropped");
    assertThat(bsdb("scan", "-d", path("db")).out()).isEqualTo("a 1\nb 2\n");
    build("a 1\nb 2\na 3\n", "--on-duplicate", "last", "--overwrite", "--layout", "blocked");
    assertThat(bsdb("scan", "-d", path("db")).out()).isEqualTo("b 2\na 3\n");
  }

  @Test
  void aDuplicateOfAPackedDatabaseNamesBothPlacesAsWell() throws Exception {
    CommandRun run = build("a 1\nb 2\na 3\n", "--layout", "packed");

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .startsWith(
            "bsdb build: duplicate key \"a\": %1$s:1 and %1$s:3 (".formatted(path("in.txt")));
    assertThat(folder.resolve("db")).doesNotExist();
    for (String which : List.of("first", "last")) {
      CommandRun kept =
          build(
              "a 1\nb 2\na 3\n",
              "--layout",
              "packed",
              "--on-duplicate",
              which,
              "--overwrite",
              "--json");
      assertThat(json(kept)).containsEntry("records", "2").containsEntry("duplicatesDropped", "1");
      assertThat(bsdb("get", "-d", path("db"), "a", "b").out())
          .isEqualTo(which.equals("first") ? "1\n2\n" : "3\n2\n");
      assertThat(bsdb("scan", "-d", path("db")).out()).hasLineCount(2);
    }
  }

  @Test
  void aPackedDatabaseHasNoHashFile() throws Exception {
    assertThat(build("a 1\nempty \n", "--layout", "packed").err())
        .contains("  data-", "  index-")
        .doesNotContain("hash-");

    assertThat(bsdb("get", "-d", path("db"), "empty", "a").out()).isEqualTo("\n1\n");
    assertThat(bsdb("get", "-d", path("db"), "absent").code()).isEqualTo(1);
    assertThat(bsdb("stat", "-d", path("db")).out())
        .contains("exact, packed", "bins ")
        .doesNotContain("hash function", "checksum bits", "hash-");
    assertThat(json(bsdb("stat", "-d", path("db"), "--json")))
        .containsEntry("layout", "packed")
        .containsEntry("checksumBits", "0")
        .containsEntry("hashBytes", "0")
        .containsKeys("bins", "spanning");
    assertThat(bsdb("get-rate", "-d", path("db"), "--seconds", "1").out())
        .contains("(2 keys, shuffled, warm)");
    assertThat(bsdb("scan", "--help").out().replaceAll("\\s+", " "))
        .contains("In the packed layouts, records come in the order of the keys' hashes")
        .contains("if the database was built with --ordered, in the order of the keys' bytes");
  }

  @Test
  void aPackedDatabaseCanBeCompressed() throws Exception {
    String records =
        IntStream.range(0, 5_000)
            .mapToObj(i -> "key-" + i + " the value of " + i + " repeated ".repeat(i % 20))
            .collect(Collectors.joining("\n", "", "\n"));
    assertThat(build(records, "-z", "--layout", "packed", "-bs", "2048").code()).isZero();
    assertThat(bsdb("stat", "-d", path("db")).out())
        .contains("exact, packed-compressed: ZSTD level 6, blocks of 2,048, dictionary of ")
        .contains(", spanning pages", "dictionary-")
        .doesNotContain("hash function", "checksum bits", "hash-");
    assertThat(json(bsdb("stat", "-d", path("db"), "--json")))
        .containsEntry("layout", "packed-compressed")
        .containsEntry("blockSize", "2048")
        .containsEntry("compressionLevel", "6");
    assertThat(bsdb("get", "-d", path("db"), "key-7").out()).startsWith("the value of 7 repeated");
    assertThat(bsdb("get", "-d", path("db"), "absent").code()).isEqualTo(1);
  }

  @Test
  void aPackedDatabaseCanHaveAFilter() throws Exception {
    CommandRun built = build("a 1\nempty \n", "--layout", "packed", "--filter-bits", "8");
    assertThat(built.err()).contains("  filter-", "  index-");
    assertThat(bsdb("get", "-d", path("db"), "empty", "a").out()).isEqualTo("\n1\n");
    assertThat(bsdb("get", "-d", path("db"), "absent").code()).isEqualTo(1);
    assertThat(bsdb("stat", "-d", path("db")).out()).contains("8 bits a key, 16,384 bytes");
    assertThat(json(bsdb("stat", "-d", path("db"), "--json")))
        .containsEntry("filterBits", "8")
        .containsEntry("filterBytes", "16384");
    assertThat(bsdb("verify", "-d", path("db")).code()).isZero();

    Files.write(
        filterOf(folder.resolve("db")), new byte[] {1}, java.nio.file.StandardOpenOption.APPEND);
    CommandRun verify = bsdb("verify", "-d", path("db"));
    assertThat(verify.code()).isEqualTo(2);
    assertThat(verify.err()).contains("filter-", "the file was not copied whole");
  }

  private static Path filterOf(Path database) throws Exception {
    try (Stream<Path> files = Files.list(database)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("filter-"))
          .findAny()
          .orElseThrow();
    }
  }

  @Test
  void aFilterInAnotherLayoutIsAMistake() throws Exception {
    CommandRun run = build("a 1\n", "--filter-bits", "8", "--layout", "blocked");

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .startsWith(
            "bsdb build: --filter-bits goes with --layout packed: the layout blocked has checksum"
                + " bits in its hash function, which reject absent keys; set them with -cb, or"
                + " choose --layout packed\n");
    assertThat(folder.resolve("db")).doesNotExist();
  }

  @Test
  void anUnknownLayoutIsAMistakeOfOneLine() throws Exception {
    CommandRun run = build("a 1\n", "--layout", "sorted");

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.outBytes()).isEmpty();
    assertThat(run.err())
        .startsWith(
            "bsdb build: --layout takes blocked, compact, compressed, packed or packed-compressed,"
                + " not \"sorted\"");
    assertThat(folder.resolve("db")).doesNotExist();
  }

  @Test
  void aBadLineNamesItsPlaceAndTheRemedy() throws Exception {
    CommandRun run = build("a 1\nbad\n");

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .startsWith("bsdb build: " + path("in.txt") + ":2: ")
        .contains("--on-bad-line skip")
        .hasLineCount(1);
    assertThat(folder.resolve("db")).doesNotExist();

    CommandRun skipped =
        build("a 1\nbad\n", "--on-bad-line", "skip", "--rejects", path("bad.txt"), "--json");
    assertThat(json(skipped))
        .containsEntry("records", "1")
        .containsEntry("rejected", "1")
        .containsEntry("lines", "2");
    assertThat(folder.resolve("bad.txt"))
        .content()
        .startsWith(path("in.txt") + ":2: ")
        .endsWith("bad\n");
  }

  @Test
  void rejectsOverwriteNothing() throws Exception {
    build("a 1\n");
    String inside = path("db/manifest.bsdb");
    byte[] manifest = Files.readAllBytes(Path.of(inside));
    for (String rejects : List.of(inside, path("db/new"), folder.toString(), "-")) {
      CommandRun run =
          build("b 2\nx\n", "--on-bad-line", "skip", "--rejects", rejects, "--overwrite");
      assertThat(run.code()).as(run.toString()).isEqualTo(2);
    }
    assertThat(Path.of(inside)).hasBinaryContent(manifest);
    assertThat(bsdb("get", "-d", path("db"), "a").out()).isEqualTo("1\n");

    String older = file("older", "mine");
    CommandRun kept =
        bsdb(
            "build",
            "-i",
            file("in2", "x\n"),
            "-o",
            path("other"),
            "--on-bad-line",
            "skip",
            "--rejects",
            older);
    assertThat(kept.code()).isEqualTo(2);
    assertThat(kept.err()).contains("already exists", "--overwrite");
    CommandRun failed =
        build("x\na 1\na 2\n", "--on-bad-line", "skip", "--rejects", older, "--overwrite");
    assertThat(failed.err()).contains("duplicate key");
    assertThat(Path.of(older)).hasContent("mine");
    try (Stream<Path> files = Files.list(folder)) {
      assertThat(files).noneMatch(f -> f.getFileName().toString().startsWith("."));
    }
    assertThat(build("x\na 1\n", "--on-bad-line", "skip", "--rejects", older, "--overwrite").code())
        .isZero();
    assertThat(Path.of(older)).content().endsWith("x\n").doesNotContain("mine");
  }

  @Test
  void aClosedStandardInputIsNotRead() throws Exception {
    if (!Files.isDirectory(Path.of("/proc/self/fd"))) {
      return;
    }
    String java = Path.of(System.getProperty("java.home"), "bin/java").toString();
    Process process =
        new ProcessBuilder(
                "sh",
                "-c",
                "exec \"$@\" <&-",
                "sh",
                java,
                "-cp",
                System.getProperty("java.class.path"),
                "tech.bsdb.tools.Main",
                "build",
                "-i",
                "-",
                "-o",
                path("db"))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), UTF_8);

    assertThat(process.waitFor()).as(said).isEqualTo(2);
    assertThat(said).isEqualTo("bsdb build: standard input is closed\n");
    assertThat(folder.resolve("db")).doesNotExist();
  }

  @Test
  void theJsonReportIsOneObjectAloneOnStdout() throws Exception {
    CommandRun run = build("a 1\nb 2\n", "--json", "-q");

    assertThat(run.err()).isEmpty();
    assertThat(run.out()).hasLineCount(1);
    assertThat(json(run))
        .containsEntry("records", "2")
        .containsEntry("rejected", "0")
        .containsEntry("duplicatesDropped", "0")
        .containsKeys(
            "directory", "seconds", "stageSeconds", "fileBytes", "peakHeapBytes", "bytesRead");
    assertThat(json(bsdb("stat", "-d", path("db"), "--json")))
        .containsEntry("records", "2")
        .containsEntry("layout", "packed");
    assertThat(json(bsdb("verify", "-d", path("db"), "--json")))
        .containsEntry("records", "2")
        .containsEntry("keysChecked", "true");
  }

  @Test
  void aFailedReportSaysThatTheDatabaseWasBuilt() throws Exception {
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int oneByte) throws IOException {
            throw new IOException("No space left on device");
          }
        };
    Console console = new Console(InputStream.nullInputStream(), full, err, false);
    String in = file("in.txt", "a 1\n");

    assertThat(Main.run(List.of("build", "-i", in, "-o", path("db"), "--json"), console))
        .isEqualTo(2);
    assertThat(err.toString(UTF_8))
        .contains("cannot write to standard output: No space left on device")
        .contains("the database was built: it is at " + path("db"));
    assertThat(bsdb("get", "-d", path("db"), "a").out()).isEqualTo("1\n");
  }

  @Test
  void aDatabaseInTheInputIsLeftOutWithANote() throws Exception {
    Path in = Files.createDirectory(folder.resolve("in"));
    Files.writeString(in.resolve("a"), "a 1\n");
    bsdb("build", "-i", in.resolve("a").toString(), "-o", in.resolve("rdb").toString());
    CommandRun run = bsdb("build", "-i", in.toString(), "-o", path("db"));

    assertThat(run.code()).as(run.toString()).isZero();
    assertThat(run.err()).contains(in.resolve("rdb") + " is a bsdb database and is left out");
    assertThat(bsdb("scan", "-d", path("db")).out()).isEqualTo("a 1\n");
  }

  @Test
  void quietPrintsOnlyErrors() throws Exception {
    CommandRun run = build("a 1\n", "-q", "-v");

    assertThat(run.code()).isZero();
    assertThat(run.err()).isEmpty();
    assertThat(run.outBytes()).isEmpty();
    assertThat(bsdb("verify", "-d", path("db"), "-q").err()).isEmpty();
    assertThat(build("bad\n", "-q", "--overwrite").err()).isNotEmpty();
  }

  @Test
  void listsOfKeysMayBeCompressed() throws Exception {
    assertThat(build("a 1\nb 2\n").code()).isZero();
    for (String name : List.of("keys.gz", "keys.zst", "keys")) {
      byte[] keys = "b\na\n".getBytes(UTF_8);
      ByteArrayOutputStream stored = new ByteArrayOutputStream();
      try (OutputStream out =
          name.endsWith("zst")
              ? new ZstdOutputStreamNoFinalizer(stored)
              : new GZIPOutputStream(stored)) {
        out.write(keys);
      }
      Files.write(Path.of(path(name)), stored.toByteArray());
      assertThat(bsdb("get", "-d", path("db"), "--keys-from", path(name)).out())
          .as(name)
          .isEqualTo("2\n1\n");
      assertThat(
              bsdbWithInput(stored.toByteArray(), "get", "-d", path("db"), "--keys-from", "-")
                  .out())
          .as(name)
          .isEqualTo("2\n1\n");
    }
    Files.write(Path.of(path("empty.gz")), new byte[0]);
    CommandRun run = bsdb("get", "-d", path("db"), "--keys-from", path("empty.gz"));
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("empty.gz").contains("truncated");
    Files.writeString(Path.of(path("empty")), "");
    assertThat(bsdb("get", "-d", path("db"), "--keys-from", path("empty")).code()).isZero();
  }

  @Test
  void namesOfDirectoriesCannotSteerATerminal() throws Exception {
    Path in = Files.writeString(Path.of(path("lines")), "a 1\n");
    String named = path("d\nbuilt \u001b[2J");
    CommandRun built = bsdb("build", "-i", in.toString(), "-o", named);
    assertThat(built.err()).contains("d\\x0abuilt \\x1b[2J").doesNotContain("\u001b");
    for (String command : List.of("stat", "verify")) {
      CommandRun run = bsdb(command, "-d", named);
      assertThat(run.out() + run.err()).contains("d\\x0abuilt \\x1b[2J").doesNotContain("\u001b");
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "build -i IN -o s3a://b/x",
        "build -i IN -o DB -temp hdfs://t",
        "build -i IN -o DB --on-bad-line skip --rejects s3a://b/r",
        "merge -d DB -i IN -o s3a://b/x",
        "merge -d DB -i IN -o DB2 --publish hdfs://q/st",
        "build-parquet -i IN -kf k -o gs://b/x",
        "publish DB s3a://b/st",
        "pull DB hdfs://b/pu",
        "warm -d s3a://b/x",
        "get-rate -d s3a://b/x",
        "stat --engines -d https://b/x",
        "merge -d s3a://b/x -i IN -o DB",
        "serve -d s3a://b/x --follow s3a://b/y"
      })
  void urlsAreNoLocalPaths(String line) throws Exception {
    assertThat(build("a 1\n").code()).isZero();
    Path in = Files.writeString(Path.of(path("lines")), "a 1\n");
    CommandRun run =
        bsdb(line.replace("IN", in.toString()).replace("DB", path("db")).split(" ", -1));
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("takes a path of this machine, not the URL ");
    assertThat(Path.of("s3a:")).doesNotExist();
    assertThat(Path.of("hdfs:")).doesNotExist();
  }

  @Test
  void helpOfACommandIsPrintedEitherWay() {
    assertThat(bsdb("help", "build").out()).isEqualTo(bsdb("build", "--help").out());
    assertThat(bsdb("help", "biuld").err()).contains("did you mean \"build\"");
    assertThat(bsdb("help").out()).isEqualTo(bsdb("--help").out());
  }

  @Test
  void optionsWithoutEffectAreRefused() throws Exception {
    assertThat(build("a 1\n", "-bs", "8192").err())
        .startsWith("bsdb build: -bs needs -z, or a compressed --layout\n");
  }

  @Test
  void anExistingTargetIsRefusedUnlessItIsADatabaseToBeReplaced() throws Exception {
    build("a 1\n");
    assertThat(build("a 2\n").err()).contains(path("db")).contains("--overwrite").hasLineCount(1);
    assertThat(build("a 2\n", "--overwrite").code()).isZero();
    assertThat(bsdb("get", "-d", path("db"), "a").out()).isEqualTo("2\n");

    String other = Files.createDirectory(folder.resolve("other")).toString();
    Files.writeString(folder.resolve("other/precious"), "x");
    assertThat(bsdb("build", "-i", path("in.txt"), "-o", other, "--overwrite").code()).isEqualTo(2);
    assertThat(folder.resolve("other/precious")).content().isEqualTo("x");
    assertThat(bsdb("build", "-i", path("in.txt"), "-o", path("in.txt"), "--overwrite").err())
        .contains(path("in.txt") + ": ")
        .hasLineCount(1);
  }

  @Test
  void oneMissingInputOfSeveralStopsTheBuildBeforeItBegins() throws Exception {
    CommandRun run =
        bsdb("build", "-i", file("in.txt", "a 1\n"), "-i", path("missing"), "-o", path("new/db"));

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .isEqualTo("bsdb build: " + path("missing") + ": no such file or directory\n");
    assertThat(folder.resolve("new")).doesNotExist();
  }

  @Test
  void csvAndJsonLinesAreRead() throws Exception {
    String csv = file("in.csv", "id,name,note\n1,Ann,\"two\nlines\"\n2,\"B,ob\",\n");
    String jsonl = file("in.jsonl", "{\"id\":7,\"v\":1.0}\n");

    bsdb(
        "build",
        "-i",
        csv,
        "--csv",
        "--key-column",
        "id",
        "--value-column",
        "name",
        "-o",
        path("one"));
    assertThat(bsdb("scan", "-d", path("one")).out()).isEqualTo("1 Ann\n2 B,ob\n");
    bsdb("build", "-i", csv, "--csv", "-o", path("all"));
    assertThat(bsdb("get", "-d", path("all"), "1").out())
        .isEqualTo("{\"name\":\"Ann\",\"note\":\"two\\nlines\"}\n");
    bsdb("build", "-i", jsonl, "--jsonl", "--key-field", "id", "-o", path("json"));
    assertThat(bsdb("get", "-d", path("json"), "7").out()).isEqualTo("{\"id\":7,\"v\":1.0}\n");
  }

  @Test
  void aDirectoryThatIsNotADatabaseIsNamed() throws Exception {
    file("something", "x");

    for (String command : List.of("scan", "stat", "verify")) {
      CommandRun run = bsdb(command, "-d", folder.toString());
      assertThat(run.code()).isEqualTo(2);
      assertThat(run.err()).contains(folder + " is not a bsdb database").hasLineCount(1);
    }
  }

  @Test
  void damageNamesTheFileAndTheOffset() throws Exception {
    build("a 1\nb 2\n");
    Path data;
    try (Stream<Path> files = Files.list(folder.resolve("db"))) {
      data =
          files
              .filter(f -> f.getFileName().toString().startsWith("data"))
              .findFirst()
              .orElseThrow();
    }
    byte[] bytes = Files.readAllBytes(data);
    bytes[bytes.length / 2] ^= 1;
    Files.write(data, bytes);

    CommandRun run = bsdb("verify", "-d", path("db"));
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains(data.toString()).containsPattern("byte \\d+").hasLineCount(1);
  }

  @Test
  void aDatabaseWithoutItsOptionGetsATip() {
    assertThat(bsdb("stat", path("db")).err())
        .contains("unexpected argument", "(name the database with -d)");
  }

  @Test
  void theLookupRateIsMeasured() throws Exception {
    build("a 1\nb 2\n");

    assertThat(bsdb("get-rate", "-d", path("db"), "--seconds", "1").out())
        .matches("[\\d,]+ lookups/s on one thread, [\\d,]+ ns each \\(2 keys, shuffled, warm\\)\n");
  }

  private CommandRun build(String records, String... options) throws IOException {
    List<String> line =
        new ArrayList<>(List.of("build", "-i", file("in.txt", records), "-o", path("db")));
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  private String file(String name, String content) throws IOException {
    return Files.writeString(folder.resolve(name), content, UTF_8).toString();
  }

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  /**
   * The fields of the single object that a command printed; fields that are objects become an empty
   * text.
   */
  private static Map<String, String> json(CommandRun run) throws IOException {
    assertThat(run.out()).as(run.toString()).hasLineCount(1);
    Map<String, String> fields = new LinkedHashMap<>();
    try (JsonParser parser = new JsonFactory().createParser(run.outBytes())) {
      assertThat(parser.nextToken()).isEqualTo(JsonToken.START_OBJECT);
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        String name = parser.currentName();
        boolean object = parser.nextToken() == JsonToken.START_OBJECT;
        fields.put(name, object ? "" : parser.getText());
        parser.skipChildren();
      }
      assertThat(parser.nextToken()).isNull();
    }
    return fields;
  }
}
