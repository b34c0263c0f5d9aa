/** One thing that the doctor looked at. */
export interface Finding {
  /** What was looked at: `store`, `schema`, `nodes`, `turns`, `journal`, `queue`, `search`, `log`, `models`. */
  readonly area: string;
  readonly level: "ok" | "warning" | "error";
  /** What was found, for people, with figures. */
  readonly message: string;
  /** What to do about it, for people. Absent when nothing is to be done. */
  readonly advice?: string;
  /** Whether `POST /doctor` can put it right by itself. */
  readonly fixable?: boolean;
  /** Whether this very call put it right. */
  readonly fixed?: boolean;
}

/** `GET /doctor` looks, `POST /doctor` also puts right what is safe to. For admins. */
export interface DoctorResponse {
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
}
