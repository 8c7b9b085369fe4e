package tech.bsdb.lake.arrow;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.source.SourceFile;
import tech.bsdb.tools.table.TableFile;
import tech.bsdb.tools.table.TableFile.Part;
import tech.bsdb.tools.table.TableFile.Rows;

/** A part has the rows of its batches, with the dictionaries of those before it. */
class ArrowPartsTest {
  @ParameterizedTest
  @ValueSource(strings = {"arrow-deltas.arrows", "arrow-lz4.arrows", "arrow-pyarrow.arrow"})
  void theRowsDoNotDependOnTheParts(String name) throws Exception {
    Path path =
        Path.of(
            Objects.requireNonNull(ArrowPartsTest.class.getResource("/formats/" + name)).toURI());
    try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
      SourceFile source = sources.files(List.of(path.toString())).get(0);
      TableFile whole = ArrowFile.of(source, Long.MAX_VALUE);
      TableFile parts = ArrowFile.of(source, 1);
      assertThat(whole.parts()).hasSize(1);
      assertThat(parts.parts()).hasSizeGreaterThan(1);
      List<List<@Nullable Object>> rows = rows(whole);

      assertThat(rows(parts)).isEqualTo(rows);

      assertThat(rows).hasSize(130);
    }
  }

  private static List<List<@Nullable Object>> rows(TableFile file) throws Exception {
    List<Integer> all = IntStream.range(0, file.columns().size()).boxed().toList();
    List<List<@Nullable Object>> found = new ArrayList<>();
    for (Part part : file.parts()) {
      try (Rows rows = file.open(part, all)) {
        while (rows.next()) {
          List<@Nullable Object> row = new ArrayList<>();
          for (int column : all) {
            row.add(copied(rows.value(column)));
          }
          found.add(row);
        }
      }
    }
    return found;
  }

  /** A value that can be compared. */
  private static @Nullable Object copied(@Nullable Object value) {
    if (value instanceof byte[] bytes) {
      return ByteBuffer.wrap(bytes);
    }
    return value instanceof @Nullable Object[] fields ? Arrays.asList(fields) : value;
  }
}
