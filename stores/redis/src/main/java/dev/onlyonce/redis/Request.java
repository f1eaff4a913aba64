package dev.onlyonce.redis;

import io.lettuce.core.codec.ByteArrayCodec;
import io.lettuce.core.output.NestedMultiOutput;
import io.lettuce.core.protocol.AsyncCommand;
import io.lettuce.core.protocol.Command;
import io.lettuce.core.protocol.CommandArgs;
import io.lettuce.core.protocol.CommandType;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A command for one key, or a script.
 *
 * @param script null for a command
 * @param keys all that the script uses, if the server is part of a cluster; then they are in one slot
 */
record Request(CommandType type, @Nullable Script script, List<byte[]> keys, List<byte[]> arguments) {

    static Request script(Script script, List<byte[]> keys, List<byte[]> arguments) {
        return new Request(CommandType.EVALSHA, script, keys, arguments);
    }

    static Request command(CommandType type, byte[] key, byte[]... arguments) {
        return new Request(type, null, List.of(key), List.of(arguments));
    }

    /** The same with the text of the script, which the server then knows by its digest again. */
    Request withText() {
        return new Request(CommandType.EVAL, script, keys, arguments);
    }

    AsyncCommand<byte[], byte[], List<Object>> command() {
        CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
        if (script != null) {
            args.add(type == CommandType.EVAL ? script.text() : script.digest()).add(keys.size());
        }
        args.addKeys(keys).addValues(arguments);
        return new AsyncCommand<>(new Command<>(type, new NestedMultiOutput<>(ByteArrayCodec.INSTANCE), args));
    }
}
