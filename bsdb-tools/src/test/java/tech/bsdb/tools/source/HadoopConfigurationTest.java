package tech.bsdb.tools.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;

/** Settings of bsdb's own for file systems of Hadoop. */
class HadoopConfigurationTest {
  private static final String S3_STREAM = "fs.s3a.input.stream.type";

  /** As Spark sends it to its executors. */
  private static Configuration sent(Configuration configuration) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    configuration.write(new DataOutputStream(bytes));
    Configuration sent = new Configuration(false);
    sent.readFields(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    return sent;
  }

  @Test
  void cutConnectionsToS3AreResumed() throws IOException {
    Configuration configuration = new Configuration();
    assertThat(HadoopConfiguration.resuming(sent(configuration)).get(S3_STREAM))
        .isEqualTo("classic");
    assertThat(configuration.get(S3_STREAM)).isNotEqualTo("classic");
  }

  @Test
  void credentialsForS3EndWithTheChainOfAmazonsSdk() throws IOException {
    String name = "fs.s3a.aws.credentials.provider";
    assertThat(HadoopConfiguration.of(FileSourceOptions.local()).getTrimmedStrings(name))
        .containsExactly(
            "org.apache.hadoop.fs.s3a.TemporaryAWSCredentialsProvider",
            "org.apache.hadoop.fs.s3a.SimpleAWSCredentialsProvider",
            "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider");
    FileSourceOptions own = new FileSourceOptions(null, null, Map.of(name, "Own"), null, null);
    assertThat(HadoopConfiguration.of(own).get(name)).isEqualTo("Own");
  }

  @Test
  void whatTheUserSetsStays() throws IOException {
    Configuration configuration = new Configuration();
    configuration.set(S3_STREAM, "prefetch");
    assertThat(HadoopConfiguration.resuming(configuration)).isSameAs(configuration);
    assertThat(HadoopConfiguration.resuming(sent(configuration)).get(S3_STREAM))
        .isEqualTo("prefetch");
  }
}
