// Explains the duration and the end of a request: one sentence built from fixed patterns, and the facts it is based on.
import { z } from 'zod';
import { type AttemptRecord, type GenerationRecord, requestState } from '../../accounts/ledger/index.ts';
import { type Limits, limitText, OWNER_KINDS, type LimitUsage, usdOf } from '../../accounts/limits/index.ts';
import { outputTokens } from '../../canonical/index.ts';
import { isoTime } from './time.ts';
import type { Baseline, Percentiles } from './usual-times.ts';
import type { DurationMs } from '../../base/units.ts';

const EXPLANATIONS = [
  'normal',
  'slow',
  'recovered',
  'failed',
  'broken_stream',
  'limit_reached',
  'rejected',
  'cancelled',
] as const;
const PHASES = [
  'gateway',
  'queue',
  'connect',
  'first_content',
  'generation',
  'earlier_attempts',
  'between_attempts',
] as const;
type Phase = (typeof PHASES)[number];

const text = z.string().nullable();
const number = z.number().nullable();

export const explanationSchema = z.object({
  kind: z.enum(EXPLANATIONS),
  text: z.string().describe('Explanation in one or two sentences.'),
  answered_by: text.describe('Provider that responded; null: none did.'),
  duration_ms: z.number(),
  normal: z
    .object({ value_ms: z.number(), p50_ms: z.number(), p95_ms: z.number() })
    .nullable()
    .describe('Usual durations at its endpoint in the last 24 hours; null: too few responses.'),
  slowest_phase: z
    .object({ phase: z.enum(PHASES), ms: z.number(), provider: text })
    .nullable()
    .describe('`first_content`: from the connection to the first content. Null: no provider was called.'),
  earlier: z
    .array(z.object({ provider: z.string(), status: number, kind: text, message: text, ms: z.number() }))
    .describe('Failed attempts before the last one.'),
  failure: z
    .object({
      by: z.enum(['provider', 'gateway']),
      provider: text,
      status: number,
      kind: z.string(),
      message: z.string(),
    })
    .nullable(),
  limit: z
    .object({
      text: z.string(),
      owner: z.object({ kind: z.enum(OWNER_KINDS), id: z.string(), name: z.string() }),
      unit: z.enum(['requests', 'tokens', 'concurrent', 'usd']),
      used: z.number().describe('Current use, including reservations.'),
      allowed: z.number(),
      resets_at: z.iso.datetime().nullable(),
    })
    .nullable()
    .describe('Current state of the limit that refused it; null: none did, or the limit has changed.'),
  cancelled: z.object({ after_ms: z.number(), output_tokens: number, had_content: z.boolean() }).nullable(),
});
type Explanation = z.input<typeof explanationSchema>;

interface Explained {
  readonly generation: GenerationRecord;
  /** In order. */
  readonly attempts: readonly AttemptRecord[];
  /** Usual times of the endpoint that answered; null: none answered. */
  readonly baseline: Baseline | null;
  readonly limits: Limits;
}

export function explainRequest({ generation: g, attempts, baseline, limits }: Explained): Explanation {
  const state = requestState(g, attempts);
  const durationMs = Math.max(0, g.endedAt - g.createdAt);
  const last = attempts.at(-1);
  const isWhole = state === 'ok' || state === 'recovered';
  const usual = isWhole && baseline ? usualOf(g, baseline) : null;
  const isSlow = usual !== null && durationMs > usual.p95;
  const facts: Omit<Explanation, 'text'> = {
    kind: state === 'ok' ? (isSlow ? 'slow' : 'normal') : state,
    answered_by: isWhole ? g.provider : null,
    duration_ms: durationMs,
    normal: usual && { value_ms: durationMs, p50_ms: usual.p50, p95_ms: usual.p95 },
    slowest_phase: slowestOf(g, attempts),
    earlier: attempts
      .slice(0, -1)
      .filter(({ outcome }) => outcome === 'failed')
      .map(({ provider, status, error, startedAt, endedAt }) => ({
        provider,
        status,
        kind: error && error.kind,
        message: error && error.message,
        ms: endedAt - startedAt,
      })),
    failure: state === 'limit_reached' || state === 'cancelled' ? null : failureOf(g, last),
    limit: state === 'limit_reached' ? limitOf(g, limits) : null,
    cancelled:
      state === 'cancelled'
        ? {
            after_ms: durationMs,
            output_tokens: g.usage && outputTokens(g.usage),
            had_content: g.firstContentAt !== null,
          }
        : null,
  };
  return { ...facts, text: sentence(facts, g, isSlow) };
}

