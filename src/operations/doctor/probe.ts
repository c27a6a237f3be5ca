// Probe: what it is, and what it can find out. Must not know which probes there are.
import type { Parameter, Quirks } from '../../canonical/index.ts';
import type { MeasuredFacts } from '../../catalog/index.ts';
import type { Protocol } from '../../protocols/index.ts';
import type { Examination } from './examination.ts';

/**
 * Counted up when a probe asks or judges in another way: what an older set found is shown as such.
 */
export const PROBES_VERSION = 1;

/** The longest context that is believed, in tokens: no model comes near. */
export const MOST_CONTEXT = 100_000_000;

/** `unknown`: the endpoint was overloaded, broken or silent, or its answer proves nothing. Never taken for a `no`. */
export type Outcome = 'yes' | 'no' | 'unknown';

export interface Verdict {
  readonly outcome: Outcome;
  /** A word or two: what was found, where that is more than yes or no. */
  readonly value?: string | undefined;
  /** One sentence for a person, with the upstream's own words where it refused. */
  readonly detail: string;
  /** Facts that the catalog believes from now on. */
  readonly facts?: Partial<MeasuredFacts> | undefined;
}

export interface Probe {
  /** In tables and in the file. */
  readonly id: string;
  /** Meaning of `yes`. */
  readonly title: string;
  /** Whether the question makes sense in a protocol; absent: in all of them. */
  readonly suits?: ((protocol: Protocol) => boolean) | undefined;
  /** Requests, at most. */
  readonly calls: number;
  /** Tokens of all its requests together, prompt and answer, at most. A context is as long as its endpoint says. */
  tokens(contextLength: number | null): number;
  /** True: only with `--deep`. */
  readonly deep?: true | undefined;
  run(examination: Examination): Promise<Verdict>;
}

/** A verdict with the question that it answers. */
export interface Finding extends Omit<Verdict, 'facts'> {
  readonly probe: string;
  readonly title: string;
}

export const yes = (detail: string, more: Omit<Verdict, 'outcome' | 'detail'> = {}): Verdict => ({
  outcome: 'yes',
  detail,
  ...more,
});
export const no = (detail: string, more: Omit<Verdict, 'outcome' | 'detail'> = {}): Verdict => ({
  outcome: 'no',
  detail,
  ...more,
});
export const unknown = (detail: string, more: Omit<Verdict, 'outcome' | 'detail'> = {}): Verdict => ({
  outcome: 'unknown',
  detail,
  ...more,
});

/** Suits protocols whose servers are known to differ in a quirk. */
export const whereVaries =
  (quirk: keyof Quirks) =>
  ({ upstream }: Protocol): boolean =>
    upstream.facts.varies[quirk] !== undefined;

/** Suits protocols that have a member for a parameter. */
export const whereTaken =
  (parameter: Parameter) =>
  ({ upstream }: Protocol): boolean =>
    !upstream.lacks.has(parameter);
