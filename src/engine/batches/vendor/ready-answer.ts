// Delivers an answer from a vendor's batch as if it arrived over a connection.
import type { Endpoint } from '../../../catalog/index.ts';
import type { UpstreamCall, UpstreamListener } from '../../../upstream/client.ts';
import { ResponseHead } from '../../../upstream/response-parser.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { ReadyAnswer } from '../../call.ts';

/** The endpoint at the price of its vendor's batch API. It needs no credential, because nothing is sent. */
function atBatchPrice(endpoint: Endpoint): Endpoint {
  return { ...endpoint, credential: undefined, price: endpoint.batch?.price ?? null };
}

/** @param body JSON */
export function readyAnswer(endpoint: Endpoint, status: number, body: Buffer, clock: Clock): ReadyAnswer {
  let isGiven = false;
  const give = (listener: UpstreamListener, isOver: () => boolean): void => {
    if (isOver()) return;
    // A repair would need a second request.
    if (isGiven) return listener.failed('cut', 'the response of a batch can be read only once');
    isGiven = true;
    listener.connected();
    if (!isOver()) listener.head(new ResponseHead(status, HEAD));
    if (!isOver()) listener.data(body);
    if (!isOver()) listener.end();
  };
  return {
    endpoint: atBatchPrice(endpoint),
    upstream: {
      now: () => clock.now(),
      wall: () => clock.wall(),
      send(_, listener): UpstreamCall {
        let isOver = false;
        queueMicrotask(() => give(listener, () => isOver));
        return { abort: () => (isOver = true), pause() {}, resume() {} };
      },
    },
  };
}

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
