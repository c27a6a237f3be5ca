// Requests to a vendor's batch API: short ones with a JSON object as answer, and result files that are read as they
// arrive.
import { ArrayElements, asObject, type JsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { Endpoint } from '../../../catalog/index.ts';
import type { VendorOperation } from '../../../protocols/index.ts';
import { askEndpoint, askUpstream } from '../../attempt/index.ts';
import type { GatewayDependencies } from '../../dependencies.ts';
import { preparedEndpoint } from '../../prepared-endpoint.ts';
import { TimeSlices } from '../time-slices.ts';

/** Timeout of an answer, including the upload of a group, in milliseconds. */
const ANSWER_MS = 120_000;
/** Idle timeout of a result file, in milliseconds. */
const SILENT_MS = 60_000;
/** Maximum bytes of an answer. A list of batches may include results. */
const MOST_BYTES = 64 * 1_048_576;

type Services = Pick<GatewayDependencies, 'upstream' | 'clock'>;

export interface VendorAnswer {
  readonly status: number;
  readonly body: JsonObject;
  /** Beginning of the answer's body, for the log. */
  readonly text: string;
}

/** Sends a request. @returns null when its outcome is unknown; never rejects */
export async function askVendor(
  endpoint: Endpoint,
  { method, path, body = [], contentType }: VendorOperation,
  { upstream, clock }: Services,
): Promise<VendorAnswer | null> {
  const url = endpoint.baseUrl + path;
  const answer = await askUpstream(
    endpoint,
    { url, method, type: contentType, body: body.map((piece) => Buffer.from(piece)) },
    { upstream, clock, timeoutMs: ANSWER_MS, maxBytes: MOST_BYTES, onLeave: () => {} },
  );
  if (!answer) return null;
  const { head, text } = answer;
  let parsed: JsonObject = {};
  try {
    parsed = asObject(parseJson(text));
  } catch {
    // A proxy's page, which says nothing about the batch.
    if (head.status < 300) return null;
  }
  return { status: head.status, body: parsed, text: text.slice(0, 300) };
}

/**
 * Gets a batch that includes its results.
 * @param place path of the results, which are passed to `take` as they arrive, each as JSON
 * @returns the batch without them; null: unknown; never rejects
 */
export async function askVendorBatch(
  endpoint: Endpoint,
  { path }: VendorOperation,
  place: readonly string[],
  services: Services,
  take: (result: Buffer) => Promise<void>,
): Promise<VendorAnswer | null> {
  const slices = new TimeSlices();
  try {
    const elements = new ArrayElements({ path: place, most: MOST_BYTES });
    for await (const piece of readVendorFile(endpoint, path, services))
      for (const element of elements.read(piece)) {
        if (slices.isOver) await slices.next();
        await take(element);
      }
    return { status: 200, body: asObject(parseJson(elements.end())), text: '' };
  } catch (error) {
    const { upstream } = GatewayError.from(error);
    return upstream ? { status: upstream.status, body: {}, text: upstream.body } : null;
  }
}

/** A result file. Errors with GatewayError when it cannot be read, also part-way, with the status of a refusal. */
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
        const fail = (message: string, status?: number): void => {
          if (isOver) return;
          isOver = true;
          stopTimer();
          call?.abort();
          const words = `${endpoint.slug}: ${message}`;
          const upstream = status === undefined ? undefined : { status, body: words };
          controller.error(new GatewayError('upstream_unavailable', words, { upstream }));
        };
        received = () => {
          stopTimer();
          if (isOver) return;
          stopTimer = clock.after(SILENT_MS, () => fail('the results of a batch did not arrive'));
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
              if (status !== 200)
                fail(`the request for the results of a batch returned status ${status}`, status);
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
