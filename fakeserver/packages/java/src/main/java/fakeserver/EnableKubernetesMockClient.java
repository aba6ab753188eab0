package fakeserver;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/** Gives a class of tests a server, in place of fabric8's annotation of this name. It sets what {@link EnableKubeAPIServer} sets. */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(KubeApiServerExtension.class)
public @interface EnableKubernetesMockClient {
    /** The version of Kubernetes, as in 1.34; if empty, that of the variable {@code FAKESERVER_KUBERNETES_VERSION}, or else the default. */
    String kubeAPIVersion() default "";

    /** True to serve by TLS. */
    boolean https() default true;

    /** True, since this server keeps objects: it takes no expectations of requests. */
    boolean crud() default false;
}
