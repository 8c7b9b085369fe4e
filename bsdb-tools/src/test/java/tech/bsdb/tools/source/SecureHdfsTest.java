package tech.bsdb.tools.source;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;
import tech.bsdb.tools.parquet.Written;

/** {@code build-parquet} from a real HDFS with Kerberos, both in processes of their own. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@Tag("nightly")
class SecureHdfsTest {
  private static final int ROWS = 5000;

  @TempDir static Path folder;

  private static Process cluster;

  @BeforeAll
  static void start() throws Exception {
    Files.createDirectory(folder.resolve("data"));
    for (int file = 0; file < 2; file++) {
      int first = file * ROWS;
      Written.file(
          folder.resolve("data/part-" + file + ".parquet"),
          "message row { required int64 id; optional binary name (STRING); }",
          ROWS,
          (row, i) -> row.append("id", (long) first + i).append("name", "name " + (first + i)));
    }
    cluster = java("", SecureHdfs.class, folder.toString());
    BufferedReader out = new BufferedReader(new InputStreamReader(cluster.getInputStream(), UTF_8));
    String line = out.readLine();
    while (line != null && !line.equals("ready")) {
      line = out.readLine();
    }
    assertThat(line).isEqualTo("ready");
    // keys under names that are not theirs
    for (String[] copy : new String[][] {{"bob", "etl", "wrong"}, {"bob", "eve", "eve"}}) {
      String keytab = Files.readString(folder.resolve(copy[0] + ".keytab"), ISO_8859_1);
      Files.writeString(
          folder.resolve(copy[2] + ".keytab"), keytab.replace(copy[0], copy[1]), ISO_8859_1);
    }
  }

  @AfterAll
  static void end() throws Exception {
    cluster.getOutputStream().close();
    if (!cluster.waitFor(10, TimeUnit.SECONDS)) {
      cluster.destroyForcibly();
    }
  }

  private static Process java(String ticket, Class<?> main, String... arguments)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("-Djava.security.krb5.conf=" + folder.resolve("krb5.conf"));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().keySet().removeIf(name -> name.startsWith("HADOOP_"));
    builder.environment().put("KRB5CCNAME", ticket);
    return builder.redirectError(folder.resolve("stderr").toFile()).start();
  }

  /** What command lines print, each run as somebody who may have a ticket. */
  private static List<String> run(String ticket, String... lines) throws Exception {
    Path file = Files.write(folder.resolve("lines"), List.of(lines));
    Process process = java(folder.resolve(ticket).toString(), CommandLines.class, file.toString());
    List<String> results = new ArrayList<>();
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      for (String line = out.readLine(); line != null; line = out.readLine()) {
        results.add(line);
      }
    }
    assertThat(process.waitFor()).as(() -> read("stderr")).isZero();
    return results;
  }

  private static String read(String name) {
    try {
      return Files.readString(folder.resolve(name));
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static String build(String target, String... more) {
    List<String> line =
        new ArrayList<>(List.of("build-parquet", "-q", "-kf", "id", "--value-raw", "name", "-o"));
    line.add(folder.resolve(target).toString());
    line.addAll(List.of(more));
    return String.join("\t", line).replace("$", folder.toString());
  }

  private static void everyRowIsThere(String target) throws IOException {
    try (Database database = Database.open(folder.resolve(target))) {
      assertThat(database.statistics().records()).isEqualTo(2 * ROWS);
      for (int i = 0; i < 2 * ROWS; i++) {
        assertThat(new String(database.get(String.valueOf(i).getBytes(UTF_8)), UTF_8))
            .isEqualTo("name " + i);
      }
    }
  }

  @Test
  void whoHasATicketReads() throws Exception {
    List<String> results =
        run("etl.ticket", build("by-ticket", "--hadoop-conf", "$/conf", "-i", "hdfs:///data"));

    assertThat(results).containsExactly("0||");
    everyRowIsThere("by-ticket");
  }

  @Test
  void whoHasAKeytabReadsAndNobodyElse() throws Exception {
    String[] data = {"--hadoop-conf", "$/conf", "-i", "hdfs:///data"};
    List<String> results =
        run(
            "no-such-ticket",
            build("no", data),
            build("no", with(data, "--principal", "etl@EXAMPLE.COM", "--keytab", "$/bob.keytab")),
            build("no", with(data, "--principal", "etl@EXAMPLE.COM", "--keytab", "$/none.keytab")),
            build("no", with(data, "--principal", "etl@EXAMPLE.COM", "--keytab", "$/wrong.keytab")),
            build("no", with(data, "--principal", "eve@EXAMPLE.COM", "--keytab", "$/eve.keytab")),
            build("no", with(data, "--principal", "etl@NOWHERE.COM", "--keytab", "$/etl.keytab")),
            build("no", with(data, "--principal", "bob@EXAMPLE.COM", "--keytab", "$/bob.keytab")),
            build("no", with(data, "--hadoop-set", "hadoop.security.authentication=simple")),
            build("by-keytab", with(data, "--principal", "etl", "--keytab", "$/etl.keytab")));

    String option = "2||bsdb build-parquet: --keytab " + folder + "/";
    assertThat(results).hasSize(9);
    assertThat(results.get(0))
        .startsWith("2||bsdb build-parquet: no Kerberos ticket: run kinit, or give --principal");
    assertThat(results.get(1))
        .startsWith(option + "bob.keytab: holds no key of etl@EXAMPLE.COM that Java can use");
    assertThat(results.get(2)).startsWith(option + "none.keytab: no such file");
    assertThat(results.get(3))
        .startsWith(
            option + "wrong.keytab, --principal etl@EXAMPLE.COM: Kerberos: the keytab's key");
    assertThat(results.get(4))
        .startsWith(option + "eve.keytab, --principal eve@EXAMPLE.COM: Kerberos: the KDC does not");
    assertThat(results.get(5))
        .startsWith(option + "etl.keytab: holds no key of etl@NOWHERE.COM that Java can use");
    assertThat(results.get(6)).contains("/data: permission denied (user=bob, access=READ_EXECUTE");
    assertThat(results.get(7))
        .startsWith("2||bsdb build-parquet: hdfs:///data: the cluster requires Kerberos, but");
    assertThat(results.get(8)).isEqualTo("0||");
    assertThat(results.subList(0, 8)).allMatch(result -> result.endsWith(" / "));
    everyRowIsThere("by-keytab");
    assertThat(folder.resolve("no")).doesNotExist();
  }

  private static String[] with(String[] some, String... more) {
    List<String> all = new ArrayList<>(List.of(some));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }
}
