export interface InspectorPanelProps {
  readonly conversationId: string;
  /** Absent: the newest turn. */
  readonly turnId?: string | undefined;
  readonly onClose: () => void;
}

export interface OverlayProps {
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
  /** The conversation that is shown, if one is. */
  readonly conversationId?: string | undefined;
}

export interface CoveredRangeProps {
  readonly conversationId: string;
  readonly covers: { readonly firstSeq: number; readonly lastSeq: number };
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
}
