import { create } from "zustand";
import { readStored, writeStored } from "./stored.js";

/** `system` follows the machine. */
export type ThemeChoice = "light" | "dark" | "system";

const storedKey = "parley.theme";
const systemDark = () => globalThis.matchMedia?.("(prefers-color-scheme: dark)");

interface ThemeState {
  readonly choice: ThemeChoice;
  /** The theme that is shown. */
  readonly theme: "light" | "dark";
}

const resolve = (choice: ThemeChoice): "light" | "dark" =>
  choice === "system" ? (systemDark()?.matches === true ? "dark" : "light") : choice;

function initial(): ThemeState {
  const stored = readStored(storedKey);
  const choice = stored === "light" || stored === "dark" ? stored : "system";
  return { choice, theme: resolve(choice) };
}

/** The chosen theme and the theme that is shown. */
export const useTheme = create<ThemeState>()(initial);

/** Chooses a theme and stores the choice. */
export function chooseTheme(choice: ThemeChoice): void {
  writeStored(storedKey, choice === "system" ? null : choice);
  show(choice);
}

/** Follows the system's theme, and choices made in other tabs, until the page is closed. */
export function followTheme(): void {
  systemDark()?.addEventListener("change", () => show(useTheme.getState().choice));
  addEventListener("storage", (event) => {
    if (event.key === storedKey) show(initial().choice);
  });
  show(useTheme.getState().choice);
}

function show(choice: ThemeChoice): void {
  const theme = resolve(choice);
  document.documentElement.dataset.theme = theme;
  const color = getComputedStyle(document.documentElement).getPropertyValue("--canvas").trim();
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", color);
  useTheme.setState({ choice, theme });
}