/** Milliseconds before the first and after the last attempt, and between attempts. */
export function timesOutside(
  { createdAt, endedAt }: Pick<GenerationRecord, 'createdAt' | 'endedAt'>,
  attempts: readonly Pick<AttemptRecord, 'startedAt' | 'endedAt'>[],
): { readonly gatewayMs: DurationMs; readonly betweenMs: DurationMs } {
  const [first, ...others] = attempts.toSorted((a, b) => a.startedAt - b.startedAt);
  if (!first) return { gatewayMs: endedAt - createdAt, betweenMs: 0 };
  let [between, reached] = [0, first.endedAt];
  for (const attempt of others) {
    between += Math.max(0, attempt.startedAt - reached);
    reached = Math.max(reached, attempt.endedAt);
  }
  const gatewayMs = Math.max(0, first.startedAt - createdAt) + Math.max(0, endedAt - reached);
  return { gatewayMs, betweenMs: between };
}

/** Output tokens per second, from the first content to the end. Null: unknown, or too short to measure. */
export function tokensPerSecond(g: GenerationRecord): number | null {
  const ms = g.endedAt - (g.firstContentAt ?? g.createdAt);
  return g.usage === null || ms < 50 ? null : Math.round((outputTokens(g.usage) * 10_000) / ms) / 10;
}

function failureOf(g: GenerationRecord, last: AttemptRecord | undefined): Explanation['failure'] {
  if (!g.error) return null;
  const { kind, message, upstreamStatus } = g.error;
  const isTried = last?.outcome === 'failed';
  return {
    by: isTried || upstreamStatus !== null ? 'provider' : 'gateway',
    provider: isTried ? last.provider : g.provider,
    status: upstreamStatus,
    kind,
    message: (isTried && last.error?.message) || message,
  };
}

function usualOf(g: GenerationRecord, { streamed, whole }: Baseline): Percentiles | null {
  const usual = g.firstContentAt === null ? whole : streamed;
  return usual && usual.duration;
}

function slowestOf(g: GenerationRecord, attempts: readonly AttemptRecord[]): Explanation['slowest_phase'] {
  const last = attempts.at(-1);
  if (!last) return null;
  const { gatewayMs, betweenMs } = timesOutside(g, attempts);
  const queue = last.queuedMs ?? 0;
  const connect = last.connectMs ?? 0;
  const first =
    last.firstContentAt === null ? (last.headersMs ?? null) : last.firstContentAt - last.startedAt;
  const all = last.endedAt - last.startedAt;
  const phases: readonly (readonly [Phase, number, string | null])[] = [
    ['gateway', gatewayMs, null],
    ['between_attempts', betweenMs, null],
    [
      'earlier_attempts',
      attempts.slice(0, -1).reduce((sum, each) => sum + each.endedAt - each.startedAt, 0),
      null,
    ],
    ['queue', queue, last.provider],
    ['connect', connect, last.provider],
    ['first_content', Math.max(0, (first ?? all) - queue - connect), last.provider],
    ['generation', first === null ? 0 : Math.max(0, all - first), last.provider],
  ];
  const [phase, ms, provider] = phases.reduce((most, each) => (each[1] > most[1] ? each : most));
  return { phase, ms, provider };
}

