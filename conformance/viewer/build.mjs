// Builds the viewer to one page, with places for the traces: `node build.mjs FILE`.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { buildSync } from "esbuild";

const LIMIT = 200_000;
const out = process.argv[2];
if (out === undefined) throw new Error("usage: node build.mjs FILE");

const bundled = (entry) =>
  buildSync({ entryPoints: [entry], bundle: true, minify: true, write: false, format: "iife", target: "es2022", charset: "ascii" })
    .outputFiles[0].text.trim();
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const script = bundled("src/main.ts");
const style = bundled("src/style.css");
if (/<\/(script|style)|<!--/iu.test(script + style)) throw new Error("the script or the style would end its element");
// Nothing is loaded and nothing is sent; no other script than this one is run.
const policy = [
  "default-src 'none'", `script-src ${hash(script)}`, `style-src ${hash(style)}`, "base-uri 'none'", "form-action 'none'",
].join("; ");
const page = readFileSync("src/page.html", "utf8")
  .replace("{{POLICY}}", () => policy)
  .replace("{{STYLE}}", () => style)
  .replace("{{SCRIPT}}", () => script);
if (page.length > LIMIT) throw new Error(`the page has ${page.length} bytes; ${LIMIT} are allowed`);
writeFileSync(out, page);
console.log(`viewer: ${page.length} bytes`);
