// `dragoman replay`: replays a client's request in a running gateway, and prints the differences.
import { printableLines } from '../../../base/lib/printable.ts';
import { asObject, asString, type JsonObject } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { jsonText, padColumns, parseArguments, type RunCommand } from '../command.ts';
import { REPLAY_OPTIONS } from '../options.ts';
import { askerFor, originFor, successOf } from './own-gateway.ts';

/** Timeout in milliseconds, because models may take as long as a request may. */
const PATIENCE_MS = 3_600_000;
/** Members of a run with their names in the table. */
const ROWS = {
  id: 'generation',
  model: 'model',
  endpoint: 'endpoint',
  attempts: 'attempts',
  status: 'status',
  finish_reason: 'finish reason',
  input_tokens: 'input tokens',
  output_tokens: 'output tokens',
  reasoning_tokens: 'reasoning tokens',
  usd: 'cost (USD)',
  first_content_ms: 'first content (ms)',
  duration_ms: 'time (ms)',
} as const;

export const replay: RunCommand = async (argv) => {
  const args = parseArguments(argv, REPLAY_OPTIONS);
  const [id, ...more] = args.words;
  if (id === undefined || more.length > 0)
    throw new GatewayError('invalid_request', 'requires the id of a generation or of its response');
  const origin = originFor(args);
  const body = { model: args.option('model'), provider: args.option('provider'), tools: args.flag('tools') };
  const ask = await askerFor(args, origin);
  const response = await ask({
    method: 'POST',
    path: `/v1/management/generations/${encodeURIComponent(id)}/replay`,
    body: JSON.stringify(body),
    patienceMs: PATIENCE_MS,
  });
  const answer = asObject(successOf(response, origin));
  process.stdout.write(args.json ? jsonText(answer) : printableLines(replayText(answer)));
  return 0;
};

/** The table, and both answers if they differ. */
function replayText(answer: JsonObject): string {
  const [before, after] = [asObject(answer['before']), asObject(answer['after'])];
  const rows = Object.entries(ROWS).map(([name, title]) => [
    title,
    cell(before[name]),
    cell(after[name]),
    difference(before[name], after[name]),
  ]);
  const table = padColumns([['', 'BEFORE', 'NOW', ''], ...rows]).map((row) => row.join('  ').trimEnd());
  if (answer['same_answer'] === true) return `${table.join('\n')}\n\nThe response is the same.\n`;
  const said = (run: JsonObject): string => asString(run['answer']) ?? '(unknown)';
  return `${table.join('\n')}\n\nBEFORE\n${said(before)}\n\nNOW\n${said(after)}\n`;
}

function cell(value: JsonObject[string]): string {
  return value === null || value === undefined ? '-' : String(value);
}

function difference(before: JsonObject[string], after: JsonObject[string]): string {
  if (typeof before !== 'number' || typeof after !== 'number' || before === after || before === 0) return '';
  const percent = Math.round(((after - before) / before) * 100);
  return `${percent > 0 ? '+' : ''}${percent} %`;
}
