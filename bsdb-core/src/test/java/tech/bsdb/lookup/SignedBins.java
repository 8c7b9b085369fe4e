package tech.bsdb.lookup;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import tech.bsdb.Layout;
import tech.bsdb.PagesFile;
import tech.bsdb.SignatureAlgorithm;
import tech.bsdb.data.DataFile;
import tech.bsdb.data.PackedWriter;
import tech.bsdb.format.Facts;
import tech.bsdb.format.FileIdentity;
import tech.bsdb.format.FileKind;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.index.BinIndex;
import tech.bsdb.io.BufferedEngine;

/** Packed records as a test puts them together, which may be in a wrong order. */
final class SignedBins {
  static final int BINS = 400;

  private static final Facts FACTS =
      new Facts(
          Layout.PACKED,
          0,
          0,
          0,
          0,
          0,
          0,
          SignatureAlgorithm.SPOOKY,
          0,
          0,
          0,
          0,
          0,
          1,
          0,
          0,
          0,
          null,
          null,
          new Facts.Bins(BINS, true, null),
          null,
          null);

  private SignedBins() {}

  /**
   * A record.
   *
   * @param high the first half of its key's signature
   * @param filling every byte of its value
   */
  record Signed(long high, byte[] key, int valueLength, byte filling) {
    Signed(long high, byte[] key, int valueLength) {
      this(high, key, valueLength, (byte) 0);
    }
  }

  /** A file of records, and its index. */
  record Written(PagesFile file, BinIndex index) {
    PackedSource open() throws IOException {
      DataFile data = new DataFile(file.open(new BufferedEngine(), true), file.check(), 0);
      return new PackedSource(List.of(data), index, FACTS);
    }
  }

  /** Writes records into the bins of their signatures, or where those before them are. */
  static Written write(Path path, List<Signed> records) throws IOException {
    List<List<Signed>> bins = new ArrayList<>();
    for (int i = 0; i < BINS; i++) {
      bins.add(new ArrayList<>());
    }
    int last = 0;
    for (Signed record : records) {
      last = Math.max(last, (int) BinIndex.bin(record.high, BINS));
      bins.get(last).add(record);
    }
    PagesFile file = new PagesFile(path, new FileIdentity(FileKind.DATA, 0));
    BinIndex.Builder index = new BinIndex.Builder(BINS, true);
    PackedWriter writer = new PackedWriter(List.of(file.pages()), true, index::add);
    for (List<Signed> bin : bins) {
      long length = 0;
      for (Signed record : bin) {
        length += RecordFrame.length(record.key.length, record.valueLength);
      }
      writer.startBin(length, 0);
      for (Signed record : bin) {
        byte[] bytes = new byte[(int) RecordFrame.length(record.key.length, record.valueLength)];
        Arrays.fill(bytes, record.filling);
        int at = RecordFrame.put(bytes, 0, record.key.length, record.valueLength);
        System.arraycopy(record.key, 0, bytes, at, record.key.length);
        writer.put(bytes, 0, bytes.length);
      }
    }
    writer.finish();
    return new Written(file.close(), index.build());
  }
}
