import { useClient } from "@parley/client/react";
import { LogOut } from "lucide-react";
import { MenuAction } from "../../ui/overlay/menu.js";
import { useAccess } from "./access.js";

/** Ends the login of this browser, or all logins of its key. Renders nothing if the server requires no key. */
export function LogoutAction() {
  const client = useClient();
  const me = useAccess((state) => (state.phase === "granted" ? state.me : undefined));
  if (me?.auth !== "keys") return null;
  const logout = (everywhere: boolean) => {
    client.request("POST /logout", { body: { everywhere } }).then(
      () => location.assign("/"),
      () => location.assign("/"),
    );
  };
  return (
    <>
      <MenuAction icon={<LogOut aria-hidden />} onSelect={() => logout(false)}>
        Log out ({me.owner})
      </MenuAction>
      <MenuAction icon={<LogOut aria-hidden />} onSelect={() => logout(true)}>
        End all logins of this key
      </MenuAction>
    </>
  );
}
