// Probes of output: limit, streaming with token counts, stop sequences, and finish reason.
import { outputTokens, type Quirks } from '../../../canonical/index.ts';
import type { AskedAnswer } from '../../../engine/index.ts';
import { serverFacts } from '../../../protocols/index.ts';
import { type Examination, QUESTION_TOKENS } from '../examination.ts';
import { no, unknown, whereTaken, yes, type Probe } from '../probe.ts';
import { callsOf, isRefused, isUnclear, quoted, textOf, wordsOf } from '../read-answer.ts';

/** Minimum of the Responses API (API reference, `max_output_tokens`, 2026). */
const SMALL_LIMIT = 16;
/** Maximum tokens of an answer that obeyed the limit. Allows for servers that count differently. */
const OBEYED = SMALL_LIMIT * 2;

const limit: Probe = {
  id: 'output_limit',
  title: 'respects output limit',
  calls: 2,
  tokens: () => 2 * QUESTION_TOKENS,
  async run(examination) {
    const { maxTokensField: names } = serverFacts(examination.endpoint.protocol).varies;
    // Quirk values that are member names.
    const fields = names
      ? examination.valuesOf('maxTokensField').filter((name) => names.includes(name))
      : [null];
    let last = '';
    let isCertain = true;
    for (const field of fields) {
      const quirks = field === null ? {} : { maxTokensField: field };
      const answer = await examination.ask({ text: 'count to 200', maxOutputTokens: SMALL_LIMIT, quirks });
      const { finish, usage } = answer.collected;
      if (answer.failure) {
        isCertain &&= isRefused(answer);
        last = wordsOf(answer);
      } else if (
        finish?.reason === 'length' ||
        (usage && !usage.estimated && outputTokens(usage) <= OBEYED && !textOf(answer).includes('100'))
      ) {
        return yes('the response ended at the limit', {
          value: field ?? undefined,
          facts: { quirks: { ...quirks, ...cutFacts(examination, answer) } },
        });
      } else last = `${field ?? 'the limit'} of ${SMALL_LIMIT} is ignored`;
    }
    return isCertain ? no(last) : unknown(last);
  },
};

/** Some servers report an answer as complete although it was cut at the limit. */
function cutFacts({ endpoint }: Examination, { collected: { finish, usage } }: AskedAnswer): Partial<Quirks> {
  if (!serverFacts(endpoint.protocol).varies.namesCutAnswers || !finish) return {};
  if (finish.reason === 'length') return { namesCutAnswers: true };
  return usage && outputTokens(usage) >= SMALL_LIMIT ? { namesCutAnswers: false } : {};
}

const streaming: Probe = {
  id: 'streaming',
  title: 'streams with token counts',
  calls: 2,
  tokens: () => 2 * QUESTION_TOKENS,
  async run(examination) {
    const ways = examination.valuesOf('streamUsage');
    let last = unknown('no request was sent');
    let isOtherRefused = false;
    for (const streamUsage of ways) {
      const answer = await examination.ask({ text: 'count to 10', stream: true, quirks: { streamUsage } });
      if (answer.failure) {
        isOtherRefused ||= isRefused(answer);
        if (last.outcome !== 'no') last = isRefused(answer) ? no(wordsOf(answer)) : unknown(wordsOf(answer));
        continue;
      }
      if (!answer.streamed) return no('does not stream: responds with a complete body');
      if (answer.collected.usage && !answer.collected.usage.estimated)
        return yes(
          streamUsage === 'always' ? 'token counts always included' : 'token counts included on request',
          {
            value: streamUsage,
            facts: { quirks: { streamUsage } },
          },
        );
      last = no('streams without token counts; the gateway estimates them', {
        value: 'no counts',
        facts: isOtherRefused ? { quirks: { streamUsage } } : {},
      });
    }
    return last;
  },
};

const stop: Probe = {
  id: 'stop',
  title: 'respects stop sequences',
  suits: whereTaken('stop'),
  calls: 1,
  tokens: () => QUESTION_TOKENS,
  async run(examination) {
    const answer = await examination.ask({ text: 'count to 12', stop: ['7'] });
    if (isRefused(answer))
      return no(`rejected; the gateway truncates instead: ${wordsOf(answer)}`, {
        facts: { parameters: { stop: false } },
      });
    if (isUnclear(answer)) return unknown(wordsOf(answer));
    const text = textOf(answer);
    if (/7|8/.test(text))
      return no('ignored; the gateway truncates instead', { facts: { parameters: { stop: false } } });
    return text.includes('6')
      ? yes('stopped before the sequence', { facts: { parameters: { stop: true } } })
      : unknown(wordsOf(answer));
  },
};

/**
 * Checks the finish reasons in the answers to other probes. Yields no facts, because the gateway derives the reason
 * itself.
 */
const endReason: Probe = {
  id: 'end_reason',
  title: 'correct finish reason',
  calls: 0,
  tokens: () => 0,
  async run(examination) {
    const faults = new Set<string>();
    const { namesEnds } = serverFacts(examination.endpoint.protocol);
    let seen = 0;
    for (const { wish, answer } of examination.asked) {
      const { finish } = answer.collected;
      if (answer.failure || !finish || wish.at) continue;
      seen += 1;
      if (finish.raw === undefined && namesEnds) faults.add('no reason');
      // OpenAI also ends a forced named tool call with `stop`.
      else if (
        callsOf(answer).length > 0 &&
        wish.toolChoice?.type !== 'tool' &&
        finish.reason !== 'tool_calls' &&
        namesEnds
      )
        faults.add(`"${quoted(finish.raw ?? finish.reason)}" after tool calls`);
      else if (finish.reason === 'unknown' && finish.raw !== undefined)
        faults.add(`the unknown value "${quoted(finish.raw)}"`);
    }
    if (seen === 0) return unknown('no response to check');
    if (faults.size === 0) return yes(`in ${seen} responses`);
    return no(`${[...faults].join(', ')}; the gateway corrects it for clients`);
  },
};

export const outputProbes: readonly Probe[] = [limit, streaming, stop];
export const lastProbes: readonly Probe[] = [endReason];
