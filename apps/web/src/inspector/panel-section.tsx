import { type ReactNode, useId } from "react";

export interface PanelSectionProps {
  readonly title: string;
  /** Beside the title: a switch, a figure. */
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

/** A section of the inspector under a heading. */
export function PanelSection({ title, aside, children }: PanelSectionProps) {
  const id = useId();
  return (
    <section aria-labelledby={id} className="flex flex-col gap-2.5">
      <div className="flex min-h-7 items-center justify-between gap-3">
        <h3 id={id} className="text-sm font-semibold text-ink">
          {title}
        </h3>
        {aside}
      </div>
      {children}
    </section>
  );
}

export interface Fact {
  readonly name: string;
  readonly value: ReactNode;
}

/** Names and values, one pair per line. */
export function FactList({ facts }: { readonly facts: readonly Fact[] }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-4 gap-y-1.5 text-sm">
      {facts.map(({ name, value }) => (
        <div key={name} className="contents">
          <dt className="text-faint">{name}</dt>
          <dd className="isolate-text tabular min-w-0 text-ink">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
