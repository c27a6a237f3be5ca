// The smallest request of a task, sent to one endpoint as it is, for whoever examines it. Nothing is routed or recorded.
import { GatewayError, Report, TEXTS } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { type AnswerAsking, askUpstream, redactedError } from '../attempt/index.ts';
import { bodyOf, pathOf, readWhole, serverAt } from './task-server.ts';
import type { TaskParts } from './task-parts.ts';

/** Asks. @returns why there is no good answer, without secrets; null where there is one. Never rejects */
export async function probeTask<Asked, Made>(
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
