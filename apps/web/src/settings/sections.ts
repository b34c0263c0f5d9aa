import type { KeyScope } from "@parley/wire";

/** A part of the settings, as its address names it. */
export type SectionId =
  | "appearance"
  | "defaults"
  | "connections"
  | "tools"
  | "approvals"
  | "usage"
  | "keys"
  | "webhooks"
  | "data"
  | "keyboard";

export interface Section {
  readonly id: SectionId;
  readonly title: string;
  /** A sentence below the title. */
  readonly description: string;
  /** The scope that a key needs to see it. */
  readonly scope?: KeyScope;
}

/** All sections, in the order in which they are listed. */
const sections: readonly Section[] = [
  { id: "appearance", title: "Appearance", description: "How the page looks in this browser." },
  {
    id: "defaults",
    title: "New conversations",
    description: "What a new conversation starts with in this browser.",
  },
  {
    id: "connections",
    title: "Models",
    description: "Providers whose models this server can ask. A change holds at once, on every node.",
    scope: "admin",
  },
  { id: "tools", title: "Tools", description: "What a model can call on this server." },
  {
    id: "approvals",
    title: "Standing approvals",
    description: "Calls that run without asking, until they are revoked or their tool changes.",
  },
  {
    id: "usage",
    title: "Usage",
    description: "Tokens and cost of your conversations, titles and compactions included.",
  },
  {
    id: "keys",
    title: "API keys",
    description: "Keys open the conversations of one owner to programs and browsers.",
    scope: "admin",
  },
  {
    id: "webhooks",
    title: "Webhooks",
    description: "Addresses that the server posts to when a turn asks for something, when it ends, and more.",
    scope: "admin",
  },
  { id: "data", title: "Data", description: "Export, import and delete conversations." },
  { id: "keyboard", title: "Keyboard", description: "Shortcuts that work now." },
];

/** Returns the sections that a key with these scopes can use. */
export function sectionsFor(scopes: readonly KeyScope[]): readonly Section[] {
  return sections.filter(({ scope }) => scope === undefined || scopes.includes(scope));
}
