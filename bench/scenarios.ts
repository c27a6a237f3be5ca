// The situations that are measured, and the measuring of one target in one of them. Knows nothing of how targets
// are started or results shown.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Api } from './apis.ts';
import { PAIRS } from './pairs.ts';
import { LOAD_CORE, onCore } from './processes.ts';
import { compiled, type Target, type TargetName } from './targets.ts';

/** The figures of one run; null where a scenario has none. Times in microseconds, memory in MB. */
export interface Figures {
  readonly cpuPerRequest: number | null;
  readonly cpuPerChunk: number | null;
  readonly requestsPerSecond: number;
  readonly p50: number | null;
  readonly p99: number | null;
  /** Age of a stream's first text when the client reads it. */
  readonly first50: number | null;
  readonly first99: number | null;
  /** Age of every chunk. */
  readonly chunk50: number | null;
  readonly chunk99: number | null;
  readonly resident: number;
  /** Most streams that had begun and not ended at one moment. */
  readonly streamsAtOnce: number;
}

export interface Scenario {
  readonly name: string;
  readonly title: string;
  readonly targets: readonly TargetName[];
  readonly model: string;
  readonly bodyBytes: number;
  readonly stream: boolean;
  readonly connections: number;
  /** Seconds; the shorter ones are for `--quick`. */
  readonly warm: readonly [full: number, quick: number];
  readonly seconds: readonly [full: number, quick: number];
  /** Seconds over which the connections start. */
  readonly ramp: number;
  /** True: a gateway of its own, so that its memory is that of this load alone. */
  readonly fresh: boolean;
  /**
   * True: only measured when asked for by name, after a short run on every target that does not count: all of them
   * share a process, and the first would pay for its start.
   */
  readonly alone?: boolean;
}

const ALL: readonly TargetName[] = ['direct', 'nginx', 'relay', 'translate', 'messages'];
const PROXIES: readonly TargetName[] = ['nginx', 'relay', 'translate', 'messages'];
const RESPONSES: readonly TargetName[] = ['nginx', 'responses', 'responses-chat', 'responses-messages'];
const CHUNKS = 200;

export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'requests-2kb',
    title: '2 kB requests, 32 connections',
    targets: PROXIES,
    model: 'whole',
    bodyBytes: 2_000,
    stream: false,
    connections: 32,
    // The first thousands of requests run in slow code: the compiler is still learning what is hot.
    warm: [3, 1],
    seconds: [3, 1],
    ramp: 0,
    fresh: false,
  },
  {
    name: 'responses-2kb',
    title: '2 kB requests of the Responses API, 32 connections (nginx: of Chat Completions)',
    targets: [...RESPONSES, 'responses-stored', 'responses-chat-stored'],
    model: 'whole',
    bodyBytes: 2_000,
    stream: false,
    connections: 32,
    warm: [3, 1],
    seconds: [3, 1],
    ramp: 0,
    fresh: false,
  },
  {
    name: 'responses-chunks',
    title: '100 streams of the Responses API, a chunk every 5 ms (nginx: of Chat Completions)',
    targets: RESPONSES,
    model: 'paced-5',
    bodyBytes: 2_000,
    stream: true,
    connections: 100,
    warm: [1.5, 0.8],
    seconds: [3, 1],
    ramp: 0.7,
    fresh: false,
  },
  {
    name: 'requests-100kb',
    title: '100 kB requests, 32 connections',
    targets: PROXIES,
    model: 'whole',
    bodyBytes: 100_000,
    stream: false,
    connections: 32,
    warm: [2, 0.4],
    seconds: [3, 0.8],
    ramp: 0,
    fresh: false,
  },
  {
    name: 'chunks',
    title: '100 streams, a chunk every 5 ms',
    targets: ALL,
    model: 'paced-5',
    bodyBytes: 2_000,
    stream: true,
    connections: 100,
    warm: [1.5, 0.8],
    seconds: [3, 1],
    ramp: 0.7,
    fresh: false,
  },
  {
    name: 'single',
    title: '2 kB requests, one connection',
    targets: ALL,
    model: 'whole',
    bodyBytes: 2_000,
    stream: false,
    connections: 1,
    warm: [0.5, 0.2],
    seconds: [2, 0.6],
    ramp: 0,
    fresh: false,
  },
  {
    name: 'streams-1000',
    title: '1,000 streams, a chunk every 50 ms',
    targets: ['nginx', 'relay', 'translate'],
    model: 'paced-50',
    bodyBytes: 2_000,
    stream: true,
    connections: 1000,
    warm: [4, 2],
    seconds: [5, 1],
    ramp: 1.5,
    fresh: true,
  },
  {
    name: 'pairs',
    title: 'every client protocol with every upstream protocol: 50 streams, a chunk every 5 ms',
    targets: PAIRS.map(({ name }) => name),
    model: 'paced-5',
    bodyBytes: 2_000,
    stream: true,
    // The dearest pair must not fill the core: then chunks pile up, are read together and cost less.
    connections: 50,
    warm: [1.2, 0.6],
    seconds: [1.8, 0.8],
    ramp: 0.5,
    fresh: false,
    alone: true,
  },
];

