/** Result of one of the doctor's checks. */
export interface Finding {
  /**
   * Area that was checked: `store`, `schema`, `nodes`, `turns`, `journal`, `queue`, `search`, `log`,
   * `models`.
   */
  readonly area: string;
  readonly level: "ok" | "warning" | "error";
  /** Result for people, with figures. */
  readonly message: string;
  /** Recommended action, for people. Absent if none is needed. */
  readonly advice?: string;
  /** True if `POST /doctor` can repair it. */
  readonly fixable?: boolean;
  /** True if this call repaired it. */
  readonly fixed?: boolean;
}

/** `GET /doctor` checks, `POST /doctor` also repairs what is safe to repair. For admins. */
export interface DoctorResponse {
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
}
