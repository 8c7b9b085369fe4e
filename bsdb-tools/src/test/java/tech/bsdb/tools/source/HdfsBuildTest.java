package tech.bsdb.tools.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.hdfs.MiniDFSCluster.DataNodeProperties;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.Database;
import tech.bsdb.tools.CommandRun;
import tech.bsdb.tools.parquet.Written;

/** {@code build-parquet} from a real HDFS. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@Tag("nightly")
class HdfsBuildTest {
  private static final int FILES = 4;
  private static final int ROWS = 20_000;

  @TempDir static Path local;

  private static Hdfs hdfs;
  private static String data;

  @TempDir Path folder;

  @BeforeAll
  static void start() throws Exception {
    hdfs = Hdfs.running();
    List<Path> files = new ArrayList<>();
    for (int file = 0; file < FILES; file++) {
      int first = file * ROWS;
      files.add(
          Written.file(
              local.resolve("part-" + file + ".parquet"),
              "message row { required int64 id; optional binary name (STRING); required double x;"
                  + " required fixed_len_byte_array(40) noise; }",
              ROWS,
              (row, i) -> {
                row.append("id", (long) first + i).append("name", "name " + (first + i));
                row.append("x", (first + i) / 8.0);
                row.append(
                    "noise",
                    org.apache.parquet.io.api.Binary.fromConstantByteArray(noise(first + i)));
              },
              writer -> writer.withRowGroupSize(200_000L)));
    }
    data = hdfs.copy("/build", files);
  }

  private static byte[] noise(int number) {
    byte[] bytes = new byte[40];
    new java.util.Random(number).nextBytes(bytes);
    return bytes;
  }

  private CommandRun build(String... more) {
    List<String> line = new ArrayList<>(List.of("build-parquet", "-kf", "id", "-q", "-o"));
    line.add(folder.resolve("db").toString());
    line.addAll(List.of("--hadoop-set", "fs.hdfs.impl=" + LossyHdfs.class.getName()));
    line.addAll(List.of("--hadoop-set", "dfs.client.retry.window.base=100"));
    line.addAll(List.of(more));
    return CommandRun.bsdb(line.toArray(String[]::new));
  }

  private void everyRowIsThere() throws IOException {
    try (Database database = Database.open(folder.resolve("db"))) {
      assertThat(database.statistics().records()).isEqualTo(FILES * ROWS);
      for (int i = 0; i < FILES * ROWS; i++) {
        byte[] value = database.get(String.valueOf(i).getBytes(UTF_8));
        assertThat(new String(value, UTF_8)).isEqualTo("name " + i);
      }
    }
  }

  private void nothingWasBuilt() throws IOException {
    try (var left = Files.list(folder)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void everyRowIsThereAndAllAsFromLocalFiles() throws Exception {
    CommandRun run = build("-nn", hdfs.nameNode(), "-i", "/build");
    assertThat(run.err()).isEmpty();
    assertThat(run.code()).isZero();

    Path twin = folder.resolve("twin");
    CommandRun there =
        CommandRun.bsdb(
            "build-parquet", "-kf", "id", "-q", "-i", local.toString(), "-o", twin.toString());
    assertThat(there.code()).as(there::err).isZero();
    try (var files = Files.list(twin)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        assertThat(folder.resolve("db").resolve(file.getFileName())).hasSameBinaryContentAs(file);
      }
    }
    String[] lines =
        CommandRun.bsdb("scan", "-d", folder.resolve("db").toString(), "--json").out().split("\n");
    assertThat(lines).hasSize(FILES * ROWS);
    assertThat(Arrays.asList(lines))
        .anyMatch(
            line ->
                line.startsWith(
                    "{\"key\":\"77\",\"value\":{\"id\":77,\"name\":\"name 77\",\"x\":9.625,"));
  }

  @Test
  void oneDataNodeMayBeLostInTheMiddleButNotBoth() throws Exception {
    List<DataNodeProperties> stopped = new ArrayList<>();
    Runnable stop = () -> stopped.add(hdfs.cluster().stopDataNode(0));
    try {
      LossyHdfs.lose(FILES + 2, stop);
      CommandRun run = build("--value-raw", "name", "-i", data);
      assertThat(stopped).hasSize(1);
      assertThat(run.err()).isEmpty();
      assertThat(run.code()).isZero();
      everyRowIsThere();
      Files.move(folder.resolve("db"), local.resolve("done"));

      LossyHdfs.lose(FILES + 2, stop);
      long began = System.nanoTime();
      run = build("--value-raw", "name", "-i", data);
      assertThat(stopped).hasSize(2);
      assertThat(System.nanoTime() - began).isLessThan(TimeUnit.SECONDS.toNanos(25));
      assertThat(run.code()).isEqualTo(2);
      assertThat(run.err())
          .matches(
              "bsdb build-parquet: \\Q"
                  + data
                  + "\\E/part-\\d.parquet: a block is missing: no reachable data node has a"
                  + " good copy of blk_\\d+ .*\n");
      nothingWasBuilt();
    } finally {
      for (DataNodeProperties properties : stopped) {
        hdfs.cluster().restartDataNode(properties, true);
      }
      hdfs.cluster().waitActive();
    }
  }

  @Test
  void aFileThatWasCutShortOrDamagedIsNamed() throws Exception {
    byte[] good = Files.readAllBytes(local.resolve("part-0.parquet"));
    String cut = hdfs.write("/bad/cut/a", Arrays.copyOf(good, good.length / 2));
    byte[] flipped = good.clone();
    for (int i = good.length / 2; i < good.length / 2 + 100; i++) {
      flipped[i] ^= 0x55;
    }
    String damaged = hdfs.write("/bad/damaged/a", flipped);

    CommandRun run = build("-i", data, "-i", cut);
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).startsWith("bsdb build-parquet: " + cut + ": ").hasLineCount(1);
    nothingWasBuilt();

    run = build("-i", data, "-i", damaged);
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .matches("bsdb build-parquet: \\Q" + damaged + "\\E: row group \\d+: damaged: .*\n")
        .hasLineCount(1);
    nothingWasBuilt();
  }

  @Test
  void bytesThatRotOnTheDataNodesAreNamed() throws Exception {
    String name = hdfs.write("/rot/a", Files.readAllBytes(local.resolve("part-1.parquet")));
    org.apache.hadoop.fs.Path path = new org.apache.hadoop.fs.Path("/rot/a");
    hdfs.cluster()
        .corruptBlockOnDataNodes(
            org.apache.hadoop.hdfs.DFSTestUtil.getFirstBlock(hdfs.fileSystem(), path));

    CommandRun run = build("-i", name);

    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).startsWith("bsdb build-parquet: " + name + ": ").hasLineCount(1);
    assertThat(run.err()).containsAnyOf("no reachable data node has a good copy", "checksum");
    nothingWasBuilt();
  }

  @Test
  void whatMayNotBeReadAndANameNodeThatIsDownAreErrors() throws Exception {
    hdfs.write("/mine/a", new byte[10]);
    hdfs.fileSystem()
        .setPermission(
            new org.apache.hadoop.fs.Path("/mine"),
            new org.apache.hadoop.fs.permission.FsPermission((short) 0700));

    CommandRun run =
        UserGroupInformation.createRemoteUser("bob")
            .doAs(
                (java.security.PrivilegedAction<CommandRun>)
                    () -> build("-i", hdfs.uri() + "/mine"));
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .startsWith("bsdb build-parquet: " + hdfs.uri() + "/mine: permission denied (user=bob,")
        .hasLineCount(1);
    nothingWasBuilt();

    run = build("-nn", "localhost:1", "-i", "/x");
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err())
        .startsWith("bsdb build-parquet: name node localhost:1: connection refused; is it up")
        .hasLineCount(1);
    nothingWasBuilt();
  }
}
