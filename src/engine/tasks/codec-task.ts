// Builds a task from its parts and codecs.
import { answerTask } from './answer-task.ts';
import type { Task } from './task.ts';
import { decodeTask, needsOf, type TaskParts } from './task-parts.ts';
import { GatewayError, Report, TEXTS } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { type AnswerAsking, askUpstream, redactedError } from '../attempt/index.ts';
import { bodyOf, pathOf, readWhole, serverAt } from './task-server.ts';

/** The task as listed in `TASKS`. */
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

// Probe: the smallest request of a task, sent to one endpoint. Nothing is routed or recorded.

/** Sends the probe. @returns why there is no successful answer, without secrets; null: there is one. Never rejects */
async function probeTask<Asked, Made>(
  task: TaskParts<Asked, Made>,
  endpoint: Endpoint,
  { upstream: client, clock, timeoutMs, redact }: AnswerAsking,
): Promise<GatewayError | null> {
  const { sample } = task;
  try {
    const server = serverAt(endpoint, task);
    const answer = await askUpstream(
      endpoint,
      { url: endpoint.baseUrl + pathOf(server, task), ...bodyOf(server, sample, new Report()) },
      { upstream: client, clock, timeoutMs, onLeave: () => {} },
    );
    if (!answer) return new GatewayError('timeout', TEXTS.timedOut(timeoutMs));
    const { head, text } = answer;
    if (head.status >= 300)
      throw server.protocol.upstream.decodeError(head.status, (name) => head.header(name), text);
    task.read(readWhole(server, sample, head.header('content-type'), text), sample);
    return null;
  } catch (thrown) {
    return redactedError(GatewayError.from(thrown), redact);
  }
}
