package tech.bsdb.tools.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.PrivilegedExceptionAction;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.SafeModeAction;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tech.bsdb.tools.input.InputException;

/** Files on a real HDFS. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class HdfsTest {
  private static Hdfs hdfs;

  @TempDir Path folder;

  @BeforeAll
  static void start() throws Exception {
    hdfs = Hdfs.running();
  }

  private static FileSourceOptions on(String nameNode) {
    return new FileSourceOptions(nameNode, null, Map.of(), null, null);
  }

  private static List<String> names(FileSourceOptions options, String... inputs)
      throws IOException {
    try (FileSources sources = FileSources.open(options)) {
      return sources.files(List.of(inputs)).stream().map(SourceFile::name).toList();
    }
  }

  @Test
  void aFolderStandsForTheFilesBelowItButNotForHiddenOnes() throws Exception {
    for (String name :
        List.of("b/2", "b/1", "é", "z z", "_SUCCESS", ".hidden", "_temporary/0/x", "b/_m")) {
      hdfs.write("/list/" + name, new byte[3]);
    }
    String all = hdfs.uri() + "/list";

    assertThat(names(FileSourceOptions.local(), all))
        .containsExactly(all + "/b/1", all + "/b/2", all + "/z z", all + "/é");
    assertThat(names(FileSourceOptions.local(), all + "/b/2", all + "/_SUCCESS"))
        .containsExactly(all + "/b/2", all + "/_SUCCESS");
    assertThat(names(on(hdfs.nameNode()), "/list/b")).hasSize(2);
    assertThat(names(on(hdfs.uri()), "hdfs:///list/b")).hasSize(2);
    assertThat(names(FileSourceOptions.local(), all + "/b/[12]", all + "/{é,b}"))
        .containsExactly(all + "/b/1", all + "/b/2", all + "/b/1", all + "/b/2", all + "/é");

    hdfs.write("/user/" + System.getProperty("user.name") + "/own", new byte[3]);
    assertThat(names(on(hdfs.nameNode()), "own")).hasSize(1);

    Path local = Files.createFile(folder.resolve("local"));
    assertThat(names(on(hdfs.nameNode()), "file:" + local)).containsExactly(local.toString());
  }

  @Test
  void aTableIsRefusedWhereverItIsSeen() throws Exception {
    hdfs.write("/tables/delta/_delta_log/0.json", new byte[1]);
    hdfs.write("/tables/delta/day=1/a", new byte[3]);
    hdfs.write("/tables/iceberg/metadata/v1.metadata.json", new byte[1]);
    hdfs.write("/tables/iceberg/data/day=1/a", new byte[3]);
    hdfs.write("/tables/plain/metadata/a", new byte[3]);
    String all = hdfs.uri() + "/tables";
    FileSourceOptions raw =
        FileSourceOptions.local().withSelection(new FolderSelection(List.of(), List.of(), true));

    for (String input : List.of("", "/delta", "/delta/day=1", "/delta/day=1/a", "/delta/*/a")) {
      assertThatThrownBy(() -> names(FileSourceOptions.local(), all + input))
          .as(input)
          .isInstanceOf(InputException.class)
          .hasMessageStartingWith(all + "/delta: is a Delta Lake table (_delta_log): ")
          .hasMessageContaining("--raw-files");
    }
    for (String input : List.of("/iceberg", "/iceberg/data", "/ice*/data/*", "/iceberg/d*")) {
      assertThatThrownBy(() -> names(FileSourceOptions.local(), all + input))
          .as(input)
          .isInstanceOf(InputException.class)
          .hasMessageStartingWith(all + "/iceberg: is an Iceberg table (metadata): ");
    }
    assertThat(names(FileSourceOptions.local(), all + "/plain")).hasSize(1);
    assertThat(names(raw, all))
        .containsExactly(
            all + "/delta/day=1/a", all + "/iceberg/data/day=1/a", all + "/plain/metadata/a");
  }

  @Test
  void directoriesArePartitionsAndChosenByPatterns() throws Exception {
    for (String name : List.of("y=1/m=1/a", "y=1/m=%C3%A9/_b=2/b", "y=2/m=3/c", "y=2/_m/d")) {
      hdfs.write("/parts/" + name, new byte[3]);
    }
    String all = hdfs.uri() + "/parts";
    for (String input : List.of("", "/", "/y=?", "/*/m=*")) {
      try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
        assertThat(sources.files(List.of(all + input)))
            .as(input)
            .extracting(SourceFile::partitions)
            .containsExactly(
                List.of("y=1", "m=%C3%A9", "_b=2"), List.of("y=1", "m=1"), List.of("y=2", "m=3"));
      }
      FileSourceOptions some =
          FileSourceOptions.local()
              .withSelection(new FolderSelection(List.of("y=1"), List.of("y=*/m=1"), false));
      try (FileSources sources = FileSources.open(some)) {
        assertThat(sources.files(List.of(all + input)))
            .extracting(SourceFile::name)
            .containsExactly(all + "/y=1/m=%C3%A9/_b=2/b");
        assertThat(sources.directoriesLeftOut()).isEqualTo(1);
        assertThat(sources.filesLeftOut()).isEqualTo(1);
      }
    }
    try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
      assertThat(sources.files(List.of(all + "/y=2/m=3/c")).get(0).partitions())
          .containsExactly("y=2", "m=3");
    }
    FileSourceOptions none =
        FileSourceOptions.local()
            .withSelection(new FolderSelection(List.of("x"), List.of(), false));
    assertThatThrownBy(() -> names(none, all))
        .isInstanceOf(InputException.class)
        .hasMessage(all + ": --include and --exclude leave nothing of it");
  }

  @Test
  void anyPlaceOfAFileIsRead() throws Exception {
    byte[] bytes = new byte[(5 << 20) + 17]; // of several blocks
    new Random(1).nextBytes(bytes);
    String name = hdfs.write("/read/file", bytes);

    try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
      FileSourcesTest.readPlaces(sources.files(List.of(name)).get(0), bytes);
    }
  }

  @Test
  void whatIsNotThereIsNamed() throws Exception {
    hdfs.fileSystem().mkdirs(new org.apache.hadoop.fs.Path("/empty"));

    assertThatThrownBy(() -> names(FileSourceOptions.local(), hdfs.uri() + "/no/such"))
        .isInstanceOf(InputException.class)
        .hasMessage(hdfs.uri() + "/no/such: no such file or directory");
    assertThatThrownBy(() -> names(FileSourceOptions.local(), hdfs.uri() + "/no/*.parquet"))
        .isInstanceOf(InputException.class)
        .hasMessage(hdfs.uri() + "/no/*.parquet: no file matches the pattern");
    assertThatThrownBy(() -> names(FileSourceOptions.local(), hdfs.uri() + "/empty"))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("/empty: no input files in this directory");

    String gone = hdfs.write("/gone", new byte[10]);
    try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
      SourceFile file = sources.files(List.of(gone)).get(0);
      hdfs.fileSystem().delete(new org.apache.hadoop.fs.Path("/gone"), false);
      assertThatThrownBy(() -> file.file().newStream())
          .isInstanceOf(InputException.class)
          .hasMessage(gone + ": no such file or directory");
    }
  }

  @Test
  void whatMayNotBeReadIsNamed() throws Exception {
    String file = hdfs.write("/private/file", new byte[10]);
    hdfs.write("/closed/file", new byte[10]);
    FsPermission nobody = new FsPermission((short) 0700);
    hdfs.fileSystem().setPermission(new org.apache.hadoop.fs.Path("/private/file"), nobody);
    hdfs.fileSystem().setPermission(new org.apache.hadoop.fs.Path("/closed"), nobody);

    assertThatThrownBy(
            () -> as("bob", () -> names(FileSourceOptions.local(), hdfs.uri() + "/closed")))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith(hdfs.uri() + "/closed: permission denied (user=bob, access=READ");
    as(
        "bob",
        () -> {
          try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
            SourceFile found = sources.files(List.of(file)).get(0);
            assertThatThrownBy(() -> found.file().newStream())
                .isInstanceOf(InputException.class)
                .hasMessageStartingWith(file + ": permission denied (user=bob, access=READ");
          }
          return null;
        });
  }

  private static <T> T as(String user, PrivilegedExceptionAction<T> action) throws Exception {
    return UserGroupInformation.createRemoteUser(user).doAs(action);
  }

  @Test
  void aNameNodeThatIsDownIsNamedSoon() throws Exception {
    int free;
    try (ServerSocket socket = new ServerSocket(0)) {
      free = socket.getLocalPort();
    }
    long began = System.nanoTime();
    assertThatThrownBy(() -> names(FileSourceOptions.local(), "hdfs://localhost:" + free + "/x"))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith("name node localhost:" + free + ": connection refused; is it up");
    assertThat(System.nanoTime() - began).isLessThan(TimeUnit.SECONDS.toNanos(20));
  }

  @Test
  void aServerThatDoesNotAnswerOrSpeaksAnotherLanguageIsNamedSoon() throws Exception {
    FileSourceOptions impatient =
        new FileSourceOptions(
            null,
            null,
            Map.of(
                "ipc.client.rpc-timeout.ms",
                "1000",
                "ipc.client.connect.max.retries.on.timeouts",
                "0"),
            null,
            null);
    try (ServerSocket deaf = new ServerSocket(0)) {
      assertThatThrownBy(() -> names(impatient, "hdfs://localhost:" + deaf.getLocalPort() + "/x"))
          .isInstanceOf(InputException.class)
          .hasMessageStartingWith("name node localhost:" + deaf.getLocalPort() + ": no answer");
    }
    int web = hdfs.cluster().getNameNode().getHttpAddress().getPort();
    assertThatThrownBy(() -> names(FileSourceOptions.local(), "hdfs://localhost:" + web + "/x"))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith(
            "hdfs://localhost:" + web + "/x: the server there does not speak the HDFS protocol");
  }

  @Test
  void aPairOfNameNodesThatAreDownIsNamedSoon() throws Exception {
    Path conf = Files.createDirectory(folder.resolve("conf"));
    Files.writeString(
        conf.resolve("hdfs-site.xml"),
        """
        <configuration>
          <property><name>dfs.nameservices</name><value>pair</value></property>
          <property><name>dfs.ha.namenodes.pair</name><value>a,b</value></property>
          <property><name>dfs.namenode.rpc-address.pair.a</name><value>localhost:1</value></property>
          <property><name>dfs.namenode.rpc-address.pair.b</name><value>HERE</value></property>
          <property><name>dfs.client.failover.max.attempts</name><value>2</value></property>
          <property><name>dfs.client.failover.proxy.provider.pair</name>
            <value>org.apache.hadoop.hdfs.server.namenode.ha.ConfiguredFailoverProxyProvider</value></property>
        </configuration>
        """
            .replace("HERE", hdfs.nameNode()));
    hdfs.write("/pair/file", new byte[10]);
    FileSourceOptions options = new FileSourceOptions("pair", conf, Map.of(), null, null);

    assertThat(names(options, "/pair")).containsExactly("hdfs://pair/pair/file");
    assertThat(names(new FileSourceOptions(null, conf, Map.of(), null, null), "hdfs://pair/pair/*"))
        .hasSize(1);
    assertThatThrownBy(
            () ->
                names(
                    new FileSourceOptions(
                        "pair",
                        conf,
                        Map.of("dfs.namenode.rpc-address.pair.b", "localhost:2"),
                        null,
                        null),
                    "/pair"))
        .isInstanceOf(InputException.class)
        .hasMessageMatching("name node localhost:[12]: connection refused; is it up.*");
  }

  @Test
  void theStateOfTheNameNodeIsSaid() throws Exception {
    assertThat(
            FileSources.explain(
                    "f",
                    new org.apache.hadoop.ipc.RemoteException(
                        "org.apache.hadoop.ipc.StandbyException",
                        "Operation category READ is not supported in state standby. Visit"
                            + " https://x"))
                .getMessage())
        .startsWith("f: the name node is on standby: name the active one");
    hdfs.cluster().getFileSystem().setSafeMode(SafeModeAction.ENTER);
    try {
      assertThatThrownBy(
              () -> {
                try {
                  hdfs.fileSystem().create(new org.apache.hadoop.fs.Path("/x"));
                } catch (IOException e) {
                  throw FileSources.explain("/x", e);
                }
              })
          .hasMessageStartingWith("/x: the name node is in safe mode");
    } finally {
      hdfs.cluster().getFileSystem().setSafeMode(SafeModeAction.LEAVE);
    }
  }

  @Test
  void nothingIsLeftOpen() throws Exception {
    String name = hdfs.write("/leak/file", new byte[10]);
    SourceFile file;
    try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
      file = sources.files(List.of(name)).get(0);
    }
    assertThatThrownBy(() -> file.file().newStream()).isInstanceOf(InputException.class);
  }
}
