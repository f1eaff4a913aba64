// Builds the files that programs serve. The result depends on package-lock.json and the sources only. `node build.mjs [directory]`
import { build } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const web = join(here, "src/main/web");
const out = process.argv[2] ?? join(here, "src/main/resources/META-INF/onlyonce/console");

await mkdir(out, { recursive: true });
await build({
  absWorkingDir: here,
  entryPoints: [
    { in: join(web, "main.tsx"), out: "app" },
    { in: join(web, "app.css"), out: "app" },
  ],
  outdir: out,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "eof",
  charset: "utf8",
  logLevel: "warning",
});
for (const file of ["index.html", "icon.svg"]) {
  await copyFile(join(web, file), join(out, file));
}
