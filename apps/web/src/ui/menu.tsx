import { Menu as Base } from "@base-ui/react/menu";
import { Check } from "lucide-react";
import type { ReactElement, ReactNode } from "react";
import { cx } from "./cx.js";
import { Kbd } from "./kbd.js";

const entryClass =
  "flex w-full cursor-default items-center gap-2.5 rounded-sm px-2.5 py-1.5 text-sm text-ink outline-none select-none " +
  "data-[highlighted]:bg-sunken data-[disabled]:opacity-50 touch:py-2.5 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-soft";

export interface MenuProps {
  /** The button that opens it. */
  readonly trigger: ReactElement<Record<string, unknown>>;
  readonly children: ReactNode;
  readonly side?: "top" | "bottom" | "left" | "right";
  readonly align?: "start" | "center" | "end";
  readonly className?: string;
}

/** A menu of actions or choices, with the keyboard behaviour that people expect of one. */
export function Menu({ trigger, children, side = "bottom", align = "end", className }: MenuProps) {
  return (
    <Base.Root>
      <Base.Trigger render={trigger} />
      <Base.Portal>
        <Base.Positioner side={side} align={align} sideOffset={6} collisionPadding={8} className="z-50">
          <Base.Popup
            className={cx(
              "pop-motion max-h-[min(26rem,var(--available-height))] min-w-44 origin-[var(--transform-origin)] overflow-y-auto",
              "rounded-lg border border-line bg-raised p-1 shadow-pop outline-none",
              className,
            )}
          >
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

export interface MenuActionProps {
  readonly icon?: ReactElement;
  readonly children: ReactNode;
  readonly keys?: string;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onSelect: () => void;
}

/** One action of a menu. */
export function MenuAction({
  icon,
  children,
  keys,
  danger = false,
  disabled = false,
  onSelect,
}: MenuActionProps) {
  return (
    <Base.Item
      className={cx(entryClass, danger && "text-danger [&_svg]:text-danger")}
      disabled={disabled}
      onClick={onSelect}
    >
      {icon}
      <span className="min-w-0 flex-1">{children}</span>
      {keys !== undefined && <Kbd keys={keys} />}
    </Base.Item>
  );
}

export interface MenuChoicesProps<Value extends string> {
  readonly label: string;
  readonly value: Value;
  readonly choices: readonly {
    readonly value: Value;
    readonly label: ReactNode;
    readonly note?: ReactNode;
    readonly icon?: ReactElement;
  }[];
  readonly onChange: (value: Value) => void;
}

/** Choices of which one is taken. */
export function MenuChoices<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: MenuChoicesProps<Value>) {
  return (
    <Base.Group>
      <Base.GroupLabel className="px-2.5 pt-1.5 pb-1 text-xs font-medium text-faint">{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={(next: Value) => onChange(next)}>
        {choices.map((choice) => (
          <Base.RadioItem key={choice.value} value={choice.value} className={entryClass} closeOnClick>
            {choice.icon}
            <span className="min-w-0 flex-1">
              <span className="block truncate">{choice.label}</span>
              {choice.note !== undefined && <span className="block text-xs text-faint">{choice.note}</span>}
            </span>
            <Base.RadioItemIndicator>
              <Check aria-hidden />
            </Base.RadioItemIndicator>
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  );
}

/** A line between groups of a menu. */
export function MenuLine() {
  return <Base.Separator className="mx-1 my-1 h-px bg-line" />;
}
