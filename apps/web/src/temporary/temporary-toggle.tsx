import { MessageCircleDashed } from "lucide-react";
import { create } from "zustand";
import { cx } from "../ui/cx.js";

/** The choice for the next new conversation. */
export const useNewTemporary = create<{ readonly isOn: boolean }>()(() => ({ isOn: false }));

/** Returns the choice and resets it, so that the conversation after this one is kept again. */
export function takeNewTemporary(): boolean {
  const { isOn } = useNewTemporary.getState();
  useNewTemporary.setState({ isOn: false });
  return isOn;
}

/** Makes the next new conversation temporary, or not. */
export function TemporaryToggle() {
  const isOn = useNewTemporary((state) => state.isOn);
  return (
    <button
      type="button"
      aria-pressed={isOn}
      onClick={() => useNewTemporary.setState({ isOn: !isOn })}
      className={cx(
        "flex h-9 items-center gap-2 rounded-md px-2.5 text-sm touch:h-11",
        isOn ? "bg-accent-soft font-medium text-ink" : "text-soft hover:bg-sunken hover:text-ink",
      )}
    >
      <MessageCircleDashed aria-hidden className="size-4 shrink-0" />
      Temporary
    </button>
  );
}
