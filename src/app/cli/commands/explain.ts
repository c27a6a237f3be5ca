// `dragoman explain`: asks a running gateway how it would route a request, and prints the table. Nothing is sent to
// providers.
import { printable } from '../../../base/lib/printable.ts';
import { readFileSync } from 'node:fs';
import { isJsonObject, parseJson, type JsonObject } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { portOf } from '../../config/index.ts';
import { readEnvironment } from '../../../base/runtime/environment.ts';
import { type Answer, askGateway, gatewayAt } from './ask-gateway.ts';
import { jsonText, parseArguments, type Arguments, type RunCommand } from '../command.ts';
import { EXPLAIN_OPTIONS } from '../options.ts';
import { isRouteTable, routeText } from './route-text.ts';
import { errorText } from '../../../base/lib/errors.ts';

const PATH = '/v1/route/explain';

export const explain: RunCommand = async (argv) => {
  const args = parseArguments(argv, EXPLAIN_OPTIONS);
  const environment = readEnvironment();
  const key = args.option('key') ?? environment['DRAGOMAN_KEY'];
  if (!key) throw new GatewayError('invalid_request', 'requires an API key: set --key or DRAGOMAN_KEY');
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new GatewayError('invalid_request', 'the API key contains invalid characters; copy it again');
  const origin = originOf(args, environment['DRAGOMAN_PORT']);
  const protocol = args.option('protocol');
  const query = protocol === undefined ? '' : `?protocol=${encodeURIComponent(protocol)}`;
  const answer = await askGateway(origin, {
    method: 'POST',
    path: PATH + query,
    key,
    body: JSON.stringify(bodyOf(args)),
  });
  const table = readTable(answer, origin);
  const isTerminal = process.stdout.isTTY;
  process.stdout.write(
    args.json
      ? jsonText(table)
      : routeText(printed(table), {
          width: isTerminal ? process.stdout.columns : null,
          colour: isTerminal && !environment['NO_COLOR'],
        }),
  );
  return 0;
};

/** The table with texts made safe for a terminal. */
function printed<Table>(table: Table): Table {
  const safe = (_: string, value: unknown): unknown => (typeof value === 'string' ? printable(value) : value);
  return JSON.parse(JSON.stringify(table), safe) as Table;
}

/** The request to explain: that of `--body`, with the command line's model if given, or a short chat. */
function bodyOf(args: Arguments): JsonObject {
  const [model, ...words] = args.words;
  const file = args.option('body');
  if (file === undefined) {
    if (model === undefined)
      throw new GatewayError('invalid_request', 'requires a model, or a complete request with --body FILE');
    return { model, messages: [{ role: 'user', content: words.join(' ') || 'Hello!' }] };
  }
  if (words.length > 0)
    throw new GatewayError('invalid_request', '--body: already contains the prompt; remove the other one');
  const body = readJson(file);
  return model === undefined ? body : { ...body, model };
}

function readJson(file: string): JsonObject {
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = errorText(error);
    throw new GatewayError('invalid_request', `--body: cannot read a request from ${file}: ${reason}`);
  }
  if (isJsonObject(json)) return json;
  throw new GatewayError('invalid_request', `--body: ${file} must contain a JSON object`);
}

/** Address of the gateway. A client's base URL is reduced to it. */
function originOf(args: Arguments, portVariable: string | undefined): string {
  const port = portOf(args.port, '--port') ?? portOf(portVariable, 'DRAGOMAN_PORT') ?? 4000;
  return gatewayAt(args.option('url') ?? `http://${args.host ?? '127.0.0.1'}:${port}`);
}

/** The table. Throws GatewayError with advice. */
function readTable({ status, text }: Answer, origin: string): JsonObject {
  const answer = parseJson(text);
  if (status === 200 && isRouteTable(answer)) return answer;
  const error = isJsonObject(answer) && isJsonObject(answer['error']) ? answer['error'] : {};
  const said = typeof error['message'] === 'string' ? error['message'] : null;
  if (status === 401)
    throw new GatewayError(
      'authentication',
      `${said ?? 'The API key was refused.'} Set a key of the gateway at ${origin} with --key or DRAGOMAN_KEY.`,
    );
  // A 404 for a model has a code, or Anthropic's error format. Otherwise the path does not exist.
  const isModels =
    error['code'] === 'model_not_found' || (isJsonObject(answer) && answer['type'] === 'error');
  if (said === null || (status === 404 && !isModels))
    throw new GatewayError(
      'not_found',
      `the server at ${origin} has no ${PATH} (status ${status}): it is another program or an older Dragoman. Give the address of the gateway with --url.`,
    );
  throw new GatewayError('invalid_request', said);
}
