package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * A certificate that is made here, and its key, so that nothing secret is in the tree.
 *
 * @param issuer who has signed it; null if it is its own
 */
record SignedCertificate(
    X509Certificate certificate, PrivateKey key, @Nullable SignedCertificate issuer) {
  private static final Duration QUARTER = Duration.ofDays(90);
  private static final byte[] ECDSA_SHA256 = {
    0x30, 0x0a, 6, 8, 0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 4, 3, 2
  };

  /** The password of a store in a file. */
  static final String PASSWORD = "secret";

  private static final byte[] TRUE = {1, 1, -1};

  /** An authority, which signs others. */
  static SignedCertificate authority(String name) throws GeneralSecurityException {
    byte[] constraints = der(0x30, new byte[] {6, 3, 0x55, 0x1d, 0x13}, TRUE, octets(seq(TRUE)));
    return made(null, "CN=" + name, Instant.now().plus(QUARTER), constraints);
  }

  /** A certificate of a server at 127.0.0.1, which this authority signs. */
  SignedCertificate server() throws GeneralSecurityException {
    return made(this, "CN=server", Instant.now().plus(QUARTER), names(der(0x87, 127, 0, 0, 1)));
  }

  /** A certificate of a client that is valid until a time, which this authority signs. */
  SignedCertificate client(String subject, Instant end, String host, String uri)
      throws GeneralSecurityException {
    byte[] alternatives =
        names(der(0x82, host.getBytes(US_ASCII)), der(0x86, uri.getBytes(US_ASCII)));
    return made(this, subject, end, alternatives);
  }

  /** A certificate of a client with a common name alone. */
  SignedCertificate client(String name) throws GeneralSecurityException {
    return client("CN=" + name, Instant.now().plus(QUARTER), name + ".host", "urn:" + name);
  }

  private static SignedCertificate made(
      @Nullable SignedCertificate issuer, String subject, Instant end, byte[] extension)
      throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(256);
    KeyPair keys = generator.generateKeyPair();
    byte[] name = new X500Principal(subject).getEncoded();
    byte[] of = issuer == null ? name : issuer.certificate.getSubjectX500Principal().getEncoded();
    byte[] content =
        seq(
            der(0xa0, der(2, 2)),
            der(2, 1),
            ECDSA_SHA256,
            of,
            seq(time(end.minus(QUARTER.plusDays(1))), time(end)),
            name,
            keys.getPublic().getEncoded(),
            der(0xa3, seq(extension)));
    Signature signing = Signature.getInstance("SHA256withECDSA");
    signing.initSign(issuer == null ? keys.getPrivate() : issuer.key);
    signing.update(content);
    byte[] whole = seq(content, ECDSA_SHA256, der(3, new byte[1], signing.sign()));
    return new SignedCertificate(
        (X509Certificate)
            CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(whole)),
        keys.getPrivate(),
        issuer);
  }

  private static byte[] names(byte[]... each) {
    return seq(new byte[] {6, 3, 0x55, 0x1d, 0x11}, octets(seq(each)));
  }

  private static byte[] time(Instant at) {
    DateTimeFormatter form = DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'");
    return der(0x18, form.format(at.atOffset(ZoneOffset.UTC)).getBytes(US_ASCII));
  }

  private static byte[] seq(byte[]... parts) {
    return der(0x30, parts);
  }

  private static byte[] octets(byte[] part) {
    return der(4, part);
  }

  private static byte[] der(int tag, int... bytes) {
    byte[] part = new byte[bytes.length];
    for (int i = 0; i < part.length; i++) {
      part[i] = (byte) bytes[i];
    }
    return der(tag, new byte[][] {part});
  }

  private static byte[] der(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    if (content.size() >= 256) {
      out.write(0x82);
      out.write(content.size() >> 8);
    } else if (content.size() >= 128) {
      out.write(0x81);
    }
    out.write(content.size());
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }

  /** Writes the certificate as PEM. */
  Path writeCertificate(Path file) throws IOException, GeneralSecurityException {
    return pem(file, "CERTIFICATE", certificate.getEncoded());
  }

  /** Writes the key as PEM. */
  Path writeKey(Path file) throws IOException {
    return pem(file, "PRIVATE KEY", key.getEncoded());
  }

  private static Path pem(Path file, String kind, byte[] bytes) throws IOException {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
    return Files.writeString(
        file, "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
  }

  /** What a client needs to show its certificate, or none, to a server whose issuer it knows. */
  static SSLContext client(SignedCertificate authority, @Nullable SignedCertificate shown)
      throws GeneralSecurityException, IOException {
    KeyStore store = store(authority, shown);
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(store);
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(store, PASSWORD.toCharArray());
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
    return context;
  }

  /** The same as a file. */
  static Path writeStore(Path file, SignedCertificate authority, SignedCertificate shown)
      throws GeneralSecurityException, IOException {
    try (OutputStream out = Files.newOutputStream(file)) {
      store(authority, shown).store(out, PASSWORD.toCharArray());
    }
    return file;
  }

  private static KeyStore store(SignedCertificate authority, @Nullable SignedCertificate shown)
      throws GeneralSecurityException, IOException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setCertificateEntry("authority", authority.certificate);
    if (shown != null) {
      X509Certificate[] chain = {shown.certificate};
      store.setKeyEntry("client", shown.key, PASSWORD.toCharArray(), chain);
    }
    return store;
  }
}
