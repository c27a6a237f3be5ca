// One try of a text request at one candidate: an attempt that answers the client directly, or attempts whose answer is
// checked first and repaired once.
import { type FinishReason, GatewayError, inputTokens, outputTokens } from '../../canonical/index.ts';
import { judge } from '../adapt/index.ts';
import { CheckedOutput, HeldAnswer } from '../answer/index.ts';
import {
  type Attempt,
  type AttemptOutput,
  type Meter,
  prepareAttempt,
  type PreparedText,
  prepareRepair,
  runAttempt,
} from '../attempt/index.ts';
import { EMPTY_ANSWER } from '../failure-table.ts';
import { cacheLifeMs } from '../routing/index.ts';
import { readyFor } from './ready-request.ts';
import type { TextTry } from './text-try.ts';

/** @returns undefined when it was answered. Rejects with GatewayError when the endpoint cannot be tried */
export async function tryText(asking: TextTry): Promise<GatewayError | undefined> {
  const { input, candidate, translate } = asking;
  const { admitted, planned, learned } = input;
  const ready = await readyFor(asking);
  if (asking.terms.cancellation.reason) return asking.terms.cancellation.reason;
  const prepared = prepareAttempt({
    request: ready.request,
    clientBytes: planned.arrival.call.body,
    endpoint: candidate.endpoint,
    strict: planned.strict,
    translate: translate || admitted.needsTranslation || ready.isRewritten,
    learned,
  });
  // Truncation was requested, so strict mode does not refuse it.
  if (ready.omitted > 0)
    prepared.report.add(
      'input',
      'clamped',
      `the ${ready.omitted} oldest items do not fit into the context window`,
    );
  if (prepared.checks.length > 0) return checked(asking, prepared);
  const { output, terms } = asking;
  // Translated events are collected at the client's output. Relayed bytes must be read in transit.
  const collects = admitted.needsEvents(prepared.endpoint);
  const attempt = await attemptAt(asking, { prepared, output, collects, claim: terms.claim });
  if (attempt.failure) return attempt.failure;
  holdCache(asking, attempt);
  return undefined;
}

async function checked(asking: TextTry, prepared: PreparedText): Promise<GatewayError | undefined> {
  const held = new CheckedOutput(asking.output, asking.terms.claim, prepared.checks);
  const attempt = await attemptAt(asking, { prepared, output: held, collects: false });
  const flaw =
    attempt.failure ?? (held.isHolding ? await judged(asking, prepared, held, attempt) : undefined);
  if (!flaw) holdCache(asking, attempt);
  return flaw;
}

/** Sends the held answer to the client: unchanged, or after one repair. */
async function judged(
  asking: TextTry,
  prepared: PreparedText,
  held: CheckedOutput,
  first: Attempt,
): Promise<GatewayError | undefined> {
  const { cancellation } = asking.terms;
  if (cancellation.reason) return cancellation.reason;
  const verdict = await judge(prepared.checks, held.collector.result(), cancellation.signal);
  if (cancellation.reason) return cancellation.reason;
  if (verdict.type === 'good') {
    held.release(verdict.answer, first);
    return undefined;
  }
  const output = new HeldAnswer();
  const repair = prepareRepair(prepared, verdict.flaw.repair, asking.input.learned);
  const second = await attemptAt(asking, { prepared: repair, output, collects: false });
  if (cancellation.reason) return cancellation.reason;
  const mended = second.failure ?? output.collector.result();
  const settled = await verdict.flaw.settle(mended, cancellation.signal);
  if (settled instanceof GatewayError) return settled;
  held.release(settled.answer, settled.isSecond ? second : first);
  return undefined;
}

/** Differences between the attempts of one try. */
interface AttemptVariant {
  readonly prepared: PreparedText;
  readonly output: AttemptOutput;
  readonly collects: boolean;
  readonly claim?: (() => void) | undefined;
}

function attemptAt(
  { input, terms }: TextTry,
  { prepared, output, collects, claim }: AttemptVariant,
): Promise<Attempt> {
  const { others } = terms;
  return runAttempt(
    {
      requester: input.planned,
      prepared,
      output,
      collects,
      claim,
      // After tool results a model may have nothing to add.
      passOn: (meter) =>
        prepared.request.items.at(-1)?.type !== 'tool_result' && others.hasUntried
          ? emptyAnswer(meter, prepared.endpoint.slug)
          : null,
    },
    input.attemptLog,
    terms.cancellation,
    input.deps,
  );
}

/** The upstream has read the prompt, so its cache can serve the conversation's next turn. */
function holdCache({ input, candidate }: TextTry, attempt: Attempt): void {
  const { conversation } = input.planned.plan;
  if (conversation === null) return;
  input.deps.routing.hold(conversation, candidate.endpoint, cacheLifeMs(attempt.charge().usage));
}

// Empty answers: charged answers without content, treated as failures.

/** Finish reasons that do not explain an empty answer, unlike limits, filters and refusals. */
const SILENT_ENDS: ReadonlySet<FinishReason> = new Set(['stop', 'tool_calls', 'unknown']);

/**
 * The failure of an empty answer with usage reported by the upstream. Null: the emptiness has a reason.
 * @param slug of the endpoint
 */
function emptyAnswer({ finish, usage }: Pick<Meter, 'finish' | 'usage'>, slug: string): GatewayError | null {
  if (!finish || !usage || usage.estimated || !SILENT_ENDS.has(finish.reason)) return null;
  const tokens = inputTokens(usage) + outputTokens(usage);
  if (tokens === 0) return null;
  return new GatewayError(
    'upstream_unavailable',
    `${slug} counted ${tokens} tokens but returned no content`,
    {
      code: EMPTY_ANSWER,
    },
  );
}
