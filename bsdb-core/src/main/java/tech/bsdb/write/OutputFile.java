package tech.bsdb.write;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivateKey;
import org.jspecify.annotations.Nullable;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.FileFrame;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.Manifest;
import tech.bsdb.format.ManifestFile;
import tech.bsdb.format.ManifestSignature;
import tech.bsdb.format.Page;
import tech.bsdb.format.PageEncoder;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.io.SequentialFile;

/**
 * A file of a database being built. Its pages are written first; its footer, header and final name
 * follow once the database id is known. Not thread-safe, except for {@link #force}.
 */
public final class OutputFile implements Closeable {
  /** Pages between two looks at whether there is something to hash. */
  private static final int BETWEEN_LOOKS = 256;

  private final FileIdentity identity;
  private final SequentialFile file;
  private final PageEncoder pages;
  private final TrailingHash hash;

  /** Creates the file in a directory. The caller closes the buffer, after this file. */
  public OutputFile(Path directory, FileIdentity identity, ChunkBuffer chunk) throws IOException {
    this(
        identity,
        new SequentialFile(
            directory.resolve(identity.kind().label() + "-" + identity.number() + ".part"), chunk));
  }

  /** Takes over a file that is still empty. */
  OutputFile(FileIdentity identity, SequentialFile file) throws IOException {
    this.identity = identity;
    this.file = file;
    this.hash = new TrailingHash(file);
    this.pages = new PageEncoder(this::write, identity);
    try {
      file.write(new byte[Page.SIZE], 0, Page.SIZE); // may write out another file's bytes
    } catch (IOException | RuntimeException | Error e) {
      try {
        close();
      } catch (IOException | RuntimeException closing) {
        e.addSuppressed(closing);
      }
      throw e;
    }
  }

  private void write(byte[] page, int offset, int length) throws IOException {
    file.write(page, offset, length);
    if (pages.pages() % BETWEEN_LOOKS == 0) {
      hash.advance(file.written());
    }
  }

  /** The encoder for the file's content. */
  public PageEncoder pages() {
    return pages;
  }

  /** Finishes the content: pads the last page and hands everything to the operating system. */
  public void finish() throws IOException {
    pages.pad();
    file.flush();
    hash.advance(file.written());
  }

  /** The temporary path, before the file gets its final name. */
  public Path path() {
    return file.path();
  }

  /** Forces flushed content to the device; another thread may write meanwhile. */
  public void force() throws IOException {
    file.force();
  }

  /** The file's manifest entry, once its content is hashed; the content must be finished. */
  public Manifest.FileEntry entry(long end) throws IOException {
    String content = hash.finish(file.written());
    return new Manifest.FileEntry(identity, pages.pages() + 1, pages.digest(), end, content);
  }

  /** Writes header and footer, forces the file to the device and renames it to its final name. */
  public void seal(DatabaseId id, String name) throws IOException {
    seal(id, name, true);
  }

  /** Does the same, but forces the file only if it is lasting. */
  void seal(DatabaseId id, String name, boolean lasting) throws IOException {
    FileFrame frame = new FileFrame(identity, id, pages.pages() + 1, pages.digest());
    file.write(frame.footer(), 0, Page.SIZE);
    file.rewriteStart(frame.header());
    if (lasting) {
      file.force();
    }
    file.close();
    Files.move(file.path(), file.path().resolveSibling(name));
  }

  /**
   * Writes the manifest of a directory, and gives it its final name.
   *
   * @param text its content
   * @param key signs it, unless it is null
   * @param lasting whether to force it to the device before
   * @return the length of the file
   */
  static long writeManifest(
      Path directory, byte[] text, @Nullable PrivateKey key, ChunkBuffer chunk, boolean lasting)
      throws IOException {
    byte[] unsigned = ManifestFile.encode(text);
    byte[] bytes = key == null ? unsigned : ManifestSignature.sign(unsigned, key);
    SequentialFile file = new SequentialFile(directory.resolve("manifest-0.part"), chunk);
    try {
      try (file) {
        file.write(bytes, 0, bytes.length);
        file.flush();
        if (lasting) {
          file.force();
        }
      }
      Files.move(file.path(), directory.resolve(Manifest.FILE_NAME));
    } finally {
      Files.deleteIfExists(file.path());
    }
    return bytes.length;
  }

  /** Closes the file and deletes it unless it was sealed. */
  @Override
  public void close() throws IOException {
    Path path = file.path();
    hash.close();
    try {
      file.close();
    } catch (IOException | RuntimeException e) {
      try {
        Files.deleteIfExists(path);
      } catch (IOException deleting) {
        e.addSuppressed(deleting);
      }
      throw e;
    }
    Files.deleteIfExists(path);
  }
}
