package deadzone.demo;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Configuration;
import org.springframework.messaging.Message;
import org.springframework.messaging.MessageChannel;
import org.springframework.messaging.simp.SimpMessageHeaderAccessor;
import org.springframework.messaging.simp.SimpMessageType;
import org.springframework.messaging.simp.config.ChannelRegistration;
import org.springframework.messaging.simp.config.MessageBrokerRegistry;
import org.springframework.messaging.support.ExecutorChannelInterceptor;
import org.springframework.messaging.MessageHandler;
import org.springframework.web.socket.config.annotation.EnableWebSocketMessageBroker;
import org.springframework.web.socket.config.annotation.StompEndpointRegistry;
import org.springframework.web.socket.config.annotation.WebSocketMessageBrokerConfigurer;

/** The endpoint /ws, a broker in memory, and the two channels with their pools. */
@Configuration
@EnableWebSocketMessageBroker
public class Channels implements WebSocketMessageBrokerConfigurer {
    private final int inbound;
    private final int outbound;
    private final Work outboundWork;

    public Channels(
            @Value("${pool.inbound}") int inbound,
            @Value("${pool.outbound}") int outbound,
            @Value("${work.outbound-wait-ms}") double waitMs,
            @Value("${work.outbound-hash-kib}") int hashKib) {
        this.inbound = inbound;
        this.outbound = outbound;
        this.outboundWork = new Work(waitMs, hashKib);
    }

    @Override
    public void registerStompEndpoints(StompEndpointRegistry registry) {
        registry.addEndpoint("/ws").setAllowedOriginPatterns("*");
    }

    @Override
    public void configureMessageBroker(MessageBrokerRegistry registry) {
        registry.enableSimpleBroker("/topic", "/queue");
        registry.setApplicationDestinationPrefixes("/app");
    }

    @Override
    public void configureClientInboundChannel(ChannelRegistration channel) {
        channel.taskExecutor().corePoolSize(inbound).maxPoolSize(inbound);
    }

    @Override
    public void configureClientOutboundChannel(ChannelRegistration channel) {
        channel.taskExecutor().corePoolSize(outbound).maxPoolSize(outbound);
        channel.interceptors(new ExecutorChannelInterceptor() {
            @Override
            public Message<?> beforeHandle(Message<?> message, MessageChannel to, MessageHandler handler) {
                String destination = SimpMessageHeaderAccessor.getDestination(message.getHeaders());
                boolean copy = SimpMessageHeaderAccessor.getMessageType(message.getHeaders()) == SimpMessageType.MESSAGE;
                if (copy && destination != null && destination.startsWith("/topic/")) {
                    outboundWork.perform();
                }
                return message;
            }
        });
    }
}
