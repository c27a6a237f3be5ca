// The simulated service as a fetch handler: selects the dialect by path, validates the request, generates the answer
// and delivers it with the faults of the model. Opens no sockets and works in any runtime.
import type { JsonObject, JsonValue } from '../src/base/json/index.ts';
import { type SimulatedServices, type SimulatedTask, SimulatedText } from '../src/canonical/index.ts';
import { isJsonObject, parseJson } from '../src/base/json/index.ts';
import { SimBatches } from './batches/index.ts';
import { think } from './think.ts';
import { chatDialect } from './chat-dialect.ts';
import { RequestProblems } from './request-problems.ts';
import type { SimError } from './request-problems.ts';
import { deliverJson, deliverStream, deliverText } from './delivery.ts';
import type { SetTimer, Timing } from './delivery.ts';
import { simError } from './dialect.ts';
import type { Dialect } from './dialect.ts';
import { messagesDialect } from './messages-dialect.ts';
import { findMisbehaviour } from './misbehaviour.ts';
import type { FailureKind, Misbehaviour } from './misbehaviour.ts';
import { countGemini, geminiDialect } from './gemini-dialect.ts';
import { encodeModels } from './models-list.ts';
import { nameInAddress, simTraits } from './models.ts';
import type { SimTraits } from './models.ts';
import { answerText } from './question.ts';
import { responsesDialect } from './responses-dialect.ts';
import { digest } from './seal.ts';
import { textTokens } from './tokens.ts';
import type { DurationMs, UnixMs } from '../src/base/units.ts';

export interface SimOptions {
  readonly now?: () => UnixMs;
  readonly setTimer?: SetTimer;
  /** Milliseconds between two chunks of a stream; default 0. */
  readonly pace?: number;
  /** Duration of a batch in milliseconds; default 1000. */
  readonly batchMs?: DurationMs;
  /** Tasks other than text; default none. */
  readonly tasks?: readonly SimulatedTask[];
}

export interface Sim {
  /** Answers one request. Never throws. Aborting the request stops the answer. */
  fetch(request: Request): Promise<Response>;
}

const DIALECTS: Readonly<Record<string, Dialect>> = {
  '/openai/v1/chat/completions': chatDialect,
  '/openai/v1/responses': responsesDialect,
  '/anthropic/v1/messages': messagesDialect,
};
/** Google serves both versions, and its SDKs differ in which they use. */
const GOOGLE = /^\/google\/v1(?:beta)?\/models\/(?<model>[^:]+):(?<method>\w+)$/;

/** Dialect, model and method of a path. */
interface Address {
  readonly dialect: Dialect;
  /** Model and method, if they are part of the path and not of the body. */
  readonly model?: string;
  readonly method?: string;
}

/** State of one request. */
interface Exchange {
  readonly dialect: Dialect;
  readonly name: string;
  readonly traits: SimTraits;
  readonly what: Misbehaviour;
  readonly streaming: boolean;
  readonly requestId: string;
  readonly signal: AbortSignal;
}

