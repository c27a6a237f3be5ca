// Measures one target under one load: writes the body, runs the load generator and parses its output.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { agentBody, conversationBody } from './bodies.ts';
import { LOAD_CORE, onCore } from './processes.ts';
import { compiled, type Target } from './targets.ts';

/** Figures of one run. Absent: not measured. */
export type Figures = Readonly<Partial<Record<FigureName, number | null>>>;

/** Names of figures. Microseconds if the name has no unit; memory in MB. */
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
  /** Maximum number of concurrent streams. */
  | 'streamsAtOnce'
  /** Described in start-up.ts and footprint.ts. */
  | 'firstAnswerSeconds'
  | 'idleResident'
  | 'ledgerBytes'
  | 'allocatedMb'
  | 'keptMb';

/** Requests to send, and the number of clients. */
export interface Load {
  readonly name: string;
  readonly title: string;
  /** Selects the upstream's behaviour: one of the names in mock.c. */
  readonly model: string;
  readonly bodyBytes: number;
  /** True: an agent's request with tools; absent: a conversation. */
  readonly agent?: boolean;
  readonly stream: boolean;
  readonly connections: number;
  /** Seconds over which connections are opened. */
  readonly ramp: number;
  /** Requests per second of each connection; absent: each is sent after the previous response. */
  readonly rate?: number;
}

export interface Window {
  /** Seconds of warm-up, and of measurement. */
  readonly warm: number;
  readonly seconds: number;
  /** Ends the load after this many requests. Only without warm-up, because all of them count. */
  readonly requests?: number;
}

/** Text chunks per stream of mock.c. */
const CHUNKS = 200;

/**
 * Puts load on a target.
 * @param folder for the body
 * @returns its figures over the window. Rejects if a response was not as expected
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
