package tech.bsdb.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.error.UnsupportedFormatException;

/** The manifest's text: what was written is read, in the order of writing. */
class ManifestTest {
  private static final String HASH =
      "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  private static final Path PATH = Path.of("manifest.bsdb");

  private static Manifest.FileEntry entry(
      FileKind kind, int number, long pages, long digest, long end) {
    return new Manifest.FileEntry(new FileIdentity(kind, number), pages, digest, end, null);
  }

  private static final Manifest MANIFEST =
      new Manifest.Builder()
          .put("records", 17L)
          .put("layout", "blocked")
          .put("empty", "")
          .put("big", Long.MAX_VALUE)
          .file(entry(FileKind.DATA, 0, 3, -1, 4100))
          .file(entry(FileKind.DATA, 1, 2, 0, 4096))
          .file(entry(FileKind.HASH, 0, 1L << 40, Long.MIN_VALUE, 1L << 52))
          .build();

  @Test
  void whatWasWrittenIsRead() throws Exception {
    Manifest read = Manifest.decode(PATH, MANIFEST.encode());
    assertThat(read.number("records")).isEqualTo(17);
    assertThat(read.text("layout")).isEqualTo("blocked");
    assertThat(read.text("empty")).isEmpty();
    assertThat(read.number("big")).isEqualTo(Long.MAX_VALUE);
    assertThat(read.files()).isEqualTo(MANIFEST.files());
    assertThat(read.files(FileKind.DATA)).hasSize(2);
    assertThat(read.files(FileKind.DICTIONARY)).isEmpty();
    assertThat(read.encode()).isEqualTo(MANIFEST.encode());
  }

  @Test
  void theTextIsThis() {
    assertThat(new String(MANIFEST.encode(), StandardCharsets.UTF_8))
        .isEqualTo(
            """
            records=17
            layout=blocked
            empty=
            big=9223372036854775807
            file=data 0 3 ffffffffffffffff 4100
            file=data 1 2 0 4096
            file=hash 0 1099511627776 8000000000000000 4503599627370496
            """);
  }

  @Test
  void contentHashesFollowTheFilesInTheirOrder() throws Exception {
    String first = "0123456789abcdef".repeat(4);
    String second = "fedcba9876543210".repeat(4);
    String text =
        "records=1\nfile=data 0 3 ff 4100\nfile=index 0 3 0 8192\n"
            + ("file.sha256=" + first + "\nfile.sha256=" + second + "\n");
    Manifest read = Manifest.decode(PATH, text.getBytes(StandardCharsets.UTF_8));
    assertThat(read.files().stream().map(Manifest.FileEntry::sha256))
        .isEqualTo(List.of(first, second));
    assertThat(new String(read.encode(), StandardCharsets.UTF_8)).isEqualTo(text);
  }

  @Test
  void namesCarryKindNumberAndDatabase() {
    DatabaseId id = DatabaseId.derive(new byte[0]);
    assertThat(MANIFEST.files().stream().map(file -> file.name(id)))
        .isEqualTo(
            List.of("data-000-e3b0c442.bsdb", "data-001-e3b0c442.bsdb", "hash-e3b0c442.bsdb"));
  }

  @Test
  void payloadBytesLeaveHeadersAndChecksumsOut() {
    assertThat(entry(FileKind.DATA, 0, 3, 0, 4096).payloadBytes()).isZero();
    assertThat(entry(FileKind.DATA, 0, 3, 0, 4097).payloadBytes()).isOne();
    assertThat(entry(FileKind.DATA, 0, 3, 0, 8192).payloadBytes()).isEqualTo(4092);
    assertThat(entry(FileKind.DATA, 0, 3, 0, 8193).payloadBytes()).isEqualTo(4093);
  }

  @Test
  void aFactStandsOnce() {
    Manifest.Builder builder = new Manifest.Builder().put("records", 1);
    assertThatThrownBy(() -> builder.put("records", 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "records",
        "file=data",
        "file=data 0 1 0",
        "file=data x 1 0 0",
        "file=data 0 x 0 0",
        "file=data 0 1 xyz 0",
        "file=data 0 1 0 x",
        "file=data 0 99999999999999999999 0 0",
        "records=1\n\nlayout=blocked",
        "file=data 0 3 0 4100\nfile.sha256=" + HASH + "\nfile.sha256=" + HASH,
        "file=data 0 3 0 4100\nfile=data 1 3 0 4100\nfile.sha256=" + HASH,
        "file.sha256=" + HASH,
        "file=data 0 3 0 4100\nfile.sha256=0" + HASH,
        "file=data 0 3 0 4100\nfile.sha256=",
        "file=data 0 3 0 4100\nfile.sha256=ABCDEFabcdefabcdef01234567890123456789abcdef01234567890123456789"
      })
  void anythingElseIsDamage(String text) {
    assertThatThrownBy(() -> Manifest.decode(PATH, text.getBytes(StandardCharsets.UTF_8)))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining("manifest.bsdb");
  }

  @Test
  void anUnknownKindOfFileIsNewerAndNotDamaged() {
    byte[] text = "format=1\nfile=novel 0 2 0 4096\n".getBytes(StandardCharsets.UTF_8);
    assertThatThrownBy(() -> Manifest.decode(PATH, text))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("a file of the kind \"novel\"")
        .hasMessageContaining("filter, order");
  }
}
