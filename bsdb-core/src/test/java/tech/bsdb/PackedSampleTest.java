package tech.bsdb;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.directory.DataSet;
import tech.bsdb.directory.DatabaseDirectory;

/** Every way to write a packed database states the sample of its index. */
class PackedSampleTest {
  private static final BuildOptions PACKED = BuildOptions.defaults().withLayout(Layout.PACKED);

  @TempDir Path directory;

  private final SplittableRandom random = Seeds.random("PackedSampleTest");

  private Path build(String name, List<Truth.Entry> records, BuildOptions options)
      throws IOException {
    Truth truth = new Truth();
    records.forEach(record -> truth.add(record.key(), record.value()));
    truth.build(directory.resolve(name), options);
    return directory.resolve(name);
  }

  private static void verify(Path database) throws IOException {
    Database.verify(database, (done, total) -> {});
  }

  @Test
  void aMergeStatesThatOfTheBuild() throws Exception {
    List<Truth.Entry> records = Truth.random(random, 4000, 700).records();
    Path whole = build("whole", records, PACKED.withDataFiles(2));
    Path base = build("base", records.subList(0, 3000), PACKED.withDataFiles(2));
    Path merged = directory.resolve("merged");
    try (Database database = Database.open(base);
        DatabaseBuilder builder = DatabaseBuilder.from(database, merged)) {
      for (Truth.Entry record : records.subList(3000, 4000)) {
        builder.add(record.key(), record.value());
      }
      builder.finish();
    }
    List<String> lines = Forgery.lines(merged);
    assertThat(lines).isEqualTo(Forgery.lines(whole));
    int at = lines.indexOf("packed.spanning=1") + 1;
    assertThat(lines.get(at)).matches("packed\\.sample=-?\\d+( -?\\d+)*");
    verify(merged);
  }

  @Test
  void eachShardStatesItsOwn() throws Exception {
    List<Truth.Entry> records = Truth.random(random, 12_000, 400).records();
    Path set = build("set", records, PACKED.withShards(2));
    assertThat(Forgery.lines(set)).noneMatch(line -> line.startsWith("packed.sample"));
    List<String> samples =
        DataSet.open(set).databases().stream()
            .map(DatabaseDirectory::facts)
            .map(facts -> facts.requireBins().sample())
            .toList();
    assertThat(samples).hasSize(2).doesNotContainNull();
    verify(set);
  }

  @Test
  void compressedAndSmallDatabasesStateNone() throws Exception {
    List<Truth.Entry> records = Truth.random(random, 4000, 700).records();
    for (BuildOptions options :
        new BuildOptions[] {PACKED.withLayout(Layout.PACKED_COMPRESSED), PACKED}) {
      boolean compressed = options.layout().isCompressed();
      Path built =
          build("a" + compressed, compressed ? records : records.subList(0, 2000), options);
      long pages = DataSet.open(built).single().manifest().dataPages();
      assertThat(pages >= 256).isEqualTo(compressed);
      assertThat(Forgery.lines(built)).noneMatch(line -> line.startsWith("packed.sample"));
    }
  }
}
