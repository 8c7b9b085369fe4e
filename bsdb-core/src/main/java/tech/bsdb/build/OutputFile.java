package tech.bsdb.build;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.SequentialFile;

/**
 * A file of a database that is being built: its pages are written first, its header, its footer and
 * its name when the database's id is known. Not thread-safe, but for {@link #force}.
 */
public final class OutputFile implements Closeable {
  private final FileIdentity identity;
  private final SequentialFile file;
  private final PageEncoder pages;

  /** Creates the file in a directory; its buffer is the caller's to close, after this. */
  public OutputFile(Path directory, FileIdentity identity, ChunkBuffer chunk) throws IOException {
    this.identity = identity;
    this.file =
        new SequentialFile(
            directory.resolve(identity.kind().label() + "-" + identity.number() + ".part"), chunk);
    this.pages = new PageEncoder(file::write, identity);
    file.write(new byte[Page.SIZE], 0, Page.SIZE);
  }

  /** Takes its content. */
  public PageEncoder pages() {
    return pages;
  }

  /** Ends the content: pads the last page and hands all to the operating system. */
  public void finish() throws IOException {
    pages.pad();
    file.flush();
  }

  /** Its path while it has no name yet. */
  public Path path() {
    return file.path();
  }

  /** Forces what was flushed to the device; other threads may write meanwhile. */
  public void force() throws IOException {
    file.force();
  }

  /** The file as the manifest lists it; its content must be finished. */
  public Manifest.FileEntry entry(long end) {
    return new Manifest.FileEntry(identity, pages.pages() + 1, pages.digest(), end);
  }

  /** Writes header and footer, forces all to the device and gives the file its name. */
  public void seal(DatabaseId id, String name) throws IOException {
    FileFrame frame = new FileFrame(identity, id, pages.pages() + 1, pages.digest());
    file.write(frame.footer(), 0, Page.SIZE);
    file.rewriteStart(frame.header());
    file.force();
    file.close();
    Files.move(file.path(), file.path().resolveSibling(name));
  }

  /** Closes the file, and deletes it unless it was sealed. */
  @Override
  public void close() throws IOException {
    file.close();
    Files.deleteIfExists(file.path());
  }
}
