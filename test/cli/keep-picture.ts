import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { inject } from "vitest";
import { launchBrowser } from "../harness/chromium.js";
import { drawTerminal } from "./draw-terminal.js";
import type { Terminal } from "./terminal.js";

/** Draws the terminal, when the picture is requested. */
export async function keepPicture(terminal: Terminal): Promise<void> {
  const file = process.env.PARLEY_TERMINAL_PICTURE;
  if (file === undefined || inject("chromium") === undefined) return;
  const rows = terminal.snapshot();
  const browser = await launchBrowser();
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await drawTerminal(browser, rows, { title: "parley chat" }));
  } finally {
    await browser.close();
  }
}
