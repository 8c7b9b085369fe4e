package tech.bsdb.tools.source;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.parquet.io.SeekableInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.BuildOptions;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.tools.cli.UsageException;
import tech.bsdb.tools.input.InputException;

/** Local files, and what is found out without any server. */
class FileSourcesTest {
  @Test
  void withoutHadoopsClientItSaysWhichJarsToUse() throws Exception {
    ClassLoader none = ClassLoader.getPlatformClassLoader();

    assertThatThrownBy(() -> FileSources.requireHadoop(none, "nothing works without it"))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("Hadoop's client is not on the class path")
        .hasMessageContaining("lib/hadoop")
        .hasMessageContaining("bsdb-jar-with-dependencies.jar");
    FileSources.requireHadoop(FileSources.class.getClassLoader(), "");
  }

  /** The messages are those of hadoop-aws 3.5.0 and of its SDK. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          s3a://b/k: NoAuthWithAWSException: No AWS Credentials provided by SimpleAWSCredentialsProvider | no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY
          getFileStatus on s3a://b: S3Exception: FORBIDDEN (Service: S3, Status Code: 403, Request ID: X):null | permission denied: S3 rejects these credentials
          `s3a://b/k': NoSuchBucketException: The specified bucket does not exist (Service: S3, Status Code: 404) | no such bucket
          getFileStatus: software.amazon.awssdk.core.exception.SdkClientException: Unable to execute HTTP request: Connect to h:1 failed: Connection refused (SDK Attempt Count: 3): again (SDK Attempt Count: 3) | S3 cannot be reached: Connect to h:1 failed: Connection refused (its address: --hadoop-set fs.s3a.endpoint=URL)
          """)
  void whatS3SaysComesInWords(String message, String words) {
    for (IOException failure :
        List.of(new IOException(message), new AccessDeniedException("s3a://b/k", null, message))) {
      if (failure instanceof AccessDeniedException && !message.contains("403")) {
        continue;
      }
      assertThat(FileSources.explain("s3a://b/k", failure))
          .message()
          .startsWith("s3a://b/k: " + words);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "org/apache/commons/lang3/StringUtils",
        "org/apache/hadoop/fs/s3a/S3AFileSystem",
        "software/amazon/s3/analyticsaccelerator/request/ObjectClient",
        "software/amazon/awssdk/core/exception/SdkException"
      })
  void everyJarThatS3MayLackIsNamedWithWhatFetchesIt(String missing) {
    assertThat(FileSources.explain("s3a://b/k", new NoClassDefFoundError(missing)))
        .message()
        .contains(missing.replace('/', '.'), "commons-lang3", "scripts/fetch-s3");
  }

  @Test
  void aPipeIsNotWaitedFor() throws Exception {
    Path pipe = folder.resolve("pipe");
    assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);

    for (String input : List.of(pipe.toString(), folder + "/p*", folder.toString())) {
      try (FileSources sources =
          FileSources.open(FileSourceOptions.of(null, null, List.of(), null, null))) {
        assertThatThrownBy(() -> sources.files(List.of(input)))
            .as(input)
            .isInstanceOf(InputException.class)
            .hasMessageStartingWith(pipe + ": a pipe, a socket or a device");
      }
    }
  }

  @TempDir Path folder;

  private Path file(String name) throws IOException {
    Path path = folder.resolve(name);
    Files.createDirectories(path.getParent());
    return Files.writeString(path, name);
  }

  private static List<String> names(FileSourceOptions options, String... inputs)
      throws IOException {
    try (FileSources sources = FileSources.open(options)) {
      return sources.files(List.of(inputs)).stream().map(SourceFile::name).toList();
    }
  }

  private List<String> below(String... inputs) throws IOException {
    return names(FileSourceOptions.local(), inputs).stream()
        .map(name -> folder.relativize(Path.of(name)).toString())
        .toList();
  }

  @Test
  void aFolderStandsForTheFilesBelowItButNotForHiddenOnesAndDatabases() throws Exception {
    file("in/b.parquet");
    file("in/a/2.parquet");
    file("in/a/1.parquet");
    file("in/é.parquet");
    file("in/_SUCCESS");
    file("in/.a.parquet.crc");
    file("in/_temporary/0/task/c.parquet");
    Path database = folder.resolve("in/db");
    try (DatabaseBuilder builder = DatabaseBuilder.create(database, BuildOptions.defaults())) {
      builder.finish();
    }
    Path single = file("_single");

    try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
      List<SourceFile> files =
          sources.files(List.of(single.toString(), folder.resolve("in").toString()));

      assertThat(files)
          .extracting(file -> folder.relativize(Path.of(file.name())).toString())
          .containsExactly(
              "_single", "in/a/1.parquet", "in/a/2.parquet", "in/b.parquet", "in/é.parquet");
      assertThat(files).allMatch(file -> file.name().equals(String.valueOf(file.local())));
      assertThat(files.get(1).length()).isEqualTo("in/a/1.parquet".length());
      assertThat(sources.databases()).containsExactly(database);
    }
  }

  @Test
  void aUriOfAFileIsALocalPath() throws Exception {
    Path file = file("with blank/a%b.parquet");

    for (String form : List.of("file:%s", "file://%s", "file://localhost%s", "FILE:%s")) {
      assertThat(names(FileSourceOptions.local(), form.replace("%s", file.toString())))
          .containsExactly(file.toString());
    }
    assertThat(names(FileSourceOptions.local(), file.toUri().toString()))
        .containsExactly(file.toString());
  }

  @Test
  void aPatternStandsForWhatMatchesIfThereIsNoSuchFile() throws Exception {
    file("day=1/a.parquet");
    file("day=2/b.parquet");
    file("day=2/_c.parquet");
    file("other/d.parquet");
    file("odd[1].parquet");
    file("odd1.parquet");

    assertThat(below(folder + "/day=*")).containsExactly("day=1/a.parquet", "day=2/b.parquet");
    assertThat(below(folder + "/*/?.parquet"))
        .containsExactly("day=1/a.parquet", "day=2/b.parquet", "other/d.parquet");
    assertThat(below(folder + "/{day=1,other}/*"))
        .containsExactly("day=1/a.parquet", "other/d.parquet");
    assertThat(below(folder + "/**.parquet"))
        .containsExactly(
            "day=1/a.parquet",
            "day=2/b.parquet",
            "odd1.parquet",
            "odd[1].parquet",
            "other/d.parquet");
    assertThat(below(folder + "/day=2/_*")).containsExactly("day=2/_c.parquet");
    assertThat(below(folder + "/odd[1].parquet")).containsExactly("odd[1].parquet");
    assertThatThrownBy(() -> below(folder + "/day=3*"))
        .isInstanceOf(InputException.class)
        .hasMessage(folder + "/day=3*: no file matches the pattern");
    assertThatThrownBy(() -> below(folder + "/day=[3"))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("day=[3: no such file, and not a pattern");
  }

  @Test
  void namesAreEncodedOnceInLocalesOtherThanUtf8() throws Exception {
    Path found = file("\u00c3\u00a9/\u00c3\u00a9%.parquet"); // the bytes of \u00e9, as Latin-1
    String encoding = System.setProperty("sun.jnu.encoding", "ISO-8859-1");
    try {
      for (String input :
          List.of("%s/\u00e9", "%s/\u00e9/\u00e9*", "file:%s/%%C3%%A9/%%C3%%A9%%25.parquet")) {
        assertThat(names(FileSourceOptions.local(), input.formatted(folder)))
            .as(input)
            .containsExactly(found.toString());
      }
    } finally {
      System.setProperty("sun.jnu.encoding", encoding);
    }
  }

  @Test
  void aPatternMatchesLinksAndNamesThatAreQuoted() throws Exception {
    file("in/a.parquet");
    file("in/sub/deep/b.parquet");
    file("in/_p=1/_q=2/c.parquet");
    file("in/st*r.parquet");
    file("in/str.parquet");
    Files.createSymbolicLink(folder.resolve("in/sub/loop"), Path.of("../sub"));
    Files.createSymbolicLink(folder.resolve("in/link"), Path.of("sub/deep"));
    Files.createSymbolicLink(folder.resolve("in/nowhere.parquet"), Path.of("missing"));

    assertThat(below(folder + "/in/st\\*r.parquet")).containsExactly("in/st*r.parquet");
    assertThat(below(folder + "/in/{link,sub/deep}"))
        .containsExactly("in/link/b.parquet", "in/sub/deep/b.parquet");
    assertThat(below(folder + "/in/_p=*")).containsExactly("in/_p=1/_q=2/c.parquet");
    assertThat(below(folder + "/in/*/[!_]*")) // a link to a directory above it matches, too
        .containsExactly(
            "in/link/b.parquet", "in/sub/deep/b.parquet", "in/sub/loop/deep/b.parquet");
    assertThat(below(folder + "/in/sub/**")) // all of a match is read once
        .containsExactly("in/sub/deep/b.parquet", "in/sub/loop/deep/b.parquet");
    assertThatThrownBy(() -> below(folder + "/in/*.parquet"))
        .isInstanceOf(InputException.class)
        .hasMessage(folder + "/in/nowhere.parquet: no such file or directory");
    assertThatThrownBy(() -> below(folder + "/in"))
        .isInstanceOf(InputException.class)
        .hasMessageEndingWith(
            "/in/nowhere.parquet: no such file or directory: the link leads nowhere");
  }

  @Test
  void aPatternPassesByDirectoriesThatMayNotBeRead() throws Exception {
    file("in/a/x.parquet");
    file("in/b/x.parquet");
    Path forbidden = folder.resolve("in/a");
    assumeTrue(forbidden.toFile().setReadable(false) && !Files.isReadable(forbidden));
    try {
      assertThat(below(folder + "/in/*/x.parquet")).containsExactly("in/b/x.parquet");
      assertThatThrownBy(() -> below(folder + "/in/*"))
          .isInstanceOf(InputException.class)
          .hasMessage(forbidden + ": permission denied");
    } finally {
      assertThat(forbidden.toFile().setReadable(true)).isTrue();
    }
  }

  @Test
  void anInputThatIsNotThereIsNamed() throws Exception {
    file("there");
    Files.createDirectory(folder.resolve("empty"));

    assertThatThrownBy(() -> below(folder + "/there", folder + "/missing"))
        .isInstanceOf(InputException.class)
        .hasMessage(folder + "/missing: no such file or directory");
    assertThatThrownBy(() -> below("file:" + folder + "/empty"))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(folder + "/empty: no input files in this directory");
  }

  @Test
  void anyPlaceOfALocalFileIsRead() throws Exception {
    byte[] bytes = new byte[3 << 20];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (i * 31 >> 4);
    }
    Path path = Files.write(folder.resolve("file"), bytes);

    try (FileSources sources = FileSources.open(FileSourceOptions.local())) {
      readPlaces(sources.files(List.of(path.toString())).get(0), bytes);
    }
  }

  /** Reads a file in all the ways there are. */
  static void readPlaces(SourceFile file, byte[] bytes) throws IOException {
    assertThat(file.length()).isEqualTo(bytes.length);
    assertThat(file.file().getLength()).isEqualTo(bytes.length);
    try (SeekableInputStream in = file.file().newStream()) {
      for (int from : new int[] {0, bytes.length - 8, 1 << 19, 12345}) {
        for (int length : new int[] {1, 8, 5000, 2 << 20}) {
          int end = Math.min(bytes.length, from + length);
          byte[] expected = Arrays.copyOfRange(bytes, from, end);
          byte[] array = new byte[end - from];
          in.seek(from);
          in.readFully(array);
          assertThat(array).isEqualTo(expected);
          assertThat(in.getPos()).isEqualTo(end);

          for (ByteBuffer buffer :
              List.of(ByteBuffer.allocate(end - from), ByteBuffer.allocateDirect(end - from))) {
            in.seek(from);
            in.readFully(buffer);
            assertThat(buffer.flip()).isEqualTo(ByteBuffer.wrap(expected));
          }
        }
      }
      in.seek(bytes.length - 4);
      assertThatThrownBy(() -> in.readFully(new byte[8])).isInstanceOf(EOFException.class);
    }
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '|',
      value = {
        "s3a://bucket/x | s3a://bucket/x: the class org.apache.hadoop.fs.s3a.S3AFileSystem is"
            + " missing; put the jars of hadoop-aws, the AWS SDK's bundle, analyticsaccelerator-s3 and"
            + " commons-lang3 (scripts/fetch-s3 DIR fetches all four) on the class path:"
            + " BSDB_CLASSPATH=",
        "abfs://c@a/x | put the jars of hadoop-azure on the class path: BSDB_CLASSPATH=",
        "s3://bucket/x | s3://bucket/x: no file system for s3:; write s3a://",
        "nosuch://x/y | nosuch://x/y: no file system for nosuch:; put the jars of its file system"
            + " on the class path",
        "hdfs:///x | hdfs:///x: no name node: write hdfs://HOST/PATH, name one with -nn",
        "hdfs://no-such-host.invalid/x | name node no-such-host.invalid: unknown host"
      })
  void whatCannotBeReachedIsSaidWithWhatHelps(String input, String words) {
    assertThatThrownBy(() -> names(FileSourceOptions.local(), input))
        .isInstanceOf(InputException.class)
        .hasMessageContaining(words);
  }

  @Test
  void theConfigurationIsCheckedWhenItIsNeeded() throws Exception {
    file("there");
    FileSourceOptions options =
        new FileSourceOptions(null, folder.resolve("missing"), Map.of(), null, null);

    assertThat(names(options, folder + "/there")).hasSize(1);
    assertThatThrownBy(() -> names(options, "hdfs://localhost:1/x"))
        .isInstanceOf(InputException.class)
        .hasMessage("--hadoop-conf " + folder + "/missing: no such directory");

    Files.createDirectory(folder.resolve("missing"));
    assertThatThrownBy(() -> names(options, "hdfs://localhost:1/x"))
        .isInstanceOf(InputException.class)
        .hasMessageContaining("neither core-site.xml nor hdfs-site.xml is in it");

    Files.write(folder.resolve("missing/core-site.xml"), "<configuration><prop".getBytes(UTF_8));
    assertThatThrownBy(() -> names(options, "hdfs://localhost:1/x"))
        .isInstanceOf(InputException.class)
        .hasMessageStartingWith(folder + "/missing: Hadoop's configuration cannot be read: ")
        .hasMessageContaining("expected");
  }

  @ParameterizedTest
  @ValueSource(strings = {"host", "host:8020", "hdfs://host:8020", "hdfs://pair/", "[::1]:8020"})
  void aNameNodeIsAHostOrAPair(String nameNode) throws Exception {
    assertThat(FileSourceOptions.of(nameNode, null, List.of(), null, null).nameNodeUri())
        .isEqualTo("hdfs://" + nameNode.replace("hdfs://", "").replaceFirst("/$", ""));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a b",
        "hdfs://host/path",
        "host:port",
        "host:8020/x",
        "host/",
        "http://host:9870",
        "HTTPS://host",
        "file://host"
      })
  void anythingElseIsNot(String nameNode) {
    assertThatThrownBy(() -> FileSourceOptions.of(nameNode, null, List.of(), null, null))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith("-nn " + nameNode + ": expects HOST, HOST:PORT");
  }

  @ParameterizedTest
  @ValueSource(strings = {"host:0", "host:65536", "hdfs://host:99999"})
  void aPortIsWithinItsRange(String nameNode) {
    assertThatThrownBy(() -> FileSourceOptions.of(nameNode, null, List.of(), null, null))
        .isInstanceOf(UsageException.class)
        .hasMessage("-nn " + nameNode + ": a port must be a number from 1 to 65535");
  }

  @Test
  void theKeytabIsLookedForBeforeARealmIs() throws Exception {
    Path unreadable = folder.resolve("keytab");
    FileSourceOptions options = FileSourceOptions.of(null, null, List.of(), "etl@A", unreadable);

    assertThatThrownBy(() -> names(options, "hdfs://localhost:1/x"))
        .isInstanceOf(InputException.class)
        .hasMessage("--keytab " + unreadable + ": no such file");
    Files.createDirectory(unreadable);
    assertThatThrownBy(() -> names(options, "hdfs://localhost:1/x"))
        .isInstanceOf(InputException.class)
        .hasMessage("--keytab " + unreadable + ": not a file");
  }

  @Test
  void aPrincipalNeedsAKeytabAndASettingAName() throws Exception {
    assertThatThrownBy(() -> FileSourceOptions.of(null, null, List.of(), "etl@A", null))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith("--principal etl@A needs --keytab FILE");
    assertThatThrownBy(() -> FileSourceOptions.of(null, null, List.of(), null, Path.of("k")))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith("--keytab k needs --principal NAME");
    assertThatThrownBy(() -> FileSourceOptions.of(null, null, List.of("a"), null, null))
        .isInstanceOf(UsageException.class)
        .hasMessageStartingWith("--hadoop-set a: expects NAME=VALUE");
    assertThat(FileSourceOptions.of(null, null, List.of("a=b=c", "d="), null, null).settings())
        .isEqualTo(Map.of("a", "b=c", "d", ""));
  }

  @Test
  void mistakesAreToldFromServersThatDoNotAnswer() {
    Throwable unknown = new IllegalArgumentException(new UnknownHostException("namenode"));
    Throwable refused = new ConnectException("Connection refused");
    assertThat(FileSources.isMistake(new InputException("x", unknown))).isFalse();
    assertThat(FileSources.isMistake(new InputException("x", refused))).isFalse();
    assertThat(FileSources.isMistake(new IOException("reset"))).isFalse();
    assertThat(FileSources.isMistake(new InputException("--keytab: no such file"))).isTrue();
    assertThat(FileSources.isMistake(new InputException("x", new NoClassDefFoundError("c"))))
        .isTrue();
    assertThatThrownBy(
            () -> DistantDirectory.open("nosuch://host/x", FileSourceOptions.local()).close())
        .isInstanceOfSatisfying(
            IOException.class, e -> assertThat(FileSources.isMistake(e)).isTrue());
  }
}