/** Runs the load of a scenario on a target. Rejects when an answer was not as it should be. */
export async function measure(
  scenario: Scenario,
  target: Target,
  folder: string,
  quick: boolean,
): Promise<Figures> {
  const at = quick ? 1 : 0;
  const bodyPath = join(folder, `${scenario.name}-${target.name}.json`);
  const model = target.modelPrefix + scenario.model;
  writeFileSync(bodyPath, requestBody(model, scenario.bodyBytes, scenario.stream, target.api));
  const options: Record<string, string | number> = {
    port: target.port,
    body: bodyPath,
    connections: scenario.connections,
    warm: scenario.warm[at] ?? 0,
    seconds: scenario.seconds[at] ?? 0,
    ramp: scenario.ramp,
    stamps: scenario.stream ? CHUNKS : 0,
    path: target.api.path(model, scenario.stream),
    repeat: target.api.repeatsText ? 1 : 0,
  };
  const args = [
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...target.headers.flatMap((header) => ['--header', header]),
    ...target.pids.flatMap((pid) => ['--pid', String(pid)]),
  ];
  const [program = '', ...rest] = onCore(LOAD_CORE, [compiled('load'), ...args]);
  const { stdout } = await promisify(execFile)(program, rest);
  const load = JSON.parse(stdout) as LoadOutput;
  if (load.errors > 0)
    throw new Error(`${scenario.title}, ${target.label}: ${load.errors} errors, first: ${load.firstError}`);
  return {
    cpuPerRequest: scenario.stream ? null : load.cpuUs / load.requests,
    cpuPerChunk: scenario.stream ? load.cpuUs / load.chunks : null,
    requestsPerSecond: load.requests / load.seconds,
    p50: scenario.stream ? null : (load.latency?.p50 ?? null),
    p99: scenario.stream ? null : (load.latency?.p99 ?? null),
    first50: load.firstDelay?.p50 ?? null,
    first99: load.firstDelay?.p99 ?? null,
    chunk50: load.delay?.p50 ?? null,
    chunk99: load.delay?.p99 ?? null,
    resident: load.residentKb / 1024,
    streamsAtOnce: load.streamsAtOnce,
  };
}

/** What load.c prints. */
interface LoadOutput {
  readonly seconds: number;
  readonly requests: number;
  readonly chunks: number;
  readonly errors: number;
  readonly firstError: string;
  readonly cpuUs: number;
  readonly residentKb: number;
  readonly streamsAtOnce: number;
  readonly latency: Percentiles | null;
  readonly firstDelay: Percentiles | null;
  readonly delay: Percentiles | null;
}

interface Percentiles {
  readonly p50: number;
  readonly p99: number;
}

/** A conversation of about this many bytes, in messages of up to 2 kB. */
function requestBody(model: string, bytes: number, stream: boolean, api: Api): string {
  const sentence = 'The caravan "left" at dawn;\nits interpreter knew every language spoken on the way. ';
  const messages = [{ role: 'system', content: 'You answer in one paragraph.' }];
  for (let left = bytes - JSON.stringify(api.body(model, stream, messages)).length; left > 60;) {
    const size = Math.min(left, 2_000);
    const content = sentence.repeat(Math.ceil(size / sentence.length)).slice(0, size - 60);
    const message = { role: messages.length % 2 === 1 ? 'user' : 'assistant', content };
    messages.push(message);
    left -= JSON.stringify(message).length + 1;
  }
  if (messages.at(-1)?.role === 'assistant') messages.push({ role: 'user', content: 'Go on.' });
  return JSON.stringify(api.body(model, stream, messages));
}
