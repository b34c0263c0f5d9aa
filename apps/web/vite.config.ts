import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const themeBoot = fileURLToPath(new URL("src/app/theme-boot.js", import.meta.url));

/** Puts the script that sets the theme in front of everything else, as a classic script with a hashed name. */
function themeBootScript(): Plugin {
  let building = false;
  const source = () => readFileSync(themeBoot, "utf8");
  const fileName = () => `assets/theme-${createHash("sha256").update(source()).digest("hex").slice(0, 8)}.js`;
  return {
    name: "parley-theme-boot",
    configResolved(config) {
      building = config.command === "build";
    },
    buildStart() {
      if (building) this.emitFile({ type: "asset", fileName: fileName(), source: source() });
    },
    transformIndexHtml: () => [
      {
        tag: "script",
        attrs: { src: building ? `/${fileName()}` : "/src/app/theme-boot.js" },
        injectTo: "head-prepend",
      },
    ],
  };
}

/** The server to develop against: `PARLEY_URL=http://127.0.0.1:4141 npm run dev -w @parley/web`. */
const server = process.env.PARLEY_URL ?? "http://127.0.0.1:4141";
const apiPaths = [
  "/chat",
  "/conversations",
  "/files",
  "/search",
  "/models",
  "/me",
  "/login",
  "/logout",
  "/keys",
  "/doctor",
  "/import",
  "/pending",
  "/grants",
  "/tools",
  "/health",
  "/ready",
];

export default defineConfig({
  plugins: [react(), tailwindcss(), themeBootScript()],
  // The client is read from its source, so that no build has to come first.
  resolve: {
    conditions: ["parley-source", "module", "browser", "development|production"],
    // The markdown library can parse HTML inside markdown; this page never lets it, and leaves the parser out.
    alias: { "rehype-raw": fileURLToPath(new URL("src/conversation/markdown/no-html.ts", import.meta.url)) },
  },
  build: {
    outDir: "dist",
    sourcemap: false,
    target: "es2022",
    assetsDir: "assets",
    // The page's policy allows no data: scripts or styles, and small files are cheap over one connection.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 700,
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries([
      ...apiPaths.map((path) => [path, { target: server, changeOrigin: true }] as const),
      ["/ws", { target: server.replace(/^http/, "ws"), ws: true, changeOrigin: true }] as const,
    ]),
  },
});
