package tech.bsdb.tools.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.hadoop.ipc.RemoteException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailuresTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Call From a to n:1 failed on connection exception: Connection refused; For more details see: W | name node n:1: connection refused; is it up,
          Call From a to n:1 failed on socket timeout exception: timed out | name node n:1: no answer; is it up,
          Call From a to n:1 failed on local exception: EOFException | name node n:1: does not speak HDFS's RPC; is that
          Call From a to n:1 failed on {1}; For more details see: W | name node n:1: Call From a to n:1 failed on {1}
          No FileSystem for scheme "s3n" | F: no file system for s3n:; write s3a:// (and put hadoop-aws, the AWS SDK's bundle,
          No FileSystem for scheme "wasbs" | F: no file system for wasbs:; put the jars of hadoop-azure on the class path: BSDB_CLASSPATH=/DIR/*:
          No FileSystem for scheme "ab" | F: no file system for ab:; put the jars of its file system on the class path:
          Class org.apache.hadoop.fs.obs.OBSFileSystem not found | F: the class org.apache.hadoop.fs.obs.OBSFileSystem is missing; put the jars of hadoop-huaweicloud on
          could only be replicated to 0 nodes | F: no data node has room for another block, or none can be reached (hdfs dfsadmin -report)
          no rule: for this | F: no rule: for this
          """)
  void theFirstRuleThatFindsItsExpressionGivesTheWords(String message, String words) {
    assertThat(FileSources.explain("F", new RemoteException("a.B", message)))
        .message()
        .startsWith(words);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          java.net.UnknownHostException | Invalid host name: local host is: a; destination host is: "n":1; | name node n: unknown host (if
          java.net.UnknownHostException | n.x: Name or service not known | name node n.x: unknown host (if
          a.b.QuotaExceededException    | of 3 is used | F: the quota is used up: of 3 is used
          """)
  void typesOfExceptionsOfServersCount(String type, String message, String words) {
    IOException remote = new RemoteException(type, message);
    assertThat(FileSources.explain("F", new IOException("nothing known", remote)))
        .message()
        .startsWith(words);
  }
}
