package tech.bsdb.tools.serve.resp;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import tech.bsdb.tools.rows.RowFields;
import tech.bsdb.tools.serve.resp.LookupRound.KeyStep;

/**
 * Commands about typed rows, each of which is a hash of its fields. Only the fields that are asked
 * for are decoded. A null is a field that does not exist.
 */
final class HashCommands {
  /** The most bytes that repeated fields may add to a reply. */
  private static final int MOST_REPEATED = 1 << 20;

  private static final BitSet NONE = new BitSet();

  private HashCommands() {}

  /** Reads some fields of the row that was found, by their names; returns null if it is absent. */
  private static @Nullable RowFields row(Found found, List<byte[]> names) throws CommandException {
    BitSet wanted = new BitSet();
    RowFields rows = found.rows;
    if (rows != null && found.isPresent()) {
      for (byte[] name : names) {
        int column = rows.find(name);
        if (column >= 0) {
          wanted.set(column);
        }
      }
    }
    return found.row(wanted);
  }

  /** Returns the column of a field; -1 if it does not exist. */
  private static int column(@Nullable RowFields row, byte[] name) {
    int column = row == null ? -1 : row.find(name);
    return row == null || column < 0 || row.isNull(column) ? -1 : column;
  }

  private static void write(@Nullable RowFields row, int column, ReplyWriter out) {
    if (row == null || column < 0) {
      out.absent();
    } else {
      out.bulk(row.buffer(column), row.offset(column), row.length(column));
    }
  }

  /** Writes fields that exist: their names, their values, or both in turn. */
  private static void write(
      RowFields row, int column, boolean names, boolean values, ReplyWriter out) {
    if (names) {
      out.bulk(row.names().get(column));
    }
    if (values) {
      write(row, column, out);
    }
  }

  private static void writeAll(Found found, boolean names, boolean values, ReplyWriter out)
      throws CommandException {
    RowFields row = found.row(values ? null : NONE);
    int entries = row == null ? 0 : row.present();
    if (names && values) {
      out.map(entries);
    } else {
      out.array(entries);
    }
    for (int column = 0; row != null && column < row.names().size(); column++) {
      if (!row.isNull(column)) {
        write(row, column, names, values, out);
      }
    }
  }

  static KeyStep hget(List<byte[]> command, LookupRound round) {
    List<byte[]> name = command.subList(2, 3);
    return (found, out) -> {
      RowFields row = row(found, name);
      write(row, column(row, name.get(0)), out);
    };
  }

  static KeyStep hmget(List<byte[]> command, LookupRound round) throws CommandException {
    List<byte[]> names = names(command, 2, round);
    return (found, out) -> {
      RowFields row = row(found, names);
      requireFewRepeated(row, names);
      out.array(names.size());
      for (byte[] name : names) {
        write(row, column(row, name), out);
      }
    };
  }

  /** Returns the arguments from one on, which are names of fields. */
  private static List<byte[]> names(List<byte[]> command, int from, LookupRound round)
      throws CommandException {
    round.require(command.size() - from, "fields");
    return command.subList(from, command.size());
  }

  /**
   * Requires that fields given several times do not make the reply much longer than the row.
   *
   * @throws CommandException if they do
   */
  private static void requireFewRepeated(@Nullable RowFields row, List<byte[]> names)
      throws CommandException {
    BitSet seen = new BitSet();
    long repeated = 0;
    for (byte[] name : names) {
      int column = column(row, name);
      if (row != null && column >= 0) {
        repeated += seen.get(column) ? row.length(column) : 0;
        seen.set(column);
      }
    }
    if (repeated > MOST_REPEATED) {
      throw new CommandException(
          "ERR fields that are asked for again would add "
              + repeated
              + " bytes to the reply, which is more than "
              + MOST_REPEATED);
    }
  }

  /** Answers for each field: -1 as it does not expire, or -2 if it does not exist. */
  static KeyStep httl(List<byte[]> command, LookupRound round) throws CommandException {
    if (!Arguments.is(command.get(2), "fields")) {
      throw new CommandException(
          "ERR Mandatory argument FIELDS is missing or not at the right position");
    }
    long stated = Arguments.integer(command.get(3));
    if (stated < 1) {
      throw new CommandException("ERR Parameter `numFields` should be greater than 0");
    }
    if (stated != command.size() - 4) {
      throw new CommandException(
          "ERR The `numfields` parameter must match the number of arguments");
    }
    List<byte[]> names = names(command, 4, round);
    return (found, out) -> {
      RowFields row = found.row(NONE);
      out.array(names.size());
      for (byte[] name : names) {
        out.integer(column(row, name) < 0 ? -2 : -1);
      }
    };
  }

