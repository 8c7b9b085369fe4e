package tech.bsdb.store;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import tech.bsdb.BuildOptions;
import tech.bsdb.Truth;

/** Small databases and stores of them, for tests. */
final class Versions {
  private Versions() {}

  /** A database in which every one of 200 keys has the value {@code content}. */
  static Path build(Path target, String content) throws IOException {
    Truth truth = new Truth();
    for (int i = 0; i < 200; i++) {
      truth.add("key-" + i, content);
    }
    truth.build(target, BuildOptions.defaults().withDataFiles(2).withOverwrite(true));
    return target;
  }

  /** A store made by hand: each version's content is its name; the last is current. */
  static Path byHand(Path store, String... names) throws IOException {
    Files.createDirectories(store);
    for (String name : names) {
      build(store.resolve(name), name);
      point(store, name + "\n");
    }
    return store;
  }

  /** Writes CURRENT as a person would. */
  static void point(Path store, String text) throws IOException {
    Files.writeString(store.resolve("CURRENT"), text);
  }

  /** Replaces CURRENT, so that nobody ever finds it empty. */
  static void pointAtOnce(Path store, String text) throws IOException {
    Path written = Files.writeString(store.resolveSibling("CURRENT.next"), text);
    Files.move(written, store.resolve("CURRENT"), StandardCopyOption.ATOMIC_MOVE);
  }

  /** Publishes a database. */
  static String publish(Path database, Path store, String version) throws IOException {
    PublishOptions options = PublishOptions.defaults().withVersion(version);
    try (Publication publication = Publication.of(database, store, options)) {
      publication.begin();
      publication.copy();
      publication.verify();
      if (!publication.goLive(publication.current())) {
        throw new IllegalStateException("somebody else published");
      }
      return publication.version();
    }
  }

  /** The names of a store's versions. */
  static List<String> names(Path store) throws IOException {
    return Store.open(store).versions().stream().map(StoredVersion::name).toList();
  }
}
