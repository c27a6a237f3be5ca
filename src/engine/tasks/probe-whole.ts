// The smallest request of a task, sent to one endpoint as it is, for whoever examines it. Nothing is routed or recorded.
import { parseJson } from '../../base/json/index.ts';
import { slicesOf } from '../../base/lib/slices.ts';
import { GatewayError, Report } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { type AnswerAsking, askUpstream, redactedError } from '../attempt/index.ts';
import { pathOf, serverAt } from './try-whole.ts';
import type { WholeParts } from './whole-parts.ts';

/** Asks. @returns why there is no good answer, without secrets; null where there is one. Never rejects */
export async function probeWhole<Asked, Made>(
  task: WholeParts<Asked, Made>,
  endpoint: Endpoint,
  { upstream: client, clock, timeoutMs, redact }: AnswerAsking,
): Promise<GatewayError | null> {
  const { sample } = task;
  try {
    const { protocol, upstream } = serverAt(endpoint, task);
    const body = slicesOf(JSON.stringify(upstream.encodeRequest(sample, endpoint, new Report())));
    const answer = await askUpstream(
      endpoint,
      { url: endpoint.baseUrl + pathOf(endpoint, upstream, task), body },
      { upstream: client, clock, timeoutMs, onLeave: () => {} },
    );
    if (!answer) return new GatewayError('timeout', `no complete answer within ${timeoutMs} ms`);
    const { head, text } = answer;
    if (head.status >= 300)
      throw protocol.upstream.decodeError(head.status, (name) => head.header(name), text);
    task.read(upstream.decodeResponse(parseJson(text), sample, endpoint), sample);
    return null;
  } catch (thrown) {
    return redactedError(GatewayError.from(thrown), redact);
  }
}
