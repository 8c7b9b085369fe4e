package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.input.Batch;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.parquet.ParquetFile.RowGroup;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.table.Agreement;
import tech.bsdb.tools.table.RowPipeline;
import tech.bsdb.tools.table.RowPipeline.Task;
import tech.bsdb.tools.table.TableOptions;

/** Order and ends of the pipeline, whatever memory and threads it has. */
@Timeout(60)
class RowPipelineTest {
  private static final int ROWS = 40_000;

  private static @TempDir Path folder;
  private static ParquetFile file;
  private static TableOptions options;

  @BeforeAll
  static void write() throws IOException {
    Path path =
        Written.file(
            folder.resolve("rows.parquet"),
            "message rows { required int32 id; }",
            ROWS,
            (row, i) -> row.add("id", i),
            writer -> writer.withRowGroupSize(8_000L).withPageSize(1_000));
    options =
        new TableOptions(
            List.of(path.toString()),
            List.of("id"),
            null,
            List.of(),
            null,
            true,
            OnBadLine.FAIL,
            null,
            false,
            Integer.MAX_VALUE,
            3,
            TableOptions.Partitions.INFER,
            null,
            null,
            TableOptions.Types.DEFAULT,
            null);
    try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
      file = ParquetFile.of(sources.files(options.inputs()).get(0), options, Map.of());
    }
    assertThat(file.rowGroups()).hasSizeGreaterThan(5);
  }

  private static RowPipeline<RowReader.Part> pipeline(
      List<String> keys, int threads, long maxHeld) {
    List<Task<RowReader.Part>> tasks = new ArrayList<>();
    for (RowGroup group : file.rowGroups()) {
      tasks.add(new Task<>(tasks.size(), 0, new RowReader.Part(file, group), group.bytes(), false));
    }
    return new RowPipeline<>(
        tasks,
        () -> new RowReader(options, new Agreement(List.of(), List.of(), List.of()), null),
        () ->
            Batch.copying(
                (key, keyFrom, keyLength, value, valueFrom, valueLength) ->
                    keys.add(new String(key, keyFrom, keyLength, UTF_8))),
        threads,
        maxHeld);
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "1, 1000000000", "4, 0", "4, 5000", "4, 1000000000", "30, 20000"})
  void rowsComeInTheirOrder(int threads, long maxHeld) throws Exception {
    List<String> keys = new ArrayList<>();
    long[] next = {0};
    pipeline(keys, threads, maxHeld)
        .run(
            (number, batch) -> {
              assertThat(batch.firstRow()).isEqualTo(next[0]);
              next[0] += batch.units();
              batch.records().handOn();
            });
    assertThat(keys).isEqualTo(IntStream.range(0, ROWS).mapToObj(String::valueOf).toList());
  }

  @ParameterizedTest
  @CsvSource({"1, 0", "4, 0", "4, 1000000000"})
  void whatTheTakerThrowsEndsItAndItsThreads(int threads, long maxHeld) {
    List<String> keys = new ArrayList<>();
    assertThatThrownBy(
            () ->
                pipeline(keys, threads, maxHeld)
                    .run(
                        (number, batch) -> {
                          if (batch.firstRow() > ROWS / 2) {
                            throw new IOException("no more");
                          }
                        }))
        .hasMessage("no more");
    assertNoThreads();
  }

  @Test
  void itIsStoppedFromAnotherThread() {
    RowPipeline<RowReader.Part> pipeline = pipeline(new ArrayList<>(), 3, 0);
    assertThatThrownBy(
            () ->
                pipeline.run(
                    (number, batch) -> {
                      Thread stopper = new Thread(pipeline::stop);
                      stopper.start();
                      try {
                        stopper.join();
                      } catch (InterruptedException e) {
                        throw new IOException(e);
                      }
                    }))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("stopped");
    assertNoThreads();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFileThatIsWrittenToWhileItIsReadIsNamed(boolean sameLength) throws Exception {
    Path copy = Files.copy(Path.of(file.name()), folder.resolve("copy" + sameLength));
    ParquetFile read;
    try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
      read = ParquetFile.of(sources.files(List.of(copy.toString())).get(0), options, Map.of());
    }
    byte[] bytes = Files.readAllBytes(copy);
    Files.write(copy, sameLength ? bytes : Arrays.copyOf(bytes, bytes.length + 1));
    Files.setLastModifiedTime(copy, FileTime.fromMillis(1));
    RowGroup group = read.rowGroups().get(0);
    RowPipeline<RowReader.Part> pipeline =
        new RowPipeline<>(
            List.of(new Task<>(0, 0, new RowReader.Part(read, group), group.bytes(), false)),
            () -> new RowReader(options, new Agreement(List.of(), List.of(), List.of()), null),
            () -> Batch.copying((key, keyFrom, keyLength, value, valueFrom, valueLength) -> {}),
            1,
            0);
    assertThatThrownBy(() -> pipeline.run((number, batch) -> batch.records().handOn()))
        .isInstanceOf(InputException.class)
        .hasMessage(copy + ": was changed while it was read; build again");
  }

  private static void assertNoThreads() {
    assertThat(Thread.getAllStackTraces().keySet())
        .noneMatch(thread -> thread.getName().startsWith("bsdb-rows-"));
  }
}
