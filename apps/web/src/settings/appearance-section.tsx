import { chooseTheme, useTheme } from "../app/theme.js";
import { themeChoices } from "../app/theme-choices.js";
import { showToast } from "../app/toasts.js";
import { setNotifications, useNotifications } from "../list/use-turn-ends.js";
import { ChoiceGroup } from "./choice-group.js";

/** Appearance of the page, and its notifications. */
export function AppearanceSection() {
  const choice = useTheme((state) => state.choice);
  return (
    <>
      <ChoiceGroup label="Theme" value={choice} choices={themeChoices} onChange={chooseTheme} />
      <NotificationChoice />
    </>
  );
}

const onOff = [
  { value: "off", label: "Off" },
  { value: "on", label: "When a long turn ends" },
] as const;

function NotificationChoice() {
  const isOn = useNotifications((state) => state.isOn);
  const choose = async (value: "on" | "off") => {
    const isDone = await setNotifications(value === "on");
    if (!isDone)
      showToast({ message: "The browser does not let this page notify you. Allow it there first." });
  };
  return (
    <ChoiceGroup
      label="Notifications"
      hint="Shown by the browser while this page is in the background."
      value={isOn ? "on" : "off"}
      choices={onOff}
      onChange={(value) => void choose(value)}
    />
  );
}
