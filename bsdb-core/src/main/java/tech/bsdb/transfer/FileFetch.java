package tech.bsdb.transfer;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;
import tech.bsdb.directory.ArrivingPages;
import tech.bsdb.error.CorruptDatabaseException;
import tech.bsdb.format.DatabaseId;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.io.ChunkBuffer;
import tech.bsdb.transfer.Tries.Damage;

/**
 * Fetches one file. Every page is verified as it arrives, and only verified pages are written, so
 * that a file cut short at any byte is resumed after its last good page: after a lost connection, a
 * damaged page, or the end of the process.
 */
final class FileFetch {
  private final Origin origin;
  private final String file;
  private final FileEntry entry;
  private final Path target;
  private final Traffic traffic;
  private final TransferOptions options;
  private final ArrivingPages pages;
  private final byte[] chunk;
  private boolean restarted;

  /**
   * Creates a fetch.
   *
   * @param file the file's path at the origin
   * @param entry what the manifest says of it
   * @param id the id of its database
   * @param target the file here, which may hold its first pages
   */
  FileFetch(
      Origin origin,
      String file,
      FileEntry entry,
      DatabaseId id,
      Path target,
      Traffic traffic,
      TransferOptions options) {
    this.origin = origin;
    this.file = file;
    this.entry = entry;
    this.target = target;
    this.traffic = traffic;
    this.options = options;
    this.pages = new ArrivingPages(target, entry, id);
    this.chunk = new byte[(int) Math.min(ChunkBuffer.HUGE_PAGE, entry.length())];
  }

  /** Fetches what is missing, and forces the file to the device. */
  void run() throws IOException {
    removeUnlessOwn();
    try (FileChannel out =
        FileChannel.open(
            target,
            StandardOpenOption.CREATE,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            LinkOption.NOFOLLOW_LINKS)) {
      resume(out);
      if (!pages.complete()) {
        fetch(out);
        traffic.file();
      }
      try {
        out.force(true);
      } catch (IOException e) {
        throw named(target, e);
      }
    }
  }

  /** Adds the file to a failure of the system to write, which does not name it. */
  static IOException named(Path file, IOException failure) {
    if (failure.getClass() != IOException.class) {
      return failure; // it was closed or interrupted, or names the file
    }
    FileSystemException named =
        new FileSystemException(file.toString(), null, failure.getMessage());
    named.initCause(failure);
    return named;
  }

  /**
   * Removes what has the name of the file and must not be written to: anything but a file, and a
   * file that also belongs to a version, whose readers may have mapped it.
   */
  private void removeUnlessOwn() throws IOException {
    if (!Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)) {
      Files.deleteIfExists(target);
      return;
    }
    try {
      Object links = Files.getAttribute(target, "unix:nlink", LinkOption.NOFOLLOW_LINKS);
      if (links instanceof Integer count && count > 1) {
        Files.delete(target);
      }
    } catch (UnsupportedOperationException | IllegalArgumentException noUnix) {
      // nothing tells
    }
  }

  /** Verifies the pages that are here, and drops what follows the last good one. */
  private void resume(FileChannel out) throws IOException {
    long length = Math.min(out.size(), entry.length());
    ByteBuffer buffer = ByteBuffer.wrap(chunk);
    boolean good = true;
    while (good && position() + Page.SIZE <= length) {
      traffic.checkOpen();
      long from = position();
      buffer
          .clear()
          .limit((int) Math.min(chunk.length, length - from >>> Page.SHIFT << Page.SHIFT));
      while (buffer.hasRemaining()) {
        if (out.read(buffer, from + buffer.position()) < 0) {
          throw new EOFException(target + ": was cut short while it was read");
        }
      }
      try {
        verify(buffer.limit());
      } catch (CorruptDatabaseException damaged) {
        good = false; // a power cut, for example; it arrives again
      }
      traffic.resumed(position() - from);
    }
    out.truncate(position());
    out.position(position());
  }

  /** The verified bytes. */
  private long position() {
    return pages.verified() << Page.SHIFT;
  }

  private void verify(int bytes) throws IOException {
    for (int offset = 0; offset + Page.SIZE <= bytes; offset += Page.SIZE) {
      pages.accept(chunk, offset);
    }
  }

  private void fetch(FileChannel out) throws IOException {
    Tries tries = new Tries(origin, file, traffic, options);
    while (true) {
      long before = pages.verified();
      IOException failure = attempt(out);
      if (failure == null) {
        return;
      }
      if (pages.verified() > before) {
        tries.progressed();
      }
      tries.failed(failure);
      if (failure instanceof Damage
          && pages.verified() == before
          && pages.verified() == entry.pages() - 1
          && !restarted) {
        restart(out); // all pages are good, yet they are not those of this digest
      }
    }
  }

  private void restart(FileChannel out) throws IOException {
    restarted = true;
    long written = position();
    pages.restart();
    drop(out, written);
  }

  /** Reads on from the last verified page; returns why it did not come to the end, or null. */
  private @Nullable IOException attempt(FileChannel out) throws IOException {
    traffic.checkOpen();
    try (InputStream in = origin.open(file, position())) {
      while (!pages.complete()) {
        IOException failure = chunk(in, out);
        if (failure != null) {
          return failure;
        }
      }
      return null;
    } catch (Unwritable e) {
      throw named(target, e.cause());
    } catch (IOException e) {
      return pages.complete() ? null : e; // what fails after the last byte does not matter
    }
  }

  /**
   * Reads up to the next multiple of a chunk, verifies and writes it; returns why it was not read
   * whole, or null.
   */
  private @Nullable IOException chunk(InputStream in, FileChannel out) throws IOException {
    long from = position();
    int wanted = (int) Math.min(chunk.length - from % chunk.length, entry.length() - from);
    int filled = 0;
    IOException failure = null;
    try {
      while (filled < wanted && failure == null) {
        traffic.checkOpen();
        int count = in.read(chunk, filled, wanted - filled);
        if (count < 0) {
          failure =
              new EOFException(
                  "it ended after "
                      + (from + filled)
                      + " bytes, but has "
                      + entry.length()
                      + " by its manifest");
        } else {
          filled += count;
          traffic.received(count);
        }
      }
    } catch (IOException e) {
      failure = e;
    }
    try {
      verify(filled);
    } catch (CorruptDatabaseException e) {
      failure = new Damage(e);
    }
    if (position() < from) {
      drop(out, from); // pages of a hash function, whose checksums came last
    } else {
      write(out, (int) (position() - from));
    }
    return failure;
  }

  /** Drops pages that were written and turned out to be damaged. */
  private void drop(FileChannel out, long written) throws Unwritable {
    try {
      out.truncate(position());
      out.position(position());
      traffic.dropped(written - position());
    } catch (IOException e) {
      throw new Unwritable(e);
    }
  }

  private void write(FileChannel out, int bytes) throws Unwritable {
    try {
      ByteBuffer buffer = ByteBuffer.wrap(chunk, 0, bytes);
      while (buffer.hasRemaining()) {
        out.write(buffer);
      }
      traffic.arrived(bytes);
    } catch (IOException e) {
      throw new Unwritable(e);
    }
  }

  /** A failure to write here, which another attempt does not cure. */
  private static final class Unwritable extends IOException {
    private static final long serialVersionUID = 1L;
    private final IOException cause;

    Unwritable(IOException cause) {
      super(cause);
      this.cause = cause;
    }

    IOException cause() {
      return cause;
    }
  }
}
