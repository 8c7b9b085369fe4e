package tech.bsdb.spark.options;

import java.util.List;
import java.util.regex.Pattern;

/** Words messages that were written for the command line for users of Spark. */
public final class OptionWording {
  private record Rule(Pattern words, String ours) {
    static Rule of(String words, String ours) {
      return new Rule(Pattern.compile(words), ours);
    }
  }

  private static final List<Rule> RULES =
      List.of(
          Rule.of("(?<= )--version\\b", ".option(\"version\", NAME)"),
          Rule.of("--hadoop-set ([\\w.-]+)=([^\\s,;)]+)", ".option(\"$1\", \"$2\")"),
          Rule.of("--hadoop-conf( DIR)?", "HADOOP_CONF_DIR"),
          Rule.of("(?<=\\()-nn NAME", "hdfs://NAME"),
          Rule.of("(?<= with )-nn\\b", ".option(\"fs.defaultFS\", \"hdfs://HOST\")"),
          Rule.of(
              ": BSDB_CLASSPATH=.*? \\(docs/guides/parquet.md, [^)]*\\)",
              " (--packages or --jars)"),
          Rule.of("on BSDB_CLASSPATH", "on the class path (--packages or --jars)"),
          Rule.of("BSDB_JAVA_OPTS=", "spark.driver.extraJavaOptions="));

  private OptionWording() {}

  /** The message of a failure, with options as users of Spark write them. */
  public static String of(Throwable failure) {
    String message = String.valueOf(failure.getMessage());
    for (Rule rule : RULES) {
      message = rule.words.matcher(message).replaceAll(rule.ours);
    }
    return message;
  }
}
