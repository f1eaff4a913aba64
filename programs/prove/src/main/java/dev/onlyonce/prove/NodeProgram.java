package dev.onlyonce.prove;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A node that embeds the library: {@link NodeMain}. It writes its port to a file. */
record NodeProgram(List<String> settings, Path portFile) implements NodeProcess.Program {
    /**
     * A node of this name.
     *
     * @param url of the store, by way of the network of this node
     */
    static NodeProgram of(String name, String url, int ledger, Plant plant, Path folder) {
        Path file = folder.resolve(name + ".port");
        return new NodeProgram(List.of(name, url, String.valueOf(ledger), file.toString(), plant.label()), file);
    }

    @Override
    public List<String> arguments() throws IOException {
        Files.deleteIfExists(portFile);
        List<String> all = new ArrayList<>(List.of(Guarded.class.getName(), NodeMain.class.getName()));
        all.addAll(settings);
        return all;
    }

    @Override
    public int portIfUp() throws IOException {
        return Files.exists(portFile) ? Integer.parseInt(Files.readString(portFile)) : 0;
    }

    @Override
    public String path(Work work) {
        return "/";
    }

    @Override
    public boolean executes(Work.Way way) {
        return way != Work.Way.PROXIED;
    }
}
