import { useRef } from "react";
import { useCommands } from "../app/commands/commands.js";
import type { OverlayProps } from "../app/layout/panel-props.js";
import { Kbd } from "../ui/kbd.js";
import { Dialog } from "../ui/overlay/dialog.js";
import { groupCommands } from "./shortcut-groups.js";

/** Every shortcut that works now, from the same list that the keyboard listens to. */
export function ShortcutSheet({ open, onOpenChange }: OverlayProps) {
  const sheet = useRef<HTMLDivElement>(null);
  return (
    <Dialog
      open={open}
      onOpenChange={onOpenChange}
      title="Keyboard shortcuts"
      size="large"
      initialFocus={sheet}
    >
      <div ref={sheet} tabIndex={-1} className="outline-none">
        <ShortcutTables />
      </div>
    </Dialog>
  );
}

/** The shortcuts by group. */
export function ShortcutTables() {
  const groups = groupCommands(useCommands().filter(({ keys }) => keys !== undefined));
  return (
    <div className="gap-x-10 sm:columns-2">
      {groups.map(({ group, commands }) => (
        <table key={group} className="mb-5 w-full break-inside-avoid text-sm">
          <caption className="pb-1 text-left text-xs font-medium text-faint">{group}</caption>
          <thead className="sr-only">
            <tr>
              <th scope="col">What it does</th>
              <th scope="col">Keys</th>
            </tr>
          </thead>
          <tbody>
            {commands.map(({ id, title, keys }) => (
              <tr key={id} className="border-b border-line last:border-b-0">
                <th scope="row" className="py-1.5 pr-4 text-left font-normal">
                  {title}
                </th>
                <td className="py-1.5 text-right">
                  <Kbd keys={keys ?? ""} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      ))}
    </div>
  );
}
