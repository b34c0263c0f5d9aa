import { readFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { describe, expect, it } from "vitest";

/** Returns the size of what a page loads for an entry, minified and compressed, in KB. */
async function bundleSize(entry: string): Promise<{ kilobytes: number; imports: readonly string[] }> {
  const input = new URL(entry, import.meta.url).pathname;
  const build = await rolldown({ input, platform: "browser", external: ["react"] });
  try {
    const { output } = await build.generate({ format: "esm", minify: true });
    const [chunk] = output;
    return { kilobytes: gzipSync(chunk.code, { level: 9 }).length / 1024, imports: chunk.imports };
  } finally {
    await build.close();
  }
}

describe("the bundle", () => {
  it("is as small as the README says, to a tenth", async () => {
    const { kilobytes, imports } = await bundleSize("./index.ts");
    const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
    const said = Number(/^Bundle: ([\d.]+) KB gzip/m.exec(readme)?.[1]);
    const advice = `README.md says ${said} KB, it is ${kilobytes.toFixed(1)} KB: correct the line "Bundle: N KB gzip"`;
    expect(Math.abs(kilobytes - said) / said, advice).toBeLessThan(0.1);
    expect(kilobytes).toBeLessThan(16.5);
    expect(imports).toEqual([]);
  });

  it("needs nothing but React for the hooks", async () => {
    const { imports } = await bundleSize("./react/index.ts");
    expect(imports).toEqual(["react"]);
  });
});
