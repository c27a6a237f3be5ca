// Measures one target under one load: writes the body, runs the load generator and reads what it prints. Knows nothing
// of how targets are started, which loads there are or how results are shown.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { agentBody, conversationBody } from './bodies.ts';
import { LOAD_CORE, onCore } from './processes.ts';
import { compiled, type Target } from './targets.ts';

/** The figures of one run, those that it has. */
export type Figures = Readonly<Partial<Record<FigureName, number | null>>>;

/** Times in microseconds where no unit is named, memory in MB. */
export type FigureName =
  | 'cpuPerRequest'
  | 'cpuPerChunk'
  | 'requestsPerSecond'
  | 'p50'
  | 'p99'
  /** Age of a stream's first text when the client reads it. */
  | 'first50'
  | 'first99'
  /** Age of every chunk. */
  | 'chunk50'
  | 'chunk99'
  | 'resident'
  /** Most streams that had begun and not ended at one moment. */
  | 'streamsAtOnce'
  /** See start-up.ts and footprint.ts. */
  | 'firstAnswerSeconds'
  | 'idleResident'
  | 'ledgerBytes'
  | 'allocatedMb'
  | 'keptMb';

/** Requests to send, and how many clients send them at once. */
export interface Load {
  readonly name: string;
  readonly title: string;
  /** How the upstream answers: one of the names that mock.c reads. */
  readonly model: string;
  readonly bodyBytes: number;
  /** True: the request of an agent with tools; absent: a conversation. */
  readonly agent?: boolean;
  readonly stream: boolean;
  readonly connections: number;
  /** Seconds over which the connections start. */
  readonly ramp: number;
  /** Requests a second of each connection; absent: the next one as soon as the last was answered. */
  readonly rate?: number;
}

export interface Window {
  /** Seconds that do not count, and those that do. */
  readonly warm: number;
  readonly seconds: number;
  /** Ends the load after this many requests; only without warm seconds, where all of them are counted. */
  readonly requests?: number;
}

/** Text chunks of one stream of mock.c. */
const CHUNKS = 200;

/**
 * Puts a load on a target.
 * @param folder for the body
 * @returns its figures over the window. Rejects when an answer was not as it should be.
 */
export async function measure(load: Load, target: Target, folder: string, window: Window): Promise<Figures> {
  const bodyPath = join(folder, `${load.name}-${target.name}.json`);
  const model = target.modelPrefix + load.model;
  const write = load.agent ? agentBody : conversationBody;
  writeFileSync(bodyPath, write(model, load.bodyBytes, load.stream, target.api));
  const options: Record<string, string | number> = {
    port: target.port,
    body: bodyPath,
    connections: load.connections,
    warm: window.warm,
    seconds: window.seconds,
    ramp: load.ramp,
    stamps: load.stream ? CHUNKS : 0,
    path: target.api.path(model, load.stream),
    repeat: target.api.repeatsText ? 1 : 0,
    ...(window.requests === undefined ? {} : { requests: window.requests }),
    ...(load.rate === undefined ? {} : { rate: load.rate }),
  };
  const args = [
    ...Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]),
    ...target.headers.flatMap((header) => ['--header', header]),
    ...target.pids().flatMap((pid) => ['--pid', String(pid)]),
  ];
  const [program = '', ...rest] = onCore(LOAD_CORE, [compiled('load'), ...args]);
  const { stdout } = await promisify(execFile)(program, rest);
  const output = JSON.parse(stdout) as LoadOutput;
  if (output.errors > 0)
    throw new Error(`${load.title}, ${target.label}: ${output.errors} errors, first: ${output.firstError}`);
  return {
    cpuPerRequest: load.stream ? null : output.cpuUs / output.requests,
    cpuPerChunk: load.stream ? output.cpuUs / output.chunks : null,
    requestsPerSecond: output.requests / output.seconds,
    p50: load.stream ? null : (output.latency?.p50 ?? null),
    p99: load.stream ? null : (output.latency?.p99 ?? null),
    first50: output.firstDelay?.p50 ?? null,
    first99: output.firstDelay?.p99 ?? null,
    chunk50: output.delay?.p50 ?? null,
    chunk99: output.delay?.p99 ?? null,
    resident: output.residentKb / 1024,
    streamsAtOnce: output.streamsAtOnce,
  };
}

/** Output of load.c. */
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
