package tech.bsdb.check;

import java.io.IOException;
import java.util.function.LongConsumer;
import tech.bsdb.directory.ArrivingPages;
import tech.bsdb.directory.DatabaseDirectory;
import tech.bsdb.directory.HeldFiles;
import tech.bsdb.format.Manifest.FileEntry;
import tech.bsdb.format.Page;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/**
 * The pages of a file, all of which are verified once, from front to back: while they are read, so
 * that a scan and this read them together. Not thread-safe.
 */
final class VerifiedPages implements PageSource {
  /** Is shown each page but the first and the last once it is verified. */
  @FunctionalInterface
  interface Visitor {
    void visit(Window window, int offset, long page) throws IOException;
  }

  private final PageSource source;
  private final FileEntry entry;
  private final ArrivingPages verified;
  private final LongConsumer follower;
  private final Visitor visitor;
  private final Window own = new Window();
  private final byte[] bytes = new byte[Page.SIZE];

  /**
   * Opens a file.
   *
   * @param files all files of its database
   * @param follower receives how many more pages were verified
   */
  VerifiedPages(
      HeldFiles files,
      DatabaseDirectory directory,
      FileEntry entry,
      LongConsumer follower,
      Visitor visitor) {
    this.source = files.view(entry);
    this.entry = entry;
    this.verified =
        new ArrivingPages(
            directory.file(entry),
            directory.location(directory.file(entry)),
            entry,
            directory.id());
    this.follower = follower;
    this.visitor = visitor;
  }

  @Override
  public void read(long first, int count, Window window) throws IOException {
    verifyTo(first);
    source.read(first, count, window);
    accept(first, count, window);
  }

  @Override
  public void soon(long first, long count) {
    long from = Math.min(first, verified.verified());
    source.soon(from, first + count - from);
  }

  /** Reads and verifies the pages that were not read. */
  void finish() throws IOException {
    soon(verified.verified(), entry.pages() - verified.verified());
    verifyTo(entry.pages());
  }

  private void verifyTo(long end) throws IOException {
    while (verified.verified() < end) {
      long first = verified.verified();
      int count = (int) Math.min(MAX_RUN, end - first);
      source.read(first, count, own);
      accept(first, count, own);
    }
  }

  private void accept(long first, int count, Window window) throws IOException {
    long before = verified.verified();
    for (long page = before; page < first + count; page++) {
      int offset = window.offset() + (int) (page - first) * Page.SIZE;
      window.buffer().get(offset, bytes);
      verified.accept(bytes, 0);
      if (page > 0 && page < entry.pages() - 1) {
        visitor.visit(window, offset, page);
      }
    }
    if (verified.verified() > before) {
      follower.accept(verified.verified() - before);
    }
  }

  @Override
  public void close() throws IOException {
    source.close();
  }
}
