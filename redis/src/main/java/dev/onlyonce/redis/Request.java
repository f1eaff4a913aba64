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
 * A command for one key, or a script for one partition.
 *
 * @param script null for a command
 * @param key of the command, or the base of the partition
 */
record Request(CommandType type, @Nullable Script script, byte[] key, List<byte[]> arguments) {

    static Request script(Script script, byte[] base, List<byte[]> arguments) {
        return new Request(CommandType.EVALSHA, script, base, arguments);
    }

    static Request command(CommandType type, byte[] key, byte[]... arguments) {
        return new Request(type, null, key, List.of(arguments));
    }

    /** The same with the text of the script, which the server then knows by its digest again. */
    Request withText() {
        return new Request(CommandType.EVAL, script, key, arguments);
    }

    AsyncCommand<byte[], byte[], List<Object>> command() {
        CommandArgs<byte[], byte[]> args = new CommandArgs<>(ByteArrayCodec.INSTANCE);
        if (script != null) {
            args.add(type == CommandType.EVAL ? script.text() : script.digest()).add(1);
        }
        args.addKey(key).addValues(arguments);
        return new AsyncCommand<>(new Command<>(type, new NestedMultiOutput<>(ByteArrayCodec.INSTANCE), args));
    }
}
