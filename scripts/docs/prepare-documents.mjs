// Copies the documents to where the site is built, with links that leave docs/ pointed at the repository.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { root, SetupError } from "../install.mjs";
import { listed, outline } from "./outline.mjs";

const repository = "https://github.com/parley-dev/parley";

/** Pages of the site that lie elsewhere in the repository. */
const brought = {
  "README.md": "index.md",
  "CHANGELOG.md": "changelog.md",
  "CONTRIBUTING.md": "contributing.md",
  "SECURITY.md": "security.md",
  "bench/README.md": "measurements.md",
};

/** Writes every page below `pagesFolder`, and the configuration of the site. Returns how many pages there are. */
export async function prepareDocuments(pagesFolder) {
  const pages = new Map([
    ...markdownBelow("docs").map((path) => [path, sitePath(path)]),
    ...Object.entries(brought),
  ]);
  checkOutline([...pages.values()]);
  for (const [from, to] of pages) {
    const text = readFileSync(join(root, from), "utf8");
    write(join(pagesFolder, to), rewriteLinks(text, { from, to, pages }));
  }
  cpSync(join(root, "docs", "images"), join(pagesFolder, "images"), { recursive: true });
  write(join(pagesFolder, ".vitepress", "theme", "index.js"), theme);
  write(join(pagesFolder, ".vitepress", "config.mjs"), configuration());
  return pages.size;
}

function markdownBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => posix.join(folder, path.replaceAll("\\", "/")))
    .filter((path) => path.endsWith(".md"))
    .sort();
}

/** The place of a page of docs/ on the site: a README is the page of its folder. */
function sitePath(path) {
  return path.replace(/^docs\//, "").replace(/(^|\/)README\.md$/, "$1index.md");
}

function checkOutline(pages) {
  const places = outline.flatMap(({ items }) =>
    items.map(([, link]) => `${link.replace(/\/$/, "/index")}.md`),
  );
  const free = pages.filter((page) => !listed.includes(page.split("/")[0]));
  const without = free.filter((page) => !places.includes(page));
  const empty = places.filter((place) => !free.includes(place) && !listed.includes(place.split("/")[0]));
  if (without.length + empty.length === 0) return;
  throw new SetupError(
    `scripts/docs/outline.mjs does not fit docs/. Without a place: ${without.join(", ") || "none"}. Without a page: ${empty.join(", ") || "none"}.`,
  );
}

/** Points links at pages of the site, and those to other files at the repository. */
function rewriteLinks(text, { from, to, pages }) {
  return text.replaceAll(/(!?\[(?:[^\][]|\[[^\]]*\])*\])\(([^()\s]+)\)/g, (whole, label, link) => {
    if (/^[a-z]+:|^#/.test(link)) return whole;
    const [path, anchor] = link.split("#");
    const target = posix.join(posix.dirname(from), path).replace(/\/$/, "");
    const page = pages.get(target) ?? pages.get(`${target}/README.md`);
    const end = anchor === undefined ? "" : `#${anchor}`;
    if (page !== undefined) return `${label}(${relative(to, page)}${end})`;
    if (target.startsWith("docs/images/")) return `${label}(${relative(to, target.slice("docs/".length))})`;
    if (target === "docs/guides") return `${label}(${relative(to, "guides/install.md")})`;
    if (!existsSync(join(root, target)))
      throw new SetupError(`${from} links to ${target}, which is not there.`);
    return `${label}(${repository}/blob/main/${target}${end})`;
  });
}

function relative(from, to) {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}

function configuration() {
  const sidebar = outline.map(({ text, items }) => ({
    text,
    collapsed: false,
    items: items.map(([label, link]) => ({ text: label, link: `/${link === "index" ? "" : link}` })),
  }));
  const settings = {
    title: "Parley",
    description: "A conversation runtime for LLM agents: one durable log per conversation.",
    outDir: join(root, "site", "dist"),
    cacheDir: join(root, "site", ".cache"),
    cleanUrls: false,
    // The site lies in any folder, also on a disk without a server in front.
    base: process.env.PARLEY_DOCS_BASE ?? "/",
    markdown: { lineNumbers: false },
    themeConfig: {
      search: { provider: "local" },
      outline: "deep",
      sidebar,
      nav: [
        { text: "Start", link: "/guides/install" },
        { text: "Guides", link: "/guides/server" },
        { text: "API", link: "/api/" },
        { text: "Operation", link: "/operation/" },
      ],
      socialLinks: [{ icon: "github", link: repository }],
    },
  };
  return `export default ${JSON.stringify(settings, null, 2)};\n`;
}

/** The theme without its web fonts: the system's are used, and nothing is loaded from elsewhere. */
const theme = 'export { default } from "vitepress/theme-without-fonts";\n';

function write(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
