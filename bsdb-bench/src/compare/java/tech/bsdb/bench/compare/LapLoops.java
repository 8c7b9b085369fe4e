package tech.bsdb.bench.compare;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import org.jspecify.annotations.Nullable;

/**
 * The loops over the keys of a lap, which return the sum of the answers ({@link ValueSum}). Each
 * store has its own copy of the class, so that the compiler inlines its lookups as in a program
 * that knows only this store. A shared loop would inline those of some stores and not of others.
 */
interface LapLoops {
  long gets(ComparedStore.Reader reader, byte[][] keys) throws IOException;

  long reads(ComparedStore.Reader reader, byte[][] keys) throws IOException;

  /** Copies the values of {@code length} keys at a time. */
  long batches(ComparedStore.Reader reader, byte[][] keys, byte @Nullable [][] values, int length)
      throws IOException;

  /** Reads the values of {@code length} keys at a time. */
  long readBatches(ComparedStore.Reader reader, byte[][] keys, int length) throws IOException;

  /** Returns an instance of a new copy of the class. */
  static LapLoops copy() throws IOException {
    try (InputStream in = LapLoops.class.getResourceAsStream("LapLoops$Loops.class")) {
      return (LapLoops)
          MethodHandles.lookup()
              .defineHiddenClass(in.readAllBytes(), true)
              .lookupClass()
              .getDeclaredConstructor()
              .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The class to copy. */
  final class Loops implements LapLoops {
    Loops() {}

    @Override
    public long gets(ComparedStore.Reader reader, byte[][] keys) throws IOException {
      long sum = 0;
      for (byte[] key : keys) {
        sum += ValueSum.of(reader.get(key));
      }
      return sum;
    }

    @Override
    public long reads(ComparedStore.Reader reader, byte[][] keys) throws IOException {
      long sum = 0;
      for (byte[] key : keys) {
        sum += reader.read(key);
      }
      return sum;
    }

    @Override
    public long batches(
        ComparedStore.Reader reader, byte[][] keys, byte @Nullable [][] values, int length)
        throws IOException {
      long sum = 0;
      for (int from = 0; from < keys.length; from += length) {
        reader.getBatch(keys, from, from + length, values);
        for (int i = from; i < from + length; i++) {
          sum += ValueSum.of(values[i]);
        }
      }
      return sum;
    }

    @Override
    public long readBatches(ComparedStore.Reader reader, byte[][] keys, int length)
        throws IOException {
      long sum = 0;
      for (int from = 0; from < keys.length; from += length) {
        sum += reader.readBatch(keys, from, from + length);
      }
      return sum;
    }
  }
}
