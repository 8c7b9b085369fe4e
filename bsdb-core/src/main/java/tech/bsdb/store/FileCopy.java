package tech.bsdb.store;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.function.LongConsumer;

/** Brings one file into a new version, to stay: its bytes are forced to the device. */
final class FileCopy {
  private static final long CHUNK = 8 << 20;

  private FileCopy() {}

  /** Copies what the source has now to an open, empty file, and tells of each chunk. */
  static void copy(Path source, FileChannel out, LongConsumer more) throws IOException {
    try (FileChannel in = FileChannel.open(source, StandardOpenOption.READ)) {
      long size = in.size();
      for (long at = 0; at < size; ) {
        long count = in.transferTo(at, Math.min(CHUNK, size - at), out);
        if (count <= 0) {
          throw new IOException(source + ": was cut short while it was copied");
        }
        at += count;
        more.accept(count);
      }
      out.force(true);
    }
  }

  /**
   * Gives a file a second name.
   *
   * @throws IOException that says why it cannot be done, where it is another file system
   */
  static void link(Path source, Path target) throws IOException {
    try {
      Files.createLink(target, source.toRealPath());
    } catch (UnsupportedOperationException e) {
      throw new IOException(target + ": this file system has no hard links; leave --link out", e);
    } catch (FileSystemException e) {
      String reason = String.valueOf(e.getReason()).toLowerCase(Locale.ROOT);
      if (reason.contains("cross-device") || !sameFileStore(source, target)) {
        throw new IOException(
            source
                + " and the store are on different file systems, between which there are no hard"
                + " links; leave --link out",
            e);
      }
      throw new IOException(
          source + ": no hard link can be made of it (" + reason + "); leave --link out", e);
    }
    try (FileChannel channel =
        FileChannel.open(target, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      channel.force(true);
    }
  }

  private static boolean sameFileStore(Path source, Path target) throws IOException {
    Path parent = target.getParent();
    return parent == null || Files.getFileStore(source).equals(Files.getFileStore(parent));
  }
}
