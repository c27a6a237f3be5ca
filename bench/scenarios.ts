// The situations that are measured. Knows nothing of how they are measured, how targets are started or results shown.
import type { Load } from './measure.ts';
import { PAIRS } from './pairs.ts';
import type { TargetName } from './targets.ts';

export interface Scenario extends Load {
  readonly targets: readonly TargetName[];
  /** Seconds; the shorter ones are for `--quick`. */
  readonly warm: readonly [full: number, quick: number];
  readonly seconds: readonly [full: number, quick: number];
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
