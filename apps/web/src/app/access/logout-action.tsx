import { useClient } from "@parley/client/react";
import { LogOut } from "lucide-react";
import { MenuAction } from "../../ui/overlay/menu.js";
import { useAccess } from "./access.js";

/** Ends the login of this browser. Not there where the server asks for no key. */
export function LogoutAction() {
  const client = useClient();
  const me = useAccess((state) => (state.phase === "granted" ? state.me : undefined));
  if (me?.auth !== "keys") return null;
  const logout = () => {
    client.request("POST /logout").then(
      () => location.assign("/"),
      () => location.assign("/"),
    );
  };
  return (
    <MenuAction icon={<LogOut aria-hidden />} onSelect={logout}>
      Log out ({me.owner})
    </MenuAction>
  );
}
