// Asks a gateway on this machine whether it is ready. Accepts any certificate, because the gateway is called by its address
// and no secret is sent. All other outgoing connections go through `upstream/`.
import type { DurationMs } from '../units.ts';

/**
 * @param origin such as `http://127.0.0.1:4000`
 * @param patienceMs timeout in milliseconds
 * @returns whether it is ready, and the text of its response
 * @throws Error if there is no response
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
