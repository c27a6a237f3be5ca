// One question to an upstream whose answer is short and whole, beside the attempts that make answers: nothing of it is
// recorded, and whoever asks must be able to do without.
import type { Clock } from '../../runtime/clock.ts';
import type {
  UpstreamCall,
  UpstreamClient,
  UpstreamListener,
  UpstreamRequest,
} from '../../upstream/client.ts';
import { type Decompressor, decompressing } from '../../upstream/decompress.ts';
import type { ResponseHead } from '../../upstream/response-parser.ts';
import { type Asked, sendUpstream } from './send-upstream.ts';

/** A longer answer is none to a short question, in bytes. */
const MAX_BYTES = 1_048_576;

export interface ShortAnswer {
  readonly head: ResponseHead;
  readonly text: string;
}

export interface Asking {
  readonly upstream: UpstreamClient;
  readonly clock: Clock;
  /** How long the answer may take. */
  readonly timeoutMs: number;
  /** Calls back when nobody waits for the answer any more. */
  readonly onLeave: (left: () => void) => void;
}

/** Asks. @returns null when there was no whole answer in time; never rejects */
export function askUpstream(
  endpoint: Asked,
  request: UpstreamRequest,
  asking: Asking,
): Promise<ShortAnswer | null> {
  return new Promise((resolve) => {
    let head: ResponseHead | undefined;
    let bytes = '';
    const cancelTimer = asking.clock.after(asking.timeoutMs, () => giveUp());
    const done = (answer: ShortAnswer | null): void => {
      cancelTimer();
      resolve(answer);
    };
    const body = {
      data: (piece: string) => {
        bytes += piece;
        if (bytes.length > MAX_BYTES) giveUp();
      },
      end: () => done(head ? { head, text: Buffer.from(bytes, 'latin1').toString() } : null),
    };
    let decompressor: Decompressor | undefined;
    const listener: UpstreamListener = {
      connected: () => {},
      head: (begun) => {
        head = begun;
        decompressor = decompressing(begun.header('content-encoding'), source, body, () => giveUp());
      },
      data: (piece) => (decompressor ?? body).data(piece),
      end: () => (decompressor ?? body).end(),
      failed: () => done(null),
    };
    let call: UpstreamCall | undefined;
    const source = { pause: () => call?.pause(), resume: () => call?.resume() };
    try {
      call = sendUpstream(endpoint, request, asking.upstream, listener, () => done(null));
    } catch {
      // No credential, or no address.
      done(null);
    }
    function giveUp(): void {
      done(null);
      decompressor?.stop();
      call?.abort();
    }
    asking.onLeave(giveUp);
  });
}