/** A simulated service with its own counters. */
export function createSim(options: SimOptions = {}): Sim {
  const { tasks = [] } = options;
  const now = options.now ?? Date.now;
  const timing: Timing = { setTimer: options.setTimer ?? realTimer, pace: options.pace ?? 0 };
  /** Number of requests by model name, for `flaky-3`. */
  const counts = new Map<string, number>();

  const batches = new SimBatches({
    now,
    batchMs: options.batchMs ?? 1_000,
    pause: () => new Promise((resolve) => void timing.setTimer(resolve, 0)),
    run: (path, body) =>
      fetch(
        new Request(`http://sim${path}`, { method: 'POST', headers: BATCHED, body: JSON.stringify(body) }),
      ),
    isSilent: (model) => findMisbehaviour(modelName({ model }))?.what.silent === true,
  });

  async function fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const ofBatches = await batches.fetch(request).catch(() => notFound(pathname));
    if (ofBatches) return ofBatches;
    const address = findAddress(pathname);
    const dialect = address?.dialect;
    const task = request.method === 'POST' && tasks.find(({ path }) => pathname === `/openai/v1${path}`);
    if (task) return answerTask(task, request, timing);
    if (request.method === 'GET' && !dialect) return encodeModels(pathname) ?? notFound(pathname);
    if (!dialect || !isMethod(address, searchParams.get('alt'))) return notFound(pathname);
    if (request.method !== 'POST')
      return refuse(dialect, simError(405, 'Only POST is allowed here.'), 'req_0');
    try {
      return await answer(address, await request.text(), request);
    } catch (error) {
      // A body with some ten thousand levels of nesting exhausts the stack. This is a client error.
      const deep = error instanceof RangeError;
      const what = deep
        ? simError(400, UNREADABLE)
        : simError(500, 'The simulated provider has an internal error.');
      return refuse(dialect, what, 'req_0');
    }
  }

  async function answer(address: Address, text: string, request: Request): Promise<Response> {
    const { dialect, model, method } = address;
    const body = parseJson(text);
    const requestId = `req_${digest(dialect.protocol + text).slice(0, 24)}`;
    if (!isJsonObject(body)) return refuse(dialect, simError(400, UNREADABLE), requestId);
    const named = model === undefined ? body : { ...body, model };
    const name = modelName(named);
    const traits = simTraits(name);
    if (!traits) {
      const message = `The model '${name}' does not exist. GET /models lists the simulated models.`;
      return refuse(dialect, simError(404, message, { param: 'model', code: 'model_not_found' }), requestId);
    }
    const what = findMisbehaviour(name)?.what ?? {};
    const streaming = method === undefined ? body['stream'] === true : method === STREAMS;
    const exchange = { dialect, name, traits, what, streaming, requestId, signal: request.signal };
    const early = await misbehaveEarly(exchange);
    if (early) return early;
    const problems = new RequestProblems();
    const count = method === COUNTS ? countGemini(body, traits, problems) : null;
    if (count) return Response.json(count);
    if (method !== COUNTS) dialect.check(body, traits, request.headers, problems);
    if (problems.first) return refuse(dialect, problems.first, requestId);
    return reply(exchange, named);
  }

  /** Applies faults that precede parsing. `null`: none. */
  async function misbehaveEarly({
    dialect,
    name,
    traits,
    what,
    requestId,
    signal,
  }: Exchange): Promise<Response | null> {
    if (what.silent) await pause(signal, null, timing.setTimer);
    if (what.headerDelayMs !== undefined) await pause(signal, what.headerDelayMs, timing.setTimer);
    const fail = (status: number, kind: FailureKind): Response =>
      refuse(dialect, dialect.words(status, kind, traits.contextLength), requestId);
    if (what.fail) return fail(what.fail.status, what.fail.kind);
    if (what.flaky !== undefined) {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      if (count % what.flaky !== 0) return fail(503, 'plain');
    }
    return what.html ? new Response(PAGE, { headers: { 'content-type': 'text/html; charset=utf-8' } }) : null;
  }

  function reply(exchange: Exchange, body: JsonObject): Response {
    const { dialect, traits, what, streaming, requestId, signal } = exchange;
    const headers = { [dialect.requestIdHeader]: requestId };
    if (what.emptyBody) {
      const type = streaming ? 'text/event-stream; charset=utf-8' : 'application/json';
      return new Response('', { headers: { ...headers, 'content-type': type } });
    }
    if (!streaming && what.errorAfter !== undefined) {
      return refuse(dialect, dialect.words(500, 'plain', traits.contextLength), requestId);
    }
    // Ids are the same whether streamed or not.
    const { stream: _stream, stream_options: _options, ...rest } = body;
    const question = dialect.read(body, traits, digest(dialect.protocol + JSON.stringify(rest)));
    if (what.refusePrefill && question.prefill !== '')
      return refuse(dialect, simError(400, NO_PREFILL), requestId);
    const breakAt = what.cutAfter ?? what.stallAfter ?? what.errorAfter;
    const leastChars = breakAt === undefined ? 0 : question.prefill.length + breakAt + 20;
    const given = think(question, traits, {
      stopEarly: what.stopEarly,
      leastChars,
      repeatPrefill: what.repeatPrefill,
    });
    const createdSeconds = Math.floor(now() / 1000);
    const answering = { body, traits, question, answer: given, createdSeconds, cutAt: breakAt ?? Infinity };
    if (streaming) {
      const frames = dialect.encodeFrames(answering);
      return deliverStream(frames, dialect, answering, what, timing, headers, signal);
    }
    const encoded = what.unknownEvent
      ? { ...dialect.encode(answering), telemetry: { load: 0.5 } }
      : dialect.encode(answering);
    return deliverJson(JSON.stringify(encoded), answerText(given), what, timing, headers, signal);
  }

  return { fetch };
}

