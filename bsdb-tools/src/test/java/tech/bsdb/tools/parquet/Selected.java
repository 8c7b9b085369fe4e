package tech.bsdb.tools.parquet;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import tech.bsdb.tools.input.InputListener;
import tech.bsdb.tools.input.InputOptions.OnBadLine;
import tech.bsdb.tools.input.InputReport;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.source.FileSources;
import tech.bsdb.tools.table.TableOptions;
import tech.bsdb.tools.table.TableRecords;
import tech.bsdb.tools.where.Where;

/**
 * The rows that a condition selects, by the column {@code id}.
 *
 * @param ids the ids
 * @param report what was read
 */
record Selected(BitSet ids, InputReport report) {
  /** Reads the rows of a file or a folder for which a condition is true. */
  static Selected of(Path input, String condition) throws Exception {
    TableOptions options =
        new TableOptions(
            List.of(input.toString()),
            List.of("id"),
            null,
            List.of(),
            null,
            true,
            OnBadLine.FAIL,
            null,
            false,
            Integer.MAX_VALUE,
            1,
            TableOptions.Partitions.INFER,
            null,
            null,
            TableOptions.Types.DEFAULT,
            Where.parse(condition));
    BitSet ids = new BitSet();
    try (TableRecords records =
        ParquetRecords.open(options, FileSources.open(FileSourceOptions.local()))) {
      InputReport report =
          records.forEach(
              (key, keyFrom, keyLength, value, valueFrom, valueLength) ->
                  ids.set(Integer.parseInt(new String(key, keyFrom, keyLength, UTF_8))),
              InputListener.NONE);
      return new Selected(ids, report);
    }
  }
}
