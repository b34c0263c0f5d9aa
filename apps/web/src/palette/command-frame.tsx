import { Dialog } from "@base-ui/react/dialog";
import { Command } from "cmdk";
import { Search } from "lucide-react";
import { type KeyboardEvent, type ReactElement, type ReactNode, useCallback, useRef } from "react";
import { Spinner } from "../ui/loading/spinner.js";

export interface CommandFrameProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** Its accessible name. */
  readonly label: string;
  readonly placeholder: string;
  readonly query: string;
  readonly onQueryChange: (query: string) => void;
  /** Score of an entry for the query, 0 for no match. Absent: the caller has filtered the entries. */
  readonly score?: ((value: string, query: string, words?: string[]) => number) | undefined;
  readonly icon?: ReactElement;
  /** Scope of the search, before the field. */
  readonly scope?: ReactNode;
  readonly isBusy?: boolean;
  readonly onKeyDown?: (event: KeyboardEvent) => void;
  /** The entries. */
  readonly children: ReactNode;
  /** Shown instead of entries, if there are none. */
  readonly empty?: ReactNode;
  /** A line at the bottom. */
  readonly footer?: ReactNode;
}

/** A field and a list below it that the arrow keys walk through while the user types. */
export function CommandFrame(props: CommandFrameProps) {
  const { open, onOpenChange, label, placeholder, query, onQueryChange } = props;
  const field = useRef<HTMLInputElement>(null);
  // At once, before the dialog has settled: users keep typing.
  const focusFirst = useCallback((element: HTMLInputElement | null) => {
    field.current = element;
    element?.focus();
  }, []);
  return (
    <Dialog.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <Dialog.Portal>
        <Dialog.Backdrop className="fixed inset-0 z-40 bg-scrim transition-opacity duration-150 data-[ending-style]:opacity-0 data-[starting-style]:opacity-0" />
        <Dialog.Popup
          initialFocus={field}
          className="pop-motion fixed inset-x-2 top-[max(0.5rem,env(safe-area-inset-top))] z-50 mx-auto flex max-h-[min(36rem,calc(100dvh-1rem))] max-w-xl flex-col overflow-hidden rounded-xl border border-line bg-raised text-ink shadow-pop outline-none sm:inset-x-4 sm:top-[12dvh] sm:max-h-[min(36rem,76dvh)]"
        >
          <Dialog.Title className="sr-only">{label}</Dialog.Title>
          <Command
            label={label}
            shouldFilter={props.score !== undefined}
            {...(props.score === undefined ? {} : { filter: props.score })}
            loop
            vimBindings={false}
            onKeyDown={props.onKeyDown}
            className="flex min-h-0 flex-1 flex-col"
          >
            <div className="flex items-center gap-2.5 border-b border-line px-4">
              <span aria-hidden className="text-faint [&_svg]:size-4">
                {props.icon ?? <Search />}
              </span>
              {props.scope}
              <Command.Input
                ref={focusFirst}
                value={query}
                onValueChange={onQueryChange}
                placeholder={placeholder}
                maxLength={400}
                className="min-w-0 flex-1 bg-transparent py-3.5 text-base text-ink outline-none placeholder:text-faint"
              />
              {props.isBusy === true && <Spinner label="Searching" className="text-faint" />}
            </div>
            {props.empty}
            <Command.List
              label={label}
              hidden={props.empty !== undefined}
              className="min-h-0 flex-1 overflow-y-auto overscroll-contain p-1.5 [scroll-padding-block:0.375rem]"
            >
              {props.children}
            </Command.List>
          </Command>
          {props.footer !== undefined && (
            <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-t border-line px-4 py-2 text-xs text-faint">
              {props.footer}
            </div>
          )}
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** The class names of one entry of the list. */
export const commandEntryClass =
  "flex cursor-default items-center gap-2.5 rounded-md px-2.5 py-2 text-sm text-ink select-none touch:py-3 " +
  "data-[selected=true]:bg-sunken data-[disabled=true]:opacity-50 " +
  "[&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-faint";

/** The class names of a group, for its heading. */
export const commandGroupClass =
  "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2.5 [&_[cmdk-group-heading]]:pb-1 " +
  "[&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:font-medium [&_[cmdk-group-heading]]:text-faint";
