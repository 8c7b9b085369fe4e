package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tech.bsdb.Database;
import tech.bsdb.Statistics;
import tech.bsdb.io.DurableFiles;

/** Copies or links the files of a database on this machine. */
final class LocalSupply implements Supply {
  private final Path database;
  private final boolean link;
  private @Nullable Statistics source;

  /**
   * Creates a supply without touching any file.
   *
   * @param database the database directory
   * @param link whether files are hard-linked instead of copied
   */
  LocalSupply(Path database, boolean link) {
    this.database = database;
    this.link = link;
  }

  @Override
  public void checkPlace(Path store) throws IOException {
    refuseInside(store, realOrAbsolute(store), database.toString());
  }

  @Override
  public void check(Path store, Runnable checkOpen) throws IOException {
    if (Store.isStore(database)) {
      throw new NotDirectoryException(
          database
              + " is not a database but a store of them; name one of its versions, such as "
              + database.resolve(String.valueOf(Store.open(database).current())));
    }
    Path there = Files.exists(database) ? database.toRealPath() : database;
    Statistics found = Database.statistics(there);
    Path real = realOrAbsolute(store);
    if (real.startsWith(found.directory())) {
      throw new IllegalArgumentException(
          "the store "
              + store
              + " lies inside the database "
              + database
              + "; choose another directory");
    }
    checkPlace(store);
    if (found.directory().startsWith(real)
        && real.relativize(found.directory()).toString().startsWith(".")) {
      throw new IllegalArgumentException(
          "the database " + database + " is a hidden directory of the store; publish another one");
    }
    source = found;
  }

  /**
   * Fails if a store is to be in a database or in another store.
   *
   * @param real its path without links
   * @param source what is to be published
   */
  static void refuseInside(Path store, Path real, String source) throws IOException {
    Path above = real.getParent();
    for (Path path = above; path != null; path = path.getParent()) {
      if (Directories.isDatabase(path)) {
        throw new IllegalArgumentException(
            "the store "
                + store
                + " lies inside the database "
                + path
                + "; choose another directory");
      }
    }
    if (above != null && Store.isStore(above) && Pointer.read(above) != null) {
      throw new IllegalArgumentException(
          "the store "
              + store
              + " lies inside the store "
              + above
              + "; to publish a version of that name: bsdb publish "
              + source
              + " "
              + above
              + " --version "
              + DurableFiles.name(real));
    }
  }

  /** Resolves symbolic links in the part of the path that exists. */
  static Path realOrAbsolute(Path path) throws IOException {
    try {
      return path.toRealPath();
    } catch (NoSuchFileException missing) {
      // resolve the parent instead
    }
    Path parent = path.getParent();
    return parent == null ? path : realOrAbsolute(parent).resolve(DurableFiles.name(path));
  }

  @Override
  public void begin(Path store) {}

  @Override
  public long records() {
    return source().records();
  }

  @Override
  public String id() {
    return source().databaseId();
  }

  private Statistics source() {
    return Objects.requireNonNull(source, "check first");
  }

  @Override
  public List<Piece> pieces() {
    List<Piece> pieces = new ArrayList<>();
    source()
        .fileBytes()
        .forEach(
            (name, bytes) -> {
              Path file = source().directory().resolve(name);
              pieces.add(new Piece(name, file, link ? How.LINK : How.COPY, bytes));
            });
    return pieces;
  }

  @Override
  public long bytes() {
    return source().databaseBytes();
  }

  /**
   * The manifest is copied last; if its id differs, the files copied before belong to another
   * database.
   */
  @Override
  public void checkCopy(Path version) throws IOException {
    try {
      if (Database.statistics(version).databaseId().equals(id())) {
        return;
      }
    } catch (IOException e) {
      throw explained(e);
    }
    if (isReplaced()) {
      throw replaced(null);
    }
  }

  @Override
  public IOException explained(IOException failure) {
    return isReplaced() ? replaced(failure) : failure;
  }

  private boolean isReplaced() {
    try {
      return !Database.statistics(database).databaseId().equals(id());
    } catch (IOException unreadable) {
      return false;
    }
  }

  private IOException replaced(@Nullable IOException cause) {
    return new IOException(
        database + ": the database was replaced while it was copied; publish again", cause);
  }
}
