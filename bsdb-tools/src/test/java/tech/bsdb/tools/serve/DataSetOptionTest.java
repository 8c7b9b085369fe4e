package tech.bsdb.tools.serve;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tech.bsdb.tools.CommandRun;

/** What {@code bsdb serve -d} accepts; {@link DataSetsTest} serves what it names. */
class DataSetOptionTest {
  @TempDir Path folder;
  private Path database;

  @BeforeEach
  void build() throws IOException {
    database = Serving.build(folder.resolve("db"), Map.of("k", "v"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "-d a=DB -d a=DB          | gives the name a twice",
        "-d a=DB -d DB            | has no name among others that have",
        "-d DB -d DB              | -d is given 2 times; name each data set: -d NAME=DIR",
        "-d 7=DB                  | a name has 1 to 64 letters",
        "-d .a=DB                 | a name has 1 to 64 letters",
        "-d a%b=DB                | a name has 1 to 64 letters",
        "-d =DB                   | a name has 1 to 64 letters",
        "-d a=                    | names no directory",
        "-d a=DB/none             | no such directory",
        "-d a=DB/none=1           | no such directory",
        "-d a=DB --follow x       | --follow brings the versions of one data set",
        "-d a=DB --keep 1         | --keep is for following a source",
        "-d DB --requests 9       | --requests is for a database elsewhere; name that",
        "-d DB --hadoop-conf DB   | --hadoop-conf is for a database elsewhere; name that",
        "-d http:///x             | http:///x: not a URL of a web server; write http",
        "-d a=DB -d b=http:///x   | http:///x: not a URL of a web server; write http",
        "-d http://x/y --preload all   | --preload brings data sets elsewhere to pages on disk; allow some",
        "-d a=DB -d b=http://x/y --preload index | --preload brings data sets elsewhere to pages on disk; allow some",
        "-d http://x/y --engine mapped | --engine is for a data set here",
        "-d http://x/y -ic        | -ic is for a data set here",
        "-d http://x/y --keep 1   | --keep is for following a source",
      })
  void whatItRefuses(String given, String said) {
    String[] line = ("serve " + given.replace("DB", database.toString())).split(" ", -1);
    CommandRun run = CommandRun.bsdb(line);
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains(said).doesNotContain("\tat ");
  }

  @Test
  void aStoreWithoutACurrentVersionIsNoFolderOfDataSets() throws IOException {
    Path store = Files.createDirectory(folder.resolve("store"));
    Serving.build(store.resolve("v1"), Map.of("k", "v"));
    CommandRun run = CommandRun.bsdb("serve", "-d", store.toString());
    assertThat(run.code()).isEqualTo(2);
    assertThat(run.err()).contains("is not a store with a current version");
  }
}
