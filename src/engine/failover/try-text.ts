// One try of a request for text at one candidate: the attempt whose answer goes to the client, or the attempts whose
// answer is checked first and repaired once.
import { type CanonicalRequest, GatewayError } from '../../canonical/index.ts';
import { cacheLifeMs, type Candidate } from '../routing/index.ts';
import { judge } from '../adapt/index.ts';
import { CheckedOutput, HeldAnswer } from '../answer/index.ts';
import {
  type Attempt,
  type AttemptOutput,
  prepareAttempt,
  type PreparedText,
  prepareRepair,
  runAttempt,
} from '../attempt/index.ts';
import { emptyAnswer } from './empty-answer.ts';
import { readyFor } from './ready.ts';
import type { TryTerms } from './trial.ts';
import type { TextInput } from './text-task.ts';

export interface TextTry {
  readonly input: TextInput;
  readonly candidate: Candidate;
  readonly terms: TryTerms;
  /** Request of this try: that of the turn, or the rest of an answer that broke off. */
  readonly request: CanonicalRequest;
  readonly output: AttemptOutput;
  /** True: the answer must pass through our hands, although it could be relayed. */
  readonly translate: boolean;
}

/** @returns undefined when it answered. Rejects with GatewayError where the endpoint cannot even be asked */
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
  // Asked for, hence no loss that strict mode would refuse.
  if (ready.omitted > 0)
    prepared.report.add('input', 'clamped', `the ${ready.omitted} oldest items do not fit`);
  if (prepared.checks.length > 0) return checked(asking, prepared);
  const { output, terms } = asking;
  // The translate lane's events are collected where the client gets them; relayed bytes must be read on the way.
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

/** Gives the client what was held back of an answer: as it is, or after one repair. */
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
interface Asked {
  readonly prepared: PreparedText;
  readonly output: AttemptOutput;
  readonly collects: boolean;
  readonly claim?: (() => void) | undefined;
}

function attemptAt(
  { input, terms }: TextTry,
  { prepared, output, collects, claim }: Asked,
): Promise<Attempt> {
  const { others } = terms;
  return runAttempt(
    {
      requester: input.planned,
      prepared,
      output,
      collects,
      claim,
      // Behind results of tools a model may have nothing to add.
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

/** The upstream has read the prompt: its cache is there for the conversation's next turn. */
function holdCache({ input, candidate }: TextTry, attempt: Attempt): void {
  const { conversation } = input.planned.plan;
  if (conversation === null) return;
  input.deps.routing.hold(conversation, candidate.endpoint, cacheLifeMs(attempt.charge().usage));
}
