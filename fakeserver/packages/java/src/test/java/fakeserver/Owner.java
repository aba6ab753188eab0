package fakeserver;

/** A program that owns a server, tells of it, and waits. */
final class Owner {
    private Owner() {}

    public static void main(String[] arguments) throws InterruptedException {
        KubeApiServer server = KubeApiServer.start();
        System.out.println(server.pid() + " " + server.kubeconfigFile());
        if (arguments.length > 0) {
            Thread.sleep(60_000);
        }
    }
}
