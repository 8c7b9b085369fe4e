package tech.bsdb.tools.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.CommandRun;

/** Each logical type is read, or passed on as bytes, or refused: none without a decision. */
class LogicalTypesTest {
  private static final String VARIANT =
      "group v (VARIANT(1)) { required binary metadata; optional binary value; }";

  @TempDir Path folder;

  @Test
  void eachTypeOfTheLibraryHasATreatment() {
    List<Class<?>> types = new ArrayList<>();
    for (Class<?> type : LogicalTypeAnnotation.class.getDeclaredClasses()) {
      if (LogicalTypeAnnotation.class.isAssignableFrom(type)) {
        types.add(type);
      }
    }
    assertThat(types).isNotEmpty();
    assertThat(LogicalTypes.ALL.keySet())
        .containsExactlyInAnyOrderElementsOf(
            types.stream()
                .<Class<? extends LogicalTypeAnnotation>>map(LogicalTypesTest::logical)
                .toList());
  }

  private static Class<? extends LogicalTypeAnnotation> logical(Class<?> type) {
    return type.asSubclass(LogicalTypeAnnotation.class);
  }

  private CommandRun build(String... options) {
    List<String> line =
        new ArrayList<>(
            List.of(
                "build-parquet",
                "-i",
                folder.resolve("a.parquet").toString(),
                "-o",
                folder.resolve("db").toString()));
    line.addAll(Arrays.asList(options));
    return bsdb(line.toArray(new String[0]));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "optional " + VARIANT,
        "optional group s { required " + VARIANT + " }",
        "optional group l (LIST) { repeated group list { optional " + VARIANT + " } }",
      })
  void aVariantIsRefused(String column) throws Exception {
    Written.file(
        folder.resolve("a.parquet"),
        "message m { required int32 k; " + column + " }",
        1,
        (row, i) -> row.add("k", 1));

    CommandRun run = build("-kf", "k");
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err())
        .contains("a.parquet: column ", " contains, a VARIANT", "to_json", "--value-fields");
    assertThat(folder.resolve("db")).doesNotExist();
    assertThat(build("-kf", "k", "--value-fields", "k").code()).isZero();
  }

  @Test
  void aPartOfAVariantIsNoKey() throws Exception {
    Written.file(
        folder.resolve("a.parquet"),
        "message m { required int32 k; required " + VARIANT + " }",
        1,
        (row, i) -> {
          row.add("k", 1);
          row.addGroup("v").add("metadata", Binary.fromString("m"));
        });

    CommandRun run = build("-kf", "v.metadata", "--value-fields", "k");
    assertThat(run.code()).as(run.toString()).isEqualTo(2);
    assertThat(run.err()).contains("column v.metadata cannot be a key", "VARIANT");
  }
}
