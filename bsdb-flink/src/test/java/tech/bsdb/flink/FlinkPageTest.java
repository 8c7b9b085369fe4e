package tech.bsdb.flink;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.store.Store;

/** What docs/guides/flink.md shows works as it stands there. */
final class FlinkPageTest {
  private static final Path PAGE = Path.of("../docs/guides/flink.md");
  private static final Pattern BLOCK =
      Pattern.compile("^```(\\w*)\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

  private static LocalFlink flink;

  @TempDir private Path directory;

  @BeforeAll
  static void start() throws Exception {
    flink = new LocalFlink();
  }

  @AfterAll
  static void stop() throws Exception {
    flink.close();
  }

  /** Runs the statements as the SQL client does: a session that changes between the two modes. */
  private static final class PageSession {
    private final StreamTableEnvironment batch;
    private final StreamTableEnvironment stream;
    private StreamTableEnvironment current;

    PageSession() throws Exception {
      batch = flink.batch();
      stream = flink.stream();
      current = stream;
    }

    /** Returns the rows of a query, as they are printed; none of another statement. */
    List<String> run(String statement) throws Exception {
      Matcher set = Pattern.compile("SET '(.*)' = '(.*)'").matcher(statement);
      if (set.matches()) {
        set(set.group(1), set.group(2));
      } else if (statement.startsWith("SELECT")) {
        return LocalFlink.rows(current, statement);
      } else if (statement.startsWith("CREATE")) {
        LocalFlink.run(batch, statement);
        LocalFlink.run(stream, statement);
      } else {
        LocalFlink.run(current, statement); // to its end: table.dml-sync
      }
      return List.of();
    }

    private void set(String option, String value) {
      if (option.equals("execution.runtime-mode")) {
        current = value.equals("batch") ? batch : stream;
      } else {
        // Checkpoints without the pauses of the page.
        String shorter = option.equals("execution.checkpointing.interval") ? "200 ms" : value;
        batch.getConfig().set(option, shorter);
        stream.getConfig().set(option, shorter);
      }
    }
  }

  @Test
  void theStatementsRun() throws Exception {
    List<String> found = new ArrayList<>();
    List<String> shown = new ArrayList<>();
    PageSession session = new PageSession();
    Matcher block = BLOCK.matcher(Files.readString(PAGE));
    while (block.find()) {
      if (block.group(1).equals("sql")) {
        String text = block.group(2).replace("'/tmp/stores", "'" + directory + "/stores");
        for (String statement : text.split(";\n", -1)) {
          if (!statement.isBlank()) {
            found.addAll(session.run(statement.strip()));
          }
        }
      } else {
        block.group(2).lines().filter(line -> line.startsWith("| +I ")).forEach(shown::add);
      }
    }
    assertThat(found).isEqualTo(shown.stream().map(FlinkPageTest::row).toList());
    assertThat(found).hasSize(6);
    assertThat(LocalFlink.contents(directory.resolve("stores/users")))
        .containsExactly(
            "41={\"id\":41,\"name\":\"Ann\",\"age\":31}",
            "42={\"id\":42,\"name\":\"Bob\",\"age\":29}",
            "44={\"id\":44,\"name\":\"Cleo\",\"age\":45}",
            "45={\"id\":45,\"name\":\"Dora\",\"age\":19}");
    Path counts = directory.resolve("stores/order-counts");
    assertThat(LocalFlink.contents(counts)).hasSize(5).contains("42={\"user_id\":42,\"orders\":1}");
    assertThat(Store.open(counts).current()).matches("\\d{8}T\\d{6}Z-[0-9a-f]{6}-(\\d+|end)");
  }

  /** A row as Flink prints it, from its line in a table of the SQL client. */
  private static String row(String line) {
    return Arrays.stream(line.replaceFirst("^\\| \\+I ", "").split("\\|", -1))
        .map(String::strip)
        .filter(cell -> !cell.isEmpty())
        .map(cell -> cell.equals("<NULL>") ? "null" : cell)
        .collect(Collectors.joining(", ", "+I[", "]"));
  }

  /** The tables of the page have all options, and their defaults. */
  @Test
  void theTablesHaveAllOptions() throws Exception {
    String page = Files.readString(PAGE);
    for (ConfigOption<?> option : TableOptions.optional()) {
      Matcher line =
          Pattern.compile("^\\| `" + option.key() + "` \\| (.*) \\| (.*) \\|$", Pattern.MULTILINE)
              .matcher(page);
      assertThat(line.find()).as(option.key()).isTrue();
      if (option.hasDefaultValue()) {
        String value = String.valueOf(option.defaultValue()).replace("PT10S", "10 s");
        assertThat(line.group(2).replace("`", "")).isEqualToIgnoringCase(value);
      }
    }
  }

  /** Messages in the table of the page that are not Flink's stand in the code. */
  @Test
  void theMessagesAreThoseOfTheCode() throws Exception {
    StringBuilder code = new StringBuilder();
    for (String module : List.of("bsdb-flink", "bsdb-tools", "bsdb-core")) {
      try (Stream<Path> files = Files.walk(Path.of("..", module, "src/main/java"))) {
        for (Path file : files.filter(each -> each.toString().endsWith(".java")).toList()) {
          // Literals go on in the next line.
          code.append(Files.readString(file).replaceAll("\"\\s*\\+\\s*\"", ""));
        }
      }
    }
    String page = Files.readString(PAGE);
    String table = page.substring(page.indexOf("| Message |"));
    int checked = 0;
    for (String line : table.lines().skip(2).toList()) {
      if (line.contains("| from Flink: ")) {
        continue;
      }
      Matcher message =
          Pattern.compile("`([^`]*)`").matcher(line.substring(0, line.indexOf(" | ")));
      while (message.find()) {
        for (String part : message.group(1).split("\\s*\\.\\.\\.\\s*", -1)) {
          String written = part.replaceFirst("^[?,:;] *", "");
          assertThat(code.indexOf(written)).as("%s: %s", line, written).isNotNegative();
          checked++;
        }
      }
    }
    assertThat(checked).isGreaterThan(20);
  }
}
