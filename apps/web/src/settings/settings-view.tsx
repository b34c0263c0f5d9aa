import { ArrowLeft } from "lucide-react";
import { type ReactNode, useEffect, useRef } from "react";
import { useAccess } from "../app/access/access.js";
import { settingsId } from "../app/layout/panels.js";
import { SidebarToggle } from "../app/layout/sidebar-toggle.js";
import { usePageTitle } from "../app/page-title.js";
import { Link, settingsPath } from "../app/router.js";
import { StandingApprovals } from "../input/standing-approvals.js";
import { ShortcutTables } from "../palette/shortcut-sheet.js";
import { cx } from "../ui/cx.js";
import { EmptyState } from "../ui/loading/empty-state.js";
import { UsageView } from "../usage/usage-view.js";
import { Webhooks } from "../webhooks/webhooks.js";
import { AppearanceSection } from "./appearance-section.js";
import { ConnectionsSection } from "./connections-section.js";
import { DataSection } from "./data-section.js";
import { DefaultsSection } from "./defaults-section.js";
import { KeysSection } from "./keys-section.js";
import { type SectionId, sectionsFor } from "./sections.js";
import { ToolsSection } from "./tools-section.js";

const contents: Readonly<Record<SectionId, () => ReactNode>> = {
  appearance: AppearanceSection,
  defaults: DefaultsSection,
  connections: ConnectionsSection,
  tools: ToolsSection,
  approvals: StandingApprovals,
  usage: UsageView,
  keys: KeysSection,
  webhooks: Webhooks,
  data: DataSection,
  keyboard: ShortcutTables,
};

export interface SettingsViewProps {
  /** As the address names it. Absent: the first one. */
  readonly section: string | undefined;
}

/** The settings: a list of sections, and the one that is chosen. */
export function SettingsView({ section }: SettingsViewProps) {
  const access = useAccess();
  const offered = sectionsFor(access.phase === "granted" ? access.me.scopes : []);
  const shown = section === undefined ? offered[0] : offered.find(({ id }) => id === section);
  usePageTitle(shown === undefined ? "Settings" : `${shown.title} · Settings`);
  const top = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: each section begins at its top
  useEffect(() => {
    top.current?.scrollTo({ top: 0 });
    // If the list of sections is a row that scrolls, the chosen one is in view.
    list.current
      ?.querySelector('[aria-current="page"]')
      ?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [shown?.id]);
  const Content = shown === undefined ? undefined : contents[shown.id];
  return (
    <main className="flex min-w-0 flex-1 flex-col">
      <header className="flex h-14 shrink-0 items-center gap-1 border-b border-line px-2 sm:px-3">
        <SidebarToggle />
        <h1 className="min-w-0 flex-1 truncate px-1.5 text-base font-medium">Settings</h1>
        <Link
          to="/"
          className="flex h-9 items-center gap-1.5 rounded-md px-2.5 text-sm text-soft hover:bg-sunken hover:text-ink touch:h-11"
        >
          <ArrowLeft aria-hidden className="size-4" />
          Back
        </Link>
      </header>
      <div className="flex min-h-0 flex-1 flex-col lg:flex-row">
        <nav
          ref={list}
          aria-label="Settings"
          className="flex shrink-0 gap-1 overflow-x-auto border-b border-line px-3 py-2 lg:w-52 lg:flex-col lg:overflow-x-visible lg:border-r lg:border-b-0 lg:py-4"
        >
          {offered.map(({ id, title }) => (
            <Link
              key={id}
              to={settingsPath(id)}
              aria-current={id === shown?.id ? "page" : undefined}
              className={cx(
                "flex h-9 shrink-0 items-center rounded-md px-2.5 text-sm whitespace-nowrap touch:h-11",
                id === shown?.id
                  ? "bg-sunken font-medium text-ink"
                  : "text-soft hover:bg-sunken/60 hover:text-ink",
              )}
            >
              {title}
            </Link>
          ))}
        </nav>
        <div ref={top} className="min-h-0 flex-1 overflow-y-auto">
          {shown === undefined || Content === undefined ? (
            <EmptyState id={settingsId} title="There is no such section">
              Your key may not open it, or the address is wrong.
            </EmptyState>
          ) : (
            <section aria-labelledby={settingsId} className="mx-auto w-full max-w-[46rem] px-4 py-6 sm:px-6">
              <h2 id={settingsId} tabIndex={-1} className="text-lg font-semibold outline-none">
                {shown.title}
              </h2>
              <p className="mt-0.5 mb-5 text-sm text-soft">{shown.description}</p>
              <Content key={shown.id} />
            </section>
          )}
        </div>
      </div>
    </main>
  );
}
