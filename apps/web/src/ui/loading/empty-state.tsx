import type { ReactElement, ReactNode } from "react";

export interface EmptyStateProps {
  readonly id?: string;
  readonly icon?: ReactElement;
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

/** Shown if there is nothing to show, or it could not be loaded: what that means and what to do. */
export function EmptyState({ id, icon, title, children, actions }: EmptyStateProps) {
  return (
    <div id={id} className="flex flex-col items-center gap-2 px-6 py-10 text-center">
      {icon !== undefined && (
        <div className="mb-1 text-faint [&_svg]:size-7" aria-hidden>
          {icon}
        </div>
      )}
      <p className="text-base font-medium text-ink">{title}</p>
      {children !== undefined && <div className="max-w-md text-sm text-soft">{children}</div>}
      {actions !== undefined && <div className="mt-3 flex flex-wrap justify-center gap-2">{actions}</div>}
    </div>
  );
}
