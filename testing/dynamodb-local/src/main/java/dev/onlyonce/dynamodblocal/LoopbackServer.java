package dev.onlyonce.dynamodblocal;

import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import java.lang.reflect.Field;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** Starts DynamoDB Local on the loopback interface; its own main class listens on all of them. */
public final class LoopbackServer {
    private LoopbackServer() {}

    /** Takes the arguments of DynamoDB Local. */
    public static void main(String[] arguments) throws Exception {
        DynamoDBProxyServer server = ServerRunner.createServerFromCommandLineArgs(arguments);
        // It has no setting for the interface.
        Field field = DynamoDBProxyServer.class.getDeclaredField("server");
        field.setAccessible(true);
        for (Connector connector : ((Server) field.get(server)).getConnectors()) {
            ((ServerConnector) connector).setHost("127.0.0.1");
        }
        server.start();
        server.join();
    }
}
