package tech.bsdb.tools.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.input.InputException;

/** A directory of an object store. */
class ObjectStoreDirectoryTest extends DistantDirectoryContract {
  @Override
  DistantDirectory fresh() throws IOException {
    FaultyStore.reset();
    return DistantDirectory.open("faulty://store/users", FaultyStore.options());
  }

  @Test
  void aFileThatFailsAtAnyStepDoesNotAppear() throws Exception {
    try (DistantDirectory directory = fresh()) {
      for (int step = 1; step <= 5; step++) {
        int failing = step;
        FaultyStore.fail(now -> now == failing);
        assertThatThrownBy(() -> directory.write("f", new ByteArrayInputStream(new byte[600_000])))
            .hasMessageStartingWith("connection reset");
        assertThat(FaultyStore.FILES).isEmpty();
      }
      FaultyStore.repair();
      directory.write("f", new ByteArrayInputStream(new byte[600_000]));
      assertThat(FaultyStore.FILES).containsOnlyKeys("/users/f");
    }
  }

  private static List<String> found(String input) throws IOException {
    FileSourceOptions options =
        new FileSourceOptions(
            null, null, Map.of("fs.s3a.impl", FaultyStore.class.getName()), null, null);
    try (FileSources sources = FileSources.open(options)) {
      return sources.files(List.of(input)).stream().map(SourceFile::name).toList();
    }
  }

  private static void put(String... names) {
    FaultyStore.reset();
    for (String name : names) {
      FaultyStore.FILES.put(name, new byte[1]);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"/dd//p.parquet", "/dd//x/p.parquet", "/dd/x//p.parquet", "/dd//a.parquet"})
  void anObjectWhoseNameHasAnEmptyPartIsRefused(String name) {
    put("/dd/a.parquet", "/dd/x/a.parquet", name);
    assertThatThrownBy(() -> found("s3a://store/dd"))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("has an empty part (//)");
  }

  @Test
  void whatIsHiddenMayHaveAnEmptyPart() throws Exception {
    put("/dd/a.parquet", "/dd/_t//x.parquet");
    assertThat(found("s3a://store/dd")).containsExactly("s3a://store/dd/a.parquet");
  }

  @Test
  void namesWithColonsMatchPatterns() throws Exception {
    put("/d/a:b.parquet", "/d/t=1:2/c.parquet", "/d/_x/c.parquet", "/e/a.parquet");
    assertThat(found("s3a://store/d/*:*"))
        .containsExactly("s3a://store/d/a:b.parquet", "s3a://store/d/t=1:2/c.parquet");
    assertThat(found("s3a://store/{d/t=1:2,e}/*.parquet"))
        .containsExactly("s3a://store/d/t=1:2/c.parquet", "s3a://store/e/a.parquet");
    assertThat(found("s3a://store/d/a:b.parquet")).hasSize(1);
    assertThatThrownBy(() -> found("s3a://store/d/*:z")).hasMessageContaining("no file matches");
  }

  @Test
  void anUnknownSchemeIsExplained() {
    assertThatThrownBy(() -> DistantDirectory.open("s3a://bucket/users", FileSourceOptions.local()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("fetch-s3");
    assertThatThrownBy(() -> DistantDirectory.open("hdfs:///users", FileSourceOptions.local()))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("no name node");
  }
}
