package fakeserver;

import java.lang.reflect.InvocationTargetException;

/** The client of fabric8, which need not be there. */
final class Fabric8 {
    private static final String PACKAGE = "io.fabric8.kubernetes.client.";
    static final String CONFIG = PACKAGE + "Config";
    static final String CLIENT = PACKAGE + "KubernetesClient";

    private Fabric8() {}

    /** Returns a configuration for a kubeconfig. The class is that which a test asks for. */
    static Object config(Class<?> config, String kubeconfig) {
        try {
            Object made = config.getMethod("fromKubeconfig", String.class).invoke(null, kubeconfig);
            // It takes a key in PKCS #8 for one of RSA.
            config.getMethod("setClientKeyAlgo", String.class).invoke(made, "EC");
            return made;
        } catch (ReflectiveOperationException error) {
            throw unusable(error);
        }
    }

    /** Returns a client for a kubeconfig. The interface is that which a test asks for. */
    static AutoCloseable client(Class<?> client, String kubeconfig) {
        try {
            Class<?> config = Class.forName(CONFIG, true, client.getClassLoader());
            Class<?> builder = Class.forName(PACKAGE + "KubernetesClientBuilder", true, client.getClassLoader());
            Object made = builder.getConstructor().newInstance();
            builder.getMethod("withConfig", config).invoke(made, config(config, kubeconfig));
            return (AutoCloseable) builder.getMethod("build").invoke(made);
        } catch (ReflectiveOperationException error) {
            throw unusable(error);
        }
    }

    private static ServerException unusable(ReflectiveOperationException error) {
        Throwable cause = error instanceof InvocationTargetException ? error.getCause() : error;
        return new ServerException("this version of fabric8's client cannot be used (6 and 7 can): " + cause, cause);
    }
}
