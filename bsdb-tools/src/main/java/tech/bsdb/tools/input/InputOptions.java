package tech.bsdb.tools.input;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowSchema;

/**
 * What to read and how: an immutable value, copied with changes by the {@code with} methods.
 *
 * @param inputs files, directories, or "-" for standard input, in the order to be read
 * @param format how records are written
 * @param encoding the character encoding of the input; stored text is always UTF-8
 * @param keyEncoding how keys are encoded in the input
 * @param valueEncoding how values are encoded in the input; other than UTF-8 only for text and for
 *     a single CSV column
 * @param onBadLine what happens to a line that is not a record
 * @param rejects a file for the bad lines, or null; an existing file is replaced once everything is
 *     done. Each is written as a line of {@code FILE:LINE: reason: } and the bad line's text, in
 *     UTF-8 where it is valid in the input's encoding and byte for byte where it is not; of a line
 *     too long to hold, only the beginning is written
 * @param allowEmptyKey whether an empty key is accepted; otherwise its line is a bad line
 * @param threads the number of parsing threads, 1 to 256; it affects only the time taken
 * @param deleteField the field that turns its record into the deletion of its key, or null; only
 *     for CSV and JSON lines
 */
public record InputOptions(
    List<String> inputs,
    Format format,
    Charset encoding,
    Encoding keyEncoding,
    Encoding valueEncoding,
    OnBadLine onBadLine,
    @Nullable Path rejects,
    boolean allowEmptyKey,
    int threads,
    @Nullable DeleteField deleteField) {

  /** What happens to a line that is not a record. */
  public enum OnBadLine {
    /** The first one stops the reading with a {@link BadInputException}. */
    FAIL,

    /** It is counted under its reason and left out. */
    SKIP
  }

  /**
   * Checks what can be checked without looking at the inputs.
   *
   * @throws IllegalArgumentException if the number of threads is out of range
   */
  public InputOptions {
    if (threads < 1 || threads > 256) {
      throw new IllegalArgumentException("threads is " + threads + ", not in 1 to 256");
    }
    inputs = List.copyOf(inputs);
  }

  /**
   * No inputs yet; UTF-8 text lines split at the first space, failing at a bad line or an empty
   * key, all cores.
   */
  public static InputOptions defaults() {
    return new InputOptions(
        List.of(),
        new Format.Text(" "),
        StandardCharsets.UTF_8,
        Encoding.UTF8,
        Encoding.UTF8,
        OnBadLine.FAIL,
        null,
        false,
        Math.min(256, Runtime.getRuntime().availableProcessors()),
        null);
  }

  /** The schema of the values if they are typed rows, else null. */
  public @Nullable RowSchema schema() {
    Format.Rows rows = format.rows();
    return rows == null ? null : rows.stored();
  }

  /** Whether the defect of each bad line is shown; otherwise bad lines are only counted. */
  boolean showsBadLines() {
    return onBadLine == OnBadLine.FAIL || rejects != null;
  }

  /** These options with other {@link #inputs()}. */
  public InputOptions withInputs(List<String> inputs) {
    return with(changed -> changed.inputs = inputs);
  }

  /** These options with another {@link #format()}. */
  public InputOptions withFormat(Format format) {
    return with(changed -> changed.format = format);
  }

  /** These options with another {@link #encoding()}. */
  public InputOptions withEncoding(Charset encoding) {
    return with(changed -> changed.encoding = encoding);
  }

  /** These options with another {@link #keyEncoding()}. */
  public InputOptions withKeyEncoding(Encoding keyEncoding) {
    return with(changed -> changed.keyEncoding = keyEncoding);
  }

  /** These options with another {@link #valueEncoding()}. */
  public InputOptions withValueEncoding(Encoding valueEncoding) {
    return with(changed -> changed.valueEncoding = valueEncoding);
  }

  /** These options with another {@link #onBadLine()}. */
  public InputOptions withOnBadLine(OnBadLine onBadLine) {
    return with(changed -> changed.onBadLine = onBadLine);
  }

  /** These options with other {@link #rejects()}. */
  public InputOptions withRejects(@Nullable Path rejects) {
    return with(changed -> changed.rejects = rejects);
  }

  /** These options with another {@link #allowEmptyKey()}. */
  public InputOptions withAllowEmptyKey(boolean allowEmptyKey) {
    return with(changed -> changed.allowEmptyKey = allowEmptyKey);
  }

  /** These options with another number of {@link #threads()}. */
  public InputOptions withThreads(int threads) {
    return with(changed -> changed.threads = threads);
  }

  /** These options with another {@link #deleteField()}. */
  public InputOptions withDeleteField(@Nullable DeleteField deleteField) {
    return with(changed -> changed.deleteField = deleteField);
  }

  private InputOptions with(Consumer<Draft> change) {
    Draft draft = new Draft();
    change.accept(draft);
    return draft.finished();
  }

  /** A copy of these options that can be changed. */
  private final class Draft {
    private List<String> inputs = InputOptions.this.inputs;
    private Format format = InputOptions.this.format;
    private Charset encoding = InputOptions.this.encoding;
    private Encoding keyEncoding = InputOptions.this.keyEncoding;
    private Encoding valueEncoding = InputOptions.this.valueEncoding;
    private OnBadLine onBadLine = InputOptions.this.onBadLine;
    private @Nullable Path rejects = InputOptions.this.rejects;
    private boolean allowEmptyKey = InputOptions.this.allowEmptyKey;
    private int threads = InputOptions.this.threads;
    private @Nullable DeleteField deleteField = InputOptions.this.deleteField;

    InputOptions finished() {
      return new InputOptions(
          inputs,
          format,
          encoding,
          keyEncoding,
          valueEncoding,
          onBadLine,
          rejects,
          allowEmptyKey,
          threads,
          deleteField);
    }
  }
}
