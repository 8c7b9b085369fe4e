package tech.bsdb.store;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The content of a store's file {@code CURRENT}, for stores that are not local directories: the
 * name of the current version, and those of the versions to roll back to. Immutable.
 */
public final class VersionPointer {
  /** The name of the file in the directory of the store. */
  public static final String FILE = Pointer.FILE;

  private final Pointer pointer;

  private VersionPointer(Pointer pointer) {
    this.pointer = pointer;
  }

  /**
   * The pointer of a store's first version.
   *
   * @throws IllegalArgumentException if the name is not one that a version can have
   */
  public static VersionPointer to(String version) {
    return new VersionPointer(Pointer.to(VersionName.checked(version)));
  }

  /** Reads the content of the file; returns null if it names no version. */
  public static @Nullable VersionPointer decode(byte[] content) {
    Pointer pointer = Pointer.decode(new String(content, StandardCharsets.UTF_8));
    return pointer == null ? null : new VersionPointer(pointer);
  }

  /** The content of the file. */
  public byte[] encode() {
    return pointer.encode().getBytes(StandardCharsets.UTF_8);
  }

  /** The name of the current version. */
  public String current() {
    return pointer.current();
  }

  /** The names of the versions to roll back to, most recent first. */
  public List<String> previous() {
    return pointer.chain();
  }

  /**
   * The pointer after another version goes live; a rollback returns to the current one.
   *
   * @throws IllegalArgumentException if the name is not one that a version can have
   */
  public VersionPointer pushed(String version) {
    return new VersionPointer(pointer.pushed(VersionName.checked(version)));
  }

  /** The pointer after a rollback to a version: more recent ones are not rolled back to. */
  public VersionPointer backTo(String version) {
    return new VersionPointer(pointer.backTo(VersionName.checked(version)));
  }

  /** Whether a version can have this name. */
  public static boolean isVersionName(String name) {
    return VersionName.isValid(name);
  }

  /** The name of a version that is published at some time, such as {@code 20261121T151400Z}. */
  public static String nameAt(Instant time) {
    return VersionName.ofTime(time);
  }

  /** The natural order of names: v9 before v10. */
  public static Comparator<String> naturalOrder() {
    return VersionName.NATURAL;
  }
}
