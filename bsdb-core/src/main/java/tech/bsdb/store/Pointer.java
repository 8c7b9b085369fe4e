package tech.bsdb.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The content of a store's file {@code CURRENT}: a name a line, the first one current, the others
 * those that rollbacks go back to, the nearest first. A file that was written by hand may have one
 * line only; a symbolic link to a version's directory stands for one line, too.
 *
 * @param current the name of the current version
 * @param chain the names that rollbacks go back to, the nearest first
 * @param whole whether the file ended with a line's end, so that it was surely written to its end
 */
record Pointer(String current, List<String> chain, boolean whole) {
  static final String FILE = "CURRENT";

  /** The file that becomes {@code CURRENT}. */
  static final String NEXT_FILE = ".CURRENT.new";

  private static final int LONGEST_CHAIN = 100;
  private static final int MOST_BYTES = 1 << 16;

  static Pointer to(String current) {
    return new Pointer(current, List.of(), true);
  }

  /** Reads the pointer of a store; null if there is none, or none that names a version. */
  static @Nullable Pointer read(Path store) throws IOException {
    Path file = store.resolve(FILE);
    if (Files.isSymbolicLink(file) && Files.isDirectory(file)) {
      String name = String.valueOf(Files.readSymbolicLink(file).getFileName());
      return VersionName.isValid(name) ? to(name) : null;
    }
    if (Files.isDirectory(file)) {
      throw new FileSystemException(
          file.toString(), null, "is a directory, not a file that names a version");
    }
    byte[] bytes;
    try (InputStream in = Files.newInputStream(file)) {
      bytes = in.readNBytes(MOST_BYTES);
    } catch (NoSuchFileException e) {
      return null;
    }
    return decode(new String(bytes, StandardCharsets.UTF_8));
  }

  static @Nullable Pointer decode(String text) {
    List<String> names = new ArrayList<>();
    for (String line : text.split("\n", -1)) {
      names.add(line.strip());
    }
    String current = names.remove(0);
    if (!VersionName.isValid(current)) {
      return null;
    }
    names.removeIf(name -> !VersionName.isValid(name));
    return new Pointer(current, List.copyOf(names), text.endsWith("\n"));
  }

  String encode() {
    return current + "\n" + (chain.isEmpty() ? "" : String.join("\n", chain) + "\n");
  }

  /** A version goes live: a rollback goes back to the one that was current. */
  Pointer pushed(String next) {
    List<String> names = new ArrayList<>();
    names.add(current);
    names.addAll(chain);
    names.removeIf(next::equals);
    return new Pointer(
        next, List.copyOf(names.subList(0, Math.min(LONGEST_CHAIN, names.size()))), true);
  }

  /** Goes back to a version: what came after it in the chain is forgotten. */
  Pointer backTo(String version) {
    int place = chain.indexOf(version);
    return place < 0
        ? pushed(version)
        : new Pointer(version, chain.subList(place + 1, chain.size()), true);
  }

  /**
   * Makes this the pointer of a store, at once and lastingly; the caller holds the switch.
   *
   * @return null, or why the directory could not be synced after the switch, so that a power cut
   *     may undo it
   */
  @Nullable IOException write(Path store) throws IOException {
    Path next = store.resolve(NEXT_FILE);
    try {
      try (FileChannel channel =
          FileChannel.open(
              next,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              StandardOpenOption.WRITE)) {
        ByteBuffer bytes = ByteBuffer.wrap(encode().getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
          channel.write(bytes);
        }
        channel.force(true);
      }
      Files.move(next, store.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(next);
      throw e;
    }
    try {
      Directories.force(store);
      return null;
    } catch (IOException e) {
      return e;
    }
  }
}