/** Headers for requests of a batch. */
const BATCHED = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };
const STREAMS = 'streamGenerateContent';
const COUNTS = 'countTokens';
const METHODS: readonly (string | undefined)[] = ['generateContent', STREAMS, COUNTS];

/** Finds the dialect for a path. `null`: none. */
function findAddress(pathname: string): Address | null {
  const dialect = DIALECTS[pathname];
  if (dialect) return { dialect };
  const { model, method } = GOOGLE.exec(pathname)?.groups ?? {};
  if (model === undefined || method === undefined) return null;
  return { dialect: geminiDialect, model: nameInAddress(model), method };
}

/** False for unknown methods. A stream without `alt=sse` would be a JSON array, which is not simulated. */
function isMethod({ method }: Address, alt: string | null): boolean {
  if (method === undefined) return true;
  return METHODS.includes(method) && (method !== STREAMS || alt === 'sse');
}

async function answerTask(task: SimulatedTask, request: Request, timing: Timing): Promise<Response> {
  const { body, files } = await readTaskBody(request);
  const requestId = `req_${digest(task.path + JSON.stringify(body)).slice(0, 24)}`;
  const problems = new RequestProblems();
  const services: SimulatedServices = {
    refuse: (message, param, code, status) => problems.add(message, param, code, status),
    tokensOf: textTokens,
    fileNamed: (name) => files.get(name),
  };
  const answer = isJsonObject(body) ? task.answer(body, modelName(body), services) : null;
  const headers = { [chatDialect.requestIdHeader]: requestId };
  if (answer instanceof SimulatedText) return deliverText(answer, timing, headers, request.signal);
  if (answer) return Response.json(answer, { headers });
  return refuse(chatDialect, problems.first ?? simError(400, UNREADABLE), requestId);
}

/** Parses JSON, or a form into its texts and files. */
async function readTaskBody(
  request: Request,
): Promise<{ readonly body: JsonValue | undefined; readonly files: ReadonlyMap<string, Uint8Array> }> {
  const files = new Map<string, Uint8Array>();
  if (!request.headers.get('content-type')?.startsWith('multipart/form-data'))
    return { body: parseJson(await request.text()), files };
  const fields = new Map<string, string>();
  const form = await request.formData().catch(() => undefined);
  for (const name of form?.keys() ?? []) {
    const value: FormDataEntryValue | null = form?.get(name) ?? null;
    if (value instanceof Blob) files.set(name, await value.bytes());
    else fields.set(name, value ?? '');
  }
  return { body: form && Object.fromEntries(fields), files };
}

/** Anthropic's message since Claude 4.6. */
const NO_PREFILL =
  'This model does not support assistant message prefill. The conversation must end with a user message.';
const UNREADABLE = 'We could not parse the JSON body of your request.';
const PAGE = '<!doctype html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>';

/** Model name without the prefix `sim/` that the gateway's clients use. */
function modelName(body: JsonObject): string {
  const model: JsonValue | undefined = body['model'];
  if (typeof model !== 'string') return '';
  return model.startsWith('sim/') ? model.slice(4) : model;
}

function refuse(dialect: Dialect, what: SimError, requestId: string): Response {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    [dialect.requestIdHeader]: requestId,
  };
  if (what.status === 429) headers['retry-after'] = '1';
  return new Response(JSON.stringify(dialect.encodeError(what, requestId)), { status: what.status, headers });
}

function notFound(pathname: string): Response {
  let dialect = pathname.startsWith('/anthropic/') ? messagesDialect : chatDialect;
  if (pathname.startsWith('/google/')) dialect = geminiDialect;
  return refuse(dialect, simError(404, `Unknown path: ${pathname}`), 'req_0');
}

/** Waits until the client disconnects, or for `ms` milliseconds if given. */
function pause(signal: AbortSignal, ms: number | null, setTimer: SetTimer): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const cancel = ms === null ? null : setTimer(done, ms);
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      signal.removeEventListener('abort', done);
      cancel?.();
      resolve();
    }
  });
}

function realTimer(run: () => void, ms: DurationMs): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}
