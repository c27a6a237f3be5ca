// Asks a gateway of this machine whether it takes requests. It trusts any certificate: a gateway's own names the gateway as clients
// do, not this machine's address, and nothing secret is sent. Every other connection goes through `upstream/`.
import type { DurationMs } from '../units.ts';

/**
 * @param origin such as `http://127.0.0.1:4000`
 * @param patienceMs milliseconds in which the answer must come
 * @returns true where it takes requests, and what it says of itself
 * @throws Error where nobody answers
 */
export async function askOwnHealth(
  origin: string,
  patienceMs: DurationMs,
): Promise<{ readonly isReady: boolean; readonly text: string }> {
  const answer = await fetch(`${origin}/readyz`, {
    signal: AbortSignal.timeout(patienceMs),
    tls: { rejectUnauthorized: false },
  });
  return { isReady: answer.ok, text: await answer.text() };
}
