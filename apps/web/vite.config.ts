import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const themeBoot = fileURLToPath(new URL("src/app/theme-boot.js", import.meta.url));

/** Puts the script that sets the theme before everything else, as a classic script with a hashed name. */
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

const require = createRequire(import.meta.url);

/**
 * Builds the documents that the page shows in frames, at addresses that the server's policies name. They have no
 * origin, and the server answers no request of such a document: so their scripts are inlined.
 */
function framePages(): Plugin {
  const folder = new URL("src/artifacts/frames/", import.meta.url);
  const scriptPath = (name: string) =>
    name === "mermaid.js" ? require.resolve("@mermaid-js/tiny") : fileURLToPath(new URL(name, folder));
  const documentOf = (name: string) =>
    readFileSync(new URL(name, folder), "utf8").replaceAll(
      /<script src="([^"]+)"><\/script>/g,
      (_, script: string) =>
        `<script>${readFileSync(scriptPath(script), "utf8").replaceAll("</script", "<\\/script")}</script>`,
    );
  const names = ["artifact.html", "diagram.html", "picture.html"];
  let building = false;
  return {
    name: "parley-frames",
    configResolved(config) {
      building = config.command === "build";
    },
    buildStart() {
      if (!building) return;
      for (const name of names)
        this.emitFile({ type: "asset", fileName: `frames/${name}`, source: documentOf(name) });
    },
    configureServer(server) {
      server.middlewares.use((request, response, next) => {
        const name = names.find((each) => request.url === `/frames/${each}`);
        if (name === undefined) return next();
        response.setHeader("content-type", "text/html; charset=utf-8");
        response.end(documentOf(name));
      });
    },
  };
}

/** Modules that show the first answer: fetched after the shell, before they are needed. */
const answerParts = [
  "src/conversation/conversation-view.tsx",
  "src/conversation/markdown/markdown.tsx",
] as const;

/**
 * Lists the files that show an answer in a template of the document, as links of the lowest priority. The shell
 * activates them once it is loaded: before that they would compete with it on a slow network.
 */
function answerLinks(): Plugin {
  return {
    name: "parley-answer-links",
    transformIndexHtml: {
      order: "post",
      handler(html, { bundle = {} }) {
        const files = new Set<string>();
        const add = (fileName: string) => {
          const chunk = bundle[fileName];
          if (chunk?.type !== "chunk" || files.has(fileName) || html.includes(fileName)) return;
          files.add(fileName);
          for (const imported of chunk.imports) add(imported);
          for (const style of chunk.viteMetadata?.importedCss ?? []) files.add(style);
        };
        for (const part of answerParts) {
          const chunk = Object.values(bundle).find(
            (each) => each.type === "chunk" && each.moduleIds.some((id) => id.endsWith(part)),
          );
          if (chunk !== undefined) add(chunk.fileName);
        }
        const links = [...files].map((fileName) => {
          const kind = fileName.endsWith(".css") ? `rel="preload" as="style"` : `rel="modulepreload"`;
          return `<link ${kind} crossorigin fetchpriority="low" href="/${fileName}">`;
        });
        return [
          { tag: "template", attrs: { id: "answer-links" }, children: links.join(""), injectTo: "body" },
        ];
      },
    },
  };
}

interface ModuleGraph {
  getModuleInfo(id: string): { readonly importers: readonly string[] } | null;
}

/**
 * Three files for three parts: the shell, the conversation view, and the markdown renderer. A module that several of
 * them need goes to the first. On a slow network, requests cost more than bytes.
 */
const parts = [
  { name: "shell", entry: "src/main.tsx" },
  { name: "conversation-view", entry: answerParts[0] },
  { name: "markdown", entry: answerParts[1] },
];

/** Returns true if a part needs a module before it runs. */
function isNeededBy(entry: string, id: string, graph: ModuleGraph, seen = new Set<string>()): boolean {
  if (id.endsWith(entry)) return true;
  if (seen.has(id)) return false;
  seen.add(id);
  const importers = graph.getModuleInfo(id)?.importers ?? [];
  return importers.some((importer) => isNeededBy(entry, importer, graph, seen));
}

/** Leaves out the older formats of the formula fonts: every browser that runs the page reads the newest. */
function newestFonts(): Plugin {
  return {
    name: "parley-newest-fonts",
    enforce: "pre",
    transform: {
      filter: { id: /katex\.min\.css$/ },
      handler: (code) => code.replaceAll(/,url\([^)]*\.(?:woff|ttf)\) format\("[^"]*"\)/g, ""),
    },
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
  "/connections",
  "/usage",
  "/webhooks",
  "/oauth",
  "/doctor",
  "/import",
  "/pending",
  "/grants",
  "/tools",
  "/health",
  "/ready",
];

export default defineConfig({
  plugins: [newestFonts(), react(), tailwindcss(), themeBootScript(), framePages(), answerLinks()],
  // The client is read from its source, so that no build is needed first.
  resolve: {
    conditions: ["parley-source", "module", "browser", "development|production"],
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
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: parts.map(({ name, entry }, index) => ({
            name: (id: string, graph: ModuleGraph) => (isNeededBy(entry, id, graph) ? name : null),
            priority: parts.length - index,
          })),
        },
      },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries([
      ...apiPaths.map((path) => [path, { target: server, changeOrigin: true }] as const),
      ["/ws", { target: server.replace(/^http/, "ws"), ws: true, changeOrigin: true }] as const,
    ]),
  },
});
