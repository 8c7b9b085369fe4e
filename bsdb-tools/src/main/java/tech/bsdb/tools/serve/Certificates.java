package tech.bsdb.tools.serve;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/**
 * The certificate chain and key of a server.
 *
 * @param context what encrypted connections are made with
 * @param notBefore when all certificates of the chain have become valid
 * @param notAfter when the first of them expires
 */
record Certificates(SslContext context, Instant notBefore, Instant notAfter) {
  private static final String KEY_BEGINS = "-----BEGIN PRIVATE KEY-----";

  /** How keys of an algorithm sign. */
  private static final Map<String, String> SIGNATURES =
      Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA", "EdDSA", "EdDSA");

  /**
   * Reads a certificate chain and its key.
   *
   * @throws FileSystemException if a file cannot be used, with what it should hold
   */
  static Certificates load(ServeOptions.Tls files) throws IOException {
    mustHold(files.certificate(), "-----BEGIN CERTIFICATE-----", "a PEM certificate");
    String key = mustHold(files.key(), "PRIVATE KEY-----", "a PEM private key");
    if (!key.contains(KEY_BEGINS)) {
      throw new FileSystemException(
          files.key().toString(),
          null,
          "not a PKCS#8 key without a password; convert it with: openssl pkcs8 -topk8 -nocrypt -in"
              + " KEY -out NEW");
    }
    if (!belongTogether(files.certificate(), key)) {
      throw new FileSystemException(
          files.certificate().toString(),
          files.key().toString(),
          "the key is not that of the certificate");
    }
    try {
      SslContext context =
          SslContextBuilder.forServer(files.certificate().toFile(), files.key().toFile())
              .sslProvider(SslProvider.JDK)
              .protocols("TLSv1.3", "TLSv1.2")
              .build();
      Instant notBefore = Instant.MIN;
      Instant notAfter = Instant.MAX;
      for (X509Certificate each : chain(files.certificate())) {
        Instant begins = each.getNotBefore().toInstant();
        Instant ends = each.getNotAfter().toInstant();
        notBefore = begins.isAfter(notBefore) ? begins : notBefore;
        notAfter = ends.isBefore(notAfter) ? ends : notAfter;
      }
      return new Certificates(context, notBefore, notAfter);
    } catch (IllegalArgumentException | CertificateException | IOException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      throw new FileSystemException(
          files.certificate().toString(),
          files.key().toString(),
          "cannot be used as certificate and key: " + cause.getMessage());
    }
  }

  private static List<X509Certificate> chain(Path file) throws IOException, CertificateException {
    try (InputStream in = Files.newInputStream(file)) {
      return CertificateFactory.getInstance("X.509").generateCertificates(in).stream()
          .map(X509Certificate.class::cast)
          .toList();
    }
  }

  /**
   * Whether what the key signs is what the certificate vouches for. The JDK does not look, and then
   * every handshake fails. What cannot be read here is left to be refused with its reason.
   */
  private static boolean belongTogether(Path certificate, String key) throws IOException {
    PublicKey known;
    try (InputStream in = Files.newInputStream(certificate)) {
      known = CertificateFactory.getInstance("X.509").generateCertificate(in).getPublicKey();
    } catch (CertificateException e) {
      return true;
    }
    String signature = SIGNATURES.get(known.getAlgorithm());
    if (signature == null) {
      return true;
    }
    int begin = key.indexOf(KEY_BEGINS) + KEY_BEGINS.length();
    int end = key.indexOf("-----END", begin);
    try {
      byte[] encoded = Base64.getMimeDecoder().decode(key.substring(begin, Math.max(begin, end)));
      KeyFactory keys = KeyFactory.getInstance(known.getAlgorithm());
      Signature signing = Signature.getInstance(signature);
      signing.initSign(keys.generatePrivate(new PKCS8EncodedKeySpec(encoded)));
      byte[] signed = signing.sign();
      signing.initVerify(known);
      return signing.verify(signed);
    } catch (GeneralSecurityException | IllegalArgumentException e) {
      return false; // a key of another algorithm, or none
    }
  }

  private static String mustHold(Path file, String mark, String what) throws IOException {
    String text = new String(SmallFile.read(file, what), ISO_8859_1);
    if (!text.contains(mark)) {
      throw new FileSystemException(file.toString(), null, "holds no " + what.substring(2));
    }
    return text;
  }
}