  static KeyStep hexists(List<byte[]> command, LookupRound round) {
    byte[] name = command.get(2);
    return (found, out) -> out.integer(column(found.row(NONE), name) < 0 ? 0 : 1);
  }

  static KeyStep hstrlen(List<byte[]> command, LookupRound round) {
    List<byte[]> name = command.subList(2, 3);
    return (found, out) -> {
      RowFields row = row(found, name);
      int column = column(row, name.get(0));
      out.integer(row == null || column < 0 ? 0 : row.length(column));
    };
  }

  static void hlen(Found found, ReplyWriter out) throws CommandException {
    RowFields row = found.row(NONE);
    out.integer(row == null ? 0 : row.present());
  }

  static void hgetall(Found found, ReplyWriter out) throws CommandException {
    writeAll(found, true, true, out);
  }

  static void hkeys(Found found, ReplyWriter out) throws CommandException {
    writeAll(found, true, false, out);
  }

  static void hvals(Found found, ReplyWriter out) throws CommandException {
    writeAll(found, false, true, out);
  }

  /** Returns the columns of the fields of a row; none if it is absent. */
  private static List<Integer> columns(@Nullable RowFields row) {
    List<Integer> columns = new ArrayList<>();
    for (int column = 0; row != null && column < row.names().size(); column++) {
      if (!row.isNull(column)) {
        columns.add(column);
      }
    }
    return columns;
  }

  /** Answers with all fields that match, as Redis does for small hashes, and the cursor 0. */
  static KeyStep hscan(List<byte[]> command, LookupRound round) throws CommandException {
    ScanCommands.Request request = ScanCommands.Request.of(command, 3, true);
    Glob pattern = request.pattern();
    boolean values = request.values();
    return (found, out) -> {
      RowFields row = found.row(values ? null : NONE);
      List<Integer> columns = columns(row);
      if (row != null && pattern != null) {
        columns.removeIf(column -> !pattern.matches(row.names().get(column)));
      }
      out.array(2);
      out.bulk("0");
      out.array((values ? 2L : 1L) * columns.size());
      for (int column : columns) {
        write(Objects.requireNonNull(row), column, true, values, out);
      }
    };
  }

  static KeyStep hrandfield(List<byte[]> command, LookupRound round) throws CommandException {
    boolean one = command.size() == 2;
    long count = one ? 1 : Arguments.integer(command.get(2));
    boolean values = command.size() == 4;
    if (command.size() > 4 || (values && !Arguments.is(command.get(3), "withvalues"))) {
      throw new CommandException(CommandException.SYNTAX);
    }
    if (count == Long.MIN_VALUE) {
      throw new CommandException(
          "ERR value is out of range, value must between -9223372036854775807 and"
              + " 9223372036854775807");
    }
    if (values && Math.abs(count) > Long.MAX_VALUE / 2) {
      throw new CommandException("ERR value is out of range");
    }
    if (count < 0) {
      round.require((int) Math.min(-count, Integer.MAX_VALUE), "fields");
    }
    return (found, out) -> writeRandom(found.row(values ? null : NONE), one, count, values, out);
  }

  /** Writes some fields, each at most once unless their count is negative. */
  private static void writeRandom(
      @Nullable RowFields row, boolean one, long count, boolean values, ReplyWriter out)
      throws CommandException {
    List<Integer> chosen = chosen(columns(row), count);
    if (row == null || chosen.isEmpty()) {
      if (one) {
        out.absent();
      } else {
        out.array(0);
      }
      return;
    }
    if (values) {
      requireFewRepeated(row, chosen.stream().map(row.names()::get).toList());
    }
    if (!one) {
      out.pairs(chosen.size(), values);
    }
    for (int column : chosen) {
      out.beginPair(values);
      write(row, column, true, values, out);
    }
  }

  /** Returns as many columns, each at most once unless their count is negative, in any order. */
  private static List<Integer> chosen(List<Integer> columns, long count) {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    if (count >= 0 || columns.isEmpty()) {
      Collections.shuffle(columns, random);
      return columns.subList(0, (int) Math.min(Math.max(0, count), columns.size()));
    }
    List<Integer> chosen = new ArrayList<>();
    for (long i = count; i < 0; i++) {
      chosen.add(columns.get(random.nextInt(columns.size())));
    }
    return chosen;
  }

  static void dump(Found found, ReplyWriter out) throws CommandException {
    RowFields row = found.row(null);
    List<Integer> columns = columns(row);
    Dump dump = Dump.hash(columns.size());
    for (int column : columns) {
      byte[] name = Objects.requireNonNull(row).names().get(column);
      dump.add(name, 0, name.length);
      dump.add(row.buffer(column), row.offset(column), row.length(column));
    }
    out.bulkAlone(dump.end());
  }
}
