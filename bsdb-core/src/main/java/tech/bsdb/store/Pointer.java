package tech.bsdb.store;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tech.bsdb.io.DurableFiles;
import tech.bsdb.transfer.Shipment;

/**
 * The content of a store's file {@code CURRENT}: one name per line, first the current version, then
 * the versions to roll back to, most recent first. A file written by hand may have a single line; a
 * symbolic link to a version's directory counts as a single line. Immutable.
 *
 * @param current the name of the current version
 * @param chain the names of the versions to roll back to, most recent first
 * @param whole whether the file ended with a newline, so that it was certainly written completely
 */
public record Pointer(String current, List<String> chain, boolean whole) {
  /** The name of the file in the directory of the store. */
  public static final String FILE = Shipment.POINTER;

  /** The temporary file that is renamed to {@code CURRENT}. */
  static final String NEXT_FILE = ".CURRENT.new";

  private static final int MAX_CHAIN = 100;

  /** The most bytes of the file that are read. */
  static final int MAX_BYTES = Shipment.MOST_OF_POINTER;

  /** The pointer of a store's first version. */
  public static Pointer to(String current) {
    return new Pointer(current, List.of(), true);
  }

  /** Reads the pointer of a store, or returns null if there is none or it names no version. */
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
      bytes = in.readNBytes(MAX_BYTES);
    } catch (NoSuchFileException e) {
      return null;
    }
    return decode(bytes);
  }

  /** Reads the content of the file; returns null if it names no version. */
  public static @Nullable Pointer decode(byte[] content) {
    return decode(new String(content, StandardCharsets.UTF_8));
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

  /** The content of the file. */
  public byte[] encode() {
    String text = current + "\n" + (chain.isEmpty() ? "" : String.join("\n", chain) + "\n");
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The pointer after a version goes live: a rollback returns to the previously current one. */
  public Pointer pushed(String next) {
    List<String> names = new ArrayList<>();
    names.add(current);
    names.addAll(chain);
    names.removeIf(next::equals);
    return new Pointer(
        next, List.copyOf(names.subList(0, Math.min(MAX_CHAIN, names.size()))), true);
  }

  /** Whether a version is the current one, or one to roll back to. */
  public boolean names(String version) {
    return current.equals(version) || chain.contains(version);
  }

  /** The pointer after a rollback to a version: more recent versions are dropped from the chain. */
  public Pointer backTo(String version) {
    int index = chain.indexOf(version);
    return index < 0
        ? pushed(version)
        : new Pointer(version, chain.subList(index + 1, chain.size()), true);
  }

  /**
   * Writes this as the pointer of a store, atomically and durably. The caller holds the {@link
   * StoreLock#SWITCH} lock.
   *
   * @return null, or why the directory could not be synced after the switch, so that a power cut
   *     may undo it
   */
  @Nullable IOException write(Path store) throws IOException {
    Path next = store.resolve(NEXT_FILE);
    try {
      DurableFiles.write(next, encode());
      Files.move(next, store.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException | RuntimeException e) {
      Files.deleteIfExists(next);
      throw e;
    }
    try {
      DurableFiles.forceUninterrupted(store);
      return null;
    } catch (IOException e) {
      return e;
    }
  }
}
