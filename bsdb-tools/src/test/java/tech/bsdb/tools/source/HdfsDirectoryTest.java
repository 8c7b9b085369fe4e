package tech.bsdb.tools.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static tech.bsdb.tools.CommandRun.bsdb;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.remote.ChangedException;
import tech.bsdb.tools.CommandRun;

/** A directory of a real HDFS. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class HdfsDirectoryTest extends DistantDirectoryContract {
  private static final AtomicInteger NUMBER = new AtomicInteger();
  private static Hdfs hdfs;

  @BeforeAll
  static void start() throws Exception {
    hdfs = Hdfs.running();
  }

  private static FileSourceOptions on(String nameNode) {
    return new FileSourceOptions(nameNode, null, Map.of(), null, null);
  }

  @Override
  DistantDirectory fresh() throws IOException {
    return DistantDirectory.open("/distant/" + NUMBER.incrementAndGet(), on(hdfs.nameNode()));
  }

  @Test
  void aViewLeadsToTheFileSystemBehindIt() throws Exception {
    hdfs.write("/behind/file", new byte[3]);
    Map<String, String> view =
        Map.of("fs.viewfs.mounttable.all.link./users", hdfs.uri() + "/behind");
    try (DistantDirectory directory =
        DistantDirectory.open(
            "viewfs://all/users/new/store", new FileSourceOptions(null, null, view, null, null))) {
      directory.replace("CURRENT", "v1\n".getBytes(UTF_8));
      directory.replace("CURRENT", "v2\n".getBytes(UTF_8));
      assertThat(directory.location("CURRENT")).isEqualTo("viewfs://all/users/new/store/CURRENT");
    }
    try (InputStream in = hdfs.fileSystem().open(new Path("/behind/new/store/CURRENT"))) {
      assertThat(in.readAllBytes()).isEqualTo("v2\n".getBytes(UTF_8));
    }
  }

  @Test
  void aFileWhoseWriterIsStillThereIsNotComplete() throws Exception {
    try (DistantDirectory directory = fresh();
        FileSystem another =
            FileSystem.newInstance(hdfs.fileSystem().getUri(), hdfs.fileSystem().getConf())) {
      FSDataOutputStream out = another.create(new Path(directory.location("file")));
      out.write(1);
      out.hsync();
      assertThat(directory.isComplete("file")).isFalse();
      directory.write("file", new ByteArrayInputStream(new byte[10]));
      assertThat(directory.isComplete("file")).isTrue();
      assertThat(directory.list("").get(0).length()).isEqualTo(10);
      // Closed only here: its file is gone, so that each attempt fails.
      assertThatThrownBy(out::close).isInstanceOf(IOException.class);
    }
  }

  @Test
  void whatIsForbiddenIsNamed() throws Exception {
    hdfs.write("/forbidden/file", new byte[3]);
    hdfs.fileSystem().setPermission(new Path("/forbidden"), new FsPermission("700"));
    UserGroupInformation other = UserGroupInformation.createRemoteUser("somebody");
    PrivilegedExceptionAction<Void> denied =
        () -> {
          try (DistantDirectory directory =
              DistantDirectory.open(hdfs.uri() + "/forbidden", FileSourceOptions.local())) {
            assertThatThrownBy(() -> directory.open("file", 0))
                .isInstanceOf(AccessDeniedException.class)
                .hasMessageContaining("/forbidden/file");
            assertThatThrownBy(() -> directory.replace("file", new byte[1]))
                .isInstanceOf(AccessDeniedException.class)
                .satisfies(
                    failure ->
                        assertThat(directory.explain("file", failure))
                            .hasMessageContaining("permission denied (user=somebody"));
          }
          return null;
        };
    other.doAs(denied);
  }

  @Test
  void aDatabaseIsPushedAndOpenedAfterADownload(@TempDir java.nio.file.Path folder)
      throws Exception {
    java.nio.file.Path lines = Files.writeString(folder.resolve("in.txt"), "a 1\nb 2\n");
    String built = folder.resolve("built").toString();
    assertThat(bsdb("build", "-i", lines.toString(), "-o", built, "-q").code()).isZero();
    for (String version : List.of("v1", "v2")) {
      CommandRun run =
          bsdb("push", built, "/pushed", "-nn", hdfs.nameNode(), "--version", version, "-q");
      assertThat(run.code()).as(run.toString()).isZero();
      assertThat(run.out()).isEqualTo("v1\n");
    }
    String copy = folder.resolve("copy").toString();
    hdfs.fileSystem().copyToLocalFile(false, new Path("/pushed/v1"), new Path(copy), true);
    assertThat(bsdb("get", "-d", copy, "a", "b").out()).isEqualTo("1\n2\n");
    assertThat(bsdb("push", built, hdfs.uri().replaceAll("\\d+$", "1") + "/x", "-q").err())
        .startsWith("bsdb push: name node ")
        .contains("connection refused");
  }

  @Test
  void aDatabaseIsReadWhereItLies(@TempDir java.nio.file.Path folder) throws Exception {
    java.nio.file.Path lines = Files.writeString(folder.resolve("in.txt"), "a 1\nb 2\n");
    String built = folder.resolve("built").toString();
    String cache = folder.resolve("cache").toString();
    assertThat(bsdb("build", "-i", lines.toString(), "-o", built, "-q").code()).isZero();
    assertThat(bsdb("push", built, hdfs.uri() + "/lies", "--version", "v1", "-q").code()).isZero();
    for (String[] place :
        new String[][] {
          {"-d", hdfs.uri() + "/lies"},
          {"-d", hdfs.uri() + "/lies/v1/"},
          {"-d", "/lies", "-nn", hdfs.nameNode()}
        }) {
      CommandRun got = run(place, cache, "get", "b", "none", "a");
      assertThat(got.out()).as(got.toString()).isEqualTo("2\n1\n");
      assertThat(got.code()).isEqualTo(1);
      assertThat(got.err()).endsWith("bsdb get: \"none\" is absent\n");
      assertThat(run(place, cache, "scan", "--count").out()).isEqualTo("2\n");
      assertThat(run(place, cache, "scan").out().lines()).containsExactlyInAnyOrder("a 1", "b 2");
      assertThat(run(place, cache, "stat", "--json").out())
          .contains("\"directory\":\"" + hdfs.uri() + "/lies/v1\"");
      CommandRun verified = run(place, cache, "verify");
      assertThat(verified.err()).as(verified.toString()).contains("2 records read and found again");
    }
    CommandRun same = bsdb("diff", built, hdfs.uri() + "/lies", "--cache-dir", cache);
    assertThat(same.out())
        .as(same.toString())
        .isEqualTo("2 records kept, 0 added, 0 removed, 0 changed\n");
    CommandRun none = bsdb("stat", "-d", hdfs.uri() + "/none", "--cache-dir", cache);
    assertThat(none.code()).isEqualTo(2);
    assertThat(none.err()).contains(hdfs.uri() + "/none is neither a bsdb database nor a store");
  }

  private static CommandRun run(String[] place, String cache, String command, String... more) {
    List<String> line = new ArrayList<>(List.of(command));
    line.addAll(List.of(place));
    line.addAll(List.of("--cache-dir", cache));
    line.addAll(List.of(more));
    return bsdb(line.toArray(String[]::new));
  }

  @Test
  void rangesAreRead() throws Exception {
    byte[] content = new byte[300_000];
    new Random(1).nextBytes(content);
    hdfs.write("/ranges/file", content);
    try (RangeDirectory directory =
        RangeDirectory.open(hdfs.uri() + "/ranges", FileSourceOptions.local())) {
      List<CompletableFuture<byte[]>> reads = new ArrayList<>();
      for (int i = 0; i < 200; i++) {
        reads.add(directory.read("file", content.length, i * 1000L, 4096));
      }
      for (int i = 0; i < 200; i++) {
        assertThat(reads.get(i).get(60, TimeUnit.SECONDS))
            .isEqualTo(Arrays.copyOfRange(content, i * 1000, i * 1000 + 4096));
      }
      assertThatThrownBy(() -> directory.read("file", 400_000, 299_000, 4096).join())
          .hasCauseInstanceOf(ChangedException.class);
      assertThatThrownBy(() -> directory.read("none", 400_000, 0, 4096).join())
          .hasCauseInstanceOf(NoSuchFileException.class);
    }
  }
}
