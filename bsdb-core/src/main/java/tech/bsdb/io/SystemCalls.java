package tech.bsdb.io;

import java.nio.ByteBuffer;

/**
 * The Linux system calls that the engines use. {@link LinuxCalls} makes them; tests substitute
 * implementations that fail.
 *
 * <p>A result below 0 is a negated {@link Errno error number}. Thread-safe.
 */
interface SystemCalls {
  /** Advice: do not read ahead. */
  int RANDOM = 1;

  /** Advice: start reading all of it now. */
  int WILL_NEED = 3;

  /** Advice: use huge pages if available. */
  int HUGE_PAGES = 14;

  /** Advice: map all of it now, reading missing pages (Linux 5.14). */
  int POPULATE = 22;

  /** File advice: drop its pages from the page cache, except those that a process maps. */
  int NOT_NEEDED = 4;

  /**
   * Opens a file for reading.
   *
   * @param path the bytes of the path, without a terminating zero
   * @param direct whether reads bypass the page cache
   * @return the descriptor
   */
  int open(byte[] path, boolean direct);

  /** Closes a descriptor. */
  int close(int descriptor);

  /** Reads up to {@code length} bytes; returns 0 at the end of the file. */
  long pread(int descriptor, long address, long length, long position);

  /** Returns the length of an open file. */
  long size(int descriptor);

  /** Maps new private, zeroed memory. */
  long mapMemory(long length);

  /** Maps a part of a ring, shared with the kernel. */
  long mapRing(int ring, long length, long offset);

  /** Unmaps mapped memory. */
  int unmap(long address, long length);

  /** Advises the kernel how mapped memory is used. */
  int advise(long address, long length, int advice);

  /** Advises the kernel how an open file is used as a whole. */
  int adviseFile(int descriptor, int advice);

  /** Creates an event counter. */
  int eventCounter();

  /** Adds 1 to an event counter. */
  int countEvent(int descriptor);

  /** Sets up a ring and fills in the 120 bytes of parameters. */
  int ringSetup(int entries, long parameters);

  /** Submits entries and waits for completions; returns how many were submitted. */
  int ringEnter(int ring, int submit, int complete, int flags);

  /** Returns the address of a direct buffer's first byte. */
  long address(ByteBuffer direct);

  /**
   * Returns memory as a buffer in native byte order. The buffer does not keep the memory mapped and
   * must not be used once it is unmapped.
   */
  ByteBuffer view(long address, long length);

  /** Views of memory that can be ended before it is unmapped. */
  interface Views extends AutoCloseable {
    /** Returns memory as a buffer in native byte order. */
    ByteBuffer view(long address, long length);

    /** Ends all views: any use of them, on any thread, throws an {@link IllegalStateException}. */
    @Override
    void close();
  }

  /** Creates views, which the caller closes before unmapping their memory. */
  Views views();
}
