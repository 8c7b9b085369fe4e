package tech.bsdb.io;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Frees direct buffers at a known time, on Java 17 to 21, which have no supported way; {@code
 * jdk.unsupported} exports this one. Newer ones have {@code Arena}, and warn of this: there the
 * memory lives until the buffers are garbage.
 */
final class BufferCleaner {
  private static final @Nullable Object UNSAFE;
  private static final @Nullable Method INVOKE_CLEANER;

  static {
    if (Runtime.version().feature() < 22) {
      try {
        Class<?> unsafe = Class.forName("sun.misc.Unsafe");
        Field field = unsafe.getDeclaredField("theUnsafe");
        field.setAccessible(true);
        UNSAFE = field.get(null);
        INVOKE_CLEANER = unsafe.getMethod("invokeCleaner", ByteBuffer.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    } else {
      UNSAFE = null;
      INVOKE_CLEANER = null;
    }
  }

  private BufferCleaner() {}

  /** Frees a buffer as it was allocated or mapped, no slice of it; nobody may use it any more. */
  static void free(ByteBuffer buffer) {
    if (INVOKE_CLEANER != null) {
      try {
        INVOKE_CLEANER.invoke(UNSAFE, buffer);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException("cannot free a buffer", e);
      }
    }
  }
}
