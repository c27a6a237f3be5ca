// Loads of the benchmark, and the targets they are measured on.
import type { Load, Window } from './measure.ts';
import { PAIRS } from './pairs.ts';
import type { TargetName } from './targets.ts';

export interface Scenario extends Load {
  readonly targets: readonly TargetName[];
  readonly window: Window;
  /** Shorter window and fewer targets for `--quick`; null: skipped. */
  readonly quick: (Window & { readonly targets: readonly TargetName[] }) | null;
  /** True: uses a gateway of its own, so that its memory is that of this load only. */
  readonly fresh?: boolean;
  /**
   * True: only measured if requested by name, after a short warm-up of every target. All targets share a process, so
   * that the first one would otherwise include its start.
   */
  readonly alone?: boolean;
}

const ALL: readonly TargetName[] = ['direct', 'nginx', 'relay', 'translate', 'messages'];
const PROXIES: readonly TargetName[] = ['nginx', 'relay', 'translate', 'messages'];
const RESPONSES: readonly TargetName[] = ['nginx', 'responses', 'responses-chat', 'responses-messages'];
const PAIR_NAMES = PAIRS.map(({ name }) => name);

const WHOLE = { model: 'whole', stream: false, ramp: 0, connections: 32, bodyBytes: 2_000 };
const STREAMS = { model: 'paced-5', stream: true, ramp: 0.7, connections: 100, bodyBytes: 2_000 };

export const SCENARIOS: readonly Scenario[] = [
  {
    ...WHOLE,
    name: 'requests-2kb',
    title: '2 kB requests, 32 connections',
    targets: PROXIES,
    window: { warm: 1, seconds: 3 },
    // The first thousands of requests run in code that is not optimized yet.
    quick: { warm: 0.7, seconds: 0.8, targets: PROXIES },
  },
  {
    ...WHOLE,
    name: 'responses-2kb',
    title: '2 kB requests of the Responses API, 32 connections (nginx: of Chat Completions)',
    targets: [...RESPONSES, 'responses-stored', 'responses-chat-stored'],
    window: { warm: 1, seconds: 3 },
    quick: { warm: 0.7, seconds: 0.8, targets: ['nginx', 'responses-chat-stored'] },
  },
  {
    ...STREAMS,
    name: 'responses-chunks',
    title: '100 streams of the Responses API, a chunk every 5 ms (nginx: of Chat Completions)',
    targets: RESPONSES,
    window: { warm: 1.5, seconds: 3 },
    quick: null,
  },
  {
    ...WHOLE,
    name: 'requests-100kb',
    title: '100 kB requests, 32 connections',
    targets: PROXIES,
    bodyBytes: 100_000,
    window: { warm: 1, seconds: 3 },
    quick: { warm: 0.4, seconds: 0.8, targets: ['nginx', 'relay', 'translate'] },
  },
  {
    ...WHOLE,
    name: 'agent-40kb',
    title: '40 kB of an agent (12 tools, 15 calls with results), 32 connections',
    targets: [...PROXIES, 'responses-chat'],
    bodyBytes: 40_000,
    agent: true,
    window: { warm: 1, seconds: 3 },
    quick: { warm: 0.4, seconds: 0.8, targets: ['nginx', 'relay', 'translate'] },
  },
  {
    ...STREAMS,
    name: 'chunks',
    title: '100 streams, a chunk every 5 ms',
    targets: ALL,
    window: { warm: 1.5, seconds: 3 },
    quick: { warm: 0.8, seconds: 0.7, targets: ['nginx', 'relay', 'translate'] },
  },
  {
    ...WHOLE,
    name: 'single',
    title: '2 kB requests, one connection',
    targets: ALL,
    connections: 1,
    window: { warm: 0.5, seconds: 2 },
    quick: { warm: 0.2, seconds: 0.6, targets: ['direct', 'nginx', 'relay'] },
  },
  {
    ...WHOLE,
    name: 'paced',
    title: '2 kB requests, 200 a second on one connection',
    targets: ALL,
    connections: 1,
    rate: 200,
    window: { warm: 0.5, seconds: 10 },
    quick: null,
  },
  {
    ...STREAMS,
    name: 'streams-1000',
    title: '1,000 streams, a chunk every 50 ms',
    targets: ['nginx', 'relay', 'translate'],
    model: 'paced-50',
    connections: 1000,
    ramp: 1.5,
    window: { warm: 4, seconds: 5 },
    quick: { warm: 2, seconds: 1, targets: ['relay'] },
    fresh: true,
  },
  {
    ...STREAMS,
    name: 'pairs',
    title: 'every client protocol with every upstream protocol: 50 streams, a chunk every 5 ms',
    targets: PAIR_NAMES,
    // The most expensive pair must not saturate the core: chunks would queue, be read together, and cost less.
    connections: 50,
    ramp: 0.5,
    window: { warm: 1.2, seconds: 1.8 },
    quick: { warm: 0.6, seconds: 0.8, targets: PAIR_NAMES },
    alone: true,
  },
];
