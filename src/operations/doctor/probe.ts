// Interface of a probe and its results.
import type { Parameter, Quirks } from '../../canonical/index.ts';
import type { MeasuredFacts } from '../../catalog/index.ts';
import type { Protocol } from '../../protocols/index.ts';
import type { Examination } from './examination.ts';

/** Increased when a probe changes. Results of older versions are marked as such. */
export const PROBES_VERSION = 1;

/** Maximum context length that is accepted as plausible, in tokens. */
export const MOST_CONTEXT = 100_000_000;

/**
 * `unknown`: the endpoint was overloaded, failed or did not answer, or its answer proves nothing. Not treated as `no`.
 */
export type Outcome = 'yes' | 'no' | 'unknown';

export interface Verdict {
  readonly outcome: Outcome;
  /** Short result, if it is more than yes or no. */
  readonly value?: string | undefined;
  /** One sentence for people, with the upstream's message if it refused. */
  readonly detail: string;
  /** Facts that the catalog uses from now on. */
  readonly facts?: Partial<MeasuredFacts> | undefined;
}

export interface Probe {
  /** Id in tables and in the file. */
  readonly id: string;
  /** Meaning of `yes`. */
  readonly title: string;
  /** True if the probe applies to a protocol; absent: to all. */
  readonly suits?: ((protocol: Protocol) => boolean) | undefined;
  /** Maximum number of requests. */
  readonly calls: number;
  /** Maximum tokens of all its requests, prompts and answers together. */
  tokens(contextLength: number | null): number;
  /** True: only with `--deep`. */
  readonly deep?: true | undefined;
  run(examination: Examination): Promise<Verdict>;
}

/** A verdict with its probe. */
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

/** Applies to protocols whose servers differ in a quirk. */
export const whereVaries =
  (quirk: keyof Quirks) =>
  ({ upstream }: Protocol): boolean =>
    upstream.facts.varies[quirk] !== undefined;

/** Applies to protocols that have a member for a parameter. */
export const whereTaken =
  (parameter: Parameter) =>
  ({ upstream }: Protocol): boolean =>
    !upstream.lacks.has(parameter);
