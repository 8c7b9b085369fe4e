package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What is ours in a directory, and how directories are made, forced and removed. */
class OwnedNamesTest {
  @TempDir Path directory;

  private static OwnedNames names(boolean links) {
    return new OwnedNames(
        name -> name.endsWith(".x") || name.equals("mark"),
        name -> name.startsWith("d"),
        name -> name.endsWith(".x"),
        links);
  }

  private void write(String... files) throws IOException {
    for (String file : files) {
      Path path = directory.resolve(file);
      Files.createDirectories(path.getParent());
      Files.writeString(path, file);
    }
  }

  private List<String> tree() throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      return all.skip(1).map(each -> directory.relativize(each).toString()).sorted().toList();
    }
  }

  @Test
  void allIsOursOrNot() throws Exception {
    assertThat(names(false).areAllIn(directory)).isTrue();
    write("a.x", "mark", "d1/b.x");
    assertThat(names(false).areAllIn(directory)).isTrue();
    for (String stranger : new String[] {"thesis", "e1/b.x", "d1/mark", "d1/d2/b.x", "d.x/c.y"}) {
      write(stranger);
      assertThat(names(true).areAllIn(directory)).as(stranger).isFalse();
      Files.delete(directory.resolve(stranger));
      DurableFiles.deleteIfEmpty(directory.resolve(stranger).getParent());
      DurableFiles.deleteIfEmpty(directory.resolve("d1/d2"));
    }
    Files.createSymbolicLink(directory.resolve("link.x"), directory.resolve("a.x"));
    assertThat(names(true).areAllIn(directory)).isFalse();
  }

  @Test
  void onlyOursIsDeleted() throws Exception {
    write("a.x", "mark", "thesis", "d1/b.x", "d2/b.x", "d2/mark", "e1/b.x");
    Files.createDirectory(directory.resolve("c.x"));
    Files.createSymbolicLink(directory.resolve("d3"), directory.resolve("e1"));
    Files.createSymbolicLink(directory.resolve("link.x"), directory.resolve("thesis"));
    names(false).deleteIn(directory, "mark");
    assertThat(tree())
        .containsExactly("c.x", "d2", "d2/mark", "d3", "e1", "e1/b.x", "link.x", "mark", "thesis");
    names(true).deleteIn(directory, "");
    assertThat(tree()).containsExactly("c.x", "d2", "d2/mark", "d3", "e1", "e1/b.x", "thesis");
  }

  @Test
  void parentsAreMadeAndRemoved() throws Exception {
    List<Path> made = new ArrayList<>();
    Path deep = directory.resolve("a/b/c");
    Files.createDirectory(directory.resolve("a"));
    DurableFiles.makeDirectories(deep, made);
    assertThat(made).containsExactly(deep, directory.resolve("a/b"));
    Thread.currentThread().interrupt();
    DurableFiles.forceUninterrupted(deep);
    DurableFiles.forceParent(deep);
    assertThatThrownBy(() -> DurableFiles.force(deep))
        .isInstanceOf(ClosedByInterruptException.class);
    assertThat(Thread.interrupted()).isTrue();
    write("a/b/thesis");
    DurableFiles.removeIfEmpty(made);
    assertThat(tree()).containsExactly("a", "a/b", "a/b/thesis");
  }

  @Test
  void aLinkThatLeadsNowhereIsNoParent() throws Exception {
    Path link = Files.createSymbolicLink(directory.resolve("l"), directory.resolve("none"));
    assertThatThrownBy(() -> DurableFiles.makeDirectories(link.resolve("x"), new ArrayList<>()))
        .isInstanceOf(FileAlreadyExistsException.class)
        .hasMessageContaining(link.toString());
  }

  @Test
  void aFileIsWrittenAnew() throws Exception {
    Path file = directory.resolve("file");
    DurableFiles.write(file, new byte[] {1, 2, 3});
    DurableFiles.write(file, new byte[] {4});
    assertThat(file).hasBinaryContent(new byte[] {4});
  }
}
