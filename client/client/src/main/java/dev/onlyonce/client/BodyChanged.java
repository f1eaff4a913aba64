package dev.onlyonce.client;

import java.io.IOException;

/** The file with the body is not what it was when the call was made. It was not sent, or not whole. */
public final class BodyChanged extends IOException {
    private static final long serialVersionUID = 1;

    BodyChanged(CallBody.InFile body) {
        super(body.file()
                + " has changed since the call was made, or is gone; put the same bytes back, or forget the call");
    }
}
