package tech.bsdb.tools.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
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
  void whatTheUserSetsStays() throws IOException {
    Configuration configuration = new Configuration();
    configuration.set(S3_STREAM, "prefetch");
    assertThat(HadoopConfiguration.resuming(configuration)).isSameAs(configuration);
    assertThat(HadoopConfiguration.resuming(sent(configuration)).get(S3_STREAM))
        .isEqualTo("prefetch");
  }
}
