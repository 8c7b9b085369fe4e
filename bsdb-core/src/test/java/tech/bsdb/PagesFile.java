package tech.bsdb;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageCheck;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.Engine;

/**
 * A file of pages for the tests of the parts that write and read pages; header and footer are
 * empty.
 */
public final class PagesFile {
  private final Path path;
  private final FileIdentity identity;
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final PageEncoder pages;

  /** Creates a file without pages, which {@link #close} writes. */
  public PagesFile(Path path, FileIdentity identity) {
    this.path = path;
    this.identity = identity;
    this.pages = new PageEncoder(written::write, identity);
    written.writeBytes(new byte[Page.SIZE]);
  }

  /** Receives the pages. */
  public PageEncoder pages() {
    return pages;
  }

  /** The bytes of all pages written so far, the header among them. */
  public byte[] bytes() {
    return written.toByteArray();
  }

  /** Writes the file. */
  public PagesFile close() throws IOException {
    pages.pad();
    written.writeBytes(new byte[Page.SIZE]);
    Files.write(path, written.toByteArray());
    return this;
  }

  /** Replaces the content of the file, which may be damaged. */
  public void replace(byte[] content) throws IOException {
    Files.write(path, content);
  }

  /** Gives a page of changed content a checksum that fits. */
  public void seal(byte[] content, int page) {
    int at = page * Page.SIZE;
    ByteBuffer.wrap(content)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(at + Page.PAYLOAD, Page.checksum(content, at, Page.PAYLOAD, identity, page));
  }

  /** Names the file in messages. */
  public PageCheck check() {
    return new PageCheck(path, identity);
  }

  /** Opens the file as it is. */
  public CheckedPages open(Engine engine, boolean verify) throws IOException {
    long length = Files.size(path);
    PageCheck check = check();
    return new CheckedPages(
        engine.open(path, length),
        length / Page.SIZE,
        verify ? (window, at, page) -> check.check(window.buffer(), at, page) : null);
  }
}
