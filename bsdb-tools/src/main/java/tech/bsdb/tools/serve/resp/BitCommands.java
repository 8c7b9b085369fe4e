package tech.bsdb.tools.serve.resp;

import java.util.List;
import tech.bsdb.tools.serve.resp.LookupRound.KeyStep;

/** Commands about the bits of strings, of which the first is the highest bit of the first byte. */
final class BitCommands {
  /** The number of bits that the longest string of Redis has. */
  private static final long MOST_BITS = 1L << 32;

  private BitCommands() {}

  /**
   * Places in a string, in bytes or bits, from its end if they are negative.
   *
   * @param hasEnd whether the last place was given
   */
  record Span(long first, long last, boolean hasEnd, boolean inBits) {
    /** Reads the arguments from one on. */
    static Span of(List<byte[]> command, int from) throws CommandException {
      int count = command.size() - from;
      boolean inBits = false;
      if (count > 3) {
        throw new CommandException(CommandException.SYNTAX);
      }
      long first = count > 0 ? Arguments.integer(command.get(from)) : 0;
      long last = count > 1 ? Arguments.integer(command.get(from + 1)) : -1;
      if (count > 2) {
        inBits = Arguments.is(command.get(from + 2), "bit");
        if (!inBits && !Arguments.is(command.get(from + 2), "byte")) {
          throw new CommandException(CommandException.SYNTAX);
        }
      }
      return new Span(first, last, count > 1, inBits);
    }

    /** Returns the place of the first bit in a string of so many bytes, at most behind its end. */
    long from(long bytes) {
      long length = inBits ? 8 * bytes : bytes;
      return Math.max(0, Math.min(length, first < 0 ? first + length : first)) * (inBits ? 1 : 8);
    }

    /** Returns the place behind the last bit, at most behind the end of the string. */
    long to(long bytes) {
      long length = inBits ? 8 * bytes : bytes;
      if (first < 0 && last < 0 && first > last) {
        return 0;
      }
      long end = Math.min(length - 1, Math.max(0, last < 0 ? last + length : last));
      return (end + 1) * (inBits ? 1 : 8);
    }
  }

  static KeyStep getbit(List<byte[]> command, LookupRound round) throws CommandException {
    long place;
    try {
      place = Arguments.integer(command.get(2));
    } catch (CommandException e) {
      place = -1;
    }
    if (place < 0 || place >= MOST_BITS) {
      throw new CommandException("ERR bit offset is not an integer or out of range");
    }
    long wanted = place;
    return (found, out) -> {
      found.requireString();
      out.integer(wanted < 8L * found.length ? bit(found, wanted) : 0);
    };
  }

  private static int bit(Found found, long place) {
    return found.bytes[found.offset + (int) (place >>> 3)] >>> (7 - (int) (place & 7)) & 1;
  }

  static KeyStep bitcount(List<byte[]> command, LookupRound round) throws CommandException {
    Span span = Span.of(command, 2);
    boolean lacksEnd = command.size() == 3;
    return (found, out) -> {
      found.requireString();
      if (lacksEnd && found.isPresent()) {
        throw new CommandException(CommandException.SYNTAX);
      }
      out.integer(found.isPresent() ? count(found, span) : 0);
    };
  }

  private static long count(Found found, Span span) {
    long to = span.to(found.length);
    long count = 0;
    for (long place = span.from(found.length); place < to; ) {
      if ((place & 7) == 0 && place + 8 <= to) {
        count += Integer.bitCount(found.bytes[found.offset + (int) (place >>> 3)] & 0xFF);
        place += 8;
      } else {
        count += bit(found, place++);
      }
    }
    return count;
  }

  static KeyStep bitpos(List<byte[]> command, LookupRound round) throws CommandException {
    long wanted = Arguments.integer(command.get(2));
    if (wanted != 0 && wanted != 1) {
      throw new CommandException("ERR The bit argument must be 1 or 0.");
    }
    Span span = Span.of(command, 3);
    return (found, out) -> {
      found.requireString();
      out.integer(found.isPresent() ? find(found, (int) wanted, span) : -wanted);
    };
  }

  /** Returns the place of the first bit that is wanted; zeros follow a string without an end. */
  private static long find(Found found, int wanted, Span span) {
    long from = span.from(found.length);
    long to = span.to(found.length);
    byte skipped = (byte) (wanted == 1 ? 0 : -1);
    for (long place = from; place < to; ) {
      if ((place & 7) == 0
          && place + 8 <= to
          && found.bytes[found.offset + (int) (place >>> 3)] == skipped) {
        place += 8;
      } else if (bit(found, place) == wanted) {
        return place;
      } else {
        place++;
      }
    }
    return wanted == 0 && !span.hasEnd() && from < to ? to : -1;
  }
}
