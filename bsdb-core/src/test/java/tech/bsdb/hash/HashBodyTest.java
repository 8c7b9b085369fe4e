package tech.bsdb.hash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Seeds;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.ChecksumTable;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.io.LoadedEngine;

/** Pages of a hash function are verified at their first touch, each of them. */
class HashBodyTest {
  private static final int BODY_PAGES = 4;
  private static final FileIdentity FILE = new FileIdentity(FileKind.HASH, 0);

  @TempDir Path directory;

  private Path path;
  private FileEntry entry;

  @BeforeEach
  void write() throws IOException {
    path = directory.resolve("hash");
    ByteArrayOutputStream file = new ByteArrayOutputStream();
    file.write(new byte[Page.SIZE]); // the header, which a body does not read
    PageEncoder pages = new PageEncoder(file::write, FILE);
    byte[] page = new byte[Page.SIZE];
    ByteBuffer checksums =
        ByteBuffer.allocate(BODY_PAGES * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < BODY_PAGES; i++) {
      Seeds.random("HashBodyTest").nextBytes(page);
      checksums.putInt(pages.putUnsealed(page, 0));
    }
    pages.put(checksums.array(), 0, checksums.capacity());
    pages.pad();
    file.write(new byte[Page.SIZE]); // the footer
    Files.write(path, file.toByteArray());
    long all = ChecksumTable.filePages(BODY_PAGES);
    assertThat(Files.size(path)).isEqualTo(all << Page.SHIFT);
    entry = new FileEntry(FILE, all, pages.digest(), pages.position(), null);
  }

  private void damage(int page) throws IOException {
    byte[] file = Files.readAllBytes(path);
    file[(page << Page.SHIFT) + 100] ^= 1;
    Files.write(path, file);
  }

  private HashBody open(LoadedEngine loader) throws IOException {
    return HashBody.open(path, entry, new PageCheck(path, FILE), true, loader);
  }

  private static void requireDamage(HashBody body, long from, long to, int page) {
    assertThatThrownBy(() -> body.verify(from, to))
        .isInstanceOf(CorruptDatabaseException.class)
        .hasMessageContaining("byte " + (page << Page.SHIFT));
  }

  @Test
  void theSecondPageOfARunIsVerifiedEvenIfTheFirstOneWas() throws Exception {
    damage(2);
    try (HashBody body = open(null)) {
      long border = 2L << Page.SHIFT;
      body.verify(border - 8, border);
      requireDamage(body, border - 8, border + 8, 2);
      requireDamage(body, border - 8, border + 1, 2);
      requireDamage(body, border, border + 1, 2);
      body.verify(border - 8, border);
    }
  }

  @Test
  void theFirstPageOfARunIsVerifiedEvenIfTheSecondOneWas() throws Exception {
    damage(1);
    try (HashBody body = open(null)) {
      long border = 2L << Page.SHIFT;
      body.verify(border, border + 8);
      requireDamage(body, border - 8, border + 8, 1);
    }
  }

  @Test
  void everyPageBetweenIsVerified() throws Exception {
    damage(3);
    try (HashBody body = open(null)) {
      body.verify((1L << Page.SHIFT) + 5, (2L << Page.SHIFT) + 5);
      requireDamage(body, 1L << Page.SHIFT, 5L << Page.SHIFT, 3);
    }
  }

  @Test
  void aBodyThatIsLoadedMustBeTheOneOfTheManifest() throws Exception {
    LoadedEngine loader = new LoadedEngine();
    open(loader).close();
    entry = new FileEntry(FILE, entry.pages(), entry.digest() + 1, entry.end(), null);
    assertThatThrownBy(() -> open(loader)).isInstanceOf(CorruptDatabaseException.class);
    write();
    damage(BODY_PAGES);
    assertThatThrownBy(() -> open(loader)).isInstanceOf(CorruptDatabaseException.class);
  }
}
