import { useConversationList } from "@parley/client/react";
import { useMemo } from "react";
import { conversationPath, Link } from "../app/router.js";
import { groupFamilies, newestActivityFirst } from "../list/branches.js";
import { usePendingDeletes } from "../list/conversation-actions.js";
import { TimeAgo } from "../list/time-ago.js";
import { StatusDot } from "../ui/status-dot.js";

const mostShown = 4;

/** The conversations with the newest activity, to continue. Renders nothing if there are none. */
export function Recent() {
  const { conversations } = useConversationList().state;
  const hidden = usePendingDeletes(({ ids }) => ids);
  const recent = useMemo(() => {
    const open = conversations.filter(({ id, status }) => status !== "closed" && !hidden.has(id));
    return groupFamilies(open.toSorted(newestActivityFirst)).slice(0, mostShown);
  }, [conversations, hidden]);
  if (recent.length === 0) return null;
  return (
    <section aria-label="Recent conversations">
      <h2 className="mb-1.5 text-xs font-medium text-faint">Go on with</h2>
      <ul className="divide-y divide-line rounded-lg border border-line bg-raised">
        {recent.map(({ shown: { id, title, status, waiting, lastActivityAt } }) => (
          <li key={id}>
            <Link
              to={conversationPath(id)}
              className="flex h-11 items-center gap-3 px-3.5 text-sm hover:bg-sunken/40"
            >
              <bdi dir="auto" className="min-w-0 flex-1 truncate">
                {title === "" ? "Untitled" : title.slice(0, 200)}
              </bdi>
              <StatusDot status={status} waiting={waiting} />
              <span className="shrink-0 text-xs text-faint">
                <TimeAgo at={lastActivityAt} />
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </section>
  );
}
