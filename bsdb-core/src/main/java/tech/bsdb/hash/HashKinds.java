package tech.bsdb.hash;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tech.bsdb.HashAlgorithm;
import tech.bsdb.error.UnsupportedFormatException;
import tech.bsdb.format.Facts;
import tech.bsdb.format.Manifest;

/** The kinds of hash functions that this version reads and builds. */
public final class HashKinds {
  /** The function of Genuzio, Ottaviano and Vigna. */
  public static final HashKind GOV = new Gov3Bucketed();

  /** The function of Groot Koerkamp. */
  public static final HashKind PTR = new Ptr();

  /** All kinds, in the order in which messages name them. */
  static final List<HashKind> ALL = List.of(GOV, PTR);

  private HashKinds() {}

  /** Returns the kind of a function. */
  public static HashKind of(HashAlgorithm algorithm) {
    return switch (algorithm) {
      case GOV -> GOV;
      case PTR -> PTR;
    };
  }

  /** Returns the kind with the given name, or null if this version does not read it. */
  static @Nullable HashKind named(String name) {
    for (HashKind kind : ALL) {
      if (kind.name().equals(name)) {
        return kind;
      }
    }
    return null;
  }

  /**
   * Returns the kind that a manifest names.
   *
   * @param file the manifest's file, which messages name
   * @throws UnsupportedFormatException if this version does not read that kind
   * @throws IllegalArgumentException if the manifest names no kind
   */
  public static HashKind of(Path file, Manifest manifest) throws UnsupportedFormatException {
    String name = Facts.hashKind(manifest);
    HashKind kind = named(name);
    if (kind == null) {
      throw new UnsupportedFormatException(
          file,
          "hash function " + name,
          ALL.stream().map(HashKind::name).collect(Collectors.joining(" or ")));
    }
    return kind;
  }
}
