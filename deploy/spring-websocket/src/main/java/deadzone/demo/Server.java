package deadzone.demo;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** A WebSocket server with an inbound and an outbound pool of threads, to tune. */
@SpringBootApplication
public class Server {
    public static void main(String[] arguments) {
        SpringApplication.run(Server.class, arguments);
    }
}
