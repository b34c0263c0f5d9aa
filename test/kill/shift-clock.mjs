// Sets this process's wall clock wrong, by the configured amount, before anything else is loaded. The monotonic clock
// and the database's own time stay as they are.
const { clockOffsetMs = 0 } = JSON.parse(process.env.PARLEY_NODE ?? "{}");

if (clockOffsetMs !== 0) {
  const TrueDate = globalThis.Date;
  const now = () => TrueDate.now() + clockOffsetMs;
  globalThis.Date = class extends TrueDate {
    constructor(...given) {
      if (given.length === 0) super(now());
      else super(...given);
    }
    static now() {
      return now();
    }
  };
}
