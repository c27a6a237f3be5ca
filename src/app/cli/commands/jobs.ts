// `dragoman jobs list|show|cancel|retry`: manages jobs of a running gateway.
import { asArray, asObject, asString, type JsonObject, type JsonValue } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import {
  type Arguments,
  jsonText,
  noAction,
  parseArguments,
  printRows,
  type RunCommand,
} from '../command.ts';
import { JOBS_OPTIONS } from '../options.ts';
import { type Ask, askerFor, originFor, successOf } from './own-gateway.ts';

const PATH = '/v1/management/jobs';
const COLUMNS = ['id', 'kind', 'state', 'project', 'attempt', 'created', 'why'] as const;

export const jobs: RunCommand = async (argv) => {
  const args = parseArguments(argv, JOBS_OPTIONS);
  const word = args.words[0] ?? 'list';
  const action = ACTIONS.get(word);
  if (!action) throw noAction('jobs', word, [...ACTIONS.keys()]);
  const origin = originFor(args);
  const ask = await askerFor(args, origin);
  const found = await action((method, path) => askFor(ask, origin, method, path), args);
  if (args.json) process.stdout.write(jsonText(found));
  else if (Array.isArray(found) && found.length === 0) process.stdout.write('No jobs found.\n');
  else
    printRows(
      [found].flat().map((job) => rowOf(asObject(job))),
      COLUMNS,
      false,
    );
  return 0;
};

type Asking = (method: 'GET' | 'POST', path: string) => Promise<JsonObject>;
type Action = (ask: Asking, args: Arguments) => Promise<JsonValue>;

const ACTIONS: ReadonlyMap<string, Action> = new Map<string, Action>([
  ['list', list],
  ['show', (ask, args) => ask('GET', `${PATH}/${idOf(args)}`)],
  ['cancel', (ask, args) => ask('POST', `${PATH}/${idOf(args)}/cancel`)],
  ['retry', (ask, args) => ask('POST', `${PATH}/${idOf(args)}/retry`)],
]);

async function list(ask: Asking, args: Arguments): Promise<JsonValue> {
  const query = new URLSearchParams({ limit: '100' });
  for (const name of ['state', 'kind', 'project']) {
    const said = args.option(name);
    if (said !== undefined) query.set(name, said);
  }
  return asArray((await ask('GET', `${PATH}?${query}`))['data']);
}

function idOf(args: Arguments): string {
  const id = args.words[1];
  if (!id) throw new GatewayError('invalid_request', 'requires the id of a job');
  return encodeURIComponent(id);
}

async function askFor(ask: Ask, origin: string, method: 'GET' | 'POST', path: string): Promise<JsonObject> {
  return asObject(successOf(await ask({ method, path }), origin));
}

function rowOf(job: JsonObject): Readonly<Record<string, string>> {
  const text = (name: string): string => String(job[name] ?? '');
  return {
    id: text('id'),
    kind: text('kind'),
    state: text('state'),
    project: text('project'),
    attempt: text('attempt'),
    created: text('created_at').slice(0, 19).replace('T', ' '),
    why: asString(asObject(job['error'])['message']) ?? text('waits_for'),
  };
}
