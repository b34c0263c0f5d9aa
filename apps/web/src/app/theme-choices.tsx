import { Monitor, Moon, Sun } from "lucide-react";
import type { ReactElement } from "react";
import type { ThemeChoice } from "./theme.js";

/** The themes that can be chosen. */
export const themeChoices: readonly {
  readonly value: ThemeChoice;
  readonly label: string;
  readonly icon: ReactElement;
}[] = [
  { value: "light", label: "Light", icon: <Sun aria-hidden /> },
  { value: "dark", label: "Dark", icon: <Moon aria-hidden /> },
  { value: "system", label: "As the system", icon: <Monitor aria-hidden /> },
];
