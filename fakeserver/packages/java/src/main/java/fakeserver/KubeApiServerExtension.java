package fakeserver;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;

/** A server for each class of tests. Annotations of the class say which: {@link EnableKubeAPIServer}. */
public final class KubeApiServerExtension implements BeforeAllCallback, BeforeEachCallback, ParameterResolver {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(KubeApiServerExtension.class);

    /** Starts the server, and sets static fields. */
    @Override
    public void beforeAll(ExtensionContext context) {
        // A nested class shares the server of the class around it.
        if (current(context).isEmpty()) {
            context.getStore(NAMESPACE).put(Owned.class, start(context.getRequiredTestClass()));
        }
        inject(context, null, Modifier::isStatic);
    }

    /** Resets the server before each test but the first, and sets fields of the instance. */
    @Override
    public void beforeEach(ExtensionContext context) {
        Owned owned = current(context).orElseThrow();
        if (owned.isUsed && owned.isReset) {
            owned.server.reset();
        }
        owned.isUsed = true;
        for (Object instance : context.getRequiredTestInstances().getAllInstances()) {
            inject(context, instance, modifiers -> !Modifier.isStatic(modifiers));
        }
    }

    /** Tells if a parameter is of a type that is set. */
    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return isKnown(parameter.getParameter().getType(), parameter.isAnnotated(KubeConfig.class));
    }

    /** Returns the value of a parameter. */
    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return current(context).orElseThrow().value(parameter.getParameter().getType());
    }

    private static Owned start(Class<?> tests) {
        Optional<EnableKubeAPIServer> server = AnnotationSupport.findAnnotation(tests, EnableKubeAPIServer.class);
        if (server.isPresent()) {
            EnableKubeAPIServer options = server.get();
            KubeApiServer started = KubeApiServer.startVersion(options.kubeAPIVersion(), options.apiServerFlags());
            return new Owned(started, options.resetBetweenTests());
        }
        Optional<EnableKubernetesMockClient> mock = AnnotationSupport.findAnnotation(tests, EnableKubernetesMockClient.class);
        if (mock.isPresent() && !mock.get().crud()) {
            throw new ExtensionConfigurationException(
                    tests.getName() + ": fakeserver keeps objects, and takes no expectations of requests: say crud = true");
        }
        boolean isSecure = mock.map(EnableKubernetesMockClient::https).orElse(false);
        String version = mock.map(EnableKubernetesMockClient::kubeAPIVersion).orElse("");
        return new Owned(KubeApiServer.startVersion(version, isSecure ? new String[] {"--tls"} : new String[0]), true);
    }

    private static Optional<Owned> current(ExtensionContext context) {
        return Optional.ofNullable(context.getStore(NAMESPACE).get(Owned.class, Owned.class));
    }

    private static void inject(ExtensionContext context, Object instance, Predicate<Integer> isMeant) {
        Owned owned = current(context).orElseThrow();
        Class<?> type = instance == null ? context.getRequiredTestClass() : instance.getClass();
        Predicate<Field> isKnown = field ->
                isMeant.test(field.getModifiers()) && isKnown(field.getType(), field.isAnnotationPresent(KubeConfig.class));
        for (Field field : ReflectionSupport.findFields(type, isKnown, HierarchyTraversalMode.TOP_DOWN)) {
            try {
                field.setAccessible(true);
                field.set(instance, owned.value(field.getType()));
            } catch (IllegalAccessException error) {
                throw new ExtensionConfigurationException(field + " cannot be set: it must not be final", error);
            }
        }
    }

    private static boolean isKnown(Class<?> type, boolean isKubeconfig) {
        String name = type.getName();
        return type == KubeApiServer.class
                || type == String.class && isKubeconfig
                || name.equals(Fabric8.CONFIG)
                || name.equals(Fabric8.CLIENT);
    }

    /** A server, and the clients that were made for it. JUnit closes it after the tests of the class. */
    private static final class Owned implements ExtensionContext.Store.CloseableResource {
        final KubeApiServer server;
        final boolean isReset;
        private final List<AutoCloseable> clients = new ArrayList<>();
        boolean isUsed;

        Owned(KubeApiServer server, boolean isReset) {
            this.server = server;
            this.isReset = isReset;
        }

        synchronized Object value(Class<?> type) {
            if (type == KubeApiServer.class) {
                return server;
            }
            if (type == String.class) {
                return server.kubeconfig();
            }
            if (type.getName().equals(Fabric8.CONFIG)) {
                return Fabric8.config(type, server.kubeconfig());
            }
            if (clients.isEmpty()) {
                clients.add(Fabric8.client(type, server.kubeconfig()));
            }
            return clients.get(0);
        }

        @Override
        public void close() throws Exception {
            try (server) {
                for (AutoCloseable client : clients) {
                    client.close();
                }
            }
        }
    }
}
