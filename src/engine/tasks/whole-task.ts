// Makes a task of its parts, where both its requests and its answers are one JSON body. Knows no task by name.
import { answerWhole } from './answer-whole.ts';
import { probeWhole } from './probe-whole.ts';
import type { Task } from './task.ts';
import { decodeWhole, needsOf, type WholeParts } from './whole-parts.ts';

/** The task as the table has it. */
export function wholeTask<Asked, Made>(
  own: WholeParts<Asked, Made>,
  more: Pick<Task, 'models' | 'simulated'>,
): Task {
  return {
    name: own.facts.name,
    facts: own.facts,
    clients: own.codecs.flatMap(({ client }) => client ?? []),
    isRecorded: true,
    answer: (call, { deps, recorded }) =>
      recorded(call, (arrival, clientConnection) => answerWhole(own, arrival, clientConnection, deps)),
    explain(call) {
      const { request, asked } = decodeWhole(own, call);
      const { chars, tokens } = needsOf(own, asked);
      return { request, inputChars: chars, inputTokens: () => tokens };
    },
    probe: {
      tokens: own.needs(own.sample).tokens,
      ask: (endpoint, asking) => probeWhole(own, endpoint, asking),
    },
    ...more,
  };
}
