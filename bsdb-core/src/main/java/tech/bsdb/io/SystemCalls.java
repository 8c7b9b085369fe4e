package tech.bsdb.io;

import java.nio.ByteBuffer;

/**
 * The system calls of Linux that the engines make. The one that makes them is {@link LinuxCalls};
 * tests bring others, which fail.
 *
 * <p>A result below 0 is a negated {@link Errno error number}. Thread-safe.
 */
interface SystemCalls {
  /** Advice: read nothing ahead. */
  int RANDOM = 1;

  /** Advice: begin to read all of it now. */
  int WILL_NEED = 3;

  /** Advice: use large pages where there are some. */
  int HUGE_PAGES = 14;

  /** Advice: map all of it now, reading what is missing (Linux 5.14). */
  int POPULATE = 22;

  /** Advice on a file: drop what is in the page cache, as far as no process maps it. */
  int NOT_NEEDED = 4;

  /**
   * Opens a file for reading.
   *
   * @param path its bytes, without the 0 at the end
   * @param direct whether reads go past the page cache
   * @return the descriptor
   */
  int open(byte[] path, boolean direct);

  /** Closes a descriptor. */
  int close(int descriptor);

  /** Reads up to {@code length} bytes; 0 is the end of the file. */
  long pread(int descriptor, long address, long length, long position);

  /** Length of an open file. */
  long size(int descriptor);

  /** Maps fresh memory of that length; private, zero. */
  long mapMemory(long length);

  /** Maps a part of a ring, shared with the kernel. */
  long mapRing(int ring, long length, long offset);

  /** Unmaps what was mapped. */
  int unmap(long address, long length);

  /** Advises the kernel how mapped memory is used. */
  int advise(long address, long length, int advice);

  /** Advises the kernel how the whole of an open file is used. */
  int adviseFile(int descriptor, int advice);

  /** Creates an event counter. */
  int eventCounter();

  /** Adds 1 to an event counter. */
  int countEvent(int descriptor);

  /** Sets up a ring; the parameters, 120 bytes, are filled in. */
  int ringSetup(int entries, long parameters);

  /** Submits entries and waits for completions; gives how many were submitted. */
  int ringEnter(int ring, int submit, int complete, int flags);

  /** Address of the first byte of a direct buffer. */
  long address(ByteBuffer direct);

  /**
   * Memory as a buffer of native byte order. It does not keep the memory: nobody may use it after
   * the memory was unmapped.
   */
  ByteBuffer view(long address, long length);
}
