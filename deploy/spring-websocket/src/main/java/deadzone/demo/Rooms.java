package deadzone.demo;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.messaging.Message;
import org.springframework.messaging.handler.annotation.DestinationVariable;
import org.springframework.messaging.handler.annotation.MessageMapping;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.SimpMessageType;
import org.springframework.messaging.simp.SimpMessagingTemplate;
import org.springframework.stereotype.Controller;

import java.nio.charset.StandardCharsets;

/** What is sent to /app/room.N is answered at /user/queue/reply and heard at /topic/room.N. */
@Controller
public class Rooms {
    private final SimpMessagingTemplate template;
    private final Work work;

    public Rooms(
            SimpMessagingTemplate template,
            @Value("${work.wait-ms}") double waitMs,
            @Value("${work.hash-kib}") int hashKib) {
        this.template = template;
        this.work = new Work(waitMs, hashKib);
    }

    @MessageMapping("/room.{room}")
    public void handle(@DestinationVariable String room, Message<byte[]> message) {
        work.perform();
        String session = SimpMessageHeaderAccessor.getSessionId(message.getHeaders());
        SimpMessageHeaderAccessor headers = SimpMessageHeaderAccessor.create(SimpMessageType.MESSAGE);
        headers.setSessionId(session);
        headers.setLeaveMutable(true);
        template.convertAndSendToUser(
                session, "/queue/reply", marked("reply ", message), headers.getMessageHeaders());
        template.convertAndSend("/topic/room." + room, marked("broadcast ", message));
    }

    private static byte[] marked(String mark, Message<byte[]> message) {
        return (mark + new String(message.getPayload(), StandardCharsets.UTF_8)).getBytes(StandardCharsets.UTF_8);
    }
}
