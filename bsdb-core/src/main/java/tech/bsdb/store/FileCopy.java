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

/** Copies or links one file into a new version, forced to the device. */
final class FileCopy {
  private FileCopy() {}

  /** A copy buffer of one huge page, so that the copy lies in huge pages ({@link ChunkBuffer}). */
  static ByteBuffer chunk() {
    return ByteBuffer.allocateDirect(ChunkBuffer.HUGE_PAGE);
  }

  /**
   * Copies the source's current content to an open, empty file and reports each chunk. The copy is
   * written from user space, not by the kernel, so that it lies in huge pages like the output of a
   * build.
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
   * Creates a hard link to a file.
   *
   * @throws IOException if that is impossible, with the reason, such as a different file system
   */
  static void link(Path source, Path target) throws IOException {
    try {
      Files.createLink(target, source.toRealPath());
    } catch (UnsupportedOperationException e) {
      throw new IOException(
          target + ": this file system does not support hard links; omit --link", e);
    } catch (FileSystemException e) {
      String reason = String.valueOf(e.getReason()).toLowerCase(Locale.ROOT);
      if (reason.contains("cross-device") || !sameFileStore(source, target)) {
        throw new IOException(
            source
                + " and the store are on different file systems, so it cannot be hard-linked; omit"
                + " --link",
            e);
      }
      throw new IOException(source + ": cannot be hard-linked (" + reason + "); omit --link", e);
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
