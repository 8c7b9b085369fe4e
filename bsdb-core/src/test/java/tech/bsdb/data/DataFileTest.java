package tech.bsdb.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.PageCheck;
import tech.bsdb.io.CheckedPages;
import tech.bsdb.io.PageSource;
import tech.bsdb.io.Window;

/** A reader closes all of its files and tells which could not be closed. */
class DataFileTest {
  private final List<Integer> closed = new ArrayList<>();

  private DataFile file(int number) {
    PageSource source =
        new PageSource() {
          @Override
          public void read(long first, int count, Window window) {
            throw new UnsupportedOperationException();
          }

          @Override
          public void close() throws IOException {
            closed.add(number);
            if (number != 1) {
              throw new IOException("file " + number);
            }
          }
        };
    PageCheck place =
        new PageCheck(Path.of("data-" + number), new FileIdentity(FileKind.DATA, number));
    return new DataFile(new CheckedPages(source, 3, null), place, 0);
  }

  @Test
  void everyFailureToCloseIsTold() {
    List<DataFile> files = List.of(file(0), file(1), file(2), file(3));

    Throwable thrown = catchThrowable(() -> DataFile.closeAll(files));

    assertThat(thrown).isInstanceOf(IOException.class).hasMessageContaining("file 0");
    assertThat(thrown.getSuppressed())
        .extracting(Throwable::getMessage)
        .containsExactly("file 2", "file 3");
    assertThat(closed).containsExactly(0, 1, 2, 3);
  }
}
