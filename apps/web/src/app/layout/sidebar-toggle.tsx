import { PanelLeft } from "lucide-react";
import { cx } from "../../ui/cx.js";
import { IconButton } from "../../ui/icon-button.js";
import { toggleSidebar, useLayout } from "./layout-store.js";

/** Opens the list where it is closed. Beside an open list it has nothing to do and is not there. */
export function SidebarToggle() {
  const open = useLayout((state) => state.sidebarOpen);
  return (
    <IconButton
      label="Show conversations"
      keys="Mod+B"
      icon={<PanelLeft aria-hidden />}
      onClick={toggleSidebar}
      className={cx(open && "md:hidden")}
    />
  );
}
