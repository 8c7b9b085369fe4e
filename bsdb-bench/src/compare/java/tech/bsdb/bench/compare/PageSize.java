package tech.bsdb.bench.compare;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/**
 * The size of the pages in which files lie in the page cache. Linux chooses it by the size of the
 * write that brings a part of a file there.
 */
enum PageSize {
  HUGE(2 << 20),
  SMALL(4 << 10);

  private final int bytes;

  PageSize(int bytes) {
    this.bytes = bytes;
  }

  static PageSize named(String name) {
    return switch (name) {
      case "huge" -> HUGE;
      case "small" -> SMALL;
      default -> throw new IllegalArgumentException("pages are huge or small, not " + name);
    };
  }

  /**
   * Copies all files of a directory, in writes of one page each, and forces them to the device.
   *
   * @param to the same directory, to replace each file by its copy, or another one
   */
  void copy(Path from, Path to) throws IOException {
    List<Path> files;
    try (Stream<Path> walk = Files.walk(from)) {
      files = walk.filter(Files::isRegularFile).toList();
    }
    for (Path file : files) {
      Path target = to.resolve(from.relativize(file));
      Path part = target.resolveSibling(target.getFileName() + ".copy");
      Files.createDirectories(part.resolveSibling(""));
      copyFile(file, part);
      Files.move(part, target, StandardCopyOption.REPLACE_EXISTING);
    }
  }

  private void copyFile(Path from, Path to) throws IOException {
    ByteBuffer page = ByteBuffer.allocateDirect(bytes);
    try (FileChannel in = FileChannel.open(from, StandardOpenOption.READ);
        FileChannel out =
            FileChannel.open(
                to,
                StandardOpenOption.CREATE,
                StandardOpenOption.TRUNCATE_EXISTING,
                StandardOpenOption.WRITE)) {
      for (boolean more = true; more; page.clear()) {
        while (more && page.hasRemaining()) {
          more = in.read(page) >= 0;
        }
        page.flip();
        while (page.hasRemaining()) {
          out.write(page);
        }
      }
      out.force(false);
    }
  }
}
