import type { Tokens } from "marked";
import { expect, it } from "vitest";
import { readBlock } from "../syntax/lexer.js";
import { tableToCsv } from "./table-text.js";

it("writes a table as comma separated values, quoted where needed, and without formulas", () => {
  const markdown = [
    "| name | amount | note |",
    "| - | -: | - |",
    '| **Ann**, `x` | -5 | says "hi" |',
    "| =1+1 | +3.5% | @cmd |",
    "| a<br>b | -x | &amp; |",
  ].join("\n");
  const token = readBlock(markdown, {}, false)[0] as Tokens.Table;
  expect(tableToCsv(token)).toBe(
    ["name,amount,note", '"Ann, x",-5,"says ""hi"""', "'=1+1,+3.5%,'@cmd", '"a\nb",\'-x,&'].join("\r\n"),
  );
});
