package tech.bsdb.spark.options;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Messages for the command line, as users of Spark read them. */
class OptionWordingTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "choose another with --version | choose another with .option(\"version\", NAME)",
        "(its address: --hadoop-set fs.s3a.endpoint=URL)"
            + " | (its address: .option(\"fs.s3a.endpoint\", \"URL\"))",
        "with --hadoop-conf DIR, or --hadoop-set a.b-c=hdfs/_HOST@REALM"
            + " | with HADOOP_CONF_DIR, or .option(\"a.b-c\", \"hdfs/_HOST@REALM\")",
        "the pair (-nn NAME with --hadoop-conf DIR) | the pair (hdfs://NAME with HADOOP_CONF_DIR)",
        "write s3a:// (and put hadoop-aws on BSDB_CLASSPATH)"
            + " | write s3a:// (and put hadoop-aws on the class path (--packages or --jars))",
        "another file: BSDB_JAVA_OPTS=-Da=b | another file: spark.driver.extraJavaOptions=-Da=b",
        "/stores/a-nn--versions: damaged | /stores/a-nn--versions: damaged",
      })
  void optionsAreThoseOfSpark(String message, String worded) {
    assertThat(OptionWording.of(new IOException(message))).isEqualTo(worded);
  }
}
