// `dragoman limits`: shows the usage of limits and budgets of a running gateway.
import { asArray, asObject, asString, type JsonObject } from '../../../base/json/index.ts';
import { jsonText, type Arguments, parseArguments, printRows, type RunCommand } from '../command.ts';
import { LIMITS_OPTIONS } from '../options.ts';
import { type Ask, askerFor, originFor, successOf } from './own-gateway.ts';

const PATH = '/v1/management/limits';
/** Owners per request, the maximum of one answer. */
const PAGE = 100;
const COLUMNS = ['owner', 'limit', 'used', 'reserved', 'left', 'resets'] as const;

export const limits: RunCommand = async (argv) => {
  const args = parseArguments(argv, LIMITS_OPTIONS);
  const origin = originFor(args);
  const owners = await everyOwner(await askerFor(args, origin), origin, args);
  if (args.json) process.stdout.write(jsonText(owners));
  else if (owners.length === 0) process.stdout.write('No limits or budgets found.\n');
  else printRows(owners.flatMap(rowsOf), COLUMNS, false);
  return 0;
};

async function everyOwner(ask: Ask, origin: string, args: Arguments): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  const query = new URLSearchParams({ limit: String(PAGE) });
  for (const name of ['kind', 'id']) {
    const said = args.option(name);
    if (said !== undefined) query.set(name, said);
  }
  for (;;) {
    const page = asObject(successOf(await ask({ method: 'GET', path: `${PATH}?${query}` }), origin));
    all.push(...asArray(page['data']).map(asObject));
    const last = asString(page['last_id']);
    if (page['has_more'] !== true || last === undefined) return all;
    query.set('after', last);
  }
}

/** Rows for the limits of an owner. */
function rowsOf(entry: JsonObject): readonly Record<(typeof COLUMNS)[number], string>[] {
  const { kind, name } = asObject(entry['owner']);
  const owner = kind === 'gateway' ? 'gateway' : `${asString(kind) ?? ''} ${asString(name) ?? ''}`;
  return asArray(entry['limits'])
    .map(asObject)
    .map((limit) => {
      const amount = (member: string): string =>
        limit['unit'] === 'usd' ? `$${dollars(Number(limit[member]))}` : String(limit[member]);
      return {
        owner,
        limit: asString(limit['text']) ?? '',
        used: amount('used'),
        reserved: amount('reserved'),
        left: amount('remaining'),
        resets: asString(limit['clears_at']) ?? 'never',
      };
    });
}

/** At least cents, and more digits if there are any. */
function dollars(usd: number): string {
  return usd.toFixed(6).replace(/0{1,4}$/, '');
}
