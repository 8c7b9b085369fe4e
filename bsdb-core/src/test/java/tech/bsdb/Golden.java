package tech.bsdb;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * The databases of three records that are kept for ever, one directory for each version of the
 * format and each kind of database.
 *
 * <p>A new version adds directories; those that are there must stay readable.
 */
@SuppressWarnings("ImmutableEnumChecker") // options are a record of immutable values
public enum Golden {
  BLOCKED("v1-blocked", options(Layout.BLOCKED)),
  COMPACT("v1-compact", options(Layout.COMPACT).withDataFiles(2)),
  COMPRESSED("v1-compressed", options(Layout.COMPRESSED)),
  DICTIONARY("v1-dictionary", options(Layout.COMPRESSED)),
  APPROXIMATE(
      "v1-approximate", options(Layout.BLOCKED).withChecksumBits(32).withApproximateWidth(8)),
  PTR("v1-ptr", options(Layout.BLOCKED).withHash(HashAlgorithm.PTR)),
  PACKED("v1-packed", options(Layout.PACKED).withDataFiles(2)),
  PACKED_ZSTD("v1-packed-zstd", options(Layout.PACKED_COMPRESSED)),
  PACKED_FILTER("v1-packed-filter", options(Layout.PACKED).withFilterBits(8)),
  TYPED("v1-typed", options(Layout.BLOCKED).withValueSchema(Golden.SCHEMA)),
  ORDERED("v1-ordered", options(Layout.BLOCKED).withOrderedKeys(true)),
  PACKED_ORDERED("v1-packed-ordered", options(Layout.PACKED).withOrderedKeys(true)),
  V2_BLOCKED("v2-blocked", options2(Layout.BLOCKED)),
  V2_APPROXIMATE(
      "v2-approximate", options2(Layout.BLOCKED).withChecksumBits(32).withApproximateWidth(8)),
  V2_COMPRESSED("v2-compressed", options2(Layout.COMPRESSED)),
  V2_PACKED("v2-packed", options2(Layout.PACKED).withFilterBits(8).withSeed(7)),
  V2_PACKED_ZSTD("v2-packed-zstd", options2(Layout.PACKED_COMPRESSED)),
  V2_HASHED_PACKED("v2-hashed-packed", options2(Layout.PACKED).withFilterBits(8)),
  V2_HASHED_BLOCKED("v2-hashed-blocked", options2(Layout.BLOCKED).withOrderedKeys(true)),
  V2_HASHED_ZSTD("v2-hashed-zstd", options2(Layout.COMPRESSED));

  /** That of rows of one text: its length and its bytes. */
  private static final String SCHEMA =
      "{\"type\":\"record\",\"name\":\"Row\",\"fields\":"
          + "[{\"name\":\"the_text\",\"type\":\"string\",\"column\":\"the text\"}]}";

  private final String id;
  private final BuildOptions options;

  Golden(String id, BuildOptions options) {
    this.id = id;
    this.options = options;
  }

  private static BuildOptions options(Layout layout) {
    return BuildOptions.defaults()
        .withLayout(layout)
        .withHash(HashAlgorithm.GOV)
        .withSignature(SignatureAlgorithm.SPOOKY)
        .withDictionaryBytes(512)
        .withBlockSize(4096);
  }

  /** Those of format 2, which are the defaults. */
  private static BuildOptions options2(Layout layout) {
    return options(layout).withHash(HashAlgorithm.PTR).withSignature(SignatureAlgorithm.MUM);
  }

  /** The name of its directory. */
  public String id() {
    return id;
  }

  /** Whether its manifest has content hashes. */
  public boolean hashed() {
    return id.contains("-hashed");
  }

  /** Whether it keeps no keys and at most eight bytes of a value. */
  public boolean approximate() {
    return options.approximateWidth() > 0;
  }

  /** Its records, and some absent keys. */
  public Truth truth() {
    Truth truth = new Truth();
    for (String[] record :
        new String[][] {
          {"bsdb", "build and serve, build and serve, build and serve"},
          {"empty", ""},
          {"", "an empty key is a key"}
        }) {
      byte[] value = value(record[1]);
      truth.add(
          Truth.utf8(record[0]),
          approximate() ? Arrays.copyOf(value, Math.min(8, value.length)) : value);
    }
    for (String key :
        List.of("absent", "bsdc", "b", "emptz", "\0", " ", "x".repeat(300), "y".repeat(70_000))) {
      truth.absent(Truth.utf8(key));
    }
    return truth;
  }

  /** A text as a value: its bytes, or a row of it. */
  private byte[] value(String text) {
    return Truth.utf8(options.valueSchema() == null ? text : (char) (2 * text.length()) + text);
  }

  /** Builds it anew. */
  public void build(Path target) throws IOException {
    try (DatabaseBuilder builder = DatabaseBuilder.create(target, Truth.fitting(options))) {
      if (this == DICTIONARY || this == PACKED_ZSTD) {
        for (int i = 0; i < 2000; i++) {
          builder.sample(
              Truth.utf8("key " + i), Truth.utf8("build and serve, an empty key " + i % 7));
        }
      }
      builder.add(Truth.utf8("bsdb"), value("build and serve, build and serve, build and serve"));
      builder.add(Truth.utf8("empty"), value(""));
      builder.add(new byte[0], value("an empty key is a key"));
      builder.finish();
    }
  }

  /** Its directory among the test resources. */
  public Path directory() throws IOException {
    URL url = Golden.class.getResource("/golden/" + id + "/manifest.bsdb");
    if (url == null) {
      throw new IOException(
          "no golden database " + id + "; write it with -Dbsdb.golden.write=true");
    }
    try {
      return Path.of(url.toURI()).getParent();
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
  }

  /** Copies it to a new directory. */
  public Path copyTo(Path target) throws IOException {
    return copy(directory(), target);
  }

  /** Copies the files of a directory to a new one. */
  public static Path copy(Path source, Path target) throws IOException {
    Files.createDirectories(target);
    for (Path file : files(source)) {
      Files.copy(file, target.resolve(file.getFileName()));
    }
    return target;
  }

  /** The files of a directory, in the order of their names. */
  public static List<Path> files(Path directory) throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }
}
