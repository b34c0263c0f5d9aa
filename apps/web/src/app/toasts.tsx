import { X } from "lucide-react";
import { useEffect, useState } from "react";
import { create } from "zustand";
import { Button } from "../ui/button.js";
import { IconButton } from "../ui/icon-button.js";

/** A short note at the bottom of the page. */
export interface Toast {
  readonly message: string;
  readonly action?: { readonly label: string; readonly run: () => void };
  /** Duration in milliseconds; hovering and focus extend it. Default: 6 seconds. */
  readonly ms?: number;
  /** Called when the note disappears by itself or is closed, not when its action was taken. */
  readonly onGone?: () => void;
}

interface ShownToast extends Toast {
  readonly id: number;
}

const mostShown = 4;
let nextId = 1;
const useToasts = create<{ readonly toasts: readonly ShownToast[] }>()(() => ({ toasts: [] }));

/** Shows a note; returns the function that removes it. */
export function showToast(toast: Toast): () => void {
  const id = nextId++;
  const all = [...useToasts.getState().toasts, { ...toast, id }];
  const tooMany = all.splice(0, Math.max(0, all.length - mostShown));
  useToasts.setState({ toasts: all });
  for (const gone of tooMany) gone.onGone?.();
  return () => drop(id);
}

function drop(id: number): void {
  useToasts.setState(({ toasts }) => ({ toasts: toasts.filter((toast) => toast.id !== id) }));
}

/** The notes. They are announced politely and can be reached by keyboard. */
export function Toasts() {
  const toasts = useToasts((state) => state.toasts);
  return (
    <ul
      aria-label="Notifications"
      aria-live="polite"
      className="pointer-events-none fixed inset-x-0 bottom-0 z-50 flex flex-col items-center gap-2 px-4 pb-[calc(var(--composer-height,8.5rem)+1rem)]"
    >
      {toasts.map((toast) => (
        <ToastCard key={toast.id} toast={toast} />
      ))}
    </ul>
  );
}

function ToastCard({ toast }: { readonly toast: ShownToast }) {
  const [held, setHeld] = useState(false);
  useEffect(() => {
    if (held) return;
    const timer = setTimeout(() => {
      drop(toast.id);
      toast.onGone?.();
    }, toast.ms ?? 6_000);
    return () => clearTimeout(timer);
  }, [held, toast]);
  return (
    <li
      className="pointer-events-auto flex max-w-lg items-center gap-2 rounded-lg border border-line bg-raised py-1.5 pr-1.5 pl-4 text-sm shadow-pop"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <span className="isolate-text min-w-0 flex-1">{toast.message}</span>
      {toast.action !== undefined && (
        <Button
          tone="quiet"
          size="small"
          className="text-accent"
          onClick={() => {
            drop(toast.id);
            toast.action?.run();
          }}
        >
          {toast.action.label}
        </Button>
      )}
      <IconButton
        size="small"
        label="Dismiss"
        icon={<X aria-hidden />}
        onClick={() => {
          drop(toast.id);
          toast.onGone?.();
        }}
      />
    </li>
  );
}
