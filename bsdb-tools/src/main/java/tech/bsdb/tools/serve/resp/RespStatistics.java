package tech.bsdb.tools.serve.resp;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import tech.bsdb.tools.serve.client.Latencies;

/** Counts commands and their errors, and records how long they take. Thread-safe. */
public final class RespStatistics {
  /** Codes of errors are these; any other counts as ERR. */
  private static final int MOST_CODES = 32;

  private final Map<String, LongAdder> commands = new HashMap<>();
  private final Map<String, LongAdder> errors = new ConcurrentHashMap<>();
  private final LongAdder answered = new LongAdder();
  private final Latencies latencies = new Latencies();

  /** Starts counting. */
  public RespStatistics() {
    for (CommandSpec spec : CommandTable.all()) {
      commands.put(spec.name(), new LongAdder());
      spec.subcommands().values().forEach(each -> commands.put(each.name(), new LongAdder()));
    }
  }

  /** Counts a command that was given so many times. */
  void given(CommandSpec spec, int times) {
    Objects.requireNonNull(commands.get(spec.name())).add(times);
  }

  /** Counts an error reply by its code. */
  void failed(String reply) {
    int end = reply.indexOf(' ');
    String code = end < 0 ? reply : reply.substring(0, end);
    boolean known = errors.containsKey(code) || errors.size() < MOST_CODES;
    errors.computeIfAbsent(known ? code : "ERR", unused -> new LongAdder()).increment();
  }

  /**
   * Records commands that were answered together.
   *
   * @param nanos the time since they arrived; negative if that is not known
   */
  void answered(int count, long nanos) {
    answered.add(count);
    if (count > 0 && nanos >= 0) {
      latencies.record(nanos, count);
    }
  }

  /** Returns how long commands took. */
  public Latencies latencies() {
    return latencies;
  }

  /** Returns the number of commands by name, of those that have been given. */
  public Map<String, Long> commands() {
    return counts(commands);
  }

  /** Returns the number of error replies by code. */
  public Map<String, Long> errors() {
    return counts(errors);
  }

  private static Map<String, Long> counts(Map<String, LongAdder> of) {
    Map<String, Long> counts = new TreeMap<>();
    of.forEach((name, count) -> counts.put(name, count.sum()));
    counts.values().removeIf(count -> count == 0);
    return counts;
  }

  /** Returns the number of commands answered. */
  public long answered() {
    return answered.sum();
  }
}
