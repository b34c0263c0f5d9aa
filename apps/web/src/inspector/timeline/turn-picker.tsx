import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "../../ui/icon-button.js";
import { fieldClass } from "../../ui/text/text-field.js";
import type { InspectedTurn } from "./inspected-turns.js";

export interface TurnPickerProps {
  readonly turns: readonly InspectedTurn[];
  readonly turnId: string;
  /** Undefined: always the newest. */
  readonly onPick: (turnId: string | undefined) => void;
  /** Reads the turns before these, and picks the last of them. Absent: there are none, or they are being read. */
  readonly onEarlier?: (() => void) | undefined;
}

/** Not the id of a turn: ids have no spaces. */
const earlier = "earlier turns";

/** Chooses the turn to inspect. Choosing the newest one follows the newest turn, also later. */
export function TurnPicker({ turns, turnId, onPick, onEarlier }: TurnPickerProps) {
  const index = turns.findIndex((turn) => turn.turnId === turnId);
  const pick = (place: number) => onPick(place === turns.length - 1 ? undefined : turns[place]?.turnId);
  return (
    <div className="flex items-center gap-1">
      <IconButton
        label="Turn before"
        icon={<ChevronLeft aria-hidden />}
        disabled={index <= 0 && onEarlier === undefined}
        onClick={() => (index <= 0 ? onEarlier?.() : pick(index - 1))}
      />
      <select
        aria-label="Turn"
        value={turnId}
        onChange={({ target: { value } }) =>
          value === earlier ? onEarlier?.() : pick(turns.findIndex((turn) => turn.turnId === value))
        }
        className={`${fieldClass} min-w-0 flex-1 truncate`}
      >
        {onEarlier !== undefined && <option value={earlier}>Earlier turns</option>}
        {turns.map((turn) => (
          <option key={turn.turnId} value={turn.turnId}>
            {`${turn.name}${turn.title === undefined ? "" : `: ${turn.title}`}`}
          </option>
        ))}
      </select>
      <IconButton
        label="Turn after"
        icon={<ChevronRight aria-hidden />}
        disabled={index < 0 || index >= turns.length - 1}
        onClick={() => pick(index + 1)}
      />
    </div>
  );
}