/** The limit whose text appears in the refusal. */
function limitOf(g: GenerationRecord, limits: Limits): Explanation['limit'] {
  const message = g.error?.message ?? '';
  const owners = [
    { kinds: ['key'] as const, id: g.keyId },
    { kinds: ['project'] as const, id: g.projectId },
    { kinds: ['gateway'] as const, id: '' },
  ];
  const standings = owners.flatMap((owner) => limits.limitUsages(limits.writtenFor(owner)));
  const found = standings.find(
    ({ limit: { rule, owner } }) =>
      message.includes(limitText(rule)) && (owner.kind === 'gateway' || message.includes(`"${owner.name}"`)),
  );
  return found ? limitFacts(found) : null;
}

/** Current state of a limit, in the units that people read. */
export function limitFacts({ limit: { rule, owner }, used, clearsAtMs }: LimitUsage) {
  const amount = (counted: number): number => (rule.kind === 'usd' ? usdOf(counted) : counted);
  return {
    text: limitText(rule),
    owner: { kind: owner.kind, id: owner.id, name: owner.name },
    unit: rule.kind,
    used: amount(used),
    allowed: amount(rule.amount),
    resets_at: isoTime(clearsAtMs),
  };
}

const PHASE_WORDS: Readonly<Record<Phase, string>> = {
  gateway: 'gateway processing',
  earlier_attempts: 'earlier attempts',
  between_attempts: 'time between attempts',
  queue: 'queue for a connection',
  connect: 'connecting',
  first_content: 'waiting for the first content',
  generation: 'generating the response',
};

function sentence(facts: Omit<Explanation, 'text'>, g: GenerationRecord, isSlow: boolean): string {
  const { failure, cancelled, normal, slowest_phase: slowest, earlier } = facts;
  const took = duration(facts.duration_ms);
  const before = earlierText(earlier);
  switch (facts.kind) {
    case 'normal':
    case 'slow':
    case 'recovered': {
      const usual = normal
        ? `: ${isSlow ? 'slow' : 'normal'} (p50 ${duration(normal.p50_ms)}, p95 ${duration(normal.p95_ms)})`
        : '';
      const most =
        slowest && isSlow ? ` Slowest phase: ${PHASE_WORDS[slowest.phase]} (${duration(slowest.ms)}).` : '';
      return `Served by ${facts.answered_by ?? 'the gateway'} in ${took}${usual}.${most}${before}`;
    }
    case 'cancelled': {
      const sent = cancelled?.had_content
        ? cancelled.output_tokens === null
          ? 'part of the response had been sent'
          : `${cancelled.output_tokens} tokens had been sent`
        : 'nothing had been sent';
      return `The client disconnected after ${took}; ${sent}.`;
    }
    case 'limit_reached':
      // The message recorded at the time, because the limit may have changed since.
      return g.error?.message ?? '';
    default: {
      if (!failure) return '';
      const who = failure.by === 'gateway' || failure.provider === null ? 'The gateway' : failure.provider;
      const status = failure.status ?? (failure.by === 'gateway' ? g.status : null);
      const what =
        facts.kind === 'broken_stream'
          ? `The stream of ${failure.provider ?? 'the gateway'} broke after ${took}`
          : facts.kind === 'rejected'
            ? `${who} rejected the request${status === null ? '' : ` with ${status}`}`
            : `${who} failed${status === null ? ` (${failure.kind})` : ` with ${status}`}`;
      // Upstream messages rarely end with a full stop, which the next sentence requires.
      const stop = before === '' || /[.!?]$/.test(failure.message) ? '' : '.';
      return `${what}: ${failure.message}${stop}${before}`;
    }
  }
}

/** Earlier failed attempts, with equal failures combined. */
function earlierText(earlier: Explanation['earlier']): string {
  const failures = Map.groupBy(
    earlier,
    ({ provider, status, kind }) => `${provider} failed with ${status ?? kind ?? 'no response'}`,
  );
  return [...failures]
    .map(([what, { length }]) => ` Before that, ${what}${length > 1 ? ` ${length} times` : ''}.`)
    .join('');
}

/** `40 ms`, `3.2 s`, `2 min 5 s`. */
function duration(ms: DurationMs): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
}
