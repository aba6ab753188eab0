package fakeserver;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** TLS with the certificates of a kubeconfig that fakeserver has written. */
final class Certificates {
    private static final char[] NO_PASSWORD = new char[0];

    private Certificates() {}

    /** Returns a context that trusts the server, as its administrator; or nothing for a server without TLS. */
    static Optional<SSLContext> of(String kubeconfig) {
        Optional<String> authority = data(kubeconfig, "certificate-authority");
        if (authority.isEmpty()) {
            return Optional.empty();
        }
        try {
            KeyStore trusted = empty();
            trusted.setCertificateEntry("authority", certificate(authority.get()));
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(trusted);

            KeyStore own = empty();
            Certificate[] chain = {certificate(data(kubeconfig, "client-certificate").orElseThrow())};
            own.setKeyEntry("administrator", key(data(kubeconfig, "client-key").orElseThrow()), NO_PASSWORD, chain);
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(own, NO_PASSWORD);

            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
            return Optional.of(context);
        } catch (GeneralSecurityException | IOException error) {
            throw new ServerException("the certificates of the kubeconfig cannot be used: " + error.getMessage(), error);
        }
    }

    /** Returns a field of the first cluster or user, who is the administrator. */
    private static Optional<String> data(String kubeconfig, String field) {
        Matcher found = Pattern.compile("^\\s*" + field + "-data: (\\S+)$", Pattern.MULTILINE).matcher(kubeconfig);
        return found.find()
                ? Optional.of(new String(Base64.getDecoder().decode(found.group(1)), StandardCharsets.US_ASCII))
                : Optional.empty();
    }

    private static KeyStore empty() throws GeneralSecurityException, IOException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, NO_PASSWORD);
        return store;
    }

    private static Certificate certificate(String pem) throws GeneralSecurityException {
        return CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(pem.getBytes(StandardCharsets.US_ASCII)));
    }

    private static PrivateKey key(String pem) throws GeneralSecurityException {
        String encoded = pem.replaceAll("-----[A-Z ]+-----|\\s", "");
        return KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(Base64.getDecoder().decode(encoded)));
    }
}
