import { useInbox } from "@parley/client/react";
import { PanelLeft } from "lucide-react";
import { cx } from "../../ui/cx.js";
import { IconButton } from "../../ui/icon-button.js";
import { toggleSidebar, useLayout } from "./layout-store.js";

/** Opens the list if it is closed, and shows that something waits in it. Renders nothing beside an open list. */
export function SidebarToggle() {
  const open = useLayout((state) => state.sidebarOpen);
  const waiting = useInbox().state.requests.length;
  return (
    <IconButton
      label={waiting === 0 ? "Show conversations" : `Show conversations (${waiting} waiting)`}
      keys="Mod+B"
      icon={
        <span className="relative inline-flex">
          <PanelLeft aria-hidden />
          {waiting > 0 && <span className="absolute -top-1 -right-1 size-2 rounded-full bg-warn" />}
        </span>
      }
      onClick={toggleSidebar}
      className={cx(open && "md:hidden")}
    />
  );
}
