// Requests to a vendor's batch API: short ones whose answer is an object, and files of results, read as they arrive.
import { asObject, type JsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { Endpoint } from '../../../catalog/index.ts';
import type { VendorOperation } from '../../../protocols/index.ts';
import { askEndpoint, askUpstream } from '../../attempt/index.ts';
import type { GatewayDependencies } from '../../dependencies.ts';
import { preparedEndpoint } from '../../prepared-endpoint.ts';

/** How long an answer may take, with the upload of a group in it, in milliseconds. */
const ANSWER_MS = 120_000;
/** How long nothing may come of a file of results, in milliseconds. */
const SILENT_MS = 60_000;

type Services = Pick<GatewayDependencies, 'upstream' | 'clock'>;

export interface VendorAnswer {
  readonly status: number;
  readonly body: JsonObject;
  /** The beginning of what it said, for the log. */
  readonly text: string;
}

/** Asks. @returns null where nobody knows what became of the request; never rejects */
export async function askVendor(
  endpoint: Endpoint,
  { method, path, body = [], contentType }: VendorOperation,
  { upstream, clock }: Services,
): Promise<VendorAnswer | null> {
  const url = endpoint.baseUrl + path;
  const answer = await askUpstream(
    endpoint,
    { url, method, type: contentType, body: body.map((piece) => Buffer.from(piece)) },
    { upstream, clock, timeoutMs: ANSWER_MS, onLeave: () => {} },
  );
  if (!answer) return null;
  const { head, text } = answer;
  let parsed: JsonObject = {};
  try {
    parsed = asObject(parseJson(text));
  } catch {
    // A page of a proxy, which says nothing of the batch.
    if (head.status < 300) return null;
  }
  return { status: head.status, body: parsed, text: text.slice(0, 300) };
}

/** A file of results. Rejects with GatewayError where it cannot be read, now or in the middle. */
export function readVendorFile(
  endpoint: Endpoint,
  path: string,
  { upstream, clock }: Services,
): ReadableStream<Uint8Array> {
  let call: ReturnType<typeof askEndpoint> | undefined;
  let stopTimer = (): void => {};
  let isOver = false;
  let received = (): void => {};
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const fail = (message: string): void => {
          if (isOver) return;
          isOver = true;
          stopTimer();
          call?.abort();
          controller.error(new GatewayError('upstream_unavailable', `${endpoint.slug}: ${message}`));
        };
        received = () => {
          stopTimer();
          if (isOver) return;
          stopTimer = clock.after(SILENT_MS, () => fail('nothing came of the results of a batch'));
        };
        const envelope = preparedEndpoint(endpoint).operation({
          url: endpoint.baseUrl + path,
          method: 'GET',
        });
        received();
        call = askEndpoint(
          endpoint,
          { envelope, body: [] },
          upstream,
          {
            refused: (error) => fail(error.message),
            head({ status }) {
              if (status !== 200) fail(`the results of a batch are answered with ${status}`);
            },
            data(bytes) {
              if (isOver) return;
              received();
              controller.enqueue(Buffer.from(bytes));
              if ((controller.desiredSize ?? 1) <= 0) call?.pause();
            },
            end() {
              if (isOver) return;
              isOver = true;
              stopTimer();
              controller.close();
            },
            failed: (_, message) => fail(message),
          },
          Infinity,
        );
      },
      pull() {
        received();
        call?.resume();
      },
      cancel() {
        isOver = true;
        stopTimer();
        call?.abort();
      },
    },
    { highWaterMark: 1_048_576, size: (chunk) => chunk?.length ?? 0 },
  );
}
