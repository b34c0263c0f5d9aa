import { omitUndefined } from "@parley/fold";
import type { Finding } from "@parley/wire";
import { exitCodes } from "../../cli-error.js";
import { loadConfig } from "../../config/load-config.js";
import { examineMachine } from "../../doctor/examine-machine.js";
import { examineProviders } from "../../doctor/examine-providers.js";
import { explain } from "../../explain.js";
import type { Io } from "../../io.js";
import { safeLine } from "../../terminal/safe-text.js";
import { wrap } from "../../terminal/wrap.js";
import type { VerbContext } from "../../verb-context.js";

export interface DoctorOptions {
  readonly fix?: boolean;
  readonly providers: boolean;
  readonly json?: boolean;
}

/** Looks for what is wrong: on this machine, in the configuration, at the providers and in the store. */
export async function doctor(options: DoctorOptions, context: VerbContext): Promise<number> {
  const { io, globals } = context;
  const findings: Finding[] = [];
  const add = (...more: readonly Finding[]) => {
    findings.push(...more);
    if (!options.json) for (const finding of more) io.lines(findingLines(finding, io));
  };
  const remote = globals.url !== undefined || (process.env.PARLEY_URL ?? "") !== "";
  if (!remote) {
    try {
      const config = await loadConfig({ flags: globals });
      add(...(await examineMachine(config)));
      if (options.providers) add(...(await examineProviders(config)));
    } catch (error) {
      const { message, advice } = explain(error);
      add({ area: "config", level: "error", message, ...omitUndefined({ advice }) });
    }
  }
  try {
    const { client, via, place } = await context.connect();
    add({
      area: "server",
      level: "ok",
      message:
        via === "server"
          ? `A server answers at ${place}`
          : "No server runs on this store; it was opened here",
    });
    const { findings: found } = options.fix
      ? await client.request("POST /doctor")
      : await client.request("GET /doctor");
    add(...found);
  } catch (error) {
    const { message, advice } = explain(error);
    if (!findings.some((finding) => finding.message === message)) {
      add({ area: "store", level: "error", message, ...omitUndefined({ advice }) });
    }
  }
  const bad = findings.filter(({ level, fixed }) => level === "error" && fixed !== true);
  if (options.json) io.json({ healthy: bad.length === 0, findings });
  else summary(findings, options, io);
  return bad.length === 0 ? exitCodes.ok : exitCodes.failure;
}

function findingLines(finding: Finding, { style, columns = 100 }: Io): string[] {
  const { area, level, message, advice, fixed, fixable } = finding;
  const mark = fixed
    ? style.green("✓ mended")
    : level === "ok"
      ? style.green("✓")
      : level === "warning"
        ? style.yellow("!")
        : style.red("✗");
  const lines = message.split("\n");
  const head = `${mark} ${style.bold(area.padEnd(9))} ${safeLine(lines[0] ?? "")}`;
  const more = lines.slice(1).map((line) => `    ${line.trim()}`);
  const what = fixed ? undefined : (advice ?? (fixable ? "parley doctor --fix" : undefined));
  const todo =
    what === undefined
      ? []
      : wrap(style.dim(`→ ${safeLine(what)}`), { columns, first: "    ", rest: "      " });
  return [head, ...more, ...todo];
}

function summary(findings: readonly Finding[], options: DoctorOptions, io: Io): void {
  const count = (level: Finding["level"]) =>
    findings.filter((finding) => finding.level === level && finding.fixed !== true).length;
  const [errors, warnings] = [count("error"), count("warning")];
  io.line();
  if (errors + warnings === 0) {
    io.line(io.style.green("All is well."));
    return;
  }
  const fixable = findings.some((finding) => finding.fixable === true && finding.fixed !== true);
  io.line(
    `${errors} wrong, ${warnings} to look at.${fixable && !options.fix ? " `parley doctor --fix` mends what it can." : ""}`,
  );
}
