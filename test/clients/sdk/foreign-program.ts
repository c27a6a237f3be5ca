// Runs a program of another language against a gateway of its own, for tests of client libraries. Knows no language.
import { startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';

/**
 * Runs it to its end. Its environment says where the gateway is (`DRAGOMAN_ORIGIN`, `DRAGOMAN_BASE_URL`), the key
 * (`DRAGOMAN_KEY`), and a model for each kind of upstream (`DRAGOMAN_MODELS`, with spaces between them).
 * @param cwd the folder to run it in
 * @returns all that it printed, and its exit code
 */
export async function runForeign(
  command: string[],
  cwd: string,
): Promise<{ readonly report: string; readonly code: number }> {
  // Batches do not wait for a machine that is busy with other tests.
  await using gateway = await startEveryUpstream({ routing: { retries: 0 }, batches: { max_delay_ms: 0 } });
  const program = Bun.spawn(command, {
    cwd,
    env: {
      ...process.env,
      DRAGOMAN_ORIGIN: gateway.origin,
      DRAGOMAN_BASE_URL: gateway.baseURL,
      DRAGOMAN_KEY: gateway.key,
      DRAGOMAN_MODELS: UPSTREAMS.join(' '),
    },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [out, err] = await Promise.all([
    new Response(program.stdout).text(),
    new Response(program.stderr).text(),
  ]);
  return { report: out + err, code: await program.exited };
}
