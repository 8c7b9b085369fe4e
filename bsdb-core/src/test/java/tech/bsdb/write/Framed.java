package tech.bsdb.write;

import tech.bsdb.data.FramedRecord;
import tech.bsdb.format.RecordFrame;
import tech.bsdb.hash.Signature;
import tech.bsdb.hash.SignatureFunction;

/** Frames records as builds do. */
final class Framed {
  private Framed() {}

  /** A record, whose value lies in an array of its own. */
  static FramedRecord of(byte[] key, byte[] value, SignatureFunction function) {
    Signature signature = new Signature();
    function.sign(key, 0, key.length, signature);
    int head = RecordFrame.headerLength(key.length, value.length);
    FramedRecord framed = new FramedRecord();
    framed.head = new byte[head + key.length];
    RecordFrame.put(framed.head, 0, key.length, value.length);
    System.arraycopy(key, 0, framed.head, head, key.length);
    framed.headLength = head + key.length;
    framed.keyLength = key.length;
    framed.value = value;
    framed.valueLength = value.length;
    framed.high = signature.high;
    framed.low = signature.low;
    return framed;
  }
}
