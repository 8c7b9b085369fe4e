package tech.bsdb.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.zip.CRC32C;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.Forgery;
import tech.bsdb.Layout;
import tech.bsdb.Truth;
import tech.bsdb.VerifyReport;
import tech.bsdb.VerifyScope;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.Page;
import tech.bsdb.transfer.Consignment;
import tech.bsdb.transfer.TransferOptions;

/**
 * A page that somebody changed so that its checksum is still right, and with it the digest and the
 * id, is found by the content hashes, wherever whole files are read.
 */
class ForgedContentTest {
  private static final byte[] KEY = "the key".getBytes(StandardCharsets.UTF_8);

  @TempDir Path directory;

  private Path database;

  @BeforeEach
  void prepare() {
    database = directory.resolve("rdb");
  }

  private void build(Layout layout) throws IOException {
    new Truth()
        .add("the key", "the right value")
        .build(database, BuildOptions.defaults().withLayout(layout));
  }

  /** Changes the value of the only record, and the end of its page. */
  private static void forge(Path database) throws IOException {
    Path file = dataFile(database);
    byte[] bytes = Files.readAllBytes(file);
    int at = new String(bytes, StandardCharsets.ISO_8859_1).indexOf("the right");
    byte[] page = new byte[Page.SIZE];
    System.arraycopy(bytes, Page.SIZE, page, 0, Page.SIZE);
    long checksum = crc(page);
    System.arraycopy(
        "the wrong".getBytes(StandardCharsets.UTF_8),
        0,
        page,
        at - Page.SIZE,
        "the wrong".length());
    patch(page, Page.PAYLOAD - Integer.BYTES, checksum);
    assertThat(crc(page)).isEqualTo(checksum);
    System.arraycopy(page, 0, bytes, Page.SIZE, Page.SIZE);
    Files.write(file, bytes);
  }

  private static Path dataFile(Path database) throws IOException {
    try (var files = Files.list(database)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith("data-"))
          .findFirst()
          .orElseThrow();
    }
  }

  private static long crc(byte[] page) {
    CRC32C crc = new CRC32C();
    crc.update(page, 0, Page.PAYLOAD);
    return crc.getValue();
  }

  /** Chooses four bytes so that the page has a checksum: each bit of them changes it linearly. */
  private static void patch(byte[] page, int at, long checksum) {
    long now = crc(page);
    long[] effects = new long[Integer.SIZE]; // of the bits, reduced
    long[] bits = new long[Integer.SIZE]; // which bits have this effect together
    for (int bit = 0; bit < Integer.SIZE; bit++) {
      page[at + bit / 8] ^= (byte) (1 << bit % 8);
      long effect = crc(page) ^ now;
      page[at + bit / 8] ^= (byte) (1 << bit % 8);
      long which = 1L << bit;
      for (int top = Integer.SIZE - 1; top >= 0; top--) {
        if ((effect >>> top & 1) == 0) {
          continue;
        }
        if (effects[top] == 0) {
          effects[top] = effect;
          bits[top] = which;
          break;
        }
        effect ^= effects[top];
        which ^= bits[top];
      }
    }
    long wanted = now ^ checksum;
    long change = 0;
    for (int top = Integer.SIZE - 1; top >= 0; top--) {
      if ((wanted >>> top & 1) == 1) {
        wanted ^= effects[top];
        change ^= bits[top];
      }
    }
    for (int i = 0; i < Integer.BYTES; i++) {
      page[at + i] ^= (byte) (change >>> 8 * i);
    }
  }

  private static VerifyReport verify(Path path, VerifyScope scope) throws IOException {
    return Database.verify(path, scope, List.of(), (done, total) -> {});
  }

  private void refuses(ThrowingCallable action) throws IOException {
    assertThatThrownBy(action)
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining(dataFile(database).getFileName().toString())
        .hasMessageContaining("content");
  }

  @ParameterizedTest
  @EnumSource(
      value = Layout.class,
      names = {"BLOCKED", "COMPACT", "PACKED"})
  void verificationFindsIt(Layout layout) throws Exception {
    build(layout);
    assertThat(verify(database, VerifyScope.ALL))
        .isEqualTo(new VerifyReport(1, pages(), 4096 * pages(), true, true));
    assertThat(verify(database, VerifyScope.CONTENT))
        .isEqualTo(new VerifyReport(1, pages(), 4096 * pages(), true, false));
    forge(database);
    try (Database opened = Database.open(database)) {
      assertThat(opened.get(KEY))
          .asString()
          .isEqualTo("the wrong value"); // page checksums are right
    }
    refuses(() -> verify(database, VerifyScope.ALL));
    refuses(() -> verify(database, VerifyScope.CONTENT));
  }

  private long pages() throws IOException {
    long bytes = 0;
    try (var files = Files.list(database)) {
      for (Path file : files.toList()) {
        bytes += Files.size(file);
      }
    }
    return bytes / 4096;
  }

  @Test
  void aCopyOfItIsNotPublished() throws Exception {
    build(Layout.PACKED);
    forge(database);
    Path store = directory.resolve("store");
    try (Publication publication = Publication.of(database, store, PublishOptions.defaults())) {
      publication.begin();
      publication.copy();
      assertThatThrownBy(publication::verify).isInstanceOf(CorruptDatabaseException.class);
    }
    assertThat(store).doesNotExist();
  }

  @Test
  void itIsNotPulled() throws Exception {
    build(Layout.PACKED);
    forge(database);
    FolderOrigin origin = new FolderOrigin(database);
    TransferOptions once = TransferOptions.defaults().withAttempts(1, Duration.ofMillis(1));
    try (Publication pull =
        Publication.pull(origin, directory.resolve("store"), PublishOptions.defaults(), once)) {
      pull.begin();
      assertThatThrownBy(pull::copy).hasMessageContaining("content");
    }
  }

  @Test
  void itIsNotPushed() throws Exception {
    build(Layout.PACKED);
    forge(database);
    Consignment consignment = Consignment.of(database);
    refuses(
        () -> {
          for (Consignment.Part part : consignment.files()) {
            try (InputStream in = part.open()) {
              in.readAllBytes();
            }
          }
        });
  }

  @Test
  void anOlderVersionHasNoHashesThatCouldTell() throws Exception {
    build(Layout.PACKED);
    Path older = Files.createDirectory(directory.resolve("older"));
    Forgery.database(database, Forgery.withoutHashes(database), older);
    forge(older);
    assertThat(verify(older, VerifyScope.ALL).contentChecked()).isFalse();
    assertThatThrownBy(() -> verify(older, VerifyScope.CONTENT))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no content hashes");
  }
}
