package tech.bsdb.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@Tag("jdk")
class TouchesTest {
  private static ShownFile file(int bytes) {
    return new ShownFile(new ByteBuffer[] {ByteBuffer.allocate(bytes)}, () -> {});
  }

  @Test
  void placesInTheirFilesAreLoadedAndRemoved() {
    Touches touches = new Touches(List.of(file(100), file(200)), 1);
    for (int i = 0; i < 100; i++) {
      touches.add(0, i);
      touches.add(1, i);
    }
    touches.load();
    for (int i = 0; i < 136; i++) {
      touches.add(1, i);
    }
    touches.loadTwo();
    touches.add(0, 99);
    touches.load(); // none is left of those that were loaded
  }

  @Test
  void placesBeyondTheirFilesAreRefused() {
    Touches touches = new Touches(List.of(file(100), file(200)), 8);
    for (long position : new long[] {100, 1 << 30, 1L << 47, -1}) {
      touches.add(0, position);
      assertThatThrownBy(touches::load).isInstanceOf(IndexOutOfBoundsException.class);
    }
    touches.add(0, 36);
    assertThatThrownBy(touches::loadTwo).isInstanceOf(IndexOutOfBoundsException.class);
    assertThatCode(touches::load).as("after a refusal").doesNotThrowAnyException();
  }

  @Test
  void clearRemovesAllPlaces() {
    Touches touches = new Touches(List.of(file(100)), 8);
    touches.add(0, 100);
    touches.clear();
    touches.load();
    touches.loadTwo();
  }

  @Test
  void placesInFilesThatAreNotInMemoryAreIgnored() {
    List<@Nullable ShownFile> files = Arrays.asList(null, file(100), null);
    Touches touches = new Touches(files, 2);
    for (int i = 0; i < 3; i++) {
      touches.add(0, 1L << 47);
      touches.add(1, 35);
      touches.add(2, 0);
    }
    touches.loadTwo();
    touches.add(2, 7);
    touches.load();
    touches.add(1, 100);
    assertThatThrownBy(touches::load).isInstanceOf(IndexOutOfBoundsException.class);
  }

  /** Only engines whose windows show memory have a file in memory. */
  @Test
  void enginesShowTheirFilesIfTheyAreInMemory(@TempDir Path dir) throws Exception {
    Path path = Files.write(dir.resolve("file"), new byte[3 * PageSource.PAGE]);
    for (Engine engine : List.of(new MappedEngine(), new BufferedEngine())) {
      try (PageSource source = engine.open(path, 3 * PageSource.PAGE)) {
        assertThat(source.shown() != null).as(engine.name()).isEqualTo(engine.showsMemory());
        Touches touches = new Touches(Arrays.asList(source.shown()), 4);
        touches.add(0, 3 * PageSource.PAGE - 65);
        touches.loadTwo();
      }
    }
  }
}
