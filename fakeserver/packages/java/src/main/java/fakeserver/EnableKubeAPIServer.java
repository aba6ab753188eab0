package fakeserver;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives a class of tests a server, in place of fabric8's annotation of this name.
 *
 * <p>Fields and parameters of these types are set: {@link KubeApiServer}; {@code Config} and {@code KubernetesClient} of fabric8, if it is
 * on the class path; {@code String} with {@link KubeConfig}. Static fields are set before all tests, others before each one.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(KubeApiServerExtension.class)
public @interface EnableKubeAPIServer {
    /** The version of Kubernetes, as in 1.34; if empty, that of the variable {@code FAKESERVER_KUBERNETES_VERSION}, or else the default. */
    String kubeAPIVersion() default "";

    /** The flags, those of {@code fakeserver serve}. */
    String[] apiServerFlags() default {};

    /** True to take objects and faults back to those of the start between tests. */
    boolean resetBetweenTests() default true;
}
