/** Attempts in one area, and their outcome. */
export class Area {
  readonly name: string;
  /** Number of attempts that must be refused. */
  attempts = 0;
  /** Attempts that were not refused, in words. */
  readonly accepted: string[] = [];
  /** Texts that were searched for secrets. */
  texts = 0;
  /** Secrets that turned up where they must not be, in words. */
  readonly leaks: string[] = [];
  /** Honest calls beside the attempts: if these fail, a refusal proves nothing. */
  controls = 0;
  readonly brokenControls: string[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** Records an attempt. */
  attempt(what: string, wasRefused: boolean, saw = ""): void {
    this.attempts += 1;
    if (!wasRefused) this.accepted.push(`${this.name}: ${what}${saw === "" ? "" : ` (${clip(saw)})`}`);
  }

  /** Records an honest call. */
  control(what: string, worked: boolean, saw = ""): void {
    this.controls += 1;
    if (!worked) this.brokenControls.push(`${this.name}: ${what}${saw === "" ? "" : ` (${clip(saw)})`}`);
  }

  /** Records a text that was searched, and the secrets that were found in it. */
  searched(where: string, found: readonly string[]): void {
    this.texts += 1;
    for (const name of found) this.leaks.push(`${this.name}: ${name} in ${where}`);
  }

  /** Returns everything that should not be. */
  get findings(): string[] {
    return [...this.accepted, ...this.leaks, ...this.brokenControls];
  }
}

function clip(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= 160 ? line : `${line.slice(0, 160)}…`;
}
