// Access log: one line of JSON per request at any log level, without prompts and answers.
import { inputTokens, outputTokens } from '../../../../canonical/index.ts';
import type { RequestObserver } from '../../../../engine/index.ts';

/** @param write takes one line, newline included */
export function accessLog(write: (line: string) => void): RequestObserver {
  return {
    finished({ generation, principal }) {
      const { createdAt, endedAt, firstContentAt, usage, cost, error, cancelled } = generation;
      const line = {
        time: new Date(endedAt).toISOString(),
        level: 'info',
        message: 'request',
        id: generation.id,
        project: generation.projectId,
        key: principal.name,
        api: generation.api,
        requested_model: generation.requestedModel,
        model: generation.model,
        provider: generation.provider,
        status: generation.status,
        streamed: generation.streamed,
        cancelled,
        attempts: generation.attempts,
        duration_ms: endedAt - createdAt,
        first_content_ms: firstContentAt === null ? null : firstContentAt - createdAt,
        input_tokens: usage && inputTokens(usage),
        output_tokens: usage && outputTokens(usage),
        cost_usd: cost?.usd ?? null,
        error: error?.kind ?? null,
      };
      write(`${JSON.stringify(line)}\n`);
    },
  };
}
