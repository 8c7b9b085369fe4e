package tech.bsdb.tools.parquet;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.hadoop.example.ExampleParquetWriter;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;

/** Parquet files for tests, written by Parquet's own library. */
public final class Written {
  private Written() {}

  /** Fills a row. */
  @FunctionalInterface
  public interface Row {
    void fill(Group row, int number);
  }

  /** Writes a file of so many rows; the schema is given as Parquet writes it. */
  public static Path file(Path path, String schema, int rows, Row row) throws IOException {
    return file(path, schema, rows, row, writer -> writer);
  }

  /** Writes a file with a writer that is set up. */
  public static Path file(
      Path path,
      String schema,
      int rows,
      Row row,
      UnaryOperator<ExampleParquetWriter.Builder> setUp)
      throws IOException {
    MessageType type = MessageTypeParser.parseMessageType(schema);
    ExampleParquetWriter.Builder builder =
        ExampleParquetWriter.builder(new LocalOutputFile(path))
            .withConf(new PlainParquetConfiguration())
            .withType(type);
    try (ParquetWriter<Group> writer = setUp.apply(builder).build()) {
      for (int i = 0; i < rows; i++) {
        SimpleGroup group = new SimpleGroup(type);
        row.fill(group, i);
        writer.write(group);
      }
    }
    return path;
  }

  /** Writes rows that are there already. */
  public static Path file(Path path, MessageType type, List<Group> rows, boolean secondPages)
      throws IOException {
    try (ParquetWriter<Group> writer =
        ExampleParquetWriter.builder(new LocalOutputFile(path))
            .withConf(new PlainParquetConfiguration())
            .withType(type)
            .withRowGroupSize(4096L)
            .withPageSize(200)
            .withMinRowCountForPageSizeCheck(1)
            .withWriterVersion(
                secondPages
                    ? org.apache.parquet.column.ParquetProperties.WriterVersion.PARQUET_2_0
                    : org.apache.parquet.column.ParquetProperties.WriterVersion.PARQUET_1_0)
            .build()) {
      for (Group row : rows) {
        writer.write(row);
      }
    }
    return path;
  }
}
