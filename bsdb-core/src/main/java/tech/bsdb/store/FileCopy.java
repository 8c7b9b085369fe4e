package tech.bsdb.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Locale;
import java.util.function.LongConsumer;
import tech.bsdb.io.ChunkBuffer;

/** Brings one file into a new version, to stay: its bytes are forced to the device. */
final class FileCopy {
  private FileCopy() {}

  /** Memory to copy through: as much as makes a huge page of the copy ({@link ChunkBuffer}). */
  static ByteBuffer chunk() {
    return ByteBuffer.allocateDirect(ChunkBuffer.HUGE_PAGE);
  }

  /**
   * Copies what the source has now to an open, empty file, and tells of each chunk. The copy is
   * written by us, not by the kernel, so that it lies in huge pages as what a build wrote.
   */
  static void copy(Path source, FileChannel out, ByteBuffer chunk, LongConsumer more)
      throws IOException {
    try (FileChannel in = FileChannel.open(source, StandardOpenOption.READ)) {
      long left = in.size();
      while (left > 0) {
        int count = (int) Math.min(chunk.capacity(), left);
        chunk.clear().limit(count);
        while (chunk.hasRemaining()) {
          if (in.read(chunk) < 0) {
            throw new IOException(source + ": was cut short while it was copied");
          }
        }
        chunk.flip();
        while (chunk.hasRemaining()) {
          out.write(chunk);
        }
        left -= count;
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
