package dev.onlyonce.client;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.util.HexFormat;

/**
 * The bytes of a file, as long as they are what they were. It reads one block ahead, so that the last block is withheld from
 * the server if length or digest differ: a server never gets a changed body whole.
 */
final class VerifiedFile extends InputStream {
    private static final int BLOCK = 64 * 1024;

    private final CallBody.InFile body;
    private final InputStream in;
    private final MessageDigest digest = CallBody.digest();
    private byte[] block;
    private byte[] ahead;
    private long length;
    private int at;

    VerifiedFile(CallBody.InFile body) throws IOException {
        this.body = body;
        if (!Files.isReadable(body.file()) || Files.size(body.file()) != body.length()) {
            throw new BodyChanged(body);
        }
        this.in = Files.newInputStream(body.file());
        try {
            this.block = next();
            this.ahead = next();
            check();
        } catch (IOException e) {
            in.close();
            throw e;
        }
    }

    private byte[] next() throws IOException {
        byte[] read = in.readNBytes(BLOCK);
        digest.update(read);
        length += read.length;
        return read;
    }

    /** When nothing is ahead, the digest is complete. */
    private void check() throws IOException {
        boolean tooLong = length > body.length();
        boolean complete = ahead.length == 0;
        if (tooLong || (complete && !HexFormat.of().formatHex(digest.digest()).equals(body.sha256()))) {
            throw new BodyChanged(body);
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] into, int offset, int wanted) throws IOException {
        if (at == block.length) {
            if (ahead.length == 0) {
                return -1;
            }
            block = ahead;
            at = 0;
            ahead = next();
            check();
        }
        int count = Math.min(wanted, block.length - at);
        System.arraycopy(block, at, into, offset, count);
        at += count;
        return count;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
