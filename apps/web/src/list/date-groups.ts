/** A part of the list, by when its entries were last active. */
export interface DateGroup<Entry> {
  readonly label: string;
  readonly entries: readonly Entry[];
}

const day = 86_400_000;

/** Groups entries that are sorted by their last activity, newest first, by days of the local calendar. */
export function groupByDate<Entry>(
  entries: readonly Entry[],
  lastActivityAt: (entry: Entry) => number,
  now: number,
  locale?: string,
): readonly DateGroup<Entry>[] {
  const today = new Date(now).setHours(0, 0, 0, 0);
  const month = new Intl.DateTimeFormat(locale, { month: "long", year: "numeric" });
  const groups: { label: string; entries: Entry[] }[] = [];
  for (const entry of entries) {
    const label = labelOf(lastActivityAt(entry), today, month);
    const last = groups.at(-1);
    if (last?.label === label) last.entries.push(entry);
    else groups.push({ label, entries: [entry] });
  }
  return groups;
}

function labelOf(at: number, today: number, month: Intl.DateTimeFormat): string {
  if (at >= today) return "Today";
  // Twelve hours of tolerance: a day on which the clock changes has 23 or 25 hours.
  const daysAgo = Math.round((today - new Date(at).setHours(0, 0, 0, 0)) / day);
  if (daysAgo <= 1) return "Yesterday";
  if (daysAgo <= 7) return "Previous 7 days";
  if (daysAgo <= 30) return "Previous 30 days";
  return month.format(at);
}
