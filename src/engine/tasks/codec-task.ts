// Makes a task of its parts and codecs. Knows no task by name.
import { answerTask } from './answer-task.ts';
import { probeTask } from './probe-task.ts';
import type { Task } from './task.ts';
import { decodeTask, needsOf, type TaskParts } from './task-parts.ts';

/** The task as the table has it. */
export function codecTask<Asked, Made>(
  own: TaskParts<Asked, Made>,
  more: Pick<Task, 'models' | 'simulated'>,
): Task {
  return {
    name: own.facts.name,
    facts: own.facts,
    clients: own.codecs.flatMap(({ client }) => client ?? []),
    isRecorded: true,
    answer: (call, { deps, recorded }) =>
      recorded(call, (arrival, clientConnection) => answerTask(own, arrival, clientConnection, deps)),
    explain(call) {
      const { request, asked } = decodeTask(own, call, undefined);
      const { chars, tokens } = needsOf(own, asked);
      return { request, inputChars: chars, inputTokens: () => tokens };
    },
    probe: {
      tokens: own.needs(own.sample).tokens,
      ask: (endpoint, asking) => probeTask(own, endpoint, asking),
    },
    ...more,
  };
}
