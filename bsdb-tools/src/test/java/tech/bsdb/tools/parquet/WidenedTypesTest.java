package tech.bsdb.tools.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import org.apache.parquet.io.api.Binary;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.CommandRun;

/** Columns with other types than those of their files: {@code --int96} and {@code --widen}. */
class WidenedTypesTest {
  private static final long FAR = LocalDate.of(9999, 12, 31).toEpochDay();

  @TempDir Path folder;

  private String path(String name) {
    return folder.resolve(name).toString();
  }

  private void file(String name, String columns, Written.Row row) throws Exception {
    Written.file(folder.resolve(name), "message m { required int32 k; " + columns + " }", 1, row);
  }

  private CommandRun build(String... options) {
    List<String> line =
        new ArrayList<>(List.of("build-parquet", "-o", path("db"), "--overwrite", "-i"));
    line.add(path("a.parquet"));
    if (folder.resolve("b.parquet").toFile().exists()) {
      line.addAll(List.of("-i", path("b.parquet")));
    }
    line.addAll(List.of(options));
    return bsdb(line.toArray(String[]::new));
  }

  private String built(String... options) {
    CommandRun run = build(options);
    assertThat(run.code()).as(run.toString()).isZero();
    return bsdb("scan", "-d", path("db"), "--json").out();
  }

  private static Binary int96(long day, long nanosOfDay) {
    ByteBuffer bytes = ByteBuffer.allocate(12).order(ByteOrder.LITTLE_ENDIAN);
    bytes.putLong(nanosOfDay).putInt((int) day + 2_440_588);
    return Binary.fromConstantByteArray(bytes.array());
  }

  @Test
  void timestampsOf96BitsInMicrosecondsReachAllYears() throws Exception {
    file(
        "a.parquet",
        "required int96 t;",
        (row, i) -> row.append("k", 1).append("t", int96(FAR, 1_999)));

    CommandRun refused = build("-kf", "k");
    assertThat(refused.code()).as(refused.toString()).isEqualTo(2);
    assertThat(refused.err())
        .contains(
            "a timestamp before 1677 or after 2262 (INT96 column t; --int96 micros reads it)");
    String far = "9999-12-31T00:00:00.000001Z";
    assertThat(built("-kf", "k", "--int96", "micros"))
        .isEqualTo("{\"key\":\"1\",\"value\":{\"k\":1,\"t\":\"" + far + "\"}}\n");
    assertThat(bsdb("stat", "-d", path("db"), "--schema").out()).contains("timestamp-micros");
    assertThat(built("-kf", "t", "--value-fields", "k", "--int96", "micros"))
        .isEqualTo("{\"key\":\"" + far + "\",\"value\":{\"k\":1}}\n");
    assertThat(build("-kf", "k", "--int96", "millis").err()).contains("--int96", "nanos or micros");
  }
}
