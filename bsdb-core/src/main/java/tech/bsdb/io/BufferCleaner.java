package tech.bsdb.io;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Frees direct buffers at a known time on Java 17 to 21, through {@code jdk.unsupported}, because
 * these have no supported API for it. Newer versions have {@code Arena} and warn about this use;
 * there the memory is freed when the buffers are garbage-collected.
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

  /** Frees a buffer that was allocated or mapped, not a slice; it must not be used afterwards. */
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
