package tech.bsdb.lake;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.math.BigDecimal;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tech.bsdb.tools.input.InputException;
import tech.bsdb.tools.source.FileSourceOptions;
import tech.bsdb.tools.table.Table;
import tech.bsdb.tools.table.TableFile;
import tech.bsdb.tools.table.TableFile.BadValueException;
import tech.bsdb.tools.table.TableFile.Part;
import tech.bsdb.tools.table.TableFile.Rows;
import tech.bsdb.tools.table.TableRequest;
import tech.bsdb.tools.table.TableSource;

/** Every value of the files that other projects test their readers with (interop/README.md). */
class OtherWritersTest {
  static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(resources())) {
      return files
          .filter(file -> file.toString().matches(".*\\.(avro|orc|stream|arrow_file)"))
          .sorted()
          .toList();
    }
  }

  private static Path resources() {
    try {
      return Path.of(
          Objects.requireNonNull(OtherWritersTest.class.getResource("/interop")).toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("files")
  void everyValueIsWhatItsWriterMeant(Path file) throws Exception {
    Path expected = file.resolveSibling(file.getFileName() + ".txt");
    String found = read(file);
    if (Boolean.getBoolean("bsdb.write")) {
      Files.writeString(
          Path.of("src/test/resources/interop").resolve(expected.getFileName()), found, UTF_8);
    }
    assertThat(found).isEqualTo(Files.readString(expected));
  }

  private static String read(Path path) throws IOException {
    String name = path.toString();
    String format = name.endsWith(".avro") ? "avro" : name.endsWith(".orc") ? "orc" : "arrow";
    TableRequest request = new TableRequest(Builds.options(name), FileSourceOptions.local(), null);
    StringBuilder text = new StringBuilder();
    try (Table table = TableSource.of(format).open(request)) {
      TableFile file = table.files().get(0);
      file.columns().forEach(column -> text.append(column).append('\n'));
      file.unreadable().forEach((column, why) -> text.append(column + ": " + why + "\n"));
      List<Integer> all = IntStream.range(0, file.columns().size()).boxed().toList();
      for (Part part : file.parts()) {
        try (Rows rows = file.open(part, all)) {
          while (rows.next()) {
            all.forEach(column -> text.append(value(rows, column)).append('|'));
            text.append('\n');
          }
        }
      }
    } catch (InputException refused) {
      String message = String.valueOf(refused.getMessage());
      text.append(message.substring(message.indexOf(": ")));
    } catch (IllegalStateException | NegativeArraySizeException damaged) {
      text.append("damaged: " + damaged.getMessage());
    }
    return text.toString();
  }

  private static String value(Rows rows, int column) {
    try {
      return shown(rows.value(column));
    } catch (BadValueException e) {
      return "bad: " + e.getMessage() + " " + e.detail();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String shown(@Nullable Object value) {
    if (value instanceof byte[] bytes) {
      return HexFormat.of().formatHex(bytes);
    }
    if (value instanceof ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return HexFormat.of().formatHex(bytes);
    }
    if (value instanceof BigDecimal number) {
      return number.toPlainString();
    }
    if (value instanceof @Nullable Object[] fields) {
      List<String> all = new ArrayList<>();
      for (Object field : fields) {
        all.add(shown(field));
      }
      return "{" + String.join(",", all) + "}";
    }
    if (value instanceof List<?> list) {
      return list.stream().map(OtherWritersTest::shown).toList().toString();
    }
    if (value instanceof Map.Entry<?, ?> entry) {
      return shown(entry.getKey()) + "=" + shown(entry.getValue());
    }
    return String.valueOf(value);
  }
}
