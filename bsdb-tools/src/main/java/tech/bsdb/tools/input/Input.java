package tech.bsdb.tools.input;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tech.bsdb.DatabaseBuilder;
import tech.bsdb.tools.rows.RowSchema;

/**
 * Reads all records of files, directories or standard input, in the order of the input.
 *
 * <pre>{@code
 * try (Input input = Input.open(options)) {
 *   input.sample(builder, sampleRecords); // if a dictionary is wanted
 *   InputReport report = input.feed(builder, listener);
 * }
 * }</pre>
 *
 * <p>Inputs are read in the order given, files below a directory in the order of their paths'
 * bytes, and records in the order of their lines. The order depends neither on the number of
 * threads nor on how a directory lists its files. Memory is bounded: about 2 MiB for each of {@code
 * 2 * threads + 2} chunks in flight, plus whatever the longest record takes.
 *
 * <p>A {@link #place} is {@code FILE:LINE}; for a CSV record of several lines, the first. If there
 * are very many gaps between good lines, only places up to about the millionth gap are kept.
 *
 * <p>For use by one thread, except {@link #close}.
 */
public final class Input extends PipedSource {
  private static final int CHUNK_BYTES = 1 << 20;

  private final InputOptions options;
  private final List<InputFile> files;
  private final List<Path> databases;
  private final RecordSyntax syntax;
  private final int chunkBytes;
  private final int longest;

  private Input(
      InputOptions options,
      List<InputFile> files,
      List<Path> databases,
      int chunkBytes,
      int longest) {
    super(
        new Ledger(
            files.stream().map(InputFile::name).toList(),
            ":",
            Stream.of(Defect.values()).map(Defect::label).toList()));
    this.options = options;
    this.files = files;
    this.databases = List.copyOf(databases);
    this.syntax = new RecordSyntax(options);
    this.chunkBytes = chunkBytes;
    this.longest = longest;
  }

  /**
   * Finds the inputs and checks that each exists and is readable, and that the rejects file is
   * writable; nothing is written and no record is read yet.
   *
   * <p>A file whose name ends in {@code .gz}, {@code .zst} or {@code .zstd} is decompressed, with
   * all its members or frames; other suffixes have no meaning. A directory stands for all regular
   * files below it; names below it that begin with a dot or an underscore are left out.
   *
   * @throws InputException if an input is missing or cannot be read, a directory has no input
   *     files, or the rejects' file is an input or cannot be written
   * @throws IllegalArgumentException if there are no inputs or the options conflict
   */
  public static Input open(InputOptions options) throws IOException {
    return open(options, CHUNK_BYTES, ChunkReader.LONGEST_RECORD);
  }

  /** For tests: with another chunk size, and a limit on records that a test can reach. */
  static Input open(InputOptions options, int chunkBytes, int longest) throws IOException {
    checkValueEncoding(options);
    List<Path> databases = new ArrayList<>();
    List<InputFile> files = InputFile.find(options.inputs(), databases);
    if (options.rejects() != null) {
      Rejects.check(
          options.rejects(),
          files.stream().flatMap(file -> Stream.ofNullable(file.path())).toList());
    }
    return new Input(options, files, databases, chunkBytes, longest);
  }

  private static void checkValueEncoding(InputOptions options) {
    boolean textValue =
        options.format() instanceof Format.Text
            || (options.format() instanceof Format.Csv csv && csv.valueColumns().size() == 1);
    if (options.valueEncoding() != Encoding.UTF8 && !textValue) {
      throw new IllegalArgumentException(
          "value encoding "
              + options.valueEncoding().label()
              + " needs text lines or one CSV value column, not a value made of several fields");
    }
  }

  /** The size of all inputs in bytes, before decompression, or -1 if one is not a regular file. */
  public long totalBytes() {
    boolean known = files.stream().allMatch(file -> file.size() >= 0);
    return known ? files.stream().mapToLong(InputFile::size).sum() : -1;
  }

  @Override
  public String unit() {
    return "lines";
  }

  @Override
  public @Nullable String valueSchema() {
    RowSchema schema = options.schema();
    return schema == null ? null : schema.json();
  }

  @Override
  public List<Path> databases() {
    return databases;
  }

  /** The names of the files, in the order of reading. */
  public List<String> files() {
    return files.stream().map(InputFile::name).toList();
  }

  /**
   * Passes records from evenly spaced places of the input to the builder, about 32 MiB at most.
   * Only uncompressed UTF-8 files of text or JSON lines can be sampled.
   */
  @Override
  public int sample(DatabaseBuilder builder, int records) throws IOException {
    return sample(
        (key, keyFrom, keyLength, value, valueFrom, valueLength) ->
            builder.sample(
                Arrays.copyOfRange(key, keyFrom, keyFrom + keyLength),
                Arrays.copyOfRange(value, valueFrom, valueFrom + valueLength)),
        records);
  }

  int sample(RecordVisitor visitor, int records) throws IOException {
    if (records <= 0 || !Sampler.canSample(files, options)) {
      return 0;
    }
    return new Sampler(files, options, visitor).sample(records);
  }

  @Override
  protected InputReport read(Supplier<Batch> batches, InputListener listener) throws IOException {
    long totalBytes = totalBytes();
    ChunkSource source = new ChunkSource(files, options.encoding(), syntax, chunkBytes, longest);
    ParsePipeline pipeline =
        new ParsePipeline(source, syntax::newParser, batches, options, chunkBytes);
    boolean transcoded = !options.encoding().equals(StandardCharsets.UTF_8);
    try (Rejects rejects = begin(options.rejects(), transcoded, pipeline::stop)) {
      pipeline.run(
          (number, chunk) -> {
            enter(chunk.file, chunk, rejects);
            listener.progress(chunk.bytesRead, totalBytes, ledger.records());
          });
    } catch (InputException failure) {
      throw orDamage(failure, source);
    }
    return ledger.report(source.bytesRead());
  }

  /**
   * Replaces the failure if a line or a header is bad only because its compressed file is damaged.
   */
  private InputException orDamage(InputException failure, ChunkSource source) {
    InputFile file =
        failure instanceof BadInputException bad ? fileOf(bad) : source.current().orElse(null);
    if (file == null || failure.getCause() != null) {
      return failure;
    }
    try {
      file.checkCompression(this::isStopped);
      return failure;
    } catch (IOException damage) {
      InputException first = InputException.reading(file.name(), damage);
      first.addSuppressed(failure);
      return first;
    }
  }

  private @Nullable InputFile fileOf(BadInputException bad) {
    return files.stream().filter(file -> file.name().equals(bad.file())).findFirst().orElse(null);
  }
}
