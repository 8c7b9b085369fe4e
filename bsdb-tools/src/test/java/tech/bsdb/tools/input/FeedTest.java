package tech.bsdb.tools.input;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.BuildOptions;
import tech.bsdb.Database;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.error.DuplicateKeyException;

/** From text to a database. */
final class FeedTest {
  @TempDir Path directory;

  @Test
  void recordsReadCanBeLookedUp() throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 20_000; i++) {
      text.append("key").append(i).append(" value").append(i).append('\n');
    }
    Path file = Readings.file(directory, "in", text + "large " + "x".repeat(200_000));
    Path target = directory.resolve("db");
    try (Input input = Input.open(Readings.of(file), 1000, 1 << 20);
        DatabaseBuilder builder = DatabaseBuilder.create(target, BuildOptions.defaults())) {
      assertThat(input.sample(builder, 100)).isBetween(50, 100);
      assertThat(input.feed(builder, InputListener.NONE).records()).isEqualTo(20_001);
      builder.finish();
    }
    try (Database database = Database.open(target)) {
      for (int i = 0; i < 20_000; i++) {
        assertThat(database.get(("key" + i).getBytes(UTF_8)))
            .isEqualTo(("value" + i).getBytes(UTF_8));
      }
      assertThat(database.get("large".getBytes(UTF_8))).hasSize(200_000);
      assertThat(database.get("absent".getBytes(UTF_8))).isNull();
    }
  }

  @Test
  void bothPlacesOfADuplicateAreKnown() throws IOException {
    Path file = Readings.file(directory, "in", "a 1\n\nb 2\nc 3\nb 4\n");
    try (Input input = Input.open(Readings.skipping(file));
        DatabaseBuilder builder =
            DatabaseBuilder.create(directory.resolve("db"), BuildOptions.defaults())) {
      assertThatThrownBy(
              () -> {
                input.feed(builder, InputListener.NONE);
                builder.finish();
              })
          .isInstanceOfSatisfying(
              DuplicateKeyException.class,
              duplicate -> {
                assertThat(input.place(duplicate.first())).isEqualTo(file + ":3");
                assertThat(input.place(duplicate.second())).isEqualTo(file + ":5");
              });
    }
  }
}
