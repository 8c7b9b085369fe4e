package tech.bsdb.tools;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tech.bsdb.tools.cli.ArgumentText;
import tech.bsdb.tools.cli.UsageException;

@Tag("jdk")
class ProcessArgumentsTest {
  private static final byte[] KEY_FF = {'k', 'e', 'y', (byte) 0xFF};

  @Test
  void asciiArgumentsAreLeftAlone() throws Exception {
    assertThat(ProcessArguments.asTyped(new String[] {"get", "k", ""}))
        .containsExactly("get", "k", "");
  }

  @ParameterizedTest
  @ValueSource(strings = {"UTF-8", "US-ASCII", "ISO-8859-1", "EUC-JP"})
  void argumentsAreTheBytesTypedWhateverTheLocale(String locale) throws Exception {
    Charset names = Charset.forName(locale);
    byte[] replacement = "\uFFFD".getBytes(UTF_8);
    byte[] text = "日本 ü 😀".getBytes(UTF_8);
    List<byte[]> typed = List.of("get".getBytes(UTF_8), KEY_FF, replacement, text, new byte[0]);
    List<byte[]> words = new ArrayList<>(List.of("java".getBytes(UTF_8), "-jar".getBytes(UTF_8)));
    words.addAll(typed);

    List<String> arguments = ProcessArguments.asTyped(decoded(typed, names), words, names);

    assertThat(arguments.stream().map(ArgumentText::bytes).toList())
        .usingElementComparator(java.util.Arrays::compare)
        .isEqualTo(typed);
    assertThat(arguments.get(3)).isEqualTo("日本 ü 😀");
  }

  /** The java command replaces {@code @file} by the words in the file. */
  @Test
  void argumentsFromAnArgumentFileAreNotTakenFromTheCommandLine() throws Exception {
    List<byte[]> words = List.of("java".getBytes(UTF_8), "@file".getBytes(UTF_8), KEY_FF);

    assertThat(ProcessArguments.asTyped(new String[] {"get", "ü", "日本", "key\uFFFD"}, words, UTF_8))
        .containsExactly("get", "ü", "日本", ArgumentText.of(KEY_FF));
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(
            () -> ProcessArguments.asTyped(new String[] {"get", "key\uFFFD", "x"}, words, UTF_8))
        .withMessageStartingWith("argument 2, \"key\uFFFD\", has bytes that Java could not read")
        .withMessageContaining("--key-encoding hex");
  }

  @Test
  void withoutTheCommandLineTheLocaleDecodingIsReversed() throws Exception {
    String[] args = decoded(List.of(KEY_FF, "ü".getBytes(UTF_8)), ISO_8859_1);

    assertThat(ProcessArguments.asTyped(args, List.of(), ISO_8859_1))
        .containsExactly(ArgumentText.of(KEY_FF), "ü");
    assertThatExceptionOfType(UsageException.class)
        .isThrownBy(
            () ->
                ProcessArguments.asTyped(decoded(List.of(KEY_FF), US_ASCII), List.of(), US_ASCII));
  }

  @Test
  void theCommandLineEndsEachWordWithNul() {
    byte[] line = "java\0-jar\0x.jar\0get\0日本\0\0".getBytes(UTF_8);

    assertThat(ProcessArguments.split(line))
        .extracting(word -> new String(word, UTF_8))
        .containsExactly("java", "-jar", "x.jar", "get", "日本", "");
  }

  /** Decodes as the java command does. */
  private static String[] decoded(List<byte[]> words, Charset names) {
    return words.stream().map(word -> new String(word, names)).toArray(String[]::new);
  }
}
