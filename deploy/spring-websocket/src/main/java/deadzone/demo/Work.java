package deadzone.demo;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/** What a task takes: a wait, as for a database, then hashing. */
public record Work(double waitMs, int hashKib) {
    private static final byte[] DATA = new byte[1024];

    public void perform() {
        try {
            if (waitMs > 0) {
                Thread.sleep((long) waitMs, (int) (waitMs % 1 * 1_000_000));
            }
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (int kib = 0; kib < hashKib; kib++) {
                digest.update(DATA);
            }
            digest.digest();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException(missing);
        }
    }
}
